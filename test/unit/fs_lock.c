/* Locks on files: held against others in the same process, waited for, and what a file
 * system without locks says. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>

#include "unit/fs_test.h"

/* The library calls this one: the number of the error that setting a lock meets. */
static int lock_error;

int fcntl(int fd, int command, ...)
{
    va_list args;
    va_start(args, command);
    long argument = va_arg(args, long);
    va_end(args);
    if (command == F_OFD_SETLK && lock_error != 0) {
        errno = lock_error;
        return -1;
    }
    return (int)syscall(SYS_fcntl, fd, command, argument);
}

static int open_file(const test_folder *folder)
{
    int fd = open(test_folder_path(folder, "k"), O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

static int ask_three_times(void *user)
{
    return ++*(int *)user == 3;
}

static void test_one_holder(void **state)
{
    (void)state;
    test_folder folder;
    test_folder_make(&folder);
    test_folder_write(&folder, "k", "1");
    zlg_store *store = open_plain(&folder);
    const zlgi_fs *fs = (const zlgi_fs *)store;
    int a = open_file(&folder), b = open_file(&folder), n_asked = 0;
    assert_int_equal(zlgi_fs_lock(fs, a, NULL), 0);
    assert_int_equal(zlgi_fs_try_lock(fs, a), 0); /* the holder itself */
    assert_int_equal(zlgi_fs_try_lock(fs, b), -EAGAIN);
    zlgi_txn txn = {.waiting = ask_three_times, .user = &n_asked};
    assert_int_equal(zlgi_fs_lock(fs, b, &txn), ZLGI_FS_GAVE_UP);
    assert_int_equal(n_asked, 3);
    /* Given back by name: a copy of the descriptor keeps nothing. */
    int copy = dup(a);
    assert_true(copy >= 0);
    zlgi_fs_unlock(fs, a);
    assert_int_equal(zlgi_fs_try_lock(fs, b), 0);
    zlgi_fs_unlock(fs, b);
    close(copy);
    zlgi_store_destroy(store);
    test_folder_remove(&folder);
}

/* A file that needs no lock is locked once, to see whether that can be; and let go. */
static void test_whether_there_are_locks(void **state)
{
    (void)state;
    test_folder folder;
    test_folder_make(&folder);
    test_folder_write(&folder, "k", "1");
    zlg_store *store = open_plain(&folder);
    zlgi_fs *fs = (zlgi_fs *)store;
    int a = open_file(&folder), b = open_file(&folder);
    for (int i = 0; i < 2; i++) {
        lock_error = ENOLCK;
        assert_int_equal(zlgi_fs_need_locks(fs, a), ZLGI_FS_NO_LOCKS);
    }
    lock_error = 0;
    assert_int_equal(zlgi_fs_need_locks(fs, a), 0);
    assert_int_equal(zlgi_fs_try_lock(fs, b), 0);
    zlgi_fs_unlock(fs, b);
    lock_error = EIO; /* not asked again */
    assert_int_equal(zlgi_fs_need_locks(fs, a), 0);
    lock_error = 0;
    close(a);
    zlgi_store_destroy(store);
    test_folder_remove(&folder);
}

typedef struct waiter {
    const zlgi_fs *fs;
    int fd, code;
    atomic_int n_asked;
} waiter;

static int count_asking(void *user)
{
    atomic_fetch_add(&((waiter *)user)->n_asked, 1);
    return 0;
}

static void *wait_for_lock(void *user)
{
    waiter *w = user;
    zlgi_txn txn = {.waiting = count_asking, .user = w};
    w->code = zlgi_fs_lock(w->fs, w->fd, &txn);
    return NULL;
}

static void test_waiting(void **state)
{
    (void)state;
    test_folder folder;
    test_folder_make(&folder);
    test_folder_write(&folder, "k", "1");
    zlg_store *store = open_plain(&folder);
    int fd = open_file(&folder);
    waiter w = {.fs = (const zlgi_fs *)store, .fd = open_file(&folder), .code = 1};
    pthread_t thread;
    assert_int_equal(zlgi_fs_lock(w.fs, fd, NULL), 0);
    assert_int_equal(pthread_create(&thread, NULL, wait_for_lock, &w), 0);
    /* Asked every few milliseconds, however long it takes. */
    for (int i = 0; i < 5000 && atomic_load(&w.n_asked) < 20; i++)
        usleep(1000);
    assert_true(atomic_load(&w.n_asked) >= 20);
    zlgi_fs_unlock(w.fs, fd);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(w.code, 0);
    zlgi_fs_unlock(w.fs, w.fd);
    zlgi_store_destroy(store);
    test_folder_remove(&folder);
}

static void test_file_system_without_locks(void **state)
{
    (void)state;
    static const int codes[] = {EINVAL, ENOLCK, EOPNOTSUPP, ENOSYS};
    test_folder folder;
    zlg_error err;
    test_folder_make(&folder);
    test_folder_write(&folder, "k", "old");
    zlg_fs_options options = ZLG_FS_OPTIONS_INIT;
    options.no_locks = 1;
    zlg_store *store = open_plain(&folder), *without = open_with(&folder, options);
    for (size_t i = 0; i < ZLGI_COUNT(codes); i++) {
        lock_error = codes[i];
        assert_int_equal(test_put(store, "k", "new", &err), ZLG_UNSUPPORTED);
        assert_non_null(strstr(err.message, "key \"k\""));
        assert_non_null(strstr(err.message, "no_locks"));
        assert_int_equal(update_now(store, "k", "new", &err), ZLG_UNSUPPORTED);
        assert_int_equal(update_now(store, "none", "new", &err), ZLG_UNSUPPORTED);
        assert_int_equal(test_remove(store, "k", &err), ZLG_UNSUPPORTED);
        assert_int_equal(store->class->remove_prefix(store, "k", NULL, &err),
                         ZLG_UNSUPPORTED);
        assert_int_equal(count_names(&folder), 1);
        test_must_get(store, "k", "old");
        test_must_put(without, "k", "old");
        assert_int_equal(update_now(without, "k", "old", &err), ZLG_OK);
        assert_int_equal(update_now(without, "c/d", "1", &err), ZLG_OK);
        assert_int_equal(test_remove(without, "c/d", &err), ZLG_OK);
        assert_int_equal(without->class->remove_prefix(without, "c", NULL, &err), ZLG_OK);
    }
    lock_error = EIO;
    assert_int_equal(test_put(store, "k", "new", &err), ZLG_IO);
    lock_error = 0;
    zlgi_store_destroy(store);
    zlgi_store_destroy(without);
    test_folder_remove(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_holder),
        cmocka_unit_test(test_whether_there_are_locks),
        cmocka_unit_test(test_waiting),
        cmocka_unit_test(test_file_system_without_locks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
