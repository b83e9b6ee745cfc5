/*
 * create.c: new arrays and groups. The document is made, read back by the same parser that
 * opens arrays, and only then stored: nothing is created that could not be read.
 */
#include "core/core.h"

static zlg_status check_store(const zlg_store *store, zlg_error *err)
{
    if (!(store->class->capabilities & ZLGI_STORE_WRITE))
        return zlgi_fail(err, ZLG_UNSUPPORTED, "a %s store cannot be written",
                         store->class->kind);
    return ZLG_OK;
}

static zlg_status put_document(zlg_store *store, const char *path, const char *name,
                               const zlgi_buf *text, zlg_error *err)
{
    char key[ZLGI_NAME_MAX];
    ZLGI_TRY(zlgi_join(path, name, key, err));
    zlgi_bytes part = {.data = text->data, .n = text->n};
    return zlgi_store_put(store, key, ZLGI_REPLACE, ZLG_VISIBLE, &part, 1, err);
}

/* ------------------------------------------------------------------ what is there */

static zlg_status kind_at(zlg_store *store, const char *path, zlg_node *out, zlg_error *err)
{
    zlgi_arena arena;
    zlgi_node_documents documents;
    zlgi_arena_init(&arena, store->alloc);
    zlg_status status = zlgi_node_load(store, path, 0, &arena, &documents, err);
    zlgi_arena_reset(&arena);
    *out = documents.kind;
    return status;
}

static zlg_status write_group(zlg_store *store, const char *path, int zarr_format,
                              const zlgi_json *attributes, zlg_error *err)
{
    zlgi_buf text;
    zlgi_buf_init(&text, store->alloc);
    zlg_status status = zlgi_meta_write_group(zarr_format, attributes, &text, err);
    if (status == ZLG_OK)
        status = put_document(store, path, zarr_format == 3 ? "zarr.json" : ".zgroup",
                              &text, err);
    if (status == ZLG_OK && zarr_format == 2 && attributes && attributes->n_items > 0) {
        text.n = 0;
        status = zlgi_json_write(attributes, 2, &text, err);
        if (status == ZLG_OK)
            status = put_document(store, path, ".zattrs", &text, err);
    }
    zlgi_buf_reset(&text);
    return status;
}

/* Every node above the path is a group; those that are missing are made, unless
 * zarr_format is 0. */
static zlg_status make_parents(zlg_store *store, const char *path, int zarr_format,
                               zlg_error *err)
{
    char parent[ZLGI_NAME_MAX];
    size_t n = strlen(path);
    if (n >= sizeof parent)
        return zlgi_fail(err, ZLG_NOT_FOUND, "a path of %zu bytes is too long", n);
    for (size_t i = 0; i < n; i++) {
        zlg_node kind;
        if (i > 0 && path[i] != '/')
            continue;
        memcpy(parent, path, i); /* the root first, then each prefix */
        parent[i] = 0;
        ZLGI_TRY(kind_at(store, parent, &kind, err));
        if (kind == ZLG_NODE_ARRAY)
            return zlgi_fail(err, ZLG_EXISTS, "%s is an array: nothing can lie in it",
                             i ? parent : "the root");
        if (kind == ZLG_NODE_NONE && zarr_format)
            ZLGI_TRY(write_group(store, parent, zarr_format, NULL, err));
    }
    return ZLG_OK;
}

/* Nothing is removed for a node that cannot be: below an array lie its chunks. */
static zlg_status make_room(zlg_store *store, const char *path, int overwrite,
                            zlg_error *err)
{
    zlg_node kind = ZLG_NODE_NONE;
    ZLGI_TRY(make_parents(store, path, 0, err));
    zlg_status status = kind_at(store, path, &kind, err);
    if (overwrite)
        return store->class->remove_prefix(store, path, err);
    ZLGI_TRY(status);
    if (kind != ZLG_NODE_NONE)
        return zlgi_fail(err, ZLG_EXISTS, "%s is already there",
                         kind == ZLG_NODE_ARRAY ? "an array" : "a group");
    return ZLG_OK;
}

/* ------------------------------------------------------------------ arrays */

static zlg_status parse_attributes(zlgi_arena *arena, const char *text,
                                   const zlg_limits *limits, const zlgi_json **out,
                                   zlg_error *err)
{
    *out = NULL;
    if (!text)
        return ZLG_OK;
    zlg_status status = zlgi_meta_parse_text(arena, text, strlen(text), limits, out, err);
    return zlgi_within(err, status, "attributes");
}

