/*
 * A sorted map from keys to values.
 *
 * Keys stand in the order of a walk through the tree, in an array of blocks of at most 256,
 * so that a look-up is two binary searches, an insertion moves 2 KiB at most, and whatever
 * lies below a prefix lies together. Knows nothing of values and threads.
 */
#include "store/memory_map.h"

enum { BLOCK_ENTRIES = 256 };

typedef zlgi_map_entry entry;
typedef struct zlgi_map_block {
    size_t n; /* never 0 */
    entry *entries[BLOCK_ENTRIES];
} block;

typedef struct place {
    size_t block, entry;
} place;

/* ------------------------------------------------------------------ order
 *
 * A key comes before what lies below it, and that before all longer names: the end of a
 * key ranks first, then the slash, then the bytes as they are.
 */
static int rank(char c)
{
    return c == '\0' ? 0 : c == '/' ? 1 : (uint8_t)c + 1;
}

static int compare(const char *a, const char *b)
{
    while (*a == *b && *a != '\0')
        a++, b++;
    return rank(*a) - rank(*b);
}

bool zlgi_map_is_within(const char *key, const char *prefix)
{
    size_t n = strlen(prefix);
    return n == 0 || (strncmp(key, prefix, n) == 0 && (key[n] == '/' || key[n] == '\0'));
}

static bool is_reached(const entry *e, const char *key, zlgi_map_where where)
{
    int order = compare(e->key, key);
    switch (where) {
    case ZLGI_MAP_AT:
        return order >= 0;
    case ZLGI_MAP_AFTER:
        return order > 0;
    case ZLGI_MAP_PAST:
        return order > 0 && !zlgi_map_is_within(e->key, key);
    }
    return true;
}

/* ------------------------------------------------------------------ looking */

/* Behind the last block when there is no such entry. */
static place seek(const zlgi_map *map, const char *key, zlgi_map_where where)
{
    size_t low = 0, high = map->n_blocks;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const block *b = map->blocks[middle];
        if (is_reached(b->entries[b->n - 1], key, where))
            high = middle;
        else
            low = middle + 1;
    }
    place found = {.block = low};
    if (low == map->n_blocks)
        return found;
    const block *b = map->blocks[low];
    high = b->n - 1;
    while (found.entry < high) {
        size_t middle = found.entry + (high - found.entry) / 2;
        if (is_reached(b->entries[middle], key, where))
            high = middle;
        else
            found.entry = middle + 1;
    }
    return found;
}

static entry *entry_at(const zlgi_map *map, place p)
{
    return p.block < map->n_blocks ? map->blocks[p.block]->entries[p.entry] : NULL;
}

const zlgi_map_entry *zlgi_map_seek(const zlgi_map *map, const char *key,
                                    zlgi_map_where where)
{
    return entry_at(map, seek(map, key, where));
}

void *zlgi_map_get(const zlgi_map *map, const char *key)
{
    const entry *e = zlgi_map_seek(map, key, ZLGI_MAP_AT);
    return e != NULL && strcmp(e->key, key) == 0 ? e->value : NULL;
}

/* ------------------------------------------------------------------ changing */

/* Puts a new block, still empty, before block i. */
static zlg_status add_block(zlgi_map *map, size_t i, zlg_error *err)
{
    if (map->n_blocks == map->capacity) {
        size_t n_old = map->capacity * sizeof(block *);
        size_t n_new = ZLGI_MAX(n_old * 2, 16 * sizeof(block *));
        block **blocks = zlgi_resize(map->alloc, map->blocks, n_old, n_new);
        if (blocks == NULL)
            return zlgi_no_memory(err, n_new);
        map->blocks = blocks;
        map->capacity = n_new / sizeof(block *);
    }
    block *b = zlgi_new(map->alloc, sizeof(*b));
    if (b == NULL)
        return zlgi_no_memory(err, sizeof(*b));
    memmove(map->blocks + i + 1, map->blocks + i, (map->n_blocks - i) * sizeof(block *));
    map->blocks[i] = b;
    map->n_blocks++;
    return ZLG_OK;
}

/* Makes room at p, which may move by that. */
static zlg_status make_room(zlgi_map *map, place *p, zlg_error *err)
{
    if (p->block == map->n_blocks) {
        if (map->n_blocks == 0)
            return add_block(map, 0, err);
        p->block--;
        p->entry = map->blocks[p->block]->n;
    }
    block *b = map->blocks[p->block];
    if (b->n < BLOCK_ENTRIES)
        return ZLG_OK;
    ZLGI_TRY(add_block(map, p->block + 1, err));
    block *upper = map->blocks[p->block + 1];
    upper->n = BLOCK_ENTRIES / 2;
    b->n -= upper->n;
    memcpy(upper->entries, b->entries + b->n, upper->n * sizeof(entry *));
    if (p->entry > b->n)
        *p = (place){.block = p->block + 1, .entry = p->entry - b->n};
    return ZLG_OK;
}

static size_t entry_bytes(const char *key)
{
    return sizeof(entry) + strlen(key) + 1;
}

zlg_status zlgi_map_put(zlgi_map *map, const char *key, void *value, void **out_old,
                        zlg_error *err)
{
    *out_old = NULL;
    place p = seek(map, key, ZLGI_MAP_AT);
    entry *e = entry_at(map, p);
    if (e != NULL && strcmp(e->key, key) == 0) {
        *out_old = e->value;
        e->value = value;
        return ZLG_OK;
    }
    e = zlgi_resize(map->alloc, NULL, 0, entry_bytes(key));
    if (e == NULL)
        return zlgi_no_memory(err, entry_bytes(key));
    e->value = value;
    memcpy(e->key, key, strlen(key) + 1);
    zlg_status status = make_room(map, &p, err);
    if (status != ZLG_OK) {
        zlgi_free(map->alloc, e, entry_bytes(key));
        return status;
    }
    block *b = map->blocks[p.block];
    memmove(b->entries + p.entry + 1, b->entries + p.entry, (b->n - p.entry) * sizeof(e));
    b->entries[p.entry] = e;
    b->n++;
    return ZLG_OK;
}

static void *take_at(zlgi_map *map, place p)
{
    block *b = map->blocks[p.block];
    entry *e = b->entries[p.entry];
    b->n--;
    memmove(b->entries + p.entry, b->entries + p.entry + 1, (b->n - p.entry) * sizeof(e));
    if (b->n == 0) {
        zlgi_free(map->alloc, b, sizeof(*b));
        map->n_blocks--;
        memmove(map->blocks + p.block, map->blocks + p.block + 1,
                (map->n_blocks - p.block) * sizeof(b));
    }
    void *value = e->value;
    zlgi_free(map->alloc, e, entry_bytes(e->key));
    return value;
}

void *zlgi_map_take_within(zlgi_map *map, const char *prefix)
{
    place p = seek(map, prefix, ZLGI_MAP_AT);
    const entry *e = entry_at(map, p);
    return e != NULL && zlgi_map_is_within(e->key, prefix) ? take_at(map, p) : NULL;
}

void *zlgi_map_take(zlgi_map *map, const char *key)
{
    place p = seek(map, key, ZLGI_MAP_AT);
    const entry *e = entry_at(map, p);
    return e != NULL && strcmp(e->key, key) == 0 ? take_at(map, p) : NULL;
}

void zlgi_map_reset(zlgi_map *map)
{
    zlgi_free(map->alloc, map->blocks, map->capacity * sizeof(block *));
    *map = (zlgi_map){.alloc = map->alloc};
}
