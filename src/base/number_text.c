/*
 * Binary floats to text: the shortest decimal that reads back as the same value, and of
 * the shortest ones the nearest. The layout is Python's repr: "1.0", "0.0001", "1e-05",
 * "1e+16".
 *
 * Decimals of 15 digits (6 for float32) are found by one product and proved by one
 * division; everything else by generating digits from natural numbers (Steele and White),
 * exact for every format. Refuses to know the locale.
 */
#include <float.h>

#include "base/base.h"
#include "base/bignum.h"

/* 0.d1 d2 ... dn x 10^point; d1 and dn are not zero. */
typedef struct digits {
    char digit[20];
    int n;
    int point;
} digits;

/* Leaves out trailing zeros; value is not zero. */
static void digits_of_integer(uint64_t value, int exponent, digits *out)
{
    for (; value % 10 == 0; value /= 10)
        exponent++;
    int n = 0;
    for (uint64_t rest = value; rest != 0; rest /= 10)
        n++;
    out->n = n;
    out->point = n + exponent;
    for (; value != 0; value /= 10)
        out->digit[--n] = (char)('0' + value % 10);
}

/*
 * The value as r / s < 1 times a power of ten, with the reach of rounding on either side:
 * all from (r - below) / s to (r + above) / s reads back as the value, the ends included
 * when its significand is even.
 */
typedef struct scaled {
    big r, s, above, below;
    bool even;
} scaled;

static void times_ten(scaled *v)
{
    big_multiply(&v->r, 10, 0);
    big_multiply(&v->above, 10, 0);
    big_multiply(&v->below, 10, 0);
}

/* Fills v from significand x 2^exponent; returns the power of ten. */
static int scale(uint64_t significand, int exponent, zlgi_float_format format, scaled *v)
{
    v->even = significand % 2 == 0;
    /* Below a power of two the neighbour is nearer by half, but for the smallest. */
    bool narrow = significand == UINT64_C(1) << (format.precision - 1) &&
                  exponent > format.min_exponent;
    big_set(&v->r, significand);
    big_set(&v->s, 1);
    big_set(&v->above, 1);
    if (exponent > 0) {
        big_shift_left(&v->r, exponent);
        big_shift_left(&v->above, exponent);
    } else {
        big_shift_left(&v->s, -exponent);
    }
    /* In halves of a unit, or quarters. */
    big_shift_left(&v->r, 1 + narrow);
    big_shift_left(&v->s, 1 + narrow);
    v->below = v->above;
    big_shift_left(&v->above, narrow);

    /* value >= 2^bits, and 1292913986 is log10(2) x 2^32: right, or one too small. */
    int bits = exponent + 63 - __builtin_clzll(significand);
    int power = (int)(((int64_t)bits * 1292913986) >> 32) + 1;
    big *grown[3] = {&v->r, &v->above, &v->below};
    for (int i = 0; i < 3 && power < 0; i++) {
        big_multiply_pow5(grown[i], -power);
        big_shift_left(grown[i], -power);
    }
    if (power > 0) {
        big_multiply_pow5(&v->s, power);
        big_shift_left(&v->s, power);
    }
    if (big_compare(&v->r, &v->s) >= 0) {
        big_multiply(&v->s, 10, 0);
        power++;
    }
    return power;
}

static void generate_digits(uint64_t significand, int exponent, zlgi_float_format format,
                            digits *out)
{
    scaled v;
    out->point = scale(significand, exponent, format, &v);
    out->n = 0;
    for (;;) {
        times_ten(&v);
        int digit = 0;
        for (; big_compare(&v.r, &v.s) >= 0; digit++)
            big_subtract(&v.r, &v.s);
        int c = big_compare(&v.r, &v.below);
        bool low = c < 0 || (c == 0 && v.even);
        c = big_compare_sum(&v.r, &v.above, &v.s);
        bool high = c > 0 || (c == 0 && v.even);
        if (low || high) {
            c = big_compare_sum(&v.r, &v.r, &v.s);
            digit += low && high ? c > 0 || (c == 0 && digit % 2 == 1) : high;
            /* Ten can only come of the first digit: before it, 1 would have been enough. */
            out->point += digit == 10;
            out->digit[out->n++] = digit == 10 ? '1' : (char)('0' + digit);
            return;
        }
        out->digit[out->n++] = (char)('0' + digit);
    }
}

/*
 * The shortest digits of a float64, where 15 are enough. A float64 tells all decimals of
 * 15 digits apart, so at most one of them reads back as the value, and what reads back is
 * proved by a division of two exact numbers. Whole numbers below 2^53 are their own
 * digits: their neighbours are nearer than any shorter decimal.
 */
static bool few_digits(double value, digits *out)
{
    static const double pow10[23] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                     1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                     1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (FLT_EVAL_METHOD != 0 || value >= 0x1p53 || value < 1e-7)
        return false;
    int power = 0;
    if (value != (double)(uint64_t)value)
        while (value * pow10[power] < 1e14)
            power++;
    uint64_t integer = (uint64_t)(value * pow10[power] + 0.5);
    if ((double)integer / pow10[power] != value)
        return false;
    digits_of_integer(integer, -power, out);
    return true;
}

