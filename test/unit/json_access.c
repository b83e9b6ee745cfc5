/* Asking a JSON tree: members, integers to the last bit, equality. */
#include "json.h"

static void test_what_is_not_there(void **state)
{
    (void)state;
    parsed p;
    const zlgi_json *object =
        parse(&p, "{\"a\":[1,\"x\"],\"ab\":2,\"x\\u0000\":\"x\\u0000\"}");
    const zlgi_json *array = zlgi_json_get(object, "a");
    double d;
    int64_t i;
    uint64_t u;
    assert_int_equal(array->type, ZLGI_JSON_ARRAY);
    assert_null(zlgi_json_get(object, "b"));
    assert_null(zlgi_json_get(object, ""));
    assert_null(zlgi_json_get(object, "abc"));
    assert_null(zlgi_json_get(object, "x"));
    assert_null(zlgi_json_get(array, "a"));
    assert_null(zlgi_json_get(NULL, "a"));
    assert_non_null(zlgi_json_at(array, 1));
    assert_null(zlgi_json_at(array, 2));
    assert_null(zlgi_json_at(object, 0));
    assert_null(zlgi_json_at(NULL, 0));
    assert_true(zlgi_json_is(zlgi_json_at(array, 1), "x"));
    assert_false(zlgi_json_is(zlgi_json_at(array, 1), "xy"));
    assert_false(zlgi_json_is(zlgi_json_at(array, 0), "1"));
    assert_false(zlgi_json_is(object->items->next->next, "x"));
    assert_false(zlgi_json_is(NULL, ""));
    assert_false(zlgi_json_double(NULL, &d));
    assert_false(zlgi_json_double(zlgi_json_at(array, 1), &d));
    assert_false(zlgi_json_i64(NULL, &i));
    assert_false(zlgi_json_u64(zlgi_json_at(array, 1), &u));
    done(&p);
}

static void test_integers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is_i64, is_u64;
        int64_t i64;
        uint64_t u64;
    } cases[] = {{"0", true, true, 0, 0},
                 {"-0", true, true, 0, 0},
                 {"-1", true, false, -1, 0},
                 {"9223372036854775807", true, true, INT64_MAX, INT64_MAX},
                 {"9223372036854775808", false, true, 0, UINT64_C(9223372036854775808)},
                 {"-9223372036854775808", true, false, INT64_MIN, 0},
                 {"-9223372036854775809", false, false, 0, 0},
                 {"18446744073709551615", false, true, 0, UINT64_MAX},
                 {"18446744073709551616", false, false, 0, 0},
                 {"-18446744073709551616", false, false, 0, 0},
                 {"99999999999999999999999999999999", false, false, 0, 0},
                 {"1.0", false, false, 0, 0},
                 {"1e2", false, false, 0, 0},
                 {"NaN", false, false, 0, 0},
                 {"Infinity", false, false, 0, 0},
                 {"true", false, false, 0, 0},
                 {"\"1\"", false, false, 0, 0}};
    for (size_t i = 0; i < ZLGI_COUNT(cases); i++) {
        parsed p;
        int64_t i64 = 0;
        uint64_t u64 = 0;
        parse(&p, cases[i].text);
        assert_int_equal(zlgi_json_i64(p.value, &i64), cases[i].is_i64);
        assert_int_equal(zlgi_json_u64(p.value, &u64), cases[i].is_u64);
        assert_true(i64 == cases[i].i64 && u64 == cases[i].u64);
        done(&p);
    }
}

static void test_doubles(void **state)
{
    (void)state;
    parsed p;
    double d = 0;
    const zlgi_json *array = parse(&p, "[1.5,-2,1e999,-Infinity,NaN,\"1\",true]");
    assert_true(zlgi_json_double(zlgi_json_at(array, 0), &d) && d == 1.5);
    assert_true(zlgi_json_double(zlgi_json_at(array, 1), &d) && d == -2);
    assert_true(zlgi_json_double(zlgi_json_at(array, 2), &d) && d > 1e308);
    assert_true(zlgi_json_double(zlgi_json_at(array, 3), &d) && d < -1e308);
    assert_true(zlgi_json_double(zlgi_json_at(array, 4), &d) && d != d);
    assert_false(zlgi_json_double(zlgi_json_at(array, 5), &d));
    assert_false(zlgi_json_double(zlgi_json_at(array, 6), &d));
    done(&p);
}

static void test_equality(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        bool equal;
    } cases[] = {{"null", " null", true},
                 {"null", "false", false},
                 {"true", "true", true},
                 {"1", "1", true},
                 {"1", "1.0", false},
                 {"1", "\"1\"", false},
                 {"NaN", "NaN", true},
                 {"\"\\u0041\"", "\"A\"", true},
                 {"\"a\"", "\"a\\u0000\"", false},
                 {"[]", "{}", false},
                 {"[1,2]", "[1, 2]", true},
                 {"[1,2]", "[2,1]", false},
                 {"[1,2]", "[1,2,3]", false},
                 {"[1,[2]]", "[1,[3]]", false},
                 {"{\"a\":1,\"b\":[2],\"c\":3}", "{\"c\":3,\"a\":1,\"b\":[2]}", true},
                 {"{\"a\":1,\"b\":2}", "{\"a\":1,\"b\":3}", false},
                 {"{\"a\":1,\"b\":2}", "{\"a\":1,\"c\":2}", false},
                 {"{\"a\":1}", "{\"a\":1,\"b\":2}", false},
                 {"{\"a\":1,\"b\":2}", "{\"a\":1}", false}};
    for (size_t i = 0; i < ZLGI_COUNT(cases); i++) {
        parsed a, b;
        parse(&a, cases[i].a), parse(&b, cases[i].b);
        assert_int_equal(zlgi_json_equal(a.value, b.value), cases[i].equal);
        assert_int_equal(zlgi_json_equal(b.value, a.value), cases[i].equal);
        done(&a), done(&b);
    }
    assert_true(zlgi_json_equal(NULL, NULL));
    assert_false(zlgi_json_equal(NULL, &(zlgi_json){.type = ZLGI_JSON_NULL}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_not_there),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_doubles),
        cmocka_unit_test(test_equality),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
