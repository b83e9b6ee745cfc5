/*
 * key_json.c: how a document says that chunk keys are made. Only `/` and `.` separate;
 * the default differs between the two encodings.
 *
 * Implements the chunk key encodings `default` and `v2`, and `dimension_separator`.
 */
#include "meta/member.h"

zlg_status zlgi_meta_separator(const zlgi_json *value, const char *name, char *out,
                               zlg_error *err)
{
    if (value == NULL)
        return ZLG_OK;
    if (!zlgi_json_is(value, "/") && !zlgi_json_is(value, "."))
        return zlgi_meta_expected(err, name, value, "\"/\" or \".\"");
    *out = value->text[0];
    return ZLG_OK;
}

zlg_status zlgi_meta_key_encoding(const zlgi_json *value, zlgi_key_encoding *out,
                                  zlg_error *err)
{
    static const char *const MEMBERS[] = {"separator", NULL};
    zlgi_extension encoding;
    ZLGI_TRY(zlgi_meta_essential(value, "chunk_key_encoding", &encoding, err));
    if (zlgi_json_is(encoding.name, "default"))
        *out = (zlgi_key_encoding){.style = ZLGI_KEY_DEFAULT, .separator = '/'};
    else if (zlgi_json_is(encoding.name, "v2"))
        *out = (zlgi_key_encoding){.style = ZLGI_KEY_V2, .separator = '.'};
    else
        return zlgi_fail(err, ZLG_UNSUPPORTED, "chunk key encoding %s is not known",
                         zlgi_meta_brief(encoding.name).text);
    if (encoding.configuration == NULL)
        return ZLG_OK;
    zlg_status status =
        zlgi_meta_only(encoding.configuration, "configuration", MEMBERS, err);
    if (status == ZLG_OK)
        status = zlgi_meta_separator(zlgi_json_get(encoding.configuration, "separator"),
                                     "separator", &out->separator, err);
    return zlgi_within(err, status, "chunk_key_encoding");
}
