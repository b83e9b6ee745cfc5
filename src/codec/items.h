/*
 * items: elements as loosely typed values, for the codecs that store a chunk as one JSON
 * or MessagePack document (format.md §16): nested lists of elements, then the NumPy type
 * string and the shape as the last two entries of the outermost list.
 */
#ifndef ZLGI_CODEC_ITEMS_H
#define ZLGI_CODEC_ITEMS_H

#include "codec/elements.h"

typedef enum zlgi_item_kind {
    ZLGI_ITEM_OTHER,
    ZLGI_ITEM_NOTHING,
    ZLGI_ITEM_BOOL,
    ZLGI_ITEM_INT64,
    ZLGI_ITEM_UINT64,
    ZLGI_ITEM_DOUBLE,
    ZLGI_ITEM_TEXT,
    ZLGI_ITEM_BYTES,
    ZLGI_ITEM_LIST /* of text.n entries */
} zlgi_item_kind;

typedef struct zlgi_item {
    zlgi_item_kind kind;
    uint64_t integer; /* bool, int64 (as its bits), uint64 */
    double real;
    zlgi_view text; /* text, bytes */
} zlgi_item;

/* Configuration of the codecs: what the elements are. */
typedef struct zlgi_items {
    const zlgi_dtype *dtype;
    zlgi_elements numbers; /* when they are numbers */
} zlgi_items;

/* n_bytes: of the codec's configuration, which begins with zlgi_items. */
zlg_status zlgi_items_configure(zlgi_step *step, size_t n_bytes, const zlgi_codec_env *env,
                                void *out_config, zlg_error *err);
/* An item as element i of a chunk. CORRUPT when it does not fit, UNSUPPORTED when it is
 * of a kind that the element type cannot hold. */
zlg_status zlgi_items_put(const zlgi_items *items, const zlgi_item *item, size_t i,
                          uint8_t *elements, zlg_error *err);
/* Element i of a chunk as an item. Text made here lies in `buf`. */
zlg_status zlgi_items_get(const zlgi_items *items, const uint8_t *elements, size_t i,
                          zlgi_buf *buf, zlgi_item *out, zlg_error *err);
/* The type string that numcodecs writes. */
void zlgi_items_type_text(const zlgi_items *items, char out[32]);

#endif
