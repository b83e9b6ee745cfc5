/*
 * write_unit.c: one chunk or inner chunk that is encoded whole: what stays of it is
 * decoded, what is written is gathered over that, and the codecs do the rest. What lies
 * beyond the array stays too: by now it may be somebody's who appends. Where the caller's
 * memory has the layout of the unit already, nothing is gathered.
 */
#include "engine/write.h"

/* ------------------------------------------------------------------ what is covered */

static bool is_dense(const zlgi_use *use)
{
    bool dense = use->kind != ZLGI_USE_POINTS;
    for (int a = 0; a < use->rank && dense; a++)
        dense = !use->axis[a].list && (use->axis[a].step == 1 || use->axis[a].count == 1);
    return dense;
}

static int64_t volume(const zlgi_use *use)
{
    int64_t n = 1;
    for (int a = 0; a < use->rank; a++)
        n *= use->axis[a].count;
    return n;
}

/* Is a box of this shape taken whole? */
static bool takes(const zlgi_use *use, const int64_t *shape)
{
    bool all = is_dense(use);
    for (int a = 0; a < use->rank && all; a++)
        all = use->axis[a].count == shape[a];
    return all && (use->kind == ZLGI_USE_BOX || zlgi_mask_count(use) == volume(use));
}

static bool overlap(const zlgi_use *x, const zlgi_use *y)
{
    bool both = true;
    for (int a = 0; a < x->rank && both; a++)
        both = x->axis[a].start < y->axis[a].start + y->axis[a].count &&
               y->axis[a].start < x->axis[a].start + x->axis[a].count;
    return both;
}

/* Boxes of which none overlaps another cover what they have the volume of. */
static bool take_together(const zlgi_uses *uses, const int64_t *shape, size_t *out_use)
{
    enum { MOST = 8 };
    const zlgi_use *taken[MOST];
    int64_t n_left;
    int n_taken = 0;
    if (uses->n < 2 || !zlgi_product(shape, uses->rank, &n_left))
        return false;
    for (size_t i = uses->n; i-- > 0 && n_taken < MOST;) {
        const zlgi_use *use = zlgi_uses_at(uses, i);
        bool apart = use->kind == ZLGI_USE_BOX && is_dense(use);
        for (int k = 0; k < n_taken && apart; k++)
            apart = !overlap(use, taken[k]);
        if (!apart)
            continue;
        taken[n_taken++] = use;
        n_left -= volume(use);
        *out_use = i;
        if (n_left == 0)
            return true;
    }
    return false;
}

static bool take_all(const zlgi_uses *uses, const int64_t *shape, size_t *out_use)
{
    for (size_t i = uses->n; i-- > 0;) {
        *out_use = i;
        if (takes(zlgi_uses_at(uses, i), shape))
            return true;
    }
    return take_together(uses, shape, out_use);
}

bool zlgi_written_covers(const zlgi_written *box, size_t *out_use)
{
    return take_all(box->uses, box->shape, out_use);
}

bool zlgi_written_renews(const zlgi_written *box)
{
    size_t i_use;
    return take_all(box->uses, box->inside, &i_use);
}

const zlg_encoded *zlgi_written_encoded(const zlgi_written *box)
{
    const zlgi_use *use = zlgi_uses_at(box->uses, 0);
    const zlg_encoded *last = &box->encoded[use->ids[use->n_points - 1]];
    box->worker->n_done += last->n_bytes;
    return last;
}

/* How the elements of a unit lie in the buffer that the chain encodes. A shard inside
 * other codecs is taken in C order, in native byte order. */
typedef struct unit {
    const zlgi_written *box;
    const zlgi_chain *chain;
    const zlgi_level_box *facts;
    zlgi_level_box room;
    ptrdiff_t strides[ZLG_MAX_RANK];
    size_t n_bytes, n_elements;
    bool full; /* the chain does its own folding */
} unit;

static zlg_status make_unit(unit *u, const zlgi_written *box)
{
    const zlgi_level *level = box->level;
    const zlg_limits *limits = box->worker->job->engine->limits;
    u->box = box;
    u->chain = level->chain;
    u->full = level->wrapped;
    ZLGI_TRY(zlgi_level_box_get(level, limits, box->shape, &u->room, &u->facts, box->err));
    const zlgi_edge *edge = &u->facts->layout.edge[u->full ? 0 : u->chain->n_folded];
    u->n_bytes = edge->n_bytes;
    u->n_elements = u->facts->layout.edge[0].n_elements;
    if ((uint64_t)u->n_bytes > (uint64_t)limits->chunk_bytes)
        return zlgi_fail(box->err, ZLG_LIMIT, "%zu bytes, more than chunk_bytes",
                         u->n_bytes);
    ptrdiff_t stride = (ptrdiff_t)box->source->item;
    for (int i = level->rank - 1; i >= 0; i--) {
        u->strides[i] = u->full ? stride : u->facts->strides[i];
        stride *= box->shape[i];
    }
    return ZLG_OK;
}

