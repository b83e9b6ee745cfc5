/*
 * From a key to a descriptor: the handle of the root, and resolving a key below it without
 * leaving it.
 *
 * The kernel does the resolving (openat2 with RESOLVE_BENEATH): a symbolic link that leads
 * out of the root is an error, not a missing key, since a missing chunk reads as fill
 * values. Where the kernel has no openat2, components are walked one by one with the same
 * outcome. Nothing here takes a lock or allocates.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__linux__) && __has_include(<linux/openat2.h>)
#include <linux/openat2.h>
#include <sys/syscall.h>
#endif

#include "store/fs.h"

int zlgi_fs_open_at(int dir, const char *path, int flags)
{
    int fd;
    do
        fd = openat(dir, path, flags | O_CLOEXEC, 0666);
    while (fd < 0 && errno == EINTR);
    return fd < 0 ? -errno : fd;
}

/* ------------------------------------------------------------------ the root */

static int open_root(const zlgi_fs *fs)
{
    int fd = zlgi_fs_open_at(AT_FDCWD, fs->path, O_PATH | O_DIRECTORY);
    return zlgi_fs_is_absent(fd) ? -ESTALE : fd;
}

int zlgi_fs_root(zlgi_fs *fs)
{
    int root = atomic_load_explicit(&fs->root, memory_order_acquire);
    if (root >= 0)
        return root;
    int fd = open_root(fs);
    if (fd < 0 || atomic_compare_exchange_strong(&fs->root, &root, fd))
        return fd;
    close(fd); /* another thread was first */
    return root;
}

/* Opens the root anew if the directory of its handle was removed: 1, else 0. */
static int renew_root(zlgi_fs *fs)
{
    int root = zlgi_fs_root(fs);
    struct stat s;
    if (root < 0)
        return root;
    if (fstat(root, &s) == 0 ? s.st_nlink > 0 : errno != ESTALE)
        return 0;
    int fd = open_root(fs);
    if (fd < 0)
        return fd;
    /* The number stays: whoever is using it meets the old directory or the new one. */
    int code = dup3(fd, root, O_CLOEXEC) < 0 ? -errno : 1;
    close(fd);
    return code;
}

/* ------------------------------------------------------------------ the walk
 *
 * Components are opened one by one, each without following a link. Where one is a link, or
 * "..", the path is rewritten and the walk begins again; what stands before the rewritten
 * place was walked through and is no link, so that ".." may be taken by its letters.
 */
enum { MAX_REWRITES = 160, REWRITTEN = INT_MIN };

/* Puts the text of a link in the place of path[start..end). */
static int splice_link(char path[PATH_MAX], size_t start, size_t end, const char *target,
                       size_t n_target)
{
    if (target[0] == '/')
        return -EXDEV;
    size_t n_rest = strlen(path + end) + 1;
    if (start + n_target + n_rest > PATH_MAX)
        return -ENAMETOOLONG;
    memmove(path + start + n_target, path + end, n_rest);
    memcpy(path + start, target, n_target);
    return REWRITTEN;
}

/* Removes ".." at path[start..end) and the component before it. */
static int splice_parent(char path[PATH_MAX], size_t start, size_t end)
{
    size_t i = start, i_end;
    do {
        while (i > 0 && path[i - 1] == '/')
            i--;
        if (i == 0)
            return -EXDEV;
        i_end = i;
        while (i > 0 && path[i - 1] != '/')
            i--;
    } while (i_end - i == 1 && path[i] == '.');
    end += path[end] == '/';
    memmove(path + i, path + end, strlen(path + end) + 1);
    return REWRITTEN;
}

static int step(int dir, char path[PATH_MAX], size_t start, size_t end, int flags)
{
    if (end - start == 2 && path[start] == '.' && path[start + 1] == '.')
        return splice_parent(path, start, end);
    char target[PATH_MAX], after = path[end];
    path[end] = '\0';
    int fd = zlgi_fs_open_at(dir, path + start, flags | O_NOFOLLOW);
    ssize_t n = -1;
    if (fd == -ELOOP || fd == -ENOTDIR)
        n = readlinkat(dir, path + start, target, sizeof(target));
    path[end] = after;
    return n < 0 ? fd : splice_link(path, start, end, target, (size_t)n);
}

/* From the root to the end of the path, or to the first rewriting. */
static int walk_once(int root, char path[PATH_MAX], int flags)
{
    int dir = root;
    for (size_t start = 0;;) {
        while (path[start] == '/' ||
               (path[start] == '.' && (path[start + 1] == '/' || path[start + 1] == '\0')))
            start++;
        size_t end = start + strcspn(path + start, "/");
        bool is_last = path[end] == '\0';
        int fd;
        if (start == end)
            fd = zlgi_fs_open_at(dir, ".", flags);
        else
            fd = step(dir, path, start, end, is_last ? flags : O_PATH | O_DIRECTORY);
        if (dir != root)
            close(dir);
        if (fd < 0 || is_last)
            return fd;
        dir = fd;
        start = end;
    }
}

