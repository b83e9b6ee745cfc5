/*
 * element.c: one element from the text of a value. Which text: as the library formats
 * elements for people (numbers; "NaN"; lists for complex numbers and records; base64 for
 * bytes), and without quotes as `cat` shows it.
 */
#include "reader.h"

#include <stdlib.h>

static zlg_status read_value(cli_reader *r, int *path, int n_path, zlg_dtype dtype,
                             bool bare);

static zlg_status read_items(cli_reader *r, int *path, int n_path, const zlg_field *field,
                             int axis)
{
    if (axis == field->rank)
        return read_value(r, path, n_path, field->dtype, false);
    CLI_TRY(cli_reader_take(r, '['));
    for (int64_t i = 0; i < field->shape[axis]; i++) {
        if (i > 0)
            CLI_TRY(cli_reader_take(r, ','));
        CLI_TRY(read_items(r, path, n_path, field, axis + 1));
    }
    cli_reader_skip_blanks(r);
    if (*r->at != ']')
        return cli_reader_expected(r, "\"]\"");
    r->at++;
    return ZLG_OK;
}

static zlg_status read_record(cli_reader *r, int *path, int n_path, zlg_dtype dtype)
{
    CLI_TRY(cli_reader_take(r, '['));
    for (int i = 0; i < dtype.n_fields; i++) {
        zlg_field field;
        if (n_path >= ZLG_MAX_RANK)
            return cli_fail(r->err, ZLG_UNSUPPORTED, "records in more than %d records",
                            ZLG_MAX_RANK);
        path[n_path] = i;
        CLI_TRY(zlg_array_field(r->element->array, path, n_path + 1, &field, r->err));
        if (i > 0)
            CLI_TRY(cli_reader_take(r, ','));
        CLI_TRY(read_items(r, path, n_path + 1, &field, 0));
    }
    cli_reader_skip_blanks(r);
    if (*r->at != ']')
        return cli_reader_expected(r, "\"]\"");
    r->at++;
    return ZLG_OK;
}

/* n parts, or as many as there are when it is negative. */
static zlg_status read_parts(cli_reader *r, zlg_type part, int n)
{
    CLI_TRY(cli_reader_take(r, '['));
    for (int i = 0; n < 0 ? *r->at != ']' : i < n; i++) {
        if (i > 0)
            CLI_TRY(cli_reader_take(r, ','));
        CLI_TRY(cli_reader_number(r, part));
        cli_reader_skip_blanks(r);
    }
    if (*r->at != ']')
        return cli_reader_expected(r, "\"]\"");
    r->at++;
    return ZLG_OK;
}

static zlg_status read_value(cli_reader *r, int *path, int n_path, zlg_dtype dtype,
                             bool bare)
{
    size_t first = r->element->n_bytes;
    switch (dtype.type) {
    case ZLG_COMPLEX:
        return read_parts(r, dtype.part, 2);
    case ZLG_DATETIME64:
    case ZLG_TIMEDELTA64:
        return cli_reader_time(r, dtype, bare);
    case ZLG_RAW:
    case ZLG_FIXED_BYTES:
        CLI_TRY(cli_reader_base64(r));
        if (dtype.type == ZLG_RAW && r->element->n_bytes - first < dtype.n_bytes)
            return cli_fail(r->err, ZLG_USAGE, "%zu bytes, the type has %zu",
                            r->element->n_bytes - first, dtype.n_bytes);
        return cli_reader_pad(r, first, dtype.n_bytes, 1, "bytes");
    case ZLG_FIXED_UTF32:
        return cli_reader_points(r, dtype.n_bytes, bare);
    case ZLG_STRUCT:
        return read_record(r, path, n_path, dtype);
    case ZLG_STRING:
        return cli_reader_string(r, bare);
    case ZLG_BYTES:
        return cli_reader_base64(r);
    case ZLG_VLEN_ARRAY:
        return read_parts(r, dtype.part, -1);
    default:
        return cli_reader_number(r, dtype.type);
    }
}

zlg_status cli_element_read(cli_element *element, const char *text, bool json,
                            const char **out_end, zlg_error *err)
{
    int path[ZLG_MAX_RANK];
    cli_reader r = {.element = element, .at = text, .err = err};
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
