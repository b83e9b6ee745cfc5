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

static zlgi_integer_range integer_range(zlg_type type)
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

void zlgi_cast_target_init(zlgi_cast_target *target, zlg_type type)
{
    const zlgi_float_layout *layout = zlgi_type_float_layout(type);
    *target = (zlgi_cast_target){.type = type, .layout = layout};
    if (layout == NULL) {
        target->n_bits = integer_bits(type);
        target->range = integer_range(type);
        return;
    }
    target->most = greatest(layout);
    /* Types without zero have no subnormal values, and one exponent more. */
    target->least_exponent = (layout->has_zero ? 1 : 0) - layout->bias;
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
static double round_to_precision(double value, const zlgi_cast_target *target,
                                 zlgi_rounding rounding)
{
    if (value == 0)
        return value;
    int exponent = ZLGI_MAX(ilogb(value), target->least_exponent);
    exponent -= target->layout->mantissa_bits;
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
static bool fit_float(double value, const zlgi_cast_target *target,
                      zlgi_out_of_range out_of_range, double *out)
{
    const zlgi_float_layout *layout = target->layout;
    const double least = layout->has_zero ? 0 : ldexp(1, target->least_exponent);
    const bool is_large = fabs(value) > target->most;
    if (!is_large && (value >= least || layout->has_sign)) {
        *out = value == 0 && !layout->has_negative_zero ? 0 : value;
        return true;
    }
    if (out_of_range != ZLGI_RANGE_CLAMP)
        return false;
    *out = copysign(layout->has_infinity ? INFINITY : target->most, value);
    if (!layout->has_sign && value < least)
        *out = least;
    return true;
}

static bool cast_to_float(zlgi_number number, zlgi_wide wide,
                          const zlgi_cast_target *target, zlgi_rounding rounding,
                          zlgi_out_of_range out_of_range, double *out)
{
    double value;
    if (wide == ZLGI_WIDE_DOUBLE) {
        value = number.d;
        if (!isfinite(value)) {
            *out = value;
            return isnan(value) ? target->layout->has_nan : target->layout->has_infinity;
        }
        value = round_to_precision(value, target, rounding);
    } else {
        bool negative = wide == ZLGI_WIDE_INT64 && number.i < 0;
        uint64_t magnitude = negative ? -number.u : number.u;
        unsigned n_bits = (unsigned)target->layout->mantissa_bits + 1;
        value = round_magnitude(magnitude, negative, n_bits, rounding);
        value = negative ? -value : value;
    }
    return fit_float(value, target, out_of_range, out);
}

/* ---------------------------------------------------------------------- to an integer */
/* The integer of the low bits, as the type reads them. */
static uint64_t wrap_bits(uint64_t bits, const zlgi_cast_target *target)
{
    unsigned n_above = 64 - target->n_bits;
    bits <<= n_above;
    return target->range.least < 0 ? (uint64_t)((int64_t)bits >> n_above) : bits >> n_above;
}

static bool fit_integer(uint64_t bits, bool below, bool above,
                        const zlgi_cast_target *target, zlgi_out_of_range out_of_range,
                        zlgi_number *out)
{
    out->u = bits;
    if (!below && !above)
        return true;
    if (out_of_range == ZLGI_RANGE_CLAMP)
        out->u = below ? (uint64_t)target->range.least : target->range.most;
    if (out_of_range == ZLGI_RANGE_WRAP)
        out->u = wrap_bits(bits, target);
    return out_of_range != ZLGI_RANGE_ERROR;
}

static bool cast_to_integer(zlgi_number number, zlgi_wide wide,
                            const zlgi_cast_target *target, zlgi_rounding rounding,
                            zlgi_out_of_range out_of_range, zlgi_number *out)
{
    const zlgi_integer_range *range = &target->range;
    if (wide == ZLGI_WIDE_INT64)
        return fit_integer(number.u,
                           number.i<range->least, number.i> 0 && number.u > range->most,
                           target, out_of_range, out);
    if (wide == ZLGI_WIDE_UINT64)
        return fit_integer(number.u, false, number.u > range->most, target, out_of_range,
                           out);
    if (!isfinite(number.d))
        return false;
    double value = round_double(number.d, rounding);
    bool below = value < (double)range->least;
    bool above = value > 0 && (value >= 0x1p64 || (uint64_t)value > range->most);
    double magnitude = fabs(value) < 0x1p64 ? fabs(value) : fmod(fabs(value), 0x1p64);
    uint64_t bits = (uint64_t)magnitude;
    return fit_integer(value < 0 ? -bits : bits, below, above, target, out_of_range, out);
}

bool zlgi_cast(zlgi_number number, zlgi_wide wide, const zlgi_cast_target *target,
               zlgi_rounding rounding, zlgi_out_of_range out_of_range, zlgi_number *out)
{
    if (target->layout != NULL)
        return cast_to_float(number, wide, target, rounding, out_of_range, &out->d);
    return cast_to_integer(number, wide, target, rounding, out_of_range, out);
}

/* ---------------------------------------------------------------------- exact ones */
static bool floats_contain(const zlgi_cast_target *to, const zlgi_cast_target *from)
{
    const zlgi_float_layout *a = to->layout, *b = from->layout;
    return a->mantissa_bits >= b->mantissa_bits && to->most >= from->most &&
           to->least_exponent - a->mantissa_bits <=
               from->least_exponent - b->mantissa_bits &&
           a->has_infinity >= b->has_infinity && a->has_nan >= b->has_nan &&
           a->has_sign >= b->has_sign && a->has_zero >= b->has_zero &&
           a->has_negative_zero >= b->has_negative_zero;
}

bool zlgi_cast_is_exact(zlg_type from_type, zlg_type to_type)
{
    zlgi_cast_target from, to;
    zlgi_cast_target_init(&from, from_type);
    zlgi_cast_target_init(&to, to_type);
    if (from.layout != NULL)
        return to.layout != NULL && floats_contain(&to, &from);
    if (to.layout != NULL)
        return to.layout->has_zero && (to.layout->has_sign || from.range.least == 0) &&
               from.range.most <= UINT64_C(1) << (to.layout->mantissa_bits + 1) &&
               (double)from.range.most < to.most;
    return from.range.least >= to.range.least && from.range.most <= to.range.most;
}
