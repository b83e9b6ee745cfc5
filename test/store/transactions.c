/*
 * Changing one object, over each kind of store: what is seen, what conflicts, and that no
 * update is lost. Label: engine
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>

#include "store/keys.h"
#include "store/kinds.h"

static bool has_locks(const zlg_store *store)
{
    return strcmp(store->class->kind, "fs") == 0 && !((const zlgi_fs *)store)->no_locks;
}

static zlg_status begin(zlg_store *store, const char *key, zlgi_change change,
                        zlgi_txn *txn)
{
    *txn = (zlgi_txn){.change = change, .promise = ZLG_VISIBLE, .again = true};
    return store->class->begin(store, key, txn, NULL);
}

static zlg_status commit(zlg_store *store, const char *key, zlgi_txn *txn, const char *text)
{
    zlgi_bytes part = {(const uint8_t *)text, text != NULL ? strlen(text) : 0};
    return store->class->commit(store, key, txn, &part, text != NULL ? 1 : ZLGI_REMOVE,
                                NULL);
}

/* What a transaction sees, as text. */
static void must_see(zlg_store *store, zlgi_txn *txn, const char *expected)
{
    char text[64] = "";
    size_t n;
    assert_true(txn->present);
    assert_int_equal(txn->object.n_bytes, strlen(expected));
    assert_int_equal(
        store->class->read(store, &txn->object, 0, sizeof text - 1, text, &n, NULL),
        ZLG_OK);
    assert_int_equal(n, strlen(expected));
    assert_string_equal(text, expected);
}

/* ------------------------------------------------------------------ one at a time */

/* Each change, of an absent and of a present object, to a value, to nothing, and left. */
static void test_every_change(void **state)
{
    zlg_store *store = ((fixture *)*state)->store;
    static const char *const values[] = {"new", NULL, "left"};
    for (int change = ZLGI_REPLACE; change <= ZLGI_CREATE; change++)
        for (int present = 0; present < 2; present++)
            for (size_t i = 0; i < ZLGI_COUNT(values); i++) {
                const char *key = "d/k";
                const char *after = present ? "old" : NULL;
                zlgi_txn txn;
                assert_int_equal(test_remove(store, key, NULL), ZLG_OK);
                if (present)
                    test_must_put(store, key, "old");
                zlg_status status = begin(store, key, (zlgi_change)change, &txn);
                if (change == ZLGI_CREATE && present) {
                    assert_int_equal(status, ZLG_EXISTS);
                    test_must_get(store, key, "old");
                    continue;
                }
                assert_int_equal(status, ZLG_OK);
                if (change == ZLGI_UPDATE)
                    assert_int_equal(txn.present, present);
                if (txn.present)
                    must_see(store, &txn, "old");
                if (i < 2) {
                    assert_int_equal(commit(store, key, &txn, values[i]), ZLG_OK);
                    after = values[i];
                }
                store->class->end(store, &txn);
                assert_false(txn.again);
                if (after != NULL)
                    test_must_get(store, key, after);
                else
                    test_must_miss(store, key);
            }
}

static void test_promises_are_taken(void **state)
{
    zlg_store *store = ((fixture *)*state)->store;
    zlgi_bytes part = {(const uint8_t *)"12345", 5};
    for (zlg_promise promise = ZLG_VISIBLE; promise <= ZLG_VERIFIED; promise++)
        for (int batched = 0; batched < 2; batched++) {
            char key[32];
            zlgi_syncs *syncs = batched ? zlgi_syncs_new(&zlgi_default_alloc) : NULL;
            zlgi_txn txn = {.promise = promise, .syncs = syncs};
            for (int i = 0; i < 8; i++) {
                snprintf(key, sizeof key, "p%d/%d/%d", promise, i % 4, i);
                assert_int_equal(store->class->begin(store, key, &txn, NULL), ZLG_OK);
                assert_int_equal(store->class->commit(store, key, &txn, &part, 1, NULL),
                                 ZLG_OK);
                store->class->end(store, &txn);
                test_must_get(store, key, "12345");
            }
            if (batched)
                assert_int_equal(store->class->sync(store, syncs, NULL), ZLG_OK);
            zlgi_syncs_free(syncs);
        }
}

static void test_bad_keys_are_refused(void **state)
{
    zlg_store *store = ((fixture *)*state)->store;
    for (int change = ZLGI_REPLACE; change <= ZLGI_CREATE; change++) {
        zlgi_txn txn;
        assert_int_equal(begin(store, "a/../b", (zlgi_change)change, &txn), ZLG_NOT_FOUND);
        assert_int_equal(begin(store, "", (zlgi_change)change, &txn), ZLG_NOT_FOUND);
    }
}

