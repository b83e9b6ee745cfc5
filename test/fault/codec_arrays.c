/* Filters and array codecs with each allocation failing in turn: making the chain, encoding
 * and decoding answer with NO_MEMORY, and nothing is left behind. */
#include "unit/codec_array_test.h"

typedef struct example {
    bool v2;
    const char *dtype, *codecs; /* v3: data type; v2: "|O", or a NumPy type */
    zlgi_bytes elements;        /* of a chunk of six */
} example;

/* What stays alive outside the heap that fails. */
static zlgi_arena steady;

static const zlgi_json *steady_json(const char *text)
{
    const zlgi_json *json = NULL;
    assert_int_equal(zlgi_json_parse(&steady, text, strlen(text), 128, &json, &error),
                     ZLG_OK);
    return json;
}

static zlg_status edge_type(const example *e, const zlgi_json *dtype,
                            const zlgi_json *codecs, zlgi_edge_type *out)
{
    bool is_object = false;
    *out = (zlgi_edge_type){.rank = 1};
    if (!e->v2)
        ZLGI_TRY(zlgi_dtype_parse_v3(&arena, dtype, &out->dtype, &error));
    else
        ZLGI_TRY(zlgi_dtype_parse_v2(&arena, dtype, 8, &out->dtype, &is_object, &error));
    if (is_object)
        ZLGI_TRY(zlgi_dtype_object(&arena, zlgi_json_get(codecs->items, "id")->text,
                                   codecs->items, &out->dtype, &error));
    return zlgi_fill_zero(&arena, out->dtype, &out->fill, &error);
}

static zlg_status run(const example *e, const zlgi_json *dtype, const zlgi_json *codecs,
                      zlgi_buf *stored, uint8_t *elements)
{
    const zlgi_codec_env env = env_of(e->v2);
    zlgi_edge_type from;
    zlgi_chain *chain;
    zlgi_layout layout;
    ZLGI_TRY(edge_type(e, dtype, codecs, &from));
    if (e->v2)
        ZLGI_TRY(zlgi_chain_parse_v2(&env, codecs, NULL, false, &from, &chain, &error));
    else
        ZLGI_TRY(zlgi_chain_parse(&env, codecs, &from, &chain, &error));
    ZLGI_TRY(zlgi_chain_layout(chain, SHAPE(6), &layout, &error));
    assert_int_equal(layout.edge[0].n_bytes, e->elements.n);
    ZLGI_TRY(zlgi_chain_encode_full(chain, &layout, scratch, e->elements, stored, &error));
    return zlgi_chain_decode_full(chain, &layout, scratch,
                                  (zlgi_bytes){stored->data, stored->n}, elements, &error);
}

static zlg_status attempt(const example *e, const zlgi_json *dtype, const zlgi_json *codecs,
                          size_t fail_at)
{
    uint8_t *elements = zlgi_arena_get(&steady, e->elements.n);
    zlgi_buf stored;
    set_up(NULL);
    zlgi_buf_init(&stored, &heap.alloc);
    heap.n_calls = 0;
    heap.fail_at = fail_at;
    zlg_status status = run(e, dtype, codecs, &stored, elements);
    zlgi_buf_reset(&stored);
    tear_down(NULL);
    return status;
}

static void test_each_allocation(void **state)
{
    (void)state;
    static const int32_t words[6] = {1, 2, 3, -4, 5, 6};
    static const double doubles[6] = {1, 2, 3, -4, 5, 6};
    zlgi_arena_init(&steady, &zlgi_default_alloc);
    static const zlgi_view text[6] = {{(const uint8_t *)"one", 3},
                                      {(const uint8_t *)"two", 3}};
    const zlgi_bytes longs = BYTES_OF(words), reals = BYTES_OF(doubles),
                     texts = BYTES_OF(text);
#define LITTLE ", {\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}]"
    const example examples[] = {
        {true, "\"<i4\"", "[{\"id\": \"delta\", \"dtype\": \"<i4\"}]", longs},
        {true, "\"<f8\"", "[{\"id\": \"quantize\", \"digits\": 2, \"dtype\": \"<f8\"}]",
         reals},
        {true, "\"<f8\"", "[{\"id\": \"bitround\", \"keepbits\": 9}]", reals},
        {true, "\"|O\"", "[{\"id\": \"vlen-utf8\"}]", texts},
        {true, "\"|O\"", "[{\"id\": \"json2\"}]", texts},
        {true, "\"|O\"", "[{\"id\": \"msgpack2\"}]", texts},
        {true, "\"|O\"", "[{\"id\": \"categorize\", \"labels\": [\"one\", \"two\"]}]",
         texts},
        {true, "\"<i4\"", "[{\"id\": \"json2\"}]", longs},
        {false, "\"int32\"",
         "[{\"name\": \"packbits\", \"configuration\": {\"last_bit\": 9}}]", longs},
        {false, "\"int32\"",
         "[{\"name\": \"cast_value\", \"configuration\": {\"data_type\": \"int8\","
         " \"scalar_map\": {\"encode\": [[7, 8]]}}}" LITTLE,
         longs},
        {false, "\"float64\"",
         "[{\"name\": \"scale_offset\", \"configuration\": {\"scale\": 2}}" LITTLE, reals},
        {false, "\"int32\"",
         "[{\"name\": \"reshape\", \"configuration\": {\"shape\": [2, 3]}}, "
         "\"squeeze\"" LITTLE,
         longs},
        {false, "\"string\"",
         "[{\"name\": \"optional\", \"configuration\": {\"mask_codecs\": [\"packbits\"],"
         " \"data_codecs\": [\"vlen-utf8\"]}}]",
         texts},
#if ZELLIGE_HAVE_ZFP
        {false, "\"float64\"",
         "[{\"name\": \"zfp\", \"configuration\": {\"mode\": \"reversible\"}}]", reals},
        {false, "\"int32\"", "[{\"name\": \"numcodecs.zfpy\"}]", longs},
#endif
    };
    for (size_t i = 0; i < ZLGI_COUNT(examples); i++) {
        const zlgi_json *dtype = steady_json(examples[i].dtype);
        const zlgi_json *codecs = steady_json(examples[i].codecs);
        size_t n = 0;
        zlg_status status;
        while ((status = attempt(&examples[i], dtype, codecs, ++n)) == ZLG_NO_MEMORY)
            ;
        if (status != ZLG_OK)
            fail_msg("%s, allocation %zu: %s", examples[i].codecs, n, error.message);
        assert_true(n > 2);
    }
    zlgi_arena_reset(&steady);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_allocation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
