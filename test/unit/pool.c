/*
 * The pool: each piece done once whatever the threads, many callers at once, forks.
 * Label: engine
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "test.h"

static const zlg_limits no_limits;

/* A job of n pieces, each done for a random while. */
typedef struct job {
    int n_pieces;
    int n_rounds_most; /* of busy work per piece */
    atomic_int i_next;
    atomic_int n_done;
    atomic_int n_workers;
    atomic_int n_inside; /* workers in this moment */
    atomic_int n_idle;
} job;

static void spend(uint64_t n_rounds)
{
    for (volatile uint64_t i = 0; i < n_rounds;)
        i = i + 1;
}

static void work(void *arg, zlgi_scratch *scratch)
{
    job *j = arg;
    atomic_fetch_add(&j->n_workers, 1);
    atomic_fetch_add(&j->n_inside, 1);
    for (;;) {
        int i = atomic_fetch_add(&j->i_next, 1);
        if (i >= j->n_pieces)
            break;
        /* A scratch that two workers had at once would show up here under TSan. */
        zlgi_buf *buf = zlgi_scratch_push(scratch);
        assert_int_equal(zlgi_buf_reserve(buf, 64, false, NULL), ZLG_OK);
        memset(buf->data, i, 64);
        if (j->n_rounds_most > 0)
            spend((uint64_t)i * 2654435761u % (uint64_t)j->n_rounds_most);
        assert_int_equal(buf->data[63], (uint8_t)i);
        zlgi_scratch_pop(scratch);
        atomic_fetch_add(&j->n_done, 1);
    }
    atomic_fetch_sub(&j->n_inside, 1);
}

static void run_and_check(zlgi_pool *pool, int n_workers, int n_pieces, int n_rounds_most)
{
    job j = {.n_pieces = n_pieces, .n_rounds_most = n_rounds_most};
    assert_int_equal(zlgi_pool_run(pool, n_workers, work, NULL, &j, NULL), ZLG_OK);
    assert_int_equal(atomic_load(&j.n_done), n_pieces);
    assert_int_equal(atomic_load(&j.n_inside), 0);
    assert_in_range(atomic_load(&j.n_workers), 1, n_workers);
}

static int n_threads_of_process(void)
{
    DIR *folder = opendir("/proc/self/task");
    int n = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        n += entry->d_name[0] != '.';
    closedir(folder);
    return n;
}

static void sleep_ms(int ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000L}, NULL);
}

static void test_one_worker_starts_no_thread(void **state)
{
    (void)state;
    int n_before = n_threads_of_process();
    zlgi_pool *pool = zlgi_pool_new(&zlgi_default_alloc, &no_limits, 4);
    assert_int_equal(zlgi_pool_threads(pool), 4);
    for (int i = 0; i < 100; i++)
        run_and_check(pool, 1, 3, 0);
    assert_int_equal(n_threads_of_process(), n_before);
    zlgi_pool_free(pool);
}

static void test_steady_state_allocates_nothing(void **state)
{
    (void)state;
    test_heap heap;
    test_heap_init(&heap);
    zlgi_pool *pool = zlgi_pool_new(&heap.alloc, &no_limits, 1);
    run_and_check(pool, 1, 3, 0);
    size_t n_calls = heap.n_calls;
    for (int i = 0; i < 100; i++)
        run_and_check(pool, 1, 3, 0);
    assert_int_equal(heap.n_calls, n_calls);
    zlgi_pool_free(pool);
    assert_int_equal(heap.n_blocks, 0);
}

static void *do_nothing(void *arg)
{
    return arg;
}

static void test_threads_are_bounded(void **state)
{
    (void)state;
    /* ThreadSanitizer adds a thread of its own to the first. */
    pthread_t first;
    pthread_create(&first, NULL, do_nothing, NULL);
    pthread_join(first, NULL);
    int n_before = n_threads_of_process();
    zlgi_pool *pool = zlgi_pool_new(&zlgi_default_alloc, &no_limits, 3);
    for (int i = 0; i < 50; i++) {
        run_and_check(pool, 64, 100, 2000);
        assert_in_range(n_threads_of_process(), n_before, n_before + 2);
    }
    zlgi_pool_free(pool);
}

