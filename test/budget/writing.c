/*
 * Label: engine
 * What writes cost, counted: requests, transactions, encodes, allocations, memory. Caches
 * are off.
 */
#define _GNU_SOURCE
#include "../store/folder.h"
#include "heap.h"

#include "../fault/fault.h"
#include "core/core.h"

enum { SIDE = 64, CHUNK = 8, SHARD_SIDE = 32, MIB = 1 << 20 };

typedef struct fixture {
    test_folder folder;
    shared_heap heap;
    zlg_ctx *ctx;
    zlg_store *files, *counting;
    zlg_array *array;
    uint16_t *data;
    size_t n;
    zlg_stats stats;
    zlgi_store_counts before;
} fixture;

static void open_fixture(fixture *f, int n_threads, int64_t side, int64_t shard,
                         int64_t chunk, const char *codecs)
{
    zlg_ctx_options options = ZLG_CTX_OPTIONS_INIT;
    memset(f, 0, sizeof *f);
    pthread_mutex_init(&f->heap.lock, NULL);
    f->heap.alloc = (zlg_allocator){.resize = shared_resize, .self = &f->heap};
    options.allocator = f->heap.alloc;
    options.index_cache = -1;
    options.n_threads = n_threads;
    test_folder_make(&f->folder);
    MUST(zlg_ctx_new(&options, &f->ctx, err_));
    MUST(zlg_store_open_fs(f->ctx, f->folder.path, NULL, &f->files, err_));
    MUST(zlgi_counting_open(&f->ctx->alloc, f->files, &f->counting, err_));
    zlgi_store_adopt(f->ctx, f->counting);
    const int64_t shape[3] = {side, side, side}, object[3] = {shard, shard, shard};
    const int64_t inner[3] = {chunk, chunk, chunk};
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    spec.rank = 3;
    spec.shape = shape;
    spec.object_shape = object;
    spec.chunk_shape = inner;
    spec.data_type = "uint16";
    spec.codecs = codecs;
    MUST(zlg_array_create(f->counting, "", &spec, &f->array, err_));
    f->n = (size_t)(side * side * side);
    f->data = malloc(f->n * sizeof *f->data);
    uint64_t seed = 7;
    for (size_t i = 0; i < f->n; i++)
        f->data[i] = (uint16_t)(1 + test_random(&seed) % 4000);
}

static void close_fixture(fixture *f)
{
    zlg_array_close(f->array);
    zlg_store_close(f->counting);
    zlg_store_close(f->files);
    zlg_ctx_close(f->ctx);
    assert_int_equal(f->heap.n_bytes, 0);
    free(f->data);
    test_folder_remove(&f->folder);
}

/* Requests of the writes since the last call. */
static zlgi_store_counts counts(fixture *f)
{
    zlgi_store_counts now = zlgi_counting_get(f->counting), since = now;
    since.n_opens -= f->before.n_opens;
    since.n_reads -= f->before.n_reads;
    since.n_bytes_read -= f->before.n_bytes_read;
    since.n_begins -= f->before.n_begins;
    since.n_puts -= f->before.n_puts;
    since.n_removes -= f->before.n_removes;
    since.n_syncs -= f->before.n_syncs;
    f->before = now;
    return since;
}

static void write_steps(fixture *f, zlg_axis axis, zlg_promise promise)
{
    const zlg_axis axes[3] = {axis, axis, axis};
    zlg_selection box = {.kind = ZLG_BOX, .rank = 3, .axes = axes};
    zlg_call call = ZLG_CALL_INIT;
    f->stats = (zlg_stats)ZLG_STATS_INIT;
    call.stats = &f->stats;
    call.promise = promise;
    MUST(zlg_array_write(f->array, &box, &(zlg_source){.data = f->data}, &call, err_));
}

static void write_cube(fixture *f, int64_t start, int64_t count, zlg_promise promise)
{
    write_steps(f, (zlg_axis){.start = start, .step = 1, .count = count}, promise);
}

static bool has_object(fixture *f)
{
    zlg_text text;
    bool is_there = zlg_store_get(f->files, "c/0/0/0", &text, NULL) == ZLG_OK;
    if (is_there)
        zlg_text_free(&text);
    return is_there;
}

/* ------------------------------------------------------------------ requests */

static void test_whole_objects_are_never_read(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, 2, SIDE, SHARD_SIDE, CHUNK, NULL);
    for (int again = 0; again < 2; again++) {
        counts(&f);
        write_cube(&f, 0, SIDE, ZLG_PROMISE_DEFAULT);
        zlgi_store_counts c = counts(&f);
        assert_int_equal(c.n_opens, 0);
        assert_int_equal(c.n_reads, 0);
        assert_int_equal(c.n_begins, 8);
        assert_int_equal(c.n_puts, 8);
        assert_int_equal(c.n_syncs, 0);
        assert_int_equal(f.stats.n_stored, 8);
        assert_int_equal(f.stats.n_encoded, 512);
        assert_int_equal(f.stats.n_moved, 0);
        assert_int_equal(f.stats.n_chunks, 0); /* decoded */
    }
    close_fixture(&f);
}

