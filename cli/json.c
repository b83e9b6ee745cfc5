/*
 * json.c: walks over JSON that the library has written and so is well formed: finds
 * members, lays documents out for people. No tree is built; a value is where it begins.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* ------------------------------------------------------------------ walking */

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \n\t\r");
}

static const char *string_end(const char *at)
{
    for (at++; *at && *at != '"'; at++)
        if (*at == '\\' && at[1])
            at++;
    return *at ? at + 1 : at;
}

const char *cli_json_end(const char *value)
{
    int depth = 0;
    const char *at = value;
    do {
        if (*at == '"') {
            at = string_end(at);
            continue;
        }
        if (*at == '[' || *at == '{')
            depth++;
        else if (*at == ']' || *at == '}')
            depth--;
        else
            at += strcspn(at + 1, "[]{},:\" \n");
        at += *at != 0;
    } while (depth > 0 && *at);
    return at;
}

const char *cli_json_first(const char *container)
{
    const char *at = skip_blanks(container + 1);
    return *at == ']' || *at == '}' ? NULL : at;
}

const char *cli_json_next(const char *item)
{
    const char *at = skip_blanks(cli_json_end(item));
    if (*at == ':') /* a name, and its value */
        at = skip_blanks(cli_json_end(skip_blanks(at + 1)));
    return *at == ',' ? skip_blanks(at + 1) : NULL;
}

const char *cli_json_value(const char *name)
{
    return skip_blanks(skip_blanks(cli_json_end(name)) + 1);
}

const char *cli_json_member(const char *object, const char *name)
{
    size_t n = strlen(name);
    if (!object || *object != '{')
        return NULL;
    for (const char *at = cli_json_first(object); at; at = cli_json_next(at))
        if (strncmp(at + 1, name, n) == 0 && at[n + 1] == '"')
            return cli_json_value(at);
    return NULL;
}

/* ------------------------------------------------------------------ scalars */

bool cli_json_number(const char *value, double *out)
{
    char *end;
    if (!value)
        return false;
    if (*value != '"' && *value != '-' && (*value < '0' || *value > '9') && *value != 'N' &&
        *value != 'I')
        return false;
    const char *text = *value == '"' ? value + 1 : value;
    *out = strtod(text, &end);
    return end != text && (*value != '"' || *end == '"');
}

/* The library escapes control characters and halves of surrogate pairs only. */
static size_t put_escape(const char **at, char out[4])
{
    static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
    char letter = *(*at)++;
    const char *found = strchr(from, letter);
    if (letter == 'u') {
        char digits[5] = {0};
        memcpy(digits, *at, 4);
        *at += 4;
        return cli_utf8((uint32_t)strtoul(digits, NULL, 16), out);
    }
    out[0] = found ? to[found - from] : letter;
    return 1;
}

bool cli_json_text(const char *value, char *out, size_t n_room)
{
    size_t n = 0;
    out[0] = 0;
    if (!value || *value != '"')
        return false;
    for (const char *at = value + 1; *at != '"' && *at;) {
        char piece[4] = {*at};
        size_t n_piece = 1;
        if (*at++ == '\\')
            n_piece = put_escape(&at, piece);
        if (n + n_piece >= n_room)
            break;
        memcpy(out + n, piece, n_piece);
        n += n_piece;
    }
    out[n] = 0;
    return true;
}

/* ------------------------------------------------------------------ laying out */

static void write_span(FILE *out, const char *begin, const char *end)
{
    fwrite(begin, 1, (size_t)(end - begin), out);
}

static bool is_container(const char *value)
{
    return *value == '[' || *value == '{';
}

void cli_json_line(FILE *out, const char *value)
{
    if (!is_container(value)) {
        write_span(out, value, cli_json_end(value));
        return;
    }
    putc(*value, out);
    for (const char *at = cli_json_first(value); at;) {
        const char *item = at;
        if (*value == '{') {
            write_span(out, at, cli_json_end(at));
            fputs(": ", out);
            item = cli_json_value(at);
        }
        cli_json_line(out, item);
        at = cli_json_next(at);
        if (at)
            fputs(", ", out);
    }
    putc(*value == '[' ? ']' : '}', out);
}

/* Whether the value is best kept on one line: no containers inside. */
static bool is_flat(const char *value)
{
    for (const char *at = cli_json_first(value); at; at = cli_json_next(at))
        if (is_container(*value == '{' ? cli_json_value(at) : at))
            return false;
    return cli_json_end(value) - value < 80;
}

void cli_json_pretty(FILE *out, const char *value, int indent)
{
    if (!is_container(value) || !cli_json_first(value) ||
        (*value == '[' && is_flat(value))) {
        cli_json_line(out, value);
        return;
    }
    putc(*value, out);
    for (const char *at = cli_json_first(value); at;) {
        const char *item = at;
        fprintf(out, "\n%*s", indent + 2, "");
        if (*value == '{') {
            write_span(out, at, cli_json_end(at));
            fputs(": ", out);
            item = cli_json_value(at);
        }
        cli_json_pretty(out, item, indent + 2);
        at = cli_json_next(at);
        if (at)
            putc(',', out);
    }
    fprintf(out, "\n%*s%c", indent, "", *value == '[' ? ']' : '}');
}

/* ------------------------------------------------------------------ writing */

void cli_json_string(FILE *out, const char *text, size_t n_bytes)
{
    static const char from[] = "\"\\\b\t\n\f\r", to[] = "\"\\btnfr";
    putc('"', out);
    for (size_t i = 0; i < n_bytes; i++) {
        unsigned char byte = (unsigned char)text[i];
        const char *found = byte ? strchr(from, byte) : NULL;
        if (found)
            fprintf(out, "\\%c", to[found - from]);
        else if (byte < 0x20)
            fprintf(out, "\\u%04x", byte);
        else
            putc(byte, out);
    }
    putc('"', out);
}

void cli_json_base64(FILE *out, const uint8_t *data, size_t n_bytes)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    putc('"', out);
    for (size_t i = 0; i < n_bytes; i += 3) {
        unsigned group = (unsigned)data[i] << 16;
        group |= i + 1 < n_bytes ? (unsigned)data[i + 1] << 8 : 0;
        group |= i + 2 < n_bytes ? data[i + 2] : 0;
        putc(digits[group >> 18], out);
        putc(digits[group >> 12 & 63], out);
        putc(i + 1 < n_bytes ? digits[group >> 6 & 63] : '=', out);
        putc(i + 2 < n_bytes ? digits[group & 63] : '=', out);
    }
    putc('"', out);
}

void cli_json_shape(FILE *out, int rank, const int64_t *shape)
{
    putc('[', out);
    for (int i = 0; i < rank; i++)
        fprintf(out, "%s%lld", i ? ", " : "", (long long)shape[i]);
    putc(']', out);
}
