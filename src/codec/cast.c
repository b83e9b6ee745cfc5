/*
 * Casting of numbers: first the exact value is rounded to the precision of the target, as
 * if its exponent had no end; then the range rule decides. Knows integers of 2 to 64 bits
 * and every float that dtype describes.
 */
#include <math.h>

#include "codec/cast.h"

/* ---------------------------------------------------------------------- the types */
static unsigned integer_bits(zlg_type type)
{
    switch ((int)type) {
    case ZLG_INT2:
    case ZLG_UINT2:
        return 2;
    case ZLG_INT4:
    case ZLG_UINT4:
        return 4;
    default:
        return (unsigned)zlgi_type_bytes(type) * 8;
    }
}

zlgi_integer_range zlgi_integer_range_of(zlg_type type)
{
    unsigned n_bits = integer_bits(type);
    if (zlgi_type_is_signed(type))
        return (zlgi_integer_range){.least = -(int64_t)(UINT64_MAX >> (65 - n_bits)) - 1,
                                    .most = UINT64_MAX >> (65 - n_bits)};
    return (zlgi_integer_range){.least = 0, .most = UINT64_MAX >> (64 - n_bits)};
}

/* The greatest finite value: all exponents but those that infinities and NaN take. */
static double greatest(const zlgi_float_layout *layout)
{
    int64_t top = (INT64_C(1) << layout->exponent_bits) - 1;
    uint64_t exponents = (uint64_t)top << layout->mantissa_bits;
    if (layout->has_infinity ||
        (layout->has_nan && (layout->nan_bits & exponents) == exponents))
        top--;
    return ldexp(2 - ldexp(1, -layout->mantissa_bits), (int)top - layout->bias);
}

/* The exponent of the least step between values; of the least normal value. Types without
 * zero have no subnormal values, and one exponent more. */
static int least_exponent(const zlgi_float_layout *layout)
{
    return (layout->has_zero ? 1 : 0) - layout->bias;
}

/* ---------------------------------------------------------------------- rounding */
static double round_double(double value, zlgi_rounding rounding)
{
    switch (rounding) {
    case ZLGI_NEAREST_EVEN:
        return rint(value);
    case ZLGI_TOWARDS_ZERO:
        return trunc(value);
    case ZLGI_TOWARDS_POSITIVE:
        return ceil(value);
    case ZLGI_TOWARDS_NEGATIVE:
        return floor(value);
    case ZLGI_NEAREST_AWAY:
        break;
    }
    return round(value);
}

/* A finite double to the precision of a float type. */
static double round_to_layout(double value, const zlgi_float_layout *layout,
                              zlgi_rounding rounding)
{
    if (value == 0)
        return value;
    int exponent = ZLGI_MAX(ilogb(value), least_exponent(layout)) - layout->mantissa_bits;
    return ldexp(round_double(ldexp(value, -exponent), rounding), exponent);
}

/* Magnitude of an integer to a double of n_bits of precision. */
static double round_magnitude(uint64_t magnitude, bool negative, unsigned n_bits,
                              zlgi_rounding rounding)
{
    unsigned n_used = magnitude == 0 ? 0 : 64 - (unsigned)__builtin_clzll(magnitude);
    if (n_used <= n_bits)
        return (double)magnitude;
    unsigned n_lost = n_used - n_bits;
    uint64_t kept = magnitude >> n_lost, half = UINT64_C(1) << (n_lost - 1);
    uint64_t lost = magnitude & ((half << 1) - 1);
    bool up = false;
    switch (rounding) {
    case ZLGI_NEAREST_EVEN:
        up = lost > half || (lost == half && kept & 1);
        break;
    case ZLGI_NEAREST_AWAY:
        up = lost >= half;
        break;
    case ZLGI_TOWARDS_ZERO:
        break;
    case ZLGI_TOWARDS_POSITIVE:
        up = lost > 0 && !negative;
        break;
    case ZLGI_TOWARDS_NEGATIVE:
        up = lost > 0 && negative;
        break;
    }
    return ldexp((double)(kept + up), (int)n_lost);
}

/* ---------------------------------------------------------------------- to a float */
static bool fit_float(double value, const zlgi_float_layout *layout,
                      zlgi_out_of_range out_of_range, double *out)
{
    double most = greatest(layout);
    bool fits = fabs(value) <= most && (layout->has_sign || value >= 0) &&
                (layout->has_zero || value >= ldexp(1, least_exponent(layout)));
    if (fits) {
        *out = value == 0 && !layout->has_negative_zero ? 0 : value;
        return true;
    }
    if (out_of_range != ZLGI_RANGE_CLAMP)
        return false;
    if (fabs(value) > most)
        *out = copysign(layout->has_infinity ? INFINITY : most, value);
    if (!layout->has_zero && value < 1)
        *out = ldexp(1, least_exponent(layout));
    return true;
}