static void test_a_part_costs_one_read_and_one_write(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, 2, SIDE, SHARD_SIDE, CHUNK, NULL);
    write_cube(&f, 0, SIDE, ZLG_PROMISE_DEFAULT);
    counts(&f);
    write_cube(&f, CHUNK, CHUNK, ZLG_PROMISE_DEFAULT); /* one inner chunk, covered */
    zlgi_store_counts c = counts(&f);
    assert_true(c.n_begins == 1 && c.n_puts == 1 && c.n_opens == 0);
    assert_int_equal(c.n_reads, 1);
    assert_int_equal(f.stats.n_encoded, 1);
    assert_int_equal(f.stats.n_moved, 63);
    assert_int_equal(f.stats.n_chunks, 0);
    write_cube(&f, CHUNK + 1, CHUNK, ZLG_PROMISE_DEFAULT); /* parts of eight */
    c = counts(&f);
    assert_true(c.n_begins == 1 && c.n_puts == 1 && c.n_reads == 1);
    assert_int_equal(f.stats.n_encoded, 8);
    assert_int_equal(f.stats.n_chunks, 8);
    assert_int_equal(f.stats.n_moved, 56);
    write_cube(&f, SHARD_SIDE - 1, 2, ZLG_DURABLE); /* a corner of all shards */
    c = counts(&f);
    assert_true(c.n_begins == 8 && c.n_puts == 8 && c.n_reads == 8);
    assert_int_equal(c.n_syncs, 1); /* for all of the call */
    assert_int_equal(f.stats.n_encoded, 8);
    close_fixture(&f);
}

static void test_a_batch_puts_each_object_once(void **state)
{
    (void)state;
    enum { N = 100 };
    fixture f;
    open_fixture(&f, 2, SIDE, SHARD_SIDE, CHUNK, NULL);
    write_cube(&f, 0, SIDE, ZLG_PROMISE_DEFAULT);
    zlg_axis axes[N][3];
    zlg_selection boxes[N];
    zlg_write writes[N];
    uint64_t seed = 3;
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < 3; k++)
            axes[i][k] = (zlg_axis){
                .start = (int64_t)(test_random(&seed) % SHARD_SIDE), .step = 1, .count = 3};
        boxes[i] = (zlg_selection){.kind = ZLG_BOX, .rank = 3, .axes = axes[i]};
        writes[i] = (zlg_write){
            .array = f.array, .selection = &boxes[i], .source = {.data = f.data}};
    }
    zlg_call call = ZLG_CALL_INIT;
    f.stats = (zlg_stats)ZLG_STATS_INIT;
    call.stats = &f.stats;
    counts(&f);
    MUST(zlg_write_many(writes, N, &call, err_));
    zlgi_store_counts c = counts(&f);
    assert_true(c.n_begins == c.n_puts && c.n_puts <= 8 && c.n_reads == c.n_puts);
    assert_true(f.stats.n_chunks <= 8 * 64 && f.stats.n_chunks == f.stats.n_encoded);
    close_fixture(&f);
}

/* The fill value is not made where all of a chunk is it, stored or not; and where nothing
 * is stored nothing is put, removed or read. */
static void test_the_fill_value_costs_nothing(void **state)
{
    (void)state;
    const zlg_axis all = {.step = 1, .count = 256}, most = {.step = 1, .count = 255};
    const zlg_axis axes[2][3] = {{all, all, all}, {most, all, most}};
    for (int i = 0; i < 4; i++) {
        fixture f;
        zlg_call call = ZLG_CALL_INIT;
        zlg_selection box = {.kind = ZLG_BOX, .rank = 3, .axes = axes[i / 2]};
        open_fixture(&f, 1, 256, 256, i % 2 ? 128 : 256, NULL);
        f.stats = (zlg_stats)ZLG_STATS_INIT;
        call.stats = &f.stats;
        counts(&f);
        f.heap.peak_bytes = f.heap.n_bytes;
        size_t before = f.heap.n_bytes;
        MUST(zlg_array_fill(f.array, &box, NULL, 0, &call, err_));
        MUST(zlg_array_fill(f.array, &box, "\0\0", 2, &call, err_));
        zlgi_store_counts c = counts(&f);
        assert_true(c.n_reads == 0 && c.n_opens == 0 && c.n_puts == 0);
        assert_int_equal(f.stats.n_removed, 2);
        assert_in_range(f.heap.peak_bytes - before, 1, MIB);
        write_cube(&f, 0, 1, ZLG_PROMISE_DEFAULT);
        assert_true(f.stats.n_stored == 1 && has_object(&f));
        if (i / 2 == 0) {
            f.heap.peak_bytes = f.heap.n_bytes;
            before = f.heap.n_bytes;
            MUST(zlg_array_fill(f.array, &box, NULL, 0, &call, err_));
            assert_false(has_object(&f));
            assert_in_range(f.heap.peak_bytes - before, 1, MIB);
        }
        /* Presence means written. */
        call.keep_empty = 1;
        MUST(zlg_array_fill(f.array, &box, NULL, 0, &call, err_));
        assert_true(has_object(&f));
        close_fixture(&f);
    }
}

