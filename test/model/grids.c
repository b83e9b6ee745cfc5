/*
 * Label: engine
 * Grids at their edges: chunks that are not alike, chunks larger than the array, axes of no
 * length, no axes at all, as many as there may be, and arrays too large to hold; lists of
 * many entries, and several arrays in one call.
 */
#define _GNU_SOURCE
#include "../fault/fault.h"
#include "pick.h"

typedef struct fixture {
    zlg_ctx *ctx;
    fault_store *store;
} fixture;

static void open_fixture(fixture *f)
{
    zlg_ctx_options options = ZLG_CTX_OPTIONS_INIT;
    options.n_threads = 3;
    MUST(zlg_ctx_new(&options, &f->ctx, err_));
    f->store = fault_store_open(f->ctx);
}

static void close_fixture(fixture *f)
{
    assert_int_equal(f->store->n_open, 0);
    zlg_store_close(&f->store->base);
    zlg_ctx_close(f->ctx);
}

/* ------------------------------------------------------------------ random grids */

enum { MAX_RANK = 3, CASES = 400 };

typedef struct model {
    uint64_t seed;
    int rank;
    int64_t shape[MAX_RANK];
    char shape_text[64], grid[2048];
    uint16_t *elements;
    size_t n_elements;
    zlg_array *array;
} model;

/* Edges one by one or as [edge, how many]; some lie wholly beyond the array. */
static int add_edges(model *m, int n, int64_t *length)
{
    int64_t sum = 0, n_entries = 1 + pick_below(&m->seed, 5);
    for (int64_t i = 0; i < n_entries; i++) {
        int64_t edge = 1 + pick_below(&m->seed, 7), times = 1 + pick_below(&m->seed, 3);
        const char *format = times > 1 ? "%s[%lld,%lld]" : "%s%lld";
        n += snprintf(m->grid + n, sizeof m->grid - (size_t)n, format, i ? "," : "",
                      (long long)edge, (long long)times);
        sum += edge * times;
    }
    *length = pick_below(&m->seed, 3) ? sum : pick_below(&m->seed, sum + 1);
    return n;
}

static void make_model(model *m, fixture *f)
{
    int n = snprintf(m->grid, sizeof m->grid,
                     "{\"name\":\"rectilinear\",\"configuration\":{\"kind\":\"inline\","
                     "\"chunk_shapes\":[");
    int n_shape = snprintf(m->shape_text, sizeof m->shape_text, "[");
    m->rank = 1 + (int)pick_below(&m->seed, MAX_RANK);
    m->n_elements = 1;
    for (int i = 0; i < m->rank; i++) {
        n += snprintf(m->grid + n, sizeof m->grid - (size_t)n, i ? ",[" : "[");
        n = add_edges(m, n, &m->shape[i]);
        n += snprintf(m->grid + n, sizeof m->grid - (size_t)n, "]");
        n_shape += snprintf(m->shape_text + n_shape, sizeof m->shape_text - (size_t)n_shape,
                            "%s%lld", i ? "," : "", (long long)m->shape[i]);
        m->n_elements *= (size_t)m->shape[i];
    }
    snprintf(m->grid + n, sizeof m->grid - (size_t)n, "]}}");
    snprintf(m->shape_text + n_shape, sizeof m->shape_text - (size_t)n_shape, "]");
    static const char *const codecs[] = {"[" BIG "]", "[" LITTLE "," ZSTD "]"};
    m->array = put_array(&f->store->base, "", m->shape_text, "\"uint16\"", m->grid, "3",
                         codecs[pick_below(&m->seed, 2)]);
    m->elements = malloc(m->n_elements * sizeof *m->elements + 1);
    for (size_t i = 0; i < m->n_elements; i++)
        m->elements[i] = i / 9 % 2 ? (uint16_t)test_random(&m->seed) : 3;
    MUST(zlg_array_write(m->array, NULL, &(zlg_source){.data = m->elements}, NULL, err_));
}

