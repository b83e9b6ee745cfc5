/* sharding_indexed: layout and index with every check, whole shards both ways. */
#include "codec_test.h"

#define LITTLE "{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}"
#define BIG "{\"name\": \"bytes\", \"configuration\": {\"endian\": \"big\"}}"
#define SHARD(chunk, codecs, index, location)                                              \
    "{\"name\": \"sharding_indexed\", \"configuration\": {\"chunk_shape\": " chunk         \
    ", \"codecs\": [" codecs "], \"index_codecs\": [" index "], \"index_location\": "      \
    "\"" location "\"}}"
#define CHECKED LITTLE ", \"crc32c\""

static const zlgi_sharding *sharding_of(const zlgi_chain *chain)
{
    return chain->step[chain->i_bytes].config;
}

static void encode_whole(const zlgi_chain *chain, const int64_t *shape, zlgi_bytes data,
                         zlgi_buf *out)
{
    zlgi_buf_init(out, &heap.alloc);
    if (zlgi_chain_encode_full(chain, layout_of(chain, shape), scratch, data, out,
                               &error) != ZLG_OK)
        fail_msg("%s", error.message);
}

static zlg_status decode_whole(const zlgi_chain *chain, const int64_t *shape,
                               zlgi_bytes stored, uint8_t *out)
{
    guarded in = guard(stored);
    zlg_status status = zlgi_chain_decode_full(chain, layout_of(chain, shape), scratch,
                                               in.bytes, out, &error);
    unguard(&in);
    return status;
}

/* ------------------------------------------------------------------ known bytes */

static void check_vector(const char *location, const char *expected)
{
    char codecs[500];
    snprintf(codecs, sizeof codecs, "[" SHARD("[2]", LITTLE, CHECKED, "%s") "]", location);
    const zlgi_chain *chain = chain_v3("\"int16\"", 1, codecs);
    const int64_t shape[] = {4};
    const int16_t elements[] = {1, 2, 0, 0};
    int16_t back[4];
    zlgi_buf out;
    encode_whole(chain, shape, (zlgi_bytes){(const uint8_t *)elements, 8}, &out);
    assert_bytes((zlgi_bytes){out.data, out.n}, hex(expected));
    assert_int_equal(decode_whole(chain, shape, hex(expected), (uint8_t *)back), ZLG_OK);
    assert_memory_equal(back, elements, 8);
    zlgi_buf_reset(&out);
}

static void test_known_shards(void **state)
{
    (void)state;
    check_vector("end", "01000200 0000000000000000 0400000000000000 ffffffffffffffff "
                        "ffffffffffffffff 8a0729c5");
    check_vector("start", "2400000000000000 0400000000000000 ffffffffffffffff "
                          "ffffffffffffffff 111ded9e 01000200");
}

/* ------------------------------------------------------------------ configuration */

static void check_refused(const char *codecs, zlg_status status)
{
    char text[1000];
    zlgi_chain *chain;
    snprintf(text, sizeof text, "[%s]", codecs);
    if (parse_v3("\"int32\"", 2, text, &chain) != status)
        fail_msg("%s: %s", codecs, error.message);
}

static void test_broken_configurations(void **state)
{
    (void)state;
    check_refused("\"sharding_indexed\"", ZLG_METADATA);
    check_refused("{\"name\": \"sharding_indexed\", \"configuration\": {}}", ZLG_METADATA);
    check_refused(SHARD("[2, 0]", LITTLE, CHECKED, "end"), ZLG_METADATA);
    check_refused(SHARD("[2, -1]", LITTLE, CHECKED, "end"), ZLG_METADATA);
    check_refused(SHARD("[2, 1.5]", LITTLE, CHECKED, "end"), ZLG_METADATA);
    check_refused(SHARD("[2]", LITTLE, CHECKED, "end"), ZLG_METADATA);
    check_refused(SHARD("7", LITTLE, CHECKED, "end"), ZLG_METADATA);
    check_refused(SHARD("[2, 2]", LITTLE, CHECKED, "middle"), ZLG_METADATA);
    check_refused(SHARD("[2, 2]", "", CHECKED, "end"), ZLG_METADATA);
    check_refused(SHARD("[2, 2]", LITTLE "," LITTLE, CHECKED, "end"), ZLG_METADATA);
    check_refused(SHARD("[2, 2]", LITTLE, "", "end"), ZLG_METADATA);
    check_refused(SHARD("[2, 2]", LITTLE, "\"bytes\"", "end"), ZLG_METADATA);
    check_refused(SHARD("[2, 2]", LITTLE, LITTLE ", \"gzip\"", "end"), ZLG_METADATA);
    check_refused("{\"name\": \"sharding_indexed\", \"configuration\": {\"chunk_shape\": "
                  "[1, 1], \"codecs\": [" LITTLE "]}}",
                  ZLG_METADATA);
    check_refused(SHARD("[2, 2]", "\"zip9\"", CHECKED, "end"), ZLG_UNSUPPORTED);
}

