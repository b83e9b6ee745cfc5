/*
 * Writers with a journal that are killed at a random moment, again and again, and resumed
 * in another number of processes, until one generation of them lives. What a writer said
 * was stored is there after each kill, nothing is torn, no later process stores it again,
 * and at the end all is there and the journal is gone. 60 kills; as many as ZELLIGE_ROUNDS
 * says in the long run.
 */
#define _GNU_SOURCE
#include "generation.h"

enum {
    STEPS = 48,
    SIDE = 64,
    SHARD_STEPS = 4, /* shards of 4 x 32 x 32, four to four steps */
    SHARD_SIDE = 32,
    ACROSS = SIDE / SHARD_SIDE,
    N_SHARDS = STEPS / SHARD_STEPS * ACROSS * ACROSS
};

static void locate(int shard, int64_t start[3])
{
    start[0] = shard / (ACROSS * ACROSS) * SHARD_STEPS;
    start[1] = shard / ACROSS % ACROSS * SHARD_SIDE;
    start[2] = shard % ACROSS * SHARD_SIDE;
}

/* ------------------------------------------------------------------ a process */

/* In slabs of one step, as a model gives them. */
static void give_shard(process *p, int array, int shard, zlg_ticket tickets[SHARD_STEPS])
{
    int64_t start[3], count[3] = {1, SHARD_SIDE, SHARD_SIDE};
    locate(shard, start);
    for (int i = 0; i < SHARD_STEPS; i++, start[0]++)
        tickets[i] = submit(p, array, shard, start, count);
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

/* Every n-th shard of both arrays is this process's; some ask for what is stored, as a
 * model would, others give it all. */
static void give_shards(process *p, int i_process, int n_processes)
{
    uint64_t n_given = 0;
    zlg_ticket tickets[N_ARRAYS * N_SHARDS][SHARD_STEPS] = {{0}};
    bool is_told[N_ARRAYS * N_SHARDS] = {false};
    bool asks = test_random(&p->seed) % 2 == 0;
    for (int k = i_process; k < N_ARRAYS * N_SHARDS; k += n_processes) {
        int array = k % N_ARRAYS, shard = k / N_ARRAYS;
        if (!asks || !is_stored(p, array, shard)) {
            give_shard(p, array, shard, tickets[k]);
            n_given++;
        }
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

/* ------------------------------------------------------------------ what is there */

/* What was stored once stays as it is; who lives tells all. */
static void check_state(const stage *s, bool is_closed)
{
    for (int array = 0; array < N_ARRAYS; array++)
        for (int shard = 0; shard < N_SHARDS; shard++) {
            uint32_t by = read_item(s, array, shard), stored = s->told[array][shard];
            if (stored != 0 && (by == 0 || by > stored))
                fail_msg("shard %d of %s, stored by generation %u, is of %u now", shard,
                         names[array], stored, by);
            if (is_closed)
                assert_int_not_equal(stored, 0);
        }
}

static void test_resume(void **state)
{
    (void)state;
    const trial shards = {.item = "shard",
                          .n_items = N_SHARDS,
                          .shape = {STEPS, SIDE, SIDE},
                          .shard = {SHARD_STEPS, SHARD_SIDE, SHARD_SIDE},
                          .chunk = {1, SHARD_SIDE, SHARD_SIDE},
                          .item_shape = {SHARD_STEPS, SHARD_SIDE, SHARD_SIDE},
                          .locate = locate,
                          .give = give_shards,
                          .check = check_state};
    run_trial(&shards);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_resume)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
