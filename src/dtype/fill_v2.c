/*
 * Fill values of version 2, as lenient as the files in the world need it.
 *
 * The specification of version 2, "Fill value encoding", has numbers, the three tokens
 * as strings, and base64 of the element as it is stored for byte strings and records. On
 * top of that writers have left null (contents undefined: zero here), bare tokens, 3.0 for
 * integers, numbers in quotes, numbers in a list of one, 0 for texts, 0 and 1 for bool,
 * complex numbers in base64. What has none of these forms is ZLG_METADATA.
 */
#include <inttypes.h>
#include <stdio.h>

#include "dtype/internal.h"

static bool is_zero(const zlgi_json *json)
{
    double value;
    return json->type == ZLGI_JSON_NULL || (zlgi_json_double(json, &value) && value == 0);
}

/* The number of a list of one, and that of a quoted number or token, as a number. */
static zlgi_json as_number(const zlgi_json *json)
{
    zlgi_json number = *json;
    if (json->type == ZLGI_JSON_ARRAY && json->n_items == 1)
        number = *json->items;
    double value;
    if (number.type == ZLGI_JSON_STRING &&
        zlgi_parse_double(number.text, number.n_text, &value))
        number.type = ZLGI_JSON_NUMBER;
    return number;
}

static zlg_status parse_float(zlg_type type, const zlgi_json *json, void *element,
                              zlg_error *err)
{
    if (json->type == ZLGI_JSON_NUMBER &&
        zlgi_number_parse(type, json->text, json->n_text, element))
        return ZLG_OK;
    return zlgi_json_refuse(json, "a number, \"NaN\", \"Infinity\" or \"-Infinity\"", err);
}

/* 3.0 and 1e3 are integers, too; from 2^53 on the decimal might have been another one. */
static zlg_status parse_integer(zlg_type type, const zlgi_json *json, void *element,
                                zlg_error *err)
{
    int64_t integer;
    double value;
    char text[24];
    zlgi_json whole = *json;
    if (!zlgi_json_i64(json, &integer) && zlgi_json_double(json, &value) &&
        value > -0x1p53 && value < 0x1p53 && value == (double)(int64_t)value) {
        int n = snprintf(text, sizeof(text), "%" PRId64, (int64_t)value);
        whole = (zlgi_json){.type = ZLGI_JSON_NUMBER, .text = text, .n_text = (uint32_t)n};
    }
    return zlgi_fill_integer(type, &whole, element, err);
}

static zlg_status parse_bool(const zlgi_json *json, uint8_t *element, zlg_error *err)
{
    *element = json->type == ZLGI_JSON_TRUE;
    if (json->type == ZLGI_JSON_TRUE || json->type == ZLGI_JSON_FALSE)
        return ZLG_OK;
    if (parse_integer(ZLG_UINT8, json, element, NULL) != ZLG_OK || *element > 1)
        return zlgi_json_refuse(json, "true, false, 1 or 0", err);
    return ZLG_OK;
}

static void set_nat(uint8_t *element)
{
    zlgi_number_set_bits(ZLG_INT64, (uint64_t)INT64_MIN, element);
}

/* An undefined fill value is zero, of times NaT. `element` is zero already. */
static void set_undefined(const zlgi_dtype *dtype, uint8_t *element)
{
    if (zlgi_type_family(dtype->type) == ZLGI_TIMES)
        set_nat(element);
    for (int i = 0; i < dtype->n_fields; i++) {
        const zlgi_field *field = &dtype->fields[i];
        size_t n = field->dtype->n_bytes;
        for (int64_t k = 0; k < field->n_items; k++)
            set_undefined(field->dtype, element + field->offset + (size_t)k * n);
    }
}

static zlg_status parse_time(const zlgi_json *json, uint8_t *element, zlg_error *err)
{
    if (!zlgi_json_is(json, "NaT"))
        return parse_integer(ZLG_INT64, json, element, err);
    set_nat(element);
    return ZLG_OK;
}

static zlg_status parse_complex(zlgi_arena *arena, const zlgi_dtype *dtype,
                                const zlgi_json *json, uint8_t *element, zlg_error *err)
{
    if (json->type == ZLGI_JSON_STRING)
        return zlgi_fill_stored(arena, dtype, json, true, element, err);
    if (json->type != ZLGI_JSON_ARRAY || json->n_items != 2)
        return parse_float(dtype->part, json, element, err);
    for (const zlgi_json *part = json->items; part != NULL; part = part->next) {
        zlgi_json number = as_number(part);
        ZLGI_TRY(parse_float(dtype->part, &number, element, err));
        element += zlgi_type_bytes(dtype->part);
    }
    return ZLG_OK;
}

/* `element` is zero already. */
static zlg_status parse_element(zlgi_arena *arena, const zlgi_dtype *dtype,
                                const zlgi_json *json, uint8_t *element, zlg_error *err)
{
    zlgi_json number = as_number(json);
    switch (zlgi_type_family(dtype->type)) {
    case ZLGI_BOOLEANS:
        return parse_bool(&number, element, err);
    case ZLGI_SIGNED:
    case ZLGI_UNSIGNED:
        return parse_integer(dtype->type, &number, element, err);
    case ZLGI_FLOATS:
        return parse_float(dtype->type, &number, element, err);
    case ZLGI_COMPLEXES:
        return parse_complex(arena, dtype, &number, element, err);
    case ZLGI_TIMES:
        return parse_time(&number, element, err);
    case ZLGI_OCTETS:
        return is_zero(json) ? ZLG_OK
                             : zlgi_fill_stored(arena, dtype, json, false, element, err);
    case ZLGI_CODE_POINTS:
        return is_zero(json) ? ZLG_OK : zlgi_fill_text(json, dtype->n_bytes, element, err);
    case ZLGI_RECORDS:
        return is_zero(json) ? ZLG_OK
                             : zlgi_fill_stored(arena, dtype, json, true, element, err);
    case ZLGI_VARIABLE:
        break;
    }
    bool is_empty = is_zero(json) || zlgi_json_is(json, "") ||
                    (json->type == ZLGI_JSON_ARRAY && json->n_items == 0);
    return is_empty ? ZLG_OK : zlgi_json_refuse(json, "null or an empty list", err);
}

static zlg_status parse_any(zlgi_arena *arena, const zlgi_dtype *dtype,
                            const zlgi_json *json, zlgi_fill *out, zlg_error *err)
{
    if (dtype->type == ZLG_STRING && !is_zero(json))
        return zlgi_fill_string(arena, json, out, err);
    if (dtype->type == ZLG_BYTES && !is_zero(json))
        return zlgi_fill_base64(arena, json, out, err);
    uint8_t *element = NULL;
    ZLGI_TRY(zlgi_fill_memory(arena, dtype->n_bytes, &element, err));
    *out = (zlgi_fill){.data = element, .n = dtype->n_bytes};
    if (json->type == ZLGI_JSON_NULL) {
        set_undefined(dtype, element);
        return ZLG_OK;
    }
    return parse_element(arena, dtype, json, element, err);
}

zlg_status zlgi_fill_parse_v2(zlgi_arena *arena, const zlgi_dtype *dtype,
                              const zlgi_json *json, zlgi_fill *out, zlg_error *err)
{
    zlg_status status = parse_any(arena, dtype, json, out, err);
    return zlgi_within(err, status, "fill value of %s", zlgi_type_name(dtype->type));
}