static void check_pick(model *m)
{
    pick p;
    zlg_error err = {0};
    pick_any(&p, &m->seed, m->rank, m->shape, 200, true);
    uint16_t *out = malloc(p.n * sizeof *out + 1);
    if (zlg_array_read(m->array, &p.selection, &(zlg_target){.data = out}, NULL, &err))
        fail_msg("%s %s: %s", m->shape_text, m->grid, err.message);
    for (size_t i = 0; i < p.n; i++)
        if (out[i] != m->elements[p.element[i]])
            fail_msg("element %zu of a selection of kind %d: %s %s", i,
                     (int)p.selection.kind, m->shape_text, m->grid);
    free(out);
    pick_free(&p);
}

static void test_rectilinear(void **state)
{
    (void)state;
    for (uint64_t k = 0; k < CASES; k++) {
        fixture f;
        open_fixture(&f);
        f.store->lends = k % 2;
        model m = {.seed = (k + 77) * UINT64_C(0x9e3779b97f4a7c15) + 1};
        make_model(&m, &f);
        for (int i = 0; i < 12; i++)
            check_pick(&m);
        zlg_array_close(m.array);
        free(m.elements);
        close_fixture(&f);
    }
}

/* ------------------------------------------------------------------ large arrays */

/* 2^80 elements: a box across chunks that are stored and chunks that are not. */
static void check_large(const char *chunk, int64_t n_chunk)
{
    fixture f;
    char grid[128], key[64];
    const int64_t length = INT64_C(1) << 40,
                  middle = (INT64_C(1) << 39) / n_chunk * n_chunk;
    open_fixture(&f);
    snprintf(grid, sizeof grid, REGULAR("%s"), chunk);
    zlg_array *array = put_array(&f.store->base, "", "[1099511627776,1099511627776]",
                                 "\"int32\"", grid, "-1", "[" LITTLE "," ZSTD "]");
    int32_t *data = malloc((size_t)(n_chunk * n_chunk) * sizeof *data), out[6][6];
    for (int64_t i = 0; i < n_chunk * n_chunk; i++)
        data[i] = (int32_t)i;
    zlg_axis axes[2] = {{.start = middle, .step = 1, .count = n_chunk},
                        {.start = middle, .step = 1, .count = n_chunk}};
    zlg_selection box = {.kind = ZLG_BOX, .rank = 2, .axes = axes};
    MUST(zlg_array_write(array, &box, &(zlg_source){.data = data}, NULL, err_));
    snprintf(key, sizeof key, "c/%lld/%lld", (long long)(middle / n_chunk),
             (long long)(middle / n_chunk));
    zlg_text text;
    MUST(zlg_store_get(&f.store->base, key, &text, err_));
    zlg_text_free(&text);
    axes[0] = axes[1] = (zlg_axis){.start = middle + 2, .step = -1, .count = 6};
    MUST(zlg_array_read(array, &box, &(zlg_target){.data = out}, NULL, err_));
    for (int64_t i = 0; i < 6; i++)
        for (int64_t k = 0; k < 6; k++)
            assert_int_equal(out[i][k], i <= 2 && k <= 2 ? (2 - i) * n_chunk + 2 - k : -1);
    axes[0] = axes[1] = (zlg_axis){.start = length - 6, .step = 1, .count = 6};
    MUST(zlg_array_read(array, &box, &(zlg_target){.data = out}, NULL, err_));
    assert_int_equal(out[5][5], -1);
    free(data);
    zlg_array_close(array);
    close_fixture(&f);
}

static void test_large(void **state)
{
    (void)state;
    check_large("[1024,1024]", 1024);
    check_large("[8,8]", 8); /* more chunks than there are numbers for */
}

/* Points name chunks by their number: those that have none are refused. */
static void test_too_many_chunks_for_points(void **state)
{
    (void)state;
    fixture f;
    zlg_error err = {0};
    open_fixture(&f);
    zlg_array *array = put_array(&f.store->base, "", "[1099511627776,1099511627776]",
                                 "\"int32\"", REGULAR("[8,8]"), "-1", "[" LITTLE "]");
    const int64_t at[1] = {5};
    const int64_t *const coordinates[] = {at, at};
    zlg_selection points = {
        .kind = ZLG_POINTS, .rank = 2, .coordinates = coordinates, .n_points = 1};
    int32_t out = 0;
    assert_int_equal(
        zlg_array_read(array, &points, &(zlg_target){.data = &out}, NULL, &err), ZLG_LIMIT);
    zlg_array_close(array);
    close_fixture(&f);
}

