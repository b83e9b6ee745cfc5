/*
 * shard.c: inner chunks of a shard. The index says where each lies; those that uses touch
 * are sorted by offset, joined into runs that are read at once, and decoded one by one
 * while they are in cache. A shard in a shard is the same again, one level down.
 *
 * Implements the reading half of zarr-specs sharding-indexed §"Binary shard format".
 */
#include "engine/job.h"

#include <stdio.h>

/* Part of a use that falls in one inner chunk. */
typedef struct entry {
    uint64_t chunk; /* ordinal in the inner grid */
    uint32_t use;
    uint32_t unused;
    int64_t first_id, n_ids; /* points: in the reader's sorted ids */
} entry;

/* An inner chunk to read, with the entries that want it. */
typedef struct piece {
    uint64_t chunk, offset, n_bytes;
    size_t first_entry, n_entries;
} piece;

enum { RING_PIECES = 1024 };

typedef struct shard_reader {
    zlgi_worker *worker;
    const zlgi_source *source;
    const zlgi_level *level;
    const zlgi_level_box *box;
    const zlgi_range *range;
    const zlgi_uses *uses;
    zlgi_grid grid; /* of inner chunks, axes of the inner level */
    const uint64_t *index;
    zlgi_buf *ids; /* points, sorted by inner chunk */
    zlgi_buf *entries;
    zlgi_buf *run;                      /* bytes of a run */
    zlgi_uses piece_uses;               /* uses of the piece at hand */
    zlgi_touched touched[ZLG_MAX_RANK]; /* a single box or mask: no entries */
    bool single;
    uint64_t low, high; /* the block at hand: touched[low .. high - 1], or inner chunks */
    piece *pieces;      /* RING_PIECES of them */
    zlgi_look look;     /* while there are many entries */
    zlg_error *err;
    uint64_t failed; /* nested: the lowest inner chunk that failed; UINT64_MAX: none */
    zlg_error failure;
} shard_reader;

/* ------------------------------------------------------------------ index */

/* Bytes of a decoded index: bounded by the layout. */
static size_t index_bytes(const zlgi_level_box *box)
{
    return (size_t)box->n_chunks * 2 * sizeof(uint64_t);
}

/* Where the index lies in the range. */
static zlg_status find_index(const zlgi_level *level, const zlgi_level_box *box,
                             const zlgi_range *range, uint64_t *out, zlg_error *err)
{
    if (range->n_bytes < box->n_bytes_index)
        return zlgi_fail(err, ZLG_CORRUPT,
                         "shard index: the shard has %llu bytes, its index %zu",
                         (unsigned long long)range->n_bytes, box->n_bytes_index);
    *out = level->sharding->index_at_start ? 0 : range->n_bytes - box->n_bytes_index;
    return ZLG_OK;
}

static zlg_status read_index(zlgi_worker *worker, const zlgi_level *level,
                             const zlgi_level_box *box, const zlgi_range *range,
                             uint64_t at, uint64_t *out, zlg_error *err)
{
    const uint8_t *encoded;
    zlgi_buf *buf = zlgi_scratch_push(worker->scratch);
    zlg_status status =
        zlgi_fetch(worker, range, at, box->n_bytes_index, buf, &encoded, err);
    if (status == ZLG_OK)
        status = zlgi_sharding_index_decode(
            level->sharding, worker->scratch, box->grid_shape, box->n_chunks,
            (zlgi_bytes){.data = encoded, .n = box->n_bytes_index}, range->n_bytes, out,
            err);
    zlgi_scratch_pop(worker->scratch);
    return status;
}

zlg_status zlgi_shard_index_read(zlgi_worker *worker, const zlgi_level *level,
                                 const zlgi_level_box *box, const zlgi_range *range,
                                 uint64_t *out, zlg_error *err)
{
    uint64_t at = 0;
    ZLGI_TRY(find_index(level, box, range, &at, err));
    return read_index(worker, level, box, range, at, out, err);
}

