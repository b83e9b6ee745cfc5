/*
 * The data type of version 3: a name, or an object with a name and a configuration.
 *
 * Core specification 3.1, "Data types", and the registry of extensions; beside them the
 * names that older writers used for the same bytes ("binary", "variable_length_bytes",
 * "structured", "complex_float32"). An unknown name is ZLG_UNSUPPORTED, a broken
 * configuration ZLG_METADATA; no member is skipped unread.
 */
#include "dtype/internal.h"

typedef struct definition {
    const char *name;
    size_t n_name;
    const zlgi_json *configuration; /* an object, or NULL when it is absent or empty */
} definition;

static zlg_status read_definition(const zlgi_json *json, definition *out, zlg_error *err)
{
    *out = (definition){.name = NULL};
    const zlgi_json *name = json;
    if (json->type == ZLGI_JSON_OBJECT) {
        name = zlgi_json_get(json, "name");
        const zlgi_json *configuration = zlgi_json_get(json, "configuration");
        const zlgi_json *must = zlgi_json_get(json, "must_understand");
        if (configuration != NULL && configuration->type != ZLGI_JSON_OBJECT)
            return zlgi_json_refuse(configuration, "an object as configuration", err);
        if (must != NULL && must->type != ZLGI_JSON_TRUE)
            return zlgi_fail(err, ZLG_METADATA,
                             "must_understand of a data type may only be true");
        if (json->n_items != 1u + (configuration != NULL) + (must != NULL))
            return zlgi_fail(err, ZLG_METADATA,
                             "a data type has members other than name and configuration");
        if (configuration != NULL && configuration->n_items > 0)
            out->configuration = configuration;
    }
    if (name == NULL || name->type != ZLGI_JSON_STRING)
        return zlgi_json_refuse(name, "the name of a data type", err);
    out->name = name->text;
    out->n_name = name->n_text;
    return ZLG_OK;
}

static bool is_named(const definition *d, const char *name)
{
    return d->n_name == strlen(name) && memcmp(d->name, name, d->n_name) == 0;
}

static zlg_status no_configuration(const definition *d, zlg_error *err)
{
    if (d->configuration == NULL)
        return ZLG_OK;
    return zlgi_fail(err, ZLG_METADATA, "found a configuration, expected none");
}

/* The configuration must have exactly this member, or these two. */
static zlg_status get_members(const definition *d, const char *first, const char *second,
                              const zlgi_json *out[2], zlg_error *err)
{
    const char *names[2] = {first, second};
    uint32_t n = second == NULL ? 1 : 2;
    for (uint32_t i = 0; i < n; i++) {
        out[i] = d->configuration ? zlgi_json_get(d->configuration, names[i]) : NULL;
        if (out[i] == NULL)
            return zlgi_fail(err, ZLG_METADATA, "the configuration lacks \"%s\"", names[i]);
    }
    if (d->configuration->n_items != n)
        return zlgi_fail(err, ZLG_METADATA, "the configuration has unknown members");
    return ZLG_OK;
}

static zlg_status parse_time(zlgi_arena *arena, const definition *d, zlg_type type,
                             const zlgi_dtype **out, zlg_error *err)
{
    const zlgi_json *member[2];
    ZLGI_TRY(get_members(d, "unit", "scale_factor", member, err));
    zlgi_dtype model = {
        .type = type, .part = type, .n_bytes = 8, .v3_name = zlgi_type_name(type)};
    if (member[0]->type == ZLGI_JSON_STRING)
        model.unit = zlgi_unit_by_name(member[0]->text, member[0]->n_text);
    if (model.unit == NULL)
        return zlgi_json_refuse(member[0], "a unit of time, \"Y\" to \"as\"", err);
    if (!zlgi_json_i64(member[1], &model.scale) || model.scale < 1 ||
        model.scale > INT32_MAX)
        return zlgi_json_refuse(member[1], "a scale_factor from 1 to 2147483647", err);
    return zlgi_dtype_make(arena, &model, out, err);
}

static zlg_status parse_fixed(zlgi_arena *arena, const definition *d, zlg_type type,
                              const zlgi_dtype **out, zlg_error *err)
{
    const zlgi_json *member[2];
    ZLGI_TRY(get_members(d, "length_bytes", NULL, member, err));
    uint64_t unit = type == ZLG_FIXED_UTF32 ? 4 : 1;
    uint64_t n_bytes;
    if (!zlgi_json_u64(member[0], &n_bytes) || n_bytes == 0 || n_bytes % unit != 0 ||
        n_bytes > SIZE_MAX)
        return zlgi_json_refuse(member[0],
                                unit == 4
                                    ? "a length_bytes that is a positive multiple of 4"
                                    : "a positive length_bytes",
                                err);
    zlgi_dtype model = {.type = type,
                        .part = type,
                        .n_bytes = (size_t)n_bytes,
                        .scale = 1,
                        .v3_name = zlgi_type_name(type)};
    return zlgi_dtype_make(arena, &model, out, err);
}

/* "r" and a number of bits. */
static bool is_raw_name(const definition *d)
{
    if (d->n_name < 2 || d->name[0] != 'r')
        return false;
    for (size_t i = 1; i < d->n_name; i++)
        if (d->name[i] < '0' || d->name[i] > '9')
            return false;
    return true;
}

