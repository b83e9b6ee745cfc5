/*
 * Filters: configuration, sizes and memory of the codecs whose work is a loop over
 * numbers. Knows that both sides have the same number of elements; refuses to know what
 * the loop does.
 */
#include <math.h>

#include "codec/filter.h"

static zlg_status describe_output(zlgi_step *step, const zlgi_filter *filter,
                                  zlg_error *err)
{
    const zlgi_elements *decoded = &filter->decoded, *encoded = &filter->encoded;
    if (step->from.dtype == NULL) {
        step->to.item = zlgi_elements_bytes(encoded);
        step->to.holds = encoded->dtype;
        return ZLG_OK;
    }
    if (step->from.dtype->n_bytes != zlgi_elements_bytes(decoded))
        return zlgi_fail(err, ZLG_METADATA,
                         "elements of %zu bytes are configured, those of %s "
                         "have %zu",
                         zlgi_elements_bytes(decoded),
                         zlgi_type_name(step->from.dtype->type), step->from.dtype->n_bytes);
    /* Times stay times where the bits do not change their meaning. */
    step->to.dtype = decoded->type == encoded->type ? step->from.dtype : encoded->dtype;
    return ZLG_OK;
}

zlg_status zlgi_filter_configure(zlgi_step *step, size_t n_bytes,
                                 const zlgi_json *configuration, const char *decoded,
                                 const char *encoded, bool real, const zlgi_codec_env *env,
                                 void *out_config, zlg_error *err)
{
    zlgi_filter *filter = zlgi_arena_get(env->arena, n_bytes);
    if (filter == NULL)
        return zlgi_no_memory(err, n_bytes);
    memset(filter, 0, n_bytes);
    bool typed = step->from.dtype != NULL;
    zlgi_elements own;
    if (typed)
        ZLGI_TRY(zlgi_elements_of(step->from.dtype, true, &own, err));
    ZLGI_TRY(zlgi_elements_member(configuration, decoded, typed, typed ? &own : NULL, env,
                                  &filter->decoded, err));
    filter->encoded = filter->decoded;
    if (encoded != NULL)
        ZLGI_TRY(zlgi_elements_member(configuration, encoded, typed, &filter->decoded, env,
                                      &filter->encoded, err));
    if (filter->decoded.n_parts != filter->encoded.n_parts ||
        (real && filter->decoded.n_parts != 1))
        return zlgi_fail(err, ZLG_UNSUPPORTED, "complex numbers are not known here");
    ZLGI_TRY(describe_output(step, filter, err));
    step->config = filter;
    *(zlgi_filter **)out_config = filter;
    return ZLG_OK;
}

zlg_status zlgi_filter_fill(zlgi_step *step, zlgi_filter_loop encode,
                            const zlgi_codec_env *env, zlg_error *err)
{
    if (step->from.dtype == NULL)
        return ZLG_OK;
    const zlgi_filter *filter = step->config;
    size_t n_bytes = zlgi_elements_bytes(&filter->encoded);
    uint8_t *data = zlgi_arena_get(env->arena, n_bytes);
    if (data == NULL)
        return zlgi_no_memory(err, n_bytes);
    encode(filter, step->from.fill.data, 1, data);
    step->to.fill = (zlgi_fill){.data = data, .n = n_bytes};
    return ZLG_OK;
}

/* Room for an element of any type: a complex number. */
typedef struct element {
    uint8_t data[2 * sizeof(double)];
} element;

/* 2^exponent, or 0 below the least exponent, as it could be stored. */
enum { LEAST_EXPONENT = -16, MOST_EXPONENT = 1023 };
static element stored_power(const zlgi_elements *elements, int exponent)
{
    zlgi_block block;
    element stored = {{0}};
    zlgi_wide wide = zlgi_wide_of(elements->type);
    for (size_t i = 0; i < elements->n_parts; i++)
        if (wide == ZLGI_WIDE_DOUBLE)
            block.d[i] = exponent < LEAST_EXPONENT ? 0 : ldexp(1, exponent);
        else
            block.u[i] = exponent < 0 || exponent > 63 ? 0 : UINT64_C(1) << exponent;
    zlgi_elements_store(elements, wide, &block, elements->n_parts, stored.data);
    return stored;
}

