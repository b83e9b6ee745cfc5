/*
 * Label: engine
 * What reads cost, counted: opens, requests, bytes, allocations, decodes, memory. Each
 * test says which caches are on.
 */
#define _GNU_SOURCE
#include "../store/folder.h"
#include "heap.h"

#include "core/core.h"

enum { SIDE = 64, CHUNK = 8, SHARD = 32 }; /* 8 shards of 64 inner chunks, uint16 */

typedef struct fixture {
    test_folder folder;
    shared_heap heap;
    zlg_ctx *ctx;
    zlg_store *files, *counting;
    zlg_array *array;
    uint16_t *out;
} fixture;

static void *open_fixture(fixture *f, int64_t index_cache, int n_threads,
                          const char *codecs)
{
    zlg_error err = {0};
    zlg_ctx_options options = ZLG_CTX_OPTIONS_INIT;
    memset(f, 0, sizeof *f);
    pthread_mutex_init(&f->heap.lock, NULL);
    f->heap.alloc = (zlg_allocator){.resize = shared_resize, .self = &f->heap};
    options.allocator = f->heap.alloc;
    options.index_cache = index_cache;
    options.n_threads = n_threads;
    test_folder_make(&f->folder);
    assert_int_equal(zlg_ctx_new(&options, &f->ctx, &err), ZLG_OK);
    assert_int_equal(zlg_store_open_fs(f->ctx, f->folder.path, NULL, &f->files, &err),
                     ZLG_OK);
    assert_int_equal(zlgi_counting_open(&f->ctx->alloc, f->files, &f->counting, &err),
                     ZLG_OK);
    zlgi_store_adopt(f->ctx, f->counting);
    const int64_t shape[3] = {SIDE, SIDE, SIDE}, object[3] = {SHARD, SHARD, SHARD};
    const int64_t chunk[3] = {CHUNK, CHUNK, CHUNK};
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    spec.rank = 3;
    spec.shape = shape;
    spec.object_shape = object;
    bool own_shards = codecs && strstr(codecs, "sharding_indexed");
    spec.chunk_shape = own_shards ? NULL : chunk;
    spec.data_type = "uint16";
    spec.codecs = codecs;
    if (zlg_array_create(f->counting, "", &spec, &f->array, &err) != ZLG_OK)
        fail_msg("%s", err.message);
    size_t n = (size_t)SIDE * SIDE * SIDE;
    f->out = malloc(n * sizeof *f->out);
    uint64_t seed = 7;
    for (size_t i = 0; i < n; i++)
        f->out[i] = (uint16_t)test_random(&seed);
    assert_int_equal(
        zlg_array_write(f->array, NULL, &(zlg_source){.data = f->out}, NULL, &err), ZLG_OK);
    usleep(30000); /* until the version tags of the files can be trusted */
    return f;
}

static void close_fixture(fixture *f)
{
    zlg_array_close(f->array);
    zlg_store_close(f->counting);
    zlg_store_close(f->files);
    zlg_ctx_close(f->ctx);
    assert_int_equal(f->heap.n_bytes, 0);
    free(f->out);
    test_folder_remove(&f->folder);
}

static zlgi_store_counts since(fixture *f, zlgi_store_counts before)
{
    zlgi_store_counts now = zlgi_counting_get(f->counting);
    now.n_opens -= before.n_opens;
    now.n_reads -= before.n_reads;
    now.n_bytes_read -= before.n_bytes_read;
    return now;
}

static zlgi_store_counts read_box(fixture *f, int64_t start, int64_t count,
                                  zlg_stats *stats)
{
    zlg_axis axes[3];
    for (int i = 0; i < 3; i++)
        axes[i] = (zlg_axis){.start = start, .step = 1, .count = count};
    zlg_selection box = {.kind = ZLG_BOX, .rank = 3, .axes = axes};
    zlg_target target = {.data = f->out};
    zlg_call call = ZLG_CALL_INIT;
    zlg_error err = {0};
    *stats = (zlg_stats)ZLG_STATS_INIT;
    call.stats = stats;
    zlgi_store_counts before = zlgi_counting_get(f->counting);
    if (zlg_array_read(f->array, &box, &target, &call, &err) != ZLG_OK)
        fail_msg("%s", err.message);
    return since(f, before);
}

static const char *const ZSTD =
    "[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}},"
    "{\"name\":\"zstd\",\"configuration\":{\"level\":1,\"checksum\":false}}]";
