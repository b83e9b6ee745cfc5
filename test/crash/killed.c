/*
 * A writer that is killed at a random moment, again and again. What had returned is there,
 * what had not is there or not, inner chunk by inner chunk, nothing is torn, and what the
 * dead left behind is gone when the next one has written. 40 rounds; as many as
 * ZELLIGE_ROUNDS says in the long run.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>

#include "../fault/fault.h"
#include "../store/folder.h"

enum { SIDE = 240, SHARD = 64, CHUNK = 16, MOST_MS = 12 };

/* What the child tells before a write, and again when it has returned. */
typedef struct note {
    int32_t done;
    uint32_t value;
    int32_t start[2], count[2];
} note;

typedef struct stage {
    test_folder folder;
    zlg_ctx *ctx;
    zlg_store *store;
    zlg_array *array;
    uint32_t expected[SIDE][SIDE], seen[SIDE][SIDE];
} stage;

static zlg_status write_note(zlg_array *array, const note *n, zlg_error *err)
{
    static const ptrdiff_t still[2] = {0, 0};
    zlg_axis axes[2];
    for (int i = 0; i < 2; i++)
        axes[i] = (zlg_axis){.start = n->start[i], .step = 1, .count = n->count[i]};
    zlg_selection box = {.kind = ZLG_BOX, .rank = 2, .axes = axes};
    zlg_source source = {.data = &n->value, .strides = still};
    return zlg_array_write(array, &box, &source, NULL, err);
}

/* Writes until it is killed. */
static void run_child(const char *path, int pipe, uint64_t seed)
{
    zlg_ctx *ctx;
    zlg_store *store;
    zlg_array *array;
    zlg_error err = {0};
    zlg_ctx_options options = ZLG_CTX_OPTIONS_INIT;
    options.n_threads = 2;
    if (zlg_ctx_new(&options, &ctx, &err) ||
        zlg_store_open_fs(ctx, path, NULL, &store, &err) ||
        zlg_array_open(store, "", NULL, &array, &err))
        _exit(1);
    for (;;) {
        note n = {.value = (uint32_t)test_random(&seed)};
        for (int i = 0; i < 2; i++) {
            n.start[i] = (int32_t)(test_random(&seed) % SIDE);
            n.count[i] = 1 + (int32_t)(test_random(&seed) % (uint64_t)(SIDE - n.start[i]));
        }
        if (write(pipe, &n, sizeof n) != sizeof n || write_note(array, &n, &err))
            _exit(2);
        n.done = 1;
        if (write(pipe, &n, sizeof n) != sizeof n)
            _exit(3);
    }
}

static bool is_inside(const note *n, int row, int column)
{
    return row >= n->start[0] && row < n->start[0] + n->count[0] && column >= n->start[1] &&
           column < n->start[1] + n->count[1];
}

static void apply(stage *s, const note *n)
{
    for (int row = 0; row < SIDE; row++)
        for (int column = 0; column < SIDE; column++)
            if (is_inside(n, row, column))
                s->expected[row][column] = n->value;
}

/* An inner chunk holds all of the last write or nothing of it. */
static void check_chunk(const stage *s, const note *last, int row, int column)
{
    bool any_new = false, any_old = false;
    for (int i = row; i < ZLGI_MIN(row + CHUNK, SIDE); i++)
        for (int k = column; k < ZLGI_MIN(column + CHUNK, SIDE); k++) {
            bool written = !last->done && is_inside(last, i, k);
            bool is_old = s->seen[i][k] == s->expected[i][k];
            bool is_new = written && s->seen[i][k] == last->value;
            if (!is_old && !is_new)
                fail_msg("element %d, %d is %x, not %x", i, k, s->seen[i][k],
                         s->expected[i][k]);
            any_new = any_new || !is_old;
            any_old = any_old || (written && !is_new);
        }
    if (any_new && any_old)
        fail_msg("the inner chunk at %d, %d is torn", row, column);
}

static void check_state(stage *s, const note *last)
{
    MUST(zlg_array_read(s->array, NULL, &(zlg_target){.data = s->seen}, NULL, err_));
    for (int row = 0; row < SIDE; row += CHUNK)
        for (int column = 0; column < SIDE; column += CHUNK)
            check_chunk(s, last, row, column);
    memcpy(s->expected, s->seen, sizeof s->seen);
}

static void run_round(stage *s, uint64_t seed)
{
    int ends[2];
    note n, last = {.done = 1};
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(ends[0]);
        run_child(s->folder.path, ends[1], seed);
    }
    close(ends[1]);
    usleep((useconds_t)(test_random(&seed) % (MOST_MS * 1000)));
    kill(child, SIGKILL);
    while (read(ends[0], &n, sizeof n) == sizeof n) {
        if (n.done)
            apply(s, &n);
        last = n;
    }
    close(ends[0]);
    int code;
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_true(WIFSIGNALED(code));
    check_state(s, &last);
}

/* ------------------------------------------------------------------ leftovers */

static int n_hidden;

static int count_hidden(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    n_hidden += kind == FTW_F && path[at->base] == '.';
    return 0;
}

static void check_leftovers(stage *s)
{
    static uint32_t all[SIDE][SIDE];
    memset(all, 7, sizeof all);
    zlg_store *store; /* a new handle, as a new process has: it sweeps what it finds */
    zlg_array *array;
    MUST(zlg_store_open_fs(s->ctx, s->folder.path, NULL, &store, err_));
    MUST(zlg_array_open(store, "", NULL, &array, err_));
    MUST(zlg_array_write(array, NULL, &(zlg_source){.data = all}, NULL, err_));
    zlg_array_close(array);
    zlg_store_close(store);
    n_hidden = 0;
    assert_int_equal(nftw(s->folder.path, count_hidden, 16, FTW_PHYS), 0);
    assert_int_equal(n_hidden, 0);
}

static void test_kill(void **state)
{
    (void)state;
    static const int64_t shape[2] = {SIDE, SIDE}, shard[2] = {SHARD, SHARD},
                         chunk[2] = {CHUNK, CHUNK};
    static stage s;
    const char *rounds = getenv("ZELLIGE_ROUNDS");
    int n = rounds ? (int)strtol(rounds, NULL, 10) : 40;
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    spec.rank = 2;
    spec.shape = shape;
    spec.object_shape = shard;
    spec.chunk_shape = chunk;
    spec.data_type = "uint32";
    test_folder_make(&s.folder);
    MUST(zlg_ctx_new(NULL, &s.ctx, err_));
    MUST(zlg_store_open_fs(s.ctx, s.folder.path, NULL, &s.store, err_));
    MUST(zlg_array_create(s.store, "", &spec, &s.array, err_));
    for (int i = 0; i < n; i++)
        run_round(&s, (uint64_t)i * 104729 + 11);
    check_leftovers(&s);
    zlg_array_close(s.array);
    zlg_store_close(s.store);
    zlg_ctx_close(s.ctx);
    test_folder_remove(&s.folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kill)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
