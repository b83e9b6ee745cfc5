/*
 * UTF-8 and UTF-32 (Unicode 15, chapter 3.9). What comes in as UTF-8 has been checked.
 */
#include "codec/text.h"

size_t zlgi_utf32_from_utf8(const uint8_t *text, size_t n, uint32_t *out)
{
    static const uint8_t lead_bits[5] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    size_t n_points = 0;
    for (size_t i = 0; i < n;) {
        size_t n_bytes = text[i] < 0x80 ? 1 : text[i] < 0xe0 ? 2 : text[i] < 0xf0 ? 3 : 4;
        uint32_t point = text[i] & lead_bits[n_bytes];
        for (size_t k = 1; k < n_bytes; k++)
            point = point << 6 | (text[i + k] & 0x3f);
        out[n_points++] = point;
        i += n_bytes;
    }
    return n_points;
}

zlg_status zlgi_utf32_to_utf8(const uint8_t *points, size_t n, zlgi_buf *out,
                              zlg_error *err)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t point;
        memcpy(&point, points + i * sizeof point, sizeof point);
        if (point > 0x10ffff || (point >= 0xd800 && point < 0xe000))
            return zlgi_fail(err, ZLG_USAGE, "U+%X is not a character", (unsigned)point);
        size_t n_bytes = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
        static const uint8_t lead[5] = {0, 0, 0xc0, 0xe0, 0xf0};
        uint8_t text[4];
        for (size_t k = n_bytes; k-- > 1; point >>= 6)
            text[k] = (uint8_t)(0x80 | (point & 0x3f));
        text[0] = (uint8_t)(lead[n_bytes] | point);
        ZLGI_TRY(zlgi_buf_append(out, text, n_bytes, err));
    }
    return ZLG_OK;
}

size_t zlgi_utf32_length(const uint8_t *points, size_t n_bytes)
{
    static const uint8_t nul[4] = {0};
    size_t n = n_bytes / 4;
    while (n > 0 && memcmp(points + (n - 1) * 4, nul, 4) == 0)
        n--;
    return n;
}
