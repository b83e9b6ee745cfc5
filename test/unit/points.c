/* Points by the box they lie in, against a search of all of them for each box. */
#include "test.h"

#include "grid/grid.h"

enum { RANK = 3, N_POINTS = 300 };

static const int64_t ends[] = {1, 3, 4, 9, 12};

/* Boxes of 4, of 2 with a short one at the end, and of any length. */
static zlgi_grid small_grid(void)
{
    zlgi_grid grid = {.rank = RANK};
    grid.axis[0] = zlgi_grid_regular(8, 4);
    grid.axis[1] = zlgi_grid_regular(7, 2);
    grid.axis[2] = (zlgi_grid_axis){.length = 11, .n_chunks = 5, .ends = ends};
    return grid;
}

/* So many boxes that a box and a point are more than 64 bits. */
static zlgi_grid huge_grid(void)
{
    zlgi_grid grid = {.rank = RANK};
    grid.axis[0] = zlgi_grid_regular(INT64_C(1) << 40, 4);
    grid.axis[1] = zlgi_grid_regular(INT64_C(1) << 24, 2);
    grid.axis[2] = (zlgi_grid_axis){.length = 11, .n_chunks = 4, .ends = ends};
    return grid;
}

typedef struct fixture {
    zlgi_grid grid;
    int64_t lists[RANK][N_POINTS];
    int64_t ids[N_POINTS];
    uint64_t box[N_POINTS]; /* of each point */
    uint64_t n_boxes;
    zlgi_use use;
} fixture;

/* n points of the grid near both its ends, some of them twice, in a box that starts at
 * `base` of the array; every other of them, when ids are given. */
static void make_fixture(fixture *f, zlgi_grid grid, int64_t base, bool with_ids)
{
    uint64_t seed = 5;
    memset(f, 0, sizeof *f);
    f->grid = grid;
    f->n_boxes = 1;
    f->use = (zlgi_use){.rank = RANK,
                        .kind = ZLGI_USE_POINTS,
                        .n_points = with_ids ? N_POINTS / 2 : N_POINTS};
    for (int a = 0; a < RANK; a++) {
        const zlgi_grid_axis *axis = &grid.axis[a];
        f->n_boxes *= (uint64_t)axis->n_chunks;
        f->use.axis[a] = (zlgi_use_axis){.list = f->lists[a], .base = base};
        for (int i = 0; i < N_POINTS; i++) {
            int64_t at = (int64_t)(test_random(&seed) % 7);
            at = i % 3 ? at : axis->length - 1 - at;
            f->lists[a][i] = at + base;
            f->box[i] =
                f->box[i] * (uint64_t)axis->n_chunks + (uint64_t)zlgi_grid_find(axis, at);
        }
    }
    for (int i = 0; i < N_POINTS / 2; i++)
        f->ids[i] = 2 * i;
    if (with_ids)
        f->use.ids = f->ids;
}

/* The boxes low .. high - 1 rise, and each holds its points, in order. Returns how many
 * points there are. */
static size_t check_range(const fixture *f, uint64_t low, uint64_t high)
{
    int64_t ids[N_POINTS + 1];
    size_t room = zlgi_points_room(&f->use, &f->grid, low, high), first, n, n_points = 0;
    assert_in_range(room, 0, f->use.n_points);
    memset(ids, -1, sizeof ids);
    zlgi_points points;
    zlgi_points_sort(&f->use, &f->grid, low, high, ids, NULL, &points);
    assert_in_range(points.n, 0, room);
    assert_int_equal(ids[points.n], -1);
    uint64_t box, last = 0;
    size_t n_boxes = 0;
    for (; zlgi_points_next(&points, &box, &first, &n); n_boxes++, n_points += n) {
        int64_t step = f->use.ids ? 2 : 1, k = 0;
        assert_in_range(box, n_boxes ? last + 1 : low, high - 1);
        last = box;
        for (int64_t id = 0; id < N_POINTS; id += step)
            if (f->box[id] == box) {
                assert_in_range(k, 0, n - 1);
                assert_int_equal(ids[first + (size_t)k++], id);
            }
        assert_int_equal(k, n);
    }
    assert_int_equal(n_boxes, points.n_boxes);
    assert_int_equal(n_points, points.n);
    return n_points;
}

