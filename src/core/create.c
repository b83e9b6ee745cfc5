/*
 * create.c: new arrays and groups. The document is made, read back by the same parser that
 * opens arrays, and only then stored: nothing is created that could not be read. Of those
 * who make a node at one path at the same time one succeeds.
 */
#include "core/core.h"

/* What specs of arrays and groups have in common. */
static zlg_status check_spec(int overwrite, int exist_ok, zlg_promise promise,
                             zlg_error *err)
{
    if (overwrite && exist_ok)
        return zlgi_fail(err, ZLG_USAGE, "overwrite and exist_ok are both given");
    return zlgi_promise_check(promise, err);
}

/* ------------------------------------------------------------------ arrays */

/* The document of the spec, parsed back into the array. */
static zlg_status build(zlg_array *array, const zlg_array_spec *given, zlgi_buf *text,
                        zlg_error *err)
{
    zlg_array_spec own = *given, *spec = &own;
    zlgi_ext_names names;
    zlgi_node_documents documents = {.kind = ZLG_NODE_ARRAY,
                                     .zarr_format = spec->zarr_format};
    const zlg_limits *limits = array->store->limits;
    ZLGI_TRY(zlgi_ext_spec(array, spec, &names, err));
    ZLGI_TRY(zlgi_meta_write_array(spec, limits, text, err));
    ZLGI_TRY(zlgi_meta_parse_text(&array->parsed->arena, (const char *)text->data, text->n,
                                  limits, &documents.document, err));
    ZLGI_TRY(zlgi_ext_restore(array, &names, text, &documents.document, err));
    if (spec->zarr_format == 2)
        ZLGI_TRY(zlgi_meta_parse_attributes(&array->parsed->arena, spec->attributes,
                                            spec->python_tokens != 0, limits,
                                            &documents.attributes, err));
    if (documents.attributes)
        ZLGI_TRY(zlgi_attributes_check(array->store, documents.attributes, err));
    ZLGI_TRY(zlgi_array_build(array, &documents, true, err));
    return zlgi_array_check(array, err);
}

/* Attributes come last, so that those who lose the race change nothing; without them the
 * array is not left there. */
static zlg_status put_array(zlg_array *array, const zlgi_buf *text, zlgi_change change,
                            zlg_error *err)
{
    zlg_store *store = array->store;
    if (array->meta.zarr_format == 3)
        return zlgi_document_put(store, array->path, "zarr.json", change, array->promise,
                                 text, err);
    ZLGI_TRY(zlgi_document_put(store, array->path, ".zarray", change, array->promise, text,
                               err));
    zlg_status status = zlgi_attributes_put(store, array->path, array->meta.attributes,
                                            array->promise, err);
    if (status != ZLG_OK)
        (void)zlgi_document_put(store, array->path, ".zarray", ZLGI_REPLACE, ZLG_VISIBLE,
                                NULL, NULL);
    return status;
}

static zlg_status store_array(zlg_array *array, const zlg_array_spec *spec, zlgi_buf *text,
                              zlg_error *err)
{
    zlg_store *store = array->store;
    ZLGI_TRY(build(array, spec, text, err));
    ZLGI_TRY(zlgi_make_room(store, array->path, spec->overwrite != 0, spec->call, err));
    ZLGI_TRY(zlgi_make_parents(store, array->path, spec->zarr_format, array->promise, err));
    return put_array(array, text, spec->overwrite ? ZLGI_REPLACE : ZLGI_CREATE, err);
}

/* The array that is there already, when it is one like the array that was to be made. The
 * error is that of making it. */
static zlg_status find_array(const zlg_array *made, int zarr_format, zlg_array **out,
                             zlg_error *err)
{
    zlg_open_options options = ZLG_OPEN_OPTIONS_INIT;
    options.zarr_format = zarr_format;
    options.promise = made->promise;
    options.keep_empty = made->keep_empty;
    zlg_error cause;
    zlg_status status = zlgi_array_open(made->store, made->path, &options, out, &cause);
    if (status == ZLG_NOT_FOUND)
        return ZLG_EXISTS;
    if (status != ZLG_OK) {
        if (err)
            *err = cause;
        return status;
    }
    if (zlgi_same_elements(*out, made))
        return ZLG_OK;
    zlg_array_close(*out);
    *out = NULL;
    return zlgi_fail(err, ZLG_EXISTS,
                     "an array of another shape or data type is already there");
}

