/* What the tests of changes share: a store in memory and one of files, the text of what is
 * stored, and how many keys there are. */
#ifndef ZELLIGE_CHANGE_TEST_H
#define ZELLIGE_CHANGE_TEST_H

#include "../fault/fault.h"
#include "../store/folder.h"

enum { N_STORES = 2 };

typedef struct fixture {
    zlg_ctx *ctx;
    test_folder folder;
    zlg_store *stores[N_STORES]; /* in memory; files */
} fixture;

static inline void open_fixture(fixture *f)
{
    zlg_ctx_options options = ZLG_CTX_OPTIONS_INIT;
    options.n_threads = 3;
    test_folder_make(&f->folder);
    MUST(zlg_ctx_new(&options, &f->ctx, err_));
    MUST(zlg_store_open_memory(f->ctx, &f->stores[0], err_));
    MUST(zlg_store_open_fs(f->ctx, f->folder.path, NULL, &f->stores[1], err_));
}

static inline void close_fixture(fixture *f)
{
    for (int i = 0; i < N_STORES; i++)
        zlg_store_close(f->stores[i]);
    zlg_ctx_close(f->ctx);
    test_folder_remove(&f->folder);
}

static inline int count_key(void *user, const char *name, int is_prefix, uint64_t n_bytes)
{
    (void)name, (void)n_bytes;
    *(int *)user += !is_prefix;
    return 0;
}

/* Keys below a prefix. */
static inline int n_keys(zlg_store *store, const char *prefix)
{
    int n = 0;
    MUST(zlg_store_list(store, prefix, 0, count_key, &n, err_));
    return n;
}

static inline bool has_key(zlg_store *store, const char *key)
{
    zlg_text text;
    zlg_error err;
    zlg_status status = zlg_store_get(store, key, &text, &err);
    if (status == ZLG_OK)
        zlg_text_free(&text);
    else
        assert_int_equal(status, ZLG_NOT_FOUND);
    return status == ZLG_OK;
}

/* The text of a key has these words. */
static inline void check_has(zlg_store *store, const char *key, const char *words)
{
    zlg_text text;
    MUST(zlg_store_get(store, key, &text, err_));
    if (strstr(text.data, words) == NULL)
        fail_msg("no \"%s\" in %s: %s", words, key, text.data);
    zlg_text_free(&text);
}

static inline void check_text(zlg_store *store, const char *key, const char *expected)
{
    zlg_text text;
    MUST(zlg_store_get(store, key, &text, err_));
    assert_string_equal(text.data, expected);
    zlg_text_free(&text);
}

/* The status, and a message that holds these words. */
static inline void check_refused(zlg_status status, const zlg_error *err,
                                 zlg_status expected, const char *words)
{
    if (status != expected || strstr(err->message, words) == NULL)
        fail_msg("got %s \"%s\", expected %s \"%s\"", zlg_status_name(status), err->message,
                 zlg_status_name(expected), words);
    assert_int_equal(err->status, expected);
}

#define REFUSED(expected, words, expression)                                               \
    do {                                                                                   \
        zlg_error refused_ = {0};                                                          \
        zlg_error *err_ = &refused_;                                                       \
        zlg_status status_ = (expression);                                                 \
        check_refused(status_, err_, expected, words);                                     \
    } while (0)

/* Attributes of a node as one line. */
static inline void check_attributes(zlg_store *store, const char *path,
                                    const char *expected)
{
    zlg_text text;
    zlg_array *array = NULL;
    zlg_group *group = NULL;
    zlg_open_options options = ZLG_OPEN_OPTIONS_INIT;
    options.ignore_consolidated = 1;
    if (zlg_array_open(store, path, NULL, &array, NULL) == ZLG_OK)
        MUST(zlg_array_attributes(array, &text, err_));
    else {
        MUST(zlg_group_open(store, path, &options, &group, err_));
        MUST(zlg_group_attributes(group, &text, err_));
    }
    assert_string_equal(text.data, expected);
    zlg_text_free(&text);
    zlg_array_close(array);
    zlg_group_close(group);
}

#endif
