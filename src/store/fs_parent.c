/*
 * Before a change: may the key be changed, and the directory that holds it.
 *
 * The directory is a handle: no link that somebody sets meanwhile leads a change elsewhere.
 * One that is made is made component by component, each resolved anew from the root.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/fs.h"

zlg_status zlgi_fs_check_writable(const zlgi_fs *fs, zlg_error *err)
{
    if (!fs->read_only)
        return ZLG_OK;
    return zlgi_fail(err, ZLG_USAGE, "the store was opened for reading only");
}

zlg_status zlgi_fs_check_change(const zlgi_fs *fs, const char *key, zlg_error *err)
{
    ZLGI_TRY(zlgi_fs_check_writable(fs, err));
    ZLGI_TRY(zlgi_key_check(key, err));
    for (const char *segment = key; segment != NULL; segment = strchr(segment, '/')) {
        segment += *segment == '/';
        size_t n = strcspn(segment, "/");
        if (zlgi_fs_is_temporary(segment))
            return zlgi_fail(err, ZLG_USAGE, "key \"%s\": names in %s* are reserved", key,
                             ZLGI_FS_TEMPORARY);
        if (n > NAME_MAX)
            return zlgi_fail(err, ZLG_USAGE,
                             "a name of %zu bytes, where files have at most %d", n,
                             NAME_MAX);
    }
    return ZLG_OK;
}

const char *zlgi_fs_last_segment(const char *key)
{
    const char *slash = strrchr(key, '/');
    return slash != NULL ? slash + 1 : key;
}

/* The path of the directory that holds a key; "" for the root. */
static int parent_path(const char *key, char path[PATH_MAX])
{
    size_t n = (size_t)(zlgi_fs_last_segment(key) - key);
    if (n > PATH_MAX)
        return -ENAMETOOLONG;
    n -= n > 0; /* the slash */
    memcpy(path, key, n);
    path[n] = '\0';
    return 0;
}

static int open_directory(zlgi_fs *fs, const char *path)
{
    int dir = zlgi_fs_resolve(fs, path, O_PATH | O_DIRECTORY);
    if (dir >= 0)
        zlgi_fs_sweep_once(fs, dir, path);
    return dir;
}

int zlgi_fs_parent(zlgi_fs *fs, const char *key)
{
    char path[PATH_MAX];
    int code = parent_path(key, path);
    return code < 0 ? code : open_directory(fs, path);
}

/* Opens a directory, made where it is missing in the one `above`. */
static int open_or_make(zlgi_fs *fs, int above, const char *path, const zlgi_txn *txn)
{
    int dir = zlgi_fs_resolve(fs, path, O_PATH | O_DIRECTORY);
    if (dir != -ENOENT)
        return dir;
    if (mkdirat(above, zlgi_fs_last_segment(path), 0777) != 0 && errno != EEXIST)
        return -errno;
    if (txn->promise >= ZLG_DURABLE) {
        int code = zlgi_fs_note(txn->syncs, above);
        if (code < 0)
            return code;
    }
    return zlgi_fs_resolve(fs, path, O_PATH | O_DIRECTORY);
}

int zlgi_fs_make_parent(zlgi_fs *fs, const char *key, const zlgi_txn *txn)
{
    char path[PATH_MAX];
    int code = parent_path(key, path);
    if (code < 0)
        return code;
    int dir = open_directory(fs, path);
    if (dir != -ENOENT || path[0] == '\0')
        return dir;
    dir = zlgi_fs_resolve(fs, "", O_PATH | O_DIRECTORY);
    for (size_t end = 0; dir >= 0 && (end == 0 || path[end] == '/');) {
        end += strcspn(path + end + 1, "/") + 1;
        char after = path[end];
        path[end] = '\0';
        int next = open_or_make(fs, dir, path, txn);
        path[end] = after;
        close(dir);
        dir = next;
    }
    return dir;
}
