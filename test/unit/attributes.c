/* Attributes of nodes that are there: merged, replaced, removed; what else stands in the
 * document stays as it is; several at once all land. Label: engine */
#define _GNU_SOURCE
#include <sys/wait.h>

#include "change_test.h"

#define SET(store, path, attributes, options)                                              \
    MUST(zlg_node_set_attributes(store, path, attributes, options, err_))

/* A document that cannot be opened here, with all that must not be touched. */
#define UNKNOWN                                                                            \
    "{\n  \"zarr_format\": 3,\n  \"node_type\": \"array\",\n  \"shape\": [4],\n"           \
    "  \"data_type\": \"quaternion\",\n  \"fill_value\": 1.50,\n"                          \
    "  \"attributes\": {\n    \"a\": 1e400,\n    \"b\": [NaN, -Infinity]\n  },\n"          \
    "  \"mine\": {\n    \"must_understand\": false,\n    \"x\": 18446744073709551616\n"    \
    "  }\n}"

static void test_the_rest_of_a_document_stays(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    for (int s = 0; s < N_STORES; s++) {
        zlg_store *store = f.stores[s];
        put_text(store, "a/zarr.json", UNKNOWN);
        SET(store, "a", "{\"c\":\"\\u00fc\",\"a\":2}", NULL);
        check_text(store, "a/zarr.json",
                   "{\n  \"zarr_format\": 3,\n  \"node_type\": \"array\",\n"
                   "  \"shape\": [\n    4\n  ],\n  \"data_type\": \"quaternion\",\n"
                   "  \"fill_value\": 1.50,\n  \"attributes\": {\n    \"a\": 2,\n"
                   "    \"b\": [\n      NaN,\n      -Infinity\n    ],\n"
                   "    \"c\": \"\xc3\xbc\"\n  },\n  \"mine\": {\n"
                   "    \"must_understand\": false,\n"
                   "    \"x\": 18446744073709551616\n  }\n}");
        assert_int_equal(n_keys(store, ""), 1);
    }
    close_fixture(&f);
}

static void test_merge_replace_remove(void **state)
{
    (void)state;
    static const char *const names[] = {"b", "nothing"};
    fixture f;
    open_fixture(&f);
    for (int s = 0; s < N_STORES; s++)
        for (int format = 2; format <= 3; format++)
            for (int is_array = 0; is_array < 2; is_array++) {
                static const int64_t shape[1] = {4};
                zlg_store *store = f.stores[s];
                const char *path = is_array ? "node" : "";
                zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
                zlg_group_spec group_spec = ZLG_GROUP_SPEC_INIT;
                zlg_array *array = NULL;
                zlg_group *group;
                group_spec.zarr_format = spec.zarr_format = format;
                group_spec.overwrite = 1;
                spec.rank = 1;
                spec.shape = shape;
                spec.data_type = format == 2 ? "|u1" : "uint8";
                MUST(zlg_group_create(store, "", &group_spec, &group, err_));
                zlg_group_close(group);
                if (is_array)
                    MUST(zlg_array_create(store, path, &spec, &array, err_));
                zlg_array_close(array);
                zlg_edit_options options = ZLG_EDIT_OPTIONS_INIT;
                SET(store, path, "{\"a\":1,\"b\":{\"c\":[]}}", NULL);
                check_attributes(store, path, "{\"a\":1,\"b\":{\"c\":[]}}");
                SET(store, path, "{\"b\":2.50,\"d\":null}", &options);
                check_attributes(store, path, "{\"a\":1,\"b\":2.50,\"d\":null}");
                options.remove = names;
                options.n_remove = 2;
                SET(store, path, NULL, &options);
                check_attributes(store, path, "{\"a\":1,\"d\":null}");
                options.replace = 1;
                SET(store, path, "{\"z\":0}", &options);
                check_attributes(store, path, "{\"z\":0}");
                SET(store, path, NULL, &options);
                check_attributes(store, path, "{}");
            }
    close_fixture(&f);
}

static void test_what_is_refused(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    for (int s = 0; s < N_STORES; s++) {
        zlg_store *store = f.stores[s];
        zlg_edit_options options = ZLG_EDIT_OPTIONS_INIT;
        static const char group[] = "{\"zarr_format\":3,\"node_type\":\"group\"}";
        REFUSED(ZLG_NOT_FOUND, "node a: no array or group is there",
                zlg_node_set_attributes(store, "a", "{}", NULL, err_));
        REFUSED(ZLG_NOT_FOUND, "cannot name a node",
                zlg_node_set_attributes(store, "a//b", "{}", NULL, err_));
        put_text(store, "a/zarr.json", group);
        REFUSED(ZLG_USAGE, "node a: attributes: \"x\": NaN is no JSON; python_tokens",
                zlg_node_set_attributes(store, "a", "{\"x\":NaN}", NULL, err_));
        REFUSED(ZLG_METADATA, "attributes is a list",
                zlg_node_set_attributes(store, "a", "[1]", NULL, err_));
        REFUSED(ZLG_METADATA, "attributes: JSON",
                zlg_node_set_attributes(store, "a", "", NULL, err_));
        options.promise = 9;
        REFUSED(ZLG_USAGE, "promise 9 is none",
                zlg_node_set_attributes(store, "a", "{}", &options, err_));
        check_text(store, "a/zarr.json", group);
        options = (zlg_edit_options)ZLG_EDIT_OPTIONS_INIT;
        options.python_tokens = 1;
        SET(store, "a", "{\"x\":NaN}", &options);
        check_attributes(store, "a", "{\"x\":NaN}");
        /* What stands in a file is none of the caller's doing. */
        SET(store, "a", "{\"y\":1}", NULL);
        check_attributes(store, "a", "{\"x\":NaN,\"y\":1}");
        put_text(store, "a/zarr.json", "{\"zarr_format\":3}");
        REFUSED(ZLG_METADATA, "node_type is missing",
                zlg_node_set_attributes(store, "a", "{}", NULL, err_));
        put_text(store, "a/zarr.json",
                 "{\"zarr_format\":3,\"node_type\":\"group\",\"attributes\":[]}");
        REFUSED(ZLG_METADATA, "attributes is an empty list",
                zlg_node_set_attributes(store, "a", "{}", NULL, err_));
        put_text(store, "b/.zgroup", "{\"zarr_format\":2}");
        put_text(store, "b/.zattrs", "[1]");
        REFUSED(ZLG_METADATA, "", zlg_node_set_attributes(store, "b", "{}", NULL, err_));
        check_text(store, "b/.zattrs", "[1]");
    }
    zlg_fs_options options = ZLG_FS_OPTIONS_INIT;
    zlg_store *store;
    options.read_only = 1;
    MUST(zlg_store_open_fs(f.ctx, f.folder.path, &options, &store, err_));
    REFUSED(ZLG_USAGE, "read", zlg_node_set_attributes(store, "a", "{}", NULL, err_));
    zlg_store_close(store);
    close_fixture(&f);
}

