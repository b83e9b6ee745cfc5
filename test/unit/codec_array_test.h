/* What the tests of filters and array codecs share: whole chunks through a chain and back,
 * and stored bytes that are cut or changed at every place. */
#ifndef ZELLIGE_CODEC_ARRAY_TEST_H
#define ZELLIGE_CODEC_ARRAY_TEST_H

#include "codec_test.h"

#define SHAPE(...) ((const int64_t[]){__VA_ARGS__})
/* A C array as bytes. */
#define BYTES_OF(array) ((zlgi_bytes){(const uint8_t *)(array), sizeof(array)})

static inline zlgi_bytes bytes_of_text(const char *text)
{
    return (zlgi_bytes){(const uint8_t *)text, strlen(text)};
}

/* A v2 chain for objects; the first filter is their codec. */
static inline zlgi_chain *chain_object(int rank, const char *filters)
{
    const zlgi_codec_env env = env_of(true);
    const zlgi_json *list = json_of(filters);
    zlgi_edge_type from = {.rank = rank};
    zlgi_chain *chain = NULL;
    if (zlgi_dtype_object(&arena, zlgi_json_get(list->items, "id")->text, list->items,
                          &from.dtype, &error) != ZLG_OK ||
        zlgi_fill_zero(&arena, from.dtype, &from.fill, &error) != ZLG_OK ||
        zlgi_chain_parse_v2(&env, list, NULL, false, &from, &chain, &error) != ZLG_OK)
        fail_msg("%s: %s", filters, error.message);
    return chain;
}

/* From an input that ends where memory ends. NULL and a status when it is refused. */
static inline uint8_t *decode(const zlgi_chain *chain, const int64_t *shape,
                              zlgi_bytes stored, zlg_status *status)
{
    const zlgi_layout *layout = layout_of(chain, shape);
    uint8_t *elements = zlgi_arena_get(&arena, layout->edge[0].n_bytes + 1);
    guarded g = guard(stored);
    *status = zlgi_chain_decode_full(chain, layout, scratch, g.bytes, elements, &error);
    unguard(&g);
    return *status == ZLG_OK ? elements : NULL;
}

static inline void decodes(const zlgi_chain *chain, const int64_t *shape, zlgi_bytes stored,
                           zlgi_bytes expected)
{
    zlg_status status;
    const uint8_t *elements = decode(chain, shape, stored, &status);
    if (elements == NULL)
        fail_msg("%s", error.message);
    assert_bytes((zlgi_bytes){elements, layout_of(chain, shape)->edge[0].n_bytes},
                 expected);
}

static inline zlgi_bytes encode(const zlgi_chain *chain, const int64_t *shape,
                                zlgi_bytes elements)
{
    zlgi_buf out;
    zlgi_buf_init(&out, &heap.alloc);
    assert_int_equal(elements.n, layout_of(chain, shape)->edge[0].n_bytes);
    if (zlgi_chain_encode_full(chain, layout_of(chain, shape), scratch, elements, &out,
                               &error) != ZLG_OK)
        fail_msg("%s", error.message);
    zlgi_bytes copy = {.data = (uint8_t *)zlgi_arena_text(&arena, (char *)out.data, out.n),
                       .n = out.n};
    zlgi_buf_reset(&out);
    return copy;
}

static inline void encodes(const zlgi_chain *chain, const int64_t *shape,
                           zlgi_bytes elements, zlgi_bytes expected)
{
    assert_bytes(encode(chain, shape, elements), expected);
}

/* Both ways. */
static inline void codes(const zlgi_chain *chain, const int64_t *shape, zlgi_bytes elements,
                         zlgi_bytes stored)
{
    encodes(chain, shape, elements, stored);
    decodes(chain, shape, stored, elements);
}

static inline void round_trips(const zlgi_chain *chain, const int64_t *shape,
                               zlgi_bytes elements)
{
    decodes(chain, shape, encode(chain, shape, elements), elements);
}

static inline void refuses_to_encode(const zlgi_chain *chain, const int64_t *shape,
                                     zlgi_bytes elements, zlg_status expected)
{
    zlgi_buf out;
    zlgi_buf_init(&out, &heap.alloc);
    zlg_status status = zlgi_chain_encode_full(chain, layout_of(chain, shape), scratch,
                                               elements, &out, &error);
    zlgi_buf_reset(&out);
    assert_int_equal(status, expected);
}

/* `part` must stand in the message. */
static inline void refuses(const zlgi_chain *chain, const int64_t *shape, zlgi_bytes stored,
                           zlg_status expected, const char *part)
{
    zlg_status status;
    decode(chain, shape, stored, &status);
    assert_int_equal(status, expected);
    if (strstr(error.message, part) == NULL)
        fail_msg("\"%s\" lacks \"%s\"", error.message, part);
}

