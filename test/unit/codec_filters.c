/* delta, fixedscaleoffset, quantize, astype, bitround and the packbits of numcodecs: stated
 * values, made by numcodecs unless noted, on byte edges (version 2) and typed ones. */
#include "codec_array_test.h"

#include <math.h>

static zlgi_chain *v2(const char *dtype, const char *filter)
{
    char filters[400];
    snprintf(filters, sizeof filters, "[%s]", filter);
    return chain_v2(dtype, 1, filters, "null", false);
}

/* The same codec in front of little-endian `bytes`. */
static zlgi_chain *v3(const char *data_type, const char *codec)
{
    char codecs[400], name[40];
    snprintf(codecs, sizeof codecs,
             "[%s, {\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}]",
             codec);
    snprintf(name, sizeof name, "\"%s\"", data_type);
    return chain_v3(name, 1, codecs);
}

static void test_delta(void **state)
{
    (void)state;
    static const int16_t numbers[] = {10, 11, 9, 9};
    codes(v2("<i2", "{\"id\": \"delta\", \"dtype\": \"<i2\", \"astype\": \"<i1\"}"),
          SHAPE(4), BYTES_OF(numbers), hex("0a 01 fe 00"));
    codes(v2(">i2", "{\"id\": \"delta\", \"dtype\": \">i2\"}"), SHAPE(4), BYTES_OF(numbers),
          hex("000a 0001 fffe 0000"));
    codes(v3("int16",
             "{\"name\": \"numcodecs.delta\", \"configuration\": {\"dtype\": \"int16\","
             " \"astype\": null}}"),
          SHAPE(4), BYTES_OF(numbers), hex("0a00 0100 feff 0000"));
    codes(v3("int16",
             "{\"name\": \"numcodecs.delta\", \"configuration\": {\"dtype\": \"<i2\","
             " \"astype\": \"<i4\"}}"),
          SHAPE(4), BYTES_OF(numbers), hex("0a000000 01000000 feffffff 00000000"));
}

/* Differences wrap in dtype before they are cast: 65533 is no -3. */
static void test_delta_wraps(void **state)
{
    (void)state;
    static const uint16_t numbers[] = {5, 2};
    codes(v2("<u2", "{\"id\": \"delta\", \"dtype\": \"<u2\", \"astype\": \"<i4\"}"),
          SHAPE(2), BYTES_OF(numbers), hex("05000000 fdff0000"));
    static const int64_t ends[] = {INT64_MIN, INT64_MAX, 0};
    round_trips(v2("<i8", "{\"id\": \"delta\", \"dtype\": \"<i8\"}"), SHAPE(3),
                BYTES_OF(ends));
}

/* (1e8 + 1) - 1e8 is 0 in float32 and 1 in any other order; -0 keeps its sign. */
static void test_delta_sums_from_the_left(void **state)
{
    (void)state;
    static const float stored[] = {1e8f, 1.0f, -1e8f, -0.0f},
                       expected[] = {1e8f, 1e8f, 0, 0};
    const zlgi_chain *chain = v2("<f4", "{\"id\": \"delta\", \"dtype\": \"<f4\"}");
    decodes(chain, SHAPE(4), BYTES_OF(stored), BYTES_OF(expected));
    static const float zeros[] = {-0.0f, -0.0f};
    decodes(chain, SHAPE(2), BYTES_OF(zeros), BYTES_OF(zeros));
    /* float64 on one side makes the sum float64. */
    static const double wide[] = {1e8, 1.0, -1e8, 0};
    static const float sums[] = {1e8f, 1e8f, 1.0f, 1.0f};
    decodes(v2("<f4", "{\"id\": \"delta\", \"dtype\": \"<f4\", \"astype\": \"<f8\"}"),
            SHAPE(4), BYTES_OF(wide), BYTES_OF(sums));
    /* So do uint64 and int64 together: 2^53 + 1 is lost. */
    static const int64_t steps[] = {INT64_C(1) << 53, 1, 1};
    static const uint64_t reached[] = {UINT64_C(1) << 53, UINT64_C(1) << 53,
                                       UINT64_C(1) << 53};
    decodes(v2("<u8", "{\"id\": \"delta\", \"dtype\": \"<u8\", \"astype\": \"<i8\"}"),
            SHAPE(3), BYTES_OF(steps), BYTES_OF(reached));
}

