/*
 * touched.c: which inner chunks of a shard a write touches, and with which uses. Unlike a
 * read, which sorts, a write looks its chunks up in the order in which they are stored.
 */
#include "engine/write.h"

typedef struct entry {
    int64_t id; /* points: which */
    uint32_t use, next;
} entry;

static bool is_single(const zlgi_touched_map *map)
{
    return map->uses->n == 1 && zlgi_uses_at(map->uses, 0)->kind != ZLGI_USE_POINTS;
}

static zlg_status add(zlgi_touched_map *map, uint64_t chunk, entry e, zlg_error *err)
{
    zlgi_touch *touch = &map->touch[chunk];
    ZLGI_TRY(zlgi_buf_append(map->entries, &e, sizeof e, err));
    uint32_t number = (uint32_t)(map->entries->n / sizeof e);
    entry *entries = (entry *)(void *)map->entries->data;
    if (touch->first)
        entries[touch->last - 1].next = number;
    else
        touch->first = number;
    touch->last = number;
    return ZLG_OK;
}

static zlg_status mark_points(zlgi_touched_map *map, uint32_t i_use, zlg_error *err)
{
    const zlgi_use *use = zlgi_uses_at(map->uses, i_use);
    for (int64_t i = 0; i < use->n_points; i++) {
        int64_t id = use->ids ? use->ids[i] : i;
        uint64_t chunk = 0;
        for (int a = 0; a < use->rank; a++) {
            const zlgi_grid_axis *axis = &map->grid->axis[a];
            int64_t at = use->axis[a].list[id] - use->axis[a].base;
            chunk = chunk * (uint64_t)axis->n_chunks + (uint64_t)(at / axis->chunk);
        }
        ZLGI_TRY(add(map, chunk, (entry){.id = id, .use = i_use}, err));
    }
    return ZLG_OK;
}

/* Of a mask: whether it selects something in an inner chunk. */
static bool is_wanted(const zlgi_touched_map *map, const zlgi_use *use,
                      const int64_t *coordinates)
{
    int64_t start[ZLG_MAX_RANK], shape[ZLG_MAX_RANK];
    zlgi_use cut;
    if (use->kind != ZLGI_USE_MASK)
        return true;
    for (int i = 0; i < use->rank; i++) {
        shape[i] = map->grid->axis[i].chunk;
        start[i] = coordinates[i] * shape[i];
    }
    return zlgi_use_cut(use, start, shape, &cut);
}

static zlg_status mark_box(zlgi_touched_map *map, uint32_t i_use, zlg_error *err)
{
    const zlgi_use *use = zlgi_uses_at(map->uses, i_use);
    zlgi_touched touched[ZLG_MAX_RANK];
    int64_t k[ZLG_MAX_RANK] = {0};
    size_t room = 0, used = 0;
    for (int i = 0; i < use->rank; i++)
        room += zlgi_touched_room(&use->axis[i], &map->grid->axis[i]);
    ZLGI_TRY(zlgi_buf_reserve(map->work, room * sizeof(int64_t) + 1, false, err));
    for (int i = 0; i < use->rank; i++) {
        int64_t *table = (int64_t *)(void *)map->work->data + used;
        touched[i] = zlgi_touched_make(&use->axis[i], &map->grid->axis[i], table);
        used += zlgi_touched_room(&use->axis[i], &map->grid->axis[i]);
    }
    for (int axis = 0; axis >= 0;) {
        int64_t at[ZLG_MAX_RANK];
        for (int i = 0; i < use->rank; i++)
            at[i] = zlgi_touched_at(&touched[i], k[i]);
        uint64_t chunk = zlgi_grid_ordinal(map->grid, at);
        bool wanted = is_wanted(map, use, at);
        if (wanted && is_single(map))
            map->touch[chunk].first = 1;
        else if (wanted)
            ZLGI_TRY(add(map, chunk, (entry){.use = i_use}, err));
        for (axis = use->rank - 1; axis >= 0 && ++k[axis] == touched[axis].n; axis--)
            k[axis] = 0;
    }
    return ZLG_OK;
}

zlg_status zlgi_touched_mark(zlgi_touched_map *map, zlg_error *err)
{
    for (uint32_t i = 0; i < map->uses->n; i++) {
        bool points = zlgi_uses_at(map->uses, i)->kind == ZLGI_USE_POINTS;
        ZLGI_TRY(points ? mark_points(map, i, err) : mark_box(map, i, err));
    }
    return ZLG_OK;
}

/* ------------------------------------------------------------------ one inner chunk */

/* The points of one use that follow each other in a list; returns what comes after them. */
static zlg_status take_points(const zlgi_touched_map *map, uint32_t number,
                              const int64_t *start, zlgi_buf *ids, zlgi_use *cut,
                              uint32_t *next, zlg_error *err)
{
    const entry *entries = (const entry *)(const void *)map->entries->data;
    uint32_t i_use = entries[number - 1].use;
    const zlgi_use *use = zlgi_uses_at(map->uses, i_use);
    memcpy(cut, use, zlgi_use_bytes(use->rank));
    cut->n_points = 0;
    for (; number && entries[number - 1].use == i_use; number = entries[number - 1].next) {
        const int64_t *id = &entries[number - 1].id;
        ZLGI_TRY(zlgi_buf_append(ids, id, sizeof *id, err));
        cut->n_points++;
    }
    for (int i = 0; i < use->rank; i++)
        cut->axis[i].base += start[i];
    *next = number;
    return ZLG_OK;
}

/* Ids may have moved while they were collected: uses know how many theirs are. */
static void settle_ids(const zlgi_buf *ids, zlgi_uses *uses)
{
    const int64_t *id = (const int64_t *)(const void *)ids->data;
    for (size_t i = 0; i < uses->n; i++) {
        zlgi_use *use = zlgi_uses_at(uses, i);
        if (use->kind != ZLGI_USE_POINTS)
            continue;
        use->ids = id;
        id += use->n_points;
    }
}

zlg_status zlgi_touched_uses(const zlgi_touched_map *map, uint64_t chunk,
                             const int64_t *start, zlgi_buf *ids, zlgi_uses *out,
                             zlg_error *err)
{
    int64_t shape[ZLG_MAX_RANK];
    zlgi_use *cut;
    for (int i = 0; i < map->grid->rank; i++)
        shape[i] = map->grid->axis[i].chunk;
    out->n = 0;
    ids->n = 0;
    if (is_single(map)) {
        ZLGI_TRY(zlgi_uses_room(out, &cut, err));
        out->n = zlgi_use_cut(zlgi_uses_at(map->uses, 0), start, shape, cut);
        return ZLG_OK;
    }
    const entry *entries = (const entry *)(const void *)map->entries->data;
    for (uint32_t number = map->touch[chunk].first; number;) {
        const zlgi_use *use = zlgi_uses_at(map->uses, entries[number - 1].use);
        ZLGI_TRY(zlgi_uses_room(out, &cut, err));
        if (use->kind == ZLGI_USE_POINTS) {
            ZLGI_TRY(take_points(map, number, start, ids, cut, &number, err));
            out->n++;
        } else {
            out->n += zlgi_use_cut(use, start, shape, cut);
            number = entries[number - 1].next;
        }
    }
    settle_ids(ids, out);
    return ZLG_OK;
}
