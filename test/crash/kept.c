/*
 * Writers that keep what is partial, killed at a random moment and resumed in another
 * number of processes, again and again. A step for which a flush has returned is known
 * after each kill and never given again; no shard is in the store before it is full, none
 * is torn and none is stored in parts; at the end all is there, also where the last writers
 * give nothing and only close. 60 kills; as many as ZELLIGE_ROUNDS says in the long run.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "../fault/fault.h"
#include "../store/folder.h"
#include "zellige_writer.h"

enum {
    SIDE = 48,
    SHARD_STEPS = 4,
    N_SHARDS = 24, /* of 4 steps, one after the other */
    STEPS = N_SHARDS * SHARD_STEPS,
    MOST_PROCESSES = 4,
    MOST_MS = 60,
    N_ARRAYS = 2
};

/* The second array is written as durable. */
static const char *const names[N_ARRAYS] = {"a", "b"};

/* What a process tells: a flush has returned since this step was given. */
typedef struct note {
    int32_t array, step;
} note;

typedef struct progress {
    atomic_int n_open, n_done;
} progress;

typedef struct stage {
    test_folder folder;
    char root[80], journal[96];
    zlg_ctx *ctx;
    zlg_store *store;
    zlg_array *arrays[N_ARRAYS];
    uint32_t generation;               /* of processes */
    bool gives;                        /* or it only closes */
    uint32_t flushed[N_ARRAYS][STEPS]; /* by which generation; 0: none */
    int n_kills;
    progress *progress; /* shared with the processes */
} stage;

static uint32_t value_of(uint32_t generation, int array, int step)
{
    return generation << 16 | (uint32_t)(array << 12) | (uint32_t)step;
}

/* ------------------------------------------------------------------ a process */

typedef struct process {
    stage *s;
    zlg_writer *writer;
    int numbers[N_ARRAYS];
    int pipe;
    uint64_t seed;
    bool is_given[N_ARRAYS][STEPS], is_told[N_ARRAYS][STEPS];
    zlg_error err;
} process;

static void must(process *p, zlg_status status)
{
    if (status == ZLG_OK)
        return;
    fprintf(stderr, "%s\n", p->err.message);
    _exit(3);
}

static void open_process(process *p)
{
    zlg_ctx *ctx;
    zlg_store *store;
    zlg_ctx_options options = ZLG_CTX_OPTIONS_INIT;
    zlg_writer_options writing = ZLG_WRITER_OPTIONS_INIT;
    options.n_threads = 2;
    writing.journal = p->s->journal;
    writing.partial = ZLG_PARTIAL_KEEP;
    must(p, zlg_ctx_new(&options, &ctx, &p->err));
    must(p, zlg_store_open_fs(ctx, p->s->root, NULL, &store, &p->err));
    must(p, zlg_writer_open(ctx, &writing, &p->writer, &p->err));
    for (int i = 0; i < N_ARRAYS; i++) {
        zlg_array *array;
        zlg_open_options open = ZLG_OPEN_OPTIONS_INIT;
        open.promise = i == 1 ? ZLG_DURABLE : ZLG_VISIBLE;
        must(p, zlg_array_open(store, names[i], &open, &array, &p->err));
        must(p, zlg_writer_add(p->writer, array, NULL, &p->numbers[i], &p->err));
    }
}

static void give_step(process *p, int array, int step)
{
    static uint32_t data[SIDE * SIDE];
    int stored;
    const int64_t start[3] = {step, 0, 0}, count[3] = {1, SIDE, SIDE};
    must(p, zlg_writer_is_stored(p->writer, p->numbers[array], start, count, &stored,
                                 &p->err));
    if (!stored && p->s->flushed[array][step] != 0)
        _exit(6);
    if (stored)
        return;
    for (size_t i = 0; i < sizeof data / sizeof *data; i++)
        data[i] = value_of(p->s->generation, array, step);
    const zlg_submit part = {.array = p->numbers[array],
                             .start = start,
                             .count = count,
                             .source = {.data = data}};
    must(p, zlg_writer_submit(p->writer, &part, 1, NULL, NULL, &p->err));
    p->is_given[array][step] = true;
}

