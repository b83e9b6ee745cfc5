/* Structs of options: absent, of an older caller, and not started from their macro. */
#define _GNU_SOURCE
#include "fault/fault.h"
#include "store/folder.h"

static void test_no_options_are_the_defaults(void **state)
{
    (void)state;
    zlg_ctx *ctx;
    zlg_store *store;
    zlg_array *array;
    zlg_node kind;
    uint8_t out[4];
    MUST(zlg_ctx_new(NULL, &ctx, err_));
    MUST(zlg_store_open_memory(ctx, &store, err_));
    array = put_array(store, "", "[4]", "\"uint8\"", REGULAR("[2]"), "3", "[" LITTLE "]");
    MUST(zlg_node_kind(store, "", NULL, &kind, err_));
    MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, NULL, err_));
    assert_int_equal(out[3], 3);
    zlg_array_close(array);
    zlg_store_close(store);
    zlg_ctx_close(ctx);
}

/* What lies beyond the size that the caller knows is not looked at. */
static void test_a_shorter_struct(void **state)
{
    (void)state;
    zlg_ctx *ctx;
    zlg_store *store;
    uint8_t out[4];
    MUST(zlg_ctx_new(NULL, &ctx, err_));
    MUST(zlg_store_open_memory(ctx, &store, err_));
    zlg_array *array =
        put_array(store, "", "[4]", "\"uint8\"", REGULAR("[2]"), "3", "[" LITTLE "]");
    zlg_call call = {.n_bytes_struct = offsetof(zlg_call, missing_is_error),
                     .missing_is_error = 1};
    MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, &call, err_));
    call.n_bytes_struct = sizeof call;
    assert_int_equal(zlg_array_read(array, NULL, &(zlg_target){.data = out}, &call, NULL),
                     ZLG_NOT_FOUND);
    zlg_array_close(array);
    zlg_store_close(store);
    zlg_ctx_close(ctx);
}

/* Without a size every option would be passed over in silence. */
static void test_a_struct_without_its_size(void **state)
{
    (void)state;
    zlg_ctx *ctx, *other;
    zlg_store *store, *files;
    zlg_group *group;
    zlg_array *array, *made;
    zlg_node kind;
    uint8_t out[4] = {0};
    const zlg_call call = {.missing_is_error = 1};
    const zlg_target target = {.data = out};
    MUST(zlg_ctx_new(NULL, &ctx, err_));
    MUST(zlg_store_open_memory(ctx, &store, err_));
    array = put_array(store, "a", "[4]", "\"uint8\"", REGULAR("[2]"), "3", "[" LITTLE "]");
    assert_int_equal(zlg_array_read(array, NULL, &target, &call, NULL), ZLG_USAGE);
    assert_int_equal(zlg_array_write(array, NULL, &(zlg_source){.data = out}, &call, NULL),
                     ZLG_USAGE);
    assert_int_equal(zlg_ctx_new(&(zlg_ctx_options){.n_threads = 2}, &other, NULL),
                     ZLG_USAGE);
    assert_int_equal(
        zlg_store_open_fs(ctx, "/tmp", &(zlg_fs_options){.read_only = 1}, &files, NULL),
        ZLG_USAGE);
    const zlg_open_options options = {.zarr_format = 3};
    assert_int_equal(zlg_node_kind(store, "a", &options, &kind, NULL), ZLG_USAGE);
    assert_int_equal(zlg_group_open(store, "", &options, &group, NULL), ZLG_USAGE);
    assert_int_equal(zlg_array_open(store, "a", &options, &made, NULL), ZLG_USAGE);
    const zlg_array_spec spec = {.data_type = "int8"};
    assert_int_equal(zlg_array_create(store, "b", &spec, &made, NULL), ZLG_USAGE);
    const zlg_group_spec group_spec = {.zarr_format = 3};
    assert_int_equal(zlg_group_create(store, "b", &group_spec, &group, NULL), ZLG_USAGE);
    const zlg_edit_options edit = {.replace = 1};
    assert_int_equal(zlg_node_set_attributes(store, "a", "{}", &edit, NULL), ZLG_USAGE);
    assert_int_equal(zlg_group_consolidate(store, "", &edit, NULL), ZLG_USAGE);
    zlg_array_close(array);
    zlg_store_close(store);
    zlg_ctx_close(ctx);
}

