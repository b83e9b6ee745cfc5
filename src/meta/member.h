/*
 * member: reading one member of a document, with errors that name it and say what was
 * found and what was expected. Private to meta.
 */
#ifndef ZLGI_META_MEMBER_H
#define ZLGI_META_MEMBER_H

#include "meta/meta.h"

/* A value as it stands in a message: 3.5, "abc", null, a list, an object; "missing" for
 * NULL. */
typedef struct zlgi_brief {
    char text[56];
} zlgi_brief;
zlgi_brief zlgi_meta_brief(const zlgi_json *value);

/* "shape is missing, expected a list of lengths": METADATA. */
zlg_status zlgi_meta_expected(zlg_error *err, const char *name, const zlgi_json *value,
                              const char *expected);

static inline int zlgi_meta_depth(const zlg_limits *limits)
{
    return (int)ZLGI_MIN(limits->json_depth, INT32_MAX);
}

/* A document must be an object. */
zlg_status zlgi_meta_check_object(const zlgi_json *document, zlg_error *err);
/* Its zarr_format must be this one; other formats and drafts are refused by name. */
zlg_status zlgi_meta_check_format(const zlgi_json *document, int zarr_format,
                                  zlg_error *err);
/* The node_type of a version 3 document must be this one. */
zlg_status zlgi_meta_check_node(const zlgi_json *document, zlg_node expected,
                                zlg_error *err);

/* A list of at most ZLG_MAX_RANK integers, each at least `least`. */
zlg_status zlgi_meta_lengths(const zlgi_json *value, const char *name, int64_t least,
                             int *out_rank, int64_t out[ZLG_MAX_RANK], zlg_error *err);

/* An extension definition of version 3: a name, or an object with a name. */
typedef struct zlgi_extension {
    const zlgi_json *name;          /* a string */
    const zlgi_json *configuration; /* an object, or NULL */
    bool must_understand;
} zlgi_extension;
zlg_status zlgi_meta_extension(const zlgi_json *value, const char *what,
                               zlgi_extension *out, zlg_error *err);
/* The same for a thing that nobody may skip (data type, grid, key encoding). */
zlg_status zlgi_meta_essential(const zlgi_json *value, const char *what,
                               zlgi_extension *out, zlg_error *err);
/* A list of at least one codec, each an extension definition. */
zlg_status zlgi_meta_check_codecs(const zlgi_json *value, zlg_error *err);
/* Lists of names end with NULL. */
bool zlgi_meta_is_one_of(const zlgi_json *member, const char *const *names);
/* METADATA when the object (or NULL) has a member that is none of `names`: ignoring it
 * could misread the data. */
zlg_status zlgi_meta_only(const zlgi_json *object, const char *what,
                          const char *const *names, zlg_error *err);
/* UNSUPPORTED when a version 3 document has a field that is none of `names` and may not
 * be ignored. */
zlg_status zlgi_meta_check_fields(const zlgi_json *document, const char *const *names,
                                  zlg_error *err);
zlg_status zlgi_meta_check_transformers(const zlgi_json *value, zlg_error *err);
/* An object; absent and null give NULL. */
zlg_status zlgi_meta_attributes(const zlgi_json *value, const zlgi_json **out,
                                zlg_error *err);

/* Regular: chunk lengths of version 2 or 3 over out->rank axes of these lengths. */
zlg_status zlgi_meta_chunks(const zlgi_json *chunks, const char *name, int rank,
                            const int64_t *shape, zlgi_grid *out, zlg_error *err);
/* The chunk_grid of version 3. */
zlg_status zlgi_meta_grid(zlgi_arena *arena, const zlgi_json *value, int rank,
                          const int64_t *shape, const zlg_limits *limits, zlgi_grid *out,
                          bool *out_rectilinear, zlg_error *err);
/* The last run of a list of edges (count 0: the list is empty), and where it ends. */
typedef struct zlgi_last_edge {
    int64_t length, count, end;
} zlgi_last_edge;
zlg_status zlgi_meta_last_edge(const zlgi_json *runs, const zlg_limits *limits,
                               zlgi_last_edge *out, zlg_error *err);
/* The chunk_key_encoding of version 3; and its separator, or that of version 2. */
zlg_status zlgi_meta_key_encoding(const zlgi_json *value, zlgi_key_encoding *out,
                                  zlg_error *err);
zlg_status zlgi_meta_separator(const zlgi_json *value, const char *name, char *out,
                               zlg_error *err);

/* Version 2: a list of objects with an id, or null: NULL. An empty list is null. */
zlg_status zlgi_meta_filters_v2(const zlgi_json *value, const zlgi_json **out,
                                zlg_error *err);
zlg_status zlgi_meta_compressor_v2(const zlgi_json *value, const zlgi_json **out,
                                   zlg_error *err);
/* The dtype of version 2, objects resolved by their object codec. */
zlg_status zlgi_meta_dtype_v2(zlgi_arena *arena, const zlgi_json *value,
                              const zlgi_json *filters, const zlgi_json *compressor,
                              const zlg_limits *limits, const zlgi_dtype **out,
                              zlg_error *err);

#endif
