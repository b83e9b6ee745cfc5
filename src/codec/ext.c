/*
 * Codecs of the caller, by the functions of zellige_ext.h: a table like that of any codec
 * here, whose functions hand on to those. What they give back is held to its sizes as that
 * of built-in decoders is. They see a chunk whole, and elements of fixed size only.
 */
#include "codec/parts.h"

/* Codecs among other things that a context is told of. */
static const char sort[] = "codec";

typedef struct ext_codec {
    zlgi_registered entry;
    zlgi_codec codec;
    zlg_codec_methods methods;
    void *self;
    size_t n_bytes; /* of this block, the names behind it */
} ext_codec;

/* In the arena of an array. */
typedef struct ext_step {
    const ext_codec *own;
    void *state;
} ext_step;

static const ext_codec *of_codec(const zlgi_codec *codec)
{
    return (const ext_codec *)((const char *)codec - offsetof(ext_codec, codec));
}

/* ------------------------------------------------------------------ chunks */

static bool is_swapped(const zlgi_dtype *dtype)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return !dtype->big_endian && zlgi_dtype_has_order(dtype);
#else
    return dtype->big_endian && zlgi_dtype_has_order(dtype);
#endif
}

/* The `from` edge of a step; edge NULL: its shape is not known yet. */
static zlg_decoded chunk_of(const zlgi_edge_type *type, const zlgi_edge *edge)
{
    zlg_decoded chunk = {.n_bytes = edge != NULL ? edge->n_bytes : ZLG_SIZE_UNKNOWN};
    if (type->dtype != NULL) {
        chunk.dtype = zlgi_dtype_public(type->dtype);
        chunk.rank = type->rank;
        chunk.shape = edge != NULL ? edge->shape : NULL;
        chunk.n_elements = edge != NULL ? edge->n_elements : 0;
    } else if (type->holds != NULL && type->holds->n_fields == 0) {
        chunk.dtype = zlgi_dtype_public(type->holds);
        chunk.swapped = is_swapped(type->holds);
    }
    return chunk;
}

/* ------------------------------------------------------------------ encode, decode */

static zlg_status resolve(const zlgi_step *step, const zlgi_edge *from, zlgi_edge *to,
                          zlg_error *err);

static zlg_status encode_into(const zlgi_step *step, const zlgi_edge *from,
                              size_t n_expected, size_t limit, zlgi_bytes in, zlgi_buf *buf,
                              zlg_error *err)
{
    const ext_step *s = step->config;
    zlg_error own = {0};
    zlgi_out out = {.expected = n_expected, .limit = limit, .buf = buf};
    zlg_output output = {.out = &out, .encodes = true};
    zlg_decoded chunk = chunk_of(&step->from, from);
    chunk.n_bytes = in.n;
    zlg_status status =
        s->own->methods.encode(s->state, &chunk, (zlg_bytes){in.data, in.n}, &output, &own);
    ZLGI_TRY(zlgi_foreign(status, ZLG_USAGE, &own, err));
    return zlgi_output_finish(&output, err);
}

static zlg_status encode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_buf *out,
                         zlg_error *err)
{
    zlgi_edge whole = *from, to = {.n_bytes = ZLGI_UNKNOWN};
    whole.n_bytes = in.n;
    ZLGI_TRY(resolve(step, &whole, &to, err));
    size_t n_expected = to.n_bytes;
    if (step->to.dtype != NULL)
        n_expected = to.n_elements * zlgi_dtype_slot(step->to.dtype);
    return encode_into(step, from, n_expected, (size_t)scratch->limits->encoded_bytes, in,
                       out, err);
}

static zlg_status decode(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_out *out,
                         zlg_error *err)
{
    const ext_step *s = step->config;
    zlg_error own = {0};
    zlg_output output = {.out = out};
    zlg_decoded chunk = chunk_of(&step->from, from);
    (void)scratch;
    zlg_status status =
        s->own->methods.decode(s->state, &chunk, (zlg_bytes){in.data, in.n}, &output, &own);
    ZLGI_TRY(zlgi_foreign(status, ZLG_CORRUPT, &own, err));
    ZLGI_TRY(zlgi_output_finish(&output, err));
    const zlgi_dtype *dtype = step->from.dtype;
    if (dtype != NULL && zlgi_dtype_needs_normal(dtype))
        zlgi_dtype_normalize(dtype, out->direct != NULL ? out->direct : out->buf->data,
                             from->n_elements);
    return ZLG_OK;
}

