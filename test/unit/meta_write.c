/* Documents of new nodes: every default is there, and bad specs are told why. */
#include "meta_test.h"

static const int64_t SHAPE[] = {10, 7}, CHUNKS[] = {4, 8}, INNER[] = {2, 4};

static zlg_array_spec v3_spec(const char *data_type)
{
    return (zlg_array_spec){.n_bytes_struct = sizeof(zlg_array_spec),
                            .rank = 2,
                            .shape = SHAPE,
                            .object_shape = CHUNKS,
                            .data_type = data_type};
}

static zlg_array_spec v2_spec(const char *data_type)
{
    zlg_array_spec spec = v3_spec(data_type);
    spec.zarr_format = 2;
    return spec;
}

static zlg_status write_array(const zlg_array_spec *spec, zlgi_buf *out)
{
    return zlgi_meta_write_array(spec, &LIMITS, out, &error);
}

/* The document has this member; and it is one that the parser takes. */
static void check_member(const zlg_array_spec *spec, const char *name, const char *expected)
{
    zlgi_buf out;
    zlgi_buf_init(&out, &zlgi_default_alloc);
    if (write_array(spec, &out) != ZLG_OK)
        fail_msg("%s", error.message);
    const zlgi_json *json = NULL;
    assert_int_equal(
        zlgi_meta_parse_text(&arena, (const char *)out.data, out.n, &LIMITS, &json, &error),
        ZLG_OK);
    zlgi_array_meta array;
    zlg_status status =
        spec->zarr_format == 2
            ? zlgi_meta_array_v2(&arena, json, NULL, &LIMITS, &array, &error)
            : zlgi_meta_array_v3(&arena, json, &LIMITS, &array, &error);
    if (status != ZLG_OK)
        fail_msg("%s", error.message);
    const zlgi_json *value = zlgi_json_get(json, name);
    if (!zlgi_json_equal(value, expected ? parse(expected) : NULL))
        fail_msg("%s is not %s in %.*s", name, expected, (int)out.n, (char *)out.data);
    zlgi_buf_reset(&out);
}

static void check_bad(const zlg_array_spec *spec, zlg_status expected, const char *words)
{
    zlgi_buf out;
    zlgi_buf_init(&out, &zlgi_default_alloc);
    check_refused(write_array(spec, &out), expected, words);
    zlgi_buf_reset(&out);
}

#define BYTES "{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}"
#define ZSTD "{\"name\": \"zstd\", \"configuration\": {\"level\": 0, \"checksum\": false}}"
#define INDEX_CODECS "[" BYTES ", {\"name\": \"crc32c\"}]"
#define SHARD(inner, location) SHARD_OF("[2, 4]", inner, location)
#define SHARD_OF(shape, inner, location)                                                   \
    "[{\"name\": \"sharding_indexed\", \"configuration\": {\"chunk_shape\": " shape ", "   \
    "\"codecs\": [" inner "], \"index_codecs\": " INDEX_CODECS                             \
    ", \"index_location\": \"" location "\"}}]"

static void test_defaults_are_recorded(void **state)
{
    (void)state;
    zlg_array_spec spec = v3_spec("float32");
    check_member(&spec, "zarr_format", "3");
    check_member(&spec, "node_type", "\"array\"");
    check_member(&spec, "shape", "[10, 7]");
    check_member(&spec, "data_type", "\"float32\"");
    check_member(&spec, "chunk_grid",
                 "{\"name\": \"regular\", \"configuration\": {\"chunk_shape\": [4, 8]}}");
    check_member(&spec, "chunk_key_encoding",
                 "{\"name\": \"default\", \"configuration\": {\"separator\": \"/\"}}");
    check_member(&spec, "fill_value", "0.0");
    check_member(&spec, "codecs", "[" BYTES ", " ZSTD "]");
    check_member(&spec, "attributes", "{}");
    check_member(&spec, "dimension_names", NULL);
    check_member(&spec, "storage_transformers", NULL);
}

