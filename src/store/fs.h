/*
 * fs: what the files of the file system store share. Functions that return int give a
 * descriptor or 0, or the negative error number of the system.
 */
#ifndef ZLGI_FS_H
#define ZLGI_FS_H

#include <stdatomic.h>

#include "store/store.h"

enum { ZLGI_FS_MAX_LEVELS = 256 }; /* of directories below each other, in one walk */

enum { ZLGI_FS_SWEPT_BITS = 4096 };

typedef struct zlgi_fs {
    zlg_store base;
    bool follow_links, read_only, no_locks;
    atomic_bool lacks_openat2;   /* the kernel said so: components are walked here */
    atomic_bool lacks_noreplace; /* the file system said so: names are linked */
    atomic_bool lacks_nameless;  /* a file without a name could not be made, or named */
    atomic_bool has_locks;       /* one was taken */
    atomic_int root;             /* handle of the root; -1 until a key needs it */
    atomic_uint_least64_t last_temporary; /* number in its name; 0: none yet */
    /* Directories that were looked at for leftovers: one bit of a hash of their path. */
    atomic_uint_least64_t swept[ZLGI_FS_SWEPT_BITS / 64];
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
zlg_status zlgi_fs_fail(int code, const char *key, zlg_error *err);
/* Fills size and tag of an open file. */
int zlgi_fs_look_at(zlgi_object *object);

/* What the functions here answer beside error numbers of the system. */
enum {
    ZLGI_FS_NO_LOCKS = -5000, /* the file system has none */
    ZLGI_FS_GAVE_UP,          /* the transaction's `waiting` said so */
    ZLGI_FS_DIFFERS,          /* what was read back is not what was written */
    ZLGI_FS_LEADS_NOWHERE     /* a link behind which there is no file to lock */
};

/* ------------------------------------------------------------------ locks (fs_lock.c)
 * Write locks of open file descriptions, on descriptors open for writing. */
/* Waits while others hold it; txn may be NULL. */
int zlgi_fs_lock(const zlgi_fs *fs, int fd, const zlgi_txn *txn);
/* -EAGAIN when another one holds it. */
int zlgi_fs_try_lock(const zlgi_fs *fs, int fd);
/* Gives the lock back, also for children that were forked meanwhile, and closes. */
void zlgi_fs_unlock(const zlgi_fs *fs, int fd);
/* What needs no lock itself is refused where there are none: tries it once. */
int zlgi_fs_need_locks(zlgi_fs *fs, int fd);

/* ------------------------------------------------------------------ directories
 * (fs_parent.c) */
zlg_status zlgi_fs_check_writable(const zlgi_fs *fs, zlg_error *err);
/* And a key that may be changed. */
zlg_status zlgi_fs_check_change(const zlgi_fs *fs, const char *key, zlg_error *err);
const char *zlgi_fs_last_segment(const char *key);
/* A handle of the directory that holds a key, in which leftovers are swept at first. */
int zlgi_fs_parent(zlgi_fs *fs, const char *key);
/* The same, made where it is missing; with a promise, the names of what is made last. */
int zlgi_fs_make_parent(zlgi_fs *fs, const char *key, const zlgi_txn *txn);

/* ------------------------------------------------------------------ temporary files
 * (fs_temporary.c) */
/* Names of temporary files: never listed, never keys. */
#define ZLGI_FS_TEMPORARY ".zlg-tmp-"
bool zlgi_fs_is_temporary(const char *name);
typedef struct zlgi_fs_temporary {
    int fd; /* locked */
    char name[sizeof(ZLGI_FS_TEMPORARY) + 16];
} zlgi_fs_temporary;
/* Makes one in a directory. */
/* A finished file without a name gets one, and a lock. */
int zlgi_fs_temporary_link(zlgi_fs *fs, int dir, int fd, zlgi_fs_temporary *out);
zlg_status zlgi_fs_stage(zlg_store *store, int *out, zlg_error *err);
/* Parts without data are there. */
int zlgi_fs_fill_staged(int fd, const zlgi_bytes *parts, int n_parts);
int zlgi_fs_temporary_make(zlgi_fs *fs, int dir, zlgi_fs_temporary *out);
/* A file that has no name yet, which nobody can meet; a descriptor. */
int zlgi_fs_nameless_make(zlgi_fs *fs, int dir);
/* Gives it one that nobody has: -EEXIST otherwise. */
int zlgi_fs_nameless_link(int fd, int dir, const char *name);
/* Writes the parts, and keeps the promise as far as the file itself goes. */
int zlgi_fs_fill(int fd, const zlgi_bytes *parts, int n_parts, zlg_promise promise);

/* ------------------------------------------------------------------ lasting names
 * (fs_syncs.c) */
/* Notes that names in a directory have changed; syncs NULL: syncs it at once. */
int zlgi_fs_note(zlgi_syncs *syncs, int dir);
zlg_status zlgi_fs_sync(zlg_store *store, zlgi_syncs *syncs, zlg_error *err);

/* ------------------------------------------------------------------ leftovers
 * (fs_sweep.c) */
/* Looks at a directory the first time that it is asked for. */
void zlgi_fs_sweep_once(zlgi_fs *fs, int dir, const char *path);
zlg_status zlgi_fs_sweep(zlg_store *store, const char *prefix, const zlgi_txn *txn,
                         uint64_t *out_n, zlg_error *err);

/* ------------------------------------------------------------------ the table */
zlg_status zlgi_fs_begin(zlg_store *store, const char *key, zlgi_txn *txn, zlg_error *err);
zlg_status zlgi_fs_commit(zlg_store *store, const char *key, zlgi_txn *txn,
                          const zlgi_bytes *parts, int n_parts, zlg_error *err);
void zlgi_fs_end(zlg_store *store, zlgi_txn *txn);
zlg_status zlgi_fs_remove_prefix(zlg_store *store, const char *prefix, const zlgi_txn *txn,
                                 zlg_error *err);
zlg_status zlgi_fs_rename_prefix(zlg_store *store, const char *from, const char *to,
                                 zlg_error *err);
zlg_status zlgi_fs_list(zlg_store *store, const char *prefix, bool delimited,
                        const zlgi_txn *txn, zlg_list_fn each, void *user, zlg_error *err);

#endif
