/* Other shapes: what is added holds the fill value, what falls away does not come back,
 * and nothing else is touched. */
#define _GNU_SOURCE
#include "change_test.h"

typedef struct layout {
    const char *what;
    int zarr_format;
    const char *grid, *keys, *codecs; /* version 3 */
    const char *separator;            /* version 2 */
} layout;

#define EDGES(axes)                                                                        \
    "{\"name\":\"rectilinear\",\"configuration\":{\"kind\":\"inline\",\"chunk_"            \
    "shapes\":" axes "}}"

static const layout layouts[] = {
    {"chunks", 3, REGULAR("[4,3]"), "default", "[" LITTLE "," ZSTD "]", NULL},
    {"dots", 3, REGULAR("[4,3]"),
     "{\"name\":\"default\",\"configuration\":{\"separator\":\".\"}}", "[" LITTLE "]",
     NULL},
    {"keys of version 2", 3, REGULAR("[4,3]"), "v2", "[" LITTLE "]", NULL},
    {"shards", 3, REGULAR("[4,6]"), "default", "[" SHARD("[2,3]", "[" LITTLE "]") "]",
     NULL},
    {"turned shards", 3, REGULAR("[4,6]"), "default",
     "[" TRANSPOSE("[1,0]") "," SHARD_AT("start", "[3,2]", "[" LITTLE "," GZIP "]") "]",
     NULL},
    {"edges that go on", 3, EDGES("[[3,[4,2]],[5,3]]"), "default", "[" LITTLE "]", NULL},
    {"edges", 3, EDGES("[[3,[4,6]],[5,[1,4],20]]"), "default", "[" LITTLE "]", NULL},
    {"version 2", 2, NULL, NULL, NULL, "."},
    {"version 2 in folders", 2, NULL, NULL, NULL, "/"},
};

enum { ROWS = 10, COLUMNS = 8, FILL = -9 };

static zlg_array *make_array(zlg_store *store, const char *path, const layout *l)
{
    static const int64_t shape[2] = {ROWS, COLUMNS}, chunk[2] = {4, 3};
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    zlg_array *array;
    int32_t data[ROWS * COLUMNS];
    for (int i = 0; i < ROWS * COLUMNS; i++)
        data[i] = i;
    spec.zarr_format = l->zarr_format;
    spec.rank = 2;
    spec.shape = shape;
    spec.data_type = l->zarr_format == 2 ? "<i4" : "int32";
    spec.object_shape = l->zarr_format == 2 ? chunk : NULL;
    spec.chunk_grid = l->grid;
    spec.chunk_key_encoding = l->keys;
    spec.codecs = l->codecs;
    spec.separator = l->separator;
    spec.fill_value = "-9";
    spec.attributes = "{\"kept\":1.50}";
    MUST(zlg_array_create(store, path, &spec, &array, err_));
    MUST(zlg_array_write(array, NULL, &(zlg_source){.data = data}, NULL, err_));
    return array;
}

/* Resizes; the handle is replaced by that of the new shape. */
static void resize(zlg_array **array, int64_t rows, int64_t columns)
{
    const int64_t shape[2] = {rows, columns};
    zlg_array *resized;
    MUST(zlg_array_resize(*array, shape, NULL, &resized, err_));
    assert_memory_equal(zlg_array_shape(resized), shape, sizeof shape);
    zlg_array_close(*array);
    *array = resized;
}

/* Elements that were never outside are as they were written, the others are fill. */
static void check_data(zlg_array *array, int64_t rows, int64_t columns)
{
    const int64_t *shape = zlg_array_shape(array);
    int32_t *out = malloc((size_t)(shape[0] * shape[1] + 1) * sizeof *out);
    MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, NULL, err_));
    for (int64_t i = 0; i < shape[0]; i++)
        for (int64_t k = 0; k < shape[1]; k++) {
            int64_t expected = i < rows && k < columns ? i * COLUMNS + k : FILL;
            if (out[i * shape[1] + k] != expected)
                fail_msg("(%lld, %lld) is %d, expected %lld", (long long)i, (long long)k,
                         out[i * shape[1] + k], (long long)expected);
        }
    free(out);
}

