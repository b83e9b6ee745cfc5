/* Reading JSON: what is taken, with its positions, and what is refused, where and why. */
#include "json.h"

static void assert_text(const zlgi_json *value, zlgi_json_type type, const void *text,
                        size_t n)
{
    assert_int_equal(value->type, type);
    assert_int_equal(value->n_text, n);
    assert_memory_equal(value->text, text, n);
    assert_int_equal(value->text[n], 0);
}

static void test_scalars(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        zlgi_json_type type;
    } cases[] = {
        {"null", ZLGI_JSON_NULL},
        {"true", ZLGI_JSON_TRUE},
        {" false\n", ZLGI_JSON_FALSE},
        {"0", ZLGI_JSON_NUMBER},
        {"-12.50e+03", ZLGI_JSON_NUMBER},
        {"\"\"", ZLGI_JSON_STRING},
        {"[]", ZLGI_JSON_ARRAY},
        {"\t{ \r\n}", ZLGI_JSON_OBJECT},
        {"         \n                [          ]                ", ZLGI_JSON_ARRAY},
        {"NaN", ZLGI_JSON_NUMBER},
        {"-Infinity", ZLGI_JSON_NUMBER}};
    for (size_t i = 0; i < ZLGI_COUNT(cases); i++) {
        parsed p;
        assert_int_equal(parse(&p, cases[i].text)->type, cases[i].type);
        assert_int_equal(p.value->n_items, 0);
        assert_null(p.value->items);
        assert_null(p.value->next);
        done(&p);
    }
}

static void test_numbers_keep_their_text(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "0",       "-0",       "1.0",
        "1e5",     "1E+05",    "123456789012345678901234567890",
        "-0.0",    "1.50",     "5e-324",
        "1e99999", "Infinity", "0.1000000000000000055511151231257827",
        "NaN",     "-Infinity"};
    for (size_t i = 0; i < ZLGI_COUNT(texts); i++) {
        parsed p;
        char text[200];
        assert_text(parse(&p, texts[i]), ZLGI_JSON_NUMBER, texts[i], strlen(texts[i]));
        done(&p);
        /* With something behind it that becomes the NUL of the text. */
        int n = snprintf(text, sizeof text, "[%s,%s ,[%s]]", texts[i], texts[i], texts[i]);
        parse_bytes(&p, text, (size_t)n);
        assert_int_equal(p.value->n_items, 3);
        assert_text(zlgi_json_at(p.value, 0), ZLGI_JSON_NUMBER, texts[i], strlen(texts[i]));
        assert_text(zlgi_json_at(p.value, 1), ZLGI_JSON_NUMBER, texts[i], strlen(texts[i]));
        const zlgi_json *inner = zlgi_json_at(p.value, 2);
        assert_text(inner->items, ZLGI_JSON_NUMBER, texts[i], strlen(texts[i]));
        done(&p);
    }
}

static void test_members_keep_order_and_positions(void **state)
{
    (void)state;
    parsed p;
    const zlgi_json *object = parse(&p, "{\"b\": 1, \"a\" :[2 , {}], \"\":\"x\"}");
    static const struct {
        const char *name;
        zlgi_json_type type;
        uint32_t position;
    } members[] = {
        {"b", ZLGI_JSON_NUMBER, 6}, {"a", ZLGI_JSON_ARRAY, 14}, {"", ZLGI_JSON_STRING, 27}};
    assert_int_equal(object->n_items, 3);
    const zlgi_json *m = object->items;
    for (size_t i = 0; i < 3; i++, m = m->next) {
        assert_string_equal(m->name, members[i].name);
        assert_int_equal(m->n_name, strlen(members[i].name));
        assert_int_equal(m->type, members[i].type);
        assert_int_equal(m->position, members[i].position);
    }
    assert_null(m);
    const zlgi_json *array = zlgi_json_get(object, "a");
    assert_int_equal(zlgi_json_at(array, 0)->position, 15);
    assert_int_equal(zlgi_json_at(array, 1)->position, 19);
    assert_null(zlgi_json_at(array, 0)->name);
    done(&p);
}