/* ------------------------------------------------------------------ what was there */

/* A fill value as it lies in the buffer. element: room for one. */
static const uint8_t *fold_fill(const unit *u, const zlgi_fill *fill, uint8_t *element)
{
    size_t item = u->box->source->item;
    if (u->full || u->chain->swap.width == 0)
        return fill->data;
    memcpy(element, fill->data, item);
    zlgi_swap_apply(&u->chain->swap, element, 1, item);
    return element;
}

static void fill_all(const unit *u, uint8_t *elements, const uint8_t *fill)
{
    size_t item = u->box->source->item;
    zlgi_use all = {.rank = 1, .memory = elements};
    all.axis[0] = (zlgi_use_axis){
        .step = 1, .count = (int64_t)u->n_elements, .stride = (ptrdiff_t)item};
    zlgi_place_fill(&all, fill, item);
}

static zlg_status decode_old(const unit *u, zlgi_bytes old, zlgi_buf pair[2],
                             uint8_t *elements)
{
    zlgi_worker *worker = u->box->worker;
    const zlgi_layout *layout = &u->facts->layout;
    zlgi_bytes got;
    worker->stats.n_chunks++;
    if (u->full)
        return zlgi_chain_decode_full_in(u->chain, layout, worker->scratch, old, elements,
                                         pair, u->box->err);
    ZLGI_TRY(zlgi_chain_decode(u->chain, layout, worker->scratch, old, elements, pair, &got,
                               u->box->err));
    if (got.data != elements && u->n_bytes > 0)
        memcpy(elements, got.data, u->n_bytes);
    if (u->chain->normalize)
        zlgi_dtype_normalize(u->box->source->dtype, elements, u->n_elements);
    return ZLG_OK;
}

/* What stays. Bytes that are broken matter only where an element of the array is left to
 * them: a power loss may have made them, and who writes over all of it mends the chunk. */
static zlg_status take_old(const unit *u, const zlgi_bytes *old, zlgi_buf pair[2],
                           uint8_t *elements, const uint8_t *fill)
{
    zlg_status status = old ? decode_old(u, *old, pair, elements) : ZLG_OK;
    if (old && (status != ZLG_CORRUPT || !zlgi_written_renews(u->box)))
        return status;
    fill_all(u, elements, fill);
    return ZLG_OK;
}

/* ------------------------------------------------------------------ encode */

/* A caller who may leave the call behind may change their memory then, and what is being
 * encoded or stored must not change. */
static bool may_stay(const unit *u)
{
    const zlg_call *call = u->box->worker->job->call;
    return !call || !call->placing;
}

/* What is written, over what stays: in `buf`, or where the caller has it. */
static zlg_status assemble(const unit *u, const zlgi_bytes *old, zlgi_buf *buf,
                           zlgi_buf old_pair[2], const uint8_t *fill, zlgi_bytes *out)
{
    const zlgi_written *box = u->box;
    size_t i_first = 0;
    bool covered = zlgi_written_covers(box, &i_first);
    const zlgi_use *last = zlgi_uses_at(box->uses, i_first);
    if (covered && i_first == box->uses->n - 1 && !last->swap && may_stay(u) &&
        zlgi_use_matches(last, box->shape, u->strides)) {
        *out = (zlgi_bytes){.data = last->memory, .n = u->n_bytes};
        return ZLG_OK;
    }
    ZLGI_TRY(zlgi_buf_reserve(buf, u->n_bytes + 1, false, box->err));
    *out = (zlgi_bytes){.data = buf->data, .n = u->n_bytes};
    if (!covered)
        ZLGI_TRY(take_old(u, old, old_pair, buf->data, fill));
    for (size_t i = covered ? i_first : 0; i < box->uses->n; i++) {
        const zlgi_use *use = zlgi_uses_at(box->uses, i);
        zlgi_gather(use, buf->data, u->strides, box->source->item, use->swap);
    }
    return ZLG_OK;
}

