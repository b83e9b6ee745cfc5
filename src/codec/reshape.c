/*
 * reshape: the same elements in the same C order under another shape (format.md §12.1).
 * An output axis is a length, the product of neighbouring input axes, or, once, whatever
 * is left (-1). No byte moves.
 */
#include "codec/codec.h"

typedef struct axis {
    int64_t length;  /* 0: product of input axes; -1: what is left */
    int first, last; /* input axes, last excluded; both 0 without any */
} axis;

typedef struct reshape {
    int rank;
    axis axes[ZLG_MAX_RANK];
} reshape;

/* [1, 2]: input axes, each after all that were named before. */
static zlg_status read_input_axes(const zlgi_json *list, int rank, int *next, axis *out,
                                  zlg_error *err)
{
    *out = (axis){.length = 0};
    for (const zlgi_json *item = list->items; item != NULL; item = item->next) {
        int64_t i;
        if (!zlgi_json_i64(item, &i) || i < *next || i >= rank)
            return zlgi_fail(err, ZLG_METADATA,
                             "\"shape\" names input axes that do not rise "
                             "from 0 to %d",
                             rank - 1);
        if (item == list->items)
            out->first = (int)i;
        else if (i != *next)
            return zlgi_fail(err, ZLG_UNSUPPORTED, "\"shape\" leaves out input axis %d",
                             *next);
        *next = out->last = (int)i + 1;
    }
    return ZLG_OK;
}

static zlg_status configure(zlgi_step *step, const zlgi_json *configuration,
                            const zlgi_codec_env *env, zlg_error *err)
{
    reshape *self = zlgi_arena_get(env->arena, sizeof *self);
    if (self == NULL)
        return zlgi_no_memory(err, sizeof *self);
    step->config = self;
    const zlgi_json *shape = zlgi_json_get(configuration, "shape");
    if (shape == NULL || shape->type != ZLGI_JSON_ARRAY)
        return zlgi_fail(err, ZLG_METADATA, "\"shape\" is not a list");
    if (shape->n_items > ZLG_MAX_RANK)
        return zlgi_fail(err, ZLG_LIMIT, "%u axes, at most %d are known", shape->n_items,
                         ZLG_MAX_RANK);
    int next = 0, n_left = 0;
    self->rank = 0;
    for (const zlgi_json *item = shape->items; item != NULL; item = item->next) {
        axis *out = &self->axes[self->rank++];
        if (item->type == ZLGI_JSON_ARRAY) {
            ZLGI_TRY(read_input_axes(item, step->from.rank, &next, out, err));
            continue;
        }
        *out = (axis){0};
        if (!zlgi_json_i64(item, &out->length) || out->length < -1 || out->length == 0)
            return zlgi_fail(err, ZLG_METADATA,
                             "\"shape\" holds what is no length, no list of "
                             "axes and not -1");
        n_left += out->length == -1;
    }
    if (n_left > 1)
        return zlgi_fail(err, ZLG_METADATA, "\"shape\" holds -1 more than once");
    step->to.rank = self->rank;
    return ZLG_OK;
}

static zlg_status too_large(zlg_error *err)
{
    return zlgi_fail(err, ZLG_LIMIT, "a chunk of more than 2^63 elements");
}

/* An axis made of input axes must hold exactly their positions in C order. */
static zlg_status check_axis(const reshape *self, int i, const zlgi_edge *from, int rank,
                             const int64_t *shape, zlg_error *err)
{
    const axis *a = &self->axes[i];
    int64_t before, input_before, after, input_after;
    if (!zlgi_product(shape, i, &before) ||
        !zlgi_product(from->shape, a->first, &input_before) ||
        !zlgi_product(shape + i + 1, self->rank - i - 1, &after) ||
        !zlgi_product(from->shape + a->last, rank - a->last, &input_after))
        return too_large(err);
    if (before != input_before || after != input_after)
        return zlgi_fail(err, ZLG_METADATA,
                         "output axis %d is not where its input axes are", i);
    return ZLG_OK;
}

static zlg_status resolve(const zlgi_step *step, const zlgi_edge *from, zlgi_edge *to,
                          zlg_error *err)
{
    const reshape *self = step->config;
    int64_t n = 1;
    int i_left = -1;
    for (int i = 0; i < self->rank; i++) {
        const axis *a = &self->axes[i];
        to->shape[i] = a->length;
        if (a->length == 0 &&
            !zlgi_product(from->shape + a->first, a->last - a->first, &to->shape[i]))
            return too_large(err);
        if (a->length == -1)
            i_left = i;
        else if (!zlgi_mul_i64(n, to->shape[i], &n))
            return too_large(err);
    }
    int64_t n_input = (int64_t)from->n_elements;
    if (i_left >= 0) {
        to->shape[i_left] = n > 0 ? n_input / n : 0;
        n *= to->shape[i_left];
    }
    if (n != n_input)
        return zlgi_fail(err, ZLG_METADATA,
                         "%lld elements do not take the shape that is asked "
                         "for",
                         (long long)n_input);
    for (int i = 0; i < self->rank; i++)
        if (self->axes[i].last > 0)
            ZLGI_TRY(check_axis(self, i, from, step->from.rank, to->shape, err));
    return ZLG_OK;
}

static zlg_status encode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_buf *out,
                         zlg_error *err)
{
    (void)step, (void)scratch, (void)from;
    ZLGI_TRY(zlgi_buf_reserve(out, in.n, false, err));
    return zlgi_buf_append(out, in.data, in.n, err);
}

static zlg_status decode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_out *out,
                         zlg_error *err)
{
    (void)step, (void)scratch, (void)from;
    return zlgi_out_view(out, in.data, in.n, err);
}

const zlgi_codec zlgi_codec_reshape = {
    .name = "reshape",
    .kind = ZLGI_ARRAY_TO_ARRAY,
    .pass = ZLGI_PASS_WHOLE,
    .flags = ZLGI_CODEC_VARLEN | ZLGI_CODEC_AXES,
    .configure = configure,
    .resolve = resolve,
    .encode = encode,
    .decode = decode,
};
