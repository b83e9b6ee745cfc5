/* Streams as other programs write them: several in a row, without their size, with what
 * their formats allow around them; and the same broken. */
#include "codec_test.h"

#define TWELVE(text) text text text text text text text text text text text text
static const char TEXT[] = TWELVE("abcdefgh"); /* 96 bytes, in all streams here */

static zlg_status decode(const char *configuration, zlgi_bytes stored, size_t expected,
                         zlgi_buf *buf, zlgi_bytes *result)
{
    const zlgi_chain *chain = chain_v2("|u1", 1, "null", configuration, false);
    const zlgi_step *step = &chain->step[1];
    guarded in = guard(stored);
    zlgi_out out = {.expected = expected, .limit = 1 << 16, .buf = buf};
    const zlgi_edge from = {.n_bytes = expected};
    zlg_status status = step->codec->decode(step, scratch, &from, in.bytes, &out, &error);
    *result = out.result;
    unguard(&in);
    return status;
}

/* The stream holds TEXT n times, whether the size is known or not. */
static void check_text(const char *configuration, const char *stored, size_t n)
{
    const size_t n_bytes = n * 96;
    const size_t sizes[] = {n_bytes, ZLGI_UNKNOWN};
    for (int i = 0; i < 2; i++) {
        zlgi_buf buf;
        zlgi_bytes result;
        zlgi_buf_init(&buf, &heap.alloc);
        if (decode(configuration, hex(stored), sizes[i], &buf, &result) != ZLG_OK)
            fail_msg("%s %s: %s", configuration, stored, error.message);
        assert_int_equal(result.n, n_bytes);
        for (size_t k = 0; k < n; k++)
            assert_memory_equal(result.data + 96 * k, TEXT, 96);
        zlgi_buf_reset(&buf);
    }
}

static void check_refused(const char *configuration, const char *stored, size_t expected,
                          zlg_status status, const char *message)
{
    zlgi_buf buf;
    zlgi_bytes result;
    zlgi_buf_init(&buf, &heap.alloc);
    zlg_status found = decode(configuration, hex(stored), expected, &buf, &result);
    zlgi_buf_reset(&buf);
    if (found != status || strcmp(error.message, message) != 0)
        fail_msg("%s %s: %s: %s", configuration, stored, zlg_status_name(found),
                 error.message);
}

/* ------------------------------------------------------------------ zstd */

#define ZSTD "{\"id\": \"zstd\"}"
#define SIZED "28b52ffd 2460 7d00004061626364656667680100b5a97001 ae72e017"
#define UNSIZED "28b52ffd 0000 7d00004061626364656667680100b5a97001"
#define SKIPPED "5a2a4d18 03000000 aabbcc"

static void test_zstd(void **state)
{
    (void)state;
    check_text(ZSTD, SIZED, 1);
    check_text(ZSTD, UNSIZED, 1);
    check_text(ZSTD, SIZED UNSIZED SIZED, 3);
    check_text(ZSTD, SKIPPED UNSIZED SKIPPED, 1);
    check_text(ZSTD, SKIPPED, 0);
    check_refused(ZSTD, "", 96, ZLG_CORRUPT, "nothing is stored, not even an empty frame");
    check_refused(ZSTD, "", ZLGI_UNKNOWN, ZLG_CORRUPT,
                  "nothing is stored, not even an empty frame");
    check_refused(ZSTD, SIZED SIZED, 96, ZLG_CORRUPT, "more than the expected 96 bytes");
    check_refused(ZSTD, SIZED "00", 96, ZLG_CORRUPT,
                  "the stored 29 bytes end inside a frame");
    check_refused(ZSTD, UNSIZED SKIPPED "5a2a4d18 ffffff7f", 96, ZLG_CORRUPT,
                  "the stored 43 bytes end inside a frame");
    check_refused(ZSTD, "28b52ffd 2460 7d00004061626364656667680100b5a97001 ae72e018", 96,
                  ZLG_CORRUPT,
                  "damaged zstd data (28 bytes, 96 expected from them): Restored data "
                  "doesn't match checksum");
    check_refused(ZSTD, "28b52ffd 2460 7d00004061626364656667680100b5a97001 ae72e018",
                  ZLGI_UNKNOWN, ZLG_CORRUPT,
                  "damaged zstd data (28 bytes): Restored data doesn't match checksum");
    check_refused(ZSTD, "28b52ffd 00f8 010000", 96, ZLG_UNSUPPORTED,
                  "a frame has a larger window than libzstd takes");
    check_refused(ZSTD, "28b52ffd 2101 05 7d00004061626364656667680100b5a97001", 96,
                  ZLG_UNSUPPORTED, "a frame needs a dictionary");
}