/* No object is stored that lies outside, or that holds only fill values. */
static void check_objects(zlg_array *array, int64_t rows, int64_t columns)
{
    int n = n_keys(array->store, array->path) - 1 -
            (array->meta.zarr_format == 2); /* documents */
    int expected = 0;
    for (int64_t i = 0; i < array->meta.grid.axis[0].n_chunks; i++)
        for (int64_t k = 0; k < array->meta.grid.axis[1].n_chunks; k++)
            expected += zlgi_grid_start(&array->meta.grid.axis[0], i) < rows &&
                        zlgi_grid_start(&array->meta.grid.axis[1], k) < columns;
    assert_int_equal(n, expected);
}

static void test_shrinking_and_growing(void **state)
{
    (void)state;
    static const int64_t steps[][2] = {{10, 8}, {5, 8}, {5, 7}, {12, 20}, {12, 2},
                                       {2, 2},  {9, 9}, {2, 1}, {0, 1},   {10, 8}};
    fixture f;
    open_fixture(&f);
    for (int s = 0; s < N_STORES; s++)
        for (size_t i = 0; i < ZLGI_COUNT(layouts); i++) {
            zlg_array *array = make_array(f.stores[s], "g/a", &layouts[i]);
            int64_t rows = ROWS, columns = COLUMNS;
            for (size_t k = 0; k < ZLGI_COUNT(steps); k++) {
                resize(&array, steps[k][0], steps[k][1]);
                rows = ZLGI_MIN(rows, steps[k][0]);
                columns = ZLGI_MIN(columns, steps[k][1]);
                check_data(array, rows, columns);
                check_objects(array, rows, columns);
            }
            zlg_array_close(array);
            check_attributes(f.stores[s], "g/a", "{\"kept\":1.50}");
            MUST(zlg_node_delete(f.stores[s], "g", NULL, err_));
        }
    close_fixture(&f);
}

/* The document keeps what nobody here knows; keys that are no chunks stay; old handles see
 * what they saw. */
static void test_the_rest_stays(void **state)
{
    (void)state;
    static const int64_t shorter[1] = {3};
    fixture f;
    open_fixture(&f);
    for (int s = 0; s < N_STORES; s++) {
        zlg_store *store = f.stores[s];
        char out[9] = "";
        put_text(store, "a/zarr.json",
                 "{\"zarr_format\":3,\"x\":{\"must_understand\":false,\"n\":1e400},"
                 "\"node_type\":\"array\",\"shape\":[8],\"data_type\":\"uint8\","
                 "\"chunk_grid\":" REGULAR("[2]") ",\"chunk_key_encoding\":\"default\","
                                                  "\"fill_value\":46,\"codecs\":[\"bytes\"]"
                                                  ",\"attributes\":{\"n\":NaN}}");
        put_text(store, "a/c/notes", "x");
        put_text(store, "a/c/01", "x");
        put_text(store, "b/c/3", "zz");
        zlg_array *array;
        MUST(zlg_array_open(store, "a", NULL, &array, err_));
        MUST(zlg_array_write(array, NULL, &(zlg_source){.data = "abcdefgh"}, NULL, err_));
        MUST(zlg_array_resize(array, shorter, NULL, NULL, err_));
        assert_int_equal(zlg_array_shape(array)[0], 8);
        MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, NULL, err_));
        assert_string_equal(out, "abc.....");
        check_has(store, "a/zarr.json",
                  "{\n  \"zarr_format\": 3,\n  \"x\": {\n    \"must_understand\": false,\n"
                  "    \"n\": 1e400\n  },\n  \"node_type\": \"array\",\n  \"shape\": [\n"
                  "    3\n  ],\n");
        check_has(store, "a/zarr.json", "\"attributes\": {\n    \"n\": NaN\n  }");
        assert_true(has_key(store, "a/c/notes") && has_key(store, "a/c/01") &&
                    has_key(store, "b/c/3"));
        assert_true(has_key(store, "a/c/1") && !has_key(store, "a/c/2"));
        zlg_array_close(array);
    }
    close_fixture(&f);
}

