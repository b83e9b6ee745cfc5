/*
 * codec.c: codecs without an array: a chain, its arena and one layout. Knows the two ways
 * in which documents name codecs; elements of variable length are refused, since they have
 * no form as bytes in memory.
 */
#include "core/core.h"

struct zlg_codec {
    zlg_ctx *ctx;
    zlgi_arena arena;
    zlgi_chain *chain;
    bool typed;
    zlgi_layout layout; /* typed */
};

/* ------------------------------------------------------------------ opening */

/* A list of codecs, also from one alone. */
static zlg_status read_list(zlg_codec *codec, const char *text, zlgi_json *room,
                            const zlgi_json **out, zlg_error *err)
{
    const zlg_limits *limits = &codec->ctx->limits;
    if (*text == '[')
        return zlgi_json_parse(&codec->arena, text, strlen(text), (int)limits->json_depth,
                               out, err);
    const zlgi_json *alone;
    ZLGI_TRY(zlgi_ext_definition(&codec->arena, text, limits, &alone, err));
    *room = (zlgi_json){
        .type = ZLGI_JSON_ARRAY, .n_items = 1, .items = (zlgi_json *)(uintptr_t)alone};
    *out = room;
    return ZLG_OK;
}

static zlg_status read_type(zlg_codec *codec, const char *text, bool v2,
                            const zlgi_dtype **out, zlg_error *err)
{
    const zlg_limits *limits = &codec->ctx->limits;
    const zlgi_json *json;
    bool is_object = false;
    if (*text == '[')
        ZLGI_TRY(zlgi_json_parse(&codec->arena, text, strlen(text), (int)limits->json_depth,
                                 &json, err));
    else
        ZLGI_TRY(zlgi_ext_definition(&codec->arena, text, limits, &json, err));
    ZLGI_TRY(v2 ? zlgi_dtype_parse_v2(&codec->arena, json, (int)limits->json_depth, out,
                                      &is_object, err)
                : zlgi_dtype_parse_v3(&codec->arena, json, out, err));
    if (is_object || zlgi_dtype_is_varlen(*out))
        return zlgi_fail(err, ZLG_UNSUPPORTED,
                         "elements of variable length are encoded in arrays only");
    return ZLG_OK;
}

static zlg_status read_fill(zlg_codec *codec, const zlg_codec_options *options, bool v2,
                            const zlgi_dtype *dtype, zlgi_fill *out, zlg_error *err)
{
    const char *text = options->fill_value;
    const zlgi_json *json;
    if (!text)
        return zlgi_fill_zero(&codec->arena, dtype, out, err);
    ZLGI_TRY(zlgi_json_parse(&codec->arena, text, strlen(text),
                             (int)codec->ctx->limits.json_depth, &json, err));
    return v2 ? zlgi_fill_parse_v2(&codec->arena, dtype, json, out, err)
              : zlgi_fill_parse_v3(&codec->arena, dtype, json, out, err);
}

static zlg_status open_typed(zlg_codec *codec, const zlgi_codec_env *env,
                             const zlgi_json *list, const zlg_codec_options *options,
                             const zlgi_dtype *dtype, zlg_error *err)
{
    zlgi_edge_type from = {.dtype = dtype, .rank = options->rank};
    if (options->rank < 0 || options->rank > ZLG_MAX_RANK ||
        (options->rank > 0 && !options->shape))
        return zlgi_fail(err, ZLG_USAGE, "a chunk of elements has a shape of 0 to %d axes",
                         ZLG_MAX_RANK);
    for (int i = 0; i < options->rank; i++)
        if (options->shape[i] < 0)
            return zlgi_fail(err, ZLG_USAGE, "shape[%d] is %lld", i,
                             (long long)options->shape[i]);
    ZLGI_TRY(zlgi_within(err, read_fill(codec, options, env->v2, dtype, &from.fill, err),
                         "fill_value"));
    ZLGI_TRY(env->v2
                 ? zlgi_chain_parse_v2(env, list, NULL, false, &from, &codec->chain, err)
                 : zlgi_chain_parse(env, list, &from, &codec->chain, err));
    codec->typed = true;
    return zlgi_chain_layout(codec->chain, options->shape, &codec->layout, err);
}

