/*
 * array_write.c: the writes of zellige.h in terms of the engine.
 */
#include "core/core.h"

static zlg_status check_write(const zlg_write *write, zlg_error *err)
{
    const zlg_array *array = write->array;
    bool varlen = zlgi_dtype_is_varlen(array->meta.dtype);
    ZLGI_TRY(zlgi_store_needs(array->store, ZLGI_STORE_WRITE, "be written", err));
    if (varlen != (write->source.offsets != NULL))
        return zlgi_fail(err, ZLG_USAGE, "elements of %s size are written %s offsets",
                         varlen ? "variable" : "fixed", varlen ? "with" : "without");
    if (varlen && write->source.strides)
        return zlgi_fail(err, ZLG_USAGE, "offsets go with no strides");
    return ZLG_OK;
}

/* ------------------------------------------------------------------ variable length */

/* Offsets and bytes as the engine moves variable-length elements: a view of each. */
static zlg_status make_views(const zlg_write *write, zlgi_arena *arena, uint8_t **out,
                             zlg_error *err)
{
    int rank;
    int64_t shape[ZLG_MAX_RANK], n;
    size_t n_bytes;
    const int64_t *offsets = write->source.offsets;
    const uint8_t *bytes = write->source.data;
    ZLGI_TRY(zlgi_selection_shape(&write->array->source.grid, write->selection, &rank,
                                  shape, err));
    if (!zlgi_product(shape, rank, &n) ||
        !zlgi_mul_size((size_t)n, sizeof(zlgi_view), &n_bytes))
        return zlgi_fail(err, ZLG_LIMIT, "the selection has more than 2^63 elements");
    zlgi_view *views = zlgi_arena_get(arena, n_bytes + 1);
    if (!views)
        return zlgi_no_memory(err, n_bytes);
    for (int64_t i = 0; i < n; i++) {
        if (offsets[i] < 0 || offsets[i + 1] < offsets[i])
            return zlgi_fail(err, ZLG_USAGE, "offset %lld is smaller than the one before",
                             (long long)i + 1);
        size_t n_text = (size_t)(offsets[i + 1] - offsets[i]);
        views[i] = (zlgi_view){.data = n_text ? bytes + offsets[i] : NULL, .n = n_text};
    }
    *out = (uint8_t *)views;
    return ZLG_OK;
}

/* ------------------------------------------------------------------ writes */

/* Where the fill value is undefined an absent chunk means nothing, unless the caller says
 * what it does. */
void zlgi_request_settle(zlgi_request *request, const zlg_array *array,
                         const zlg_call *call)
{
    bool keeps = call->keep_empty == 0 ? array->keep_empty : call->keep_empty > 0;
    request->keep_empty = keeps || (array->meta.fill_is_undefined && !call->loose_fill);
    request->promise = call->promise ? call->promise : array->promise;
}

static zlg_status make_request(const zlg_write *write, const zlg_call *call,
                               zlgi_arena *arena, zlgi_request *out, zlg_error *err)
{
    ZLGI_TRY(check_write(write, err));
    *out = (zlgi_request){.source = &write->array->source,
                          .selection = write->selection,
                          .memory = (uint8_t *)(uintptr_t)write->source.data,
                          .strides = write->source.strides,
                          .swapped = write->source.swapped != 0,
                          .replace = write->replace != 0};
    zlgi_request_settle(out, write->array, call);
    return write->source.offsets ? make_views(write, arena, &out->memory, err) : ZLG_OK;
}

/* What the call leaves open is as the array was opened. */
zlg_status zlgi_call_settle(const zlg_array *array, const zlg_call *given, zlg_call *call,
                            zlg_error *err)
{
    ZLGI_TRY(zlgi_call_read(given, call, err));
    ZLGI_TRY(zlgi_promise_check(call->promise, err));
    if (call->promise == ZLG_PROMISE_DEFAULT)
        call->promise = array->promise;
    if (call->keep_empty == 0)
        call->keep_empty = array->keep_empty ? 1 : -1;
    return ZLG_OK;
}

static zlg_status write_list(const zlg_write *writes, size_t n, const zlg_call *call,
                             zlgi_arena *arena, zlg_error *err)
{
    zlgi_engine *engine = &writes[0].array->store->ctx->engine;
    zlgi_request *requests = zlgi_arena_get(arena, n * sizeof *requests);
    if (!requests)
        return zlgi_no_memory(err, n * sizeof *requests);
    for (size_t i = 0; i < n; i++) {
        zlg_status status = make_request(&writes[i], call, arena, &requests[i], err);
        if (status == ZLG_OK && &writes[i].array->store->ctx->engine != engine)
            status = zlgi_fail(err, ZLG_USAGE, "it belongs to another context");
        if (status != ZLG_OK)
            return zlgi_array_within(writes[i].array, status, err);
    }
    zlg_status status = zlgi_engine_write(engine, requests, n, call, err);
    return n == 1 ? zlgi_array_within(writes[0].array, status, err) : status;
}

