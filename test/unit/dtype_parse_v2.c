/* Dtypes of version 2: type strings, records, object codecs, and the type strings of codec
 * configurations. */
#include "dtype_test.h"

static const struct {
    const char *json;
    zlg_type type, part;
    size_t n_bytes;
    bool big_endian;
    const char *v3_name;
} valid[] = {
    {"\"|b1\"", ZLG_BOOL, ZLG_BOOL, 1, false, "bool"},
    {"\"<b1\"", ZLG_BOOL, ZLG_BOOL, 1, false, "bool"},
    {"\">u1\"", ZLG_UINT8, ZLG_UINT8, 1, false, "uint8"},
    {"\"<i4\"", ZLG_INT32, ZLG_INT32, 4, false, "int32"},
    {"\">i8\"", ZLG_INT64, ZLG_INT64, 8, true, "int64"},
    {"\">f2\"", ZLG_FLOAT16, ZLG_FLOAT16, 2, true, "float16"},
    {"\"<c8\"", ZLG_COMPLEX, ZLG_FLOAT32, 8, false, "complex64"},
    {"\">c16\"", ZLG_COMPLEX, ZLG_FLOAT64, 16, true, "complex128"},
    {"\"|S4\"", ZLG_FIXED_BYTES, ZLG_FIXED_BYTES, 4, false, "null_terminated_bytes"},
    {"\"|S0\"", ZLG_FIXED_BYTES, ZLG_FIXED_BYTES, 0, false, "null_terminated_bytes"},
    {"\">U3\"", ZLG_FIXED_UTF32, ZLG_FIXED_UTF32, 12, true, "fixed_length_utf32"},
    {"\"|U0\"", ZLG_FIXED_UTF32, ZLG_FIXED_UTF32, 0, false, "fixed_length_utf32"},
    {"\"|V8\"", ZLG_RAW, ZLG_RAW, 8, false, "raw_bytes"},
    {"\"|V0\"", ZLG_RAW, ZLG_RAW, 0, false, "raw_bytes"},
    {"\"<M8[ns]\"", ZLG_DATETIME64, ZLG_DATETIME64, 8, false, "numpy.datetime64"},
    {"\">m8[10us]\"", ZLG_TIMEDELTA64, ZLG_TIMEDELTA64, 8, true, "numpy.timedelta64"},
    {"\"<M8\"", ZLG_DATETIME64, ZLG_DATETIME64, 8, false, "numpy.datetime64"},
    {"\"bfloat16\"", ZLG_BFLOAT16, ZLG_BFLOAT16, 2, false, "bfloat16"},
    {"\"int4\"", ZLG_INT4, ZLG_INT4, 1, false, "int4"},
    {"\"float8_e5m2\"", ZLG_FLOAT8_E5M2, ZLG_FLOAT8_E5M2, 1, false, "float8_e5m2"},
};

static void test_valid(void **state)
{
    (void)state;
    for (size_t i = 0; i < ZLGI_COUNT(valid); i++) {
        const zlgi_dtype *dtype = v2_of(valid[i].json);
        if (dtype->type != valid[i].type || dtype->part != valid[i].part ||
            dtype->n_bytes != valid[i].n_bytes || dtype->big_endian != valid[i].big_endian)
            fail_msg("%s is %s of %zu bytes", valid[i].json, zlgi_type_name(dtype->type),
                     dtype->n_bytes);
        assert_string_equal(dtype->v3_name, valid[i].v3_name);
    }
}

static void test_units(void **state)
{
    (void)state;
    assert_string_equal(v2_of("\"<M8\"")->unit, "generic");
    assert_int_equal(v2_of("\"<M8\"")->scale, 1);
    assert_string_equal(v2_of("\"<m8[10us]\"")->unit, "us");
    assert_int_equal(v2_of("\"<m8[10us]\"")->scale, 10);
    assert_null(v2_of("\"<f4\"")->unit);
}

