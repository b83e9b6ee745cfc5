/*
 * Folders in which several processes keep files, each its own. A lock on a file of the
 * folder lets one of them in at a time; a lock on a file of its own tells that a process
 * lives. Both are locks of open file descriptions, which the kernel gives back when the
 * last descriptor is closed, whatever becomes of the process.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/base.h"

#define LOCK_NAME ".lock"
#define EMPTIED_NAME "user.zellige.emptied" /* an attribute of a folder */

static zlg_status fail_with(zlg_status status, const char *what, const char *path,
                            zlg_error *err)
{
    char text[100];
    return zlgi_fail(err, status, "%s %s: %s", what, path,
                     strerror_r(errno, text, sizeof text));
}

static zlg_status fail(const char *what, const char *path, zlg_error *err)
{
    return fail_with(ZLG_IO, what, path, err);
}

/* Of a file that may be gone. */
static zlg_status fail_to_find(const char *what, const char *path, zlg_error *err)
{
    return fail_with(errno == ENOENT ? ZLG_NOT_FOUND : ZLG_IO, what, path, err);
}

static zlg_status join(const char *folder, const char *name, char out[PATH_MAX],
                       zlg_error *err)
{
    int n = snprintf(out, PATH_MAX, "%s/%s", folder, name);
    return n > 0 && n < PATH_MAX
               ? ZLG_OK
               : zlgi_fail(err, ZLG_USAGE, "the path %s is too long", folder);
}

/* 0, or what errno says. */
static int lock(int file, int command)
{
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int code;
    do
        code = fcntl(file, command, &all) == 0 ? 0 : errno;
    while (code == EINTR);
    return code;
}

/* ------------------------------------------------------------------ folders */

zlg_status zlgi_folder_make(const char *path, char out[ZLGI_FOLDER_MAX], zlg_error *err)
{
    char whole[PATH_MAX];
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return fail("making the folder", path, err);
    if (!realpath(path, whole))
        return fail("finding the folder", path, err);
    if (strlen(whole) >= ZLGI_FOLDER_MAX)
        return zlgi_fail(err, ZLG_USAGE, "the path %s is too long", path);
    memcpy(out, whole, strlen(whole) + 1);
    return ZLG_OK;
}

/* Who was last in it may have removed the folder while we waited. */
zlg_status zlgi_folder_enter(const char *path, int *out, zlg_error *err)
{
    char name[PATH_MAX];
    struct stat found = {.st_nlink = 0};
    ZLGI_TRY(join(path, LOCK_NAME, name, err));
    for (;;) {
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            return fail("making the folder", path, err);
        int file = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (file < 0 && errno == ENOENT)
            continue;
        if (file < 0)
            return fail("opening", name, err);
        errno = lock(file, F_OFD_SETLKW);
        if (errno != 0 || fstat(file, &found) != 0) {
            zlg_status status = fail("locking", name, err);
            close(file);
            return status;
        }
        if (found.st_nlink > 0) {
            *out = file;
            return ZLG_OK;
        }
        close(file);
    }
}

void zlgi_folder_leave(int entered)
{
    close(entered);
}

zlg_status zlgi_folder_list(const char *path, zlgi_name_fn each, void *user, zlg_error *err)
{
    DIR *folder = opendir(path);
    if (!folder)
        return fail("listing", path, err);
    zlg_status status = ZLG_OK;
    struct dirent *entry;
    errno = 0;
    while (status == ZLG_OK && (entry = readdir(folder))) {
        status = each(user, entry->d_name, err);
        errno = 0;
    }
    if (status == ZLG_OK && errno != 0)
        status = fail("listing", path, err);
    closedir(folder);
    return status;
}

/* Of those who cannot sync a folder nothing more can be had. */
static zlg_status sync_folder(const char *path, zlg_error *err)
{
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return fail("opening", path, err);
    zlg_status status = ZLG_OK;
    if (fsync(folder) != 0 && errno != EINVAL)
        status = fail("syncing", path, err);
    close(folder);
    return status;
}

zlg_status zlgi_folder_sync(const char *path, zlg_error *err)
{
    char parent[PATH_MAX];
    ZLGI_TRY(sync_folder(path, err));
    ZLGI_TRY(join(path, "..", parent, err));
    return sync_folder(parent, err);
}

void zlgi_folder_remove(const char *path)
{
    (void)zlgi_file_remove(path, LOCK_NAME, NULL);
    (void)rmdir(path); /* somebody else may have come */
}

