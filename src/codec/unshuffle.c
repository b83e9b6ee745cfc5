/*
 * Bytes of elements apart and together again: a transposition of n elements by item bytes.
 */
#include "codec/parts.h"

void zlgi_shuffle(const uint8_t *in, size_t n, size_t item, uint8_t *out)
{
    for (size_t k = 0; k < item; k++)
        for (size_t i = 0; i < n; i++)
            out[k * n + i] = in[i * item + k];
}

void zlgi_unshuffle(const uint8_t *in, size_t n, size_t item, uint8_t *out)
{
    for (size_t k = 0; k < item; k++)
        for (size_t i = 0; i < n; i++)
            out[i * item + k] = in[k * n + i];
}
