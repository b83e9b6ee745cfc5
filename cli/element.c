/*
 * element.c: one element from the text of a value. Which text: as the library formats
 * elements for people (numbers; "NaN"; lists for complex numbers and records; base64 for
 * bytes), and without quotes as `cat` shows it.
 */
#include "element.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "times.h"

typedef struct reader {
    cli_element *element;
    const char *at;
    zlg_error *err;
} reader;

zlg_status cli_element_expected(const char *what, const char *text, zlg_error *err)
{
    int n = (int)strcspn(text, "\n\t");
    if (n == 0)
        return cli_fail(err, ZLG_USAGE, "expected %s, found the end of the %s", what,
                        *text ? "line" : "text");
    return cli_fail(err, ZLG_USAGE, "expected %s, found \"%.*s\"", what, n < 40 ? n : 40,
                    text);
}

static zlg_status expected(const reader *r, const char *what)
{
    return cli_element_expected(what, r->at, r->err);
}

static zlg_status add(reader *r, const void *data, size_t n)
{
    cli_element *e = r->element;
    if (n > e->n_room - e->n_bytes) {
        size_t n_room = 2 * (e->n_bytes + n) + 64;
        uint8_t *bytes = realloc(e->bytes, n_room);
        if (!bytes)
            return cli_no_memory(r->err, n_room);
        e->bytes = bytes;
        e->n_room = n_room;
    }
    if (n > 0)
        memcpy(e->bytes + e->n_bytes, data, n);
    e->n_bytes += n;
    return ZLG_OK;
}

static void skip_blanks(reader *r)
{
    r->at += strspn(r->at, " \n\t\r");
}

static zlg_status take(reader *r, char sign)
{
    char what[] = "\" \"";
    what[1] = sign;
    skip_blanks(r);
    if (*r->at != sign)
        return expected(r, what);
    r->at++;
    skip_blanks(r);
    return ZLG_OK;
}

/* A word, in quotes or bare. */
static bool take_word(reader *r, const char *word)
{
    size_t n = strlen(word);
    bool quoted = *r->at == '"';
    if (strncmp(r->at + quoted, word, n) != 0)
        return false;
    const char *end = r->at + quoted + n;
    if (quoted ? *end != '"' : !strchr(" \n\t\r,]", *end))
        return false;
    r->at = end + quoted;
    return true;
}

/* ------------------------------------------------------------------ numbers */

static bool ends_number(const char *at)
{
    return strchr(" \n\t\r,]", *at) != NULL; /* the end of the text, too */
}

static zlg_status read_unsigned(reader *r, zlg_type type, int n_bits)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(r->at, &end, 10);
    uint64_t most = UINT64_MAX >> (64 - n_bits);
    if (end == r->at || *r->at == '-' || errno || !ends_number(end) || value > most) {
        char what[64];
        snprintf(what, sizeof what, "a whole number from 0 to %" PRIu64, most);
        return expected(r, what);
    }
    r->at = end;
    uint64_t wide = value;
    uint32_t half = (uint32_t)value;
    uint16_t quarter = (uint16_t)value;
    uint8_t byte = (uint8_t)value;
    return type == ZLG_UINT64   ? add(r, &wide, 8)
           : type == ZLG_UINT32 ? add(r, &half, 4)
           : type == ZLG_UINT16 ? add(r, &quarter, 2)
                                : add(r, &byte, 1);
}

static zlg_status read_signed(reader *r, int n_bits, size_t n_bytes)
{
    char *end;
    errno = 0;
    long long value = strtoll(r->at, &end, 10);
    int64_t most = INT64_MAX >> (64 - n_bits);
    if (end == r->at || errno || !ends_number(end) || value > most || value < -most - 1) {
        char what[80];
        snprintf(what, sizeof what, "a whole number from %" PRId64 " to %" PRId64,
                 -most - 1, most);
        return expected(r, what);
    }
    r->at = end;
    int64_t wide = value;
    int32_t half = (int32_t)value;
    int16_t quarter = (int16_t)value;
    int8_t byte = (int8_t)value;
    return n_bytes == 8   ? add(r, &wide, 8)
           : n_bytes == 4 ? add(r, &half, 4)
           : n_bytes == 2 ? add(r, &quarter, 2)
                          : add(r, &byte, 1);
}

