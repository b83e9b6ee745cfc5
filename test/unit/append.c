/* Adding along an axis: chunks that are full and those that are not, several at once, and
 * what is left when it fails. Label: engine */
#define _GNU_SOURCE
#include <sys/wait.h>

#include "change_test.h"

typedef struct layout {
    int zarr_format;
    const char *grid, *codecs; /* version 3 */
    const char *separator;     /* version 2 */
} layout;

static const layout layouts[] = {
    {3, REGULAR("[4,3]"), "[" LITTLE "," ZSTD "]", NULL},
    {3, REGULAR("[4,6]"), "[" SHARD("[2,3]", "[" LITTLE "]") "]", NULL},
    {3, REGULAR("[8,6]"), "[" TRANSPOSE("[1,0]") "," BIG "," CRC "]", NULL},
    {3,
     "{\"name\":\"rectilinear\",\"configuration\":{\"kind\":\"inline\",\"chunk_shapes\":["
     "[2,[4,2]],[[3,2]]]}}",
     "[" LITTLE "]", NULL},
    {2, NULL, NULL, "/"},
    {2, NULL, NULL, "."},
};

static zlg_array *make_array(zlg_store *store, const char *path, const layout *l,
                             int64_t rows, int64_t columns)
{
    static const int64_t chunk[2] = {4, 3};
    const int64_t shape[2] = {rows, columns};
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    zlg_array *array;
    spec.zarr_format = l->zarr_format;
    spec.rank = 2;
    spec.shape = shape;
    spec.data_type = l->zarr_format == 2 ? "<i4" : "int32";
    spec.object_shape = l->zarr_format == 2 ? chunk : NULL;
    spec.chunk_grid = l->grid;
    spec.codecs = l->codecs;
    spec.separator = l->separator;
    spec.attributes = "{\"kept\":1}";
    MUST(zlg_array_create(store, path, &spec, &array, err_));
    return array;
}

/* Appends to the model and to the array, whose handle becomes that of the longer one. */
typedef struct model {
    zlg_array *array;
    int64_t shape[2];
    int32_t data[40][40];
    int32_t next;
} model;

static void append(model *m, int axis, int64_t n)
{
    int32_t added[40 * 40];
    int64_t count[2] = {m->shape[0], m->shape[1]}, start[2] = {0, 0};
    start[axis] = m->shape[axis];
    count[axis] = n;
    for (int64_t i = 0; i < count[0]; i++)
        for (int64_t k = 0; k < count[1]; k++)
            added[i * count[1] + k] = m->data[start[0] + i][start[1] + k] = ++m->next;
    zlg_array *longer;
    MUST(zlg_array_append(m->array, axis, n, &(zlg_source){.data = added}, NULL, &longer,
                          err_));
    zlg_array_close(m->array);
    m->array = longer;
    m->shape[axis] += n;
}

static void check_model(const model *m)
{
    zlg_array *stored;
    int32_t out[40 * 40];
    MUST(zlg_array_open(m->array->store, m->array->path, NULL, &stored, err_));
    assert_memory_equal(zlg_array_shape(m->array), m->shape, sizeof m->shape);
    assert_memory_equal(zlg_array_shape(stored), m->shape, sizeof m->shape);
    MUST(zlg_array_read(stored, NULL, &(zlg_target){.data = out}, NULL, err_));
    for (int64_t i = 0; i < m->shape[0]; i++)
        assert_memory_equal(out + i * m->shape[1], m->data[i],
                            (size_t)m->shape[1] * sizeof(int32_t));
    zlg_array_close(stored);
}

