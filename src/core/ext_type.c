/*
 * ext_type.c: data types of the caller, each a name for a built-in one. Knows how the two
 * speak of types and fill values; what a type means is the caller's business.
 */
#include "core/core.h"

static const char sort[] = "data type";

struct zlgi_ext_type {
    zlgi_registered entry;
    zlg_data_type_methods methods;
    void *self;
    size_t n_bytes; /* of this block, the texts behind it */
};

const struct zlgi_ext_type *zlgi_ext_type_find(const zlgi_registry *registry,
                                               const char *name)
{
    return (const struct zlgi_ext_type *)zlgi_registry_find(registry, sort, name, NULL);
}

const char *zlgi_ext_type_default(const struct zlgi_ext_type *type)
{
    return type->methods.default_fill_value;
}

/* ------------------------------------------------------------------ asking
 *
 * What a method writes is JSON. fill NULL: the type is asked for.
 */
typedef struct question {
    const struct zlgi_ext_type *type;
    const zlgi_json *fill;
    zlgi_buf configuration, value, answer;
} question;

static zlg_status ask_into(question *q, const zlgi_json *configuration, zlgi_arena *arena,
                           const zlg_limits *limits, const zlgi_json **out, zlg_error *err)
{
    const zlg_data_type_methods *methods = &q->type->methods;
    zlg_error own = {0};
    zlgi_out result = {.expected = ZLGI_UNKNOWN,
                       .limit = (size_t)limits->metadata_bytes,
                       .buf = &q->answer};
    zlg_output output = {.out = &result};
    zlg_status status;
    ZLGI_TRY(zlgi_ext_text(configuration, &q->configuration, err));
    const char *text = (const char *)q->configuration.data;
    if (q->fill == NULL) {
        status = methods->type(q->type->self, text, &output, &own);
    } else {
        ZLGI_TRY(zlgi_ext_text(q->fill, &q->value, err));
        status = methods->fill_value(q->type->self, text, (const char *)q->value.data,
                                     &output, &own);
    }
    ZLGI_TRY(zlgi_foreign(status, ZLG_METADATA, &own, err));
    ZLGI_TRY(zlgi_output_finish(&output, err));
    return zlgi_json_parse(arena, (const char *)result.result.data, result.result.n,
                           (int)limits->json_depth, out, err);
}

static zlg_status ask(const struct zlgi_ext_type *type, const zlgi_json *configuration,
                      const zlgi_json *fill, zlgi_arena *arena, const zlg_limits *limits,
                      const zlgi_json **out, zlg_error *err)
{
    question q = {.type = type, .fill = fill};
    zlgi_buf_init(&q.configuration, arena->alloc);
    zlgi_buf_init(&q.value, arena->alloc);
    zlgi_buf_init(&q.answer, arena->alloc);
    zlg_status status = ask_into(&q, configuration, arena, limits, out, err);
    zlgi_buf_reset(&q.configuration);
    zlgi_buf_reset(&q.value);
    zlgi_buf_reset(&q.answer);
    return status;
}

static zlg_status resolve(const struct zlgi_ext_type *type, zlgi_arena *arena,
                          const zlg_limits *limits, const zlgi_json *configuration,
                          const zlgi_json *fill, const zlgi_json **out_type,
                          const zlgi_json **out_fill, zlg_error *err)
{
    const char *built_in = type->methods.data_type;
    *out_fill = fill;
    if (built_in != NULL && configuration != NULL && configuration->n_items > 0)
        return zlgi_fail(err, ZLG_METADATA, "\"%s\" is not known",
                         configuration->items->name);
    ZLGI_TRY(built_in != NULL
                 ? zlgi_ext_definition(arena, built_in, limits, out_type, err)
                 : ask(type, configuration, NULL, arena, limits, out_type, err));
    if (fill == NULL || type->methods.fill_value == NULL)
        return ZLG_OK;
    return ask(type, configuration, fill, arena, limits, out_fill, err);
}

zlg_status zlgi_ext_type_resolve(const struct zlgi_ext_type *type, zlgi_arena *arena,
                                 const zlg_limits *limits, const zlgi_json *configuration,
                                 const zlgi_json *fill, const zlgi_json **out_type,
                                 const zlgi_json **out_fill, zlg_error *err)
{
    zlg_status status =
        resolve(type, arena, limits, configuration, fill, out_type, out_fill, err);
    return zlgi_within(err, status, "data type %s", type->entry.name);
}

/* ------------------------------------------------------------------ registering */

static void destroy(zlgi_registered *one, const zlgi_alloc *alloc)
{
    struct zlgi_ext_type *type = (struct zlgi_ext_type *)one;
    if (type->methods.close != NULL)
        type->methods.close(type->self);
    zlgi_free(alloc, type, type->n_bytes);
}

/* A name that no built-in type has: those are known, or ask for a configuration. */
static zlg_status check_name(const char *name, const zlgi_alloc *alloc,
                             const zlg_limits *limits, zlg_error *err)
{
    if (name == NULL || *name == '\0' || *name == '{' || *name == '"' ||
        !zlgi_utf8_valid((const uint8_t *)name, strlen(name)))
        return zlgi_fail(err, ZLG_USAGE, "a data type has no name, or one that is none");
    zlgi_arena arena;
    zlgi_arena_init(&arena, alloc);
    const zlgi_json *json;
    const zlgi_dtype *dtype;
    zlg_status status = zlgi_ext_definition(&arena, name, limits, &json, err);
    if (status == ZLG_OK)
        status = zlgi_dtype_parse_v3(&arena, json, &dtype, err);
    zlgi_arena_reset(&arena);
    if (status == ZLG_UNSUPPORTED)
        return ZLG_OK;
    if (status == ZLG_NO_MEMORY)
        return status;
    return zlgi_fail(err, ZLG_EXISTS, "data type %s is built in", name);
}

zlg_status zlgi_ext_type_register(zlgi_registry *registry,
                                  const zlg_data_type_methods *methods, void *self,
                                  const zlg_limits *limits, zlg_error *err)
{
    if ((methods->data_type == NULL) == (methods->type == NULL))
        return zlgi_fail(err, ZLG_USAGE, "of data_type and type one is to be given");
    ZLGI_TRY(check_name(methods->name, registry->alloc, limits, err));
    size_t n = sizeof(struct zlgi_ext_type) + zlgi_kept_bytes(methods->name) +
               zlgi_kept_bytes(methods->data_type) +
               zlgi_kept_bytes(methods->default_fill_value);
    struct zlgi_ext_type *type = zlgi_new(registry->alloc, n);
    if (type == NULL)
        return zlgi_no_memory(err, n);
    char *texts = (char *)(type + 1);
    type->methods = *methods;
    type->methods.data_type = zlgi_keep(&texts, methods->data_type);
    type->methods.default_fill_value = zlgi_keep(&texts, methods->default_fill_value);
    type->self = self;
    type->n_bytes = n;
    type->entry = (zlgi_registered){
        .sort = sort, .name = zlgi_keep(&texts, methods->name), .destroy = destroy};
    zlgi_registry_add(registry, &type->entry);
    return ZLG_OK;
}
