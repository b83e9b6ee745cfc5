/*
 * order.c: the cells of a box in the orders in which inner chunks of a shard are stored.
 *
 * Morton order is the usual one, here and in zarr-python: bit 0 of every axis, first axis
 * lowest, then bit 1 of every axis that has one, ... make the code; axes are not padded to
 * each other. The others run through the axes as memory in C and in Fortran order does.
 */
#include "grid/grid.h"

/* From bit to bit, until no axis has it. */
static void set_bits(zlgi_order *order)
{
    int n_before = -1;
    for (int bit = 0; order->n_bits > n_before; bit++) {
        n_before = order->n_bits;
        for (int i = 0; i < order->rank; i++)
            if (order->shape[i] > 1 && (order->shape[i] - 1) >> bit != 0)
                order->bits[order->n_bits++] =
                    (zlgi_morton_bit){.axis = i,
                                      .weight = UINT64_C(1) << bit,
                                      .stride = order->strides[i] << bit};
    }
}

/* The bits are many, and most shards have few inner chunks: only what is used is set. */
void zlgi_order_start(zlgi_order *order, zlg_inner_order kind, int rank,
                      const int64_t *shape)
{
    uint64_t stride = 1;
    order->kind = kind;
    order->rank = rank;
    order->n_bits = 0;
    order->is_empty = order->has_begun = false;
    order->ordinal = 0;
    for (int i = rank - 1; i >= 0; i--) {
        order->at[i] = 0;
        order->shape[i] = (uint64_t)shape[i];
        order->is_empty = order->is_empty || shape[i] == 0;
        order->strides[i] = stride;
        stride *= order->shape[i];
    }
    if (kind == ZLG_MORTON && !order->is_empty)
        set_bits(order);
}

/* ------------------------------------------------------------------ Morton */

static bool is_inside(const zlgi_order *order)
{
    for (int i = 0; i < order->rank; i++)
        if (order->at[i] >= order->shape[i])
            return false;
    return true;
}

/* Moves on by a power of two; false past the last code. */
static bool advance(zlgi_order *order, int bit)
{
    for (; bit < order->n_bits; bit++) {
        const zlgi_morton_bit *b = &order->bits[bit];
        bool was_set = order->at[b->axis] & b->weight;
        order->at[b->axis] ^= b->weight;
        order->ordinal += was_set ? -b->stride : b->stride;
        if (!was_set)
            return true;
    }
    return false;
}

static int lowest_set(const zlgi_order *order)
{
    int bit = 0;
    while (bit < order->n_bits &&
           !(order->at[order->bits[bit].axis] & order->bits[bit].weight))
        bit++;
    return bit;
}

/* A cell outside whose code ends in k zeros is the least of 2^k codes, all outside. */
static bool next_morton(zlgi_order *order)
{
    if (!advance(order, 0))
        return false;
    while (!is_inside(order))
        if (!advance(order, lowest_set(order)))
            return false;
    return true;
}

/* ------------------------------------------------------------------ all */

/* One further along an axis; false when it begins anew. */
static bool step(zlgi_order *order, int axis)
{
    order->ordinal += order->strides[axis];
    if (++order->at[axis] < order->shape[axis])
        return true;
    order->ordinal -= order->shape[axis] * order->strides[axis];
    order->at[axis] = 0;
    return false;
}

static bool next(zlgi_order *order)
{
    if (order->kind == ZLG_MORTON)
        return next_morton(order);
    for (int i = 0; i < order->rank; i++) {
        bool last_first = order->kind == ZLG_LEXICOGRAPHIC;
        if (step(order, last_first ? order->rank - 1 - i : i))
            return true;
    }
    return false;
}

/* The first cell of each is that at the origin. */
bool zlgi_order_next(zlgi_order *order, uint64_t *out)
{
    if (order->is_empty || (order->has_begun && !next(order)))
        return false;
    order->has_begun = true;
    *out = order->ordinal;
    return true;
}
