/*
 * The CRC-32C sum, from the obvious to the fast.
 *
 * A message is a polynomial over GF(2); its CRC is the remainder of M(x) * x^32 modulo
 * P(x) = 0x11edc6f41, the bits of bytes and of the sum in reflected order. Two facts carry
 * all that follows. The remainder is linear: that of a sum is the sum (xor) of the
 * remainders. And moving a piece n bits away from the end multiplies it by x^n, so it may
 * be replaced by anything of the same remainder: by its product with x^n mod P.
 *
 * Bytewise: the remainder of each byte from a table; slice-by-8: eight bytes at once, one
 * table per distance. Streams: the crc32 instruction has a latency of three cycles, so
 * three independent thirds run at once and are moved together at the end. Folding: 256
 * bytes are kept as they are and moved forward over the message by carry-less products.
 *
 * Each way gives the same sums; the unit test holds them against each other.
 */
#include "codec/codec.h"

/* ------------------------------------------------------------------ slice-by-8
 * By linearity the remainder of a byte is the sum of those of its bits, so eight numbers
 * make a table: remainder of bit 0..7 of a byte that stands k bytes before the end. */
#define ENTRY(i, a, b, c, d, e, f, g, h)                                                   \
    (((i)&1 ? a : 0u) ^ ((i)&2 ? b : 0u) ^ ((i)&4 ? c : 0u) ^ ((i)&8 ? d : 0u) ^           \
     ((i)&16 ? e : 0u) ^ ((i)&32 ? f : 0u) ^ ((i)&64 ? g : 0u) ^ ((i)&128 ? h : 0u))
#define ROW_4(i, ...)                                                                      \
    ENTRY(i, __VA_ARGS__), ENTRY((i) + 1, __VA_ARGS__), ENTRY((i) + 2, __VA_ARGS__),       \
        ENTRY((i) + 3, __VA_ARGS__)
#define ROW_16(i, ...)                                                                     \
    ROW_4(i, __VA_ARGS__), ROW_4((i) + 4, __VA_ARGS__), ROW_4((i) + 8, __VA_ARGS__),       \
        ROW_4((i) + 12, __VA_ARGS__)
#define ROW_64(i, ...)                                                                     \
    ROW_16(i, __VA_ARGS__), ROW_16((i) + 16, __VA_ARGS__), ROW_16((i) + 32, __VA_ARGS__),  \
        ROW_16((i) + 48, __VA_ARGS__)
#define TABLE(...)                                                                         \
    {                                                                                      \
        ROW_64(0, __VA_ARGS__), ROW_64(64, __VA_ARGS__), ROW_64(128, __VA_ARGS__),         \
            ROW_64(192, __VA_ARGS__)                                                       \
    }

static const uint32_t table[8][256] = {
    TABLE(0xf26b8303, 0xe13b70f7, 0xc79a971f, 0x8ad958cf, 0x105ec76f, 0x20bd8ede,
          0x417b1dbc, 0x82f63b78),
    TABLE(0x13a29877, 0x274530ee, 0x4e8a61dc, 0x9d14c3b8, 0x3fc5f181, 0x7f8be302,
          0xff17c604, 0xfbc3faf9),
    TABLE(0xa541927e, 0x4f6f520d, 0x9edea41a, 0x38513ec5, 0x70a27d8a, 0xe144fb14,
          0xc76580d9, 0x8b277743),
    TABLE(0xdd45aab8, 0xbf672381, 0x7b2231f3, 0xf64463e6, 0xe964b13d, 0xd725148b,
          0xaba65fe7, 0x52a0c93f),
    TABLE(0x38116fac, 0x7022df58, 0xe045beb0, 0xc5670b91, 0x8f2261d3, 0x1ba8b557,
          0x37516aae, 0x6ea2d55c),
    TABLE(0xef306b19, 0xdb8ca0c3, 0xb2f53777, 0x6006181f, 0xc00c303e, 0x85f4168d,
          0x0e045beb, 0x1c08b7d6),
    TABLE(0x68032cc8, 0xd0065990, 0xa5e0c5d1, 0x4e2dfd53, 0x9c5bfaa6, 0x3d5b83bd,
          0x7ab7077a, 0xf56e0ef4),
    TABLE(0x493c7d27, 0x9278fa4e, 0x211d826d, 0x423b04da, 0x847609b4, 0x0d006599,
          0x1a00cb32, 0x34019664),
};

