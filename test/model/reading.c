/*
 * Label: engine
 * Random arrays, grids, shards, codecs and selections; every read is compared with the
 * obvious loop over the selection. Seeded: a failure names the seed that repeats it.
 */
#define _GNU_SOURCE
#include "../store/folder.h"
#include "random_array.h"

enum { MAX_COUNT = 24, CASES = 600 };

/* ------------------------------------------------------------------ selections */

typedef struct choice {
    zlg_selection selection;
    zlg_axis axes[MAX_RANK];
    int64_t lists[MAX_RANK][MAX_COUNT];
    const int64_t *coordinates[MAX_RANK];
    uint8_t *mask;
    size_t n_result;
    uint8_t *expected;
} choice;

static void expect(model *m, choice *c, const int64_t *at)
{
    size_t offset = 0;
    for (int i = 0; i < m->rank; i++)
        offset = offset * (size_t)m->shape[i] + (size_t)at[i];
    memcpy(c->expected + c->n_result * m->item, m->elements + offset * m->item, m->item);
    c->n_result++;
}

static void choose_axis(model *m, choice *c, int i)
{
    zlg_axis *axis = &c->axes[i];
    int64_t length = m->shape[i], kind = below(m, 5);
    axis->list = NULL;
    if (kind == 0) { /* a list, unsorted, with repeats */
        axis->count = 1 + below(m, ZLGI_MIN(length, MAX_COUNT));
        for (int64_t k = 0; k < axis->count; k++)
            c->lists[i][k] = below(m, length);
        axis->list = c->lists[i];
        axis->start = axis->step = 0; /* ignored */
        return;
    }
    axis->start = below(m, length);
    axis->step = kind == 1 ? 1 + below(m, length) : kind == 2 ? -1 - below(m, length) : 1;
    int64_t room = axis->step > 0 ? (length - 1 - axis->start) / axis->step + 1
                                  : axis->start / -axis->step + 1;
    axis->count = kind == 4 && axis->start == 0 ? length : 1 + below(m, room);
}

static int64_t index_at(const zlg_axis *axis, int64_t k)
{
    return axis->list ? axis->list[k] : axis->start + k * axis->step;
}

static void choose_box(model *m, choice *c)
{
    c->selection = (zlg_selection){.kind = ZLG_BOX, .rank = m->rank, .axes = c->axes};
    int64_t k[MAX_RANK] = {0}, at[MAX_RANK];
    for (int i = 0; i < m->rank; i++)
        choose_axis(m, c, i);
    for (;;) {
        for (int i = 0; i < m->rank; i++)
            at[i] = index_at(&c->axes[i], k[i]);
        expect(m, c, at);
        int i = m->rank - 1;
        while (i >= 0 && ++k[i] == c->axes[i].count)
            k[i--] = 0;
        if (i < 0)
            return;
    }
}

static void choose_points(model *m, choice *c)
{
    int64_t n = 1 + below(m, MAX_COUNT), at[MAX_RANK];
    c->selection = (zlg_selection){
        .kind = ZLG_POINTS, .rank = m->rank, .coordinates = c->coordinates, .n_points = n};
    for (int i = 0; i < m->rank; i++)
        c->coordinates[i] = c->lists[i];
    for (int64_t p = 0; p < n; p++) {
        for (int i = 0; i < m->rank; i++)
            at[i] = c->lists[i][p] = below(m, m->shape[i]);
        expect(m, c, at);
    }
}

static void choose_mask(model *m, choice *c)
{
    int64_t at[MAX_RANK] = {0}, one_in = 1 + below(m, 20);
    c->mask = malloc(m->n_elements);
    c->selection = (zlg_selection){.kind = ZLG_MASK, .rank = m->rank, .mask = c->mask};
    for (size_t e = 0; e < m->n_elements; e++) {
        c->mask[e] = (uint8_t)(below(m, one_in) == 0 ? 1 + below(m, 255) : 0);
        if (c->mask[e])
            expect(m, c, at);
        for (int i = m->rank - 1; i >= 0 && ++at[i] == m->shape[i]; i--)
            at[i] = 0;
    }
}

static void choose_blocks(model *m, choice *c)
{
    int64_t low[MAX_RANK], high[MAX_RANK], at[MAX_RANK];
    const int64_t *object = zlg_array_object_shape(m->array);
    c->selection = (zlg_selection){.kind = ZLG_BLOCKS, .rank = m->rank, .axes = c->axes};
    for (int i = 0; i < m->rank; i++) {
        int64_t n = zlg_array_grid_shape(m->array, i);
        c->axes[i] = (zlg_axis){.start = below(m, n), .step = 1};
        c->axes[i].count = 1 + below(m, n - c->axes[i].start);
        low[i] = at[i] = c->axes[i].start * object[i];
        high[i] = ZLGI_MIN(m->shape[i], low[i] + c->axes[i].count * object[i]);
    }
    for (;;) {
        expect(m, c, at);
        int i = m->rank - 1;
        while (i >= 0 && ++at[i] == high[i]) {
            at[i] = low[i];
            i--;
        }
        if (i < 0)
            return;
    }
}

static void choose(model *m, choice *c)
{
    memset(c, 0, sizeof *c);
    c->expected = malloc((m->n_elements + MAX_COUNT) * m->item);
    switch (below(m, 6)) {
    case 0:
        choose_points(m, c);
        break;
    case 1:
        choose_mask(m, c);
        break;
    case 2:
        choose_blocks(m, c);
        break;
    default:
        choose_box(m, c);
    }
}

/* ------------------------------------------------------------------ reads */

/* Strides of a result that is laid out in some order, backwards along some axes, with
 * gaps; *out_first is where element 0 lies. */
