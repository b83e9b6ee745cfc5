/* Growable buffers: what is kept, what growing costs, what happens without memory. */
#include "test.h"

static void test_append_grows_by_more_than_it_needs(void **state)
{
    (void)state;
    test_heap heap;
    test_heap_init(&heap);
    zlgi_buf buf;
    zlgi_buf_init(&buf, &heap.alloc);
    for (int i = 0; i < 100000; i++) {
        uint8_t byte = (uint8_t)i;
        assert_int_equal(zlgi_buf_append(&buf, &byte, 1, NULL), ZLG_OK);
    }
    assert_int_equal(buf.n, 100000);
    for (int i = 0; i < 100000; i++)
        assert_int_equal(buf.data[i], (uint8_t)i);
    assert_true(heap.n_calls < 30);
    zlgi_buf_reset(&buf);
    assert_int_equal(heap.n_bytes, 0);
}

static void test_memory_is_kept_between_uses(void **state)
{
    (void)state;
    test_heap heap;
    test_heap_init(&heap);
    zlgi_buf buf;
    zlgi_buf_init(&buf, &heap.alloc);
    assert_int_equal(zlgi_buf_reserve(&buf, 1000, false, NULL), ZLG_OK);
    for (size_t n = 1; n <= 1000; n++)
        assert_int_equal(zlgi_buf_reserve(&buf, n, false, NULL), ZLG_OK);
    assert_int_equal(heap.n_calls, 1);
    assert_int_equal(buf.capacity, 1000);
    zlgi_buf_reset(&buf);
}

static void test_unwanted_contents_are_not_held_while_growing(void **state)
{
    (void)state;
    test_heap heap;
    test_heap_init(&heap);
    zlgi_buf buf;
    zlgi_buf_init(&buf, &heap.alloc);
    assert_int_equal(zlgi_buf_append(&buf, "abc", 3, NULL), ZLG_OK);
    assert_int_equal(zlgi_buf_reserve(&buf, 5000, true, NULL), ZLG_OK);
    assert_int_equal(buf.n, 3);
    assert_memory_equal(buf.data, "abc", 3);
    assert_int_equal(zlgi_buf_reserve(&buf, 9000, false, NULL), ZLG_OK);
    assert_int_equal(buf.n, 0);
    assert_int_equal(heap.peak_bytes, 9000);
    zlgi_buf_reset(&buf);
}

static void test_failure_leaves_a_usable_buffer(void **state)
{
    (void)state;
    test_heap heap;
    test_heap_init(&heap);
    zlgi_buf buf;
    zlgi_buf_init(&buf, &heap.alloc);
    assert_int_equal(zlgi_buf_append(&buf, "abc", 3, NULL), ZLG_OK);
    heap.fail_at = 1;
    zlg_error err;
    assert_int_equal(zlgi_buf_reserve(&buf, 5000, true, &err), ZLG_NO_MEMORY);
    assert_string_equal(err.message, "5000 bytes of memory could not be had");
    assert_memory_equal(buf.data, "abc", 3);
    assert_int_equal(zlgi_buf_append(&buf, "d", SIZE_MAX, &err), ZLG_NO_MEMORY);
    assert_int_equal(buf.n, 3);
    assert_int_equal(zlgi_buf_reserve(&buf, 5000, false, &err), ZLG_NO_MEMORY);
    assert_int_equal(buf.capacity, 0);
    heap.fail_at = 0;
    assert_int_equal(zlgi_buf_append(&buf, "x", 1, NULL), ZLG_OK);
    zlgi_buf_reset(&buf);
    assert_int_equal(heap.n_bytes, 0);
}

static void test_printf_appends_text_of_any_length(void **state)
{
    (void)state;
    zlgi_buf buf;
    zlgi_buf_init(&buf, &zlgi_default_alloc);
    assert_int_equal(zlgi_buf_printf(&buf, NULL, "%d,", 12), ZLG_OK);
    assert_int_equal(zlgi_buf_printf(&buf, NULL, "%0300d", 7), ZLG_OK);
    assert_int_equal(buf.n, 303);
    assert_memory_equal(buf.data, "12,000", 6);
    assert_int_equal(buf.data[302], '7');
    zlgi_buf_reset(&buf);
}

static void test_taken_text_is_a_block_of_its_length_and_one(void **state)
{
    (void)state;
    test_heap heap;
    test_heap_init(&heap);
    zlgi_buf buf;
    zlgi_buf_init(&buf, &heap.alloc);
    assert_int_equal(zlgi_buf_append(&buf, "a\0b", 3, NULL), ZLG_OK);
    zlg_text text;
    assert_int_equal(zlgi_buf_take_text(&buf, NULL, &text, NULL), ZLG_OK);
    assert_int_equal(text.n_bytes, 3);
    assert_memory_equal(text.data, "a\0b\0", 4);
    assert_null(buf.data);
    assert_int_equal(heap.n_bytes, 4);
    zlgi_free(&heap.alloc, text.data, text.n_bytes + 1);
    assert_int_equal(heap.n_blocks, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_append_grows_by_more_than_it_needs),
        cmocka_unit_test(test_memory_is_kept_between_uses),
        cmocka_unit_test(test_unwanted_contents_are_not_held_while_growing),
        cmocka_unit_test(test_failure_leaves_a_usable_buffer),
        cmocka_unit_test(test_printf_appends_text_of_any_length),
        cmocka_unit_test(test_taken_text_is_a_block_of_its_length_and_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
