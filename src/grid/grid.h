/*
 * grid: integer geometry. Chunk grids, chunk keys, selections and how they fall on a
 * grid, the strided copy. Knows no bytes but those it copies.
 */
#ifndef ZLGI_GRID_H
#define ZLGI_GRID_H

#include "base/base.h"
#include "dtype/dtype.h"

/* ------------------------------------------------------------------ grids (grid.c) */

/* One axis of a chunk grid over [0, length). */
typedef struct zlgi_grid_axis {
    int64_t length; /* of the array along the axis */
    int64_t chunk;  /* regular: length of a chunk; 0: look at ends */
    int64_t n_chunks;
    const int64_t
        *ends; /* rectilinear: running sums of the declared edges, n_chunks long */
               /* (chunks wholly beyond the length are not counted) */
} zlgi_grid_axis;

typedef struct zlgi_grid {
    int rank;
    zlgi_grid_axis axis[ZLG_MAX_RANK];
} zlgi_grid;

static inline int64_t zlgi_grid_start(const zlgi_grid_axis *axis, int64_t i)
{
    return axis->chunk ? i * axis->chunk : i ? axis->ends[i - 1] : 0;
}
/* Declared length: the last chunk may reach past the array. */
static inline int64_t zlgi_grid_edge(const zlgi_grid_axis *axis, int64_t i)
{
    return axis->chunk ? axis->chunk : axis->ends[i] - (i ? axis->ends[i - 1] : 0);
}
/* Which chunk holds a position; 0 <= position < length. */
int64_t zlgi_grid_find(const zlgi_grid_axis *axis, int64_t position);
/* The number of a chunk in C order of the grid, and back. */
static inline uint64_t zlgi_grid_ordinal(const zlgi_grid *grid, const int64_t *coordinates)
{
    uint64_t n = 0;
    for (int i = 0; i < grid->rank; i++)
        n = n * (uint64_t)grid->axis[i].n_chunks + (uint64_t)coordinates[i];
    return n;
}
static inline void zlgi_grid_coordinates(const zlgi_grid *grid, uint64_t ordinal,
                                         int64_t *out)
{
    for (int i = grid->rank - 1; i >= 0; i--) {
        uint64_t n = (uint64_t)grid->axis[i].n_chunks;
        out[i] = (int64_t)(ordinal % n);
        ordinal /= n;
    }
}
/* Regular axis; chunk > 0 (or 0 with length 0). */
zlgi_grid_axis zlgi_grid_regular(int64_t length, int64_t chunk);

/* ------------------------------------------------------------------ order (order.c) */
typedef struct zlgi_morton_bit {
    int axis;
    uint64_t weight, stride; /* of the coordinate, of the ordinal */
} zlgi_morton_bit;
/* Walks the cells of a box in an order. Fields are private. */
typedef struct zlgi_order {
    zlg_inner_order kind;
    int rank, n_bits;
    bool is_empty, has_begun;
    uint64_t shape[ZLG_MAX_RANK], strides[ZLG_MAX_RANK], at[ZLG_MAX_RANK];
    uint64_t ordinal;
    zlgi_morton_bit bits[64 + ZLG_MAX_RANK];
} zlgi_order;
/* The product of the shape is below 2^63. */
void zlgi_order_start(zlgi_order *order, zlg_inner_order kind, int rank,
                      const int64_t *shape);
/* The C-order ordinal of the next cell; false after the last. */
bool zlgi_order_next(zlgi_order *order, uint64_t *out);

/* ------------------------------------------------------------------ keys (key.c) */
typedef enum zlgi_key_style { ZLGI_KEY_DEFAULT, ZLGI_KEY_V2, ZLGI_KEY_OWN } zlgi_key_style;
enum { ZLGI_KEY_MAX = 4 + 21 * ZLG_MAX_RANK };
/* Keys of the caller's. */
typedef struct zlgi_key_own {
    zlg_status (*write)(const struct zlgi_key_own *own, int rank,
                        const int64_t *coordinates, char out[ZLGI_KEY_MAX], zlg_error *err);
    bool (*read)(const struct zlgi_key_own *own, int rank, const char *key,
                 int64_t *coordinates);
} zlgi_key_own;
typedef struct zlgi_key_encoding {
    zlgi_key_style style;
    char separator; /* '/' or '.' */
    const zlgi_key_own *own;
} zlgi_key_encoding;
/* The key relative to the array, NUL terminated. Only keys of the caller's can fail. */
zlg_status zlgi_key_make(const zlgi_key_encoding *encoding, int rank,
                         const int64_t *coordinates, char out[ZLGI_KEY_MAX],
                         zlg_error *err);
/* The same of the two encodings that are built in; returns its length. */
size_t zlgi_key_write(const zlgi_key_encoding *encoding, int rank,
                      const int64_t *coordinates, char out[ZLGI_KEY_MAX]);
