/*
 * A store of somebody else's, by the functions of zellige_ext.h. Those are held to their
 * contract here: keys are checked before they are asked for, ranges cut to the object, what
 * is listed must be names, and a status that would be taken for something else is not
 * passed on.
 *
 * A change is one conditional put: an update keeps the object open that it saw, and its
 * commit depends on that. Refuses to know what keys mean, and what the store does with
 * temporary names: they are its own business.
 */
#include "store/store.h"

typedef struct ext {
    zlg_store base;
    zlgi_store_class class; /* with the capabilities of the methods */
    zlg_store_methods methods;
    void *self;
    size_t n_bytes; /* of this block, the label behind it */
} ext;

/* ------------------------------------------------------------------ failures */

/* EXISTS where it is an answer: the condition of a change did not hold. */
static zlg_status settle_change(zlg_status status, zlg_condition condition, zlg_error *own,
                                zlg_error *err)
{
    if (status == ZLG_EXISTS && condition != ZLG_ALWAYS)
        return zlgi_fail(err, ZLG_EXISTS, "%s",
                         own->message[0] != '\0' ? own->message
                                                 : "it was changed by another one");
    return zlgi_foreign(status, ZLG_IO, own, err);
}

static zlg_status is_read_only(zlg_error *err)
{
    return zlgi_fail(err, ZLG_UNSUPPORTED, "a custom store without put is read only");
}

static zlg_status cannot_be_listed(zlg_error *err)
{
    return zlgi_fail(err, ZLG_UNSUPPORTED, "a custom store without list cannot be listed");
}

/* ------------------------------------------------------------------ reading */

static zlg_object object_out(const zlgi_object *object)
{
    const zlgi_tag *tag = &object->tag;
    return (zlg_object){.view = object->view,
                        .n_bytes = object->n_bytes,
                        .version = {tag->a, tag->b, tag->c, tag->d},
                        .handle = object->owner};
}

static zlgi_object object_in(const zlg_object *object)
{
    const uint64_t *v = object->version;
    return (zlgi_object){
        .view = object->view,
        .n_bytes = object->n_bytes,
        .tag = {v[0], v[1], v[2], v[3], .trusted = (v[0] | v[1] | v[2] | v[3]) != 0},
        .fd = -1,
        .owner = object->handle};
}

static zlg_status ext_open(zlg_store *store, const char *key, unsigned flags,
                           zlgi_object *out, zlg_error *err)
{
    (void)flags; /* size and version come with every open */
    ext *e = (ext *)store;
    zlg_object object = {0};
    zlg_error own = {0};
    ZLGI_TRY(zlgi_key_check(key, err));
    zlg_status status = e->methods.open(e->self, key, &object, &own);
    if (status == ZLG_NOT_FOUND)
        return zlgi_store_absent(err);
    ZLGI_TRY(zlgi_foreign(status, ZLG_IO, &own, err));
    *out = object_in(&object);
    return ZLG_OK;
}

static zlg_status ext_read(zlg_store *store, zlgi_object *object, uint64_t offset, size_t n,
                           void *destination, size_t *out_n, zlg_error *err)
{
    ext *e = (ext *)store;
    uint64_t n_left = object->n_bytes - ZLGI_MIN(offset, object->n_bytes);
    size_t n_wanted = (size_t)ZLGI_MIN(n_left, n);
    *out_n = 0;
    if (n_wanted == 0)
        return ZLG_OK;
    if (object->view != NULL) {
        memcpy(destination, object->view + offset, n_wanted);
        *out_n = n_wanted;
        return ZLG_OK;
    }
    zlg_error own = {0};
    if (e->methods.read == NULL)
        return zlgi_fail(err, ZLG_IO, "an object has neither a view nor a read");
    zlg_object theirs = object_out(object);
    zlg_status status =
        e->methods.read(e->self, &theirs, offset, n_wanted, destination, out_n, &own);
    ZLGI_TRY(zlgi_foreign(status, ZLG_IO, &own, err));
    if (*out_n > n_wanted)
        return zlgi_fail(err, ZLG_IO, "%zu bytes read, %zu asked for", *out_n, n_wanted);
    return ZLG_OK;
}

static void ext_release(zlg_store *store, zlgi_object *object)
{
    ext *e = (ext *)store;
    zlg_object theirs = object_out(object);
    if (e->methods.release != NULL)
        e->methods.release(e->self, &theirs);
}

/* ------------------------------------------------------------------ transactions */

static zlg_status ext_begin(zlg_store *store, const char *key, zlgi_txn *txn,
                            zlg_error *err)
{
    ext *e = (ext *)store;
    txn->present = txn->again = false;
    if (e->methods.put == NULL)
        return is_read_only(err);
    ZLGI_TRY(zlgi_key_check(key, err));
    if (txn->change == ZLGI_REPLACE)
        return ZLG_OK;
    zlg_status status = ext_open(store, key, ZLGI_OPEN_STAT, &txn->object, err);
    if (status != ZLG_OK)
        return status == ZLG_NOT_FOUND ? ZLG_OK : status;
    if (txn->change == ZLGI_CREATE) {
        ext_release(store, &txn->object);
        return zlgi_fail(err, ZLG_EXISTS, "key \"%s\" is there already", key);
    }
    txn->present = true;
    return ZLG_OK;
}

