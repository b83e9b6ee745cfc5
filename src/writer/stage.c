/*
 * stage.c: chunks go to their place in the file that becomes their object, one by one, and
 * their memory is free at once. Large chunks that are stored as they are have a place from
 * the beginning, and go there as soon as they are full: so a shard of them costs no memory,
 * and what is left to do when its last chunk comes is the index and a name. Others go there
 * in their order when the last one is encoded.
 */
#include "writer/writer.h"

/* Smaller chunks are put in one go. So many files are open at once. */
enum { PLACED_BYTES = 256 * 1024, STAGED_BYTES = 64 * 1024, MAX_FILES = 64 };

zlgi_staging zlgi_stage_suits(const zlg_writer *writer, const zlgi_fed *fed)
{
    const zlg_array *array = fed->array;
    const zlgi_level *level = array->source.level;
    bool suits = array->store->class->stage && level->sharding && level->fixed &&
                 !level->wrapped && !level->inner->sharding && !level->fill.data &&
                 fed->call.promise == ZLG_VISIBLE &&
                 writer->options.existing != ZLG_EXISTING_SKIP_EQUAL;
    for (int i = 0; suits && i < array->meta.rank; i++)
        suits = level->order[i] == i;
    if (!suits)
        return ZLGI_STAGED_NOT;
    return level->inner->raw && fed->n_bytes_cell >= PLACED_BYTES ? ZLGI_STAGED_PLACED
                                                                  : ZLGI_STAGED_ORDERED;
}

/* Which of the cells inside the array, in the order in which they are stored, each is. */
static bool make_places(zlg_writer *writer, zlgi_held *held)
{
    zlgi_order order;
    uint64_t i_cell, n = 0;
    held->places = zlgi_resize(&writer->ctx->alloc, NULL, 0,
                               (size_t)held->n_cells * sizeof *held->places);
    if (!held->places)
        return false;
    zlgi_order_start(&order, held->fed->call.inner_order, held->fed->array->meta.rank,
                     held->cell_grid);
    while (zlgi_order_next(&order, &i_cell)) {
        zlgi_cell_box box;
        zlgi_cell_locate(&held->cells[i_cell], &box);
        held->places[i_cell] = n;
        n += box.n_inside > 0;
    }
    return true;
}

static bool open_file(zlg_writer *writer, zlgi_held *held)
{
    zlg_store *store = held->fed->array->store;
    if (held->has_file)
        return true;
    if (writer->n_files == MAX_FILES ||
        store->class->stage(store, &held->file, NULL) != ZLG_OK)
        return false;
    writer->n_files++;
    held->has_file = true;
    return true;
}

void zlgi_stage_end(zlg_writer *writer, zlgi_held *held)
{
    if (held->has_file) {
        zlgi_file_close(held->file);
        writer->n_files--;
    }
    if (held->places)
        zlgi_free(&writer->ctx->alloc, held->places,
                  (size_t)held->n_cells * sizeof *held->places);
    held->has_file = false;
    held->places = NULL;
}

static uint64_t n_bytes_index(const zlgi_held *held)
{
    const zlgi_level *level = held->fed->array->source.level;
    return level->sharding->index_at_start ? level->box->n_bytes_index : 0;
}

/* Into the file of its object. When it fails it stays in memory, and the error comes when
 * the object is stored. */
static bool move(zlg_writer *writer, zlgi_cell *cell, uint64_t at)
{
    zlgi_held *held = cell->held;
    pthread_mutex_unlock(&writer->lock);
    zlg_status status = zlgi_file_write_at(held->file, cell->data, cell->n_bytes, at, NULL);
    pthread_mutex_lock(&writer->lock);
    if (status != ZLG_OK)
        return false;
    zlgi_cell_free_block(writer, cell);
    held->n_staged++;
    cell->is_staged = true;
    cell->side_at = at;
    return true;
}

/* One thread at a time: the system lets no two write to a file, and has them spin. */
void zlgi_stage_cell(zlg_writer *writer, zlgi_cell *cell)
{
    zlgi_held *held = cell->held;
    if (held->fed->staging != ZLGI_STAGED_PLACED || !open_file(writer, held) ||
        (!held->places && !make_places(writer, held)))
        return;
    uint64_t i_place = held->places[cell - held->cells];
    while (held->is_writing)
        zlgi_writer_pause(writer);
    held->is_writing = true;
    move(writer, cell, n_bytes_index(held) + i_place * (uint64_t)cell->n_bytes);
    held->is_writing = false;
    zlgi_writer_changed(writer);
}

