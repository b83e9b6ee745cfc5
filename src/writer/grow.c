/*
 * grow.c: arrays that get longer while they are written. The document states a length only
 * when all rows below it are stored, so that a reader meets whole rows and none that is
 * missing.
 */
#include "writer/writer.h"

/* More rows than anybody has, but few enough that objects can be numbered. */
static int64_t endless(const zlgi_fed *fed, int axis)
{
    const zlgi_grid *grid = &fed->plain->source.grid;
    int64_t rows = INT64_C(1) << 60;
    for (int i = 0; i < grid->rank; i++)
        if (i != axis)
            rows /= ZLGI_MAX(grid->axis[i].n_chunks, 1);
    int64_t edge = grid->axis[axis].chunk;
    return ZLGI_MAX(rows / edge * edge, edge);
}

/* One writer appends at a time, and has the objects beyond the end and the end itself. */
static zlg_status take_end(zlg_writer *writer, zlgi_fed *fed, int axis, zlg_error *err)
{
    const zlg_array *plain = fed->plain;
    zlgi_claims *claims = &writer->ctx->claims;
    zlgi_claim *claim = &fed->claim;
    bool was_taken = claim->is_taken;
    if (!was_taken) {
        *claim = zlgi_claim_of(plain->store, plain->path, plain->meta.rank, writer);
        for (int i = 0; i < plain->meta.rank; i++)
            claim->last[i] = INT64_MAX;
        claim->first[axis] = plain->meta.shape[axis] / plain->object_shape[axis];
        if (zlgi_claim_take(claims, claim, NULL) != ZLG_OK)
            return zlgi_fail(err, ZLG_EXISTS, "another writer appends to it");
    }
    zlg_status status =
        zlgi_end_take(plain->store, plain->path, ZLGI_END_ALONE, &fed->growth.hold, err);
    if (status != ZLG_OK && !was_taken)
        zlgi_claim_give(claims, claim);
    return status;
}

void zlgi_grow_end(zlg_writer *writer, zlgi_fed *fed)
{
    zlgi_claim_give(&writer->ctx->claims, &fed->claim);
    zlgi_end_give(&writer->ctx->claims, &fed->growth.hold);
}

zlg_status zlgi_grow_start(zlg_writer *writer, zlgi_fed *fed, int axis, zlg_error *err)
{
    zlgi_growth *growth = &fed->growth;
    const zlg_array *plain = fed->plain;
    if (axis < 0 || axis >= plain->meta.rank)
        return zlgi_fail(err, ZLG_USAGE, "axis %d of an array with %d", axis,
                         plain->meta.rank);
    if (growth->axis >= 0 && growth->axis != axis)
        return zlgi_fail(err, ZLG_USAGE, "it grows along axis %d already", growth->axis);
    if (growth->axis >= 0)
        return ZLG_OK;
    if (plain->source.grid.axis[axis].chunk == 0)
        return zlgi_fail(err, ZLG_UNSUPPORTED, "a rectilinear axis does not grow");
    int64_t length = plain->source.grid.axis[axis].length;
    ZLGI_TRY(take_end(writer, fed, axis, err));
    growth->axis = axis;
    growth->first = growth->published = growth->stating = growth->flushed = length;
    growth->next = growth->taken = length;
    growth->slab = length / plain->object_shape[axis];
    growth->n_others = 1;
    for (int i = 0; i < plain->meta.rank; i++)
        if (i != axis)
            growth->n_others *= (uint64_t)plain->source.grid.axis[i].n_chunks;
    fed->array->source.grid.axis[axis] =
        zlgi_grid_regular(endless(fed, axis), plain->object_shape[axis]);
    fed->array->meta.shape[axis] = fed->array->source.grid.axis[axis].length;
    return ZLG_OK;
}

/* ------------------------------------------------------------------ slabs */

