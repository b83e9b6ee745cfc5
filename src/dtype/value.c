/*
 * Elements as JSON: as the fill value of version 3 or of version 2, and for people. One
 * walk over the type; the three differ in NaNs, bytes, records and times.
 *
 * Floats are the shortest text that reads back as the same value of their own type. What
 * a version has no text for is ZLG_UNSUPPORTED: nothing is written that would read back as
 * something else.
 */
#include <inttypes.h>

#include "dtype/internal.h"

typedef enum text_form { FORM_SHOWN, FORM_V3, FORM_V2 } text_form;

static zlg_status put(zlgi_buf *out, const char *text, zlg_error *err)
{
    return zlgi_buf_append(out, text, strlen(text), err);
}

/* NaN has one text; others are told apart by their bits where there is a way to say so. */
static zlg_status write_nan(text_form form, zlg_type type, const uint8_t *element,
                            zlgi_buf *out, zlg_error *err)
{
    uint64_t bits = zlgi_number_bits(type, element);
    if (form == FORM_SHOWN || bits == zlgi_type_float_layout(type)->nan_bits)
        return put(out, "\"NaN\"", err);
    if (form == FORM_V2)
        return zlgi_fail(err, ZLG_UNSUPPORTED,
                         "version 2 has no text for a NaN with payload");
    return zlgi_buf_printf(out, err, "\"0x%0*" PRIx64 "\"", 2 * (int)zlgi_type_bytes(type),
                           bits);
}

static zlg_status write_part(text_form form, zlg_type type, const uint8_t *element,
                             zlgi_buf *out, zlg_error *err)
{
    zlgi_float_parts parts;
    switch (zlgi_type_family(type)) {
    case ZLGI_BOOLEANS:
        return put(out, *element != 0 ? "true" : "false", err);
    case ZLGI_UNSIGNED:
        return zlgi_buf_printf(out, err, "%" PRIu64, zlgi_number_to_u64(type, element));
    case ZLGI_FLOATS:
        zlgi_number_parts(type, element, &parts);
        if (parts.kind == ZLGI_NAN)
            return write_nan(form, type, element, out, err);
        return zlgi_json_write_float_parts(out, &parts, zlgi_number_format(type), err);
    case ZLGI_TIMES:
        if (form != FORM_V2 && zlgi_number_to_i64(type, element) == INT64_MIN)
            return put(out, "\"NaT\"", err);
        break;
    default:
        break;
    }
    return zlgi_buf_printf(out, err, "%" PRId64, zlgi_number_to_i64(type, element));
}

/* Parts one after the other as a list. */
static zlg_status write_parts(text_form form, zlg_type part, const uint8_t *parts, size_t n,
                              zlgi_buf *out, zlg_error *err)
{
    for (size_t i = 0; i < n; i++) {
        ZLGI_TRY(put(out, i == 0 ? "[" : ",", err));
        ZLGI_TRY(write_part(form, part, parts + i * zlgi_type_bytes(part), out, err));
    }
    return put(out, n == 0 ? "[]" : "]", err);
}

static zlg_status write_base64(const uint8_t *data, size_t n, zlgi_buf *out, zlg_error *err)
{
    ZLGI_TRY(put(out, "\"", err));
    ZLGI_TRY(zlgi_base64_encode((zlgi_bytes){data, n}, out, err));
    return put(out, "\"", err);
}

/* Empty text may be NULL. */
static zlg_status write_string(const uint8_t *text, size_t n, zlgi_buf *out, zlg_error *err)
{
    return zlgi_json_write_string(out, n > 0 ? (const char *)text : "", n, err);
}

static zlg_status write_octets(text_form form, const zlgi_dtype *dtype,
                               const uint8_t *element, zlgi_buf *out, zlg_error *err)
{
    size_t n = dtype->n_bytes;
    while (dtype->type == ZLG_FIXED_BYTES && n > 0 && element[n - 1] == 0)
        n--;
    /* r<N>, not "raw_bytes" */
    if (form == FORM_V3 && dtype->v3_name[0] == 'r' && dtype->v3_name[1] != 'a')
        return write_parts(form, ZLG_UINT8, element, n, out, err);
    return write_base64(element, n, out, err);
}

/* The record as version 2 stores it. */
static zlg_status write_stored(const zlgi_dtype *dtype, const uint8_t *element,
                               zlgi_buf *out, zlg_error *err)
{
    zlgi_buf stored;
    zlgi_buf_init(&stored, out->alloc);
    zlg_status status = zlgi_buf_append(&stored, element, dtype->n_bytes, err);
    if (status == ZLG_OK) {
        zlgi_dtype_swap_leaves(dtype, stored.data);
        status = write_base64(stored.data, stored.n, out, err);
    }
    zlgi_buf_reset(&stored);
    return status;
}

/* Code points below U+110000, surrogates too: WTF-8, which JSON escapes. */
static size_t encode_character(uint32_t point, char out[4])
{
    size_t n = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    for (size_t i = n; i-- > 1; point >>= 6)
        out[i] = (char)(0x80 | (point & 0x3f));
    uint32_t lead = n == 1 ? 0 : 0xf00u >> n & 0xf0;
    out[0] = (char)(lead | point);
    return n;
}