/* A chunk of n elements, CORRUPT before memory for them is asked for. */
static inline void refuses_cheaply(const zlgi_chain *chain, int64_t n, zlgi_bytes stored,
                                   const char *part)
{
    const zlgi_layout *layout = layout_of(chain, &n);
    const size_t peak_bytes = heap.peak_bytes;
    zlgi_buf pair[2];
    zlgi_bytes out;
    zlgi_buf_init(&pair[0], &heap.alloc);
    zlgi_buf_init(&pair[1], &heap.alloc);
    assert_int_equal(
        zlgi_chain_decode(chain, layout, scratch, stored, NULL, pair, &out, &error),
        ZLG_CORRUPT);
    assert_non_null(strstr(error.message, part));
    assert_true(heap.peak_bytes - peak_bytes < 1 << 20);
    zlgi_buf_reset(&pair[0]);
    zlgi_buf_reset(&pair[1]);
}

static inline void refuses_codecs(const char *data_type, int rank, const char *codecs,
                                  zlg_status expected, const char *part)
{
    zlgi_chain *chain = NULL;
    assert_int_equal(parse_v3(data_type, rank, codecs, &chain), expected);
    if (strstr(error.message, part) == NULL)
        fail_msg("\"%s\" lacks \"%s\"", error.message, part);
}

static inline void refuses_filters(const char *dtype, int rank, const char *filters,
                                   zlg_status expected, const char *part)
{
    zlgi_chain *chain = NULL;
    assert_int_equal(parse_v2(dtype, rank, filters, "null", false, &chain), expected);
    if (strstr(error.message, part) == NULL)
        fail_msg("\"%s\" lacks \"%s\"", error.message, part);
}

/* Cuts the stored bytes at every place and changes each of them in several ways: whatever
 * comes of it, it is an answer or an error. A cut is never an answer when `strict`. */
static inline void survives_damage(const zlgi_chain *chain, const int64_t *shape,
                                   zlgi_bytes stored, bool strict)
{
    static const uint8_t changes[] = {0x01, 0x10, 0x80, 0xff};
    zlg_status status;
    for (size_t n = 0; n < stored.n; n++) {
        decode(chain, shape, (zlgi_bytes){stored.data, n}, &status);
        if (strict && status == ZLG_OK)
            fail_msg("%zu of %zu bytes are taken", n, stored.n);
    }
    uint8_t *changed = zlgi_arena_get(&arena, stored.n + 1);
    memcpy(changed, stored.data, stored.n);
    for (size_t i = 0; i < stored.n; i++) {
        for (size_t k = 0; k < ZLGI_COUNT(changes); k++) {
            changed[i] = stored.data[i] ^ changes[k];
            decode(chain, shape, (zlgi_bytes){changed, stored.n}, &status);
            assert_true(status == ZLG_OK || status == ZLG_CORRUPT || status == ZLG_LIMIT ||
                        status == ZLG_UNSUPPORTED);
        }
        changed[i] = stored.data[i];
    }
}

/* Strings as views; the last one is followed by NULL. */
static inline zlgi_bytes views_of(const char *const *texts)
{
    size_t n = 0;
    while (texts[n] != NULL)
        n++;
    zlgi_view *views = zlgi_arena_get(&arena, (n + 1) * sizeof *views);
    for (size_t i = 0; i < n; i++)
        views[i] = (zlgi_view){(const uint8_t *)texts[i], strlen(texts[i])};
    return (zlgi_bytes){(const uint8_t *)views, n * sizeof *views};
}

#define TEXTS(...) views_of((const char *const[]){__VA_ARGS__, NULL})

/* Views compare by what they point at. The input stays mapped meanwhile. */
static inline void decodes_views(const zlgi_chain *chain, const int64_t *shape,
                                 zlgi_bytes stored, zlgi_bytes expected)
{
    const zlgi_layout *layout = layout_of(chain, shape);
    zlgi_view *found = zlgi_arena_get(&arena, layout->edge[0].n_bytes + 1);
    const zlgi_view *wanted = (const zlgi_view *)(const void *)expected.data;
    guarded g = guard(stored);
    if (zlgi_chain_decode_full(chain, layout, scratch, g.bytes, (uint8_t *)found, &error) !=
        ZLG_OK)
        fail_msg("%s", error.message);
    assert_int_equal(layout->edge[0].n_bytes, expected.n);
    for (size_t i = 0; i < layout->edge[0].n_elements; i++)
        assert_bytes((zlgi_bytes){found[i].data, found[i].n},
                     (zlgi_bytes){wanted[i].data, wanted[i].n});
    unguard(&g);
}

static inline void codes_views(const zlgi_chain *chain, const int64_t *shape,
                               zlgi_bytes elements, zlgi_bytes stored)
{
    encodes(chain, shape, elements, stored);
    decodes_views(chain, shape, stored, elements);
}

#endif
