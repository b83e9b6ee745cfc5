/*
 * Stores of others: what a method gets and gives is held to its contract, and arrays live
 * in such a store as in any other. Label: engine
 */
#include "store/custom.h"
#include "store/keys.h"

/* ------------------------------------------------------------------ methods that fail */

typedef struct broken {
    zlg_status status; /* what each method returns */
    const char *message;
    const char *name; /* what is listed */
    size_t n_read;
    int n_opened, n_closed, n_removed;
} broken;

static zlg_status answer(const broken *b, zlg_error *err)
{
    assert_non_null(err);
    assert_string_equal(err->message, "");
    if (b->message != NULL)
        snprintf(err->message, sizeof err->message, "%s", b->message);
    return b->status;
}

static zlg_status broken_open(void *self, const char *key, zlg_object *out, zlg_error *err)
{
    broken *b = self;
    b->n_opened++;
    if (strcmp(key, "there") != 0)
        return answer(b, err);
    out->n_bytes = 10;
    return ZLG_OK;
}

static zlg_status broken_read(void *self, zlg_object *object, uint64_t offset, size_t n,
                              void *destination, size_t *out_n, zlg_error *err)
{
    (void)object, (void)offset, (void)n, (void)destination;
    *out_n = ((broken *)self)->n_read;
    return answer(self, err);
}

static zlg_status broken_put(void *self, const char *key, const zlg_bytes *parts,
                             int n_parts, zlg_condition condition, const zlg_object *seen,
                             zlg_promise promise, zlg_error *err)
{
    (void)key, (void)parts, (void)n_parts, (void)condition, (void)seen, (void)promise;
    return answer(self, err);
}

static zlg_status broken_remove(void *self, const char *key, zlg_condition condition,
                                const zlg_object *seen, zlg_promise promise, zlg_error *err)
{
    (void)key, (void)condition, (void)seen, (void)promise;
    ((broken *)self)->n_removed++;
    return answer(self, err);
}

static zlg_status broken_list(void *self, const char *prefix, int delimited,
                              zlg_list_fn each, void *user, zlg_error *err)
{
    (void)prefix, (void)delimited;
    broken *b = self;
    if (b->name != NULL && each(user, b->name, 0, 1) != 0)
        return ZLG_OK;
    return answer(b, err);
}

static void broken_close(void *self)
{
    ((broken *)self)->n_closed++;
}

static const zlg_store_methods broken_methods = {
    .n_bytes_struct = sizeof(zlg_store_methods),
    .open = broken_open,
    .read = broken_read,
    .put = broken_put,
    .remove = broken_remove,
    .list = broken_list,
    .close = broken_close,
};

static zlg_store *open_broken(broken *b, const zlg_store_methods *methods)
{
    zlg_store *store;
    zlg_status status = zlgi_ext_open(&zlgi_default_alloc, &test_limits, methods, b,
                                      "bucket", &store, NULL);
    assert_int_equal(status, ZLG_OK);
    return store;
}

static zlg_status call_open(zlg_store *store, zlg_error *err)
{
    zlgi_object object;
    return store->class->open(store, "k", 0, &object, err);
}

static zlg_status call_read(zlg_store *store, zlg_error *err)
{
    zlgi_object object;
    char text[4];
    size_t n;
    assert_int_equal(store->class->open(store, "there", 0, &object, NULL), ZLG_OK);
    assert_false(object.tag.trusted);
    zlg_status status = store->class->read(store, &object, 2, sizeof text, text, &n, err);
    store->class->release(store, &object);
    return status;
}

static zlg_status call_replace(zlg_store *store, zlg_error *err)
{
    return test_put(store, "k", "1", err);
}

static zlg_status call_create(zlg_store *store, zlg_error *err)
{
    zlgi_txn txn = {.change = ZLGI_REPLACE, .promise = ZLG_VISIBLE};
    assert_int_equal(store->class->begin(store, "k", &txn, NULL), ZLG_OK);
    txn.change = ZLGI_CREATE; /* that begin met nothing there */
    zlg_status status = store->class->commit(store, "k", &txn, NULL, 0, err);
    assert_false(txn.again);
    store->class->end(store, &txn);
    return status;
}

static zlg_status call_remove(zlg_store *store, zlg_error *err)
{
    return test_remove(store, "k", err);
}

