/*
 * Changing one object of a directory.
 *
 * The lock is on the object itself, so that nothing foreign stands among the keys: open,
 * lock, and see whether the name still leads to the file that is locked; if not, start
 * again. A present object is replaced by renaming a finished temporary file over it while
 * the lock is held, an absent one is made by giving a finished file a name that nobody has.
 * A reader sees the old object or the new one, and a failure leaves the old one.
 *
 * An update holds the lock from begin to end. What replaces an object unseen takes it only
 * for the renaming, so that no update in progress puts an old state back.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store/fs.h"

/* ------------------------------------------------------------------ the lock */

/* A file in the object's place, for locking: of a link, the file that it leads to. */
static int open_object(zlgi_fs *fs, const char *key, int dir)
{
    int flags = (fs->no_locks ? O_RDONLY : O_RDWR) | O_NONBLOCK;
    int fd = zlgi_fs_open_at(dir, zlgi_fs_last_segment(key), flags | O_NOFOLLOW);
    if (fd != -ELOOP)
        return fd;
    fd = zlgi_fs_resolve(fs, key, flags);
    return zlgi_fs_is_absent(fd) || fd == -EXDEV || fd == -ELOOP ? ZLGI_FS_LEADS_NOWHERE
                                                                 : fd;
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Does the name still lead to this file? 1 or 0. */
static int is_named(zlgi_fs *fs, const char *key, int dir, int fd)
{
    struct stat ours, named;
    if (fstat(fd, &ours) != 0)
        return -errno;
    if (fstatat(dir, zlgi_fs_last_segment(key), &named, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? 0 : -errno;
    if (!S_ISLNK(named.st_mode))
        return is_same_file(&ours, &named);
    int target = open_object(fs, key, dir);
    if (target < 0)
        return target == ZLGI_FS_LEADS_NOWHERE || target == -ENOENT ? 0 : target;
    int code = fstat(target, &named) != 0 ? -errno : is_same_file(&ours, &named);
    close(target);
    return code;
}

/* Opens and locks what has the name now. -ENOENT: nothing. */
static int hold_object(zlgi_fs *fs, const char *key, zlgi_txn *txn)
{
    for (;;) {
        int fd = open_object(fs, key, txn->dir);
        if (fd < 0)
            return fd;
        int code = zlgi_fs_lock(fs, fd, txn);
        bool is_locked = code == 0;
        if (is_locked)
            code = fs->no_locks ? 1 : is_named(fs, key, txn->dir, fd);
        if (code > 0) {
            txn->lock = fd;
            return 0;
        }
        if (is_locked)
            zlgi_fs_unlock(fs, fd);
        else
            close(fd);
        if (code < 0)
            return code;
    }
}

static void let_go(const zlgi_fs *fs, zlgi_txn *txn)
{
    if (txn->lock >= 0)
        zlgi_fs_unlock(fs, txn->lock);
    if (txn->dir >= 0)
        close(txn->dir);
    txn->lock = txn->dir = -1;
}

/* ------------------------------------------------------------------ begin and end */

static int begin_update(zlgi_fs *fs, const char *key, zlgi_txn *txn)
{
    int code = hold_object(fs, key, txn);
    if (code == -ENOENT)
        return 0;
    if (code < 0)
        return code;
    txn->present = true;
    txn->object = (zlgi_object){.fd = txn->lock};
    return zlgi_fs_look_at(&txn->object);
}

static int refuse_present(const char *key, int dir)
{
    struct stat s;
    if (fstatat(dir, zlgi_fs_last_segment(key), &s, AT_SYMLINK_NOFOLLOW) == 0)
        return -EEXIST;
    return errno == ENOENT ? 0 : -errno;
}

static zlg_status fail_change(int code, const char *key, zlg_error *err)
{
    if (code == -EEXIST)
        return zlgi_fail(err, ZLG_EXISTS, "key \"%s\" is there already", key);
    return zlgi_fs_fail(code, key, err);
}

zlg_status zlgi_fs_begin(zlg_store *store, const char *key, zlgi_txn *txn, zlg_error *err)
{
    zlgi_fs *fs = (zlgi_fs *)store;
    txn->present = txn->again = false;
    txn->object = (zlgi_object){.n_bytes = ZLGI_SIZE_UNKNOWN, .fd = -1};
    txn->lock = txn->dir = -1;
    ZLGI_TRY(zlgi_fs_check_change(fs, key, err));
    if (txn->change == ZLGI_REPLACE)
        return ZLG_OK;
    txn->dir = zlgi_fs_parent(fs, key);
    if (zlgi_fs_is_absent(txn->dir)) {
        txn->dir = -1;
        return ZLG_OK;
    }
    int code = txn->dir;
    if (code >= 0)
        code = txn->change == ZLGI_UPDATE ? begin_update(fs, key, txn)
                                          : refuse_present(key, txn->dir);
    if (code >= 0)
        return ZLG_OK;
    let_go(fs, txn);
    return fail_change(code, key, err);
}

void zlgi_fs_end(zlg_store *store, zlgi_txn *txn)
{
    let_go((zlgi_fs *)store, txn);
}

/* ------------------------------------------------------------------ names */

/* Gives the file a name that nobody has: -EEXIST otherwise. */
static int rename_new(zlgi_fs *fs, int dir, const char *temporary, const char *name)
{
    if (!atomic_load_explicit(&fs->lacks_noreplace, memory_order_relaxed)) {
        if (renameat2(dir, temporary, dir, name, RENAME_NOREPLACE) == 0)
            return 0;
        /* EPERM: how some sandboxes refuse calls that they do not know. */
        if (errno != EINVAL && errno != ENOSYS && errno != EPERM)
            return -errno;
        if (errno != EPERM)
            atomic_store_explicit(&fs->lacks_noreplace, true, memory_order_relaxed);
    }
    if (linkat(dir, temporary, dir, name, 0) != 0)
        return -errno;
    unlinkat(dir, temporary, 0);
    return 0;
}

static int rename_over(int dir, const char *temporary, const char *name)
{
    return renameat(dir, temporary, dir, name) != 0 ? -errno : 0;
}

/* Names a finished temporary file. */
static int place(zlgi_fs *fs, const char *key, zlgi_txn *txn, const char *temporary)
{
    const char *name = zlgi_fs_last_segment(key);
    bool is_unseen = txn->change == ZLGI_REPLACE;
    if (txn->lock >= 0 || (is_unseen && fs->no_locks))
        return rename_over(txn->dir, temporary, name);
    for (;;) {
        int code = rename_new(fs, txn->dir, temporary, name);
        if (code != -EEXIST || !is_unseen)
            return code;
        code = hold_object(fs, key, txn);
        /* No update goes through a link that leads nowhere: there is nothing to lock. */
        if (code == 0 || code == ZLGI_FS_LEADS_NOWHERE)
            return rename_over(txn->dir, temporary, name);
        if (code != -ENOENT)
            return code;
    }
}

/* ------------------------------------------------------------------ commit */

static int make_lasting(const zlgi_txn *txn)
{
    return txn->promise >= ZLG_DURABLE ? zlgi_fs_note(txn->syncs, txn->dir) : 0;
}

static int put_temporary(zlgi_fs *fs, const char *key, zlgi_txn *txn,
                         const zlgi_bytes *parts, int n_parts)
{
    zlgi_fs_temporary temporary;
    int code = zlgi_fs_temporary_make(fs, txn->dir, &temporary);
    if (code < 0)
        return code;
    code = zlgi_fs_fill(temporary.fd, parts, n_parts, txn->promise);
    if (code == 0)
        code = place(fs, key, txn, temporary.name);
    if (code < 0)
        unlinkat(txn->dir, temporary.name, 0);
    zlgi_fs_unlock(fs, temporary.fd);
    return code;
}

/* Is it new, and need not be synced? A replacement looks, the others have looked. */
static bool may_be_nameless(const zlgi_fs *fs, const char *key, const zlgi_txn *txn)
{
    return txn->promise < ZLG_DURABLE && !txn->present &&
           !atomic_load_explicit(&fs->lacks_nameless, memory_order_relaxed) &&
           (txn->change != ZLGI_REPLACE || refuse_present(key, txn->dir) == 0);
}

/* Does the system have no such files, or no way to name them? A full disk, a directory that
 * was removed or may not be written, and too many open files pass. */
static bool is_refusal(int code, bool is_filled, int dir)
{
    struct stat s;
    switch (code) {
    case -EOPNOTSUPP:
    case -EISDIR:
    case -EINVAL:
    case -ENOSYS:
    case -EPERM:
    case -EXDEV:
        return true;
    case -EACCES:
        return is_filled;
    case -ENOENT: /* without /proc */
        return fstat(dir, &s) == 0 && s.st_nlink > 0;
    default:
        return false;
    }
}

/* TRY_TEMPORARY: somebody was faster where that is no matter, or it cannot be made or named
 * thus. Whatever the system says, there is the other way. */
enum { TRY_TEMPORARY = 1 };
static int put_nameless(zlgi_fs *fs, const char *key, const zlgi_txn *txn,
                        const zlgi_bytes *parts, int n_parts)
{
    int fd = zlgi_fs_nameless_make(fs, txn->dir);
    int code = fd < 0 ? fd : zlgi_fs_fill(fd, parts, n_parts, txn->promise);
    bool is_filled = code == 0;
    if (is_filled)
        code = zlgi_fs_nameless_link(fd, txn->dir, zlgi_fs_last_segment(key));
    if (fd >= 0)
        close(fd);
    if (code == -EEXIST)
        return txn->change == ZLGI_REPLACE ? TRY_TEMPORARY : code;
    if (code == 0 || (fd >= 0 && !is_filled))
        return code;
    if (is_refusal(code, is_filled, txn->dir))
        atomic_store_explicit(&fs->lacks_nameless, true, memory_order_relaxed);
    return TRY_TEMPORARY;
}

/* A file that was filled before gets the object's name: a new one at once, else in place of
 * what is there. */
static int put_staged(zlgi_fs *fs, const char *key, zlgi_txn *txn, const zlgi_bytes *parts,
                      int n_parts)
{
    zlgi_fs_temporary temporary;
    int code = zlgi_fs_fill_staged(txn->file, parts, n_parts);
    if (code == 0)
        code = zlgi_fs_nameless_link(txn->file, txn->dir, zlgi_fs_last_segment(key));
    if (code != -EEXIST || txn->change != ZLGI_REPLACE)
        return code;
    code = zlgi_fs_temporary_link(fs, txn->dir, txn->file, &temporary);
    if (code == 0)
        code = place(fs, key, txn, temporary.name);
    if (code < 0)
        unlinkat(txn->dir, temporary.name, 0);
    return code;
}

/* -ENOENT: the directory or the temporary file was removed meanwhile. */
static int put_once(zlgi_fs *fs, const char *key, zlgi_txn *txn, const zlgi_bytes *parts,
                    int n_parts)
{
    if (txn->dir < 0)
        txn->dir = zlgi_fs_make_parent(fs, key, txn);
    if (txn->dir < 0)
        return txn->dir;
    if (txn->is_staged)
        return put_staged(fs, key, txn, parts, n_parts);
    int code = TRY_TEMPORARY;
    if (may_be_nameless(fs, key, txn))
        code = put_nameless(fs, key, txn, parts, n_parts);
    if (code == TRY_TEMPORARY)
        code = put_temporary(fs, key, txn, parts, n_parts);
    return code == 0 ? make_lasting(txn) : code;
}

static int put(zlgi_fs *fs, const char *key, zlgi_txn *txn, const zlgi_bytes *parts,
               int n_parts)
{
    enum { MAX_TRIES = 100 };
    int code = -ENOENT;
    for (int i = 0; i < MAX_TRIES && code == -ENOENT; i++) {
        /* A directory whose removal has begun can be found, but takes no file: whoever
         * removes it must get to its end, be it on this core. */
        struct timespec pause = {.tv_nsec = i * 50 * 1000};
        if (i > 0)
            nanosleep(&pause, NULL);
        if (i > 0 && txn->present && is_named(fs, key, txn->dir, txn->lock) != 1)
            return -EEXIST; /* what is locked was removed with its directory */
        if (i > 0 && !txn->present)
            let_go(fs, txn);
        code = put_once(fs, key, txn, parts, n_parts);
    }
    return code;
}

static int take_named(zlgi_fs *fs, const char *key, zlgi_txn *txn)
{
    if (txn->change == ZLGI_REPLACE && !fs->no_locks) {
        int code = hold_object(fs, key, txn);
        if (code < 0 && code != ZLGI_FS_LEADS_NOWHERE)
            return code;
    } else if (txn->change != ZLGI_REPLACE && !txn->present) {
        return 0; /* what an update did not see stays */
    }
    return unlinkat(txn->dir, zlgi_fs_last_segment(key), 0) != 0 ? -errno : 0;
}

static int take_away(zlgi_fs *fs, const char *key, zlgi_txn *txn)
{
    if (txn->dir < 0)
        txn->dir = zlgi_fs_parent(fs, key);
    if (txn->dir < 0)
        return zlgi_fs_is_absent(txn->dir) ? 0 : txn->dir;
    int code = take_named(fs, key, txn);
    /* An absent object is fine, and so is a directory, which is none. */
    if (code < 0 && code != -EISDIR && !zlgi_fs_is_absent(code))
        return code;
    return make_lasting(txn);
}

zlg_status zlgi_fs_commit(zlg_store *store, const char *key, zlgi_txn *txn,
                          const zlgi_bytes *parts, int n_parts, zlg_error *err)
{
    zlgi_fs *fs = (zlgi_fs *)store;
    int code = n_parts == ZLGI_REMOVE ? take_away(fs, key, txn)
                                      : put(fs, key, txn, parts, n_parts);
    txn->again = code == -EEXIST && txn->change == ZLGI_UPDATE;
    return code < 0 ? fail_change(code, key, err) : ZLG_OK;
}
