/*
 * write_shard.c: a shard from new inner chunks and from those that stay as they are stored.
 * Inner chunks lie in the order of the call (inner_order), whatever order they came in, so
 * that the bytes depend neither on threads nor on the past. A shard in a shard is the same
 * again, one level down, into a buffer. What is given encoded is a part of the shard as it
 * lies in the caller's memory.
 *
 * Implements the writing half of zarr-specs sharding-indexed §"Binary shard format".
 */
#include "engine/write.h"

void zlgi_shard_writer_begin(zlgi_shard_writer *writer, const zlgi_written *box)
{
    zlgi_scratch *scratch = box->worker->scratch;
    writer->box = box; /* what start sets, it leaves: there is one for each shard */
    writer->map.entries = zlgi_scratch_push(scratch);
    writer->map.work = zlgi_scratch_push(scratch);
    writer->ids = zlgi_scratch_push(scratch);
    writer->parts = zlgi_scratch_push(scratch);
    writer->tables = zlgi_scratch_push(scratch);
    writer->old = zlgi_scratch_push(scratch);
    writer->tail = zlgi_scratch_push(scratch);
    writer->merged = zlgi_scratch_push(scratch);
    writer->piece_uses.buf = zlgi_scratch_push(scratch);
    writer->buffers[0] = zlgi_scratch_push(scratch);
    writer->pieces = zlgi_scratch_push(scratch); /* three in a row */
    zlgi_scratch_push(scratch);
    zlgi_scratch_push(scratch);
}

void zlgi_shard_writer_end(zlgi_shard_writer *writer)
{
    for (int i = 0; i < ZLGI_SHARD_WRITER_BUFFERS; i++)
        zlgi_scratch_pop(writer->box->worker->scratch);
}

/* Old index, new index, slots and the map, in one block. */
static zlg_status make_tables(zlgi_shard_writer *writer)
{
    size_t n = (size_t)writer->facts->n_chunks, n_pair = 2 * sizeof(uint64_t), n_bytes;
    size_t each = n_pair + sizeof(zlgi_slot) + sizeof(zlgi_touch);
    if (!zlgi_mul_size(n, each, &n_bytes))
        return zlgi_no_memory(writer->box->err, SIZE_MAX);
    ZLGI_TRY(zlgi_buf_reserve(writer->tables, n_bytes + 1, false, writer->box->err));
    writer->index = (uint64_t *)(void *)writer->tables->data;
    writer->slots = (zlgi_slot *)(void *)(writer->tables->data + n * n_pair);
    writer->map.touch =
        (zlgi_touch *)(void *)(writer->tables->data + n * (n_pair + sizeof(zlgi_slot)));
    memset(writer->map.touch, 0, n * sizeof *writer->map.touch);
    return ZLG_OK;
}

zlg_status zlgi_shard_writer_start(zlgi_shard_writer *writer)
{
    const zlgi_written *box = writer->box;
    const zlgi_level *level = box->level;
    const zlgi_sharding *sharding = level->sharding;
    ZLGI_TRY(zlgi_level_box_get(level, box->worker->job->engine->limits, box->shape,
                                &writer->room, &writer->facts, box->err));
    writer->grid.rank = writer->piece_uses.rank = level->rank;
    for (int i = 0; i < level->rank; i++) {
        int64_t chunk = sharding->chunk_shape[i];
        writer->grid.axis[i] =
            zlgi_grid_regular(writer->facts->grid_shape[i] * chunk, chunk);
    }
    writer->renews = zlgi_written_renews(box); /* in the axes of the box */
    for (size_t i = 0; i < box->uses->n; i++)
        zlgi_use_permute(zlgi_uses_at(box->uses, i), level->order);
    writer->map.grid = &writer->grid;
    writer->map.uses = box->uses;
    writer->makes_all = box->keep_empty && box->worker->job->call->loose_fill &&
                        level->behind && !box->encoded;
    ZLGI_TRY(make_tables(writer));
    return zlgi_touched_mark(&writer->map, box->err);
}

/* An inner chunk that is made anew, in one step or the other. */
static bool is_made(const zlgi_shard_writer *writer, uint64_t i_chunk)
{
    return writer->map.touch[i_chunk].first || writer->makes_all;
}

