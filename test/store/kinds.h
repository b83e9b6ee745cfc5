/*
 * Every kind of store, each test with a new empty one. For tests that hold for all.
 */
#ifndef ZELLIGE_TEST_KINDS_H
#define ZELLIGE_TEST_KINDS_H

#include "store/custom.h"
#include "store/folder.h"
#include "store/fs.h"
#include "store/keys.h"

typedef struct fixture {
    test_folder folder;
    zlg_limits limits;
    zlg_store *store;
    zlg_store *inner; /* of a counting store */
} fixture;

static fixture *make_fixture(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->limits = test_limits;
    *state = f;
    return f;
}

static int open_memory(void **state)
{
    fixture *f = make_fixture(state);
    return (int)zlgi_memory_open(&zlgi_default_alloc, &f->limits, &f->store, NULL);
}

static int open_counting(void **state)
{
    open_memory(state);
    fixture *f = *state;
    f->inner = f->store;
    return (int)zlgi_counting_open(&zlgi_default_alloc, f->inner, &f->store, NULL);
}

static int open_custom(void **state, int lends)
{
    fixture *f = make_fixture(state);
    custom_store *self = custom_new(lends);
    assert_non_null(self);
    return (int)zlgi_ext_open(&zlgi_default_alloc, &f->limits, &custom_methods, self,
                              "test", &f->store, NULL);
}

static int open_custom_lending(void **state)
{
    return open_custom(state, 1);
}

static int open_custom_reading(void **state)
{
    return open_custom(state, 0);
}

static zlgi_fs *open_fs_with(void **state, bool follow_links, bool no_locks)
{
    fixture *f = make_fixture(state);
    test_folder_make(&f->folder);
    zlg_fs_options options = ZLG_FS_OPTIONS_INIT;
    options.follow_links = follow_links;
    options.no_locks = no_locks;
    options.create = 1;
    assert_int_equal(zlgi_fs_open(&zlgi_default_alloc, &f->limits,
                                  test_folder_path(&f->folder, "x/y"), &options, &f->store,
                                  NULL),
                     ZLG_OK);
    return (zlgi_fs *)f->store;
}

static int open_fs(void **state)
{
    open_fs_with(state, false, false);
    return 0;
}

static int open_fs_walking(void **state)
{
    atomic_store(&open_fs_with(state, false, false)->lacks_openat2, true);
    return 0;
}

static int open_fs_naming(void **state)
{
    atomic_store(&open_fs_with(state, false, false)->lacks_nameless, true);
    return 0;
}

static int open_fs_linking(void **state)
{
    zlgi_fs *fs = open_fs_with(state, false, false);
    atomic_store(&fs->lacks_nameless, true);
    atomic_store(&fs->lacks_noreplace, true);
    return 0;
}

static int open_fs_unlocked(void **state)
{
    open_fs_with(state, false, true);
    return 0;
}

static int open_fs_following(void **state)
{
    open_fs_with(state, true, false);
    return 0;
}

static int close_store(void **state)
{
    fixture *f = *state;
    zlgi_store_destroy(f->store);
    zlgi_store_destroy(f->inner);
    if (f->folder.path[0] != '\0')
        test_folder_remove(&f->folder);
    free(f);
    return 0;
}

/* ------------------------------------------------------------------ running */

typedef struct test_body {
    const char *name;
    CMUnitTestFunction test;
} test_body;
#define TEST_BODY(f)                                                                       \
    {                                                                                      \
#f, f                                                                              \
    }

enum { TEST_MAX_BODIES = 64 };

static int run_over(const char *kind, CMFixtureFunction open, const test_body *bodies,
                    size_t n)
{
    struct CMUnitTest tests[TEST_MAX_BODIES];
    assert_in_range(n, 1, TEST_MAX_BODIES);
    for (size_t i = 0; i < n; i++)
        tests[i] = (struct CMUnitTest){.name = bodies[i].name,
                                       .test_func = bodies[i].test,
                                       .setup_func = open,
                                       .teardown_func = close_store};
    return _cmocka_run_group_tests(kind, tests, n, NULL, NULL);
}

static int test_over_kinds(const test_body *bodies, size_t n)
{
    return run_over("memory", open_memory, bodies, n) +
           run_over("counting", open_counting, bodies, n) +
           run_over("custom, lending", open_custom_lending, bodies, n) +
           run_over("custom, reading", open_custom_reading, bodies, n) +
           run_over("fs", open_fs, bodies, n) +
           run_over("fs without openat2", open_fs_walking, bodies, n) +
           run_over("fs without nameless files", open_fs_naming, bodies, n) +
           run_over("fs without rename flags", open_fs_linking, bodies, n) +
           run_over("fs without locks", open_fs_unlocked, bodies, n) +
           run_over("fs following links", open_fs_following, bodies, n);
}

#endif
