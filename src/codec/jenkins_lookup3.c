/*
 * jenkins_lookup3: Bob Jenkins' hash of 2006 ("hashlittle") over a prefix and the data,
 * behind the data (numcodecs "jenkins_lookup3"; format.md §16).
 */
#include "codec/parts.h"

typedef struct lookup3_config {
    uint32_t initial;
    zlgi_bytes prefix;
} lookup3_config;

static uint32_t rotated(uint32_t x, int n)
{
    return x << n | x >> (32 - n);
}

/* One of the steps that stir three words: the rotations are the hash's choice. */
static void stir(uint32_t *x, uint32_t *y, uint32_t *z, int n)
{
    *x = (*x - *z) ^ rotated(*z, n);
    *z += *y;
}

static void stir_last(uint32_t *x, uint32_t *y, int n)
{
    *x = (*x ^ *y) - rotated(*y, n);
}

uint32_t zlgi_lookup3(const void *data, size_t n, uint32_t initial)
{
    const uint8_t *p = data;
    uint32_t a = 0xdeadbeef + (uint32_t)n + initial, b = a, c = a;
    if (n == 0)
        return c;
    for (; n > 12; p += 12, n -= 12) {
        a += zlgi_load_u32le(p);
        b += zlgi_load_u32le(p + 4);
        c += zlgi_load_u32le(p + 8);
        stir(&a, &b, &c, 4);
        stir(&b, &c, &a, 6);
        stir(&c, &a, &b, 8);
        stir(&a, &b, &c, 16);
        stir(&b, &c, &a, 19);
        stir(&c, &a, &b, 4);
    }
    uint8_t last[12] = {0};
    memcpy(last, p, n);
    a += zlgi_load_u32le(last);
    b += zlgi_load_u32le(last + 4);
    c += zlgi_load_u32le(last + 8);
    stir_last(&c, &b, 14);
    stir_last(&a, &c, 11);
    stir_last(&b, &a, 25);
    stir_last(&c, &b, 16);
    stir_last(&a, &c, 4);
    stir_last(&b, &a, 14);
    stir_last(&c, &b, 24);
    return c;
}

static zlg_status configure(zlgi_step *step, const zlgi_json *configuration,
                            const zlgi_codec_env *env, zlg_error *err)
{
    int64_t initial;
    lookup3_config *config = zlgi_arena_get(env->arena, sizeof *config);
    if (!config)
        return zlgi_no_memory(err, sizeof *config);
    step->config = config;
    ZLGI_TRY(zlgi_config_int(configuration, "initval", 0, UINT32_MAX, 0, &initial, err));
    config->initial = (uint32_t)initial;
    config->prefix = (zlgi_bytes){NULL, 0};
    const zlgi_json *prefix = configuration ? zlgi_json_get(configuration, "prefix") : NULL;
    if (!prefix || prefix->type == ZLGI_JSON_NULL)
        return ZLG_OK;
    if (prefix->type != ZLGI_JSON_STRING)
        return zlgi_fail(err, ZLG_METADATA, "\"prefix\" is not a string");
    config->prefix.n = prefix->n_text;
    config->prefix.data =
        (const uint8_t *)zlgi_arena_text(env->arena, prefix->text, prefix->n_text);
    return config->prefix.data ? ZLG_OK : zlgi_no_memory(err, prefix->n_text);
}

/* The hash stirs from the front and in units of twelve bytes, so a prefix means a copy. */
static zlg_status sum(const lookup3_config *config, zlgi_scratch *scratch, zlgi_bytes data,
                      uint32_t *out, zlg_error *err)
{
    if (config->prefix.n == 0) {
        *out = zlgi_lookup3(data.data, data.n, config->initial);
        return ZLG_OK;
    }
    zlgi_buf joined;
    zlgi_buf_init(&joined, scratch->alloc);
    zlg_status status =
        zlgi_buf_append(&joined, config->prefix.data, config->prefix.n, err);
    if (status == ZLG_OK)
        status = zlgi_buf_append(&joined, data.data, data.n, err);
    if (status == ZLG_OK)
        *out = zlgi_lookup3(joined.data, joined.n, config->initial);
    zlgi_buf_reset(&joined);
    return status;
}

static zlg_status encode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_buf *out,
                         zlg_error *err)
{
    uint32_t computed;
    (void)from;
    ZLGI_TRY(sum(step->config, scratch, in, &computed, err));
    return zlgi_sum_join(false, in, computed, out, err);
}

static zlg_status decode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_out *out,
                         zlg_error *err)
{
    zlgi_bytes data;
    uint32_t computed, stored;
    (void)from;
    ZLGI_TRY(zlgi_sum_split(false, in, &data, &stored, err));
    ZLGI_TRY(sum(step->config, scratch, data, &computed, err));
    return zlgi_sum_check(data, computed, stored, out, err);
}

const zlgi_codec zlgi_codec_jenkins_lookup3 = {
    .id = "jenkins_lookup3",
    .kind = ZLGI_BYTES_TO_BYTES,
    .configure = configure,
    .resolve = zlgi_sum_resolve,
    .encode = encode,
    .decode = decode,
};
