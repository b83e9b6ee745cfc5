/*
 * kept.c: objects that are not full when they are flushed, in files beside the journal
 * until they are: what is written there, and when a file is written anew. kept_take.c has
 * how a writer gets what a dead one kept; kept_file.c knows how the files look.
 */
#include "writer/writer.h"

bool zlgi_kept_suits(const zlg_writer *writer, const zlgi_held *held)
{
    return writer->options.partial == ZLG_PARTIAL_KEEP &&
           writer->state != ZLGI_WRITER_CLOSING && held->fed->known &&
           held->fed->growth.axis < 0 && held->n_done < held->n_inside;
}

void zlgi_kept_forget(zlgi_cell *cell)
{
    cell->held->n_kept -= cell->kept != NULL;
    cell->kept = NULL;
}

zlg_status zlgi_kept_within(const zlg_writer *writer, const zlgi_fed *fed,
                            const int64_t *coordinates, const zlgi_kept_file *file,
                            zlg_status status, zlg_error *err)
{
    char key[ZLGI_PATH_MAX] = "";
    if (status == ZLG_OK)
        return status;
    (void)zlgi_plan_key(&fed->plain->source, coordinates, key, NULL);
    return zlgi_within(err, status, "%s, kept in %s/%s", key, writer->journal->folder,
                       file->name);
}

/* Of a submit that failed a cell may have nothing. */
static bool needs_file(const zlgi_cell *cell)
{
    return cell->state == ZLGI_CELL_ENCODED ||
           (cell->state == ZLGI_CELL_FILLING && !cell->is_clean && cell->given.n > 0);
}

static bool is_all_kept(const zlgi_held *held)
{
    for (uint64_t i = 0; i < held->n_cells; i++)
        if (needs_file(&held->cells[i]) && !held->cells[i].kept)
            return false;
    return true;
}

static zlgi_kept_record record_of(const zlgi_cell *cell)
{
    zlgi_kept_record r = {.i_cell = (uint64_t)(cell - cell->held->cells),
                          .n_data = cell->n_bytes};
    if (cell->state == ZLGI_CELL_ENCODED) {
        r.kind = cell->is_absent ? ZLGI_KEPT_EMPTY : ZLGI_KEPT_WHOLE;
        return r;
    }
    r.kind = cell->given.kind == ZLGI_GIVEN_BOX ? ZLGI_KEPT_BOX : ZLGI_KEPT_BITS;
    r.n_given = cell->given.n_bytes;
    r.n_elements = cell->given.n;
    return r;
}

/* ------------------------------------------------------------------ keeping */

typedef struct keeping {
    zlg_writer *writer;
    zlgi_held *held;
    zlgi_kept_file *to;
    bool is_new; /* all that needs a file goes to it, and the others go */
    int file;
    uint64_t end;
    uint64_t *places; /* of cells that are written; 0: it is not */
    zlg_error *err;
} keeping;

/* Also when there are several, of writers that had parts of one object. */
static bool needs_new(const zlgi_held *held)
{
    uint64_t n_live = 0;
    const zlgi_kept_file *file = held->kept;
    if (!file || file->next || file->has_failed)
        return true;
    for (uint64_t i = 0; i < held->n_cells; i++) {
        const zlgi_kept_record r = record_of(&held->cells[i]);
        n_live += needs_file(&held->cells[i]) ? zlgi_kept_extent(&r) : 0;
    }
    return held->n_kept == 0 || file->end - file->first > 2 * n_live;
}

/* Its elements in memory, with the fill value where none was given. */
static void fill(zlg_writer *writer, zlgi_cell *cell)
{
    const zlgi_fed *fed = cell->held->fed;
    zlgi_cell_box box;
    zlgi_cell_locate(cell, &box);
    size_t n_more = cell->n_bytes - cell->n_charged;
    if (!zlgi_room_has(writer, n_more))
        zlgi_side_spill(writer, n_more, cell->held);
    zlgi_cell_charge(writer, cell, cell->n_bytes);
    pthread_mutex_unlock(&writer->lock);
    zlgi_given_fill_rest(&cell->given, fed->array->meta.rank, box.shape, cell->data,
                         fed->array->source.fill.data, fed->item);
    pthread_mutex_lock(&writer->lock);
}

