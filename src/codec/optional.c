/*
 * optional: elements that may be missing, as a mask and the elements that are there, each
 * through a chain of its own (zarr-extensions, "optional", as zarrs writes it). Stored are
 * u64le bytes of the encoded mask, u64le bytes of the encoded elements, then both. The mask
 * is bool and has the shape of the chunk; the elements are one axis, and without any
 * nothing is stored for them.
 *
 * The data type of that name is not known here. On a plain data type what is missing is
 * the fill value: it decodes to it, and elements equal to it are not stored.
 */
#include "codec/vlen.h"

enum { HEADER = 16 };

typedef struct optional {
    zlgi_chain *mask, *data;
} optional;

static const zlgi_context_type kept_text = {zlgi_kept_make, zlgi_kept_destroy};

static zlg_status parse_chain(const zlgi_json *configuration, const char *name,
                              const zlgi_codec_env *env, const zlgi_dtype *dtype, int rank,
                              zlgi_chain **out, zlg_error *err)
{
    const zlgi_json *codecs = zlgi_json_get(configuration, name);
    if (codecs == NULL)
        return zlgi_fail(err, ZLG_METADATA, "\"%s\" is missing", name);
    zlgi_codec_env inner = *env;
    inner.depth++;
    zlgi_edge_type from = {.dtype = dtype, .rank = rank};
    ZLGI_TRY(zlgi_fill_zero(env->arena, dtype, &from.fill, err));
    return zlgi_within(err, zlgi_chain_parse(&inner, codecs, &from, out, err), "\"%s\"",
                       name);
}

static zlg_status configure(zlgi_step *step, const zlgi_json *configuration,
                            const zlgi_codec_env *env, zlg_error *err)
{
    optional *self = zlgi_arena_get(env->arena, sizeof *self);
    if (self == NULL)
        return zlgi_no_memory(err, sizeof *self);
    step->config = self;
    ZLGI_TRY(parse_chain(configuration, "mask_codecs", env, zlgi_dtype_plain(ZLG_BOOL),
                         step->from.rank, &self->mask, err));
    return parse_chain(configuration, "data_codecs", env, step->from.dtype, 1, &self->data,
                       err);
}

static size_t count_present(const uint8_t *mask, size_t n)
{
    size_t n_present = 0;
    for (size_t i = 0; i < n; i++)
        n_present += mask[i] != 0;
    return n_present;
}

/* Chains in chains may use up the buffers of the worker. */
static zlg_status check_depth(const zlgi_scratch *scratch, size_t n_bufs, zlg_error *err)
{
    if ((size_t)scratch->n_spare_used + n_bufs > ZLGI_COUNT(scratch->spare))
        return zlgi_fail(err, ZLG_LIMIT, "codecs are nested too deep");
    return ZLG_OK;
}

/* The fill value as an element lies in a buffer. */
static const uint8_t *fill_slot(const zlgi_step *step, zlgi_view *view)
{
    *view = (zlgi_view){.data = step->from.fill.data, .n = step->from.fill.n};
    bool is_varlen = zlgi_dtype_is_varlen(step->from.dtype);
    return is_varlen ? (const uint8_t *)view : step->from.fill.data;
}

/* ---------------------------------------------------------------------- decode */
/* Moves what views point at to where the next use of a scratch buffer leaves it alone. */
static zlg_status keep_text(zlgi_scratch *scratch, uint8_t *views, size_t n, zlg_error *err)
{
    zlgi_arena *arena = zlgi_kept(scratch, &kept_text);
    size_t n_bytes = 0;
    zlgi_view view;
    for (size_t i = 0; i < n; i++) {
        memcpy(&view, views + i * sizeof view, sizeof view);
        if (!zlgi_add_size(n_bytes, view.n, &n_bytes))
            return zlgi_no_memory(err, SIZE_MAX);
    }
    uint8_t *memory = arena ? zlgi_arena_get(arena, n_bytes) : NULL;
    if (memory == NULL)
        return zlgi_no_memory(err, n_bytes);
    for (size_t i = 0; i < n; i++) {
        memcpy(&view, views + i * sizeof view, sizeof view);
        if (view.n > 0)
            memcpy(memory, view.data, view.n);
        view.data = memory;
        memory += view.n;
        memcpy(views + i * sizeof view, &view, sizeof view);
    }
    return ZLG_OK;
}

