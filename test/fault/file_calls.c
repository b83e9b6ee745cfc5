/*
 * Each system call of a small job on files fails in turn: once, and from then on. What
 * returned is there, what failed left the old object, nothing is torn, no descriptor and no
 * temporary file stays, and the error names key and cause.
 *
 * The program has functions of its own where the library calls the system's.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "unit/fs_test.h"

/* ------------------------------------------------------------------ the system */

static struct {
    int n_calls, n_of_job, fail_at, code;         /* fail_at 0: never */
    bool from_then_on, short_writes, keeps_files; /* unlinking failed */
    const char *name;                             /* what failed first */
} fault;

static bool may_be_interrupted(const char *name)
{
    static const char *const names[] = {"openat", "fcntl", "writev",
                                        "pread",  "fsync", "close"};
    bool is_one = false;
    for (size_t i = 0; i < ZLGI_COUNT(names); i++)
        is_one = is_one || strcmp(name, names[i]) == 0;
    return is_one;
}

static bool strikes(const char *name)
{
    int n = ++fault.n_calls;
    bool hit =
        fault.fail_at > 0 && (fault.from_then_on ? n >= fault.fail_at : n == fault.fail_at);
    if (!hit || (fault.code == EINTR && !may_be_interrupted(name)))
        return false;
    fault.keeps_files = fault.keeps_files || strcmp(name, "unlinkat") == 0;
    if (fault.name == NULL)
        fault.name = name;
    errno = fault.code;
    return true;
}

int openat(int dir, const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    unsigned mode = va_arg(args, unsigned);
    va_end(args);
    return strikes("openat") ? -1 : (int)syscall(SYS_openat, dir, path, flags, mode);
}

int fcntl(int fd, int command, ...)
{
    va_list args;
    va_start(args, command);
    long argument = va_arg(args, long);
    va_end(args);
    return strikes("fcntl") ? -1 : (int)syscall(SYS_fcntl, fd, command, argument);
}

ssize_t writev(int fd, const struct iovec *vectors, int n)
{
    if (strikes("writev"))
        return -1;
    if (!fault.short_writes)
        return syscall(SYS_writev, fd, vectors, n);
    return syscall(SYS_write, fd, vectors[0].iov_base, (vectors[0].iov_len + 1) / 2);
}

ssize_t pread(int fd, void *data, size_t n, off_t offset)
{
    return strikes("pread") ? -1 : syscall(SYS_pread64, fd, data, n, offset);
}

/* No power is lost here, and disks are slow. */
int fsync(int fd)
{
    (void)fd;
    return strikes("fsync") ? -1 : 0;
}

/* The descriptor is gone even so. */
int close(int fd)
{
    int code = (int)syscall(SYS_close, fd);
    return strikes("close") ? -1 : code;
}

int fstat(int fd, struct stat *out)
{
    return strikes("fstat") ? -1 : (int)syscall(SYS_fstat, fd, out);
}

int fstatat(int dir, const char *path, struct stat *out, int flags)
{
    return strikes("fstatat") ? -1 : (int)syscall(SYS_newfstatat, dir, path, out, flags);
}

int mkdirat(int dir, const char *path, mode_t mode)
{
    return strikes("mkdirat") ? -1 : (int)syscall(SYS_mkdirat, dir, path, mode);
}

int unlinkat(int dir, const char *path, int flags)
{
    return strikes("unlinkat") ? -1 : (int)syscall(SYS_unlinkat, dir, path, flags);
}

int linkat(int from, const char *path, int to, const char *name, int flags)
{
    return strikes("linkat") ? -1 : (int)syscall(SYS_linkat, from, path, to, name, flags);
}

int renameat(int from, const char *path, int to, const char *name)
{
    return strikes("renameat") ? -1 : (int)syscall(SYS_renameat2, from, path, to, name, 0);
}

int renameat2(int from, const char *path, int to, const char *name, unsigned flags)
{
    return strikes("renameat2") ? -1
                                : (int)syscall(SYS_renameat2, from, path, to, name, flags);
}

int getentropy(void *out, size_t n)
{
    return strikes("getentropy") || syscall(SYS_getrandom, out, n, 0) != (long)n ? -1 : 0;
}

/* ------------------------------------------------------------------ the job */

typedef struct step {
    const char *key;
    zlgi_change change;
    const char *old, *new; /* NULL: absent */
} step;

