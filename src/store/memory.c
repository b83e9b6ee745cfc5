/*
 * A store in memory. Values are counted and lent: a reader keeps the value it opened while
 * a writer puts another in its place.
 *
 * A reader holds the lock for a look-up, a writer for one change; listing and removing many
 * take it anew for each key. A child of fork may use the store when no other thread was
 * inside a call at that time.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>

#include "store/memory_map.h"
#include "store/store.h"

typedef struct value {
    atomic_size_t n_refs;
    uint64_t number; /* which put of the store made it */
    size_t n_bytes;
    alignas(16) uint8_t data[];
} value;

typedef struct memory {
    zlg_store base;
    pthread_rwlock_t lock;
    zlgi_map map;
    uint64_t last_number;
} memory;

/* ------------------------------------------------------------------ values */

/* NULL when memory is short. */
static value *value_make(const memory *m, const zlgi_bytes *parts, int n_parts)
{
    size_t n_block = sizeof(value);
    for (int i = 0; i < n_parts; i++)
        if (!zlgi_add_size(n_block, parts[i].n, &n_block))
            return NULL;
    value *v = zlgi_resize(m->base.alloc, NULL, 0, n_block);
    if (v == NULL)
        return NULL;
    atomic_init(&v->n_refs, 1);
    v->n_bytes = 0;
    for (int i = 0; i < n_parts; i++) {
        if (parts[i].n > 0)
            memcpy(v->data + v->n_bytes, parts[i].data, parts[i].n);
        v->n_bytes += parts[i].n;
    }
    return v;
}

static void value_unref(const memory *m, value *v)
{
    if (v != NULL && atomic_fetch_sub_explicit(&v->n_refs, 1, memory_order_acq_rel) == 1)
        zlgi_free(m->base.alloc, v, sizeof(*v) + v->n_bytes);
}

/* ------------------------------------------------------------------ the table */

static zlg_status memory_open(zlg_store *store, const char *key, unsigned flags,
                              zlgi_object *out, zlg_error *err)
{
    (void)flags; /* size and tag cost nothing here */
    memory *m = (memory *)store;
    ZLGI_TRY(zlgi_key_check(key, err));
    pthread_rwlock_rdlock(&m->lock);
    value *v = zlgi_map_get(&m->map, key);
    if (v != NULL)
        atomic_fetch_add_explicit(&v->n_refs, 1, memory_order_relaxed);
    pthread_rwlock_unlock(&m->lock);
    if (v == NULL)
        return zlgi_store_absent(err);
    *out = (zlgi_object){.view = v->data,
                         .n_bytes = v->n_bytes,
                         .tag = {.a = v->number, .trusted = true},
                         .fd = -1,
                         .owner = v};
    return ZLG_OK;
}

static zlg_status memory_read(zlg_store *store, zlgi_object *object, uint64_t offset,
                              size_t n, void *destination, size_t *out_n, zlg_error *err)
{
    (void)store, (void)err;
    uint64_t n_left = object->n_bytes - ZLGI_MIN(offset, object->n_bytes);
    *out_n = (size_t)ZLGI_MIN(n_left, n);
    if (*out_n > 0)
        memcpy(destination, object->view + offset, *out_n);
    return ZLG_OK;
}

static void memory_release(zlg_store *store, zlgi_object *object)
{
    value_unref((memory *)store, object->owner);
}

/* ------------------------------------------------------------------ transactions
 *
 * No lock is held from begin to end: an update remembers the value that it saw, and is
 * told to start again when another one is there now.
 */
static zlg_status memory_begin(zlg_store *store, const char *key, zlgi_txn *txn,
                               zlg_error *err)
{
    txn->present = txn->again = false;
    txn->seen = NULL;
    if (txn->change == ZLGI_REPLACE)
        return zlgi_key_check(key, err);
    zlg_status status = memory_open(store, key, 0, &txn->object, err);
    if (status != ZLG_OK)
        return status == ZLG_NOT_FOUND ? zlgi_key_check(key, err) : status;
    if (txn->change == ZLGI_CREATE) {
        memory_release(store, &txn->object);
        return zlgi_fail(err, ZLG_EXISTS, "key \"%s\" is there already", key);
    }
    txn->present = true;
    txn->seen = txn->object.owner;
    return ZLG_OK;
}

/* With the lock held. v NULL removes; *out_old is what goes. */
static zlg_status set_value(memory *m, const char *key, const zlgi_txn *txn, value *v,
                            void **out_old, zlg_error *err)
{
    if (txn->change != ZLGI_REPLACE && zlgi_map_get(&m->map, key) != txn->seen)
        return zlgi_fail(err, ZLG_EXISTS, "key \"%s\" was changed by another one", key);
    if (v == NULL) {
        *out_old = zlgi_map_take(&m->map, key);
        return ZLG_OK;
    }
    v->number = ++m->last_number;
    return zlgi_map_put(&m->map, key, v, out_old, err);
}

