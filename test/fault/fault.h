/*
 * What goes wrong on purpose: a heap that refuses its n-th call, and a store whose n-th
 * call fails, comes up short, or takes its time.
 *
 * The store keeps each value right before a page that may not be touched, so that a lent
 * value cannot be read too far.
 */
#ifndef ZELLIGE_TEST_FAULT_H
#define ZELLIGE_TEST_FAULT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "core/core.h"
#include "test.h"

/* ------------------------------------------------------------------ heap
 * From any thread; sizes are checked as those of test_heap are. */
typedef struct fault_heap {
    zlg_allocator alloc;
    pthread_mutex_t lock;
    test_heap heap;
    size_t fail_at; /* 0: never */
    bool once;      /* refuses that call only, not all that follow */
    size_t n_refused;
} fault_heap;

static inline void *fault_heap_resize(void *self, void *block, size_t old_bytes,
                                      size_t new_bytes)
{
    fault_heap *h = self;
    pthread_mutex_lock(&h->lock);
    size_t n = h->heap.n_calls + 1;
    bool refused =
        new_bytes > 0 && h->fail_at > 0 && (h->once ? n == h->fail_at : n >= h->fail_at);
    h->n_refused += refused;
    h->heap.n_calls += refused;
    void *out = refused ? NULL : test_heap_resize(&h->heap, block, old_bytes, new_bytes);
    pthread_mutex_unlock(&h->lock);
    return out;
}

static inline void fault_heap_init(fault_heap *h, size_t fail_at, bool once)
{
    memset(h, 0, sizeof *h);
    h->alloc = (zlg_allocator){.resize = fault_heap_resize, .self = h};
    h->fail_at = fail_at;
    h->once = once;
    pthread_mutex_init(&h->lock, NULL);
}

static inline void fault_heap_check_empty(fault_heap *h)
{
    assert_int_equal(h->heap.n_blocks, 0);
    assert_int_equal(h->heap.n_bytes, 0);
    pthread_mutex_destroy(&h->lock);
}

/* ------------------------------------------------------------------ store */

typedef enum fault_kind {
    FAULT_NONE,
    FAULT_IO,       /* the call fails */
    FAULT_SHORT,    /* a read gives half of what it could */
    FAULT_TRUNCATED /* an object is opened at half its length */
} fault_kind;

typedef struct fault_value {
    struct fault_value *next; /* by key */
    char key[128];
    uint8_t *pages, *data;
    size_t n_bytes, n_mapped;
    uint64_t number; /* which put made it */
} fault_value;

typedef struct fault_store {
    zlg_store base;
    pthread_mutex_t lock; /* of the next three */
    fault_value *values, *old;
    uint64_t n_puts;
    bool lends;          /* values are lent, not copied */
    bool trusted;        /* objects have version tags: they may be cached */
    bool frozen;         /* nothing is put any more: no lock, so that forks may read */
    int sleep_us;        /* of each open and read */
    fault_kind kind;     /* of call number fail_at */
    uint64_t fail_at;    /* 0: never */
    const char *bad_key; /* bytes of this object from bad_from to bad_to cannot be */
    uint64_t bad_from, bad_to;                      /* read */
    atomic_uint_least64_t n_calls, n_reads, n_open; /* n_open: handles not yet released */
} fault_store;

/* What an open object holds: the value, and how much of it is seen. */
typedef struct fault_handle {
    const fault_value *value;
    size_t n_bytes;
} fault_handle;

static inline bool fault_strikes(fault_store *s, fault_kind kind)
{
    uint64_t n = atomic_fetch_add(&s->n_calls, 1) + 1;
    return s->kind == kind && s->fail_at != 0 && n == s->fail_at;
}

static inline void fault_sleep(const fault_store *s)
{
    struct timespec t = {.tv_sec = s->sleep_us / 1000000,
                         .tv_nsec = s->sleep_us % 1000000 * 1000};
    if (s->sleep_us > 0)
        nanosleep(&t, NULL);
}

