/* A .zarray: what is read, what is forgiven, what is refused. */
#include "meta_test.h"

static zlg_status read_array(const char *name, const char *value, zlgi_array_meta *out)
{
    return zlgi_meta_array_v2(&arena, document(V2_ARRAY, name, value), NULL, &LIMITS, out,
                              &error);
}

static void test_an_array(void **state)
{
    (void)state;
    zlgi_array_meta array;
    const zlgi_json *zattrs = parse("{\"a\": Infinity}");
    assert_int_equal(zlgi_meta_array_v2(&arena, document(V2_ARRAY, "order", "\"F\""),
                                        zattrs, &LIMITS, &array, &error),
                     ZLG_OK);
    assert_int_equal(array.zarr_format, 2);
    assert_int_equal(array.rank, 2);
    assert_int_equal(array.shape[1], 7);
    assert_int_equal(array.grid.axis[0].chunk, 4);
    assert_int_equal(array.dtype->type, ZLG_INT32);
    assert_int_equal(array.fill.n, 4);
    assert_true(array.order_f);
    assert_null(array.filters);
    assert_null(array.compressor);
    assert_int_equal(array.key_encoding.style, ZLGI_KEY_V2);
    assert_int_equal(array.key_encoding.separator, '.');
    assert_ptr_equal(array.attributes, zattrs);
}

static void test_forgiven(void **state)
{
    (void)state;
    zlgi_array_meta array;
    assert_int_equal(read_array("filters", "[]", &array), ZLG_OK);
    assert_null(array.filters);
    assert_int_equal(read_array("node_type", "\"array\"", &array), ZLG_OK);
    assert_int_equal(read_array("fill_value", "null", &array), ZLG_OK);
    assert_int_equal(array.fill.n, 4);
    assert_false(array.order_f);
}

static void test_codecs_and_separator(void **state)
{
    (void)state;
    zlgi_array_meta array;
    assert_int_equal(
        read_array("filters", "[{\"id\": \"delta\", \"dtype\": \"<i4\"}]", &array), ZLG_OK);
    assert_int_equal(array.filters->n_items, 1);
    assert_int_equal(read_array("compressor", "{\"id\": \"zlib\", \"level\": 1}", &array),
                     ZLG_OK);
    assert_true(zlgi_json_is(zlgi_json_get(array.compressor, "id"), "zlib"));
    assert_int_equal(read_array("dimension_separator", "\"/\"", &array), ZLG_OK);
    assert_int_equal(array.key_encoding.separator, '/');
}

#define OBJECTS(filters, compressor)                                                       \
    "{\"zarr_format\": 2, \"shape\": [3], \"chunks\": [3], \"dtype\": \"|O\", "            \
    "\"fill_value\": null, \"order\": \"C\", \"filters\": " filters                        \
    ", \"compressor\": " compressor "}"

static zlg_status read_objects(const char *text, zlgi_array_meta *out)
{
    return zlgi_meta_array_v2(&arena, parse(text), NULL, &LIMITS, out, &error);
}

static void test_the_object_codec_makes_the_type(void **state)
{
    (void)state;
    zlgi_array_meta array;
    assert_int_equal(
        read_objects(OBJECTS("[{\"id\": \"vlen-utf8\"}]", "{\"id\": \"zlib\"}"), &array),
        ZLG_OK);
    assert_int_equal(array.dtype->type, ZLG_STRING);
    assert_int_equal(array.fill.n, 0);
    assert_int_equal(read_objects(OBJECTS("null", "{\"id\": \"vlen-bytes\"}"), &array),
                     ZLG_OK);
    assert_int_equal(array.dtype->type, ZLG_BYTES);
    check_refused(read_objects(OBJECTS("null", "null"), &array), ZLG_METADATA,
                  "dtype \"|O\" needs an object codec");
    check_refused(read_objects(OBJECTS("[{\"id\": \"pickle\"}]", "null"), &array),
                  ZLG_UNSUPPORTED, "dtype \"|O\": ");
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name, *value;
        zlg_status status;
        const char *words;
    } cases[] = {
        {"zarr_format", "3", ZLG_METADATA, "zarr_format is 3, expected 2"},
        {"zarr_format", "1", ZLG_UNSUPPORTED, "Zarr version 1"},
        {"zarr_format", NULL, ZLG_METADATA, "zarr_format is missing"},
        {"shape", NULL, ZLG_METADATA, "shape is missing"},
        {"shape", "[10, 7.5]", ZLG_METADATA, "shape[1] is 7.5"},
        {"shape", "[10, -7]", ZLG_METADATA, "shape[1] is -7"},
        {"chunks", NULL, ZLG_METADATA, "chunks is missing"},
        {"chunks", "[4]", ZLG_METADATA, "chunks has 1 lengths, the array has 2 axes"},
        {"chunks", "[4, 0]", ZLG_METADATA, "chunks[1] is 0"},
        {"chunks", "[4, -7]", ZLG_METADATA, "chunks[1] is -7"},
        {"chunks", "true", ZLG_METADATA, "chunks is true"},
        {"dtype", NULL, ZLG_METADATA, "dtype is missing"},
        {"dtype", "\"<q9\"", ZLG_METADATA, "\"<q9\""},
        {"compressor", NULL, ZLG_METADATA, "compressor is missing"},
        {"compressor", "\"zlib\"", ZLG_METADATA, "compressor is \"zlib\""},
        {"compressor", "{\"level\": 1}", ZLG_METADATA, "compressor: id is missing"},
        {"filters", NULL, ZLG_METADATA, "filters is missing"},
        {"filters", "{\"id\": \"delta\"}", ZLG_METADATA, "filters is an object"},
        {"filters", "[{\"id\": \"delta\"}, null]", ZLG_METADATA, "filters[1] is null"},
        {"filters", "[{\"id\": 1}]", ZLG_METADATA, "filters[0]: id is 1"},
        {"fill_value", NULL, ZLG_METADATA, "fill_value is missing"},
        {"fill_value", "\"word\"", ZLG_METADATA, "\"word\""},
        {"order", NULL, ZLG_METADATA, "order is missing"},
        {"order", "\"K\"", ZLG_METADATA, "order is \"K\""},
        {"dimension_separator", "\"-\"", ZLG_METADATA, "dimension_separator is \"-\""},
        {"dimension_separator", "null", ZLG_METADATA, "dimension_separator is null"},
    };
    zlgi_array_meta array;
    for (size_t i = 0; i < ZLGI_COUNT(cases); i++)
        check_refused(read_array(cases[i].name, cases[i].value, &array), cases[i].status,
                      cases[i].words);
    check_refused(zlgi_meta_array_v2(&arena, document(V2_ARRAY, NULL, NULL), parse("[1]"),
                                     &LIMITS, &array, &error),
                  ZLG_METADATA, "attributes is a list");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        meta_test(test_an_array),
        meta_test(test_forgiven),
        meta_test(test_codecs_and_separator),
        meta_test(test_the_object_codec_makes_the_type),
        meta_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
