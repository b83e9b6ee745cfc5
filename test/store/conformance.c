/*
 * What every store must do, run over each kind. Label: engine
 *
 * No test here uses one name as a key and as a prefix: a file system cannot.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>

#include "store/keys.h"
#include "store/kinds.h"

/* ------------------------------------------------------------------ reading */

static void test_absent_keys(void **state)
{
    zlg_store *store = ((fixture *)*state)->store;
    test_must_miss(store, "zarr.json");
    test_must_miss(store, "a/b/c");
    test_must_put(store, "a/b/c", "1");
    test_must_miss(store, "a/b/c/d");
    test_must_miss(store, "a/b/d");
    test_must_miss(store, "a/b/c2");
}

static void test_value_is_its_parts_joined(void **state)
{
    zlg_store *store = ((fixture *)*state)->store;
    zlgi_bytes parts[100];
    char expected[200] = "";
    for (size_t i = 0; i < ZLGI_COUNT(parts); i++) {
        const char *text = &"abc"[i % 4];
        parts[i] = (zlgi_bytes){(const uint8_t *)text, strlen(text)};
        memcpy(expected + strlen(expected), text, strlen(text) + 1);
    }
    int n_parts = (int)ZLGI_COUNT(parts);
    assert_int_equal(test_put_parts(store, "c/0", parts, n_parts, NULL), ZLG_OK);
    test_must_get(store, "c/0", expected);
    assert_int_equal(test_put_parts(store, "c/0", NULL, 0, NULL), ZLG_OK);
    test_must_get(store, "c/0", "");
    zlgi_bytes nothing[2] = {{NULL, 0}, {NULL, 0}};
    assert_int_equal(test_put_parts(store, "c/1", nothing, 2, NULL), ZLG_OK);
    test_must_get(store, "c/1", "");
}

static void test_ranges(void **state)
{
    zlg_store *store = ((fixture *)*state)->store;
    test_must_put(store, "k", "0123456789");
    zlgi_object object;
    assert_int_equal(store->class->open(store, "k", 0, &object, NULL), ZLG_OK);
    static const struct {
        uint64_t offset;
        size_t n;
        const char *expected;
    } cases[] = {
        {0, 10, "0123456789"}, {3, 4, "3456"},     {8, 10, "89"},
        {10, 5, ""},           {11, 5, ""},        {0, 0, ""},
        {UINT64_MAX, 5, ""},   {INT64_MAX, 8, ""}, {INT64_MAX - 3, 16, ""},
    };
    for (size_t i = 0; i < ZLGI_COUNT(cases); i++) {
        char text[32];
        memset(text, '#', sizeof text);
        size_t n = 99, n_expected = strlen(cases[i].expected);
        zlg_status status =
            store->class->read(store, &object, cases[i].offset, cases[i].n, text, &n, NULL);
        assert_int_equal(status, ZLG_OK);
        assert_int_equal(n, n_expected);
        assert_memory_equal(text, cases[i].expected, n);
        assert_int_equal(text[n], '#');
    }
    store->class->release(store, &object);
}

static void test_large_value_and_limit_of_get(void **state)
{
    zlg_store *store = ((fixture *)*state)->store;
    enum { N_BYTES = 300000 };
    zlgi_buf in, out;
    zlgi_buf_init(&in, &zlgi_default_alloc);
    zlgi_buf_init(&out, &zlgi_default_alloc);
    uint64_t seed = 7;
    while (in.n < N_BYTES) {
        uint64_t word = test_random(&seed);
        assert_int_equal(zlgi_buf_append(&in, &word, sizeof word, NULL), ZLG_OK);
    }
    zlgi_bytes part = {in.data, in.n};
    assert_int_equal(test_put_parts(store, "a/big", &part, 1, NULL), ZLG_OK);
    assert_int_equal(zlgi_store_get(store, "a/big", in.n, &out, NULL), ZLG_OK);
    assert_int_equal(out.n, in.n);
    assert_memory_equal(out.data, in.data, in.n);

    zlg_error err;
    assert_int_equal(zlgi_store_get(store, "a/big", in.n - 1, &out, &err), ZLG_LIMIT);
    assert_non_null(strstr(err.message, "key \"a/big\""));
    /* A smaller value in the same buffer leaves nothing of the larger one. */
    test_must_put(store, "a/small", "12");
    assert_int_equal(zlgi_store_get(store, "a/small", 2, &out, NULL), ZLG_OK);
    assert_int_equal(out.n, 2);
    assert_int_equal(zlgi_store_get(store, "a/none", 2, &out, &err), ZLG_NOT_FOUND);
    zlgi_buf_reset(&in);
    zlgi_buf_reset(&out);
}

