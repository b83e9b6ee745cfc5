/* The asynchronous writer: how often it stores, what it holds, and what it says when an
 * object cannot be stored. Label: engine. */
#define _GNU_SOURCE
#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "writer_test.h"

/* ------------------------------------------------------------------ storing */

static void check_stores_each_object_once(void **unused)
{
    (void)unused;
    for (int i_store = 0; i_store < N_STORES; i_store++) {
        writing w;
        static const int order[STEPS] = {5, 0, 3, 7, 1, 6, 2, 4};
        open_writing(&w, i_store, NULL);
        for (int i = 0; i < STEPS; i++)
            MUST(give(&w, w.number, order[i], NULL, err_));
        MUST(zlg_writer_drain(w.writer, NULL, err_));
        zlg_writer_counts counts = counts_of(&w);
        assert_int_equal(counts.n_stored, STEPS / SHARD);
        assert_int_equal(counts.n_opened, 0);
        assert_int_equal(counts.n_partial, 0);
        assert_int_equal(counts.n_open, 0);
        assert_int_equal(counts.n_bytes_queued, 0);
        check_steps(w.f.stores[i_store], "a", STEPS, 0, STEPS);
        MUST(zlg_writer_close(w.writer, NULL, err_));
        assert_int_equal(counts_of(&w).n_stored, STEPS / SHARD);
        close_writing(&w);
    }
}

/* The same bytes, whatever the order in which steps came and what was done in between. */
static void check_bytes_do_not_depend_on_order(void **unused)
{
    (void)unused;
    zlg_text first = {.data = NULL}, second;
    for (int i_round = 0; i_round < 4; i_round++) {
        writing w;
        open_writing(&w, 1, NULL);
        for (int i = 0; i < SHARD; i++) {
            MUST(give(&w, w.number, i_round % 2 ? SHARD - 1 - i : i, NULL, err_));
            if (i_round / 2 == 1)
                MUST(zlg_writer_flush(w.writer, NULL, err_));
        }
        MUST(zlg_writer_close(w.writer, NULL, err_));
        MUST(zlg_store_get(w.f.stores[1], "a/c/0/0", &second, err_));
        if (i_round == 0) {
            first.n_bytes = second.n_bytes;
            first.data = malloc(second.n_bytes);
            memcpy(first.data, second.data, second.n_bytes);
        }
        assert_int_equal(first.n_bytes, second.n_bytes);
        assert_memory_equal(first.data, second.data, first.n_bytes);
        zlg_text_free(&second);
        close_writing(&w);
    }
    free(first.data);
}

static void check_flush_stores_what_is_incomplete(void **unused)
{
    (void)unused;
    writing w;
    open_writing(&w, 1, NULL);
    for (int step = 0; step < 6; step++)
        MUST(give(&w, w.number, step, NULL, err_));
    MUST(zlg_writer_flush(w.writer, NULL, err_));
    check_steps(w.f.stores[1], "a", STEPS, 0, 6);
    assert_int_equal(counts_of(&w).n_partial, 1);
    for (int step = 6; step < STEPS; step++)
        MUST(give(&w, w.number, step, NULL, err_));
    MUST(zlg_writer_drain(w.writer, NULL, err_)); /* it is full now */
    check_steps(w.f.stores[1], "a", STEPS, 0, STEPS);
    MUST(zlg_writer_close(w.writer, NULL, err_));
    MUST(zlg_writer_close(w.writer, NULL, err_));
    close_writing(&w);
}

/* Two writers, each with half of the steps of every shard. */
static void check_two_writers_lose_nothing(void **unused)
{
    (void)unused;
    writing w;
    zlg_writer *other, *own;
    int number;
    open_writing(&w, 1, NULL);
    own = w.writer;
    MUST(zlg_writer_open(w.f.ctx, NULL, &other, err_));
    MUST(zlg_writer_add(other, w.array, NULL, &number, err_));
    for (int step = 0; step < STEPS; step++) {
        w.writer = step % 2 ? other : own;
        MUST(give(&w, step % 2 ? number : w.number, step, NULL, err_));
    }
    w.writer = own;
    MUST(zlg_writer_close(own, NULL, err_));
    MUST(zlg_writer_close(other, NULL, err_));
    zlg_writer_free(other);
    check_steps(w.f.stores[1], "a", STEPS, 0, STEPS);
    close_writing(&w);
}

