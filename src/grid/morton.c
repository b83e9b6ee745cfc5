/*
 * morton.c: the cells of a box in Morton order: the order in which the inner chunks of a
 * shard are stored here and by zarr-python. Bit 0 of every axis, first axis lowest, then
 * bit 1 of every axis that has one, ... make the code; axes are not padded to each other.
 */
#include "grid/grid.h"

void zlgi_morton_start(zlgi_morton *m, int rank, const int64_t *shape)
{
    uint64_t strides[ZLG_MAX_RANK], stride = 1;
    memset(m, 0, sizeof *m);
    m->rank = rank;
    for (int i = rank - 1; i >= 0; i--) {
        m->shape[i] = (uint64_t)shape[i];
        m->is_empty = m->is_empty || shape[i] == 0;
        strides[i] = stride;
        stride *= m->shape[i];
    }
    for (int bit = 0; bit < 63; bit++)
        for (int i = 0; i < rank; i++) {
            if (m->shape[i] < 2 || (m->shape[i] - 1) >> bit == 0)
                continue;
            m->bits[m->n_bits].axis = i;
            m->bits[m->n_bits].weight = UINT64_C(1) << bit;
            m->bits[m->n_bits++].stride = strides[i] << bit;
        }
}

static bool is_inside(const zlgi_morton *m)
{
    for (int i = 0; i < m->rank; i++)
        if (m->at[i] >= m->shape[i])
            return false;
    return true;
}

/* Moves on by a power of two; false past the last code. */
static bool advance(zlgi_morton *m, int bit)
{
    for (; bit < m->n_bits; bit++) {
        const zlgi_morton_bit *b = &m->bits[bit];
        bool was_set = m->at[b->axis] & b->weight;
        m->at[b->axis] ^= b->weight;
        m->ordinal += was_set ? -b->stride : b->stride;
        if (!was_set)
            return true;
    }
    return false;
}

static int lowest_set(const zlgi_morton *m)
{
    int bit = 0;
    while (bit < m->n_bits && !(m->at[m->bits[bit].axis] & m->bits[bit].weight))
        bit++;
    return bit;
}

/* A cell outside whose code ends in k zeros is the least of 2^k codes, all outside. */
bool zlgi_morton_next(zlgi_morton *m, uint64_t *out)
{
    if (m->is_empty)
        return false;
    if (m->has_begun && !advance(m, 0))
        return false;
    m->has_begun = true;
    while (!is_inside(m))
        if (!advance(m, lowest_set(m)))
            return false;
    *out = m->ordinal;
    return true;
}
