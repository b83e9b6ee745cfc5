/*
 * write: documents for new nodes. They are put together as compact text, parsed like any
 * document and written out again for people to read. Private to meta.
 */
#ifndef ZLGI_META_WRITE_H
#define ZLGI_META_WRITE_H

#include "meta/member.h"

typedef struct zlgi_meta_writer {
    const zlg_array_spec *spec;
    const zlg_limits *limits;
    zlgi_arena *arena;
    zlgi_buf *text; /* the document so far */
} zlgi_meta_writer;

/* Whole documents of an array whose spec has passed the checks common to both versions. */
zlg_status zlgi_meta_write_v3(const zlgi_meta_writer *writer, zlg_error *err);
zlg_status zlgi_meta_write_v2(const zlgi_meta_writer *writer, zlg_error *err);
/* The member `codecs` of version 3, value only. */
zlg_status zlgi_meta_write_codecs(const zlgi_meta_writer *writer, const zlgi_dtype *dtype,
                                  zlg_error *err);

/* JSON that the caller gave; `what` stands in messages. Python's NaN is not JSON. */
zlg_status zlgi_meta_spec_json(const zlgi_meta_writer *writer, const char *text,
                               const char *what, const zlgi_json **out, zlg_error *err);
/* The same where a bare name stands for a JSON string. */
zlg_status zlgi_meta_spec_name(const zlgi_meta_writer *writer, const char *text,
                               const char *what, const zlgi_json **out, zlg_error *err);
/* USAGE when a value holds NaN, Infinity or -Infinity. */
zlg_status zlgi_meta_check_tokens(const zlgi_json *value, const char *what, zlg_error *err);
/* [1,2,3] after checking that each is at least `least`. */
zlg_status zlgi_meta_write_lengths(const zlgi_meta_writer *writer, const int64_t *lengths,
                                   int64_t least, const char *what, zlg_error *err);
zlg_status zlgi_meta_append(zlgi_buf *text, const char *piece, zlg_error *err);
/* Compact text → out, indented. */
zlg_status zlgi_meta_pretty(const zlgi_buf *text, zlgi_arena *arena, int max_depth,
                            zlgi_buf *out, zlg_error *err);

#endif
