/*
 * Writers with a journal that are killed at a random moment, again and again, and resumed
 * in another number of processes, until one generation of them lives. What a writer said
 * was stored is there after each kill, nothing is torn, no later process stores it again,
 * and at the end all is there and the journal is gone. 60 kills; as many as ZELLIGE_ROUNDS
 * says in the long run.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "../fault/fault.h"
#include "../store/folder.h"
#include "zellige_writer.h"

enum {
    STEPS = 48,
    SIDE = 64,
    SHARD_STEPS = 4, /* shards of 4 x 32 x 32, four to four steps */
    SHARD_SIDE = 32,
    N_SHARDS = STEPS / SHARD_STEPS * (SIDE / SHARD_SIDE) * (SIDE / SHARD_SIDE),
    MOST_PROCESSES = 4,
    MOST_MS = 60,
    N_ARRAYS = 2
};

/* The second array is written as durable. */
static const char *const names[N_ARRAYS] = {"a", "b"};

/* What a process tells: the writer said that this shard is stored. */
typedef struct note {
    int32_t array, shard;
} note;

/* Processes of this generation that have opened a writer, and that go to close it. */
typedef struct progress {
    atomic_int n_open, n_done;
} progress;

typedef struct stage {
    test_folder folder;
    char root[80], journal[96];
    zlg_ctx *ctx;
    zlg_store *store;
    zlg_array *arrays[N_ARRAYS];
    uint32_t generation; /* of processes */
    /* The generation that said that the shard was stored; 0: none. */
    uint32_t stored[N_ARRAYS][N_SHARDS];
    int n_kills;
    progress *progress; /* shared with the processes */
} stage;

static void shard_box(int shard, int64_t start[3])
{
    enum { ACROSS = SIDE / SHARD_SIDE };
    start[0] = shard / (ACROSS * ACROSS) * SHARD_STEPS;
    start[1] = shard / ACROSS % ACROSS * SHARD_SIDE;
    start[2] = shard % ACROSS * SHARD_SIDE;
}

static uint32_t value_of(uint32_t generation, int array, int shard)
{
    return generation << 16 | (uint32_t)(array << 12) | (uint32_t)shard;
}

/* ------------------------------------------------------------------ a process */

typedef struct process {
    stage *s;
    zlg_writer *writer;
    zlg_array *arrays[N_ARRAYS];
    int numbers[N_ARRAYS];
    int pipe;
    uint64_t seed;
    zlg_error err;
} process;

static void must(process *p, zlg_status status)
{
    if (status == ZLG_OK)
        return;
    fprintf(stderr, "%s\n", p->err.message);
    _exit(3);
}

static void tell(process *p, int array, int shard)
{
    note n = {array, shard};
    if (write(p->pipe, &n, sizeof n) != sizeof n)
        _exit(4);
}

/* In slabs of one step, as a model gives them. */
static void give_shard(process *p, int array, int shard, zlg_ticket tickets[SHARD_STEPS])
{
    uint32_t data[SHARD_SIDE * SHARD_SIDE];
    int64_t start[3], count[3] = {1, SHARD_SIDE, SHARD_SIDE};
    for (size_t i = 0; i < sizeof data / sizeof *data; i++)
        data[i] = value_of(p->s->generation, array, shard);
    shard_box(shard, start);
    for (int i = 0; i < SHARD_STEPS; i++, start[0]++) {
        const zlg_submit part = {.array = p->numbers[array],
                                 .start = start,
                                 .count = count,
                                 .source = {.data = data}};
        must(p, zlg_writer_submit(p->writer, &part, 1, NULL, &tickets[i], &p->err));
    }
}

static bool all_stored(process *p, const zlg_ticket *tickets)
{
    for (int i = 0; i < SHARD_STEPS; i++) {
        zlg_ticket_state state;
        must(p, zlg_writer_poll(p->writer, tickets[i], &state, &p->err));
        if (state != ZLG_TICKET_STORED)
            return false;
    }
    return true;
}

static void open_process(process *p)
{
    zlg_ctx *ctx;
    zlg_store *store;
    zlg_ctx_options options = ZLG_CTX_OPTIONS_INIT;
    zlg_writer_options writing = ZLG_WRITER_OPTIONS_INIT;
    options.n_threads = 2;
    writing.journal = p->s->journal;
    must(p, zlg_ctx_new(&options, &ctx, &p->err));
    must(p, zlg_store_open_fs(ctx, p->s->root, NULL, &store, &p->err));
    must(p, zlg_writer_open(ctx, &writing, &p->writer, &p->err));
    for (int i = 0; i < N_ARRAYS; i++) {
        zlg_open_options open = ZLG_OPEN_OPTIONS_INIT;
        open.promise = i == 1 ? ZLG_DURABLE : ZLG_VISIBLE;
        must(p, zlg_array_open(store, names[i], &open, &p->arrays[i], &p->err));
        must(p, zlg_writer_add(p->writer, p->arrays[i], NULL, &p->numbers[i], &p->err));
    }
}

/* Every n-th shard of both arrays is this process's; some ask for what is stored, as a
 * model would, others give it all. */
