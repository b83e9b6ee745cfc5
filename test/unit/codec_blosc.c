/* Blosc containers: the header, round trips over everything the library writes, the same
 * result as the library's, and damage of every kind. */
#include "codec_test.h"

#include "codec/blosc_container.h"

#if ZELLIGE_HAVE_BLOSC
#include <blosc.h>

static const char *const NAMES[] = {"blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"};

static zlgi_bytes elements(size_t n, size_t item)
{
    uint8_t *data = zlgi_arena_get(&arena, n + 1);
    uint64_t seed = 77;
    for (size_t i = 0; i < n; i++)
        data[i] = (uint8_t)(i % item == 0 ? test_random(&seed) : i / item / 50 + i % item);
    return (zlgi_bytes){data, n};
}

/* A container made by the library; n is 0 when it has not this compressor. */
static zlgi_bytes container(zlgi_bytes data, const char *cname, int clevel, int shuffle,
                            size_t item, size_t blocksize)
{
    uint8_t *out = zlgi_arena_get(&arena, data.n + BLOSC_MAX_OVERHEAD);
    int n = blosc_compress_ctx(clevel, shuffle, item, data.n, data.data, out,
                               data.n + BLOSC_MAX_OVERHEAD, cname, blocksize, 1);
    return (zlgi_bytes){out, n > 0 ? (size_t)n : 0};
}

static zlg_status decode(zlgi_bytes stored, size_t expected, uint8_t *into,
                         zlgi_bytes *result)
{
    const char *missing;
    const zlgi_codec *blosc = zlgi_codec_find_v3("blosc", &missing);
    const zlgi_step step = {.codec = blosc};
    const zlgi_edge from = {.n_bytes = expected};
    zlgi_out out = {.direct = into, .expected = expected, .limit = 1 << 26};
    zlg_status status = blosc->decode(&step, scratch, &from, stored, &out, &error);
    *result = out.result;
    return status;
}

static void check(zlgi_bytes stored, zlgi_bytes data, const char *what)
{
    guarded in = guard(stored), room = guard(data);
    uint8_t *into = (uint8_t *)(uintptr_t)room.bytes.data;
    zlgi_bytes result;
    memset(into, 0xee, data.n);
    if (decode(in.bytes, data.n, into, &result) != ZLG_OK)
        fail_msg("%s: %s", what, error.message);
    if (result.n != data.n || memcmp(result.data, data.data, data.n) != 0)
        fail_msg("%s: other bytes", what);
    unguard(&in);
    unguard(&room);
}

/* All blocks one by one, into memory that ends where they do. */
static void check_blocks(zlgi_bytes stored, zlgi_bytes data, const char *what)
{
    const char *missing;
    const zlgi_step step = {.codec = zlgi_codec_find_v3("blosc", &missing)};
    const zlgi_edge from = {.n_bytes = data.n}, other = {.n_bytes = data.n + 1};
    size_t n_block = step.codec->block_bytes(&step, &from, stored);
    assert_int_equal(step.codec->block_bytes(&step, &other, stored), 0);
    for (size_t at = 0; n_block && at < data.n; at += n_block) {
        const zlgi_bytes block = {data.data + at, ZLGI_MIN(n_block, data.n - at)};
        guarded room = guard(block);
        uint8_t *into = (uint8_t *)(uintptr_t)room.bytes.data;
        memset(into, 0xee, block.n);
        if (step.codec->decode_blocks(&step, scratch, stored, at, block.n, into, &error))
            fail_msg("%s: block at %zu: %s", what, at, error.message);
        if (memcmp(into, block.data, block.n) != 0)
            fail_msg("%s: other bytes in the block at %zu", what, at);
        unguard(&room);
    }
}

static void test_all_that_the_library_writes(void **state)
{
    (void)state;
    static const size_t items[] = {1, 2, 3, 4, 8, 16, 255};
    static const size_t sizes[] = {1, 7, 128, 1000, 4096, 140001};
    static const size_t blocks[] = {0, 64};
    for (size_t c = 0; c < ZLGI_COUNT(NAMES); c++)
        for (size_t i = 0; i < ZLGI_COUNT(items); i++)
            for (size_t s = 0; s < ZLGI_COUNT(sizes); s++)
                for (size_t b = 0; b < ZLGI_COUNT(blocks); b++)
                    for (int shuffle = 0; shuffle < 3; shuffle++) {
                        char what[100];
                        const zlgi_bytes data = elements(sizes[s], items[i]);
                        const zlgi_bytes stored =
                            container(data, NAMES[c], 5, shuffle, items[i], blocks[b]);
                        if (stored.n == 0)
                            continue;
                        snprintf(what, sizeof what, "%s, shuffle %d, type %zu, %zu bytes",
                                 NAMES[c], shuffle, items[i], sizes[s]);
                        check(stored, data, what);
                        check_blocks(stored, data, what);
                    }
}