static const struct {
    const char *json;
    zlg_status status;
} invalid[] = {
    {"\"\"", ZLG_METADATA},
    {"\"<\"", ZLG_METADATA},
    {"\"f4\"", ZLG_METADATA},
    {"\"=i4\"", ZLG_METADATA},
    {"\"|i4\"", ZLG_METADATA},
    {"\"|c8\"", ZLG_METADATA},
    {"\"|U3\"", ZLG_METADATA},
    {"\"|M8[s]\"", ZLG_METADATA},
    {"\"<i3\"", ZLG_METADATA},
    {"\"<f5\"", ZLG_METADATA},
    {"\"<c4\"", ZLG_METADATA},
    {"\"|b2\"", ZLG_METADATA},
    {"\"<q9\"", ZLG_METADATA},
    {"\"|S\"", ZLG_METADATA},
    {"\"|S-3\"", ZLG_METADATA},
    {"\"|O8\"", ZLG_METADATA},
    {"\"<f4 \"", ZLG_METADATA},
    {"\"<f4[s]\"", ZLG_METADATA},
    {"\"<M8[]\"", ZLG_METADATA},
    {"\"<M8[0s]\"", ZLG_METADATA},
    {"\"<M8[2147483648s]\"", ZLG_METADATA},
    {"\"<M8[parsec]\"", ZLG_METADATA},
    {"\"<M8[s\"", ZLG_METADATA},
    {"\"<M4[s]\"", ZLG_METADATA},
    {"\"float32\"", ZLG_METADATA},
    {"\"string\"", ZLG_METADATA},
    {"\"<f16\"", ZLG_UNSUPPORTED},
    {"\"<c32\"", ZLG_UNSUPPORTED},
    {"\"|S16777217\"", ZLG_LIMIT},
    {"\"|S4294967296\"", ZLG_LIMIT},
    {"\"<U4611686018427387904\"", ZLG_LIMIT},
    {"\"|S99999999999999999999\"", ZLG_LIMIT},
    {"null", ZLG_METADATA},
    {"4", ZLG_METADATA},
    {"{\"name\": \"<f4\"}", ZLG_METADATA},
    {"[]", ZLG_METADATA},
    {"[\"<f4\"]", ZLG_METADATA},
    {"[[\"a\"]]", ZLG_METADATA},
    {"[[\"a\", \"<i4\", [1], 2]]", ZLG_METADATA},
    {"[[1, \"<i4\"]]", ZLG_METADATA},
    {"[[\"a\\u0000b\", \"<i4\"]]", ZLG_METADATA},
    {"[[\"\", \"<i4\"]]", ZLG_METADATA},
    {"[[\"a\", \"<i4\"], [\"b\", \"<i4\"], [\"a\", \"<i4\"]]", ZLG_METADATA},
    {"[[\"a\", \"<i4\", 2]]", ZLG_METADATA},
    {"[[\"a\", \"<i4\", [-1]]]", ZLG_METADATA},
    {"[[\"a\", \"<i4\", [1.0]]]", ZLG_METADATA},
    {"[[\"a\", \"|O\"]]", ZLG_UNSUPPORTED},
    {"[[\"a\", \"|V0\", [1000000000]]]", ZLG_UNSUPPORTED},
    {"[[\"a\", \"<i4\", [2147483648, 2147483648, 2147483648]]]", ZLG_LIMIT},
    {"[[\"a\", \"<i4\", [4611686018427387904]]]", ZLG_LIMIT},
    {"[[\"a\", \"|S9000000\"], [\"b\", \"|S9000000\"]]", ZLG_LIMIT},
    {"[[\"a\", \"|u1\", "
     "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]]]",
     ZLG_LIMIT},
};

static void test_invalid(void **state)
{
    (void)state;
    for (size_t i = 0; i < ZLGI_COUNT(invalid); i++) {
        const zlgi_dtype *dtype;
        bool is_object;
        error = (zlg_error){0};
        zlg_status status = zlgi_dtype_parse_v2(&arena, json_of(invalid[i].json), 64,
                                                &dtype, &is_object, &error);
        if (status != invalid[i].status || error.status != status)
            fail_msg("%s: status %d, %s", invalid[i].json, status, error.message);
    }
}

