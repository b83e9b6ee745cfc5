/*
 * source_npy.c: NumPy files. The type must be the array's, as `cat --npy` would write it,
 * but for the byte order; shorter fixed strings are filled up, and they may go into arrays
 * of variable length. Nothing else is converted.
 *
 * Format: numpy.lib.format, versions 1 to 3.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "npy.h"
#include "source.h"

static const char magic[] = "\x93NUMPY";

enum { MAGIC = 6, HEADER_MOST = 1 << 20 };

typedef struct header {
    char *text;  /* the dictionary */
    char *descr; /* the type as it stands there, and what it is without byte orders */
    char *type;
    size_t n_descr;
    int n_little, n_big; /* numbers in each order */
    bool fortran;
    const char *at;
    zlg_error *err;
} header;

bool cli_source_is_npy(const cli_source *source)
{
    return source->file.n >= MAGIC && memcmp(source->file.data, magic, MAGIC) == 0;
}

/* ------------------------------------------------------------------ types */

/* A string of Python without what is the same in all of them: quotes become \1, and types
 * lose their byte order, which is counted. */
static const char *put_string(header *h, const char *at, bool is_name, FILE *out)
{
    char quote = *at++;
    if (!is_name && *at && strchr("<>|=", *at)) {
        bool is_number = at[1] && strchr("iufcmMU", at[1]);
        h->n_big += is_number && *at == '>';
        h->n_little += is_number && *at == '<';
        at++;
    }
    putc(1, out);
    for (; *at && *at != quote; at++) {
        if (*at == '\\' && at[1])
            at++;
        putc(*at, out);
    }
    putc(1, out);
    return *at ? at + 1 : at;
}

/* A type as one text that is equal for equal types; returns what is behind it. */
static const char *put_type(header *h, const char *at, FILE *out)
{
    int depth = 0;
    bool is_name = false;
    do {
        if (*at == '\'' || *at == '"') {
            at = put_string(h, at, is_name, out);
            is_name = false;
            continue;
        }
        depth += *at == '[' || *at == '(';
        depth -= *at == ']' || *at == ')';
        is_name = *at == '(' || (is_name && *at == ' ');
        if (*at != ' ')
            putc(*at, out);
        at++;
    } while (*at && depth > 0);
    return at;
}

static zlg_status type_text(header *h, const char *descr, char **out, const char **out_end,
                            zlg_error *err)
{
    size_t n = 0;
    FILE *file = open_memstream(out, &n);
    if (!file)
        return cli_no_memory(err, 4096);
    *out_end = put_type(h, descr, file);
    return fclose(file) == 0 ? ZLG_OK : cli_no_memory(err, n);
}

/* ------------------------------------------------------------------ the header */

static void skip_blanks(header *h)
{
    h->at += strspn(h->at, " \n");
}

static zlg_status broken(header *h)
{
    int n = (int)strcspn(h->at, "\n");
    return cli_fail(h->err, ZLG_CORRUPT, "its NumPy header is broken at \"%.*s\"",
                    n < 40 ? n : 40, h->at);
}

static zlg_status read_shape(header *h, cli_source *source)
{
    source->rank = 0;
    if (*h->at++ != '(')
        return broken(h);
    for (skip_blanks(h); *h->at != ')';) {
        char *end;
        errno = 0;
        long long length = strtoll(h->at, &end, 10);
        if (end == h->at || errno || length < 0)
            return broken(h);
        if (source->rank == ZLG_MAX_RANK)
            return cli_fail(h->err, ZLG_UNSUPPORTED, "it has more than %d axes",
                            ZLG_MAX_RANK);
        source->shape[source->rank++] = length;
        h->at = end;
        skip_blanks(h);
        if (*h->at == ',')
            h->at++;
        else if (*h->at != ')')
            return broken(h);
        skip_blanks(h);
    }
    h->at++;
    return ZLG_OK;
}

