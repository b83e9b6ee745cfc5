/*
 * transpose: axes in another order (version 3 core; format.md §7.2). Axis i after it is
 * axis order[i] before it. Early writers wrote "C" for no change and "F" for reversed axes;
 * a version 2 array of order F is one that starts with "F".
 *
 * At the front of a chain it is folded into strides; decode and encode here serve a
 * transpose behind another array codec.
 */
#include "codec/parts.h"

static zlg_status read_order(const zlgi_json *value, int rank, int *out, zlg_error *err)
{
    bool reversed = zlgi_json_is(value, "F");
    if (reversed || zlgi_json_is(value, "C")) {
        for (int i = 0; i < rank; i++)
            out[i] = reversed ? rank - 1 - i : i;
        return ZLG_OK;
    }
    if (value->type != ZLGI_JSON_ARRAY)
        return zlgi_fail(err, ZLG_METADATA, "\"order\" is not a list");
    if (value->n_items != (uint32_t)rank)
        return zlgi_fail(err, ZLG_METADATA, "\"order\" has %u axes, the chunk has %d",
                         value->n_items, rank);
    bool seen[ZLG_MAX_RANK] = {false};
    int n = 0;
    for (const zlgi_json *item = value->items; item; item = item->next) {
        int64_t axis;
        if (!zlgi_json_i64(item, &axis) || axis < 0 || axis >= rank || seen[axis])
            return zlgi_fail(err, ZLG_METADATA, "\"order\" is no permutation of 0 to %d",
                             rank - 1);
        seen[axis] = true;
        out[n++] = (int)axis;
    }
    return ZLG_OK;
}

static zlg_status configure(zlgi_step *step, const zlgi_json *configuration,
                            const zlgi_codec_env *env, zlg_error *err)
{
    zlgi_transpose *config = zlgi_arena_get(env->arena, sizeof *config);
    if (!config)
        return zlgi_no_memory(err, sizeof *config);
    step->config = config;
    const zlgi_json *order = configuration ? zlgi_json_get(configuration, "order") : NULL;
    if (!order)
        return zlgi_fail(err, ZLG_METADATA, "\"order\" is missing");
    return read_order(order, step->from.rank, config->order, err);
}

static zlg_status resolve(const zlgi_step *step, const zlgi_edge *from, zlgi_edge *to,
                          zlg_error *err)
{
    const zlgi_transpose *config = step->config;
    (void)err;
    for (int i = 0; i < step->from.rank; i++)
        to->shape[i] = from->shape[config->order[i]];
    return ZLG_OK;
}

/* Bytes per axis of edge `from` in a buffer of edge `to`. */
static void permuted_strides(const zlgi_step *step, const zlgi_edge *from, size_t item,
                             ptrdiff_t *out)
{
    const zlgi_transpose *config = step->config;
    ptrdiff_t stride = (ptrdiff_t)item;
    for (int i = step->from.rank - 1; i >= 0; i--) {
        out[config->order[i]] = stride;
        stride *= (ptrdiff_t)from->shape[config->order[i]];
    }
}

static const zlgi_swap no_swap;

static zlg_status encode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_buf *out,
                         zlg_error *err)
{
    const int rank = step->from.rank;
    const size_t item = zlgi_dtype_slot(step->from.dtype);
    ptrdiff_t here[ZLG_MAX_RANK], there[ZLG_MAX_RANK];
    zlgi_use use;
    (void)scratch;
    ZLGI_TRY(zlgi_buf_reserve(out, in.n, false, err));
    zlgi_box_strides(rank, from->shape, item, here);
    permuted_strides(step, from, item, there);
    zlgi_box_use(rank, from->shape, out->data, there, &use);
    zlgi_place(&use, in.data, here, item, &no_swap);
    out->n = in.n;
    return ZLG_OK;
}

static zlg_status decode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_out *out,
                         zlg_error *err)
{
    const int rank = step->from.rank;
    const size_t item = zlgi_dtype_slot(step->from.dtype);
    ptrdiff_t here[ZLG_MAX_RANK], there[ZLG_MAX_RANK];
    zlgi_use use;
    uint8_t *memory;
    (void)scratch;
    ZLGI_TRY(zlgi_out_memory(out, in.n, &memory, err));
    zlgi_box_strides(rank, from->shape, item, here);
    permuted_strides(step, from, item, there);
    zlgi_box_use(rank, from->shape, memory, here, &use);
    zlgi_place(&use, in.data, there, item, &no_swap);
    return zlgi_out_done(out, in.n, err);
}

const zlgi_codec zlgi_codec_transpose = {
    .name = "transpose",
    .kind = ZLGI_ARRAY_TO_ARRAY,
    .pass = ZLGI_PASS_TRANSPOSE,
    .flags = ZLGI_CODEC_VARLEN | ZLGI_CODEC_AXES,
    .configure = configure,
    .resolve = resolve,
    .encode = encode,
    .decode = decode,
};