/* ------------------------------------------------------------------ two at once */

static void test_absent_object_that_another_makes(void **state)
{
    zlg_store *store = ((fixture *)*state)->store;
    zlgi_txn txn;
    assert_int_equal(begin(store, "k", ZLGI_UPDATE, &txn), ZLG_OK);
    assert_false(txn.present);
    test_must_put(store, "k", "theirs");
    assert_int_equal(commit(store, "k", &txn, "ours"), ZLG_EXISTS);
    store->class->end(store, &txn);
    assert_true(txn.again);
    test_must_get(store, "k", "theirs");
    assert_int_equal(store->class->begin(store, "k", &txn, NULL), ZLG_OK);
    must_see(store, &txn, "theirs");
    assert_int_equal(commit(store, "k", &txn, "both"), ZLG_OK);
    store->class->end(store, &txn);
    assert_false(txn.again);
    test_must_get(store, "k", "both");

    assert_int_equal(begin(store, "new", ZLGI_CREATE, &txn), ZLG_OK);
    test_must_put(store, "new", "theirs");
    assert_int_equal(commit(store, "new", &txn, "ours"), ZLG_EXISTS);
    store->class->end(store, &txn);
    assert_false(txn.again);
    test_must_get(store, "new", "theirs");

    assert_int_equal(begin(store, "seen", ZLGI_REPLACE, &txn), ZLG_OK);
    test_must_put(store, "seen", "theirs");
    assert_int_equal(commit(store, "seen", &txn, "ours"), ZLG_OK);
    store->class->end(store, &txn);
    test_must_get(store, "seen", "ours");
}

static int give_up(void *user)
{
    ++*(int *)user;
    return 1;
}

/* A present object: with a lock the other one waits, without it the first one notices. */
static void test_present_object_that_another_changes(void **state)
{
    zlg_store *store = ((fixture *)*state)->store;
    for (int i = 0; i < 3; i++) {
        zlgi_txn txn, other = {.promise = ZLG_VISIBLE, .waiting = give_up};
        int n_asked = 0;
        other.user = &n_asked;
        other.change = i == 0 ? ZLGI_UPDATE : ZLGI_REPLACE;
        const char *theirs = i == 2 ? NULL : "theirs";
        test_must_put(store, "k", "old");
        assert_int_equal(begin(store, "k", ZLGI_UPDATE, &txn), ZLG_OK);
        zlg_status status = store->class->begin(store, "k", &other, NULL);
        if (status == ZLG_OK) {
            status = commit(store, "k", &other, theirs);
            store->class->end(store, &other);
        }
        must_see(store, &txn, "old");
        if (has_locks(store)) {
            assert_int_equal(status, ZLG_CANCELLED);
            assert_int_equal(n_asked, 1);
            assert_int_equal(commit(store, "k", &txn, "ours"), ZLG_OK);
        } else if (strcmp(store->class->kind, "fs") == 0) {
            assert_int_equal(status, ZLG_OK); /* nobody looks */
        } else {
            assert_int_equal(status, ZLG_OK);
            assert_int_equal(commit(store, "k", &txn, "ours"), ZLG_EXISTS);
            assert_true(txn.again);
        }
        store->class->end(store, &txn);
        const char *expected = has_locks(store) ? "ours" : theirs;
        if (expected != NULL)
            test_must_get(store, "k", expected);
        else
            test_must_miss(store, "k");
    }
}

/* ------------------------------------------------------------------ threads
 *
 * cmocka's asserts belong to the first thread: the others count what goes wrong.
 */
enum { N_THREADS = 8, N_ADDED = 60 };

typedef struct race {
    zlg_store *store;
    atomic_int n_started, n_wrong, n_made;
    atomic_bool is_over;
} race;

/* The object holds one number for each thread. */
static zlg_status add_one(zlg_store *store, const char *key, zlgi_change change, int thread)
{
    uint32_t numbers[N_THREADS] = {0};
    zlgi_bytes parts[2] = {{(const uint8_t *)numbers, 7},
                           {(const uint8_t *)numbers + 7, sizeof numbers - 7}};
    zlgi_txn txn = {.change = change, .promise = ZLG_VISIBLE};
    zlg_status status;
    do {
        size_t n = sizeof numbers;
        memset(numbers, 0, sizeof numbers);
        ZLGI_TRY(store->class->begin(store, key, &txn, NULL));
        status = !txn.present ? ZLG_OK
                              : store->class->read(store, &txn.object, 0, sizeof numbers,
                                                   numbers, &n, NULL);
        numbers[thread]++;
        if (status == ZLG_OK)
            status = store->class->commit(store, key, &txn, parts, 2, NULL);
        store->class->end(store, &txn);
        if (n != sizeof numbers)
            return ZLG_CORRUPT;
    } while (txn.again);
    return status;
}

