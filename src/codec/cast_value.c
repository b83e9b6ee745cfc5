/*
 * cast_value: each number as the same number of another type, by stated rules of rounding
 * and range, with exceptions that a map lists (format.md §12.1; zarr-extensions,
 * "cast_value"). A number that no rule covers is an error; so is a fill value that does
 * not survive both ways, though only when an array is made.
 */
#include <math.h>

#include "codec/cast.h"

/* One direction. */
typedef struct direction {
    zlgi_elements from, to;
    zlgi_cast_target target;
    bool is_exact; /* every value has a counterpart */
    size_t n_mapped;
    const zlgi_number (*mapped)[2]; /* pairs of from and to */
} direction;

typedef struct cast_value {
    zlgi_rounding rounding;
    zlgi_out_of_range out_of_range;
    direction encode, decode;
} cast_value;

/* ---------------------------------------------------------------------- the cast */
static const zlgi_number *find_mapped(const direction *d, zlgi_wide wide,
                                      zlgi_number number)
{
    for (size_t i = 0; i < d->n_mapped; i++) {
        const zlgi_number *key = d->mapped[i];
        bool equal = wide == ZLGI_WIDE_DOUBLE
                         ? key->d == number.d || (isnan(key->d) && isnan(number.d))
                         : key->u == number.u;
        if (equal)
            return key + 1;
    }
    return NULL;
}

/* Every value has its counterpart, which a C conversion finds; the map goes first. */
static void cast_exactly(const direction *d, zlgi_wide wide, const zlgi_block *block,
                         size_t n, uint8_t *out)
{
    zlgi_elements_store(&d->to, wide, block, n, out);
    for (size_t i = 0; d->n_mapped > 0 && i < n; i++) {
        const zlgi_number *mapped = find_mapped(d, wide, (zlgi_number){.u = block->u[i]});
        if (mapped == NULL)
            continue;
        zlgi_block single;
        single.u[0] = mapped->u;
        zlgi_elements_store(&d->to, zlgi_wide_of(d->to.type), &single, 1,
                            out + i * d->to.n_bytes);
    }
}

/* In place. Returns how many were cast: n, or the index of one that cannot be. */
static size_t cast_by_rules(const cast_value *self, const direction *d, zlgi_wide wide,
                            zlgi_block *block, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        zlgi_number number = {.u = block->u[i]};
        const zlgi_number *mapped = find_mapped(d, wide, number);
        if (mapped != NULL)
            number = *mapped;
        else if (!zlgi_cast(number, wide, &d->target, self->rounding, self->out_of_range,
                            &number))
            return i;
        block->u[i] = number.u;
    }
    return n;
}

/* False at element *out_failed. */
static bool cast_elements(const cast_value *self, const direction *d, const uint8_t *in,
                          size_t n, uint8_t *out, size_t *out_failed)
{
    const zlgi_wide wide = zlgi_wide_of(d->from.type), to_wide = zlgi_wide_of(d->to.type);
    zlgi_block block;
    for (size_t i = 0; i < n; i += ZLGI_BLOCK) {
        size_t n_block = ZLGI_MIN(n - i, ZLGI_BLOCK);
        uint8_t *to = out + i * d->to.n_bytes;
        zlgi_elements_load(&d->from, in + i * d->from.n_bytes, n_block, &block);
        if (d->is_exact) {
            cast_exactly(d, wide, &block, n_block, to);
            continue;
        }
        size_t n_cast = cast_by_rules(self, d, wide, &block, n_block);
        if (n_cast < n_block) {
            *out_failed = i + n_cast;
            return false;
        }
        zlgi_elements_store(&d->to, to_wide, &block, n_block, to);
    }
    return true;
}

/* ---------------------------------------------------------------------- configuration */
static zlg_status check_members(const zlgi_json *object, const char *const *known,
                                zlg_error *err)
{
    for (const zlgi_json *m = object->items; m != NULL; m = m->next) {
        int i = 0;
        while (known[i] != NULL && strcmp(known[i], m->name) != 0)
            i++;
        if (known[i] == NULL)
            return zlgi_fail(err, ZLG_METADATA, "member \"%s\" is not known", m->name);
    }
    return ZLG_OK;
}