static void test_open_object_keeps_its_version(void **state)
{
    zlg_store *store = ((fixture *)*state)->store;
    zlgi_object object;
    for (int i = 0; i < 3; i++) {
        test_must_put(store, "c/0", "old value");
        assert_int_equal(store->class->open(store, "c/0", 0, &object, NULL), ZLG_OK);
        if (i == 0)
            test_must_put(store, "c/0", "new");
        else if (i == 1)
            assert_int_equal(test_remove(store, "c/0", NULL), ZLG_OK);
        else
            assert_int_equal(store->class->remove_prefix(store, "c", NULL, NULL), ZLG_OK);
        char text[16];
        size_t n;
        zlg_status status =
            store->class->read(store, &object, 0, sizeof text, text, &n, NULL);
        assert_int_equal(status, ZLG_OK);
        assert_int_equal(n, 9);
        assert_memory_equal(text, "old value", 9);
        store->class->release(store, &object);
    }
}

static zlgi_tag tag_of(zlg_store *store, const char *key, uint64_t n_bytes)
{
    zlgi_object object;
    assert_int_equal(store->class->open(store, key, ZLGI_OPEN_STAT, &object, NULL), ZLG_OK);
    assert_int_equal(object.n_bytes, n_bytes);
    zlgi_tag tag = object.tag;
    store->class->release(store, &object);
    return tag;
}

static void test_tag_tells_versions_apart(void **state)
{
    zlg_store *store = ((fixture *)*state)->store;
    test_must_put(store, "k", "one");
    usleep(30000); /* older than a clock tick: trusted */
    zlgi_tag one = tag_of(store, "k", 3), again = tag_of(store, "k", 3);
    assert_true(one.trusted);
    assert_true(zlgi_tag_equal(&one, &again));
    test_must_put(store, "k", "two");
    zlgi_tag two = tag_of(store, "k", 3);
    assert_false(zlgi_tag_equal(&one, &two));
    usleep(30000);
    two = tag_of(store, "k", 3);
    assert_true(two.trusted);
    assert_false(zlgi_tag_equal(&one, &two));
}

static void test_size_is_known_with_a_view_or_when_asked(void **state)
{
    zlg_store *store = ((fixture *)*state)->store;
    zlgi_object object;
    test_must_put(store, "k", "one");
    assert_int_equal(store->class->open(store, "k", 0, &object, NULL), ZLG_OK);
    if (object.view != NULL)
        assert_memory_equal(object.view, "one", 3);
    if (object.view != NULL || object.n_bytes != ZLGI_SIZE_UNKNOWN)
        assert_int_equal(object.n_bytes, 3);
    else
        assert_false(object.tag.trusted);
    store->class->release(store, &object);
}

/* ------------------------------------------------------------------ keys */

static void test_odd_keys_round_trip(void **state)
{
    zlg_store *store = ((fixture *)*state)->store;
    char longest[256];
    memset(longest, 'x', 255);
    longest[255] = '\0';
    const char *keys[] = {longest, "a b", "...",    "-",     "caf\xc3\xa9", "\xff\xfe",
                          "\n\t",  "*?",  "%2e%2e", "c:con", ".hidden/x",   "d/...e/~"};
    for (size_t i = 0; i < ZLGI_COUNT(keys); i++) {
        test_must_put(store, keys[i], keys[i]);
        test_must_get(store, keys[i], keys[i]);
    }
    for (size_t i = 0; i < ZLGI_COUNT(keys); i++) {
        test_must_get(store, keys[i], keys[i]);
        assert_int_equal(test_remove(store, keys[i], NULL), ZLG_OK);
        test_must_miss(store, keys[i]);
    }
    test_must_list(store, "", false, "");
}

