/* reshape and squeeze: shapes that come out, and shapes that cannot. */
#include "codec_array_test.h"

#define LITTLE "{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}"

static zlgi_chain *reshaped(int rank, const char *shape)
{
    char codecs[300];
    snprintf(codecs, sizeof codecs,
             "[{\"name\": \"reshape\", \"configuration\": {\"shape\": %s}}, \"bytes\"]",
             shape);
    return chain_v3("\"uint8\"", rank, codecs);
}

static void gives(int rank, const int64_t *shape, const char *text, int out_rank,
                  const int64_t *out_shape)
{
    const zlgi_chain *chain = reshaped(rank, text);
    const zlgi_layout *layout = layout_of(chain, shape);
    assert_int_equal(chain->step[1].from.rank, out_rank);
    assert_int_equal(layout->edge[1].rank, out_rank);
    assert_int_equal(layout->edge[1].n_elements, layout->edge[0].n_elements);
    for (int axis = 0; axis < out_rank; axis++)
        assert_int_equal(layout->edge[1].shape[axis], out_shape[axis]);
}

static void test_shapes(void **state)
{
    (void)state;
    const int64_t *shape = SHAPE(2, 3, 4);
    gives(3, shape, "[24]", 1, SHAPE(24));
    gives(3, shape, "[-1]", 1, SHAPE(24));
    gives(3, shape, "[6, -1]", 2, SHAPE(6, 4));
    gives(3, shape, "[[0, 1], [2]]", 2, SHAPE(6, 4));
    gives(3, shape, "[[0], [1, 2]]", 2, SHAPE(2, 12));
    gives(3, shape, "[[0], -1, 2]", 3, SHAPE(2, 6, 2));
    gives(3, shape, "[2, -1, 3, [2]]", 4, SHAPE(2, 1, 3, 4));
    gives(0, SHAPE(0), "[1, 1]", 2, SHAPE(1, 1));
    gives(2, SHAPE(1, 1), "[]", 0, SHAPE(0));
}

static void test_elements_stay(void **state)
{
    (void)state;
    const zlgi_bytes bytes = hex("00 01 02 03 04 05");
    codes(reshaped(2, "[[0, 1]]"), SHAPE(2, 3), bytes, bytes);
    /* Behind it a transpose works on the new shape. */
    codes(chain_v3("\"uint8\"", 1,
                   "[{\"name\": \"reshape\", \"configuration\": {\"shape\": [2, 3]}},"
                   " {\"name\": \"transpose\", \"configuration\": {\"order\": [1, 0]}}, "
                   "\"bytes\"]"),
          SHAPE(6), bytes, hex("00 03 01 04 02 05"));
}

static void test_impossible_shapes(void **state)
{
    (void)state;
    static const char *const impossible[] = {"[5, -1]",     "[7, 11]",        "[[1, 2], 2]",
                                             "[23]",        "[3, [1, 2], 2]", "[]",
                                             "[-1, [1], 8]"};
    for (size_t i = 0; i < ZLGI_COUNT(impossible); i++) {
        zlgi_layout layout;
        assert_int_equal(
            zlgi_chain_layout(reshaped(3, impossible[i]), SHAPE(2, 3, 4), &layout, &error),
            ZLG_METADATA);
    }
    zlgi_layout layout;
    assert_int_equal(zlgi_chain_layout(reshaped(1, "[4611686018427387904, 4]"), SHAPE(2),
                                       &layout, &error),
                     ZLG_LIMIT);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *shape, *part;
    } refused[] = {
        {"7", "not a list"},
        {"[0]", "no length"},
        {"[-2]", "no length"},
        {"[\"a\"]", "no length"},
        {"[-1, -1]", "more than once"},
        {"[[1], [0], 4]", "do not rise"},
        {"[[0], [0], 12]", "do not rise"},
        {"[[3]]", "do not rise from 0 to 2"},
    };
    for (size_t i = 0; i < ZLGI_COUNT(refused); i++) {
        char codecs[300];
        snprintf(codecs, sizeof codecs,
                 "[{\"name\": \"reshape\", \"configuration\": {\"shape\": %s}}, \"bytes\"]",
                 refused[i].shape);
        refuses_codecs("\"uint8\"", 3, codecs, ZLG_METADATA, refused[i].part);
    }
    refuses_codecs("\"uint8\"", 3, "[\"reshape\", \"bytes\"]", ZLG_METADATA, "not a list");
}

static void squeezes(int rank, const int64_t *shape, int out_rank, const int64_t *out_shape)
{
    const zlgi_chain *chain = chain_v3("\"uint16\"", rank, "[\"squeeze\", " LITTLE "]");
    const zlgi_layout *layout = layout_of(chain, shape);
    assert_int_equal(layout->edge[1].rank, out_rank);
    for (int axis = 0; axis < out_rank; axis++)
        assert_int_equal(layout->edge[1].shape[axis], out_shape[axis]);
}

static void test_squeeze(void **state)
{
    (void)state;
    squeezes(5, SHAPE(2, 1, 2, 1, 3), 3, SHAPE(2, 2, 3));
    squeezes(2, SHAPE(1, 1), 1, SHAPE(1));
    squeezes(2, SHAPE(4, 5), 2, SHAPE(4, 5));
    const zlgi_bytes bytes = hex("0001 0203 0405 0607");
    codes(chain_v3("\"uint16\"", 3, "[\"zarrs.squeeze\", " LITTLE "]"), SHAPE(1, 4, 1),
          bytes, bytes);
    /* Elementwise codecs may follow, with the rank still open. */
    codes(chain_v3("\"uint16\"", 3,
                   "[\"squeeze\", {\"name\": \"cast_value\", \"configuration\":"
                   " {\"data_type\": \"uint8\"}}, \"bytes\"]"),
          SHAPE(1, 4, 1), hex("0100 0200 0300 0400"), hex("01 02 03 04"));
    refuses_codecs("\"uint8\"", 2,
                   "[\"squeeze\", {\"name\": \"transpose\", \"configuration\":"
                   " {\"order\": [1, 0]}}, \"bytes\"]",
                   ZLG_UNSUPPORTED, "squeeze leaves open");
    refuses_codecs("\"uint8\"", 2,
                   "[{\"name\": \"squeeze\", \"configuration\": {\"axis\": 1}}, \"bytes\"]",
                   ZLG_METADATA, "\"axis\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        codec_test(test_shapes),
        codec_test(test_elements_stay),
        codec_test(test_impossible_shapes),
        codec_test(test_refused),
        codec_test(test_squeeze),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