/* The elements that are there, one after the other. */
static zlg_status decode_present(const zlgi_step *step, zlgi_scratch *scratch,
                                 zlgi_bytes in, size_t n_present, zlgi_buf *buf,
                                 zlg_error *err)
{
    const optional *self = step->config;
    if (n_present == 0)
        return in.n == 0 ? ZLG_OK
                         : zlgi_fail(err, ZLG_CORRUPT, "%zu bytes for no element", in.n);
    const int64_t shape = (int64_t)n_present;
    zlgi_layout layout;
    ZLGI_TRY(zlgi_chain_layout(self->data, &shape, &layout, err));
    ZLGI_TRY(zlgi_buf_reserve(buf, layout.edge[0].n_bytes, false, err));
    zlg_status status =
        zlgi_chain_decode_full(self->data, &layout, scratch, in, buf->data, err);
    ZLGI_TRY(zlgi_within(err, status, "\"data_codecs\""));
    return zlgi_dtype_is_varlen(step->from.dtype)
               ? keep_text(scratch, buf->data, n_present, err)
               : ZLG_OK;
}

static zlg_status decode_mask(const optional *self, zlgi_scratch *scratch,
                              const zlgi_edge *from, zlgi_bytes in, zlgi_buf *buf,
                              zlg_error *err)
{
    zlgi_layout layout;
    ZLGI_TRY(zlgi_chain_layout(self->mask, from->shape, &layout, err));
    ZLGI_TRY(zlgi_buf_reserve(buf, ZLGI_MAX(from->n_elements, 1), false, err));
    zlg_status status =
        zlgi_chain_decode_full(self->mask, &layout, scratch, in, buf->data, err);
    return zlgi_within(err, status, "\"mask_codecs\"");
}

static zlg_status decode_with(const zlgi_step *step, zlgi_scratch *scratch,
                              const zlgi_edge *from, zlgi_bytes in, zlgi_buf *mask,
                              zlgi_buf *present, zlgi_out *out, zlg_error *err)
{
    if (in.n < HEADER)
        return zlgi_fail(err, ZLG_CORRUPT, "%zu bytes hold no header of %d", in.n, HEADER);
    const uint64_t n_mask = zlgi_load_u64le(in.data), n_data = zlgi_load_u64le(in.data + 8);
    const size_t n_rest = in.n - HEADER;
    if (n_mask > n_rest || n_data != n_rest - n_mask)
        return zlgi_fail(err, ZLG_CORRUPT,
                         "%llu bytes of mask and %llu of data are announced, "
                         "%zu are there",
                         (unsigned long long)n_mask, (unsigned long long)n_data, n_rest);
    uint8_t *memory;
    ZLGI_TRY(zlgi_out_memory(out, from->n_bytes, &memory, err));
    const zlgi_bytes encoded_mask = {in.data + HEADER, (size_t)n_mask};
    const zlgi_bytes encoded_data = {in.data + HEADER + n_mask, (size_t)n_data};
    ZLGI_TRY(decode_mask(step->config, scratch, from, encoded_mask, mask, err));
    ZLGI_TRY(decode_present(step, scratch, encoded_data,
                            count_present(mask->data, from->n_elements), present, err));
    const size_t slot = zlgi_dtype_slot(step->from.dtype);
    zlgi_view view;
    const uint8_t *fill = fill_slot(step, &view), *next = present->data;
    for (size_t i = 0; i < from->n_elements; i++) {
        memcpy(memory + i * slot, mask->data[i] ? next : fill, slot);
        if (mask->data[i])
            next += slot;
    }
    return zlgi_out_done(out, from->n_bytes, err);
}

