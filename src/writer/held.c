/*
 * held.c: objects that were touched and are not stored yet, found by their coordinates.
 */
#include "writer/writer.h"

/* ------------------------------------------------------------------ finding */

static uint64_t hash(const zlgi_fed *fed, const int64_t *coordinates)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (int i = 0; i < fed->array->meta.rank; i++) {
        h = (h ^ (uint64_t)coordinates[i]) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 29;
    }
    return h;
}

static size_t n_bytes_coordinates(const zlgi_fed *fed)
{
    return (size_t)fed->array->meta.rank * sizeof(int64_t);
}

zlgi_held *zlgi_held_find(zlgi_fed *fed, const int64_t *coordinates)
{
    if (fed->n_table == 0)
        return NULL;
    zlgi_held *held = fed->table[hash(fed, coordinates) & (fed->n_table - 1)];
    while (held && memcmp(held->coordinates, coordinates, n_bytes_coordinates(fed)) != 0)
        held = held->same_hash;
    return held;
}

static zlg_status grow_table(zlg_writer *writer, zlgi_fed *fed, zlg_error *err)
{
    enum { FIRST = 16 };
    const zlgi_alloc *alloc = &writer->ctx->alloc;
    size_t n = fed->n_table > 0 ? 2 * fed->n_table : FIRST;
    if (fed->n_held < fed->n_table)
        return ZLG_OK;
    zlgi_held **table = zlgi_new(alloc, n * sizeof *table);
    if (!table)
        return zlgi_no_memory(err, n * sizeof *table);
    for (size_t i = 0; i < fed->n_table; i++)
        for (zlgi_held *held = fed->table[i], *next; held; held = next) {
            zlgi_held **link = &table[hash(fed, held->coordinates) & (n - 1)];
            next = held->same_hash;
            held->same_hash = *link;
            *link = held;
        }
    if (fed->table)
        zlgi_free(alloc, fed->table, fed->n_table * sizeof *table);
    fed->table = table;
    fed->n_table = n;
    return ZLG_OK;
}

/* ------------------------------------------------------------------ making */

/* Cells of the object along an axis, and those that lie inside the array. */
static void count_cells(zlgi_held *held)
{
    const zlg_array *array = held->fed->array;
    held->n_cells = held->n_inside = 1;
    for (int i = 0; i < array->meta.rank; i++) {
        const zlgi_grid_axis *axis = &array->source.grid.axis[i];
        int64_t edge = zlgi_grid_edge(axis, held->coordinates[i]);
        int64_t start = zlgi_grid_start(axis, held->coordinates[i]);
        int64_t cell = array->sharded ? array->chunk_shape[i] : edge;
        int64_t inside = ZLGI_MIN(edge, axis->length - start);
        held->cell_grid[i] = edge / cell;
        held->n_cells *= (uint64_t)held->cell_grid[i];
        held->n_inside *= (uint64_t)((inside + cell - 1) / cell);
    }
}

static zlg_status make_cells(zlg_writer *writer, zlgi_held *held, zlg_error *err)
{
    size_t n_bytes = SIZE_MAX;
    if (zlgi_mul_size((size_t)held->n_cells, sizeof *held->cells, &n_bytes))
        held->cells = zlgi_new(&writer->ctx->alloc, n_bytes);
    if (!held->cells)
        return zlgi_no_memory(err, n_bytes);
    for (uint64_t i = 0; i < held->n_cells; i++)
        held->cells[i].held = held;
    held->state = ZLGI_HELD_OPEN;
    return ZLG_OK;
}

static zlg_status make_held(zlg_writer *writer, zlgi_fed *fed, const int64_t *coordinates,
                            zlgi_held **out, zlg_error *err)
{
    size_t n_bytes = sizeof(zlgi_held) + n_bytes_coordinates(fed);
    ZLGI_TRY(grow_table(writer, fed, err));
    zlgi_held *held = zlgi_new(&writer->ctx->alloc, n_bytes);
    if (!held)
        return zlgi_no_memory(err, n_bytes);
    held->fed = fed;
    memcpy(held->coordinates, coordinates, n_bytes_coordinates(fed));
    count_cells(held);
    zlg_status status = make_cells(writer, held, err);
    if (status != ZLG_OK) {
        zlgi_free(&writer->ctx->alloc, held, n_bytes);
        return status;
    }
    zlgi_held **link = &fed->table[hash(fed, coordinates) & (fed->n_table - 1)];
    held->same_hash = *link;
    *link = held;
    fed->n_held++;
    *out = held;
    return ZLG_OK;
}

zlg_status zlgi_held_get(zlg_writer *writer, zlgi_fed *fed, const int64_t *coordinates,
                         zlgi_held **out, zlg_error *err)
{
    *out = zlgi_held_find(fed, coordinates);
    if (!*out)
        return make_held(writer, fed, coordinates, out, err);
    return (*out)->state == ZLGI_HELD_DONE ? make_cells(writer, *out, err) : ZLG_OK;
}

/* ------------------------------------------------------------------ letting go */

static void free_cells(zlg_writer *writer, zlgi_held *held)
{
    const zlgi_alloc *alloc = &writer->ctx->alloc;
    for (uint64_t i = 0; held->cells && i < held->n_cells; i++) {
        zlgi_cell *cell = &held->cells[i];
        while (cell->first_loan) {
            zlgi_loan *loan = cell->first_loan;
            cell->first_loan = loan->next;
            zlgi_loan_end(writer, loan);
        }
        zlgi_cell_drop(writer, cell);
        zlgi_cell_forget(writer, cell);
    }
    if (held->cells)
        zlgi_free(alloc, held->cells, (size_t)held->n_cells * sizeof *held->cells);
    held->cells = NULL;
    zlgi_stage_end(writer, held);
    held->n_done = held->n_dirty = held->n_kept = 0;
}

