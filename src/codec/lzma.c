/*
 * lzma: the containers of liblzma, XZ and the older ALONE, and RAW streams whose filters
 * stand in the configuration (numcodecs "lzma"; format.md §16). The only file that calls
 * liblzma.
 *
 * XZ and ALONE describe themselves: their `filters` say how to encode and are ignored when
 * decoding. Decoders get a memory limit: a header may ask for a dictionary of 4 GiB.
 */
#include "codec/parts.h"

#if ZELLIGE_HAVE_LZMA
#include <lzma.h>

/* numcodecs writes Python's numbers. */
enum { FORMAT_AUTO, FORMAT_XZ, FORMAT_ALONE, FORMAT_RAW };

enum { MEMORY_LIMIT = 256 << 20 };

typedef struct lzma_config {
    int format;
    lzma_check check;
    lzma_filter filters[LZMA_FILTERS_MAX + 1];
    union {
        lzma_options_lzma lzma;
        lzma_options_delta delta;
        lzma_options_bcj bcj;
    } options[LZMA_FILTERS_MAX];
} lzma_config;

static void *make_stream(const zlgi_alloc *alloc)
{
    static const lzma_stream initial = LZMA_STREAM_INIT;
    lzma_stream *stream = zlgi_new(alloc, sizeof *stream);
    if (stream)
        *stream = initial;
    return stream;
}

static void free_stream(void *context, const zlgi_alloc *alloc)
{
    lzma_end(context);
    zlgi_free(alloc, context, sizeof(lzma_stream));
}

/* Coders reuse the memory of the one before. */
static const zlgi_context_type stream_type = {make_stream, free_stream};

/* ------------------------------------------------------------------ configuration */

static zlg_status read_preset(const zlgi_json *object, lzma_options_lzma *out,
                              zlg_error *err)
{
    int64_t preset;
    ZLGI_TRY(zlgi_config_int(object, "preset", 0, UINT32_MAX, LZMA_PRESET_DEFAULT, &preset,
                             err));
    if (lzma_lzma_preset(out, (uint32_t)preset))
        return zlgi_fail(err, ZLG_METADATA, "\"preset\" is %lld", (long long)preset);
    return ZLG_OK;
}

static zlg_status read_lzma_options(const zlgi_json *object, lzma_options_lzma *out,
                                    zlg_error *err)
{
    ZLGI_TRY(read_preset(object, out, err));
    const struct {
        const char *name;
        uint32_t *value;
    } members[] = {
        {"dict_size", &out->dict_size},
        {"lc", &out->lc},
        {"lp", &out->lp},
        {"pb", &out->pb},
        {"depth", &out->depth},
        {"nice_len", &out->nice_len},
    };
    int64_t value;
    for (size_t i = 0; i < ZLGI_COUNT(members); i++) {
        ZLGI_TRY(zlgi_config_int(object, members[i].name, 0, UINT32_MAX, *members[i].value,
                                 &value, err));
        *members[i].value = (uint32_t)value;
    }
    ZLGI_TRY(zlgi_config_int(object, "mode", LZMA_MODE_FAST, LZMA_MODE_NORMAL, out->mode,
                             &value, err));
    out->mode = (lzma_mode)value;
    ZLGI_TRY(zlgi_config_int(object, "mf", 0, UINT8_MAX, out->mf, &value, err));
    out->mf = (lzma_match_finder)value;
    return ZLG_OK;
}

static zlg_status read_filter(const zlgi_json *object, lzma_config *config, int i,
                              zlg_error *err)
{
    int64_t id = 0, value;
    const zlgi_json *member =
        object->type == ZLGI_JSON_OBJECT ? zlgi_json_get(object, "id") : NULL;
    if (!member || !zlgi_json_i64(member, &id))
        return zlgi_fail(err, ZLG_METADATA, "\"filters\" holds an entry without an \"id\"");
    config->filters[i].id = (lzma_vli)id;
    config->filters[i].options = &config->options[i];
    switch ((lzma_vli)id) {
    case LZMA_FILTER_LZMA1:
    case LZMA_FILTER_LZMA2:
        return read_lzma_options(object, &config->options[i].lzma, err);
    case LZMA_FILTER_DELTA:
        ZLGI_TRY(zlgi_config_int(object, "dist", LZMA_DELTA_DIST_MIN, LZMA_DELTA_DIST_MAX,
                                 LZMA_DELTA_DIST_MIN, &value, err));
        config->options[i].delta =
            (lzma_options_delta){.type = LZMA_DELTA_TYPE_BYTE, .dist = (uint32_t)value};
        return ZLG_OK;
    case LZMA_FILTER_X86:
    case LZMA_FILTER_POWERPC:
    case LZMA_FILTER_IA64:
    case LZMA_FILTER_ARM:
    case LZMA_FILTER_ARMTHUMB:
    case LZMA_FILTER_SPARC:
        ZLGI_TRY(zlgi_config_int(object, "start_offset", 0, UINT32_MAX, 0, &value, err));
        config->options[i].bcj = (lzma_options_bcj){.start_offset = (uint32_t)value};
        return ZLG_OK;
    default:
        return zlgi_fail(err, ZLG_UNSUPPORTED, "filter %lld is not known", (long long)id);
    }
}

