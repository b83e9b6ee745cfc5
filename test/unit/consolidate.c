/* Consolidated metadata that is written: what stands in it, and what reads it. */
#define _GNU_SOURCE
#include "change_test.h"

static void make_group(zlg_store *store, const char *path, int zarr_format)
{
    zlg_group_spec spec = ZLG_GROUP_SPEC_INIT;
    zlg_group *group;
    char attributes[64];
    snprintf(attributes, sizeof attributes, "{\"of\":\"%s\"}", path);
    spec.zarr_format = zarr_format;
    spec.attributes = attributes;
    MUST(zlg_group_create(store, path, &spec, &group, err_));
    zlg_group_close(group);
}

static void make_array(zlg_store *store, const char *path, int zarr_format)
{
    static const int64_t shape[1] = {4};
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    zlg_array *array;
    spec.zarr_format = zarr_format;
    spec.rank = 1;
    spec.shape = shape;
    spec.data_type = zarr_format == 2 ? "<f4" : "float32";
    MUST(zlg_array_create(store, path, &spec, &array, err_));
    zlg_array_close(array);
}

static void make_tree(zlg_store *store, const char *top, int zarr_format)
{
    static const char *const nodes[] = {"", "/g", "/g/h", "/g-x", "/g/a", "/g/h/b"};
    for (int i = 0; i < 6; i++) {
        char path[64];
        snprintf(path, sizeof path, "%s%s", top, *top ? nodes[i] : nodes[i] + (i > 0));
        (i < 4 ? make_group : make_array)(store, path, zarr_format);
    }
}

static int note_member(void *user, const char *path, zlg_node kind)
{
    char *list = user;
    size_t n = strlen(list);
    snprintf(list + n, 200 - n, "%s%s ", path, kind == ZLG_NODE_ARRAY ? "=" : "");
    return 0;
}

/* The members of the group, from its own copy and from the store, are these. */
static void check_members(zlg_store *store, const char *path, const char *expected)
{
    for (int ignore = 0; ignore < 2; ignore++) {
        zlg_open_options options = ZLG_OPEN_OPTIONS_INIT;
        zlg_group *group;
        char list[200] = "";
        options.ignore_consolidated = ignore;
        MUST(zlg_group_open(store, path, &options, &group, err_));
        assert_int_equal(zlg_group_is_consolidated(group), !ignore);
        MUST(zlg_group_members(group, 1, note_member, list, err_));
        assert_string_equal(list, expected);
        zlg_group_close(group);
    }
}

static void check_opens(zlg_store *store, const char *top)
{
    zlg_group *group, *member;
    zlg_array *array;
    zlg_text text;
    MUST(zlg_group_open(store, top, NULL, &group, err_));
    MUST(zlg_group_open_array(group, "g/h/b", &array, err_));
    assert_int_equal(zlg_array_shape(array)[0], 4);
    zlg_array_close(array);
    MUST(zlg_group_open_group(group, "g", &member, err_));
    MUST(zlg_group_attributes(member, &text, err_));
    assert_non_null(strstr(text.data, "g\"}"));
    zlg_text_free(&text);
    zlg_group_close(member);
    zlg_group_close(group);
}

static void test_all_nodes_are_in_it(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    for (int s = 0; s < N_STORES; s++)
        for (int format = 2; format <= 3; format++)
            for (int deep = 0; deep < 2; deep++) {
                zlg_store *store = f.stores[s];
                const char *top = deep ? "deep/down" : "";
                make_tree(store, top, format);
                int n = n_keys(store, "");
                MUST(zlg_group_consolidate(store, top, NULL, err_));
                assert_int_equal(n_keys(store, ""), n + (format == 2));
                check_members(store, top, "g g/a= g/h g/h/b= g-x ");
                check_opens(store, top);
                /* Again, and what came and went in between. */
                MUST(zlg_node_delete(store, deep ? "deep/down/g/h" : "g/h", NULL, err_));
                make_array(store, deep ? "deep/down/new" : "new", format);
                MUST(zlg_group_consolidate(store, top, NULL, err_));
                check_members(store, top, "g g/a= g-x new= ");
                MUST(zlg_node_delete(store, "", NULL, err_));
            }
    close_fixture(&f);
}

/* A group below has a copy of its own, of which the one above does not make a copy. */
static void test_groups_in_version_3(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    zlg_store *store = f.stores[0];
    make_tree(store, "", 3);
    MUST(zlg_group_consolidate(store, "g", NULL, err_));
    MUST(zlg_group_consolidate(store, "", NULL, err_));
    check_members(store, "g", "a= h h/b= ");
    zlg_text text;
    MUST(zlg_store_get(store, "zarr.json", &text, err_));
    zlgi_arena arena;
    const zlgi_json *root;
    zlgi_arena_init(&arena, &zlgi_default_alloc);
    MUST(zlgi_json_parse(&arena, text.data, text.n_bytes, 64, &root, err_));
    const zlgi_json *map =
        zlgi_json_get(zlgi_json_get(root, "consolidated_metadata"), "metadata");
    assert_int_equal(map->n_items, 5);
    const zlgi_json *inner =
        zlgi_json_get(zlgi_json_get(map, "g"), "consolidated_metadata");
    assert_true(zlgi_json_is(zlgi_json_get(inner, "kind"), "inline"));
    assert_int_equal(zlgi_json_get(inner, "must_understand")->type, ZLGI_JSON_FALSE);
    assert_int_equal(zlgi_json_get(inner, "metadata")->n_items, 0);
    assert_null(zlgi_json_get(zlgi_json_get(map, "g/a"), "consolidated_metadata"));
    zlgi_arena_reset(&arena);
    zlg_text_free(&text);
    close_fixture(&f);
}