static bool cast_to_float(zlgi_number number, zlgi_wide wide,
                          const zlgi_float_layout *layout, zlgi_rounding rounding,
                          zlgi_out_of_range out_of_range, double *out)
{
    unsigned n_bits = (unsigned)layout->mantissa_bits + 1;
    double value;
    if (wide == ZLGI_WIDE_DOUBLE) {
        value = number.d;
        if (!isfinite(value)) {
            *out = value;
            return isnan(value) ? layout->has_nan : layout->has_infinity;
        }
        value = round_to_layout(value, layout, rounding);
    } else {
        bool negative = wide == ZLGI_WIDE_INT64 && number.i < 0;
        uint64_t magnitude = negative ? -number.u : number.u;
        value = round_magnitude(magnitude, negative, n_bits, rounding);
        value = negative ? -value : value;
    }
    return fit_float(value, layout, out_of_range, out);
}

/* ---------------------------------------------------------------------- to an integer */
/* The integer of the low bits, as the type reads them. */
static uint64_t wrap_bits(uint64_t bits, zlg_type type)
{
    unsigned n_above = 64 - integer_bits(type);
    bits <<= n_above;
    return zlgi_type_is_signed(type) ? (uint64_t)((int64_t)bits >> n_above)
                                     : bits >> n_above;
}

/* Integers outside a type are on one side of it. */
static bool fit_integer(uint64_t bits, bool below, bool above, zlg_type to,
                        zlgi_out_of_range out_of_range, zlgi_number *out)
{
    zlgi_integer_range range = zlgi_integer_range_of(to);
    out->u = bits;
    if (!below && !above)
        return true;
    if (out_of_range == ZLGI_RANGE_CLAMP)
        out->u = below ? (uint64_t)range.least : range.most;
    if (out_of_range == ZLGI_RANGE_WRAP)
        out->u = wrap_bits(bits, to);
    return out_of_range != ZLGI_RANGE_ERROR;
}

static bool cast_to_integer(zlgi_number number, zlgi_wide wide, zlg_type to,
                            zlgi_rounding rounding, zlgi_out_of_range out_of_range,
                            zlgi_number *out)
{
    zlgi_integer_range range = zlgi_integer_range_of(to);
    if (wide == ZLGI_WIDE_INT64)
        return fit_integer(number.u,
                           number.i<range.least, number.i> 0 && number.u > range.most, to,
                           out_of_range, out);
    if (wide == ZLGI_WIDE_UINT64)
        return fit_integer(number.u, false, number.u > range.most, to, out_of_range, out);
    if (!isfinite(number.d))
        return false;
    double value = round_double(number.d, rounding);
    /* Both bounds are powers of two, or zero. */
    double end = ldexp(1, (int)integer_bits(to) - zlgi_type_is_signed(to));
    double modulo = fmod(fabs(value), 0x1p64);
    uint64_t bits = (uint64_t)modulo;
    return fit_integer(value < 0 ? -bits : bits, value < (double)range.least, value >= end,
                       to, out_of_range, out);
}

bool zlgi_cast(zlgi_number number, zlgi_wide wide, zlg_type to, zlgi_rounding rounding,
               zlgi_out_of_range out_of_range, zlgi_number *out)
{
    const zlgi_float_layout *layout = zlgi_type_float_layout(to);
    if (layout != NULL)
        return cast_to_float(number, wide, layout, rounding, out_of_range, &out->d);
    return cast_to_integer(number, wide, to, rounding, out_of_range, out);
}

/* ---------------------------------------------------------------------- exact ones */
static bool floats_contain(const zlgi_float_layout *to, const zlgi_float_layout *from)
{
    return to->mantissa_bits >= from->mantissa_bits && greatest(to) >= greatest(from) &&
           least_exponent(to) - to->mantissa_bits <=
               least_exponent(from) - from->mantissa_bits &&
           to->has_infinity >= from->has_infinity && to->has_nan >= from->has_nan &&
           to->has_sign >= from->has_sign && to->has_zero >= from->has_zero &&
           to->has_negative_zero >= from->has_negative_zero;
}

bool zlgi_cast_is_exact(zlg_type from, zlg_type to)
{
    const zlgi_float_layout *from_float = zlgi_type_float_layout(from);
    const zlgi_float_layout *to_float = zlgi_type_float_layout(to);
    if (from_float != NULL)
        return to_float != NULL && floats_contain(to_float, from_float);
    zlgi_integer_range range = zlgi_integer_range_of(from);
    if (to_float != NULL)
        return to_float->has_zero && (to_float->has_sign || range.least == 0) &&
               range.most <= UINT64_C(1) << (to_float->mantissa_bits + 1) &&
               (double)range.most < greatest(to_float);
    zlgi_integer_range to_range = zlgi_integer_range_of(to);
    return range.least >= to_range.least && range.most <= to_range.most;
}
