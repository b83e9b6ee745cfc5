/*
 * The operating system, as far as POSIX goes: clocks and the mark that a fork clears.
 * What only Linux has stands in os_linux.c.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/os.h"

static uint64_t read_clock(clockid_t clock)
{
    struct timespec t;
    if (clock_gettime(clock, &t) != 0)
        return 0;
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

uint64_t zlgi_now_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

uint64_t zlgi_wall_ns(void)
{
    return read_clock(CLOCK_REALTIME);
}

/* ------------------------------------------------------------------ fork
 *
 * The word holds the number of the process that owns the mark; 0 after the kernel wiped
 * it; with ENTERING set while one thread of a child makes everything new. Kernels without
 * MADV_WIPEONFORK leave the parent's number, which differs from the child's.
 */
#define ENTERING (UINT64_C(1) << 63)

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static uint64_t process_number(void)
{
    return (uint64_t)getpid();
}

bool zlgi_fork_mark_init(zlgi_fork_mark *mark)
{
    void *page = mmap(NULL, page_bytes(), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return false;
    mark->owner = page;
    mark->is_wiped = false;
#ifdef MADV_WIPEONFORK
    mark->is_wiped = madvise(page, page_bytes(), MADV_WIPEONFORK) == 0;
#endif
    atomic_store(mark->owner, process_number());
    return true;
}

void zlgi_fork_mark_reset(zlgi_fork_mark *mark)
{
    munmap((void *)mark->owner, page_bytes());
    mark->owner = NULL;
}

bool zlgi_fork_enter(const zlgi_fork_mark *mark)
{
    for (;;) {
        uint64_t owner = atomic_load_explicit(mark->owner, memory_order_acquire);
        if (mark->is_wiped && owner != 0 && (owner & ENTERING) == 0)
            return false;
        uint64_t self = process_number();
        if (owner == self)
            return false;
        if (owner == (self | ENTERING))
            sched_yield();
        else if (atomic_compare_exchange_strong(mark->owner, &owner, self | ENTERING))
            return true;
    }
}

void zlgi_fork_leave(const zlgi_fork_mark *mark)
{
    atomic_store_explicit(mark->owner, process_number(), memory_order_release);
}
