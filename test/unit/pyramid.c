/* Arrays that are given the reduction of another: which may be, which boxes may be given,
 * and that a refused one changes nothing. */
#define _GNU_SOURCE
#include "change_test.h"

#include "writer/writer.h"

typedef struct pyramid {
    fixture f;
    zlg_writer *writer;
    int fine, coarse, coarsest; /* 7 x 12, 4 x 4, 2 x 4 */
} pyramid;

static const int64_t by_two_and_three[2] = {2, 3}, by_two[2] = {2, 1};

static int add_array(pyramid *p, const char *path, int64_t n_rows, int64_t n_columns,
                     const char *data_type)
{
    zlg_array *array;
    int number;
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    spec.rank = 2;
    spec.shape = (int64_t[2]){n_rows, n_columns};
    spec.object_shape = (int64_t[2]){2, 2};
    spec.data_type = data_type;
    MUST(zlg_array_create(p->f.stores[0], path, &spec, &array, err_));
    MUST(zlg_writer_add(p->writer, array, NULL, &number, err_));
    zlg_array_close(array);
    return number;
}

static void open_pyramid(pyramid *p)
{
    open_fixture(&p->f);
    MUST(zlg_writer_open(p->f.ctx, NULL, &p->writer, err_));
    p->fine = add_array(p, "fine", 7, 12, "int16");
    p->coarse = add_array(p, "coarse", 4, 4, "int16");
    p->coarsest = add_array(p, "coarsest", 2, 4, "int16");
}

static void close_pyramid(pyramid *p)
{
    zlg_writer_free(p->writer);
    close_fixture(&p->f);
}

static void link_levels(pyramid *p)
{
    MUST(zlg_writer_add_coarser(p->writer, p->fine, p->coarse, by_two_and_three,
                                ZLG_REDUCE_MAX, err_));
    MUST(zlg_writer_add_coarser(p->writer, p->coarse, p->coarsest, by_two, ZLG_REDUCE_MIN,
                                err_));
}

static zlg_status submit(pyramid *p, int64_t row, int64_t column, int64_t n_rows,
                         int64_t n_columns, zlg_error *err)
{
    static int16_t data[7 * 12];
    for (int i = 0; i < 7 * 12; i++)
        data[i] = (int16_t)i;
    const int64_t start[2] = {row, column}, count[2] = {n_rows, n_columns};
    const zlg_submit part = {
        .array = p->fine, .start = start, .count = count, .source = {.data = data}};
    return zlg_writer_submit(p->writer, &part, 1, NULL, NULL, err);
}

static uint64_t n_submitted(pyramid *p)
{
    zlg_writer_counts counts = ZLG_WRITER_COUNTS_INIT;
    MUST(zlg_writer_count(p->writer, &counts, err_));
    return counts.n_submitted + counts.n_bytes_queued + counts.n_open;
}

static void check_elements(pyramid *p, const char *path, int n, const int16_t *expected)
{
    int16_t got[7 * 12];
    zlg_array *array;
    MUST(zlg_array_open(p->f.stores[0], path, NULL, &array, err_));
    assert_int_equal(zlg_array_shape(array)[0] * zlg_array_shape(array)[1], n);
    MUST(zlg_array_read(array, NULL, &(zlg_target){.data = got}, NULL, err_));
    assert_memory_equal(got, expected, (size_t)n * sizeof *got);
    zlg_array_close(array);
}

/* ------------------------------------------------------------------ */

static void test_levels(void **state)
{
    (void)state;
    static const int16_t coarse[16] = {14, 17, 20, 23, 38, 41, 44, 47,
                                       62, 65, 68, 71, 74, 77, 80, 83};
    static const int16_t coarsest[8] = {14, 17, 20, 23, 62, 65, 68, 71};
    pyramid p;
    open_pyramid(&p);
    link_levels(&p);
    MUST(submit(&p, 0, 0, 7, 12, err_));
    MUST(zlg_writer_close(p.writer, NULL, err_));
    check_elements(&p, "coarse", 16, coarse);
    check_elements(&p, "coarsest", 8, coarsest);
    close_pyramid(&p);
}

