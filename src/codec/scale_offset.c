/*
 * scale_offset: (x - offset) * scale, and back x / scale + offset, in the arithmetic of
 * the data type itself (format.md §12.1; zarr-extensions, "scale_offset"). What the type
 * cannot hold is an error, in between too: integers that overflow or do not divide evenly,
 * and, in floats without infinities, whatever is too large. Floats with infinities round
 * and overflow as IEEE 754 has it.
 */
#include "codec/cast.h"

typedef struct scale_offset {
    zlgi_elements elements;
    zlgi_number offset, scale; /* in the wide form of the type */
    bool has_infinity;         /* float types */
    zlgi_cast_target target;
} scale_offset;

/* ---------------------------------------------------------------------- one number */
/* The result of an operation as a float type without infinities has it. */
static bool settle(const scale_offset *self, double value, double *out)
{
    zlgi_number number = {.d = value};
    bool fits = zlgi_cast(number, ZLGI_WIDE_DOUBLE, &self->target, ZLGI_NEAREST_EVEN,
                          ZLGI_RANGE_ERROR, &number);
    *out = number.d;
    return fits;
}

static bool encode_float(const scale_offset *self, double *x)
{
    return settle(self, *x - self->offset.d, x) && settle(self, *x * self->scale.d, x);
}

static bool decode_float(const scale_offset *self, double *x)
{
    return settle(self, *x / self->scale.d, x) && settle(self, *x + self->offset.d, x);
}

static bool encode_uint64(const scale_offset *self, uint64_t *x)
{
    return !__builtin_sub_overflow(*x, self->offset.u, x) &&
           !__builtin_mul_overflow(*x, self->scale.u, x);
}

static bool decode_uint64(const scale_offset *self, uint64_t *x)
{
    if (*x % self->scale.u != 0)
        return false;
    return !__builtin_add_overflow(*x / self->scale.u, self->offset.u, x);
}

static bool in_range(const zlgi_integer_range *range, int64_t x)
{
    return x >= range->least && (x < 0 || (uint64_t)x <= range->most);
}

static bool encode_int64(const scale_offset *self, int64_t *x)
{
    const zlgi_integer_range *range = &self->target.range;
    return !__builtin_sub_overflow(*x, self->offset.i, x) && in_range(range, *x) &&
           !__builtin_mul_overflow(*x, self->scale.i, x) && in_range(range, *x);
}

static bool decode_int64(const scale_offset *self, int64_t *x)
{
    const zlgi_integer_range *range = &self->target.range;
    /* The one quotient that C cannot form. */
    if (*x == INT64_MIN && self->scale.i == -1)
        return false;
    if (*x % self->scale.i != 0)
        return false;
    *x /= self->scale.i;
    return in_range(range, *x) && !__builtin_add_overflow(*x, self->offset.i, x) &&
           in_range(range, *x);
}

/* ---------------------------------------------------------------------- many */
static bool run_number(const scale_offset *self, bool decoding, zlgi_block *block, size_t i)
{
    switch (zlgi_wide_of(self->elements.type)) {
    case ZLGI_WIDE_DOUBLE:
        return decoding ? decode_float(self, &block->d[i])
                        : encode_float(self, &block->d[i]);
    case ZLGI_WIDE_UINT64:
        return decoding ? decode_uint64(self, &block->u[i])
                        : encode_uint64(self, &block->u[i]);
    case ZLGI_WIDE_INT64:
        break;
    }
    return decoding ? decode_int64(self, &block->i[i]) : encode_int64(self, &block->i[i]);
}

/* Returns how many came out well: n, or the index of one that did not. */
static size_t run_block(const scale_offset *self, bool decoding, zlgi_block *block,
                        size_t n)
{
    const zlg_type type = self->elements.type;
    if (self->has_infinity) {
        void (*loop)(zlg_type, double, double, size_t, zlgi_block *) =
            decoding ? zlgi_block_unscale : zlgi_block_scale;
        loop(type, self->offset.d, self->scale.d, n, block);
        return n;
    }
    size_t i = 0;
    while (i < n && run_number(self, decoding, block, i))
        i++;
    return i;
}

/* False at element *out_failed. */
static bool run(const scale_offset *self, bool decoding, const uint8_t *in, size_t n,
                uint8_t *out, size_t *out_failed)
{
    const size_t item = self->elements.n_bytes;
    const zlgi_wide wide = zlgi_wide_of(self->elements.type);
    zlgi_block block;
    for (size_t i = 0; i < n; i += ZLGI_BLOCK) {
        size_t n_block = ZLGI_MIN(n - i, ZLGI_BLOCK);
        zlgi_elements_load(&self->elements, in + i * item, n_block, &block);
        size_t n_run = run_block(self, decoding, &block, n_block);
        if (n_run < n_block) {
            *out_failed = i + n_run;
            return false;
        }
        zlgi_elements_store(&self->elements, wide, &block, n_block, out + i * item);
    }
    return true;
}

