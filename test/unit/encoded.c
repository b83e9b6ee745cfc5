/* Encoded chunks: what is stored comes out and goes in as it is, in every kind of array. */
#define _GNU_SOURCE
#include "change_test.h"

static zlg_status put(zlg_array *array, const int64_t *coordinates, const char *text,
                      zlg_error *err)
{
    const zlg_encoded chunk = {
        .coordinates = coordinates, .data = text, .n_bytes = text ? strlen(text) : 0};
    return zlg_array_write_encoded(array, &chunk, 1, NULL, err);
}

/* What is stored of one chunk: "" when that is nothing or no bytes. */
static void check_stored(zlg_array *array, const int64_t *coordinates, const char *expected,
                         int expected_missing)
{
    zlg_varlen out;
    uint8_t missing = 9;
    MUST(zlg_array_read_encoded(array, coordinates, 1, &out, &missing, NULL, err_));
    assert_int_equal(out.n, 1);
    assert_int_equal(out.offsets[1], strlen(expected));
    assert_memory_equal(out.bytes, expected, strlen(expected));
    assert_int_equal(missing, expected_missing);
    zlg_varlen_free(&out);
}

static const char *const layouts[] = {
    "[" LITTLE "]",
    "[" LITTLE "," GZIP "," CRC "]",
    "[" SHARD("[1,1]", "[" LITTLE "," GZIP "]") "]",
    "[" TRANSPOSE("[1,0]") "," SHARD_AT("start", "[1,1]", "[" LITTLE "]") "]",
    "[" SHARD("[2,1]", "[" TRANSPOSE("[1,0]") "," SHARD("[1,1]", "[" BIG "]") "]") "]",
};

/* Bytes of any kind and length, one chunk after the other, some no bytes at all. */
static void test_any_bytes(void **state)
{
    (void)state;
    static const char *const texts[] = {"what",   "", "is",
                                        "stored", "", "comes back as it is"};
    for (size_t i = 0; i < ZLGI_COUNT(layouts) * N_STORES; i++) {
        fixture f;
        open_fixture(&f);
        const char *codecs = layouts[i / N_STORES];
        bool sharded = strstr(codecs, "sharding") != NULL;
        zlg_array *array =
            put_array(f.stores[i % N_STORES], "a", "[6,4]", "\"uint16\"",
                      sharded ? REGULAR("[2,2]") : REGULAR("[1,1]"), "0", codecs);
        for (int64_t k = 0; k < 24; k++) {
            const int64_t at[2] = {k / 4, k % 4};
            check_stored(array, at, "", 1);
            MUST(put(array, at, texts[k % 6], err_));
        }
        assert_int_equal(n_keys(f.stores[i % N_STORES], "a"), sharded ? 7 : 25);
        for (int64_t k = 0; k < 24; k++) {
            const int64_t at[2] = {k / 4, k % 4};
            check_stored(array, at, texts[k % 6], 0);
        }
        /* Taken away again: the last one of an object takes the object with it. */
        for (int64_t k = 0; k < 24; k++) {
            const int64_t at[2] = {k / 4, k % 4};
            MUST(put(array, at, NULL, err_));
            check_stored(array, at, "", 1);
            MUST(put(array, at, NULL, err_));
        }
        assert_int_equal(n_keys(f.stores[i % N_STORES], "a"), 1);
        zlg_array_close(array);
        close_fixture(&f);
    }
}

/* Many in one call: each object is put once, of one chunk the last counts, the others
 * move; and one chunk may be asked for twice. */