static void test_the_layout_is_for_people(void **state)
{
    (void)state;
    zlgi_buf out;
    zlgi_buf_init(&out, &zlgi_default_alloc);
    zlg_array_spec spec = v3_spec("int8");
    assert_int_equal(write_array(&spec, &out), ZLG_OK);
    static const char start[] = "{\n  \"zarr_format\": 3,\n  \"node_type\": \"array\",\n";
    assert_memory_equal(out.data, start, sizeof start - 1);
    zlgi_buf_reset(&out);
}

static void test_the_first_codec_follows_the_type(void **state)
{
    (void)state;
    zlg_array_spec spec = v3_spec("uint8");
    check_member(&spec, "codecs", "[{\"name\": \"bytes\"}, " ZSTD "]");
    spec.data_type = "string";
    check_member(&spec, "codecs", "[{\"name\": \"vlen-utf8\"}, " ZSTD "]");
    check_member(&spec, "fill_value", "\"\"");
    spec.data_type = "bytes";
    check_member(&spec, "codecs", "[{\"name\": \"vlen-bytes\"}, " ZSTD "]");
}

static void test_shards(void **state)
{
    (void)state;
    zlg_array_spec spec = v3_spec("int16");
    spec.chunk_shape = INNER;
    check_member(&spec, "codecs", SHARD(BYTES ", " ZSTD, "end"));
    spec.index_location = "start";
    check_member(&spec, "codecs", SHARD(BYTES ", " ZSTD, "start"));
    spec.codecs = "[" BYTES ", \"crc32c\"]";
    check_member(&spec, "codecs", SHARD(BYTES ", {\"name\": \"crc32c\"}", "start"));
}

static void test_codecs_of_the_caller(void **state)
{
    (void)state;
    zlg_array_spec spec = v3_spec("int8");
    spec.codecs = "[\"bytes\", {\"name\": \"gzip\", \"configuration\": {\"level\": 5}, "
                  "\"must_understand\": true}, \"numcodecs.crc32\"]";
    check_member(&spec, "codecs",
                 "[{\"name\": \"bytes\"}, {\"name\": \"gzip\", \"configuration\": "
                 "{\"level\": 5}}, {\"name\": \"numcodecs.crc32\", "
                 "\"configuration\": {}}]");
}

static void test_shards_of_the_caller_are_completed(void **state)
{
    (void)state;
    zlg_array_spec spec = v3_spec("int16");
    spec.codecs = "[{\"name\": \"sharding_indexed\", \"configuration\": {\"chunk_shape\": "
                  "[2, 4], \"codecs\": [" BYTES ", \"crc32c\"], \"index_codecs\": [" BYTES
                  ", \"crc32c\"]}}]";
    check_member(&spec, "codecs", SHARD(BYTES ", {\"name\": \"crc32c\"}", "end"));
    spec.chunk_shape = INNER;
    check_bad(&spec, ZLG_USAGE, "the codecs make shards of their own");
    spec.chunk_shape = NULL;
    spec.object_shape = NULL;
    check_bad(&spec, ZLG_USAGE, "object_shape is missing: the codecs make shards");
}

static void test_shapes_are_chosen(void **state)
{
    (void)state;
    zlg_array_spec spec = v3_spec("int16");
    spec.object_shape = NULL;
    check_member(&spec, "chunk_grid",
                 "{\"name\": \"regular\", \"configuration\": {\"chunk_shape\": [10, 7]}}");
    spec.target_chunk_bytes = 40;
    check_member(&spec, "chunk_grid",
                 "{\"name\": \"regular\", \"configuration\": {\"chunk_shape\": [5, 4]}}");
    spec.target_chunk_bytes = 16;
    spec.target_shard_bytes = 64;
    check_member(&spec, "chunk_grid",
                 "{\"name\": \"regular\", \"configuration\": {\"chunk_shape\": [6, 4]}}");
    check_member(&spec, "codecs", SHARD_OF("[3, 2]", BYTES ", " ZSTD, "end"));
    spec.target_chunk_bytes = 0;
    spec.chunk_shape = INNER;
    check_member(&spec, "chunk_grid",
                 "{\"name\": \"regular\", \"configuration\": {\"chunk_shape\": [8, 4]}}");
    check_member(&spec, "codecs", SHARD(BYTES ", " ZSTD, "end"));
    spec = v2_spec("<i2");
    spec.object_shape = NULL;
    spec.target_chunk_bytes = 40;
    check_member(&spec, "chunks", "[5, 4]");
}