static void test_strings_are_decoded(void **state)
{
    (void)state;
    static const struct {
        const char *text, *decoded;
        size_t n;
    } cases[] = {
        {"\"plain\"", "plain", 5},
        {"\"exactly8\"", "exactly8", 8},
        {"\"more than sixteen bytes, plain\"", "more than sixteen bytes, plain", 30},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t", 8},
        {"\"\\u0000\"", "\0", 1},
        {"\"a\\u0000b\"", "a\0b", 3},
        {"\"\\u007F\\u0080\\u07fF\"", "\x7f\xc2\x80\xdf\xbf", 5},
        {"\"\\u0800\\uffff\\uD7FF\\ue000\"",
         "\xe0\xa0\x80\xef\xbf\xbf\xed\x9f\xbf\xee\x80\x80", 12},
        {"\"\\ud800\\udc00\\uDBFF\\uDFFF\"", "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", 8},
        /* Lone halves of pairs, in WTF-8. */
        {"\"\\ud83d\"", "\xed\xa0\xbd", 3},
        {"\"\\ude00\\ud83d\"", "\xed\xb8\x80\xed\xa0\xbd", 6},
        {"\"\\ud83dx\\ude00\"", "\xed\xa0\xbdx\xed\xb8\x80", 7},
        {"\"\\ud83d\\n\"", "\xed\xa0\xbd\n", 4},
        {"\"\\ud83d\\ud83d\\ude00\"", "\xed\xa0\xbd\xf0\x9f\x98\x80", 7},
        {"\"\x7f \xc3\xa9\xe6\xb8\xa9\xf0\x9f\x98\x80\"",
         "\x7f \xc3\xa9\xe6\xb8\xa9\xf0\x9f\x98\x80", 11},
        {"\"long text behind \\u0041n escape, \\t and more\"",
         "long text behind An escape, \t and more", 38}};
    for (size_t i = 0; i < ZLGI_COUNT(cases); i++) {
        parsed p;
        assert_text(parse(&p, cases[i].text), ZLGI_JSON_STRING, cases[i].decoded,
                    cases[i].n);
        done(&p);
    }
}

static void test_names_are_decoded(void **state)
{
    (void)state;
    parsed p;
    const zlgi_json *object = parse(&p, "{\"\\u0073hape\":1,\"a\\u0000\":2}");
    assert_string_equal(object->items->name, "shape");
    assert_int_equal(object->items->next->n_name, 2);
    assert_memory_equal(object->items->next->name, "a\0", 3);
    done(&p);
}

/* An escape, a quote and what is wrong, at every offset of the eight bytes that are
 * looked at together. */
static void test_strings_at_every_offset(void **state)
{
    (void)state;
    for (size_t n = 0; n < 40; n++) {
        parsed p;
        char text[100], decoded[100];
        memset(text, 'x', sizeof text);
        memset(decoded, 'x', sizeof decoded);
        text[0] = '"';
        memcpy(text + 1 + n, "\\n\xc3\xa9yyyyyyyyy\"", 14);
        memcpy(decoded + n, "\n\xc3\xa9yyyyyyyyy", 12);
        parse_bytes(&p, text, n + 15);
        assert_int_equal(p.status, ZLG_OK);
        assert_text(p.value, ZLGI_JSON_STRING, decoded, n + 12);
        done(&p);
        for (size_t end = 0; end < n + 15; end++) {
            parse_bytes(&p, text, end);
            assert_int_equal(p.status, ZLG_METADATA);
            done(&p);
        }
        static const char *const wrong[] = {"\x01", "\x1f", "\x80", "\xff", "\xc3", "\n"};
        for (size_t i = 0; i < ZLGI_COUNT(wrong); i++) {
            char message[100];
            text[1 + n] = wrong[i][0];
            snprintf(message, sizeof message, "JSON: byte %zu: found byte 0x%02x", 1 + n,
                     (unsigned)(uint8_t)wrong[i][0]);
            parse_bytes(&p, text, n + 15);
            assert_int_equal(p.status, ZLG_METADATA);
            assert_memory_equal(p.err.message, message, strlen(message));
            done(&p);
        }
    }
}

/* ------------------------------------------------------------------ refusals */

typedef struct refusal {
    const char *text;
    const char *message;
} refusal;

