/*
 * The pool: threads that help callers with their jobs, and the scratch each works with.
 *
 * Knows nothing of the jobs. A caller hangs a run with a number of wanted helpers into a
 * queue, works itself, takes back what nobody came for, and waits for those who did come.
 * So a job never waits for a free thread, and many callers share the threads.
 *
 * Threads start when a run first wants them and sleep between runs. A forked child makes
 * everything new and leaves the parent's threads, runs and scratch where they are: that
 * memory may be half changed, and it is lost to the child.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "base/os.h"

enum {
    MAX_THREADS = 1024,
    IDLE_MS = 20, /* between two calls of idle() */
    SPINS = 500,  /* looks for the next run before sleeping: some ten microseconds */
    LAST_SPINS = 8 * SPINS, /* for who has a piece in hand, often as long as waking takes */
    LOCK_SPINS = 4 * SPINS,
    KEEP_BUFFER = 64 << 20, /* larger buffers are not kept between runs */
    SPARE_SCRATCHES = 4     /* kept for callers beyond one for each thread */
};

/* One call of zlgi_pool_run; lives on the caller's stack. */
struct run {
    zlgi_work_fn work;
    void *job;
    uint64_t generation; /* of the pool when the run began */
    int n_wanted;        /* helpers that may still come; guarded by the lock */
    atomic_int n_active; /* helpers at work; changed under the lock */
    pthread_cond_t done; /* n_active became 0 */
    struct run *next;    /* queue of the pool */
};

struct zlgi_pool {
    const zlgi_alloc *alloc;
    const zlg_limits *limits;
    int n_threads; /* callers count as one */
    zlgi_fork_mark mark;
    uint64_t generation; /* forks between this process and the maker of the pool */
    pthread_t *threads;  /* n_threads - 1 */

    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t wanted;
    struct run *runs;    /* those that want helpers, oldest first */
    atomic_int n_wanted; /* sum over runs; changed under the lock */
    int n_started, n_sleeping;
    bool stop;
    zlgi_scratch *scratches; /* free ones */
    int n_scratches;
};

static void start_empty(zlgi_pool *pool)
{
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wanted, NULL);
    pool->runs = NULL;
    atomic_store(&pool->n_wanted, 0);
    pool->n_started = 0;
    pool->n_sleeping = 0;
    pool->stop = false;
    pool->scratches = NULL;
    pool->n_scratches = 0;
}

static void renew_after_fork(zlgi_pool *pool)
{
    if (zlgi_fork_enter(&pool->mark)) {
        start_empty(pool);
        pool->generation++;
        zlgi_fork_leave(&pool->mark);
    }
}

static void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

void zlgi_lock_briefly(pthread_mutex_t *lock)
{
    for (int i = 0; i < LOCK_SPINS; i++) {
        if (pthread_mutex_trylock(lock) == 0)
            return;
        pause_briefly();
    }
    pthread_mutex_lock(lock);
}

/* ------------------------------------------------------------------ scratch */

/* A free scratch, or a new one; NULL when memory is short. Called without the lock. */
static zlgi_scratch *borrow_scratch(zlgi_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    zlgi_scratch *scratch = pool->scratches;
    if (scratch != NULL) {
        pool->scratches = scratch->next;
        pool->n_scratches--;
    }
    pthread_mutex_unlock(&pool->lock);
    return scratch != NULL ? scratch : zlgi_scratch_new(pool->alloc, pool->limits);
}

static void give_back_scratch(zlgi_pool *pool, zlgi_scratch *scratch)
{
    for (size_t i = 0; i < ZLGI_COUNT(scratch->spare); i++)
        if (scratch->spare[i].capacity > KEEP_BUFFER)
            zlgi_buf_reset(&scratch->spare[i]);
    pthread_mutex_lock(&pool->lock);
    bool keep = pool->n_scratches < pool->n_threads + SPARE_SCRATCHES;
    if (keep) {
        scratch->next = pool->scratches;
        pool->scratches = scratch;
        pool->n_scratches++;
    }
    pthread_mutex_unlock(&pool->lock);
    if (!keep)
        zlgi_scratch_free(scratch);
}

/* ------------------------------------------------------------------ helpers */

static void unlink_run(zlgi_pool *pool, struct run *run)
{
    for (struct run **at = &pool->runs; *at != NULL; at = &(*at)->next)
        if (*at == run) {
            *at = run->next;
            return;
        }
}

