/*
 * os: what base asks of the operating system, and only base. Another system means another
 * os_*.c beside these.
 */
#ifndef ZLGI_OS_H
#define ZLGI_OS_H

#include <stdatomic.h>

#include "base/base.h"

enum { ZLGI_HUGE_PAGE = 2 << 20 };

/* Zeroed memory aligned to a huge page, with huge pages asked for. NULL on failure. */
void *zlgi_os_map(size_t n_bytes);
void zlgi_os_unmap(void *block, size_t n_bytes);
/* Grows or shrinks a mapping where it lies; false when it cannot. */
bool zlgi_os_remap(void *block, size_t old_bytes, size_t new_bytes);

/*
 * Tells a forked child from the process that made the mark. Whoever holds locks and
 * threads asks on each entry:
 *
 *     if (zlgi_fork_enter(mark)) { make everything new; zlgi_fork_leave(mark); }
 *
 * enter is true in a child, once, for one thread; the others wait until it has left.
 * It touches no lock. In the process that made the mark it costs one load.
 */
typedef struct zlgi_fork_mark {
    _Atomic uint64_t *owner; /* on a page that the kernel zeroes in a child */
    bool is_wiped;           /* false: the kernel cannot; the process number tells */
} zlgi_fork_mark;
bool zlgi_fork_mark_init(zlgi_fork_mark *mark);
void zlgi_fork_mark_reset(zlgi_fork_mark *mark);
bool zlgi_fork_enter(const zlgi_fork_mark *mark);
void zlgi_fork_leave(const zlgi_fork_mark *mark);

#endif
