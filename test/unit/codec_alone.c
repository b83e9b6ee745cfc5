/*
 * Codecs without an array: what they take and give, in both ways of naming them.
 * Label: engine
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>

#include "test.h"
#include "zellige_ext.h"

static zlg_ctx *ctx;

static int open_context(void **state)
{
    (void)state;
    return (int)zlg_ctx_new(NULL, &ctx, NULL);
}

static int close_context(void **state)
{
    (void)state;
    zlg_ctx_close(ctx);
    return 0;
}

static void must(zlg_status status, const zlg_error *err)
{
    if (status != ZLG_OK)
        fail_msg("%s", err->message);
}

static zlg_codec *open_with(const char *codecs, const zlg_codec_options *options)
{
    zlg_codec *codec;
    zlg_error err;
    must(zlg_codec_open(ctx, codecs, options, &codec, &err), &err);
    return codec;
}

/* Back by all three ways: as a text, into memory of the right size, and of a larger one. */
static void must_return(zlg_codec *codec, const void *data, size_t n)
{
    zlg_error err;
    zlg_text encoded, decoded;
    uint8_t room[4096];
    size_t n_decoded;
    must(zlg_codec_encode(codec, data, n, &encoded, &err), &err);
    must(zlg_codec_decode(codec, encoded.data, encoded.n_bytes, &decoded, &err), &err);
    assert_int_equal(decoded.n_bytes, n);
    assert_memory_equal(decoded.data, data, n);
    zlg_text_free(&decoded);
    for (size_t n_room = n; n_room < sizeof room; n_room += 1000) {
        memset(room, 0xee, sizeof room);
        must(zlg_codec_decode_into(codec, encoded.data, encoded.n_bytes, room, n_room,
                                   &n_decoded, &err),
             &err);
        assert_int_equal(n_decoded, n);
        assert_memory_equal(room, data, n);
        assert_int_equal(room[n_room], 0xee);
    }
    if (n > 0)
        assert_int_equal(zlg_codec_decode_into(codec, encoded.data, encoded.n_bytes, room,
                                               n - 1, &n_decoded, &err),
                         ZLG_LIMIT);
    zlg_text_free(&encoded);
}

static void test_bytes_to_bytes(void **state)
{
    (void)state;
    static const char *const lists[] = {
        "[]",
        "zstd",
        "\"crc32c\"",
        "{\"name\":\"gzip\",\"configuration\":{\"level\":6}}",
        "[\"zstd\",\"crc32c\"]",
        "{\"id\":\"zlib\",\"level\":1}",
        "{\"id\":\"shuffle\",\"elementsize\":4}",
        "[{\"id\":\"delta\",\"dtype\":\"<i2\"},{\"id\":\"zstd\",\"level\":3}]",
        "{\"name\":\"numcodecs.adler32\"}",
    };
    uint8_t data[1200];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i / 7);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        zlg_codec *codec = open_with(lists[i], NULL);
        must_return(codec, data, sizeof data);
        must_return(codec, data, 0);
        zlg_codec_close(codec);
    }
}

static void test_elements_to_bytes(void **state)
{
    (void)state;
    static const char *const lists[] = {
        "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"big\"}}",
        "[{\"name\":\"transpose\",\"configuration\":{\"order\":[1,0]}},"
        "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}},\"zstd\"]",
        "[{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[2,2],"
        "\"codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}],"
        "\"index_codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}},"
        "\"crc32c\"]}}]",
    };
    const int64_t shape[2] = {4, 6};
    int32_t data[4][6];
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 6; k++)
            data[i][k] = i < 2 ? 5 : i * 10 - k;
    zlg_codec_options options = ZLG_CODEC_OPTIONS_INIT;
    options.data_type = "int32";
    options.fill_value = "5";
    options.rank = 2;
    options.shape = shape;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        zlg_codec *codec = open_with(lists[i], &options);
        must_return(codec, data, sizeof data);
        zlg_codec_close(codec);
    }
    zlg_codec *codec = open_with(lists[0], &options);
    zlg_text encoded;
    zlg_error err;
    must(zlg_codec_encode(codec, data, sizeof data, &encoded, &err), &err);
    assert_memory_equal(encoded.data + 12 * 4, "\0\0\0\24", 4);
    zlg_text_free(&encoded);
    assert_int_equal(zlg_codec_encode(codec, data, 5, &encoded, &err), ZLG_USAGE);
    assert_non_null(strstr(err.message, "5 bytes are given, the chunk has 96"));
    assert_null(encoded.data);
    zlg_codec_close(codec);
}

