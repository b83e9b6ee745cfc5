/* cast_value: each rule of rounding and range by stated values, the map, the fill value. */
#include "codec_array_test.h"

#include <math.h>

#define LITTLE "{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}"

static const char *codecs_of(const char *configuration)
{
    char *text = zlgi_arena_get(&arena, 500);
    snprintf(text, 500, "[{\"name\": \"cast_value\", \"configuration\": {%s}}, " LITTLE "]",
             configuration);
    return text;
}

static zlgi_chain *cast(const char *from, const char *configuration)
{
    char name[40];
    snprintf(name, sizeof name, "\"%s\"", from);
    return chain_v3(name, 1, codecs_of(configuration));
}

static void test_roundings(void **state)
{
    (void)state;
    static const double numbers[] = {2.5, 3.5, -2.5, -2.4, 2.4, 0.5};
    static const struct {
        const char *name;
        int8_t expected[6];
    } roundings[] = {
        {"nearest-even", {2, 4, -2, -2, 2, 0}},
        {"nearest-away", {3, 4, -3, -2, 2, 1}},
        {"towards-zero", {2, 3, -2, -2, 2, 0}},
        {"towards-positive", {3, 4, -2, -2, 3, 1}},
        {"towards-negative", {2, 3, -3, -3, 2, 0}},
    };
    for (size_t i = 0; i < ZLGI_COUNT(roundings); i++) {
        char configuration[100];
        snprintf(configuration, sizeof configuration,
                 "\"data_type\": \"int8\", \"rounding\": \"%s\"", roundings[i].name);
        encodes(cast("float64", configuration), SHAPE(6), BYTES_OF(numbers),
                BYTES_OF(roundings[i].expected));
    }
}

/* Also between floats, and from integers that have more bits than the float. */
static void test_rounding_to_floats(void **state)
{
    (void)state;
    static const double numbers[] = {1 + 0x1p-24, -1 - 0x1p-24, 0x1p-150, 3};
    encodes(cast("float64", "\"data_type\": \"float32\""), SHAPE(4), BYTES_OF(numbers),
            BYTES_OF(((const float[]){1, -1, 0, 3})));
    encodes(cast("float64", "\"data_type\": \"float32\", \"rounding\": \"nearest-away\""),
            SHAPE(4), BYTES_OF(numbers),
            BYTES_OF(((const float[]){1 + 0x1p-23f, -1 - 0x1p-23f, 0x1p-149f, 3})));
    encodes(
        cast("float64", "\"data_type\": \"float32\", \"rounding\": \"towards-negative\""),
        SHAPE(4), BYTES_OF(numbers), BYTES_OF(((const float[]){1, -1 - 0x1p-23f, 0, 3})));
    static const int64_t longs[] = {(INT64_C(1) << 53) + 1, -(INT64_C(1) << 53) - 1,
                                    INT64_MAX};
    encodes(cast("int64", "\"data_type\": \"float64\", \"rounding\": \"towards-zero\""),
            SHAPE(3), BYTES_OF(longs),
            BYTES_OF(((const double[]){0x1p53, -0x1p53, 0x1p63 - 1024})));
    encodes(cast("int64", "\"data_type\": \"float64\", \"rounding\": \"towards-positive\""),
            SHAPE(3), BYTES_OF(longs),
            BYTES_OF(((const double[]){0x1p53 + 2, -0x1p53, 0x1p63})));
    encodes(cast("int64", "\"data_type\": \"float64\""), SHAPE(3), BYTES_OF(longs),
            BYTES_OF(((const double[]){0x1p53, -0x1p53, 0x1p63})));
}