static void *add(void *user)
{
    race *r = user;
    int number = atomic_fetch_add(&r->n_started, 1);
    char key[32];
    for (int i = 0; i < N_ADDED; i++) {
        int n_wrong = add_one(r->store, "n/all", ZLGI_UPDATE, number) != ZLG_OK;
        /* All want to make the same object: one does. */
        snprintf(key, sizeof key, "n/once%d", i);
        zlg_status status = add_one(r->store, key, ZLGI_CREATE, number);
        n_wrong += status != ZLG_OK && status != ZLG_EXISTS;
        atomic_fetch_add(&r->n_made, status == ZLG_OK);
        atomic_fetch_add(&r->n_wrong, n_wrong);
    }
    return NULL;
}

static void test_no_update_is_lost(void **state)
{
    race r = {.store = ((fixture *)*state)->store};
    if (strcmp(r.store->class->kind, "fs") == 0 && !has_locks(r.store))
        return; /* that is what no_locks means */
    pthread_t threads[N_THREADS];
    for (int i = 0; i < N_THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add, &r), 0);
    for (int i = 0; i < N_THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(atomic_load(&r.n_wrong), 0);
    assert_int_equal(atomic_load(&r.n_made), N_ADDED);
    uint32_t numbers[N_THREADS];
    size_t n;
    zlgi_object object;
    assert_int_equal(r.store->class->open(r.store, "n/all", 0, &object, NULL), ZLG_OK);
    assert_int_equal(
        r.store->class->read(r.store, &object, 0, sizeof numbers, numbers, &n, NULL),
        ZLG_OK);
    r.store->class->release(r.store, &object);
    for (int i = 0; i < N_THREADS; i++)
        assert_int_equal(numbers[i], N_ADDED);
}

/* Updates that find the object there leave it there. */
static void *update_present(void *user)
{
    race *r = user;
    while (!atomic_load(&r->is_over)) {
        zlgi_txn txn = {.change = ZLGI_UPDATE, .promise = ZLG_VISIBLE};
        if (r->store->class->begin(r->store, "k", &txn, NULL) != ZLG_OK) {
            atomic_fetch_add(&r->n_wrong, 1);
            continue;
        }
        zlgi_bytes part = {(const uint8_t *)"updated", 7};
        zlg_status status = ZLG_OK;
        if (txn.present)
            status = r->store->class->commit(r->store, "k", &txn, &part, 1, NULL);
        atomic_fetch_add(&r->n_wrong, status != ZLG_OK && !txn.again);
        r->store->class->end(r->store, &txn);
    }
    return NULL;
}

/* What was removed is not brought back by an update that was in progress. */
static void test_removed_stays_removed(void **state)
{
    race r = {.store = ((fixture *)*state)->store};
    if (strcmp(r.store->class->kind, "fs") == 0 && !has_locks(r.store))
        return;
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, update_present, &r), 0);
    int n_back = 0, n_failed = 0;
    for (int i = 0; i < 100; i++) {
        n_failed += test_put(r.store, "k", "old", NULL) != ZLG_OK;
        usleep((unsigned)i % 7 * 20);
        n_failed += (i % 2 == 0 ? test_remove(r.store, "k", NULL)
                                : r.store->class->remove_prefix(r.store, "k", NULL,
                                                                NULL)) != ZLG_OK;
        usleep(50);
        zlgi_object object;
        bool is_back = r.store->class->open(r.store, "k", 0, &object, NULL) == ZLG_OK;
        if (is_back)
            r.store->class->release(r.store, &object);
        n_back += is_back;
    }
    atomic_store(&r.is_over, true);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(n_failed, 0);
    assert_int_equal(n_back, 0);
    assert_int_equal(atomic_load(&r.n_wrong), 0);
}

int main(void)
{
    static const test_body bodies[] = {
        TEST_BODY(test_every_change),
        TEST_BODY(test_promises_are_taken),
        TEST_BODY(test_bad_keys_are_refused),
        TEST_BODY(test_absent_object_that_another_makes),
        TEST_BODY(test_present_object_that_another_changes),
        TEST_BODY(test_no_update_is_lost),
        TEST_BODY(test_removed_stays_removed),
    };
    return test_over_kinds(bodies, ZLGI_COUNT(bodies));
}