static zlg_status write_text(const uint8_t *element, size_t n_bytes, zlgi_buf *out,
                             zlg_error *err)
{
    zlgi_buf text;
    zlgi_buf_init(&text, out->alloc);
    zlg_status status = ZLG_OK;
    size_t n_significant = 0;
    for (size_t i = 0; status == ZLG_OK && i < n_bytes / 4; i++) {
        uint32_t point;
        char character[4];
        memcpy(&point, element + 4 * i, sizeof(point));
        if (point > 0x10ffff)
            status = zlgi_fail(err, ZLG_CORRUPT, "U+%" PRIX32 " is no character", point);
        else
            status =
                zlgi_buf_append(&text, character, encode_character(point, character), err);
        if (point != 0)
            n_significant = text.n;
    }
    if (status == ZLG_OK)
        status = write_string(text.data, n_significant, out, err);
    zlgi_buf_reset(&text);
    return status;
}

static zlg_status write_element(text_form form, const zlgi_dtype *dtype,
                                const uint8_t *element, zlgi_buf *out, zlg_error *err);

/* The items of a field from axis on, as lists in lists; *items moves past them. */
static zlg_status write_items(text_form form, const zlgi_field *field, int axis,
                              const uint8_t **items, zlgi_buf *out, zlg_error *err)
{
    if (axis == field->rank) {
        ZLGI_TRY(write_element(form, field->dtype, *items, out, err));
        *items += field->dtype->n_bytes;
        return ZLG_OK;
    }
    ZLGI_TRY(put(out, "[", err));
    for (int64_t i = 0; i < field->shape[axis]; i++) {
        if (i > 0)
            ZLGI_TRY(put(out, ",", err));
        ZLGI_TRY(write_items(form, field, axis + 1, items, out, err));
    }
    return put(out, "]", err);
}

static zlg_status write_record(text_form form, const zlgi_dtype *dtype,
                               const uint8_t *element, zlgi_buf *out, zlg_error *err)
{
    ZLGI_TRY(put(out, form == FORM_V3 ? "{" : "[", err));
    for (int i = 0; i < dtype->n_fields; i++) {
        const zlgi_field *field = &dtype->fields[i];
        const uint8_t *items = element + field->offset;
        if (i > 0)
            ZLGI_TRY(put(out, ",", err));
        if (form == FORM_V3) {
            if (field->rank > 0 || field->n_name == 0)
                return zlgi_fail(err, ZLG_UNSUPPORTED,
                                 "version 3 has no records with arrays or padding");
            ZLGI_TRY(zlgi_json_write_string(out, field->name, field->n_name, err));
            ZLGI_TRY(put(out, ":", err));
        }
        ZLGI_TRY(write_items(form, field, 0, &items, out, err));
    }
    return put(out, form == FORM_V3 ? "}" : "]", err);
}

static zlg_status write_element(text_form form, const zlgi_dtype *dtype,
                                const uint8_t *element, zlgi_buf *out, zlg_error *err)
{
    switch (zlgi_type_family(dtype->type)) {
    case ZLGI_BOOLEANS:
    case ZLGI_SIGNED:
    case ZLGI_UNSIGNED:
    case ZLGI_FLOATS:
    case ZLGI_TIMES:
        return write_part(form, dtype->type, element, out, err);
    case ZLGI_COMPLEXES:
        return write_parts(form, dtype->part, element, 2, out, err);
    case ZLGI_OCTETS:
        return write_octets(form, dtype, element, out, err);
    case ZLGI_CODE_POINTS:
        return write_text(element, dtype->n_bytes, out, err);
    case ZLGI_RECORDS:
        if (form == FORM_V2)
            return write_stored(dtype, element, out, err);
        return write_record(form, dtype, element, out, err);
    case ZLGI_VARIABLE:
        break;
    }
    return zlgi_fail(err, ZLG_UNSUPPORTED, "%s is no part of another type",
                     zlgi_type_name(dtype->type));
}

static zlg_status write_varlen(text_form form, const zlgi_dtype *dtype, const uint8_t *data,
                               size_t n, zlgi_buf *out, zlg_error *err)
{
    if (dtype->type == ZLG_STRING)
        return write_string(data, n, out, err);
    if (dtype->type == ZLG_BYTES)
        return write_base64(data, n, out, err);
    if (form == FORM_SHOWN)
        return write_parts(form, dtype->part, data, n / zlgi_type_bytes(dtype->part), out,
                           err);
    if (form == FORM_V2 && n == 0)
        return put(out, "null", err);
    return zlgi_fail(err, ZLG_UNSUPPORTED, "vlen-array has no text for this fill value");
}

static zlg_status write_any(text_form form, const zlgi_dtype *dtype, const uint8_t *element,
                            size_t n, zlgi_buf *out, zlg_error *err)
{
    if (zlgi_dtype_is_varlen(dtype))
        return write_varlen(form, dtype, element, n, out, err);
    return write_element(form, dtype, element, out, err);
}

zlg_status zlgi_fill_write_v3(const zlgi_dtype *dtype, const uint8_t *element, size_t n,
                              zlgi_buf *out, zlg_error *err)
{
    return write_any(FORM_V3, dtype, element, n, out, err);
}

zlg_status zlgi_fill_write_v2(const zlgi_dtype *dtype, const uint8_t *element, size_t n,
                              zlgi_buf *out, zlg_error *err)
{
    return write_any(FORM_V2, dtype, element, n, out, err);
}

zlg_status zlgi_value_write(const zlgi_dtype *dtype, const uint8_t *element, size_t n,
                            zlgi_buf *out, zlg_error *err)
{
    return write_any(FORM_SHOWN, dtype, element, n, out, err);
}
