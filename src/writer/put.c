/*
 * put.c: an object from its cells. Chunks that are encoded go to the engine as they are; of
 * those of which a part is missing that part is the fill value, or, where something may be
 * stored already, what is stored. So may be what lies beyond the array in chunks that reach
 * there: somebody else may have made it longer.
 */
#include "writer/writer.h"

/* Boxes that are written element by element, as the engine takes them. */
typedef struct parts {
    const zlgi_fed *fed;
    zlgi_arena *arena;
    zlgi_buf requests; /* zlgi_request */
    bool skip_equal;
    zlgi_cell_box box;       /* of the cell */
    const uint8_t *elements; /* of it */
} parts;

typedef struct putting {
    zlg_writer *writer;
    zlgi_held *held;
    zlgi_scratch *scratch;
    zlgi_arena arena;
    zlg_encoded *chunks; /* n of them, and where each begins */
    int64_t *starts[ZLG_MAX_RANK];
    size_t n;
    uint64_t aside; /* bytes of the room, not used yet */
    bool is_alone, creates;
    zlg_stats stats;
    zlg_error *err;
} putting;

static bool is_partial(const zlgi_cell *cell)
{
    return cell->state == ZLGI_CELL_FILLING && !cell->is_clean;
}

static bool is_full(const zlgi_held *held)
{
    return held->n_done == held->n_inside;
}

/* ------------------------------------------------------------------ what is there */

/* What is stored does not matter, as was asked. */
static bool replaces(const zlg_writer *writer)
{
    return writer->options.existing == ZLG_EXISTING_REPLACE ||
           writer->options.existing == ZLG_EXISTING_REFUSE;
}

/* Of an object that begins where the array ended nothing was stored. */
static bool is_new(const zlgi_held *held)
{
    const zlgi_growth *growth = &held->fed->growth;
    if (growth->axis < 0)
        return false;
    const zlgi_grid_axis *axis = &held->fed->array->source.grid.axis[growth->axis];
    return zlgi_grid_start(axis, held->coordinates[growth->axis]) >= growth->first;
}

/* Rows are appended to what the array ended with. */
static bool is_continued(const zlgi_held *held)
{
    const zlgi_growth *growth = &held->fed->growth;
    return growth->axis >= 0 && !is_new(held) &&
           held->coordinates[growth->axis] ==
               growth->first / held->fed->plain->object_shape[growth->axis];
}

/* Somebody else may store what lies beyond the array in it. */
static bool may_be_shared(const zlg_writer *writer, const zlgi_held *held)
{
    const zlgi_grid *grid = &held->fed->array->source.grid;
    bool reaches = false;
    for (int i = 0; i < grid->rank; i++) {
        int64_t at = held->coordinates[i];
        int64_t end =
            zlgi_grid_start(&grid->axis[i], at) + zlgi_grid_edge(&grid->axis[i], at);
        reaches = reaches || end > grid->axis[i].length;
    }
    return reaches && !is_new(held) && !replaces(writer);
}

/* Nothing that is stored stays. */
static bool is_alone(const zlg_writer *writer, const zlgi_held *held)
{
    if (!(is_full(held) || ((is_new(held) || replaces(writer)) && !held->is_mine)))
        return false;
    if (held->found == ZLGI_FOUND_OTHERS)
        return false;
    if (held->found == ZLGI_FOUND_NOTHING && held->is_mine && may_be_shared(writer, held))
        return false;
    for (uint64_t i = 0; i < held->n_cells; i++)
        if (held->cells[i].state == ZLGI_CELL_STORED)
            return false;
    return true;
}

/* Nothing may be stored: as far as anybody knows, or as was asked. */
static bool creates(const zlg_writer *writer, const zlgi_held *held)
{
    return !held->is_mine && held->found == ZLGI_FOUND_NOTHING &&
           (writer->options.existing == ZLG_EXISTING_REFUSE || is_new(held) ||
            may_be_shared(writer, held));
}

/* A cell is encoded, but only what lies inside the array may be put. */
static bool reaches_out(const zlgi_cell *cell, const zlgi_cell_box *box)
{
    return cell->state == ZLGI_CELL_ENCODED &&
           box->n_inside * cell->held->fed->item < box->n_bytes;
}

/* ------------------------------------------------------------------ chunks */