/* ------------------------------------------------------------------ what is there */

static void check_existing(void **unused)
{
    (void)unused;
    static const zlg_existing kinds[] = {ZLG_EXISTING_MERGE, ZLG_EXISTING_REPLACE,
                                         ZLG_EXISTING_REFUSE, ZLG_EXISTING_SKIP_EQUAL};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        writing w;
        zlg_writer_options options = ZLG_WRITER_OPTIONS_INIT;
        int32_t row[WIDTH];
        for (int k = 0; k < WIDTH; k++)
            row[k] = value_at(0, k);
        options.existing = kinds[i];
        open_writing(&w, 1, &options);
        zlg_axis axes[2] = {{.step = 1, .count = 1}, {.step = 1, .count = WIDTH}};
        zlg_selection box = {.kind = ZLG_BOX, .rank = 2, .axes = axes};
        MUST(zlg_array_write(w.array, &box, &(zlg_source){.data = row}, NULL, err_));
        MUST(give(&w, w.number, 1, NULL, err_));
        if (kinds[i] == ZLG_EXISTING_REFUSE) {
            REFUSED(ZLG_EXISTS, "c/0/0", zlg_writer_close(w.writer, NULL, err_));
            check_steps(w.f.stores[1], "a", STEPS, 0, 1);
            close_writing(&w);
            continue;
        }
        MUST(zlg_writer_flush(w.writer, NULL, err_));
        /* Its own is never lost. */
        MUST(give(&w, w.number, 2, NULL, err_));
        MUST(zlg_writer_close(w.writer, NULL, err_));
        if (kinds[i] == ZLG_EXISTING_REPLACE)
            check_steps(w.f.stores[1], "a", STEPS, 1, 2);
        else
            check_steps(w.f.stores[1], "a", STEPS, 0, 3);
        close_writing(&w);
    }
}

static void check_equal_objects_are_left_alone(void **unused)
{
    (void)unused;
    writing w;
    zlg_writer_options options = ZLG_WRITER_OPTIONS_INIT;
    options.existing = ZLG_EXISTING_SKIP_EQUAL;
    open_writing(&w, 1, &options);
    for (int i = 0; i < 2 * STEPS; i++) {
        MUST(give(&w, w.number, i % STEPS, NULL, err_));
        MUST(zlg_writer_drain(w.writer, NULL, err_));
    }
    MUST(zlg_writer_close(w.writer, NULL, err_));
    assert_int_equal(counts_of(&w).n_skipped, STEPS / SHARD);
    assert_int_equal(counts_of(&w).n_stored, STEPS / SHARD);
    close_writing(&w);
}

/* ------------------------------------------------------------------ memory */

/* Chunks of a row, in shards, that are stored as they are. */
static zlg_array *make_plain(zlg_store *store, const char *path, int64_t n, int64_t width)
{
    zlg_array *array;
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    spec.rank = 2;
    spec.shape = (int64_t[]){n, width};
    spec.object_shape = (int64_t[]){SHARD, width};
    spec.chunk_shape = (int64_t[]){1, width};
    spec.data_type = "int32";
    spec.codecs = "[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}]";
    MUST(zlg_array_create(store, path, &spec, &array, err_));
    return array;
}

