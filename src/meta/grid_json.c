/*
 * grid_json.c: the chunk lengths of a document as axes of a grid. Rectilinear edges
 * become running sums up to the one that reaches the array's length; what is declared
 * beyond it is checked and dropped. No sum passes 63 bits, so that nobody who walks the
 * grid has to look for overflow.
 *
 * Implements the chunk grids `regular` and `rectilinear`, and `chunks` of version 2.
 */
#include <stdio.h>

#include "meta/member.h"

static zlg_status regular_axis(int64_t length, int64_t chunk, const char *name, int i_axis,
                               zlgi_grid_axis *out, zlg_error *err)
{
    if (chunk == 0 && length > 0)
        return zlgi_fail(err, ZLG_METADATA,
                         "%s[%d] is 0, expected at least 1 for an axis of length %lld",
                         name, i_axis, (long long)length);
    *out = zlgi_grid_regular(length, chunk);
    int64_t end;
    if (!zlgi_mul_i64(out->n_chunks, out->chunk, &end))
        return zlgi_fail(err, ZLG_LIMIT,
                         "%s[%d]: %lld chunks of length %lld end past 2^63 - 1", name,
                         i_axis, (long long)out->n_chunks, (long long)chunk);
    return ZLG_OK;
}

zlg_status zlgi_meta_chunks(const zlgi_json *chunks, const char *name, int rank,
                            const int64_t *shape, zlgi_grid *out, zlg_error *err)
{
    int64_t lengths[ZLG_MAX_RANK];
    ZLGI_TRY(zlgi_meta_lengths(chunks, name, 0, &out->rank, lengths, err));
    if (out->rank != rank)
        return zlgi_fail(err, ZLG_METADATA, "%s has %d lengths, the array has %d axes",
                         name, out->rank, rank);
    for (int i = 0; i < rank; i++)
        ZLGI_TRY(regular_axis(shape[i], lengths[i], name, i, &out->axis[i], err));
    return ZLG_OK;
}

/* An edge, or a pair of an edge and how often it follows. */
static zlg_status read_run(const zlgi_json *item, int64_t *out_edge, int64_t *out_count,
                           zlg_error *err)
{
    const zlgi_json *edge = item, *count = NULL;
    if (item->type == ZLGI_JSON_ARRAY) {
        if (item->n_items != 2)
            return zlgi_fail(err, ZLG_METADATA,
                             "a run has %u values, expected a length and a count",
                             item->n_items);
        edge = item->items;
        count = edge->next;
    }
    *out_count = 1;
    if (!zlgi_json_i64(edge, out_edge) || *out_edge < 1)
        return zlgi_meta_expected(err, "an edge", edge, "an integer of at least 1");
    if (count && (!zlgi_json_i64(count, out_count) || *out_count < 1))
        return zlgi_meta_expected(err, "a count", count, "an integer of at least 1");
    return ZLG_OK;
}

/* Edges of a run that are needed to get from `reached` to `length`. */
static int64_t needed_edges(int64_t reached, int64_t length, int64_t edge, int64_t count)
{
    if (reached >= length)
        return 0;
    return ZLGI_MIN(count, (length - reached - 1) / edge + 1);
}

/* Checks all runs; tells how many edges reach the length, and how far all of them do. */
static zlg_status count_edges(const zlgi_json *runs, int64_t length,
                              const zlg_limits *limits, int64_t *out_needed,
                              int64_t *out_reached, zlg_error *err)
{
    int64_t n_declared = 0, reached = 0;
    *out_needed = 0;
    for (const zlgi_json *item = runs->items; item; item = item->next) {
        int64_t edge, count, run;
        ZLGI_TRY(read_run(item, &edge, &count, err));
        if (count > limits->grid_edges - n_declared)
            return zlgi_fail(err, ZLG_LIMIT,
                             "more edges than the limit grid_edges, which is %lld",
                             (long long)limits->grid_edges);
        n_declared += count;
        *out_needed += needed_edges(reached, length, edge, count);
        if (!zlgi_mul_i64(edge, count, &run) || !zlgi_add_i64(reached, run, &reached))
            return zlgi_fail(err, ZLG_LIMIT, "the sum of the edges passes 2^63 - 1");
    }
    *out_reached = reached;
    return ZLG_OK;
}

zlg_status zlgi_meta_last_edge(const zlgi_json *runs, const zlg_limits *limits,
                               zlgi_last_edge *out, zlg_error *err)
{
    int64_t unused;
    *out = (zlgi_last_edge){.count = 0};
    ZLGI_TRY(count_edges(runs, 0, limits, &unused, &out->end, err));
    for (const zlgi_json *item = runs->items; item; item = item->next)
        ZLGI_TRY(read_run(item, &out->length, &out->count, err));
    return ZLG_OK;
}

