/*
 * What every test program needs: cmocka with the headers it wants, and an allocator that
 * counts and can be told to fail.
 */
#ifndef ZELLIGE_TEST_H
#define ZELLIGE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"

/*
 * Counts calls and bytes, checks that the sizes that come back are those that were given,
 * and fails from call number `fail_at` on (0: never). One thread only.
 */
typedef struct test_heap {
    zlg_allocator alloc; /* give this to the code under test */
    size_t n_calls;      /* that asked for memory */
    size_t n_blocks;     /* alive */
    size_t n_bytes;      /* alive */
    size_t peak_bytes;
    size_t fail_at;
} test_heap;

/* Each block stands behind a note of its size. */
enum { TEST_HEAP_NOTE = 16 };

static inline void *test_heap_resize(void *self, void *block, size_t old_bytes,
                                     size_t new_bytes)
{
    test_heap *heap = self;
    uint8_t *start = block == NULL ? NULL : (uint8_t *)block - TEST_HEAP_NOTE;
    if (start == NULL) {
        assert_int_equal(old_bytes, 0);
    } else {
        size_t n_noted;
        memcpy(&n_noted, start, sizeof n_noted);
        assert_int_equal(old_bytes, n_noted);
    }
    if (new_bytes == 0) {
        free(start);
        heap->n_blocks -= start != NULL;
        heap->n_bytes -= old_bytes;
        return NULL;
    }
    heap->n_calls++;
    if (heap->fail_at != 0 && heap->n_calls >= heap->fail_at)
        return NULL;
    uint8_t *moved = realloc(start, new_bytes + TEST_HEAP_NOTE);
    if (moved == NULL)
        return NULL;
    memcpy(moved, &new_bytes, sizeof new_bytes);
    heap->n_blocks += start == NULL;
    heap->n_bytes += new_bytes - old_bytes;
    heap->peak_bytes = ZLGI_MAX(heap->peak_bytes, heap->n_bytes);
    return moved + TEST_HEAP_NOTE;
}

/* In place: the allocator points back at the heap. */
static inline void test_heap_init(test_heap *heap)
{
    *heap = (test_heap){.alloc = {.resize = test_heap_resize, .self = heap}};
}

/* The allocators of sanitizers may leave the child of a fork, made while other threads were
 * at work, with a lock that nobody gives back. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TEST_SANITIZED 1
#endif
#endif

/* A small generator of repeatable numbers (xorshift); the seed must not be 0. */
static inline uint64_t test_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

#endif
