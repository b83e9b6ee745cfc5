/* Which bytes of an element are reversed, and that the fast loops do what the slow one
 * here does. The machine of these tests is little-endian. */
#include "dtype_test.h"

#include "dtype/internal.h"

static zlgi_swap swap_of(const zlgi_dtype *dtype, bool from_leaves, bool big_endian)
{
    zlgi_swap swap;
    assert_int_equal(zlgi_swap_make(&arena, dtype, from_leaves, big_endian, &swap, &error),
                     ZLG_OK);
    return swap;
}

static void test_one_width_for_the_whole_element(void **state)
{
    (void)state;
    assert_int_equal(swap_of(v3_of("\"int16\""), false, true).width, 2);
    assert_int_equal(swap_of(v3_of("\"complex64\""), false, true).width, 4);
    assert_int_equal(swap_of(v3_of("\"complex128\""), false, true).width, 8);
    assert_int_equal(swap_of(v2_of("\">U5\""), true, false).width, 4);
    assert_int_equal(swap_of(v2_of("\">M8[s]\""), true, false).width, 8);
    assert_int_equal(
        swap_of(v2_of("[[\"a\", \">i4\"], [\"b\", \">f4\", [2, 2]]]"), true, false).width,
        4);
}

static void test_nothing_to_do(void **state)
{
    (void)state;
    assert_int_equal(swap_of(v3_of("\"int16\""), false, false).width, 0);
    assert_int_equal(swap_of(v2_of("\"<i4\""), true, true).width, 0);
    assert_int_equal(swap_of(v3_of("\"r64\""), false, true).width, 0);
    assert_int_equal(swap_of(v2_of("\"|S9\""), true, true).width, 0);
    assert_int_equal(swap_of(v3_of("\"complex_float8_e5m2\""), false, true).width, 0);
    assert_int_equal(swap_of(zlgi_dtype_plain(ZLG_STRING), false, true).width, 0);
    assert_int_equal(swap_of(v2_of("\">U0\""), true, false).width, 0);
}

static void test_runs_of_a_record(void **state)
{
    (void)state;
    const zlgi_dtype *dtype = v2_of("[[\"a\", \">i2\"], [\"b\", \"<f8\"], [\"c\", \"|S3\"],"
                                    " [\"d\", \">c8\"], [\"e\", \">u4\"]]");
    zlgi_swap swap = swap_of(dtype, true, false);
    assert_int_equal(swap.width, 1);
    assert_int_equal(swap.n_runs, 2);
    assert_int_equal(swap.runs[0].offset, 0);
    assert_int_equal(swap.runs[0].width, 2);
    assert_int_equal(swap.runs[0].count, 1);
    /* d and e are neighbours of one width. */
    assert_int_equal(swap.runs[1].offset, 13);
    assert_int_equal(swap.runs[1].width, 4);
    assert_int_equal(swap.runs[1].count, 3);
    /* One endian for all fields, as version 3 has it. */
    assert_int_equal(swap_of(dtype, false, true).n_runs, 3);
}

static void test_elements_of_a_record(void **state)
{
    (void)state;
    const zlgi_dtype *dtype =
        v2_of("[[\"a\", \">i2\"], [\"n\", [[\"x\", \">u4\"], [\"y\", \"|u1\"]], [2]]]");
    zlgi_swap swap = swap_of(dtype, true, false);
    uint8_t *elements = bytes_of("0102a1a2a3a4a5b1b2b3b4b5"
                                 "0304c1c2c3c4c5d1d2d3d4d5");
    zlgi_swap_apply(&swap, elements, 2, dtype->n_bytes);
    assert_string_equal(hex_of(elements, 24), "0201a4a3a2a1a5b4b3b2b1b5"
                                              "0403c4c3c2c1c5d4d3d2d1d5");
    zlgi_dtype_swap_leaves(dtype, elements);
    assert_string_equal(hex_of(elements, 12), "0102a1a2a3a4a5b1b2b3b4b5");
}

