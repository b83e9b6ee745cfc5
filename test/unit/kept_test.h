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

static inline void set_up(keeping *k)
{
    open_fixture(&k->f);
    k->array = make_array(k->f.stores[1], "a", STEPS, SHARD, WIDTH);
    snprintf(k->journal, sizeof k->journal, "%s.journal", k->f.folder.path);
}

static inline void tear_down(keeping *k)
{
    zlg_array_close(k->array);
    close_fixture(&k->f);
    if (access(k->journal, F_OK) == 0)
        assert_int_equal(nftw(k->journal, test_folder_remove_one, 8, FTW_DEPTH | FTW_PHYS),
                         0);
}

static inline zlg_writer_options options_of(const keeping *k)
{
    zlg_writer_options options = ZLG_WRITER_OPTIONS_INIT;
    options.journal = k->journal;
    options.partial = ZLG_PARTIAL_KEEP;
    return options;
}

static inline zlg_writer *start_with(const keeping *k, const zlg_writer_options *options)
{
    zlg_writer *writer;
    int number;
    MUST(zlg_writer_open(k->f.ctx, options, &writer, err_));
    MUST(zlg_writer_add(writer, k->array, NULL, &number, err_));
    return writer;
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

/* n elements of a step. */
static inline zlg_status give_part(zlg_writer *writer, int64_t step, int64_t first,
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

static inline zlg_ticket give(zlg_writer *writer, int64_t step, int32_t version)
{
    zlg_ticket ticket;
    MUST(give_part(writer, step, 0, WIDTH, version, &ticket, err_));
    return ticket;
}

static inline void flush(zlg_writer *writer)
{
    MUST(zlg_writer_flush(writer, NULL, err_));
}

/* As after a kill. */
static inline void drop(zlg_writer *writer)
{
    zlg_writer_free(writer);
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

/* Which steps are known, as a text of digits. */
static inline const char *known_steps(zlg_writer *writer)
{
    static char text[STEPS + 1];
    for (int64_t step = 0; step < STEPS; step++) {
        int stored = 2;
        const int64_t first[2] = {step, 1}, count[2] = {1, 2};
        MUST(zlg_writer_is_stored(writer, 0, first, count, &stored, err_));
        text[step] = stored ? '1' : '0';
    }
    return text;
}

/* By version of each step; '.' is the fill value. */
static inline void check_steps(const keeping *k, const char *versions)
{
    static int32_t read[STEPS][WIDTH];
    MUST(zlg_array_read(k->array, NULL, &(zlg_target){.data = read}, NULL, err_));
    for (int64_t step = 0; step < STEPS; step++)
        for (int i = 0; i < WIDTH; i++)
            assert_int_equal(read[step][i], versions[step] == '.'
                                                ? -1
                                                : value_at(step, i, versions[step] - '0'));
}

static inline bool has_journal(const keeping *k)
{
    return access(k->journal, F_OK) == 0;
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

#endif
