/*
 * A store in a directory: keys are paths below it (v3 specification, file system store).
 *
 * Here: opening the store, and reading objects. A key at the top of the store is opened by
 * its full path, so that a store which is only asked for one document costs no handle of
 * its root; the rest goes through fs_path.c. Objects are opened without waiting, since a
 * named pipe would never answer; reading never looks at a file's type, the system says
 * when it was a directory.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/fs.h"

/* ------------------------------------------------------------------ objects */

/* A file's times move in steps of a clock tick: one that changed within the last step may
 * change again and show the same times. */
enum { CLOCK_TICK_NS = 10 * 1000 * 1000 };

static uint64_t time_ns(struct timespec t)
{
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

int zlgi_fs_look_at(zlgi_object *object)
{
    struct stat s;
    if (fstat(object->fd, &s) != 0)
        return -errno;
    if (!S_ISREG(s.st_mode))
        return S_ISDIR(s.st_mode) ? -EISDIR : -ESPIPE;
    uint64_t changed = time_ns(s.st_ctim), now = zlgi_wall_ns();
    object->n_bytes = (uint64_t)s.st_size;
    object->tag = (zlgi_tag){.a = (uint64_t)s.st_ino,
                             .b = (uint64_t)s.st_size,
                             .c = time_ns(s.st_mtim),
                             .d = changed,
                             .trusted = now > changed && now - changed > CLOCK_TICK_NS};
    return 0;
}

/* By the full path; -ELOOP where that will not do: a link, which may lead anywhere. */
static int open_at_top(const zlgi_fs *fs, const char *key, int flags)
{
    char path[PATH_MAX];
    size_t n_key = strlen(key) + 1;
    if (fs->n_path + n_key > sizeof(path))
        return -ELOOP;
    memcpy(path, fs->path, fs->n_path);
    memcpy(path + fs->n_path, key, n_key);
    return zlgi_fs_open_at(AT_FDCWD, path, flags | O_NOFOLLOW);
}

static zlg_status fs_open(zlg_store *store, const char *key, unsigned flags,
                          zlgi_object *out, zlg_error *err)
{
    zlgi_fs *fs = (zlgi_fs *)store;
    ZLGI_TRY(zlgi_key_check(key, err));
    int fd = -ELOOP;
    if (atomic_load_explicit(&fs->root, memory_order_relaxed) < 0 &&
        strchr(key, '/') == NULL)
        fd = open_at_top(fs, key, O_RDONLY | O_NONBLOCK);
    if (fd == -ELOOP)
        fd = zlgi_fs_resolve(fs, key, O_RDONLY | O_NONBLOCK);
    if (zlgi_fs_is_absent(fd))
        return zlgi_store_absent(err);
    if (fd < 0)
        return zlgi_fs_fail(fd, key, err);
    zlgi_object object = {.n_bytes = ZLGI_SIZE_UNKNOWN, .fd = fd};
    int code = (flags & ZLGI_OPEN_STAT) != 0 ? zlgi_fs_look_at(&object) : 0;
    if (code < 0) {
        close(fd);
        return zlgi_fs_fail(code, key, err);
    }
    *out = object;
    return ZLG_OK;
}

static zlg_status read_error(int code, uint64_t offset, zlg_error *err)
{
    char text[128];
    if (code == EISDIR)
        return zlgi_fail(err, ZLG_CORRUPT, "is a directory, not an object");
    if (code == ESPIPE)
        return zlgi_fail(err, ZLG_CORRUPT, "is no regular file");
    return zlgi_fail(err, ZLG_IO, "reading at byte %llu: %s", (unsigned long long)offset,
                     strerror_r(code, text, sizeof(text)));
}

static zlg_status fs_read(zlg_store *store, zlgi_object *object, uint64_t offset, size_t n,
                          void *destination, size_t *out_n, zlg_error *err)
{
    (void)store;
    enum { CALL_BYTES = 1 << 30 };
    uint64_t n_possible = INT64_MAX - ZLGI_MIN(offset, (uint64_t)INT64_MAX);
    n = (size_t)ZLGI_MIN((uint64_t)n, n_possible);
    size_t n_done = 0;
    /* A short read is no end: only a read of nothing is. */
    while (n_done < n) {
        size_t n_call = ZLGI_MIN(n - n_done, (size_t)CALL_BYTES);
        ssize_t got = pread(object->fd, (uint8_t *)destination + n_done, n_call,
                            (off_t)(offset + n_done));
        if (got == 0)
            break;
        if (got > 0)
            n_done += (size_t)got;
        else if (errno != EINTR)
            return read_error(errno, offset + n_done, err);
    }
    *out_n = n_done;
    return ZLG_OK;
}

static void fs_release(zlg_store *store, zlgi_object *object)
{
    (void)store;
    close(object->fd);
}

/* ------------------------------------------------------------------ opening the store */

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* The path in a file URL (RFC 8089), %xx replaced. */
static zlg_status path_of_url(const char *url, char out[PATH_MAX], zlg_error *err)
{
    const char *c = url + strlen("file://");
    if (strncmp(c, "localhost/", strlen("localhost/")) == 0)
        c += strlen("localhost");
    if (*c != '/')
        return zlgi_fail(err, ZLG_USAGE, "\"%s\" names a host; file:///path is expected",
                         url);
    size_t n = 0;
    for (; *c != '\0' && n < PATH_MAX - 1; c++) {
        int high = *c == '%' ? hex_digit(c[1]) : -1;
        int low = high >= 0 ? hex_digit(c[2]) : -1;
        out[n] = low < 0 ? *c : (char)(high * 16 + low);
        if (out[n++] == '\0')
            return zlgi_fail(err, ZLG_USAGE, "\"%s\" holds a NUL", url);
        c += low < 0 ? 0 : 2;
    }
    out[n] = '\0';
    return *c == '\0' ? ZLG_OK : zlgi_fail(err, ZLG_NOT_FOUND, "\"%s\" is too long", url);
}

static bool is_url(const char *path)
{
    size_t n =
        strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-");
    return n > 0 && strncmp(path + n, "://", 3) == 0;
}

/* Absolute, so that a change of the working directory does not move the store; without
 * slashes at the end. */
static zlg_status full_path(const char *path, char out[PATH_MAX], zlg_error *err)
{
    if (path[0] == '\0')
        return zlgi_fail(err, ZLG_USAGE, "the path of the store is empty");
    char plain[PATH_MAX];
    if (strncmp(path, "file://", strlen("file://")) == 0) {
        ZLGI_TRY(path_of_url(path, plain, err));
        path = plain;
    } else if (is_url(path)) {
        return zlgi_fail(err, ZLG_UNSUPPORTED,
                         "\"%s\": only directories and file:// are read", path);
    }
    size_t n = 0, n_path = strlen(path);
    if (path[0] != '/') {
        if (getcwd(out, PATH_MAX - 1) == NULL)
            return zlgi_fail(err, ZLG_IO, "the working directory has no path");
        n = strlen(out);
        out[n++] = '/';
    }
    if (n + n_path + 2 > PATH_MAX)
        return zlgi_fail(err, ZLG_NOT_FOUND, "\"%s\" is too long", path);
    memcpy(out + n, path, n_path + 1);
    n += n_path;
    while (n > 1 && out[n - 1] == '/')
        out[--n] = '\0';
    return ZLG_OK;
}

static int make_directories(char path[PATH_MAX])
{
    for (size_t end = 1; path[end - 1] != '\0'; end++) {
        if (path[end] != '/' && path[end] != '\0')
            continue;
        char after = path[end];
        path[end] = '\0';
        struct stat s;
        bool is_there = stat(path, &s) == 0 || mkdir(path, 0777) == 0 || errno == EEXIST;
        int code = is_there ? 0 : -errno;
        path[end] = after;
        if (code < 0)
            return code;
    }
    return 0;
}

/* Which directory it is, whatever the handle: what is cached of its objects serves all.
 * Never the number of a store in memory, which are counted from 1. */
static uint64_t id_of(const struct stat *s)
{
    uint64_t id = (uint64_t)s->st_ino * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)s->st_dev;
    return id | UINT64_C(1) << 63;
}