static zlg_status read_double(reader *r, bool is_single, double *out)
{
    char *end;
    if (take_word(r, "NaN") || take_word(r, "nan")) {
        *out = NAN;
        return ZLG_OK;
    }
    if (take_word(r, "Infinity") || take_word(r, "inf")) {
        *out = INFINITY;
        return ZLG_OK;
    }
    if (take_word(r, "-Infinity") || take_word(r, "-inf")) {
        *out = -INFINITY;
        return ZLG_OK;
    }
    if (!strchr("+-.0123456789", *r->at) || !*r->at)
        return expected(r, "a number");
    /* To single precision in one step: over double it could be rounded twice. */
    *out = is_single ? (double)strtof(r->at, &end) : strtod(r->at, &end);
    if (end == r->at || !ends_number(end))
        return expected(r, "a number");
    if (isinf(*out))
        return expected(r, "a number that the type can hold");
    r->at = end;
    return ZLG_OK;
}

static zlg_status read_float(reader *r, zlg_type type)
{
    double value = 0;
    uint32_t bits;
    CLI_TRY(read_double(r, type == ZLG_FLOAT32, &value));
    if (type == ZLG_FLOAT64)
        return add(r, &value, sizeof value);
    if (type == ZLG_FLOAT32) {
        float single = (float)value;
        return add(r, &single, sizeof single);
    }
    CLI_TRY(cli_small_float(&r->element->floats, type, value, &bits, r->err));
    uint16_t wide = (uint16_t)bits;
    uint8_t byte = (uint8_t)bits;
    return type == ZLG_FLOAT16 || type == ZLG_BFLOAT16 ? add(r, &wide, 2)
                                                       : add(r, &byte, 1);
}

static zlg_status read_bool(reader *r)
{
    bool value = take_word(r, "true") || take_word(r, "1") || take_word(r, "True");
    if (!value && !take_word(r, "false") && !take_word(r, "0") && !take_word(r, "False"))
        return expected(r, "true or false");
    uint8_t byte = value;
    return add(r, &byte, 1);
}

static zlg_status read_number(reader *r, zlg_type type)
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
static zlg_status read_time(reader *r, zlg_dtype dtype, bool bare)
{
    int64_t count;
    const char *end = r->at + (*r->at == '"');
    bool is_date = dtype.type == ZLG_DATETIME64 && dtype.unit &&
                   (*r->at == '"' || (bare && strcmp(dtype.unit, "Y") == 0) ||
                    r->at[1 + strspn(r->at + 1, "0123456789")] == '-');
    if (take_word(r, "NaT")) {
        count = INT64_MIN;
        return add(r, &count, sizeof count);
    }
    if (!is_date || !cli_read_time(end, dtype.scale, dtype.unit, &count, &end) ||
        (*r->at == '"' ? *end != '"' : !ends_number(end))) {
        const char *what = dtype.type == ZLG_DATETIME64
                               ? "a date in whole units, or their number"
                               : "a number of units";
        return read_signed(r, 64, 8) == ZLG_OK ? ZLG_OK : expected(r, what);
    }
    r->at = end + (*r->at == '"');
    return add(r, &count, sizeof count);
}

/* ------------------------------------------------------------------ strings */

static int hex_digit(char c)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    const char *found = c ? strchr(digits, c) : NULL;
    return found ? (int)((found - digits) % 16) : -1;
}

static bool take_hex(reader *r, uint32_t *out)
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

