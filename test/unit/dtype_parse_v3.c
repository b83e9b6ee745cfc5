/* Data types of version 3: all names and aliases, configurations, and their canonical
 * spelling. */
#include "dtype_test.h"

#define STRUCT(fields) "{\"name\":\"struct\",\"configuration\":{\"fields\":[" fields "]}}"
#define TIME(name, unit, scale)                                                            \
    "{\"name\":\"numpy." name "\",\"configuration\":{\"unit\":" unit                       \
    ",\"scale_factor\":" scale "}}"
#define FIXED(name, length)                                                                \
    "{\"name\":\"" name "\",\"configuration\":{\"length_bytes\":" length "}}"

/* `written` NULL: as read. */
static const struct {
    const char *json;
    zlg_type type, part;
    size_t n_bytes;
    const char *written;
} valid[] = {
    {"\"bool\"", ZLG_BOOL, ZLG_BOOL, 1, NULL},
    {"\"uint2\"", ZLG_UINT2, ZLG_UINT2, 1, NULL},
    {"\"int64\"", ZLG_INT64, ZLG_INT64, 8, NULL},
    {"\"float6_e3m2fn\"", ZLG_FLOAT6_E3M2FN, ZLG_FLOAT6_E3M2FN, 1, NULL},
    {"\"bfloat16\"", ZLG_BFLOAT16, ZLG_BFLOAT16, 2, NULL},
    {"{\"name\": \"int32\"}", ZLG_INT32, ZLG_INT32, 4, "\"int32\""},
    {"{\"name\": \"int32\", \"configuration\": {}, \"must_understand\": true}", ZLG_INT32,
     ZLG_INT32, 4, "\"int32\""},
    {"\"complex64\"", ZLG_COMPLEX, ZLG_FLOAT32, 8, NULL},
    {"\"complex_float32\"", ZLG_COMPLEX, ZLG_FLOAT32, 8, "\"complex64\""},
    {"\"complex_float64\"", ZLG_COMPLEX, ZLG_FLOAT64, 16, "\"complex128\""},
    {"\"complex_bfloat16\"", ZLG_COMPLEX, ZLG_BFLOAT16, 4, NULL},
    {"\"complex_float4_e2m1fn\"", ZLG_COMPLEX, ZLG_FLOAT4_E2M1FN, 2, NULL},
    {"\"r16\"", ZLG_RAW, ZLG_RAW, 2, NULL},
    {FIXED("raw_bytes", "3"), ZLG_RAW, ZLG_RAW, 3, NULL},
    {FIXED("null_terminated_bytes", "5"), ZLG_FIXED_BYTES, ZLG_FIXED_BYTES, 5, NULL},
    {FIXED("fixed_length_utf32", "12"), ZLG_FIXED_UTF32, ZLG_FIXED_UTF32, 12, NULL},
    {TIME("datetime64", "\"ns\"", "1"), ZLG_DATETIME64, ZLG_DATETIME64, 8, NULL},
    {TIME("timedelta64", "\"\\u03bcs\"", "10"), ZLG_TIMEDELTA64, ZLG_TIMEDELTA64, 8,
     TIME("timedelta64", "\"us\"", "10")},
    {TIME("datetime64", "\"generic\"", "2147483647"), ZLG_DATETIME64, ZLG_DATETIME64, 8,
     NULL},
    {"\"string\"", ZLG_STRING, ZLG_STRING, 0, NULL},
    {"\"bytes\"", ZLG_BYTES, ZLG_BYTES, 0, NULL},
    {"\"variable_length_bytes\"", ZLG_BYTES, ZLG_BYTES, 0, "\"bytes\""},
    {"\"binary\"", ZLG_BYTES, ZLG_BYTES, 0, "\"bytes\""},
    {STRUCT(
         "{\"name\":\"a\",\"data_type\":\"int16\"},{\"name\":\"b\",\"data_type\":" STRUCT(
             "{\"name\":\"c\",\"data_type\":\"complex64\"}") "}"),
     ZLG_STRUCT, ZLG_STRUCT, 10, NULL},
    {"{\"name\": \"structured\", \"configuration\": {\"fields\": [[\"a\", \"int16\"],"
     " [\"b\", \"r8\"]]}}",
     ZLG_STRUCT, ZLG_STRUCT, 3,
     STRUCT(
         "{\"name\":\"a\",\"data_type\":\"int16\"},{\"name\":\"b\",\"data_type\":\"r8\"}")},
};

