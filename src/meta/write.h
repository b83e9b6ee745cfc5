/*
 * write: documents for new nodes. They are put together as compact text, parsed like any
 * document and written out again for people to read. Private to meta.
 */
#ifndef ZLGI_META_WRITE_H
#define ZLGI_META_WRITE_H

#include "meta/member.h"

typedef struct zlgi_meta_writer {
    zlg_array_spec spec; /* as given, and from some point on with its shapes chosen */
    int64_t object_shape[ZLG_MAX_RANK], chunk_shape[ZLG_MAX_RANK]; /* room for those */
    const zlg_limits *limits;
    zlgi_arena *arena;
    zlgi_buf *text; /* the document so far */
} zlgi_meta_writer;

/* Whole documents of an array whose spec has passed the checks common to both versions. */
zlg_status zlgi_meta_write_v3(zlgi_meta_writer *writer, zlg_error *err);
zlg_status zlgi_meta_write_v2(zlgi_meta_writer *writer, zlg_error *err);
/* The codecs of the spec of version 3, NULL for the default; do they make shards? */
zlg_status zlgi_meta_read_codecs(const zlgi_meta_writer *writer, const zlgi_json **out,
                                 bool *out_shards, zlg_error *err);
/* The member `codecs` of version 3, value only. */
zlg_status zlgi_meta_write_codecs(const zlgi_meta_writer *writer, const zlgi_dtype *dtype,
                                  const zlgi_json *codecs, zlg_error *err);

/* ------------------------------------------------------------------ shapes (shapes.c)
 * Puts the shapes that the spec leaves open into it: see zlg_array_create. `shards`: the
 * codecs make shards themselves. */
zlg_status zlgi_meta_settle_shapes(zlgi_meta_writer *writer, const zlgi_dtype *dtype,
                                   bool shards, zlg_error *err);
/* The two rules: lengths of the array are at least 0, a target is a number of bytes. */
void zlgi_meta_choose_chunk(int rank, const int64_t *shape, size_t n_bytes_item,
                            int64_t target, int64_t *out);
void zlgi_meta_choose_shard(int rank, const int64_t *shape, const int64_t *chunk,
                            size_t n_bytes_item, int64_t target, int64_t *out);

/* JSON that the caller gave; `what` stands in messages. Python's NaN is not JSON. */
zlg_status zlgi_meta_spec_json(const zlgi_meta_writer *writer, const char *text,
                               const char *what, const zlgi_json **out, zlg_error *err);
/* The same where a bare name stands for a JSON string. */
zlg_status zlgi_meta_spec_name(const zlgi_meta_writer *writer, const char *text,
                               const char *what, const zlgi_json **out, zlg_error *err);
/* The attributes of the spec, or {}. */
zlg_status zlgi_meta_write_attributes(const zlgi_meta_writer *writer, zlg_error *err);
/* [1,2,3] after checking that each is at least `least`. */
zlg_status zlgi_meta_write_lengths(const zlgi_meta_writer *writer, const int64_t *lengths,
                                   int64_t least, const char *what, zlg_error *err);
zlg_status zlgi_meta_append(zlgi_buf *text, const char *piece, zlg_error *err);
/* Compact text → out, indented. */
zlg_status zlgi_meta_pretty(const zlgi_buf *text, zlgi_arena *arena, int max_depth,
                            zlgi_buf *out, zlg_error *err);

#endif
