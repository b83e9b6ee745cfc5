/*
 * A registry: named things that a context is told of while it is in use. A list that only
 * grows at its front, so that looking needs no lock: things that somebody has found stay
 * where they are.
 */
#include "base/base.h"

void zlgi_registry_add(zlgi_registry *registry, zlgi_registered *one)
{
    one->next = __atomic_load_n(&registry->first, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&registry->first, &one->next, one, true,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        continue;
}

static bool is_called(const char *own, const char *wanted)
{
    return own != NULL && wanted != NULL && strcmp(own, wanted) == 0;
}

zlgi_registered *zlgi_registry_find(const zlgi_registry *registry, const void *sort,
                                    const char *name, const char *id)
{
    zlgi_registered *one =
        registry != NULL ? __atomic_load_n(&registry->first, __ATOMIC_ACQUIRE) : NULL;
    while (one != NULL &&
           (one->sort != sort || !(is_called(one->name, name) || is_called(one->id, id))))
        one = one->next;
    return one;
}

void zlgi_registry_reset(zlgi_registry *registry)
{
    zlgi_registered *one = registry->first;
    while (one != NULL) {
        zlgi_registered *next = one->next;
        one->destroy(one, registry->alloc);
        one = next;
    }
    registry->first = NULL;
}

size_t zlgi_kept_bytes(const char *text)
{
    return text != NULL ? strlen(text) + 1 : 0;
}

const char *zlgi_keep(char **at, const char *text)
{
    if (text == NULL)
        return NULL;
    char *kept = memcpy(*at, text, zlgi_kept_bytes(text));
    *at += zlgi_kept_bytes(text);
    return kept;
}
