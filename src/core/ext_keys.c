/*
 * ext_keys.c: chunk key encodings of the caller. What they write is checked here, since a
 * key that is none would be a chunk that is missing.
 */
#include "core/core.h"

static const char sort[] = "chunk key encoding";

struct zlgi_ext_keys {
    zlgi_registered entry;
    zlg_key_methods methods;
    void *self;
    size_t n_bytes; /* of this block, the name behind it */
};

/* In the arena of an array. */
typedef struct keys_state {
    zlgi_key_own own;
    const struct zlgi_ext_keys *keys;
    void *state;
} keys_state;

static zlg_status write_key(const zlgi_key_own *own, int rank, const int64_t *coordinates,
                            char out[ZLGI_KEY_MAX], zlg_error *err)
{
    const keys_state *s = (const keys_state *)own;
    zlg_error theirs = {0};
    memset(out, 0, ZLGI_KEY_MAX);
    zlg_status status =
        s->keys->methods.write(s->state, rank, coordinates, out, ZLGI_KEY_MAX, &theirs);
    status = zlgi_foreign(status, ZLG_USAGE, &theirs, err);
    if (status == ZLG_OK && memchr(out, '\0', ZLGI_KEY_MAX) == NULL)
        status = zlgi_fail(err, ZLG_USAGE, "a key does not end within %d bytes",
                           (int)ZLGI_KEY_MAX);
    if (status == ZLG_OK &&
        (zlgi_key_check(out, NULL) != ZLG_OK || strcmp(out, "zarr.json") == 0))
        status = zlgi_fail(err, ZLG_USAGE, "\"%s\" is no key of a chunk", out);
    return zlgi_within(err, status, "chunk key encoding %s", s->keys->entry.name);
}

static bool read_key(const zlgi_key_own *own, int rank, const char *key,
                     int64_t *coordinates)
{
    const keys_state *s = (const keys_state *)own;
    if (s->keys->methods.read(s->state, rank, key, coordinates) == 0)
        return false;
    for (int i = 0; i < rank; i++)
        if (coordinates[i] < 0)
            return false;
    return true;
}

/* ------------------------------------------------------------------ configuration */

static void free_state(void *what)
{
    const keys_state *s = what;
    s->keys->methods.free(s->state);
}

static zlg_status parse(keys_state *s, zlgi_arena *arena, const zlgi_json *configuration,
                        int rank, zlgi_buf *text, zlg_error *err)
{
    const zlg_key_methods *methods = &s->keys->methods;
    zlg_error own = {0};
    ZLGI_TRY(zlgi_ext_text(configuration, text, err));
    zlg_status status =
        methods->parse(s->keys->self, (const char *)text->data, rank, &s->state, &own);
    ZLGI_TRY(zlgi_foreign(status, ZLG_METADATA, &own, err));
    if (methods->free == NULL || zlgi_arena_defer(arena, free_state, s))
        return ZLG_OK;
    free_state(s);
    return zlgi_no_memory(err, sizeof *s);
}

zlg_status zlgi_ext_keys_make(const struct zlgi_ext_keys *keys, zlgi_arena *arena,
                              const zlgi_json *configuration, int rank,
                              zlgi_key_encoding *out, zlg_error *err)
{
    keys_state *s = zlgi_arena_get(arena, sizeof *s);
    if (s == NULL)
        return zlgi_no_memory(err, sizeof *s);
    *s = (keys_state){{write_key, read_key}, keys, keys->self};
    *out = (zlgi_key_encoding){.style = ZLGI_KEY_OWN, .separator = '/', .own = &s->own};
    zlg_status status = ZLG_OK;
    if (keys->methods.parse != NULL) {
        zlgi_buf text;
        zlgi_buf_init(&text, arena->alloc);
        status = parse(s, arena, configuration, rank, &text, err);
        zlgi_buf_reset(&text);
    } else if (configuration != NULL && configuration->n_items > 0) {
        status =
            zlgi_fail(err, ZLG_METADATA, "\"%s\" is not known", configuration->items->name);
    }
    return zlgi_within(err, status, "chunk key encoding %s", keys->entry.name);
}

/* ------------------------------------------------------------------ registering */

const struct zlgi_ext_keys *zlgi_ext_keys_find(const zlgi_registry *registry,
                                               const char *name)
{
    return (const struct zlgi_ext_keys *)zlgi_registry_find(registry, sort, name, NULL);
}

static void destroy(zlgi_registered *one, const zlgi_alloc *alloc)
{
    struct zlgi_ext_keys *keys = (struct zlgi_ext_keys *)one;
    if (keys->methods.close != NULL)
        keys->methods.close(keys->self);
    zlgi_free(alloc, keys, keys->n_bytes);
}

static zlg_status check_methods(const zlg_key_methods *methods, zlg_error *err)
{
    const char *name = methods->name;
    if (name == NULL || *name == '\0' || *name == '{' || *name == '"' ||
        !zlgi_utf8_valid((const uint8_t *)name, strlen(name)))
        return zlgi_fail(err, ZLG_USAGE,
                         "a chunk key encoding has no name, or one that is none");
    if (strcmp(name, "default") == 0 || strcmp(name, "v2") == 0)
        return zlgi_fail(err, ZLG_EXISTS, "chunk key encoding %s is built in", name);
    if (methods->write == NULL || methods->read == NULL)
        return zlgi_fail(err, ZLG_USAGE, "chunk keys are to be written and read");
    return ZLG_OK;
}

zlg_status zlgi_ext_keys_register(zlgi_registry *registry, const zlg_key_methods *methods,
                                  void *self, zlg_error *err)
{
    ZLGI_TRY(check_methods(methods, err));
    size_t n = sizeof(struct zlgi_ext_keys) + zlgi_kept_bytes(methods->name);
    struct zlgi_ext_keys *keys = zlgi_new(registry->alloc, n);
    if (keys == NULL)
        return zlgi_no_memory(err, n);
    char *texts = (char *)(keys + 1);
    keys->methods = *methods;
    keys->self = self;
    keys->n_bytes = n;
    keys->entry = (zlgi_registered){
        .sort = sort, .name = zlgi_keep(&texts, methods->name), .destroy = destroy};
    zlgi_registry_add(registry, &keys->entry);
    return ZLG_OK;
}
