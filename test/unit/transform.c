/* Transforms: where they are called, what they may do, and how they fail. */
#define _GNU_SOURCE
#include "change_test.h"

typedef struct counter {
    int n; /* atomic */
    zlg_status fails;
    const char *message;
    int64_t last[3], shape[3];
    const void *bytes;
    size_t n_bytes, n_bytes_elements;
} counter;

static zlg_status count(void *user, zlg_read_chunk *chunk, zlg_error *err)
{
    counter *c = user;
    __atomic_fetch_add(&c->n, 1, __ATOMIC_RELAXED);
    if (c->fails && c->message)
        return zlgi_fail(err, c->fails, "%s", c->message);
    if (c->fails)
        return c->fails;
    memset(chunk->elements, 0x11, chunk->n_bytes_elements);
    return ZLG_OK;
}

static zlg_call call_with(counter *c)
{
    zlg_call call = ZLG_CALL_INIT;
    memset(c, 0, sizeof *c);
    call.transform = count;
    call.transform_user = c;
    return call;
}

/* Each chunk once, however many reads want it; a raw chunk is read whole. */
static void test_once_for_each_chunk(void **state)
{
    (void)state;
    static const struct {
        const char *codecs;
        int n_all;
    } cases[] = {{"[" LITTLE "]", 4},
                 {"[" BIG "," ZSTD "]", 4},
                 {"[" SHARD("[100,100]", "[" LITTLE "]") "]", 400},
                 {"[" TRANSPOSE("[1,0]") "," SHARD("[100,500]", "[" BIG "]") "]", 80}};
    uint16_t *elements = malloc(4000000 * 2), *out = malloc(4000000 * 2);
    for (int i = 0; i < 4000000; i++)
        elements[i] = (uint16_t)(1 + i % 1000);
    for (size_t i = 0; i < ZLGI_COUNT(cases) * N_STORES; i++) {
        fixture f;
        counter c;
        open_fixture(&f);
        zlg_array *array =
            put_array(f.stores[i % N_STORES], "", "[2000,2000]", "\"uint16\"",
                      REGULAR("[1000,1000]"), "0", cases[i / N_STORES].codecs);
        MUST(zlg_array_write(array, NULL, &(zlg_source){.data = elements}, NULL, err_));
        zlg_call call = call_with(&c);
        MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, &call, err_));
        assert_int_equal(c.n, cases[i / N_STORES].n_all);
        for (int k = 0; k < 4000000; k++)
            if (out[k] != 0x1111)
                fail_msg("element %d", k);
        const zlg_axis one[2] = {{.start = 999, .step = 1, .count = 1},
                                 {.start = 999, .step = 1, .count = 1}};
        const zlg_selection box = {.kind = ZLG_BOX, .rank = 2, .axes = one};
        const zlg_read reads[] = {{array, &box, {.data = out}},
                                  {array, &box, {.data = out + 1}},
                                  {array, &box, {.data = out + 2}}};
        call = call_with(&c);
        memset(out, 0, 6);
        MUST(zlg_read_many(reads, 3, &call, err_));
        assert_int_equal(c.n, 1);
        for (int k = 0; k < 3; k++)
            assert_int_equal(out[k], 0x1111);
        zlg_array_close(array);
        close_fixture(&f);
    }
    free(elements), free(out);
}

/* Nothing is shown of what is not stored; a chunk that is cached is shown all the same. */
static void test_fill_and_cache(void **state)
{
    (void)state;
    zlg_ctx *ctx;
    zlg_store *store;
    counter c;
    uint8_t out[8];
    zlg_ctx_options options = ZLG_CTX_OPTIONS_INIT;
    options.chunk_cache = 1 << 20;
    MUST(zlg_ctx_new(&options, &ctx, err_));
    MUST(zlg_store_open_memory(ctx, &store, err_));
    zlg_array *array = put_array(store, "", "[8]", "\"uint8\"", REGULAR("[4]"), "3",
                                 "[{\"name\":\"bytes\"}," ZSTD "]");
    MUST(zlg_store_put(store, "c/1", "", 0, err_));
    MUST(zlg_store_delete(store, "c/1", err_));
    const zlg_axis first = {.start = 0, .step = 1, .count = 4};
    const zlg_selection box = {.kind = ZLG_BOX, .rank = 1, .axes = &first};
    MUST(zlg_array_write(array, &box, &(zlg_source){.data = "abcd"}, NULL, err_));
    for (int i = 0; i < 3; i++) {
        MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, NULL, err_));
        assert_memory_equal(out, "abcd\3\3\3\3", 8);
        zlg_call call = call_with(&c);
        MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, &call, err_));
        assert_memory_equal(out, "\x11\x11\x11\x11\3\3\3\3", 8);
        assert_int_equal(c.n, 1);
    }
    zlg_array_close(array);
    zlg_store_close(store);
    zlg_ctx_close(ctx);
}

