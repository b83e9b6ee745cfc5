/*
 * pieces.c: cuts a selection into boxes in C order, each small enough for memory. Knows
 * selections and chunk shapes; does not read.
 */
#include "cli.h"

/* The axis to cut, and how much of it a piece takes. All axes behind it fit in n_most
 * elements together; chunks are not torn where that costs little. */
static void choose_split(cli_pieces *pieces, const zlg_array *array, int64_t n_wanted,
                         int64_t n_limit)
{
    const zlg_axis *axes = pieces->whole->axes;
    int64_t inner = 1; /* elements behind the axis */
    int k = pieces->whole->rank - 1;
    for (; k > 0 && axes[k].count <= n_wanted / inner; k--)
        inner *= axes[k].count;
    pieces->split = k;
    pieces->step = 1;
    pieces->n_most = inner;
    if (k < 0)
        return;
    int64_t step = n_wanted / inner > 1 ? n_wanted / inner : 1;
    int64_t stride = axes[k].step < 0 ? -axes[k].step : axes[k].step;
    int64_t chunk = zlg_array_chunk_shape(array)[k] / stride;
    if (chunk > 1 && !axes[k].list && step < axes[k].count) {
        if (step >= chunk)
            step -= step % chunk;
        else if (chunk <= n_limit / inner)
            step = chunk;
    }
    pieces->step = step < axes[k].count ? step : axes[k].count;
    pieces->n_most = inner * pieces->step;
}

void cli_pieces_start(cli_pieces *pieces, const cli_selection *whole,
                      const zlg_array *array, int64_t item, int64_t n_bytes)
{
    int64_t ratio = CLI_PIECE_MOST / CLI_PIECE_BYTES;
    int64_t n_wanted = n_bytes / (item > 0 ? item : 1);
    *pieces = (cli_pieces){.whole = whole, .done = whole->n_elements == 0};
    if (pieces->done)
        return;
    choose_split(pieces, array, n_wanted > 0 ? n_wanted : 1, n_wanted * ratio);
}

static void set_axis(cli_pieces *pieces, int axis, int64_t first, int64_t count)
{
    zlg_axis of = pieces->whole->axes[axis];
    of.count = count;
    if (of.list)
        of.list += first;
    else
        of.start += first * of.step;
    if (count == 1)
        of.step = 1;
    pieces->axes[axis] = of;
}

bool cli_pieces_next(cli_pieces *pieces)
{
    const zlg_axis *axes = pieces->whole->axes;
    if (pieces->done)
        return false;
    pieces->n_elements = 1;
    for (int i = 0; i < pieces->whole->rank; i++) {
        int64_t count = i < pieces->split ? 1 : axes[i].count;
        if (i == pieces->split) {
            int64_t left = axes[i].count - pieces->at[i];
            count = left < pieces->step ? left : pieces->step;
        }
        set_axis(pieces, i, pieces->at[i], count);
        pieces->n_elements *= count;
    }
    int k = pieces->split;
    if (k >= 0)
        pieces->at[k] += pieces->step - 1;
    while (k >= 0 && ++pieces->at[k] >= axes[k].count)
        pieces->at[k--] = 0;
    pieces->done = k < 0;
    return true;
}

zlg_selection cli_pieces_box(const cli_pieces *pieces)
{
    return (zlg_selection){
        .kind = ZLG_BOX, .rank = pieces->whole->rank, .axes = pieces->axes};
}