/* Blocks inside do not show: 1000 elements are more than three of them. */
static void test_delta_across_blocks(void **state)
{
    (void)state;
    int32_t numbers[1000];
    double floats[1000];
    uint64_t seed = 7;
    for (size_t i = 0; i < 1000; i++) {
        numbers[i] = (int32_t)test_random(&seed);
        floats[i] = (double)(int32_t)(test_random(&seed) & 0xffffff);
    }
    round_trips(v2("<i4", "{\"id\": \"delta\", \"dtype\": \"<i4\"}"), SHAPE(1000),
                BYTES_OF(numbers));
    round_trips(v2(">f8", "{\"id\": \"delta\", \"dtype\": \">f8\"}"), SHAPE(1000),
                BYTES_OF(floats));
}

static void test_fixedscaleoffset(void **state)
{
    (void)state;
    static const double numbers[] = {0.05, 0.15, 0.25, -0.05, 1.26}; /* ties to even */
    static const double back[] = {0, 0.2, 0.2, 0, 1.3};
    const zlgi_chain *chain = v2("<f8", "{\"id\": \"fixedscaleoffset\", \"scale\": 10,"
                                        " \"offset\": 0, \"dtype\": \"<f8\","
                                        " \"astype\": \"<i2\"}");
    encodes(chain, SHAPE(5), BYTES_OF(numbers), hex("0000 0200 0200 0000 0d00"));
    decodes(chain, SHAPE(5), hex("0000 0200 0200 0000 0d00"), BYTES_OF(back));
    static const double shifted[] = {1000.4, 1000};
    codes(v2(">f8", "{\"id\": \"fixedscaleoffset\", \"scale\": 10, \"offset\": 1000,"
                    " \"dtype\": \">f8\", \"astype\": \"|u1\"}"),
          SHAPE(2), BYTES_OF(shifted), hex("04 00"));
}

/* float32 stays float32: in float64 these would be 1000.1, 1000.3 and 1000.7. */
static void test_fixedscaleoffset_arithmetic(void **state)
{
    (void)state;
    static const float stored[] = {1, 3, 7};
    static const double numbers[] = {1000.0999755859375, 1000.29998779296875,
                                     1000.70001220703125};
    decodes(v2("<f8", "{\"id\": \"fixedscaleoffset\", \"scale\": 10.0, \"offset\": 1000.0,"
                      " \"dtype\": \"<f8\", \"astype\": \"<f4\"}"),
            SHAPE(3), BYTES_OF(stored), BYTES_OF(numbers));
    /* Integers with integers wrap. */
    static const uint8_t bytes[] = {1, 200};
    encodes(v2("|u1", "{\"id\": \"fixedscaleoffset\", \"scale\": 2, \"offset\": 3,"
                      " \"dtype\": \"|u1\"}"),
            SHAPE(2), BYTES_OF(bytes), hex("fc 8a"));
    refuses_filters("<f8", 1,
                    "[{\"id\": \"fixedscaleoffset\", \"scale\": \"x\", \"offset\": 0,"
                    " \"dtype\": \"<f8\"}]",
                    ZLG_METADATA, "\"scale\" is not a number");
    refuses_filters("<c8", 1,
                    "[{\"id\": \"fixedscaleoffset\", \"scale\": 1, \"offset\": 0,"
                    " \"dtype\": \"<c8\"}]",
                    ZLG_UNSUPPORTED, "complex");
}

/* The fill value of the next stage is the encoded one. */
static void test_fill(void **state)
{
    (void)state;
    static const double fill = 1002.5;
    const zlgi_codec_env env = env_of(false);
    zlgi_edge_type from = edge_of("\"float64\"", 1);
    from.fill = (zlgi_fill){(const uint8_t *)&fill, sizeof fill};
    zlgi_chain *chain = NULL;
    const char *codecs =
        "[{\"name\": \"numcodecs.fixedscaleoffset\", \"configuration\": {\"scale\": 10,"
        " \"offset\": 1000, \"dtype\": \"<f8\", \"astype\": \"<i2\"}},"
        " {\"name\": \"numcodecs.delta\", \"configuration\": {\"dtype\": \"<i2\"}},"
        " {\"name\": \"bytes\", \"configuration\": {\"endian\": \"big\"}}]";
    assert_int_equal(zlgi_chain_parse(&env, json_of(codecs), &from, &chain, &error),
                     ZLG_OK);
    assert_int_equal(chain->step[1].from.dtype->type, ZLG_INT16);
    assert_bytes((zlgi_bytes){chain->step[2].from.fill.data, chain->step[2].from.fill.n},
                 BYTES_OF(((const int16_t[]){25})));
}

