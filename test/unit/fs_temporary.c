/* Temporary files: their names, who may take one away, reading back; files without a name,
 * and systems that have none. */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "unit/fs_test.h"

/* The library calls these: what a sweeper, a disk or a network does at the wrong moment. */
static const test_folder *swept_before_lock;
static off_t bad_byte = -1, file_end = -1;
static int n_written, n_advised, n_closes_that_fail, close_error;
static int nameless_error, link_error, n_nameless;
static const char *made_before_link, *removed_before_link;

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

int openat(int dir, const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    unsigned mode = va_arg(args, unsigned);
    va_end(args);
    bool is_nameless = (flags & O_TMPFILE) == O_TMPFILE;
    n_nameless += is_nameless;
    if (is_nameless && nameless_error != 0) {
        errno = nameless_error;
        return -1;
    }
    return (int)syscall(SYS_openat, dir, path, flags, mode);
}

int linkat(int from, const char *path, int to, const char *name, int flags)
{
    if (made_before_link != NULL)
        close((int)syscall(SYS_openat, to, made_before_link, O_WRONLY | O_CREAT, 0666));
    made_before_link = NULL;
    if (removed_before_link != NULL)
        assert_int_equal(rmdir(removed_before_link), 0);
    removed_before_link = NULL;
    if (link_error != 0) {
        errno = link_error;
        return -1;
    }
    return (int)syscall(SYS_linkat, from, path, to, name, flags);
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
    atomic_store(&((zlgi_fs *)store)->lacks_nameless, true);
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

/* Whether test folders lie where files without a name can be made. */
static bool has_nameless(void)
{
    int fd = open("/tmp", O_RDWR | O_TMPFILE, 0666);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* Nobody meets it while it is written; then it has no name but the object's. */
static void test_nameless_files(void **state)
{
    (void)state;
    if (!has_nameless())
        skip();
    test_folder folder;
    struct stat s;
    zlgi_bytes part = {(const uint8_t *)"new", 3};
    test_folder_make(&folder);
    zlg_store *store = open_plain(&folder);
    int dir = zlgi_fs_resolve((zlgi_fs *)store, "", O_PATH | O_DIRECTORY);
    int fd = zlgi_fs_nameless_make((zlgi_fs *)store, dir);
    assert_true(fd >= 0);
    assert_int_equal(zlgi_fs_fill(fd, &part, 1, ZLG_VISIBLE), 0);
    assert_int_equal(count_names(&folder), 0);
    test_folder_write(&folder, "taken", "old");
    assert_int_equal(zlgi_fs_nameless_link(fd, dir, "taken"), -EEXIST);
    assert_int_equal(zlgi_fs_nameless_link(fd, dir, "k"), 0);
    assert_int_equal(fstat(fd, &s), 0);
    assert_int_equal(s.st_nlink, 1);
    close(fd);
    close(dir);
    test_must_get(store, "taken", "old");
    test_must_get(store, "k", "new");
    assert_int_equal(count_names(&folder), 2);
    zlgi_store_destroy(store);
    test_folder_remove(&folder);
}

/* Makes new objects all the same, and does not try again what the system refused. */
static void test_systems_without_nameless_files(void **state)
{
    (void)state;
    static const int codes[] = {EOPNOTSUPP, EISDIR, EINVAL, EPERM, ENOENT, EACCES};
    for (size_t i = 0; i < 2 * ZLGI_COUNT(codes); i++) {
        if (i % 2 == 0 && codes[i / 2] == EACCES)
            continue; /* a directory that may not be written */
        int *error = i % 2 == 0 ? &nameless_error : &link_error;
        test_folder folder;
        test_folder_make(&folder);
        zlg_store *store = open_plain(&folder);
        n_nameless = 0;
        *error = codes[i / 2];
        test_must_put(store, "a", "1");
        test_must_put(store, "b", "2");
        assert_int_equal(update_now(store, "c", "3", NULL), ZLG_OK);
        *error = 0;
        assert_int_equal(n_nameless, 1);
        test_must_list(store, "", false, "a=1 b=1 c=1 ");
        assert_int_equal(count_names(&folder), 3);
        zlgi_store_destroy(store);
        test_folder_remove(&folder);
    }
}

/* What passes is no reason to do without from then on. */
static void test_what_the_system_refuses_once(void **state)
{
    (void)state;
    if (!has_nameless())
        skip();
    static const int codes[] = {ENOSPC, EMFILE, EACCES};
    test_folder folder;
    test_folder_make(&folder);
    zlg_store *store = open_plain(&folder);
    test_folder_mkdir(&folder, "d");
    removed_before_link = test_folder_path(&folder, "d");
    n_nameless = 0;
    test_must_put(store, "d/a", "1");
    assert_null(removed_before_link);
    int n_after = n_nameless;
    for (size_t i = 0; i < ZLGI_COUNT(codes); i++) {
        char key[8];
        nameless_error = codes[i];
        snprintf(key, sizeof key, "d/%zu", i);
        test_must_put(store, key, "1");
        nameless_error = 0;
        assert_int_equal(n_nameless, n_after + 1 + (int)i);
    }
    test_must_put(store, "d/b", "2");
    assert_int_equal(n_nameless, n_after + 1 + (int)ZLGI_COUNT(codes));
    test_must_list(store, "", false, "d/0=1 d/1=1 d/2=1 d/a=1 d/b=1 ");
    zlgi_store_destroy(store);
    test_folder_remove(&folder);
}

/* Between the look and the naming somebody makes the object: it is replaced, or seen. */
static void test_somebody_is_faster(void **state)
{
    (void)state;
    if (!has_nameless())
        skip();
    zlgi_bytes part = {(const uint8_t *)"ours", 4};
    test_folder folder;
    zlg_error err;
    test_folder_make(&folder);
    zlg_store *store = open_plain(&folder);
    made_before_link = "a";
    test_must_put(store, "a", "ours");
    assert_null(made_before_link);
    test_must_get(store, "a", "ours");
    made_before_link = "b";
    assert_int_equal(zlgi_store_put(store, "b", ZLGI_CREATE, ZLG_VISIBLE, &part, 1, &err),
                     ZLG_EXISTS);
    test_must_get(store, "b", "");
    made_before_link = "c";
    assert_int_equal(update_now(store, "c", "ours", &err), ZLG_EXISTS);
    assert_int_equal(update_now(store, "c", "ours", &err), ZLG_OK);
    n_nameless = 0;
    test_must_put(store, "d", "ours");
    assert_int_equal(n_nameless, 1); /* that was no refusal */
    test_must_put(store, "d", "ours");
    assert_int_equal(zlgi_store_put(store, "e", ZLGI_REPLACE, ZLG_DURABLE, &part, 1, &err),
                     ZLG_OK);
    assert_int_equal(n_nameless, 1); /* neither what is there, nor what must last */
    test_must_list(store, "", false, "a=4 b=0 c=4 d=4 e=4 ");
    assert_int_equal(count_names(&folder), 5);
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
    close_error = EIO;
    for (int is_old = 0; is_old < 2; is_old++) {
        n_closes_that_fail = 1;
        n_written = 0;
        assert_int_equal(put(store, ZLG_VISIBLE, &err), ZLG_IO);
        assert_string_equal(err.message, "key \"k\": Input/output error");
        assert_int_equal(n_written, 1); /* it is not tried in another way */
        assert_int_equal(count_names(&folder), is_old);
        if (is_old)
            test_must_get(store, "k", "old");
        test_must_put(store, "k", "old");
    }
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
        cmocka_unit_test(test_nameless_files),
        cmocka_unit_test(test_systems_without_nameless_files),
        cmocka_unit_test(test_what_the_system_refuses_once),
        cmocka_unit_test(test_somebody_is_faster),
        cmocka_unit_test(test_reading_back),
        cmocka_unit_test(test_failing_close_is_a_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
