/*
 * Label: engine
 * One array and many hands: threads that read it at once, a writer that replaces what they
 * read, children of a fork in the middle of reads, contexts side by side.
 */
#define _GNU_SOURCE
#include "../store/folder.h"
#include "../fault/fault.h"
#include "pick.h"

#include <sys/wait.h>

enum { SIDE = 48, N = SIDE * SIDE };
static uint32_t elements[N];
static const int64_t shape[2] = {SIDE, SIDE};
static const char *const codecs = "[" SHARD("[6,8]", "[" LITTLE "," ZSTD "]") "]";

typedef struct fixture {
    test_folder folder;
    zlg_ctx *ctx;
    zlg_store *files, *memory;
    zlg_array *arrays[2]; /* in files, in memory */
} fixture;

static void open_fixture(fixture *f)
{
    zlg_ctx_options options = ZLG_CTX_OPTIONS_INIT;
    options.n_threads = 3;
    options.chunk_cache = 4096; /* so small that it always turns over */
    for (uint32_t i = 0; i < N; i++)
        elements[i] = i * 2654435761u;
    test_folder_make(&f->folder);
    MUST(zlg_ctx_new(&options, &f->ctx, err_));
    MUST(zlg_store_open_fs(f->ctx, f->folder.path, NULL, &f->files, err_));
    MUST(zlg_store_open_memory(f->ctx, &f->memory, err_));
    for (int i = 0; i < 2; i++) {
        f->arrays[i] = put_array(i ? f->memory : f->files, "a", "[48,48]", "\"uint32\"",
                                 REGULAR("[24,24]"), "0", codecs);
        MUST(zlg_array_write(f->arrays[i], NULL, &(zlg_source){.data = elements}, NULL,
                             err_));
    }
}

static void close_fixture(fixture *f)
{
    for (int i = 0; i < 2; i++)
        zlg_array_close(f->arrays[i]);
    zlg_store_close(f->files);
    zlg_store_close(f->memory);
    zlg_ctx_close(f->ctx);
    test_folder_remove(&f->folder);
}

/* Reads at random; false when something was not right. Fit for threads and children, where
 * assertions are not. */
static bool read_at_random(zlg_array *array, uint64_t seed, int n_reads)
{
    uint32_t out[N];
    bool right = true;
    for (int i = 0; i < n_reads && right; i++) {
        pick p;
        pick_any(&p, &seed, 2, shape, SIDE, true);
        right = zlg_array_read(array, &p.selection, &(zlg_target){.data = out}, NULL,
                               NULL) == ZLG_OK;
        for (size_t k = 0; k < p.n && right; k++)
            right = out[k] == elements[p.element[k]];
        pick_free(&p);
    }
    return right;
}

/* ------------------------------------------------------------------ threads */

enum { N_THREADS = 6 };

typedef struct reader {
    pthread_t thread;
    fixture *f;
    uint64_t seed;
    int n_reads;
    atomic_bool *stop; /* NULL: after n_reads */
    bool right;
} reader;

/* Its own handles half of the time. */
static void *run_reader(void *user)
{
    reader *r = user;
    r->right = true;
    for (int i = 0; i < r->n_reads && r->right; i++) {
        int which = (int)(test_random(&r->seed) >> 9) & 1;
        zlg_array *array = r->f->arrays[which], *own = NULL;
        if (i % 2)
            r->right = zlg_array_open(which ? r->f->memory : r->f->files, "a", NULL, &own,
                                      NULL) == ZLG_OK;
        r->right = r->right && read_at_random(own ? own : array, r->seed, 3);
        zlg_array_close(own);
        if (r->stop != NULL && atomic_load(r->stop))
            break;
    }
    return NULL;
}

static void start_readers(fixture *f, reader *readers, int n, int n_reads,
                          atomic_bool *stop)
{
    for (int i = 0; i < n; i++) {
        readers[i] = (reader){
            .f = f, .seed = (uint64_t)i * 7919 + 1, .n_reads = n_reads, .stop = stop};
        assert_int_equal(pthread_create(&readers[i].thread, NULL, run_reader, &readers[i]),
                         0);
    }
}

static void join_readers(reader *readers, int n)
{
    for (int i = 0; i < n; i++) {
        pthread_join(readers[i].thread, NULL);
        assert_true(readers[i].right);
    }
}

static void test_many_threads(void **state)
{
    (void)state;
    fixture f;
    reader readers[N_THREADS];
    open_fixture(&f);
    start_readers(&f, readers, N_THREADS, 40, NULL);
    join_readers(readers, N_THREADS);
    close_fixture(&f);
}

/* ------------------------------------------------------------------ a writer beside */

typedef struct writer {
    zlg_array *array;
    atomic_bool stop;
    bool right;
} writer;

