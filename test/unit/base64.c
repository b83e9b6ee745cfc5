/* base64: the vectors of RFC 4648 section 10, all bytes, and what decoding refuses. */
#include "test.h"

static const char *const vectors[][2] = {{"", ""},
                                         {"f", "Zg=="},
                                         {"fo", "Zm8="},
                                         {"foo", "Zm9v"},
                                         {"foob", "Zm9vYg=="},
                                         {"fooba", "Zm9vYmE="},
                                         {"foobar", "Zm9vYmFy"}};

static zlgi_bytes bytes_of(const char *text)
{
    return (zlgi_bytes){.data = (const uint8_t *)text, .n = strlen(text)};
}

static void assert_holds(const zlgi_buf *buf, const char *text)
{
    assert_int_equal(buf->n, strlen(text));
    if (buf->n > 0)
        assert_memory_equal(buf->data, text, buf->n);
}

static void test_vectors_both_ways(void **state)
{
    (void)state;
    for (size_t i = 0; i < ZLGI_COUNT(vectors); i++) {
        zlgi_buf encoded, decoded;
        zlgi_buf_init(&encoded, &zlgi_default_alloc);
        zlgi_buf_init(&decoded, &zlgi_default_alloc);
        assert_int_equal(zlgi_base64_encode(bytes_of(vectors[i][0]), &encoded, NULL),
                         ZLG_OK);
        assert_holds(&encoded, vectors[i][1]);
        assert_int_equal(zlgi_base64_decode(bytes_of(vectors[i][1]), &decoded, NULL),
                         ZLG_OK);
        assert_holds(&decoded, vectors[i][0]);
        zlgi_buf_reset(&encoded);
        zlgi_buf_reset(&decoded);
    }
}

static void test_result_is_appended(void **state)
{
    (void)state;
    zlgi_buf buf;
    zlgi_buf_init(&buf, &zlgi_default_alloc);
    assert_int_equal(zlgi_buf_append(&buf, "x:", 2, NULL), ZLG_OK);
    assert_int_equal(zlgi_base64_encode(bytes_of("f"), &buf, NULL), ZLG_OK);
    assert_int_equal(zlgi_base64_decode(bytes_of("Zm8="), &buf, NULL), ZLG_OK);
    assert_holds(&buf, "x:Zg==fo");
    zlgi_buf_reset(&buf);
}

/* The whole alphabet in order, and the 48 bytes it stands for. */
static void test_alphabet(void **state)
{
    (void)state;
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    static const uint8_t bytes[48] = {
        0x00, 0x10, 0x83, 0x10, 0x51, 0x87, 0x20, 0x92, 0x8b, 0x30, 0xd3, 0x8f,
        0x41, 0x14, 0x93, 0x51, 0x55, 0x97, 0x61, 0x96, 0x9b, 0x71, 0xd7, 0x9f,
        0x82, 0x18, 0xa3, 0x92, 0x59, 0xa7, 0xa2, 0x9a, 0xab, 0xb2, 0xdb, 0xaf,
        0xc3, 0x1c, 0xb3, 0xd3, 0x5d, 0xb7, 0xe3, 0x9e, 0xbb, 0xf3, 0xdf, 0xbf};
    zlgi_buf decoded, encoded;
    zlgi_buf_init(&decoded, &zlgi_default_alloc);
    zlgi_buf_init(&encoded, &zlgi_default_alloc);
    assert_int_equal(zlgi_base64_decode(bytes_of(alphabet), &decoded, NULL), ZLG_OK);
    assert_int_equal(decoded.n, 48);
    assert_memory_equal(decoded.data, bytes, 48);
    assert_int_equal(zlgi_base64_encode((zlgi_bytes){bytes, 48}, &encoded, NULL), ZLG_OK);
    assert_holds(&encoded, alphabet);
    zlgi_buf_reset(&decoded);
    zlgi_buf_reset(&encoded);
}

static const char *const refused[][2] = {
    {"Zg", "base64: 2 characters, expected a multiple of 4"},
    {"Zm9vZ", "base64: 5 characters, expected a multiple of 4"},
    {"Zg==Zg==", "base64: byte 0x3d at 2 is not of the alphabet"},
    {"Z===", "base64: byte 0x3d at 1 is not of the alphabet"},
    {"====", "base64: byte 0x3d at 0 is not of the alphabet"},
    {"Zm=v", "base64: byte 0x3d at 2 is not of the alphabet"},
    {"Zm9\n", "base64: byte 0x0a at 3 is not of the alphabet"},
    {"Zm-v", "base64: byte 0x2d at 2 is not of the alphabet"},
    {"Zm_v", "base64: byte 0x5f at 2 is not of the alphabet"},
    {"Zm9vZm\xc3\xa9", "base64: byte 0xc3 at 6 is not of the alphabet"},
    {"Zh==", "base64: bits are left over at the end"},
    {"Zm9=", "base64: bits are left over at the end"}};

static void test_refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < ZLGI_COUNT(refused); i++) {
        zlgi_buf buf;
        zlg_error err;
        zlgi_buf_init(&buf, &zlgi_default_alloc);
        assert_int_equal(zlgi_base64_decode(bytes_of(refused[i][0]), &buf, &err),
                         ZLG_METADATA);
        assert_string_equal(err.message, refused[i][1]);
        zlgi_buf_reset(&buf);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors_both_ways),
        cmocka_unit_test(test_result_is_appended),
        cmocka_unit_test(test_alphabet),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
