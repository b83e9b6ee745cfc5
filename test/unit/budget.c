/*
 * The budget: never passed, oversized needs run alone and are not overtaken, forks.
 * Label: engine
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "test.h"

enum { LIMIT = 1000 };

static zlgi_budget *budget;
static atomic_int n_held, n_served;
static atomic_bool was_passed;

static void *reserve_often(void *arg)
{
    uint64_t seed = (uint64_t)(uintptr_t)arg;
    for (int i = 0; i < 2000; i++) {
        int n = (int)(test_random(&seed) % 1300) + 1;
        zlgi_budget_reserve(budget, (uint64_t)n);
        int n_all = atomic_fetch_add(&n_held, n) + n;
        if (n_all > LIMIT && n_all != n)
            atomic_store(&was_passed, true);
        if (i % 16 == 0)
            sched_yield();
        atomic_fetch_sub(&n_held, n);
        zlgi_budget_release(budget, (uint64_t)n);
    }
    return NULL;
}

static void test_the_budget_is_never_passed(void **state)
{
    (void)state;
    budget = zlgi_budget_new(&zlgi_default_alloc, LIMIT);
    pthread_t threads[6];
    for (size_t i = 0; i < ZLGI_COUNT(threads); i++)
        pthread_create(&threads[i], NULL, reserve_often, (void *)(uintptr_t)(i + 1));
    for (size_t i = 0; i < ZLGI_COUNT(threads); i++)
        pthread_join(threads[i], NULL);
    assert_false(atomic_load(&was_passed));
    /* All came back: a need of the whole budget is served at once. */
    zlgi_budget_reserve(budget, LIMIT);
    zlgi_budget_release(budget, LIMIT);
    zlgi_budget_free(budget);
}

static void *reserve_and_tell(void *arg)
{
    uint64_t n = (uint64_t)(uintptr_t)arg;
    zlgi_budget_reserve(budget, n);
    atomic_fetch_add(&n_served, 1);
    zlgi_budget_release(budget, n);
    return NULL;
}

static void sleep_ms(int ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000L}, NULL);
}

static void test_an_oversized_need_waits_and_is_not_overtaken(void **state)
{
    (void)state;
    budget = zlgi_budget_new(&zlgi_default_alloc, LIMIT);
    atomic_store(&n_served, 0);
    zlgi_budget_reserve(budget, 10);
    pthread_t large, small;
    pthread_create(&large, NULL, reserve_and_tell, (void *)(uintptr_t)5000);
    sleep_ms(50);
    pthread_create(&small, NULL, reserve_and_tell, (void *)(uintptr_t)1);
    sleep_ms(50);
    assert_int_equal(atomic_load(&n_served), 0);
    zlgi_budget_release(budget, 10);
    pthread_join(large, NULL);
    pthread_join(small, NULL);
    assert_int_equal(atomic_load(&n_served), 2);
    zlgi_budget_free(budget);
}

/* Who holds some may ask for more, and sees when others wait. */
static void test_more_without_waiting(void **state)
{
    (void)state;
    pthread_t thread;
    budget = zlgi_budget_new(&zlgi_default_alloc, LIMIT);
    atomic_store(&n_served, 0);
    assert_int_equal(zlgi_budget_bytes(budget), LIMIT);
    assert_true(zlgi_budget_try(budget, 600));
    assert_false(zlgi_budget_try(budget, 401));
    assert_true(zlgi_budget_try(budget, 100));
    assert_false(zlgi_budget_is_wanted(budget));
    pthread_create(&thread, NULL, reserve_and_tell, (void *)(uintptr_t)400);
    while (!zlgi_budget_is_wanted(budget))
        sched_yield();
    assert_false(zlgi_budget_try(budget, 1)); /* not before the other */
    assert_int_equal(atomic_load(&n_served), 0);
    zlgi_budget_release(budget, 700);
    pthread_join(thread, NULL);
    assert_int_equal(atomic_load(&n_served), 1);
    assert_false(zlgi_budget_is_wanted(budget));
    assert_true(zlgi_budget_try(budget, LIMIT + 1)); /* alone */
    zlgi_budget_release(budget, LIMIT + 1);
    zlgi_budget_free(budget);
}

static void test_needs_beyond_all_numbers(void **state)
{
    (void)state;
    budget = zlgi_budget_new(&zlgi_default_alloc, UINT64_MAX);
    zlgi_budget_reserve(budget, UINT64_MAX);
    zlgi_budget_reserve(budget, 0);
    zlgi_budget_release(budget, UINT64_MAX);
    zlgi_budget_free(budget);
    zlgi_budget_free(NULL);
}

static void test_a_child_starts_with_nothing_reserved(void **state)
{
    (void)state;
    budget = zlgi_budget_new(&zlgi_default_alloc, LIMIT);
    zlgi_budget_reserve(budget, LIMIT);
    pid_t child = fork();
    if (child == 0) {
        alarm(30);
        zlgi_budget_release(budget, LIMIT);
        zlgi_budget_reserve(budget, LIMIT);
        zlgi_budget_release(budget, LIMIT);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    zlgi_budget_release(budget, LIMIT);
    zlgi_budget_free(budget);
}

static void test_no_memory_is_null(void **state)
{
    (void)state;
    test_heap heap;
    test_heap_init(&heap);
    heap.fail_at = 1;
    assert_null(zlgi_budget_new(&heap.alloc, LIMIT));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_budget_is_never_passed),
        cmocka_unit_test(test_an_oversized_need_waits_and_is_not_overtaken),
        cmocka_unit_test(test_more_without_waiting),
        cmocka_unit_test(test_needs_beyond_all_numbers),
        cmocka_unit_test(test_a_child_starts_with_nothing_reserved),
        cmocka_unit_test(test_no_memory_is_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
