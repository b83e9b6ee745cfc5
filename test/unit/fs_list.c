/* Listing directories: links, circles, names that are no keys, bounds. */
#define _GNU_SOURCE
#include "store/folder.h"
#include "store/fs.h"
#include "store/keys.h"

static zlg_store *open_folder(const test_folder *folder, const zlgi_alloc *alloc,
                              const zlg_limits *limits, bool follow_links)
{
    zlg_fs_options options = ZLG_FS_OPTIONS_INIT;
    options.follow_links = follow_links;
    zlg_store *store = NULL;
    assert_int_equal(zlgi_fs_open(alloc, limits, folder->path, &options, &store, NULL),
                     ZLG_OK);
    return store;
}

static zlg_store *open_plain(const test_folder *folder)
{
    return open_folder(folder, &zlgi_default_alloc, &test_limits, false);
}

static void test_names_that_are_no_keys(void **state)
{
    (void)state;
    test_folder folder;
    test_folder_make(&folder);
    test_folder_write(&folder, "k", "1");
    test_folder_write(&folder, ".hidden", "12");
    test_folder_write(&folder, ".zlg-tmp-0123", "left over");
    test_folder_write(&folder, "back\\slash", "1");
    test_folder_mkdir(&folder, "empty");
    test_folder_link(&folder, "nowhere", "dangling");
    assert_int_equal(mkfifo(test_folder_path(&folder, "pipe"), 0666), 0);
    zlg_store *store = open_plain(&folder);
    test_must_list(store, "", false, ".hidden=2 k=1 ");
    test_must_list(store, "", true, ".hidden=2 empty/ k=1 ");
    zlgi_store_destroy(store);
    test_folder_remove(&folder);
}

static void make_links(test_folder *folder)
{
    test_folder_make(folder);
    test_folder_mkdir(folder, "a");
    test_folder_mkdir(folder, "a/b");
    test_folder_mkdir(folder, "c");
    test_folder_write(folder, "a/b/k", "123");
    test_folder_write(folder, "c/0", "1");
    test_folder_link(folder, "a/b", "to_b");
    test_folder_link(folder, "a/b/k", "to_k");
    test_folder_link(folder, ".", "self");
    test_folder_link(folder, "..", "a/up");
    test_folder_link(folder, "../..", "a/b/top");
    test_folder_link(folder, "../c", "a/to_c");
    test_folder_link(folder, "../a", "c/to_a");
    test_folder_link(folder, "loop", "loop");
    test_folder_link(folder, "/etc", "out");
}

/* Links to what lies above them are left out; a and c, which point at each other, appear
 * once inside each other. */
static void test_circles_end(void **state)
{
    (void)state;
    test_folder folder;
    make_links(&folder);
    for (int walks = 0; walks < 2; walks++) {
        zlg_store *store = open_plain(&folder);
        atomic_store(&((zlgi_fs *)store)->lacks_openat2, walks);
        test_must_list(store, "", true, "a/ c/ loop=0 out=0 to_b/ to_k=3 ");
        test_must_list(
            store, "", false,
            "a/b/k=3 a/to_c/0=1 c/0=1 c/to_a/b/k=3 loop=0 out=0 to_b/k=3 to_k=3 ");
        test_must_list(store, "a", true, "b/ to_c/ ");
        test_must_list(store, "a/b", true, "k=3 ");
        test_must_list(store, "a/to_c", true, "0=1 ");
        test_must_list(store, "c/to_a", false, "b/k=3 ");
        /* Whoever goes round all the same comes to an end. */
        test_must_list(store, "self/self/a", true, "b/ to_c/ ");
        /* What leads out has no names here. */
        zlg_error err;
        zlg_status status =
            store->class->list(store, "out", true, NULL, test_list_nothing, NULL, &err);
        assert_int_equal(status, ZLG_UNSUPPORTED);
        zlgi_store_destroy(store);
    }
    test_folder_remove(&folder);
}

static void test_links_are_followed_when_asked(void **state)
{
    (void)state;
    test_folder folder, other;
    test_folder_make(&folder);
    test_folder_make(&other);
    test_folder_write(&other, "k", "12345");
    test_folder_link(&folder, other.path, "out");
    test_folder_link(&other, folder.path, "back");
    zlg_store *store = open_folder(&folder, &zlgi_default_alloc, &test_limits, true);
    test_must_list(store, "", false, "out/k=5 ");
    test_must_list(store, "out", true, "k=5 ");
    zlgi_store_destroy(store);
    test_folder_remove(&folder);
    test_folder_remove(&other);
}

