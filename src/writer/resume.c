/*
 * resume.c: what a writer tells its journal, and what it need not do because an earlier one
 * has done it.
 */
#include "writer/writer.h"

zlg_status zlgi_resume_open(zlg_writer *writer, const char *folder, zlg_error *err)
{
    return zlgi_journal_open(&writer->ctx->alloc, folder, &writer->journal, err);
}

/* ------------------------------------------------------------------ arrays */

static uint64_t add_to_sum(uint64_t sum, const void *data, size_t n)
{
    const uint8_t *bytes = data;
    for (size_t i = 0; i < n; i++)
        sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
    return sum;
}

/* An array that was made anew is another one, whose objects have not been stored, also
 * when its document is the same. */
static zlg_status add_folder(const zlgi_fed *fed, uint64_t *sum, zlg_error *err)
{
    char path[ZLGI_FOLDER_MAX];
    zlgi_folder_id id;
    if (!zlgi_array_folder(fed->plain->store, fed->plain->path, path))
        return ZLG_OK;
    ZLGI_TRY(zlgi_folder_identify(path, &id, err));
    const uint64_t numbers[] = {id.inode, id.made_ns, id.emptied};
    *sum = add_to_sum(*sum, numbers, sizeof numbers);
    return ZLG_OK;
}

/* Of the document but for its attributes, which say nothing of what objects hold; of the
 * folder; and of what "stored" means. */
static zlg_status fingerprint(const zlg_writer *writer, const zlgi_fed *fed, uint64_t *out,
                              zlg_error *err)
{
    uint64_t promise = (uint64_t)fed->call.promise, sum = UINT64_C(0xcbf29ce484222325);
    zlgi_buf text;
    zlg_status status = ZLG_OK;
    zlgi_buf_init(&text, &writer->ctx->alloc);
    for (const zlgi_json *part = fed->plain->meta.document->items; part && status == ZLG_OK;
         part = part->next) {
        if (strcmp(part->name, "attributes") == 0)
            continue;
        text.n = 0;
        status = zlgi_json_write(part, 0, &text, err);
        sum = add_to_sum(sum, part->name, part->n_name + 1);
        sum = add_to_sum(sum, text.data, text.n);
    }
    zlgi_buf_reset(&text);
    if (status == ZLG_OK)
        status = add_folder(fed, &sum, err);
    *out = add_to_sum(sum, &promise, sizeof promise);
    return status;
}

/* A journal knows arrays by their paths. */
static zlg_status check_store(const zlg_writer *writer, const zlgi_fed *fed, zlg_error *err)
{
    for (int i = 0; i < writer->n_fed; i++)
        if (writer->fed[i]->plain->store->id != fed->plain->store->id)
            return zlgi_fail(err, ZLG_USAGE, "a journal is for arrays of one store");
    return ZLG_OK;
}

zlg_status zlgi_resume_add(zlg_writer *writer, zlgi_fed *fed, zlg_error *err)
{
    if (!writer->journal)
        return ZLG_OK;
    zlgi_journal_array array = {.path = fed->plain->path,
                                .is_lasting = fed->call.promise >= ZLG_DURABLE,
                                .rank = fed->plain->meta.rank,
                                .has_claim = fed->claim.is_taken,
                                .first = fed->claim.first,
                                .last = fed->claim.last};
    ZLGI_TRY(check_store(writer, fed, err));
    ZLGI_TRY(fingerprint(writer, fed, &array.fingerprint, err));
    return zlgi_journal_add(writer->journal, &array, &fed->known, err);
}

/* ------------------------------------------------------------------ objects */

/* NULL: it is not stored, as far as is known. Of an array that grows its shape tells what
 * is stored. */
static zlgi_known_object *find_stored(const zlgi_fed *fed, const int64_t *coordinates)
{
    zlgi_known_object *object = NULL;
    if (fed->known && fed->growth.axis < 0)
        object = zlgi_known_find(fed->known, coordinates);
    return object && object->source != 0 ? object : NULL;
}

