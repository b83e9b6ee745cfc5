/* Fill values of version 2: what the specification has, what files in the world have, and
 * what is refused all the same. */
#include "dtype_test.h"

#define BIG_RECORD "[[\"a\", \">i2\"], [\"b\", \">f8\", [2]], [\"c\", \"<u2\"]]"

static const fill_case cases[] = {
    {"\"<i4\"", "-7", "f9ffffff"},
    {"\">i4\"", "-7", "f9ffffff"},
    {"\"<i4\"", "null", "00000000"},
    {"\"<i4\"", "3.0", "03000000"},
    {"\"<i4\"", "1e3", "e8030000"},
    {"\"<i4\"", "\"12\"", "0c000000"},
    {"\"<i4\"", "\"-1.0\"", "ffffffff"},
    {"\"<i4\"", "[5]", "05000000"},
    {"\"<i4\"", "3.5", NULL},
    {"\"<i4\"", "NaN", NULL},
    {"\"<i4\"", "\"many\"", NULL},
    {"\"<i4\"", "\"\"", NULL},
    {"\"<i4\"", "[1, 2]", NULL},
    {"\"<i4\"", "[]", NULL},
    {"\"<i4\"", "true", NULL},
    {"\"|u1\"", "255.0", "ff"},
    {"\"|u1\"", "256.0", NULL},
    {"\"|u1\"", "-1.0", NULL},
    {"\">u8\"", "18446744073709551615", "ffffffffffffffff"},
    {"\"<i8\"", "9007199254740993.0", NULL},

    {"\"|b1\"", "true", "01"},
    {"\"|b1\"", "1", "01"},
    {"\"|b1\"", "0.0", "00"},
    {"\"|b1\"", "null", "00"},
    {"\"|b1\"", "2", NULL},
    {"\"|b1\"", "\"true\"", NULL},

    {"\"<f4\"", "NaN", "0000c07f"},
    {"\"<f4\"", "\"NaN\"", "0000c07f"},
    {"\"<f8\"", "-Infinity", "000000000000f0ff"},
    {"\">f4\"", "\"-Infinity\"", "000080ff"},
    {"\">f4\"", "16777217", "0000804b"},
    {"\"<f4\"", "\"1.5\"", "0000c03f"},
    {"\"<f4\"", "[\"0\"]", "00000000"},
    {"\"<f2\"", "0.1", "662e"},
    {"\"bfloat16\"", "1", "803f"},
    {"\"<f4\"", "\"0x7fc00000\"", NULL},
    {"\"<f4\"", "false", NULL},

    {"\"<c8\"", "[1.0, \"NaN\"]", "0000803f0000c07f"},
    {"\">c8\"", "[\"1.5\", 2]", "0000c03f00000040"},
    {"\"<c8\"", "2", "0000004000000000"},
    {"\"<c8\"", "\"AACAPwAAAEA=\"", "0000803f00000040"},
    {"\">c8\"", "\"P4AAAEAAAAA=\"", "0000803f00000040"},
    {"\"<c8\"", "null", "0000000000000000"},
    {"\"<c8\"", "[1, 2, 3]", NULL},
    {"\"<c8\"", "\"AACAPw==\"", NULL},

    {"\">M8[s]\"", "1700000000", "00f1536500000000"},
    {"\"<m8[10us]\"", "\"NaT\"", "0000000000000080"},
    {"\"<M8[s]\"", "-9223372036854775808", "0000000000000080"},
    {"\"<M8[s]\"", "null", "0000000000000080"},
    {"\"<m8[ns]\"", "null", "0000000000000080"},
    {"\"<M8[s]\"", "\"now\"", NULL},

    {"\"|S4\"", "\"YWI=\"", "61620000"},
    {"\"|S4\"", "\"\"", "00000000"},
    {"\"|S4\"", "0", "00000000"},
    {"\"|S4\"", "null", "00000000"},
    {"\"|S4\"", "\"@@@=\"", NULL},
    {"\"|S1\"", "\"YWI=\"", NULL},
    {"\"|S0\"", "\"\"", ""},
    {"\"|V3\"", "\"AQID\"", "010203"},
    {"\"|V3\"", "7", NULL},
    {"\">U2\"", "\"xy\"", "7800000079000000"},
    {"\"<U2\"", "0", "0000000000000000"},
    {"\"<U2\"", "\"0\"", "3000000000000000"},
    {"\"<U2\"", "\"abc\"", NULL},

    {BIG_RECORD, "\"AAM/+AAAAAAAAMAAAAAAAAAAAQA=\"",
     "0300000000000000f83f00000000000000c00100"},
    {BIG_RECORD, "null", "0000000000000000000000000000000000000000"},
    {BIG_RECORD, "0", "0000000000000000000000000000000000000000"},
    {BIG_RECORD, "\"AAAA\"", NULL},
    {BIG_RECORD, "[0, 0, 0]", NULL},
    /* Any byte but 0 is true, also in a record. */
    {"[[\"a\", \"|b1\"], [\"b\", \"|u1\"]]", "\"BQU=\"", "0105"},
};

static void test_forms(void **state)
{
    (void)state;
    for (size_t i = 0; i < ZLGI_COUNT(cases); i++)
        check_fill(&cases[i], v2_of(cases[i].dtype), zlgi_fill_parse_v2);
}

static const zlgi_dtype *object_of(const char *codec)
{
    const zlgi_json *json = json_of(codec);
    const zlgi_dtype *dtype = NULL;
    const char *id = zlgi_json_get(json, "id")->text;
    assert_int_equal(zlgi_dtype_object(&arena, id, json, &dtype, &error), ZLG_OK);
    return dtype;
}

static void test_objects(void **state)
{
    (void)state;
    static const fill_case objects[] = {
        {"{\"id\": \"vlen-utf8\"}", "\"\\u00e9\"", "c3a9"},
        {"{\"id\": \"vlen-utf8\"}", "0", ""},
        {"{\"id\": \"json2\"}", "null", ""},
        {"{\"id\": \"vlen-utf8\"}", "true", NULL},
        {"{\"id\": \"vlen-utf8\"}", "1", NULL},
        {"{\"id\": \"vlen-bytes\"}", "\"AQI=\"", "0102"},
        {"{\"id\": \"vlen-bytes\"}", "0", ""},
        {"{\"id\": \"vlen-bytes\"}", "[1]", NULL},
        {"{\"id\": \"vlen-array\", \"dtype\": \"<i2\"}", "null", ""},
        {"{\"id\": \"vlen-array\", \"dtype\": \"<i2\"}", "[]", ""},
        {"{\"id\": \"vlen-array\", \"dtype\": \"<i2\"}", "[1]", NULL},
    };
    for (size_t i = 0; i < ZLGI_COUNT(objects); i++)
        check_fill(&objects[i], object_of(objects[i].dtype), zlgi_fill_parse_v2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        dtype_test(test_forms),
        dtype_test(test_objects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