/* Every shard is open until the last round: the least memory does, and no more is used. */
static void check_budget_holds_in_the_worst_order(void **unused)
{
    (void)unused;
    enum { N = 64, LONG = 4096 };
    writing w;
    uint64_t least, usual;
    zlg_writer_options options = ZLG_WRITER_OPTIONS_INIT;
    static int32_t row[LONG], read[N * LONG];
    open_fixture(&w.f);
    w.array = make_plain(w.f.stores[1], "a", N, LONG);
    for (int i_round = 0; i_round < 2; i_round++) {
        MUST(zlg_writer_open(w.f.ctx, &options, &w.writer, err_));
        MUST(zlg_writer_add(w.writer, w.array, NULL, &w.number, err_));
        if (i_round == 0) {
            MUST(zlg_writer_estimate(w.writer, &least, &usual, err_));
            zlg_writer_free(w.writer);
            options.memory_budget = (int64_t)least;
        }
    }
    for (int64_t k = 0; k < SHARD; k++)
        for (int64_t shard = 0; shard < N / SHARD; shard++) {
            int64_t step = shard * SHARD + k;
            for (int i = 0; i < LONG; i++)
                row[i] = value_at(step, i);
            const zlg_submit part = {.array = w.number,
                                     .start = (int64_t[]){step, 0},
                                     .count = (int64_t[]){1, LONG},
                                     .source = {.data = row}};
            MUST(zlg_writer_submit(w.writer, &part, 1, NULL, NULL, err_));
        }
    MUST(zlg_writer_close(w.writer, NULL, err_));
    zlg_writer_counts counts = counts_of(&w);
    assert_in_range(counts.n_bytes_peak, 1, least);
    assert_int_equal(counts.n_bytes_budget, least);
    assert_true(counts.n_spilled > 0);
    assert_true(counts.n_unspilled > 0);
    assert_int_equal(counts.n_stored, N / SHARD);
    assert_int_equal(counts.n_opened, 0);
    MUST(zlg_array_read(w.array, NULL, &(zlg_target){.data = read}, NULL, err_));
    for (int64_t k = 0; k < N * LONG; k++)
        assert_int_equal(read[k], value_at(k / LONG, k % LONG));
    close_writing(&w);
}

static void check_small_budgets(void **unused)
{
    (void)unused;
    writing w;
    zlg_writer_options options = ZLG_WRITER_OPTIONS_INIT;
    zlg_call call = ZLG_CALL_INIT;
    int32_t rows[STEPS * WIDTH] = {0};
    open_fixture(&w.f);
    w.array = make_array(w.f.stores[0], "a", STEPS);
    options.memory_budget = 16;
    MUST(zlg_writer_open(w.f.ctx, &options, &w.writer, err_));
    REFUSED(ZLG_LIMIT, "memory_budget",
            zlg_writer_add(w.writer, w.array, NULL, &w.number, err_));
    zlg_writer_free(w.writer);
    /* In memory there is nowhere to go: full is full. */
    options.n_threads = 1;
    options.memory_budget = (4 + 1 + SHARD) * WIDTH * 4;
    MUST(zlg_writer_open(w.f.ctx, &options, &w.writer, err_));
    MUST(zlg_writer_add(w.writer, w.array, NULL, &w.number, err_));
    const zlg_submit all = {.array = w.number,
                            .start = (int64_t[]){0, 0},
                            .count = (int64_t[]){STEPS, WIDTH},
                            .source = {.data = rows}};
    call.deadline_ms = -1;
    REFUSED(ZLG_LIMIT, "budget", zlg_writer_submit(w.writer, &all, 1, &call, NULL, err_));
    assert_int_equal(counts_of(&w).n_bytes_submitted, 0);
    /* Without an end it goes through piece by piece. */
    MUST(zlg_writer_submit(w.writer, &all, 1, NULL, NULL, err_));
    MUST(zlg_writer_close(w.writer, NULL, err_));
    close_writing(&w);
}

/* ------------------------------------------------------------------ failures */

static void path_of(const writing *w, const char *key, char out[512])
{
    snprintf(out, 512, "%s/%s", w->f.folder.path, key);
}

/* A folder with something in it where an object should be. */
static void block_object(const writing *w, const char *key)
{
    char path[512], inside[520];
    path_of(w, key, path);
    snprintf(inside, sizeof inside, "%s/x", path);
    assert_int_equal(mkdir(path, 0777), 0);
    assert_int_equal(mkdir(inside, 0777), 0);
}