/* Version 2 says of bytes what they hold, for codecs that go by it. */
static void test_bytes_that_hold_elements(void **state)
{
    (void)state;
    float data[4] = {1.0f / 3, -2.0f / 3, 1e10f, 0};
    zlg_codec_options options = ZLG_CODEC_OPTIONS_INIT;
    options.data_type = "<f4";
    zlg_codec *codec = open_with("{\"id\":\"bitround\",\"keepbits\":4}", &options);
    zlg_text encoded;
    zlg_error err;
    must(zlg_codec_encode(codec, data, sizeof data, &encoded, &err), &err);
    assert_int_equal(encoded.n_bytes, sizeof data);
    float rounded;
    memcpy(&rounded, encoded.data, sizeof rounded);
    assert_true(rounded == 0.328125f || rounded == 0.34375f);
    zlg_text_free(&encoded);
    zlg_codec_close(codec);
}

static void test_what_is_refused(void **state)
{
    (void)state;
    static const int64_t shape[1] = {-1};
    static const struct {
        const char *codecs, *data_type;
        int rank;
        zlg_status expected;
        const char *message;
    } cases[] = {
        {"[", NULL, 0, ZLG_METADATA, "codecs: "},
        {"none", NULL, 0, ZLG_UNSUPPORTED, "codec none: not known"},
        {"[1]", NULL, 0, ZLG_METADATA, "name"},
        {"[{\"id\":\"zstd\"},\"zstd\"]", NULL, 0, ZLG_METADATA, "\"id\""},
        {"bytes", NULL, 0, ZLG_METADATA, "codec bytes: "},
        {"zstd", "int8", 0, ZLG_METADATA, "codec zstd: "},
        {"vlen-utf8", "string", 0, ZLG_UNSUPPORTED, "data_type: "},
        {"bytes", "int77", 0, ZLG_UNSUPPORTED, "data_type: "},
        {"bytes", "int8", 1, ZLG_USAGE, "shape[0] is -1"},
        {"bytes", "int8", 99, ZLG_USAGE, "axes"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        zlg_codec *codec;
        zlg_error err;
        zlg_codec_options options = ZLG_CODEC_OPTIONS_INIT;
        options.data_type = cases[i].data_type;
        options.rank = cases[i].rank;
        options.shape = shape;
        assert_int_equal(zlg_codec_open(ctx, cases[i].codecs, &options, &codec, &err),
                         cases[i].expected);
        assert_null(codec);
        if (strstr(err.message, cases[i].message) == NULL)
            fail_msg("\"%s\" is not in \"%s\"", cases[i].message, err.message);
    }
    zlg_codec_options options = ZLG_CODEC_OPTIONS_INIT;
    zlg_codec *codec;
    options.zarr_format = 4;
    assert_int_equal(zlg_codec_open(ctx, "zstd", &options, &codec, NULL), ZLG_USAGE);
    options.n_bytes_struct = 0;
    assert_int_equal(zlg_codec_open(ctx, "zstd", &options, &codec, NULL), ZLG_USAGE);
}

static void test_damaged_bytes(void **state)
{
    (void)state;
    zlg_codec *codec = open_with("[\"zstd\",\"crc32c\"]", NULL);
    zlg_error err;
    zlg_text encoded, decoded;
    uint8_t room[64];
    size_t n;
    must(zlg_codec_encode(codec, "0123456789", 10, &encoded, &err), &err);
    encoded.data[3] ^= 1;
    assert_int_equal(zlg_codec_decode(codec, encoded.data, encoded.n_bytes, &decoded, &err),
                     ZLG_CORRUPT);
    assert_non_null(strstr(err.message, "codec crc32c: "));
    assert_int_equal(
        zlg_codec_decode_into(codec, encoded.data, encoded.n_bytes, room, 10, &n, &err),
        ZLG_CORRUPT);
    assert_non_null(strstr(err.message, "codec crc32c: "));
    zlg_text_free(&encoded);
    zlg_codec_close(codec);
}

/* ------------------------------------------------------------------ lent */

static zlg_status take_sum(void *user, zlg_bytes result, zlg_error *err)
{
    unsigned *sum = user;
    if (result.n_bytes == 3) {
        snprintf(err->message, sizeof err->message, "three are one too many");
        return ZLG_NOT_FOUND;
    }
    for (size_t i = 0; i < result.n_bytes; i++)
        *sum += ((const uint8_t *)result.data)[i];
    return ZLG_OK;
}

static void test_results_that_are_lent(void **state)
{
    (void)state;
    zlg_codec *codec = open_with("{\"name\":\"numcodecs.base64\"}", NULL);
    zlg_error err;
    unsigned sum = 0;
    must(zlg_codec_decode_to(codec, "AQIDBA==", 8, take_sum, &sum, &err), &err);
    assert_int_equal(sum, 1 + 2 + 3 + 4);
    sum = 0;
    must(zlg_codec_encode_to(codec, "\1\2\3", 3, take_sum, &sum, &err), &err);
    assert_int_equal(sum, 'A' + 'Q' + 'I' + 'D');
    assert_int_equal(zlg_codec_decode_to(codec, "AQID", 4, take_sum, &sum, &err),
                     ZLG_USAGE);
    assert_string_equal(err.message, "three are one too many");
    zlg_codec_close(codec);
}

/* ------------------------------------------------------------------ threads */

static void *run_many(void *user)
{
    uint8_t data[2000], back[2000];
    for (int i = 0; i < 200; i++) {
        memset(data, i, sizeof data);
        zlg_text encoded;
        size_t n;
        if (zlg_codec_encode(user, data, sizeof data, &encoded, NULL) ||
            zlg_codec_decode_into(user, encoded.data, encoded.n_bytes, back, sizeof back,
                                  &n, NULL) ||
            n != sizeof back || memcmp(data, back, n) != 0)
            return user;
        zlg_text_free(&encoded);
    }
    return NULL;
}

static void test_one_handle_in_many_threads(void **state)
{
    (void)state;
    zlg_codec *codec = open_with("[\"zstd\",\"crc32c\"]", NULL);
    pthread_t threads[4];
    void *failed;
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_many, codec), 0);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    zlg_codec_close(codec);
    zlg_codec_close(NULL);
}

