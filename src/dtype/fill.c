/*
 * Fill values: the parts of their JSON that versions 2 and 3 read alike, and the zero of
 * a type. A fill value is one element in native order, or the bytes of a variable-length
 * one; it is allocated here, so a type must not be larger than ZLGI_ELEMENT_BYTES.
 */
#include <inttypes.h>
#include <stdio.h>

#include "dtype/internal.h"

zlg_status zlgi_json_refuse(const zlgi_json *json, const char *expected, zlg_error *err)
{
    static const char *const names[] = {
        [ZLGI_JSON_NULL] = "null",        [ZLGI_JSON_FALSE] = "false",
        [ZLGI_JSON_TRUE] = "true",        [ZLGI_JSON_ARRAY] = "a list",
        [ZLGI_JSON_OBJECT] = "an object",
    };
    if (json == NULL)
        return zlgi_fail(err, ZLG_METADATA, "found nothing, expected %s", expected);
    if (json->type == ZLGI_JSON_NUMBER)
        return zlgi_fail(err, ZLG_METADATA, "found %.40s, expected %s", json->text,
                         expected);
    if (json->type == ZLGI_JSON_STRING)
        return zlgi_fail(err, ZLG_METADATA, "found \"%.40s\"%s, expected %s", json->text,
                         json->n_text > 40 ? "..." : "", expected);
    return zlgi_fail(err, ZLG_METADATA, "found %s, expected %s", names[json->type],
                     expected);
}

zlg_status zlgi_fill_memory(zlgi_arena *arena, size_t n, uint8_t **out, zlg_error *err)
{
    uint8_t *memory = zlgi_arena_get(arena, ZLGI_MAX(n, 1));
    if (memory == NULL)
        return zlgi_no_memory(err, n);
    memset(memory, 0, n);
    *out = memory;
    return ZLG_OK;
}

zlg_status zlgi_fill_zero(zlgi_arena *arena, const zlgi_dtype *dtype, zlgi_fill *out,
                          zlg_error *err)
{
    uint8_t *element = NULL;
    ZLGI_TRY(zlgi_fill_memory(arena, dtype->n_bytes, &element, err));
    *out = (zlgi_fill){.data = element, .n = dtype->n_bytes};
    return ZLG_OK;
}

zlg_status zlgi_fill_integer(zlg_type type, const zlgi_json *json, void *element,
                             zlg_error *err)
{
    char expected[80];
    int n_bits = zlgi_type_bits(type);
    if (zlgi_type_family(type) == ZLGI_UNSIGNED) {
        uint64_t value, high = UINT64_MAX >> (64 - n_bits);
        if (zlgi_json_u64(json, &value) && value <= high) {
            zlgi_number_set_bits(type, value, element);
            return ZLG_OK;
        }
        snprintf(expected, sizeof(expected), "an integer from 0 to %" PRIu64, high);
    } else {
        int64_t value, high = INT64_MAX >> (64 - n_bits);
        if (zlgi_json_i64(json, &value) && value <= high && value >= -high - 1) {
            zlgi_number_set_bits(type, (uint64_t)value, element);
            return ZLG_OK;
        }
        snprintf(expected, sizeof(expected), "an integer from %" PRId64 " to %" PRId64,
                 -high - 1, high);
    }
    return zlgi_json_refuse(json, expected, err);
}

zlg_status zlgi_fill_base64(zlgi_arena *arena, const zlgi_json *json, zlgi_fill *out,
                            zlg_error *err)
{
    if (json->type != ZLGI_JSON_STRING)
        return zlgi_json_refuse(json, "base64", err);
    zlgi_buf buf;
    zlgi_buf_init(&buf, arena->alloc);
    zlgi_bytes text = {(const uint8_t *)json->text, json->n_text};
    zlg_status status = zlgi_base64_decode(text, &buf, err);
    if (status == ZLG_OK) {
        char *data = zlgi_arena_text(arena, (const char *)buf.data, buf.n);
        *out = (zlgi_fill){.data = (const uint8_t *)data, .n = buf.n};
        if (data == NULL)
            status = zlgi_no_memory(err, buf.n);
    }
    zlgi_buf_reset(&buf);
    return status;
}

