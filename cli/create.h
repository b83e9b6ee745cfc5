/*
 * From the words of `create` to the JSON of a spec.
 */
#ifndef ZELLIGE_CLI_CREATE_H
#define ZELLIGE_CLI_CREATE_H

#include "cli.h"

/* A new node: its spec, and the memory behind it. */
typedef struct creation {
    const cli_settings *settings;
    zlg_ctx *ctx;
    zlg_store *like_store;
    zlg_array *like;
    zlg_promise promise;
    zlg_array_spec spec;
    int64_t shape[ZLG_MAX_RANK], chunks[ZLG_MAX_RANK], shards[ZLG_MAX_RANK];
    char *type, *codecs, *fill, *filters, *dims;
    const char *names[ZLG_MAX_RANK];
    char *path;
} creation;

/* create_spec.c: fills in the spec. Free in any case. */
zlg_status create_spec(creation *c, zlg_error *err);
void create_spec_free(creation *c);

/* A data type in the notation of a version: names of version 3, strings of NumPy and its
 * names for times go with both. *out_filter: the codec that a version 2 array of this type
 * needs, or NULL. Free *out. */
zlg_status create_type(const char *text, int zarr_format, char **out,
                       const char **out_filter, zlg_error *err);
/*
 * Codecs as JSON, from JSON or from "zstd:3" or "blosc:lz4:5,crc32c". type: JSON or a
 * name; filters: JSON of version 2, or NULL; fortran_rank: of an array of version 3 whose
 * order is to be F, else 0. Free *out.
 */
zlg_status create_codecs(zlg_ctx *ctx, const char *text, int zarr_format, const char *type,
                         const char *filters, int fortran_rank, char **out, zlg_error *err);
/* A fill value as JSON: what is none is a string. Free *out. */
zlg_status create_fill(const char *text, char **out, zlg_error *err);

#endif
