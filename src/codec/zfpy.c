/*
 * zfpy of numcodecs: a ZFP stream behind libzfp's full header (format.md §16). The header
 * has type, shape and mode, so decoding does not look at the configuration.
 */
#include "codec/parts.h"
#include "codec/zfp_stream.h"

#if ZELLIGE_HAVE_ZFP

/* zfpy goes by mode, and a parameter below zero means the reversible one. */
static zlg_status read_mode(const zlgi_json *configuration, zlgi_zfp *zfp, zlg_error *err)
{
    static const struct {
        const char *name;
        zlgi_zfp_mode mode;
    } parameters[6] = {[2] = {"rate", ZLGI_ZFP_RATE},
                       [3] = {"precision", ZLGI_ZFP_PRECISION},
                       [4] = {"tolerance", ZLGI_ZFP_ACCURACY}};
    int64_t mode;
    ZLGI_TRY(zlgi_config_int(configuration, "mode", 0, 5, 4, &mode, err));
    if (parameters[mode].name == NULL)
        return ZLG_OK;
    ZLGI_TRY(
        zlgi_config_double(configuration, parameters[mode].name, -1, &zfp->value, err));
    if (zfp->value >= 0)
        zfp->mode = parameters[mode].mode;
    if (zfp->mode == ZLGI_ZFP_RATE)
        zfp->value = ZLGI_MIN(zfp->value, ZLGI_ZFP_MOST_RATE);
    if (zfp->mode == ZLGI_ZFP_PRECISION)
        zfp->max_precision = (unsigned)ZLGI_MIN(zfp->value, 64);
    return ZLG_OK;
}

static zlg_status configure(zlgi_step *step, const zlgi_json *configuration,
                            const zlgi_codec_env *env, zlg_error *err)
{
    zlgi_zfp *zfp = zlgi_arena_get(env->arena, sizeof *zfp);
    if (zfp == NULL)
        return zlgi_no_memory(err, sizeof *zfp);
    *zfp = (zlgi_zfp){.mode = ZLGI_ZFP_REVERSIBLE, .has_header = true};
    step->config = zfp;
    ZLGI_TRY(zlgi_zfp_type(step->from.dtype, zfp, err));
    if (zfp->coded != zfp->elements.type)
        return zlgi_fail(err, ZLG_METADATA, "it does not take %s",
                         zlgi_type_name(step->from.dtype->type));
    return read_mode(configuration, zfp, err);
}

static zlg_status encode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_buf *out,
                         zlg_error *err)
{
    return zlgi_zfp_encode(step->config, scratch, from, in, out, err);
}

static zlg_status decode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_out *out,
                         zlg_error *err)
{
    return zlgi_zfp_decode(step->config, scratch, from, in, out, err);
}

const zlgi_codec zlgi_codec_zfpy = {
    .id = "zfpy",
    .kind = ZLGI_ARRAY_TO_BYTES,
    .pass = ZLGI_PASS_WHOLE,
    .configure = configure,
    .encode = encode,
    .decode = decode,
};

#endif
