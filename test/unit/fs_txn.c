/* Changing one file: locks, links, refusals. A failure leaves the old object and no
 * temporary file. Label: engine */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/fsuid.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "unit/fs_test.h"

/* ------------------------------------------------------------------ names */

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
    assert_int_equal(test_put(store, long_key, "new", &err), ZLG_USAGE);
    assert_string_equal(err.message, "a name of 299 bytes, where files have at most 255");
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

/* ------------------------------------------------------------------ refusals */

/* As somebody who is not root: root may write what is read-only. */
static void test_what_is_read_only_stays(void **state)
{
    (void)state;
    enum { NOBODY = 65534 };
    test_folder folder;
    zlg_error err;
    test_folder_make(&folder);
    test_folder_mkdir(&folder, "d");
    test_folder_write(&folder, "k", "old");
    test_folder_write(&folder, "d/k", "old");
    assert_int_equal(chmod(test_folder_path(&folder, "k"), 0444), 0);
    if (geteuid() == 0) {
        assert_int_equal(chown(folder.path, NOBODY, NOBODY), 0);
        assert_int_equal(chown(test_folder_path(&folder, "d"), NOBODY, NOBODY), 0);
        setfsuid(NOBODY);
    }
    zlg_store *store = open_plain(&folder);
    assert_int_equal(test_put(store, "k", "new", &err), ZLG_IO);
    assert_string_equal(err.message, "key \"k\": Permission denied");
    assert_int_equal(update_now(store, "k", "new", &err), ZLG_IO);
    assert_int_equal(test_remove(store, "k", &err), ZLG_IO);
    assert_int_equal(store->class->remove_prefix(store, "k", NULL, &err), ZLG_IO);
    assert_int_equal(test_put(store, "other", "new", &err), ZLG_OK);
    setfsuid(geteuid());
    assert_int_equal(chmod(test_folder_path(&folder, "d"), 0555), 0);
    setfsuid(geteuid() == 0 ? NOBODY : geteuid());
    assert_int_equal(test_put(store, "d/k", "new", &err), ZLG_IO);
    assert_string_equal(err.message, "key \"d/k\": Permission denied");
    assert_int_equal(test_put(store, "d/e/f", "new", &err), ZLG_IO);
    setfsuid(geteuid());
    test_must_get(store, "k", "old");
    test_must_get(store, "d/k", "old");
    assert_int_equal(count_names(&folder), 4);
    zlgi_store_destroy(store);
    assert_int_equal(chmod(test_folder_path(&folder, "d"), 0755), 0);
    test_folder_remove(&folder);
}

/* A file system of one megabyte; then the same, for reading only. */
static void test_full_and_read_only_file_system(void **state)
{
    (void)state;
    static uint8_t bytes[2 << 20];
    test_folder folder;
    zlg_error err;
    test_folder_make(&folder);
    test_folder_mkdir(&folder, "small");
    if (mount("none", test_folder_path(&folder, "small"), "tmpfs", 0, "size=1m") != 0) {
        test_folder_remove(&folder);
        skip();
    }
    zlg_fs_options options = ZLG_FS_OPTIONS_INIT;
    zlg_store *store = NULL;
    assert_int_equal(zlgi_fs_open(&zlgi_default_alloc, &test_limits,
                                  test_folder_path(&folder, "small"), &options, &store,
                                  NULL),
                     ZLG_OK);
    zlgi_bytes parts[2] = {{bytes, sizeof bytes / 2}, {bytes, sizeof bytes / 2}};
    for (int promise = ZLG_VISIBLE; promise <= ZLG_VERIFIED; promise++) {
        test_must_put(store, "c/0", "old");
        assert_int_equal(zlgi_store_put(store, "c/0", ZLGI_REPLACE, (zlg_promise)promise,
                                        parts, 2, &err),
                         ZLG_IO);
        assert_string_equal(err.message, "key \"c/0\": No space left on device");
        assert_int_equal(
            zlgi_store_put(store, "c/1", ZLGI_CREATE, (zlg_promise)promise, parts, 2, &err),
            ZLG_IO);
        test_must_get(store, "c/0", "old");
        test_must_list(store, "", false, "c/0=3 ");
        assert_int_equal(count_temporaries(&folder), 0);
        /* There is room again: nothing of the failed ones is left. */
        parts[0].n = parts[1].n = 400000;
        assert_int_equal(test_put_parts(store, "c/0", parts, 2, &err), ZLG_OK);
        parts[0].n = parts[1].n = sizeof bytes / 2;
    }
    test_must_put(store, "c/0", "old");
    assert_int_equal(mount("none", test_folder_path(&folder, "small"), NULL,
                           MS_REMOUNT | MS_RDONLY, NULL),
                     0);
    assert_int_equal(test_put(store, "c/0", "new", &err), ZLG_IO);
    assert_string_equal(err.message, "key \"c/0\": Read-only file system");
    assert_int_equal(update_now(store, "c/0", "new", &err), ZLG_IO);
    assert_int_equal(test_remove(store, "c/0", &err), ZLG_IO);
    test_must_get(store, "c/0", "old");
    zlgi_store_destroy(store);
    assert_int_equal(umount(test_folder_path(&folder, "small")), 0);
    test_folder_remove(&folder);
}

