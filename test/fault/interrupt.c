/*
 * Label: engine
 * Calls that are stopped: by a deadline, a flag, or the caller's own function, while the
 * store takes its time. Each call of the store sleeps for a known time at least, so that
 * what was done before a stop was heeded can be counted instead of timed.
 */
#define _GNU_SOURCE
#include "fault.h"

enum { N_CHUNKS = 120, CHUNK = 6, N = N_CHUNKS * CHUNK, SLEEP_MS = 10 };
static uint16_t elements[N];

typedef struct fixture {
    zlg_ctx *ctx;
    fault_store *store;
    zlg_array *array;
} fixture;

static void open_fixture(fixture *f, const char *shape, const char *grid,
                         const char *codecs)
{
    zlg_ctx_options options = ZLG_CTX_OPTIONS_INIT;
    options.n_threads = 4;
    for (int i = 0; i < N; i++)
        elements[i] = (uint16_t)(i * 7 + 1);
    MUST(zlg_ctx_new(&options, &f->ctx, err_));
    f->store = fault_store_open(f->ctx);
    f->array = put_array(&f->store->base, "a", shape, "\"uint16\"", grid, "0", codecs);
    MUST(zlg_array_write(f->array, NULL, &(zlg_source){.data = elements}, NULL, err_));
    f->store->sleep_us = SLEEP_MS * 1000;
    atomic_store(&f->store->n_calls, 0);
}

static void open_chunks(fixture *f)
{
    open_fixture(f, "[720]", REGULAR("[6]"), "[" LITTLE "," GZIP "]");
}

/* The fixture still works, and holds nothing. */
static void close_fixture(fixture *f)
{
    uint16_t out[N] = {0};
    f->store->sleep_us = 0;
    assert_int_equal(f->store->n_open, 0);
    MUST(zlg_array_read(f->array, NULL, &(zlg_target){.data = out}, NULL, err_));
    assert_memory_equal(out, elements, sizeof out);
    zlg_array_close(f->array);
    zlg_store_close(&f->store->base);
    zlg_ctx_close(f->ctx);
}

static void expect_stopped(zlg_status status, const zlg_error *err, const char *why)
{
    if (status != ZLG_CANCELLED || err->status != ZLG_CANCELLED ||
        strstr(err->message, why) == NULL)
        fail_msg("status %d: %s", (int)status, err->message);
}

/* ------------------------------------------------------------------ deadline */

/* No more calls than fit before the deadline, and the chunk at hand: two. */
static void check_deadline(fixture *f, int n_threads)
{
    enum { DEADLINE_MS = 80 };
    uint16_t out[N];
    zlg_error err = {0};
    zlg_call call = ZLG_CALL_INIT;
    call.n_threads = n_threads;
    call.deadline_ms = DEADLINE_MS;
    atomic_store(&f->store->n_calls, 0);
    zlg_status status =
        zlg_array_read(f->array, NULL, &(zlg_target){.data = out}, &call, &err);
    expect_stopped(status, &err, "the deadline passed");
    assert_true(f->store->n_calls <= (uint64_t)(n_threads * (DEADLINE_MS / SLEEP_MS + 2)));
}

static void test_deadline(void **state)
{
    (void)state;
    fixture f;
    open_chunks(&f);
    check_deadline(&f, 1);
    check_deadline(&f, 4);
    close_fixture(&f);
}

