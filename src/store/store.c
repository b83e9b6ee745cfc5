/*
 * store: what every kind of store shares. The rules for keys, reading a whole object, and
 * changing one in a transaction of its own.
 *
 * Knows the table of store.h and no kind of store.
 */
#include "store/store.h"

zlg_status zlgi_store_absent(zlg_error *err)
{
    if (err != NULL) {
        err->status = ZLG_NOT_FOUND;
        err->message[0] = '\0';
    }
    return ZLG_NOT_FOUND;
}

zlg_status zlgi_store_go_on(const zlgi_txn *txn, zlg_error *err)
{
    return zlgi_txn_gives_up(txn)
               ? zlgi_fail(err, ZLG_CANCELLED, "stopped before it was done")
               : ZLG_OK;
}

zlg_status zlgi_key_check(const char *key, zlg_error *err)
{
    const char *segment = key;
    for (const char *c = key;; c++) {
        if (*c == '\\')
            return zlgi_fail(err, ZLG_NOT_FOUND, "\"%s\" is no key: it has a backslash",
                             key);
        if (*c != '/' && *c != '\0')
            continue;
        size_t n = (size_t)(c - segment);
        if (n == 0)
            return zlgi_fail(err, ZLG_NOT_FOUND, "\"%s\" is no key: a segment is empty",
                             key);
        if (segment[0] == '.' && (n == 1 || (n == 2 && segment[1] == '.')))
            return zlgi_fail(err, ZLG_NOT_FOUND, "\"%s\" is no key: a segment is \"%.*s\"",
                             key, (int)n, segment);
        if (*c == '\0')
            return ZLG_OK;
        segment = c + 1;
    }
}

/* Reads until the end, into a buffer that grows with what arrives: the size that a file
 * states may be wrong by the time it is read. */
static zlg_status read_all(zlg_store *store, zlgi_object *object, uint64_t limit,
                           zlgi_buf *out, zlg_error *err)
{
    enum { FIRST_BYTES = 4096 };
    ZLGI_TRY(zlgi_buf_reserve(out, FIRST_BYTES, false, err));
    for (;;) {
        size_t n_room = out->capacity - out->n, n_read = 0;
        ZLGI_TRY(store->class->read(store, object, out->n, n_room, out->data + out->n,
                                    &n_read, err));
        out->n += n_read;
        if (out->n > limit)
            return zlgi_fail(err, ZLG_LIMIT, "holds more than the limit of %llu bytes",
                             (unsigned long long)limit);
        if (n_read < n_room)
            return ZLG_OK;
        size_t n_wanted;
        if (!zlgi_mul_size(out->capacity, 2, &n_wanted))
            return zlgi_no_memory(err, SIZE_MAX);
        ZLGI_TRY(zlgi_buf_reserve(out, n_wanted, true, err));
    }
}

static zlg_status copy_view(const zlgi_object *object, uint64_t limit, zlgi_buf *out,
                            zlg_error *err)
{
    if (object->n_bytes > limit)
        return zlgi_fail(err, ZLG_LIMIT, "holds %llu bytes, above the limit of %llu",
                         (unsigned long long)object->n_bytes, (unsigned long long)limit);
    ZLGI_TRY(zlgi_buf_reserve(out, (size_t)object->n_bytes, false, err));
    return zlgi_buf_append(out, object->view, (size_t)object->n_bytes, err);
}

zlg_status zlgi_object_get(zlg_store *store, zlgi_object *object, uint64_t limit,
                           zlgi_buf *out, zlg_error *err)
{
    out->n = 0;
    return object->view != NULL ? copy_view(object, limit, out, err)
                                : read_all(store, object, limit, out, err);
}

zlg_status zlgi_store_get(zlg_store *store, const char *key, uint64_t limit, zlgi_buf *out,
                          zlg_error *err)
{
    zlgi_object object;
    ZLGI_TRY(store->class->open(store, key, 0, &object, err));
    zlg_status status = zlgi_object_get(store, &object, limit, out, err);
    store->class->release(store, &object);
    return zlgi_within(err, status, "key \"%s\"", key);
}

zlg_status zlgi_store_change(zlg_store *store, const char *key, const zlgi_txn *how,
                             const zlgi_bytes *parts, int n_parts, zlg_error *err)
{
    zlgi_txn txn = *how;
    zlg_status status;
    do {
        ZLGI_TRY(store->class->begin(store, key, &txn, err));
        status = store->class->commit(store, key, &txn, parts, n_parts, err);
        store->class->end(store, &txn);
    } while (txn.again);
    return status;
}

zlg_status zlgi_store_put(zlg_store *store, const char *key, zlgi_change change,
                          zlg_promise promise, const zlgi_bytes *parts, int n_parts,
                          zlg_error *err)
{
    const zlgi_txn how = {.change = change, .promise = promise};
    return zlgi_store_change(store, key, &how, parts, n_parts, err);
}

zlg_status zlgi_store_check_move(const char *from, const char *to, zlg_error *err)
{
    ZLGI_TRY(zlgi_key_check(from, err));
    ZLGI_TRY(zlgi_key_check(to, err));
    size_t n = strlen(from);
    if (strncmp(from, to, n) != 0 || to[n] != '/')
        return ZLG_OK;
    return zlgi_fail(err, ZLG_USAGE, "\"%s\" lies below \"%s\" itself", to, from);
}

void zlgi_store_destroy(zlg_store *store)
{
    if (store != NULL)
        store->class->destroy(store);
}
