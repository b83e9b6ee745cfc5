/* Chunk grids of documents: regular, rectilinear with runs, and what is neither. */
#include "meta_test.h"

#include "meta/member.h"

static const int64_t SHAPE[] = {10, 7};

static zlg_status read_grid(const char *text, const zlg_limits *limits, zlgi_grid *out)
{
    bool is_rectilinear;
    return zlgi_meta_grid(&arena, parse(text), 2, SHAPE, limits, out, &is_rectilinear,
                          &error);
}

#define REGULAR(lengths)                                                                   \
    "{\"name\": \"regular\", \"configuration\": {\"chunk_shape\": " lengths "}}"
#define EDGES(axes)                                                                        \
    "{\"name\": \"rectilinear\", \"configuration\": {\"kind\": \"inline\", "               \
    "\"chunk_shapes\": " axes "}}"

static void test_regular(void **state)
{
    (void)state;
    zlgi_grid grid;
    bool is_rectilinear = true;
    assert_int_equal(zlgi_meta_grid(&arena, parse(REGULAR("[4, 100]")), 2, SHAPE, &LIMITS,
                                    &grid, &is_rectilinear, &error),
                     ZLG_OK);
    assert_false(is_rectilinear);
    assert_int_equal(grid.rank, 2);
    assert_int_equal(grid.axis[0].chunk, 4);
    assert_int_equal(grid.axis[0].length, 10);
    assert_int_equal(grid.axis[0].n_chunks, 3);
    assert_int_equal(grid.axis[1].chunk, 100);
    assert_int_equal(grid.axis[1].n_chunks, 1);
}

static void test_chunks_of_no_length(void **state)
{
    (void)state;
    zlgi_grid grid;
    bool is_rectilinear;
    static const int64_t empty[] = {0, 7};
    assert_int_equal(zlgi_meta_grid(&arena, parse(REGULAR("[0, 7]")), 2, empty, &LIMITS,
                                    &grid, &is_rectilinear, &error),
                     ZLG_OK);
    assert_int_equal(grid.axis[0].n_chunks, 0);
    check_refused(read_grid(REGULAR("[4, 0]"), &LIMITS, &grid), ZLG_METADATA,
                  "chunk_grid: chunk_shape[1] is 0");
}

static void check_ends(const zlgi_grid_axis *axis, int64_t n, const int64_t *ends)
{
    assert_int_equal(axis->chunk, 0);
    assert_int_equal(axis->n_chunks, n);
    assert_memory_equal(axis->ends, ends, (size_t)n * sizeof *ends);
}

static void test_edges_become_running_sums(void **state)
{
    (void)state;
    zlgi_grid grid;
    bool is_rectilinear = false;
    assert_int_equal(zlgi_meta_grid(&arena, parse(EDGES("[[1, [3, 2], 9], 2]")), 2, SHAPE,
                                    &LIMITS, &grid, &is_rectilinear, &error),
                     ZLG_OK);
    assert_true(is_rectilinear);
    check_ends(&grid.axis[0], 4, (const int64_t[]){1, 4, 7, 16});
    assert_int_equal(grid.axis[1].chunk, 2);
    assert_int_equal(grid.axis[1].n_chunks, 4);
}

static void test_surplus_chunks_are_dropped(void **state)
{
    (void)state;
    zlgi_grid grid;
    assert_int_equal(read_grid(EDGES("[[4, [5, 3], 2], [[7, 1], [9, 9]]]"), &LIMITS, &grid),
                     ZLG_OK);
    check_ends(&grid.axis[0], 3, (const int64_t[]){4, 9, 14});
    check_ends(&grid.axis[1], 1, (const int64_t[]){7});
}

static void test_edges_of_an_empty_axis(void **state)
{
    (void)state;
    static const int64_t empty[] = {0, 0};
    zlgi_grid grid;
    bool is_rectilinear;
    assert_int_equal(zlgi_meta_grid(&arena, parse(EDGES("[[3, 4], []]")), 2, empty, &LIMITS,
                                    &grid, &is_rectilinear, &error),
                     ZLG_OK);
    assert_int_equal(grid.axis[0].n_chunks, 0);
    assert_int_equal(zlgi_grid_edge(&grid.axis[0], 0), 3);
    assert_int_equal(grid.axis[1].n_chunks, 0);
}

