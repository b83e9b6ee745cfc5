/*
 * source_text.c: values as text: as `cat` prints them, or JSON lists in lists. A text that
 * is one list is taken as such; other values stand apart by blanks, lines or commas, and
 * strings by tabs and lines.
 */
#include <string.h>

#include "element.h"
#include "source.h"

typedef struct reader {
    cli_source *source;
    cli_element element;
    cli_spool values, ends;
    int64_t n_bytes; /* of all values of variable length */
    const char *at;
    zlg_error *err;
    int depth;                     /* JSON: of the lists around a value */
    int64_t lengths[ZLG_MAX_RANK]; /* JSON: of the lists, -1 before the first has ended */
} reader;

static zlg_status add_end(reader *r)
{
    return cli_source_add(r->source, &r->ends, &r->n_bytes, sizeof r->n_bytes, r->err);
}

static zlg_status read_one(reader *r, bool json)
{
    cli_element *e = &r->element;
    const char *end;
    if (cli_element_read(e, r->at, json, &end, r->err) != ZLG_OK) {
        zlg_error inner = *r->err;
        return cli_fail(r->err, inner.status, "value %lld: %s",
                        (long long)r->source->n_elements, inner.message);
    }
    r->at = end;
    r->source->n_elements++;
    CLI_TRY(cli_source_add(r->source, &r->values, e->bytes, e->n_bytes, r->err));
    r->n_bytes += (int64_t)e->n_bytes;
    return cli_is_varlen(e->dtype) ? add_end(r) : ZLG_OK;
}

/* ------------------------------------------------------------------ text */

static bool is_text(zlg_dtype dtype)
{
    return dtype.type == ZLG_STRING || dtype.type == ZLG_FIXED_UTF32;
}

static bool may_be_empty(zlg_dtype dtype)
{
    return is_text(dtype) || dtype.type == ZLG_BYTES || dtype.type == ZLG_FIXED_BYTES;
}

/* Strings of characters or bytes may be empty, so that each tab and line counts; but an
 * empty line between planes is none. */
static zlg_status read_strings(reader *r, int rank)
{
    while (*r->at) {
        CLI_TRY(read_one(r, false));
        if (r->at[0] == '\r' && r->at[1] == '\n')
            r->at++;
        if (*r->at && *r->at != '\t' && *r->at != '\n')
            return cli_element_expected("a tab or the end of the line", r->at, r->err);
        if (*r->at)
            r->at++;
        if (rank > 1 && r->at[0] == '\n' && r->at[-1] == '\n')
            r->at++;
    }
    return ZLG_OK;
}

static zlg_status read_values(reader *r)
{
    static const char blanks[] = " \n\t\r";
    r->at += strspn(r->at, blanks);
    while (*r->at) {
        CLI_TRY(read_one(r, false));
        r->at += strspn(r->at, blanks);
        if (*r->at == ',') {
            r->at++;
            r->at += strspn(r->at, blanks);
        }
    }
    return ZLG_OK;
}

/* ------------------------------------------------------------------ JSON */

static void skip_blanks(reader *r)
{
    r->at += strspn(r->at, " \n\t\r");
}

static zlg_status read_lists(reader *r, int depth)
{
    if (depth == r->depth)
        return read_one(r, true);
    if (*r->at != '[')
        return cli_element_expected("\"[\"", r->at, r->err);
    int64_t n = 0;
    r->at++;
    skip_blanks(r);
    if (*r->at != ']')
        for (;; r->at++) {
            skip_blanks(r);
            CLI_TRY(read_lists(r, depth + 1));
            n++;
            skip_blanks(r);
            if (*r->at != ',')
                break;
        }
    if (*r->at != ']')
        return cli_element_expected("\",\" or \"]\"", r->at, r->err);
    r->at++;
    if (r->lengths[depth] >= 0 && r->lengths[depth] != n)
        return cli_fail(
            r->err, ZLG_USAGE, "lists of different lengths, %lld and %lld, at value %lld",
            (long long)r->lengths[depth], (long long)n, (long long)r->source->n_elements);
    r->lengths[depth] = n;
    return ZLG_OK;
}

