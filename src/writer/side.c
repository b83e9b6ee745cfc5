/*
 * side.c: chunks that the budget cannot hold, in a file without a name: it is gone when the
 * writer is. Places in it are taken anew when none is in use.
 */
#include "writer/writer.h"

/* So much is let go at once: a part of the budget. */
enum { SPILLED_PART = 8 };

zlg_status zlgi_side_open(zlg_writer *writer, const char *directory, zlg_error *err)
{
    if (writer->side.fd >= 0)
        return ZLG_OK;
    return zlgi_file_open_nameless(directory, &writer->side.fd, err);
}

void zlgi_side_close(zlg_writer *writer)
{
    if (writer->side.fd >= 0)
        zlgi_file_close(writer->side.fd);
    writer->side.fd = -1;
}

void zlgi_side_forget(zlg_writer *writer, zlgi_cell *cell)
{
    cell->is_spilled = false;
    if (!cell->kept && --writer->side.n_cells == 0)
        writer->side.end = 0;
}

/* ------------------------------------------------------------------ out */

/* Without a file, what need not be kept. */
static bool may_spill(const zlg_writer *writer, const zlgi_cell *cell)
{
    bool is_filling = cell->state == ZLGI_CELL_FILLING;
    return cell->data && !cell->is_busy && !cell->is_queued &&
           (is_filling || cell->state == ZLGI_CELL_ENCODED) &&
           (writer->side.fd >= 0 || cell->kept || (is_filling && cell->is_clean));
}

static bool has_spillable(const zlg_writer *writer, const zlgi_held *held)
{
    if (held->state == ZLGI_HELD_STORING || held->n_bytes == 0)
        return false;
    for (uint64_t i = 0; i < held->n_cells; i++)
        if (may_spill(writer, &held->cells[i]))
            return true;
    return false;
}

/* a is further from being full than b. */
static bool is_emptier(const zlgi_held *a, const zlgi_held *b)
{
    return (double)a->n_done * (double)b->n_inside <
           (double)b->n_done * (double)a->n_inside;
}

static zlgi_held *choose(const zlg_writer *writer, const zlgi_held *except)
{
    zlgi_held *best = NULL;
    for (int i = 0; i < writer->n_fed; i++) {
        const zlgi_fed *fed = writer->fed[i];
        for (size_t k = 0; k < fed->n_table; k++)
            for (zlgi_held *held = fed->table[k]; held; held = held->same_hash)
                if (held != except && (!best || is_emptier(held, best)) &&
                    has_spillable(writer, held))
                    best = held;
    }
    return best;
}

/* What was given to it is stored: nothing need be kept. */
static void drop_clean(zlg_writer *writer, zlgi_cell *cell)
{
    zlgi_cell_drop(writer, cell);
    zlgi_cell_forget(writer, cell);
    cell->state = ZLGI_CELL_EMPTY;
    cell->is_clean = false;
}

/* It is in memory no more. */
static void let_go(zlg_writer *writer, zlgi_cell *cell, size_t n_given)
{
    zlgi_cell_free_block(writer, cell);
    if (n_given > 0) {
        zlgi_room_give(writer, cell->given.data, n_given);
        cell->given.data = NULL;
    }
    cell->is_spilled = true;
}