static size_t random_strides(model *m, const choice *c, ptrdiff_t *strides,
                             size_t *out_first)
{
    int rank;
    int64_t shape[ZLG_MAX_RANK];
    assert_int_equal(zlg_selection_shape(m->array, &c->selection, &rank, shape, NULL),
                     ZLG_OK);
    size_t size = m->item;
    *out_first = 0;
    int rotate = rank ? (int)below(m, rank) : 0;
    for (int k = 0; k < rank; k++) {
        int i = (rank - 1 - k + rotate) % rank;
        size_t gap = below(m, 4) == 0 ? (size_t)below(m, 5) : 0;
        size += gap;
        strides[i] = (ptrdiff_t)size;
        size *= (size_t)shape[i];
        if (below(m, 3) == 0 && shape[i] > 0) {
            *out_first += (size_t)(shape[i] - 1) * (size_t)strides[i];
            strides[i] = -strides[i];
        }
    }
    return size;
}

static void compare(model *m, const choice *c, const uint8_t *data,
                    const ptrdiff_t *strides)
{
    int rank;
    int64_t shape[ZLG_MAX_RANK], k[ZLG_MAX_RANK] = {0};
    assert_int_equal(zlg_selection_shape(m->array, &c->selection, &rank, shape, NULL),
                     ZLG_OK);
    for (size_t e = 0; e < c->n_result; e++) {
        const uint8_t *at = data;
        for (int i = 0; i < rank; i++)
            at += k[i] * strides[i];
        if (memcmp(at, c->expected + e * m->item, m->item) != 0)
            fail_msg("element %zu of a selection of kind %d differs: %s", e,
                     (int)c->selection.kind, m->what);
        for (int i = rank - 1; i >= 0 && ++k[i] == shape[i]; i--)
            k[i] = 0;
    }
}

static void check_one(model *m)
{
    choice c;
    choose(m, &c);
    ptrdiff_t strides[ZLG_MAX_RANK] = {0};
    size_t first, size = random_strides(m, &c, strides, &first);
    uint8_t *memory = malloc(size + 32); /* the edges must not be written */
    memset(memory, 0xA5, size + 32);
    zlg_target target = {.data = memory + 16 + first, .strides = strides};
    zlg_error err = {0};
    if (zlg_array_read(m->array, &c.selection, &target, NULL, &err) != ZLG_OK)
        fail_msg("read %s: %s", m->what, err.message);
    compare(m, &c, memory + 16 + first, strides);
    for (int i = 0; i < 16; i++) {
        assert_int_equal(memory[i], 0xA5);
        assert_int_equal(memory[16 + size + (size_t)i], 0xA5);
    }
    free(memory);
    free(c.mask);
    free(c.expected);
}

static void check_batch(model *m)
{
    enum { N = 9 };
    choice c[N];
    zlg_read reads[N];
    for (int i = 0; i < N; i++) {
        choose(m, &c[i]);
        reads[i] = (zlg_read){.array = m->array,
                              .selection = &c[i].selection,
                              .target = {.data = malloc(c[i].n_result * m->item + 1)}};
    }
    zlg_error err = {0};
    if (zlg_read_many(reads, N, NULL, &err) != ZLG_OK)
        fail_msg("batch %s: %s", m->what, err.message);
    for (int i = 0; i < N; i++) {
        if (memcmp(reads[i].target.data, c[i].expected, c[i].n_result * m->item) != 0)
            fail_msg("selection %d of a batch differs: %s", i, m->what);
        free(reads[i].target.data);
        free(c[i].mask);
        free(c[i].expected);
    }
}

static void write_all(model *m)
{
    zlg_error err = {0};
    if (zlg_array_write(m->array, NULL, &(zlg_source){.data = m->elements}, NULL, &err) !=
        ZLG_OK)
        fail_msg("write %s: %s", m->what, err.message);
}

/* In memory, or on files below a folder: there raw chunks are read by range. */
static void run_cases(int64_t chunk_cache, uint64_t seed, const test_folder *folder)
{
    zlg_ctx_options options = ZLG_CTX_OPTIONS_INIT;
    options.n_threads = 3;
    options.chunk_cache = chunk_cache;
    zlg_ctx *ctx;
    assert_int_equal(zlg_ctx_new(&options, &ctx, NULL), ZLG_OK);
    for (uint64_t k = 0; k < CASES; k++) {
        zlg_store *store;
        model m = {.random = (seed + k) * UINT64_C(0x9e3779b97f4a7c15) + 1};
        zlg_fs_options fs = ZLG_FS_OPTIONS_INIT;
        char name[32];
        fs.create = 1;
        snprintf(name, sizeof name, "%d", (int)k);
        zlg_status status = folder ? zlg_store_open_fs(ctx, test_folder_path(folder, name),
                                                       &fs, &store, NULL)
                                   : zlg_store_open_memory(ctx, &store, NULL);
        assert_int_equal(status, ZLG_OK);
        make_array(&m, store);
        write_all(&m);
        for (int i = 0; i < 6; i++)
            check_one(&m);
        check_batch(&m);
        zlg_array_close(m.array);
        zlg_store_close(store);
        free(m.elements);
    }
    zlg_ctx_close(ctx);
}

static void test_reads(void **state)
{
    (void)state;
    run_cases(0, 1, NULL);
}

static void test_reads_with_chunk_cache(void **state)
{
    (void)state;
    run_cases(1 << 20, 100000, NULL);
}

static void test_reads_of_files(void **state)
{
    (void)state;
    test_folder folder;
    test_folder_make(&folder);
    run_cases(0, 200000, &folder);
    test_folder_remove(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads),
        cmocka_unit_test(test_reads_with_chunk_cache),
        cmocka_unit_test(test_reads_of_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