static void test_boxes_are_whole_windows(void **state)
{
    (void)state;
    pyramid p;
    open_pyramid(&p);
    link_levels(&p);
    REFUSED(ZLG_USAGE, "array fine: axis 0: what is given begins at 1, no multiple of 2",
            submit(&p, 1, 0, 1, 3, err_));
    REFUSED(ZLG_USAGE, "axis 1: what is given begins at 1", submit(&p, 4, 1, 3, 2, err_));
    REFUSED(ZLG_USAGE, "axis 0: what is given ends at 5, neither a multiple of 2",
            submit(&p, 4, 0, 1, 12, err_));
    REFUSED(ZLG_USAGE, "axis 1: what is given ends at 11", submit(&p, 4, 6, 3, 5, err_));
    /* Whole windows of the first level, but not of the next. */
    REFUSED(ZLG_USAGE, "array fine: array coarse: axis 0: what is given begins at 1, no",
            submit(&p, 2, 0, 2, 12, err_));
    assert_int_equal(n_submitted(&p), 0);
    MUST(submit(&p, 4, 9, 3, 3, err_));
    MUST(submit(&p, 0, 0, 4, 3, err_));
    MUST(zlg_writer_close(p.writer, NULL, err_));
    static const int16_t coarsest[8] = {5, 0, 0, 0, 0, 0, 0, 5};
    check_elements(&p, "coarsest", 8, coarsest);
    close_pyramid(&p);
}

static void test_appended_rows_are_whole_windows(void **state)
{
    (void)state;
    pyramid p;
    open_pyramid(&p);
    const int64_t factors[2] = {2, 3};
    int fine = add_array(&p, "rows", 0, 12, "int16");
    int coarse = add_array(&p, "fewer", 0, 4, "int16");
    static const int16_t data[4 * 12] = {[0] = 7, [47] = 9};
    const zlg_source source = {.data = data};
    MUST(zlg_writer_add_coarser(p.writer, fine, coarse, factors, ZLG_REDUCE_MAX, err_));
    REFUSED(ZLG_USAGE, "axis 0: what is given ends at 3",
            zlg_writer_append(p.writer, fine, 0, 3, &source, NULL, NULL, NULL, err_));
    assert_int_equal(n_submitted(&p), 0);
    int64_t first = -1;
    MUST(zlg_writer_append(p.writer, fine, 0, 4, &source, NULL, &first, NULL, err_));
    assert_int_equal(first, 0);
    MUST(zlg_writer_append(p.writer, fine, 0, 2, &source, NULL, &first, NULL, err_));
    assert_int_equal(first, 4);
    REFUSED(
        ZLG_USAGE, "rows were appended before",
        zlg_writer_add_coarser(p.writer, fine, p.coarse, factors, ZLG_REDUCE_MAX, err_));
    MUST(zlg_writer_close(p.writer, NULL, err_));
    static const int16_t fewer[12] = {[0] = 7, [7] = 9, [8] = 7};
    check_elements(&p, "fewer", 12, fewer);
    close_pyramid(&p);
}

