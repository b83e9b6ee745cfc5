/*
 * node_edit.c: deleting and moving nodes with all that lies below them, and what those who
 * edit nodes have in common.
 */
#include "core/core.h"

zlg_status zlgi_edit_read(const zlg_store *store, const char *path,
                          const zlg_edit_options *given, zlgi_edit *room, zlg_error *err)
{
    zlg_edit_options *options = &room->options;
    ZLGI_TRY(
        zlgi_options_read(given, "ZLG_EDIT_OPTIONS_INIT", options, sizeof *options, err));
    ZLGI_TRY(zlgi_patience_read(options->call, &room->call, &room->patience, err));
    ZLGI_TRY(zlgi_promise_check(options->promise, err));
    return zlgi_change_check(store, path, err);
}

/* ------------------------------------------------------------------ deleting */

static zlg_status delete_node(zlg_store *store, const char *path, zlgi_patience *patience,
                              zlg_error *err)
{
    zlg_node kind;
    zlg_status status = zlgi_kind_at(store, path, 0, &kind, err);
    if (status == ZLG_OK && kind == ZLG_NODE_NONE)
        return zlgi_fail(err, ZLG_NOT_FOUND, "no array or group is there");
    /* A broken document is no reason to keep what it describes. */
    if (status == ZLG_IO || status == ZLG_NO_MEMORY)
        return status;
    return zlgi_node_remove(store, path, patience, err);
}

zlg_status zlg_node_delete(zlg_store *store, const char *path, const zlg_call *given,
                           zlg_error *err)
{
    zlg_call call;
    zlgi_patience patience;
    ZLGI_TRY(zlgi_patience_read(given, &call, &patience, err));
    ZLGI_TRY(zlgi_change_check(store, path, err));
    zlg_status status = zlgi_turn_check(&store->ctx->turns, store, path, err);
    if (status == ZLG_OK)
        status = delete_node(store, path, &patience, err);
    return zlgi_node_within(store, "node", path, status, err);
}

/* ------------------------------------------------------------------ moving */

static zlg_status check_names(const char *from, const char *to, zlg_error *err)
{
    size_t n = strlen(from);
    if (!*from || !*to)
        return zlgi_fail(err, ZLG_USAGE, "the root can neither be moved nor replaced");
    if (strncmp(from, to, n) == 0 && to[n] == '/')
        return zlgi_fail(err, ZLG_USAGE, "\"%s\" lies in the node itself", to);
    return ZLG_OK;
}

/* The parent of a path holds nodes of this version. */
static zlg_status check_parent(zlg_store *store, const char *path, int zarr_format,
                               zlg_error *err)
{
    char parent[ZLGI_NAME_MAX];
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) : 0;
    zlg_node kind;
    ZLGI_TRY(zlgi_make_parents(store, path, 0, ZLG_VISIBLE, err)); /* none is an array */
    memcpy(parent, path, n);
    parent[n] = 0;
    ZLGI_TRY(zlgi_kind_at(store, parent, zarr_format, &kind, err));
    if (kind != ZLG_NODE_GROUP)
        return zlgi_fail(err, ZLG_NOT_FOUND, "%s is no group of version %d",
                         n ? parent : "the root", zarr_format);
    return ZLG_OK;
}

static zlg_status rename_node(zlg_store *store, const char *from, const char *to,
                              zlgi_patience *patience, zlg_error *err)
{
    int zarr_format;
    zlg_node there;
    ZLGI_TRY(check_names(from, to, err));
    ZLGI_TRY(zlgi_format_at(store, from, &zarr_format, err));
    ZLGI_TRY(check_parent(store, to, zarr_format, err));
    ZLGI_TRY(zlgi_kind_at(store, to, 0, &there, err));
    if (there != ZLG_NODE_NONE)
        return zlgi_fail(err, ZLG_EXISTS, "a node is already at \"%s\"", to);
    if (!store->class->rename_prefix)
        return zlgi_fail(err, ZLG_UNSUPPORTED, "a %s store cannot move nodes",
                         store->class->kind);
    ZLGI_TRY(zlgi_patience_check(patience, err));
    return store->class->rename_prefix(store, from, to, err);
}

zlg_status zlg_node_rename(zlg_store *store, const char *from, const char *to,
                           const zlg_call *given, zlg_error *err)
{
    zlg_call call;
    zlgi_patience patience;
    ZLGI_TRY(zlgi_patience_read(given, &call, &patience, err));
    ZLGI_TRY(zlgi_change_check(store, from, err));
    ZLGI_TRY(zlgi_path_check(store, to, err));
    zlg_status status = rename_node(store, from, to, &patience, err);
    return zlgi_node_within(store, "node", from, status, err);
}
