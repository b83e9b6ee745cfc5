/*
 * Label: engine
 * One uncompressed object that several threads read block by block: which failure is
 * reported, what is counted, and who works.
 */
#define _GNU_SOURCE
#include "fault.h"

enum { ROWS = 64, COLUMNS = 64 << 10 }; /* 4 MiB */

typedef struct fixture {
    zlg_ctx *ctx;
    fault_store *store;
    zlgi_store_class class;
    zlg_array *array;
    uint8_t *elements, *out;
} fixture;

static void open_fixture(fixture *f, const char *codecs)
{
    zlg_ctx_options options = ZLG_CTX_OPTIONS_INIT;
    options.n_threads = 4;
    f->elements = malloc(ROWS * COLUMNS);
    f->out = malloc(ROWS * COLUMNS);
    for (size_t i = 0; i < ROWS * COLUMNS; i++)
        f->elements[i] = (uint8_t)(i * 2654435761u >> 13);
    MUST(zlg_ctx_new(&options, &f->ctx, err_));
    f->store = fault_store_open(f->ctx);
    f->array = put_array(&f->store->base, "", "[64,65536]", "\"uint8\"",
                         REGULAR("[640,65536]"), "0", codecs);
    MUST(zlg_array_write(f->array, NULL, &(zlg_source){.data = f->elements}, NULL, err_));
}

static void close_fixture(fixture *f)
{
    assert_int_equal(f->store->n_open, 0);
    zlg_array_close(f->array);
    zlg_store_close(&f->store->base);
    zlg_ctx_close(f->ctx);
    free(f->elements);
    free(f->out);
}

static zlg_status read_rows(fixture *f, int64_t start, int64_t step, int64_t count,
                            zlg_stats *stats, zlg_error *err)
{
    const zlg_axis axes[2] = {{.start = start, .step = step, .count = count},
                              {.step = 1, .count = COLUMNS}};
    const zlg_selection box = {.kind = ZLG_BOX, .rank = 2, .axes = axes};
    zlg_call call = ZLG_CALL_INIT;
    call.stats = stats;
    return zlg_array_read(f->array, &box, &(zlg_target){.data = f->out}, &call, err);
}

static void check_rows(const fixture *f, int64_t start, int64_t step, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        assert_memory_equal(f->out + i * COLUMNS,
                            f->elements + (start + i * step) * COLUMNS, COLUMNS);
}

/* The object is one chunk, and all blocks together read its rows once. */
static void test_blocks_are_one_chunk(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, "[" LITTLE "]");
    for (int lends = 0; lends < 2; lends++) {
        zlg_stats stats = ZLG_STATS_INIT;
        f.store->lends = lends;
        MUST(read_rows(&f, 63, -1, ROWS, &stats, err_));
        check_rows(&f, 63, -1, ROWS);
        assert_int_equal(stats.n_chunks, 1);
        assert_int_equal(stats.n_opened, 1);
        assert_int_equal(stats.n_bytes_read, lends ? 0 : ROWS * COLUMNS);
    }
    close_fixture(&f);
}

/* The wanted rows are a small part of the object, and yet cut among the threads. */
static void test_blocks_are_cut_from_the_selection(void **state)
{
    (void)state;
    fixture f;
    zlg_stats stats = ZLG_STATS_INIT;
    open_fixture(&f, "[" LITTLE "]");
    MUST(read_rows(&f, 16, 1, 40, &stats, err_));
    check_rows(&f, 16, 1, 40);
    assert_in_range(stats.n_requests, 8, 40);
    close_fixture(&f);
}

static void test_blocks_of_a_list(void **state)
{
    (void)state;
    enum { N = 50 };
    fixture f;
    int64_t rows[N];
    const zlg_axis axes[2] = {{.list = rows, .count = N}, {.step = 1, .count = COLUMNS}};
    const zlg_selection box = {.kind = ZLG_BOX, .rank = 2, .axes = axes};
    open_fixture(&f, "[" LITTLE "]");
    for (int i = 0; i < N; i++)
        rows[i] = 5 + i * i % 55; /* any order, some twice */
    for (int lends = 0; lends < 2; lends++) {
        f.store->lends = lends;
        memset(f.out, 0, N * COLUMNS);
        MUST(zlg_array_read(f.array, &box, &(zlg_target){.data = f.out}, NULL, err_));
        for (int i = 0; i < N; i++)
            assert_memory_equal(f.out + i * COLUMNS, f.elements + rows[i] * COLUMNS,
                                COLUMNS);
    }
    close_fixture(&f);
}

/* Each read fails, and says where; those further down fail sooner. */
static zlg_status failing_read(zlg_store *store, zlgi_object *object, uint64_t offset,
                               size_t n, void *destination, size_t *out_n, zlg_error *err)
{
    struct timespec t = {.tv_nsec = offset < 1 << 20 ? 30 * 1000 * 1000 : 1};
    (void)store, (void)object, (void)n, (void)destination, (void)out_n;
    nanosleep(&t, NULL);
    return zlgi_fail(err, ZLG_IO, "nothing at byte %llu", (unsigned long long)offset);
}

static void test_the_first_block_that_fails_is_reported(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, "[" LITTLE "]");
    f.class = *f.store->base.class;
    f.class.read = failing_read;
    f.store->base.class = &f.class;
    for (int i = 0; i < 5; i++) {
        zlg_error err = {0};
        zlg_stats stats = ZLG_STATS_INIT;
        assert_int_equal(read_rows(&f, 0, 1, ROWS, &stats, &err), ZLG_IO);
        if (!strstr(err.message, "nothing at byte 0"))
            fail_msg("%s", err.message);
    }
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_are_one_chunk),
        cmocka_unit_test(test_blocks_are_cut_from_the_selection),
        cmocka_unit_test(test_blocks_of_a_list),
        cmocka_unit_test(test_the_first_block_that_fails_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
