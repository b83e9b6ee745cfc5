/*
 * document.c: text to tree, and which kind of document a tree is. Knows the marks by
 * which older formats and drafts show themselves, so that they are refused by name and
 * not by the first member that they lack.
 *
 * Implements `zarr_format` and `node_type` of both versions.
 */
#include "meta/member.h"

zlg_status zlgi_meta_check_object(const zlgi_json *document, zlg_error *err)
{
    if (document->type != ZLGI_JSON_OBJECT)
        return zlgi_meta_expected(err, "document", document, "an object");
    return ZLG_OK;
}

zlg_status zlgi_meta_parse_text(zlgi_arena *arena, const char *text, size_t n,
                                const zlg_limits *limits, const zlgi_json **out,
                                zlg_error *err)
{
    if (n > (uint64_t)limits->metadata_bytes)
        return zlgi_fail(err, ZLG_LIMIT,
                         "document has %zu bytes, the limit metadata_bytes is %lld", n,
                         (long long)limits->metadata_bytes);
    ZLGI_TRY(zlgi_json_parse(arena, text, n, zlgi_meta_depth(limits), out, err));
    return zlgi_meta_check_object(*out, err);
}

/* The drafts of version 3 from 2020 to 2022: the entry point names a protocol by its
 * address; the documents of nodes have no zarr_format. */
static bool is_draft(const zlgi_json *document, const zlgi_json *format)
{
    static const char *const MARKS[] = {"chunk_memory_layout", "metadata_encoding",
                                        "metadata_key_suffix", "extensions"};
    static const char ADDRESS[] = "https://purl.org/zarr/";
    if (format)
        return format->type == ZLGI_JSON_STRING &&
               strncmp(format->text, ADDRESS, sizeof ADDRESS - 1) == 0;
    for (size_t i = 0; i < ZLGI_COUNT(MARKS); i++)
        if (zlgi_json_get(document, MARKS[i]))
            return true;
    return false;
}

zlg_status zlgi_meta_check_format(const zlgi_json *document, int zarr_format,
                                  zlg_error *err)
{
    ZLGI_TRY(zlgi_meta_check_object(document, err));
    const zlgi_json *format = zlgi_json_get(document, "zarr_format");
    if (is_draft(document, format))
        return zlgi_fail(err, ZLG_UNSUPPORTED,
                         "document follows an early draft of Zarr version 3, which is not "
                         "supported");
    int64_t found;
    if (!zlgi_json_i64(format, &found))
        return zlgi_fail(err, ZLG_METADATA, "zarr_format is %s, expected %d",
                         zlgi_meta_brief(format).text, zarr_format);
    if (found == zarr_format)
        return ZLG_OK;
    if (found == 1)
        return zlgi_fail(err, ZLG_UNSUPPORTED,
                         "zarr_format is 1: arrays of Zarr version 1 are not supported");
    if (found == 2 || found == 3)
        return zlgi_fail(err, ZLG_METADATA,
                         "zarr_format is %lld, expected %d in this document",
                         (long long)found, zarr_format);
    return zlgi_fail(err, ZLG_UNSUPPORTED,
                     "zarr_format is %lld, only 2 and 3 are supported", (long long)found);
}

zlg_status zlgi_meta_node_type(const zlgi_json *document, zlg_node *out, zlg_error *err)
{
    ZLGI_TRY(zlgi_meta_check_format(document, 3, err));
    const zlgi_json *type = zlgi_json_get(document, "node_type");
    if (zlgi_json_is(type, "array"))
        *out = ZLG_NODE_ARRAY;
    else if (zlgi_json_is(type, "group"))
        *out = ZLG_NODE_GROUP;
    else
        return zlgi_meta_expected(err, "node_type", type, "\"array\" or \"group\"");
    return ZLG_OK;
}

zlg_status zlgi_meta_check_node(const zlgi_json *document, zlg_node expected,
                                zlg_error *err)
{
    zlg_node found;
    ZLGI_TRY(zlgi_meta_node_type(document, &found, err));
    if (found != expected)
        return zlgi_meta_expected(err, "node_type", zlgi_json_get(document, "node_type"),
                                  expected == ZLG_NODE_ARRAY ? "\"array\"" : "\"group\"");
    return ZLG_OK;
}