static void run_shards(process *p, int i_process, int n_processes)
{
    uint64_t n_given = 0;
    zlg_ticket tickets[N_ARRAYS * N_SHARDS][SHARD_STEPS] = {{0}};
    bool is_told[N_ARRAYS * N_SHARDS] = {false};
    bool asks = test_random(&p->seed) % 2 == 0;
    for (int k = i_process; k < N_ARRAYS * N_SHARDS; k += n_processes) {
        int array = k % N_ARRAYS, shard = k / N_ARRAYS, stored = 0;
        int64_t start[3], count[3] = {SHARD_STEPS, SHARD_SIDE, SHARD_SIDE};
        shard_box(shard, start);
        if (asks)
            must(p, zlg_writer_is_stored(p->writer, p->numbers[array], start, count,
                                         &stored, &p->err));
        if (!stored)
            give_shard(p, array, shard, tickets[k]);
        n_given += !stored;
        for (int j = i_process; j <= k; j += n_processes)
            if (tickets[j][0] && !is_told[j] && all_stored(p, tickets[j])) {
                tell(p, j % N_ARRAYS, j / N_ARRAYS);
                is_told[j] = true;
            }
        usleep((useconds_t)(test_random(&p->seed) % 800));
    }
    must(p, zlg_writer_flush(p->writer, NULL, &p->err));
    for (int k = i_process; k < N_ARRAYS * N_SHARDS; k += n_processes)
        tell(p, k % N_ARRAYS, k / N_ARRAYS);
    zlg_writer_counts counts = ZLG_WRITER_COUNTS_INIT;
    must(p, zlg_writer_count(p->writer, &counts, &p->err));
    bool is_right = counts.n_stored + counts.n_resumed == n_given &&
                    counts.n_partial == 0 && (!asks || counts.n_resumed == 0);
    if (!is_right)
        _exit(5);
}

static void run_process(stage *s, int i_process, int n_processes, int pipe, uint64_t seed)
{
    process p = {.s = s, .pipe = pipe, .seed = seed};
    open_process(&p);
    atomic_fetch_add(&s->progress->n_open, 1);
    run_shards(&p, i_process, n_processes);
    atomic_fetch_add(&s->progress->n_done, 1);
    while (atomic_load(&s->progress->n_open) <
           n_processes) /* who comes later finds no journal */
        usleep(100);
    must(&p, zlg_writer_close(p.writer, NULL, &p.err));
    _exit(0);
}

/* ------------------------------------------------------------------ what is there */

/* Whole shards, of a generation that gave them; what was stored once stays as it is. */
static void check_state(stage *s)
{
    static uint32_t data[SHARD_STEPS * SHARD_SIDE * SHARD_SIDE];
    for (int array = 0; array < N_ARRAYS; array++)
        for (int shard = 0; shard < N_SHARDS; shard++) {
            int64_t start[3];
            zlg_axis axes[3];
            shard_box(shard, start);
            for (int i = 0; i < 3; i++)
                axes[i] = (zlg_axis){.start = start[i],
                                     .step = 1,
                                     .count = i == 0 ? SHARD_STEPS : SHARD_SIDE};
            zlg_selection box = {.kind = ZLG_BOX, .rank = 3, .axes = axes};
            MUST(zlg_array_read(s->arrays[array], &box, &(zlg_target){.data = data}, NULL,
                                err_));
            for (size_t i = 1; i < ZLGI_COUNT(data); i++)
                if (data[i] != data[0])
                    fail_msg("shard %d of %s is torn", shard, names[array]);
            uint32_t by = data[0] >> 16, stored = s->stored[array][shard];
            if (by != 0 && data[0] != value_of(by, array, shard))
                fail_msg("shard %d of %s holds %x", shard, names[array], data[0]);
            if (stored != 0 && (by == 0 || by > stored))
                fail_msg("shard %d of %s, stored by generation %u, is of %u now", shard,
                         names[array], stored, by);
        }
}

static void hear(stage *s, int end)
{
    note n;
    while (read(end, &n, sizeof n) == sizeof n)
        if (s->stored[n.array][n.shard] == 0)
            s->stored[n.array][n.shard] = s->generation;
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
    check_state(s);
    s->n_kills += codes != 0;
    /* Killed while the journal went: all is stored, and who comes may begin anew. */
    if (codes != 0 && atomic_load(&s->progress->n_done) == n)
        memset(s->stored, 0, sizeof s->stored);
    return codes == 0;
}

/* ------------------------------------------------------------------ a run */

static void make_stage(stage *s)
{
    static const int64_t shape[3] = {STEPS, SIDE, SIDE},
                         shard[3] = {SHARD_STEPS, SHARD_SIDE, SHARD_SIDE},
                         chunk[3] = {1, SHARD_SIDE, SHARD_SIDE};
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    spec.rank = 3;
    spec.shape = shape;
    spec.object_shape = shard;
    spec.chunk_shape = chunk;
    spec.data_type = "uint32";
    memset(s, 0, sizeof *s);
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
        if (access(s.journal, F_OK) == 0) {
            assert_true(run_generation(&s, &random, true));
            for (int i = 0; i < N_ARRAYS * N_SHARDS; i++)
                assert_int_not_equal(s.stored[i / N_SHARDS][i % N_SHARDS], 0);
        }
        assert_int_not_equal(access(s.journal, F_OK), 0);
        n_kills -= s.n_kills;
        remove_stage(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_resume)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