zlg_status zlgi_shard_index(zlgi_worker *worker, const zlgi_level *level,
                            const zlgi_level_box *box, const zlgi_range *range,
                            zlgi_block **out, zlg_error *err)
{
    zlgi_cache *cache = worker->job->engine->index_cache;
    size_t n_bytes = index_bytes(box);
    uint64_t at = 0;
    ZLGI_TRY(find_index(level, box, range, &at, err));
    zlgi_cache_key key = {.store = range->store->id,
                          .object = range->hash,
                          .offset = range->offset + at,
                          .n_bytes = box->n_bytes_index};
    if (range->object)
        key.tag = range->object->tag;
    *out = zlgi_cache_get(cache, &key, range->key, n_bytes);
    if (*out) {
        worker->stats.n_index_hits++;
        return ZLG_OK;
    }
    zlgi_block *block = zlgi_block_new(cache, &key, range->key, n_bytes);
    if (!block)
        return zlgi_no_memory(err, n_bytes);
    worker->stats.n_allocations++;
    zlg_status status =
        read_index(worker, level, box, range, at, (uint64_t *)(void *)block->data, err);
    if (status != ZLG_OK) {
        zlgi_block_unref(cache, block);
        return status;
    }
    zlgi_cache_put(cache, block);
    *out = block;
    return ZLG_OK;
}

/* ------------------------------------------------------------------ entries */

static inline bool entry_is_less(const entry *a, const entry *b, const void *context)
{
    (void)context;
    return a->chunk != b->chunk ? a->chunk < b->chunk : a->use < b->use;
}

static inline bool goes_on(const void *context)
{
    zlgi_look *const *look = context;
    return zlgi_look_up(*look, 64); /* a part of what is sorted is many steps */
}
ZLGI_SORT_WHILE(sort_entries, entry, entry_is_less, goes_on)

static zlg_status add_entry(shard_reader *reader, entry e)
{
    return zlgi_buf_append(reader->entries, &e, sizeof e, reader->err);
}

/* The ids of a use by inner chunk: appended to reader->ids, one entry a chunk. */
static zlg_status add_points(shard_reader *reader, uint32_t i_use)
{
    const zlgi_use *use = zlgi_uses_at(reader->uses, i_use);
    zlgi_buf *ids = reader->ids, *entries = reader->entries;
    size_t room = zlgi_points_room(use, &reader->grid, reader->low, reader->high);
    ZLGI_TRY(zlgi_buf_reserve(ids, ids->n + room * sizeof(int64_t), true, reader->err));
    zlgi_points points;
    if (!zlgi_points_sort(use, &reader->grid, reader->low, reader->high,
                          (int64_t *)(void *)(ids->data + ids->n), &reader->look, &points))
        return ZLG_CANCELLED;
    if (reader->uses->n == 1) /* there will be no others */
        ZLGI_TRY(
            zlgi_buf_reserve(entries, points.n_boxes * sizeof(entry), false, reader->err));
    entry e = {.use = i_use};
    size_t first, n;
    while (zlgi_points_next(&points, &e.chunk, &first, &n)) {
        e.first_id = (int64_t)(ids->n / sizeof(int64_t) + first);
        e.n_ids = (int64_t)n;
        ZLGI_TRY(add_entry(reader, e));
        if (!zlgi_look_up(&reader->look, 1 + n / 16))
            return ZLG_CANCELLED;
    }
    ids->n += points.n * sizeof(int64_t);
    return ZLG_OK;
}

/* The touched chunks of a box or a mask; lists need tables, which stay on the scratch of
 * the caller. Returns how many chunks. */
static zlg_status touch(shard_reader *reader, const zlgi_use *use, zlgi_buf *tables,
                        zlgi_touched *out, uint64_t *out_n)
{
    size_t room = 0, used = 0;
    for (int i = 0; i < use->rank; i++)
        room += zlgi_touched_room(&use->axis[i], &reader->grid.axis[i]);
    ZLGI_TRY(zlgi_buf_reserve(tables, room * sizeof(int64_t) + 1, false, reader->err));
    *out_n = 1;
    for (int i = 0; i < use->rank; i++) {
        out[i] = zlgi_touched_make(&use->axis[i], &reader->grid.axis[i],
                                   (int64_t *)(void *)tables->data + used);
        used += zlgi_touched_room(&use->axis[i], &reader->grid.axis[i]);
        *out_n *= (uint64_t)out[i].n;
    }
    return ZLG_OK;
}