static void flush(process *p)
{
    must(p, zlg_writer_flush(p->writer, NULL, &p->err));
    for (int i = 0; i < N_ARRAYS * STEPS; i++) {
        note n = {i / STEPS, i % STEPS};
        if (!p->is_given[n.array][n.step] || p->is_told[n.array][n.step])
            continue;
        p->is_told[n.array][n.step] = true;
        if (write(p->pipe, &n, sizeof n) != sizeof n)
            _exit(4);
    }
}

/* Every n-th shard of both arrays is this process's: a step of each in turn. */
static void run_steps(process *p, int i_process, int n_processes)
{
    for (int step = 0; step < SHARD_STEPS; step++)
        for (int k = i_process; k < N_ARRAYS * N_SHARDS; k += n_processes) {
            give_step(p, k % N_ARRAYS, k / N_ARRAYS * SHARD_STEPS + step);
            if (test_random(&p->seed) % 12 == 0)
                flush(p);
            usleep((useconds_t)(test_random(&p->seed) % 200));
        }
    flush(p);
    zlg_writer_counts counts = ZLG_WRITER_COUNTS_INIT;
    must(p, zlg_writer_count(p->writer, &counts, &p->err));
    if (counts.n_partial > 0 || counts.n_open > 0)
        _exit(5);
}

static void run_process(stage *s, int i_process, int n_processes, int pipe, uint64_t seed)
{
    static process p;
    p = (process){.s = s, .pipe = pipe, .seed = seed};
    open_process(&p);
    atomic_fetch_add(&s->progress->n_open, 1);
    if (s->gives)
        run_steps(&p, i_process, n_processes);
    atomic_fetch_add(&s->progress->n_done, 1);
    while (atomic_load(&s->progress->n_open) <
           n_processes) /* who comes later finds no journal */
        usleep(100);
    must(&p, zlg_writer_close(p.writer, NULL, &p.err));
    _exit(0);
}

/* ------------------------------------------------------------------ what is there */

/* The generation that gave a step; 0: nobody. */
static uint32_t read_step(const stage *s, int array, int step)
{
    static uint32_t data[SIDE * SIDE];
    zlg_axis axes[3] = {{.start = step, .step = 1, .count = 1},
                        {.step = 1, .count = SIDE},
                        {.step = 1, .count = SIDE}};
    zlg_selection box = {.kind = ZLG_BOX, .rank = 3, .axes = axes};
    MUST(zlg_array_read(s->arrays[array], &box, &(zlg_target){.data = data}, NULL, err_));
    for (size_t i = 1; i < ZLGI_COUNT(data); i++)
        if (data[i] != data[0])
            fail_msg("step %d of %s is torn", step, names[array]);
    uint32_t by = data[0] >> 16;
    if (by != 0 && data[0] != value_of(by, array, step))
        fail_msg("step %d of %s holds %x", step, names[array], data[0]);
    return by;
}

/* Shards are whole, or not there at all, but for those that a close has stored; and what a
 * flush has returned for was not given again. */
static void check_state(const stage *s, bool is_closed)
{
    for (int array = 0; array < N_ARRAYS; array++)
        for (int step = 0; step < STEPS; step++) {
            uint32_t by = read_step(s, array, step), first = by;
            if (step % SHARD_STEPS > 0)
                first = read_step(s, array, step - 1);
            uint32_t flushed = s->flushed[array][step];
            if (s->gives && (by == 0) != (first == 0))
                fail_msg("step %d of %s is in the store, but not all of its shard", step,
                         names[array]);
            if (flushed != 0 && (by > flushed || (is_closed && by == 0)))
                fail_msg("step %d of %s, flushed by generation %u, is of %u", step,
                         names[array], flushed, by);
        }
}

static void hear(stage *s, int end)
{
    note n;
    while (read(end, &n, sizeof n) == sizeof n)
        if (s->flushed[n.array][n.step] == 0)
            s->flushed[n.array][n.step] = s->generation;
}