static void test_deep_key(void **state)
{
    zlg_store *store = ((fixture *)*state)->store;
    char key[400];
    for (size_t i = 0; i < sizeof key; i++)
        key[i] = i % 2 == 0 ? 'd' : '/';
    key[sizeof key - 1] = '\0';
    test_must_put(store, key, "deep");
    test_must_get(store, key, "deep");
    assert_int_equal(store->class->remove_prefix(store, "d/d/d", NULL, NULL), ZLG_OK);
    test_must_miss(store, key);
}

static void test_what_is_no_key_is_refused(void **state)
{
    zlg_store *store = ((fixture *)*state)->store;
    test_must_put(store, "a/b", "1");
    static const char *const keys[] = {"",     "/",        "/a/b",  "a/b/",   "a//b",
                                       ".",    "..",       "a/./b", "./a",    "a/..",
                                       "../a", "a/../a/b", "a\\b",  "..\\a/b"};
    for (size_t i = 0; i < ZLGI_COUNT(keys); i++) {
        const zlgi_store_class *class = store->class;
        zlg_error err[6];
        memset(err, 0, sizeof err);
        zlgi_object object;
        assert_int_equal(class->open(store, keys[i], 0, &object, &err[0]), ZLG_NOT_FOUND);
        assert_int_equal(test_put(store, keys[i], "2", &err[1]), ZLG_NOT_FOUND);
        assert_int_equal(test_remove(store, keys[i], &err[2]), ZLG_NOT_FOUND);
        assert_int_equal(test_get(store, keys[i], "", &err[3]), ZLG_NOT_FOUND);
        size_t n = 4;
        if (keys[i][0] != '\0') {
            assert_int_equal(class->remove_prefix(store, keys[i], NULL, &err[n++]),
                             ZLG_NOT_FOUND);
            assert_int_equal(class->list(store, keys[i], false, NULL, test_list_nothing,
                                         NULL, &err[n++]),
                             ZLG_NOT_FOUND);
        }
        while (n-- > 0)
            assert_non_null(strstr(err[n].message, "is no key"));
    }
    test_must_list(store, "", false, "a/b=1 ");
}

/* ------------------------------------------------------------------ listing, removing */

static void put_tree(zlg_store *store)
{
    static const char *const keys[] = {"b/1",     "a/1",   "a-",   "a/10",
                                       "a/2/x",   "a.b/c", "a0/c", "zarr.json",
                                       "a/2/y/z", "B",     "ab"};
    for (size_t i = 0; i < ZLGI_COUNT(keys); i++)
        test_must_put(store, keys[i], keys[i]);
}

static void test_listing_is_sorted_level_by_level(void **state)
{
    zlg_store *store = ((fixture *)*state)->store;
    test_must_list(store, "", false, "");
    test_must_list(store, "", true, "");
    put_tree(store);
    test_must_list(store, "", false,
                   "B=1 a/1=3 a/10=4 a/2/x=5 a/2/y/z=7 a-=2 a.b/c=5 a0/c=4 ab=2 b/1=3 "
                   "zarr.json=9 ");
    test_must_list(store, "", true, "B=1 a/ a-=2 a.b/ a0/ ab=2 b/ zarr.json=9 ");
    test_must_list(store, "a", false, "1=3 10=4 2/x=5 2/y/z=7 ");
    test_must_list(store, "a", true, "1=3 10=4 2/ ");
    test_must_list(store, "a/2", true, "x=5 y/ ");
    /* Nothing lies below a key, or below what is not there. */
    test_must_list(store, "ab", false, "");
    test_must_list(store, "a/1", true, "");
    test_must_list(store, "a/3/4", false, "");
}

static void test_listing_stops_when_told(void **state)
{
    zlg_store *store = ((fixture *)*state)->store;
    put_tree(store);
    test_must_list_some(store, "", false, 4, "B=1 a/1=3 a/10=4 a/2/x=5 ");
    test_must_list_some(store, "", true, 2, "B=1 a/ ");
    test_must_list_some(store, "a/2", false, 1, "x=5 ");
}

static void test_listing_has_a_limit(void **state)
{
    fixture *f = *state;
    for (char key[] = "a"; key[0] <= 'e'; key[0]++)
        test_must_put(f->store, key, "1");
    f->limits.keys_listed = 5;
    test_must_list(f->store, "", false, "a=1 b=1 c=1 d=1 e=1 ");
    f->limits.keys_listed = 4;
    zlg_error err;
    zlg_status status =
        f->store->class->list(f->store, "", true, NULL, test_list_nothing, NULL, &err);
    assert_int_equal(status, ZLG_LIMIT);
    assert_non_null(strstr(err.message, "keys_listed"));
}

