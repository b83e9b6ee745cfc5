/* Making nodes: what stands in the way, and what is left alone when they cannot be made. */
#define _GNU_SOURCE
#include "fault/fault.h"

typedef struct fixture {
    zlg_ctx *ctx;
    zlg_store *store;
} fixture;

static void open_fixture(fixture *f)
{
    MUST(zlg_ctx_new(NULL, &f->ctx, err_));
    MUST(zlg_store_open_memory(f->ctx, &f->store, err_));
}

static void close_fixture(fixture *f)
{
    zlg_store_close(f->store);
    zlg_ctx_close(f->ctx);
}

static zlg_status create_array(fixture *f, const char *path, int overwrite)
{
    static const int64_t shape[1] = {4}, chunk[1] = {2};
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    zlg_array *array;
    spec.rank = 1;
    spec.shape = shape;
    spec.object_shape = chunk;
    spec.data_type = "uint8";
    spec.overwrite = overwrite;
    zlg_status status = zlg_array_create(f->store, path, &spec, &array, NULL);
    if (status == ZLG_OK && strlen(path) < 10)
        MUST(zlg_array_write(array, NULL, &(zlg_source){.data = "data"}, NULL, err_));
    zlg_array_close(array);
    return status;
}

static zlg_status create_group(fixture *f, const char *path, int overwrite)
{
    zlg_group_spec spec = ZLG_GROUP_SPEC_INIT;
    zlg_group *group;
    spec.overwrite = overwrite;
    zlg_status status = zlg_group_create(f->store, path, &spec, &group, NULL);
    if (status == ZLG_OK)
        zlg_group_close(group);
    return status;
}

static int count(void *user, const char *name, int is_prefix, uint64_t n_bytes)
{
    (void)name, (void)is_prefix, (void)n_bytes;
    ++*(int *)user;
    return 0;
}

static int n_keys(fixture *f)
{
    int n = 0;
    MUST(zlg_store_list(f->store, "", 0, count, &n, err_));
    return n;
}

static void test_parents_are_made(void **state)
{
    (void)state;
    fixture f;
    zlg_node kind;
    open_fixture(&f);
    assert_int_equal(create_array(&f, "a/b/x", 0), ZLG_OK);
    static const char *const groups[] = {"", "a", "a/b"};
    for (int i = 0; i < 3; i++) {
        MUST(zlg_node_kind(f.store, groups[i], NULL, &kind, err_));
        assert_int_equal(kind, ZLG_NODE_GROUP);
    }
    assert_int_equal(n_keys(&f), 3 + 1 + 2);
    assert_int_equal(create_array(&f, "a/b/x", 0), ZLG_EXISTS);
    assert_int_equal(create_group(&f, "a/b", 0), ZLG_EXISTS);
    assert_int_equal(create_group(&f, "a", 1), ZLG_OK);
    assert_int_equal(n_keys(&f), 2); /* the root and a */
    close_fixture(&f);
}

/* "x/c" is where the chunks of array x lie. */
static void test_nothing_is_made_or_removed_in_an_array(void **state)
{
    (void)state;
    static const char *const paths[] = {"x/c", "x/c/0", "x/y"};
    fixture f;
    open_fixture(&f);
    assert_int_equal(create_array(&f, "x", 0), ZLG_OK);
    int n = n_keys(&f);
    for (int i = 0; i < 3; i++)
        for (int overwrite = 0; overwrite < 2; overwrite++) {
            assert_int_equal(create_array(&f, paths[i], overwrite), ZLG_EXISTS);
            assert_int_equal(create_group(&f, paths[i], overwrite), ZLG_EXISTS);
            assert_int_equal(n_keys(&f), n);
        }
    close_fixture(&f);
}

/* A node that is there keeps what lies above it from being made. */
static void test_no_parents_are_made_in_vain(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    put_text(f.store, "a/b/zarr.json", "{\"zarr_format\":3,\"node_type\":\"group\"}");
    assert_int_equal(create_array(&f, "a/b", 0), ZLG_EXISTS);
    assert_int_equal(n_keys(&f), 1);
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
            zlg_status array = create_array(&f, path, overwrite);
            zlg_status group = create_group(&f, path, overwrite);
            if (n < 4096) /* some still fit, some do not */
                continue;
            assert_int_equal(array, ZLG_NOT_FOUND);
            assert_int_equal(group, ZLG_NOT_FOUND);
        }
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
