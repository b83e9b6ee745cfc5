/*
 * filter: what the codecs that turn numbers into numbers share. On typed edges (version 3)
 * elements lie as the machine has them, on byte edges (version 2) as their configuration
 * says; the codec itself is a pair of loops that need not know.
 */
#ifndef ZLGI_CODEC_FILTER_H
#define ZLGI_CODEC_FILTER_H

#include "codec/elements.h"

/* First member of the configuration of each filter. */
typedef struct zlgi_filter {
    zlgi_elements decoded, encoded;
} zlgi_filter;

/* n elements from one side to the other. */
typedef void (*zlgi_filter_loop)(const void *config, const uint8_t *in, size_t n,
                                 uint8_t *out);

/*
 * Makes the configuration, of n_bytes, from the members that name the two types (the
 * second NULL: both are the same), and describes edge `to`. Numbers must be real when
 * `real` is set.
 */
zlg_status zlgi_filter_configure(zlgi_step *step, size_t n_bytes,
                                 const zlgi_json *configuration, const char *decoded,
                                 const char *encoded, bool real, const zlgi_codec_env *env,
                                 void *out_config, zlg_error *err);
/* The fill value of edge `to`: that of `from`, encoded. Nothing to do on byte edges. */
zlg_status zlgi_filter_fill(zlgi_step *step, zlgi_filter_loop encode,
                            const zlgi_codec_env *env, zlg_error *err);
/* New arrays: METADATA when no two numbers can be told apart once they are encoded, as when
 * all become 0. Those that are there already are read as they are. */
zlg_status zlgi_filter_try(const zlgi_step *step, zlgi_filter_loop encode,
                           zlgi_filter_loop decode, const zlgi_codec_env *env,
                           zlg_error *err);
zlg_status zlgi_filter_resolve(const zlgi_step *step, const zlgi_edge *from, zlgi_edge *to,
                               zlg_error *err);
zlg_status zlgi_filter_encode(const zlgi_step *step, zlgi_bytes in, zlgi_buf *out,
                              zlgi_filter_loop encode, zlg_error *err);
zlg_status zlgi_filter_decode(const zlgi_step *step, zlgi_bytes in, zlgi_out *out,
                              zlgi_filter_loop decode, zlg_error *err);

#endif