static void test_an_index_without_endian_only_for_single_bytes(void **state)
{
    (void)state;
    zlgi_chain *chain =
        chain_v3("\"uint8\"", 1, "[" SHARD("[2]", "\"bytes\"", "\"bytes\"", "end") "]");
    assert_int_equal(sharding_of(chain)->index_chain->swap.width, 0);
    zlgi_codec_env env = env_of(false);
    env.writing = true;
    const zlgi_edge_type from = edge_of("\"uint8\"", 1);
    assert_int_equal(
        zlgi_chain_parse(&env,
                         json_of("[" SHARD("[2]", "\"bytes\"", "\"bytes\"", "end") "]"),
                         &from, &chain, &error),
        ZLG_METADATA);
}

/* A shard in a shard in a shard: the text from the outside in. */
static zlg_status parse_nested(int depth, zlgi_chain **out)
{
    zlgi_buf text;
    zlgi_buf_init(&text, &heap.alloc);
    for (int i = 0; i < depth; i++)
        assert_int_equal(zlgi_buf_printf(&text, NULL,
                                         "[{\"name\": \"sharding_indexed\", "
                                         "\"configuration\": {\"chunk_shape\": [1], "
                                         "\"index_codecs\": [" LITTLE "], \"codecs\": "),
                         ZLG_OK);
    assert_int_equal(zlgi_buf_printf(&text, NULL, "[" LITTLE "]"), ZLG_OK);
    for (int i = 0; i < depth; i++)
        assert_int_equal(zlgi_buf_printf(&text, NULL, "}}]"), ZLG_OK);
    assert_int_equal(zlgi_buf_append(&text, "", 1, NULL), ZLG_OK);
    zlg_status status = parse_v3("\"int32\"", 1, (const char *)text.data, out);
    zlgi_buf_reset(&text);
    return status;
}

static void test_nesting_has_a_limit(void **state)
{
    (void)state;
    zlgi_chain *chain;
    assert_int_equal(parse_nested(8, &chain), ZLG_OK);
    assert_int_equal(parse_nested(9, &chain), ZLG_LIMIT);
    assert_non_null(strstr(error.message, "codec_depth"));
}

/* As deep as may be, every level with its buffers in use. */
static void test_the_deepest_nesting_works(void **state)
{
    (void)state;
    zlgi_chain *chain;
    assert_int_equal(parse_nested(8, &chain), ZLG_OK);
    const int64_t shape[] = {3};
    const int32_t elements[] = {1, 0, 3};
    int32_t back[3];
    zlgi_buf out;
    encode_whole(chain, shape, (zlgi_bytes){(const uint8_t *)elements, 12}, &out);
    assert_int_equal(
        decode_whole(chain, shape, (zlgi_bytes){out.data, out.n}, (uint8_t *)back), ZLG_OK);
    assert_memory_equal(back, elements, 12);
    zlgi_buf_reset(&out);
}

/* ------------------------------------------------------------------ layout */

