/* Chains: which are legal, how they fold, what sizes they know, how they run. */
#include "codec_test.h"

#define LITTLE "{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}"
#define BIG "{\"name\": \"bytes\", \"configuration\": {\"endian\": \"big\"}}"
#define TRANSPOSE(order)                                                                   \
    "{\"name\": \"transpose\", \"configuration\": {\"order\": " order "}}"
#define ZSTD "{\"name\": \"zstd\", \"configuration\": {\"level\": 1}}"

/* ------------------------------------------------------------------ parsing */

static void check_refused(const char *codecs, zlg_status status, const char *message)
{
    zlgi_chain *chain;
    zlg_status found = parse_v3("\"int32\"", 2, codecs, &chain);
    if (found != status)
        fail_msg("%s: %s (%s)", codecs, zlg_status_name(found), error.message);
    assert_string_equal(error.message, message);
}

static void test_kinds_must_follow_each_other(void **state)
{
    (void)state;
    check_refused("[]", ZLG_METADATA, "no codec turns the elements into bytes");
    check_refused("[" TRANSPOSE("[1, 0]") "]", ZLG_METADATA,
                  "no codec turns the elements into bytes");
    check_refused(
        "[" ZSTD "]", ZLG_METADATA,
        "codec zstd: it takes bytes, but stands where elements are not bytes yet");
    check_refused(
        "[" LITTLE "," LITTLE "]", ZLG_METADATA,
        "codec bytes: it takes elements, but stands where they are bytes already");
    check_refused(
        "[" LITTLE "," TRANSPOSE("[1, 0]") "]", ZLG_METADATA,
        "codec transpose: it takes elements, but stands where they are bytes already");
}

static void test_definitions(void **state)
{
    (void)state;
    zlgi_chain *chain = chain_v3("\"uint8\"", 1, "[\"bytes\", \"crc32c\"]");
    assert_int_equal(chain->n_steps, 2);
    chain = chain_v3(
        "\"uint8\"", 1,
        "[{\"name\": \"bytes\", \"configuration\": {}, \"must_understand\": true}]");
    assert_int_equal(chain->n_steps, 1);
    check_refused("{}", ZLG_METADATA, "\"codecs\" is not a list");
    check_refused("[7]", ZLG_METADATA, "a codec has no name");
    check_refused("[{}]", ZLG_METADATA, "a codec has no name");
    check_refused("[{\"name\": 7}]", ZLG_METADATA, "a codec has no name");
    check_refused("[{\"name\": \"bytes\", \"configuration\": []}]", ZLG_METADATA,
                  "codec bytes: \"configuration\" is not an object");
    check_refused("[\"zip9\"]", ZLG_UNSUPPORTED, "codec zip9: not known");
    check_refused("[{\"name\": \"zip9\", \"must_understand\": false}, " LITTLE "]",
                  ZLG_UNSUPPORTED, "codec zip9: not known");
}

static void test_too_many_codecs(void **state)
{
    (void)state;
    check_refused("[" LITTLE
                  ", \"crc32c\", \"crc32c\", \"crc32c\", \"crc32c\", \"crc32c\", "
                  "\"crc32c\", \"crc32c\", \"crc32c\", \"crc32c\", \"crc32c\", \"crc32c\", "
                  "\"crc32c\", \"crc32c\", \"crc32c\", \"crc32c\", \"crc32c\"]",
                  ZLG_LIMIT, "a chain of more than 16 codecs");
}