static void test_targets_without_sense(void **state)
{
    (void)state;
    const zlg_array_spec good = v3_spec("int16");
    zlg_array_spec spec = good;
    spec.target_chunk_bytes = 100;
    check_bad(&spec, ZLG_USAGE, "target_chunk_bytes is given, but object_shape is too");
    spec = good, spec.target_shard_bytes = 100;
    check_bad(&spec, ZLG_USAGE, "target_shard_bytes is given, but object_shape is too");
    spec = good, spec.object_shape = NULL, spec.target_chunk_bytes = -1;
    check_bad(&spec, ZLG_USAGE, "target_chunk_bytes is -1");
    spec = good, spec.object_shape = NULL, spec.target_shard_bytes = -2;
    check_bad(&spec, ZLG_USAGE, "target_shard_bytes is -2");
    spec = good, spec.object_shape = NULL, spec.target_shard_bytes = 99;
    check_bad(&spec, ZLG_USAGE, "target_shard_bytes is 99, less than the 1048576");
    spec.target_chunk_bytes = 100;
    check_bad(&spec, ZLG_USAGE, "target_shard_bytes is 99, less than the 100");
    spec = good, spec.object_shape = NULL, spec.chunk_shape = INNER;
    check_bad(&spec, ZLG_USAGE, "object_shape is missing: chunk_shape makes shards");
    spec.target_shard_bytes = 15;
    check_bad(&spec, ZLG_USAGE, "less than one inner chunk has");
    spec.target_shard_bytes = 100, spec.target_chunk_bytes = 8;
    check_bad(&spec, ZLG_USAGE, "target_chunk_bytes is given, but chunk_shape is too");
    spec = good, spec.object_shape = NULL, spec.target_chunk_bytes = 8;
    spec.chunk_grid =
        "{\"name\": \"regular\", \"configuration\": {\"chunk_shape\": [4, 4]}}";
    check_bad(&spec, ZLG_USAGE, "target_chunk_bytes is given, but chunk_grid is too");
    spec = v2_spec("<i2"), spec.object_shape = NULL, spec.target_shard_bytes = 1 << 20;
    check_bad(&spec, ZLG_USAGE, "version 2 arrays have no target_shard_bytes");
}

static void test_options_of_version_3(void **state)
{
    (void)state;
    zlg_array_spec spec = v3_spec("{\"name\": \"int32\"}");
    spec.fill_value = "-7";
    spec.chunk_key_encoding = "v2";
    spec.dimension_names = (const char *const[]){"x\"y", NULL};
    spec.attributes =
        "{\"z\": 123456789012345678901234567890, \"a\": [1e400, \"\\ud83e\"]}";
    check_member(&spec, "data_type", "\"int32\"");
    check_member(&spec, "fill_value", "-7");
    check_member(&spec, "chunk_key_encoding",
                 "{\"name\": \"v2\", \"configuration\": {\"separator\": \".\"}}");
    check_member(&spec, "dimension_names", "[\"x\\\"y\", null]");
    check_member(&spec, "attributes", spec.attributes);
    spec.chunk_key_encoding =
        "{\"name\": \"default\", \"configuration\": {\"separator\": \".\"}}";
    check_member(&spec, "chunk_key_encoding", spec.chunk_key_encoding);
    spec.object_shape = NULL;
    spec.chunk_grid =
        "{\"name\": \"rectilinear\", \"configuration\": {\"kind\": \"inline\", "
        "\"chunk_shapes\": [[[3, 2], 4], 7]}}";
    check_member(&spec, "chunk_grid", spec.chunk_grid);
}

static void test_fill_values_are_canonical(void **state)
{
    (void)state;
    zlg_array_spec spec = v3_spec("float32");
    spec.fill_value = "\"0x7fc00000\"";
    check_member(&spec, "fill_value", "\"NaN\"");
    spec.fill_value = "\"0X7FC00001\"";
    check_member(&spec, "fill_value", "\"0x7fc00001\"");
}

