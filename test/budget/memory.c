/*
 * Label: engine
 * The memory budget: what large pieces take at the same time, and that nobody waits for
 * bytes that will not come. Caches off.
 */
#define _GNU_SOURCE
#include "../fault/fault.h"
#include "../store/folder.h"
#include "heap.h"

enum { PIECE = 8 << 20, N_PIECES = 8, MIB = 1 << 20 };

typedef struct fixture {
    test_folder folder;
    shared_heap heap;
    zlg_ctx *ctx;
    zlg_store *store;
    zlg_array *array;
    uint8_t *elements, *out;
} fixture;

/* Four threads and a budget smaller than one piece. */
static void open_fixture(fixture *f, const char *codecs)
{
    zlg_ctx_options options = ZLG_CTX_OPTIONS_INIT;
    uint64_t seed = 5;
    memset(f, 0, sizeof *f);
    pthread_mutex_init(&f->heap.lock, NULL);
    options.allocator = (zlg_allocator){.resize = shared_resize, .self = &f->heap};
    options.n_threads = 4;
    options.index_cache = -1;
    options.memory_budget = 4 * MIB;
    test_folder_make(&f->folder);
    MUST(zlg_ctx_new(&options, &f->ctx, err_));
    MUST(zlg_store_open_fs(f->ctx, f->folder.path, NULL, &f->store, err_));
    f->array = put_array(f->store, "", "[67108864]", "\"uint8\"", REGULAR("[8388608]"), "0",
                         codecs);
    f->elements = malloc((size_t)N_PIECES * PIECE);
    f->out = malloc((size_t)2 * N_PIECES * PIECE);
    for (size_t i = 0; i < (size_t)N_PIECES * PIECE; i += 8) {
        uint64_t bits = test_random(&seed) & UINT64_C(0x0f0f0f0f0f0f0f0f);
        memcpy(f->elements + i, &bits, 8); /* half of it can be saved */
    }
}

static void close_fixture(fixture *f)
{
    zlg_array_close(f->array);
    zlg_store_close(f->store);
    zlg_ctx_close(f->ctx);
    assert_int_equal(f->heap.n_bytes, 0);
    free(f->elements);
    free(f->out);
    test_folder_remove(&f->folder);
}

static size_t peak_since(fixture *f, size_t before)
{
    size_t peak = f->heap.peak_bytes - before;
    f->heap.peak_bytes = f->heap.n_bytes;
    return peak;
}

/* A piece at a time: written, it is gathered, on its way, and encoded; read, it is stored
 * and decoded. Small buffers are not counted. */
static void check_peaks(const char *codecs)
{
    enum { SMALL = 4 * 4 * MIB };
    fixture f;
    open_fixture(&f, codecs);
    size_t before = f.heap.n_bytes;
    MUST(zlg_array_write(f.array, NULL, &(zlg_source){.data = f.elements}, NULL, err_));
    assert_in_range(peak_since(&f, before), PIECE, 3 * PIECE + SMALL);
    const ptrdiff_t stride = 2;
    zlg_target target = {.data = f.out, .strides = &stride};
    for (int i = 0; i < 2; i++) {
        before = f.heap.n_bytes;
        MUST(zlg_array_read(f.array, NULL, &target, NULL, err_));
        assert_in_range(peak_since(&f, before), PIECE, 2 * PIECE + SMALL);
    }
    for (size_t i = 0; i < (size_t)N_PIECES * PIECE; i += 997)
        assert_int_equal(f.out[2 * i], f.elements[i]);
    close_fixture(&f);
}

static void test_large_chunks_go_one_by_one(void **state)
{
    (void)state;
    check_peaks("[" LITTLE "," ZSTD "]");
}

static void test_large_inner_chunks_go_one_by_one(void **state)
{
    (void)state;
    check_peaks("[" SHARD("[8388608]", "[" LITTLE "," ZSTD "]") "]");
}

/* ------------------------------------------------------------------ gathers */

enum { SIDE = 4096, N_ELEMENTS = SIDE * SIDE };

/* The array anew, in a context that has not kept anything. */
static void reopen(fixture *f, int n_threads)
{
    zlg_ctx_options options = ZLG_CTX_OPTIONS_INIT;
    zlg_array_close(f->array);
    zlg_store_close(f->store);
    zlg_ctx_close(f->ctx);
    assert_int_equal(f->heap.n_bytes, 0);
    options.allocator = (zlg_allocator){.resize = shared_resize, .self = &f->heap};
    options.n_threads = n_threads;
    options.index_cache = -1;
    MUST(zlg_ctx_new(&options, &f->ctx, err_));
    MUST(zlg_store_open_fs(f->ctx, f->folder.path, NULL, &f->store, err_));
    MUST(zlg_array_open(f->store, "wide", NULL, &f->array, err_));
    f->heap.peak_bytes = f->heap.n_bytes;
}

