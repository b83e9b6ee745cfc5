/*
 * array_text.c: what an array tells about itself as text: fields, JSON documents, keys,
 * values, and how much of it is stored.
 */
#include "core/core.h"

zlg_dtype zlg_array_dtype(const zlg_array *array)
{
    return zlgi_dtype_public(array->meta.dtype);
}

zlg_status zlg_array_field(const zlg_array *array, const int *path, int n_path,
                           zlg_field *out, zlg_error *err)
{
    const zlgi_dtype *dtype = array->meta.dtype;
    const zlgi_field *field = NULL;
    for (int i = 0; i < n_path; i++) {
        if (path[i] < 0 || path[i] >= dtype->n_fields)
            return zlgi_fail(err, ZLG_USAGE, "field %d of a type with %d fields", path[i],
                             dtype->n_fields);
        field = &dtype->fields[path[i]];
        dtype = field->dtype;
    }
    if (!field)
        return zlgi_fail(err, ZLG_USAGE, "an empty path of fields");
    *out = (zlg_field){.name = field->name,
                       .offset = field->offset,
                       .dtype = zlgi_dtype_public(dtype),
                       .rank = field->rank};
    memcpy(out->shape, field->shape, sizeof out->shape);
    return ZLG_OK;
}

/* ------------------------------------------------------------------ documents */

static const zlgi_json *empty_object(void)
{
    static const zlgi_json empty = {.type = ZLGI_JSON_OBJECT};
    return &empty;
}

zlg_status zlg_array_attributes(zlg_array *array, zlg_text *out, zlg_error *err)
{
    const zlgi_json *attributes = array->meta.attributes;
    return zlgi_json_text(array->store->ctx, attributes ? attributes : empty_object(), 0,
                          out, err);
}

zlg_status zlg_array_metadata(zlg_array *array, zlg_text *out, zlg_error *err)
{
    return zlgi_document_text(array->store->ctx, array->meta.document,
                              array->meta.zarr_format == 2 ? array->meta.attributes : NULL,
                              out, err);
}

static zlg_status write_codecs(const zlgi_array_meta *meta, zlgi_buf *buf, zlg_error *err)
{
    static const zlgi_json null = {.type = ZLGI_JSON_NULL};
    if (meta->zarr_format == 3)
        return zlgi_json_write(meta->codecs, 0, buf, err);
    ZLGI_TRY(zlgi_buf_printf(buf, err, "{\"filters\":"));
    ZLGI_TRY(zlgi_json_write(meta->filters ? meta->filters : &null, 0, buf, err));
    ZLGI_TRY(zlgi_buf_printf(buf, err, ",\"compressor\":"));
    ZLGI_TRY(zlgi_json_write(meta->compressor ? meta->compressor : &null, 0, buf, err));
    return zlgi_buf_printf(buf, err, "}");
}

zlg_status zlg_array_codecs(zlg_array *array, zlg_text *out, zlg_error *err)
{
    zlgi_buf buf;
    zlgi_buf_init(&buf, array->store->alloc);
    zlg_status status = write_codecs(&array->meta, &buf, err);
    if (status == ZLG_OK)
        status = zlgi_buf_take_text(&buf, array->store->ctx, out, err);
    zlgi_buf_reset(&buf);
    return status;
}

zlg_status zlgi_document_text(zlg_ctx *ctx, const zlgi_json *document,
                              const zlgi_json *attributes, zlg_text *out, zlg_error *err)
{
    if (!attributes)
        return zlgi_json_text(ctx, document, 2, out, err);
    zlgi_arena arena;
    const zlgi_json *whole;
    zlgi_arena_init(&arena, &ctx->alloc);
    zlg_status status =
        zlgi_meta_with(&arena, document, "attributes", attributes, &whole, err);
    if (status == ZLG_OK)
        status = zlgi_json_text(ctx, whole, 2, out, err);
    zlgi_arena_reset(&arena);
    return status;
}

/* ------------------------------------------------------------------ keys and sizes */

zlg_status zlg_array_key(zlg_array *array, const int64_t *coordinates, zlg_text *out,
                         zlg_error *err)
{
    char name[ZLGI_KEY_MAX], key[ZLGI_NAME_MAX];
    const zlgi_grid *grid = &array->meta.grid;
    for (int i = 0; i < grid->rank; i++)
        if (coordinates[i] < 0 || coordinates[i] >= grid->axis[i].n_chunks)
            return zlgi_fail(err, ZLG_RANGE,
                             "axis %d: chunk %lld is outside the grid of %lld", i,
                             (long long)coordinates[i], (long long)grid->axis[i].n_chunks);
    ZLGI_TRY(zlgi_key_make(&array->meta.key_encoding, grid->rank, coordinates, name, err));
    ZLGI_TRY(zlgi_join(array->path, name, key, err));
    zlgi_buf buf;
    zlgi_buf_init(&buf, array->store->alloc);
    zlg_status status = zlgi_buf_append(&buf, key, strlen(key), err);
    if (status == ZLG_OK)
        status = zlgi_buf_take_text(&buf, array->store->ctx, out, err);
    zlgi_buf_reset(&buf);
    return status;
}

