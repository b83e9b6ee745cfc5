/*
 * Loosely typed values to elements and back. Elements may be strings (dtype "|O"), fixed
 * text, fixed bytes or real numbers; what Python objects held beyond that is refused.
 */
#include <stdio.h>

#include "codec/items.h"
#include "codec/text.h"

zlg_status zlgi_items_configure(zlgi_step *step, size_t n_bytes, const zlgi_codec_env *env,
                                void *out_config, zlg_error *err)
{
    zlgi_items *items = zlgi_arena_get(env->arena, n_bytes);
    if (items == NULL)
        return zlgi_no_memory(err, n_bytes);
    memset(items, 0, n_bytes);
    step->config = items;
    *(zlgi_items **)out_config = items;
    const zlgi_dtype *dtype = items->dtype = step->from.dtype;
    if (dtype->type == ZLG_STRING || dtype->type == ZLG_FIXED_UTF32 ||
        dtype->type == ZLG_FIXED_BYTES)
        return ZLG_OK;
    ZLGI_TRY(zlgi_elements_of(dtype, true, &items->numbers, err));
    if (items->numbers.n_parts != 1)
        return zlgi_fail(err, ZLG_UNSUPPORTED, "complex numbers are not known here");
    return ZLG_OK;
}

static const char *kind_name(zlgi_item_kind kind)
{
    static const char *const names[] = {"a map or an extension",
                                        "null",
                                        "a bool",
                                        "an integer",
                                        "an integer",
                                        "a float",
                                        "text",
                                        "bytes",
                                        "a list"};
    return names[kind];
}

static zlg_status wrong_kind(const zlgi_items *items, const zlgi_item *item, size_t i,
                             zlg_error *err)
{
    return zlgi_fail(err, ZLG_UNSUPPORTED, "element %zu is %s, the data type is %s", i,
                     kind_name(item->kind), zlgi_type_name(items->dtype->type));
}

/* ---------------------------------------------------------------------- to elements */
/* Writers fill the rest of a chunk of objects with null or 0: both stand for "". */
static zlg_status put_string(const zlgi_items *items, const zlgi_item *item, size_t i,
                             uint8_t *to, zlg_error *err)
{
    zlgi_view view = {.data = (const uint8_t *)"", .n = 0};
    bool is_text = item->kind == ZLGI_ITEM_TEXT || item->kind == ZLGI_ITEM_BYTES;
    bool is_zero = item->kind == ZLGI_ITEM_INT64 && item->integer == 0;
    if (is_text)
        view = item->text;
    else if (item->kind != ZLGI_ITEM_NOTHING && !is_zero)
        return wrong_kind(items, item, i, err);
    if (!zlgi_utf8_valid(view.data, view.n))
        return zlgi_fail(err, ZLG_CORRUPT, "element %zu is not UTF-8", i);
    memcpy(to, &view, sizeof view);
    return ZLG_OK;
}

static zlg_status put_fixed(const zlgi_items *items, const zlgi_item *item, size_t i,
                            uint8_t *to, zlg_error *err)
{
    const size_t n_bytes = items->dtype->n_bytes;
    const zlgi_view *text = &item->text;
    bool is_utf32 = items->dtype->type == ZLG_FIXED_UTF32;
    if (item->kind != (is_utf32 ? ZLGI_ITEM_TEXT : ZLGI_ITEM_BYTES))
        return wrong_kind(items, item, i, err);
    if (is_utf32 && !zlgi_utf8_valid(text->data, text->n))
        return zlgi_fail(err, ZLG_CORRUPT, "element %zu is not UTF-8", i);
    memset(to, 0, n_bytes);
    size_t n_used = 0;
    for (size_t at = 0; at < text->n;) {
        uint32_t point[4];
        size_t n_taken = is_utf32 ? zlgi_utf8_span(text->data + at, text->n - at) : 1;
        size_t n_put = is_utf32 ? sizeof point[0] : 1;
        if (n_put > n_bytes - n_used)
            return zlgi_fail(err, ZLG_CORRUPT, "element %zu is longer than %zu bytes", i,
                             n_bytes);
        if (is_utf32)
            zlgi_utf32_from_utf8(text->data + at, n_taken, point);
        memcpy(to + n_used, is_utf32 ? (const void *)point : text->data + at, n_put);
        n_used += n_put;
        at += n_taken;
    }
    return ZLG_OK;
}

