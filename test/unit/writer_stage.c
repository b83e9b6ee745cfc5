/* Large chunks that are stored as they are. Label: engine. */
#define _GNU_SOURCE
#include "writer_test.h"

/* Large chunks that are stored as they are go to the file of their shard as they come: what
 * is stored is what a write of the whole array stores, and little of it was in memory. */
enum { WIDE = 65536, ROWS = 11 };

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

static void check_staged(const char *index_location, bool has_gap, bool exists)
{
    writing w;
    zlg_array *whole;
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    int32_t *rows = calloc(ROWS * WIDE, sizeof *rows);
    static const int order[ROWS] = {3, 7, 0, 10, 1, 2, 4, 6, 5, 9, 8};
    open_fixture(&w.f);
    spec.rank = 2;
    spec.shape = (int64_t[]){ROWS, WIDE};
    spec.object_shape = (int64_t[]){SHARD, WIDE};
    spec.chunk_shape = (int64_t[]){1, WIDE};
    spec.data_type = "int32";
    spec.index_location = index_location;
    spec.codecs = "[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}]";
    MUST(zlg_array_create(w.f.stores[1], "a", &spec, &w.array, err_));
    MUST(zlg_array_create(w.f.stores[1], "b", &spec, &whole, err_));
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
    if (!has_gap)
        assert_in_range(counts_of(&w).n_bytes_peak, 1, 3 * WIDE * sizeof *rows);
    assert_int_equal(counts_of(&w).n_stored, 3);
    MUST(zlg_array_write(whole, NULL, &(zlg_source){.data = rows}, NULL, err_));
    check_same_object(w.f.stores[1], "a/c/0/0", "b/c/0/0");
    check_same_object(w.f.stores[1], "a/c/1/0", "b/c/1/0");
    check_same_object(w.f.stores[1], "a/c/2/0", "b/c/2/0");
    assert_int_equal(n_keys(w.f.stores[1], "a"), 4);
    free(rows);
    zlg_array_close(whole);
    close_writing(&w);
}

static void check_large_chunks_go_to_their_place(void **unused)
{
    (void)unused;
    check_staged("end", false, false);
    check_staged("start", false, false);
    check_staged("end", true, false);
    check_staged("end", false, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_large_chunks_go_to_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
