/*
 * kept_take.c: what dead writers kept of an object becomes a living one's. A file may be
 * broken or of another array: nothing in it is believed before it was checked.
 */
#include "writer/writer.h"

typedef struct taking {
    zlg_writer *writer;
    zlgi_held *held;
    zlgi_kept_file *from;
    int file;
    zlgi_cell *cell; /* to which a record is given */
    zlgi_cell_box box;
    const uint8_t *data;
    zlg_error *err;
} taking;

static zlg_status check_record(const taking *t, const zlgi_kept_record *r)
{
    size_t rank = (size_t)t->held->fed->array->meta.rank;
    const zlgi_box whole = {.rank = (int)rank, .count = t->box.shape};
    bool is_partial = r->kind == ZLGI_KEPT_BOX || r->kind == ZLGI_KEPT_BITS, good = false;
    if (r->kind == ZLGI_KEPT_EMPTY)
        good = r->n_data == 0 && r->n_given == 0;
    else if (r->kind == ZLGI_KEPT_WHOLE)
        good = r->n_data > 0 && r->n_given == 0;
    else if (r->kind == ZLGI_KEPT_BOX)
        good = r->n_given == 2 * rank * sizeof(int64_t) + 1;
    else if (r->kind == ZLGI_KEPT_BITS)
        good = r->n_given == zlgi_box_elements(&whole) / 8 + 1;
    if (is_partial)
        good = good && r->n_data == t->box.n_bytes && r->n_elements > 0 &&
               r->n_elements < t->box.n_inside;
    return good ? ZLG_OK
                : zlgi_fail(t->err, ZLG_CORRUPT,
                            "its record at byte %llu is not of a chunk of the array",
                            (unsigned long long)r->at);
}

/* The box that was given of a cell. */
static zlg_status read_given(const taking *t, const zlgi_kept_record *r, zlgi_given *out)
{
    const zlgi_alloc *alloc = &t->writer->ctx->alloc;
    int rank = t->held->fed->array->meta.rank;
    *out = (zlgi_given){
        .kind = ZLGI_GIVEN_BOX, .n = r->n_elements, .n_bytes = (size_t)r->n_given};
    out->data = zlgi_new(alloc, out->n_bytes);
    if (!out->data)
        return zlgi_no_memory(t->err, out->n_bytes);
    zlg_status status = zlgi_kept_read(t->file, r, NULL, out->data, t->err);
    const int64_t *numbers = out->data;
    const zlgi_box box = {.rank = rank, .start = numbers, .count = numbers + rank};
    bool good = true;
    for (int i = 0; i < rank && status == ZLG_OK; i++)
        good = good && box.start[i] >= 0 && box.count[i] > 0 &&
               box.count[i] <= t->box.inside[i] &&
               box.start[i] <= t->box.inside[i] - box.count[i];
    if (status == ZLG_OK && (!good || zlgi_box_elements(&box) != r->n_elements))
        status = zlgi_fail(t->err, ZLG_CORRUPT,
                           "its record at byte %llu has a box beyond its chunk",
                           (unsigned long long)r->at);
    if (status != ZLG_OK)
        zlgi_given_reset(out, alloc);
    return status;
}

/* It lies in the file, and nowhere else. */
static zlg_status set_cell(taking *t, const zlgi_kept_record *r)
{
    zlgi_cell *cell = t->cell;
    bool is_encoded = r->kind == ZLGI_KEPT_EMPTY || r->kind == ZLGI_KEPT_WHOLE;
    if (r->kind == ZLGI_KEPT_BOX)
        ZLGI_TRY(read_given(t, r, &cell->given));
    else if (r->kind == ZLGI_KEPT_BITS)
        cell->given = (zlgi_given){
            .kind = ZLGI_GIVEN_BITS, .n = r->n_elements, .n_bytes = (size_t)r->n_given};
    cell->state = is_encoded ? ZLGI_CELL_ENCODED : ZLGI_CELL_FILLING;
    cell->n_bytes = (size_t)r->n_data;
    cell->is_absent = r->kind == ZLGI_KEPT_EMPTY;
    cell->is_spilled = !cell->is_absent;
    cell->side_at = r->at;
    cell->kept = t->from;
    t->held->n_done += is_encoded;
    t->held->n_dirty++;
    t->held->n_kept++;
    return ZLG_OK;
}