static void test_stored_containers_are_lent(void **state)
{
    (void)state;
    const zlgi_bytes stored =
        hex("02013302 10000000 10000000 20000000 0000010002000300 0400050006000700");
    uint8_t room[16];
    zlgi_bytes result;
    assert_int_equal(decode(stored, 16, room, &result), ZLG_OK);
    assert_ptr_equal(result.data, stored.data + 16);
    assert_int_equal(result.n, 16);
}

static void test_bytes_behind_the_container_do_not_matter(void **state)
{
    (void)state;
    const zlgi_bytes data = elements(5000, 4);
    const zlgi_bytes stored = container(data, "lz4", 5, 1, 4, 0);
    uint8_t *longer = zlgi_arena_get(&arena, stored.n + 16);
    memcpy(longer, stored.data, stored.n);
    memset(longer + stored.n, 0xaa, 16);
    check((zlgi_bytes){longer, stored.n + 16}, data, "with 16 bytes behind it");
}

/* A container of nothing may say that its blocks are large: nobody asks for that memory. */
static void test_an_empty_container(void **state)
{
    (void)state;
    zlgi_bytes result;
    uint8_t room[1];
    heap.peak_bytes = heap.n_bytes;
    const size_t before = heap.n_bytes;
    assert_int_equal(decode(hex("02012104 00000000 ffffff7f 10000000"), 0, room, &result),
                     ZLG_OK);
    assert_int_equal(result.n, 0);
    assert_true(heap.peak_bytes - before < 1 << 16);
}

/* One field of the header, or of a block, replaced. */
static void check_damage(size_t offset, uint32_t value, zlg_status status,
                         const char *message)
{
    const zlgi_bytes data = elements(131072, 4);
    /* Two blocks of four streams. */
    const zlgi_bytes stored = container(data, "lz4", 5, 1, 4, 1024);
    uint8_t *damaged = zlgi_arena_get(&arena, stored.n),
            *room = zlgi_arena_get(&arena, data.n);
    zlgi_bytes result;
    memcpy(damaged, stored.data, stored.n);
    zlgi_store_u32le(damaged + offset, value);
    guarded in = guard((zlgi_bytes){damaged, stored.n});
    zlg_status found = decode(in.bytes, data.n, room, &result);
    unguard(&in);
    if (found != status || !strstr(error.message, message))
        fail_msg("%08x at %zu: %s: %s", value, offset, zlg_status_name(found),
                 error.message);
}

static void test_damaged_containers(void **state)
{
    (void)state;
    check_damage(0, 0x04210103, ZLG_UNSUPPORTED, "container version 3");
    check_damage(0, 0x04210105, ZLG_UNSUPPORTED, "container version 5, not 2");
    check_damage(0, 0x04210106, ZLG_CORRUPT, "container version 6, not 2");
    check_damage(0, 0, ZLG_CORRUPT, "container version 0, not 2");
    check_damage(0, 0x04e10102, ZLG_CORRUPT, "stream format 7 is none");
    check_damage(0, 0x00210102, ZLG_CORRUPT, "type size 0");
    check_damage(4, 131071, ZLG_CORRUPT, "131071 bytes decoded, 131072 expected");
    check_damage(4, 0xffffffff, ZLG_CORRUPT, "4294967295 bytes");
    check_damage(8, 0, ZLG_CORRUPT, "blocks of 0 bytes in 131072");
    check_damage(8, 131073, ZLG_CORRUPT, "blocks of 131073 bytes in 131072");
    check_damage(8, 1, ZLG_CORRUPT, "table of 131072 blocks");
    check_damage(8, 65535, ZLG_CORRUPT, "split into 4 streams");
    check_damage(12, 0xfffffff0, ZLG_CORRUPT, "the header says 4294967280");
    check_damage(12, 15, ZLG_CORRUPT, "15 bytes hold no table of 2 blocks");
    check_damage(16, 0, ZLG_CORRUPT, "block 0 starts at byte 0");
    check_damage(16, 0x7fffffff, ZLG_CORRUPT, "block 0 starts at byte 2147483647");
    check_damage(20, 0xfffffff0, ZLG_CORRUPT, "block 1 starts at byte 4294967280");
    check_damage(24, 0, ZLG_CORRUPT, "block 0: a stream of 0 bytes");
    check_damage(24, 0xffffffff, ZLG_CORRUPT, "block 0: a stream of 4294967295 bytes");
}

