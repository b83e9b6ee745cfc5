/*
 * crc32: a CRC-32, that of zlib, before the data (numcodecs "crc32"; format.md §16).
 */
#include "codec/parts.h"

static zlg_status configure(zlgi_step *step, const zlgi_json *configuration,
                            const zlgi_codec_env *env, zlg_error *err)
{
    return zlgi_sum_configure(step, configuration, env, true, err);
}

static zlg_status encode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_buf *out,
                         zlg_error *err)
{
    const zlgi_sum *config = step->config;
    (void)scratch, (void)from;
    return zlgi_sum_join(config->at_start, in, zlgi_crc32(in.data, in.n), out, err);
}

static zlg_status decode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_out *out,
                         zlg_error *err)
{
    const zlgi_sum *config = step->config;
    zlgi_bytes data;
    uint32_t stored;
    (void)scratch, (void)from;
    ZLGI_TRY(zlgi_sum_split(config->at_start, in, &data, &stored, err));
    return zlgi_sum_check(data, zlgi_crc32(data.data, data.n), stored, out, err);
}

const zlgi_codec zlgi_codec_crc32 = {
    .id = "crc32",
    .kind = ZLGI_BYTES_TO_BYTES,
    .configure = configure,
    .resolve = zlgi_sum_resolve,
    .encode = encode,
    .decode = decode,
};
