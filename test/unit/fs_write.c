/* Changing directories: failures leave the old object and no temporary file. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>

#include "store/folder.h"
#include "store/fs.h"
#include "store/keys.h"

static zlg_store *open_with(const test_folder *folder, zlg_fs_options options)
{
    zlg_store *store = NULL;
    assert_int_equal(zlgi_fs_open(&zlgi_default_alloc, &test_limits, folder->path, &options,
                                  &store, NULL),
                     ZLG_OK);
    return store;
}

static zlg_store *open_plain(const test_folder *folder)
{
    return open_with(folder, (zlg_fs_options)ZLG_FS_OPTIONS_INIT);
}

/* Every name below the folder, hidden ones too, as nftw meets them. */
static int n_names;

static int count_name(const char *path, const struct stat *s, int kind, struct FTW *at)
{
    (void)path, (void)s, (void)kind;
    n_names += at->level > 0;
    return 0;
}

static int count_names(const test_folder *folder)
{
    n_names = 0;
    assert_int_equal(nftw(folder->path, count_name, 64, FTW_PHYS), 0);
    return n_names;
}

static void test_put_makes_directories_and_plain_files(void **state)
{
    (void)state;
    test_folder folder;
    struct stat s;
    test_folder_make(&folder);
    zlg_store *store = open_plain(&folder);
    mode_t before = umask(027);
    test_must_put(store, "a/b/c/d", "1");
    umask(before);
    assert_int_equal(stat(test_folder_path(&folder, "a/b/c/d"), &s), 0);
    assert_int_equal(s.st_mode, S_IFREG | 0640);
    assert_int_equal(stat(test_folder_path(&folder, "a/b"), &s), 0);
    assert_int_equal(s.st_mode, S_IFDIR | 0750);
    test_must_put(store, "a/b/e", "2");
    test_must_put(store, "a/b/e", "3");
    assert_int_equal(count_names(&folder), 5);
    zlgi_store_destroy(store);
    test_folder_remove(&folder);
}

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
    assert_int_equal(class->remove_prefix(store, "k", &err), ZLG_USAGE);
    assert_int_equal(class->remove_prefix(store, "", &err), ZLG_USAGE);
    test_must_get(store, "k", "1");
    test_must_list(store, "", false, "k=1 ");
    zlgi_store_destroy(store);
    test_folder_remove(&folder);
}

static void test_failed_put_changes_nothing(void **state)
{
    (void)state;
    test_folder folder;
    zlg_error err;
    char long_key[300];
    memset(long_key, 'x', sizeof long_key);
    long_key[sizeof long_key - 1] = '\0';
    test_folder_make(&folder);
    test_folder_mkdir(&folder, "directory");
    test_folder_mkdir(&folder, "directory/x");
    test_folder_write(&folder, "file", "old");
    zlg_store *store = open_plain(&folder);
    assert_int_equal(test_put(store, "directory", "new", &err), ZLG_CORRUPT);
    assert_string_equal(err.message, "key \"directory\": is a directory, not an object");
    assert_int_equal(test_put(store, "file/x", "new", &err), ZLG_IO);
    assert_string_equal(err.message, "key \"file/x\": Not a directory");
    assert_int_equal(test_put(store, long_key, "new", &err), ZLG_IO);
    assert_non_null(strstr(err.message, "File name too long"));
    assert_int_equal(count_names(&folder), 3);
    test_must_get(store, "file", "old");
    zlgi_store_destroy(store);
    test_folder_remove(&folder);
}

/* A limit on file sizes stands for a full disk: the write comes back short, then fails. */
static void test_failed_write_leaves_the_old_object(void **state)
{
    (void)state;
    test_folder folder;
    zlg_error err;
    test_folder_make(&folder);
    zlg_store *store = open_plain(&folder);
    test_must_put(store, "c/0", "old");
    static uint8_t bytes[10000];
    zlgi_bytes parts[3] = {{bytes, 3000}, {bytes, 3000}, {bytes, 3000}};
    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 7000;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    zlg_status status = test_put_parts(store, "c/0", parts, 3, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    assert_int_equal(status, ZLG_IO);
    assert_string_equal(err.message, "key \"c/0\": File too large");
    test_must_get(store, "c/0", "old");
    assert_int_equal(count_names(&folder), 2);
    assert_int_equal(test_put_parts(store, "c/0", parts, 3, &err), ZLG_OK);
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
    }
    test_must_put(store, "a/.zlg-tmp", "x");
    /* What an interrupted writer left goes with the tree. */
    test_folder_write(&folder, "a/.zlg-tmp-0123", "left over");
    assert_int_equal(store->class->remove_prefix(store, "a", NULL), ZLG_OK);
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
    assert_int_equal(store->class->remove_prefix(store, "c", NULL), ZLG_OK);
    assert_int_equal(count_names(&folder), 0);
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
        n_failed += d->store->class->remove_prefix(d->store, "a", NULL) != ZLG_OK;
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
    assert_int_equal(d.store->class->remove_prefix(d.store, "", NULL), ZLG_OK);
    assert_int_equal(count_names(&folder), 0);
    zlgi_store_destroy(d.store);
    test_folder_remove(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_put_makes_directories_and_plain_files),
        cmocka_unit_test(test_reading_only),
        cmocka_unit_test(test_failed_put_changes_nothing),
        cmocka_unit_test(test_failed_write_leaves_the_old_object),
        cmocka_unit_test(test_temporary_names_are_reserved),
        cmocka_unit_test(test_large_tree_is_removed),
        cmocka_unit_test(test_put_while_directories_are_removed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
