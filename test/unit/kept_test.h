/* What the tests of objects that are kept share: an array of steps in shards of four, and
 * writers of it that keep what is partial. */
#ifndef ZELLIGE_KEPT_TEST_H
#define ZELLIGE_KEPT_TEST_H

#include <dirent.h>

#include "change_test.h"
#include "zellige_writer.h"

enum { STEPS = 12, WIDTH = 6, SHARD = 4 };

typedef struct keeping {
    fixture f;
    zlg_array *array;
    char journal[80];
} keeping;

static inline zlg_array *make_array(zlg_store *store, const char *path, int64_t n_steps,
                                    int64_t shard, int64_t width)
{
    zlg_array *array;
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    spec.rank = 2;
    spec.shape = (int64_t[]){n_steps, width};
    spec.object_shape = (int64_t[]){shard, width};
    spec.chunk_shape = (int64_t[]){1, width};
    spec.data_type = "int32";
    spec.fill_value = "-1";
    MUST(zlg_array_create(store, path, &spec, &array, err_));
    return array;
}

static inline int set_up(void **state)
{
    static keeping k;
    open_fixture(&k.f);
    k.array = make_array(k.f.stores[1], "a", STEPS, SHARD, WIDTH);
    snprintf(k.journal, sizeof k.journal, "%s.journal", k.f.folder.path);
    *state = &k;
    return 0;
}

static inline bool has_journal(const keeping *k)
{
    return access(k->journal, F_OK) == 0;
}

static inline int tear_down(void **state)
{
    keeping *k = *state;
    zlg_array_close(k->array);
    close_fixture(&k->f);
    return has_journal(k)
               ? nftw(k->journal, test_folder_remove_one, 8, FTW_DEPTH | FTW_PHYS)
               : 0;
}

/* It is given a keeping. */
#define kept_test(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

/* ------------------------------------------------------------------ a writer */

static inline zlg_writer_options options_of(const keeping *k)
{
    zlg_writer_options options = ZLG_WRITER_OPTIONS_INIT;
    options.journal = k->journal;
    options.partial = ZLG_PARTIAL_KEEP;
    return options;
}

static inline zlg_writer *start_of(const keeping *k, const zlg_writer_options *options,
                                   zlg_array *array)
{
    zlg_writer *writer;
    int number;
    MUST(zlg_writer_open(k->f.ctx, options, &writer, err_));
    MUST(zlg_writer_add(writer, array, NULL, &number, err_));
    return writer;
}

static inline zlg_writer *start_with(const keeping *k, const zlg_writer_options *options)
{
    return start_of(k, options, k->array);
}

static inline zlg_writer *start(const keeping *k)
{
    const zlg_writer_options options = options_of(k);
    return start_with(k, &options);
}

static inline int32_t value_at(int64_t step, int64_t i, int32_t version)
{
    return version * 10000 + (int32_t)(step * 100 + i + 1);
}

static inline zlg_status try_part(zlg_writer *writer, int64_t step, int64_t first,
                                  int64_t n, int32_t version, zlg_ticket *out,
                                  zlg_error *err)
{
    int32_t row[WIDTH];
    for (int64_t i = 0; i < n; i++)
        row[i] = value_at(step, first + i, version);
    const zlg_submit part = {.start = (int64_t[]){step, first},
                             .count = (int64_t[]){1, n},
                             .source = {.data = row}};
    return zlg_writer_submit(writer, &part, 1, NULL, out, err);
}

/* n elements of a step. */
static inline zlg_ticket give_part(zlg_writer *writer, int64_t step, int64_t first,
                                   int64_t n, int32_t version)
{
    zlg_ticket ticket;
    MUST(try_part(writer, step, first, n, version, &ticket, err_));
    return ticket;
}

static inline zlg_ticket give(zlg_writer *writer, int64_t step, int32_t version)
{
    return give_part(writer, step, 0, WIDTH, version);
}

static inline void give_steps(zlg_writer *writer, int64_t first, int64_t n, int32_t version)
{
    for (int64_t i = 0; i < n; i++)
        give(writer, first + i, version);
}