static void unblock_object(const writing *w, const char *key)
{
    char path[512], inside[520];
    path_of(w, key, path);
    snprintf(inside, sizeof inside, "%s/x", path);
    assert_int_equal(rmdir(inside), 0);
    assert_int_equal(rmdir(path), 0);
}

enum { OBJECTS = 20, EDGE = 256 };

/* Gives the last element of each object. Refused for want of room: again after a flush. */
static void give_last_elements(const fixture *f, const char *path, const char *side,
                               const char *refusal)
{
    const zlg_writer_options options = {.n_bytes_struct = sizeof options,
                                        .n_threads = 1,
                                        .memory_budget = 8 * EDGE * 4,
                                        .side_directory = side};
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    zlg_writer_counts counts = ZLG_WRITER_COUNTS_INIT;
    zlg_array *array;
    zlg_writer *writer;
    int number, n_refused = 0;
    spec.rank = 1;
    spec.shape = (int64_t[]){OBJECTS * EDGE};
    spec.object_shape = (int64_t[]){EDGE};
    spec.data_type = "int32";
    MUST(zlg_array_create(f->stores[0], path, &spec, &array, err_));
    MUST(zlg_writer_open(f->ctx, &options, &writer, err_));
    MUST(zlg_writer_add(writer, array, NULL, &number, err_));
    for (int32_t i = 0; i < OBJECTS; i++) {
        zlg_error err;
        const zlg_submit part = {.array = number,
                                 .start = (int64_t[]){i * EDGE + EDGE - 1},
                                 .count = (int64_t[]){1},
                                 .source = {.data = &i}};
        if (zlg_writer_submit(writer, &part, 1, NULL, NULL, &err) == ZLG_OK)
            continue;
        assert_int_equal(err.status, ZLG_LIMIT);
        assert_non_null(strstr(err.message, refusal));
        n_refused++;
        MUST(zlg_writer_flush(writer, NULL, err_));
        MUST(zlg_writer_submit(writer, &part, 1, NULL, NULL, err_));
    }
    assert_in_range(n_refused, 1, OBJECTS - 1);
    MUST(zlg_writer_count(writer, &counts, err_));
    assert_in_range(counts.n_bytes_peak, 1, counts.n_bytes_budget);
    MUST(zlg_writer_close(writer, NULL, err_));
    zlg_writer_free(writer);
    int32_t read[OBJECTS * EDGE];
    MUST(zlg_array_read(array, NULL, &(zlg_target){.data = read}, NULL, err_));
    for (int32_t i = 0; i < OBJECTS; i++)
        assert_int_equal(read[i * EDGE + EDGE - 1], i);
    zlg_array_close(array);
}

/* What a flush has stored is let go when there is no room for more, also where there is no
 * side file, or none that takes anything. */
static void check_flush_makes_room(void **unused)
{
    (void)unused;
    fixture f;
    struct rlimit all, none;
    open_fixture(&f);
    give_last_elements(&f, "a", NULL, "there is no side_directory");
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &all), 0);
    none = all;
    none.rlim_cur = 0;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    give_last_elements(&f, "b", "/tmp", "too large");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &all), 0);
    close_fixture(&f);
}

