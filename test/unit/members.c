/* The members of a group: order, depth, and what is no member. */
#define _GNU_SOURCE
#include "fault/fault.h"

typedef struct found {
    char text[4096]; /* "a/ a/b c/ ..." groups with a slash at the end */
    size_t n, n_text;
} found;

static int note(void *user, const char *path, zlg_node kind)
{
    found *f = user;
    f->n++;
    if (strlen(path) + 3 < sizeof f->text - f->n_text)
        f->n_text += (size_t)snprintf(f->text + f->n_text, sizeof f->text - f->n_text,
                                      "%s%s%s", f->n_text ? " " : "", path,
                                      kind == ZLG_NODE_GROUP   ? "/"
                                      : kind == ZLG_NODE_ARRAY ? ""
                                                               : "?");
    return 0;
}

static const char *const GROUP = "{\"zarr_format\":3,\"node_type\":\"group\"}";
static const char *const ARRAY =
    "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[],\"data_type\":\"int8\","
    "\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[]}},"
    "\"chunk_key_encoding\":{\"name\":\"default\"},\"fill_value\":0,"
    "\"codecs\":[{\"name\":\"bytes\"}]}";

static void check_members(zlg_group *group, int recursive, const char *expected)
{
    found f = {.n = 0};
    MUST(zlg_group_members(group, recursive, note, &f, err_));
    assert_string_equal(f.text, expected);
}

static void test_parents_come_first(void **state)
{
    (void)state;
    zlg_ctx *ctx;
    zlg_store *store;
    zlg_group *group, *a;
    MUST(zlg_ctx_new(NULL, &ctx, err_));
    MUST(zlg_store_open_memory(ctx, &store, err_));
    put_text(store, "zarr.json", GROUP);
    put_text(store, "a/zarr.json", GROUP);
    put_text(store, "a/b/zarr.json", GROUP);
    put_text(store, "a/b/c/zarr.json", ARRAY);
    put_text(store, "a/d/zarr.json", ARRAY);
    put_text(store, "a/broken/zarr.json", "{");
    put_text(store, "a-/zarr.json", ARRAY);
    put_text(store, "nothing/of/interest", "");
    MUST(zlg_group_open(store, "", NULL, &group, err_));
    MUST(zlg_group_open_group(group, "a", &a, err_));
    check_members(group, 0, "a/ a-");
    check_members(group, 1, "a/ a/b/ a/b/c a/broken? a/d a-");
    check_members(a, 1, "b/ b/c broken? d");
    zlg_group_close(a);
    zlg_group_close(group);
    zlg_store_close(store);
    zlg_ctx_close(ctx);
}

/* On the stack of a small thread, as those of other languages are. */
static void *count_members(void *group)
{
    static found f;
    MUST(zlg_group_members(group, 1, note, &f, err_));
    return &f.n;
}

static void test_a_deep_hierarchy_needs_no_deep_stack(void **state)
{
    (void)state;
    enum { DEPTH = 2000, STACK = 2 << 20 };
    zlg_ctx *ctx;
    zlg_store *store;
    zlg_group *group;
    char key[2 * DEPTH + 16];
    MUST(zlg_ctx_new(NULL, &ctx, err_));
    MUST(zlg_store_open_memory(ctx, &store, err_));
    for (size_t n = 0; n <= DEPTH; n++) {
        memcpy(key + 2 * n, "zarr.json", sizeof "zarr.json");
        put_text(store, key, GROUP);
        memcpy(key + 2 * n, "a/", 2);
    }
    MUST(zlg_group_open(store, "", NULL, &group, err_));
    pthread_attr_t attributes;
    pthread_t thread;
    void *n_members;
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstacksize(&attributes, STACK), 0);
    assert_int_equal(pthread_create(&thread, &attributes, count_members, group), 0);
    assert_int_equal(pthread_join(thread, &n_members), 0);
    pthread_attr_destroy(&attributes);
    assert_int_equal(*(size_t *)n_members, DEPTH);
    zlg_group_close(group);
    zlg_store_close(store);
    zlg_ctx_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parents_come_first),
        cmocka_unit_test(test_a_deep_hierarchy_needs_no_deep_stack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