/* Every element of an object has the number of its version. */
static void *run_writer(void *user)
{
    writer *w = user;
    uint32_t data[N];
    w->right = true;
    for (uint32_t version = 1; !atomic_load(&w->stop) && w->right; version++) {
        for (int i = 0; i < N; i++)
            data[i] = version * 1000 + (uint32_t)i % 7;
        zlg_call call = ZLG_CALL_INIT;
        call.n_threads = 1;
        w->right = zlg_array_write(w->array, NULL, &(zlg_source){.data = data}, &call,
                                   NULL) == ZLG_OK;
    }
    return NULL;
}

/* Index and inner chunks of a shard come from one version of it, whatever is cached. */
static void test_replaced_objects(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    for (int which = 0; which < 2; which++) {
        writer w = {.array = f.arrays[which]};
        pthread_t thread;
        atomic_init(&w.stop, false);
        MUST(zlg_array_write(f.arrays[which], NULL, &(zlg_source){.data = (uint32_t[N]){0}},
                             NULL, err_));
        assert_int_equal(pthread_create(&thread, NULL, run_writer, &w), 0);
        for (int i = 0; i < 300; i++) {
            uint32_t out[24][24];
            zlg_axis axes[2] = {{.start = 24 * (i % 2), .step = 1, .count = 24},
                                {.start = 0, .step = 1, .count = 24}};
            zlg_selection box = {.kind = ZLG_BOX, .rank = 2, .axes = axes};
            MUST(zlg_array_read(f.arrays[which], &box, &(zlg_target){.data = out}, NULL,
                                err_));
            uint32_t version = out[0][0] / 1000;
            for (int64_t k = 0; k < 24 * 24 && version > 0; k++) {
                int64_t at = (axes[0].start + k / 24) * SIDE + k % 24;
                assert_int_equal(out[k / 24][k % 24], version * 1000 + at % 7);
            }
        }
        atomic_store(&w.stop, true);
        pthread_join(thread, NULL);
        assert_true(w.right);
    }
    close_fixture(&f);
}

/* ------------------------------------------------------------------ forks */

/* What a child does: both arrays, by threads of the pool and by threads of its own that all
 * come first. */
static int be_child(fixture *f)
{
    reader readers[3];
    alarm(1000);
    for (int i = 0; i < 3; i++) {
        readers[i] = (reader){.f = f, .seed = (uint64_t)i + 5, .n_reads = 6};
        if (pthread_create(&readers[i].thread, NULL, run_reader, &readers[i]) != 0)
            return 2;
    }
    bool right = true;
    for (int i = 0; i < 3; i++) {
        pthread_join(readers[i].thread, NULL);
        right = right && readers[i].right;
    }
    return right && read_at_random(f->arrays[0], 3, 5) ? 0 : 1;
}

