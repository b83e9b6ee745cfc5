/*
 * level.c: from a codec chain to the levels of the engine. Decides, once per array, how
 * far a selection can be pushed down: through transposes by permuting axes, through
 * element-wise codecs by moving them into the inner chunks, through shards by their index,
 * and no further than the first codec that needs its chunk whole.
 */
#include "engine/engine.h"

/* True when everything in front of the shard lets a box through. */
static bool can_descend(const zlgi_chain *chain)
{
    if (chain->step[chain->i_bytes].codec->pass != ZLGI_PASS_SHARDING)
        return false;
    for (int i = 0; i < chain->i_bytes; i++) {
        zlgi_pass pass = chain->step[i].codec->pass;
        if (pass != ZLGI_PASS_TRANSPOSE && pass != ZLGI_PASS_ELEMENTWISE)
            return false;
    }
    return true;
}

/* Axis i behind a transpose step is axis order[i] before it. Found by resolving the step on
 * a shape of distinct lengths: the codec alone knows its configuration. */
static zlg_status step_order(const zlgi_step *step, int rank, int *order, zlg_error *err)
{
    zlgi_edge from = {.n_elements = 0}, to;
    for (int i = 0; i < rank; i++)
        from.shape[i] = i + 1;
    ZLGI_TRY(step->codec->resolve(step, &from, &to, err));
    for (int i = 0; i < rank; i++)
        order[i] = (int)to.shape[i] - 1;
    return ZLG_OK;
}

/* The unit chain of an inner chunk with the element-wise steps of `outer` in front. */
static zlg_status prepend_elementwise(zlgi_arena *arena, const zlgi_chain *outer,
                                      const zlgi_chain *inner, const zlgi_chain **out,
                                      zlg_error *err)
{
    int n = 0;
    for (int i = 0; i < outer->i_bytes; i++)
        n += outer->step[i].codec->pass == ZLGI_PASS_ELEMENTWISE;
    *out = inner;
    if (n == 0)
        return ZLG_OK;
    if (n + inner->n_steps > ZLGI_CHAIN_STEPS)
        return zlgi_fail(err, ZLG_LIMIT, "a chain of more than %d codecs",
                         ZLGI_CHAIN_STEPS);
    zlgi_chain *joined = zlgi_arena_get(arena, sizeof *joined);
    if (!joined)
        return zlgi_no_memory(err, sizeof *joined);
    memset(joined, 0, sizeof *joined);
    for (int i = 0; i < outer->i_bytes; i++)
        if (outer->step[i].codec->pass == ZLGI_PASS_ELEMENTWISE)
            joined->step[joined->n_steps++] = outer->step[i];
    joined->i_bytes = joined->n_steps + inner->i_bytes;
    memcpy(&joined->step[joined->n_steps], inner->step,
           (size_t)inner->n_steps * sizeof inner->step[0]);
    joined->n_steps += inner->n_steps;
    for (int i = 0; i < ZLG_MAX_RANK; i++)
        joined->order[i] = i;
    *out = joined;
    return ZLG_OK;
}

/* Inner chunks that are not there hold the fill value as it is at the shard, taken back
 * through the codecs in front: these round, so that it may not be the array's again. */
static zlg_status set_fill(zlgi_arena *arena, const zlgi_chain *chain, zlgi_fill *out,
                           zlg_error *err)
{
    zlgi_fill fill = chain->step[chain->i_bytes].from.fill;
    for (int i = chain->i_bytes - 1; i >= 0; i--) {
        const zlgi_step *step = &chain->step[i];
        if (step->codec->pass != ZLGI_PASS_ELEMENTWISE)
            continue;
        size_t n = zlgi_dtype_slot(step->from.dtype);
        zlgi_edge one = {.n_elements = 1, .n_bytes = n};
        zlgi_out result = {.direct = zlgi_arena_get(arena, n), .expected = n, .limit = n};
        if (!result.direct)
            return zlgi_no_memory(err, n);
        zlg_status status = step->codec->decode(
            step, NULL, &one, (zlgi_bytes){fill.data, fill.n}, &result, err);
        if (status != ZLG_OK)
            return zlgi_within(err, status, "fill value: codec %s", step->codec->name);
        *out = fill = (zlgi_fill){result.result.data, n};
    }
    return ZLG_OK;
}

