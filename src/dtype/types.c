/*
 * The table of element types: name, family, size, and the bits of every float.
 *
 * Knows the data types of version 3 and of the registry of extensions (float4 to float8
 * as the OpenCompute and LLVM documents lay them out). Refuses to know their JSON.
 */
#include "dtype/internal.h"

/* Types that need no configuration: type, family, bytes, bits that count, name. */
#define PLAIN_TYPES(X)                                                                     \
    X(ZLG_BOOL, ZLGI_BOOLEANS, 1, 8, "bool")                                               \
    X(ZLG_INT2, ZLGI_SIGNED, 1, 2, "int2")                                                 \
    X(ZLG_INT4, ZLGI_SIGNED, 1, 4, "int4")                                                 \
    X(ZLG_INT8, ZLGI_SIGNED, 1, 8, "int8")                                                 \
    X(ZLG_INT16, ZLGI_SIGNED, 2, 16, "int16")                                              \
    X(ZLG_INT32, ZLGI_SIGNED, 4, 32, "int32")                                              \
    X(ZLG_INT64, ZLGI_SIGNED, 8, 64, "int64")                                              \
    X(ZLG_UINT2, ZLGI_UNSIGNED, 1, 2, "uint2")                                             \
    X(ZLG_UINT4, ZLGI_UNSIGNED, 1, 4, "uint4")                                             \
    X(ZLG_UINT8, ZLGI_UNSIGNED, 1, 8, "uint8")                                             \
    X(ZLG_UINT16, ZLGI_UNSIGNED, 2, 16, "uint16")                                          \
    X(ZLG_UINT32, ZLGI_UNSIGNED, 4, 32, "uint32")                                          \
    X(ZLG_UINT64, ZLGI_UNSIGNED, 8, 64, "uint64")                                          \
    X(ZLG_FLOAT4_E2M1FN, ZLGI_FLOATS, 1, 4, "float4_e2m1fn")                               \
    X(ZLG_FLOAT6_E2M3FN, ZLGI_FLOATS, 1, 6, "float6_e2m3fn")                               \
    X(ZLG_FLOAT6_E3M2FN, ZLGI_FLOATS, 1, 6, "float6_e3m2fn")                               \
    X(ZLG_FLOAT8_E3M4, ZLGI_FLOATS, 1, 8, "float8_e3m4")                                   \
    X(ZLG_FLOAT8_E4M3, ZLGI_FLOATS, 1, 8, "float8_e4m3")                                   \
    X(ZLG_FLOAT8_E4M3B11FNUZ, ZLGI_FLOATS, 1, 8, "float8_e4m3b11fnuz")                     \
    X(ZLG_FLOAT8_E4M3FNUZ, ZLGI_FLOATS, 1, 8, "float8_e4m3fnuz")                           \
    X(ZLG_FLOAT8_E5M2, ZLGI_FLOATS, 1, 8, "float8_e5m2")                                   \
    X(ZLG_FLOAT8_E5M2FNUZ, ZLGI_FLOATS, 1, 8, "float8_e5m2fnuz")                           \
    X(ZLG_FLOAT8_E8M0FNU, ZLGI_FLOATS, 1, 8, "float8_e8m0fnu")                             \
    X(ZLG_BFLOAT16, ZLGI_FLOATS, 2, 16, "bfloat16")                                        \
    X(ZLG_FLOAT16, ZLGI_FLOATS, 2, 16, "float16")                                          \
    X(ZLG_FLOAT32, ZLGI_FLOATS, 4, 32, "float32")                                          \
    X(ZLG_FLOAT64, ZLGI_FLOATS, 8, 64, "float64")                                          \
    X(ZLG_STRING, ZLGI_VARIABLE, 0, 0, "string")                                           \
    X(ZLG_BYTES, ZLGI_VARIABLE, 0, 0, "bytes")

