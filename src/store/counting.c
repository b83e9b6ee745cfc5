/*
 * A store that passes every request on to another and counts it. For tests, which assert
 * what a read asks of its store.
 */
#include <stdatomic.h>

#include "store/store.h"

typedef struct counting {
    zlg_store base;
    zlgi_store_class class; /* with the capabilities of the inner store */
    zlg_store *inner;
    atomic_uint_least64_t n_opens, n_reads, n_bytes_read, n_lists;
    atomic_uint_least64_t n_begins, n_puts, n_removes, n_syncs;
} counting;

static zlg_status counting_open(zlg_store *store, const char *key, unsigned flags,
                                zlgi_object *out, zlg_error *err)
{
    counting *c = (counting *)store;
    atomic_fetch_add(&c->n_opens, 1);
    return c->inner->class->open(c->inner, key, flags, out, err);
}

static zlg_status counting_read(zlg_store *store, zlgi_object *object, uint64_t offset,
                                size_t n, void *destination, size_t *out_n, zlg_error *err)
{
    counting *c = (counting *)store;
    atomic_fetch_add(&c->n_reads, 1);
    ZLGI_TRY(c->inner->class->read(c->inner, object, offset, n, destination, out_n, err));
    atomic_fetch_add(&c->n_bytes_read, *out_n);
    return ZLG_OK;
}

static void counting_release(zlg_store *store, zlgi_object *object)
{
    counting *c = (counting *)store;
    c->inner->class->release(c->inner, object);
}

static zlg_status counting_begin(zlg_store *store, const char *key, zlgi_txn *txn,
                                 zlg_error *err)
{
    counting *c = (counting *)store;
    atomic_fetch_add(&c->n_begins, 1);
    return c->inner->class->begin(c->inner, key, txn, err);
}

static zlg_status counting_commit(zlg_store *store, const char *key, zlgi_txn *txn,
                                  const zlgi_bytes *parts, int n_parts, zlg_error *err)
{
    counting *c = (counting *)store;
    atomic_fetch_add(n_parts == ZLGI_REMOVE ? &c->n_removes : &c->n_puts, 1);
    return c->inner->class->commit(c->inner, key, txn, parts, n_parts, err);
}

static void counting_end(zlg_store *store, zlgi_txn *txn)
{
    counting *c = (counting *)store;
    c->inner->class->end(c->inner, txn);
}

static zlg_status counting_sync(zlg_store *store, zlgi_syncs *syncs, zlg_error *err)
{
    counting *c = (counting *)store;
    atomic_fetch_add(&c->n_syncs, 1);
    return c->inner->class->sync(c->inner, syncs, err);
}

static zlg_status counting_remove_prefix(zlg_store *store, const char *prefix,
                                         const zlgi_txn *txn, zlg_error *err)
{
    counting *c = (counting *)store;
    atomic_fetch_add(&c->n_removes, 1);
    return c->inner->class->remove_prefix(c->inner, prefix, txn, err);
}

static zlg_status counting_list(zlg_store *store, const char *prefix, bool delimited,
                                const zlgi_txn *txn, zlg_list_fn each, void *user,
                                zlg_error *err)
{
    counting *c = (counting *)store;
    atomic_fetch_add(&c->n_lists, 1);
    return c->inner->class->list(c->inner, prefix, delimited, txn, each, user, err);
}

static zlg_status counting_check_key(const zlg_store *store, const char *key,
                                     zlg_error *err)
{
    return zlgi_store_check_key(((const counting *)store)->inner, key, err);
}

static bool counting_lacks(zlg_store *store, const char *key)
{
    zlg_store *inner = ((counting *)store)->inner;
    return inner->class->lacks(inner, key);
}

static zlg_status counting_rename_prefix(zlg_store *store, const char *from, const char *to,
                                         zlg_error *err)
{
    counting *c = (counting *)store;
    return c->inner->class->rename_prefix(c->inner, from, to, err);
}

static zlg_status counting_sweep(zlg_store *store, const char *prefix, const zlgi_txn *txn,
                                 uint64_t *out_n, zlg_error *err)
{
    counting *c = (counting *)store;
    return c->inner->class->sweep(c->inner, prefix, txn, out_n, err);
}

static void counting_destroy(zlg_store *store)
{
    zlgi_free(store->alloc, store, sizeof(counting));
}

zlg_status zlgi_counting_open(const zlgi_alloc *alloc, zlg_store *inner, zlg_store **out,
                              zlg_error *err)
{
    counting *c = zlgi_new(alloc, sizeof(*c));
    if (c == NULL)
        return zlgi_no_memory(err, sizeof(*c));
    c->class = (zlgi_store_class){
        .kind = "counting",
        .capabilities = inner->class->capabilities,
        .open = counting_open,
        .read = counting_read,
        .release = counting_release,
        .check_key = inner->class->check_key ? counting_check_key : NULL,
        .begin = counting_begin,
        .commit = counting_commit,
        .end = counting_end,
        .sync = counting_sync,
        .remove_prefix = counting_remove_prefix,
        .list = counting_list,
        .rename_prefix = inner->class->rename_prefix ? counting_rename_prefix : NULL,
        .sweep = counting_sweep,
        .lacks = inner->class->lacks ? counting_lacks : NULL,
        .destroy = counting_destroy,
    };
    c->inner = inner;
    c->base = (zlg_store){.class = &c->class,
                          .alloc = alloc,
                          .limits = inner->limits,
                          .n_refs = 1,
                          .label = inner->label};
    *out = &c->base;
    return ZLG_OK;
}

zlgi_store_counts zlgi_counting_get(zlg_store *store)
{
    counting *c = (counting *)store;
    return (zlgi_store_counts){
        .n_opens = atomic_load(&c->n_opens),
        .n_reads = atomic_load(&c->n_reads),
        .n_bytes_read = atomic_load(&c->n_bytes_read),
        .n_lists = atomic_load(&c->n_lists),
        .n_begins = atomic_load(&c->n_begins),
        .n_puts = atomic_load(&c->n_puts),
        .n_removes = atomic_load(&c->n_removes),
        .n_syncs = atomic_load(&c->n_syncs),
    };
}