static zlg_status fill_codec(zlg_codec *codec, const char *text,
                             const zlg_codec_options *options, zlg_error *err)
{
    zlgi_json room;
    const zlgi_json *list;
    const zlgi_dtype *dtype = NULL;
    ZLGI_TRY(zlgi_within(err, read_list(codec, text, &room, &list, err), "codecs"));
    const zlgi_json *first = list->items;
    bool has_id = first && first->type == ZLGI_JSON_OBJECT && zlgi_json_get(first, "id");
    const zlgi_codec_env env = {
        .arena = &codec->arena,
        .limits = &codec->ctx->limits,
        .registry = &codec->ctx->registry,
        .v2 = options->zarr_format ? options->zarr_format == 2 : has_id,
    };
    if (options->data_type)
        ZLGI_TRY(zlgi_within(err, read_type(codec, options->data_type, env.v2, &dtype, err),
                             "data_type"));
    if (dtype && (!env.v2 || zlgi_chain_takes_elements(&env, list)))
        return open_typed(codec, &env, list, options, dtype, err);
    const zlgi_edge_type from = {.item = dtype ? dtype->n_bytes : 1, .holds = dtype};
    return zlgi_chain_parse_bytes(&env, list, &from, &codec->chain, err);
}

zlg_status zlg_codec_open(zlg_ctx *ctx, const char *codecs, const zlg_codec_options *given,
                          zlg_codec **out, zlg_error *err)
{
    zlg_codec_options options;
    *out = NULL;
    ZLGI_TRY(
        zlgi_options_read(given, "ZLG_CODEC_OPTIONS_INIT", &options, sizeof options, err));
    if (options.zarr_format != 0 && options.zarr_format != 2 && options.zarr_format != 3)
        return zlgi_fail(err, ZLG_USAGE, "zarr_format is %d, not 2 or 3",
                         options.zarr_format);
    zlg_codec *codec = zlgi_new(&ctx->alloc, sizeof *codec);
    if (!codec)
        return zlgi_no_memory(err, sizeof *codec);
    zlgi_arena_init(&codec->arena, &ctx->alloc);
    codec->ctx = ctx;
    zlgi_ctx_ref(ctx);
    zlg_status status = fill_codec(codec, codecs, &options, err);
    if (status == ZLG_OK)
        *out = codec;
    else
        zlg_codec_close(codec);
    return status;
}

void zlg_codec_close(zlg_codec *codec)
{
    if (!codec)
        return;
    zlg_ctx *ctx = codec->ctx;
    zlgi_arena_reset(&codec->arena);
    zlgi_free(&ctx->alloc, codec, sizeof *codec);
    zlg_ctx_close(ctx);
}

/* ------------------------------------------------------------------ running */

/* One call, on the thread that makes it. What comes out lies in buffers of the scratch, in
 * the memory that it is meant for, or in what goes in. */
typedef struct run {
    const zlg_codec *codec;
    zlgi_bytes in, result;
    zlgi_buf *out; /* two, of the scratch */
    uint8_t *into; /* decoding: memory for n_room bytes, or NULL */
    size_t n_room;
    bool encodes;
    zlg_take_fn take;
    void *user;
    zlg_status status;
    zlg_error *err;
} run;

static zlg_status encode(run *r, zlgi_scratch *scratch)
{
    const zlg_codec *codec = r->codec;
    zlgi_layout layout;
    if (!codec->typed) {
        ZLGI_TRY(zlgi_chain_layout_bytes(codec->chain, r->in.n, &layout, r->err));
        return zlgi_chain_encode(codec->chain, &layout, scratch, r->in, r->out, &r->result,
                                 r->err);
    }
    if (r->in.n != codec->layout.edge[0].n_bytes)
        return zlgi_fail(r->err, ZLG_USAGE, "%zu bytes are given, the chunk has %zu",
                         r->in.n, codec->layout.edge[0].n_bytes);
    ZLGI_TRY(zlgi_chain_encode_full(codec->chain, &codec->layout, scratch, r->in,
                                    &r->out[0], r->err));
    r->result = (zlgi_bytes){r->out[0].data, r->out[0].n};
    return ZLG_OK;
}

/* The decoded bytes fill the caller's memory as a rule; when they do not, nothing is known
 * of their number. */
static zlg_status decode_bytes(run *r, zlgi_scratch *scratch)
{
    const zlg_codec *codec = r->codec;
    zlgi_layout layout;
    if (r->into && codec->chain->n_steps > 0) {
        zlg_status status = zlgi_chain_layout_bytes(codec->chain, r->n_room, &layout, NULL);
        if (status == ZLG_OK)
            status = zlgi_chain_decode(codec->chain, &layout, scratch, r->in, r->into,
                                       r->out, &r->result, NULL);
        if (status == ZLG_OK)
            return ZLG_OK;
    }
    ZLGI_TRY(zlgi_chain_layout_bytes(codec->chain, ZLGI_UNKNOWN, &layout, r->err));
    return zlgi_chain_decode(codec->chain, &layout, scratch, r->in, NULL, r->out,
                             &r->result, r->err);
}

