/*
 * array_v3.c: the zarr.json of an array as zlgi_array_meta. Checks all but what is inside
 * a codec, which is kept as JSON.
 *
 * Implements "array metadata" of the version 3 core specification. Null `attributes` and
 * `dimension_names` are against it, but written by several libraries: they count as
 * absent.
 */
#include <stdio.h>

#include "meta/member.h"

static zlg_status read_dimension_names(const zlgi_json *value, int rank, const char **out,
                                       zlg_error *err)
{
    if (value == NULL || value->type == ZLGI_JSON_NULL)
        return ZLG_OK;
    if (value->type != ZLGI_JSON_ARRAY)
        return zlgi_meta_expected(err, "dimension_names", value, "a list");
    if (value->n_items != (uint32_t)rank)
        return zlgi_fail(err, ZLG_METADATA,
                         "dimension_names has %u names, the array has %d "
                         "axes",
                         value->n_items, rank);
    int i = 0;
    for (const zlgi_json *item = value->items; item; item = item->next, i++) {
        char name[32];
        snprintf(name, sizeof name, "dimension_names[%d]", i);
        if (item->type == ZLGI_JSON_NULL)
            continue;
        if (item->type != ZLGI_JSON_STRING)
            return zlgi_meta_expected(err, name, item, "a string or null");
        if (strlen(item->text) != item->n_text)
            return zlgi_fail(err, ZLG_METADATA, "%s holds a NUL character", name);
        out[i] = item->text;
    }
    return ZLG_OK;
}

static zlg_status read_data_type(zlgi_arena *arena, const zlgi_json *value,
                                 const zlgi_dtype **out, zlg_error *err)
{
    zlgi_extension type;
    ZLGI_TRY(zlgi_meta_essential(value, "data_type", &type, err));
    return zlgi_dtype_parse_v3(arena, value, out, err);
}

static zlg_status read_fill(zlgi_arena *arena, const zlgi_json *value,
                            const zlgi_dtype *dtype, zlgi_fill *out, zlg_error *err)
{
    if (value == NULL)
        return zlgi_meta_expected(err, "fill_value", value, "a value of the data type");
    return zlgi_fill_parse_v3(arena, dtype, value, out, err);
}

zlg_status zlgi_meta_array_v3(zlgi_arena *arena, const zlgi_json *document,
                              const zlg_limits *limits, zlgi_array_meta *out,
                              zlg_error *err)
{
    static const char *const FIELDS[] = {
        "zarr_format",        "node_type",  "shape",  "data_type",  "chunk_grid",
        "chunk_key_encoding", "fill_value", "codecs", "attributes", "storage_transformers",
        "dimension_names",    NULL};
    *out = (zlgi_array_meta){.zarr_format = 3, .document = document};
    ZLGI_TRY(zlgi_meta_check_node(document, ZLG_NODE_ARRAY, err));
    ZLGI_TRY(zlgi_meta_check_fields(document, FIELDS, err));
    ZLGI_TRY(
        zlgi_meta_check_transformers(zlgi_json_get(document, "storage_transformers"), err));
    ZLGI_TRY(zlgi_meta_lengths(zlgi_json_get(document, "shape"), "shape", 0, &out->rank,
                               out->shape, err));
    ZLGI_TRY(read_data_type(arena, zlgi_json_get(document, "data_type"), &out->dtype, err));
    ZLGI_TRY(zlgi_meta_grid(arena, zlgi_json_get(document, "chunk_grid"), out->rank,
                            out->shape, limits, &out->grid, &out->rectilinear, err));
    ZLGI_TRY(zlgi_meta_key_encoding(zlgi_json_get(document, "chunk_key_encoding"),
                                    &out->key_encoding, err));
    ZLGI_TRY(read_fill(arena, zlgi_json_get(document, "fill_value"), out->dtype, &out->fill,
                       err));
    out->codecs = zlgi_json_get(document, "codecs");
    ZLGI_TRY(zlgi_meta_check_codecs(out->codecs, err));
    ZLGI_TRY(read_dimension_names(zlgi_json_get(document, "dimension_names"), out->rank,
                                  out->dimension_names, err));
    return zlgi_meta_attributes(zlgi_json_get(document, "attributes"), &out->attributes,
                                err);
}