/* Every worker waits inside until all have come: only true helpers end this job. */
static void meet(void *arg, zlgi_scratch *scratch)
{
    (void)scratch;
    job *j = arg;
    atomic_fetch_add(&j->n_inside, 1);
    while (atomic_load(&j->n_inside) < j->n_pieces)
        sleep_ms(1);
}

static void test_helpers_come(void **state)
{
    (void)state;
    zlgi_pool *pool = zlgi_pool_new(&zlgi_default_alloc, &no_limits, 4);
    for (int round = 0; round < 5; round++)
        for (int n = 2; n <= 4; n++) {
            job j = {.n_pieces = n};
            assert_int_equal(zlgi_pool_run(pool, n, meet, NULL, &j, NULL), ZLG_OK);
            assert_int_equal(atomic_load(&j.n_inside), n);
        }
    zlgi_pool_free(pool);
}

static void test_random_lengths_do_each_piece_once(void **state)
{
    (void)state;
    zlgi_pool *pool = zlgi_pool_new(&zlgi_default_alloc, &no_limits, 4);
    uint64_t seed = 11;
    for (int i = 0; i < 1500; i++) {
        uint64_t r = test_random(&seed);
        run_and_check(pool, (int)(r % 5) + 1, (int)(r / 5 % 60), (int)(r / 300 % 3) * 3000);
        if (r % 97 == 0)
            sleep_ms(1);
    }
    zlgi_pool_free(pool);
}

static void *call_often(void *arg)
{
    for (int i = 0; i < 150; i++)
        run_and_check(arg, 1 + i % 4, 1 + i % 37, 2000);
    return NULL;
}

static void test_many_callers_share_the_threads(void **state)
{
    (void)state;
    zlgi_pool *pool = zlgi_pool_new(&zlgi_default_alloc, &no_limits, 3);
    pthread_t callers[5];
    for (size_t i = 0; i < ZLGI_COUNT(callers); i++)
        pthread_create(&callers[i], NULL, call_often, pool);
    for (size_t i = 0; i < ZLGI_COUNT(callers); i++)
        pthread_join(callers[i], NULL);
    zlgi_pool_free(pool);
}

typedef struct nested_job {
    job j;
    zlgi_pool *pool;
} nested_job;

static void work_that_runs(void *arg, zlgi_scratch *scratch)
{
    (void)scratch;
    nested_job *outer = arg;
    run_and_check(outer->pool, 3, 10, 500);
    atomic_fetch_add(&outer->j.n_done, 1);
}

static void test_a_job_may_run_jobs(void **state)
{
    (void)state;
    zlgi_pool *pool = zlgi_pool_new(&zlgi_default_alloc, &no_limits, 3);
    for (int i = 0; i < 50; i++) {
        nested_job outer = {.pool = pool};
        assert_int_equal(zlgi_pool_run(pool, 3, work_that_runs, NULL, &outer, NULL),
                         ZLG_OK);
        assert_in_range(atomic_load(&outer.j.n_done), 1, 3);
    }
    zlgi_pool_free(pool);
}

static pthread_t main_thread;

static void wait_for_idle(void *arg, zlgi_scratch *scratch)
{
    (void)scratch;
    job *j = arg;
    atomic_fetch_add(&j->n_inside, 1);
    if (pthread_equal(pthread_self(), main_thread)) {
        while (atomic_load(&j->n_inside) < 2)
            sleep_ms(1);
    } else {
        while (atomic_load(&j->n_idle) < 3)
            sleep_ms(1);
    }
}

