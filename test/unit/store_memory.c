/* The memory store: views, counted values, short memory, use in a forked child. */
#define _GNU_SOURCE
#include <sys/wait.h>
#include <unistd.h>

#include "store/keys.h"

static void test_bytes_are_lent(void **state)
{
    (void)state;
    test_heap heap;
    test_heap_init(&heap);
    zlg_store *store;
    zlgi_object first, second;
    assert_int_equal(zlgi_memory_open(&heap.alloc, &test_limits, &store, NULL), ZLG_OK);
    assert_string_equal(store->label, "memory");
    test_must_put(store, "a/b", "one");
    size_t n_calls = heap.n_calls;
    assert_int_equal(store->class->open(store, "a/b", 0, &first, NULL), ZLG_OK);
    assert_int_equal(store->class->open(store, "a/b", ZLGI_OPEN_STAT, &second, NULL),
                     ZLG_OK);
    assert_ptr_equal(first.view, second.view);
    assert_true(zlgi_tag_equal(&first.tag, &second.tag));
    store->class->release(store, &second);
    assert_int_equal(heap.n_calls, n_calls);

    test_must_put(store, "a/b", "three");
    assert_memory_equal(first.view, "one", 3);
    assert_int_equal(store->class->open(store, "a/b", 0, &second, NULL), ZLG_OK);
    assert_false(zlgi_tag_equal(&first.tag, &second.tag));
    store->class->release(store, &first);
    store->class->release(store, &second);
    zlgi_store_destroy(store);
    assert_int_equal(heap.n_blocks, 0);
}

static void test_empty_value_has_a_view(void **state)
{
    (void)state;
    zlg_store *store;
    zlgi_object object;
    assert_int_equal(zlgi_memory_open(&zlgi_default_alloc, &test_limits, &store, NULL),
                     ZLG_OK);
    test_must_put(store, "k", "");
    assert_int_equal(store->class->open(store, "k", 0, &object, NULL), ZLG_OK);
    assert_non_null(object.view);
    assert_int_equal(object.n_bytes, 0);
    store->class->release(store, &object);
    zlgi_store_destroy(store);
}

static void test_short_memory(void **state)
{
    (void)state;
    test_heap heap;
    test_heap_init(&heap);
    heap.fail_at = 1;
    zlg_store *store;
    zlg_error err;
    assert_int_equal(zlgi_memory_open(&heap.alloc, &test_limits, &store, &err),
                     ZLG_NO_MEMORY);
    heap.fail_at = 0;
    assert_int_equal(zlgi_memory_open(&heap.alloc, &test_limits, &store, &err), ZLG_OK);
    zlg_status status = ZLG_NO_MEMORY;
    for (heap.fail_at = 1; status != ZLG_OK; heap.fail_at++) {
        heap.n_calls = 0;
        status = test_put(store, "a", "1", &err);
        assert_true(status == ZLG_OK || status == ZLG_NO_MEMORY);
    }
    assert_int_equal(heap.fail_at, 6); /* value, key, array of blocks, block */
    heap.n_calls = 0;
    heap.fail_at = 1;
    assert_int_equal(test_put(store, "a", "2", &err), ZLG_NO_MEMORY);
    test_must_get(store, "a", "1");
    status = store->class->list(store, "", false, NULL, test_list_nothing, NULL, &err);
    assert_int_equal(status, ZLG_NO_MEMORY);
    heap.fail_at = 0;
    zlgi_store_destroy(store);
    assert_int_equal(heap.n_blocks, 0);
}

static void test_value_larger_than_memory_is_refused(void **state)
{
    (void)state;
    zlg_store *store;
    zlg_error err;
    assert_int_equal(zlgi_memory_open(&zlgi_default_alloc, &test_limits, &store, NULL),
                     ZLG_OK);
    zlgi_bytes parts[2] = {{(const uint8_t *)"x", SIZE_MAX / 2 + 1},
                           {(const uint8_t *)"x", SIZE_MAX / 2 + 1}};
    assert_int_equal(test_put_parts(store, "a", parts, 2, &err), ZLG_NO_MEMORY);
    test_must_miss(store, "a");
    zlgi_store_destroy(store);
}