static zlg_status add_point(reader *r, uint32_t point)
{
    char out[4];
    size_t n = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    for (size_t i = n; i-- > 1; point >>= 6)
        out[i] = (char)(0x80 | (point & 0x3f));
    out[0] = (char)((n == 1 ? 0 : 0xf00u >> n & 0xf0) | point);
    return add(r, out, n);
}

/* Behind the backslash. Halves of a pair of surrogates become one character. */
static zlg_status read_escape(reader *r)
{
    static const char from[] = "bfnrt\"\\/", to[] = "\b\f\n\r\t\"\\/";
    char letter = *r->at;
    const char *found = letter ? strchr(from, letter) : NULL;
    if (found) {
        r->at++;
        return add(r, &to[found - from], 1);
    }
    uint32_t point, low;
    if (letter != 'u')
        return expected(r, "what JSON has behind a \"\\\"");
    r->at++;
    if (!take_hex(r, &point))
        return expected(r, "four hexadecimal digits");
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
static zlg_status read_string(reader *r, bool bare)
{
    if (!bare && *r->at != '"')
        return expected(r, "a string in quotes");
    r->at += !bare;
    const char *stops = bare ? "\\\t\n" : "\\\"";
    for (;;) {
        size_t n = strcspn(r->at, stops);
        if (bare && r->at[n] == '\n' && n > 0 && r->at[n - 1] == '\r')
            n--; /* a line of other systems */
        CLI_TRY(add(r, r->at, n));
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
        return expected(r, "the end of a string");
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

static zlg_status read_base64(reader *r)
{
    bool quoted = *r->at == '"';
    r->at += quoted;
    uint32_t bits = 0;
    int n_digits = 0;
    for (; base64_digit(*r->at) >= 0; r->at++) {
        bits = bits << 6 | (uint32_t)base64_digit(*r->at);
        if (++n_digits % 4 == 0) {
            uint8_t three[3] = {bits >> 16 & 255, bits >> 8 & 255, bits & 255};
            CLI_TRY(add(r, three, 3));
        }
    }
    int n_left = n_digits % 4;
    int n_padding = n_left ? 4 - n_left : 0;
    if (n_left == 1 || (int)strspn(r->at, "=") != n_padding)
        return expected(r, "base64");
    r->at += n_padding;
    bits <<= 6 * n_padding;
    uint8_t last[2] = {bits >> 16 & 255, bits >> 8 & 255};
    if (n_left)
        CLI_TRY(add(r, last, (size_t)n_left - 1));
    if (quoted ? *r->at != '"' : !ends_number(r->at))
        return expected(r, "base64");
    r->at += quoted;
    return ZLG_OK;
}

/* The bytes read since `first`, with zeros up to the length of the type. */
static zlg_status pad(reader *r, size_t first, size_t n_bytes, size_t unit,
                      const char *units)
{
    static const uint8_t zeros[64];
    size_t n = r->element->n_bytes - first;
    if (n > n_bytes)
        return cli_fail(r->err, ZLG_USAGE, "%zu %s, the type has %zu", n / unit, units,
                        n_bytes / unit);
    while (n < n_bytes) {
        size_t n_piece = n_bytes - n < sizeof zeros ? n_bytes - n : sizeof zeros;
        CLI_TRY(add(r, zeros, n_piece));
        n += n_piece;
    }
    return ZLG_OK;
}

/* UTF-8 → code points; the library has no word in this, so it is checked here. */
static zlg_status take_point(reader *r, const uint8_t **at, const uint8_t *end,
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

static zlg_status read_points(reader *r, size_t n_bytes, bool bare)
{
    cli_element *e = r->element;
    size_t first = e->n_bytes;
    CLI_TRY(read_string(r, bare));
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
            status = add(r, &point, sizeof point);
    }
    free(text);
    return status == ZLG_OK ? pad(r, first, n_bytes, 4, "characters") : status;
}

/* ------------------------------------------------------------------ types */

static zlg_status read_value(reader *r, int *path, int n_path, zlg_dtype dtype, bool bare);

static zlg_status read_items(reader *r, int *path, int n_path, const zlg_field *field,
                             int axis)
{
    if (axis == field->rank)
        return read_value(r, path, n_path, field->dtype, false);
    CLI_TRY(take(r, '['));
    for (int64_t i = 0; i < field->shape[axis]; i++) {
        if (i > 0)
            CLI_TRY(take(r, ','));
        CLI_TRY(read_items(r, path, n_path, field, axis + 1));
    }
    skip_blanks(r);
    if (*r->at != ']')
        return expected(r, "\"]\"");
    r->at++;
    return ZLG_OK;
}

static zlg_status read_record(reader *r, int *path, int n_path, zlg_dtype dtype)
{
    CLI_TRY(take(r, '['));
    for (int i = 0; i < dtype.n_fields; i++) {
        zlg_field field;
        if (n_path >= ZLG_MAX_RANK)
            return cli_fail(r->err, ZLG_UNSUPPORTED, "records in more than %d records",
                            ZLG_MAX_RANK);
        path[n_path] = i;
        CLI_TRY(zlg_array_field(r->element->array, path, n_path + 1, &field, r->err));
        if (i > 0)
            CLI_TRY(take(r, ','));
        CLI_TRY(read_items(r, path, n_path + 1, &field, 0));
    }
    skip_blanks(r);
    if (*r->at != ']')
        return expected(r, "\"]\"");
    r->at++;
    return ZLG_OK;
}

/* n parts, or as many as there are when it is negative. */
static zlg_status read_parts(reader *r, zlg_type part, int n)
{
    CLI_TRY(take(r, '['));
    for (int i = 0; n < 0 ? *r->at != ']' : i < n; i++) {
        if (i > 0)
            CLI_TRY(take(r, ','));
        CLI_TRY(read_number(r, part));
        skip_blanks(r);
    }
    if (*r->at != ']')
        return expected(r, "\"]\"");
    r->at++;
    return ZLG_OK;
}

static zlg_status read_value(reader *r, int *path, int n_path, zlg_dtype dtype, bool bare)
{
    size_t first = r->element->n_bytes;
    switch (dtype.type) {
    case ZLG_COMPLEX:
        return read_parts(r, dtype.part, 2);
    case ZLG_DATETIME64:
    case ZLG_TIMEDELTA64:
        return read_time(r, dtype, bare);
    case ZLG_RAW:
    case ZLG_FIXED_BYTES:
        CLI_TRY(read_base64(r));
        if (dtype.type == ZLG_RAW && r->element->n_bytes - first < dtype.n_bytes)
            return cli_fail(r->err, ZLG_USAGE, "%zu bytes, the type has %zu",
                            r->element->n_bytes - first, dtype.n_bytes);
        return pad(r, first, dtype.n_bytes, 1, "bytes");
    case ZLG_FIXED_UTF32:
        return read_points(r, dtype.n_bytes, bare);
    case ZLG_STRUCT:
        return read_record(r, path, n_path, dtype);
    case ZLG_STRING:
        return read_string(r, bare);
    case ZLG_BYTES:
        return read_base64(r);
    case ZLG_VLEN_ARRAY:
        return read_parts(r, dtype.part, -1);
    default:
        return read_number(r, dtype.type);
    }
}

zlg_status cli_element_read(cli_element *element, const char *text, bool json,
                            const char **out_end, zlg_error *err)
{
    int path[ZLG_MAX_RANK];
    reader r = {.element = element, .at = text, .err = err};
    element->n_bytes = 0;
    CLI_TRY(read_value(&r, path, 0, element->dtype, !json));
    *out_end = r.at;
    return ZLG_OK;
}

void cli_element_start(cli_element *element, const zlg_array *array)
{
    *element = (cli_element){.array = array, .dtype = zlg_array_dtype(array)};
}

void cli_element_end(cli_element *element)
{
    cli_small_floats_free(&element->floats);
    free(element->bytes);
}
