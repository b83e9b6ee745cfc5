/* A folder for the files of one test, removed with all below it afterwards. */
#ifndef ZELLIGE_TEST_FOLDER_H
#define ZELLIGE_TEST_FOLDER_H

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

typedef struct test_folder {
    char path[64];
} test_folder;

static inline void test_folder_make(test_folder *folder)
{
    memcpy(folder->path, "/tmp/zellige-test-XXXXXX", sizeof "/tmp/zellige-test-XXXXXX");
    assert_non_null(mkdtemp(folder->path));
}

static inline int test_folder_remove_one(const char *path, const struct stat *s, int kind,
                                         struct FTW *at)
{
    (void)s, (void)kind, (void)at;
    return remove(path);
}

static inline void test_folder_remove(test_folder *folder)
{
    assert_int_equal(nftw(folder->path, test_folder_remove_one, 64, FTW_DEPTH | FTW_PHYS),
                     0);
}

/* The path of a name in the folder; overwritten by the next call. */
static inline const char *test_folder_path(const test_folder *folder, const char *name)
{
    static char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/%s", folder->path, name);
    assert_in_range(n, 1, sizeof path - 1);
    return path;
}

static inline void test_folder_mkdir(const test_folder *folder, const char *name)
{
    assert_int_equal(mkdir(test_folder_path(folder, name), 0777), 0);
}

static inline void test_folder_link(const test_folder *folder, const char *target,
                                    const char *name)
{
    assert_int_equal(symlink(target, test_folder_path(folder, name)), 0);
}

static inline void test_folder_write(const test_folder *folder, const char *name,
                                     const char *text)
{
    FILE *file = fopen(test_folder_path(folder, name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

static inline bool test_folder_has(const test_folder *folder, const char *name)
{
    struct stat s;
    return lstat(test_folder_path(folder, name), &s) == 0;
}

#endif