static void test_layouts(void **state)
{
    (void)state;
    const zlgi_chain *chain =
        chain_v3("\"int32\"", 2, "[" SHARD("[2, 3]", LITTLE, CHECKED, "end") "]");
    const zlgi_sharding *sharding = sharding_of(chain);
    int64_t grid[ZLG_MAX_RANK];
    uint64_t n_chunks;
    size_t n_index;
    const int64_t fine[] = {8, 9};
    assert_int_equal(
        zlgi_sharding_layout(sharding, &LIMITS, fine, grid, &n_chunks, &n_index, &error),
        ZLG_OK);
    assert_int_equal(grid[0], 4);
    assert_int_equal(grid[1], 3);
    assert_int_equal(n_chunks, 12);
    assert_int_equal(n_index, 12 * 16 + 4);
    const int64_t odd[] = {8, 10};
    assert_int_equal(
        zlgi_sharding_layout(sharding, &LIMITS, odd, grid, &n_chunks, &n_index, &error),
        ZLG_METADATA);
    const int64_t huge[] = {INT64_C(1) << 40, INT64_C(3) << 40};
    assert_int_equal(
        zlgi_sharding_layout(sharding, &LIMITS, huge, grid, &n_chunks, &n_index, &error),
        ZLG_LIMIT);
    const int64_t large[] = {1 << 14, 3 << 13};
    assert_int_equal(
        zlgi_sharding_layout(sharding, &LIMITS, large, grid, &n_chunks, &n_index, &error),
        ZLG_LIMIT);
    assert_non_null(strstr(error.message, "index_bytes"));
}

/* ------------------------------------------------------------------ index */

static zlg_status check_entry(uint64_t offset, uint64_t n)
{
    const zlgi_chain *chain =
        chain_v3("\"uint8\"", 1, "[" SHARD("[4]", "\"bytes\"", BIG, "end") "]");
    const int64_t grid[] = {2};
    const uint64_t index[] = {ZLGI_EMPTY, ZLGI_EMPTY, offset, n};
    uint64_t back[4];
    zlgi_buf out;
    zlgi_buf_init(&out, &heap.alloc);
    assert_int_equal(zlgi_sharding_index_encode(sharding_of(chain), scratch, grid, 2, index,
                                                &out, &error),
                     ZLG_OK);
    assert_int_equal(out.n, 32);
    assert_int_equal(out.data[31], n & 0xff);
    zlg_status status =
        zlgi_sharding_index_decode(sharding_of(chain), scratch, grid, 2,
                                   (zlgi_bytes){out.data, out.n}, 100, back, &error);
    if (status == ZLG_OK)
        assert_memory_equal(back, index, sizeof index);
    zlgi_buf_reset(&out);
    return status;
}

static void test_entries_must_lie_in_the_shard(void **state)
{
    (void)state;
    assert_int_equal(check_entry(0, 4), ZLG_OK);
    assert_int_equal(check_entry(96, 4), ZLG_OK);
    assert_int_equal(check_entry(100, 0), ZLG_OK);
    assert_int_equal(check_entry(ZLGI_EMPTY, ZLGI_EMPTY), ZLG_OK);
    assert_int_equal(check_entry(97, 4), ZLG_CORRUPT);
    assert_int_equal(check_entry(101, 0), ZLG_CORRUPT);
    assert_int_equal(check_entry(0, 101), ZLG_CORRUPT);
    assert_int_equal(check_entry(ZLGI_EMPTY, 4), ZLG_CORRUPT);
    assert_int_equal(check_entry(4, ZLGI_EMPTY), ZLG_CORRUPT);
    assert_int_equal(check_entry(UINT64_MAX - 15, 32), ZLG_CORRUPT);
    assert_int_equal(check_entry(INT64_MAX, INT64_MAX), ZLG_CORRUPT);
    assert_string_equal(
        error.message,
        "shard index: inner chunk 1 lies at byte 9223372036854775807 and has "
        "9223372036854775807 bytes, the shard has 100");
}

/* ------------------------------------------------------------------ whole shards */

static void check_round_trip(const char *type, int rank, const int64_t *shape, size_t item,
                             const char *codecs)
{
    const zlgi_chain *chain = chain_v3(type, rank, codecs);
    int64_t n = 1;
    assert_true(zlgi_product(shape, rank, &n));
    const size_t n_bytes = (size_t)n * item;
    uint8_t *data = zlgi_arena_get(&arena, n_bytes),
            *back = zlgi_arena_get(&arena, n_bytes);
    uint64_t seed = 4711;
    /* Stretches of zeros make empty inner chunks. */
    for (size_t i = 0; i < n_bytes; i++)
        data[i] = i / 200 % 3 ? (uint8_t)test_random(&seed) : 0;
    zlgi_buf out;
    encode_whole(chain, shape, (zlgi_bytes){data, n_bytes}, &out);
    memset(back, 0xee, n_bytes);
    if (decode_whole(chain, shape, (zlgi_bytes){out.data, out.n}, back) != ZLG_OK)
        fail_msg("%s: %s", codecs, error.message);
    assert_memory_equal(back, data, n_bytes);
    for (size_t cut = 1; cut <= out.n; cut += 1 + out.n / 50)
        assert_int_not_equal(
            decode_whole(chain, shape, (zlgi_bytes){out.data, out.n - cut}, back), ZLG_OK);
    zlgi_buf_reset(&out);
}

