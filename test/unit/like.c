/* New arrays like others: what is taken, what is given instead, and what never comes
 * along. */
#define _GNU_SOURCE
#include "change_test.h"

#define DOCUMENT                                                                           \
    "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[12,8],\"data_type\":\"int16\"," \
    "\"chunk_grid\":" REGULAR(                                                             \
        "[6,4]") ",\"chunk_key_encoding\":{\"name\":\"v2\","                               \
                 "\"configuration\":{\"separator\":\"/"                                    \
                 "\"}},\"fill_value\":-3,\"codecs\":[%s],"                                 \
                 "\"dimension_names\":[\"y\",null],\"attributes\":{\"title\":\"old\"}}"

static zlg_array *open_old(zlg_store *store, const char *codecs)
{
    char text[2000];
    zlg_array *array;
    snprintf(text, sizeof text, DOCUMENT, codecs);
    put_text(store, "old/zarr.json", text);
    MUST(zlg_array_open(store, "old", NULL, &array, err_));
    return array;
}

static zlg_array *create_like(zlg_store *store, zlg_array_spec *spec)
{
    zlg_array *array;
    spec->overwrite = 1;
    MUST(zlg_array_create(store, "new", spec, &array, err_));
    return array;
}

static void check_codecs(zlg_array *array, const char *expected)
{
    zlg_text text;
    MUST(zlg_array_codecs(array, &text, err_));
    assert_string_equal(text.data, expected);
    zlg_text_free(&text);
}

static void test_all_is_taken_but_the_attributes(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    zlg_store *store = f.stores[0];
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    zlg_array *old = open_old(store, TRANSPOSE("[1,0]") "," BIG "," CRC);
    spec.like = old;
    zlg_array *array = create_like(store, &spec);
    size_t n;
    assert_true(zlgi_same_elements(array, old));
    assert_memory_equal(zlg_array_object_shape(array), zlg_array_object_shape(old), 16);
    assert_int_equal(*(const int16_t *)zlg_array_fill_value(array, &n), -3);
    assert_string_equal(zlg_array_dimension_name(array, 0), "y");
    assert_null(zlg_array_dimension_name(array, 1));
    check_codecs(array, "[" TRANSPOSE("[1,0]") "," BIG "," CRC "]");
    check_has(store, "new/zarr.json", "\"v2\"");
    check_attributes(store, "new", "{}");
    zlg_array_close(array);
    zlg_array_close(old);
    close_fixture(&f);
}

static void test_what_is_given_goes_first(void **state)
{
    (void)state;
    static const int64_t shape[2] = {5, 100}, object[2] = {5, 10};
    fixture f;
    open_fixture(&f);
    zlg_store *store = f.stores[0];
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    zlg_array *old = open_old(store, LITTLE);
    spec.like = old;
    spec.rank = 2;
    spec.shape = shape;
    spec.object_shape = object;
    spec.data_type = "float64";
    spec.fill_value = "1.5";
    spec.codecs = "[" LITTLE "," CRC "]";
    spec.chunk_key_encoding = "default";
    spec.dimension_names = (const char *const[]){NULL, "x"};
    spec.attributes = "{\"title\":\"new\"}";
    zlg_array *array = create_like(store, &spec);
    size_t n;
    assert_memory_equal(zlg_array_shape(array), shape, sizeof shape);
    assert_memory_equal(zlg_array_object_shape(array), object, sizeof object);
    assert_int_equal(zlg_array_dtype(array).type, ZLG_FLOAT64);
    assert_true(*(const double *)zlg_array_fill_value(array, &n) == 1.5);
    check_codecs(array, "[" LITTLE "," CRC "]");
    assert_string_equal(zlg_array_dimension_name(array, 1), "x");
    check_attributes(store, "new", "{\"title\":\"new\"}");
    zlg_array_close(array);
    zlg_array_close(old);
    close_fixture(&f);
}

static void test_parts_of_a_shard(void **state)
{
    (void)state;
    static const int64_t inner[2] = {2, 2};
    fixture f;
    open_fixture(&f);
    zlg_store *store = f.stores[0];
    zlg_array *old = open_old(store, SHARD_AT("start", "[3,4]", "[" LITTLE "," CRC "]"));
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    spec.like = old;
    zlg_array *array = create_like(store, &spec);
    check_codecs(array, "[" SHARD_AT("start", "[3,4]", "[" LITTLE "," CRC "]") "]");
    zlg_array_close(array);
    spec.chunk_shape = inner;
    array = create_like(store, &spec);
    check_codecs(array, "[" SHARD_AT("start", "[2,2]", "[" LITTLE "," CRC "]") "]");
    zlg_array_close(array);
    spec.chunk_shape = NULL;
    spec.codecs = "[" BIG "]";
    array = create_like(store, &spec);
    check_codecs(array, "[" SHARD_AT("start", "[3,4]", "[" BIG "]") "]");
    zlg_array_close(array);
    spec.codecs = NULL;
    spec.index_location = "end";
    array = create_like(store, &spec);
    check_codecs(array, "[" SHARD("[3,4]", "[" LITTLE "," CRC "]") "]");
    zlg_array_close(array);
    zlg_array_close(old);
    /* Shards of an array without. */
    old = open_old(store, LITTLE);
    spec = (zlg_array_spec)ZLG_ARRAY_SPEC_INIT;
    spec.like = old;
    spec.chunk_shape = inner;
    array = create_like(store, &spec);
    check_codecs(array, "[" SHARD("[2,2]", "[" LITTLE "]") "]");
    zlg_array_close(array);
    zlg_array_close(old);
    close_fixture(&f);
}

