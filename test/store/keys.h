/* Short forms for tests of stores: text in, text out, listings as one line of text. */
#ifndef ZELLIGE_TEST_KEYS_H
#define ZELLIGE_TEST_KEYS_H

#include <stdio.h>

#include "store/store.h"
#include "test.h"

static const zlg_limits test_limits = {
#define TEST_LIMIT(name, value, unit, meaning) .name = (value),
    ZLG_LIMIT_TABLE(TEST_LIMIT)
#undef TEST_LIMIT
};

static inline zlg_status test_put_parts(zlg_store *store, const char *key,
                                        const zlgi_bytes *parts, int n_parts,
                                        zlg_error *err)
{
    return zlgi_store_put(store, key, ZLGI_REPLACE, ZLG_VISIBLE, parts, n_parts, err);
}

static inline zlg_status test_put(zlg_store *store, const char *key, const char *text,
                                  zlg_error *err)
{
    zlgi_bytes part = {(const uint8_t *)text, strlen(text)};
    return test_put_parts(store, key, &part, 1, err);
}

static inline zlg_status test_remove(zlg_store *store, const char *key, zlg_error *err)
{
    return test_put_parts(store, key, NULL, ZLGI_REMOVE, err);
}

static inline void test_must_put(zlg_store *store, const char *key, const char *text)
{
    zlg_error err = {0};
    if (test_put(store, key, text, &err) != ZLG_OK)
        fail_msg("put %s: %s", key, err.message);
}

/* The status of reading a key; its text must be `expected` when that succeeds. */
static inline zlg_status test_get(zlg_store *store, const char *key, const char *expected,
                                  zlg_error *err)
{
    zlgi_buf buf;
    zlgi_buf_init(&buf, &zlgi_default_alloc);
    zlg_status status = zlgi_store_get(store, key, 1 << 20, &buf, err);
    if (status == ZLG_OK) {
        assert_int_equal(buf.n, strlen(expected));
        assert_memory_equal(buf.data, expected, buf.n);
    }
    zlgi_buf_reset(&buf);
    return status;
}

static inline void test_must_get(zlg_store *store, const char *key, const char *expected)
{
    zlg_error err = {0};
    if (test_get(store, key, expected, &err) != ZLG_OK)
        fail_msg("get %s: %s", key, err.message);
}

/* Absent, and said without a message. */
static inline void test_must_miss(zlg_store *store, const char *key)
{
    zlg_error err = {.status = ZLG_IO, .message = "old"};
    zlgi_object object;
    assert_int_equal(store->class->open(store, key, 0, &object, &err), ZLG_NOT_FOUND);
    assert_int_equal(err.status, ZLG_NOT_FOUND);
    assert_string_equal(err.message, "");
}

typedef struct test_listing {
    zlgi_buf text;
    int n_left; /* names until the listing is stopped; -1: never */
} test_listing;

static inline int test_list_one(void *user, const char *name, int is_prefix,
                                uint64_t n_bytes)
{
    test_listing *listing = user;
    zlg_status status =
        zlgi_buf_printf(&listing->text, NULL, "%s%s", name, is_prefix ? "/ " : "=");
    assert_int_equal(status, ZLG_OK);
    if (!is_prefix)
        status =
            zlgi_buf_printf(&listing->text, NULL, "%llu ", (unsigned long long)n_bytes);
    else
        assert_int_equal(n_bytes, 0);
    assert_int_equal(status, ZLG_OK);
    return listing->n_left > 0 && --listing->n_left == 0;
}

/* A listing must read "name=bytes prefix/ ", in this order. */
static inline void test_must_list_some(zlg_store *store, const char *prefix, bool delimited,
                                       int n_names, const char *expected)
{
    zlg_error err = {0};
    test_listing listing = {.n_left = n_names};
    zlgi_buf_init(&listing.text, &zlgi_default_alloc);
    if (store->class->list(store, prefix, delimited, NULL, test_list_one, &listing, &err) !=
        ZLG_OK)
        fail_msg("list %s: %s", prefix, err.message);
    assert_int_equal(zlgi_buf_append(&listing.text, "", 1, NULL), ZLG_OK);
    assert_string_equal((const char *)listing.text.data, expected);
    zlgi_buf_reset(&listing.text);
}

static inline void test_must_list(zlg_store *store, const char *prefix, bool delimited,
                                  const char *expected)
{
    test_must_list_some(store, prefix, delimited, -1, expected);
}

static inline int test_list_nothing(void *user, const char *name, int is_prefix,
                                    uint64_t n_bytes)
{
    (void)user, (void)name, (void)is_prefix, (void)n_bytes;
    return 0;
}

#endif
