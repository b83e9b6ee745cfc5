/*
 * hierarchy.c: consolidated metadata: the documents of all nodes below a group, kept in
 * one place. A cache that others wrote: a name in it may be missing from the store, and
 * the reverse; neither is an error. Names that break the rules of paths are not members.
 */
#include "core/core.h"

#include <stdio.h>

zlgi_hierarchy *zlgi_hierarchy_ref(zlgi_hierarchy *hierarchy)
{
    if (hierarchy)
        __atomic_add_fetch(&hierarchy->n_refs, 1, __ATOMIC_RELAXED);
    return hierarchy;
}

void zlgi_hierarchy_unref(zlgi_hierarchy *hierarchy)
{
    if (!hierarchy || __atomic_sub_fetch(&hierarchy->n_refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    zlgi_arena_reset(&hierarchy->arena);
    zlgi_free(hierarchy->alloc, hierarchy, sizeof *hierarchy);
}

/* The part of a path below the base of the map; NULL when it is not below. */
static const char *below_base(const zlgi_hierarchy *hierarchy, const char *path)
{
    size_t n = strlen(hierarchy->base);
    if (n == 0)
        return path;
    if (strncmp(path, hierarchy->base, n) != 0 || (path[n] && path[n] != '/'))
        return NULL;
    return path[n] ? path + n + 1 : path + n;
}

static zlg_status find_v3(const zlgi_hierarchy *hierarchy, const char *name,
                          zlgi_node_documents *out, zlg_error *err)
{
    out->document = zlgi_json_get(hierarchy->map, name);
    if (!out->document)
        return ZLG_OK;
    out->zarr_format = 3;
    zlg_status status = zlgi_meta_node_type(out->document, &out->kind, err);
    return zlgi_within(err, status, "consolidated metadata of %s", name);
}

static const zlgi_json *get_v2(const zlgi_hierarchy *hierarchy, const char *name,
                               const char *document)
{
    char key[ZLGI_NAME_MAX];
    if (zlgi_join(name, document, key, NULL) != ZLG_OK)
        return NULL;
    return zlgi_json_get(hierarchy->map, key);
}

static zlg_status find_v2(const zlgi_hierarchy *hierarchy, const char *name,
                          zlgi_node_documents *out)
{
    out->document = get_v2(hierarchy, name, ".zarray");
    out->kind = ZLG_NODE_ARRAY;
    if (!out->document) {
        out->document = get_v2(hierarchy, name, ".zgroup");
        out->kind = out->document ? ZLG_NODE_GROUP : ZLG_NODE_NONE;
    }
    out->attributes = out->document ? get_v2(hierarchy, name, ".zattrs") : NULL;
    out->zarr_format = 2;
    return ZLG_OK;
}

zlg_status zlgi_hierarchy_find(const zlgi_hierarchy *hierarchy, const char *path,
                               zlgi_node_documents *out, zlg_error *err)
{
    memset(out, 0, sizeof *out);
    const char *name = below_base(hierarchy, path);
    if (!name)
        return ZLG_OK;
    return hierarchy->zarr_format == 2 ? find_v2(hierarchy, name, out)
                                       : find_v3(hierarchy, name, out, err);
}
