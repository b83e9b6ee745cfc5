/*
 * Canonical values: a store may hold any non-zero byte for true, and anything in the bits
 * above a 2-, 4- or 6-bit number (the registry says that readers ignore them). Memory
 * holds one form of each value. NaNs are left as they are.
 */
#include "dtype/internal.h"

bool zlgi_dtype_needs_normal(const zlgi_dtype *dtype)
{
    for (int i = 0; i < dtype->n_fields; i++)
        if (zlgi_dtype_needs_normal(dtype->fields[i].dtype))
            return true;
    if (zlgi_dtype_is_varlen(dtype))
        return false;
    int n_bits = zlgi_type_bits(dtype->part);
    return dtype->type == ZLG_BOOL || (n_bits > 0 && n_bits < 8);
}

static void normalize_bytes(zlg_type type, uint8_t *bytes, size_t n)
{
    int n_bits = zlgi_type_bits(type);
    uint8_t mask = (uint8_t)((1 << n_bits) - 1);
    uint8_t sign = zlgi_type_is_signed(type) ? mask ^ (mask >> 1) : 0;
    if (type == ZLG_BOOL)
        for (size_t i = 0; i < n; i++)
            bytes[i] = bytes[i] != 0;
    else
        for (size_t i = 0; i < n; i++)
            bytes[i] = (uint8_t)(((bytes[i] & mask) ^ sign) - sign);
}

void zlgi_dtype_normalize(const zlgi_dtype *dtype, uint8_t *elements, size_t n)
{
    if (!zlgi_dtype_needs_normal(dtype))
        return;
    if (dtype->type != ZLG_STRUCT) {
        normalize_bytes(dtype->part, elements, n * dtype->n_bytes);
        return;
    }
    for (int i = 0; i < dtype->n_fields; i++) {
        const zlgi_field *field = &dtype->fields[i];
        if (!zlgi_dtype_needs_normal(field->dtype))
            continue;
        for (size_t k = 0; k < n; k++)
            zlgi_dtype_normalize(field->dtype,
                                 elements + k * dtype->n_bytes + field->offset,
                                 (size_t)field->n_items);
    }
}
