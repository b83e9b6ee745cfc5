/*
 * Changing a directory: put, remove, remove a tree.
 *
 * An object is written beside its place under a temporary name and renamed over it, so
 * that a reader sees the old object or the new one, and a failure leaves the old one. A
 * process that dies in between leaves a temporary file; it is no key and is never listed.
 * Nothing is synced: after a power loss a new object may be missing or empty.
 *
 * All names are taken relative to the handle of their directory: no link that somebody
 * sets meanwhile leads a write elsewhere.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "store/fs.h"

/* A directory may be removed while an object is put into it; then it is made anew. */
enum { MAX_TRIES = 100 };

static const char *last_segment(const char *key)
{
    const char *slash = strrchr(key, '/');
    return slash != NULL ? slash + 1 : key;
}

static zlg_status check_writable(const zlgi_fs *fs, zlg_error *err)
{
    if (!fs->read_only)
        return ZLG_OK;
    return zlgi_fail(err, ZLG_USAGE, "the store \"%s\" was opened for reading only",
                     fs->base.label);
}

static zlg_status check_change(const zlgi_fs *fs, const char *key, zlg_error *err)
{
    ZLGI_TRY(check_writable(fs, err));
    ZLGI_TRY(zlgi_key_check(key, err));
    for (const char *segment = key; segment != NULL; segment = strchr(segment, '/')) {
        segment += *segment == '/';
        if (zlgi_fs_is_temporary(segment))
            return zlgi_fail(err, ZLG_USAGE, "key \"%s\": names in %s* are reserved", key,
                             ZLGI_FS_TEMPORARY);
    }
    return ZLG_OK;
}

/* ------------------------------------------------------------------ directories */

/* Opens a directory, made where it is missing in the one `above`. */
static int open_or_make(zlgi_fs *fs, int above, const char *path)
{
    int dir = zlgi_fs_resolve(fs, path, O_PATH | O_DIRECTORY);
    if (dir != -ENOENT)
        return dir;
    if (mkdirat(above, last_segment(path), 0777) != 0 && errno != EEXIST)
        return -errno;
    return zlgi_fs_resolve(fs, path, O_PATH | O_DIRECTORY);
}

static int make_parents(zlgi_fs *fs, char path[PATH_MAX])
{
    int dir = zlgi_fs_resolve(fs, "", O_PATH | O_DIRECTORY);
    for (size_t end = 0; dir >= 0 && (end == 0 || path[end] == '/');) {
        end += strcspn(path + end + 1, "/") + 1;
        char after = path[end];
        path[end] = '\0';
        int next = open_or_make(fs, dir, path);
        path[end] = after;
        close(dir);
        dir = next;
    }
    return dir;
}

/* The directory that holds a key. */
static int open_parent(zlgi_fs *fs, const char *key, bool make)
{
    char path[PATH_MAX];
    size_t n = (size_t)(last_segment(key) - key);
    if (n > sizeof(path))
        return -ENAMETOOLONG;
    n -= n > 0; /* the slash */
    memcpy(path, key, n);
    path[n] = '\0';
    int dir = zlgi_fs_resolve(fs, path, O_PATH | O_DIRECTORY);
    return dir == -ENOENT && make && n > 0 ? make_parents(fs, path) : dir;
}

/* ------------------------------------------------------------------ put */

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