static zlg_status check_directory(const char *path, const char *label, uint64_t *out_id,
                                  zlg_error *err)
{
    struct stat s;
    if (stat(path, &s) == 0) {
        *out_id = id_of(&s);
        if (S_ISDIR(s.st_mode))
            return ZLG_OK;
        return zlgi_fail(err, ZLG_UNSUPPORTED,
                         "\"%s\" is a file; stores in one file (zip) are not read", label);
    }
    if (zlgi_fs_is_absent(-errno))
        return zlgi_fail(err, ZLG_NOT_FOUND, "there is no directory \"%s\"", label);
    char text[128];
    return zlgi_fail(err, ZLG_IO, "\"%s\": %s", label,
                     strerror_r(errno, text, sizeof(text)));
}

static size_t fs_bytes(size_t n_path, const char *label)
{
    return sizeof(zlgi_fs) + n_path + 1 + strlen(label) + 1;
}

static void fs_destroy(zlg_store *store)
{
    zlgi_fs *fs = (zlgi_fs *)store;
    int root = atomic_load(&fs->root);
    if (root >= 0)
        close(root);
    zlgi_free(store->alloc, fs, fs_bytes(fs->n_path, store->label));
}

/* A store opened for reading only has the same functions: they say why they refuse. */
static const char *fs_directory(const zlg_store *store)
{
    return ((const zlgi_fs *)store)->path;
}

