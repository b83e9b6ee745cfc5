/*
 * Listing a directory: its names sorted bytewise, level by level.
 *
 * A link is followed as reading would follow it. A link to one of the directories that
 * lead to it would make the tree endless, so it is left out, at every level alike. A link
 * that cannot be followed is listed as a key without bytes, for reading tells why; one
 * that leads nowhere is no key. Neither are temporary files, names with a backslash, and
 * whatever is no regular file. An empty directory is a prefix.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/fs.h"

/* Looks at whoever waits come about every millisecond. */
enum { NAMES_PER_LOOK = 256, PARTS_PER_LOOK = 64 };

typedef struct walk {
    zlgi_fs *fs;
    const zlgi_txn *txn; /* who waits for it; or NULL */
    unsigned n_names;    /* read or told */
    zlg_list_fn each;
    void *user;
    zlg_error *err;
    bool delimited, is_stopped;
    int64_t n_left;  /* entries that may still be seen; directories count, for links can
                      * make few of them look like many */
    size_t n_prefix; /* bytes of path before the names that are told */
    size_t n_path;
    char path[PATH_MAX]; /* the key of what is looked at */
} walk;

/* What a name stands for. */
typedef struct found {
    enum { NOTHING, KEY, DIRECTORY, LINK } kind;
    uint64_t n_bytes;
} found;

/* ------------------------------------------------------------------ one directory */

typedef struct level {
    DIR *dir;
    zlgi_arena names;
    zlgi_buf sorted; /* pointers to the names */
} level;

typedef struct patience {
    const zlgi_txn *txn;
    unsigned n_parts; /* of the names, that were sorted */
    bool is_at_end;
} patience;

static bool is_before(char *const *a, char *const *b, const void *context)
{
    (void)context;
    return strcmp(*a, *b) < 0;
}

static bool goes_on_sorting(const void *context)
{
    patience *p = *(patience *const *)context;
    if (++p->n_parts % PARTS_PER_LOOK == 0 && !p->is_at_end)
        p->is_at_end = zlgi_txn_gives_up(p->txn);
    return !p->is_at_end;
}

ZLGI_SORT_WHILE(sort_names, char *, is_before, goes_on_sorting)

static bool is_hidden(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
           strchr(name, '\\') != NULL || zlgi_fs_is_temporary(name);
}

static zlg_status count(walk *w)
{
    int64_t limit = w->fs->base.limits->keys_listed;
    if (w->n_left-- > 0)
        return ZLG_OK;
    return zlgi_fail(w->err, ZLG_LIMIT, "more than %lld keys (limit keys_listed)",
                     (long long)limit);
}

static zlg_status give_up(const walk *w)
{
    return zlgi_fs_fail(ZLGI_FS_GAVE_UP, w->path, w->err);
}

static zlg_status go_on(walk *w)
{
    bool is_time = ++w->n_names % NAMES_PER_LOOK == 0;
    return is_time && zlgi_txn_gives_up(w->txn) ? give_up(w) : ZLG_OK;
}

static zlg_status sort(const walk *w, zlgi_buf *names)
{
    patience p = {.txn = w->txn}, *context = &p;
    sort_names((char **)(void *)names->data, names->n / sizeof(char *), &context);
    return p.is_at_end ? give_up(w) : ZLG_OK;
}

static zlg_status read_names(walk *w, level *l)
{
    for (;;) {
        ZLGI_TRY(go_on(w));
        errno = 0;
        const struct dirent *entry = readdir(l->dir);
        if (entry == NULL)
            break;
        if (is_hidden(entry->d_name))
            continue;
        ZLGI_TRY(count(w));
        size_t n = strlen(entry->d_name);
        char *name = zlgi_arena_text(&l->names, entry->d_name, n);
        if (name == NULL)
            return zlgi_no_memory(w->err, n);
        ZLGI_TRY(zlgi_buf_append(&l->sorted, &name, sizeof(name), w->err));
    }
    if (errno != 0)
        return zlgi_fs_fail(-errno, w->path, w->err);
    return sort(w, &l->sorted);
}

/* ------------------------------------------------------------------ links */

/* Is it one of the directories above the path? */
static bool is_above(walk *w, const struct stat *directory)
{
    for (size_t i = 0; i < w->n_path; i++) {
        if (i > 0 && w->path[i] != '/')
            continue;
        char after = w->path[i];
        w->path[i] = '\0';
        struct stat s = {0};
        int fd = zlgi_fs_resolve(w->fs, w->path, O_PATH | O_DIRECTORY);
        bool is_same = fd >= 0 && fstat(fd, &s) == 0 && s.st_dev == directory->st_dev &&
                       s.st_ino == directory->st_ino;
        w->path[i] = after;
        if (fd >= 0)
            close(fd);
        if (is_same)
            return true;
    }
    return false;
}