/* One object, in which every second inner chunk is a request of its own. */
static void test_deadline_in_shard(void **state)
{
    (void)state;
    enum { LARGE = 24 * 1024, N_LARGE = 60 };
    zlg_ctx *ctx;
    MUST(zlg_ctx_new(NULL, &ctx, err_));
    fault_store *store = fault_store_open(ctx);
    zlg_array *array =
        put_array(&store->base, "", "[60,24576]", "\"uint8\"", REGULAR("[60,24576]"), "0",
                  "[" SHARD("[1,24576]", "[{\"name\":\"bytes\"}," CRC "]") "]");
    uint8_t *data = malloc(N_LARGE * LARGE);
    memset(data, 1, N_LARGE * LARGE);
    MUST(zlg_array_write(array, NULL, &(zlg_source){.data = data}, NULL, err_));
    zlg_axis axes[2] = {{.step = 2, .count = N_LARGE / 2}, {.step = 1, .count = LARGE}};
    zlg_selection box = {.kind = ZLG_BOX, .rank = 2, .axes = axes};
    zlg_error err = {0};
    zlg_call call = ZLG_CALL_INIT;
    call.n_threads = 1;
    call.deadline_ms = 80;
    store->sleep_us = SLEEP_MS * 1000;
    atomic_store(&store->n_calls, 0);
    zlg_status status =
        zlg_array_read(array, &box, &(zlg_target){.data = data}, &call, &err);
    expect_stopped(status, &err, "the deadline passed");
    assert_true(store->n_calls <= 80 / SLEEP_MS + 2);
    assert_int_equal(store->n_open, 0);
    free(data);
    zlg_array_close(array);
    zlg_store_close(&store->base);
    zlg_ctx_close(ctx);
}

static void test_deadline_of_writing(void **state)
{
    (void)state;
    fixture f;
    zlg_error err = {0};
    zlg_call call = ZLG_CALL_INIT;
    open_chunks(&f);
    call.n_threads = 1;
    call.deadline_ms = 80;
    zlg_status status =
        zlg_array_write(f.array, NULL, &(zlg_source){.data = elements}, &call, &err);
    expect_stopped(status, &err, "the deadline passed");
    assert_true(f.store->n_calls <= 80 / SLEEP_MS + 2);
    close_fixture(&f);
}

/* So far away that it does not fit in nanoseconds. */
static void test_far_deadline(void **state)
{
    (void)state;
    fixture f;
    uint16_t out[N];
    const int64_t far[] = {INT64_MAX, INT64_MAX / 1000000 + 1,
                           (INT64_MAX / 1000000 + 1) * 2};
    open_chunks(&f);
    f.store->sleep_us = 0;
    for (size_t i = 0; i < ZLGI_COUNT(far); i++) {
        zlg_call call = ZLG_CALL_INIT;
        call.deadline_ms = far[i];
        MUST(zlg_array_read(f.array, NULL, &(zlg_target){.data = out}, &call, err_));
    }
    close_fixture(&f);
}

/* ------------------------------------------------------------------ flag */

typedef struct canceller {
    fault_store *store;
    int flag;
    uint64_t n_calls; /* when the flag was set */
} canceller;

static void *cancel_later(void *user)
{
    canceller *c = user;
    while (atomic_load(&c->store->n_calls) < 20)
        usleep(1000);
    __atomic_store_n(&c->flag, 1, __ATOMIC_RELEASE);
    c->n_calls = atomic_load(&c->store->n_calls);
    return NULL;
}

static void test_cancel_from_another_thread(void **state)
{
    (void)state;
    for (int n_threads = 1; n_threads <= 4; n_threads += 3) {
        fixture f;
        pthread_t thread;
        uint16_t out[N];
        zlg_error err = {0};
        zlg_call call = ZLG_CALL_INIT;
        open_chunks(&f);
        canceller c = {.store = f.store};
        call.n_threads = n_threads;
        call.cancel = &c.flag;
        assert_int_equal(pthread_create(&thread, NULL, cancel_later, &c), 0);
        zlg_status status =
            zlg_array_read(f.array, NULL, &(zlg_target){.data = out}, &call, &err);
        uint64_t n_calls = atomic_load(&f.store->n_calls);
        pthread_join(thread, NULL);
        expect_stopped(status, &err, "stopped by the caller");
        assert_true(n_calls <= c.n_calls + 2 * (uint64_t)n_threads);
        close_fixture(&f);
    }
}

/* ------------------------------------------------------------------ poll */

typedef struct poller {
    fault_store *store;
    pthread_t caller;
    int n_polls, stop_at;
    uint64_t n_done, n_all, last_ns, n_calls, most_calls;
} poller;