/* A frame may claim anything; memory grows with what it really holds. */
static void test_zstd_claims_are_not_believed(void **state)
{
    (void)state;
    zlgi_buf buf;
    zlgi_bytes result;
    zlgi_buf_init(&buf, &heap.alloc);
    heap.peak_bytes = heap.n_bytes;
    const size_t before = heap.n_bytes;
    assert_int_equal(
        decode(ZSTD, hex("28b52ffd e0 0000000001000000 7d00004061626364656667680100b5"),
               ZLGI_UNKNOWN, &buf, &result),
        ZLG_CORRUPT);
    assert_true(heap.peak_bytes - before < 1 << 18);
    zlgi_buf_reset(&buf);
}

/* ------------------------------------------------------------------ gzip, zlib */

#define GZIP "{\"id\": \"gzip\"}"
#define MEMBER "1f8b0800000000000003 4b4c4a4e494d4bcf48a4110d00 216749dd 60000000"
#define ZLIB "{\"id\": \"zlib\"}"
#define STREAM "78da 4b4c4a4e494d4bcf48a4110d00 22a925b1"

static void test_gzip(void **state)
{
    (void)state;
    check_text(GZIP, MEMBER, 1);
    check_text(GZIP,
               "1f8b08083930000002ff6e616d652e747874004b4c4a4e494d4bcf48a4110d00216749dd"
               "60000000",
               1);
    check_text(GZIP, MEMBER MEMBER MEMBER, 3);
    check_refused(GZIP, MEMBER MEMBER, 96, ZLG_CORRUPT, "more than the expected 96 bytes");
    check_refused(GZIP, MEMBER, 97, ZLG_CORRUPT, "96 bytes decoded, 97 expected");
    check_refused(GZIP, MEMBER "0000", 96, ZLG_CORRUPT,
                  "the 2 bytes from byte 31 on are no gzip data");
    check_refused(GZIP, "1f8b0800000000000003 4b4c4a4e494d4bcf48a4110d00 216749dd 61000000",
                  96, ZLG_CORRUPT, "damaged gzip data (31 bytes)");
    check_refused(GZIP, STREAM, 96, ZLG_CORRUPT, "damaged gzip data (19 bytes)");
    check_refused(GZIP, "", 96, ZLG_CORRUPT, "damaged gzip data (0 bytes)");
}

static void test_zlib(void **state)
{
    (void)state;
    check_text(ZLIB, STREAM, 1);
    check_refused(ZLIB, MEMBER, 96, ZLG_CORRUPT, "damaged zlib data (31 bytes)");
    check_refused(ZLIB, "78da 4b4c4a4e494d4bcf48a4110d00 22a925b2", 96, ZLG_CORRUPT,
                  "damaged zlib data (19 bytes)");
}

/* ------------------------------------------------------------------ bz2, lzma, lz4 */

#if ZELLIGE_HAVE_BZ2
#define BZ2 "{\"id\": \"bz2\"}"
#define BZIP                                                                               \
    "425a6839314159265359f4d5620500000581003fc0200020a540043023c582c968b65c2e978be2ee48a7" \
    "0a"                                                                                   \
    "121e9aac40a0"

static void test_bz2(void **state)
{
    (void)state;
    check_text(BZ2, BZIP, 1);
    check_text(BZ2, BZIP BZIP, 2);
    check_refused(BZ2, BZIP BZIP, 96, ZLG_CORRUPT, "more than the expected 96 bytes");
    check_refused(BZ2, BZIP "00", 96, ZLG_CORRUPT, "damaged data before byte 50 of 50");
    check_refused(BZ2, "425a6839314159265359", 96, ZLG_CORRUPT,
                  "the stored 10 bytes end inside a stream");
    check_refused(BZ2, "", 96, ZLG_CORRUPT, "the stored 0 bytes end inside a stream");
}

/* Complete but for the end that says so: not "more than expected". */
static void test_bz2_without_its_last_byte(void **state)
{
    (void)state;
    check_refused(
        BZ2,
        "425a6839314159265359f4d5620500000581003fc0200020a540043023c582c968b65c2e978b"
        "e2ee48a70a121e9aac40",
        96, ZLG_CORRUPT, "the stored 48 bytes end inside a stream");
}
#endif

#if ZELLIGE_HAVE_LZMA
#define XZ                                                                                 \
    "fd377a585a000004e6d6b4460200210116000000742fe5a3 "                                    \
    "e0005f000e5d00309888983ecbe26f3ac63df8"                                               \
    "a80000000030a7d3f23d8b120c00012a605b185f021fb6f37d010000000004595a"
#define RAW_FILTERS(filters) "{\"id\": \"lzma\", \"format\": 3, \"filters\": [" filters "]}"
#define LZMA2 "{\"id\": 33, \"preset\": 1}"

