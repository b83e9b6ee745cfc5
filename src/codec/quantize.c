/*
 * quantize: rounds floats to a power of two that keeps `digits` decimal digits, and casts
 * them to `astype`; decoding casts back (format.md §16, as numcodecs computes it).
 */
#include <math.h>

#include "codec/filter.h"
#include "codec/parts.h"

typedef struct quantize {
    zlgi_filter filter;
    double scale; /* a power of two */
} quantize;

static void encode_elements(const void *config, const uint8_t *in, size_t n, uint8_t *out)
{
    const quantize *self = config;
    const zlgi_elements *decoded = &self->filter.decoded, *encoded = &self->filter.encoded;
    double scale = zlgi_round_to(decoded->type, self->scale);
    zlgi_block block;
    for (size_t i = 0; i < n; i += ZLGI_BLOCK) {
        size_t n_block = ZLGI_MIN(n - i, ZLGI_BLOCK);
        zlgi_elements_load(decoded, in + i * decoded->n_bytes, n_block, &block);
        for (size_t k = 0; k < n_block; k++) {
            double scaled = zlgi_round_to(decoded->type, scale * block.d[k]);
            block.d[k] = zlgi_round_to(decoded->type, rint(scaled) / scale);
        }
        zlgi_elements_store(encoded, ZLGI_WIDE_DOUBLE, &block, n_block,
                            out + i * encoded->n_bytes);
    }
}

static void decode_elements(const void *config, const uint8_t *in, size_t n, uint8_t *out)
{
    const quantize *self = config;
    zlgi_elements_convert(&self->filter.encoded, in, n, &self->filter.decoded, out);
}

static zlg_status configure(zlgi_step *step, const zlgi_json *configuration,
                            const zlgi_codec_env *env, zlg_error *err)
{
    quantize *self;
    ZLGI_TRY(zlgi_filter_configure(step, sizeof *self, configuration, "dtype", "astype",
                                   true, env, &self, err));
    if (!zlgi_type_is_float(self->filter.decoded.type) ||
        !zlgi_type_is_float(self->filter.encoded.type))
        return zlgi_fail(err, ZLG_METADATA, "only floats can be quantized");
    int64_t digits;
    ZLGI_TRY(zlgi_config_int(configuration, "digits", -300, 300, INT64_MIN, &digits, err));
    if (digits == INT64_MIN)
        return zlgi_fail(err, ZLG_METADATA, "\"digits\" is missing");
    self->scale = exp2(ceil(log2(pow(10, (double)digits))));
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

const zlgi_codec zlgi_codec_quantize = {
    .id = "quantize",
    .kind = ZLGI_ARRAY_TO_ARRAY,
    .pass = ZLGI_PASS_ELEMENTWISE,
    .flags = ZLGI_CODEC_ON_BYTES,
    .configure = configure,
    .resolve = zlgi_filter_resolve,
    .encode = encode,
    .decode = decode,
};
