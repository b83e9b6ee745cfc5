/*
 * Members of a codec configuration. A null member counts as absent: numcodecs writes
 * them. Every error names the member and what it holds.
 */
#include "codec/codec.h"

static const zlgi_json *member(const zlgi_json *object, const char *name)
{
    const zlgi_json *value = object ? zlgi_json_get(object, name) : NULL;
    return value && value->type == ZLGI_JSON_NULL ? NULL : value;
}

static zlg_status wrong_type(const char *name, const char *wanted, zlg_error *err)
{
    return zlgi_fail(err, ZLG_METADATA, "\"%s\" is not %s", name, wanted);
}

zlg_status zlgi_config_int(const zlgi_json *object, const char *name, int64_t low,
                           int64_t high, int64_t missing, int64_t *out, zlg_error *err)
{
    const zlgi_json *value = member(object, name);
    *out = missing;
    if (!value)
        return ZLG_OK;
    if (!zlgi_json_i64(value, out))
        return wrong_type(name, "an integer", err);
    if (*out < low || *out > high)
        return zlgi_fail(err, ZLG_METADATA, "\"%s\" is %lld, not from %lld to %lld", name,
                         (long long)*out, (long long)low, (long long)high);
    return ZLG_OK;
}

zlg_status zlgi_config_bool(const zlgi_json *object, const char *name, bool missing,
                            bool *out, zlg_error *err)
{
    const zlgi_json *value = member(object, name);
    *out = missing;
    if (!value)
        return ZLG_OK;
    if (value->type != ZLGI_JSON_TRUE && value->type != ZLGI_JSON_FALSE)
        return wrong_type(name, "true or false", err);
    *out = value->type == ZLGI_JSON_TRUE;
    return ZLG_OK;
}

zlg_status zlgi_config_double(const zlgi_json *object, const char *name, double missing,
                              double *out, zlg_error *err)
{
    const zlgi_json *value = member(object, name);
    *out = missing;
    if (value && !zlgi_json_double(value, out))
        return wrong_type(name, "a number", err);
    return ZLG_OK;
}

zlg_status zlgi_config_choice(const zlgi_json *object, const char *name,
                              const char *const *choices, int missing, int *out,
                              zlg_error *err)
{
    const zlgi_json *value = member(object, name);
    *out = missing;
    if (!value)
        return ZLG_OK;
    if (value->type != ZLGI_JSON_STRING)
        return wrong_type(name, "a string", err);
    for (int i = 0; choices[i]; i++) {
        if (zlgi_json_is(value, choices[i])) {
            *out = i;
            return ZLG_OK;
        }
    }
    return zlgi_fail(err, ZLG_METADATA, "\"%s\" is \"%s\", which is none of its values",
                     name, value->text);
}
