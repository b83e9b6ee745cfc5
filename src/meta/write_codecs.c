/*
 * write_codecs.c: the codec list of a new version 3 array. Knows which codecs make up the
 * default, and how a shard is put around the codecs of its inner chunks; any other codec
 * is the caller's JSON, brought to the form that every reader takes: an object without
 * must_understand, with every member that its specification asks for.
 *
 * Implements "codecs" of the version 3 core specification and the configuration of
 * sharding_indexed, for writers.
 */
#include "meta/write.h"

static const char SHARDING[] = "sharding_indexed";

static zlg_status write_list(zlgi_buf *text, const zlgi_json *list, const char *what,
                             size_t item, zlg_error *err);

/* What is written where the caller says nothing. */
typedef struct default_member {
    const char *codec, *name, *value; /* value NULL: bytes of an element */
} default_member;
static const default_member defaults[] = {
    {"gzip", "level", "5"},        {"zstd", "level", "0"},
    {"zstd", "checksum", "false"}, {"blosc", "cname", "\"lz4\""},
    {"blosc", "clevel", "5"},      {"blosc", "shuffle", "\"shuffle\""},
    {"blosc", "typesize", NULL},   {"blosc", "blocksize", "0"},
};

/* Codecs that hold codecs name their lists like this. */
static bool holds_codecs(const zlgi_json *member)
{
    return member->type == ZLGI_JSON_ARRAY && (strcmp(member->name, "codecs") == 0 ||
                                               strcmp(member->name, "index_codecs") == 0);
}

/* It may be left out, but not for zarr-python where a codec comes from numcodecs. */
static bool wants_configuration(const zlgi_extension *codec)
{
    static const char PREFIX[] = "numcodecs.";
    size_t n = sizeof PREFIX - 1;
    for (size_t i = 0; i < ZLGI_COUNT(defaults); i++)
        if (zlgi_json_is(codec->name, defaults[i].codec))
            return true;
    return codec->configuration ||
           (codec->name->n_text >= n && memcmp(codec->name->text, PREFIX, n) == 0);
}

static zlg_status write_defaults(zlgi_buf *text, const zlgi_extension *codec, size_t item,
                                 const char *separator, zlg_error *err)
{
    for (size_t i = 0; i < ZLGI_COUNT(defaults); i++) {
        const default_member *member = &defaults[i];
        if (!zlgi_json_is(codec->name, member->codec) ||
            (codec->configuration && zlgi_json_get(codec->configuration, member->name)))
            continue;
        ZLGI_TRY(zlgi_buf_printf(text, err, "%s\"%s\":", separator, member->name));
        ZLGI_TRY(member->value ? zlgi_meta_append(text, member->value, err)
                               : zlgi_buf_printf(text, err, "%zu", item));
        separator = ",";
    }
    return ZLG_OK;
}

static zlg_status write_configuration(zlgi_buf *text, const zlgi_extension *codec,
                                      size_t item, zlg_error *err)
{
    const char *separator = "";
    ZLGI_TRY(zlgi_meta_append(text, ",\"configuration\":{", err));
    const zlgi_json *member = codec->configuration ? codec->configuration->items : NULL;
    for (; member; member = member->next) {
        ZLGI_TRY(zlgi_meta_append(text, separator, err));
        ZLGI_TRY(zlgi_json_write_string(text, member->name, member->n_name, err));
        ZLGI_TRY(zlgi_meta_append(text, ":", err));
        if (holds_codecs(member))
            ZLGI_TRY(write_list(text, member, member->name, item, err));
        else
            ZLGI_TRY(zlgi_json_write(member, 0, text, err));
        separator = ",";
    }
    if (zlgi_json_is(codec->name, SHARDING) &&
        zlgi_json_get(codec->configuration, "index_location") == NULL)
        ZLGI_TRY(zlgi_buf_printf(text, err, "%s\"index_location\":\"end\"", separator));
    ZLGI_TRY(write_defaults(text, codec, item, separator, err));
    return zlgi_meta_append(text, "}", err);
}

static zlg_status write_codec(zlgi_buf *text, const zlgi_json *value, const char *what,
                              size_t item, zlg_error *err)
{
    zlgi_extension codec;
    ZLGI_TRY(zlgi_meta_extension(value, what, &codec, err));
    if (!codec.must_understand)
        return zlgi_fail(err, ZLG_USAGE,
                         "codec %s has must_understand false: a codec that may be skipped "
                         "cannot be written",
                         zlgi_meta_brief(codec.name).text);
    ZLGI_TRY(zlgi_meta_append(text, "{\"name\":", err));
    ZLGI_TRY(zlgi_json_write(codec.name, 0, text, err));
    if (wants_configuration(&codec))
        ZLGI_TRY(write_configuration(text, &codec, item, err));
    return zlgi_meta_append(text, "}", err);
}

