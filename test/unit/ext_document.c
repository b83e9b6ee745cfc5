/*
 * Data types and chunk keys of the caller: documents keep their names, elements and keys
 * are what stands for them.
 */
#include <stdio.h>
#include <stdlib.h>

#include "test.h"
#include "zellige_ext.h"

enum { LENGTH = 10 };

static void must(zlg_status status, const zlg_error *err)
{
    if (status != ZLG_OK)
        fail_msg("%s", err->message);
}

/* ------------------------------------------------------------------ types
 *
 * example.celsius: hundredths of a degree in int16, or as wide as the configuration says;
 * fill values are text, "12.34 C".
 */
static zlg_status celsius_type(void *self, const char *configuration, zlg_output *output,
                               zlg_error *err)
{
    unsigned bits = 16;
    char text[32];
    (void)self;
    if (strcmp(configuration, "{}") != 0 &&
        sscanf(configuration, "{\"bits\":%u}", &bits) != 1) {
        snprintf(err->message, sizeof err->message, "\"bits\" is missing");
        return ZLG_METADATA;
    }
    int n = snprintf(text, sizeof text, "\"int%u\"", bits);
    return zlg_output_append(output, text, (size_t)n, err);
}

static zlg_status celsius_fill(void *self, const char *configuration, const char *fill,
                               zlg_output *output, zlg_error *err)
{
    int whole, part;
    char text[32];
    (void)self, (void)configuration;
    if (sscanf(fill, "\"%d.%2d C\"", &whole, &part) != 2) {
        snprintf(err->message, sizeof err->message, "%s is no temperature", fill);
        return ZLG_METADATA;
    }
    int n = snprintf(text, sizeof text, "%d", whole * 100 + part);
    return zlg_output_append(output, text, (size_t)n, err);
}

static void count(void *self)
{
    ++*(int *)self;
}

static const zlg_data_type_methods celsius = {
    .n_bytes_struct = sizeof(zlg_data_type_methods),
    .name = "example.celsius",
    .type = celsius_type,
    .fill_value = celsius_fill,
    .default_fill_value = "\"0.00 C\"",
    .close = count,
};

static const zlg_data_type_methods word = {
    .n_bytes_struct = sizeof(zlg_data_type_methods),
    .name = "example.word",
    .data_type = "{\"name\":\"raw_bytes\",\"configuration\":{\"length_bytes\":2}}",
    .close = count,
};

/* ------------------------------------------------------------------ keys
 *
 * example.banded: "b<i / n>/<i>" along the first axis, then the others.
 */
static zlg_status banded_parse(void *self, const char *configuration, int rank,
                               void **out_state, zlg_error *err)
{
    int *n = malloc(sizeof *n);
    (void)self, (void)rank;
    assert_non_null(n);
    *out_state = n;
    if (sscanf(configuration, "{\"n\":%d}", n) == 1 && *n > 0)
        return ZLG_OK;
    free(n);
    snprintf(err->message, sizeof err->message, "%s has no n", configuration);
    return ZLG_METADATA;
}

static zlg_status banded_write(void *state, int rank, const int64_t *coordinates, char *key,
                               size_t n_room, zlg_error *err)
{
    const int n = *(int *)state;
    (void)err;
    assert_int_equal(rank, 1);
    snprintf(key, n_room, "b%lld/%lld", (long long)coordinates[0] / n,
             (long long)coordinates[0]);
    return ZLG_OK;
}

static int banded_read(void *state, int rank, const char *key, int64_t *coordinates)
{
    long long band, i;
    char back[64];
    (void)rank;
    if (sscanf(key, "b%lld/%lld", &band, &i) != 2)
        return 0;
    coordinates[0] = i;
    assert_int_equal(banded_write(state, 1, coordinates, back, sizeof back, NULL), ZLG_OK);
    return strcmp(back, key) == 0;
}

static const zlg_key_methods banded = {
    .n_bytes_struct = sizeof(zlg_key_methods),
    .name = "example.banded",
    .parse = banded_parse,
    .free = free,
    .write = banded_write,
    .read = banded_read,
    .close = count,
};

/* ------------------------------------------------------------------ arrays */

typedef struct fixture {
    zlg_ctx *ctx;
    zlg_store *store;
    int n_closed;
} fixture;