static const step steps[] = {
    {"c/new", ZLGI_REPLACE, NULL, "newest"},   {"c/old", ZLGI_REPLACE, "old", "replaced"},
    {"c/count", ZLGI_UPDATE, "one", "two"},    {"d/e/first", ZLGI_UPDATE, NULL, "first"},
    {"made", ZLGI_CREATE, NULL, "created"},    {"c/gone", ZLGI_REPLACE, "gone", NULL},
    {"c/emptied", ZLGI_UPDATE, "empty", NULL}, {"f/removed", ZLGI_REPLACE, NULL, NULL},
};
#define LEFT_OVER "c/.zlg-tmp-0123456789abcdef"
enum { N_STEPS = ZLGI_COUNT(steps) };

typedef struct outcome {
    zlg_status status;
    zlg_error err;
} outcome;

static zlg_status take(zlg_store *store, const step *s, zlgi_txn *txn, zlg_error *err)
{
    char text[16] = "";
    size_t n = 0;
    const char *new = s->new != NULL ? s->new : "none";
    zlgi_bytes parts[2] = {{(const uint8_t *)new, 2},
                           {(const uint8_t *)new + 2, strlen(new) - 2}};
    ZLGI_TRY(store->class->begin(store, s->key, txn, err));
    zlg_status status = ZLG_OK;
    if (txn->present)
        status = store->class->read(store, &txn->object, 0, sizeof text, text, &n, err);
    if (status == ZLG_OK && s->change == ZLGI_UPDATE && s->old != NULL &&
        strcmp(text, s->old) != 0)
        status = zlgi_fail(err, ZLG_CORRUPT, "saw \"%s\"", text);
    if (status == ZLG_OK)
        status = store->class->commit(store, s->key, txn, parts,
                                      s->new != NULL ? 2 : ZLGI_REMOVE, err);
    store->class->end(store, txn);
    return status;
}

typedef struct trial {
    zlg_promise promise;
    bool batched, naming, linking; /* no nameless files; nor flags of a rename */
    int code;
} trial;

static void run_job(const test_folder *folder, const trial *t, outcome out[N_STEPS + 1])
{
    zlg_store *store = open_plain(folder);
    atomic_store(&((zlgi_fs *)store)->lacks_nameless, t->naming || t->linking);
    atomic_store(&((zlgi_fs *)store)->lacks_noreplace, t->linking);
    zlgi_syncs *syncs = t->batched ? zlgi_syncs_new(&zlgi_default_alloc) : NULL;
    fault.n_calls = 0;
    fault.keeps_files = false;
    fault.name = NULL;
    for (int i = 0; i < N_STEPS; i++) {
        zlgi_txn txn = {.change = steps[i].change, .promise = t->promise, .syncs = syncs};
        memset(&out[i], 0, sizeof out[i]);
        out[i].status = take(store, &steps[i], &txn, &out[i].err);
        assert_false(txn.again);
    }
    memset(&out[N_STEPS], 0, sizeof out[N_STEPS]);
    if (t->batched)
        out[N_STEPS].status = store->class->sync(store, syncs, &out[N_STEPS].err);
    fault.fail_at = 0;
    fault.n_of_job = fault.n_calls;
    zlgi_syncs_free(syncs);
    zlgi_store_destroy(store);
}

/* ------------------------------------------------------------------ what must be */

static int count_descriptors(void)
{
    int n = 0;
    DIR *listing = opendir("/proc/self/fd");
    assert_non_null(listing);
    while (readdir(listing) != NULL)
        n++;
    closedir(listing);
    return n;
}

static bool holds(const test_folder *folder, const char *key, const char *expected)
{
    char text[32] = "";
    FILE *file = fopen(test_folder_path(folder, key), "rb");
    if (file == NULL)
        return expected == NULL;
    size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    return expected != NULL && n == strlen(expected) && memcmp(text, expected, n) == 0;
}

static void check_step(const test_folder *folder, const trial *t, const step *s,
                       const outcome *o)
{
    bool is_new = holds(folder, s->key, s->new), is_old = holds(folder, s->key, s->old);
    /* A directory that could not be synced: the change is there, but may not last. */
    bool may_be_new = t->promise >= ZLG_DURABLE;
    bool is_right = o->status == ZLG_OK ? is_new : is_old || (is_new && may_be_new);
    bool is_named = o->status == ZLG_OK || strstr(o->err.message, s->key) != NULL ||
                    strncmp(o->err.message, "reading at byte", 15) == 0;
    bool is_explained =
        o->status == ZLG_OK ||
        (o->status == ZLG_IO && strstr(o->err.message, strerror(fault.code)) != NULL);
    if (!is_right || !is_named || !is_explained)
        fail_msg("call %d (%s), %s: %s \"%s\", new %d old %d", fault.n_calls, fault.name,
                 s->key, zlg_status_name(o->status), o->err.message, is_new, is_old);
}

