/* Removing and moving trees of directories. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>

#include "unit/fs_test.h"

static void test_reading_only(void **state)
{
    (void)state;
    test_folder folder;
    zlg_error err;
    test_folder_make(&folder);
    test_folder_write(&folder, "k", "1");
    zlg_fs_options options = ZLG_FS_OPTIONS_INIT;
    options.read_only = 1;
    zlg_store *store = open_with(&folder, options);
    const zlgi_store_class *class = store->class;
    assert_int_equal(test_put(store, "k", "2", &err), ZLG_USAGE);
    assert_non_null(strstr(err.message, "opened for reading only"));
    assert_int_equal(test_remove(store, "k", &err), ZLG_USAGE);
    assert_int_equal(class->remove_prefix(store, "k", NULL, &err), ZLG_USAGE);
    assert_int_equal(class->remove_prefix(store, "", NULL, &err), ZLG_USAGE);
    test_must_get(store, "k", "1");
    test_must_list(store, "", false, "k=1 ");
    zlgi_store_destroy(store);
    test_folder_remove(&folder);
}

static void test_temporary_names_are_reserved(void **state)
{
    (void)state;
    test_folder folder;
    zlg_error err;
    test_folder_make(&folder);
    zlg_store *store = open_plain(&folder);
    static const char *const keys[] = {".zlg-tmp-1", "a/.zlg-tmp-1", ".zlg-tmp-1/a"};
    for (size_t i = 0; i < ZLGI_COUNT(keys); i++) {
        assert_int_equal(test_put(store, keys[i], "x", &err), ZLG_USAGE);
        assert_non_null(strstr(err.message, "reserved"));
        assert_int_equal(test_remove(store, keys[i], &err), ZLG_USAGE);
        assert_int_equal(zlgi_store_check_key(store, keys[i], &err), ZLG_USAGE);
    }
    assert_int_equal(zlgi_store_check_key(store, "a/.zlg-tmp", &err), ZLG_OK);
    test_must_put(store, "a/.zlg-tmp", "x");
    /* What an interrupted writer left goes with the tree. */
    test_folder_write(&folder, "a/.zlg-tmp-0123", "left over");
    assert_int_equal(store->class->remove_prefix(store, "a", NULL, NULL), ZLG_OK);
    assert_int_equal(count_names(&folder), 0);
    zlgi_store_destroy(store);
    test_folder_remove(&folder);
}

static void test_large_tree_is_removed(void **state)
{
    (void)state;
    test_folder folder;
    test_folder_make(&folder);
    zlg_store *store = open_plain(&folder);
    char key[32];
    for (int i = 0; i < 900; i++) {
        snprintf(key, sizeof key, "c/%d/%d", i % 3, i);
        test_must_put(store, key, "");
    }
    assert_int_equal(store->class->remove_prefix(store, "c", NULL, NULL), ZLG_OK);
    assert_int_equal(count_names(&folder), 0);
    zlgi_store_destroy(store);
    test_folder_remove(&folder);
}

static void test_moved_tree_takes_what_is_in_progress_along(void **state)
{
    (void)state;
    test_folder folder;
    test_folder_make(&folder);
    zlg_store *store = open_plain(&folder);
    zlgi_bytes part = {(const uint8_t *)"new", 3};
    test_must_put(store, "a/c/0", "old");
    zlgi_txn present = {.change = ZLGI_UPDATE, .promise = ZLG_VISIBLE}, absent = present;
    assert_int_equal(store->class->begin(store, "a/c/0", &present, NULL), ZLG_OK);
    assert_int_equal(store->class->begin(store, "a/c/1", &absent, NULL), ZLG_OK);
    assert_int_equal(store->class->rename_prefix(store, "a", "b", NULL), ZLG_OK);
    assert_int_equal(store->class->commit(store, "a/c/0", &present, &part, 1, NULL),
                     ZLG_OK);
    assert_int_equal(store->class->commit(store, "a/c/1", &absent, &part, 1, NULL), ZLG_OK);
    store->class->end(store, &present);
    store->class->end(store, &absent);
    test_must_list(store, "", false, "b/c/0=3 b/c/1=3 ");
    zlgi_store_destroy(store);
    test_folder_remove(&folder);
}

/* The library calls this one: a file system that knows no flags. */
static bool lacks_flags;

int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
    if (lacks_flags) {
        errno = EINVAL;
        return -1;
    }
    return (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, flags);
}

static void test_moving_without_flags(void **state)
{
    (void)state;
    test_folder folder;
    test_folder_make(&folder);
    zlg_store *store = open_plain(&folder);
    const zlgi_store_class *class = store->class;
    lacks_flags = true;
    test_must_put(store, "a/c/0", "old");
    test_must_put(store, "b/k", "1");
    test_must_put(store, "k", "1");
    assert_int_equal(class->rename_prefix(store, "a", "b", NULL), ZLG_EXISTS);
    assert_int_equal(class->rename_prefix(store, "a", "k", NULL), ZLG_EXISTS);
    assert_int_equal(class->rename_prefix(store, "a", "new", NULL), ZLG_OK);
    test_folder_mkdir(&folder, "empty");
    assert_int_equal(class->rename_prefix(store, "new", "empty", NULL), ZLG_OK);
    lacks_flags = false;
    test_must_list(store, "", false, "b/k=1 empty/c/0=3 k=1 ");
    zlg_error err;
    assert_int_equal(class->rename_prefix(store, "b", "k/x", &err), ZLG_IO);
    assert_string_equal(err.message, "key \"k/x\": Not a directory");
    zlgi_store_destroy(store);
    test_folder_remove(&folder);
}

/* ------------------------------------------------------------------ against each other */

typedef struct duel {
    zlg_store *store;
    atomic_bool is_over;
} duel;

static void *remove_again_and_again(void *user)
{
    duel *d = user;
    intptr_t n_failed = 0;
    for (; !atomic_load(&d->is_over); usleep(50))
        n_failed += d->store->class->remove_prefix(d->store, "a", NULL, NULL) != ZLG_OK;
    return (void *)n_failed;
}

/* Directories vanish between the making of one and the use of it; an object that was put
 * may be gone at once, but the put itself succeeds. */
static void test_put_while_directories_are_removed(void **state)
{
    (void)state;
    test_folder folder;
    test_folder_make(&folder);
    duel d = {.store = open_plain(&folder)};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, remove_again_and_again, &d), 0);
    char key[32];
    int n_failed = 0;
    for (int i = 0; i < 500; i++) {
        snprintf(key, sizeof key, "a/b/%d", i % 10);
        n_failed += test_put(d.store, key, "x", NULL) != ZLG_OK;
    }
    atomic_store(&d.is_over, true);
    void *n_removes_failed;
    assert_int_equal(pthread_join(thread, &n_removes_failed), 0);
    assert_int_equal(n_failed, 0);
    assert_null(n_removes_failed);
    assert_int_equal(d.store->class->remove_prefix(d.store, "", NULL, NULL), ZLG_OK);
    assert_int_equal(count_names(&folder), 0);
    zlgi_store_destroy(d.store);
    test_folder_remove(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reading_only),
        cmocka_unit_test(test_temporary_names_are_reserved),
        cmocka_unit_test(test_large_tree_is_removed),
        cmocka_unit_test(test_moved_tree_takes_what_is_in_progress_along),
        cmocka_unit_test(test_moving_without_flags),
        cmocka_unit_test(test_put_while_directories_are_removed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