/* Through the inner chunks as they are stored. */
static void start_order(const zlgi_shard_writer *writer, zlgi_order *out)
{
    const zlgi_written *box = writer->box;
    zlg_inner_order kind =
        zlgi_inner_order(box->worker->job->call, box->level->sharding->depth);
    zlgi_order_start(out, kind, writer->grid.rank, writer->facts->grid_shape);
}

/* ------------------------------------------------------------------ inner chunks */

static zlg_status encode_shard(const zlgi_written *box, const zlgi_bytes *old,
                               zlgi_buf *out, zlgi_empty *empty);

static void set_slot(zlgi_slot *slot, int buffer, uint64_t offset, uint64_t n_bytes)
{
    slot->buffer = (uint64_t)buffer & 0xff;
    slot->offset = offset;
    slot->n_bytes = n_bytes & ZLGI_NONE;
}

static void set_none(zlgi_slot *slot, int buffer, zlgi_empty why)
{
    set_slot(slot, buffer, why, ZLGI_NONE);
}

/* What is stored as the caller has it stays there. */
static void set_callers(zlgi_slot *slot, const void *data, size_t n_bytes)
{
    set_slot(slot, ZLGI_CALLERS, 0, n_bytes);
    slot->data = data;
}

static void take_given(const zlgi_written *chunk, zlgi_slot *slot)
{
    const zlg_encoded *given = zlgi_written_encoded(chunk);
    if (given->data)
        set_callers(slot, given->data, given->n_bytes);
    else
        set_none(slot, ZLGI_CALLERS, ZLGI_EMPTY_BOX);
}

/* Were elements passed through? Small ones are sooner copied than named one by one. */
static bool is_callers(const zlgi_written *chunk, zlgi_bytes encoded)
{
    enum { LEAST = 512 };
    const zlgi_use *last = zlgi_uses_at(chunk->uses, chunk->uses->n - 1);
    return encoded.n >= LEAST && encoded.data == last->memory;
}

/* One inner chunk, whose uses are at hand, to the end of a buffer if it must be there. */
static zlg_status encode_chunk(zlgi_shard_writer *writer, const zlgi_written *chunk,
                               const zlgi_bytes *old, int i_buffer, zlgi_slot *slot)
{
    zlgi_buf *out = writer->buffers[i_buffer];
    size_t n_before = out->n;
    zlgi_empty empty = ZLGI_FULL;
    if (zlgi_written_is_shard(chunk->level)) {
        ZLGI_TRY(encode_shard(chunk, old, out, &empty));
    } else {
        zlgi_bytes encoded = {0};
        ZLGI_TRY(zlgi_unit_encode(chunk, old, writer->pieces, &encoded, &empty));
        if (!empty && is_callers(chunk, encoded)) {
            set_callers(slot, encoded.data, encoded.n);
            return ZLG_OK;
        }
        if (!empty)
            ZLGI_TRY(zlgi_buf_append(out, encoded.data, encoded.n, chunk->err));
    }
    if (empty)
        set_none(slot, i_buffer, empty);
    else
        set_slot(slot, i_buffer, n_before, out->n - n_before);
    return ZLG_OK;
}

/* Makes ready to encode an inner chunk: its box, in `room`, and its uses. */
typedef struct chunk_room {
    zlgi_written box;
    int64_t start[ZLG_MAX_RANK], inside[ZLG_MAX_RANK];
} chunk_room;

static zlg_status take_chunk(zlgi_shard_writer *writer, uint64_t i_chunk, chunk_room *room)
{
    const zlgi_written *shard = writer->box;
    const zlgi_level *level = shard->level;
    zlgi_grid_coordinates(&writer->grid, i_chunk, room->start);
    for (int i = 0; i < level->rank; i++) {
        int64_t chunk = writer->grid.axis[i].chunk;
        room->start[i] *= chunk;
        room->inside[i] = ZLGI_MIN(shard->inside[level->order[i]] - room->start[i], chunk);
    }
    room->box =
        (zlgi_written){.worker = shard->worker,
                       .source = shard->source,
                       .level = level->inner,
                       .shape = level->sharding->chunk_shape,
                       .inside = room->inside,
                       .keep_empty = shard->keep_empty,
                       .clears = shard->clears,
                       .skip_broken = shard->skip_broken,
                       .replace = shard->replace,
                       .encoded = shard->encoded,
                       .uses = &writer->piece_uses,
                       .fill = level->fill.data ? &level->fill : &shard->source->fill,
                       .err = shard->err};
    return zlgi_touched_uses(&writer->map, i_chunk, room->start, writer->ids,
                             &writer->piece_uses, shard->err);
}

