/*
 * array.c: opening an array: its documents become metadata, a codec chain, the levels of
 * the engine; and the facts that callers ask for. Reading is in array_read.c.
 */
#include "core/core.h"

zlg_status zlgi_array_new(zlg_store *store, const char *path, zlg_array **out,
                          zlg_error *err)
{
    *out = NULL;
    zlg_array *array = zlgi_new(store->alloc, sizeof *array);
    zlgi_parsed *parsed = zlgi_new(store->alloc, sizeof *parsed);
    if (!array || !parsed) {
        zlgi_free(store->alloc, array, sizeof *array);
        zlgi_free(store->alloc, parsed, sizeof *parsed);
        return zlgi_no_memory(err, sizeof *array);
    }
    parsed->n_refs = 1;
    zlgi_arena_init(&parsed->arena, store->alloc);
    array->parsed = parsed;
    array->store = store;
    array->promise = ZLG_VISIBLE;
    zlgi_store_ref(store);
    array->path = zlgi_arena_text(&parsed->arena, path, strlen(path));
    if (!array->path) {
        zlg_array_close(array);
        return zlgi_no_memory(err, strlen(path));
    }
    *out = array;
    return ZLG_OK;
}

void zlg_array_close(zlg_array *array)
{
    if (!array)
        return;
    zlg_store *store = array->store;
    zlgi_parsed *parsed = array->parsed;
    zlgi_free(store->alloc, array, sizeof *array);
    if (__atomic_sub_fetch(&parsed->n_refs, 1, __ATOMIC_ACQ_REL) == 0) {
        zlgi_arena_reset(&parsed->arena);
        zlgi_free(store->alloc, parsed, sizeof *parsed);
    }
    zlg_store_close(store);
}

zlg_status zlg_array_over(zlg_array *array, zlg_store *store, zlg_array **out,
                          zlg_error *err)
{
    *out = NULL;
    if (store->ctx != array->store->ctx)
        return zlgi_array_within(
            array, zlgi_fail(err, ZLG_USAGE, "the store belongs to another context"), err);
    zlg_array *other = zlgi_resize(store->alloc, NULL, 0, sizeof *other);
    if (!other)
        return zlgi_no_memory(err, sizeof *other);
    *other = *array;
    other->store = other->source.store = store;
    other->source.array = other;
    __atomic_add_fetch(&other->parsed->n_refs, 1, __ATOMIC_RELAXED);
    zlgi_store_ref(store);
    *out = other;
    return ZLG_OK;
}

/* ------------------------------------------------------------------ building */

static zlg_status parse_chain(zlg_array *array, bool writing, zlgi_chain **out,
                              zlg_error *err)
{
    const zlgi_array_meta *meta = &array->meta;
    zlgi_codec_env env = {.arena = &array->parsed->arena,
                          .limits = array->store->limits,
                          .registry = &array->store->ctx->registry,
                          .v2 = meta->zarr_format == 2,
                          .writing = writing};
    zlgi_edge_type from = {.dtype = meta->dtype, .rank = meta->rank, .fill = meta->fill};
    zlg_status status = env.v2 ? zlgi_chain_parse_v2(&env, meta->filters, meta->compressor,
                                                     meta->order_f, &from, out, err)
                               : zlgi_chain_parse(&env, meta->codecs, &from, out, err);
    return zlgi_within(err, status, "codecs");
}

/* The fill value as an element lies in memory while it is read. */
static zlg_status set_fill(zlg_array *array, zlg_error *err)
{
    zlgi_source *source = &array->source;
    source->fill = array->meta.fill;
    if (!zlgi_dtype_is_varlen(source->dtype))
        return ZLG_OK;
    zlgi_view *view = zlgi_arena_get(&array->parsed->arena, sizeof *view);
    if (!view)
        return zlgi_no_memory(err, sizeof *view);
    *view = (zlgi_view){.data = array->meta.fill.data, .n = array->meta.fill.n};
    source->fill = (zlgi_fill){.data = (const uint8_t *)view, .n = sizeof *view};
    return ZLG_OK;
}