static zlg_status memory_commit(zlg_store *store, const char *key, zlgi_txn *txn,
                                const zlgi_bytes *parts, int n_parts, zlg_error *err)
{
    memory *m = (memory *)store;
    void *old = NULL;
    value *v = n_parts == ZLGI_REMOVE ? NULL : value_make(m, parts, n_parts);
    if (v == NULL && n_parts != ZLGI_REMOVE)
        return zlgi_fail(err, ZLG_NO_MEMORY, "no memory for the value of \"%s\"", key);
    pthread_rwlock_wrlock(&m->lock);
    zlg_status status = set_value(m, key, txn, v, &old, err);
    pthread_rwlock_unlock(&m->lock);
    txn->again = status == ZLG_EXISTS && txn->change == ZLGI_UPDATE;
    value_unref(m, status == ZLG_OK ? old : v);
    return status;
}

static void memory_end(zlg_store *store, zlgi_txn *txn)
{
    value_unref((memory *)store, txn->seen);
    txn->seen = NULL;
}

/* Nothing in memory lasts longer than the process. */
static zlg_status memory_sync(zlg_store *store, zlgi_syncs *syncs, zlg_error *err)
{
    (void)store, (void)syncs, (void)err;
    return ZLG_OK;
}

/* ------------------------------------------------------------------ prefixes */

static zlg_status memory_remove_prefix(zlg_store *store, const char *prefix,
                                       const zlgi_txn *txn, zlg_error *err)
{
    memory *m = (memory *)store;
    if (prefix[0] != '\0')
        ZLGI_TRY(zlgi_key_check(prefix, err));
    value *v;
    do {
        ZLGI_TRY(zlgi_store_go_on(txn, err));
        pthread_rwlock_wrlock(&m->lock);
        v = zlgi_map_take_within(&m->map, prefix);
        pthread_rwlock_unlock(&m->lock);
        value_unref(m, v);
    } while (v != NULL);
    return ZLG_OK;
}

/* Enters the values below one prefix below another one too. When memory is short some are
 * entered. */
static zlg_status enter_below(memory *m, const char *from, const char *to, zlgi_buf *key,
                              zlg_error *err)
{
    size_t n_from = strlen(from), n_to = strlen(to);
    const zlgi_map_entry *e = zlgi_map_seek(&m->map, from, ZLGI_MAP_AT);
    for (; e != NULL && zlgi_map_is_within(e->key, from);
         e = zlgi_map_seek(&m->map, e->key, ZLGI_MAP_AFTER)) {
        const char *rest = e->key + n_from;
        void *old;
        key->n = 0;
        ZLGI_TRY(zlgi_buf_append(key, to, n_to, err));
        ZLGI_TRY(zlgi_buf_append(key, rest, strlen(rest) + 1, err));
        ZLGI_TRY(zlgi_map_put(&m->map, (const char *)key->data, e->value, &old, err));
    }
    return ZLG_OK;
}

/* With the lock held. */
static zlg_status move_keys(memory *m, const char *from, const char *to, zlgi_buf *key,
                            zlg_error *err)
{
    const zlgi_map_entry *e = zlgi_map_seek(&m->map, to, ZLGI_MAP_AT);
    if (zlgi_map_get(&m->map, from) != NULL)
        return zlgi_fail(err, ZLG_USAGE, "\"%s\" is a key, not a prefix", from);
    if (e != NULL && zlgi_map_is_within(e->key, to))
        return zlgi_fail(err, ZLG_EXISTS, "something is at \"%s\" already", to);
    e = zlgi_map_seek(&m->map, from, ZLGI_MAP_AT);
    if (e == NULL || !zlgi_map_is_within(e->key, from))
        return zlgi_store_absent(err);
    zlg_status status = enter_below(m, from, to, key, err);
    const char *gone = status == ZLG_OK ? from : to;
    while (zlgi_map_take_within(&m->map, gone) != NULL)
        continue;
    return status;
}

static zlg_status memory_rename_prefix(zlg_store *store, const char *from, const char *to,
                                       zlg_error *err)
{
    memory *m = (memory *)store;
    ZLGI_TRY(zlgi_store_check_move(from, to, err));
    zlgi_buf key;
    zlgi_buf_init(&key, store->alloc);
    pthread_rwlock_wrlock(&m->lock);
    zlg_status status = move_keys(m, from, to, &key, err);
    pthread_rwlock_unlock(&m->lock);
    zlgi_buf_reset(&key);
    return status;
}

/* Nothing is left here by writers that died: they took the store along. */
static zlg_status memory_sweep(zlg_store *store, const char *prefix, const zlgi_txn *txn,
                               uint64_t *out_n, zlg_error *err)
{
    (void)store, (void)txn;
    *out_n = 0;
    return prefix[0] != '\0' ? zlgi_key_check(prefix, err) : ZLG_OK;
}