static void count_idle(void *arg)
{
    job *j = arg;
    assert_true(pthread_equal(pthread_self(), main_thread));
    atomic_fetch_add(&j->n_idle, 1);
}

static void test_the_waiting_caller_is_called_now_and_then(void **state)
{
    (void)state;
    main_thread = pthread_self();
    zlgi_pool *pool = zlgi_pool_new(&zlgi_default_alloc, &no_limits, 2);
    job j = {0};
    assert_int_equal(zlgi_pool_run(pool, 2, wait_for_idle, count_idle, &j, NULL), ZLG_OK);
    assert_true(atomic_load(&j.n_idle) >= 3);
    zlgi_pool_free(pool);
}

static void test_no_memory_for_the_caller_is_an_error(void **state)
{
    (void)state;
    test_heap heap;
    test_heap_init(&heap);
    zlgi_pool *pool = zlgi_pool_new(&heap.alloc, &no_limits, 2);
    heap.fail_at = 1;
    job j = {.n_pieces = 1};
    zlg_error err;
    assert_int_equal(zlgi_pool_run(pool, 1, work, NULL, &j, &err), ZLG_NO_MEMORY);
    assert_int_equal(atomic_load(&j.n_done), 0);
    heap.fail_at = 0;
    run_and_check(pool, 1, 1, 0);
    zlgi_pool_free(pool);
    assert_int_equal(heap.n_blocks, 0);
    heap.fail_at = heap.n_calls + 2;
    assert_null(zlgi_pool_new(&heap.alloc, &no_limits, 2));
    assert_int_equal(heap.n_blocks, 0);
}

static void grow(void *arg, zlgi_scratch *scratch)
{
    size_t *n_bytes = arg;
    zlgi_buf *large = zlgi_scratch_push(scratch);
    zlgi_buf *small = zlgi_scratch_push(scratch);
    assert_int_equal(zlgi_buf_reserve(large, *n_bytes, false, NULL), ZLG_OK);
    assert_int_equal(zlgi_buf_reserve(small, 100, false, NULL), ZLG_OK);
    zlgi_scratch_pop(scratch);
    zlgi_scratch_pop(scratch);
}

static void test_only_very_large_buffers_are_dropped(void **state)
{
    (void)state;
    test_heap heap;
    test_heap_init(&heap);
    zlgi_pool *pool = zlgi_pool_new(&heap.alloc, &no_limits, 1);
    size_t n_bytes = (size_t)64 << 20;
    assert_int_equal(zlgi_pool_run(pool, 1, grow, NULL, &n_bytes, NULL), ZLG_OK);
    assert_true(heap.n_bytes > n_bytes);
    n_bytes++;
    assert_int_equal(zlgi_pool_run(pool, 1, grow, NULL, &n_bytes, NULL), ZLG_OK);
    assert_true(heap.n_bytes < 1 << 20);
    assert_true(heap.n_bytes > 100);
    zlgi_pool_free(pool);
    assert_int_equal(heap.n_blocks, 0);
}

/* ------------------------------------------------------------------ fork */

/* Runs a function in a forked child; it must end with 0 within a minute. */
static void in_child(void (*body)(zlgi_pool *pool), zlgi_pool *pool)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(60);
        body(pool);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* cmocka's asserts jump to the parent's frames, so a child only exits. */
static void child_check(bool good)
{
    if (!good)
        _exit(1);
}

static void run_in_child(zlgi_pool *pool)
{
    for (int i = 0; i < 20; i++) {
        job j = {.n_pieces = 20, .n_rounds_most = 2000};
        child_check(zlgi_pool_run(pool, 3, work, NULL, &j, NULL) == ZLG_OK);
        child_check(atomic_load(&j.n_done) == 20);
    }
    job j = {.n_pieces = 3};
    child_check(zlgi_pool_run(pool, 3, meet, NULL, &j, NULL) == ZLG_OK);
    child_check(atomic_load(&j.n_inside) == 3);
}

