/* Creating refuses what no one could read back, and stores nothing then. What is odd but
 * legal is made, and reads. */
#define _GNU_SOURCE
#include "change_test.h"

static const int64_t shape[2] = {10, 7}, object[2] = {4, 6}, inner[2] = {2, 3};

typedef struct refusal {
    const char *what;
    zlg_array_spec spec; /* what is NULL is as in `good` */
    zlg_status status;
    const char *words;
} refusal;

static zlg_array_spec good(int zarr_format)
{
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    spec.zarr_format = zarr_format;
    spec.rank = 2;
    spec.shape = shape;
    spec.object_shape = object;
    spec.data_type = zarr_format == 2 ? "<i4" : "int32";
    return spec;
}

#define EDGES(axes)                                                                        \
    "{\"name\":\"rectilinear\",\"configuration\":{\"kind\":\"inline\",\"chunk_"            \
    "shapes\":" axes "}}"
#define SAME(codec) SHARD("[4,6]", "[" codec "]")
#define NUMCODECS(name, members)                                                           \
    "{\"name\":\"numcodecs." name "\",\"configuration\":{" members "}}"
#define FILTER(id, members) "{\"filters\":[{\"id\":\"" id "\"," members "}]}"
#define LENGTHS(...) ((const int64_t[]){__VA_ARGS__})