/* A scalar as a fill value; "+Infinity" stands in an example of the registry. */
static zlg_status read_scalar(const zlgi_json *json, const zlgi_elements *elements,
                              const zlgi_codec_env *env, zlgi_number *out, zlg_error *err)
{
    zlgi_json plain = *json;
    if (zlgi_json_is(json, "+Infinity"))
        plain.text++, plain.n_text--;
    zlgi_fill fill;
    zlgi_block block;
    ZLGI_TRY(zlgi_fill_parse_v3(env->arena, elements->dtype, &plain, &fill, err));
    zlgi_elements_load(elements, fill.data, 1, &block);
    out->u = block.u[0];
    return ZLG_OK;
}

static zlg_status read_map(const zlgi_json *list, const zlgi_codec_env *env, direction *d,
                           zlg_error *err)
{
    if (list == NULL)
        return ZLG_OK;
    if (list->type != ZLGI_JSON_ARRAY)
        return zlgi_fail(err, ZLG_METADATA, "it is not a list");
    size_t n_bytes = list->n_items * sizeof *d->mapped;
    zlgi_number(*mapped)[2] = zlgi_arena_get(env->arena, n_bytes);
    if (mapped == NULL)
        return zlgi_no_memory(err, n_bytes);
    for (const zlgi_json *pair = list->items; pair != NULL; pair = pair->next) {
        if (pair->type != ZLGI_JSON_ARRAY || pair->n_items != 2)
            return zlgi_fail(err, ZLG_METADATA, "an entry is no pair");
        ZLGI_TRY(read_scalar(pair->items, &d->from, env, &mapped[d->n_mapped][0], err));
        ZLGI_TRY(read_scalar(pair->items->next, &d->to, env, &mapped[d->n_mapped][1], err));
        d->n_mapped++;
    }
    d->mapped = (const zlgi_number(*)[2])mapped;
    return ZLG_OK;
}

static zlg_status read_maps(const zlgi_json *configuration, const zlgi_codec_env *env,
                            cast_value *self, zlg_error *err)
{
    static const char *const known[] = {"encode", "decode", NULL};
    const zlgi_json *maps = zlgi_json_get(configuration, "scalar_map");
    if (maps == NULL)
        return ZLG_OK;
    if (maps->type != ZLGI_JSON_OBJECT)
        return zlgi_fail(err, ZLG_METADATA, "\"scalar_map\" is not an object");
    zlg_status status = check_members(maps, known, err);
    if (status == ZLG_OK)
        status = read_map(zlgi_json_get(maps, "encode"), env, &self->encode, err);
    if (status == ZLG_OK)
        status = read_map(zlgi_json_get(maps, "decode"), env, &self->decode, err);
    return zlgi_within(err, status, "\"scalar_map\"");
}

static zlg_status read_type(const zlgi_dtype *dtype, zlgi_elements *out, zlg_error *err)
{
    bool is_real = zlgi_type_is_integer(dtype->type) || zlgi_type_is_float(dtype->type);
    if (!is_real)
        return zlgi_fail(err, ZLG_METADATA, "%s is no real number",
                         zlgi_type_name(dtype->type));
    return zlgi_elements_of(dtype, true, out, err);
}

static zlg_status read_rules(const zlgi_json *configuration, cast_value *self,
                             zlg_error *err)
{
    static const char *const roundings[] = {"nearest-even",     "towards-zero",
                                            "towards-positive", "towards-negative",
                                            "nearest-away",     NULL};
    static const char *const ranges[] = {"clamp", "wrap", NULL};
    int rounding, range;
    ZLGI_TRY(zlgi_config_choice(configuration, "rounding", roundings, 0, &rounding, err));
    ZLGI_TRY(zlgi_config_choice(configuration, "out_of_range", ranges, -1, &range, err));
    self->rounding = (zlgi_rounding)rounding;
    self->out_of_range = (zlgi_out_of_range)(range + 1);
    if (self->out_of_range == ZLGI_RANGE_WRAP &&
        !zlgi_type_is_integer(self->encode.to.type))
        return zlgi_fail(err, ZLG_METADATA,
                         "\"out_of_range\" is \"wrap\", but %s is no integer",
                         zlgi_type_name(self->encode.to.type));
    return ZLG_OK;
}

