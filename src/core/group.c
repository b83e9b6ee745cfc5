/*
 * group.c: opening groups and finding members, from the store or from consolidated
 * metadata.
 */
#include "core/core.h"

zlg_status zlgi_group_new(zlg_store *store, const char *path, zlg_group **out,
                          zlg_error *err)
{
    *out = NULL;
    zlg_group *group = zlgi_new(store->alloc, sizeof *group);
    if (!group)
        return zlgi_no_memory(err, sizeof *group);
    group->n_refs = 1;
    group->store = store;
    zlgi_store_ref(store);
    zlgi_arena_init(&group->arena, store->alloc);
    group->path = zlgi_arena_text(&group->arena, path, strlen(path));
    if (!group->path) {
        zlg_group_close(group);
        return zlgi_no_memory(err, strlen(path));
    }
    *out = group;
    return ZLG_OK;
}

void zlg_group_close(zlg_group *group)
{
    if (!group || __atomic_sub_fetch(&group->n_refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    zlg_store *store = group->store;
    zlgi_hierarchy_unref(group->hierarchy);
    zlgi_arena_reset(&group->arena);
    zlgi_free(store->alloc, group, sizeof *group);
    zlg_store_close(store);
}

/* ------------------------------------------------------------------ opening */

zlg_status zlgi_group_build(zlg_group *group, const zlgi_node_documents *documents,
                            zlg_error *err)
{
    if (documents->zarr_format == 3)
        return zlgi_meta_group_v3(&group->arena, documents->document, &group->meta, err);
    return zlgi_meta_group_v2(&group->arena, documents->document, documents->attributes,
                              &group->meta, err);
}

static zlg_status make_hierarchy(zlg_group *group, int zarr_format, zlgi_hierarchy **out,
                                 zlg_error *err)
{
    zlgi_hierarchy *hierarchy = zlgi_new(group->store->alloc, sizeof *hierarchy);
    if (!hierarchy)
        return zlgi_no_memory(err, sizeof *hierarchy);
    hierarchy->n_refs = 1;
    hierarchy->alloc = group->store->alloc;
    hierarchy->zarr_format = zarr_format;
    zlgi_arena_init(&hierarchy->arena, hierarchy->alloc);
    hierarchy->base = zlgi_arena_text(&hierarchy->arena, group->path, strlen(group->path));
    *out = hierarchy;
    if (hierarchy->base)
        return ZLG_OK;
    zlgi_hierarchy_unref(hierarchy);
    return zlgi_no_memory(err, strlen(group->path));
}

/* The map lies in the document of the group, whose arena the hierarchy takes over, since
 * groups opened through it may live longer. */
static zlg_status consolidate_v3(zlg_group *group, zlg_error *err)
{
    zlgi_hierarchy *hierarchy = NULL;
    if (!group->meta.consolidated)
        return ZLG_OK;
    ZLGI_TRY(make_hierarchy(group, 3, &hierarchy, err));
    zlgi_arena empty = hierarchy->arena;
    hierarchy->arena = group->arena;
    group->arena = empty;
    /* Both strings now lie in the other's arena; the group keeps the hierarchy alive, and
     * the base is copied to where it belongs. */
    const char *base = hierarchy->base;
    hierarchy->base = zlgi_arena_text(&hierarchy->arena, base, strlen(base));
    hierarchy->map = group->meta.consolidated;
    group->hierarchy = hierarchy;
    return hierarchy->base ? ZLG_OK : zlgi_no_memory(err, strlen(base));
}

/* Version 2 keeps the map in .zmetadata beside the group at the top of a hierarchy, which
 * need not be the root of the store. A damaged one is no reason not to read what it only
 * repeats. */
static zlg_status load_zmetadata(zlg_group *group, zlgi_hierarchy *hierarchy, zlgi_buf *buf,
                                 zlg_error *err)
{
    const zlgi_json *document;
    zlg_store *store = group->store;
    char key[ZLGI_NAME_MAX];
    ZLGI_TRY(zlgi_join(group->path, ".zmetadata", key, err));
    ZLGI_TRY(zlgi_store_get(store, key, (uint64_t)store->limits->metadata_bytes, buf, err));
    ZLGI_TRY(zlgi_meta_parse_text(&hierarchy->arena, (const char *)buf->data, buf->n,
                                  store->limits, &document, err));
    return zlgi_meta_consolidated_v2(document, &hierarchy->map, err);
}

static zlg_status consolidate_v2(zlg_group *group, zlg_error *err)
{
    zlgi_hierarchy *hierarchy = NULL;
    ZLGI_TRY(make_hierarchy(group, 2, &hierarchy, err));
    zlgi_buf buf;
    zlgi_buf_init(&buf, group->store->alloc);
    zlg_status status = load_zmetadata(group, hierarchy, &buf, NULL);
    zlgi_buf_reset(&buf);
    if (status == ZLG_OK)
        group->hierarchy = hierarchy;
    else
        zlgi_hierarchy_unref(hierarchy);
    return status == ZLG_NO_MEMORY ? zlgi_no_memory(err, 0) : ZLG_OK;
}

static zlg_status open_into(zlg_group *group, const zlg_open_options *options,
                            zlg_error *err)
{
    zlgi_node_documents documents;
    ZLGI_TRY(zlgi_node_load(group->store, group->path, options->zarr_format, &group->arena,
                            &documents, err));
    if (documents.kind == ZLG_NODE_ARRAY)
        return zlgi_fail(err, ZLG_NOT_FOUND, "it is an array, not a group");
    if (documents.kind == ZLG_NODE_NONE)
        return zlgi_fail(err, ZLG_NOT_FOUND, "no group is there");
    ZLGI_TRY(zlgi_group_build(group, &documents, err));
    if (options->ignore_consolidated)
        return ZLG_OK;
    return group->meta.zarr_format == 3 ? consolidate_v3(group, err)
                                        : consolidate_v2(group, err);
}

static zlg_status finish_group(zlg_group *group, zlg_status status, zlg_group **out,
                               zlg_error *err)
{
    if (status == ZLG_OK) {
        *out = group;
        return ZLG_OK;
    }
    zlgi_node_within(group->store, "group", group->path, status, err);
    zlg_group_close(group);
    return status;
}

zlg_status zlg_group_open(zlg_store *store, const char *path, const zlg_open_options *given,
                          zlg_group **out, zlg_error *err)
{
    zlg_group *group;
    zlg_open_options options;
    *out = NULL;
    ZLGI_TRY(zlgi_open_options_read(given, &options, err));
    ZLGI_TRY(zlgi_path_check(store, path, err));
    ZLGI_TRY(zlgi_group_new(store, path, &group, err));
    return finish_group(group, open_into(group, &options, err), out, err);
}

/* ------------------------------------------------------------------ facts */

const char *zlg_group_path(const zlg_group *group)
{
    return group->path;
}

int zlg_group_zarr_format(const zlg_group *group)
{
    return group->meta.zarr_format;
}

int zlg_group_is_consolidated(const zlg_group *group)
{
    return group->hierarchy != NULL;
}

zlg_status zlg_group_attributes(zlg_group *group, zlg_text *out, zlg_error *err)
{
    static const zlgi_json empty = {.type = ZLGI_JSON_OBJECT};
    const zlgi_json *attributes = group->meta.attributes;
    return zlgi_json_text(group->store->ctx, attributes ? attributes : &empty, 0, out, err);
}

zlg_status zlg_group_metadata(zlg_group *group, zlg_text *out, zlg_error *err)
{
    return zlgi_document_text(group->store->ctx, group->meta.document,
                              group->meta.zarr_format == 2 ? group->meta.attributes : NULL,
                              out, err);
}

/* ------------------------------------------------------------------ members */

static zlg_status member_path(const zlg_group *group, const char *path,
                              char out[ZLGI_NAME_MAX], zlg_error *err)
{
    zlg_status status = zlgi_meta_path_check(path, err);
    if (status == ZLG_OK && !*path)
        status = zlgi_fail(err, ZLG_NOT_FOUND, "an empty name is no member");
    if (status == ZLG_OK)
        status = zlgi_join(group->path, path, out, err);
    return zlgi_node_within(group->store, "group", group->path, status, err);
}

/* The documents of a member, from the map when there is one. */
static zlg_status member_documents(const zlg_group *group, const char *path,
                                   zlgi_arena *arena, zlgi_node_documents *out,
                                   zlg_error *err)
{
    if (group->hierarchy)
        return zlgi_hierarchy_find(group->hierarchy, path, out, err);
    return zlgi_node_load(group->store, path, group->meta.zarr_format, arena, out, err);
}

zlg_status zlg_group_member_kind(zlg_group *group, const char *path, zlg_node *out,
                                 zlg_error *err)
{
    char full[ZLGI_NAME_MAX];
    zlgi_arena arena;
    zlgi_node_documents documents;
    *out = ZLG_NODE_NONE;
    ZLGI_TRY(member_path(group, path, full, err));
    zlgi_arena_init(&arena, group->store->alloc);
    zlg_status status = member_documents(group, full, &arena, &documents, err);
    if (status == ZLG_OK)
        *out = documents.kind;
    zlgi_arena_reset(&arena);
    return zlgi_node_within(group->store, "node", full, status, err);
}

static zlg_status open_member(zlg_group *parent, zlg_group *group, zlg_error *err)
{
    zlgi_node_documents documents;
    ZLGI_TRY(member_documents(parent, group->path, &group->arena, &documents, err));
    if (documents.kind != ZLG_NODE_GROUP)
        return zlgi_fail(err, ZLG_NOT_FOUND,
                         documents.kind == ZLG_NODE_ARRAY ? "it is an array, not a group"
                                                          : "no group is there");
    ZLGI_TRY(zlgi_group_build(group, &documents, err));
    if (!parent->hierarchy && group->meta.zarr_format == 3)
        return consolidate_v3(group, err);
    group->hierarchy = zlgi_hierarchy_ref(parent->hierarchy);
    return ZLG_OK;
}

zlg_status zlg_group_open_group(zlg_group *group, const char *path, zlg_group **out,
                                zlg_error *err)
{
    char full[ZLGI_NAME_MAX];
    zlg_group *member;
    *out = NULL;
    ZLGI_TRY(member_path(group, path, full, err));
    ZLGI_TRY(zlgi_group_new(group->store, full, &member, err));
    return finish_group(member, open_member(group, member, err), out, err);
}

/* The array's documents must outlive the hierarchy: they are written out and parsed again
 * into its own arena. */
static zlg_status copy_document(zlg_array *array, const zlgi_json *document,
                                const zlgi_json **out, zlg_error *err)
{
    zlgi_buf buf;
    zlgi_buf_init(&buf, array->store->alloc);
    zlg_status status = zlgi_json_write(document, 0, &buf, err);
    if (status == ZLG_OK)
        status = zlgi_meta_parse_text(&array->parsed->arena, (const char *)buf.data, buf.n,
                                      array->store->limits, out, err);
    zlgi_buf_reset(&buf);
    return status;
}

static zlg_status open_array(zlg_group *group, zlg_array *array, zlg_error *err)
{
    zlgi_node_documents documents;
    ZLGI_TRY(member_documents(group, array->path, &array->parsed->arena, &documents, err));
    if (documents.kind != ZLG_NODE_ARRAY)
        return zlgi_fail(err, ZLG_NOT_FOUND,
                         documents.kind == ZLG_NODE_GROUP ? "it is a group, not an array"
                                                          : "no array is there");
    if (group->hierarchy) {
        ZLGI_TRY(copy_document(array, documents.document, &documents.document, err));
        if (documents.attributes)
            ZLGI_TRY(
                copy_document(array, documents.attributes, &documents.attributes, err));
    }
    return zlgi_array_build(array, &documents, false, err);
}

zlg_status zlg_group_open_array(zlg_group *group, const char *path, zlg_array **out,
                                zlg_error *err)
{
    char full[ZLGI_NAME_MAX];
    zlg_array *array;
    *out = NULL;
    ZLGI_TRY(member_path(group, path, full, err));
    ZLGI_TRY(zlgi_array_new(group->store, full, &array, err));
    zlg_status status = open_array(group, array, err);
    if (status == ZLG_OK) {
        *out = array;
        return ZLG_OK;
    }
    zlgi_node_within(group->store, "array", full, status, err);
    zlg_array_close(array);
    return status;
}
