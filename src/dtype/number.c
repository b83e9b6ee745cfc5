/*
 * Numbers of every numeric type: bits to value and back, one rounding, ties to even.
 *
 * Floats are taken apart by their layout (types.c), so that a float6 and a float64 go one
 * way. Knows what each type lacks: infinities, NaN, a sign, zero. Refuses to know JSON.
 */
#include <math.h>

#include "dtype/internal.h"

uint64_t zlgi_number_bits(zlg_type type, const void *element)
{
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    switch (zlgi_type_bytes(type)) {
    case 1:
        return *(const uint8_t *)element;
    case 2:
        memcpy(&u16, element, sizeof(u16));
        return u16;
    case 4:
        memcpy(&u32, element, sizeof(u32));
        return u32;
    default:
        memcpy(&u64, element, sizeof(u64));
        return u64;
    }
}

void zlgi_number_set_bits(zlg_type type, uint64_t bits, void *element)
{
    uint16_t u16 = (uint16_t)bits;
    uint32_t u32 = (uint32_t)bits;
    switch (zlgi_type_bytes(type)) {
    case 1:
        *(uint8_t *)element = (uint8_t)bits;
        break;
    case 2:
        memcpy(element, &u16, sizeof(u16));
        break;
    case 4:
        memcpy(element, &u32, sizeof(u32));
        break;
    default:
        memcpy(element, &bits, sizeof(bits));
        break;
    }
}

uint64_t zlgi_number_to_u64(zlg_type type, const void *element)
{
    uint64_t mask = UINT64_MAX >> (64 - zlgi_type_bits(type));
    return zlgi_number_bits(type, element) & mask;
}

int64_t zlgi_number_to_i64(zlg_type type, const void *element)
{
    uint64_t sign = UINT64_C(1) << (zlgi_type_bits(type) - 1);
    return (int64_t)((zlgi_number_to_u64(type, element) ^ sign) - sign);
}

/* ------------------------------------------------------------------ floats */

/* Exponent codes 0 .. of finite values. IEEE keeps the last for infinities and NaN,
 * float8_e8m0fnu for NaN; the others use it and give NaN the place of -0, if any. */
static int last_finite_code(const zlgi_float_layout *layout)
{
    return (1 << layout->exponent_bits) - 1 - (layout->has_infinity || !layout->has_zero);
}

/* The smallest code of a normal value is 1, or 0 where code 0 is not for subnormals. */
zlgi_float_format zlgi_number_format(zlg_type type)
{
    const zlgi_float_layout *layout = zlgi_type_float_layout(type);
    int unit = -layout->bias - layout->mantissa_bits;
    return (zlgi_float_format){.precision = layout->mantissa_bits + 1,
                               .min_exponent = unit + layout->has_zero,
                               .max_exponent = unit + last_finite_code(layout)};
}

void zlgi_number_parts(zlg_type type, const void *element, zlgi_float_parts *out)
{
    const zlgi_float_layout *layout = zlgi_type_float_layout(type);
    uint64_t bits = zlgi_number_to_u64(type, element);
    uint64_t hidden = UINT64_C(1) << layout->mantissa_bits;
    uint64_t mantissa = bits & (hidden - 1);
    int code = (int)(bits >> layout->mantissa_bits & ((1u << layout->exponent_bits) - 1));

    *out = (zlgi_float_parts){.kind = ZLGI_FINITE, .significand = mantissa | hidden};
    out->negative = layout->has_sign && bits >> (layout->n_bits - 1);
    if (layout->has_infinity && code > last_finite_code(layout))
        out->kind = mantissa == 0 ? ZLGI_INFINITE : ZLGI_NAN;
    else if (layout->has_nan && bits == layout->nan_bits)
        out->kind = ZLGI_NAN;
    if (layout->has_zero && code == 0) {
        out->significand = mantissa;
        code = 1;
    }
    out->exponent = code - layout->bias - layout->mantissa_bits;
}

/* False when the type has no such value. */
static bool set_parts(zlg_type type, const zlgi_float_parts *parts, void *element)
{
    const zlgi_float_layout *layout = zlgi_type_float_layout(type);
    zlgi_float_format format = zlgi_number_format(type);
    bool is_zero = parts->kind == ZLGI_FINITE && parts->significand == 0;
    if (parts->kind == ZLGI_NAN) {
        zlgi_number_set_bits(type, layout->nan_bits, element);
        return layout->has_nan;
    }
    if ((parts->kind == ZLGI_INFINITE && !layout->has_infinity) ||
        (is_zero && !layout->has_zero) || (parts->negative && !layout->has_sign))
        return false;

    uint64_t bits = (uint64_t)(last_finite_code(layout) + 1) << layout->mantissa_bits;
    if (parts->kind == ZLGI_FINITE) {
        bits = (uint64_t)(parts->exponent - format.min_exponent) << layout->mantissa_bits;
        bits += parts->significand;
        if (!layout->has_zero)
            bits -= UINT64_C(1) << layout->mantissa_bits;
    }
    bool negative = parts->negative && !(is_zero && !layout->has_negative_zero);
    bits |= (uint64_t)negative << (layout->n_bits - 1);
    zlgi_number_set_bits(type, bits, element);
    return true;
}

