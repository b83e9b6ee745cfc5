/* Random windows of an array with coarser ones, in random order, and rows appended to such
 * an array: each level is the reduction of the whole level below it, whatever was given
 * twice, or never. Label: engine. */
#define _GNU_SOURCE
#include "../unit/change_test.h"

#include "writer/reduce.h"
#include "zellige_writer.h"

enum { RANK = 3, LEVELS = 4, ROUNDS = 24, SUBMITS = 25 };

static uint64_t state;

static int64_t draw(int64_t n)
{
    return (int64_t)(test_random(&state) >> 11) % n;
}

/* Level i is made of level from[i]. */
static const int from[LEVELS] = {-1, 0, 1, 0};

typedef struct subject {
    zlg_type type;
    zlg_reduce how[LEVELS];
    int64_t factors[LEVELS][RANK], shape[LEVELS][RANK];
    int64_t window[RANK]; /* of the first level, for all others */
    zlg_array *arrays[LEVELS];
    int numbers[LEVELS];
    zlg_store *store;
} subject;

static const zlg_type types[] = {ZLG_UINT8, ZLG_INT16, ZLG_FLOAT32, ZLG_FLOAT64};

/* Of a growing array, axis 0 is empty at first. */
static void choose(subject *s, bool grows)
{
    static const int64_t most[RANK] = {12, 40, 40};
    s->type = types[draw((int64_t)ZLGI_COUNT(types))];
    for (int axis = 0; axis < RANK; axis++) {
        s->shape[0][axis] = grows && axis == 0 ? 0 : 1 + draw(most[axis]);
        s->factors[1][axis] = s->factors[3][axis] = 1 + draw(3);
        s->factors[2][axis] = 1 + draw(2);
        s->window[axis] = s->factors[1][axis] * s->factors[2][axis];
        for (int level = 1; level < LEVELS; level++)
            s->shape[level][axis] =
                (s->shape[from[level]][axis] + s->factors[level][axis] - 1) /
                s->factors[level][axis];
    }
    for (int level = 1; level < LEVELS; level++)
        s->how[level] = (zlg_reduce)draw(4);
}

static void make_arrays(subject *s)
{
    for (int level = 0; level < LEVELS; level++) {
        int64_t chunk[RANK], object[RANK];
        zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
        char path[8] = {(char)('0' + level)};
        for (int axis = 0; axis < RANK; axis++) {
            chunk[axis] = 1 + draw(9);
            object[axis] = chunk[axis] * (1 + draw(3));
        }
        spec.rank = RANK;
        spec.shape = s->shape[level];
        spec.object_shape = object;
        spec.chunk_shape = draw(3) ? chunk : NULL;
        spec.data_type = zlgi_type_name(s->type);
        spec.overwrite = 1;
        MUST(zlg_array_create(s->store, path, &spec, &s->arrays[level], err_));
    }
}

static void open_writer(fixture *f, subject *s, zlg_writer **out)
{
    uint64_t least, usual;
    zlg_writer_options options = ZLG_WRITER_OPTIONS_INIT;
    options.side_directory = f->folder.path;
    options.n_threads = 2;
    for (int again = 0; again < 2; again++) {
        MUST(zlg_writer_open(f->ctx, &options, out, err_));
        for (int level = 0; level < LEVELS; level++) {
            MUST(zlg_writer_add(*out, s->arrays[level], NULL, &s->numbers[level], err_));
            if (level > 0)
                MUST(zlg_writer_add_coarser(*out, s->numbers[from[level]],
                                            s->numbers[level], s->factors[level],
                                            s->how[level], err_));
        }
        MUST(zlg_writer_estimate(*out, &least, &usual, err_));
        if (again || draw(2))
            return;
        options.memory_budget = (int64_t)least;
        zlg_writer_free(*out);
    }
}

static uint8_t *random_elements(const subject *s, const int64_t *count, bool swapped)
{
    size_t n = (size_t)(count[0] * count[1] * count[2]), item = zlgi_type_bytes(s->type);
    uint8_t *data = malloc(n * item + 1);
    assert_non_null(data);
    for (size_t i = 0; i < n; i++) {
        uint8_t *element = data + i * item, byte;
        zlgi_number_from_double(s->type, (double)(draw(4000) - 900) / 8, element);
        for (size_t k = 0; swapped && k < item / 2; k++) {
            byte = element[k];
            element[k] = element[item - 1 - k];
            element[item - 1 - k] = byte;
        }
    }
    return data;
}

