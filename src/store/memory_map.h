/*
 * memory_map: the sorted map inside the memory store. No locks: its user has one.
 */
#ifndef ZLGI_MEMORY_MAP_H
#define ZLGI_MEMORY_MAP_H

#include "base/base.h"

typedef struct zlgi_map_entry {
    void *value;
    char key[];
} zlgi_map_entry;

typedef struct zlgi_map {
    const zlgi_alloc *alloc;
    struct zlgi_map_block **blocks;
    size_t n_blocks, capacity;
} zlgi_map;

/* The first entry at a key, after it, or past all that lies within it. */
typedef enum zlgi_map_where { ZLGI_MAP_AT, ZLGI_MAP_AFTER, ZLGI_MAP_PAST } zlgi_map_where;
const zlgi_map_entry *zlgi_map_seek(const zlgi_map *map, const char *key,
                                    zlgi_map_where where);
/* The value at a key, or NULL. */
void *zlgi_map_get(const zlgi_map *map, const char *key);
/* Sets a value; *out_old is what it replaces, or NULL. */
zlg_status zlgi_map_put(zlgi_map *map, const char *key, void *value, void **out_old,
                        zlg_error *err);
/* Takes out the first entry within a prefix and returns its value, or NULL. */
void *zlgi_map_take_within(zlgi_map *map, const char *prefix);
/* Takes out a key. */
void *zlgi_map_take(zlgi_map *map, const char *key);
/* Frees an empty map. */
void zlgi_map_reset(zlgi_map *map);
/* Is it a prefix, or below it? Everything is below "". */
bool zlgi_map_is_within(const char *key, const char *prefix);

#endif