/* ------------------------------------------------------------------ step one */

static zlg_status encode_if_covered(zlgi_shard_writer *writer, uint64_t i_chunk,
                                    int i_buffer)
{
    chunk_room room;
    size_t i_use;
    zlgi_slot *slot = &writer->slots[i_chunk];
    ZLGI_TRY(take_chunk(writer, i_chunk, &room));
    if (room.box.encoded && !zlgi_written_is_shard(room.box.level))
        take_given(&room.box, slot);
    else if (room.box.replace || zlgi_written_covers(&room.box, &i_use))
        return encode_chunk(writer, &room.box, NULL, i_buffer, slot);
    else
        set_none(slot, ZLGI_MERGED, ZLGI_FULL); /* not yet */
    return ZLG_OK;
}

zlg_status zlgi_shard_encode_covered(zlgi_shard_writer *writer, int i_block, int n_blocks)
{
    zlgi_worker *worker = writer->box->worker;
    uint64_t n = writer->facts->n_chunks, i_chunk;
    uint64_t low = zlgi_part(n, i_block, n_blocks);
    uint64_t high = zlgi_part(n, i_block + 1, n_blocks);
    zlgi_order order;
    start_order(writer, &order);
    for (uint64_t k = 0; k < high && zlgi_order_next(&order, &i_chunk); k++) {
        if (k < low || !is_made(writer, i_chunk))
            continue;
        ZLGI_TRY(zlgi_worker_check(worker));
        ZLGI_TRY(zlgi_within_chunk(&writer->grid, i_chunk,
                                   encode_if_covered(writer, i_chunk, i_block),
                                   writer->box->err));
    }
    /* With nothing covered its buffer, which may be large from before, serves the rest. */
    if (n_blocks == 1 && writer->buffers[0]->n == 0)
        writer->merged = writer->buffers[0];
    return ZLG_OK;
}

/* ------------------------------------------------------------------ step two */

/* What is stored of a shard that is in memory, and its index. */
typedef struct stored_shard {
    zlgi_bytes bytes;
    const uint64_t *index; /* NULL: nothing is stored */
} stored_shard;

static bool stored_chunk(const stored_shard *old, uint64_t i_chunk, zlgi_bytes *out)
{
    if (!old->index || old->index[2 * i_chunk] == ZLGI_EMPTY)
        return false;
    *out = (zlgi_bytes){.data = old->bytes.data + old->index[2 * i_chunk],
                        .n = (size_t)old->index[2 * i_chunk + 1]};
    return true;
}

static zlg_status read_stored(zlgi_shard_writer *writer, const zlgi_bytes *bytes,
                              stored_shard *out)
{
    const zlgi_written *box = writer->box;
    *out = (stored_shard){.index = NULL};
    if (!bytes)
        return ZLG_OK;
    size_t n_index = (size_t)writer->facts->n_chunks * 2 * sizeof(uint64_t);
    zlgi_range range = {.memory = bytes->data, .n_bytes = bytes->n};
    ZLGI_TRY(zlgi_buf_reserve(writer->old, n_index + 1, false, box->err));
    uint64_t *index = (uint64_t *)(void *)writer->old->data;
    zlg_status status = zlgi_shard_index_read(box->worker, box->level, writer->facts,
                                              &range, index, box->err);
    if (status == ZLG_CORRUPT && writer->renews)
        return ZLG_OK;
    ZLGI_TRY(status);
    *out = (stored_shard){.bytes = *bytes, .index = index};
    return ZLG_OK;
}