static void test_short_memory(void **state)
{
    (void)state;
    for (size_t fail_at = 1;; fail_at++) {
        test_heap heap;
        test_heap_init(&heap);
        zlg_ctx_options options = ZLG_CTX_OPTIONS_INIT;
        options.allocator = heap.alloc;
        options.n_threads = 1;
        zlg_ctx *own;
        zlg_codec *codec;
        zlg_text encoded = {0}, decoded = {0};
        assert_int_equal(zlg_ctx_new(&options, &own, NULL), ZLG_OK);
        heap.fail_at = heap.n_calls + fail_at;
        zlg_status status =
            zlg_codec_open(own, "[\"zstd\",\"crc32c\"]", NULL, &codec, NULL);
        if (status == ZLG_OK)
            status = zlg_codec_encode(codec, "0123456789", 10, &encoded, NULL);
        if (status == ZLG_OK)
            status = zlg_codec_decode(codec, encoded.data, encoded.n_bytes, &decoded, NULL);
        zlg_text_free(&encoded);
        zlg_text_free(&decoded);
        zlg_codec_close(codec);
        zlg_ctx_close(own);
        assert_int_equal(heap.n_blocks, 0);
        if (status == ZLG_OK) {
            assert_true(fail_at > 4);
            return;
        }
        assert_int_equal(status, ZLG_NO_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_to_bytes),
        cmocka_unit_test(test_elements_to_bytes),
        cmocka_unit_test(test_bytes_that_hold_elements),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_damaged_bytes),
        cmocka_unit_test(test_results_that_are_lent),
        cmocka_unit_test(test_one_handle_in_many_threads),
        cmocka_unit_test(test_short_memory),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
