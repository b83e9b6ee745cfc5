/*
 * submit.c: what is given is cut into pieces, one for each innermost chunk that it touches,
 * and copied there, or noted as a loan. One submit at a time, so that the last one wins.
 */
#include "writer/writer.h"

/* Pieces that are larger are copied with the lock given up. */
enum { COPIED_LOCKED = 16 * 1024 };
/* More elements are reduced piece by piece. */
enum { REDUCED_AT_ONCE = 4 << 20 };

/* A part, checked: a box of an array, and where its elements lie. */
typedef struct region {
    zlgi_fed *fed;
    int rank;
    const int64_t *start, *count;
    const uint8_t *data;
    int64_t strides[ZLG_MAX_RANK];
    bool swapped;
    zlgi_lender *lender; /* NULL: it is copied */
} region;

typedef struct submitting {
    zlg_writer *writer;
    zlgi_patience *patience;
    zlgi_ticket *ticket; /* NULL: nobody will ask */
    bool is_forced;      /* room was found before: it is not waited for */
    bool is_begun;       /* a piece was taken: the others are too, if their array fails */
    bool is_refused;     /* the error is that of an array, which names it */
    uint64_t n_needed;   /* measuring */
    bool is_barred;      /* an object is just being stored */
    zlg_error *err;
} submitting;

/* A piece: the part of a region that falls into one cell. */
typedef struct piece {
    const region *from;
    const int64_t *coordinates; /* of the object */
    uint64_t i_cell;
    zlgi_box box; /* in the cell */
    const uint8_t *data;
} piece;
typedef zlg_status (*piece_fn)(submitting *s, const piece *p);

/* ------------------------------------------------------------------ cutting */

/* The next place of a box of places; false after the last. */
static bool step(int rank, int64_t *at, const int64_t *low, const int64_t *high)
{
    int i = rank - 1;
    while (i >= 0 && ++at[i] > high[i]) {
        at[i] = low[i];
        i--;
    }
    return i >= 0;
}

void zlgi_cut_object(const zlg_array *array, const int64_t *start, const int64_t *count,
                     const int64_t *coordinates, zlgi_object_cut *out)
{
    for (int i = 0; i < array->meta.rank; i++) {
        const zlgi_grid_axis *axis = &array->source.grid.axis[i];
        int64_t edge = zlgi_grid_edge(axis, coordinates[i]);
        out->origin[i] = zlgi_grid_start(axis, coordinates[i]);
        out->cell[i] = array->sharded ? array->chunk_shape[i] : edge;
        out->grid[i] = edge / out->cell[i];
        int64_t low = ZLGI_MAX(start[i] - out->origin[i], 0);
        int64_t end = ZLGI_MIN(start[i] + count[i] - out->origin[i], edge);
        out->low[i] = low / out->cell[i];
        out->high[i] = (end - 1) / out->cell[i];
    }
}

static zlg_status cut_cell(submitting *s, const region *r, const int64_t *coordinates,
                           const zlgi_object_cut *object, const int64_t *at, piece_fn each)
{
    int64_t start[ZLG_MAX_RANK], count[ZLG_MAX_RANK];
    piece p = {.from = r, .coordinates = coordinates, .data = r->data};
    for (int i = 0; i < r->rank; i++) {
        int64_t origin = object->origin[i] + at[i] * object->cell[i];
        int64_t low = ZLGI_MAX(r->start[i], origin);
        int64_t end = ZLGI_MIN(r->start[i] + r->count[i], origin + object->cell[i]);
        start[i] = low - origin;
        count[i] = end - low;
        p.i_cell = p.i_cell * (uint64_t)object->grid[i] + (uint64_t)at[i];
        p.data += (low - r->start[i]) * r->strides[i];
    }
    p.box = (zlgi_box){.rank = r->rank, .start = start, .count = count};
    return each(s, &p);
}