static void submit(subject *s, zlg_writer *writer)
{
    int64_t start[RANK], count[RANK];
    bool swapped = draw(3) == 0, borrow = draw(3) == 0;
    for (int axis = 0; axis < RANK; axis++) {
        int64_t window = s->window[axis], length = s->shape[0][axis];
        start[axis] = draw((length + window - 1) / window) * window;
        count[axis] = (1 + draw(4)) * window;
        count[axis] = ZLGI_MIN(count[axis], length - start[axis]);
    }
    uint8_t *data = random_elements(s, count, swapped);
    const zlg_submit part = {.array = s->numbers[0],
                             .start = start,
                             .count = count,
                             .source = {.data = data, .swapped = swapped},
                             .borrow = borrow,
                             .release = free,
                             .user = data};
    MUST(zlg_writer_submit(writer, &part, 1, NULL, NULL, err_));
    if (!borrow)
        free(data);
}

static void append(subject *s, zlg_writer *writer)
{
    int64_t count[RANK], first;
    memcpy(count, s->shape[0], sizeof count);
    count[0] = (1 + draw(3)) * s->window[0];
    bool swapped = draw(3) == 0;
    uint8_t *data = random_elements(s, count, swapped);
    const zlg_source source = {.data = data, .swapped = swapped};
    MUST(zlg_writer_append(writer, s->numbers[0], 0, count[0], &source, NULL, &first, NULL,
                           err_));
    assert_int_equal(first, s->shape[0][0]);
    s->shape[0][0] += count[0];
    free(data);
}

/* What is stored of a level, and its shape. */
static uint8_t *read_level(subject *s, int level, int64_t shape[RANK])
{
    zlg_array *array;
    size_t n = zlgi_type_bytes(s->type);
    MUST(zlg_array_refresh(s->arrays[level], &array, err_));
    memcpy(shape, zlg_array_shape(array), RANK * sizeof *shape);
    for (int axis = 0; axis < RANK; axis++)
        n *= (size_t)shape[axis];
    uint8_t *data = malloc(n + 1);
    assert_non_null(data);
    MUST(zlg_array_read(array, NULL, &(zlg_target){.data = data}, NULL, err_));
    zlg_array_close(array);
    return data;
}

static void check_levels(subject *s)
{
    const zlgi_dtype *dtype = zlgi_dtype_plain(s->type);
    for (int level = 1; level < LEVELS; level++) {
        int64_t below[RANK], shape[RANK];
        uint8_t *fine = read_level(s, from[level], below);
        uint8_t *coarse = read_level(s, level, shape);
        size_t n = dtype->n_bytes;
        for (int axis = 0; axis < RANK; axis++) {
            int64_t factor = s->factors[level][axis];
            assert_int_equal(shape[axis], (below[axis] + factor - 1) / factor);
            n *= (size_t)shape[axis];
        }
        uint8_t *reduced = malloc(n + 1);
        assert_non_null(reduced);
        zlgi_reduce(s->how[level], dtype, RANK, s->factors[level], below,
                    &(zlg_source){.data = fine}, reduced);
        assert_memory_equal(coarse, reduced, n);
        free(fine);
        free(coarse);
        free(reduced);
    }
}

static void run_round(fixture *f, int i, bool grows)
{
    subject s = {.store = f->stores[i % N_STORES]};
    zlg_writer *writer;
    state = UINT64_C(88172645463325252) + (uint64_t)i * 7919;
    draw(2);
    choose(&s, grows);
    make_arrays(&s);
    open_writer(f, &s, &writer);
    for (int k = 0; k < SUBMITS; k++) {
        (grows ? append : submit)(&s, writer);
        if (draw(8) == 0) {
            MUST(zlg_writer_flush(writer, NULL, err_));
            check_levels(&s);
        }
    }
    MUST(zlg_writer_close(writer, NULL, err_));
    zlg_writer_free(writer);
    check_levels(&s);
    for (int level = 0; level < LEVELS; level++)
        zlg_array_close(s.arrays[level]);
}

static void run_rounds(bool grows)
{
    fixture f;
    open_fixture(&f);
    for (int i = 0; i < ROUNDS; i++)
        run_round(&f, i, grows);
    close_fixture(&f);
}

static void check_random_windows(void **unused)
{
    (void)unused;
    run_rounds(false);
}

static void check_appended_rows(void **unused)
{
    (void)unused;
    run_rounds(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_random_windows),
        cmocka_unit_test(check_appended_rows),
    };
    return cmocka_run_group_tests_name("pyramid", tests, NULL, NULL);
}
