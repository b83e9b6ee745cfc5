/*
 * remove.c: a node goes with all that lies below it, in an order that may end anywhere: by
 * a failure, a caller who has lost patience, the death of the process.
 *
 * An array first becomes an empty group, in one step: nobody finds it with chunks that are
 * gone, and no array that is made there shows what is left of them. One to which a writer
 * appends stays: the writer would not know another in its place. What lies in a group
 * goes member by member, its own document last. So whatever is left can be found, and
 * removed by the same call.
 */
#include "core/core.h"

typedef struct removal {
    zlg_store *store;
    zlgi_txn txn; /* of whatever is put or removed */
    zlgi_patience *patience;
    zlg_error *err;
    char path[ZLGI_NAME_MAX]; /* what goes now: one for all levels, which may be many */
} removal;

static zlg_status put(removal *r, const char *name, const zlgi_buf *text)
{
    char key[ZLGI_NAME_MAX];
    ZLGI_TRY(zlgi_join(r->path, name, key, r->err));
    zlgi_bytes part = {.data = text ? text->data : NULL, .n = text ? text->n : 0};
    return zlgi_store_change(r->store, key, &r->txn, &part, text ? 1 : ZLGI_REMOVE, r->err);
}

static zlg_status empty_array(removal *r, int zarr_format)
{
    zlgi_buf text;
    zlgi_buf_init(&text, r->store->alloc);
    zlg_status status = zlgi_meta_write_group(zarr_format, NULL, &text, r->err);
    if (status == ZLG_OK)
        status = put(r, zarr_format == 3 ? "zarr.json" : ".zgroup", &text);
    zlgi_buf_reset(&text);
    ZLGI_TRY(status);
    return put(r, ".zarray", NULL); /* version 3 arrays may have one for older readers */
}

/* What cannot be read misleads nobody, and is removed without a look into its contents. */
static zlg_status look_at(removal *r, zlgi_node_documents *out, bool *out_is_read)
{
    zlgi_arena arena;
    zlgi_arena_init(&arena, r->store->alloc);
    zlg_status status = zlgi_node_load(r->store, r->path, 0, &arena, out, r->err);
    zlgi_arena_reset(&arena);
    *out_is_read = status == ZLG_OK;
    return status == ZLG_IO || status == ZLG_NO_MEMORY ? status : ZLG_OK;
}

/* ------------------------------------------------------------------ what lies below */

typedef struct contents {
    zlgi_buf names; /* of each a byte, whether more lies below it, and the name */
    zlg_status status;
    zlg_error *err;
} contents;

static int note_name(void *user, const char *name, int is_prefix, uint64_t n_bytes)
{
    static const char *const documents[] = {"zarr.json", ".zarray", ".zgroup"};
    contents *c = user;
    const char nested = (char)(is_prefix != 0);
    (void)n_bytes;
    for (size_t i = 0; i < ZLGI_COUNT(documents); i++)
        if (strcmp(name, documents[i]) == 0)
            return 0;
    c->status = zlgi_buf_append(&c->names, &nested, 1, c->err);
    if (c->status == ZLG_OK)
        c->status = zlgi_buf_append(&c->names, name, strlen(name) + 1, c->err);
    return c->status != ZLG_OK;
}

static zlg_status remove_here(removal *r);

static zlg_status remove_name(removal *r, const char *name, bool nested)
{
    size_t n = strlen(r->path), n_name = strlen(name), start = n + (n > 0);
    if (start + n_name >= sizeof r->path)
        return ZLG_OK; /* what is so deep goes with what it lies in */
    if (n > 0)
        r->path[n] = '/';
    memcpy(r->path + start, name, n_name + 1);
    zlg_status status =
        nested ? remove_here(r)
               : r->store->class->remove_prefix(r->store, r->path, &r->txn, r->err);
    r->path[n] = '\0';
    return status;
}

static zlg_status remove_contents(removal *r, contents *c, bool nested)
{
    ZLGI_TRY(zlgi_store_list(r->store, r->path, true, r->patience, note_name, c, r->err));
    ZLGI_TRY(c->status);
    for (size_t i = 0; i < c->names.n;) {
        const char *name = (const char *)c->names.data + i + 1;
        ZLGI_TRY(zlgi_patience_check(r->patience, r->err));
        ZLGI_TRY(remove_name(r, name, nested && c->names.data[i]));
        i += 1 + strlen(name) + 1;
    }
    return ZLG_OK;
}

/* The contents of what lies here one by one, then the rest. */
static zlg_status remove_all(removal *r, bool nested)
{
    contents c = {.err = r->err};
    zlgi_buf_init(&c.names, r->store->alloc);
    zlg_status status = remove_contents(r, &c, nested);
    zlgi_buf_reset(&c.names);
    ZLGI_TRY(status);
    return r->store->class->remove_prefix(r->store, r->path, &r->txn, r->err);
}

static zlg_status remove_array(removal *r, int zarr_format)
{
    char path[ZLGI_NAME_MAX]; /* r->path changes */
    zlgi_hold hold;
    memcpy(path, r->path, strlen(r->path) + 1);
    zlg_status status = zlgi_end_take(r->store, path, ZLGI_END_TOGETHER, &hold, r->err);
    if (status != ZLG_OK)
        return zlgi_node_within(r->store, "array", path, status, r->err);
    status = empty_array(r, zarr_format);
    if (status == ZLG_OK)
        status = remove_all(r, false);
    zlgi_end_give(&r->store->ctx->claims, &hold);
    return status;
}

static zlg_status remove_here(removal *r)
{
    zlgi_node_documents documents;
    bool is_read;
    ZLGI_TRY(look_at(r, &documents, &is_read));
    if (is_read && documents.kind == ZLG_NODE_ARRAY)
        return remove_array(r, documents.zarr_format);
    return remove_all(r, is_read);
}

zlg_status zlgi_node_remove(zlg_store *store, const char *path, zlgi_patience *patience,
                            zlg_error *err)
{
    removal r = {.store = store,
                 .txn = {.change = ZLGI_REPLACE,
                         .promise = ZLG_VISIBLE,
                         .waiting = zlgi_patience_waiting,
                         .user = patience},
                 .patience = patience,
                 .err = err};
    size_t n = strlen(path);
    if (n >= sizeof r.path)
        return zlgi_fail(err, ZLG_NOT_FOUND, "a path of %zu bytes is too long", n);
    memcpy(r.path, path, n + 1);
    ZLGI_TRY(zlgi_patience_check(patience, err));
    return remove_here(&r);
}
