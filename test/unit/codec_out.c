/* Results of decoders: memory after a check, growth, views. */
#include "codec_test.h"

static zlgi_out out_of(zlgi_buf *buf, size_t expected, size_t limit)
{
    zlgi_buf_init(buf, &heap.alloc);
    return (zlgi_out){.expected = expected, .limit = limit, .buf = buf};
}

static void test_memory_of_the_expected_size(void **state)
{
    (void)state;
    zlgi_buf buf;
    zlgi_out out = out_of(&buf, 100, 1000);
    uint8_t *memory;
    assert_int_equal(zlgi_out_memory(&out, 99, &memory, &error), ZLG_CORRUPT);
    assert_string_equal(error.message, "99 bytes decoded, 100 expected");
    assert_int_equal(zlgi_out_memory(&out, 100, &memory, &error), ZLG_OK);
    assert_ptr_equal(memory, buf.data);
    assert_int_equal(zlgi_out_done(&out, 99, &error), ZLG_CORRUPT);
    assert_int_equal(zlgi_out_done(&out, 100, &error), ZLG_OK);
    assert_ptr_equal(out.result.data, memory);
    assert_int_equal(out.result.n, 100);
    assert_int_equal(buf.n, 100);
    zlgi_buf_reset(&buf);
}

static void test_direct_memory(void **state)
{
    (void)state;
    zlgi_buf buf;
    uint8_t mine[10], *memory;
    size_t capacity;
    zlgi_out out = out_of(&buf, 10, 1000);
    out.direct = mine;
    assert_int_equal(zlgi_out_grow(&out, 0, &memory, &capacity, &error), ZLG_OK);
    assert_ptr_equal(memory, mine);
    assert_int_equal(capacity, 10);
    assert_int_equal(zlgi_out_grow(&out, 10, &memory, &capacity, &error), ZLG_CORRUPT);
    assert_string_equal(error.message, "more than the expected 10 bytes");
    assert_int_equal(zlgi_out_done(&out, 10, &error), ZLG_OK);
    assert_ptr_equal(out.result.data, mine);
    assert_null(buf.data);
}

static void test_the_limit_comes_before_memory(void **state)
{
    (void)state;
    zlgi_buf buf;
    uint8_t *memory;
    size_t capacity;
    zlgi_out out = out_of(&buf, 2000, 1000);
    assert_int_equal(zlgi_out_memory(&out, 2000, &memory, &error), ZLG_LIMIT);
    assert_int_equal(zlgi_out_grow(&out, 0, &memory, &capacity, &error), ZLG_LIMIT);
    out.expected = ZLGI_UNKNOWN;
    assert_int_equal(zlgi_out_memory(&out, 1001, &memory, &error), ZLG_LIMIT);
    assert_int_equal(zlgi_out_view(&out, (const uint8_t *)"", 1001, &error), ZLG_LIMIT);
    assert_string_equal(error.message, "1001 bytes pass the limit of 1000 (chunk_bytes)");
    assert_null(buf.data);
}

static void test_growth_keeps_what_is_there_up_to_the_limit(void **state)
{
    (void)state;
    zlgi_buf buf;
    zlgi_out out = out_of(&buf, ZLGI_UNKNOWN, 1000000);
    uint8_t *memory;
    size_t used = 0, capacity = 0;
    zlg_status status = ZLG_OK;
    int n_calls = 0;
    while ((status = zlgi_out_grow(&out, used, &memory, &capacity, &error)) == ZLG_OK) {
        assert_true(capacity > used);
        assert_true(capacity <= 1000000);
        for (size_t i = 0; i < used; i += 4096)
            assert_int_equal(memory[i], (uint8_t)(i / 4096));
        for (; used < capacity; used++)
            memory[used] = (uint8_t)(used / 4096);
        n_calls++;
    }
    assert_int_equal(status, ZLG_LIMIT);
    assert_int_equal(used, 1000000);
    assert_true(n_calls < 8);
    zlgi_buf_reset(&buf);
}

static void test_nothing_expected_and_something_made(void **state)
{
    (void)state;
    zlgi_buf buf;
    zlgi_out out = out_of(&buf, 0, 1000);
    uint8_t *memory;
    size_t capacity;
    assert_int_equal(zlgi_out_grow(&out, 0, &memory, &capacity, &error), ZLG_OK);
    assert_true(capacity > 0);
    memory[0] = 1;
    assert_int_equal(zlgi_out_done(&out, 1, &error), ZLG_CORRUPT);
    assert_int_equal(zlgi_out_done(&out, 0, &error), ZLG_OK);
    assert_int_equal(zlgi_out_memory(&out, 0, &memory, &error), ZLG_OK);
    assert_non_null(memory);
    zlgi_buf_reset(&buf);
}

static void test_views_are_checked_and_not_copied(void **state)
{
    (void)state;
    zlgi_buf buf;
    zlgi_out out = out_of(&buf, 4, 1000);
    const uint8_t data[5] = "abcd";
    assert_int_equal(zlgi_out_view(&out, data, 5, &error), ZLG_CORRUPT);
    assert_int_equal(zlgi_out_view(&out, data, 4, &error), ZLG_OK);
    assert_ptr_equal(out.result.data, data);
    assert_null(buf.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        codec_test(test_memory_of_the_expected_size),
        codec_test(test_direct_memory),
        codec_test(test_the_limit_comes_before_memory),
        codec_test(test_growth_keeps_what_is_there_up_to_the_limit),
        codec_test(test_nothing_expected_and_something_made),
        codec_test(test_views_are_checked_and_not_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
