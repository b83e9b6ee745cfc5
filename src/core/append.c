/*
 * append.c: more of an array along one axis. The document is held from the moment that its
 * shape is read until it states the new one, so that others who append wait; the data is
 * written in between, through a handle of the array as it will be. When that fails, what
 * was written is taken back: it would show when the array grows.
 */
#include "core/core.h"

typedef struct appending {
    zlg_array *array;
    int axis;
    int64_t n;
    const zlg_source *source;
    zlgi_patience *patience;
    zlg_array *grown; /* with what is added */
    int64_t at;       /* where it begins */
    bool is_written;  /* the data, there */
} appending;

static zlg_status check_append(const appending *a, zlg_error *err)
{
    if (a->axis < 0 || a->axis >= a->array->meta.rank)
        return zlgi_fail(err, ZLG_USAGE, "axis %d of an array with %d", a->axis,
                         a->array->meta.rank);
    if (a->n < 0)
        return zlgi_fail(err, ZLG_USAGE, "%lld to append", (long long)a->n);
    return zlgi_store_needs(a->array->store, ZLGI_STORE_WRITE, "be written", err);
}

/* The shape as it is stored, with what is to be added. The source was made for the shape
 * that the caller knows. */
static zlg_status grow_shape(const appending *a, const zlgi_json *document,
                             int64_t shape[ZLG_MAX_RANK], zlg_error *err)
{
    ZLGI_TRY(zlgi_array_stored_shape(a->array, document, shape, err));
    for (int i = 0; i < a->array->meta.rank; i++)
        if (i != a->axis && shape[i] != a->array->meta.shape[i])
            return zlgi_fail(err, ZLG_USAGE, "axis %d is %lld long by now, not %lld", i,
                             (long long)shape[i], (long long)a->array->meta.shape[i]);
    if (!zlgi_add_i64(shape[a->axis], a->n, &shape[a->axis]))
        return zlgi_fail(err, ZLG_LIMIT, "axis %d would be longer than 2^63 - 1", a->axis);
    return ZLG_OK;
}

/* The box of what is added. */
static zlg_selection added_box(const appending *a, zlg_axis axes[ZLG_MAX_RANK])
{
    int rank = a->array->meta.rank;
    for (int i = 0; i < rank; i++)
        axes[i] = (zlg_axis){.step = 1, .count = a->array->meta.shape[i]};
    axes[a->axis].start = a->at;
    axes[a->axis].count = a->n;
    return (zlg_selection){.kind = ZLG_BOX, .rank = rank, .axes = axes};
}

/* What was written is taken back as far as can be. It is not cut short by a caller who has
 * lost patience. */
static void take_back(void *user)
{
    appending *a = user;
    zlg_axis axes[ZLG_MAX_RANK];
    zlg_selection box = added_box(a, axes);
    zlg_call call = ZLG_CALL_INIT;
    call.keep_empty = -1;
    call.promise = ZLG_VISIBLE;
    call.n_threads = a->patience->call->n_threads;
    zlg_status status = zlgi_array_clear(a->grown, &box, &call, NULL);
    (void)status; /* the error to report is the one before */
    a->is_written = false;
}

static zlg_status write_data(appending *a, zlg_error *err)
{
    zlg_axis axes[ZLG_MAX_RANK];
    zlg_selection box = added_box(a, axes);
    zlg_call call = zlgi_patience_rest(a->patience);
    const zlg_write write = {.array = a->grown, .selection = &box, .source = *a->source};
    zlg_status status = zlgi_array_write(&write, &call, err);
    if (status != ZLG_OK && status != ZLG_USAGE)
        take_back(a);
    a->is_written = status == ZLG_OK;
    return status;
}