static void test_uneven_grids(void **state)
{
    (void)state;
    static const int64_t longer[2] = {13, 8}, even[2] = {6, 8};
    fixture f;
    open_fixture(&f);
    zlg_store *store = f.stores[0];
    zlg_array *array,
        *old = put_array(store, "old", "[12,8]", "\"int16\"",
                         "{\"name\":\"rectilinear\",\"configuration\":{\"kind\":\"inline\","
                         "\"chunk_shapes\":[[[4,3]],[3,5]]}}",
                         "0", "[" LITTLE "]");
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    spec.like = old;
    array = create_like(store, &spec);
    assert_true(zlg_array_is_rectilinear(array));
    assert_int_equal(zlg_array_edge(array, 1, 1), 5);
    zlg_array_close(array);
    spec.rank = 2;
    spec.shape = longer;
    REFUSED(ZLG_METADATA, "edges reach 12",
            zlg_array_create(store, "new", &spec, &array, err_));
    spec.object_shape = even;
    array = create_like(store, &spec);
    assert_false(zlg_array_is_rectilinear(array));
    zlg_array_close(array);
    zlg_array_close(old);
    close_fixture(&f);
}

static void test_version_2(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    zlg_store *store = f.stores[0];
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    zlg_array *old;
    put_text(store, "old/.zarray",
             "{\"zarr_format\":2,\"shape\":[4,6],\"chunks\":[2,3],\"dtype\":\">u2\","
             "\"fill_value\":9,\"order\":\"F\",\"filters\":[{\"id\":\"delta\","
             "\"dtype\":\">u2\"}],\"compressor\":null,\"dimension_separator\":\"/\"}");
    MUST(zlg_array_open(store, "old", NULL, &old, err_));
    spec.like = old;
    zlg_array *array = create_like(store, &spec);
    check_codecs(array, "{\"filters\":[{\"id\":\"delta\",\"dtype\":\">u2\"}],"
                        "\"compressor\":null}");
    check_has(store, "new/.zarray", "\"dtype\": \">u2\"");
    check_has(store, "new/.zarray", "\"order\": \"F\"");
    check_has(store, "new/.zarray", "\"fill_value\": 9");
    check_has(store, "new/.zarray", "\"dimension_separator\": \"/\"");
    zlg_array_close(array);
    spec.codecs = "{\"compressor\":{\"id\":\"zlib\",\"level\":1}}";
    spec.order = "C";
    spec.separator = ".";
    array = create_like(store, &spec);
    check_codecs(array, "{\"filters\":null,\"compressor\":{\"id\":\"zlib\",\"level\":1}}");
    check_has(store, "new/.zarray", "\"order\": \"C\"");
    check_has(store, "new/.zarray", "\"dimension_separator\": \".\"");
    zlg_array_close(array);
    spec.zarr_format = 3;
    REFUSED(ZLG_USAGE, "zarr_format is 3, that of `like` is 2",
            zlg_array_create(store, "new", &spec, &array, err_));
    zlg_array_close(old);
    close_fixture(&f);
}

static void test_other_axes(void **state)
{
    (void)state;
    static const int64_t shape[1] = {4};
    fixture f;
    open_fixture(&f);
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    zlg_array *array, *old = open_old(f.stores[0], LITTLE);
    spec.like = old;
    spec.rank = 1;
    spec.shape = shape;
    REFUSED(ZLG_USAGE, "rank is 1, that of `like` is 2",
            zlg_array_create(f.stores[0], "new", &spec, &array, err_));
    spec = (zlg_array_spec)ZLG_ARRAY_SPEC_INIT;
    spec.like = old;
    spec.target_chunk_bytes = 1000;
    REFUSED(ZLG_USAGE, "target_chunk_bytes is given",
            zlg_array_create(f.stores[0], "new", &spec, &array, err_));
    zlg_array_close(old);
    close_fixture(&f);
}

/* Of an array in another store, also when that is closed by then. */
static void test_from_elsewhere(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    zlg_array *old = open_old(f.stores[0], LITTLE);
    spec.like = old;
    zlg_array *array = create_like(f.stores[1], &spec);
    zlg_array_close(old);
    assert_string_equal(zlg_array_dimension_name(array, 0), "y");
    check_codecs(array, "[" LITTLE "]");
    zlg_array_close(array);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_is_taken_but_the_attributes),
        cmocka_unit_test(test_what_is_given_goes_first),
        cmocka_unit_test(test_parts_of_a_shard),
        cmocka_unit_test(test_uneven_grids),
        cmocka_unit_test(test_version_2),
        cmocka_unit_test(test_other_axes),
        cmocka_unit_test(test_from_elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
