/*
 * Whole boxes for the strided copy: which bytes of which buffer an element is. Knows
 * geometry, no codec.
 */
#include "codec/parts.h"

void zlgi_box_strides(int rank, const int64_t *shape, size_t item, ptrdiff_t *out)
{
    ptrdiff_t stride = (ptrdiff_t)item;
    for (int i = rank - 1; i >= 0; i--) {
        out[i] = stride;
        stride *= (ptrdiff_t)shape[i];
    }
}

void zlgi_box_folded_strides(const zlgi_chain *chain, int rank, const int64_t *shape,
                             size_t item, ptrdiff_t *out)
{
    ptrdiff_t stride = (ptrdiff_t)item;
    for (int i = rank - 1; i >= 0; i--) {
        int axis = chain->order[i];
        out[axis] = stride;
        stride *= (ptrdiff_t)shape[axis];
    }
}

void zlgi_box_use(int rank, const int64_t *shape, uint8_t *memory, const ptrdiff_t *strides,
                  zlgi_use *out)
{
    out->rank = rank;
    out->memory = memory;
    out->kind = ZLGI_USE_BOX;
    for (int i = 0; i < rank; i++)
        out->axis[i] = (zlgi_use_axis){.step = 1, .count = shape[i], .stride = strides[i]};
}
