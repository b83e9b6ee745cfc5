/*
 * cat_text.c: elements as text and as nested JSON. The library formats values; here they
 * are put into rows. Text has one value a line for one axis, else one row a line with
 * tabs between, and an empty line between planes; strings stand without quotes.
 */
#include <string.h>

#include "cat.h"
#include "times.h"

enum { BATCH = 4096 };

typedef void (*put_fn)(cat_writer *writer, const void *element, const char *value);

/* How many axes, from the last on, begin or end at a flat position. */
static int n_turned(const cat_writer *writer, int64_t position)
{
    int n = 0;
    for (int axis = writer->rank - 1; axis >= 0; axis--, n++) {
        if (position % writer->shape[axis] != 0)
            break;
        position /= writer->shape[axis];
    }
    return n;
}

static zlg_status write_values(cat_writer *writer, void *elements, int64_t n, put_fn put,
                               zlg_error *err)
{
    zlg_varlen *varlen = cli_is_varlen(writer->dtype) ? elements : NULL;
    for (int64_t i = 0; i < n; i += BATCH) {
        const uint8_t *batch =
            (const uint8_t *)elements + (size_t)i * writer->dtype.n_bytes;
        size_t n_batch = (size_t)(n - i < BATCH ? n - i : BATCH);
        zlg_varlen part = {.n = (int64_t)n_batch};
        if (varlen) {
            part.offsets = varlen->offsets + i;
            part.bytes = varlen->bytes;
            batch = (const uint8_t *)&part;
        }
        zlg_text text;
        CLI_TRY(zlg_array_format(writer->array, batch, n_batch, 1, &text, err));
        for (const char *value = cli_json_first(text.data); value;
             value = cli_json_next(value)) {
            put(writer, batch, value);
            writer->n_written++;
            batch += varlen ? 0 : writer->dtype.n_bytes;
        }
        zlg_text_free(&text);
    }
    return ZLG_OK;
}

/* ------------------------------------------------------------------ text */

static void put_text_value(const cat_writer *writer, const void *element, const char *value)
{
    const char *end = cli_json_end(value);
    int64_t count;
    if (writer->dtype.type == ZLG_DATETIME64) {
        memcpy(&count, element, sizeof count);
        if (cli_print_time(stdout, count, writer->dtype.scale, writer->dtype.unit))
            return;
    }
    if (*value == '"')
        value++, end--;
    fwrite(value, 1, (size_t)(end - value), stdout);
}

static void put_text(cat_writer *writer, const void *element, const char *value)
{
    put_text_value(writer, element, value);
    int n_ended = n_turned(writer, writer->n_written + 1);
    putchar(writer->rank > 1 && n_ended == 0 ? '\t' : '\n');
    if (n_ended > 1 && writer->n_written + 1 < writer->n_elements)
        putchar('\n');
}

static zlg_status write_text(cat_writer *writer, void *elements, int64_t n, zlg_error *err)
{
    return write_values(writer, elements, n, put_text, err);
}

const cat_format cat_text = {.write = write_text};

/* ------------------------------------------------------------------ JSON */

static void put_many(char sign, int n)
{
    for (int i = 0; i < n; i++)
        putchar(sign);
}

static void put_json(cat_writer *writer, const void *element, const char *value)
{
    (void)element;
    int n_begun = n_turned(writer, writer->n_written);
    int n_ended = n_turned(writer, writer->n_written + 1);
    if (writer->n_written > 0)
        putchar(',');
    if (writer->n_written > 0 && n_begun > 0) {
        putchar('\n');
        put_many(' ', writer->rank - n_begun);
    }
    put_many('[', n_begun);
    fwrite(value, 1, (size_t)(cli_json_end(value) - value), stdout);
    put_many(']', n_ended);
}

static zlg_status write_json(cat_writer *writer, void *elements, int64_t n, zlg_error *err)
{
    return write_values(writer, elements, n, put_json, err);
}

/* Lists of lists down to the axis that has nothing. */
static void put_empty(const cat_writer *writer, int axis)
{
    putchar('[');
    for (int64_t i = 0; i < writer->shape[axis]; i++) {
        if (i > 0)
            putchar(',');
        put_empty(writer, axis + 1);
    }
    putchar(']');
}

static void end_json(cat_writer *writer)
{
    if (writer->n_elements == 0)
        put_empty(writer, 0);
    putchar('\n');
}

const cat_format cat_json = {.write = write_json, .end = end_json};
