/* json2, msgpack2 and categorize: documents of numcodecs, every kind of element, and
 * documents that are damaged, too deep or not what the chunk is. */
#include "codec_array_test.h"

#include <math.h>

static zlgi_chain *object(int rank, const char *id)
{
    char filters[100];
    snprintf(filters, sizeof filters, "[{\"id\": \"%s\"}]", id);
    return chain_object(rank, filters);
}

static zlgi_chain *numbers(const char *dtype, int rank, const char *id)
{
    char filters[100];
    snprintf(filters, sizeof filters, "[{\"id\": \"%s\"}]", id);
    return chain_v2(dtype, rank, filters, "null", false);
}

/* ---------------------------------------------------------------------- json2 */
static void test_json_text(void **state)
{
    (void)state;
    codes_views(object(2, "json2"), SHAPE(2, 2), TEXTS("a", "b", "c", "d"),
                bytes_of_text("[[\"a\",\"b\"],[\"c\",\"d\"],\"|O\",[2,2]]"));
    codes_views(object(0, "json2"), SHAPE(0), TEXTS("x"),
                bytes_of_text("[\"x\",\"|O\",[]]"));
    codes_views(object(2, "json2"), SHAPE(2, 0), TEXTS(NULL),
                bytes_of_text("[[],[],\"|O\",[2,0]]"));
    codes_views(object(1, "json2"), SHAPE(0), TEXTS(NULL), bytes_of_text("[\"|O\",[0]]"));
}

/* Also spaces, and the 0 and null that fill the end of a chunk. */
static void test_json_escapes(void **state)
{
    (void)state;
    decodes_views(
        object(1, "json2"), SHAPE(4),
        bytes_of_text(" [ \"\\u00e9\\n\\ud834\\udd1e\", \"\\\"\", 0, null, \"|O\", [4] ] "),
        TEXTS("\u00e9\n\U0001d11e", "\"", "", ""));
}

static void test_json_numbers(void **state)
{
    (void)state;
    static const int64_t longs[] = {INT64_MIN, -1, INT64_MAX};
    codes(numbers("<i8", 1, "json2"), SHAPE(3), BYTES_OF(longs),
          bytes_of_text("[-9223372036854775808,-1,9223372036854775807,\"<i8\",[3]]"));
    static const uint64_t unsigned_longs[] = {0, UINT64_MAX};
    codes(numbers(">u8", 1, "json2"), SHAPE(2), BYTES_OF(unsigned_longs),
          bytes_of_text("[0,18446744073709551615,\">u8\",[2]]"));
    static const float floats[] = {0.1f, INFINITY, -INFINITY, 3};
    codes(numbers("<f4", 2, "json2"), SHAPE(2, 2), BYTES_OF(floats),
          bytes_of_text("[[0.10000000149011612,Infinity],[-Infinity,3.0],\"<f4\",[2,2]]"));
    decodes(numbers("<f4", 1, "json2"), SHAPE(1), bytes_of_text("[NaN,\"<f4\",[1]]"),
            hex("0000c07f"));
    codes(numbers("|b1", 1, "json2"), SHAPE(2), hex("01 00"),
          bytes_of_text("[true,false,\"|b1\",[2]]"));
    codes(numbers("<U2", 1, "json2"), SHAPE(2), hex("41000000 e9000000 1ed10100 00000000"),
          bytes_of_text("[\"A\u00e9\",\"\U0001d11e\",\"<U2\",[2]]"));
    codes(chain_v2("<i4", 1, "null", "{\"id\": \"json2\"}", false), SHAPE(2),
          BYTES_OF(((const int32_t[]){7, -8})), bytes_of_text("[7,-8,\"<i4\",[2]]"));
}