/* Of many objects only those are looked at that are stored. */
static void test_the_fill_value_in_many_objects(void **state)
{
    (void)state;
    const zlg_axis axis = {.start = 3, .step = 1, .count = 59};
    const zlg_axis axes[3] = {axis, axis, axis};
    const zlg_selection box = {.kind = ZLG_BOX, .rank = 3, .axes = axes};
    fixture f;
    uint16_t *out = malloc(SIDE * SIDE * SIDE * sizeof *out);
    open_fixture(&f, 2, SIDE, CHUNK, CHUNK / 2, NULL);     /* 512 of them */
    write_cube(&f, 0, 2 * CHUNK + 1, ZLG_PROMISE_DEFAULT); /* into 27 */
    counts(&f);
    MUST(zlg_array_fill(f.array, &box, NULL, 0, NULL, err_));
    zlgi_store_counts c = counts(&f);
    assert_true(c.n_begins == 27 && c.n_puts == 19 && c.n_removes == 8);
    MUST(zlg_array_read(f.array, NULL, &(zlg_target){.data = out}, NULL, err_));
    for (int i = 0; i < SIDE * SIDE * SIDE; i++) {
        int x = i / SIDE / SIDE, y = i / SIDE % SIDE, z = i % SIDE;
        bool is_written = ZLGI_MAX(ZLGI_MAX(x, y), z) <= 2 * CHUNK;
        bool stays = is_written && ZLGI_MIN(ZLGI_MIN(x, y), z) < 3;
        uint16_t was = f.data[(x * (2 * CHUNK + 1) + y) * (2 * CHUNK + 1) + z];
        assert_int_equal(out[i], stays ? was : 0);
    }
    MUST(zlg_array_fill(f.array, NULL, NULL, 0, NULL, err_));
    counts(&f);
    MUST(zlg_array_fill(f.array, NULL, NULL, 0, NULL, err_)); /* nothing is stored */
    assert_int_equal(counts(&f).n_begins, 0);
    write_cube(&f, 0, SIDE, ZLG_PROMISE_DEFAULT); /* all are */
    counts(&f);
    MUST(zlg_array_fill(f.array, NULL, NULL, 0, NULL, err_));
    assert_int_equal(counts(&f).n_begins, 512);
    free(out);
    close_fixture(&f);
}

/* ------------------------------------------------------------------ memory */

static void test_no_allocation_for_each_inner_chunk(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, 1, SIDE, SHARD_SIDE, CHUNK, NULL);
    for (int i = 0; i < 2; i++)
        write_cube(&f, 0, SIDE, ZLG_PROMISE_DEFAULT);
    size_t n_before = f.heap.n_calls;
    write_cube(&f, 0, SIDE, ZLG_PROMISE_DEFAULT);
    assert_in_range(f.heap.n_calls - n_before, 0, 16); /* of 512, in 8 objects */
    close_fixture(&f);
}

static const char raw[] =
    "[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}]";

/* Beyond the caller's memory: for each worker an object encoded and decoded, and 16 MiB. */
static void check_peak(int n_threads, int64_t shard, const char *codecs, zlg_axis axis)
{
    enum { LARGE = 256 };
    fixture f;
    open_fixture(&f, n_threads, LARGE, shard, 32, codecs);
    size_t before = f.heap.n_bytes;
    write_cube(&f, 0, LARGE, ZLG_PROMISE_DEFAULT);
    f.heap.peak_bytes = f.heap.n_bytes;
    write_steps(&f, axis, ZLG_PROMISE_DEFAULT);
    size_t piece = (size_t)(shard * shard * shard) * sizeof *f.data;
    assert_in_range(f.heap.peak_bytes - before, 1,
                    (size_t)n_threads * 2 * piece + 16 * MIB);
    close_fixture(&f);
}

static void test_memory(void **state)
{
    (void)state;
    const zlg_axis all = {.step = 1, .count = 256};
    const zlg_axis most = {.start = 1, .step = 1, .count = 250};
    const zlg_axis strided = {.start = 1, .step = 3, .count = 85};
    static const char *const codecs[] = {NULL, raw};
    for (int i = 0; i < 2; i++) {
        check_peak(1, 128, codecs[i], all);
        check_peak(2, 128, codecs[i], all);
        check_peak(2, 128, codecs[i], most);
        check_peak(2, 256, codecs[i], all); /* one shard, both threads at it */
        check_peak(2, 256, codecs[i], most);
        check_peak(1, 256, codecs[i], strided); /* a part of each inner chunk stays */
        check_peak(2, 256, codecs[i], strided);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_objects_are_never_read),
        cmocka_unit_test(test_a_part_costs_one_read_and_one_write),
        cmocka_unit_test(test_a_batch_puts_each_object_once),
        cmocka_unit_test(test_no_allocation_for_each_inner_chunk),
        cmocka_unit_test(test_the_fill_value_costs_nothing),
        cmocka_unit_test(test_the_fill_value_in_many_objects),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