static void run_in_child_and_grandchild(zlgi_pool *pool)
{
    run_in_child(pool);
    pid_t child = fork();
    if (child == 0) {
        run_in_child(pool);
        zlgi_pool_free(pool);
        _exit(0);
    }
    int status;
    child_check(waitpid(child, &status, 0) == child && status == 0);
    run_in_child(pool);
    zlgi_pool_free(pool);
}

static void test_children_begin_anew(void **state)
{
    (void)state;
    zlgi_pool *pool = zlgi_pool_new(&zlgi_default_alloc, &no_limits, 3);
    run_and_check(pool, 3, 50, 2000);
    in_child(run_in_child_and_grandchild, pool);
    run_and_check(pool, 3, 50, 2000);
    zlgi_pool_free(pool);
}

#ifndef TEST_SANITIZED
static atomic_bool callers_stop;

static void *call_until_stopped(void *arg)
{
    while (!atomic_load(&callers_stop))
        run_and_check(arg, 3, 20, 1000);
    return NULL;
}

static void test_forks_in_the_middle_of_calls(void **state)
{
    (void)state;
    zlgi_pool *pool = zlgi_pool_new(&zlgi_default_alloc, &no_limits, 3);
    atomic_store(&callers_stop, false);
    pthread_t callers[2];
    for (size_t i = 0; i < ZLGI_COUNT(callers); i++)
        pthread_create(&callers[i], NULL, call_until_stopped, pool);
    for (int i = 0; i < 40; i++)
        in_child(run_in_child, pool);
    atomic_store(&callers_stop, true);
    for (size_t i = 0; i < ZLGI_COUNT(callers); i++)
        pthread_join(callers[i], NULL);
    zlgi_pool_free(pool);
}
#endif

static pid_t forked;

static void work_that_forks(void *arg, zlgi_scratch *scratch)
{
    (void)scratch;
    job *j = arg;
    atomic_fetch_add(&j->n_inside, 1);
    while (atomic_load(&j->n_inside) < 2)
        sleep_ms(1);
    if (pthread_equal(pthread_self(), main_thread))
        forked = fork();
}

/* The child comes out of the call too, and is told that its helpers are gone. */
static void test_a_fork_inside_a_call(void **state)
{
    (void)state;
    main_thread = pthread_self();
    zlgi_pool *pool = zlgi_pool_new(&zlgi_default_alloc, &no_limits, 2);
    job j = {0};
    zlg_status result = zlgi_pool_run(pool, 2, work_that_forks, NULL, &j, NULL);
    if (forked == 0) {
        alarm(60);
        child_check(result == ZLG_CANCELLED);
        job after = {.n_pieces = 2};
        child_check(zlgi_pool_run(pool, 2, meet, NULL, &after, NULL) == ZLG_OK);
        _exit(0);
    }
    assert_int_equal(result, ZLG_OK);
    int status;
    assert_int_equal(waitpid(forked, &status, 0), forked);
    assert_int_equal(status, 0);
    zlgi_pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_worker_starts_no_thread),
        cmocka_unit_test(test_steady_state_allocates_nothing),
        cmocka_unit_test(test_threads_are_bounded),
        cmocka_unit_test(test_helpers_come),
        cmocka_unit_test(test_random_lengths_do_each_piece_once),
        cmocka_unit_test(test_many_callers_share_the_threads),
        cmocka_unit_test(test_a_job_may_run_jobs),
        cmocka_unit_test(test_the_waiting_caller_is_called_now_and_then),
        cmocka_unit_test(test_no_memory_for_the_caller_is_an_error),
        cmocka_unit_test(test_only_very_large_buffers_are_dropped),
        cmocka_unit_test(test_children_begin_anew),
#ifndef TEST_SANITIZED
        cmocka_unit_test(test_forks_in_the_middle_of_calls),
#endif
        cmocka_unit_test(test_a_fork_inside_a_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
