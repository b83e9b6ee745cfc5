/*
 * trim.c: what lies outside the shape of an array goes: objects wholly outside are removed,
 * those on the border are filled there, so that nothing comes back when the array grows.
 * What does not decode stays: nothing of it can come back, and it must not be in the way.
 * Only objects that are stored are looked at: their keys are listed, since a grid may be
 * larger than any list. Those on the border, which others may replace meanwhile with what
 * is inside, are asked for by their names where the store can be.
 */
#include "core/core.h"

enum { BATCH = 256 }; /* objects on the border in one write */

typedef struct trimming {
    const zlg_array *array;
    const bool *shorter; /* which axes; outside of the others nothing is looked for; NULL:
                          * all */
    const zlg_call *call;
    zlgi_patience *patience;
    zlgi_source whole;        /* the array as it would be if its last chunks were inside */
    zlgi_buf outside, border; /* coordinates of objects */
    bool asks;                /* for those on the border */
    zlg_status status;        /* of listing */
    zlg_error *err;
} trimming;

/* ------------------------------------------------------------------ which objects */

static int64_t grid_end(const zlgi_grid_axis *axis)
{
    if (axis->n_chunks == 0)
        return 0;
    return zlgi_grid_start(axis, axis->n_chunks - 1) +
           zlgi_grid_edge(axis, axis->n_chunks - 1);
}

static bool is_shorter(const trimming *t, int i)
{
    return !t->shorter || t->shorter[i];
}

/* Do the last objects of the axis lie outside with a part that is to go? */
static bool reaches_out(const trimming *t, int i)
{
    const zlgi_grid_axis *axis = &t->array->meta.grid.axis[i];
    return is_shorter(t, i) && grid_end(axis) > axis->length;
}

/* The objects on the border of an axis that are not on that of one before it. */
static bool border_box(const trimming *t, int i_axis, int64_t *first, int64_t *last)
{
    const zlgi_grid *grid = &t->array->meta.grid;
    bool is_there = reaches_out(t, i_axis);
    for (int i = 0; i < grid->rank; i++) {
        int64_t n = grid->axis[i].n_chunks;
        first[i] = i == i_axis ? n - 1 : 0;
        last[i] = n - 1 - (i < i_axis && reaches_out(t, i));
        is_there = is_there && last[i] >= first[i];
    }
    return is_there;
}

/* t->asks is false when a border is too large, or the store cannot be asked. */
static zlg_status ask_border(trimming *t)
{
    const zlg_array *array = t->array;
    int64_t first[ZLG_MAX_RANK], last[ZLG_MAX_RANK];
    t->asks = true;
    for (int i = 0; i < array->meta.rank; i++)
        if (border_box(t, i, first, last))
            t->asks = t->asks && zlgi_stored_can_ask(array, first, last);
    for (int i = 0; i < array->meta.rank && t->asks; i++)
        if (border_box(t, i, first, last))
            ZLGI_TRY(zlgi_stored_ask(array, first, last, SIZE_MAX, t->patience, &t->border,
                                     t->err));
    return ZLG_OK;
}

static int note_object(void *user, const char *name, int is_prefix, uint64_t n_bytes)
{
    trimming *t = user;
    const zlgi_array_meta *meta = &t->array->meta;
    int64_t coordinates[ZLG_MAX_RANK];
    bool outside = false, border = false;
    (void)n_bytes;
    if (is_prefix || !zlgi_key_read(&meta->key_encoding, meta->rank, name, coordinates))
        return 0;
    for (int i = 0; i < meta->rank; i++) {
        const zlgi_grid_axis *axis = &meta->grid.axis[i];
        outside = outside || coordinates[i] >= axis->n_chunks;
        border = border || (coordinates[i] == axis->n_chunks - 1 && reaches_out(t, i));
    }
    if (!outside && (!border || t->asks))
        return 0;
    t->status = zlgi_buf_append(outside ? &t->outside : &t->border, coordinates,
                                (size_t)meta->rank * sizeof *coordinates, t->err);
    return t->status != ZLG_OK;
}

static const int64_t *coordinates_at(const trimming *t, const zlgi_buf *list, size_t i)
{
    return (const int64_t *)(const void *)list->data + i * (size_t)t->array->meta.rank;
}

static size_t n_listed(const trimming *t, const zlgi_buf *list)
{
    return list->n / ((size_t)t->array->meta.rank * sizeof(int64_t));
}

/* ------------------------------------------------------------------ outside */

static zlg_status remove_object(trimming *t, const int64_t *coordinates, zlgi_syncs *syncs)
{
    zlg_store *store = t->array->store;
    zlgi_txn txn = {.change = ZLGI_REPLACE,
                    .promise = t->call->promise,
                    .syncs = syncs,
                    .waiting = zlgi_patience_waiting,
                    .user = t->patience};
    char name[ZLGI_KEY_MAX], key[ZLGI_NAME_MAX];
    ZLGI_TRY(zlgi_key_make(&t->array->meta.key_encoding, t->array->meta.rank, coordinates,
                           name, t->err));
    ZLGI_TRY(zlgi_join(t->array->path, name, key, t->err));
    zlg_status status = store->class->begin(store, key, &txn, t->err);
    if (status == ZLG_OK) {
        status = store->class->commit(store, key, &txn, NULL, ZLGI_REMOVE, t->err);
        store->class->end(store, &txn);
    }
    return zlgi_within(t->err, status, "chunk %s", name);
}

