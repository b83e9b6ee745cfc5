/*
 * cell.c: an innermost chunk while its elements come: copied, encoded, decoded again when
 * more of it comes after that.
 */
#include "writer/writer.h"

void zlgi_cell_locate(const zlgi_cell *cell, zlgi_cell_box *out)
{
    const zlgi_held *held = cell->held;
    const zlg_array *array = held->fed->array;
    uint64_t i_cell = (uint64_t)(cell - held->cells);
    out->n_inside = 1;
    out->n_bytes = held->fed->item;
    for (int i = array->meta.rank - 1; i >= 0; i--) {
        const zlgi_grid_axis *axis = &array->source.grid.axis[i];
        uint64_t n = (uint64_t)held->cell_grid[i];
        int64_t edge = zlgi_grid_edge(axis, held->coordinates[i]);
        out->shape[i] = array->sharded ? array->chunk_shape[i] : edge;
        out->start[i] = zlgi_grid_start(axis, held->coordinates[i]) +
                        (int64_t)(i_cell % n) * out->shape[i];
        i_cell /= n;
        int64_t inside = ZLGI_MIN(out->shape[i], axis->length - out->start[i]);
        out->inside[i] = ZLGI_MAX(inside, 0);
        out->n_inside *= (uint64_t)out->inside[i];
        out->n_bytes *= (size_t)out->shape[i];
    }
}

/* ------------------------------------------------------------------ memory */

void zlgi_cell_charge(zlg_writer *writer, zlgi_cell *cell, size_t n_bytes)
{
    if (n_bytes > cell->n_charged) {
        zlgi_room_charge(writer, n_bytes - cell->n_charged);
        cell->n_charged = n_bytes;
    }
}

size_t zlgi_cell_extent(const zlgi_cell *cell, const zlgi_cell_box *box,
                        const zlgi_box *piece)
{
    size_t n = 0, item = cell->held->fed->item;
    if (cell->given.n + zlgi_box_elements(piece) >= box->n_inside)
        return box->n_bytes;
    for (int i = 0; i < piece->rank; i++)
        n = n * (size_t)box->shape[i] + (size_t)(piece->start[i] + piece->count[i] - 1);
    return (n + 1) * item;
}

void zlgi_cell_free_block(zlg_writer *writer, zlgi_cell *cell)
{
    if (!cell->data)
        return;
    zlgi_room_release(writer, cell->n_charged);
    zlgi_room_unblock(writer, cell->data, cell->n_bytes);
    cell->held->n_bytes -= cell->n_bytes;
    cell->n_charged = 0;
    cell->data = NULL;
}

static void set_block(zlgi_cell *cell, uint8_t *data, size_t n_bytes, size_t n_charged)
{
    cell->data = data;
    cell->n_bytes = n_bytes;
    cell->n_charged = n_charged;
    cell->held->n_bytes += n_bytes;
}

void zlgi_cell_drop(zlg_writer *writer, zlgi_cell *cell)
{
    if (cell->is_spilled)
        zlgi_side_forget(writer, cell);
    cell->held->n_staged -= cell->is_staged;
    cell->is_staged = false;
    zlgi_cell_free_block(writer, cell);
    zlgi_room_release(writer, cell->n_reserved);
    cell->n_bytes = cell->n_reserved = 0;
    cell->is_absent = false;
}

/* In place of what was reserved. */
static zlg_status take_block(zlg_writer *writer, zlgi_cell *cell, size_t n_bytes,
                             zlg_error *err)
{
    zlgi_room_release(writer, cell->n_reserved);
    cell->n_reserved = 0;
    uint8_t *data = zlgi_room_take(writer, n_bytes);
    if (!data)
        return zlgi_no_memory(err, n_bytes);
    set_block(cell, data, n_bytes, n_bytes);
    return ZLG_OK;
}

/* A block that was worked with in place of the one that it has. */
static void swap_block(zlg_writer *writer, zlgi_cell *cell, uint8_t *data, size_t n_bytes)
{
    zlgi_cell_drop(writer, cell);
    zlgi_room_work_kept(writer, n_bytes);
    set_block(cell, data, n_bytes, n_bytes);
}

/* ------------------------------------------------------------------ its way */

void zlgi_cell_queue(zlg_writer *writer, zlgi_cell *cell)
{
    pthread_cond_signal(&writer->work);
    if (cell->is_queued)
        return;
    cell->is_queued = true;
    writer->n_bytes_to_encode += cell->held->fed->n_bytes_cell;
    cell->held->n_busy++;
    cell->next = NULL;
    *(writer->first_cell ? &writer->last_cell->next : &writer->first_cell) = cell;
    writer->last_cell = cell;
}