static const refusal refusals[] = {
    {"", "byte 0: the document is empty"},
    {" \n\t\r ", "byte 0: the document is empty"},
    {"hello", "byte 0: found 'h', expected a value"},
    {"'a'", "byte 0: found ''', expected a value"},
    {"// c\n1", "byte 0: found '/', expected a value"},
    {"\v1", "byte 0: found byte 0x0b, expected a value"},
    {"\xc2\xa0", "byte 0: found byte 0xc2, expected a value"},
    {"1 2", "byte 2: found '2', expected the end of the document"},
    {"{} ]", "byte 3: found ']', expected the end of the document"},
    {"truex", "byte 4: found 'x', expected the end of the document"},
    {"tru", "byte 0: expected true"},
    {"[nul]", "byte 1: expected null"},
    {"[False]", "byte 1: found 'F', expected a value"},
    {"[fals", "byte 1: expected false"},
    {"[1,]", "byte 3: found ']', expected a value"},
    {"[,1]", "byte 1: found ',', expected a value"},
    {"[1 2]", "byte 3: found '2', expected ',' or ']'"},
    {"[1}", "byte 2: found '}', expected ',' or ']'"},
    {"[1:2]", "byte 2: found ':', expected ',' or ']'"},
    {"[", "the document ends at byte 1, expected a value"},
    {"[1", "the document ends at byte 2, expected ',' or ']'"},
    {"[1, ", "the document ends at byte 4, expected a value"},
    {"{", "the document ends at byte 1, expected a member name"},
    {"{\"a\"", "the document ends at byte 4, expected ':'"},
    {"{\"a\":", "the document ends at byte 5, expected a value"},
    {"{\"a\":1", "the document ends at byte 6, expected ',' or '}'"},
    {"{\"a\" 1}", "byte 5: found '1', expected ':'"},
    {"{\"a\":1,}", "byte 7: found '}', expected a member name"},
    {"{\"a\":1]", "byte 6: found ']', expected ',' or '}'"},
    {"{a:1}", "byte 1: found 'a', expected a member name"},
    {"{1:1}", "byte 1: found '1', expected a member name"},
    {"[01]", "byte 1: malformed number"},
    {"[-01]", "byte 1: malformed number"},
    {"[1.]", "byte 1: malformed number"},
    {"[1.e5]", "byte 1: malformed number"},
    {"[1e]", "byte 1: malformed number"},
    {"[1E+]", "byte 1: malformed number"},
    {"[1.2.3]", "byte 1: malformed number"},
    {"[.5]", "byte 1: found '.', expected a value"},
    {"[+1]", "byte 1: found '+', expected a value"},
    {"[-]", "byte 1: '-' without a number"},
    {"[-NaN]", "byte 1: '-' without a number"},
    {"[0x10]", "byte 2: found 'x', expected ',' or ']'"},
    {"[nan]", "byte 1: expected null"},
    {"[Infinit]", "byte 1: found 'I', expected a value"},
    {"\"abc", "byte 0: the string that begins here has no end"},
    {"[\"abc\\", "the document ends at byte 6, expected a known escape after '\\'"},
    {"\"\\x41\"", "byte 2: found 'x', expected a known escape after '\\'"},
    {"\"\\\xc3\xa9\"", "byte 2: found byte 0xc3, expected a known escape after '\\'"},
    {"\"ab\\u12g4\"", "byte 3: \\u without four hexadecimal digits"},
    {"\"\\u123", "byte 1: \\u without four hexadecimal digits"},
    {"\"\\ud83d\\u12\"", "byte 7: \\u without four hexadecimal digits"},
    {"\"a\tb\"", "byte 2: found byte 0x09, expected no control character in a string"},
    {"[\"\xc0\x80\"]", "byte 2: found byte 0xc0, expected UTF-8 in a string"},
    {"[\"\xed\xa0\x80\"]", "byte 2: found byte 0xed, expected UTF-8 in a string"},
    {"[\"\xf0\x9f\x98\"]", "byte 2: found byte 0xf0, expected UTF-8 in a string"},
    {"{\"\xff\":1}", "byte 2: found byte 0xff, expected UTF-8 in a string"},
    {"{\"a\":1,\"b\":2,\"a\":3}", "byte 13: member \"a\" stands at byte 1 already"},
    {"{\"a\":1,\"\\u0061\":3}", "byte 7: member \"a\" stands at byte 1 already"},
    {"{\"\":1,\"\":3}", "byte 6: member \"\" stands at byte 1 already"},
    {"\xef\xbb\xbf{}",
     "byte 0: a byte order mark before the document, expected plain UTF-8"}};

static void test_refusals_say_where_and_why(void **state)
{
    (void)state;
    for (size_t i = 0; i < ZLGI_COUNT(refusals); i++)
        assert_refused(refusals[i].text, strlen(refusals[i].text), refusals[i].message);
}

static void test_nul_bytes_and_other_encodings(void **state)
{
    (void)state;
    static const char wide[] = "byte 0: the document is UTF-16 or UTF-32, expected UTF-8";
    assert_refused("\0\0\0\0", 4, "byte 0: found byte 0x00, expected a value");
    assert_refused("[1]\0", 4, "byte 3: found byte 0x00, expected the end of the document");
    assert_refused("[1\0]", 4, "byte 2: found byte 0x00, expected ',' or ']'");
    assert_refused("\"a\0b\"", 5,
                   "byte 2: found byte 0x00, expected no control character in a string");
    assert_refused("\xff\xfe{\0}\0", 6, wide);
    assert_refused("\xfe\xff\0{\0}", 6, wide);
    assert_refused("{\0}\0", 4, wide);
    assert_refused("\0{\0}", 4, wide);
    assert_refused("{\0\0\0}\0\0\0", 8, wide);
    assert_refused("\0\0\0{\0\0\0}", 8, wide);
    assert_refused("\0\0\xfe\xff\0\0\0{", 8, wide);
}