static zlg_status read_filters(const zlgi_json *configuration, lzma_config *config,
                               zlg_error *err)
{
    const zlgi_json *list = configuration ? zlgi_json_get(configuration, "filters") : NULL;
    int n = 0;
    if (list && list->type != ZLGI_JSON_NULL) {
        if (list->type != ZLGI_JSON_ARRAY || list->n_items == 0 ||
            list->n_items > LZMA_FILTERS_MAX)
            return zlgi_fail(err, ZLG_METADATA, "\"filters\" is not a list of 1 to %d",
                             LZMA_FILTERS_MAX);
        for (const zlgi_json *item = list->items; item; item = item->next)
            ZLGI_TRY(read_filter(item, config, n++, err));
    } else if (config->format == FORMAT_RAW) {
        return zlgi_fail(err, ZLG_METADATA, "a raw stream needs \"filters\"");
    } else {
        ZLGI_TRY(read_preset(configuration, &config->options[0].lzma, err));
        config->filters[n++] = (lzma_filter){LZMA_FILTER_LZMA2, &config->options[0]};
    }
    config->filters[n].id = LZMA_VLI_UNKNOWN;
    return ZLG_OK;
}

static zlg_status configure(zlgi_step *step, const zlgi_json *configuration,
                            const zlgi_codec_env *env, zlg_error *err)
{
    int64_t format, check;
    lzma_config *config = zlgi_arena_get(env->arena, sizeof *config);
    if (!config)
        return zlgi_no_memory(err, sizeof *config);
    step->config = config;
    ZLGI_TRY(zlgi_config_int(configuration, "format", FORMAT_AUTO, FORMAT_RAW, FORMAT_XZ,
                             &format, err));
    ZLGI_TRY(
        zlgi_config_int(configuration, "check", -1, LZMA_CHECK_ID_MAX, -1, &check, err));
    config->format = (int)format;
    config->check = check < 0 ? LZMA_CHECK_CRC64 : (lzma_check)check;
    return read_filters(configuration, config, err);
}

/* ------------------------------------------------------------------ encode */

static lzma_ret encode_alone(lzma_config *config, lzma_stream *stream, zlgi_bytes in,
                             zlgi_buf *out)
{
    if (config->filters[0].id != LZMA_FILTER_LZMA1 &&
        config->filters[0].id != LZMA_FILTER_LZMA2)
        return LZMA_OPTIONS_ERROR;
    lzma_ret result = lzma_alone_encoder(stream, &config->options[0].lzma);
    if (result != LZMA_OK)
        return result;
    stream->next_in = in.data;
    stream->avail_in = in.n;
    stream->next_out = out->data;
    stream->avail_out = out->capacity;
    do
        result = lzma_code(stream, LZMA_FINISH);
    while (result == LZMA_OK);
    out->n = out->capacity - stream->avail_out;
    return result == LZMA_STREAM_END ? LZMA_OK : result;
}

static zlg_status encode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_buf *out,
                         zlg_error *err)
{
    lzma_config *config = step->config;
    lzma_stream *stream = zlgi_scratch_context(scratch, &stream_type);
    (void)from;
    if (!stream)
        return zlgi_no_memory(err, sizeof *stream);
    /* The bound is that of XZ with data stored as it is; ALONE and RAW cannot store, but
     * spend less than an eighth on data that resists. */
    ZLGI_TRY(zlgi_buf_reserve(out, lzma_stream_buffer_bound(in.n) + in.n / 8, false, err));
    lzma_ret result =
        config->format == FORMAT_ALONE ? encode_alone(config, stream, in, out)
        : config->format == FORMAT_RAW
            ? lzma_raw_buffer_encode(config->filters, NULL, in.data, in.n, out->data,
                                     &out->n, out->capacity)
            : lzma_stream_buffer_encode(config->filters, config->check, NULL, in.data, in.n,
                                        out->data, &out->n, out->capacity);
    switch (result) {
    case LZMA_OK:
        return ZLG_OK;
    case LZMA_MEM_ERROR:
        return zlgi_no_memory(err, 0);
    default:
        return zlgi_fail(err, ZLG_UNSUPPORTED, "the library refuses the filters (%d)",
                         (int)result);
    }
}

