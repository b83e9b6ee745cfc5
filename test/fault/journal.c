/*
 * A writer with a journal, which publishes or keeps what is partial, while each system call
 * that the journal makes fails in turn, and while memory is refused at each point:
 * whichever call meets it says so, the same call succeeds after a flush, nothing is said to
 * be stored that is not, and the journal goes.
 *
 * The program has functions of its own where the library calls the system's.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <sys/syscall.h>

#include "fault.h"

#include "../store/folder.h"

#include "zellige_writer.h"

enum { ROWS = 8, SIDE = 6, SHARD = 2, N_SHARDS = ROWS / SHARD };

/* ------------------------------------------------------------------ the system */

static struct {
    int n_calls, fail_at; /* 0: never */
    bool from_then_on, has_struck;
} fault;

static bool strikes(void)
{
    int n = __atomic_add_fetch(&fault.n_calls, 1, __ATOMIC_RELAXED);
    bool hit =
        fault.fail_at > 0 && (fault.from_then_on ? n >= fault.fail_at : n == fault.fail_at);
    if (hit) {
        fault.has_struck = true;
        errno = ENOSPC;
    }
    return hit;
}

ssize_t pwrite(int fd, const void *data, size_t n, off_t offset)
{
    return strikes() ? -1 : syscall(SYS_pwrite64, fd, data, n, offset);
}

int fdatasync(int fd)
{
    (void)fd; /* no power is lost here, and disks are slow */
    return strikes() ? -1 : 0;
}

int fsync(int fd)
{
    return fdatasync(fd);
}

