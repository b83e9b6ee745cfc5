/* Scratch: contexts made once per type, the stack of spare buffers, no leak. */
#include "test.h"

typedef struct counter {
    int value;
} counter;

static void *counter_make(const zlgi_alloc *alloc)
{
    return zlgi_new(alloc, sizeof(counter));
}

static void counter_destroy(void *context, const zlgi_alloc *alloc)
{
    zlgi_free(alloc, context, sizeof(counter));
}

static const zlgi_context_type first_type = {counter_make, counter_destroy};
static const zlgi_context_type second_type = {counter_make, counter_destroy};

static void test_one_context_per_type(void **state)
{
    (void)state;
    test_heap heap;
    test_heap_init(&heap);
    zlgi_scratch *scratch = zlgi_scratch_new(&heap.alloc, NULL);
    counter *first = zlgi_scratch_context(scratch, &first_type);
    counter *second = zlgi_scratch_context(scratch, &second_type);
    assert_ptr_not_equal(first, second);
    first->value = 5;
    size_t n_calls = heap.n_calls;
    first = zlgi_scratch_context(scratch, &first_type);
    assert_int_equal(first->value, 5);
    assert_ptr_equal(zlgi_scratch_context(scratch, &second_type), second);
    assert_int_equal(heap.n_calls, n_calls);
    zlgi_scratch_free(scratch);
    assert_int_equal(heap.n_blocks, 0);
}

static void test_spare_buffers_are_a_stack_that_keeps_its_memory(void **state)
{
    (void)state;
    test_heap heap;
    test_heap_init(&heap);
    zlgi_scratch *scratch = zlgi_scratch_new(&heap.alloc, NULL);
    zlgi_buf *outer = zlgi_scratch_push(scratch);
    assert_int_equal(zlgi_buf_append(outer, "outer", 5, NULL), ZLG_OK);
    zlgi_buf *inner = zlgi_scratch_push(scratch);
    assert_ptr_not_equal(inner, outer);
    assert_int_equal(zlgi_buf_append(inner, "inner", 5, NULL), ZLG_OK);
    zlgi_scratch_pop(scratch);
    assert_memory_equal(outer->data, "outer", 5);
    zlgi_buf *again = zlgi_scratch_push(scratch);
    assert_ptr_equal(again, inner);
    assert_int_equal(again->n, 0);
    assert_true(again->capacity >= 5);
    zlgi_scratch_pop(scratch);
    zlgi_scratch_pop(scratch);
    zlgi_scratch_free(scratch);
    assert_int_equal(heap.n_blocks, 0);
}

static void test_no_memory_is_null(void **state)
{
    (void)state;
    test_heap heap;
    test_heap_init(&heap);
    heap.fail_at = 1;
    assert_null(zlgi_scratch_new(&heap.alloc, NULL));
    heap.fail_at = 0;
    zlgi_scratch *scratch = zlgi_scratch_new(&heap.alloc, NULL);
    heap.fail_at = 1;
    assert_null(zlgi_scratch_context(scratch, &first_type));
    heap.fail_at = 0;
    assert_non_null(zlgi_scratch_context(scratch, &first_type));
    zlgi_scratch_free(scratch);
    zlgi_scratch_free(NULL);
    assert_int_equal(heap.n_blocks, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_context_per_type),
        cmocka_unit_test(test_spare_buffers_are_a_stack_that_keeps_its_memory),
        cmocka_unit_test(test_no_memory_is_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
