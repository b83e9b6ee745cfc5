/* The rules for keys, the silent error, and reading whole objects with little memory. */
#include "store/keys.h"

static void test_key_rules(void **state)
{
    (void)state;
    static const char *const good[] = {"a",  "a/b", "...", "a/...",
                                       ".a", "a.",  "..a", "a/.b/c"};
    for (size_t i = 0; i < ZLGI_COUNT(good); i++)
        assert_int_equal(zlgi_key_check(good[i], NULL), ZLG_OK);
    static const struct {
        const char *key, *message;
    } bad[] = {
        {"", "\"\" is no key: a segment is empty"},
        {"/a", "\"/a\" is no key: a segment is empty"},
        {"a/", "\"a/\" is no key: a segment is empty"},
        {"a//b", "\"a//b\" is no key: a segment is empty"},
        {"a/../b", "\"a/../b\" is no key: a segment is \"..\""},
        {"a/.", "\"a/.\" is no key: a segment is \".\""},
        {"a\\..\\b", "\"a\\..\\b\" is no key: it has a backslash"},
    };
    for (size_t i = 0; i < ZLGI_COUNT(bad); i++) {
        zlg_error err;
        assert_int_equal(zlgi_key_check(bad[i].key, &err), ZLG_NOT_FOUND);
        assert_int_equal(err.status, ZLG_NOT_FOUND);
        assert_string_equal(err.message, bad[i].message);
        assert_int_equal(zlgi_key_check(bad[i].key, NULL), ZLG_NOT_FOUND);
    }
}

static void test_absent_has_no_message(void **state)
{
    (void)state;
    zlg_error err = {.status = ZLG_IO, .message = "old"};
    assert_int_equal(zlgi_store_absent(&err), ZLG_NOT_FOUND);
    assert_int_equal(err.status, ZLG_NOT_FOUND);
    assert_string_equal(err.message, "");
    assert_int_equal(zlgi_store_absent(NULL), ZLG_NOT_FOUND);
}

static void test_untrusted_tags_are_never_equal(void **state)
{
    (void)state;
    zlgi_tag one = {.a = 1, .trusted = true}, two = one;
    assert_true(zlgi_tag_equal(&one, &two));
    two.d = 1;
    assert_false(zlgi_tag_equal(&one, &two));
    two = one;
    two.trusted = false;
    assert_false(zlgi_tag_equal(&one, &two));
    assert_false(zlgi_tag_equal(&two, &two));
}

/* ------------------------------------------------------------------ a store of short reads
 *
 * A blocking store whose object is `n_bytes` long and fails at byte `fail_at`.
 */
typedef struct slow_store {
    zlg_store base;
    uint64_t n_bytes, fail_at;
    int n_open;
} slow_store;

static zlg_status slow_open(zlg_store *store, const char *key, unsigned flags,
                            zlgi_object *out, zlg_error *err)
{
    (void)key, (void)flags, (void)err;
    ((slow_store *)store)->n_open++;
    *out = (zlgi_object){.n_bytes = ZLGI_SIZE_UNKNOWN};
    return ZLG_OK;
}

static zlg_status slow_read(zlg_store *store, zlgi_object *object, uint64_t offset,
                            size_t n, void *destination, size_t *out_n, zlg_error *err)
{
    (void)object;
    slow_store *s = (slow_store *)store;
    uint64_t n_left = s->n_bytes - ZLGI_MIN(offset, s->n_bytes);
    *out_n = (size_t)ZLGI_MIN(n_left, n);
    if (offset + *out_n > s->fail_at)
        return zlgi_fail(err, ZLG_IO, "the disk is gone");
    for (size_t i = 0; i < *out_n; i++)
        ((uint8_t *)destination)[i] = (uint8_t)((offset + i) % 251);
    return ZLG_OK;
}

static void slow_release(zlg_store *store, zlgi_object *object)
{
    (void)object;
    ((slow_store *)store)->n_open--;
}

static const zlgi_store_class slow_class = {
    .kind = "slow", .open = slow_open, .read = slow_read, .release = slow_release};

static void test_get_of_any_length(void **state)
{
    (void)state;
    static const uint64_t lengths[] = {0, 1, 4095, 4096, 4097, 8192, 100000};
    for (size_t i = 0; i < ZLGI_COUNT(lengths); i++) {
        slow_store s = {
            .base = {.class = &slow_class}, .n_bytes = lengths[i], .fail_at = UINT64_MAX};
        test_heap heap;
        test_heap_init(&heap);
        zlgi_buf buf;
        zlgi_buf_init(&buf, &heap.alloc);
        assert_int_equal(zlgi_store_get(&s.base, "k", lengths[i], &buf, NULL), ZLG_OK);
        assert_int_equal(buf.n, lengths[i]);
        for (size_t k = 0; k < buf.n; k++)
            assert_int_equal(buf.data[k], k % 251);
        if (lengths[i] > 0)
            assert_int_equal(zlgi_store_get(&s.base, "k", lengths[i] - 1, &buf, NULL),
                             ZLG_LIMIT);
        zlgi_buf_reset(&buf);
        assert_int_equal(heap.n_blocks, 0);
        assert_int_equal(s.n_open, 0);
    }
}

