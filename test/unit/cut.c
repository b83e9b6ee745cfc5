/* Selections made ready: which chunks a range touches, and ranges near the end of what
 * 63 bits hold. */
#include "test.h"

#include "grid/grid.h"

static const int64_t huge = INT64_C(1) << 62;

/* The touched chunks of an axis, through a table or not. */
static zlgi_touched touch(const zlgi_use_axis *axis, const zlgi_grid_axis *grid,
                          int64_t room[8])
{
    assert_in_range(zlgi_touched_room(axis, grid), 0, 8);
    return zlgi_touched_make(axis, grid, room);
}

static void check_touched(const zlgi_touched *touched, const int64_t *expected, int64_t n)
{
    assert_int_equal(touched->n, n);
    for (int64_t i = 0; i < n; i++)
        assert_int_equal(zlgi_touched_at(touched, i), expected[i]);
}

static void test_a_range_on_a_rectilinear_axis(void **state)
{
    (void)state;
    static const int64_t ends[] = {1, 3, 6, 16, 60};
    zlgi_grid_axis grid = {.length = 50, .n_chunks = 5, .ends = ends};
    int64_t room[8];
    for (int64_t start = 0; start < grid.length; start++)
        for (int64_t step = 1; step < grid.length; step++)
            for (int64_t count = 1; start + (count - 1) * step < grid.length; count++) {
                int64_t expected[8], n = 0;
                for (int64_t k = 0; k < count; k++) {
                    int64_t chunk = zlgi_grid_find(&grid, start + k * step);
                    if (n == 0 || expected[n - 1] != chunk)
                        expected[n++] = chunk;
                }
                zlgi_use_axis axis = {.start = start, .step = step, .count = count};
                zlgi_touched touched = touch(&axis, &grid, room);
                check_touched(&touched, expected, n);
            }
}

/* The work is that of the chunks, not of the elements: this must return at all. */
static void test_two_chunks_of_many_elements(void **state)
{
    (void)state;
    const int64_t ends[] = {huge / 2, huge}, both[] = {0, 1};
    zlgi_grid_axis grid = {.length = huge, .n_chunks = 2, .ends = ends};
    int64_t room[8];
    for (int64_t step = 1; step <= 3; step++) {
        zlgi_use_axis axis = {.step = step, .count = huge / step};
        zlgi_touched touched = touch(&axis, &grid, room);
        check_touched(&touched, both, 2);
    }
}

static void test_a_list_touches_each_chunk_once(void **state)
{
    (void)state;
    static const int64_t ends[] = {1, 3, 6, 16, 60}, list[] = {10, 12, 12, 13, 25, 26, 59};
    static const int64_t place[] = {0, 1, 2, 3, 4, 5, 6};
    zlgi_use_axis axis = {.list = list, .place = place, .base = 8, .count = 7};
    zlgi_grid_axis grid = {.length = 60, .n_chunks = 5, .ends = ends};
    int64_t room[8];
    zlgi_touched touched = touch(&axis, &grid, room); /* 2, 4, 4, 5, 17, 18, 51 */
    check_touched(&touched, (int64_t[]){1, 2, 4}, 3);
    grid = zlgi_grid_regular(60, 4);
    touched = touch(&axis, &grid, room);
    check_touched(&touched, (int64_t[]){0, 1, 4, 12}, 4);
}

/* Elements 0 and `step`, in chunks of which 8 make the longest axis. */
static void test_steps_near_the_largest_number(void **state)
{
    (void)state;
    const int64_t chunk = INT64_MAX / 8, step = 6 * chunk;
    zlgi_use use = {.rank = 1, .memory = (uint8_t *)state}, cut;
    use.axis[0] = (zlgi_use_axis){.step = step, .count = 2, .stride = 1};
    for (int64_t i = 0; i < 8; i++) {
        int64_t start = i * chunk;
        bool found = zlgi_use_cut(&use, &start, &chunk, &cut);
        assert_int_equal(found, i == 0 || i == 6);
        if (!found)
            continue;
        assert_int_equal(cut.axis[0].start, 0);
        assert_int_equal(cut.axis[0].count, 1);
        assert_int_equal(cut.memory - use.memory, i / 6);
    }
}

