/*
 * DEFLATE in its two wraps, gzip (RFC 1952) and zlib (RFC 1950), and the two checksums they
 * bring. The only file that calls libdeflate.
 *
 * libdeflate decodes one member per call into memory of a given size. A run may hold
 * several gzip members; what follows the last one must be none. Checksums and lengths in
 * the trailers are verified by the library.
 */
#include <libdeflate.h>

#include "codec/parts.h"

enum { DEFAULT_LEVEL = 6, MOST_LEVEL = 9 };

/* One byte of DEFLATE makes at most this many. */
enum { MOST_RATIO = 1032 };

typedef struct deflate_config {
    int level;
} deflate_config;

zlg_status zlgi_deflate_configure(zlgi_step *step, const zlgi_json *configuration,
                                  const zlgi_codec_env *env, zlg_error *err)
{
    int64_t level;
    deflate_config *config = zlgi_arena_get(env->arena, sizeof *config);
    if (!config)
        return zlgi_no_memory(err, sizeof *config);
    step->config = config;
    /* -1 is zlib's word for its default. */
    ZLGI_TRY(zlgi_config_int(configuration, "level", -1, MOST_LEVEL, 1, &level, err));
    config->level = level < 0 ? DEFAULT_LEVEL : (int)level;
    return ZLG_OK;
}

/* ------------------------------------------------------------------ encode */

typedef struct encoders {
    struct libdeflate_compressor *level[MOST_LEVEL + 1];
} encoders;

static void *make_encoders(const zlgi_alloc *alloc)
{
    return zlgi_new(alloc, sizeof(encoders));
}

static void free_encoders(void *context, const zlgi_alloc *alloc)
{
    encoders *all = context;
    for (int i = 0; i <= MOST_LEVEL; i++)
        libdeflate_free_compressor(all->level[i]);
    zlgi_free(alloc, all, sizeof *all);
}

static const zlgi_context_type encoders_type = {make_encoders, free_encoders};

static struct libdeflate_compressor *get_encoder(zlgi_scratch *scratch, int level)
{
    encoders *all = zlgi_scratch_context(scratch, &encoders_type);
    if (all && !all->level[level])
        all->level[level] = libdeflate_alloc_compressor(level);
    return all ? all->level[level] : NULL;
}

zlg_status zlgi_deflate_encode(zlgi_deflate_wrap wrap, const zlgi_step *step,
                               zlgi_scratch *scratch, zlgi_bytes in, zlgi_buf *out,
                               zlg_error *err)
{
    const deflate_config *config = step->config;
    struct libdeflate_compressor *encoder = get_encoder(scratch, config->level);
    if (!encoder)
        return zlgi_no_memory(err, 0);
    size_t bound = wrap == ZLGI_GZIP ? libdeflate_gzip_compress_bound(encoder, in.n)
                                     : libdeflate_zlib_compress_bound(encoder, in.n);
    ZLGI_TRY(zlgi_buf_reserve(out, bound, false, err));
    out->n = wrap == ZLGI_GZIP
                 ? libdeflate_gzip_compress(encoder, in.data, in.n, out->data, bound)
                 : libdeflate_zlib_compress(encoder, in.data, in.n, out->data, bound);
    return ZLG_OK;
}

/* ------------------------------------------------------------------ decode */

static void *make_decoder(const zlgi_alloc *alloc)
{
    (void)alloc;
    return libdeflate_alloc_decompressor();
}

static void free_decoder(void *context, const zlgi_alloc *alloc)
{
    (void)alloc;
    libdeflate_free_decompressor(context);
}

static const zlgi_context_type decoder_type = {make_decoder, free_decoder};

/* A first guess of an unknown size: the length field at the end of the last gzip member, if
 * so many bytes can be made of the input. */
static size_t guess(zlgi_deflate_wrap wrap, zlgi_bytes in)
{
    if (wrap != ZLGI_GZIP || in.n < 4)
        return 0;
    size_t n = zlgi_load_u32le(in.data + in.n - 4);
    return n / MOST_RATIO <= in.n ? n : 0;
}

static zlg_status first_memory(zlgi_deflate_wrap wrap, zlgi_bytes in, zlgi_out *out,
                               uint8_t **memory, size_t *capacity, zlg_error *err)
{
    size_t n = out->expected == ZLGI_UNKNOWN ? guess(wrap, in) : 0;
    if (n == 0 || n > out->limit)
        return zlgi_out_grow(out, 0, memory, capacity, err);
    *capacity = n;
    return zlgi_out_memory(out, n, memory, err);
}

zlg_status zlgi_deflate_decode(zlgi_deflate_wrap wrap, zlgi_scratch *scratch, zlgi_bytes in,
                               zlgi_out *out, zlg_error *err)
{
    struct libdeflate_decompressor *decoder = zlgi_scratch_context(scratch, &decoder_type);
    if (!decoder)
        return zlgi_no_memory(err, 0);
    const char *name = wrap == ZLGI_GZIP ? "gzip" : "zlib";
    uint8_t *memory;
    size_t capacity, n_read = 0, n_made = 0;
    ZLGI_TRY(first_memory(wrap, in, out, &memory, &capacity, err));
    do {
        size_t n_in, n_out;
        const uint8_t *member = in.data + n_read;
        enum libdeflate_result result = (wrap == ZLGI_GZIP ? libdeflate_gzip_decompress_ex
                                                           : libdeflate_zlib_decompress_ex)(
            decoder, member, in.n - n_read, memory + n_made, capacity - n_made, &n_in,
            &n_out);
        if (result == LIBDEFLATE_INSUFFICIENT_SPACE) {
            /* The member starts anew in more memory; what came before it is kept. */
            if (out->expected != ZLGI_UNKNOWN)
                return zlgi_fail(err, ZLG_CORRUPT, "more than the expected %zu bytes",
                                 out->expected);
            ZLGI_TRY(zlgi_out_grow(out, capacity, &memory, &capacity, err));
            continue;
        }
        if (result != LIBDEFLATE_SUCCESS && n_read > 0)
            return zlgi_fail(err, ZLG_CORRUPT,
                             "the %zu bytes from byte %zu on are no %s data", in.n - n_read,
                             n_read, name);
        if (result != LIBDEFLATE_SUCCESS)
            return zlgi_fail(err, ZLG_CORRUPT, "damaged %s data (%zu bytes)", name, in.n);
        n_read += n_in;
        n_made += n_out;
    } while (n_read < in.n);
    return zlgi_out_done(out, n_made, err);
}

bool zlgi_zlib_stream(zlgi_scratch *scratch, zlgi_bytes in, uint8_t *out, size_t n)
{
    struct libdeflate_decompressor *decoder = zlgi_scratch_context(scratch, &decoder_type);
    return decoder && libdeflate_zlib_decompress(decoder, in.data, in.n, out, n, NULL) ==
                          LIBDEFLATE_SUCCESS;
}

/* ------------------------------------------------------------------ checksums */

uint32_t zlgi_crc32(const void *data, size_t n)
{
    /* No data means "the start value" to the library, which is the sum of nothing. */
    return libdeflate_crc32(0, data, n);
}

uint32_t zlgi_adler32(const void *data, size_t n)
{
    return n > 0 ? libdeflate_adler32(1, data, n) : 1;
}
