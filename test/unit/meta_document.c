/* Text to document, and which format and node it is. */
#include "meta_test.h"

static zlg_status parse_text(const char *text, size_t n, const zlg_limits *limits)
{
    const zlgi_json *out;
    return zlgi_meta_parse_text(&arena, text, n, limits, &out, &error);
}

static void test_a_document_is_an_object(void **state)
{
    (void)state;
    assert_int_equal(parse_text(" {} ", 4, &LIMITS), ZLG_OK);
    check_refused(parse_text("[]", 2, &LIMITS), ZLG_METADATA, "document is an empty list");
    check_refused(parse_text("3", 1, &LIMITS), ZLG_METADATA, "document is 3");
    check_refused(parse_text("", 0, &LIMITS), ZLG_METADATA, "");
    check_refused(parse_text("{", 1, &LIMITS), ZLG_METADATA, "");
    check_refused(parse_text("{}x", 3, &LIMITS), ZLG_METADATA, "");
}

static void test_limits_of_a_document(void **state)
{
    (void)state;
    zlg_limits limits = LIMITS;
    limits.metadata_bytes = 3;
    assert_int_equal(parse_text("{ }", 3, &limits), ZLG_OK);
    check_refused(parse_text("{  }", 4, &limits), ZLG_LIMIT, "metadata_bytes");
    limits = LIMITS;
    limits.json_depth = 2;
    assert_int_equal(parse_text("{\"a\":[]}", 8, &limits), ZLG_OK);
    check_refused(parse_text("{\"a\":[[]]}", 10, &limits), ZLG_LIMIT, "json_depth");
}

static void test_node_types(void **state)
{
    (void)state;
    zlg_node node = ZLG_NODE_NONE;
    assert_int_equal(zlgi_meta_node_type(document(V3_ARRAY, NULL, NULL), &node, &error),
                     ZLG_OK);
    assert_int_equal(node, ZLG_NODE_ARRAY);
    assert_int_equal(
        zlgi_meta_node_type(document(V3_ARRAY, "node_type", "\"group\""), &node, &error),
        ZLG_OK);
    assert_int_equal(node, ZLG_NODE_GROUP);
}

static void check_node(const zlgi_json *json, zlg_status expected, const char *words)
{
    zlg_node node;
    check_refused(zlgi_meta_node_type(json, &node, &error), expected, words);
}

static void test_bad_node_types(void **state)
{
    (void)state;
    check_node(document(V3_ARRAY, "node_type", NULL), ZLG_METADATA, "node_type is missing");
    check_node(document(V3_ARRAY, "node_type", "\"table\""), ZLG_METADATA, "\"table\"");
    check_node(document(V3_ARRAY, "node_type", "1"), ZLG_METADATA, "node_type is 1");
    check_node(parse("[]"), ZLG_METADATA, "document");
}

static void test_other_formats(void **state)
{
    (void)state;
    check_node(document(V3_ARRAY, "zarr_format", NULL), ZLG_METADATA,
               "zarr_format is missing");
    check_node(document(V3_ARRAY, "zarr_format", "\"3\""), ZLG_METADATA, "\"3\"");
    check_node(document(V3_ARRAY, "zarr_format", "3.0"), ZLG_METADATA, "3.0");
    check_node(document(V3_ARRAY, "zarr_format", "2"), ZLG_METADATA, "zarr_format is 2");
    check_node(document(V3_ARRAY, "zarr_format", "1"), ZLG_UNSUPPORTED, "version 1");
    check_node(document(V3_ARRAY, "zarr_format", "4"), ZLG_UNSUPPORTED, "zarr_format is 4");
}

static void test_old_documents_are_refused_by_name(void **state)
{
    (void)state;
    check_node(
        parse("{\"zarr_format\": 1, \"shape\": [1], \"chunks\": [1], \"dtype\": \"<i4\","
              " \"compression\": \"blosc\", \"compression_opts\": null}"),
        ZLG_UNSUPPORTED, "Zarr version 1");
    check_node(parse("{\"zarr_format\": \"https://purl.org/zarr/spec/protocol/core/3.0\","
                     " \"metadata_encoding\": \"\", \"extensions\": []}"),
               ZLG_UNSUPPORTED, "early draft");
    check_node(
        parse("{\"shape\": [1], \"data_type\": \"<i4\", \"chunk_memory_layout\": \"C\","
              " \"attributes\": {}}"),
        ZLG_UNSUPPORTED, "early draft");
    check_node(parse("{\"attributes\": {}, \"extensions\": []}"), ZLG_UNSUPPORTED,
               "early draft");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        meta_test(test_a_document_is_an_object),
        meta_test(test_limits_of_a_document),
        meta_test(test_node_types),
        meta_test(test_bad_node_types),
        meta_test(test_other_formats),
        meta_test(test_old_documents_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