static zlg_status merge(zlgi_shard_writer *writer, uint64_t i_chunk,
                        const stored_shard *old)
{
    chunk_room room;
    zlgi_bytes stored;
    zlgi_slot *slot = &writer->slots[i_chunk];
    size_t n_before = writer->merged->n;
    bool is_stored = stored_chunk(old, i_chunk, &stored);
    ZLGI_TRY(zlgi_worker_check(writer->box->worker));
    ZLGI_TRY(take_chunk(writer, i_chunk, &room));
    zlg_status status =
        encode_chunk(writer, &room.box, is_stored ? &stored : NULL, ZLGI_MERGED, slot);
    if (status != ZLG_CORRUPT || !is_stored || !room.box.skip_broken)
        return status;
    set_slot(slot, ZLGI_MERGED, n_before, stored.n);
    writer->merged->n = n_before;
    return zlgi_buf_append(writer->merged, stored.data, stored.n, room.box.err);
}

static bool is_merged(const zlgi_slot *slot)
{
    return slot->buffer == ZLGI_MERGED;
}

bool zlgi_shard_keeps(const zlgi_shard_writer *writer)
{
    for (uint64_t i = 0; i < writer->facts->n_chunks && !writer->box->replace; i++)
        if (!is_made(writer, i) || is_merged(&writer->slots[i]))
            return true;
    return false;
}

static bool is_to_merge(const zlgi_shard_writer *writer, uint64_t i_chunk)
{
    return is_made(writer, i_chunk) && is_merged(&writer->slots[i_chunk]);
}

/* Room for what is merged, in one piece: while a buffer grows there are two of it. New
 * chunks have about the size of the old; compressed ones may be a little larger. */
static zlg_status make_merge_room(zlgi_shard_writer *writer, const stored_shard *old)
{
    zlgi_bytes stored;
    size_t n = 0; /* of bytes that are in memory; chunks that overlap are no matter */
    for (uint64_t i = 0; i < writer->facts->n_chunks; i++)
        if (is_to_merge(writer, i) && stored_chunk(old, i, &stored))
            n += stored.n;
    n = ZLGI_MIN(n, old->bytes.n);
    if (!writer->box->level->inner->raw)
        n += n / 16;
    return zlgi_buf_reserve(writer->merged, n, false, writer->box->err);
}

static zlg_status merge_all(zlgi_shard_writer *writer, const stored_shard *old)
{
    uint64_t i_chunk;
    zlgi_order order;
    ZLGI_TRY(make_merge_room(writer, old));
    writer->buffers[ZLGI_MERGED] = writer->merged;
    start_order(writer, &order);
    while (zlgi_order_next(&order, &i_chunk))
        if (is_to_merge(writer, i_chunk))
            ZLGI_TRY(zlgi_within_chunk(&writer->grid, i_chunk, merge(writer, i_chunk, old),
                                       writer->box->err));
    return ZLG_OK;
}

/* The bytes of an inner chunk of the new shard; false: it has none. */
static bool new_chunk(const zlgi_shard_writer *writer, const stored_shard *old,
                      uint64_t i_chunk, zlgi_bytes *out)
{
    if (is_made(writer, i_chunk)) {
        const zlgi_slot *slot = &writer->slots[i_chunk];
        if (slot->n_bytes == ZLGI_NONE)
            return false;
        *out = (zlgi_bytes){.n = (size_t)slot->n_bytes};
        if (slot->buffer == ZLGI_CALLERS)
            out->data = slot->data;
        else if (out->n > 0)
            out->data = writer->buffers[slot->buffer]->data + slot->offset;
        return true;
    }
    if (!stored_chunk(old, i_chunk, out))
        return false;
    writer->box->worker->stats.n_moved++;
    return true;
}

/* Chunks that lie one behind the other become one part. */
static zlg_status add_part(zlgi_buf *parts, zlgi_bytes bytes, zlg_error *err)
{
    size_t n = parts->n / sizeof bytes;
    zlgi_bytes *last = n > 0 ? (zlgi_bytes *)(void *)parts->data + n - 1 : NULL;
    if (last && last->data && last->data + last->n == bytes.data) {
        last->n += bytes.n;
        return ZLG_OK;
    }
    return zlgi_buf_append(parts, &bytes, sizeof bytes, err);
}

