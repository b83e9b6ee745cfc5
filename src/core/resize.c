/*
 * resize.c: another shape for an array. The document comes first; then, when an axis became
 * shorter, what lies outside is removed, while the document is held so that nobody adds to
 * the array meanwhile. Until that is done the document says so, and whoever changes the
 * shape next removes it first: nothing comes back when a caller loses patience in between,
 * or the process dies. Growing looks at the document alone.
 *
 * While a writer appends nobody changes the shape: it has stored objects beyond it, which
 * look like what others left there.
 */
#include "core/core.h"

typedef struct resizing {
    const zlg_array *array;
    const int64_t *shape;
    const zlg_call *call;
    zlgi_patience *patience;
    zlg_array *resized; /* with the new shape */
    bool trims, shorter[ZLG_MAX_RANK];
    bool unfinished; /* somebody else's shrinking comes first */
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
    r->unfinished = zlgi_meta_is_shrinking(document);
    if (r->unfinished)
        return ZLG_OK;
    for (int i = 0; i < rank; i++) {
        r->shorter[i] = r->shape[i] < old[i];
        shorter = shorter || r->shorter[i];
        other = other || r->shape[i] != old[i];
    }
    for (int i = 0; i < rank && !other; i++)
        r->shorter[i] = true; /* what others left there, an append that died, say */
    r->trims = shorter || !other;
    if (shorter)
        ZLGI_TRY(zlgi_meta_mark_shrinking(arena, document, true, &document, err));
    zlg_array_close(r->resized);
    ZLGI_TRY(
        zlgi_array_reshape(r->array, document, r->shape, arena, out, &r->resized, err));
    if (!other)
        out->n = 0; /* it stays */
    return ZLG_OK;
}

/* The document is held, and says by now where the array ends. When that is not where this
 * call put it, others have been at work, along axes that they know. */
static zlg_status trim(void *user, const zlgi_json *document, zlgi_arena *arena,
                       zlgi_buf *out, zlg_error *err)
{
    resizing *r = user;
    int64_t shape[ZLG_MAX_RANK];
    bool marked = document && zlgi_meta_is_shrinking(document), ours = !r->unfinished;
    zlg_array *now;
    ZLGI_TRY(zlgi_array_stored_shape(r->array, document, shape, err));
    ZLGI_TRY(zlgi_meta_mark_shrinking(arena, document, false, &document, err));
    ZLGI_TRY(zlgi_array_reshape(r->array, document, NULL, arena, out, &now, err));
    if (!marked)
        out->n = 0; /* it stays */
    for (int i = 0; i < r->array->meta.rank; i++)
        ours = ours && shape[i] == r->shape[i];
    zlg_status status =
        zlgi_array_trim(now, ours ? r->shorter : NULL, r->call, r->patience, err);
    if (status != ZLG_OK || !ours) {
        zlg_array_close(now);
        return status;
    }
    zlg_array_close(r->resized);
    r->resized = now;
    return ZLG_OK;
}

static zlg_status resize(resizing *r, zlg_error *err)
{
    zlgi_document_edit edit = {.path = r->array->path,
                               .name = zlgi_array_document(r->array),
                               .promise = r->call->promise,
                               .patience = r->patience,
                               .in_turn = true,
                               .user = r};
    ZLGI_TRY(check_shape(r->array, r->shape, err));
    do {
        edit.change = change_shape;
        ZLGI_TRY(zlgi_document_change(r->array->store, &edit, err));
        edit.change = trim;
        if (r->unfinished || r->trims)
            ZLGI_TRY(zlgi_document_change(r->array->store, &edit, err));
    } while (r->unfinished);
    return ZLG_OK;
}

static zlg_status resize_in_turn(resizing *r, zlg_error *err)
{
    zlgi_turns *turns = &r->array->store->ctx->turns;
    zlgi_turn turn = {.store = r->array->store, .path = r->array->path};
    ZLGI_TRY(zlgi_turn_take(turns, &turn, r->patience, err));
    zlg_status status = resize(r, err);
    zlgi_turn_give(turns, &turn);
    return status;
}

static zlg_status resize_held(resizing *r, zlg_error *err)
{
    zlg_store *store = r->array->store;
    zlgi_hold hold;
    ZLGI_TRY(zlgi_store_needs(store, ZLGI_STORE_WRITE, "be written", err));
    ZLGI_TRY(zlgi_end_take(store, r->array->path, ZLGI_END_TOGETHER, &hold, err));
    zlg_status status = resize_in_turn(r, err);
    zlgi_end_give(&store->ctx->claims, &hold);
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
    zlg_status status = resize_held(&r, err);
    if (status == ZLG_OK && out)
        *out = r.resized;
    else
        zlg_array_close(r.resized);
    return zlgi_array_within(array, status, err);
}
