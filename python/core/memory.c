/*
 * Memory of results. Touching 64 KiB that the process never had costs 27 us in pages of
 * 4 KiB, as malloc gives them, 6 us in huge pages of 2 MiB, and 2.3 us where memory was
 * used before; reading the chunk itself takes some 50 us. So results from 4 KiB to 4 MiB
 * come from regions of 8 MiB that ask for huge pages (above, NumPy asks for them itself),
 * and lie at the lowest free run of 4 KiB pages, which most likely was used before. Runs
 * of any length share a region: many sizes waste no more than one size does.
 *
 * A region that has no room for a run leaves the list of those looked into until a run in
 * it comes back, so a search fails once per run at most. Two empty regions are kept, the
 * rest is unmapped. All this happens under the GIL. A child of a fork has its own copy of
 * regions and bookkeeping alike. Knows no array: a Memory exports bytes, and gives its
 * run back when the last array on it is gone.
 */
#define _GNU_SOURCE
#include "core.h"

#include <sys/mman.h>

enum {
    PAGE = 4 << 10,
    HUGE_PAGE = 2 << 20,
    REGION = 8 << 20,
    N_PAGES = REGION / PAGE,
    N_WORDS = N_PAGES / 64,
    LEAST = PAGE,
    MOST = 4 << 20, /* exclusive */
};

struct core_region {
    core_region *next, *previous; /* among those with room */
    bool has_room;
    void *mapping; /* a huge page longer than the region, which lies aligned in it */
    char *pages;
    size_t n_used;
    uint64_t used[N_WORDS]; /* a bit for each page */
};

typedef struct core_memory {
    PyObject ob_base;
    PyObject *module; /* keeps the pool */
    core_region *region;
    char *data;
    size_t n_bytes;
} core_memory;

/* ---------------------------------------------------------------------- runs of pages */

static size_t n_pages_of(size_t n_bytes)
{
    return (n_bytes + PAGE - 1) / PAGE;
}

/* The first page from `at` on that is used, or is free; N_PAGES if there is none. */
static size_t next_page(const core_region *region, size_t at, bool used)
{
    uint64_t flip = used ? 0 : UINT64_MAX, mask = UINT64_MAX << at % 64;
    for (size_t i = at / 64; i < N_WORDS; i++) {
        uint64_t found = (region->used[i] ^ flip) & mask;
        if (found != 0)
            return i * 64 + (size_t)__builtin_ctzll(found);
        mask = UINT64_MAX;
    }
    return N_PAGES;
}

/* The lowest free run of n pages; N_PAGES if there is none. */
static size_t find_run(const core_region *region, size_t n)
{
    size_t start = next_page(region, 0, false);
    while (start + n <= N_PAGES) {
        size_t end = next_page(region, start, true);
        if (end - start >= n)
            return start;
        start = next_page(region, end, false);
    }
    return N_PAGES;
}

/* Makes free pages used, or used ones free. */
static void flip_run(core_region *region, size_t start, size_t n)
{
    while (n > 0) {
        size_t bit = start % 64, n_here = n < 64 - bit ? n : 64 - bit;
        region->used[start / 64] ^= UINT64_MAX >> (64 - n_here) << bit;
        start += n_here;
        n -= n_here;
    }
}

/* ---------------------------------------------------------------------- regions */

static void link_region(core_pool *pool, core_region *region)
{
    region->has_room = true;
    region->previous = NULL;
    region->next = pool->regions;
    if (region->next != NULL)
        region->next->previous = region;
    pool->regions = region;
}

static void unlink_region(core_pool *pool, core_region *region)
{
    region->has_room = false;
    if (region->previous != NULL)
        region->previous->next = region->next;
    else
        pool->regions = region->next;
    if (region->next != NULL)
        region->next->previous = region->previous;
}