/* More than could be read again is not stored. */
static void test_limits(void **state)
{
    (void)state;
    zlg_ctx_options options = ZLG_CTX_OPTIONS_INIT;
    zlg_limits limits = ZLG_LIMITS_INIT;
    zlg_ctx *ctx;
    zlg_store *store;
    zlg_group *group;
    limits.json_depth = 6;
    limits.metadata_bytes = 200;
    options.limits = &limits;
    MUST(zlg_ctx_new(&options, &ctx, err_));
    MUST(zlg_store_open_memory(ctx, &store, err_));
    MUST(zlg_group_create(store, "", NULL, &group, err_));
    zlg_group_close(group);
    REFUSED(ZLG_LIMIT, "JSON",
            zlg_node_set_attributes(store, "", "{\"a\":[[[[[1]]]]]}", NULL, err_));
    char attributes[400];
    snprintf(attributes, sizeof attributes, "{\"a\":\"%0300d\"}", 0);
    REFUSED(ZLG_LIMIT, "metadata_bytes",
            zlg_node_set_attributes(store, "", attributes, NULL, err_));
    check_attributes(store, "", "{}");
    zlg_store_close(store);
    zlg_ctx_close(ctx);
}

/* ------------------------------------------------------------------ several at once */

enum { WRITERS = 5, ROUNDS = 25 };

typedef struct attribute_writer {
    zlg_store *store;
    const char *path;
    int number;
    bool right;
} attribute_writer;

static void *run_attribute_writer(void *user)
{
    attribute_writer *w = user;
    w->right = true;
    for (int i = 0; i < ROUNDS; i++) {
        char attributes[64];
        snprintf(attributes, sizeof attributes, "{\"w%d_%d\":%d}", w->number, i, i);
        w->right = w->right && zlg_node_set_attributes(w->store, w->path, attributes, NULL,
                                                       NULL) == ZLG_OK;
    }
    return NULL;
}

static void check_all_landed(zlg_store *store, const char *path)
{
    zlg_text text;
    zlg_group *group;
    MUST(zlg_group_open(store, path, NULL, &group, err_));
    MUST(zlg_group_attributes(group, &text, err_));
    for (int w = 0; w < WRITERS; w++)
        for (int i = 0; i < ROUNDS; i++) {
            char word[64];
            snprintf(word, sizeof word, "\"w%d_%d\":%d", w, i, i);
            if (!strstr(text.data, word))
                fail_msg("%s is lost", word);
        }
    zlg_text_free(&text);
    zlg_group_close(group);
}

static void make_group(zlg_store *store, const char *path, int zarr_format)
{
    zlg_group_spec spec = ZLG_GROUP_SPEC_INIT;
    zlg_group *group;
    spec.zarr_format = zarr_format;
    MUST(zlg_group_create(store, path, &spec, &group, err_));
    zlg_group_close(group);
}

static void test_threads(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    for (int s = 0; s < N_STORES; s++)
        for (int format = 2; format <= 3; format++) {
            attribute_writer writers[WRITERS];
            pthread_t threads[WRITERS];
            const char *path = format == 2 ? "two" : "three";
            make_group(f.stores[s], path, format);
            for (int i = 0; i < WRITERS; i++) {
                writers[i] = (attribute_writer){f.stores[s], path, i, false};
                assert_int_equal(
                    pthread_create(&threads[i], NULL, run_attribute_writer, &writers[i]),
                    0);
            }
            for (int i = 0; i < WRITERS; i++) {
                assert_int_equal(pthread_join(threads[i], NULL), 0);
                assert_true(writers[i].right);
            }
            check_all_landed(f.stores[s], path);
        }
    close_fixture(&f);
}

static void test_processes(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    make_group(f.stores[1], "g", 3);
    pid_t children[WRITERS];
    for (int i = 0; i < WRITERS; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0) {
            attribute_writer w = {f.stores[1], "g", i, false};
            run_attribute_writer(&w);
            _exit(w.right ? 0 : 1);
        }
    }
    for (int i = 0; i < WRITERS; i++) {
        int result;
        assert_int_equal(waitpid(children[i], &result, 0), children[i]);
        assert_int_equal(result, 0);
    }
    check_all_landed(f.stores[1], "g");
    assert_int_equal(n_keys(f.stores[1], "g"), 1);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_rest_of_a_document_stays),
        cmocka_unit_test(test_merge_replace_remove),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_processes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
