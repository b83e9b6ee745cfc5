/*
 * Label: engine
 * Elements of variable length: random strings and byte strings in chunks, shards and shards
 * in shards, some of them not stored, so that they hold a fill value that is not empty.
 * Every read is compared with the list of the elements that it names.
 */
#define _GNU_SOURCE
#include "../fault/fault.h"
#include "pick.h"

enum { CASES = 300, MAX_RANK = 3 };

static const char *const layouts[][2] = {
    /* grid chunk and codecs, by rank; %s is the codec of the elements */
    {"[7]", "[%s]"},
    {"[6]", "[%s," ZSTD "]"},
    {"[12]", "[" SHARD("[3]", "[%s," GZIP "]") "," CRC "]"},
    {"[24]", "[" SHARD("[12]", "[" SHARD_AT("start", "[4]", "[%s]") "]") "]"},
    {"[5,4]", "[" TRANSPOSE("[1,0]") ",%s]"},
    {"[6,4]", "[" SHARD("[3,2]", "[" TRANSPOSE("[1,0]") ",%s," ZSTD "]") "]"},
    {"[6,8]",
     "[" TRANSPOSE("[1,0]") "," SHARD("[4,6]", "[" SHARD("[2,3]", "[%s]") "]") "]"},
    {"[2,3,4]", "[%s," CRC "]"},
    {"[2,4,6]", "[" TRANSPOSE("[2,0,1]") "," SHARD("[3,1,2]", "[%s]") "]"},
};
static const int ranks[] = {1, 1, 1, 1, 2, 2, 2, 3, 3};

typedef struct model {
    uint64_t seed;
    int rank;
    int64_t shape[MAX_RANK];
    size_t n_elements;
    int64_t *offsets;
    uint8_t *bytes;
    zlg_array *array;
    const char *what;
} model;

static const char *const words[] = {"missing",
                                    "",
                                    "a",
                                    "north-west",
                                    "\xe2\x82\xac 5",
                                    "0123456789012345678901234567890123456789"};

/* Runs of the fill value, so that chunks and inner chunks are left out. */
static void make_elements(model *m)
{
    m->n_elements = 1;
    for (int i = 0; i < m->rank; i++)
        m->n_elements *= (size_t)m->shape[i];
    m->offsets = calloc(m->n_elements + 1, sizeof *m->offsets);
    m->bytes = malloc(64 * m->n_elements + 1);
    int64_t run = 1 + pick_below(&m->seed, 60);
    for (size_t i = 0; i < m->n_elements; i++) {
        bool fill = (int64_t)i / run % 2;
        const char *word = words[fill ? 0 : pick_below(&m->seed, ZLGI_COUNT(words))];
        memcpy(m->bytes + m->offsets[i], word, strlen(word));
        m->offsets[i + 1] = m->offsets[i] + (int64_t)strlen(word);
    }
}

