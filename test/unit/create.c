/* Making nodes: what stands in the way, what is left alone when they cannot be made, what
 * may be there already, and who wins when several make one. Label: engine */
#define _GNU_SOURCE
#include "change_test.h"

static const int64_t shape[1] = {4}, chunk[1] = {2};

static zlg_array_spec make_spec(void)
{
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    spec.rank = 1;
    spec.shape = shape;
    spec.object_shape = chunk;
    spec.data_type = "uint8";
    return spec;
}

static zlg_status create_array(zlg_store *store, const char *path, int overwrite)
{
    zlg_array_spec spec = make_spec();
    zlg_array *array;
    spec.overwrite = overwrite;
    zlg_status status = zlg_array_create(store, path, &spec, &array, NULL);
    if (status == ZLG_OK && strlen(path) < 10)
        MUST(zlg_array_write(array, NULL, &(zlg_source){.data = "data"}, NULL, err_));
    zlg_array_close(array);
    return status;
}

static zlg_status create_group(zlg_store *store, const char *path, int overwrite)
{
    zlg_group_spec spec = ZLG_GROUP_SPEC_INIT;
    zlg_group *group;
    spec.overwrite = overwrite;
    zlg_status status = zlg_group_create(store, path, &spec, &group, NULL);
    zlg_group_close(group);
    return status;
}

static void test_parents_are_made(void **state)
{
    (void)state;
    static const char *const groups[] = {"", "a", "a/b"};
    fixture f;
    open_fixture(&f);
    for (int s = 0; s < N_STORES; s++) {
        zlg_store *store = f.stores[s];
        zlg_node kind;
        assert_int_equal(create_array(store, "a/b/x", 0), ZLG_OK);
        for (int i = 0; i < 3; i++) {
            MUST(zlg_node_kind(store, groups[i], NULL, &kind, err_));
            assert_int_equal(kind, ZLG_NODE_GROUP);
        }
        assert_int_equal(n_keys(store, ""), 3 + 1 + 2);
        assert_int_equal(create_array(store, "a/b/x", 0), ZLG_EXISTS);
        assert_int_equal(create_group(store, "a/b", 0), ZLG_EXISTS);
        assert_int_equal(create_group(store, "a", 1), ZLG_OK);
        assert_int_equal(n_keys(store, ""), 2); /* the root and a */
    }
    close_fixture(&f);
}

/* "x/c" is where the chunks of array x lie. */
static void test_nothing_is_made_or_removed_in_an_array(void **state)
{
    (void)state;
    static const char *const paths[] = {"x/c", "x/c/0", "x/y"};
    fixture f;
    open_fixture(&f);
    zlg_store *store = f.stores[0];
    assert_int_equal(create_array(store, "x", 0), ZLG_OK);
    int n = n_keys(store, "");
    for (int i = 0; i < 3; i++)
        for (int overwrite = 0; overwrite < 2; overwrite++) {
            assert_int_equal(create_array(store, paths[i], overwrite), ZLG_EXISTS);
            assert_int_equal(create_group(store, paths[i], overwrite), ZLG_EXISTS);
            assert_int_equal(n_keys(store, ""), n);
        }
    close_fixture(&f);
}

/* A node that is there keeps what lies above it from being made. */
static void test_no_parents_are_made_in_vain(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    put_text(f.stores[0], "a/b/zarr.json", "{\"zarr_format\":3,\"node_type\":\"group\"}");
    assert_int_equal(create_array(f.stores[0], "a/b", 0), ZLG_EXISTS);
    assert_int_equal(n_keys(f.stores[0], ""), 1);
    close_fixture(&f);
}

static void test_paths_that_are_too_long(void **state)
{
    (void)state;
    char path[6000];
    fixture f;
    open_fixture(&f);
    for (size_t n = 4050; n < 4150; n++) {
        memset(path, 'a', n);
        memcpy(path + n, "/b", 3);
        for (int overwrite = 0; overwrite < 2; overwrite++) {
            zlg_status array = create_array(f.stores[0], path, overwrite);
            zlg_status group = create_group(f.stores[0], path, overwrite);
            if (n < 4096) /* some still fit, some do not */
                continue;
            assert_int_equal(array, ZLG_NOT_FOUND);
            assert_int_equal(group, ZLG_NOT_FOUND);
        }
    }
    close_fixture(&f);
}

/* Names that files cannot have, or that stand for something else there: not even the groups
 * above are made. */