static const char *const RAW =
    "[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}]";

/* Caches off. Everything: each of the 8 objects once, 64 inner chunks each. */
static void test_one_open_per_object(void **state)
{
    (void)state;
    fixture f;
    zlg_stats stats = ZLG_STATS_INIT;
    open_fixture(&f, -1, 3, ZSTD);
    zlgi_store_counts counts = read_box(&f, 0, SIDE, &stats);
    assert_int_equal(counts.n_opens, 8);
    assert_int_equal(stats.n_opened, 8);
    assert_int_equal(stats.n_chunks, 512);
    assert_int_equal(stats.n_objects, 8);
    close_fixture(&f);
}

/* Caches off. A box inside one shard asks nothing of the others, and of this one its
 * index, the wanted chunk and no more than the gap. */
static void test_one_chunk(void **state)
{
    (void)state;
    fixture f;
    zlg_stats stats = ZLG_STATS_INIT;
    open_fixture(&f, -1, 3, RAW);
    zlgi_store_counts counts = read_box(&f, SHARD, CHUNK, &stats);
    size_t index = 64 * 16 + 4, chunk = CHUNK * CHUNK * CHUNK * 2;
    assert_int_equal(counts.n_opens, 1);
    assert_int_equal(counts.n_reads, 2);
    assert_int_equal(counts.n_bytes_read, index + chunk);
    assert_int_equal(stats.n_chunks, 1);
    close_fixture(&f);
}

/* Index cache on: the second read of the shard asks for no index. */
static void test_cached_index(void **state)
{
    (void)state;
    fixture f;
    zlg_stats stats = ZLG_STATS_INIT;
    open_fixture(&f, 0, 3, RAW);
    read_box(&f, SHARD, CHUNK, &stats);
    assert_int_equal(stats.n_index_hits, 0);
    zlgi_store_counts counts = read_box(&f, SHARD + CHUNK, CHUNK, &stats);
    assert_int_equal(stats.n_index_hits, 1);
    assert_int_equal(counts.n_opens, 1);
    assert_int_equal(counts.n_reads, 1);
    assert_int_equal(counts.n_bytes_read, CHUNK * CHUNK * CHUNK * 2);
    close_fixture(&f);
}

/* Index cache on. A changed shard is not answered from its old index. */
static void test_changed_shard(void **state)
{
    (void)state;
    fixture f;
    zlg_stats stats = ZLG_STATS_INIT;
    open_fixture(&f, 0, 1, ZSTD);
    read_box(&f, 0, SIDE, &stats);
    size_t n = (size_t)SIDE * SIDE * SIDE;
    uint16_t *other = calloc(n, sizeof *other);
    for (size_t i = 0; i < n; i++)
        other[i] = (uint16_t)(i / 3);
    assert_int_equal(
        zlg_array_write(f.array, NULL, &(zlg_source){.data = other}, NULL, NULL), ZLG_OK);
    read_box(&f, 0, SIDE, &stats);
    assert_int_equal(stats.n_index_hits, 0);
    assert_memory_equal(f.out, other, n * sizeof *other);
    free(other);
    close_fixture(&f);
}

/* Index cache on. A dense read joins chunks: at most one read per half megabyte. */
static void test_dense_reads_are_joined(void **state)
{
    (void)state;
    fixture f;
    zlg_stats stats = ZLG_STATS_INIT;
    open_fixture(&f, 0, 1, RAW);
    read_box(&f, 0, SIDE, &stats);
    zlgi_store_counts counts = read_box(&f, 0, SIDE, &stats);
    assert_int_equal(counts.n_reads, 8); /* a shard of 64 KiB is one run */
    assert_int_equal(counts.n_bytes_read, SIDE * SIDE * SIDE * 2);
    close_fixture(&f);
}

/* Index cache on. Calls that repeat allocate the same small number, chunks or not. */
static void test_no_allocation_per_chunk(void **state)
{
    (void)state;
    fixture f;
    zlg_stats stats = ZLG_STATS_INIT;
    open_fixture(&f, 0, 2, ZSTD);
    read_box(&f, 0, SIDE, &stats);
    read_box(&f, 0, SIDE, &stats);
    size_t before = f.heap.n_calls;
    for (int i = 0; i < 10; i++)
        read_box(&f, 0, SIDE, &stats);
    /* 512 chunks a call; the plan's arena and nothing else. */
    assert_true(f.heap.n_calls - before <= 10 * 4);
    assert_int_equal(stats.n_allocations, 0);
    close_fixture(&f);
}

