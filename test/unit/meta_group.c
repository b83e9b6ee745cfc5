/* Groups of both versions and their consolidated metadata. */
#include "meta_test.h"

static const member V3_GROUP[] = {{"zarr_format", "3"},
                                  {"node_type", "\"group\""},
                                  {"attributes", "{\"a\": NaN}"},
                                  {NULL, NULL}};

static zlg_status read_group(const char *name, const char *value, zlgi_group_meta *out)
{
    return zlgi_meta_group_v3(&arena, document(V3_GROUP, name, value), out, &error);
}

static void test_a_group(void **state)
{
    (void)state;
    zlgi_group_meta group;
    assert_int_equal(read_group(NULL, NULL, &group), ZLG_OK);
    assert_int_equal(group.zarr_format, 3);
    assert_non_null(zlgi_json_get(group.attributes, "a"));
    assert_null(group.consolidated);
    assert_int_equal(read_group("attributes", NULL, &group), ZLG_OK);
    assert_null(group.attributes);
    assert_int_equal(read_group("attributes", "null", &group), ZLG_OK);
    assert_null(group.attributes);
    check_refused(read_group("attributes", "[]", &group), ZLG_METADATA, "attributes is");
    check_refused(read_group("node_type", "\"array\"", &group), ZLG_METADATA,
                  "node_type is \"array\", expected \"group\"");
    check_refused(read_group("shape", "[1]", &group), ZLG_UNSUPPORTED, "\"shape\"");
    assert_int_equal(read_group("other", "{\"must_understand\": false}", &group), ZLG_OK);
}

static void test_inline_consolidated_metadata(void **state)
{
    (void)state;
    zlgi_group_meta group;
    assert_int_equal(read_group("consolidated_metadata", "null", &group), ZLG_OK);
    assert_null(group.consolidated);
    assert_int_equal(read_group("consolidated_metadata",
                                "{\"kind\": \"inline\", \"metadata\": {\"a/b\": {}}}",
                                &group),
                     ZLG_OK);
    assert_non_null(zlgi_json_get(group.consolidated, "a/b"));
    check_refused(read_group("consolidated_metadata", "[]", &group), ZLG_METADATA,
                  "consolidated_metadata is an empty list");
    check_refused(read_group("consolidated_metadata",
                             "{\"kind\": \"remote\", \"metadata\": {}}", &group),
                  ZLG_METADATA, "kind is \"remote\"");
    assert_int_equal(read_group("consolidated_metadata",
                                "{\"kind\": \"remote\", \"must_understand\": false}",
                                &group),
                     ZLG_OK);
    assert_null(group.consolidated);
    check_refused(read_group("consolidated_metadata", "{\"kind\": \"inline\"}", &group),
                  ZLG_METADATA, "metadata is missing");
}

static void test_a_version_2_group(void **state)
{
    (void)state;
    zlgi_group_meta group;
    const zlgi_json *zgroup = parse("{\"zarr_format\": 2, \"other\": 1}");
    assert_int_equal(zlgi_meta_group_v2(&arena, zgroup, NULL, &group, &error), ZLG_OK);
    assert_int_equal(group.zarr_format, 2);
    assert_null(group.attributes);
    const zlgi_json *zattrs = parse("{\"a\": 1}");
    assert_int_equal(zlgi_meta_group_v2(&arena, zgroup, zattrs, &group, &error), ZLG_OK);
    assert_ptr_equal(group.attributes, zattrs);
    check_refused(zlgi_meta_group_v2(&arena, parse("{}"), NULL, &group, &error),
                  ZLG_METADATA, "zarr_format is missing");
    check_refused(zlgi_meta_group_v2(&arena, zgroup, parse("[1]"), &group, &error),
                  ZLG_METADATA, "attributes is a list");
}

static void test_zmetadata(void **state)
{
    (void)state;
    const zlgi_json *map = NULL;
    assert_int_equal(
        zlgi_meta_consolidated_v2(
            parse("{\"zarr_consolidated_format\": 1, \"metadata\": {\".zgroup\": {}}}"),
            &map, &error),
        ZLG_OK);
    assert_non_null(zlgi_json_get(map, ".zgroup"));
    static const struct {
        const char *text;
        zlg_status status;
        const char *words;
    } cases[] = {
        {"[]", ZLG_METADATA, "document"},
        {"{\"metadata\": {}}", ZLG_METADATA, "zarr_consolidated_format is missing"},
        {"{\"zarr_consolidated_format\": 2, \"metadata\": {}}", ZLG_UNSUPPORTED, "is 2"},
        {"{\"zarr_consolidated_format\": 1, \"metadata\": []}", ZLG_METADATA,
         "metadata is"},
    };
    for (size_t i = 0; i < ZLGI_COUNT(cases); i++)
        check_refused(zlgi_meta_consolidated_v2(parse(cases[i].text), &map, &error),
                      cases[i].status, cases[i].words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        meta_test(test_a_group),
        meta_test(test_inline_consolidated_metadata),
        meta_test(test_a_version_2_group),
        meta_test(test_zmetadata),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