static void test_what_may_be_coarser(void **state)
{
    (void)state;
    pyramid p;
    open_pyramid(&p);
    const int64_t ones[2] = {1, 1}, zero[2] = {0, 3}, large[2] = {INT64_C(1) << 40, 3};
    int same = add_array(&p, "same", 7, 12, "int16");
    int other = add_array(&p, "other", 4, 4, "int32");
    int text = add_array(&p, "bytes", 7, 12, "r24");
    int less = add_array(&p, "less", 4, 4, "r24");
#define ADD(fine, coarse, factors, how)                                                    \
    zlg_writer_add_coarser(p.writer, fine, coarse, factors, how, err_)
    REFUSED(ZLG_USAGE, "array 9 of a writer with 7",
            ADD(9, p.coarse, ones, ZLG_REDUCE_MEAN));
    REFUSED(ZLG_USAGE, "array -1 of", ADD(p.fine, -1, ones, ZLG_REDUCE_MEAN));
    REFUSED(ZLG_USAGE, "coarser than itself", ADD(p.fine, p.fine, ones, ZLG_REDUCE_MEAN));
    REFUSED(ZLG_USAGE, "same axes and data type",
            ADD(p.fine, other, by_two_and_three, ZLG_REDUCE_MEAN));
    REFUSED(ZLG_USAGE, "a factor of 0", ADD(p.fine, p.coarse, zero, ZLG_REDUCE_MEAN));
    REFUSED(ZLG_USAGE, "windows have", ADD(p.fine, p.coarse, large, ZLG_REDUCE_MEAN));
    REFUSED(ZLG_USAGE, "axis 0: the coarser array is 2 long; 7 by a factor of 2 makes 4",
            ADD(p.fine, p.coarsest, by_two_and_three, ZLG_REDUCE_MEAN));
    REFUSED(ZLG_UNSUPPORTED, "have no mean",
            ADD(text, less, by_two_and_three, ZLG_REDUCE_MEAN));
    REFUSED(ZLG_USAGE, "no reduction 4",
            ADD(p.fine, p.coarse, by_two_and_three, (zlg_reduce)4));
    MUST(ADD(text, less, by_two_and_three, ZLG_REDUCE_DECIMATE));
    MUST(ADD(p.fine, same, ones, ZLG_REDUCE_MEAN));
    REFUSED(ZLG_USAGE, "coarser than itself", ADD(same, p.fine, ones, ZLG_REDUCE_MEAN));
    MUST(ADD(same, p.coarse, by_two_and_three, ZLG_REDUCE_MEAN));
    REFUSED(ZLG_USAGE, "is a coarser one of array 3 already",
            ADD(p.fine, p.coarse, by_two_and_three, ZLG_REDUCE_MEAN));
#undef ADD
    close_pyramid(&p);
}

/* What is larger than the budget is reduced piece by piece, within it. */
static void test_large_parts_stay_in_the_budget(void **state)
{
    (void)state;
    enum { SIDE = 2100, BUDGET = 4 << 20 };
    static const int64_t sides[3] = {SIDE, SIDE / 2, SIDE / 6};
    static const int64_t factors[3][2] = {{1, 1}, {2, 2}, {3, 3}};
    static uint16_t data[SIDE * SIDE], reduced[SIDE * SIDE / 4], got[SIDE * SIDE / 4];
    fixture f;
    zlg_writer *writer;
    zlg_array *arrays[3];
    int numbers[3];
    zlg_writer_options options = ZLG_WRITER_OPTIONS_INIT;
    open_fixture(&f);
    options.memory_budget = BUDGET;
    options.n_threads = 2;
    MUST(zlg_writer_open(f.ctx, &options, &writer, err_));
    for (int i = 0; i < 3; i++) {
        zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
        char path[2] = {(char)('0' + i)};
        spec.rank = 2;
        spec.shape = (int64_t[2]){sides[i], sides[i]};
        spec.object_shape = (int64_t[2]){256, 256};
        spec.data_type = "uint16";
        MUST(zlg_array_create(f.stores[1], path, &spec, &arrays[i], err_));
        MUST(zlg_writer_add(writer, arrays[i], NULL, &numbers[i], err_));
        if (i > 0)
            MUST(zlg_writer_add_coarser(writer, numbers[i - 1], numbers[i], factors[i],
                                        ZLG_REDUCE_MEAN, err_));
    }
    for (int i = 0; i < SIDE * SIDE; i++)
        data[i] = (uint16_t)(i * 7 % 65521);
    const int64_t start[2] = {0, 0}, fine[2] = {SIDE, SIDE}, half[2] = {SIDE / 2, SIDE / 2};
    const zlg_submit whole = {
        .array = numbers[0], .start = start, .count = fine, .source = {.data = data}};
    zlg_call call = ZLG_CALL_INIT;
    call.deadline_ms = -1;
    REFUSED(ZLG_LIMIT, "of the budget",
            zlg_writer_submit(writer, &whole, 1, &call, NULL, err_));
    MUST(zlg_writer_submit(writer, &whole, 1, NULL, NULL, err_));
    MUST(zlg_writer_close(writer, NULL, err_));
    zlg_writer_counts counts = ZLG_WRITER_COUNTS_INIT;
    MUST(zlg_writer_count(writer, &counts, err_));
    assert_true(counts.n_bytes_peak <= BUDGET);
    const zlgi_dtype *dtype = zlgi_dtype_plain(ZLG_UINT16);
    zlgi_reduce(ZLG_REDUCE_MEAN, dtype, 2, factors[1], fine, &whole.source, reduced);
    MUST(zlg_array_read(arrays[1], NULL, &(zlg_target){.data = got}, NULL, err_));
    assert_memory_equal(got, reduced, sizeof got);
    zlgi_reduce(ZLG_REDUCE_MEAN, dtype, 2, factors[2], half, &(zlg_source){.data = got},
                reduced);
    MUST(zlg_array_read(arrays[2], NULL, &(zlg_target){.data = got}, NULL, err_));
    assert_memory_equal(got, reduced, (size_t)(sides[2] * sides[2]) * sizeof *got);
    for (int i = 0; i < 3; i++)
        zlg_array_close(arrays[i]);
    zlg_writer_free(writer);
    close_fixture(&f);
}

