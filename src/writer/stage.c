/*
 * stage.c: large chunks that are stored as they are go to their place in the file that
 * becomes their object as soon as they are full: so a shard of them costs no memory, and
 * what is left to do when its last chunk comes is the index and a name.
 */
#include "writer/writer.h"

/* Smaller ones are put in one go with the others. So many files are open at once. */
enum { STAGED_BYTES = 256 * 1024, MAX_FILES = 64 };

bool zlgi_stage_suits(const zlg_writer *writer, const zlgi_fed *fed)
{
    const zlg_array *array = fed->array;
    const zlgi_level *level = array->source.level;
    bool suits = array->store->class->stage && level->sharding && !level->wrapped &&
                 level->fixed && level->inner->raw && !level->fill.data &&
                 fed->call.promise == ZLG_VISIBLE && fed->n_bytes_cell >= STAGED_BYTES &&
                 writer->options.existing != ZLG_EXISTING_SKIP_EQUAL;
    for (int i = 0; suits && i < array->meta.rank; i++)
        suits = level->order[i] == i;
    return suits;
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
    if (writer->n_files == MAX_FILES || !make_places(writer, held))
        return false;
    if (store->class->stage(store, &held->file, NULL) != ZLG_OK) {
        zlgi_stage_end(writer, held);
        return false;
    }
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

void zlgi_stage_cell(zlg_writer *writer, zlgi_cell *cell)
{
    zlgi_held *held = cell->held;
    if (!held->fed->is_staged || !open_file(writer, held))
        return;
    uint64_t at =
        n_bytes_index(held) + held->places[cell - held->cells] * (uint64_t)cell->n_bytes;
    pthread_mutex_unlock(&writer->lock);
    zlg_status status = zlgi_file_write_at(held->file, cell->data, cell->n_bytes, at, NULL);
    pthread_mutex_lock(&writer->lock);
    if (status != ZLG_OK)
        return; /* it stays in memory; the error comes when the object is stored */
    zlgi_cell_free_block(writer, cell);
    held->n_staged++;
    cell->is_staged = true;
    cell->side_at = at;
}

bool zlgi_stage_is_whole(const zlgi_held *held)
{
    return held->has_file && held->n_staged == held->n_inside;
}

/* ------------------------------------------------------------------ the object */

static zlg_status make_index(const zlgi_held *held, zlgi_scratch *scratch, uint64_t n_bytes,
                             zlgi_buf *numbers, zlgi_buf *out, zlg_error *err)
{
    const zlgi_level *level = held->fed->array->source.level;
    size_t n = (size_t)held->n_cells * 2 * sizeof(uint64_t);
    ZLGI_TRY(zlgi_buf_reserve(numbers, n, false, err));
    uint64_t *index = (uint64_t *)(void *)numbers->data;
    for (uint64_t i = 0; i < held->n_cells; i++) {
        bool is_here = held->cells[i].is_staged;
        index[2 * i] = is_here ? held->cells[i].side_at : ZLGI_EMPTY;
        index[2 * i + 1] = is_here ? n_bytes : ZLGI_EMPTY;
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
    uint64_t n_bytes = held->fed->n_bytes_cell;
    zlg_status status = make_index(held, scratch, n_bytes, numbers, index, err);
    zlgi_bytes parts[2] = {{.n = (size_t)(held->n_inside * n_bytes)},
                           {.data = index->data, .n = index->n}};
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
