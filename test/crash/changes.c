/*
 * Somebody who appends, resizes and edits, and is killed at a random moment, again and
 * again. The array is as it was before the last change or as it is after it, its documents
 * are whole, and a resize to the shape that it has removes what the dead left outside. 30
 * rounds; as many as ZELLIGE_ROUNDS says in the long run.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/wait.h>

#include "../unit/change_test.h"

enum { WIDTH = 7, MOST_ROWS = 60, FILL = 9, MOST_MS = 15 };

/* What the child tells before a change, and again when it has returned. */
typedef struct note {
    int32_t done, kind, rows, attribute; /* rows and attribute: as they will be */
} note;

enum { APPEND, RESIZE, EDIT };

static int32_t element(int64_t row, int64_t column)
{
    return (int32_t)(row * 100 + column);
}

static zlg_status append_rows(zlg_array *array, int32_t from, int32_t to, zlg_error *err)
{
    int32_t rows[MOST_ROWS][WIDTH];
    for (int32_t i = from; i < to; i++)
        for (int k = 0; k < WIDTH; k++)
            rows[i - from][k] = element(i, k);
    return zlg_array_append(array, 0, to - from, &(zlg_source){.data = rows}, NULL, NULL,
                            err);
}

static zlg_status resize(zlg_array *array, int32_t rows, zlg_error *err)
{
    const int64_t shape[2] = {rows, WIDTH};
    return zlg_array_resize(array, shape, NULL, NULL, err);
}

static zlg_status edit(zlg_array *array, int32_t value, zlg_error *err)
{
    char text[64];
    snprintf(text, sizeof text, "{\"n\":%d,\"twice\":%d}", value, 2 * value);
    return zlg_node_set_attributes(array->store, array->path, text, NULL, err);
}

static zlg_status change(zlg_array *array, const note *n, int32_t rows, zlg_error *err)
{
    if (n->kind == APPEND)
        return append_rows(array, rows, n->rows, err);
    return n->kind == RESIZE ? resize(array, n->rows, err) : edit(array, n->attribute, err);
}

/* Changes the array until it is killed. */
static void run_child(const char *path, int pipe, int32_t rows, int32_t attribute,
                      uint64_t seed)
{
    zlg_ctx *ctx;
    zlg_store *store;
    zlg_array *array;
    zlg_error err = {0};
    if (zlg_ctx_new(NULL, &ctx, &err) || zlg_store_open_fs(ctx, path, NULL, &store, &err) ||
        zlg_array_open(store, "a", NULL, &array, &err))
        _exit(1);
    for (;;) {
        note n = {.kind = (int32_t)(test_random(&seed) % 3), .rows = rows};
        if (n.kind == APPEND && rows < MOST_ROWS)
            n.rows += 1 + (int32_t)(test_random(&seed) % (uint64_t)(MOST_ROWS - rows));
        if (n.kind == RESIZE)
            n.rows = (int32_t)(test_random(&seed) % (uint64_t)(rows + 1));
        n.attribute = attribute + (n.kind == EDIT);
        if (write(pipe, &n, sizeof n) != sizeof n || change(array, &n, rows, &err))
            _exit(2);
        n.done = 1;
        if (write(pipe, &n, sizeof n) != sizeof n)
            _exit(3);
        rows = n.rows;
        attribute = n.attribute;
    }
}

typedef struct stage {
    fixture f;
    int32_t rows, attribute; /* of the last change that returned */
    int n_changes;           /* that returned */
} stage;

static void check_rows(stage *s, int64_t n_written)
{
    zlg_array *array;
    int32_t out[2 * MOST_ROWS + 1][WIDTH];
    MUST(zlg_array_open(s->f.stores[1], "a", NULL, &array, err_));
    int64_t n = zlg_array_shape(array)[0];
    assert_in_range(n, 0, 2 * MOST_ROWS);
    MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, NULL, err_));
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < WIDTH; k++) {
            int32_t expected = i < n_written ? element(i, k) : FILL;
            if (out[i][k] != expected)
                fail_msg("row %d of %d is %d, expected %d", (int)i, (int)n, out[i][k],
                         expected);
        }
    zlg_array_close(array);
}

