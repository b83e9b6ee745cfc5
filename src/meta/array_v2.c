/*
 * array_v2.c: a .zarray as zlgi_array_meta. Members that are not known are ignored, as
 * the version says; a missing dimension_separator is "." and an empty list of filters
 * none.
 *
 * Implements "arrays, metadata" of the version 2 specification.
 */
#include <stdio.h>

#include "meta/member.h"

/* numcodecs: an object whose `id` names the codec. */
static zlg_status check_codec(const zlgi_json *value, const char *name, zlg_error *err)
{
    if (value->type != ZLGI_JSON_OBJECT)
        return zlgi_meta_expected(err, name, value, "an object with an id");
    const zlgi_json *id = zlgi_json_get(value, "id");
    if (id == NULL || id->type != ZLGI_JSON_STRING)
        return zlgi_within(err, zlgi_meta_expected(err, "id", id, "a string"), "%s", name);
    return ZLG_OK;
}

zlg_status zlgi_meta_filters_v2(const zlgi_json *value, const zlgi_json **out,
                                zlg_error *err)
{
    *out = NULL;
    if (value && value->type == ZLGI_JSON_NULL)
        return ZLG_OK;
    if (value == NULL || value->type != ZLGI_JSON_ARRAY)
        return zlgi_meta_expected(err, "filters", value, "a list or null");
    int i = 0;
    for (const zlgi_json *item = value->items; item; item = item->next) {
        char name[32];
        snprintf(name, sizeof name, "filters[%d]", i++);
        ZLGI_TRY(check_codec(item, name, err));
    }
    *out = value->n_items ? value : NULL;
    return ZLG_OK;
}

zlg_status zlgi_meta_compressor_v2(const zlgi_json *value, const zlgi_json **out,
                                   zlg_error *err)
{
    *out = NULL;
    if (value && value->type == ZLGI_JSON_NULL)
        return ZLG_OK;
    if (value == NULL)
        return zlgi_meta_expected(err, "compressor", value, "an object with an id or null");
    ZLGI_TRY(check_codec(value, "compressor", err));
    *out = value;
    return ZLG_OK;
}

zlg_status zlgi_meta_dtype_v2(zlgi_arena *arena, const zlgi_json *value,
                              const zlgi_json *filters, const zlgi_json *compressor,
                              const zlg_limits *limits, const zlgi_dtype **out,
                              zlg_error *err)
{
    if (value == NULL)
        return zlgi_meta_expected(err, "dtype", value, "a string or a list of fields");
    bool is_object;
    int max_depth = zlgi_meta_depth(limits);
    ZLGI_TRY(zlgi_dtype_parse_v2(arena, value, max_depth, out, &is_object, err));
    if (!is_object)
        return ZLG_OK;
    /* Objects were turned into bytes by the first codec that met them. */
    const zlgi_json *codec = filters ? filters->items : compressor;
    if (codec == NULL)
        return zlgi_fail(
            err, ZLG_METADATA,
            "dtype \"|O\" needs an object codec (vlen-utf8, say) as first filter");
    const char *id = zlgi_json_get(codec, "id")->text;
    return zlgi_within(err, zlgi_dtype_object(arena, id, codec, out, err), "dtype \"|O\"");
}

static zlg_status read_order(const zlgi_json *value, bool *out_f, zlg_error *err)
{
    *out_f = zlgi_json_is(value, "F");
    if (!*out_f && !zlgi_json_is(value, "C"))
        return zlgi_meta_expected(err, "order", value, "\"C\" or \"F\"");
    return ZLG_OK;
}

static zlg_status read_fill(zlgi_arena *arena, const zlgi_json *value,
                            const zlgi_dtype *dtype, zlgi_fill *out, zlg_error *err)
{
    if (value == NULL)
        return zlgi_meta_expected(err, "fill_value", value, "a value or null");
    return zlgi_fill_parse_v2(arena, dtype, value, out, err);
}

zlg_status zlgi_meta_array_v2(zlgi_arena *arena, const zlgi_json *zarray,
                              const zlgi_json *zattrs, const zlg_limits *limits,
                              zlgi_array_meta *out, zlg_error *err)
{
    *out = (zlgi_array_meta){.zarr_format = 2,
                             .document = zarray,
                             .key_encoding = {.style = ZLGI_KEY_V2, .separator = '.'}};
    ZLGI_TRY(zlgi_meta_check_format(zarray, 2, err));
    ZLGI_TRY(zlgi_meta_lengths(zlgi_json_get(zarray, "shape"), "shape", 0, &out->rank,
                               out->shape, err));
    ZLGI_TRY(zlgi_meta_chunks(zlgi_json_get(zarray, "chunks"), "chunks", out->rank,
                              out->shape, &out->grid, err));
    ZLGI_TRY(zlgi_meta_filters_v2(zlgi_json_get(zarray, "filters"), &out->filters, err));
    ZLGI_TRY(zlgi_meta_compressor_v2(zlgi_json_get(zarray, "compressor"), &out->compressor,
                                     err));
    ZLGI_TRY(zlgi_meta_dtype_v2(arena, zlgi_json_get(zarray, "dtype"), out->filters,
                                out->compressor, limits, &out->dtype, err));
    const zlgi_json *fill = zlgi_json_get(zarray, "fill_value");
    ZLGI_TRY(read_fill(arena, fill, out->dtype, &out->fill, err));
    out->fill_is_undefined = fill->type == ZLGI_JSON_NULL;
    ZLGI_TRY(read_order(zlgi_json_get(zarray, "order"), &out->order_f, err));
    ZLGI_TRY(zlgi_meta_separator(zlgi_json_get(zarray, "dimension_separator"),
                                 "dimension_separator", &out->key_encoding.separator, err));
    return zlgi_meta_attributes(zattrs, &out->attributes, err);
}
