/* Which files and directories are synced, and how often. */
#define _GNU_SOURCE
#include <errno.h>

#include "unit/fs_test.h"

/* The library calls this one; no power is lost here, and disks are slow. */
static int n_files, n_directories, sync_error;

int fsync(int fd)
{
    struct stat s;
    assert_int_equal(fstat(fd, &s), 0);
    *(S_ISDIR(s.st_mode) ? &n_directories : &n_files) += 1;
    if (sync_error != 0 && S_ISDIR(s.st_mode)) {
        errno = sync_error;
        return -1;
    }
    return 0;
}

static void must_have_synced(int files, int directories)
{
    assert_int_equal(n_files, files);
    assert_int_equal(n_directories, directories);
    n_files = n_directories = 0;
}

static zlg_status change(zlg_store *store, const char *key, zlg_promise promise,
                         zlgi_syncs *syncs, int n_parts)
{
    zlgi_bytes part = {(const uint8_t *)"1", 1};
    zlgi_txn txn = {.promise = promise, .syncs = syncs};
    assert_int_equal(store->class->begin(store, key, &txn, NULL), ZLG_OK);
    zlg_status status = store->class->commit(store, key, &txn, &part, n_parts, NULL);
    store->class->end(store, &txn);
    return status;
}

static void test_syncing_at_once(void **state)
{
    (void)state;
    test_folder folder;
    test_folder_make(&folder);
    zlg_store *store = open_plain(&folder);
    n_files = n_directories = 0;
    assert_int_equal(change(store, "a/b/k", ZLG_VISIBLE, NULL, 1), ZLG_OK);
    must_have_synced(0, 0);
    assert_int_equal(change(store, "a/b/k", ZLG_DURABLE, NULL, 1), ZLG_OK);
    must_have_synced(1, 1);
    assert_int_equal(change(store, "a/c/d/k", ZLG_DURABLE, NULL, 1), ZLG_OK);
    must_have_synced(1, 3); /* a and a/c have new names too */
    assert_int_equal(change(store, "a/c/d/k", ZLG_DURABLE, NULL, ZLGI_REMOVE), ZLG_OK);
    must_have_synced(0, 1);
    assert_int_equal(change(store, "none/k", ZLG_DURABLE, NULL, ZLGI_REMOVE), ZLG_OK);
    must_have_synced(0, 0);
    assert_int_equal(change(store, "a/b/k", ZLG_VERIFIED, NULL, 1), ZLG_OK);
    must_have_synced(1, 1);
    zlgi_store_destroy(store);
    test_folder_remove(&folder);
}

static void test_syncing_together(void **state)
{
    (void)state;
    enum { N_KEYS = 200, N_DIRECTORIES = 50 };
    test_folder folder;
    char key[32];
    test_folder_make(&folder);
    zlg_store *store = open_plain(&folder);
    zlgi_syncs *syncs = zlgi_syncs_new(&zlgi_default_alloc);
    assert_non_null(syncs);
    n_files = n_directories = 0;
    for (int i = 0; i < N_KEYS; i++) {
        snprintf(key, sizeof key, "c/%d/%d", i % 4, i);
        assert_int_equal(change(store, key, ZLG_DURABLE, syncs, 1), ZLG_OK);
    }
    must_have_synced(N_KEYS, 0);
    assert_int_equal(store->class->sync(store, syncs, NULL), ZLG_OK);
    must_have_synced(0, 6); /* the four, c, and the root */
    assert_int_equal(store->class->sync(store, syncs, NULL), ZLG_OK);
    must_have_synced(0, 0);

    /* More directories than are held: each is synced all the same, once. */
    for (int i = 0; i < N_DIRECTORIES; i++) {
        snprintf(key, sizeof key, "many/%d/k", i);
        assert_int_equal(change(store, key, ZLG_VISIBLE, syncs, 1), ZLG_OK);
    }
    for (int i = 0; i < N_KEYS; i++) {
        snprintf(key, sizeof key, "many/%d/k", i * N_DIRECTORIES / N_KEYS);
        assert_int_equal(change(store, key, ZLG_DURABLE, syncs, 1), ZLG_OK);
    }
    assert_int_equal(n_files, N_KEYS);
    assert_int_equal(store->class->sync(store, syncs, NULL), ZLG_OK);
    must_have_synced(N_KEYS, N_DIRECTORIES);

    /* What a failed call noted is let go. */
    assert_int_equal(change(store, "k", ZLG_DURABLE, syncs, 1), ZLG_OK);
    zlgi_syncs_free(syncs);
    zlgi_syncs_free(NULL);
    must_have_synced(1, 0);
    zlgi_store_destroy(store);
    test_folder_remove(&folder);
}

static void test_failure_is_reported_once(void **state)
{
    (void)state;
    test_folder folder;
    zlg_error err;
    test_folder_make(&folder);
    zlg_store *store = open_plain(&folder);
    zlgi_syncs *syncs = zlgi_syncs_new(&zlgi_default_alloc);
    zlgi_bytes part = {(const uint8_t *)"2", 1};
    sync_error = EIO;
    assert_int_equal(zlgi_store_put(store, "k", ZLGI_REPLACE, ZLG_DURABLE, &part, 1, &err),
                     ZLG_IO);
    assert_string_equal(err.message, "key \"k\": Input/output error");
    n_files = n_directories = 0;
    assert_int_equal(change(store, "k", ZLG_DURABLE, syncs, 1), ZLG_OK);
    assert_int_equal(store->class->sync(store, syncs, &err), ZLG_IO);
    assert_non_null(strstr(err.message, "syncing a directory"));
    must_have_synced(1, 1); /* never tried again */
    assert_int_equal(store->class->sync(store, syncs, &err), ZLG_OK);
    sync_error = 0;
    zlgi_syncs_free(syncs);
    zlgi_store_destroy(store);
    test_folder_remove(&folder);
}

static void test_short_memory(void **state)
{
    (void)state;
    test_heap heap;
    test_heap_init(&heap);
    heap.fail_at = 1;
    assert_null(zlgi_syncs_new(&heap.alloc));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_syncing_at_once),
        cmocka_unit_test(test_syncing_together),
        cmocka_unit_test(test_failure_is_reported_once),
        cmocka_unit_test(test_short_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