static zlg_status decode(run *r, zlgi_scratch *scratch)
{
    const zlg_codec *codec = r->codec;
    const size_t n = codec->layout.edge[0].n_bytes;
    if (!codec->typed)
        return decode_bytes(r, scratch);
    if (n > (size_t)scratch->limits->chunk_bytes)
        return zlgi_fail(r->err, ZLG_LIMIT, "a chunk of %zu bytes (chunk_bytes)", n);
    uint8_t *into = r->into && r->n_room >= n ? r->into : NULL;
    if (!into) {
        ZLGI_TRY(zlgi_buf_reserve(&r->out[0], ZLGI_MAX(n, 1), false, r->err));
        into = r->out[0].data;
    }
    r->result = (zlgi_bytes){into, n};
    return zlgi_chain_decode_full(codec->chain, &codec->layout, scratch, r->in, into,
                                  r->err);
}

static zlg_status pass_on(const run *r)
{
    zlg_error own = {0};
    const zlg_bytes result = {r->result.data, r->result.n};
    return zlgi_foreign(r->take(r->user, result, &own), ZLG_USAGE, &own, r->err);
}

static void work(void *job, zlgi_scratch *scratch)
{
    run *r = job;
    r->out = zlgi_scratch_push(scratch);
    zlgi_scratch_push(scratch); /* beside the other */
    r->status = r->encodes ? encode(r, scratch) : decode(r, scratch);
    if (r->status == ZLG_OK)
        r->status = pass_on(r);
    zlgi_scratch_pop(scratch);
    zlgi_scratch_pop(scratch);
}

static zlg_status start(run *r)
{
    ZLGI_TRY(zlgi_pool_run(r->codec->ctx->engine.pool, 1, work, NULL, r, r->err));
    return r->status;
}

zlg_status zlg_codec_encode_to(zlg_codec *codec, const void *data, size_t n_bytes,
                               zlg_take_fn take, void *user, zlg_error *err)
{
    run r = {.codec = codec,
             .in = {data, n_bytes},
             .encodes = true,
             .take = take,
             .user = user,
             .err = err};
    return start(&r);
}

zlg_status zlg_codec_decode_to(zlg_codec *codec, const void *data, size_t n_bytes,
                               zlg_take_fn take, void *user, zlg_error *err)
{
    run r = {.codec = codec, .in = {data, n_bytes}, .take = take, .user = user, .err = err};
    return start(&r);
}

/* ------------------------------------------------------------------ texts, memory */

/* user is a zlg_text with its context. */
static zlg_status take_text(void *user, zlg_bytes result, zlg_error *err)
{
    zlg_text *text = user;
    size_t n;
    if (!zlgi_add_size(result.n_bytes, 1, &n))
        return zlgi_no_memory(err, SIZE_MAX);
    char *data = zlgi_resize(&text->ctx->alloc, NULL, 0, n);
    if (!data)
        return zlgi_no_memory(err, n);
    if (result.n_bytes > 0)
        memcpy(data, result.data, result.n_bytes);
    data[result.n_bytes] = '\0';
    text->data = data;
    text->n_bytes = result.n_bytes;
    return ZLG_OK;
}

zlg_status zlg_codec_encode(zlg_codec *codec, const void *data, size_t n_bytes,
                            zlg_text *out, zlg_error *err)
{
    *out = (zlg_text){.ctx = codec->ctx};
    return zlg_codec_encode_to(codec, data, n_bytes, take_text, out, err);
}

zlg_status zlg_codec_decode(zlg_codec *codec, const void *data, size_t n_bytes,
                            zlg_text *out, zlg_error *err)
{
    *out = (zlg_text){.ctx = codec->ctx};
    return zlg_codec_decode_to(codec, data, n_bytes, take_text, out, err);
}

/* user is the run. */
static zlg_status take_memory(void *user, zlg_bytes result, zlg_error *err)
{
    const run *r = user;
    if (result.n_bytes > r->n_room)
        return zlgi_fail(err, ZLG_LIMIT, "%zu bytes decoded, there is room for %zu",
                         result.n_bytes, r->n_room);
    if (result.n_bytes > 0 && result.data != r->into)
        memmove(r->into, result.data, result.n_bytes);
    return ZLG_OK;
}

zlg_status zlg_codec_decode_into(zlg_codec *codec, const void *data, size_t n_bytes,
                                 void *into, size_t n_room, size_t *out_n_bytes,
                                 zlg_error *err)
{
    run r = {.codec = codec,
             .in = {data, n_bytes},
             .into = into,
             .n_room = n_room,
             .take = take_memory,
             .user = &r,
             .err = err};
    zlg_status status = start(&r);
    *out_n_bytes = status == ZLG_OK ? r.result.n : 0;
    return status;
}
