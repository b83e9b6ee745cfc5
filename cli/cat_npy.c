/*
 * cat_npy.c: a NumPy file. Types that NumPy lacks are stored as unsigned integers of the
 * same bits, complex numbers of such parts as records (re, im); elements of variable
 * length cannot be stored, for NumPy would pickle them.
 *
 * Format: numpy.lib.format, versions 1 to 3.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cat.h"

/* ------------------------------------------------------------------ types */

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

static void print_tuple(FILE *out, int rank, const int64_t *shape)
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
            print_tuple(out, field.rank, field.shape);
        }
        fputc(')', out);
    }
    fputc(']', out);
}

/* ------------------------------------------------------------------ header */

static void put_header(const char *text, size_t n_text)
{
    /* Magic, version, length; the length counts blanks and the line's end that fill the
     * header up to 64 bytes. Version 3 is version 2 in UTF-8. */
    bool plain = true;
    for (size_t i = 0; i < n_text; i++)
        plain &= (unsigned char)text[i] < 0x80;
    unsigned version = !plain ? 3 : n_text + 74 > 65535 ? 2 : 1;
    size_t n_before = version == 1 ? 10 : 12;
    size_t n_all = (n_before + n_text + 1 + 63) / 64 * 64;
    size_t n_header = n_all - n_before;
    fputs("\x93NUMPY", stdout);
    putchar((int)version);
    putchar(0);
    for (size_t i = 0; i < n_before - 8; i++)
        putchar((int)(n_header >> 8 * i & 255));
    printf("%s%*s\n", text, (int)(n_header - n_text - 1), "");
}

static zlg_status begin_npy(cat_writer *writer, zlg_error *err)
{
    char *text = NULL;
    size_t n_text = 0;
    int path[ZLG_MAX_RANK];
    if (cli_is_varlen(writer->dtype))
        return cli_fail(err, ZLG_UNSUPPORTED,
                        "a NumPy file holds no elements of variable length; see --json");
    FILE *out = open_memstream(&text, &n_text);
    if (!out)
        return cli_no_memory(err, 4096);
    fputs("{'descr': ", out);
    print_descr(out, writer->array, path, 0, writer->dtype);
    fputs(", 'fortran_order': False, 'shape': ", out);
    print_tuple(out, writer->rank, writer->shape);
    fputs(", }", out);
    bool failed = fclose(out) != 0;
    if (!failed)
        put_header(text, n_text);
    free(text);
    return failed ? cli_no_memory(err, n_text) : ZLG_OK;
}

static zlg_status write_npy(cat_writer *writer, void *elements, int64_t n, zlg_error *err)
{
    return cat_raw.write(writer, elements, n, err);
}

const cat_format cat_npy = {.begin = begin_npy, .write = write_npy};
