/*
 * create_type.c: data types as people write them. Each version has a notation of its own;
 * here either is taken for both. What is not known here goes to the library as it is.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "create.h"

static const struct {
    const char *name, *numpy;
} numbers[] = {
    {"bool", "|b1"},      {"int8", "|i1"},        {"int16", "<i2"},   {"int32", "<i4"},
    {"int64", "<i8"},     {"uint8", "|u1"},       {"uint16", "<u2"},  {"uint32", "<u4"},
    {"uint64", "<u8"},    {"float16", "<f2"},     {"float32", "<f4"}, {"float64", "<f8"},
    {"complex64", "<c8"}, {"complex128", "<c16"},
};

__attribute__((format(printf, 3, 4))) static zlg_status put(char **out, zlg_error *err,
                                                            const char *format, ...)
{
    va_list arguments;
    size_t n_room = strlen(format) + 200;
    *out = malloc(n_room);
    if (!*out)
        return cli_no_memory(err, n_room);
    va_start(arguments, format);
    vsnprintf(*out, n_room, format, arguments);
    va_end(arguments);
    return ZLG_OK;
}

/* "M8[25s]", "datetime64[25s]"; without brackets, "generic". */
static zlg_status put_time(const char *text, char kind, int zarr_format, char **out,
                           zlg_error *err)
{
    const char *bracket = strchr(text, '[');
    const char *unit = bracket ? bracket + 1 : "generic";
    char *end = NULL;
    unsigned long long scale = bracket ? strtoull(unit, &end, 10) : 0;
    unit = end ? end : unit;
    int n = (int)strcspn(unit, "]");
    if (n > 20 || (bracket && strcmp(unit + n, "]") != 0))
        return cli_fail(err, ZLG_USAGE, "--dtype \"%s\": expected a unit, as in [ns]",
                        text);
    if (zarr_format == 2)
        return bracket ? put(out, err, "<%c8%.40s", kind, bracket)
                       : put(out, err, "<%c8", kind);
    return put(out, err,
               "{\"name\":\"numpy.%s64\",\"configuration\":{\"unit\":\"%.*s\","
               "\"scale_factor\":%llu}}",
               kind == 'M' ? "datetime" : "timedelta", n, unit, scale ? scale : 1);
}

/* "S10", "U10", "V10" */
static zlg_status put_fixed(char kind, uint64_t n, int zarr_format, char **out,
                            zlg_error *err)
{
    if (zarr_format == 2)
        return put(out, err, "%c%c%" PRIu64, kind == 'U' ? '<' : '|', kind, n);
    if (kind == 'V')
        return put(out, err, "r%" PRIu64, 8 * n);
    return put(out, err,
               "{\"name\":\"%s\",\"configuration\":{\"length_bytes\":%" PRIu64 "}}",
               kind == 'S' ? "null_terminated_bytes" : "fixed_length_utf32",
               kind == 'S' ? n : 4 * n);
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

zlg_status create_type(const char *text, int zarr_format, char **out,
                       const char **out_filter, zlg_error *err)
{
    *out_filter = NULL;
    /* Big-endian types stay as they are: version 3 has none. */
    const char *code = text + (*text && strchr("<|=", *text));
    for (size_t i = 0; i < CLI_COUNT(numbers); i++)
        if (strcmp(text, numbers[i].name) == 0 || strcmp(code, numbers[i].numpy + 1) == 0)
            return put(out, err, "%s",
                       zarr_format == 3 ? numbers[i].name : numbers[i].numpy);
    if (begins(code, "M8") || begins(text, "datetime64"))
        return put_time(text, 'M', zarr_format, out, err);
    if (begins(code, "m8") || begins(text, "timedelta64"))
        return put_time(text, 'm', zarr_format, out, err);
    char *end;
    unsigned long long n = *code ? strtoull(code + 1, &end, 10) : 0;
    if (n > 0 && n < UINT32_MAX && *end == 0 && strchr("SUV", *code))
        return put_fixed(*code, n, zarr_format, out, err);
    if (zarr_format == 2 && strcmp(text, "string") == 0)
        *out_filter = "[{\"id\":\"vlen-utf8\"}]";
    if (zarr_format == 2 && strcmp(text, "bytes") == 0)
        *out_filter = "[{\"id\":\"vlen-bytes\"}]";
    *out = strdup(*out_filter ? "|O" : text);
    return *out ? ZLG_OK : cli_no_memory(err, strlen(text) + 1);
}
