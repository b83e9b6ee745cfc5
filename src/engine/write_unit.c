/*
 * write_unit.c: one chunk or inner chunk that is encoded whole: what stays of it is
 * decoded, what is written is gathered over that, and the codecs do the rest. What lies
 * beyond the array stays too: by now it may be somebody's who appends. Where the caller's
 * memory has the layout of the unit already, nothing is gathered.
 */
#include "engine/write.h"

bool zlgi_written_covers(const zlgi_written *box, size_t *out_use)
{
    for (size_t i = box->uses->n; i-- > 0;) {
        const zlgi_use *use = zlgi_uses_at(box->uses, i);
        bool all = use->kind == ZLGI_USE_BOX;
        for (int a = 0; a < use->rank && all; a++) {
            const zlgi_use_axis *axis = &use->axis[a];
            all = !axis->list && (axis->step == 1 || axis->count == 1) &&
                  axis->count == box->shape[a];
        }
        *out_use = i;
        if (all)
            return true;
    }
    return false;
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

/* ------------------------------------------------------------------ encode */

/* A caller who may leave the call behind may change their memory then, and an encoder must
 * see none that changes. What is not encoded is no more than copied. */
static bool may_stay(const unit *u)
{
    const zlg_call *call = u->box->worker->job->call;
    return u->chain->n_folded == u->chain->n_steps || !call || !call->placing;
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
    if (!covered && old)
        ZLGI_TRY(decode_old(u, *old, old_pair, buf->data));
    else if (!covered)
        fill_all(u, buf->data, fill);
    for (size_t i = covered ? i_first : 0; i < box->uses->n; i++) {
        const zlgi_use *use = zlgi_uses_at(box->uses, i);
        zlgi_gather(use, buf->data, u->strides, box->source->item, use->swap);
    }
    return ZLG_OK;
}

static zlg_status encode(const unit *u, zlgi_bytes elements, zlgi_buf bufs[3],
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

static zlg_status encode_unit(const unit *u, const zlgi_bytes *old, zlgi_buf bufs[3],
                              zlgi_buf spare[3], zlgi_bytes *out, zlgi_empty *empty)
{
    const zlgi_written *box = u->box;
    size_t item = box->source->item, n_bytes;
    zlgi_bytes elements;
    if (!zlgi_mul_size(item + 1, ELEMENTS, &n_bytes))
        return zlgi_no_memory(box->err, SIZE_MAX);
    ZLGI_TRY(zlgi_buf_reserve(&spare[2], n_bytes, false, box->err));
    const uint8_t *fill = fold_fill(u, box->fill, spare[2].data);
    ZLGI_TRY(assemble(u, old, &bufs[0], spare, fill, &elements));
    for (size_t i = 0; i < box->uses->n; i++)
        box->worker->n_done += (uint64_t)zlgi_use_count(zlgi_uses_at(box->uses, i)) * item;
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
