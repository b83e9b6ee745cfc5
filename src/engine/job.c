/*
 * job.c: a call while it runs: tasks, cancellation, progress, and which of several
 * failures is reported. Knows nothing of what a task does.
 */
#include "engine/job.h"

/* How often the caller is asked. Clocks are looked at when a task begins, after a request
 * to the store, after so many bytes of results, and else every so many pieces. */
enum { POLL_NS = 50 * 1000 * 1000, BYTES_PER_CLOCK = 64 * 1024, TICKS_PER_CLOCK = 16 };

/* Tasks that a worker takes at once: neighbours lie in one directory, where two threads
 * would wait for each other. Every worker still comes back so many times. */
enum { BATCH = 8, TURNS = 32 };

/* A piece that needs more than this asks the budget; smaller ones are covered by the
 * scratch that every worker has. */
enum { UNRESERVED_BYTES = 4 * 1024 * 1024 };

/* ms from now; the end of time when it lies beyond. */
static uint64_t deadline(int64_t ms)
{
    uint64_t now = zlgi_now_ns(), ns;
    if (__builtin_mul_overflow((uint64_t)ms, UINT64_C(1000000), &ns) ||
        __builtin_add_overflow(ns, now, &ns))
        return UINT64_MAX;
    return ns;
}

void zlgi_job_init(zlgi_job *job, zlgi_engine *engine, const zlg_call *call)
{
    memset(job, 0, sizeof *job);
    job->engine = engine;
    job->call = call;
    job->n_blocks = 1;
    job->stats = (zlg_stats)ZLG_STATS_INIT;
    job->caller = pthread_self();
    pthread_mutex_init(&job->lock, NULL);
    if (call && call->deadline_ms > 0)
        job->deadline_ns = deadline(call->deadline_ms);
    if (call && call->poll)
        job->poll_ns = zlgi_now_ns() + POLL_NS;
}

void zlgi_job_reset(zlgi_job *job)
{
    for (int i = 0; i < job->n_kept && i < job->n_keep; i++)
        zlgi_arena_reset(&job->keep[i]);
    zlgi_plan_reset(&job->plan);
    pthread_mutex_destroy(&job->lock);
}

int zlgi_job_threads(const zlgi_job *job)
{
    int n = zlgi_pool_threads(job->engine->pool);
    return job->call && job->call->n_threads > 0 ? ZLGI_MIN(n, job->call->n_threads) : n;
}

