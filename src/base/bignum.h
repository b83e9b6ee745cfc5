/*
 * Natural numbers of up to 3072 bits, just large enough to round any decimal text to a
 * float64 and to print any float64 exactly. The callers show that nothing overflows:
 *
 *   reading   at most 770 digits, or 10^310, over 5^1100: 2558 bits and a few of scaling
 *   printing  2^1024 or 2^53 x 10^324 over 2^1075, times 20: 1135 bits
 */
#ifndef ZLGI_BIGNUM_H
#define ZLGI_BIGNUM_H

#include <assert.h>
#include <stdint.h>
#include <string.h>

enum { BIG_WORDS = 96, BIG_BITS = 32 * BIG_WORDS };

typedef struct big {
    int n; /* words in use; the last one is not zero */
    uint32_t word[BIG_WORDS];
} big;

static inline void big_set(big *a, uint64_t value)
{
    a->word[0] = (uint32_t)value;
    a->word[1] = (uint32_t)(value >> 32);
    a->n = value >> 32 ? 2 : value != 0;
}

/* a = a x factor + addend */
static inline void big_multiply(big *a, uint32_t factor, uint32_t addend)
{
    uint64_t carry = addend;
    for (int i = 0; i < a->n; i++) {
        carry += (uint64_t)a->word[i] * factor;
        a->word[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry != 0) {
        assert(a->n < BIG_WORDS);
        a->word[a->n++] = (uint32_t)carry;
    }
}

static inline void big_multiply_pow5(big *a, int power)
{
    static const uint32_t pow5[14] = {1,       5,        25,        125,       625,
                                      3125,    15625,    78125,     390625,    1953125,
                                      9765625, 48828125, 244140625, 1220703125};
    for (; power > 13; power -= 13)
        big_multiply(a, pow5[13], 0);
    big_multiply(a, pow5[power], 0);
}

static inline int big_bits(const big *a)
{
    return a->n == 0 ? 0 : 32 * a->n - __builtin_clz(a->word[a->n - 1]);
}

static inline void big_shift_left(big *a, int n_bits)
{
    if (a->n == 0)
        return;
    assert(big_bits(a) + n_bits <= BIG_BITS);
    size_t n_words = (size_t)n_bits / 32;
    memmove(a->word + n_words, a->word, (size_t)a->n * sizeof(a->word[0]));
    memset(a->word, 0, n_words * sizeof(a->word[0]));
    a->n += (int)n_words;
    big_multiply(a, UINT32_C(1) << n_bits % 32, 0);
}

static inline int big_compare(const big *a, const big *b)
{
    if (a->n != b->n)
        return a->n < b->n ? -1 : 1;
    for (int i = a->n - 1; i >= 0; i--)
        if (a->word[i] != b->word[i])
            return a->word[i] < b->word[i] ? -1 : 1;
    return 0;
}

/* a = a - b, where b <= a */
static inline void big_subtract(big *a, const big *b)
{
    uint64_t borrow = 0;
    for (int i = 0; i < a->n; i++) {
        uint64_t d = (uint64_t)a->word[i] - (i < b->n ? b->word[i] : 0) - borrow;
        a->word[i] = (uint32_t)d;
        borrow = d >> 63;
    }
    while (a->n > 0 && a->word[a->n - 1] == 0)
        a->n--;
}

/* Compares a + b with c, from the top: below word i the difference of c and the sum lies
 * between -2 and 1 units of word i, so a difference outside 0 .. 1 has decided. */
static inline int big_compare_sum(const big *a, const big *b, const big *c)
{
    int n = a->n > b->n ? a->n : b->n;
    int64_t difference = 0;
    for (int i = (n > c->n ? n : c->n) - 1; i >= 0; i--) {
        difference = (difference << 32) + (i < c->n ? c->word[i] : 0);
        difference -= (int64_t)(i < a->n ? a->word[i] : 0) + (i < b->n ? b->word[i] : 0);
        if (difference < 0)
            return 1;
        if (difference > 1)
            return -1;
    }
    return difference == 0 ? 0 : -1;
}

#endif
