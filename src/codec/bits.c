/*
 * Eight bool to a byte and back, a byte at a time, in loops of fixed length that become
 * vector code.
 */
#include "codec/bits.h"

void zlgi_bits_pack(const uint8_t *flags, size_t n, bool high_first, uint8_t *packed)
{
    for (size_t i = 0; i < n / 8; i++) {
        unsigned byte = 0;
        for (unsigned k = 0; k < 8; k++)
            byte |= (unsigned)(flags[8 * i + k] != 0) << (high_first ? 7 - k : k);
        packed[i] = (uint8_t)byte;
    }
    if (n % 8 > 0)
        packed[n / 8] = 0;
    for (size_t i = n / 8 * 8; i < n; i++)
        packed[i / 8] |= (uint8_t)((flags[i] != 0) << (high_first ? 7 - i % 8 : i % 8));
}

void zlgi_bits_unpack(const uint8_t *packed, size_t n, bool high_first, uint8_t *flags)
{
    for (size_t i = 0; i < n / 8; i++)
        for (unsigned k = 0; k < 8; k++)
            flags[8 * i + k] = packed[i] >> (high_first ? 7 - k : k) & 1;
    for (size_t i = n / 8 * 8; i < n; i++)
        flags[i] = packed[i / 8] >> (high_first ? 7 - i % 8 : i % 8) & 1;
}
