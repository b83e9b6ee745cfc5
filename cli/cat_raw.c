/*
 * cat_raw.c: canonical bytes: elements in C order, little-endian, nothing between them.
 * Elements of variable length are one JSON list instead: strings as they are, other bytes
 * in base64.
 */
#include <string.h>

#include "cat.h"

/* ------------------------------------------------------------------ byte order */

static size_t number_bytes(zlg_type type)
{
    switch (type) {
    case ZLG_INT16:
    case ZLG_UINT16:
    case ZLG_FLOAT16:
    case ZLG_BFLOAT16:
        return 2;
    case ZLG_INT32:
    case ZLG_UINT32:
    case ZLG_FLOAT32:
    case ZLG_FIXED_UTF32: /* of each code point */
        return 4;
    case ZLG_INT64:
    case ZLG_UINT64:
    case ZLG_FLOAT64:
    case ZLG_DATETIME64:
    case ZLG_TIMEDELTA64:
        return 8;
    default:
        return 1;
    }
}

static void reverse_words(uint8_t *words, size_t n_bytes, size_t width)
{
    for (; n_bytes >= width; n_bytes -= width, words += width)
        for (size_t i = 0; i < width / 2; i++) {
            uint8_t byte = words[i];
            words[i] = words[width - 1 - i];
            words[width - 1 - i] = byte;
        }
}

static bool is_little_endian(void)
{
    const uint16_t one = 1;
    uint8_t first;
    memcpy(&first, &one, 1);
    return first == 1;
}

/* path: where in the records of the array's type this item is. */
static void reverse_item(const zlg_array *array, int *path, int n_path, zlg_dtype dtype,
                         uint8_t *item)
{
    if (dtype.type != ZLG_STRUCT) {
        reverse_words(item, dtype.n_bytes, number_bytes(dtype.part));
        return;
    }
    for (int i = 0; i < dtype.n_fields && n_path < ZLG_MAX_RANK; i++) {
        zlg_field field;
        path[n_path] = i;
        if (zlg_array_field(array, path, n_path + 1, &field, NULL) != ZLG_OK)
            continue;
        int64_t n_items = 1;
        for (int axis = 0; axis < field.rank; axis++)
            n_items *= field.shape[axis];
        for (int64_t k = 0; k < n_items; k++)
            reverse_item(array, path, n_path + 1, field.dtype,
                         item + field.offset + (size_t)k * field.dtype.n_bytes);
    }
}

void cat_make_little_endian(const zlg_array *array, void *elements, int64_t n)
{
    if (is_little_endian())
        return;
    zlg_dtype dtype = zlg_array_dtype(array);
    int path[ZLG_MAX_RANK];
    for (int64_t i = 0; i < n; i++)
        reverse_item(array, path, 0, dtype,
                     (uint8_t *)elements + (size_t)i * dtype.n_bytes);
}

/* ------------------------------------------------------------------ fixed size */

static zlg_status write_raw(cat_writer *writer, void *elements, int64_t n, zlg_error *err)
{
    (void)err;
    cat_make_little_endian(writer->array, elements, n);
    fwrite(elements, 1, (size_t)n * writer->dtype.n_bytes, stdout);
    return ZLG_OK;
}

const cat_format cat_raw = {.write = write_raw};

/* ------------------------------------------------------------------ variable length */

static zlg_status begin_varlen(cat_writer *writer, zlg_error *err)
{
    (void)writer, (void)err;
    putchar('[');
    return ZLG_OK;
}

static zlg_status write_varlen(cat_writer *writer, void *elements, int64_t n,
                               zlg_error *err)
{
    const zlg_varlen *varlen = elements;
    bool swap = writer->dtype.type == ZLG_VLEN_ARRAY && !is_little_endian();
    (void)err;
    for (int64_t i = 0; i < n; i++, writer->n_written++) {
        uint8_t *bytes = (uint8_t *)(uintptr_t)varlen->bytes + varlen->offsets[i];
        size_t n_bytes = (size_t)(varlen->offsets[i + 1] - varlen->offsets[i]);
        if (swap)
            reverse_words(bytes, n_bytes, number_bytes(writer->dtype.part));
        if (writer->n_written > 0)
            putchar(',');
        if (writer->dtype.type == ZLG_STRING)
            cli_json_string(stdout, (const char *)bytes, n_bytes);
        else
            cli_json_base64(stdout, bytes, n_bytes);
    }
    return ZLG_OK;
}

static void end_varlen(cat_writer *writer)
{
    (void)writer;
    putchar(']');
}

const cat_format cat_raw_varlen = {
    .begin = begin_varlen,
    .write = write_varlen,
    .end = end_varlen,
};
