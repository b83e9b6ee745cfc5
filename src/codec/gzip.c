/*
 * gzip: RFC 1952 (version 3 core; format.md §7.3, §16). The work: deflate.c.
 */
#include "codec/parts.h"

static zlg_status encode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_buf *out,
                         zlg_error *err)
{
    (void)from;
    return zlgi_deflate_encode(ZLGI_GZIP, step, scratch, in, out, err);
}

static zlg_status decode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_out *out,
                         zlg_error *err)
{
    (void)step, (void)from;
    return zlgi_deflate_decode(ZLGI_GZIP, scratch, in, out, err);
}

const zlgi_codec zlgi_codec_gzip = {
    .name = "gzip",
    .id = "gzip",
    .kind = ZLGI_BYTES_TO_BYTES,
    .configure = zlgi_deflate_configure,
    .encode = encode,
    .decode = decode,
};