zlg_status zlg_array_coordinates(const zlg_array *array, const char *key,
                                 int64_t *out_coordinates, zlg_error *err)
{
    size_t n = strlen(array->path);
    if (strncmp(key, array->path, n) != 0 || (n > 0 && key[n++] != '/') ||
        !zlgi_key_read(&array->meta.key_encoding, array->meta.rank, key + n,
                       out_coordinates))
        return zlgi_store_absent(err);
    return ZLG_OK;
}

typedef struct stored_count {
    const zlg_array *array;
    uint64_t n_objects, n_bytes;
} stored_count;

static int count_object(void *user, const char *name, int is_prefix, uint64_t n_bytes)
{
    stored_count *count = user;
    const zlgi_array_meta *meta = &count->array->meta;
    int64_t coordinates[ZLG_MAX_RANK];
    bool counts =
        !is_prefix && zlgi_key_read(&meta->key_encoding, meta->rank, name, coordinates);
    for (int i = 0; i < meta->rank && counts; i++)
        counts = coordinates[i] < meta->grid.axis[i].n_chunks;
    count->n_objects += counts;
    count->n_bytes += counts ? n_bytes : 0;
    return 0;
}

zlg_status zlg_array_stored_call(zlg_array *array, uint64_t *out_n_objects,
                                 uint64_t *out_n_bytes, const zlg_call *call,
                                 zlg_error *err)
{
    stored_count count = {.array = array};
    zlg_status status =
        zlg_store_list_call(array->store, array->path, 0, count_object, &count, call, err);
    *out_n_objects = count.n_objects;
    *out_n_bytes = count.n_bytes;
    return status == ZLG_NOT_FOUND ? ZLG_OK : zlgi_array_within(array, status, err);
}

zlg_status zlg_array_stored(zlg_array *array, uint64_t *out_n_objects,
                            uint64_t *out_n_bytes, zlg_error *err)
{
    return zlg_array_stored_call(array, out_n_objects, out_n_bytes, NULL, err);
}

/* ------------------------------------------------------------------ values */

static zlg_status write_values(const zlg_array *array, const void *elements, size_t n,
                               bool as_list, zlgi_buf *out, zlg_error *err)
{
    const zlgi_dtype *dtype = array->meta.dtype;
    const zlg_varlen *varlen = zlgi_dtype_is_varlen(dtype) ? elements : NULL;
    if (!as_list && n != 1)
        return zlgi_fail(err, ZLG_USAGE, "%zu elements without a list", n);
    if (as_list)
        ZLGI_TRY(zlgi_buf_append(out, "[", 1, err));
    for (size_t i = 0; i < n; i++) {
        const uint8_t *element = (const uint8_t *)elements + i * dtype->n_bytes;
        size_t n_bytes = dtype->n_bytes;
        if (varlen) {
            element = varlen->bytes + varlen->offsets[i];
            n_bytes = (size_t)(varlen->offsets[i + 1] - varlen->offsets[i]);
        }
        if (i > 0)
            ZLGI_TRY(zlgi_buf_append(out, ",", 1, err));
        ZLGI_TRY(zlgi_value_write(dtype, element, n_bytes, out, err));
    }
    return as_list ? zlgi_buf_append(out, "]", 1, err) : ZLG_OK;
}

zlg_status zlg_array_format(zlg_array *array, const void *elements, size_t n, int as_list,
                            zlg_text *out, zlg_error *err)
{
    zlgi_buf buf;
    zlgi_buf_init(&buf, array->store->alloc);
    zlg_status status = write_values(array, elements, n, as_list != 0, &buf, err);
    if (status == ZLG_OK)
        status = zlgi_buf_take_text(&buf, array->store->ctx, out, err);
    zlgi_buf_reset(&buf);
    return status;
}

/* ------------------------------------------------------------------ plans */

zlg_status zlg_array_explain_call(zlg_array *array, const zlg_selection *selection,
                                  int resolve, int64_t max_objects, zlg_text *out,
                                  const zlg_call *given, zlg_error *err)
{
    zlg_call call;
    ZLGI_TRY(zlgi_call_read(given, &call, err));
    call.transform = NULL; /* no chunk is read */
    zlgi_request request = {.source = &array->source, .selection = selection};
    zlgi_buf buf;
    zlgi_buf_init(&buf, array->store->alloc);
    zlg_status status = zlgi_engine_explain(&array->store->ctx->engine, &request,
                                            resolve != 0, max_objects, &call, &buf, err);
    if (status == ZLG_OK)
        status = zlgi_buf_take_text(&buf, array->store->ctx, out, err);
    zlgi_buf_reset(&buf);
    return zlgi_array_within(array, status, err);
}

zlg_status zlg_array_explain(zlg_array *array, const zlg_selection *selection, int resolve,
                             int64_t max_objects, zlg_text *out, zlg_error *err)
{
    return zlg_array_explain_call(array, selection, resolve, max_objects, out, NULL, err);
}