static zlg_status read_entry(header *h, cli_source *source, unsigned *seen)
{
    static const char *const names[] = {"'descr':", "'fortran_order':", "'shape':"};
    for (unsigned i = 0; i < CLI_COUNT(names); i++) {
        size_t n = strlen(names[i]);
        if (strncmp(h->at, names[i], n) != 0 || *seen & 1u << i)
            continue;
        *seen |= 1u << i;
        h->at += n;
        skip_blanks(h);
        if (i == 2)
            return read_shape(h, source);
        if (i == 1) {
            h->fortran = strncmp(h->at, "True", 4) == 0;
            if (!h->fortran && strncmp(h->at, "False", 5) != 0)
                return broken(h);
            h->at += h->fortran ? 4 : 5;
            return ZLG_OK;
        }
        const char *begin = h->at;
        CLI_TRY(type_text(h, begin, &h->type, &h->at, h->err));
        h->n_descr = (size_t)(h->at - begin);
        h->descr = h->text + (begin - h->text);
        return ZLG_OK;
    }
    return broken(h);
}

static zlg_status read_dictionary(header *h, cli_source *source)
{
    unsigned seen = 0;
    h->at = h->text;
    skip_blanks(h);
    if (*h->at++ != '{')
        return broken(h);
    for (skip_blanks(h); *h->at != '}'; skip_blanks(h)) {
        CLI_TRY(read_entry(h, source, &seen));
        skip_blanks(h);
        if (*h->at == ',')
            h->at++;
        else if (*h->at != '}')
            return broken(h);
    }
    return seen == 7 ? ZLG_OK : broken(h);
}

/* Magic, version, length, dictionary; the elements follow. */
static zlg_status read_header(header *h, cli_source *source, size_t *out_n)
{
    const uint8_t *bytes = (const uint8_t *)source->file.data;
    size_t n_before = source->file.n > MAGIC && bytes[MAGIC] == 1 ? 10 : 12;
    if (source->file.n < n_before)
        return cli_fail(h->err, ZLG_CORRUPT, "its NumPy header ends after %zu bytes",
                        source->file.n);
    if (bytes[MAGIC] < 1 || bytes[MAGIC] > 3)
        return cli_fail(h->err, ZLG_UNSUPPORTED, "NumPy files of version %d are not known",
                        bytes[MAGIC]);
    size_t n = 0;
    for (size_t i = n_before; i-- > 8;)
        n = n << 8 | bytes[i];
    if (n > HEADER_MOST || n > source->file.n - n_before)
        return cli_fail(h->err, ZLG_CORRUPT, "its NumPy header has %zu bytes, the file %zu",
                        n, source->file.n);
    h->text = malloc(n + 1);
    if (!h->text)
        return cli_no_memory(h->err, n + 1);
    memcpy(h->text, bytes + n_before, n);
    h->text[n] = 0;
    *out_n = n_before + n;
    return read_dictionary(h, source);
}

/* ------------------------------------------------------------------ elements */

/* The number behind a letter, as in "\1U5\1"; 0 when it is another type. */
static size_t fixed_length(const header *h, char letter)
{
    char *end;
    if (h->type[0] != 1 || h->type[1] != letter)
        return 0;
    unsigned long n = strtoul(h->type + 2, &end, 10);
    return *end == 1 && n < UINT32_MAX ? n : 0;
}

/* Whether NumPy has no such type, so that its files hold opaque elements instead. */
static bool may_be_opaque(zlg_type type)
{
    return (type >= ZLG_FLOAT4_E2M1FN && type <= ZLG_BFLOAT16) || type == ZLG_INT2 ||
           type == ZLG_INT4 || type == ZLG_UINT2 || type == ZLG_UINT4;
}

/* As ml_dtypes has it: bytes without a type, or a float of one byte. */
static bool is_opaque(const header *h, size_t n_item)
{
    return fixed_length(h, 'V') == n_item || (n_item == 1 && fixed_length(h, 'f') == 1);
}

