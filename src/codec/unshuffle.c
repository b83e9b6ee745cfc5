/*
 * Shuffles: a run of n elements of `item` bytes stored as planes, one per byte of an
 * element, or one per bit. Byte planes are those of numcodecs and Blosc, bit planes those
 * of Blosc (format.md §16, §17). Planes need not follow each other in memory: Blosc stores
 * some of them uncompressed, and these are taken from where they are.
 *
 * Sixteen elements are transposed at once, in as many vectors as an element has bytes. Seen
 * as one array, its index made of plane bits and element bits, interleaving the first half
 * with the second moves the highest bit of the index to the lowest place: log2(item) such
 * rounds bring elements together, and four bring planes together.
 *
 * The rounds are spelled out by macros: arrays with constant indices live in registers.
 */
#include "codec/unshuffle.h"

enum { LANES = 16 };

typedef uint8_t v16 __attribute__((vector_size(16)));
typedef uint64_t v2 __attribute__((vector_size(16)));

static inline v16 load(const uint8_t *p)
{
    v16 v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline void store(uint8_t *p, v16 v)
{
    memcpy(p, &v, sizeof v);
}

#define LOW(a, b)                                                                          \
    __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define HIGH(a, b)                                                                         \
    __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30,    \
                            15, 31)

#define EACH_1(X) X(0)
#define EACH_2(X) EACH_1(X) X(1)
#define EACH_4(X) EACH_2(X) X(2) X(3)
#define EACH_8(X) EACH_4(X) X(4) X(5) X(6) X(7)
#define EACH_16(X) EACH_8(X) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)

#define ZIP(i)                                                                             \
    t[2 * (i)] = LOW(v[i], v[(i) + half]), t[2 * (i) + 1] = HIGH(v[i], v[(i) + half]);
#define KEEP(i) v[i] = t[i];
/* One round on the N vectors of v. */
#define ROUND(N, HALF)                                                                     \
    {                                                                                      \
        enum { half = HALF };                                                              \
        v16 t[N];                                                                          \
        EACH_##HALF(ZIP) EACH_##N(KEEP)                                                    \
    }

/* ------------------------------------------------------------------ byte planes */

#define LOAD_PLANE(k) v[k] = load(planes[k] + i);
#define STORE_PLANE(k) store(out + (k)*n + i, v[k]);
#define LOAD_ELEMENTS(k) v[k] = load(in + i * item + (k)*LANES);
#define STORE_ELEMENTS(k) store(out + i * item + (k)*LANES, v[k]);

/* Both directions for elements of N bytes; they return how many elements filled vectors. */
#define KERNELS(N, HALF, ROUNDS_TO_ELEMENTS)                                               \
    static size_t join_##N(const uint8_t *const *planes, size_t n, uint8_t *out)           \
    {                                                                                      \
        enum { item = N };                                                                 \
        size_t i = 0;                                                                      \
        for (; i + LANES <= n; i += LANES) {                                               \
            v16 v[N];                                                                      \
            EACH_##N(LOAD_PLANE) ROUNDS_TO_ELEMENTS EACH_##N(STORE_ELEMENTS)               \
        }                                                                                  \
        return i;                                                                          \
    }                                                                                      \
    static size_t split_##N(const uint8_t *in, size_t n, uint8_t *out)                     \
    {                                                                                      \
        enum { item = N };                                                                 \
        size_t i = 0;                                                                      \
        for (; i + LANES <= n; i += LANES) {                                               \
            v16 v[N];                                                                      \
            EACH_##N(LOAD_ELEMENTS) ROUND(N, HALF) ROUND(N, HALF) ROUND(N, HALF)           \
                ROUND(N, HALF) EACH_##N(STORE_PLANE)                                       \
        }                                                                                  \
        return i;                                                                          \
    }

KERNELS(2, 1, ROUND(2, 1))
KERNELS(4, 2, ROUND(4, 2) ROUND(4, 2))
KERNELS(8, 4, ROUND(8, 4) ROUND(8, 4) ROUND(8, 4))
KERNELS(16, 8, ROUND(16, 8) ROUND(16, 8) ROUND(16, 8) ROUND(16, 8))