/* What is noted of chunks that are given here and there is moved out with them. */
static void check_budget_holds_when_given_in_pieces(void **unused)
{
    (void)unused;
    enum { CHUNKS = 200, ROW = 64 };
    const zlg_writer_options options = {
        .n_bytes_struct = sizeof options, .n_threads = 1, .memory_budget = 8 * ROW * ROW};
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    zlg_writer_counts counts = ZLG_WRITER_COUNTS_INIT;
    zlg_array *array;
    zlg_writer *writer;
    int number;
    fixture f;
    uint8_t row[ROW], read[CHUNKS * ROW * ROW];
    open_fixture(&f);
    memset(row, 7, sizeof row);
    spec.rank = 2;
    spec.shape = (int64_t[]){CHUNKS * ROW, ROW};
    spec.object_shape = (int64_t[]){ROW, ROW};
    spec.data_type = "uint8";
    MUST(zlg_array_create(f.stores[1], "a", &spec, &array, err_));
    MUST(zlg_writer_open(f.ctx, &options, &writer, err_));
    MUST(zlg_writer_add(writer, array, NULL, &number, err_));
    for (int64_t at = 0; at < 4; at += 2) /* rows 1 and 3, and later 5 and 7 */
        for (int64_t i = 0; i < CHUNKS; i++)
            for (int64_t k = 1; k < 4; k += 2) {
                const zlg_submit part = {.array = number,
                                         .start = (int64_t[]){i * ROW + 2 * at + k, 0},
                                         .count = (int64_t[]){1, ROW},
                                         .source = {.data = row}};
                MUST(zlg_writer_submit(writer, &part, 1, NULL, NULL, err_));
            }
    MUST(zlg_writer_count(writer, &counts, err_));
    assert_in_range(counts.n_bytes_peak, 1, counts.n_bytes_budget);
    MUST(zlg_writer_close(writer, NULL, err_));
    zlg_writer_free(writer);
    MUST(zlg_array_read(array, NULL, &(zlg_target){.data = read}, NULL, err_));
    for (int64_t i = 0; i < CHUNKS * ROW; i++)
        assert_int_equal(read[i * ROW], i % ROW < 8 && i % 2 == 1 ? 7 : 0);
    zlg_array_close(array);
    close_fixture(&f);
}

static void check_failed_object_is_kept(void **unused)
{
    (void)unused;
    writing w;
    char path[512];
    int healthy;
    zlg_ticket failed = 0, fine = 0;
    zlg_ticket_state state;
    open_writing(&w, 1, NULL);
    zlg_array *other = make_array(w.f.stores[1], "b", STEPS);
    MUST(zlg_writer_add(w.writer, other, NULL, &healthy, err_));
    path_of(&w, "a/c", path);
    assert_int_equal(mkdir(path, 0777), 0);
    path_of(&w, "a/c/0", path);
    assert_int_equal(mkdir(path, 0777), 0);
    block_object(&w, "a/c/0/0");
    for (int step = 0; step < SHARD; step++)
        MUST(give(&w, w.number, step, &failed, err_));
    REFUSED(ZLG_CORRUPT, "array a: ", zlg_writer_drain(w.writer, NULL, err_));
    REFUSED(ZLG_CORRUPT, "chunk c/0/0", give(&w, w.number, 5, NULL, err_));
    for (int step = 0; step < STEPS; step++)
        MUST(give(&w, healthy, step, &fine, err_));
    REFUSED(ZLG_CORRUPT, "chunk c/0/0", zlg_writer_flush(w.writer, NULL, err_));
    REFUSED(ZLG_CORRUPT, "chunk c/0/0",
            zlg_writer_wait(w.writer, failed, ZLG_TICKET_STORED, NULL, err_));
    MUST(zlg_writer_wait(w.writer, fine, ZLG_TICKET_STORED, NULL, err_));
    MUST(zlg_writer_poll(w.writer, failed, &state, err_));
    assert_int_equal(state, ZLG_TICKET_FAILED);
    assert_int_equal(counts_of(&w).n_failed, 1);
    check_steps(w.f.stores[1], "b", STEPS, 0, STEPS);
    for (int i = 0; i < 2; i++)
        REFUSED(ZLG_CORRUPT, "chunk c/0/0", zlg_writer_close(w.writer, NULL, err_));
    unblock_object(&w, "a/c/0/0");
    MUST(zlg_writer_close(w.writer, NULL, err_));
    MUST(zlg_writer_poll(w.writer, failed, &state, err_));
    assert_int_equal(state, ZLG_TICKET_STORED);
    assert_int_equal(counts_of(&w).n_failed, 0);
    assert_true(counts_of(&w).n_retried > 0);
    check_steps(w.f.stores[1], "a", STEPS, 0, SHARD);
    zlg_array_close(other);
    close_writing(&w);
}