#define TURN(order) "{\"name\": \"transpose\", \"configuration\": {\"order\": " order "}}"

static void test_round_trips(void **state)
{
    (void)state;
    const int64_t flat[] = {4096}, square[] = {24, 36}, cube[] = {6, 8, 10};
    check_round_trip("\"uint8\"", 1, flat, 1,
                     "[" SHARD("[64]", "\"bytes\"", CHECKED, "end") "]");
    check_round_trip("\"float32\"", 1, flat, 4,
                     "[" SHARD("[4096]", BIG ", \"zstd\"", CHECKED, "start") "]");
    check_round_trip(
        "\"int16\"", 2, square, 2,
        "[" SHARD("[6, 9]", TURN("[1, 0]") "," BIG ", \"gzip\"", BIG, "end") "]");
    check_round_trip("\"int16\"", 2, square, 2,
                     "[" TURN("[1, 0]") "," SHARD("[9, 6]", LITTLE, CHECKED,
                                                  "start") ", \"zstd\", \"crc32c\"]");
    check_round_trip("\"complex128\"", 3, cube, 16,
                     "[" TURN("[2, 0, 1]") "," SHARD("[5, 3, 4]", TURN("[1, 2, 0]") "," BIG,
                                                     CHECKED, "end") "]");
    check_round_trip(
        "\"int64\"", 2, square, 8,
        "[" SHARD("[12, 12]",
                  SHARD("[4, 6]", SHARD("[2, 2]", BIG ", \"crc32c\"", CHECKED, "end"), BIG,
                        "start") ", \"zstd\"",
                  TURN("[2, 0, 1]") "," CHECKED, "end") "]");
}

static void test_negative_zero_is_not_the_fill_value(void **state)
{
    (void)state;
    const zlgi_chain *chain =
        chain_v3("\"float32\"", 1, "[" SHARD("[1]", BIG, LITTLE, "end") "]");
    const int64_t shape[] = {2};
    const float elements[] = {0.0f, -0.0f};
    zlgi_buf out;
    encode_whole(chain, shape, (zlgi_bytes){(const uint8_t *)elements, 8}, &out);
    assert_bytes((zlgi_bytes){out.data, out.n},
                 hex("80000000 ffffffffffffffff ffffffffffffffff 0000000000000000 "
                     "0400000000000000"));
    zlgi_buf_reset(&out);
}

/* The fill value goes through the byte order of the inner chunks, too. */
static void test_fill_values_that_are_not_zero(void **state)
{
    (void)state;
    const uint32_t fill = 0x01020304;
    zlgi_edge_type from = edge_of("\"uint32\"", 1);
    from.fill = (zlgi_fill){(const uint8_t *)&fill, 4};
    const zlgi_codec_env env = env_of(false);
    zlgi_chain *chain;
    assert_int_equal(zlgi_chain_parse(&env,
                                      json_of("[" SHARD("[2]", BIG, LITTLE, "end") "]"),
                                      &from, &chain, &error),
                     ZLG_OK);
    const int64_t shape[] = {4};
    const uint32_t elements[] = {fill, fill, fill, 7};
    uint32_t back[4];
    zlgi_buf out;
    encode_whole(chain, shape, (zlgi_bytes){(const uint8_t *)elements, 16}, &out);
    assert_int_equal(out.n, 8 + 32);
    assert_int_equal(
        decode_whole(chain, shape, (zlgi_bytes){out.data, out.n}, (uint8_t *)back), ZLG_OK);
    assert_memory_equal(back, elements, 16);
    zlgi_buf_reset(&out);
}

