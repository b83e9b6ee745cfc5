/* Fill values of version 3: every form that is taken, and those that are not. */
#include "dtype_test.h"

#define UTF32_8                                                                            \
    "{\"name\": \"fixed_length_utf32\", \"configuration\": {\"length_bytes\": 8}}"
#define NTB_4                                                                              \
    "{\"name\": \"null_terminated_bytes\", \"configuration\": {\"length_bytes\": 4}}"
#define RAW_3 "{\"name\": \"raw_bytes\", \"configuration\": {\"length_bytes\": 3}}"
#define SECONDS                                                                            \
    "{\"name\": \"numpy.datetime64\", \"configuration\": {\"unit\": \"s\","                \
    " \"scale_factor\": 1}}"
#define RECORD                                                                             \
    "{\"name\": \"struct\", \"configuration\": {\"fields\": [{\"name\": \"a\","            \
    " \"data_type\": \"int16\"}, {\"name\": \"b\", \"data_type\": \"float32\"}]}}"
#define OLD_RECORD                                                                         \
    "{\"name\": \"structured\", \"configuration\": {\"fields\": [[\"a\", \"int16\"],"      \
    " [\"b\", \"bool\"]]}}"

static const fill_case cases[] = {
    {"\"bool\"", "true", "01"},
    {"\"bool\"", "false", "00"},
    {"\"bool\"", "1", NULL},
    {"\"bool\"", "null", NULL},
    {"\"bool\"", "\"true\"", NULL},

    {"\"int8\"", "-128", "80"},
    {"\"int8\"", "-129", NULL},
    {"\"int8\"", "-0", "00"},
    {"\"int2\"", "-2", "fe"},
    {"\"int2\"", "2", NULL},
    {"\"uint4\"", "15", "0f"},
    {"\"uint4\"", "16", NULL},
    {"\"int64\"", "-9223372036854775808", "0000000000000080"},
    {"\"uint64\"", "18446744073709551615", "ffffffffffffffff"},
    {"\"uint64\"", "9007199254740993", "0100000000002000"},
    {"\"uint64\"", "18446744073709551616", NULL},
    {"\"uint16\"", "-1", NULL},
    {"\"int16\"", "1.0", NULL},
    {"\"int16\"", "1e3", NULL},
    {"\"int16\"", "\"1\"", NULL},
    {"\"int16\"", "\"0x0001\"", NULL},
    {"\"int16\"", "[1]", NULL},
    {"\"int32\"", "null", NULL},

    {"\"float32\"", "0.1", "cdcccc3d"},
    {"\"float32\"", "-0.0", "00000080"},
    {"\"float32\"", "16777217", "0000804b"},
    {"\"float32\"", "1.00000017881393432617187499", "0100803f"},
    {"\"float32\"", "1e400", "0000807f"},
    {"\"float32\"", "\"NaN\"", "0000c07f"},
    {"\"float32\"", "\"Infinity\"", "0000807f"},
    {"\"float32\"", "\"-Infinity\"", "000080ff"},
    {"\"float32\"", "\"0x7f800001\"", "0100807f"},
    {"\"float32\"", "\"0XFFC00000\"", "0000c0ff"},
    {"\"float32\"", "\"0x1\"", "01000000"},
    {"\"float32\"", "\"0x\"", NULL},
    {"\"float32\"", "\"0x7fg00000\"", NULL},
    {"\"float32\"", "\"0x7ff8000000000000\"", NULL},
    {"\"float32\"", "\"nan\"", NULL},
    {"\"float32\"", "\"+Infinity\"", NULL},
    {"\"float32\"", "\"1.5\"", NULL},
    {"\"float32\"", "\"\"", NULL},
    {"\"float32\"", "NaN", NULL},
    {"\"float32\"", "-Infinity", NULL},
    {"\"float32\"", "null", NULL},
    {"\"float32\"", "true", NULL},
    {"\"float64\"", "\"0x7ff8000000000001\"", "010000000000f87f"},
    {"\"float16\"", "1.00048828125000000000001", "013c"},
    {"\"bfloat16\"", "\"NaN\"", "c07f"},
    {"\"float8_e4m3\"", "\"NaN\"", "7c"},
    {"\"float8_e4m3fnuz\"", "\"NaN\"", "80"},
    {"\"float8_e4m3fnuz\"", "\"Infinity\"", NULL},
    {"\"float8_e8m0fnu\"", "\"0x7f\"", "7f"},
    {"\"float8_e8m0fnu\"", "0", NULL},
    {"\"float4_e2m1fn\"", "-6", "0f"},
    {"\"float4_e2m1fn\"", "\"0x1f\"", NULL},
    {"\"float4_e2m1fn\"", "\"NaN\"", NULL},

    {"\"complex64\"", "[1.5, \"NaN\"]", "0000c03f0000c07f"},
    {"\"complex_float32\"", "[\"0x7fc00001\", -0.0]", "0100c07f00000080"},
    {"\"complex64\"", "[1, 2, 3]", NULL},
    {"\"complex64\"", "1.0", NULL},
    {"\"complex_float8_e5m2\"", "[1, -1]", "3cbc"},

    {"\"r24\"", "[1, 2, 255]", "0102ff"},
    {"\"r24\"", "\"AQL/\"", "0102ff"},
    {"\"r24\"", "[1, 2]", NULL},
    {"\"r24\"", "[1, 2, 3, 4]", NULL},
    {"\"r24\"", "[1, 2, 256]", NULL},
    {"\"r24\"", "0", NULL},
    {RAW_3, "\"AQL/\"", "0102ff"},
    {RAW_3, "\"AQI=\"", "010200"},
    {RAW_3, "[1, 2, 3]", "010203"},
    {NTB_4, "\"YWI=\"", "61620000"},
    {NTB_4, "\"\"", "00000000"},
    {NTB_4, "\"YWJjZGU=\"", NULL},
    {NTB_4, "\"ab\"", NULL},
    {UTF32_8, "\"\\u00e9\\ud834\\udd1e\"", "e90000001ed10100"},
    {UTF32_8, "\"a\"", "6100000000000000"},
    {UTF32_8, "\"abc\"", NULL},
    {UTF32_8, "\"\\ud800\"", NULL},
    {UTF32_8, "0", NULL},

    {SECONDS, "\"NaT\"", "0000000000000080"},
    {SECONDS, "-5", "fbffffffffffffff"},
    {SECONDS, "1.5", NULL},
    {SECONDS, "\"1970-01-01\"", NULL},

    {RECORD, "{\"a\": -3, \"b\": \"0x7fc00001\"}", "fdff0100c07f"},
    {RECORD, "{\"b\": 1.5, \"a\": 1}", "01000000c03f"},
    {RECORD, "{\"a\": 1}", NULL},
    {RECORD, "{\"a\": 1, \"b\": 0, \"c\": 0}", NULL},
    {RECORD, "{\"a\": 1, \"b\": \"x\"}", NULL},
    {RECORD, "[1, 2]", NULL},
    {RECORD, "\"AAAAAAAA\"", NULL},
    {OLD_RECORD, "\"AQIF\"", "010201"},
    {OLD_RECORD, "{\"a\": 1, \"b\": true}", "010001"},
    {OLD_RECORD, "\"AQI=\"", NULL},

    {"\"string\"", "\"a\\u0000\\u00e9\"", "6100c3a9"},
    {"\"string\"", "\"\"", ""},
    {"\"string\"", "0", NULL},
    {"\"string\"", "null", NULL},
    {"\"string\"", "\"\\udc00\"", NULL},
    {"\"bytes\"", "\"AAEC\"", "000102"},
    {"\"bytes\"", "[0, 1, 255]", "0001ff"},
    {"\"bytes\"", "[]", ""},
    {"\"bytes\"", "[-1]", NULL},
    {"\"bytes\"", "\"A\"", NULL},
};

