/* optional: the layout that zarrs writes, on plain types: missing is the fill value. */
#include "codec_array_test.h"

#define LITTLE "{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}"
#define OPTIONAL(mask, data)                                                               \
    "{\"name\": \"zarrs.optional\", \"configuration\": {\"mask_codecs\": [" mask "],"      \
    " \"data_codecs\": [" data "]}}"

static zlgi_chain *chain_with_fill(const char *data_type, int rank, const char *fill,
                                   const char *codecs)
{
    const zlgi_codec_env env = env_of(false);
    zlgi_edge_type from = edge_of(data_type, rank);
    zlgi_chain *chain = NULL;
    assert_int_equal(
        zlgi_fill_parse_v3(&arena, from.dtype, json_of(fill), &from.fill, &error), ZLG_OK);
    if (zlgi_chain_parse(&env, json_of(codecs), &from, &chain, &error) != ZLG_OK)
        fail_msg("%s: %s", codecs, error.message);
    return chain;
}

/* Bytes written by zarrs for a masked 2 x 3 array of uint16. */
static void test_numbers(void **state)
{
    (void)state;
    const zlgi_chain *chain =
        chain_with_fill("\"uint16\"", 2, "9", "[" OPTIONAL("\"packbits\"", LITTLE) "]");
    codes(chain, SHAPE(2, 3), BYTES_OF(((const uint16_t[]){9, 42, 79, 9, 153, 190})),
          hex("0100000000000000 0800000000000000 36 2a00 4f00 9900 be00"));
    codes(chain, SHAPE(2, 3), BYTES_OF(((const uint16_t[]){9, 9, 9, 9, 9, 9})),
          hex("0100000000000000 0000000000000000 00"));
    codes(chain, SHAPE(1, 1), hex("0700"),
          hex("0100000000000000 0200000000000000 01 0700"));
}

static void test_strings(void **state)
{
    (void)state;
    const zlgi_chain *chain = chain_with_fill(
        "\"string\"", 2, "\"none\"",
        "[{\"name\": \"transpose\", \"configuration\": {\"order\": [1, 0]}}, " OPTIONAL(
            "\"bytes\"", "\"vlen-utf8\", \"gzip\"") "]");
    zlgi_bytes texts = TEXTS("a", "none", "\u6f22\u5b57", "", "none", "zellige");
    decodes_views(chain, SHAPE(2, 3), encode(chain, SHAPE(2, 3), texts), texts);
    texts = TEXTS("", "none");
    decodes_views(chain, SHAPE(1, 2), encode(chain, SHAPE(1, 2), texts), texts);
}

/* Compressed parts, and one codec inside the other. */
static void test_nested(void **state)
{
    (void)state;
    const zlgi_chain *chain = chain_with_fill(
        "\"int8\"", 1, "1",
        "[" OPTIONAL("\"bytes\", \"gzip\"",
                     OPTIONAL("\"packbits\"", "\"bytes\"") ", \"crc32c\"") "]");
    round_trips(chain, SHAPE(6), hex("01 00 02 01 00 05"));
    survives_damage(chain, SHAPE(6), encode(chain, SHAPE(6), hex("01 00 02 01 00 05")),
                    true);
}

static void test_broken(void **state)
{
    (void)state;
    const zlgi_chain *chain =
        chain_v3("\"uint8\"", 1, "[" OPTIONAL("\"packbits\"", "\"bytes\"") "]");
    refuses(chain, SHAPE(2), hex("0100000000000000 02000000000000"), ZLG_CORRUPT,
            "no header");
    refuses(chain, SHAPE(2), hex("0100000000000000 0200000000000000 03 05"), ZLG_CORRUPT,
            "1 bytes of mask and 2 of data are announced, 2 are there");
    refuses(chain, SHAPE(2), hex("ffffffffffffffff 0300000000000000 03 05"), ZLG_CORRUPT,
            "announced");
    refuses(chain, SHAPE(2), hex("0100000000000000 0100000000000000 03 05"), ZLG_CORRUPT,
            "\"data_codecs\"");
    refuses(chain, SHAPE(2), hex("0100000000000000 0100000000000000 00 05"), ZLG_CORRUPT,
            "1 bytes for no element");
    refuses(chain, SHAPE(9), hex("0100000000000000 0100000000000000 01 05"), ZLG_CORRUPT,
            "\"mask_codecs\"");
    survives_damage(chain, SHAPE(2), hex("0100000000000000 0100000000000000 02 05"), true);
}

static void test_refused(void **state)
{
    (void)state;
    refuses_codecs("\"uint8\"", 1, "[\"optional\"]", ZLG_METADATA,
                   "\"mask_codecs\" is missing");
    refuses_codecs("\"uint8\"", 1, "[" OPTIONAL("\"vlen-utf8\"", "\"bytes\"") "]",
                   ZLG_METADATA, "\"mask_codecs\"");
    refuses_codecs("\"uint8\"", 1, "[" OPTIONAL("\"bytes\"", "\"vlen-utf8\"") "]",
                   ZLG_METADATA, "\"data_codecs\"");
    char *deep = zlgi_arena_get(&arena, 3000);
    size_t n = 0;
    deep[n++] = '[';
    for (int i = 0; i < 12; i++)
        n +=
            (size_t)snprintf(deep + n, 3000 - n,
                             "{\"name\": \"optional\", \"configuration\": {\"mask_codecs\":"
                             " [\"bytes\"], \"data_codecs\": [");
    n += (size_t)snprintf(deep + n, 3000 - n, "\"bytes\"");
    for (int i = 0; i < 12; i++)
        n += (size_t)snprintf(deep + n, 3000 - n, "]}}");
    snprintf(deep + n, 3000 - n, "]");
    refuses_codecs("\"uint8\"", 1, deep, ZLG_LIMIT, "codec_depth");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        codec_test(test_numbers), codec_test(test_strings), codec_test(test_nested),
        codec_test(test_broken),  codec_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
