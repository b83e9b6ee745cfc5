/*
 * base64: the bytes as standard base64 with padding (numcodecs "base64"; format.md §16).
 */
#include "codec/parts.h"

static zlg_status configure(zlgi_step *step, const zlgi_json *configuration,
                            const zlgi_codec_env *env, zlg_error *err)
{
    (void)step, (void)configuration, (void)env, (void)err;
    return ZLG_OK;
}

static zlg_status resolve(const zlgi_step *step, const zlgi_edge *from, zlgi_edge *to,
                          zlg_error *err)
{
    (void)step;
    if (from->n_bytes == ZLGI_UNKNOWN)
        return ZLG_OK;
    if (!zlgi_mul_size(from->n_bytes / 3 + (from->n_bytes % 3 > 0), 4, &to->n_bytes))
        return zlgi_fail(err, ZLG_LIMIT, "more than 2^64 bytes");
    return ZLG_OK;
}

static zlg_status encode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_buf *out,
                         zlg_error *err)
{
    (void)step, (void)scratch, (void)from;
    out->n = 0;
    return zlgi_base64_encode(in, out, err);
}

static zlg_status decode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_out *out,
                         zlg_error *err)
{
    zlgi_buf made;
    (void)step, (void)from;
    zlgi_buf_init(&made, scratch->alloc);
    zlg_status status = zlgi_base64_decode(in, &made, err);
    /* What is broken here is the chunk, not the document. */
    if (status == ZLG_METADATA)
        status = zlgi_fail(err, ZLG_CORRUPT, "%zu bytes are not base64", in.n);
    if (status == ZLG_OK)
        status = zlgi_out_copy(out, made.data, made.n, err);
    zlgi_buf_reset(&made);
    return status;
}

const zlgi_codec zlgi_codec_base64 = {
    .id = "base64",
    .kind = ZLGI_BYTES_TO_BYTES,
    .configure = configure,
    .resolve = resolve,
    .encode = encode,
    .decode = decode,
};
