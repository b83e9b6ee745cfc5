/*
 * Numbers in buffers: from every stored form to the wide ones and back, in loops that a
 * compiler turns into vector code. Knows data types and NumPy's names and conversions;
 * refuses to know what a codec does with the numbers.
 */
#include "codec/elements.h"

enum { HOST_IS_BIG = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ };

/* ---------------------------------------------------------------------- what they are */
zlg_status zlgi_elements_of(const zlgi_dtype *dtype, bool typed, zlgi_elements *out,
                            zlg_error *err)
{
    zlg_type type = dtype->type == ZLG_COMPLEX ? dtype->part : dtype->type;
    if (type == ZLG_DATETIME64 || type == ZLG_TIMEDELTA64)
        type = ZLG_INT64;
    if (type != ZLG_BOOL && !zlgi_type_is_integer(type) && !zlgi_type_is_float(type))
        return zlgi_fail(err, ZLG_UNSUPPORTED, "the data type %s is not a number",
                         zlgi_type_name(dtype->type));
    *out = (zlgi_elements){.dtype = dtype,
                           .type = type,
                           .n_bytes = zlgi_type_bytes(type),
                           .n_parts = dtype->type == ZLG_COMPLEX ? 2 : 1};
    out->swap = !typed && out->n_bytes > 1 && dtype->big_endian != HOST_IS_BIG;
    return ZLG_OK;
}

zlg_status zlgi_elements_member(const zlgi_json *configuration, const char *name,
                                bool typed, const zlgi_elements *missing,
                                const zlgi_codec_env *env, zlgi_elements *out,
                                zlg_error *err)
{
    const zlgi_json *member = configuration ? zlgi_json_get(configuration, name) : NULL;
    if (member == NULL || member->type == ZLGI_JSON_NULL) {
        if (missing == NULL)
            return zlgi_fail(err, ZLG_METADATA, "\"%s\" is missing", name);
        *out = *missing;
        return ZLG_OK;
    }
    if (member->type != ZLGI_JSON_STRING)
        return zlgi_fail(err, ZLG_METADATA, "\"%s\" is not a string", name);
    const zlgi_dtype *dtype;
    zlg_status status = zlgi_dtype_parse_numpy(env->arena, member->text, &dtype, err);
    if (status == ZLG_OK)
        status = zlgi_elements_of(dtype, typed, out, err);
    if (status != ZLG_OK)
        return zlgi_within(err, status, "\"%s\"", name);
    if (typed && dtype->big_endian) {
        zlgi_dtype *plain = zlgi_arena_get(env->arena, sizeof *plain);
        if (plain == NULL)
            return zlgi_no_memory(err, sizeof *plain);
        *plain = *dtype;
        plain->big_endian = false;
        out->dtype = plain;
    }
    return ZLG_OK;
}

void zlgi_elements_text(const zlgi_elements *elements, bool big_endian, char out[8])
{
    size_t n_bytes = zlgi_elements_bytes(elements);
    char kind = elements->type == ZLG_BOOL            ? 'b'
                : elements->n_parts == 2              ? 'c'
                : zlgi_type_is_float(elements->type)  ? 'f'
                : zlgi_type_is_signed(elements->type) ? 'i'
                                                      : 'u';
    size_t i = 0;
    out[i++] = elements->n_bytes == 1 ? '|' : big_endian ? '>' : '<';
    out[i++] = kind;
    if (n_bytes > 9)
        out[i++] = (char)('0' + n_bytes / 10);
    out[i++] = (char)('0' + n_bytes % 10);
    out[i] = '\0';
}

zlgi_wide zlgi_wide_of(zlg_type type)
{
    if (zlgi_type_is_float(type))
        return ZLGI_WIDE_DOUBLE;
    return type == ZLG_UINT64 ? ZLGI_WIDE_UINT64 : ZLGI_WIDE_INT64;
}

double zlgi_round_to(zlg_type type, double value)
{
    if (type == ZLG_FLOAT64)
        return value;
    if (type == ZLG_FLOAT32)
        return (double)(float)value;
    uint64_t element;
    zlgi_number_from_double(type, value, &element);
    return zlgi_number_to_double(type, &element);
}

/* ---------------------------------------------------------------------- arithmetic
 * A double holds more than twice the bits of every narrower float, so the result of one
 * operation, rounded to that type, is that of the type's own arithmetic. */
