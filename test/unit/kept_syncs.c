/* The order of system calls in the folder of a journal while objects are kept: for a
 * promise that lasts, what is acknowledged is on the disk before that is said, and named
 * before the flush returns; a file goes when its object is noted; a visible one syncs
 * nothing. The program has functions of its own where the library calls the system's.
 * Label: engine. */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <sys/syscall.h>

#include "kept_test.h"

/* ------------------------------------------------------------------ the system
 *
 * A letter for each call: w(rite), s(ync), n(ame), u(nlink) of a kept file, W and S of the
 * file of the journal, F(older sync). One thread works at a time. */
static char calls[1000];
static size_t n_calls;
static atomic_bool holds, is_held; /* writes to kept files */

static void note(char letter)
{
    size_t at = __atomic_fetch_add(&n_calls, 1, __ATOMIC_RELAXED);
    if (at < sizeof calls - 1)
        calls[at] = letter;
}

static void note_file(int file, char letter, char of_journal, char of_folder)
{
    char link[64], path[PATH_MAX] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    if (readlink(link, path, sizeof path - 1) <= 0)
        return;
    const char *name = strrchr(path, '/');
    if (strstr(path, ".new") || strstr(path, ".kept"))
        note(letter);
    else if (strstr(path, ".open"))
        note(of_journal);
    else if (name && strstr(name, ".journal"))
        note(of_folder);
}

ssize_t pwrite(int file, const void *data, size_t n, off_t at)
{
    note_file(file, 'w', 'W', '?');
    while (atomic_load(&holds)) {
        atomic_store(&is_held, true);
        usleep(100);
    }
    return syscall(SYS_pwrite64, file, data, n, at);
}

int fdatasync(int file)
{
    note_file(file, 's', 'S', 'F');
    return 0; /* no power is lost here, and disks are slow */
}

int fsync(int file)
{
    note_file(file, 's', 'S', 'F');
    return 0;
}

int rename(const char *from, const char *to)
{
    if (strstr(to, ".kept"))
        note('n');
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int unlink(const char *path)
{
    if (strstr(path, ".kept"))
        note('u');
    return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

static void forget_calls(void)
{
    memset(calls, 0, sizeof calls);
    n_calls = 0;
}

/* What was called since the last time. */
static void check_calls(const char *expected)
{
    assert_string_equal(calls, expected);
    forget_calls();
}

/* ------------------------------------------------------------------ */

static zlg_writer *start_writer(const keeping *k, zlg_promise promise)
{
    zlg_writer_options options = options_of(k);
    options.promise = promise;
    options.n_threads = 1;
    zlg_writer *writer = start_with(k, &options);
    forget_calls();
    return writer;
}

/* Of a step that is given, and flushed. */
static void check_calls_of(zlg_writer *writer, int64_t step, const char *expected)
{
    give_and_flush(writer, step, 1);
    check_calls(expected);
}

static void check_durable(void **state)
{
    const keeping *k = *state;
    zlg_writer *writer = start_writer(k, ZLG_DURABLE);
    check_calls_of(writer, 0, "wwwswsnF"); /* about it, head, data; how much; its name */
    check_calls_of(writer, 1, "wwsws");
    flush(writer);
    check_calls("");
    for (int i = 2; i < 6; i++)
        give_and_flush(writer, 0, i);
    check_calls("wwswswwswswwswswwwwwswsnFu"); /* at the fourth it is written anew */
    drop(writer);
    writer = start_writer(k, ZLG_DURABLE);
    give_steps(writer, 2, 2, 1);
    MUST(zlg_writer_drain(writer, NULL, err_));
    check_calls("nWSuF"); /* taken; noted as stored; gone */
    finish(writer);
    check_steps(k, "5111........");
}

static void check_visible(void **state)
{
    const keeping *k = *state;
    zlg_writer *writer = start_writer(k, ZLG_VISIBLE);
    check_calls_of(writer, 0, "wwwwn");
    give_steps(writer, 1, SHARD - 1, 1);
    flush(writer);
    check_calls("Wu");
    finish(writer);
}

static void *run_flush(void *writer)
{
    return zlg_writer_flush(writer, NULL, NULL) == ZLG_OK ? writer : NULL;
}

static void *run_abort(void *writer)
{
    zlg_writer_abort(writer);
    return NULL;
}

/* What a flush has begun with is kept all the same, and not stored. */
static void check_abort_in_a_flush(void **state)
{
    const keeping *k = *state;
    pthread_t flushing, aborting;
    zlg_writer *writer = start_writer(k, ZLG_VISIBLE);
    for (int64_t step = 0; step < STEPS; step += SHARD)
        give(writer, step, 1);
    MUST(zlg_writer_drain(writer, NULL, err_));
    atomic_store(&holds, true);
    assert_int_equal(pthread_create(&flushing, NULL, run_flush, writer), 0);
    while (!atomic_load(&is_held))
        usleep(100);
    assert_int_equal(pthread_create(&aborting, NULL, run_abort, writer), 0);
    usleep(20000);
    atomic_store(&holds, false);
    assert_int_equal(pthread_join(flushing, NULL), 0);
    assert_int_equal(pthread_join(aborting, NULL), 0);
    zlg_writer_free(writer);
    check_steps(k, "............");
    assert_int_equal(n_kept(k), STEPS / SHARD);
    finish(start(k));
    check_steps(k, "1...1...1...");
}

int main(void)
{
    const struct CMUnitTest tests[] = {kept_test(check_durable), kept_test(check_visible),
                                       kept_test(check_abort_in_a_flush)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