static bool is_finite(const zlgi_elements *elements, const element *value)
{
    zlgi_block block;
    zlgi_elements_load(elements, value->data, 1, &block);
    return zlgi_wide_of(elements->type) != ZLGI_WIDE_DOUBLE || isfinite(block.d[0]);
}

/* Looks for two numbers that come back as they are, among those that powers of two in the
 * encoded form stand for. */
zlg_status zlgi_filter_try(const zlgi_step *step, zlgi_filter_loop encode,
                           zlgi_filter_loop decode, const zlgi_codec_env *env,
                           zlg_error *err)
{
    const zlgi_filter *filter = step->config;
    const zlgi_elements *decoded = &filter->decoded;
    element kept = {{0}};
    bool has_kept = false;
    for (int i = LEAST_EXPONENT - 1; env->writing && i <= MOST_EXPONENT; i++) {
        element value = {{0}}, again = {{0}}, stored = stored_power(&filter->encoded, i);
        decode(filter, stored.data, 1, value.data);
        encode(filter, value.data, 1, stored.data);
        decode(filter, stored.data, 1, again.data);
        if (memcmp(&value, &again, sizeof value) != 0 || !is_finite(decoded, &value))
            continue;
        if (has_kept && memcmp(&value, &kept, sizeof value) != 0)
            return ZLG_OK;
        has_kept = true;
        kept = value;
    }
    if (env->writing)
        return zlgi_fail(err, ZLG_METADATA,
                         "no two numbers could be told apart once they are encoded");
    return ZLG_OK;
}

zlg_status zlgi_filter_resolve(const zlgi_step *step, const zlgi_edge *from, zlgi_edge *to,
                               zlg_error *err)
{
    const zlgi_filter *filter = step->config;
    size_t item = zlgi_elements_bytes(&filter->decoded);
    if (from->n_bytes == ZLGI_UNKNOWN) {
        to->n_bytes = ZLGI_UNKNOWN;
        return ZLG_OK;
    }
    if (from->n_bytes % item != 0)
        return zlgi_fail(err, ZLG_METADATA,
                         "%zu bytes are no whole number of elements of %zu", from->n_bytes,
                         item);
    if (!zlgi_mul_size(from->n_bytes / item, zlgi_elements_bytes(&filter->encoded),
                       &to->n_bytes))
        return zlgi_fail(err, ZLG_LIMIT, "the size of an encoded chunk overflows");
    return ZLG_OK;
}

static zlg_status count(const zlgi_elements *elements, size_t n_bytes, size_t *out,
                        zlg_error *err)
{
    size_t item = zlgi_elements_bytes(elements);
    if (n_bytes % item != 0)
        return zlgi_fail(err, ZLG_CORRUPT,
                         "%zu bytes are no whole number of elements of %zu", n_bytes, item);
    *out = n_bytes / item;
    return ZLG_OK;
}

zlg_status zlgi_filter_encode(const zlgi_step *step, zlgi_bytes in, zlgi_buf *out,
                              zlgi_filter_loop encode, zlg_error *err)
{
    const zlgi_filter *filter = step->config;
    size_t n = 0, n_bytes;
    ZLGI_TRY(count(&filter->decoded, in.n, &n, err));
    if (!zlgi_mul_size(n, zlgi_elements_bytes(&filter->encoded), &n_bytes))
        return zlgi_fail(err, ZLG_LIMIT, "the size of an encoded chunk overflows");
    ZLGI_TRY(zlgi_buf_reserve(out, n_bytes, false, err));
    encode(filter, in.data, n, out->data);
    out->n = n_bytes;
    return ZLG_OK;
}

zlg_status zlgi_filter_decode(const zlgi_step *step, zlgi_bytes in, zlgi_out *out,
                              zlgi_filter_loop decode, zlg_error *err)
{
    const zlgi_filter *filter = step->config;
    size_t n = 0, n_bytes;
    ZLGI_TRY(count(&filter->encoded, in.n, &n, err));
    if (!zlgi_mul_size(n, zlgi_elements_bytes(&filter->decoded), &n_bytes))
        return zlgi_fail(err, ZLG_LIMIT, "the size of a decoded chunk overflows");
    uint8_t *memory;
    ZLGI_TRY(zlgi_out_memory(out, n_bytes, &memory, err));
    decode(filter, in.data, n, memory);
    return zlgi_out_done(out, n_bytes, err);
}
