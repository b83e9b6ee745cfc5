/* Names that stand twice, among few and among many; no memory. */
#include "json.h"

/* An object of n members m0, m1 ...; with the name of one of them a second time at the
 * end, if there is one. */
static size_t write_members(char *text, size_t room, int n, const char *again)
{
    size_t at = 0;
    for (int i = 0; i < n; i++)
        at += (size_t)snprintf(text + at, room - at, "%c\"m%d\":%d", i == 0 ? '{' : ',', i,
                               i);
    if (again != NULL)
        at += (size_t)snprintf(text + at, room - at, ",\"%s\":0", again);
    at += (size_t)snprintf(text + at, room - at, "}");
    assert_true(at < room);
    return at;
}

static void test_repeated_names_among_many(void **state)
{
    (void)state;
    static char text[4000];
    for (int n = 1; n < 70; n++) {
        parsed p;
        parse_bytes(&p, text, write_members(text, sizeof text, n, NULL));
        assert_int_equal(p.status, ZLG_OK);
        assert_int_equal(p.value->n_items, n);
        done(&p);
        for (int i = 0; i < n; i++) {
            char name[20], message[100];
            snprintf(name, sizeof name, "m%d", i);
            size_t n_text = write_members(text, sizeof text, n, name);
            size_t first = (size_t)(strstr(text, name) - text) - 1;
            size_t again = n_text - strlen(name) - 5;
            snprintf(message, sizeof message,
                     "byte %zu: member \"%s\" stands at byte %zu already", again, name,
                     first);
            assert_refused(text, n_text, message);
        }
    }
}

static void test_a_long_name_is_cut_in_the_message(void **state)
{
    (void)state;
    static char text[400], message[200];
    size_t n = (size_t)snprintf(text, sizeof text, "{\"%0100d\":1,\"%0100d\":2}", 7, 7);
    snprintf(message, sizeof message, "byte 106: member \"%060d\" stands at byte 1 already",
             0);
    assert_refused(text, n, message);
}

/* Consolidated metadata: quadratic work would take minutes here. */
static void test_a_large_object(void **state)
{
    (void)state;
    enum { N = 300000, ROOM = 32 * N };
    char *text = malloc(ROOM);
    assert_non_null(text);
    parsed p;
    parse_bytes(&p, text, write_members(text, ROOM, N, NULL));
    assert_int_equal(p.status, ZLG_OK);
    assert_int_equal(p.value->n_items, N);
    int i = 0;
    for (const zlgi_json *m = p.value->items; m != NULL; m = m->next, i++) {
        int64_t value;
        assert_true(zlgi_json_i64(m, &value) && value == i);
    }
    assert_int_equal(i, N);
    assert_true(zlgi_json_equal(p.value, p.value));
    done(&p);
    parse_bytes(&p, text, write_members(text, ROOM, N, "m123456"));
    assert_int_equal(p.status, ZLG_METADATA);
    assert_non_null(strstr(p.err.message, "member \"m123456\" stands at byte"));
    done(&p);
    free(text);
}

/* Objects inside the members of a large one use the same room for sorting. */
static void test_large_objects_inside_each_other(void **state)
{
    (void)state;
    static char inner[2000], text[200000];
    write_members(inner, sizeof inner, 40, NULL);
    size_t at = 0;
    for (int i = 0; i < 60; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%c\"o%d\":%s",
                               i == 0 ? '{' : ',', i, inner);
    at += (size_t)snprintf(text + at, sizeof text - at, "}");
    parsed p;
    parse_bytes(&p, text, at);
    assert_int_equal(p.status, ZLG_OK);
    assert_int_equal(zlgi_json_get(p.value, "o59")->n_items, 40);
    done(&p);
}

/* Every allocation in turn fails; nothing leaks, and a NULL error is fine. */
static void test_no_memory(void **state)
{
    (void)state;
    static char text[60000];
    const zlgi_json *value;
    zlg_error err;
    size_t n = write_members(text, sizeof text, 3000, NULL);
    for (size_t fail_at = 1;; fail_at++) {
        test_heap heap;
        zlgi_arena arena;
        zlgi_buf out;
        test_heap_init(&heap);
        heap.fail_at = fail_at;
        zlgi_arena_init(&arena, &heap.alloc);
        zlgi_buf_init(&out, &heap.alloc);
        zlg_status status = zlgi_json_parse(&arena, text, n, DEPTH, &value, &err);
        if (status == ZLG_OK)
            status = zlgi_json_write(value, 2, &out, &err);
        zlgi_buf_reset(&out);
        zlgi_arena_reset(&arena);
        assert_int_equal(heap.n_blocks, 0);
        if (status == ZLG_OK) {
            assert_true(fail_at > 5);
            return;
        }
        assert_int_equal(status, ZLG_NO_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_repeated_names_among_many),
        cmocka_unit_test(test_a_long_name_is_cut_in_the_message),
        cmocka_unit_test(test_a_large_object),
        cmocka_unit_test(test_large_objects_inside_each_other),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
