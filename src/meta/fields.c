/*
 * fields.c: members that arrays and groups share, and those that nobody here knows. A
 * field may be ignored only when it says so itself (`must_understand` false); a codec
 * list is checked for its form only.
 *
 * Implements "extension points", `storage_transformers` and `attributes` of the version 3
 * core specification.
 */
#include <stdio.h>

#include "meta/member.h"

/* Fields of the drafts of version 3, for a message that helps. */
static bool is_draft_field(const char *name)
{
    return strcmp(name, "chunk_memory_layout") == 0 || strcmp(name, "compressor") == 0;
}

zlg_status zlgi_meta_check_fields(const zlgi_json *document, const char *const *names,
                                  zlg_error *err)
{
    for (const zlgi_json *field = document->items; field; field = field->next) {
        if (zlgi_meta_is_one_of(field, names))
            continue;
        if (field->type == ZLGI_JSON_OBJECT) {
            const zlgi_json *flag = zlgi_json_get(field, "must_understand");
            if (flag && flag->type == ZLGI_JSON_FALSE)
                continue;
        }
        if (is_draft_field(field->name))
            return zlgi_fail(
                err, ZLG_UNSUPPORTED,
                "field \"%s\" belongs to early drafts of Zarr version 3, which "
                "are not supported",
                field->name);
        return zlgi_fail(
            err, ZLG_UNSUPPORTED,
            "field \"%s\" is not known and does not have must_understand false",
            field->name);
    }
    return ZLG_OK;
}

zlg_status zlgi_meta_check_transformers(const zlgi_json *value, zlg_error *err)
{
    if (value == NULL)
        return ZLG_OK;
    if (value->type != ZLGI_JSON_ARRAY)
        return zlgi_meta_expected(err, "storage_transformers", value, "a list");
    for (const zlgi_json *item = value->items; item; item = item->next) {
        zlgi_extension transformer;
        ZLGI_TRY(zlgi_meta_extension(item, "storage transformer", &transformer, err));
        if (transformer.must_understand)
            return zlgi_fail(err, ZLG_UNSUPPORTED, "storage transformer %s is not known",
                             zlgi_meta_brief(transformer.name).text);
    }
    return ZLG_OK;
}

zlg_status zlgi_meta_check_codecs(const zlgi_json *value, zlg_error *err)
{
    if (value == NULL || value->type != ZLGI_JSON_ARRAY || value->n_items == 0)
        return zlgi_meta_expected(err, "codecs", value, "a list of at least one codec");
    uint32_t i = 0;
    for (const zlgi_json *item = value->items; item; item = item->next) {
        zlgi_extension codec;
        char what[32];
        snprintf(what, sizeof what, "codecs[%u]", i++);
        ZLGI_TRY(zlgi_meta_extension(item, what, &codec, err));
    }
    return ZLG_OK;
}

zlg_status zlgi_meta_attributes(const zlgi_json *value, const zlgi_json **out,
                                zlg_error *err)
{
    *out = NULL;
    if (value == NULL || value->type == ZLGI_JSON_NULL)
        return ZLG_OK;
    if (value->type != ZLGI_JSON_OBJECT)
        return zlgi_meta_expected(err, "attributes", value, "an object");
    *out = value;
    return ZLG_OK;
}