static uint64_t touched_chunk(const shard_reader *reader, const zlgi_touched *touched,
                              uint64_t k)
{
    int64_t at[ZLG_MAX_RANK];
    for (int i = reader->grid.rank - 1; i >= 0; i--) {
        uint64_t n = (uint64_t)touched[i].n;
        at[i] = zlgi_touched_at(&touched[i], (int64_t)(k % n));
        k /= n;
    }
    return zlgi_grid_ordinal(&reader->grid, at);
}

static void chunk_start(const zlgi_grid *grid, uint64_t chunk, int64_t *out)
{
    zlgi_grid_coordinates(grid, chunk, out);
    for (int i = 0; i < grid->rank; i++)
        out[i] *= grid->axis[i].chunk;
}

/* Of a mask: whether it selects something in an inner chunk. */
static bool is_wanted(const shard_reader *reader, uint32_t i_use, uint64_t chunk)
{
    const zlgi_use *use = zlgi_uses_at(reader->uses, i_use);
    int64_t start[ZLG_MAX_RANK];
    if (use->kind != ZLGI_USE_MASK)
        return true;
    zlgi_use cut;
    chunk_start(&reader->grid, chunk, start);
    return zlgi_use_cut(use, start, reader->level->sharding->chunk_shape, &cut);
}

static zlg_status add_box(shard_reader *reader, uint32_t i_use, zlgi_buf *tables)
{
    zlgi_touched touched[ZLG_MAX_RANK];
    uint64_t n;
    ZLGI_TRY(touch(reader, zlgi_uses_at(reader->uses, i_use), tables, touched, &n));
    for (uint64_t k = 0; k < n; k++) {
        entry e = {.chunk = touched_chunk(reader, touched, k), .use = i_use};
        if (!zlgi_look_up(&reader->look, 1))
            return ZLG_CANCELLED;
        if (e.chunk >= reader->low && e.chunk < reader->high &&
            is_wanted(reader, i_use, e.chunk))
            ZLGI_TRY(add_entry(reader, e));
    }
    return ZLG_OK;
}

static zlg_status make_entries(shard_reader *reader, zlgi_buf *work)
{
    for (uint32_t i = 0; i < reader->uses->n; i++) {
        bool points = zlgi_uses_at(reader->uses, i)->kind == ZLGI_USE_POINTS;
        ZLGI_TRY(points ? add_points(reader, i) : add_box(reader, i, work));
    }
    entry *entries = (entry *)(void *)reader->entries->data;
    zlgi_look *look = &reader->look;
    if (reader->uses->n > 1)
        sort_entries(entries, reader->entries->n / sizeof *entries, &look);
    return zlgi_look_up(look, 0) ? ZLG_OK : ZLG_CANCELLED;
}

/* ------------------------------------------------------------------ pieces */

static zlg_status add_piece_use(shard_reader *reader, const entry *e, const int64_t *start)
{
    const zlgi_use *use = zlgi_uses_at(reader->uses, e->use);
    zlgi_use *cut;
    ZLGI_TRY(zlgi_uses_room(&reader->piece_uses, &cut, reader->err));
    if (use->kind != ZLGI_USE_POINTS) {
        reader->piece_uses.n +=
            zlgi_use_cut(use, start, reader->level->sharding->chunk_shape, cut);
        return ZLG_OK;
    }
    memcpy(cut, use, zlgi_use_bytes(use->rank));
    cut->ids = (const int64_t *)(const void *)reader->ids->data + e->first_id;
    cut->n_points = e->n_ids;
    for (int i = 0; i < use->rank; i++)
        cut->axis[i].base += start[i];
    reader->piece_uses.n++;
    return ZLG_OK;
}