static void test_any_axis(void **state)
{
    (void)state;
    static const struct {
        int axis;
        int64_t n;
    } steps[] = {{0, 3}, {1, 2}, {0, 1}, {0, 4}, {1, 1}, {1, 3}, {0, 0}, {0, 9}, {1, 7}};
    fixture f;
    open_fixture(&f);
    for (int s = 0; s < N_STORES; s++)
        for (size_t i = 0; i < ZLGI_COUNT(layouts); i++) {
            model m = {.shape = {0, 5}};
            m.array = make_array(f.stores[s], "g/a", &layouts[i], 0, 5);
            for (size_t k = 0; k < ZLGI_COUNT(steps); k++) {
                append(&m, steps[k].axis, steps[k].n);
                check_model(&m);
            }
            zlg_array_close(m.array);
            check_attributes(f.stores[s], "g/a", "{\"kept\":1}");
            MUST(zlg_node_delete(f.stores[s], "g", NULL, err_));
        }
    close_fixture(&f);
}

/* Sources as for any write: strides, one element for all, texts; and no handle wanted. */
static void test_sources(void **state)
{
    (void)state;
    static const ptrdiff_t still[2] = {0, 0}, turned[2] = {4, 12};
    static const int32_t one = 7, two[6] = {1, 2, 3, 4, 5, 6};
    static const int64_t offsets[] = {0, 1, 3};
    fixture f;
    open_fixture(&f);
    zlg_array *longer, *array = make_array(f.stores[0], "a", &layouts[0], 0, 2);
    MUST(zlg_array_append(array, 0, 3, &(zlg_source){.data = &one, .strides = still}, NULL,
                          NULL, err_));
    MUST(zlg_array_append(array, 0, 3, &(zlg_source){.data = two, .strides = turned}, NULL,
                          &longer, err_));
    int32_t out[12], expected[12] = {7, 7, 7, 7, 7, 7, 1, 4, 2, 5, 3, 6};
    MUST(zlg_array_read(longer, NULL, &(zlg_target){.data = out}, NULL, err_));
    assert_memory_equal(out, expected, sizeof out);
    zlg_array_close(longer);
    zlg_array_close(array);
    array = put_array(f.stores[0], "t", "[3]", "\"string\"", REGULAR("[4]"), "\"-\"",
                      "[{\"name\":\"vlen-utf8\"}]");
    MUST(zlg_array_append(array, 0, 2, &(zlg_source){.data = "abb", .offsets = offsets},
                          NULL, &longer, err_));
    zlg_varlen texts;
    MUST(zlg_array_read_varlen(longer, NULL, &texts, NULL, err_));
    assert_memory_equal(texts.bytes, "---abb", 6);
    zlg_varlen_free(&texts);
    zlg_array_close(longer);
    zlg_array_close(array);
    close_fixture(&f);
}

static void test_what_is_refused(void **state)
{
    (void)state;
    static const int32_t data[100];
    static const int64_t wider[2] = {4, 6};
    const zlg_source source = {.data = data};
    fixture f;
    open_fixture(&f);
    zlg_store *store = f.stores[0];
    zlg_array *array = make_array(store, "a", &layouts[0], 4, 5), *out = array;
    int n = n_keys(store, "");
    REFUSED(ZLG_USAGE, "array a: axis 2 of an array with 2",
            zlg_array_append(array, 2, 1, &source, NULL, &out, err_));
    assert_null(out);
    REFUSED(ZLG_USAGE, "axis -1",
            zlg_array_append(array, -1, 1, &source, NULL, &out, err_));
    REFUSED(ZLG_USAGE, "-1 to append",
            zlg_array_append(array, 0, -1, &source, NULL, &out, err_));
    REFUSED(ZLG_LIMIT, "2^63 - 1",
            zlg_array_append(array, 0, INT64_MAX, &source, NULL, &out, err_));
    REFUSED(ZLG_USAGE, "without offsets",
            zlg_array_append(array, 0, 1,
                             &(zlg_source){.data = data, .offsets = (int64_t[]){0, 1}},
                             NULL, &out, err_));
    zlg_call call = ZLG_CALL_INIT;
    int cancel = 1;
    call.cancel = &cancel;
    REFUSED(ZLG_CANCELLED, "stopped",
            zlg_array_append(array, 0, 1, &source, &call, &out, err_));
    assert_int_equal(n_keys(store, ""), n);
    /* Others have changed what the source was made for. */
    MUST(zlg_array_resize(array, wider, NULL, NULL, err_));
    REFUSED(ZLG_USAGE, "axis 1 is 6 long by now, not 5",
            zlg_array_append(array, 0, 1, &source, NULL, &out, err_));
    MUST(zlg_array_append(array, 1, 1, &source, NULL, NULL, err_));
    zlg_array *other =
        put_array(store, "a", "[4,5]", "\"int64\"", REGULAR("[4,5]"), "0", "[" LITTLE "]");
    REFUSED(ZLG_NOT_FOUND, "an array of another type",
            zlg_array_append(array, 0, 1, &source, NULL, &out, err_));
    zlg_array_close(other);
    zlg_array_close(array);
    array = put_array(store, "s", "[]", "\"int32\"", REGULAR("[]"), "0", "[" LITTLE "]");
    REFUSED(ZLG_USAGE, "axis 0 of an array with 0",
            zlg_array_append(array, 0, 1, &source, NULL, &out, err_));
    zlg_array_close(array);
    close_fixture(&f);
}

