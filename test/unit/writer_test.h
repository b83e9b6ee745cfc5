/* What the tests of the asynchronous writer share: an array of steps in shards of four, and
 * a writer of it. */
#ifndef ZELLIGE_WRITER_TEST_H
#define ZELLIGE_WRITER_TEST_H

#include "change_test.h"
#include "zellige_writer.h"

enum { STEPS = 8, WIDTH = 6, SHARD = 4 };

typedef struct writing {
    fixture f;
    zlg_array *array;
    zlg_writer *writer;
    int number;
} writing;

static inline zlg_array *make_array(zlg_store *store, const char *path, int64_t n_steps)
{
    zlg_array *array;
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    spec.rank = 2;
    spec.shape = (int64_t[]){n_steps, WIDTH};
    spec.object_shape = (int64_t[]){SHARD, WIDTH};
    spec.chunk_shape = (int64_t[]){1, WIDTH};
    spec.data_type = "int32";
    spec.fill_value = "-1";
    MUST(zlg_array_create(store, path, &spec, &array, err_));
    return array;
}

static inline void open_writing(writing *w, int i_store, const zlg_writer_options *options)
{
    open_fixture(&w->f);
    w->array = make_array(w->f.stores[i_store], "a", STEPS);
    MUST(zlg_writer_open(w->f.ctx, options, &w->writer, err_));
    MUST(zlg_writer_add(w->writer, w->array, NULL, &w->number, err_));
}

static inline void close_writing(writing *w)
{
    zlg_writer_free(w->writer);
    zlg_array_close(w->array);
    close_fixture(&w->f);
}

static inline int32_t value_at(int64_t step, int64_t i)
{
    return (int32_t)(step * 100 + i + 1);
}

/* A step of an array, copied. */
static inline zlg_status give(writing *w, int number, int64_t step, zlg_ticket *out,
                              zlg_error *err)
{
    int32_t row[WIDTH];
    for (int i = 0; i < WIDTH; i++)
        row[i] = value_at(step, i);
    const zlg_submit part = {.array = number,
                             .start = (int64_t[]){step, 0},
                             .count = (int64_t[]){1, WIDTH},
                             .source = {.data = row}};
    return zlg_writer_submit(w->writer, &part, 1, NULL, out, err);
}

static inline zlg_writer_counts counts_of(const writing *w)
{
    zlg_writer_counts counts = ZLG_WRITER_COUNTS_INIT;
    MUST(zlg_writer_count(w->writer, &counts, err_));
    return counts;
}

/* Steps first .. first + n - 1 are as given; all others are the fill value. */
static inline void check_steps(zlg_store *store, const char *path, int64_t n_all,
                               int64_t first, int64_t n)
{
    zlg_array *array;
    int32_t read[64 * WIDTH];
    MUST(zlg_array_open(store, path, NULL, &array, err_));
    assert_int_equal(zlg_array_shape(array)[0], n_all);
    MUST(zlg_array_read(array, NULL, &(zlg_target){.data = read}, NULL, err_));
    for (int64_t step = 0; step < n_all; step++)
        for (int64_t i = 0; i < WIDTH; i++)
            assert_int_equal(read[step * WIDTH + i],
                             step >= first && step < first + n ? value_at(step, i) : -1);
    zlg_array_close(array);
}

#endif
