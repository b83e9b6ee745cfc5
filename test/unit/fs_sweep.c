/* Leftovers of dead writers go; what a living one writes, and all else, stays. */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/wait.h>

#include "unit/fs_test.h"

#define LEFT ".zlg-tmp-0123456789abcdef"

static uint64_t must_sweep(zlg_store *store, const char *prefix)
{
    uint64_t n = 99;
    zlg_error err = {0};
    if (store->class->sweep(store, prefix, NULL, &n, &err) != ZLG_OK)
        fail_msg("sweep %s: %s", prefix, err.message);
    return n;
}

static void test_sweeping_a_tree(void **state)
{
    (void)state;
    test_folder folder;
    test_folder_make(&folder);
    test_folder_mkdir(&folder, "a");
    test_folder_mkdir(&folder, "a/b");
    test_folder_mkdir(&folder, "a/.zlg-tmp-fedcba9876543210");
    test_folder_mkdir(&folder, "c");
    test_folder_link(&folder, "../c", "a/to_c");
    test_folder_link(&folder, "k", "a/.zlg-tmp-aaaaaaaaaaaaaaaa");
    test_folder_write(&folder, LEFT, "1");
    test_folder_write(&folder, "a/" LEFT, "1");
    test_folder_write(&folder, "a/b/" LEFT, "");
    test_folder_write(&folder, "c/" LEFT, "1");
    test_folder_write(&folder, "a/.zlg-tmp-notes", "by hand");
    test_folder_write(&folder, "a/.zlg-tmp-0123456789abcdef0", "by hand");
    test_folder_write(&folder, "a/zlg-tmp-0", "a key");
    test_folder_write(&folder, "a/.zlg-tmp", "a key");
    test_folder_write(&folder, "a/b/x.zlg-tmp-0", "a key");
    zlg_store *store = open_plain(&folder);
    assert_int_equal(must_sweep(store, "none"), 0);
    assert_int_equal(must_sweep(store, "a/.zlg-tmp"), 0);
    assert_int_equal(must_sweep(store, "a/b"), 1);
    assert_true(test_folder_has(&folder, "a/" LEFT));
    /* Links are not followed, and no writer makes links or folders of such names. */
    assert_int_equal(must_sweep(store, "a"), 1);
    assert_true(test_folder_has(&folder, "c/" LEFT));
    assert_true(test_folder_has(&folder, "a/.zlg-tmp-fedcba9876543210"));
    assert_true(test_folder_has(&folder, "a/.zlg-tmp-aaaaaaaaaaaaaaaa"));
    assert_true(test_folder_has(&folder, "a/.zlg-tmp-notes"));
    assert_int_equal(must_sweep(store, ""), 2);
    assert_int_equal(must_sweep(store, ""), 0);
    test_must_list(store, "", false, "a/.zlg-tmp=5 a/b/x.zlg-tmp-0=5 a/zlg-tmp-0=5 ");
    uint64_t n;
    zlg_error err;
    assert_int_equal(store->class->sweep(store, "../x", NULL, &n, &err), ZLG_NOT_FOUND);
    zlgi_store_destroy(store);
    test_folder_remove(&folder);
}

static int lose_patience(void *n_left)
{
    return (*(int *)n_left)-- <= 0;
}

/* Between names, those that are gone are counted, and the next sweep finds the others. */
static void test_a_sweep_that_is_stopped(void **state)
{
    (void)state;
    enum { N = 1000 };
    test_folder folder;
    test_folder_make(&folder);
    for (int i = 0; i < N; i++) {
        char name[64];
        snprintf(name, sizeof name, ".zlg-tmp-%016x", i);
        test_folder_write(&folder, name, "1");
    }
    zlg_store *store = open_plain(&folder);
    uint64_t n, n_all = 0;
    int n_left = 2, n_stopped = 0;
    const zlgi_txn txn = {.waiting = lose_patience, .user = &n_left};
    zlg_error err;
    while (store->class->sweep(store, "", &txn, &n, &err) == ZLG_CANCELLED) {
        assert_int_equal(err.status, ZLG_CANCELLED);
        assert_in_range(n, 1, N - 1);
        n_all += n;
        n_stopped++;
        n_left = 2;
    }
    assert_in_range(n_stopped, 1, N);
    assert_int_equal(n_all + n, N);
    zlgi_store_destroy(store);
    test_folder_remove(&folder);
}