/* Parts in the public form: many come in a block, few without one. */
static zlg_status put_parts(ext *e, const char *key, const zlgi_txn *txn,
                            const zlg_object *seen, zlg_condition condition,
                            const zlgi_bytes *parts, int n_parts, zlg_error *err)
{
    enum { N_FEW = 16 };
    zlg_bytes few[N_FEW] = {0}, *theirs = few;
    size_t n_block = 0;
    if (n_parts > N_FEW) {
        if (!zlgi_mul_size((size_t)n_parts, sizeof *theirs, &n_block) ||
            (theirs = zlgi_resize(e->base.alloc, NULL, 0, n_block)) == NULL)
            return zlgi_no_memory(err, n_block);
    }
    for (int i = 0; i < n_parts; i++)
        theirs[i] = (zlg_bytes){parts[i].data, parts[i].n};
    zlg_error own = {0};
    zlg_status status =
        e->methods.put(e->self, key, theirs, n_parts, condition, seen, txn->promise, &own);
    if (n_block > 0)
        zlgi_free(e->base.alloc, theirs, n_block);
    return settle_change(status, condition, &own, err);
}

static zlg_status ext_commit(zlg_store *store, const char *key, zlgi_txn *txn,
                             const zlgi_bytes *parts, int n_parts, zlg_error *err)
{
    ext *e = (ext *)store;
    zlg_condition condition = txn->change == ZLGI_REPLACE ? ZLG_ALWAYS
                              : txn->present              ? ZLG_IF_UNCHANGED
                                                          : ZLG_IF_ABSENT;
    zlg_object object = {0};
    const zlg_object *seen = NULL;
    if (txn->present) {
        object = object_out(&txn->object);
        seen = &object;
    }
    zlg_status status = ZLG_OK;
    if (n_parts != ZLGI_REMOVE) {
        status = put_parts(e, key, txn, seen, condition, parts, n_parts, err);
    } else if (condition != ZLG_IF_ABSENT) { /* else there is nothing to remove */
        zlg_error own = {0};
        zlg_status theirs =
            e->methods.remove(e->self, key, condition, seen, txn->promise, &own);
        status = settle_change(theirs, condition, &own, err);
    }
    txn->again = status == ZLG_EXISTS && txn->change == ZLGI_UPDATE;
    return status;
}

static void ext_end(zlg_store *store, zlgi_txn *txn)
{
    if (txn->present)
        ext_release(store, &txn->object);
    txn->present = false;
}

/* Each put has kept its promise by itself. */
static zlg_status ext_sync(zlg_store *store, zlgi_syncs *syncs, zlg_error *err)
{
    (void)store, (void)syncs, (void)err;
    return ZLG_OK;
}

/* ------------------------------------------------------------------ listing */

typedef struct listing {
    const zlg_limits *limits;
    bool delimited;
    const zlgi_txn *txn;
    zlg_list_fn each;
    void *user;
    int64_t n_seen;
    zlg_status status; /* of what stopped it here */
    zlg_error *err;
} listing;

static int pass_name(void *user, const char *name, int is_prefix, uint64_t n_bytes)
{
    listing *l = user;
    if (l->n_seen++ == l->limits->keys_listed) {
        l->status = zlgi_fail(l->err, ZLG_LIMIT, "more than %lld keys (limit keys_listed)",
                              (long long)l->limits->keys_listed);
        return 1;
    }
    l->status = zlgi_store_go_on(l->txn, l->err);
    if (l->status != ZLG_OK)
        return 1;
    if (zlgi_key_check(name, l->err) != ZLG_OK ||
        (l->delimited && strchr(name, '/') != NULL)) {
        l->status = zlgi_fail(l->err, ZLG_IO, "it lists \"%s\", which is no %s", name,
                              l->delimited ? "name of one level" : "key");
        return 1;
    }
    return l->each(l->user, name, is_prefix != 0, is_prefix ? 0 : n_bytes);
}

static zlg_status ext_list(zlg_store *store, const char *prefix, bool delimited,
                           const zlgi_txn *txn, zlg_list_fn each, void *user,
                           zlg_error *err)
{
    ext *e = (ext *)store;
    zlg_error own = {0}, stopped = {0};
    listing l = {.limits = store->limits,
                 .delimited = delimited,
                 .txn = txn,
                 .each = each,
                 .user = user,
                 .err = &stopped};
    if (e->methods.list == NULL)
        return cannot_be_listed(err);
    if (prefix[0] != '\0')
        ZLGI_TRY(zlgi_key_check(prefix, err));
    zlg_status status = e->methods.list(e->self, prefix, delimited, pass_name, &l, &own);
    if (l.status == ZLG_OK)
        return zlgi_foreign(status, ZLG_IO, &own, err);
    if (err != NULL)
        *err = stopped;
    return l.status;
}

/* ------------------------------------------------------------------ prefixes */

