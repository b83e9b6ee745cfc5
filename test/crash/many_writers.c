/*
 * Label: engine
 * Four processes of eight threads each write inner chunks and single elements of the same
 * shards, while a reader looks on: nothing may be lost, and no inner chunk may be a mix of
 * two states. Two seeds; as many as ZELLIGE_ROUNDS says in the long run.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/wait.h>

#include "../fault/fault.h"
#include "../store/folder.h"

enum {
    SIDE = 96,
    SHARD = 48,
    CHUNK = 8,
    PROCESSES = 4,
    THREADS = 8,
    WRITERS = PROCESSES * THREADS,
    VERSIONS = 3,
    MOST_POINTS = 12
};

typedef struct writer {
    zlg_array *array;
    int number;
    uint64_t seed;
    zlg_error err;
    bool failed;
} writer;

/* A third of the inner chunks belong to one writer each; of the others every element has a
 * writer of its own. */
static bool is_whole(int row, int column)
{
    return (row / CHUNK + 2 * (column / CHUNK)) % 3 == 0;
}

static int owner_of(uint64_t seed, int row, int column)
{
    uint64_t key = is_whole(row, column) ? (uint64_t)(row / CHUNK * SIDE + column / CHUNK)
                                         : (uint64_t)(row * SIDE + column) + 1000003;
    uint64_t hash = (key + seed) * UINT64_C(0x9e3779b97f4a7c15);
    return (int)((hash >> 40) % WRITERS);
}

static uint32_t value_of(int row, int column, int version)
{
    return (uint32_t)version << 24 | (uint32_t)(row * SIDE + column);
}

/* ------------------------------------------------------------------ writers */

static void write_chunk(writer *w, int row, int column, int version)
{
    uint32_t data[CHUNK][CHUNK];
    for (int i = 0; i < CHUNK; i++)
        for (int k = 0; k < CHUNK; k++)
            data[i][k] = value_of(row + i, column + k, version);
    zlg_axis axes[2] = {{.start = row, .step = 1, .count = CHUNK},
                        {.start = column, .step = 1, .count = CHUNK}};
    zlg_selection box = {.kind = ZLG_BOX, .rank = 2, .axes = axes};
    w->failed |= zlg_array_write(w->array, &box, &(zlg_source){.data = data}, NULL,
                                 &w->err) != ZLG_OK;
}

typedef struct points {
    int64_t n, rows[MOST_POINTS], columns[MOST_POINTS];
    uint32_t values[MOST_POINTS];
} points;

static void write_points(writer *w, points *p)
{
    const int64_t *coordinates[2] = {p->rows, p->columns};
    zlg_selection selection = {
        .kind = ZLG_POINTS, .rank = 2, .coordinates = coordinates, .n_points = p->n};
    if (p->n > 0)
        w->failed |= zlg_array_write(w->array, &selection, &(zlg_source){.data = p->values},
                                     NULL, &w->err) != ZLG_OK;
    p->n = 0;
}

/* Everything that is this writer's, once, in chunks and in groups of points. */
static void write_version(writer *w, int version, uint64_t *random)
{
    points p = {.n = 0};
    int64_t n_points = 1;
    for (int at = 0; at < SIDE * SIDE && !w->failed; at++) {
        int row = at / SIDE, column = at % SIDE;
        if (owner_of(w->seed, row, column) != w->number)
            continue;
        if (is_whole(row, column)) {
            if (row % CHUNK == 0 && column % CHUNK == 0)
                write_chunk(w, row, column, version);
            continue;
        }
        p.rows[p.n] = row;
        p.columns[p.n] = column;
        p.values[p.n++] = value_of(row, column, version);
        if (p.n < n_points)
            continue;
        write_points(w, &p);
        n_points = 1 + (int64_t)(test_random(random) % MOST_POINTS);
    }
    write_points(w, &p);
}

static void *run_writer(void *user)
{
    writer *w = user;
    uint64_t random = w->seed + (uint64_t)w->number * 7919 + 1;
    for (int version = 1; version <= VERSIONS && !w->failed; version++)
        write_version(w, version, &random);
    return NULL;
}