static zlg_status cut(submitting *s, const region *r, piece_fn each)
{
    int64_t low[ZLG_MAX_RANK], high[ZLG_MAX_RANK], at[ZLG_MAX_RANK];
    for (int i = 0; i < r->rank; i++) {
        const zlgi_grid_axis *axis = &r->fed->array->source.grid.axis[i];
        if (r->count[i] == 0)
            return ZLG_OK;
        low[i] = at[i] = zlgi_grid_find(axis, r->start[i]);
        high[i] = zlgi_grid_find(axis, r->start[i] + r->count[i] - 1);
    }
    do {
        zlgi_object_cut object;
        int64_t cell[ZLG_MAX_RANK] = {0};
        zlgi_cut_object(r->fed->array, r->start, r->count, at, &object);
        memcpy(cell, object.low, (size_t)r->rank * sizeof *cell);
        do
            ZLGI_TRY(cut_cell(s, r, at, &object, cell, each));
        while (step(r->rank, cell, object.low, object.high));
    } while (step(r->rank, at, low, high));
    return ZLG_OK;
}

/* ------------------------------------------------------------------ room */

/* Only what fills the declared chunk too is encoded from where it lies. */
static bool is_direct(const piece *p, const zlgi_cell_box *box)
{
    return p->from->lender &&
           zlgi_box_elements(&p->box) * p->from->fed->item == box->n_bytes;
}

/* What a piece will need that is not there. What is encoded is less than its elements. */
static uint64_t needed(const piece *p, const zlgi_cell *cell, const zlgi_cell_box *box)
{
    size_t extent = zlgi_cell_extent(cell, box, &p->box);
    bool is_encoded = cell->state == ZLGI_CELL_ENCODED;
    if (cell->n_reserved > 0)
        return 0;
    if (cell->data && !is_encoded)
        return extent > cell->n_charged ? extent - cell->n_charged : 0;
    return is_direct(p, box) || is_encoded || cell->is_spilled ? box->n_bytes : extent;
}

static zlg_status measure(submitting *s, const piece *p)
{
    zlgi_held *held = zlgi_held_find(p->from->fed, p->coordinates);
    zlgi_cell_box box = {.n_bytes = (size_t)p->from->fed->n_bytes_cell};
    if (held && held->cells) {
        zlgi_cell *cell = &held->cells[p->i_cell];
        zlgi_cell_locate(cell, &box);
        s->n_needed += needed(p, cell, &box);
        s->is_barred = s->is_barred || held->state == ZLGI_HELD_STORING || cell->is_busy ||
                       (cell->first_loan && !p->from->lender);
    } else {
        s->n_needed += box.n_bytes;
    }
    return ZLG_OK;
}

/* All that can be moved out is: what is left of the budget are records. */
static bool may_pass(const zlg_writer *writer)
{
    return writer->room.is_stuck && writer->side.fd >= 0 && !writer->side.has_failed;
}

static zlg_status wait_for_room(submitting *s, uint64_t n_bytes)
{
    zlgi_room *room = &s->writer->room;
    const zlgi_side *side = &s->writer->side;
    uint64_t begin = zlgi_now_ns();
    if (room->is_stuck)
        return zlgi_fail(s->err, ZLG_LIMIT,
                         "the budget of %llu bytes is full of objects that are not, and %s",
                         (unsigned long long)room->budget,
                         side->fd >= 0 ? side->error.message
                                       : "there is no side_directory");
    room->n_waiting++;
    room->wanted = n_bytes;
    pthread_cond_signal(&s->writer->work);
    zlg_status status = zlgi_writer_wait(s->writer, s->patience, s->err);
    room->n_waiting--;
    s->writer->counts.ns_waited += zlgi_now_ns() - begin;
    return status;
}

/* ------------------------------------------------------------------ placing */

/* What is given once a call has begun is kept like what was given before the failure; but
 * nothing can be put behind a loan that waits for a flush to try it again. */
static bool must_refuse(const submitting *s, const zlgi_cell *cell)
{
    bool waits = cell->held->state == ZLGI_HELD_FAILED && cell->first_loan &&
                 !cell->is_queued && !cell->is_busy;
    return cell->held->fed->has_error && (!s->is_begun || waits);
}

/* A cell that nobody has in hand, with room for what it needs. What was found before a
 * wait may be gone after it. */
