/* Elements as text: for people, as fill values of version 3 and 2, and back. */
#include "dtype_test.h"

#include "dtype/internal.h"

#define UTF32_12                                                                           \
    "{\"name\": \"fixed_length_utf32\", \"configuration\": {\"length_bytes\": 12}}"
#define RAW_3 "{\"name\": \"raw_bytes\", \"configuration\": {\"length_bytes\": 3}}"

typedef zlg_status (*write_fn)(const zlgi_dtype *dtype, const uint8_t *element, size_t n,
                               zlgi_buf *out, zlg_error *err);

/* Text in the arena; NULL when it is refused as ZLG_UNSUPPORTED. */
static const char *text_of(write_fn write, const zlgi_dtype *dtype, const uint8_t *element,
                           size_t n)
{
    zlgi_buf out;
    zlgi_buf_init(&out, &zlgi_default_alloc);
    zlg_status status = write(dtype, element, n, &out, &error);
    const char *text = NULL;
    if (status == ZLG_OK)
        text = zlgi_arena_text(&arena, (const char *)out.data, out.n);
    else
        assert_int_equal(status, ZLG_UNSUPPORTED);
    zlgi_buf_reset(&out);
    return text;
}

/* `shown` NULL: as in version 3; `v2` NULL: not compared. */
static const struct {
    const char *dtype, *hex, *v3, *shown, *v2;
} cases[] = {
    {"\"bool\"", "01", "true", NULL, "true"},
    {"\"int4\"", "f8", "-8", NULL, NULL},
    {"\"uint64\"", "ffffffffffffffff", "18446744073709551615", NULL,
     "18446744073709551615"},
    {"\"int64\"", "0000000000000080", "-9223372036854775808", NULL, NULL},
    {"\"float64\"", "9a9999999999b93f", "0.1", NULL, "0.1"},
    {"\"float32\"", "cdcccc3d", "0.1", NULL, "0.1"},
    {"\"float32\"", "00000080", "-0.0", NULL, "-0.0"},
    {"\"float16\"", "662e", "0.1", NULL, "0.1"},
    {"\"float16\"", "ff7b", "65500.0", NULL, NULL},
    {"\"float16\"", "0100", "6e-08", NULL, NULL},
    {"\"bfloat16\"", "cd3d", "0.1", NULL, NULL},
    {"\"float8_e4m3\"", "38", "1.0", NULL, NULL},
    {"\"float4_e2m1fn\"", "0f", "-6.0", NULL, NULL},
    {"\"float32\"", "0000c07f", "\"NaN\"", NULL, "\"NaN\""},
    {"\"float32\"", "0100c07f", "\"0x7fc00001\"", "\"NaN\"", NULL},
    {"\"float16\"", "00fe", "\"0xfe00\"", "\"NaN\"", NULL},
    {"\"float8_e4m3\"", "79", "\"0x79\"", "\"NaN\"", NULL},
    {"\"float64\"", "000000000000f0ff", "\"-Infinity\"", NULL, "\"-Infinity\""},
    {"\"complex64\"", "0000c03f0000c07f", "[1.5,\"NaN\"]", NULL, "[1.5,\"NaN\"]"},
    {"\"r24\"", "0102ff", "[1,2,255]", "\"AQL/\"", NULL},
    {RAW_3, "0102ff", "\"AQL/\"", NULL, "\"AQL/\""},
    {UTF32_12, "e90000001ed1010000000000", "\"\xc3\xa9\xf0\x9d\x84\x9e\"", NULL, NULL},
    {UTF32_12, "000000006100000000000000", "\"\\u0000a\"", NULL, NULL},
    {UTF32_12, "00d800000000000000000000", "\"\\ud800\"", NULL, NULL},
    {UTF32_12, "000000000000000000000000", "\"\"", NULL, "\"\""},
};

static void test_elements(void **state)
{
    (void)state;
    for (size_t i = 0; i < ZLGI_COUNT(cases); i++) {
        const zlgi_dtype *dtype = v3_of(cases[i].dtype);
        const uint8_t *element = bytes_of(cases[i].hex);
        const char *shown = cases[i].shown ? cases[i].shown : cases[i].v3;
        assert_string_equal(text_of(zlgi_fill_write_v3, dtype, element, 0), cases[i].v3);
        assert_string_equal(text_of(zlgi_value_write, dtype, element, 0), shown);
        if (cases[i].v2 != NULL)
            assert_string_equal(text_of(zlgi_fill_write_v2, dtype, element, 0),
                                cases[i].v2);
    }
}

static void test_times(void **state)
{
    (void)state;
    const zlgi_dtype *dtype = v2_of("\"<M8[s]\"");
    const uint8_t *nat = bytes_of("0000000000000080");
    assert_string_equal(text_of(zlgi_value_write, dtype, nat, 8), "\"NaT\"");
    assert_string_equal(text_of(zlgi_fill_write_v3, dtype, nat, 8), "\"NaT\"");
    assert_string_equal(text_of(zlgi_fill_write_v2, dtype, nat, 8), "-9223372036854775808");
    const uint8_t *minus_one = bytes_of("ffffffffffffffff");
    assert_string_equal(text_of(zlgi_value_write, dtype, minus_one, 8), "-1");
}

