/* Checked sums and products, at and beyond the edge; loads at any alignment. */
#include "test.h"

static void test_size_product_and_sum(void **state)
{
    (void)state;
    size_t out = 7;
    assert_true(zlgi_mul_size(SIZE_MAX, 1, &out));
    assert_true(out == SIZE_MAX);
    out = 7;
    assert_false(zlgi_mul_size(SIZE_MAX / 2 + 1, 2, &out));
    assert_int_equal(out, 7);
    assert_true(zlgi_add_size(SIZE_MAX - 1, 1, &out));
    assert_true(out == SIZE_MAX);
    out = 7;
    assert_false(zlgi_add_size(SIZE_MAX, 1, &out));
    assert_int_equal(out, 7);
}

static void test_signed_product_and_sum(void **state)
{
    (void)state;
    int64_t out = 7;
    assert_false(zlgi_mul_i64(INT64_MIN, -1, &out));
    assert_false(zlgi_add_i64(INT64_MIN, -1, &out));
    assert_false(zlgi_add_i64(INT64_MAX, 1, &out));
    assert_int_equal(out, 7);
    assert_true(zlgi_mul_i64(-3, 5, &out));
    assert_int_equal(out, -15);
    assert_true(zlgi_add_i64(INT64_MAX, INT64_MIN, &out));
    assert_int_equal(out, -1);
}

static void test_product_of_lengths(void **state)
{
    (void)state;
    int64_t out = 7;
    assert_true(zlgi_product(NULL, 0, &out));
    assert_int_equal(out, 1);
    assert_true(zlgi_product((const int64_t[]){2, 3, 7}, 3, &out));
    assert_int_equal(out, 42);
    assert_true(
        zlgi_product((const int64_t[]){INT64_C(1) << 31, INT64_C(1) << 31}, 2, &out));
    assert_int_equal(out, INT64_C(1) << 62);
    out = 7;
    assert_false(
        zlgi_product((const int64_t[]){INT64_C(1) << 32, INT64_C(1) << 31}, 2, &out));
    assert_int_equal(out, 7);
}

static void test_a_length_of_zero_wins_over_overflow(void **state)
{
    (void)state;
    int64_t out = 7;
    assert_true(zlgi_product((const int64_t[]){INT64_MAX, INT64_MAX, 0}, 3, &out));
    assert_int_equal(out, 0);
}

static void test_little_endian_at_any_alignment(void **state)
{
    (void)state;
    uint8_t bytes[24];
    for (size_t at = 0; at < 8; at++) {
        memset(bytes, 0xee, sizeof bytes);
        zlgi_store_u64le(bytes + at, UINT64_C(0x0123456789abcdef));
        assert_memory_equal(bytes + at, "\xef\xcd\xab\x89\x67\x45\x23\x01", 8);
        assert_int_equal(bytes[at + 8], 0xee);
        assert_true(zlgi_load_u64le(bytes + at) == UINT64_C(0x0123456789abcdef));
        zlgi_store_u32le(bytes + at, 0xfedcba98);
        assert_memory_equal(bytes + at, "\x98\xba\xdc\xfe\x67", 5);
        assert_true(zlgi_load_u32le(bytes + at) == 0xfedcba98);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_size_product_and_sum),
        cmocka_unit_test(test_signed_product_and_sum),
        cmocka_unit_test(test_product_of_lengths),
        cmocka_unit_test(test_a_length_of_zero_wins_over_overflow),
        cmocka_unit_test(test_little_endian_at_any_alignment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
