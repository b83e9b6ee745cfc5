/*
 * What `watch` sees of arrays that somebody else writes, gathered in watch_look.c and shown
 * by cmd_watch.c.
 */
#ifndef ZELLIGE_CLI_WATCH_H
#define ZELLIGE_CLI_WATCH_H

#include "cli.h"

/* What counts at one moment. */
typedef struct watch_point {
    int64_t ns;   /* when */
    int64_t rows; /* along the axis; -1: the array has no such axis */
    uint64_t n_stored, n_bytes;
} watch_point;

/* Rates are those over so many looks. */
enum { WATCH_POINTS = 10 };

typedef struct watch_array {
    char *name;      /* what is printed: its path below the node, or the argument */
    zlg_error error; /* with a status: it cannot be opened */
    int rank;
    int64_t shape[ZLG_MAX_RANK];
    bool is_sharded;
    uint64_t n_objects;               /* of the grid; UINT64_MAX: that many, or more */
    watch_point points[WATCH_POINTS]; /* the last is the newest */
    int n_points;
    bool changed; /* since the look before */
} watch_array;

typedef struct watch_look {
    watch_array *list;
    size_t n;
} watch_look;

/* Looks again: arrays that were there before keep their history. */
zlg_status watch_look_again(const cli_settings *settings, const cli_node *node,
                            watch_look *look, zlg_error *err);
void watch_look_free(watch_look *look);

static inline const watch_point *watch_now(const watch_array *array)
{
    return &array->points[array->n_points - 1];
}

#endif
