/*
 * Strings of a JSON document (RFC 8259 section 7), decoded where they stand: what is
 * decoded is never longer than what was written.
 *
 * A lone surrogate escape becomes the three bytes it would have in UTF-8 (WTF-8), since
 * Python writes such escapes and a document must survive being written back.
 */
#include "base/json_parser.h"

/* Sets the high bit of the first byte that is no plain ASCII of a string: '"', '\', a
 * control character, 0x80 and above. Borrows may set later bits too, so only the first
 * counts. */
static uint64_t special_bytes(uint64_t w)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), high = ones << 7;
    uint64_t quote = w ^ ones * '"', backslash = w ^ ones * '\\';
    uint64_t zero = ((quote - ones) & ~quote) | ((backslash - ones) & ~backslash);
    return (zero | (w - ones * 0x20) | w) & high;
}

/* Four hexadecimal digits, or -1. */
static int read_hex4(const char *p)
{
    int value = 0;
    for (int i = 0; i < 4; i++) {
        char c = p[i], letter = c | 0x20;
        if (c >= '0' && c <= '9')
            value = value << 4 | (c - '0');
        else if (letter >= 'a' && letter <= 'f')
            value = value << 4 | (letter - 'a' + 10);
        else
            return -1;
    }
    return value;
}

static char *put_code_point(char *out, uint32_t c)
{
    if (c < 0x80) {
        *out++ = (char)c;
        return out;
    }
    if (c < 0x800) {
        *out++ = (char)(0xc0 | c >> 6);
    } else {
        if (c < 0x10000) {
            *out++ = (char)(0xe0 | c >> 12);
        } else {
            *out++ = (char)(0xf0 | c >> 18);
            *out++ = (char)(0x80 | (c >> 12 & 0x3f));
        }
        *out++ = (char)(0x80 | (c >> 6 & 0x3f));
    }
    *out++ = (char)(0x80 | (c & 0x3f));
    return out;
}

/* \uXXXX, p at the X. Two escapes that form a surrogate pair are one character. */
static char *read_unicode_escape(zlgi_json_parser *ps, char *p, char **out)
{
    int c = read_hex4(p);
    if (c < 0)
        return zlgi_json_malformed(ps, p - 2, "\\u without four hexadecimal digits");
    p += 4;
    if (c >= 0xd800 && c < 0xdc00 && p[0] == '\\' && p[1] == 'u') {
        int low = read_hex4(p + 2);
        if (low >= 0xdc00 && low < 0xe000) {
            c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
            p += 6;
        }
    }
    *out = put_code_point(*out, (uint32_t)c);
    return p;
}

/* p at the backslash. */
static char *read_escape(zlgi_json_parser *ps, char *p, char **out)
{
    static const char decoded[128] = {
        ['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
        ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t'};
    char c = p[1];
    if (c == 'u')
        return read_unicode_escape(ps, p + 2, out);
    if ((uint8_t)c >= 128 || decoded[(uint8_t)c] == 0)
        return zlgi_json_unexpected(ps, p + 1, c, "a known escape after '\\'");
    *(*out)++ = decoded[(uint8_t)c];
    return p + 2;
}

char *zlgi_json_read_string(zlgi_json_parser *ps, char *p, uint32_t *out_n)
{
    char *start = p, *out = p;
    for (;;) {
        uint64_t special = special_bytes(zlgi_load_u64le(p));
        size_t n_plain = special == 0 ? 8 : (size_t)__builtin_ctzll(special) / 8;
        if (out != p)
            memmove(out, p, n_plain);
        out += n_plain;
        p += n_plain;
        if (special == 0)
            continue;
        if (*p == '"') {
            *out = '\0';
            *out_n = (uint32_t)(out - start);
            return p + 1;
        }
        if (*p == '\\') {
            p = read_escape(ps, p, &out);
            if (p == NULL)
                return NULL;
        } else if ((uint8_t)*p >= 0x80) {
            size_t n = zlgi_utf8_span((const uint8_t *)p, (size_t)(ps->end - p));
            if (n == 0)
                return zlgi_json_unexpected(ps, p, *p, "UTF-8 in a string");
            memmove(out, p, n);
            out += n;
            p += n;
        } else if (p == ps->end) {
            ps->status = zlgi_fail(ps->err, ZLG_METADATA,
                                   "JSON: byte %zu: the string that begins here has no end",
                                   zlgi_json_position(ps, start - 1));
            return NULL;
        } else {
            return zlgi_json_unexpected(ps, p, *p, "no control character in a string");
        }
    }
}