/* What is not in memory comes into a block for so long. */
static zlg_status write_cell(keeping *k, zlgi_cell *cell)
{
    zlg_writer *writer = k->writer;
    zlgi_kept_record r = record_of(cell);
    bool has_bits = r.kind == ZLGI_KEPT_BITS && !cell->given.data;
    size_t n_block = cell->n_bytes + (has_bits ? cell->given.n_bytes : 0);
    uint8_t *block = NULL, *bits = NULL;
    if (cell->is_spilled && !(block = zlgi_room_work(writer, n_block)))
        return zlgi_no_memory(k->err, n_block);
    if (has_bits)
        bits = block + cell->n_bytes;
    if (!block && cell->state == ZLGI_CELL_FILLING)
        fill(writer, cell);
    pthread_mutex_unlock(&writer->lock);
    zlg_status status = block ? zlgi_side_read(writer, cell, block, bits, k->err) : ZLG_OK;
    if (status == ZLG_OK)
        status = zlgi_kept_write(k->file, k->end, &r, block ? block : cell->data,
                                 bits ? bits : cell->given.data, k->err);
    pthread_mutex_lock(&writer->lock);
    if (block)
        zlgi_room_work_done(writer, block, n_block);
    if (status != ZLG_OK)
        return status;
    k->places[r.i_cell] = r.at;
    k->end += zlgi_kept_extent(&r);
    writer->counts.n_kept++;
    writer->counts.n_bytes_kept += zlgi_kept_extent(&r);
    return ZLG_OK;
}

/* Without the lock. */
static zlg_status open_file(keeping *k)
{
    zlgi_journal *journal = k->writer->journal;
    zlg_status status =
        k->is_new ? zlgi_journal_make_kept(journal, k->held->fed->known,
                                           k->held->coordinates, &k->file, k->to, k->err)
                  : zlgi_file_open(journal->folder, k->to->name, &k->file, k->err);
    k->end = k->to->end;
    return status;
}

/* A new file is named when it can be read, and belongs to the object from then on, whatever
 * fails. Without the lock. */
static zlg_status acknowledge(keeping *k)
{
    zlgi_journal *journal = k->writer->journal;
    bool is_lasting = k->held->fed->known->is_lasting;
    ZLGI_TRY(zlgi_kept_acknowledge(k->file, k->end, is_lasting, k->err));
    k->to->end = k->end;
    if (!k->is_new)
        return ZLG_OK;
    ZLGI_TRY(zlgi_journal_own_kept(journal, k->to, k->err));
    k->to->next = k->held->kept;
    k->held->kept = k->to;
    return is_lasting ? zlgi_folder_sync(journal->folder, k->err) : ZLG_OK;
}

static zlg_status write_all(keeping *k)
{
    zlg_writer *writer = k->writer;
    pthread_mutex_unlock(&writer->lock);
    zlg_status status = open_file(k);
    pthread_mutex_lock(&writer->lock);
    ZLGI_TRY(status);
    for (uint64_t i = 0; i < k->held->n_cells && status == ZLG_OK; i++) {
        zlgi_cell *cell = &k->held->cells[i];
        if (needs_file(cell) && (k->is_new || !cell->kept))
            status = write_cell(k, cell);
    }
    pthread_mutex_unlock(&writer->lock);
    if (status == ZLG_OK)
        status = acknowledge(k);
    zlgi_file_close(k->file);
    if (status != ZLG_OK && k->is_new && k->held->kept != k->to)
        (void)zlgi_file_remove(writer->journal->folder, k->to->name, NULL);
    pthread_mutex_lock(&writer->lock);
    return status;
}

static void settle_cells(keeping *k)
{
    for (uint64_t i = 0; i < k->held->n_cells; i++) {
        zlgi_cell *cell = &k->held->cells[i];
        if (k->places[i] == 0)
            continue;
        if (cell->is_spilled) { /* it may lie in the side file */
            zlgi_side_forget(k->writer, cell);
            cell->is_spilled = true;
        }
        k->held->n_kept += !cell->kept;
        cell->kept = k->to;
        cell->side_at = k->places[i];
    }
}

/* Files that cannot be removed stay, and go when the object is stored. */
static void remove_others(keeping *k)
{
    const zlgi_journal *journal = k->writer->journal;
    pthread_mutex_unlock(&k->writer->lock);
    for (zlgi_kept_file **link = &k->to->next, *file; (file = *link);) {
        if (zlgi_file_remove(journal->folder, file->name, NULL) != ZLG_OK) {
            link = &file->next;
            continue;
        }
        *link = file->next;
        zlgi_free(journal->alloc, file, sizeof *file);
    }
    pthread_mutex_lock(&k->writer->lock);
}