/* The fill value of edge `to`, and whether decoding it gives back that of `from`. */
static zlg_status cast_fill(zlgi_step *step, const zlgi_codec_env *env, zlg_error *err)
{
    const cast_value *self = step->config;
    const size_t n_bytes = self->encode.to.n_bytes;
    uint8_t *fill = zlgi_arena_get(env->arena, n_bytes), back[8];
    size_t i;
    if (fill == NULL)
        return zlgi_no_memory(err, n_bytes);
    if (!cast_elements(self, &self->encode, step->from.fill.data, 1, fill, &i))
        return zlgi_fail(err, ZLG_METADATA, "the fill value has no counterpart in %s",
                         zlgi_type_name(self->encode.to.type));
    step->to.fill = (zlgi_fill){.data = fill, .n = n_bytes};
    if (!env->writing)
        return ZLG_OK;
    if (cast_elements(self, &self->decode, fill, 1, back, &i)) {
        zlgi_block was, is;
        zlgi_elements_load(&self->encode.from, step->from.fill.data, 1, &was);
        zlgi_elements_load(&self->encode.from, back, 1, &is);
        bool both_nan = zlgi_wide_of(self->encode.from.type) == ZLGI_WIDE_DOUBLE &&
                        isnan(was.d[0]) && isnan(is.d[0]);
        if (was.u[0] == is.u[0] || both_nan)
            return ZLG_OK;
    }
    return zlgi_fail(err, ZLG_METADATA,
                     "the fill value does not come back from %s as it was",
                     zlgi_type_name(self->encode.to.type));
}

static zlg_status configure(zlgi_step *step, const zlgi_json *configuration,
                            const zlgi_codec_env *env, zlg_error *err)
{
    static const char *const known[] = {"data_type", "rounding", "out_of_range",
                                        "scalar_map", NULL};
    cast_value *self = zlgi_arena_get(env->arena, sizeof *self);
    if (self == NULL)
        return zlgi_no_memory(err, sizeof *self);
    memset(self, 0, sizeof *self);
    step->config = self;
    const zlgi_json *data_type = zlgi_json_get(configuration, "data_type");
    if (data_type == NULL)
        return zlgi_fail(err, ZLG_METADATA, "\"data_type\" is missing");
    ZLGI_TRY(check_members(configuration, known, err));
    ZLGI_TRY(zlgi_dtype_parse_v3(env->arena, data_type, &step->to.dtype, err));
    ZLGI_TRY(read_type(step->from.dtype, &self->encode.from, err));
    ZLGI_TRY(read_type(step->to.dtype, &self->encode.to, err));
    self->decode.from = self->encode.to;
    self->decode.to = self->encode.from;
    ZLGI_TRY(read_rules(configuration, self, err));
    ZLGI_TRY(read_maps(configuration, env, self, err));
    direction *const directions[] = {&self->encode, &self->decode};
    for (int i = 0; i < 2; i++) {
        direction *d = directions[i];
        zlgi_cast_target_init(&d->target, d->to.type);
        d->is_exact = zlgi_cast_is_exact(d->from.type, d->to.type);
    }
    return cast_fill(step, env, err);
}

/* ---------------------------------------------------------------------- chunks */
static zlg_status no_value(const direction *d, zlg_status status, const uint8_t *in,
                           size_t i, zlg_error *err)
{
    zlgi_block block;
    zlgi_wide wide = zlgi_wide_of(d->from.type);
    zlgi_elements_load(&d->from, in + i * d->from.n_bytes, 1, &block);
    zlgi_block_to_double(wide, &block, 1);
    return zlgi_fail(err, status, "element %zu, %.17g, has no counterpart in %s", i,
                     block.d[0], zlgi_type_name(d->to.type));
}

static zlg_status encode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_buf *out,
                         zlg_error *err)
{
    const cast_value *self = step->config;
    const size_t n_bytes = from->n_elements * self->encode.to.n_bytes;
    size_t i;
    (void)scratch;
    ZLGI_TRY(zlgi_buf_reserve(out, n_bytes, false, err));
    if (!cast_elements(self, &self->encode, in.data, from->n_elements, out->data, &i))
        return no_value(&self->encode, ZLG_USAGE, in.data, i, err);
    out->n = n_bytes;
    return ZLG_OK;
}

static zlg_status decode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_out *out,
                         zlg_error *err)
{
    const cast_value *self = step->config;
    uint8_t *memory;
    size_t i;
    (void)scratch;
    ZLGI_TRY(zlgi_out_memory(out, from->n_bytes, &memory, err));
    if (!cast_elements(self, &self->decode, in.data, from->n_elements, memory, &i))
        return no_value(&self->decode, ZLG_CORRUPT, in.data, i, err);
    return zlgi_out_done(out, from->n_bytes, err);
}

const zlgi_codec zlgi_codec_cast_value = {
    .name = "cast_value",
    .kind = ZLGI_ARRAY_TO_ARRAY,
    .pass = ZLGI_PASS_ELEMENTWISE,
    .configure = configure,
    .encode = encode,
    .decode = decode,
};
