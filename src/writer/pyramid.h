/*
 * pyramid: which arrays are given the reduction of what another is given. Pure facts: who
 * submits asks for the box of a level, checks it as any other, and has it reduced into
 * memory of his own.
 */
#ifndef ZLGI_PYRAMID_H
#define ZLGI_PYRAMID_H

#include "writer/reduce.h"

typedef struct zlgi_coarser zlgi_coarser;
struct zlgi_coarser {
    zlgi_coarser *next; /* of the same finer array */
    int number;         /* of the coarse array */
    int rank;
    zlg_reduce how;
    int64_t factors[ZLG_MAX_RANK];
};

/* The box of the coarse array that a box of the fine one, of this shape, becomes. USAGE
 * when it does not consist of whole windows. */
zlg_status zlgi_coarser_box(const zlgi_coarser *coarser, const int64_t *shape,
                            const int64_t *start, const int64_t *count, int64_t *out_start,
                            int64_t *out_count, zlg_error *err);
/* A box of `count` elements, of whole windows, in the byte order of the source. */
void zlgi_coarser_reduce(const zlgi_coarser *coarser, const zlgi_dtype *dtype,
                         const int64_t *count, const zlg_source *source, void *out);
/* So many elements along an axis are whole windows of all arrays below this one. */
int64_t zlgi_coarser_unit(const zlg_writer *writer, int number, int axis);
/* All of a list. */
void zlgi_coarser_free(const zlgi_alloc *alloc, zlgi_coarser *first);

#endif