static zlg_status write_list(zlgi_buf *text, const zlgi_json *list, const char *what,
                             size_t item, zlg_error *err)
{
    const char *separator = "[";
    for (const zlgi_json *codec = list->items; codec; codec = codec->next) {
        ZLGI_TRY(zlgi_meta_append(text, separator, err));
        ZLGI_TRY(write_codec(text, codec, what, item, err));
        separator = ",";
    }
    return zlgi_meta_append(text, list->n_items ? "]" : "[]", err);
}

static zlg_status write_default(zlgi_buf *text, const zlgi_dtype *dtype, zlg_error *err)
{
    const char *to_bytes = "{\"name\":\"bytes\"}";
    if (dtype->type == ZLG_STRING)
        to_bytes = "{\"name\":\"vlen-utf8\"}";
    else if (dtype->type == ZLG_BYTES)
        to_bytes = "{\"name\":\"vlen-bytes\"}";
    else if (zlgi_dtype_has_order(dtype))
        to_bytes = "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}";
    return zlgi_buf_printf(text, err,
                           "[%s,{\"name\":\"zstd\",\"configuration\":{\"level\":0,"
                           "\"checksum\":false}}]",
                           to_bytes);
}

static bool has_sharding(const zlgi_json *codecs)
{
    for (const zlgi_json *item = codecs->items; item; item = item->next) {
        const zlgi_json *name =
            item->type == ZLGI_JSON_OBJECT ? zlgi_json_get(item, "name") : item;
        if (zlgi_json_is(name, SHARDING))
            return true;
    }
    return false;
}

static zlg_status write_chain(const zlgi_meta_writer *writer, const zlgi_dtype *dtype,
                              const zlgi_json *codecs, zlg_error *err)
{
    size_t item = zlgi_dtype_is_varlen(dtype) ? 1 : ZLGI_MAX(dtype->n_bytes, 1);
    return codecs ? write_list(writer->text, codecs, "codecs", item, err)
                  : write_default(writer->text, dtype, err);
}

static zlg_status write_shard(const zlgi_meta_writer *writer, const zlgi_dtype *dtype,
                              const zlgi_json *codecs, zlg_error *err)
{
    const zlg_array_spec *spec = &writer->spec;
    const char *location = spec->index_location ? spec->index_location : "end";
    if (strcmp(location, "end") != 0 && strcmp(location, "start") != 0)
        return zlgi_fail(err, ZLG_USAGE,
                         "index_location is \"%.40s\", expected \"start\" or "
                         "\"end\"",
                         location);
    ZLGI_TRY(
        zlgi_buf_printf(writer->text, err,
                        "[{\"name\":\"%s\",\"configuration\":{\"chunk_shape\":", SHARDING));
    ZLGI_TRY(zlgi_meta_write_lengths(writer, spec->chunk_shape, 1, "chunk_shape", err));
    ZLGI_TRY(zlgi_meta_append(writer->text, ",\"codecs\":", err));
    ZLGI_TRY(write_chain(writer, dtype, codecs, err));
    return zlgi_buf_printf(writer->text, err,
                           ",\"index_codecs\":[{\"name\":\"bytes\",\"configuration\":"
                           "{\"endian\":\"little\"}},{\"name\":\"crc32c\"}],"
                           "\"index_location\":\"%s\"}}]",
                           location);
}

zlg_status zlgi_meta_read_codecs(const zlgi_meta_writer *writer, const zlgi_json **out,
                                 bool *out_shards, zlg_error *err)
{
    const zlg_array_spec *spec = &writer->spec;
    *out = NULL;
    *out_shards = false;
    if (spec->codecs == NULL)
        return ZLG_OK;
    ZLGI_TRY(zlgi_meta_spec_json(writer, spec->codecs, "codecs", out, err));
    ZLGI_TRY(zlgi_meta_check_codecs(*out, err));
    *out_shards = has_sharding(*out);
    if (*out_shards && spec->chunk_shape)
        return zlgi_fail(err, ZLG_USAGE,
                         "chunk_shape is given, but the codecs make shards of their own");
    return ZLG_OK;
}

zlg_status zlgi_meta_write_codecs(const zlgi_meta_writer *writer, const zlgi_dtype *dtype,
                                  const zlgi_json *codecs, zlg_error *err)
{
    const zlg_array_spec *spec = &writer->spec;
    if (spec->chunk_shape)
        return write_shard(writer, dtype, codecs, err);
    if (spec->index_location)
        return zlgi_fail(err, ZLG_USAGE,
                         "index_location is given, but no chunk_shape that makes shards");
    return write_chain(writer, dtype, codecs, err);
}
