/*
 * zfp_stream: ZFP streams, for the two codecs that hold them. zfp_stream.c is the only file
 * that calls libzfp.
 */
#ifndef ZLGI_CODEC_ZFP_STREAM_H
#define ZLGI_CODEC_ZFP_STREAM_H

#include "codec/elements.h"

typedef enum zlgi_zfp_mode {
    ZLGI_ZFP_REVERSIBLE,
    ZLGI_ZFP_EXPERT,
    ZLGI_ZFP_ACCURACY,
    ZLGI_ZFP_RATE,
    ZLGI_ZFP_PRECISION
} zlgi_zfp_mode;

/* What a block may take, and that of the smallest block per element. */
enum { ZLGI_ZFP_BLOCK_BITS = 16658, ZLGI_ZFP_MOST_RATE = 4096 };

typedef struct zlgi_zfp {
    zlgi_zfp_mode mode;
    double value; /* tolerance or rate */
    unsigned min_bits, max_bits, max_precision;
    int min_exponent;
    bool has_header; /* type, shape and mode stand in front of the stream */

    zlgi_elements elements; /* what the chunk holds */
    zlg_type coded;         /* what libzfp codes: int32, int64, float32 or float64 */
} zlgi_zfp;

/* Sets what is coded for the data type. UNSUPPORTED when it is no real number. */
zlg_status zlgi_zfp_type(const zlgi_dtype *dtype, zlgi_zfp *zfp, zlg_error *err);
zlg_status zlgi_zfp_encode(const zlgi_zfp *zfp, zlgi_scratch *scratch,
                           const zlgi_edge *from, zlgi_bytes in, zlgi_buf *out,
                           zlg_error *err);
zlg_status zlgi_zfp_decode(const zlgi_zfp *zfp, zlgi_scratch *scratch,
                           const zlgi_edge *from, zlgi_bytes in, zlgi_out *out,
                           zlg_error *err);

#endif