static zlg_status run_chain(const unit *u, zlgi_bytes elements, zlgi_buf bufs[3],
                            zlgi_bytes *out)
{
    zlgi_scratch *scratch = u->box->worker->scratch;
    const zlgi_layout *layout = &u->facts->layout;
    if (!u->full)
        return zlgi_chain_encode(u->chain, layout, scratch, elements, &bufs[1], out,
                                 u->box->err);
    bufs[1].n = 0;
    ZLGI_TRY(
        zlgi_chain_encode_full(u->chain, layout, scratch, elements, &bufs[1], u->box->err));
    *out = (zlgi_bytes){.data = bufs[1].data, .n = bufs[1].n};
    return ZLG_OK;
}

/* Shards that a codec makes whole are made as the call says. */
static zlg_status encode(const unit *u, zlgi_bytes elements, zlgi_buf bufs[3],
                         zlgi_bytes *out)
{
    zlgi_worker *worker = u->box->worker;
    worker->scratch->ways =
        (zlgi_shard_ways){.call = worker->job->call, .keep_empty = u->box->keep_empty};
    zlg_status status = run_chain(u, elements, bufs, out);
    worker->scratch->ways = (zlgi_shard_ways){.call = NULL};
    return status;
}

/* Single elements that are wanted at a time: a fill value, and two that are compared. */
enum { ELEMENTS = 3 };

static zlgi_empty tell_empty(const unit *u, zlgi_bytes elements, uint8_t *room)
{
    const zlgi_source *source = u->box->source;
    const zlg_call *call = u->box->worker->job->call;
    const zlgi_fill *fills[] = {&source->fill, u->box->fill};
    const zlgi_swap none = {.width = 0};
    const zlgi_swap *swap = u->full ? &none : &u->chain->swap;
    if (u->box->keep_empty)
        return ZLGI_FULL;
    for (int i = 0; i < 2 && (i == 0 || fills[1] != fills[0]); i++)
        if (zlgi_is_empty(source->dtype, elements.data, u->n_elements,
                          fold_fill(u, fills[i], room), swap, call->loose_fill,
                          room + source->item))
            return i == 0 ? ZLGI_EMPTY_ARRAY : ZLGI_EMPTY_BOX;
    return ZLGI_FULL;
}

/* Is all of it the fill value of the array, as one need not look to see? */
static bool is_cleared(const zlgi_written *box, const zlgi_bytes *old)
{
    size_t i_use;
    bool is_fill = !old && box->fill == &box->source->fill; /* what is not written */
    return box->clears && (is_fill || zlgi_written_covers(box, &i_use));
}

static zlg_status encode_unit(const unit *u, const zlgi_bytes *old, zlgi_buf bufs[3],
                              zlgi_buf spare[3], zlgi_bytes *out, zlgi_empty *empty)
{
    const zlgi_written *box = u->box;
    size_t item = box->source->item, n_bytes;
    zlgi_bytes elements;
    for (size_t i = 0; i < box->uses->n; i++)
        box->worker->n_done += (uint64_t)zlgi_use_count(zlgi_uses_at(box->uses, i)) * item;
    *empty = ZLGI_EMPTY_ARRAY;
    if (is_cleared(box, old))
        return ZLG_OK;
    if (!zlgi_mul_size(item + 1, ELEMENTS, &n_bytes))
        return zlgi_no_memory(box->err, SIZE_MAX);
    ZLGI_TRY(zlgi_buf_reserve(&spare[2], n_bytes, false, box->err));
    const uint8_t *fill = fold_fill(u, box->fill, spare[2].data);
    ZLGI_TRY(assemble(u, old, &bufs[0], spare, fill, &elements));
    *empty = tell_empty(u, elements, spare[2].data);
    if (*empty)
        return ZLG_OK;
    box->worker->stats.n_encoded++;
    return encode(u, elements, bufs, out);
}

zlg_status zlgi_unit_encode(const zlgi_written *box, const zlgi_bytes *old,
                            zlgi_buf bufs[3], zlgi_bytes *out, zlgi_empty *empty)
{
    unit u;
    zlgi_scratch *scratch = box->worker->scratch;
    ZLGI_TRY(make_unit(&u, box));
    zlgi_buf *spare = zlgi_scratch_push(scratch); /* two to decode, and single elements */
    zlgi_scratch_push(scratch);
    zlgi_scratch_push(scratch);
    zlg_status status = encode_unit(&u, old, bufs, spare, out, empty);
    for (int i = 0; i < 3; i++)
        zlgi_scratch_pop(scratch);
    return status;
}