static void test_quantize(void **state)
{
    (void)state;
    static const double numbers[] = {0.1, 0.2, 1.26, 3.14159};
    static const double rounded[] = {0.125, 0.1875, 1.25, 3.125};
    static const float narrow[] = {0.125f, 0.1875f, 1.25f, 3.125f};
    const zlgi_chain *chain = v2(
        "<f8",
        "{\"id\": \"quantize\", \"digits\": 1, \"dtype\": \"<f8\", \"astype\": \"<f4\"}");
    encodes(chain, SHAPE(4), BYTES_OF(numbers), BYTES_OF(narrow));
    decodes(chain, SHAPE(4), BYTES_OF(narrow), BYTES_OF(rounded));
    static const double large[] = {1234, -5};
    encodes(v2("<f8", "{\"id\": \"quantize\", \"digits\": -2, \"dtype\": \"<f8\"}"),
            SHAPE(2), BYTES_OF(large), BYTES_OF(((const double[]){1216, -0.0})));
    refuses_filters("<i4", 1, "[{\"id\": \"quantize\", \"digits\": 1, \"dtype\": \"<i4\"}]",
                    ZLG_METADATA, "only floats");
    refuses_filters("<f4", 1, "[{\"id\": \"quantize\", \"dtype\": \"<f4\"}]", ZLG_METADATA,
                    "\"digits\" is missing");
}

static void test_astype(void **state)
{
    (void)state;
    static const int64_t numbers[] = {1, -2, 300};
    codes(v2("<i8", "{\"id\": \"astype\", \"encode_dtype\": \">i2\","
                    " \"decode_dtype\": \"<i8\"}"),
          SHAPE(3), BYTES_OF(numbers), hex("0001 fffe 012c"));
    encodes(v2("<i8", "{\"id\": \"astype\", \"encode_dtype\": \"|u1\","
                      " \"decode_dtype\": \"<i8\"}"),
            SHAPE(3), BYTES_OF(numbers), hex("01 fe 2c"));
    static const float complex32[] = {1.5f, -2};
    static const double complex64[] = {1.5, -2};
    codes(v2("<c16", "{\"id\": \"astype\", \"encode_dtype\": \"<c8\","
                     " \"decode_dtype\": \"<c16\"}"),
          SHAPE(1), BYTES_OF(complex64), BYTES_OF(complex32));
    codes(v3("float64", "{\"name\": \"numcodecs.astype\", \"configuration\":"
                        " {\"encode_dtype\": \"<f4\", \"decode_dtype\": \"<f8\"}}"),
          SHAPE(2), BYTES_OF(complex64), BYTES_OF(complex32));
    refuses_filters("<i8", 1, "[{\"id\": \"astype\", \"decode_dtype\": \"<i8\"}]",
                    ZLG_METADATA, "\"encode_dtype\" is missing");
    refuses_filters("<i8", 1,
                    "[{\"id\": \"astype\", \"decode_dtype\": \"<i8\","
                    " \"encode_dtype\": \"<U4\"}]",
                    ZLG_UNSUPPORTED, "not a number");
}

/* Every pair of types, over values that all can hold. */
static void test_astype_pairs(void **state)
{
    (void)state;
    static const char *const types[] = {"|i1", ">i2", "<i4", ">i8", "|u1", "<u2",
                                        ">u4", "<u8", ">f2", "<f4", ">f8"};
    static const uint8_t numbers[] = {0, 1, 2, 63, 127};
    for (size_t i = 0; i < ZLGI_COUNT(types); i++) {
        for (size_t k = 0; k < ZLGI_COUNT(types); k++) {
            char filters[300];
            snprintf(filters, sizeof filters,
                     "[{\"id\": \"astype\", \"decode_dtype\": \"|u1\", \"encode_dtype\": "
                     "\"%s\"},"
                     " {\"id\": \"astype\", \"decode_dtype\": \"%s\", \"encode_dtype\": "
                     "\"%s\"}]",
                     types[i], types[i], types[k]);
            round_trips(chain_v2("|u1", 1, filters, "null", false), SHAPE(5),
                        BYTES_OF(numbers));
        }
    }
}

