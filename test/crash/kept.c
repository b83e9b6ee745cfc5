/*
 * Writers that keep what is partial, killed at a random moment and resumed in another
 * number of processes, again and again. A step for which a flush has returned is known
 * after each kill and never given again; no shard is in the store before it is full, none
 * is torn and none is stored in parts; at the end all is there, also where the last writers
 * give nothing and only close. 60 kills; as many as ZELLIGE_ROUNDS says in the long run.
 */
#define _GNU_SOURCE
#include "generation.h"

enum {
    SIDE = 48,
    SHARD_STEPS = 4,
    N_SHARDS = 24, /* of 4 steps, one after the other */
    STEPS = N_SHARDS * SHARD_STEPS
};

static void locate(int step, int64_t start[3])
{
    start[0] = step;
    start[1] = start[2] = 0;
}

/* ------------------------------------------------------------------ a process */

typedef struct giver {
    process *p;
    bool is_given[N_ARRAYS][STEPS], is_told[N_ARRAYS][STEPS];
} giver;

static void give_step(giver *g, int array, int step)
{
    int64_t start[3];
    bool stored = is_stored(g->p, array, step);
    if (!stored && g->p->s->told[array][step] != 0)
        _exit(6);
    if (stored)
        return;
    locate(step, start);
    submit(g->p, array, step, start, g->p->s->trial->item_shape);
    g->is_given[array][step] = true;
}

/* Tells the steps that were given before it. */
static void flush(giver *g)
{
    must(g->p, zlg_writer_flush(g->p->writer, NULL, &g->p->err));
    for (int array = 0; array < N_ARRAYS; array++)
        for (int step = 0; step < STEPS; step++) {
            if (!g->is_given[array][step] || g->is_told[array][step])
                continue;
            g->is_told[array][step] = true;
            tell(g->p, array, step);
        }
}

/* Every n-th shard of both arrays is this process's: a step of each in turn. */
static void give_steps(process *p, int i_process, int n_processes)
{
    giver g = {.p = p};
    for (int step = 0; step < SHARD_STEPS; step++)
        for (int k = i_process; k < N_ARRAYS * N_SHARDS; k += n_processes) {
            give_step(&g, k % N_ARRAYS, k / N_ARRAYS * SHARD_STEPS + step);
            if (test_random(&p->seed) % 12 == 0)
                flush(&g);
            usleep((useconds_t)(test_random(&p->seed) % 200));
        }
    flush(&g);
    zlg_writer_counts counts = ZLG_WRITER_COUNTS_INIT;
    must(p, zlg_writer_count(p->writer, &counts, &p->err));
    if (counts.n_partial > 0 || counts.n_open > 0)
        _exit(5);
}

/* ------------------------------------------------------------------ what is there */

/* Shards are whole, or not there at all, but for those that a close has stored; and what a
 * flush has returned for was not given again. */
static void check_state(const stage *s, bool is_closed)
{
    for (int array = 0; array < N_ARRAYS; array++)
        for (int step = 0; step < STEPS; step++) {
            uint32_t by = read_item(s, array, step), first = by;
            if (step % SHARD_STEPS > 0)
                first = read_item(s, array, step - 1);
            uint32_t flushed = s->told[array][step];
            if (s->gives && (by == 0) != (first == 0))
                fail_msg("step %d of %s is in the store, but not all of its shard", step,
                         names[array]);
            if (flushed != 0 && (by > flushed || (is_closed && by == 0)))
                fail_msg("step %d of %s, flushed by generation %u, is of %u", step,
                         names[array], flushed, by);
        }
}

static void test_resume(void **state)
{
    (void)state;
    const trial steps = {.item = "step",
                         .n_items = STEPS,
                         .shape = {STEPS, SIDE, SIDE},
                         .shard = {SHARD_STEPS, SIDE, SIDE},
                         .chunk = {1, SIDE, SIDE},
                         .item_shape = {1, SIDE, SIDE},
                         .partial = ZLG_PARTIAL_KEEP,
                         .may_only_close = true,
                         .locate = locate,
                         .give = give_steps,
                         .check = check_state};
    run_trial(&steps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_resume)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