static void test_out_of_range(void **state)
{
    (void)state;
    static const int32_t numbers[] = {32768, 32769, -32769, 7};
    encodes(cast("int32", "\"data_type\": \"int16\", \"out_of_range\": \"wrap\""), SHAPE(4),
            BYTES_OF(numbers), BYTES_OF(((const int16_t[]){-32768, -32767, 32767, 7})));
    encodes(cast("int32", "\"data_type\": \"int16\", \"out_of_range\": \"clamp\""),
            SHAPE(4), BYTES_OF(numbers),
            BYTES_OF(((const int16_t[]){32767, 32767, -32768, 7})));
    refuses_to_encode(cast("int32", "\"data_type\": \"int16\""), SHAPE(4),
                      BYTES_OF(numbers), ZLG_USAGE);
    assert_non_null(strstr(error.message, "element 0, 32768, has no counterpart in int16"));
    /* Rounded first: 127.5 is 128 then, and outside. */
    static const double halves[] = {127.5, -128.5, 0x1p70};
    encodes(cast("float64", "\"data_type\": \"int8\", \"out_of_range\": \"wrap\""),
            SHAPE(3), BYTES_OF(halves), hex("80 80 00"));
    encodes(cast("float64", "\"data_type\": \"int2\", \"out_of_range\": \"wrap\""),
            SHAPE(3), BYTES_OF(((const double[]){2, -3, 1})), hex("fe 01 01"));
    /* Floats with infinities clamp to them, others to their greatest value. */
    static const double large[] = {1e39, -1e39, 3.4028235677973362e38};
    encodes(cast("float64", "\"data_type\": \"float32\", \"out_of_range\": \"clamp\""),
            SHAPE(3), BYTES_OF(large), hex("0000807f 000080ff ffff7f7f"));
    encodes(
        cast("float64", "\"data_type\": \"float4_e2m1fn\", \"out_of_range\": \"clamp\""),
        SHAPE(3), BYTES_OF(((const double[]){7, -1e9, 4.9})), hex("07 0f 06"));
    refuses_to_encode(cast("float64", "\"data_type\": \"float32\""), SHAPE(1),
                      BYTES_OF(((const double[]){3.4028235677973366e38})), ZLG_USAGE);
}

static void test_special_values(void **state)
{
    (void)state;
    static const double special[] = {NAN, INFINITY, -INFINITY, -0.0};
    encodes(cast("float64", "\"data_type\": \"float16\""), SHAPE(4), BYTES_OF(special),
            hex("007e 007c 00fc 0080"));
    /* No clamp makes a number of what is none. */
    for (size_t i = 0; i < 3; i++)
        refuses_to_encode(
            cast("float64", "\"data_type\": \"int8\", \"out_of_range\": \"clamp\""),
            SHAPE(1), (zlgi_bytes){(const uint8_t *)&special[i], 8}, ZLG_USAGE);
    refuses_to_encode(
        cast("float64", "\"data_type\": \"float6_e2m3fn\", \"out_of_range\": \"clamp\""),
        SHAPE(1), (zlgi_bytes){(const uint8_t *)&special[1], 8}, ZLG_USAGE);
    /* The other way the same rules hold. */
    refuses(cast("int8", "\"data_type\": \"float64\""), SHAPE(1),
            BYTES_OF(((double[]){NAN})), ZLG_CORRUPT, "nan, has no counterpart in int8");
    decodes(cast("int8", "\"data_type\": \"float64\""), SHAPE(2),
            BYTES_OF(((const double[]){-2.5, 7})), hex("fe 07"));
}

static void test_map(void **state)
{
    (void)state;
    const zlgi_chain *chain =
        cast("float64",
             "\"data_type\": \"uint8\", \"rounding\": \"towards-zero\","
             " \"out_of_range\": \"wrap\", \"scalar_map\": {\"encode\": [[\"NaN\", 255],"
             " [\"+Infinity\", 254], [1.5, 9], [1.5, 8]], \"decode\": [[255, \"NaN\"]]}");
    static const double numbers[] = {NAN, INFINITY, 1.5, 2.7, 300};
    encodes(chain, SHAPE(5), BYTES_OF(numbers), hex("ff fe 09 02 2c"));
    static const double back[] = {254, 9};
    decodes(chain, SHAPE(2), hex("fe 09"), BYTES_OF(back));
    zlg_status status;
    const double *nan =
        (const double *)(const void *)decode(chain, SHAPE(1), hex("ff"), &status);
    assert_true(isnan(*nan));
}