/* What was given up is never stored: such a ticket stays. */
static void free_tickets(zlg_writer *writer, zlgi_held *held)
{
    for (size_t i = 0; i < held->n_tickets; i++) {
        zlgi_ticket *ticket = held->tickets[i];
        ticket->n_held -= writer->state != ZLGI_WRITER_ABORTED;
        zlgi_ticket_settle(writer, ticket);
    }
    if (held->tickets)
        zlgi_free(&writer->ctx->alloc, held->tickets,
                  held->n_tickets_room * sizeof(zlgi_ticket *));
    held->tickets = NULL;
    held->n_tickets = held->n_tickets_room = 0;
}

static void want_no_more(zlg_writer *writer, zlgi_held *held)
{
    writer->n_wanted -= held->is_wanted;
    held->is_wanted = false;
}

void zlgi_held_free(zlg_writer *writer, zlgi_held *held)
{
    zlgi_fed *fed = held->fed;
    zlgi_held **link = &fed->table[hash(fed, held->coordinates) & (fed->n_table - 1)];
    while (*link != held)
        link = &(*link)->same_hash;
    *link = held->same_hash;
    fed->n_held--;
    want_no_more(writer, held);
    free_cells(writer, held);
    free_tickets(writer, held);
    zlgi_kept_free(held->kept, &writer->ctx->alloc);
    zlgi_free(&writer->ctx->alloc, held, sizeof *held + n_bytes_coordinates(fed));
}

/* ------------------------------------------------------------------ its way */

void zlgi_held_settle(zlg_writer *writer, zlgi_held *held)
{
    bool is_full = held->n_done == held->n_inside;
    if (held->state != ZLGI_HELD_OPEN || held->n_busy > 0 || held->n_dirty == 0 ||
        !(is_full || held->is_wanted))
        return;
    held->state = ZLGI_HELD_READY;
    held->next_ready = NULL;
    *(writer->first_ready ? &writer->last_ready->next_ready : &writer->first_ready) = held;
    writer->last_ready = held;
    pthread_cond_signal(&writer->work);
}

void zlgi_held_want(zlg_writer *writer, zlgi_held *held)
{
    bool is_kept = held->n_kept == held->n_dirty && zlgi_kept_suits(writer, held);
    if (is_kept || held->n_dirty == 0 || held->is_wanted || held->state == ZLGI_HELD_FAILED)
        return;
    held->is_wanted = true;
    writer->n_wanted++;
    zlgi_held_settle(writer, held);
}

static void leave_queue(zlg_writer *writer, zlgi_held *held)
{
    zlgi_held *before = NULL, *at = writer->first_ready;
    while (at != held) {
        before = at;
        at = at->next_ready;
    }
    *(before ? &before->next_ready : &writer->first_ready) = held->next_ready;
    if (writer->last_ready == held)
        writer->last_ready = before;
}

void zlgi_held_fail(zlg_writer *writer, zlgi_held *held, const zlg_error *error)
{
    zlgi_fed_fail(held->fed, error);
    if (held->state == ZLGI_HELD_FAILED)
        return;
    if (held->state == ZLGI_HELD_READY) /* more of it came, which cannot be encoded */
        leave_queue(writer, held);
    held->state = ZLGI_HELD_FAILED;
    want_no_more(writer, held);
    held->fed->n_failed++;
    for (size_t i = 0; i < held->n_tickets; i++) {
        held->tickets[i]->n_failed++;
        held->tickets[i]->failed = held->fed;
    }
}

void zlgi_held_kept(zlg_writer *writer, zlgi_held *held)
{
    want_no_more(writer, held);
    held->state = ZLGI_HELD_OPEN;
    writer->counts.n_bytes_queued -= held->n_bytes_given;
    held->n_bytes_given = 0;
    writer->room.is_stuck = false; /* what it has in memory can be let go */
    free_tickets(writer, held);
}

static void cell_stored(zlg_writer *writer, zlgi_cell *cell)
{
    if (cell->state == ZLGI_CELL_FILLING && !cell->is_clean) {
        cell->is_clean = true;
        cell->held->n_dirty--;
    }
    if (cell->state != ZLGI_CELL_ENCODED)
        return;
    zlgi_cell_drop(writer, cell);
    zlgi_cell_forget(writer, cell);
    cell->state = ZLGI_CELL_STORED;
    cell->held->n_dirty--;
}

void zlgi_held_stored(zlg_writer *writer, zlgi_held *held)
{
    bool is_full = held->n_done == held->n_inside || zlgi_grow_is_given(held);
    zlg_existing existing = writer->options.existing;
    if (is_full)
        zlgi_grow_note(held);
    held->is_mine = true;
    held->found = ZLGI_FOUND_NOTHING;
    held->in_one_go = false;
    want_no_more(writer, held);
    held->state = ZLGI_HELD_OPEN;
    writer->counts.n_bytes_queued -= held->n_bytes_given;
    writer->counts.n_partial += !is_full;
    held->n_bytes_given = 0;
    for (uint64_t i = 0; i < held->n_cells; i++)
        cell_stored(writer, &held->cells[i]);
    zlgi_stage_end(writer, held);
    free_tickets(writer, held);
    /* Who does not look at what is stored must remember what is its own. */
    bool forgets = existing == ZLG_EXISTING_MERGE || existing == ZLG_EXISTING_SKIP_EQUAL;
    if (is_full && forgets && held->fed->growth.axis < 0) {
        zlgi_held_free(writer, held);
    } else if (is_full) {
        free_cells(writer, held);
        held->state = ZLGI_HELD_DONE;
    }
}
