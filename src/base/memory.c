/*
 * Memory: the default allocator and the three calls that every block goes through.
 *
 * Knows sizes only. Large blocks come from the system in whole huge pages, because
 * touching a fresh 4 KiB page costs more than decoding into it; the rest is malloc's.
 * This is the only file that names malloc.
 */
#include <stdlib.h>

#include "base/os.h"

#if defined(__SANITIZE_ADDRESS__)
#define CHECKED_MALLOC 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CHECKED_MALLOC 1
#endif
#endif

/* AddressSanitizer sees overruns and leaks of what malloc gave, not of what was mapped. */
static bool is_mapped(size_t n_bytes)
{
#ifdef CHECKED_MALLOC
    (void)n_bytes;
    return false;
#else
    return n_bytes >= ZLGI_HUGE_PAGE;
#endif
}

/* Bytes to map for a block: whole huge pages, unless that wasted half a page or more. 0
 * when there is no such number. */
static size_t mapped_bytes(size_t n_bytes)
{
    enum { PAGE = 1 << 16 }; /* no system has larger small pages */
    size_t tail = n_bytes % ZLGI_HUGE_PAGE;
    size_t unit = tail > ZLGI_HUGE_PAGE / 2 ? ZLGI_HUGE_PAGE : PAGE;
    size_t rounded;
    if (!zlgi_add_size(n_bytes, unit - 1, &rounded))
        return 0;
    return rounded / unit * unit;
}

static void *get_block(size_t n_bytes)
{
    if (!is_mapped(n_bytes))
        return malloc(n_bytes);
    size_t n_mapped = mapped_bytes(n_bytes);
    return n_mapped == 0 ? NULL : zlgi_os_map(n_mapped);
}

static void put_block(void *block, size_t n_bytes)
{
    if (is_mapped(n_bytes))
        zlgi_os_unmap(block, mapped_bytes(n_bytes));
    else
        free(block);
}

static void *default_resize(void *self, void *block, size_t old_bytes, size_t new_bytes)
{
    (void)self;
    if (block == NULL)
        return new_bytes == 0 ? NULL : get_block(new_bytes);
    if (new_bytes == 0) {
        put_block(block, old_bytes);
        return NULL;
    }
    if (!is_mapped(old_bytes) && !is_mapped(new_bytes))
        return realloc(block, new_bytes);
    if (is_mapped(old_bytes) && is_mapped(new_bytes)) {
        size_t n_old = mapped_bytes(old_bytes), n_new = mapped_bytes(new_bytes);
        if (n_new == 0)
            return NULL;
        if (n_old == n_new || zlgi_os_remap(block, n_old, n_new))
            return block;
    }
    void *moved = get_block(new_bytes);
    if (moved == NULL)
        return NULL;
    memcpy(moved, block, ZLGI_MIN(old_bytes, new_bytes));
    put_block(block, old_bytes);
    return moved;
}

const zlgi_alloc zlgi_default_alloc = {.resize = default_resize};

void *zlgi_resize(const zlgi_alloc *alloc, void *block, size_t old_bytes, size_t new_bytes)
{
    return alloc->resize(alloc->self, block, old_bytes, new_bytes);
}

/* A block of no bytes has one, so that NULL always means failure. */
void *zlgi_new(const zlgi_alloc *alloc, size_t n_bytes)
{
    n_bytes = ZLGI_MAX(n_bytes, 1);
    void *block = zlgi_resize(alloc, NULL, 0, n_bytes);
    return block == NULL ? NULL : memset(block, 0, n_bytes);
}

void zlgi_free(const zlgi_alloc *alloc, void *block, size_t n_bytes)
{
    if (block != NULL)
        (void)zlgi_resize(alloc, block, ZLGI_MAX(n_bytes, 1), 0);
}