/* Every value of a type through every wider one. */
static void test_exact(void **state)
{
    (void)state;
    static const char *const narrow[] = {"int2",         "uint4",       "int8",
                                         "uint8",        "float8_e4m3", "float8_e5m2fnuz",
                                         "float6_e3m2fn"};
    static const char *const wide[] = {"float64", "float32"};
    uint8_t all[256];
    for (size_t i = 0; i < ZLGI_COUNT(narrow); i++) {
        for (size_t k = 0; k < ZLGI_COUNT(wide); k++) {
            char configuration[60];
            snprintf(configuration, sizeof configuration, "\"data_type\": \"%s\"", wide[k]);
            const zlgi_chain *chain = cast(narrow[i], configuration);
            for (int v = 0; v < 256; v++)
                all[v] = (uint8_t)v;
            zlgi_dtype_normalize(chain->step[0].from.dtype, all, 256);
            zlg_status status;
            const uint8_t *back = decode(chain, SHAPE(256),
                                         encode(chain, SHAPE(256), BYTES_OF(all)), &status);
            assert_non_null(back);
            for (int v = 0; v < 256; v++) {
                double was =
                    strncmp(narrow[i], "float", 5) == 0
                        ? zlgi_number_to_double(chain->step[0].from.dtype->type, &all[v])
                        : 0;
                if (!isnan(was))
                    assert_int_equal(back[v], all[v]);
            }
        }
    }
}

static zlg_status parse_with_fill(const char *data_type, const char *fill,
                                  const char *codecs, bool writing, zlgi_chain **out)
{
    zlgi_codec_env env = env_of(false);
    env.writing = writing;
    zlgi_edge_type from = edge_of(data_type, 1);
    assert_int_equal(
        zlgi_fill_parse_v3(&arena, from.dtype, json_of(fill), &from.fill, &error), ZLG_OK);
    return zlgi_chain_parse(&env, json_of(codecs), &from, out, &error);
}

static void test_fill(void **state)
{
    (void)state;
    zlgi_chain *chain = NULL;
    const char *codecs = codecs_of("\"data_type\": \"int16\", \"scalar_map\": {\"encode\":"
                                   " [[\"NaN\", -999]], \"decode\": [[-999, \"NaN\"]]}");
    assert_int_equal(parse_with_fill("\"float64\"", "\"NaN\"", codecs, true, &chain),
                     ZLG_OK);
    assert_int_equal(chain->step[1].from.dtype->type, ZLG_INT16);
    assert_bytes((zlgi_bytes){chain->step[1].from.fill.data, chain->step[1].from.fill.n},
                 BYTES_OF(((const int16_t[]){-999})));
    /* One that does not come back is read, but not written. */
    codecs = codecs_of("\"data_type\": \"int16\"");
    assert_int_equal(parse_with_fill("\"float64\"", "0.5", codecs, false, &chain), ZLG_OK);
    assert_int_equal(parse_with_fill("\"float64\"", "0.5", codecs, true, &chain),
                     ZLG_METADATA);
    assert_int_equal(parse_with_fill("\"float64\"", "\"NaN\"", codecs, false, &chain),
                     ZLG_METADATA);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *data_type, *configuration;
        zlg_status status;
        const char *part;
    } refused[] = {
        {"\"int32\"", "", ZLG_METADATA, "\"data_type\" is missing"},
        {"\"int32\"", "\"data_type\": \"int7\"", ZLG_UNSUPPORTED, "int7"},
        {"\"int32\"", "\"data_type\": \"bool\"", ZLG_METADATA, "bool is no real number"},
        {"\"complex64\"", "\"data_type\": \"int8\"", ZLG_METADATA, "no real number"},
        {"\"int32\"", "\"data_type\": \"int8\", \"rounding\": \"random\"", ZLG_METADATA,
         "rounding"},
        {"\"int32\"", "\"data_type\": \"int8\", \"extra\": 1", ZLG_METADATA, "\"extra\""},
        {"\"int32\"", "\"data_type\": \"float32\", \"out_of_range\": \"wrap\"",
         ZLG_METADATA, "float32 is no integer"},
        {"\"int32\"", "\"data_type\": \"int8\", \"scalar_map\": {\"encode\": [[1]]}",
         ZLG_METADATA, "no pair"},
        {"\"int32\"", "\"data_type\": \"int8\", \"scalar_map\": {\"encode\": [[1, 300]]}",
         ZLG_METADATA, "scalar_map"},
        {"\"int32\"", "\"data_type\": \"int8\", \"scalar_map\": {\"both\": []}",
         ZLG_METADATA, "\"both\""},
    };
    for (size_t i = 0; i < ZLGI_COUNT(refused); i++)
        refuses_codecs(refused[i].data_type, 1, codecs_of(refused[i].configuration),
                       refused[i].status, refused[i].part);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        codec_test(test_roundings),    codec_test(test_rounding_to_floats),
        codec_test(test_out_of_range), codec_test(test_special_values),
        codec_test(test_map),          codec_test(test_exact),
        codec_test(test_fill),         codec_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