/* ------------------------------------------------------------------ shapes */

static zlg_status resolve_shape(const zlgi_step *step, const zlgi_edge *from, zlgi_edge *to,
                                zlg_error *err)
{
    const ext_step *s = step->config;
    int64_t n;
    to->rank = step->to.rank;
    for (int i = 0; i < to->rank; i++)
        to->shape[i] = i < step->from.rank ? from->shape[i] : -1;
    if (s->own->methods.shape != NULL) {
        zlg_error own = {0};
        const zlg_decoded chunk = chunk_of(&step->from, from);
        zlg_status status = s->own->methods.shape(s->state, &chunk, to->shape, &own);
        ZLGI_TRY(zlgi_foreign(status, ZLG_METADATA, &own, err));
    }
    for (int i = 0; i < to->rank; i++)
        if (to->shape[i] < 0)
            return zlgi_fail(err, ZLG_USAGE, "it makes a chunk of length %lld (axis %d)",
                             (long long)to->shape[i], i);
    if (!zlgi_product(to->shape, to->rank, &n) || (uint64_t)n > PTRDIFF_MAX)
        return zlgi_fail(err, ZLG_LIMIT, "a chunk of more than 2^63 elements");
    to->n_elements = (size_t)n;
    return ZLG_OK;
}

static zlg_status resolve(const zlgi_step *step, const zlgi_edge *from, zlgi_edge *to,
                          zlg_error *err)
{
    const ext_step *s = step->config;
    if (step->to.dtype != NULL)
        return resolve_shape(step, from, to, err);
    if (s->own->methods.encoded_bytes != NULL && from->n_bytes != ZLGI_UNKNOWN) {
        const zlg_decoded chunk = chunk_of(&step->from, from);
        to->n_bytes = s->own->methods.encoded_bytes(s->state, &chunk);
    }
    return ZLG_OK;
}

/* ------------------------------------------------------------------ configuration */

zlg_status zlgi_ext_text(const zlgi_json *configuration, zlgi_buf *out, zlg_error *err)
{
    if (configuration != NULL)
        ZLGI_TRY(zlgi_json_write(configuration, 0, out, err));
    else
        ZLGI_TRY(zlgi_buf_append(out, "{}", 2, err));
    return zlgi_buf_append(out, "", 1, err);
}

zlg_status zlgi_ext_definition(zlgi_arena *arena, const char *text,
                               const zlg_limits *limits, const zlgi_json **out,
                               zlg_error *err)
{
    const size_t n = strlen(text);
    if (*text == '{' || *text == '"')
        return zlgi_json_parse(arena, text, n, (int)limits->json_depth, out, err);
    zlgi_json *name = zlgi_arena_get(arena, sizeof *name);
    char *own = zlgi_arena_text(arena, text, n);
    if (name == NULL || own == NULL)
        return zlgi_no_memory(err, n);
    *name = (zlgi_json){
        .type = ZLGI_JSON_STRING, .text = own, .n_text = (uint32_t)ZLGI_MIN(n, UINT32_MAX)};
    *out = name;
    return ZLG_OK;
}

static void free_state(void *what)
{
    const ext_step *s = what;
    s->own->methods.free(s->state);
}

/* The configuration as text, NUL terminated. */
static zlg_status parse_text(const zlgi_step *step, const zlgi_json *configuration,
                             const zlgi_codec_env *env, ext_step *s, zlgi_buf *text,
                             zlg_error *err)
{
    zlg_error own = {0};
    const zlg_decoded chunk = chunk_of(&step->from, NULL);
    ZLGI_TRY(zlgi_ext_text(configuration, text, err));
    zlg_status status = s->own->methods.parse(s->own->self, (const char *)text->data,
                                              env->v2 ? 2 : 3, &chunk, &s->state, &own);
    ZLGI_TRY(zlgi_foreign(status, ZLG_METADATA, &own, err));
    if (s->own->methods.free == NULL || zlgi_arena_defer(env->arena, free_state, s))
        return ZLG_OK;
    free_state(s);
    return zlgi_no_memory(err, sizeof *s);
}