static zlg_status put_number(const zlgi_items *items, const zlgi_item *item, size_t i,
                             uint8_t *to, zlg_error *err)
{
    const zlgi_elements *numbers = &items->numbers;
    zlgi_block block, back;
    zlgi_wide wide = ZLGI_WIDE_INT64;
    bool is_integer = item->kind == ZLGI_ITEM_INT64 || item->kind == ZLGI_ITEM_UINT64;
    if (zlgi_type_is_float(numbers->type) && item->kind == ZLGI_ITEM_DOUBLE) {
        wide = ZLGI_WIDE_DOUBLE;
        block.d[0] = item->real;
    } else if (numbers->type == ZLG_BOOL ? item->kind == ZLGI_ITEM_BOOL : is_integer) {
        wide = item->kind == ZLGI_ITEM_UINT64 ? ZLGI_WIDE_UINT64 : ZLGI_WIDE_INT64;
        block.u[0] = item->integer;
    } else {
        return wrong_kind(items, item, i, err);
    }
    zlgi_elements_store(numbers, wide, &block, 1, to);
    if (!is_integer || zlgi_type_is_float(numbers->type))
        return ZLG_OK;
    zlgi_elements_load(numbers, to, 1, &back);
    /* Equal bits are equal values unless they are read with different signs. */
    bool flips = (wide == ZLGI_WIDE_UINT64) != (numbers->type == ZLG_UINT64);
    if (back.u[0] != block.u[0] || (flips && block.i[0] < 0))
        return zlgi_fail(err, ZLG_CORRUPT, "element %zu does not fit %s", i,
                         zlgi_type_name(numbers->type));
    return ZLG_OK;
}

zlg_status zlgi_items_put(const zlgi_items *items, const zlgi_item *item, size_t i,
                          uint8_t *elements, zlg_error *err)
{
    uint8_t *to = elements + i * zlgi_dtype_slot(items->dtype);
    if (items->dtype->type == ZLG_STRING)
        return put_string(items, item, i, to, err);
    if (items->numbers.dtype != NULL)
        return put_number(items, item, i, to, err);
    return put_fixed(items, item, i, to, err);
}

/* ---------------------------------------------------------------------- from elements */
static void get_number(const zlgi_elements *numbers, const uint8_t *from, zlgi_item *out)
{
    static const zlgi_item_kind kinds[] = {ZLGI_ITEM_INT64, ZLGI_ITEM_UINT64,
                                           ZLGI_ITEM_DOUBLE};
    zlgi_block block;
    zlgi_wide wide = zlgi_wide_of(numbers->type);
    zlgi_elements_load(numbers, from, 1, &block);
    out->kind = numbers->type == ZLG_BOOL ? ZLGI_ITEM_BOOL : kinds[wide];
    if (wide == ZLGI_WIDE_DOUBLE)
        out->real = block.d[0];
    else
        out->integer = block.u[0];
}

zlg_status zlgi_items_get(const zlgi_items *items, const uint8_t *elements, size_t i,
                          zlgi_buf *buf, zlgi_item *out, zlg_error *err)
{
    const uint8_t *from = elements + i * zlgi_dtype_slot(items->dtype);
    const size_t n_bytes = items->dtype->n_bytes;
    *out = (zlgi_item){.kind = ZLGI_ITEM_TEXT};
    if (items->numbers.dtype != NULL) {
        get_number(&items->numbers, from, out);
    } else if (items->dtype->type == ZLG_STRING) {
        memcpy(&out->text, from, sizeof out->text);
    } else if (items->dtype->type == ZLG_FIXED_UTF32) {
        buf->n = 0;
        ZLGI_TRY(zlgi_utf32_to_utf8(from, zlgi_utf32_length(from, n_bytes), buf, err));
        out->text = (zlgi_view){.data = buf->data, .n = buf->n};
    } else {
        out->kind = ZLGI_ITEM_BYTES;
        out->text = (zlgi_view){.data = from, .n = n_bytes};
        while (out->text.n > 0 && from[out->text.n - 1] == 0)
            out->text.n--;
    }
    return ZLG_OK;
}

void zlgi_items_type_text(const zlgi_items *items, char out[32])
{
    const zlgi_dtype *dtype = items->dtype;
    switch ((int)dtype->type) {
    case ZLG_STRING:
        memcpy(out, "|O", 3);
        break;
    case ZLG_FIXED_UTF32:
        snprintf(out, 32, "%cU%zu", dtype->big_endian ? '>' : '<', dtype->n_bytes / 4);
        break;
    case ZLG_FIXED_BYTES:
        snprintf(out, 32, "|S%zu", dtype->n_bytes);
        break;
    default:
        zlgi_elements_text(&items->numbers, dtype->big_endian, out);
    }
}
