/*
 * chunk.c: one innermost chunk alone, from elements to what is stored of it and back, for
 * those who keep chunks before an object is put together. Goes down the levels of its array
 * as a write does, but knows no objects and no stores: shards are passed through, since
 * their index has nothing to say of a chunk.
 */
#include "engine/raw.h"
#include "engine/write.h"

/* A chunk at the level that encodes it, in the axes of that. */
typedef struct chunk {
    const zlgi_level *level;
    const zlgi_fill *fill; /* where it is not stored */
    int64_t shape[ZLG_MAX_RANK];
    zlgi_use whole; /* all of it */
} chunk;

static void descend(const zlgi_source *source, const int64_t *shape, void *elements,
                    const ptrdiff_t *strides, chunk *out)
{
    const zlgi_level *level = source->level;
    ptrdiff_t stride = (ptrdiff_t)source->item;
    out->fill = &source->fill;
    out->whole.rank = level->rank;
    out->whole.kind = ZLGI_USE_BOX;
    out->whole.memory = elements;
    out->whole.swap = NULL;
    for (int i = level->rank - 1; i >= 0; i--) {
        out->whole.axis[i] = (zlgi_use_axis){
            .step = 1, .count = shape[i], .stride = strides ? strides[i] : stride};
        stride *= shape[i];
    }
    for (; zlgi_written_is_shard(level); level = level->inner) {
        zlgi_use_permute(&out->whole, level->order);
        out->fill = level->fill.data ? &level->fill : &source->fill;
    }
    for (int i = 0; i < level->rank; i++)
        out->shape[i] = out->whole.axis[i].count;
    out->level = level;
}

/* ------------------------------------------------------------------ encode */

static zlg_status encode(zlgi_engine *engine, zlgi_scratch *scratch,
                         const zlgi_source *source, const chunk *c, const zlg_call *call,
                         zlgi_uses *uses, zlgi_buf bufs[3], zlgi_bytes *out,
                         bool *out_empty, zlg_error *err)
{
    const zlg_call defaults = ZLG_CALL_INIT;
    zlgi_job job = {.engine = engine, .call = call ? call : &defaults};
    zlgi_worker worker = {.job = &job, .scratch = scratch};
    zlgi_empty empty;
    zlgi_use *whole;
    ZLGI_TRY(zlgi_uses_room(uses, &whole, err));
    memcpy(whole, &c->whole, zlgi_use_bytes(c->whole.rank));
    uses->n = 1;
    const zlgi_written box = {.worker = &worker,
                              .source = source,
                              .level = c->level,
                              .shape = c->shape,
                              .inside = c->shape,
                              .keep_empty = job.call->keep_empty > 0,
                              .replace = true,
                              .uses = uses,
                              .fill = c->fill,
                              .err = err};
    ZLGI_TRY(zlgi_unit_encode(&box, NULL, bufs, out, &empty));
    *out_empty = empty != ZLGI_FULL;
    return ZLG_OK;
}

zlg_status zlgi_chunk_encode(zlgi_engine *engine, zlgi_scratch *scratch,
                             const zlgi_source *source, const int64_t *shape,
                             const void *elements, const ptrdiff_t *strides, bool swapped,
                             const zlg_call *call, zlgi_buf bufs[3], zlgi_bytes *out,
                             bool *out_empty, zlg_error *err)
{
    chunk c;
    zlgi_arena arena; /* touched only to swap */
    *out = (zlgi_bytes){.data = NULL};
    descend(source, shape, (uint8_t *)(uintptr_t)elements, strides, &c);
    zlgi_arena_init(&arena, engine->alloc);
    zlgi_uses uses = {.buf = zlgi_scratch_push(scratch), .rank = c.whole.rank};
    zlg_status status = zlgi_written_swap(source, swapped, &arena, &c.whole.swap, err);
    if (status == ZLG_OK)
        status =
            encode(engine, scratch, source, &c, call, &uses, bufs, out, out_empty, err);
    zlgi_scratch_pop(scratch);
    zlgi_arena_reset(&arena);
    return status;
}

/* ------------------------------------------------------------------ decode */

static zlg_status decode(zlgi_engine *engine, zlgi_scratch *scratch,
                         const zlgi_source *source, const chunk *c, zlgi_bytes encoded,
                         zlgi_buf pair[2], zlg_error *err)
{
    zlgi_level_box room;
    const zlgi_level_box *box;
    ptrdiff_t strides[ZLG_MAX_RANK];
    const zlgi_level *level = c->level;
    ZLGI_TRY(zlgi_level_box_get(level, engine->limits, c->shape, &room, &box, err));
    if (level->wrapped)
        return zlgi_chain_decode_full_in(level->chain, &box->layout, scratch, encoded,
                                         c->whole.memory, pair, err);
    for (int i = 0; i < level->rank; i++)
        strides[i] = c->whole.axis[i].stride;
    return zlgi_unit_decode(source, level, box, c->shape, scratch, encoded, pair, strides,
                            c->whole.memory, err);
}

zlg_status zlgi_chunk_decode(zlgi_engine *engine, zlgi_scratch *scratch,
                             const zlgi_source *source, const int64_t *shape,
                             zlgi_bytes encoded, void *elements, zlg_error *err)
{
    chunk c;
    descend(source, shape, elements, NULL, &c);
    if (!encoded.data) {
        zlgi_place_fill(&c.whole, c.fill->data, source->item);
        return ZLG_OK;
    }
    zlgi_buf *pair = zlgi_scratch_push(scratch);
    zlgi_scratch_push(scratch);
    zlg_status status = decode(engine, scratch, source, &c, encoded, pair, err);
    zlgi_scratch_pop(scratch);
    zlgi_scratch_pop(scratch);
    return status;
}
