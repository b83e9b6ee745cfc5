/*
 * msgpack2: a chunk as one MessagePack array of its items in nested arrays, the NumPy type
 * string and the shape (format.md §16; MessagePack specification, "Formats"). Text elements
 * point into the input.
 */
#include "codec/items.h"
#include "codec/parts.h"

typedef struct msgpack2 {
    zlgi_items items;
    bool single_float; /* write floats as float32 */
    bool bin_type;     /* write bytes as bin and short text as str 8, which are newer */
} msgpack2;

static zlg_status configure(zlgi_step *step, const zlgi_json *configuration,
                            const zlgi_codec_env *env, zlg_error *err)
{
    msgpack2 *self;
    ZLGI_TRY(zlgi_items_configure(step, sizeof *self, env, &self, err));
    ZLGI_TRY(zlgi_config_bool(configuration, "use_single_float", false, &self->single_float,
                              err));
    return zlgi_config_bool(configuration, "use_bin_type", true, &self->bin_type, err);
}

/* ---------------------------------------------------------------------- decode */
typedef struct reader {
    const zlgi_step *step;
    const zlgi_edge *edge;
    zlgi_bytes rest;
    uint8_t *elements;
    size_t i; /* next element */
    zlg_error *err;
} reader;

/* A big-endian number of n_bytes. */
static zlg_status read_number(reader *self, size_t n_bytes, uint64_t *out)
{
    *out = 0;
    if (self->rest.n < n_bytes)
        return zlgi_fail(self->err, ZLG_CORRUPT, "it ends at item %zu of %zu", self->i,
                         self->edge->n_elements);
    for (size_t i = 0; i < n_bytes; i++)
        *out = *out << 8 | self->rest.data[i];
    self->rest.data += n_bytes;
    self->rest.n -= n_bytes;
    return ZLG_OK;
}

/* What the first byte of a value says: its kind, and either how many bytes its number or
 * length takes (wide) or that number itself. Maps and extensions are `other`. */
typedef struct head {
    zlgi_item_kind kind;
    size_t wide;
    uint64_t value;
} head;

static head head_of(uint8_t byte)
{
    static const head heads[32] = {
        [0x00] = {ZLGI_ITEM_NOTHING, 0, 0}, [0x02] = {ZLGI_ITEM_BOOL, 0, 0},
        [0x03] = {ZLGI_ITEM_BOOL, 0, 1},    [0x04] = {ZLGI_ITEM_BYTES, 1, 0},
        [0x05] = {ZLGI_ITEM_BYTES, 2, 0},   [0x06] = {ZLGI_ITEM_BYTES, 4, 0},
        [0x0a] = {ZLGI_ITEM_DOUBLE, 4, 0},  [0x0b] = {ZLGI_ITEM_DOUBLE, 8, 0},
        [0x0c] = {ZLGI_ITEM_UINT64, 1, 0},  [0x0d] = {ZLGI_ITEM_UINT64, 2, 0},
        [0x0e] = {ZLGI_ITEM_UINT64, 4, 0},  [0x0f] = {ZLGI_ITEM_UINT64, 8, 0},
        [0x10] = {ZLGI_ITEM_INT64, 1, 0},   [0x11] = {ZLGI_ITEM_INT64, 2, 0},
        [0x12] = {ZLGI_ITEM_INT64, 4, 0},   [0x13] = {ZLGI_ITEM_INT64, 8, 0},
        [0x19] = {ZLGI_ITEM_TEXT, 1, 0},    [0x1a] = {ZLGI_ITEM_TEXT, 2, 0},
        [0x1b] = {ZLGI_ITEM_TEXT, 4, 0},    [0x1c] = {ZLGI_ITEM_LIST, 2, 0},
        [0x1d] = {ZLGI_ITEM_LIST, 4, 0}};
    if (byte < 0x80)
        return (head){ZLGI_ITEM_INT64, 0, byte};
    if (byte >= 0xe0)
        return (head){ZLGI_ITEM_INT64, 0, (uint64_t)(int64_t)(int8_t)byte};
    if (byte < 0x90)
        return (head){ZLGI_ITEM_OTHER, 0, 0};
    if (byte < 0xa0)
        return (head){ZLGI_ITEM_LIST, 0, byte & 0x0f};
    if (byte < 0xc0)
        return (head){ZLGI_ITEM_TEXT, 0, byte & 0x1f};
    return heads[byte - 0xc0];
}

static double to_double(uint64_t bits, size_t n_bytes)
{
    uint32_t word = (uint32_t)bits;
    float single;
    double real;
    memcpy(&single, &word, sizeof single);
    memcpy(&real, &bits, sizeof real);
    return n_bytes == 4 ? (double)single : real;
}

