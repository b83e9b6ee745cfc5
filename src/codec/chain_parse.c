/*
 * Making a chain from a document: version 3 lists of extension definitions (version 3
 * core, "codecs"; format.md §3.3, §7) and version 2 filters and compressor (§15.5). Checks
 * that the kinds follow each other legally, carries data type and fill value from edge to
 * edge, and folds leading transposes and `bytes` away.
 */
#include "codec/parts.h"

/* ------------------------------------------------------------------ one codec */

static zlg_status unknown(const char *name, const char *library, zlg_error *err)
{
    if (strcmp(name, "pickle") == 0)
        return zlgi_fail(err, ZLG_UNSUPPORTED,
                         "codec pickle: pickled objects are never loaded");
    if (library)
        return zlgi_fail(err, ZLG_UNSUPPORTED, "codec %s: not built in (needs %s)", name,
                         library);
    return zlgi_fail(err, ZLG_UNSUPPORTED, "codec %s: not known", name);
}

/* Codecs that are built in, those of the caller, those whose library is missing. */
static zlg_status find(const zlgi_codec_env *env, const char *name, const zlgi_codec **out,
                       zlg_error *err)
{
    const char *library;
    *out =
        env->v2 ? zlgi_codec_find_v2(name, &library) : zlgi_codec_find_v3(name, &library);
    if (!*out)
        *out = zlgi_ext_codec_find(env->registry, name, env->v2);
    return *out ? ZLG_OK : unknown(name, library, err);
}

static bool needs_elements(const zlgi_codec *codec)
{
    return codec->kind == ZLGI_ARRAY_TO_ARRAY && !(codec->flags & ZLGI_CODEC_ON_BYTES);
}

/* Does the codec stand where it may? */
static zlg_status check_place(const zlgi_codec *codec, const zlgi_edge_type *from, bool v2,
                              zlg_error *err)
{
    if (!from->dtype) {
        bool fits = codec->kind == ZLGI_BYTES_TO_BYTES ||
                    (v2 && codec->kind == ZLGI_ARRAY_TO_ARRAY &&
                     (codec->flags & ZLGI_CODEC_ON_BYTES));
        return fits ? ZLG_OK
                    : zlgi_fail(
                          err, ZLG_METADATA,
                          "it takes elements, but stands where they are bytes already");
    }
    if (codec->kind == ZLGI_BYTES_TO_BYTES)
        return zlgi_fail(err, ZLG_METADATA,
                         "it takes bytes, but stands where elements are not bytes yet");
    if (from->rank < 0 && (codec->flags & ZLGI_CODEC_AXES))
        return zlgi_fail(
            err, ZLG_UNSUPPORTED,
            "it needs to know how many axes there are, which squeeze leaves open");
    if (zlgi_dtype_is_varlen(from->dtype) && !(codec->flags & ZLGI_CODEC_VARLEN))
        return zlgi_fail(err, ZLG_METADATA, "it takes no variable-length elements (%s)",
                         zlgi_type_name(from->dtype->type));
    return ZLG_OK;
}

static zlg_status configure(zlgi_chain *chain, const zlgi_codec *codec,
                            const zlgi_json *configuration, const zlgi_codec_env *env,
                            const zlgi_edge_type *from, zlg_error *err)
{
    ZLGI_TRY(check_place(codec, from, env->v2, err));
    zlgi_step *step = &chain->step[chain->n_steps];
    *step = (zlgi_step){.codec = codec, .from = *from};
    if (codec->kind == ZLGI_ARRAY_TO_ARRAY)
        step->to = *from;
    else
        step->to.item = 1;
    ZLGI_TRY(codec->configure(step, configuration, env, err));
    if (codec->kind == ZLGI_ARRAY_TO_BYTES)
        chain->i_bytes = chain->n_steps;
    chain->n_steps++;
    return ZLG_OK;
}

/* Adds a codec behind the last, or behind edge `first`. */
static zlg_status add(zlgi_chain *chain, const zlgi_codec *codec,
                      const zlgi_json *configuration, const zlgi_codec_env *env,
                      const zlgi_edge_type *first, zlg_error *err)
{
    if (chain->n_steps == ZLGI_CHAIN_STEPS)
        return zlgi_fail(err, ZLG_LIMIT, "a chain of more than %d codecs",
                         ZLGI_CHAIN_STEPS);
    const zlgi_edge_type *from =
        chain->n_steps ? &chain->step[chain->n_steps - 1].to : first;
    zlg_status status = configure(chain, codec, configuration, env, from, err);
    return zlgi_within(err, status, "codec %s", codec->name ? codec->name : codec->id);
}

