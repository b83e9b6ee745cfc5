/*
 * Label: engine
 * One object that several threads read block by block, an uncompressed one or a shard:
 * which failure is reported, what is counted, and who works.
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

/* ------------------------------------------------------------------ gathers */

enum { SIDE = 256, INNER = 16, N_INNER = 256, N_POINTS = 3000, N_BOXES = 40 };

/* Points and boxes of one shard, among them points everywhere but in the first row of inner
 * chunks, of which only the last has some. */
typedef struct gather {
    fault_store *store;
    zlg_ctx *ctx;
    zlg_array *array, *plain; /* one shard; one chunk beside it */
    uint8_t elements[SIDE][SIDE];
    int64_t lists[2][N_POINTS];
    zlg_axis axes[N_BOXES][2];
    zlg_selection selections[N_BOXES + 1];
    zlg_read reads[N_BOXES + 2];
    uint8_t out[N_BOXES + 1][N_POINTS], rest[SIDE][SIDE];
    bool wanted[N_INNER];
} gather;

static void want(gather *g, int64_t row, int64_t column)
{
    g->wanted[row / INNER * (SIDE / INNER) + column / INNER] = true;
}

static void choose(gather *g)
{
    uint64_t seed = 4;
    static const int64_t *lists[2];
    for (int k = 0; k < N_POINTS; k++) {
        int64_t at[2] = {(int64_t)(test_random(&seed) % SIDE),
                         (int64_t)(test_random(&seed) % SIDE)};
        at[1] = at[0] < INNER ? SIDE - 1 - at[1] % INNER : at[1];
        g->lists[0][k] = at[0];
        g->lists[1][k] = at[1];
        want(g, at[0], at[1]);
    }
    lists[0] = g->lists[0];
    lists[1] = g->lists[1];
    g->selections[N_BOXES] = (zlg_selection){
        .kind = ZLG_POINTS, .rank = 2, .coordinates = lists, .n_points = N_POINTS};
    for (int b = 0; b < N_BOXES; b++) {
        for (int i = 0; i < 2; i++)
            g->axes[b][i] = (zlg_axis){.start = 64 + (int64_t)(test_random(&seed) % 100),
                                       .step = 1 + (int64_t)(test_random(&seed) % 3),
                                       .count = 30};
        g->selections[b] = (zlg_selection){.kind = ZLG_BOX, .rank = 2, .axes = g->axes[b]};
        for (int k = 0; k < 30 * 30; k++)
            want(g, g->axes[b][0].start + k / 30 * g->axes[b][0].step,
                 g->axes[b][1].start + k % 30 * g->axes[b][1].step);
    }
    for (int b = 0; b <= N_BOXES; b++)
        g->reads[b] = (zlg_read){.array = g->array,
                                 .selection = &g->selections[b],
                                 .target = {.data = g->out[b]}};
    g->reads[N_BOXES + 1] = (zlg_read){.array = g->plain, .target = {.data = g->rest}};
}

/* ctx: of another, which is closed later; NULL: its own. */
static gather *gather_open(zlg_ctx *ctx)
{
    gather *g = calloc(1, sizeof *g);
    zlg_ctx_options options = ZLG_CTX_OPTIONS_INIT;
    options.n_threads = 4;
    options.index_cache = -1;
    if (!ctx) {
        MUST(zlg_ctx_new(&options, &g->ctx, err_));
        ctx = g->ctx;
    }
    g->store = fault_store_open(ctx);
    g->array =
        put_array(&g->store->base, "a", "[256,256]", "\"uint8\"", REGULAR("[256,256]"), "0",
                  "[" SHARD("[16,16]", "[" LITTLE "," ZSTD "]") "]");
    g->plain = put_array(&g->store->base, "b", "[256,256]", "\"uint8\"",
                         REGULAR("[256,256]"), "0", "[" LITTLE "," ZSTD "]");
    for (int i = 0; i < SIDE * SIDE; i++)
        g->elements[i / SIDE][i % SIDE] = (uint8_t)((uint32_t)i * 2654435761u >> 13);
    MUST(zlg_array_write(g->array, NULL, &(zlg_source){.data = g->elements}, NULL, err_));
    MUST(zlg_array_write(g->plain, NULL, &(zlg_source){.data = g->elements}, NULL, err_));
    choose(g);
    return g;
}

static void gather_close(gather *g)
{
    assert_int_equal(g->store->n_open, 0);
    zlg_array_close(g->array);
    zlg_array_close(g->plain);
    zlg_store_close(&g->store->base);
    zlg_ctx_close(g->ctx);
    free(g);
}

static void check_gather(const gather *g)
{
    for (int k = 0; k < N_POINTS; k++)
        assert_int_equal(g->out[N_BOXES][k], g->elements[g->lists[0][k]][g->lists[1][k]]);
    for (int b = 0; b < N_BOXES; b++)
        for (int k = 0; k < 30 * 30; k++) {
            const zlg_axis *axes = g->axes[b];
            assert_int_equal(g->out[b][k],
                             g->elements[axes[0].start + k / 30 * axes[0].step]
                                        [axes[1].start + k % 30 * axes[1].step]);
        }
    assert_memory_equal(g->rest, g->elements, sizeof g->rest);
}