static zlg_status read_item(reader *self, zlgi_item *out)
{
    uint64_t byte, value;
    ZLGI_TRY(read_number(self, 1, &byte));
    head first = head_of((uint8_t)byte);
    value = first.value;
    if (first.wide > 0)
        ZLGI_TRY(read_number(self, first.wide, &value));
    *out = (zlgi_item){.kind = first.kind, .integer = value};
    if (first.kind == ZLGI_ITEM_INT64 && first.wide > 0) {
        unsigned n_above = 64 - 8 * (unsigned)first.wide;
        out->integer = (uint64_t)((int64_t)(value << n_above) >> n_above);
    } else if (first.kind == ZLGI_ITEM_DOUBLE) {
        out->real = to_double(value, first.wide);
    } else if (first.kind == ZLGI_ITEM_LIST) {
        out->text.n = (size_t)value;
    } else if (first.kind == ZLGI_ITEM_TEXT || first.kind == ZLGI_ITEM_BYTES) {
        if (value > self->rest.n)
            return zlgi_fail(self->err, ZLG_CORRUPT,
                             "item %zu has %zu bytes, but %zu are left", self->i,
                             (size_t)value, self->rest.n);
        out->text = (zlgi_view){.data = self->rest.data, .n = (size_t)value};
        self->rest.data += value;
        self->rest.n -= (size_t)value;
    }
    return ZLG_OK;
}

static zlg_status read_list(reader *self, size_t n_expected)
{
    zlgi_item list;
    ZLGI_TRY(read_item(self, &list));
    if (list.kind != ZLGI_ITEM_LIST || list.text.n != n_expected)
        return zlgi_fail(self->err, ZLG_CORRUPT, "no array of %zu where the shape has one",
                         n_expected);
    return ZLG_OK;
}

static zlg_status read_entries(reader *self, size_t n, int axis)
{
    for (size_t i = 0; i < n; i++) {
        if (axis < self->step->from.rank) {
            size_t n_inner = (size_t)self->edge->shape[axis];
            ZLGI_TRY(read_list(self, n_inner));
            ZLGI_TRY(read_entries(self, n_inner, axis + 1));
            continue;
        }
        zlgi_item item;
        ZLGI_TRY(read_item(self, &item));
        ZLGI_TRY(zlgi_items_put(self->step->config, &item, self->i++, self->elements,
                                self->err));
    }
    return ZLG_OK;
}

/* Type string and shape; nothing may follow. */
static zlg_status read_end(reader *self)
{
    const int rank = self->step->from.rank;
    zlgi_item item;
    ZLGI_TRY(read_item(self, &item));
    if (item.kind != ZLGI_ITEM_TEXT && item.kind != ZLGI_ITEM_BYTES)
        return zlgi_fail(self->err, ZLG_CORRUPT, "no type string follows the items");
    ZLGI_TRY(read_list(self, (size_t)rank));
    for (int axis = 0; axis < rank; axis++) {
        ZLGI_TRY(read_item(self, &item));
        bool is_integer = item.kind == ZLGI_ITEM_INT64 || item.kind == ZLGI_ITEM_UINT64;
        if (!is_integer || item.integer != (uint64_t)self->edge->shape[axis])
            return zlgi_fail(self->err, ZLG_CORRUPT,
                             "the shape at its end is not that of the chunk");
    }
    if (self->rest.n > 0)
        return zlgi_fail(self->err, ZLG_CORRUPT, "%zu bytes follow its end", self->rest.n);
    return ZLG_OK;
}

static zlg_status decode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_out *out,
                         zlg_error *err)
{
    const size_t n = step->from.rank == 0 ? 1 : (size_t)from->shape[0];
    reader self = {.step = step, .edge = from, .rest = in, .err = err};
    (void)scratch;
    /* An element takes one byte at least: no large memory for a short document. */
    if (from->n_elements > in.n)
        return zlgi_fail(err, ZLG_CORRUPT, "%zu bytes are too few for %zu items", in.n,
                         from->n_elements);
    ZLGI_TRY(read_list(&self, n + 2));
    ZLGI_TRY(zlgi_out_memory(out, from->n_bytes, &self.elements, err));
    ZLGI_TRY(read_entries(&self, n, 1));
    ZLGI_TRY(read_end(&self));
    return zlgi_out_done(out, from->n_bytes, err);
}

/* ---------------------------------------------------------------------- encode */
typedef struct writer {
    const zlgi_step *step;
    const zlgi_edge *edge;
    const uint8_t *elements;
    size_t i;
    zlgi_buf *out, *text;
    zlg_error *err;
} writer;

/* First byte, then a big-endian number of n_bytes. */
static zlg_status write_head(writer *self, unsigned first, uint64_t value, size_t n_bytes)
{
    uint8_t bytes[9] = {(uint8_t)first};
    for (size_t i = 0; i < n_bytes; i++)
        bytes[1 + i] = (uint8_t)(value >> 8 * (n_bytes - 1 - i));
    return zlgi_buf_append(self->out, bytes, 1 + n_bytes, self->err);
}

/* The shortest of the forms for 8, 16, 32, 64 bits; their first bytes follow each other. */
static zlg_status write_width(writer *self, unsigned first, uint64_t value, bool fits[3])
{
    unsigned i = fits[0] ? 0 : fits[1] ? 1 : fits[2] ? 2 : 3;
    return write_head(self, first + i, value, (size_t)1 << i);
}

