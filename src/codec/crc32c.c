/*
 * crc32c: a CRC-32C behind the data (version 3 core; format.md §7.6). numcodecs has it too,
 * with a location. The sum itself: crc32c_sum.c.
 */
#include "codec/parts.h"

static zlg_status configure(zlgi_step *step, const zlgi_json *configuration,
                            const zlgi_codec_env *env, zlg_error *err)
{
    return zlgi_sum_configure(step, configuration, env, false, err);
}

static zlg_status encode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_buf *out,
                         zlg_error *err)
{
    const zlgi_sum *config = step->config;
    (void)scratch, (void)from;
    return zlgi_sum_join(config->at_start, in, zlgi_crc32c(0, in.data, in.n), out, err);
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
    return zlgi_sum_check(data, zlgi_crc32c(0, data.data, data.n), stored, out, err);
}

const zlgi_codec zlgi_codec_crc32c = {
    .name = "crc32c",
    .id = "crc32c",
    .kind = ZLGI_BYTES_TO_BYTES,
    .configure = configure,
    .resolve = zlgi_sum_resolve,
    .encode = encode,
    .decode = decode,
};