/* Growing lists nothing and opens no object; shrinking looks only at what is stored. */
static void test_what_it_costs(void **state)
{
    (void)state;
    static const int64_t huge[2] = {INT64_C(1) << 40, INT64_C(1) << 40}, one[2] = {1, 1},
                         first[2] = {ROWS, COLUMNS}, flatter[2] = {5, COLUMNS};
    zlg_ctx *ctx;
    zlg_store *store, *counting;
    zlg_array *array, *resized;
    MUST(zlg_ctx_new(NULL, &ctx, err_));
    MUST(zlg_store_open_memory(ctx, &store, err_));
    MUST(zlgi_counting_open(&ctx->alloc, store, &counting, err_));
    counting->limits = &ctx->limits;
    zlgi_store_adopt(ctx, counting);
    array = make_array(counting, "a", &layouts[0]);
    zlgi_store_counts before = zlgi_counting_get(counting);
    MUST(zlg_array_resize(array, huge, NULL, &resized, err_));
    zlgi_store_counts after = zlgi_counting_get(counting);
    assert_int_equal(after.n_lists, before.n_lists);
    assert_int_equal(after.n_puts, before.n_puts + 1);
    assert_int_equal(after.n_removes, before.n_removes);
    zlg_array_close(array);
    MUST(zlg_array_resize(resized, first, NULL, NULL, err_));
    /* The last column of chunks reaches past the array too, but not because of this. */
    before = zlgi_counting_get(counting);
    MUST(zlg_array_resize(resized, flatter, NULL, NULL, err_));
    after = zlgi_counting_get(counting);
    assert_int_equal(after.n_lists, before.n_lists + 1);
    assert_int_equal(after.n_puts, before.n_puts + 2 + 3); /* the document twice */
    assert_int_equal(after.n_removes, before.n_removes + 3);
    before = after;
    MUST(zlg_array_resize(resized, one, NULL, NULL, err_));
    after = zlgi_counting_get(counting);
    assert_int_equal(after.n_lists, before.n_lists + 1);
    assert_int_equal(after.n_puts, before.n_puts + 3); /* the document and c/0/0 */
    assert_int_equal(after.n_removes, before.n_removes + 2 * 3 - 1);
    zlg_array_close(resized);
    zlg_store_close(counting);
    zlg_store_close(store);
    zlg_ctx_close(ctx);
}

/* The same shape again removes what an earlier call had to leave behind. */
static void test_finishing(void **state)
{
    (void)state;
    static const int64_t shape[2] = {5, 4};
    zlg_ctx *ctx;
    MUST(zlg_ctx_new(NULL, &ctx, err_));
    for (uint64_t n = 1;; n++) {
        fault_store *store = fault_store_open(ctx);
        zlg_array *array = make_array(&store->base, "a", &layouts[0]);
        zlg_error err = {0};
        fault_set(store, FAULT_IO, n);
        zlg_status status = zlg_array_resize(array, shape, NULL, NULL, &err);
        fault_set(store, FAULT_NONE, 0);
        assert_int_equal(store->n_open, 0);
        if (status != ZLG_OK) {
            assert_int_equal(status, ZLG_IO);
            assert_non_null(strstr(err.message, "array a: "));
            assert_non_null(strstr(err.message, "the disk is on fire"));
        }
        zlg_array *resized;
        MUST(zlg_array_resize(array, shape, NULL, &resized, err_));
        check_data(resized, 5, 4);
        check_objects(resized, 5, 4);
        resize(&resized, ROWS, COLUMNS);
        check_data(resized, 5, 4);
        zlg_array_close(resized);
        zlg_array_close(array);
        zlg_store_close(&store->base);
        if (status == ZLG_OK) {
            assert_in_range(n, 15, 100);
            break;
        }
    }
    zlg_ctx_close(ctx);
}