static void open_wide(fixture *f, const char *grid, const char *codecs)
{
    open_fixture(f, "[" LITTLE "]");
    zlg_array_close(f->array);
    f->array = put_array(f->store, "wide", "[4096,4096]", "\"uint8\"", grid, "0", codecs);
    MUST(zlg_array_write(f->array, NULL, &(zlg_source){.data = f->elements}, NULL, err_));
}

/* Every element, one in some, a row and one, or the first half: nothing but the table of
 * counts comes on top of the pieces in hand. */
static void check_masks(const char *grid, const char *codecs, size_t piece)
{
    enum { N_THREADS = 2, COUNTS = N_ELEMENTS / 64, SMALL = 3 * MIB / 2 };
    fixture f;
    uint8_t *mask = calloc(N_ELEMENTS, 1);
    open_wide(&f, grid, codecs);
    for (int kind = 0; kind < 4; kind++) {
        size_t n = 0;
        const zlg_selection selection = {.kind = ZLG_MASK, .rank = 2, .mask = mask};
        for (size_t i = 0; i < N_ELEMENTS; i++)
            mask[i] = kind == 0   ? 1
                      : kind == 1 ? i % 1009 == 0
                      : kind == 2 ? i / SIDE == 100 || i == N_ELEMENTS - 1
                                  : i < N_ELEMENTS / 2;
        reopen(&f, N_THREADS);
        size_t before = f.heap.n_bytes;
        MUST(zlg_array_read(f.array, &selection, &(zlg_target){.data = f.out}, NULL, err_));
        assert_in_range(peak_since(&f, before), COUNTS,
                        COUNTS + N_THREADS * (2 * piece + SMALL));
        for (size_t i = 0; i < N_ELEMENTS; i++)
            if (mask[i] && f.out[n++] != f.elements[i])
                fail_msg("element %zu", i);
    }
    free(mask);
    close_fixture(&f);
}

static void test_masks_of_one_chunk(void **state)
{
    (void)state;
    /* One thread can work at it, so this is half of what is allowed. */
    check_masks(REGULAR("[4096,4096]"), "[" LITTLE "," ZSTD "]", N_ELEMENTS / 2);
}

static void test_masks_of_a_shard(void **state)
{
    (void)state;
    check_masks(REGULAR("[4096,4096]"), "[" SHARD("[64,64]", "[" LITTLE "," ZSTD "]") "]",
                64 * 64);
}

static void test_masks_of_what_is_not_compressed(void **state)
{
    (void)state;
    check_masks(REGULAR("[4096,4096]"), "[" LITTLE "]", 512 << 10);
    check_masks(REGULAR("[3000,2500]"), "[" TRANSPOSE("[1,0]") "," LITTLE "]", 512 << 10);
}

static void test_masks_of_many_chunks(void **state)
{
    (void)state;
    check_masks(REGULAR("[128,256]"), "[" TRANSPOSE("[1,0]") "," LITTLE "," ZSTD "]",
                128 * 256);
}

/* Points take 8 bytes each to be sorted by object, and once more where they are sorted by
 * inner chunk; qsort would take its own behind the allocator's back. */
static void test_points_of_a_shard(void **state)
{
    (void)state;
    enum { N_POINTS = 1 << 20, N_INNER = 64 * 64, SMALL = 2 * 3 * MIB / 2 };
    fixture f;
    uint64_t seed = 3;
    int64_t *lists[2] = {malloc(N_POINTS * sizeof(int64_t)), malloc(N_POINTS * 8)};
    const int64_t *const coordinates[2] = {lists[0], lists[1]};
    const zlg_selection selection = {
        .kind = ZLG_POINTS, .rank = 2, .coordinates = coordinates, .n_points = N_POINTS};
    for (int i = 0; i < N_POINTS; i++)
        for (int k = 0; k < 2; k++)
            lists[k][i] = (int64_t)(test_random(&seed) % SIDE);
    open_wide(&f, REGULAR("[4096,4096]"),
              "[" SHARD("[64,64]", "[" LITTLE "," ZSTD "]") "]");
    for (int n_threads = 1; n_threads <= 2; n_threads++) {
        reopen(&f, n_threads);
        size_t before = f.heap.n_bytes;
        MUST(zlg_array_read(f.array, &selection, &(zlg_target){.data = f.out}, NULL, err_));
        assert_in_range(peak_since(&f, before), 8 * N_POINTS,
                        16 * N_POINTS + 32 * N_INNER + SMALL);
        for (int i = 0; i < N_POINTS; i++)
            assert_int_equal(f.out[i], f.elements[lists[0][i] * SIDE + lists[1][i]]);
    }
    free(lists[0]);
    free(lists[1]);
    close_fixture(&f);
}

/* A chunk that a store in memory lends may hold any byte for true. Of one element one is
 * changed, in the result, and nothing is copied. */