static zlg_status make(const zlg_axis *axes, void *memory, const ptrdiff_t *strides,
                       zlgi_use *out)
{
    zlgi_grid grid = {.rank = 2};
    grid.axis[0] = zlgi_grid_regular(4, 2);
    grid.axis[1] = zlgi_grid_regular(5, 2);
    zlg_selection box = {.kind = ZLG_BOX, .rank = 2, .axes = axes};
    zlgi_arena arena;
    zlgi_arena_init(&arena, &zlgi_default_alloc);
    zlg_error err = {0};
    zlg_status status =
        zlgi_use_make(&arena, &grid, &box, memory, strides, 4, NULL, out, &err);
    assert_int_equal(err.status, status);
    zlgi_arena_reset(&arena);
    return status;
}

/* Whoever allocates nothing for a result of nothing has no address. */
static void test_no_memory_for_no_elements(void **state)
{
    (void)state;
    zlg_axis axes[2] = {{.count = 0}, {.start = 4, .step = -1, .count = 5}};
    ptrdiff_t strides[2] = {20, 4};
    zlgi_use use;
    assert_int_equal(make(axes, NULL, NULL, &use), ZLG_OK);
    assert_int_equal(zlgi_use_count(&use), 0);
    assert_int_equal(make(axes, NULL, strides, &use), ZLG_OK);
    axes[0] = (zlg_axis){.step = 1, .count = 1};
    assert_int_equal(make(axes, NULL, strides, &use), ZLG_USAGE);
    assert_int_equal(make(axes, &use, strides, &use), ZLG_OK);
    assert_int_equal(zlgi_use_count(&use), 5);
}

/* How often it may be asked before it says no. */
static bool has_time(void *n_left)
{
    return --*(int *)n_left > 0;
}

/* Long lists are checked and sorted, and points checked, as long as somebody waits. */
static void test_lists_that_nobody_waits_for(void **state)
{
    (void)state;
    enum { N = 200000 };
    static int64_t list[N];
    for (int i = 0; i < N; i++)
        list[i] = (int64_t)i * 7919 % N;
    const int64_t *const lists[1] = {list};
    zlgi_grid grid = {.rank = 1, .axis = {zlgi_grid_regular(N, 2)}};
    for (int is_list = 0; is_list < 2; is_list++) {
        int n_stopped = 0;
        zlg_status status = ZLG_CANCELLED;
        for (int n_asks = 1; status == ZLG_CANCELLED; n_asks++, n_stopped += status != 0) {
            zlg_axis axis = {.count = N, .list = list};
            zlg_selection box = {.kind = ZLG_BOX, .rank = 1, .axes = &axis};
            zlg_selection points = {
                .kind = ZLG_POINTS, .rank = 1, .coordinates = lists, .n_points = N};
            int n_left = n_asks;
            zlgi_look look = {.goes_on = has_time, .user = &n_left};
            zlgi_arena arena;
            zlgi_use use;
            zlgi_arena_init(&arena, &zlgi_default_alloc);
            status = zlgi_use_make(&arena, &grid, is_list ? &box : &points, &grid, NULL, 4,
                                   &look, &use, NULL);
            assert_int_equal(status, n_left > 0 ? ZLG_OK : ZLG_CANCELLED);
            for (int i = 0; is_list && status == ZLG_OK && i < N; i++)
                assert_int_equal(use.axis[0].list[i], i);
            zlgi_arena_reset(&arena);
        }
        assert_in_range(n_stopped, is_list ? 20 : 3, is_list ? 1000 : 3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_range_on_a_rectilinear_axis),
        cmocka_unit_test(test_two_chunks_of_many_elements),
        cmocka_unit_test(test_a_list_touches_each_chunk_once),
        cmocka_unit_test(test_steps_near_the_largest_number),
        cmocka_unit_test(test_no_memory_for_no_elements),
        cmocka_unit_test(test_lists_that_nobody_waits_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
