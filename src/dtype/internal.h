/*
 * What the files of dtype/ share and nobody else needs.
 */
#ifndef ZLGI_DTYPE_INTERNAL_H
#define ZLGI_DTYPE_INTERNAL_H

#include "dtype/dtype.h"

/*
 * Bounds on what a short document may ask for: its fill value is an element in memory, a
 * field is a struct of some 300 bytes, and records are walked by recursion. The last one
 * bounds the words of a record that are not neighbours of one width.
 */
enum {
    ZLGI_ELEMENT_BYTES = 1 << 24,
    ZLGI_RECORD_FIELDS = 1 << 14,
    ZLGI_RECORD_DEPTH = 64,
    ZLGI_SWAP_RUNS = 1 << 16
};

#define ZLGI_HOST_BIG_ENDIAN (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

/* Families of types: each is parsed, written and laid out by one rule. */
typedef enum zlgi_family {
    ZLGI_BOOLEANS,
    ZLGI_SIGNED,
    ZLGI_UNSIGNED,
    ZLGI_FLOATS,
    ZLGI_COMPLEXES,
    ZLGI_TIMES,
    ZLGI_OCTETS, /* ZLG_RAW, ZLG_FIXED_BYTES */
    ZLGI_CODE_POINTS,
    ZLGI_RECORDS,
    ZLGI_VARIABLE
} zlgi_family;
zlgi_family zlgi_type_family(zlg_type type);
int zlgi_type_bits(zlg_type type); /* that carry the value: 4 of int4 */

/* ------------------------------------------------------------------ types.c */
bool zlgi_type_by_name(const char *name, size_t n, zlg_type *out); /* plain ones only */
/* "complex64", "complex_bfloat16"; and back. */
bool zlgi_complex_by_name(const char *name, size_t n, zlg_type *out_part);
const char *zlgi_complex_name(zlg_type part);
const char *zlgi_unit_by_name(const char *name, size_t n); /* static text, or NULL */
/* A copy of `model` in the arena; LIMIT when its elements are too large. */
zlg_status zlgi_dtype_make(zlgi_arena *arena, const zlgi_dtype *model,
                           const zlgi_dtype **out, zlg_error *err);
/* A plain, complex or time type whose parts have this byte order. */
zlg_status zlgi_dtype_make_parts(zlgi_arena *arena, zlg_type type, zlg_type part,
                                 bool big_endian, const zlgi_dtype **out, zlg_error *err);

/* ------------------------------------------------------------------ record.c */
typedef struct zlgi_record_parser {
    zlgi_arena *arena;
    int depth_left;
    uint32_t fields_left; /* in all nested records together */
} zlgi_record_parser;
/* Zeroed fields, one for each item of `list`. */
zlg_status zlgi_record_open(zlgi_record_parser *parser, const zlgi_json *list,
                            zlgi_field **out, zlg_error *err);
/* Name of a field; "" is taken only when empty_ok. */
zlg_status zlgi_record_name(zlgi_record_parser *parser, const zlgi_json *json,
                            bool empty_ok, zlgi_field *field, zlg_error *err);
/* Lays the n fields out one after the other and makes the type. Ends what open began. */
zlg_status zlgi_record_close(zlgi_record_parser *parser, const char *v3_name,
                             zlgi_field *fields, int n, const zlgi_dtype **out,
                             zlg_error *err);

/* ------------------------------------------------------------------ number.c */
/* A float type as the number routines of base see it, and its values. */
zlgi_float_format zlgi_number_format(zlg_type type);
void zlgi_number_parts(zlg_type type, const void *element, zlgi_float_parts *out);
/* Bits of an element of one part, and back. */
uint64_t zlgi_number_bits(zlg_type type, const void *element);
void zlgi_number_set_bits(zlg_type type, uint64_t bits, void *element);
/* Text (JSON number or token) rounded once to the float type. False when it is neither,
 * or when the type has no such value: it lacks NaN, infinity, a sign or zero. */
bool zlgi_number_parse(zlg_type type, const char *text, size_t n, void *element);
int64_t zlgi_number_to_i64(zlg_type type, const void *element);
uint64_t zlgi_number_to_u64(zlg_type type, const void *element);

/* ------------------------------------------------------------------ swap.c */
/* From the order of the leaves to the native one, or back: it is its own inverse. */
void zlgi_dtype_swap_leaves(const zlgi_dtype *dtype, uint8_t *element);

/* ------------------------------------------------------------------ fill.c
 * What both versions share. ZLG_METADATA: "found 300, expected ..."; json may be NULL. */
zlg_status zlgi_json_refuse(const zlgi_json *json, const char *expected, zlg_error *err);
zlg_status zlgi_fill_integer(zlg_type type, const zlgi_json *json, void *element,
                             zlg_error *err);
/* Bytes from base64, and from a list of integers; in the arena. */
zlg_status zlgi_fill_base64(zlgi_arena *arena, const zlgi_json *json, zlgi_fill *out,
                            zlg_error *err);
zlg_status zlgi_fill_list(zlgi_arena *arena, const zlgi_json *json, zlgi_fill *out,
                          zlg_error *err);
/* Those bytes as an element of n_bytes; fewer are padded with NULs unless exact. */
zlg_status zlgi_fill_put(const zlgi_fill *bytes, bool exact, size_t n_bytes,
                         uint8_t *element, zlg_error *err);
/* Bytes in base64, in the order of the leaves: a record as version 2 stores it. */
zlg_status zlgi_fill_stored(zlgi_arena *arena, const zlgi_dtype *dtype,
                            const zlgi_json *json, bool exact, uint8_t *element,
                            zlg_error *err);
/* A string as UTF-32, padded with NULs; as UTF-8 of any length. */
zlg_status zlgi_fill_text(const zlgi_json *json, size_t n_bytes, uint8_t *element,
                          zlg_error *err);
zlg_status zlgi_fill_string(zlgi_arena *arena, const zlgi_json *json, zlgi_fill *out,
                            zlg_error *err);
/* Memory for one element of n bytes, zeroed. */
zlg_status zlgi_fill_memory(zlgi_arena *arena, size_t n, uint8_t **out, zlg_error *err);

#endif