static zlg_status parse_state(const zlgi_step *step, const zlgi_json *configuration,
                              const zlgi_codec_env *env, ext_step *s, zlg_error *err)
{
    const zlgi_json *member = configuration != NULL ? configuration->items : NULL;
    if (s->own->methods.parse == NULL) {
        s->state = s->own->self;
        for (; member != NULL; member = member->next)
            if (!env->v2 || strcmp(member->name, "id") != 0)
                return zlgi_fail(err, ZLG_METADATA, "\"%s\" is not known", member->name);
        return ZLG_OK;
    }
    zlgi_buf text;
    zlgi_buf_init(&text, env->arena->alloc);
    zlg_status status = parse_text(step, configuration, env, s, &text, err);
    zlgi_buf_reset(&text);
    return status;
}

/* A data type in the words of version 3: a name, or JSON. */
static zlg_status parse_type(const char *text, const zlgi_codec_env *env,
                             const zlgi_dtype **out, zlg_error *err)
{
    const size_t n = strlen(text);
    const zlgi_json *json, name = {.type = ZLGI_JSON_STRING,
                                   .text = text,
                                   .n_text = (uint32_t)ZLGI_MIN(n, UINT32_MAX)};
    if (*text == '{' || *text == '"')
        ZLGI_TRY(
            zlgi_json_parse(env->arena, text, n, (int)env->limits->json_depth, &json, err));
    else
        json = &name;
    ZLGI_TRY(zlgi_dtype_parse_v3(env->arena, json, out, err));
    if (zlgi_dtype_is_varlen(*out))
        return zlgi_fail(err, ZLG_UNSUPPORTED,
                         "it makes elements of variable length, which only built-in "
                         "codecs may");
    return ZLG_OK;
}

static zlg_status set_type(zlgi_step *step, const ext_step *s, const zlgi_codec_env *env,
                           zlg_error *err)
{
    if (s->own->methods.type == NULL)
        return ZLG_OK;
    zlg_error own = {0};
    const char *data_type = NULL;
    int rank = step->from.rank;
    const zlg_decoded chunk = chunk_of(&step->from, NULL);
    zlg_status status = s->own->methods.type(s->state, &chunk, &data_type, &rank, &own);
    ZLGI_TRY(zlgi_foreign(status, ZLG_METADATA, &own, err));
    if (rank < 0 || rank > ZLG_MAX_RANK ||
        (rank != step->from.rank && s->own->methods.shape == NULL))
        return zlgi_fail(err, ZLG_USAGE, "it makes %d axes of %d, and says not how", rank,
                         step->from.rank);
    step->to.rank = rank;
    return data_type != NULL ? parse_type(data_type, env, &step->to.dtype, err) : ZLG_OK;
}

/* What a fill value becomes: a chunk of one element, encoded. */
static zlg_status set_fill(zlgi_step *step, const ext_step *s, const zlgi_codec_env *env,
                           zlg_error *err)
{
    if (s->own->methods.encode == NULL)
        return ZLG_OK;
    zlgi_edge one = {
        .rank = step->from.rank, .n_elements = 1, .n_bytes = step->from.dtype->n_bytes};
    for (int i = 0; i < one.rank; i++)
        one.shape[i] = 1;
    zlgi_buf buf;
    zlgi_buf_init(&buf, env->arena->alloc);
    const size_t n = step->to.dtype->n_bytes;
    const zlgi_bytes in = {step->from.fill.data, step->from.fill.n};
    zlg_status status = encode_into(step, &one, n, n, in, &buf, err);
    char *fill = status == ZLG_OK
                     ? zlgi_arena_text(env->arena, (const char *)buf.data, buf.n)
                     : NULL;
    zlgi_buf_reset(&buf);
    if (status != ZLG_OK)
        return zlgi_within(err, status, "the fill value");
    if (fill == NULL)
        return zlgi_no_memory(err, n);
    step->to.fill = (zlgi_fill){.data = (const uint8_t *)fill, .n = n};
    return ZLG_OK;
}

