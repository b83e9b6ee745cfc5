/*
 * What the tests of writers that are resumed share: generations of processes that write two
 * arrays with one journal, each killed at a random moment or left to live, until nothing is
 * left to resume. A test says by a trial what its items are (shards, or steps), how they
 * are given and what must hold after each generation.
 */
#ifndef ZELLIGE_GENERATION_H
#define ZELLIGE_GENERATION_H

#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "../fault/fault.h"
#include "../store/folder.h"
#include "zellige_writer.h"

enum {
    N_ARRAYS = 2,
    MOST_ITEMS = 96,
    MOST_VALUES = 4096, /* of an item */
    MOST_PROCESSES = 4,
    MOST_MS = 60
};

typedef struct stage stage;
typedef struct process process;

typedef struct trial {
    const char *item; /* its name */
    int n_items;      /* of each array */
    int64_t shape[3], shard[3], chunk[3], item_shape[3];
    zlg_partial partial;
    bool may_only_close; /* the last processes may give nothing */
    void (*locate)(int item, int64_t start[3]);
    void (*give)(process *p, int i_process, int n_processes); /* and tells what is stored */
    void (*check)(const stage *s, bool is_closed);            /* after each generation */
} trial;

/* The second array is written as durable. */
static const char *const names[N_ARRAYS] = {"a", "b"};

/* What a process tells: the writer said that this item is stored. */
typedef struct note {
    int32_t array, item;
} note;

/* Processes of this generation that have opened a writer, and that go to close it. */
typedef struct progress {
    atomic_int n_open, n_done;
} progress;

struct stage {
    const trial *trial;
    test_folder folder;
    char root[80], journal[96];
    zlg_ctx *ctx;
    zlg_store *store;
    zlg_array *arrays[N_ARRAYS];
    uint32_t generation;                 /* of processes */
    bool gives;                          /* or it only closes */
    uint32_t told[N_ARRAYS][MOST_ITEMS]; /* by which generation; 0: none */
    int n_kills;
    progress *progress; /* shared with the processes */
};

static inline uint32_t value_of(uint32_t generation, int array, int item)
{
    return generation << 16 | (uint32_t)(array << 12) | (uint32_t)item;
}

static inline size_t count_values(const int64_t shape[3])
{
    return (size_t)(shape[0] * shape[1] * shape[2]);
}

/* ------------------------------------------------------------------ a process */

struct process {
    const stage *s;
    zlg_writer *writer;
    int numbers[N_ARRAYS];
    int pipe;
    uint64_t seed;
    zlg_error err;
};

static inline void must(process *p, zlg_status status)
{
    if (status == ZLG_OK)
        return;
    fprintf(stderr, "%s\n", p->err.message);
    _exit(3);
}

static inline void tell(process *p, int array, int item)
{
    note n = {array, item};
    if (write(p->pipe, &n, sizeof n) != sizeof n)
        _exit(4);
}

static inline bool is_stored(process *p, int array, int item)
{
    int stored = 0;
    int64_t start[3];
    p->s->trial->locate(item, start);
    must(p, zlg_writer_is_stored(p->writer, p->numbers[array], start,
                                 p->s->trial->item_shape, &stored, &p->err));
    return stored;
}

/* A part of an item. */
static inline zlg_ticket submit(process *p, int array, int item, const int64_t start[3],
                                const int64_t count[3])
{
    uint32_t data[MOST_VALUES];
    zlg_ticket ticket;
    for (size_t i = 0; i < count_values(count); i++)
        data[i] = value_of(p->s->generation, array, item);
    const zlg_submit part = {.array = p->numbers[array],
                             .start = start,
                             .count = count,
                             .source = {.data = data}};
    must(p, zlg_writer_submit(p->writer, &part, 1, NULL, &ticket, &p->err));
    return ticket;
}

