/*
 * astype: casts `decode_dtype` to `encode_dtype`, and back (format.md §16). The cast is
 * NumPy's: it loses what does not fit and says nothing.
 */
#include "codec/filter.h"

static void encode_elements(const void *config, const uint8_t *in, size_t n, uint8_t *out)
{
    const zlgi_filter *self = config;
    zlgi_elements_convert(&self->decoded, in, n * self->decoded.n_parts, &self->encoded,
                          out);
}

static void decode_elements(const void *config, const uint8_t *in, size_t n, uint8_t *out)
{
    const zlgi_filter *self = config;
    zlgi_elements_convert(&self->encoded, in, n * self->encoded.n_parts, &self->decoded,
                          out);
}

static zlg_status configure(zlgi_step *step, const zlgi_json *configuration,
                            const zlgi_codec_env *env, zlg_error *err)
{
    zlgi_filter *self;
    ZLGI_TRY(zlgi_filter_configure(step, sizeof *self, configuration, "decode_dtype",
                                   "encode_dtype", false, env, &self, err));
    if (zlgi_json_get(configuration, "encode_dtype") == NULL)
        return zlgi_fail(err, ZLG_METADATA, "\"encode_dtype\" is missing");
    const zlgi_dtype *holds = step->from.holds;
    if (env->writing && self->decoded.type == ZLG_BOOL && step->from.dtype == NULL &&
        holds && holds->n_bytes != 1)
        return zlgi_fail(err, ZLG_METADATA,
                         "it takes bool, and would keep one bit of each byte of %s",
                         zlgi_type_name(holds->type));
    ZLGI_TRY(zlgi_filter_try(step, encode_elements, decode_elements, env, err));
    return zlgi_filter_fill(step, encode_elements, env, err);
}

static zlg_status encode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_buf *out,
                         zlg_error *err)
{
    (void)scratch, (void)from;
    return zlgi_filter_encode(step, in, out, encode_elements, err);
}

static zlg_status decode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_out *out,
                         zlg_error *err)
{
    (void)scratch, (void)from;
    return zlgi_filter_decode(step, in, out, decode_elements, err);
}

const zlgi_codec zlgi_codec_astype = {
    .id = "astype",
    .kind = ZLGI_ARRAY_TO_ARRAY,
    .pass = ZLGI_PASS_ELEMENTWISE,
    .flags = ZLGI_CODEC_ON_BYTES,
    .configure = configure,
    .resolve = zlgi_filter_resolve,
    .encode = encode,
    .decode = decode,
};