void zlgi_block_scale(zlg_type type, double offset, double scale, size_t n,
                      zlgi_block *block)
{
    double *d = block->d;
    offset = zlgi_round_to(type, offset);
    scale = zlgi_round_to(type, scale);
    if (type == ZLG_FLOAT64)
        for (size_t i = 0; i < n; i++)
            d[i] = (d[i] - offset) * scale;
    else if (type == ZLG_FLOAT32)
        for (size_t i = 0; i < n; i++)
            d[i] = (double)(((float)d[i] - (float)offset) * (float)scale);
    else
        for (size_t i = 0; i < n; i++)
            d[i] = zlgi_round_to(type, zlgi_round_to(type, d[i] - offset) * scale);
}

void zlgi_block_unscale(zlg_type type, double offset, double scale, size_t n,
                        zlgi_block *block)
{
    double *d = block->d;
    offset = zlgi_round_to(type, offset);
    scale = zlgi_round_to(type, scale);
    if (type == ZLG_FLOAT64)
        for (size_t i = 0; i < n; i++)
            d[i] = d[i] / scale + offset;
    else if (type == ZLG_FLOAT32)
        for (size_t i = 0; i < n; i++)
            d[i] = (double)((float)d[i] / (float)scale + (float)offset);
    else
        for (size_t i = 0; i < n; i++)
            d[i] = zlgi_round_to(type, zlgi_round_to(type, d[i] / scale) + offset);
}

/* ---------------------------------------------------------------------- byte order */
static void swap_bytes(const zlgi_elements *elements, uint8_t *bytes, size_t n)
{
    zlgi_swap swap = {.width = (uint32_t)elements->n_bytes};
    zlgi_swap_apply(&swap, bytes, n, elements->n_bytes);
}

/* ---------------------------------------------------------------------- loading */
#define LOAD(type, field, widen)                                                           \
    for (size_t i = 0; i < n; i++) {                                                       \
        type value;                                                                        \
        memcpy(&value, from + i * sizeof value, sizeof value);                             \
        out->field[i] = widen(value);                                                      \
    }                                                                                      \
    return

/*
 * The fields of a float16 moved to where a float32 has them give a value 2^112 too small,
 * subnormal ones included; the product is exact. Infinities and NaN keep their exponent and
 * what they carry.
 */