/* Shape of the innermost chunk in the axes of the array: permuted back level by level. */
static void set_chunk_shape(zlg_array *array)
{
    const zlgi_level *level = array->source.level;
    int axes[ZLG_MAX_RANK]; /* axis i of the level is this axis of the array */
    for (int i = 0; i < array->meta.rank; i++)
        axes[i] = i;
    array->sharded = level->sharding != NULL;
    memcpy(array->chunk_shape, array->object_shape, sizeof array->chunk_shape);
    for (; level->sharding; level = level->inner) {
        int inner[ZLG_MAX_RANK] = {0};
        for (int i = 0; i < array->meta.rank; i++)
            inner[i] = axes[level->order[i]];
        memcpy(axes, inner, sizeof axes);
        for (int i = 0; i < array->meta.rank; i++)
            array->chunk_shape[axes[i]] = level->sharding->chunk_shape[i];
    }
}

static zlg_status parse_meta(zlg_array *array, const zlgi_node_documents *documents,
                             zlg_error *err)
{
    const zlg_limits *limits = array->store->limits;
    if (documents->zarr_format == 3) {
        const zlgi_json *document;
        zlgi_key_encoding keys = {.own = NULL};
        ZLGI_TRY(zlgi_ext_resolve(array, documents->document, &document, &keys, err));
        ZLGI_TRY(
            zlgi_meta_array_v3(&array->parsed->arena, document, limits, &array->meta, err));
        array->meta.document = documents->document;
        if (keys.own)
            array->meta.key_encoding = keys;
        return ZLG_OK;
    }
    return zlgi_meta_array_v2(&array->parsed->arena, documents->document,
                              documents->attributes, limits, &array->meta, err);
}

zlg_status zlgi_array_build(zlg_array *array, const zlgi_node_documents *documents,
                            bool writing, zlg_error *err)
{
    const zlgi_array_meta *meta = &array->meta;
    ZLGI_TRY(parse_meta(array, documents, err));
    zlgi_chain *chain;
    ZLGI_TRY(parse_chain(array, writing, &chain, err));
    for (int i = 0; i < meta->rank; i++) {
        const zlgi_grid_axis *axis = &meta->grid.axis[i];
        array->object_shape[i] = axis->chunk      ? axis->chunk
                                 : axis->n_chunks ? zlgi_grid_edge(axis, 0)
                                                  : 0;
    }
    zlgi_source *source = &array->source;
    source->array = array;
    source->store = array->store;
    source->prefix = array->path;
    source->grid = meta->grid;
    source->keys = meta->key_encoding;
    source->dtype = meta->dtype;
    source->item = zlgi_dtype_slot(meta->dtype);
    ZLGI_TRY(zlgi_level_make(&array->parsed->arena, array->store->limits, chain, meta->rank,
                             meta->rectilinear ? NULL : array->object_shape, &source->level,
                             err));
    set_chunk_shape(array);
    return set_fill(array, err);
}

zlg_status zlgi_array_within(const zlg_array *array, zlg_status status, zlg_error *err)
{
    return zlgi_node_within(array->store, "array", array->path, status, err);
}

void zlgi_array_set_defaults(zlg_array *array, zlg_promise promise, bool keep_empty)
{
    array->promise = promise ? promise : ZLG_VISIBLE;
    array->keep_empty = keep_empty;
}

static zlg_status open_into(zlg_array *array, int zarr_format, zlg_error *err)
{
    zlgi_node_documents documents;
    ZLGI_TRY(zlgi_node_load(array->store, array->path, zarr_format, &array->parsed->arena,
                            &documents, err));
    if (documents.kind == ZLG_NODE_GROUP)
        return zlgi_fail(err, ZLG_NOT_FOUND, "it is a group, not an array");
    if (documents.kind == ZLG_NODE_NONE)
        return zlgi_fail(err, ZLG_NOT_FOUND, "no array is there");
    return zlgi_array_build(array, &documents, false, err);
}

zlg_status zlgi_array_open(zlg_store *store, const char *path,
                           const zlg_open_options *options, zlg_array **out, zlg_error *err)
{
    zlg_array *array;
    *out = NULL;
    ZLGI_TRY(zlgi_array_new(store, path, &array, err));
    zlgi_array_set_defaults(array, options->promise, options->keep_empty != 0);
    zlg_status status = open_into(array, options->zarr_format, err);
    if (status == ZLG_OK)
        *out = array;
    else
        zlg_array_close(array);
    return status;
}

