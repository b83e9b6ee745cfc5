/*
 * Label: engine
 * The memory budget: what large pieces take at the same time, and that nobody waits for
 * bytes that will not come. Caches off.
 */
#define _GNU_SOURCE
#include "../fault/fault.h"
#include "../store/folder.h"

enum { PIECE = 8 << 20, N_PIECES = 8, MIB = 1 << 20 };

/* Bytes alive, from any thread. */
typedef struct shared_heap {
    pthread_mutex_t lock;
    size_t n_bytes, peak_bytes;
} shared_heap;

static void *shared_resize(void *self, void *block, size_t old_bytes, size_t new_bytes)
{
    shared_heap *heap = self;
    pthread_mutex_lock(&heap->lock);
    heap->n_bytes += new_bytes - old_bytes;
    heap->peak_bytes = ZLGI_MAX(heap->peak_bytes, heap->n_bytes);
    pthread_mutex_unlock(&heap->lock);
    if (new_bytes == 0) {
        free(block);
        return NULL;
    }
    return realloc(block, new_bytes);
}

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
        cmocka_unit_test(test_a_poll_may_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