/* What NumPy gives on x86-64 where C leaves it open. */
static void test_astype_out_of_range(void **state)
{
    (void)state;
    static const double numbers[] = {-1.9, 300.5, 70000, 3e9, -3e9, 1e19, NAN, -INFINITY};
    encodes(v2("<f8", "{\"id\": \"astype\", \"decode_dtype\": \"<f8\","
                      " \"encode_dtype\": \"|i1\"}"),
            SHAPE(8), BYTES_OF(numbers), hex("ff 2c 70 00 00 00 00 00"));
    static const int32_t words[] = {-1,        300,       70000,     INT32_MIN,
                                    INT32_MIN, INT32_MIN, INT32_MIN, INT32_MIN};
    encodes(v2("<f8", "{\"id\": \"astype\", \"decode_dtype\": \"<f8\","
                      " \"encode_dtype\": \"<i4\"}"),
            SHAPE(8), BYTES_OF(numbers), BYTES_OF(words));
    static const uint64_t longs[] = {UINT64_MAX,
                                     300,
                                     70000,
                                     3000000000,
                                     (uint64_t)INT64_C(-3000000000),
                                     UINT64_C(10000000000000000000),
                                     UINT64_C(1) << 63,
                                     UINT64_C(1) << 63};
    encodes(v2("<f8", "{\"id\": \"astype\", \"decode_dtype\": \"<f8\","
                      " \"encode_dtype\": \"<u8\"}"),
            SHAPE(8), BYTES_OF(numbers), BYTES_OF(longs));
}

static void test_bitround_floats(void **state)
{
    (void)state;
    static const float numbers[] = {1.1f, 1.0625f, 1.1875f, -3.9f, INFINITY}; /* two ties */
    const zlgi_bytes rounded = hex("0000903f 0000803f 0000a03f 000080c0 0000807f");
    encodes(v2("<f4", "{\"id\": \"bitround\", \"keepbits\": 3}"), SHAPE(5),
            BYTES_OF(numbers), rounded);
    encodes(v2(">f4", "{\"id\": \"bitround\", \"keepbits\": 3}"), SHAPE(5),
            BYTES_OF(numbers), hex("3f900000 3f800000 3fa00000 c0800000 7f800000"));
    const zlgi_chain *chain =
        v3("float32", "{\"name\": \"bitround\", \"configuration\": {\"keepbits\": 3}}");
    encodes(chain, SHAPE(5), BYTES_OF(numbers), rounded);
    decodes(chain, SHAPE(5), rounded, rounded);
    encodes(v3("float32", "{\"name\": \"numcodecs.bitround\", \"configuration\":"
                          " {\"keepbits\": 23}}"),
            SHAPE(5), BYTES_OF(numbers), BYTES_OF(numbers));
    /* NaN stays NaN, whatever it carries. */
    const zlgi_bytes nans = hex("0100807f ffffff7f ffffffff");
    encodes(chain, SHAPE(3), nans, nans);
    encodes(
        v3("bfloat16", "{\"name\": \"bitround\", \"configuration\": {\"keepbits\": 1}}"),
        SHAPE(3), hex("9f3f a03f a13f"), hex("803f 803f c03f"));
}

/* Made by zarrs: numcodecs does not round integers. */
static void test_bitround_integers(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {0, 3, 7, 15, 17, 54, 89, 128, 255};
    static const uint8_t rounded[] = {0, 3, 7, 16, 16, 56, 96, 128, 224};
    encodes(v3("uint8", "{\"name\": \"bitround\", \"configuration\": {\"keepbits\": 3}}"),
            SHAPE(9), BYTES_OF(bytes), BYTES_OF(rounded));
    static const uint32_t words[] = {0, 1024, 1280, 1664, 1685, 123145182, 4294967295};
    static const uint32_t kept[] = {0, 1024, 1280, 1536, 1792, 117440512, 3758096384};
    encodes(v3("uint32", "{\"name\": \"bitround\", \"configuration\": {\"keepbits\": 3}}"),
            SHAPE(7), BYTES_OF(words), BYTES_OF(kept));
}

