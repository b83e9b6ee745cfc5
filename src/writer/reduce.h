/*
 * reduce: a box of elements as one of fewer, each made from a window of them. Knows types
 * and memory, no arrays.
 *
 * mean      Integers, bools and times: the exact sum, divided, rounded to the nearest
 *           with halves to even. Floats: summed in double, in C order, and rounded once; a
 *           NaN in the window is one in the result. Complex: by parts. NaT is to times what
 *           NaN is to floats.
 * min, max  Of numbers in an order, so not of complex ones; NaN and NaT win.
 * decimate  The first element of the window, whatever it is.
 */
#ifndef ZLGI_REDUCE_H
#define ZLGI_REDUCE_H

#include "dtype/dtype.h"
#include "zellige_writer.h"

/* Most elements of a window: so many do not overflow a sum. */
#define ZLGI_REDUCE_WINDOW_MOST (INT64_C(1) << 31)

/* UNSUPPORTED when elements of the type cannot be reduced so. */
zlg_status zlgi_reduce_check(zlg_reduce how, const zlgi_dtype *dtype, zlg_error *err);
/* The windows begin at the first element; the last ones may be cut short. out: C order and
 * the byte order of the source. factors: at least 1, their product at most the above. */
void zlgi_reduce(zlg_reduce how, const zlgi_dtype *dtype, int rank, const int64_t *factors,
                 const int64_t *count, const zlg_source *source, void *out);

#endif
