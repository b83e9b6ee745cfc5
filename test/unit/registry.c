/* Registries: what was added last is found first, from any thread. Label: engine */
#define _GNU_SOURCE
#include <pthread.h>

#include "base/base.h"
#include "test.h"

static const char sort[1], other_sort[1];
static int n_destroyed;

typedef struct thing {
    zlgi_registered entry;
    int number;
} thing;

static void destroy(zlgi_registered *one, const zlgi_alloc *alloc)
{
    n_destroyed++;
    zlgi_free(alloc, one, sizeof(thing));
}

static thing *add(zlgi_registry *registry, const void *what, const char *name,
                  const char *id)
{
    thing *t = zlgi_new(registry->alloc, sizeof *t);
    if (t == NULL)
        return NULL;
    t->entry = (zlgi_registered){.sort = what, .name = name, .id = id, .destroy = destroy};
    zlgi_registry_add(registry, &t->entry);
    return t;
}

static void test_finding(void **state)
{
    (void)state;
    zlgi_registry registry = {.alloc = &zlgi_default_alloc};
    n_destroyed = 0;
    assert_null(zlgi_registry_find(NULL, sort, "a", NULL));
    assert_null(zlgi_registry_find(&registry, sort, "a", NULL));
    thing *a = add(&registry, sort, "a", "b"), *nameless = add(&registry, sort, NULL, "c");
    thing *other = add(&registry, other_sort, "a", NULL);
    assert_ptr_equal(zlgi_registry_find(&registry, sort, "a", NULL), a);
    assert_ptr_equal(zlgi_registry_find(&registry, sort, NULL, "b"), a);
    assert_ptr_equal(zlgi_registry_find(&registry, sort, NULL, "c"), nameless);
    assert_ptr_equal(zlgi_registry_find(&registry, other_sort, "a", NULL), other);
    assert_null(zlgi_registry_find(&registry, sort, "b", NULL));
    assert_null(zlgi_registry_find(&registry, sort, NULL, "a"));
    assert_null(zlgi_registry_find(&registry, other_sort, NULL, "b"));
    thing *later = add(&registry, sort, "a", NULL);
    assert_ptr_equal(zlgi_registry_find(&registry, sort, "a", NULL), later);
    assert_ptr_equal(zlgi_registry_find(&registry, sort, NULL, "b"), a);
    zlgi_registry_reset(&registry);
    assert_int_equal(n_destroyed, 4);
    assert_null(zlgi_registry_find(&registry, sort, "a", NULL));
}

enum { N_THREADS = 4, N_ADDED = 200 };

static void *add_many(void *user)
{
    for (int i = 0; i < N_ADDED; i++)
        if (add(user, sort, "a", NULL) == NULL ||
            zlgi_registry_find(user, sort, "a", NULL) == NULL)
            return user;
    return NULL;
}

static void test_from_many_threads(void **state)
{
    (void)state;
    zlgi_registry registry = {.alloc = &zlgi_default_alloc};
    pthread_t threads[N_THREADS];
    void *failed;
    n_destroyed = 0;
    for (int i = 0; i < N_THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add_many, &registry), 0);
    for (int i = 0; i < N_THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    zlgi_registry_reset(&registry);
    assert_int_equal(n_destroyed, N_THREADS * N_ADDED);
}

static void test_kept_texts(void **state)
{
    (void)state;
    char room[8], *at = room;
    assert_int_equal(zlgi_kept_bytes("ab") + zlgi_kept_bytes(NULL) + zlgi_kept_bytes(""),
                     4);
    assert_string_equal(zlgi_keep(&at, "ab"), "ab");
    assert_null(zlgi_keep(&at, NULL));
    assert_string_equal(zlgi_keep(&at, ""), "");
    assert_ptr_equal(at, room + 4);
    assert_memory_equal(room, "ab\0", 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_finding),
        cmocka_unit_test(test_from_many_threads),
        cmocka_unit_test(test_kept_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