/* Reads a relative key back; false when it is none of this array's. */
bool zlgi_key_read(const zlgi_key_encoding *encoding, int rank, const char *key,
                   int64_t *coordinates);

/* ------------------------------------------------------------------ cuts (cut.c)
 *
 * A use is one request restricted to a box (the array, an object, an inner chunk): which
 * elements of the box are wanted, in coordinates of the box, and where each of them goes
 * (or comes from, for writes). Going down a level restricts and shifts it; a transpose
 * permutes its axes. It never owns memory.
 *
 * Box: per axis a rising range or a sorted list. Element k of the axis lies at
 * start + k*step, or at list[k] - base; its memory is at k*stride from `memory`, or, for
 * a list, at place[k]*stride.
 *
 * Points: ids[0..n_points) name points and rise; they are NULL, for all points, until
 * zlgi_points_sort made them. Point p has coordinate list[p] - base on each axis and lies
 * at p*point_stride from memory.
 *
 * Mask: a box with steps of 1 whose memory is the mask itself, one byte per element of the
 * array in C order. Elements whose byte is not 0 are wanted; k of them lie in front of one
 * that goes to mask->memory + k*mask->stride.
 */
typedef struct zlgi_use_axis {
    int64_t start, step, count;
    const int64_t *list;
    const int64_t *place; /* NULL for a range */
    int64_t base;
    ptrdiff_t stride;
} zlgi_use_axis;

typedef enum zlgi_use_kind {
    ZLGI_USE_BOX = 0,
    ZLGI_USE_POINTS,
    ZLGI_USE_MASK
} zlgi_use_kind;

typedef struct zlgi_use {
    int rank;
    zlgi_use_kind kind;
    uint8_t *memory;
    union {
        const int64_t *ids;           /* points */
        const struct zlgi_mask *mask; /* mask */
    };
    int64_t n_points;
    ptrdiff_t point_stride;
    const zlgi_swap *swap; /* writes: applied on the way into the unit; or NULL */
    zlgi_use_axis axis[ZLG_MAX_RANK];
} zlgi_use;

/*
 * A selection made ready: checked against the shape, ranges rising, lists sorted with
 * their places, blocks rewritten, masks counted. Owns its lists (arena). CANCELLED, without
 * a message, when the look, which may be NULL, says so.
 */
zlg_status zlgi_selection_shape(const zlgi_grid *grid, const zlg_selection *selection,
                                int *out_rank, int64_t *out_shape, zlg_error *err);
zlg_status zlgi_use_make(zlgi_arena *arena, const zlgi_grid *grid,
                         const zlg_selection *selection, void *memory,
                         const ptrdiff_t *strides, size_t item, zlgi_look *look,
                         zlgi_use *out, zlg_error *err);
/* Number of elements. */
int64_t zlgi_use_count(const zlgi_use *use);

/*
 * Which chunks of a grid axis an axis of a box touches, in rising order. Ranges on
 * regular grids are computed; lists and rectilinear grids need a table, for which the
 * caller brings room.
 */
typedef struct zlgi_touched {
    int64_t n;
    int64_t first; /* chunk 0 of them, when there is no table */
    int64_t chunk; /* step > chunk: touched chunk i is that of element i */
    int64_t start, step;
    const int64_t *table;
} zlgi_touched;
size_t zlgi_touched_room(const zlgi_use_axis *axis,
                         const zlgi_grid_axis *grid); /* int64s */
zlgi_touched zlgi_touched_make(const zlgi_use_axis *axis, const zlgi_grid_axis *grid,
                               int64_t *room);
static inline int64_t zlgi_touched_at(const zlgi_touched *touched, int64_t i)
{
    if (touched->table)
        return touched->table[i];
    if (touched->chunk)
        return (touched->start + i * touched->step) / touched->chunk;
    return touched->first + i;
}
/* Restricts a use that is not one of points to a box of its space; false when nothing that
 * is wanted falls inside. The result is in coordinates of the box. Bytes of a zlgi_use that
 * are in use at a rank: */
static inline size_t zlgi_use_bytes(int rank)
{
    return offsetof(zlgi_use, axis) + (size_t)rank * sizeof(zlgi_use_axis);
}
/* A list of one entry becomes a range: lists have two and more wherever a use is read. */
static inline void zlgi_use_settle(zlgi_use *use, int i_axis)
{
    zlgi_use_axis *axis = &use->axis[i_axis];
    if (!axis->list || axis->count != 1)
        return;
    use->memory += axis->place[0] * axis->stride;
    axis->start = axis->list[0] - axis->base;
    axis->step = 1; /* whatever the caller left there */
    axis->list = axis->place = NULL;
}
bool zlgi_use_cut(const zlgi_use *use, const int64_t *start, const int64_t *shape,
                  zlgi_use *out);
