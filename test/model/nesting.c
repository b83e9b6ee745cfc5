/*
 * Label: engine
 * Shards in shards in shards, with transposes and codecs that change values at every level,
 * codecs around some, and grids of chunks that are not alike. Every read is compared with
 * the list of the elements that it names. Seeded: a failure names its seed and document.
 */
#define _GNU_SOURCE
#include "../fault/fault.h"
#include "pick.h"

enum { MAX_RANK = 3, MAX_DEPTH = 3, CASES = 300, FILL = 7 };

typedef struct model {
    uint64_t seed;
    int rank, depth;
    int64_t shape[MAX_RANK];
    int64_t object[MAX_RANK];            /* of a regular grid */
    int64_t factor[MAX_DEPTH][MAX_RANK]; /* inner chunks along an axis, level by level */
    size_t n_elements;
    int32_t *elements;
    zlg_array *array;
    char codecs[8192], grid[512], shape_text[64];
    size_t n_codecs;
} model;

static int64_t below(model *m, int64_t n)
{
    return pick_below(&m->seed, n);
}

static void add(model *m, const char *format, ...) ZLGI_PRINTF(2, 3);
static void add(model *m, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n =
        vsnprintf(m->codecs + m->n_codecs, sizeof m->codecs - m->n_codecs, format, args);
    va_end(args);
    m->n_codecs += (size_t)n;
    assert_true(m->n_codecs < sizeof m->codecs);
}

static void add_list(model *m, const int64_t *list)
{
    add(m, "[");
    for (int i = 0; i < m->rank; i++)
        add(m, "%s%lld", i ? "," : "", (long long)list[i]);
    add(m, "]");
}

/* A rotation or a reversal; box and factors of deeper levels follow. */
static void add_transpose(model *m, int64_t *box, int level)
{
    int64_t order[MAX_RANK], old[MAX_RANK], first = below(m, m->rank);
    bool reverse = below(m, 2);
    for (int i = 0; i < m->rank; i++)
        order[i] = (first + (reverse ? m->rank - i : i)) % m->rank;
    add(m, "{\"name\":\"transpose\",\"configuration\":{\"order\":");
    add_list(m, order);
    add(m, "}},");
    memcpy(old, box, sizeof old);
    for (int i = 0; i < m->rank; i++)
        box[i] = old[order[i]];
    for (int k = level; k < m->depth; k++) {
        memcpy(old, m->factor[k], sizeof old);
        for (int i = 0; i < m->rank; i++)
            m->factor[k][i] = old[order[i]];
    }
}

static void add_front(model *m, int64_t *box, int level)
{
    while (below(m, 3) == 0)
        add_transpose(m, box, level);
    if (below(m, 4) == 0)
        add(m,
            "{\"name\":\"scale_offset\",\"configuration\":{\"offset\":%d,\"scale\":%d}},",
            (int)below(m, 50) - 25, (int)below(m, 3) + 1);
    if (below(m, 3) == 0)
        add_transpose(m, box, level);
}

static void add_back(model *m)
{
    static const char *const backs[] = {"", "", "", "," CRC, "," ZSTD, "," GZIP "," CRC};
    add(m, "%s", backs[below(m, ZLGI_COUNT(backs))]);
}