static zlg_status find_cell(submitting *s, const piece *p, zlgi_cell **out,
                            zlgi_cell_box *box)
{
    for (;;) {
        zlgi_held *held;
        ZLGI_TRY(zlgi_held_get(s->writer, p->from->fed, p->coordinates, &held, s->err));
        zlgi_cell *cell = &held->cells[p->i_cell];
        zlgi_cell_locate(cell, box);
        uint64_t n_bytes = needed(p, cell, box);
        if (s->writer->state != ZLGI_WRITER_OPEN)
            return zlgi_fail(s->err, ZLG_CANCELLED, "the writer was aborted or closed");
        s->is_refused = must_refuse(s, cell);
        if (s->is_refused)
            return zlgi_fed_error(p->from->fed, s->err);
        if (held->state == ZLGI_HELD_STORING || cell->is_busy ||
            (cell->first_loan && !p->from->lender)) {
            ZLGI_TRY(zlgi_writer_wait(s->writer, s->patience, s->err));
        } else if (!s->is_forced && !zlgi_room_has(s->writer, n_bytes) &&
                   !may_pass(s->writer)) {
            ZLGI_TRY(wait_for_room(s, n_bytes));
        } else {
            *out = cell;
            return ZLG_OK;
        }
    }
}

static zlg_status copy(submitting *s, zlgi_cell *cell, const zlgi_cell_box *box,
                       const piece *p)
{
    zlg_writer *writer = s->writer;
    bool is_large = zlgi_box_elements(&p->box) * p->from->fed->item > COPIED_LOCKED;
    zlgi_cell_busy(cell, true);
    writer->is_copying = true;
    if (is_large)
        pthread_mutex_unlock(&writer->lock);
    zlgi_cell_copy(cell, box, &p->box, p->data, p->from->strides, p->from->swapped);
    if (is_large)
        pthread_mutex_lock(&writer->lock);
    zlg_status status = zlgi_cell_note(writer, cell, box, &p->box, s->err);
    zlgi_cell_busy(cell, false);
    writer->is_copying = false;
    if (cell->state == ZLGI_CELL_FULL)
        zlgi_cell_queue(writer, cell);
    zlgi_held_settle(writer, cell->held);
    return status;
}

static zlg_status lend(submitting *s, zlgi_cell *cell, const piece *p)
{
    size_t n_axes = (size_t)p->from->rank * sizeof(int64_t);
    zlgi_loan *loan = zlgi_new(&s->writer->ctx->alloc, zlgi_loan_bytes(p->from->rank));
    if (!loan)
        return zlgi_no_memory(s->err, zlgi_loan_bytes(p->from->rank));
    loan->ticket = s->ticket;
    loan->lender = p->from->lender;
    loan->data = p->data;
    loan->swapped = p->from->swapped;
    loan->rank = p->from->rank;
    memcpy(loan->numbers, p->box.start, n_axes);
    memcpy(loan->numbers + loan->rank, p->box.count, n_axes);
    memcpy(loan->numbers + 2 * loan->rank, p->from->strides, n_axes);
    *(cell->first_loan ? &cell->last_loan->next : &cell->first_loan) = loan;
    cell->last_loan = loan;
    loan->lender->n_loans++;
    s->ticket->n_loans++;
    zlgi_cell_queue(s->writer, cell);
    return ZLG_OK;
}

static zlg_status place(submitting *s, const piece *p)
{
    zlg_writer *writer = s->writer;
    zlgi_cell *cell = NULL;
    zlgi_cell_box box;
    uint64_t n_bytes = zlgi_box_elements(&p->box) * p->from->fed->item;
    bool is_stored;
    ZLGI_TRY(zlgi_resume_skips(writer, p->from->fed, p->coordinates, n_bytes, &is_stored,
                               s->err));
    if (is_stored)
        return ZLG_OK;
    ZLGI_TRY(zlgi_kept_take(writer, p->from->fed, p->coordinates, s->err));
    ZLGI_TRY(find_cell(s, p, &cell, &box));
    zlgi_held *held = cell->held;
    ZLGI_TRY(zlgi_resume_reopen(writer, held, s->err));
    zlg_status status =
        zlgi_cell_prepare(writer, cell, &box, &p->box, is_direct(p, &box), s->err);
    if (status == ZLG_OK && s->ticket)
        status = zlgi_held_note_ticket(writer, held, s->ticket, s->err);
    if (status == ZLG_OK) {
        held->n_bytes_given += n_bytes;
        writer->counts.n_bytes_queued += n_bytes;
        writer->room.is_stuck = false; /* this can be moved out */
        status = p->from->lender ? lend(s, cell, p) : copy(s, cell, &box, p);
        s->is_begun = s->is_begun || status == ZLG_OK;
    }
    if (status != ZLG_OK)
        zlgi_held_settle(writer, held); /* it was busy when its turn came */
    return status;
}

