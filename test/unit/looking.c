/* What looks at very many names ends when its caller has no patience left. */
#define _GNU_SOURCE
#include "change_test.h"

enum { N = 600 };

static int count_name(void *n, const char *name, int is_prefix, uint64_t n_bytes)
{
    (void)name, (void)is_prefix, (void)n_bytes;
    ++*(int *)n;
    return 0;
}

static int count_node(void *n, const char *path, zlg_node kind)
{
    (void)path, (void)kind;
    ++*(int *)n;
    return 0;
}

/* A group of arrays, one of them with a chunk for each element. */
static void fill_store(zlg_store *store)
{
    static const uint8_t elements[N] = {1};
    put_text(store, "zarr.json", "{\"zarr_format\":3,\"node_type\":\"group\"}");
    zlg_array *array =
        put_array(store, "a", "[600]", "\"uint8\"", REGULAR("[1]"), "9", "[" LITTLE "]");
    MUST(zlg_array_write(array, NULL, &(zlg_source){.data = elements}, NULL, err_));
    zlg_array_close(array);
}

typedef struct looks {
    zlg_status list, members, stored, explain, sweep;
    int n_listed, n_members;
    uint64_t n_stored;
} looks;

static looks look(zlg_store *store, const zlg_call *call)
{
    looks l = {.n_listed = 0};
    zlg_error err;
    zlg_group *group;
    zlg_array *array;
    zlg_text text = {.data = NULL};
    uint64_t n_bytes, n_swept;
    MUST(zlg_group_open(store, "", NULL, &group, err_));
    MUST(zlg_array_open(store, "a", NULL, &array, err_));
    l.list = zlg_store_list_call(store, "", 0, count_name, &l.n_listed, call, &err);
    assert_int_equal(l.list, l.list ? err.status : ZLG_OK);
    l.members = zlg_group_members_call(group, 1, count_node, &l.n_members, call, &err);
    assert_int_equal(l.members, l.members ? err.status : ZLG_OK);
    l.stored = zlg_array_stored_call(array, &l.n_stored, &n_bytes, call, &err);
    assert_int_equal(l.stored, l.stored ? err.status : ZLG_OK);
    l.explain = zlg_array_explain_call(array, NULL, 1, -1, &text, call, &err);
    assert_int_equal(l.explain, l.explain ? err.status : ZLG_OK);
    l.sweep = zlg_store_sweep_call(store, "", &n_swept, call, &err);
    zlg_text_free(&text);
    zlg_array_close(array);
    zlg_group_close(group);
    return l;
}

static void check_stopped(looks l, bool is_folder)
{
    assert_int_equal(l.list, ZLG_CANCELLED);
    assert_int_equal(l.members, ZLG_CANCELLED);
    assert_int_equal(l.stored, ZLG_CANCELLED);
    assert_int_equal(l.explain, ZLG_CANCELLED);
    assert_int_equal(l.sweep, is_folder ? ZLG_CANCELLED : ZLG_OK);
    assert_in_range(l.n_listed, 0, N - 1);
    assert_int_equal(l.n_members, 0);
}

static void test_patience(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    for (int i = 0; i < N_STORES; i++) {
        const int is_cancelled = 1;
        zlg_store *store = f.stores[i];
        zlg_call call = ZLG_CALL_INIT;
        fill_store(store);
        looks l = look(store, NULL);
        assert_int_equal(l.list | l.members | l.stored | l.explain | l.sweep, ZLG_OK);
        assert_int_equal(l.n_listed, N + 2);
        assert_int_equal(l.n_members, 1);
        assert_int_equal(l.n_stored, N);
        call.cancel = &is_cancelled;
        check_stopped(look(store, &call), i == 1);
    }
    close_fixture(&f);
}

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

typedef struct polls {
    int n; /* since there was a plan */
    double planned;
} polls;

static int count_poll(void *user, uint64_t n_done, uint64_t n_all)
{
    polls *p = user;
    (void)n_done;
    p->n += n_all > 0;
    if (n_all == 0)
        p->planned = cpu_seconds();
    return 0;
}

/* Very many points in one object: the caller is asked every 50 ms also while these are put
 * in order, and not only between what is read. */
static void test_points_of_one_object(void **state)
{
    (void)state;
    enum { LENGTH = 1 << 20, N_POINTS = 3000000 };
    static const char *const codecs[] = {"[{\"name\":\"bytes\"}]",
                                         "[" SHARD("[4096]", "[{\"name\":\"bytes\"}]") "]"};
    int64_t *list = malloc(N_POINTS * sizeof *list);
    uint8_t *out = malloc(N_POINTS), *elements = malloc(LENGTH);
    uint64_t x = 1;
    for (int i = 0; i < N_POINTS; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        list[i] = (int64_t)(x >> 44);
    }
    for (int i = 0; i < LENGTH; i++)
        elements[i] = (uint8_t)(i % 251);
    for (size_t k = 0; k < ZLGI_COUNT(codecs); k++) {
        fixture f;
        open_fixture(&f);
        zlg_array *array = put_array(f.stores[1], "", "[1048576]", "\"uint8\"",
                                     REGULAR("[1048576]"), "0", codecs[k]);
        MUST(zlg_array_write(array, NULL, &(zlg_source){.data = elements}, NULL, err_));
        const int64_t *coordinates[] = {list};
        const zlg_selection points = {.kind = ZLG_POINTS,
                                      .rank = 1,
                                      .coordinates = coordinates,
                                      .n_points = N_POINTS};
        polls p = {.planned = cpu_seconds()};
        zlg_call call = ZLG_CALL_INIT;
        call.n_threads = 1;
        call.poll = count_poll;
        call.user = &p;
        MUST(zlg_array_read(array, &points, &(zlg_target){.data = out}, &call, err_));
        double seconds = cpu_seconds() - p.planned;
        if (p.n < (int)(seconds / 0.15) - 1)
            fail_msg("asked %d times in %.3f s of %s", p.n, seconds, codecs[k]);
        for (int i = 0; i < N_POINTS; i++)
            if (out[i] != list[i] % 251)
                fail_msg("point %d", i);
        zlg_array_close(array);
        close_fixture(&f);
    }
    free(list), free(out), free(elements);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patience),
        cmocka_unit_test(test_points_of_one_object),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