static zlg_status parse_raw(zlgi_arena *arena, const definition *d, const zlgi_dtype **out,
                            zlg_error *err)
{
    ZLGI_TRY(no_configuration(d, err));
    size_t n_bits = 0;
    for (size_t i = 1; i < d->n_name; i++)
        if (!zlgi_mul_size(n_bits, 10, &n_bits) ||
            !zlgi_add_size(n_bits, (size_t)(d->name[i] - '0'), &n_bits))
            return zlgi_fail(err, ZLG_LIMIT, "the number of bits overflows");
    if (n_bits == 0 || n_bits % 8 != 0 || d->name[1] == '0')
        return zlgi_fail(err, ZLG_METADATA,
                         "found %zu bits, expected a positive multiple of 8", n_bits);
    const char *name = zlgi_arena_text(arena, d->name, d->n_name);
    if (name == NULL)
        return zlgi_no_memory(err, d->n_name);
    zlgi_dtype model = {.type = ZLG_RAW,
                        .part = ZLG_RAW,
                        .n_bytes = n_bits / 8,
                        .scale = 1,
                        .v3_name = name};
    return zlgi_dtype_make(arena, &model, out, err);
}

static zlg_status parse(zlgi_record_parser *parser, const zlgi_json *json,
                        const zlgi_dtype **out, zlg_error *err);

/* {"name": .., "data_type": ..}; the old form is [name, data_type]. */
static zlg_status parse_field(zlgi_record_parser *parser, const zlgi_json *json,
                              zlgi_field *field, zlg_error *err)
{
    const zlgi_json *name = NULL, *data_type = NULL;
    if (json->type == ZLGI_JSON_OBJECT) {
        name = zlgi_json_get(json, "name");
        data_type = zlgi_json_get(json, "data_type");
    } else if (json->type == ZLGI_JSON_ARRAY && json->n_items == 2) {
        name = json->items;
        data_type = name->next;
    }
    if (name == NULL || data_type == NULL || json->n_items != 2)
        return zlgi_json_refuse(json, "a field with name and data_type", err);
    ZLGI_TRY(zlgi_record_name(parser, name, false, field, err));
    field->n_items = 1;
    zlg_status status = parse(parser, data_type, &field->dtype, err);
    return zlgi_within(err, status, "field %s", field->name);
}

static zlg_status parse_record(zlgi_record_parser *parser, const definition *d,
                               const char *name, const zlgi_dtype **out, zlg_error *err)
{
    const zlgi_json *member[2];
    ZLGI_TRY(get_members(d, "fields", NULL, member, err));
    if (member[0]->type != ZLGI_JSON_ARRAY)
        return zlgi_json_refuse(member[0], "a list of fields", err);
    zlgi_field *fields;
    ZLGI_TRY(zlgi_record_open(parser, member[0], &fields, err));
    int n = 0;
    for (const zlgi_json *item = member[0]->items; item != NULL; item = item->next)
        ZLGI_TRY(parse_field(parser, item, &fields[n++], err));
    return zlgi_record_close(parser, name, fields, n, out, err);
}

static zlg_status parse_defined(zlgi_record_parser *parser, const definition *d,
                                const zlgi_dtype **out, zlg_error *err)
{
    zlg_type type;
    if (is_named(d, "binary") || is_named(d, "variable_length_bytes")) {
        *out = zlgi_dtype_plain(ZLG_BYTES);
        return no_configuration(d, err);
    }
    if (zlgi_type_by_name(d->name, d->n_name, &type)) {
        *out = zlgi_dtype_plain(type);
        return no_configuration(d, err);
    }
    if (zlgi_complex_by_name(d->name, d->n_name, &type)) {
        ZLGI_TRY(no_configuration(d, err));
        return zlgi_dtype_make_parts(parser->arena, ZLG_COMPLEX, type, false, out, err);
    }
    if (is_raw_name(d))
        return parse_raw(parser->arena, d, out, err);
    for (type = ZLG_DATETIME64; type <= ZLG_TIMEDELTA64; type++)
        if (is_named(d, zlgi_type_name(type)))
            return parse_time(parser->arena, d, type, out, err);
    for (type = ZLG_RAW; type <= ZLG_FIXED_UTF32; type++)
        if (is_named(d, zlgi_type_name(type)))
            return parse_fixed(parser->arena, d, type, out, err);
    if (is_named(d, "struct"))
        return parse_record(parser, d, "struct", out, err);
    if (is_named(d, "structured"))
        return parse_record(parser, d, "structured", out, err);
    return zlgi_fail(err, ZLG_UNSUPPORTED, "this data type is not known");
}

static zlg_status parse(zlgi_record_parser *parser, const zlgi_json *json,
                        const zlgi_dtype **out, zlg_error *err)
{
    definition d;
    ZLGI_TRY(read_definition(json, &d, err));
    zlg_status status = parse_defined(parser, &d, out, err);
    return zlgi_within(err, status, "data type %.60s", d.name);
}

zlg_status zlgi_dtype_parse_v3(zlgi_arena *arena, const zlgi_json *json,
                               const zlgi_dtype **out, zlg_error *err)
{
    zlgi_record_parser parser = {
        .arena = arena, .depth_left = ZLGI_RECORD_DEPTH, .fields_left = ZLGI_RECORD_FIELDS};
    return parse(&parser, json, out, err);
}