/* The halves of a use of two elements and more: of its points, or along an axis whose count
 * is not 1. */
void zlgi_use_halve(const zlgi_use *use, int i_axis, zlgi_use *low, zlgi_use *high);
/* Axis i of the result is axis order[i]. */
void zlgi_use_permute(zlgi_use *use, const int *order);

/* ------------------------------------------------------------------ points (points.c)
 *
 * The points of a use that lie in the boxes low .. high - 1 of a grid, low < high, box by
 * box. Room for their ids is the caller's: 8 bytes for each of zlgi_points_room.
 */
typedef struct zlgi_points {
    const zlgi_use *use;
    const zlgi_grid *grid;
    zlgi_look *look; /* may be NULL */
    uint64_t low;
    uint64_t *keys;
    size_t n, next;
    size_t n_boxes; /* those with points in them */
    int n_id_bits;  /* packed: what a key says behind its box */
    bool packed;
} zlgi_points;
size_t zlgi_points_room(const zlgi_use *use, const zlgi_grid *grid, uint64_t low,
                        uint64_t high);
/* False when the look, which may be NULL, says so: there are no points then. */
bool zlgi_points_sort(const zlgi_use *use, const zlgi_grid *grid, uint64_t low,
                      uint64_t high, int64_t *ids, zlgi_look *look, zlgi_points *out);
/* The next box that has points: ids[*first .. *first + *n), rising. False at the end. The
 * ids stand when their box was returned. */
bool zlgi_points_next(zlgi_points *points, uint64_t *box, size_t *first, size_t *n);

/* ------------------------------------------------------------------ masks (mask.c) */
typedef struct zlgi_mask {
    const uint8_t *bytes;  /* of the whole array */
    const int64_t *counts; /* how many are set in front of each 2^shift-th byte */
    int shift;
    uint8_t *memory; /* of the result; set by the caller */
    ptrdiff_t stride;
} zlgi_mask;
/* Counts the n bytes of a mask. The table of counts has at most 4 MiB. */
zlg_status zlgi_mask_make(zlgi_arena *arena, const uint8_t *bytes, int64_t n,
                          zlgi_mask *out, zlg_error *err);
/* Bytes that are not 0. */
int64_t zlgi_count_set(const uint8_t *bytes, int64_t n);
/* Elements that a mask use wants, and whether there are any, which is found out sooner. */
int64_t zlgi_mask_count(const zlgi_use *use);
bool zlgi_mask_any(const zlgi_use *use);
/* Calls each(context, k, n, offset, step) for every run of wanted elements along the axis
 * on which the bytes of the mask are neighbours: n of them from number k of the result,
 * which lie at offset, offset + step, ... of a unit with the given strides. */
typedef void (*zlgi_run_fn)(void *context, int64_t k, int64_t n, ptrdiff_t offset,
                            ptrdiff_t step);
void zlgi_mask_runs(const zlgi_use *use, const ptrdiff_t *strides, zlgi_run_fn each,
                    void *context);

/* ------------------------------------------------------------------ copies (place.c)
 *
 * The strided copy, with the byte order changed on the way. `unit` is a buffer of the
 * box with `unit_strides` in bytes per axis of the use.
 */
void zlgi_place(const zlgi_use *use, const uint8_t *unit, const ptrdiff_t *unit_strides,
                size_t item, const zlgi_swap *swap);
/* The other way: elements of the caller into the unit. */
void zlgi_gather(const zlgi_use *use, uint8_t *unit, const ptrdiff_t *unit_strides,
                 size_t item, const zlgi_swap *swap);
/* Variable-length elements: views, whose bytes are copied into the arena on the way. False
 * when memory is short. */
bool zlgi_place_views(const zlgi_use *use, const uint8_t *unit,
                      const ptrdiff_t *unit_strides, zlgi_arena *arena);
/* One value everywhere. */
void zlgi_place_fill(const zlgi_use *use, const uint8_t *value, size_t item);
/* What was placed, to canonical values of its type. */
void zlgi_place_normal(const zlgi_use *use, const zlgi_dtype *dtype);
/* True when the use takes every element of a box of `shape` in order and its memory has
 * the strides of the unit, so that a decoder may write there directly. */
bool zlgi_use_matches(const zlgi_use *use, const int64_t *shape,
                      const ptrdiff_t *unit_strides);
/* Elements are equal to value, compared as bits. */
bool zlgi_all_equal(const uint8_t *elements, size_t n, const uint8_t *value, size_t item);
/* emptiness.c: n elements are all the fill value; both as a chain takes them, swapped;
 * variable length: views. loose: zlg_call.loose_fill, with room for two elements. */
bool zlgi_is_empty(const zlgi_dtype *dtype, const uint8_t *elements, size_t n,
                   const uint8_t *fill, const zlgi_swap *swap, bool loose, uint8_t *room);

#endif