static zlg_status call_update(zlg_store *store, zlg_error *err)
{
    zlgi_txn txn = {.change = ZLGI_UPDATE, .promise = ZLG_VISIBLE};
    assert_int_equal(store->class->begin(store, "there", &txn, NULL), ZLG_OK);
    zlg_status status = store->class->commit(store, "there", &txn, NULL, ZLGI_REMOVE, err);
    assert_int_equal(txn.again, status == ZLG_EXISTS);
    store->class->end(store, &txn);
    return status;
}

static zlg_status call_list(zlg_store *store, zlg_error *err)
{
    return store->class->list(store, "", false, NULL, test_list_nothing, NULL, err);
}

static zlg_status call_remove_prefix(zlg_store *store, zlg_error *err)
{
    return store->class->remove_prefix(store, "", NULL, err);
}

/* Only open may say that nothing is there, only conditional changes that something is. */
static void test_status_of_methods(void **state)
{
    (void)state;
    static const struct {
        zlg_status (*call)(zlg_store *store, zlg_error *err);
        zlg_status not_found, exists;
    } cases[] = {
        {call_open, ZLG_NOT_FOUND, ZLG_IO}, {call_read, ZLG_IO, ZLG_IO},
        {call_replace, ZLG_IO, ZLG_IO},     {call_create, ZLG_IO, ZLG_EXISTS},
        {call_remove, ZLG_IO, ZLG_IO},      {call_update, ZLG_IO, ZLG_EXISTS},
        {call_list, ZLG_IO, ZLG_IO},        {call_remove_prefix, ZLG_IO, ZLG_IO},
    };
    broken b = {0};
    zlg_store *store = open_broken(&b, &broken_methods);
    for (size_t i = 0; i < ZLGI_COUNT(cases); i++) {
        const struct {
            zlg_status given, expected;
        } statuses[] = {
            {ZLG_NOT_FOUND, cases[i].not_found},
            {ZLG_EXISTS, cases[i].exists},
            {ZLG_CANCELLED, ZLG_IO},
            {ZLG_LIMIT, ZLG_LIMIT},
            {ZLG_NO_MEMORY, ZLG_NO_MEMORY},
            {(zlg_status)-1, ZLG_IO},
            {(zlg_status)77, ZLG_IO},
        };
        for (size_t k = 0; k < ZLGI_COUNT(statuses); k++)
            for (int said = 0; said < 2; said++) {
                zlg_error err = {.message = "old"};
                b.status = statuses[k].given;
                b.message = said ? "line is down" : NULL;
                assert_int_equal(cases[i].call(store, &err), statuses[k].expected);
                assert_int_equal(err.status, statuses[k].expected);
                assert_int_equal(cases[i].call(store, NULL), statuses[k].expected);
                if (statuses[k].expected == ZLG_NOT_FOUND)
                    assert_string_equal(err.message, "");
                else if (said)
                    assert_string_equal(err.message, "line is down");
                else
                    assert_string_not_equal(err.message, "old");
            }
    }
    zlgi_store_destroy(store);
    assert_int_equal(b.n_closed, 1);
}

static void test_bad_keys_do_not_reach_it(void **state)
{
    (void)state;
    broken b = {.status = ZLG_IO};
    zlg_store *store = open_broken(&b, &broken_methods);
    zlgi_object object;
    zlgi_txn txn = {.change = ZLGI_UPDATE, .promise = ZLG_VISIBLE};
    assert_int_equal(store->class->open(store, "a//b", 0, &object, NULL), ZLG_NOT_FOUND);
    assert_int_equal(store->class->begin(store, "../b", &txn, NULL), ZLG_NOT_FOUND);
    assert_int_equal(b.n_opened, 0);
    zlgi_store_destroy(store);
}

static void test_what_is_read_fits(void **state)
{
    (void)state;
    broken b = {.n_read = 4};
    zlg_store *store = open_broken(&b, &broken_methods);
    zlg_error err;
    assert_int_equal(call_read(store, &err), ZLG_OK);
    b.n_read = 5;
    assert_int_equal(call_read(store, &err), ZLG_IO);
    assert_non_null(strstr(err.message, "5 bytes read, 4 asked for"));
    zlgi_store_destroy(store);

    zlg_store_methods views = broken_methods;
    views.read = NULL;
    store = open_broken(&b, &views);
    assert_int_equal(call_read(store, &err), ZLG_IO);
    assert_non_null(strstr(err.message, "neither a view nor a read"));
    zlgi_store_destroy(store);
}