static void test_names_of_no_file(void **state)
{
    (void)state;
    static const char *const names[] = {".zlg-tmp-0", "a/b/.zlg-tmp-0", "a/.zlg-tmp-0/b"};
    char path[310] = "a/b/";
    fixture f;
    open_fixture(&f);
    zlg_store *store = f.stores[1];
    memset(path + 4, 'x', 256);
    for (size_t i = 0; i < ZLGI_COUNT(names); i++)
        for (int overwrite = 0; overwrite < 2; overwrite++) {
            assert_int_equal(create_array(store, names[i], overwrite), ZLG_USAGE);
            assert_int_equal(create_group(store, names[i], overwrite), ZLG_USAGE);
        }
    assert_int_equal(create_array(store, path, 0), ZLG_USAGE);
    assert_int_equal(create_group(store, path, 0), ZLG_USAGE);
    assert_int_equal(n_keys(store, ""), 0);
    path[4 + 255] = '\0';
    assert_int_equal(create_group(store, path, 0), ZLG_OK);
    close_fixture(&f);
}

/* An array whose document could be stored, but not its last chunk, is not made. */
static void test_keys_that_are_too_long(void **state)
{
    (void)state;
    static const int64_t one[2] = {1, 1}, many[2] = {INT64_C(1) << 40, INT64_C(1) << 40};
    char path[4096];
    fixture f;
    open_fixture(&f);
    memset(path, 'a', sizeof path);
    path[4070] = 0;
    zlg_array_spec spec = make_spec();
    zlg_array *array;
    spec.rank = 2;
    spec.shape = one;
    spec.object_shape = one;
    MUST(zlg_array_create(f.stores[0], path, &spec, &array, err_));
    zlg_array_close(array);
    spec.shape = many;
    spec.overwrite = 1;
    REFUSED(ZLG_NOT_FOUND, "too long",
            zlg_array_create(f.stores[0], path, &spec, &array, err_));
    close_fixture(&f);
}

/* ------------------------------------------------------------------ what is there */

static void test_an_array_that_may_be_there(void **state)
{
    (void)state;
    static const int64_t longer[1] = {5};
    fixture f;
    open_fixture(&f);
    for (int s = 0; s < N_STORES; s++) {
        zlg_store *store = f.stores[s];
        zlg_array_spec spec = make_spec();
        zlg_array *array;
        char out[5] = "";
        spec.exist_ok = 1;
        spec.keep_empty = 1;
        MUST(zlg_array_create(store, "a", &spec, &array, err_));
        MUST(zlg_array_write(array, NULL, &(zlg_source){.data = "data"}, NULL, err_));
        zlg_array_close(array);
        /* Only shape and type count; the rest is as it was made. */
        spec.object_shape = NULL;
        spec.codecs = "[{\"name\":\"bytes\"},{\"name\":\"crc32c\"}]";
        spec.attributes = "{\"new\":1}";
        MUST(zlg_array_create(store, "a", &spec, &array, err_));
        MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, NULL, err_));
        assert_string_equal(out, "data");
        assert_int_equal(zlg_array_object_shape(array)[0], 2);
        assert_true(array->keep_empty && array->promise == ZLG_VISIBLE);
        zlg_array_close(array);
        check_attributes(store, "a", "{}");
        spec.shape = longer;
        REFUSED(ZLG_EXISTS, "another shape",
                zlg_array_create(store, "a", &spec, &array, err_));
        spec.shape = shape;
        spec.data_type = "int8";
        REFUSED(ZLG_EXISTS, "another shape",
                zlg_array_create(store, "a", &spec, &array, err_));
        spec = make_spec();
        spec.exist_ok = 1;
        REFUSED(ZLG_EXISTS, "a group is already there",
                zlg_array_create(store, "", &spec, &array, err_));
        REFUSED(ZLG_EXISTS, "nothing can lie in it",
                zlg_array_create(store, "a/c", &spec, &array, err_));
        /* What the spec gets wrong is told all the same. */
        spec.data_type = "quaternion";
        REFUSED(ZLG_UNSUPPORTED, "quaternion",
                zlg_array_create(store, "a", &spec, &array, err_));
        spec = make_spec();
        spec.exist_ok = spec.overwrite = 1;
        REFUSED(ZLG_USAGE, "both", zlg_array_create(store, "a", &spec, &array, err_));
        spec = make_spec();
        spec.promise = 4;
        REFUSED(ZLG_USAGE, "promise 4 is none",
                zlg_array_create(store, "b", &spec, &array, err_));
        assert_false(has_key(store, "b/zarr.json"));
    }
    close_fixture(&f);
}