static zlg_status list_parts(zlgi_shard_writer *writer, const stored_shard *old,
                             bool *out_any)
{
    const zlgi_written *box = writer->box;
    bool index_first = box->level->sharding->index_at_start;
    uint64_t at = index_first ? writer->facts->n_bytes_index : 0, i_chunk;
    zlgi_bytes bytes = {.data = NULL};
    zlgi_order order;
    writer->parts->n = 0;
    *out_any = false;
    if (index_first) /* known when all have their place */
        ZLGI_TRY(zlgi_buf_append(writer->parts, &bytes, sizeof bytes, box->err));
    start_order(writer, &order);
    while (zlgi_order_next(&order, &i_chunk)) {
        bool any = new_chunk(writer, old, i_chunk, &bytes);
        writer->index[2 * i_chunk] = any ? at : ZLGI_EMPTY;
        writer->index[2 * i_chunk + 1] = any ? bytes.n : ZLGI_EMPTY;
        if (!any)
            continue;
        *out_any = true;
        at += bytes.n;
        if (bytes.n > 0)
            ZLGI_TRY(add_part(writer->parts, bytes, box->err));
    }
    ZLGI_TRY(zlgi_sharding_index_encode(box->level->sharding, box->worker->scratch,
                                        writer->facts->grid_shape, writer->facts->n_chunks,
                                        writer->index, writer->tail, box->err));
    bytes = (zlgi_bytes){.data = writer->tail->data, .n = writer->tail->n};
    if (!index_first)
        return zlgi_buf_append(writer->parts, &bytes, sizeof bytes, box->err);
    *(zlgi_bytes *)(void *)writer->parts->data = bytes;
    return ZLG_OK;
}

/* What an absent shard must mean: all that is in it is the fill value of the array, or of
 * the box that it is. */
static zlgi_empty tell_empty(const zlgi_shard_writer *writer)
{
    const zlgi_written *box = writer->box;
    const zlgi_fill *inner = &box->level->fill;
    if (box->keep_empty)
        return ZLGI_FULL;
    if (!inner->data)
        return ZLGI_EMPTY_ARRAY;
    bool as_array = !zlgi_shard_keeps(writer);
    for (uint64_t i = 0; i < writer->facts->n_chunks && as_array; i++)
        as_array =
            !writer->map.touch[i].first || writer->slots[i].offset == ZLGI_EMPTY_ARRAY;
    if (as_array)
        return ZLGI_EMPTY_ARRAY;
    bool same =
        inner->n == box->fill->n && memcmp(inner->data, box->fill->data, inner->n) == 0;
    return same ? ZLGI_EMPTY_BOX : ZLGI_FULL;
}

zlg_status zlgi_shard_put_together(zlgi_shard_writer *writer, const zlgi_bytes *old,
                                   const zlgi_bytes **out_parts, int *out_n_parts,
                                   zlgi_empty *out_empty)
{
    stored_shard stored;
    bool any;
    *out_empty = ZLGI_FULL;
    ZLGI_TRY(read_stored(writer, old, &stored));
    ZLGI_TRY(merge_all(writer, &stored));
    ZLGI_TRY(list_parts(writer, &stored, &any));
    *out_parts = (const zlgi_bytes *)(const void *)writer->parts->data;
    *out_n_parts = (int)(writer->parts->n / sizeof(zlgi_bytes));
    if (!any)
        *out_empty = tell_empty(writer);
    return ZLG_OK;
}

/* ------------------------------------------------------------------ shards in shards */

static zlg_status fill_shard(zlgi_shard_writer *writer, const zlgi_bytes *old,
                             zlgi_buf *out, zlgi_empty *empty)
{
    const zlgi_bytes *parts;
    int n_parts;
    ZLGI_TRY(zlgi_shard_writer_start(writer));
    ZLGI_TRY(zlgi_shard_encode_covered(writer, 0, 1));
    ZLGI_TRY(zlgi_shard_put_together(writer, old, &parts, &n_parts, empty));
    for (int i = 0; i < n_parts && !*empty; i++)
        ZLGI_TRY(zlgi_buf_append(out, parts[i].data, parts[i].n, writer->box->err));
    return ZLG_OK;
}

static zlg_status encode_shard(const zlgi_written *box, const zlgi_bytes *old,
                               zlgi_buf *out, zlgi_empty *empty)
{
    zlgi_shard_writer writer;
    zlgi_shard_writer_begin(&writer, box);
    zlg_status status = fill_shard(&writer, old, out, empty);
    zlgi_shard_writer_end(&writer);
    return status;
}
