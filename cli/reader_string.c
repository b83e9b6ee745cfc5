/*
 * reader_string.c: text with the escapes of JSON (RFC 8259); bytes in base64 (RFC 4648).
 */
#include "reader.h"

#include <stdlib.h>
#include <string.h>

static int hex_digit(char c)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    const char *found = c ? strchr(digits, c) : NULL;
    return found ? (int)((found - digits) % 16) : -1;
}

static bool take_hex(cli_reader *r, uint32_t *out)
{
    *out = 0;
    for (int i = 0; i < 4; i++, r->at++) {
        int digit = hex_digit(*r->at);
        if (digit < 0)
            return false;
        *out = *out << 4 | (uint32_t)digit;
    }
    return true;
}

static zlg_status add_point(cli_reader *r, uint32_t point)
{
    char out[4];
    return cli_reader_add(r, out, cli_utf8(point, out));
}

/* Behind the backslash. Halves of a pair of surrogates become one character. */
static zlg_status read_escape(cli_reader *r)
{
    static const char from[] = "bfnrt\"\\/", to[] = "\b\f\n\r\t\"\\/";
    char letter = *r->at;
    const char *found = letter ? strchr(from, letter) : NULL;
    if (found) {
        r->at++;
        return cli_reader_add(r, &to[found - from], 1);
    }
    uint32_t point, low;
    if (letter != 'u')
        return cli_reader_expected(r, "what JSON has behind a \"\\\"");
    r->at++;
    if (!take_hex(r, &point))
        return cli_reader_expected(r, "four hexadecimal digits");
    const char *behind = r->at;
    if (point >= 0xd800 && point < 0xdc00 && strncmp(r->at, "\\u", 2) == 0) {
        r->at += 2;
        if (take_hex(r, &low) && low >= 0xdc00 && low < 0xe000)
            point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
        else
            r->at = behind;
    }
    return add_point(r, point);
}

/* The bytes of a string; bare ones reach to the next tab or the end of the line. */
zlg_status cli_reader_string(cli_reader *r, bool bare)
{
    if (!bare && *r->at != '"')
        return cli_reader_expected(r, "a string in quotes");
    r->at += !bare;
    const char *stops = bare ? "\\\t\n" : "\\\"";
    for (;;) {
        size_t n = strcspn(r->at, stops);
        if (bare && r->at[n] == '\n' && n > 0 && r->at[n - 1] == '\r')
            n--; /* a line of other systems */
        CLI_TRY(cli_reader_add(r, r->at, n));
        r->at += n;
        if (*r->at == '\r')
            r->at++;
        if (*r->at != '\\')
            break;
        r->at++;
        CLI_TRY(read_escape(r));
    }
    if (bare)
        return ZLG_OK;
    if (*r->at != '"')
        return cli_reader_expected(r, "the end of a string");
    r->at++;
    return ZLG_OK;
}

static int base64_digit(char c)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *found = c ? strchr(digits, c) : NULL;
    return found ? (int)(found - digits) : -1;
}

zlg_status cli_reader_base64(cli_reader *r)
{
    bool quoted = *r->at == '"';
    r->at += quoted;
    uint32_t bits = 0;
    int n_digits = 0;
    for (; base64_digit(*r->at) >= 0; r->at++) {
        bits = bits << 6 | (uint32_t)base64_digit(*r->at);
        if (++n_digits % 4 == 0) {
            uint8_t three[3] = {bits >> 16 & 255, bits >> 8 & 255, bits & 255};
            CLI_TRY(cli_reader_add(r, three, 3));
        }
    }
    int n_left = n_digits % 4;
    int n_padding = n_left ? 4 - n_left : 0;
    if (n_left == 1 || (int)strspn(r->at, "=") != n_padding)
        return cli_reader_expected(r, "base64");
    r->at += n_padding;
    bits <<= 6 * n_padding;
    uint8_t last[2] = {bits >> 16 & 255, bits >> 8 & 255};
    if (n_left)
        CLI_TRY(cli_reader_add(r, last, (size_t)n_left - 1));
    if (quoted ? *r->at != '"' : !cli_reader_ends_value(r->at))
        return cli_reader_expected(r, "base64");
    r->at += quoted;
    return ZLG_OK;
}

/* The bytes read since `first`, with zeros up to the length of the type. */
zlg_status cli_reader_pad(cli_reader *r, size_t first, size_t n_bytes, size_t unit,
                          const char *units)
{
    static const uint8_t zeros[64];
    size_t n = r->element->n_bytes - first;
    if (n > n_bytes)
        return cli_fail(r->err, ZLG_USAGE, "%zu %s, the type has %zu", n / unit, units,
                        n_bytes / unit);
    while (n < n_bytes) {
        size_t n_piece = n_bytes - n < sizeof zeros ? n_bytes - n : sizeof zeros;
        CLI_TRY(cli_reader_add(r, zeros, n_piece));
        n += n_piece;
    }
    return ZLG_OK;
}

/* UTF-8 → code points; the library has no word in this, so it is checked here. */
static zlg_status take_point(cli_reader *r, const uint8_t **at, const uint8_t *end,
                             uint32_t *out)
{
    uint8_t lead = *(*at)++;
    int n = lead < 0x80 ? 0 : lead < 0xc0 ? -1 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    *out = n <= 0 ? lead : lead & (0x3fu >> n);
    bool is_fine = n >= 0 && lead < 0xf8 && end - *at >= n;
    for (int i = 0; i < n && is_fine; i++) {
        uint8_t byte = *(*at)++;
        is_fine = (byte & 0xc0) == 0x80;
        *out = *out << 6 | (byte & 0x3f);
    }
    if (!is_fine || *out > 0x10ffff || *out < least[n < 0 ? 0 : n])
        return cli_fail(r->err, ZLG_USAGE, "a text that is not UTF-8");
    return ZLG_OK;
}

zlg_status cli_reader_points(cli_reader *r, size_t n_bytes, bool bare)
{
    cli_element *e = r->element;
    size_t first = e->n_bytes;
    CLI_TRY(cli_reader_string(r, bare));
    size_t n = e->n_bytes - first;
    uint8_t *text = malloc(n + 1);
    if (!text)
        return cli_no_memory(r->err, n + 1);
    memcpy(text, e->bytes + first, n);
    e->n_bytes = first;
    zlg_status status = ZLG_OK;
    for (const uint8_t *at = text; at < text + n && status == ZLG_OK;) {
        uint32_t point = 0;
        status = take_point(r, &at, text + n, &point);
        if (status == ZLG_OK)
            status = cli_reader_add(r, &point, sizeof point);
    }
    free(text);
    return status == ZLG_OK ? cli_reader_pad(r, first, n_bytes, 4, "characters") : status;
}
