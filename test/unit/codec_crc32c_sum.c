/* CRC-32C: every way of computing it against the definition, bit by bit. The source is
 * included, not linked: the ways are static and the machine would choose one of them. */
#include "test.h"

#include "codec/crc32c_sum.c"

static uint32_t by_bits(uint32_t crc, const uint8_t *p, size_t n)
{
    for (; n > 0; p++, n--) {
        crc ^= *p;
        for (int i = 0; i < 8; i++)
            crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
    }
    return crc;
}

typedef uint32_t (*way)(uint32_t crc, const uint8_t *p, size_t n);

static uint8_t data[70000];

static void fill_data(void)
{
    uint64_t seed = 88172645463325252;
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)test_random(&seed);
}

/* Lengths 0 to 1100 at each alignment, then some long ones. */
static void compare(way f, size_t shortest)
{
    fill_data();
    for (size_t first = 0; first < 17; first++) {
        uint32_t crc = 0x12345678;
        for (size_t n = 0; n <= 1100; n++) {
            if (n >= shortest)
                assert_int_equal(f(0x12345678, data + first, n), crc);
            crc = by_bits(crc, data + first + n, 1);
        }
    }
    static const size_t lengths[] = {4096, 6143, 6144, 6145, 6700, 65536, 69999};
    for (size_t i = 0; i < ZLGI_COUNT(lengths); i++)
        assert_int_equal(f(~0u, data, lengths[i]), by_bits(~0u, data, lengths[i]));
}

static void test_tables(void **state)
{
    (void)state;
    compare(by_tables, 0);
}

static void test_the_best_way(void **state)
{
    (void)state;
    compare(best, 0);
}

#if defined(__x86_64__)
static void test_streams(void **state)
{
    (void)state;
    if (!zlgi_cpu_features()->sse42 || !zlgi_cpu_features()->pclmul)
        skip();
    compare(by_streams, 0);
}

static void test_folding(void **state)
{
    (void)state;
    if (!zlgi_cpu_features()->avx512 || !zlgi_cpu_features()->vpclmul)
        skip();
    compare(by_folding, 64);
}
#endif

static void test_known_sums(void **state)
{
    (void)state;
    assert_int_equal(zlgi_crc32c(0, "123456789", 9), 0xe3069283);
    assert_int_equal(zlgi_crc32c_portable(0, "123456789", 9), 0xe3069283);
    assert_int_equal(zlgi_crc32c(0, NULL, 0), 0);
    uint8_t bytes[32];
    memset(bytes, 0, sizeof bytes);
    assert_int_equal(zlgi_crc32c(0, bytes, sizeof bytes), 0x8a9136aa);
    memset(bytes, 0xff, sizeof bytes);
    assert_int_equal(zlgi_crc32c(0, bytes, sizeof bytes), 0x62a8ab43);
}

static void test_a_sum_goes_on(void **state)
{
    (void)state;
    fill_data();
    const uint32_t whole = zlgi_crc32c(0, data, 1000);
    for (size_t n = 0; n <= 1000; n += 37) {
        assert_int_equal(zlgi_crc32c(zlgi_crc32c(0, data, n), data + n, 1000 - n), whole);
        assert_int_equal(
            zlgi_crc32c_portable(zlgi_crc32c_portable(0, data, n), data + n, 1000 - n),
            whole);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_the_best_way),
#if defined(__x86_64__)
        cmocka_unit_test(test_streams),
        cmocka_unit_test(test_folding),
#endif
        cmocka_unit_test(test_known_sums),
        cmocka_unit_test(test_a_sum_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
