/*
 * A shard decoded or encoded whole, in memory: for chains in which a codec that needs
 * whole chunks stands around it, and for shards inside such shards. Inner chunks are taken
 * one by one, each through its chain and the strided copy; its layout and buffers are made
 * once per shard. Their order, and which of them are left out, is as in shards that the
 * engine writes.
 *
 * The buffers are the shard's own, not the worker's: shards nest, and every level holds its
 * buffers while those below work.
 */
#include "codec/sharding_whole.h"

typedef struct shard {
    const zlgi_sharding *sharding;
    const zlgi_dtype *dtype;
    zlgi_fill fill;
    zlgi_scratch *scratch;
    size_t item;
    bool varlen;
    uint8_t *memory; /* elements of the whole shard */
    int64_t grid_shape[ZLG_MAX_RANK];
    uint64_t n_chunks;
    size_t n_bytes_index;
    ptrdiff_t strides[ZLG_MAX_RANK]; /* of the shard */
    ptrdiff_t folded[ZLG_MAX_RANK];  /* of an inner chunk as its chain takes it */
    zlgi_layout layout;              /* of an inner chunk */
    zlgi_buf index, pair[2], chunk;
    zlgi_buf texts; /* variable length: the bytes of all elements, one after the other */
} shard;

static uint64_t *entry(const shard *s, uint64_t i)
{
    return (uint64_t *)(void *)s->index.data + 2 * i;
}

static void shard_init(shard *s, const zlgi_step *step, zlgi_scratch *scratch)
{
    *s = (shard){
        .sharding = step->config,
        .dtype = step->from.dtype,
        .fill = step->from.fill,
        .scratch = scratch,
        .item = zlgi_dtype_slot(step->from.dtype),
        .varlen = zlgi_dtype_is_varlen(step->from.dtype),
    };
    zlgi_buf *const bufs[] = {&s->index, &s->pair[0], &s->pair[1], &s->chunk, &s->texts};
    for (size_t i = 0; i < ZLGI_COUNT(bufs); i++)
        zlgi_buf_init(bufs[i], scratch->alloc);
}

static void shard_reset(shard *s)
{
    zlgi_buf *const bufs[] = {&s->index, &s->pair[0], &s->pair[1], &s->chunk, &s->texts};
    for (size_t i = 0; i < ZLGI_COUNT(bufs); i++)
        zlgi_buf_reset(bufs[i]);
}

static zlg_status shard_layout(shard *s, const zlgi_edge *from, zlg_error *err)
{
    const zlgi_sharding *sharding = s->sharding;
    ZLGI_TRY(zlgi_sharding_layout(sharding, s->scratch->limits, from->shape, s->grid_shape,
                                  &s->n_chunks, &s->n_bytes_index, err));
    ZLGI_TRY(zlgi_chain_layout(sharding->chain, sharding->chunk_shape, &s->layout, err));
    zlgi_box_strides(sharding->rank, from->shape, s->item, s->strides);
    zlgi_box_folded_strides(sharding->chain, sharding->rank, sharding->chunk_shape, s->item,
                            s->folded);
    const size_t n_index = 2 * sizeof(uint64_t) * s->n_chunks;
    return zlgi_buf_reserve(&s->index, ZLGI_MAX(n_index, 1), false, err);
}

/* The elements of inner chunk i in the shard. */
static void chunk_use(const shard *s, uint64_t i, zlgi_use *out)
{
    const zlgi_sharding *sharding = s->sharding;
    uint8_t *memory = s->memory;
    for (int axis = sharding->rank - 1; axis >= 0; axis--) {
        const uint64_t n = (uint64_t)s->grid_shape[axis];
        memory +=
            (ptrdiff_t)(i % n) * (ptrdiff_t)sharding->chunk_shape[axis] * s->strides[axis];
        i /= n;
    }
    zlgi_box_use(sharding->rank, sharding->chunk_shape, memory, s->strides, out);
}

static zlg_status within_chunk(uint64_t i, zlg_status status, zlg_error *err)
{

    return zlgi_within(err, status, "inner chunk %llu", (unsigned long long)i);
}

/* ------------------------------------------------------------------ decode
 *
 * Variable length: what the views of an inner chunk point at is gone with the next one, so
 * the bytes are collected, and until they have their last place a view holds an offset.
 */