/* Positions have 32 bits. Such a document is refused before it is looked at. */
static void test_a_document_of_4_gib(void **state)
{
    (void)state;
    zlgi_arena arena;
    zlg_error err;
    const zlgi_json *value;
    zlgi_arena_init(&arena, &zlgi_default_alloc);
    assert_int_equal(zlgi_json_parse(&arena, "", UINT32_MAX, DEPTH, &value, &err),
                     ZLG_LIMIT);
    assert_string_equal(err.message, "JSON: the document has 4294967295 bytes, at most "
                                     "4294967287 are read");
    assert_int_equal(arena.n_bytes, 0);
}

/* No beginning of a document is a document. */
static void test_every_truncation_is_refused(void **state)
{
    (void)state;
    static const char text[] =
        "{\"shape\": [1, -2.5e3], \"\\u00e9\": \"\\ud83d\\ude00 \xc3\xa9\", \"t\": true,"
        " \"n\": null, \"f\": [false, NaN, [-Infinity]], \"o\": {\"a\": {}, \"b\": []}}";
    parsed p;
    parse(&p, text);
    done(&p);
    for (size_t n = 0; n + 1 < sizeof text; n++) {
        parse_bytes(&p, text, n);
        assert_int_equal(p.status, ZLG_METADATA);
        done(&p);
    }
}

static void test_depth(void **state)
{
    (void)state;
    parsed p;
    char text[2 * (DEPTH + 1) + 1];
    memset(text, '[', DEPTH + 1);
    memset(text + DEPTH + 1, ']', DEPTH + 1);
    parse_bytes(&p, text + 1, 2 * DEPTH);
    assert_int_equal(p.status, ZLG_OK);
    done(&p);
    /* One level more, closed or not. */
    for (size_t n = DEPTH + 1; n <= 2 * (DEPTH + 1); n += DEPTH + 1) {
        parse_bytes(&p, text, n);
        assert_int_equal(p.status, ZLG_LIMIT);
        assert_string_equal(p.err.message,
                            "JSON: byte 16: nested more than 16 levels deep (json_depth)");
        done(&p);
    }
    /* Depth is nesting, not the number of containers. */
    parse(&p, "[[[]],{\"a\":{}},[[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[]]]");
    done(&p);
}

static void test_depth_is_bounded_whatever_the_limit(void **state)
{
    (void)state;
    static char text[2 * (ZLGI_JSON_MAX_DEPTH + 1)];
    const size_t n = ZLGI_JSON_MAX_DEPTH;
    memset(text, '[', n + 1);
    memset(text + n + 1, ']', n + 1);
    zlgi_arena arena;
    const zlgi_json *value;
    zlgi_buf out;
    zlgi_arena_init(&arena, &zlgi_default_alloc);
    zlgi_buf_init(&out, &zlgi_default_alloc);
    assert_int_equal(zlgi_json_parse(&arena, text, 2 * n + 2, INT32_MAX, &value, NULL),
                     ZLG_LIMIT);
    assert_int_equal(zlgi_json_parse(&arena, text + 1, 2 * n, INT32_MAX, &value, NULL),
                     ZLG_OK);
    assert_int_equal(zlgi_json_write(value, 0, &out, NULL), ZLG_OK);
    assert_int_equal(out.n, 2 * n);
    assert_memory_equal(out.data, text + 1, 2 * n);
    assert_true(zlgi_json_equal(value, value));
    assert_int_equal(zlgi_json_parse(&arena, "{}", 2, 0, &value, NULL), ZLG_LIMIT);
    assert_int_equal(zlgi_json_parse(&arena, "7", 1, 0, &value, NULL), ZLG_OK);
    zlgi_buf_reset(&out);
    zlgi_arena_reset(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scalars),
        cmocka_unit_test(test_numbers_keep_their_text),
        cmocka_unit_test(test_members_keep_order_and_positions),
        cmocka_unit_test(test_strings_are_decoded),
        cmocka_unit_test(test_names_are_decoded),
        cmocka_unit_test(test_strings_at_every_offset),
        cmocka_unit_test(test_refusals_say_where_and_why),
        cmocka_unit_test(test_nul_bytes_and_other_encodings),
        cmocka_unit_test(test_a_document_of_4_gib),
        cmocka_unit_test(test_every_truncation_is_refused),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_depth_is_bounded_whatever_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