/* True: they all lived to the end. */
static bool run_generation(stage *s, uint64_t *seed, bool may_live)
{
    int n = 1 + (int)(test_random(seed) % MOST_PROCESSES), ends[MOST_PROCESSES][2];
    pid_t children[MOST_PROCESSES];
    int codes = 0;
    s->generation++;
    atomic_store(&s->progress->n_open, 0);
    atomic_store(&s->progress->n_done, 0);
    for (int i = 0; i < n; i++) {
        assert_int_equal(pipe(ends[i]), 0);
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0)
            run_process(s, i, n, ends[i][1], *seed + (uint64_t)i);
        close(ends[i][1]);
    }
    if (!may_live) {
        usleep((useconds_t)(test_random(seed) % (MOST_MS * 1000)));
        for (int i = 0; i < n; i++)
            kill(children[i], SIGKILL);
    }
    for (int i = 0; i < n; i++) {
        int code;
        hear(s, ends[i][0]);
        close(ends[i][0]);
        assert_int_equal(waitpid(children[i], &code, 0), children[i]);
        if (WIFEXITED(code))
            assert_int_equal(WEXITSTATUS(code), 0);
        codes |= code;
    }
    check_state(s, codes == 0);
    s->n_kills += codes != 0;
    /* Killed while the journal went: all is stored, and who comes may begin anew. */
    if (codes != 0 && atomic_load(&s->progress->n_done) == n)
        memset(s->flushed, 0, sizeof s->flushed);
    return codes == 0;
}

/* ------------------------------------------------------------------ a run */

static void make_stage(stage *s)
{
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    spec.rank = 3;
    spec.shape = (int64_t[3]){STEPS, SIDE, SIDE};
    spec.object_shape = (int64_t[3]){SHARD_STEPS, SIDE, SIDE};
    spec.chunk_shape = (int64_t[3]){1, SIDE, SIDE};
    spec.data_type = "uint32";
    memset(s, 0, sizeof *s);
    s->gives = true;
    s->progress = mmap(NULL, sizeof *s->progress, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(s->progress, MAP_FAILED);
    test_folder_make(&s->folder);
    snprintf(s->root, sizeof s->root, "%s/out.zarr", s->folder.path);
    snprintf(s->journal, sizeof s->journal, "%s/out.zarr.journal", s->folder.path);
    MUST(zlg_ctx_new(NULL, &s->ctx, err_));
    assert_int_equal(mkdir(s->root, 0777), 0);
    MUST(zlg_store_open_fs(s->ctx, s->root, NULL, &s->store, err_));
    for (int i = 0; i < N_ARRAYS; i++)
        MUST(zlg_array_create(s->store, names[i], &spec, &s->arrays[i], err_));
}

static void remove_stage(stage *s)
{
    munmap(s->progress, sizeof *s->progress);
    for (int i = 0; i < N_ARRAYS; i++)
        zlg_array_close(s->arrays[i]);
    zlg_store_close(s->store);
    zlg_ctx_close(s->ctx);
    test_folder_remove(&s->folder);
}

static void test_resume(void **state)
{
    (void)state;
    static stage s;
    const char *rounds = getenv("ZELLIGE_ROUNDS");
    int n_kills = rounds ? (int)strtol(rounds, NULL, 10) : 60;
    for (uint64_t seed = 1; n_kills > 0; seed += 2) {
        uint64_t random = seed * 104729;
        int n_here = ZLGI_MIN(n_kills, 1 + (int)(test_random(&random) % 6));
        make_stage(&s);
        while (s.n_kills < n_here)
            if (run_generation(&s, &random, false))
                break; /* it was done before the kill: a later one begins anew */
        s.gives = test_random(&random) % 3 > 0;
        if (access(s.journal, F_OK) == 0)
            assert_true(run_generation(&s, &random, true));
        assert_int_not_equal(access(s.journal, F_OK), 0);
        for (int i = 0; s.gives && i < N_ARRAYS * STEPS; i++)
            assert_int_not_equal(read_step(&s, i / STEPS, i % STEPS), 0);
        n_kills -= s.n_kills;
        remove_stage(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_resume)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
