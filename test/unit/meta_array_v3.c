/* The zarr.json of an array: what is read, what is forgiven, what is refused. */
#include "meta_test.h"

static zlg_status read_array(const char *name, const char *value, zlgi_array_meta *out)
{
    return zlgi_meta_array_v3(&arena, document(V3_ARRAY, name, value), &LIMITS, out,
                              &error);
}

static void test_an_array(void **state)
{
    (void)state;
    zlgi_array_meta array;
    assert_int_equal(read_array(NULL, NULL, &array), ZLG_OK);
    assert_int_equal(array.zarr_format, 3);
    assert_int_equal(array.rank, 2);
    assert_int_equal(array.shape[0], 10);
    assert_int_equal(array.shape[1], 7);
    assert_int_equal(array.grid.axis[0].n_chunks, 3);
    assert_false(array.rectilinear);
    assert_int_equal(array.dtype->type, ZLG_INT32);
    int32_t fill;
    assert_int_equal(array.fill.n, sizeof fill);
    memcpy(&fill, array.fill.data, sizeof fill);
    assert_int_equal(fill, 42);
    assert_int_equal(array.codecs->n_items, 1);
    assert_null(array.attributes);
    assert_null(array.dimension_names[0]);
    assert_non_null(zlgi_json_get(array.document, "shape"));
}

static void test_rank_0(void **state)
{
    (void)state;
    zlgi_array_meta array;
    const zlgi_json *json =
        parse("{\"zarr_format\": 3, \"node_type\": \"array\", \"shape\": [], "
              "\"data_type\": \"int8\","
              " \"chunk_grid\": {\"name\": \"regular\", \"configuration\": "
              "{\"chunk_shape\": []}},"
              " \"chunk_key_encoding\": \"v2\", \"fill_value\": 1, \"codecs\": [\"bytes\"],"
              " \"dimension_names\": []}");
    assert_int_equal(zlgi_meta_array_v3(&arena, json, &LIMITS, &array, &error), ZLG_OK);
    assert_int_equal(array.rank, 0);
    assert_int_equal(array.grid.rank, 0);
}

static void test_the_shape_may_overflow(void **state)
{
    (void)state;
    zlgi_array_meta array;
    assert_int_equal(
        read_array("shape", "[4611686018427387904, 4611686018427387904]", &array), ZLG_OK);
}

static void test_key_encodings(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        zlgi_key_encoding expected;
    } cases[] = {
        {"\"default\"", {ZLGI_KEY_DEFAULT, '/', NULL}},
        {"\"v2\"", {ZLGI_KEY_V2, '.', NULL}},
        {"{\"name\": \"v2\"}", {ZLGI_KEY_V2, '.', NULL}},
        {"{\"name\": \"default\", \"configuration\": {}}", {ZLGI_KEY_DEFAULT, '/', NULL}},
        {"{\"name\": \"default\", \"configuration\": {\"separator\": \".\"}}",
         {ZLGI_KEY_DEFAULT, '.', NULL}},
        {"{\"name\": \"v2\", \"configuration\": {\"separator\": \"/\"}}",
         {ZLGI_KEY_V2, '/', NULL}},
    };
    for (size_t i = 0; i < ZLGI_COUNT(cases); i++) {
        zlgi_array_meta array;
        assert_int_equal(read_array("chunk_key_encoding", cases[i].value, &array), ZLG_OK);
        assert_int_equal(array.key_encoding.style, cases[i].expected.style);
        assert_int_equal(array.key_encoding.separator, cases[i].expected.separator);
    }
}

static void test_dimension_names(void **state)
{
    (void)state;
    zlgi_array_meta array;
    assert_int_equal(read_array("dimension_names", "[null, \"\"]", &array), ZLG_OK);
    assert_null(array.dimension_names[0]);
    assert_string_equal(array.dimension_names[1], "");
    assert_int_equal(read_array("dimension_names", "[\"x\", \"x\"]", &array), ZLG_OK);
    assert_string_equal(array.dimension_names[0], "x");
    assert_int_equal(read_array("dimension_names", "null", &array), ZLG_OK);
    assert_null(array.dimension_names[0]);
}