static void expect_good_child(pid_t child)
{
    int status = -1;
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* Between calls: caches are full and threads sleep. */
static void test_fork_between_reads(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    for (int i = 0; i < 5; i++) {
        assert_true(read_at_random(f.arrays[i % 2], 9, 5));
        pid_t child = fork();
        if (child == 0)
            _exit(be_child(&f));
        assert_true(read_at_random(f.arrays[i % 2], 10, 5));
        expect_good_child(child);
    }
    close_fixture(&f);
}

/* Threads that are at work while the process forks. */
#ifdef TEST_SANITIZED
enum { THREADS_AT_FORK = 1 };
#else
enum { THREADS_AT_FORK = 3 };

/* While other threads read. */
static void test_fork_during_reads(void **state)
{
    (void)state;
    fixture f;
    reader readers[N_THREADS];
    atomic_bool stop;
    atomic_init(&stop, false);
    open_fixture(&f);
    start_readers(&f, readers, N_THREADS, INT32_MAX, &stop);
    for (int i = 0; i < 25; i++) {
        pid_t child = fork();
        if (child == 0)
            _exit(be_child(&f));
        expect_good_child(child);
    }
    atomic_store(&stop, true);
    join_readers(readers, N_THREADS);
    close_fixture(&f);
}
#endif

typedef struct forker {
    pid_t child; /* -1: not yet */
} forker;

static int fork_once(void *user, uint64_t n_done, uint64_t n_all)
{
    forker *f = user;
    (void)n_done, (void)n_all;
    if (f->child < 0)
        f->child = fork();
    return 0;
}

/* By the function that a call asks: the parent's call goes on. The child's is cancelled
 * when others worked on it, since they are not in the child, and its next one reads. */
static void test_fork_within_read(void **state)
{
    (void)state;
    for (int n_threads = 1; n_threads <= THREADS_AT_FORK; n_threads += 2) {
        fixture f;
        uint32_t out[N] = {0};
        forker who = {.child = -1};
        zlg_call call = ZLG_CALL_INIT;
        open_fixture(&f);
        fault_store *slow = fault_store_open(f.ctx);
        zlg_array *array = put_array(&slow->base, "", "[48,48]", "\"uint32\"",
                                     REGULAR("[4,48]"), "0", "[" LITTLE "," ZSTD "]");
        MUST(zlg_array_write(array, NULL, &(zlg_source){.data = elements}, NULL, err_));
        slow->frozen = true;
        slow->sleep_us = 30000;
        call.n_threads = n_threads;
        call.poll = fork_once;
        call.user = &who;
        zlg_status status =
            zlg_array_read(array, NULL, &(zlg_target){.data = out}, &call, NULL);
        if (who.child == 0) {
            bool alone = n_threads == 1 && status == ZLG_OK &&
                         memcmp(out, elements, sizeof out) == 0;
            _exit(alone || status == ZLG_CANCELLED ? be_child(&f) : 3);
        }
        assert_int_equal(status, ZLG_OK);
        assert_memory_equal(out, elements, sizeof out);
        expect_good_child(who.child);
        zlg_array_close(array);
        zlg_store_close(&slow->base);
        close_fixture(&f);
    }
}

/* ------------------------------------------------------------------ contexts */

typedef struct tenant {
    pthread_t thread;
    int number;
    bool right;
} tenant;

static void *run_tenant(void *user)
{
    tenant *t = user;
    fixture f;
    zlg_ctx_options options = ZLG_CTX_OPTIONS_INIT;
    options.n_threads = 1 + t->number;
    t->right = zlg_ctx_new(&options, &f.ctx, NULL) == ZLG_OK &&
               zlg_store_open_memory(f.ctx, &f.memory, NULL) == ZLG_OK;
    if (!t->right)
        return NULL;
    zlg_array *array =
        put_array(f.memory, "", "[48,48]", "\"uint32\"", REGULAR("[24,24]"), "0", codecs);
    /* What is still needed stays alive. */
    zlg_store_close(f.memory);
    zlg_ctx_close(f.ctx);
    t->right = zlg_array_write(array, NULL, &(zlg_source){.data = elements}, NULL, NULL) ==
                   ZLG_OK &&
               read_at_random(array, (uint64_t)t->number + 1, 60);
    zlg_array_close(array);
    return NULL;
}

static void test_contexts_side_by_side(void **state)
{
    (void)state;
    tenant tenants[4];
    for (uint32_t i = 0; i < N; i++)
        elements[i] = i * 2654435761u;
    for (int i = 0; i < 4; i++) {
        tenants[i] = (tenant){.number = i};
        assert_int_equal(pthread_create(&tenants[i].thread, NULL, run_tenant, &tenants[i]),
                         0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(tenants[i].thread, NULL);
        assert_true(tenants[i].right);
    }
}

/* ------------------------------------------------------------------ read only */

static void test_read_only(void **state)
{
    (void)state;
    fixture f;
    zlg_store *store;
    zlg_array *array, *other;
    zlg_group *group;
    zlg_error err = {0};
    zlg_fs_options options = ZLG_FS_OPTIONS_INIT;
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    options.read_only = 1;
    spec.rank = 2;
    spec.shape = spec.object_shape = shape;
    spec.data_type = "uint32";
    open_fixture(&f);
    MUST(zlg_store_open_fs(f.ctx, f.folder.path, &options, &store, err_));
    MUST(zlg_array_open(store, "a", NULL, &array, err_));
    assert_true(read_at_random(array, 4, 10));
    assert_int_equal(
        zlg_array_write(array, NULL, &(zlg_source){.data = elements}, NULL, &err),
        ZLG_USAGE);
    assert_int_equal(zlg_array_create(store, "b", &spec, &other, &err), ZLG_USAGE);
    assert_int_equal(zlg_group_create(store, "g", NULL, &group, &err), ZLG_USAGE);
    assert_int_equal(zlg_store_put(store, "k", "v", 1, &err), ZLG_USAGE);
    assert_int_equal(zlg_store_delete(store, "a/zarr.json", &err), ZLG_USAGE);
    assert_true(read_at_random(array, 5, 10));
    zlg_array_close(array);
    zlg_store_close(store);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_threads),
        cmocka_unit_test(test_replaced_objects),
        cmocka_unit_test(test_fork_between_reads),
#ifndef TEST_SANITIZED
        cmocka_unit_test(test_fork_during_reads),
#endif
        cmocka_unit_test(test_fork_within_read),
        cmocka_unit_test(test_contexts_side_by_side),
        cmocka_unit_test(test_read_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