static zlg_status set_strides(cli_source *source, size_t item, bool fortran, size_t n_bytes,
                              zlg_error *err)
{
    size_t n = item;
    int64_t n_elements = 1;
    bool fits = true;
    for (int i = 0; i < source->rank; i++) {
        int axis = fortran ? i : source->rank - 1 - i;
        source->strides[axis] = (ptrdiff_t)n;
        fits &= !__builtin_mul_overflow(n, (size_t)source->shape[axis], &n) &&
                !__builtin_mul_overflow(n_elements, source->shape[axis], &n_elements);
    }
    source->n_elements = n_elements;
    if (!fits)
        return cli_fail(err, ZLG_LIMIT, "its shape has more than 2^63 bytes");
    if (n != n_bytes)
        return cli_fail(err, ZLG_CORRUPT, "%zu bytes of elements, its shape needs %zu",
                        n_bytes, n);
    return ZLG_OK;
}

/* Code points of a fixed string, native. */
static uint32_t point_at(const cli_source *source, const char *text, size_t i)
{
    uint32_t point;
    memcpy(&point, text + 4 * i, 4);
    return source->swapped ? __builtin_bswap32(point) : point;
}

static zlg_status add_utf8(const cli_source *source, cli_spool *values, const char *text,
                           size_t n_points, int64_t *n_bytes, zlg_error *err)
{
    while (n_points > 0 && point_at(source, text, n_points - 1) == 0)
        n_points--;
    for (size_t i = 0; i < n_points; i++) {
        uint32_t point = point_at(source, text, i);
        char out[4];
        if (point > 0x10ffff)
            return cli_fail(err, ZLG_CORRUPT, "U+%lX is no character",
                            (unsigned long)point);
        size_t n = cli_utf8(point, out);
        CLI_TRY(cli_source_add(source, values, out, n, err));
        *n_bytes += (int64_t)n;
    }
    return ZLG_OK;
}

/* In C order, whichever the file has. */
static zlg_status loosen(cli_source *source, size_t n_item, cli_spool *values,
                         cli_spool *ends, zlg_error *err)
{
    int64_t n_bytes = 0, at[ZLG_MAX_RANK] = {0};
    CLI_TRY(cli_source_add(source, ends, &n_bytes, sizeof n_bytes, err));
    for (int64_t i = 0; i < source->n_elements; i++) {
        const char *text = source->data;
        for (int k = 0; k < source->rank; k++)
            text += at[k] * source->strides[k];
        if (source->dtype.type == ZLG_STRING) {
            CLI_TRY(add_utf8(source, values, text, n_item / 4, &n_bytes, err));
        } else {
            size_t n = n_item;
            while (n > 0 && text[n - 1] == 0)
                n--;
            CLI_TRY(cli_source_add(source, values, text, n, err));
            n_bytes += (int64_t)n;
        }
        CLI_TRY(cli_source_add(source, ends, &n_bytes, sizeof n_bytes, err));
        for (int k = source->rank; k-- > 0 && ++at[k] == source->shape[k];)
            at[k] = 0;
    }
    source->swapped = 0;
    return ZLG_OK;
}

/* Shorter strings with zeros up to the length of the type, in the order of the file. */
static zlg_status fill_up(cli_source *source, size_t n_item, cli_spool *values,
                          zlg_error *err)
{
    static const char zeros[256];
    size_t n_all = source->dtype.n_bytes;
    for (int64_t i = 0; i < source->n_elements; i++) {
        const char *text = (const char *)source->data + (size_t)i * n_item;
        CLI_TRY(cli_source_add(source, values, text, n_item, err));
        for (size_t n = n_item; n < n_all;) {
            size_t n_piece = n_all - n < sizeof zeros ? n_all - n : sizeof zeros;
            CLI_TRY(cli_source_add(source, values, zeros, n_piece, err));
            n += n_piece;
        }
    }
    for (int k = 0; k < source->rank; k++)
        source->strides[k] = source->strides[k] / (ptrdiff_t)n_item * (ptrdiff_t)n_all;
    return ZLG_OK;
}