static void test_lzma(void **state)
{
    (void)state;
    const char *xz = "{\"id\": \"lzma\"}", *alone = "{\"id\": \"lzma\", \"format\": 2}";
    check_text(xz, XZ, 1);
    check_text(xz, XZ XZ "00000000", 2);
    check_text("{\"id\": \"lzma\", \"format\": 0}", XZ, 1);
    /* Filters of a document are for encoding; XZ names its own. */
    check_text("{\"id\": \"lzma\", \"filters\": [{\"id\": 3, \"dist\": 4}, " LZMA2 "]}", XZ,
               1);
    check_text(alone,
               "5d00008000ffffffffffffffff00309888983ecbe26f3ac63ebe73dfffffa3020000", 1);
    check_text(RAW_FILTERS("{\"id\": 3, \"dist\": 4}, " LZMA2),
               "e0005f000f5d003098889839d2322518ed113ab8000000", 1);
    check_text(RAW_FILTERS("{\"id\": 4}, " LZMA2),
               "e0005f000e5d00309888983ecbe26f3ac63df8a80000", 1);
    check_text(RAW_FILTERS("{\"id\": 4611686018427387905, \"preset\": 1}"),
               "00309888983ecbe26f3ac63ebe73dfffffa3020000", 1);
    check_refused(xz, XZ XZ, 96, ZLG_CORRUPT, "more than the expected 96 bytes");
    check_refused(alone,
                  "5d00008000ffffffffffffffff00309888983ecbe26f3ac63ebe73dfffffa302000007",
                  96, ZLG_CORRUPT, "1 bytes follow the end of the stream");
    check_refused(alone,
                  "5dffffffff ffffffffffffffff00309888983ecbe26f3ac63ebe73dfffffa3020000",
                  96, ZLG_LIMIT, "the stream asks for more than 256 MiB of memory");
    check_refused(RAW_FILTERS("{\"id\": 33, \"dict_size\": 1073741824}"), "00", 96,
                  ZLG_LIMIT, "the stream asks for more than 256 MiB of memory");
}

static void test_lzma_configurations(void **state)
{
    (void)state;
    static const char *const broken[] = {
        "{\"id\": \"lzma\", \"format\": 4}",
        "{\"id\": \"lzma\", \"format\": 3}",
        "{\"id\": \"lzma\", \"preset\": 77}",
        "{\"id\": \"lzma\", \"check\": 99}",
        RAW_FILTERS(""),
        RAW_FILTERS("{}"),
        RAW_FILTERS("{\"id\": 3, \"dist\": 0}"),
        RAW_FILTERS(LZMA2 "," LZMA2 "," LZMA2 "," LZMA2 "," LZMA2),
    };
    zlgi_chain *chain;
    for (size_t i = 0; i < ZLGI_COUNT(broken); i++)
        if (parse_v2("|u1", 1, "null", broken[i], false, &chain) != ZLG_METADATA)
            fail_msg("%s is accepted", broken[i]);
    assert_int_equal(parse_v2("|u1", 1, "null", RAW_FILTERS("{\"id\": 99}"), false, &chain),
                     ZLG_UNSUPPORTED);
}
#endif

#if ZELLIGE_HAVE_LZ4
static void test_lz4(void **state)
{
    (void)state;
    const char *lz4 = "{\"id\": \"lz4\"}";
    zlgi_buf buf;
    zlgi_bytes result;
    zlgi_buf_init(&buf, &heap.alloc);
    assert_int_equal(decode(lz4, hex("14000000 1a000100500000000000"), 20, &buf, &result),
                     ZLG_OK);
    const uint8_t zeros[20] = {0};
    assert_bytes(result, (zlgi_bytes){zeros, 20});
    zlgi_buf_reset(&buf);
    check_refused(lz4, "140000", 20, ZLG_CORRUPT, "3 bytes are too few for a size");
    check_refused(lz4, "15000000 1a000100500000000000", 20, ZLG_CORRUPT,
                  "21 bytes decoded, 20 expected");
    check_refused(lz4, "15000000 1a000100500000000000", 21, ZLG_CORRUPT,
                  "the block has 20 bytes, its size says 21");
    check_refused(lz4, "ffffff7f 1a000100500000000000", ZLGI_UNKNOWN, ZLG_CORRUPT,
                  "a block of 10 bytes makes no 2147483647");
    check_refused(lz4, "14000000 1a000500500000000000", 20, ZLG_CORRUPT,
                  "damaged block of 10 bytes for 20");
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        codec_test(test_zstd),
        codec_test(test_zstd_claims_are_not_believed),
        codec_test(test_gzip),
        codec_test(test_zlib),
#if ZELLIGE_HAVE_BZ2
        codec_test(test_bz2),
        codec_test(test_bz2_without_its_last_byte),
#endif
#if ZELLIGE_HAVE_LZMA
        codec_test(test_lzma),
        codec_test(test_lzma_configurations),
#endif
#if ZELLIGE_HAVE_LZ4
        codec_test(test_lz4),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
