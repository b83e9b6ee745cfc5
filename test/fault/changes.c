/*
 * Changes of nodes while memory or the store fails at each point in turn. The failure is
 * told with the node that it concerns, leaks nothing, and leaves documents that can be
 * read: the old one, where only one is changed. Then the same call succeeds.
 */
#define _GNU_SOURCE
#include "fault.h"

typedef struct scene {
    fault_heap heap;
    zlg_ctx *ctx;
    fault_store *store;
    zlg_array *three, *two; /* g/a and h/a */
} scene;

typedef struct scenario {
    const char *name, *node; /* node: named in the error */
    zlg_status (*run)(scene *s, zlg_error *err);
    const char *kept;     /* key whose text is the old one after a failure, or NULL */
    zlg_status or_status; /* of the second call, when the first had done its work */
} scenario;

static const int64_t shape[2] = {6, 5}, object[2] = {4, 3}, small[2] = {3, 2};
static int32_t data[30];

static zlg_array_spec make_spec(int zarr_format)
{
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    spec.zarr_format = zarr_format;
    spec.rank = 2;
    spec.shape = shape;
    spec.object_shape = object;
    spec.data_type = zarr_format == 2 ? "<i4" : "int32";
    spec.attributes = "{\"old\":[1.50]}";
    return spec;
}

static zlg_status create(scene *s, const char *path, const zlg_array_spec *spec,
                         zlg_error *err)
{
    zlg_array *array;
    zlg_status status = zlg_array_create(&s->store->base, path, spec, &array, err);
    zlg_array_close(array);
    return status;
}

/* ------------------------------------------------------------------ what is done */

static zlg_status create_three(scene *s, zlg_error *err)
{
    zlg_array_spec spec = make_spec(3);
    spec.object_shape = NULL;
    spec.target_chunk_bytes = 30;
    spec.target_shard_bytes = 70;
    spec.dimension_names = (const char *const[]){"y", NULL};
    return create(s, "deep/down/new", &spec, err);
}

static zlg_status create_two(scene *s, zlg_error *err)
{
    zlg_array_spec spec = make_spec(2);
    return create(s, "deep/down/new", &spec, err);
}

static zlg_status create_like(scene *s, zlg_error *err)
{
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    spec.like = s->three;
    spec.overwrite = 1;
    return create(s, "deep/down/new", &spec, err);
}

static zlg_status create_old_like(scene *s, zlg_error *err)
{
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    spec.like = s->two;
    spec.overwrite = 1;
    return create(s, "deep/down/new", &spec, err);
}

static zlg_status create_there(scene *s, zlg_error *err)
{
    zlg_array_spec spec = make_spec(3);
    spec.exist_ok = 1;
    return create(s, "g/a", &spec, err);
}

static zlg_status create_group(scene *s, zlg_error *err)
{
    zlg_group_spec spec = ZLG_GROUP_SPEC_INIT;
    zlg_group *group;
    spec.attributes = "{\"a\":1}";
    zlg_status status = zlg_group_create(&s->store->base, "deep/new", &spec, &group, err);
    zlg_group_close(group);
    return status;
}

static zlg_status set_three(scene *s, zlg_error *err)
{
    return zlg_node_set_attributes(&s->store->base, "g/a", "{\"new\":2}", NULL, err);
}

static zlg_status set_two(scene *s, zlg_error *err)
{
    return zlg_node_set_attributes(&s->store->base, "h/a", "{\"new\":2}", NULL, err);
}

static zlg_status consolidate_three(scene *s, zlg_error *err)
{
    return zlg_group_consolidate(&s->store->base, "g", NULL, err);
}

static zlg_status consolidate_two(scene *s, zlg_error *err)
{
    return zlg_group_consolidate(&s->store->base, "h", NULL, err);
}

static zlg_status shrink(scene *s, zlg_error *err)
{
    zlg_array *resized = NULL;
    zlg_status status = zlg_array_resize(s->three, small, NULL, &resized, err);
    zlg_array_close(resized);
    return status;
}

