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

enum { SAMPLE = 256 }; /* points that are looked at */

static const zlgi_level *innermost(const zlgi_level *level)
{
    while (level->sharding)
        level = level->inner;
    return level;
}

/* The first and the last position of some of the points along an axis. */
static void sample(const zlgi_use *use, const zlgi_use_axis *axis, uint64_t *first,
                   uint64_t *last)
{
    int64_t step = use->n_points / SAMPLE + 1;
    *first = UINT64_MAX;
    *last = 0;
    for (int64_t i = 0; i < use->n_points; i += step) {
        *first = ZLGI_MIN(*first, (uint64_t)axis->list[i]);
        *last = ZLGI_MAX(*last, (uint64_t)axis->list[i]);
    }
}

/* Inner chunks that a request touches, about: those of all its objects. */
static uint64_t pieces_of(const zlgi_level *level, const zlgi_use *use)
{
    bool points = use->kind == ZLGI_USE_POINTS;
    uint64_t n = 1, n_elements = (uint64_t)zlgi_use_count(use);
    for (int i = 0; i < use->rank && n_elements > 0; i++) {
        const zlgi_use_axis *axis = &use->axis[level->order[i]];
        uint64_t chunk = (uint64_t)level->sharding->chunk_shape[i], count;
        uint64_t first = (uint64_t)axis->start;
        uint64_t last = first + (uint64_t)(axis->count - 1) * (uint64_t)axis->step;
        if (points)
            sample(use, axis, &first, &last);
        count = (uint64_t)axis->count;
        if (points || (!axis->list && axis->step < (int64_t)chunk))
            count = last / chunk - first / chunk + 1;
        if (__builtin_mul_overflow(n, count, &n))
            return n_elements;
    }
    return ZLGI_MIN(n, n_elements);
}

/* Inner chunks that are read of one object, about. Several requests may want the same, but
 * no more than there are. */
static uint64_t pieces_per_object(const zlgi_job *job)
{
    const zlgi_plan *plan = &job->plan;
    uint64_t n = 0, most = 1;
    if (plan->n_objects == 0)
        return 1;
    for (size_t i = 0; i < plan->n_requests; i++) {
        const zlgi_level *level = plan->requests[i].source->level;
        if (!level->sharding)
            continue;
        uint64_t pieces = pieces_of(level, zlgi_plan_use(plan, i));
        if (__builtin_add_overflow(n, pieces, &n))
            n = UINT64_MAX;
        most = ZLGI_MAX(most, level->fixed ? level->box->n_chunks : UINT64_MAX);
    }
    return ZLGI_MIN((ZLGI_MAX(n, 1) - 1) / plan->n_objects + 1, most);
}

/* What the call costs: whole units are decoded, however little of each is wanted. */
static uint64_t cost_of(const zlgi_job *job)
{
    const zlgi_plan *plan = &job->plan;
    const zlgi_level *unit = innermost(plan->requests[0].source->level);
    uint64_t cost = plan->n_objects * OPEN_COST, n_units, decoded;
    if (unit->raw || !unit->fixed)
        return cost + job->n_all / 8; /* copied, not decoded */
    if (__builtin_mul_overflow(plan->n_objects, pieces_per_object(job), &n_units) ||
        __builtin_mul_overflow(n_units, unit->box->layout.edge[0].n_bytes, &decoded))
        return UINT64_MAX;
    return cost + decoded;
}

/* What has to be decoded whole, and what several requests read by range, is one task. */
bool zlgi_job_cuts(const zlgi_job *job, const zlgi_source *source)
{
    const zlgi_level *level = source->level;
    if (level->sharding)
        return !level->wrapped;
    return level->raw && level->rank > 0 && !job->plan.records &&
           !zlgi_job_transform(job) && job->n_all >= 4 * (uint64_t)ZLGI_RUN_BYTES;
}

/* With fewer objects than hands an object is cut into blocks. */
static int blocks_per_object(const zlgi_job *job, int n_threads)
{
    const zlgi_plan *plan = &job->plan;
    uint64_t wanted = (uint64_t)n_threads * TASKS_PER_THREAD;
    if (n_threads == 1 || plan->n_objects == 0 || plan->n_objects >= wanted / 2)
        return 1;
    bool cuts = false;
    for (size_t i = 0; i < plan->n_requests && !cuts; i++)
        cuts = zlgi_job_cuts(job, plan->requests[i].source);
    uint64_t n = cuts ? wanted / plan->n_objects : 1;
    if (plan->records || plan->requests[0].source->level->sharding)
        n = ZLGI_MIN(n, pieces_per_object(job));
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