/* The version counts when it is asked for. */
static void test_an_array_of_another_version(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    zlg_store *store = f.stores[0];
    zlg_array_spec old = make_spec(), spec = make_spec();
    zlg_array *array;
    old.zarr_format = 2;
    old.data_type = "|u1";
    MUST(zlg_array_create(store, "a", &old, &array, err_));
    zlg_array_close(array);
    spec.exist_ok = 1;
    MUST(zlg_array_create(store, "a", &spec, &array, err_));
    assert_int_equal(zlg_array_zarr_format(array), 2);
    zlg_array_close(array);
    spec.zarr_format = 3;
    REFUSED(ZLG_EXISTS, "already there", zlg_array_create(store, "a", &spec, &array, err_));
    assert_false(has_key(store, "a/zarr.json"));
    close_fixture(&f);
}

static void test_a_group_that_may_be_there(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    for (int s = 0; s < N_STORES; s++)
        for (int format = 2; format <= 3; format++) {
            zlg_store *store = f.stores[s];
            zlg_group_spec spec = ZLG_GROUP_SPEC_INIT;
            zlg_group *group;
            const char *path = format == 2 ? "two" : "three";
            spec.zarr_format = format;
            spec.attributes = "{\"a\":1}";
            MUST(zlg_group_create(store, path, &spec, &group, err_));
            zlg_group_close(group);
            REFUSED(ZLG_EXISTS, "a group is already there",
                    zlg_group_create(store, path, &spec, &group, err_));
            spec.exist_ok = 1;
            spec.zarr_format = 0;
            spec.attributes = "{\"a\":2}";
            MUST(zlg_group_create(store, path, &spec, &group, err_));
            assert_int_equal(zlg_group_zarr_format(group), format);
            zlg_group_close(group);
            check_attributes(store, path, "{\"a\":1}");
            spec.zarr_format = 5 - format;
            REFUSED(ZLG_EXISTS, "a group is already there",
                    zlg_group_create(store, path, &spec, &group, err_));
            spec.zarr_format = 1;
            REFUSED(ZLG_USAGE, "zarr_format is 1",
                    zlg_group_create(store, path, &spec, &group, err_));
            spec.overwrite = 1;
            REFUSED(ZLG_USAGE, "both", zlg_group_create(store, path, &spec, &group, err_));
            assert_int_equal(create_array(store, "x", 1), ZLG_OK);
            spec = (zlg_group_spec)ZLG_GROUP_SPEC_INIT;
            spec.exist_ok = 1;
            REFUSED(ZLG_EXISTS, "an array is already there",
                    zlg_group_create(store, "x", &spec, &group, err_));
        }
    close_fixture(&f);
}

/* ------------------------------------------------------------------ attributes */

static void test_tokens_of_python(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    zlg_store *store = f.stores[0];
    for (int format = 2; format <= 3; format++) {
        zlg_array_spec spec = make_spec();
        zlg_group_spec group_spec = ZLG_GROUP_SPEC_INIT;
        zlg_array *array;
        zlg_group *group;
        spec.zarr_format = group_spec.zarr_format = format;
        spec.data_type = format == 2 ? "|u1" : "uint8";
        spec.attributes = group_spec.attributes = "{\"a\":[1,{\"b\":NaN}]}";
        spec.overwrite = group_spec.overwrite = 1;
        int n = n_keys(store, "");
        REFUSED(ZLG_USAGE, "attributes: \"a\": [1]: \"b\": NaN is no JSON",
                zlg_array_create(store, "a", &spec, &array, err_));
        REFUSED(ZLG_USAGE, "attributes: \"a\": [1]: \"b\": NaN is no JSON",
                zlg_group_create(store, "", &group_spec, &group, err_));
        assert_int_equal(n_keys(store, ""), n);
        spec.python_tokens = group_spec.python_tokens = 1;
        MUST(zlg_group_create(store, "", &group_spec, &group, err_));
        MUST(zlg_array_create(store, "a", &spec, &array, err_));
        zlg_array_close(array);
        zlg_group_close(group);
        check_attributes(store, "a", "{\"a\":[1,{\"b\":NaN}]}");
        check_attributes(store, "", "{\"a\":[1,{\"b\":NaN}]}");
    }
    close_fixture(&f);
}