static void test_filters_of_version_2(void **state)
{
    (void)state;
    zlgi_chain *chain = chain_v2("<i4", 2, "null", "null", false);
    assert_int_equal(chain->n_steps, 1);
    assert_int_equal(chain->n_folded, 1);
    chain = chain_v2("<i4", 2, "[]", "{\"id\": \"zlib\", \"level\": 1}", false);
    assert_int_equal(chain->n_steps, 2);
    chain = chain_v2("<i4", 2, "[{\"id\": \"shuffle\"}, {\"id\": \"crc32\"}]",
                     "{\"id\": \"gzip\"}", true);
    assert_int_equal(chain->n_steps, 5);
    assert_int_equal(chain->n_transposes, 1);
    assert_int_equal(chain->order[0], 1);
    assert_int_equal(chain->order[1], 0);
    chain = chain_v2("<i4", 1, "null", "null", true);
    assert_int_equal(chain->n_steps, 1);

    assert_int_equal(parse_v2("<i4", 1, "{}", "null", false, &chain), ZLG_METADATA);
    assert_int_equal(parse_v2("<i4", 1, "[{}]", "null", false, &chain), ZLG_METADATA);
    assert_int_equal(parse_v2("<i4", 1, "null", "\"zlib\"", false, &chain), ZLG_METADATA);
    assert_int_equal(parse_v2("<i4", 1, "null", "{\"id\": 3}", false, &chain),
                     ZLG_METADATA);
    assert_int_equal(parse_v2("<i4", 1, "[{\"id\": \"zip9\"}]", "null", false, &chain),
                     ZLG_UNSUPPORTED);
}

/* ------------------------------------------------------------------ folding */

static void test_transposes_fold_into_one_order(void **state)
{
    (void)state;
    const zlgi_chain *chain = chain_v3(
        "\"int16\"", 3, "[" TRANSPOSE("[1, 2, 0]") "," TRANSPOSE("[1, 0, 2]") "," BIG "]");
    assert_int_equal(chain->n_transposes, 2);
    assert_int_equal(chain->n_folded, 3);
    assert_int_equal(chain->i_bytes, 2);
    /* Axes 0 1 2 become 1 2 0, then 2 1 0. */
    assert_int_equal(chain->order[0], 2);
    assert_int_equal(chain->order[1], 1);
    assert_int_equal(chain->order[2], 0);
    assert_int_equal(chain->swap.width, 2);
    const int64_t shape[] = {2, 3, 4};
    const zlgi_layout *layout = layout_of(chain, shape);
    assert_int_equal(layout->edge[1].shape[0], 3);
    assert_int_equal(layout->edge[1].shape[1], 4);
    assert_int_equal(layout->edge[1].shape[2], 2);
    assert_int_equal(layout->edge[2].shape[0], 4);
    assert_int_equal(layout->edge[2].shape[1], 3);
    assert_int_equal(layout->edge[2].n_elements, 24);
}

static void test_little_endian_needs_no_swap_here(void **state)
{
    (void)state;
    const zlgi_chain *chain = chain_v3("\"float64\"", 1, "[" LITTLE "]");
    assert_int_equal(chain->swap.width, 0);
    assert_false(chain->normalize);
    chain = chain_v3("\"bool\"", 1, "[\"bytes\"]");
    assert_true(chain->normalize);
}

static void test_whole_chunks_are_unfolded(void **state)
{
    (void)state;
    const zlgi_chain *chain =
        chain_v3("\"uint16\"", 2, "[" TRANSPOSE("[1, 0]") "," BIG ", \"crc32c\"]");
    const int64_t shape[] = {2, 3};
    const zlgi_layout *layout = layout_of(chain, shape);
    const uint16_t elements[] = {1, 2, 3, 4, 5, 6};
    const zlgi_bytes data = {(const uint8_t *)elements, sizeof elements};
    zlgi_buf out;
    zlgi_buf_init(&out, &heap.alloc);
    assert_int_equal(zlgi_chain_encode_full(chain, layout, scratch, data, &out, &error),
                     ZLG_OK);
    assert_int_equal(out.n, 16);
    const zlgi_bytes body = {out.data, 12};
    assert_bytes(body, hex("0001 0004 0002 0005 0003 0006"));
    uint16_t back[6];
    assert_int_equal(zlgi_chain_decode_full(chain, layout, scratch,
                                            (zlgi_bytes){out.data, out.n}, (uint8_t *)back,
                                            &error),
                     ZLG_OK);
    assert_memory_equal(back, elements, sizeof elements);
    zlgi_buf_reset(&out);
}

static void test_booleans_become_0_and_1(void **state)
{
    (void)state;
    const zlgi_chain *chain = chain_v3("\"bool\"", 1, "[\"bytes\"]");
    const int64_t shape[] = {4};
    uint8_t back[4];
    assert_int_equal(zlgi_chain_decode_full(chain, layout_of(chain, shape), scratch,
                                            hex("00 01 02 ff"), back, &error),
                     ZLG_OK);
    assert_memory_equal(back, "\0\1\1\1", 4);
}

