/* zfp and zfpy: streams written by zfpy 1.0.1, every type that is promoted, streams that
 * are cut, changed or too long. Without libzfp: that the error says so. */
#include "codec_array_test.h"

#include <math.h>

#if ZELLIGE_HAVE_ZFP

static zlgi_chain *zfp(const char *data_type, int rank, const char *configuration)
{
    char name[40], codecs[300];
    snprintf(name, sizeof name, "\"%s\"", data_type);
    snprintf(codecs, sizeof codecs, "[{\"name\": \"zfp\", \"configuration\": {%s}}]",
             configuration);
    return chain_v3(name, rank, codecs);
}

static const char REVERSIBLE[] = "\"mode\": \"reversible\"";

static void test_streams(void **state)
{
    (void)state;
    static const float floats[] = {1.5f, -2, 0, 100, 7};
    static const int32_t words[] = {1, -2, 30, 400, 5};
    codes(zfp("float32", 1, REVERSIBLE), SHAPE(5), BYTES_OF(floats),
          hex("19268108e4559f20 3108000000000000"));
    codes(zfp("int32", 1, REVERSIBLE), SHAPE(5), BYTES_OF(words),
          hex("1f000010c08c62fc 1f0000008c000000"));
    codes(chain_v2("<f4", 1, "null", "{\"id\": \"zfpy\", \"mode\": 4, \"tolerance\": -1}",
                   false),
          SHAPE(5), BYTES_OF(floats),
          hex("7a66700542000000 0000008819268108 e4559f2031080000"));
}

/* All that the codec takes, on every rank; values that promotion keeps. */
static void test_types(void **state)
{
    (void)state;
    static const char *const types[] = {
        "int2",  "uint2",  "int4",  "uint4",  "int8",    "uint8",    "int16",   "uint16",
        "int32", "uint32", "int64", "uint64", "float16", "bfloat16", "float32", "float64"};
    static const int64_t shapes[][4] = {
        {5, 0, 0, 0}, {3, 5, 0, 0}, {2, 3, 5, 0}, {2, 2, 3, 5}};
    for (size_t i = 0; i < ZLGI_COUNT(types); i++) {
        for (int rank = 1; rank <= 4; rank++) {
            const zlgi_chain *chain = zfp(types[i], rank, REVERSIBLE);
            const zlgi_dtype *dtype = chain->step[0].from.dtype;
            const zlgi_layout *layout = layout_of(chain, shapes[rank - 1]);
            uint8_t *elements = zlgi_arena_get(&arena, layout->edge[0].n_bytes);
            for (size_t k = 0; k < layout->edge[0].n_elements; k++) {
                uint8_t *element = elements + k * dtype->n_bytes;
                memset(element, 0, dtype->n_bytes);
                if (zlgi_type_is_float(dtype->type))
                    zlgi_number_from_double(dtype->type, (double)k / 4 - 3, element);
                else
                    element[0] = (uint8_t)(k * 7);
            }
            zlgi_dtype_normalize(dtype, elements, layout->edge[0].n_elements);
            round_trips(chain, shapes[rank - 1],
                        (zlgi_bytes){elements, layout->edge[0].n_bytes});
        }
    }
}