void zlgi_job_stop(zlgi_job *job, const char *why)
{
    pthread_mutex_lock(&job->lock);
    if (!__atomic_load_n(&job->stopped, __ATOMIC_RELAXED)) {
        zlgi_fail(&job->error, ZLG_CANCELLED, "%s", why);
        __atomic_store_n(&job->stopped, 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&job->lock);
}

/* Gives back what is reserved, and the buffers not in use that it was for, unless they are
 * for no more than n_kept bytes. */
static void give_back(zlgi_worker *worker, uint64_t n_kept)
{
    zlgi_scratch *scratch = worker->scratch;
    if (worker->reserved == 0)
        return;
    size_t n_bufs = worker->reserved > n_kept ? ZLGI_COUNT(scratch->spare) : 0;
    for (size_t i = (size_t)scratch->n_spare_used; i < n_bufs; i++)
        if (scratch->spare[i].capacity > UNRESERVED_BYTES)
            zlgi_buf_reset(&scratch->spare[i]);
    zlgi_budget_release(worker->job->engine->budget, worker->reserved);
    worker->reserved = 0;
}

/* What a worker may keep from call to call: the budget holds it if all of them do. */
static uint64_t kept_bytes(const zlgi_job *job)
{
    return zlgi_budget_bytes(job->engine->budget) /
           (uint64_t)zlgi_pool_threads(job->engine->pool);
}

/* Nobody waits while holding: what cannot be had at once is asked for with empty hands. */
void zlgi_worker_reserve(zlgi_worker *worker, uint64_t n_bytes)
{
    zlgi_budget *budget = worker->job->engine->budget;
    if (n_bytes <= UNRESERVED_BYTES || n_bytes <= worker->reserved)
        return;
    if (!zlgi_budget_try(budget, n_bytes - worker->reserved)) {
        give_back(worker, 0);
        zlgi_budget_reserve(budget, n_bytes);
    }
    worker->reserved = n_bytes;
}

/* worker NULL: it has done its work. */
static void poll_caller(zlgi_job *job, zlgi_worker *worker, uint64_t now)
{
    if (!job->poll_ns || now < job->poll_ns)
        return;
    job->poll_ns = now + POLL_NS;
    if (worker)
        give_back(worker, 0); /* the caller may read something itself */
    if (job->call->poll(job->call->user, __atomic_load_n(&job->n_done, __ATOMIC_RELAXED),
                        job->n_all))
        zlgi_job_stop(job, "stopped by the caller");
}

static void look_at_clock(zlgi_job *job, zlgi_worker *worker)
{
    bool is_caller = !worker || worker->is_caller;
    if (!job->deadline_ns && !(is_caller && job->poll_ns))
        return;
    uint64_t now = zlgi_now_ns();
    if (job->deadline_ns && now > job->deadline_ns)
        zlgi_job_stop(job, "the deadline passed");
    if (is_caller && !(worker && worker->is_locked))
        poll_caller(job, worker, now);
}

zlg_status zlgi_worker_check(zlgi_worker *worker)
{
    zlgi_job *job = worker->job;
    const zlg_call *call = job->call;
    if (call && call->cancel && __atomic_load_n(call->cancel, __ATOMIC_RELAXED))
        zlgi_job_stop(job, "stopped by the caller");
    if (worker->reserved > 0 && !worker->is_holding &&
        zlgi_budget_is_wanted(job->engine->budget))
        give_back(worker, 0);
    if (worker->ticks++ % TICKS_PER_CLOCK == 0 || worker->n_done >= BYTES_PER_CLOCK ||
        worker->n_requests != worker->stats.n_requests) {
        __atomic_fetch_add(&job->n_done, worker->n_done, __ATOMIC_RELAXED);
        worker->n_done = 0;
        worker->n_requests = worker->stats.n_requests;
        look_at_clock(job, worker);
    }
    return __atomic_load_n(&job->stopped, __ATOMIC_RELAXED) ? ZLG_CANCELLED : ZLG_OK;
}

static bool worker_goes_on(void *worker)
{
    return zlgi_worker_check(worker) == ZLG_OK;
}

zlgi_look zlgi_worker_look(zlgi_worker *worker)
{
    return (zlgi_look){.goes_on = worker_goes_on, .user = worker};
}

static void idle(void *user)
{
    look_at_clock(user, NULL);
    zlgi_job *job = user;
    if (job->call && job->call->cancel &&
        __atomic_load_n(job->call->cancel, __ATOMIC_RELAXED))
        zlgi_job_stop(job, "stopped by the caller");
}

bool zlgi_job_goes_on(zlgi_job *job)
{
    idle(job);
    return !job->stopped;
}

bool zlgi_worker_wants(const zlgi_worker *worker, uint64_t piece)
{
    zlgi_job *job = worker->job;
    if (!__atomic_load_n(&job->failed, __ATOMIC_ACQUIRE))
        return true;
    pthread_mutex_lock(&job->lock);
    bool below = worker->object < job->failed_object ||
                 (worker->object == job->failed_object && piece < job->failed_piece);
    pthread_mutex_unlock(&job->lock);
    return below;
}

void zlgi_worker_fail(zlgi_worker *worker, zlg_status status, uint64_t piece)
{
    zlgi_job *job = worker->job;
    if (status == ZLG_CANCELLED || !zlgi_worker_wants(worker, piece))
        return;
    pthread_mutex_lock(&job->lock);
    bool lowest = !job->failed || worker->object < job->failed_object ||
                  (worker->object == job->failed_object && piece < job->failed_piece);
    if (lowest) {
        if (!__atomic_load_n(&job->stopped, __ATOMIC_RELAXED))
            job->error = worker->error;
        job->error.status = status;
        job->failed_object = worker->object;
        job->failed_piece = piece;
        __atomic_store_n(&job->failed, 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&job->lock);
}

/* All counts are 64-bit numbers behind the size; a caller's struct may have fewer. */
static void add_stats(zlg_stats *to, const zlg_stats *from)
{
    enum { FIRST = offsetof(zlg_stats, n_objects), N = sizeof(uint64_t) };
    _Static_assert((sizeof(zlg_stats) - FIRST) % N == 0, "nothing but counts");
    for (size_t at = FIRST; at + N <= ZLGI_MIN(to->n_bytes_struct, sizeof *to); at += N)
        *(uint64_t *)(void *)((char *)to + at) +=
            *(const uint64_t *)(const void *)((const char *)from + at);
}

static void work(void *user, zlgi_scratch *scratch)
{
    zlgi_job *job = user;
    zlgi_worker worker = {.job = job, .scratch = scratch};
    worker.is_caller = pthread_equal(pthread_self(), job->caller) != 0;
    if (job->keep)
        worker.keep = &job->keep[__atomic_fetch_add(&job->n_kept, 1, __ATOMIC_RELAXED)];
    uint64_t n_tasks = job->plan.n_objects * (uint64_t)job->n_blocks, task = 0, end = 0;
    while (!__atomic_load_n(&job->stopped, __ATOMIC_RELAXED)) {
        if (task == end) {
            task = __atomic_fetch_add(&job->next, job->n_batch, __ATOMIC_RELAXED);
            end = ZLGI_MIN(task + job->n_batch, n_tasks);
        }
        if (task >= n_tasks)
            break;
        worker.object = task / (uint64_t)job->n_blocks;
        worker.ticks = 0;
        job->run_task(&worker, worker.object, (int)(task % (uint64_t)job->n_blocks));
        task++;
    }
    give_back(&worker, kept_bytes(job));
    __atomic_fetch_add(&job->n_done, worker.n_done, __ATOMIC_RELAXED);
    pthread_mutex_lock(&job->lock);
    add_stats(&job->stats, &worker.stats);
    pthread_mutex_unlock(&job->lock);
}

/* Puts the object in front of what went wrong with it: the path of its array once. */
static void name_object(zlgi_job *job)
{
    zlgi_planned planned;
    char key[ZLGI_PATH_MAX];
    zlgi_plan_object(&job->plan, job->failed_object, &planned);
    if (zlgi_plan_key(planned.source, planned.coordinates, key, NULL) != ZLG_OK)
        return;
    const char *path = planned.source->prefix;
    zlgi_within(&job->error, job->error.status, "%s: array %s: chunk %s",
                planned.source->store->label, *path ? path : "/",
                zlgi_plan_name(planned.source, key));
}

/* Whoever had something in hand when the time passed did not look: that is no success. */
zlg_status zlgi_job_end(zlgi_job *job, zlg_error *err)
{
    if (job->deadline_ns && zlgi_now_ns() > job->deadline_ns)
        zlgi_job_stop(job, "the deadline passed");
    if (!job->stopped)
        return ZLG_OK;
    job->error.status = ZLG_CANCELLED;
    if (err)
        *err = job->error;
    return ZLG_CANCELLED;
}

zlg_status zlgi_job_run(zlgi_job *job, int n_workers, zlg_error *err)
{
    job->stats.n_objects = job->plan.n_objects;
    uint64_t n_tasks = job->plan.n_objects * (uint64_t)job->n_blocks;
    job->n_batch = ZLGI_MAX(1, ZLGI_MIN(n_tasks / (TURNS * (uint64_t)n_workers), BATCH));
    bool polled = job->poll_ns != 0 || (job->call && job->call->cancel) || job->deadline_ns;
    ZLGI_TRY(
        zlgi_pool_run(job->engine->pool, n_workers, work, polled ? idle : NULL, job, err));
    if (job->call && job->call->stats)
        add_stats(job->call->stats, &job->stats);
    if (job->stopped || !job->failed)
        return zlgi_job_end(job, err);
    name_object(job);
    if (err)
        *err = job->error;
    return job->error.status;
}
