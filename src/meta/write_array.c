/*
 * write_array.c: the document of a new array from its spec. Here stands what both
 * versions share: which parts of a spec go together, and how the caller's JSON is taken.
 *
 * Writing is strict: a part that the version does not have is an error, and so is JSON
 * that only Python reads.
 */
#include "meta/write.h"

zlg_status zlgi_meta_append(zlgi_buf *text, const char *piece, zlg_error *err)
{
    return zlgi_buf_append(text, piece, strlen(piece), err);
}

zlg_status zlgi_meta_check_tokens(const zlgi_json *value, const char *advice,
                                  zlg_error *err)
{
    if (value->type == ZLGI_JSON_NUMBER && strpbrk(value->text, "NI"))
        return zlgi_fail(err, ZLG_USAGE, "%s is no JSON%s", value->text, advice);
    if (value->type != ZLGI_JSON_ARRAY && value->type != ZLGI_JSON_OBJECT)
        return ZLG_OK;
    unsigned i = 0;
    for (const zlgi_json *item = value->items; item; item = item->next, i++) {
        zlg_status status = zlgi_meta_check_tokens(item, advice, err);
        if (status != ZLG_OK && value->type == ZLGI_JSON_OBJECT)
            return zlgi_within(err, status, "\"%.60s\"", item->name);
        if (status != ZLG_OK)
            return zlgi_within(err, status, "[%u]", i);
    }
    return ZLG_OK;
}

zlg_status zlgi_meta_spec_json(const zlgi_meta_writer *writer, const char *text,
                               const char *what, const zlgi_json **out, zlg_error *err)
{
    zlg_status status = zlgi_json_parse(writer->arena, text, strlen(text),
                                        zlgi_meta_depth(writer->limits), out, err);
    if (status == ZLG_OK)
        status = zlgi_meta_check_tokens(*out, "", err);
    return zlgi_within(err, status, "%s", what);
}

zlg_status zlgi_meta_parse_attributes(zlgi_arena *arena, const char *text,
                                      bool python_tokens, const zlg_limits *limits,
                                      const zlgi_json **out, zlg_error *err)
{
    *out = NULL;
    if (text == NULL)
        return ZLG_OK;
    zlg_status status =
        zlgi_json_parse(arena, text, strlen(text), zlgi_meta_depth(limits), out, err);
    if (status == ZLG_OK && (*out)->type != ZLGI_JSON_OBJECT)
        return zlgi_meta_expected(err, "attributes", *out, "an object");
    if (status == ZLG_OK && !python_tokens)
        status = zlgi_meta_check_tokens(*out, "; python_tokens allows it", err);
    return zlgi_within(err, status, "attributes");
}

zlg_status zlgi_meta_write_attributes(const zlgi_meta_writer *writer, zlg_error *err)
{
    const zlgi_json *value;
    ZLGI_TRY(zlgi_meta_parse_attributes(writer->arena, writer->spec.attributes,
                                        writer->spec.python_tokens != 0, writer->limits,
                                        &value, err));
    return value ? zlgi_json_write(value, 0, writer->text, err)
                 : zlgi_meta_append(writer->text, "{}", err);
}

zlg_status zlgi_meta_spec_name(const zlgi_meta_writer *writer, const char *text,
                               const char *what, const zlgi_json **out, zlg_error *err)
{
    if (*text != '\0' && strchr("{[\"", *text))
        return zlgi_meta_spec_json(writer, text, what, out, err);
    zlgi_buf quoted;
    zlgi_buf_init(&quoted, writer->arena->alloc);
    zlg_status status = zlgi_json_write_string(&quoted, text, strlen(text), err);
    if (status == ZLG_OK)
        status = zlgi_json_parse(writer->arena, (const char *)quoted.data, quoted.n, 1, out,
                                 err);
    zlgi_buf_reset(&quoted);
    return zlgi_within(err, status, "%s", what);
}

