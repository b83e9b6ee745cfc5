/*
 * elements: numbers in buffers, for the codecs that compute with them. A run of stored
 * numbers is loaded in blocks into one of three wide forms, each exact for what it holds,
 * and stored from any of them. So a codec is written once, whatever the types and byte
 * orders on its two sides.
 */
#ifndef ZLGI_CODEC_ELEMENTS_H
#define ZLGI_CODEC_ELEMENTS_H

#include "codec/codec.h"

typedef struct zlgi_elements {
    const zlgi_dtype *dtype; /* as it stands on a typed edge */
    zlg_type type;           /* of a part: bool, an integer or a float */
    size_t n_bytes;          /* of a part */
    size_t n_parts;          /* of an element: 2 when complex */
    bool swap;               /* bytes lie the other way round */
} zlgi_elements;

/* The numbers of a type: on a typed edge native, else in the order that its leaf says.
 * Times are int64. UNSUPPORTED when it has no numbers. */
zlg_status zlgi_elements_of(const zlgi_dtype *dtype, bool typed, zlgi_elements *out,
                            zlg_error *err);
/* The type that a member of a configuration names as NumPy does ("<f8", "float64").
 * Absent or null: that of `missing`; METADATA when this is NULL. */
zlg_status zlgi_elements_member(const zlgi_json *configuration, const char *name,
                                bool typed, const zlgi_elements *missing,
                                const zlgi_codec_env *env, zlgi_elements *out,
                                zlg_error *err);
static inline size_t zlgi_elements_bytes(const zlgi_elements *elements)
{
    return elements->n_bytes * elements->n_parts;
}
/* NumPy's name in a byte order ("<i4"). */
void zlgi_elements_text(const zlgi_elements *elements, bool big_endian, char out[8]);

typedef enum zlgi_wide { ZLGI_WIDE_INT64, ZLGI_WIDE_UINT64, ZLGI_WIDE_DOUBLE } zlgi_wide;

enum { ZLGI_BLOCK = 256 };
typedef union zlgi_block {
    int64_t i[ZLGI_BLOCK];
    uint64_t u[ZLGI_BLOCK];
    double d[ZLGI_BLOCK];
} zlgi_block;

/* The wide form that holds every value of a type. */
zlgi_wide zlgi_wide_of(zlg_type type);
/* n <= ZLGI_BLOCK parts, in the wide form of their type; no alignment is asked for. */
void zlgi_elements_load(const zlgi_elements *elements, const uint8_t *from, size_t n,
                        zlgi_block *out);
/*
 * Conversions are those of C: integers keep their low bits, floats lose their fraction, a
 * number is true when it is not zero. A float beyond the integers, where C leaves the
 * result open, goes by way of int32 (to 8, 16 and 32 bits) or int64 (uint32 too), whose
 * least value it becomes: what x86-64 and NumPy on it do.
 */
void zlgi_elements_store(const zlgi_elements *elements, zlgi_wide wide,
                         const zlgi_block *block, size_t n, uint8_t *to);
/* To double, in place. */
void zlgi_block_to_double(zlgi_wide wide, zlgi_block *block, size_t n);
/* n parts of one form as parts of another; equal forms are copied bit for bit. */
void zlgi_elements_convert(const zlgi_elements *from, const uint8_t *in, size_t n,
                           const zlgi_elements *to, uint8_t *out);
/* A double as the nearest value of a float type. */
double zlgi_round_to(zlg_type type, double value);
/* (x - offset) * scale, and x / scale + offset, each step in the arithmetic of a float
 * type; the numbers are values of it, in doubles. */
void zlgi_block_scale(zlg_type type, double offset, double scale, size_t n,
                      zlgi_block *block);
void zlgi_block_unscale(zlg_type type, double offset, double scale, size_t n,
                        zlgi_block *block);

#endif