/* Sixteen directories, each with two links to the next: 65536 ways to the last. */
static void test_maze_of_links_meets_the_limit(void **state)
{
    (void)state;
    test_folder folder;
    test_folder_make(&folder);
    char name[32], target[32];
    for (int i = 0; i < 16; i++) {
        snprintf(name, sizeof name, "d%d", i);
        test_folder_mkdir(&folder, name);
        for (int k = 0; k < 2 && i < 15; k++) {
            snprintf(name, sizeof name, "d%d/%d", i, k);
            snprintf(target, sizeof target, "../d%d", i + 1);
            test_folder_link(&folder, target, name);
        }
    }
    zlg_limits limits = test_limits;
    limits.keys_listed = 1000;
    zlg_store *store = open_folder(&folder, &zlgi_default_alloc, &limits, false);
    zlg_error err;
    zlg_status status =
        store->class->list(store, "", false, NULL, test_list_nothing, NULL, &err);
    assert_int_equal(status, ZLG_LIMIT);
    assert_non_null(strstr(err.message, "more than 1000 keys"));
    zlgi_store_destroy(store);
    test_folder_remove(&folder);
}

static void test_depth_has_a_limit(void **state)
{
    (void)state;
    test_folder folder;
    test_folder_make(&folder);
    zlg_store *store = open_plain(&folder);
    char key[2 * ZLGI_FS_MAX_LEVELS + 2];
    for (size_t i = 0; i < sizeof key; i++)
        key[i] = i % 2 == 0 ? 'd' : '/';
    key[sizeof key - 1] = '\0';
    test_must_put(store, key, "deep");
    test_must_get(store, key, "deep");
    zlg_error err;
    zlg_status status =
        store->class->list(store, "", false, NULL, test_list_nothing, NULL, &err);
    assert_int_equal(status, ZLG_LIMIT);
    assert_int_equal(store->class->remove_prefix(store, "d", NULL, &err), ZLG_LIMIT);
    assert_int_equal(store->class->remove_prefix(store, "d/d/d", NULL, &err), ZLG_OK);
    assert_int_equal(
        store->class->list(store, "", false, NULL, test_list_nothing, NULL, &err), ZLG_OK);
    zlgi_store_destroy(store);
    test_folder_remove(&folder);
}

static void test_path_too_long_to_be_opened(void **state)
{
    (void)state;
    test_folder folder;
    test_folder_make(&folder);
    char name[251], before[PATH_MAX];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(folder.path), 0);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(mkdir(name, 0777), 0);
        assert_int_equal(chdir(name), 0);
    }
    assert_int_equal(chdir(before), 0);
    zlg_store *store = open_plain(&folder);
    zlg_error err;
    zlg_status status =
        store->class->list(store, "", false, NULL, test_list_nothing, NULL, &err);
    assert_int_equal(status, ZLG_IO);
    assert_non_null(strstr(err.message, "File name too long"));
    assert_int_equal(store->class->remove_prefix(store, "", NULL, &err), ZLG_OK);
    test_must_list(store, "", true, "");
    zlgi_store_destroy(store);
    test_folder_remove(&folder);
}

static void test_short_memory(void **state)
{
    (void)state;
    test_folder folder;
    test_heap heap;
    make_links(&folder);
    test_heap_init(&heap);
    zlg_store *store = open_folder(&folder, &heap.alloc, &test_limits, false);
    size_t n_blocks = heap.n_blocks;
    zlg_status status = ZLG_NO_MEMORY;
    size_t n_failed = 0;
    for (heap.fail_at = 1; status != ZLG_OK; heap.fail_at++) {
        heap.n_calls = 0;
        status = store->class->list(store, "", false, NULL, test_list_nothing, NULL, NULL);
        assert_true(status == ZLG_OK || status == ZLG_NO_MEMORY);
        assert_int_equal(heap.n_blocks, n_blocks);
        n_failed += status != ZLG_OK;
    }
    assert_in_range(n_failed, 2, 100);
    heap.fail_at = 0;
    zlgi_store_destroy(store);
    test_folder_remove(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_that_are_no_keys),
        cmocka_unit_test(test_circles_end),
        cmocka_unit_test(test_links_are_followed_when_asked),
        cmocka_unit_test(test_maze_of_links_meets_the_limit),
        cmocka_unit_test(test_depth_has_a_limit),
        cmocka_unit_test(test_path_too_long_to_be_opened),
        cmocka_unit_test(test_short_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