/* The run that has waited longest goes to the end, so that callers share the threads. */
static struct run *take_ticket(zlgi_pool *pool)
{
    struct run *run = pool->runs;
    if (run == NULL)
        return NULL;
    pool->runs = run->next;
    run->n_wanted--;
    atomic_fetch_sub(&pool->n_wanted, 1);
    atomic_fetch_add(&run->n_active, 1);
    if (run->n_wanted > 0) {
        struct run **end = &pool->runs;
        while (*end != NULL)
            end = &(*end)->next;
        run->next = NULL;
        *end = run;
    }
    return run;
}

/* Without the lock, then with it again: the next run often follows within microseconds,
 * and waking a sleeper costs more than that. */
static void look_before_sleeping(zlgi_pool *pool)
{
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < SPINS && atomic_load(&pool->n_wanted) == 0; i++)
        pause_briefly();
    pthread_mutex_lock(&pool->lock);
}

static void help(zlgi_pool *pool, struct run *run)
{
    zlgi_scratch *scratch = borrow_scratch(pool);
    if (scratch != NULL) {
        run->work(run->job, scratch);
        give_back_scratch(pool, scratch);
    }
    pthread_mutex_lock(&pool->lock);
    /* The run is gone once the lock is released with nobody active. */
    if (atomic_fetch_sub(&run->n_active, 1) == 1)
        pthread_cond_signal(&run->done);
    pthread_mutex_unlock(&pool->lock);
}