/* Restricts every use of the piece to its box. */
static zlg_status set_piece_uses(shard_reader *reader, const piece *p)
{
    int64_t start[ZLG_MAX_RANK];
    chunk_start(&reader->grid, p->chunk, start);
    reader->piece_uses.n = 0;
    if (reader->single)
        return add_piece_use(reader, &(entry){.use = 0}, start);
    const entry *entries = (const entry *)(const void *)reader->entries->data;
    for (size_t i = 0; i < p->n_entries; i++)
        ZLGI_TRY(add_piece_use(reader, &entries[p->first_entry + i], start));
    return ZLG_OK;
}

static zlg_status read_any(shard_reader *reader, const zlgi_range *range)
{
    const zlgi_level *inner = reader->level->inner;
    if (inner->sharding)
        return zlgi_shard_read(reader->worker, reader->source, inner, inner->shape, range,
                               &reader->piece_uses, NULL, 0, 1, reader->err);
    return zlgi_unit_read(reader->worker, reader->source, inner, inner->shape, range,
                          &reader->piece_uses, reader->err);
}

/* Transforms ask where in the array the piece lies. */
static zlg_status read_located(shard_reader *reader, const piece *p,
                               const zlgi_range *range)
{
    zlgi_worker *worker = reader->worker;
    int64_t start[ZLG_MAX_RANK];
    chunk_start(&reader->grid, p->chunk, start);
    for (int i = 0; i < reader->grid.rank; i++)
        worker->origin[worker->axes[i]] += start[i];
    zlg_status status = read_any(reader, range);
    for (int i = 0; i < reader->grid.rank; i++)
        worker->origin[worker->axes[i]] -= start[i];
    return status;
}

static zlg_status read_piece(shard_reader *reader, const piece *p, const zlgi_range *range)
{
    ZLGI_TRY(set_piece_uses(reader, p));
    return zlgi_job_transform(reader->worker->job) ? read_located(reader, p, range)
                                                   : read_any(reader, range);
}

/* The job keeps the lowest failure of an object by inner chunk. A shard inside a shard
 * keeps its own, which becomes that of the inner chunk that it is. */
static bool is_nested(const shard_reader *reader)
{
    return reader->level != reader->source->level;
}

static bool wants(const shard_reader *reader, uint64_t chunk)
{
    return is_nested(reader) ? chunk < reader->failed
                             : zlgi_worker_wants(reader->worker, chunk);
}

zlg_status zlgi_within_chunk(const zlgi_grid *grid, uint64_t chunk, zlg_status status,
                             zlg_error *err)
{
    int64_t at[ZLG_MAX_RANK];
    char text[21 * ZLG_MAX_RANK] = "";
    size_t n = 0;
    if (status == ZLG_OK || status == ZLG_CANCELLED)
        return status;
    zlgi_grid_coordinates(grid, chunk, at);
    for (int i = 0; i < grid->rank; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, i ? "/%lld" : "%lld",
                              (long long)at[i]);
    return zlgi_within(err, status, "inner chunk %s", text);
}

static void fail_piece(shard_reader *reader, zlg_status status, uint64_t chunk)
{
    zlgi_within_chunk(&reader->grid, chunk, status, reader->err);
    if (!is_nested(reader)) {
        zlgi_worker_fail(reader->worker, status, chunk);
        return;
    }
    reader->failed = chunk;
    reader->failure = *reader->err;
}

/* A failed piece is recorded and the next goes on: the lowest failure is reported. Only
 * cancelling ends the shard. */
static zlg_status try_piece(shard_reader *reader, const piece *p, const zlgi_range *range)
{
    ZLGI_TRY(zlgi_worker_check(reader->worker));
    if (!wants(reader, p->chunk))
        return ZLG_OK;
    zlg_status status = read_piece(reader, p, range);
    if (status == ZLG_OK || status == ZLG_CANCELLED)
        return status;
    fail_piece(reader, status, p->chunk);
    return ZLG_OK;
}

