/*
 * A writer with coarser arrays while memory is refused at each point in turn: whichever
 * call meets it says so, the same call succeeds after a flush, and then all data is there.
 */
#define _GNU_SOURCE
#include "fault.h"

#include "../store/folder.h"

#include "zellige_writer.h"

/* Chunks of wide arrays go into the files of their shards, each when it comes, or when all
 * have come. */
enum { NARROW = 12, WIDE = 128 * 1024, ROWS = 12, N_ARRAYS = 4, AT_ONCE = 4 };

typedef struct scene {
    fault_heap heap;
    test_folder folder;
    zlg_ctx *ctx;
    zlg_store *store;
    zlg_array *arrays[N_ARRAYS]; /* fixed, its coarser one; growing, its coarser one */
    zlg_writer *writer;
    int numbers[N_ARRAYS];
    int64_t side;
    int n_released;
} scene;

static const int64_t lengths[N_ARRAYS] = {ROWS, ROWS / 2, 0, 0};
static const char *const paths[N_ARRAYS] = {"fixed", "half", "rows", "fewer"};

#define RAW "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}"
static const char *const codecs[N_ARRAYS] = {"[" RAW ",{\"name\":\"crc32c\"}]", NULL,
                                             "[" RAW "]", NULL};

static uint16_t value_of(int64_t row)
{
    return (uint16_t)(100 + row);
}

static int64_t side_of(const scene *s, int i)
{
    return i % 2 ? s->side / 2 : s->side;
}

static void make_arrays(scene *s, bool files)
{
    zlg_ctx_options options = ZLG_CTX_OPTIONS_INIT;
    options.n_threads = 2;
    fault_heap_init(&s->heap, 0, true);
    options.allocator = s->heap.alloc;
    MUST(zlg_ctx_new(&options, &s->ctx, err_));
    test_folder_make(&s->folder);
    if (files)
        MUST(zlg_store_open_fs(s->ctx, s->folder.path, NULL, &s->store, err_));
    else
        MUST(zlg_store_open_memory(s->ctx, &s->store, err_));
    for (int i = 0; i < N_ARRAYS; i++) {
        zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
        spec.rank = 2;
        spec.shape = (int64_t[2]){lengths[i], side_of(s, i)};
        spec.object_shape = (int64_t[2]){4, side_of(s, i)};
        spec.chunk_shape = i % 2 ? NULL : (int64_t[2]){2, s->side / 2};
        spec.data_type = "uint16";
        spec.codecs = codecs[i];
        MUST(zlg_array_create(s->store, paths[i], &spec, &s->arrays[i], err_));
    }
}

static void close_arrays(scene *s)
{
    for (int i = 0; i < N_ARRAYS; i++)
        zlg_array_close(s->arrays[i]);
    zlg_store_close(s->store);
    zlg_ctx_close(s->ctx);
    fault_heap_check_empty(&s->heap);
    test_folder_remove(&s->folder);
}

/* ------------------------------------------------------------------ what is done */

static void count_release(void *user)
{
    scene *s = user;
    __atomic_add_fetch(&s->n_released, 1, __ATOMIC_RELAXED);
}

static zlg_status open_writer(scene *s, int i, zlg_error *err)
{
    (void)i;
    zlg_writer_options options = ZLG_WRITER_OPTIONS_INIT;
    options.n_threads = 2;
    return zlg_writer_open(s->ctx, &options, &s->writer, err);
}

static zlg_status add(scene *s, int i, zlg_error *err)
{
    return zlg_writer_add(s->writer, s->arrays[i], NULL, &s->numbers[i], err);
}

static zlg_status add_coarser(scene *s, int i, zlg_error *err)
{
    static const int64_t factors[2] = {2, 2};
    return zlg_writer_add_coarser(s->writer, s->numbers[2 * i], s->numbers[2 * i + 1],
                                  factors, ZLG_REDUCE_MAX, err);
}

static uint16_t data[ROWS * WIDE]; /* what is given */

static const uint16_t *rows(const scene *s, int i)
{
    return data + i * AT_ONCE * s->side;
}

static zlg_status submit(scene *s, int i, zlg_error *err)
{
    const int64_t start[2] = {i * AT_ONCE, 0}, count[2] = {AT_ONCE, s->side};
    const zlg_submit part = {.array = s->numbers[0],
                             .start = start,
                             .count = count,
                             .source = {.data = rows(s, i)},
                             .borrow = i == 1,
                             .release = count_release,
                             .user = s};
    zlg_ticket ticket;
    return zlg_writer_submit(s->writer, &part, 1, NULL, i == 2 ? &ticket : NULL, err);
}

