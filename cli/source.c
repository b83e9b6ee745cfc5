/*
 * source.c: finds out what a source holds, and whether it fits a region. The formats have
 * files of their own.
 */
#include "source.h"

#include <errno.h>
#include <string.h>

zlg_status cli_source_fail(const cli_source *source, zlg_error *err)
{
    zlg_error inner = *err;
    return cli_fail(err, inner.status, "%s: %s", source->name, inner.message);
}

static zlg_status fail_of_system(const cli_source *source, const char *what, int code,
                                 zlg_error *err)
{
    zlg_status status = code == ENOENT   ? ZLG_NOT_FOUND
                        : code == ENOMEM ? ZLG_NO_MEMORY
                                         : ZLG_IO;
    return cli_fail(err, status, "%s: %s%s", source->name, what, strerror(code));
}

zlg_status cli_source_add(const cli_source *source, cli_spool *spool, const void *data,
                          size_t n_bytes, zlg_error *err)
{
    int code = cli_spool_add(spool, data, n_bytes);
    return code ? fail_of_system(source, "a temporary file: ", code, err) : ZLG_OK;
}

zlg_status cli_source_take(cli_source *source, cli_spool *values, cli_spool *ends,
                           zlg_error *err)
{
    int code = cli_spool_finish(values, &source->values);
    if (code == 0 && ends)
        code = cli_spool_finish(ends, &source->ends);
    if (code)
        return fail_of_system(source, "a temporary file: ", code, err);
    source->data = source->values.data;
    source->offsets = ends ? (const int64_t *)(const void *)source->ends.data : NULL;
    return ZLG_OK;
}

/* ------------------------------------------------------------------ reading */

static zlg_status take_raw(cli_source *source, zlg_error *err)
{
    size_t n_bytes = source->dtype.n_bytes;
    source->exact = true;
    if (cli_is_varlen(source->dtype))
        return cli_source_list(source, err);
    const uint16_t one = 1;
    source->swapped = *(const uint8_t *)&one != 1;
    if (source->file.n % n_bytes != 0)
        return cli_fail(err, ZLG_USAGE, "%zu bytes are no whole number of elements of %zu",
                        source->file.n, n_bytes);
    source->n_elements = (int64_t)(source->file.n / n_bytes);
    source->data = source->file.data;
    return ZLG_OK;
}

/* Types of fewer than 8 bits take a byte each, of which only some are numbers. */
static zlg_status check_bits(const cli_source *source, zlg_error *err)
{
    const uint8_t *bytes = source->data;
    int n_bits = 8;
    bool is_signed = false;
    switch (source->dtype.type) {
    case ZLG_INT2:
    case ZLG_UINT2:
        n_bits = 2;
        break;
    case ZLG_INT4:
    case ZLG_UINT4:
    case ZLG_FLOAT4_E2M1FN:
        n_bits = 4;
        break;
    case ZLG_FLOAT6_E2M3FN:
    case ZLG_FLOAT6_E3M2FN:
        n_bits = 6;
        break;
    default:
        return ZLG_OK;
    }
    is_signed = source->dtype.type == ZLG_INT2 || source->dtype.type == ZLG_INT4;
    int least = is_signed ? -(1 << (n_bits - 1)) : 0;
    int most = (is_signed && !source->opaque ? -least : 1 << n_bits) - 1;
    for (int64_t i = 0; i < source->n_elements; i++) {
        int value = is_signed ? (int8_t)bytes[i] : bytes[i];
        if (value < least || value > most)
            return cli_fail(err, ZLG_USAGE,
                            "value %lld is %d, beyond the %d bits of the type",
                            (long long)i, value, n_bits);
    }
    return ZLG_OK;
}

zlg_status cli_source_open(const char *path, bool raw, const zlg_array *array, int rank,
                           cli_source *out, zlg_error *err)
{
    *out = (cli_source){.name = strcmp(path, "-") == 0 ? "standard input" : path,
                        .array = array,
                        .dtype = zlg_array_dtype(array),
                        .rank = -1};
    int code = cli_bytes_open(path, &out->file);
    if (code)
        return fail_of_system(out, "", code, err);
    zlg_status status = raw                      ? take_raw(out, err)
                        : cli_source_is_npy(out) ? cli_source_npy(out, err)
                                                 : cli_source_text(out, rank, err);
    if (status == ZLG_OK)
        status = check_bits(out, err);
    return status == ZLG_OK ? ZLG_OK : cli_source_fail(out, err);
}

void cli_source_close(cli_source *source)
{
    cli_bytes_close(&source->file);
    cli_bytes_close(&source->values);
    cli_bytes_close(&source->ends);
}

/* ------------------------------------------------------------------ fitting */

static zlg_status shapes_differ(const cli_source *source, int rank, const int64_t *shape,
                                zlg_error *err)
{
    char texts[2][300];
    for (int k = 0; k < 2; k++) {
        int n_axes = k ? rank : source->rank;
        const int64_t *lengths = k ? shape : source->shape;
        size_t n =
            (size_t)snprintf(texts[k], sizeof texts[k], "%s", n_axes ? "" : "scalar");
        for (int i = 0; i < n_axes && n < sizeof texts[k]; i++)
            n += (size_t)snprintf(texts[k] + n, sizeof texts[k] - n, "%s%lld",
                                  i ? " x " : "", (long long)lengths[i]);
    }
    return cli_fail(err, ZLG_USAGE, "%s: its shape is %s, that of the region %s",
                    source->name, texts[0], texts[1]);
}

/* Without a shape: all that there are, or one for all. */
static zlg_status fit_flat(const cli_source *source, int rank, const int64_t *shape,
                           int64_t n, ptrdiff_t out[ZLG_MAX_RANK], zlg_error *err)
{
    if (source->n_elements != n && (source->n_elements != 1 || source->exact))
        return cli_fail(err, ZLG_USAGE, "%s: it has %lld values, the region %lld",
                        source->name, (long long)source->n_elements, (long long)n);
    bool is_whole = n > 0 && source->n_elements == n;
    ptrdiff_t stride = is_whole ? (ptrdiff_t)source->dtype.n_bytes : 0;
    for (int i = rank; i-- > 0; stride *= (ptrdiff_t)shape[i])
        out[i] = stride;
    return ZLG_OK;
}

/* INT64_MAX: that many, or more. */
static int64_t count(int rank, const int64_t *shape)
{
    int64_t n = 1;
    bool fits = true;
    for (int i = 0; i < rank; i++)
        if (shape[i] == 0)
            return 0;
    for (int i = 0; i < rank; i++)
        fits &= !__builtin_mul_overflow(n, shape[i], &n);
    return fits ? n : INT64_MAX;
}

zlg_status cli_source_fit(const cli_source *source, int rank, const int64_t *shape,
                          ptrdiff_t out[ZLG_MAX_RANK], zlg_error *err)
{
    int64_t n = count(rank, shape);
    if (source->rank < 0)
        return fit_flat(source, rank, shape, n, out, err);
    int k = source->rank - rank; /* of the source where i is of the region */
    for (int i = 0; i < k; i++)
        if (source->shape[i] != 1)
            return shapes_differ(source, rank, shape, err);
    for (int i = 0; i < rank; i++) {
        int64_t length = i + k < 0 ? 1 : source->shape[i + k];
        if (length != shape[i] && length != 1)
            return shapes_differ(source, rank, shape, err);
        out[i] = length == 1 ? 0 : source->strides[i + k];
    }
    if (source->offsets && source->n_elements != n && source->n_elements != 1)
        return shapes_differ(source, rank, shape, err);
    return ZLG_OK;
}
