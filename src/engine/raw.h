/*
 * raw.h: units of the engine: what unit.c and raw.c share. Private to the engine.
 */
#ifndef ZLGI_RAW_H
#define ZLGI_RAW_H

#include "engine/job.h"

/* unit.c: elements from edge n_folded to native canonical values, in place. */
void zlgi_unit_finish(const zlgi_chain *chain, const zlgi_source *source, uint8_t *elements,
                      size_t n_bytes);
/* unit.c: elements from edge n_folded to one use of them in the caller's memory. */
zlg_status zlgi_unit_place_use(zlgi_worker *worker, const zlgi_source *source,
                               const zlgi_chain *chain, const ptrdiff_t *strides,
                               const uint8_t *unit, const zlgi_use *use);
/* unit.c: all of a unit, to elements with these strides, in the axes of the unit, as
 * native canonical values. */
zlg_status zlgi_unit_decode(const zlgi_source *source, const zlgi_level *level,
                            const zlgi_level_box *box, const int64_t *shape,
                            zlgi_scratch *scratch, zlgi_bytes encoded, zlgi_buf pair[2],
                            const ptrdiff_t *strides, uint8_t *elements, zlg_error *err);
/* unit.c: a decoded unit to all its uses. */
zlg_status zlgi_unit_place(zlgi_worker *worker, const zlgi_source *source,
                           const zlgi_chain *chain, const ptrdiff_t *strides,
                           zlgi_bytes unit, const zlgi_uses *uses, zlg_error *err);
/* raw.c: a unit whose stored bytes are its elements, read by range: only what is wanted,
 * so that a chunk larger than memory can be read. */
zlg_status zlgi_raw_read(zlgi_worker *worker, const zlgi_source *source,
                         const zlgi_level *level, const zlgi_level_box *box,
                         const int64_t *shape, const zlgi_range *range,
                         const zlgi_uses *uses, zlg_error *err);

#endif