static void unset_cell(taking *t)
{
    zlgi_cell *cell = t->cell;
    zlgi_cell_drop(t->writer, cell);
    zlgi_cell_forget(t->writer, cell);
    zlgi_kept_forget(cell);
    t->held->n_done -= cell->state == ZLGI_CELL_ENCODED;
    t->held->n_dirty--;
    cell->state = ZLGI_CELL_EMPTY;
}

static zlg_status add_box(void *user, const zlgi_box *box, zlg_error *err)
{
    taking *t = user;
    int64_t strides[ZLG_MAX_RANK], stride = (int64_t)t->held->fed->item;
    const uint8_t *data = t->data;
    for (int i = box->rank - 1; i >= 0; i--) {
        strides[i] = stride;
        data += box->start[i] * stride;
        stride *= t->box.shape[i];
    }
    ZLGI_TRY(zlgi_cell_prepare(t->writer, t->cell, &t->box, box, false, err));
    zlgi_cell_copy(t->cell, &t->box, box, data, strides, false);
    return zlgi_cell_note(t->writer, t->cell, &t->box, box, err);
}

/* Two writers had parts of one cell: both count. */
static zlg_status join_cell(taking *t, const zlgi_kept_record *r)
{
    zlg_writer *writer = t->writer;
    size_t n_bytes = (size_t)(r->n_data + r->n_given + sizeof(int64_t));
    uint8_t *block = zlgi_room_work(writer, n_bytes);
    if (!block)
        return zlgi_no_memory(t->err, n_bytes);
    uint8_t *given = block + (r->n_data + sizeof(int64_t) - 1) / sizeof(int64_t) *
                                 sizeof(int64_t); /* it has numbers */
    const zlgi_given other = {.kind = r->kind == ZLGI_KEPT_BOX ? ZLGI_GIVEN_BOX
                                                               : ZLGI_GIVEN_BITS,
                              .n = r->n_elements,
                              .data = given,
                              .n_bytes = (size_t)r->n_given};
    zlg_status status = zlgi_kept_read(t->file, r, block, given, t->err);
    t->data = block;
    if (status == ZLG_OK)
        status = zlgi_given_boxes(&other, t->held->fed->array->meta.rank, t->box.shape,
                                  add_box, t, t->err);
    zlgi_room_work_done(writer, block, n_bytes);
    return status;
}

/* What one writer kept last of a cell counts; of two writers, the whole one. */
static zlg_status take_record(taking *t, const zlgi_kept_record *r)
{
    zlgi_held *held = t->held;
    if (r->i_cell >= held->n_cells)
        return zlgi_fail(t->err, ZLG_CORRUPT, "its record at byte %llu is of chunk %llu",
                         (unsigned long long)r->at, (unsigned long long)r->i_cell);
    t->cell = &held->cells[r->i_cell];
    zlgi_cell_locate(t->cell, &t->box);
    ZLGI_TRY(check_record(t, r));
    bool is_encoded = r->kind == ZLGI_KEPT_EMPTY || r->kind == ZLGI_KEPT_WHOLE;
    if (t->cell->state != ZLGI_CELL_EMPTY && (is_encoded || t->cell->kept == t->from))
        unset_cell(t);
    if (t->cell->state == ZLGI_CELL_EMPTY)
        return set_cell(t, r);
    return t->cell->state == ZLGI_CELL_ENCODED ? ZLG_OK : join_cell(t, r);
}

/* What lies in it was acknowledged, up to its end. */
static zlg_status take_file(taking *t)
{
    zlgi_buf records;
    const char *folder = t->writer->journal->folder;
    ZLGI_TRY(zlgi_file_open(folder, t->from->name, &t->file, t->err));
    zlgi_buf_init(&records, &t->writer->ctx->alloc);
    zlg_status status =
        zlgi_kept_read_records(t->file, t->from->first, t->from->end, &records, t->err);
    const zlgi_kept_record *r = (const zlgi_kept_record *)(const void *)records.data;
    for (size_t i = 0; i < records.n / sizeof *r && status == ZLG_OK; i++)
        status = take_record(t, &r[i]);
    zlgi_buf_reset(&records);
    zlgi_file_close(t->file);
    return status;
}

