/*
 * Checked arithmetic that is more than one builtin.
 */
#include "base/base.h"

bool zlgi_product(const int64_t *lengths, int n, int64_t *out)
{
    /* A length of 0 makes the product 0, also where the others would overflow. */
    for (int i = 0; i < n; i++)
        if (lengths[i] == 0) {
            *out = 0;
            return true;
        }
    int64_t product = 1;
    for (int i = 0; i < n; i++)
        if (!zlgi_mul_i64(product, lengths[i], &product))
            return false;
    *out = product;
    return true;
}
