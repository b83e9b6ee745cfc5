/*
 * vlen-utf8: strings of any length, each behind its number of bytes (format.md §12.1,
 * §16). Text that is not UTF-8 is refused both ways.
 */
#include "codec/vlen.h"

static zlg_status configure(zlgi_step *step, const zlgi_json *configuration,
                            const zlgi_codec_env *env, zlg_error *err)
{
    (void)configuration, (void)env;
    if (step->from.dtype->type != ZLG_STRING)
        return zlgi_fail(err, ZLG_METADATA, "it takes strings, not %s",
                         zlgi_type_name(step->from.dtype->type));
    return ZLG_OK;
}

static zlg_status check_text(zlg_status status, const uint8_t *views, size_t n,
                             zlg_error *err)
{
    for (size_t i = 0; i < n; i++) {
        zlgi_view item;
        memcpy(&item, views + i * sizeof item, sizeof item);
        if (!zlgi_utf8_valid(item.data, item.n))
            return zlgi_fail(err, status, "item %zu is not UTF-8", i);
    }
    return ZLG_OK;
}

static zlg_status encode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_buf *out,
                         zlg_error *err)
{
    (void)step, (void)scratch;
    ZLGI_TRY(check_text(ZLG_USAGE, in.data, from->n_elements, err));
    return zlgi_vlen_encode(from, in, out, err);
}

static zlg_status decode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_out *out,
                         zlg_error *err)
{
    (void)step, (void)scratch;
    ZLGI_TRY(zlgi_vlen_decode(from, in, out, err));
    return check_text(ZLG_CORRUPT, out->result.data, from->n_elements, err);
}

const zlgi_codec zlgi_codec_vlen_utf8 = {
    .name = "vlen-utf8",
    .id = "vlen-utf8",
    .kind = ZLGI_ARRAY_TO_BYTES,
    .pass = ZLGI_PASS_WHOLE,
    .flags = ZLGI_CODEC_VARLEN,
    .configure = configure,
    .encode = encode,
    .decode = decode,
};