static const refusal refusals[] = {
    /* shapes */
    {"an inner chunk that does not divide the shard",
     {.chunk_shape = LENGTHS(2, 4)},
     ZLG_METADATA,
     "do not divide a shard"},
    {"an inner chunk larger than the shard",
     {.chunk_shape = LENGTHS(8, 6)},
     ZLG_METADATA,
     "do not divide a shard"},
    {"inner chunks that do not divide one of many edges",
     {.chunk_grid = EDGES("[[4,2,4],[6,[3,3]]]"), .chunk_shape = LENGTHS(4, 3)},
     ZLG_METADATA,
     "length 4 do not divide a shard of length 2"},
    {"a shard in a shard that does not divide",
     {.codecs = "[" SHARD("[4,6]", "[" SHARD("[3,6]", "[" LITTLE "]") "]") "]"},
     ZLG_METADATA,
     "do not divide a shard"},
    {"a chunk of no length", {.object_shape = LENGTHS(4, 0)}, ZLG_USAGE, "object_shape[1]"},
    {"an axis of negative length", {.shape = LENGTHS(-1, 4)}, ZLG_USAGE, "shape[0] is -1"},
    {"chunks that end past all numbers",
     {.shape = LENGTHS(INT64_MAX, 1), .object_shape = LENGTHS(INT64_MAX - 1, 1)},
     ZLG_LIMIT,
     "past 2^63 - 1"},
    {"a chunk of more bytes than there are numbers",
     {.shape = LENGTHS(INT64_MAX, 4), .object_shape = LENGTHS(INT64_MAX, 4)},
     ZLG_LIMIT,
     "more than 2^63 bytes"},
    {"a compressed chunk that passes the limit of decoded bytes",
     {.shape = LENGTHS(10, 7), .object_shape = LENGTHS(INT64_C(1) << 20, 1 << 20)},
     ZLG_LIMIT,
     "a chunk of 4398046511104 bytes passes the limit of 4294967296 (chunk_bytes)"},
    {"an inner chunk that does",
     {.object_shape = LENGTHS(INT64_C(1) << 20, 1 << 20),
      .chunk_shape = LENGTHS(INT64_C(1) << 20, 1 << 19)},
     ZLG_LIMIT,
     "a chunk of 2199023255552 bytes"},
    {"one of many edges that does",
     {.chunk_grid = EDGES("[[4,1000000,10],[1,1000000]]")},
     ZLG_LIMIT,
     "a chunk of 4000000000000 bytes"},
    {"edges that end before the array",
     {.chunk_grid = EDGES("[[4,4],7]")},
     ZLG_METADATA,
     "edges reach 8 of the length 10"},
    {"a grid of other axes", {.chunk_grid = REGULAR("[4]")}, ZLG_METADATA, "1 lengths"},
    {"a grid nobody knows",
     {.chunk_grid = "{\"name\":\"hexagonal\",\"configuration\":{}}"},
     ZLG_UNSUPPORTED,
     "\"hexagonal\""},
    {"keys nobody knows",
     {.chunk_key_encoding = "hilbert"},
     ZLG_UNSUPPORTED,
     "\"hilbert\""},
    {"a separator nobody takes",
     {.chunk_key_encoding = "{\"name\":\"v2\",\"configuration\":{\"separator\":\"-\"}}"},
     ZLG_METADATA,
     "separator"},
    /* types and fill values */
    {"a type nobody knows", {.data_type = "quaternion"}, ZLG_UNSUPPORTED, "quaternion"},
    {"a fill value out of range",
     {.data_type = "int8", .fill_value = "128"},
     ZLG_METADATA,
     "fill value"},
    {"a fill value of another type", {.fill_value = "\"a\""}, ZLG_METADATA, "fill value"},
    {"a fill value that is no integer", {.fill_value = "0.5"}, ZLG_METADATA, "0.5"},
    {"no fill value at all", {.fill_value = "null"}, ZLG_METADATA, "null"},
    /* codecs */
    {"no codec", {.codecs = "[]"}, ZLG_METADATA, "at least one codec"},
    {"a codec nobody knows", {.codecs = "[" LITTLE ",\"zap\"]"}, ZLG_UNSUPPORTED, "zap"},
    {"bytes before elements are bytes",
     {.codecs = "[" CRC "," LITTLE "]"},
     ZLG_METADATA,
     "elements are not bytes yet"},
    {"elements where they are bytes already",
     {.codecs = "[" LITTLE "," TRANSPOSE("[1,0]") "]"},
     ZLG_METADATA,
     "bytes already"},
    {"elements that never become bytes",
     {.codecs = "[" TRANSPOSE("[1,0]") "]"},
     ZLG_METADATA,
     "into bytes"},
    {"elements that become bytes twice",
     {.codecs = "[" LITTLE "," LITTLE "]"},
     ZLG_METADATA,
     "bytes already"},
    {"bytes of no order", {.codecs = "[\"bytes\"]"}, ZLG_METADATA, "endian"},
    {"a transpose of other axes",
     {.codecs = "[" TRANSPOSE("[1,0,2]") "," LITTLE "]"},
     ZLG_METADATA,
     "order"},
    {"texts as bytes of fixed size",
     {.data_type = "string", .codecs = "[\"bytes\"]"},
     ZLG_METADATA,
     "variable-length"},
    {"an index of no known size",
     {.codecs = "[{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[2,3],"
                "\"codecs\":[" LITTLE "],\"index_codecs\":[" LITTLE "," ZSTD "]}}]"},
     ZLG_METADATA,
     "no fixed size"},
    {"shards in shards that are too deep",
     {.codecs = "[" SAME(SAME(SAME(SAME(SAME(SAME(SAME(SAME(SAME(LITTLE))))))))) "]"},
     ZLG_LIMIT,
     "nested"},
    {"a codec that may be skipped",
     {.codecs = "[" LITTLE ",{\"name\":\"crc32c\",\"must_understand\":false}]"},
     ZLG_USAGE,
     "must_understand false"},
    {"shards twice",
     {.codecs = "[" SHARD("[2,3]", "[" LITTLE "]") "]", .chunk_shape = LENGTHS(2, 3)},
     ZLG_USAGE,
     "shards of their own"},
    {"a level that there is not",
     {.codecs = "[" LITTLE ",{\"name\":\"gzip\",\"configuration\":{\"level\":10}}]"},
     ZLG_METADATA,
     "level"},
    {"a scale of 0 of version 3",
     {.data_type = "float32",
      .codecs = "[{\"name\":\"scale_offset\",\"configuration\":{\"scale\":0}}," LITTLE "]"},
     ZLG_METADATA,
     "\"scale\" is 0"},
    {"a scale of 0 of numcodecs",
     {.codecs =
          "[" NUMCODECS("fixedscaleoffset", "\"offset\":0,\"scale\":0") "," LITTLE "]"},
     ZLG_METADATA,
     "\"scale\" is 0"},
    {"a scale that float32 takes for 0",
     {.data_type = "float32",
      .codecs =
          "[" NUMCODECS("fixedscaleoffset", "\"offset\":0,\"scale\":1e-50") "," LITTLE "]"},
     ZLG_METADATA,
     "codec fixedscaleoffset: no two numbers could be told apart"},
    {"more digits than float32 has a scale for",
     {.data_type = "float32",
      .codecs = "[" NUMCODECS("quantize", "\"digits\":39") "," LITTLE "]"},
     ZLG_METADATA,
     "no two numbers"},
    /* names and attributes */
    {"a name that is no text",
     {.dimension_names = (const char *const[]){"x", "\xc3("}},
     ZLG_USAGE,
     "dimension_names[1] is not UTF-8"},
    {"attributes that are no object", {.attributes = "[]"}, ZLG_METADATA, "an empty list"},
    {"attributes that are no JSON", {.attributes = "{'a':1}"}, ZLG_METADATA, "JSON"},
    {"attributes of which one stands twice",
     {.attributes = "{\"a\":1,\"a\":2}"},
     ZLG_METADATA,
     "attributes: JSON"},
    /* version 2 */
    {"a type of version 3",
     {.zarr_format = 2, .data_type = "int32"},
     ZLG_METADATA,
     "int32"},
    {"an order of no kind", {.zarr_format = 2, .order = "A"}, ZLG_USAGE, "order is \"A\""},
    {"objects without a codec",
     {.zarr_format = 2, .data_type = "|O", .codecs = "{\"compressor\":null}"},
     ZLG_METADATA,
     "object codec"},
    {"objects that are pickled",
     {.zarr_format = 2, .data_type = "|O", .codecs = "{\"filters\":[{\"id\":\"pickle\"}]}"},
     ZLG_UNSUPPORTED,
     "pickle"},
    {"a filter nobody knows",
     {.zarr_format = 2, .codecs = "{\"filters\":[{\"id\":\"zap\"}]}"},
     ZLG_UNSUPPORTED,
     "zap"},
    {"a scale of 0 of version 2",
     {.zarr_format = 2,
      .codecs = FILTER("fixedscaleoffset", "\"offset\":0,\"scale\":-0.0,"
                                           "\"dtype\":\"<i4\"")},
     ZLG_METADATA,
     "\"scale\" is 0"},
    {"a scale that makes all numbers 0",
     {.zarr_format = 2,
      .codecs = FILTER("fixedscaleoffset", "\"offset\":0,\"scale\":1e-10,"
                                           "\"dtype\":\"<i4\"")},
     ZLG_METADATA,
     "no two numbers"},
    {"a scale that wraps all numbers to 0",
     {.zarr_format = 2,
      .data_type = "|u1",
      .codecs =
          FILTER("fixedscaleoffset", "\"offset\":0,\"scale\":1000,\"dtype\":\"|u1\"")},
     ZLG_METADATA,
     "no two numbers"},
    {"digits of which no float32 has as few",
     {.zarr_format = 2,
      .data_type = "<f4",
      .codecs = FILTER("quantize", "\"digits\":-40,\"dtype\":\"<f4\"")},
     ZLG_METADATA,
     "no two numbers"},
    {"bits of the bytes of numbers",
     {.zarr_format = 2, .codecs = "{\"filters\":[{\"id\":\"packbits\"}]}"},
     ZLG_METADATA,
     "it takes bool"},
    {"numbers cast from bool",
     {.zarr_format = 2,
      .codecs = FILTER("astype", "\"decode_dtype\":\"|b1\",\"encode_dtype\":\"|i1\"")},
     ZLG_METADATA,
     "it takes bool"},
    {"elements that do not divide a chunk",
     {.zarr_format = 2, .codecs = FILTER("shuffle", "\"elementsize\":5")},
     ZLG_METADATA,
     "chunks of 96 bytes are not elements of 5"},
    {"no labels",
     {.zarr_format = 2,
      .data_type = "<U2",
      .codecs = FILTER("categorize", "\"labels\":[],\"dtype\":\"<U2\",\"astype\":\"|u1\"")},
     ZLG_METADATA,
     "\"labels\" is empty"},
    {"a fill value of another type of version 2",
     {.zarr_format = 2, .fill_value = "\"abc\""},
     ZLG_METADATA,
     "fill value"},
    {"attributes of version 2 that are no object",
     {.zarr_format = 2, .attributes = "7"},
     ZLG_METADATA,
     "attributes is 7"},
};

