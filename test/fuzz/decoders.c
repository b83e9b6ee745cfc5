/*
 * Stored bytes through every decoder. The first byte chooses a chain, the next two the
 * length of the chunk, the rest is what is stored. Whatever the bytes, a status comes
 * back; a chunk that decodes has its size, and all of it, and all that it points at, can
 * be read.
 *
 * Chains are made once. A codec that no chain below uses stops the program: a new decoder
 * is fuzzed from its first day.
 */
#include <stdio.h>
#include <stdlib.h>

#include "codec/codec.h"

static const zlg_limits limits = {
    .json_depth = 64, .codec_depth = 8, .chunk_bytes = 1 << 20, .index_bytes = 1 << 20};

#define LITTLE "{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}"
#define BIG "{\"name\": \"bytes\", \"configuration\": {\"endian\": \"big\"}}"
#define WITH(name, members) "{\"name\": \"" name "\", \"configuration\": {" members "}}"
#define SHARD(codecs, index, location)                                                     \
    WITH("sharding_indexed",                                                               \
         "\"chunk_shape\": [4], \"codecs\": [" codecs "], \"index_codecs\": [" index       \
         "], \"index_location\": \"" location "\"")

static const struct source {
    const char *type, *codecs;
} sources[] = {
    {"\"int32\"", "[" BIG ", \"crc32c\"]"},
    {"\"int16\"", "[" LITTLE ", \"zstd\"]"},
    {"\"int16\"", "[" LITTLE ", \"gzip\"]"},
    {"\"int16\"", "[" LITTLE ", \"zlib\"]"},
    {"\"float64\"", "[" LITTLE ", \"blosc\"]"},
    {"\"uint8\"", "[" LITTLE ", \"lz4\"]"},
    {"\"uint8\"", "[" LITTLE ", \"bz2\"]"},
    {"\"uint8\"", "[" LITTLE ", \"lzma\"]"},
    {"\"uint8\"", "[" LITTLE "," WITH("lzma", "\"format\": 0") "]"},
    {"\"uint8\"",
     "[" LITTLE
     "," WITH("lzma", "\"format\": 3, \"filters\": [{\"id\": 3}, {\"id\": 33}]") "]"},
    {"\"int32\"", "[" LITTLE ", \"shuffle\", \"adler32\", \"crc32\", \"fletcher32\"]"},
    {"\"uint8\"", "[" LITTLE ", \"jenkins_lookup3\", \"base64\"]"},
    /* Sizes in the middle that nothing tells. */
    {"\"uint8\"", "[" LITTLE ", \"zstd\", \"gzip\", \"zlib\", \"lz4\", \"zstd\"]"},
    {"\"uint8\"", "[" LITTLE ", \"zstd\", \"blosc\", \"bz2\", \"lzma\", \"base64\"]"},
    {"\"int32\"", "[" SHARD(BIG ", \"crc32c\"", LITTLE ", \"crc32c\"", "end") "]"},
    {"\"int32\"", "[" SHARD(LITTLE, LITTLE, "start") ", \"zstd\"]"},
    {"\"int32\"", "[" SHARD(SHARD(LITTLE, BIG, "start"), LITTLE, "end") "]"},
    {"\"string\"", "[" WITH("transpose", "\"order\": [0]") ", \"vlen-utf8\", \"zstd\"]"},
    {"\"string\"", "[" SHARD("\"vlen-utf8\", \"zstd\"", LITTLE, "end") "]"},
    {"\"bytes\"", "[\"vlen-bytes\"]"},
    {"\"string\"", "[\"json2\"]"},
    {"\"int16\"", "[\"json2\"]"},
    {"\"string\"", "[\"msgpack2\"]"},
    {"\"float32\"", "[\"msgpack2\"]"},
    {"\"string\"",
     "[" WITH("categorize", "\"labels\": [\"a\", \"b\"], \"dtype\": \"|O\"") "]"},
    {"\"int32\"",
     "[" WITH("numcodecs.delta", "\"dtype\": \"<i4\", \"astype\": \"<i2\"") "," LITTLE "]"},
    {"\"float32\"", "[" WITH("numcodecs.fixedscaleoffset",
                             "\"scale\": 3, \"offset\": 1, \"dtype\": \"<f4\", "
                             "\"astype\": \"|u1\"") "," LITTLE "]"},
    {"\"float64\"",
     "[" WITH("numcodecs.quantize", "\"digits\": 2, \"dtype\": \"<f8\"") "," LITTLE "]"},
    {"\"float32\"", "[" WITH("bitround", "\"keepbits\": 3") "," LITTLE "]"},
    {"\"float64\"",
     "[" WITH("numcodecs.astype",
              "\"encode_dtype\": \"<f4\", \"decode_dtype\": \"<f8\"") "," LITTLE "]"},
    {"\"int4\"", "[" WITH("packbits", "\"padding_encoding\": \"first_byte\"") "]"},
    {"\"uint16\"", "[" WITH("packbits", "\"first_bit\": 3, \"last_bit\": 9") "]"},
    {"\"bool\"", "[\"numcodecs.packbits\", \"bytes\"]"},
    {"\"float32\"", "[" WITH("cast_value", "\"data_type\": \"int16\"") "," LITTLE "]"},
    {"\"int32\"", "[" WITH("scale_offset", "\"scale\": 2, \"offset\": 5") "," LITTLE "]"},
    {"\"int16\"", "[" WITH("reshape", "\"shape\": [-1, 1]") ", \"squeeze\", " BIG "]"},
    {"\"int16\"",
     "[" WITH("optional", "\"mask_codecs\": [\"packbits\"], \"data_codecs\": [" LITTLE
                          ", \"zstd\"]") "]"},
    {"\"float32\"", "[" WITH("zfp", "\"mode\": \"reversible\"") "]"},
    {"\"int32\"", "[" WITH("zfp", "\"mode\": \"fixed_rate\", \"rate\": 7.0") "]"},
    {"\"float64\"", "[\"zfpy\"]"},
};