bool zlgi_number_parse(zlg_type type, const char *text, size_t n, void *element)
{
    zlgi_float_parts parts;
    return zlgi_parse_float_parts(text, n, zlgi_number_format(type), &parts) &&
           set_parts(type, &parts, element);
}

/* Rounds a finite value that is not zero. */
static void round_parts(double value, zlgi_float_format format, zlgi_float_parts *out)
{
    zlgi_number_parts(ZLG_FLOAT64, &value, out);
    int n_bits = 64 - __builtin_clzll(out->significand);
    int exponent = ZLGI_MAX(out->exponent + n_bits - format.precision, format.min_exponent);
    int shift = exponent - out->exponent;
    if (shift <= 0) {
        out->significand <<= -shift;
    } else if (shift > n_bits) {
        out->significand = 0;
    } else {
        uint64_t half = UINT64_C(1) << (shift - 1);
        uint64_t rest = out->significand & (2 * half - 1);
        out->significand >>= shift;
        out->significand += rest > half || (rest == half && out->significand & 1);
    }
    if (out->significand >> format.precision) {
        out->significand >>= 1;
        exponent++;
    }
    out->exponent = exponent;
    if (exponent > format.max_exponent)
        out->kind = ZLGI_INFINITE;
}

/* What the type has in place of a value that it lacks. */
static void set_substitute(zlg_type type, const zlgi_float_parts *parts, void *element)
{
    const zlgi_float_layout *layout = zlgi_type_float_layout(type);
    uint64_t sign = UINT64_C(1) << (layout->n_bits - 1);
    uint64_t bits = sign; /* NaN where there is none: -0 */
    if (layout->has_nan)
        bits = layout->nan_bits;
    else if (parts->kind == ZLGI_INFINITE)
        bits = (sign - 1) | (parts->negative ? sign : 0);
    zlgi_number_set_bits(type, bits, element);
}

static void float_from_double(zlg_type type, double value, void *element)
{
    zlgi_float_parts parts;
    if (isfinite(value) && value != 0)
        round_parts(value, zlgi_number_format(type), &parts);
    else
        zlgi_number_parts(ZLG_FLOAT64, &value, &parts);
    if (parts.kind == ZLGI_FINITE && parts.significand == 0)
        parts.exponent = zlgi_number_format(type).min_exponent;
    if (!set_parts(type, &parts, element))
        set_substitute(type, &parts, element);
}

/* Out of range: the nearest there is; NaN: 0. */
static void integer_from_double(zlg_type type, double value, void *element)
{
    bool is_signed = zlgi_type_is_signed(type);
    double high = ldexp(1, zlgi_type_bits(type) - is_signed); /* the first too large */
    double low = is_signed ? -high : 0;
    double rounded = isnan(value) ? 0 : rint(value);
    uint64_t bits;
    if (rounded >= high)
        bits = UINT64_MAX >> (64 - zlgi_type_bits(type) + is_signed);
    else
        bits = rounded < low ? (uint64_t)(int64_t)low
               : rounded < 0 ? (uint64_t)(int64_t)rounded
                             : (uint64_t)rounded;
    zlgi_number_set_bits(type, bits, element);
}

double zlgi_number_to_double(zlg_type type, const void *element)
{
    double f64;
    float f32;
    zlgi_float_parts parts;
    switch (zlgi_type_family(type)) {
    case ZLGI_SIGNED:
    case ZLGI_TIMES:
        return (double)zlgi_number_to_i64(type, element);
    case ZLGI_FLOATS:
        break;
    default:
        return (double)zlgi_number_to_u64(type, element);
    }
    if (type == ZLG_FLOAT64) {
        memcpy(&f64, element, sizeof(f64));
        return f64;
    }
    if (type == ZLG_FLOAT32) {
        memcpy(&f32, element, sizeof(f32));
        return (double)f32;
    }
    zlgi_number_parts(type, element, &parts);
    double magnitude = parts.kind == ZLGI_NAN ? (double)NAN
                       : parts.kind == ZLGI_INFINITE
                           ? (double)INFINITY
                           : ldexp((double)parts.significand, parts.exponent);
    return parts.negative ? -magnitude : magnitude;
}

void zlgi_number_from_double(zlg_type type, double value, void *element)
{
    float f32;
    if (type == ZLG_FLOAT64) {
        memcpy(element, &value, sizeof(value));
    } else if (type == ZLG_FLOAT32) {
        f32 = (float)value;
        memcpy(element, &f32, sizeof(f32));
    } else if (zlgi_type_is_float(type)) {
        float_from_double(type, value, element);
    } else if (type == ZLG_BOOL) {
        *(uint8_t *)element = value != 0;
    } else {
        integer_from_double(type, value, element);
    }
}
