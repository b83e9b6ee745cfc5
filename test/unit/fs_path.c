/* Links and the root: nothing leads out, the kernel's way and the walk agree. */
#define _GNU_SOURCE
#include "store/folder.h"
#include "store/fs.h"
#include "store/keys.h"

/* How a store resolves keys. */
typedef enum way { KERNEL, WALK, FOLLOW } way;

static zlg_store *open_way(const char *path, way how)
{
    zlg_fs_options options = ZLG_FS_OPTIONS_INIT;
    options.follow_links = how == FOLLOW;
    zlg_store *store = NULL;
    assert_int_equal(
        zlgi_fs_open(&zlgi_default_alloc, &test_limits, path, &options, &store, NULL),
        ZLG_OK);
    atomic_store(&((zlgi_fs *)store)->lacks_openat2, how == WALK);
    return store;
}

/* folder/store is the store, folder/outside is not. */
static void make_tree(test_folder *folder)
{
    test_folder_make(folder);
    static const char *const directories[] = {"store", "store/a", "store/a/b", "store/c",
                                              "outside"};
    for (size_t i = 0; i < ZLGI_COUNT(directories); i++)
        test_folder_mkdir(folder, directories[i]);
    test_folder_write(folder, "store/top", "top");
    test_folder_write(folder, "store/a/b/k", "k");
    test_folder_write(folder, "outside/secret", "secret");
    static const char *const links[][2] = {
        {"top", "store/to_top"},
        {"a/b", "store/to_b"},
        {"./a/./b/../b/.//k", "store/winding"},
        {"../../top", "store/a/b/up_to_top"},
        {"../b/../../a/b/k", "store/a/b/round"},
        {"../../to_b", "store/a/b/chain"},
        {"b/", "store/a/slash"},
        {".", "store/self"},
        {"../outside/secret", "store/out"},
        {"../../outside", "store/a/out"},
        {"../../../", "store/a/b/far_out"},
        {"./../outside", "store/dot_out"},
        {"../store/top", "store/out_and_in"},
        {"/etc", "store/absolute"},
        {"loop", "store/loop"},
        {"pong", "store/ping"},
        {"ping", "store/pong"},
        {"nowhere", "store/dangling"},
        {"to_top/x", "store/through_file"},
    };
    for (size_t i = 0; i < ZLGI_COUNT(links); i++)
        test_folder_link(folder, links[i][0], links[i][1]);
}

static const struct {
    const char *key;
    zlg_status status; /* without follow_links */
    zlg_status follow; /* with it */
    const char *text;  /* where a status is ZLG_OK */
} cases[] = {
    {"top", ZLG_OK, ZLG_OK, "top"},
    {"to_top", ZLG_OK, ZLG_OK, "top"},
    {"to_b/k", ZLG_OK, ZLG_OK, "k"},
    {"winding", ZLG_OK, ZLG_OK, "k"},
    {"a/b/up_to_top", ZLG_OK, ZLG_OK, "top"},
    {"a/b/round", ZLG_OK, ZLG_OK, "k"},
    {"a/b/chain/k", ZLG_OK, ZLG_OK, "k"},
    {"a/b/chain/chain/up_to_top", ZLG_OK, ZLG_OK, "top"},
    {"a/slash/k", ZLG_OK, ZLG_OK, "k"},
    {"self/self/self/top", ZLG_OK, ZLG_OK, "top"},
    {"out", ZLG_UNSUPPORTED, ZLG_OK, "secret"},
    {"a/out/secret", ZLG_UNSUPPORTED, ZLG_OK, "secret"},
    {"a/out/none", ZLG_UNSUPPORTED, ZLG_NOT_FOUND, ""},
    {"a/b/far_out/outside/secret", ZLG_UNSUPPORTED, ZLG_OK, "secret"},
    {"dot_out/secret", ZLG_UNSUPPORTED, ZLG_OK, "secret"},
    {"out_and_in", ZLG_UNSUPPORTED, ZLG_OK, "top"},
    {"absolute/passwd-", ZLG_UNSUPPORTED, ZLG_OK, NULL},
    {"loop", ZLG_LIMIT, ZLG_LIMIT, ""},
    {"ping/k", ZLG_LIMIT, ZLG_LIMIT, ""},
    {"dangling", ZLG_NOT_FOUND, ZLG_NOT_FOUND, ""},
    {"dangling/x", ZLG_NOT_FOUND, ZLG_NOT_FOUND, ""},
    {"through_file", ZLG_NOT_FOUND, ZLG_NOT_FOUND, ""},
    {"top/x", ZLG_NOT_FOUND, ZLG_NOT_FOUND, ""},
};

static void test_links_stay_inside(void **state)
{
    (void)state;
    test_folder folder;
    make_tree(&folder);
    for (way how = KERNEL; how <= FOLLOW; how++)
        for (size_t i = 0; i < ZLGI_COUNT(cases); i++)
            /* With the handle of the root closed at first, and open. */
            for (int is_open = 0; is_open < 2; is_open++) {
                if (how == FOLLOW && cases[i].text == NULL)
                    continue;
                zlg_error err = {0};
                zlg_store *store = open_way(test_folder_path(&folder, "store"), how);
                if (is_open)
                    assert_true(zlgi_fs_root((zlgi_fs *)store) >= 0);
                zlg_status expected = how == FOLLOW ? cases[i].follow : cases[i].status;
                zlg_status status = test_get(store, cases[i].key, cases[i].text, &err);
                if (status != expected)
                    fail_msg("way %d, key %s: %s, %s", (int)how, cases[i].key,
                             zlg_status_name(status), err.message);
                if (status == ZLG_UNSUPPORTED)
                    assert_non_null(strstr(err.message, "leads out of the store"));
                zlgi_store_destroy(store);
            }
    test_folder_remove(&folder);
}