static void test_attributes(void **state)
{
    (void)state;
    zlgi_array_meta array;
    assert_int_equal(read_array("attributes", "null", &array), ZLG_OK);
    assert_null(array.attributes);
    assert_int_equal(
        read_array("attributes", "{\"b\": NaN, \"a\": 12345678901234567890123}", &array),
        ZLG_OK);
    assert_string_equal(array.attributes->items->name, "b");
    assert_string_equal(zlgi_json_get(array.attributes, "a")->text,
                        "12345678901234567890123");
}

static void test_fields_that_may_be_ignored(void **state)
{
    (void)state;
    zlgi_array_meta array;
    assert_int_equal(read_array("other", "{\"must_understand\": false, \"a\": 1}", &array),
                     ZLG_OK);
    assert_int_equal(read_array("storage_transformers", "[]", &array), ZLG_OK);
    assert_int_equal(read_array("storage_transformers",
                                "[{\"name\": \"other\", \"must_understand\": false}]",
                                &array),
                     ZLG_OK);
}

static const struct {
    const char *name, *value;
    zlg_status status;
    const char *words;
} REFUSED[] = {
    {"other", "1", ZLG_UNSUPPORTED, "field \"other\" is not known"},
    {"other", "{\"name\": \"aes\"}", ZLG_UNSUPPORTED, "\"other\""},
    {"other", "{\"must_understand\": true}", ZLG_UNSUPPORTED, "\"other\""},
    {"other", "{\"must_understand\": \"false\"}", ZLG_UNSUPPORTED, "\"other\""},
    {"chunk_memory_layout", "\"C\"", ZLG_UNSUPPORTED, "early drafts"},
    {"compressor", "null", ZLG_UNSUPPORTED, "early drafts"},
    {"node_type", "\"group\"", ZLG_METADATA, "node_type is \"group\""},
    {"shape", NULL, ZLG_METADATA, "shape is missing"},
    {"shape", "null", ZLG_METADATA, "shape is null"},
    {"shape", "7", ZLG_METADATA, "shape is 7"},
    {"shape", "[10, -7]", ZLG_METADATA, "shape[1] is -7"},
    {"shape", "[10, 7.0]", ZLG_METADATA, "shape[1] is 7.0"},
    {"shape", "[10, \"7\"]", ZLG_METADATA, "shape[1] is \"7\""},
    {"shape", "[true, 7]", ZLG_METADATA, "shape[0] is true"},
    {"shape", "[10, 18446744073709551616]", ZLG_METADATA, "18446744073709551616"},
    {"shape", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]",
     ZLG_LIMIT, "shape has 33 axes"},
    {"shape", "[10, 7, 3]", ZLG_METADATA, "the array has 3 axes"},
    {"data_type", NULL, ZLG_METADATA, "data_type is missing"},
    {"data_type", "null", ZLG_METADATA, "data_type is null"},
    {"data_type", "\"quaternion\"", ZLG_UNSUPPORTED, "quaternion"},
    {"data_type", "{\"name\": \"int32\", \"must_understand\": false}", ZLG_METADATA,
     "must_understand"},
    {"chunk_grid", NULL, ZLG_METADATA, "chunk_grid is missing"},
    {"chunk_key_encoding", NULL, ZLG_METADATA, "chunk_key_encoding is missing"},
    {"chunk_key_encoding", "\"hilbert\"", ZLG_UNSUPPORTED, "\"hilbert\" is not known"},
    {"chunk_key_encoding", "{\"name\": \"v2\", \"configuration\": {\"separator\": \":\"}}",
     ZLG_METADATA, "chunk_key_encoding: separator is \":\""},
    {"chunk_key_encoding", "{\"name\": \"v2\", \"configuration\": {\"separator\": 1}}",
     ZLG_METADATA, "separator is 1"},
    {"chunk_key_encoding", "{\"name\": \"v2\", \"configuration\": {\"order\": 1}}",
     ZLG_METADATA, "unknown member \"order\""},
    {"chunk_key_encoding", "{\"name\": \"v2\", \"separator\": \"/\"}", ZLG_METADATA,
     "unknown member \"separator\""},
    {"fill_value", NULL, ZLG_METADATA, "fill_value is missing"},
    {"fill_value", "null", ZLG_METADATA, "found null"},
    {"fill_value", "1.5", ZLG_METADATA, "found 1.5"},
    {"codecs", NULL, ZLG_METADATA, "codecs is missing"},
    {"codecs", "null", ZLG_METADATA, "codecs is null"},
    {"codecs", "[]", ZLG_METADATA, "codecs is an empty list"},
    {"codecs", "{}", ZLG_METADATA, "codecs is an object"},
    {"codecs", "[\"bytes\", 7]", ZLG_METADATA, "codecs[1] is 7"},
    {"codecs", "[{\"name\": 7}]", ZLG_METADATA, "codecs[0]: name is 7"},
    {"codecs", "[{\"configuration\": {}}]", ZLG_METADATA, "codecs[0]: name is missing"},
    {"codecs", "[{\"name\": \"gzip\", \"configuration\": [1]}]", ZLG_METADATA,
     "codecs[0] \"gzip\": configuration is a list"},
    {"codecs", "[{\"name\": \"gzip\", \"must_understand\": 0}]", ZLG_METADATA,
     "must_understand is 0"},
    {"storage_transformers", "{}", ZLG_METADATA, "storage_transformers is an object"},
    {"storage_transformers", "[{\"name\": \"manifest\"}]", ZLG_UNSUPPORTED,
     "storage transformer \"manifest\""},
    {"dimension_names", "[\"x\"]", ZLG_METADATA,
     "dimension_names has 1 names, the array has 2 axes"},
    {"dimension_names", "[\"x\", 1]", ZLG_METADATA, "dimension_names[1] is 1"},
    {"dimension_names", "\"xy\"", ZLG_METADATA, "dimension_names is \"xy\""},
    {"dimension_names", "[\"a\\u0000b\", \"x\"]", ZLG_METADATA, "NUL"},
    {"attributes", "[]", ZLG_METADATA, "attributes is an empty list"},
};