static zlg_status new_chain(zlgi_arena *arena, zlgi_chain **out, zlg_error *err)
{
    *out = zlgi_arena_get(arena, sizeof **out);
    if (!*out)
        return zlgi_no_memory(err, sizeof **out);
    memset(*out, 0, sizeof **out);
    (*out)->i_bytes = -1;
    return ZLG_OK;
}

static zlg_status finish(zlgi_chain *chain, zlg_error *err)
{
    if (chain->i_bytes < 0)
        return zlgi_fail(err, ZLG_METADATA, "no codec turns the elements into bytes");
    for (int i = 0; i < ZLG_MAX_RANK; i++)
        chain->order[i] = i;
    int n = 0;
    for (; chain->step[n].codec == &zlgi_codec_transpose; n++) {
        const zlgi_transpose *transpose = chain->step[n].config;
        int before[ZLG_MAX_RANK];
        memcpy(before, chain->order, sizeof before);
        for (int i = 0; i < chain->step[n].from.rank; i++)
            chain->order[i] = before[transpose->order[i]];
    }
    chain->n_transposes = n;
    chain->n_folded = n;
    if (chain->step[n].codec == &zlgi_codec_bytes) {
        const zlgi_bytes_config *bytes = chain->step[n].config;
        chain->swap = bytes->swap;
        chain->normalize = bytes->normalize;
        chain->n_folded = n + 1;
    }
    return ZLG_OK;
}

/* ------------------------------------------------------------------ version 3 */

/* A definition is a name, or an object with name, configuration and must_understand. */
static zlg_status read_definition(const zlgi_json *entry, const char **name,
                                  const zlgi_json **configuration, zlg_error *err)
{
    const zlgi_json *text = entry;
    *configuration = NULL;
    if (entry->type == ZLGI_JSON_OBJECT) {
        text = zlgi_json_get(entry, "name");
        *configuration = zlgi_json_get(entry, "configuration");
    }
    if (!text || text->type != ZLGI_JSON_STRING)
        return zlgi_fail(err, ZLG_METADATA, "a codec has no name");
    *name = text->text;
    if (*configuration && (*configuration)->type != ZLGI_JSON_OBJECT)
        return zlgi_fail(err, ZLG_METADATA, "codec %s: \"configuration\" is not an object",
                         *name);
    return ZLG_OK;
}

zlg_status zlgi_chain_parse(const zlgi_codec_env *env, const zlgi_json *codecs,
                            const zlgi_edge_type *from, zlgi_chain **out, zlg_error *err)
{
    if (env->depth > env->limits->codec_depth)
        return zlgi_fail(err, ZLG_LIMIT, "codecs nested more than %lld deep (codec_depth)",
                         (long long)env->limits->codec_depth);
    if (!codecs || codecs->type != ZLGI_JSON_ARRAY)
        return zlgi_fail(err, ZLG_METADATA, "\"codecs\" is not a list");
    ZLGI_TRY(new_chain(env->arena, out, err));
    for (const zlgi_json *entry = codecs->items; entry; entry = entry->next) {
        const char *name = NULL;
        const zlgi_json *configuration;
        const zlgi_codec *codec;
        ZLGI_TRY(read_definition(entry, &name, &configuration, err));
        ZLGI_TRY(find(env, name, &codec, err));
        ZLGI_TRY(add(*out, codec, configuration, env, from, err));
    }
    return finish(*out, err);
}

/* ------------------------------------------------------------------ bytes alone */

/* Name and configuration as the version has them. */
static zlg_status read_entry(const zlgi_codec_env *env, const zlgi_json *entry,
                             const char **name, const zlgi_json **configuration,
                             zlg_error *err)
{
    if (!env->v2)
        return read_definition(entry, name, configuration, err);
    const zlgi_json *id =
        entry->type == ZLGI_JSON_OBJECT ? zlgi_json_get(entry, "id") : NULL;
    if (!id || id->type != ZLGI_JSON_STRING)
        return zlgi_fail(err, ZLG_METADATA, "a codec is not an object with an \"id\"");
    *name = id->text;
    *configuration = entry;
    return ZLG_OK;
}

zlg_status zlgi_chain_parse_bytes(const zlgi_codec_env *env, const zlgi_json *codecs,
                                  const zlgi_edge_type *from, zlgi_chain **out,
                                  zlg_error *err)
{
    ZLGI_TRY(new_chain(env->arena, out, err));
    for (const zlgi_json *entry = codecs->items; entry; entry = entry->next) {
        const char *name = NULL;
        const zlgi_json *configuration = NULL;
        const zlgi_codec *codec;
        ZLGI_TRY(read_entry(env, entry, &name, &configuration, err));
        ZLGI_TRY(find(env, name, &codec, err));
        ZLGI_TRY(add(*out, codec, configuration, env, from, err));
    }
    return ZLG_OK;
}

