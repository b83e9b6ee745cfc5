/*
 * vlen-bytes: byte strings of any length, each behind its number of bytes (format.md
 * §12.1, §16).
 */
#include "codec/vlen.h"

static zlg_status configure(zlgi_step *step, const zlgi_json *configuration,
                            const zlgi_codec_env *env, zlg_error *err)
{
    (void)configuration, (void)env;
    if (step->from.dtype->type != ZLG_BYTES)
        return zlgi_fail(err, ZLG_METADATA, "it takes byte strings, not %s",
                         zlgi_type_name(step->from.dtype->type));
    return ZLG_OK;
}

static zlg_status encode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_buf *out,
                         zlg_error *err)
{
    (void)step, (void)scratch;
    return zlgi_vlen_encode(from, in, out, err);
}

static zlg_status decode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_out *out,
                         zlg_error *err)
{
    (void)step, (void)scratch;
    return zlgi_vlen_decode(from, in, out, err);
}

const zlgi_codec zlgi_codec_vlen_bytes = {
    .name = "vlen-bytes",
    .id = "vlen-bytes",
    .kind = ZLGI_ARRAY_TO_BYTES,
    .pass = ZLGI_PASS_WHOLE,
    .flags = ZLGI_CODEC_VARLEN,
    .configure = configure,
    .encode = encode,
    .decode = decode,
};