static inline zlg_status fault_fail(zlg_error *err)
{
    return zlgi_fail(err, ZLG_IO, "the disk is on fire");
}

static inline fault_value *fault_find(fault_store *s, const char *key)
{
    fault_value *value = s->values;
    while (value != NULL && strcmp(value->key, key) != 0)
        value = value->next;
    return value;
}

/* Opens the first n_bytes of a value. */
static inline void fault_lend(fault_store *s, const fault_value *value, size_t n_bytes,
                              unsigned flags, zlgi_object *out)
{
    fault_handle *handle = malloc(sizeof *handle);
    *handle = (fault_handle){.value = value, .n_bytes = n_bytes};
    *out = (zlgi_object){.fd = -1, .owner = handle, .n_bytes = ZLGI_SIZE_UNKNOWN};
    if ((flags & ZLGI_OPEN_STAT) != 0 || s->lends) {
        out->n_bytes = n_bytes;
        out->tag = (zlgi_tag){.a = value->number, .b = n_bytes, .trusted = s->trusted};
    }
    if (s->lends)
        out->view = value->data + value->n_bytes - n_bytes;
    atomic_fetch_add(&s->n_open, 1);
}

static inline zlg_status fault_open(zlg_store *store, const char *key, unsigned flags,
                                    zlgi_object *out, zlg_error *err)
{
    fault_store *s = (fault_store *)store;
    fault_sleep(s);
    bool truncated = s->kind == FAULT_TRUNCATED && fault_strikes(s, FAULT_TRUNCATED);
    if (s->kind != FAULT_TRUNCATED && fault_strikes(s, FAULT_IO))
        return fault_fail(err);
    if (!s->frozen)
        pthread_mutex_lock(&s->lock);
    const fault_value *value = fault_find(s, key);
    if (!s->frozen)
        pthread_mutex_unlock(&s->lock);
    if (value == NULL)
        return zlgi_store_absent(err);
    fault_lend(s, value, truncated ? value->n_bytes / 2 : value->n_bytes, flags, out);
    return ZLG_OK;
}

static inline zlg_status fault_read(zlg_store *store, zlgi_object *object, uint64_t offset,
                                    size_t n, void *destination, size_t *out_n,
                                    zlg_error *err)
{
    fault_store *s = (fault_store *)store;
    const fault_handle *handle = object->owner;
    fault_sleep(s);
    atomic_fetch_add(&s->n_reads, 1);
    bool is_short = s->kind == FAULT_SHORT && fault_strikes(s, FAULT_SHORT);
    if (s->kind != FAULT_SHORT && fault_strikes(s, FAULT_IO))
        return fault_fail(err);
    if (s->bad_key != NULL && strcmp(handle->value->key, s->bad_key) == 0 &&
        offset < s->bad_to && offset + n > s->bad_from)
        return fault_fail(err);
    uint64_t n_left = handle->n_bytes - ZLGI_MIN(offset, (uint64_t)handle->n_bytes);
    *out_n = (size_t)ZLGI_MIN(n_left, n);
    if (is_short)
        *out_n /= 2;
    if (*out_n > 0)
        memcpy(destination, handle->value->data + offset, *out_n);
    return ZLG_OK;
}

static inline void fault_release(zlg_store *store, zlgi_object *object)
{
    fault_store *s = (fault_store *)store;
    atomic_fetch_sub(&s->n_open, 1);
    free(object->owner);
}

