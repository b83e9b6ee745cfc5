/*
 * What the files of this folder share with each other and with nobody else.
 */
#ifndef ZLGI_CODEC_PARTS_H
#define ZLGI_CODEC_PARTS_H

#include "codec/codec.h"

/* ------------------------------------------------------------------ folded codecs */
typedef struct zlgi_transpose {
    int order[ZLG_MAX_RANK]; /* axis i after it is axis order[i] before it */
} zlgi_transpose;

typedef struct zlgi_bytes_config {
    zlgi_swap swap;
    bool normalize;
} zlgi_bytes_config;

extern const zlgi_codec zlgi_codec_bytes;
extern const zlgi_codec zlgi_codec_transpose;

/* "x" of "numcodecs.x", which is how version 3 documents name numcodecs; else NULL. */
const char *zlgi_numcodecs_id(const char *name);

/* ------------------------------------------------------------------ boxes (box.c) */
/* Bytes per axis of a box in C order. */
void zlgi_box_strides(int rank, const int64_t *shape, size_t item, ptrdiff_t *out);
/* Bytes per axis of a chunk in the buffer of edge n_folded; shape is the chunk's. */
void zlgi_box_folded_strides(const zlgi_chain *chain, int rank, const int64_t *shape,
                             size_t item, ptrdiff_t *out);
/* All elements of a box, which lie at `memory` with these strides. */
void zlgi_box_use(int rank, const int64_t *shape, uint8_t *memory, const ptrdiff_t *strides,
                  zlgi_use *out);

/* ------------------------------------------------------------------ checksum codecs
 * Four bytes, little-endian, before or behind the data (sum.c). */
typedef struct zlgi_sum {
    bool at_start;
} zlgi_sum;
zlg_status zlgi_sum_configure(zlgi_step *step, const zlgi_json *configuration,
                              const zlgi_codec_env *env, bool at_start, zlg_error *err);
zlg_status zlgi_sum_resolve(const zlgi_step *step, const zlgi_edge *from, zlgi_edge *to,
                            zlg_error *err);
/* Splits the stored bytes into data and checksum. */
zlg_status zlgi_sum_split(bool at_start, zlgi_bytes in, zlgi_bytes *out_data,
                          uint32_t *out_stored, zlg_error *err);
zlg_status zlgi_sum_join(bool at_start, zlgi_bytes data, uint32_t sum, zlgi_buf *out,
                         zlg_error *err);
/* The data as the result if the sums agree, else CORRUPT. */
zlg_status zlgi_sum_check(zlgi_bytes data, uint32_t computed, uint32_t stored,
                          zlgi_out *out, zlg_error *err);

/* ------------------------------------------------------------------ results (out.c) */
/* The result is a copy of these bytes: for what lies in memory about to go. */
zlg_status zlgi_out_copy(zlgi_out *out, const uint8_t *data, size_t n, zlg_error *err);

/* ------------------------------------------------------------------ deflate (deflate.c)
 * The only file that calls libdeflate; gzip and zlib are the same bytes in other wraps. */
typedef enum zlgi_deflate_wrap { ZLGI_GZIP, ZLGI_ZLIB } zlgi_deflate_wrap;
zlg_status zlgi_deflate_configure(zlgi_step *step, const zlgi_json *configuration,
                                  const zlgi_codec_env *env, zlg_error *err);
zlg_status zlgi_deflate_encode(zlgi_deflate_wrap wrap, const zlgi_step *step,
                               zlgi_scratch *scratch, zlgi_bytes in, zlgi_buf *out,
                               zlg_error *err);
zlg_status zlgi_deflate_decode(zlgi_deflate_wrap wrap, zlgi_scratch *scratch, zlgi_bytes in,
                               zlgi_out *out, zlg_error *err);

/* ------------------------------------------------------------------ streams in containers
 * One stream of exactly n bytes; false when it is damaged or not of that size. */
bool zlgi_zstd_stream(zlgi_scratch *scratch, zlgi_bytes in, uint8_t *out, size_t n);
bool zlgi_lz4_stream(zlgi_scratch *scratch, zlgi_bytes in, uint8_t *out, size_t n);
bool zlgi_zlib_stream(zlgi_scratch *scratch, zlgi_bytes in, uint8_t *out, size_t n);

#endif