/* Texts of inner chunks are collected: each lies in buffers that the next one reuses. */
static void test_shards_of_texts(void **state)
{
    (void)state;
    static const char *const texts[] = {"a", "", "", "", "five five five", "six", "", "8"};
    const zlgi_chain *chain =
        chain_v3("\"string\"", 2,
                 "[" TURN("[1, 0]") "," SHARD("[2, 1]", "\"vlen-utf8\", \"zstd\"", CHECKED,
                                              "end") ", \"crc32c\"]");
    const int64_t shape[] = {2, 4};
    zlgi_view views[8], back[8];
    for (int i = 0; i < 8; i++)
        views[i] = (zlgi_view){(const uint8_t *)texts[i], strlen(texts[i])};
    zlgi_buf out;
    encode_whole(chain, shape, (zlgi_bytes){(const uint8_t *)views, sizeof views}, &out);
    for (int round = 0; round < 2; round++) {
        memset(back, 0, sizeof back);
        assert_int_equal(
            decode_whole(chain, shape, (zlgi_bytes){out.data, out.n}, (uint8_t *)back),
            ZLG_OK);
        for (int i = 0; i < 8; i++) {
            assert_int_equal(back[i].n, strlen(texts[i]));
            if (back[i].n > 0)
                assert_memory_equal(back[i].data, texts[i], back[i].n);
        }
    }
    zlgi_buf_reset(&out);
}

/* A chunk of nothing has an index of nothing. */
static void test_a_shard_without_chunks(void **state)
{
    (void)state;
    const zlgi_chain *chain =
        chain_v3("\"uint8\"", 2, "[" SHARD("[2, 2]", "\"bytes\"", CHECKED, "end") "]");
    const int64_t shape[] = {0, 4};
    uint8_t back[1];
    zlgi_buf out;
    encode_whole(chain, shape, (zlgi_bytes){NULL, 0}, &out);
    assert_bytes((zlgi_bytes){out.data, out.n}, hex("00000000"));
    assert_int_equal(decode_whole(chain, shape, (zlgi_bytes){out.data, out.n}, back),
                     ZLG_OK);
    zlgi_buf_reset(&out);
}

static void test_damage_is_named(void **state)
{
    (void)state;
    const zlgi_chain *chain = chain_v3(
        "\"uint8\"", 1, "[" SHARD("[2]", "\"bytes\", \"crc32c\"", LITTLE, "end") "]");
    const int64_t shape[] = {4};
    uint8_t back[4];
    assert_int_equal(decode_whole(chain, shape, hex("00"), back), ZLG_CORRUPT);
    assert_string_equal(error.message,
                        "codec sharding_indexed: 1 bytes hold no index of 32 bytes");
    assert_int_equal(decode_whole(chain, shape,
                                  hex("010200000000 ffffffffffffffff ffffffffffffffff "
                                      "0000000000000000 0600000000000000"),
                                  back),
                     ZLG_CORRUPT);
    assert_non_null(
        strstr(error.message, "codec sharding_indexed: inner chunk 1: codec crc32c: the "));
}

static void test_missing_memory_is_reported(void **state)
{
    (void)state;
    const zlgi_chain *chain =
        chain_v3("\"int16\"", 2,
                 "[" SHARD("[6, 9]", SHARD("[3, 3]", LITTLE ", \"zstd\"", CHECKED, "end"),
                           CHECKED, "end") "]");
    const int64_t shape[] = {24, 36};
    static uint8_t data[24 * 36 * 2], back[sizeof data];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)i;
    zlgi_buf out;
    encode_whole(chain, shape, (zlgi_bytes){data, sizeof data}, &out);
    const zlgi_layout *layout = layout_of(chain, shape);
    zlg_status status = ZLG_NO_MEMORY;
    for (size_t k = 1; status != ZLG_OK; k++) {
        heap.fail_at = heap.n_calls + k;
        status = zlgi_chain_decode_full(chain, layout, scratch,
                                        (zlgi_bytes){out.data, out.n}, back, &error);
        heap.fail_at = 0;
        assert_true(status == ZLG_OK || status == ZLG_NO_MEMORY);
    }
    assert_memory_equal(back, data, sizeof data);
    zlgi_buf_reset(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        codec_test(test_known_shards),
        codec_test(test_broken_configurations),
        codec_test(test_an_index_without_endian_only_for_single_bytes),
        codec_test(test_nesting_has_a_limit),
        codec_test(test_the_deepest_nesting_works),
        codec_test(test_layouts),
        codec_test(test_entries_must_lie_in_the_shard),
        codec_test(test_round_trips),
        codec_test(test_negative_zero_is_not_the_fill_value),
        codec_test(test_fill_values_that_are_not_zero),
        codec_test(test_shards_of_texts),
        codec_test(test_a_shard_without_chunks),
        codec_test(test_damage_is_named),
        codec_test(test_missing_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
