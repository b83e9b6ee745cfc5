/*
 * points.c: the points of a use, box by box. Sorted by the box of a grid in which they
 * lie, with 8 bytes for each: box and number share a key, which becomes the number when its
 * box is taken. Where a grid has so many boxes that both do not fit, the numbers are sorted
 * as they are, and the box of each is worked out whenever it is asked for.
 */
#include "grid/grid.h"

static uint64_t box_of(const zlgi_use *use, const zlgi_grid *grid, int64_t id)
{
    uint64_t box = 0;
    for (int i = 0; i < grid->rank; i++) {
        const zlgi_grid_axis *axis = &grid->axis[i];
        int64_t position = use->axis[i].list[id] - use->axis[i].base;
        int64_t k = axis->chunk ? position / axis->chunk : zlgi_grid_find(axis, position);
        box = box * (uint64_t)axis->n_chunks + (uint64_t)k;
    }
    return box;
}

static int64_t id_of(const zlgi_use *use, size_t i)
{
    return use->ids ? use->ids[i] : (int64_t)i;
}

static int bits_of(uint64_t n)
{
    return n ? 64 - __builtin_clzll(n) : 0;
}

static inline bool goes_on(const void *context)
{
    const zlgi_points *points = context;
    return zlgi_look_up(points->look, 64); /* a part of what is sorted is many steps */
}

static inline bool key_is_less(const uint64_t *a, const uint64_t *b, const void *context)
{
    (void)context;
    return *a < *b;
}
ZLGI_SORT_WHILE(sort_keys, uint64_t, key_is_less, goes_on)

static inline bool id_is_less(const uint64_t *a, const uint64_t *b, const void *context)
{
    const zlgi_points *points = context;
    uint64_t x = box_of(points->use, points->grid, (int64_t)*a);
    uint64_t y = box_of(points->use, points->grid, (int64_t)*b);
    return x != y ? x < y : *a < *b;
}
ZLGI_SORT_WHILE(sort_ids, uint64_t, id_is_less, goes_on)

/* Positions along one axis between which all points of the boxes low .. high - 1 lie: most
 * of the others are told apart by it without a division. */
typedef struct slab {
    int axis; /* -1: it would tell nothing */
    int64_t first, end;
} slab;

static slab slab_of(const zlgi_grid *grid, uint64_t low, uint64_t high)
{
    uint64_t n = 1; /* boxes from one step of the axis to the next */
    slab s = {.axis = -1};
    for (int i = grid->rank - 1; i >= 0; i--) {
        const zlgi_grid_axis *axis = &grid->axis[i];
        uint64_t n_chunks = (uint64_t)axis->n_chunks;
        if (n_chunks > 1 && low / n / n_chunks == (high - 1) / n / n_chunks) {
            int64_t first = (int64_t)(low / n % n_chunks);
            int64_t last = (int64_t)((high - 1) / n % n_chunks);
            s.axis = first == 0 && last == axis->n_chunks - 1 ? -1 : i;
            s.first = zlgi_grid_start(axis, first);
            s.end = zlgi_grid_start(axis, last) + zlgi_grid_edge(axis, last);
        }
        n *= n_chunks;
    }
    return s;
}

static bool is_inside(const zlgi_use *use, const slab *s, int64_t id)
{
    if (s->axis < 0)
        return true;
    int64_t position = use->axis[s->axis].list[id] - use->axis[s->axis].base;
    return position >= s->first && position < s->end;
}

size_t zlgi_points_room(const zlgi_use *use, const zlgi_grid *grid, uint64_t low,
                        uint64_t high)
{
    size_t n = 0, n_points = (size_t)use->n_points;
    slab s = slab_of(grid, low, high);
    if (s.axis < 0)
        return n_points;
    for (size_t i = 0; i < n_points; i++)
        n += is_inside(use, &s, id_of(use, i));
    return n;
}

static uint64_t box_at(const zlgi_points *points, size_t i)
{
    return points->packed ? points->low + (points->keys[i] >> points->n_id_bits)
                          : box_of(points->use, points->grid, (int64_t)points->keys[i]);
}

/* Behind the last point that lies in the box of point i. */
static size_t end_of_box(const zlgi_points *points, size_t i)
{
    uint64_t box = box_at(points, i);
    while (++i < points->n && box_at(points, i) == box)
        continue;
    return i;
}

static void take_keys(zlgi_points *points, uint64_t high)
{
    const zlgi_use *use = points->use;
    size_t n_points = (size_t)use->n_points, end;
    slab s = slab_of(points->grid, points->low, high);
    for (size_t i = 0; i < n_points && zlgi_look_span(points->look, i, n_points, &end);)
        for (; i < end; i++) {
            int64_t id = id_of(use, i);
            uint64_t box =
                is_inside(use, &s, id) ? box_of(use, points->grid, id) : UINT64_MAX;
            if (box < points->low || box >= high)
                continue;
            uint64_t key = points->packed ? (box - points->low) << points->n_id_bits : 0;
            points->keys[points->n++] = key | (uint64_t)id;
        }
}

static void count_boxes(zlgi_points *points)
{
    uint64_t last = 0;
    size_t end;
    for (size_t i = 0; i < points->n && zlgi_look_span(points->look, i, points->n, &end);)
        for (; i < end; i++) {
            uint64_t box = box_at(points, i);
            points->n_boxes += i == 0 || box != last;
            last = box;
        }
}

bool zlgi_points_sort(const zlgi_use *use, const zlgi_grid *grid, uint64_t low,
                      uint64_t high, int64_t *ids, zlgi_look *look, zlgi_points *out)
{
    *out = (zlgi_points){.use = use,
                         .grid = grid,
                         .look = look,
                         .low = low,
                         .keys = (uint64_t *)(void *)ids};
    if (use->n_points == 0)
        return true;
    out->n_id_bits = bits_of((uint64_t)id_of(use, (size_t)use->n_points - 1));
    out->packed = bits_of(high - low - 1) + out->n_id_bits <= 64;
    take_keys(out, high);
    if (out->packed)
        sort_keys(out->keys, out->n, out);
    else
        sort_ids(out->keys, out->n, out);
    count_boxes(out);
    if (zlgi_look_up(look, 0))
        return true;
    out->n = out->n_boxes = 0;
    return false;
}

bool zlgi_points_next(zlgi_points *points, uint64_t *box, size_t *first, size_t *n)
{
    if (points->next == points->n)
        return false;
    *first = points->next;
    *box = box_at(points, *first);
    points->next = end_of_box(points, *first);
    *n = points->next - *first;
    for (size_t i = *first; points->packed && i < points->next; i++)
        points->keys[i] &= (UINT64_C(1) << points->n_id_bits) - 1;
    return true;
}