/* ------------------------------------------------------------------ sizes */

static void test_sizes_that_are_known(void **state)
{
    (void)state;
    const int64_t shape[] = {10, 3};
    const zlgi_chain *chain =
        chain_v3("\"int32\"", 2,
                 "[" LITTLE ", \"crc32c\", \"numcodecs.base64\", " ZSTD ", \"crc32c\"]");
    const zlgi_layout *layout = layout_of(chain, shape);
    assert_int_equal(layout->edge[0].n_bytes, 120);
    assert_int_equal(layout->edge[1].n_bytes, 120);
    assert_int_equal(layout->edge[2].n_bytes, 124);
    assert_int_equal(layout->edge[3].n_bytes, 168);
    assert_true(layout->edge[4].n_bytes == ZLGI_UNKNOWN);
    assert_true(layout->edge[5].n_bytes == ZLGI_UNKNOWN);
}

static void test_sizes_that_overflow(void **state)
{
    (void)state;
    zlgi_layout *layout = zlgi_arena_get(&arena, sizeof *layout);
    const zlgi_chain *chain = chain_v3("\"int32\"", 2, "[" LITTLE "]");
    const int64_t too_many[] = {INT64_C(1) << 32, INT64_C(1) << 31};
    assert_int_equal(zlgi_chain_layout(chain, too_many, layout, &error), ZLG_LIMIT);
    const int64_t too_large[] = {INT64_C(1) << 31, INT64_C(1) << 30};
    assert_int_equal(zlgi_chain_layout(chain, too_large, layout, &error), ZLG_LIMIT);
    const int64_t large[] = {INT64_C(1) << 30, INT64_C(1) << 30};
    assert_int_equal(zlgi_chain_layout(chain, large, layout, &error), ZLG_OK);
    assert_true(layout->edge[1].n_bytes == (size_t)1 << 62);
}

static void test_scalars_and_empty_chunks(void **state)
{
    (void)state;
    const zlgi_chain *chain = chain_v3("\"int16\"", 0, "[" TRANSPOSE("[]") "," BIG "]");
    int16_t back = 0;
    assert_int_equal(zlgi_chain_decode_full(chain, layout_of(chain, NULL), scratch,
                                            hex("0102"), (uint8_t *)&back, &error),
                     ZLG_OK);
    assert_int_equal(back, 0x0102);
    const int64_t shape[] = {0, 5};
    chain = chain_v3("\"int16\"", 2, "[" LITTLE "," ZSTD "]");
    const zlgi_layout *layout = layout_of(chain, shape);
    assert_int_equal(layout->edge[0].n_elements, 0);
    zlgi_buf out;
    zlgi_buf_init(&out, &heap.alloc);
    assert_int_equal(
        zlgi_chain_encode_full(chain, layout, scratch, (zlgi_bytes){NULL, 0}, &out, &error),
        ZLG_OK);
    assert_int_equal(zlgi_chain_decode_full(chain, layout, scratch,
                                            (zlgi_bytes){out.data, out.n}, (uint8_t *)&back,
                                            &error),
                     ZLG_OK);
    zlgi_buf_reset(&out);
}

/* ------------------------------------------------------------------ running */

static void test_uncompressed_chunks_are_lent(void **state)
{
    (void)state;
    const zlgi_chain *chain = chain_v3("\"int32\"", 1, "[" LITTLE "]");
    const int64_t shape[] = {2};
    const zlgi_layout *layout = layout_of(chain, shape);
    const zlgi_bytes stored = hex("0100000002000000");
    zlgi_buf pair[2];
    zlgi_bytes out;
    zlgi_buf_init(&pair[0], &heap.alloc);
    zlgi_buf_init(&pair[1], &heap.alloc);
    assert_int_equal(
        zlgi_chain_decode(chain, layout, scratch, stored, NULL, pair, &out, &error),
        ZLG_OK);
    assert_ptr_equal(out.data, stored.data);
    const zlgi_bytes cut = {stored.data, 7};
    assert_int_equal(
        zlgi_chain_decode(chain, layout, scratch, cut, NULL, pair, &out, &error),
        ZLG_CORRUPT);
    assert_string_equal(error.message, "codec bytes: 7 bytes are stored, 8 expected");
    chain = chain_v3("\"int32\"", 1, "[" LITTLE ", \"crc32c\"]");
    assert_int_equal(zlgi_chain_decode(chain, layout_of(chain, shape), scratch,
                                       hex("0100000002000000 00000000"), NULL, pair, &out,
                                       &error),
                     ZLG_CORRUPT);
    assert_non_null(strstr(error.message, "codec crc32c: the checksum of 8 bytes is"));
}