/* ------------------------------------------------------------------ links */

static void test_changes_through_links(void **state)
{
    (void)state;
    test_folder folder;
    zlg_error err;
    test_folder_make(&folder);
    test_folder_mkdir(&folder, "store");
    test_folder_write(&folder, "outside", "secret");
    test_folder_write(&folder, "store/target", "old");
    test_folder_link(&folder, "target", "store/link");
    test_folder_link(&folder, "target", "store/link2");
    test_folder_link(&folder, "none", "store/nowhere");
    test_folder_link(&folder, "../outside", "store/out");
    zlg_store *store = NULL;
    zlg_fs_options options = ZLG_FS_OPTIONS_INIT;
    assert_int_equal(zlgi_fs_open(&zlgi_default_alloc, &test_limits,
                                  test_folder_path(&folder, "store"), &options, &store,
                                  NULL),
                     ZLG_OK);
    /* The lock is on the file behind the link; the link is what is replaced. */
    zlgi_txn txn = {.change = ZLGI_UPDATE, .promise = ZLG_VISIBLE};
    assert_int_equal(store->class->begin(store, "link", &txn, NULL), ZLG_OK);
    assert_true(txn.present);
    assert_int_equal(txn.object.n_bytes, 3);
    assert_int_equal(update_now(store, "target", NULL, &err), ZLG_CANCELLED);
    assert_int_equal(update_now(store, "link2", NULL, &err), ZLG_CANCELLED);
    zlgi_bytes part = {(const uint8_t *)"new", 3};
    assert_int_equal(store->class->commit(store, "link", &txn, &part, 1, NULL), ZLG_OK);
    store->class->end(store, &txn);
    test_must_get(store, "link", "new");
    test_must_get(store, "target", "old");
    assert_int_equal(test_remove(store, "link2", NULL), ZLG_OK);
    test_must_get(store, "target", "old");

    static const char *const leading_on[] = {"nowhere", "out"};
    for (size_t i = 0; i < ZLGI_COUNT(leading_on); i++) {
        const char *key = leading_on[i];
        assert_int_equal(update_now(store, key, "new", &err), ZLG_UNSUPPORTED);
        assert_non_null(strstr(err.message, "symbolic link"));
        assert_int_equal(
            zlgi_store_put(store, key, ZLGI_CREATE, ZLG_VISIBLE, &part, 1, &err),
            ZLG_EXISTS);
        test_must_put(store, key, "new");
        assert_int_equal(update_now(store, key, "newer", &err), ZLG_OK);
        test_must_get(store, key, "newer");
    }
    test_folder_link(&folder, "none", "store/nowhere2");
    assert_int_equal(test_remove(store, "nowhere2", NULL), ZLG_OK);
    assert_false(test_folder_has(&folder, "store/nowhere2"));
    assert_false(test_folder_has(&folder, "store/none"));
    zlgi_store_destroy(store);
    test_folder_remove(&folder);
}