zlg_status zlgi_object_look(const zlgi_fed *fed, const int64_t *coordinates, bool *out,
                            zlg_error *err)
{
    zlg_store *store = fed->plain->store;
    char key[ZLGI_PATH_MAX];
    zlgi_object object;
    ZLGI_TRY(zlgi_plan_key(&fed->plain->source, coordinates, key, err));
    zlg_status status = store->class->open(store, key, 0, &object, err);
    *out = status == ZLG_OK;
    if (status == ZLG_OK)
        store->class->release(store, &object);
    return status == ZLG_NOT_FOUND ? ZLG_OK : status;
}

/* Somebody may have removed it. The lock is given up meanwhile. */
static zlg_status check_object(zlg_writer *writer, const zlgi_fed *fed,
                               const int64_t *coordinates, zlg_error *err)
{
    bool is_found = false;
    pthread_mutex_unlock(&writer->lock);
    zlg_status status = zlgi_object_look(fed, coordinates, &is_found, err);
    pthread_mutex_lock(&writer->lock);
    zlgi_known_object *object = find_stored(fed, coordinates);
    writer->counts.n_opened++;
    if (status == ZLG_OK && object && object->source != ZLGI_KNOWN_OWN) {
        object->is_checked = true;
        object->source = is_found ? object->source : 0;
    }
    return status;
}

/* By an earlier writer. NULL: it is not. */
static zlg_status find_earlier(zlg_writer *writer, const zlgi_fed *fed,
                               const int64_t *coordinates, zlgi_known_object **out,
                               zlg_error *err)
{
    *out = find_stored(fed, coordinates);
    if (*out && (*out)->source != ZLGI_KNOWN_OWN && (*out)->is_present &&
        !(*out)->is_checked) {
        ZLGI_TRY(check_object(writer, fed, coordinates, err));
        *out = find_stored(fed, coordinates);
    }
    if (*out && (*out)->source == ZLGI_KNOWN_OWN)
        *out = NULL;
    return ZLG_OK;
}

zlg_status zlgi_resume_skips(zlg_writer *writer, const zlgi_fed *fed,
                             const int64_t *coordinates, uint64_t n_bytes, bool *out,
                             zlg_error *err)
{
    zlgi_known_object *object;
    ZLGI_TRY(find_earlier(writer, fed, coordinates, &object, err));
    *out = object != NULL;
    if (object) {
        writer->counts.n_resumed += !object->is_counted;
        writer->counts.n_bytes_resumed += n_bytes;
        object->is_counted = true;
    }
    return ZLG_OK;
}

zlg_status zlgi_resume_reopen(zlg_writer *writer, const zlgi_held *held, zlg_error *err)
{
    zlgi_known_object *object = find_stored(held->fed, held->coordinates);
    if (!object)
        return ZLG_OK;
    ZLGI_TRY(zlgi_journal_tell(writer->journal, held->fed->known, false, false,
                               held->coordinates, err));
    object->source = 0;
    return ZLG_OK;
}

/* What is left out is empty in all its cells. */
static bool is_present(const zlgi_held *held)
{
    for (uint64_t i = 0; i < held->n_cells; i++)
        if (held->cells[i].state != ZLGI_CELL_EMPTY && !held->cells[i].is_absent)
            return true;
    return false;
}

static zlg_status note(zlg_writer *writer, const zlgi_held *held, zlg_error *err)
{
    const zlgi_alloc *alloc = &writer->ctx->alloc;
    zlgi_known *known = held->fed->known;
    zlgi_known_object *object;
    bool present = is_present(held);
    pthread_mutex_unlock(&writer->lock);
    zlg_status status =
        zlgi_journal_tell(writer->journal, known, true, present, held->coordinates, err);
    pthread_mutex_lock(&writer->lock);
    ZLGI_TRY(status);
    ZLGI_TRY(zlgi_known_put(known, alloc, held->coordinates, &object, err));
    object->source = ZLGI_KNOWN_OWN;
    object->is_present = present;
    return ZLG_OK;
}