static void test_keys_in_version_2(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    zlg_store *store = f.stores[0];
    make_group(store, "", 2);
    make_array(store, "a", 2);
    MUST(zlg_group_consolidate(store, "", NULL, err_));
    check_has(store, ".zmetadata", "\"zarr_consolidated_format\": 1");
    check_has(store, ".zmetadata", "\".zgroup\": {\n      \"zarr_format\": 2\n    }");
    check_has(store, ".zmetadata", "\".zattrs\": {\n      \"of\": \"\"\n    }");
    check_has(store, ".zmetadata", "\"a/.zarray\": {");
    check_has(store, ".zmetadata", "\"a/.zattrs\": {}");
    close_fixture(&f);
}

/* Members that nobody here knows, and the text of numbers, come through. */
static void test_documents_are_copied_as_they_are(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    zlg_store *store = f.stores[0];
    put_text(store, "zarr.json",
             "{\"node_type\":\"group\",\"x\":{\"must_understand\":false},"
             "\"consolidated_metadata\":null,\"zarr_format\":3}");
    put_text(store, "q/zarr.json",
             "{\"zarr_format\":3,\"node_type\":\"array\",\"data_type\":\"quaternion\","
             "\"attributes\":{\"n\":[NaN,1e400,18446744073709551616]}}");
    zlg_edit_options options = ZLG_EDIT_OPTIONS_INIT;
    options.python_tokens = 1;
    MUST(zlg_group_consolidate(store, "", &options, err_));
    check_has(store, "zarr.json", "{\n  \"node_type\": \"group\",\n  \"x\": {\n");
    check_has(store, "zarr.json",
              "NaN,\n            1e400,\n            18446744073709551616");
    check_has(store, "zarr.json", "  },\n  \"zarr_format\": 3\n}");
    close_fixture(&f);
}

/* What is no JSON is copied when the caller asks for it, or stood there before. */
static void test_tokens(void **state)
{
    (void)state;
    static const char *const names[2][2] = {{".zmetadata", ".zgroup"},
                                            {"zarr.json", "zarr.json"}};
    fixture f;
    open_fixture(&f);
    for (int v = 0; v < 2; v++) {
        zlg_store *store = f.stores[v];
        zlg_edit_options options = ZLG_EDIT_OPTIONS_INIT;
        make_group(store, "", 2 + v);
        make_array(store, "g/a", 2 + v);
        options.python_tokens = 1;
        MUST(
            zlg_node_set_attributes(store, "g/a", "{\"x\":[1,-Infinity]}", &options, err_));
        zlg_text before, after;
        MUST(zlg_store_get(store, names[v][1], &before, err_));
        int n = n_keys(store, "");
        REFUSED(ZLG_USAGE, "member g/a: ", zlg_group_consolidate(store, "", NULL, err_));
        REFUSED(ZLG_USAGE, "\"x\": [1]: -Infinity is no JSON; python_tokens copies it",
                zlg_group_consolidate(store, "", NULL, err_));
        MUST(zlg_store_get(store, names[v][1], &after, err_));
        assert_int_equal(n_keys(store, ""), n);
        assert_int_equal(after.n_bytes, before.n_bytes);
        assert_memory_equal(after.data, before.data, before.n_bytes);
        zlg_text_free(&before);
        zlg_text_free(&after);
        MUST(zlg_group_consolidate(store, "", &options, err_));
        check_has(store, names[v][0], "-Infinity");
        MUST(zlg_group_consolidate(store, "", NULL, err_)); /* as it stood */
        check_has(store, names[v][0], "-Infinity");
        MUST(zlg_node_set_attributes(store, "g/a", "{\"x\":1}", &options, err_));
        MUST(zlg_group_consolidate(store, "", NULL, err_));
        MUST(zlg_node_set_attributes(store, "g/a", "{\"x\":NaN}", &options, err_));
        REFUSED(ZLG_USAGE, "NaN is no JSON", zlg_group_consolidate(store, "", NULL, err_));
    }
    close_fixture(&f);
}

static void test_what_is_refused(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    zlg_store *store = f.stores[0];
    zlg_edit_options options = ZLG_EDIT_OPTIONS_INIT;
    REFUSED(ZLG_NOT_FOUND, "no group is there",
            zlg_group_consolidate(store, "", NULL, err_));
    make_array(store, "g/a", 3);
    REFUSED(ZLG_NOT_FOUND, "an array, not a group",
            zlg_group_consolidate(store, "g/a", NULL, err_));
    options.promise = 9;
    REFUSED(ZLG_USAGE, "promise 9", zlg_group_consolidate(store, "g", &options, err_));
    put_text(store, "g/b/zarr.json", "{");
    REFUSED(ZLG_METADATA, "group g: member b: zarr.json: JSON",
            zlg_group_consolidate(store, "g", NULL, err_));
    zlg_group *group;
    MUST(zlg_group_open(store, "g", NULL, &group, err_));
    assert_false(zlg_group_is_consolidated(group));
    zlg_group_close(group);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_nodes_are_in_it),
        cmocka_unit_test(test_groups_in_version_3),
        cmocka_unit_test(test_keys_in_version_2),
        cmocka_unit_test(test_documents_are_copied_as_they_are),
        cmocka_unit_test(test_tokens),
        cmocka_unit_test(test_what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