static void test_get_stops_at_the_limit_of_an_endless_object(void **state)
{
    (void)state;
    slow_store s = {
        .base = {.class = &slow_class}, .n_bytes = UINT64_MAX / 2, .fail_at = UINT64_MAX};
    test_heap heap;
    test_heap_init(&heap);
    zlgi_buf buf;
    zlgi_buf_init(&buf, &heap.alloc);
    assert_int_equal(zlgi_store_get(&s.base, "k", 100000, &buf, NULL), ZLG_LIMIT);
    assert_in_range(heap.peak_bytes, 1, 300000);
    zlgi_buf_reset(&buf);
}

static void test_get_passes_failures_on(void **state)
{
    (void)state;
    slow_store s = {.base = {.class = &slow_class}, .n_bytes = 50000, .fail_at = 20000};
    zlg_error err;
    test_heap heap;
    test_heap_init(&heap);
    zlgi_buf buf;
    zlgi_buf_init(&buf, &heap.alloc);
    assert_int_equal(zlgi_store_get(&s.base, "a/k", 1 << 20, &buf, &err), ZLG_IO);
    assert_string_equal(err.message, "key \"a/k\": the disk is gone");
    zlgi_buf_reset(&buf);

    s.fail_at = UINT64_MAX;
    for (size_t i = 1; i <= 3; i++) {
        heap.n_calls = 0;
        heap.fail_at = i;
        assert_int_equal(zlgi_store_get(&s.base, "k", 1 << 20, &buf, &err), ZLG_NO_MEMORY);
        zlgi_buf_reset(&buf);
    }
    assert_int_equal(s.n_open, 0);
    assert_int_equal(heap.n_blocks, 0);
}

/* ------------------------------------------------------------------ putting */

/* A store in which others are faster a number of times. */
typedef struct busy_store {
    zlg_store base;
    int n_conflicts, n_begun, n_ended;
    zlg_status begun, committed;
} busy_store;

static zlg_status busy_begin(zlg_store *store, const char *key, zlgi_txn *txn,
                             zlg_error *err)
{
    busy_store *s = (busy_store *)store;
    assert_string_equal(key, "k");
    assert_int_equal(txn->promise, ZLG_DURABLE);
    assert_null(txn->syncs);
    txn->again = false;
    s->n_begun += s->begun == ZLG_OK;
    return s->begun == ZLG_OK ? ZLG_OK : zlgi_fail(err, s->begun, "begun");
}

static zlg_status busy_commit(zlg_store *store, const char *key, zlgi_txn *txn,
                              const zlgi_bytes *parts, int n_parts, zlg_error *err)
{
    (void)key, (void)parts;
    busy_store *s = (busy_store *)store;
    assert_int_equal(n_parts, ZLGI_REMOVE);
    txn->again = s->n_conflicts-- > 0;
    zlg_status status = txn->again ? ZLG_EXISTS : s->committed;
    return status == ZLG_OK ? ZLG_OK : zlgi_fail(err, status, "committed");
}

static void busy_end(zlg_store *store, zlgi_txn *txn)
{
    (void)txn;
    ((busy_store *)store)->n_ended++;
}

static void test_put_tries_until_it_is_done(void **state)
{
    (void)state;
    static const zlgi_store_class busy_class = {
        .begin = busy_begin, .commit = busy_commit, .end = busy_end};
    static const struct {
        int n_conflicts;
        zlg_status begun, committed, expected;
        int n_begun;
    } cases[] = {
        {0, ZLG_OK, ZLG_OK, ZLG_OK, 1},         {3, ZLG_OK, ZLG_OK, ZLG_OK, 4},
        {2, ZLG_OK, ZLG_IO, ZLG_IO, 3},         {0, ZLG_OK, ZLG_EXISTS, ZLG_EXISTS, 1},
        {0, ZLG_EXISTS, ZLG_OK, ZLG_EXISTS, 0},
    };
    for (size_t i = 0; i < ZLGI_COUNT(cases); i++) {
        busy_store s = {.base = {.class = &busy_class},
                        .n_conflicts = cases[i].n_conflicts,
                        .begun = cases[i].begun,
                        .committed = cases[i].committed};
        zlg_status status =
            zlgi_store_put(&s.base, "k", ZLGI_UPDATE, ZLG_DURABLE, NULL, ZLGI_REMOVE, NULL);
        assert_int_equal(status, cases[i].expected);
        assert_int_equal(s.n_begun, cases[i].n_begun);
        assert_int_equal(s.n_ended, cases[i].n_begun);
    }
}

static void test_where_a_prefix_may_go(void **state)
{
    (void)state;
    assert_int_equal(zlgi_store_check_move("a", "b", NULL), ZLG_OK);
    assert_int_equal(zlgi_store_check_move("a", "ab", NULL), ZLG_OK);
    assert_int_equal(zlgi_store_check_move("a/b", "a", NULL), ZLG_OK);
    assert_int_equal(zlgi_store_check_move("a", "a/b", NULL), ZLG_USAGE);
    assert_int_equal(zlgi_store_check_move("", "b", NULL), ZLG_NOT_FOUND);
    assert_int_equal(zlgi_store_check_move("a", "", NULL), ZLG_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_key_rules),
        cmocka_unit_test(test_absent_has_no_message),
        cmocka_unit_test(test_untrusted_tags_are_never_equal),
        cmocka_unit_test(test_get_of_any_length),
        cmocka_unit_test(test_get_stops_at_the_limit_of_an_endless_object),
        cmocka_unit_test(test_get_passes_failures_on),
        cmocka_unit_test(test_put_tries_until_it_is_done),
        cmocka_unit_test(test_where_a_prefix_may_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