static int32_t stored_rows(stage *s)
{
    zlg_array *array;
    MUST(zlg_array_open(s->f.stores[1], "a", NULL, &array, err_));
    int64_t rows = zlg_array_shape(array)[0];
    zlg_array_close(array);
    return (int32_t)rows;
}

static void check_state(stage *s, const note *last)
{
    zlg_array *array;
    char attributes[64];
    int32_t rows = stored_rows(s);
    if (rows != s->rows && (last->done || rows != last->rows))
        fail_msg("%d rows, expected %d or %d", rows, s->rows, last->rows);
    /* A resize that was cut off may have filled rows already, but none inside. */
    check_rows(s, rows);
    MUST(zlg_array_open(s->f.stores[1], "a", NULL, &array, err_));
    zlg_text text;
    MUST(zlg_array_attributes(array, &text, err_));
    snprintf(attributes, sizeof attributes, "{\"n\":%d,\"twice\":%d}", s->attribute,
             2 * s->attribute);
    if (strcmp(text.data, attributes) != 0 && !last->done) {
        s->attribute = last->attribute;
        snprintf(attributes, sizeof attributes, "{\"n\":%d,\"twice\":%d}", s->attribute,
                 2 * s->attribute);
    }
    assert_string_equal(text.data, attributes);
    zlg_text_free(&text);
    /* The same shape once more, and nothing comes back. */
    MUST(resize(array, rows, err_));
    MUST(resize(array, rows + MOST_ROWS, err_));
    check_rows(s, rows);
    MUST(resize(array, rows, err_));
    s->rows = rows;
    zlg_array_close(array);
}

/* The next of what the child has told; false when that was all. */
static bool read_note(stage *s, int pipe, note *out)
{
    if (read(pipe, out, sizeof *out) != sizeof *out)
        return false;
    if (out->done) {
        s->rows = out->rows;
        s->attribute = out->attribute;
        s->n_changes++;
    }
    return true;
}

static void run_round(stage *s, uint64_t seed)
{
    int ends[2];
    note n, last;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(ends[0]);
        run_child(s->f.folder.path, ends[1], s->rows, s->attribute, seed);
    }
    close(ends[1]);
    do /* one change at least, however slow the machine is */
        assert_true(read_note(s, ends[0], &last));
    while (!last.done);
    usleep((useconds_t)(test_random(&seed) % (MOST_MS * 1000)));
    assert_int_equal(kill(child, SIGKILL), 0);
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFSIGNALED(result));
    while (read_note(s, ends[0], &n))
        last = n;
    close(ends[0]);
    check_state(s, &last);
}

static void test_killed_changes(void **state)
{
    (void)state;
    static stage s;
    const char *given = getenv("ZELLIGE_ROUNDS");
    int n_rounds = given ? (int)strtol(given, NULL, 10) : 30;
    open_fixture(&s.f);
    zlg_array_close(put_array(s.f.stores[1], "a", "[0,7]", "\"int32\"", REGULAR("[8,4]"),
                              "9", "[" SHARD("[2,4]", "[" LITTLE "]") "]"));
    MUST(zlg_node_set_attributes(s.f.stores[1], "a", "{\"n\":0,\"twice\":0}", NULL, err_));
    for (int i = 0; i < n_rounds; i++)
        run_round(&s, 1000003u * (uint64_t)(i + 1));
    assert_true(s.n_changes >= n_rounds);
    uint64_t n_swept;
    MUST(zlg_store_sweep(s.f.stores[1], "", &n_swept, err_));
    MUST(zlg_node_delete(s.f.stores[1], "a", NULL, err_));
    assert_int_equal(n_keys(s.f.stores[1], ""), 0);
    close_fixture(&s.f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_killed_changes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
