/*
 * Fill values of version 3: the JSON of a data type's `fill_value`.
 *
 * Core specification 3.1, "Fill value": true or false; integers without fraction or
 * exponent; decimals rounded once; "NaN", "Infinity", "-Infinity"; "0x..." for the bits of
 * a float; pairs for complex numbers; lists of bytes for r<N>. Extension types as in the
 * registry. Nothing is converted: another form is ZLG_METADATA. Refuses to know which
 * endian the codecs have, see zlgi_fill_parse_v3 in dtype.h.
 */
#include "dtype/internal.h"

/* 1 to 2 x size hexadecimal digits after "0x"; no bit above those of the type. */
static bool parse_hex(zlg_type type, const char *text, size_t n, void *element)
{
    if (n < 3 || text[0] != '0' || (text[1] != 'x' && text[1] != 'X') ||
        n - 2 > 2 * zlgi_type_bytes(type))
        return false;
    uint64_t bits = 0;
    for (size_t i = 2; i < n; i++) {
        static const char digits[] = "0123456789abcdef";
        char lower = (char)(text[i] >= 'A' && text[i] <= 'F' ? text[i] + 32 : text[i]);
        const char *digit = memchr(digits, lower, sizeof(digits) - 1);
        if (digit == NULL)
            return false;
        bits = bits << 4 | (uint64_t)(digit - digits);
    }
    if (bits > UINT64_MAX >> (64 - zlgi_type_bits(type)))
        return false;
    zlgi_number_set_bits(type, bits, element);
    return true;
}

/* Tokens are strings here and numbers are not: 1.5 and "NaN", never "1.5" and NaN. */
static zlg_status parse_float(zlg_type type, const zlgi_json *json, void *element,
                              zlg_error *err)
{
    bool is_decimal = (json->type == ZLGI_JSON_NUMBER || json->type == ZLGI_JSON_STRING) &&
                      zlgi_number_span(json->text, json->n_text) == json->n_text;
    if (json->type == ZLGI_JSON_STRING && !is_decimal &&
        (parse_hex(type, json->text, json->n_text, element) ||
         zlgi_number_parse(type, json->text, json->n_text, element)))
        return ZLG_OK;
    if (json->type == ZLGI_JSON_NUMBER && is_decimal &&
        zlgi_number_parse(type, json->text, json->n_text, element))
        return ZLG_OK;
    bool has_infinity = zlgi_type_float_layout(type)->has_infinity;
    return zlgi_json_refuse(json,
                            has_infinity ? "a number, \"NaN\", \"Infinity\", \"-Infinity\" "
                                           "or the bits as \"0x...\""
                                         : "a value of the type, or its bits as \"0x...\"",
                            err);
}

static zlg_status parse_complex(zlg_type part, const zlgi_json *json, uint8_t *element,
                                zlg_error *err)
{
    if (json->type != ZLGI_JSON_ARRAY || json->n_items != 2)
        return zlgi_json_refuse(json, "a pair [real, imaginary]", err);
    ZLGI_TRY(parse_float(part, json->items, element, err));
    return parse_float(part, json->items->next, element + zlgi_type_bytes(part), err);
}

static zlg_status parse_time(const zlgi_json *json, uint8_t *element, zlg_error *err)
{
    if (!zlgi_json_is(json, "NaT"))
        return zlgi_fill_integer(ZLG_INT64, json, element, err);
    zlgi_number_set_bits(ZLG_INT64, (uint64_t)INT64_MIN, element);
    return ZLG_OK;
}

/* r<N> has a list, the named types have base64: readers should take either. */
static zlg_status parse_octets(zlgi_arena *arena, size_t n_bytes, const zlgi_json *json,
                               uint8_t *element, zlg_error *err)
{
    zlgi_fill bytes;
    bool is_list = json->type == ZLGI_JSON_ARRAY;
    if (is_list)
        ZLGI_TRY(zlgi_fill_list(arena, json, &bytes, err));
    else
        ZLGI_TRY(zlgi_fill_base64(arena, json, &bytes, err));
    return zlgi_fill_put(&bytes, is_list, n_bytes, element, err);
}

static zlg_status parse_element(zlgi_arena *arena, const zlgi_dtype *dtype,
                                const zlgi_json *json, uint8_t *element, zlg_error *err);