/* Whoever may not change what is there is told before something is kept, which counts as
 * stored. */
static zlg_status check_existing(zlg_writer *writer, const zlgi_held *held, zlg_error *err)
{
    const zlgi_source *source = &held->fed->plain->source;
    char key[ZLGI_PATH_MAX];
    bool is_there = false;
    if (writer->options.existing != ZLG_EXISTING_REFUSE || held->is_mine || held->kept)
        return ZLG_OK;
    pthread_mutex_unlock(&writer->lock);
    zlg_status status = zlgi_object_look(held->fed, held->coordinates, &is_there, err);
    pthread_mutex_lock(&writer->lock);
    writer->counts.n_opened++;
    if (status == ZLG_OK && is_there)
        status = zlgi_plan_key(source, held->coordinates, key, err);
    if (status == ZLG_OK && is_there)
        status = zlgi_fail(err, ZLG_EXISTS, "chunk %s is there already",
                           zlgi_plan_name(source, key));
    return zlgi_array_within(held->fed->array, status, err);
}

zlg_status zlgi_kept_put(zlg_writer *writer, zlgi_held *held, zlg_error *err)
{
    const zlgi_alloc *alloc = &writer->ctx->alloc;
    size_t n_bytes = (size_t)held->n_cells * sizeof(uint64_t);
    keeping k = {.writer = writer, .held = held, .is_new = needs_new(held), .err = err};
    if (is_all_kept(held))
        return ZLG_OK;
    ZLGI_TRY(check_existing(writer, held, err));
    k.to = k.is_new ? zlgi_new(alloc, sizeof *k.to) : held->kept;
    k.places = k.to ? zlgi_new(alloc, n_bytes) : NULL;
    zlg_status status =
        k.places ? write_all(&k) : zlgi_no_memory(err, n_bytes + sizeof *k.to);
    if (k.to)
        status = zlgi_kept_within(writer, held->fed, held->coordinates, k.to, status, err);
    if (status == ZLG_OK) {
        settle_cells(&k);
        remove_others(&k);
    } else if (k.to) {
        k.to->has_failed = true;
    }
    if (k.to && held->kept != k.to)
        zlgi_free(alloc, k.to, sizeof *k.to);
    if (k.places)
        zlgi_free(alloc, k.places, n_bytes);
    return zlgi_array_within(held->fed->array, status, err);
}

zlg_status zlgi_kept_read_cell(const zlg_writer *writer, const zlgi_cell *cell,
                               uint8_t *data, uint8_t *bits, zlg_error *err)
{
    const zlgi_held *held = cell->held;
    const zlgi_kept_record wanted = record_of(cell);
    zlgi_kept_record r;
    int file;
    zlg_status status =
        zlgi_file_open(writer->journal->folder, cell->kept->name, &file, err);
    if (status == ZLG_OK) {
        status = zlgi_kept_read_head(file, cell->side_at, cell->kept->end, &r, err);
        if (status == ZLG_OK && (r.i_cell != wanted.i_cell || r.n_data != wanted.n_data ||
                                 r.n_given != wanted.n_given))
            status = zlgi_fail(err, ZLG_CORRUPT, "its record at byte %llu is another one",
                               (unsigned long long)cell->side_at);
        if (status == ZLG_OK)
            status = zlgi_kept_read(file, &r, data, bits, err);
        zlgi_file_close(file);
    }
    return zlgi_kept_within(writer, held->fed, held->coordinates, cell->kept, status, err);
}

/* ------------------------------------------------------------------ the end */

/* All of it was loaded to be stored. */
zlg_status zlgi_kept_end(zlg_writer *writer, zlgi_held *held, zlg_error *err)
{
    const zlgi_journal *journal = writer->journal;
    if (!held->kept)
        return ZLG_OK;
    for (uint64_t i = 0; i < held->n_cells; i++)
        zlgi_kept_forget(&held->cells[i]);
    pthread_mutex_unlock(&writer->lock);
    zlg_status status = ZLG_OK;
    for (const zlgi_kept_file *file = held->kept; file && status == ZLG_OK;
         file = file->next)
        status = zlgi_file_remove(journal->folder, file->name, err);
    if (status == ZLG_OK && held->fed->known->is_lasting)
        status = zlgi_folder_sync(journal->folder, err);
    pthread_mutex_lock(&writer->lock);
    status =
        zlgi_kept_within(writer, held->fed, held->coordinates, held->kept, status, err);
    if (status != ZLG_OK)
        return zlgi_array_within(held->fed->array, status, err);
    zlgi_kept_free(held->kept, journal->alloc);
    held->kept = NULL;
    return ZLG_OK;
}