/* What an earlier call had to leave there would show. */
static zlg_status finish_shrinking(const appending *a, const zlgi_json **document,
                                   zlgi_arena *arena, zlgi_buf *text, zlg_error *err)
{
    zlg_array *now;
    ZLGI_TRY(zlgi_meta_mark_shrinking(arena, *document, false, document, err));
    ZLGI_TRY(zlgi_array_reshape(a->array, *document, NULL, arena, text, &now, err));
    text->n = 0;
    zlg_status status = zlgi_array_trim(now, NULL, a->patience->call, a->patience, err);
    zlg_array_close(now);
    return status;
}

/* Edges that others have added move what was written to other objects. */
static bool is_same_grid(const zlg_array *a, const zlg_array *b)
{
    const char *name = a->meta.zarr_format == 3 ? "chunk_grid" : "chunks";
    const zlgi_json *of_a = zlgi_json_get(a->meta.document, name);
    const zlgi_json *of_b = zlgi_json_get(b->meta.document, name);
    return of_a && of_b && zlgi_json_equal(of_a, of_b);
}

static zlg_status append_to(void *user, const zlgi_json *document, zlgi_arena *arena,
                            zlgi_buf *out, zlg_error *err)
{
    appending *a = user;
    int64_t shape[ZLG_MAX_RANK];
    ZLGI_TRY(grow_shape(a, document, shape, err));
    const int64_t at = shape[a->axis] - a->n;
    if (zlgi_meta_is_shrinking(document)) {
        ZLGI_TRY(finish_shrinking(a, &document, arena, out, err));
        a->is_written = false;
    }
    zlg_array *grown;
    ZLGI_TRY(zlgi_array_reshape(a->array, document, shape, arena, out, &grown, err));
    if (a->is_written && !is_same_grid(a->grown, grown))
        take_back(a);
    zlg_array_close(a->grown);
    a->grown = grown;
    if (!zlgi_same_type(a->grown->meta.dtype, a->array->meta.dtype))
        return zlgi_fail(err, ZLG_NOT_FOUND, "an array of another type lies there by now");
    if (a->n == 0)
        out->n = 0; /* it stays */
    if (a->n == 0 || (a->is_written && at == a->at))
        return ZLG_OK;
    a->at = at;
    return write_data(a, err);
}

static zlg_status append(appending *a, zlg_error *err)
{
    zlgi_turns *turns = &a->array->store->ctx->turns;
    zlgi_turn turn = {.store = a->array->store, .path = a->array->path};
    const zlgi_document_edit edit = {.path = a->array->path,
                                     .name = zlgi_array_document(a->array),
                                     .promise = a->patience->call->promise,
                                     .patience = a->patience,
                                     .in_turn = true,
                                     .change = append_to,
                                     .undo = take_back,
                                     .user = a};
    ZLGI_TRY(check_append(a, err));
    ZLGI_TRY(zlgi_turn_take(turns, &turn, a->patience, err));
    zlg_status status = zlgi_document_change(a->array->store, &edit, err);
    if (status != ZLG_OK && a->is_written)
        take_back(a); /* begun anew, and then not possible any more */
    zlgi_turn_give(turns, &turn);
    return status;
}

static zlg_status append_held(appending *a, zlg_error *err)
{
    zlg_store *store = a->array->store;
    zlgi_hold hold;
    ZLGI_TRY(zlgi_end_take(store, a->array->path, ZLGI_END_TOGETHER, &hold, err));
    zlg_status status = append(a, err);
    zlgi_end_give(&store->ctx->claims, &hold);
    return status;
}

zlg_status zlg_array_append(zlg_array *array, int axis, int64_t n, const zlg_source *source,
                            const zlg_call *given, zlg_array **out, zlg_error *err)
{
    zlg_call call;
    zlgi_patience patience;
    if (out)
        *out = NULL;
    ZLGI_TRY(zlgi_call_settle(array, given, &call, err));
    zlgi_patience_init(&patience, &call);
    appending a = {
        .array = array, .axis = axis, .n = n, .source = source, .patience = &patience};
    zlg_status status = append_held(&a, err);
    if (status == ZLG_OK && out)
        *out = a.grown;
    else
        zlg_array_close(a.grown);
    return zlgi_array_within(array, status, err);
}