zlg_status zlg_array_open(zlg_store *store, const char *path, const zlg_open_options *given,
                          zlg_array **out, zlg_error *err)
{
    zlg_open_options options;
    *out = NULL;
    ZLGI_TRY(zlgi_open_options_read(given, &options, err));
    ZLGI_TRY(zlgi_path_check(store, path, err));
    zlg_status status = zlgi_array_open(store, path, &options, out, err);
    return zlgi_node_within(store, "array", path, status, err);
}

/* Which version a document that comes without a name is of. */
static int format_of(const zlgi_json *document)
{
    int64_t format;
    const zlgi_json *stated = zlgi_json_get(document, "zarr_format");
    return zlgi_json_i64(stated, &format) && format == 2 ? 2 : 3;
}

static zlg_status parse_into(zlg_array *array, const char *text, int zarr_format,
                             zlg_error *err)
{
    zlgi_node_documents documents = {.kind = ZLG_NODE_ARRAY};
    ZLGI_TRY(zlgi_meta_parse_text(&array->parsed->arena, text, strlen(text),
                                  array->store->limits, &documents.document, err));
    documents.zarr_format = zarr_format ? zarr_format : format_of(documents.document);
    documents.attributes = zlgi_json_get(documents.document, "attributes");
    return zlgi_array_build(array, &documents, false, err);
}

zlg_status zlg_array_from_metadata(zlg_store *store, const char *path, const char *metadata,
                                   const zlg_open_options *given, zlg_array **out,
                                   zlg_error *err)
{
    zlg_open_options options;
    zlg_array *array;
    *out = NULL;
    ZLGI_TRY(zlgi_open_options_read(given, &options, err));
    ZLGI_TRY(zlgi_store_within(store, zlgi_meta_prefix_check(path, err), err));
    ZLGI_TRY(zlgi_array_new(store, path, &array, err));
    zlgi_array_set_defaults(array, options.promise, options.keep_empty != 0);
    zlg_status status = parse_into(array, metadata, options.zarr_format, err);
    if (status == ZLG_OK)
        *out = array;
    else {
        zlgi_array_within(array, status, err);
        zlg_array_close(array);
    }
    return status;
}

/* The version is that of the handle: another one may lie at the same path. */
zlg_status zlg_array_refresh(zlg_array *array, zlg_array **out, zlg_error *err)
{
    zlg_open_options options = ZLG_OPEN_OPTIONS_INIT;
    options.zarr_format = array->meta.zarr_format;
    options.promise = array->promise;
    options.keep_empty = array->keep_empty;
    return zlg_array_open(array->store, array->path, &options, out, err);
}

/* ------------------------------------------------------------------ facts */

const char *zlg_array_path(const zlg_array *array)
{
    return array->path;
}

int zlg_array_zarr_format(const zlg_array *array)
{
    return array->meta.zarr_format;
}

int zlg_array_rank(const zlg_array *array)
{
    return array->meta.rank;
}

const int64_t *zlg_array_shape(const zlg_array *array)
{
    return array->meta.shape;
}

const int64_t *zlg_array_object_shape(const zlg_array *array)
{
    return array->object_shape;
}

const int64_t *zlg_array_chunk_shape(const zlg_array *array)
{
    return array->chunk_shape;
}

int zlg_array_is_sharded(const zlg_array *array)
{
    return array->sharded;
}

int zlg_array_is_rectilinear(const zlg_array *array)
{
    return array->meta.rectilinear;
}

int64_t zlg_array_grid_shape(const zlg_array *array, int axis)
{
    return array->meta.grid.axis[axis].n_chunks;
}

int64_t zlg_array_edge(const zlg_array *array, int axis, int64_t i)
{
    return zlgi_grid_edge(&array->meta.grid.axis[axis], i);
}

const void *zlg_array_fill_value(const zlg_array *array, size_t *out_n_bytes)
{
    *out_n_bytes = array->meta.fill.n;
    return array->meta.fill.data;
}

const char *zlg_array_dimension_name(const zlg_array *array, int axis)
{
    return array->meta.dimension_names[axis];
}

zlg_store *zlg_array_store(const zlg_array *array)
{
    return array->store;
}