static zlg_array_spec spec_of(const refusal *r)
{
    zlg_array_spec spec = good(r->spec.zarr_format);
#define TAKE(member)                                                                       \
    if (r->spec.member)                                                                    \
        spec.member = r->spec.member;
    TAKE(shape)
    TAKE(object_shape)
    TAKE(chunk_shape)
    TAKE(data_type)
    TAKE(fill_value)
    TAKE(codecs)
    TAKE(chunk_key_encoding)
    TAKE(order)
    TAKE(dimension_names)
    TAKE(attributes)
#undef TAKE
    if (r->spec.chunk_grid) {
        spec.object_shape = NULL;
        spec.chunk_grid = r->spec.chunk_grid;
    }
    return spec;
}

static void test_what_is_refused(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    for (size_t i = 0; i < ZLGI_COUNT(refusals); i++)
        for (int s = 0; s < N_STORES; s++) {
            zlg_array_spec spec = spec_of(&refusals[i]);
            zlg_array *array;
            zlg_error err = {0};
            zlg_status status = zlg_array_create(f.stores[s], "g/a", &spec, &array, &err);
            if (status != refusals[i].status || !strstr(err.message, refusals[i].words))
                fail_msg("%s: got %s \"%s\", expected %s \"%s\"", refusals[i].what,
                         zlg_status_name(status), err.message,
                         zlg_status_name(refusals[i].status), refusals[i].words);
            assert_null(array);
            assert_non_null(strstr(err.message, "array g/a: "));
            assert_int_equal(n_keys(f.stores[s], ""), 0);
        }
    close_fixture(&f);
}

