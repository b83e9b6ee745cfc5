/*
 * ext_document.c: documents that name data types or chunk keys of the caller's. Parsers and
 * writers of documents know none: they are given a document that names what stands for
 * them, and what is stored has the caller's names again. Only of version 3.
 */
#include "core/core.h"

static const char DATA_TYPE[] = "data_type", FILL[] = "fill_value",
                  KEYS[] = "chunk_key_encoding";

/* Name and configuration of a definition; a name of NULL when it is none. */
static const char *read_definition(const zlgi_json *value, const zlgi_json **configuration)
{
    const zlgi_json *name = value;
    *configuration = NULL;
    if (value != NULL && value->type == ZLGI_JSON_OBJECT) {
        name = zlgi_json_get(value, "name");
        *configuration = zlgi_json_get(value, "configuration");
    }
    return name != NULL && name->type == ZLGI_JSON_STRING ? name->text : NULL;
}

static const struct zlgi_ext_type *find_type(const zlg_array *array, const zlgi_json *value,
                                             const zlgi_json **configuration)
{
    const char *name = read_definition(value, configuration);
    return name ? zlgi_ext_type_find(&array->store->ctx->registry, name) : NULL;
}

static const struct zlgi_ext_keys *find_keys(const zlg_array *array, const zlgi_json *value,
                                             const zlgi_json **configuration)
{
    const char *name = read_definition(value, configuration);
    return name ? zlgi_ext_keys_find(&array->store->ctx->registry, name) : NULL;
}

static bool has_none(const zlg_array *array)
{
    return !__atomic_load_n(&array->store->ctx->registry.first, __ATOMIC_ACQUIRE);
}

/* ------------------------------------------------------------------ opening */

static zlg_status resolve_type(zlg_array *array, const zlgi_json **document, zlg_error *err)
{
    zlgi_arena *arena = &array->parsed->arena;
    const zlgi_json *configuration, *type, *fill;
    const struct zlgi_ext_type *own =
        find_type(array, zlgi_json_get(*document, DATA_TYPE), &configuration);
    if (!own)
        return ZLG_OK;
    ZLGI_TRY(zlgi_ext_type_resolve(own, arena, array->store->limits, configuration,
                                   zlgi_json_get(*document, FILL), &type, &fill, err));
    ZLGI_TRY(zlgi_meta_with(arena, *document, DATA_TYPE, type, document, err));
    return fill ? zlgi_meta_with(arena, *document, FILL, fill, document, err) : ZLG_OK;
}

zlg_status zlgi_ext_resolve(zlg_array *array, const zlgi_json *document,
                            const zlgi_json **out, zlgi_key_encoding *keys, zlg_error *err)
{
    static const zlgi_json placeholder = {
        .type = ZLGI_JSON_STRING, .text = "default", .n_text = 7};
    zlgi_arena *arena = &array->parsed->arena;
    const zlgi_json *configuration, *shape = zlgi_json_get(document, "shape");
    *out = document;
    if (has_none(array) || document->type != ZLGI_JSON_OBJECT)
        return ZLG_OK;
    ZLGI_TRY(resolve_type(array, out, err));
    const struct zlgi_ext_keys *own =
        find_keys(array, zlgi_json_get(document, KEYS), &configuration);
    if (!own || !shape || shape->n_items > ZLG_MAX_RANK)
        return ZLG_OK;
    ZLGI_TRY(zlgi_ext_keys_make(own, arena, configuration, (int)shape->n_items, keys, err));
    return zlgi_meta_with(arena, *out, KEYS, &placeholder, out, err);
}

/* ------------------------------------------------------------------ creating */

/* JSON as text of the spec. */
static zlg_status put_text(zlgi_arena *arena, const zlgi_json *value, const char **out,
                           zlg_error *err)
{
    zlgi_buf text;
    zlgi_buf_init(&text, arena->alloc);
    zlg_status status = zlgi_ext_text(value, &text, err);
    if (status == ZLG_OK) {
        *out = zlgi_arena_text(arena, (const char *)text.data, text.n);
        status = *out ? ZLG_OK : zlgi_no_memory(err, text.n);
    }
    zlgi_buf_reset(&text);
    return status;
}

/* What is no JSON is refused by those who write the document, in their words. */
static const zlgi_json *parse_text(zlg_array *array, const char *text)
{
    const zlgi_json *value;
    if (!text || zlgi_json_parse(&array->parsed->arena, text, strlen(text),
                                 (int)array->store->limits->json_depth, &value, NULL))
        return NULL;
    return value;
}

static const zlgi_json *parse_definition(zlg_array *array, const char *text)
{
    const zlgi_json *value;
    if (!text || zlgi_ext_definition(&array->parsed->arena, text, array->store->limits,
                                     &value, NULL))
        return NULL;
    return value;
}

static zlg_status spec_type(zlg_array *array, zlg_array_spec *spec, zlgi_ext_names *out,
                            zlg_error *err)
{
    zlgi_arena *arena = &array->parsed->arena;
    const zlgi_json *configuration, *type, *fill,
        *value = parse_definition(array, spec->data_type);
    const struct zlgi_ext_type *own = find_type(array, value, &configuration);
    if (!own)
        return ZLG_OK;
    out->data_type = value;
    out->fill_value =
        parse_text(array, spec->fill_value ? spec->fill_value : zlgi_ext_type_default(own));
    if (!out->fill_value && (spec->fill_value || zlgi_ext_type_default(own)))
        return zlgi_fail(err, ZLG_USAGE, "the fill value is no JSON");
    ZLGI_TRY(zlgi_ext_type_resolve(own, arena, array->store->limits, configuration,
                                   out->fill_value, &type, &fill, err));
    ZLGI_TRY(put_text(arena, type, &spec->data_type, err));
    return fill ? put_text(arena, fill, &spec->fill_value, err) : ZLG_OK;
}

zlg_status zlgi_ext_spec(zlg_array *array, zlg_array_spec *spec, zlgi_ext_names *out,
                         zlg_error *err)
{
    const zlgi_json *configuration;
    *out = (zlgi_ext_names){.data_type = NULL};
    if (has_none(array) || spec->zarr_format != 3)
        return ZLG_OK;
    ZLGI_TRY(spec_type(array, spec, out, err));
    const zlgi_json *keys = parse_definition(array, spec->chunk_key_encoding);
    if (find_keys(array, keys, &configuration)) {
        out->keys = keys;
        spec->chunk_key_encoding = NULL;
    }
    return ZLG_OK;
}

zlg_status zlgi_ext_restore(zlg_array *array, const zlgi_ext_names *names, zlgi_buf *text,
                            const zlgi_json **document, zlg_error *err)
{
    zlgi_arena *arena = &array->parsed->arena;
    if (!names->data_type && !names->keys)
        return ZLG_OK;
    if (names->data_type)
        ZLGI_TRY(
            zlgi_meta_with(arena, *document, DATA_TYPE, names->data_type, document, err));
    if (names->fill_value)
        ZLGI_TRY(zlgi_meta_with(arena, *document, FILL, names->fill_value, document, err));
    if (names->keys)
        ZLGI_TRY(zlgi_meta_with(arena, *document, KEYS, names->keys, document, err));
    text->n = 0;
    return zlgi_json_write(*document, 2, text, err);
}