static void make_start(test_folder *folder)
{
    test_folder_make(folder);
    test_folder_mkdir(folder, "c");
    for (int i = 0; i < N_STEPS; i++)
        if (steps[i].old != NULL)
            test_folder_write(folder, steps[i].key, steps[i].old);
    test_folder_write(folder, LEFT_OVER, "1");
}

/* False when the job has fewer calls. */
static bool try_call(const trial *t, int n, bool from_then_on)
{
    test_folder folder;
    outcome out[N_STEPS + 1];
    int n_descriptors = count_descriptors();
    make_start(&folder);
    fault.fail_at = n;
    fault.code = t->code;
    fault.from_then_on = from_then_on;
    run_job(&folder, t, out);
    bool is_retried = t->code == EINTR && !from_then_on;
    for (int i = 0; i < N_STEPS; i++) {
        check_step(&folder, t, &steps[i], &out[i]);
        if (is_retried && out[i].status != ZLG_OK)
            fail_msg("call %d (%s): %s", n, fault.name, out[i].err.message);
    }
    /* A leftover is what could not be unlinked, and goes when somebody sweeps. */
    zlg_store *store = open_plain(&folder);
    int n_left = count_temporaries(&folder) - test_folder_has(&folder, LEFT_OVER);
    uint64_t n_swept;
    if (!fault.keeps_files && n_left > 0)
        fail_msg("call %d (%s): %d temporary files", n, fault.name, n_left);
    assert_int_equal(store->class->sweep(store, "", NULL, &n_swept, NULL), ZLG_OK);
    assert_int_equal(count_temporaries(&folder), 0);
    for (int i = 0; i < N_STEPS; i++)
        check_step(&folder, t, &steps[i], &out[i]);
    zlgi_store_destroy(store);
    test_folder_remove(&folder);
    assert_int_equal(count_descriptors(), n_descriptors);
    return fault.n_of_job >= n;
}

static void try_every_call(const trial *t)
{
    for (int from_then_on = 0; from_then_on < (t->code == EINTR ? 1 : 2); from_then_on++) {
        int n = 1;
        while (try_call(t, n, from_then_on))
            n++;
        assert_in_range(n, 40, 1000);
    }
}

static void test_every_call_fails(void **state)
{
    (void)state;
    for (zlg_promise promise = ZLG_VISIBLE; promise <= ZLG_VERIFIED; promise++)
        for (int batched = 0; batched <= (promise == ZLG_DURABLE); batched++)
            try_every_call(&(trial){.promise = promise, .batched = batched, .code = EIO});
    try_every_call(&(trial){.promise = ZLG_VISIBLE, .naming = true, .code = EIO});
    try_every_call(&(trial){.promise = ZLG_VISIBLE, .linking = true, .code = ENOSPC});
}

/* Calls that wait may be interrupted by a signal: nobody sees it. */
static void test_signals_interrupt(void **state)
{
    (void)state;
    try_every_call(&(trial){.promise = ZLG_VERIFIED, .code = EINTR});
    try_every_call(&(trial){.promise = ZLG_VISIBLE, .code = EINTR});
    try_every_call(&(trial){.promise = ZLG_VISIBLE, .linking = true, .code = EINTR});
}

static void test_writes_come_short(void **state)
{
    (void)state;
    trial t = {.promise = ZLG_VERIFIED};
    outcome out[N_STEPS + 1];
    test_folder folder;
    make_start(&folder);
    fault.fail_at = 0;
    fault.short_writes = true;
    run_job(&folder, &t, out);
    fault.short_writes = false;
    for (int i = 0; i < N_STEPS; i++) {
        assert_int_equal(out[i].status, ZLG_OK);
        check_step(&folder, &t, &steps[i], &out[i]);
    }
    test_folder_remove(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_call_fails),
        cmocka_unit_test(test_signals_interrupt),
        cmocka_unit_test(test_writes_come_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
