/*
 * sharding_indexed: a chunk made of inner chunks, and an index that says where each of them
 * lies (version 3 core, "sharding_indexed"; format.md §8).
 *
 * Configuration and index are here; they are all that the engine needs to reach single
 * inner chunks. A shard that must be decoded or encoded whole, because of what stands
 * around it: sharding_whole.c.
 */
#include "codec/sharding_whole.h"

enum { ENTRY_BYTES = 16 };

static zlg_status read_chunk_shape(const zlgi_json *value, zlgi_sharding *sharding,
                                   zlg_error *err)
{
    if (!value || value->type != ZLGI_JSON_ARRAY)
        return zlgi_fail(err, ZLG_METADATA, "\"chunk_shape\" is not a list");
    if (value->n_items != (uint32_t)sharding->rank)
        return zlgi_fail(err, ZLG_METADATA, "\"chunk_shape\" has %u axes, the shard has %d",
                         value->n_items, sharding->rank);
    int n = 0;
    for (const zlgi_json *item = value->items; item; item = item->next)
        if (!zlgi_json_i64(item, &sharding->chunk_shape[n++]) ||
            sharding->chunk_shape[n - 1] < 1)
            return zlgi_fail(
                err, ZLG_METADATA,
                "\"chunk_shape\" holds something other than positive integers");
    return ZLG_OK;
}

/* The index is an array of its own; its size must follow from its shape alone. */
static zlg_status read_index_chain(const zlgi_json *configuration, zlgi_sharding *sharding,
                                   const zlgi_codec_env *env, bool has_order,
                                   zlg_error *err)
{
    static const uint8_t zero[8];
    if (sharding->rank == ZLG_MAX_RANK)
        return zlgi_fail(err, ZLG_LIMIT, "a shard of %d axes", sharding->rank);
    const zlgi_edge_type from = {
        .dtype = zlgi_dtype_plain(ZLG_UINT64),
        .rank = sharding->rank + 1,
        .fill = {zero, sizeof zero},
    };
    zlgi_codec_env inner = *env;
    inner.depth++;
    /* Writers that leave endian out where elements are single bytes do so here too. */
    inner.no_endian = !env->writing && !has_order;
    ZLGI_TRY(zlgi_chain_parse(&inner, zlgi_json_get(configuration, "index_codecs"), &from,
                              &sharding->index_chain, err));
    int64_t shape[ZLG_MAX_RANK];
    for (int i = 0; i < sharding->rank; i++)
        shape[i] = 1;
    shape[sharding->rank] = 2;
    zlgi_layout layout;
    ZLGI_TRY(zlgi_chain_layout(sharding->index_chain, shape, &layout, err));
    if (layout.edge[sharding->index_chain->n_steps].n_bytes == ZLGI_UNKNOWN)
        return zlgi_fail(err, ZLG_METADATA, "\"index_codecs\" give no fixed size");
    return ZLG_OK;
}

static zlg_status configure(zlgi_step *step, const zlgi_json *configuration,
                            const zlgi_codec_env *env, zlg_error *err)
{
    static const char *const locations[] = {"end", "start", NULL};
    if (!configuration)
        return zlgi_fail(err, ZLG_METADATA, "it has no configuration");
    zlgi_sharding *sharding = zlgi_arena_get(env->arena, sizeof *sharding);
    if (!sharding)
        return zlgi_no_memory(err, sizeof *sharding);
    step->config = sharding;
    sharding->rank = step->from.rank;
    sharding->depth = env->depth;
    ZLGI_TRY(read_chunk_shape(zlgi_json_get(configuration, "chunk_shape"), sharding, err));
    int location;
    ZLGI_TRY(
        zlgi_config_choice(configuration, "index_location", locations, 0, &location, err));
    sharding->index_at_start = location == 1;
    zlgi_codec_env inner = *env;
    inner.depth++;
    zlg_status status = zlgi_chain_parse(&inner, zlgi_json_get(configuration, "codecs"),
                                         &step->from, &sharding->chain, err);
    ZLGI_TRY(zlgi_within(err, status, "inner chunk"));
    status = read_index_chain(configuration, sharding, env,
                              zlgi_dtype_has_order(step->from.dtype), err);
    return zlgi_within(err, status, "index");
}

/* ------------------------------------------------------------------ index */

