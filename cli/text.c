/*
 * text.c: quantities as people read them, and characters.
 */
#include <inttypes.h>
#include <string.h>

#include "cli.h"

size_t cli_utf8(uint32_t point, char out[4])
{
    size_t n = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    for (size_t i = n; i-- > 1; point >>= 6)
        out[i] = (char)(0x80 | (point & 0x3f));
    out[0] = (char)((n == 1 ? 0 : 0xf00u >> n & 0xf0) | point);
    return n;
}

void cli_print_name(FILE *out, const char *name)
{
    for (; *name; name++)
        putc((unsigned char)*name < ' ' || *name == 0x7f ? '?' : *name, out);
}

void cli_print_count(FILE *out, uint64_t n, const char *one, const char *many)
{
    fprintf(out, "%" PRIu64 " %s", n, n == 1 ? one : many);
}

void cli_print_bytes(FILE *out, uint64_t n_bytes)
{
    static const char *const units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
    if (n_bytes < 1000) {
        cli_print_count(out, n_bytes, "byte", "bytes");
        return;
    }
    double n = (double)n_bytes / 1000;
    size_t unit = 0;
    for (; n >= 999.95 && unit + 1 < CLI_COUNT(units); unit++)
        n /= 1000;
    fprintf(out, "%.1f %s", n, units[unit]);
}

void cli_print_shape(FILE *out, int rank, const int64_t *shape)
{
    if (rank == 0)
        fputs("scalar", out);
    for (int i = 0; i < rank; i++)
        fprintf(out, "%s%" PRId64, i ? " x " : "", shape[i]);
}

/* The items of a configuration but "id", in brackets. */
static void print_configuration(FILE *out, const char *object)
{
    const char *sign = "(";
    for (const char *at = cli_json_first(object); at; at = cli_json_next(at)) {
        char text[200];
        const char *value = cli_json_value(at);
        cli_json_text(at, text, sizeof text);
        if (strcmp(text, "id") == 0)
            continue;
        fputs(sign, out);
        cli_print_name(out, text);
        putc(' ', out);
        sign = ", ";
        if (cli_json_text(value, text, sizeof text))
            cli_print_name(out, text);
        else
            cli_json_line(out, value);
    }
    if (*sign == ',')
        putc(')', out);
}

void cli_print_named(FILE *out, const char *json)
{
    char text[200];
    const char *name = cli_json_member(json, "name"), *id = cli_json_member(json, "id");
    if (cli_json_text(json, text, sizeof text)) {
        cli_print_name(out, text);
    } else if (cli_json_text(name ? name : id, text, sizeof text)) {
        cli_print_name(out, text);
        const char *configuration = name ? cli_json_member(json, "configuration") : json;
        if (configuration && *configuration == '{')
            print_configuration(out, configuration);
    } else {
        cli_json_line(out, json ? json : "?");
    }
}