static void test_what_is_listed_are_names(void **state)
{
    (void)state;
    static const char *const names[] = {"", "..", "a//b", "/a", "a/", "a\\b"};
    broken b = {0};
    zlg_store *store = open_broken(&b, &broken_methods);
    zlg_error err;
    for (size_t i = 0; i < ZLGI_COUNT(names); i++) {
        b.name = names[i];
        assert_int_equal(call_list(store, &err), ZLG_IO);
        assert_ptr_equal(strstr(err.message, "it lists"), err.message);
        assert_int_equal(call_remove_prefix(store, NULL), ZLG_IO);
        assert_int_equal(b.n_removed, 0);
    }
    b.name = "a/b";
    assert_int_equal(call_list(store, &err), ZLG_OK);
    zlg_status status =
        store->class->list(store, "p", true, NULL, test_list_nothing, NULL, &err);
    assert_int_equal(status, ZLG_IO);
    assert_int_equal(call_remove_prefix(store, NULL), ZLG_OK);
    assert_int_equal(b.n_removed, 1);
    zlgi_store_destroy(store);
}

/* ------------------------------------------------------------------ what is not there */

static void test_without_put_and_list(void **state)
{
    (void)state;
    broken b = {0};
    zlg_store_methods methods = {.n_bytes_struct = sizeof methods, .open = broken_open};
    zlg_store *store = open_broken(&b, &methods);
    zlg_error err;
    assert_int_equal(store->class->capabilities, 0);
    assert_int_equal(call_replace(store, &err), ZLG_UNSUPPORTED);
    assert_non_null(strstr(err.message, "read only"));
    assert_int_equal(call_remove_prefix(store, &err), ZLG_UNSUPPORTED);
    assert_int_equal(call_list(store, &err), ZLG_UNSUPPORTED);
    assert_non_null(strstr(err.message, "listed"));
    zlgi_store_destroy(store);
}

static void test_methods_that_do_not_do(void **state)
{
    (void)state;
    zlg_ctx *ctx;
    zlg_store *store;
    zlg_error err;
    broken b = {0};
    assert_int_equal(zlg_ctx_new(NULL, &ctx, NULL), ZLG_OK);
    zlg_store_methods cases[4] = {broken_methods, broken_methods, broken_methods,
                                  broken_methods};
    cases[0].open = NULL;
    cases[1].put = NULL;
    cases[2].remove = NULL;
    cases[3].n_bytes_struct = 0;
    for (size_t i = 0; i < ZLGI_COUNT(cases); i++) {
        store = (zlg_store *)&b;
        assert_int_equal(zlg_store_open_ext(ctx, &cases[i], &b, "x", &store, &err),
                         ZLG_USAGE);
        assert_null(store);
    }
    assert_int_equal(b.n_closed, 0);

    /* A caller of old times, whose struct ended before put. */
    zlg_store_methods old = broken_methods;
    old.n_bytes_struct = offsetof(zlg_store_methods, put);
    assert_int_equal(zlg_store_open_ext(ctx, &old, &b, "x", &store, &err), ZLG_OK);
    assert_int_equal(zlg_store_put(store, "k", "1", 1, &err), ZLG_UNSUPPORTED);
    zlg_store_close(store);
    assert_int_equal(b.n_closed, 0);
    zlg_ctx_close(ctx);
}

/* ------------------------------------------------------------------ arrays in it */

enum { LENGTH = 60 };