static zlg_status decode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_out *out,
                         zlg_error *err)
{
    ZLGI_TRY(check_depth(scratch, 2, err));
    zlgi_buf *mask = zlgi_scratch_push(scratch), *present = zlgi_scratch_push(scratch);
    zlg_status status = decode_with(step, scratch, from, in, mask, present, out, err);
    zlgi_scratch_pop(scratch);
    zlgi_scratch_pop(scratch);
    return status;
}

/* ---------------------------------------------------------------------- encode */
static bool is_fill(const zlgi_step *step, const uint8_t *element)
{
    const zlgi_fill *fill = &step->from.fill;
    zlgi_view view = {.data = element, .n = step->from.dtype->n_bytes};
    if (zlgi_dtype_is_varlen(step->from.dtype))
        memcpy(&view, element, sizeof view);
    return view.n == fill->n && (view.n == 0 || memcmp(view.data, fill->data, view.n) == 0);
}

static zlg_status append_header(zlgi_buf *out, size_t n_mask, size_t n_data, zlg_error *err)
{
    uint8_t header[HEADER];
    zlgi_store_u64le(header, n_mask);
    zlgi_store_u64le(header + 8, n_data);
    out->n = 0;
    return zlgi_buf_append(out, header, sizeof header, err);
}

/* bufs: mask, elements that are there, and both encoded. */
static zlg_status encode_with(const zlgi_step *step, zlgi_scratch *scratch,
                              const zlgi_edge *from, zlgi_bytes in, zlgi_buf *bufs[4],
                              zlgi_buf *out, zlg_error *err)
{
    const optional *self = step->config;
    const size_t slot = zlgi_dtype_slot(step->from.dtype), n = from->n_elements;
    zlgi_buf *mask = bufs[0], *present = bufs[1];
    ZLGI_TRY(zlgi_buf_reserve(mask, ZLGI_MAX(n, 1), false, err));
    ZLGI_TRY(zlgi_buf_reserve(present, in.n, false, err));
    for (size_t i = 0; i < n; i++) {
        mask->data[i] = !is_fill(step, in.data + i * slot);
        if (mask->data[i])
            ZLGI_TRY(zlgi_buf_append(present, in.data + i * slot, slot, err));
    }
    zlgi_layout layout;
    ZLGI_TRY(zlgi_chain_layout(self->mask, from->shape, &layout, err));
    ZLGI_TRY(zlgi_chain_encode_full(self->mask, &layout, scratch,
                                    (zlgi_bytes){mask->data, n}, bufs[2], err));
    if (present->n > 0) {
        const int64_t shape = (int64_t)(present->n / slot);
        ZLGI_TRY(zlgi_chain_layout(self->data, &shape, &layout, err));
        ZLGI_TRY(zlgi_chain_encode_full(self->data, &layout, scratch,
                                        (zlgi_bytes){present->data, present->n}, bufs[3],
                                        err));
    }
    ZLGI_TRY(append_header(out, bufs[2]->n, bufs[3]->n, err));
    ZLGI_TRY(zlgi_buf_append(out, bufs[2]->data, bufs[2]->n, err));
    return zlgi_buf_append(out, bufs[3]->data, bufs[3]->n, err);
}

static zlg_status encode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_buf *out,
                         zlg_error *err)
{
    zlgi_buf *bufs[4];
    ZLGI_TRY(check_depth(scratch, ZLGI_COUNT(bufs), err));
    for (size_t i = 0; i < ZLGI_COUNT(bufs); i++)
        bufs[i] = zlgi_scratch_push(scratch);
    zlg_status status = encode_with(step, scratch, from, in, bufs, out, err);
    for (size_t i = 0; i < ZLGI_COUNT(bufs); i++)
        zlgi_scratch_pop(scratch);
    return status;
}

const zlgi_codec zlgi_codec_optional = {
    .name = "optional",
    .alias = "zarrs.optional",
    .kind = ZLGI_ARRAY_TO_BYTES,
    .pass = ZLGI_PASS_WHOLE,
    .flags = ZLGI_CODEC_VARLEN | ZLGI_CODEC_AXES,
    .configure = configure,
    .encode = encode,
    .decode = decode,
};
