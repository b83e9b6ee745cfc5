/*
 * Files without a name, for what memory does not hold: gone when they are closed, whatever
 * becomes of the process.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/base.h"

enum { MAX_PATH = 4096 };

static zlg_status fail(const char *what, zlg_error *err)
{
    char text[128];
    return zlgi_fail(err, ZLG_IO, "%s a file without a name: %s", what,
                     strerror_r(errno, text, sizeof text));
}

/* Where the file system cannot, it is made with a name that is removed at once. */
static int open_removed(const char *directory)
{
    char path[MAX_PATH];
    int n = snprintf(path, sizeof path, "%s/" ZLGI_NAMELESS "XXXXXX", directory);
    if (n < 0 || n >= MAX_PATH) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

zlg_status zlgi_file_open_nameless(const char *directory, int *out, zlg_error *err)
{
    int fd = -1;
#ifdef O_TMPFILE
    fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);
#endif
    if (fd < 0)
        fd = open_removed(directory);
    if (fd < 0)
        return fail("making", err);
    *out = fd;
    return ZLG_OK;
}

void zlgi_file_close(int file)
{
    close(file);
}

zlg_status zlgi_file_write_at(int file, const void *data, size_t n, uint64_t offset,
                              zlg_error *err)
{
    const uint8_t *bytes = data;
    while (n > 0) {
        ssize_t done = pwrite(file, bytes, n, (off_t)offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return fail("writing", err);
        bytes += done;
        offset += (uint64_t)done;
        n -= (size_t)done;
    }
    return ZLG_OK;
}

zlg_status zlgi_file_read_at(int file, void *data, size_t n, uint64_t offset,
                             zlg_error *err)
{
    uint8_t *bytes = data;
    while (n > 0) {
        ssize_t done = pread(file, bytes, n, (off_t)offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return fail("reading", err);
        if (done == 0)
            return zlgi_fail(err, ZLG_IO, "a file without a name ends too soon");
        bytes += done;
        offset += (uint64_t)done;
        n -= (size_t)done;
    }
    return ZLG_OK;
}