/* Those that somebody else has taken are not there any more. */
static zlg_status own_files(zlg_writer *writer, zlgi_kept_file **files, zlg_error *err)
{
    zlg_status status = ZLG_OK;
    for (zlgi_kept_file **link = files, *file; (file = *link) && status == ZLG_OK;) {
        status = zlgi_journal_own_kept(writer->journal, file, err);
        if (status == ZLG_NOT_FOUND) {
            *link = file->next;
            zlgi_free(writer->journal->alloc, file, sizeof *file);
            status = ZLG_OK;
        } else {
            link = &file->next;
        }
    }
    return status;
}

/* An object that is here already was stored: it begins anew. */
static zlg_status begin(taking *t, zlgi_fed *fed, const int64_t *coordinates)
{
    zlgi_held *held = zlgi_held_find(fed, coordinates);
    bool is_mine = held && held->is_mine;
    if (held)
        zlgi_held_free(t->writer, held);
    ZLGI_TRY(zlgi_held_get(t->writer, fed, coordinates, &t->held, t->err));
    t->held->is_mine = is_mine;
    return ZLG_OK;
}

static zlg_status take_files(taking *t, zlgi_fed *fed, const int64_t *coordinates,
                             zlgi_kept_file *files)
{
    zlg_status status = begin(t, fed, coordinates);
    if (status != ZLG_OK)
        return status;
    t->held->n_busy++; /* nobody stores it meanwhile */
    for (t->from = files; t->from && status == ZLG_OK; t->from = t->from->next)
        status =
            zlgi_kept_within(t->writer, fed, coordinates, t->from, take_file(t), t->err);
    t->held->n_busy--;
    if (status != ZLG_OK) {
        zlgi_held_free(t->writer, t->held);
        return status;
    }
    t->held->kept = files;
    for (uint64_t i = 0; i < t->held->n_cells; i++)
        if (t->held->cells[i].state == ZLGI_CELL_FULL)
            zlgi_cell_queue(t->writer, &t->held->cells[i]);
    zlgi_held_settle(t->writer, t->held);
    return ZLG_OK;
}

zlg_status zlgi_kept_take(zlg_writer *writer, zlgi_fed *fed, const int64_t *coordinates,
                          zlg_error *err)
{
    taking t = {.writer = writer, .err = err};
    zlgi_known_object *object =
        fed->known ? zlgi_known_find(fed->known, coordinates) : NULL;
    if (!object || !object->kept)
        return ZLG_OK;
    zlgi_kept_file *files = object->kept;
    object->kept = NULL;
    zlg_status status = own_files(writer, &files, err);
    if (status == ZLG_OK && files)
        status = take_files(&t, fed, coordinates, files);
    if (status != ZLG_OK) /* the next one meets them again */
        zlgi_known_find(fed->known, coordinates)->kept = files;
    return status;
}

static zlg_status check_place(const zlgi_fed *fed, const int64_t *coordinates,
                              zlg_error *err)
{
    for (int i = 0; i < fed->plain->meta.rank; i++)
        if (coordinates[i] < 0 ||
            coordinates[i] >= fed->plain->source.grid.axis[i].n_chunks)
            return zlgi_fail(err, ZLG_CORRUPT,
                             "a kept file is of an object beyond the array");
    return ZLG_OK;
}

zlg_status zlgi_kept_take_rest(zlg_writer *writer, zlg_error *err)
{
    for (int i = 0; i < writer->n_fed; i++) {
        zlgi_fed *fed = writer->fed[i];
        const zlgi_known_object *object;
        while (fed->known && (object = zlgi_known_kept(fed->known))) {
            int64_t at[ZLG_MAX_RANK] = {0};
            memcpy(at, object->coordinates, (size_t)fed->known->rank * sizeof *at);
            zlg_status status = check_place(fed, at, err);
            if (status == ZLG_OK)
                status = zlgi_kept_take(writer, fed, at, err);
            ZLGI_TRY(zlgi_array_within(fed->array, status, err));
        }
    }
    return ZLG_OK;
}