/* Whatever shape comes next: nothing of what an earlier call left behind is seen again, and
 * the document is as if it had not failed. */
static void grow_after_failure(zlg_ctx *ctx, const layout *l, uint64_t n, int then,
                               zlg_status *out)
{
    static const int64_t small[2] = {5, 4};
    static const int32_t row[8] = {70, 71, 72, 73, 74, 75, 76, 77};
    fault_store *store = fault_store_open(ctx);
    zlg_array *now, *array = make_array(&store->base, "a", l);
    zlg_text text;
    fault_set(store, FAULT_IO, n);
    *out = zlg_array_resize(array, small, NULL, NULL, NULL);
    fault_set(store, FAULT_NONE, 0);
    MUST(zlg_array_refresh(array, &now, err_));
    bool shrunk = zlg_array_shape(now)[0] == 5;
    int64_t rows = shrunk ? 5 : ROWS, columns = shrunk ? 4 : COLUMNS;
    zlg_array_close(array);
    if (then == 1) {
        resize(&now, 2, 12);
    } else if (then == 2) {
        MUST(zlg_array_append(now, 0, 1, &(zlg_source){.data = row}, NULL, &array, err_));
        zlg_array_close(now);
        now = array;
        resize(&now, rows, columns);
    }
    resize(&now, 12, 11);
    check_data(now, then == 1 ? 2 : rows, columns);
    MUST(zlg_array_metadata(now, &text, err_));
    assert_null(strstr(text.data, "zellige_shrinking"));
    zlg_text_free(&text);
    zlg_array_close(now);
    zlg_store_close(&store->base);
}

static void test_never_comes_back(void **state)
{
    (void)state;
    zlg_status status;
    uint64_t n = 1;
    zlg_ctx *ctx;
    MUST(zlg_ctx_new(NULL, &ctx, err_));
    do {
        for (int then = 0; then < 3; then++)
            for (int l = 0; l < 7; l += 3) /* chunks, shards, version 2 */
                grow_after_failure(ctx, &layouts[l], n, then, &status);
    } while (status != ZLG_OK && n++);
    assert_in_range(n, 15, 100);
    zlg_ctx_close(ctx);
}

static void test_texts(void **state)
{
    (void)state;
    static const int64_t shorter[1] = {3}, longer[1] = {6};
    static const int64_t offsets[] = {0, 1, 3, 6, 10, 15};
    fixture f;
    open_fixture(&f);
    zlg_array *array, *resized;
    zlg_varlen texts;
    array = put_array(f.stores[0], "", "[5]", "\"string\"", REGULAR("[4]"), "\"-\"",
                      "[{\"name\":\"vlen-utf8\"}]");
    const zlg_source source = {.data = "abbcccddddeeeee", .offsets = offsets};
    MUST(zlg_array_write(array, NULL, &source, NULL, err_));
    MUST(zlg_array_resize(array, shorter, NULL, NULL, err_));
    MUST(zlg_array_resize(array, longer, NULL, &resized, err_));
    MUST(zlg_array_read_varlen(resized, NULL, &texts, NULL, err_));
    assert_memory_equal(texts.bytes, "abbccc---", 9);
    assert_int_equal(texts.offsets[6], 9);
    zlg_varlen_free(&texts);
    zlg_array_close(array);
    zlg_array_close(resized);
    close_fixture(&f);
}

static void test_no_axes(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    int32_t value = 5;
    zlg_array *resized, *array = put_array(f.stores[0], "", "[]", "\"int32\"",
                                           REGULAR("[]"), "0", "[" LITTLE "]");
    MUST(zlg_array_write(array, NULL, &(zlg_source){.data = &value}, NULL, err_));
    MUST(zlg_array_resize(array, NULL, NULL, &resized, err_));
    value = 0;
    MUST(zlg_array_read(resized, NULL, &(zlg_target){.data = &value}, NULL, err_));
    assert_int_equal(value, 5);
    zlg_array_close(array);
    zlg_array_close(resized);
    close_fixture(&f);
}

