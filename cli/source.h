/*
 * What `write` takes: elements out of a file or a pipe, as bytes in memory. All of it is
 * looked at before anything is written, so that bad input changes nothing.
 */
#ifndef ZELLIGE_CLI_SOURCE_H
#define ZELLIGE_CLI_SOURCE_H

#include "cli.h"
#include "os.h"

typedef struct cli_source {
    const char *name;       /* for messages */
    const zlg_array *array; /* that it is for */
    zlg_dtype dtype;        /* of the array */
    int rank;               /* -1: has no shape, only a number of elements */
    int64_t shape[ZLG_MAX_RANK];
    ptrdiff_t
        strides[ZLG_MAX_RANK]; /* where there is a shape: bytes from one to the next */
    int64_t n_elements;
    bool exact;             /* one element is not meant for all */
    bool opaque;            /* types of few bits: the bits above them count for nothing */
    const void *data;       /* of fixed size: packed; else the bytes of all */
    const int64_t *offsets; /* of variable length: n_elements + 1, in C order */
    int swapped;
    cli_bytes file, values, ends; /* the memory behind */
} cli_source;

/* Reads a file, "-" standard input, for a region of so many axes. Close in any case. */
zlg_status cli_source_open(const char *path, bool raw, const zlg_array *array, int rank,
                           cli_source *out, zlg_error *err);
void cli_source_close(cli_source *source);
/* Strides that make the source fill a shape, one axis each; NumPy's rules of broadcasting,
 * except that one of variable length is broadcast by zlg_array_fill alone. */
zlg_status cli_source_fit(const cli_source *source, int rank, const int64_t *shape,
                          ptrdiff_t out[ZLG_MAX_RANK], zlg_error *err);

/* ------------------------------------------------------------------ formats
 * Each takes source->file and fills in the rest. */
bool cli_source_is_npy(const cli_source *source);
zlg_status cli_source_npy(cli_source *source, zlg_error *err);
/* Values as `cat` prints them, or JSON lists nested `rank` deep. */
zlg_status cli_source_text(cli_source *source, int rank, zlg_error *err);
/* One flat list. */
zlg_status cli_source_list(cli_source *source, zlg_error *err);

/* err with the source's name in front; returns its status. */
zlg_status cli_source_fail(const cli_source *source, zlg_error *err);
/* Adds to a spool. */
zlg_status cli_source_add(const cli_source *source, cli_spool *spool, const void *data,
                          size_t n_bytes, zlg_error *err);
/* The spool becomes the elements; ends: of variable length, else NULL. */
zlg_status cli_source_take(cli_source *source, cli_spool *values, cli_spool *ends,
                           zlg_error *err);

#endif