zlg_status zlgi_fill_list(zlgi_arena *arena, const zlgi_json *json, zlgi_fill *out,
                          zlg_error *err)
{
    uint8_t *bytes = NULL;
    ZLGI_TRY(zlgi_fill_memory(arena, json->n_items, &bytes, err));
    *out = (zlgi_fill){.data = bytes, .n = json->n_items};
    for (const zlgi_json *item = json->items; item != NULL; item = item->next)
        ZLGI_TRY(zlgi_fill_integer(ZLG_UINT8, item, bytes++, err));
    return ZLG_OK;
}

zlg_status zlgi_fill_put(const zlgi_fill *bytes, bool exact, size_t n_bytes,
                         uint8_t *element, zlg_error *err)
{
    if (bytes->n > n_bytes || (exact && bytes->n < n_bytes))
        return zlgi_fail(err, ZLG_METADATA, "found %zu bytes, expected %zu", bytes->n,
                         n_bytes);
    memset(element, 0, n_bytes);
    memcpy(element, bytes->data, bytes->n);
    return ZLG_OK;
}

zlg_status zlgi_fill_stored(zlgi_arena *arena, const zlgi_dtype *dtype,
                            const zlgi_json *json, bool exact, uint8_t *element,
                            zlg_error *err)
{
    zlgi_fill bytes = {.n = 0};
    ZLGI_TRY(zlgi_fill_base64(arena, json, &bytes, err));
    ZLGI_TRY(zlgi_fill_put(&bytes, exact, dtype->n_bytes, element, err));
    zlgi_dtype_swap_leaves(dtype, element);
    zlgi_dtype_normalize(dtype, element, 1);
    return ZLG_OK;
}

/* The character that a valid run of 1 to 4 bytes is. */
static uint32_t decode_character(const uint8_t *text, size_t n)
{
    uint32_t point = n == 1 ? text[0] : text[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++)
        point = point << 6 | (text[i] & 0x3fu);
    return point;
}

static zlg_status check_utf8(const zlgi_json *json, zlg_error *err)
{
    if (json->type != ZLGI_JSON_STRING)
        return zlgi_json_refuse(json, "a string", err);
    if (!zlgi_utf8_valid((const uint8_t *)json->text, json->n_text))
        return zlgi_fail(err, ZLG_METADATA, "the string holds half a surrogate pair");
    return ZLG_OK;
}

zlg_status zlgi_fill_text(const zlgi_json *json, size_t n_bytes, uint8_t *element,
                          zlg_error *err)
{
    ZLGI_TRY(check_utf8(json, err));
    memset(element, 0, n_bytes);
    const uint8_t *text = (const uint8_t *)json->text;
    size_t n_points = 0;
    for (size_t i = 0; i < json->n_text; n_points++) {
        if (n_points == n_bytes / 4)
            return zlgi_fail(err, ZLG_METADATA,
                             "the string is longer than the %zu characters of the type",
                             n_points);
        size_t n_character = zlgi_utf8_span(text + i, json->n_text - i);
        uint32_t point = decode_character(text + i, n_character);
        memcpy(element + 4 * n_points, &point, sizeof(point));
        i += n_character;
    }
    return ZLG_OK;
}

zlg_status zlgi_fill_string(zlgi_arena *arena, const zlgi_json *json, zlgi_fill *out,
                            zlg_error *err)
{
    ZLGI_TRY(check_utf8(json, err));
    char *text = zlgi_arena_text(arena, json->text, json->n_text);
    if (text == NULL)
        return zlgi_no_memory(err, json->n_text);
    *out = (zlgi_fill){.data = (const uint8_t *)text, .n = json->n_text};
    return ZLG_OK;
}
