/* What lies at a path: documents of both versions, of older formats, and names that only
 * look like them. */
#define _GNU_SOURCE
#include "fault/fault.h"
#include "store/folder.h"

typedef struct fixture {
    test_folder folder;
    zlg_ctx *ctx;
    zlg_store *store;
} fixture;

static void open_fixture(fixture *f)
{
    test_folder_make(&f->folder);
    MUST(zlg_ctx_new(NULL, &f->ctx, err_));
    MUST(zlg_store_open_fs(f->ctx, f->folder.path, NULL, &f->store, err_));
}

static void close_fixture(fixture *f)
{
    zlg_store_close(f->store);
    zlg_ctx_close(f->ctx);
    test_folder_remove(&f->folder);
}

static void check_kind(const fixture *f, const char *path, zlg_node expected)
{
    zlg_node kind;
    MUST(zlg_node_kind(f->store, path, NULL, &kind, err_));
    assert_int_equal(kind, expected);
}

static void test_version_3_comes_first(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    put_text(f.store, "a/zarr.json", "{\"zarr_format\":3,\"node_type\":\"group\"}");
    put_text(f.store, "a/.zarray", "{\"zarr_format\":2}");
    put_text(f.store, "b/.zgroup", "{\"zarr_format\":2}");
    put_text(f.store, "c/d/other", "");
    check_kind(&f, "a", ZLG_NODE_GROUP);
    check_kind(&f, "b", ZLG_NODE_GROUP);
    check_kind(&f, "c", ZLG_NODE_NONE);
    zlg_open_options options = ZLG_OPEN_OPTIONS_INIT;
    options.zarr_format = 2;
    zlg_node kind;
    MUST(zlg_node_kind(f.store, "a", &options, &kind, err_));
    assert_int_equal(kind, ZLG_NODE_ARRAY);
    close_fixture(&f);
}

static void test_older_formats_are_named(void **state)
{
    (void)state;
    static const char *const keys[] = {"1/meta", "2/meta/root.array.json",
                                       "3/meta/root.group.json"};
    fixture f;
    open_fixture(&f);
    for (int i = 0; i < 3; i++) {
        char path[2] = {(char)('1' + i), 0};
        zlg_node kind;
        put_text(f.store, keys[i], "{}");
        assert_int_equal(zlg_node_kind(f.store, path, NULL, &kind, NULL), ZLG_UNSUPPORTED);
    }
    close_fixture(&f);
}

/* Version 1 kept a document of that name; a directory is none. */
static void test_an_array_may_be_called_meta(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    zlg_array *array =
        put_array(f.store, "meta", "[4]", "\"uint8\"", REGULAR("[2]"), "0", "[" LITTLE "]");
    check_kind(&f, "meta", ZLG_NODE_ARRAY);
    check_kind(&f, "", ZLG_NODE_NONE);
    zlg_array_close(array);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_version_3_comes_first),
        cmocka_unit_test(test_older_formats_are_named),
        cmocka_unit_test(test_an_array_may_be_called_meta),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
