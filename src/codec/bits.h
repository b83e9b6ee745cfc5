/*
 * bits: bool, eight to a byte.
 */
#ifndef ZLGI_CODEC_BITS_H
#define ZLGI_CODEC_BITS_H

#include "base/base.h"

/* n flags, the first in the highest bit of a byte or in the lowest; unused bits are 0. */
void zlgi_bits_pack(const uint8_t *flags, size_t n, bool high_first, uint8_t *packed);
void zlgi_bits_unpack(const uint8_t *packed, size_t n, bool high_first, uint8_t *flags);

#endif
