/*
 * node.c: finding the documents of a node in its store: zarr.json first, then .zarray and
 * .zgroup with .zattrs. Asks no more of the store than it must: opening a version 3 array
 * is one request.
 */
#include "core/core.h"

#include <stdio.h>

zlg_status zlgi_join(const char *path, const char *name, char out[ZLGI_NAME_MAX],
                     zlg_error *err)
{
    int n = snprintf(out, ZLGI_NAME_MAX, "%s%s%s", path, *path ? "/" : "", name);
    if (n < 0 || n >= ZLGI_NAME_MAX)
        return zlgi_fail(err, ZLG_NOT_FOUND, "a path of %d bytes is too long", n);
    return ZLG_OK;
}

zlg_status zlgi_json_text(zlg_ctx *ctx, const zlgi_json *json, int indent, zlg_text *out,
                          zlg_error *err)
{
    zlgi_buf buf;
    zlgi_buf_init(&buf, &ctx->alloc);
    zlg_status status = zlgi_json_write(json, indent, &buf, err);
    if (status == ZLG_OK)
        status = zlgi_buf_take_text(&buf, ctx, out, err);
    zlgi_buf_reset(&buf);
    return status;
}

zlg_status zlgi_document_get(zlg_store *store, const char *path, const char *name,
                             zlgi_arena *arena, const zlgi_json **out, zlg_error *err)
{
    char key[ZLGI_NAME_MAX];
    ZLGI_TRY(zlgi_join(path, name, key, err));
    zlgi_buf buf;
    zlgi_buf_init(&buf, store->alloc);
    zlg_status status =
        zlgi_store_get(store, key, (uint64_t)store->limits->metadata_bytes, &buf, err);
    if (status == ZLG_OK)
        status = zlgi_meta_parse_text(arena, (const char *)buf.data, buf.n, store->limits,
                                      out, err);
    zlgi_buf_reset(&buf);
    if (status == ZLG_NOT_FOUND)
        return status;
    return zlgi_within(err, status, "%s", name);
}

static zlg_status load_v3(zlg_store *store, const char *path, zlgi_arena *arena,
                          zlgi_node_documents *out, zlg_error *err)
{
    ZLGI_TRY(zlgi_document_get(store, path, "zarr.json", arena, &out->document, err));
    out->zarr_format = 3;
    zlg_status status = zlgi_meta_node_type(out->document, &out->kind, err);
    return zlgi_within(err, status, "zarr.json");
}

static zlg_status load_v2(zlg_store *store, const char *path, zlgi_arena *arena,
                          zlgi_node_documents *out, zlg_error *err)
{
    out->zarr_format = 2;
    out->kind = ZLG_NODE_ARRAY;
    zlg_status status =
        zlgi_document_get(store, path, ".zarray", arena, &out->document, err);
    if (status == ZLG_NOT_FOUND) {
        out->kind = ZLG_NODE_GROUP;
        status = zlgi_document_get(store, path, ".zgroup", arena, &out->document, err);
    }
    ZLGI_TRY(status);
    status = zlgi_document_get(store, path, ".zattrs", arena, &out->attributes, err);
    return status == ZLG_NOT_FOUND ? ZLG_OK : status;
}

/* Documents of version 1 and of the drafts before version 3: refused by name rather than
 * reported as missing. */
static zlg_status look_for_old(zlg_store *store, const char *path, zlg_error *err)
{
    static const struct {
        const char *name, *what;
    } old[] = {{"meta", "a version 1 array"},
               {"meta/root.array.json", "an early version 3 draft"},
               {"meta/root.group.json", "an early version 3 draft"}};
    for (size_t i = 0; i < ZLGI_COUNT(old); i++) {
        char key[ZLGI_NAME_MAX];
        zlgi_object object = {.n_bytes = ZLGI_SIZE_UNKNOWN};
        ZLGI_TRY(zlgi_join(path, old[i].name, key, err));
        /* With a look at it: a directory may have that name. */
        if (store->class->open(store, key, ZLGI_OPEN_STAT, &object, NULL) != ZLG_OK)
            continue;
        store->class->release(store, &object);
        return zlgi_fail(err, ZLG_UNSUPPORTED, "%s is %s, which is not read", key,
                         old[i].what);
    }
    return ZLG_OK;
}

zlg_status zlgi_node_load(zlg_store *store, const char *path, int zarr_format,
                          zlgi_arena *arena, zlgi_node_documents *out, zlg_error *err)
{
    memset(out, 0, sizeof *out);
    zlg_status status = ZLG_NOT_FOUND;
    if (zarr_format != 2)
        status = load_v3(store, path, arena, out, err);
    if (status == ZLG_NOT_FOUND && zarr_format != 3)
        status = load_v2(store, path, arena, out, err);
    if (status != ZLG_NOT_FOUND)
        return status;
    memset(out, 0, sizeof *out);
    return look_for_old(store, path, err);
}

zlg_status zlgi_open_options_read(const zlg_open_options *given, zlg_open_options *room,
                                  zlg_error *err)
{
    ZLGI_TRY(zlgi_options_read(given, "ZLG_OPEN_OPTIONS_INIT", room, sizeof *room, err));
    int format = room->zarr_format;
    if (format != 0 && format != 2 && format != 3)
        return zlgi_fail(err, ZLG_USAGE, "zarr_format is %d, not 0, 2 or 3", format);
    return zlgi_promise_check(room->promise, err);
}

zlg_status zlg_node_kind(zlg_store *store, const char *path, const zlg_open_options *given,
                         zlg_node *out, zlg_error *err)
{
    zlgi_arena arena;
    zlg_open_options options;
    *out = ZLG_NODE_NONE;
    ZLGI_TRY(zlgi_open_options_read(given, &options, err));
    zlgi_node_documents documents;
    ZLGI_TRY(zlgi_path_check(store, path, err));
    zlgi_arena_init(&arena, store->alloc);
    zlg_status status =
        zlgi_node_load(store, path, options.zarr_format, &arena, &documents, err);
    zlgi_arena_reset(&arena);
    if (status == ZLG_OK)
        *out = documents.kind;
    return zlgi_node_within(store, "node", path, status, err);
}

static zlg_status load_text(zlg_store *store, const char *path, int zarr_format,
                            zlgi_arena *arena, zlg_node *out_kind, zlg_text *out,
                            zlg_error *err)
{
    zlgi_node_documents documents;
    ZLGI_TRY(zlgi_node_load(store, path, zarr_format, arena, &documents, err));
    if (documents.kind == ZLG_NODE_NONE)
        return zlgi_fail(err, ZLG_NOT_FOUND, "no array or group is there");
    if (out_kind)
        *out_kind = documents.kind;
    return zlgi_document_text(store->ctx, documents.document, documents.attributes, out,
                              err);
}

zlg_status zlg_node_metadata(zlg_store *store, const char *path,
                             const zlg_open_options *given, zlg_node *out_kind,
                             zlg_text *out, zlg_error *err)
{
    zlgi_arena arena;
    zlg_open_options options;
    *out = (zlg_text){.data = NULL};
    ZLGI_TRY(zlgi_open_options_read(given, &options, err));
    ZLGI_TRY(zlgi_path_check(store, path, err));
    zlgi_arena_init(&arena, store->alloc);
    zlg_status status =
        load_text(store, path, options.zarr_format, &arena, out_kind, out, err);
    zlgi_arena_reset(&arena);
    return zlgi_node_within(store, "node", path, status, err);
}
