/*
 * check.c: what can be asked of an array as a whole: whether its codecs can write, whether
 * each chunk of its grid can be laid out, named and decoded; and whether two arrays hold
 * the same elements.
 */
#include "core/core.h"

/* ------------------------------------------------------------------ new arrays */

static zlg_status check_encoders(const zlgi_chain *chain, zlg_error *err)
{
    for (int i = 0; i < chain->n_steps; i++) {
        const zlgi_codec *codec = chain->step[i].codec;
        if (!codec->encode)
            return zlgi_fail(err, ZLG_UNSUPPORTED, "codec %s: it is read, not written",
                             codec->name ? codec->name : codec->id);
        if (codec->pass != ZLGI_PASS_SHARDING)
            continue;
        const zlgi_sharding *sharding = chain->step[i].config;
        ZLGI_TRY(check_encoders(sharding->chain, err));
        ZLGI_TRY(check_encoders(sharding->index_chain, err));
    }
    return ZLG_OK;
}

/* The key of the last chunk is as long as any. */
static zlg_status check_keys(const zlg_array *array, zlg_error *err)
{
    const zlgi_grid *grid = &array->meta.grid;
    int64_t last[ZLG_MAX_RANK];
    char name[ZLGI_KEY_MAX], key[ZLGI_NAME_MAX];
    for (int i = 0; i < grid->rank; i++)
        last[i] = ZLGI_MAX(grid->axis[i].n_chunks - 1, 0);
    ZLGI_TRY(zlgi_key_make(&array->meta.key_encoding, grid->rank, last, name, err));
    ZLGI_TRY(zlgi_join(array->path, name, key, err));
    return zlgi_store_check_key(array->store, key, err);
}

/* What lies between the codecs of a chunk is held whole while it is decoded. Uncompressed
 * chunks are read by range, be they as large as they may. */
static zlg_status check_chunk_bytes(const zlg_array *array, zlg_error *err)
{
    const zlgi_grid *grid = &array->meta.grid;
    const zlg_limits *limits = array->store->limits;
    const zlgi_level *level = array->source.level;
    const zlgi_level_box *box;
    zlgi_level_box room;
    int64_t largest[ZLG_MAX_RANK];
    while (level->inner)
        level = level->inner;
    for (int i = 0; i < grid->rank; i++) {
        largest[i] = array->object_shape[i];
        for (int64_t k = 1; !grid->axis[i].chunk && k < grid->axis[i].n_chunks; k++)
            largest[i] = ZLGI_MAX(largest[i], zlgi_grid_edge(&grid->axis[i], k));
    }
    ZLGI_TRY(zlgi_level_box_get(level, limits, largest, &room, &box, err));
    for (int i = level->chain->n_folded; i < level->chain->n_steps; i++) {
        size_t n = box->layout.edge[i].n_bytes;
        if (n != ZLGI_UNKNOWN && (uint64_t)n > (uint64_t)limits->chunk_bytes)
            return zlgi_fail(err, ZLG_LIMIT,
                             "a chunk of %zu bytes passes the limit of %lld (chunk_bytes), "
                             "and could not be read back",
                             n, (long long)limits->chunk_bytes);
    }
    return ZLG_OK;
}

/* Chunks of uneven length: each edge by itself, since axes do not depend on each other. */
zlg_status zlgi_array_check_edges(const zlg_array *array, zlg_error *err)
{
    const zlgi_grid *grid = &array->meta.grid;
    const zlgi_level_box *box;
    zlgi_level_box room;
    int64_t shape[ZLG_MAX_RANK];
    memcpy(shape, array->object_shape, sizeof shape);
    for (int i = 0; i < grid->rank; i++) {
        for (int64_t k = 0; k < (grid->axis[i].chunk ? 1 : grid->axis[i].n_chunks); k++) {
            int64_t edge = zlgi_grid_edge(&grid->axis[i], k);
            if (k > 0 && edge == shape[i])
                continue;
            shape[i] = edge;
            ZLGI_TRY(zlgi_level_box_get(array->source.level, array->store->limits, shape,
                                        &room, &box, err));
        }
        shape[i] = array->object_shape[i];
    }
    return check_chunk_bytes(array, err);
}

zlg_status zlgi_array_check(const zlg_array *array, zlg_error *err)
{
    ZLGI_TRY(check_encoders(array->source.level->chain, err));
    ZLGI_TRY(check_keys(array, err));
    return array->meta.rectilinear ? zlgi_array_check_edges(array, err)
                                   : check_chunk_bytes(array, err);
}

/* ------------------------------------------------------------------ equal arrays */

bool zlgi_same_type(const zlgi_dtype *a, const zlgi_dtype *b)
{
    if (a->type != b->type || a->part != b->part || a->n_bytes != b->n_bytes ||
        a->scale != b->scale || a->n_fields != b->n_fields || !a->unit != !b->unit ||
        (a->unit && strcmp(a->unit, b->unit) != 0))
        return false;
    for (int i = 0; i < a->n_fields; i++) {
        const zlgi_field *x = &a->fields[i], *y = &b->fields[i];
        if (x->n_name != y->n_name || memcmp(x->name, y->name, x->n_name) != 0 ||
            x->offset != y->offset || x->rank != y->rank ||
            memcmp(x->shape, y->shape, (size_t)x->rank * sizeof *x->shape) != 0 ||
            !zlgi_same_type(x->dtype, y->dtype))
            return false;
    }
    return true;
}

bool zlgi_same_elements(const zlg_array *a, const zlg_array *b)
{
    return a->meta.rank == b->meta.rank &&
           memcmp(a->meta.shape, b->meta.shape,
                  (size_t)a->meta.rank * sizeof *a->meta.shape) == 0 &&
           zlgi_same_type(a->meta.dtype, b->meta.dtype);
}
