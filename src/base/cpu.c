/*
 * Features of this CPU, found once per process; kernels choose their form by them.
 */
#include <pthread.h>

#include "base/base.h"

#if defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

static zlgi_cpu features;
static pthread_once_t found = PTHREAD_ONCE_INIT;

static void find_features(void)
{
#if defined(__x86_64__) || defined(__i386__)
    features.sse42 = __builtin_cpu_supports("sse4.2");
    features.avx2 = __builtin_cpu_supports("avx2");
    features.avx512 = __builtin_cpu_supports("avx512f") &&
                      __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512vl");
    features.pclmul = __builtin_cpu_supports("pclmul");
    features.vpclmul = __builtin_cpu_supports("vpclmulqdq");
#elif defined(__aarch64__) && defined(__linux__)
    features.armv8_crc = (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
#endif
}

const zlgi_cpu *zlgi_cpu_features(void)
{
    pthread_once(&found, find_features);
    return &features;
}