/* The same for float32 and its 6 digits. */
static bool few_digits_float(float value, digits *out)
{
    static const float pow10[11] = {1e0f, 1e1f, 1e2f, 1e3f, 1e4f, 1e5f,
                                    1e6f, 1e7f, 1e8f, 1e9f, 1e10f};
    if (FLT_EVAL_METHOD != 0 || value >= 0x1p24f || value < 1e-4f)
        return false;
    int power = 0;
    if (value != (float)(uint32_t)value)
        while (value * pow10[power] < 1e5f)
            power++;
    uint32_t integer = (uint32_t)(value * pow10[power] + 0.5f);
    if ((float)integer / pow10[power] != value)
        return false;
    digits_of_integer(integer, -power, out);
    return true;
}

/* Lays out as Python does; returns the number of bytes, at most 26. */
static size_t lay_out(const digits *d, bool negative, char *text)
{
    char *p = text;
    if (negative)
        *p++ = '-';
    bool positional = d->point > -4 && d->point <= 16;
    /* Digits before the point; zeros where there are none, before or behind. */
    int n_whole = positional ? d->point : 1;
    if (n_whole <= 0)
        *p++ = '0';
    for (int i = 0; i < n_whole; i++)
        *p++ = i < d->n ? d->digit[i] : '0';
    if (positional || d->n > 1)
        *p++ = '.';
    for (int i = n_whole; i < 0; i++)
        *p++ = '0';
    for (int i = ZLGI_MAX(n_whole, 0); i < d->n; i++)
        *p++ = d->digit[i];
    if (positional && n_whole >= d->n)
        *p++ = '0';
    if (!positional) {
        int exponent = d->point - 1;
        *p++ = 'e';
        *p++ = exponent < 0 ? '-' : '+';
        exponent = exponent < 0 ? -exponent : exponent;
        if (exponent >= 100)
            *p++ = (char)('0' + exponent / 100);
        *p++ = (char)('0' + exponent / 10 % 10);
        *p++ = (char)('0' + exponent % 10);
    }
    return (size_t)(p - text);
}

static zlg_status write_digits(zlgi_buf *out, bool negative, const digits *d,
                               zlg_error *err)
{
    char text[32];
    return zlgi_buf_append(out, text, lay_out(d, negative, text), err);
}

zlg_status zlgi_json_write_float_parts(zlgi_buf *out, const zlgi_float_parts *value,
                                       zlgi_float_format format, zlg_error *err)
{
    digits d = {.digit = "0", .n = 1, .point = 1};
    switch (value->kind) {
    case ZLGI_NAN:
        return zlgi_buf_append(out, "\"NaN\"", 5, err);
    case ZLGI_INFINITE:
        return value->negative ? zlgi_buf_append(out, "\"-Infinity\"", 11, err)
                               : zlgi_buf_append(out, "\"Infinity\"", 10, err);
    case ZLGI_FINITE:
        if (value->significand != 0)
            generate_digits(value->significand, value->exponent, format, &d);
        break;
    }
    return write_digits(out, value->negative, &d, err);
}

/* Takes IEEE bits apart. */
static zlgi_float_parts parts_of_bits(uint64_t bits, zlgi_float_format format)
{
    int n_fraction = format.precision - 1;
    uint64_t hidden = UINT64_C(1) << n_fraction;
    uint64_t infinite = (uint64_t)(format.max_exponent - format.min_exponent + 2);
    uint64_t scale = (bits >> n_fraction) & infinite;
    zlgi_float_parts parts = {.kind = ZLGI_FINITE, .significand = bits & (hidden - 1)};
    parts.negative = (bits >> n_fraction) > infinite;
    if (scale == infinite)
        parts.kind = parts.significand != 0 ? ZLGI_NAN : ZLGI_INFINITE;
    else if (scale != 0)
        parts.significand |= hidden;
    parts.exponent = format.min_exponent + (int)scale - (scale != 0);
    return parts;
}

zlg_status zlgi_json_write_double(zlgi_buf *out, double value, zlg_error *err)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    zlgi_float_parts parts = parts_of_bits(bits, ZLGI_FORMAT_FLOAT64);
    digits d;
    if (parts.kind == ZLGI_FINITE && few_digits(parts.negative ? -value : value, &d))
        return write_digits(out, parts.negative, &d, err);
    return zlgi_json_write_float_parts(out, &parts, ZLGI_FORMAT_FLOAT64, err);
}

zlg_status zlgi_json_write_float(zlgi_buf *out, float value, zlg_error *err)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    zlgi_float_parts parts = parts_of_bits(bits, ZLGI_FORMAT_FLOAT32);
    digits d;
    if (parts.kind == ZLGI_FINITE && few_digits_float(parts.negative ? -value : value, &d))
        return write_digits(out, parts.negative, &d, err);
    return zlgi_json_write_float_parts(out, &parts, ZLGI_FORMAT_FLOAT32, err);
}