/* Many steps: each writes into the buffer that the one before left free. */
static void test_long_chains_use_two_buffers(void **state)
{
    (void)state;
    const zlgi_chain *chain = chain_v3(
        "\"int32\"", 1,
        "[" LITTLE
        ", {\"name\": \"numcodecs.shuffle\", \"configuration\": {\"elementsize\": 4}}, "
        "\"crc32c\", " ZSTD
        ", \"numcodecs.base64\", \"crc32c\", \"gzip\", \"numcodecs.zlib\", "
        "\"crc32c\"]");
    const int64_t shape[] = {1000};
    const zlgi_layout *layout = layout_of(chain, shape);
    int32_t elements[1000], back[1000];
    for (int i = 0; i < 1000; i++)
        elements[i] = i * i % 777;
    zlgi_buf pair[2], other[2];
    for (int i = 0; i < 2; i++) {
        zlgi_buf_init(&pair[i], &heap.alloc);
        zlgi_buf_init(&other[i], &heap.alloc);
    }
    zlgi_bytes stored, out;
    const zlgi_bytes data = {(const uint8_t *)elements, sizeof elements};
    assert_int_equal(zlgi_chain_encode(chain, layout, scratch, data, pair, &stored, &error),
                     ZLG_OK);
    assert_int_equal(
        zlgi_chain_decode(chain, layout, scratch, stored, NULL, other, &out, &error),
        ZLG_OK);
    assert_bytes(out, data);
    assert_int_equal(zlgi_chain_decode(chain, layout, scratch, stored, (uint8_t *)back,
                                       other, &out, &error),
                     ZLG_OK);
    assert_ptr_equal(out.data, (const uint8_t *)back);
    assert_memory_equal(back, elements, sizeof elements);
    for (int i = 0; i < 2; i++) {
        zlgi_buf_reset(&pair[i]);
        zlgi_buf_reset(&other[i]);
    }
}

/* Texts lie in one buffer while a transpose that is not folded moves the views to them. */
static void test_views_outlive_the_steps_that_move_them(void **state)
{
    (void)state;
    static const char *const texts[] = {"one", "two", "", "four", "five", "six"};
    const zlgi_chain *chain = chain_v3(
        "\"string\"", 1,
        "[{\"name\": \"reshape\", \"configuration\": {\"shape\": [2, 3]}}, " TRANSPOSE(
            "[1, 0]") ", \"vlen-utf8\", \"gzip\", \"crc32c\"]");
    const int64_t shape[] = {6};
    const zlgi_layout *layout = layout_of(chain, shape);
    zlgi_view views[6];
    zlgi_buf pair[2], other[2];
    zlgi_bytes stored, out;
    for (int i = 0; i < 6; i++)
        views[i] = (zlgi_view){(const uint8_t *)texts[i], strlen(texts[i])};
    for (int i = 0; i < 2; i++) {
        zlgi_buf_init(&pair[i], &heap.alloc);
        zlgi_buf_init(&other[i], &heap.alloc);
    }
    const zlgi_bytes data = {(const uint8_t *)views, sizeof views};
    assert_int_equal(zlgi_chain_encode(chain, layout, scratch, data, pair, &stored, &error),
                     ZLG_OK);
    assert_int_equal(
        zlgi_chain_decode(chain, layout, scratch, stored, NULL, other, &out, &error),
        ZLG_OK);
    assert_int_equal(out.n, sizeof views);
    for (int i = 0; i < 6; i++) {
        zlgi_view view;
        memcpy(&view, out.data + (size_t)i * sizeof view, sizeof view);
        assert_int_equal(view.n, strlen(texts[i]));
        if (view.n > 0)
            assert_memory_equal(view.data, texts[i], view.n);
    }
    for (int i = 0; i < 2; i++) {
        zlgi_buf_reset(&pair[i]);
        zlgi_buf_reset(&other[i]);
    }
}

