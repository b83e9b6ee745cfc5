/*
 * categorize: text as small integers, i + 1 for labels[i] and 0 for everything else, which
 * decodes to "" (format.md §16). Elements are strings (dtype "|O") or fixed-length UTF-32
 * ("U"), where labels are cut to what fits. Codes without a label are refused.
 */
#include "codec/elements.h"
#include "codec/text.h"

typedef struct label {
    zlgi_view utf8;
    const uint32_t *points;
    size_t n_points;
} label;

typedef struct categorize {
    zlgi_elements codes;
    const label *labels;
    size_t n_labels;
} categorize;

static zlg_status read_label(const zlgi_json *item, const zlgi_codec_env *env, label *out,
                             zlg_error *err)
{
    if (item->type != ZLGI_JSON_STRING ||
        !zlgi_utf8_valid((const uint8_t *)item->text, item->n_text))
        return zlgi_fail(err, ZLG_METADATA, "a label is not text");
    char *text = zlgi_arena_text(env->arena, item->text, item->n_text);
    uint32_t *points = zlgi_arena_get(env->arena, (size_t)item->n_text * sizeof *points);
    if (text == NULL || points == NULL)
        return zlgi_no_memory(err, item->n_text);
    out->utf8 = (zlgi_view){.data = (uint8_t *)text, .n = item->n_text};
    out->points = points;
    out->n_points = zlgi_utf32_from_utf8(out->utf8.data, out->utf8.n, points);
    return ZLG_OK;
}

static zlg_status configure(zlgi_step *step, const zlgi_json *configuration,
                            const zlgi_codec_env *env, zlg_error *err)
{
    zlg_type type = step->from.dtype->type;
    if (type != ZLG_STRING && type != ZLG_FIXED_UTF32)
        return zlgi_fail(err, ZLG_METADATA, "it takes text, not %s", zlgi_type_name(type));
    const zlgi_json *list = zlgi_json_get(configuration, "labels");
    if (list == NULL || list->type != ZLGI_JSON_ARRAY)
        return zlgi_fail(err, ZLG_METADATA, "\"labels\" is not a list");
    if (env->writing && list->n_items == 0)
        return zlgi_fail(err, ZLG_METADATA,
                         "\"labels\" is empty, and no text could be read back");
    size_t n_bytes = sizeof(categorize) + list->n_items * sizeof(label);
    categorize *self = zlgi_arena_get(env->arena, n_bytes);
    if (self == NULL)
        return zlgi_no_memory(err, n_bytes);
    label *labels = (label *)(self + 1);
    size_t n = 0;
    for (const zlgi_json *item = list->items; item != NULL; item = item->next)
        ZLGI_TRY(read_label(item, env, &labels[n++], err));
    self->labels = labels;
    self->n_labels = n;
    step->config = self;

    zlgi_elements codes;
    ZLGI_TRY(zlgi_elements_of(zlgi_dtype_plain(ZLG_UINT8), true, &codes, err));
    ZLGI_TRY(zlgi_elements_member(configuration, "astype", false, &codes, env, &self->codes,
                                  err));
    if (!zlgi_type_is_integer(self->codes.type))
        return zlgi_fail(err, ZLG_METADATA, "codes are %s, not integers",
                         zlgi_type_name(self->codes.type));
    size_t n_bits = self->codes.n_bytes * 8 - zlgi_type_is_signed(self->codes.type);
    if (n_bits < 32 && n >> n_bits > 0)
        return zlgi_fail(err, ZLG_METADATA, "%zu labels are more than %zu bits can count",
                         n, n_bits);
    return ZLG_OK;
}

static zlg_status resolve(const zlgi_step *step, const zlgi_edge *from, zlgi_edge *to,
                          zlg_error *err)
{
    const categorize *self = step->config;
    if (!zlgi_mul_size(from->n_elements, self->codes.n_bytes, &to->n_bytes))
        return zlgi_fail(err, ZLG_LIMIT, "the size of an encoded chunk overflows");
    return ZLG_OK;
}