static void *helper_main(void *arg)
{
    zlgi_pool *pool = arg;
    pthread_mutex_lock(&pool->lock);
    while (!pool->stop) {
        struct run *run = take_ticket(pool);
        if (run == NULL) {
            look_before_sleeping(pool);
            if (pool->runs == NULL && !pool->stop) {
                pool->n_sleeping++;
                pthread_cond_wait(&pool->wanted, &pool->lock);
                pool->n_sleeping--;
            }
            continue;
        }
        pthread_mutex_unlock(&pool->lock);
        help(pool, run);
        pthread_mutex_lock(&pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* Threads take no signals: those are the business of the program around us. But what a
 * thread's own access raises, as in a mapped file that became shorter, comes to it alone,
 * and would end the program unheard if it were blocked. */
bool zlgi_thread_start(pthread_t *out, void *(*run)(void *user), void *user)
{
    static const int own[] = {SIGBUS, SIGSEGV, SIGFPE, SIGILL};
    sigset_t all, before;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        sigdelset(&all, own[i]);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(out, NULL, run, user) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

static void start_threads(zlgi_pool *pool, int n)
{
    for (; n > 0 && pool->n_started < pool->n_threads - 1; n--) {
        if (!zlgi_thread_start(&pool->threads[pool->n_started], helper_main, pool))
            break;
        pool->n_started++;
    }
}

/* ------------------------------------------------------------------ runs */

static void call_helpers(zlgi_pool *pool, struct run *run, int n_helpers)
{
    run->n_wanted = n_helpers;
    pthread_mutex_lock(&pool->lock);
    struct run **end = &pool->runs;
    while (*end != NULL)
        end = &(*end)->next;
    *end = run;
    int n_wanted = atomic_fetch_add(&pool->n_wanted, n_helpers) + n_helpers;
    int n_sleeping = pool->n_sleeping;
    if (n_wanted > n_sleeping)
        start_threads(pool, n_wanted - n_sleeping);
    pthread_mutex_unlock(&pool->lock);

    if (n_helpers >= n_sleeping)
        pthread_cond_broadcast(&pool->wanted);
    else
        for (int i = 0; i < n_helpers; i++)
            pthread_cond_signal(&pool->wanted);
}

/* Waits on run->done until `ms` from now at the latest. The lock is held. */
static void wait_some(zlgi_pool *pool, struct run *run, int ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += ms * 1000000L;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_nsec -= 1000000000L;
        until.tv_sec++;
    }
    (void)pthread_cond_timedwait(&run->done, &pool->lock, &until);
}

/* False when a callback forked and this is the child: the helpers are not in it. */
static bool is_whole(zlgi_pool *pool, const struct run *run)
{
    renew_after_fork(pool);
    return pool->generation == run->generation;
}

/* Takes back the tickets and waits for those who came; false as is_whole. */
static bool dismiss_helpers(zlgi_pool *pool, struct run *run, void (*idle)(void *job))
{
    pthread_mutex_lock(&pool->lock);
    if (run->n_wanted > 0) {
        unlink_run(pool, run);
        atomic_fetch_sub(&pool->n_wanted, run->n_wanted);
    }
    pthread_mutex_unlock(&pool->lock);

    for (int i = 0; i < LAST_SPINS && atomic_load(&run->n_active) > 0; i++)
        pause_briefly();

    pthread_mutex_lock(&pool->lock);
    while (atomic_load(&run->n_active) > 0) {
        wait_some(pool, run, IDLE_MS);
        if (idle == NULL || atomic_load(&run->n_active) == 0)
            continue;
        pthread_mutex_unlock(&pool->lock);
        idle(run->job);
        if (!is_whole(pool, run))
            return false;
        pthread_mutex_lock(&pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
    return true;
}

static zlg_status run_with_helpers(zlgi_pool *pool, struct run *run, int n_helpers,
                                   void (*idle)(void *job), zlgi_scratch *scratch,
                                   zlg_error *err)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&run->done, &monotonic);
    pthread_condattr_destroy(&monotonic);

    call_helpers(pool, run, n_helpers);
    run->work(run->job, scratch);
    if (!is_whole(pool, run) || !dismiss_helpers(pool, run, idle))
        return zlgi_fail(err, ZLG_CANCELLED,
                         "the process was forked during the call, which the parent ends");
    pthread_cond_destroy(&run->done);
    return ZLG_OK;
}

zlg_status zlgi_pool_run(zlgi_pool *pool, int n_workers, zlgi_work_fn work,
                         void (*idle)(void *job), void *job, zlg_error *err)
{
    renew_after_fork(pool);
    zlgi_scratch *scratch = borrow_scratch(pool);
    if (scratch == NULL)
        return zlgi_no_memory(err, sizeof *scratch);
    int n_helpers = ZLGI_MIN(n_workers, pool->n_threads) - 1;
    zlg_status status = ZLG_OK;
    if (n_helpers > 0) {
        struct run run = {.work = work, .job = job, .generation = pool->generation};
        status = run_with_helpers(pool, &run, n_helpers, idle, scratch, err);
    } else {
        work(job, scratch);
        renew_after_fork(pool);
    }
    give_back_scratch(pool, scratch);
    return status;
}

/* ------------------------------------------------------------------ the pool itself */

zlgi_pool *zlgi_pool_new(const zlgi_alloc *alloc, const zlg_limits *limits, int n_threads)
{
    zlgi_pool *pool = zlgi_new(alloc, sizeof *pool);
    if (pool == NULL)
        return NULL;
    if (n_threads <= 0)
        n_threads = zlgi_usable_cores();
    pool->alloc = alloc;
    pool->limits = limits;
    pool->n_threads = ZLGI_MIN(n_threads, MAX_THREADS);
    pool->threads = zlgi_new(alloc, (size_t)pool->n_threads * sizeof(pthread_t));
    if (pool->threads == NULL || !zlgi_fork_mark_init(&pool->mark)) {
        zlgi_free(alloc, pool->threads, (size_t)pool->n_threads * sizeof(pthread_t));
        zlgi_free(alloc, pool, sizeof *pool);
        return NULL;
    }
    start_empty(pool);
    return pool;
}

void zlgi_pool_free(zlgi_pool *pool)
{
    if (pool == NULL)
        return;
    renew_after_fork(pool);
    pthread_mutex_lock(&pool->lock);
    pool->stop = true;
    pthread_mutex_unlock(&pool->lock);
    pthread_cond_broadcast(&pool->wanted);
    for (int i = 0; i < pool->n_started; i++)
        pthread_join(pool->threads[i], NULL);
    while (pool->scratches != NULL) {
        zlgi_scratch *scratch = pool->scratches;
        pool->scratches = scratch->next;
        zlgi_scratch_free(scratch);
    }
    pthread_cond_destroy(&pool->wanted);
    pthread_mutex_destroy(&pool->lock);
    zlgi_fork_mark_reset(&pool->mark);
    zlgi_free(pool->alloc, pool->threads, (size_t)pool->n_threads * sizeof(pthread_t));
    zlgi_free(pool->alloc, pool, sizeof *pool);
}

int zlgi_pool_threads(const zlgi_pool *pool)
{
    return pool->n_threads;
}