/* Copies made of hard links keep what they hold. */
static void test_hard_links_are_not_written_through(void **state)
{
    (void)state;
    test_folder folder;
    test_folder_make(&folder);
    test_folder_write(&folder, "k", "old");
    char path[PATH_MAX];
    memcpy(path, test_folder_path(&folder, "copy"), PATH_MAX);
    assert_int_equal(link(test_folder_path(&folder, "k"), path), 0);
    zlg_store *store = open_plain(&folder);
    assert_int_equal(update_now(store, "k", "new", NULL), ZLG_OK);
    assert_int_equal(update_now(store, "k", "newer", NULL), ZLG_OK);
    test_must_get(store, "k", "newer");
    test_must_get(store, "copy", "old");
    zlgi_store_destroy(store);
    test_folder_remove(&folder);
}

/* Somebody removes what is locked, directory and all, by hand: the update starts again. */
static void test_locked_object_is_removed_by_hand(void **state)
{
    (void)state;
    zlgi_bytes part = {(const uint8_t *)"ours", 4};
    test_folder folder;
    test_folder_make(&folder);
    zlg_store *store = open_plain(&folder);
    for (int is_made_anew = 0; is_made_anew < 2; is_made_anew++) {
        zlgi_txn txn = {.change = ZLGI_UPDATE, .promise = ZLG_VISIBLE};
        test_must_put(store, "a/b/k", "old");
        assert_int_equal(store->class->begin(store, "a/b/k", &txn, NULL), ZLG_OK);
        assert_int_equal(unlink(test_folder_path(&folder, "a/b/k")), 0);
        assert_int_equal(rmdir(test_folder_path(&folder, "a/b")), 0);
        if (is_made_anew)
            test_must_put(store, "a/b/k", "theirs");
        assert_int_equal(store->class->commit(store, "a/b/k", &txn, &part, 1, NULL),
                         ZLG_EXISTS);
        store->class->end(store, &txn);
        assert_true(txn.again);
        assert_int_equal(store->class->begin(store, "a/b/k", &txn, NULL), ZLG_OK);
        assert_int_equal(txn.present, is_made_anew);
        assert_int_equal(store->class->commit(store, "a/b/k", &txn, &part, 1, NULL),
                         ZLG_OK);
        store->class->end(store, &txn);
        test_must_get(store, "a/b/k", "ours");
    }
    zlgi_store_destroy(store);
    test_folder_remove(&folder);
}

static void test_no_locks(void **state)
{
    (void)state;
    test_folder folder;
    test_folder_make(&folder);
    zlg_fs_options options = ZLG_FS_OPTIONS_INIT;
    options.no_locks = 1;
    zlg_store *with = open_plain(&folder), *without = open_with(&folder, options);
    test_must_put(with, "k", "old");
    zlgi_txn txn = {.change = ZLGI_UPDATE, .promise = ZLG_VISIBLE};
    assert_int_equal(with->class->begin(with, "k", &txn, NULL), ZLG_OK);
    assert_int_equal(update_now(with, "k", NULL, NULL), ZLG_CANCELLED);
    assert_int_equal(update_now(without, "k", "new", NULL), ZLG_OK);
    with->class->end(with, &txn);
    test_must_get(with, "k", "new");
    zlgi_store_destroy(with);
    zlgi_store_destroy(without);
    test_folder_remove(&folder);
}

/* ------------------------------------------------------------------ other processes */

