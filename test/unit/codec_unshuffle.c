/* Shuffles against their definition, one bit at a time, inputs and outputs at the end of
 * memory. */
#include "codec_test.h"

#include "codec/unshuffle.h"

static const size_t ITEMS[] = {1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 255};
static const size_t COUNTS[] = {0, 1, 8, 15, 16, 17, 64, 120, 512, 520, 1032};

static zlgi_bytes noise(size_t n)
{
    uint8_t *data = zlgi_arena_get(&arena, n + 1);
    uint64_t seed = 99 + n;
    for (size_t i = 0; i < n; i++)
        data[i] = (uint8_t)test_random(&seed);
    return (zlgi_bytes){data, n};
}

static uint8_t *writable(const guarded *g)
{
    return (uint8_t *)(uintptr_t)g->bytes.data;
}

static void test_bytes(void **state)
{
    (void)state;
    for (size_t a = 0; a < ZLGI_COUNT(ITEMS); a++) {
        for (size_t b = 0; b < ZLGI_COUNT(COUNTS); b++) {
            const size_t item = ITEMS[a], n = COUNTS[b];
            const zlgi_bytes data = noise(n * item);
            guarded in = guard(data), out = guard(data), back = guard(noise(n * item + 1));
            zlgi_shuffle(in.bytes.data, n, item, writable(&out));
            for (size_t i = 0; i < n; i++)
                for (size_t k = 0; k < item; k++)
                    assert_int_equal(out.bytes.data[k * n + i], data.data[i * item + k]);
            zlgi_unshuffle(out.bytes.data, n, item, writable(&back) + 1);
            assert_bytes((zlgi_bytes){back.bytes.data + 1, data.n}, data);
            unguard(&in);
            unguard(&out);
            unguard(&back);
        }
    }
}

/* Bit j of byte k of element i is bit i of plane 8 * k + j. */
static void test_bits(void **state)
{
    (void)state;
    uint8_t *room = zlgi_arena_get(&arena, 255 * ZLGI_BIT_GROUP);
    for (size_t a = 0; a < ZLGI_COUNT(ITEMS); a++) {
        for (size_t b = 0; b < ZLGI_COUNT(COUNTS); b++) {
            const size_t item = ITEMS[a], n = COUNTS[b] / 8 * 8;
            const zlgi_bytes data = noise(n * item);
            guarded in = guard(data), out = guard(noise(n * item));
            const uint8_t *planes[255];
            for (size_t k = 0; k < item; k++)
                planes[k] = in.bytes.data + k * n;
            zlgi_join_bit_planes(planes, n, item, room, writable(&out));
            for (size_t i = 0; i < n * item * 8; i++) {
                const size_t element = i / (item * 8), bit = i % (item * 8);
                const size_t from = bit * n + element;
                assert_int_equal(out.bytes.data[i / 8] >> i % 8 & 1,
                                 data.data[from / 8] >> from % 8 & 1);
            }
            unguard(&in);
            unguard(&out);
        }
    }
}

static void test_a_known_shuffle(void **state)
{
    (void)state;
    uint8_t out[4];
    zlgi_shuffle((const uint8_t *)"\1\2\3\4", 2, 2, out);
    assert_memory_equal(out, "\1\3\2\4", 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        codec_test(test_bytes),
        codec_test(test_bits),
        codec_test(test_a_known_shuffle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