#define EDGES(edges)                                                                       \
    "{\"name\":\"rectilinear\",\"configuration\":{\"kind\":\"inline\",\"chunk_"            \
    "shapes\":[" edges "]}}"

static void check_edges(zlg_store *store, const char *path, const char *expected)
{
    zlg_array *stored;
    zlgi_buf text;
    MUST(zlg_array_open(store, path, NULL, &stored, err_));
    zlgi_buf_init(&text, &zlgi_default_alloc);
    MUST(zlgi_json_write(zlgi_json_get(stored->meta.document, "chunk_grid"), 0, &text,
                         err_));
    MUST(zlgi_buf_append(&text, "", 1, err_));
    assert_string_equal((char *)text.data, expected);
    zlgi_buf_reset(&text);
    zlg_array_close(stored);
}

/* What is added to listed edges is one edge more, also through a handle from before. */
static void test_edges(void **state)
{
    (void)state;
    static const uint8_t data[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    uint8_t out[16];
    const zlg_source source = {.data = data};
    fixture f;
    open_fixture(&f);
    for (int s = 0; s < N_STORES; s++) {
        zlg_store *store = f.stores[s];
        zlg_array *longer, *array = put_array(store, "a", "[6]", "\"uint8\"",
                                              EDGES("[1,2,3]"), "0", "[" LITTLE "]");
        MUST(zlg_array_write(array, NULL, &source, NULL, err_));
        MUST(zlg_array_append(array, 0, 2, &source, NULL, NULL, err_));
        check_edges(store, "a", EDGES("[1,2,3,2]"));
        MUST(zlg_array_append(array, 0, 2, &source, NULL, NULL, err_));
        check_edges(store, "a", EDGES("[1,2,3,[2,2]]"));
        MUST(zlg_array_append(array, 0, 3, &source, NULL, &longer, err_));
        check_edges(store, "a", EDGES("[1,2,3,[2,2],3]"));
        static const uint8_t expected[13] = {1, 2, 3, 4, 5, 6, 1, 2, 1, 2, 1, 2, 3};
        MUST(zlg_array_read(longer, NULL, &(zlg_target){.data = out}, NULL, err_));
        assert_memory_equal(out, expected, sizeof expected);
        assert_int_equal(n_keys(store, "a"), 1 + 6);
        assert_int_equal(zlg_array_shape(array)[0], 6);
        MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, NULL, err_));
        assert_memory_equal(out, expected, 6);
        zlg_array_close(longer);
        zlg_array_close(array);
        /* An edge that is not whole inner chunks, or that could not be decoded. */
        array = put_array(store, "s", "[4]", "\"uint8\"", EDGES("[4]"), "0",
                          "[" SHARD("[2]", "[" LITTLE "]") "]");
        REFUSED(ZLG_METADATA, "length 2 do not divide a shard of length 3",
                zlg_array_append(array, 0, 3, &source, NULL, &longer, err_));
        check_edges(store, "s", EDGES("[4]"));
        zlg_array_close(array);
        array = put_array(store, "z", "[4]", "\"uint8\"", EDGES("[4]"), "0",
                          "[" LITTLE "," ZSTD "]");
        REFUSED(ZLG_LIMIT, "chunk_bytes",
                zlg_array_resize(array, (int64_t[]){INT64_C(1) << 50}, NULL, NULL, err_));
        check_edges(store, "z", EDGES("[4]"));
        zlg_array_close(array);
    }
    close_fixture(&f);
}