/* So much that it is worth a write for each, and nothing that must be read back. */
static bool suits_in_order(const zlgi_held *held)
{
    uint64_t n = 0, n_bytes = 0;
    if (held->fed->staging != ZLGI_STAGED_ORDERED || held->n_staged > 0)
        return false;
    for (uint64_t i = 0; i < held->n_cells; i++) {
        const zlgi_cell *cell = &held->cells[i];
        if (cell->is_spilled)
            return false;
        n += cell->data != NULL;
        n_bytes += cell->data ? cell->n_bytes : 0;
    }
    return n > 1 && n_bytes / n >= STAGED_BYTES;
}

bool zlgi_stage_in_order(zlg_writer *writer, zlgi_held *held)
{
    zlgi_order order;
    uint64_t i_cell, at;
    if (!suits_in_order(held) || !open_file(writer, held))
        return false;
    at = n_bytes_index(held);
    zlgi_order_start(&order, held->fed->call.inner_order, held->fed->array->meta.rank,
                     held->cell_grid);
    while (zlgi_order_next(&order, &i_cell)) {
        zlgi_cell *cell = &held->cells[i_cell];
        if (!cell->data)
            continue; /* it is absent, or lies outside the array */
        if (!move(writer, cell, at))
            return false;
        at += cell->n_bytes;
    }
    return true;
}

bool zlgi_stage_is_whole(const zlgi_held *held)
{
    return held->has_file && held->n_staged == held->n_inside;
}

/* ------------------------------------------------------------------ the object */

static zlg_status make_index(const zlgi_held *held, zlgi_scratch *scratch,
                             zlgi_buf *numbers, zlgi_buf *out, zlg_error *err)
{
    const zlgi_level *level = held->fed->array->source.level;
    size_t n = (size_t)held->n_cells * 2 * sizeof(uint64_t);
    ZLGI_TRY(zlgi_buf_reserve(numbers, n, false, err));
    uint64_t *index = (uint64_t *)(void *)numbers->data;
    for (uint64_t i = 0; i < held->n_cells; i++) {
        const zlgi_cell *cell = &held->cells[i];
        index[2 * i] = cell->is_staged ? cell->side_at : ZLGI_EMPTY;
        index[2 * i + 1] = cell->is_staged ? cell->n_bytes : ZLGI_EMPTY;
    }
    return zlgi_sharding_index_encode(level->sharding, scratch, held->cell_grid,
                                      held->n_cells, index, out, err);
}

static zlg_status commit(const zlgi_held *held, const zlgi_bytes *parts, zlgi_change change,
                         zlg_error *err)
{
    char key[ZLGI_PATH_MAX];
    const zlgi_source *source = &held->fed->array->source;
    zlg_store *store = held->fed->array->store;
    zlgi_txn txn = {
        .change = change, .promise = ZLG_VISIBLE, .file = held->file, .is_staged = true};
    ZLGI_TRY(zlgi_plan_key(source, held->coordinates, key, err));
    ZLGI_TRY(store->class->begin(store, key, &txn, err));
    zlg_status status = store->class->commit(store, key, &txn, parts, 2, err);
    store->class->end(store, &txn);
    return status;
}

zlg_status zlgi_stage_put(const zlgi_held *held, zlgi_scratch *scratch, zlgi_change change,
                          uint64_t *out_n_bytes, zlg_error *err)
{
    zlgi_buf *numbers = zlgi_scratch_push(scratch), *index = zlgi_scratch_push(scratch);
    zlg_status status = make_index(held, scratch, numbers, index, err);
    zlgi_bytes parts[2] = {{.n = 0}, {.data = index->data, .n = index->n}};
    for (uint64_t i = 0; i < held->n_cells; i++)
        parts[0].n += held->cells[i].is_staged ? held->cells[i].n_bytes : 0;
    if (n_bytes_index(held) > 0) {
        const zlgi_bytes chunks = parts[0];
        parts[0] = parts[1];
        parts[1] = chunks;
    }
    if (status == ZLG_OK)
        status = commit(held, parts, change, err);
    *out_n_bytes = parts[0].n + parts[1].n;
    zlgi_scratch_pop(scratch);
    zlgi_scratch_pop(scratch);
    return status;
}
