/*
 * Directories whose changed names must still be made lasting: each once, at the end of a
 * call. A handle of the directory is held, so that it may be renamed meanwhile; as few are
 * held as a call seldom needs, and the oldest is synced when there is no room.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/fs.h"

enum { MAX_HELD = 32 };

typedef struct held {
    dev_t device;
    ino_t inode;
    int fd;
} held;

struct zlgi_syncs {
    const zlgi_alloc *alloc;
    pthread_mutex_t lock;
    int n, oldest; /* of a ring */
    held dirs[MAX_HELD];
};

zlgi_syncs *zlgi_syncs_new(const zlgi_alloc *alloc)
{
    zlgi_syncs *syncs = zlgi_new(alloc, sizeof(*syncs));
    if (syncs == NULL)
        return NULL;
    syncs->alloc = alloc;
    if (pthread_mutex_init(&syncs->lock, NULL) != 0) {
        zlgi_free(alloc, syncs, sizeof(*syncs));
        return NULL;
    }
    return syncs;
}

/* Takes one out; -1 when there is none. */
static int take(zlgi_syncs *syncs)
{
    if (syncs->n == 0)
        return -1;
    int fd = syncs->dirs[syncs->oldest].fd;
    syncs->oldest = (syncs->oldest + 1) % MAX_HELD;
    syncs->n--;
    return fd;
}

void zlgi_syncs_free(zlgi_syncs *syncs)
{
    if (syncs == NULL)
        return;
    for (int fd; (fd = take(syncs)) >= 0;)
        close(fd);
    pthread_mutex_destroy(&syncs->lock);
    zlgi_free(syncs->alloc, syncs, sizeof(*syncs));
}

/* Takes the descriptor over. */
static int sync_and_close(int fd)
{
    int code;
    do
        code = fsync(fd) != 0 ? -errno : 0;
    while (code == -EINTR);
    close(fd);
    return code;
}

static bool is_held(const zlgi_syncs *syncs, const struct stat *s)
{
    for (int i = 0; i < syncs->n; i++) {
        const held *h = &syncs->dirs[(syncs->oldest + i) % MAX_HELD];
        if (h->device == s->st_dev && h->inode == s->st_ino)
            return true;
    }
    return false;
}

/* *out_old: what had to make room, or -1. */
static int hold(zlgi_syncs *syncs, int dir, int *out_old)
{
    struct stat s;
    *out_old = -1;
    if (fstat(dir, &s) != 0)
        return -errno;
    if (is_held(syncs, &s))
        return 0;
    int fd = zlgi_fs_open_at(dir, ".", O_RDONLY | O_DIRECTORY);
    if (fd < 0)
        return fd;
    if (syncs->n == MAX_HELD)
        *out_old = take(syncs);
    syncs->dirs[(syncs->oldest + syncs->n++) % MAX_HELD] =
        (held){.device = s.st_dev, .inode = s.st_ino, .fd = fd};
    return 0;
}

int zlgi_fs_note(zlgi_syncs *syncs, int dir)
{
    if (syncs == NULL) {
        int fd = zlgi_fs_open_at(dir, ".", O_RDONLY | O_DIRECTORY);
        return fd < 0 ? fd : sync_and_close(fd);
    }
    int old;
    pthread_mutex_lock(&syncs->lock);
    int code = hold(syncs, dir, &old);
    pthread_mutex_unlock(&syncs->lock);
    if (old >= 0)
        code = sync_and_close(old);
    return code;
}

zlg_status zlgi_fs_sync(zlg_store *store, zlgi_syncs *syncs, zlg_error *err)
{
    (void)store;
    int code = 0;
    for (int fd; (fd = take(syncs)) >= 0;) {
        int one = sync_and_close(fd);
        code = code < 0 ? code : one;
    }
    char text[128];
    return code == 0 ? ZLG_OK
                     : zlgi_fail(err, ZLG_IO, "syncing a directory: %s",
                                 strerror_r(-code, text, sizeof(text)));
}
