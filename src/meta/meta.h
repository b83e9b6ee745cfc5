/*
 * meta: metadata documents to one model and back. Versions 2 and 3 give the same structs;
 * above this folder nobody asks for the version except to write. Keeps a codec's JSON
 * without knowing the codec. Does no input or output.
 */
#ifndef ZLGI_META_H
#define ZLGI_META_H

#include "base/base.h"
#include "dtype/dtype.h"
#include "grid/grid.h"

typedef struct zlgi_array_meta {
    int zarr_format;
    int rank;
    int64_t shape[ZLG_MAX_RANK];
    zlgi_grid grid;
    bool rectilinear;
    zlgi_key_encoding key_encoding;
    const zlgi_dtype *dtype;
    bool fill_is_undefined; /* version 2, null: fill is zero then, NaT of times */
    zlgi_fill fill;
    const zlgi_json *codecs;                   /* v3: the list */
    const zlgi_json *filters, *compressor;     /* v2: list / object, or NULL */
    bool order_f;                              /* v2 */
    const char *dimension_names[ZLG_MAX_RANK]; /* v3; NULL entries unnamed */
    const zlgi_json *attributes;               /* an object, or NULL */
    const zlgi_json *document;                 /* as parsed, unknown fields and all */
} zlgi_array_meta;

typedef struct zlgi_group_meta {
    int zarr_format;
    const zlgi_json *attributes;   /* an object, or NULL */
    const zlgi_json *consolidated; /* v3: the flat map path → document, or NULL */
    const zlgi_json *document;
} zlgi_group_meta;

/* Text of a document → tree; METADATA when it is not a JSON object. */
zlg_status zlgi_meta_parse_text(zlgi_arena *arena, const char *text, size_t n,
                                const zlg_limits *limits, const zlgi_json **out,
                                zlg_error *err);
/* zarr.json: which node it is, by node_type; also refuses other formats and drafts by
 * name. */
zlg_status zlgi_meta_node_type(const zlgi_json *document, zlg_node *out, zlg_error *err);
zlg_status zlgi_meta_array_v3(zlgi_arena *arena, const zlgi_json *document,
                              const zlg_limits *limits, zlgi_array_meta *out,
                              zlg_error *err);
zlg_status zlgi_meta_group_v3(zlgi_arena *arena, const zlgi_json *document,
                              zlgi_group_meta *out, zlg_error *err);
/* v2: .zarray / .zgroup, and .zattrs or NULL. */
zlg_status zlgi_meta_array_v2(zlgi_arena *arena, const zlgi_json *zarray,
                              const zlgi_json *zattrs, const zlg_limits *limits,
                              zlgi_array_meta *out, zlg_error *err);
zlg_status zlgi_meta_group_v2(zlgi_arena *arena, const zlgi_json *zgroup,
                              const zlgi_json *zattrs, zlgi_group_meta *out,
                              zlg_error *err);
/* .zmetadata → the flat map key → document ("a/.zarray"). */
zlg_status zlgi_meta_consolidated_v2(const zlgi_json *zmetadata, const zlgi_json **out,
                                     zlg_error *err);

/* Rules for a node's path: "" or segments that are not empty, not only periods, do not
 * start with "__", are not "zarr.json", hold no backslash or NUL. NOT_FOUND otherwise. */
zlg_status zlgi_meta_path_check(const char *path, zlg_error *err);

/* The same for a path that only begins the keys of chunks: nothing is looked up there, so
 * names that are kept for extensions do no harm. */
zlg_status zlgi_meta_prefix_check(const char *path, zlg_error *err);

/* ------------------------------------------------------------------ writing (write*.c)
 * The documents for a new node, every default recorded. v3: zarr.json; v2: .zarray (the
 * attributes go to .zattrs on their own). The result is parsed back by the caller before
 * anything is stored. */
zlg_status zlgi_meta_write_array(const zlg_array_spec *spec, const zlg_limits *limits,
                                 zlgi_buf *out, zlg_error *err);
zlg_status zlgi_meta_write_group(int zarr_format, const zlgi_json *attributes,
                                 zlgi_buf *out, zlg_error *err);
/* Attributes that the caller gives: a JSON object, which holds Python's tokens only where
 * they are allowed. NULL for none. */
zlg_status zlgi_meta_parse_attributes(zlgi_arena *arena, const char *text,
                                      bool python_tokens, const zlg_limits *limits,
                                      const zlgi_json **out, zlg_error *err);
/* USAGE when a value holds NaN, Infinity or -Infinity, with the way to it; `advice` ends
 * the message. */
zlg_status zlgi_meta_check_tokens(const zlgi_json *value, const char *advice,
                                  zlg_error *err);

/* ------------------------------------------------------------------ changing (edit.c)
 * New trees that share with the old ones all that stays. A member keeps its place; a new
 * one goes behind the others. */
zlg_status zlgi_meta_with(zlgi_arena *arena, const zlgi_json *object, const char *name,
                          const zlgi_json *value, const zlgi_json **out, zlg_error *err);
typedef struct zlgi_attribute_edit {
    const zlgi_json *given; /* an object, or NULL */
    bool replace;           /* given instead of all that there are */
    const char *const *remove;
    int n_remove; /* names that go first */
} zlgi_attribute_edit;
/* old: an object, or NULL */
zlg_status zlgi_meta_edit_attributes(zlgi_arena *arena, const zlgi_json *old,
                                     const zlgi_attribute_edit *edit, const zlgi_json **out,
                                     zlg_error *err);
/* The shape that the document of an array states; and the document with another one of the
 * same rank. Lists of edges go on with one edge up to it; surplus edges stay. */
zlg_status zlgi_meta_shape(const zlgi_json *document, int *out_rank,
                           int64_t out[ZLG_MAX_RANK], zlg_error *err);
zlg_status zlgi_meta_reshape(zlgi_arena *arena, const zlgi_json *document, int rank,
                             const int64_t *shape, const zlg_limits *limits,
                             const zlgi_json **out, zlg_error *err);
/* The document of an array that becomes smaller says so until all that lies outside is
 * removed: in a member of ours, which others may ignore. */
bool zlgi_meta_is_shrinking(const zlgi_json *document);
zlg_status zlgi_meta_mark_shrinking(zlgi_arena *arena, const zlgi_json *document,
                                    bool shrinking, const zlgi_json **out, zlg_error *err);

#endif
