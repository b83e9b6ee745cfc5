/* A reader that follows a run sees whole rows only, in every level of a pyramid, and sees
 * them while the run goes on. Label: engine. */
#define _GNU_SOURCE
#include "../unit/change_test.h"

#include <pthread.h>
#include <time.h>

#include "zellige_writer.h"

enum { LEVELS = 3, ROWS = 240, SHARD = 8, SIDE = 12 };

/* Rows of level 0 that make one of a level: the least of them stands for all. */
static const int64_t rows_to_one[LEVELS] = {1, 2, 2};
static const int64_t sides[LEVELS] = {SIDE, SIDE / 2, SIDE / 6};
static const char *const paths[LEVELS] = {"0", "1", "2"};

/* Through a context of its own, as another process would. */
typedef struct reader {
    zlg_ctx *ctx;
    zlg_store *store;
    int64_t seen[LEVELS]; /* rows; atomic */
    bool is_over;         /* atomic: the run is */
    int n_lengths;        /* that level 0 had */
    char complaint[200];
} reader;

static uint16_t value_of(int level, int64_t row)
{
    return (uint16_t)(1000 + row * rows_to_one[level]);
}

static bool look_at_rows(reader *r, int level, zlg_array *array, int64_t n)
{
    static uint16_t data[ROWS * SIDE * SIDE];
    int64_t side = sides[level], seen = r->seen[level];
    const zlg_axis axes[3] = {{.start = seen, .step = 1, .count = n - seen},
                              {.step = 1, .count = side},
                              {.step = 1, .count = side}};
    const zlg_selection box = {.kind = ZLG_BOX, .rank = 3, .axes = axes};
    zlg_error err;
    if (zlg_array_read(array, &box, &(zlg_target){.data = data}, NULL, &err) != ZLG_OK) {
        snprintf(r->complaint, sizeof r->complaint, "%.180s", err.message);
        return false;
    }
    for (int64_t i = 0; i < (n - seen) * side * side; i++)
        if (data[i] != value_of(level, seen + i / (side * side))) {
            snprintf(r->complaint, sizeof r->complaint,
                     "level %d of %lld rows: row %lld "
                     "has %u",
                     level, (long long)n, (long long)(seen + i / (side * side)), data[i]);
            return false;
        }
    return true;
}

static bool look(reader *r, int level)
{
    zlg_array *array;
    zlg_error err;
    if (zlg_array_open(r->store, paths[level], NULL, &array, &err) != ZLG_OK) {
        snprintf(r->complaint, sizeof r->complaint, "%.180s", err.message);
        return false;
    }
    int64_t n = zlg_array_shape(array)[0];
    bool good = n >= r->seen[level] && look_at_rows(r, level, array, n);
    r->n_lengths += level == 0 && n > r->seen[0];
    __atomic_store_n(&r->seen[level], n, __ATOMIC_RELEASE);
    zlg_array_close(array);
    return good;
}

static void *follow(void *user)
{
    reader *r = user;
    bool good = true, is_over = false;
    while (good && !is_over) {
        is_over = __atomic_load_n(&r->is_over, __ATOMIC_ACQUIRE);
        for (int level = 0; level < LEVELS && good; level++)
            good = look(r, level);
    }
    return NULL;
}

/* Rows that are published without a flush come into sight. */
static void wait_until_seen(reader *r, int level, int64_t n)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    for (int i = 0; i < 60000; i++) {
        if (__atomic_load_n(&r->seen[level], __ATOMIC_ACQUIRE) >= n)
            return;
        nanosleep(&pause, NULL);
    }
    fail_msg("%lld rows of level %d are not seen %s", (long long)n, level, r->complaint);
}

static void make_levels(fixture *f, zlg_writer *writer, int numbers[LEVELS])
{
    static const int64_t factors[LEVELS][3] = {{1, 1, 1}, {2, 2, 2}, {1, 3, 3}};
    for (int level = 0; level < LEVELS; level++) {
        zlg_array *array;
        zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
        spec.rank = 3;
        spec.shape = (int64_t[3]){0, sides[level], sides[level]};
        spec.object_shape = (int64_t[3]){SHARD, 6, 6};
        spec.chunk_shape = (int64_t[3]){level == 1 ? 4 : 1, 3, 6};
        spec.data_type = "uint16";
        spec.fill_value = "7";
        MUST(zlg_array_create(f->stores[1], paths[level], &spec, &array, err_));
        MUST(zlg_writer_add(writer, array, NULL, &numbers[level], err_));
        zlg_array_close(array);
        if (level > 0)
            MUST(zlg_writer_add_coarser(writer, numbers[level - 1], numbers[level],
                                        factors[level], ZLG_REDUCE_MIN, err_));
    }
}

/* Rows come by twos and fours; drained now and then, flushed once in the middle. */
static void run(zlg_writer *writer, int number, reader *r)
{
    static uint16_t data[4 * SIDE * SIDE];
    for (int64_t row = 0, n; row < ROWS; row += n) {
        n = row % 3 == 0 && row + 4 <= ROWS ? 4 : 2;
        for (int64_t i = 0; i < n * SIDE * SIDE; i++)
            data[i] = value_of(0, row + i / (SIDE * SIDE));
        const zlg_source source = {.data = data};
        MUST(zlg_writer_append(writer, number, 0, n, &source, NULL, NULL, NULL, err_));
        if (row % 40 >= 4)
            continue;
        if (row > ROWS / 2 && row <= ROWS / 2 + 4) {
            MUST(zlg_writer_flush(writer, NULL, err_));
            wait_until_seen(r, 0, row + n);
            wait_until_seen(r, 2, (row + n) / 2);
        } else {
            MUST(zlg_writer_drain(writer, NULL, err_));
            wait_until_seen(r, 0, (row + n) / SHARD * SHARD);
            wait_until_seen(r, 1, (row + n) / 2 / SHARD * SHARD);
        }
    }
}

static void check_rows_are_whole(void **unused)
{
    (void)unused;
    fixture f;
    zlg_writer *writer;
    pthread_t thread;
    int numbers[LEVELS];
    open_fixture(&f);
    reader r = {.complaint = ""};
    MUST(zlg_ctx_new(NULL, &r.ctx, err_));
    MUST(zlg_store_open_fs(r.ctx, f.folder.path, NULL, &r.store, err_));
    MUST(zlg_writer_open(f.ctx, NULL, &writer, err_));
    make_levels(&f, writer, numbers);
    assert_int_equal(pthread_create(&thread, NULL, follow, &r), 0);
    run(writer, numbers[0], &r);
    MUST(zlg_writer_close(writer, NULL, err_));
    __atomic_store_n(&r.is_over, true, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    zlg_writer_free(writer);
    zlg_store_close(r.store);
    zlg_ctx_close(r.ctx);
    assert_string_equal(r.complaint, "");
    for (int level = 0; level < LEVELS; level++)
        assert_int_equal(r.seen[level], ROWS / rows_to_one[level]);
    assert_true(r.n_lengths >= ROWS / 40);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(check_rows_are_whole)};
    return cmocka_run_group_tests_name("following", tests, NULL, NULL);
}