static void test_byte_strings_end_before_their_padding(void **state)
{
    (void)state;
    const zlgi_dtype *dtype = v2_of("\"|S4\"");
    assert_string_equal(text_of(zlgi_value_write, dtype, bytes_of("61006200"), 4),
                        "\"YQBi\"");
    assert_string_equal(text_of(zlgi_fill_write_v2, dtype, bytes_of("00000000"), 4),
                        "\"\"");
    assert_string_equal(text_of(zlgi_fill_write_v2, v2_of("\"|V2\""), bytes_of("0000"), 2),
                        "\"AAA=\"");
}

static void test_records(void **state)
{
    (void)state;
    const zlgi_dtype *dtype = v2_of("[[\"a\", \">i2\"], [\"b\", \"|u1\", [2, 2]],"
                                    " [\"n\", [[\"x\", \"|b1\"]]]]");
    const uint8_t *element = bytes_of("03000102030401");
    assert_string_equal(text_of(zlgi_value_write, dtype, element, 7),
                        "[3,[[1,2],[3,4]],[true]]");
    /* As stored: the first field is big-endian. */
    assert_string_equal(text_of(zlgi_fill_write_v2, dtype, element, 7), "\"AAMBAgMEAQ==\"");
    assert_null(text_of(zlgi_fill_write_v3, dtype, element, 7));

    const zlgi_dtype *plain = v2_of("[[\"a\", \">i2\"], [\"n\", [[\"x\", \"|b1\"]]]]");
    assert_string_equal(text_of(zlgi_fill_write_v3, plain, bytes_of("030000"), 3),
                        "{\"a\":3,\"n\":{\"x\":false}}");
    const zlgi_dtype *padded = v2_of("[[\"a\", \"|u1\"], [\"\", \"|V1\"]]");
    assert_null(text_of(zlgi_fill_write_v3, padded, bytes_of("0100"), 2));
}

static void test_variable_length(void **state)
{
    (void)state;
    const zlgi_dtype *array;
    assert_int_equal(zlgi_dtype_object(&arena, "vlen-array",
                                       json_of("{\"dtype\": \"<i2\"}"), &array, &error),
                     ZLG_OK);
    const zlgi_dtype *string = zlgi_dtype_plain(ZLG_STRING);
    const zlgi_dtype *bytes = zlgi_dtype_plain(ZLG_BYTES);
    const uint8_t *data = bytes_of("61220a00");
    assert_string_equal(text_of(zlgi_fill_write_v3, string, data, 3), "\"a\\\"\\n\"");
    assert_string_equal(text_of(zlgi_value_write, string, NULL, 0), "\"\"");
    assert_string_equal(text_of(zlgi_value_write, bytes, data, 4), "\"YSIKAA==\"");
    assert_string_equal(text_of(zlgi_value_write, array, data, 4), "[8801,10]");
    assert_string_equal(text_of(zlgi_value_write, array, NULL, 0), "[]");
    assert_string_equal(text_of(zlgi_fill_write_v2, array, NULL, 0), "null");
    assert_null(text_of(zlgi_fill_write_v2, array, data, 4));
    assert_null(text_of(zlgi_fill_write_v3, array, data, 4));
}

/* Nothing is written that would read back as another value. */
static void test_nan_with_payload_in_version_2(void **state)
{
    (void)state;
    const zlgi_dtype *dtype = v2_of("\"<f4\"");
    assert_null(text_of(zlgi_fill_write_v2, dtype, bytes_of("0100c07f"), 4));
}

static void test_code_points_beyond_unicode(void **state)
{
    (void)state;
    zlgi_buf out;
    zlgi_buf_init(&out, &zlgi_default_alloc);
    assert_int_equal(
        zlgi_value_write(v2_of("\"<U1\""), bytes_of("00001100"), 4, &out, &error),
        ZLG_CORRUPT);
    zlgi_buf_reset(&out);
}

/* Random bits of every plain type, NaNs and all, come back from their text unchanged. */
static void test_round_trip(void **state)
{
    (void)state;
    uint64_t seed = 2026;
    for (int type = ZLG_BOOL; type <= ZLG_FLOAT64; type++) {
        const zlgi_dtype *dtype = zlgi_dtype_plain((zlg_type)type);
        for (int i = 0; i < 2000; i++) {
            uint8_t element[8];
            zlgi_number_set_bits((zlg_type)type, test_random(&seed) >> 7, element);
            if (i % 2 == 0)
                zlgi_number_set_bits((zlg_type)type, test_random(&seed), element);
            zlgi_dtype_normalize(dtype, element, 1);
            const char *text = text_of(zlgi_fill_write_v3, dtype, element, dtype->n_bytes);
            fill_case again = {dtype->v3_name, text, hex_of(element, dtype->n_bytes)};
            check_fill(&again, dtype, zlgi_fill_parse_v3);
        }
        tear_down(NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        dtype_test(test_elements),
        dtype_test(test_times),
        dtype_test(test_byte_strings_end_before_their_padding),
        dtype_test(test_records),
        dtype_test(test_variable_length),
        dtype_test(test_nan_with_payload_in_version_2),
        dtype_test(test_code_points_beyond_unicode),
        dtype_test(test_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