/* Attributes that lie about without a node are not those of a new one; those of an old
 * group that has no document of its own stay. */
static void test_attributes_without_a_node(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    zlg_store *store = f.stores[0];
    zlg_array_spec spec = make_spec();
    zlg_group_spec group_spec = ZLG_GROUP_SPEC_INIT;
    zlg_array *array;
    zlg_group *group;
    spec.zarr_format = group_spec.zarr_format = 2;
    spec.data_type = "|u1";
    put_text(store, "g/.zattrs", "{\"of\":\"g\"}");
    put_text(store, "g/a/.zattrs", "{\"of\":\"a\"}");
    put_text(store, "g/h/.zattrs", "{\"of\":\"h\"}");
    MUST(zlg_array_create(store, "g/a", &spec, &array, err_));
    MUST(zlg_group_create(store, "g/h", &group_spec, &group, err_));
    zlg_array_close(array);
    zlg_group_close(group);
    check_attributes(store, "g/a", "{}");
    check_attributes(store, "g/h", "{}");
    check_attributes(store, "g", "{\"of\":\"g\"}");
    close_fixture(&f);
}

/* ------------------------------------------------------------------ several at once */

enum { CREATORS = 6, ROUNDS = 12 };

typedef struct creator {
    pthread_barrier_t *start;
    zlg_store *store;
    int number, format, exist_ok;
    const char *path;
    zlg_status status;
} creator;

static void *run_creator(void *user)
{
    creator *c = user;
    char attributes[32];
    zlg_array_spec spec = make_spec();
    zlg_array *array;
    snprintf(attributes, sizeof attributes, "{\"by\":%d}", c->number);
    spec.zarr_format = c->format;
    spec.data_type = c->format == 2 ? "|u1" : "uint8";
    spec.attributes = attributes;
    spec.exist_ok = c->exist_ok;
    pthread_barrier_wait(c->start);
    c->status = zlg_array_create(c->store, c->path, &spec, &array, NULL);
    zlg_array_close(array);
    return NULL;
}

static void race(zlg_store *store, int format, int exist_ok, const char *path)
{
    creator creators[CREATORS];
    pthread_t threads[CREATORS];
    pthread_barrier_t start;
    char expected[32] = "";
    int n_won = 0;
    assert_int_equal(pthread_barrier_init(&start, NULL, CREATORS), 0);
    for (int i = 0; i < CREATORS; i++) {
        creators[i] = (creator){&start, store, i, format, exist_ok, path, ZLG_OK};
        assert_int_equal(pthread_create(&threads[i], NULL, run_creator, &creators[i]), 0);
    }
    for (int i = 0; i < CREATORS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        if (creators[i].status == ZLG_OK)
            n_won++, snprintf(expected, sizeof expected, "{\"by\":%d}", i);
        else
            assert_int_equal(creators[i].status, ZLG_EXISTS);
    }
    pthread_barrier_destroy(&start);
    assert_int_equal(n_won, exist_ok ? CREATORS : 1);
    if (!exist_ok)
        check_attributes(store, path, expected);
}

static void test_several_make_one_array(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    for (int round = 0; round < ROUNDS; round++)
        for (int s = 0; s < N_STORES; s++)
            for (int format = 2; format <= 3; format++)
                for (int exist_ok = 0; exist_ok < 2; exist_ok++) {
                    char path[64];
                    snprintf(path, sizeof path, "v%d/r%d/e%d/a", format, round, exist_ok);
                    race(f.stores[s], format, exist_ok, path);
                }
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parents_are_made),
        cmocka_unit_test(test_nothing_is_made_or_removed_in_an_array),
        cmocka_unit_test(test_no_parents_are_made_in_vain),
        cmocka_unit_test(test_paths_that_are_too_long),
        cmocka_unit_test(test_names_of_no_file),
        cmocka_unit_test(test_keys_that_are_too_long),
        cmocka_unit_test(test_an_array_that_may_be_there),
        cmocka_unit_test(test_an_array_of_another_version),
        cmocka_unit_test(test_a_group_that_may_be_there),
        cmocka_unit_test(test_tokens_of_python),
        cmocka_unit_test(test_attributes_without_a_node),
        cmocka_unit_test(test_several_make_one_array),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