bool zlgi_side_move(zlg_writer *writer, zlgi_cell *cell)
{
    zlgi_side *side = &writer->side;
    uint64_t at = side->end;
    if (cell->state == ZLGI_CELL_FILLING && cell->is_clean) {
        drop_clean(writer, cell);
        return true;
    }
    size_t n_given = zlgi_cell_given_bytes(cell);
    if (cell->kept && cell->held->state != ZLGI_HELD_STORING) {
        let_go(writer, cell, n_given);
        return true;
    }
    if (side->fd < 0)
        return false;
    zlgi_kept_forget(cell);               /* its file goes when it is stored */
    side->end += cell->n_bytes + n_given; /* bits lie behind the elements */
    side->n_cells++;
    zlgi_cell_busy(cell, true);
    pthread_mutex_unlock(&writer->lock);
    zlg_error error;
    zlg_status status = zlgi_file_write_at(side->fd, cell->data, cell->n_bytes, at, &error);
    if (status == ZLG_OK && n_given > 0)
        status = zlgi_file_write_at(side->fd, cell->given.data, n_given, at + cell->n_bytes,
                                    &error);
    pthread_mutex_lock(&writer->lock);
    zlgi_cell_busy(cell, false);
    side->has_failed = status != ZLG_OK;
    if (status != ZLG_OK) {
        side->error = error;
        zlgi_side_forget(writer, cell);
        return false;
    }
    let_go(writer, cell, n_given);
    cell->side_at = at;
    writer->counts.n_spilled++;
    writer->counts.n_bytes_spilled += cell->n_bytes;
    return true;
}

bool zlgi_side_spill(zlg_writer *writer, uint64_t n_bytes, const zlgi_held *except)
{
    uint64_t begin = writer->room.live;
    uint64_t wanted = ZLGI_MAX(n_bytes, writer->room.budget / SPILLED_PART);
    bool any = false;
    while (begin - ZLGI_MIN(begin, writer->room.live) < wanted) {
        zlgi_held *held = choose(writer, except);
        bool some = false;
        for (uint64_t i = 0; held && held->cells && i < held->n_cells; i++)
            if (may_spill(writer, &held->cells[i]))
                some = zlgi_side_move(writer, &held->cells[i]) || some;
        if (!some)
            break;
        any = true;
        zlgi_held_settle(writer, held);
    }
    return any;
}

/* ------------------------------------------------------------------ and back */

zlg_status zlgi_side_read(const zlg_writer *writer, const zlgi_cell *cell, uint8_t *data,
                          uint8_t *bits, zlg_error *err)
{
    if (cell->kept && !cell->is_staged)
        return zlgi_kept_read_cell(writer, cell, data, bits, err);
    int file = cell->is_staged ? cell->held->file : writer->side.fd;
    ZLGI_TRY(zlgi_file_read_at(file, data, cell->n_bytes, cell->side_at, err));
    if (!bits)
        return ZLG_OK;
    return zlgi_file_read_at(file, bits, cell->given.n_bytes, cell->side_at + cell->n_bytes,
                             err);
}

zlg_status zlgi_side_load(zlg_writer *writer, zlgi_cell *cell, uint64_t *aside,
                          zlg_error *err)
{
    if (aside)
        zlgi_room_use(writer, aside, cell->n_bytes);
    else if (!zlgi_room_has(writer, cell->n_bytes))
        zlgi_side_spill(writer, cell->n_bytes, cell->held);
    uint8_t *data = zlgi_room_take(writer, cell->n_bytes);
    if (!data)
        return zlgi_no_memory(err, cell->n_bytes);
    zlgi_given *given = &cell->given;
    bool has_bits = given->kind == ZLGI_GIVEN_BITS && !given->data;
    uint8_t *bits = has_bits ? zlgi_room_take(writer, given->n_bytes) : NULL;
    pthread_mutex_unlock(&writer->lock);
    zlg_status status = has_bits && !bits ? zlgi_no_memory(err, given->n_bytes)
                                          : zlgi_side_read(writer, cell, data, bits, err);
    pthread_mutex_lock(&writer->lock);
    if (status != ZLG_OK) {
        zlgi_room_give(writer, data, cell->n_bytes);
        if (bits)
            zlgi_room_give(writer, bits, given->n_bytes);
        return status;
    }
    if (bits)
        given->data = bits;
    cell->data = data;
    cell->n_charged = cell->n_bytes;
    cell->held->n_bytes += cell->n_bytes;
    if (cell->is_spilled)
        zlgi_side_forget(writer, cell);
    if (cell->is_staged) { /* its place was that one, in no kept file */
        zlgi_kept_forget(cell);
        cell->held->n_staged--;
        cell->is_staged = false;
    }
    writer->counts.n_unspilled++;
    return ZLG_OK;
}
