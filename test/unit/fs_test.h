/* What tests of the file system store share. */
#ifndef ZELLIGE_TEST_FS_H
#define ZELLIGE_TEST_FS_H

#include "store/folder.h"
#include "store/fs.h"
#include "store/keys.h"

static inline zlg_store *open_with(const test_folder *folder, zlg_fs_options options)
{
    zlg_store *store = NULL;
    assert_int_equal(zlgi_fs_open(&zlgi_default_alloc, &test_limits, folder->path, &options,
                                  &store, NULL),
                     ZLG_OK);
    return store;
}

static inline zlg_store *open_plain(const test_folder *folder)
{
    return open_with(folder, (zlg_fs_options)ZLG_FS_OPTIONS_INIT);
}

/* Every name below the folder, hidden ones too, as nftw meets them. */
static int n_names;

static inline int count_name(const char *path, const struct stat *s, int kind,
                             struct FTW *at)
{
    (void)path, (void)s, (void)kind;
    n_names += at->level > 0;
    return 0;
}

static inline int count_names(const test_folder *folder)
{
    n_names = 0;
    assert_int_equal(nftw(folder->path, count_name, 64, FTW_PHYS), 0);
    return n_names;
}

static inline int count_temporary(const char *path, const struct stat *s, int kind,
                                  struct FTW *at)
{
    (void)s, (void)kind;
    n_names += zlgi_fs_is_temporary(path + at->base);
    return 0;
}

static inline int count_temporaries(const test_folder *folder)
{
    n_names = 0;
    assert_int_equal(nftw(folder->path, count_temporary, 64, FTW_PHYS), 0);
    return n_names;
}

/* A transaction's `waiting` that does not wait. */
static inline int give_up(void *user)
{
    (void)user;
    return 1;
}

/* One update that would not wait; text NULL: it sees what is there and leaves it. */
static inline zlg_status update_now(zlg_store *store, const char *key, const char *text,
                                    zlg_error *err)
{
    zlgi_bytes part = {(const uint8_t *)text, text != NULL ? strlen(text) : 0};
    zlgi_txn txn = {.change = ZLGI_UPDATE, .promise = ZLG_VISIBLE, .waiting = give_up};
    ZLGI_TRY(store->class->begin(store, key, &txn, err));
    zlg_status status = ZLG_OK;
    if (text != NULL)
        status = store->class->commit(store, key, &txn, &part, 1, err);
    store->class->end(store, &txn);
    return status;
}

#endif
