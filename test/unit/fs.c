/* Opening a directory as a store, and reading objects from it. */
#define _GNU_SOURCE
#include <sys/wait.h>

#include "store/folder.h"
#include "store/fs.h"
#include "store/keys.h"

static zlg_status open_with(const char *path, zlg_fs_options options, zlg_store **out,
                            zlg_error *err)
{
    return zlgi_fs_open(&zlgi_default_alloc, &test_limits, path, &options, out, err);
}

static zlg_store *must_open(const char *path)
{
    zlg_store *store = NULL;
    zlg_error err = {0};
    if (open_with(path, (zlg_fs_options)ZLG_FS_OPTIONS_INIT, &store, &err) != ZLG_OK)
        fail_msg("%s: %s", path, err.message);
    return store;
}

/* ------------------------------------------------------------------ opening */

static void test_root_must_be_a_directory(void **state)
{
    (void)state;
    test_folder folder;
    zlg_store *store;
    zlg_error err;
    zlg_fs_options options = ZLG_FS_OPTIONS_INIT;
    test_folder_make(&folder);
    test_folder_write(&folder, "file.zip", "PK");
    const char *path = test_folder_path(&folder, "none.zarr");
    assert_int_equal(open_with(path, options, &store, &err), ZLG_NOT_FOUND);
    assert_non_null(strstr(err.message, path));
    path = test_folder_path(&folder, "file.zip");
    assert_int_equal(open_with(path, options, &store, &err), ZLG_UNSUPPORTED);
    assert_non_null(
        strstr(err.message, "is a file; stores in one file (zip) are not read"));
    path = test_folder_path(&folder, "file.zip/x");
    assert_int_equal(open_with(path, options, &store, &err), ZLG_NOT_FOUND);
    assert_int_equal(open_with("", options, &store, &err), ZLG_USAGE);
    assert_int_equal(open_with("s3://bucket/x", options, &store, &err), ZLG_UNSUPPORTED);
    char longest[5000];
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    assert_int_equal(open_with(longest, options, &store, &err), ZLG_NOT_FOUND);
    longest[0] = '/';
    assert_int_equal(open_with(longest, options, &store, &err), ZLG_NOT_FOUND);
    test_folder_remove(&folder);
}

static void test_root_may_be_a_link_or_a_url(void **state)
{
    (void)state;
    test_folder folder;
    test_folder_make(&folder);
    test_folder_mkdir(&folder, "a b%");
    test_folder_write(&folder, "a b%/k", "here");
    test_folder_mkdir(&folder, "a b%/c");
    test_folder_write(&folder, "a b%/c/0", "there");
    test_folder_link(&folder, "a b%", "link");
    static const char *const forms[] = {"%s/a b%%",          "%s/a b%%//",
                                        "%s/link",           "%s/link/",
                                        "%s/./link/../link", "file://%s/a%%20b%%25",
                                        "file://%s/a b%%",   "file://localhost%s/link"};
    for (size_t i = 0; i < ZLGI_COUNT(forms); i++) {
        char path[200];
        snprintf(path, sizeof path, forms[i], folder.path);
        zlg_store *store = must_open(path);
        assert_string_equal(store->label, path);
        test_must_get(store, "k", "here");
        test_must_get(store, "c/0", "there");
        test_must_get(store, "k", "here");
        test_must_list(store, "", true, "c/ k=4 ");
        zlgi_store_destroy(store);
    }
    zlg_store *store;
    zlg_error err;
    zlg_fs_options options = ZLG_FS_OPTIONS_INIT;
    assert_int_equal(open_with("file://host/x", options, &store, &err), ZLG_USAGE);
    assert_int_equal(open_with("file:///x%00y", options, &store, &err), ZLG_USAGE);
    test_folder_remove(&folder);
}

static void test_relative_path_is_that_of_the_time_of_opening(void **state)
{
    (void)state;
    test_folder folder;
    char before[PATH_MAX];
    assert_non_null(getcwd(before, sizeof before));
    test_folder_make(&folder);
    test_folder_mkdir(&folder, "x");
    test_folder_write(&folder, "x/k", "1");
    assert_int_equal(chdir(folder.path), 0);
    zlg_store *named = must_open("x"), *here = must_open(".");
    assert_int_equal(chdir("/"), 0);
    test_must_get(named, "k", "1");
    test_must_get(here, "x/k", "1");
    assert_int_equal(chdir(before), 0);
    zlgi_store_destroy(named);
    zlgi_store_destroy(here);
    test_folder_remove(&folder);
}