static uint32_t by_tables(uint32_t crc, const uint8_t *p, size_t n)
{
    for (; n >= 8; p += 8, n -= 8) {
        uint32_t a = zlgi_load_u32le(p) ^ crc, b = zlgi_load_u32le(p + 4);
        crc = table[7][a & 255] ^ table[6][a >> 8 & 255] ^ table[5][a >> 16 & 255] ^
              table[4][a >> 24] ^ table[3][b & 255] ^ table[2][b >> 8 & 255] ^
              table[1][b >> 16 & 255] ^ table[0][b >> 24];
    }
    for (; n > 0; p++, n--)
        crc = crc >> 8 ^ table[0][(crc ^ *p) & 255];
    return crc;
}

uint32_t zlgi_crc32c_portable(uint32_t crc, const void *data, size_t n)
{
    return ~by_tables(~crc, data, n);
}

#if defined(__x86_64__)
#include <immintrin.h>

/* ------------------------------------------------------------------ three streams */

static inline uint64_t load_8(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

__attribute__((target("sse4.2"))) static uint32_t one_stream(uint32_t crc, const uint8_t *p,
                                                             size_t n)
{
    uint64_t c = crc;
    for (; n >= 8; p += 8, n -= 8)
        c = _mm_crc32_u64(c, load_8(p));
    for (; n > 0; p++, n--)
        c = _mm_crc32_u8((uint32_t)c, *p);
    return (uint32_t)c;
}

/* The remainder of crc * x^n, where constant is x^(n - 33) mod P: the product of two
 * reflected 32-bit numbers stands one bit lower, and the instruction multiplies by x^32. */
__attribute__((target("sse4.2,pclmul"))) static inline uint64_t moved(uint64_t crc,
                                                                      uint32_t constant)
{
    __m128i product = _mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)crc),
                                           _mm_cvtsi32_si128((int)constant), 0);
    return (uint64_t)_mm_cvtsi128_si64(product);
}

/* Rounds of three streams of `length` bytes; constants move by one and by two lengths. */
__attribute__((target("sse4.2,pclmul"))) static inline uint32_t three_streams(
    uint32_t crc, const uint8_t **data, size_t *n, size_t length, uint32_t by_one,
    uint32_t by_two)
{
    const uint8_t *p = *data;
    for (; *n >= 3 * length; p += 3 * length, *n -= 3 * length) {
        uint64_t a = crc, b = 0, c = 0;
        for (size_t i = 0; i < length; i += 8) {
            a = _mm_crc32_u64(a, load_8(p + i));
            b = _mm_crc32_u64(b, load_8(p + length + i));
            c = _mm_crc32_u64(c, load_8(p + 2 * length + i));
        }
        crc = (uint32_t)(_mm_crc32_u64(0, moved(a, by_two) ^ moved(b, by_one)) ^ c);
    }
    *data = p;
    return crc;
}

__attribute__((target("sse4.2,pclmul"))) static uint32_t by_streams(uint32_t crc,
                                                                    const uint8_t *p,
                                                                    size_t n)
{
    crc = three_streams(crc, &p, &n, 2048, 0xa51b6135, 0x82f89c77);
    crc = three_streams(crc, &p, &n, 168, 0x1b3d8f29, 0xa60ce07b);
    return one_stream(crc, p, n);
}

/* ------------------------------------------------------------------ folding
 * In a lane of 128 bits the first half is 64 bits further from the end than the second.
 * To move a lane by n bits, the first is multiplied by x^(n + 31) and the second by
 * x^(n - 33), both mod P (again one bit lower, and 32 for the length of the constant). */
#define FOLDING __attribute__((target("avx512f,avx512vl,vpclmulqdq,pclmul,sse4.2")))

