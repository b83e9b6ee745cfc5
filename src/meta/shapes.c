/*
 * shapes.c: the shapes of chunks and shards that a spec leaves open. The rule stands in
 * zellige.h, since stored data shows what was chosen: it is kept to the letter.
 */
#include "meta/write.h"

enum {
    VARLEN_BYTES = 64, /* what an element of variable length counts as */
    CHUNK_BYTES = 1 << 20,
    LONE_CHUNK_BYTES = 16 << 20 /* of a chunk that lies in no shard */
};

/* True when a box of these lengths has no more than `target` bytes. */
static bool fits(int rank, const int64_t *lengths, size_t n_bytes_item, int64_t target)
{
    int64_t n, n_bytes;
    return zlgi_product(lengths, rank, &n) &&
           !__builtin_mul_overflow(n, n_bytes_item, &n_bytes) && n_bytes <= target;
}

void zlgi_meta_choose_chunk(int rank, const int64_t *shape, size_t n_bytes_item,
                            int64_t target, int64_t *out)
{
    for (int i = 0; i < rank; i++)
        out[i] = ZLGI_MAX(shape[i], 1);
    while (!fits(rank, out, n_bytes_item, target)) {
        int longest = 0;
        for (int i = 1; i < rank; i++)
            if (out[i] > out[longest])
                longest = i;
        if (rank == 0 || out[longest] == 1)
            return; /* one element is more than the target */
        out[longest] = out[longest] / 2 + out[longest] % 2;
    }
}

void zlgi_meta_choose_shard(int rank, const int64_t *shape, const int64_t *chunk,
                            size_t n_bytes_item, int64_t target, int64_t *out)
{
    for (int i = 0; i < rank; i++)
        out[i] = chunk[i];
    for (;;) {
        int64_t n_most = 1, doubled[ZLG_MAX_RANK];
        int most = -1;
        for (int i = 0; i < rank; i++) {
            int64_t n = shape[i] / out[i] + (shape[i] % out[i] != 0);
            if (n > n_most)
                n_most = n, most = i;
            doubled[i] = out[i];
        }
        if (most < 0 || !zlgi_mul_i64(out[most], 2, &doubled[most]) ||
            !fits(rank, doubled, n_bytes_item, target))
            return;
        out[most] = doubled[most];
    }
}

/* Targets are for shapes that are chosen; and a shard holds at least one chunk. */
static zlg_status check_targets(const zlg_array_spec *spec, bool shards, zlg_error *err)
{
    int64_t chunk = spec->target_chunk_bytes, shard = spec->target_shard_bytes;
    const char *given = spec->chunk_grid     ? "chunk_grid"
                        : spec->object_shape ? "object_shape"
                                             : NULL;
    if (chunk < 0 || shard < 0)
        return zlgi_fail(err, ZLG_USAGE, "target_%s_bytes is %lld",
                         chunk < 0 ? "chunk" : "shard",
                         (long long)(chunk < 0 ? chunk : shard));
    if (given && (chunk || shard))
        return zlgi_fail(err, ZLG_USAGE, "target_%s_bytes is given, but %s is too",
                         chunk ? "chunk" : "shard", given);
    if (given)
        return ZLG_OK;
    if (shards && spec->rank > 0)
        return zlgi_fail(err, ZLG_USAGE,
                         "object_shape is missing: the codecs make shards, of which none "
                         "is chosen");
    if (spec->chunk_shape && chunk)
        return zlgi_fail(err, ZLG_USAGE,
                         "target_chunk_bytes is given, but chunk_shape is "
                         "too");
    if (spec->chunk_shape && !shard && spec->rank > 0)
        return zlgi_fail(err, ZLG_USAGE,
                         "object_shape is missing: chunk_shape makes shards, which "
                         "target_shard_bytes would choose");
    chunk = spec->chunk_shape ? 0 : chunk ? chunk : CHUNK_BYTES;
    if (shard && shard < chunk)
        return zlgi_fail(err, ZLG_USAGE,
                         "target_shard_bytes is %lld, less than the %lld of a chunk",
                         (long long)shard, (long long)chunk);
    return ZLG_OK;
}

zlg_status zlgi_meta_settle_shapes(zlgi_meta_writer *writer, const zlgi_dtype *dtype,
                                   bool shards, zlg_error *err)
{
    zlg_array_spec *spec = &writer->spec;
    size_t item = zlgi_dtype_is_varlen(dtype) ? VARLEN_BYTES : dtype->n_bytes;
    ZLGI_TRY(check_targets(spec, shards, err));
    if (spec->object_shape || spec->chunk_grid)
        return ZLG_OK;
    int64_t target = spec->target_chunk_bytes   ? spec->target_chunk_bytes
                     : spec->target_shard_bytes ? CHUNK_BYTES
                                                : LONE_CHUNK_BYTES;
    int64_t *chunk = spec->target_shard_bytes ? writer->chunk_shape : writer->object_shape;
    if (!spec->chunk_shape)
        zlgi_meta_choose_chunk(spec->rank, spec->shape, item, target, chunk);
    else
        for (int i = 0; i < spec->rank; i++)
            chunk[i] = ZLGI_MAX(spec->chunk_shape[i], 1); /* refused when it is written */
    spec->object_shape = writer->object_shape;
    if (!spec->target_shard_bytes)
        return ZLG_OK;
    if (!fits(spec->rank, chunk, item, spec->target_shard_bytes))
        return zlgi_fail(err, ZLG_USAGE,
                         "target_shard_bytes is %lld, less than one inner chunk has",
                         (long long)spec->target_shard_bytes);
    zlgi_meta_choose_shard(spec->rank, spec->shape, chunk, item, spec->target_shard_bytes,
                           writer->object_shape);
    if (!spec->chunk_shape)
        spec->chunk_shape = chunk;
    return ZLG_OK;
}