typedef struct door {
    int n_most, n_entered, n_inside;
} door;

static int pass(void *user, int begins)
{
    door *d = user;
    if (begins && d->n_entered == d->n_most)
        return 1;
    d->n_entered += begins != 0;
    d->n_inside += begins ? 1 : -1;
    return 0;
}

/* The caller may be gone by the time that elements, or the fill value, are to be placed. */
static void test_a_caller_that_leaves(void **state)
{
    (void)state;
    enum { N_CHUNKS = 4, UNTOUCHED = 0xee };
    fixture f;
    open_fixture(&f);
    zlg_array *array = put_array(f.stores[0], "", "[16]", "\"uint8\"", REGULAR("[4]"), "3",
                                 "[{\"name\":\"bytes\"}," ZSTD "]");
    MUST(zlg_array_write(array, NULL, &(zlg_source){.data = "abcdefghijklmnop"}, NULL,
                         err_));
    MUST(zlg_store_delete(f.stores[0], "c/1", err_));
    for (int n = 0; n <= N_CHUNKS; n++) {
        static const uint8_t expected[] = "\x11\x11\x11\x11\3\3\3\3"
                                          "\x11\x11\x11\x11\x11\x11\x11\x11";
        counter c;
        door d = {.n_most = n};
        zlg_error err;
        uint8_t out[16];
        memset(out, UNTOUCHED, sizeof out);
        zlg_call call = call_with(&c);
        call.n_threads = 1;
        call.placing = pass;
        call.user = &d;
        zlg_status status =
            zlg_array_read(array, NULL, &(zlg_target){.data = out}, &call, &err);
        assert_int_equal(status, n < N_CHUNKS ? ZLG_CANCELLED : ZLG_OK);
        assert_int_equal(d.n_entered, n);
        assert_int_equal(d.n_inside, 0);
        assert_memory_equal(out, expected, (size_t)n * 4);
        for (int i = n * 4; i < 16; i++)
            assert_int_equal(out[i], UNTOUCHED);
    }
    zlg_array_close(array);
    close_fixture(&f);
}

/* Values that a transform makes become canonical, as those that are read. */
static void test_canonical(void **state)
{
    (void)state;
    fixture f;
    counter c;
    uint8_t out[4];
    open_fixture(&f);
    zlg_array *array = put_array(f.stores[0], "", "[4]", "\"bool\"", REGULAR("[4]"),
                                 "false", "[{\"name\":\"bytes\"}]");
    MUST(zlg_array_fill(array, NULL, "\1", 1, NULL, err_));
    zlg_call call = call_with(&c);
    MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, &call, err_));
    assert_memory_equal(out, "\1\1\1\1", 4);
    zlg_array_close(array);
    close_fixture(&f);
}

static void test_failures(void **state)
{
    (void)state;
    uint16_t out[64];
    fixture f;
    counter c;
    zlg_varlen words;
    open_fixture(&f);
    zlg_array *array = put_array(f.stores[0], "a", "[8,8]", "\"uint16\"", REGULAR("[4,4]"),
                                 "0", "[" SHARD("[2,2]", "[" LITTLE "]") "]");
    MUST(zlg_array_fill(array, NULL, "xy", 2, NULL, err_));
    zlg_call call = call_with(&c);
    c.fails = ZLG_NOT_FOUND;
    c.message = "no key for this one";
    REFUSED(ZLG_NOT_FOUND,
            "memory: array a: chunk c/0/0: inner chunk 0/0: transform: no key for this",
            zlg_array_read(array, NULL, &(zlg_target){.data = out}, &call, err_));
    c.message = NULL;
    REFUSED(ZLG_NOT_FOUND, "inner chunk 0/0: the transform failed",
            zlg_array_read(array, NULL, &(zlg_target){.data = out}, &call, err_));
    c.fails = ZLG_CANCELLED;
    REFUSED(ZLG_CANCELLED, "stopped by the transform",
            zlg_array_read(array, NULL, &(zlg_target){.data = out}, &call, err_));
    c.fails = ZLG_OK;
    MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, &call, err_));
    zlg_array_close(array);
    array = put_array(f.stores[0], "w", "[4]", "\"string\"", REGULAR("[2]"), "\"none\"",
                      "[{\"name\":\"vlen-utf8\"}]");
    REFUSED(ZLG_UNSUPPORTED, "array w: a transform of elements of variable length",
            zlg_array_read_varlen(array, NULL, &words, &call, err_));
    zlg_array_close(array);
    close_fixture(&f);
}

