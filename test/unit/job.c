/* Calls that end too late, and calls that end before their work is done. */
#define _GNU_SOURCE
#include <time.h>

#include "../fault/fault.h"
#include "zellige_ext.h"

/* ------------------------------------------------------------------ a slow codec */

enum { DEADLINE_MS = 10, HELD_MS = 30 };

/* What is passed on, and how long each chunk is held; a number below 0 fails then. */
typedef struct slow {
    int held_ms, n_chunks;
} slow;

static zlg_status slow_code(void *self, const zlg_decoded *from, zlg_bytes in,
                            zlg_output *output, zlg_error *err)
{
    slow *s = self;
    (void)from;
    s->n_chunks++;
    nanosleep(&(struct timespec){.tv_nsec = abs(s->held_ms) * 1000000L}, NULL);
    return s->held_ms < 0 ? ZLG_CORRUPT
                          : zlg_output_append(output, in.data, in.n_bytes, err);
}

static zlg_status slow_parse(void *self, const char *configuration, int zarr_format,
                             const zlg_decoded *from, void **out_state, zlg_error *err)
{
    (void)configuration, (void)zarr_format, (void)from, (void)err;
    *out_state = self;
    return ZLG_OK;
}

static const zlg_codec_methods slow_methods = {
    .n_bytes_struct = sizeof(zlg_codec_methods),
    .kind = ZLG_BYTES_TO_BYTES,
    .name = "example.slow",
    .id = "slow",
    .parse = slow_parse,
    .encode = slow_code,
    .decode = slow_code,
};

typedef struct fixture {
    zlg_ctx *ctx;
    zlg_store *store;
    slow slow;
} fixture;

static void open_fixture(fixture *f)
{
    zlg_ctx_options options = ZLG_CTX_OPTIONS_INIT;
    options.n_threads = 1;
    *f = (fixture){.slow = {.held_ms = 0}};
    MUST(zlg_ctx_new(&options, &f->ctx, err_));
    MUST(zlg_ctx_register_codec(f->ctx, &slow_methods, &f->slow, err_));
    MUST(zlg_store_open_memory(f->ctx, &f->store, err_));
}

static void close_fixture(fixture *f)
{
    zlg_store_close(f->store);
    zlg_ctx_close(f->ctx);
}

/* Nobody looks while a chunk is in hand, be it the last one. It is large: there is a look
 * at the clock before it is stored. */
static void test_a_deadline_within_the_last_chunk(void **state)
{
    (void)state;
    fixture f;
    zlg_error err;
    zlg_text text;
    open_fixture(&f);
    zlg_array *array = put_array(f.store, "a", "[65536]", "\"uint8\"", REGULAR("[65536]"),
                                 "0", "[" LITTLE ",\"example.slow\"]");
    static uint8_t data[65536], out[sizeof data];
    zlg_call call = ZLG_CALL_INIT;
    call.deadline_ms = DEADLINE_MS;
    memset(data, 7, sizeof data);
    const zlg_source source = {.data = data};

    f.slow.held_ms = HELD_MS;
    assert_int_equal(zlg_array_write(array, NULL, &source, &call, &err), ZLG_CANCELLED);
    assert_non_null(strstr(err.message, "the deadline passed"));
    assert_int_equal(zlg_store_get(f.store, "a/c/0", &text, NULL), ZLG_NOT_FOUND);
    MUST(zlg_array_write(array, NULL, &source, NULL, err_));

    assert_int_equal(zlg_array_read(array, NULL, &(zlg_target){.data = out}, &call, &err),
                     ZLG_CANCELLED);
    assert_int_equal(err.status, ZLG_CANCELLED);
    assert_non_null(strstr(err.message, "the deadline passed"));
    MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, NULL, err_));
    assert_memory_equal(out, data, sizeof data);

    f.slow.held_ms = -HELD_MS; /* what is wrong with a chunk is said, however late */
    assert_int_equal(zlg_array_read(array, NULL, &(zlg_target){.data = out}, &call, &err),
                     ZLG_CORRUPT);
    f.slow.held_ms = 0;
    call.deadline_ms = 60 * 1000;
    MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, &call, err_));
    zlg_array_close(array);
    close_fixture(&f);
}

/* Chunks behind the one in hand are not begun. */
static void test_a_deadline_between_chunks(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    zlg_array *array = put_array(f.store, "a", "[400]", "\"uint8\"", REGULAR("[4]"), "0",
                                 "[" LITTLE ",\"example.slow\"]");
    uint8_t out[400] = {1};
    memset(out, 1, sizeof out);
    MUST(zlg_array_write(array, NULL, &(zlg_source){.data = out}, NULL, err_));
    zlg_call call = ZLG_CALL_INIT;
    call.deadline_ms = DEADLINE_MS;
    f.slow = (slow){.held_ms = HELD_MS};
    assert_int_equal(zlg_array_read(array, NULL, &(zlg_target){.data = out}, &call, NULL),
                     ZLG_CANCELLED);
    assert_int_equal(f.slow.n_chunks, 1);
    zlg_array_close(array);
    close_fixture(&f);
}

/* ------------------------------------------------------------------ variable length */

/* A heap that cancels the call when it is asked for so many bytes. */
typedef struct trap {
    test_heap heap;
    size_t n_bytes;
    int cancel;
} trap;

static void *resize(void *self, void *block, size_t old_bytes, size_t new_bytes)
{
    trap *t = self;
    if (new_bytes == t->n_bytes)
        t->cancel = 1;
    return test_heap_resize(&t->heap, block, old_bytes, new_bytes);
}

/* Elements are joined when all else is done, which takes long for millions. */
static void test_joining_that_nobody_waits_for(void **state)
{
    (void)state;
    enum { N = 70000, N_BYTES = (N + 1) * 8 + 3 * N };
    trap t = {.n_bytes = SIZE_MAX};
    zlg_ctx *ctx;
    zlg_store *store;
    zlg_varlen result = {.block = NULL};
    zlg_error err;
    zlg_ctx_options options = ZLG_CTX_OPTIONS_INIT;
    test_heap_init(&t.heap);
    options.allocator = (zlg_allocator){.resize = resize, .self = &t};
    options.n_threads = 1;
    MUST(zlg_ctx_new(&options, &ctx, err_));
    MUST(zlg_store_open_memory(ctx, &store, err_));
    zlg_array *array = put_array(store, "a", "[70000]", "\"string\"", REGULAR("[10000]"),
                                 "\"abc\"", "[\"vlen-utf8\"]");
    zlg_call call = ZLG_CALL_INIT;
    call.cancel = &t.cancel;
    MUST(zlg_array_read_varlen(array, NULL, &result, &call, err_));
    assert_int_equal(result.offsets[N], 3 * N);
    zlg_varlen_free(&result);
    size_t n_bytes = t.heap.n_bytes;
    t.n_bytes = N_BYTES;
    assert_int_equal(zlg_array_read_varlen(array, NULL, &result, &call, &err),
                     ZLG_CANCELLED);
    assert_int_equal(err.status, ZLG_CANCELLED);
    assert_int_equal(t.cancel, 1);
    assert_int_equal(t.heap.n_bytes, n_bytes);
    zlg_array_close(array);
    zlg_store_close(store);
    zlg_ctx_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_deadline_within_the_last_chunk),
        cmocka_unit_test(test_a_deadline_between_chunks),
        cmocka_unit_test(test_joining_that_nobody_waits_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
