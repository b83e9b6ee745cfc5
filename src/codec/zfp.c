/*
 * zfp of the version 3 registry: a bare ZFP stream whose parameters stand in the
 * configuration (format.md §12.1). One to four axes; more of them need squeeze in front.
 */
#include <float.h>

#include "codec/zfp_stream.h"

#if ZELLIGE_HAVE_ZFP

static zlg_status require(const zlgi_json *configuration, const char *name, zlg_error *err)
{
    if (zlgi_json_get(configuration, name) == NULL)
        return zlgi_fail(err, ZLG_METADATA, "\"%s\" is missing", name);
    return ZLG_OK;
}

static zlg_status read_number(const zlgi_json *configuration, const char *name, double most,
                              double *out, zlg_error *err)
{
    ZLGI_TRY(require(configuration, name, err));
    ZLGI_TRY(zlgi_config_double(configuration, name, 0, out, err));
    if (!(*out >= 0 && *out <= most))
        return zlgi_fail(err, ZLG_METADATA, "\"%s\" is %g", name, *out);
    return ZLG_OK;
}

static zlg_status read_count(const zlgi_json *configuration, const char *name, int64_t most,
                             unsigned *out, zlg_error *err)
{
    int64_t value;
    ZLGI_TRY(require(configuration, name, err));
    ZLGI_TRY(zlgi_config_int(configuration, name, 0, most, 0, &value, err));
    *out = (unsigned)value;
    return ZLG_OK;
}

static zlg_status read_expert(const zlgi_json *configuration, zlgi_zfp *zfp, zlg_error *err)
{
    int64_t min_exponent;
    ZLGI_TRY(
        read_count(configuration, "minbits", ZLGI_ZFP_BLOCK_BITS, &zfp->min_bits, err));
    ZLGI_TRY(
        read_count(configuration, "maxbits", ZLGI_ZFP_BLOCK_BITS, &zfp->max_bits, err));
    ZLGI_TRY(read_count(configuration, "maxprec", 64, &zfp->max_precision, err));
    ZLGI_TRY(require(configuration, "minexp", err));
    ZLGI_TRY(zlgi_config_int(configuration, "minexp", -1075, 1024, 0, &min_exponent, err));
    zfp->min_exponent = (int)min_exponent;
    if (zfp->min_bits > zfp->max_bits)
        return zlgi_fail(err, ZLG_METADATA, "\"minbits\" is above \"maxbits\"");
    return ZLG_OK;
}

static zlg_status configure(zlgi_step *step, const zlgi_json *configuration,
                            const zlgi_codec_env *env, zlg_error *err)
{
    /* In the order of zlgi_zfp_mode. */
    static const char *const modes[] = {"reversible", "expert",          "fixed_accuracy",
                                        "fixed_rate", "fixed_precision", NULL};
    zlgi_zfp *zfp = zlgi_arena_get(env->arena, sizeof *zfp);
    if (zfp == NULL)
        return zlgi_no_memory(err, sizeof *zfp);
    *zfp = (zlgi_zfp){.mode = ZLGI_ZFP_REVERSIBLE};
    step->config = zfp;
    if (step->from.rank > 4)
        return zlgi_fail(err, ZLG_UNSUPPORTED, "%d axes, at most 4 are known",
                         step->from.rank);
    ZLGI_TRY(zlgi_zfp_type(step->from.dtype, zfp, err));
    int mode;
    ZLGI_TRY(require(configuration, "mode", err));
    ZLGI_TRY(zlgi_config_choice(configuration, "mode", modes, 0, &mode, err));
    zfp->mode = (zlgi_zfp_mode)mode;
    switch (zfp->mode) {
    case ZLGI_ZFP_REVERSIBLE:
        return ZLG_OK;
    case ZLGI_ZFP_EXPERT:
        return read_expert(configuration, zfp, err);
    case ZLGI_ZFP_ACCURACY:
        return read_number(configuration, "tolerance", DBL_MAX, &zfp->value, err);
    case ZLGI_ZFP_RATE:
        return read_number(configuration, "rate", ZLGI_ZFP_MOST_RATE, &zfp->value, err);
    case ZLGI_ZFP_PRECISION:
        break;
    }
    return read_count(configuration, "precision", 64, &zfp->max_precision, err);
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

const zlgi_codec zlgi_codec_zfp = {
    .name = "zfp",
    .alias = "zarrs.zfp",
    .kind = ZLGI_ARRAY_TO_BYTES,
    .pass = ZLGI_PASS_WHOLE,
    .configure = configure,
    .encode = encode,
    .decode = decode,
};

#endif
