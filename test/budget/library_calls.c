/*
 * Label: engine
 * How often codec libraries ask for memory of their own when chunks are decoded, as
 * docs/design/codec.md lists it. Memory of ours comes from the allocator of the context and
 * is not counted here; malloc and its kin are, from wherever they are called.
 */
#define _GNU_SOURCE
#include "../fault/fault.h"
#include "heap.h"

#include <errno.h>
#include <malloc.h>

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define COUNTS 1
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                 \
    __has_feature(memory_sanitizer)
#undef COUNTS
#endif
#endif

static size_t n_mallocs; /* atomic */

#ifdef COUNTS
extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_memalign(size_t alignment, size_t n);
extern void *__libc_realloc(void *memory, size_t n);

__attribute__((visibility("default"))) void *malloc(size_t n)
{
    __atomic_fetch_add(&n_mallocs, 1, __ATOMIC_RELAXED);
    return __libc_malloc(n);
}

__attribute__((visibility("default"))) void *calloc(size_t n, size_t size)
{
    __atomic_fetch_add(&n_mallocs, 1, __ATOMIC_RELAXED);
    return __libc_calloc(n, size);
}

__attribute__((visibility("default"))) void *realloc(void *memory, size_t n)
{
    __atomic_fetch_add(&n_mallocs, 1, __ATOMIC_RELAXED);
    return __libc_realloc(memory, n);
}

__attribute__((visibility("default"))) void *memalign(size_t alignment, size_t n)
{
    __atomic_fetch_add(&n_mallocs, 1, __ATOMIC_RELAXED);
    return __libc_memalign(alignment, n);
}

__attribute__((visibility("default"))) void *aligned_alloc(size_t alignment, size_t n)
{
    return memalign(alignment, n);
}

__attribute__((visibility("default"))) int posix_memalign(void **out, size_t alignment,
                                                          size_t n)
{
    void *memory = memalign(alignment, n);
    if (memory)
        *out = memory;
    return memory ? 0 : ENOMEM;
}
#endif

enum { N_CHUNKS = 64, CHUNK = 1024 };

/* Of one chunk: whatever a call takes once is spread over all. */
static void check_calls(const char *codecs, size_t expected)
{
    shared_heap heap = {.lock = PTHREAD_MUTEX_INITIALIZER};
    zlg_ctx_options options = ZLG_CTX_OPTIONS_INIT;
    zlg_ctx *ctx;
    zlg_store *store;
    static float elements[N_CHUNKS * CHUNK], out[N_CHUNKS * CHUNK];
    for (int i = 0; i < N_CHUNKS * CHUNK; i++)
        elements[i] = (float)(i % 700) * 0.5f;
    options.allocator = (zlg_allocator){.resize = shared_resize, .self = &heap};
    options.n_threads = 1;
    MUST(zlg_ctx_new(&options, &ctx, err_));
    MUST(zlg_store_open_memory(ctx, &store, err_));
    zlg_array *array =
        put_array(store, "", "[65536]", "\"float32\"", REGULAR("[1024]"), "0", codecs);
    MUST(zlg_array_write(array, NULL, &(zlg_source){.data = elements}, NULL, err_));
    size_t n = 0;
    for (int round = 0; round < 3; round++) {
        size_t before = __atomic_load_n(&n_mallocs, __ATOMIC_RELAXED);
        MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, NULL, err_));
        n = __atomic_load_n(&n_mallocs, __ATOMIC_RELAXED) - before;
    }
    if (n / N_CHUNKS != expected)
        fail_msg("%s: %zu calls for %d chunks, %zu of each expected", codecs, n, N_CHUNKS,
                 expected);
    zlg_array_close(array);
    zlg_store_close(store);
    zlg_ctx_close(ctx);
}

#define LITTLE "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}"
#define BLOSC(name)                                                                        \
    "[" LITTLE ",{\"name\":\"blosc\",\"configuration\":{\"cname\":\"" name                 \
    "\",\"clevel\":5,\"shuffle\":\"shuffle\",\"typesize\":4,\"blocksize\":0}}]"
#define WITH(name) "[" LITTLE ",{\"name\":\"" name "\",\"configuration\":{}}]"

static void test_calls_of_libraries(void **state)
{
    (void)state;
    void *volatile probe = malloc(1);
    free(probe);
    if (n_mallocs == 0)
        skip(); /* somebody else stands in for malloc: a sanitizer, valgrind */
    check_calls("[" LITTLE ",{\"name\":\"zstd\",\"configuration\":{\"level\":1}}]", 0);
    check_calls("[" LITTLE ",{\"name\":\"gzip\",\"configuration\":{\"level\":1}}]", 0);
    check_calls(WITH("numcodecs.lz4"), 0);
#if ZELLIGE_HAVE_BLOSC
    check_calls(BLOSC("lz4"), 0);
    check_calls(BLOSC("zstd"), 0);
    check_calls(BLOSC("zlib"), 0);
    check_calls(BLOSC("blosclz"), 1);
#endif
#if ZELLIGE_HAVE_BZ2
    check_calls(WITH("numcodecs.bz2"), 2);
#endif
#if ZELLIGE_HAVE_LZMA
    check_calls(WITH("numcodecs.lzma"), 1);
#endif
#if ZELLIGE_HAVE_ZFP
    check_calls(
        "[{\"name\":\"numcodecs.zfpy\",\"configuration\":{\"mode\":4,\"tolerance\":0.01}}]",
        3);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_calls_of_libraries)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
