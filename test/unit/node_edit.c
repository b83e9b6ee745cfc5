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
            MUST(zlg_node_delete(store, "g/b", NULL, err_));
            assert_int_equal(n_keys(store, ""), n - n_b);
            REFUSED(ZLG_NOT_FOUND, "node g/b: no array or group is there",
                    zlg_node_delete(store, "g/b", NULL, err_));
            REFUSED(ZLG_NOT_FOUND, "no array or group is there",
                    zlg_node_delete(store, "ga/c", NULL, err_));
            REFUSED(ZLG_NOT_FOUND, "cannot name a node",
                    zlg_node_delete(store, "g/../ga", NULL, err_));
            MUST(zlg_node_delete(store, "g", NULL, err_));
            assert_int_equal(n_keys(store, "g"), 0);
            check_data(store, "ga");
            /* A broken document is no reason to keep the rest. */
            put_text(store, format == 2 ? "ga/.zarray" : "ga/zarr.json", "{");
            MUST(zlg_node_delete(store, "ga", NULL, err_));
            MUST(zlg_node_delete(store, "", NULL, err_));
            assert_int_equal(n_keys(store, ""), 0);
            REFUSED(ZLG_NOT_FOUND, "node /:", zlg_node_delete(store, "", NULL, err_));
        }
    close_fixture(&f);
}

/* A removal that is stopped after any number of steps leaves every array whole, or none;
 * groups until the end; and nothing that the same call would not find. */
static bool is_whole_or_gone(zlg_store *store, const char *path)
{
    zlg_node kind;
    MUST(zlg_node_kind(store, path, NULL, &kind, err_));
    if (kind == ZLG_NODE_ARRAY)
        check_data(store, path);
    return kind == ZLG_NODE_ARRAY;
}

static void check_rest(zlg_store *store, int format)
{
    zlg_node kind;
    int n_whole = is_whole_or_gone(store, "g/a") + is_whole_or_gone(store, "g/h/b") +
                  is_whole_or_gone(store, "g/c");
    MUST(zlg_node_kind(store, "g", NULL, &kind, err_));
    assert_int_equal(kind, n_keys(store, "g") ? ZLG_NODE_GROUP : ZLG_NODE_NONE);
    if (n_whole == 3 || kind == ZLG_NODE_NONE)
        return;
    /* What is made in the place of one that is going has none of its chunks. */
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    static const int64_t shape[1] = {4}, chunk[1] = {2};
    zlg_array *array;
    spec.zarr_format = format, spec.rank = 1, spec.shape = shape, spec.object_shape = chunk;
    spec.data_type = format == 2 ? "|u1" : "uint8";
    static const char *const paths[] = {"g/a", "g/h/b", "g/c"};
    for (int i = 0; i < 3; i++) {
        char out[4] = "xxxx";
        zlg_status status = zlg_array_create(store, paths[i], &spec, &array, NULL);
        if (status == ZLG_EXISTS)
            continue;
        assert_int_equal(status, ZLG_OK);
        MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, NULL, err_));
        assert_memory_equal(out, "\0\0\0\0", 4);
        zlg_array_close(array);
    }
}

static void test_failing_anywhere(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    for (int format = 2; format <= 3; format++) {
        zlg_status status;
        int at = 0;
        do {
            fault_store *s = fault_store_open(f.ctx);
            zlg_store *store = &s->base;
            make_array(store, "g/a", format);
            make_array(store, "g/h/b", format);
            make_array(store, "g/c", format);
            fault_set(s, FAULT_IO, (uint64_t)++at);
            status = zlg_node_delete(store, "g", NULL, NULL);
            fault_set(s, FAULT_NONE, 0);
            check_rest(store, format);
            if (status != ZLG_OK) {
                assert_int_equal(status, ZLG_IO);
                MUST(zlg_node_delete(store, "g", NULL, err_));
            }
            assert_int_equal(n_keys(store, "g"), 0);
            zlg_store_close(store);
        } while (status != ZLG_OK);
        assert_in_range(at, 20, 200);
    }
    close_fixture(&f);
}

static int stop_now(void *user, uint64_t n_done, uint64_t n_all)
{
    (void)n_done, (void)n_all;
    ++*(int *)user;
    return 1;
}

