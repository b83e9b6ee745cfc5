/*
 * shuffle: the first bytes of all elements, then the second bytes, and so on (numcodecs
 * "shuffle"; format.md §16). Elements of one byte, or of none, stay as they are. The
 * transposition itself: unshuffle.c.
 */
#include "codec/parts.h"
#include "codec/unshuffle.h"

typedef struct shuffle_config {
    size_t item;
    bool is_new; /* made for a new array */
} shuffle_config;

static zlg_status configure(zlgi_step *step, const zlgi_json *configuration,
                            const zlgi_codec_env *env, zlg_error *err)
{
    int64_t item;
    shuffle_config *config = zlgi_arena_get(env->arena, sizeof *config);
    if (!config)
        return zlgi_no_memory(err, sizeof *config);
    step->config = config;
    ZLGI_TRY(zlgi_config_int(configuration, "elementsize", 0, INT32_MAX, 4, &item, err));
    config->item = (size_t)item;
    config->is_new = env->writing;
    return ZLG_OK;
}

static zlg_status resolve(const zlgi_step *step, const zlgi_edge *from, zlgi_edge *to,
                          zlg_error *err)
{
    const shuffle_config *config = step->config;
    to->n_bytes = from->n_bytes;
    if (config->is_new && config->item > 1 && from->n_bytes != ZLGI_UNKNOWN &&
        from->n_bytes % config->item != 0)
        return zlgi_fail(err, ZLG_METADATA,
                         "chunks of %zu bytes are not elements of %zu, and could not be "
                         "written",
                         from->n_bytes, config->item);
    return ZLG_OK;
}

static zlg_status check_length(size_t n, size_t item, zlg_error *err)
{
    if (n % item != 0)
        return zlgi_fail(err, ZLG_CORRUPT, "%zu bytes are not elements of %zu", n, item);
    return ZLG_OK;
}

static zlg_status encode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_buf *out,
                         zlg_error *err)
{
    const size_t item = ((const shuffle_config *)step->config)->item;
    (void)scratch, (void)from;
    ZLGI_TRY(zlgi_buf_reserve(out, in.n, false, err));
    if (item < 2)
        return zlgi_buf_append(out, in.data, in.n, err);
    ZLGI_TRY(check_length(in.n, item, err));
    zlgi_shuffle(in.data, in.n / item, item, out->data);
    out->n = in.n;
    return ZLG_OK;
}

static zlg_status decode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_out *out,
                         zlg_error *err)
{
    const size_t item = ((const shuffle_config *)step->config)->item;
    uint8_t *memory;
    (void)scratch, (void)from;
    if (item < 2)
        return zlgi_out_view(out, in.data, in.n, err);
    ZLGI_TRY(check_length(in.n, item, err));
    ZLGI_TRY(zlgi_out_memory(out, in.n, &memory, err));
    zlgi_unshuffle(in.data, in.n / item, item, memory);
    return zlgi_out_done(out, in.n, err);
}

const zlgi_codec zlgi_codec_shuffle = {
    .id = "shuffle",
    .kind = ZLGI_BYTES_TO_BYTES,
    .configure = configure,
    .resolve = resolve,
    .encode = encode,
    .decode = decode,
};
