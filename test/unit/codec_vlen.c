/* vlen-utf8, vlen-bytes and vlen-array: the framing, and each way it can be broken. */
#include "codec_array_test.h"

static void test_vectors(void **state)
{
    (void)state;
    codes_views(chain_v3("\"string\"", 1, "[\"vlen-utf8\"]"), SHAPE(4),
                TEXTS("a", "", "\u00e9", "\U0001d11e"),
                hex("04000000 01000000 61 00000000 02000000 c3a9 04000000 f09d849e"));
    codes_views(chain_object(2, "[{\"id\": \"vlen-utf8\"}]"), SHAPE(1, 2), TEXTS("b", ""),
                hex("02000000 01000000 62 00000000"));
    codes_views(chain_v3("\"string\"", 1, "[\"vlen-utf8\"]"), SHAPE(0), TEXTS(NULL),
                hex("00000000"));

    const zlgi_view blobs[] = {{(const uint8_t *)"\xff\0\xfe", 3}, {NULL, 0}};
    codes_views(chain_v3("\"bytes\"", 0, "[\"vlen-bytes\"]"), SHAPE(0),
                (zlgi_bytes){(const uint8_t *)blobs, sizeof blobs[0]},
                hex("01000000 03000000 ff00fe"));
    codes_views(chain_object(1, "[{\"id\": \"vlen-bytes\"}]"), SHAPE(2), BYTES_OF(blobs),
                hex("02000000 03000000 ff00fe 00000000"));
}

static void test_lists(void **state)
{
    (void)state;
    static const int16_t numbers[] = {1, 2, 3};
    const zlgi_view lists[] = {{(const uint8_t *)numbers, 4},
                               {(const uint8_t *)(numbers + 2), 2},
                               {(const uint8_t *)numbers, 0}};
    codes_views(chain_object(1, "[{\"id\": \"vlen-array\", \"dtype\": \"<i2\"}]"), SHAPE(3),
                BYTES_OF(lists), hex("03000000 04000000 01000200 02000000 0300 00000000"));
    codes_views(chain_object(1, "[{\"id\": \"vlen-array\", \"dtype\": \">i2\"}]"), SHAPE(3),
                BYTES_OF(lists), hex("03000000 04000000 00010002 02000000 0003 00000000"));
}

static void test_broken(void **state)
{
    (void)state;
    const zlgi_chain *chain = chain_v3("\"string\"", 1, "[\"vlen-utf8\"]");
    refuses(chain, SHAPE(2), hex(""), ZLG_CORRUPT, "too few for a count");
    refuses(chain, SHAPE(2), hex("020000"), ZLG_CORRUPT, "too few for a count");
    refuses(chain, SHAPE(2), hex("03000000 00000000 00000000 00000000"), ZLG_CORRUPT,
            "3 items are announced, 2 expected");
    refuses(chain, SHAPE(2), hex("01000000 00000000"), ZLG_CORRUPT,
            "1 items are announced");
    refuses(chain, SHAPE(2), hex("02000000"), ZLG_CORRUPT, "too few for 2 items");
    refuses(chain, SHAPE(2), hex("02000000 02000000 6161 0000"), ZLG_CORRUPT,
            "ends at item 1 of 2");
    refuses(chain, SHAPE(2), hex("02000000 00000000 05000000 61626364"), ZLG_CORRUPT,
            "item 1 has 5 bytes, but 4 are left");
    refuses(chain, SHAPE(2), hex("02000000 ffffffff 00000000"), ZLG_CORRUPT,
            "item 0 has 4294967295 bytes");
    refuses(chain, SHAPE(2), hex("02000000 00000000 00000000 00"), ZLG_CORRUPT,
            "1 bytes follow the last item");
    refuses(chain, SHAPE(1), hex("01000000 02000000 c361"), ZLG_CORRUPT, "not UTF-8");
    refuses(chain, SHAPE(1), hex("01000000 03000000 eda080"), ZLG_CORRUPT, "not UTF-8");
    refuses(chain_object(1, "[{\"id\": \"vlen-array\", \"dtype\": \"<i4\"}]"), SHAPE(1),
            hex("01000000 03000000 010203"), ZLG_CORRUPT, "no whole number of 4");
    survives_damage(chain, SHAPE(3), hex("03000000 01000000 61 00000000 04000000 f09d849e"),
                    true);
}

/* Many items in few bytes are refused before there is memory for them. */
static void test_large_announcement(void **state)
{
    (void)state;
    refuses_cheaply(chain_v3("\"string\"", 1, "[\"vlen-utf8\"]"), INT64_C(1) << 27,
                    hex("00000008 00000000 00000000"), "too few");
}

static void test_refused_types(void **state)
{
    (void)state;
    refuses_codecs("\"int32\"", 1, "[\"vlen-utf8\"]", ZLG_METADATA, "it takes strings");
    refuses_codecs("\"bytes\"", 1, "[\"vlen-utf8\"]", ZLG_METADATA, "it takes strings");
    refuses_codecs("\"string\"", 1, "[\"vlen-bytes\"]", ZLG_METADATA, "byte strings");
    const zlgi_view broken = {(const uint8_t *)"\xff", 1};
    refuses_to_encode(chain_v3("\"string\"", 0, "[\"vlen-utf8\"]"), SHAPE(0),
                      (zlgi_bytes){(const uint8_t *)&broken, sizeof broken}, ZLG_USAGE);
}

/* Views stay good while a transpose in front moves them. */
static void test_transposed(void **state)
{
    (void)state;
    const char *codecs =
        "[{\"name\": \"reshape\", \"configuration\": {\"shape\": [2, 2]}},"
        " {\"name\": \"transpose\", \"configuration\": {\"order\": [1, 0]}},"
        " \"vlen-utf8\", {\"name\": \"gzip\", \"configuration\": {\"level\": 1}}]";
    const zlgi_chain *chain = chain_v3("\"string\"", 1, codecs);
    zlgi_bytes texts = TEXTS("one", "two", "three", "four");
    decodes_views(chain, SHAPE(4), encode(chain, SHAPE(4), texts), texts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        codec_test(test_vectors),       codec_test(test_lists),
        codec_test(test_broken),        codec_test(test_large_announcement),
        codec_test(test_refused_types), codec_test(test_transposed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