/* Notes a run instead of reading it. */
static zlg_status trace_run(shard_reader *reader, const piece *pieces, size_t n,
                            uint64_t offset, uint64_t n_bytes)
{
    zlgi_trace *trace = reader->worker->trace;
    const zlgi_level *inner = reader->level->inner;
    for (size_t i = 0; i < n; i++) {
        ZLGI_TRY(set_piece_uses(reader, &pieces[i]));
        trace->n_direct += !inner->sharding && reader->piece_uses.n == 1 &&
                           zlgi_use_matches(zlgi_uses_at(&reader->piece_uses, 0),
                                            inner->shape, inner->box->strides);
    }
    trace->n_chunks += n;
    return zlgi_trace_add(trace, reader->range->offset + offset, n_bytes, n, reader->err);
}

/* Reads pieces[0..n), which lie close together, in one request. A large piece is left to
 * those who know how much of it is wanted and whom to ask for the memory; and after a
 * failure each piece is read for itself, so that the right one is named. */
static zlg_status read_run(shard_reader *reader, const piece *pieces, size_t n)
{
    uint64_t offset = pieces[0].offset, end = offset;
    for (size_t i = 0; i < n; i++)
        end = ZLGI_MAX(end, pieces[i].offset + pieces[i].n_bytes);
    if (reader->worker->trace)
        return trace_run(reader, pieces, n, offset, end - offset);
    zlgi_range range = *reader->range;
    const uint8_t *bytes = NULL;
    bool in_memory = range.memory || range.object->view;
    if ((in_memory || end - offset <= ZLGI_RUN_BYTES) &&
        zlgi_fetch(reader->worker, reader->range, offset, (size_t)(end - offset),
                   reader->run, &bytes, reader->err) != ZLG_OK)
        bytes = NULL;
    for (size_t i = 0; i < n; i++) {
        range.memory = bytes ? bytes + (pieces[i].offset - offset) : NULL;
        range.offset = reader->range->offset + pieces[i].offset;
        range.n_bytes = pieces[i].n_bytes;
        ZLGI_TRY(try_piece(reader, &pieces[i], &range));
    }
    return ZLG_OK;
}

static inline bool piece_is_less(const piece *a, const piece *b, const void *context)
{
    (void)context;
    return a->offset != b->offset ? a->offset < b->offset : a->chunk < b->chunk;
}
ZLGI_SORT(sort_pieces, piece, piece_is_less)

static zlg_status read_ring(shard_reader *reader, size_t n)
{
    piece *pieces = reader->pieces;
    sort_pieces(pieces, n, NULL);
    for (size_t i = 0, next; i < n; i = next) {
        uint64_t first = pieces[i].offset, end = first + pieces[i].n_bytes;
        for (next = i + 1; next < n; next++) {
            uint64_t far = pieces[next].offset + pieces[next].n_bytes;
            if (pieces[next].offset > end + ZLGI_GAP_BYTES || far - first > ZLGI_RUN_BYTES)
                break;
            end = ZLGI_MAX(end, far);
        }
        ZLGI_TRY(read_run(reader, &pieces[i], next - i));
    }
    return ZLG_OK;
}

/* Adds a piece to the ring, or fills it when the shard does not hold it. */
static zlg_status take_piece(shard_reader *reader, piece p, size_t *n_ring)
{
    p.offset = reader->index[2 * p.chunk];
    p.n_bytes = reader->index[2 * p.chunk + 1];
    if (p.offset == ZLGI_EMPTY && reader->worker->trace) {
        reader->worker->trace->n_empty++;
        return ZLG_OK;
    }
    if (p.offset == ZLGI_EMPTY) {
        ZLGI_TRY(zlgi_worker_check(reader->worker));
        ZLGI_TRY(set_piece_uses(reader, &p));
        const zlgi_fill *fill = &reader->level->fill;
        reader->worker->stats.n_chunks_empty++;
        return zlgi_unit_fill(reader->worker, reader->source,
                              fill->data ? fill : &reader->source->fill,
                              &reader->piece_uses);
    }
    reader->pieces[(*n_ring)++] = p;
    if (*n_ring < RING_PIECES)
        return ZLG_OK;
    size_t n = *n_ring;
    *n_ring = 0;
    return read_ring(reader, n);
}