/* A caller's struct may be of an older day. */
static void count_removed(const zlg_call *call)
{
    zlg_stats *stats = call->stats;
    if (stats && stats->n_bytes_struct > offsetof(zlg_stats, n_removed))
        stats->n_removed++;
}

static zlg_status remove_all(trimming *t, zlgi_syncs *syncs)
{
    size_t n = n_listed(t, &t->outside);
    for (size_t i = 0; i < n; i++) {
        ZLGI_TRY(zlgi_patience_check(t->patience, t->err));
        ZLGI_TRY(remove_object(t, coordinates_at(t, &t->outside, i), syncs));
        count_removed(t->call);
    }
    return ZLG_OK;
}

static zlg_status remove_outside(trimming *t)
{
    zlg_store *store = t->array->store;
    if (t->outside.n == 0)
        return ZLG_OK;
    zlgi_syncs *syncs = zlgi_syncs_new(store->alloc);
    if (!syncs)
        return zlgi_no_memory(t->err, 1);
    zlg_status status = remove_all(t, syncs);
    if (status == ZLG_OK && t->call->promise >= ZLG_DURABLE)
        status = store->class->sync(store, syncs, t->err);
    zlgi_syncs_free(syncs);
    return status;
}

/* ------------------------------------------------------------------ on the border */

/* The part of an object outside the array, along one axis that became shorter: behind the
 * end on this one, before it on those in front of their kind, all of it on the others.
 * False when there is none. */
static bool outside_along(const trimming *t, const int64_t *coordinates, int i_axis,
                          zlg_axis *out)
{
    for (int i = 0; i < t->array->meta.rank; i++) {
        const zlgi_grid_axis *axis = &t->array->meta.grid.axis[i];
        int64_t start = zlgi_grid_start(axis, coordinates[i]);
        int64_t end = start + zlgi_grid_edge(axis, coordinates[i]);
        if (i < i_axis && is_shorter(t, i))
            end = ZLGI_MIN(end, axis->length);
        else if (i == i_axis)
            start = ZLGI_MAX(start, axis->length);
        out[i] = (zlg_axis){.start = start, .step = 1, .count = end - start};
        if (end <= start)
            return false;
    }
    return true;
}

static void add_fills(const trimming *t, const int64_t *coordinates,
                      const zlgi_request *fill, zlgi_boxes *boxes)
{
    for (int i = 0; i < t->array->meta.rank; i++)
        if (is_shorter(t, i) && outside_along(t, coordinates, i, zlgi_boxes_next(boxes)))
            zlgi_boxes_add(boxes, fill);
}

static zlgi_request make_fill(const trimming *t)
{
    static const ptrdiff_t still[ZLG_MAX_RANK] = {0};
    zlgi_request fill = {.source = &t->whole,
                         .memory = (uint8_t *)(uintptr_t)t->whole.fill.data,
                         .strides = still,
                         .skip_broken = true};
    zlgi_request_settle(&fill, t->array, t->call);
    fill.clears = !fill.keep_empty;
    return fill;
}

static zlg_status fill_batch(trimming *t, size_t first, size_t n, zlgi_arena *arena)
{
    int rank = t->array->meta.rank;
    const zlgi_request fill = make_fill(t);
    zlg_call call = zlgi_patience_rest(t->patience);
    zlgi_boxes boxes;
    ZLGI_TRY(zlgi_boxes_make(&boxes, arena, n * (size_t)rank, rank, t->err));
    for (size_t i = first; i < first + n; i++)
        add_fills(t, coordinates_at(t, &t->border, i), &fill, &boxes);
    return zlgi_engine_write(&t->array->store->ctx->engine, boxes.requests, boxes.n, &call,
                             t->err);
}

static zlg_status fill_border(trimming *t)
{
    size_t n = n_listed(t, &t->border);
    for (size_t i = 0; i < n; i += BATCH) {
        zlgi_arena arena;
        zlgi_arena_init(&arena, t->array->store->alloc);
        zlg_status status = fill_batch(t, i, ZLGI_MIN(n - i, (size_t)BATCH), &arena);
        zlgi_arena_reset(&arena);
        ZLGI_TRY(status);
    }
    return ZLG_OK;
}

/* ------------------------------------------------------------------ both */

static zlg_status trim(trimming *t)
{
    const zlg_array *array = t->array;
    ZLGI_TRY(ask_border(t));
    zlg_status status = zlgi_store_list(array->store, array->path, false, t->patience,
                                        note_object, t, t->err);
    if (status != ZLG_NOT_FOUND)
        ZLGI_TRY(status);
    ZLGI_TRY(t->status);
    ZLGI_TRY(remove_outside(t));
    return fill_border(t);
}

zlg_status zlgi_array_trim(const zlg_array *array, const bool *shorter,
                           const zlg_call *call, zlgi_patience *patience, zlg_error *err)
{
    trimming t = {.array = array,
                  .shorter = shorter,
                  .call = call,
                  .patience = patience,
                  .whole = array->source,
                  .err = err};
    if (array->meta.rank == 0)
        return ZLG_OK; /* its one element is always inside */
    for (int i = 0; i < array->meta.rank; i++)
        t.whole.grid.axis[i].length = grid_end(&array->meta.grid.axis[i]);
    zlgi_buf_init(&t.outside, array->store->alloc);
    zlgi_buf_init(&t.border, array->store->alloc);
    zlg_status status = trim(&t);
    zlgi_buf_reset(&t.outside);
    zlgi_buf_reset(&t.border);
    return status;
}
