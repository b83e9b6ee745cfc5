/*
 * Writing elements: the formats of cmd_cat.c. Elements come piece by piece in C order.
 */
#ifndef ZELLIGE_CLI_CAT_H
#define ZELLIGE_CLI_CAT_H

#include "cli.h"

typedef struct cat_writer {
    zlg_array *array;
    zlg_dtype dtype;
    int rank; /* of the result */
    int64_t shape[ZLG_MAX_RANK];
    int64_t n_elements;
    int64_t n_written;
} cat_writer;

/*
 * begin and end may be NULL. elements: in memory, or a zlg_varlen where the type is of
 * variable length; `write` may change them.
 */
typedef struct cat_format {
    zlg_status (*begin)(cat_writer *writer, zlg_error *err);
    zlg_status (*write)(cat_writer *writer, void *elements, int64_t n, zlg_error *err);
    void (*end)(cat_writer *writer);
} cat_format;

extern const cat_format cat_text, cat_json, cat_raw, cat_raw_varlen, cat_npy;

/* cat_raw.c: makes elements little-endian, in place. */
void cat_make_little_endian(const zlg_array *array, void *elements, int64_t n);

#endif
