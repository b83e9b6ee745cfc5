/*
 * emptiness.c: whether a chunk holds only the fill value. Bits are compared: what is left
 * out reads back bit for bit. The looser rule is zarr-python's, for those who must store
 * what it stores: any NaN is another, and complex numbers are compared by value.
 */
#include "engine/write.h"

static bool same_part(zlg_type type, const uint8_t *a, const uint8_t *b, bool by_value)
{
    double x = zlgi_number_to_double(type, a), y = zlgi_number_to_double(type, b);
    if (x != x || y != y)
        return x != x && y != y;
    return by_value ? x == y : memcmp(a, b, zlgi_type_bytes(type)) == 0;
}

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

/* A complex number with a NaN in any part is a NaN. */
static bool same_number(const zlgi_dtype *dtype, const uint8_t *a, const uint8_t *b)
{
    size_t n = zlgi_type_bytes(dtype->part);
    if (is_nan(dtype, a) || is_nan(dtype, b))
        return is_nan(dtype, a) && is_nan(dtype, b);
    for (size_t at = 0; at < dtype->n_bytes; at += n)
        if (!same_part(dtype->part, a + at, b + at, dtype->type == ZLG_COMPLEX))
            return false;
    return true;
}

static bool all_same_number(const zlgi_dtype *dtype, const uint8_t *elements, size_t n,
                            const uint8_t *fill, const zlgi_swap *swap)
{
    uint8_t a[16], b[16];
    size_t item = dtype->n_bytes;
    memcpy(b, fill, item);
    zlgi_swap_apply(swap, b, 1, item);
    for (size_t i = 0; i < n; i++) {
        memcpy(a, elements + i * item, item);
        zlgi_swap_apply(swap, a, 1, item);
        if (!same_number(dtype, a, b))
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
                   const uint8_t *fill, const zlgi_swap *swap, bool loose)
{
    if (zlgi_dtype_is_varlen(dtype))
        return all_same_bytes((const zlgi_view *)(const void *)elements, n,
                              (const zlgi_view *)(const void *)fill);
    if (zlgi_all_equal(elements, n, fill, dtype->n_bytes))
        return true;
    return loose && zlgi_type_is_float(dtype->part) && dtype->n_bytes <= 16 &&
           all_same_number(dtype, elements, n, fill, swap);
}
