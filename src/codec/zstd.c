/*
 * zstd: Zstandard frames, RFC 8878 (zarr-extensions "zstd"; format.md §7.4). The only file
 * that calls libzstd.
 *
 * A stored run may hold several frames, skippable ones and frames that do not tell their
 * size; the library walks over all of them. What a frame claims is believed only as far
 * as a frame of that length could honestly make it.
 */
#define ZSTD_STATIC_LINKING_ONLY /* ZSTD_c_blockSplitterLevel */
#include <zstd.h>
#include <zstd_errors.h>

#include "codec/parts.h"

typedef struct zstd_config {
    int level;
    bool checksum;
} zstd_config;

static void *make_decoder(const zlgi_alloc *alloc)
{
    (void)alloc;
    return ZSTD_createDCtx();
}

static void free_decoder(void *context, const zlgi_alloc *alloc)
{
    (void)alloc;
    ZSTD_freeDCtx(context);
}

static void *make_encoder(const zlgi_alloc *alloc)
{
    (void)alloc;
    return ZSTD_createCCtx();
}

static void free_encoder(void *context, const zlgi_alloc *alloc)
{
    (void)alloc;
    ZSTD_freeCCtx(context);
}

static const zlgi_context_type decoder_type = {make_decoder, free_decoder};
static const zlgi_context_type encoder_type = {make_encoder, free_encoder};

static zlg_status configure(zlgi_step *step, const zlgi_json *configuration,
                            const zlgi_codec_env *env, zlg_error *err)
{
    int64_t level;
    const int low = ZSTD_minCLevel(), high = ZSTD_maxCLevel();
    zstd_config *config = zlgi_arena_get(env->arena, sizeof *config);
    if (!config)
        return zlgi_no_memory(err, sizeof *config);
    step->config = config;
    /* numcodecs takes any level and uses the nearest. */
    ZLGI_TRY(zlgi_config_int(configuration, "level", env->v2 ? INT32_MIN : low,
                             env->v2 ? INT32_MAX : high, 0, &level, err));
    config->level = (int)ZLGI_MAX(low, ZLGI_MIN(high, level));
    return zlgi_config_bool(configuration, "checksum", false, &config->checksum, err);
}

static zlg_status encode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_buf *out,
                         zlg_error *err)
{
    const zstd_config *config = step->config;
    (void)from;
    ZSTD_CCtx *context = zlgi_scratch_context(scratch, &encoder_type);
    if (!context)
        return zlgi_no_memory(err, 0);
    ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters);
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, config->level);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, config->checksum);
#ifdef ZSTD_c_blockSplitterLevel
    /* Blocks of 1.5.7 end where the data changes; a chunk is alike all over, and small
       blocks cost time both ways. A library that does not know it ignores it. */
    ZSTD_CCtx_setParameter(context, ZSTD_c_blockSplitterLevel, 1);
#endif
    ZLGI_TRY(zlgi_buf_reserve(out, ZSTD_compressBound(in.n), false, err));
    size_t n = ZSTD_compress2(context, out->data, out->capacity, in.data, in.n);
    if (ZSTD_isError(n))
        return zlgi_fail(err, ZLG_NO_MEMORY, "%s", ZSTD_getErrorName(n));
    out->n = n;
    return ZLG_OK;
}

/* ------------------------------------------------------------------ decode */