/* ------------------------------------------------------------------ asking */

/* The place of a cell among those that a box touches; false: it is none. */
static bool find_place(const zlgi_object_cut *cut, int rank, uint64_t i_cell, uint64_t *out)
{
    uint64_t n = 1;
    *out = 0;
    for (int i = rank - 1; i >= 0; i--) {
        int64_t at = (int64_t)(i_cell % (uint64_t)cut->grid[i]);
        i_cell /= (uint64_t)cut->grid[i];
        if (at < cut->low[i] || at > cut->high[i])
            return false;
        *out += n * (uint64_t)(at - cut->low[i]);
        n *= (uint64_t)(cut->high[i] - cut->low[i] + 1);
    }
    return true;
}

static void mark(uint8_t *marks, uint64_t at, bool is_whole, uint64_t *n)
{
    *n += is_whole && !marks[at];
    marks[at] = marks[at] || is_whole;
}

static uint64_t count_held(const zlgi_held *held, const zlgi_object_cut *cut,
                           uint8_t *marks)
{
    uint64_t n = 0, at;
    for (uint64_t i = 0; held->cells && i < held->n_cells; i++) {
        const zlgi_cell *cell = &held->cells[i];
        if (find_place(cut, held->fed->array->meta.rank, i, &at))
            mark(marks, at, cell->kept && cell->state == ZLGI_CELL_ENCODED, &n);
    }
    return n;
}

/* In a file that nobody has taken; NOT_FOUND: somebody has. */
static zlg_status count_file(const zlg_writer *writer, const zlgi_kept_file *kept, int rank,
                             const zlgi_object_cut *cut, uint8_t *marks, uint64_t *n,
                             zlg_error *err)
{
    int file;
    uint64_t at;
    zlgi_buf records;
    ZLGI_TRY(zlgi_file_open(writer->journal->folder, kept->name, &file, err));
    zlgi_buf_init(&records, &writer->ctx->alloc);
    zlg_status status = zlgi_kept_read_records(file, kept->first, kept->end, &records, err);
    zlgi_file_close(file);
    const zlgi_kept_record *r = (const zlgi_kept_record *)(const void *)records.data;
    for (size_t i = 0; i < records.n / sizeof *r && status == ZLG_OK; i++)
        if (find_place(cut, rank, r[i].i_cell, &at))
            mark(marks, at, r[i].kind == ZLGI_KEPT_EMPTY || r[i].kind == ZLGI_KEPT_WHOLE,
                 n);
    zlgi_buf_reset(&records);
    return status;
}

zlg_status zlgi_kept_has(const zlg_writer *writer, zlgi_fed *fed,
                         const int64_t *coordinates, const int64_t *start,
                         const int64_t *count, bool *out, zlg_error *err)
{
    zlgi_object_cut cut;
    uint64_t n_all = 1, n = 0;
    int rank = fed->array->meta.rank;
    const zlgi_held *held = zlgi_held_find(fed, coordinates);
    const zlgi_known_object *object =
        fed->known ? zlgi_known_find(fed->known, coordinates) : NULL;
    *out = false;
    if (fed->growth.axis >= 0 || !(held || (object && object->kept)))
        return ZLG_OK;
    zlgi_cut_object(fed->array, start, count, coordinates, &cut);
    for (int i = 0; i < rank; i++)
        n_all *= (uint64_t)(cut.high[i] - cut.low[i] + 1);
    uint8_t *marks = zlgi_new(&writer->ctx->alloc, (size_t)n_all);
    if (!marks)
        return zlgi_no_memory(err, (size_t)n_all);
    zlg_status status = ZLG_OK;
    if (held)
        n = count_held(held, &cut, marks);
    for (const zlgi_kept_file *file = held ? NULL : object->kept; file && status == ZLG_OK;
         file = file->next)
        status =
            zlgi_kept_within(writer, fed, coordinates, file,
                             count_file(writer, file, rank, &cut, marks, &n, err), err);
    zlgi_free(&writer->ctx->alloc, marks, (size_t)n_all);
    *out = status == ZLG_OK && n == n_all;
    return status == ZLG_NOT_FOUND ? ZLG_OK : status;
}