enum { N_CHAINS = ZLGI_COUNT(sources) + 1 };
static zlgi_chain *chains[N_CHAINS];
static zlgi_scratch *scratch;
static zlgi_buf pair[2];

static void stop(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    abort();
}

static const zlgi_json *json_of(zlgi_arena *arena, const char *text)
{
    const zlgi_json *json = NULL;
    if (zlgi_json_parse(arena, text, strlen(text), 64, &json, NULL) != ZLG_OK)
        stop(text, "is no JSON");
    return json;
}

static zlgi_chain *make_chain(zlgi_arena *arena, const struct source *source)
{
    const zlgi_codec_env env = {.arena = arena, .limits = &limits};
    zlgi_edge_type from = {.rank = 1};
    zlgi_chain *chain = NULL;
    zlg_error err = {0};
    if (zlgi_dtype_parse_v3(arena, json_of(arena, source->type), &from.dtype, &err) ||
        zlgi_fill_zero(arena, from.dtype, &from.fill, &err))
        stop(source->type, err.message);
    zlg_status status =
        zlgi_chain_parse(&env, json_of(arena, source->codecs), &from, &chain, &err);
    /* A library that is not built in is no fault. */
    if (status != ZLG_OK && !strstr(err.message, "not built in"))
        stop(source->codecs, err.message);
    return status == ZLG_OK ? chain : NULL;
}

/* Lists in lists exist in version 2 only. */
static zlgi_chain *make_chain_of_lists(zlgi_arena *arena)
{
    const char *text = "{\"id\": \"vlen-array\", \"dtype\": \"<i2\"}";
    const zlgi_codec_env env = {.arena = arena, .limits = &limits, .v2 = true};
    zlgi_edge_type from = {.rank = 1};
    zlgi_chain *chain = NULL;
    zlg_error err = {0};
    const zlgi_json *json = json_of(arena, text);
    if (zlgi_dtype_object(arena, "vlen-array", json, &from.dtype, &err) ||
        zlgi_fill_zero(arena, from.dtype, &from.fill, &err) ||
        zlgi_chain_parse_v2(&env, NULL, json, false, &from, &chain, &err))
        stop(text, err.message);
    return chain;
}

static bool is_used(const zlgi_codec *codec)
{
    for (int i = 0; i < N_CHAINS; i++)
        for (int k = 0; chains[i] && k < chains[i]->n_steps; k++)
            if (chains[i]->step[k].codec == codec)
                return true;
    return false;
}

static void make_chains(void)
{
    static zlgi_arena arena;
    zlgi_arena_init(&arena, &zlgi_default_alloc);
    scratch = zlgi_scratch_new(&zlgi_default_alloc, &limits);
    zlgi_buf_init(&pair[0], &zlgi_default_alloc);
    zlgi_buf_init(&pair[1], &zlgi_default_alloc);
    for (size_t i = 0; i < ZLGI_COUNT(sources); i++)
        chains[i] = make_chain(&arena, &sources[i]);
    chains[N_CHAINS - 1] = make_chain_of_lists(&arena);
    for (int i = 0; zlgi_codec_at(i); i++)
        if (!is_used(zlgi_codec_at(i)))
            stop(zlgi_codec_at(i)->name ? zlgi_codec_at(i)->name : zlgi_codec_at(i)->id,
                 "is in no chain of this program");
}

/* Reads every byte. */
static void touch(const uint8_t *data, size_t n)
{
    volatile uint8_t byte = 0;
    for (size_t i = 0; i < n; i++)
        byte = data[i];
    (void)byte;
}

static void read_all(const zlgi_chain *chain, const zlgi_edge *edge, zlgi_bytes decoded)
{
    if (decoded.n != edge->n_bytes)
        abort();
    touch(decoded.data, decoded.n);
    const zlgi_dtype *dtype = chain->step[0].from.dtype;
    if (!zlgi_dtype_is_varlen(dtype))
        return;
    for (size_t i = 0; i < edge->n_elements; i++) {
        zlgi_view view;
        memcpy(&view, decoded.data + i * sizeof view, sizeof view);
        touch(view.data, view.n);
        if (dtype->type == ZLG_STRING && !zlgi_utf8_valid(view.data, view.n))
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    static zlgi_layout layout;
    if (!scratch)
        make_chains();
    if (n_bytes < 3 || data[0] >= N_CHAINS || !chains[data[0]])
        return 0;
    const zlgi_chain *chain = chains[data[0]];
    const int64_t shape[] = {data[1] | data[2] << 8};
    const zlgi_bytes stored = {data + 3, n_bytes - 3};
    zlgi_bytes decoded;
    if (zlgi_chain_layout(chain, shape, &layout, NULL) == ZLG_OK &&
        zlgi_chain_decode(chain, &layout, scratch, stored, NULL, pair, &decoded, NULL) ==
            ZLG_OK)
        read_all(chain, &layout.edge[chain->n_folded], decoded);
    if (scratch->n_spare_used != 0)
        abort();
    return 0;
}
