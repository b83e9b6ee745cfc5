/*
 * clear.c: which objects of a box are stored, where the box has many and few of them are: a
 * fill with the fill value need not change the others. The store is asked for each; where
 * it cannot be, or the box is very large, its keys are listed. A listing that has more to
 * tell than the box is large, or finds many, is left to whoever goes through the box object
 * by object.
 */
#include "core/core.h"

enum { FEW = 64, MOST = 4096 }; /* objects of a box; those of it that are stored */

typedef struct clearing {
    const zlg_array *array;
    int64_t start[ZLG_MAX_RANK], end[ZLG_MAX_RANK];  /* of the box, in elements */
    int64_t first[ZLG_MAX_RANK], last[ZLG_MAX_RANK]; /* in objects */
    int64_t n_objects, n_seen;
    zlgi_buf stored; /* coordinates */
    size_t n_stored;
    bool is_sparse;
} clearing;

/* A box without steps that is larger than few objects. */
static bool take_box(clearing *c, const zlg_selection *selection)
{
    const zlgi_grid *grid = &c->array->source.grid;
    const zlg_axis *axes = selection ? selection->axes : NULL;
    int64_t n_chunks[ZLG_MAX_RANK];
    if (selection &&
        (selection->kind != ZLG_BOX || (axes && selection->rank != grid->rank)))
        return false;
    for (int i = 0; i < grid->rank; i++) {
        int64_t length = grid->axis[i].length;
        const zlg_axis axis = axes ? axes[i] : (zlg_axis){.step = 1, .count = length};
        if (axis.list || axis.step != 1 || axis.start < 0 || axis.count < 1 ||
            axis.start >= length || axis.count > length - axis.start)
            return false;
        c->start[i] = axis.start;
        c->end[i] = axis.start + axis.count;
        c->first[i] = zlgi_grid_find(&grid->axis[i], axis.start);
        c->last[i] = zlgi_grid_find(&grid->axis[i], c->end[i] - 1);
        n_chunks[i] = c->last[i] - c->first[i] + 1;
    }
    if (!zlgi_product(n_chunks, grid->rank, &c->n_objects))
        c->n_objects = INT64_MAX;
    return c->n_objects > FEW;
}

static int note_object(void *user, const char *name, int is_prefix, uint64_t n_bytes)
{
    clearing *c = user;
    const zlgi_array_meta *meta = &c->array->meta;
    int64_t at[ZLG_MAX_RANK];
    (void)n_bytes;
    bool inside = !is_prefix && zlgi_key_read(&meta->key_encoding, meta->rank, name, at);
    for (int i = 0; i < meta->rank && inside; i++)
        inside = at[i] >= c->first[i] && at[i] <= c->last[i];
    c->n_stored += inside;
    c->is_sparse =
        ++c->n_seen <= c->n_objects && c->n_stored <= MOST &&
        (!inside ||
         zlgi_buf_append(&c->stored, at, (size_t)meta->rank * sizeof *at, NULL) == ZLG_OK);
    return !c->is_sparse;
}

static zlg_status make_requests(const clearing *c, const zlgi_request *fill,
                                zlgi_arena *arena, zlgi_request **out, zlg_error *err)
{
    int rank = c->array->meta.rank;
    const int64_t *at = (const int64_t *)(const void *)c->stored.data;
    zlgi_boxes boxes;
    ZLGI_TRY(zlgi_boxes_make(&boxes, arena, c->n_stored, rank, err));
    for (size_t i = 0; i < c->n_stored; i++, at += rank) {
        zlg_axis *axes = zlgi_boxes_next(&boxes);
        for (int k = 0; k < rank; k++) {
            const zlgi_grid_axis *axis = &c->array->source.grid.axis[k];
            int64_t start = zlgi_grid_start(axis, at[k]);
            int64_t end = ZLGI_MIN(start + zlgi_grid_edge(axis, at[k]), c->end[k]);
            start = ZLGI_MAX(start, c->start[k]);
            axes[k] = (zlg_axis){.start = start, .step = 1, .count = end - start};
        }
        zlgi_boxes_add(&boxes, fill);
    }
    *out = boxes.requests;
    return ZLG_OK;
}

static zlg_status ask(clearing *c, zlgi_patience *patience, zlg_error *err)
{
    zlg_status status =
        zlgi_stored_ask(c->array, c->first, c->last, MOST, patience, &c->stored, err);
    c->n_stored = c->stored.n / ((size_t)c->array->meta.rank * sizeof(int64_t));
    c->is_sparse = status == ZLG_OK && c->n_stored <= MOST;
    return status;
}

static zlg_status list(clearing *c, zlgi_patience *patience, zlg_error *err)
{
    const zlg_array *array = c->array;
    c->is_sparse = (array->store->class->capabilities & ZLGI_STORE_LIST) != 0;
    if (!c->is_sparse)
        return ZLG_OK;
    zlg_status status =
        zlgi_store_list(array->store, array->path, false, patience, note_object, c, err);
    c->is_sparse = c->is_sparse && (status == ZLG_OK || status == ZLG_NOT_FOUND);
    return status;
}

zlg_status zlgi_clear_stored(const zlg_array *array, zlgi_patience *patience,
                             const zlgi_request *fill, zlgi_arena *arena,
                             zlgi_request **out, size_t *out_n, zlg_error *err)
{
    clearing c = {.array = array};
    *out_n = SIZE_MAX;
    if (!take_box(&c, fill->selection))
        return ZLG_OK;
    zlgi_buf_init(&c.stored, array->store->alloc);
    zlg_status status = zlgi_stored_can_ask(array, c.first, c.last)
                            ? ask(&c, patience, err)
                            : list(&c, patience, err);
    if (status != ZLG_CANCELLED)
        status = c.is_sparse ? make_requests(&c, fill, arena, out, err) : ZLG_OK;
    if (status == ZLG_OK && c.is_sparse)
        *out_n = c.n_stored;
    zlgi_buf_reset(&c.stored);
    return status;
}