/* Shape of the index array: the grid, and offset and size. */
static zlg_status index_layout(const zlgi_sharding *sharding, const int64_t *grid_shape,
                               zlgi_layout *out, zlg_error *err)
{
    int64_t shape[ZLG_MAX_RANK];
    memcpy(shape, grid_shape, (size_t)sharding->rank * sizeof *shape);
    shape[sharding->rank] = 2;
    return zlgi_chain_layout(sharding->index_chain, shape, out, err);
}

zlg_status zlgi_sharding_layout(const zlgi_sharding *sharding, const zlg_limits *limits,
                                const int64_t *shard_shape, int64_t *out_grid_shape,
                                uint64_t *out_n_chunks, size_t *out_index_bytes,
                                zlg_error *err)
{
    for (int i = 0; i < sharding->rank; i++) {
        const int64_t chunk = sharding->chunk_shape[i];
        if (shard_shape[i] % chunk != 0)
            return zlgi_fail(err, ZLG_METADATA,
                             "inner chunks of length %lld do not divide a shard of length "
                             "%lld (axis %d)",
                             (long long)chunk, (long long)shard_shape[i], i);
        out_grid_shape[i] = shard_shape[i] / chunk;
    }
    int64_t n_chunks;
    if (!zlgi_product(out_grid_shape, sharding->rank, &n_chunks) ||
        n_chunks > limits->index_bytes / ENTRY_BYTES)
        return zlgi_fail(err, ZLG_LIMIT,
                         "a shard index passes the limit of %lld (index_bytes)",
                         (long long)limits->index_bytes);
    *out_n_chunks = (uint64_t)n_chunks;
    zlgi_layout layout;
    ZLGI_TRY(index_layout(sharding, out_grid_shape, &layout, err));
    *out_index_bytes = layout.edge[sharding->index_chain->n_steps].n_bytes;
    return ZLG_OK;
}

static zlg_status bad_entry(uint64_t i, uint64_t offset, uint64_t n, uint64_t n_bytes_shard,
                            zlg_error *err)
{
    return zlgi_fail(err, ZLG_CORRUPT,
                     "inner chunk %llu lies at byte %llu and has %llu bytes, the shard has "
                     "%llu",
                     (unsigned long long)i, (unsigned long long)offset,
                     (unsigned long long)n, (unsigned long long)n_bytes_shard);
}

zlg_status zlgi_sharding_index_decode(const zlgi_sharding *sharding, zlgi_scratch *scratch,
                                      const int64_t *grid_shape, uint64_t n_chunks,
                                      zlgi_bytes encoded, uint64_t n_bytes_shard,
                                      uint64_t *out, zlg_error *err)
{
    zlgi_layout layout;
    ZLGI_TRY(index_layout(sharding, grid_shape, &layout, err));
    zlg_status status = zlgi_chain_decode_full(sharding->index_chain, &layout, scratch,
                                               encoded, (uint8_t *)out, err);
    ZLGI_TRY(zlgi_within(err, status, "shard index"));
    for (uint64_t i = 0; i < n_chunks; i++) {
        const uint64_t offset = out[2 * i], n = out[2 * i + 1];
        const bool inside = offset <= n_bytes_shard && n <= n_bytes_shard - offset;
        if (ZLGI_UNLIKELY(!inside && (offset != ZLGI_EMPTY || n != ZLGI_EMPTY))) {
            status = bad_entry(i, offset, n, n_bytes_shard, err);
            return zlgi_within(err, status, "shard index");
        }
    }
    return ZLG_OK;
}

zlg_status zlgi_sharding_index_encode(const zlgi_sharding *sharding, zlgi_scratch *scratch,
                                      const int64_t *grid_shape, uint64_t n_chunks,
                                      const uint64_t *index, zlgi_buf *out, zlg_error *err)
{
    zlgi_layout layout;
    ZLGI_TRY(index_layout(sharding, grid_shape, &layout, err));
    const zlgi_bytes decoded = {(const uint8_t *)index, n_chunks * ENTRY_BYTES};
    return zlgi_chain_encode_full(sharding->index_chain, &layout, scratch, decoded, out,
                                  err);
}

const zlgi_codec zlgi_codec_sharding_indexed = {
    .name = "sharding_indexed",
    .kind = ZLGI_ARRAY_TO_BYTES,
    .pass = ZLGI_PASS_SHARDING,
    .flags = ZLGI_CODEC_VARLEN | ZLGI_CODEC_AXES,
    .configure = configure,
    .encode = zlgi_sharding_encode,
    .decode = zlgi_sharding_decode,
};