/* Presence means written: the border is trimmed, but not removed. */
static void test_empty_objects_that_are_kept(void **state)
{
    (void)state;
    static const int64_t shorter[1] = {3};
    fixture f;
    open_fixture(&f);
    zlg_open_options options = ZLG_OPEN_OPTIONS_INIT;
    zlg_array *array, *kept;
    array = put_array(f.stores[0], "", "[8]", "\"uint8\"", REGULAR("[2]"), "48",
                      "[" LITTLE "]");
    options.keep_empty = 1;
    MUST(zlg_array_open(f.stores[0], "", &options, &kept, err_));
    MUST(zlg_array_write(kept, NULL, &(zlg_source){.data = "00000000"}, NULL, err_));
    assert_int_equal(n_keys(f.stores[0], "c"), 4);
    MUST(zlg_array_resize(kept, shorter, NULL, NULL, err_));
    assert_int_equal(n_keys(f.stores[0], "c"), 2);
    MUST(zlg_array_resize(array, shorter, NULL, NULL, err_));
    assert_int_equal(n_keys(f.stores[0], "c"), 1); /* nobody looks at c/0 */
    zlg_array_close(array);
    zlg_array_close(kept);
    close_fixture(&f);
}

/* More objects on the border, and outside, than one step takes. */
static void test_many_objects(void **state)
{
    (void)state;
    enum { N = 600 };
    static const int64_t thinner[2] = {N, 3}, thicker[2] = {N, 8}, shorter[2] = {1, 3};
    static uint16_t data[N][8], out[N][8], thin[N][3];
    fixture f;
    open_fixture(&f);
    for (int i = 0; i < N * 8; i++)
        data[i / 8][i % 8] = (uint16_t)(i + 1);
    for (int s = 0; s < N_STORES; s++) {
        zlg_array *resized,
            *array = put_array(f.stores[s], "a", "[600,8]", "\"uint16\"", REGULAR("[1,4]"),
                               "0", "[" SHARD("[1,2]", "[" LITTLE "]") "]");
        zlg_stats stats = ZLG_STATS_INIT;
        zlg_call call = ZLG_CALL_INIT;
        call.stats = &stats;
        MUST(zlg_array_write(array, NULL, &(zlg_source){.data = data}, NULL, err_));
        MUST(zlg_array_resize(array, thinner, &call, &resized, err_));
        assert_int_equal(stats.n_removed, N);
        assert_int_equal(stats.n_stored, N);
        assert_int_equal(n_keys(f.stores[s], "a/c"), N);
        MUST(zlg_array_read(resized, NULL, &(zlg_target){.data = thin}, NULL, err_));
        for (int i = 0; i < N; i++)
            assert_memory_equal(thin[i], data[i], sizeof thin[i]);
        zlg_array_close(resized);
        MUST(zlg_array_resize(array, thicker, NULL, &resized, err_));
        MUST(zlg_array_read(resized, NULL, &(zlg_target){.data = out}, NULL, err_));
        for (int i = 0; i < N; i++)
            for (int k = 0; k < 8; k++)
                assert_int_equal(out[i][k], k < 3 ? data[i][k] : 0);
        MUST(zlg_array_resize(resized, shorter, NULL, NULL, err_));
        assert_int_equal(n_keys(f.stores[s], "a/c"), 1);
        zlg_array_close(resized);
        zlg_array_close(array);
    }
    close_fixture(&f);
}

