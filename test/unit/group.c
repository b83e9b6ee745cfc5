/* Groups and consolidated metadata: where the map is found, and what outlives what. */
#define _GNU_SOURCE
#include "fault/fault.h"

#define ARRAY_2                                                                            \
    "{\"zarr_format\":2,\"shape\":[2],\"chunks\":[2],\"dtype\":\"|u1\","                   \
    "\"fill_value\":5,\"order\":\"C\",\"filters\":null,\"compressor\":null}"

static const char *const MAP_2 =
    "{\"zarr_consolidated_format\":1,\"metadata\":{\".zgroup\":{\"zarr_format\":2},"
    "\"g/.zgroup\":{\"zarr_format\":2},\"g/a/.zarray\":" ARRAY_2 ","
    "\"g/a/.zattrs\":{\"k\":1}}}";

static const char *const MAP_3 =
    "{\"zarr_format\":3,\"node_type\":\"group\",\"consolidated_metadata\":{\"kind\":"
    "\"inline\",\"must_understand\":false,\"metadata\":{"
    "\"g\":{\"zarr_format\":3,\"node_type\":\"group\"},"
    "\"g/a\":{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[2],\"data_type\":"
    "\"uint8\",\"chunk_grid\":" REGULAR(
        "[2]") ",\"chunk_key_encoding\":{\"name\":"
               "\"default\"},\"fill_value\":5,\"codecs\":[{\"name\":\"bytes\"}],"
               "\"attributes\":{\"k\":1}}}}}";

/* The members are in the map alone. The groups are closed before the array is used. */
static void check_hierarchy(zlg_store *store, const char *path)
{
    zlg_group *top, *group;
    zlg_array *array;
    zlg_text attributes;
    uint8_t out[2];
    MUST(zlg_group_open(store, path, NULL, &top, err_));
    assert_int_equal(zlg_group_is_consolidated(top), 1);
    MUST(zlg_group_open_group(top, "g", &group, err_));
    zlg_group_close(top);
    assert_int_equal(zlg_group_is_consolidated(group), 1);
    MUST(zlg_group_open_array(group, "a", &array, err_));
    zlg_group_close(group);
    MUST(zlg_array_attributes(array, &attributes, err_));
    assert_string_equal(attributes.data, "{\"k\":1}");
    zlg_text_free(&attributes);
    MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, NULL, err_));
    assert_int_equal(out[1], 5);
    zlg_array_close(array);

    zlg_open_options options = ZLG_OPEN_OPTIONS_INIT;
    options.ignore_consolidated = 1;
    MUST(zlg_group_open(store, path, &options, &top, err_));
    assert_int_equal(zlg_group_is_consolidated(top), 0);
    assert_int_equal(zlg_group_open_group(top, "g", &group, NULL), ZLG_NOT_FOUND);
    zlg_group_close(top);
}

static void check_both(const char *key_group, const char *group, const char *key_map,
                       const char *map)
{
    zlg_ctx *ctx;
    zlg_store *store;
    char key[64];
    MUST(zlg_ctx_new(NULL, &ctx, err_));
    MUST(zlg_store_open_memory(ctx, &store, err_));
    static const char *const paths[] = {"", "x/y"};
    for (int i = 0; i < 2; i++) {
        const char *slash = *paths[i] ? "/" : "";
        snprintf(key, sizeof key, "%s%s%s", paths[i], slash, key_group);
        put_text(store, key, group);
        snprintf(key, sizeof key, "%s%s%s", paths[i], slash, key_map);
        put_text(store, key, map);
        check_hierarchy(store, paths[i]);
    }
    zlg_store_close(store);
    zlg_ctx_close(ctx);
}

static void test_the_map_of_version_2(void **state)
{
    (void)state;
    check_both(".zgroup", "{\"zarr_format\":2}", ".zmetadata", MAP_2);
}

static void test_the_map_of_version_3(void **state)
{
    (void)state;
    check_both("zarr.json", MAP_3, "zarr.json", MAP_3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_map_of_version_2),
        cmocka_unit_test(test_the_map_of_version_3),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
