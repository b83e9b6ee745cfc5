/* bytes: byte orders as documents state them; and transpose: orders as documents state
 * them, the axes they give. Both also as steps of their own, behind another codec. */
#include "codec_test.h"

static zlgi_bytes decoded(const zlgi_step *step, const zlgi_edge *from, zlgi_bytes in)
{
    uint8_t *memory = zlgi_arena_get(&arena, from->n_bytes + 1);
    zlgi_out out = {.direct = memory, .expected = from->n_bytes, .limit = 1 << 20};
    if (step->codec->decode(step, scratch, from, in, &out, &error) != ZLG_OK)
        fail_msg("%s", error.message);
    return out.result;
}

static zlgi_bytes encoded(const zlgi_step *step, const zlgi_edge *from, zlgi_bytes in)
{
    zlgi_buf out;
    zlgi_buf_init(&out, &heap.alloc);
    assert_int_equal(step->codec->encode(step, scratch, from, in, &out, &error), ZLG_OK);
    uint8_t *kept = zlgi_arena_get(&arena, out.n);
    memcpy(kept, out.data, out.n);
    const zlgi_bytes result = {kept, out.n};
    zlgi_buf_reset(&out);
    return result;
}

/* ------------------------------------------------------------------ bytes */

static void check_step(const zlgi_chain *chain, const char *native, const char *stored)
{
    const int64_t shape[] = {2};
    const zlgi_layout *layout = layout_of(chain, shape);
    const zlgi_step *step = &chain->step[0];
    assert_bytes(decoded(step, &layout->edge[0], hex(stored)), hex(native));
    assert_bytes(encoded(step, &layout->edge[0], hex(native)), hex(stored));
}

static void test_orders_of_version_3(void **state)
{
    (void)state;
    const char *big = "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"big\"}}]";
    const char *little =
        "[{\"name\": \"endian\", \"configuration\": {\"endian\": \"little\"}}]";
    check_step(chain_v3("\"int16\"", 1, little), "0100 0200", "0100 0200");
    check_step(chain_v3("\"int16\"", 1, big), "0100 0200", "0001 0002");
    check_step(chain_v3("\"complex64\"", 1, big), "01000000 02000000 03000000 04000000",
               "00000001 00000002 00000003 00000004");
    check_step(chain_v3("\"r16\"", 1, big), "0102 0304", "0102 0304");
    check_step(chain_v3("\"int8\"", 1, "[\"bytes\"]"), "01 02", "01 02");
    const char *record = "{\"name\": \"struct\", \"configuration\": {\"fields\": ["
                         "{\"name\": \"a\", \"data_type\": \"uint8\"}, "
                         "{\"name\": \"b\", \"data_type\": \"int32\"}]}}";
    check_step(chain_v3(record, 1, big), "01 02000000 03 04000000",
               "01 00000002 03 00000004");
}

static void test_a_missing_order(void **state)
{
    (void)state;
    zlgi_chain *chain;
    assert_int_equal(parse_v3("\"int16\"", 1, "[\"bytes\"]", &chain), ZLG_METADATA);
    assert_non_null(strstr(error.message, "\"endian\" is missing"));
    const char *legacy = "{\"name\": \"structured\", \"configuration\": {\"fields\": "
                         "[[\"a\", \"int16\"], [\"b\", \"int8\"]]}}";
    check_step(chain_v3(legacy, 1, "[\"bytes\"]"), "0100 02 0300 04", "0100 02 0300 04");
}

static void test_orders_that_are_none(void **state)
{
    (void)state;
    zlgi_chain *chain;
    assert_int_equal(parse_v3("\"int16\"", 1,
                              "[{\"name\": \"bytes\", \"configuration\": {\"endian\": 1}}]",
                              &chain),
                     ZLG_METADATA);
    assert_int_equal(
        parse_v3("\"int16\"", 1,
                 "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"middle\"}}]",
                 &chain),
        ZLG_METADATA);
}

static void test_orders_of_version_2(void **state)
{
    (void)state;
    check_step(chain_v2(">u4", 1, "null", "null", false), "01000000 02000000",
               "00000001 00000002");
    check_step(chain_v2("<u4", 1, "null", "null", false), "01000000 02000000",
               "01000000 02000000");
}

static void test_values_are_made_canonical(void **state)
{
    (void)state;
    const zlgi_chain *chain = chain_v3("\"int4\"", 1, "[\"bytes\"]");
    const int64_t shape[] = {2};
    assert_bytes(decoded(&chain->step[0], &layout_of(chain, shape)->edge[0], hex("0f 17")),
                 hex("ff 07"));
}

/* ------------------------------------------------------------------ transpose */

static const zlgi_chain *transposed(const char *type, int rank, const char *order)
{
    char text[200];
    snprintf(text, sizeof text,
             "[{\"name\": \"transpose\", \"configuration\": {\"order\": %s}}, "
             "{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}]",
             order);
    return chain_v3(type, rank, text);
}

static void test_transpose_moves_elements(void **state)
{
    (void)state;
    const zlgi_chain *chain = transposed("\"uint8\"", 3, "[1, 2, 0]");
    const int64_t shape[] = {2, 3, 4};
    const zlgi_layout *layout = layout_of(chain, shape);
    uint8_t elements[24];
    for (int i = 0; i < 24; i++)
        elements[i] = (uint8_t)i;
    const zlgi_bytes data = {elements, 24};
    const zlgi_bytes stored = hex("000c010d020e030f 0410051106120713 081409150a160b17");
    assert_bytes(encoded(&chain->step[0], &layout->edge[0], data), stored);
    assert_bytes(decoded(&chain->step[0], &layout->edge[0], stored), data);
    uint8_t back[24];
    assert_int_equal(zlgi_chain_decode_full(chain, layout, scratch, stored, back, &error),
                     ZLG_OK);
    assert_memory_equal(back, elements, 24);
}

static void test_orders_by_letter(void **state)
{
    (void)state;
    const zlgi_chain *chain = transposed("\"int32\"", 3, "\"F\"");
    for (int i = 0; i < 3; i++)
        assert_int_equal(chain->order[i], 2 - i);
    chain = transposed("\"int32\"", 3, "\"C\"");
    for (int i = 0; i < 3; i++)
        assert_int_equal(chain->order[i], i);
}

static void test_orders_that_are_no_permutation(void **state)
{
    (void)state;
    static const char *const orders[] = {
        "[0, 0]",   "[0]",   "[0, 1, 2]", "[0, 2]", "[-1, 0]", "[0, 1099511627776]",
        "[0, 1.5]", "\"K\"", "7",         "null",   "{}",      "[\"0\", \"1\"]"};
    for (size_t i = 0; i < ZLGI_COUNT(orders); i++) {
        char text[200];
        zlgi_chain *chain;
        snprintf(
            text, sizeof text,
            "[{\"name\": \"transpose\", \"configuration\": {\"order\": %s}}, \"bytes\"]",
            orders[i]);
        if (parse_v3("\"int8\"", 2, text, &chain) != ZLG_METADATA)
            fail_msg("%s is accepted", orders[i]);
    }
    zlgi_chain *chain;
    assert_int_equal(parse_v3("\"int8\"", 2, "[\"transpose\", \"bytes\"]", &chain),
                     ZLG_METADATA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        codec_test(test_orders_of_version_3),
        codec_test(test_a_missing_order),
        codec_test(test_orders_that_are_none),
        codec_test(test_orders_of_version_2),
        codec_test(test_values_are_made_canonical),
        codec_test(test_transpose_moves_elements),
        codec_test(test_orders_by_letter),
        codec_test(test_orders_that_are_no_permutation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
