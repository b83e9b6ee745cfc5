/*
 * zlib: RFC 1950 (numcodecs "zlib"; format.md §16). The work: deflate.c.
 */
#include "codec/parts.h"

static zlg_status encode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_buf *out,
                         zlg_error *err)
{
    (void)from;
    return zlgi_deflate_encode(ZLGI_ZLIB, step, scratch, in, out, err);
}

static zlg_status decode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_out *out,
                         zlg_error *err)
{
    (void)step, (void)from;
    return zlgi_deflate_decode(ZLGI_ZLIB, scratch, in, out, err);
}

const zlgi_codec zlgi_codec_zlib = {
    .id = "zlib",
    .kind = ZLGI_BYTES_TO_BYTES,
    .configure = zlgi_deflate_configure,
    .encode = encode,
    .decode = decode,
};
