/*
 * text: UTF-8 and UTF-32, for codecs that store one and hold the other in memory.
 */
#ifndef ZLGI_CODEC_TEXT_H
#define ZLGI_CODEC_TEXT_H

#include "base/base.h"

/* Code points of valid UTF-8 into room for as many as there are bytes; how many. */
size_t zlgi_utf32_from_utf8(const uint8_t *text, size_t n, uint32_t *out);
/* Appends n code points as UTF-8. USAGE when one is not a character. */
zlg_status zlgi_utf32_to_utf8(const uint8_t *points, size_t n, zlgi_buf *out,
                              zlg_error *err);
/* Native code points of n bytes without the NULs at their end. */
size_t zlgi_utf32_length(const uint8_t *points, size_t n_bytes);

#endif