/* ------------------------------------------------------------------ checking */

/* rows: what an array that grows has of them. */
static zlg_status check_box(const zlgi_fed *fed, const zlg_submit *part, int64_t rows,
                            zlg_error *err)
{
    for (int i = 0; i < fed->array->meta.rank; i++) {
        int64_t start = part->start[i], count = part->count[i], end;
        int64_t low = 0, high = fed->array->source.grid.axis[i].length;
        if (i == fed->growth.axis)
            high = rows;
        if (fed->has_claim) {
            low = fed->claim_start[i];
            high = ZLGI_MIN(high, low + fed->claim_count[i]);
        }
        if (count < 0 || start < low || !zlgi_add_i64(start, count, &end) || end > high)
            return zlgi_fail(err, ZLG_RANGE,
                             "axis %d: %lld elements from %lld on are not "
                             "within %lld to %lld",
                             i, (long long)count, (long long)start, (long long)low,
                             (long long)high);
    }
    return ZLG_OK;
}

static zlg_status check_part(zlgi_fed *fed, const zlg_submit *part, int64_t rows,
                             region *out, zlg_error *err)
{
    *out = (region){.fed = fed,
                    .rank = fed->array->meta.rank,
                    .start = part->start,
                    .count = part->count,
                    .data = part->source.data,
                    .swapped = part->source.swapped != 0};
    ZLGI_TRY(check_box(fed, part, rows, err));
    if (part->source.offsets)
        return zlgi_fail(err, ZLG_USAGE, "elements of fixed size go without offsets");
    int64_t stride = (int64_t)fed->item;
    for (int i = out->rank - 1; i >= 0; i--) {
        out->strides[i] = part->source.strides ? part->source.strides[i] : stride;
        stride *= part->count[i];
    }
    return ZLG_OK;
}

/* A box of a coarser array, which may be its next rows. */
typedef struct coarser_box {
    int64_t start[ZLG_MAX_RANK], count[ZLG_MAX_RANK];
    int64_t rows;
    zlg_submit part;
} coarser_box;

static zlg_status make_coarser(zlg_writer *writer, const zlgi_fed *fed,
                               const zlgi_coarser *coarser, const zlg_submit *part,
                               coarser_box *out, zlg_error *err)
{
    zlgi_fed *to = writer->fed[coarser->number];
    int axis = fed->growth.axis;
    ZLGI_TRY(zlgi_coarser_box(coarser, fed->array->meta.shape, part->start, part->count,
                              out->start, out->count, err));
    if (axis >= 0)
        ZLGI_TRY(zlgi_grow_start(writer, to, axis, err));
    out->rows = to->growth.next;
    if (axis >= 0 && out->start[axis] == out->rows)
        out->rows += out->count[axis];
    out->part = (zlg_submit){.array = coarser->number,
                             .start = out->start,
                             .count = out->count,
                             .source = {.swapped = part->source.swapped}};
    return ZLG_OK;
}

/* What the coarser arrays would be given. */
static zlg_status check_coarser(zlg_writer *writer, const zlgi_fed *fed,
                                const zlg_submit *part, zlg_error *err)
{
    for (const zlgi_coarser *c = fed->coarser; c; c = c->next) {
        coarser_box box;
        region unused;
        zlgi_fed *to = writer->fed[c->number];
        ZLGI_TRY(make_coarser(writer, fed, c, part, &box, err));
        if (to->has_error)
            return zlgi_fed_error(to, err);
        zlg_status status = check_part(to, &box.part, box.rows, &unused, err);
        if (status == ZLG_OK)
            status = check_coarser(writer, to, &box.part, err);
        if (status != ZLG_OK)
            return zlgi_array_within(to->array, status, err);
    }
    return ZLG_OK;
}