static void test_rank_0(void **state)
{
    (void)state;
    zlg_array_spec spec = {.data_type = "int8"};
    check_member(&spec, "shape", "[]");
    spec.zarr_format = 2;
    spec.data_type = "|i1";
    check_member(&spec, "chunks", "[]");
}

static void test_bad_specs_of_version_3(void **state)
{
    (void)state;
    const zlg_array_spec good = v3_spec("int32");
    zlg_array_spec spec = good;
    spec.zarr_format = 4;
    check_bad(&spec, ZLG_USAGE, "zarr_format is 4");
    spec = good, spec.rank = 33;
    check_bad(&spec, ZLG_USAGE, "rank is 33");
    spec = good, spec.rank = -1;
    check_bad(&spec, ZLG_USAGE, "rank is -1");
    spec = good, spec.shape = NULL;
    check_bad(&spec, ZLG_USAGE, "shape is missing");
    spec = good, spec.shape = (const int64_t[]){10, -7};
    check_bad(&spec, ZLG_USAGE, "shape[1] is -7");
    spec = good, spec.object_shape = (const int64_t[]){0, 7};
    check_bad(&spec, ZLG_USAGE, "object_shape[0] is 0");
    spec = good, spec.chunk_shape = (const int64_t[]){2, 0};
    check_bad(&spec, ZLG_USAGE, "chunk_shape[1] is 0");
    spec = good, spec.data_type = NULL;
    check_bad(&spec, ZLG_USAGE, "data_type is missing");
    spec = good, spec.data_type = "quaternion";
    check_bad(&spec, ZLG_UNSUPPORTED, "quaternion");
    spec = good, spec.data_type = "";
    check_bad(&spec, ZLG_UNSUPPORTED, "data type");
    spec = good, spec.data_type = "{\"name\"";
    check_bad(&spec, ZLG_METADATA, "data_type: JSON");
    spec = good, spec.fill_value = "1.5";
    check_bad(&spec, ZLG_METADATA, "found 1.5");
    spec = good, spec.fill_value = "NaN";
    check_bad(&spec, ZLG_USAGE, "fill_value: NaN is no JSON");
    spec = good, spec.codecs = "[]";
    check_bad(&spec, ZLG_METADATA, "codecs is an empty list");
    spec = good, spec.codecs = "bytes";
    check_bad(&spec, ZLG_METADATA, "codecs: JSON");
    spec = good, spec.codecs = "[{\"name\": \"x\", \"must_understand\": false}]";
    check_bad(&spec, ZLG_USAGE, "must_understand false");
    spec = good, spec.index_location = "end";
    check_bad(&spec, ZLG_USAGE, "index_location is given, but no chunk_shape");
    spec = good, spec.index_location = "middle", spec.chunk_shape = INNER;
    check_bad(&spec, ZLG_USAGE, "index_location is \"middle\"");
    spec = good, spec.chunk_grid = "{\"name\": \"regular\"}";
    check_bad(&spec, ZLG_USAGE, "chunk_grid and object_shape are both given");
    spec.object_shape = NULL;
    check_bad(&spec, ZLG_METADATA, "chunk grid \"regular\" has no configuration");
    spec = good, spec.chunk_key_encoding = "hilbert";
    check_bad(&spec, ZLG_UNSUPPORTED, "\"hilbert\"");
    spec = good, spec.attributes = "[1]";
    check_bad(&spec, ZLG_METADATA, "attributes is a list");
    spec = good, spec.attributes = "{\"a\": [{\"b\": -Infinity}]}";
    check_bad(
        &spec, ZLG_USAGE,
        "attributes: \"a\": [0]: \"b\": -Infinity is no JSON; python_tokens allows it");
    spec.python_tokens = 1;
    check_member(&spec, "attributes", spec.attributes);
    spec = good, spec.dimension_names = (const char *const[]){"x", "\xff"};
    check_bad(&spec, ZLG_USAGE, "dimension_names[1] is not UTF-8");
    spec = good, spec.order = "C";
    check_bad(&spec, ZLG_USAGE, "version 3 arrays have no order");
    spec = good, spec.separator = "/";
    check_bad(&spec, ZLG_USAGE, "version 3 arrays have no separator");
}