static void test_an_element_of_a_lent_chunk(void **state)
{
    (void)state;
    enum { N = 16 * MIB, N_WANTED = 3 };
    static const int64_t list[N_WANTED] = {N - 1, 5, N / 2};
    static const int64_t *const coordinates[1] = {list};
    const zlg_axis axis = {.list = list, .count = N_WANTED};
    zlg_selection selections[] = {
        {.kind = ZLG_BOX, .rank = 1, .axes = &axis},
        {.kind = ZLG_POINTS, .rank = 1, .coordinates = coordinates, .n_points = N_WANTED},
        {.kind = ZLG_MASK, .rank = 1}};
    fixture f;
    zlg_store *store;
    uint8_t *bytes = malloc(N), *mask = calloc(N, 1);
    open_fixture(&f, "[" LITTLE "]");
    MUST(zlg_store_open_memory(f.ctx, &store, err_));
    zlg_array *array = put_array(store, "", "[16777216]", "\"bool\"", REGULAR("[16777216]"),
                                 "false", "[" LITTLE "]");
    for (size_t i = 0; i < N; i++)
        bytes[i] = (uint8_t)(i % 3);
    for (int i = 0; i < N_WANTED; i++)
        mask[list[i]] = 1;
    selections[2].mask = mask;
    MUST(zlg_store_put(store, "c/0", bytes, N, err_));
    for (size_t s = 0; s < ZLGI_COUNT(selections); s++) {
        uint8_t out[2 * N_WANTED] = {9, 9, 9, 9, 9, 9};
        const ptrdiff_t stride = 2;
        size_t before = f.heap.n_bytes;
        f.heap.peak_bytes = before;
        zlg_target target = {.data = out, .strides = &stride};
        MUST(zlg_array_read(array, &selections[s], &target, NULL, err_));
        assert_in_range(peak_since(&f, before), 0, MIB);
        for (int i = 0; i < N_WANTED; i++) {
            int64_t at =
                list[s < 2 ? i : (i + 1) % N_WANTED]; /* a mask has them in order */
            assert_int_equal(out[2 * i], at % 3 != 0);
            assert_int_equal(out[2 * i + 1], 9);
        }
    }
    zlg_array_close(array);
    zlg_store_close(store);
    free(bytes);
    free(mask);
    close_fixture(&f);
}

/* The caller's own function reads a large piece while its call holds the budget. */
typedef struct reader {
    zlg_array *array;
    uint8_t *out;
    int n_reads;
} reader;

static int read_meanwhile(void *user, uint64_t n_done, uint64_t n_all)
{
    reader *r = user;
    const zlg_axis axis = {.start = 1, .step = 2, .count = PIECE / 2};
    const zlg_selection box = {.kind = ZLG_BOX, .rank = 1, .axes = &axis};
    (void)n_done, (void)n_all;
    MUST(zlg_array_read(r->array, &box, &(zlg_target){.data = r->out}, NULL, err_));
    r->n_reads++;
    return 0;
}

static void test_a_poll_may_read(void **state)
{
    (void)state;
    enum { SLEEP_MS = 60 }; /* longer than from poll to poll */
    zlg_ctx_options options = ZLG_CTX_OPTIONS_INIT;
    zlg_ctx *ctx;
    zlg_call call = ZLG_CALL_INIT;
    uint8_t *elements = calloc(2, PIECE), *out = malloc((size_t)4 * PIECE);
    options.n_threads = 1;
    options.memory_budget = MIB;
    MUST(zlg_ctx_new(&options, &ctx, err_));
    fault_store *store = fault_store_open(ctx);
    reader r = {.out = malloc(PIECE)};
    r.array = put_array(&store->base, "", "[16777216]", "\"uint8\"", REGULAR("[8388608]"),
                        "0", "[" LITTLE "," ZSTD "]");
    memset(elements, 7, (size_t)2 * PIECE);
    MUST(zlg_array_write(r.array, NULL, &(zlg_source){.data = elements}, NULL, err_));
    store->sleep_us = SLEEP_MS * 1000;
    call.poll = read_meanwhile;
    call.user = &r;
    const ptrdiff_t stride = 2;
    zlg_target target = {.data = out, .strides = &stride};
    MUST(zlg_array_read(r.array, NULL, &target, &call, err_));
    assert_in_range(r.n_reads, 1, 8);
    assert_int_equal(out[0], 7);
    assert_int_equal(r.out[PIECE / 2 - 1], 7);
    zlg_array_close(r.array);
    zlg_store_close(&store->base);
    zlg_ctx_close(ctx);
    free(elements);
    free(out);
    free(r.out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_large_chunks_go_one_by_one),
        cmocka_unit_test(test_large_inner_chunks_go_one_by_one),
        cmocka_unit_test(test_masks_of_one_chunk),
        cmocka_unit_test(test_masks_of_a_shard),
        cmocka_unit_test(test_masks_of_what_is_not_compressed),
        cmocka_unit_test(test_masks_of_many_chunks),
        cmocka_unit_test(test_points_of_a_shard),
        cmocka_unit_test(test_an_element_of_a_lent_chunk),
        cmocka_unit_test(test_a_poll_may_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