static void test_json_broken(void **state)
{
    (void)state;
    const zlgi_chain *chain = object(2, "json2");
    const int64_t *shape = SHAPE(2, 2);
    static const struct {
        const char *text, *part;
    } broken[] = {
        {"[[\"a\",\"b\"],[\"c\",\"d", "byte"},
        {"[[\"a\",\"b\"],[\"c\",\"d\"],\"|O\",[2,2]] x", "byte"},
        {"{\"a\": [1, 2, 3, 4, 5, 6]}", "no list of 2 entries"},
        {"[\"a\",\"b\",\"c\",\"d\",\"|O\",[4]]", "no list of 2 entries"},
        {"[[\"a\",\"b\"],[\"c\",\"d\"],[2,2],\"|O\"]", "no type string"},
        {"[[\"a\",\"b\"],[\"c\",\"d\"],\"|O\",[2,3]]", "shape"},
        {"[[\"a\",\"b\"],[\"c\",\"d\"],\"|O\",[4]]", "shape"},
        {"[[\"a\",\"b\"],[\"c\"],\"|O\",[2,2]]", "no list of 2 where axis 1"},
        {"[[\"a\",\"b\"],\"c\",\"|O\",[2,2]]", "no list of 2 where axis 1"},
        {"[[\"a\",\"b\"],[\"c\",\"\\ud800\"],\"|O\",[2,2]]", "element 3 is not UTF-8"},
        {"[[", "too few for 4 items"},
    };
    for (size_t i = 0; i < ZLGI_COUNT(broken); i++)
        refuses(chain, shape, bytes_of_text(broken[i].text), ZLG_CORRUPT, broken[i].part);
    refuses(chain, shape, bytes_of_text("[[\"a\",\"b\"],[\"c\",1],\"|O\",[2,2]]"),
            ZLG_UNSUPPORTED, "element 3 is an integer, the data type is string");
    refuses(numbers("|u1", 1, "json2"), SHAPE(1), bytes_of_text("[256,\"|u1\",[1]]"),
            ZLG_CORRUPT, "element 0 does not fit uint8");
    refuses(numbers("<i8", 1, "json2"), SHAPE(1),
            bytes_of_text("[9223372036854775808,\"<i8\",[1]]"), ZLG_CORRUPT,
            "does not fit");
    refuses(numbers("<u8", 1, "json2"), SHAPE(1), bytes_of_text("[-1,\"<u8\",[1]]"),
            ZLG_CORRUPT, "does not fit");
    refuses(numbers("<i4", 1, "json2"), SHAPE(1), bytes_of_text("[1.5,\"<i4\",[1]]"),
            ZLG_UNSUPPORTED, "a float");
    refuses(numbers("<U1", 1, "json2"), SHAPE(1), bytes_of_text("[\"ab\",\"<U1\",[1]]"),
            ZLG_CORRUPT, "longer than 4 bytes");
    survives_damage(chain, shape,
                    bytes_of_text("[[\"a\",\"\u00e9\"],[\"c\",\"d\\n\"],\"|O\",[2,2]]"),
                    true);
}

static void test_json_deep(void **state)
{
    (void)state;
    enum { DEEP = 60000 };
    char *text = zlgi_arena_get(&arena, DEEP);
    memset(text, '[', DEEP);
    refuses(object(1, "json2"), SHAPE(2), (zlgi_bytes){(uint8_t *)text, DEEP}, ZLG_LIMIT,
            "");
    refuses_cheaply(object(1, "json2"), INT64_C(1) << 27,
                    bytes_of_text("[\"a\",\"|O\",[1]]"), "too few");
}

/* ---------------------------------------------------------------------- msgpack2 */
static void test_msgpack(void **state)
{
    (void)state;
    codes_views(object(1, "msgpack2"), SHAPE(2), TEXTS("a", "b"),
                hex("94 a161 a162 a27c4f 9102"));
    codes_views(object(2, "msgpack2"), SHAPE(1, 2), TEXTS("", "b"),
                hex("93 92 a0 a162 a27c4f 92 01 02"));
    decodes_views(object(1, "msgpack2"), SHAPE(4),
                  hex("96 c403616263 c0 00 d90178 a27c4f 9104"), TEXTS("abc", "", "", "x"));
    static const int64_t longs[] = {0,  127, 128,  256,    65536,    INT64_C(1) << 32,
                                    -1, -33, -129, -32769, INT64_MIN};
    codes(numbers("<i8", 1, "msgpack2"), SHAPE(11), BYTES_OF(longs),
          hex("9d 00 7f cc80 cd0100 ce00010000 cf0000000100000000 ff d0df d1ff7f d2ffff7fff"
              " d38000000000000000 a33c6938 910b"));
    static const double reals[] = {1, -0.0};
    codes(numbers("<f8", 1, "msgpack2"), SHAPE(2), BYTES_OF(reals),
          hex("94 cb3ff0000000000000 cb8000000000000000 a33c6638 9102"));
    codes(chain_v2("<f8", 1, "[{\"id\": \"msgpack2\", \"use_single_float\": true}]", "null",
                   false),
          SHAPE(2), BYTES_OF(reals), hex("94 ca3f800000 ca80000000 a33c6638 9102"));
    codes(numbers("|b1", 1, "msgpack2"), SHAPE(2), hex("01 00"),
          hex("94 c3 c2 a37c6231 9102"));
    codes(numbers("|S3", 1, "msgpack2"), SHAPE(2), hex("616200 000000"),
          hex("94 c4026162 c400 a37c5333 9102"));
}

/* Lengths and counts on both sides of each step. */
static void test_msgpack_lengths(void **state)
{
    (void)state;
    static const size_t lengths[] = {0, 31, 32, 255, 256, 65535, 65536};
    zlgi_view views[ZLGI_COUNT(lengths)];
    char *text = zlgi_arena_get(&arena, 65536);
    memset(text, 'y', 65536);
    for (size_t i = 0; i < ZLGI_COUNT(lengths); i++)
        views[i] = (zlgi_view){(uint8_t *)text, lengths[i]};
    const zlgi_chain *chain = object(1, "msgpack2");
    decodes_views(chain, SHAPE(7), encode(chain, SHAPE(7), BYTES_OF(views)),
                  BYTES_OF(views));
    uint8_t *bytes = zlgi_arena_get(&arena, 70000);
    memset(bytes, 200, 70000);
    static const int64_t counts[] = {13, 14, 65533, 65534, 70000};
    for (size_t i = 0; i < ZLGI_COUNT(counts); i++)
        round_trips(numbers("|u1", 1, "msgpack2"), &counts[i],
                    (zlgi_bytes){bytes, (size_t)counts[i]});
}