static uint64_t *stored_of(zlgi_growth *growth, int64_t slab)
{
    size_t i = (size_t)(slab - growth->slab), n_bytes = (i + 1) * sizeof(uint64_t);
    zlgi_buf *stored = &growth->stored;
    if (slab < growth->slab)
        return NULL;
    if (stored->n < n_bytes) {
        if (zlgi_buf_reserve(stored, 2 * n_bytes, true, NULL) != ZLG_OK)
            return NULL; /* the rows are known at the next flush */
        memset(stored->data + stored->n, 0, n_bytes - stored->n);
        stored->n = n_bytes;
    }
    return (uint64_t *)(void *)stored->data + i;
}

bool zlgi_grow_is_given(const zlgi_held *held)
{
    const zlgi_growth *growth = &held->fed->growth;
    if (growth->axis < 0)
        return false;
    int64_t edge = held->fed->plain->object_shape[growth->axis];
    return growth->taken >= (held->coordinates[growth->axis] + 1) * edge;
}

/* Objects of the first slab that nothing more will be given to, and that may not become
 * full. */
static void ask_first(zlg_writer *writer, zlgi_fed *fed)
{
    zlgi_growth *growth = &fed->growth;
    int64_t slab = growth->slab;
    if (growth->asked > slab ||
        growth->taken < (slab + 1) * fed->plain->object_shape[growth->axis])
        return;
    growth->asked = slab + 1;
    for (size_t i = 0; i < fed->n_table; i++)
        for (zlgi_held *held = fed->table[i]; held; held = held->same_hash) {
            if (held->coordinates[growth->axis] != slab)
                continue;
            if (held->n_dirty == 0)
                zlgi_grow_note(held);
            zlgi_held_want(writer, held);
        }
}

void zlgi_grow_note(zlgi_held *held)
{
    zlgi_growth *growth = &held->fed->growth;
    if (growth->axis < 0 || held->is_counted)
        return;
    held->is_counted = true;
    uint64_t *n = stored_of(growth, held->coordinates[growth->axis]);
    if (n)
        ++*n;
    size_t i = 0, n_slabs = growth->stored.n / sizeof *n;
    const uint64_t *counts = (const uint64_t *)(const void *)growth->stored.data;
    while (i < n_slabs && counts[i] == growth->n_others)
        i++;
    growth->slab += (int64_t)i;
    growth->stored.n -= i * sizeof *n;
    if (i > 0 && growth->stored.n > 0)
        memmove(growth->stored.data, growth->stored.data + i * sizeof *n, growth->stored.n);
}

/* ------------------------------------------------------------------ the document */

/* Rows below which all is stored, and taken: of an append that fails none are known. */
static int64_t known_rows(const zlgi_fed *fed)
{
    const zlgi_growth *growth = &fed->growth;
    int64_t rows = growth->slab * fed->plain->object_shape[growth->axis];
    return ZLGI_MIN(ZLGI_MAX(rows, growth->flushed), growth->taken);
}

static zlg_status fail_changed(int axis, int64_t length, int64_t published, zlg_error *err)
{
    return zlgi_fail(err, ZLG_EXISTS,
                     "axis %d is %lld long by now, not %lld: somebody else changed it",
                     axis, (long long)length, (long long)published);
}

/* Along the other axes it is as it was added. */
static zlg_status check_others(const zlgi_fed *fed, const int64_t *shape, zlg_error *err)
{
    const int64_t *added = fed->plain->meta.shape;
    for (int i = 0; i < fed->plain->meta.rank; i++)
        if (i != fed->growth.axis && shape[i] != added[i])
            return fail_changed(i, shape[i], added[i], err);
    return ZLG_OK;
}

/* Is the shape in the document ours, or has somebody else changed it? */
zlg_status zlgi_grow_check(zlg_writer *writer, const zlgi_fed *fed, zlg_error *err)
{
    const zlgi_growth *growth = &fed->growth;
    const zlg_array *plain = fed->plain;
    zlg_array *now;
    int64_t published = growth->published;
    pthread_mutex_unlock(&writer->lock);
    zlg_status status = zlg_array_open(plain->store, plain->path, NULL, &now, err);
    pthread_mutex_lock(&writer->lock);
    if (status != ZLG_OK)
        return status;
    bool is_alike = now->meta.rank == plain->meta.rank;
    int64_t length = is_alike ? now->meta.shape[growth->axis] : -1;
    if (length != published && length != growth->stating)
        status = fail_changed(growth->axis, length, published, err);
    else
        status = check_others(fed, now->meta.shape, err);
    zlg_array_close(now);
    return status;
}