static const struct type_info {
    const char *name;
    zlgi_family family;
    uint8_t n_bytes; /* of a part */
    uint8_t n_bits;
    bool plain;
} types[] = {
#define TYPE_INFO(type, family, n_bytes, n_bits, name)                                     \
    [type] = {name, family, n_bytes, n_bits, true},
    PLAIN_TYPES(TYPE_INFO)[ZLG_COMPLEX] = {"complex", ZLGI_COMPLEXES, 0, 0, false},
    [ZLG_DATETIME64] = {"numpy.datetime64", ZLGI_TIMES, 8, 64, false},
    [ZLG_TIMEDELTA64] = {"numpy.timedelta64", ZLGI_TIMES, 8, 64, false},
    [ZLG_RAW] = {"raw_bytes", ZLGI_OCTETS, 0, 0, false},
    [ZLG_FIXED_BYTES] = {"null_terminated_bytes", ZLGI_OCTETS, 0, 0, false},
    [ZLG_FIXED_UTF32] = {"fixed_length_utf32", ZLGI_CODE_POINTS, 0, 0, false},
    [ZLG_STRUCT] = {"struct", ZLGI_RECORDS, 0, 0, false},
    [ZLG_VLEN_ARRAY] = {"vlen-array", ZLGI_VARIABLE, 0, 0, false},
};

static const zlgi_dtype plain_dtypes[] = {
#define PLAIN_DTYPE(t, family, bytes, n_bits, name)                                        \
    [t] = {.type = t, .part = t, .n_bytes = bytes, .scale = 1, .v3_name = name},
    PLAIN_TYPES(PLAIN_DTYPE)};

/* clang-format off */
static const zlgi_float_layout layouts[] = {
    /*                       bits  e  m  bias    inf    nan    -0     sign   zero  NaN */
    [ZLG_FLOAT4_E2M1FN]      = {4,  2, 1, 1,    false, false, true,  true,  true,  0},
    [ZLG_FLOAT6_E2M3FN]      = {6,  2, 3, 1,    false, false, true,  true,  true,  0},
    [ZLG_FLOAT6_E3M2FN]      = {6,  3, 2, 3,    false, false, true,  true,  true,  0},
    [ZLG_FLOAT8_E3M4]        = {8,  3, 4, 3,    true,  true,  true,  true,  true,  0x78},
    [ZLG_FLOAT8_E4M3]        = {8,  4, 3, 7,    true,  true,  true,  true,  true,  0x7c},
    [ZLG_FLOAT8_E4M3B11FNUZ] = {8,  4, 3, 11,   false, true,  false, true,  true,  0x80},
    [ZLG_FLOAT8_E4M3FNUZ]    = {8,  4, 3, 8,    false, true,  false, true,  true,  0x80},
    [ZLG_FLOAT8_E5M2]        = {8,  5, 2, 15,   true,  true,  true,  true,  true,  0x7e},
    [ZLG_FLOAT8_E5M2FNUZ]    = {8,  5, 2, 16,   false, true,  false, true,  true,  0x80},
    [ZLG_FLOAT8_E8M0FNU]     = {8,  8, 0, 127,  false, true,  false, false, false, 0xff},
    [ZLG_BFLOAT16]           = {16, 8, 7, 127,  true,  true,  true,  true,  true,  0x7fc0},
    [ZLG_FLOAT16]            = {16, 5, 10, 15,  true,  true,  true,  true,  true,  0x7e00},
    [ZLG_FLOAT32]            = {32, 8, 23, 127, true,  true,  true,  true,  true,
                                0x7fc00000},
    [ZLG_FLOAT64]            = {64, 11, 52, 1023, true, true, true,  true,  true,
                                UINT64_C(0x7ff8000000000000)},
};
/* clang-format on */

static const char *const units[] = {"Y",  "M",  "W",  "D",  "h",  "m",  "s",
                                    "ms", "us", "ns", "ps", "fs", "as", "generic"};

static bool text_is(const char *text, size_t n, const char *name)
{
    return strlen(name) == n && memcmp(text, name, n) == 0;
}

size_t zlgi_type_bytes(zlg_type type)
{
    return types[type].n_bytes;
}

const char *zlgi_type_name(zlg_type type)
{
    return types[type].name;
}

zlgi_family zlgi_type_family(zlg_type type)
{
    return types[type].family;
}