static void must_end(pid_t child, int signal_number)
{
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (signal_number != 0)
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == signal_number);
    else
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void test_killed_holder_holds_up_nobody(void **state)
{
    (void)state;
    test_folder folder;
    zlg_error err;
    int ready[2];
    char byte = 0;
    test_folder_make(&folder);
    zlg_store *store = open_plain(&folder);
    test_must_put(store, "k", "old");
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        zlgi_txn txn = {.change = ZLGI_UPDATE, .promise = ZLG_VISIBLE};
        byte = store->class->begin(store, "k", &txn, NULL) == ZLG_OK && txn.present;
        if (write(ready[1], &byte, 1) == 1)
            pause();
        _exit(1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(byte, 1);
    assert_int_equal(update_now(store, "k", "new", &err), ZLG_CANCELLED);
    assert_string_equal(err.message, "key \"k\": stopped before it was done");
    zlgi_txn txn = {.change = ZLGI_REPLACE, .promise = ZLG_VISIBLE, .waiting = give_up};
    assert_int_equal(store->class->begin(store, "k", &txn, NULL), ZLG_OK);
    assert_int_equal(store->class->commit(store, "k", &txn, NULL, 0, NULL), ZLG_CANCELLED);
    store->class->end(store, &txn);
    assert_int_equal(count_names(&folder), 1);
    test_must_get(store, "k", "old");
    assert_int_equal(kill(child, SIGKILL), 0);
    must_end(child, SIGKILL);
    assert_int_equal(update_now(store, "k", "new", &err), ZLG_OK);
    test_must_get(store, "k", "new");
    close(ready[0]), close(ready[1]);
    zlgi_store_destroy(store);
    test_folder_remove(&folder);
}

/* Its copy of the descriptor keeps no lock that was given back. */
static void test_forked_child_keeps_no_lock(void **state)
{
    (void)state;
    test_folder folder;
    test_folder_make(&folder);
    zlg_store *store = open_plain(&folder);
    test_must_put(store, "k", "old");
    zlgi_txn txn = {.change = ZLGI_UPDATE, .promise = ZLG_VISIBLE};
    assert_int_equal(store->class->begin(store, "k", &txn, NULL), ZLG_OK);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        pause();
        _exit(1);
    }
    store->class->end(store, &txn); /* nothing changed: the file stays */
    assert_int_equal(update_now(store, "k", "new", NULL), ZLG_OK);
    test_must_get(store, "k", "new");
    assert_int_equal(kill(child, SIGKILL), 0);
    must_end(child, SIGKILL);
    zlgi_store_destroy(store);
    test_folder_remove(&folder);
}

/* ------------------------------------------------------------------ many at once
 *
 * Two processes of eight threads count in the slots of one object, each in its own. The
 * object ends with the sum of its slots, by which a reader knows a mix.
 */
enum { N_PROCESSES = 2, N_THREADS = 8, N_SLOTS = N_PROCESSES * N_THREADS, N_COUNTED = 25 };

typedef struct page {
    uint32_t slots[N_SLOTS];
    uint8_t filling[8192];
    uint32_t sum;
} page;

typedef struct counter {
    zlg_store *store;
    int slot;
    uint64_t seed;
    uint32_t n_wrong;
    atomic_bool *is_over; /* of a reader */
} counter;

static uint32_t sum_of(const page *p)
{
    uint32_t sum = 0;
    for (int i = 0; i < N_SLOTS; i++)
        sum = sum * 31 + p->slots[i];
    return sum;
}

static bool is_whole(const page *p, size_t n)
{
    return n == sizeof *p && p->sum == sum_of(p) &&
           p->filling[sizeof p->filling - 1] == (uint8_t)p->sum;
}

static zlg_status count_one(counter *c)
{
    page p;
    zlgi_txn txn = {.change = ZLGI_UPDATE, .promise = ZLG_VISIBLE};
    zlg_status status;
    do {
        size_t n = sizeof p;
        memset(&p, 0, sizeof p);
        ZLGI_TRY(c->store->class->begin(c->store, "c/0", &txn, NULL));
        status = !txn.present ? ZLG_OK
                              : c->store->class->read(c->store, &txn.object, 0, sizeof p,
                                                      &p, &n, NULL);
        c->n_wrong += !is_whole(&p, n);
        p.slots[c->slot]++;
        p.sum = sum_of(&p);
        memset(p.filling, (int)p.sum, sizeof p.filling);
        zlgi_bytes parts[2] = {{(const uint8_t *)&p, 100},
                               {(const uint8_t *)&p + 100, sizeof p - 100}};
        if (status == ZLG_OK)
            status = c->store->class->commit(c->store, "c/0", &txn, parts, 2, NULL);
        c->store->class->end(c->store, &txn);
    } while (txn.again);
    return status;
}