static bool fs_lacks(zlg_store *store, const char *key)
{
    int fd = zlgi_fs_resolve((zlgi_fs *)store, key, O_PATH | O_NOFOLLOW);
    if (fd >= 0)
        close(fd);
    return zlgi_fs_is_absent(fd);
}

static zlg_status fs_check_key(const zlg_store *store, const char *key, zlg_error *err)
{
    return zlgi_fs_check_change((const zlgi_fs *)store, key, err);
}

static const zlgi_store_class fs_class = {
    .kind = "fs",
    .capabilities = ZLGI_STORE_WRITE | ZLGI_STORE_LIST,
    .open = fs_open,
    .read = fs_read,
    .release = fs_release,
    .check_key = fs_check_key,
    .begin = zlgi_fs_begin,
    .commit = zlgi_fs_commit,
    .end = zlgi_fs_end,
    .sync = zlgi_fs_sync,
    .remove_prefix = zlgi_fs_remove_prefix,
    .list = zlgi_fs_list,
    .rename_prefix = zlgi_fs_rename_prefix,
    .sweep = zlgi_fs_sweep,
    .stage = zlgi_fs_stage,
    .directory = fs_directory,
    .lacks = fs_lacks,
    .destroy = fs_destroy,
};

zlg_status zlgi_fs_open(const zlgi_alloc *alloc, const zlg_limits *limits,
                        const char *label, const zlg_fs_options *options, zlg_store **out,
                        zlg_error *err)
{
    const zlg_fs_options defaults = ZLG_FS_OPTIONS_INIT;
    if (options == NULL)
        options = &defaults;
    if (options->create && options->read_only)
        return zlgi_fail(err, ZLG_USAGE, "create and read_only exclude each other");
    char path[PATH_MAX];
    ZLGI_TRY(full_path(label, path, err));
    if (options->create) {
        int code = make_directories(path);
        char text[128];
        if (code < 0)
            return zlgi_fail(err, ZLG_IO, "making directory \"%s\": %s", label,
                             strerror_r(-code, text, sizeof(text)));
    }
    uint64_t id = 0;
    ZLGI_TRY(check_directory(path, label, &id, err));

    size_t n_path = strlen(path);
    if (path[n_path - 1] != '/')
        path[n_path++] = '/';
    zlgi_fs *fs = zlgi_new(alloc, fs_bytes(n_path, label));
    if (fs == NULL)
        return zlgi_no_memory(err, fs_bytes(n_path, label));
    memcpy(fs->path, path, n_path);
    memcpy(fs->path + n_path + 1, label, strlen(label) + 1);
    fs->base = (zlg_store){.class = &fs_class,
                           .alloc = alloc,
                           .limits = limits,
                           .id = id,
                           .n_refs = 1,
                           .label = fs->path + n_path + 1};
    fs->follow_links = options->follow_links != 0;
    fs->read_only = options->read_only != 0;
    fs->no_locks = options->no_locks != 0;
    fs->n_path = n_path;
    atomic_init(&fs->lacks_openat2, false);
    atomic_init(&fs->lacks_noreplace, false);
    atomic_init(&fs->lacks_nameless, false);
    atomic_init(&fs->has_locks, false);
    atomic_init(&fs->last_temporary, 0);
    atomic_init(&fs->root, -1);
    *out = &fs->base;
    return ZLG_OK;
}