/* A codec that is read only: none is known here, so one is made from another. */
static void test_a_missing_encoder(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    zlg_array *array = put_array(f.stores[0], "", "[4]", "\"uint8\"", REGULAR("[4]"), "0",
                                 "[" SHARD("[2]", "[" LITTLE "," CRC "]") "]");
    const zlgi_sharding *sharding = array->source.level->sharding;
    zlgi_step *step = &sharding->chain->step[1];
    zlgi_codec read_only = *step->codec;
    MUST(zlgi_array_check(array, err_));
    step->codec = &read_only;
    read_only.encode = NULL;
    REFUSED(ZLG_UNSUPPORTED, "codec crc32c: it is read, not written",
            zlgi_array_check(array, err_));
    zlg_array_close(array);
    close_fixture(&f);
}

/* What others have made is read, though nothing can come of it. */
static void test_what_is_there_already(void **state)
{
    (void)state;
    static const char *const codecs[] = {
        NUMCODECS("fixedscaleoffset", "\"offset\":7,\"scale\":0"),
        NUMCODECS("quantize", "\"digits\":100")};
    fixture f;
    open_fixture(&f);
    for (size_t i = 0; i < ZLGI_COUNT(codecs); i++) {
        char list[200];
        float out[2] = {0};
        (void)snprintf(list, sizeof list, "[%s,%s]", codecs[i], LITTLE);
        zlg_array *array =
            put_array(f.stores[0], "a", "[2]", "\"float32\"", REGULAR("[2]"), "1.5", list);
        MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, NULL, err_));
        assert_true(out[0] == 1.5F && out[1] == 1.5F);
        zlg_array_close(array);
    }
    close_fixture(&f);
}

/* ------------------------------------------------------------------ odd but legal */