/* What is decoded when the object is merged. */
static uint64_t n_bytes_reaching_out(const zlgi_held *held)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < held->n_cells; i++) {
        zlgi_cell_box box;
        zlgi_cell_locate(&held->cells[i], &box);
        n += reaches_out(&held->cells[i], &box) ? box.n_bytes : 0;
    }
    return n;
}

/* What is read back, and decoded or encoded beside that. */
static uint64_t n_bytes_needed(const zlg_writer *writer, const zlgi_held *held)
{
    uint64_t n = is_alone(writer, held) ? 0 : n_bytes_reaching_out(held);
    bool is_here = writer->side.n_cells == 0 && held->n_staged == 0 && held->n_kept == 0;
    if (is_here && is_full(held))
        return n;
    for (uint64_t i = 0; i < held->n_cells; i++) {
        const zlgi_cell *cell = &held->cells[i];
        n += (cell->is_spilled + cell->is_staged + (uint64_t)is_partial(cell)) *
             (uint64_t)cell->n_bytes;
        if (is_partial(cell) && cell->data)
            n += cell->n_bytes - cell->n_charged; /* the rest becomes the fill value */
    }
    return n;
}

bool zlgi_held_may_put(const zlg_writer *writer, const zlgi_held *held)
{
    return !writer->is_loading || zlgi_stage_is_whole(held) ||
           zlgi_room_has(writer, n_bytes_needed(writer, held));
}

/* Something was done that may have made room, or somebody else will. */
static bool make_room(putting *p)
{
    zlg_writer *writer = p->writer;
    if (zlgi_side_spill(writer, p->aside, p->held) || zlgi_work_cell(writer, p->scratch))
        return true;
    if (writer->n_running == 1 && !writer->is_copying)
        return false;
    zlgi_writer_pause(writer);
    return true;
}

/* True: there is no room, and this is the one object for which there always is, when all
 * others are moved out. */
static bool set_aside(putting *p)
{
    zlg_writer *writer = p->writer;
    uint64_t n_bytes = n_bytes_needed(writer, p->held);
    bool is_one = n_bytes > 0 && !zlgi_room_has(writer, n_bytes);
    p->aside = n_bytes;
    writer->room.aside += n_bytes;
    writer->is_loading = writer->is_loading || is_one;
    while (is_one && !zlgi_room_has(writer, 0) && make_room(p))
        ;
    return is_one;
}

static zlg_status load(putting *p)
{
    for (uint64_t i = 0; i < p->held->n_cells; i++) {
        zlgi_cell *cell = &p->held->cells[i];
        if ((cell->is_spilled || cell->is_staged) &&
            (cell->state == ZLGI_CELL_ENCODED || is_partial(cell)))
            ZLGI_TRY(zlgi_side_load(p->writer, cell, &p->aside, p->err));
        if (is_partial(cell)) {
            zlgi_room_use(p->writer, &p->aside, cell->n_bytes - cell->n_charged);
            zlgi_cell_charge(p->writer, cell, cell->n_bytes);
        }
    }
    return ZLG_OK;
}

static zlg_status make_list(putting *p)
{
    size_t n = (size_t)p->held->n_cells, n_bytes = SIZE_MAX;
    if (zlgi_mul_size(n, sizeof *p->chunks, &n_bytes))
        p->chunks = zlgi_arena_get(&p->arena, n_bytes);
    if (!p->chunks)
        return zlgi_no_memory(p->err, n_bytes);
    for (int i = 0; i < p->held->fed->array->meta.rank; i++) {
        p->starts[i] = zlgi_arena_get(&p->arena, n * sizeof(int64_t));
        if (!p->starts[i])
            return zlgi_no_memory(p->err, n * sizeof(int64_t));
    }
    return ZLG_OK;
}

static void add_chunk(putting *p, const zlgi_cell_box *box, const void *data,
                      size_t n_bytes)
{
    static const uint8_t nothing[1] = {0}; /* a chunk of no bytes is one nevertheless */
    for (int i = 0; i < p->held->fed->array->meta.rank; i++)
        p->starts[i][p->n] = box->start[i];
    p->chunks[p->n++] =
        (zlg_encoded){.data = data && n_bytes == 0 ? nothing : data, .n_bytes = n_bytes};
}