int zlgi_type_bits(zlg_type type)
{
    return types[type].n_bits;
}

bool zlgi_type_is_integer(zlg_type type)
{
    return types[type].family == ZLGI_SIGNED || types[type].family == ZLGI_UNSIGNED;
}

bool zlgi_type_is_signed(zlg_type type)
{
    return types[type].family == ZLGI_SIGNED;
}

bool zlgi_type_is_float(zlg_type type)
{
    return types[type].family == ZLGI_FLOATS;
}

const zlgi_float_layout *zlgi_type_float_layout(zlg_type type)
{
    return zlgi_type_is_float(type) ? &layouts[type] : NULL;
}

const zlgi_dtype *zlgi_dtype_plain(zlg_type type)
{
    return types[type].plain ? &plain_dtypes[type] : NULL;
}

bool zlgi_type_by_name(const char *name, size_t n, zlg_type *out)
{
    for (size_t type = 0; type < ZLGI_COUNT(types); type++) {
        if (types[type].plain && text_is(name, n, types[type].name)) {
            *out = (zlg_type)type;
            return true;
        }
    }
    return false;
}

bool zlgi_complex_by_name(const char *name, size_t n, zlg_type *out_part)
{
    static const char prefix[] = "complex_";
    if (text_is(name, n, "complex64")) {
        *out_part = ZLG_FLOAT32;
        return true;
    }
    if (text_is(name, n, "complex128")) {
        *out_part = ZLG_FLOAT64;
        return true;
    }
    size_t n_prefix = sizeof(prefix) - 1;
    return n > n_prefix && memcmp(name, prefix, n_prefix) == 0 &&
           zlgi_type_by_name(name + n_prefix, n - n_prefix, out_part) &&
           zlgi_type_is_float(*out_part);
}

const char *zlgi_complex_name(zlg_type part)
{
    /* The same text for every array: a type refers to it. */
#define COMPLEX_NAME(type, family, n_bytes, n_bits, name) [type] = "complex_" name,
    static const char *const names[] = {PLAIN_TYPES(COMPLEX_NAME)};
    return part == ZLG_FLOAT32   ? "complex64"
           : part == ZLG_FLOAT64 ? "complex128"
                                 : names[part];
}

const char *zlgi_unit_by_name(const char *name, size_t n)
{
    if (text_is(name, n, "\xce\xbcs")) /* U+03BC, the other spelling of "us" */
        return "us";
    for (size_t i = 0; i < ZLGI_COUNT(units); i++)
        if (text_is(name, n, units[i]))
            return units[i];
    return NULL;
}

zlg_status zlgi_dtype_make(zlgi_arena *arena, const zlgi_dtype *model,
                           const zlgi_dtype **out, zlg_error *err)
{
    if (model->n_bytes > ZLGI_ELEMENT_BYTES)
        return zlgi_fail(err, ZLG_LIMIT, "an element has %zu bytes, at most %d are read",
                         model->n_bytes, ZLGI_ELEMENT_BYTES);
    zlgi_dtype *dtype = zlgi_arena_get(arena, sizeof(*dtype));
    if (dtype == NULL)
        return zlgi_no_memory(err, sizeof(*dtype));
    *dtype = *model;
    *out = dtype;
    return ZLG_OK;
}

zlg_status zlgi_dtype_make_parts(zlgi_arena *arena, zlg_type type, zlg_type part,
                                 bool big_endian, const zlgi_dtype **out, zlg_error *err)
{
    if (type != ZLG_COMPLEX && !big_endian) {
        *out = zlgi_dtype_plain(type);
        return ZLG_OK;
    }
    bool is_complex = type == ZLG_COMPLEX;
    zlgi_dtype model = {.type = type,
                        .part = part,
                        .n_bytes = (is_complex ? 2 : 1) * zlgi_type_bytes(part),
                        .big_endian = big_endian,
                        .scale = 1,
                        .v3_name =
                            is_complex ? zlgi_complex_name(part) : zlgi_type_name(type)};
    return zlgi_dtype_make(arena, &model, out, err);
}
