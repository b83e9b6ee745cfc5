/*
 * write_group.c: the document of a new group. In version 2 the attributes go to .zattrs
 * by another hand.
 *
 * Implements "group metadata" of the version 3 core specification and .zgroup of
 * version 2, for writers.
 */
#include "meta/write.h"

static zlg_status write_document(int zarr_format, const zlgi_json *attributes,
                                 zlgi_buf *text, zlg_error *err)
{
    if (zarr_format == 2)
        return zlgi_meta_append(text, "{\"zarr_format\":2}", err);
    ZLGI_TRY(zlgi_meta_append(
        text, "{\"zarr_format\":3,\"node_type\":\"group\",\"attributes\":", err));
    ZLGI_TRY(attributes ? zlgi_json_write(attributes, 0, text, err)
                        : zlgi_meta_append(text, "{}", err));
    return zlgi_meta_append(text, "}", err);
}

zlg_status zlgi_meta_write_group(int zarr_format, const zlgi_json *attributes,
                                 zlgi_buf *out, zlg_error *err)
{
    if (zarr_format != 2 && zarr_format != 3)
        return zlgi_fail(err, ZLG_USAGE, "zarr_format is %d, expected 2 or 3", zarr_format);
    zlgi_arena arena;
    zlgi_buf text;
    zlgi_arena_init(&arena, out->alloc);
    zlgi_buf_init(&text, out->alloc);
    zlg_status status = write_document(zarr_format, attributes, &text, err);
    if (status == ZLG_OK)
        status = zlgi_meta_pretty(&text, &arena, INT32_MAX, out, err);
    zlgi_buf_reset(&text);
    zlgi_arena_reset(&arena);
    return status;
}