static void check_grid(zlgi_grid grid, bool is_packed)
{
    for (int with_ids = 0; with_ids < 2; with_ids++) {
        fixture f;
        zlgi_points points;
        int64_t ids[N_POINTS];
        make_fixture(&f, grid, 20, with_ids);
        zlgi_points_sort(&f.use, &f.grid, 0, f.n_boxes, ids, NULL, &points);
        assert_int_equal(points.packed, is_packed);
        assert_int_equal(check_range(&f, 0, f.n_boxes), f.use.n_points);
        for (uint64_t n_parts = 2; n_parts < 60; n_parts += 3) {
            size_t n = 0;
            uint64_t part = f.n_boxes / n_parts;
            for (uint64_t i = 0; i < n_parts && part > 0; i++)
                n +=
                    check_range(&f, i * part, i + 1 < n_parts ? (i + 1) * part : f.n_boxes);
            assert_int_equal(n, part > 0 ? f.use.n_points : 0);
        }
    }
}

static void test_box_and_point_in_one_key(void **state)
{
    (void)state;
    check_grid(small_grid(), true);
}

static void test_more_boxes_than_a_key_can_name(void **state)
{
    (void)state;
    check_grid(huge_grid(), false);
}

static void test_no_points(void **state)
{
    (void)state;
    fixture f;
    make_fixture(&f, small_grid(), 0, false);
    f.use.n_points = 0;
    assert_int_equal(check_range(&f, 0, f.n_boxes), 0);
    f.grid.rank = f.use.rank = 0; /* one box, which every point is in */
    memset(f.box, 0, sizeof f.box);
    f.use.n_points = 9;
    int64_t ids[9];
    zlgi_points points;
    zlgi_points_sort(&f.use, &f.grid, 0, 1, ids, NULL, &points);
    assert_int_equal(points.n_boxes, 1);
    assert_int_equal(points.n, 9);
}

/* How often it may be asked before it says no. */
static bool has_time(void *n_left)
{
    return --*(int *)n_left > 0;
}

/* There are no points, or all of them; few are sorted without a question. */
static void test_sorting_that_nobody_waits_for(void **state)
{
    (void)state;
    enum { N = 300000 };
    static int64_t list[N], ids[N];
    /* A box and a point in one key, or not. */
    const int64_t lengths[2] = {N, INT64_MAX / 2};
    for (int k = 0; k < 2; k++) {
        zlgi_grid grid = {.rank = 1, .axis = {zlgi_grid_regular(lengths[k], 1)}};
        zlgi_use use = {.rank = 1, .kind = ZLGI_USE_POINTS, .axis = {{.list = list}}};
        int n_stopped = 0, n_left = 1;
        bool is_sorted = false;
        for (int i = 0; i < N; i++)
            list[i] = (int64_t)i * 7919 % N;
        zlgi_look look = {.goes_on = has_time, .user = &n_left};
        zlgi_points points;
        use.n_points = 300;
        assert_true(
            zlgi_points_sort(&use, &grid, 0, (uint64_t)lengths[k], ids, &look, &points));
        assert_int_equal(n_left, 1);
        use.n_points = N;
        for (int n_asks = 1; !is_sorted; n_asks *= 2, n_stopped += !is_sorted) {
            n_left = n_asks;
            look = (zlgi_look){.goes_on = has_time, .user = &n_left};
            is_sorted =
                zlgi_points_sort(&use, &grid, 0, (uint64_t)lengths[k], ids, &look, &points);
            assert_int_equal(points.packed, k == 0);
            assert_int_equal(points.n, is_sorted ? N : 0);
            assert_int_equal(points.n_boxes, points.n);
            assert_true(is_sorted || n_left == 0);
        }
        assert_in_range(n_stopped, 3, 20);
        uint64_t box;
        for (size_t i = 0, first, n; zlgi_points_next(&points, &box, &first, &n); i++) {
            assert_int_equal(box, i);
            assert_int_equal(list[ids[first]], i);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_box_and_point_in_one_key),
        cmocka_unit_test(test_more_boxes_than_a_key_can_name),
        cmocka_unit_test(test_no_points),
        cmocka_unit_test(test_sorting_that_nobody_waits_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
