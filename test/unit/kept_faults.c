/* Objects that a flush keeps beside the store: files that are damaged, and what else
 * happens to a writer that has them. Label: engine. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <sys/syscall.h>

#include "kept_test.h"

static atomic_bool is_disk_full;

ssize_t pwrite(int fd, const void *data, size_t n, off_t at)
{
    if (!is_disk_full)
        return syscall(SYS_pwrite64, fd, data, n, at);
    errno = ENOSPC;
    return -1;
}

int fdatasync(int fd)
{
    (void)fd; /* no power is lost here, and disks are slow */
    return 0;
}

int fsync(int fd)
{
    return fdatasync(fd);
}

/* ------------------------------------------------------------------ damage */

static void write_at(const char *path, off_t at, const char *bytes, size_t n)
{
    int file = open(path, O_RDWR);
    assert_true(file >= 0);
    assert_int_equal(pwrite(file, bytes, n, at), n);
    assert_int_equal(close(file), 0);
}

/* A step that was kept, and bytes in its file, from so far before or behind its end. */
static void leave_damaged(const keeping *k, off_t from_end, const char *bytes)
{
    char path[PATH_MAX];
    leave_steps(k, 1);
    off_t end = find_kept(k, path);
    write_at(path, end + from_end, bytes, strlen(bytes));
}

static void check_what_was_never_acknowledged(void **state)
{
    const keeping *k = *state;
    char path[PATH_MAX];
    leave_damaged(k, 0, "a record that was not whole");
    snprintf(path, sizeof path, "%s/0123456789abcdef.new", k->journal);
    int file = open(path, O_CREAT | O_WRONLY, 0666);
    assert_int_equal(close(file), 0);
    zlg_writer *writer = start(k);
    check_known(writer, "100000000000");
    give_and_flush(writer, 1, 2);
    check_end(k, restart(k, writer), "12..........");
}

/* Each byte in turn, and each length: an error, or all that was acknowledged. */
static void check_every_byte(void **state)
{
    const keeping *k = *state;
    char path[PATH_MAX], whole[4096], byte;
    zlg_error err;
    zlg_writer *writer = start(k);
    give(writer, 0, 1);
    give_part(writer, 1, 1, 2, 1);
    give_part(writer, 2, 1, 1, 1);
    give_part(writer, 2, 4, 1, 1);
    flush(writer);
    drop(writer);
    find_kept(k, path);
    int file = open(path, O_RDONLY);
    ssize_t n = read(file, whole, sizeof whole);
    assert_int_equal(close(file), 0);
    assert_true(n > 300 && n < (ssize_t)sizeof whole);
    const zlg_writer_options options = options_of(k);
    for (ssize_t i = 0; i < 2 * n; i++) {
        int number;
        byte = (char)(whole[i % n] ^ 16);
        find_kept(k, path);
        if (i < n)
            write_at(path, i, &byte, 1);
        else
            assert_int_equal(truncate(path, i - n), 0);
        zlg_status status = zlg_writer_open(k->f.ctx, &options, &writer, &err);
        if (status == ZLG_OK) {
            MUST(zlg_writer_add(writer, k->array, NULL, &number, err_));
            status = zlg_writer_close(writer, NULL, &err);
            zlg_writer_free(writer);
            if (status != ZLG_OK)
                assert_non_null(strstr(err.message, "a/c/0/0, kept in "));
        }
        if (status != ZLG_CORRUPT && status != ZLG_UNSUPPORTED)
            fail_msg("byte %zd: %s", i, zlg_status_name(status));
        assert_non_null(strstr(err.message, ".kept"));
        check_steps(k, "............");
        find_kept(k, path);
        assert_int_equal(truncate(path, 0), 0);
        write_at(path, 0, whole, (size_t)n);
    }
    finish(start(k));
    assert_false(has_journal(k));
}

static void check_damage_is_told_to_who_gives_more(void **state)
{
    const keeping *k = *state;
    leave_damaged(k, -1, "?");
    zlg_writer *writer = start(k);
    give_steps(writer, 1, SHARD - 1, 2);
    REFUSED(ZLG_CORRUPT, "array a: a/c/0/0, kept in ",
            zlg_writer_flush(writer, NULL, err_));
    try_part(writer, SHARD, 0, 1, 2, NULL, &(zlg_error){0}); /* may be refused */
    drop(writer);
    check_steps(k, "............");
}