static zlg_status shrink_old(scene *s, zlg_error *err)
{
    zlg_array *resized = NULL;
    zlg_status status = zlg_array_resize(s->two, small, NULL, &resized, err);
    zlg_array_close(resized);
    return status;
}

static zlg_status append(scene *s, zlg_error *err)
{
    zlg_array *longer = NULL;
    zlg_status status =
        zlg_array_append(s->three, 1, 3, &(zlg_source){.data = data}, NULL, &longer, err);
    zlg_array_close(longer);
    return status;
}

static zlg_status append_old(scene *s, zlg_error *err)
{
    zlg_array *longer = NULL;
    zlg_status status =
        zlg_array_append(s->two, 0, 3, &(zlg_source){.data = data}, NULL, &longer, err);
    zlg_array_close(longer);
    return status;
}

static zlg_status delete (scene *s, zlg_error *err)
{
    return zlg_node_delete(&s->store->base, "g/a", NULL, err);
}

static zlg_status rename_node(scene *s, zlg_error *err)
{
    return zlg_node_rename(&s->store->base, "g/a", "g/b", NULL, err);
}

static const scenario scenarios[] = {
    {"create", "array deep/down/new", create_three, NULL, ZLG_EXISTS},
    {"create, version 2", "array deep/down/new", create_two, NULL, ZLG_EXISTS},
    {"create like", "array deep/down/new", create_like, NULL, ZLG_OK},
    {"create like, version 2", "array deep/down/new", create_old_like, NULL, ZLG_OK},
    {"create what is there", "array g/a", create_there, "g/a/zarr.json", ZLG_OK},
    {"create a group", "group deep/new", create_group, NULL, ZLG_EXISTS},
    {"attributes", "node g/a", set_three, "g/a/zarr.json", ZLG_OK},
    {"attributes, version 2", "node h/a", set_two, "h/a/.zattrs", ZLG_OK},
    {"consolidate", "group g", consolidate_three, "g/zarr.json", ZLG_OK},
    {"consolidate, version 2", "group h", consolidate_two, "h/.zmetadata", ZLG_OK},
    {"shrink", "array g/a", shrink, NULL, ZLG_OK},
    {"shrink, version 2", "array h/a", shrink_old, NULL, ZLG_OK},
    {"append", "array g/a", append, "g/a/zarr.json", ZLG_OK},
    {"append, version 2", "array h/a", append_old, "h/a/.zarray", ZLG_OK},
    {"delete", "node g/a", delete, "g/a/zarr.json", ZLG_NOT_FOUND},
    {"rename", "node g/a", rename_node, "g/a/zarr.json", ZLG_NOT_FOUND},
};

/* ------------------------------------------------------------------ the stage */

static void open_scene(scene *s)
{
    zlg_ctx_options options = ZLG_CTX_OPTIONS_INIT;
    zlg_array_spec three = make_spec(3), two = make_spec(2);
    fault_heap_init(&s->heap, 0, false);
    options.n_threads = 1;
    options.allocator = s->heap.alloc;
    MUST(zlg_ctx_new(&options, &s->ctx, err_));
    s->store = fault_store_open(s->ctx);
    MUST(zlg_array_create(&s->store->base, "g/a", &three, &s->three, err_));
    MUST(zlg_array_create(&s->store->base, "h/a", &two, &s->two, err_));
    for (int i = 0; i < 30; i++)
        data[i] = i + 1;
    MUST(zlg_array_write(s->three, NULL, &(zlg_source){.data = data}, NULL, err_));
    MUST(zlg_array_write(s->two, NULL, &(zlg_source){.data = data}, NULL, err_));
    MUST(zlg_group_consolidate(&s->store->base, "h", NULL, err_));
}

static void close_scene(scene *s)
{
    assert_int_equal(s->store->n_open, 0);
    zlg_array_close(s->three);
    zlg_array_close(s->two);
    zlg_store_close(&s->store->base);
    zlg_ctx_close(s->ctx);
    fault_heap_check_empty(&s->heap);
}