static zlg_status write_integer(writer *self, uint64_t value, bool is_negative)
{
    int64_t i = (int64_t)value;
    if (is_negative && i >= -32)
        return write_head(self, (unsigned)(value & 0xff), 0, 0);
    if (is_negative)
        return write_width(self, 0xd0, value,
                           (bool[]){i >= INT8_MIN, i >= INT16_MIN, i >= INT32_MIN});
    if (value < 0x80)
        return write_head(self, (unsigned)value, 0, 0);
    return write_width(
        self, 0xcc, value,
        (bool[]){value <= UINT8_MAX, value <= UINT16_MAX, value <= UINT32_MAX});
}

static zlg_status write_double(writer *self, double value)
{
    const msgpack2 *config = self->step->config;
    float single = (float)value;
    uint32_t word;
    uint64_t bits;
    memcpy(&word, &single, sizeof word);
    memcpy(&bits, &value, sizeof bits);
    return config->single_float ? write_head(self, 0xca, word, 4)
                                : write_head(self, 0xcb, bits, 8);
}

static zlg_status write_text(writer *self, const zlgi_view *text, bool is_bytes)
{
    const msgpack2 *config = self->step->config;
    if (text->n > UINT32_MAX)
        return zlgi_fail(self->err, ZLG_LIMIT,
                         "item %zu has %zu bytes, but lengths have 32 bits", self->i,
                         text->n);
    if (is_bytes && config->bin_type)
        ZLGI_TRY(write_width(self, 0xc4, text->n,
                             (bool[]){text->n <= UINT8_MAX, text->n <= UINT16_MAX, true}));
    else if (text->n < 32)
        ZLGI_TRY(write_head(self, 0xa0 | (unsigned)text->n, 0, 0));
    else
        ZLGI_TRY(write_width(self, 0xd9, text->n,
                             (bool[]){config->bin_type && text->n <= UINT8_MAX,
                                      text->n <= UINT16_MAX, true}));
    return zlgi_buf_append(self->out, text->data, text->n, self->err);
}

static zlg_status write_list(writer *self, size_t n)
{
    if (n > UINT32_MAX)
        return zlgi_fail(self->err, ZLG_LIMIT, "%zu items, but the count has 32 bits", n);
    if (n < 16)
        return write_head(self, 0x90 | (unsigned)n, 0, 0);
    return n <= UINT16_MAX ? write_head(self, 0xdc, n, 2) : write_head(self, 0xdd, n, 4);
}

static zlg_status write_item(writer *self, const zlgi_item *item)
{
    switch (item->kind) {
    case ZLGI_ITEM_BOOL:
        return write_head(self, item->integer ? 0xc3 : 0xc2, 0, 0);
    case ZLGI_ITEM_INT64:
        return write_integer(self, item->integer, (int64_t)item->integer < 0);
    case ZLGI_ITEM_UINT64:
        return write_integer(self, item->integer, false);
    case ZLGI_ITEM_DOUBLE:
        return write_double(self, item->real);
    case ZLGI_ITEM_TEXT:
    case ZLGI_ITEM_BYTES:
        return write_text(self, &item->text, item->kind == ZLGI_ITEM_BYTES);
    case ZLGI_ITEM_NOTHING:
    case ZLGI_ITEM_LIST:
    case ZLGI_ITEM_OTHER:
        break;
    }
    return zlgi_fail(self->err, ZLG_UNSUPPORTED, "an item of this kind cannot be written");
}

static zlg_status write_entries(writer *self, size_t n, int axis)
{
    for (size_t i = 0; i < n; i++) {
        if (axis < self->step->from.rank) {
            ZLGI_TRY(write_list(self, (size_t)self->edge->shape[axis]));
            ZLGI_TRY(write_entries(self, (size_t)self->edge->shape[axis], axis + 1));
            continue;
        }
        zlgi_item item;
        ZLGI_TRY(zlgi_items_get(self->step->config, self->elements, self->i++, self->text,
                                &item, self->err));
        ZLGI_TRY(write_item(self, &item));
    }
    return ZLG_OK;
}

static zlg_status write_document(writer *self)
{
    const int rank = self->step->from.rank;
    const size_t n = rank == 0 ? 1 : (size_t)self->edge->shape[0];
    char type[32];
    zlgi_items_type_text(self->step->config, type);
    ZLGI_TRY(write_list(self, n + 2));
    ZLGI_TRY(write_entries(self, n, 1));
    zlgi_view text = {.data = (const uint8_t *)type, .n = strlen(type)};
    ZLGI_TRY(write_text(self, &text, false));
    ZLGI_TRY(write_list(self, (size_t)rank));
    for (int axis = 0; axis < rank; axis++)
        ZLGI_TRY(write_integer(self, (uint64_t)self->edge->shape[axis], false));
    return ZLG_OK;
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

const zlgi_codec zlgi_codec_msgpack2 = {
    .id = "msgpack2",
    .kind = ZLGI_ARRAY_TO_BYTES,
    .pass = ZLGI_PASS_WHOLE,
    .flags = ZLGI_CODEC_VARLEN | ZLGI_CODEC_AXES,
    .configure = configure,
    .encode = encode,
    .decode = decode,
};
