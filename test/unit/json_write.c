/* Writing JSON: layout, escapes, what is not text. */
#include "json.h"

static void assert_written(const char *text, int indent, const char *expected)
{
    parsed p;
    zlgi_buf out;
    zlgi_buf_init(&out, &zlgi_default_alloc);
    assert_int_equal(zlgi_json_write(parse(&p, text), indent, &out, NULL), ZLG_OK);
    assert_int_equal(out.n, strlen(expected));
    assert_memory_equal(out.data, expected, out.n);
    zlgi_buf_reset(&out);
    done(&p);
}

static void test_writing_on_one_line(void **state)
{
    (void)state;
    static const char *const same[] = {"null",
                                       "true",
                                       "[]",
                                       "{}",
                                       "-0",
                                       "1.50E+3",
                                       "NaN",
                                       "-Infinity",
                                       "\"\"",
                                       "[1,2.0,[\"a\",{}]]",
                                       "{\"b\":1,\"a\":{\"\":[null,false]}}",
                                       "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0000\\u001f\x7f\"",
                                       "\"\xe6\xb8\xa9 \xf0\x9f\x98\x80\"",
                                       "\"\\ud83d\"",
                                       "\"x\\ude00\\ud83dy\"",
                                       "{\"\\ud83d\":\"\\ud83d\\ud83d\xf0\x9f\x98\x80\"}"};
    for (size_t i = 0; i < ZLGI_COUNT(same); i++)
        assert_written(same[i], 0, same[i]);
    assert_written(" [ 1 , { \"a\" : 2 } ] ", 0, "[1,{\"a\":2}]");
    assert_written("\"\\u0041\\/\\u00e9\\uD83D\\uDE00\\u001F\"", 0,
                   "\"A/\xc3\xa9\xf0\x9f\x98\x80\\u001f\"");
}

static void test_writing_indented(void **state)
{
    (void)state;
    assert_written("[]", 2, "[]");
    assert_written("7", 2, "7");
    assert_written("{\"a\":[1,{\"b\":{}},[]],\"c\":\"x\"}", 2,
                   "{\n  \"a\": [\n    1,\n    {\n      \"b\": {}\n    },\n    []\n  ],\n"
                   "  \"c\": \"x\"\n}");
    assert_written("[[1]]", 40,
                   "[\n                                        [\n"
                   "                                        "
                   "                                        1\n"
                   "                                        ]\n]");
}

static void test_a_member_is_written_without_its_name(void **state)
{
    (void)state;
    parsed p;
    zlgi_buf out;
    zlgi_buf_init(&out, &zlgi_default_alloc);
    const zlgi_json *object = parse(&p, "{\"a\":[1],\"b\":2}");
    assert_int_equal(zlgi_json_write(zlgi_json_get(object, "a"), 0, &out, NULL), ZLG_OK);
    assert_int_equal(zlgi_json_write(zlgi_json_get(object, "b"), 0, &out, NULL), ZLG_OK);
    assert_int_equal(out.n, 4);
    assert_memory_equal(out.data, "[1]2", 4);
    zlgi_buf_reset(&out);
    done(&p);
}

static void test_text_that_is_not_utf8_is_not_written(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {{"ab\xff", "byte 2 of a string, 0xff, is not UTF-8"},
                 {"\xc0\x80", "byte 0 of a string, 0xc0, is not UTF-8"},
                 {"a\xe6\xb8", "byte 1 of a string, 0xe6, is not UTF-8"},
                 {"\xed\xa0", "byte 0 of a string, 0xed, is not UTF-8"},
                 {"\xed\xa0\x40", "byte 0 of a string, 0xed, is not UTF-8"},
                 /* A pair in two halves would come back as one character. */
                 {"\xed\xa0\xbd\xed\xb8\x80", "byte 0 of a string, 0xed, is not UTF-8"}};
    for (size_t i = 0; i < ZLGI_COUNT(cases); i++) {
        zlgi_buf out;
        zlg_error err;
        zlgi_buf_init(&out, &zlgi_default_alloc);
        assert_int_equal(
            zlgi_json_write_string(&out, cases[i].text, strlen(cases[i].text), &err),
            ZLG_USAGE);
        assert_string_equal(err.message, cases[i].message);
        zlgi_buf_reset(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_writing_on_one_line),
        cmocka_unit_test(test_writing_indented),
        cmocka_unit_test(test_a_member_is_written_without_its_name),
        cmocka_unit_test(test_text_that_is_not_utf8_is_not_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
