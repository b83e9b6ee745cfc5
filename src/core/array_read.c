/*
 * array_read.c: the reads of zellige.h in terms of the engine.
 */
#include "core/core.h"

static zlg_status check_order(zlg_inner_order order, zlg_error *err)
{
    if ((unsigned)order > ZLG_COLEXICOGRAPHIC)
        return zlgi_fail(err, ZLG_USAGE, "inner_order %d is none", (int)order);
    return ZLG_OK;
}

zlg_status zlgi_call_read(const zlg_call *given, zlg_call *room, zlg_error *err)
{
    ZLGI_TRY(zlgi_options_read(given, "ZLG_CALL_INIT", room, sizeof *room, err));
    ZLGI_TRY(check_order(room->inner_order, err));
    for (int i = 0; i < room->n_inner_orders; i++)
        ZLGI_TRY(check_order(room->inner_orders[i], err));
    return ZLG_OK;
}

zlg_status zlg_selection_shape(const zlg_array *array, const zlg_selection *selection,
                               int *out_rank, int64_t out_shape[ZLG_MAX_RANK],
                               zlg_error *err)
{
    return zlgi_selection_shape(&array->source.grid, selection, out_rank, out_shape, err);
}

static zlg_status check_fixed(const zlg_array *array, zlg_error *err)
{
    if (zlgi_dtype_is_varlen(array->meta.dtype))
        return zlgi_fail(err, ZLG_USAGE,
                         "elements of variable length are read with "
                         "zlg_array_read_varlen");
    return ZLG_OK;
}

static zlgi_request request_of(const zlg_read *read)
{
    return (zlgi_request){.source = &read->array->source,
                          .selection = read->selection,
                          .memory = read->target.data,
                          .strides = read->target.strides};
}

zlg_status zlg_array_read(zlg_array *array, const zlg_selection *selection,
                          const zlg_target *target, const zlg_call *call, zlg_error *err)
{
    zlg_read read = {.array = array, .selection = selection, .target = *target};
    return zlg_read_many(&read, 1, call, err);
}

static zlg_status read_list(zlgi_engine *engine, zlgi_request *requests,
                            const zlg_read *reads, size_t n, const zlg_call *call,
                            zlg_error *err)
{
    for (size_t i = 0; i < n; i++) {
        zlg_status status = check_fixed(reads[i].array, err);
        if (status == ZLG_OK && reads[i].array->store->ctx != reads[0].array->store->ctx)
            status = zlgi_fail(err, ZLG_USAGE, "it belongs to another context");
        if (status != ZLG_OK)
            return zlgi_array_within(reads[i].array, status, err);
        requests[i] = request_of(&reads[i]);
    }
    zlg_status status = zlgi_engine_read(engine, requests, n, call, err);
    return n == 1 ? zlgi_array_within(reads[0].array, status, err) : status;
}

zlg_status zlg_read_many(const zlg_read *reads, size_t n_reads, const zlg_call *given,
                         zlg_error *err)
{
    zlg_call call;
    ZLGI_TRY(zlgi_call_read(given, &call, err));
    if (n_reads == 0)
        return ZLG_OK;
    zlgi_request one;
    zlgi_engine *engine = &reads[0].array->store->ctx->engine;
    if (n_reads == 1)
        return read_list(engine, &one, reads, 1, &call, err);
    size_t n_bytes;
    if (n_reads > UINT32_MAX || !zlgi_mul_size(n_reads, sizeof one, &n_bytes))
        return zlgi_fail(err, ZLG_LIMIT, "%zu reads in one call", n_reads);
    zlgi_request *requests = zlgi_resize(engine->alloc, NULL, 0, n_bytes);
    if (!requests)
        return zlgi_no_memory(err, n_bytes);
    zlg_status status = read_list(engine, requests, reads, n_reads, &call, err);
    zlgi_free(engine->alloc, requests, n_bytes);
    return status;
}

zlg_status zlg_array_read_varlen(zlg_array *array, const zlg_selection *selection,
                                 zlg_varlen *out, const zlg_call *given, zlg_error *err)
{
    zlg_call call;
    memset(out, 0, sizeof *out);
    ZLGI_TRY(zlgi_call_read(given, &call, err));
    if (!zlgi_dtype_is_varlen(array->meta.dtype)) {
        zlg_status status = zlgi_fail(err, ZLG_USAGE,
                                      "elements of fixed size are read with "
                                      "zlg_array_read");
        return zlgi_array_within(array, status, err);
    }
    if (call.transform)
        return zlgi_array_within(
            array,
            zlgi_fail(err, ZLG_UNSUPPORTED, "a transform of elements of variable length"),
            err);
    zlgi_request request = {.source = &array->source, .selection = selection};
    zlg_status status =
        zlgi_engine_read_varlen(&array->store->ctx->engine, &request, out, &call, err);
    out->ctx = array->store->ctx;
    return zlgi_array_within(array, status, err);
}