static void test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < ZLGI_COUNT(REFUSED); i++) {
        zlgi_array_meta array;
        check_refused(read_array(REFUSED[i].name, REFUSED[i].value, &array),
                      REFUSED[i].status, REFUSED[i].words);
    }
}

static void test_long_values_are_cut_between_characters(void **state)
{
    (void)state;
    zlgi_array_meta array;
    check_refused(read_array("chunk_key_encoding",
                             "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\xc3\xbc\xc3\xbc\"",
                             &array),
                  ZLG_UNSUPPORTED, "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...\"");
}

/* Whatever allocation fails, the error says so and nothing is lost. */
static void test_no_memory(void **state)
{
    (void)state;
    const zlgi_json *json =
        document(V3_ARRAY, "chunk_grid",
                 "{\"name\": \"rectilinear\", \"configuration\": {\"kind\": \"inline\", "
                 "\"chunk_shapes\": [[[1, 1000000]], [[7, 1]]]}}");
    for (size_t fail_at = 1;; fail_at++) {
        test_heap heap;
        test_heap_init(&heap);
        heap.fail_at = fail_at;
        zlgi_arena own;
        zlgi_arena_init(&own, &heap.alloc);
        zlgi_array_meta array;
        zlg_status status = zlgi_meta_array_v3(&own, json, &LIMITS, &array, &error);
        zlgi_arena_reset(&own);
        assert_int_equal(heap.n_blocks, 0);
        if (status == ZLG_OK) {
            assert_true(fail_at > 1);
            return;
        }
        assert_int_equal(status, ZLG_NO_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        meta_test(test_an_array),
        meta_test(test_rank_0),
        meta_test(test_the_shape_may_overflow),
        meta_test(test_key_encodings),
        meta_test(test_dimension_names),
        meta_test(test_attributes),
        meta_test(test_fields_that_may_be_ignored),
        meta_test(test_refused),
        meta_test(test_long_values_are_cut_between_characters),
        meta_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
