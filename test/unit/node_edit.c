/* Removing and moving nodes. */
#define _GNU_SOURCE
#include "change_test.h"

static void make_group(zlg_store *store, const char *path, int zarr_format)
{
    zlg_group_spec spec = ZLG_GROUP_SPEC_INIT;
    zlg_group *group;
    spec.zarr_format = zarr_format;
    MUST(zlg_group_create(store, path, &spec, &group, err_));
    zlg_group_close(group);
}

static void make_array(zlg_store *store, const char *path, int zarr_format)
{
    static const int64_t shape[1] = {4}, chunk[1] = {2};
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    zlg_array *array;
    spec.zarr_format = zarr_format;
    spec.rank = 1;
    spec.shape = shape;
    spec.object_shape = chunk;
    spec.data_type = zarr_format == 2 ? "|u1" : "uint8";
    spec.attributes = "{\"a\":1}";
    MUST(zlg_array_create(store, path, &spec, &array, err_));
    MUST(zlg_array_write(array, NULL, &(zlg_source){.data = "data"}, NULL, err_));
    zlg_array_close(array);
}

static void check_data(zlg_store *store, const char *path)
{
    zlg_array *array;
    char out[5] = "";
    MUST(zlg_array_open(store, path, NULL, &array, err_));
    MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, NULL, err_));
    assert_string_equal(out, "data");
    zlg_array_close(array);
}

static void test_removing(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    for (int s = 0; s < N_STORES; s++)
        for (int format = 2; format <= 3; format++) {
            zlg_store *store = f.stores[s];
            make_array(store, "g/h/a", format);
            make_array(store, "g/b", format);
            make_array(store, "ga", format);
            int n = n_keys(store, ""), n_b = n_keys(store, "g/b");
            MUST(zlg_node_delete(store, "g/b", err_));
            assert_int_equal(n_keys(store, ""), n - n_b);
            REFUSED(ZLG_NOT_FOUND, "node g/b: no array or group is there",
                    zlg_node_delete(store, "g/b", err_));
            REFUSED(ZLG_NOT_FOUND, "no array or group is there",
                    zlg_node_delete(store, "ga/c", err_));
            REFUSED(ZLG_NOT_FOUND, "cannot name a node",
                    zlg_node_delete(store, "g/../ga", err_));
            MUST(zlg_node_delete(store, "g", err_));
            assert_int_equal(n_keys(store, "g"), 0);
            check_data(store, "ga");
            /* A broken document is no reason to keep the rest. */
            put_text(store, format == 2 ? "ga/.zarray" : "ga/zarr.json", "{");
            MUST(zlg_node_delete(store, "ga", err_));
            MUST(zlg_node_delete(store, "", err_));
            assert_int_equal(n_keys(store, ""), 0);
            REFUSED(ZLG_NOT_FOUND, "node /:", zlg_node_delete(store, "", err_));
        }
    close_fixture(&f);
}

static void test_moving(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    for (int s = 0; s < N_STORES; s++)
        for (int format = 2; format <= 3; format++) {
            zlg_store *store = f.stores[s];
            make_array(store, "g/h/a", format);
            make_group(store, "to", format);
            int n = n_keys(store, "");
            MUST(zlg_node_rename(store, "g/h/a", "to/b", err_));
            check_data(store, "to/b");
            check_attributes(store, "to/b", "{\"a\":1}");
            assert_int_equal(n_keys(store, ""), n);
            MUST(zlg_node_rename(store, "to", "g/h/deep", err_));
            check_data(store, "g/h/deep/b");
            MUST(zlg_node_rename(store, "g", "top", err_));
            check_data(store, "top/h/deep/b");
            /* Close to its own name, but not below it. */
            MUST(zlg_node_rename(store, "top", "top2", err_));
            check_data(store, "top2/h/deep/b");
            assert_int_equal(n_keys(store, ""), n);
            MUST(zlg_node_delete(store, "", err_));
        }
    close_fixture(&f);
}

static void test_what_is_not_moved(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    for (int s = 0; s < N_STORES; s++) {
        zlg_store *store = f.stores[s];
        make_array(store, "a", 3);
        make_array(store, "b", 3);
        make_group(store, "g", 3);
        make_group(store, "two", 2);
        int n = n_keys(store, "");
        static const struct {
            const char *from, *to;
            zlg_status status;
            const char *words;
        } cases[] = {
            {"", "h", ZLG_USAGE, "the root"},
            {"a", "", ZLG_USAGE, "the root"},
            {"g", "g/h", ZLG_USAGE, "lies in the node itself"},
            {"g", "g", ZLG_EXISTS, "a node is already at \"g\""},
            {"a", "b", ZLG_EXISTS, "a node is already at \"b\""},
            {"a", "g", ZLG_EXISTS, "a node is already at \"g\""},
            {"a", "b/c", ZLG_EXISTS, "b is an array: nothing can lie in it"},
            {"a", "h/a", ZLG_NOT_FOUND, "h is no group of version 3"},
            {"a", "two/a", ZLG_NOT_FOUND, "two is no group of version 3"},
            {"h", "i", ZLG_NOT_FOUND, "no array or group is there"},
            {"a/c", "i", ZLG_NOT_FOUND, "no array or group is there"},
            {"a", "g/__x", ZLG_NOT_FOUND, "cannot name a node"},
            {"a", "g/", ZLG_NOT_FOUND, "cannot name a node"},
        };
        for (size_t i = 0; i < ZLGI_COUNT(cases); i++) {
            REFUSED(cases[i].status, cases[i].words,
                    zlg_node_rename(store, cases[i].from, cases[i].to, err_));
            assert_int_equal(n_keys(store, ""), n);
        }
        /* What is no node is in the way too. */
        put_text(store, "g/free/key", "x");
        REFUSED(ZLG_EXISTS, "", zlg_node_rename(store, "a", "g/free", err_));
        check_data(store, "a");
    }
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_removing),
        cmocka_unit_test(test_moving),
        cmocka_unit_test(test_what_is_not_moved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
