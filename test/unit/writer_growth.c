/* Arrays that get longer as they are written. Label: engine. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>

#include "change_test.h"
#include "writer_test.h"

static zlg_status append(writing *w, int64_t step, int64_t n, zlg_error *err)
{
    int32_t rows[STEPS * WIDTH];
    int64_t first = -1;
    for (int64_t k = 0; k < n; k++)
        for (int64_t i = 0; i < WIDTH; i++)
            rows[k * WIDTH + i] = value_at(step + k, i);
    zlg_status status = zlg_writer_append(
        w->writer, w->number, 0, n, &(zlg_source){.data = rows}, NULL, &first, NULL, err);
    if (status == ZLG_OK)
        assert_int_equal(first, step);
    return status;
}

static void open_growing(writing *w, int64_t n_steps)
{
    open_fixture(&w->f);
    w->array = make_array(w->f.stores[1], "a", n_steps);
    MUST(zlg_writer_open(w->f.ctx, NULL, &w->writer, err_));
    MUST(zlg_writer_add(w->writer, w->array, NULL, &w->number, err_));
}

/* The array ends within a shard, in which a row is stored. */
static void open_begun(writing *w)
{
    int32_t row[WIDTH];
    open_growing(w, 1);
    for (int i = 0; i < WIDTH; i++)
        row[i] = value_at(0, i);
    MUST(zlg_array_write(w->array, NULL, &(zlg_source){.data = row}, NULL, err_));
}

/* A reader sees rows when all below them are stored: not before. */
static void check_rows_are_known_when_stored(void **unused)
{
    (void)unused;
    writing w;
    open_growing(&w, 0);
    for (int step = 0; step < SHARD - 1; step++)
        MUST(append(&w, step, 1, err_));
    MUST(zlg_writer_drain(w.writer, NULL, err_));
    check_steps(w.f.stores[1], "a", 0, 0, 0);
    MUST(append(&w, SHARD - 1, 3, err_));
    MUST(zlg_writer_drain(w.writer, NULL, err_));
    check_steps(w.f.stores[1], "a", SHARD, 0, SHARD);
    MUST(zlg_writer_flush(w.writer, NULL, err_));
    check_steps(w.f.stores[1], "a", SHARD + 2, 0, SHARD + 2);
    MUST(append(&w, SHARD + 2, 1, err_));
    MUST(append(&w, SHARD + 3, 2, err_));
    MUST(zlg_writer_close(w.writer, NULL, err_));
    check_steps(w.f.stores[1], "a", SHARD + 5, 0, SHARD + 5);
    close_writing(&w);
}

/* The shard in which the array ended is filled up, and what was in it stays. */
static void check_rows_continue_a_shard(void **unused)
{
    (void)unused;
    writing w;
    open_begun(&w);
    MUST(append(&w, 1, 5, err_));
    MUST(zlg_writer_close(w.writer, NULL, err_));
    check_steps(w.f.stores[1], "a", 6, 0, 6);
    close_writing(&w);
}

/* Rows of such a shard are known without a flush, and those of the next ones too. */
static void check_rows_of_a_continued_shard_are_known(void **unused)
{
    (void)unused;
    writing w;
    open_begun(&w);
    MUST(append(&w, 1, 2, err_));
    MUST(zlg_writer_drain(w.writer, NULL, err_));
    check_steps(w.f.stores[1], "a", 1, 0, 1);
    MUST(append(&w, 3, 3, err_));
    MUST(zlg_writer_drain(w.writer, NULL, err_));
    check_steps(w.f.stores[1], "a", SHARD, 0, SHARD);
    MUST(append(&w, 6, 3, err_));
    MUST(zlg_writer_drain(w.writer, NULL, err_));
    check_steps(w.f.stores[1], "a", 2 * SHARD, 0, 2 * SHARD);
    assert_int_equal(counts_of(&w).n_partial, 0);
    MUST(zlg_writer_close(w.writer, NULL, err_));
    check_steps(w.f.stores[1], "a", 9, 0, 9);
    close_writing(&w);
}

enum { LONG_ROW = 8 * 16384, LONG_ROWS = 100 };

typedef struct flushing {
    zlg_writer *writer;
    zlg_store *store;
    atomic_bool is_over;
    int n_missing;
} flushing;

static void *run_flushes(void *user)
{
    flushing *s = user;
    int32_t *read = malloc(LONG_ROW * sizeof *read);
    while (!atomic_load(&s->is_over)) {
        zlg_array *array;
        MUST(zlg_writer_flush(s->writer, NULL, err_));
        MUST(zlg_array_open(s->store, "long", NULL, &array, err_));
        int64_t n = zlg_array_shape(array)[0];
        const zlg_axis axes[2] = {{.start = n - 1, .step = 1, .count = 1},
                                  {.start = 0, .step = 1, .count = LONG_ROW}};
        const zlg_selection last = {.kind = ZLG_BOX, .rank = 2, .axes = axes};
        if (n > 0)
            MUST(zlg_array_read(array, &last, &(zlg_target){.data = read}, NULL, err_));
        for (int i = 0; n > 0 && i < LONG_ROW; i++)
            s->n_missing += read[i] != n;
        zlg_array_close(array);
    }
    free(read);
    return NULL;
}