static zlg_status check(zlg_writer *writer, const zlg_submit *parts, size_t n,
                        region *regions, zlg_error *err)
{
    if (writer->state == ZLGI_WRITER_ABORTED)
        return zlgi_fail(err, ZLG_CANCELLED, "the writer was aborted");
    if (writer->state == ZLGI_WRITER_CLOSING)
        return zlgi_fail(err, ZLG_USAGE,
                         "the writer takes no more: it was closed, which goes on or has "
                         "failed; close it again to see why");
    if (writer->state != ZLGI_WRITER_OPEN)
        return zlgi_fail(err, ZLG_USAGE, "the writer is closed");
    for (size_t i = 0; i < n; i++) {
        if (parts[i].array < 0 || parts[i].array >= writer->n_fed)
            return zlgi_fail(err, ZLG_USAGE, "array %d was not added", parts[i].array);
        zlgi_fed *fed = writer->fed[parts[i].array];
        if (fed->has_error)
            return zlgi_fed_error(fed, err);
        zlg_status status = check_part(fed, &parts[i], fed->growth.next, &regions[i], err);
        if (status == ZLG_OK)
            status = check_coarser(writer, fed, &parts[i], err);
        if (status != ZLG_OK)
            return zlgi_array_within(fed->array, status, err);
    }
    return ZLG_OK;
}

/* ------------------------------------------------------------------ coarser arrays */

static zlg_status give_coarser(submitting *s, zlgi_fed *fed, const zlg_submit *part);

/* A reduction, which is then given on in its turn. */
static zlg_status give_one(submitting *s, zlgi_fed *fed, const zlgi_coarser *coarser,
                           const zlg_submit *part)
{
    zlg_writer *writer = s->writer;
    zlgi_fed *to = writer->fed[coarser->number];
    coarser_box box;
    region r;
    ZLGI_TRY(make_coarser(writer, fed, coarser, part, &box, s->err));
    const zlgi_box elements = {.rank = coarser->rank, .count = box.count};
    size_t n_bytes = (size_t)zlgi_box_elements(&elements) * to->item;
    while (!s->is_forced && !zlgi_room_has(writer, n_bytes) && !may_pass(writer))
        ZLGI_TRY(wait_for_room(s, n_bytes));
    void *block = zlgi_room_take(writer, n_bytes);
    if (!block)
        return zlgi_no_memory(s->err, n_bytes);
    pthread_mutex_unlock(&writer->lock);
    zlgi_coarser_reduce(coarser, to->array->meta.dtype, part->count, &part->source, block);
    pthread_mutex_lock(&writer->lock);
    box.part.source.data = block;
    zlg_status status = check_part(to, &box.part, box.rows, &r, s->err);
    if (status == ZLG_OK) {
        to->growth.next = box.rows;
        status = cut(s, &r, place);
    }
    if (status == ZLG_OK)
        status = give_coarser(s, to, &box.part);
    zlgi_room_give(writer, block, n_bytes);
    return status;
}

static zlg_status give_coarser(submitting *s, zlgi_fed *fed, const zlg_submit *part)
{
    for (const zlgi_coarser *c = fed->coarser; c; c = c->next)
        ZLGI_TRY(give_one(s, fed, c, part));
    return ZLG_OK;
}

/* In boxes of whole windows of all levels, so that reductions take little memory. */
static zlg_status give_reduced(submitting *s, zlgi_fed *fed, const zlg_submit *part)
{
    int64_t start[ZLG_MAX_RANK], count[ZLG_MAX_RANK], unit = 1;
    int axis = 0, rank = fed->array->meta.rank;
    size_t n_bytes = (size_t)rank * sizeof *start;
    const zlgi_box box = {.rank = rank, .count = part->count};
    if (fed->coarser && zlgi_box_elements(&box) * fed->item > REDUCED_AT_ONCE)
        for (; axis < rank; axis++) {
            unit = zlgi_coarser_unit(s->writer, fed->number, axis);
            if (part->count[axis] > unit)
                break;
        }
    else
        axis = rank;
    if (axis == rank)
        return give_coarser(s, fed, part);
    memcpy(start, part->start, n_bytes);
    memcpy(count, part->count, n_bytes);
    int64_t half = ZLGI_MAX(count[axis] / 2 / unit, 1) * unit;
    zlg_submit half_part = *part;
    half_part.start = start;
    half_part.count = count;
    count[axis] = half;
    ZLGI_TRY(give_reduced(s, fed, &half_part));
    half_part.source.data =
        (const uint8_t *)part->source.data + half * part->source.strides[axis];
    start[axis] += half;
    count[axis] = part->count[axis] - half;
    return give_reduced(s, fed, &half_part);
}