static void test_broken_edges(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        zlg_status status;
        const char *words;
    } cases[] = {
        {EDGES("[[], 7]"), ZLG_METADATA, "axis 0: edges reach 0 of the length 10"},
        {EDGES("[4, [1, 2]]"), ZLG_METADATA, "axis 1: edges reach 3 of the length 7"},
        {EDGES("[[10, 0], 7]"), ZLG_METADATA, "edge is 0"},
        {EDGES("[[-2, 12], 7]"), ZLG_METADATA, "edge is -2"},
        {EDGES("[[10.0], 7]"), ZLG_METADATA, "edge is 10.0"},
        {EDGES("[[[10, 0]], 7]"), ZLG_METADATA, "count is 0"},
        {EDGES("[[[10]], 7]"), ZLG_METADATA, "a run has 1 values"},
        {EDGES("[[[10, 1, 1]], 7]"), ZLG_METADATA, "a run has 3 values"},
        {EDGES("[[[[1], 10]], 7]"), ZLG_METADATA, "edge is a list"},
        {EDGES("[0, 7]"), ZLG_METADATA, "length is 0"},
        {EDGES("[\"10\", 7]"), ZLG_METADATA, "length is \"10\""},
        {EDGES("[10]"), ZLG_METADATA, "chunk_shapes has 1 axes, the array has 2"},
        {EDGES("10"), ZLG_METADATA, "chunk_shapes is 10"},
        {EDGES("[[[1, 4611686018427387904]], 7]"), ZLG_LIMIT, "grid_edges"},
        {EDGES("[[[4611686018427387904, 4]], 7]"), ZLG_LIMIT, "2^63"},
        {EDGES("[[9223372036854775807, 1], 7]"), ZLG_LIMIT, "2^63"},
        {"{\"name\": \"rectilinear\", \"configuration\": {\"kind\": \"external\", "
         "\"chunk_shapes\": [10, 7]}}",
         ZLG_METADATA, "kind is \"external\""},
        {"{\"name\": \"rectilinear\", \"configuration\": {\"chunk_shapes\": [10, 7]}}",
         ZLG_METADATA, "kind is missing"},
    };
    zlgi_grid grid;
    for (size_t i = 0; i < ZLGI_COUNT(cases); i++)
        check_refused(read_grid(cases[i].text, &LIMITS, &grid), cases[i].status,
                      cases[i].words);
}

static void test_the_limit_counts_declared_edges(void **state)
{
    (void)state;
    zlg_limits limits = LIMITS;
    limits.grid_edges = 5;
    zlgi_grid grid;
    assert_int_equal(read_grid(EDGES("[[6, [2, 4]], 7]"), &limits, &grid), ZLG_OK);
    check_refused(read_grid(EDGES("[[6, [2, 5]], 7]"), &limits, &grid), ZLG_LIMIT,
                  "axis 0: more edges than the limit grid_edges");
}

static void test_a_grid_that_ends_past_63_bits(void **state)
{
    (void)state;
    static const int64_t shape[] = {INT64_MAX, 7};
    zlgi_grid grid;
    bool is_rectilinear;
    check_refused(zlgi_meta_grid(&arena, parse(REGULAR("[4611686018427387904, 7]")), 2,
                                 shape, &LIMITS, &grid, &is_rectilinear, &error),
                  ZLG_LIMIT, "2^63");
    assert_int_equal(zlgi_meta_grid(&arena, parse(REGULAR("[9223372036854775807, 7]")), 2,
                                    shape, &LIMITS, &grid, &is_rectilinear, &error),
                     ZLG_OK);
}

static void test_what_is_no_grid(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        zlg_status status;
        const char *words;
    } cases[] = {
        {"7", ZLG_METADATA, "chunk_grid is 7"},
        {"{\"configuration\": {}}", ZLG_METADATA, "chunk_grid: name is missing"},
        {"\"regular\"", ZLG_METADATA, "no configuration"},
        {"{\"name\": \"hexagonal\"}", ZLG_UNSUPPORTED, "\"hexagonal\" is not known"},
        {"{\"name\": \"regular\", \"configuration\": [3]}", ZLG_METADATA,
         "configuration is a list"},
        {"{\"name\": \"regular\", \"configuration\": {}}", ZLG_METADATA,
         "chunk_shape is missing"},
        {REGULAR("[4]"), ZLG_METADATA, "chunk_shape has 1 lengths, the array has 2 axes"},
        {REGULAR("[4, -7]"), ZLG_METADATA, "chunk_shape[1] is -7"},
        {REGULAR("[4, 7.5]"), ZLG_METADATA, "chunk_shape[1] is 7.5"},
        {"{\"name\": \"regular\", \"must_understand\": false, "
         "\"configuration\": {\"chunk_shape\": [4, 7]}}",
         ZLG_METADATA, "must_understand"},
        {"{\"name\": \"regular\", \"chunk_shape\": [4, 7]}", ZLG_METADATA,
         "unknown member \"chunk_shape\""},
    };
    zlgi_grid grid;
    for (size_t i = 0; i < ZLGI_COUNT(cases); i++)
        check_refused(read_grid(cases[i].text, &LIMITS, &grid), cases[i].status,
                      cases[i].words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        meta_test(test_regular),
        meta_test(test_chunks_of_no_length),
        meta_test(test_edges_become_running_sums),
        meta_test(test_surplus_chunks_are_dropped),
        meta_test(test_edges_of_an_empty_axis),
        meta_test(test_broken_edges),
        meta_test(test_the_limit_counts_declared_edges),
        meta_test(test_a_grid_that_ends_past_63_bits),
        meta_test(test_what_is_no_grid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