static void test_too_many_links(void **state)
{
    (void)state;
    test_folder folder;
    make_tree(&folder);
    char key[1000] = "";
    for (int i = 0; i < 180; i++)
        memcpy(key + strlen(key), "self/", 6);
    memcpy(key + strlen(key), "none", 5);
    for (way how = KERNEL; how <= FOLLOW; how++) {
        zlg_store *store = open_way(test_folder_path(&folder, "store"), how);
        assert_int_equal(test_get(store, key, "", NULL), ZLG_LIMIT);
        zlgi_store_destroy(store);
    }
    test_folder_remove(&folder);
}

static void test_writes_do_not_leave(void **state)
{
    (void)state;
    test_folder folder;
    make_tree(&folder);
    for (way how = KERNEL; how <= WALK; how++) {
        zlg_store *store = open_way(test_folder_path(&folder, "store"), how);
        const zlgi_store_class *class = store->class;
        zlg_error err;
        assert_int_equal(test_put(store, "a/out/new", "x", &err), ZLG_UNSUPPORTED);
        assert_int_equal(test_put(store, "a/out/new/x", "x", &err), ZLG_UNSUPPORTED);
        assert_int_equal(test_remove(store, "a/out/secret", &err), ZLG_UNSUPPORTED);
        assert_int_equal(class->remove_prefix(store, "a/out/secret", NULL, &err),
                         ZLG_UNSUPPORTED);
        assert_false(test_folder_has(&folder, "outside/new"));
        /* Through a link inside, and over a link: the link is what is replaced. */
        test_must_put(store, "to_b/new", "inside");
        test_must_get(store, "a/b/new", "inside");
        test_must_put(store, "out", "replaced");
        test_must_get(store, "out", "replaced");
        assert_int_equal(unlink(test_folder_path(&folder, "store/out")), 0);
        test_folder_link(&folder, "../outside/secret", "store/out");
        zlgi_store_destroy(store);
    }
    zlg_store *store = open_way(test_folder_path(&folder, "store"), KERNEL);
    assert_int_equal(store->class->remove_prefix(store, "a", NULL, NULL), ZLG_OK);
    assert_int_equal(store->class->remove_prefix(store, "absolute", NULL, NULL), ZLG_OK);
    assert_false(test_folder_has(&folder, "store/a"));
    assert_int_equal(store->class->remove_prefix(store, "", NULL, NULL), ZLG_OK);
    assert_false(test_folder_has(&folder, "store/to_b"));
    assert_true(test_folder_has(&folder, "store"));
    assert_true(test_folder_has(&folder, "outside/secret"));
    zlgi_store_destroy(store);
    test_folder_remove(&folder);
}

/* ------------------------------------------------------------------ the root itself */

static void test_root_made_anew_is_found_again(void **state)
{
    (void)state;
    test_folder folder;
    test_folder_make(&folder);
    for (way how = KERNEL; how <= FOLLOW; how++) {
        test_folder_mkdir(&folder, "store");
        test_folder_mkdir(&folder, "store/c");
        test_folder_write(&folder, "store/c/0", "old");
        zlg_store *store = open_way(test_folder_path(&folder, "store"), how);
        test_must_get(store, "c/0", "old");
        assert_int_equal(unlink(test_folder_path(&folder, "store/c/0")), 0);
        assert_int_equal(rmdir(test_folder_path(&folder, "store/c")), 0);
        assert_int_equal(rmdir(test_folder_path(&folder, "store")), 0);

        /* Missing chunks would read as fill values: a lost store must say more. */
        zlg_error err;
        assert_int_equal(test_get(store, "c/0", "", &err), ZLG_IO);
        assert_non_null(strstr(err.message, "is gone"));
        assert_int_equal(test_put(store, "c/0", "x", &err), ZLG_IO);
        assert_int_equal(test_put(store, "k", "x", &err), ZLG_IO);
        zlg_status status =
            store->class->list(store, "", false, NULL, test_list_nothing, NULL, &err);
        assert_int_equal(status, ZLG_IO);

        test_folder_mkdir(&folder, "store");
        test_must_list(store, "", false, "");
        test_must_put(store, "c/0", "new");
        test_must_get(store, "c/0", "new");
        assert_int_equal(store->class->remove_prefix(store, "c", NULL, NULL), ZLG_OK);
        assert_int_equal(rmdir(test_folder_path(&folder, "store")), 0);
        test_folder_mkdir(&folder, "store");
        test_must_put(store, "k", "x");
        assert_true(test_folder_has(&folder, "store/k"));
        zlgi_store_destroy(store);
        assert_int_equal(unlink(test_folder_path(&folder, "store/k")), 0);
        assert_int_equal(rmdir(test_folder_path(&folder, "store")), 0);
    }
    test_folder_remove(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_links_stay_inside),
        cmocka_unit_test(test_too_many_links),
        cmocka_unit_test(test_writes_do_not_leave),
        cmocka_unit_test(test_root_made_anew_is_found_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
