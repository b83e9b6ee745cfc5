/*
 * like.c: a new array like one that is there: what its spec leaves open is taken from the
 * document of the other. Each part is taken by itself; only the codecs of a shard are taken
 * apart, and only when one of their parts is given.
 */
#include "core/core.h"

/* JSON of the other array as text of the new one's spec; NULL stays NULL. */
static zlg_status take_text(zlgi_arena *arena, const zlgi_json *value, const char **out,
                            zlg_error *err)
{
    zlgi_buf text;
    if (*out || !value)
        return ZLG_OK;
    zlgi_buf_init(&text, arena->alloc);
    zlg_status status = zlgi_json_write(value, 0, &text, err);
    if (status == ZLG_OK) {
        *out = zlgi_arena_text(arena, (const char *)text.data, text.n);
        status = *out ? ZLG_OK : zlgi_no_memory(err, text.n);
    }
    zlgi_buf_reset(&text);
    return status;
}

static zlg_status take_shape(const zlg_array *like, zlg_array_spec *spec, zlg_error *err)
{
    if (spec->rank == 0) {
        spec->rank = like->meta.rank;
        spec->shape = like->meta.shape;
    }
    if (spec->rank != like->meta.rank)
        return zlgi_fail(err, ZLG_USAGE, "rank is %d, that of `like` is %d", spec->rank,
                         like->meta.rank);
    if (!spec->shape)
        spec->shape = like->meta.shape;
    return ZLG_OK;
}

static zlg_status take_grid(zlgi_arena *arena, const zlg_array *like, zlg_array_spec *spec,
                            zlg_error *err)
{
    if (spec->object_shape || spec->chunk_grid)
        return ZLG_OK;
    if (like->meta.rectilinear)
        return take_text(arena, zlgi_json_get(like->meta.document, "chunk_grid"),
                         &spec->chunk_grid, err);
    spec->object_shape = like->object_shape;
    return ZLG_OK;
}

/* The configuration of the shards that the codecs make and nothing else; or NULL. */
static const zlgi_json *shard_of(const zlg_array *like)
{
    const zlgi_json *codec = zlgi_json_at(like->meta.codecs, 0);
    if (like->meta.codecs->n_items != 1 ||
        !zlgi_json_is(zlgi_json_get(codec, "name"), "sharding_indexed"))
        return NULL;
    return zlgi_json_get(codec, "configuration");
}

static zlg_status take_codecs_v3(zlgi_arena *arena, const zlg_array *like,
                                 zlg_array_spec *spec, zlg_error *err)
{
    const zlgi_json *shard = shard_of(like);
    if (!shard || (!spec->codecs && !spec->chunk_shape && !spec->index_location))
        return take_text(arena, like->meta.codecs, &spec->codecs, err);
    if (!spec->chunk_shape)
        spec->chunk_shape = like->source.level->sharding->chunk_shape;
    const zlgi_json *location = zlgi_json_get(shard, "index_location");
    if (!spec->index_location && location)
        spec->index_location = location->text;
    return take_text(arena, zlgi_json_get(shard, "codecs"), &spec->codecs, err);
}

static zlg_status take_v3(zlgi_arena *arena, const zlg_array *like, zlg_array_spec *spec,
                          zlg_error *err)
{
    const zlgi_json *document = like->meta.document;
    const zlgi_json *names = zlgi_json_get(document, "dimension_names");
    ZLGI_TRY(take_text(arena, zlgi_json_get(document, "data_type"), &spec->data_type, err));
    ZLGI_TRY(take_text(arena, zlgi_json_get(document, "chunk_key_encoding"),
                       &spec->chunk_key_encoding, err));
    if (!spec->dimension_names && names && names->type == ZLGI_JSON_ARRAY)
        spec->dimension_names = (const char *const *)like->meta.dimension_names;
    return take_codecs_v3(arena, like, spec, err);
}

static zlg_status take_v2(zlgi_arena *arena, const zlg_array *like, zlg_array_spec *spec,
                          zlg_error *err)
{
    const zlgi_array_meta *meta = &like->meta;
    zlgi_json null = {.type = ZLGI_JSON_NULL}, members[2];
    members[0] = meta->filters ? *meta->filters : null;
    members[0].name = "filters";
    members[0].n_name = 7;
    members[0].next = &members[1];
    members[1] = meta->compressor ? *meta->compressor : null;
    members[1].name = "compressor";
    members[1].n_name = 10;
    members[1].next = NULL;
    const zlgi_json codecs = {.type = ZLGI_JSON_OBJECT, .n_items = 2, .items = members};
    ZLGI_TRY(take_text(arena, &codecs, &spec->codecs, err));
    if (!spec->order)
        spec->order = meta->order_f ? "F" : "C";
    if (!spec->separator)
        spec->separator = meta->key_encoding.separator == '/' ? "/" : ".";
    return take_text(arena, zlgi_json_get(meta->document, "dtype"), &spec->data_type, err);
}

zlg_status zlgi_spec_complete(zlgi_arena *arena, zlg_array_spec *spec, zlg_error *err)
{
    const zlg_array *like = spec->like;
    if (!like) {
        spec->zarr_format = spec->zarr_format ? spec->zarr_format : 3;
        return ZLG_OK;
    }
    int zarr_format = like->meta.zarr_format;
    if (spec->zarr_format && spec->zarr_format != zarr_format)
        return zlgi_fail(err, ZLG_USAGE, "zarr_format is %d, that of `like` is %d",
                         spec->zarr_format, zarr_format);
    spec->zarr_format = zarr_format;
    ZLGI_TRY(take_shape(like, spec, err));
    ZLGI_TRY(take_grid(arena, like, spec, err));
    ZLGI_TRY(take_text(arena, zlgi_json_get(like->meta.document, "fill_value"),
                       &spec->fill_value, err));
    return zarr_format == 3 ? take_v3(arena, like, spec, err)
                            : take_v2(arena, like, spec, err);
}