static zlg_status read_touched(shard_reader *reader)
{
    size_t n_ring = 0;
    for (uint64_t k = reader->low; k < reader->high; k++) {
        piece p = {.chunk = touched_chunk(reader, reader->touched, k)};
        if (is_wanted(reader, 0, p.chunk))
            ZLGI_TRY(take_piece(reader, p, &n_ring));
    }
    return read_ring(reader, n_ring);
}

static zlg_status read_entries(shard_reader *reader)
{
    const entry *entries = (const entry *)(const void *)reader->entries->data;
    size_t n_ring = 0, n_entries = reader->entries->n / sizeof *entries;
    for (size_t i = 0, end; i < n_entries; i = end) {
        for (end = i + 1; end < n_entries && entries[end].chunk == entries[i].chunk;)
            end++;
        piece p = {.chunk = entries[i].chunk, .first_entry = i, .n_entries = end - i};
        ZLGI_TRY(take_piece(reader, p, &n_ring));
    }
    return read_ring(reader, n_ring);
}

/* Block i_block of n_blocks: of the chunks that a single box touches, or of the numbers of
 * all inner chunks. */
static zlg_status read_block(shard_reader *reader, zlgi_buf *work, int i_block,
                             int n_blocks)
{
    const zlgi_use *use = zlgi_uses_at(reader->uses, 0);
    uint64_t n = reader->box->n_chunks;
    reader->single = reader->uses->n == 1 && use->kind != ZLGI_USE_POINTS;
    if (reader->single)
        ZLGI_TRY(touch(reader, use, work, reader->touched, &n));
    reader->low = zlgi_part(n, i_block, n_blocks);
    reader->high = zlgi_part(n, i_block + 1, n_blocks);
    if (reader->low == reader->high)
        return ZLG_OK;
    if (reader->single)
        return read_touched(reader);
    ZLGI_TRY(make_entries(reader, work));
    return read_entries(reader);
}

/* ------------------------------------------------------------------ shard */

static void set_grid(shard_reader *reader)
{
    const zlgi_sharding *sharding = reader->level->sharding;
    reader->grid.rank = reader->level->rank;
    for (int i = 0; i < reader->grid.rank; i++)
        reader->grid.axis[i] =
            zlgi_grid_regular(reader->box->grid_shape[i] * sharding->chunk_shape[i],
                              sharding->chunk_shape[i]);
}

/* The ring of pieces, and the index: that of a shard which lies in memory, since it is an
 * inner chunk of another or inside other codecs, is neither cached nor worth a block, and
 * stands behind the ring. */
static zlg_status take_index(shard_reader *reader, zlgi_buf *ring, zlgi_block **block)
{
    const zlgi_range *range = reader->range;
    size_t n_ring = RING_PIECES * sizeof(piece);
    bool in_ring = !*block && range->memory;
    size_t n_bytes = n_ring + (in_ring ? index_bytes(reader->box) : 0);
    ZLGI_TRY(zlgi_buf_reserve(ring, n_bytes, false, reader->err));
    reader->pieces = (piece *)(void *)ring->data;
    if (in_ring) {
        uint64_t at = 0, *index = (uint64_t *)(void *)(ring->data + n_ring);
        reader->index = index;
        ZLGI_TRY(find_index(reader->level, reader->box, range, &at, reader->err));
        return read_index(reader->worker, reader->level, reader->box, range, at, index,
                          reader->err);
    }
    if (!*block)
        ZLGI_TRY(zlgi_shard_index(reader->worker, reader->level, reader->box, range, block,
                                  reader->err));
    reader->index = (const uint64_t *)(const void *)(*block)->data;
    return ZLG_OK;
}