typedef struct publishing {
    const zlgi_fed *fed;
    int64_t published, rows;
} publishing;

static zlg_status change_shape(void *user, const zlgi_json *document, zlgi_arena *arena,
                               zlgi_buf *out, zlg_error *err)
{
    const publishing *p = user;
    const zlg_array *plain = p->fed->plain;
    int axis = p->fed->growth.axis;
    int64_t shape[ZLG_MAX_RANK];
    zlg_array *grown;
    ZLGI_TRY(zlgi_array_stored_shape(plain, document, shape, err));
    if (shape[axis] != p->published)
        return fail_changed(axis, shape[axis], p->published, err);
    ZLGI_TRY(check_others(p->fed, shape, err));
    shape[axis] = p->rows;
    ZLGI_TRY(zlgi_array_reshape(plain, document, shape, arena, out, &grown, err));
    zlg_array_close(grown);
    return ZLG_OK;
}

static zlg_status state_rows(publishing *p, zlg_error *err)
{
    const zlg_array *plain = p->fed->plain;
    zlg_call call = p->fed->call;
    zlgi_patience patience;
    zlgi_patience_init(&patience, &call);
    zlgi_turns *turns = &plain->store->ctx->turns;
    zlgi_turn turn = {.store = plain->store, .path = plain->path};
    const zlgi_document_edit edit = {.path = plain->path,
                                     .name = zlgi_array_document(plain),
                                     .promise = call.promise,
                                     .patience = &patience,
                                     .change = change_shape,
                                     .user = p,
                                     .in_turn = true};
    ZLGI_TRY(zlgi_turn_take(turns, &turn, &patience, err));
    zlg_status status = zlgi_document_change(plain->store, &edit, err);
    zlgi_turn_give(turns, &turn);
    return zlgi_array_within(plain, status, err);
}

static void note_failure(zlgi_fed *fed, bool failed, const zlg_error *err)
{
    zlgi_growth *growth = &fed->growth;
    if (failed)
        zlgi_fed_fail(fed, err);
    if (failed != growth->has_failed)
        fed->n_failed += failed ? 1 : -(size_t)1;
    growth->has_failed = failed;
}

void zlgi_grow_publish(zlg_writer *writer, zlgi_fed *fed)
{
    zlgi_growth *growth = &fed->growth;
    zlg_error err;
    if (growth->is_publishing)
        return; /* whoever does looks again */
    growth->is_publishing = true;
    zlg_status status = ZLG_OK;
    while (status == ZLG_OK && growth->published < known_rows(fed)) {
        publishing p = {
            .fed = fed, .published = growth->published, .rows = known_rows(fed)};
        growth->stating = p.rows;
        pthread_mutex_unlock(&writer->lock);
        status = state_rows(&p, &err);
        pthread_mutex_lock(&writer->lock);
        if (status == ZLG_OK)
            growth->published = p.rows;
        writer->counts.n_shapes += status == ZLG_OK;
    }
    growth->is_publishing = false;
    note_failure(fed, status != ZLG_OK, &err);
    zlgi_writer_changed(writer);
}

/* ------------------------------------------------------------------ zellige_writer.h */

/* Rows that were not taken are none, in coarser arrays neither. */
static void go_back(zlg_writer *writer, zlgi_fed *fed, int64_t rows)
{
    if (fed->growth.axis < 0)
        return;
    fed->growth.next = ZLGI_MIN(fed->growth.next, rows);
    for (const zlgi_coarser *c = fed->coarser; c; c = c->next)
        go_back(writer, writer->fed[c->number], rows / c->factors[fed->growth.axis]);
}

/* An append has returned: its rows count, in coarser arrays too. Of many rows some may be
 * stored by now. */
