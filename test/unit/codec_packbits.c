/* packbits of the version 3 registry: every width, cut bits, signs and padding. */
#include "codec_array_test.h"

static zlgi_chain *packed(const char *data_type, const char *configuration)
{
    char name[40], codecs[200];
    snprintf(name, sizeof name, "\"%s\"", data_type);
    snprintf(codecs, sizeof codecs, "[{\"name\": \"packbits\", \"configuration\": {%s}}]",
             configuration);
    return chain_v3(name, 1, codecs);
}

static void test_widths(void **state)
{
    (void)state;
    codes(packed("bool", ""), SHAPE(10), hex("01 00 00 00 00 00 00 00 01 01"),
          hex("01 03"));
    codes(packed("int4", ""), SHAPE(2), hex("f8 f9"), hex("98"));
    codes(packed("int2", ""), SHAPE(5), hex("fe ff 00 01 ff"), hex("4e 03"));
    codes(packed("uint2", ""), SHAPE(4), hex("03 02 01 00"), hex("1b"));
    codes(packed("float6_e2m3fn", ""), SHAPE(4), hex("3f 00 01 20"), hex("3f 10 80"));
    codes(packed("uint16", ""), SHAPE(2), hex("0102 0304"), hex("0102 0304"));
    codes(packed("complex64", ""), SHAPE(1), hex("01020304 05060708"),
          hex("01020304 05060708"));
}

static void test_cut_bits(void **state)
{
    (void)state;
    /* Bits 3 to 9; what lies outside is gone. */
    encodes(packed("uint16", "\"first_bit\": 3, \"last_bit\": 9"), SHAPE(2),
            hex("ffff 0800"), hex("ff 00"));
    decodes(packed("uint16", "\"first_bit\": 3, \"last_bit\": 9"), SHAPE(2), hex("ff 00"),
            hex("f803 0800"));
    codes(packed("int16", "\"first_bit\": 0, \"last_bit\": 9"), SHAPE(3),
          BYTES_OF(((const int16_t[]){-1, 511, -512})), hex("ff ff 07 20"));
    /* The sign reaches the top of wide types. */
    codes(packed("int64", "\"last_bit\": 2"), SHAPE(2),
          BYTES_OF(((const int64_t[]){-4, 3})), hex("1c"));
    codes(packed("complex64", "\"start_bit\": 16, \"end_bit\": 31"), SHAPE(1),
          hex("0000803f 000080bf"), hex("803f 80bf"));
    codes(packed("float64", "\"last_bit\": null"), SHAPE(1), hex("0102030405060708"),
          hex("0102030405060708"));
}

static void test_padding(void **state)
{
    (void)state;
    const zlgi_bytes flags = hex("01 00 01");
    codes(packed("bool", "\"padding_encoding\": \"first_byte\""), SHAPE(3), flags,
          hex("05 05"));
    codes(packed("bool", "\"padding_encoding\": \"last_byte\""), SHAPE(3), flags,
          hex("05 05"));
    codes(packed("bool", "\"padding_encoding\": \"end_byte\""), SHAPE(8),
          hex("01 01 01 01 01 01 01 00"), hex("7f 00"));
    codes(packed("bool", "\"padding_encoding\": \"start_byte\""), SHAPE(0), hex(""),
          hex("00"));
    const zlgi_chain *chain = packed("bool", "\"padding_encoding\": \"first_byte\"");
    refuses(chain, SHAPE(3), hex("04 05"), ZLG_CORRUPT, "4 bits of padding are stated, 5");
    refuses(chain, SHAPE(3), hex("05"), ZLG_CORRUPT, "1 bytes are stored, 2 expected");
    refuses(packed("bool", ""), SHAPE(9), hex("01"), ZLG_CORRUPT, "1 bytes are stored, 2");
    /* Whole bytes are read with the byte and, as zarrs writes them, without it. */
    const zlgi_chain *whole = packed("uint8", "\"padding_encoding\": \"first_byte\"");
    codes(whole, SHAPE(2), hex("07 09"), hex("00 07 09"));
    decodes(whole, SHAPE(2), hex("07 09"), hex("07 09"));
    refuses(whole, SHAPE(2), hex("07"), ZLG_CORRUPT, "1 bytes, 3 expected");
    refuses(whole, SHAPE(2), hex("01 07 09"), ZLG_CORRUPT, "1 bits of padding");
}

static void test_round_trips(void **state)
{
    (void)state;
    uint8_t bytes[8 * 37];
    uint64_t seed = 5;
    static const char *const types[] = {"int2",  "uint4",  "int8",    "uint16",
                                        "int32", "uint64", "float32", "float6_e3m2fn"};
    for (size_t i = 0; i < ZLGI_COUNT(types); i++) {
        const zlgi_chain *chain = packed(types[i], "\"padding_encoding\": \"last_byte\"");
        const zlgi_dtype *dtype = chain->step[0].from.dtype;
        for (size_t k = 0; k < sizeof bytes; k++)
            bytes[k] = (uint8_t)test_random(&seed);
        zlgi_dtype_normalize(dtype, bytes, 37);
        round_trips(chain, SHAPE(37), (zlgi_bytes){bytes, 37 * dtype->n_bytes});
    }
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *data_type, *configuration, *part;
    } refused[] = {
        {"\"uint8\"", "\"first_bit\": 5, \"last_bit\": 4", "bits 5 to 4"},
        {"\"uint8\"", "\"last_bit\": 8", "bits 0 to 8 of components that have 8"},
        {"\"int4\"", "\"last_bit\": 4", "components that have 4"},
        {"\"int4\"", "\"first_bit\": -1", "\"first_bit\" is -1"},
        {"\"int4\"", "\"padding_encoding\": \"middle\"", "\"middle\""},
    };
    for (size_t i = 0; i < ZLGI_COUNT(refused); i++) {
        char codecs[200];
        snprintf(codecs, sizeof codecs,
                 "[{\"name\": \"packbits\", \"configuration\": {%s}}]",
                 refused[i].configuration);
        refuses_codecs(refused[i].data_type, 1, codecs, ZLG_METADATA, refused[i].part);
    }
    refuses_codecs("\"r16\"", 1, "[\"packbits\"]", ZLG_UNSUPPORTED, "not a number");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        codec_test(test_widths),      codec_test(test_cut_bits), codec_test(test_padding),
        codec_test(test_round_trips), codec_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