static void test_ranks(void **state)
{
    (void)state;
    const zlgi_bytes one = BYTES_OF(((const double[]){2.5}));
    round_trips(zfp("float64", 0, REVERSIBLE), SHAPE(0), one);
    codes(zfp("float64", 1, REVERSIBLE), SHAPE(0), (zlgi_bytes){NULL, 0},
          (zlgi_bytes){NULL, 0});
    refuses_codecs("\"float32\"", 5,
                   "[{\"name\": \"zfp\", \"configuration\": {\"mode\": \"reversible\"}}]",
                   ZLG_UNSUPPORTED, "5 axes, at most 4");
    static const float floats[6] = {1, 2, 3, 4, 5, 6};
    const zlgi_chain *squeezed =
        chain_v3("\"float32\"", 5,
                 "[\"squeeze\", {\"name\": \"zfp\", \"configuration\": {\"mode\": "
                 "\"reversible\"}}]");
    encodes(squeezed, SHAPE(1, 2, 1, 3, 1), BYTES_OF(floats),
            encode(zfp("float32", 2, REVERSIBLE), SHAPE(2, 3), BYTES_OF(floats)));
    round_trips(squeezed, SHAPE(1, 2, 1, 3, 1), BYTES_OF(floats));
    zlgi_layout layout;
    assert_int_equal(zlgi_chain_layout(squeezed, SHAPE(2, 2, 2, 3, 2), &layout, &error),
                     ZLG_OK);
    zlg_status status;
    decode(squeezed, SHAPE(2, 2, 2, 3, 2), hex("0000000000000000"), &status);
    assert_int_equal(status, ZLG_UNSUPPORTED);
}

static void test_lossy_modes(void **state)
{
    (void)state;
    double numbers[48], back[48];
    for (size_t i = 0; i < 48; i++)
        numbers[i] = (double)(i * i) / 10;
    static const struct {
        const char *configuration;
        double error;
        size_t n_bytes; /* 0: any */
    } modes[] = {
        {"\"mode\": \"fixed_accuracy\", \"tolerance\": 0.01", 0.01, 0},
        {"\"mode\": \"fixed_precision\", \"precision\": 40", 1e-6, 0},
        {"\"mode\": \"fixed_rate\", \"rate\": 32", 1e-3, 192 + 64},
        {"\"mode\": \"expert\", \"minbits\": 1, \"maxbits\": 16658, \"maxprec\": 64,"
         " \"minexp\": -20",
         1e-4, 0},
    };
    for (size_t i = 0; i < ZLGI_COUNT(modes); i++) {
        const zlgi_chain *chain = zfp("float64", 2, modes[i].configuration);
        zlgi_bytes stored = encode(chain, SHAPE(6, 8), BYTES_OF(numbers));
        if (modes[i].n_bytes > 0)
            assert_int_equal(stored.n, modes[i].n_bytes);
        zlg_status status;
        const uint8_t *elements = decode(chain, SHAPE(6, 8), stored, &status);
        assert_non_null(elements);
        memcpy(back, elements, sizeof back);
        for (size_t k = 0; k < 48; k++)
            assert_true(fabs(back[k] - numbers[k]) <= modes[i].error);
        refuses(chain, SHAPE(6, 8), (zlgi_bytes){stored.data, stored.n - 8}, ZLG_CORRUPT,
                "");
    }
}

/* zarrs takes the rate of every chunk as if it had three axes: blocks of 64 elements. */
static void test_rate_of_zarrs(void **state)
{
    (void)state;
    static const float floats[4][4] = {
        {1, 2, 3, 4}, {5, 6, 7, 8}, {9, 8, 7, 6}, {5, 4, 3, 2}};
    const zlgi_chain *as_three =
        zfp("float32", 2,
            "\"mode\": \"expert\", \"minbits\": 1024, \"maxbits\": 1024,"
            " \"maxprec\": 64, \"minexp\": -1074");
    const zlgi_chain *chain = zfp("float32", 2, "\"mode\": \"fixed_rate\", \"rate\": 16");
    zlgi_bytes stored = encode(as_three, SHAPE(4, 4), BYTES_OF(floats));
    assert_int_equal(stored.n, 128);
    assert_int_equal(encode(chain, SHAPE(4, 4), BYTES_OF(floats)).n, 32);
    zlg_status status;
    const uint8_t *elements = decode(as_three, SHAPE(4, 4), stored, &status);
    assert_non_null(elements);
    decodes(chain, SHAPE(4, 4), stored, (zlgi_bytes){elements, sizeof floats});
}