/* ------------------------------------------------------------------ listing */

/* Replaces the key in `at` by the next one within the prefix, by "" at the end. */
static zlg_status next_key(memory *m, const char *prefix, zlgi_map_where where,
                           zlgi_buf *at, uint64_t *n_bytes, zlg_error *err)
{
    pthread_rwlock_rdlock(&m->lock);
    const zlgi_map_entry *e = zlgi_map_seek(&m->map, (const char *)at->data, where);
    bool is_found = e != NULL && zlgi_map_is_within(e->key, prefix);
    const char *key = is_found ? e->key : "";
    *n_bytes = is_found ? ((const value *)e->value)->n_bytes : 0;
    at->n = 0;
    zlg_status status = zlgi_buf_append(at, key, strlen(key) + 1, err);
    pthread_rwlock_unlock(&m->lock);
    return status;
}

static zlg_status list_keys(memory *m, const char *prefix, bool delimited,
                            const zlgi_txn *txn, zlg_list_fn each, void *user, zlgi_buf *at,
                            zlg_error *err)
{
    enum { KEYS_PER_LOOK = 256 };
    size_t n_prefix = strlen(prefix);
    zlgi_map_where where = ZLGI_MAP_AFTER;
    ZLGI_TRY(zlgi_buf_append(at, prefix, n_prefix + 1, err));
    for (int64_t n_seen = 0;; n_seen++) {
        uint64_t n_bytes;
        ZLGI_TRY(next_key(m, prefix, where, at, &n_bytes, err));
        if (at->data[0] == '\0')
            return ZLG_OK;
        if (n_seen % KEYS_PER_LOOK == KEYS_PER_LOOK - 1)
            ZLGI_TRY(zlgi_store_go_on(txn, err));
        if (n_seen == m->base.limits->keys_listed)
            return zlgi_fail(err, ZLG_LIMIT, "more than %lld keys (limit keys_listed)",
                             (long long)n_seen);
        char *name = (char *)at->data + n_prefix + (n_prefix > 0);
        char *slash = delimited ? strchr(name, '/') : NULL;
        if (slash != NULL)
            *slash = '\0';
        where = slash != NULL ? ZLGI_MAP_PAST : ZLGI_MAP_AFTER;
        if (each(user, name, slash != NULL, slash != NULL ? 0 : n_bytes) != 0)
            return ZLG_OK;
    }
}

static zlg_status memory_list(zlg_store *store, const char *prefix, bool delimited,
                              const zlgi_txn *txn, zlg_list_fn each, void *user,
                              zlg_error *err)
{
    if (prefix[0] != '\0')
        ZLGI_TRY(zlgi_key_check(prefix, err));
    zlgi_buf at;
    zlgi_buf_init(&at, store->alloc);
    zlg_status status =
        list_keys((memory *)store, prefix, delimited, txn, each, user, &at, err);
    zlgi_buf_reset(&at);
    return status;
}

static void memory_destroy(zlg_store *store)
{
    memory *m = (memory *)store;
    void *v;
    while ((v = zlgi_map_take_within(&m->map, "")) != NULL)
        value_unref(m, v);
    zlgi_map_reset(&m->map);
    pthread_rwlock_destroy(&m->lock);
    zlgi_free(store->alloc, m, sizeof(*m));
}

static const zlgi_store_class memory_class = {
    .kind = "memory",
    .capabilities = ZLGI_STORE_WRITE | ZLGI_STORE_LIST,
    .open = memory_open,
    .read = memory_read,
    .release = memory_release,
    .begin = memory_begin,
    .commit = memory_commit,
    .end = memory_end,
    .sync = memory_sync,
    .remove_prefix = memory_remove_prefix,
    .list = memory_list,
    .rename_prefix = memory_rename_prefix,
    .sweep = memory_sweep,
    .destroy = memory_destroy,
};

zlg_status zlgi_memory_open(const zlgi_alloc *alloc, const zlg_limits *limits,
                            zlg_store **out, zlg_error *err)
{
    memory *m = zlgi_new(alloc, sizeof(*m));
    if (m == NULL)
        return zlgi_no_memory(err, sizeof(*m));
    if (pthread_rwlock_init(&m->lock, NULL) != 0) {
        zlgi_free(alloc, m, sizeof(*m));
        return zlgi_fail(err, ZLG_NO_MEMORY, "a lock could not be had");
    }
    m->map.alloc = alloc;
    m->base = (zlg_store){.class = &memory_class,
                          .alloc = alloc,
                          .limits = limits,
                          .n_refs = 1,
                          .label = "memory"};
    *out = &m->base;
    return ZLG_OK;
}
