/*
 * A shard decoded or encoded whole, in memory.
 */
#ifndef ZLGI_SHARDING_WHOLE_H
#define ZLGI_SHARDING_WHOLE_H

#include "codec/parts.h"

zlg_status zlgi_sharding_encode(const zlgi_step *step, zlgi_scratch *scratch,
                                const zlgi_edge *from, zlgi_bytes in, zlgi_buf *out,
                                zlg_error *err);
zlg_status zlgi_sharding_decode(const zlgi_step *step, zlgi_scratch *scratch,
                                const zlgi_edge *from, zlgi_bytes in, zlgi_out *out,
                                zlg_error *err);

#endif
