/*
 * Decimal text to binary floats: the one value nearest to what is written, ties to even,
 * for every binary format up to float64.
 *
 * Short decimals take one exact division or product of the machine (Clinger's fast path);
 * all others a long division of natural numbers, which is right whatever the length of
 * the text. Knows JSON's grammar of numbers (RFC 8259 section 6) and Python's three
 * tokens; refuses to know the locale, hexadecimal floats and signs other than '-'.
 */
#include <float.h>

#include "base/base.h"
#include "base/bignum.h"

/*
 * Digits that decide the rounding. The point half way between two float64 values has at
 * most 768 significant digits, so all that follow matter only by not being all zero.
 */
enum { MAX_DIGITS = 769 };

/* Powers of ten beyond which every format is infinite, or zero. */
enum { LARGEST_POWER = 309, SMALLEST_POWER = -324 };

/* |value| = digits x 10^exponent. */
typedef struct decimal {
    bool negative;
    const char *digits; /* the first that is not zero; a point may stand among them */
    size_t n_digits;
    int64_t exponent;
} decimal;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t skip_digits(const char *text, size_t n, size_t i)
{
    while (i < n && is_digit(text[i]))
        i++;
    return i;
}

size_t zlgi_number_span(const char *text, size_t n)
{
    size_t first = n > 0 && text[0] == '-' ? 1 : 0;
    size_t end = skip_digits(text, n, first);
    if (end == first)
        return 0;
    if (text[first] == '0')
        end = first + 1;
    if (end < n && text[end] == '.') {
        size_t after = skip_digits(text, n, end + 1);
        if (after == end + 1)
            return end;
        end = after;
    }
    if (end < n && (text[end] == 'e' || text[end] == 'E')) {
        size_t exponent = end + 1;
        if (exponent < n && (text[exponent] == '+' || text[exponent] == '-'))
            exponent++;
        size_t after = skip_digits(text, n, exponent);
        if (after > exponent)
            end = after;
    }
    return end;
}

/* Takes apart text that zlgi_number_span has accepted in full. */
static decimal read_decimal(const char *text, size_t n)
{
    decimal d = {.negative = text[0] == '-'};
    bool after_point = false;
    size_t i = d.negative ? 1 : 0;
    for (; i < n && text[i] != 'e' && text[i] != 'E'; i++) {
        if (text[i] == '.') {
            after_point = true;
            continue;
        }
        d.exponent -= after_point;
        if (d.n_digits == 0 && text[i] == '0')
            continue;
        if (d.n_digits++ == 0)
            d.digits = text + i;
    }
    if (i < n) {
        bool negative = text[++i] == '-';
        int64_t exponent = 0;
        /* Stops where no number of digits that fits in memory could make up for it. */
        for (i += !is_digit(text[i]); i < n && exponent < INT64_C(1) << 56; i++)
            exponent = 10 * exponent + (text[i] - '0');
        d.exponent += negative ? -exponent : exponent;
    }
    return d;
}

/* At most MAX_DIGITS of the digits; a 1 after them when they are cut and not exact. */
static void load_digits(const decimal *d, big *out, int64_t *out_exponent)
{
    static const uint32_t pow10[10] = {1,      10,      100,      1000,      10000,
                                       100000, 1000000, 10000000, 100000000, 1000000000};
    size_t n_kept = ZLGI_MIN(d->n_digits, (size_t)MAX_DIGITS);
    const char *next = d->digits;
    big_set(out, 0);
    uint32_t group = 0;
    int n_group = 0;
    for (size_t i = 0; i < n_kept; i++, next++) {
        next += *next == '.';
        group = 10 * group + (uint32_t)(*next - '0');
        if (++n_group == 9 || i + 1 == n_kept) {
            big_multiply(out, pow10[n_group], group);
            group = 0;
            n_group = 0;
        }
    }
    *out_exponent = d->exponent + (int64_t)(d->n_digits - n_kept);
    bool exact = true;
    for (size_t i = n_kept; i < d->n_digits; i++, next++) {
        next += *next == '.';
        exact = exact && *next == '0';
    }
    if (!exact) {
        big_multiply(out, 10, 1);
        --*out_exponent;
    }
}

/*
 * Rounds a / b x 2^exponent, both not zero, to the format: scales until 1 <= a / b < 2,
 * takes as many bits as the format keeps at that size, and looks at what is left.
 */
static void divide(big *a, big *b, int exponent, zlgi_float_format format,
                   zlgi_float_parts *out)
{
    int shift = big_bits(a) - big_bits(b);
    big_shift_left(shift < 0 ? a : b, shift < 0 ? -shift : shift);
    if (big_compare(a, b) < 0) {
        big_multiply(a, 2, 0);
        shift--;
    }
    exponent += shift;

    int n_bits = ZLGI_MIN(format.precision, exponent - format.min_exponent + 1);
    out->exponent = format.min_exponent;
    if (n_bits < 0)
        return;
    uint64_t significand = 0;
    for (int i = 0; i < n_bits; i++) {
        bool bit = big_compare(a, b) >= 0;
        if (bit)
            big_subtract(a, b);
        big_multiply(a, 2, 0);
        significand = significand << 1 | bit;
    }
    /* a / b is now twice the fraction of a unit that is left. */
    int half = big_compare(a, b);
    if (half > 0 || (half == 0 && significand & 1))
        significand++;
    exponent -= n_bits - 1;
    if (significand >> format.precision) {
        significand >>= 1;
        exponent++;
    }
    out->significand = significand;
    out->exponent = exponent;
    if (exponent > format.max_exponent)
        out->kind = ZLGI_INFINITE;
}

