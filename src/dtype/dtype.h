/*
 * dtype: element types: what they are called in v2 and v3 documents, how large they are,
 * which of their bytes are swapped, their fill values as JSON, their values as text.
 * Knows no arrays, chunks or codecs.
 *
 * Memory type = stored type in native byte order, packed. A type lives in the arena it
 * was parsed into and is immutable.
 */
#ifndef ZLGI_DTYPE_H
#define ZLGI_DTYPE_H

#include "base/base.h"

typedef struct zlgi_dtype zlgi_dtype;

typedef struct zlgi_field {
    const char *name; /* "" only for v2 padding fields */
    size_t n_name;
    const zlgi_dtype *dtype; /* of one item */
    size_t offset;
    int rank; /* v2: the field is a small array; 0 otherwise */
    int64_t shape[ZLG_MAX_RANK];
    int64_t n_items; /* product of shape */
} zlgi_field;

struct zlgi_dtype {
    zlg_type type;
    zlg_type part;    /* complex, vlen-array: type of a part; else = type */
    size_t n_bytes;   /* of one element; 0 for variable length */
    bool big_endian;  /* v2: stored order of this leaf; v3: false (the codec says) */
    const char *unit; /* times; static text; else NULL */
    int64_t scale;    /* times; else 1 */
    int n_fields;
    const zlgi_field *fields;
    const char *v3_name; /* spelling met or to be written: "raw_bytes" beside "r16" ... */
};

/* A variable-length element while it is in memory: what engine and codecs move about. */
typedef struct zlgi_view {
    const uint8_t *data;
    size_t n;
} zlgi_view;

static inline bool zlgi_dtype_is_varlen(const zlgi_dtype *dtype)
{
    return dtype->n_bytes == 0 && dtype->type >= ZLG_STRING;
}
/* Bytes of an element in a decoded buffer: n_bytes, or sizeof(zlgi_view). */
static inline size_t zlgi_dtype_slot(const zlgi_dtype *dtype)
{
    return zlgi_dtype_is_varlen(dtype) ? sizeof(zlgi_view) : dtype->n_bytes;
}
/* What callers are told of a type. */
static inline zlg_dtype zlgi_dtype_public(const zlgi_dtype *dtype)
{
    return (zlg_dtype){.type = dtype->type,
                       .part = dtype->part,
                       .n_bytes = dtype->n_bytes,
                       .unit = dtype->unit,
                       .scale = dtype->scale,
                       .n_fields = dtype->n_fields};
}
/* Size of a part of a numeric type: 1, 2, 4, 8. 0 if it has none of fixed meaning. */
size_t zlgi_type_bytes(zlg_type type);
const char *zlgi_type_name(zlg_type type); /* "int32", "complex", ... for messages */

/* v3 `data_type` (a name or an object), with every alias of format.md §12.2 and §13
 * ("binary", "variable_length_bytes", "structured", complex_float32, ...). Unknown names:
 * ZLG_UNSUPPORTED. Broken configuration: ZLG_METADATA. */
zlg_status zlgi_dtype_parse_v3(zlgi_arena *arena, const zlgi_json *json,
                               const zlgi_dtype **out, zlg_error *err);
/* v2 `dtype` (a string or a list of fields). "|O" gives ZLG_BYTES with `is_object` set:
 * the codec decides what it holds (see zlgi_dtype_object). */
zlg_status zlgi_dtype_parse_v2(zlgi_arena *arena, const zlgi_json *json, int max_depth,
                               const zlgi_dtype **out, bool *is_object, zlg_error *err);
/* The type of a "|O" array whose object codec has this id and configuration: vlen-utf8,
 * json2, msgpack2, categorize → string; vlen-bytes → bytes; vlen-array → vlen array. */
zlg_status zlgi_dtype_object(zlgi_arena *arena, const char *codec_id,
                             const zlgi_json *configuration, const zlgi_dtype **out,
                             zlg_error *err);
/* The v3 data_type as JSON (canonical spelling). */
zlg_status zlgi_dtype_write_v3(const zlgi_dtype *dtype, zlgi_buf *out, zlg_error *err);
/* A plain type for codec code: static, native. */
const zlgi_dtype *zlgi_dtype_plain(zlg_type type);
/* NumPy type string of codec configurations ("<f8", "|u1", ">i4"): type and order. */
zlg_status zlgi_dtype_parse_numpy(zlgi_arena *arena, const char *text,
                                  const zlgi_dtype **out, zlg_error *err);