static zlg_status note(void *user, zlg_read_chunk *chunk, zlg_error *err)
{
    counter *c = user;
    (void)err;
    memcpy(c->last, chunk->coordinates,
           sizeof c->last[0] * (size_t)zlg_array_rank(chunk->array));
    memcpy(c->shape, chunk->shape,
           sizeof c->shape[0] * (size_t)zlg_array_rank(chunk->array));
    c->n_bytes = chunk->n_bytes;
    c->n_bytes_elements = chunk->n_bytes_elements;
    c->n++;
    chunk->placed = 1;
    return ZLG_OK;
}

/* Nested shards with axes turned on the way, edges that are listed, no axes. */
static void test_coordinates(void **state)
{
    (void)state;
    static const int64_t at[3][1] = {{5}, {2}, {7}};
    static const int64_t *const point[3] = {at[0], at[1], at[2]};
    const zlg_selection points = {
        .kind = ZLG_POINTS, .rank = 3, .coordinates = point, .n_points = 1};
    fixture f;
    counter c;
    uint8_t out[4] = {0x5a};
    open_fixture(&f);
    zlg_call call = call_with(&c);
    call.transform = note;
    zlg_array *array =
        put_array(f.stores[0], "", "[6,4,8]", "\"uint8\"", REGULAR("[6,4,8]"), "0",
                  "[" TRANSPOSE("[2,0,1]") "," SHARD(
                      "[4,6,2]", "[" TRANSPOSE("[1,2,0]") "," SHARD(
                                     "[2,2,1]", "[{\"name\":\"bytes\"}]") "]") "]");
    /* The outer shard has axes 2, 0, 1 of the array, the inner one 0, 1, 2: chunks of
     * 2 x 2 x 1. */
    MUST(zlg_array_fill(array, NULL, "x", 1, NULL, err_));
    assert_memory_equal(zlg_array_chunk_shape(array), ((const int64_t[]){2, 2, 1}), 24);
    MUST(zlg_array_read(array, &points, &(zlg_target){.data = out}, &call, err_));
    assert_int_equal(c.n, 1);
    assert_memory_equal(c.last, ((const int64_t[]){2, 1, 7}), 24);
    assert_memory_equal(c.shape, ((const int64_t[]){2, 2, 1}), 24);
    assert_int_equal(c.n_bytes, 4);
    assert_int_equal(out[0], 0x5a);
    zlg_array_close(array);
    array = put_array(f.stores[0], "e", "[6,4,8]", "\"uint8\"",
                      "{\"name\":\"rectilinear\",\"configuration\":{\"kind\":\"inline\","
                      "\"chunk_shapes\":[[1,5],[4],[1,1,6]]}}",
                      "0", "[{\"name\":\"bytes\"}]");
    MUST(zlg_array_fill(array, NULL, "x", 1, NULL, err_));
    MUST(zlg_array_read(array, &points, &(zlg_target){.data = out}, &call, err_));
    assert_memory_equal(c.last, ((const int64_t[]){1, 0, 2}), 24);
    assert_memory_equal(c.shape, ((const int64_t[]){5, 4, 6}), 24);
    assert_int_equal(c.n_bytes_elements, 5 * 4 * 6);
    zlg_array_close(array);
    array = put_array(f.stores[0], "n", "[]", "\"uint8\"", REGULAR("[]"), "0",
                      "[{\"name\":\"bytes\"}]");
    MUST(zlg_array_fill(array, NULL, "x", 1, NULL, err_));
    c.n = 0;
    MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, &call, err_));
    assert_int_equal(c.n, 1);
    assert_int_equal(c.n_bytes_elements, 1);
    zlg_array_close(array);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_once_for_each_chunk),
        cmocka_unit_test(test_fill_and_cache),
        cmocka_unit_test(test_canonical),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_coordinates),
        cmocka_unit_test(test_a_caller_that_leaves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
