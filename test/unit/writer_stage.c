/* Large chunks go to the file of their shard one by one. Label: engine. */
#define _GNU_SOURCE
#include "writer_test.h"

#include <signal.h>
#include <sys/resource.h>

/* Those that are stored as they are go there as they come: what is stored is what a write
 * of the whole array stores, and little of it was in memory. Others go there when the shard
 * is full. */
enum { WIDE = 65536, ROWS = 11, N_BYTES_ROW = WIDE * 4 };
#define RAW "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}"
#define CHECKED RAW ",{\"name\":\"crc32c\"}"

static zlg_array *make_wide(zlg_store *store, const char *path, const char *index_location,
                            const char *codecs)
{
    zlg_array *array;
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    spec.rank = 2;
    spec.shape = (int64_t[]){ROWS, WIDE};
    spec.object_shape = (int64_t[]){SHARD, WIDE};
    spec.chunk_shape = (int64_t[]){1, WIDE};
    spec.data_type = "int32";
    spec.index_location = index_location;
    spec.codecs = codecs;
    MUST(zlg_array_create(store, path, &spec, &array, err_));
    return array;
}

static void give_wide(writing *w, const int32_t *rows, int64_t row, int64_t n)
{
    const zlg_submit part = {.array = w->number,
                             .start = (int64_t[]){row, 0},
                             .count = (int64_t[]){n, WIDE},
                             .source = {.data = rows + row * WIDE}};
    MUST(zlg_writer_submit(w->writer, &part, 1, NULL, NULL, err_));
}

static void check_same_object(zlg_store *store, const char *a, const char *b)
{
    zlg_text x, y;
    MUST(zlg_store_get(store, a, &x, err_));
    MUST(zlg_store_get(store, b, &y, err_));
    assert_int_equal(x.n_bytes, y.n_bytes);
    assert_memory_equal(x.data, y.data, x.n_bytes);
    zlg_text_free(&x);
    zlg_text_free(&y);
}

static void check_same_objects(zlg_store *store)
{
    check_same_object(store, "a/c/0/0", "b/c/0/0");
    check_same_object(store, "a/c/1/0", "b/c/1/0");
    check_same_object(store, "a/c/2/0", "b/c/2/0");
    assert_int_equal(n_keys(store, "a"), 4);
}

static void check_staged(const char *codecs, const char *index_location, bool has_gap,
                         bool exists)
{
    writing w;
    int32_t *rows = calloc(ROWS * WIDE, sizeof *rows);
    static const int order[ROWS] = {3, 7, 0, 10, 1, 2, 4, 6, 5, 9, 8};
    open_fixture(&w.f);
    w.array = make_wide(w.f.stores[1], "a", index_location, codecs);
    zlg_array *whole = make_wide(w.f.stores[1], "b", index_location, codecs);
    if (exists) {
        memset(rows, 0x55, ROWS * WIDE * sizeof *rows);
        MUST(zlg_array_write(w.array, NULL, &(zlg_source){.data = rows}, NULL, err_));
    }
    for (int64_t i = 0; i < ROWS * WIDE; i++)
        rows[i] = has_gap && i / WIDE == 2 ? 0 : (int32_t)(i * 7 + 1);
    MUST(zlg_writer_open(w.f.ctx, NULL, &w.writer, err_));
    MUST(zlg_writer_add(w.writer, w.array, NULL, &w.number, err_));
    for (int i = 0; i < ROWS; i++) {
        give_wide(&w, rows, order[i], 1);
        if (order[i] == 0) /* the last one counts, also when it was in the file */
            give_wide(&w, rows, 3, 1);
        MUST(zlg_writer_drain(w.writer, NULL, err_));
    }
    MUST(zlg_writer_close(w.writer, NULL, err_));
    if (!has_gap && strcmp(codecs, "[" RAW "]") == 0)
        assert_in_range(counts_of(&w).n_bytes_peak, 1, 3 * N_BYTES_ROW);
    assert_int_equal(counts_of(&w).n_stored, 3);
    MUST(zlg_array_write(whole, NULL, &(zlg_source){.data = rows}, NULL, err_));
    check_same_objects(w.f.stores[1]);
    free(rows);
    zlg_array_close(whole);
    close_writing(&w);
}

static void check_large_chunks_go_to_their_place(void **unused)
{
    (void)unused;
    check_staged("[" RAW "]", "end", false, false);
    check_staged("[" RAW "]", "start", false, false);
    check_staged("[" RAW "]", "end", true, false);
    check_staged("[" RAW "]", "end", false, true);
}

static void check_large_chunks_go_in_their_order(void **unused)
{
    (void)unused;
    check_staged("[" CHECKED "]", "end", false, false);
    check_staged("[" CHECKED "]", "start", false, false);
    check_staged("[" CHECKED "]", "end", true, false);
    check_staged("[" CHECKED "]", "end", false, true);
}

/* The file takes two rows and not the third. */
static void check_failed_file(const char *codecs)
{
    writing w;
    struct rlimit before, small = {.rlim_cur = 5 * N_BYTES_ROW / 2};
    int32_t *rows = calloc(ROWS * WIDE, sizeof *rows);
    open_fixture(&w.f);
    w.array = make_wide(w.f.stores[1], "a", "end", codecs);
    zlg_array *whole = make_wide(w.f.stores[1], "b", "end", codecs);
    for (int64_t i = 0; i < ROWS * WIDE; i++)
        rows[i] = (int32_t)(i * 7 + 1);
    MUST(zlg_writer_open(w.f.ctx, NULL, &w.writer, err_));
    MUST(zlg_writer_add(w.writer, w.array, NULL, &w.number, err_));
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small.rlim_max = before.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    give_wide(&w, rows, 0, SHARD);
    zlg_error error;
    zlg_status status = zlg_writer_flush(w.writer, NULL, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(status, ZLG_IO);
    MUST(zlg_writer_flush(w.writer, NULL, err_));
    give_wide(&w, rows, SHARD, ROWS - SHARD);
    MUST(zlg_writer_close(w.writer, NULL, err_));
    MUST(zlg_array_write(whole, NULL, &(zlg_source){.data = rows}, NULL, err_));
    check_same_objects(w.f.stores[1]);
    free(rows);
    zlg_array_close(whole);
    close_writing(&w);
}

static void check_a_file_that_fails_loses_nothing(void **unused)
{
    (void)unused;
    check_failed_file("[" RAW "]");
    check_failed_file("[" CHECKED "]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_large_chunks_go_to_their_place),
        cmocka_unit_test(check_large_chunks_go_in_their_order),
        cmocka_unit_test(check_a_file_that_fails_loses_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