int mkdir(const char *path, mode_t mode)
{
    return strikes() ? -1 : (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

int rename(const char *from, const char *to)
{
    return strikes() ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int unlink(const char *path)
{
    return strikes() ? -1 : (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    unsigned mode = va_arg(args, unsigned);
    va_end(args);
    return strikes() ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

/* ------------------------------------------------------------------ what is done */

typedef struct scene {
    fault_heap heap;
    test_folder folder;
    char journal[80], root[80];
    zlg_ctx *ctx;
    zlg_store *store;
    zlg_array *array;
    zlg_writer *writer;
    zlg_status expected;     /* of what fails */
    bool was_told[N_SHARDS]; /* that it is stored, before the second writer */
    bool keeps;              /* what is partial */
} scene;

static zlg_status open_writer(scene *s, int i, zlg_error *err)
{
    zlg_writer_options options = ZLG_WRITER_OPTIONS_INIT;
    options.n_threads = 1;
    options.promise = ZLG_DURABLE;
    options.journal = s->journal;
    options.partial = s->keeps ? ZLG_PARTIAL_KEEP : ZLG_PARTIAL_PUBLISH;
    zlg_writer_free(s->writer);
    (void)i;
    return zlg_writer_open(s->ctx, &options, &s->writer, err);
}

static zlg_status add(scene *s, int i, zlg_error *err)
{
    int number;
    const zlg_claim claim = {.start = (int64_t[2]){i, 0},
                             .count = (int64_t[2]){ROWS, SIDE}};
    return zlg_writer_add(s->writer, s->array, &claim, &number, err);
}

static int32_t value_of(int64_t row, int version)
{
    return (int32_t)(100 * version + row);
}

/* A shard; version 2 is what the second writer gives. */
static zlg_status submit(scene *s, int shard, int version, zlg_error *err)
{
    int32_t data[SHARD][SIDE];
    const int64_t start[2] = {shard * SHARD, 0}, count[2] = {SHARD, SIDE};
    for (int i = 0; i < SHARD; i++)
        for (int k = 0; k < SIDE; k++)
            data[i][k] = value_of(start[0] + i, version);
    const zlg_submit part = {.start = start, .count = count, .source = {.data = data}};
    return zlg_writer_submit(s->writer, &part, 1, NULL, NULL, err);
}

static zlg_status submit_first(scene *s, int shard, zlg_error *err)
{
    return submit(s, shard, 1, err);
}

static zlg_status submit_second(scene *s, int shard, zlg_error *err)
{
    return submit(s, shard, 2, err);
}

/* A row: half of a shard. Or a part of a row. */
static zlg_status submit_row(scene *s, int row, int first, int n, int version,
                             zlg_error *err)
{
    int32_t data[SIDE];
    const int64_t start[2] = {row, first}, count[2] = {1, n};
    for (int k = 0; k < SIDE; k++)
        data[k] = value_of(row, version);
    const zlg_submit part = {.start = start, .count = count, .source = {.data = data}};
    return zlg_writer_submit(s->writer, &part, 1, NULL, NULL, err);
}

static zlg_status first_row(scene *s, int row, zlg_error *err)
{
    return submit_row(s, row, 0, SIDE, 1, err);
}

static zlg_status second_row(scene *s, int row, zlg_error *err)
{
    return submit_row(s, row, 0, SIDE, 2, err);
}

static zlg_status first_part(scene *s, int row, zlg_error *err)
{
    ZLGI_TRY(submit_row(s, row, 0, 1, 1, err));
    return submit_row(s, row, 3, 2, 1, err);
}

static zlg_status flush(scene *s, int i, zlg_error *err)
{
    (void)i;
    return zlg_writer_flush(s->writer, NULL, err);
}

static zlg_status look(scene *s, int shard, zlg_error *err)
{
    int stored;
    const int64_t start[2] = {shard * SHARD, 0}, count[2] = {SHARD, SIDE};
    ZLGI_TRY(zlg_writer_is_stored(s->writer, 0, start, count, &stored, err));
    s->was_told[shard] = stored;
    return ZLG_OK;
}

static zlg_status close_writer(scene *s, int i, zlg_error *err)
{
    (void)i;
    return zlg_writer_close(s->writer, NULL, err);
}

typedef struct act {
    zlg_status (*run)(scene *s, int i, zlg_error *err);
    int i;
} act;

static const act acts[] = {
    {open_writer, 0},   {add, 0},           {submit_first, 0},  {submit_first, 1},
    {flush, 0},         {submit_first, 2},  {submit_first, 1},  {flush, 0},
    {open_writer, 0},   {add, 0},           {look, 0},          {look, 1},
    {look, 2},          {look, 3},          {submit_second, 0}, {submit_second, 1},
    {submit_second, 2}, {submit_second, 3}, {close_writer, 0},
};

/* Shards are flushed when one of their two rows was given. */
static const act keeping_acts[] = {
    {open_writer, 0}, {add, 0},         {first_row, 0},  {flush, 0},
    {first_row, 2},   {first_row, 0},   {flush, 0},      {first_row, 0},
    {first_row, 1},   {flush, 0},       {first_part, 3}, {first_part, 5},
    {flush, 0},       {open_writer, 0}, {add, 0},        {look, 0},
    {look, 1},        {second_row, 3},  {flush, 0},      {second_row, 4},
    {flush, 0},       {open_writer, 0}, {add, 0},        {second_row, 5},
    {second_row, 6},  {flush, 0},       {second_row, 7}, {close_writer, 0},
};

/* ------------------------------------------------------------------ */

static void set_fault(scene *s, size_t n, bool of_memory, bool from_then_on)
{
    s->expected = of_memory ? ZLG_NO_MEMORY : ZLG_IO;
    s->heap.once = !from_then_on;
    fault.n_calls = 0;
    fault.from_then_on = from_then_on;
    fault.fail_at = of_memory ? 0 : (int)n;
    pthread_mutex_lock(&s->heap.lock);
    s->heap.fail_at = of_memory && n > 0 ? s->heap.heap.n_calls + n : 0;
    pthread_mutex_unlock(&s->heap.lock);
}

static void make_scene(scene *s, bool keeps)
{
    zlg_ctx_options options = ZLG_CTX_OPTIONS_INIT;
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    memset(s, 0, sizeof *s);
    s->keeps = keeps;
    fault.has_struck = false;
    set_fault(s, 0, false, false);
    fault_heap_init(&s->heap, 0, true);
    options.allocator = s->heap.alloc;
    options.n_threads = 1;
    test_folder_make(&s->folder);
    snprintf(s->root, sizeof s->root, "%s/a.zarr", s->folder.path);
    snprintf(s->journal, sizeof s->journal, "%s/a.journal", s->folder.path);
    assert_int_equal(mkdir(s->root, 0777), 0);
    MUST(zlg_ctx_new(&options, &s->ctx, err_));
    MUST(zlg_store_open_fs(s->ctx, s->root, NULL, &s->store, err_));
    spec.rank = 2;
    spec.shape = (int64_t[2]){ROWS, SIDE};
    spec.object_shape = (int64_t[2]){SHARD, SIDE};
    spec.chunk_shape = (int64_t[2]){1, SIDE};
    spec.data_type = "int32";
    MUST(zlg_array_create(s->store, "a", &spec, &s->array, err_));
}

/* What was said to be stored is the first writer's, all else the second's. Of what is kept
 * it is the first three rows. */
static void check_scene(scene *s)
{
    int32_t got[ROWS][SIDE];
    MUST(zlg_array_read(s->array, NULL, &(zlg_target){.data = got}, NULL, err_));
    for (int row = 0; row < ROWS; row++)
        for (int k = 0; k < SIDE; k++)
            assert_int_equal(
                got[row][k],
                value_of(row, (s->keeps ? row < 3 : s->was_told[row / SHARD]) ? 1 : 2));
}

/* What could not be tidied is when the next one closes. */
static void check_journal(scene *s)
{
    if (access(s->journal, F_OK) == 0) {
        MUST(open_writer(s, 0, err_));
        MUST(zlg_writer_close(s->writer, NULL, err_));
    }
    assert_int_not_equal(access(s->journal, F_OK), 0);
}

static void act_again(scene *s, const act *a, zlg_status status, const zlg_error *err)
{
    zlg_error again = {0};
    if (status != s->expected)
        fail_msg("%s: %s", zlg_status_name(status), err->message);
    set_fault(s, 0, status == ZLG_NO_MEMORY, false);
    status = s->expected;
    for (int i = 0; s->writer && i < 3 && status != ZLG_OK; i++)
        status = zlg_writer_flush(s->writer, NULL, &again);
    if ((s->writer && status != ZLG_OK) || a->run(s, a->i, &again) != ZLG_OK)
        fail_msg("again: %s", again.message);
}

/* False when there are less calls than n. */
static bool run(size_t n, bool of_memory, bool from_then_on, bool keeps)
{
    static scene s;
    const act *list = keeps ? keeping_acts : acts;
    size_t n_acts = keeps ? ZLGI_COUNT(keeping_acts) : ZLGI_COUNT(acts);
    make_scene(&s, keeps);
    set_fault(&s, n, of_memory, from_then_on);
    for (size_t i = 0; i < n_acts; i++) {
        zlg_error err = {0};
        zlg_status status = list[i].run(&s, list[i].i, &err);
        if (status != ZLG_OK)
            act_again(&s, &list[i], status, &err);
    }
    bool is_struck = of_memory ? s.heap.n_refused > 0 : fault.has_struck;
    set_fault(&s, 0, of_memory, false);
    check_scene(&s);
    check_journal(&s);
    zlg_writer_free(s.writer);
    zlg_array_close(s.array);
    zlg_store_close(s.store);
    zlg_ctx_close(s.ctx);
    fault_heap_check_empty(&s.heap);
    test_folder_remove(&s.folder);
    return is_struck;
}

static void run_all(bool of_memory, bool from_then_on, bool keeps)
{
    size_t n = 1;
    while (run(n, of_memory, from_then_on, keeps))
        n++;
    assert_true(n > 30);
}

static void test_calls(void **state)
{
    (void)state;
    for (int keeps = 0; keeps < 2; keeps++) {
        run_all(false, false, keeps);
        run_all(false, true, keeps);
    }
}

static void test_memory(void **state)
{
    (void)state;
    for (int keeps = 0; keeps < 2; keeps++) {
        run_all(true, false, keeps);
        run_all(true, true, keeps);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_calls),
                                       cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests_name("journal", tests, NULL, NULL);
}