static void test_name_may_be_a_key_and_a_prefix(void **state)
{
    (void)state;
    zlg_store *store;
    assert_int_equal(zlgi_memory_open(&zlgi_default_alloc, &test_limits, &store, NULL),
                     ZLG_OK);
    test_must_put(store, "a/b/c", "12");
    test_must_put(store, "a/b", "1");
    test_must_put(store, "a/b-", "1");
    test_must_list(store, "a", true, "b=1 b/ b-=1 ");
    test_must_list(store, "", false, "a/b=1 a/b/c=2 a/b-=1 ");
    test_must_list(store, "a/b", false, "c=2 ");
    assert_int_equal(test_remove(store, "a/b", NULL), ZLG_OK);
    test_must_get(store, "a/b/c", "12");
    zlgi_store_destroy(store);
}

/* Short of memory at any point, all keys stay where they are. */
static void test_moving_with_short_memory(void **state)
{
    (void)state;
    enum { N_KEYS = 600 };
    zlg_status status = ZLG_NO_MEMORY;
    for (size_t fail_at = 1; status != ZLG_OK; fail_at += 37) {
        test_heap heap;
        test_heap_init(&heap);
        zlg_store *store;
        char key[32];
        assert_int_equal(zlgi_memory_open(&heap.alloc, &test_limits, &store, NULL), ZLG_OK);
        for (int i = 0; i < N_KEYS; i++) {
            snprintf(key, sizeof key, "a/%d", i);
            test_must_put(store, key, "1");
        }
        heap.fail_at = heap.n_calls + fail_at;
        status = store->class->rename_prefix(store, "a", "b/c", NULL);
        heap.fail_at = 0;
        assert_true(status == ZLG_OK || status == ZLG_NO_MEMORY);
        for (int i = 0; i < N_KEYS; i++) {
            snprintf(key, sizeof key, "%s/%d", status == ZLG_OK ? "b/c" : "a", i);
            test_must_get(store, key, "1");
        }
        test_must_list(store, "", true, status == ZLG_OK ? "b/ " : "a/ ");
        zlgi_store_destroy(store);
        assert_int_equal(heap.n_blocks, 0);
    }
}

static int put_more(void *user, const char *name, int is_prefix, uint64_t n_bytes)
{
    (void)is_prefix, (void)n_bytes;
    test_must_put(user, "c", "new");
    if (strcmp(name, "a") == 0)
        assert_int_equal(test_remove(user, "b", NULL), ZLG_OK);
    else
        assert_string_equal(name, "c");
    return 0;
}

static void test_store_may_change_while_it_is_listed(void **state)
{
    (void)state;
    zlg_store *store;
    assert_int_equal(zlgi_memory_open(&zlgi_default_alloc, &test_limits, &store, NULL),
                     ZLG_OK);
    test_must_put(store, "a", "1");
    test_must_put(store, "b", "2");
    assert_int_equal(store->class->list(store, "", false, NULL, put_more, store, NULL),
                     ZLG_OK);
    test_must_list(store, "", false, "a=1 c=3 ");
    zlgi_store_destroy(store);
}

static void test_forked_child_has_its_own_copy(void **state)
{
    (void)state;
    zlg_store *store;
    assert_int_equal(zlgi_memory_open(&zlgi_default_alloc, &test_limits, &store, NULL),
                     ZLG_OK);
    test_must_put(store, "a", "parent");
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        zlgi_object object;
        bool is_right = store->class->open(store, "a", 0, &object, NULL) == ZLG_OK &&
                        memcmp(object.view, "parent", 6) == 0 &&
                        test_put(store, "a", "child", NULL) == ZLG_OK;
        _exit(is_right ? 0 : 1);
    }
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_int_equal(how, 0);
    test_must_get(store, "a", "parent");
    zlgi_store_destroy(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_are_lent),
        cmocka_unit_test(test_empty_value_has_a_view),
        cmocka_unit_test(test_short_memory),
        cmocka_unit_test(test_value_larger_than_memory_is_refused),
        cmocka_unit_test(test_name_may_be_a_key_and_a_prefix),
        cmocka_unit_test(test_moving_with_short_memory),
        cmocka_unit_test(test_store_may_change_while_it_is_listed),
        cmocka_unit_test(test_forked_child_has_its_own_copy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