static void test_records(void **state)
{
    (void)state;
    const zlgi_dtype *dtype =
        v2_of("[[\"a\", \"|u1\"], [\"\", \"|V3\"], [\"m\", \">i4\", [2, 3]],"
              " [\"\", \"|V1\"], [\"n\", [[\"x\", \"<i2\"], [\"y\", \">c8\"]]]]");
    assert_int_equal(dtype->type, ZLG_STRUCT);
    assert_int_equal(dtype->n_bytes, 1 + 3 + 24 + 1 + 10);
    assert_int_equal(dtype->n_fields, 5);
    const zlgi_field *m = &dtype->fields[2];
    assert_string_equal(m->name, "m");
    assert_int_equal(m->offset, 4);
    assert_int_equal(m->rank, 2);
    assert_int_equal(m->shape[1], 3);
    assert_int_equal(m->n_items, 6);
    assert_int_equal(m->dtype->n_bytes, 4);
    assert_true(m->dtype->big_endian);
    const zlgi_dtype *nested = dtype->fields[4].dtype;
    assert_int_equal(nested->n_fields, 2);
    assert_int_equal(nested->fields[1].offset, 2);
    assert_false(nested->fields[0].dtype->big_endian);
    assert_true(nested->fields[1].dtype->big_endian);
}

static void test_depth(void **state)
{
    (void)state;
    const zlgi_json *json = json_of("[[\"a\", [[\"b\", [[\"c\", \"|u1\"]]]]]]");
    const zlgi_dtype *dtype;
    bool is_object;
    assert_int_equal(zlgi_dtype_parse_v2(&arena, json, 3, &dtype, &is_object, &error),
                     ZLG_OK);
    assert_int_equal(zlgi_dtype_parse_v2(&arena, json, 2, &dtype, &is_object, &error),
                     ZLG_LIMIT);
}

/* Brothers do not count as nested, and the number of fields has an end. */
static void test_number_of_fields(void **state)
{
    (void)state;
    zlgi_buf text;
    zlgi_buf_init(&text, &zlgi_default_alloc);
    for (int n = 16384; n <= 16385; n++) {
        text.n = 0;
        for (int i = 0; i < n; i++)
            zlgi_buf_printf(&text, NULL, "%c[\"f%d\", \"|u1\"]", i == 0 ? '[' : ',', i);
        zlgi_buf_printf(&text, NULL, "]");
        const zlgi_json *json;
        assert_int_equal(
            zlgi_json_parse(&arena, (const char *)text.data, text.n, 64, &json, &error),
            ZLG_OK);
        const zlgi_dtype *dtype;
        bool is_object;
        zlg_status status =
            zlgi_dtype_parse_v2(&arena, json, 64, &dtype, &is_object, &error);
        assert_int_equal(status, n == 16384 ? ZLG_OK : ZLG_LIMIT);
    }
    zlgi_buf_reset(&text);
}

static void test_objects(void **state)
{
    (void)state;
    const zlgi_dtype *dtype;
    bool is_object = false;
    assert_int_equal(
        zlgi_dtype_parse_v2(&arena, json_of("\"|O\""), 64, &dtype, &is_object, &error),
        ZLG_OK);
    assert_true(is_object);

    static const char *const text_codecs[] = {"vlen-utf8", "json2", "msgpack2",
                                              "categorize"};
    for (size_t i = 0; i < ZLGI_COUNT(text_codecs); i++) {
        assert_int_equal(zlgi_dtype_object(&arena, text_codecs[i], NULL, &dtype, &error),
                         ZLG_OK);
        assert_int_equal(dtype->type, ZLG_STRING);
    }
    assert_int_equal(zlgi_dtype_object(&arena, "vlen-bytes", NULL, &dtype, &error), ZLG_OK);
    assert_int_equal(dtype->type, ZLG_BYTES);
    assert_int_equal(zlgi_dtype_object(&arena, "vlen-array",
                                       json_of("{\"dtype\": \">i4\"}"), &dtype, &error),
                     ZLG_OK);
    assert_int_equal(dtype->type, ZLG_VLEN_ARRAY);
    assert_int_equal(dtype->part, ZLG_INT32);
    assert_int_equal(dtype->n_bytes, 0);
    assert_true(dtype->big_endian);
    assert_true(zlgi_dtype_is_varlen(dtype));

    assert_int_equal(zlgi_dtype_object(&arena, "pickle", NULL, &dtype, &error),
                     ZLG_UNSUPPORTED);
    assert_int_equal(zlgi_dtype_object(&arena, "vlen-array", NULL, &dtype, &error),
                     ZLG_METADATA);
    assert_int_equal(zlgi_dtype_object(&arena, "vlen-array",
                                       json_of("{\"dtype\": \"|S4\"}"), &dtype, &error),
                     ZLG_UNSUPPORTED);
}