/* The chain of a box; the box is in the axes of the array behind all transposes above. */
static void add_chain(model *m, const int64_t *outer, int level)
{
    int64_t box[MAX_RANK];
    memcpy(box, outer, sizeof box);
    add(m, "[");
    add_front(m, box, level);
    if (level == m->depth) {
        add(m, "%s", below(m, 2) ? LITTLE : BIG);
        add_back(m);
    } else {
        for (int i = 0; i < m->rank; i++)
            box[i] /= m->factor[level][i];
        add(m, "{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":");
        add_list(m, box);
        add(m, ",\"codecs\":");
        add_chain(m, box, level + 1);
        add(m, ",\"index_codecs\":[%s%s],\"index_location\":\"%s\"}}",
            below(m, 2) ? LITTLE : BIG, below(m, 3) ? "," CRC : "",
            below(m, 2) ? "start" : "end");
        if (below(m, 5) == 0)
            add_back(m);
    }
    add(m, "]");
}

/* A regular grid, or one whose edges are multiples of `object` of different size. */
static void make_grid(model *m)
{
    char *grid = m->grid;
    size_t room = sizeof m->grid;
    bool regular = below(m, 3) > 0;
    int n = snprintf(grid, room,
                     regular ? "{\"name\":\"regular\",\"configuration\":{"
                               "\"chunk_shape\":["
                             : "{\"name\":\"rectilinear\",\"configuration\":{"
                               "\"kind\":\"inline\",\"chunk_shapes\":[");
    for (int i = 0; i < m->rank; i++) {
        int64_t n_edges = 1 + below(m, 3), sum = 0;
        if (regular) {
            m->shape[i] = m->object[i] * n_edges - below(m, m->object[i]);
            n += snprintf(grid + n, room - (size_t)n, "%s%lld", i ? "," : "",
                          (long long)m->object[i]);
            continue;
        }
        n += snprintf(grid + n, room - (size_t)n, i ? ",[" : "[");
        for (int64_t k = 0; k < n_edges; k++) {
            int64_t edge = m->object[i] * (1 + below(m, 2));
            n += snprintf(grid + n, room - (size_t)n, "%s%lld", k ? "," : "",
                          (long long)edge);
            sum += edge;
        }
        n += snprintf(grid + n, room - (size_t)n, "]");
        m->shape[i] = sum - below(m, m->object[i]);
    }
    snprintf(grid + n, room - (size_t)n, "]}}");
}

static void make_elements(model *m)
{
    m->n_elements = 1;
    for (int i = 0; i < m->rank; i++)
        m->n_elements *= (size_t)m->shape[i];
    m->elements = malloc(m->n_elements * sizeof *m->elements);
    int64_t run = 1 + below(m, 100), sparse = below(m, 2);
    for (size_t i = 0; i < m->n_elements; i++)
        m->elements[i] = sparse && (int64_t)i / run % 3 ? FILL : (int32_t)below(m, 1 << 20);
}

static void make_model(model *m, zlg_store *store)
{
    m->rank = 1 + (int)below(m, MAX_RANK);
    m->depth = (int)below(m, MAX_DEPTH + 1);
    for (int i = 0; i < m->rank; i++) {
        m->object[i] = 1 + below(m, m->rank == 1 ? 5 : 3);
        for (int k = 0; k < m->depth; k++) {
            m->factor[k][i] = 1 + below(m, m->rank == 1 ? 4 : 2);
            m->object[i] *= m->factor[k][i];
        }
    }
    make_grid(m);
    add_chain(m, m->object, 0);
    int n = snprintf(m->shape_text, sizeof m->shape_text, "[");
    for (int i = 0; i < m->rank; i++)
        n += snprintf(m->shape_text + n, sizeof m->shape_text - (size_t)n, "%s%lld",
                      i ? "," : "", (long long)m->shape[i]);
    snprintf(m->shape_text + n, sizeof m->shape_text - (size_t)n, "]");
    m->array = put_array(store, "", m->shape_text, "\"int32\"", m->grid, "7", m->codecs);
    make_elements(m);
    zlg_error err = {0};
    if (zlg_array_write(m->array, NULL, &(zlg_source){.data = m->elements}, NULL, &err) !=
        ZLG_OK)
        fail_msg("%s %s: %s", m->grid, m->codecs, err.message);
}

static void compare(const model *m, const pick *p, const int32_t *out)
{
    for (size_t i = 0; i < p->n; i++)
        if (out[i] != m->elements[p->element[i]])
            fail_msg("element %zu of a selection of kind %d is %d, not %d: %s %s %s", i,
                     (int)p->selection.kind, (int)out[i], (int)m->elements[p->element[i]],
                     m->shape_text, m->grid, m->codecs);
}

enum { BATCH = 5 };

static void check_batch(model *m)
{
    pick picks[BATCH];
    zlg_read reads[BATCH];
    for (int i = 0; i < BATCH; i++) {
        pick_any(&picks[i], &m->seed, m->rank, m->shape, 60, true);
        reads[i] = (zlg_read){.array = m->array,
                              .selection = &picks[i].selection,
                              .target = {.data = malloc(picks[i].n * sizeof(int32_t) + 1)}};
    }
    zlg_error err = {0};
    for (int i = 0; i <= BATCH; i++) { /* one by one, then together */
        zlg_status status = i < BATCH ? zlg_read_many(&reads[i], 1, NULL, &err)
                                      : zlg_read_many(reads, BATCH, NULL, &err);
        if (status != ZLG_OK)
            fail_msg("%s %s: %s", m->grid, m->codecs, err.message);
        for (int k = i < BATCH ? i : 0; k < BATCH && (k == i || i == BATCH); k++)
            compare(m, &picks[k], reads[k].target.data);
    }
    for (int i = 0; i < BATCH; i++) {
        free(reads[i].target.data);
        pick_free(&picks[i]);
    }
}

static void run_cases(uint64_t seed, bool lends, int64_t chunk_cache)
{
    zlg_ctx_options options = ZLG_CTX_OPTIONS_INIT;
    options.n_threads = 3;
    options.chunk_cache = chunk_cache;
    zlg_ctx *ctx;
    MUST(zlg_ctx_new(&options, &ctx, err_));
    for (uint64_t k = 0; k < CASES; k++) {
        model m = {.seed = (seed + k) * UINT64_C(0x9e3779b97f4a7c15) + 1};
        fault_store *store = fault_store_open(ctx);
        store->lends = lends;
        store->trusted = true;
        make_model(&m, &store->base);
        for (int i = 0; i < 4; i++)
            check_batch(&m);
        zlg_array_close(m.array);
        zlg_store_close(&store->base);
        free(m.elements);
    }
    zlg_ctx_close(ctx);
}

static void test_lent(void **state)
{
    (void)state;
    run_cases(1, true, 0);
}

static void test_copied(void **state)
{
    (void)state;
    run_cases(5000, false, 0);
}

static void test_chunk_cache(void **state)
{
    (void)state;
    run_cases(9000, false, 1 << 20);
}

/* ------------------------------------------------------------------ by hand */

/* Inner shards too large to be read at once: they are read by range, the first of them
 * where the outer shard begins. Read twice: the second time the indexes are cached. */
static void test_large_inner_shards(void **state)
{
    (void)state;
    enum { N = 1 << 21 };
    zlg_ctx *ctx;
    MUST(zlg_ctx_new(NULL, &ctx, err_));
    fault_store *store = fault_store_open(ctx);
    store->trusted = true;
    zlg_array *array = put_array(
        &store->base, "", "[2097152]", "\"uint8\"", REGULAR("[2097152]"), "0",
        "[" SHARD("[1048576]", "[" SHARD("[4096]", "[{\"name\":\"bytes\"}]") "]") "]");
    uint8_t *data = malloc(N), *out = calloc(N, 1);
    for (int i = 0; i < N; i++)
        data[i] = (uint8_t)(i % 251 + i / 4096);
    MUST(zlg_array_write(array, NULL, &(zlg_source){.data = data}, NULL, err_));
    for (int i = 0; i < 3; i++) {
        memset(out, 0, N);
        MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, NULL, err_));
        assert_memory_equal(out, data, N);
    }
    zlg_axis axis = {.start = 5, .step = 9000, .count = 200};
    zlg_selection box = {.kind = ZLG_BOX, .rank = 1, .axes = &axis};
    MUST(zlg_array_read(array, &box, &(zlg_target){.data = out}, NULL, err_));
    for (int i = 0; i < 200; i++)
        assert_int_equal(out[i], data[5 + 9000 * i]);
    free(data);
    free(out);
    zlg_array_close(array);
    zlg_store_close(&store->base);
    zlg_ctx_close(ctx);
}

