/*
 * bz2: bzip2 streams, one after the other (numcodecs "bz2"; format.md §16). The only file
 * that calls libbz2.
 */
#include "codec/parts.h"

#if ZELLIGE_HAVE_BZ2
#include <bzlib.h>

typedef struct bz2_config {
    int level;
} bz2_config;

/* The library counts in unsigned int. */
static unsigned part(size_t n)
{
    return n > 1u << 30 ? 1u << 30 : (unsigned)n;
}

static zlg_status configure(zlgi_step *step, const zlgi_json *configuration,
                            const zlgi_codec_env *env, zlg_error *err)
{
    int64_t level;
    bz2_config *config = zlgi_arena_get(env->arena, sizeof *config);
    if (!config)
        return zlgi_no_memory(err, sizeof *config);
    step->config = config;
    ZLGI_TRY(zlgi_config_int(configuration, "level", 1, 9, 1, &level, err));
    config->level = (int)level;
    return ZLG_OK;
}

static zlg_status run_encoder(bz_stream *stream, zlgi_bytes in, zlgi_buf *out,
                              zlg_error *err)
{
    size_t n_read = 0;
    int result;
    do {
        const unsigned n_in = part(in.n - n_read), n_out = part(out->capacity - out->n);
        stream->next_in = (char *)(uintptr_t)(in.data + n_read);
        stream->avail_in = n_in;
        stream->next_out = (char *)out->data + out->n;
        stream->avail_out = n_out;
        result = BZ2_bzCompress(stream, n_read + n_in == in.n ? BZ_FINISH : BZ_RUN);
        n_read += n_in - stream->avail_in;
        out->n += n_out - stream->avail_out;
    } while (result == BZ_RUN_OK || result == BZ_FINISH_OK);
    return result == BZ_STREAM_END
               ? ZLG_OK
               : zlgi_fail(err, ZLG_NO_MEMORY, "the library failed (%d)", result);
}

static zlg_status encode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_buf *out,
                         zlg_error *err)
{
    const bz2_config *config = step->config;
    bz_stream stream = {0};
    (void)scratch, (void)from;
    /* The library promises to stay below a hundredth and 600 bytes more. */
    ZLGI_TRY(zlgi_buf_reserve(out, in.n + in.n / 100 + 601, false, err));
    if (BZ2_bzCompressInit(&stream, config->level, 0, 0) != BZ_OK)
        return zlgi_no_memory(err, 0);
    zlg_status status = run_encoder(&stream, in, out, err);
    BZ2_bzCompressEnd(&stream);
    return status;
}

/* ------------------------------------------------------------------ decode */

typedef struct progress {
    zlgi_bytes in;
    size_t n_read, n_made, capacity;
    uint8_t *memory;
} progress;

static zlg_status cut_off(const progress *p, zlg_error *err)
{
    return zlgi_fail(err, ZLG_CORRUPT, "the stored %zu bytes end inside a stream", p->in.n);
}

/* It stands still with the memory full: for want of room, or of input? The end of a stream
 * is found without room. */
static zlg_status more_room(bz_stream *stream, progress *p, zlgi_out *out, zlg_error *err)
{
    char spare;
    if (out->expected != ZLGI_UNKNOWN) {
        stream->next_out = &spare;
        stream->avail_out = 1;
        BZ2_bzDecompress(stream);
        if (stream->avail_out > 0)
            return cut_off(p, err);
    }
    return zlgi_out_grow(out, p->n_made, &p->memory, &p->capacity, err);
}

/* One stream, from the place that is reached to its end. */
static zlg_status run_decoder(bz_stream *stream, progress *p, zlgi_out *out, zlg_error *err)
{
    for (;;) {
        const unsigned n_in = part(p->in.n - p->n_read),
                       n_out = part(p->capacity - p->n_made);
        stream->next_in = (char *)(uintptr_t)(p->in.data + p->n_read);
        stream->avail_in = n_in;
        stream->next_out = (char *)p->memory + p->n_made;
        stream->avail_out = n_out;
        int result = BZ2_bzDecompress(stream);
        const size_t n_more_in = n_in - stream->avail_in,
                     n_more_out = n_out - stream->avail_out;
        p->n_read += n_more_in;
        p->n_made += n_more_out;
        if (result == BZ_STREAM_END)
            return ZLG_OK;
        if (result == BZ_MEM_ERROR)
            return zlgi_no_memory(err, 0);
        if (result != BZ_OK)
            return zlgi_fail(err, ZLG_CORRUPT, "damaged data before byte %zu of %zu",
                             p->n_read, p->in.n);
        if (n_more_in > 0 || n_more_out > 0)
            continue;
        if (p->n_made < p->capacity)
            return cut_off(p, err);
        ZLGI_TRY(more_room(stream, p, out, err));
    }
}

static zlg_status decode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_out *out,
                         zlg_error *err)
{
    progress p = {.in = in};
    (void)step, (void)scratch, (void)from;
    ZLGI_TRY(zlgi_out_grow(out, 0, &p.memory, &p.capacity, err));
    do {
        bz_stream stream = {0};
        if (BZ2_bzDecompressInit(&stream, 0, 0) != BZ_OK)
            return zlgi_no_memory(err, 0);
        zlg_status status = run_decoder(&stream, &p, out, err);
        BZ2_bzDecompressEnd(&stream);
        ZLGI_TRY(status);
    } while (p.n_read < in.n);
    return zlgi_out_done(out, p.n_made, err);
}

const zlgi_codec zlgi_codec_bz2 = {
    .id = "bz2",
    .kind = ZLGI_BYTES_TO_BYTES,
    .configure = configure,
    .encode = encode,
    .decode = decode,
};
#endif