static void test_type_strings_of_codecs(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        zlg_type type;
        bool big_endian;
    } texts[] = {
        {"<f8", ZLG_FLOAT64, false},        {">i4", ZLG_INT32, true},
        {"|u1", ZLG_UINT8, false},          {"f4", ZLG_FLOAT32, false},
        {"int16", ZLG_INT16, false},        {"bool", ZLG_BOOL, false},
        {"complex128", ZLG_COMPLEX, false},
    };
    const zlgi_dtype *dtype;
    for (size_t i = 0; i < ZLGI_COUNT(texts); i++) {
        assert_int_equal(zlgi_dtype_parse_numpy(&arena, texts[i].text, &dtype, &error),
                         ZLG_OK);
        assert_int_equal(dtype->type, texts[i].type);
        assert_int_equal(dtype->big_endian, texts[i].big_endian);
    }
    assert_int_equal(zlgi_dtype_parse_numpy(&arena, "|O", &dtype, &error), ZLG_METADATA);
    assert_int_equal(zlgi_dtype_parse_numpy(&arena, "string", &dtype, &error),
                     ZLG_METADATA);
    assert_int_equal(zlgi_dtype_parse_numpy(&arena, "", &dtype, &error), ZLG_METADATA);
    assert_int_equal(zlgi_dtype_parse_numpy(&arena, "<f16", &dtype, &error),
                     ZLG_UNSUPPORTED);
}

/* Whatever allocation fails, the answer says so and nothing leaks. */
static void test_no_memory(void **state)
{
    (void)state;
    const zlgi_json *json = json_of("[[\"a\", \">i2\"], [\"b\", \"|S6000\", [2]]]");
    const zlgi_json *value = json_of("null");
    test_heap heap;
    zlg_status status = ZLG_NO_MEMORY;
    size_t n_tries = 0;
    for (size_t fail_at = 1; status != ZLG_OK; fail_at++) {
        test_heap_init(&heap);
        heap.fail_at = fail_at;
        zlgi_arena scarce;
        zlgi_arena_init(&scarce, &heap.alloc);
        const zlgi_dtype *dtype;
        bool is_object;
        zlgi_fill fill;
        zlgi_swap swap;
        status = zlgi_dtype_parse_v2(&scarce, json, 64, &dtype, &is_object, &error);
        if (status == ZLG_OK)
            status = zlgi_fill_parse_v2(&scarce, dtype, value, &fill, &error);
        if (status == ZLG_OK)
            status = zlgi_swap_make(&scarce, dtype, true, false, &swap, &error);
        assert_true(status == ZLG_OK || status == ZLG_NO_MEMORY);
        zlgi_arena_reset(&scarce);
        assert_int_equal(heap.n_blocks, 0);
        n_tries++;
    }
    assert_true(n_tries > 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        dtype_test(test_valid),     dtype_test(test_units),
        dtype_test(test_invalid),   dtype_test(test_records),
        dtype_test(test_depth),     dtype_test(test_number_of_fields),
        dtype_test(test_objects),   dtype_test(test_type_strings_of_codecs),
        dtype_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