/* Chunks that end at the largest number there is. */
static void test_end_of_numbers(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    zlg_array *array =
        put_array(&f.store->base, "", "[9223372036854775806]", "\"uint8\"",
                  REGULAR("[4611686018427387903]"), "9", "[{\"name\":\"bytes\"}]");
    const int64_t length = INT64_MAX - 1, half = (INT64_C(1) << 62) - 1;
    const int64_t list[3] = {length - 1, half, 5};
    zlg_axis axes[3] = {{.start = half - 2, .step = 1, .count = 4},
                        {.start = length - 1, .step = -half, .count = 2},
                        {.count = 3, .list = list}};
    for (int i = 0; i < 3; i++) {
        uint8_t out[4] = {0};
        zlg_selection box = {.kind = ZLG_BOX, .rank = 1, .axes = &axes[i]};
        MUST(zlg_array_read(array, &box, &(zlg_target){.data = out}, NULL, err_));
        for (int64_t k = 0; k < axes[i].count; k++)
            assert_int_equal(out[k], 9);
    }
    zlg_axis beyond = {.start = length - 1, .step = 1, .count = 2};
    zlg_selection box = {.kind = ZLG_BOX, .rank = 1, .axes = &beyond};
    uint8_t out[2];
    assert_int_equal(zlg_array_read(array, &box, &(zlg_target){.data = out}, NULL, NULL),
                     ZLG_RANGE);
    zlg_array_close(array);
    close_fixture(&f);
}

/* A chunk of the grid larger than memory: what lies in the array is read by range. */
static void test_chunk_larger_than_array(void **state)
{
    (void)state;
    static const char *const codecs[] = {
        "[" LITTLE "]", "[" BIG "," GZIP "]", "[" SHARD("[4,5]", "[" LITTLE "]") "]",
        "[" TRANSPOSE("[1,0]") "," SHARD("[10,4]", "[" BIG "," ZSTD "]") "]"};
    for (size_t i = 0; i < ZLGI_COUNT(codecs); i++) {
        fixture f;
        uint32_t data[3][7], out[7];
        open_fixture(&f);
        zlg_array *array = put_array(&f.store->base, "", "[3,7]", "\"uint32\"",
                                     REGULAR("[8,40]"), "1", codecs[i]);
        for (uint32_t k = 0; k < 21; k++)
            data[k / 7][k % 7] = k * 1000003;
        MUST(zlg_array_write(array, NULL, &(zlg_source){.data = data}, NULL, err_));
        for (int64_t row = 0; row < 3; row++) {
            zlg_axis axes[2] = {{.start = row, .step = 1, .count = 1},
                                {.start = 6, .step = -1, .count = 7}};
            zlg_selection box = {.kind = ZLG_BOX, .rank = 2, .axes = axes};
            MUST(zlg_array_read(array, &box, &(zlg_target){.data = out}, NULL, err_));
            for (int k = 0; k < 7; k++)
                assert_int_equal(out[k], data[row][6 - k]);
        }
        zlg_array_close(array);
        close_fixture(&f);
    }
}

/* ------------------------------------------------------------------ no elements */

static void read_nothing(zlg_array *array, const zlg_selection *selection)
{
    uint8_t guard[16];
    memset(guard, 0xA5, sizeof guard);
    MUST(zlg_array_read(array, selection, &(zlg_target){.data = guard + 8}, NULL, err_));
    for (size_t i = 0; i < sizeof guard; i++)
        assert_int_equal(guard[i], 0xA5);
    zlg_text text;
    MUST(zlg_array_explain(array, selection, 1, -1, &text, err_));
    assert_non_null(strstr(text.data, "\"n_objects\":0,"));
    zlg_text_free(&text);
}

