/* One axis of a grid: where chunks lie, which holds a position. */
#include "test.h"

#include "grid/grid.h"

static void test_a_regular_axis_overhangs(void **state)
{
    (void)state;
    zlgi_grid_axis axis = zlgi_grid_regular(10, 4);
    assert_int_equal(axis.length, 10);
    assert_int_equal(axis.n_chunks, 3);
    assert_int_equal(zlgi_grid_start(&axis, 2), 8);
    assert_int_equal(zlgi_grid_edge(&axis, 2), 4);
    assert_int_equal(zlgi_grid_find(&axis, 0), 0);
    assert_int_equal(zlgi_grid_find(&axis, 3), 0);
    assert_int_equal(zlgi_grid_find(&axis, 4), 1);
    assert_int_equal(zlgi_grid_find(&axis, 9), 2);
}

static void test_lengths_at_the_edge(void **state)
{
    (void)state;
    assert_int_equal(zlgi_grid_regular(8, 4).n_chunks, 2);
    assert_int_equal(zlgi_grid_regular(3, 100).n_chunks, 1);
    assert_int_equal(zlgi_grid_regular(INT64_MAX, 2).n_chunks, INT64_MAX / 2 + 1);
    assert_int_equal(zlgi_grid_regular(1, INT64_MAX).n_chunks, 1);
    assert_int_equal(zlgi_grid_regular(0, 5).n_chunks, 0);
}

static void test_an_empty_axis_may_have_chunks_of_no_length(void **state)
{
    (void)state;
    zlgi_grid_axis axis = zlgi_grid_regular(0, 0);
    assert_int_equal(axis.n_chunks, 0);
    assert_true(axis.chunk > 0);
}

static void test_a_rectilinear_axis_is_searched(void **state)
{
    (void)state;
    static const int64_t ends[] = {1, 3, 6, 16, 60};
    zlgi_grid_axis axis = {.length = 50, .n_chunks = 5, .ends = ends};
    int64_t expected = 0;
    for (int64_t position = 0; position < axis.length; position++) {
        expected += position >= ends[expected];
        assert_int_equal(zlgi_grid_find(&axis, position), expected);
    }
    assert_int_equal(zlgi_grid_start(&axis, 0), 0);
    assert_int_equal(zlgi_grid_start(&axis, 3), 6);
    assert_int_equal(zlgi_grid_edge(&axis, 0), 1);
    assert_int_equal(zlgi_grid_edge(&axis, 4), 44);
}

static void test_a_rectilinear_axis_of_one_chunk(void **state)
{
    (void)state;
    static const int64_t ends[] = {7};
    zlgi_grid_axis axis = {.length = 7, .n_chunks = 1, .ends = ends};
    assert_int_equal(zlgi_grid_find(&axis, 0), 0);
    assert_int_equal(zlgi_grid_find(&axis, 6), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_regular_axis_overhangs),
        cmocka_unit_test(test_lengths_at_the_edge),
        cmocka_unit_test(test_an_empty_axis_may_have_chunks_of_no_length),
        cmocka_unit_test(test_a_rectilinear_axis_is_searched),
        cmocka_unit_test(test_a_rectilinear_axis_of_one_chunk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