static int lose_patience(void *n_left)
{
    return (*(int *)n_left)-- <= 0;
}

static int count_told(void *n, const char *name, int is_prefix, uint64_t n_bytes)
{
    (void)name, (void)is_prefix, (void)n_bytes;
    ++*(int *)n;
    return 0;
}

/* Wherever it is by then: reading names, sorting them, telling them. */
static void test_listing_ends_with_patience(void **state)
{
    enum { N = 1000, LEAST = 3 };
    zlg_store *store = ((fixture *)*state)->store;
    zlg_status status = ZLG_CANCELLED;
    char key[32];
    int n_asks;
    for (int i = 0; i < N; i++) {
        snprintf(key, sizeof key, "a/%d", i * 7 % N);
        test_must_put(store, key, "1");
    }
    for (n_asks = 0; status == ZLG_CANCELLED; n_asks += 1 + n_asks / 2) {
        int n_left = n_asks, n_told = 0;
        const zlgi_txn txn = {.waiting = lose_patience, .user = &n_left};
        zlg_error err = {0};
        status = store->class->list(store, "a", true, &txn, count_told, &n_told, &err);
        assert_int_equal(err.status, status);
        assert_true(status == ZLG_CANCELLED ? n_told < N : n_told == N);
        assert_true(status == ZLG_CANCELLED ? n_left == -1 : n_left >= 0);
    }
    assert_int_equal(status, ZLG_OK);
    assert_in_range(n_asks, LEAST, INT_MAX);
}

static void test_removing(void **state)
{
    zlg_store *store = ((fixture *)*state)->store;
    const zlgi_store_class *class = store->class;
    put_tree(store);
    assert_int_equal(test_remove(store, "none", NULL), ZLG_OK);
    assert_int_equal(test_remove(store, "none/at/all", NULL), ZLG_OK);
    assert_int_equal(test_remove(store, "ab/c", NULL), ZLG_OK);
    assert_int_equal(test_remove(store, "a", NULL), ZLG_OK); /* a prefix is no key */
    assert_int_equal(test_remove(store, "a/1", NULL), ZLG_OK);
    test_must_list(store, "a", false, "10=4 2/x=5 2/y/z=7 ");
    assert_int_equal(class->remove_prefix(store, "none/at", NULL, NULL), ZLG_OK);
    assert_int_equal(class->remove_prefix(store, "a", NULL, NULL), ZLG_OK);
    assert_int_equal(class->remove_prefix(store, "B", NULL, NULL),
                     ZLG_OK); /* a key itself */
    test_must_list(store, "", false, "a-=2 a.b/c=5 a0/c=4 ab=2 b/1=3 zarr.json=9 ");
    assert_int_equal(class->remove_prefix(store, "", NULL, NULL), ZLG_OK);
    test_must_list(store, "", true, "");
    put_tree(store);
    test_must_get(store, "a/2/y/z", "a/2/y/z");
}