FOLDING static inline __m512i fold(__m512i x, __m512i constants, __m512i next)
{
    return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(x, constants, 0x00),
                                     _mm512_clmulepi64_epi128(x, constants, 0x11), next,
                                     0x96);
}

FOLDING static inline __m512i all_lanes(uint32_t first, uint32_t second)
{
    return _mm512_broadcast_i32x4(_mm_set_epi64x(second, first));
}

/* Four lanes to one, and that to 32 bits. */
FOLDING static inline uint32_t reduce(__m512i x)
{
    const __m512i constants =
        _mm512_set_epi64(0, 0, 0x493c7d27, 0xf20c0dfe, 0xba4fc28e, 0x3da6d0cb, 0xddc0152b,
                         0x1c291d04); /* lanes move by 384, 256, 128 bits; the last stays */
    x = fold(x, constants, _mm512_maskz_mov_epi64(0xc0, x));
    __m256i y =
        _mm256_xor_si256(_mm512_castsi512_si256(x), _mm512_extracti64x4_epi64(x, 1));
    __m128i z = _mm_xor_si128(_mm256_castsi256_si128(y), _mm256_extracti128_si256(y, 1));
    uint64_t crc = _mm_crc32_u64(0, (uint64_t)_mm_cvtsi128_si64(z));
    return (uint32_t)_mm_crc32_u64(crc, (uint64_t)_mm_extract_epi64(z, 1));
}

FOLDING static uint32_t by_folding(uint32_t crc, const uint8_t *p, size_t n)
{
    const __m512i by_512 = all_lanes(0x740eef02, 0x9e4addf8);
    /* What came before is added to the first bits that follow. */
    __m512i x = _mm512_xor_si512(_mm512_loadu_si512(p),
                                 _mm512_zextsi128_si512(_mm_cvtsi32_si128((int)crc)));
    p += 64, n -= 64;
    if (n >= 192) {
        const __m512i by_2048 = all_lanes(0xdcb17aa4, 0xb9e02b86);
        __m512i x1 = _mm512_loadu_si512(p), x2 = _mm512_loadu_si512(p + 64),
                x3 = _mm512_loadu_si512(p + 128);
        for (p += 192, n -= 192; n >= 256; p += 256, n -= 256) {
            x = fold(x, by_2048, _mm512_loadu_si512(p));
            x1 = fold(x1, by_2048, _mm512_loadu_si512(p + 64));
            x2 = fold(x2, by_2048, _mm512_loadu_si512(p + 128));
            x3 = fold(x3, by_2048, _mm512_loadu_si512(p + 192));
        }
        x2 = fold(x2, by_512, x3);
        x1 = fold(x1, all_lanes(0x6992cea2, 0x0d3b6092), x2); /* by 1024 */
        x = fold(x, all_lanes(0xa87ab8a8, 0xab7aff2a), x1);   /* by 1536 */
    }
    for (; n >= 64; p += 64, n -= 64)
        x = fold(x, by_512, _mm512_loadu_si512(p));
    return one_stream(reduce(x), p, n);
}

static uint32_t best(uint32_t crc, const uint8_t *p, size_t n)
{
    const zlgi_cpu *cpu = zlgi_cpu_features();
    if (n >= 128 && cpu->vpclmul && cpu->avx512)
        return by_folding(crc, p, n);
    return cpu->sse42 && cpu->pclmul ? by_streams(crc, p, n) : by_tables(crc, p, n);
}

#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>

static uint32_t best(uint32_t crc, const uint8_t *p, size_t n)
{
    for (; n >= 8; p += 8, n -= 8)
        crc = __crc32cd(crc, zlgi_load_u64le(p));
    for (; n > 0; p++, n--)
        crc = __crc32cb(crc, *p);
    return crc;
}

#else

static uint32_t best(uint32_t crc, const uint8_t *p, size_t n)
{
    return by_tables(crc, p, n);
}

#endif

uint32_t zlgi_crc32c(uint32_t crc, const void *data, size_t n)
{
    return ~best(~crc, data, n);
}