/* ------------------------------------------------------------------ failures */

/* The n-th call of the store fails: the array is as it was, also when it grows later. */
static void test_failures(void **state)
{
    (void)state;
    static const int64_t longer[2] = {12, 5};
    static const int32_t data[50] = {0};
    int32_t old[6 * 5], added[5 * 5], out[12 * 5];
    zlg_ctx *ctx;
    MUST(zlg_ctx_new(NULL, &ctx, err_));
    memset(old, 1, sizeof old);
    memset(added, 2, sizeof added);
    for (size_t i = 0; i < ZLGI_COUNT(layouts); i++)
        for (uint64_t n = 1;; n++) {
            fault_store *store = fault_store_open(ctx);
            zlg_array *array = make_array(&store->base, "a", &layouts[i], 6, 5), *now;
            zlg_error err = {0};
            MUST(zlg_array_write(array, NULL, &(zlg_source){.data = old}, NULL, err_));
            fault_set(store, FAULT_IO, n);
            zlg_status status = zlg_array_append(array, 0, 5, &(zlg_source){.data = added},
                                                 NULL, NULL, &err);
            fault_set(store, FAULT_NONE, 0);
            assert_int_equal(store->n_open, 0);
            if (status != ZLG_OK) {
                assert_int_equal(status, ZLG_IO);
                if (!strstr(err.message, "array a: ") ||
                    (!strstr(err.message, "array a: chunk ") &&
                     !strstr(err.message, "a/") && !strstr(err.message, ".zattrs")))
                    fail_msg("call %d: %s", (int)n, err.message);
            }
            MUST(zlg_array_refresh(array, &now, err_));
            assert_int_equal(zlg_array_shape(now)[0], status == ZLG_OK ? 11 : 6);
            zlg_array_close(array);
            MUST(zlg_array_resize(now, longer, NULL, &array, err_));
            MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, NULL, err_));
            assert_memory_equal(out, old, sizeof old);
            assert_memory_equal(out + 30, status == ZLG_OK ? added : data, sizeof added);
            zlg_array_close(now);
            zlg_array_close(array);
            zlg_store_close(&store->base);
            if (status == ZLG_OK) {
                assert_in_range(n, 5, 60);
                break;
            }
        }
    zlg_ctx_close(ctx);
}

/* ------------------------------------------------------------------ several at once */

enum { APPENDERS = 4, ROUNDS = 12, READS = 30, WIDTH = 5 };

typedef struct appender {
    zlg_store *store;
    int number;
    bool right;
} appender;

/* Rows of one number each, of which chunks of four rows hold several. */
static void *run_appender(void *user)
{
    appender *a = user;
    zlg_array *array = NULL;
    a->right = zlg_array_open(a->store, "a", NULL, &array, NULL) == ZLG_OK;
    for (int i = 0; i < ROUNDS && a->right; i++) {
        int32_t rows[3 * WIDTH];
        int64_t n = 1 + (a->number + i) % 3;
        for (int64_t k = 0; k < n * WIDTH; k++)
            rows[k] = a->number * 1000 + i;
        a->right = zlg_array_append(array, 0, n, &(zlg_source){.data = rows}, NULL, NULL,
                                    NULL) == ZLG_OK;
    }
    zlg_array_close(array);
    return NULL;
}