static void test_no_elements(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    const struct {
        const char *shape, *grid;
    } empty[] = {{"[0,5]", REGULAR("[2,2]")},
                 {"[5,0]", REGULAR("[2,3]")},
                 {"[0,0]", REGULAR("[1,1]")},
                 {"[0,4611686018427387904]", REGULAR("[4,4]")},
                 {"[0,5]",
                  "{\"name\":\"rectilinear\",\"configuration\":{\"kind\":\"inline\","
                  "\"chunk_shapes\":[[3],[2,3]]}}"}};
    for (size_t i = 0; i < ZLGI_COUNT(empty); i++) {
        zlg_array *array = put_array(&f.store->base, "e", empty[i].shape, "\"float64\"",
                                     empty[i].grid, "0", "[" LITTLE "," CRC "]");
        zlg_selection mask = {.kind = ZLG_MASK, .rank = 2, .mask = (const uint8_t *)""};
        zlg_selection points = {.kind = ZLG_POINTS,
                                .rank = 2,
                                .coordinates = (const int64_t *const[]){NULL, NULL}};
        read_nothing(array, NULL);
        read_nothing(array, &mask);
        read_nothing(array, &points);
        MUST(zlg_array_write(array, NULL, &(zlg_source){.data = ""}, NULL, err_));
        zlg_array_close(array);
    }
    close_fixture(&f);
}

/* Selections of nothing, of an array that has elements. */
static void test_empty_selections(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    const uint8_t nothing[20] = {0};
    zlg_array *array = put_array(&f.store->base, "", "[4,5]", "\"uint8\"", REGULAR("[2,2]"),
                                 "0", "[{\"name\":\"bytes\"}]");
    zlg_axis axes[2] = {{.start = 3, .step = 1, .count = 1}, {.start = 99, .step = 7}};
    zlg_axis blocks[2] = {{.start = 2, .step = 1, .count = 0},
                          {.start = 0, .step = 1, .count = 3}};
    zlg_axis lists[2] = {{.list = (const int64_t[]){0}},
                         {.start = 0, .step = 1, .count = 5}};
    const zlg_selection selections[] = {
        {.kind = ZLG_BOX, .rank = 2, .axes = axes},
        {.kind = ZLG_BLOCKS, .rank = 2, .axes = blocks},
        {.kind = ZLG_BOX, .rank = 2, .axes = lists},
        {.kind = ZLG_MASK, .rank = 2, .mask = nothing},
    };
    for (size_t i = 0; i < ZLGI_COUNT(selections); i++)
        read_nothing(array, &selections[i]);
    zlg_read reads[ZLGI_COUNT(selections)];
    for (size_t i = 0; i < ZLGI_COUNT(selections); i++)
        reads[i] = (zlg_read){array, &selections[i], {.data = NULL}};
    MUST(zlg_read_many(reads, ZLGI_COUNT(reads), NULL, err_));
    MUST(zlg_read_many(NULL, 0, NULL, err_));
    zlg_array_close(array);
    close_fixture(&f);
}

/* Elements without bytes: text of no characters, as version 2 may have it. */
static void test_elements_without_bytes(void **state)
{
    (void)state;
    static const char *const types[] = {"|S0", "<U0", "|V0"};
    static const char *const compressors[] = {"null", "{\"id\":\"zlib\",\"level\":1}"};
    int n_opened = 0;
    for (size_t i = 0; i < ZLGI_COUNT(types) * ZLGI_COUNT(compressors) * 2; i++) {
        fixture f;
        char text[512];
        zlg_array *array;
        uint8_t guard = 0xA5;
        uint64_t seed = 7;
        open_fixture(&f);
        f.store->lends = i >= ZLGI_COUNT(types) * ZLGI_COUNT(compressors);
        snprintf(text, sizeof text,
                 "{\"zarr_format\":2,\"shape\":[3,4],\"chunks\":[2,2],\"dtype\":\"%s\","
                 "\"compressor\":%s,\"fill_value\":null,\"filters\":null,\"order\":\"C\"}",
                 types[i % 3], compressors[i / 3 % 2]);
        put_text(&f.store->base, ".zarray", text);
        if (zlg_array_open(&f.store->base, "", NULL, &array, NULL) != ZLG_OK) {
            close_fixture(&f); /* a type may be refused */
            continue;
        }
        assert_int_equal(zlg_array_dtype(array).n_bytes, 0);
        n_opened++;
        MUST(zlg_store_put(&f.store->base, "0.0", "", 0, err_));
        for (int k = 0; k < 30; k++) {
            pick p;
            pick_any(&p, &seed, 2, zlg_array_shape(array), 4, true);
            zlg_status status = zlg_array_read(array, &p.selection,
                                               &(zlg_target){.data = &guard}, NULL, NULL);
            /* What is stored is nothing, which no compressor gives. */
            assert_true(status == ZLG_OK || (status == ZLG_CORRUPT && i / 3 % 2 == 1));
            assert_int_equal(guard, 0xA5);
            pick_free(&p);
        }
        MUST(zlg_array_write(array, NULL, &(zlg_source){.data = &guard}, NULL, err_));
        MUST(zlg_array_read(array, NULL, &(zlg_target){.data = &guard}, NULL, err_));
        zlg_array_close(array);
        close_fixture(&f);
    }
    assert_true(n_opened > 0);
}