static zlg_status read_inner(shard_reader *reader, zlgi_block *given, int i_block,
                             int n_blocks)
{
    zlgi_worker *worker = reader->worker;
    zlgi_buf *ring = zlgi_scratch_push(worker->scratch);
    zlgi_buf *work = zlgi_scratch_push(worker->scratch);
    reader->ids = zlgi_scratch_push(worker->scratch);
    reader->entries = zlgi_scratch_push(worker->scratch);
    reader->run = zlgi_scratch_push(worker->scratch);
    reader->piece_uses =
        (zlgi_uses){.buf = zlgi_scratch_push(worker->scratch), .rank = reader->grid.rank};
    zlgi_block *block = given;
    zlg_status status = take_index(reader, ring, &block);
    if (status == ZLG_OK && reader->uses->n > 0)
        status = read_block(reader, work, i_block, n_blocks);
    if (!given)
        zlgi_block_unref(worker->job->engine->index_cache, block);
    for (int i = 0; i < 6; i++)
        zlgi_scratch_pop(worker->scratch);
    return status;
}

/* Fetches and unwraps a shard that lies inside other codecs: its range is memory then. */
static zlg_status unwrap(shard_reader *reader, zlgi_buf buf[3], zlgi_range *range)
{
    zlgi_bytes encoded, bytes;
    const zlgi_level *level = reader->level;
    ZLGI_TRY(zlgi_fetch_all(reader->worker, range, ZLGI_RUN_BYTES, &buf[0], &encoded,
                            reader->err));
    ZLGI_TRY(zlgi_chain_unwrap(level->chain, &reader->box->layout, reader->worker->scratch,
                               encoded, &buf[1], &bytes, reader->err));
    range->memory = bytes.data;
    range->n_bytes = bytes.n;
    range->object = NULL; /* offsets are no longer those of the object */
    return ZLG_OK;
}

static zlg_status read_permuted(shard_reader *reader, zlgi_block *index, int i_block,
                                int n_blocks)
{
    for (size_t i = 0; i < reader->uses->n; i++)
        zlgi_use_permute(zlgi_uses_at(reader->uses, i), reader->level->order);
    if (!reader->level->wrapped)
        return read_inner(reader, index, i_block, n_blocks);
    zlgi_range range = *reader->range;
    zlgi_buf *buf = zlgi_scratch_push(reader->worker->scratch);
    zlgi_scratch_push(reader->worker->scratch);
    zlgi_scratch_push(reader->worker->scratch);
    reader->range = &range;
    zlg_status status = unwrap(reader, buf, &range);
    if (status == ZLG_OK)
        status = read_inner(reader, NULL, 0, 1);
    for (int i = 0; i < 3; i++)
        zlgi_scratch_pop(reader->worker->scratch);
    return status;
}

zlg_status zlgi_shard_read(zlgi_worker *worker, const zlgi_source *source,
                           const zlgi_level *level, const int64_t *shape,
                           const zlgi_range *range, const zlgi_uses *uses,
                           zlgi_block *index, int i_block, int n_blocks, zlg_error *err)
{
    zlgi_level_box room;
    shard_reader reader = {.worker = worker,
                           .source = source,
                           .level = level,
                           .range = range,
                           .uses = uses,
                           .look = zlgi_worker_look(worker),
                           .err = err,
                           .failed = UINT64_MAX};
    ZLGI_TRY(zlgi_level_box_get(level, worker->job->engine->limits, shape, &room,
                                &reader.box, err));
    set_grid(&reader);
    int axes[ZLG_MAX_RANK];
    memcpy(axes, worker->axes, sizeof axes);
    for (int i = 0; i < level->rank && zlgi_job_transform(worker->job); i++)
        worker->axes[i] = axes[level->order[i]];
    zlg_status status = read_permuted(&reader, index, i_block, n_blocks);
    memcpy(worker->axes, axes, sizeof axes);
    ZLGI_TRY(status);
    if (reader.failed == UINT64_MAX)
        return ZLG_OK;
    *err = reader.failure;
    return err->status;
}
