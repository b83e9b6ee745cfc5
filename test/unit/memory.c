/* The default allocator: sizes around the huge page, contents kept through every move. */
#include "base/os.h"
#include "test.h"

#if defined(__SANITIZE_ADDRESS__)
#define TEST_UNDER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TEST_UNDER_ASAN 1
#endif
#endif

enum { MIB = 1 << 20 };

static void fill(uint8_t *block, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i += 509)
        block[i] = (uint8_t)(i * 31 >> 4);
}

static void check(const uint8_t *block, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i += 509)
        assert_int_equal(block[i], (uint8_t)(i * 31 >> 4));
}

static void test_new_memory_is_zero_and_nothing_is_a_block(void **state)
{
    (void)state;
    test_heap heap;
    test_heap_init(&heap);
    uint8_t *block = zlgi_new(&heap.alloc, 1000);
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(block[i], 0);
    void *nothing = zlgi_new(&heap.alloc, 0);
    assert_non_null(nothing);
    assert_int_equal(heap.n_blocks, 2);
    zlgi_free(&heap.alloc, block, 1000);
    zlgi_free(&heap.alloc, nothing, 0);
    zlgi_free(&heap.alloc, NULL, 0);
    assert_int_equal(heap.n_blocks, 0);
}

static void test_mapped_memory_starts_on_a_huge_page(void **state)
{
    (void)state;
    for (size_t n = 2 * MIB; n <= 7 * MIB; n += MIB / 2) {
        uint8_t *block = zlgi_os_map(n);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % ZLGI_HUGE_PAGE, 0);
        assert_int_equal(block[n - 1], 0);
        fill(block, n);
        assert_true(zlgi_os_remap(block, n, MIB));
        check(block, MIB);
        zlgi_os_unmap(block, MIB);
    }
}

/* AddressSanitizer watches malloc's blocks only, so there every block is one. */
#ifndef TEST_UNDER_ASAN
static void test_large_blocks_are_mapped(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        uint8_t *block = zlgi_new(&zlgi_default_alloc, 2 * MIB);
        assert_int_equal((uintptr_t)block % ZLGI_HUGE_PAGE, 0);
        zlgi_free(&zlgi_default_alloc, block, 2 * MIB);
    }
}
#endif

static void test_every_move_keeps_the_contents(void **state)
{
    (void)state;
    static const size_t sizes[] = {1,       4096,        MIB,         2 * MIB - 1,
                                   2 * MIB, 2 * MIB + 1, 3 * MIB,     3 * MIB + 4097,
                                   4 * MIB, 16 * MIB,    17 * MIB + 5};
    for (size_t from = 0; from < ZLGI_COUNT(sizes); from++)
        for (size_t to = 0; to < ZLGI_COUNT(sizes); to++) {
            uint8_t *block = zlgi_new(&zlgi_default_alloc, sizes[from]);
            assert_non_null(block);
            fill(block, sizes[from]);
            block = zlgi_resize(&zlgi_default_alloc, block, sizes[from], sizes[to]);
            assert_non_null(block);
            check(block, ZLGI_MIN(sizes[from], sizes[to]));
            fill(block, sizes[to]);
            check(block, sizes[to]);
            zlgi_free(&zlgi_default_alloc, block, sizes[to]);
        }
}

static void test_a_size_that_cannot_be_had_is_refused(void **state)
{
    (void)state;
    /* Half of the address space and more: also where rounding up would wrap. */
    static const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 4096, SIZE_MAX / 2 + 1};
    for (size_t i = 0; i < ZLGI_COUNT(sizes); i++) {
        uint8_t *block = zlgi_new(&zlgi_default_alloc, 3 * MIB);
        fill(block, 3 * MIB);
        assert_null(zlgi_resize(&zlgi_default_alloc, block, 3 * MIB, sizes[i]));
        check(block, 3 * MIB);
        zlgi_free(&zlgi_default_alloc, block, 3 * MIB);
        assert_null(zlgi_resize(&zlgi_default_alloc, NULL, 0, sizes[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_new_memory_is_zero_and_nothing_is_a_block),
        cmocka_unit_test(test_mapped_memory_starts_on_a_huge_page),
#ifndef TEST_UNDER_ASAN
        cmocka_unit_test(test_large_blocks_are_mapped),
#endif
        cmocka_unit_test(test_every_move_keeps_the_contents),
        cmocka_unit_test(test_a_size_that_cannot_be_had_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