/* The document of the spec, parsed back into the array. */
static zlg_status build(zlg_array *array, const zlg_array_spec *spec, zlgi_buf *text,
                        zlg_error *err)
{
    zlgi_node_documents documents = {.kind = ZLG_NODE_ARRAY,
                                     .zarr_format = spec->zarr_format};
    const zlg_limits *limits = array->store->limits;
    ZLGI_TRY(zlgi_meta_write_array(spec, limits, text, err));
    ZLGI_TRY(zlgi_meta_parse_text(&array->arena, (const char *)text->data, text->n, limits,
                                  &documents.document, err));
    if (spec->zarr_format == 2)
        ZLGI_TRY(parse_attributes(&array->arena, spec->attributes, limits,
                                  &documents.attributes, err));
    return zlgi_array_build(array, &documents, true, err);
}

static zlg_status store_array(zlg_array *array, const zlg_array_spec *spec, zlgi_buf *text,
                              zlg_error *err)
{
    zlg_store *store = array->store;
    const char *name = spec->zarr_format == 3 ? "zarr.json" : ".zarray";
    ZLGI_TRY(build(array, spec, text, err));
    ZLGI_TRY(make_room(store, array->path, spec->overwrite, err));
    ZLGI_TRY(make_parents(store, array->path, spec->zarr_format, err));
    if (spec->zarr_format == 2 && array->meta.attributes &&
        array->meta.attributes->n_items > 0) {
        zlgi_buf attributes;
        zlgi_buf_init(&attributes, store->alloc);
        zlg_status status = zlgi_json_write(array->meta.attributes, 2, &attributes, err);
        if (status == ZLG_OK)
            status = put_document(store, array->path, ".zattrs", &attributes, err);
        zlgi_buf_reset(&attributes);
        ZLGI_TRY(status);
    }
    return put_document(store, array->path, name, text, err);
}

zlg_status zlg_array_create(zlg_store *store, const char *path, const zlg_array_spec *given,
                            zlg_array **out, zlg_error *err)
{
    zlg_array_spec spec;
    zlg_array *array;
    *out = NULL;
    ZLGI_TRY(zlgi_options_read(given, "ZLG_ARRAY_SPEC_INIT", &spec, sizeof spec, err));
    spec.zarr_format = spec.zarr_format ? spec.zarr_format : 3;
    ZLGI_TRY(check_store(store, err));
    ZLGI_TRY(zlgi_meta_path_check(path, err));
    ZLGI_TRY(zlgi_array_new(store, path, &array, err));
    zlgi_buf text;
    zlgi_buf_init(&text, store->alloc);
    zlg_status status = store_array(array, &spec, &text, err);
    zlgi_buf_reset(&text);
    if (status == ZLG_OK) {
        *out = array;
        return ZLG_OK;
    }
    zlgi_within(err, status, "%s: array %s", store->label, *path ? path : "/");
    zlg_array_close(array);
    return status;
}

/* ------------------------------------------------------------------ groups */

static zlg_status store_group(zlg_store *store, const char *path,
                              const zlg_group_spec *spec, zlg_error *err)
{
    zlgi_arena arena;
    const zlgi_json *parsed;
    if (spec->zarr_format != 2 && spec->zarr_format != 3)
        return zlgi_fail(err, ZLG_USAGE, "zarr_format is %d, not 2 or 3",
                         spec->zarr_format);
    zlgi_arena_init(&arena, store->alloc);
    zlg_status status =
        parse_attributes(&arena, spec->attributes, store->limits, &parsed, err);
    if (status == ZLG_OK)
        status = make_room(store, path, spec->overwrite, err);
    if (status == ZLG_OK)
        status = make_parents(store, path, spec->zarr_format, err);
    if (status == ZLG_OK)
        status = write_group(store, path, spec->zarr_format, parsed, err);
    zlgi_arena_reset(&arena);
    return status;
}

zlg_status zlg_group_create(zlg_store *store, const char *path, const zlg_group_spec *given,
                            zlg_group **out, zlg_error *err)
{
    zlg_group_spec spec;
    *out = NULL;
    ZLGI_TRY(zlgi_options_read(given, "ZLG_GROUP_SPEC_INIT", &spec, sizeof spec, err));
    spec.zarr_format = spec.zarr_format ? spec.zarr_format : 3;
    ZLGI_TRY(check_store(store, err));
    ZLGI_TRY(zlgi_meta_path_check(path, err));
    zlg_status status = store_group(store, path, &spec, err);
    if (status != ZLG_OK)
        return zlgi_within(err, status, "%s: group %s", store->label, *path ? path : "/");
    return zlg_group_open(store, path, NULL, out, err);
}