static void *count_many(void *user)
{
    counter *c = user;
    for (int i = 0; i < N_COUNTED; i++) {
        c->n_wrong += count_one(c) != ZLG_OK;
        usleep((unsigned)(test_random(&c->seed) % 200));
    }
    return NULL;
}

static void *read_many(void *user)
{
    counter *c = user;
    page p;
    while (!atomic_load(c->is_over)) {
        zlgi_object object;
        zlg_status status = c->store->class->open(c->store, "c/0", 0, &object, NULL);
        if (status == ZLG_NOT_FOUND)
            continue;
        size_t n = 0;
        status = c->store->class->read(c->store, &object, 0, sizeof p, &p, &n, NULL);
        c->n_wrong += status != ZLG_OK || !is_whole(&p, n);
        c->store->class->release(c->store, &object);
        usleep(100);
    }
    return NULL;
}

/* What went wrong. */
static uint32_t run_counters(zlg_store *store, int first_slot, uint64_t seed)
{
    pthread_t threads[N_THREADS];
    counter counters[N_THREADS];
    uint32_t n_wrong = 0;
    for (int i = 0; i < N_THREADS; i++) {
        counters[i] = (counter){.store = store,
                                .slot = first_slot + i,
                                .seed = seed + (uint64_t)(first_slot + i)};
        n_wrong += pthread_create(&threads[i], NULL, count_many, &counters[i]) != 0;
    }
    for (int i = 0; i < N_THREADS; i++) {
        pthread_join(threads[i], NULL);
        n_wrong += counters[i].n_wrong;
    }
    return n_wrong;
}

static void count_with_seed(uint64_t seed)
{
    test_folder folder;
    test_folder_make(&folder);
    pid_t child = fork();
    assert_true(child >= 0);
    zlg_store *store = open_plain(&folder);
    if (child == 0)
        _exit(run_counters(store, N_THREADS, seed) != 0);
    atomic_bool is_over = false;
    counter reader = {.store = store, .is_over = &is_over};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, read_many, &reader), 0);
    uint32_t n_wrong = run_counters(store, 0, seed);
    must_end(child, 0);
    atomic_store(&is_over, true);
    pthread_join(thread, NULL);
    assert_int_equal(n_wrong, 0);
    assert_int_equal(reader.n_wrong, 0);

    page p;
    size_t n;
    zlgi_object object;
    assert_int_equal(store->class->open(store, "c/0", 0, &object, NULL), ZLG_OK);
    assert_int_equal(store->class->read(store, &object, 0, sizeof p, &p, &n, NULL), ZLG_OK);
    store->class->release(store, &object);
    assert_true(is_whole(&p, n));
    for (int i = 0; i < N_SLOTS; i++)
        assert_int_equal(p.slots[i], N_COUNTED);
    assert_int_equal(count_names(&folder), 2);
    zlgi_store_destroy(store);
    test_folder_remove(&folder);
}

static void test_processes_and_threads_lose_no_update(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++)
        count_with_seed(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_put_makes_directories_and_plain_files),
        cmocka_unit_test(test_failed_put_changes_nothing),
        cmocka_unit_test(test_failed_write_leaves_the_old_object),
        cmocka_unit_test(test_what_is_read_only_stays),
        cmocka_unit_test(test_full_and_read_only_file_system),
        cmocka_unit_test(test_changes_through_links),
        cmocka_unit_test(test_hard_links_are_not_written_through),
        cmocka_unit_test(test_locked_object_is_removed_by_hand),
        cmocka_unit_test(test_no_locks),
        cmocka_unit_test(test_killed_holder_holds_up_nobody),
        cmocka_unit_test(test_forked_child_keeps_no_lock),
        cmocka_unit_test(test_processes_and_threads_lose_no_update),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
