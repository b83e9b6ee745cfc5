/* The checksums and where their codecs put them: published and computed values. */
#include "codec_test.h"

static const char DIGITS[] = "123456789";

static void test_sums(void **state)
{
    (void)state;
    assert_int_equal(zlgi_crc32(DIGITS, 9), 0xcbf43926);
    assert_int_equal(zlgi_crc32(NULL, 0), 0);
    assert_int_equal(zlgi_adler32(DIGITS, 9), 0x091e01de);
    assert_int_equal(zlgi_adler32(NULL, 0), 1);
    assert_int_equal(zlgi_fletcher32("abcd", 4), 0x2629c4c6);
    assert_int_equal(zlgi_fletcher32("abcde", 5), 0x4ff029c7);
    assert_int_equal(zlgi_fletcher32(DIGITS, 9), 0x09df09d5);
    assert_int_equal(zlgi_fletcher32(NULL, 0), 0);
    const char text[] = "Four score and seven years ago";
    assert_int_equal(zlgi_lookup3(text, 30, 0), 0x17770551);
    assert_int_equal(zlgi_lookup3(text, 30, 1), 0xcd628161);
    assert_int_equal(zlgi_lookup3(NULL, 0, 0), 0xdeadbeef);
}

static void test_fletcher32_folds_long_runs(void **state)
{
    (void)state;
    uint8_t data[1024];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)i;
    assert_int_equal(zlgi_fletcher32(data, sizeof data), 0x151600ff);
    /* The definition, one word at a time, on the bytes that make sums grow fastest. */
    memset(data, 0xff, sizeof data);
    data[700] = 0xfe;
    for (size_t n = 0; n <= sizeof data; n += 2) {
        uint32_t a = 0, b = 0;
        for (size_t i = 0; i < n; i += 2) {
            a = (a + ((uint32_t)data[i] << 8 | data[i + 1])) % 65535;
            b = (b + a) % 65535;
        }
        const uint32_t sum = zlgi_fletcher32(data, n);
        assert_int_equal((sum & 0xffff) % 65535, a);
        assert_int_equal((sum >> 16) % 65535, b);
    }
}

/* Nine bytes through a codec: what is stored. */
static void check_stored(const char *configuration, const char *expected)
{
    const zlgi_chain *chain = chain_v2("|S9", 0, "null", configuration, false);
    const zlgi_layout *layout = layout_of(chain, NULL);
    const zlgi_bytes data = {(const uint8_t *)DIGITS, 9}, stored = hex(expected);
    assert_int_equal(layout->edge[chain->n_steps].n_bytes, stored.n);
    zlgi_buf out;
    zlgi_buf_init(&out, &heap.alloc);
    assert_int_equal(zlgi_chain_encode_full(chain, layout, scratch, data, &out, &error),
                     ZLG_OK);
    assert_bytes((zlgi_bytes){out.data, out.n}, stored);
    zlgi_buf_reset(&out);
    uint8_t back[9];
    assert_int_equal(zlgi_chain_decode_full(chain, layout, scratch, stored, back, &error),
                     ZLG_OK);
    assert_memory_equal(back, DIGITS, 9);
}

static void test_places(void **state)
{
    (void)state;
    check_stored("{\"id\": \"crc32\"}", "2639f4cb 313233343536373839");
    check_stored("{\"id\": \"crc32\", \"location\": \"end\"}",
                 "313233343536373839 2639f4cb");
    check_stored("{\"id\": \"adler32\"}", "de011e09 313233343536373839");
    check_stored("{\"id\": \"crc32c\"}", "313233343536373839 839206e3");
    check_stored("{\"id\": \"crc32c\", \"location\": \"start\"}",
                 "839206e3 313233343536373839");
    check_stored("{\"id\": \"fletcher32\"}", "313233343536373839 d509df09");
    check_stored("{\"id\": \"base64\"}", "4d54497a 4e445532 4e7a6735");
}

static void test_a_prefix_is_hashed_first(void **state)
{
    (void)state;
    uint8_t sum[4];
    char expected[64];
    zlgi_store_u32le(sum, zlgi_lookup3("pre123456789", 12, 5));
    snprintf(expected, sizeof expected, "313233343536373839 %02x%02x%02x%02x", sum[0],
             sum[1], sum[2], sum[3]);
    check_stored("{\"id\": \"jenkins_lookup3\", \"initval\": 5, \"prefix\": \"pre\"}",
                 expected);
}

static void test_what_does_not_agree_is_named(void **state)
{
    (void)state;
    const zlgi_chain *chain = chain_v2("|S9", 0, "null", "{\"id\": \"crc32\"}", false);
    uint8_t back[9];
    const zlgi_bytes wrong = hex("2739f4cb 313233343536373839");
    assert_int_equal(
        zlgi_chain_decode_full(chain, layout_of(chain, NULL), scratch, wrong, back, &error),
        ZLG_CORRUPT);
    assert_string_equal(
        error.message,
        "codec crc32: the checksum of 9 bytes is cbf43926, stored is cbf43927");
}

static void test_bad_places(void **state)
{
    (void)state;
    zlgi_chain *chain;
    assert_int_equal(parse_v2("|u1", 1, "null",
                              "{\"id\": \"crc32\", \"location\": \"middle\"}", false,
                              &chain),
                     ZLG_METADATA);
    assert_int_equal(
        parse_v2("|u1", 1, "null", "{\"id\": \"crc32\", \"location\": 1}", false, &chain),
        ZLG_METADATA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        codec_test(test_sums),
        codec_test(test_fletcher32_folds_long_runs),
        codec_test(test_places),
        codec_test(test_a_prefix_is_hashed_first),
        codec_test(test_what_does_not_agree_is_named),
        codec_test(test_bad_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