static double half_to_double(uint16_t half)
{
    uint32_t bits = (uint32_t)(half & 0x7fff) << 13, sign = (uint32_t)(half & 0x8000) << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    value *= 0x1p112f;
    memcpy(&bits, &value, sizeof bits);
    bits = (half & 0x7c00) == 0x7c00 ? (uint32_t)(half & 0x7fff) << 13 | 0x7f800000 : bits;
    bits |= sign;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

/* The low bits of a byte, with or without their sign. */
static void load_small(zlg_type type, const uint8_t *from, size_t n, zlgi_block *out)
{
    unsigned n_above = type == ZLG_INT2 || type == ZLG_UINT2 ? 6 : 4;
    for (size_t i = 0; i < n; i++) {
        uint8_t raised = (uint8_t)(from[i] << n_above);
        out->i[i] =
            zlgi_type_is_signed(type) ? (int8_t)raised >> n_above : raised >> n_above;
    }
}

void zlgi_elements_load(const zlgi_elements *elements, const uint8_t *from, size_t n,
                        zlgi_block *out)
{
    uint8_t swapped[ZLGI_BLOCK * sizeof(uint64_t)];
    if (elements->swap) {
        memcpy(swapped, from, n * elements->n_bytes);
        swap_bytes(elements, swapped, n);
        from = swapped;
    }
    switch ((int)elements->type) {
    case ZLG_BOOL:
        for (size_t i = 0; i < n; i++)
            out->i[i] = from[i] != 0;
        return;
    case ZLG_INT2:
    case ZLG_INT4:
    case ZLG_UINT2:
    case ZLG_UINT4:
        load_small(elements->type, from, n, out);
        return;
    case ZLG_INT8:
        LOAD(int8_t, i, (int64_t));
    case ZLG_INT16:
        LOAD(int16_t, i, (int64_t));
    case ZLG_INT32:
        LOAD(int32_t, i, (int64_t));
    case ZLG_INT64:
        LOAD(int64_t, i, (int64_t));
    case ZLG_UINT8:
        LOAD(uint8_t, i, (int64_t));
    case ZLG_UINT16:
        LOAD(uint16_t, i, (int64_t));
    case ZLG_UINT32:
        LOAD(uint32_t, i, (int64_t));
    case ZLG_UINT64:
        LOAD(uint64_t, u, (uint64_t));
    case ZLG_FLOAT16:
        LOAD(uint16_t, d, half_to_double);
    case ZLG_FLOAT32:
        LOAD(float, d, (double));
    case ZLG_FLOAT64:
        LOAD(double, d, (double));
    default:
        for (size_t i = 0; i < n; i++)
            out->d[i] = zlgi_number_to_double(elements->type, from + i * elements->n_bytes);
    }
}

void zlgi_block_to_double(zlgi_wide wide, zlgi_block *block, size_t n)
{
    if (wide == ZLGI_WIDE_INT64)
        for (size_t i = 0; i < n; i++)
            block->d[i] = (double)block->i[i];
    if (wide == ZLGI_WIDE_UINT64)
        for (size_t i = 0; i < n; i++)
            block->d[i] = (double)block->u[i];
}

/* ---------------------------------------------------------------------- storing
 * What C leaves undefined is what the conversion instructions of x86-64 give. */
static int32_t to_int32(double value)
{
    return value > -2147483649.0 && value < 2147483648.0 ? (int32_t)value : INT32_MIN;
}

static int64_t to_int64(double value)
{
    return value >= -0x1p63 && value < 0x1p63 ? (int64_t)value : INT64_MIN;
}

static uint64_t to_uint64(double value)
{
    return value >= 0x1p63 && value < 0x1p64 ? (uint64_t)value : (uint64_t)to_int64(value);
}

#define STORE_AS(type, expression)                                                         \
    for (size_t i = 0; i < n; i++) {                                                       \
        type value = (type)(expression);                                                   \
        memcpy(to + i * sizeof value, &value, sizeof value);                               \
    }                                                                                      \
    break

#define STORE(type, from_double)                                                           \
    switch (wide) {                                                                        \
    case ZLGI_WIDE_INT64:                                                                  \
        STORE_AS(type, block->i[i]);                                                       \
    case ZLGI_WIDE_UINT64:                                                                 \
        STORE_AS(type, block->u[i]);                                                       \
    case ZLGI_WIDE_DOUBLE:                                                                 \
        STORE_AS(type, from_double(block->d[i]));                                          \
    }                                                                                      \
    break

/* Types without a C type: small integers keep what fits, floats are rounded by dtype. */
static void store_other(const zlgi_elements *elements, zlgi_wide wide,
                        const zlgi_block *block, size_t n, uint8_t *to)
{
    if (!zlgi_type_is_integer(elements->type)) {
        for (size_t i = 0; i < n; i++) {
            double value = wide == ZLGI_WIDE_INT64    ? (double)block->i[i]
                           : wide == ZLGI_WIDE_UINT64 ? (double)block->u[i]
                                                      : block->d[i];
            zlgi_number_from_double(elements->type, value, to + i * elements->n_bytes);
        }
        return;
    }
    zlgi_block small;
    for (size_t i = 0; i < n; i++)
        to[i] = (uint8_t)(wide == ZLGI_WIDE_DOUBLE ? (uint64_t)to_int32(block->d[i])
                                                   : block->u[i]);
    load_small(elements->type, to, n, &small);
    for (size_t i = 0; i < n; i++)
        to[i] = (uint8_t)small.i[i];
}

void zlgi_elements_store(const zlgi_elements *elements, zlgi_wide wide,
                         const zlgi_block *block, size_t n, uint8_t *to)
{
    switch ((int)elements->type) {
    case ZLG_BOOL:
        for (size_t i = 0; i < n; i++)
            to[i] = wide == ZLGI_WIDE_DOUBLE ? block->d[i] != 0 : block->u[i] != 0;
        break;
    case ZLG_INT8:
    case ZLG_UINT8:
        STORE(uint8_t, to_int32);
    case ZLG_INT16:
    case ZLG_UINT16:
        STORE(uint16_t, to_int32);
    case ZLG_INT32:
        STORE(uint32_t, to_int32);
    case ZLG_UINT32:
        STORE(uint32_t, to_int64);
    case ZLG_INT64:
        STORE(uint64_t, to_int64);
    case ZLG_UINT64:
        STORE(uint64_t, to_uint64);
    case ZLG_FLOAT32:
        STORE(float, );
    case ZLG_FLOAT64:
        STORE(double, );
    default:
        store_other(elements, wide, block, n, to);
    }
    if (elements->swap)
        swap_bytes(elements, to, n);
}

void zlgi_elements_convert(const zlgi_elements *from, const uint8_t *in, size_t n,
                           const zlgi_elements *to, uint8_t *out)
{
    if (from->type == to->type) {
        if (n > 0)
            memcpy(out, in, n * from->n_bytes);
        if (from->swap != to->swap)
            swap_bytes(to, out, n);
        return;
    }
    zlgi_wide wide = zlgi_wide_of(from->type);
    zlgi_block block;
    for (size_t i = 0; i < n; i += ZLGI_BLOCK) {
        size_t n_block = ZLGI_MIN(n - i, ZLGI_BLOCK);
        zlgi_elements_load(from, in + i * from->n_bytes, n_block, &block);
        zlgi_elements_store(to, wide, &block, n_block, out + i * to->n_bytes);
    }
}
