/*
 * Changing all that lies below a prefix: removing and moving it.
 *
 * Each file is removed under its lock, so that an update in progress does not bring it
 * back. Links are removed, not followed. A tree is moved as one directory: an update in
 * progress holds a handle of the directory in which it works, and moves with it.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/fs.h"

/* ------------------------------------------------------------------ removing */

typedef struct removal {
    const zlgi_fs *fs;
    const zlgi_txn *txn; /* who waits for it; or NULL */
} removal;

/* 1: it is gone by this, 0: it was gone before. */
static int remove_name(int dir, const char *name)
{
    if (unlinkat(dir, name, 0) == 0)
        return 1;
    return errno == ENOENT ? 0 : -errno;
}

static bool is_named(int dir, const char *name, int fd)
{
    struct stat ours, named;
    return fstat(fd, &ours) == 0 && fstatat(dir, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
}

/* The same under the file's lock; -EISDIR for a directory. Whoever writes a temporary file
 * notices that it is gone, and makes another. */
static int remove_file(const removal *r, int dir, const char *name)
{
    const zlgi_fs *fs = r->fs;
    if (fs->no_locks || zlgi_fs_is_temporary(name))
        return remove_name(dir, name);
    for (;;) {
        int fd = zlgi_fs_open_at(dir, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK);
        if (fd == -ELOOP || fd == -ENXIO) /* a link, a socket */
            return remove_name(dir, name);
        if (fd < 0)
            return fd == -ENOENT ? 0 : fd;
        int code = zlgi_fs_lock(fs, fd, r->txn);
        if (code < 0) {
            close(fd);
            return code;
        }
        bool is_ours = is_named(dir, name, fd);
        if (is_ours)
            code = remove_name(dir, name);
        zlgi_fs_unlock(fs, fd);
        if (is_ours)
            return code;
    }
}

static int remove_contents(const removal *r, int fd, int n_levels);

/* A file, a link, or a directory with all below it. 1: it is gone by this; 0: it was gone
 * before, or new keys were put below it meanwhile, and those stay. */
static int remove_entry(const removal *r, int dir, const char *name, int n_levels)
{
    int code = remove_file(r, dir, name);
    if (code != -EISDIR)
        return code;
    int fd = zlgi_fs_open_at(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (fd < 0)
        return fd == -ENOENT ? 0 : fd;
    code = remove_contents(r, fd, n_levels - 1);
    if (code < 0)
        return code;
    if (unlinkat(dir, name, AT_REMOVEDIR) == 0)
        return 1;
    return errno == ENOENT || errno == ENOTEMPTY || errno == EEXIST ? 0 : -errno;
}

static int remove_pass(const removal *r, DIR *listing, int n_levels)
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
        if (zlgi_txn_gives_up(r->txn))
            return ZLGI_FS_GAVE_UP;
        int code = remove_entry(r, dirfd(listing), entry->d_name, n_levels);
        if (code < 0)
            return code;
        n_gone |= code;
    }
}

/* Takes the descriptor over. */
static int remove_contents(const removal *r, int fd, int n_levels)
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
        code = remove_pass(r, listing, n_levels);
    while (code > 0);
    closedir(listing);
    return code;
}

static int remove_below(zlgi_fs *fs, const char *prefix, const zlgi_txn *txn)
{
    const removal r = {fs, txn};
    if (prefix[0] == '\0') {
        int root = zlgi_fs_resolve(fs, "", O_RDONLY | O_DIRECTORY);
        if (root >= 0)
            zlgi_folder_note_emptied(
                root); /* others are made anew with what lies in them */
        return root < 0 ? root : remove_contents(&r, root, ZLGI_FS_MAX_LEVELS);
    }
    int dir = zlgi_fs_parent(fs, prefix);
    if (dir < 0)
        return dir;
    int code = remove_entry(&r, dir, zlgi_fs_last_segment(prefix), ZLGI_FS_MAX_LEVELS);
    close(dir);
    return code;
}

zlg_status zlgi_fs_remove_prefix(zlg_store *store, const char *prefix, const zlgi_txn *txn,
                                 zlg_error *err)
{
    zlgi_fs *fs = (zlgi_fs *)store;
    ZLGI_TRY(prefix[0] == '\0' ? zlgi_fs_check_writable(fs, err)
                               : zlgi_fs_check_change(fs, prefix, err));
    int code = remove_below(fs, prefix, txn);
    if (code >= 0 || zlgi_fs_is_absent(code))
        return ZLG_OK;
    return zlgi_fs_fail(code, prefix, err);
}

/* ------------------------------------------------------------------ moving */

/* Where the file system cannot refuse to replace, two that move to one place at once may
 * both find it free; a directory that is not empty is never replaced. */
static int rename_new(int from, const char *from_name, int to, const char *to_name)
{
    struct stat s;
    if (renameat2(from, from_name, to, to_name, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -errno;
    if (fstatat(to, to_name, &s, AT_SYMLINK_NOFOLLOW) == 0)
        return -EEXIST;
    if (errno != ENOENT)
        return -errno;
    return renameat(from, from_name, to, to_name) != 0 ? -errno : 0;
}

/* A handle of the directory that holds the one to be moved. */
static int open_source(zlgi_fs *fs, const char *from)
{
    struct stat s;
    int dir = zlgi_fs_parent(fs, from);
    if (dir < 0)
        return zlgi_fs_is_absent(dir) ? -ENOENT : dir;
    int code = 0;
    if (fstatat(dir, zlgi_fs_last_segment(from), &s, AT_SYMLINK_NOFOLLOW) != 0)
        code = zlgi_fs_is_absent(-errno) ? -ENOENT : -errno;
    else if (!S_ISDIR(s.st_mode))
        code = -ENOTDIR;
    if (code < 0)
        close(dir);
    return code < 0 ? code : dir;
}

static int rename_tree(zlgi_fs *fs, int from_dir, const char *from, const char *to)
{
    const zlgi_txn visible = {.promise = ZLG_VISIBLE};
    const char *from_name = zlgi_fs_last_segment(from);
    const char *to_name = zlgi_fs_last_segment(to);
    int to_dir = zlgi_fs_make_parent(fs, to, &visible);
    if (to_dir < 0)
        return to_dir;
    int code = rename_new(from_dir, from_name, to_dir, to_name);
    /* An empty directory is nothing. */
    if (code == -EEXIST && unlinkat(to_dir, to_name, AT_REMOVEDIR) == 0)
        code = rename_new(from_dir, from_name, to_dir, to_name);
    close(to_dir);
    return code;
}

zlg_status zlgi_fs_rename_prefix(zlg_store *store, const char *from, const char *to,
                                 zlg_error *err)
{
    zlgi_fs *fs = (zlgi_fs *)store;
    ZLGI_TRY(zlgi_fs_check_change(fs, from, err));
    ZLGI_TRY(zlgi_fs_check_change(fs, to, err));
    ZLGI_TRY(zlgi_store_check_move(from, to, err));
    int from_dir = open_source(fs, from);
    if (from_dir == -ENOENT)
        return zlgi_store_absent(err);
    if (from_dir == -ENOTDIR)
        return zlgi_fail(err, ZLG_USAGE, "\"%s\" is a key, not a prefix", from);
    if (from_dir < 0)
        return zlgi_fs_fail(from_dir, from, err);
    int code = rename_tree(fs, from_dir, from, to);
    close(from_dir);
    if (code == -EEXIST || code == -ENOTEMPTY)
        return zlgi_fail(err, ZLG_EXISTS, "something is at \"%s\" already", to);
    return code < 0 ? zlgi_fs_fail(code, to, err) : ZLG_OK;
}
