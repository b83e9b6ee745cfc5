/*
 * write_v2.c: the .zarray of a new array. Attributes go to .zattrs by another hand.
 *
 * Implements "arrays, metadata" of the version 2 specification, for writers. The default
 * compressor does not name its checksum: readers older than the option refuse it.
 */
#include "meta/write.h"

/* {"filters": .., "compressor": ..}; a member that is not given has its default. */
static zlg_status read_codecs(const zlgi_meta_writer *writer, const zlgi_json **out_filters,
                              const zlgi_json **out_compressor, zlg_error *err)
{
    static const char *const MEMBERS[] = {"filters", "compressor", NULL};
    static const char COMPRESSOR[] = "{\"id\":\"zstd\",\"level\":0}";
    const zlgi_json *codecs = NULL, *filters = NULL, *compressor = NULL;
    *out_filters = *out_compressor = NULL;
    if (writer->spec.codecs) {
        ZLGI_TRY(zlgi_meta_spec_json(writer, writer->spec.codecs, "codecs", &codecs, err));
        if (codecs->type != ZLGI_JSON_OBJECT)
            return zlgi_meta_expected(err, "codecs", codecs,
                                      "an object with filters and compressor");
        ZLGI_TRY(zlgi_meta_only(codecs, "codecs", MEMBERS, err));
        filters = zlgi_json_get(codecs, "filters");
        compressor = zlgi_json_get(codecs, "compressor");
    }
    if (filters)
        ZLGI_TRY(zlgi_meta_filters_v2(filters, out_filters, err));
    if (compressor == NULL)
        ZLGI_TRY(zlgi_meta_spec_json(writer, COMPRESSOR, "compressor", &compressor, err));
    return zlgi_meta_compressor_v2(compressor, out_compressor, err);
}

/* null stays: contents that nobody wrote are undefined then. */
static zlg_status write_fill(const zlgi_meta_writer *writer, const zlgi_dtype *dtype,
                             zlg_error *err)
{
    const char *text = writer->spec.fill_value;
    const zlgi_json *value;
    zlgi_fill fill;
    if (text) {
        ZLGI_TRY(zlgi_meta_spec_json(writer, text, "fill_value", &value, err));
        if (value->type == ZLGI_JSON_NULL)
            return zlgi_meta_append(writer->text, "null", err);
        ZLGI_TRY(zlgi_fill_parse_v2(writer->arena, dtype, value, &fill, err));
    } else {
        ZLGI_TRY(zlgi_fill_zero(writer->arena, dtype, &fill, err));
    }
    return zlgi_fill_write_v2(dtype, fill.data, fill.n, writer->text, err);
}

static zlg_status write_or_null(const zlgi_meta_writer *writer, const char *name,
                                const zlgi_json *value, zlg_error *err)
{
    ZLGI_TRY(zlgi_buf_printf(writer->text, err, ",\"%s\":", name));
    return value ? zlgi_json_write(value, 0, writer->text, err)
                 : zlgi_meta_append(writer->text, "null", err);
}

static zlg_status check_choice(const char *value, const char *name, const char *a,
                               const char *b, zlg_error *err)
{
    if (strcmp(value, a) != 0 && strcmp(value, b) != 0)
        return zlgi_fail(err, ZLG_USAGE, "%s is \"%.40s\", expected \"%s\" or \"%s\"", name,
                         value, a, b);
    return ZLG_OK;
}

zlg_status zlgi_meta_write_v2(zlgi_meta_writer *writer, zlg_error *err)
{
    const zlg_array_spec *spec = &writer->spec;
    zlgi_buf *text = writer->text;
    const char *order = spec->order ? spec->order : "C";
    const char *separator = spec->separator ? spec->separator : ".";
    ZLGI_TRY(check_choice(order, "order", "C", "F", err));
    ZLGI_TRY(check_choice(separator, "separator", ".", "/", err));
    const zlgi_json *type, *filters, *compressor;
    const zlgi_dtype *dtype;
    ZLGI_TRY(read_codecs(writer, &filters, &compressor, err));
    ZLGI_TRY(zlgi_meta_spec_name(writer, spec->data_type, "data_type", &type, err));
    ZLGI_TRY(zlgi_meta_dtype_v2(writer->arena, type, filters, compressor, writer->limits,
                                &dtype, err));

    ZLGI_TRY(zlgi_meta_append(text, "{\"zarr_format\":2,\"shape\":", err));
    ZLGI_TRY(zlgi_meta_write_lengths(writer, spec->shape, 0, "shape", err));
    ZLGI_TRY(zlgi_meta_settle_shapes(writer, dtype, false, err));
    ZLGI_TRY(zlgi_meta_append(text, ",\"chunks\":", err));
    ZLGI_TRY(zlgi_meta_write_lengths(writer, spec->object_shape, 1, "object_shape", err));
    ZLGI_TRY(write_or_null(writer, "dtype", type, err));
    ZLGI_TRY(write_or_null(writer, "compressor", compressor, err));
    ZLGI_TRY(zlgi_meta_append(text, ",\"fill_value\":", err));
    ZLGI_TRY(write_fill(writer, dtype, err));
    ZLGI_TRY(zlgi_buf_printf(text, err, ",\"order\":\"%s\"", order));
    ZLGI_TRY(write_or_null(writer, "filters", filters, err));
    return zlgi_buf_printf(text, err, ",\"dimension_separator\":\"%s\"}", separator);
}