/* A run that ends when the first objects of the fine array are stored, and the only one of
 * the coarse array is half full; and the same again, which gives all of it. */
static void run_half(fixture *f, const char *journal, bool is_second)
{
    static const int64_t factors[2] = {2, 2}, shapes[2][2] = {{8, 8}, {4, 4}};
    static uint8_t data[8 * 8];
    zlg_array *arrays[2];
    zlg_writer *writer;
    int numbers[2], is_stored = -1;
    zlg_writer_options options = ZLG_WRITER_OPTIONS_INIT;
    options.journal = journal;
    MUST(zlg_writer_open(f->ctx, &options, &writer, err_));
    for (int i = 0; i < 2; i++) {
        zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
        spec.rank = 2;
        spec.shape = shapes[i];
        spec.object_shape = (int64_t[2]){4, 4};
        spec.data_type = "uint8";
        spec.exist_ok = 1;
        MUST(
            zlg_array_create(f->stores[1], i ? "coarse" : "fine", &spec, &arrays[i], err_));
        MUST(zlg_writer_add(writer, arrays[i], NULL, &numbers[i], err_));
    }
    MUST(zlg_writer_add_coarser(writer, numbers[0], numbers[1], factors, ZLG_REDUCE_MIN,
                                err_));
    for (int i = 0; i < 8 * 8; i++)
        data[i] = (uint8_t)(i + 1);
    for (int64_t row = 0; row < (is_second ? 8 : 4); row += 4) {
        const int64_t start[2] = {row, 0}, count[2] = {4, 8};
        const zlg_submit part = {.array = numbers[0],
                                 .start = start,
                                 .count = count,
                                 .source = {.data = data + row * 8}};
        MUST(zlg_writer_is_stored(writer, numbers[0], start, count, &is_stored, err_));
        assert_int_equal(is_stored, 0); /* in the coarse array it is not */
        MUST(zlg_writer_submit(writer, &part, 1, NULL, NULL, err_));
    }
    if (is_second) {
        uint8_t got[16];
        MUST(zlg_writer_close(writer, NULL, err_));
        MUST(zlg_array_read(arrays[1], NULL, &(zlg_target){.data = got}, NULL, err_));
        for (int i = 0; i < 16; i++)
            assert_int_equal(got[i], 1 + i / 4 * 16 + i % 4 * 2);
    } else {
        MUST(zlg_writer_drain(writer, NULL, err_));
        zlg_writer_abort(writer);
    }
    zlg_writer_free(writer);
    for (int i = 0; i < 2; i++)
        zlg_array_close(arrays[i]);
}

static void test_resumed_runs_complete_the_levels(void **state)
{
    (void)state;
    fixture f;
    char journal[4200];
    open_fixture(&f);
    snprintf(journal, sizeof journal, "%s/journal", f.folder.path);
    run_half(&f, journal, false);
    assert_int_equal(n_keys(f.stores[1], "fine/c"), 2);
    assert_int_equal(n_keys(f.stores[1], "coarse/c"), 0);
    run_half(&f, journal, true);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_boxes_are_whole_windows),
        cmocka_unit_test(test_appended_rows_are_whole_windows),
        cmocka_unit_test(test_what_may_be_coarser),
        cmocka_unit_test(test_large_parts_stay_in_the_budget),
        cmocka_unit_test(test_resumed_runs_complete_the_levels),
    };
    return cmocka_run_group_tests_name("pyramid", tests, NULL, NULL);
}
