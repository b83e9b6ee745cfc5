/* Clocks, cores, features of the CPU. */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "test.h"

static void test_monotonic_time_moves_on(void **state)
{
    (void)state;
    uint64_t before = zlgi_now_ns();
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    uint64_t after = zlgi_now_ns();
    assert_true(after >= before + 2000000);
    assert_true(after < before + UINT64_C(60000000000));
}

static void test_wall_time_is_that_of_the_system(void **state)
{
    (void)state;
    uint64_t seconds = zlgi_wall_ns() / 1000000000;
    uint64_t now = (uint64_t)time(NULL);
    assert_in_range(now, seconds - 2, seconds + 2);
}

static void test_cores_follow_the_affinity_mask(void **state)
{
    (void)state;
    int n_cores = zlgi_usable_cores();
    assert_in_range(n_cores, 1, sysconf(_SC_NPROCESSORS_CONF));
    cpu_set_t before, one;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    for (size_t i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &before)) {
            CPU_SET(i, &one);
            break;
        }
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(zlgi_usable_cores(), 1);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    assert_int_equal(zlgi_usable_cores(), n_cores);
}

static void test_cpu_features_are_those_of_the_compiler(void **state)
{
    (void)state;
    const zlgi_cpu *cpu = zlgi_cpu_features();
    assert_ptr_equal(cpu, zlgi_cpu_features());
#if defined(__x86_64__)
    assert_int_equal(cpu->sse42, __builtin_cpu_supports("sse4.2") != 0);
    assert_int_equal(cpu->avx2, __builtin_cpu_supports("avx2") != 0);
    assert_false(cpu->armv8_crc);
    assert_true(cpu->pclmul || !cpu->vpclmul);
#else
    assert_false(cpu->sse42 || cpu->avx2 || cpu->avx512);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_monotonic_time_moves_on),
        cmocka_unit_test(test_wall_time_is_that_of_the_system),
        cmocka_unit_test(test_cores_follow_the_affinity_mask),
        cmocka_unit_test(test_cpu_features_are_those_of_the_compiler),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