zlg_status zlgi_meta_write_lengths(const zlgi_meta_writer *writer, const int64_t *lengths,
                                   int64_t least, const char *what, zlg_error *err)
{
    if (lengths == NULL && writer->spec.rank > 0)
        return zlgi_fail(err, ZLG_USAGE, "%s is missing", what);
    ZLGI_TRY(zlgi_meta_append(writer->text, "[", err));
    for (int i = 0; i < writer->spec.rank; i++) {
        if (lengths[i] < least)
            return zlgi_fail(err, ZLG_USAGE, "%s[%d] is %lld, expected at least %lld", what,
                             i, (long long)lengths[i], (long long)least);
        ZLGI_TRY(zlgi_buf_printf(writer->text, err, "%s%lld", i > 0 ? "," : "",
                                 (long long)lengths[i]));
    }
    return zlgi_meta_append(writer->text, "]", err);
}

zlg_status zlgi_meta_pretty(const zlgi_buf *text, zlgi_arena *arena, int max_depth,
                            zlgi_buf *out, zlg_error *err)
{
    const zlgi_json *document;
    ZLGI_TRY(zlgi_json_parse(arena, (const char *)text->data, text->n, max_depth, &document,
                             err));
    return zlgi_json_write(document, 2, out, err);
}

static zlg_status refuse(bool is_given, const char *name, int zarr_format, zlg_error *err)
{
    if (is_given)
        return zlgi_fail(err, ZLG_USAGE, "version %d arrays have no %s", zarr_format, name);
    return ZLG_OK;
}

static zlg_status check_spec(const zlg_array_spec *spec, zlg_error *err)
{
    if (spec->rank < 0 || spec->rank > ZLG_MAX_RANK)
        return zlgi_fail(err, ZLG_USAGE, "rank is %d, expected 0 to %d", spec->rank,
                         ZLG_MAX_RANK);
    if (spec->data_type == NULL)
        return zlgi_fail(err, ZLG_USAGE, "data_type is missing");
    if (spec->zarr_format == 2) {
        ZLGI_TRY(refuse(spec->chunk_shape, "chunk_shape (shards)", 2, err));
        ZLGI_TRY(refuse(spec->index_location, "index_location", 2, err));
        ZLGI_TRY(refuse(spec->chunk_grid, "chunk_grid", 2, err));
        ZLGI_TRY(refuse(spec->chunk_key_encoding, "chunk_key_encoding", 2, err));
        ZLGI_TRY(refuse(spec->target_shard_bytes, "target_shard_bytes", 2, err));
        return refuse(spec->dimension_names, "dimension_names", 2, err);
    }
    if (spec->zarr_format != 0 && spec->zarr_format != 3)
        return zlgi_fail(err, ZLG_USAGE, "zarr_format is %d, expected 2 or 3",
                         spec->zarr_format);
    ZLGI_TRY(refuse(spec->separator, "separator", 3, err));
    return refuse(spec->order, "order", 3, err);
}

zlg_status zlgi_meta_write_array(const zlg_array_spec *spec, const zlg_limits *limits,
                                 zlgi_buf *out, zlg_error *err)
{
    ZLGI_TRY(check_spec(spec, err));
    zlgi_arena arena;
    zlgi_buf text;
    zlgi_arena_init(&arena, out->alloc);
    zlgi_buf_init(&text, out->alloc);
    zlgi_meta_writer writer = {
        .spec = *spec, .limits = limits, .arena = &arena, .text = &text};
    zlg_status status = spec->zarr_format == 2 ? zlgi_meta_write_v2(&writer, err)
                                               : zlgi_meta_write_v3(&writer, err);
    if (status == ZLG_OK)
        status = zlgi_meta_pretty(&text, &arena, zlgi_meta_depth(limits), out, err);
    zlgi_buf_reset(&text);
    zlgi_arena_reset(&arena);
    return status;
}