static int walk(int root, const char *key, int flags)
{
    char path[PATH_MAX];
    size_t n = strlen(key) + 1;
    if (n > sizeof(path))
        return -ENAMETOOLONG;
    memcpy(path, key, n);
    for (int i = 0; i < MAX_REWRITES; i++) {
        int fd = walk_once(root, path, flags);
        if (fd != REWRITTEN)
            return fd;
    }
    return -ELOOP;
}

/* ------------------------------------------------------------------ keys */

#ifdef RESOLVE_BENEATH
static int open_beneath(int root, const char *key, int flags)
{
    struct open_how how = {.flags = (unsigned)(flags | O_CLOEXEC),
                           .resolve = RESOLVE_BENEATH};
    enum { MAX_TRIES = 100 };
    long fd = -1;
    /* EAGAIN: a rename elsewhere while ".." was being resolved. */
    for (int i = 0; i < MAX_TRIES; i++) {
        fd = syscall(SYS_openat2, root, key, &how, sizeof(how));
        if (fd >= 0 || (errno != EINTR && errno != EAGAIN))
            break;
    }
    return fd < 0 ? -errno : (int)fd;
}
#else
static int open_beneath(int root, const char *key, int flags)
{
    (void)root, (void)key, (void)flags;
    return -ENOSYS;
}
#endif

static int resolve_once(zlgi_fs *fs, int root, const char *key, int flags)
{
    if (key[0] == '\0')
        return zlgi_fs_open_at(root, ".", flags);
    if (fs->follow_links)
        return zlgi_fs_open_at(root, key, flags);
    if (!atomic_load_explicit(&fs->lacks_openat2, memory_order_relaxed)) {
        int fd = open_beneath(root, key, flags);
        /* EPERM: how some sandboxes refuse calls that they do not know. */
        if (fd != -ENOSYS && fd != -EPERM)
            return fd;
        atomic_store_explicit(&fs->lacks_openat2, true, memory_order_relaxed);
    }
    return walk(root, key, flags);
}

int zlgi_fs_resolve(zlgi_fs *fs, const char *key, int flags)
{
    int root = zlgi_fs_root(fs);
    if (root < 0)
        return root;
    int fd = key[0] != '\0' ? resolve_once(fs, root, key, flags) : -ENOENT;
    if (fd != -ENOENT && fd != -ESTALE)
        return fd;
    /* A removed root has no keys, and one made anew in its place may have this one. */
    int renewed = renew_root(fs);
    if (renewed < 0 || (renewed == 0 && key[0] != '\0'))
        return renewed < 0 ? renewed : fd;
    return resolve_once(fs, root, key, flags);
}

/* ------------------------------------------------------------------ names and errors */

bool zlgi_fs_is_absent(int code)
{
    return code == -ENOENT || code == -ENOTDIR || code == -ENAMETOOLONG;
}

zlg_status zlgi_fs_fail(int code, const char *key, zlg_error *err)
{
    char text[128];
    zlg_status status;
    switch (code) {
    case -EISDIR:
        status = zlgi_fail(err, ZLG_CORRUPT, "is a directory, not an object");
        break;
    case -ESPIPE:
        status = zlgi_fail(err, ZLG_CORRUPT, "is no regular file");
        break;
    case -ELOOP:
        status =
            zlgi_fail(err, ZLG_LIMIT, "too many symbolic links or levels of directories");
        break;
    case -EXDEV:
        status = zlgi_fail(err, ZLG_UNSUPPORTED,
                           "a symbolic link leads out of the store (option follow_links "
                           "allows that)");
        break;
    case ZLGI_FS_NO_LOCKS:
        status = zlgi_fail(err, ZLG_UNSUPPORTED,
                           "the file system has no locks (option no_locks goes without, "
                           "where nobody else writes)");
        break;
    case ZLGI_FS_GAVE_UP:
        status = zlgi_fail(err, ZLG_CANCELLED, "stopped before it was done");
        break;
    case ZLGI_FS_DIFFERS:
        status = zlgi_fail(err, ZLG_IO, "reading back gives other bytes than were written");
        break;
    case ZLGI_FS_LEADS_NOWHERE:
        status = zlgi_fail(err, ZLG_UNSUPPORTED,
                           "is a symbolic link that leads to no file of the store");
        break;
    case -ESTALE:
        return zlgi_fail(err, ZLG_IO, "its directory is gone");
    default:
        status = zlgi_fail(err, ZLG_IO, "%s", strerror_r(-code, text, sizeof(text)));
    }
    if (key[0] == '\0')
        return zlgi_within(err, status, "its directory");
    return zlgi_within(err, status, "key \"%s\"", key);
}
