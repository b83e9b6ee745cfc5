/*
 * base64 with the standard alphabet and padding (RFC 4648 section 4). Decoding takes only
 * what encoding writes: no line breaks, no missing padding, no bits behind the last byte.
 */
#include "base/base.h"

static const char alphabet[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

zlg_status zlgi_base64_encode(zlgi_bytes in, zlgi_buf *out, zlg_error *err)
{
    for (size_t i = 0; i < in.n; i += 3) {
        size_t n = ZLGI_MIN(in.n - i, 3);
        const uint8_t *p = in.data + i;
        uint32_t group = (uint32_t)p[0] << 16;
        group |= n > 1 ? (uint32_t)p[1] << 8 : 0;
        group |= n > 2 ? p[2] : 0;
        char text[4] = {alphabet[group >> 18], alphabet[group >> 12 & 63],
                        n > 1 ? alphabet[group >> 6 & 63] : '=',
                        n > 2 ? alphabet[group & 63] : '='};
        ZLGI_TRY(zlgi_buf_append(out, text, 4, err));
    }
    return ZLG_OK;
}

static int value_of(uint8_t c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

zlg_status zlgi_base64_decode(zlgi_bytes in, zlgi_buf *out, zlg_error *err)
{
    if (in.n % 4 != 0)
        return zlgi_fail(err, ZLG_METADATA,
                         "base64: %zu characters, expected a multiple of 4", in.n);
    for (size_t i = 0; i < in.n; i += 4) {
        const uint8_t *p = in.data + i;
        bool last = i + 4 == in.n;
        size_t n_padding = !last || p[3] != '=' ? 0 : p[2] != '=' ? 1 : 2;
        uint32_t group = 0;
        for (size_t k = 0; k < 4; k++) {
            int value = k < 4 - n_padding ? value_of(p[k]) : 0;
            if (value < 0)
                return zlgi_fail(err, ZLG_METADATA,
                                 "base64: byte 0x%02x at %zu is not of the alphabet", p[k],
                                 i + k);
            group = group << 6 | (uint32_t)value;
        }
        if (group & ((UINT32_C(1) << 8 * n_padding) - 1))
            return zlgi_fail(err, ZLG_METADATA, "base64: bits are left over at the end");
        uint8_t bytes[3] = {(uint8_t)(group >> 16), (uint8_t)(group >> 8), (uint8_t)group};
        ZLGI_TRY(zlgi_buf_append(out, bytes, 3 - n_padding, err));
    }
    return ZLG_OK;
}