/* The first row completes an object, which fails while the others wait for room. */
static void check_a_failure_does_not_stop_a_submit(void **unused)
{
    (void)unused;
    enum { N = 2 * SHARD, LONG = 1024, FIRST = SHARD - 1 };
    writing w;
    zlg_writer_options options = ZLG_WRITER_OPTIONS_INIT;
    static int32_t rows[N * LONG], read[N * LONG];
    zlg_ticket ticket;
    zlg_ticket_state state;
    open_fixture(&w.f);
    w.array = make_plain(w.f.stores[1], "a", N, LONG);
    options.n_threads = 1;
    options.memory_budget = (4 + 1 + SHARD) * LONG * (int64_t)sizeof *rows;
    MUST(zlg_writer_open(w.f.ctx, &options, &w.writer, err_));
    MUST(zlg_writer_add(w.writer, w.array, NULL, &w.number, err_));
    for (int i = 0; i < N * LONG; i++)
        rows[i] = i + 1;
    MUST(zlg_store_put(w.f.stores[1], "a/c", "", 0, err_)); /* where a folder should be */
    const zlg_submit parts[] = {{.start = (int64_t[]){0, 0},
                                 .count = (int64_t[]){FIRST, LONG},
                                 .source = {.data = rows}},
                                {.start = (int64_t[]){FIRST, 0},
                                 .count = (int64_t[]){N - FIRST, LONG},
                                 .source = {.data = rows + FIRST * LONG}}};
    MUST(zlg_writer_submit(w.writer, &parts[0], 1, NULL, NULL, err_));
    MUST(zlg_writer_submit(w.writer, &parts[1], 1, NULL, &ticket, err_));
    MUST(zlg_writer_poll(w.writer, ticket, &state, err_));
    assert_int_equal(state, ZLG_TICKET_FAILED);
    assert_true(counts_of(&w).n_spilled > 0);
    assert_true(zlg_writer_submit(w.writer, parts, 1, NULL, NULL, NULL) != ZLG_OK);
    assert_int_equal(counts_of(&w).n_submitted, 2);
    assert_true(zlg_writer_flush(w.writer, NULL, NULL) != ZLG_OK);
    MUST(zlg_store_delete(w.f.stores[1], "a/c", err_));
    MUST(zlg_writer_close(w.writer, NULL, err_));
    MUST(zlg_writer_poll(w.writer, ticket, &state, err_));
    assert_int_equal(state, ZLG_TICKET_STORED);
    MUST(zlg_array_read(w.array, NULL, &(zlg_target){.data = read}, NULL, err_));
    assert_memory_equal(read, rows, sizeof rows);
    close_writing(&w);
}

static void check_refused_calls_change_nothing(void **unused)
{
    (void)unused;
    writing w;
    int number;
    int32_t row[WIDTH] = {0};
    const zlg_claim claim = {.start = (int64_t[]){2, 0}, .count = (int64_t[]){2, WIDTH}};
    open_writing(&w, 0, NULL);
    MUST(zlg_writer_add(w.writer, w.array, &claim, &number, err_));
    REFUSED(ZLG_RANGE, "axis 0", give(&w, w.number, STEPS, NULL, err_));
    REFUSED(ZLG_RANGE, "axis 0", give(&w, w.number, -1, NULL, err_));
    REFUSED(ZLG_RANGE, "axis 0", give(&w, number, 4, NULL, err_));
    REFUSED(ZLG_USAGE, "array 7", give(&w, 7, 0, NULL, err_));
    const int64_t count[2] = {1, WIDTH}, starts[2][2] = {{0, 0}, {0, 3}};
    zlg_submit parts[2];
    for (int i = 0; i < 2; i++)
        parts[i] = (zlg_submit){
            .array = w.number, .start = starts[i], .count = count, .source = {.data = row}};
    REFUSED(ZLG_RANGE, "axis 1", zlg_writer_submit(w.writer, parts, 2, NULL, NULL, err_));
    assert_int_equal(counts_of(&w).n_submitted, 0);
    assert_int_equal(counts_of(&w).n_bytes_queued, 0);
    MUST(zlg_writer_close(w.writer, NULL, err_));
    REFUSED(ZLG_USAGE, "closed", give(&w, w.number, 0, NULL, err_));
    assert_int_equal(n_keys(w.f.stores[0], "a/c"), 0);
    close_writing(&w);
}

