/*
 * A JSON tree to text. Numbers as they were written, members in their order, text beyond
 * ASCII as it is; with an indent the layout is that of Python's json.dumps.
 *
 * Knows the tree; the text of floats is number_text.c's.
 */
#include "base/base.h"

static zlg_status write_escape(zlgi_buf *out, unsigned code, zlg_error *err)
{
    static const char letters[128] = {
        ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f',
        ['\r'] = 'r', ['"'] = '"',  ['\\'] = '\\'};
    static const char hex[] = "0123456789abcdef";
    char text[6] = {
        '\\',          'u', hex[code >> 12], hex[code >> 8 & 15], hex[code >> 4 & 15],
        hex[code & 15]};
    if (code >= 128 || letters[code] == 0)
        return zlgi_buf_append(out, text, 6, err);
    text[1] = letters[code];
    return zlgi_buf_append(out, text, 2, err);
}

/* The lone surrogate that text begins with (three bytes of WTF-8), or 0. */
static unsigned surrogate_at(const uint8_t *text, size_t n)
{
    if (n < 3 || text[0] != 0xed || text[1] < 0xa0 || text[1] > 0xbf ||
        (text[2] & 0xc0) != 0x80)
        return 0;
    return 0xd000u | (text[1] & 0x3fu) << 6 | (text[2] & 0x3fu);
}

zlg_status zlgi_json_write_string(zlgi_buf *out, const char *text, size_t n, zlg_error *err)
{
    const uint8_t *p = (const uint8_t *)text;
    size_t written = 0;
    ZLGI_TRY(zlgi_buf_append(out, "\"", 1, err));
    for (size_t i = 0; i < n;) {
        bool control = p[i] < 0x20 || p[i] == '"' || p[i] == '\\';
        size_t n_plain = control ? 0 : zlgi_utf8_span(p + i, n - i);
        if (n_plain > 0) {
            i += n_plain;
            continue;
        }
        unsigned code = control ? p[i] : surrogate_at(p + i, n - i);
        size_t n_code = control ? 1 : 3;
        /* Two that form a pair would read back as one character of four bytes. */
        bool lone =
            code < 0xd800 || code >= 0xdc00 || surrogate_at(p + i + 3, n - i - 3) < 0xdc00;
        if (!control && (code == 0 || !lone))
            return zlgi_fail(err, ZLG_USAGE, "byte %zu of a string, 0x%02x, is not UTF-8",
                             i, p[i]);
        ZLGI_TRY(zlgi_buf_append(out, p + written, i - written, err));
        ZLGI_TRY(write_escape(out, code, err));
        i += n_code;
        written = i;
    }
    if (written < n)
        ZLGI_TRY(zlgi_buf_append(out, p + written, n - written, err));
    return zlgi_buf_append(out, "\"", 1, err);
}

/* A new line indented by n_spaces; nothing when the text is to be one line. */
static zlg_status write_break(zlgi_buf *out, int indent, int level, zlg_error *err)
{
    static const char spaces[] = "                                ";
    const size_t n_most = sizeof(spaces) - 1;
    if (indent == 0)
        return ZLG_OK;
    ZLGI_TRY(zlgi_buf_append(out, "\n", 1, err));
    for (size_t n = (size_t)indent * (size_t)level; n > 0;) {
        size_t n_now = ZLGI_MIN(n, n_most);
        ZLGI_TRY(zlgi_buf_append(out, spaces, n_now, err));
        n -= n_now;
    }
    return ZLG_OK;
}

static zlg_status write_value(const zlgi_json *value, int indent, int level, zlgi_buf *out,
                              zlg_error *err);

static zlg_status write_items(const zlgi_json *container, int indent, int level,
                              zlgi_buf *out, zlg_error *err)
{
    bool object = container->type == ZLGI_JSON_OBJECT;
    ZLGI_TRY(zlgi_buf_append(out, object ? "{" : "[", 1, err));
    for (const zlgi_json *item = container->items; item != NULL; item = item->next) {
        if (item != container->items)
            ZLGI_TRY(zlgi_buf_append(out, ",", 1, err));
        ZLGI_TRY(write_break(out, indent, level + 1, err));
        if (object) {
            ZLGI_TRY(zlgi_json_write_string(out, item->name, item->n_name, err));
            ZLGI_TRY(zlgi_buf_append(out, ": ", indent == 0 ? 1 : 2, err));
        }
        ZLGI_TRY(write_value(item, indent, level + 1, out, err));
    }
    if (container->items != NULL)
        ZLGI_TRY(write_break(out, indent, level, err));
    return zlgi_buf_append(out, object ? "}" : "]", 1, err);
}

static zlg_status write_value(const zlgi_json *value, int indent, int level, zlgi_buf *out,
                              zlg_error *err)
{
    switch (value->type) {
    case ZLGI_JSON_NULL:
        return zlgi_buf_append(out, "null", 4, err);
    case ZLGI_JSON_FALSE:
        return zlgi_buf_append(out, "false", 5, err);
    case ZLGI_JSON_TRUE:
        return zlgi_buf_append(out, "true", 4, err);
    case ZLGI_JSON_NUMBER:
        return zlgi_buf_append(out, value->text, value->n_text, err);
    case ZLGI_JSON_STRING:
        return zlgi_json_write_string(out, value->text, value->n_text, err);
    case ZLGI_JSON_ARRAY:
    case ZLGI_JSON_OBJECT:
        return write_items(value, indent, level, out, err);
    }
    return ZLG_OK;
}

zlg_status zlgi_json_write(const zlgi_json *value, int indent, zlgi_buf *out,
                           zlg_error *err)
{
    return write_value(value, indent, 0, out, err);
}