static zlg_status make_array(zlg_array **array, const zlg_array_spec *given, zlgi_buf *text,
                             zlg_error *err)
{
    zlg_array_spec spec = *given;
    zlg_array *made = *array, *found;
    ZLGI_TRY(zlgi_spec_complete(&made->parsed->arena, &spec, err));
    zlg_status status = store_array(made, &spec, text, err);
    if (status != ZLG_EXISTS || !spec.exist_ok)
        return status;
    status = find_array(made, given->zarr_format, &found, err);
    if (status != ZLG_OK)
        return status;
    zlg_array_close(made);
    *array = found;
    return ZLG_OK;
}

zlg_status zlg_array_create(zlg_store *store, const char *path, const zlg_array_spec *given,
                            zlg_array **out, zlg_error *err)
{
    zlg_array_spec spec;
    zlg_array *array;
    *out = NULL;
    ZLGI_TRY(zlgi_options_read(given, "ZLG_ARRAY_SPEC_INIT", &spec, sizeof spec, err));
    ZLGI_TRY(check_spec(spec.overwrite, spec.exist_ok, spec.promise, err));
    ZLGI_TRY(zlgi_change_check(store, path, err));
    ZLGI_TRY(zlgi_array_new(store, path, &array, err));
    zlgi_array_set_defaults(array, spec.promise, spec.keep_empty != 0);
    zlgi_buf text;
    zlgi_buf_init(&text, store->alloc);
    zlg_status status = make_array(&array, &spec, &text, err);
    zlgi_buf_reset(&text);
    if (status == ZLG_OK) {
        *out = array;
        return ZLG_OK;
    }
    zlgi_node_within(store, "array", path, status, err);
    zlg_array_close(array);
    return status;
}

/* ------------------------------------------------------------------ groups */

static zlg_status store_group(zlg_store *store, const char *path,
                              const zlg_group_spec *spec, zlgi_arena *arena, zlg_error *err)
{
    static const zlgi_json none = {.type = ZLGI_JSON_OBJECT};
    const zlgi_json *attributes;
    char key[ZLGI_NAME_MAX];
    int zarr_format = spec->zarr_format ? spec->zarr_format : 3;
    zlg_promise promise = spec->promise ? spec->promise : ZLG_VISIBLE;
    if (zarr_format != 2 && zarr_format != 3)
        return zlgi_fail(err, ZLG_USAGE, "zarr_format is %d, not 2 or 3", zarr_format);
    ZLGI_TRY(zlgi_meta_parse_attributes(arena, spec->attributes, spec->python_tokens != 0,
                                        store->limits, &attributes, err));
    attributes = attributes ? attributes : &none;
    ZLGI_TRY(zlgi_join(path, zarr_format == 3 ? "zarr.json" : ".zgroup", key, err));
    ZLGI_TRY(zlgi_store_check_key(store, key, err));
    ZLGI_TRY(zlgi_group_check(store, zarr_format, attributes, err));
    ZLGI_TRY(zlgi_make_room(store, path, spec->overwrite != 0, spec->call, err));
    ZLGI_TRY(zlgi_make_parents(store, path, zarr_format, promise, err));
    return zlgi_group_put(store, path, zarr_format, attributes,
                          spec->overwrite ? ZLGI_REPLACE : ZLGI_CREATE, promise, err);
}

static zlg_status make_group(zlg_store *store, const char *path, const zlg_group_spec *spec,
                             zlg_error *err)
{
    zlg_node kind = ZLG_NODE_NONE;
    zlgi_arena arena;
    zlgi_arena_init(&arena, store->alloc);
    zlg_status status = store_group(store, path, spec, &arena, err);
    zlgi_arena_reset(&arena);
    if (status == ZLG_EXISTS && spec->exist_ok &&
        zlgi_kind_at(store, path, spec->zarr_format, &kind, NULL) == ZLG_OK &&
        kind == ZLG_NODE_GROUP)
        return ZLG_OK;
    return zlgi_node_within(store, "group", path, status, err);
}

zlg_status zlg_group_create(zlg_store *store, const char *path, const zlg_group_spec *given,
                            zlg_group **out, zlg_error *err)
{
    zlg_group_spec spec;
    zlg_open_options options = ZLG_OPEN_OPTIONS_INIT;
    *out = NULL;
    ZLGI_TRY(zlgi_options_read(given, "ZLG_GROUP_SPEC_INIT", &spec, sizeof spec, err));
    ZLGI_TRY(check_spec(spec.overwrite, spec.exist_ok, spec.promise, err));
    ZLGI_TRY(zlgi_change_check(store, path, err));
    ZLGI_TRY(make_group(store, path, &spec, err));
    options.zarr_format = spec.zarr_format;
    return zlg_group_open(store, path, &options, out, err);
}
