/*
 * npy_type.c: types as NumPy files name them. Types that NumPy lacks are unsigned integers
 * of the same bits, complex numbers of such parts records (re, im).
 *
 * Format: numpy.lib.format, "descr".
 */
#include <inttypes.h>
#include <string.h>

#include "npy.h"

static const char *number_text(zlg_type type)
{
    switch (type) {
    case ZLG_BOOL:
        return "|b1";
    case ZLG_INT2:
    case ZLG_INT4:
    case ZLG_INT8:
        return "|i1";
    case ZLG_INT16:
        return "<i2";
    case ZLG_INT32:
        return "<i4";
    case ZLG_INT64:
        return "<i8";
    case ZLG_UINT16:
    case ZLG_BFLOAT16:
        return "<u2";
    case ZLG_UINT32:
        return "<u4";
    case ZLG_UINT64:
        return "<u8";
    case ZLG_FLOAT16:
        return "<f2";
    case ZLG_FLOAT32:
        return "<f4";
    case ZLG_FLOAT64:
        return "<f8";
    default: /* uint2 to uint8, and floats of up to 8 bits */
        return "|u1";
    }
}

static void print_type(FILE *out, zlg_dtype dtype)
{
    const char *part = number_text(dtype.part);
    switch (dtype.type) {
    case ZLG_COMPLEX:
        if (dtype.part == ZLG_FLOAT32 || dtype.part == ZLG_FLOAT64)
            fprintf(out, "'<c%zu'", dtype.n_bytes);
        else
            fprintf(out, "[('re', '%s'), ('im', '%s')]", part, part);
        return;
    case ZLG_DATETIME64:
    case ZLG_TIMEDELTA64:
        fprintf(out, "'<%c8", dtype.type == ZLG_DATETIME64 ? 'M' : 'm');
        if (dtype.unit && strcmp(dtype.unit, "generic") != 0) {
            fputc('[', out);
            if (dtype.scale != 1)
                fprintf(out, "%" PRId64, dtype.scale);
            fprintf(out, "%s]", dtype.unit);
        }
        fputc('\'', out);
        return;
    case ZLG_RAW:
        fprintf(out, "'|V%zu'", dtype.n_bytes);
        return;
    case ZLG_FIXED_BYTES:
        fprintf(out, "'|S%zu'", dtype.n_bytes);
        return;
    case ZLG_FIXED_UTF32:
        fprintf(out, "'<U%zu'", dtype.n_bytes / 4);
        return;
    default:
        fprintf(out, "'%s'", number_text(dtype.type));
    }
}

static void print_name(FILE *out, const char *name)
{
    fputc('\'', out);
    for (; *name; name++)
        if (*name == '\'' || *name == '\\')
            fprintf(out, "\\%c", *name);
        else if ((unsigned char)*name < ' ')
            fprintf(out, "\\x%02x", (unsigned char)*name);
        else
            fputc(*name, out);
    fputc('\'', out);
}

void cli_npy_shape(FILE *out, int rank, const int64_t *shape)
{
    fputc('(', out);
    for (int i = 0; i < rank; i++)
        fprintf(out, "%" PRId64 "%s", shape[i], i + 1 < rank ? ", " : rank == 1 ? "," : "");
    fputc(')', out);
}

/* path: where in the records of the array's type this one is. */
static void print_descr(FILE *out, const zlg_array *array, int *path, int n_path,
                        zlg_dtype dtype)
{
    if (dtype.type != ZLG_STRUCT) {
        print_type(out, dtype);
        return;
    }
    fputc('[', out);
    for (int i = 0; i < dtype.n_fields && n_path < ZLG_MAX_RANK; i++) {
        zlg_field field;
        path[n_path] = i;
        if (zlg_array_field(array, path, n_path + 1, &field, NULL) != ZLG_OK)
            continue;
        fputs(i ? ", (" : "(", out);
        print_name(out, field.name);
        fputs(", ", out);
        print_descr(out, array, path, n_path + 1, field.dtype);
        if (field.rank > 0) {
            fputs(", ", out);
            cli_npy_shape(out, field.rank, field.shape);
        }
        fputc(')', out);
    }
    fputc(']', out);
}

void cli_npy_descr(FILE *out, const zlg_array *array)
{
    int path[ZLG_MAX_RANK];
    print_descr(out, array, path, 0, zlg_array_dtype(array));
}