bool zlgi_chain_takes_elements(const zlgi_codec_env *env, const zlgi_json *codecs)
{
    for (const zlgi_json *entry = codecs->items; entry; entry = entry->next) {
        const char *name = NULL;
        const zlgi_json *configuration = NULL;
        const zlgi_codec *codec;
        if (read_entry(env, entry, &name, &configuration, NULL) != ZLG_OK ||
            find(env, name, &codec, NULL) != ZLG_OK)
            return false;
        if (codec->kind == ZLGI_ARRAY_TO_BYTES || needs_elements(codec))
            return true;
    }
    return false;
}

/* ------------------------------------------------------------------ version 2 */

/* Filters and compressor as one list in encoding order. */
typedef struct v2_list {
    int n;
    const zlgi_json *configuration[ZLGI_CHAIN_STEPS];
    const zlgi_codec *codec[ZLGI_CHAIN_STEPS];
} v2_list;

static zlg_status list_add(const zlgi_codec_env *env, v2_list *list, const zlgi_json *entry,
                           const char *what, zlg_error *err)
{
    const zlgi_json *id =
        entry->type == ZLGI_JSON_OBJECT ? zlgi_json_get(entry, "id") : NULL;
    if (!id || id->type != ZLGI_JSON_STRING)
        return zlgi_fail(err, ZLG_METADATA, "%s is not an object with an \"id\"", what);
    if (list->n == ZLGI_CHAIN_STEPS)
        return zlgi_fail(err, ZLG_LIMIT, "a chain of more than %d codecs",
                         ZLGI_CHAIN_STEPS);
    ZLGI_TRY(find(env, id->text, &list->codec[list->n], err));
    list->configuration[list->n++] = entry;
    return ZLG_OK;
}

static bool is_absent(const zlgi_json *value)
{
    return !value || value->type == ZLGI_JSON_NULL;
}

static zlg_status read_list(const zlgi_codec_env *env, const zlgi_json *filters,
                            const zlgi_json *compressor, v2_list *out, zlg_error *err)
{
    out->n = 0;
    if (!is_absent(filters)) {
        if (filters->type != ZLGI_JSON_ARRAY)
            return zlgi_fail(err, ZLG_METADATA, "\"filters\" is not a list");
        for (const zlgi_json *entry = filters->items; entry; entry = entry->next)
            ZLGI_TRY(list_add(env, out, entry, "a filter", err));
    }
    return is_absent(compressor) ? ZLG_OK
                                 : list_add(env, out, compressor, "\"compressor\"", err);
}

/* True when one of the list turns elements into bytes, with nothing before it that needs
 * bytes. */
static bool takes_elements(const v2_list *list)
{
    int i = 0;
    while (i < list->n && list->codec[i]->kind == ZLGI_ARRAY_TO_ARRAY)
        i++;
    return i < list->n && list->codec[i]->kind == ZLGI_ARRAY_TO_BYTES;
}

static zlg_status add_reversal(zlgi_chain *chain, const zlgi_codec_env *env,
                               const zlgi_edge_type *from, zlg_error *err)
{
    zlgi_json order = {
        .type = ZLGI_JSON_STRING, .name = "order", .n_name = 5, .text = "F", .n_text = 1};
    zlgi_json configuration = {.type = ZLGI_JSON_OBJECT, .items = &order, .n_items = 1};
    return add(chain, &zlgi_codec_transpose, &configuration, env, from, err);
}

zlg_status zlgi_chain_parse_v2(const zlgi_codec_env *env, const zlgi_json *filters,
                               const zlgi_json *compressor, bool order_f,
                               const zlgi_edge_type *from, zlgi_chain **out, zlg_error *err)
{
    v2_list list;
    ZLGI_TRY(read_list(env, filters, compressor, &list, err));
    ZLGI_TRY(new_chain(env->arena, out, err));
    if (order_f && from->rank > 1)
        ZLGI_TRY(add_reversal(*out, env, from, err));
    int n = 0; /* those that do not work on bytes come before there are some */
    for (; n < list.n && needs_elements(list.codec[n]); n++)
        ZLGI_TRY(add(*out, list.codec[n], list.configuration[n], env, from, err));
    if (!takes_elements(&list)) {
        if (zlgi_dtype_is_varlen(from->dtype))
            return zlgi_fail(err, ZLG_METADATA, "objects need an object codec as a filter");
        ZLGI_TRY(add(*out, &zlgi_codec_bytes, NULL, env, from, err));
    }
    for (int i = n; i < list.n; i++)
        ZLGI_TRY(add(*out, list.codec[i], list.configuration[i], env, from, err));
    return finish(*out, err);
}
