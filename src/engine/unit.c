/*
 * unit.c: one chunk or inner chunk that is decoded whole, and placed for every use of it.
 * Straight into the caller's memory when that has the layout of the unit and they stay
 * there.
 */
#include "engine/raw.h"

/* One element everywhere. */
typedef struct filling {
    const uint8_t *value;
    size_t item;
} filling;

static void place_fill(const void *context, const zlgi_use *use)
{
    const filling *f = context;
    zlgi_place_fill(use, f->value, f->item);
}

zlg_status zlgi_unit_fill(zlgi_worker *worker, const zlgi_source *source,
                          const zlgi_fill *fill, const zlgi_uses *uses)
{
    filling f = {.value = fill->data, .item = source->item};
    for (size_t i = 0; i < uses->n && !worker->job->taken; i++)
        ZLGI_TRY(zlgi_placing_use(worker, zlgi_uses_at(uses, i), f.item, place_fill, &f));
    return ZLG_OK;
}

/* Elements as they came out of the chain, at one place in C order of the unit: to native
 * canonical values. */
void zlgi_unit_finish(const zlgi_chain *chain, const zlgi_source *source, uint8_t *elements,
                      size_t n_bytes)
{
    if (source->item == 0)
        return;
    if (chain->swap.width)
        zlgi_swap_apply(&chain->swap, elements, n_bytes / source->item, source->item);
    if (chain->normalize)
        zlgi_dtype_normalize(source->dtype, elements, n_bytes / source->item);
}

static void place_use(const zlgi_source *source, const zlgi_chain *chain,
                      const ptrdiff_t *strides, const uint8_t *unit, const zlgi_use *use)
{
    zlgi_place(use, unit, strides, source->item, &chain->swap);
    if (chain->normalize) /* there: the unit may be lent by the store, and large */
        zlgi_place_normal(use, source->dtype);
}

zlg_status zlgi_unit_decode(const zlgi_source *source, const zlgi_level *level,
                            const zlgi_level_box *box, const int64_t *shape,
                            zlgi_scratch *scratch, zlgi_bytes encoded, zlgi_buf pair[2],
                            const ptrdiff_t *strides, uint8_t *elements, zlg_error *err)
{
    const zlgi_chain *chain = level->chain;
    zlgi_bytes unit;
    zlgi_use whole = {.rank = level->rank, .memory = elements};
    for (int i = 0; i < whole.rank; i++)
        whole.axis[i] = (zlgi_use_axis){.step = 1, .count = shape[i], .stride = strides[i]};
    bool direct = zlgi_use_matches(&whole, shape, box->strides);
    ZLGI_TRY(zlgi_chain_decode(chain, &box->layout, scratch, encoded,
                               direct ? elements : NULL, pair, &unit, err));
    if (unit.data == elements)
        zlgi_unit_finish(chain, source, elements, unit.n);
    else
        place_use(source, chain, box->strides, unit.data, &whole);
    return ZLG_OK;
}

/* A decoded unit. */
typedef struct decoded {
    const zlgi_source *source;
    const zlgi_chain *chain;
    const ptrdiff_t *strides;
    const uint8_t *bytes;
} decoded;

static void place_decoded(const void *context, const zlgi_use *use)
{
    const decoded *d = context;
    place_use(d->source, d->chain, d->strides, d->bytes, use);
}

zlg_status zlgi_unit_place_use(zlgi_worker *worker, const zlgi_source *source,
                               const zlgi_chain *chain, const ptrdiff_t *strides,
                               const uint8_t *unit, const zlgi_use *use)
{
    decoded d = {.source = source, .chain = chain, .strides = strides, .bytes = unit};
    return zlgi_placing_use(worker, use, source->item, place_decoded, &d);
}