/* Each block of rows that is there is whole; at the end each is there once. */
static void check_rows(zlg_store *store, bool is_end)
{
    zlg_array *array;
    int seen[APPENDERS][ROUNDS] = {{0}};
    MUST(zlg_array_open(store, "a", NULL, &array, err_));
    int64_t n = zlg_array_shape(array)[0];
    int32_t(*rows)[WIDTH] = malloc((size_t)(n + 1) * sizeof *rows);
    MUST(zlg_array_read(array, NULL, &(zlg_target){.data = rows}, NULL, err_));
    for (int64_t i = 0; i < n;) {
        int who = rows[i][0] / 1000, round = rows[i][0] % 1000;
        assert_in_range(who, 0, APPENDERS - 1);
        assert_in_range(round, 0, ROUNDS - 1);
        int64_t n_rows = 1 + (who + round) % 3;
        for (int64_t k = 0; k < n_rows * WIDTH; k++)
            assert_int_equal(rows[i + k / WIDTH][k % WIDTH], who * 1000 + round);
        seen[who][round]++;
        i += n_rows;
    }
    for (int i = 0; i < APPENDERS * ROUNDS; i++)
        assert_in_range(seen[i / ROUNDS][i % ROUNDS], is_end, 1);
    free(rows);
    zlg_array_close(array);
}

static void test_threads(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    for (int s = 0; s < N_STORES; s++)
        for (size_t l = 0; l < ZLGI_COUNT(layouts); l += 4) {
            appender appenders[APPENDERS];
            pthread_t threads[APPENDERS];
            zlg_array_close(make_array(f.stores[s], "a", &layouts[l], 0, WIDTH));
            for (int i = 0; i < APPENDERS; i++) {
                appenders[i] = (appender){f.stores[s], i, false};
                assert_int_equal(
                    pthread_create(&threads[i], NULL, run_appender, &appenders[i]), 0);
            }
            /* Others change the document too, so that a store which compares versions
             * makes appends begin anew. */
            for (int i = 0; i < READS; i++) {
                check_rows(f.stores[s], false);
                MUST(zlg_node_set_attributes(f.stores[s], "a", "{\"kept\":2}", NULL, err_));
            }
            for (int i = 0; i < APPENDERS; i++) {
                assert_int_equal(pthread_join(threads[i], NULL), 0);
                assert_true(appenders[i].right);
            }
            check_rows(f.stores[s], true);
            check_attributes(f.stores[s], "a", "{\"kept\":2}");
            MUST(zlg_node_delete(f.stores[s], "a", NULL, err_));
        }
    close_fixture(&f);
}

static void test_processes(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    zlg_array_close(make_array(f.stores[1], "a", &layouts[1], 0, WIDTH));
    pid_t children[APPENDERS];
    for (int i = 0; i < APPENDERS; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0) {
            appender a = {f.stores[1], i, false};
            run_appender(&a);
            _exit(a.right ? 0 : 1);
        }
    }
    for (int i = 0; i < READS; i++)
        check_rows(f.stores[1], false);
    for (int i = 0; i < APPENDERS; i++) {
        int result;
        assert_int_equal(waitpid(children[i], &result, 0), children[i]);
        assert_int_equal(result, 0);
    }
    check_rows(f.stores[1], true);
    close_fixture(&f);
}

/* Another thread, which has the turn of an array as long as it is told to. */
typedef struct holder {
    zlg_store *store;
    pthread_barrier_t barrier;
} holder;