void zlgi_join_planes(const uint8_t *const *planes, size_t n, size_t item, uint8_t *out)
{
    size_t i = item == 2    ? join_2(planes, n, out)
               : item == 4  ? join_4(planes, n, out)
               : item == 8  ? join_8(planes, n, out)
               : item == 16 ? join_16(planes, n, out)
                            : 0;
    for (; i < n; i++)
        for (size_t k = 0; k < item; k++)
            out[i * item + k] = planes[k][i];
}

void zlgi_unshuffle(const uint8_t *in, size_t n, size_t item, uint8_t *out)
{
    const uint8_t *planes[ZLGI_PLANES];
    if (item > ZLGI_PLANES) {
        for (size_t k = 0; k < item; k++)
            for (size_t i = 0; i < n; i++)
                out[i * item + k] = in[k * n + i];
        return;
    }
    for (size_t k = 0; k < item; k++)
        planes[k] = in + k * n;
    zlgi_join_planes(planes, n, item, out);
}

void zlgi_shuffle(const uint8_t *in, size_t n, size_t item, uint8_t *out)
{
    size_t i = item == 2    ? split_2(in, n, out)
               : item == 4  ? split_4(in, n, out)
               : item == 8  ? split_8(in, n, out)
               : item == 16 ? split_16(in, n, out)
                            : 0;
    for (; i < n; i++)
        for (size_t k = 0; k < item; k++)
            out[k * n + i] = in[i * item + k];
}

/* ------------------------------------------------------------------ bit planes
 * A line of 64 bytes is taken from each plane at once: planes are often a power of two
 * apart, where a line would not stay in the cache until its next part is wanted. */
enum { LINE = 64, GROUP = ZLGI_BIT_GROUP };
_Static_assert(GROUP == 8 * LINE, "a group is a line of bits");

/* Bit i of byte k to bit k of byte i, in words of eight bytes: single bits, pairs and
 * halves of bytes change places across the diagonal. */
static inline v16 transpose_bits(v16 bytes)
{
    v2 x = (v2)bytes;
    v2 t = (x ^ (x >> 7)) & 0x00aa00aa00aa00aaULL;
    x ^= t ^ (t << 7);
    t = (x ^ (x >> 14)) & 0x0000cccc0000ccccULL;
    x ^= t ^ (t << 14);
    t = (x ^ (x >> 28)) & 0x00000000f0f0f0f0ULL;
    return (v16)(x ^ t ^ (t << 28));
}

#define LOAD_LINE(j) v[j] = load(lines[j] + i);
#define STORE_BYTES(j) store(out + i * 8 + (j)*LANES, transpose_bits(v[j]));

/* Eight bit planes of n / 8 bytes each, one after the other, to a byte plane: GROUP
 * elements from `first` on. */
static void bits_to_bytes(const uint8_t *bits, size_t n, size_t first, uint8_t *out)
{
    uint8_t lines[8][LINE];
    for (size_t j = 0; j < 8; j++)
        memcpy(lines[j], bits + j * (n / 8) + first / 8, LINE);
    for (size_t i = 0; i < LINE; i += LANES) {
        v16 v[8];
        EACH_8(LOAD_LINE) ROUND(8, 4) ROUND(8, 4) ROUND(8, 4) EACH_8(STORE_BYTES)
    }
}

void zlgi_join_bit_planes(const uint8_t *const *planes, size_t n, size_t item,
                          uint8_t *room, uint8_t *out)
{
    const uint8_t *byte_planes[ZLGI_PLANES];
    size_t i = 0;
    for (size_t k = 0; k < item; k++)
        byte_planes[k] = room + k * GROUP;
    for (; i + GROUP <= n; i += GROUP) {
        for (size_t k = 0; k < item; k++)
            bits_to_bytes(planes[k], n, i, room + k * GROUP);
        zlgi_join_planes(byte_planes, GROUP, item, out + i * item);
    }
    for (; i < n; i++) {
        for (size_t k = 0; k < item; k++) {
            unsigned byte = 0;
            for (size_t j = 0; j < 8; j++)
                byte |= (planes[k][j * (n / 8) + i / 8] >> (i % 8) & 1u) << j;
            out[i * item + k] = (uint8_t)byte;
        }
    }
}