zlg_status zlgi_unit_place(zlgi_worker *worker, const zlgi_source *source,
                           const zlgi_chain *chain, const ptrdiff_t *strides,
                           zlgi_bytes unit, const zlgi_uses *uses, zlg_error *err)
{
    for (size_t i = 0; i < uses->n; i++) {
        const zlgi_use *use = zlgi_uses_at(uses, i);
        if (!worker->keep) {
            ZLGI_TRY(zlgi_unit_place_use(worker, source, chain, strides, unit.data, use));
            continue;
        }
        if (!zlgi_place_views(use, unit.data, strides, worker->keep))
            return zlgi_no_memory(err, unit.n);
        worker->n_done += (uint64_t)zlgi_use_count(use) * source->item;
    }
    return ZLG_OK;
}

static zlg_status place_direct(const zlgi_source *source, const zlgi_chain *chain,
                               zlgi_bytes unit, const zlgi_use *use)
{
    if (unit.data != use->memory)
        memcpy(use->memory, unit.data, unit.n);
    zlgi_unit_finish(chain, source, use->memory, unit.n);
    return ZLG_OK;
}

/* Decodes into a block of the chunk cache, from which it is placed. */
static zlg_status read_cached(zlgi_worker *worker, const zlgi_source *source,
                              const zlgi_level *level, const zlgi_level_box *box,
                              const zlgi_range *range, const zlgi_uses *uses,
                              zlgi_bytes encoded, zlgi_buf pair[2],
                              const zlgi_cache_key *key, zlg_error *err)
{
    zlgi_cache *cache = worker->job->engine->chunk_cache;
    const zlgi_chain *chain = level->chain;
    size_t n_bytes = box->layout.edge[chain->n_folded].n_bytes;
    zlgi_block *block = zlgi_block_new(cache, key, range->key, n_bytes);
    if (!block)
        return zlgi_no_memory(err, n_bytes);
    worker->stats.n_allocations++;
    zlgi_bytes unit;
    zlg_status status = zlgi_chain_decode(chain, &box->layout, worker->scratch, encoded,
                                          block->data, pair, &unit, err);
    if (status == ZLG_OK) {
        if (unit.data != block->data)
            memcpy(block->data, unit.data, unit.n);
        zlgi_cache_put(cache, block);
        unit.data = block->data;
        status = zlgi_unit_place(worker, source, chain, box->strides, unit, uses, err);
    }
    zlgi_block_unref(cache, block);
    return status;
}

/* ------------------------------------------------------------------ blocks
 *
 * A unit that is stored in blocks is decoded block by block, each placed while it is in
 * cache, and only those of which something is wanted. Blocks must be rows of the unit, one
 * or many, along the axis that moves slowest in it.
 */
typedef struct slabs {
    int axis;
    int64_t n_rows;   /* of a slab */
    size_t n_row;     /* bytes of a row */
    int64_t low, end; /* rows that are wanted lie here */
} slabs;

static bool make_slabs(const zlgi_level *level, const zlgi_level_box *box,
                       const int64_t *shape, zlgi_bytes encoded, const zlgi_use *use,
                       slabs *out)
{
    const zlgi_chain *chain = level->chain;
    if (level->rank == 0 || use->kind == ZLGI_USE_POINTS)
        return false;
    out->axis = chain->n_transposes ? chain->order[0] : 0;
    out->n_row = (size_t)box->strides[out->axis];
    size_t block = zlgi_chain_block_bytes(chain, &box->layout, encoded);
    if (block == 0 || out->n_row == 0 || (block % out->n_row && out->n_row % block))
        return false;
    const zlgi_use_axis *axis = &use->axis[out->axis];
    int64_t last = axis->count - 1;
    out->n_rows = (int64_t)(ZLGI_MAX(block, out->n_row) / out->n_row);
    out->low = axis->list ? axis->list[0] - axis->base : axis->start;
    out->end =
        1 + (axis->list ? axis->list[last] - axis->base : axis->start + last * axis->step);
    out->low = out->low / out->n_rows * out->n_rows;
    return out->n_rows < shape[out->axis];
}