/* ------------------------------------------------------------------ decode */

static lzma_ret start_decoder(const lzma_config *config, lzma_stream *stream)
{
    switch (config->format) {
    case FORMAT_XZ:
        return lzma_stream_decoder(stream, MEMORY_LIMIT, LZMA_CONCATENATED);
    case FORMAT_ALONE:
        return lzma_alone_decoder(stream, MEMORY_LIMIT);
    case FORMAT_RAW:
        if (lzma_raw_decoder_memusage(config->filters) > MEMORY_LIMIT)
            return LZMA_MEMLIMIT_ERROR;
        return lzma_raw_decoder(stream, config->filters);
    default:
        return lzma_auto_decoder(stream, MEMORY_LIMIT, LZMA_CONCATENATED);
    }
}

static zlg_status refuse(lzma_ret result, const lzma_stream *stream, zlgi_bytes in,
                         zlg_error *err)
{
    switch (result) {
    case LZMA_MEM_ERROR:
        return zlgi_no_memory(err, 0);
    case LZMA_MEMLIMIT_ERROR:
        return zlgi_fail(err, ZLG_LIMIT, "the stream asks for more than %d MiB of memory",
                         MEMORY_LIMIT >> 20);
    case LZMA_OPTIONS_ERROR:
        return zlgi_fail(err, ZLG_CORRUPT, "the header asks for what is not known");
    case LZMA_FORMAT_ERROR:
        return zlgi_fail(err, ZLG_CORRUPT, "no header that is known");
    case LZMA_BUF_ERROR:
        return zlgi_fail(err, ZLG_CORRUPT, "the stored %zu bytes end inside a stream",
                         in.n);
    default:
        return zlgi_fail(err, ZLG_CORRUPT, "damaged data before byte %zu of %zu",
                         in.n - stream->avail_in, in.n);
    }
}

/* It stands still with the memory full: for want of room, or of input? The end of a stream
 * is found without room. */
static zlg_status more_room(lzma_stream *stream, zlgi_bytes in, zlgi_out *out,
                            uint8_t **memory, size_t *capacity, zlg_error *err)
{
    const size_t used = *capacity;
    uint8_t spare;
    if (out->expected != ZLGI_UNKNOWN) {
        stream->next_out = &spare;
        stream->avail_out = 1;
        lzma_ret result = lzma_code(stream, LZMA_FINISH);
        if (stream->avail_out > 0)
            return refuse(result, stream, in, err);
    }
    ZLGI_TRY(zlgi_out_grow(out, used, memory, capacity, err));
    stream->next_out = *memory + used;
    stream->avail_out = *capacity - used;
    return ZLG_OK;
}

static zlg_status decode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_out *out,
                         zlg_error *err)
{
    lzma_stream *stream = zlgi_scratch_context(scratch, &stream_type);
    uint8_t *memory;
    size_t capacity;
    (void)from;
    if (!stream)
        return zlgi_no_memory(err, sizeof *stream);
    stream->avail_in = in.n;
    lzma_ret result = start_decoder(step->config, stream);
    if (result != LZMA_OK)
        return refuse(result, stream, in, err);
    ZLGI_TRY(zlgi_out_grow(out, 0, &memory, &capacity, err));
    stream->next_in = in.data;
    stream->next_out = memory;
    stream->avail_out = capacity;
    while (result != LZMA_STREAM_END) {
        result = lzma_code(stream, LZMA_FINISH);
        if (result == LZMA_BUF_ERROR && stream->avail_out == 0)
            ZLGI_TRY(more_room(stream, in, out, &memory, &capacity, err));
        else if (result != LZMA_OK && result != LZMA_STREAM_END)
            return refuse(result, stream, in, err);
    }
    if (stream->avail_in > 0)
        return zlgi_fail(err, ZLG_CORRUPT, "%zu bytes follow the end of the stream",
                         stream->avail_in);
    return zlgi_out_done(out, capacity - stream->avail_out, err);
}

const zlgi_codec zlgi_codec_lzma = {
    .id = "lzma",
    .kind = ZLGI_BYTES_TO_BYTES,
    .configure = configure,
    .encode = encode,
    .decode = decode,
};
#endif