/* What the coarser arrays will need of the budget. */
static zlg_status measure_coarser(submitting *s, zlgi_fed *fed, const zlg_submit *part)
{
    for (const zlgi_coarser *c = fed->coarser; c; c = c->next) {
        coarser_box box;
        region r;
        zlgi_fed *to = s->writer->fed[c->number];
        ZLGI_TRY(make_coarser(s->writer, fed, c, part, &box, s->err));
        box.part.source.data = part->source.data;
        ZLGI_TRY(check_part(to, &box.part, box.rows, &r, s->err));
        ZLGI_TRY(cut(s, &r, measure));
        const zlgi_box elements = {.rank = c->rank, .count = box.count};
        uint64_t n_bytes = zlgi_box_elements(&elements) * to->item;
        s->n_needed += ZLGI_MIN(n_bytes, REDUCED_AT_ONCE);
        ZLGI_TRY(measure_coarser(s, to, &box.part));
    }
    return ZLG_OK;
}

/* ------------------------------------------------------------------ the call */

/* All at once, before anything is taken, if that can be: for those who do not wait for
 * ever. */
static zlg_status find_room(submitting *s, const zlg_submit *parts, const region *regions,
                            size_t n, bool waits)
{
    const zlgi_room *room = &s->writer->room;
    for (;;) {
        s->n_needed = 0;
        s->is_barred = false;
        for (size_t i = 0; i < n; i++) {
            ZLGI_TRY(cut(s, &regions[i], measure));
            ZLGI_TRY(measure_coarser(s, regions[i].fed, &parts[i]));
        }
        if (!s->is_barred && (zlgi_room_has(s->writer, s->n_needed) || may_pass(s->writer)))
            break;
        if (s->is_barred && !waits)
            return zlgi_fail(s->err, ZLG_LIMIT, "an object of it is just being stored");
        if (s->is_barred) {
            ZLGI_TRY(zlgi_writer_wait(s->writer, s->patience, s->err));
            continue;
        }
        if (waits && s->n_needed > room->budget - room->base)
            return ZLG_OK; /* there never is so much: it is taken piece by piece */
        if (!waits)
            return zlgi_fail(
                s->err, ZLG_LIMIT, "%llu bytes, when %llu of the budget of %llu are in use",
                (unsigned long long)s->n_needed, (unsigned long long)room->live,
                (unsigned long long)room->budget);
        ZLGI_TRY(wait_for_room(s, s->n_needed));
    }
    s->is_forced = true;
    return ZLG_OK;
}

/* A lender for each part that is borrowed; released here what none could be made for. */
static zlg_status make_lenders(zlg_writer *writer, const zlg_submit *parts, size_t n,
                               region *regions, zlg_error *err)
{
    for (size_t i = 0; i < n; i++) {
        if (!parts[i].borrow)
            continue;
        zlgi_lender *lender = zlgi_new(&writer->ctx->alloc, sizeof *lender);
        if (!lender)
            return zlgi_no_memory(err, sizeof *lender);
        *lender =
            (zlgi_lender){.n_loans = 1, .release = parts[i].release, .user = parts[i].user};
        regions[i].lender = lender;
    }
    return ZLG_OK;
}

static void end_lenders(zlg_writer *writer, const zlg_submit *parts, size_t n,
                        const region *regions)
{
    for (size_t i = 0; i < n; i++) {
        if (regions[i].lender)
            zlgi_lender_end(writer, regions[i].lender);
        else if (parts[i].borrow && parts[i].release)
            parts[i].release(parts[i].user);
    }
}

