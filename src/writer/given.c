/*
 * given.c: which part of a cell was given: a box as long as what comes continues it, as
 * rows do; else one bit for each element.
 */
#include "writer/writer.h"

uint64_t zlgi_box_elements(const zlgi_box *box)
{
    uint64_t n = 1;
    for (int i = 0; i < box->rank; i++)
        n *= (uint64_t)box->count[i];
    return n;
}

static bool contains(const int64_t *outer, const zlgi_box *box)
{
    const int64_t *start = outer, *count = outer + box->rank;
    for (int i = 0; i < box->rank; i++)
        if (box->start[i] < start[i] || box->start[i] + box->count[i] > start[i] + count[i])
            return false;
    return true;
}

/* Makes a box longer by another that is equal on all axes but one, and touches it there. */
static bool extend(int64_t *held, const zlgi_box *box)
{
    int64_t *start = held, *count = held + box->rank;
    int axis = -1;
    for (int i = 0; i < box->rank; i++) {
        if (box->start[i] == start[i] && box->count[i] == count[i])
            continue;
        if (axis >= 0)
            return false;
        axis = i;
    }
    if (axis < 0)
        return true;
    int64_t low = ZLGI_MIN(start[axis], box->start[axis]);
    int64_t end = ZLGI_MAX(start[axis] + count[axis], box->start[axis] + box->count[axis]);
    if (end - low > count[axis] + box->count[axis])
        return false;
    start[axis] = low;
    count[axis] = end - low;
    return true;
}

static zlgi_box box_of(const zlgi_given *given, int rank)
{
    const int64_t *numbers = given->data;
    return (zlgi_box){.rank = rank, .start = numbers, .count = numbers + rank};
}

/* ------------------------------------------------------------------ rows
 * A row is what lies side by side on the last axis of a box. */

typedef struct row {
    uint64_t first, n; /* elements, in C order of the cell */
} row;
typedef void (*row_fn)(void *user, row at);

static void each_row(const zlgi_box *box, const int64_t *shape, row_fn each, void *user)
{
    int64_t at[ZLG_MAX_RANK] = {0};
    int last = box->rank - 1, i;
    if (zlgi_box_elements(box) == 0)
        return;
    do {
        row next = {.n = 1};
        for (i = 0; i <= last; i++)
            next.first =
                next.first * (uint64_t)shape[i] + (uint64_t)(box->start[i] + at[i]);
        if (last >= 0)
            next.n = (uint64_t)box->count[last];
        each(user, next);
        for (i = last - 1; i >= 0 && ++at[i] == box->count[i]; i--)
            at[i] = 0;
    } while (i >= 0);
}

/* ------------------------------------------------------------------ bits */

static void set_bits(void *user, row at)
{
    zlgi_given *given = user;
    uint8_t *bits = given->data;
    for (uint64_t k = at.first; k < at.first + at.n;) {
        if (k % 8 == 0 && at.first + at.n - k >= 8) {
            given->n += 8 - (uint64_t)__builtin_popcount(bits[k / 8]);
            bits[k / 8] = 0xff;
            k += 8;
            continue;
        }
        uint8_t bit = (uint8_t)(1u << (k % 8));
        given->n += !(bits[k / 8] & bit);
        bits[k / 8] |= bit;
        k++;
    }
}

static bool get_bit(const zlgi_given *given, uint64_t k)
{
    return ((const uint8_t *)given->data)[k / 8] >> (k % 8) & 1;
}

static zlg_status become_bits(zlgi_given *given, const zlgi_alloc *alloc, int rank,
                              const int64_t *shape, zlg_error *err)
{
    zlgi_given bits = {.kind = ZLGI_GIVEN_BITS};
    zlgi_box old = box_of(given, rank), whole = {.rank = rank, .count = shape};
    bits.n_bytes = (size_t)(zlgi_box_elements(&whole) / 8 + 1);
    bits.data = zlgi_new(alloc, bits.n_bytes);
    if (!bits.data)
        return zlgi_no_memory(err, bits.n_bytes);
    each_row(&old, shape, set_bits, &bits);
    zlgi_free(alloc, given->data, given->n_bytes);
    *given = bits;
    return ZLG_OK;
}

/* ------------------------------------------------------------------ adding */

static zlg_status start_box(zlgi_given *given, const zlgi_alloc *alloc, const zlgi_box *box,
                            zlg_error *err)
{
    size_t n_axes = (size_t)box->rank * sizeof(int64_t);
    given->n_bytes = 2 * n_axes + 1;
    given->data = zlgi_new(alloc, given->n_bytes);
    if (!given->data)
        return zlgi_no_memory(err, given->n_bytes);
    if (n_axes > 0) {
        memcpy(given->data, box->start, n_axes);
        memcpy((uint8_t *)given->data + n_axes, box->count, n_axes);
    }
    given->kind = ZLGI_GIVEN_BOX;
    given->n = zlgi_box_elements(box);
    return ZLG_OK;
}