static inline void flush(zlg_writer *writer)
{
    MUST(zlg_writer_flush(writer, NULL, err_));
}

static inline zlg_ticket give_and_flush(zlg_writer *writer, int64_t step, int32_t version)
{
    zlg_ticket ticket = give(writer, step, version);
    flush(writer);
    return ticket;
}

/* As after a kill. */
static inline void drop(zlg_writer *writer)
{
    zlg_writer_free(writer);
}

static inline zlg_writer *restart(const keeping *k, zlg_writer *writer)
{
    drop(writer);
    return start(k);
}

/* What one leaves that has given the first steps, flushed and was killed. */
static inline void leave_steps(const keeping *k, int64_t n)
{
    zlg_writer *writer = start(k);
    give_steps(writer, 0, n, 1);
    flush(writer);
    drop(writer);
}

static inline void finish(zlg_writer *writer)
{
    MUST(zlg_writer_close(writer, NULL, err_));
    zlg_writer_free(writer);
}

static inline zlg_writer_counts counts_of(zlg_writer *writer)
{
    zlg_writer_counts counts = ZLG_WRITER_COUNTS_INIT;
    MUST(zlg_writer_count(writer, &counts, err_));
    return counts;
}

/* All that is full is stored: so many objects, and none was read for it. */
static inline void check_drain(zlg_writer *writer, uint64_t n_stored)
{
    MUST(zlg_writer_drain(writer, NULL, err_));
    zlg_writer_counts counts = counts_of(writer);
    assert_int_equal(counts.n_stored, n_stored);
    assert_int_equal(counts.n_opened, 0);
}

/* Which steps count as given: a digit each. */
static inline void check_known(zlg_writer *writer, const char *expected)
{
    char text[STEPS + 1] = "";
    for (int64_t step = 0; step < STEPS; step++) {
        int stored = 2;
        const int64_t first[2] = {step, 1}, count[2] = {1, 2};
        MUST(zlg_writer_is_stored(writer, 0, first, count, &stored, err_));
        text[step] = stored ? '1' : '0';
    }
    assert_string_equal(text, expected);
}

/* ------------------------------------------------------------------ what is there */

static inline void read_all(zlg_array *array, void *out)
{
    MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, NULL, err_));
}

/* Of each step; 0 is the fill value. */
static inline void check_versions(const keeping *k, const int32_t versions[STEPS])
{
    int32_t read[STEPS][WIDTH];
    read_all(k->array, read);
    for (int64_t step = 0; step < STEPS; step++)
        for (int i = 0; i < WIDTH; i++)
            assert_int_equal(read[step][i],
                             versions[step] ? value_at(step, i, versions[step]) : -1);
}

/* The same as a text; '.' is the fill value. */
static inline void check_steps(const keeping *k, const char *text)
{
    int32_t versions[STEPS];
    for (int i = 0; i < STEPS; i++)
        versions[i] = text[i] == '.' ? 0 : text[i] - '0';
    check_versions(k, versions);
}

/* The last writer is closed: all is stored, and nothing is left to resume. */
static inline void check_end(const keeping *k, zlg_writer *writer, const char *steps)
{
    finish(writer);
    assert_false(has_journal(k));
    check_steps(k, steps);
}

/* Files with an ending, and the path of the last. */
static inline int count_files(const keeping *k, const char *ending, char out[PATH_MAX])
{
    DIR *folder = opendir(k->journal);
    int n = 0;
    if (!folder)
        return 0;
    for (struct dirent *e; (e = readdir(folder));)
        if (strstr(e->d_name, ending)) {
            snprintf(out, PATH_MAX, "%s/%s", k->journal, e->d_name);
            n++;
        }
    closedir(folder);
    return n;
}

static inline int n_kept(const keeping *k)
{
    char path[PATH_MAX];
    return count_files(k, ".kept", path);
}

/* The only one, and its size. */
static inline off_t find_kept(const keeping *k, char path[PATH_MAX])
{
    struct stat found;
    assert_int_equal(count_files(k, ".kept", path), 1);
    assert_int_equal(stat(path, &found), 0);
    return found.st_size;
}

#endif
