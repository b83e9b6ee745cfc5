/*
 * cat_npy.c: a NumPy file. Elements of variable length cannot be stored, for NumPy would
 * pickle them.
 *
 * Format: numpy.lib.format, versions 1 to 3.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>

#include "cat.h"
#include "npy.h"

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
    if (cli_is_varlen(writer->dtype))
        return cli_fail(err, ZLG_UNSUPPORTED,
                        "a NumPy file holds no elements of variable length; see --json");
    FILE *out = open_memstream(&text, &n_text);
    if (!out)
        return cli_no_memory(err, 4096);
    fputs("{'descr': ", out);
    cli_npy_descr(out, writer->array);
    fputs(", 'fortran_order': False, 'shape': ", out);
    cli_npy_shape(out, writer->rank, writer->shape);
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
