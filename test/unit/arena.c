/* The arena: alignment, pieces that do not overlap, one free, no memory. */
#include "test.h"

static void test_pieces_are_aligned_and_apart(void **state)
{
    (void)state;
    test_heap heap;
    test_heap_init(&heap);
    zlgi_arena arena;
    zlgi_arena_init(&arena, &heap.alloc);
    enum { N_PIECES = 5000 };
    static uint8_t *pieces[N_PIECES];
    static size_t sizes[N_PIECES];
    uint64_t seed = 3;
    for (size_t i = 0; i < N_PIECES; i++) {
        uint64_t r = test_random(&seed);
        sizes[i] = (size_t)(r % 100 == 0 ? r / 100 % 50000 : r / 100 % 90);
        pieces[i] = zlgi_arena_get(&arena, sizes[i]);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % 16, 0);
        memset(pieces[i], (int)(i % 251), sizes[i]);
    }
    for (size_t i = 0; i < N_PIECES; i++)
        for (size_t k = 0; k < sizes[i]; k++)
            assert_int_equal(pieces[i][k], i % 251);
    assert_int_equal(arena.n_bytes, heap.n_bytes);
    zlgi_arena_reset(&arena);
    assert_int_equal(heap.n_blocks, 0);
    assert_int_equal(arena.n_bytes, 0);
}

static void test_small_pieces_cost_few_blocks(void **state)
{
    (void)state;
    test_heap heap;
    test_heap_init(&heap);
    zlgi_arena arena;
    zlgi_arena_init(&arena, &heap.alloc);
    for (int i = 0; i < 100000; i++)
        assert_non_null(zlgi_arena_get(&arena, 48));
    assert_true(heap.n_calls < 20);
    assert_true(heap.n_bytes < 3 * 4800000);
    zlgi_arena_reset(&arena);
}

static void test_a_large_piece_leaves_the_current_block_in_use(void **state)
{
    (void)state;
    zlgi_arena arena;
    zlgi_arena_init(&arena, &zlgi_default_alloc);
    uint8_t *first = zlgi_arena_get(&arena, 16);
    assert_non_null(zlgi_arena_get(&arena, 1 << 20));
    assert_ptr_equal(zlgi_arena_get(&arena, 16), first + 16);
    zlgi_arena_reset(&arena);
}

static void test_text_gets_a_nul(void **state)
{
    (void)state;
    zlgi_arena arena;
    zlgi_arena_init(&arena, &zlgi_default_alloc);
    assert_string_equal(zlgi_arena_text(&arena, "zarray", 4), "zarr");
    assert_string_equal(zlgi_arena_text(&arena, NULL, 0), "");
    zlgi_arena_reset(&arena);
}

static void test_no_memory_is_null(void **state)
{
    (void)state;
    test_heap heap;
    test_heap_init(&heap);
    zlgi_arena arena;
    zlgi_arena_init(&arena, &heap.alloc);
    assert_null(zlgi_arena_get(&arena, SIZE_MAX));
    assert_null(zlgi_arena_get(&arena, SIZE_MAX - 20));
    assert_null(zlgi_arena_text(&arena, "", SIZE_MAX));
    heap.fail_at = 1;
    assert_null(zlgi_arena_get(&arena, 1));
    assert_null(zlgi_arena_get(&arena, 1 << 20));
    heap.fail_at = 0;
    assert_non_null(zlgi_arena_get(&arena, 1));
    zlgi_arena_reset(&arena);
    assert_int_equal(heap.n_blocks, 0);
}

/* Each number goes behind those before it, if the memory that holds it is there still. */
static int seen[4], n_seen;

static void see(void *what)
{
    seen[n_seen++] = *(int *)what;
}

static void test_what_is_deferred_runs_once(void **state)
{
    (void)state;
    test_heap heap;
    test_heap_init(&heap);
    zlgi_arena arena;
    zlgi_arena_init(&arena, &heap.alloc);
    n_seen = 0;
    for (int i = 0; i < 3; i++) {
        int *number = zlgi_arena_get(&arena, sizeof *number);
        assert_non_null(number);
        *number = i;
        assert_true(zlgi_arena_defer(&arena, see, number));
    }
    assert_int_equal(n_seen, 0);
    zlgi_arena_reset(&arena);
    zlgi_arena_reset(&arena);
    assert_int_equal(n_seen, 3);
    assert_true(seen[0] == 2 && seen[1] == 1 && seen[2] == 0);
    heap.fail_at = heap.n_calls + 1;
    assert_false(zlgi_arena_defer(&arena, see, &n_seen));
    zlgi_arena_reset(&arena);
    assert_int_equal(n_seen, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces_are_aligned_and_apart),
        cmocka_unit_test(test_small_pieces_cost_few_blocks),
        cmocka_unit_test(test_a_large_piece_leaves_the_current_block_in_use),
        cmocka_unit_test(test_text_gets_a_nul),
        cmocka_unit_test(test_no_memory_is_null),
        cmocka_unit_test(test_what_is_deferred_runs_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
