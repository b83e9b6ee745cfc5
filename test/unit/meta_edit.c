/* Documents that change: what is put in its place, and all that stays as it was written. */
#include <stdio.h>

#include "meta_test.h"

static void check_text(const zlgi_json *json, const char *expected)
{
    zlgi_buf text;
    zlgi_buf_init(&text, &zlgi_default_alloc);
    assert_int_equal(zlgi_json_write(json, 0, &text, NULL), ZLG_OK);
    assert_int_equal(zlgi_buf_append(&text, "", 1, NULL), ZLG_OK);
    assert_string_equal((char *)text.data, expected);
    zlgi_buf_reset(&text);
}

static void test_a_member_keeps_its_place(void **state)
{
    (void)state;
    const zlgi_json *out, *old = parse("{\"a\":1.50,\"b\":NaN,\"c\":{\"z\":[]}}");
    assert_int_equal(zlgi_meta_with(&arena, old, "b", parse("[2]"), &out, &error), ZLG_OK);
    check_text(out, "{\"a\":1.50,\"b\":[2],\"c\":{\"z\":[]}}");
    assert_int_equal(zlgi_meta_with(&arena, out, "d", parse("null"), &out, &error), ZLG_OK);
    check_text(out, "{\"a\":1.50,\"b\":[2],\"c\":{\"z\":[]},\"d\":null}");
    check_text(old, "{\"a\":1.50,\"b\":NaN,\"c\":{\"z\":[]}}");
    assert_int_equal(zlgi_meta_with(&arena, parse("{}"), "d", parse("0"), &out, &error),
                     ZLG_OK);
    check_text(out, "{\"d\":0}");
}

static void check_edit(const char *old, const char *given, bool replace,
                       const char *const *remove, int n_remove, const char *expected)
{
    const zlgi_json *out;
    const zlgi_attribute_edit edit = {.given = given ? parse(given) : NULL,
                                      .replace = replace,
                                      .remove = remove,
                                      .n_remove = n_remove};
    if (zlgi_meta_edit_attributes(&arena, old ? parse(old) : NULL, &edit, &out, &error) !=
        ZLG_OK)
        fail_msg("%s", error.message);
    check_text(out, expected);
}

static void test_attributes(void **state)
{
    (void)state;
    static const char *const some[] = {"b", "nothing", "z"};
    static const char OLD[] = "{\"a\":1e2,\"b\":{\"x\":1},\"c\":Infinity}";
    check_edit(OLD, NULL, false, NULL, 0, OLD);
    check_edit(OLD, "{}", false, NULL, 0, OLD);
    check_edit(OLD, "{\"c\":3,\"d\":4}", false, NULL, 0,
               "{\"a\":1e2,\"b\":{\"x\":1},\"c\":3,\"d\":4}");
    check_edit(OLD, "{\"b\":{\"y\":2}}", false, NULL, 0,
               "{\"a\":1e2,\"b\":{\"y\":2},\"c\":Infinity}");
    check_edit(OLD, NULL, false, some, 3, "{\"a\":1e2,\"c\":Infinity}");
    check_edit(OLD, "{\"b\":5}", false, some, 3, "{\"a\":1e2,\"c\":Infinity,\"b\":5}");
    check_edit(OLD, "{\"q\":0}", true, NULL, 0, "{\"q\":0}");
    check_edit(OLD, NULL, true, NULL, 0, "{}");
    check_edit(NULL, "{\"q\":0}", false, some, 3, "{\"q\":0}");
    check_edit("null", "{\"q\":0,\"r\":1}", false, NULL, 0, "{\"q\":0,\"r\":1}");
    const zlgi_json *out;
    const zlgi_attribute_edit none = {.given = NULL};
    check_refused(zlgi_meta_edit_attributes(&arena, parse("[1]"), &none, &out, &error),
                  ZLG_METADATA, "attributes is a list");
}

static void test_names_with_nul(void **state)
{
    (void)state;
    check_edit("{\"a\\u0000b\":1,\"a\":2}", "{\"a\":3,\"a\\u0000b\":4}", false,
               (const char *const[]){"a"}, 1, "{\"a\\u0000b\":4,\"a\":3}");
}

static void test_shapes(void **state)
{
    (void)state;
    int rank;
    int64_t shape[ZLG_MAX_RANK];
    const zlgi_json *out;
    const zlgi_json *old = document(V3_ARRAY, "unknown", "{\"must_understand\": false}");
    assert_int_equal(zlgi_meta_shape(old, &rank, shape, &error), ZLG_OK);
    assert_true(rank == 2 && shape[0] == 10 && shape[1] == 7);
    static const int64_t other[2] = {INT64_MAX / 2, 0};
    assert_int_equal(zlgi_meta_reshape(&arena, old, 2, other, &LIMITS, &out, &error),
                     ZLG_OK);
    assert_int_equal(zlgi_meta_shape(out, &rank, shape, &error), ZLG_OK);
    assert_true(rank == 2 && shape[0] == other[0] && shape[1] == 0);
    assert_non_null(zlgi_json_get(out, "unknown"));
    assert_string_equal(zlgi_json_at(out, 2) ? "not an array"
                                             : out->items->next->next->name,
                        "shape"); /* where it stood */
    old = document(V2_ARRAY, NULL, NULL);
    assert_int_equal(zlgi_meta_reshape(&arena, old, 2, other, &LIMITS, &out, &error),
                     ZLG_OK);
    old = document(V3_ARRAY, "shape", "[]");
    assert_int_equal(zlgi_meta_shape(old, &rank, shape, &error), ZLG_OK);
    assert_int_equal(rank, 0);
    check_refused(zlgi_meta_shape(parse("{}"), &rank, shape, &error), ZLG_METADATA,
                  "shape is missing");
}