static void *run_holder(void *user)
{
    holder *h = user;
    zlg_call call = ZLG_CALL_INIT;
    zlgi_patience patience;
    zlgi_turn turn = {.store = h->store, .path = "a"};
    zlgi_patience_init(&patience, &call);
    zlg_status status = zlgi_turn_take(&h->store->ctx->turns, &turn, &patience, NULL);
    pthread_barrier_wait(&h->barrier);
    pthread_barrier_wait(&h->barrier);
    if (status == ZLG_OK)
        zlgi_turn_give(&h->store->ctx->turns, &turn);
    return NULL;
}

static const int32_t rows[8 * WIDTH];

static zlg_status append_row(zlg_array *array, int64_t deadline_ms, zlg_error *err)
{
    zlg_call call = ZLG_CALL_INIT;
    call.deadline_ms = deadline_ms;
    return zlg_array_append(array, 0, 1, &(zlg_source){.data = rows}, &call, NULL, err);
}

/* Who waits for his turn gives up when his time is over; a child has nobody to wait for. */
static void test_waiting(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    for (int s = 0; s < N_STORES; s++) {
        zlg_array *array = make_array(f.stores[s], "a", &layouts[0], 0, WIDTH);
        holder h = {.store = f.stores[s]};
        pthread_t thread;
        int result = 0;
        assert_int_equal(pthread_barrier_init(&h.barrier, NULL, 2), 0);
        assert_int_equal(pthread_create(&thread, NULL, run_holder, &h), 0);
        pthread_barrier_wait(&h.barrier);
        REFUSED(ZLG_CANCELLED, "the deadline passed", append_row(array, 30, err_));
        pid_t child = s == 1 ? fork() : -1;
        if (child == 0)
            _exit(append_row(array, 0, NULL) != ZLG_OK);
        if (child > 0)
            assert_int_equal(waitpid(child, &result, 0), child);
        assert_int_equal(result, 0);
        pthread_barrier_wait(&h.barrier);
        MUST(append_row(array, 0, err_));
        assert_int_equal(pthread_join(thread, NULL), 0);
        pthread_barrier_destroy(&h.barrier);
        zlg_array_close(array);
    }
    close_fixture(&f);
}

/* A callback that changes the shape of the array whose append called it. */
typedef struct meddler {
    zlg_array *array;
    int n_calls;
    zlg_status append, resize;
} meddler;

static int meddle(void *user, uint64_t n_done, uint64_t n_all)
{
    static const int64_t shape[2] = {1, WIDTH};
    meddler *m = user;
    (void)n_done, (void)n_all;
    m->n_calls++;
    m->append = append_row(m->array, 0, NULL);
    m->resize = zlg_array_resize(m->array, shape, NULL, NULL, NULL);
    return 0;
}

static void test_callbacks(void **state)
{
    (void)state;
    zlg_ctx *ctx;
    MUST(zlg_ctx_new(NULL, &ctx, err_));
    fault_store *store = fault_store_open(ctx);
    meddler m = {.array = make_array(&store->base, "a", &layouts[0], 0, WIDTH)};
    zlg_call call = ZLG_CALL_INIT;
    zlg_array *longer;
    call.poll = meddle;
    call.user = &m;
    call.keep_empty = 1;
    store->sleep_us = 30000;
    MUST(
        zlg_array_append(m.array, 0, 8, &(zlg_source){.data = rows}, &call, &longer, err_));
    assert_true(m.n_calls > 0);
    assert_true(m.append == ZLG_USAGE && m.resize == ZLG_USAGE);
    assert_int_equal(zlg_array_shape(longer)[0], 8);
    zlg_array_close(longer);
    zlg_array_close(m.array);
    zlg_store_close(&store->base);
    zlg_ctx_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_axis),        cmocka_unit_test(test_sources),
        cmocka_unit_test(test_what_is_refused), cmocka_unit_test(test_failures),
        cmocka_unit_test(test_threads),         cmocka_unit_test(test_processes),
        cmocka_unit_test(test_waiting),         cmocka_unit_test(test_callbacks),
        cmocka_unit_test(test_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