static zlg_status parse_record(zlgi_arena *arena, const zlgi_dtype *dtype,
                               const zlgi_json *json, uint8_t *element, zlg_error *err)
{
    /* The old name of `struct` had the packed bytes in base64. */
    if (json->type == ZLGI_JSON_STRING && strcmp(dtype->v3_name, "structured") == 0)
        return zlgi_fill_stored(arena, dtype, json, true, element, err);
    if (json->type != ZLGI_JSON_OBJECT)
        return zlgi_json_refuse(json, "an object with all fields", err);
    /* The members mostly stand in the order of the fields. */
    const zlgi_json *next = json->items;
    for (int i = 0; i < dtype->n_fields; i++) {
        const zlgi_field *field = &dtype->fields[i];
        bool in_order = next != NULL && next->n_name == field->n_name &&
                        memcmp(next->name, field->name, field->n_name) == 0;
        const zlgi_json *member = in_order ? next : zlgi_json_get(json, field->name);
        next = next == NULL ? NULL : next->next;
        if (member == NULL)
            return zlgi_fail(err, ZLG_METADATA, "the field \"%s\" is missing", field->name);
        zlg_status status =
            parse_element(arena, field->dtype, member, element + field->offset, err);
        ZLGI_TRY(zlgi_within(err, status, "field %s", field->name));
    }
    if (json->n_items != (uint32_t)dtype->n_fields)
        return zlgi_fail(err, ZLG_METADATA, "found %u members, expected the %d fields",
                         json->n_items, dtype->n_fields);
    return ZLG_OK;
}

static zlg_status parse_element(zlgi_arena *arena, const zlgi_dtype *dtype,
                                const zlgi_json *json, uint8_t *element, zlg_error *err)
{
    switch (zlgi_type_family(dtype->type)) {
    case ZLGI_BOOLEANS:
        if (json->type != ZLGI_JSON_TRUE && json->type != ZLGI_JSON_FALSE)
            return zlgi_json_refuse(json, "true or false", err);
        *element = json->type == ZLGI_JSON_TRUE;
        return ZLG_OK;
    case ZLGI_SIGNED:
    case ZLGI_UNSIGNED:
        return zlgi_fill_integer(dtype->type, json, element, err);
    case ZLGI_FLOATS:
        return parse_float(dtype->type, json, element, err);
    case ZLGI_COMPLEXES:
        return parse_complex(dtype->part, json, element, err);
    case ZLGI_TIMES:
        return parse_time(json, element, err);
    case ZLGI_OCTETS:
        return parse_octets(arena, dtype->n_bytes, json, element, err);
    case ZLGI_CODE_POINTS:
        return zlgi_fill_text(json, dtype->n_bytes, element, err);
    case ZLGI_RECORDS:
        return parse_record(arena, dtype, json, element, err);
    case ZLGI_VARIABLE:
        break;
    }
    return zlgi_fail(err, ZLG_UNSUPPORTED, "%s has no fill value of a fixed size",
                     zlgi_type_name(dtype->type));
}

static zlg_status parse_any(zlgi_arena *arena, const zlgi_dtype *dtype,
                            const zlgi_json *json, zlgi_fill *out, zlg_error *err)
{
    if (dtype->type == ZLG_STRING)
        return zlgi_fill_string(arena, json, out, err);
    if (dtype->type == ZLG_BYTES && json->type == ZLGI_JSON_ARRAY)
        return zlgi_fill_list(arena, json, out, err);
    if (dtype->type == ZLG_BYTES)
        return zlgi_fill_base64(arena, json, out, err);
    uint8_t *element = NULL;
    ZLGI_TRY(zlgi_fill_memory(arena, dtype->n_bytes, &element, err));
    ZLGI_TRY(parse_element(arena, dtype, json, element, err));
    *out = (zlgi_fill){.data = element, .n = dtype->n_bytes};
    return ZLG_OK;
}

zlg_status zlgi_fill_parse_v3(zlgi_arena *arena, const zlgi_dtype *dtype,
                              const zlgi_json *json, zlgi_fill *out, zlg_error *err)
{
    zlg_status status = parse_any(arena, dtype, json, out, err);
    return zlgi_within(err, status, "fill value of %s", zlgi_type_name(dtype->type));
}