/* ---------------------------------------------------------------------- configuration */
static zlg_status read_scalar(const zlgi_json *configuration, const char *name,
                              const scale_offset *self, const zlgi_codec_env *env,
                              zlgi_number *out, zlg_error *err)
{
    const zlgi_json *member = zlgi_json_get(configuration, name);
    if (member == NULL)
        return ZLG_OK;
    zlgi_fill fill;
    zlgi_block block;
    zlg_status status =
        zlgi_fill_parse_v3(env->arena, self->elements.dtype, member, &fill, err);
    if (status != ZLG_OK)
        return zlgi_within(err, status, "\"%s\"", name);
    zlgi_elements_load(&self->elements, fill.data, 1, &block);
    out->u = block.u[0];
    return ZLG_OK;
}

static zlg_status configure(zlgi_step *step, const zlgi_json *configuration,
                            const zlgi_codec_env *env, zlg_error *err)
{
    scale_offset *self = zlgi_arena_get(env->arena, sizeof *self);
    if (self == NULL)
        return zlgi_no_memory(err, sizeof *self);
    *self = (scale_offset){.offset.u = 0};
    step->config = self;
    const zlgi_dtype *dtype = step->from.dtype;
    const bool is_float = zlgi_type_is_float(dtype->type);
    if (!is_float && !zlgi_type_is_integer(dtype->type))
        return zlgi_fail(err, ZLG_METADATA, "%s is no real number",
                         zlgi_type_name(dtype->type));
    ZLGI_TRY(zlgi_elements_of(dtype, true, &self->elements, err));
    zlgi_cast_target_init(&self->target, dtype->type);
    self->has_infinity = is_float && zlgi_type_float_layout(dtype->type)->has_infinity;
    if (is_float)
        self->scale.d = 1;
    else
        self->scale.u = 1;
    if (configuration != NULL)
        for (const zlgi_json *m = configuration->items; m != NULL; m = m->next)
            if (strcmp(m->name, "offset") != 0 && strcmp(m->name, "scale") != 0)
                return zlgi_fail(err, ZLG_METADATA, "member \"%s\" is not known", m->name);
    ZLGI_TRY(read_scalar(configuration, "offset", self, env, &self->offset, err));
    ZLGI_TRY(read_scalar(configuration, "scale", self, env, &self->scale, err));
    if (is_float ? self->scale.d == 0 : self->scale.u == 0)
        return zlgi_fail(err, ZLG_METADATA, "\"scale\" is 0");
    uint8_t *fill = zlgi_arena_get(env->arena, dtype->n_bytes);
    size_t i;
    if (fill == NULL)
        return zlgi_no_memory(err, dtype->n_bytes);
    if (!run(self, false, step->from.fill.data, 1, fill, &i))
        return zlgi_fail(err, ZLG_METADATA, "the fill value, offset and scaled, is no %s",
                         zlgi_type_name(dtype->type));
    step->to.fill = (zlgi_fill){.data = fill, .n = dtype->n_bytes};
    return ZLG_OK;
}

static zlg_status encode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_buf *out,
                         zlg_error *err)
{
    size_t i;
    (void)scratch;
    ZLGI_TRY(zlgi_buf_reserve(out, in.n, false, err));
    if (!run(step->config, false, in.data, from->n_elements, out->data, &i))
        return zlgi_fail(err, ZLG_USAGE,
                         "element %zu, offset and scaled, is outside the range of dtype %s",
                         i, zlgi_type_name(step->from.dtype->type));
    out->n = in.n;
    return ZLG_OK;
}

/* Why element i did not scale back: true for an integer that is no multiple. */
static bool leaves_remainder(const scale_offset *self, const uint8_t *in, size_t i)
{
    zlgi_block block;
    zlgi_elements_load(&self->elements, in + i * self->elements.n_bytes, 1, &block);
    switch (zlgi_wide_of(self->elements.type)) {
    case ZLGI_WIDE_DOUBLE:
        return false;
    case ZLGI_WIDE_UINT64:
        return block.u[0] % self->scale.u != 0;
    case ZLGI_WIDE_INT64:
        break;
    }
    return self->scale.i != -1 && block.i[0] % self->scale.i != 0;
}

static zlg_status decode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_out *out,
                         zlg_error *err)
{
    uint8_t *memory;
    size_t i;
    (void)scratch;
    ZLGI_TRY(zlgi_out_memory(out, from->n_bytes, &memory, err));
    if (!run(step->config, true, in.data, from->n_elements, memory, &i))
        return zlgi_fail(err, ZLG_CORRUPT,
                         leaves_remainder(step->config, in.data, i)
                             ? "element %zu does not scale back to a %s: non-zero remainder"
                             : "element %zu, scaled back, is outside the range of dtype %s",
                         i, zlgi_type_name(step->from.dtype->type));
    return zlgi_out_done(out, from->n_bytes, err);
}

const zlgi_codec zlgi_codec_scale_offset = {
    .name = "scale_offset",
    .kind = ZLGI_ARRAY_TO_ARRAY,
    .pass = ZLGI_PASS_ELEMENTWISE,
    .configure = configure,
    .encode = encode,
    .decode = decode,
};