static void test_version_2(void **state)
{
    (void)state;
    zlg_array_spec spec = v2_spec("<f4");
    check_member(&spec, "zarr_format", "2");
    check_member(&spec, "shape", "[10, 7]");
    check_member(&spec, "chunks", "[4, 8]");
    check_member(&spec, "dtype", "\"<f4\"");
    check_member(&spec, "compressor", "{\"id\": \"zstd\", \"level\": 0}");
    check_member(&spec, "fill_value", "0.0");
    check_member(&spec, "order", "\"C\"");
    check_member(&spec, "filters", "null");
    check_member(&spec, "dimension_separator", "\".\"");
    check_member(&spec, "attributes", NULL);
    spec.order = "F";
    spec.separator = "/";
    spec.fill_value = "null";
    spec.codecs = "{\"filters\": [{\"id\": \"delta\", \"dtype\": \"<f4\"}], "
                  "\"compressor\": null}";
    check_member(&spec, "compressor", "null");
    check_member(&spec, "fill_value", "null");
    check_member(&spec, "order", "\"F\"");
    check_member(&spec, "filters", "[{\"id\": \"delta\", \"dtype\": \"<f4\"}]");
    check_member(&spec, "dimension_separator", "\"/\"");
    spec = v2_spec("[[\"a\", \"<i2\"], [\"b\", \"|u1\"]]");
    spec.codecs = "{\"filters\": []}";
    check_member(&spec, "dtype", "[[\"a\", \"<i2\"], [\"b\", \"|u1\"]]");
    check_member(&spec, "filters", "null");
    check_member(&spec, "compressor", "{\"id\": \"zstd\", \"level\": 0}");
}

static void test_objects_of_version_2(void **state)
{
    (void)state;
    zlg_array_spec spec = v2_spec("|O");
    spec.codecs = "{\"filters\": [{\"id\": \"vlen-utf8\"}]}";
    check_member(&spec, "fill_value", "\"\"");
    spec.codecs = NULL;
    check_bad(&spec, ZLG_UNSUPPORTED, "|O");
    spec.codecs = "{\"compressor\": null}";
    check_bad(&spec, ZLG_METADATA, "needs an object codec");
}

static void test_bad_specs_of_version_2(void **state)
{
    (void)state;
    const zlg_array_spec good = v2_spec("<i4");
    zlg_array_spec spec = good;
    spec.chunk_shape = INNER;
    check_bad(&spec, ZLG_USAGE, "version 2 arrays have no chunk_shape");
    spec = good, spec.index_location = "end";
    check_bad(&spec, ZLG_USAGE, "no index_location");
    spec = good, spec.chunk_grid = "{}";
    check_bad(&spec, ZLG_USAGE, "no chunk_grid");
    spec = good, spec.chunk_key_encoding = "v2";
    check_bad(&spec, ZLG_USAGE, "no chunk_key_encoding");
    spec = good, spec.dimension_names = (const char *const[]){"x", "y"};
    check_bad(&spec, ZLG_USAGE, "no dimension_names");
    spec = good, spec.order = "K";
    check_bad(&spec, ZLG_USAGE, "order is \"K\"");
    spec = good, spec.separator = "-";
    check_bad(&spec, ZLG_USAGE, "separator is \"-\"");
    spec = good, spec.codecs = "[]";
    check_bad(&spec, ZLG_METADATA, "codecs is an empty list");
    spec = good, spec.codecs = "{\"codecs\": []}";
    check_bad(&spec, ZLG_METADATA, "unknown member \"codecs\"");
    spec = good, spec.codecs = "{\"compressor\": \"zlib\"}";
    check_bad(&spec, ZLG_METADATA, "compressor is \"zlib\"");
}

static void check_group(int zarr_format, const zlgi_json *attributes, const char *expected)
{
    zlgi_buf out;
    zlgi_buf_init(&out, &zlgi_default_alloc);
    assert_int_equal(zlgi_meta_write_group(zarr_format, attributes, &out, &error), ZLG_OK);
    assert_int_equal(zlgi_buf_append(&out, "", 1, NULL), ZLG_OK);
    assert_string_equal((char *)out.data, expected);
    zlgi_buf_reset(&out);
}