static zlg_status place_slab(zlgi_worker *worker, const zlgi_source *source,
                             const zlgi_level *level, const zlgi_level_box *box,
                             const int64_t *shape, zlgi_bytes encoded, const slabs *rows,
                             int64_t row, const zlgi_use *use, zlgi_buf *buf,
                             zlgi_uses *slab_uses, zlg_error *err)
{
    int64_t start[ZLG_MAX_RANK] = {0}, slab[ZLG_MAX_RANK];
    zlgi_use *cut;
    memcpy(slab, shape, (size_t)level->rank * sizeof *slab);
    start[rows->axis] = row;
    slab[rows->axis] = ZLGI_MIN(rows->n_rows, shape[rows->axis] - row);
    slab_uses->n = 0;
    ZLGI_TRY(zlgi_uses_room(slab_uses, &cut, err));
    slab_uses->n = zlgi_use_cut(use, start, slab, cut);
    if (slab_uses->n == 0)
        return ZLG_OK;
    zlgi_bytes unit = {.n = (size_t)slab[rows->axis] * rows->n_row};
    ZLGI_TRY(zlgi_buf_reserve(buf, (size_t)rows->n_rows * rows->n_row, false, err));
    ZLGI_TRY(zlgi_chain_decode_blocks(level->chain, worker->scratch, encoded,
                                      (size_t)row * rows->n_row, unit.n, buf->data, err));
    unit.data = buf->data;
    return zlgi_unit_place(worker, source, level->chain, box->strides, unit, slab_uses,
                           err);
}

static zlg_status place_slabs(zlgi_worker *worker, const zlgi_source *source,
                              const zlgi_level *level, const zlgi_level_box *box,
                              const int64_t *shape, zlgi_bytes encoded, const slabs *rows,
                              const zlgi_use *use, zlgi_buf *buf, zlg_error *err)
{
    zlgi_uses slab_uses = {.buf = zlgi_scratch_push(worker->scratch), .rank = level->rank};
    zlg_status status = ZLG_OK;
    worker->stats.n_chunks++;
    for (int64_t row = rows->low; row < rows->end && status == ZLG_OK; row += rows->n_rows)
        status = place_slab(worker, source, level, box, shape, encoded, rows, row, use, buf,
                            &slab_uses, err);
    zlgi_scratch_pop(worker->scratch);
    return status;
}

static zlg_status decode_and_place(zlgi_worker *worker, const zlgi_source *source,
                                   const zlgi_level *level, const zlgi_level_box *box,
                                   const int64_t *shape, zlgi_bytes encoded,
                                   const zlgi_uses *uses, zlgi_buf pair[2], zlg_error *err)
{
    const zlgi_chain *chain = level->chain;
    const zlgi_use *only = uses->n == 1 && !worker->keep ? zlgi_uses_at(uses, 0) : NULL;
    bool direct = only && !zlgi_job_has_door(worker->job) &&
                  zlgi_use_matches(only, shape, box->strides);
    zlgi_bytes unit;
    slabs rows;
    if (only && !direct && make_slabs(level, box, shape, encoded, only, &rows))
        return place_slabs(worker, source, level, box, shape, encoded, &rows, only,
                           &pair[0], err);
    ZLGI_TRY(zlgi_chain_decode(chain, &box->layout, worker->scratch, encoded,
                               direct ? only->memory : NULL, pair, &unit, err));
    worker->stats.n_chunks++;
    if (!direct)
        return zlgi_unit_place(worker, source, chain, box->strides, unit, uses, err);
    worker->stats.n_chunks_direct++;
    worker->n_done += unit.n;
    return place_direct(source, chain, unit, only);
}

static zlgi_cache_key chunk_key(const zlgi_range *range)
{
    zlgi_cache_key key = {.store = range->store->id,
                          .object = range->hash,
                          .offset = range->offset,
                          .n_bytes = range->n_bytes};
    if (range->object)
        key.tag = range->object->tag;
    return key;
}