static void test_valid(void **state)
{
    (void)state;
    zlgi_buf out;
    zlgi_buf_init(&out, &zlgi_default_alloc);
    for (size_t i = 0; i < ZLGI_COUNT(valid); i++) {
        const zlgi_dtype *dtype = v3_of(valid[i].json);
        if (dtype->type != valid[i].type || dtype->part != valid[i].part ||
            dtype->n_bytes != valid[i].n_bytes || dtype->big_endian)
            fail_msg("%s is %s of %zu bytes", valid[i].json, zlgi_type_name(dtype->type),
                     dtype->n_bytes);
        out.n = 0;
        assert_int_equal(zlgi_dtype_write_v3(dtype, &out, &error), ZLG_OK);
        assert_int_equal(zlgi_buf_append(&out, "", 1, &error), ZLG_OK);
        const char *written = valid[i].written ? valid[i].written : valid[i].json;
        assert_string_equal((const char *)out.data, written);
    }
    zlgi_buf_reset(&out);
}

static const struct {
    const char *json;
    zlg_status status;
} invalid[] = {
    {"\"decimal128\"", ZLG_UNSUPPORTED},
    {"\"float8_e4m3fn\"", ZLG_UNSUPPORTED},
    {"\"complex_int32\"", ZLG_UNSUPPORTED},
    {"\"int32 \"", ZLG_UNSUPPORTED},
    {"\"int32\\u0000\"", ZLG_UNSUPPORTED},
    {"\"\"", ZLG_UNSUPPORTED},
    {"\"r\"", ZLG_UNSUPPORTED},
    {"\"r8x\"", ZLG_UNSUPPORTED},
    {"\"\\ud800\"", ZLG_UNSUPPORTED},
    {"null", ZLG_METADATA},
    {"4", ZLG_METADATA},
    {"[\"int32\"]", ZLG_METADATA},
    {"{}", ZLG_METADATA},
    {"{\"name\": 4}", ZLG_METADATA},
    {"{\"name\": \"int32\", \"extra\": 1}", ZLG_METADATA},
    {"{\"name\": \"int32\", \"configuration\": []}", ZLG_METADATA},
    {"{\"name\": \"int32\", \"configuration\": {\"endian\": \"little\"}}", ZLG_METADATA},
    {"{\"name\": \"int32\", \"must_understand\": false}", ZLG_METADATA},
    {"\"r0\"", ZLG_METADATA},
    {"\"r08\"", ZLG_METADATA},
    {"\"r12\"", ZLG_METADATA},
    {"\"r73786976294838206464\"", ZLG_LIMIT},
    {"\"r1073741824\"", ZLG_LIMIT},
    {FIXED("raw_bytes", "-1"), ZLG_METADATA},
    {FIXED("raw_bytes", "0"), ZLG_METADATA},
    {FIXED("raw_bytes", "3.0"), ZLG_METADATA},
    {FIXED("raw_bytes", "\"3\""), ZLG_METADATA},
    {FIXED("raw_bytes", "16777217"), ZLG_LIMIT},
    {FIXED("fixed_length_utf32", "6"), ZLG_METADATA},
    {FIXED("fixed_length_utf32", "4611686018427387904"), ZLG_LIMIT},
    {FIXED("fixed_length_utf32", "4,\"x\":1"), ZLG_METADATA},
    {"\"fixed_length_utf32\"", ZLG_METADATA},
    {"\"numpy.datetime64\"", ZLG_METADATA},
    {TIME("datetime64", "\"s\"", "0"), ZLG_METADATA},
    {TIME("datetime64", "\"s\"", "2147483648"), ZLG_METADATA},
    {TIME("datetime64", "\"s\"", "1.0"), ZLG_METADATA},
    {TIME("datetime64", "\"fortnight\"", "1"), ZLG_METADATA},
    {TIME("datetime64", "1", "1"), ZLG_METADATA},
    {TIME("datetime64", "\"s\"", "1,\"x\":1"), ZLG_METADATA},
    {"\"struct\"", ZLG_METADATA},
    {STRUCT(""), ZLG_METADATA},
    {"{\"name\": \"struct\", \"configuration\": {\"fields\": {}}}", ZLG_METADATA},
    {STRUCT("{\"name\":\"a\"}"), ZLG_METADATA},
    {STRUCT("{\"name\":\"\",\"data_type\":\"int8\"}"), ZLG_METADATA},
    {STRUCT("{\"name\":\"a\",\"data_type\":\"int8\",\"x\":1}"), ZLG_METADATA},
    {STRUCT("[\"a\",\"int8\"],[\"a\",\"int8\"]"), ZLG_METADATA},
    {STRUCT("[\"a\",\"string\"]"), ZLG_METADATA},
    {STRUCT("[\"a\",\"quaternion\"]"), ZLG_UNSUPPORTED},
};

