/* An allocator that counts, from any thread. */
#ifndef ZELLIGE_TEST_HEAP_H
#define ZELLIGE_TEST_HEAP_H

#include <pthread.h>

#include "test.h"

/* Counts calls and bytes alive, from any thread. */
typedef struct shared_heap {
    zlg_allocator alloc;
    pthread_mutex_t lock;
    size_t n_calls, n_bytes, peak_bytes;
} shared_heap;

static inline void *shared_resize(void *self, void *block, size_t old_bytes,
                                  size_t new_bytes)
{
    shared_heap *heap = self;
    pthread_mutex_lock(&heap->lock);
    heap->n_calls += new_bytes > 0;
    /* Where a block cannot grow in place there are two of it for a while. */
    heap->peak_bytes = ZLGI_MAX(heap->peak_bytes, heap->n_bytes + new_bytes);
    heap->n_bytes += new_bytes - old_bytes;
    pthread_mutex_unlock(&heap->lock);
    if (new_bytes == 0) {
        free(block);
        return NULL;
    }
    return realloc(block, new_bytes);
}

#endif