static zlg_status read_json(reader *r, int depth)
{
    r->depth = depth;
    for (int i = 0; i < depth; i++)
        r->lengths[i] = -1;
    skip_blanks(r);
    CLI_TRY(read_lists(r, 0));
    skip_blanks(r);
    if (*r->at)
        return cli_element_expected("the end", r->at, r->err);
    r->source->rank = r->source->n_elements ? depth : -1;
    ptrdiff_t stride = (ptrdiff_t)r->source->dtype.n_bytes;
    for (int i = depth; i-- > 0;) {
        r->source->shape[i] = r->lengths[i] > 0 ? r->lengths[i] : 0;
        r->source->strides[i] = stride;
        stride *= (ptrdiff_t)r->source->shape[i];
    }
    return ZLG_OK;
}

/* Lists around the numbers of one value; of a record, up to its first. */
static int value_depth(const cli_source *source)
{
    int path[ZLG_MAX_RANK] = {0}, depth = 0;
    zlg_dtype dtype = source->dtype;
    for (int n = 1; dtype.type == ZLG_STRUCT && n <= ZLG_MAX_RANK; n++) {
        zlg_field field;
        if (zlg_array_field(source->array, path, n, &field, NULL) != ZLG_OK)
            break;
        depth += 1 + field.rank;
        dtype = field.dtype;
    }
    return depth + (dtype.type == ZLG_COMPLEX || dtype.type == ZLG_VLEN_ARRAY);
}

/* One list and nothing behind it, in more lists than a value alone. A string may look like
 * a list in brackets. */
static bool is_json(const reader *r, int rank)
{
    static const char blanks[] = " \n\t\r";
    const char *at = r->at + strspn(r->at, blanks);
    if (*at != '[' || rank == 0)
        return false;
    if (is_text(r->source->dtype))
        return cli_json_valid(at, false);
    const char *end = cli_json_end(at);
    int depth = 0;
    for (const char *sign = at; *sign == '['; depth++)
        sign += 1 + strspn(sign + 1, blanks);
    return depth > value_depth(r->source) && end[strspn(end, blanks)] == 0;
}

/* ------------------------------------------------------------------ */

static zlg_status start(cli_source *source, reader *r, zlg_error *err)
{
    *r = (reader){.source = source, .at = source->file.data, .err = err};
    cli_element_start(&r->element, source->array);
    if (memchr(source->file.data, 0, source->file.n))
        return cli_fail(err, ZLG_USAGE, "a text with zero bytes in it: see --raw");
    return cli_is_varlen(source->dtype) ? add_end(r) : ZLG_OK;
}

static zlg_status finish(reader *r, zlg_status status)
{
    bool varlen = cli_is_varlen(r->source->dtype);
    if (status == ZLG_OK)
        status = cli_source_take(r->source, &r->values, varlen ? &r->ends : NULL, r->err);
    cli_spool_drop(&r->values);
    cli_spool_drop(&r->ends);
    cli_element_end(&r->element);
    return status;
}

zlg_status cli_source_text(cli_source *source, int rank, zlg_error *err)
{
    reader r;
    zlg_status status = start(source, &r, err);
    if (status == ZLG_OK)
        status = is_json(&r, rank)             ? read_json(&r, rank)
                 : may_be_empty(source->dtype) ? read_strings(&r, rank)
                                               : read_values(&r);
    return finish(&r, status);
}

zlg_status cli_source_list(cli_source *source, zlg_error *err)
{
    reader r;
    zlg_status status = start(source, &r, err);
    if (status == ZLG_OK)
        status = read_json(&r, 1);
    source->rank = -1;
    return finish(&r, status);
}