static void test_msgpack_broken(void **state)
{
    (void)state;
    const zlgi_chain *chain = object(1, "msgpack2");
    refuses(chain, SHAPE(2), hex("ddffffffff"), ZLG_CORRUPT, "no array of 4");
    refuses(chain, SHAPE(2), hex("93 a161 a162 a27c4f"), ZLG_CORRUPT, "no array of 4");
    refuses(chain, SHAPE(2), hex("94 a161 d9ff62 a27c4f 9102"), ZLG_CORRUPT,
            "item 1 has 255 bytes");
    refuses(chain, SHAPE(2), hex("94 a161 a162 01 9102"), ZLG_CORRUPT, "no type string");
    refuses(chain, SHAPE(2), hex("94 a161 a162 a27c4f 9103"), ZLG_CORRUPT, "shape");
    refuses(chain, SHAPE(2), hex("94 a161 a162 a27c4f 9102 00"), ZLG_CORRUPT,
            "1 bytes follow its end");
    refuses(chain, SHAPE(2), hex("94 a161 a1ff a27c4f 9102"), ZLG_CORRUPT, "not UTF-8");
    refuses(chain, SHAPE(2), hex("94 a161 81a162a163 a27c4f 9102"), ZLG_UNSUPPORTED,
            "a map or an extension");
    refuses(object(2, "msgpack2"), SHAPE(1, 2), hex("93 91 a161 a27c4f 92 01 02"),
            ZLG_CORRUPT, "no array of 2");
    survives_damage(chain, SHAPE(3), hex("95 a161 d90162 c4026363 a27c4f 9103"), true);
    refuses_cheaply(chain, INT64_C(1) << 27, hex("dc0002 a27c4f 90"), "too few");
}

/* ---------------------------------------------------------------------- categorize */
static void test_categorize(void **state)
{
    (void)state;
    const char *filters =
        "[{\"id\": \"categorize\", \"dtype\": \"|O\", \"astype\": \"|u1\","
        " \"labels\": [\"female\", \"m\u00e4le\", \"\"]}]";
    const zlgi_chain *chain = chain_object(1, filters);
    encodes(chain, SHAPE(4), TEXTS("m\u00e4le", "female", "", "other"), hex("02 01 03 00"));
    decodes_views(chain, SHAPE(4), hex("02 01 03 00"),
                  TEXTS("m\u00e4le", "female", "", ""));
    refuses(chain, SHAPE(1), hex("04"), ZLG_CORRUPT, "code 4 at element 0 has no label");
    refuses(chain, SHAPE(2), hex("01"), ZLG_CORRUPT, "1 bytes are stored, 2 expected");
    const zlgi_chain *wide =
        chain_v2("<U3", 1,
                 "[{\"id\": \"categorize\", \"dtype\": \"<U3\", \"astype\": \">i2\","
                 " \"labels\": [\"a\u00e9\", \"longer\"]}]",
                 "null", false);
    encodes(wide, SHAPE(2), hex("61000000e900000000000000 780000000000000000000000"),
            hex("0001 0000"));
    decodes(
        wide, SHAPE(3), hex("0001 0000 0002"),
        hex("61000000e900000000000000 000000000000000000000000 6c0000006f0000006e000000"));
    refuses(wide, SHAPE(1), hex("ffff"), ZLG_CORRUPT, "code -1");
}

static void test_categorize_refused(void **state)
{
    (void)state;
    refuses_filters("<i4", 1, "[{\"id\": \"categorize\", \"labels\": []}]", ZLG_METADATA,
                    "it takes text");
    refuses_filters("<U1", 1, "[{\"id\": \"categorize\", \"labels\": \"a\"}]", ZLG_METADATA,
                    "\"labels\" is not a list");
    refuses_filters("<U1", 1, "[{\"id\": \"categorize\", \"labels\": [1]}]", ZLG_METADATA,
                    "a label is not text");
    refuses_filters("<U1", 1,
                    "[{\"id\": \"categorize\", \"labels\": [], \"astype\": \"<f4\"}]",
                    ZLG_METADATA, "codes are float32");
    refuses_filters("<U1", 1, "[{\"id\": \"json2\", \"encoding\": \"utf-16\"}]",
                    ZLG_UNSUPPORTED, "\"encoding\"");
    refuses_filters("<c8", 1, "[{\"id\": \"json2\"}]", ZLG_UNSUPPORTED, "complex");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        codec_test(test_json_text),       codec_test(test_json_escapes),
        codec_test(test_json_numbers),    codec_test(test_json_broken),
        codec_test(test_json_deep),       codec_test(test_msgpack),
        codec_test(test_msgpack_lengths), codec_test(test_msgpack_broken),
        codec_test(test_categorize),      codec_test(test_categorize_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