#define LITTLE "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}"
#define SHARD_OF(chunk, codecs)                                                            \
    "[{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":" chunk            \
    ",\"codecs\":" codecs ",\"index_codecs\":[" LITTLE "]}}]"

/* Index cache on. Shards inside a shard have indexes, which cost no allocation either. */
static void test_no_allocation_per_inner_shard(void **state)
{
    (void)state;
    fixture f;
    zlg_stats stats = ZLG_STATS_INIT;
    open_fixture(&f, 0, 1, SHARD_OF("[8,8,8]", SHARD_OF("[4,4,4]", "[" LITTLE "]")));
    read_box(&f, 0, SIDE, &stats);
    read_box(&f, 0, SIDE, &stats);
    size_t before = f.heap.n_calls;
    read_box(&f, 0, SIDE, &stats);
    assert_int_equal(stats.n_chunks, 8 * 512);
    assert_true(f.heap.n_calls - before <= 4);
    assert_int_equal(stats.n_allocations, 0);
    close_fixture(&f);
}

/* Caches off. Many points and boxes in the same chunks: each decoded once. */
static void test_batch_decodes_once(void **state)
{
    (void)state;
    enum { N_BOXES = 50, N_POINTS = 500 };
    fixture f;
    open_fixture(&f, -1, 3, ZSTD);
    static int64_t lists[3][N_POINTS];
    uint64_t seed = 3;
    for (int i = 0; i < N_POINTS; i++)
        for (int k = 0; k < 3; k++)
            lists[k][i] = (int64_t)(test_random(&seed) % CHUNK) + (k == 0 ? SHARD : 0);
    const int64_t *coordinates[3] = {lists[0], lists[1], lists[2]};
    zlg_selection points = {
        .kind = ZLG_POINTS, .rank = 3, .coordinates = coordinates, .n_points = N_POINTS};
    zlg_axis axes[3] = {{.start = SHARD + 1, .step = 1, .count = 3},
                        {.start = 2, .step = 1, .count = 5},
                        {.start = 0, .step = 2, .count = 4}};
    zlg_selection box = {.kind = ZLG_BOX, .rank = 3, .axes = axes};
    zlg_read reads[N_BOXES + 1];
    uint16_t *out = malloc(N_POINTS * 2 + N_BOXES * 60 * 2);
    for (int i = 0; i < N_BOXES; i++)
        reads[i] = (zlg_read){.array = f.array,
                              .selection = &box,
                              .target = {.data = out + N_POINTS + i * 60}};
    reads[N_BOXES] =
        (zlg_read){.array = f.array, .selection = &points, .target = {.data = out}};
    zlg_stats stats = ZLG_STATS_INIT;
    zlg_call call = ZLG_CALL_INIT;
    call.stats = &stats;
    assert_int_equal(zlg_read_many(reads, N_BOXES + 1, &call, NULL), ZLG_OK);
    assert_int_equal(stats.n_chunks, 1);
    assert_int_equal(stats.n_opened, 1);
    for (int i = 1; i < N_BOXES; i++)
        assert_memory_equal(out + N_POINTS, out + N_POINTS + i * 60, 120);
    free(out);
    close_fixture(&f);
}

/* Index cache on. Memory beyond the result: workers x (run + scratch) + 16 MiB. */
static void test_peak_memory(void **state)
{
    (void)state;
    fixture f;
    zlg_stats stats = ZLG_STATS_INIT;
    open_fixture(&f, 0, 3, ZSTD);
    f.heap.peak_bytes = f.heap.n_bytes;
    size_t before = f.heap.n_bytes;
    read_box(&f, 0, SIDE, &stats);
    size_t piece = CHUNK * CHUNK * CHUNK * 2;
    assert_true(f.heap.peak_bytes - before <= 3 * (512 * 1024 + 2 * piece) + (16 << 20));
    close_fixture(&f);
}