/* ------------------------------------------------------------------ with other things */

enum { WIDE = 4096, N = 8 };

static uint32_t noise_at(int64_t step, int i)
{
    return (uint32_t)(step * WIDE + i) * 2654435761u;
}

/* A step of each shard in turn. */
static zlg_status give_wide(zlg_writer *writer, int i, zlg_error *err)
{
    static uint32_t row[WIDE];
    int64_t step = i % N * N + i / N;
    for (int j = 0; j < WIDE; j++)
        row[j] = noise_at(step, j);
    const zlg_submit part = {.start = (int64_t[]){step, 0},
                             .count = (int64_t[]){1, WIDE},
                             .source = {.data = row}};
    return zlg_writer_submit(writer, &part, 1, NULL, NULL, err);
}

/* A flush after so many submits, or when no more is taken since the disk is full. */
static void run_budget(const keeping *k, const char *name, int n_at_once, bool fills_disk)
{
    static uint32_t read[N * N][WIDE];
    int n_refused = 0;
    zlg_error err;
    zlg_array *array = make_array(k->f.stores[0], name, N * N, N, WIDE);
    zlg_writer_options options = options_of(k);
    options.n_threads = 1;
    options.memory_budget = 24 * WIDE * (int64_t)sizeof **read;
    zlg_writer *writer = start_of(k, &options, array);
    for (int i = 0; i < N * N; i++) {
        is_disk_full = fills_disk && i < N * (N - 1); /* no shard is full yet */
        zlg_status status = give_wide(writer, i, &err);
        is_disk_full = false;
        if (status != ZLG_OK || i % n_at_once == 0)
            MUST(zlg_writer_flush(writer, NULL, err_));
        if (status == ZLG_OK)
            continue;
        assert_int_equal(status, ZLG_LIMIT);
        n_refused++;
        MUST(give_wide(writer, i, err_));
    }
    check_drain(writer, N);
    zlg_writer_counts counts = counts_of(writer);
    assert_int_equal(n_refused > 0, fills_disk);
    assert_int_equal(counts.n_partial, 0);
    assert_true(counts.n_unspilled > 0);
    assert_true(counts.n_bytes_peak <= counts.n_bytes_budget);
    finish(writer);
    read_all(array, read);
    for (int64_t step = 0; step < N * N; step++)
        for (int j = 0; j < WIDE; j++)
            assert_int_equal(read[step][j], noise_at(step, j));
    zlg_array_close(array);
}

static void check_budget(void **state)
{
    const keeping *k = *state;
    run_budget(k, "each", 1, false);
    run_budget(k, "some", 5, false);
    run_budget(k, "all", N * N, false);
    run_budget(k, "full", N * N, true);
}

static void check_an_object_that_cannot_be_stored(void **state)
{
    const keeping *k = *state;
    char path[512];
    static const char *const folders[] = {"a/c", "a/c/0", "a/c/0/0", "a/c/0/0/x"};
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%s", k->f.folder.path, folders[i]);
        assert_int_equal(mkdir(path, 0777), 0);
    }
    zlg_writer *writer = start(k);
    give_steps(writer, 0, 3, 1);
    flush(writer);
    give(writer, 3, 2);
    REFUSED(ZLG_CORRUPT, "array a: chunk c/0/0", zlg_writer_flush(writer, NULL, err_));
    assert_int_equal(n_kept(k), 1);
    drop(writer);
    for (int i = 3; i >= 2; i--) {
        snprintf(path, sizeof path, "%s/%s", k->f.folder.path, folders[i]);
        assert_int_equal(rmdir(path), 0);
    }
    writer = start(k);
    check_known(writer, "111000000000");
    give(writer, 3, 3);
    check_end(k, writer, "1113........");
}

typedef struct flusher {
    zlg_writer *writer;
    atomic_bool is_over;
} flusher;

static void *flush_on(void *user)
{
    flusher *f = user;
    while (!atomic_load(&f->is_over))
        flush(f->writer);
    return NULL;
}