void zlgi_cell_busy(zlgi_cell *cell, bool is_busy)
{
    cell->is_busy = is_busy;
    cell->held->n_busy += is_busy ? 1 : -UINT64_C(1);
}

/* ------------------------------------------------------------------ pieces */

static zlg_status decode(zlg_writer *writer, zlgi_cell *cell, const zlgi_cell_box *box,
                         zlg_error *err)
{
    const zlgi_source *source = &cell->held->fed->array->source;
    if (cell->is_spilled || cell->is_staged)
        ZLGI_TRY(zlgi_side_load(writer, cell, NULL, err));
    uint8_t *elements = zlgi_room_work(writer, box->n_bytes);
    if (!elements)
        return zlgi_no_memory(err, box->n_bytes);
    zlgi_bytes encoded = {.data = cell->data, .n = cell->n_bytes};
    pthread_mutex_unlock(&writer->lock);
    zlg_status status = zlgi_chunk_decode(&writer->ctx->engine, writer->scratch, source,
                                          box->shape, encoded, elements, err);
    pthread_mutex_lock(&writer->lock);
    static const int64_t origin[ZLG_MAX_RANK] = {0};
    const zlgi_box inside = {
        .rank = source->grid.rank, .start = origin, .count = box->inside};
    if (status == ZLG_OK)
        status = zlgi_cell_note(writer, cell, box, &inside, err);
    if (status != ZLG_OK)
        zlgi_room_work_done(writer, elements, box->n_bytes);
    else
        swap_block(writer, cell, elements, box->n_bytes);
    return status;
}

/* What was encoded, or stored, is not done any more. */
static zlg_status reopen(zlg_writer *writer, zlgi_cell *cell, const zlgi_cell_box *box,
                         bool covered, zlg_error *err)
{
    zlgi_cell_state before = cell->state;
    if (before == ZLGI_CELL_ENCODED && !covered)
        ZLGI_TRY(decode(writer, cell, box, err));
    if (before == ZLGI_CELL_ENCODED || before == ZLGI_CELL_STORED)
        cell->held->n_done--;
    if (before == ZLGI_CELL_STORED || before == ZLGI_CELL_EMPTY)
        cell->held->n_dirty++;
    if (covered) {
        zlgi_cell_drop(writer, cell);
        zlgi_cell_forget(writer, cell);
    }
    if (before == ZLGI_CELL_FILLING && cell->is_clean)
        cell->held->n_dirty++;
    cell->is_clean = false;
    cell->state = ZLGI_CELL_FILLING;
    return ZLG_OK;
}

/* Memory comes first: a cell that gets none stays what it was. */
static zlg_status prepare(zlg_writer *writer, zlgi_cell *cell, const zlgi_cell_box *box,
                          const zlgi_box *piece, bool lent, zlg_error *err)
{
    bool covered = zlgi_box_elements(piece) == box->n_inside;
    bool has_elements = cell->state == ZLGI_CELL_FULL || cell->state == ZLGI_CELL_FILLING;
    if (has_elements && cell->is_spilled)
        ZLGI_TRY(zlgi_side_load(writer, cell, NULL, err));
    bool is_fresh = has_elements ? !cell->data && cell->n_reserved == 0
                                 : covered || cell->state != ZLGI_CELL_ENCODED;
    uint8_t *block = is_fresh && !lent ? zlgi_room_block(writer, box->n_bytes) : NULL;
    if (is_fresh && !lent && !block)
        return zlgi_no_memory(err, box->n_bytes);
    if (cell->state != ZLGI_CELL_FULL)
        ZLGI_TRY(reopen(writer, cell, box, covered && !has_elements, err));
    zlgi_kept_forget(cell);
    if (block) {
        set_block(cell, block, box->n_bytes, 0);
    } else if (is_fresh) {
        zlgi_room_charge(writer, box->n_bytes);
        cell->n_reserved = box->n_bytes;
    }
    if (cell->data)
        zlgi_cell_charge(writer, cell, zlgi_cell_extent(cell, box, piece));
    return ZLG_OK;
}

zlg_status zlgi_cell_prepare(zlg_writer *writer, zlgi_cell *cell, const zlgi_cell_box *box,
                             const zlgi_box *piece, bool lent, zlg_error *err)
{
    zlgi_cell_busy(cell, true);
    zlg_status status = prepare(writer, cell, box, piece, lent, err);
    zlgi_cell_busy(cell, false);
    return status;
}

