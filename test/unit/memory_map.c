/* The sorted map: against a plain list over random changes, its order, short memory. */
#include <stdio.h>

#include "store/memory_map.h"
#include "test.h"

enum { N_KEYS = 4000 };

static const char *key_number(size_t i, char text[32])
{
    snprintf(text, 32, "%zu/%zu", i % 7, i * 7919 % N_KEYS);
    return text;
}

static void check_map(const zlgi_map *map, const char *is_there)
{
    char text[32];
    size_t n_expected = 0, n_seen = 0;
    for (size_t i = 0; i < N_KEYS; i++) {
        const char *value = zlgi_map_get(map, key_number(i, text));
        assert_ptr_equal(value, is_there[i] ? is_there + i : NULL);
        n_expected += is_there[i] != 0;
    }
    const zlgi_map_entry *e = zlgi_map_seek(map, "", ZLGI_MAP_AT), *before = NULL;
    for (; e != NULL; before = e, e = zlgi_map_seek(map, e->key, ZLGI_MAP_AFTER)) {
        n_seen++;
        /* Here no key is the start of another, and "/" sorts before the digits. */
        if (before != NULL)
            assert_true(strcmp(before->key, e->key) < 0);
    }
    assert_int_equal(n_seen, n_expected);
}

static void test_random_changes(void **state)
{
    (void)state;
    static char is_there[N_KEYS];
    memset(is_there, 0, sizeof is_there);
    test_heap heap;
    test_heap_init(&heap);
    zlgi_map map = {.alloc = &heap.alloc};
    uint64_t seed = 99;
    char text[32];
    for (int phase = 0; phase < 4; phase++) {
        for (int round = 0; round < 10000; round++) {
            size_t i = test_random(&seed) % N_KEYS;
            /* Phases that grow, phases that shrink. */
            bool is_put = test_random(&seed) % 8 < (phase % 2 == 0 ? 6 : 1);
            void *old = NULL, *expected = is_there[i] ? is_there + i : NULL;
            if (is_put)
                assert_int_equal(
                    zlgi_map_put(&map, key_number(i, text), is_there + i, &old, NULL),
                    ZLG_OK);
            else
                old = zlgi_map_take(&map, key_number(i, text));
            assert_ptr_equal(old, expected);
            is_there[i] = is_put;
        }
        check_map(&map, is_there);
    }
    char *value;
    while ((value = zlgi_map_take_within(&map, "3")) != NULL)
        *value = 0;
    for (size_t i = 3; i < N_KEYS; i += 7)
        assert_int_equal(is_there[i], 0);
    check_map(&map, is_there);
    while (zlgi_map_take_within(&map, "") != NULL)
        continue;
    zlgi_map_reset(&map);
    assert_int_equal(heap.n_blocks, 0);
}

static void test_order_is_that_of_a_tree(void **state)
{
    (void)state;
    static const char *const sorted[] = {"A",     "a",  "a/\x01", "a/b", "a/b/c", "a/b-",
                                         "a\x01", "a-", "a.",     "a0",  "b",     "\xff"};
    test_heap heap;
    test_heap_init(&heap);
    zlgi_map map = {.alloc = &heap.alloc};
    void *old;
    for (size_t i = ZLGI_COUNT(sorted); i-- > 0;)
        assert_int_equal(zlgi_map_put(&map, sorted[i], &heap, &old, NULL), ZLG_OK);
    const zlgi_map_entry *e = zlgi_map_seek(&map, "", ZLGI_MAP_AT);
    for (size_t i = 0; i < ZLGI_COUNT(sorted); i++) {
        assert_non_null(e);
        assert_string_equal(e->key, sorted[i]);
        e = zlgi_map_seek(&map, e->key, ZLGI_MAP_AFTER);
    }
    assert_null(e);
    assert_string_equal(zlgi_map_seek(&map, "a", ZLGI_MAP_PAST)->key, "a\x01");
    assert_string_equal(zlgi_map_seek(&map, "a/b", ZLGI_MAP_PAST)->key, "a/b-");
    assert_string_equal(zlgi_map_seek(&map, "a/a", ZLGI_MAP_AT)->key, "a/b");
    assert_null(zlgi_map_seek(&map, "\xff", ZLGI_MAP_PAST));
    while (zlgi_map_take_within(&map, "") != NULL)
        continue;
    zlgi_map_reset(&map);
}

static void test_short_memory_leaves_the_map_as_it_was(void **state)
{
    (void)state;
    test_heap heap;
    test_heap_init(&heap);
    zlgi_map map = {.alloc = &heap.alloc};
    void *old;
    char text[32];
    int n_failed = 0;
    for (size_t i = 0; i < N_KEYS; i++) {
        const char *key = key_number(i, text);
        /* First with no memory at all, then with one block less than may be wanted. */
        for (size_t k = 1; k <= 3; k++) {
            heap.n_calls = 0;
            heap.fail_at = k;
            zlg_status status = zlgi_map_put(&map, key, &heap, &old, NULL);
            if (status == ZLG_OK)
                break;
            n_failed++;
            assert_int_equal(status, ZLG_NO_MEMORY);
            assert_null(zlgi_map_get(&map, key));
        }
        heap.fail_at = 0;
        assert_int_equal(zlgi_map_put(&map, key, &heap, &old, NULL), ZLG_OK);
        assert_ptr_equal(zlgi_map_get(&map, key), &heap);
    }
    assert_in_range(n_failed, N_KEYS + 1, 2 * N_KEYS);
    while (zlgi_map_take_within(&map, "") != NULL)
        continue;
    zlgi_map_reset(&map);
    assert_int_equal(heap.n_blocks, 0);
}

static void test_within(void **state)
{
    (void)state;
    assert_true(zlgi_map_is_within("a", ""));
    assert_true(zlgi_map_is_within("a", "a"));
    assert_true(zlgi_map_is_within("a/b", "a"));
    assert_false(zlgi_map_is_within("ab", "a"));
    assert_false(zlgi_map_is_within("a", "a/b"));
    assert_false(zlgi_map_is_within("b", "a"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_changes),
        cmocka_unit_test(test_order_is_that_of_a_tree),
        cmocka_unit_test(test_short_memory_leaves_the_map_as_it_was),
        cmocka_unit_test(test_within),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
