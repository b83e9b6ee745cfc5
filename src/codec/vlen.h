/*
 * vlen: what the codecs for elements of variable length share.
 */
#ifndef ZLGI_CODEC_VLEN_H
#define ZLGI_CODEC_VLEN_H

#include "codec/codec.h"

/*
 * The framing of vlen-utf8, vlen-bytes and vlen-array (format.md §12.1): u32le count, then
 * for each item u32le length and bytes. The views point into `in`.
 */
zlg_status zlgi_vlen_decode(const zlgi_edge *from, zlgi_bytes in, zlgi_out *out,
                            zlg_error *err);
zlg_status zlgi_vlen_encode(const zlgi_edge *from, zlgi_bytes in, zlgi_buf *out,
                            zlg_error *err);

/*
 * Bytes that views of a decoded chunk point at when the input has them in another form:
 * an arena of this worker, emptied here, whose contents stay until the next call with the
 * same type. Every codec has a type of its own, made of these two functions. NULL when
 * memory is short.
 */
void *zlgi_kept_make(const zlgi_alloc *alloc);
void zlgi_kept_destroy(void *kept, const zlgi_alloc *alloc);
zlgi_arena *zlgi_kept(zlgi_scratch *scratch, const zlgi_context_type *type);

#endif