static int run_process(const char *path, int i_process, uint64_t seed)
{
    zlg_ctx *ctx;
    zlg_store *store;
    writer writers[THREADS];
    pthread_t threads[THREADS];
    zlg_error err = {0};
    zlg_ctx_options options = ZLG_CTX_OPTIONS_INIT;
    options.n_threads = 2;
    int code = 0;
    if (zlg_ctx_new(&options, &ctx, &err) ||
        zlg_store_open_fs(ctx, path, NULL, &store, &err))
        return 1;
    for (int i = 0; i < THREADS; i++) {
        writers[i] = (writer){.number = i_process * THREADS + i, .seed = seed};
        if (zlg_array_open(store, "", NULL, &writers[i].array, &err) ||
            pthread_create(&threads[i], NULL, run_writer, &writers[i]))
            return 1;
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        if (writers[i].failed)
            fprintf(stderr, "writer %d: %s\n", writers[i].number, writers[i].err.message);
        code |= writers[i].failed;
        zlg_array_close(writers[i].array);
    }
    zlg_store_close(store);
    zlg_ctx_close(ctx);
    return code;
}

/* ------------------------------------------------------------------ reader */

static void check_state(zlg_array *array, int least_version)
{
    static uint32_t out[SIDE][SIDE];
    MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, NULL, err_));
    for (int row = 0; row < SIDE; row++)
        for (int column = 0; column < SIDE; column++) {
            uint32_t seen = out[row][column], version = seen >> 24;
            if ((int)version < least_version || version > VERSIONS ||
                (version > 0 && seen != value_of(row, column, (int)version)))
                fail_msg("element %d, %d is %x", row, column, seen);
            int first_row = row / CHUNK * CHUNK, first_column = column / CHUNK * CHUNK;
            if (is_whole(row, column) && version != out[first_row][first_column] >> 24)
                fail_msg("the inner chunk of %d, %d is a mix", row, column);
        }
}

static void watch(zlg_array *array, const pid_t *children)
{
    int n_running = PROCESSES, codes = 0;
    bool running[PROCESSES] = {true, true, true, true};
    while (n_running > 0) {
        check_state(array, 0);
        for (int i = 0; i < PROCESSES; i++) {
            int code;
            if (!running[i] || waitpid(children[i], &code, WNOHANG) == 0)
                continue;
            codes |= code;
            running[i] = false;
            n_running--;
        }
    }
    assert_int_equal(codes, 0);
}

static int count_key(void *user, const char *name, int is_prefix, uint64_t n_bytes)
{
    (void)name, (void)is_prefix, (void)n_bytes;
    ++*(int *)user;
    return 0;
}

static void run_seed(uint64_t seed)
{
    static const int64_t shape[2] = {SIDE, SIDE}, shard[2] = {SHARD, SHARD},
                         chunk[2] = {CHUNK, CHUNK};
    test_folder folder;
    pid_t children[PROCESSES];
    zlg_ctx *ctx;
    zlg_store *store;
    zlg_array *array;
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    spec.rank = 2;
    spec.shape = shape;
    spec.object_shape = shard;
    spec.chunk_shape = chunk;
    spec.data_type = "uint32";
    test_folder_make(&folder);
    MUST(zlg_ctx_new(NULL, &ctx, err_));
    MUST(zlg_store_open_fs(ctx, folder.path, NULL, &store, err_));
    MUST(zlg_array_create(store, "", &spec, &array, err_));
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0)
            _exit(run_process(folder.path, i, seed));
    }
    watch(array, children);
    check_state(array, VERSIONS);
    int n_keys = 0;
    MUST(zlg_store_list(store, "", 0, count_key, &n_keys, err_));
    assert_int_equal(n_keys, 1 + (SIDE / SHARD) * (SIDE / SHARD)); /* nothing foreign */
    zlg_array_close(array);
    zlg_store_close(store);
    zlg_ctx_close(ctx);
    test_folder_remove(&folder);
}

static void test_nothing_is_lost(void **state)
{
    (void)state;
    const char *rounds = getenv("ZELLIGE_ROUNDS");
    int n = rounds ? (int)strtol(rounds, NULL, 10) : 2;
    for (int i = 0; i < n; i++)
        run_seed((uint64_t)i * 31 + 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nothing_is_lost)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
