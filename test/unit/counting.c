/* The counting store: each request is counted once and reaches the inner store. */
#include "store/keys.h"

static void test_requests_are_counted(void **state)
{
    (void)state;
    zlg_store *inner, *store;
    assert_int_equal(zlgi_memory_open(&zlgi_default_alloc, &test_limits, &inner, NULL),
                     ZLG_OK);
    assert_int_equal(zlgi_counting_open(&zlgi_default_alloc, inner, &store, NULL), ZLG_OK);
    assert_int_equal(store->class->capabilities, inner->class->capabilities);
    const zlgi_store_class *class = store->class;

    test_must_put(store, "a/b", "0123456789");
    test_must_get(inner, "a/b", "0123456789");
    test_must_miss(store, "none");
    zlgi_object object;
    char text[8];
    size_t n;
    assert_int_equal(class->open(store, "a/b", 0, &object, NULL), ZLG_OK);
    assert_int_equal(class->read(store, &object, 2, 4, text, &n, NULL), ZLG_OK);
    assert_int_equal(class->read(store, &object, 8, 8, text, &n, NULL), ZLG_OK);
    class->release(store, &object);
    assert_int_equal(class->list(store, "", false, NULL, test_list_nothing, NULL, NULL),
                     ZLG_OK);
    assert_int_equal(test_remove(store, "none", NULL), ZLG_OK);
    assert_int_equal(class->rename_prefix(store, "a", "c", NULL), ZLG_OK);
    assert_int_equal(class->remove_prefix(store, "c", NULL, NULL), ZLG_OK);
    test_must_miss(inner, "a/b");
    test_must_miss(inner, "c/b");
    uint64_t n_swept = 1;
    assert_int_equal(class->sweep(store, "", NULL, &n_swept, NULL), ZLG_OK);
    assert_int_equal(n_swept, 0);
    zlgi_txn txn = {.change = ZLGI_UPDATE, .promise = ZLG_VISIBLE};
    assert_int_equal(class->begin(store, "k", &txn, NULL), ZLG_OK);
    class->end(store, &txn);
    assert_int_equal(class->sync(store, NULL, NULL), ZLG_OK);

    zlgi_store_counts counts = zlgi_counting_get(store);
    assert_int_equal(counts.n_opens, 2);
    assert_int_equal(counts.n_reads, 2);
    assert_int_equal(counts.n_bytes_read, 6);
    assert_int_equal(counts.n_puts, 1);
    assert_int_equal(counts.n_removes, 2);
    assert_int_equal(counts.n_lists, 1);
    assert_int_equal(counts.n_begins, 3);
    assert_int_equal(counts.n_syncs, 1);
    zlgi_store_destroy(store);
    test_must_put(inner, "a", "still there");
    zlgi_store_destroy(inner);
}

static void test_short_memory(void **state)
{
    (void)state;
    test_heap heap;
    test_heap_init(&heap);
    heap.fail_at = 1;
    zlg_store *store, inner = {0};
    assert_int_equal(zlgi_counting_open(&heap.alloc, &inner, &store, NULL), ZLG_NO_MEMORY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests_are_counted),
        cmocka_unit_test(test_short_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