static void check_made(zlg_store *store, const zlg_array_spec *spec)
{
    zlg_array *array;
    int32_t out[70], in[70];
    for (int i = 0; i < 70; i++)
        in[i] = i * 3;
    MUST(zlg_array_create(store, "a", spec, &array, err_));
    MUST(zlg_array_write(array, NULL, &(zlg_source){.data = in}, NULL, err_));
    zlg_array_close(array);
    MUST(zlg_array_open(store, "a", NULL, &array, err_));
    MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, NULL, err_));
    size_t n = 1;
    for (int i = 0; i < spec->rank; i++)
        n *= (size_t)spec->shape[i];
    assert_memory_equal(out, in, n * sizeof *in);
    zlg_array_close(array);
}

/* Filters that keep what there is, far from the numbers that one thinks of. */
static void test_filters_that_keep_something(void **state)
{
    (void)state;
    static const char *const filters[] = {
        FILTER("fixedscaleoffset",
               "\"offset\":-1000,\"scale\":10,\"dtype\":\"<i4\",\"astype\":\"<i8\""),
        FILTER("fixedscaleoffset",
               "\"offset\":1e5,\"scale\":0.5e1,\"dtype\":\"<i4\",\"astype\":\"<f8\""),
        FILTER("astype", "\"decode_dtype\":\"<i4\",\"encode_dtype\":\"|u1\""),
        FILTER("delta", "\"dtype\":\"<i4\",\"astype\":\"|i1\""),
        FILTER("shuffle", "\"elementsize\":8")};
    fixture f;
    open_fixture(&f);
    for (size_t i = 0; i < ZLGI_COUNT(filters); i++) {
        zlg_array_spec spec = good(2);
        spec.overwrite = 1;
        spec.rank = 1;
        spec.codecs = filters[i];
        check_made(f.stores[0], &spec);
    }
    close_fixture(&f);
}

static void test_what_is_odd_but_legal(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    for (int s = 0; s < N_STORES; s++) {
        zlg_store *store = f.stores[s];
        zlg_array_spec spec = good(3);
        spec.overwrite = 1;
        /* Names that are equal, empty, or left out. */
        spec.dimension_names = (const char *const[]){"x", "x"};
        check_made(store, &spec);
        spec.dimension_names = (const char *const[]){"", NULL};
        check_made(store, &spec);
        zlg_array *array;
        MUST(zlg_array_open(store, "a", NULL, &array, err_));
        assert_string_equal(zlg_array_dimension_name(array, 0), "");
        assert_null(zlg_array_dimension_name(array, 1));
        zlg_array_close(array);
        /* A chunk larger than the array, shards whose chunks divide each edge. */
        spec = good(3);
        spec.overwrite = 1;
        spec.object_shape = LENGTHS(100, 30);
        check_made(store, &spec);
        spec.object_shape = NULL;
        spec.chunk_grid = EDGES("[[4,2,6],[6,3]]");
        spec.chunk_shape = inner;
        check_made(store, &spec);
        /* An uncompressed chunk larger than any memory. */
        int32_t few[2] = {1, 1};
        spec = good(3);
        spec.overwrite = 1;
        spec.object_shape = LENGTHS(INT64_C(1) << 20, 1 << 20);
        spec.codecs = "[" LITTLE "]";
        MUST(zlg_array_create(store, "a", &spec, &array, err_));
        const zlg_axis axes[2] = {{.start = 9, .step = 1, .count = 1},
                                  {.start = 3, .step = 1, .count = 2}};
        const zlg_selection box = {.kind = ZLG_BOX, .rank = 2, .axes = axes};
        MUST(zlg_array_read(array, &box, &(zlg_target){.data = few}, NULL, err_));
        assert_int_equal(few[0] | few[1], 0);
        zlg_array_close(array);
        /* Nothing in it, and no axes. */
        spec = good(3);
        spec.overwrite = 1;
        spec.shape = LENGTHS(0, 7);
        check_made(store, &spec);
        spec.rank = 0;
        check_made(store, &spec);
        spec.zarr_format = 2;
        spec.data_type = ">i4";
        spec.separator = "/";
        check_made(store, &spec);
        spec = good(2);
        spec.overwrite = 1;
        spec.order = "F";
        spec.fill_value = "null";
        check_made(store, &spec);
    }
    close_fixture(&f);
}