zlg_status zlg_write_many(const zlg_write *writes, size_t n_writes, const zlg_call *given,
                          zlg_error *err)
{
    zlg_call call;
    zlgi_arena arena;
    if (n_writes == 0)
        return ZLG_OK;
    if (n_writes > UINT32_MAX)
        return zlgi_fail(err, ZLG_LIMIT, "%zu writes in one call", n_writes);
    ZLGI_TRY(zlgi_call_read(given, &call, err));
    ZLGI_TRY(zlgi_promise_check(call.promise, err));
    zlgi_arena_init(&arena, writes[0].array->store->alloc);
    zlg_status status = write_list(writes, n_writes, &call, &arena, err);
    zlgi_arena_reset(&arena);
    return status;
}

zlg_status zlgi_array_write(const zlg_write *write, const zlg_call *call, zlg_error *err)
{
    zlg_store *store = write->array->store;
    zlgi_request request;
    zlgi_arena arena;
    zlgi_arena_init(&arena, store->alloc);
    zlg_status status = make_request(write, call, &arena, &request, err);
    if (status == ZLG_OK)
        status = zlgi_engine_write(&store->ctx->engine, &request, 1, call, err);
    zlgi_arena_reset(&arena);
    return status;
}

zlg_status zlg_array_write(zlg_array *array, const zlg_selection *selection,
                           const zlg_source *source, const zlg_call *call, zlg_error *err)
{
    zlg_write write = {.array = array, .selection = selection, .source = *source};
    return zlg_write_many(&write, 1, call, err);
}

/* ------------------------------------------------------------------ fill */

static bool is_fill(const zlg_array *array, const void *memory)
{
    const zlgi_source *source = &array->source;
    const zlgi_view *a = memory, *b = (const void *)source->fill.data;
    if (!zlgi_dtype_is_varlen(source->dtype))
        return memcmp(memory, source->fill.data, source->item) == 0;
    return a->n == b->n && (a->n == 0 || memcmp(a->data, b->data, a->n) == 0);
}

/* One element, which lies in memory as the engine has it, everywhere. */
static zlgi_request make_fill(zlg_array *array, const zlg_selection *selection,
                              const void *memory, const zlg_call *call)
{
    static const ptrdiff_t still[ZLG_MAX_RANK] = {0};
    zlgi_request request = {.source = &array->source,
                            .selection = selection,
                            .memory = (uint8_t *)(uintptr_t)memory,
                            .strides = still};
    zlgi_request_settle(&request, array, call);
    return request;
}

static zlg_status run_fill(zlg_array *array, zlgi_request *request, const zlg_call *call,
                           zlg_error *err)
{
    zlgi_arena arena;
    zlgi_patience patience;
    zlgi_request *stored = request;
    size_t n = SIZE_MAX;
    zlg_status status = ZLG_OK;
    zlgi_arena_init(&arena, array->store->alloc);
    request->clears = !request->keep_empty && is_fill(array, request->memory);
    zlgi_patience_init(&patience, call);
    if (request->clears)
        status = zlgi_clear_stored(array, &patience, request, &arena, &stored, &n, err);
    const zlg_call rest = zlgi_patience_rest(&patience);
    if (status == ZLG_OK && n > 0)
        status = zlgi_engine_write(&array->store->ctx->engine, stored,
                                   n == SIZE_MAX ? 1 : n, &rest, err);
    zlgi_arena_reset(&arena);
    return status;
}

zlg_status zlgi_array_clear(zlg_array *array, const zlg_selection *selection,
                            const zlg_call *call, zlg_error *err)
{
    zlgi_request request = make_fill(array, selection, array->source.fill.data, call);
    request.skip_broken = true;
    return run_fill(array, &request, call, err);
}

zlg_status zlg_array_fill(zlg_array *array, const zlg_selection *selection,
                          const void *element, size_t n_bytes, const zlg_call *given,
                          zlg_error *err)
{
    bool varlen = zlgi_dtype_is_varlen(array->meta.dtype);
    zlgi_view view = {.data = element, .n = n_bytes};
    const void *memory = varlen ? (const void *)&view : element;
    zlg_call call;
    ZLGI_TRY(zlgi_call_settle(array, given, &call, err));
    zlgi_request request =
        make_fill(array, selection, element ? memory : array->source.fill.data, &call);
    zlg_status status = zlgi_store_needs(array->store, ZLGI_STORE_WRITE, "be written", err);
    if (status == ZLG_OK && element && !varlen && n_bytes != array->source.item)
        status = zlgi_fail(err, ZLG_USAGE, "an element of %zu bytes, not %zu", n_bytes,
                           array->source.item);
    if (status == ZLG_OK)
        status = run_fill(array, &request, &call, err);
    return zlgi_array_within(array, status, err);
}