static zlg_status collect(shard *s, zlgi_view *views, size_t n, size_t limit,
                          zlg_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const size_t offset = s->texts.n;
        if (views[i].n > limit - offset)
            return zlgi_fail(err, ZLG_LIMIT,
                             "more bytes than the limit of %zu (chunk_bytes)", limit);
        ZLGI_TRY(zlgi_buf_append(&s->texts, views[i].data, views[i].n, err));
        views[i].data = (const uint8_t *)(uintptr_t)offset;
    }
    return ZLG_OK;
}

/* Moves the collected bytes behind or beside the views and makes these point at them. */
static zlg_status settle(shard *s, size_t n, zlgi_out *out, zlg_error *err)
{
    out->buf->n = out->direct ? 0 : n * sizeof(zlgi_view);
    const size_t first = out->buf->n;
    ZLGI_TRY(zlgi_buf_append(out->buf, s->texts.data, s->texts.n, err));
    uint8_t *memory = out->direct ? out->direct : out->buf->data;
    zlgi_view *views = (zlgi_view *)(void *)memory;
    for (size_t i = 0; i < n; i++)
        views[i].data = out->buf->data + first + (uintptr_t)views[i].data;
    out->result = (zlgi_bytes){memory, n * sizeof(zlgi_view)};
    return ZLG_OK;
}

static zlg_status decode_chunk(shard *s, uint64_t i, zlgi_bytes in, const void *fill,
                               size_t limit, zlg_error *err)
{
    const zlgi_chain *chain = s->sharding->chain;
    const uint64_t *where = entry(s, i);
    zlgi_use use;
    chunk_use(s, i, &use);
    if (where[0] == ZLGI_EMPTY) {
        zlgi_place_fill(&use, fill, s->item);
        return ZLG_OK;
    }
    const zlgi_bytes encoded = {in.data + where[0], (size_t)where[1]};
    zlgi_bytes folded;
    ZLGI_TRY(zlgi_chain_decode(chain, &s->layout, s->scratch, encoded, NULL, s->pair,
                               &folded, err));
    if (s->varlen)
        ZLGI_TRY(collect(s, (zlgi_view *)(uintptr_t)folded.data,
                         s->layout.edge[0].n_elements, limit, err));
    zlgi_place(&use, folded.data, s->folded, s->item, &chain->swap);
    return ZLG_OK;
}

static zlg_status decode_chunks(shard *s, const zlgi_edge *from, zlgi_bytes in,
                                zlgi_out *out, zlg_error *err)
{
    const zlgi_sharding *sharding = s->sharding;
    ZLGI_TRY(shard_layout(s, from, err));
    if (in.n < s->n_bytes_index)
        return zlgi_fail(err, ZLG_CORRUPT, "%zu bytes hold no index of %zu bytes", in.n,
                         s->n_bytes_index);
    ZLGI_TRY(zlgi_out_memory(out, from->n_bytes, &s->memory, err));
    const zlgi_bytes index = {sharding->index_at_start ? in.data
                                                       : in.data + in.n - s->n_bytes_index,
                              s->n_bytes_index};
    ZLGI_TRY(zlgi_sharding_index_decode(sharding, s->scratch, s->grid_shape, s->n_chunks,
                                        index, in.n, entry(s, 0), err));
    zlgi_view fill_view = {s->fill.data, s->fill.n};
    if (s->varlen)
        ZLGI_TRY(collect(s, &fill_view, 1, out->limit, err));
    const void *fill = s->varlen ? (const void *)&fill_view : s->fill.data;
    for (uint64_t i = 0; i < s->n_chunks; i++)
        ZLGI_TRY(within_chunk(i, decode_chunk(s, i, in, fill, out->limit, err), err));
    if (s->varlen)
        return settle(s, from->n_elements, out, err);
    if (sharding->chain->normalize)
        zlgi_dtype_normalize(s->dtype, s->memory, from->n_elements);
    return zlgi_out_done(out, from->n_bytes, err);
}

zlg_status zlgi_sharding_decode(const zlgi_step *step, zlgi_scratch *scratch,
                                const zlgi_edge *from, zlgi_bytes in, zlgi_out *out,
                                zlg_error *err)
{
    shard s;
    shard_init(&s, step, scratch);
    zlg_status status = decode_chunks(&s, from, in, out, err);
    shard_reset(&s);
    return status;
}

/* ------------------------------------------------------------------ encode */

/* Single elements that are wanted at a time: the fill value, and two that are compared. */
enum { ELEMENTS = 3 };