static void test_damage(void **state)
{
    (void)state;
    static const double numbers[9] = {1, 2.5, -3, 1e10, 5, 6, 7, 1e-3, 9};
    const zlgi_chain *chain = zfp("float64", 2, REVERSIBLE);
    zlgi_bytes stored = encode(chain, SHAPE(3, 3), BYTES_OF(numbers));
    survives_damage(chain, SHAPE(3, 3), stored, false);
    const zlgi_chain *headed = chain_v2(
        "<f8", 2, "[{\"id\": \"zfpy\", \"mode\": 4, \"tolerance\": -1}]", "null", false);
    stored = encode(headed, SHAPE(3, 3), BYTES_OF(numbers));
    survives_damage(headed, SHAPE(3, 3), stored, false);
    refuses(headed, SHAPE(3, 4), stored, ZLG_CORRUPT, "announces 9 elements, 12 expected");
    refuses(headed, SHAPE(3, 3), hex(""), ZLG_CORRUPT, "no header");
    refuses(chain_v2("<f4", 2, "[{\"id\": \"zfpy\"}]", "null", false), SHAPE(3, 3), stored,
            ZLG_CORRUPT, "another type than float32");
    /* Any shape of as many elements will do: numcodecs looks at nothing else. */
    decodes(headed, SHAPE(1, 9), stored, BYTES_OF(numbers));
    uint8_t *longer = zlgi_arena_get(&arena, stored.n + 8);
    memset(longer, 0, stored.n + 8);
    memcpy(longer, stored.data, stored.n);
    refuses(headed, SHAPE(3, 3), (zlgi_bytes){longer, stored.n + 8}, ZLG_CORRUPT,
            "bytes are stored, the stream has");
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *data_type, *configuration;
        zlg_status status;
        const char *part;
    } refused[] = {
        {"\"bool\"", "\"mode\": \"reversible\"", ZLG_UNSUPPORTED, "bool"},
        {"\"complex64\"", "\"mode\": \"reversible\"", ZLG_UNSUPPORTED, "complex"},
        {"\"float32\"", "", ZLG_METADATA, "\"mode\" is missing"},
        {"\"float32\"", "\"mode\": \"best\"", ZLG_METADATA, "\"best\""},
        {"\"float32\"", "\"mode\": \"fixed_rate\"", ZLG_METADATA, "\"rate\" is missing"},
        {"\"float32\"", "\"mode\": \"fixed_rate\", \"rate\": 1e300", ZLG_METADATA,
         "\"rate\""},
        {"\"float32\"", "\"mode\": \"fixed_accuracy\", \"tolerance\": -1", ZLG_METADATA,
         "\"tolerance\""},
        {"\"float32\"", "\"mode\": \"fixed_precision\", \"precision\": 65", ZLG_METADATA,
         "\"precision\""},
        {"\"float32\"",
         "\"mode\": \"expert\", \"minbits\": 9, \"maxbits\": 8, \"maxprec\": 1, "
         "\"minexp\": 0",
         ZLG_METADATA, "\"minbits\" is above"},
    };
    for (size_t i = 0; i < ZLGI_COUNT(refused); i++) {
        char codecs[300];
        snprintf(codecs, sizeof codecs, "[{\"name\": \"zfp\", \"configuration\": {%s}}]",
                 refused[i].configuration);
        refuses_codecs(refused[i].data_type, 1, codecs, refused[i].status, refused[i].part);
    }
    refuses_filters("<i2", 1, "[{\"id\": \"zfpy\"}]", ZLG_METADATA, "int16");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        codec_test(test_streams), codec_test(test_types),
        codec_test(test_ranks),   codec_test(test_lossy_modes),
        codec_test(test_damage),  codec_test(test_rate_of_zarrs),
        codec_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

static void test_missing(void **state)
{
    (void)state;
    refuses_codecs("\"float32\"", 1, "[\"zfp\"]", ZLG_UNSUPPORTED, "libzfp");
    refuses_filters("<f4", 1, "[{\"id\": \"zfpy\"}]", ZLG_UNSUPPORTED, "libzfp");
}

int main(void)
{
    const struct CMUnitTest tests[] = {codec_test(test_missing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
