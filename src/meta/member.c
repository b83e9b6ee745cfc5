/*
 * member.c: what all documents are read with. Lengths, extension definitions, and the
 * words for what was found instead. Knows no member by name.
 *
 * Implements "extension definition" of the version 3 core specification.
 */
#include <stdio.h>

#include "meta/member.h"

/* At most 40 bytes of a text, cut between characters. */
static int brief_length(const zlgi_json *value)
{
    enum { MOST = 40 };
    if (value->n_text <= MOST)
        return (int)value->n_text;
    int n = MOST;
    while (n > 0 && ((uint8_t)value->text[n] & 0xc0) == 0x80)
        n--;
    return n;
}

zlgi_brief zlgi_meta_brief(const zlgi_json *value)
{
    zlgi_brief brief;
    const char *text = "missing";
    if (value)
        switch (value->type) {
        case ZLGI_JSON_NULL:
            text = "null";
            break;
        case ZLGI_JSON_FALSE:
            text = "false";
            break;
        case ZLGI_JSON_TRUE:
            text = "true";
            break;
        case ZLGI_JSON_ARRAY:
            text = value->n_items ? "a list" : "an empty list";
            break;
        case ZLGI_JSON_OBJECT:
            text = "an object";
            break;
        case ZLGI_JSON_NUMBER:
        case ZLGI_JSON_STRING: {
            int n = brief_length(value);
            const char *quote = value->type == ZLGI_JSON_STRING ? "\"" : "";
            const char *more = (uint32_t)n < value->n_text ? "..." : "";
            snprintf(brief.text, sizeof brief.text, "%s%.*s%s%s", quote, n, value->text,
                     more, quote);
            return brief;
        }
        }
    snprintf(brief.text, sizeof brief.text, "%s", text);
    return brief;
}

zlg_status zlgi_meta_expected(zlg_error *err, const char *name, const zlgi_json *value,
                              const char *expected)
{
    return zlgi_fail(err, ZLG_METADATA, "%s is %s, expected %s", name,
                     zlgi_meta_brief(value).text, expected);
}

zlg_status zlgi_meta_lengths(const zlgi_json *value, const char *name, int64_t least,
                             int *out_rank, int64_t out[ZLG_MAX_RANK], zlg_error *err)
{
    if (value == NULL || value->type != ZLGI_JSON_ARRAY)
        return zlgi_meta_expected(err, name, value, "a list of lengths");
    if (value->n_items > ZLG_MAX_RANK)
        return zlgi_fail(err, ZLG_LIMIT, "%s has %u axes, at most %d are supported", name,
                         value->n_items, ZLG_MAX_RANK);
    int rank = 0;
    for (const zlgi_json *item = value->items; item; item = item->next, rank++)
        if (!zlgi_json_i64(item, &out[rank]) || out[rank] < least)
            return zlgi_fail(err, ZLG_METADATA,
                             "%s[%d] is %s, expected an integer from %lld to 2^63 - 1",
                             name, rank, zlgi_meta_brief(item).text, (long long)least);
    *out_rank = rank;
    return ZLG_OK;
}

bool zlgi_meta_is_one_of(const zlgi_json *member, const char *const *names)
{
    for (; *names; names++)
        if (member->n_name == strlen(*names) && strcmp(member->name, *names) == 0)
            return true;
    return false;
}

zlg_status zlgi_meta_only(const zlgi_json *object, const char *what,
                          const char *const *names, zlg_error *err)
{
    const zlgi_json *member = object ? object->items : NULL;
    for (; member; member = member->next)
        if (!zlgi_meta_is_one_of(member, names))
            return zlgi_fail(err, ZLG_METADATA, "%s has the unknown member \"%s\"", what,
                             member->name);
    return ZLG_OK;
}

zlg_status zlgi_meta_extension(const zlgi_json *value, const char *what,
                               zlgi_extension *out, zlg_error *err)
{
    static const char *const MEMBERS[] = {"name", "configuration", "must_understand", NULL};
    *out = (zlgi_extension){.must_understand = true};
    if (value && value->type == ZLGI_JSON_STRING) {
        out->name = value;
        return ZLG_OK;
    }
    if (value == NULL || value->type != ZLGI_JSON_OBJECT)
        return zlgi_meta_expected(err, what, value, "a name or an object with a name");
    ZLGI_TRY(zlgi_meta_only(value, what, MEMBERS, err));
    const zlgi_json *name = zlgi_json_get(value, "name");
    const zlgi_json *configuration = zlgi_json_get(value, "configuration");
    const zlgi_json *flag = zlgi_json_get(value, "must_understand");
    if (name == NULL || name->type != ZLGI_JSON_STRING)
        return zlgi_within(err, zlgi_meta_expected(err, "name", name, "a string"), "%s",
                           what);
    if (configuration && configuration->type != ZLGI_JSON_OBJECT)
        return zlgi_within(
            err, zlgi_meta_expected(err, "configuration", configuration, "an object"),
            "%s %s", what, zlgi_meta_brief(name).text);
    if (flag && flag->type != ZLGI_JSON_TRUE && flag->type != ZLGI_JSON_FALSE)
        return zlgi_within(
            err, zlgi_meta_expected(err, "must_understand", flag, "true or false"), "%s %s",
            what, zlgi_meta_brief(name).text);
    out->name = name;
    out->configuration = configuration;
    out->must_understand = flag == NULL || flag->type == ZLGI_JSON_TRUE;
    return ZLG_OK;
}

zlg_status zlgi_meta_essential(const zlgi_json *value, const char *what,
                               zlgi_extension *out, zlg_error *err)
{
    ZLGI_TRY(zlgi_meta_extension(value, what, out, err));
    if (!out->must_understand)
        return zlgi_fail(err, ZLG_METADATA,
                         "%s %s has must_understand false: it may not be "
                         "skipped",
                         what, zlgi_meta_brief(out->name).text);
    return ZLG_OK;
}