/* All counts around the widths of vector registers, at an odd address. */
static void test_words_against_the_slow_loop(void **state)
{
    (void)state;
    enum { MOST = 150 };
    uint64_t seed = 42;
    for (uint32_t width = 2; width <= 8; width *= 2) {
        for (size_t n = 0; n <= MOST; n++) {
            uint8_t found[MOST * 8 + 2], expected[MOST * 8 + 2];
            for (size_t i = 0; i < sizeof(found); i++)
                found[i] = expected[i] = (uint8_t)test_random(&seed);
            for (size_t i = 0; i < n * width; i++)
                expected[1 + i] = found[1 + i / width * width + (width - 1 - i % width)];
            zlgi_swap swap = {.width = width};
            zlgi_swap_apply(&swap, found + 1, n, width);
            assert_memory_equal(found, expected, sizeof(found));
        }
    }
}

/* More elements than one block of the loop over runs. */
static void test_many_records(void **state)
{
    (void)state;
    const zlgi_dtype *dtype =
        v2_of("[[\"a\", \"|u1\"], [\"b\", \">u2\"], [\"c\", \">u8\"]]");
    zlgi_swap swap = swap_of(dtype, true, false);
    enum { N = 5000, N_BYTES = 11 };
    assert_int_equal(dtype->n_bytes, N_BYTES);
    uint8_t *elements = zlgi_arena_get(&arena, N * N_BYTES);
    uint8_t *expected = zlgi_arena_get(&arena, N * N_BYTES);
    uint64_t seed = 7;
    for (size_t i = 0; i < N * N_BYTES; i++)
        elements[i] = expected[i] = (uint8_t)test_random(&seed);
    for (size_t i = 0; i < N; i++)
        zlgi_dtype_swap_leaves(dtype, expected + i * N_BYTES);
    zlgi_swap_apply(&swap, elements, N, N_BYTES);
    assert_memory_equal(elements, expected, N * N_BYTES);
}

static void test_an_array_of_words_is_one_run(void **state)
{
    (void)state;
    zlgi_swap swap =
        swap_of(v2_of("[[\"a\", \">i2\", [1000, 1000]], [\"b\", \"|u1\"]]"), true, false);
    assert_int_equal(swap.n_runs, 1);
    assert_int_equal(swap.runs[0].count, 1000000);
}

static void test_too_many_runs(void **state)
{
    (void)state;
    const zlgi_dtype *dtype =
        v2_of("[[\"a\", [[\"x\", \">i2\"], [\"y\", \"|u1\"]], [70000]]]");
    zlgi_swap swap;
    assert_int_equal(zlgi_swap_make(&arena, dtype, true, false, &swap, &error), ZLG_LIMIT);
}

static void test_what_has_an_order(void **state)
{
    (void)state;
    assert_true(zlgi_dtype_has_order(v3_of("\"bfloat16\"")));
    assert_true(zlgi_dtype_has_order(v2_of("\"<U1\"")));
    assert_true(zlgi_dtype_has_order(v2_of("[[\"a\", \"|u1\"], [\"b\", \"<i2\"]]")));
    assert_false(zlgi_dtype_has_order(v2_of("[[\"a\", \"|u1\"], [\"b\", \"|S2\"]]")));
    assert_false(zlgi_dtype_has_order(v3_of("\"float8_e4m3\"")));
    assert_false(zlgi_dtype_has_order(v3_of("\"r16\"")));
    assert_false(zlgi_dtype_has_order(v3_of("\"string\"")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        dtype_test(test_one_width_for_the_whole_element),
        dtype_test(test_nothing_to_do),
        dtype_test(test_runs_of_a_record),
        dtype_test(test_elements_of_a_record),
        dtype_test(test_words_against_the_slow_loop),
        dtype_test(test_many_records),
        dtype_test(test_an_array_of_words_is_one_run),
        dtype_test(test_too_many_runs),
        dtype_test(test_what_has_an_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