/* Room for a block that was worked with, and is kept for a while. */
static void charge(putting *p, zlgi_cell *cell, size_t n_bytes)
{
    zlg_writer *writer = p->writer;
    pthread_mutex_lock(&writer->lock);
    zlgi_room_use(writer, &p->aside, n_bytes);
    if (!zlgi_room_has(writer, n_bytes))
        zlgi_side_spill(writer, n_bytes, p->held);
    if (!zlgi_room_has(writer, n_bytes))
        zlgi_side_move(writer, cell);
    zlgi_room_work_kept(writer, n_bytes);
    pthread_mutex_unlock(&writer->lock);
}

/* Elements that were not given are the fill value. The block is the room's until it is
 * forgotten. */
static zlg_status encode_partial(putting *p, zlgi_cell *cell, const zlgi_cell_box *box)
{
    const zlgi_fed *fed = p->held->fed;
    const zlgi_elements elements = {.data = cell->data};
    zlgi_encoded encoded;
    zlgi_given_fill_rest(&cell->given, fed->array->meta.rank, box->shape, cell->data,
                         fed->array->source.fill.data, fed->item);
    ZLGI_TRY(
        zlgi_cell_encode(p->writer, fed, box, &elements, p->scratch, &encoded, p->err));
    add_chunk(p, box, encoded.data, encoded.n_bytes);
    if (encoded.data && !encoded.is_same)
        charge(p, cell, encoded.n_bytes);
    return ZLG_OK;
}

static zlg_status list_chunks(putting *p)
{
    for (uint64_t i = 0; i < p->held->n_cells; i++) {
        zlgi_cell *cell = &p->held->cells[i];
        zlgi_cell_box box;
        zlgi_cell_locate(cell, &box);
        if (cell->state == ZLGI_CELL_ENCODED && (p->is_alone || !reaches_out(cell, &box)))
            add_chunk(p, &box, cell->is_absent ? NULL : cell->data, cell->n_bytes);
        else if (is_partial(cell) && p->is_alone)
            ZLGI_TRY(encode_partial(p, cell, &box));
    }
    return ZLG_OK;
}

/* The blocks that encode_partial made. */
static void forget_chunks(putting *p)
{
    size_t k = 0;
    for (uint64_t i = 0; p->is_alone && i < p->held->n_cells && k < p->n; i++) {
        zlgi_cell *cell = &p->held->cells[i];
        if (cell->state != ZLGI_CELL_ENCODED && !is_partial(cell))
            continue;
        const zlg_encoded *chunk = &p->chunks[k++];
        bool is_own = is_partial(cell) && chunk->data && chunk->data != cell->data;
        if (is_own)
            zlgi_room_give(p->writer, (void *)(uintptr_t)chunk->data, chunk->n_bytes);
    }
}

/* ------------------------------------------------------------------ the engine */

static zlg_call make_call(putting *p)
{
    zlg_call call = p->held->fed->call;
    call.n_threads = 1;
    call.stats = &p->stats;
    return call;
}

static zlg_status put_chunks(putting *p)
{
    static const ptrdiff_t still[1] = {0};
    const zlgi_fed *fed = p->held->fed;
    zlg_existing existing = p->writer->options.existing;
    zlg_call call = make_call(p);
    const zlg_selection points = {.kind = ZLG_POINTS,
                                  .rank = fed->array->meta.rank,
                                  .coordinates = (const int64_t *const *)p->starts,
                                  .n_points = (int64_t)p->n};
    const zlgi_request request = {.source = &fed->array->source,
                                  .selection = &points,
                                  .memory = (uint8_t *)p->chunks, /* not used */
                                  .strides = still,
                                  .encoded = p->chunks,
                                  .promise = call.promise,
                                  .keep_empty = call.keep_empty > 0,
                                  .replace = p->is_alone,
                                  .create = p->creates,
                                  .skip_equal = existing == ZLG_EXISTING_SKIP_EQUAL};
    if (p->n == 0)
        return ZLG_OK;
    return zlgi_engine_write(&p->writer->ctx->engine, &request, 1, &call, p->err);
}

