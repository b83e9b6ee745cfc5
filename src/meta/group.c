/*
 * group.c: documents of groups, and consolidated metadata of both versions as a flat map
 * of documents. The map is a cache that may be stale or name members against the rules:
 * whoever looks something up checks the path and parses the document that he finds.
 *
 * Implements "group metadata" of the version 3 core specification with inline
 * consolidated metadata, .zgroup and .zmetadata of version 2.
 */
#include "meta/member.h"

/* Some writers put null into every group. */
static zlg_status read_consolidated(const zlgi_json *value, const zlgi_json **out,
                                    zlg_error *err)
{
    if (value == NULL || value->type == ZLGI_JSON_NULL)
        return ZLG_OK;
    if (value->type != ZLGI_JSON_OBJECT)
        return zlgi_meta_expected(err, "consolidated_metadata", value, "an object");
    const zlgi_json *kind = zlgi_json_get(value, "kind");
    const zlgi_json *needed = zlgi_json_get(value, "must_understand");
    if (!zlgi_json_is(kind, "inline") && needed && needed->type == ZLGI_JSON_FALSE)
        return ZLG_OK;
    if (!zlgi_json_is(kind, "inline"))
        return zlgi_within(err, zlgi_meta_expected(err, "kind", kind, "\"inline\""),
                           "consolidated_metadata");
    const zlgi_json *map = zlgi_json_get(value, "metadata");
    if (map == NULL || map->type != ZLGI_JSON_OBJECT)
        return zlgi_within(err, zlgi_meta_expected(err, "metadata", map, "an object"),
                           "consolidated_metadata");
    *out = map;
    return ZLG_OK;
}

zlg_status zlgi_meta_group_v3(zlgi_arena *arena, const zlgi_json *document,
                              zlgi_group_meta *out, zlg_error *err)
{
    static const char *const FIELDS[] = {"zarr_format", "node_type", "attributes",
                                         "consolidated_metadata", NULL};
    (void)arena;
    *out = (zlgi_group_meta){.zarr_format = 3, .document = document};
    ZLGI_TRY(zlgi_meta_check_node(document, ZLG_NODE_GROUP, err));
    ZLGI_TRY(zlgi_meta_check_fields(document, FIELDS, err));
    ZLGI_TRY(read_consolidated(zlgi_json_get(document, "consolidated_metadata"),
                               &out->consolidated, err));
    return zlgi_meta_attributes(zlgi_json_get(document, "attributes"), &out->attributes,
                                err);
}

zlg_status zlgi_meta_group_v2(zlgi_arena *arena, const zlgi_json *zgroup,
                              const zlgi_json *zattrs, zlgi_group_meta *out, zlg_error *err)
{
    (void)arena;
    *out = (zlgi_group_meta){.zarr_format = 2, .document = zgroup};
    ZLGI_TRY(zlgi_meta_check_format(zgroup, 2, err));
    return zlgi_meta_attributes(zattrs, &out->attributes, err);
}

zlg_status zlgi_meta_consolidated_v2(const zlgi_json *zmetadata, const zlgi_json **out,
                                     zlg_error *err)
{
    ZLGI_TRY(zlgi_meta_check_object(zmetadata, err));
    const zlgi_json *format = zlgi_json_get(zmetadata, "zarr_consolidated_format");
    int64_t found;
    if (!zlgi_json_i64(format, &found))
        return zlgi_meta_expected(err, "zarr_consolidated_format", format, "1");
    if (found != 1)
        return zlgi_fail(err, ZLG_UNSUPPORTED,
                         "zarr_consolidated_format is %lld, only 1 is supported",
                         (long long)found);
    const zlgi_json *map = zlgi_json_get(zmetadata, "metadata");
    if (map == NULL || map->type != ZLGI_JSON_OBJECT)
        return zlgi_meta_expected(err, "metadata", map, "an object");
    *out = map;
    return ZLG_OK;
}