#define EDGES(axes)                                                                        \
    "{\"name\":\"rectilinear\",\"configuration\":{\"kind\":\"inline\",\"chunk_"            \
    "shapes\":" axes "}}"

static void check_axes(const zlgi_json *old, const int64_t *shape, const char *axes)
{
    const zlgi_json *out;
    assert_int_equal(zlgi_meta_reshape(&arena, old, 2, shape, &LIMITS, &out, &error),
                     ZLG_OK);
    const zlgi_json *grid = zlgi_json_get(out, "chunk_grid");
    const zlgi_json *configuration = zlgi_json_get(grid, "configuration");
    check_text(zlgi_json_get(configuration, "chunk_shapes"), axes);
    assert_true(zlgi_json_is(zlgi_json_get(configuration, "kind"), "inline"));
    assert_true(zlgi_json_is(zlgi_json_get(grid, "name"), "rectilinear"));
    assert_non_null(zlgi_json_get(out, "codecs"));
}

/* A list of edges goes on with one as long as what is missing; runs stay as they are
 * written, and the last counts on. A length goes on for ever. */
static void test_edges(void **state)
{
    (void)state;
    const zlgi_json *out, *old = document(V3_ARRAY, "chunk_grid", EDGES("[[4,[6,2]],7]"));
    static const struct {
        const char *old, *axes;
        int64_t shape[2];
    } cases[] = {
        {"[[4,[6,2]],7]", "[[4,[6,2]],7]", {16, 1000}},
        {"[[4,[6,2]],7]", "[[4,[6,2]],7]", {3, 0}},
        {"[[4,[6,2]],7]", "[[4,[6,2],1],7]", {17, 7}},
        {"[[4,[6,2]],7]", "[[4,[6,3]],7]", {22, 7}},
        {"[[4,6],[[1,3],2]]", "[[4,[6,2]],[[1,3],2,3]]", {16, 8}},
        {"[[6,4],[2,[1,1]]]", "[[6,4,6],[2,[1,2]]]", {16, 4}},
        {"[[],[[5,1]]]", "[[3],[[5,1]]]", {3, 0}},
        {"[[4],7]", "[[4,9223372036854775803],7]", {INT64_MAX, 7}},
    };
    for (size_t i = 0; i < ZLGI_COUNT(cases); i++) {
        char text[200];
        (void)snprintf(text, sizeof text,
                       "{\"name\":\"rectilinear\",\"configuration\":{\"kind\":\"inline\","
                       "\"chunk_shapes\":%s}}",
                       cases[i].old);
        check_axes(document(V3_ARRAY, "chunk_grid", text), cases[i].shape, cases[i].axes);
    }
    static const int64_t longer[2] = {17, 7};
    old = document(V3_ARRAY, "chunk_grid", EDGES("[[4,[6,0]],7]"));
    check_refused(zlgi_meta_reshape(&arena, old, 2, longer, &LIMITS, &out, &error),
                  ZLG_METADATA, "chunk_grid: axis 0: a count is 0");
    zlg_limits few = LIMITS;
    few.grid_edges = 2;
    old = document(V3_ARRAY, "chunk_grid", EDGES("[[4,[6,2]],7]"));
    check_refused(zlgi_meta_reshape(&arena, old, 2, longer, &few, &out, &error), ZLG_LIMIT,
                  "grid_edges");
    /* Whoever reads the document says what is wrong with it. */
    static const char *const others[] = {EDGES("[[4]]"), EDGES("4"), "\"rectilinear\"",
                                         "1"};
    for (size_t i = 0; i < ZLGI_COUNT(others); i++) {
        old = document(V3_ARRAY, "chunk_grid", others[i]);
        assert_int_equal(zlgi_meta_reshape(&arena, old, 2, longer, &LIMITS, &out, &error),
                         ZLG_OK);
        assert_true(zlgi_json_equal(zlgi_json_get(out, "chunk_grid"),
                                    zlgi_json_get(old, "chunk_grid")));
    }
}

static void test_no_memory(void **state)
{
    (void)state;
    static const int64_t other[2] = {11, 7};
    const zlgi_json *out, *old = document(V3_ARRAY, NULL, NULL);
    const zlgi_attribute_edit edit = {.given = parse("{\"a\":1}")};
    for (int what = 0; what < 3; what++) {
        test_heap heap;
        zlgi_arena other_arena;
        test_heap_init(&heap);
        heap.fail_at = 1;
        zlgi_arena_init(&other_arena, &heap.alloc);
        zlg_status status =
            what == 0 ? zlgi_meta_with(&other_arena, old, "a", edit.given, &out, &error)
            : what == 1
                ? zlgi_meta_edit_attributes(&other_arena, old, &edit, &out, &error)
                : zlgi_meta_reshape(&other_arena, old, 2, other, &LIMITS, &out, &error);
        assert_int_equal(status, ZLG_NO_MEMORY);
        zlgi_arena_reset(&other_arena);
        assert_int_equal(heap.n_blocks, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        meta_test(test_a_member_keeps_its_place),
        meta_test(test_attributes),
        meta_test(test_names_with_nul),
        meta_test(test_shapes),
        meta_test(test_edges),
        meta_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