/* Every call that removes, moves or collects ends when its caller wants it to. */
static void test_stopping(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    int cancel = 1;
    zlg_call call = ZLG_CALL_INIT;
    zlg_edit_options edit = ZLG_EDIT_OPTIONS_INIT;
    zlg_group_spec group = ZLG_GROUP_SPEC_INIT;
    zlg_array_spec array = ZLG_ARRAY_SPEC_INIT;
    zlg_group *made_group;
    zlg_array *made_array;
    static const int64_t shape[1] = {1};
    call.cancel = &cancel;
    edit.call = group.call = array.call = &call;
    group.overwrite = array.overwrite = 1;
    array.rank = 1, array.shape = shape, array.data_type = "uint8";
    for (int s = 0; s < N_STORES; s++) {
        zlg_store *store = f.stores[s];
        make_array(store, "g/a", 3);
        int n = n_keys(store, "");
        REFUSED(ZLG_CANCELLED, "node g: stopped", zlg_node_delete(store, "g", &call, err_));
        REFUSED(ZLG_CANCELLED, "stopped", zlg_node_rename(store, "g", "h", &call, err_));
        REFUSED(ZLG_CANCELLED, "stopped", zlg_group_consolidate(store, "g", &edit, err_));
        REFUSED(ZLG_CANCELLED, "stopped",
                zlg_group_create(store, "g", &group, &made_group, err_));
        REFUSED(ZLG_CANCELLED, "stopped",
                zlg_array_create(store, "g/a", &array, &made_array, err_));
        assert_int_equal(n_keys(store, ""), n);
        check_data(store, "g/a");
        /* What has nothing to remove does not ask. */
        array.overwrite = 0;
        MUST(zlg_array_create(store, "g/b", &array, &made_array, err_));
        zlg_array_close(made_array);
        array.overwrite = 1;
        MUST(zlg_node_delete(store, "g", NULL, err_));
    }
    close_fixture(&f);
}

/* The deadline and the poll function of a removal of many files. */
static void test_stopping_midway(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    for (int s = 0; s < N_STORES; s++) {
        zlg_store *store = f.stores[s];
        zlg_call call = ZLG_CALL_INIT;
        zlg_node kind;
        const int n = s == 0 ? 100000 : 8000; /* of files, which take longer */
        int n_polls = 0, n_left;
        make_array(store, "a", 3);
        for (int i = 0; i < n; i++) {
            char key[32];
            snprintf(key, sizeof key, "a/c/%d", i);
            put_text(store, key, "x");
        }
        call.deadline_ms = 1;
        REFUSED(ZLG_CANCELLED, "node a: ", zlg_node_delete(store, "a", &call, err_));
        MUST(zlg_node_kind(store, "a", NULL, &kind, err_));
        n_left = n_keys(store, "a");
        assert_in_range(n_left, 1, n + 1);
        assert_true(n_left == n + 1 || kind == ZLG_NODE_GROUP);
        call.deadline_ms = 0;
        call.poll = stop_now;
        call.user = &n_polls;
        zlg_status status = zlg_node_delete(store, "a", &call, NULL);
        assert_int_equal(status, n_polls ? ZLG_CANCELLED : ZLG_OK);
        assert_true(s == 0 || n_polls == 1);
        if (n_polls)
            MUST(zlg_node_delete(store, "a", NULL, err_));
        assert_int_equal(n_keys(store, "a"), 0);
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
            MUST(zlg_node_rename(store, "g/h/a", "to/b", NULL, err_));
            check_data(store, "to/b");
            check_attributes(store, "to/b", "{\"a\":1}");
            assert_int_equal(n_keys(store, ""), n);
            MUST(zlg_node_rename(store, "to", "g/h/deep", NULL, err_));
            check_data(store, "g/h/deep/b");
            MUST(zlg_node_rename(store, "g", "top", NULL, err_));
            check_data(store, "top/h/deep/b");
            /* Close to its own name, but not below it. */
            MUST(zlg_node_rename(store, "top", "top2", NULL, err_));
            check_data(store, "top2/h/deep/b");
            assert_int_equal(n_keys(store, ""), n);
            MUST(zlg_node_delete(store, "", NULL, err_));
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
                    zlg_node_rename(store, cases[i].from, cases[i].to, NULL, err_));
            assert_int_equal(n_keys(store, ""), n);
        }
        /* What is no node is in the way too. */
        put_text(store, "g/free/key", "x");
        REFUSED(ZLG_EXISTS, "", zlg_node_rename(store, "a", "g/free", NULL, err_));
        check_data(store, "a");
    }
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_removing), cmocka_unit_test(test_failing_anywhere),
        cmocka_unit_test(test_stopping), cmocka_unit_test(test_stopping_midway),
        cmocka_unit_test(test_moving),   cmocka_unit_test(test_what_is_not_moved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
