/*
 * fs: what the files of the file system store share. Functions that return int give a
 * descriptor or 0, or the negative error number of the system.
 */
#ifndef ZLGI_FS_H
#define ZLGI_FS_H

#include <stdatomic.h>

#include "store/store.h"

enum { ZLGI_FS_MAX_LEVELS = 256 }; /* of directories below each other, in one walk */

typedef struct zlgi_fs {
    zlg_store base;
    bool follow_links, read_only;
    atomic_bool lacks_openat2; /* the kernel said so: components are walked here */
    atomic_int root;           /* handle of the root; -1 until a key needs it */
    size_t n_path;
    char path[]; /* absolute, ends with a slash; the label follows */
} zlgi_fs;

/* openat, again after a signal; new files get mode 0666. */
int zlgi_fs_open_at(int dir, const char *path, int flags);
/* Opens a key, or "" for the root, below the root's handle. O_PATH goes with O_DIRECTORY
 * only. -ENOENT: no such key. -ESTALE: the root is gone. -EXDEV: a link leads out. */
int zlgi_fs_resolve(zlgi_fs *fs, const char *key, int flags);
/* The handle in use, opened on first use. */
int zlgi_fs_root(zlgi_fs *fs);
/* True for the errors that mean: nothing has this name. */
bool zlgi_fs_is_absent(int code);
/* Turns a negative error number into an error that names the key. */
zlg_status zlgi_fs_fail(const zlgi_fs *fs, int code, const char *key, zlg_error *err);
/* Names of temporary files: never listed, never keys. */
#define ZLGI_FS_TEMPORARY ".zlg-tmp-"
bool zlgi_fs_is_temporary(const char *name);

zlg_status zlgi_fs_put(zlg_store *store, const char *key, const zlgi_bytes *parts,
                       int n_parts, zlg_error *err);
zlg_status zlgi_fs_remove(zlg_store *store, const char *key, zlg_error *err);
zlg_status zlgi_fs_remove_prefix(zlg_store *store, const char *prefix, zlg_error *err);
zlg_status zlgi_fs_list(zlg_store *store, const char *prefix, bool delimited,
                        zlg_list_fn each, void *user, zlg_error *err);

#endif