/* ------------------------------------------------------------------ ranks */

static void test_no_axes(void **state)
{
    (void)state;
    static const char *const codecs[] = {"[" BIG "]", "[" LITTLE "," ZSTD "]",
                                         "[" SHARD("[]", "[" BIG "," CRC "]") "]",
                                         "[" TRANSPOSE("[]") "," LITTLE "]"};
    for (size_t i = 0; i < ZLGI_COUNT(codecs); i++) {
        fixture f;
        open_fixture(&f);
        zlg_array *array = put_array(&f.store->base, "", "[]", "\"float64\"", REGULAR("[]"),
                                     "0.5", codecs[i]);
        double data = 1e300, out[3] = {0, 0, 0};
        const uint8_t set = 1, unset = 0;
        zlg_selection mask = {.kind = ZLG_MASK, .mask = &set};
        zlg_selection points = {.kind = ZLG_POINTS, .n_points = 3};
        zlg_selection blocks = {.kind = ZLG_BLOCKS};
        MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, NULL, err_));
        assert_true(out[0] == 0.5);
        MUST(zlg_array_write(array, NULL, &(zlg_source){.data = &data}, NULL, err_));
        MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, NULL, err_));
        assert_true(out[0] == data && out[1] == 0);
        MUST(zlg_array_read(array, &mask, &(zlg_target){.data = out + 1}, NULL, err_));
        assert_true(out[1] == data && out[2] == 0);
        MUST(zlg_array_read(array, &points, &(zlg_target){.data = out}, NULL, err_));
        assert_true(out[2] == data);
        out[0] = 0;
        MUST(zlg_array_read(array, &blocks, &(zlg_target){.data = out}, NULL, err_));
        assert_true(out[0] == data);
        mask.mask = &unset;
        out[0] = 7;
        MUST(zlg_array_read(array, &mask, &(zlg_target){.data = out}, NULL, err_));
        assert_true(out[0] == 7);
        zlg_array_close(array);
        close_fixture(&f);
    }
}

static void append(char text[160], int i, int value)
{
    size_t n = strlen(text);
    snprintf(text + n, 160 - n, "%s%d", i ? "," : "[", value);
}

/* 32 axes, of which every third is longer than one; at rank 31, as shards too. */
static void check_many_axes(int rank, bool sharded)
{
    fixture f;
    char shape[160] = "", chunk[160] = "", inner[160] = "", order[160] = "", all[170];
    char grid[256], codecs[1024];
    size_t n = 1;
    open_fixture(&f);
    for (int i = 0; i < rank; i++) {
        bool is_long = i % 3 == 0;
        append(shape, i, is_long ? 3 : 1);
        append(chunk, i, is_long ? 2 : 1);
        append(inner, i, 1);
        append(order, i, rank - 1 - i);
        n *= is_long ? 3 : 1;
    }
    snprintf(all, sizeof all, "%s]", shape);
    snprintf(grid, sizeof grid, REGULAR("%s]"), chunk);
    snprintf(codecs, sizeof codecs,
             sharded ? "[" TRANSPOSE("%s]") "," SHARD("%s]", "[" BIG "]") "]"
                     : "[" TRANSPOSE("%s]") "," BIG "]",
             order, inner);
    zlg_array *array = put_array(&f.store->base, "", all, "\"uint32\"", grid, "5", codecs);
    uint32_t *data = malloc(n * sizeof *data), *out = calloc(n, sizeof *out);
    for (uint32_t i = 0; i < n; i++)
        data[i] = i;
    MUST(zlg_array_write(array, NULL, &(zlg_source){.data = data}, NULL, err_));
    MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, NULL, err_));
    assert_memory_equal(out, data, n * sizeof *out);
    uint64_t seed = 99;
    for (int i = 0; i < 50; i++) {
        pick p;
        pick_any(&p, &seed, rank, zlg_array_shape(array), 2, true);
        MUST(zlg_array_read(array, &p.selection, &(zlg_target){.data = out}, NULL, err_));
        for (size_t k = 0; k < p.n; k++)
            assert_int_equal(out[k], data[p.element[k]]);
        pick_free(&p);
    }
    free(data);
    free(out);
    zlg_array_close(array);
    close_fixture(&f);
}