/* The text of a key in memory of its own; NULL when there is none. */
static char *text_of(scene *s, const char *key)
{
    zlg_text text;
    if (zlg_store_get(&s->store->base, key, &text, NULL) != ZLG_OK)
        return NULL;
    char *copy = malloc(text.n_bytes + 1);
    memcpy(copy, text.data, text.n_bytes + 1);
    zlg_text_free(&text);
    return copy;
}

/* Documents are whole: each is one JSON text. */
static void check_documents(scene *s)
{
    for (const fault_value *value = s->store->values; value; value = value->next) {
        const char *slash = strrchr(value->key, '/');
        const char *name = slash ? slash + 1 : value->key;
        const zlgi_json *parsed;
        zlgi_arena arena;
        if (name[0] != '.' && strcmp(name, "zarr.json") != 0)
            continue;
        zlgi_arena_init(&arena, &zlgi_default_alloc);
        MUST(zlgi_json_parse(&arena, (const char *)value->data, value->n_bytes, 64, &parsed,
                             err_));
        zlgi_arena_reset(&arena);
    }
}

static void check_failed(scene *s, const scenario *c, zlg_status status,
                         zlg_status expected, const zlg_error *err, const char *old,
                         uint64_t n)
{
    bool named = expected == ZLG_NO_MEMORY ? err->message[0] != '\0'
                                           : strstr(err->message, c->node) != NULL;
    if (status != expected || !named)
        fail_msg("%s, %d: %s \"%s\"", c->name, (int)n, zlg_status_name(status),
                 err->message);
    check_documents(s);
    char *kept = c->kept ? text_of(s, c->kept) : NULL;
    /* What takes several steps may have done the last but one. */
    if (c->kept && c->or_status == ZLG_OK && strcmp(kept, old) != 0)
        fail_msg("%s, %d: %s is %s", c->name, (int)n, c->kept, kept);
    free(kept);
    zlg_error again = {0};
    status = c->run(s, &again);
    if (status != ZLG_OK && status != c->or_status)
        fail_msg("%s, again after %d: %s", c->name, (int)n, again.message);
}

static void test_store(void **state)
{
    (void)state;
    for (size_t i = 0; i < ZLGI_COUNT(scenarios); i++)
        for (uint64_t n = 1, failed = 1; failed; n++) {
            scene s;
            zlg_error err = {0};
            open_scene(&s);
            char *old = scenarios[i].kept ? text_of(&s, scenarios[i].kept) : NULL;
            fault_set(s.store, FAULT_IO, n);
            zlg_status status = scenarios[i].run(&s, &err);
            failed = s.store->n_calls >= n;
            fault_set(s.store, FAULT_NONE, 0);
            /* Looking for documents of old versions takes a failure for none. */
            if (status != ZLG_OK)
                check_failed(&s, &scenarios[i], status, ZLG_IO, &err, old, n);
            free(old);
            close_scene(&s);
        }
}

static void test_memory(void **state)
{
    (void)state;
    for (size_t i = 0; i < ZLGI_COUNT(scenarios); i++)
        for (int once = 0; once < 2; once++)
            for (size_t n = 1, refused = 1; refused; n++) {
                scene s;
                zlg_error err = {0};
                open_scene(&s);
                char *old = scenarios[i].kept ? text_of(&s, scenarios[i].kept) : NULL;
                s.heap.once = once;
                s.heap.fail_at = s.heap.heap.n_calls + n;
                zlg_status status = scenarios[i].run(&s, &err);
                refused = s.heap.n_refused;
                s.heap.fail_at = 0;
                if (status != ZLG_OK)
                    check_failed(&s, &scenarios[i], status, ZLG_NO_MEMORY, &err, old, n);
                else if (refused)
                    fail_msg("%s, %zu: nothing failed", scenarios[i].name, n);
                free(old);
                close_scene(&s);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_store),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