static void test_invalid(void **state)
{
    (void)state;
    for (size_t i = 0; i < ZLGI_COUNT(invalid); i++) {
        const zlgi_dtype *dtype;
        error = (zlg_error){0};
        zlg_status status =
            zlgi_dtype_parse_v3(&arena, json_of(invalid[i].json), &dtype, &error);
        if (status != invalid[i].status || error.status != status)
            fail_msg("%s: status %d, %s", invalid[i].json, status, error.message);
    }
}

static void test_fields_lie_one_after_the_other(void **state)
{
    (void)state;
    const zlgi_dtype *dtype =
        v3_of(STRUCT("[\"a\",\"int8\"],[\"b\",\"float64\"],[\"\\u00e9\","
                     "\"int16\"]"));
    assert_int_equal(dtype->n_fields, 3);
    assert_int_equal(dtype->fields[1].offset, 1);
    assert_int_equal(dtype->fields[2].offset, 9);
    assert_int_equal(dtype->fields[2].rank, 0);
    assert_int_equal(dtype->fields[2].n_items, 1);
    assert_string_equal(dtype->fields[2].name, "\xc3\xa9");
    assert_int_equal(dtype->fields[2].n_name, 2);
}

static void test_times_keep_unit_and_scale(void **state)
{
    (void)state;
    const zlgi_dtype *dtype = v3_of(TIME("timedelta64", "\"\\u03bcs\"", "25"));
    assert_string_equal(dtype->unit, "us");
    assert_int_equal(dtype->scale, 25);
}

/* What version 2 has and version 3 has no words for. */
static void test_types_that_are_not_written(void **state)
{
    (void)state;
    static const char *const types[] = {
        "\"|S0\"",
        "[[\"a\", \"<i2\", [2]]]",
        "[[\"a\", \"<i2\"], [\"\", \"|V2\"]]",
    };
    zlgi_buf out;
    zlgi_buf_init(&out, &zlgi_default_alloc);
    for (size_t i = 0; i < ZLGI_COUNT(types); i++)
        assert_int_equal(zlgi_dtype_write_v3(v2_of(types[i]), &out, &error),
                         ZLG_UNSUPPORTED);
    zlgi_buf_reset(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        dtype_test(test_valid),
        dtype_test(test_invalid),
        dtype_test(test_fields_lie_one_after_the_other),
        dtype_test(test_times_keep_unit_and_scale),
        dtype_test(test_types_that_are_not_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