static void make_model(model *m, zlg_store *store)
{
    char shape[64] = "[", grid[128], codecs[2048];
    size_t i_layout = (size_t)pick_below(&m->seed, ZLGI_COUNT(layouts));
    bool text = pick_below(&m->seed, 2);
    m->rank = ranks[i_layout];
    m->what = layouts[i_layout][1];
    for (int i = 0; i < m->rank; i++) {
        m->shape[i] = 1 + pick_below(&m->seed, m->rank == 1 ? 90 : 14);
        size_t n = strlen(shape);
        snprintf(shape + n, sizeof shape - n, "%s%d%s", i ? "," : "", (int)m->shape[i],
                 i + 1 < m->rank ? "" : "]");
    }
    snprintf(grid, sizeof grid, REGULAR("%s"), layouts[i_layout][0]);
    /* The layout is a constant of this file. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(codecs, sizeof codecs, layouts[i_layout][1],
             text ? "{\"name\":\"vlen-utf8\"}" : "{\"name\":\"vlen-bytes\"}");
#pragma GCC diagnostic pop
    m->array = put_array(store, "", shape, text ? "\"string\"" : "\"bytes\"", grid,
                         text ? "\"missing\"" : "[109,105,115,115,105,110,103]", codecs);
    make_elements(m);
    MUST(zlg_array_write(m->array, NULL,
                         &(zlg_source){.data = m->bytes, .offsets = m->offsets}, NULL,
                         err_));
}

static void check_pick(model *m)
{
    pick p;
    zlg_varlen out;
    zlg_error err = {0};
    pick_any(&p, &m->seed, m->rank, m->shape, 100, true);
    if (zlg_array_read_varlen(m->array, &p.selection, &out, NULL, &err) != ZLG_OK)
        fail_msg("%s: %s", m->what, err.message);
    assert_int_equal(out.n, p.n);
    assert_int_equal(out.offsets[0], 0);
    for (size_t i = 0; i < p.n; i++) {
        const int64_t *expected = &m->offsets[p.element[i]];
        int64_t n = expected[1] - expected[0];
        if (out.offsets[i + 1] - out.offsets[i] != n ||
            memcmp(out.bytes + out.offsets[i], m->bytes + expected[0], (size_t)n) != 0)
            fail_msg("element %zu of a selection of kind %d: %s", i, (int)p.selection.kind,
                     m->what);
    }
    zlg_varlen_free(&out);
    pick_free(&p);
}

static void test_reads(void **state)
{
    (void)state;
    zlg_ctx_options options = ZLG_CTX_OPTIONS_INIT;
    options.n_threads = 3;
    options.chunk_cache = 1 << 20;
    zlg_ctx *ctx;
    MUST(zlg_ctx_new(&options, &ctx, err_));
    for (uint64_t k = 0; k < CASES; k++) {
        fault_store *store = fault_store_open(ctx);
        store->lends = k % 2;
        store->trusted = k % 3;
        model m = {.seed = (k + 11) * UINT64_C(0x9e3779b97f4a7c15) + 1};
        make_model(&m, &store->base);
        for (int i = 0; i < 10; i++)
            check_pick(&m);
        zlg_array_close(m.array);
        free(m.offsets);
        free(m.bytes);
        zlg_store_close(&store->base);
    }
    zlg_ctx_close(ctx);
}

/* Version 2: order F, a fill value of null and of text, elements of objects. */
static void test_version_2(void **state)
{
    (void)state;
    static const char *const fills[][2] = {{"null", ""}, {"0", ""}, {"\"none\"", "none"}};
    for (size_t i = 0; i < ZLGI_COUNT(fills); i++) {
        zlg_ctx *ctx;
        zlg_array *array;
        zlg_varlen out;
        char text[1024];
        MUST(zlg_ctx_new(NULL, &ctx, err_));
        fault_store *store = fault_store_open(ctx);
        snprintf(text, sizeof text,
                 "{\"zarr_format\":2,\"shape\":[4,4],\"chunks\":[2,4],\"dtype\":\"|O\","
                 "\"compressor\":{\"id\":\"zlib\",\"level\":1},\"fill_value\":%s,"
                 "\"order\":\"F\",\"filters\":[{\"id\":\"vlen-utf8\"}]}",
                 fills[i][0]);
        put_text(&store->base, ".zarray", text);
        MUST(zlg_array_open(&store->base, "", NULL, &array, err_));
        const int64_t offsets[9] = {0, 1, 1, 3, 6, 7, 8, 9, 10};
        zlg_axis top[2] = {{.start = 0, .step = 1, .count = 2},
                           {.start = 0, .step = 1, .count = 4}};
        zlg_selection box = {.kind = ZLG_BOX, .rank = 2, .axes = top};
        MUST(zlg_array_write(array, &box,
                             &(zlg_source){.data = "abbccc1234", .offsets = offsets}, NULL,
                             err_));
        MUST(zlg_array_read_varlen(array, NULL, &out, NULL, err_));
        assert_int_equal(out.n, 16);
        assert_memory_equal(out.offsets, offsets, sizeof offsets);
        assert_memory_equal(out.bytes, "abbccc1234", 10);
        for (int k = 8; k < 16; k++) {
            size_t n = (size_t)(out.offsets[k + 1] - out.offsets[k]);
            assert_int_equal(n, strlen(fills[i][1]));
            assert_memory_equal(out.bytes + out.offsets[k], fills[i][1], n);
        }
        zlg_varlen_free(&out);
        zlg_array_close(array);
        zlg_store_close(&store->base);
        zlg_ctx_close(ctx);
    }
}

/* No axes, no elements, nothing wanted; and what is asked of the wrong function. */
static void test_edges(void **state)
{
    (void)state;
    zlg_ctx *ctx;
    zlg_varlen out;
    MUST(zlg_ctx_new(NULL, &ctx, err_));
    fault_store *store = fault_store_open(ctx);
    const int64_t offsets[2] = {0, 3}, none[1] = {0};
    zlg_array *scalar = put_array(&store->base, "s", "[]", "\"string\"", REGULAR("[]"),
                                  "\"x\"", "[{\"name\":\"vlen-utf8\"}]");
    MUST(zlg_array_read_varlen(scalar, NULL, &out, NULL, err_));
    assert_true(out.n == 1 && out.offsets[1] == 1 && out.bytes[0] == 'x');
    zlg_varlen_free(&out);
    MUST(zlg_array_write(scalar, NULL, &(zlg_source){.data = "abc", .offsets = offsets},
                         NULL, err_));
    MUST(zlg_array_read_varlen(scalar, NULL, &out, NULL, err_));
    assert_true(out.n == 1 && out.offsets[1] == 3 && memcmp(out.bytes, "abc", 3) == 0);
    zlg_varlen_free(&out);
    zlg_varlen_free(&out);
    zlg_error err = {0};
    assert_int_equal(zlg_array_read(scalar, NULL, &(zlg_target){.data = &out}, NULL, &err),
                     ZLG_USAGE);
    assert_int_equal(zlg_array_write(scalar, NULL, &(zlg_source){.data = ""}, NULL, &err),
                     ZLG_USAGE);
    const int64_t falling[2] = {3, 0}, negative[2] = {-1, 0};
    const uint8_t *text = (const uint8_t *)"abc";
    assert_int_equal(zlg_array_write(scalar, NULL,
                                     &(zlg_source){.data = text, .offsets = falling}, NULL,
                                     &err),
                     ZLG_USAGE);
    assert_int_equal(zlg_array_write(scalar, NULL,
                                     &(zlg_source){.data = text, .offsets = negative}, NULL,
                                     &err),
                     ZLG_USAGE);
    zlg_array *empty = put_array(&store->base, "e", "[0]", "\"bytes\"", REGULAR("[4]"),
                                 "\"\"", "[{\"name\":\"vlen-bytes\"}]");
    MUST(zlg_array_write(empty, NULL, &(zlg_source){.data = NULL, .offsets = none}, NULL,
                         err_));
    MUST(zlg_array_read_varlen(empty, NULL, &out, NULL, err_));
    assert_true(out.n == 0 && out.offsets[0] == 0);
    zlg_varlen_free(&out);
    zlg_array_close(empty);
    zlg_array_close(scalar);
    zlg_store_close(&store->base);
    zlg_ctx_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads),
        cmocka_unit_test(test_version_2),
        cmocka_unit_test(test_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
