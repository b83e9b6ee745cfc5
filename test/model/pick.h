/*
 * Random selections, and which elements they name: the obvious list that a read is held
 * against, whatever the type of the elements.
 */
#ifndef ZELLIGE_TEST_PICK_H
#define ZELLIGE_TEST_PICK_H

#include "test.h"

enum { PICK_LIST = 24 };

typedef struct pick {
    zlg_selection selection;
    zlg_axis axes[ZLG_MAX_RANK];
    int64_t lists[ZLG_MAX_RANK][PICK_LIST];
    const int64_t *coordinates[ZLG_MAX_RANK];
    uint8_t *mask;
    size_t n;
    int64_t *element; /* n of them: result element i is this one of the array in C order */
} pick;

static inline int64_t pick_below(uint64_t *seed, int64_t n)
{
    return (int64_t)((test_random(seed) >> 7) % (uint64_t)n);
}

static inline int64_t pick_flat(int rank, const int64_t *shape, const int64_t *at)
{
    int64_t flat = 0;
    for (int i = 0; i < rank; i++)
        flat = flat * shape[i] + at[i];
    return flat;
}

static inline int64_t pick_index(const zlg_axis *axis, int64_t k)
{
    return axis->list ? axis->list[k] : axis->start + k * axis->step;
}

/* A range, whole, stepped or backwards, or a list; rarely nothing. */
static inline void pick_axis(pick *p, uint64_t *seed, int i, int64_t length, int64_t most)
{
    zlg_axis *axis = &p->axes[i];
    int64_t kind = pick_below(seed, 8);
    *axis = (zlg_axis){.step = 1};
    if (length == 0 || pick_below(seed, 50) == 0)
        return;
    if (kind < 2) {
        axis->count = 1 + pick_below(seed, ZLGI_MIN(most, PICK_LIST));
        axis->list = p->lists[i];
        axis->step = pick_below(seed, 3) - 1; /* of no consequence */
        for (int64_t k = 0; k < axis->count; k++)
            p->lists[i][k] = pick_below(seed, length);
        return;
    }
    axis->start = pick_below(seed, length);
    if (kind == 2)
        axis->step = 1 + pick_below(seed, length);
    else if (kind == 3)
        axis->step = -1 - pick_below(seed, ZLGI_MIN(length, 4));
    else if (kind == 4 && length <= most)
        axis->start = 0;
    int64_t room = axis->step > 0 ? (length - 1 - axis->start) / axis->step + 1
                                  : axis->start / -axis->step + 1;
    axis->count = kind == 4 ? room : 1 + pick_below(seed, room);
    axis->count = ZLGI_MIN(axis->count, most);
}

/* At most `most` along an axis. */
static inline void pick_box(pick *p, uint64_t *seed, int rank, const int64_t *shape,
                            int64_t most)
{
    int64_t k[ZLG_MAX_RANK] = {0}, at[ZLG_MAX_RANK];
    p->selection = (zlg_selection){.kind = ZLG_BOX, .rank = rank, .axes = p->axes};
    p->n = 1;
    for (int i = 0; i < rank; i++) {
        pick_axis(p, seed, i, shape[i], most);
        p->n *= (size_t)p->axes[i].count;
    }
    p->element = malloc((p->n + 1) * sizeof *p->element);
    for (size_t e = 0; e < p->n; e++) {
        for (int i = 0; i < rank; i++)
            at[i] = pick_index(&p->axes[i], k[i]);
        p->element[e] = pick_flat(rank, shape, at);
        for (int i = rank - 1; i >= 0 && ++k[i] == p->axes[i].count; i--)
            k[i] = 0;
    }
}

static inline void pick_points(pick *p, uint64_t *seed, int rank, const int64_t *shape)
{
    bool empty = false;
    for (int i = 0; i < rank; i++) {
        p->coordinates[i] = p->lists[i];
        empty = empty || shape[i] == 0;
    }
    p->n = empty ? 0 : (size_t)pick_below(seed, PICK_LIST);
    p->selection = (zlg_selection){.kind = ZLG_POINTS,
                                   .rank = rank,
                                   .coordinates = p->coordinates,
                                   .n_points = (int64_t)p->n};
    p->element = malloc((p->n + 1) * sizeof *p->element);
    for (size_t e = 0; e < p->n; e++) {
        int64_t at[ZLG_MAX_RANK];
        for (int i = 0; i < rank; i++)
            at[i] = p->lists[i][e] = pick_below(seed, shape[i]);
        p->element[e] = pick_flat(rank, shape, at);
    }
}

static inline void pick_mask(pick *p, uint64_t *seed, int rank, const int64_t *shape)
{
    size_t n = 1;
    for (int i = 0; i < rank; i++)
        n *= (size_t)shape[i];
    p->mask = calloc(n + 1, 1);
    p->element = malloc((n + 1) * sizeof *p->element);
    p->selection = (zlg_selection){.kind = ZLG_MASK, .rank = rank, .mask = p->mask};
    int64_t one_in = 1 + pick_below(seed, 20);
    for (size_t e = 0; e < n; e++)
        if (pick_below(seed, one_in) == 0) {
            p->mask[e] = (uint8_t)(1 + pick_below(seed, 255));
            p->element[p->n++] = (int64_t)e;
        }
}

/* Any of them; masks only where asked for, since they are as large as the array. */
static inline void pick_any(pick *p, uint64_t *seed, int rank, const int64_t *shape,
                            int64_t most, bool masks)
{
    memset(p, 0, sizeof *p);
    int64_t kind = pick_below(seed, masks ? 6 : 5);
    if (kind == 0)
        pick_points(p, seed, rank, shape);
    else if (kind == 5)
        pick_mask(p, seed, rank, shape);
    else
        pick_box(p, seed, rank, shape, most);
}

static inline void pick_free(pick *p)
{
    free(p->mask);
    free(p->element);
}

#endif
