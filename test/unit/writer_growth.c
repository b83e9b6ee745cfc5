/* Arrays that get longer as they are written. Label: engine. */
#define _GNU_SOURCE
#include "writer_test.h"

static zlg_status append(writing *w, int64_t step, int64_t n, zlg_error *err)
{
    int32_t rows[STEPS * WIDTH];
    int64_t first = -1;
    for (int64_t k = 0; k < n; k++)
        for (int64_t i = 0; i < WIDTH; i++)
            rows[k * WIDTH + i] = value_at(step + k, i);
    zlg_status status = zlg_writer_append(
        w->writer, w->number, 0, n, &(zlg_source){.data = rows}, NULL, &first, NULL, err);
    if (status == ZLG_OK)
        assert_int_equal(first, step);
    return status;
}

static void open_growing(writing *w, int64_t n_steps)
{
    open_fixture(&w->f);
    w->array = make_array(w->f.stores[1], "a", n_steps);
    MUST(zlg_writer_open(w->f.ctx, NULL, &w->writer, err_));
    MUST(zlg_writer_add(w->writer, w->array, NULL, &w->number, err_));
}

/* A reader sees rows when all below them are stored: not before. */
static void check_rows_are_known_when_stored(void **unused)
{
    (void)unused;
    writing w;
    open_growing(&w, 0);
    for (int step = 0; step < SHARD - 1; step++)
        MUST(append(&w, step, 1, err_));
    MUST(zlg_writer_drain(w.writer, NULL, err_));
    check_steps(w.f.stores[1], "a", 0, 0, 0);
    MUST(append(&w, SHARD - 1, 3, err_));
    MUST(zlg_writer_drain(w.writer, NULL, err_));
    check_steps(w.f.stores[1], "a", SHARD, 0, SHARD);
    MUST(zlg_writer_flush(w.writer, NULL, err_));
    check_steps(w.f.stores[1], "a", SHARD + 2, 0, SHARD + 2);
    MUST(append(&w, SHARD + 2, 1, err_));
    MUST(append(&w, SHARD + 3, 2, err_));
    MUST(zlg_writer_close(w.writer, NULL, err_));
    check_steps(w.f.stores[1], "a", SHARD + 5, 0, SHARD + 5);
    close_writing(&w);
}

/* The shard in which the array ended is filled up, and what was in it stays. */
static void check_rows_continue_a_shard(void **unused)
{
    (void)unused;
    writing w;
    int32_t row[WIDTH];
    open_growing(&w, 1);
    for (int i = 0; i < WIDTH; i++)
        row[i] = value_at(0, i);
    MUST(zlg_array_write(w.array, NULL, &(zlg_source){.data = row}, NULL, err_));
    MUST(append(&w, 1, 5, err_));
    MUST(zlg_writer_close(w.writer, NULL, err_));
    check_steps(w.f.stores[1], "a", 6, 0, 6);
    close_writing(&w);
}

static void check_somebody_else_grows(void **unused)
{
    (void)unused;
    writing w;
    open_growing(&w, 0);
    MUST(append(&w, 0, 2, err_));
    MUST(zlg_array_resize(w.array, (int64_t[]){9, WIDTH}, NULL, NULL, err_));
    REFUSED(ZLG_EXISTS, "somebody else", zlg_writer_flush(w.writer, NULL, err_));
    REFUSED(ZLG_EXISTS, "somebody else", zlg_writer_close(w.writer, NULL, err_));
    close_writing(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_rows_are_known_when_stored),
        cmocka_unit_test(check_rows_continue_a_shard),
        cmocka_unit_test(check_somebody_else_grows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
