/*
 * squeeze: drops the axes of length 1, so that codecs for few axes (zfp) can take more
 * (zarrs documentation, "squeeze"). How many are left depends on the chunk, so codecs that
 * name axes cannot follow. If none is left, one of length 1 is. No byte moves.
 */
#include "codec/codec.h"

static zlg_status configure(zlgi_step *step, const zlgi_json *configuration,
                            const zlgi_codec_env *env, zlg_error *err)
{
    (void)env;
    if (configuration != NULL && configuration->n_items > 0)
        return zlgi_fail(err, ZLG_METADATA, "it has no member \"%s\"",
                         configuration->items->name);
    step->to.rank = -1;
    return ZLG_OK;
}

static zlg_status resolve(const zlgi_step *step, const zlgi_edge *from, zlgi_edge *to,
                          zlg_error *err)
{
    (void)step, (void)err;
    to->rank = 0;
    for (int axis = 0; axis < from->rank; axis++)
        if (from->shape[axis] != 1)
            to->shape[to->rank++] = from->shape[axis];
    if (to->rank == 0)
        to->shape[to->rank++] = 1;
    return ZLG_OK;
}

static zlg_status encode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_buf *out,
                         zlg_error *err)
{
    (void)step, (void)scratch, (void)from;
    ZLGI_TRY(zlgi_buf_reserve(out, in.n, false, err));
    return zlgi_buf_append(out, in.data, in.n, err);
}

static zlg_status decode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_out *out,
                         zlg_error *err)
{
    (void)step, (void)scratch, (void)from;
    return zlgi_out_view(out, in.data, in.n, err);
}

const zlgi_codec zlgi_codec_squeeze = {
    .name = "zarrs.squeeze",
    .alias = "squeeze",
    .kind = ZLGI_ARRAY_TO_ARRAY,
    .pass = ZLGI_PASS_WHOLE,
    .flags = ZLGI_CODEC_VARLEN,
    .configure = configure,
    .resolve = resolve,
    .encode = encode,
    .decode = decode,
};