/* As deep as it goes, with a codec around each shard or not. Deeper is refused. */
static void test_deepest(void **state)
{
    (void)state;
    for (int turn = 0; turn < 24; turn++) {
        int depth = 1 + turn / 2;
        bool wrapped = turn % 2;
        char codecs[8192];
        size_t n = 0;
        zlg_ctx *ctx;
        zlg_error err = {0};
        zlg_ctx_options options = ZLG_CTX_OPTIONS_INIT;
        zlg_limits limits = ZLG_LIMITS_INIT;
        limits.codec_depth = 100;
        options.limits = &limits;
        MUST(zlg_ctx_new(&options, &ctx, err_));
        fault_store *store = fault_store_open(ctx);
        for (int k = 0; k < depth; k++)
            n += (size_t)snprintf(codecs + n, sizeof codecs - n,
                                  "[{\"name\":\"sharding_indexed\",\"configuration\":{"
                                  "\"chunk_shape\":[%d],\"codecs\":",
                                  k + 1 < depth ? 4 : 2);
        n += (size_t)snprintf(codecs + n, sizeof codecs - n, "[" BIG "," ZSTD "," CRC "]");
        for (int k = 0; k < depth; k++)
            n += (size_t)snprintf(codecs + n, sizeof codecs - n,
                                  ",\"index_codecs\":[" LITTLE "]}}%s]",
                                  wrapped ? "," CRC : "");
        char text[9000];
        snprintf(text, sizeof text,
                 "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[8],\"data_type\":"
                 "\"uint16\",\"chunk_grid\":" REGULAR(
                     "[8]") ",\"fill_value\":0,\"codecs\":%s,"
                            "\"chunk_key_encoding\":{\"name\":\"default\"}}",
                 codecs);
        put_text(&store->base, "zarr.json", text);
        zlg_array *array = NULL;
        zlg_status status = zlg_array_open(&store->base, "", NULL, &array, &err);
        if (depth <= (wrapped ? 5 : 8) && status != ZLG_OK)
            fail_msg("depth %d: %s", depth, err.message);
        if (status == ZLG_OK) {
            const uint16_t data[8] = {1, 2, 3, 4, 5, 6, 7, 8};
            uint16_t out[8] = {0};
            MUST(zlg_array_write(array, NULL, &(zlg_source){.data = data}, NULL, err_));
            MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, NULL, err_));
            assert_memory_equal(out, data, sizeof data);
        } else {
            assert_int_equal(status, ZLG_LIMIT);
        }
        zlg_array_close(array);
        zlg_store_close(&store->base);
        zlg_ctx_close(ctx);
    }
}