static inline fault_value *fault_value_make(const char *key, const zlgi_bytes *parts,
                                            int n_parts)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), n = 0;
    for (int i = 0; i < n_parts; i++)
        n += parts[i].n;
    fault_value *value = calloc(1, sizeof *value);
    snprintf(value->key, sizeof value->key, "%s", key);
    size_t n_data = (n + page - 1) / page * page;
    value->n_bytes = n;
    value->n_mapped = n_data + page;
    value->pages = mmap(NULL, value->n_mapped, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(value->pages != MAP_FAILED);
    value->data = value->pages + n_data - n;
    uint8_t *at = value->data;
    for (int i = 0; i < n_parts; at += parts[i++].n)
        if (parts[i].n > 0)
            memcpy(at, parts[i].data, parts[i].n);
    assert_int_equal(mprotect(value->pages, n_data, PROT_READ), 0);
    assert_int_equal(mprotect(value->pages + n_data, page, PROT_NONE), 0);
    return value;
}

static inline void fault_value_free(fault_value *value)
{
    if (value != NULL)
        munmap(value->pages, value->n_mapped);
    free(value);
}

/* Takes a value out of the list; readers may still hold it. */
static inline void fault_take(fault_store *s, const char *key)
{
    for (fault_value **at = &s->values; *at != NULL; at = &(*at)->next)
        if (strcmp((*at)->key, key) == 0) {
            fault_value *value = *at;
            *at = value->next;
            value->next = s->old;
            s->old = value;
            return;
        }
}

/* ------------------------------------------------------------------ transactions
 * What was seen is a value: none is freed before the store is. */

static inline zlg_status fault_exists(zlg_error *err)
{
    return zlgi_fail(err, ZLG_EXISTS, "another one was faster");
}

static inline zlg_status fault_begin(zlg_store *store, const char *key, zlgi_txn *txn,
                                     zlg_error *err)
{
    fault_store *s = (fault_store *)store;
    fault_sleep(s);
    if (fault_strikes(s, FAULT_IO))
        return zlgi_within(err, fault_fail(err), "key \"%s\"", key);
    pthread_mutex_lock(&s->lock);
    fault_value *value = fault_find(s, key);
    pthread_mutex_unlock(&s->lock);
    txn->present = value != NULL;
    txn->again = false;
    txn->seen = value;
    if (value != NULL && txn->change == ZLGI_CREATE)
        return fault_exists(err);
    if (value != NULL && txn->change == ZLGI_UPDATE)
        fault_lend(s, value, value->n_bytes, ZLGI_OPEN_STAT, &txn->object);
    return ZLG_OK;
}

static inline void fault_insert(fault_store *s, fault_value *value)
{
    fault_value **at = &s->values;
    value->number = ++s->n_puts;
    while (*at != NULL && strcmp((*at)->key, value->key) < 0)
        at = &(*at)->next;
    value->next = *at;
    *at = value;
}

/* parts: as in the table of stores. */
static inline zlg_status fault_commit(zlg_store *store, const char *key, zlgi_txn *txn,
                                      const zlgi_bytes *parts, int n_parts, zlg_error *err)
{
    fault_store *s = (fault_store *)store;
    fault_sleep(s);
    if (fault_strikes(s, FAULT_IO))
        return zlgi_within(err, fault_fail(err), "key \"%s\"", key);
    fault_value *value = n_parts < 0 ? NULL : fault_value_make(key, parts, n_parts);
    pthread_mutex_lock(&s->lock);
    bool late = txn->change != ZLGI_REPLACE && fault_find(s, key) != txn->seen;
    if (!late) {
        fault_take(s, key);
        if (value != NULL)
            fault_insert(s, value);
    }
    pthread_mutex_unlock(&s->lock);
    if (!late)
        return ZLG_OK;
    fault_value_free(value);
    txn->again = txn->change == ZLGI_UPDATE;
    return fault_exists(err);
}

static inline void fault_end(zlg_store *store, zlgi_txn *txn)
{
    if (txn->present && txn->change == ZLGI_UPDATE)
        fault_release(store, &txn->object);
}

static inline zlg_status fault_sync(zlg_store *store, zlgi_syncs *syncs, zlg_error *err)
{
    (void)syncs;
    return fault_strikes((fault_store *)store, FAULT_IO) ? fault_fail(err) : ZLG_OK;
}