static zlg_status add_box(void *user, const zlgi_box *box, zlg_error *err)
{
    parts *q = user;
    int rank = box->rank;
    size_t n_axes = (size_t)ZLGI_MAX(rank, 1);
    zlg_axis *axes = zlgi_arena_get(q->arena, n_axes * sizeof *axes);
    ptrdiff_t *strides = zlgi_arena_get(q->arena, n_axes * sizeof *strides);
    zlg_selection *selection = zlgi_arena_get(q->arena, sizeof *selection);
    ptrdiff_t stride = (ptrdiff_t)q->fed->item, offset = 0;
    if (!axes || !strides || !selection)
        return zlgi_no_memory(err, n_axes * sizeof *axes);
    for (int i = rank - 1; i >= 0; i--) {
        axes[i] = (zlg_axis){
            .start = q->box.start[i] + box->start[i], .step = 1, .count = box->count[i]};
        strides[i] = stride;
        offset += (ptrdiff_t)box->start[i] * stride;
        stride *= (ptrdiff_t)q->box.shape[i];
    }
    *selection = (zlg_selection){.kind = ZLG_BOX, .rank = rank, .axes = axes};
    const zlgi_request request = {.source = &q->fed->array->source,
                                  .selection = selection,
                                  .memory = (uint8_t *)(uintptr_t)q->elements + offset,
                                  .strides = strides,
                                  .promise = q->fed->call.promise,
                                  .keep_empty = q->fed->call.keep_empty > 0,
                                  .skip_equal = q->skip_equal};
    return zlgi_buf_append(&q->requests, &request, sizeof request, err);
}

/* Of a chunk that reaches out, its elements in a block, and what of them is inside. */
static zlg_status add_inside(putting *p, parts *q, const zlgi_cell *cell, uint8_t *block)
{
    static const int64_t origin[ZLG_MAX_RANK] = {0};
    const zlgi_source *source = &p->held->fed->array->source;
    const zlgi_box inside = {
        .rank = source->grid.rank, .start = origin, .count = q->box.inside};
    const zlgi_bytes encoded = {.data = cell->is_absent ? NULL : cell->data,
                                .n = cell->n_bytes};
    ZLGI_TRY(zlgi_chunk_decode(&p->writer->ctx->engine, p->scratch, source, q->box.shape,
                               encoded, block, p->err));
    q->elements = block;
    return add_box(q, &inside, p->err);
}

static zlg_status add_elements(putting *p, parts *q, zlgi_buf *decoded)
{
    size_t used = 0;
    for (uint64_t i = 0; i < p->held->n_cells; i++) {
        const zlgi_cell *cell = &p->held->cells[i];
        zlgi_cell_locate(cell, &q->box);
        if (is_partial(cell)) {
            q->elements = cell->data;
            ZLGI_TRY(zlgi_given_boxes(&cell->given, q->fed->array->meta.rank, q->box.shape,
                                      add_box, q, p->err));
        } else if (reaches_out(cell, &q->box)) {
            ZLGI_TRY(add_inside(p, q, cell, decoded->data + used));
            used += q->box.n_bytes;
        }
    }
    return ZLG_OK;
}

/* What may be stored of these chunks stays, also what somebody else writes meanwhile. */
static zlg_status put_elements(putting *p)
{
    parts q = {.fed = p->held->fed,
               .arena = &p->arena,
               .skip_equal = p->writer->options.existing == ZLG_EXISTING_SKIP_EQUAL};
    zlgi_buf decoded;
    zlg_call call = make_call(p);
    zlgi_buf_init(&q.requests, &p->writer->ctx->alloc);
    zlgi_buf_init(&decoded, &p->writer->ctx->alloc);
    zlg_status status =
        zlgi_buf_reserve(&decoded, (size_t)n_bytes_reaching_out(p->held), false, p->err);
    if (status == ZLG_OK)
        status = add_elements(p, &q, &decoded);
    size_t n = q.requests.n / sizeof(zlgi_request);
    if (status == ZLG_OK && n > 0)
        status = zlgi_engine_write(&p->writer->ctx->engine,
                                   (const zlgi_request *)(const void *)q.requests.data, n,
                                   &call, p->err);
    zlgi_buf_reset(&decoded);
    zlgi_buf_reset(&q.requests);
    return status;
}

/* ------------------------------------------------------------------ the object */

static zlg_status put(putting *p)
{
    ZLGI_TRY(make_list(p));
    ZLGI_TRY(list_chunks(p));
    ZLGI_TRY(put_chunks(p));
    return p->is_alone ? ZLG_OK : put_elements(p);
}