static void test_groups(void **state)
{
    (void)state;
    check_group(
        3, NULL,
        "{\n  \"zarr_format\": 3,\n  \"node_type\": \"group\",\n  \"attributes\": {}\n}");
    check_group(
        3, parse("{\"a\": 1.50}"),
        "{\n  \"zarr_format\": 3,\n  \"node_type\": \"group\",\n  \"attributes\": {\n"
        "    \"a\": 1.50\n  }\n}");
    check_group(2, parse("{\"a\": 1}"), "{\n  \"zarr_format\": 2\n}");
    zlgi_buf out;
    zlgi_buf_init(&out, &zlgi_default_alloc);
    check_refused(zlgi_meta_write_group(1, NULL, &out, &error), ZLG_USAGE,
                  "zarr_format is 1");
    zlgi_buf_reset(&out);
}

static void test_given_attributes(void **state)
{
    (void)state;
    const zlgi_json *out;
    assert_int_equal(zlgi_meta_parse_attributes(&arena, NULL, false, &LIMITS, &out, &error),
                     ZLG_OK);
    assert_null(out);
    check_refused(zlgi_meta_parse_attributes(&arena, "[1]", false, &LIMITS, &out, &error),
                  ZLG_METADATA, "attributes is a list");
    check_refused(zlgi_meta_parse_attributes(&arena, "{", true, &LIMITS, &out, &error),
                  ZLG_METADATA, "attributes: JSON: the document ends at byte 1");
    check_refused(zlgi_meta_parse_attributes(&arena, "{\"a\": NaN, \"b\": 1}", false,
                                             &LIMITS, &out, &error),
                  ZLG_USAGE, "attributes: \"a\": NaN is no JSON; python_tokens allows it");
    assert_int_equal(zlgi_meta_parse_attributes(&arena, "{\"N\": \"NaN\", \"I\": 1e5}",
                                                false, &LIMITS, &out, &error),
                     ZLG_OK);
    assert_int_equal(zlgi_meta_parse_attributes(&arena,
                                                "{\"a\": [Infinity, -Infinity, NaN]}", true,
                                                &LIMITS, &out, &error),
                     ZLG_OK);
    assert_string_equal(zlgi_json_get(out, "a")->items->text, "Infinity");
}

/* Whatever allocation fails, the error says so and nothing is lost. */
static void test_no_memory(void **state)
{
    (void)state;
    zlg_array_spec spec = v3_spec("int32");
    spec.chunk_shape = INNER;
    spec.codecs = "[" BYTES ", \"crc32c\"]";
    spec.attributes = "{\"a\": 1}";
    for (size_t fail_at = 1;; fail_at++) {
        test_heap heap;
        test_heap_init(&heap);
        heap.fail_at = fail_at;
        zlgi_buf out;
        zlgi_buf_init(&out, &heap.alloc);
        zlg_status status = write_array(&spec, &out);
        zlgi_buf_reset(&out);
        assert_int_equal(heap.n_blocks, 0);
        if (status == ZLG_OK) {
            assert_true(fail_at > 3);
            return;
        }
        assert_int_equal(status, ZLG_NO_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        meta_test(test_defaults_are_recorded),
        meta_test(test_the_layout_is_for_people),
        meta_test(test_the_first_codec_follows_the_type),
        meta_test(test_shards),
        meta_test(test_codecs_of_the_caller),
        meta_test(test_shards_of_the_caller_are_completed),
        meta_test(test_shapes_are_chosen),
        meta_test(test_targets_without_sense),
        meta_test(test_options_of_version_3),
        meta_test(test_fill_values_are_canonical),
        meta_test(test_rank_0),
        meta_test(test_bad_specs_of_version_3),
        meta_test(test_version_2),
        meta_test(test_objects_of_version_2),
        meta_test(test_bad_specs_of_version_2),
        meta_test(test_groups),
        meta_test(test_given_attributes),
        meta_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