void zlgi_cell_copy(const zlgi_cell *cell, const zlgi_cell_box *box, const zlgi_box *piece,
                    const uint8_t *data, const int64_t *strides, bool swapped)
{
    const zlgi_fed *fed = cell->held->fed;
    zlgi_use use = {.rank = piece->rank, .memory = (uint8_t *)(uintptr_t)data};
    ptrdiff_t unit[ZLG_MAX_RANK], stride = (ptrdiff_t)fed->item;
    for (int i = piece->rank - 1; i >= 0; i--) {
        use.axis[i] = (zlgi_use_axis){.start = piece->start[i],
                                      .step = 1,
                                      .count = piece->count[i],
                                      .stride = (ptrdiff_t)strides[i]};
        unit[i] = stride;
        stride *= box->shape[i];
    }
    zlgi_gather(&use, cell->data, unit, fed->item, swapped ? fed->swap : NULL);
}

/* Bits cost memory like elements; a box is as little as the cell itself. */
size_t zlgi_cell_given_bytes(const zlgi_cell *cell)
{
    bool has_bits = cell->given.kind == ZLGI_GIVEN_BITS && cell->given.data;
    return has_bits ? cell->given.n_bytes : 0;
}

void zlgi_cell_forget(zlg_writer *writer, zlgi_cell *cell)
{
    zlgi_room_release(writer, zlgi_cell_given_bytes(cell));
    zlgi_given_reset(&cell->given, &writer->ctx->alloc);
}

zlg_status zlgi_cell_note(zlg_writer *writer, zlgi_cell *cell, const zlgi_cell_box *box,
                          const zlgi_box *piece, zlg_error *err)
{
    size_t n_before = zlgi_cell_given_bytes(cell);
    zlg_status status =
        zlgi_given_add(&cell->given, &writer->ctx->alloc, box->shape, piece, err);
    zlgi_room_charge(writer, zlgi_cell_given_bytes(cell));
    zlgi_room_release(writer, n_before);
    if (status == ZLG_OK && cell->given.n == box->n_inside)
        cell->state = ZLGI_CELL_FULL;
    return status;
}

/* ------------------------------------------------------------------ encoding */

static zlg_status keep_encoded(zlg_writer *writer, zlgi_bytes bytes,
                               const zlgi_elements *elements, zlgi_encoded *out,
                               zlg_error *err)
{
    out->n_bytes = bytes.n;
    out->is_same = bytes.data == elements->data;
    out->data = bytes.data;
    if (out->is_same)
        return ZLG_OK;
    pthread_mutex_lock(&writer->lock);
    uint8_t *block = zlgi_room_work(writer, bytes.n);
    pthread_mutex_unlock(&writer->lock);
    if (!block)
        return zlgi_no_memory(err, bytes.n);
    memcpy(block, bytes.data, bytes.n);
    out->data = block;
    return ZLG_OK;
}

zlg_status zlgi_cell_encode(zlg_writer *writer, const zlgi_fed *fed,
                            const zlgi_cell_box *box, const zlgi_elements *elements,
                            zlgi_scratch *scratch, zlgi_encoded *out, zlg_error *err)
{
    zlgi_bytes bytes;
    bool is_absent;
    ptrdiff_t strides[ZLG_MAX_RANK];
    for (int i = 0; elements->strides && i < fed->array->meta.rank; i++)
        strides[i] = (ptrdiff_t)elements->strides[i];
    zlgi_buf *bufs = zlgi_scratch_push(scratch); /* three in a row */
    zlgi_scratch_push(scratch);
    zlgi_scratch_push(scratch);
    *out = (zlgi_encoded){.data = NULL};
    zlg_status status =
        zlgi_chunk_encode(&writer->ctx->engine, scratch, &fed->array->source, box->shape,
                          elements->data, elements->strides ? strides : NULL,
                          elements->swapped, &fed->call, bufs, &bytes, &is_absent, err);
    if (status == ZLG_OK && !is_absent)
        status = keep_encoded(writer, bytes, elements, out, err);
    for (int i = 0; i < 3; i++)
        zlgi_scratch_pop(scratch);
    return status;
}

static void become_encoded(zlg_writer *writer, zlgi_cell *cell, const zlgi_encoded *encoded)
{
    if (!encoded->data) {
        zlgi_cell_drop(writer, cell);
        cell->is_absent = true;
    } else if (!encoded->is_same) {
        swap_block(writer, cell, (uint8_t *)(uintptr_t)encoded->data, encoded->n_bytes);
    }
    zlgi_cell_forget(writer, cell);
    cell->state = ZLGI_CELL_ENCODED;
    cell->held->n_done++;
}

static zlg_status encode_own(zlg_writer *writer, zlgi_cell *cell, const zlgi_cell_box *box,
                             zlgi_scratch *scratch, zlg_error *err)
{
    const zlgi_fed *fed = cell->held->fed;
    const zlgi_elements elements = {.data = cell->data};
    zlgi_encoded encoded;
    zlgi_cell_charge(writer, cell, box->n_bytes);
    pthread_mutex_unlock(&writer->lock);
    zlgi_given_fill_rest(&cell->given, fed->array->meta.rank, box->shape, cell->data,
                         fed->array->source.fill.data, fed->item);
    zlg_status status =
        zlgi_cell_encode(writer, fed, box, &elements, scratch, &encoded, err);
    pthread_mutex_lock(&writer->lock);
    if (status == ZLG_OK)
        become_encoded(writer, cell, &encoded);
    return status;
}