static void test_chunks_above_the_limit(void **state)
{
    (void)state;
    const zlg_limits small = {.chunk_bytes = 100, .codec_depth = 8, .index_bytes = 1000};
    zlgi_scratch *strict = zlgi_scratch_new(&heap.alloc, &small);
    const zlgi_chain *chain = chain_v3("\"int32\"", 1, "[" LITTLE "," ZSTD "]");
    const int64_t shape[] = {26};
    const zlgi_layout *layout = layout_of(chain, shape);
    zlgi_buf pair[2];
    zlgi_bytes stored, out;
    zlgi_buf_init(&pair[0], &heap.alloc);
    zlgi_buf_init(&pair[1], &heap.alloc);
    const uint8_t zeros[104] = {0};
    assert_int_equal(zlgi_chain_encode(chain, layout, scratch,
                                       (zlgi_bytes){zeros, sizeof zeros}, pair, &stored,
                                       &error),
                     ZLG_OK);
    zlgi_buf other[2];
    zlgi_buf_init(&other[0], &heap.alloc);
    zlgi_buf_init(&other[1], &heap.alloc);
    assert_int_equal(
        zlgi_chain_decode(chain, layout, strict, stored, NULL, other, &out, &error),
        ZLG_LIMIT);
    assert_null(other[0].data);
    zlgi_buf_reset(&pair[0]);
    zlgi_buf_reset(&pair[1]);
    zlgi_scratch_free(strict);
}

static void test_the_steady_state_asks_for_no_memory(void **state)
{
    (void)state;
    const zlgi_chain *chain = chain_v3(
        "\"float32\"", 2, "[" TRANSPOSE("[1, 0]") "," BIG "," ZSTD ", \"crc32c\"]");
    const int64_t shape[] = {20, 30};
    const zlgi_layout *layout = layout_of(chain, shape);
    const uint8_t data[2400] = {1, 2, 3};
    zlgi_buf pair[2];
    zlgi_bytes stored, out;
    zlgi_buf_init(&pair[0], &heap.alloc);
    zlgi_buf_init(&pair[1], &heap.alloc);
    assert_int_equal(zlgi_chain_encode(chain, layout, scratch,
                                       (zlgi_bytes){data, sizeof data}, pair, &stored,
                                       &error),
                     ZLG_OK);
    zlgi_buf other[2];
    zlgi_buf_init(&other[0], &heap.alloc);
    zlgi_buf_init(&other[1], &heap.alloc);
    size_t n_calls = 0;
    for (int round = 0; round < 3; round++) {
        n_calls = heap.n_calls;
        assert_int_equal(
            zlgi_chain_decode(chain, layout, scratch, stored, NULL, other, &out, &error),
            ZLG_OK);
    }
    assert_int_equal(heap.n_calls, n_calls);
    for (int i = 0; i < 2; i++) {
        zlgi_buf_reset(&pair[i]);
        zlgi_buf_reset(&other[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        codec_test(test_kinds_must_follow_each_other),
        codec_test(test_definitions),
        codec_test(test_too_many_codecs),
        codec_test(test_filters_of_version_2),
        codec_test(test_transposes_fold_into_one_order),
        codec_test(test_little_endian_needs_no_swap_here),
        codec_test(test_whole_chunks_are_unfolded),
        codec_test(test_booleans_become_0_and_1),
        codec_test(test_sizes_that_are_known),
        codec_test(test_sizes_that_overflow),
        codec_test(test_scalars_and_empty_chunks),
        codec_test(test_uncompressed_chunks_are_lent),
        codec_test(test_long_chains_use_two_buffers),
        codec_test(test_views_outlive_the_steps_that_move_them),
        codec_test(test_chunks_above_the_limit),
        codec_test(test_the_steady_state_asks_for_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