static int poll_read(void *user, uint64_t n_done, uint64_t n_all)
{
    poller *p = user;
    assert_true(pthread_equal(pthread_self(), p->caller));
    assert_true(n_done >= p->n_done && n_done <= n_all);
    uint64_t now = zlgi_now_ns(), n_calls = atomic_load(&p->store->n_calls);
    assert_true(now - p->last_ns >= 50 * 1000 * 1000);
    p->most_calls = ZLGI_MAX(p->most_calls, n_calls - p->n_calls);
    p->last_ns = now;
    p->n_calls = n_calls;
    p->n_done = n_done;
    p->n_all = n_all;
    return ++p->n_polls == p->stop_at;
}

/* Alone, the caller is asked after five calls of the store and what is left of a chunk. */
static void check_poll(int n_threads)
{
    fixture f;
    uint16_t out[N];
    zlg_error err = {0};
    zlg_call call = ZLG_CALL_INIT;
    open_chunks(&f);
    poller p = {.store = f.store, .caller = pthread_self(), .last_ns = zlgi_now_ns()};
    call.n_threads = n_threads;
    call.poll = poll_read;
    call.user = &p;
    MUST(zlg_array_read(f.array, NULL, &(zlg_target){.data = out}, &call, err_));
    assert_memory_equal(out, elements, sizeof out);
    assert_int_equal(p.n_all, sizeof out);
    assert_true(p.n_done > 0);
    if (n_threads == 1) {
        assert_true(p.most_calls <= 50 / SLEEP_MS + 3);
        assert_true(p.n_polls >= 2 * N_CHUNKS / (50 / SLEEP_MS + 3));
    }
    p = (poller){.store = f.store, .caller = pthread_self(), .stop_at = 2};
    atomic_store(&f.store->n_calls, 0);
    zlg_status status =
        zlg_array_read(f.array, NULL, &(zlg_target){.data = out}, &call, &err);
    expect_stopped(status, &err, "stopped by the caller");
    assert_int_equal(p.n_polls, 2);
    close_fixture(&f);
}

/* Elements beyond the end of the array do not count as done. */
static void test_poll_of_writing(void **state)
{
    (void)state;
    fixture f;
    zlg_call call = ZLG_CALL_INIT;
    open_fixture(&f, "[60,12]", REGULAR("[12,11]"), "[" LITTLE "," GZIP "]");
    poller p = {.store = f.store, .caller = pthread_self(), .last_ns = zlgi_now_ns()};
    f.store->sleep_us = 60 * 1000;
    call.n_threads = 1;
    call.poll = poll_read;
    call.user = &p;
    MUST(zlg_array_write(f.array, NULL, &(zlg_source){.data = elements}, &call, err_));
    assert_int_equal(p.n_all, sizeof elements);
    assert_int_equal(p.n_polls, 10 - 1);
    close_fixture(&f);
}

static void test_poll(void **state)
{
    (void)state;
    check_poll(1);
    check_poll(4);
}

/* The caller is asked while it waits for others, too: one object, one slow helper. */
static void test_poll_while_waiting(void **state)
{
    (void)state;
    fixture f;
    uint16_t out[N];
    zlg_call call = ZLG_CALL_INIT;
    open_fixture(&f, "[720]", REGULAR("[360]"), "[" LITTLE "," GZIP "]");
    f.store->sleep_us = 200 * 1000;
    poller p = {.store = f.store, .caller = pthread_self(), .last_ns = zlgi_now_ns()};
    call.poll = poll_read;
    call.user = &p;
    MUST(zlg_array_read(f.array, NULL, &(zlg_target){.data = out}, &call, err_));
    assert_memory_equal(out, elements, sizeof out);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_deadline),
        cmocka_unit_test(test_deadline_in_shard),
        cmocka_unit_test(test_deadline_of_writing),
        cmocka_unit_test(test_far_deadline),
        cmocka_unit_test(test_cancel_from_another_thread),
        cmocka_unit_test(test_poll),
        cmocka_unit_test(test_poll_of_writing),
        cmocka_unit_test(test_poll_while_waiting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