static void test_create_makes_parents(void **state)
{
    (void)state;
    test_folder folder;
    zlg_store *store;
    zlg_error err;
    test_folder_make(&folder);
    test_folder_write(&folder, "file", "1");
    zlg_fs_options options = ZLG_FS_OPTIONS_INIT;
    options.create = 1;
    for (int i = 0; i < 2; i++) {
        const char *path = test_folder_path(&folder, "a/b/c");
        assert_int_equal(open_with(path, options, &store, &err), ZLG_OK);
        test_must_put(store, "k", "1");
        zlgi_store_destroy(store);
        assert_true(test_folder_has(&folder, "a/b/c/k"));
    }
    const char *path = test_folder_path(&folder, "file/x");
    assert_int_equal(open_with(path, options, &store, &err), ZLG_IO);
    assert_non_null(strstr(err.message, "Not a directory"));
    options.read_only = 1;
    assert_int_equal(open_with(path, options, &store, &err), ZLG_USAGE);
    test_folder_remove(&folder);
}

static void test_memory_is_asked_for_once(void **state)
{
    (void)state;
    test_folder folder;
    test_heap heap;
    zlg_store *store;
    zlg_error err;
    test_folder_make(&folder);
    test_folder_mkdir(&folder, "c");
    test_folder_write(&folder, "c/0", "12345");
    test_heap_init(&heap);
    heap.fail_at = 1;
    assert_int_equal(
        zlgi_fs_open(&heap.alloc, &test_limits, folder.path, NULL, &store, &err),
        ZLG_NO_MEMORY);
    heap.fail_at = 0;
    assert_int_equal(
        zlgi_fs_open(&heap.alloc, &test_limits, folder.path, NULL, &store, &err), ZLG_OK);
    size_t n_calls = heap.n_calls;
    for (int i = 0; i < 2; i++) {
        zlgi_object object;
        char text[8];
        size_t n;
        assert_int_equal(store->class->open(store, "c/0", 0, &object, &err), ZLG_OK);
        assert_int_equal(store->class->read(store, &object, 1, 8, text, &n, &err), ZLG_OK);
        assert_int_equal(n, 4);
        store->class->release(store, &object);
        test_must_miss(store, "c/1");
    }
    test_must_put(store, "d/e/f", "1");
    assert_int_equal(heap.n_calls, n_calls);
    zlgi_store_destroy(store);
    assert_int_equal(heap.n_blocks, 0);
    test_folder_remove(&folder);
}

static void test_key_at_the_top_needs_no_handle_of_the_root(void **state)
{
    (void)state;
    test_folder folder;
    test_folder_make(&folder);
    test_folder_write(&folder, "zarr.json", "{}");
    zlg_store *store = must_open(folder.path);
    zlgi_fs *fs = (zlgi_fs *)store;
    test_must_get(store, "zarr.json", "{}");
    test_must_miss(store, ".zarray");
    assert_int_equal(atomic_load(&fs->root), -1);
    test_must_miss(store, "c/0");
    assert_true(atomic_load(&fs->root) >= 0);
    test_must_get(store, "zarr.json", "{}");
    zlgi_store_destroy(store);
    test_folder_remove(&folder);
}

/* ------------------------------------------------------------------ reading */

static void test_what_is_no_file_is_corrupt(void **state)
{
    (void)state;
    test_folder folder;
    test_folder_make(&folder);
    test_folder_mkdir(&folder, "c");
    test_folder_mkdir(&folder, "c/directory");
    assert_int_equal(mkfifo(test_folder_path(&folder, "pipe"), 0666), 0);
    assert_int_equal(mkfifo(test_folder_path(&folder, "c/pipe"), 0666), 0);
    zlg_store *store = must_open(folder.path);
    static const char *const keys[] = {"pipe", "c", "c/directory", "c/pipe"};
    for (size_t i = 0; i < ZLGI_COUNT(keys); i++) {
        zlg_error err;
        zlgi_object object;
        bool is_pipe = strstr(keys[i], "pipe") != NULL;
        assert_int_equal(test_get(store, keys[i], "", &err), ZLG_CORRUPT);
        assert_non_null(strstr(err.message, keys[i]));
        assert_non_null(strstr(err.message, is_pipe ? "no regular file" : "directory"));
        assert_int_equal(store->class->open(store, keys[i], ZLGI_OPEN_STAT, &object, &err),
                         ZLG_CORRUPT);
        assert_non_null(strstr(err.message, is_pipe ? "no regular file" : "directory"));
    }
    zlgi_store_destroy(store);
    test_folder_remove(&folder);
}