static zlg_status refuse(size_t code, zlgi_bytes in, size_t expected, zlg_error *err)
{
    switch (ZSTD_getErrorCode(code)) {
    case ZSTD_error_dstSize_tooSmall:
        return zlgi_fail(err, ZLG_CORRUPT, "more than the expected %zu bytes", expected);
    case ZSTD_error_srcSize_wrong:
        return zlgi_fail(err, ZLG_CORRUPT, "the stored %zu bytes end inside a frame", in.n);
    case ZSTD_error_dictionary_wrong:
        return zlgi_fail(err, ZLG_UNSUPPORTED, "a frame needs a dictionary");
    case ZSTD_error_memory_allocation:
        return zlgi_no_memory(err, 0);
    case ZSTD_error_frameParameter_windowTooLarge:
        return zlgi_fail(err, ZLG_UNSUPPORTED,
                         "a frame has a larger window than libzstd takes");
    default:
        if (expected == ZLGI_UNKNOWN)
            return zlgi_fail(err, ZLG_CORRUPT, "damaged zstd data (%zu bytes): %s", in.n,
                             ZSTD_getErrorName(code));
        return zlgi_fail(err, ZLG_CORRUPT,
                         "damaged zstd data (%zu bytes, %zu expected from them): %s", in.n,
                         expected, ZSTD_getErrorName(code));
    }
}

/* What the frames say they hold, as far as it is credible; ZLGI_UNKNOWN otherwise. */
static size_t claimed_size(zlgi_bytes in)
{
    const uint64_t most = (1 << 20) + (uint64_t)in.n * 1024;
    uint64_t sum = 0;
    for (const uint8_t *p = in.data, *end = in.data + in.n; p < end;) {
        size_t n = (size_t)(end - p);
        uint64_t claim = ZSTD_getFrameContentSize(p, n);
        size_t n_frame = ZSTD_findFrameCompressedSize(p, n);
        if (claim >= ZSTD_CONTENTSIZE_ERROR || ZSTD_isError(n_frame) || claim > most - sum)
            return ZLGI_UNKNOWN;
        sum += claim;
        p += n_frame;
    }
    return (size_t)sum;
}

/* Without a known size: into what the frames claim, or into more and more memory. */
static zlg_status decode_unknown(ZSTD_DCtx *context, zlgi_bytes in, zlgi_out *out,
                                 zlg_error *err)
{
    uint8_t *memory;
    size_t capacity = claimed_size(in);
    if (capacity != ZLGI_UNKNOWN)
        ZLGI_TRY(zlgi_out_memory(out, capacity, &memory, err));
    else
        ZLGI_TRY(zlgi_out_grow(out, 0, &memory, &capacity, err));
    for (;;) {
        size_t n = ZSTD_decompressDCtx(context, memory, capacity, in.data, in.n);
        if (!ZSTD_isError(n))
            return zlgi_out_done(out, n, err);
        if (ZSTD_getErrorCode(n) != ZSTD_error_dstSize_tooSmall)
            return refuse(n, in, out->expected, err);
        ZLGI_TRY(zlgi_out_grow(out, capacity, &memory, &capacity, err));
    }
}

static zlg_status decode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_out *out,
                         zlg_error *err)
{
    (void)step, (void)from;
    ZSTD_DCtx *context = zlgi_scratch_context(scratch, &decoder_type);
    if (!context)
        return zlgi_no_memory(err, 0);
    if (in.n == 0)
        return zlgi_fail(err, ZLG_CORRUPT, "nothing is stored, not even an empty frame");
    if (out->expected == ZLGI_UNKNOWN)
        return decode_unknown(context, in, out, err);
    uint8_t *memory;
    ZLGI_TRY(zlgi_out_memory(out, out->expected, &memory, err));
    size_t n = ZSTD_decompressDCtx(context, memory, out->expected, in.data, in.n);
    if (ZSTD_isError(n))
        return refuse(n, in, out->expected, err);
    return zlgi_out_done(out, n, err);
}

bool zlgi_zstd_stream(zlgi_scratch *scratch, zlgi_bytes in, uint8_t *out, size_t n)
{
    ZSTD_DCtx *context = zlgi_scratch_context(scratch, &decoder_type);
    return context && ZSTD_decompressDCtx(context, out, n, in.data, in.n) == n;
}

const zlgi_codec zlgi_codec_zstd = {
    .name = "zstd",
    .id = "zstd",
    .kind = ZLGI_BYTES_TO_BYTES,
    .configure = configure,
    .encode = encode,
    .decode = decode,
};
