/*
 * Stored bytes as the index of a shard, and as a whole shard. The first byte chooses where
 * the index is and how it is encoded, the next the number of inner chunks, then eight bytes
 * say how long the shard claims to be. An index that decodes points at nothing outside.
 */
#include <stdlib.h>

#include "codec/codec.h"

static const zlg_limits limits = {
    .json_depth = 64, .codec_depth = 8, .chunk_bytes = 1 << 20, .index_bytes = 1 << 20};

#define SHARD(index, location)                                                             \
    "[{\"name\": \"sharding_indexed\", \"configuration\": {\"chunk_shape\": [2, 2], "      \
    "\"codecs\": [\"bytes\"], \"index_codecs\": [" index "], \"index_location\": "         \
    "\"" location "\"}}]"
#define BYTES(endian)                                                                      \
    "{\"name\": \"bytes\", \"configuration\": {\"endian\": \"" endian "\"}}"
#define TURNED "{\"name\": \"transpose\", \"configuration\": {\"order\": [2, 0, 1]}}"

static const char *const sources[] = {
    SHARD(BYTES("little"), "end"),
    SHARD(BYTES("little") ", \"crc32c\"", "end"),
    SHARD(BYTES("big") ", \"crc32c\"", "start"),
    SHARD(TURNED "," BYTES("big"), "start"),
};

static zlgi_chain *chains[ZLGI_COUNT(sources)];
static zlgi_scratch *scratch;

static void make_chains(void)
{
    static zlgi_arena arena;
    static const uint8_t zero;
    zlgi_arena_init(&arena, &zlgi_default_alloc);
    scratch = zlgi_scratch_new(&zlgi_default_alloc, &limits);
    const zlgi_codec_env env = {.arena = &arena, .limits = &limits};
    const zlgi_edge_type from = {
        .dtype = zlgi_dtype_plain(ZLG_UINT8), .rank = 2, .fill = {&zero, 1}};
    for (size_t i = 0; i < ZLGI_COUNT(sources); i++) {
        const zlgi_json *json;
        if (zlgi_json_parse(&arena, sources[i], strlen(sources[i]), 64, &json, NULL) ||
            zlgi_chain_parse(&env, json, &from, &chains[i], NULL))
            abort();
    }
}

static void read_index(const zlgi_chain *chain, int64_t n_side, uint64_t n_bytes_shard,
                       zlgi_bytes stored)
{
    static uint64_t index[2 * 16 * 16];
    const zlgi_sharding *sharding = chain->step[0].config;
    const int64_t shape[] = {2 * n_side, 2 * n_side};
    int64_t grid[ZLG_MAX_RANK];
    uint64_t n_chunks;
    size_t n_index;
    if (zlgi_sharding_layout(sharding, &limits, shape, grid, &n_chunks, &n_index, NULL))
        abort();
    if (stored.n < n_index)
        return;
    const zlgi_bytes part = {stored.data, n_index};
    if (zlgi_sharding_index_decode(sharding, scratch, grid, n_chunks, part, n_bytes_shard,
                                   index, NULL) != ZLG_OK)
        return;
    for (uint64_t i = 0; i < n_chunks; i++) {
        const uint64_t offset = index[2 * i], n = index[2 * i + 1];
        const bool empty = offset == ZLGI_EMPTY && n == ZLGI_EMPTY;
        if (!empty && (offset > n_bytes_shard || n > n_bytes_shard - offset))
            abort();
    }
}

static void read_shard(const zlgi_chain *chain, int64_t n_side, zlgi_bytes stored)
{
    static uint8_t elements[4 * 16 * 16];
    static zlgi_layout layout;
    const int64_t shape[] = {2 * n_side, 2 * n_side};
    if (zlgi_chain_layout(chain, shape, &layout, NULL) == ZLG_OK &&
        zlgi_chain_decode_full(chain, &layout, scratch, stored, elements, NULL) == ZLG_OK &&
        scratch->n_spare_used != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    if (!scratch)
        make_chains();
    if (n_bytes < 10)
        return 0;
    const zlgi_chain *chain = chains[data[0] % ZLGI_COUNT(chains)];
    const int64_t n_side = 1 + data[1] % 16;
    const zlgi_bytes stored = {data + 10, n_bytes - 10};
    read_index(chain, n_side, zlgi_load_u64le(data + 2), stored);
    read_shard(chain, n_side, stored);
    return 0;
}