static void open_fixture(fixture *f)
{
    *f = (fixture){0};
    assert_int_equal(zlg_ctx_new(NULL, &f->ctx, NULL), ZLG_OK);
    assert_int_equal(zlg_store_open_memory(f->ctx, &f->store, NULL), ZLG_OK);
    zlg_error err;
    must(zlg_ctx_register_data_type(f->ctx, &celsius, &f->n_closed, &err), &err);
    must(zlg_ctx_register_data_type(f->ctx, &word, &f->n_closed, &err), &err);
    must(zlg_ctx_register_chunk_key_encoding(f->ctx, &banded, &f->n_closed, &err), &err);
}

static void close_fixture(fixture *f)
{
    zlg_store_close(f->store);
    zlg_ctx_close(f->ctx);
    assert_int_equal(f->n_closed, 3);
}

static zlg_status create(fixture *f, const char *type, const char *fill, const char *keys,
                         zlg_array **out, zlg_error *err)
{
    static const int64_t shape[1] = {LENGTH}, chunk[1] = {2};
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    spec.rank = 1;
    spec.shape = shape;
    spec.object_shape = chunk;
    spec.data_type = type;
    spec.fill_value = fill;
    spec.chunk_key_encoding = keys;
    spec.overwrite = 1;
    return zlg_array_create(f->store, "a", &spec, out, err);
}

static void must_have(fixture *f, const char *part)
{
    zlg_text text;
    zlg_error err;
    must(zlg_store_get(f->store, "a/zarr.json", &text, &err), &err);
    if (strstr(text.data, part) == NULL)
        fail_msg("%s is not in %s", part, text.data);
    zlg_text_free(&text);
}

static void test_types(void **state)
{
    (void)state;
    fixture f;
    zlg_array *array, *like;
    zlg_error err;
    int16_t data[LENGTH] = {0}, back[LENGTH];
    open_fixture(&f);
    must(create(&f, "example.celsius", "\"-1.25 C\"", NULL, &array, &err), &err);
    must_have(&f, "\"data_type\": \"example.celsius\"");
    must_have(&f, "\"fill_value\": \"-1.25 C\"");
    assert_int_equal(zlg_array_dtype(array).type, ZLG_INT16);
    zlg_axis few = {.start = 3, .step = 1, .count = 2};
    zlg_selection box = {.rank = 1, .axes = &few};
    data[0] = 7;
    must(zlg_array_write(array, &box, &(zlg_source){.data = data}, NULL, &err), &err);
    must(zlg_array_read(array, NULL, &(zlg_target){.data = back}, NULL, &err), &err);
    assert_int_equal(back[2], -75); /* -1 * 100 + 25 */
    assert_int_equal(back[3], 7);
    assert_int_equal(back[4], 0);
    zlg_array_close(array);

    /* Opened, resized, and taken as a pattern. */
    const int64_t longer[1] = {2 * LENGTH};
    must(zlg_array_open(f.store, "a", NULL, &array, &err), &err);
    must(zlg_array_resize(array, longer, NULL, NULL, &err), &err);
    must_have(&f, "\"data_type\": \"example.celsius\"");
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    spec.like = array;
    must(zlg_array_create(f.store, "b", &spec, &like, &err), &err);
    assert_int_equal(zlg_array_dtype(like).type, ZLG_INT16);
    zlg_array_close(like);
    zlg_array_close(array);

    must(create(&f, "{\"name\":\"example.celsius\",\"configuration\":{\"bits\":32}}", NULL,
                NULL, &array, &err),
         &err);
    assert_int_equal(zlg_array_dtype(array).type, ZLG_INT32);
    must_have(&f, "\"fill_value\": \"0.00 C\"");
    zlg_array_close(array);
    must(create(&f, "example.word", NULL, NULL, &array, &err), &err);
    assert_int_equal(zlg_array_dtype(array).type, ZLG_RAW);
    assert_int_equal(zlg_array_dtype(array).n_bytes, 2);
    must_have(&f, "\"data_type\": \"example.word\"");
    zlg_array_close(array);
    close_fixture(&f);
}

