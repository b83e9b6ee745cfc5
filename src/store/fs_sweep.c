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

enum { NAMES_AT_ONCE = 10000 };

typedef struct sweep {
    const zlgi_fs *fs;
    int64_t n_left; /* names that may still be looked at */
    uint64_t n_gone;
} sweep;

/* A file that has its final name already is locked with its object, and stays. */
static void sweep_file(sweep *s, int dir, const char *name)
{
    int fd = zlgi_fs_open_at(dir, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return;
    bool is_dead = zlgi_fs_try_lock(s->fs, fd) == 0;
    if (is_dead && unlinkat(dir, name, 0) == 0)
        s->n_gone++;
    if (is_dead)
        zlgi_fs_unlock(s->fs, fd);
    else
        close(fd);
}

static int sweep_directory(sweep *s, int fd, int n_levels);

static int sweep_names(sweep *s, DIR *listing, int n_levels)
{
    int code = 0;
    while (code == 0 && s->n_left-- > 0) {
        errno = 0;
        const struct dirent *entry = readdir(listing);
        if (entry == NULL)
            return errno != 0 ? -errno : 0;
        const char *name = entry->d_name;
        if (zlgi_fs_is_temporary(name)) {
            sweep_file(s, dirfd(listing), name);
            continue;
        }
        bool may_lead_on = entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN;
        if (n_levels == 0 || !may_lead_on || strcmp(name, ".") == 0 ||
            strcmp(name, "..") == 0)
            continue;
        int fd = zlgi_fs_open_at(dirfd(listing), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
        if (fd >= 0)
            code = sweep_directory(s, fd, n_levels - 1);
        else if (!zlgi_fs_is_absent(fd) && fd != -ELOOP)
            code = fd;
    }
    return code;
}

/* Takes the descriptor over. */
static int sweep_directory(sweep *s, int fd, int n_levels)
{
    DIR *listing = fdopendir(fd);
    if (listing == NULL) {
        int code = -errno;
        close(fd);
        return code;
    }
    int code = sweep_names(s, listing, n_levels);
    closedir(listing);
    return code;
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
    int fd = zlgi_fs_open_at(dir, ".", O_RDONLY | O_DIRECTORY);
    if (fd >= 0)
        sweep_directory(&s, fd, 0);
}

zlg_status zlgi_fs_sweep(zlg_store *store, const char *prefix, uint64_t *out_n,
                         zlg_error *err)
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
    sweep s = {.fs = fs, .n_left = INT64_MAX};
    int code = fd < 0 ? fd : sweep_directory(&s, fd, ZLGI_FS_MAX_LEVELS);
    *out_n = s.n_gone;
    return code < 0 ? zlgi_fs_fail(fs, code, prefix, err) : ZLG_OK;
}
