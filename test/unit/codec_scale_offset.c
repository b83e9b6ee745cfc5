/* scale_offset: arithmetic of the type itself, and whatever it cannot hold. */
#include "codec_array_test.h"

#include <math.h>

static const char *codecs_of(const char *configuration)
{
    char *text = zlgi_arena_get(&arena, 300);
    snprintf(text, 300,
             "[{\"name\": \"scale_offset\", \"configuration\": {%s}},"
             " {\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}]",
             configuration);
    return text;
}

static zlg_status parse_with_fill(const char *data_type, zlgi_bytes fill,
                                  const char *configuration, zlgi_chain **out)
{
    const zlgi_codec_env env = env_of(false);
    zlgi_edge_type from = edge_of(data_type, 1);
    from.fill = (zlgi_fill){fill.data, fill.n};
    return zlgi_chain_parse(&env, json_of(codecs_of(configuration)), &from, out, &error);
}

static void test_floats(void **state)
{
    (void)state;
    static const float numbers[] = {5, 15, INFINITY};
    codes(chain_v3("\"float32\"", 1, codecs_of("\"offset\": 5, \"scale\": 0.1")), SHAPE(3),
          BYTES_OF(numbers), BYTES_OF(((const float[]){0, 10 * 0.1f, INFINITY})));
    static const double doubles[] = {1, -7};
    codes(chain_v3("\"float64\"", 1, codecs_of("\"offset\": 2.0, \"scale\": 4.0")),
          SHAPE(2), BYTES_OF(doubles), BYTES_OF(((const double[]){-4, -36})));
    codes(chain_v3("\"float64\"", 1,
                   "[\"scale_offset\", {\"name\": \"bytes\","
                   " \"configuration\": {\"endian\": \"little\"}}]"),
          SHAPE(2), BYTES_OF(doubles), BYTES_OF(doubles));
    /* float16 rounds after each step: 1025 - 0.5 is 1024, and three times that 3072. */
    encodes(chain_v3("\"float16\"", 1, codecs_of("\"offset\": 0.5, \"scale\": 3")),
            SHAPE(1), hex("0164"), hex("006a"));
}

/* Without infinities what is too large has no value. */
static void test_small_floats(void **state)
{
    (void)state;
    const zlgi_chain *chain =
        chain_v3("\"float4_e2m1fn\"", 1, codecs_of("\"offset\": 1, \"scale\": 2"));
    codes(chain, SHAPE(2), hex("02 04"), hex("00 04"));       /* 1, 2 -> 0, 2 */
    refuses_to_encode(chain, SHAPE(1), hex("07"), ZLG_USAGE); /* (6 - 1) * 2 */
}

static void test_integers(void **state)
{
    (void)state;
    const zlgi_chain *chain =
        chain_v3("\"int8\"", 1, codecs_of("\"offset\": -5, \"scale\": 2"));
    codes(chain, SHAPE(3), hex("00 fb 3a"), hex("0a 00 7e"));
    refuses_to_encode(chain, SHAPE(1), hex("3b"), ZLG_USAGE); /* 64 * 2 */
    refuses_to_encode(chain, SHAPE(1), hex("7f"), ZLG_USAGE); /* 127 + 5 */
    refuses(chain, SHAPE(2), hex("02 03"), ZLG_CORRUPT,
            "element 1 does not scale back to a int8: non-zero remainder");
    refuses(chain_v3("\"int8\"", 1, codecs_of("\"offset\": 127, \"scale\": 1")), SHAPE(1),
            hex("01"), ZLG_CORRUPT, "outside the range of dtype int8");
    const zlgi_chain *negated = chain_v3("\"int64\"", 1, codecs_of("\"scale\": -1"));
    static const int64_t least[] = {INT64_MIN};
    refuses_to_encode(negated, SHAPE(1), BYTES_OF(least), ZLG_USAGE);
    refuses(negated, SHAPE(1), BYTES_OF(least), ZLG_CORRUPT,
            "outside the range of dtype int64");
    static const uint64_t large[] = {UINT64_MAX, 1000};
    zlgi_chain *wide = NULL;
    assert_int_equal(
        parse_with_fill("\"uint64\"", BYTES_OF(large), "\"offset\": 1000", &wide), ZLG_OK);
    codes(wide, SHAPE(2), BYTES_OF(large),
          BYTES_OF(((const uint64_t[]){UINT64_MAX - 1000, 0})));
    refuses_to_encode(wide, SHAPE(1), BYTES_OF(((const uint64_t[]){999})), ZLG_USAGE);
}

/* 300 elements are more than a block; the last one is at fault. */
static void test_position(void **state)
{
    (void)state;
    uint8_t stored[300] = {0};
    stored[299] = 1;
    refuses(chain_v3("\"uint8\"", 1, codecs_of("\"scale\": 2")), SHAPE(300),
            BYTES_OF(stored), ZLG_CORRUPT, "element 299");
}

/* The fill value is encoded too, and must have an encoded form. */
static void test_fill(void **state)
{
    (void)state;
    zlgi_chain *chain = NULL;
    const char *configuration = "\"offset\": 1000, \"scale\": 3";
    assert_int_equal(parse_with_fill("\"uint16\"", hex("ef03"), configuration, &chain),
                     ZLG_OK);
    assert_bytes((zlgi_bytes){chain->step[1].from.fill.data, chain->step[1].from.fill.n},
                 hex("1500"));
    assert_int_equal(parse_with_fill("\"uint16\"", hex("0000"), configuration, &chain),
                     ZLG_METADATA);
}

static void test_refused(void **state)
{
    (void)state;
    refuses_codecs("\"bool\"", 1, codecs_of(""), ZLG_METADATA, "bool is no real number");
    refuses_codecs("\"int8\"", 1, codecs_of("\"scale\": 0"), ZLG_METADATA,
                   "\"scale\" is 0");
    refuses_codecs("\"int8\"", 1, codecs_of("\"scale\": 1.5"), ZLG_METADATA, "\"scale\"");
    refuses_codecs("\"int8\"", 1, codecs_of("\"offset\": 200"), ZLG_METADATA, "\"offset\"");
    refuses_codecs("\"int8\"", 1, codecs_of("\"factor\": 2"), ZLG_METADATA, "\"factor\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        codec_test(test_floats),   codec_test(test_small_floats), codec_test(test_integers),
        codec_test(test_position), codec_test(test_fill),         codec_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
