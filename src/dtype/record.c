/*
 * Records: fields one after the other without padding, names that differ, sizes within
 * bounds. The same rules hold in version 2 (structured dtypes, whose padding is written
 * as fields without a name) and in version 3 (`struct`, whose names are never empty).
 * Refuses to know how a field is spelled.
 */

#include "dtype/internal.h"

zlg_status zlgi_record_open(zlgi_record_parser *parser, const zlgi_json *list,
                            zlgi_field **out, zlg_error *err)
{
    if (list->n_items == 0)
        return zlgi_fail(err, ZLG_METADATA, "a record has no fields");
    if (parser->depth_left == 0)
        return zlgi_fail(err, ZLG_LIMIT, "records are nested too deeply");
    if (list->n_items > parser->fields_left)
        return zlgi_fail(err, ZLG_LIMIT, "records have more than %d fields",
                         ZLGI_RECORD_FIELDS);
    size_t n_bytes = list->n_items * sizeof(zlgi_field);
    zlgi_field *fields = zlgi_arena_get(parser->arena, n_bytes);
    if (fields == NULL)
        return zlgi_no_memory(err, n_bytes);
    memset(fields, 0, n_bytes);
    parser->depth_left--;
    parser->fields_left -= list->n_items;
    *out = fields;
    return ZLG_OK;
}

zlg_status zlgi_record_name(zlgi_record_parser *parser, const zlgi_json *json,
                            bool empty_ok, zlgi_field *field, zlg_error *err)
{
    if (json == NULL || json->type != ZLGI_JSON_STRING)
        return zlgi_json_refuse(json, "the name of a field as a string", err);
    if (json->n_text == 0 && !empty_ok)
        return zlgi_fail(err, ZLG_METADATA, "a field has an empty name");
    /* Names are handed out as C strings in UTF-8. */
    if (memchr(json->text, '\0', json->n_text) != NULL ||
        !zlgi_utf8_valid((const uint8_t *)json->text, json->n_text))
        return zlgi_fail(err, ZLG_METADATA,
                         "the name of a field holds a NUL or half a surrogate pair");
    field->name = zlgi_arena_text(parser->arena, json->text, json->n_text);
    if (field->name == NULL)
        return zlgi_no_memory(err, json->n_text);
    field->n_name = json->n_text;
    return ZLG_OK;
}

static inline bool name_is_less(const char *const *a, const char *const *b,
                                const void *context)
{
    (void)context;
    return strcmp(*a, *b) < 0;
}
ZLGI_SORT(sort_names, const char *, name_is_less)

static zlg_status check_names(zlgi_arena *arena, const zlgi_field *fields, int n,
                              zlg_error *err)
{
    size_t n_bytes = (size_t)n * sizeof(const char *);
    const char **names = zlgi_arena_get(arena, n_bytes);
    if (names == NULL)
        return zlgi_no_memory(err, n_bytes);
    for (int i = 0; i < n; i++)
        names[i] = fields[i].name;
    sort_names(names, (size_t)n, NULL);
    for (int i = 1; i < n; i++)
        if (names[i][0] != '\0' && strcmp(names[i - 1], names[i]) == 0)
            return zlgi_fail(err, ZLG_METADATA, "two fields are named \"%s\"", names[i]);
    return ZLG_OK;
}

/* Bytes of all items of a field. */
static zlg_status field_bytes(const zlgi_field *field, size_t *out, zlg_error *err)
{
    size_t n_bytes = field->dtype->n_bytes;
    if (zlgi_dtype_is_varlen(field->dtype))
        return zlgi_fail(err, ZLG_METADATA, "field \"%s\" has no fixed size", field->name);
    /* Otherwise walking the items would take time that no byte pays for. */
    if (n_bytes == 0 && field->n_items > 1)
        return zlgi_fail(err, ZLG_UNSUPPORTED, "field \"%s\" is an array of empty items",
                         field->name);
    if (!zlgi_mul_size(n_bytes, (size_t)field->n_items, out))
        return zlgi_fail(err, ZLG_LIMIT, "the size of field \"%s\" overflows", field->name);
    return ZLG_OK;
}

zlg_status zlgi_record_close(zlgi_record_parser *parser, const char *v3_name,
                             zlgi_field *fields, int n, const zlgi_dtype **out,
                             zlg_error *err)
{
    parser->depth_left++;
    size_t offset = 0;
    for (int i = 0; i < n; i++) {
        size_t n_bytes = 0;
        ZLGI_TRY(field_bytes(&fields[i], &n_bytes, err));
        fields[i].offset = offset;
        if (!zlgi_add_size(offset, n_bytes, &offset))
            return zlgi_fail(err, ZLG_LIMIT, "the size of a record overflows");
    }
    ZLGI_TRY(check_names(parser->arena, fields, n, err));
    zlgi_dtype model = {.type = ZLG_STRUCT,
                        .part = ZLG_STRUCT,
                        .n_bytes = offset,
                        .scale = 1,
                        .n_fields = n,
                        .fields = fields,
                        .v3_name = v3_name};
    return zlgi_dtype_make(parser->arena, &model, out, err);
}