/* What follows the prefix and a slash; NULL when the key is not below it. */
static inline const char *fault_below(const char *key, const char *prefix)
{
    size_t n = strlen(prefix);
    if (n == 0)
        return key;
    return strncmp(key, prefix, n) == 0 && key[n] == '/' ? key + n + 1 : NULL;
}

static inline zlg_status fault_remove_prefix(zlg_store *store, const char *prefix,
                                             const zlgi_txn *txn, zlg_error *err)
{
    fault_store *s = (fault_store *)store;
    bool strikes = fault_strikes(s, FAULT_IO);
    (void)txn;
    if (strikes)
        return fault_fail(err);
    pthread_mutex_lock(&s->lock);
    fault_take(s, prefix);
    for (fault_value *value = s->values, *next; value != NULL && !strikes; value = next) {
        next = value->next;
        if (fault_below(value->key, prefix) == NULL)
            continue;
        strikes = fault_strikes(s, FAULT_IO); /* in the middle of it, too */
        if (!strikes)
            fault_take(s, value->key);
    }
    pthread_mutex_unlock(&s->lock);
    return strikes ? fault_fail(err) : ZLG_OK;
}

static inline zlg_status fault_list(zlg_store *store, const char *prefix, bool delimited,
                                    const zlgi_txn *txn, zlg_list_fn each, void *user,
                                    zlg_error *err)
{
    fault_store *s = (fault_store *)store;
    char last[128] = "", name[128];
    (void)txn;
    if (fault_strikes(s, FAULT_IO))
        return fault_fail(err);
    pthread_mutex_lock(&s->lock);
    for (fault_value *value = s->values; value != NULL; value = value->next) {
        const char *below = fault_below(value->key, prefix);
        if (below == NULL)
            continue;
        snprintf(name, sizeof name, "%s", below);
        char *slash = delimited ? strchr(name, '/') : NULL;
        if (slash != NULL)
            *slash = '\0';
        if (strcmp(name, last) == 0)
            continue;
        memcpy(last, name, sizeof last);
        if (each(user, name, slash != NULL, slash != NULL ? 0 : value->n_bytes) != 0)
            break;
    }
    pthread_mutex_unlock(&s->lock);
    return ZLG_OK;
}

static inline zlg_status fault_rename_prefix(zlg_store *store, const char *from,
                                             const char *to, zlg_error *err)
{
    fault_store *s = (fault_store *)store;
    fault_value *moved = NULL;
    if (fault_strikes(s, FAULT_IO))
        return fault_fail(err);
    pthread_mutex_lock(&s->lock);
    for (fault_value **at = &s->values, *value = *at; value != NULL; value = *at) {
        const char *below = fault_below(value->key, from);
        if (below == NULL) {
            at = &value->next;
            continue;
        }
        char key[sizeof value->key];
        assert_true(snprintf(key, sizeof key, "%s/%s", to, below) < (int)sizeof key);
        memcpy(value->key, key, sizeof key);
        *at = value->next;
        value->next = moved;
        moved = value;
    }
    for (fault_value *value = moved, *next; value != NULL; value = next) {
        next = value->next;
        fault_insert(s, value);
    }
    pthread_mutex_unlock(&s->lock);
    return ZLG_OK;
}

static inline zlg_status fault_sweep(zlg_store *store, const char *prefix,
                                     const zlgi_txn *txn, uint64_t *out_n, zlg_error *err)
{
    (void)store, (void)prefix, (void)txn, (void)err;
    *out_n = 0;
    return ZLG_OK;
}

static inline void fault_destroy(zlg_store *store)
{
    fault_store *s = (fault_store *)store;
    pthread_mutex_destroy(&s->lock);
    for (fault_value *list[2] = {s->values, s->old}, **at = list; at < list + 2; at++)
        for (fault_value *value = *at, *next; value != NULL; value = next) {
            next = value->next;
            fault_value_free(value);
        }
    free(s);
}

