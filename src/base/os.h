/*
 * os: what base, and only base, asks of the operating system. Another system means
 * another os_*.c beside these.
 */
#ifndef ZLGI_OS_H
#define ZLGI_OS_H

#include "base/base.h"

enum { ZLGI_HUGE_PAGE = 2 << 20 };

/* Zeroed memory aligned to a huge page, with huge pages asked for. NULL on failure. */
void *zlgi_os_map(size_t n_bytes);
void zlgi_os_unmap(void *block, size_t n_bytes);
/* Grows or shrinks a mapping where it lies; false when it cannot. */
bool zlgi_os_remap(void *block, size_t old_bytes, size_t new_bytes);

#endif
