/* What the tests of codecs share: chains from JSON text, edges of bytes, and inputs that
 * end where memory ends, so that a decoder that reads one byte too many is killed. */
#ifndef ZELLIGE_CODEC_TEST_H
#define ZELLIGE_CODEC_TEST_H

#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "test.h"

#include "codec/codec.h"

static const zlg_limits LIMITS = {
#define LIMIT(name, value, unit, meaning) .name = value,
    ZLG_LIMIT_TABLE(LIMIT)
#undef LIMIT
};

static test_heap heap;
static zlgi_arena arena;
static zlgi_scratch *scratch;
static zlg_error error;

static inline int set_up(void **state)
{
    (void)state;
    test_heap_init(&heap);
    zlgi_arena_init(&arena, &heap.alloc);
    scratch = zlgi_scratch_new(&heap.alloc, &LIMITS);
    error = (zlg_error){0};
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    zlgi_scratch_free(scratch);
    zlgi_arena_reset(&arena);
    assert_int_equal(heap.n_blocks, 0);
    return 0;
}

#define codec_test(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

static inline const zlgi_json *json_of(const char *text)
{
    const zlgi_json *json = NULL;
    if (zlgi_json_parse(&arena, text, strlen(text), 128, &json, &error) != ZLG_OK)
        fail_msg("%s: %s", text, error.message);
    return json;
}

static inline zlgi_codec_env env_of(bool v2)
{
    return (zlgi_codec_env){.arena = &arena, .limits = &LIMITS, .v2 = v2};
}

/* Edge 0: a v3 data type as JSON, a fill value of zeros. */
static inline zlgi_edge_type edge_of(const char *data_type, int rank)
{
    zlgi_edge_type edge = {.rank = rank};
    assert_int_equal(zlgi_dtype_parse_v3(&arena, json_of(data_type), &edge.dtype, &error),
                     ZLG_OK);
    assert_int_equal(zlgi_fill_zero(&arena, edge.dtype, &edge.fill, &error), ZLG_OK);
    return edge;
}

static inline zlg_status parse_v3(const char *data_type, int rank, const char *codecs,
                                  zlgi_chain **out)
{
    const zlgi_codec_env env = env_of(false);
    const zlgi_edge_type from = edge_of(data_type, rank);
    return zlgi_chain_parse(&env, json_of(codecs), &from, out, &error);
}

static inline zlgi_chain *chain_v3(const char *data_type, int rank, const char *codecs)
{
    zlgi_chain *chain = NULL;
    if (parse_v3(data_type, rank, codecs, &chain) != ZLG_OK)
        fail_msg("%s: %s", codecs, error.message);
    return chain;
}

/* v2: a NumPy type string; filters and compressor as JSON text. */
static inline zlg_status parse_v2(const char *dtype, int rank, const char *filters,
                                  const char *compressor, bool order_f, zlgi_chain **out)
{
    const zlgi_codec_env env = env_of(true);
    zlgi_edge_type from = {.rank = rank};
    bool is_object;
    char text[300];
    snprintf(text, sizeof text, "\"%s\"", dtype);
    assert_int_equal(
        zlgi_dtype_parse_v2(&arena, json_of(text), 8, &from.dtype, &is_object, &error),
        ZLG_OK);
    assert_int_equal(zlgi_fill_zero(&arena, from.dtype, &from.fill, &error), ZLG_OK);
    return zlgi_chain_parse_v2(&env, json_of(filters), json_of(compressor), order_f, &from,
                               out, &error);
}

static inline zlgi_chain *chain_v2(const char *dtype, int rank, const char *filters,
                                   const char *compressor, bool order_f)
{
    zlgi_chain *chain = NULL;
    if (parse_v2(dtype, rank, filters, compressor, order_f, &chain) != ZLG_OK)
        fail_msg("%s %s: %s", filters, compressor, error.message);
    return chain;
}

static inline zlgi_layout *layout_of(const zlgi_chain *chain, const int64_t *shape)
{
    static const int64_t scalar[1];
    zlgi_layout *layout = zlgi_arena_get(&arena, sizeof *layout);
    if (zlgi_chain_layout(chain, shape ? shape : scalar, layout, &error) != ZLG_OK)
        fail_msg("%s", error.message);
    return layout;
}

/* Hex digits and spaces to bytes of the arena. */
static inline zlgi_bytes hex(const char *text)
{
    uint8_t *data = zlgi_arena_get(&arena, strlen(text) / 2 + 1);
    size_t n = 0;
    for (; *text; text++) {
        if (*text == ' ')
            continue;
        unsigned byte;
        assert_int_equal(sscanf(text, "%2x", &byte), 1);
        data[n++] = (uint8_t)byte;
        text++;
    }
    return (zlgi_bytes){data, n};
}

static inline void assert_bytes(zlgi_bytes found, zlgi_bytes expected)
{
    assert_int_equal(found.n, expected.n);
    if (expected.n > 0)
        assert_memory_equal(found.data, expected.data, expected.n);
}

/* A copy whose last byte is the last before a page that must not be touched. */
typedef struct guarded {
    zlgi_bytes bytes;
    int i_room;
} guarded;

/* Mapped once: a test makes many thousand copies, few at a time. */
enum { GUARDED_BYTES = 4 << 20, GUARDED_ROOMS = 4 };
static struct guarded_room {
    uint8_t *end;
    bool used;
} guarded_rooms[GUARDED_ROOMS];

static inline void map_room(struct guarded_room *room)
{
    const size_t n_page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *map = mmap(NULL, GUARDED_BYTES + n_page, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(map, MAP_FAILED);
    room->end = map + GUARDED_BYTES;
    assert_int_equal(mprotect(room->end, n_page, PROT_NONE), 0);
}

static inline guarded guard(zlgi_bytes bytes)
{
    int i = 0;
    while (i < GUARDED_ROOMS && guarded_rooms[i].used)
        i++;
    assert_true(i < GUARDED_ROOMS && bytes.n <= GUARDED_BYTES);
    struct guarded_room *room = &guarded_rooms[i];
    if (!room->end)
        map_room(room);
    room->used = true;
    uint8_t *data = room->end - bytes.n;
    if (bytes.n > 0)
        memcpy(data, bytes.data, bytes.n);
    return (guarded){.bytes = {data, bytes.n}, .i_room = i};
}

static inline void unguard(guarded *g)
{
    guarded_rooms[g->i_room].used = false;
}

#endif
