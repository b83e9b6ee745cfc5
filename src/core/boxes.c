/*
 * boxes.c: a list of requests of which each is a box, made box by box for one call.
 */
#include "core/core.h"

zlg_status zlgi_boxes_make(zlgi_boxes *boxes, zlgi_arena *arena, size_t n_most, int rank,
                           zlg_error *err)
{
    size_t n_bytes_axes = n_most * (size_t)rank * sizeof *boxes->axes;
    *boxes = (zlgi_boxes){.rank = rank};
    boxes->requests = zlgi_arena_get(arena, n_most * sizeof *boxes->requests);
    boxes->selections = zlgi_arena_get(arena, n_most * sizeof *boxes->selections);
    boxes->axes = zlgi_arena_get(arena, n_bytes_axes);
    return boxes->requests && boxes->selections && boxes->axes
               ? ZLG_OK
               : zlgi_no_memory(err, n_bytes_axes);
}

zlg_axis *zlgi_boxes_next(const zlgi_boxes *boxes)
{
    return boxes->axes + boxes->n * (size_t)boxes->rank;
}

void zlgi_boxes_add(zlgi_boxes *boxes, const zlgi_request *request)
{
    zlg_selection *selection = &boxes->selections[boxes->n];
    *selection = (zlg_selection){
        .kind = ZLG_BOX, .rank = boxes->rank, .axes = zlgi_boxes_next(boxes)};
    boxes->requests[boxes->n] = *request;
    boxes->requests[boxes->n++].selection = selection;
}