/* All of it with each promise. */
static void test_promises(void **state)
{
    (void)state;
    static const int64_t shape[2] = {7, 5};
    static const int32_t row[5] = {1, 2, 3, 4, 5};
    fixture f;
    open_fixture(&f);
    for (int s = 0; s < N_STORES; s++)
        for (int promise = ZLG_VISIBLE; promise <= ZLG_VERIFIED; promise++)
            for (int format = 2; format <= 3; format++) {
                zlg_store *store = f.stores[s];
                zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
                zlg_group_spec group_spec = ZLG_GROUP_SPEC_INIT;
                zlg_edit_options options = ZLG_EDIT_OPTIONS_INIT;
                zlg_array *array, *resized, *longer;
                zlg_group *group;
                int32_t out[8][5];
                spec.promise = group_spec.promise = options.promise = (zlg_promise)promise;
                spec.zarr_format = group_spec.zarr_format = format;
                spec.overwrite = group_spec.overwrite = 1;
                spec.rank = 2;
                spec.shape = (const int64_t[]){ROWS, COLUMNS};
                spec.object_shape = (const int64_t[]){4, 3};
                spec.data_type = format == 2 ? "<i4" : "int32";
                spec.attributes = "{\"a\":1}";
                MUST(zlg_group_create(store, "g", &group_spec, &group, err_));
                MUST(zlg_array_create(store, "g/h/a", &spec, &array, err_));
                int32_t data[ROWS * COLUMNS];
                for (int i = 0; i < ROWS * COLUMNS; i++)
                    data[i] = i;
                MUST(zlg_array_write(array, NULL, &(zlg_source){.data = data}, NULL, err_));
                MUST(zlg_array_resize(array, shape, NULL, &resized, err_));
                MUST(zlg_array_append(resized, 0, 1, &(zlg_source){.data = row}, NULL,
                                      &longer, err_));
                assert_int_equal(longer->promise, promise);
                MUST(zlg_array_read(longer, NULL, &(zlg_target){.data = out}, NULL, err_));
                assert_int_equal(out[6][4], 6 * COLUMNS + 4);
                assert_memory_equal(out[7], row, sizeof row);
                MUST(zlg_node_set_attributes(store, "g/h/a", "{\"b\":2}", &options, err_));
                check_attributes(store, "g/h/a", "{\"a\":1,\"b\":2}");
                MUST(zlg_group_consolidate(store, "g", &options, err_));
                zlg_array_close(longer);
                zlg_array_close(resized);
                zlg_array_close(array);
                zlg_group_close(group);
            }
    close_fixture(&f);
}

static void test_what_is_refused(void **state)
{
    (void)state;
    static const int64_t negative[2] = {3, -1}, shorter[2] = {2, 2};
    fixture f;
    open_fixture(&f);
    zlg_store *store = f.stores[0];
    zlg_array *array = make_array(store, "a", &layouts[5]); /* edges */
    REFUSED(ZLG_USAGE, "array a: shape[1] is -1",
            zlg_array_resize(array, negative, NULL, NULL, err_));
    zlg_call call = ZLG_CALL_INIT;
    int cancel = 1;
    call.cancel = &cancel;
    REFUSED(ZLG_CANCELLED, "stopped by the caller",
            zlg_array_resize(array, shorter, &call, NULL, err_));
    call.cancel = NULL;
    call.promise = 7;
    REFUSED(ZLG_USAGE, "promise 7", zlg_array_resize(array, shorter, &call, NULL, err_));
    check_data(array, ROWS, COLUMNS);
    check_objects(array, ROWS, COLUMNS);
    MUST(zlg_node_delete(store, "a", NULL, err_));
    REFUSED(ZLG_NOT_FOUND, "not there any more",
            zlg_array_resize(array, shorter, NULL, NULL, err_));
    zlg_array *other =
        put_array(store, "a", "[4]", "\"int32\"", REGULAR("[4]"), "0", "[" LITTLE "]");
    REFUSED(ZLG_NOT_FOUND, "an array of 1 axes lies there by now",
            zlg_array_resize(array, shorter, NULL, NULL, err_));
    zlg_array_close(other);
    zlg_array_close(array);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shrinking_and_growing),
        cmocka_unit_test(test_the_rest_stays),
        cmocka_unit_test(test_what_it_costs),
        cmocka_unit_test(test_finishing),
        cmocka_unit_test(test_never_comes_back),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_no_axes),
        cmocka_unit_test(test_empty_objects_that_are_kept),
        cmocka_unit_test(test_many_objects),
        cmocka_unit_test(test_promises),
        cmocka_unit_test(test_what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