static int put_into(int dir, const char *name, const zlgi_bytes *parts, int n_parts)
{
    uint64_t number;
    char temporary[sizeof(ZLGI_FS_TEMPORARY) + 16];
    if (getentropy(&number, sizeof(number)) != 0)
        return -errno;
    snprintf(temporary, sizeof(temporary), "%s%016llx", ZLGI_FS_TEMPORARY,
             (unsigned long long)number);
    int fd = zlgi_fs_open_at(dir, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
    if (fd < 0)
        return fd;
    int code = write_parts(fd, parts, n_parts);
    /* Some file systems tell only here that the bytes did not arrive. */
    if (close(fd) != 0 && code == 0)
        code = -errno;
    if (code == 0 && renameat(dir, temporary, dir, name) != 0)
        code = -errno;
    if (code != 0)
        unlinkat(dir, temporary, 0);
    return code;
}

zlg_status zlgi_fs_put(zlg_store *store, const char *key, const zlgi_bytes *parts,
                       int n_parts, zlg_error *err)
{
    zlgi_fs *fs = (zlgi_fs *)store;
    ZLGI_TRY(check_change(fs, key, err));
    int code = -ENOENT;
    for (int i = 0; i < MAX_TRIES && code == -ENOENT; i++) {
        int dir = open_parent(fs, key, true);
        code = dir < 0 ? dir : put_into(dir, last_segment(key), parts, n_parts);
        if (dir >= 0)
            close(dir);
    }
    return code < 0 ? zlgi_fs_fail(fs, code, key, err) : ZLG_OK;
}

/* ------------------------------------------------------------------ remove */

zlg_status zlgi_fs_remove(zlg_store *store, const char *key, zlg_error *err)
{
    zlgi_fs *fs = (zlgi_fs *)store;
    ZLGI_TRY(check_change(fs, key, err));
    int dir = open_parent(fs, key, false);
    if (zlgi_fs_is_absent(dir))
        return ZLG_OK;
    if (dir < 0)
        return zlgi_fs_fail(fs, dir, key, err);
    int code = unlinkat(dir, last_segment(key), 0) != 0 ? -errno : 0;
    close(dir);
    /* A directory is no key. */
    if (code == 0 || code == -EISDIR || zlgi_fs_is_absent(code))
        return ZLG_OK;
    return zlgi_fs_fail(fs, code, key, err);
}

static int remove_contents(int fd, int n_levels);

/* A file, a link, or a directory with all below it. 1: it is gone by this; 0: it was gone
 * before, or new keys were put below it meanwhile, and those stay. */
static int remove_entry(int dir, const char *name, int n_levels)
{
    if (unlinkat(dir, name, 0) == 0)
        return 1;
    if (errno != EISDIR)
        return errno == ENOENT ? 0 : -errno;
    int fd = zlgi_fs_open_at(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (fd < 0)
        return fd == -ENOENT ? 0 : fd;
    int code = remove_contents(fd, n_levels - 1);
    if (code < 0)
        return code;
    if (unlinkat(dir, name, AT_REMOVEDIR) == 0)
        return 1;
    return errno == ENOENT || errno == ENOTEMPTY || errno == EEXIST ? 0 : -errno;
}

static int remove_pass(DIR *listing, int n_levels)
{
    int n_gone = 0;
    rewinddir(listing);
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(listing);
        if (entry == NULL)
            return errno != 0 ? -errno : n_gone;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        int code = remove_entry(dirfd(listing), entry->d_name, n_levels);
        if (code < 0)
            return code;
        n_gone |= code;
    }
}

/* Takes the descriptor over. */
static int remove_contents(int fd, int n_levels)
{
    DIR *listing = n_levels > 0 ? fdopendir(fd) : NULL;
    if (listing == NULL) {
        int code = n_levels > 0 ? -errno : -ELOOP;
        close(fd);
        return code;
    }
    /* Again while it helps: some file systems skip names when others are removed. */
    int code;
    do
        code = remove_pass(listing, n_levels);
    while (code > 0);
    closedir(listing);
    return code;
}

zlg_status zlgi_fs_remove_prefix(zlg_store *store, const char *prefix, zlg_error *err)
{
    zlgi_fs *fs = (zlgi_fs *)store;
    int code;
    if (prefix[0] == '\0') {
        ZLGI_TRY(check_writable(fs, err));
        int root = zlgi_fs_resolve(fs, "", O_RDONLY | O_DIRECTORY);
        code = root < 0 ? root : remove_contents(root, ZLGI_FS_MAX_LEVELS);
    } else {
        ZLGI_TRY(check_change(fs, prefix, err));
        int dir = open_parent(fs, prefix, false);
        code = dir < 0 ? dir : remove_entry(dir, last_segment(prefix), ZLGI_FS_MAX_LEVELS);
        if (dir >= 0)
            close(dir);
    }
    if (code >= 0 || zlgi_fs_is_absent(code))
        return ZLG_OK;
    return zlgi_fs_fail(fs, code, prefix, err);
}