static void test_young_files_are_not_trusted(void **state)
{
    (void)state;
    test_folder folder;
    zlgi_object young, old;
    struct stat s;
    test_folder_make(&folder);
    zlg_store *store = must_open(folder.path);
    /* The machine may be slow now and then: one of many must be seen young. */
    bool is_seen_young = false;
    for (int i = 0; i < 100 && !is_seen_young; i++) {
        test_must_put(store, "k", "12345");
        assert_int_equal(store->class->open(store, "k", ZLGI_OPEN_STAT, &young, NULL),
                         ZLG_OK);
        is_seen_young = !young.tag.trusted;
        store->class->release(store, &young);
    }
    assert_true(is_seen_young);
    usleep(30000);
    assert_int_equal(store->class->open(store, "k", ZLGI_OPEN_STAT, &old, NULL), ZLG_OK);
    assert_int_equal(stat(test_folder_path(&folder, "k"), &s), 0);
    assert_true(old.tag.trusted);
    assert_int_equal(old.n_bytes, 5);
    assert_int_equal(old.tag.a, s.st_ino);
    assert_int_equal(old.tag.b, 5);
    assert_int_equal(old.tag.c, (uint64_t)s.st_mtim.tv_sec * 1000000000u +
                                    (uint64_t)s.st_mtim.tv_nsec);
    assert_int_equal(old.tag.d, (uint64_t)s.st_ctim.tv_sec * 1000000000u +
                                    (uint64_t)s.st_ctim.tv_nsec);
    store->class->release(store, &old);
    zlgi_store_destroy(store);
    test_folder_remove(&folder);
}

static void test_sparse_file_beyond_four_gigabytes(void **state)
{
    (void)state;
    test_folder folder;
    zlgi_object object;
    test_folder_make(&folder);
    test_folder_write(&folder, "big", "start");
    int fd = open(test_folder_path(&folder, "big"), O_WRONLY);
    assert_int_equal(pwrite(fd, "end", 3, (off_t)5 << 30), 3);
    assert_int_equal(close(fd), 0);
    zlg_store *store = must_open(folder.path);
    assert_int_equal(store->class->open(store, "big", ZLGI_OPEN_STAT, &object, NULL),
                     ZLG_OK);
    assert_int_equal(object.n_bytes, ((uint64_t)5 << 30) + 3);
    char text[16];
    size_t n;
    zlg_status status = store->class->read(store, &object, ((uint64_t)5 << 30) - 1,
                                           sizeof text, text, &n, NULL);
    assert_int_equal(status, ZLG_OK);
    assert_int_equal(n, 4);
    assert_memory_equal(text, "\0end", 4);
    store->class->release(store, &object);
    zlgi_store_destroy(store);
    test_folder_remove(&folder);
}

/* The kernel tells of this file's text about one page at a time. */
static void test_short_reads_are_continued(void **state)
{
    (void)state;
    zlgi_object object;
    static uint8_t bytes[8192];
    size_t n;
    zlg_store *store = must_open("/proc/self");
    assert_int_equal(store->class->open(store, "smaps", 0, &object, NULL), ZLG_OK);
    assert_true(pread(object.fd, bytes, sizeof bytes, 0) < (ssize_t)sizeof bytes);
    assert_int_equal(store->class->read(store, &object, 0, sizeof bytes, bytes, &n, NULL),
                     ZLG_OK);
    assert_int_equal(n, sizeof bytes);
    store->class->release(store, &object);
    zlgi_store_destroy(store);
}

static void test_failing_read_names_the_reason(void **state)
{
    (void)state;
    test_folder folder;
    zlgi_object object;
    zlg_error err;
    test_folder_make(&folder);
    test_folder_write(&folder, "k", "1");
    zlg_store *store = must_open(folder.path);
    assert_int_equal(store->class->open(store, "k", 0, &object, NULL), ZLG_OK);
    close(object.fd);
    char text[4];
    size_t n;
    assert_int_equal(store->class->read(store, &object, 2, 4, text, &n, &err), ZLG_IO);
    assert_string_equal(err.message, "reading at byte 2: Bad file descriptor");
    zlgi_store_destroy(store);
    test_folder_remove(&folder);
}

