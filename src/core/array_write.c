/*
 * array_write.c: the writes of zellige.h in terms of the engine: whole objects.
 */
#include "core/core.h"

static zlg_status check_writable(const zlg_array *array, bool varlen, zlg_error *err)
{
    if (!(array->store->class->capabilities & ZLGI_STORE_WRITE))
        return zlgi_fail(err, ZLG_UNSUPPORTED, "a %s store cannot be written",
                         array->store->class->kind);
    if (zlgi_dtype_is_varlen(array->meta.dtype) != varlen)
        return zlgi_fail(err, ZLG_USAGE, "elements of %s are written with %s",
                         varlen ? "fixed size" : "variable length",
                         varlen ? "zlg_array_write" : "zlg_array_write_varlen");
    return ZLG_OK;
}

static zlg_status write_request(zlg_array *array, const zlgi_request *request,
                                const zlg_call *given, zlg_error *err)
{
    zlg_call call;
    ZLGI_TRY(zlgi_call_read(given, &call, err));
    return zlgi_engine_write(&array->store->ctx->engine, request, &call, err);
}

static zlg_status within_array(const zlg_array *array, zlg_status status, zlg_error *err)
{
    return zlgi_within(err, status, "array %s", *array->path ? array->path : "/");
}

zlg_status zlg_array_write(zlg_array *array, const zlg_selection *selection,
                           const void *data, const ptrdiff_t *strides, const zlg_call *call,
                           zlg_error *err)
{
    zlgi_request request = {.source = &array->source,
                            .selection = selection,
                            .memory = (uint8_t *)(uintptr_t)data,
                            .strides = strides};
    zlg_status status = check_writable(array, false, err);
    if (status == ZLG_OK)
        status = write_request(array, &request, call, err);
    return within_array(array, status, err);
}

/* Offsets and bytes as the engine moves variable-length elements: a view of each. */
static zlg_status make_views(const zlg_array *array, const zlg_selection *selection,
                             const int64_t *offsets, const uint8_t *bytes, zlgi_buf *out,
                             zlg_error *err)
{
    int rank;
    int64_t shape[ZLG_MAX_RANK], n;
    size_t n_bytes;
    ZLGI_TRY(zlgi_selection_shape(&array->source.grid, selection, &rank, shape, err));
    if (!zlgi_product(shape, rank, &n) ||
        !zlgi_mul_size((size_t)n, sizeof(zlgi_view), &n_bytes))
        return zlgi_fail(err, ZLG_LIMIT, "the selection has more than 2^63 elements");
    ZLGI_TRY(zlgi_buf_reserve(out, n_bytes + 1, false, err));
    zlgi_view *views = (zlgi_view *)(void *)out->data;
    for (int64_t i = 0; i < n; i++) {
        if (offsets[i] < 0 || offsets[i + 1] < offsets[i])
            return zlgi_fail(err, ZLG_USAGE, "offset %lld is smaller than the one before",
                             (long long)i + 1);
        size_t n_text = (size_t)(offsets[i + 1] - offsets[i]);
        views[i] = (zlgi_view){.data = n_text ? bytes + offsets[i] : NULL, .n = n_text};
    }
    return ZLG_OK;
}

zlg_status zlg_array_write_varlen(zlg_array *array, const zlg_selection *selection,
                                  const int64_t *offsets, const uint8_t *bytes,
                                  const zlg_call *call, zlg_error *err)
{
    zlgi_buf views;
    zlgi_buf_init(&views, array->store->alloc);
    zlg_status status = check_writable(array, true, err);
    if (status == ZLG_OK)
        status = make_views(array, selection, offsets, bytes, &views, err);
    zlgi_request request = {
        .source = &array->source, .selection = selection, .memory = views.data};
    if (status == ZLG_OK)
        status = write_request(array, &request, call, err);
    zlgi_buf_reset(&views);
    return within_array(array, status, err);
}