static void test_many_at_once(void **state)
{
    (void)state;
    static const int64_t at[][2] = {{0, 0}, {3, 3}, {0, 1}, {0, 0}, {5, 0}};
    static const int64_t asked[] = {0, 0, 1, 1, 0, 0, 3, 3, 5, 0, 4, 0};
    const zlg_encoded chunks[] = {{at[0], "first", 5},
                                  {at[1], "alone", 5},
                                  {at[2], NULL, 0},
                                  {at[3], "last", 4},
                                  {at[4], "", 0}};
    fixture f;
    open_fixture(&f);
    zlg_store *counting;
    MUST(zlgi_counting_open(&f.ctx->alloc, f.stores[1], &counting, err_));
    counting->limits = &f.ctx->limits;
    zlgi_store_adopt(f.ctx, counting);
    zlg_array *array =
        put_array(counting, "", "[6,4]", "\"uint16\"", REGULAR("[2,2]"), "0", layouts[2]);
    MUST(put(array, (const int64_t[]){0, 1}, "away", err_));
    MUST(put(array, (const int64_t[]){1, 1}, "stays", err_));
    zlgi_store_counts before = zlgi_counting_get(counting);
    zlg_call call = ZLG_CALL_INIT;
    zlg_stats stats = ZLG_STATS_INIT;
    call.promise = ZLG_DURABLE;
    call.stats = &stats;
    call.keep_empty = 1;
    MUST(zlg_array_write_encoded(array, chunks, ZLGI_COUNT(chunks), &call, err_));
    zlgi_store_counts after = zlgi_counting_get(counting);
    assert_int_equal(after.n_puts, before.n_puts + 3);
    assert_int_equal(after.n_syncs, before.n_syncs + 1);
    assert_int_equal(stats.n_stored, 3);
    assert_int_equal(stats.n_moved, 1);
    zlg_varlen out;
    uint8_t missing[7] = {9, 9, 9, 9, 9, 9, 9}, objects = 9;
    call.missing = &objects;
    MUST(zlg_array_read_encoded(array, asked, 6, &out, missing, &call, err_));
    assert_int_equal(out.n, 6);
    assert_memory_equal(out.offsets, ((const int64_t[]){0, 4, 9, 13, 18, 18, 18}), 56);
    assert_memory_equal(out.bytes, "laststayslastalone", 18);
    assert_memory_equal(missing, ((const uint8_t[]){0, 0, 0, 0, 0, 1, 9}), 7);
    assert_int_equal(objects, 9);
    zlg_varlen_free(&out);
    MUST(zlg_array_read_encoded(array, NULL, 0, &out, NULL, NULL, err_));
    assert_int_equal(out.n, 0);
    zlg_varlen_free(&out);
    MUST(zlg_array_write_encoded(array, NULL, 0, NULL, err_));
    zlg_array_close(array);
    zlg_store_close(counting);
    close_fixture(&f);
}

/* A shard of many chunks, written and read by several threads at once. */
static void test_one_large_shard(void **state)
{
    (void)state;
    enum { N = 4096, BYTES = 700 };
    fixture f;
    open_fixture(&f);
    zlg_array *array =
        put_array(f.stores[0], "", "[4096]", "\"uint8\"", REGULAR("[4096]"), "0",
                  "[" SHARD("[1]", "[{\"name\":\"bytes\"}," ZSTD "]") "]");
    uint8_t *bytes = malloc(N + BYTES);
    int64_t *at = malloc(N * sizeof *at);
    zlg_encoded *chunks = malloc(N * sizeof *chunks);
    for (int i = 0; i < N + BYTES; i++)
        bytes[i] = (uint8_t)(i * 7 + i / 256);
    for (int i = 0; i < N; i++) {
        at[i] = i;
        chunks[i] = (zlg_encoded){&at[i], bytes + i, (size_t)(i % BYTES)};
    }
    MUST(zlg_array_write_encoded(array, chunks, N, NULL, err_));
    zlg_varlen out;
    MUST(zlg_array_read_encoded(array, at, N, &out, NULL, NULL, err_));
    for (int i = 0; i < N; i++) {
        assert_int_equal(out.offsets[i + 1] - out.offsets[i], i % BYTES);
        assert_memory_equal(out.bytes + out.offsets[i], bytes + i, (size_t)i % BYTES);
    }
    zlg_varlen_free(&out);
    free(bytes), free(at), free(chunks);
    zlg_array_close(array);
    close_fixture(&f);
}

/* Version 2, edges that are listed, words, no axes: names of chunks and of objects. */
static void test_other_grids(void **state)
{
    (void)state;
    fixture f;
    zlg_array *array;
    open_fixture(&f);
    zlg_store *store = f.stores[0];
    put_text(store, "old/.zarray",
             "{\"zarr_format\":2,\"shape\":[5,4],\"chunks\":[2,4],\"dtype\":\">i2\","
             "\"fill_value\":-3,\"order\":\"F\",\"filters\":null,\"compressor\":null}");
    MUST(zlg_array_open(store, "old", NULL, &array, err_));
    MUST(put(array, (const int64_t[]){2, 0}, "0123456789abcdef", err_));
    check_text(store, "old/2.0", "0123456789abcdef");
    zlg_array_close(array);
    const char *edges = "{\"name\":\"rectilinear\",\"configuration\":{\"kind\":\"inline\","
                        "\"chunk_shapes\":[[4,8],[4,2,6]]}}";
    array =
        put_array(store, "e", "[12,12]", "\"uint8\"", edges, "0", "[{\"name\":\"bytes\"}]");
    MUST(put(array, (const int64_t[]){1, 2}, "corner", err_));
    check_text(store, "e/c/1/2", "corner");
    check_stored(array, (const int64_t[]){1, 2}, "corner", 0);
    REFUSED(ZLG_RANGE, "axis 0: chunk 2 is outside the grid of 2",
            put(array, (const int64_t[]){2, 0}, "x", err_));
    zlg_array_close(array);
    array = put_array(store, "s", "[12,12]", "\"uint8\"", edges, "0",
                      "[" SHARD("[2,2]", "[{\"name\":\"bytes\"}]") "]");
    MUST(put(array, (const int64_t[]){5, 2}, "1234", err_));
    uint8_t out[144];
    MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, NULL, err_));
    assert_memory_equal(out + 10 * 12 + 4, "12", 2);
    assert_memory_equal(out + 11 * 12 + 4, "34", 2);
    assert_true(has_key(store, "s/c/1/1"));
    zlg_array_close(array);
    array = put_array(store, "w", "[4]", "\"string\"", REGULAR("[2]"), "\"none\"",
                      "[{\"name\":\"vlen-utf8\"}]");
    MUST(put(array, (const int64_t[]){1}, "no words", err_));
    check_stored(array, (const int64_t[]){1}, "no words", 0);
    zlg_array_close(array);
    array = put_array(store, "n", "[]", "\"uint8\"", REGULAR("[]"), "0",
                      "[{\"name\":\"bytes\"}]");
    MUST(put(array, NULL, "x", err_));
    check_stored(array, NULL, "x", 0);
    MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, NULL, err_));
    assert_int_equal(out[0], 'x');
    zlg_array_close(array);
    close_fixture(&f);
}

