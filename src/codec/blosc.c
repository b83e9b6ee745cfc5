/*
 * blosc: the container of C-Blosc 1 (version 3 core, "blosc"; format.md §7.5, §17). The
 * only file that calls the library.
 *
 * A container describes itself, so decoding needs no configuration. The library believes
 * what a header says; blosc_container.c has checked it before.
 */
#include "codec/blosc_container.h"

#if ZELLIGE_HAVE_BLOSC
#include <blosc.h>

typedef struct blosc_config {
    const char *cname;
    int clevel, shuffle;
    size_t typesize, blocksize;
} blosc_config;

/* A word in version 3, a number in numcodecs, where -1 leaves the choice to the size of
 * an element. */
static zlg_status read_shuffle(const zlgi_json *configuration, size_t typesize, int *out,
                               zlg_error *err)
{
    static const char *const choices[] = {"noshuffle", "shuffle", "bitshuffle", NULL};
    const zlgi_json *value = configuration ? zlgi_json_get(configuration, "shuffle") : NULL;
    if (value && value->type == ZLGI_JSON_STRING)
        return zlgi_config_choice(configuration, "shuffle", choices, BLOSC_SHUFFLE, out,
                                  err);
    int64_t number;
    ZLGI_TRY(zlgi_config_int(configuration, "shuffle", -1, BLOSC_BITSHUFFLE, BLOSC_SHUFFLE,
                             &number, err));
    if (number < 0)
        number = typesize == 1 ? BLOSC_BITSHUFFLE : BLOSC_SHUFFLE;
    *out = (int)number;
    return ZLG_OK;
}

static zlg_status configure(zlgi_step *step, const zlgi_json *configuration,
                            const zlgi_codec_env *env, zlg_error *err)
{
    static const char *const names[] = {"blosclz", "lz4",  "lz4hc", "snappy",
                                        "zlib",    "zstd", NULL};
    int64_t clevel, typesize, blocksize;
    int name;
    blosc_config *config = zlgi_arena_get(env->arena, sizeof *config);
    if (!config)
        return zlgi_no_memory(err, sizeof *config);
    step->config = config;
    ZLGI_TRY(zlgi_config_choice(configuration, "cname", names, 1, &name, err));
    ZLGI_TRY(zlgi_config_int(configuration, "clevel", 0, 9, 5, &clevel, err));
    ZLGI_TRY(zlgi_config_int(configuration, "blocksize", 0, INT32_MAX, 0, &blocksize, err));
    /* Version 2 goes by the elements, whatever else a document says. */
    typesize = (int64_t)step->from.item;
    if (!env->v2)
        ZLGI_TRY(zlgi_config_int(configuration, "typesize", 1, INT32_MAX, typesize,
                                 &typesize, err));
    config->cname = names[name];
    config->clevel = (int)clevel;
    config->blocksize = (size_t)blocksize;
    config->typesize = (size_t)ZLGI_MAX(typesize, 1);
    return read_shuffle(configuration, config->typesize, &config->shuffle, err);
}

static zlg_status encode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_buf *out,
                         zlg_error *err)
{
    const blosc_config *config = step->config;
    (void)scratch, (void)from;
    if (in.n > BLOSC_MAX_BUFFERSIZE)
        return zlgi_fail(err, ZLG_LIMIT, "%zu bytes are more than a container holds (%d)",
                         in.n, BLOSC_MAX_BUFFERSIZE);
    ZLGI_TRY(zlgi_buf_reserve(out, in.n + BLOSC_MAX_OVERHEAD, false, err));
    int n = blosc_compress_ctx(config->clevel, config->shuffle, config->typesize, in.n,
                               in.data, out->data, in.n + BLOSC_MAX_OVERHEAD, config->cname,
                               config->blocksize, 1);
    if (n <= 0)
        return zlgi_fail(err, ZLG_UNSUPPORTED, "the library was built without %s",
                         config->cname);
    out->n = (size_t)n;
    return ZLG_OK;
}

/* The library decodes; what it would believe is checked before. */
static zlg_status decode_by_library(const zlgi_blosc *container, uint8_t *out,
                                    zlg_error *err)
{
    for (size_t i = 0; i < container->n_blocks; i++) {
        zlgi_blosc_block block;
        zlgi_bytes stream;
        ZLGI_TRY(zlgi_blosc_block_open(container, i, &block, err));
        for (size_t k = 0; k < block.n_streams; k++)
            ZLGI_TRY(zlgi_blosc_block_next(&block, &stream, err));
    }
    if (container->n_bytes == 0)
        return ZLG_OK;
    int n = blosc_decompress_ctx(container->in.data, out, container->n_bytes, 1);
    if (n < 0 || (size_t)n != container->n_bytes)
        return zlgi_fail(err, ZLG_CORRUPT, "damaged streams (%s)", container->format_name);
    return ZLG_OK;
}

static zlg_status decode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_out *out,
                         zlg_error *err)
{
    zlgi_blosc container;
    uint8_t *memory;
    (void)step, (void)from;
    ZLGI_TRY(zlgi_blosc_open(in, &container, err));
    if (container.stored)
        return zlgi_out_view(out, in.data + ZLGI_BLOSC_HEADER, container.n_bytes, err);
    ZLGI_TRY(zlgi_out_memory(out, container.n_bytes, &memory, err));
    ZLGI_TRY(
        zlgi_blosc_decodes(&container)
            ? zlgi_blosc_decode(&container, 0, container.n_blocks, scratch, memory, err)
            : decode_by_library(&container, memory, err));
    return zlgi_out_done(out, container.n_bytes, err);
}

static size_t block_bytes(const zlgi_step *step, const zlgi_edge *from, zlgi_bytes in)
{
    zlgi_blosc container;
    (void)step;
    if (zlgi_blosc_open(in, &container, NULL) != ZLG_OK || container.stored ||
        container.n_bytes != from->n_bytes || !zlgi_blosc_decodes(&container))
        return 0;
    return container.blocksize;
}

static zlg_status decode_blocks(const zlgi_step *step, zlgi_scratch *scratch, zlgi_bytes in,
                                size_t offset, size_t n, uint8_t *out, zlg_error *err)
{
    zlgi_blosc container;
    (void)step;
    ZLGI_TRY(zlgi_blosc_open(in, &container, err));
    const size_t first = offset / container.blocksize;
    const size_t end = (offset + n + container.blocksize - 1) / container.blocksize;
    return zlgi_blosc_decode(&container, first, end - first, scratch, out, err);
}

const zlgi_codec zlgi_codec_blosc = {
    .name = "blosc",
    .id = "blosc",
    .kind = ZLGI_BYTES_TO_BYTES,
    .configure = configure,
    .encode = encode,
    .decode = decode,
    .block_bytes = block_bytes,
    .decode_blocks = decode_blocks,
};
#endif
