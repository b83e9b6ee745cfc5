/*
 * room.c: what must be so before a node is made: nothing lies at its path, and every node
 * above it is a group. Groups that are missing above are made.
 */
#include "core/core.h"

zlg_status zlgi_kind_at(zlg_store *store, const char *path, int zarr_format, zlg_node *out,
                        zlg_error *err)
{
    zlgi_arena arena;
    zlgi_node_documents documents;
    zlgi_arena_init(&arena, store->alloc);
    zlg_status status = zlgi_node_load(store, path, zarr_format, &arena, &documents, err);
    zlgi_arena_reset(&arena);
    *out = documents.kind;
    return status;
}

zlg_status zlgi_format_at(zlg_store *store, const char *path, int *out, zlg_error *err)
{
    zlgi_arena arena;
    zlgi_node_documents documents;
    zlgi_arena_init(&arena, store->alloc);
    zlg_status status = zlgi_node_load(store, path, 0, &arena, &documents, err);
    zlgi_arena_reset(&arena);
    *out = documents.zarr_format;
    if (status == ZLG_OK && documents.kind == ZLG_NODE_NONE)
        return zlgi_fail(err, ZLG_NOT_FOUND, "no array or group is there");
    return status;
}

zlg_status zlgi_attributes_check(zlg_store *store, const zlgi_json *attributes,
                                 zlg_error *err)
{
    zlgi_buf text;
    zlgi_buf_init(&text, store->alloc);
    zlg_status status = zlgi_json_write(attributes, 2, &text, err);
    if (status == ZLG_OK)
        status = zlgi_document_check(store, &text, err);
    zlgi_buf_reset(&text);
    return zlgi_within(err, status, "attributes");
}

zlg_status zlgi_group_check(zlg_store *store, int zarr_format, const zlgi_json *attributes,
                            zlg_error *err)
{
    zlgi_buf text;
    if (zarr_format == 2)
        return zlgi_attributes_check(store, attributes, err);
    zlgi_buf_init(&text, store->alloc);
    zlg_status status = zlgi_meta_write_group(zarr_format, attributes, &text, err);
    if (status == ZLG_OK)
        status = zlgi_document_check(store, &text, err);
    zlgi_buf_reset(&text);
    return status;
}

zlg_status zlgi_attributes_put(zlg_store *store, const char *path,
                               const zlgi_json *attributes, zlg_promise promise,
                               zlg_error *err)
{
    if (!attributes || attributes->n_items == 0)
        return zlgi_document_put(store, path, ".zattrs", ZLGI_REPLACE, promise, NULL, err);
    zlgi_buf text;
    zlgi_buf_init(&text, store->alloc);
    zlg_status status = zlgi_json_write(attributes, 2, &text, err);
    if (status == ZLG_OK)
        status =
            zlgi_document_put(store, path, ".zattrs", ZLGI_REPLACE, promise, &text, err);
    zlgi_buf_reset(&text);
    return status;
}

zlg_status zlgi_group_put(zlg_store *store, const char *path, int zarr_format,
                          const zlgi_json *attributes, zlgi_change change,
                          zlg_promise promise, zlg_error *err)
{
    zlgi_buf text;
    zlgi_buf_init(&text, store->alloc);
    zlg_status status = zlgi_meta_write_group(zarr_format, attributes, &text, err);
    if (status == ZLG_OK)
        status = zlgi_document_put(store, path, zarr_format == 3 ? "zarr.json" : ".zgroup",
                                   change, promise, &text, err);
    if (status == ZLG_OK && zarr_format == 2 && attributes)
        status = zlgi_attributes_put(store, path, attributes, promise, err);
    zlgi_buf_reset(&text);
    return status;
}

/* A group at this path above a node. That somebody else makes it at the same time is as
 * good. */
static zlg_status make_parent(zlg_store *store, const char *path, int zarr_format,
                              zlg_promise promise, zlg_error *err)
{
    zlg_node kind;
    ZLGI_TRY(zlgi_kind_at(store, path, 0, &kind, err));
    if (kind == ZLG_NODE_NONE && zarr_format) {
        zlg_status status =
            zlgi_group_put(store, path, zarr_format, NULL, ZLGI_CREATE, promise, err);
        if (status != ZLG_EXISTS)
            return status;
        ZLGI_TRY(zlgi_kind_at(store, path, 0, &kind, err));
    }
    if (kind == ZLG_NODE_ARRAY)
        return zlgi_fail(err, ZLG_EXISTS, "%s is an array: nothing can lie in it",
                         *path ? path : "the root");
    return ZLG_OK;
}

zlg_status zlgi_make_parents(zlg_store *store, const char *path, int zarr_format,
                             zlg_promise promise, zlg_error *err)
{
    char parent[ZLGI_NAME_MAX];
    size_t n = strlen(path);
    if (n >= sizeof parent)
        return zlgi_fail(err, ZLG_NOT_FOUND, "a path of %zu bytes is too long", n);
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && path[i] != '/')
            continue;
        memcpy(parent, path, i); /* the root first, then each prefix */
        parent[i] = 0;
        ZLGI_TRY(make_parent(store, parent, zarr_format, promise, err));
    }
    return ZLG_OK;
}

/* Nothing is removed for a node that cannot be: below an array lie its chunks. */
zlg_status zlgi_make_room(zlg_store *store, const char *path, bool overwrite,
                          const zlg_call *given, zlg_error *err)
{
    zlg_node kind = ZLG_NODE_NONE;
    zlg_call call;
    zlgi_patience patience;
    ZLGI_TRY(zlgi_patience_read(given, &call, &patience, err));
    ZLGI_TRY(zlgi_make_parents(store, path, 0, ZLG_VISIBLE, err));
    zlg_status status = zlgi_kind_at(store, path, 0, &kind, err);
    if (overwrite)
        return zlgi_node_remove(store, path, &patience, err);
    ZLGI_TRY(status);
    if (kind != ZLG_NODE_NONE)
        return zlgi_fail(err, ZLG_EXISTS, "%s is already there",
                         kind == ZLG_NODE_ARRAY ? "an array" : "a group");
    return ZLG_OK;
}