/* ------------------------------------------------------------------ byte order
 * Which bytes of a stored element are reversed to get the native one. */
typedef struct zlgi_swap_run {
    uint32_t offset, width, count; /* count words of width bytes from offset */
} zlgi_swap_run;
typedef struct zlgi_swap {
    uint32_t width; /* 2, 4, 8: the whole element is words of this width; 0: none; */
                    /* 1: look at the runs */
    uint32_t n_runs;
    const zlgi_swap_run *runs;
} zlgi_swap;
/* For elements stored big_endian (v3: the endian of the bytes codec applies to all
 * fields) or as each leaf says (v2). */
zlg_status zlgi_swap_make(zlgi_arena *arena, const zlgi_dtype *dtype, bool from_leaves,
                          bool big_endian, zlgi_swap *out, zlg_error *err);
void zlgi_swap_apply(const zlgi_swap *swap, uint8_t *elements, size_t n, size_t n_bytes);
/* True when any part is wider than a byte, so that an endian must be stated. */
bool zlgi_dtype_has_order(const zlgi_dtype *dtype);

/* Canonical values of what was read: bool to 0/1; 2- and 4-bit integers sign- or zero-
 * extended; 4- and 6-bit floats cleared above their bits. In place, native order. */
bool zlgi_dtype_needs_normal(const zlgi_dtype *dtype);
void zlgi_dtype_normalize(const zlgi_dtype *dtype, uint8_t *elements, size_t n);

/* ------------------------------------------------------------------ values as JSON */
typedef struct zlgi_fill {
    const uint8_t *data; /* one native element; variable length: its bytes */
    size_t n;
} zlgi_fill;
/* v3 rules (format.md §4, §12.2); v2 rules (§15.4: null, base64, text numbers ...). The
 * base64 of a "structured" record is taken as little-endian: who knows that its codecs are
 * big-endian swaps it. */
zlg_status zlgi_fill_parse_v3(zlgi_arena *arena, const zlgi_dtype *dtype,
                              const zlgi_json *json, zlgi_fill *out, zlg_error *err);
zlg_status zlgi_fill_parse_v2(zlgi_arena *arena, const zlgi_dtype *dtype,
                              const zlgi_json *json, zlgi_fill *out, zlg_error *err);
/* The zero of a type. */
zlg_status zlgi_fill_zero(zlgi_arena *arena, const zlgi_dtype *dtype, zlgi_fill *out,
                          zlg_error *err);
/* A native element (n bytes: variable length too) as its v3 fill value; NaNs other than
 * the canonical one in hex. */
zlg_status zlgi_fill_write_v3(const zlgi_dtype *dtype, const uint8_t *element, size_t n,
                              zlgi_buf *out, zlg_error *err);
zlg_status zlgi_fill_write_v2(const zlgi_dtype *dtype, const uint8_t *element, size_t n,
                              zlgi_buf *out, zlg_error *err);
/* A native element for people and JSON readers: numbers; "NaN", "Infinity"; micro floats
 * as numbers; times as integers ("NaT"); records as lists; fixed text without its NULs;
 * byte strings as base64. */
zlg_status zlgi_value_write(const zlgi_dtype *dtype, const uint8_t *element, size_t n,
                            zlgi_buf *out, zlg_error *err);

/* ------------------------------------------------------------------ numbers
 * One element of a numeric type (part of a complex) to and from wide forms. Exact for
 * every micro float, float16, bfloat16. */
double zlgi_number_to_double(zlg_type type, const void *element);
/* Rounds to nearest even. What a float type lacks becomes its NaN, or where it has none
 * its largest value (infinities) and -0 (NaN); integers stop at their ends, NaN is 0. */
void zlgi_number_from_double(zlg_type type, double value, void *element);
bool zlgi_type_is_integer(zlg_type type); /* bool excluded */
bool zlgi_type_is_signed(zlg_type type);
bool zlgi_type_is_float(zlg_type type);
/* Layout of a binary float type. */
typedef struct zlgi_float_layout {
    int n_bits, exponent_bits, mantissa_bits, bias;
    bool has_infinity, has_nan, has_negative_zero, has_sign, has_zero;
    uint64_t nan_bits; /* the canonical NaN */
} zlgi_float_layout;
const zlgi_float_layout *zlgi_type_float_layout(zlg_type type); /* NULL: not a float */

#endif