bool zlgi_folder_hold(const char *path, bool alone, int *out)
{
    *out = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*out < 0 || flock(*out, (alone ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0)
        return true;
    bool is_taken = errno == EWOULDBLOCK;
    close(*out);
    *out = -1;
    return !is_taken;
}

/* Unlocked by name: a child of fork may have the descriptor still. */
void zlgi_folder_let(int held)
{
    if (held < 0)
        return;
    (void)flock(held, LOCK_UN);
    close(held);
}

zlg_status zlgi_folder_identify(const char *path, zlgi_folder_id *out, zlg_error *err)
{
    struct statx s;
    uint64_t second = 1000 * 1000 * 1000;
    *out = (zlgi_folder_id){0};
    if (statx(AT_FDCWD, path, 0, STATX_INO | STATX_BTIME, &s) != 0)
        return fail_to_find("looking at", path, err);
    out->device = makedev(s.stx_dev_major, s.stx_dev_minor);
    out->inode = s.stx_ino;
    if (s.stx_mask & STATX_BTIME)
        out->made_ns = (uint64_t)s.stx_btime.tv_sec * second + s.stx_btime.tv_nsec;
    if (getxattr(path, EMPTIED_NAME, &out->emptied, sizeof out->emptied) < 0)
        out->emptied = 0;
    return ZLG_OK;
}

void zlgi_folder_note_emptied(int folder)
{
    uint64_t number;
    if (getrandom(&number, sizeof number, 0) == sizeof number)
        (void)fsetxattr(folder, EMPTIED_NAME, &number, sizeof number, 0);
}

/* ------------------------------------------------------------------ files in them */

zlg_status zlgi_file_create(const char *folder, const char *ending,
                            char out_name[ZLGI_FILE_NAME_MAX], int *out, zlg_error *err)
{
    char path[PATH_MAX];
    uint64_t number;
    int file;
    do {
        if (getrandom(&number, sizeof number, 0) != sizeof number)
            return fail("making a random name in", folder, err);
        snprintf(out_name, ZLGI_FILE_NAME_MAX, "%016llx%s", (unsigned long long)number,
                 ending);
        ZLGI_TRY(join(folder, out_name, path, err));
        file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (file < 0 && errno == EEXIST);
    if (file < 0)
        return fail("making", path, err);
    *out = file;
    return ZLG_OK;
}

zlg_status zlgi_file_open(const char *folder, const char *name, int *out, zlg_error *err)
{
    char path[PATH_MAX];
    ZLGI_TRY(join(folder, name, path, err));
    *out = open(path, O_RDWR | O_CLOEXEC);
    return *out < 0 ? fail_to_find("opening", path, err) : ZLG_OK;
}

zlg_status zlgi_file_rename(const char *folder, const char *from, const char *to,
                            zlg_error *err)
{
    char old_path[PATH_MAX], new_path[PATH_MAX];
    ZLGI_TRY(join(folder, from, old_path, err));
    ZLGI_TRY(join(folder, to, new_path, err));
    return rename(old_path, new_path) != 0 ? fail_to_find("renaming", old_path, err)
                                           : ZLG_OK;
}

zlg_status zlgi_file_remove(const char *folder, const char *name, zlg_error *err)
{
    char path[PATH_MAX];
    ZLGI_TRY(join(folder, name, path, err));
    bool is_gone = unlink(path) == 0 || errno == ENOENT;
    return is_gone ? ZLG_OK : fail("removing", path, err);
}

zlg_status zlgi_file_lock(int file, bool *out, zlg_error *err)
{
    int code = lock(file, F_OFD_SETLK);
    *out = code == 0;
    errno = code;
    bool is_known = code == 0 || code == EAGAIN || code == EACCES;
    return is_known ? ZLG_OK : fail("locking", "a file", err);
}

zlg_status zlgi_file_size(int file, uint64_t *out, zlg_error *err)
{
    struct stat found;
    if (fstat(file, &found) != 0)
        return fail("looking at", "a file", err);
    *out = (uint64_t)found.st_size;
    return ZLG_OK;
}

zlg_status zlgi_file_sync(int file, zlg_error *err)
{
    return fdatasync(file) != 0 ? fail("syncing", "a file", err) : ZLG_OK;
}

/* ------------------------------------------------------------------ the machine */

void zlgi_boot_id(char out[ZLGI_BOOT_ID])
{
    int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = file < 0 ? 0 : read(file, out, ZLGI_BOOT_ID);
    if (file >= 0)
        close(file);
    if (n < ZLGI_BOOT_ID && getrandom(out, ZLGI_BOOT_ID, 0) != ZLGI_BOOT_ID)
        memset(out, 0, ZLGI_BOOT_ID);
}