/* ------------------------------------------------------------------ loans */

static zlgi_box loan_box(const zlgi_loan *loan)
{
    return (zlgi_box){
        .rank = loan->rank, .start = loan->numbers, .count = loan->numbers + loan->rank};
}

static zlg_status copy_loan(zlg_writer *writer, zlgi_cell *cell, const zlgi_cell_box *box,
                            const zlgi_loan *loan, zlg_error *err)
{
    zlgi_box piece = loan_box(loan);
    if (!cell->data)
        ZLGI_TRY(take_block(writer, cell, box->n_bytes, err));
    pthread_mutex_unlock(&writer->lock);
    zlgi_cell_copy(cell, box, &piece, loan->data, loan->numbers + 2 * loan->rank,
                   loan->swapped);
    pthread_mutex_lock(&writer->lock);
    return zlgi_cell_note(writer, cell, box, &piece, err);
}

/* All of the cell is lent: it is encoded from there. What is its own encoded form must be
 * copied nevertheless, and what cannot be encoded is kept. */
static zlg_status encode_loan(zlg_writer *writer, zlgi_cell *cell, const zlgi_cell_box *box,
                              const zlgi_loan *loan, zlgi_scratch *scratch, zlg_error *err)
{
    const zlgi_elements elements = {.data = loan->data,
                                    .strides = loan->numbers + 2 * loan->rank,
                                    .swapped = loan->swapped};
    zlgi_encoded encoded;
    pthread_mutex_unlock(&writer->lock);
    zlg_status status =
        zlgi_cell_encode(writer, cell->held->fed, box, &elements, scratch, &encoded, err);
    pthread_mutex_lock(&writer->lock);
    if (status != ZLG_OK) {
        ZLGI_TRY(copy_loan(writer, cell, box, loan, NULL));
        return status;
    }
    if (encoded.data && encoded.is_same) {
        ZLGI_TRY(take_block(writer, cell, encoded.n_bytes, err));
        pthread_mutex_unlock(&writer->lock);
        memcpy(cell->data, encoded.data, encoded.n_bytes);
        pthread_mutex_lock(&writer->lock);
    }
    become_encoded(writer, cell, &encoded);
    return ZLG_OK;
}

/* After a failure too: nothing of the caller's is needed then, and nothing is lost. A loan
 * that cannot be copied stays. */
static zlg_status take_loans(zlg_writer *writer, zlgi_cell *cell, const zlgi_cell_box *box,
                             zlgi_scratch *scratch, zlg_error *err)
{
    zlg_status status = ZLG_OK;
    while (cell->first_loan) {
        zlgi_loan *loan = cell->first_loan;
        bool direct =
            status == ZLG_OK && !cell->data && cell->n_reserved > 0 && !loan->next;
        zlg_status copied = direct ? encode_loan(writer, cell, box, loan, scratch, err)
                                   : copy_loan(writer, cell, box, loan, err);
        if (copied == ZLG_NO_MEMORY)
            return copied;
        status = status == ZLG_OK ? copied : status;
        cell->first_loan = loan->next;
        zlgi_loan_end(writer, loan);
    }
    return status;
}

static zlg_status work(zlg_writer *writer, zlgi_cell *cell, zlgi_scratch *scratch,
                       zlg_error *err)
{
    zlgi_cell_box box;
    zlgi_cell_locate(cell, &box);
    ZLGI_TRY(take_loans(writer, cell, &box, scratch, err));
    if (cell->state == ZLGI_CELL_FULL)
        ZLGI_TRY(encode_own(writer, cell, &box, scratch, err));
    bool is_here = cell->state == ZLGI_CELL_ENCODED && cell->data;
    if (is_here && writer->options.partial == ZLG_PARTIAL_PUBLISH)
        zlgi_stage_cell(writer, cell); /* a flush that keeps it needs its bytes */
    return ZLG_OK;
}

void zlgi_cell_work(zlg_writer *writer, zlgi_cell *cell, zlgi_scratch *scratch)
{
    zlg_error err;
    zlgi_held *held = cell->held;
    cell->is_queued = false;
    cell->is_busy = true; /* it was counted when it was queued */
    zlg_status status = work(writer, cell, scratch, &err);
    zlgi_cell_busy(cell, false);
    if (status != ZLG_OK)
        zlgi_held_fail(writer, held, &err);
    zlgi_held_settle(writer, held);
}