static found look_through_link(walk *w)
{
    struct stat s = {0};
    int fd = zlgi_fs_resolve(w->fs, w->path, O_RDONLY | O_NONBLOCK);
    if (zlgi_fs_is_absent(fd))
        return (found){.kind = NOTHING};
    if (fd < 0)
        return (found){.kind = KEY};
    int code = fstat(fd, &s);
    close(fd);
    if (code == 0 && S_ISDIR(s.st_mode))
        return (found){.kind = is_above(w, &s) ? NOTHING : LINK};
    return (found){.kind = code == 0 && S_ISREG(s.st_mode) ? KEY : NOTHING,
                   .n_bytes = (uint64_t)s.st_size};
}

static zlg_status look_at(walk *w, int dir, const char *name, found *out)
{
    struct stat s;
    *out = (found){.kind = NOTHING};
    if (fstatat(dir, name, &s, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? ZLG_OK : zlgi_fs_fail(-errno, w->path, w->err);
    if (S_ISLNK(s.st_mode))
        *out = look_through_link(w);
    else if (S_ISDIR(s.st_mode))
        *out = (found){.kind = DIRECTORY};
    else if (S_ISREG(s.st_mode))
        *out = (found){.kind = KEY, .n_bytes = (uint64_t)s.st_size};
    return ZLG_OK;
}

/* ------------------------------------------------------------------ the walk */

static zlg_status list_directory(walk *w, int fd, int n_levels);

/* One name of a directory; w->path is its key. */
static zlg_status list_entry(walk *w, int dir, const char *name, int n_levels)
{
    found f;
    ZLGI_TRY(look_at(w, dir, name, &f));
    if (f.kind == NOTHING)
        return ZLG_OK;
    if (f.kind == KEY || w->delimited) {
        bool is_prefix = f.kind != KEY;
        w->is_stopped = w->each(w->user, w->path + w->n_prefix, is_prefix, f.n_bytes) != 0;
        return ZLG_OK;
    }
    int fd = f.kind == LINK
                 ? zlgi_fs_resolve(w->fs, w->path, O_RDONLY | O_DIRECTORY)
                 : zlgi_fs_open_at(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (fd == -ENOENT)
        return ZLG_OK;
    return list_directory(w, fd, n_levels - 1);
}

static zlg_status list_names(walk *w, level *l, int n_levels)
{
    ZLGI_TRY(read_names(w, l));
    size_t n_above = w->n_path;
    zlg_status status = ZLG_OK;
    for (size_t i = 0; i < l->sorted.n && status == ZLG_OK && !w->is_stopped;
         i += sizeof(char *)) {
        const char *name;
        memcpy(&name, l->sorted.data + i, sizeof(name));
        size_t n = strlen(name), start = n_above + (n_above > 0);
        ZLGI_TRY(go_on(w));
        if (start + n >= sizeof(w->path))
            return zlgi_fs_fail(-ENAMETOOLONG, w->path, w->err);
        if (n_above > 0)
            w->path[n_above] = '/';
        memcpy(w->path + start, name, n + 1);
        w->n_path = start + n;
        status = list_entry(w, dirfd(l->dir), name, n_levels);
        w->n_path = n_above;
        w->path[n_above] = '\0';
    }
    return status;
}

/* Takes the descriptor over; it may be an error number. */
static zlg_status list_directory(walk *w, int fd, int n_levels)
{
    if (fd < 0)
        return zlgi_fs_fail(fd, w->path, w->err);
    level l = {.dir = n_levels > 0 ? fdopendir(fd) : NULL};
    if (l.dir == NULL) {
        int code = n_levels > 0 ? -errno : -ELOOP;
        close(fd);
        return zlgi_fs_fail(code, w->path, w->err);
    }
    zlgi_arena_init(&l.names, w->fs->base.alloc);
    zlgi_buf_init(&l.sorted, w->fs->base.alloc);
    zlg_status status = list_names(w, &l, n_levels);
    zlgi_arena_reset(&l.names);
    zlgi_buf_reset(&l.sorted);
    closedir(l.dir);
    return status;
}

zlg_status zlgi_fs_list(zlg_store *store, const char *prefix, bool delimited,
                        const zlgi_txn *txn, zlg_list_fn each, void *user, zlg_error *err)
{
    zlgi_fs *fs = (zlgi_fs *)store;
    size_t n = strlen(prefix);
    if (n > 0)
        ZLGI_TRY(zlgi_key_check(prefix, err));
    int fd = zlgi_fs_resolve(fs, prefix, O_RDONLY | O_DIRECTORY);
    if (zlgi_fs_is_absent(fd))
        return ZLG_OK;
    walk w = {.fs = fs,
              .txn = txn,
              .each = each,
              .user = user,
              .err = err,
              .delimited = delimited,
              .n_left = store->limits->keys_listed,
              .n_prefix = n + (n > 0),
              .n_path = n};
    memcpy(w.path, prefix, n + 1);
    return list_directory(&w, fd, ZLGI_FS_MAX_LEVELS);
}
