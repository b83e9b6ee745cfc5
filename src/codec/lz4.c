/*
 * lz4: the uncompressed size as 32 bits, little-endian, and one raw LZ4 block (numcodecs
 * "lz4"; format.md §16). No LZ4 frame. The only file that calls liblz4.
 */
#include "codec/parts.h"

#if ZELLIGE_HAVE_LZ4
#include <lz4.h>

/* One byte of a block makes at most this many. */
enum { SIZE_BYTES = 4, MOST_RATIO = 255 };

typedef struct lz4_config {
    int acceleration;
} lz4_config;

static void *make_encoder(const zlgi_alloc *alloc)
{
    return zlgi_new(alloc, (size_t)LZ4_sizeofState());
}

static void free_encoder(void *context, const zlgi_alloc *alloc)
{
    zlgi_free(alloc, context, (size_t)LZ4_sizeofState());
}

static const zlgi_context_type encoder_type = {make_encoder, free_encoder};

static zlg_status configure(zlgi_step *step, const zlgi_json *configuration,
                            const zlgi_codec_env *env, zlg_error *err)
{
    int64_t acceleration;
    lz4_config *config = zlgi_arena_get(env->arena, sizeof *config);
    if (!config)
        return zlgi_no_memory(err, sizeof *config);
    step->config = config;
    /* The library takes what is out of its range for the nearest. */
    ZLGI_TRY(zlgi_config_int(configuration, "acceleration", INT32_MIN, INT32_MAX, 1,
                             &acceleration, err));
    config->acceleration = (int)acceleration;
    return ZLG_OK;
}

static zlg_status encode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_buf *out,
                         zlg_error *err)
{
    const lz4_config *config = step->config;
    (void)from;
    if (in.n > LZ4_MAX_INPUT_SIZE)
        return zlgi_fail(err, ZLG_LIMIT, "%zu bytes are more than a block holds (%d)", in.n,
                         LZ4_MAX_INPUT_SIZE);
    void *encoder = zlgi_scratch_context(scratch, &encoder_type);
    if (!encoder)
        return zlgi_no_memory(err, (size_t)LZ4_sizeofState());
    const int bound = LZ4_compressBound((int)in.n);
    ZLGI_TRY(zlgi_buf_reserve(out, SIZE_BYTES + (size_t)bound, false, err));
    zlgi_store_u32le(out->data, (uint32_t)in.n);
    int n = LZ4_compress_fast_extState(encoder, (const char *)in.data,
                                       (char *)out->data + SIZE_BYTES, (int)in.n, bound,
                                       config->acceleration);
    out->n = SIZE_BYTES + (size_t)n;
    return ZLG_OK;
}

static zlg_status decode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_out *out,
                         zlg_error *err)
{
    uint8_t *memory;
    (void)step, (void)scratch, (void)from;
    if (in.n < SIZE_BYTES)
        return zlgi_fail(err, ZLG_CORRUPT, "%zu bytes are too few for a size", in.n);
    const size_t n = zlgi_load_u32le(in.data), n_block = in.n - SIZE_BYTES;
    if (n > LZ4_MAX_INPUT_SIZE || n / MOST_RATIO > n_block || n_block > INT32_MAX)
        return zlgi_fail(err, ZLG_CORRUPT, "a block of %zu bytes makes no %zu", n_block, n);
    ZLGI_TRY(zlgi_out_memory(out, n, &memory, err));
    int n_made = LZ4_decompress_safe((const char *)in.data + SIZE_BYTES, (char *)memory,
                                     (int)n_block, (int)n);
    if (n_made < 0)
        return zlgi_fail(err, ZLG_CORRUPT, "damaged block of %zu bytes for %zu", n_block,
                         n);
    if ((size_t)n_made != n)
        return zlgi_fail(err, ZLG_CORRUPT, "the block has %d bytes, its size says %zu",
                         n_made, n);
    return zlgi_out_done(out, n, err);
}

bool zlgi_lz4_stream(zlgi_scratch *scratch, zlgi_bytes in, uint8_t *out, size_t n)
{
    (void)scratch;
    return n <= INT32_MAX && in.n <= INT32_MAX &&
           LZ4_decompress_safe((const char *)in.data, (char *)out, (int)in.n, (int)n) ==
               (int)n;
}

const zlgi_codec zlgi_codec_lz4 = {
    .id = "lz4",
    .kind = ZLGI_BYTES_TO_BYTES,
    .configure = configure,
    .encode = encode,
    .decode = decode,
};
#endif
