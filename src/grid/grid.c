/*
 * grid.c: one axis of a chunk grid. Regular axes are divided, rectilinear ones searched
 * (the first running sum above the position). Knows lengths only; metadata has checked
 * them.
 *
 * Implements the lookup rules of the regular and the rectilinear chunk grid.
 */
#include "grid/grid.h"

zlgi_grid_axis zlgi_grid_regular(int64_t length, int64_t chunk)
{
    /* Empty arrays with chunk length 0 exist. They have no chunk, so that any length will
     * do, and nobody has to divide with care. */
    zlgi_grid_axis axis = {.length = length, .chunk = ZLGI_MAX(chunk, 1)};
    axis.n_chunks = length / axis.chunk + (length % axis.chunk != 0);
    return axis;
}

int64_t zlgi_grid_find(const zlgi_grid_axis *axis, int64_t position)
{
    if (axis->chunk)
        return position / axis->chunk;
    int64_t low = 0, high = axis->n_chunks - 1;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (axis->ends[middle] > position)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}
