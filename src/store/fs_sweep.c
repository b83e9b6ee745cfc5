/*
 * Sweeping: temporary files whose writers died go. Whoever can lock one knows that nobody
 * writes it any more.
 *
 * A writer sweeps each directory that it comes to, once for each handle of the store, so
 * that what a killed process left goes when its work is done again. It looks at so many
 * names at most, for a directory may hold millions; sweeping by request looks at all.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "store/fs.h"

enum { NAMES_AT_ONCE = 10000, NAMES_PER_LOOK = 256 };

typedef struct sweep {
    const zlgi_fs *fs;
    const zlgi_txn *txn; /* who waits for it; or NULL */
    int64_t n_left;      /* names that may still be looked at */
    uint64_t n_gone;
    int code; /* why the first one that should have gone did not */
} sweep;

/* As writers make them: what else begins like that was put there by somebody's hand. */
static bool is_leftover(const char *name)
{
    const char *number = name + strlen(ZLGI_FS_TEMPORARY);
    return zlgi_fs_is_temporary(name) && strlen(number) == 16 &&
           strspn(number, "0123456789abcdef") == 16;
}

static void sweep_file(sweep *s, int dir, const char *name)
{
    int fd = zlgi_fs_open_at(dir, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK);
    int code = fd < 0 ? fd : zlgi_fs_try_lock(s->fs, fd);
    /* One that has got its final name too is locked with its object, and stays. */
    if (code == 0) {
        code = unlinkat(dir, name, 0) != 0 ? -errno : 1;
        s->n_gone += code == 1;
        zlgi_fs_unlock(s->fs, fd);
    } else if (fd >= 0) {
        close(fd);
    }
    bool may_stay = code >= 0 || code == -EAGAIN || code == -ENOENT || code == -ELOOP ||
                    code == -EISDIR;
    if (!may_stay && s->code == 0)
        s->code = code;
}

static void sweep_directory(sweep *s, int fd, int n_levels);

static void sweep_below(sweep *s, int dir, const struct dirent *entry, int n_levels)
{
    const char *name = entry->d_name;
    bool may_lead_on = entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN;
    if (!may_lead_on || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return;
    int fd = zlgi_fs_open_at(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (!zlgi_fs_is_absent(fd) && fd != -ELOOP)
        sweep_directory(s, fd, n_levels - 1);
}

static void sweep_names(sweep *s, DIR *listing, int n_levels)
{
    while (s->n_left-- > 0) {
        if (s->n_left % NAMES_PER_LOOK == 0 && zlgi_txn_gives_up(s->txn)) {
            s->code = ZLGI_FS_GAVE_UP;
            s->n_left = 0;
            return;
        }
        errno = 0;
        const struct dirent *entry = readdir(listing);
        if (entry == NULL) {
            s->code = s->code == 0 ? -errno : s->code;
            return;
        }
        if (is_leftover(entry->d_name))
            sweep_file(s, dirfd(listing), entry->d_name);
        else if (n_levels > 0)
            sweep_below(s, dirfd(listing), entry, n_levels);
    }
}

/* Takes the descriptor over; it may be an error number. */
static void sweep_directory(sweep *s, int fd, int n_levels)
{
    DIR *listing = fd < 0 ? NULL : fdopendir(fd);
    if (listing == NULL) {
        s->code = s->code != 0 ? s->code : fd < 0 ? fd : -errno;
        if (fd >= 0)
            close(fd);
        return;
    }
    sweep_names(s, listing, n_levels);
    closedir(listing);
}

/* FNV-1a. */
static uint64_t hash(const char *text)
{
    uint64_t h = UINT64_C(14695981039346656037);
    for (; *text != '\0'; text++)
        h = (h ^ (uint8_t)*text) * UINT64_C(1099511628211);
    return h ^ h >> 32;
}

void zlgi_fs_sweep_once(zlgi_fs *fs, int dir, const char *path)
{
    uint64_t i = hash(path) % ZLGI_FS_SWEPT_BITS, bit = UINT64_C(1) << i % 64;
    atomic_uint_least64_t *word = &fs->swept[i / 64];
    if (fs->no_locks || (atomic_load_explicit(word, memory_order_relaxed) & bit) != 0 ||
        (atomic_fetch_or_explicit(word, bit, memory_order_relaxed) & bit) != 0)
        return;
    sweep s = {.fs = fs, .n_left = NAMES_AT_ONCE};
    sweep_directory(&s, zlgi_fs_open_at(dir, ".", O_RDONLY | O_DIRECTORY), 0);
}

zlg_status zlgi_fs_sweep(zlg_store *store, const char *prefix, const zlgi_txn *txn,
                         uint64_t *out_n, zlg_error *err)
{
    zlgi_fs *fs = (zlgi_fs *)store;
    *out_n = 0;
    ZLGI_TRY(zlgi_fs_check_writable(fs, err));
    if (prefix[0] != '\0')
        ZLGI_TRY(zlgi_key_check(prefix, err));
    if (fs->no_locks)
        return zlgi_fail(err, ZLG_UNSUPPORTED,
                         "without locks nobody can tell what dead writers left");
    int fd = zlgi_fs_resolve(fs, prefix, O_RDONLY | O_DIRECTORY);
    if (zlgi_fs_is_absent(fd))
        return ZLG_OK;
    sweep s = {.fs = fs, .txn = txn, .n_left = INT64_MAX};
    sweep_directory(&s, fd, ZLGI_FS_MAX_LEVELS);
    *out_n = s.n_gone;
    return s.code < 0 ? zlgi_fs_fail(s.code, prefix, err) : ZLG_OK;
}