/* A store of the context, to be closed as any other. */
static inline fault_store *fault_store_open(zlg_ctx *ctx)
{
    static const zlgi_store_class class = {
        .kind = "faulty",
        .capabilities = ZLGI_STORE_WRITE | ZLGI_STORE_LIST,
        .open = fault_open,
        .read = fault_read,
        .release = fault_release,
        .begin = fault_begin,
        .commit = fault_commit,
        .end = fault_end,
        .sync = fault_sync,
        .remove_prefix = fault_remove_prefix,
        .list = fault_list,
        .rename_prefix = fault_rename_prefix,
        .sweep = fault_sweep,
        .destroy = fault_destroy,
    };
    fault_store *s = calloc(1, sizeof *s);
    s->base = (zlg_store){.class = &class,
                          .alloc = &ctx->alloc,
                          .limits = &ctx->limits,
                          .n_refs = 1,
                          .label = "faulty"};
    pthread_mutex_init(&s->lock, NULL);
    zlgi_store_adopt(ctx, &s->base);
    return s;
}

/* The n-th call from now on is struck. */
static inline void fault_set(fault_store *s, fault_kind kind, uint64_t n)
{
    s->kind = kind;
    s->fail_at = n;
    atomic_store(&s->n_calls, 0);
}

/* ------------------------------------------------------------------ documents */

static inline void put_text(zlg_store *store, const char *key, const char *text)
{
    zlg_error err = {0};
    if (zlg_store_put(store, key, text, strlen(text), &err) != ZLG_OK)
        fail_msg("%s: %s", key, err.message);
}

/* Writes "path/zarr.json" and opens the array. Chunk shape 0: `chunk` is the whole grid. */
static inline zlg_array *put_array(zlg_store *store, const char *path, const char *shape,
                                   const char *type, const char *grid, const char *fill,
                                   const char *codecs)
{
    char key[128], text[8192];
    zlg_array *array = NULL;
    zlg_error err = {0};
    snprintf(key, sizeof key, "%s%szarr.json", path, *path ? "/" : "");
    int n = snprintf(text, sizeof text,
                     "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":%s,"
                     "\"data_type\":%s,\"chunk_grid\":%s,\"fill_value\":%s,\"codecs\":%s,"
                     "\"chunk_key_encoding\":{\"name\":\"default\"}}",
                     shape, type, grid, fill, codecs);
    assert_in_range(n, 1, sizeof text - 1);
    put_text(store, key, text);
    if (zlg_array_open(store, path, NULL, &array, &err) != ZLG_OK)
        fail_msg("%s: %s", text, err.message);
    return array;
}

#define REGULAR(shape)                                                                     \
    "{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":" shape "}}"
#define LITTLE "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}"
#define BIG "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"big\"}}"
#define ZSTD "{\"name\":\"zstd\",\"configuration\":{\"level\":1,\"checksum\":false}}"
#define GZIP "{\"name\":\"gzip\",\"configuration\":{\"level\":1}}"
#define CRC "{\"name\":\"crc32c\"}"
#define TRANSPOSE(order) "{\"name\":\"transpose\",\"configuration\":{\"order\":" order "}}"
#define SHARD_AT(location, chunk, codecs)                                                  \
    "{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":" chunk             \
    ",\"codecs\":" codecs ",\"index_codecs\":[" LITTLE "," CRC                             \
    "],\"index_location\":\"" location "\"}}"
#define SHARD(chunk, codecs) SHARD_AT("end", chunk, codecs)

#define MUST(expression)                                                                   \
    do {                                                                                   \
        zlg_error must_ = {0};                                                             \
        zlg_error *err_ = &must_;                                                          \
        if ((expression) != ZLG_OK)                                                        \
            fail_msg("%s: %s", #expression, must_.message);                                \
    } while (0)

#endif