zlg_status zlgi_resume_note(zlg_writer *writer, zlgi_held *held, zlg_error *err)
{
    const zlgi_fed *fed = held->fed;
    held->is_mine = true; /* also when this fails and it is stored again */
    if (!fed->known || fed->growth.axis >= 0 || held->n_done < held->n_inside)
        return ZLG_OK;
    return zlgi_array_within(fed->array, note(writer, held, err), err);
}

/* ------------------------------------------------------------------ zellige_writer.h */

static zlg_status check_objects(zlg_writer *writer, zlgi_fed *fed, const int64_t *start,
                                const int64_t *count, int *out, zlg_error *err)
{
    int64_t first[ZLG_MAX_RANK], last[ZLG_MAX_RANK], at[ZLG_MAX_RANK];
    int rank = fed->plain->meta.rank, i;
    for (i = 0; i < rank; i++) {
        const zlgi_grid_axis *axis = &fed->plain->source.grid.axis[i];
        if (count[i] == 0)
            return ZLG_OK;
        first[i] = at[i] = zlgi_grid_find(axis, start[i]);
        last[i] = zlgi_grid_find(axis, start[i] + count[i] - 1);
    }
    do {
        zlgi_known_object *object;
        ZLGI_TRY(find_earlier(writer, fed, at, &object, err));
        *out = object || find_stored(fed, at);
        bool is_kept = false;
        if (!*out)
            ZLGI_TRY(zlgi_kept_has(writer, fed, at, start, count, &is_kept, err));
        *out = *out || is_kept;
        for (i = rank - 1; i >= 0 && ++at[i] > last[i]; i--)
            at[i] = first[i];
    } while (*out && i >= 0);
    return ZLG_OK;
}

/* With the boxes of coarser arrays that this one gives. */
static zlg_status is_stored(zlg_writer *writer, zlgi_fed *fed, const int64_t *start,
                            const int64_t *count, int *out, zlg_error *err)
{
    const zlg_array *array = fed->plain;
    for (int i = 0; i < array->meta.rank; i++)
        if (start[i] < 0 || count[i] < 0 || count[i] > array->meta.shape[i] ||
            start[i] > array->meta.shape[i] - count[i])
            return zlgi_fail(err, ZLG_RANGE, "axis %d: a box beyond the array", i);
    ZLGI_TRY(check_objects(writer, fed, start, count, out, err));
    for (const zlgi_coarser *c = fed->coarser; c && *out; c = c->next) {
        int64_t coarse_start[ZLG_MAX_RANK], coarse_count[ZLG_MAX_RANK];
        ZLGI_TRY(zlgi_coarser_box(c, array->meta.shape, start, count, coarse_start,
                                  coarse_count, err));
        ZLGI_TRY(is_stored(writer, writer->fed[c->number], coarse_start, coarse_count, out,
                           err));
    }
    return ZLG_OK;
}

zlg_status zlg_writer_is_stored(zlg_writer *writer, int array, const int64_t *start,
                                const int64_t *count, int *out, zlg_error *err)
{
    *out = 0;
    ZLGI_TRY(zlgi_writer_enter(writer, err));
    zlg_status status = ZLG_OK;
    if (array < 0 || array >= writer->n_fed) {
        status = zlgi_fail(err, ZLG_USAGE, "array %d was not added", array);
    } else {
        zlgi_fed *fed = writer->fed[array];
        int stored = 1;
        status = zlgi_array_within(fed->plain,
                                   is_stored(writer, fed, start, count, &stored, err), err);
        *out = status == ZLG_OK && stored;
    }
    zlgi_writer_leave(writer);
    return status;
}
