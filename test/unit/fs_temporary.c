/* Temporary files: their names, who may take one away, and reading back. */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "unit/fs_test.h"

/* The library calls these: what a sweeper, a disk or a network does at the wrong moment. */
static const test_folder *swept_before_lock;
static off_t bad_byte = -1, file_end = -1;
static int n_written, n_advised, n_closes_that_fail, close_error;

static int remove_temporary(const char *path, const struct stat *s, int kind,
                            struct FTW *at)
{
    (void)s, (void)kind;
    return zlgi_fs_is_temporary(path + at->base) ? unlink(path) : 0;
}

int fcntl(int fd, int command, ...)
{
    va_list args;
    va_start(args, command);
    long argument = va_arg(args, long);
    va_end(args);
    const test_folder *folder = swept_before_lock;
    swept_before_lock = NULL;
    if (command == F_OFD_SETLK && folder != NULL)
        nftw(folder->path, remove_temporary, 8, FTW_PHYS);
    return (int)syscall(SYS_fcntl, fd, command, argument);
}

ssize_t writev(int fd, const struct iovec *vectors, int n)
{
    n_written++;
    return syscall(SYS_writev, fd, vectors, n);
}

ssize_t pread(int fd, void *data, size_t n, off_t offset)
{
    if (file_end >= 0)
        n = (size_t)ZLGI_MAX(ZLGI_MIN((off_t)n, file_end - offset), (off_t)0);
    ssize_t got = syscall(SYS_pread64, fd, data, n, offset);
    if (got > 0 && bad_byte >= offset && bad_byte < offset + got)
        ((uint8_t *)data)[bad_byte - offset] ^= 1;
    return got;
}

int posix_fadvise(int fd, off_t offset, off_t n, int advice)
{
    (void)fd, (void)offset, (void)n;
    n_advised += advice == POSIX_FADV_DONTNEED;
    return 0;
}

int close(int fd)
{
    int code = (int)syscall(SYS_close, fd);
    if (n_closes_that_fail > 0 && n_closes_that_fail-- > 0) {
        errno = close_error;
        return -1;
    }
    return code;
}

static void test_names(void **state)
{
    (void)state;
    assert_true(zlgi_fs_is_temporary(".zlg-tmp-"));
    assert_true(zlgi_fs_is_temporary(".zlg-tmp-0123"));
    assert_false(zlgi_fs_is_temporary(".zlg-tmp"));
    assert_false(zlgi_fs_is_temporary("x.zlg-tmp-"));
}

static void test_taken_names_are_left(void **state)
{
    (void)state;
    test_folder folder;
    test_folder_make(&folder);
    zlg_store *store = open_plain(&folder);
    zlgi_fs *fs = (zlgi_fs *)store;
    int dir = zlgi_fs_resolve(fs, "", O_PATH | O_DIRECTORY);
    zlgi_fs_temporary a, b;
    assert_int_equal(zlgi_fs_temporary_make(fs, dir, &a), 0);
    /* As a forked child counts. */
    atomic_fetch_sub(&fs->last_temporary, 1);
    assert_int_equal(zlgi_fs_temporary_make(fs, dir, &b), 0);
    assert_string_not_equal(a.name, b.name);
    assert_true(zlgi_fs_is_temporary(b.name));
    assert_int_equal(strlen(b.name), sizeof b.name - 1);
    assert_int_equal(count_temporaries(&folder), 2);
    zlgi_fs_unlock(fs, a.fd);
    zlgi_fs_unlock(fs, b.fd);
    close(dir);
    zlgi_store_destroy(store);
    test_folder_remove(&folder);
}

static void test_sweeper_that_is_faster(void **state)
{
    (void)state;
    test_folder folder;
    test_folder_make(&folder);
    zlg_store *store = open_plain(&folder);
    swept_before_lock = &folder;
    n_written = 0;
    test_must_put(store, "k", "1");
    assert_null(swept_before_lock);
    assert_int_equal(n_written, 1); /* noticed before anything was written */
    test_must_get(store, "k", "1");
    assert_int_equal(count_names(&folder), 1);
    zlgi_store_destroy(store);
    test_folder_remove(&folder);
}

static zlg_status put(zlg_store *store, zlg_promise promise, zlg_error *err)
{
    static uint8_t bytes[100000];
    zlgi_bytes parts[3] = {{bytes, 70000}, {bytes, 0}, {bytes, 30000}};
    return zlgi_store_put(store, "k", ZLGI_REPLACE, promise, parts, 3, err);
}

static void test_reading_back(void **state)
{
    (void)state;
    test_folder folder;
    zlg_error err;
    test_folder_make(&folder);
    zlg_store *store = open_plain(&folder);
    test_must_put(store, "k", "old");
    static const off_t bad[] = {0, 69999, 70000, 99999};
    for (size_t i = 0; i < ZLGI_COUNT(bad); i++) {
        bad_byte = bad[i];
        n_advised = 0;
        assert_int_equal(put(store, ZLG_VERIFIED, &err), ZLG_IO);
        assert_non_null(strstr(err.message, "key \"k\": reading back"));
        assert_int_equal(n_advised, 1);
        bad_byte = -1;
        file_end = bad[i];
        assert_int_equal(put(store, ZLG_VERIFIED, &err), ZLG_IO);
        file_end = -1;
        test_must_get(store, "k", "old");
        assert_int_equal(count_names(&folder), 1);
    }
    bad_byte = 100000;
    assert_int_equal(put(store, ZLG_VERIFIED, &err), ZLG_OK);
    bad_byte = 0;
    assert_int_equal(put(store, ZLG_DURABLE, &err), ZLG_OK); /* not read back */
    bad_byte = -1;
    zlgi_store_destroy(store);
    test_folder_remove(&folder);
}

static void test_failing_close_is_a_failure(void **state)
{
    (void)state;
    test_folder folder;
    zlg_error err;
    test_folder_make(&folder);
    zlg_store *store = open_plain(&folder);
    test_must_put(store, "k", "old");
    close_error = EIO;
    n_closes_that_fail = 1;
    assert_int_equal(put(store, ZLG_VISIBLE, &err), ZLG_IO);
    assert_string_equal(err.message, "key \"k\": Input/output error");
    test_must_get(store, "k", "old");
    assert_int_equal(count_names(&folder), 1);
    close_error = EINTR; /* a signal is none */
    n_closes_that_fail = 1;
    assert_int_equal(put(store, ZLG_VISIBLE, &err), ZLG_OK);
    zlgi_store_destroy(store);
    test_folder_remove(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_taken_names_are_left),
        cmocka_unit_test(test_sweeper_that_is_faster),
        cmocka_unit_test(test_reading_back),
        cmocka_unit_test(test_failing_close_is_a_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