static void check_flushes_of_another_thread(void **state)
{
    const keeping *k = *state;
    pthread_t thread;
    for (int32_t version = 1; version < 40; version++) {
        flusher f = {.writer = start(k)};
        assert_int_equal(pthread_create(&thread, NULL, flush_on, &f), 0);
        for (int64_t i = 0; i < STEPS - 1; i++)
            give(f.writer, i * 5 % STEPS, version);
        for (int64_t i = 0; i < WIDTH; i++)
            give_part(f.writer, (STEPS - 1) * 5 % STEPS, i, 1, version);
        atomic_store(&f.is_over, true);
        assert_int_equal(pthread_join(thread, NULL), 0);
        check_drain(f.writer, STEPS / SHARD);
        finish(f.writer);
        int32_t versions[STEPS];
        for (int i = 0; i < STEPS; i++)
            versions[i] = version;
        check_versions(k, versions);
    }
}

/* Readers follow the rows: they are stored as ever. */
static void check_an_array_that_grows(void **state)
{
    const keeping *k = *state;
    int32_t rows[2][WIDTH] = {{7}}, read[SHARD * STEPS][WIDTH];
    zlg_array *now;
    zlg_array *array = make_array(k->f.stores[1], "rows", 0, SHARD, WIDTH);
    const zlg_writer_options options = options_of(k);
    zlg_writer *writer = start_of(k, &options, array);
    const zlg_source source = {.data = rows};
    MUST(zlg_writer_append(writer, 0, 0, 2, &source, NULL, NULL, NULL, err_));
    flush(writer);
    assert_int_equal(n_kept(k), 0);
    MUST(zlg_array_refresh(array, &now, err_));
    assert_int_equal(zlg_array_shape(now)[0], 2);
    read_all(now, read);
    assert_memory_equal(read, rows, sizeof rows);
    zlg_array_close(now);
    finish(writer);
    zlg_array_close(array);
}

static void check_a_coarser_array(void **state)
{
    const keeping *k = *state;
    int number;
    int32_t read[STEPS / 2][WIDTH / 2];
    zlg_array *coarse = make_array(k->f.stores[1], "half", STEPS / 2, SHARD, WIDTH / 2);
    for (int i = 0; i < 2; i++) {
        zlg_writer *writer = start(k);
        MUST(zlg_writer_add(writer, coarse, NULL, &number, err_));
        MUST(zlg_writer_add_coarser(writer, 0, number, (int64_t[]){2, 2},
                                    ZLG_REDUCE_DECIMATE, err_));
        for (int64_t step = 2 * i; step < 2 * i + 2; step += 2) {
            int32_t data[2][WIDTH];
            for (int j = 0; j < 2 * WIDTH; j++)
                data[j / WIDTH][j % WIDTH] = value_at(step + j / WIDTH, j % WIDTH, 1);
            const zlg_submit part = {.start = (int64_t[]){step, 0},
                                     .count = (int64_t[]){2, WIDTH},
                                     .source = {.data = data}};
            MUST(zlg_writer_submit(writer, &part, 1, NULL, NULL, err_));
        }
        flush(writer);
        assert_false(has_key(k->f.stores[1], "half/c/0/0"));
        assert_int_equal(n_kept(k), i == 0 ? 2 : 1);
        drop(writer);
    }
    zlg_writer *writer = start(k);
    MUST(zlg_writer_add(writer, coarse, NULL, &number, err_));
    check_end(k, writer, "1111........");
    read_all(coarse, read);
    for (int64_t step = 0; step < 2; step++)
        for (int i = 0; i < WIDTH / 2; i++)
            assert_int_equal(read[step][i], value_at(2 * step, 2 * i, 1));
    zlg_array_close(coarse);
}

static void check_options(void **state)
{
    const keeping *k = *state;
    zlg_writer *writer;
    zlg_writer_options options = options_of(k);
    options.journal = NULL;
    REFUSED(ZLG_USAGE, "without a journal",
            zlg_writer_open(k->f.ctx, &options, &writer, err_));
    options = options_of(k);
    options.partial = (zlg_partial)2;
    REFUSED(ZLG_USAGE, "partial 2 is none",
            zlg_writer_open(k->f.ctx, &options, &writer, err_));
    assert_false(has_journal(k));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        kept_test(check_what_was_never_acknowledged),
        kept_test(check_every_byte),
        kept_test(check_damage_is_told_to_who_gives_more),
        kept_test(check_budget),
        kept_test(check_an_object_that_cannot_be_stored),
        kept_test(check_flushes_of_another_thread),
        kept_test(check_an_array_that_grows),
        kept_test(check_a_coarser_array),
        kept_test(check_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