static void test_stores_that_cannot_sweep(void **state)
{
    (void)state;
    test_folder folder;
    zlg_error err;
    uint64_t n;
    test_folder_make(&folder);
    test_folder_write(&folder, LEFT, "1");
    zlg_fs_options options = ZLG_FS_OPTIONS_INIT;
    options.read_only = 1;
    zlg_store *store = open_with(&folder, options);
    assert_int_equal(store->class->sweep(store, "", NULL, &n, &err), ZLG_USAGE);
    zlgi_store_destroy(store);
    options.read_only = 0;
    options.no_locks = 1;
    store = open_with(&folder, options);
    test_must_put(store, "k", "1");
    assert_int_equal(store->class->sweep(store, "", NULL, &n, &err), ZLG_UNSUPPORTED);
    assert_int_equal(count_temporaries(&folder), 1);
    zlgi_store_destroy(store);
    test_folder_remove(&folder);
}

/* A child makes a temporary file and stops; its name, and whether it has got another. */
static pid_t start_writer(const test_folder *folder, const char *final_name)
{
    int ready[2];
    char byte = 0;
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        zlg_store *store = open_plain(folder);
        int dir = zlgi_fs_resolve((zlgi_fs *)store, "d", O_PATH | O_DIRECTORY);
        zlgi_fs_temporary temporary;
        zlgi_bytes part = {(const uint8_t *)"whole", 5};
        byte = zlgi_fs_temporary_make((zlgi_fs *)store, dir, &temporary) == 0 &&
               zlgi_fs_fill(temporary.fd, &part, 1, ZLG_VISIBLE) == 0;
        if (final_name != NULL && linkat(dir, temporary.name, dir, final_name, 0) != 0)
            byte = 0;
        if (write(ready[1], &byte, 1) == 1)
            pause();
        _exit(1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(byte, 1);
    close(ready[0]), close(ready[1]);
    return child;
}

static void kill_writer(pid_t child)
{
    int status;
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
}

static void test_living_and_dead_writers(void **state)
{
    (void)state;
    test_folder folder;
    test_folder_make(&folder);
    test_folder_mkdir(&folder, "d");
    pid_t plain = start_writer(&folder, NULL), named = start_writer(&folder, "named");
    zlg_store *store = open_plain(&folder);
    assert_int_equal(must_sweep(store, ""), 0);
    test_must_put(store, "d/k", "1"); /* sweeps too */
    assert_int_equal(count_temporaries(&folder), 2);
    test_must_list(store, "", false, "d/k=1 d/named=5 ");

    kill_writer(plain);
    assert_int_equal(must_sweep(store, "d"), 1);
    kill_writer(named);
    /* While the object is locked, its other name stays; then it goes without harm. */
    zlgi_txn txn = {.change = ZLGI_UPDATE, .promise = ZLG_VISIBLE};
    assert_int_equal(store->class->begin(store, "d/named", &txn, NULL), ZLG_OK);
    assert_int_equal(must_sweep(store, "d"), 0);
    store->class->end(store, &txn);
    assert_int_equal(must_sweep(store, "d"), 1);
    test_must_get(store, "d/named", "whole");
    assert_int_equal(count_temporaries(&folder), 0);
    zlgi_store_destroy(store);
    test_folder_remove(&folder);
}

static void test_first_change_in_a_directory_sweeps_it(void **state)
{
    (void)state;
    static const char *const keys[] = {"d/put", "d/update", "d/remove", "top"};
    test_folder folder;
    test_folder_make(&folder);
    test_folder_mkdir(&folder, "d");
    for (size_t i = 0; i < ZLGI_COUNT(keys); i++) {
        bool at_top = i == 3;
        test_folder_write(&folder, "d/" LEFT, "1");
        test_folder_write(&folder, LEFT, "1");
        zlg_store *store = open_plain(&folder);
        if (i == 2)
            assert_int_equal(test_remove(store, keys[i], NULL), ZLG_OK);
        else if (i == 1)
            assert_int_equal(update_now(store, keys[i], "1", NULL), ZLG_OK);
        else
            test_must_put(store, keys[i], "1");
        assert_int_equal(test_folder_has(&folder, "d/" LEFT), at_top);
        assert_int_equal(test_folder_has(&folder, LEFT), !at_top);
        /* Once only: whatever stands there later, another handle takes. */
        test_folder_write(&folder, "d/.zlg-tmp-1111111111111111", "1");
        test_must_put(store, "d/put", "2");
        assert_int_equal(test_folder_has(&folder, "d/.zlg-tmp-1111111111111111"), !at_top);
        zlgi_store_destroy(store);
    }
    test_folder_remove(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sweeping_a_tree),
        cmocka_unit_test(test_a_sweep_that_is_stopped),
        cmocka_unit_test(test_stores_that_cannot_sweep),
        cmocka_unit_test(test_living_and_dead_writers),
        cmocka_unit_test(test_first_change_in_a_directory_sweeps_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