static void test_moving(void **state)
{
    zlg_store *store = ((fixture *)*state)->store;
    const zlgi_store_class *class = store->class;
    zlg_error err = {.message = "old"};
    if (class->rename_prefix == NULL)
        return; /* this kind cannot */
    put_tree(store);
    assert_int_equal(class->rename_prefix(store, "a", "b", &err), ZLG_EXISTS);
    assert_non_null(strstr(err.message, "\"b\""));
    assert_int_equal(class->rename_prefix(store, "a", "a", &err), ZLG_EXISTS);
    assert_int_equal(class->rename_prefix(store, "a/2", "a", &err), ZLG_EXISTS);
    assert_int_equal(class->rename_prefix(store, "a", "B", &err), ZLG_EXISTS);
    assert_int_equal(class->rename_prefix(store, "a", "a/c", &err), ZLG_USAGE);
    assert_int_equal(class->rename_prefix(store, "B", "c", &err), ZLG_USAGE);
    assert_int_equal(class->rename_prefix(store, "a//2", "c", &err), ZLG_NOT_FOUND);
    assert_int_equal(class->rename_prefix(store, "a", "../c", &err), ZLG_NOT_FOUND);
    assert_int_equal(class->rename_prefix(store, "none", "c", &err), ZLG_NOT_FOUND);
    assert_string_equal(err.message, "");
    test_must_list(store, "", true, "B=1 a/ a-=2 a.b/ a0/ ab=2 b/ zarr.json=9 ");
    test_must_list(store, "a", false, "1=3 10=4 2/x=5 2/y/z=7 ");

    assert_int_equal(class->rename_prefix(store, "a", "new/place", NULL), ZLG_OK);
    test_must_list(store, "a", false, "");
    test_must_list(store, "new", false, "place/1=3 place/10=4 place/2/x=5 place/2/y/z=7 ");
    test_must_get(store, "new/place/2/y/z", "a/2/y/z");
    test_must_miss(store, "a/1");
    assert_int_equal(class->rename_prefix(store, "new/place/2", "a", NULL), ZLG_OK);
    test_must_list(store, "a", false, "x=5 y/z=7 ");
    /* A prefix whose keys were removed is nothing, though its directories may stay. */
    assert_int_equal(test_remove(store, "b/1", NULL), ZLG_OK);
    assert_int_equal(class->rename_prefix(store, "a", "b", NULL), ZLG_OK);
    test_must_get(store, "b/x", "a/2/x");
}

/* ------------------------------------------------------------------ random programs
 *
 * Against a plain array of flags: three directories of eight keys, two levels.
 */
enum { N_KEYS = 48 };

static const char *key_number(int i, char text[32])
{
    snprintf(text, 32, i % 2 == 0 ? "dir%d/f%d" : "dir%d/sub/f%d", i % 3, i / 6);
    return text;
}

typedef struct model {
    char value[N_KEYS]; /* the first byte; 0: absent */
    int n_listed;
} model;

static int check_listed(void *user, const char *name, int is_prefix, uint64_t n_bytes)
{
    model *m = user;
    char text[32];
    assert_false(is_prefix);
    for (int i = 0; i < N_KEYS; i++)
        if (strcmp(key_number(i, text), name) == 0) {
            assert_int_not_equal(m->value[i], 0);
            assert_int_equal(n_bytes, m->value[i]);
            m->n_listed++;
            return 0;
        }
    fail_msg("%s was never put", name);
    return 0;
}

static void check_all(zlg_store *store, model *m)
{
    int n_present = 0;
    for (int i = 0; i < N_KEYS; i++)
        n_present += m->value[i] != 0;
    m->n_listed = 0;
    assert_int_equal(store->class->list(store, "", false, NULL, check_listed, m, NULL),
                     ZLG_OK);
    assert_int_equal(m->n_listed, n_present);
}

static void test_random_programs(void **state)
{
    zlg_store *store = ((fixture *)*state)->store;
    model m = {0};
    uint64_t seed = 20240229;
    for (int round = 0; round < 3000; round++) {
        char text[32], bytes[128];
        int i = (int)(test_random(&seed) % N_KEYS);
        const char *key = key_number(i, text);
        size_t n = test_random(&seed) % 100 + 1;
        memset(bytes, (int)n, sizeof bytes);
        bytes[n] = '\0';
        switch (test_random(&seed) % 16) {
        case 0:
            assert_int_equal(store->class->remove_prefix(store, key, NULL, NULL), ZLG_OK);
            m.value[i] = 0;
            break;
        case 1:
            if (round % 4 != 0)
                break;
            assert_int_equal(store->class->remove_prefix(store, "dir1/sub", NULL, NULL),
                             ZLG_OK);
            for (int k = 1; k < N_KEYS; k += 2)
                m.value[k] = k % 3 == 1 ? 0 : m.value[k];
            break;
        case 2:
        case 3:
        case 4:
            assert_int_equal(test_remove(store, key, NULL), ZLG_OK);
            m.value[i] = 0;
            break;
        case 5:
            check_all(store, &m);
            break;
        case 6:
        case 7:
        case 8:
        case 9:
        case 10:
            test_must_put(store, key, bytes);
            m.value[i] = (char)n;
            break;
        default:
            if (m.value[i] == 0) {
                test_must_miss(store, key);
                break;
            }
            memset(bytes, m.value[i], sizeof bytes);
            bytes[(size_t)m.value[i]] = '\0';
            test_must_get(store, key, bytes);
        }
    }
    check_all(store, &m);
}