static void count(zlg_writer *writer, const zlg_stats *stats)
{
    bool is_stored = stats->n_stored + stats->n_removed > 0;
    writer->counts.n_stored += is_stored;
    writer->counts.n_bytes_stored += stats->n_bytes_stored;
    writer->counts.n_opened += stats->n_opened;
    writer->counts.n_skipped += !is_stored && stats->n_equal > 0;
}

/* When it fails the object is put like others, and the error is that of this. */
static zlg_status put_staged(putting *p)
{
    zlg_writer *writer = p->writer;
    uint64_t n_bytes;
    pthread_mutex_unlock(&writer->lock);
    zlg_status status = zlgi_stage_put(
        p->held, p->scratch, p->creates ? ZLGI_CREATE : ZLGI_REPLACE, &n_bytes, NULL);
    pthread_mutex_lock(&writer->lock);
    if (status != ZLG_OK)
        return status;
    writer->counts.n_stored++;
    writer->counts.n_bytes_stored += n_bytes;
    return ZLG_OK;
}

static zlg_status put_in_one_go(putting *p)
{
    zlg_writer *writer = p->writer;
    zlgi_arena_init(&p->arena, &writer->ctx->alloc);
    p->n = 0;
    bool is_one = set_aside(p);
    zlg_status status = load(p);
    if (status == ZLG_OK) {
        pthread_mutex_unlock(&writer->lock);
        status = put(p);
        pthread_mutex_lock(&writer->lock);
        forget_chunks(p);
    }
    zlgi_room_use(writer, &p->aside, UINT64_MAX);
    if (is_one) {
        writer->is_loading = false;
        pthread_cond_broadcast(&writer->work); /* for those that waited for it */
    }
    zlgi_arena_reset(&p->arena);
    return status;
}

/* False: it is to be put in one go, now if nothing of it has to be read back. */
static bool put_by_file(putting *p)
{
    zlgi_held *held = p->held;
    if (!p->is_alone || held->in_one_go)
        return false;
    bool is_whole = zlgi_stage_is_whole(held) ||
                    (is_full(held) && zlgi_stage_in_order(p->writer, held));
    if (is_whole && put_staged(p) == ZLG_OK)
        return true;
    held->in_one_go = is_whole || held->n_staged > 0;
    return false;
}

/* What nobody can read is replaced, once all of the array's is there. */
static bool is_broken(const putting *p, zlg_status status)
{
    return status == ZLG_CORRUPT && p->held->found == ZLGI_FOUND_OTHERS && is_full(p->held);
}

/* Somebody else's object, or a leftover of rows that nobody knows? */
static zlg_status note_found(putting *p)
{
    if (is_new(p->held))
        ZLGI_TRY(zlgi_grow_check(p->writer, p->held->fed, p->err));
    p->held->found = is_new(p->held) ? ZLGI_FOUND_LEFTOVER : ZLGI_FOUND_OTHERS;
    return ZLG_OK;
}

zlg_status zlgi_held_put(zlg_writer *writer, zlgi_held *held, zlgi_scratch *scratch,
                         bool *out_again, zlg_error *err)
{
    putting p = {.writer = writer,
                 .held = held,
                 .scratch = scratch,
                 .is_alone = is_alone(writer, held),
                 .creates = creates(writer, held),
                 .stats = ZLG_STATS_INIT,
                 .err = err};
    bool was_in_one_go = held->in_one_go;
    p.creates = p.creates && p.is_alone;
    if (is_continued(held)) { /* others may take the room while this looks */
        ZLGI_TRY(zlgi_array_within(held->fed->array,
                                   zlgi_grow_check(writer, held->fed, err), err));
        *out_again = !zlgi_held_may_put(writer, held);
        if (*out_again)
            return ZLG_OK;
    }
    if (put_by_file(&p))
        return ZLG_OK;
    *out_again = held->in_one_go && !was_in_one_go;
    if (*out_again)
        return ZLG_OK;
    zlg_status status = put_in_one_go(&p);
    if (status == ZLG_EXISTS && p.creates &&
        writer->options.existing != ZLG_EXISTING_REFUSE) {
        status = note_found(&p);
        *out_again = status == ZLG_OK;
    } else if (is_broken(&p, status)) {
        held->found = ZLGI_FOUND_LEFTOVER;
        *out_again = true;
        status = ZLG_OK;
    }
    count(writer, &p.stats);
    return zlgi_array_within(held->fed->array, status, err);
}