typedef struct names {
    zlgi_buf text; /* each with its NUL */
    const zlgi_txn *txn;
    zlg_status status;
    zlg_error *err;
} names;

static int note_name(void *user, const char *name, int is_prefix, uint64_t n_bytes)
{
    names *n = user;
    (void)is_prefix, (void)n_bytes;
    n->status = zlgi_buf_append(&n->text, name, strlen(name) + 1, n->err);
    return n->status != ZLG_OK;
}

static zlg_status remove_key(ext *e, const char *key, zlg_error *err)
{
    zlg_error own = {0};
    zlg_status status =
        e->methods.remove(e->self, key, ZLG_ALWAYS, NULL, ZLG_VISIBLE, &own);
    return zlgi_foreign(status, ZLG_IO, &own, err);
}

/* All names first: a store need not bear being changed while it is listed. */
static zlg_status remove_below(ext *e, const char *prefix, names *found, zlgi_buf *key,
                               zlg_error *err)
{
    const bool is_all = prefix[0] == '\0';
    ZLGI_TRY(ext_list(&e->base, prefix, false, found->txn, note_name, found, err));
    ZLGI_TRY(found->status);
    if (!is_all)
        ZLGI_TRY(remove_key(e, prefix, err));
    for (size_t at = 0; at < found->text.n;) {
        const char *name = (const char *)found->text.data + at;
        key->n = 0;
        ZLGI_TRY(zlgi_store_go_on(found->txn, err));
        ZLGI_TRY(zlgi_buf_printf(key, err, "%s%s%s", prefix, is_all ? "" : "/", name));
        ZLGI_TRY(zlgi_buf_append(key, "", 1, err));
        ZLGI_TRY(remove_key(e, (const char *)key->data, err));
        at += strlen(name) + 1;
    }
    return ZLG_OK;
}

static zlg_status ext_remove_prefix(zlg_store *store, const char *prefix,
                                    const zlgi_txn *txn, zlg_error *err)
{
    ext *e = (ext *)store;
    if (e->methods.put == NULL)
        return is_read_only(err);
    if (prefix[0] != '\0')
        ZLGI_TRY(zlgi_key_check(prefix, err));
    names found = {.txn = txn, .err = err};
    zlgi_buf key;
    zlgi_buf_init(&found.text, store->alloc);
    zlgi_buf_init(&key, store->alloc);
    zlg_status status = remove_below(e, prefix, &found, &key, err);
    zlgi_buf_reset(&found.text);
    zlgi_buf_reset(&key);
    return status;
}

/* What writers that died left behind only the store itself can tell. */
static zlg_status ext_sweep(zlg_store *store, const char *prefix, const zlgi_txn *txn,
                            uint64_t *out_n, zlg_error *err)
{
    (void)store, (void)txn;
    *out_n = 0;
    return prefix[0] != '\0' ? zlgi_key_check(prefix, err) : ZLG_OK;
}

/* ------------------------------------------------------------------ life */

static void ext_destroy(zlg_store *store)
{
    ext *e = (ext *)store;
    if (e->methods.close != NULL)
        e->methods.close(e->self);
    zlgi_free(store->alloc, e, e->n_bytes);
}

static zlg_status check_methods(const zlg_store_methods *methods, zlg_error *err)
{
    if (methods->open == NULL)
        return zlgi_fail(err, ZLG_USAGE, "a store without open cannot be read");
    if ((methods->put == NULL) != (methods->remove == NULL))
        return zlgi_fail(err, ZLG_USAGE, "of put and remove only one is given");
    return ZLG_OK;
}

zlg_status zlgi_ext_open(const zlgi_alloc *alloc, const zlg_limits *limits,
                         const zlg_store_methods *methods, void *self, const char *label,
                         zlg_store **out, zlg_error *err)
{
    size_t n_label = strlen(label) + 1, n_bytes;
    ZLGI_TRY(check_methods(methods, err));
    ext *e = NULL;
    if (!zlgi_add_size(sizeof *e, n_label, &n_bytes) ||
        (e = zlgi_new(alloc, n_bytes)) == NULL)
        return zlgi_no_memory(err, n_label);
    char *own_label = memcpy(e + 1, label, n_label);
    e->methods = *methods;
    e->self = self;
    e->n_bytes = n_bytes;
    e->class = (zlgi_store_class){
        .kind = "custom",
        .capabilities = (methods->put != NULL ? ZLGI_STORE_WRITE : 0u) |
                        (methods->list != NULL ? ZLGI_STORE_LIST : 0u),
        .open = ext_open,
        .read = ext_read,
        .release = ext_release,
        .begin = ext_begin,
        .commit = ext_commit,
        .end = ext_end,
        .sync = ext_sync,
        .remove_prefix = ext_remove_prefix,
        .list = ext_list,
        .sweep = ext_sweep,
        .destroy = ext_destroy,
    };
    e->base = (zlg_store){.class = &e->class,
                          .alloc = alloc,
                          .limits = limits,
                          .n_refs = 1,
                          .label = own_label};
    *out = &e->base;
    return ZLG_OK;
}
