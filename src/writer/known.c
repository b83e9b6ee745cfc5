/*
 * known.c: sets of objects, found by their coordinates: a table with open addresses.
 */
#include "writer/journal.h"

enum { FIRST_SLOTS = 16 };

static size_t n_bytes_coordinates(const zlgi_known *known)
{
    return (size_t)known->rank * sizeof(int64_t);
}

zlg_status zlgi_known_new(const zlgi_alloc *alloc, const char *path, uint64_t fingerprint,
                          int rank, zlgi_known **out, zlg_error *err)
{
    size_t n_path = strlen(path) + 1, n_bytes = sizeof(zlgi_known) + n_path;
    zlgi_known *known = zlgi_new(alloc, n_bytes);
    if (!known)
        return zlgi_no_memory(err, n_bytes);
    known->fingerprint = fingerprint;
    known->rank = rank;
    known->number = -1;
    known->n_bytes_slot = sizeof(zlgi_known_object) + n_bytes_coordinates(known);
    memcpy(known->path, path, n_path);
    *out = known;
    return ZLG_OK;
}

static zlgi_known_object *slot_at(const zlgi_known *known, uint8_t *slots, size_t i)
{
    return (zlgi_known_object *)(void *)(slots + i * known->n_bytes_slot);
}

void zlgi_known_free(zlgi_known *known, const zlgi_alloc *alloc)
{
    for (size_t i = 0; i < known->n_slots; i++)
        zlgi_kept_free(slot_at(known, known->slots, i)->kept, alloc);
    if (known->slots)
        zlgi_free(alloc, known->slots, known->n_slots * known->n_bytes_slot);
    zlgi_free(alloc, known, sizeof *known + strlen(known->path) + 1);
}

/* Where an object is, or would be. A slot whose is_used is false is free. */
static zlgi_known_object *seek(const zlgi_known *known, uint8_t *slots, size_t n_slots,
                               const int64_t *coordinates)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (int i = 0; i < known->rank; i++) {
        h = (h ^ (uint64_t)coordinates[i]) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 29;
    }
    for (size_t i = (size_t)h & (n_slots - 1);; i = (i + 1) & (n_slots - 1)) {
        zlgi_known_object *object = slot_at(known, slots, i);
        if (!object->is_used ||
            memcmp(object->coordinates, coordinates, n_bytes_coordinates(known)) == 0)
            return object;
    }
}

zlgi_known_object *zlgi_known_find(const zlgi_known *known, const int64_t *coordinates)
{
    if (known->n == 0)
        return NULL;
    zlgi_known_object *object = seek(known, known->slots, known->n_slots, coordinates);
    return object->is_used ? object : NULL;
}

/* Half of the slots are free. */
static zlg_status grow(zlgi_known *known, const zlgi_alloc *alloc, zlg_error *err)
{
    size_t n = known->n_slots > 0 ? 2 * known->n_slots : FIRST_SLOTS, n_bytes = SIZE_MAX;
    uint8_t *slots = NULL;
    if (2 * known->n < known->n_slots)
        return ZLG_OK;
    if (zlgi_mul_size(n, known->n_bytes_slot, &n_bytes))
        slots = zlgi_new(alloc, n_bytes);
    if (!slots)
        return zlgi_no_memory(err, n_bytes);
    for (size_t i = 0; i < known->n_slots; i++) {
        const zlgi_known_object *object = slot_at(known, known->slots, i);
        if (object->is_used)
            memcpy(seek(known, slots, n, object->coordinates), object, known->n_bytes_slot);
    }
    if (known->slots)
        zlgi_free(alloc, known->slots, known->n_slots * known->n_bytes_slot);
    known->slots = slots;
    known->n_slots = n;
    return ZLG_OK;
}

zlg_status zlgi_known_put(zlgi_known *known, const zlgi_alloc *alloc,
                          const int64_t *coordinates, zlgi_known_object **out,
                          zlg_error *err)
{
    ZLGI_TRY(grow(known, alloc, err));
    zlgi_known_object *object = seek(known, known->slots, known->n_slots, coordinates);
    if (!object->is_used) {
        object->is_used = true;
        memcpy(object->coordinates, coordinates, n_bytes_coordinates(known));
        known->n++;
    }
    *out = object;
    return ZLG_OK;
}

zlgi_known_object *zlgi_known_kept(const zlgi_known *known)
{
    for (size_t i = 0; i < known->n_slots; i++) {
        zlgi_known_object *object = slot_at(known, known->slots, i);
        if (object->kept && object->source == 0)
            return object;
    }
    return NULL;
}
