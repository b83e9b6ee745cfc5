/*
 * hands.c: how many threads a read is worth, and into how many blocks its objects are cut
 * for them. Guesses from the plan alone; nothing depends on the guess but time.
 */
#include "engine/write.h"

/*
 * Costs in bytes decoded, of which a thread does about one in a nanosecond: opening an
 * object, and waking another thread, below which it is better to stay alone.
 */
enum { OPEN_COST = 8 * 1024, ALONE_COST = 96 * 1024, TASKS_PER_THREAD = 4 };

static const zlgi_level *innermost(const zlgi_level *level)
{
    while (level->sharding)
        level = level->inner;
    return level;
}

/* Inner chunks that the single orthogonal request touches in one object, about. */
static uint64_t pieces_per_object(const zlgi_job *job)
{
    const zlgi_source *source = job->plan.requests[0].source;
    const zlgi_level *level = source->level;
    uint64_t n = 1;
    if (!level->sharding || job->plan.n_objects == 0)
        return 1;
    for (int i = 0; i < source->grid.rank; i++) {
        const zlgi_use_axis *axis = &zlgi_plan_use(&job->plan, 0)->axis[level->order[i]];
        uint64_t chunk = (uint64_t)level->sharding->chunk_shape[i];
        uint64_t count = (uint64_t)axis->count;
        if (!axis->list && axis->count > 0) {
            uint64_t first = (uint64_t)axis->start;
            uint64_t last = first + (count - 1) * (uint64_t)axis->step;
            count = ZLGI_MIN(count, last / chunk - first / chunk + 1);
        }
        n *= count;
    }
    return (ZLGI_MAX(n, 1) - 1) / job->plan.n_objects + 1;
}

/* What the call costs: whole units are decoded, however little of each is wanted. */
static uint64_t cost_of(const zlgi_job *job)
{
    const zlgi_plan *plan = &job->plan;
    const zlgi_level *unit = innermost(plan->requests[0].source->level);
    uint64_t cost = plan->n_objects * OPEN_COST, n_units = plan->n_objects;
    if (unit->raw || !unit->fixed)
        return cost + job->n_all / 8; /* copied, not decoded */
    if (!plan->records)
        n_units *= pieces_per_object(job);
    uint64_t decoded;
    if (__builtin_mul_overflow(n_units, unit->box->layout.edge[0].n_bytes, &decoded))
        return UINT64_MAX;
    return cost + decoded;
}

/* With fewer objects than hands an object is cut into blocks. */
static int blocks_per_object(const zlgi_job *job, int n_threads)
{
    const zlgi_plan *plan = &job->plan;
    uint64_t wanted = (uint64_t)n_threads * TASKS_PER_THREAD;
    if (n_threads == 1 || plan->n_objects == 0 || plan->n_objects >= wanted / 2 ||
        plan->records)
        return 1;
    const zlgi_level *level = plan->requests[0].source->level;
    uint64_t n = wanted / plan->n_objects;
    if (level->sharding && !level->wrapped)
        n = ZLGI_MIN(n, pieces_per_object(job));
    else if (!level->raw || level->rank == 0 || job->n_all < 4 * (uint64_t)ZLGI_RUN_BYTES)
        n = 1;
    return (int)n;
}

int zlgi_job_hands(zlgi_job *job)
{
    int n_threads = cost_of(job) <= ALONE_COST ? 1 : zlgi_job_threads(job);
    job->n_blocks = blocks_per_object(job, n_threads);
    uint64_t n_tasks = job->plan.n_objects * (uint64_t)job->n_blocks;
    return (int)ZLGI_MIN((uint64_t)n_threads, n_tasks);
}

/* Encoding costs some ten times as much as decoding, and all that is written is encoded. */
int zlgi_job_write_hands(zlgi_job *job)
{
    enum { ALONE_BYTES = 32 * 1024, BLOCK_BYTES = 256 * 1024 };
    const zlgi_plan *plan = &job->plan;
    const zlgi_level *level = plan->requests[0].source->level;
    int n_threads = job->n_all <= ALONE_BYTES ? 1 : zlgi_job_threads(job);
    uint64_t wanted = (uint64_t)n_threads * TASKS_PER_THREAD;
    if (n_threads > 1 && plan->n_objects < wanted / 2 && level->sharding &&
        !level->wrapped) {
        uint64_t n = ZLGI_MIN(wanted / plan->n_objects, job->n_all / BLOCK_BYTES);
        job->n_blocks = (int)ZLGI_MIN(ZLGI_MAX(n, 1), (uint64_t)ZLGI_MAX_BLOCKS);
    }
    uint64_t n_tasks = plan->n_objects * (uint64_t)job->n_blocks;
    return (int)ZLGI_MIN((uint64_t)n_threads, n_tasks);
}