static inline void open_process(process *p)
{
    zlg_ctx *ctx;
    zlg_store *store;
    zlg_ctx_options options = ZLG_CTX_OPTIONS_INIT;
    zlg_writer_options writing = ZLG_WRITER_OPTIONS_INIT;
    options.n_threads = 2;
    writing.journal = p->s->journal;
    writing.partial = p->s->trial->partial;
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

static inline void run_process(const stage *s, int i_process, int n_processes, int pipe,
                               uint64_t seed)
{
    process p = {.s = s, .pipe = pipe, .seed = seed};
    open_process(&p);
    atomic_fetch_add(&s->progress->n_open, 1);
    if (s->gives)
        s->trial->give(&p, i_process, n_processes);
    atomic_fetch_add(&s->progress->n_done, 1);
    while (atomic_load(&s->progress->n_open) <
           n_processes) /* who comes later finds no journal */
        usleep(100);
    must(&p, zlg_writer_close(p.writer, NULL, &p.err));
    _exit(0);
}

/* ------------------------------------------------------------------ what is there */

/* The generation that gave an item, which must be whole; 0: nobody. */
static inline uint32_t read_item(const stage *s, int array, int item)
{
    static uint32_t data[MOST_VALUES];
    const trial *t = s->trial;
    int64_t start[3];
    zlg_axis axes[3];
    t->locate(item, start);
    for (int i = 0; i < 3; i++)
        axes[i] = (zlg_axis){.start = start[i], .step = 1, .count = t->item_shape[i]};
    zlg_selection box = {.kind = ZLG_BOX, .rank = 3, .axes = axes};
    MUST(zlg_array_read(s->arrays[array], &box, &(zlg_target){.data = data}, NULL, err_));
    for (size_t i = 1; i < count_values(t->item_shape); i++)
        if (data[i] != data[0])
            fail_msg("%s %d of %s is torn", t->item, item, names[array]);
    uint32_t by = data[0] >> 16;
    if (by != 0 && data[0] != value_of(by, array, item))
        fail_msg("%s %d of %s holds %x", t->item, item, names[array], data[0]);
    return by;
}

static inline void hear(stage *s, int end)
{
    note n;
    while (read(end, &n, sizeof n) == sizeof n)
        if (s->told[n.array][n.item] == 0)
            s->told[n.array][n.item] = s->generation;
}

/* True: they all lived to the end. */
static inline bool run_generation(stage *s, uint64_t *seed, bool may_live)
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
    s->trial->check(s, codes == 0);
    s->n_kills += codes != 0;
    /* Killed while the journal went: all is stored, and who comes may begin anew. */
    if (codes != 0 && atomic_load(&s->progress->n_done) == n)
        memset(s->told, 0, sizeof s->told);
    return codes == 0;
}

/* ------------------------------------------------------------------ a run */

static inline void make_stage(stage *s, const trial *t)
{
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    spec.rank = 3;
    spec.shape = t->shape;
    spec.object_shape = t->shard;
    spec.chunk_shape = t->chunk;
    spec.data_type = "uint32";
    assert_in_range(t->n_items, 1, MOST_ITEMS);
    assert_in_range(count_values(t->item_shape), 1, MOST_VALUES);
    memset(s, 0, sizeof *s);
    s->trial = t;
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

static inline void remove_stage(stage *s)
{
    munmap(s->progress, sizeof *s->progress);
    for (int i = 0; i < N_ARRAYS; i++)
        zlg_array_close(s->arrays[i]);
    zlg_store_close(s->store);
    zlg_ctx_close(s->ctx);
    test_folder_remove(&s->folder);
}

/* 60 kills, or as many as ZELLIGE_ROUNDS says. */
static inline void run_trial(const trial *t)
{
    static stage s;
    const char *rounds = getenv("ZELLIGE_ROUNDS");
    int n_kills = rounds ? (int)strtol(rounds, NULL, 10) : 60;
    for (uint64_t seed = 1; n_kills > 0; seed += 2) {
        uint64_t random = seed * 104729;
        int n_here = ZLGI_MIN(n_kills, 1 + (int)(test_random(&random) % 6));
        make_stage(&s, t);
        while (s.n_kills < n_here)
            if (run_generation(&s, &random, false))
                break; /* it was done before the kill: a later one begins anew */
        s.gives = !t->may_only_close || test_random(&random) % 3 > 0;
        if (access(s.journal, F_OK) == 0)
            assert_true(run_generation(&s, &random, true));
        assert_int_not_equal(access(s.journal, F_OK), 0);
        for (int i = 0; s.gives && i < N_ARRAYS * t->n_items; i++)
            assert_int_not_equal(read_item(&s, i / t->n_items, i % t->n_items), 0);
        n_kills -= s.n_kills;
        remove_stage(&s);
    }
}

#endif