static zlg_status make_box(const zlgi_level *level, const zlg_limits *limits,
                           const int64_t *shape, zlgi_level_box *out, zlg_error *err)
{
    const zlgi_chain *chain = level->chain;
    if (level->sharding) {
        int64_t ordered[ZLG_MAX_RANK];
        for (int i = 0; i < level->rank; i++)
            ordered[i] = shape[level->order[i]];
        ZLGI_TRY(zlgi_sharding_layout(level->sharding, limits, ordered, out->grid_shape,
                                      &out->n_chunks, &out->n_bytes_index, err));
        return level->wrapped ? zlgi_chain_layout(chain, shape, &out->layout, err) : ZLG_OK;
    }
    ZLGI_TRY(zlgi_chain_layout(chain, shape, &out->layout, err));
    /* Bytes per axis of the box: C order of edge n_transposes, seen from the box. */
    size_t stride = zlgi_dtype_slot(chain->step[chain->n_transposes].from.dtype);
    for (int i = level->rank - 1; i >= 0; i--) {
        int axis = chain->n_transposes ? chain->order[i] : i;
        out->strides[axis] = (ptrdiff_t)stride;
        if (__builtin_mul_overflow(stride, (size_t)shape[axis], &stride) ||
            stride > PTRDIFF_MAX)
            return zlgi_fail(err, ZLG_LIMIT, "a chunk of more than 2^63 bytes");
    }
    return ZLG_OK;
}

/* Buffers of the scratch that a shard holds while its inner chunks are written (a read
 * takes fewer), more when it lies inside other codecs; and what is left for those at the
 * end of the way down. */
enum { SHARD_BUFFERS = 13, WRAPPED_BUFFERS = 16, LAST_BUFFERS = 24 };

static zlg_status make_level(zlgi_arena *arena, const zlg_limits *limits,
                             const zlgi_chain *chain, int rank, const int64_t *shape,
                             bool behind, size_t n_buffers, const zlgi_level **out,
                             zlg_error *err)
{
    zlgi_level *level = zlgi_arena_get(arena, sizeof *level);
    if (!level)
        return zlgi_no_memory(err, sizeof *level);
    memset(level, 0, sizeof *level);
    *out = level;
    level->rank = rank;
    level->chain = chain;
    for (int i = 0; i < rank; i++)
        level->order[i] = i;
    if (can_descend(chain)) {
        level->sharding = chain->step[chain->i_bytes].config;
        level->wrapped = chain->i_bytes < chain->n_steps - 1;
        level->behind = behind || chain->i_bytes > 0;
        n_buffers += level->wrapped ? WRAPPED_BUFFERS : SHARD_BUFFERS;
        if (n_buffers + LAST_BUFFERS > ZLGI_COUNT(((zlgi_scratch *)NULL)->spare))
            return zlgi_fail(err, ZLG_LIMIT, "shards are nested too deep");
        for (int s = 0; s < chain->i_bytes; s++) {
            int order[ZLG_MAX_RANK], before[ZLG_MAX_RANK];
            if (chain->step[s].codec->pass != ZLGI_PASS_TRANSPOSE)
                continue;
            ZLGI_TRY(step_order(&chain->step[s], rank, order, err));
            memcpy(before, level->order, sizeof before);
            for (int i = 0; i < rank; i++)
                level->order[i] = before[order[i]];
        }
        const zlgi_chain *inner;
        ZLGI_TRY(set_fill(arena, chain, &level->fill, err));
        ZLGI_TRY(prepend_elementwise(arena, chain, level->sharding->chain, &inner, err));
        ZLGI_TRY(make_level(arena, limits, inner, rank, level->sharding->chunk_shape,
                            level->behind, n_buffers, &level->inner, err));
    } else {
        level->raw = chain->n_folded == chain->n_steps;
    }
    if (!shape)
        return ZLG_OK;
    level->fixed = true;
    memcpy(level->shape, shape, (size_t)rank * sizeof *shape);
    level->box = zlgi_arena_get(arena, sizeof *level->box);
    if (!level->box)
        return zlgi_no_memory(err, sizeof *level->box);
    return make_box(level, limits, shape, level->box, err);
}

zlg_status zlgi_level_make(zlgi_arena *arena, const zlg_limits *limits,
                           const zlgi_chain *chain, int rank, const int64_t *shape,
                           const zlgi_level **out, zlg_error *err)
{
    return make_level(arena, limits, chain, rank, shape, false, 0, out, err);
}

zlg_status zlgi_level_box_get(const zlgi_level *level, const zlg_limits *limits,
                              const int64_t *shape, zlgi_level_box *room,
                              const zlgi_level_box **out, zlg_error *err)
{
    if (level->fixed) {
        *out = level->box;
        return ZLG_OK;
    }
    ZLGI_TRY(make_box(level, limits, shape, room, err));
    *out = room;
    return ZLG_OK;
}