/* What writes go by that ask for nothing is as the array was opened, also by refresh. */
static void test_defaults_of_writes(void **state)
{
    (void)state;
    zlg_ctx *ctx;
    zlg_store *store;
    zlg_array *array, *fresh;
    zlg_open_options options = ZLG_OPEN_OPTIONS_INIT;
    zlg_call call = ZLG_CALL_INIT;
    zlg_text text;
    const zlg_source zeros = {.data = "\0\0\0\0"};
    MUST(zlg_ctx_new(NULL, &ctx, err_));
    MUST(zlg_store_open_memory(ctx, &store, err_));
    array = put_array(store, "a", "[4]", "\"uint8\"", REGULAR("[4]"), "0", "[" LITTLE "]");
    assert_true(array->promise == ZLG_VISIBLE && !array->keep_empty);
    MUST(zlg_array_write(array, NULL, &zeros, NULL, err_));
    assert_int_equal(zlg_store_get(store, "a/c/0", &text, NULL), ZLG_NOT_FOUND);
    zlg_array_close(array);
    options.keep_empty = 1;
    options.promise = ZLG_DURABLE;
    options.zarr_format = 3;
    MUST(zlg_array_open(store, "a", &options, &array, err_));
    MUST(zlg_array_refresh(array, &fresh, err_));
    assert_true(fresh->promise == ZLG_DURABLE && fresh->keep_empty);
    MUST(zlg_array_write(fresh, NULL, &zeros, NULL, err_));
    MUST(zlg_store_get(store, "a/c/0", &text, err_));
    zlg_text_free(&text);
    call.keep_empty = -1;
    MUST(zlg_array_write(fresh, NULL, &zeros, &call, err_));
    assert_int_equal(zlg_store_get(store, "a/c/0", &text, NULL), ZLG_NOT_FOUND);
    call.promise = ZLG_VERIFIED + 1;
    assert_int_equal(zlg_array_write(fresh, NULL, &zeros, &call, NULL), ZLG_USAGE);
    zlg_array_close(array);
    zlg_array_close(fresh);
    options.promise = ZLG_VERIFIED + 1;
    assert_int_equal(zlg_array_open(store, "a", &options, &array, NULL), ZLG_USAGE);
    zlg_store_close(store);
    zlg_ctx_close(ctx);
}

/* The version of the handle, though another lies beside it; and the shape of today. */
static void test_refresh(void **state)
{
    (void)state;
    zlg_ctx *ctx;
    zlg_store *store;
    zlg_array *array, *fresh;
    zlg_error err = {0};
    static const char v2[] = "{\"zarr_format\":2,\"shape\":[%d],\"chunks\":[2],\"dtype\":"
                             "\"|u1\",\"order\":\"C\","
                             "\"fill_value\":0,\"filters\":null,\"compressor\":null}";
    char text[200];
    MUST(zlg_ctx_new(NULL, &ctx, err_));
    MUST(zlg_store_open_memory(ctx, &store, err_));
    snprintf(text, sizeof text, v2, 4);
    put_text(store, "a/.zarray", text);
    MUST(zlg_array_open(store, "a", NULL, &array, err_));
    zlg_array_close(
        put_array(store, "a", "[7]", "\"uint8\"", REGULAR("[2]"), "0", "[" LITTLE "]"));
    snprintf(text, sizeof text, v2, 5);
    put_text(store, "a/.zarray", text);
    MUST(zlg_array_refresh(array, &fresh, err_));
    assert_true(zlg_array_shape(array)[0] == 4 && zlg_array_shape(fresh)[0] == 5);
    zlg_array_close(fresh);
    MUST(zlg_store_delete(store, "a/.zarray", err_));
    assert_int_equal(zlg_array_refresh(array, &fresh, &err), ZLG_NOT_FOUND);
    assert_null(fresh);
    assert_non_null(strstr(err.message, "array a: no array is there"));
    zlg_array_close(array);
    zlg_store_close(store);
    zlg_ctx_close(ctx);
}

static void test_versions_that_are_none(void **state)
{
    (void)state;
    zlg_ctx *ctx;
    zlg_store *store;
    zlg_node kind;
    zlg_open_options options = ZLG_OPEN_OPTIONS_INIT;
    options.zarr_format = 1;
    MUST(zlg_ctx_new(NULL, &ctx, err_));
    MUST(zlg_store_open_memory(ctx, &store, err_));
    assert_int_equal(zlg_node_kind(store, "a", &options, &kind, NULL), ZLG_USAGE);
    zlg_store_close(store);
    zlg_ctx_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_options_are_the_defaults),
        cmocka_unit_test(test_a_shorter_struct),
        cmocka_unit_test(test_a_struct_without_its_size),
        cmocka_unit_test(test_defaults_of_writes),
        cmocka_unit_test(test_refresh),
        cmocka_unit_test(test_versions_that_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
