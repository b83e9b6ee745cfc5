/*
 * reshape.c: an array whose document is about to state another shape: the new document,
 * and a handle of it, as those who read it will have it.
 */
#include "core/core.h"

static zlg_status load_attributes(zlg_array *array, zlgi_node_documents *documents,
                                  zlg_error *err)
{
    if (documents->zarr_format == 3)
        return ZLG_OK;
    zlg_status status =
        zlgi_document_get(array->store, array->path, ".zattrs", &array->parsed->arena,
                          &documents->attributes, err);
    return status == ZLG_NOT_FOUND ? ZLG_OK : status;
}

static zlg_status build(zlg_array *array, int zarr_format, const zlgi_buf *text,
                        zlg_error *err)
{
    zlgi_node_documents documents = {.kind = ZLG_NODE_ARRAY, .zarr_format = zarr_format};
    ZLGI_TRY(zlgi_meta_parse_text(&array->parsed->arena, (const char *)text->data, text->n,
                                  array->store->limits, &documents.document, err));
    ZLGI_TRY(load_attributes(array, &documents, err));
    ZLGI_TRY(zlgi_array_build(array, &documents, false, err));
    return array->meta.rectilinear ? zlgi_array_check_edges(array, err) : ZLG_OK;
}

static zlg_status write_document(const zlg_array *old, const zlgi_json *document,
                                 const int64_t *shape, zlgi_arena *arena, zlgi_buf *out,
                                 zlg_error *err)
{
    if (shape)
        ZLGI_TRY(zlgi_meta_reshape(arena, document, old->meta.rank, shape,
                                   old->store->limits, &document, err));
    return zlgi_json_write(document, 2, out, err);
}

zlg_status zlgi_array_reshape(const zlg_array *old, const zlgi_json *document,
                              const int64_t *shape, zlgi_arena *arena, zlgi_buf *text,
                              zlg_array **out, zlg_error *err)
{
    zlg_array *array;
    *out = NULL;
    ZLGI_TRY(write_document(old, document, shape, arena, text, err));
    ZLGI_TRY(zlgi_array_new(old->store, old->path, &array, err));
    zlgi_array_set_defaults(array, old->promise, old->keep_empty);
    zlg_status status = build(array, old->meta.zarr_format, text, err);
    if (status == ZLG_OK)
        *out = array;
    else
        zlg_array_close(array);
    return status;
}

const char *zlgi_array_document(const zlg_array *array)
{
    return array->meta.zarr_format == 3 ? "zarr.json" : ".zarray";
}

zlg_status zlgi_array_stored_shape(const zlg_array *array, const zlgi_json *document,
                                   int64_t out[ZLG_MAX_RANK], zlg_error *err)
{
    int rank;
    if (!document)
        return zlgi_fail(err, ZLG_NOT_FOUND, "the array is not there any more");
    ZLGI_TRY(zlgi_meta_shape(document, &rank, out, err));
    if (rank != array->meta.rank)
        return zlgi_fail(err, ZLG_NOT_FOUND, "an array of %d axes lies there by now", rank);
    return ZLG_OK;
}