static void test_keys(void **state)
{
    (void)state;
    fixture f;
    zlg_array *array, *resized;
    zlg_error err;
    int32_t data[LENGTH], back[LENGTH];
    open_fixture(&f);
    static const char keys[] = "{\"name\":\"example.banded\",\"configuration\":{\"n\":2}}";
    must(create(&f, "int32", NULL, keys, &array, &err), &err);
    must_have(&f, "\"name\": \"example.banded\"");
    for (int i = 0; i < LENGTH; i++)
        data[i] = i + 1;
    must(zlg_array_write(array, NULL, &(zlg_source){.data = data}, NULL, &err), &err);
    must(zlg_array_read(array, NULL, &(zlg_target){.data = back}, NULL, &err), &err);
    assert_memory_equal(back, data, sizeof data);
    zlg_text text;
    const int64_t last[1] = {4};
    must(zlg_array_key(array, last, &text, &err), &err);
    assert_string_equal(text.data, "a/b2/4");
    zlg_text_free(&text);
    must(zlg_store_get(f.store, "a/b2/4", &text, &err), &err);
    zlg_text_free(&text);

    const int64_t shorter[1] = {3};
    uint64_t n_objects, n_bytes;
    must(zlg_array_resize(array, shorter, NULL, &resized, &err), &err);
    assert_int_equal(zlg_store_get(f.store, "a/b2/4", &text, &err), ZLG_NOT_FOUND);
    must(zlg_array_stored(resized, &n_objects, &n_bytes, &err), &err);
    assert_int_equal(n_objects, 2);
    zlg_array_close(resized);
    zlg_array_close(array);
    close_fixture(&f);
}

/* ------------------------------------------------------------------ refused */

static void test_what_is_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *type, *fill, *keys;
        zlg_status expected;
        const char *message;
    } cases[] = {
        {"example.celsius", "5", NULL, ZLG_METADATA,
         "data type example.celsius: 5 is no temperature"},
        {"example.celsius", "\"5.00 C", NULL, ZLG_USAGE, "no JSON"},
        {"{\"name\":\"example.celsius\",\"configuration\":{\"x\":1}}", NULL, NULL,
         ZLG_METADATA, "\"bits\" is missing"},
        {"{\"name\":\"example.celsius\",\"configuration\":{\"bits\":7}}", NULL, NULL,
         ZLG_UNSUPPORTED, "int7"},
        {"{\"name\":\"example.word\",\"configuration\":{\"x\":1}}", NULL, NULL,
         ZLG_METADATA, "data type example.word: \"x\" is not known"},
        {"example.nothing", NULL, NULL, ZLG_UNSUPPORTED, "example.nothing"},
        {"int8", NULL, "example.banded", ZLG_METADATA,
         "chunk key encoding example.banded: {} has no n"},
        {"int8", NULL, "example.nothing", ZLG_UNSUPPORTED, "example.nothing"},
    };
    fixture f;
    open_fixture(&f);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        zlg_array *array;
        zlg_error err;
        assert_int_equal(
            create(&f, cases[i].type, cases[i].fill, cases[i].keys, &array, &err),
            cases[i].expected);
        if (strstr(err.message, cases[i].message) == NULL)
            fail_msg("\"%s\" is not in \"%s\"", cases[i].message, err.message);
    }
    close_fixture(&f);
}

static const char *bad_key;

static zlg_status bad_write(void *state, int rank, const int64_t *coordinates, char *key,
                            size_t n_room, zlg_error *err)
{
    (void)state, (void)rank, (void)coordinates;
    if (bad_key == NULL) {
        memset(key, 'a', n_room);
        return ZLG_OK;
    }
    snprintf(key, n_room, "%s", bad_key);
    snprintf(err->message, sizeof err->message, "%s", bad_key);
    return *bad_key == '!' ? ZLG_NOT_FOUND : ZLG_OK;
}