static void test_forms(void **state)
{
    (void)state;
    for (size_t i = 0; i < ZLGI_COUNT(cases); i++)
        check_fill(&cases[i], v3_of(cases[i].dtype), zlgi_fill_parse_v3);
}

static void test_messages_say_what_was_found(void **state)
{
    (void)state;
    zlgi_fill fill;
    zlgi_fill_parse_v3(&arena, v3_of("\"uint8\""), json_of("300"), &fill, &error);
    assert_string_equal(
        error.message, "fill value of uint8: found 300, expected an integer from 0 to 255");
    zlgi_fill_parse_v3(&arena, v3_of(RECORD), json_of("{\"a\": 1, \"b\": null}"), &fill,
                       &error);
    assert_non_null(strstr(error.message, "field b: found null, expected a number"));
}

static void test_zero(void **state)
{
    (void)state;
    zlgi_fill fill;
    assert_int_equal(zlgi_fill_zero(&arena, v3_of(RECORD), &fill, &error), ZLG_OK);
    assert_string_equal(hex_of(fill.data, fill.n), "000000000000");
    assert_int_equal(zlgi_fill_zero(&arena, v3_of("\"string\""), &fill, &error), ZLG_OK);
    assert_int_equal(fill.n, 0);
    assert_non_null(fill.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        dtype_test(test_forms),
        dtype_test(test_messages_say_what_was_found),
        dtype_test(test_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