/* An object is claimed by one writer at most. */
static void check_claims(void **unused)
{
    (void)unused;
    writing w;
    zlg_writer *other;
    int number;
    const int64_t count[2] = {SHARD / 2, WIDTH};
    const zlg_claim first = {.start = (int64_t[]){0, 0}, .count = count};
    const zlg_claim same_shard = {.start = (int64_t[]){SHARD / 2, 0}, .count = count};
    const zlg_claim next_shard = {.start = (int64_t[]){SHARD, 0}, .count = count};
    open_writing(&w, 1, NULL);
    MUST(zlg_writer_open(w.f.ctx, NULL, &other, err_));
    MUST(zlg_writer_add(w.writer, w.array, &first, &number, err_));
    REFUSED(ZLG_EXISTS, "array a: another writer",
            zlg_writer_add(other, w.array, &same_shard, &number, err_));
    MUST(zlg_writer_add(other, w.array, &next_shard, &number, err_));
    zlg_writer_free(w.writer);
    MUST(zlg_writer_add(other, w.array, &same_shard, &number, err_));
    w.writer = other;
    close_writing(&w);
}

/* Also of one that has reached the array from another root. */
static void check_claims_from_another_root(void **unused)
{
    (void)unused;
    writing w;
    zlg_store *store;
    zlg_array *array;
    zlg_writer *other;
    int number;
    char root[512];
    const int64_t start[2] = {SHARD, 0}, count[2] = {SHARD, WIDTH};
    const zlg_claim claim = {.count = count}, next = {.start = start, .count = count};
    open_writing(&w, 1, NULL);
    path_of(&w, "a", root);
    MUST(zlg_store_open_fs(w.f.ctx, root, NULL, &store, err_));
    MUST(zlg_array_open(store, "", NULL, &array, err_));
    MUST(zlg_writer_open(w.f.ctx, NULL, &other, err_));
    MUST(zlg_writer_add(w.writer, w.array, &claim, &number, err_));
    REFUSED(ZLG_EXISTS, "another writer",
            zlg_writer_add(other, array, &claim, &number, err_));
    MUST(zlg_writer_add(other, array, &next, &number, err_));
    zlg_writer_free(other);
    zlg_array_close(array);
    zlg_store_close(store);
    close_writing(&w);
}

static void check_abort(void **unused)
{
    (void)unused;
    writing w;
    zlg_ticket ticket;
    zlg_ticket_state state;
    open_writing(&w, 0, NULL);
    MUST(give(&w, w.number, 0, &ticket, err_));
    zlg_writer_abort(w.writer);
    REFUSED(ZLG_CANCELLED, "aborted", give(&w, w.number, 1, NULL, err_));
    REFUSED(ZLG_CANCELLED, "aborted", zlg_writer_flush(w.writer, NULL, err_));
    REFUSED(ZLG_CANCELLED, "aborted", zlg_writer_close(w.writer, NULL, err_));
    MUST(zlg_writer_poll(w.writer, ticket, &state, err_));
    assert_int_equal(state, ZLG_TICKET_FAILED);
    assert_int_equal(n_keys(w.f.stores[0], "a/c"), 0);
    close_writing(&w);
}

/* ------------------------------------------------------------------ loans */

typedef struct loan {
    int32_t row[WIDTH];
    int n_released; /* atomic */
} loan;

static void note_release(void *user)
{
    __atomic_add_fetch(&((loan *)user)->n_released, 1, __ATOMIC_RELEASE);
}

