/*
 * reader_number.c: numbers, and times as dates or counts. What the type cannot hold is an
 * error; fractions are rounded to the nearest number of the type.
 */
#include "reader.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "times.h"

static zlg_status read_unsigned(cli_reader *r, zlg_type type, int n_bits)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(r->at, &end, 10);
    uint64_t most = UINT64_MAX >> (64 - n_bits);
    if (end == r->at || *r->at == '-' || errno || !cli_reader_ends_value(end) ||
        value > most) {
        char what[64];
        snprintf(what, sizeof what, "a whole number from 0 to %" PRIu64, most);
        return cli_reader_expected(r, what);
    }
    r->at = end;
    uint64_t wide = value;
    uint32_t half = (uint32_t)value;
    uint16_t quarter = (uint16_t)value;
    uint8_t byte = (uint8_t)value;
    return type == ZLG_UINT64   ? cli_reader_add(r, &wide, 8)
           : type == ZLG_UINT32 ? cli_reader_add(r, &half, 4)
           : type == ZLG_UINT16 ? cli_reader_add(r, &quarter, 2)
                                : cli_reader_add(r, &byte, 1);
}

static zlg_status read_signed(cli_reader *r, int n_bits, size_t n_bytes)
{
    char *end;
    errno = 0;
    long long value = strtoll(r->at, &end, 10);
    int64_t most = INT64_MAX >> (64 - n_bits);
    if (end == r->at || errno || !cli_reader_ends_value(end) || value > most ||
        value < -most - 1) {
        char what[80];
        snprintf(what, sizeof what, "a whole number from %" PRId64 " to %" PRId64,
                 -most - 1, most);
        return cli_reader_expected(r, what);
    }
    r->at = end;
    int64_t wide = value;
    int32_t half = (int32_t)value;
    int16_t quarter = (int16_t)value;
    int8_t byte = (int8_t)value;
    return n_bytes == 8   ? cli_reader_add(r, &wide, 8)
           : n_bytes == 4 ? cli_reader_add(r, &half, 4)
           : n_bytes == 2 ? cli_reader_add(r, &quarter, 2)
                          : cli_reader_add(r, &byte, 1);
}

static zlg_status read_double(cli_reader *r, bool is_single, double *out)
{
    char *end;
    if (cli_reader_take_word(r, "NaN") || cli_reader_take_word(r, "nan")) {
        *out = NAN;
        return ZLG_OK;
    }
    if (cli_reader_take_word(r, "Infinity") || cli_reader_take_word(r, "inf")) {
        *out = INFINITY;
        return ZLG_OK;
    }
    if (cli_reader_take_word(r, "-Infinity") || cli_reader_take_word(r, "-inf")) {
        *out = -INFINITY;
        return ZLG_OK;
    }
    if (!strchr("+-.0123456789", *r->at) || !*r->at)
        return cli_reader_expected(r, "a number");
    /* To single precision in one step: over double it could be rounded twice. */
    *out = is_single ? (double)strtof(r->at, &end) : strtod(r->at, &end);
    if (end == r->at || !cli_reader_ends_value(end))
        return cli_reader_expected(r, "a number");
    if (isinf(*out))
        return cli_reader_expected(r, "a number that the type can hold");
    r->at = end;
    return ZLG_OK;
}

static zlg_status read_float(cli_reader *r, zlg_type type)
{
    double value = 0;
    uint32_t bits;
    CLI_TRY(read_double(r, type == ZLG_FLOAT32, &value));
    if (type == ZLG_FLOAT64)
        return cli_reader_add(r, &value, sizeof value);
    if (type == ZLG_FLOAT32) {
        float single = (float)value;
        return cli_reader_add(r, &single, sizeof single);
    }
    CLI_TRY(cli_small_float(&r->element->floats, type, value, &bits, r->err));
    uint16_t wide = (uint16_t)bits;
    uint8_t byte = (uint8_t)bits;
    return type == ZLG_FLOAT16 || type == ZLG_BFLOAT16 ? cli_reader_add(r, &wide, 2)
                                                       : cli_reader_add(r, &byte, 1);
}

static zlg_status read_bool(cli_reader *r)
{
    bool value = cli_reader_take_word(r, "true") || cli_reader_take_word(r, "1") ||
                 cli_reader_take_word(r, "True");
    if (!value && !cli_reader_take_word(r, "false") && !cli_reader_take_word(r, "0") &&
        !cli_reader_take_word(r, "False"))
        return cli_reader_expected(r, "true or false");
    uint8_t byte = value;
    return cli_reader_add(r, &byte, 1);
}

zlg_status cli_reader_number(cli_reader *r, zlg_type type)
{
    switch (type) {
    case ZLG_BOOL:
        return read_bool(r);
    case ZLG_INT2:
        return read_signed(r, 2, 1);
    case ZLG_INT4:
        return read_signed(r, 4, 1);
    case ZLG_INT8:
        return read_signed(r, 8, 1);
    case ZLG_INT16:
        return read_signed(r, 16, 2);
    case ZLG_INT32:
        return read_signed(r, 32, 4);
    case ZLG_INT64:
        return read_signed(r, 64, 8);
    case ZLG_UINT2:
        return read_unsigned(r, type, 2);
    case ZLG_UINT4:
        return read_unsigned(r, type, 4);
    case ZLG_UINT8:
        return read_unsigned(r, type, 8);
    case ZLG_UINT16:
        return read_unsigned(r, type, 16);
    case ZLG_UINT32:
        return read_unsigned(r, type, 32);
    case ZLG_UINT64:
        return read_unsigned(r, type, 64);
    default:
        return read_float(r, type);
    }
}

/* A number is a count, except where a year would be shown as one. */
zlg_status cli_reader_time(cli_reader *r, zlg_dtype dtype, bool bare)
{
    int64_t count;
    const char *end = r->at + (*r->at == '"');
    bool is_date = dtype.type == ZLG_DATETIME64 && dtype.unit &&
                   (*r->at == '"' || (bare && strcmp(dtype.unit, "Y") == 0) ||
                    r->at[1 + strspn(r->at + 1, "0123456789")] == '-');
    if (cli_reader_take_word(r, "NaT")) {
        count = INT64_MIN;
        return cli_reader_add(r, &count, sizeof count);
    }
    if (!is_date || !cli_read_time(end, dtype.scale, dtype.unit, &count, &end) ||
        (*r->at == '"' ? *end != '"' : !cli_reader_ends_value(end))) {
        const char *what = dtype.type == ZLG_DATETIME64
                               ? "a date in whole units, or their number"
                               : "a number of units";
        return read_signed(r, 64, 8) == ZLG_OK ? ZLG_OK : cli_reader_expected(r, what);
    }
    r->at = end + (*r->at == '"');
    return cli_reader_add(r, &count, sizeof count);
}