static zlg_status convert(cli_source *source, size_t n_item, zlg_error *err)
{
    cli_spool values = {0}, ends = {0};
    bool varlen = cli_is_varlen(source->dtype);
    zlg_status status = varlen ? loosen(source, n_item, &values, &ends, err)
                               : fill_up(source, n_item, &values, err);
    if (status == ZLG_OK)
        status = cli_source_take(source, &values, varlen ? &ends : NULL, err);
    cli_spool_drop(&values);
    cli_spool_drop(&ends);
    return status;
}

static zlg_status types_differ(const header *h, const char *wanted, zlg_error *err)
{
    int n = (int)(h->n_descr < 150 ? h->n_descr : 150);
    if (strstr(h->type, "\1O\1"))
        return cli_fail(err, ZLG_UNSUPPORTED, "its elements are pickled Python objects");
    return cli_fail(err, ZLG_USAGE, "its type is %.*s, the array's %.150s", n, h->descr,
                    wanted);
}

/* What the type of the array is called in a file of NumPy. */
static zlg_status wanted_type(const cli_source *source, char **out_descr, char **out_type,
                              zlg_error *err)
{
    size_t n = 0;
    const char *end;
    header ignored = {.err = err};
    FILE *file = open_memstream(out_descr, &n);
    if (!file)
        return cli_no_memory(err, 4096);
    if (cli_is_varlen(source->dtype))
        fputs(source->dtype.type == ZLG_STRING  ? "'<U' (text)"
              : source->dtype.type == ZLG_BYTES ? "'|S' (bytes)"
                                                : "one of variable length",
              file);
    else
        cli_npy_descr(file, source->array);
    if (fclose(file) != 0)
        return cli_no_memory(err, n);
    return type_text(&ignored, *out_descr, out_type, &end, err);
}

static zlg_status take_elements(header *h, cli_source *source, size_t n_header,
                                const char *wanted, const char *type, zlg_error *err)
{
    zlg_dtype dtype = source->dtype;
    size_t n_item = dtype.n_bytes, n_points = fixed_length(h, 'U'),
           n_octets = fixed_length(h, 'S');
    bool is_text = dtype.type == ZLG_STRING || dtype.type == ZLG_FIXED_UTF32;
    bool is_octets = dtype.type == ZLG_BYTES || dtype.type == ZLG_FIXED_BYTES;
    if (is_text && n_points)
        n_item = 4 * n_points;
    else if (is_octets && n_octets)
        n_item = n_octets;
    else if (may_be_opaque(dtype.type) && is_opaque(h, n_item))
        source->opaque = true;
    else if (strcmp(h->type, type) != 0)
        return types_differ(h, wanted, err);
    if (!cli_is_varlen(dtype) && n_item > dtype.n_bytes)
        return types_differ(h, wanted, err);
    if (h->n_little > 0 && h->n_big > 0)
        return cli_fail(err, ZLG_UNSUPPORTED, "its fields are in different byte orders");
    const uint16_t one = 1;
    bool is_little = *(const uint8_t *)&one == 1;
    source->swapped = is_little ? h->n_big > 0 : h->n_little > 0;
    source->data = source->file.data + n_header;
    CLI_TRY(set_strides(source, n_item, h->fortran, source->file.n - n_header, err));
    return n_item != dtype.n_bytes ? convert(source, n_item, err) : ZLG_OK;
}

zlg_status cli_source_npy(cli_source *source, zlg_error *err)
{
    header h = {.err = err};
    size_t n_header = 0;
    char *wanted = NULL, *type = NULL;
    zlg_status status = read_header(&h, source, &n_header);
    if (status == ZLG_OK)
        status = wanted_type(source, &wanted, &type, err);
    if (status == ZLG_OK)
        status = take_elements(&h, source, n_header, wanted, type, err);
    free(h.text);
    free(h.type);
    free(wanted);
    free(type);
    return status;
}