static void test_many_axes(void **state)
{
    (void)state;
    check_many_axes(32, false);
    check_many_axes(31, true);
}

/* ------------------------------------------------------------------ long lists */

static void test_long_lists(void **state)
{
    (void)state;
    enum { N = 60000, N_LIST = 100000 };
    static const char *const codecs[] = {
        "[" LITTLE "]", "[" BIG "," ZSTD "]", "[" SHARD("[10]", "[" LITTLE "," CRC "]") "]",
        "[" SHARD("[500]", "[" SHARD("[25]", "[" BIG "]") "]") "]"};
    uint32_t *data = malloc(N * sizeof *data), *out = malloc(N_LIST * sizeof *out);
    int64_t *list = malloc(N_LIST * sizeof *list);
    uint64_t seed = 5;
    for (uint32_t i = 0; i < N; i++)
        data[i] = i ^ 0x5a5a5a;
    for (size_t i = 0; i < N_LIST; i++)
        list[i] = pick_below(&seed, N);
    for (size_t i = 0; i < ZLGI_COUNT(codecs); i++) {
        fixture f;
        open_fixture(&f);
        f.store->lends = i % 2;
        zlg_array *array = put_array(&f.store->base, "", "[60000]", "\"uint32\"",
                                     REGULAR("[1000]"), "0", codecs[i]);
        MUST(zlg_array_write(array, NULL, &(zlg_source){.data = data}, NULL, err_));
        zlg_axis axis = {.count = N_LIST, .list = list};
        const int64_t *const coordinates[] = {list};
        const zlg_selection selections[] = {{.kind = ZLG_BOX, .rank = 1, .axes = &axis},
                                            {.kind = ZLG_POINTS,
                                             .rank = 1,
                                             .coordinates = coordinates,
                                             .n_points = N_LIST}};
        for (size_t k = 0; k < ZLGI_COUNT(selections); k++) {
            zlg_stats stats = ZLG_STATS_INIT;
            zlg_call call = ZLG_CALL_INIT;
            call.stats = &stats;
            memset(out, 0, N_LIST * sizeof *out);
            MUST(zlg_array_read(array, &selections[k], &(zlg_target){.data = out}, &call,
                                err_));
            for (size_t e = 0; e < N_LIST; e++)
                assert_int_equal(out[e], data[list[e]]);
            assert_int_equal(stats.n_opened, N / 1000);
        }
        zlg_array_close(array);
        close_fixture(&f);
    }
    free(data);
    free(out);
    free(list);
}

/* ------------------------------------------------------------------ batches */

