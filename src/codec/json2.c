/*
 * json2: a chunk as one JSON list of its items in nested lists, the NumPy type string and
 * the shape (format.md §16). A worker keeps the tree of the last document it decoded: text
 * elements lie in it.
 */
#include <inttypes.h>
#include <math.h>

#include "codec/items.h"
#include "codec/vlen.h"

static const zlgi_context_type kept_document = {zlgi_kept_make, zlgi_kept_destroy};

static zlg_status configure(zlgi_step *step, const zlgi_json *configuration,
                            const zlgi_codec_env *env, zlg_error *err)
{
    static const char *const encodings[] = {"utf-8", "utf8", "UTF-8", "ascii"};
    zlgi_items *items;
    ZLGI_TRY(zlgi_items_configure(step, sizeof *items, env, &items, err));
    const zlgi_json *encoding = zlgi_json_get(configuration, "encoding");
    bool is_known = encoding == NULL;
    for (size_t i = 0; i < ZLGI_COUNT(encodings); i++)
        is_known |= zlgi_json_is(encoding, encodings[i]);
    return is_known ? ZLG_OK
                    : zlgi_fail(err, ZLG_UNSUPPORTED, "\"encoding\" is not \"utf-8\"");
}

/* ---------------------------------------------------------------------- decode */
static zlgi_item item_of(const zlgi_json *json)
{
    zlgi_item item = {.kind = ZLGI_ITEM_OTHER};
    int64_t integer;
    switch (json->type) {
    case ZLGI_JSON_NULL:
        item.kind = ZLGI_ITEM_NOTHING;
        break;
    case ZLGI_JSON_FALSE:
    case ZLGI_JSON_TRUE:
        item.kind = ZLGI_ITEM_BOOL;
        item.integer = json->type == ZLGI_JSON_TRUE;
        break;
    case ZLGI_JSON_NUMBER:
        if (zlgi_json_i64(json, &integer)) {
            item.kind = ZLGI_ITEM_INT64;
            item.integer = (uint64_t)integer;
        } else if (zlgi_json_u64(json, &item.integer)) {
            item.kind = ZLGI_ITEM_UINT64;
        } else if (zlgi_json_double(json, &item.real)) {
            item.kind = ZLGI_ITEM_DOUBLE;
        }
        break;
    case ZLGI_JSON_STRING:
        item.kind = ZLGI_ITEM_TEXT;
        item.text = (zlgi_view){.data = (const uint8_t *)json->text, .n = json->n_text};
        break;
    case ZLGI_JSON_ARRAY:
        item.kind = ZLGI_ITEM_LIST;
        item.text.n = json->n_items;
        break;
    case ZLGI_JSON_OBJECT:
        break;
    }
    return item;
}

typedef struct reader {
    const zlgi_step *step;
    const zlgi_edge *edge;
    uint8_t *elements;
    size_t i; /* next element */
    zlg_error *err;
} reader;

/* The first n entries of a list, which are elements or lists along the next axis. */
static zlg_status read_entries(reader *self, const zlgi_json *list, size_t n, int axis)
{
    const zlgi_json *entry = list->items;
    for (size_t i = 0; i < n; i++, entry = entry->next) {
        if (axis < self->step->from.rank) {
            size_t n_inner = (size_t)self->edge->shape[axis];
            if (entry->type != ZLGI_JSON_ARRAY || entry->n_items != n_inner)
                return zlgi_fail(self->err, ZLG_CORRUPT,
                                 "no list of %zu where axis %d has one", n_inner, axis);
            ZLGI_TRY(read_entries(self, entry, n_inner, axis + 1));
            continue;
        }
        zlgi_item item = item_of(entry);
        ZLGI_TRY(zlgi_items_put(self->step->config, &item, self->i++, self->elements,
                                self->err));
    }
    return ZLG_OK;
}

static bool is_shape(const zlgi_json *shape, const zlgi_edge *edge, int rank)
{
    if (shape->type != ZLGI_JSON_ARRAY || shape->n_items != (uint32_t)rank)
        return false;
    const zlgi_json *length = shape->items;
    for (int axis = 0; axis < rank; axis++, length = length->next) {
        int64_t n;
        if (!zlgi_json_i64(length, &n) || n != edge->shape[axis])
            return false;
    }
    return true;
}

/* Type string and shape at the end of a document. Without axes it holds one item. */
static zlg_status check_document(const zlgi_json *document, size_t n, const zlgi_edge *edge,
                                 int rank, zlg_error *err)
{
    if (document->type != ZLGI_JSON_ARRAY || document->n_items != n + 2)
        return zlgi_fail(err, ZLG_CORRUPT,
                         "it is no list of %zu entries, a type and a shape", n);
    const zlgi_json *type = zlgi_json_at(document, (uint32_t)n);
    if (type->type != ZLGI_JSON_STRING)
        return zlgi_fail(err, ZLG_CORRUPT, "the last entry but one is no type string");
    if (!is_shape(type->next, edge, rank))
        return zlgi_fail(err, ZLG_CORRUPT, "the shape at its end is not that of the chunk");
    return ZLG_OK;
}

