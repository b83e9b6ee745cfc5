/*
 * Temporary files: an object is written beside its place and named when it is finished.
 *
 * A temporary file has a name of its own. Its writer holds a lock on it all the while, by
 * which a sweeper knows that the writer lives. Only a sweeper that comes between the making
 * and the locking takes one away; the link count tells. What is promised of the bytes is
 * done here, before they have the object's name.
 *
 * Quicker is a file that has no name until then: nobody can meet it, so that it needs no
 * lock, and a crash leaves nothing of it. It is for new objects only, which a link can
 * name, and never for what must last: btrfs does not sync a file that no name leads to.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "store/fs.h"

bool zlgi_fs_is_temporary(const char *name)
{
    return strncmp(name, ZLGI_FS_TEMPORARY, strlen(ZLGI_FS_TEMPORARY)) == 0;
}

/* ------------------------------------------------------------------ making */

/* A number for a name that nobody else uses: counted up from a random one. Forked children
 * count from the same; `again` says that the last number was taken. */
static int next_number(zlgi_fs *fs, bool again, uint64_t *out)
{
    uint64_t last = atomic_load_explicit(&fs->last_temporary, memory_order_relaxed);
    if (again || last == 0) {
        if (getentropy(&last, sizeof(last)) != 0)
            return -errno;
        atomic_store_explicit(&fs->last_temporary, last, memory_order_relaxed);
    }
    *out = atomic_fetch_add_explicit(&fs->last_temporary, 1, memory_order_relaxed) + 1;
    return 0;
}

/* Locked and still there: 1. 0: a sweeper was faster. */
static int claim(const zlgi_fs *fs, int fd)
{
    struct stat s;
    int code = zlgi_fs_try_lock(fs, fd);
    if (code < 0)
        return code == -EAGAIN ? 0 : code;
    return fstat(fd, &s) != 0 ? -errno : s.st_nlink > 0;
}

int zlgi_fs_temporary_make(zlgi_fs *fs, int dir, zlgi_fs_temporary *out)
{
    enum { MAX_TRIES = 100 };
    int code = -EEXIST;
    for (int i = 0; i < MAX_TRIES && (code == -EEXIST || code == 0); i++) {
        uint64_t number = 0;
        code = next_number(fs, code == -EEXIST && i > 0, &number);
        if (code < 0)
            return code;
        snprintf(out->name, sizeof(out->name), "%s%016llx", ZLGI_FS_TEMPORARY,
                 (unsigned long long)number);
        out->fd = zlgi_fs_open_at(dir, out->name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW);
        code = out->fd < 0 ? out->fd : claim(fs, out->fd);
        if (code > 0)
            return 0;
        if (out->fd < 0)
            continue;
        if (code < 0)
            unlinkat(dir, out->name, 0);
        zlgi_fs_unlock(fs, out->fd);
    }
    return code < 0 ? code : -EAGAIN;
}

/* ------------------------------------------------------------------ without a name */

int zlgi_fs_nameless_make(zlgi_fs *fs, int dir)
{
    int fd = zlgi_fs_open_at(dir, ".", O_RDWR | O_TMPFILE);
    int code = fd < 0 ? fd : zlgi_fs_need_locks(fs, fd);
    if (fd >= 0 && code < 0)
        close(fd);
    return code < 0 ? code : fd;
}

/* By the link that /proc has for each descriptor: any process may use it. */
int zlgi_fs_nameless_link(int fd, int dir, const char *name)
{
    char path[32];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, path, dir, name, AT_SYMLINK_FOLLOW) != 0 ? -errno : 0;
}

zlg_status zlgi_fs_stage(zlg_store *store, int *out, zlg_error *err)
{
    zlgi_fs *fs = (zlgi_fs *)store;
    int root = zlgi_fs_root(fs);
    int fd = root < 0 ? root : zlgi_fs_nameless_make(fs, root);
    if (fd < 0)
        return zlgi_fs_fail(fd, "", err);
    *out = fd;
    return ZLG_OK;
}