/* Arrays of different type, rank, layout and store, one of them opened twice. */
static void test_batch_of_arrays(void **state)
{
    (void)state;
    fixture f;
    zlg_store *memory;
    open_fixture(&f);
    MUST(zlg_store_open_memory(f.ctx, &memory, err_));
    uint8_t bytes[300], out_bytes[300];
    double doubles[20][30], out_doubles[30][20], column[20];
    for (int i = 0; i < 300; i++)
        bytes[i] = (uint8_t)(i * 3);
    for (int i = 0; i < 600; i++)
        doubles[i / 30][i % 30] = i * 0.25;
    zlg_array *a = put_array(&f.store->base, "a", "[300]", "\"uint8\"", REGULAR("[7]"), "0",
                             "[{\"name\":\"bytes\"}," GZIP "]");
    zlg_array *b = put_array(memory, "b", "[20,30]", "\"float64\"", REGULAR("[10,10]"), "0",
                             "[" SHARD("[5,2]", "[" BIG "]") "]");
    zlg_array *again;
    MUST(zlg_array_open(memory, "b", NULL, &again, err_));
    MUST(zlg_array_write(a, NULL, &(zlg_source){.data = bytes}, NULL, err_));
    MUST(zlg_array_write(b, NULL, &(zlg_source){.data = doubles}, NULL, err_));
    const ptrdiff_t transposed[2] = {sizeof(double), 20 * sizeof(double)};
    zlg_axis axes[2] = {{.start = 19, .step = -1, .count = 20},
                        {.start = 13, .step = 1, .count = 1}};
    zlg_selection box = {.kind = ZLG_BOX, .rank = 2, .axes = axes};
    uint8_t mask[300] = {0};
    mask[3] = mask[299] = 1;
    zlg_selection masked = {.kind = ZLG_MASK, .rank = 1, .mask = mask};
    uint8_t two[2];
    zlg_read reads[] = {{again, &box, {.data = column}},
                        {a, NULL, {.data = out_bytes}},
                        {b, NULL, {.data = out_doubles, .strides = transposed}},
                        {a, &masked, {.data = two}}};
    zlg_stats stats = ZLG_STATS_INIT;
    zlg_call call = ZLG_CALL_INIT;
    call.stats = &stats;
    MUST(zlg_read_many(reads, ZLGI_COUNT(reads), &call, err_));
    assert_memory_equal(out_bytes, bytes, sizeof bytes);
    for (int i = 0; i < 20; i++) {
        assert_true(column[i] == doubles[19 - i][13]);
        for (int k = 0; k < 30; k++)
            assert_true(out_doubles[k][i] == doubles[i][k]);
    }
    assert_true(two[0] == bytes[3] && two[1] == bytes[299]);
    assert_int_equal(stats.n_chunks, 43 + 60 + 4); /* a once, b, and a column of b again */
    zlg_array_close(a);
    zlg_array_close(b);
    zlg_array_close(again);
    zlg_store_close(memory);
    close_fixture(&f);
}

/* What a batch refuses. */
static void test_refused_batches(void **state)
{
    (void)state;
    fixture f, other;
    zlg_error err = {0};
    open_fixture(&f);
    open_fixture(&other);
    zlg_array *a = put_array(&f.store->base, "", "[3]", "\"int8\"", REGULAR("[3]"), "0",
                             "[{\"name\":\"bytes\"}]");
    zlg_array *foreign = put_array(&other.store->base, "", "[3]", "\"int8\"",
                                   REGULAR("[3]"), "0", "[{\"name\":\"bytes\"}]");
    zlg_array *words = put_array(&f.store->base, "w", "[3]", "\"string\"", REGULAR("[3]"),
                                 "\"\"", "[{\"name\":\"vlen-utf8\"}]");
    int8_t out[3];
    zlg_selection flat = {.kind = ZLG_BOX, .rank = 2};
    zlg_read reads[2] = {{a, NULL, {.data = out}}, {foreign, NULL, {.data = out}}};
    assert_int_equal(zlg_read_many(reads, 2, NULL, &err), ZLG_USAGE);
    reads[1] = (zlg_read){words, NULL, {.data = out}};
    assert_int_equal(zlg_read_many(reads, 2, NULL, &err), ZLG_USAGE);
    reads[1] = (zlg_read){a, &flat, {.data = out}};
    assert_int_equal(zlg_read_many(reads, 2, NULL, &err), ZLG_USAGE);
    zlg_array_close(a);
    zlg_array_close(foreign);
    zlg_array_close(words);
    close_fixture(&f);
    close_fixture(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rectilinear),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_too_many_chunks_for_points),
        cmocka_unit_test(test_end_of_numbers),
        cmocka_unit_test(test_chunk_larger_than_array),
        cmocka_unit_test(test_no_elements),
        cmocka_unit_test(test_empty_selections),
        cmocka_unit_test(test_elements_without_bytes),
        cmocka_unit_test(test_no_axes),
        cmocka_unit_test(test_many_axes),
        cmocka_unit_test(test_long_lists),
        cmocka_unit_test(test_batch_of_arrays),
        cmocka_unit_test(test_refused_batches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