zlg_status zlgi_given_add(zlgi_given *given, const zlgi_alloc *alloc, const int64_t *shape,
                          const zlgi_box *box, zlg_error *err)
{
    if (given->kind == ZLGI_GIVEN_NOTHING)
        return start_box(given, alloc, box, err);
    if (given->kind == ZLGI_GIVEN_BOX) {
        zlgi_box held = box_of(given, box->rank);
        if (contains(given->data, box))
            return ZLG_OK;
        int64_t wide[2 * ZLG_MAX_RANK];
        for (int i = 0; i < box->rank; i++)
            wide[i] = box->start[i], wide[box->rank + i] = box->count[i];
        if (contains(wide, &held))
            memcpy(given->data, wide, 2 * (size_t)box->rank * sizeof *wide);
        else if (!extend(given->data, box))
            ZLGI_TRY(become_bits(given, alloc, box->rank, shape, err));
    }
    if (given->kind == ZLGI_GIVEN_BITS) {
        each_row(box, shape, set_bits, given);
    } else {
        zlgi_box held = box_of(given, box->rank);
        given->n = zlgi_box_elements(&held);
    }
    return ZLG_OK;
}

void zlgi_given_reset(zlgi_given *given, const zlgi_alloc *alloc)
{
    if (given->data)
        zlgi_free(alloc, given->data, given->n_bytes);
    *given = (zlgi_given){.kind = ZLGI_GIVEN_NOTHING};
}

/* ------------------------------------------------------------------ what was not given */

typedef struct rest {
    uint8_t *elements;
    const uint8_t *value;
    size_t item;
    uint64_t next; /* the first element that no row has passed */
} rest;

static void fill_between(rest *r, uint64_t end)
{
    if (end <= r->next)
        return;
    zlgi_use use = {.rank = 1, .memory = r->elements + r->next * r->item};
    use.axis[0] = (zlgi_use_axis){
        .step = 1, .count = (int64_t)(end - r->next), .stride = (ptrdiff_t)r->item};
    zlgi_place_fill(&use, r->value, r->item);
}

static void fill_before(void *user, row at)
{
    rest *r = user;
    fill_between(r, at.first);
    r->next = at.first + at.n;
}

void zlgi_given_fill_rest(const zlgi_given *given, int rank, const int64_t *shape,
                          uint8_t *elements, const uint8_t *value, size_t item)
{
    zlgi_box whole = {.rank = rank, .count = shape};
    rest r = {.elements = elements, .value = value, .item = item};
    uint64_t n = zlgi_box_elements(&whole);
    if (given->n == n)
        return;
    if (given->kind == ZLGI_GIVEN_BOX) {
        zlgi_box box = box_of(given, rank);
        each_row(&box, shape, fill_before, &r);
    }
    for (uint64_t k = 0; k < n && given->kind == ZLGI_GIVEN_BITS; k++)
        if (get_bit(given, k))
            fill_before(&r, (row){.first = k, .n = 1});
    fill_between(&r, n);
}

/* ------------------------------------------------------------------ as boxes */

/* A run of elements that are side by side in C order, and on one row of the cell. */
static zlg_status show_run(uint64_t first, uint64_t n, int rank, const int64_t *shape,
                           zlgi_box_fn each, void *user, zlg_error *err)
{
    int64_t start[ZLG_MAX_RANK], count[ZLG_MAX_RANK];
    for (int i = rank - 1; i >= 0; i--) {
        start[i] = (int64_t)(first % (uint64_t)shape[i]);
        first /= (uint64_t)shape[i];
        count[i] = i == rank - 1 ? (int64_t)n : 1;
    }
    const zlgi_box box = {.rank = rank, .start = start, .count = count};
    return each(user, &box, err);
}

zlg_status zlgi_given_boxes(const zlgi_given *given, int rank, const int64_t *shape,
                            zlgi_box_fn each, void *user, zlg_error *err)
{
    zlgi_box whole = {.rank = rank, .count = shape};
    if (given->kind == ZLGI_GIVEN_BOX) {
        zlgi_box box = box_of(given, rank);
        return each(user, &box, err);
    }
    uint64_t n = given->n > 0 ? zlgi_box_elements(&whole) : 0;
    uint64_t n_row = rank > 0 ? (uint64_t)shape[rank - 1] : 1;
    for (uint64_t k = 0; k < n;) {
        uint64_t end = k, row_end = (k / n_row + 1) * n_row;
        while (end < row_end && get_bit(given, end))
            end++;
        if (end > k)
            ZLGI_TRY(show_run(k, end - k, rank, shape, each, user, err));
        k = ZLGI_MAX(end, k + 1);
    }
    return ZLG_OK;
}