static zlg_status read_whole(zlgi_worker *worker, const zlgi_source *source,
                             const zlgi_level *level, const zlgi_level_box *box,
                             const int64_t *shape, const zlgi_range *range,
                             const zlgi_uses *uses, zlgi_buf buf[3], zlg_error *err)
{
    const zlgi_chain *chain = level->chain;
    size_t n_bytes = box->layout.edge[chain->n_folded].n_bytes;
    zlgi_cache_key key = chunk_key(range);
    zlgi_cache *cache = worker->job->engine->chunk_cache;
    bool caching = cache && key.tag.trusted && !worker->keep && n_bytes != ZLGI_UNKNOWN;
    zlgi_block *block = caching ? zlgi_cache_get(cache, &key, range->key, n_bytes) : NULL;
    if (block) {
        worker->stats.n_chunk_hits++;
        zlgi_bytes unit = {.data = block->data, .n = block->n_bytes};
        zlg_status status =
            zlgi_unit_place(worker, source, chain, box->strides, unit, uses, err);
        zlgi_block_unref(cache, block);
        return status;
    }
    size_t likely = ZLGI_MIN(n_bytes, (size_t)ZLGI_RUN_BYTES) + 4096;
    zlgi_bytes encoded;
    ZLGI_TRY(zlgi_fetch_all(worker, range, likely, &buf[0], &encoded, err));
    if (caching) {
        worker->stats.n_chunks++;
        return read_cached(worker, source, level, box, range, uses, encoded, &buf[1], &key,
                           err);
    }
    return decode_and_place(worker, source, level, box, shape, encoded, uses, &buf[1], err);
}

/* The stored bytes, unless they are lent, and the decoded ones. What lies in memory because
 * codecs around a shard were taken off is part of a piece that is in hand already. */
static void reserve(zlgi_worker *worker, const zlgi_level *level, const zlgi_level_box *box,
                    const zlgi_range *range)
{
    const zlgi_chain *chain = level->chain;
    size_t n_decoded = box->layout.edge[chain->n_folded].n_bytes;
    uint64_t need = 0;
    if (!range->object)
        return;
    if (!range->memory && !range->object->view && range->n_bytes != ZLGI_SIZE_UNKNOWN)
        need = range->n_bytes;
    if (n_decoded != ZLGI_UNKNOWN)
        need += level->raw ? 0 : n_decoded;
    zlgi_worker_reserve(worker, need);
}

zlg_status zlgi_unit_read(zlgi_worker *worker, const zlgi_source *source,
                          const zlgi_level *level, const int64_t *shape,
                          const zlgi_range *range, const zlgi_uses *uses, zlg_error *err)
{
    zlgi_level_box room;
    const zlgi_level_box *box;
    if (worker->job->taken)
        return zlgi_encoded_take(worker, range, uses, err);
    ZLGI_TRY(
        zlgi_level_box_get(level, worker->job->engine->limits, shape, &room, &box, err));
    if (worker->trace) {
        worker->trace->n_chunks++;
        worker->trace->n_direct +=
            uses->n == 1 && !zlgi_dtype_is_varlen(source->dtype) &&
            zlgi_use_matches(zlgi_uses_at(uses, 0), shape, box->strides);
    }
    if (zlgi_job_transform(worker->job))
        return zlgi_unit_transform(worker, source, level, box, shape, range, uses, err);
    if (level->raw && !range->memory && !range->object->view)
        return zlgi_raw_read(worker, source, level, box, shape, range, uses, err);
    if (worker->trace)
        return zlgi_trace_add(worker->trace, range->offset, range->n_bytes, 1, err);
    reserve(worker, level, box, range);
    zlgi_buf *buf = zlgi_scratch_push(worker->scratch);
    zlgi_scratch_push(
        worker->scratch); /* three in a row: the bytes, and a pair to decode */
    zlgi_scratch_push(worker->scratch);
    zlg_status status =
        read_whole(worker, source, level, box, shape, range, uses, buf, err);
    zlgi_scratch_pop(worker->scratch);
    zlgi_scratch_pop(worker->scratch);
    zlgi_scratch_pop(worker->scratch);
    return status;
}
