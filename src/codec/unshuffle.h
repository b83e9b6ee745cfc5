/*
 * Elements from byte planes and bit planes, and back.
 */
#ifndef ZLGI_UNSHUFFLE_H
#define ZLGI_UNSHUFFLE_H

#include "base/base.h"

enum { ZLGI_PLANES = 256, ZLGI_BIT_GROUP = 512 };

/* Byte k of element i of n, at i * item + k, to k * n + i; and back. */
void zlgi_shuffle(const uint8_t *in, size_t n, size_t item, uint8_t *out);
void zlgi_unshuffle(const uint8_t *in, size_t n, size_t item, uint8_t *out);
/* The same with planes[k] of n bytes wherever they lie; item <= ZLGI_PLANES. */
void zlgi_join_planes(const uint8_t *const *planes, size_t n, size_t item, uint8_t *out);
/* planes[k] holds eight bit planes, lowest bit first; n is a multiple of 8. room: item *
 * ZLGI_BIT_GROUP bytes. */
void zlgi_join_bit_planes(const uint8_t *const *planes, size_t n, size_t item,
                          uint8_t *room, uint8_t *out);

#endif