/* A flush in the middle of an append makes none of its rows known. */
static void check_rows_are_known_whole(void **unused)
{
    (void)unused;
    writing w;
    zlg_array *array;
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    int number;
    pthread_t thread;
    int32_t *row = malloc(LONG_ROW * sizeof *row);
    open_growing(&w, 0);
    spec.rank = 2;
    spec.shape = (int64_t[]){0, LONG_ROW};
    spec.object_shape = (int64_t[]){4, LONG_ROW / 8};
    spec.chunk_shape = (int64_t[]){2, LONG_ROW / 8}; /* pieces that are copied unlocked */
    spec.data_type = "int32";
    MUST(zlg_array_create(w.f.stores[1], "long", &spec, &array, err_));
    MUST(zlg_writer_add(w.writer, array, NULL, &number, err_));
    flushing s = {.writer = w.writer, .store = w.f.stores[1]};
    assert_int_equal(pthread_create(&thread, NULL, run_flushes, &s), 0);
    for (int k = 0; k < LONG_ROWS; k++) {
        for (int i = 0; i < LONG_ROW; i++)
            row[i] = k + 1;
        MUST(zlg_writer_append(w.writer, number, 0, 1, &(zlg_source){.data = row}, NULL,
                               NULL, NULL, err_));
    }
    atomic_store(&s.is_over, true);
    pthread_join(thread, NULL);
    MUST(zlg_writer_close(w.writer, NULL, err_));
    assert_int_equal(s.n_missing, 0);
    free(row);
    zlg_array_close(array);
    close_writing(&w);
}

/* Other programs do not know who appends. */
static void check_somebody_else_changes_the_shape(void **unused)
{
    (void)unused;
    static const char *const from[] = {"    0,", "    6\n"}, *const to[] = {"    9,",
                                                                            "    5\n"};
    for (size_t i = 0; i < ZLGI_COUNT(from); i++) {
        writing w;
        zlg_text text;
        open_growing(&w, 0);
        MUST(append(&w, 0, 2, err_));
        MUST(zlg_store_get(w.f.stores[1], "a/zarr.json", &text, err_));
        char *at = strstr(text.data, from[i]);
        assert_non_null(at);
        memcpy(at, to[i], strlen(to[i]));
        MUST(zlg_store_put(w.f.stores[1], "a/zarr.json", text.data, text.n_bytes, err_));
        zlg_text_free(&text);
        REFUSED(ZLG_EXISTS, "somebody else", zlg_writer_flush(w.writer, NULL, err_));
        REFUSED(ZLG_EXISTS, "somebody else", zlg_writer_close(w.writer, NULL, err_));
        close_writing(&w);
    }
}

/* Objects are stored of which the document knows nothing yet: nobody takes them for what
 * others left there, through whatever handle, along whatever axis. */
static void check_what_is_not_known_yet_stays(void **unused)
{
    (void)unused;
    static const int64_t shapes[][2] = {{0, WIDTH}, {9, WIDTH}, {0, 1}, {0, WIDTH + 3}};
    for (int s = 0; s < N_STORES; s++) {
        writing w;
        zlg_array *other, *made, *both[2];
        open_fixture(&w.f);
        zlg_store *store = w.f.stores[s];
        w.array = make_array(store, "g/a", 0);
        MUST(zlg_array_open(store, "g/a", NULL, &other, err_));
        both[0] = w.array, both[1] = other;
        MUST(zlg_array_resize(other, shapes[0], NULL, NULL, err_));
        MUST(zlg_writer_open(w.f.ctx, NULL, &w.writer, err_));
        MUST(zlg_writer_add(w.writer, w.array, NULL, &w.number, err_));
        MUST(append(&w, 0, SHARD + 1, err_));
        for (size_t i = 0; i < 2 * ZLGI_COUNT(shapes); i++)
            REFUSED(ZLG_EXISTS, "a writer appends to it",
                    zlg_array_resize(both[i % 2], shapes[i / 2], NULL, NULL, err_));
        REFUSED(ZLG_EXISTS, "a writer appends to it",
                zlg_array_append(other, 0, 0, &(zlg_source){.data = ""}, NULL, NULL, err_));
        REFUSED(ZLG_EXISTS, "array g/a: a writer appends to it",
                zlg_node_delete(store, "g", NULL, err_));
        zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
        spec.overwrite = 1;
        spec.like = w.array;
        REFUSED(ZLG_EXISTS, "a writer appends to it",
                zlg_array_create(store, "g/a", &spec, &made, err_));
        MUST(zlg_writer_close(w.writer, NULL, err_));
        check_steps(store, "g/a", SHARD + 1, 0, SHARD + 1);
        MUST(zlg_array_resize(other, (int64_t[]){2, WIDTH}, NULL, NULL, err_));
        check_steps(store, "g/a", 2, 0, 2);
        MUST(zlg_node_delete(store, "g", NULL, err_));
        zlg_array_close(other);
        close_writing(&w);
    }
}

static void check_axes_that_are_none(void **unused)
{
    (void)unused;
    writing w;
    open_growing(&w, 0);
    const zlg_source row = {.data = (int32_t[WIDTH]){0}};
    const int axes[] = {-1, 2, ZLG_MAX_RANK, 1 << 20};
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++)
        REFUSED(ZLG_USAGE, "of an array with 2",
                zlg_writer_append(w.writer, w.number, axes[i], 1, &row, NULL, NULL, NULL,
                                  err_));
    MUST(append(&w, 0, 1, err_));
    MUST(zlg_writer_close(w.writer, NULL, err_));
    check_steps(w.f.stores[1], "a", 1, 0, 1);
    close_writing(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_axes_that_are_none),
        cmocka_unit_test(check_rows_are_known_when_stored),
        cmocka_unit_test(check_rows_continue_a_shard),
        cmocka_unit_test(check_rows_of_a_continued_shard_are_known),
        cmocka_unit_test(check_rows_are_known_whole),
        cmocka_unit_test(check_somebody_else_changes_the_shape),
        cmocka_unit_test(check_what_is_not_known_yet_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