static zlg_status append(scene *s, int i, zlg_error *err)
{
    int64_t first;
    const zlg_source source = {.data = rows(s, i)};
    ZLGI_TRY(zlg_writer_append(s->writer, s->numbers[2], 0, AT_ONCE, &source, NULL, &first,
                               NULL, err));
    assert_int_equal(first, i * AT_ONCE);
    return ZLG_OK;
}

static zlg_status flush(scene *s, int i, zlg_error *err)
{
    (void)i;
    return zlg_writer_flush(s->writer, NULL, err);
}

static zlg_status close_writer(scene *s, int i, zlg_error *err)
{
    (void)i;
    return zlg_writer_close(s->writer, NULL, err);
}

typedef struct act {
    zlg_status (*run)(scene *s, int i, zlg_error *err);
    int i;
} act;

static const act acts[] = {
    {open_writer, 0}, {add, 0},         {add, 1},    {add, 2},
    {add, 3},         {add_coarser, 0}, {submit, 1}, {submit, 0},
    {add_coarser, 1}, {append, 0},      {append, 1}, {flush, 0},
    {submit, 2},      {submit, 1},      {append, 2}, {close_writer, 0},
};

/* ------------------------------------------------------------------ */

/* From call n from now on there is none; 0: for all. */
static void give_memory(scene *s, size_t n)
{
    pthread_mutex_lock(&s->heap.lock);
    s->heap.fail_at = n > 0 ? s->heap.heap.n_calls + n : 0;
    pthread_mutex_unlock(&s->heap.lock);
}

/* Memory is there again. What failed in the background is tried again by a flush; what a
 * thread was just failing at may be seen by the next. */
static void act_again(scene *s, const act *a, zlg_status status, const zlg_error *err)
{
    zlg_error again = {0};
    if (status != ZLG_NO_MEMORY)
        fail_msg("%s: %s", zlg_status_name(status), err->message);
    give_memory(s, 0);
    status = ZLG_NO_MEMORY;
    for (int i = 0; s->writer && i < 3 && status != ZLG_OK; i++)
        status = zlg_writer_flush(s->writer, NULL, &again);
    if ((s->writer && status != ZLG_OK) || a->run(s, a->i, &again) != ZLG_OK)
        fail_msg("again: %s", again.message);
}

static void check_array(scene *s, int i)
{
    static uint16_t got[ROWS * WIDE];
    int64_t side = side_of(s, i);
    zlg_array *array;
    MUST(zlg_array_refresh(s->arrays[i], &array, err_));
    assert_int_equal(zlg_array_shape(array)[0], i % 2 ? ROWS / 2 : ROWS);
    MUST(zlg_array_read(array, NULL, &(zlg_target){.data = got}, NULL, err_));
    for (int64_t k = 0; k < (i % 2 ? ROWS / 2 : ROWS) * side; k++) {
        int64_t row = k / side;
        if (got[k] != value_of(i % 2 ? 2 * row + 1 : row))
            fail_msg("%s: row %lld has %u", paths[i], (long long)row, got[k]);
    }
    zlg_array_close(array);
}

/* False when there are less calls of the heap than n. */
static bool run(size_t n, bool once, bool files, int64_t side)
{
    scene s = {.side = side};
    make_arrays(&s, files);
    s.heap.once = once;
    give_memory(&s, n);
    for (size_t i = 0; i < ZLGI_COUNT(acts); i++) {
        zlg_error err = {0};
        zlg_status status = acts[i].run(&s, acts[i].i, &err);
        if (status != ZLG_OK)
            act_again(&s, &acts[i], status, &err);
    }
    give_memory(&s, 0);
    zlg_writer_free(s.writer);
    assert_true(s.n_released >= 2);
    for (int i = 0; i < N_ARRAYS; i++)
        check_array(&s, i);
    bool is_refused = s.heap.n_refused > 0;
    close_arrays(&s);
    return is_refused;
}

static void run_all(bool once, bool files, int64_t side)
{
    size_t n = 1;
    for (int64_t i = 0; i < ROWS * side; i++)
        data[i] = value_of(i / side);
    while (run(n, once, files, side))
        n++;
    assert_true(n > 50);
}

static void test_memory_is_refused_once(void **state)
{
    (void)state;
    run_all(true, false, NARROW);
}

static void test_memory_is_refused_from_then_on(void **state)
{
    (void)state;
    run_all(false, false, NARROW);
}

static void test_files(void **state)
{
    (void)state;
    run_all(true, true, NARROW);
    run_all(false, true, NARROW);
}

static void test_large_chunks_in_files(void **state)
{
    (void)state;
    run_all(true, true, WIDE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_is_refused_once),
        cmocka_unit_test(test_memory_is_refused_from_then_on),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_large_chunks_in_files),
    };
    return cmocka_run_group_tests_name("writer", tests, NULL, NULL);
}