/* Caches off. Objects that are not there are asked for once, and nothing is read. */
static void test_missing_objects(void **state)
{
    (void)state;
    fixture f;
    zlg_stats stats = ZLG_STATS_INIT;
    open_fixture(&f, -1, 2, ZSTD);
    for (int i = 0; i < 8; i++) {
        char key[32];
        snprintf(key, sizeof key, "c/%d/%d/%d", i / 4, i / 2 % 2, i % 2);
        assert_int_equal(zlg_store_delete(f.counting, key, NULL), ZLG_OK);
    }
    zlgi_store_counts counts = read_box(&f, 0, SIDE, &stats);
    assert_int_equal(counts.n_opens, 8);
    assert_int_equal(counts.n_reads, 0);
    assert_int_equal(stats.n_missing, 8);
    assert_int_equal(f.out[SIDE * SIDE * SIDE - 1], 0);
    close_fixture(&f);
}

/* A chunk too large to decode is read by range when it is not compressed. */
static void test_raw_chunk_beyond_limit(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, -1, 2, RAW);
    zlg_error err = {0};
    zlg_ctx_options options = ZLG_CTX_OPTIONS_INIT;
    zlg_limits limits = ZLG_LIMITS_INIT;
    options.limits = &limits;
    limits.chunk_bytes = 4096; /* the chunk below has 64 KiB */
    zlg_ctx *ctx;
    zlg_store *store;
    zlg_array *array;
    assert_int_equal(zlg_ctx_new(&options, &ctx, &err), ZLG_OK);
    assert_int_equal(zlg_store_open_fs(ctx, f.folder.path, NULL, &store, &err), ZLG_OK);
    const char *document =
        "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[32768],\"data_type\":"
        "\"uint16\","
        "\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[32768]}},"
        "\"chunk_key_encoding\":{\"name\":\"default\"},\"fill_value\":0,"
        "\"codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"big\"}}]}";
    uint8_t *chunk = malloc(65536);
    for (int i = 0; i < 65536; i++)
        chunk[i] = (uint8_t)(i * 7);
    assert_int_equal(
        zlg_store_put(store, "long/zarr.json", document, strlen(document), &err), ZLG_OK);
    assert_int_equal(zlg_store_put(store, "long/c/0", chunk, 65536, &err), ZLG_OK);
    if (zlg_array_open(store, "long", NULL, &array, &err) != ZLG_OK)
        fail_msg("%s", err.message);
    zlg_axis axis = {.start = 1000, .step = 3, .count = 500};
    zlg_selection box = {.kind = ZLG_BOX, .rank = 1, .axes = &axis};
    uint16_t out[500];
    zlg_stats stats = ZLG_STATS_INIT;
    zlg_call call = ZLG_CALL_INIT;
    call.stats = &stats;
    if (zlg_array_read(array, &box, &(zlg_target){.data = out}, &call, &err) != ZLG_OK)
        fail_msg("%s", err.message);
    for (int i = 0; i < 500; i++) {
        const uint8_t *at = chunk + 2 * (1000 + 3 * i);
        assert_int_equal(out[i], at[0] << 8 | at[1]);
    }
    assert_true(stats.n_bytes_read <= 3 * 500 * 2);
    free(chunk);
    zlg_array_close(array);
    zlg_store_close(store);
    zlg_ctx_close(ctx);
    close_fixture(&f);
}

/* The cancel flag reports itself; the next call is not affected. */
static void test_cancel(void **state)
{
    (void)state;
    fixture f;
    zlg_stats stats = ZLG_STATS_INIT;
    zlg_error err = {0};
    open_fixture(&f, 0, 3, ZSTD);
    int cancel = 1;
    zlg_call call = ZLG_CALL_INIT;
    zlg_target target = {.data = f.out};
    call.cancel = &cancel;
    assert_int_equal(zlg_array_read(f.array, NULL, &target, &call, &err), ZLG_CANCELLED);
    assert_int_equal(err.status, ZLG_CANCELLED);
    assert_non_null(strstr(err.message, "stopped by the caller"));
    read_box(&f, 0, SIDE, &stats);
    assert_int_equal(stats.n_chunks, 512);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_open_per_object),
        cmocka_unit_test(test_one_chunk),
        cmocka_unit_test(test_cached_index),
        cmocka_unit_test(test_changed_shard),
        cmocka_unit_test(test_dense_reads_are_joined),
        cmocka_unit_test(test_no_allocation_per_chunk),
        cmocka_unit_test(test_no_allocation_per_inner_shard),
        cmocka_unit_test(test_batch_decodes_once),
        cmocka_unit_test(test_peak_memory),
        cmocka_unit_test(test_missing_objects),
        cmocka_unit_test(test_raw_chunk_beyond_limit),
        cmocka_unit_test(test_cancel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
