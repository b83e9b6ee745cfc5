/* Which memory is encoded: the caller's, or a copy when the caller may leave. */
#include "test.h"
#include "zellige_ext.h"

static const void *seen;

static zlg_status parse(void *self, const char *configuration, int zarr_format,
                        const zlg_decoded *from, void **out_state, zlg_error *err)
{
    (void)configuration, (void)zarr_format, (void)from, (void)err;
    *out_state = self;
    return ZLG_OK;
}

static zlg_status encode(void *state, const zlg_decoded *from, zlg_bytes in,
                         zlg_output *output, zlg_error *err)
{
    (void)state, (void)from;
    seen = in.data;
    return zlg_output_append(output, in.data, in.n_bytes, err);
}

static zlg_status decode(void *state, const zlg_decoded *from, zlg_bytes in,
                         zlg_output *output, zlg_error *err)
{
    (void)state, (void)from;
    return zlg_output_append(output, in.data, in.n_bytes, err);
}

static int always(void *user, int begins)
{
    (void)user, (void)begins;
    return 0;
}

static void must(zlg_status status, const zlg_error *err)
{
    if (status != ZLG_OK)
        fail_msg("%s", err->message);
}

static void test_which_memory_is_encoded(void **state)
{
    (void)state;
    static const zlg_codec_methods methods = {.n_bytes_struct = sizeof methods,
                                              .kind = ZLG_BYTES_TO_BYTES,
                                              .name = "example.same",
                                              .parse = parse,
                                              .encode = encode,
                                              .decode = decode};
    static const int64_t shape[1] = {4};
    static const uint8_t data[4] = {1, 2, 3, 4};
    zlg_ctx *ctx;
    zlg_store *store;
    zlg_array *array;
    zlg_error err = {0};
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    spec.rank = 1;
    spec.shape = spec.object_shape = shape;
    spec.data_type = "uint8";
    spec.fill_value = "0";
    spec.codecs = "[{\"name\":\"bytes\"},{\"name\":\"example.same\"}]";
    must(zlg_ctx_new(NULL, &ctx, &err), &err);
    must(zlg_ctx_register_codec(ctx, &methods, NULL, &err), &err);
    must(zlg_store_open_memory(ctx, &store, &err), &err);
    must(zlg_array_create(store, "a", &spec, &array, &err), &err);
    for (int may_leave = 0; may_leave < 2; may_leave++) {
        uint8_t back[4];
        zlg_call call = ZLG_CALL_INIT;
        call.placing = may_leave ? always : NULL;
        must(zlg_array_write(array, NULL, &(zlg_source){.data = data}, &call, &err), &err);
        assert_true((seen == (const void *)data) == !may_leave);
        must(zlg_array_read(array, NULL, &(zlg_target){.data = back}, NULL, &err), &err);
        assert_memory_equal(back, data, sizeof data);
    }
    zlg_array_close(array);
    zlg_store_close(store);
    zlg_ctx_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_memory_is_encoded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