static void round_decimal(const decimal *d, zlgi_float_format format, zlgi_float_parts *out)
{
    *out = (zlgi_float_parts){
        .kind = ZLGI_FINITE, .negative = d->negative, .exponent = format.min_exponent};
    /* 10^(power - 1) <= value < 10^power */
    int64_t power = d->exponent + (int64_t)d->n_digits;
    if (d->n_digits == 0 || power < SMALLEST_POWER)
        return;
    if (power > LARGEST_POWER) {
        out->kind = ZLGI_INFINITE;
        return;
    }
    big a, b;
    int64_t exponent;
    load_digits(d, &a, &exponent);
    big_set(&b, 1);
    int ten = (int)exponent;
    big_multiply_pow5(ten < 0 ? &b : &a, ten < 0 ? -ten : ten);
    divide(&a, &b, ten, format, out);
}

/* The three tokens. */
static bool parse_token(const char *text, size_t n, zlgi_float_parts *out)
{
    *out = (zlgi_float_parts){.kind = ZLGI_INFINITE, .negative = n > 0 && text[0] == '-'};
    if (n == 3 && memcmp(text, "NaN", 3) == 0) {
        out->kind = ZLGI_NAN;
        return true;
    }
    return n == 8u + out->negative && memcmp(text + out->negative, "Infinity", 8) == 0;
}

bool zlgi_parse_float_parts(const char *text, size_t n, zlgi_float_format format,
                            zlgi_float_parts *out)
{
    assert(format.precision <= 53 && format.min_exponent >= -1074 &&
           format.max_exponent <= 971);
    if (n == 0 || zlgi_number_span(text, n) != n)
        return parse_token(text, n, out);
    decimal d = read_decimal(text, n);
    round_decimal(&d, format, out);
    return true;
}

/* Bits of an IEEE format, sign and all; NaN is the quiet one without sign. */
static uint64_t ieee_bits(const zlgi_float_parts *parts, zlgi_float_format format)
{
    int n_fraction = format.precision - 1;
    uint64_t infinity = (uint64_t)(format.max_exponent - format.min_exponent + 2)
                        << n_fraction;
    uint64_t sign = (infinity + (UINT64_C(1) << n_fraction)) * parts->negative;
    if (parts->kind == ZLGI_NAN)
        return infinity | UINT64_C(1) << (n_fraction - 1);
    if (parts->kind == ZLGI_INFINITE)
        return sign | infinity;
    uint64_t scale = (uint64_t)(parts->exponent - format.min_exponent) << n_fraction;
    return sign | (scale + parts->significand);
}

/*
 * Clinger's fast path: where digits and power of ten are both exact in a float64, one
 * operation of the machine rounds once. Not where it computes with more bits than that.
 */
static bool divide_exactly(const decimal *d, double *out)
{
    static const double pow10[23] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                     1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                     1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (FLT_EVAL_METHOD != 0 || d->n_digits > 16 || d->exponent < -22 || d->exponent > 22)
        return false;
    uint64_t digits = 0;
    const char *next = d->digits;
    for (size_t i = 0; i < d->n_digits; i++, next++) {
        next += *next == '.';
        digits = 10 * digits + (uint64_t)(*next - '0');
    }
    if (digits > UINT64_C(1) << 53)
        return false;
    double v = (double)digits;
    v = d->exponent < 0 ? v / pow10[-d->exponent] : v * pow10[d->exponent];
    *out = d->negative ? -v : v;
    return true;
}

bool zlgi_parse_double(const char *text, size_t n, double *out)
{
    zlgi_float_parts parts;
    if (n == 0 || zlgi_number_span(text, n) != n) {
        if (!parse_token(text, n, &parts))
            return false;
    } else {
        decimal d = read_decimal(text, n);
        if (divide_exactly(&d, out))
            return true;
        round_decimal(&d, ZLGI_FORMAT_FLOAT64, &parts);
    }
    uint64_t bits = ieee_bits(&parts, ZLGI_FORMAT_FLOAT64);
    memcpy(out, &bits, sizeof(*out));
    return true;
}

bool zlgi_parse_float(const char *text, size_t n, float *out)
{
    zlgi_float_parts parts;
    if (!zlgi_parse_float_parts(text, n, ZLGI_FORMAT_FLOAT32, &parts))
        return false;
    uint32_t bits = (uint32_t)ieee_bits(&parts, ZLGI_FORMAT_FLOAT32);
    memcpy(out, &bits, sizeof(*out));
    return true;
}
