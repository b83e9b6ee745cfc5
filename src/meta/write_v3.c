/*
 * write_v3.c: the zarr.json of a new array, with every choice recorded: grid, key
 * encoding and codecs are objects, the fill value has its canonical spelling.
 *
 * Implements "array metadata" of the version 3 core specification, for writers.
 */
#include "meta/write.h"

static zlg_status write_grid(const zlgi_meta_writer *writer, zlg_error *err)
{
    const zlg_array_spec *spec = &writer->spec;
    if (spec->chunk_grid == NULL) {
        ZLGI_TRY(zlgi_meta_append(
            writer->text,
            "{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":", err));
        ZLGI_TRY(
            zlgi_meta_write_lengths(writer, spec->object_shape, 1, "object_shape", err));
        return zlgi_meta_append(writer->text, "}}", err);
    }
    if (spec->object_shape)
        return zlgi_fail(
            err, ZLG_USAGE,
            "chunk_grid and object_shape are both given, expected one of them");
    const zlgi_json *value;
    ZLGI_TRY(zlgi_meta_spec_json(writer, spec->chunk_grid, "chunk_grid", &value, err));
    zlgi_grid grid;
    bool is_rectilinear;
    ZLGI_TRY(zlgi_meta_grid(writer->arena, value, spec->rank, spec->shape, writer->limits,
                            &grid, &is_rectilinear, err));
    return zlgi_json_write(value, 0, writer->text, err);
}

static zlg_status write_key_encoding(const zlgi_meta_writer *writer, zlg_error *err)
{
    zlgi_key_encoding encoding = {.style = ZLGI_KEY_DEFAULT, .separator = '/'};
    const char *text = writer->spec.chunk_key_encoding;
    if (text) {
        const zlgi_json *value;
        ZLGI_TRY(zlgi_meta_spec_name(writer, text, "chunk_key_encoding", &value, err));
        ZLGI_TRY(zlgi_meta_key_encoding(value, &encoding, err));
    }
    return zlgi_buf_printf(
        writer->text, err, "{\"name\":\"%s\",\"configuration\":{\"separator\":\"%c\"}}",
        encoding.style == ZLGI_KEY_V2 ? "v2" : "default", encoding.separator);
}

static zlg_status write_fill(const zlgi_meta_writer *writer, const zlgi_dtype *dtype,
                             zlg_error *err)
{
    const char *text = writer->spec.fill_value;
    const zlgi_json *value;
    zlgi_fill fill;
    if (text) {
        ZLGI_TRY(zlgi_meta_spec_json(writer, text, "fill_value", &value, err));
        ZLGI_TRY(zlgi_fill_parse_v3(writer->arena, dtype, value, &fill, err));
    } else {
        ZLGI_TRY(zlgi_fill_zero(writer->arena, dtype, &fill, err));
    }
    return zlgi_fill_write_v3(dtype, fill.data, fill.n, writer->text, err);
}

static zlg_status write_dimension_names(const zlgi_meta_writer *writer, zlg_error *err)
{
    const char *const *names = writer->spec.dimension_names;
    if (names == NULL)
        return ZLG_OK;
    ZLGI_TRY(zlgi_meta_append(writer->text, ",\"dimension_names\":[", err));
    for (int i = 0; i < writer->spec.rank; i++) {
        if (i > 0)
            ZLGI_TRY(zlgi_meta_append(writer->text, ",", err));
        if (names[i] == NULL) {
            ZLGI_TRY(zlgi_meta_append(writer->text, "null", err));
            continue;
        }
        size_t n = strlen(names[i]);
        if (!zlgi_utf8_valid((const uint8_t *)names[i], n))
            return zlgi_fail(err, ZLG_USAGE, "dimension_names[%d] is not UTF-8", i);
        ZLGI_TRY(zlgi_json_write_string(writer->text, names[i], n, err));
    }
    return zlgi_meta_append(writer->text, "]", err);
}

zlg_status zlgi_meta_write_v3(zlgi_meta_writer *writer, zlg_error *err)
{
    const zlg_array_spec *spec = &writer->spec;
    zlgi_buf *text = writer->text;
    const zlgi_json *type, *codecs;
    const zlgi_dtype *dtype;
    bool shards;
    ZLGI_TRY(zlgi_meta_spec_name(writer, spec->data_type, "data_type", &type, err));
    ZLGI_TRY(zlgi_dtype_parse_v3(writer->arena, type, &dtype, err));

    ZLGI_TRY(zlgi_meta_append(
        text, "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":", err));
    ZLGI_TRY(zlgi_meta_write_lengths(writer, spec->shape, 0, "shape", err));
    ZLGI_TRY(zlgi_meta_append(text, ",\"data_type\":", err));
    ZLGI_TRY(zlgi_dtype_write_v3(dtype, text, err));
    ZLGI_TRY(zlgi_meta_read_codecs(writer, &codecs, &shards, err));
    ZLGI_TRY(zlgi_meta_settle_shapes(writer, dtype, shards, err));
    ZLGI_TRY(zlgi_meta_append(text, ",\"chunk_grid\":", err));
    ZLGI_TRY(write_grid(writer, err));
    ZLGI_TRY(zlgi_meta_append(text, ",\"chunk_key_encoding\":", err));
    ZLGI_TRY(write_key_encoding(writer, err));
    ZLGI_TRY(zlgi_meta_append(text, ",\"fill_value\":", err));
    ZLGI_TRY(write_fill(writer, dtype, err));
    ZLGI_TRY(zlgi_meta_append(text, ",\"codecs\":", err));
    ZLGI_TRY(zlgi_meta_write_codecs(writer, dtype, codecs, err));
    ZLGI_TRY(zlgi_meta_append(text, ",\"attributes\":", err));
    ZLGI_TRY(zlgi_meta_write_attributes(writer, err));
    ZLGI_TRY(write_dimension_names(writer, err));
    return zlgi_meta_append(text, "}", err);
}