static void test_bitround_limits(void **state)
{
    (void)state;
    const char *over =
        "[{\"name\": \"bitround\", \"configuration\": {\"keepbits\": 24}}, \"bytes\"]";
    refuses_codecs("\"float32\"", 1, over, ZLG_METADATA,
                   "\"keepbits\" is 24, not from 0 to 23");
    refuses_codecs("\"uint8\"", 1, over, ZLG_METADATA, "not from 1 to 8");
    refuses_codecs("\"bool\"", 1, over, ZLG_UNSUPPORTED, "bool");
    refuses_codecs("\"float32\"", 1, "[\"bitround\", \"bytes\"]", ZLG_METADATA, "missing");
    /* Behind a filter whose output has a known type it rounds that type. */
    static const double numbers[] = {1.1, -3.9};
    encodes(
        chain_v2(
            "<f8", 1,
            "[{\"id\": \"astype\", \"decode_dtype\": \"<f8\", \"encode_dtype\": \">f4\"},"
            " {\"id\": \"bitround\", \"keepbits\": 3}]",
            "null", false),
        SHAPE(2), BYTES_OF(numbers), hex("3f900000 c0800000"));
    /* Behind one whose output is anything it only reads. */
    const zlgi_chain *chain = chain_v2(
        "|b1", 1, "[{\"id\": \"packbits\"}, {\"id\": \"bitround\", \"keepbits\": 3}]",
        "null", false);
    refuses_to_encode(chain, SHAPE(1), hex("01"), ZLG_UNSUPPORTED);
    decodes(chain, SHAPE(1), hex("07 80"), hex("01"));
}

static void test_packbits(void **state)
{
    (void)state;
    const zlgi_bytes flags = hex("01 00 00 00 00 00 00 00 01 01");
    codes(v2("|b1", "{\"id\": \"packbits\"}"), SHAPE(10), flags, hex("06 80 c0"));
    codes(v3("bool", "{\"name\": \"numcodecs.packbits\"}"), SHAPE(10), flags,
          hex("06 80 c0"));
    codes(v2("|b1", "{\"id\": \"packbits\"}"), SHAPE(8), hex("00 01 00 00 00 00 00 00"),
          hex("00 40"));
    const zlgi_chain *chain = v2("|b1", "{\"id\": \"packbits\"}");
    codes(chain, SHAPE(0), hex(""), hex("00"));
    refuses(chain, SHAPE(10), hex("06 80"), ZLG_CORRUPT, "2 bytes are stored, 3 expected");
    refuses(chain, SHAPE(10), hex("09 80 c0"), ZLG_CORRUPT, "9 unused bits");
    refuses(chain, SHAPE(10), hex("05 80 c0"), ZLG_CORRUPT,
            "11 bytes decoded, 10 expected");
    refuses_codecs("\"uint8\"", 1, "[{\"name\": \"numcodecs.packbits\"}, \"bytes\"]",
                   ZLG_METADATA, "takes bool");
}

static void test_refused(void **state)
{
    (void)state;
    const zlgi_chain *chain =
        v2("<i4", "{\"id\": \"delta\", \"dtype\": \"<i2\", \"astype\": \"<i4\"}");
    refuses(chain, SHAPE(2), hex("01000000 02000000"), ZLG_CORRUPT, "8 bytes are stored");
    refuses_filters("|b1", 1, "[{\"id\": \"delta\", \"dtype\": \"|b1\"}]", ZLG_UNSUPPORTED,
                    "bool");
    refuses_filters("<i4", 1, "[{\"id\": \"delta\"}]", ZLG_METADATA,
                    "\"dtype\" is missing");
    refuses_filters("<i4", 1, "[{\"id\": \"delta\", \"dtype\": 4}]", ZLG_METADATA,
                    "not a string");
    refuses_codecs(
        "\"int32\"", 1,
        "[{\"name\": \"numcodecs.delta\", \"configuration\": {\"dtype\": \"<i2\"}},"
        " \"bytes\"]",
        ZLG_METADATA, "elements of 2 bytes are configured");
    /* 3 bytes are no number of int16, whoever stored them. */
    zlgi_chain *odd =
        chain_v2("|u1", 1, "[{\"id\": \"delta\", \"dtype\": \"<i2\"}]", "null", false);
    zlgi_layout layout;
    assert_int_equal(zlgi_chain_layout(odd, SHAPE(3), &layout, &error), ZLG_METADATA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        codec_test(test_delta),
        codec_test(test_delta_wraps),
        codec_test(test_delta_sums_from_the_left),
        codec_test(test_delta_across_blocks),
        codec_test(test_fixedscaleoffset),
        codec_test(test_fixedscaleoffset_arithmetic),
        codec_test(test_fill),
        codec_test(test_quantize),
        codec_test(test_astype),
        codec_test(test_astype_pairs),
        codec_test(test_astype_out_of_range),
        codec_test(test_bitround_floats),
        codec_test(test_bitround_integers),
        codec_test(test_bitround_limits),
        codec_test(test_packbits),
        codec_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