int zlgi_fs_temporary_link(zlgi_fs *fs, int dir, int fd, zlgi_fs_temporary *out)
{
    uint64_t number = 0;
    int code = next_number(fs, false, &number);
    if (code < 0)
        return code;
    snprintf(out->name, sizeof(out->name), "%s%016llx", ZLGI_FS_TEMPORARY,
             (unsigned long long)number);
    out->fd = fd;
    code = zlgi_fs_try_lock(fs, fd); /* sweepers leave it alone from the beginning */
    return code < 0 ? code : zlgi_fs_nameless_link(fd, dir, out->name);
}

/* ------------------------------------------------------------------ bytes */

int zlgi_fs_fill_staged(int fd, const zlgi_bytes *parts, int n_parts)
{
    uint64_t offset = 0;
    for (int i = 0; i < n_parts; i++) {
        if (parts[i].data &&
            zlgi_file_write_at(fd, parts[i].data, parts[i].n, offset, NULL) != ZLG_OK)
            return -EIO;
        offset += parts[i].n;
    }
    return ftruncate(fd, (off_t)offset) != 0 ? -errno : 0;
}

static int write_parts(int fd, const zlgi_bytes *parts, int n_parts)
{
    struct iovec vectors[64];
    size_t n_skipped = 0; /* bytes of parts[0] that are written */
    while (n_parts > 0) {
        int n = ZLGI_MIN(n_parts, (int)ZLGI_COUNT(vectors));
        for (int i = 0; i < n; i++)
            vectors[i] = (struct iovec){(void *)parts[i].data, parts[i].n};
        if (n_skipped > 0)
            vectors[0] =
                (struct iovec){(void *)(parts[0].data + n_skipped), parts[0].n - n_skipped};
        ssize_t got = writev(fd, vectors, n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -errno;
        n_skipped += (size_t)got;
        int n_before = n_parts;
        while (n_parts > 0 && n_skipped >= parts->n) {
            n_skipped -= parts->n;
            parts++, n_parts--;
        }
        if (got == 0 && n_parts == n_before)
            return -EIO;
    }
    return 0;
}

/* Some file systems tell only at a close that the bytes did not arrive. The descriptor that
 * holds the lock, or the nameless file, stays. */
static int check_close(int fd)
{
    int code;
    do {
        int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
        code = copy < 0 || close(copy) != 0 ? -errno : 0;
    } while (code == -EINTR);
    return code;
}

/* Called once: after a failure the kernel may have dropped the bytes, and a second call
 * would succeed without them. A signal is no failure. */
static int sync_bytes(int fd)
{
    int code;
    do
        code = fsync(fd) != 0 ? -errno : 0;
    while (code == -EINTR);
    return code;
}

static int compare_part(int fd, off_t offset, const zlgi_bytes *part)
{
    uint8_t bytes[32768];
    for (size_t n_done = 0; n_done < part->n;) {
        size_t n_call = ZLGI_MIN(part->n - n_done, sizeof(bytes));
        ssize_t got = pread(fd, bytes, n_call, offset + (off_t)n_done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -errno;
        if (got == 0 || memcmp(bytes, part->data + n_done, (size_t)got) != 0)
            return ZLGI_FS_DIFFERS;
        n_done += (size_t)got;
    }
    return 0;
}

/* From the device, as far as the system can be asked to forget what it holds. */
static int read_back(int fd, const zlgi_bytes *parts, int n_parts)
{
    off_t offset = 0;
    int code = 0;
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    for (int i = 0; i < n_parts && code == 0; i++) {
        code = compare_part(fd, offset, &parts[i]);
        offset += (off_t)parts[i].n;
    }
    struct stat s;
    if (code == 0 && fstat(fd, &s) != 0)
        code = -errno;
    return code == 0 && s.st_size != offset ? ZLGI_FS_DIFFERS : code;
}

int zlgi_fs_fill(int fd, const zlgi_bytes *parts, int n_parts, zlg_promise promise)
{
    int code = write_parts(fd, parts, n_parts);
    if (code == 0 && promise >= ZLG_DURABLE)
        code = sync_bytes(fd);
    if (code == 0 && promise >= ZLG_VERIFIED)
        code = read_back(fd, parts, n_parts);
    return code == 0 ? check_close(fd) : code;
}
