/*
 * fixedscaleoffset: (x - offset) * scale, rounded to the nearest integer, ties to even,
 * and cast to `astype`; back: x / scale + offset, cast to `dtype` (format.md §16). As in
 * NumPy the arithmetic is that of the numbers at hand: float16 and float32 stay what they
 * are, integers are divided as float64 but wrap around where only integers meet.
 */
#include <math.h>

#include "codec/filter.h"

typedef struct fixedscaleoffset {
    zlgi_filter filter;
    double offset, scale;
    bool offset_is_integer, scale_is_integer; /* as written: 10, not 10.0 */
    uint64_t integer_offset, integer_scale;   /* modulo 2^64 */
} fixedscaleoffset;

static zlg_type arithmetic(zlg_type type)
{
    return zlgi_type_is_float(type) ? type : ZLG_FLOAT64;
}

static void decode_elements(const void *config, const uint8_t *in, size_t n, uint8_t *out)
{
    const fixedscaleoffset *self = config;
    const zlgi_elements *decoded = &self->filter.decoded, *encoded = &self->filter.encoded;
    zlgi_block block;
    for (size_t i = 0; i < n; i += ZLGI_BLOCK) {
        size_t n_block = ZLGI_MIN(n - i, ZLGI_BLOCK);
        zlgi_elements_load(encoded, in + i * encoded->n_bytes, n_block, &block);
        zlgi_block_to_double(zlgi_wide_of(encoded->type), &block, n_block);
        zlgi_block_unscale(arithmetic(encoded->type), self->offset, self->scale, n_block,
                           &block);
        zlgi_elements_store(decoded, ZLGI_WIDE_DOUBLE, &block, n_block,
                            out + i * decoded->n_bytes);
    }
}

/* Integers with integers: x * factor + term in their own type. */
static void wrap(const zlgi_elements *type, uint64_t factor, uint64_t term, size_t n,
                 zlgi_block *block)
{
    uint8_t wrapped[sizeof *block];
    zlgi_elements native = {.type = type->type, .n_bytes = type->n_bytes};
    for (size_t i = 0; i < n; i++)
        block->u[i] = block->u[i] * factor + term;
    zlgi_elements_store(&native, zlgi_wide_of(type->type), block, n, wrapped);
    zlgi_elements_load(&native, wrapped, n, block);
}

static void encode_elements(const void *config, const uint8_t *in, size_t n, uint8_t *out)
{
    const fixedscaleoffset *self = config;
    const zlgi_elements *decoded = &self->filter.decoded, *encoded = &self->filter.encoded;
    zlgi_block block;
    for (size_t i = 0; i < n; i += ZLGI_BLOCK) {
        size_t n_block = ZLGI_MIN(n - i, ZLGI_BLOCK);
        zlgi_wide wide = zlgi_wide_of(decoded->type);
        bool wraps = zlgi_type_is_integer(decoded->type) && self->offset_is_integer;
        zlgi_elements_load(decoded, in + i * decoded->n_bytes, n_block, &block);
        if (wraps)
            wrap(decoded, 1, -self->integer_offset, n_block, &block);
        if (wraps && self->scale_is_integer) {
            wrap(decoded, self->integer_scale, 0, n_block, &block);
        } else {
            zlgi_block_to_double(wide, &block, n_block);
            zlgi_block_scale(arithmetic(decoded->type), wraps ? 0 : self->offset,
                             self->scale, n_block, &block);
            for (size_t k = 0; k < n_block; k++)
                block.d[k] = rint(block.d[k]);
            wide = ZLGI_WIDE_DOUBLE;
        }
        zlgi_elements_store(encoded, wide, &block, n_block, out + i * encoded->n_bytes);
    }
}

static zlg_status number(const zlgi_json *configuration, const char *name, double *out,
                         bool *out_is_integer, uint64_t *out_integer, zlg_error *err)
{
    const zlgi_json *member = configuration ? zlgi_json_get(configuration, name) : NULL;
    if (member == NULL || !zlgi_json_double(member, out))
        return zlgi_fail(err, ZLG_METADATA, "\"%s\" is %s", name,
                         member ? "not a number" : "missing");
    int64_t integer;
    *out_is_integer = true;
    if (zlgi_json_i64(member, &integer))
        *out_integer = (uint64_t)integer;
    else
        *out_is_integer = zlgi_json_u64(member, out_integer);
    return ZLG_OK;
}

static zlg_status configure(zlgi_step *step, const zlgi_json *configuration,
                            const zlgi_codec_env *env, zlg_error *err)
{
    fixedscaleoffset *self;
    ZLGI_TRY(zlgi_filter_configure(step, sizeof *self, configuration, "dtype", "astype",
                                   true, env, &self, err));
    ZLGI_TRY(number(configuration, "offset", &self->offset, &self->offset_is_integer,
                    &self->integer_offset, err));
    ZLGI_TRY(number(configuration, "scale", &self->scale, &self->scale_is_integer,
                    &self->integer_scale, err));
    if (env->writing && self->scale == 0)
        return zlgi_fail(err, ZLG_METADATA, "\"scale\" is 0");
    ZLGI_TRY(zlgi_filter_try(step, encode_elements, decode_elements, env, err));
    return zlgi_filter_fill(step, encode_elements, env, err);
}

static zlg_status encode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_buf *out,
                         zlg_error *err)
{
    (void)scratch, (void)from;
    return zlgi_filter_encode(step, in, out, encode_elements, err);
}

static zlg_status decode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_out *out,
                         zlg_error *err)
{
    (void)scratch, (void)from;
    return zlgi_filter_decode(step, in, out, decode_elements, err);
}

const zlgi_codec zlgi_codec_fixedscaleoffset = {
    .id = "fixedscaleoffset",
    .kind = ZLGI_ARRAY_TO_ARRAY,
    .pass = ZLGI_PASS_ELEMENTWISE,
    .flags = ZLGI_CODEC_ON_BYTES,
    .configure = configure,
    .resolve = zlgi_filter_resolve,
    .encode = encode,
    .decode = decode,
};