/* ------------------------------------------------------------------ limits */

/* A document that the limits would not let in again. */
static void test_documents_beyond_the_limits(void **state)
{
    (void)state;
    zlg_ctx_options options = ZLG_CTX_OPTIONS_INIT;
    zlg_limits limits = ZLG_LIMITS_INIT;
    zlg_ctx *ctx;
    zlg_store *store;
    zlg_array *array;
    zlg_group *group;
    zlg_group_spec group_spec = ZLG_GROUP_SPEC_INIT;
    zlg_array_spec spec = good(3);
    limits.json_depth = 6;
    limits.metadata_bytes = 1500;
    options.limits = &limits;
    MUST(zlg_ctx_new(&options, &ctx, err_));
    MUST(zlg_store_open_memory(ctx, &store, err_));
    spec.attributes = "{\"a\":[[[[[1]]]]]}"; /* six levels, and one of the document */
    REFUSED(ZLG_LIMIT, "JSON", zlg_array_create(store, "", &spec, &array, err_));
    group_spec.attributes = spec.attributes;
    REFUSED(ZLG_LIMIT, "JSON", zlg_group_create(store, "", &group_spec, &group, err_));
    /* A list is longer where it is laid out for people. */
    char attributes[1400] = "{\"a\":[1";
    for (int i = 0; i < 600; i++)
        memcpy(attributes + 7 + 2 * i, ",1", 3);
    memcpy(attributes + 7 + 1200, "]}", 3);
    spec.attributes = group_spec.attributes = attributes;
    for (int format = 2; format <= 3; format++) {
        spec.zarr_format = group_spec.zarr_format = format;
        spec.data_type = format == 2 ? "|u1" : "uint8";
        REFUSED(ZLG_LIMIT, "metadata_bytes",
                zlg_array_create(store, "g/a", &spec, &array, err_));
        REFUSED(ZLG_LIMIT, "metadata_bytes",
                zlg_group_create(store, "g", &group_spec, &group, err_));
    }
    assert_int_equal(n_keys(store, ""), 0);
    zlg_store_close(store);
    zlg_ctx_close(ctx);
}

/* The limits are those of the context: what they let in is read back. */
static void test_chunks_at_the_limit(void **state)
{
    (void)state;
    static const char *const codecs[] = {NULL, "[" LITTLE "," GZIP "," CRC "]",
                                         "[" SHARD("[4,6]", "[" LITTLE "," GZIP "]") "]"};
    zlg_ctx_options options = ZLG_CTX_OPTIONS_INIT;
    zlg_limits limits = ZLG_LIMITS_INIT;
    options.limits = &limits;
    for (size_t i = 0; i < ZLGI_COUNT(codecs); i++)
        for (int more = 0; more < 2; more++) {
            zlg_ctx *ctx;
            zlg_store *store;
            zlg_array *array;
            zlg_array_spec spec = good(3);
            spec.codecs = codecs[i];
            limits.chunk_bytes = 4 * 6 * 4 - more;
            MUST(zlg_ctx_new(&options, &ctx, err_));
            MUST(zlg_store_open_memory(ctx, &store, err_));
            if (more)
                REFUSED(ZLG_LIMIT,
                        "a chunk of 96 bytes passes the limit of 95 (chunk_bytes)",
                        zlg_array_create(store, "", &spec, &array, err_));
            else
                check_made(store, &spec);
            zlg_store_close(store);
            zlg_ctx_close(ctx);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_a_missing_encoder),
        cmocka_unit_test(test_what_is_there_already),
        cmocka_unit_test(test_filters_that_keep_something),
        cmocka_unit_test(test_what_is_odd_but_legal),
        cmocka_unit_test(test_documents_beyond_the_limits),
        cmocka_unit_test(test_chunks_at_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