/* Inner chunks that are not there hold the fill value as the shard knows it, which is not
 * always that of the array again; objects that are not there hold the latter. */
static void test_rounded_fill(void **state)
{
    (void)state;
    zlg_ctx *ctx;
    MUST(zlg_ctx_new(NULL, &ctx, err_));
    fault_store *store = fault_store_open(ctx);
    zlg_array *array = put_array(
        &store->base, "", "[12]", "\"float32\"", REGULAR("[4]"), "0.1",
        "[{\"name\":\"scale_offset\",\"configuration\":{\"offset\":3,\"scale\":7}}," SHARD(
            "[2]", "[" SHARD("[1]", "[" LITTLE "]") "]") "]");
    const volatile float stored = (0.1f - 3.0f) * 7.0f, quotient = stored / 7.0f;
    const float rounded = quotient + 3.0f;
    const float data[12] = {4, 0.1f, 0.1f, 0.1f, 5, 6, 7, 8, 0.1f, 0.1f, 0.1f, 0.1f};
    float out[12];
    assert_true(rounded != 0.1f);
    MUST(zlg_array_write(array, NULL, &(zlg_source){.data = data}, NULL, err_));
    MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, NULL, err_));
    for (int i = 0; i < 12; i++)
        assert_true(out[i] == (i > 0 && i < 4 ? rounded : data[i]));
    zlg_array_close(array);
    zlg_store_close(&store->base);
    zlg_ctx_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lent),        cmocka_unit_test(test_copied),
        cmocka_unit_test(test_chunk_cache), cmocka_unit_test(test_large_inner_shards),
        cmocka_unit_test(test_deepest),     cmocka_unit_test(test_rounded_fill),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