static void test_descriptors_are_given_back(void **state)
{
    (void)state;
    test_folder folder;
    test_folder_make(&folder);
    test_folder_mkdir(&folder, "c");
    test_folder_mkdir(&folder, "c/0");
    test_folder_write(&folder, "c/1", "1");
    test_folder_link(&folder, "..", "c/up");
    test_folder_link(&folder, "/", "c/out");
    int lowest = dup(0);
    close(lowest);
    for (int mode = 0; mode < 3; mode++) {
        zlg_fs_options options = ZLG_FS_OPTIONS_INIT;
        options.follow_links = mode == 2;
        zlg_store *store;
        zlgi_object object;
        assert_int_equal(open_with(folder.path, options, &store, NULL), ZLG_OK);
        atomic_store(&((zlgi_fs *)store)->lacks_openat2, mode == 1);
        test_must_get(store, "c/1", "1");
        test_must_get(store, "c/up/c/1", "1");
        test_must_miss(store, "c/2");
        test_must_miss(store, "c/1/2");
        assert_int_not_equal(test_get(store, "c/0", "", NULL), ZLG_OK);
        assert_int_not_equal(
            store->class->open(store, "c/out", ZLGI_OPEN_STAT, &object, NULL), ZLG_OK);
        test_must_put(store, "c/2/3", "23");
        assert_int_not_equal(test_put(store, "c/1/3", "x", NULL), ZLG_OK);
        assert_int_not_equal(test_put(store, "c/0", "x", NULL), ZLG_OK);
        if (mode != 2)
            test_must_list(store, "", false, "c/1=1 c/2/3=2 c/out=0 ");
        assert_int_equal(store->class->remove_prefix(store, "c/2", NULL, NULL), ZLG_OK);
        zlgi_store_destroy(store);
    }
    int again = dup(0);
    assert_int_equal(again, lowest);
    close(again);
    test_folder_remove(&folder);
}

/* A key, or what keys lie below, or what might be one: all that is not surely absent. */
static void test_what_it_lacks(void **state)
{
    (void)state;
    static const char *const there[] = {"a", "a/b", "nowhere", "out", "out/x"};
    static const char *const absent[] = {"b", "a/c", "b/c/d", "a/b/c", "nowhere/x"};
    test_folder folder;
    test_folder_make(&folder);
    zlg_store *store = must_open(folder.path);
    test_must_put(store, "a/b", "1");
    assert_int_equal(symlink("none", test_folder_path(&folder, "nowhere")), 0);
    assert_int_equal(symlink("/", test_folder_path(&folder, "out")), 0);
    for (size_t i = 0; i < ZLGI_COUNT(there); i++)
        assert_false(store->class->lacks(store, there[i]));
    for (size_t i = 0; i < ZLGI_COUNT(absent); i++)
        assert_true(store->class->lacks(store, absent[i]));
    zlgi_store_destroy(store);
    test_folder_remove(&folder);
}

static void test_forked_child_uses_the_store(void **state)
{
    (void)state;
    test_folder folder;
    test_folder_make(&folder);
    zlg_store *store = must_open(folder.path);
    test_must_put(store, "a/b", "1");
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(test_put(store, "a/c", "child", NULL) == ZLG_OK ? 0 : 1);
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_int_equal(how, 0);
    test_must_get(store, "a/c", "child");
    zlgi_store_destroy(store);
    test_folder_remove(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_root_must_be_a_directory),
        cmocka_unit_test(test_root_may_be_a_link_or_a_url),
        cmocka_unit_test(test_relative_path_is_that_of_the_time_of_opening),
        cmocka_unit_test(test_create_makes_parents),
        cmocka_unit_test(test_memory_is_asked_for_once),
        cmocka_unit_test(test_key_at_the_top_needs_no_handle_of_the_root),
        cmocka_unit_test(test_what_is_no_file_is_corrupt),
        cmocka_unit_test(test_young_files_are_not_trusted),
        cmocka_unit_test(test_sparse_file_beyond_four_gigabytes),
        cmocka_unit_test(test_short_reads_are_continued),
        cmocka_unit_test(test_failing_read_names_the_reason),
        cmocka_unit_test(test_descriptors_are_given_back),
        cmocka_unit_test(test_what_it_lacks),
        cmocka_unit_test(test_forked_child_uses_the_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