static zlg_status configure(zlgi_step *step, const zlgi_json *configuration,
                            const zlgi_codec_env *env, zlg_error *err)
{
    ext_step *s = zlgi_arena_get(env->arena, sizeof *s);
    if (s == NULL)
        return zlgi_no_memory(err, sizeof *s);
    *s = (ext_step){.own = of_codec(step->codec)};
    step->config = s;
    ZLGI_TRY(parse_state(step, configuration, env, s, err));
    if (step->codec->kind != ZLGI_ARRAY_TO_ARRAY)
        return ZLG_OK;
    ZLGI_TRY(set_type(step, s, env, err));
    return set_fill(step, s, env, err);
}

/* ------------------------------------------------------------------ registering */

const zlgi_codec *zlgi_ext_codec_find(const zlgi_registry *registry, const char *name,
                                      bool v2)
{
    const char *id = v2 ? name : zlgi_numcodecs_id(name);
    zlgi_registered *found =
        zlgi_registry_find(registry, sort, id != NULL ? NULL : name, id);
    /* As with codecs that are built in, an id may stand in version 3 as it is. */
    if (found == NULL && id == NULL)
        found = zlgi_registry_find(registry, sort, NULL, name);
    return found != NULL ? &((const ext_codec *)found)->codec : NULL;
}

static zlg_status check_name(const char *name, bool v2, zlg_error *err)
{
    const char *library;
    if (name == NULL)
        return ZLG_OK;
    if (*name == '\0' || !zlgi_utf8_valid((const uint8_t *)name, strlen(name)))
        return zlgi_fail(err, ZLG_USAGE, "a codec's name is empty or no UTF-8");
    if ((v2 ? zlgi_codec_find_v2(name, &library) : zlgi_codec_find_v3(name, &library)) ==
        NULL)
        return ZLG_OK;
    return zlgi_fail(err, ZLG_EXISTS, "codec %s is built in", name);
}

static zlg_status check_methods(const zlg_codec_methods *m, zlg_error *err)
{
    if (m->kind < ZLG_BYTES_TO_BYTES || m->kind > ZLG_ARRAY_TO_ARRAY)
        return zlgi_fail(err, ZLG_USAGE, "kind %d of a codec is none", (int)m->kind);
    if (m->name == NULL && m->id == NULL)
        return zlgi_fail(err, ZLG_USAGE, "a codec has neither name nor id");
    if (m->decode == NULL)
        return zlgi_fail(err, ZLG_USAGE, "a codec without decode");
    ZLGI_TRY(check_name(m->name, false, err));
    return check_name(m->id, true, err);
}

static void destroy(zlgi_registered *one, const zlgi_alloc *alloc)
{
    ext_codec *own = (ext_codec *)one;
    if (own->methods.close != NULL)
        own->methods.close(own->self);
    zlgi_free(alloc, own, own->n_bytes);
}

zlg_status zlgi_ext_codec_register(zlgi_registry *registry,
                                   const zlg_codec_methods *methods, void *self,
                                   zlg_error *err)
{
    static const zlgi_codec_kind kinds[] = {
        [ZLG_BYTES_TO_BYTES] = ZLGI_BYTES_TO_BYTES,
        [ZLG_ARRAY_TO_BYTES] = ZLGI_ARRAY_TO_BYTES,
        [ZLG_ARRAY_TO_ARRAY] = ZLGI_ARRAY_TO_ARRAY,
    };
    ZLGI_TRY(check_methods(methods, err));
    size_t n =
        sizeof(ext_codec) + zlgi_kept_bytes(methods->name) + zlgi_kept_bytes(methods->id);
    ext_codec *own = zlgi_new(registry->alloc, n);
    if (own == NULL)
        return zlgi_no_memory(err, n);
    char *texts = (char *)(own + 1);
    own->methods = *methods;
    own->self = self;
    own->n_bytes = n;
    own->entry = (zlgi_registered){.sort = sort,
                                   .name = zlgi_keep(&texts, methods->name),
                                   .id = zlgi_keep(&texts, methods->id),
                                   .destroy = destroy};
    own->codec = (zlgi_codec){
        .name = own->entry.name,
        .id = own->entry.id,
        .kind = kinds[methods->kind],
        .pass = ZLGI_PASS_WHOLE,
        .flags = methods->kind == ZLG_BYTES_TO_BYTES ? 0 : ZLGI_CODEC_AXES,
        .configure = configure,
        .resolve = resolve,
        .encode = methods->encode != NULL ? encode : NULL,
        .decode = decode,
    };
    zlgi_registry_add(registry, &own->entry);
    return ZLG_OK;
}
