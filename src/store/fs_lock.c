/*
 * Locks on files: write locks of open file descriptions (OFD), which threads of one process
 * and processes of one machine respect alike, and network file systems among machines.
 *
 * The kernel gives a lock back when the last descriptor of the description is closed, so
 * that a holder that dies holds up nobody. A child forked meanwhile has such a descriptor:
 * hence locks are given back by name. Waiting is asking again: a lock that can be waited
 * for in the kernel would need a signal to stop.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "store/fs.h"

/* Of the whole file. */
static int set_lock(int fd, short type)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET};
    int code;
    do
        code = fcntl(fd, F_OFD_SETLK, &lock) != 0 ? -errno : 0;
    while (code == -EINTR);
    return code;
}

int zlgi_fs_try_lock(const zlgi_fs *fs, int fd)
{
    int code = fs->no_locks ? 0 : set_lock(fd, F_WRLCK);
    switch (code) {
    case -EACCES:
        return -EAGAIN;
    case -EINVAL:
    case -ENOLCK:
    case -EOPNOTSUPP:
    case -ENOSYS:
        return ZLGI_FS_NO_LOCKS;
    default:
        return code;
    }
}

int zlgi_fs_lock(const zlgi_fs *fs, int fd, const zlgi_txn *txn)
{
    enum { FIRST_NS = 20 * 1000, LAST_NS = 2 * 1000 * 1000 };
    struct timespec pause = {.tv_nsec = FIRST_NS};
    int code;
    while ((code = zlgi_fs_try_lock(fs, fd)) == -EAGAIN) {
        if (zlgi_txn_gives_up(txn))
            return ZLGI_FS_GAVE_UP;
        nanosleep(&pause, NULL);
        pause.tv_nsec = ZLGI_MIN(pause.tv_nsec + pause.tv_nsec / 2, (long)LAST_NS);
    }
    return code;
}

int zlgi_fs_need_locks(zlgi_fs *fs, int fd)
{
    if (fs->no_locks || atomic_load_explicit(&fs->has_locks, memory_order_relaxed))
        return 0;
    int code = zlgi_fs_try_lock(fs, fd);
    if (code < 0)
        return code;
    set_lock(fd, F_UNLCK);
    atomic_store_explicit(&fs->has_locks, true, memory_order_relaxed);
    return 0;
}

void zlgi_fs_unlock(const zlgi_fs *fs, int fd)
{
    if (!fs->no_locks)
        set_lock(fd, F_UNLCK);
    close(fd);
}
