/*
 * emptiness.c: whether a chunk holds only the fill value. Bits are compared: what is left
 * out reads back bit for bit. The looser rule is zarr-python's, for those who must store
 * what it stores: any NaN is another, and complex numbers are compared by value. So are the
 * fields of records, of which a NaN, or a NaT, equals none.
 */
#include "grid/grid.h"

/* ------------------------------------------------------------------ numbers */

static bool is_nan(const zlgi_dtype *dtype, const uint8_t *element)
{
    size_t n = zlgi_type_bytes(dtype->part);
    for (size_t at = 0; at < dtype->n_bytes; at += n) {
        double x = zlgi_number_to_double(dtype->part, element + at);
        if (x != x)
            return true;
    }
    return false;
}

/* Each part by value; a NaN is not even itself. */
static bool same_value(const zlgi_dtype *dtype, const uint8_t *a, const uint8_t *b)
{
    size_t n = zlgi_type_bytes(dtype->part);
    for (size_t at = 0; at < dtype->n_bytes; at += n)
        if (zlgi_number_to_double(dtype->part, a + at) !=
            zlgi_number_to_double(dtype->part, b + at))
            return false;
    return true;
}

/* A complex number with a NaN in any part is a NaN. */
static bool same_number(const zlgi_dtype *dtype, const uint8_t *a, const uint8_t *b)
{
    if (is_nan(dtype, a) || is_nan(dtype, b))
        return is_nan(dtype, a) && is_nan(dtype, b);
    return dtype->type == ZLG_COMPLEX ? same_value(dtype, a, b)
                                      : memcmp(a, b, dtype->n_bytes) == 0;
}

/* ------------------------------------------------------------------ records */

static bool same_record(const zlgi_dtype *dtype, const uint8_t *a, const uint8_t *b);

static bool same_item(const zlgi_dtype *dtype, const uint8_t *a, const uint8_t *b)
{
    static const int64_t nat = INT64_MIN;
    if (dtype->type == ZLG_STRUCT)
        return same_record(dtype, a, b);
    if (zlgi_type_is_float(dtype->part))
        return same_value(dtype, a, b);
    bool is_time = dtype->type == ZLG_DATETIME64 || dtype->type == ZLG_TIMEDELTA64;
    return memcmp(a, b, dtype->n_bytes) == 0 && !(is_time && memcmp(a, &nat, 8) == 0);
}

static bool same_record(const zlgi_dtype *dtype, const uint8_t *a, const uint8_t *b)
{
    for (int i = 0; i < dtype->n_fields; i++) {
        const zlgi_field *field = &dtype->fields[i];
        size_t n = field->dtype->n_bytes;
        for (int64_t k = 0; k < field->n_items; k++) {
            size_t at = field->offset + (size_t)k * n;
            if (!same_item(field->dtype, a + at, b + at))
                return false;
        }
    }
    return true;
}

/* ------------------------------------------------------------------ elements */

/* Element i as it is in native byte order, in `room`. */
static const uint8_t *native(const zlgi_dtype *dtype, const uint8_t *elements, size_t i,
                             const zlgi_swap *swap, uint8_t *room)
{
    memcpy(room, elements + i * dtype->n_bytes, dtype->n_bytes);
    zlgi_swap_apply(swap, room, 1, dtype->n_bytes);
    return room;
}

static bool all_same(const zlgi_dtype *dtype, const uint8_t *elements, size_t n,
                     const uint8_t *fill, const zlgi_swap *swap, uint8_t *room)
{
    bool is_record = dtype->type == ZLG_STRUCT;
    const uint8_t *b = native(dtype, fill, 0, swap, room + dtype->n_bytes);
    for (size_t i = 0; i < n; i++) {
        const uint8_t *a = native(dtype, elements, i, swap, room);
        if (!(is_record ? same_record(dtype, a, b) : same_number(dtype, a, b)))
            return false;
    }
    return true;
}

static bool all_same_bytes(const zlgi_view *views, size_t n, const zlgi_view *fill)
{
    for (size_t i = 0; i < n; i++)
        if (views[i].n != fill->n ||
            (fill->n && memcmp(views[i].data, fill->data, fill->n) != 0))
            return false;
    return true;
}

bool zlgi_is_empty(const zlgi_dtype *dtype, const uint8_t *elements, size_t n,
                   const uint8_t *fill, const zlgi_swap *swap, bool loose, uint8_t *room)
{
    if (zlgi_dtype_is_varlen(dtype))
        return all_same_bytes((const zlgi_view *)(const void *)elements, n,
                              (const zlgi_view *)(const void *)fill);
    bool same_bits = zlgi_all_equal(elements, n, fill, dtype->n_bytes);
    if (!loose || !(dtype->type == ZLG_STRUCT || zlgi_type_is_float(dtype->part)))
        return same_bits;
    return all_same(dtype, elements, same_bits ? ZLGI_MIN(n, 1) : n, fill, swap, room);
}