static void check_array(zlg_store *store)
{
    const int64_t shape[1] = {LENGTH}, shard[1] = {20}, chunk[1] = {5};
    int32_t data[LENGTH], back[LENGTH];
    for (int i = 0; i < LENGTH; i++)
        data[i] = i;
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    spec.rank = 1;
    spec.shape = shape;
    spec.object_shape = shard;
    spec.chunk_shape = chunk;
    spec.data_type = "int32";
    zlg_array *array;
    zlg_error err;
    assert_int_equal(zlg_array_create(store, "g/a", &spec, &array, &err), ZLG_OK);
    assert_int_equal(zlg_array_write(array, NULL, &(zlg_source){.data = data}, NULL, &err),
                     ZLG_OK);
    zlg_axis few = {.start = 7, .step = 3, .count = 15};
    zlg_selection box = {.kind = ZLG_BOX, .rank = 1, .axes = &few};
    int32_t minus = -1;
    assert_int_equal(zlg_array_fill(array, &box, &minus, sizeof minus, NULL, &err), ZLG_OK);
    for (int round = 0; round < 2; round++) { /* the second time with an index in hand */
        assert_int_equal(
            zlg_array_read(array, NULL, &(zlg_target){.data = back}, NULL, &err), ZLG_OK);
        for (int i = 0; i < LENGTH; i++)
            assert_int_equal(back[i], i >= 7 && i < 52 && (i - 7) % 3 == 0 ? -1 : i);
    }
    const int64_t shorter[1] = {25};
    zlg_array *resized;
    uint64_t n_objects, n_bytes;
    assert_int_equal(zlg_array_resize(array, shorter, NULL, &resized, &err), ZLG_OK);
    assert_int_equal(zlg_array_stored(resized, &n_objects, &n_bytes, &err), ZLG_OK);
    assert_int_equal(n_objects, 2);
    zlg_array_close(resized);
    zlg_array_close(array);
    assert_int_equal(zlg_node_rename(store, "g", "h", NULL, &err), ZLG_UNSUPPORTED);
    assert_int_equal(zlg_node_delete(store, "g", NULL, &err), ZLG_OK);
    zlg_text text;
    assert_int_equal(zlg_store_get(store, "g/a/c/0", &text, &err), ZLG_NOT_FOUND);
}

static void test_arrays_live_in_it(void **state)
{
    (void)state;
    for (int lends = 0; lends < 2; lends++) {
        zlg_ctx *ctx;
        zlg_store *store;
        assert_int_equal(zlg_ctx_new(NULL, &ctx, NULL), ZLG_OK);
        assert_int_equal(zlg_store_open_ext(ctx, &custom_methods, custom_new(lends), "own",
                                            &store, NULL),
                         ZLG_OK);
        zlg_ctx_close(ctx); /* the store keeps it */
        check_array(store);
        zlg_store_close(store);
    }
}

static void test_errors_name_the_place(void **state)
{
    (void)state;
    zlg_ctx *ctx;
    zlg_store *store;
    zlg_array *array;
    zlg_error err;
    broken b = {.status = ZLG_IO, .message = "line is down"};
    int32_t data[4];
    assert_int_equal(zlg_ctx_new(NULL, &ctx, NULL), ZLG_OK);
    assert_int_equal(zlg_store_open_ext(ctx, &broken_methods, &b, "bucket", &store, NULL),
                     ZLG_OK);
    static const char document[] =
        "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[4],\"data_type\":\"int32\","
        "\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[4]}},"
        "\"chunk_key_encoding\":{\"name\":\"default\"},\"fill_value\":0,"
        "\"codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}]}";
    assert_int_equal(zlg_array_from_metadata(store, "a", document, NULL, &array, &err),
                     ZLG_OK);
    assert_int_equal(zlg_array_read(array, NULL, &(zlg_target){.data = data}, NULL, &err),
                     ZLG_IO);
    assert_string_equal(err.message, "bucket: array a: chunk c/0: line is down");
    zlg_array_close(array);
    zlg_store_close(store);
    zlg_ctx_close(ctx);
}

static void test_short_memory(void **state)
{
    (void)state;
    test_heap heap;
    test_heap_init(&heap);
    heap.fail_at = 1;
    zlg_store *store;
    broken b = {0};
    assert_int_equal(
        zlgi_ext_open(&heap.alloc, &test_limits, &broken_methods, &b, "x", &store, NULL),
        ZLG_NO_MEMORY);
    assert_int_equal(b.n_closed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_status_of_methods),
        cmocka_unit_test(test_bad_keys_do_not_reach_it),
        cmocka_unit_test(test_what_is_read_fits),
        cmocka_unit_test(test_what_is_listed_are_names),
        cmocka_unit_test(test_without_put_and_list),
        cmocka_unit_test(test_methods_that_do_not_do),
        cmocka_unit_test(test_arrays_live_in_it),
        cmocka_unit_test(test_errors_name_the_place),
        cmocka_unit_test(test_short_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
