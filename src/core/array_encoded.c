/*
 * array_encoded.c: encoded chunks of zellige.h in terms of the engine: each is named to it
 * by its first element.
 */
#include "core/core.h"

/* The grid of innermost chunks along an axis. Edges of a rectilinear grid of shards are
 * multiples of the inner chunk. */
static int64_t n_chunks(const zlg_array *array, int axis)
{
    int64_t length = array->meta.shape[axis], chunk = array->chunk_shape[axis];
    if (!array->sharded)
        return array->meta.grid.axis[axis].n_chunks;
    return length / chunk + (length % chunk != 0);
}

static zlg_status first_element(const zlg_array *array, const int64_t *coordinates,
                                size_t i_point, int64_t *const *out, zlg_error *err)
{
    for (int a = 0; a < array->meta.rank; a++) {
        int64_t at = coordinates[a];
        if (at < 0 || at >= n_chunks(array, a))
            return zlgi_fail(err, ZLG_RANGE,
                             "axis %d: chunk %lld is outside the grid of %lld", a,
                             (long long)at, (long long)n_chunks(array, a));
        out[a][i_point] = array->sharded ? at * array->chunk_shape[a]
                                         : zlgi_grid_start(&array->meta.grid.axis[a], at);
    }
    return ZLG_OK;
}

/* A selection of n points, to be filled. */
typedef struct chunk_points {
    zlg_selection selection;
    int64_t *coordinates[ZLG_MAX_RANK];
} chunk_points;

static zlg_status make_points(const zlg_array *array, size_t n, zlgi_arena *arena,
                              chunk_points *out, zlg_error *err)
{
    size_t n_bytes;
    if (n > INT64_MAX || !zlgi_mul_size(n, sizeof(int64_t), &n_bytes))
        return zlgi_fail(err, ZLG_LIMIT, "%zu chunks in one call", n);
    for (int a = 0; a < array->meta.rank; a++) {
        out->coordinates[a] = zlgi_arena_get(arena, n_bytes);
        if (!out->coordinates[a])
            return zlgi_no_memory(err, n_bytes);
    }
    out->selection =
        (zlg_selection){.kind = ZLG_POINTS,
                        .rank = array->meta.rank,
                        .coordinates = (const int64_t *const *)out->coordinates,
                        .n_points = (int64_t)n};
    return ZLG_OK;
}

/* ------------------------------------------------------------------ reading */

static zlg_status read_encoded(zlg_array *array, const int64_t *chunks, size_t n,
                               zlg_varlen *out, uint8_t *missing, const zlg_call *given,
                               zlgi_arena *arena, zlg_error *err)
{
    zlg_call call;
    chunk_points points;
    size_t rank = (size_t)array->meta.rank;
    ZLGI_TRY(zlgi_call_read(given, &call, err));
    call.missing = NULL;
    ZLGI_TRY(make_points(array, n, arena, &points, err));
    for (size_t i = 0; i < n; i++)
        ZLGI_TRY(first_element(array, rank > 0 ? chunks + i * rank : NULL, i,
                               points.coordinates, err));
    const zlgi_request request = {.source = &array->source, .selection = &points.selection};
    return zlgi_engine_read_encoded(&array->store->ctx->engine, &request, n, out, missing,
                                    &call, err);
}

zlg_status zlg_array_read_encoded(zlg_array *array, const int64_t *chunks, size_t n,
                                  zlg_varlen *out, uint8_t *missing, const zlg_call *call,
                                  zlg_error *err)
{
    zlgi_arena arena;
    memset(out, 0, sizeof *out);
    zlgi_arena_init(&arena, array->store->alloc);
    zlg_status status = read_encoded(array, chunks, n, out, missing, call, &arena, err);
    out->ctx = array->store->ctx;
    zlgi_arena_reset(&arena);
    return zlgi_array_within(array, status, err);
}

/* ------------------------------------------------------------------ writing */

static zlg_status check_encoded(const zlg_array *array, zlg_error *err)
{
    ZLGI_TRY(zlgi_store_needs(array->store, ZLGI_STORE_WRITE, "be written", err));
    for (const zlgi_level *level = array->source.level; level->sharding;
         level = level->inner)
        if (level->wrapped)
            return zlgi_fail(err, ZLG_UNSUPPORTED,
                             "codecs lie around a shard: its chunks cannot be put as they "
                             "are");
    return ZLG_OK;
}

static zlg_status write_encoded(zlg_array *array, const zlg_encoded *chunks, size_t n,
                                const zlg_call *given, zlgi_arena *arena, zlg_error *err)
{
    zlg_call call;
    chunk_points points;
    uint64_t limit = (uint64_t)array->store->limits->encoded_bytes;
    ZLGI_TRY(zlgi_call_settle(array, given, &call, err));
    ZLGI_TRY(check_encoded(array, err));
    ZLGI_TRY(make_points(array, n, arena, &points, err));
    for (size_t i = 0; i < n; i++) {
        ZLGI_TRY(first_element(array, chunks[i].coordinates, i, points.coordinates, err));
        if (chunks[i].n_bytes > limit)
            return zlgi_fail(err, ZLG_LIMIT, "%zu bytes, more than encoded_bytes",
                             chunks[i].n_bytes);
    }
    static const ptrdiff_t still[1] = {0};
    const zlgi_request request = {.source = &array->source,
                                  .selection = &points.selection,
                                  .memory = (uint8_t *)(uintptr_t)chunks, /* not used */
                                  .strides = still,
                                  .encoded = chunks,
                                  .promise = call.promise};
    return zlgi_engine_write(&array->store->ctx->engine, &request, 1, &call, err);
}

zlg_status zlg_array_write_encoded(zlg_array *array, const zlg_encoded *chunks, size_t n,
                                   const zlg_call *call, zlg_error *err)
{
    zlgi_arena arena;
    zlgi_arena_init(&arena, array->store->alloc);
    zlg_status status = write_encoded(array, chunks, n, call, &arena, err);
    zlgi_arena_reset(&arena);
    return zlgi_array_within(array, status, err);
}