/* Is the gathered chunk left out? fill: ELEMENTS, of which the first is set. */
static bool is_left_out(const shard *s, uint8_t *fill)
{
    const zlgi_shard_ways *ways = &s->scratch->ways;
    return !ways->keep_empty &&
           zlgi_is_empty(s->dtype, s->chunk.data, s->layout.edge[0].n_elements, fill,
                         &s->sharding->chain->swap, ways->call && ways->call->loose_fill,
                         fill + s->item);
}

static zlg_status encode_chunk(shard *s, uint64_t i, uint8_t *fill, zlgi_buf *out,
                               zlg_error *err)
{
    const zlgi_chain *chain = s->sharding->chain;
    uint64_t *where = entry(s, i);
    zlgi_use use;
    chunk_use(s, i, &use);
    zlgi_gather(&use, s->chunk.data, s->folded, s->item, &chain->swap);
    if (is_left_out(s, fill)) {
        where[0] = where[1] = ZLGI_EMPTY;
        return ZLG_OK;
    }
    const zlgi_bytes folded = {s->chunk.data, s->layout.edge[0].n_bytes};
    zlgi_bytes encoded;
    ZLGI_TRY(
        zlgi_chain_encode(chain, &s->layout, s->scratch, folded, s->pair, &encoded, err));
    where[0] = out->n;
    where[1] = encoded.n;
    return zlgi_buf_append(out, encoded.data, encoded.n, err);
}

/* The fill value as gathered elements are: swapped, or a view. */
static zlg_status folded_fill(shard *s, uint8_t **out, zlg_error *err)
{
    const zlgi_view view = {s->fill.data, s->fill.n};
    size_t n_bytes;
    if (!zlgi_mul_size(s->item, ELEMENTS, &n_bytes))
        return zlgi_no_memory(err, SIZE_MAX);
    ZLGI_TRY(zlgi_buf_reserve(&s->texts, n_bytes, false, err));
    *out = s->texts.data;
    memcpy(*out, s->varlen ? (const void *)&view : s->fill.data, s->item);
    if (!s->varlen)
        zlgi_swap_apply(&s->sharding->chain->swap, *out, 1, s->item);
    return ZLG_OK;
}

static void start_order(const shard *s, zlgi_order *out)
{
    const zlg_call *call = s->scratch->ways.call;
    const zlgi_sharding *sharding = s->sharding;
    zlgi_order_start(out, call ? zlgi_inner_order(call, sharding->depth) : ZLG_MORTON,
                     sharding->rank, s->grid_shape);
}

static zlg_status encode_chunks(shard *s, const zlgi_edge *from, zlgi_bytes in,
                                zlgi_buf *out, zlg_error *err)
{
    const zlgi_sharding *sharding = s->sharding;
    zlgi_order order;
    uint8_t *fill = NULL;
    uint64_t i;
    ZLGI_TRY(shard_layout(s, from, err));
    ZLGI_TRY(folded_fill(s, &fill, err));
    ZLGI_TRY(zlgi_buf_reserve(&s->chunk, s->layout.edge[0].n_bytes, false, err));
    s->memory = (uint8_t *)(uintptr_t)in.data;
    /* Offsets count from the start of the shard, so the index needs its place first. */
    const size_t first = sharding->index_at_start ? s->n_bytes_index : 0;
    ZLGI_TRY(zlgi_buf_reserve(out, ZLGI_MAX(first, 1), false, err));
    out->n = first;
    start_order(s, &order);
    while (zlgi_order_next(&order, &i))
        ZLGI_TRY(within_chunk(i, encode_chunk(s, i, fill, out, err), err));
    ZLGI_TRY(zlgi_sharding_index_encode(sharding, s->scratch, s->grid_shape, s->n_chunks,
                                        entry(s, 0), &s->pair[0], err));
    if (!sharding->index_at_start)
        return zlgi_buf_append(out, s->pair[0].data, s->pair[0].n, err);
    memcpy(out->data, s->pair[0].data, s->n_bytes_index);
    return ZLG_OK;
}

zlg_status zlgi_sharding_encode(const zlgi_step *step, zlgi_scratch *scratch,
                                const zlgi_edge *from, zlgi_bytes in, zlgi_buf *out,
                                zlg_error *err)
{
    shard s;
    shard_init(&s, step, scratch);
    zlg_status status = encode_chunks(&s, from, in, out, err);
    shard_reset(&s);
    return status;
}