static zlg_status take_all(submitting *s, const zlg_submit *parts, size_t n,
                           region *regions, bool is_patient)
{
    zlg_writer *writer = s->writer;
    bool any_loan = false;
    ZLGI_TRY(zlgi_work_start(writer, s->err));
    if (!is_patient)
        ZLGI_TRY(find_room(s, parts, regions, n, s->patience->call->deadline_ms >= 0));
    ZLGI_TRY(make_lenders(writer, parts, n, regions, s->err));
    for (size_t i = 0; i < n; i++)
        any_loan = any_loan || regions[i].lender;
    if (any_loan && !s->ticket)
        ZLGI_TRY(zlgi_ticket_new(writer, &s->ticket, s->err));
    for (size_t i = 0; i < n; i++) {
        ptrdiff_t strides[ZLG_MAX_RANK];
        zlg_submit part = parts[i];
        for (int axis = 0; axis < regions[i].rank; axis++)
            strides[axis] = (ptrdiff_t)regions[i].strides[axis];
        part.source.strides = strides;
        zlg_status status = give_reduced(s, regions[i].fed, &part);
        if (status == ZLG_OK)
            status = cut(s, &regions[i], place);
        if (status != ZLG_OK)
            return s->is_refused ? status
                                 : zlgi_array_within(regions[i].fed->array, status, s->err);
        const zlgi_box box = {.rank = regions[i].rank, .count = regions[i].count};
        writer->counts.n_bytes_submitted += zlgi_box_elements(&box) * regions[i].fed->item;
    }
    writer->counts.n_submitted++;
    return ZLG_OK;
}

static zlg_status submit(submitting *s, const zlg_submit *parts, size_t n, region *regions,
                         zlg_ticket *out)
{
    zlg_writer *writer = s->writer;
    const zlg_call *call = s->patience->call;
    zlg_status status = check(writer, parts, n, regions, s->err);
    if (status == ZLG_OK && out)
        status = zlgi_ticket_new(writer, &s->ticket, s->err);
    if (status == ZLG_OK)
        status = take_all(s, parts, n, regions, call->deadline_ms == 0);
    if (status == ZLG_OK && out)
        *out = s->ticket->number;
    if (s->ticket) {
        s->ticket->is_open = false;
        zlgi_ticket_settle(writer, s->ticket);
    }
    return status;
}

static void release_all(const zlg_submit *parts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (parts[i].borrow && parts[i].release)
            parts[i].release(parts[i].user);
}

/* In its turn. What is borrowed is released whatever happens. */
zlg_status zlgi_submit(zlg_writer *writer, const zlg_submit *parts, size_t n,
                       zlgi_patience *patience, zlg_ticket *out, zlg_error *err)
{
    size_t n_bytes = SIZE_MAX;
    region *regions = NULL;
    if (zlgi_mul_size(n, sizeof *regions, &n_bytes))
        regions = zlgi_new(&writer->ctx->alloc, n_bytes + 1);
    if (!regions) {
        release_all(parts, n);
        return zlgi_no_memory(err, n_bytes);
    }
    submitting s = {.writer = writer, .patience = patience, .err = err};
    zlg_status status = submit(&s, parts, n, regions, out);
    end_lenders(writer, parts, n, regions);
    zlgi_free(&writer->ctx->alloc, regions, n_bytes + 1);
    return status;
}

zlg_status zlgi_turn_of_submits(zlg_writer *writer, zlgi_patience *patience, zlg_error *err)
{
    while (writer->is_submitting)
        ZLGI_TRY(zlgi_writer_wait(writer, patience, err));
    writer->is_submitting = true;
    return ZLG_OK;
}

void zlgi_end_of_submit(zlg_writer *writer)
{
    writer->is_submitting = false;
    zlgi_writer_changed(writer);
}

/* ------------------------------------------------------------------ zellige_writer.h */

static zlg_status submit_in_turn(zlg_writer *writer, const zlg_submit *parts, size_t n,
                                 const zlg_call *given, zlg_ticket *out, bool *is_taken,
                                 zlg_error *err)
{
    zlg_call call;
    zlgi_patience patience;
    ZLGI_TRY(zlgi_writer_enter_for(writer, given, &call, &patience, err));
    zlg_status status = zlgi_turn_of_submits(writer, &patience, err);
    if (status == ZLG_OK) {
        *is_taken = true;
        status = zlgi_submit(writer, parts, n, &patience, out, err);
        zlgi_end_of_submit(writer);
    }
    zlgi_writer_leave(writer);
    return status;
}

zlg_status zlg_writer_submit(zlg_writer *writer, const zlg_submit *parts, size_t n,
                             const zlg_call *call, zlg_ticket *out, zlg_error *err)
{
    bool is_taken = false; /* and released */
    if (out)
        *out = 0;
    zlg_status status = submit_in_turn(writer, parts, n, call, out, &is_taken, err);
    if (!is_taken)
        release_all(parts, n);
    return status;
}