/* The code of an element. Of equal labels the last counts, as in numcodecs. */
static size_t find_code(const categorize *self, const zlgi_dtype *dtype,
                        const uint8_t *element)
{
    zlgi_view view = {.data = element, .n = dtype->n_bytes};
    if (dtype->type == ZLG_STRING)
        memcpy(&view, element, sizeof view);
    else
        view.n = zlgi_utf32_length(element, dtype->n_bytes) * 4;
    for (size_t i = self->n_labels; i > 0; i--) {
        const label *l = &self->labels[i - 1];
        const void *text =
            dtype->type == ZLG_STRING ? (const void *)l->utf8.data : l->points;
        size_t n = dtype->type == ZLG_STRING ? l->utf8.n : l->n_points * 4;
        if (n == view.n && (n == 0 || memcmp(text, view.data, n) == 0))
            return i;
    }
    return 0;
}

static zlg_status encode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_buf *out,
                         zlg_error *err)
{
    const categorize *self = step->config;
    const zlgi_dtype *dtype = step->from.dtype;
    const size_t slot = zlgi_dtype_slot(dtype);
    (void)scratch;
    ZLGI_TRY(zlgi_buf_reserve(out, from->n_elements * self->codes.n_bytes, false, err));
    zlgi_block block;
    for (size_t i = 0; i < from->n_elements; i += ZLGI_BLOCK) {
        size_t n_block = ZLGI_MIN(from->n_elements - i, ZLGI_BLOCK);
        for (size_t k = 0; k < n_block; k++)
            block.u[k] = find_code(self, dtype, in.data + (i + k) * slot);
        zlgi_elements_store(&self->codes, ZLGI_WIDE_UINT64, &block, n_block,
                            out->data + i * self->codes.n_bytes);
    }
    out->n = from->n_elements * self->codes.n_bytes;
    return ZLG_OK;
}

static void put_label(const zlgi_dtype *dtype, const label *l, uint8_t *to)
{
    if (dtype->type == ZLG_STRING) {
        memcpy(to, &l->utf8, sizeof l->utf8);
        return;
    }
    size_t n = ZLGI_MIN(l->n_points * 4, dtype->n_bytes);
    if (n > 0)
        memcpy(to, l->points, n);
    memset(to + n, 0, dtype->n_bytes - n);
}

static zlg_status decode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_out *out,
                         zlg_error *err)
{
    static const uint32_t nothing[1] = {0};
    static const label none = {.utf8 = {.data = (const uint8_t *)""}, .points = nothing};
    const categorize *self = step->config;
    const zlgi_dtype *dtype = step->from.dtype;
    const size_t slot = zlgi_dtype_slot(dtype);
    (void)scratch;
    if (in.n / self->codes.n_bytes != from->n_elements || in.n % self->codes.n_bytes != 0)
        return zlgi_fail(err, ZLG_CORRUPT, "%zu bytes of codes, %zu expected", in.n,
                         from->n_elements * self->codes.n_bytes);
    uint8_t *memory;
    ZLGI_TRY(zlgi_out_memory(out, from->n_bytes, &memory, err));
    zlgi_block block;
    for (size_t i = 0; i < from->n_elements; i += ZLGI_BLOCK) {
        size_t n_block = ZLGI_MIN(from->n_elements - i, ZLGI_BLOCK);
        zlgi_elements_load(&self->codes, in.data + i * self->codes.n_bytes, n_block,
                           &block);
        for (size_t k = 0; k < n_block; k++) {
            uint64_t code = block.u[k];
            if (code > self->n_labels)
                return zlgi_fail(err, ZLG_CORRUPT, "code %lld at element %zu has no label",
                                 (long long)code, i + k);
            put_label(dtype, code == 0 ? &none : &self->labels[code - 1],
                      memory + (i + k) * slot);
        }
    }
    return zlgi_out_done(out, from->n_bytes, err);
}

const zlgi_codec zlgi_codec_categorize = {
    .id = "categorize",
    .kind = ZLGI_ARRAY_TO_BYTES,
    .pass = ZLGI_PASS_WHOLE,
    .flags = ZLGI_CODEC_VARLEN,
    .configure = configure,
    .resolve = resolve,
    .encode = encode,
    .decode = decode,
};