/* A key that is none is an error, not a chunk that is missing. */
static void test_keys_that_are_none(void **state)
{
    (void)state;
    static const char *const keys[] = {"", "..", "a//b", "zarr.json", "!", NULL};
    fixture f;
    open_fixture(&f);
    zlg_key_methods methods = banded;
    methods.write = bad_write;
    methods.parse = NULL;
    methods.free = NULL;
    methods.close = NULL;
    assert_int_equal(zlg_ctx_register_chunk_key_encoding(f.ctx, &methods, NULL, NULL), 0);
    zlg_array *array;
    zlg_error err;
    bad_key = "fine";
    must(create(&f, "int32", NULL, "example.banded", &array, &err), &err);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        int32_t back[LENGTH];
        bad_key = keys[i];
        assert_int_equal(
            zlg_array_read(array, NULL, &(zlg_target){.data = back}, NULL, &err),
            ZLG_USAGE);
        assert_non_null(strstr(err.message, "chunk key encoding example.banded: "));
    }
    zlg_array_close(array);
    close_fixture(&f);
}

static void test_names(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        zlg_status type, keys;
    } cases[] = {
        {"int8", ZLG_EXISTS, ZLG_OK},      {"r16", ZLG_EXISTS, ZLG_OK},
        {"raw_bytes", ZLG_EXISTS, ZLG_OK}, {"default", ZLG_OK, ZLG_EXISTS},
        {"v2", ZLG_OK, ZLG_EXISTS},        {NULL, ZLG_USAGE, ZLG_USAGE},
        {"", ZLG_USAGE, ZLG_USAGE},        {"{", ZLG_USAGE, ZLG_USAGE},
        {"\xff", ZLG_USAGE, ZLG_USAGE},    {"own", ZLG_OK, ZLG_OK},
    };
    fixture f;
    zlg_error err;
    open_fixture(&f);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        zlg_data_type_methods type = {
            .n_bytes_struct = sizeof type, .name = cases[i].name, .data_type = "int8"};
        zlg_key_methods keys = banded;
        keys.name = cases[i].name;
        keys.close = NULL;
        assert_int_equal(zlg_ctx_register_data_type(f.ctx, &type, NULL, &err),
                         cases[i].type);
        assert_int_equal(zlg_ctx_register_chunk_key_encoding(f.ctx, &keys, NULL, &err),
                         cases[i].keys);
    }
    zlg_data_type_methods both = celsius;
    both.data_type = "int8";
    assert_int_equal(zlg_ctx_register_data_type(f.ctx, &both, NULL, &err), ZLG_USAGE);
    zlg_key_methods keys = banded;
    keys.read = NULL;
    assert_int_equal(zlg_ctx_register_chunk_key_encoding(f.ctx, &keys, NULL, &err),
                     ZLG_USAGE);
    close_fixture(&f);
}

static void test_short_memory(void **state)
{
    (void)state;
    for (size_t fail_at = 1;; fail_at++) {
        test_heap heap;
        test_heap_init(&heap);
        zlg_ctx_options options = ZLG_CTX_OPTIONS_INIT;
        options.allocator = heap.alloc;
        options.n_threads = 1;
        fixture f = {0};
        zlg_array *array = NULL;
        assert_int_equal(zlg_ctx_new(&options, &f.ctx, NULL), ZLG_OK);
        assert_int_equal(zlg_store_open_memory(f.ctx, &f.store, NULL), ZLG_OK);
        heap.fail_at = heap.n_calls + fail_at;
        zlg_status status = zlg_ctx_register_data_type(f.ctx, &celsius, &f.n_closed, NULL);
        int n = status == ZLG_OK;
        if (status == ZLG_OK)
            status = zlg_ctx_register_chunk_key_encoding(f.ctx, &banded, &f.n_closed, NULL);
        n += status == ZLG_OK;
        if (status == ZLG_OK)
            status = create(&f, "example.celsius", NULL,
                            "{\"name\":\"example.banded\",\"configuration\":{\"n\":2}}",
                            &array, NULL);
        zlg_array_close(array);
        zlg_store_close(f.store);
        zlg_ctx_close(f.ctx);
        assert_int_equal(heap.n_blocks, 0);
        if (status == ZLG_OK) {
            assert_int_equal(f.n_closed, 2);
            assert_true(fail_at > 10);
            return;
        }
        assert_int_equal(status, ZLG_NO_MEMORY);
        assert_true(f.n_closed <= n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),         cmocka_unit_test(test_keys),
        cmocka_unit_test(test_what_is_wrong), cmocka_unit_test(test_keys_that_are_none),
        cmocka_unit_test(test_names),         cmocka_unit_test(test_short_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