static zlg_status edge_axis(zlgi_arena *arena, const zlgi_json *runs, int64_t length,
                            const zlg_limits *limits, zlgi_grid_axis *out, zlg_error *err)
{
    int64_t n_needed, end;
    ZLGI_TRY(count_edges(runs, length, limits, &n_needed, &end, err));
    if (end < length)
        return zlgi_fail(err, ZLG_METADATA, "edges reach %lld of the length %lld",
                         (long long)end, (long long)length);
    if (runs->n_items == 0) {
        *out = zlgi_grid_regular(length, 1); /* length 0: there is nothing to divide */
        return ZLG_OK;
    }
    /* An axis of length 0 has no chunk, yet its first edge can be asked for. */
    int64_t n_ends = ZLGI_MAX(n_needed, 1);
    size_t n_bytes = (size_t)n_ends * sizeof(int64_t);
    int64_t *ends = zlgi_arena_get(arena, n_bytes);
    if (ends == NULL)
        return zlgi_no_memory(err, n_bytes);
    int64_t i = 0, reached = 0;
    for (const zlgi_json *item = runs->items; i < n_ends; item = item->next) {
        int64_t edge, count;
        ZLGI_TRY(read_run(item, &edge, &count, err));
        for (; count > 0 && i < n_ends; count--)
            ends[i++] = reached += edge;
    }
    *out = (zlgi_grid_axis){.length = length, .n_chunks = n_needed, .ends = ends};
    return ZLG_OK;
}

static zlg_status rectilinear(zlgi_arena *arena, const zlgi_json *configuration, int rank,
                              const int64_t *shape, const zlg_limits *limits,
                              zlgi_grid *out, zlg_error *err)
{
    static const char *const MEMBERS[] = {"kind", "chunk_shapes", NULL};
    ZLGI_TRY(zlgi_meta_only(configuration, "configuration", MEMBERS, err));
    const zlgi_json *kind = zlgi_json_get(configuration, "kind");
    if (!zlgi_json_is(kind, "inline"))
        return zlgi_meta_expected(err, "kind", kind, "\"inline\"");
    const zlgi_json *axes = zlgi_json_get(configuration, "chunk_shapes");
    if (axes == NULL || axes->type != ZLGI_JSON_ARRAY)
        return zlgi_meta_expected(err, "chunk_shapes", axes, "a list");
    if (axes->n_items != (uint32_t)rank)
        return zlgi_fail(err, ZLG_METADATA, "chunk_shapes has %u axes, the array has %d",
                         axes->n_items, rank);
    out->rank = rank;
    const zlgi_json *item = axes->items;
    for (int i = 0; i < rank; i++, item = item->next) {
        int64_t chunk;
        zlg_status status;
        if (item->type == ZLGI_JSON_ARRAY)
            status = edge_axis(arena, item, shape[i], limits, &out->axis[i], err);
        else if (zlgi_json_i64(item, &chunk) && chunk >= 1)
            status = regular_axis(shape[i], chunk, "chunk_shapes", i, &out->axis[i], err);
        else
            status = zlgi_meta_expected(err, "length", item,
                                        "an integer of at least 1 or a "
                                        "list of edges");
        if (status != ZLG_OK)
            return zlgi_within(err, status, "axis %d", i);
    }
    return ZLG_OK;
}

static zlg_status regular(const zlgi_json *configuration, int rank, const int64_t *shape,
                          zlgi_grid *out, zlg_error *err)
{
    static const char *const MEMBERS[] = {"chunk_shape", NULL};
    ZLGI_TRY(zlgi_meta_only(configuration, "configuration", MEMBERS, err));
    return zlgi_meta_chunks(zlgi_json_get(configuration, "chunk_shape"), "chunk_shape",
                            rank, shape, out, err);
}

zlg_status zlgi_meta_grid(zlgi_arena *arena, const zlgi_json *value, int rank,
                          const int64_t *shape, const zlg_limits *limits, zlgi_grid *out,
                          bool *out_rectilinear, zlg_error *err)
{
    zlgi_extension grid;
    ZLGI_TRY(zlgi_meta_essential(value, "chunk_grid", &grid, err));
    bool is_regular = zlgi_json_is(grid.name, "regular");
    *out_rectilinear = zlgi_json_is(grid.name, "rectilinear");
    if (!is_regular && !*out_rectilinear)
        return zlgi_fail(err, ZLG_UNSUPPORTED, "chunk grid %s is not known",
                         zlgi_meta_brief(grid.name).text);
    if (grid.configuration == NULL)
        return zlgi_fail(err, ZLG_METADATA, "chunk grid %s has no configuration",
                         zlgi_meta_brief(grid.name).text);
    zlg_status status =
        is_regular ? regular(grid.configuration, rank, shape, out, err)
                   : rectilinear(arena, grid.configuration, rank, shape, limits, out, err);
    return zlgi_within(err, status, "chunk_grid");
}