static core_region *map_region(void)
{
    core_region *region = PyMem_Calloc(1, sizeof *region);
    if (region == NULL)
        return NULL;
    region->mapping = mmap(NULL, REGION + HUGE_PAGE, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (region->mapping == MAP_FAILED) {
        PyMem_Free(region);
        return NULL;
    }
#ifdef MADV_HUGEPAGE
    (void)madvise(region->mapping, REGION + HUGE_PAGE, MADV_HUGEPAGE);
#endif
    size_t past = (uintptr_t)region->mapping % HUGE_PAGE;
    region->pages = (char *)region->mapping + (past > 0 ? HUGE_PAGE - past : 0);
    return region;
}

static void unmap_region(core_region *region)
{
    munmap(region->mapping, REGION + HUGE_PAGE);
    PyMem_Free(region);
}

/* A region with room for n pages, which begin at page `out_start`. NULL on failure. */
static core_region *region_with_room(core_pool *pool, size_t n, size_t *out_start)
{
    while (pool->regions != NULL) {
        *out_start = find_run(pool->regions, n);
        if (*out_start < N_PAGES)
            return pool->regions;
        unlink_region(pool, pool->regions);
    }
    core_region *region = pool->n_empty > 0 ? pool->empty[--pool->n_empty] : map_region();
    if (region != NULL)
        link_region(pool, region);
    *out_start = 0;
    return region;
}

/* Makes self->n_bytes of memory used. False where there is none. */
static bool take_run(core_pool *pool, core_memory *self)
{
    size_t n = n_pages_of(self->n_bytes), start;
    self->region = region_with_room(pool, n, &start);
    if (self->region == NULL)
        return false;
    flip_run(self->region, start, n);
    self->region->n_used += n;
    self->data = self->region->pages + start * PAGE;
    return true;
}

static void give_run(core_pool *pool, core_memory *self)
{
    core_region *region = self->region;
    size_t n = n_pages_of(self->n_bytes);
    flip_run(region, (size_t)(self->data - region->pages) / PAGE, n);
    region->n_used -= n;
    if (!region->has_room)
        link_region(pool, region);
    if (region->n_used > 0)
        return;
    unlink_region(pool, region);
    if (pool->n_empty < CORE_MAX_EMPTY)
        pool->empty[pool->n_empty++] = region;
    else
        unmap_region(region);
}

void core_pool_reset(core_pool *pool)
{
    while (pool->n_empty > 0)
        unmap_region(pool->empty[--pool->n_empty]);
}

/* ---------------------------------------------------------------------- the type */

PyObject *core_memory_new(PyObject *module, size_t n_bytes, void **out_data)
{
    core_state *state = core_state_of(module);
    if (n_bytes < LEAST || n_bytes >= MOST)
        return NULL;
    core_memory *self = core_new(state->memory_type, state->memory_type);
    if (self == NULL) {
        PyErr_Clear();
        return NULL;
    }
    self->n_bytes = n_bytes;
    if (!take_run(&state->pool, self)) {
        core_delete((PyObject *)self);
        return NULL;
    }
    self->module = Py_NewRef(module);
    *out_data = self->data;
    return (PyObject *)self;
}

static void memory_delete(PyObject *object)
{
    core_memory *self = (core_memory *)object;
    give_run(&core_state_of(self->module)->pool, self);
    Py_CLEAR(self->module);
    core_delete(object);
}

static int memory_buffer(PyObject *object, Py_buffer *view, int flags)
{
    core_memory *self = (core_memory *)object;
    return PyBuffer_FillInfo(view, object, self->data, (Py_ssize_t)self->n_bytes, 0, flags);
}

static PyType_Slot slots[] = {
    {Py_tp_doc, CORE_SLOT("What the array of a result lies in.")},
    {Py_tp_dealloc, CORE_SLOT(memory_delete)},
    {Py_bf_getbuffer, CORE_SLOT(memory_buffer)},
    {0, NULL},
};

PyType_Spec core_memory_spec = {
    .name = "zellige._core.Memory",
    .basicsize = sizeof(core_memory),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};