static void test_what_is_refused(void **state)
{
    (void)state;
    static const int64_t at[] = {0, 0, 0, 7}, below[] = {0, -1};
    fixture f;
    zlg_varlen out;
    zlg_store *reader;
    open_fixture(&f);
    zlg_array *array = put_array(f.stores[1], "a", "[6,4]", "\"uint16\"", REGULAR("[2,2]"),
                                 "0", layouts[2]);
    REFUSED(ZLG_RANGE, "array a: axis 1: chunk 7 is outside the grid of 4",
            zlg_array_read_encoded(array, at, 2, &out, NULL, NULL, err_));
    assert_null(out.block);
    REFUSED(ZLG_RANGE, "axis 1: chunk -1", put(array, below, "x", err_));
    assert_false(has_key(f.stores[1], "a/c/0/0"));
    zlg_call call = ZLG_CALL_INIT;
    call.missing_is_error = 1;
    REFUSED(ZLG_NOT_FOUND, "chunk c/0/0: it is not stored",
            zlg_array_read_encoded(array, at, 1, &out, NULL, &call, err_));
    put_text(f.stores[1], "a/c/0/0", "this is no shard");
    REFUSED(ZLG_CORRUPT, "shard index",
            zlg_array_read_encoded(array, at, 1, &out, NULL, NULL, err_));
    REFUSED(ZLG_CORRUPT, "chunk c/0/0", put(array, at, "x", err_));
    zlg_array_close(array);
    array = put_array(f.stores[1], "w", "[2,2]", "\"uint8\"", REGULAR("[2,2]"), "0",
                      "[" SHARD("[1,1]", "[{\"name\":\"bytes\"}]") "," CRC "]");
    REFUSED(ZLG_UNSUPPORTED, "around a shard", put(array, at, "x", err_));
    MUST(zlg_array_write(array, NULL, &(zlg_source){.data = "abcd"}, NULL, err_));
    check_stored(array, (const int64_t[]){1, 0}, "c", 0);
    zlg_array_close(array);
    zlg_fs_options only = ZLG_FS_OPTIONS_INIT;
    only.read_only = 1;
    MUST(zlg_store_open_fs(f.ctx, f.folder.path, &only, &reader, err_));
    MUST(zlg_array_open(reader, "a", NULL, &array, err_));
    assert_int_not_equal(put(array, at, "x", NULL), ZLG_OK);
    zlg_array_close(array);
    zlg_store_close(reader);
    close_fixture(&f);
}

static void test_limit(void **state)
{
    (void)state;
    zlg_limits limits = ZLG_LIMITS_INIT;
    zlg_ctx_options options = ZLG_CTX_OPTIONS_INIT;
    zlg_ctx *ctx;
    zlg_store *store;
    limits.encoded_bytes = 100;
    options.limits = &limits;
    MUST(zlg_ctx_new(&options, &ctx, err_));
    MUST(zlg_store_open_memory(ctx, &store, err_));
    zlg_array *array = put_array(store, "", "[4]", "\"uint8\"", REGULAR("[2]"), "0",
                                 "[{\"name\":\"bytes\"}]");
    char text[102];
    memset(text, 'x', sizeof text);
    text[101] = 0;
    REFUSED(ZLG_LIMIT, "101 bytes, more than encoded_bytes",
            put(array, (const int64_t[]){1}, text, err_));
    text[100] = 0;
    MUST(put(array, (const int64_t[]){1}, text, err_));
    zlg_array_close(array);
    zlg_store_close(store);
    zlg_ctx_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_bytes),       cmocka_unit_test(test_many_at_once),
        cmocka_unit_test(test_one_large_shard), cmocka_unit_test(test_other_grids),
        cmocka_unit_test(test_what_is_refused), cmocka_unit_test(test_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