static zlg_status give_loan(writing *w, loan *l, int64_t step, zlg_ticket *out,
                            zlg_error *err)
{
    const zlg_submit part = {.array = w->number,
                             .start = (int64_t[]){step, 0},
                             .count = (int64_t[]){1, WIDTH},
                             .source = {.data = l->row},
                             .borrow = 1,
                             .release = note_release,
                             .user = l};
    for (int i = 0; i < WIDTH; i++)
        l->row[i] = value_at(step, i);
    return zlg_writer_submit(w->writer, &part, 1, NULL, out, err);
}

static void check_loans(void **unused)
{
    (void)unused;
    writing w;
    loan loans[STEPS] = {{.n_released = 0}}, refused = {.n_released = 0};
    open_writing(&w, 1, NULL);
    for (int step = 0; step < STEPS; step++) {
        zlg_ticket ticket;
        MUST(give_loan(&w, &loans[step], step, &ticket, err_));
        MUST(zlg_writer_wait(w.writer, ticket, ZLG_TICKET_TAKEN, NULL, err_));
        assert_int_equal(__atomic_load_n(&loans[step].n_released, __ATOMIC_ACQUIRE), 1);
        memset(loans[step].row, 0xff, sizeof loans[step].row);
    }
    REFUSED(ZLG_RANGE, "axis 0", give_loan(&w, &refused, STEPS, NULL, err_));
    assert_int_equal(refused.n_released, 1);
    MUST(zlg_writer_close(w.writer, NULL, err_));
    check_steps(w.f.stores[1], "a", STEPS, 0, STEPS);
    close_writing(&w);
}

/* ------------------------------------------------------------------ process */

static int n_threads(void)
{
    int n = 0;
    DIR *dir = opendir("/proc/self/task");
    assert_non_null(dir);
    for (const struct dirent *entry; (entry = readdir(dir));)
        n += entry->d_name[0] != '.';
    closedir(dir);
    return n;
}

static void check_no_thread_is_left(void **unused)
{
    (void)unused;
    writing w;
    int n = n_threads();
    open_writing(&w, 0, NULL);
    for (int step = 0; step < STEPS; step++)
        MUST(give(&w, w.number, step, NULL, err_));
    assert_true(n_threads() > n);
    MUST(zlg_writer_close(w.writer, NULL, err_));
    /* A thread that was joined may stand in the list a moment longer. */
    for (int i = 0; i < 1000 && n_threads() > n; i++)
        usleep(1000);
    assert_int_equal(n_threads(), n);
    close_writing(&w);
}

static void check_child_is_refused(void **unused)
{
    (void)unused;
    writing w;
    int status;
    open_writing(&w, 0, NULL);
    MUST(give(&w, w.number, 0, NULL, err_));
    pid_t child = fork();
    if (child == 0) {
        bool refused = give(&w, w.number, 1, NULL, NULL) == ZLG_USAGE &&
                       zlg_writer_close(w.writer, NULL, NULL) == ZLG_USAGE;
        zlg_writer_free(w.writer);
        _exit(refused ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    MUST(zlg_writer_close(w.writer, NULL, err_));
    close_writing(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_stores_each_object_once),
        cmocka_unit_test(check_bytes_do_not_depend_on_order),
        cmocka_unit_test(check_flush_stores_what_is_incomplete),
        cmocka_unit_test(check_two_writers_lose_nothing),
        cmocka_unit_test(check_existing),
        cmocka_unit_test(check_equal_objects_are_left_alone),
        cmocka_unit_test(check_budget_holds_in_the_worst_order),
        cmocka_unit_test(check_small_budgets),
        cmocka_unit_test(check_flush_makes_room),
        cmocka_unit_test(check_budget_holds_when_given_in_pieces),
        cmocka_unit_test(check_failed_object_is_kept),
        cmocka_unit_test(check_a_failure_does_not_stop_a_submit),
        cmocka_unit_test(check_refused_calls_change_nothing),
        cmocka_unit_test(check_claims),
        cmocka_unit_test(check_claims_from_another_root),
        cmocka_unit_test(check_abort),
        cmocka_unit_test(check_loans),
        cmocka_unit_test(check_no_thread_is_left),
        cmocka_unit_test(check_child_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