static void note_taken(zlg_writer *writer, zlgi_fed *fed)
{
    fed->growth.taken = fed->growth.next;
    ask_first(writer, fed);
    zlgi_grow_publish(writer, fed);
    for (const zlgi_coarser *c = fed->coarser; c; c = c->next)
        note_taken(writer, writer->fed[c->number]);
}

/* A stream that comes faster than it is encoded waits a little at each append: with half
 * of the memory for data in use, until twice as much as it brings has gone to be encoded.
 * When all is in use it would wait long at some, and no memory is left to be used again.
 * Who says how long to wait is not held back. */
static zlg_status keep_pace(zlg_writer *writer, uint64_t n_bytes, zlgi_patience *patience,
                            zlg_error *err)
{
    const zlgi_room *room = &writer->room;
    uint64_t queued = writer->n_bytes_to_encode, half = (room->budget - room->base) / 2;
    uint64_t goal = queued / 2 > n_bytes ? queued - 2 * n_bytes : 0;
    uint64_t begin = zlgi_now_ns();
    zlg_status status = ZLG_OK;
    while (patience->call->deadline_ms == 0 && writer->state == ZLGI_WRITER_OPEN &&
           room->live - room->base > half && writer->n_bytes_to_encode > goal &&
           status == ZLG_OK)
        status = zlgi_writer_wait(writer, patience, err);
    writer->counts.ns_waited += zlgi_now_ns() - begin;
    return status;
}

static zlg_status append(zlg_writer *writer, int number, int axis, int64_t n,
                         const zlg_source *source, zlgi_patience *patience,
                         int64_t *out_first, zlg_ticket *out, zlg_error *err)
{
    int64_t start[ZLG_MAX_RANK] = {0}, count[ZLG_MAX_RANK], end = 0;
    if (number < 0 || number >= writer->n_fed)
        return zlgi_fail(err, ZLG_USAGE, "array %d was not added", number);
    zlgi_fed *fed = writer->fed[number];
    zlgi_growth *growth = &fed->growth;
    zlg_status status = zlgi_grow_start(writer, fed, axis, err);
    if (status == ZLG_OK && (n < 0 || !zlgi_add_i64(growth->next, n, &end) ||
                             end > fed->array->source.grid.axis[axis].length))
        status = zlgi_fail(err, ZLG_USAGE, "%lld to append", (long long)n);
    if (status != ZLG_OK)
        return zlgi_array_within(fed->array, status, err);
    for (int i = 0; i < fed->array->meta.rank; i++)
        count[i] = fed->array->source.grid.axis[i].length;
    start[axis] = growth->next;
    count[axis] = n;
    const zlgi_box rows = {.rank = fed->array->meta.rank, .count = count};
    status = keep_pace(writer, zlgi_box_elements(&rows) * fed->item, patience, err);
    if (status != ZLG_OK)
        return zlgi_array_within(fed->array, status, err);
    const zlg_submit part = {
        .array = number, .start = start, .count = count, .source = *source};
    growth->next = end;
    status = zlgi_submit(writer, &part, 1, patience, out, err);
    if (status != ZLG_OK)
        go_back(writer, fed, start[axis]);
    else
        note_taken(writer, fed);
    if (status == ZLG_OK && out_first)
        *out_first = start[axis];
    return status;
}

zlg_status zlg_writer_append(zlg_writer *writer, int array, int axis, int64_t n,
                             const zlg_source *source, const zlg_call *given,
                             int64_t *out_first, zlg_ticket *out, zlg_error *err)
{
    zlg_call call;
    zlgi_patience patience;
    if (out)
        *out = 0;
    ZLGI_TRY(zlgi_writer_enter_for(writer, given, &call, &patience, err));
    zlg_status status = zlgi_turn_of_submits(writer, &patience, err);
    if (status == ZLG_OK) {
        status = append(writer, array, axis, n, source, &patience, out_first, out, err);
        zlgi_end_of_submit(writer);
    }
    zlgi_writer_leave(writer);
    return status;
}
