/*
 * resize.c: another shape for an array. The document comes first; then, when an axis became
 * shorter, what lies outside is removed, while the document is held so that nobody adds to
 * the array meanwhile. To be called again after a failure in between, removing also comes
 * with a shape that is the array's already.
 */
#include "core/core.h"

typedef struct resizing {
    const zlg_array *array;
    const int64_t *shape;
    const zlg_call *call;
    zlgi_patience *patience;
    zlg_array *resized; /* with the new shape */
    bool trims, shorter[ZLG_MAX_RANK];
} resizing;

static zlg_status check_shape(const zlg_array *array, const int64_t *shape, zlg_error *err)
{
    for (int i = 0; i < array->meta.rank; i++)
        if (shape[i] < 0)
            return zlgi_fail(err, ZLG_USAGE, "shape[%d] is %lld", i, (long long)shape[i]);
    return ZLG_OK;
}

static zlg_status change_shape(void *user, const zlgi_json *document, zlgi_arena *arena,
                               zlgi_buf *out, zlg_error *err)
{
    resizing *r = user;
    int64_t old[ZLG_MAX_RANK];
    bool shorter = false, other = false;
    int rank = r->array->meta.rank;
    ZLGI_TRY(zlgi_array_stored_shape(r->array, document, old, err));
    for (int i = 0; i < rank; i++) {
        r->shorter[i] = r->shape[i] < old[i];
        shorter = shorter || r->shorter[i];
        other = other || r->shape[i] != old[i];
    }
    for (int i = 0; i < rank && !other; i++)
        r->shorter[i] = true; /* any may have been, in the call that failed */
    r->trims = shorter || !other;
    zlg_array_close(r->resized);
    ZLGI_TRY(
        zlgi_array_reshape(r->array, document, r->shape, arena, out, &r->resized, err));
    if (!other)
        out->n = 0; /* it stays */
    return ZLG_OK;
}

/* The document is held, and says by now where the array ends. */
static zlg_status trim(void *user, const zlgi_json *document, zlgi_arena *arena,
                       zlgi_buf *out, zlg_error *err)
{
    resizing *r = user;
    int64_t shape[ZLG_MAX_RANK];
    zlg_array *now;
    ZLGI_TRY(zlgi_array_stored_shape(r->array, document, shape, err));
    ZLGI_TRY(zlgi_array_reshape(r->array, document, NULL, arena, out, &now, err));
    out->n = 0;
    zlg_status status = zlgi_array_trim(now, r->shorter, r->call, r->patience, err);
    zlg_array_close(now);
    return status;
}

static zlg_status resize(resizing *r, zlg_error *err)
{
    zlgi_document_edit edit = {.path = r->array->path,
                               .name = zlgi_array_document(r->array),
                               .promise = r->call->promise,
                               .patience = r->patience,
                               .in_turn = true,
                               .change = change_shape,
                               .user = r};
    ZLGI_TRY(check_shape(r->array, r->shape, err));
    ZLGI_TRY(zlgi_document_change(r->array->store, &edit, err));
    edit.change = trim;
    return r->trims ? zlgi_document_change(r->array->store, &edit, err) : ZLG_OK;
}

static zlg_status resize_in_turn(resizing *r, zlg_error *err)
{
    zlgi_turns *turns = &r->array->store->ctx->turns;
    zlgi_turn turn = {.store = r->array->store, .path = r->array->path};
    ZLGI_TRY(zlgi_store_needs(r->array->store, ZLGI_STORE_WRITE, "be written", err));
    ZLGI_TRY(zlgi_turn_take(turns, &turn, r->patience, err));
    zlg_status status = resize(r, err);
    zlgi_turn_give(turns, &turn);
    return status;
}

zlg_status zlg_array_resize(zlg_array *array, const int64_t *shape, const zlg_call *given,
                            zlg_array **out, zlg_error *err)
{
    zlg_call call;
    zlgi_patience patience;
    if (out)
        *out = NULL;
    ZLGI_TRY(zlgi_call_settle(array, given, &call, err));
    zlgi_patience_init(&patience, &call);
    resizing r = {.array = array, .shape = shape, .call = &call, .patience = &patience};
    zlg_status status = resize_in_turn(&r, err);
    if (status == ZLG_OK && out)
        *out = r.resized;
    else
        zlg_array_close(r.resized);
    return zlgi_array_within(array, status, err);
}
