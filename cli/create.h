/*
 * From the words of `create` to the JSON of a spec.
 */
#ifndef ZELLIGE_CLI_CREATE_H
#define ZELLIGE_CLI_CREATE_H

#include "cli.h"

/* A data type in the notation of a version: names of version 3, strings of NumPy and its
 * names for times go with both. *out_filter: the codec that a version 2 array of this type
 * needs, or NULL. Free *out. */
zlg_status create_type(const char *text, int zarr_format, char **out,
                       const char **out_filter, zlg_error *err);
/*
 * Codecs as JSON, from JSON or from "zstd:3" or "blosc:lz4:5,crc32c". type: JSON or a name;
 * filters: JSON of version 2, or NULL; fortran: version 3, the order of F. Free *out.
 */
zlg_status create_codecs(zlg_ctx *ctx, const char *text, int zarr_format, const char *type,
                         const char *filters, int fortran_rank, char **out, zlg_error *err);
/* A fill value as JSON: what is none is a string. Free *out. */
zlg_status create_fill(const char *text, char **out, zlg_error *err);

#endif