static zlg_status parse(zlgi_arena *arena, zlgi_bytes in, int64_t max_depth,
                        const zlgi_json **out, zlg_error *err)
{
    zlg_error own;
    zlg_status status =
        zlgi_json_parse(arena, (const char *)in.data, in.n, (int)max_depth, out, &own);
    if (status == ZLG_OK)
        return ZLG_OK;
    /* What is metadata elsewhere is data here. */
    return zlgi_fail(err, status == ZLG_METADATA ? ZLG_CORRUPT : status, "%s", own.message);
}

static zlg_status decode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_out *out,
                         zlg_error *err)
{
    /* An element takes two bytes at least: no large memory for a short document. */
    if (from->n_elements > in.n / 2)
        return zlgi_fail(err, ZLG_CORRUPT, "%zu bytes are too few for %zu items", in.n,
                         from->n_elements);
    zlgi_arena *arena = zlgi_kept(scratch, &kept_document);
    if (arena == NULL)
        return zlgi_no_memory(err, sizeof *arena);
    const int rank = step->from.rank;
    const size_t n = rank == 0 ? 1 : (size_t)from->shape[0];
    const zlgi_json *document;
    ZLGI_TRY(parse(arena, in, scratch->limits->json_depth, &document, err));
    ZLGI_TRY(check_document(document, n, from, rank, err));
    reader self = {.step = step, .edge = from, .err = err};
    ZLGI_TRY(zlgi_out_memory(out, from->n_bytes, &self.elements, err));
    ZLGI_TRY(read_entries(&self, document, n, 1));
    return zlgi_out_done(out, from->n_bytes, err);
}

/* ---------------------------------------------------------------------- encode */
static zlg_status write_double(zlgi_buf *out, double value, zlg_error *err)
{
    if (isfinite(value))
        return zlgi_json_write_double(out, value, err);
    const char *token = isnan(value) ? "NaN" : value < 0 ? "-Infinity" : "Infinity";
    return zlgi_buf_append(out, token, strlen(token), err);
}

static zlg_status write_item(zlgi_buf *out, const zlgi_item *item, zlg_error *err)
{
    switch (item->kind) {
    case ZLGI_ITEM_BOOL:
        return zlgi_buf_printf(out, err, "%s", item->integer ? "true" : "false");
    case ZLGI_ITEM_INT64:
        return zlgi_buf_printf(out, err, "%" PRId64, (int64_t)item->integer);
    case ZLGI_ITEM_UINT64:
        return zlgi_buf_printf(out, err, "%" PRIu64, item->integer);
    case ZLGI_ITEM_DOUBLE:
        return write_double(out, item->real, err);
    case ZLGI_ITEM_TEXT:
        return zlgi_json_write_string(out, (const char *)item->text.data, item->text.n,
                                      err);
    case ZLGI_ITEM_NOTHING:
    case ZLGI_ITEM_BYTES:
    case ZLGI_ITEM_LIST:
    case ZLGI_ITEM_OTHER:
        break;
    }
    return zlgi_fail(err, ZLG_UNSUPPORTED, "JSON has no byte strings");
}

typedef struct writer {
    const zlgi_step *step;
    const zlgi_edge *edge;
    const uint8_t *elements;
    size_t i;
    zlgi_buf *out, *text;
    zlg_error *err;
} writer;

static zlg_status write_entries(writer *self, size_t n, int axis)
{
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            ZLGI_TRY(zlgi_buf_append(self->out, ",", 1, self->err));
        if (axis < self->step->from.rank) {
            ZLGI_TRY(zlgi_buf_append(self->out, "[", 1, self->err));
            ZLGI_TRY(write_entries(self, (size_t)self->edge->shape[axis], axis + 1));
            ZLGI_TRY(zlgi_buf_append(self->out, "]", 1, self->err));
            continue;
        }
        zlgi_item item;
        ZLGI_TRY(zlgi_items_get(self->step->config, self->elements, self->i++, self->text,
                                &item, self->err));
        ZLGI_TRY(write_item(self->out, &item, self->err));
    }
    return ZLG_OK;
}

static zlg_status write_document(writer *self)
{
    const int rank = self->step->from.rank;
    const size_t n = rank == 0 ? 1 : (size_t)self->edge->shape[0];
    char type[32];
    zlgi_items_type_text(self->step->config, type);
    ZLGI_TRY(zlgi_buf_append(self->out, "[", 1, self->err));
    ZLGI_TRY(write_entries(self, n, 1));
    ZLGI_TRY(zlgi_buf_printf(self->out, self->err, "%s\"%s\",[", n > 0 ? "," : "", type));
    for (int axis = 0; axis < rank; axis++)
        ZLGI_TRY(zlgi_buf_printf(self->out, self->err, "%s%" PRId64, axis > 0 ? "," : "",
                                 self->edge->shape[axis]));
    return zlgi_buf_append(self->out, "]]", 2, self->err);
}

static zlg_status encode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_buf *out,
                         zlg_error *err)
{
    writer self = {.step = step, .edge = from, .elements = in.data, .out = out, .err = err};
    out->n = 0;
    self.text = zlgi_scratch_push(scratch);
    zlg_status status = write_document(&self);
    zlgi_scratch_pop(scratch);
    return status;
}

const zlgi_codec zlgi_codec_json2 = {
    .id = "json2",
    .kind = ZLGI_ARRAY_TO_BYTES,
    .pass = ZLGI_PASS_WHOLE,
    .flags = ZLGI_CODEC_VARLEN | ZLGI_CODEC_AXES,
    .configure = configure,
    .encode = encode,
    .decode = decode,
};