static void test_flipped_bits(void **state)
{
    (void)state;
    for (size_t c = 0; c < ZLGI_COUNT(NAMES); c++) {
        const zlgi_bytes data = elements(3000, 4);
        const zlgi_bytes stored = container(data, NAMES[c], 5, 1 + (int)c % 2, 4, 1024);
        uint8_t *damaged = zlgi_arena_get(&arena, stored.n);
        guarded room = guard(data);
        for (size_t bit = 0; bit < stored.n * 8; bit += 1 + bit / 1000) {
            zlgi_bytes result;
            memcpy(damaged, stored.data, stored.n);
            damaged[bit / 8] ^= (uint8_t)(1 << bit % 8);
            guarded in = guard((zlgi_bytes){damaged, stored.n});
            zlg_status status =
                decode(in.bytes, data.n, (uint8_t *)(uintptr_t)room.bytes.data, &result);
            assert_true(status == ZLG_OK || status == ZLG_CORRUPT ||
                        status == ZLG_UNSUPPORTED);
            unguard(&in);
        }
        unguard(&room);
    }
}

/* What configurations of both versions make of themselves. */
static void check_header(const zlgi_chain *chain, size_t n_elements, int flags,
                         int typesize)
{
    const int64_t shape[] = {(int64_t)n_elements};
    const zlgi_layout *layout = layout_of(chain, shape);
    const size_t n = layout->edge[0].n_bytes;
    uint8_t *data = zlgi_arena_get(&arena, n);
    memset(data, 0, n);
    zlgi_buf out;
    zlgi_buf_init(&out, &heap.alloc);
    assert_int_equal(
        zlgi_chain_encode_full(chain, layout, scratch, (zlgi_bytes){data, n}, &out, &error),
        ZLG_OK);
    assert_int_equal(out.data[2] & 0xe5, flags);
    assert_int_equal(out.data[3], typesize);
    zlgi_buf_reset(&out);
}

#define V2(members) "{\"id\": \"blosc\"" members "}"
#define V3(members)                                                                        \
    "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}, "                \
    "{\"name\": \"blosc\", \"configuration\": {" members "}}]"

static void test_configurations(void **state)
{
    (void)state;
    check_header(chain_v2("<i4", 1, "null", V2(""), false), 1000, 0x21, 4);
    check_header(
        chain_v2("<i4", 1, "null", V2(", \"typesize\": 8, \"nthreads\": 3"), false), 1000,
        0x21, 4);
    check_header(chain_v2("|u1", 1, "null", V2(", \"shuffle\": -1"), false), 1000, 0x24, 1);
    check_header(chain_v2("<f8", 1, "null", V2(", \"shuffle\": -1"), false), 1000, 0x21, 8);
    check_header(
        chain_v2("<f8", 1, "null", V2(", \"cname\": \"zstd\", \"shuffle\": 2"), false),
        1000, 0x84, 8);
    check_header(chain_v2("<f8", 1, "[{\"id\": \"zlib\", \"level\": 0}]", V2(""), false),
                 1000, 0x21, 1);
    check_header(
        chain_v3("\"int32\"", 1,
                 V3("\"cname\": \"lz4\", \"clevel\": 5, \"shuffle\": \"bitshuffle\", "
                    "\"typesize\": 2, \"blocksize\": 0")),
        1000, 0x24, 2);
    check_header(chain_v3("\"int32\"", 1,
                          V3("\"cname\": \"blosclz\", \"clevel\": 1, "
                             "\"shuffle\": \"noshuffle\"")),
                 1000, 0x00, 4);
}

static void test_broken_configurations(void **state)
{
    (void)state;
    static const char *const broken[] = {
        V3("\"cname\": \"lz5\""),    V3("\"clevel\": 10"),  V3("\"clevel\": -1"),
        V3("\"shuffle\": \"spin\""), V3("\"shuffle\": 3"),  V3("\"typesize\": 0"),
        V3("\"blocksize\": -1"),     V3("\"shuffle\": []"), V3("\"cname\": 1"),
    };
    for (size_t i = 0; i < ZLGI_COUNT(broken); i++) {
        zlgi_chain *chain;
        if (parse_v3("\"int32\"", 1, broken[i], &chain) != ZLG_METADATA)
            fail_msg("%s is accepted", broken[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        codec_test(test_all_that_the_library_writes),
        codec_test(test_stored_containers_are_lent),
        codec_test(test_bytes_behind_the_container_do_not_matter),
        codec_test(test_an_empty_container),
        codec_test(test_damaged_containers),
        codec_test(test_flipped_bits),
        codec_test(test_configurations),
        codec_test(test_broken_configurations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
    return 0;
}
#endif