/* ------------------------------------------------------------------ threads
 *
 * cmocka's asserts belong to the first thread: the others count what goes wrong.
 */
typedef struct shared_work {
    zlg_store *store;
    atomic_int n_started, n_wrong;
} shared_work;

enum { N_THREADS = 4, N_ROUNDS = 150, VALUE_BYTES = 5000 };

/* Every value of "t/shared" is one byte, repeated. */
static bool reads_one_version(zlg_store *store)
{
    char text[VALUE_BYTES + 1];
    zlgi_object object;
    zlg_status status =
        store->class->open(store, "t/shared", ZLGI_OPEN_STAT, &object, NULL);
    if (status == ZLG_NOT_FOUND)
        return true;
    if (status != ZLG_OK)
        return false;
    size_t n = 0;
    status = store->class->read(store, &object, 0, sizeof text, text, &n, NULL);
    bool is_right = status == ZLG_OK && n == object.n_bytes && n == VALUE_BYTES;
    for (size_t i = 1; i < n; i++)
        is_right = is_right && text[i] == text[0];
    store->class->release(store, &object);
    return is_right;
}

static int count_own(void *user, const char *name, int is_prefix, uint64_t n_bytes)
{
    (void)is_prefix, (void)n_bytes;
    int *n = user;
    *n += strncmp(name, "own", 3) == 0;
    return 0;
}

static void *work_on_store(void *user)
{
    shared_work *work = user;
    zlg_store *store = work->store;
    int number = atomic_fetch_add(&work->n_started, 1), n_wrong = 0;
    char own[32], bytes[VALUE_BYTES];
    snprintf(own, sizeof own, "t/own%d", number);
    memset(bytes, 'a' + number, sizeof bytes);
    for (int i = 0; i < N_ROUNDS; i++) {
        zlgi_bytes parts[2] = {{(const uint8_t *)bytes, 2000},
                               {(const uint8_t *)bytes, VALUE_BYTES - 2000}};
        n_wrong += test_put_parts(store, "t/shared", parts, 2, NULL) != ZLG_OK;
        n_wrong += test_put_parts(store, own, parts, 1, NULL) != ZLG_OK;
        n_wrong += !reads_one_version(store);
        int n_own = 0;
        zlg_status status =
            store->class->list(store, "t", i % 2, NULL, count_own, &n_own, NULL);
        n_wrong += status != ZLG_OK || n_own < 1;
        if (i % 8 == 0)
            n_wrong += test_remove(store, "t/shared", NULL) != ZLG_OK;
    }
    atomic_fetch_add(&work->n_wrong, n_wrong);
    return NULL;
}

static void test_many_threads(void **state)
{
    shared_work work = {.store = ((fixture *)*state)->store};
    pthread_t threads[N_THREADS];
    for (int i = 0; i < N_THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work_on_store, &work), 0);
    for (int i = 0; i < N_THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(atomic_load(&work.n_wrong), 0);
}

int main(void)
{
    static const test_body bodies[] = {
        TEST_BODY(test_absent_keys),
        TEST_BODY(test_value_is_its_parts_joined),
        TEST_BODY(test_ranges),
        TEST_BODY(test_large_value_and_limit_of_get),
        TEST_BODY(test_open_object_keeps_its_version),
        TEST_BODY(test_tag_tells_versions_apart),
        TEST_BODY(test_size_is_known_with_a_view_or_when_asked),
        TEST_BODY(test_odd_keys_round_trip),
        TEST_BODY(test_deep_key),
        TEST_BODY(test_what_is_no_key_is_refused),
        TEST_BODY(test_listing_is_sorted_level_by_level),
        TEST_BODY(test_listing_stops_when_told),
        TEST_BODY(test_listing_has_a_limit),
        TEST_BODY(test_listing_ends_with_patience),
        TEST_BODY(test_removing),
        TEST_BODY(test_moving),
        TEST_BODY(test_random_programs),
        TEST_BODY(test_many_threads),
    };
    return test_over_kinds(bodies, ZLGI_COUNT(bodies));
}