/* However many read it, a shard is opened once, its index is read once, and each of its
 * chunks is decoded once for all that want something of it. */
static void test_blocks_of_a_batch(void **state)
{
    (void)state;
    gather *g = gather_open(NULL);
    uint64_t n_chunks = 1, n_bytes = 0;
    for (int i = 0; i < N_INNER; i++)
        n_chunks += g->wanted[i];
    for (int n_threads = 1; n_threads <= 4; n_threads++)
        for (int lends = 0; lends < 2; lends++) {
            zlg_stats stats = ZLG_STATS_INIT;
            zlg_call call = ZLG_CALL_INIT;
            call.stats = &stats;
            call.n_threads = n_threads;
            g->store->lends = lends;
            memset(g->out, 0, sizeof g->out);
            memset(g->rest, 0, sizeof g->rest);
            MUST(zlg_read_many(g->reads, N_BOXES + 2, &call, err_));
            check_gather(g);
            assert_int_equal(stats.n_objects, 2);
            assert_int_equal(stats.n_opened, 2);
            assert_int_equal(stats.n_chunks, n_chunks);
            if (n_threads == 1 && !lends)
                n_bytes = stats.n_bytes_read;
            /* Gaps between blocks are not read; but this shard is so small that the
             * chunks of one block lie in the gaps of the others: four a thread. */
            uint64_t most = n_threads == 1 ? n_bytes : 4 * (uint64_t)n_threads * n_bytes;
            assert_in_range(stats.n_bytes_read, lends ? 0 : n_bytes / 2, lends ? 0 : most);
        }
    gather_close(g);
}

/* Two stores, each with its own handles. */
static void test_blocks_of_several_stores(void **state)
{
    (void)state;
    gather *g = gather_open(NULL), *h = gather_open(g->ctx);
    zlg_read reads[] = {g->reads[N_BOXES], h->reads[N_BOXES], g->reads[3], h->reads[7]};
    zlg_stats stats = ZLG_STATS_INIT;
    zlg_call call = ZLG_CALL_INIT;
    call.stats = &stats;
    MUST(zlg_read_many(reads, 4, &call, err_));
    assert_int_equal(stats.n_opened, 2);
    for (int k = 0; k < N_POINTS; k++) {
        uint8_t expected = g->elements[g->lists[0][k]][g->lists[1][k]];
        assert_int_equal(g->out[N_BOXES][k], expected);
        assert_int_equal(h->out[N_BOXES][k], expected);
    }
    gather_close(h);
    gather_close(g);
}

/* No chunk can be read: the first of those that are wanted is named. */
static void test_the_first_chunk_of_a_gather_that_fails_is_reported(void **state)
{
    (void)state;
    gather *g = gather_open(NULL);
    g->store->bad_key = "a/c/0/0";
    for (const fault_value *value = g->store->values; value != NULL; value = value->next)
        if (strcmp(value->key, g->store->bad_key) == 0)
            g->store->bad_to = value->n_bytes - N_INNER * 16 - 4; /* all but the index */
    for (int i = 0; i < 20; i++) {
        zlg_error err = {0};
        assert_int_equal(zlg_read_many(&g->reads[N_BOXES], 2, NULL, &err), ZLG_IO);
        if (!strstr(err.message, "inner chunk 0/15: the disk is on fire"))
            fail_msg("%s", err.message);
    }
    g->store->bad_from = 0;
    g->store->bad_to = UINT64_MAX;
    zlg_error err = {0};
    assert_int_equal(zlg_read_many(g->reads, N_BOXES + 2, NULL, &err), ZLG_IO);
    gather_close(g);
}

/* A shard that is not there is asked for once, and all of it is the fill value. */
static void test_blocks_of_a_missing_shard(void **state)
{
    (void)state;
    gather *g = gather_open(NULL);
    zlg_stats stats = ZLG_STATS_INIT;
    zlg_call call = ZLG_CALL_INIT;
    call.stats = &stats;
    MUST(zlg_store_delete(&g->store->base, "a/c/0/0", err_));
    memset(g->elements, 0, sizeof g->elements);
    memset(g->out, 1, sizeof g->out);
    MUST(zlg_read_many(g->reads, N_BOXES + 1, &call, err_));
    check_gather(g);
    assert_int_equal(stats.n_missing, 1);
    gather_close(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_are_one_chunk),
        cmocka_unit_test(test_blocks_are_cut_from_the_selection),
        cmocka_unit_test(test_blocks_of_a_list),
        cmocka_unit_test(test_the_first_block_that_fails_is_reported),
        cmocka_unit_test(test_blocks_of_a_batch),
        cmocka_unit_test(test_blocks_of_several_stores),
        cmocka_unit_test(test_the_first_chunk_of_a_gather_that_fails_is_reported),
        cmocka_unit_test(test_blocks_of_a_missing_shard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
