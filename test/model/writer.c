/* Random boxes in random order through a writer, with little memory and much: what is read
 * back is what was given last, whatever was flushed, lent, moved out, written anew, or kept
 * and found by another writer. Label: engine. */
#define _GNU_SOURCE
#include "../unit/change_test.h"

#include "zellige_writer.h"

enum { RANK = 3, MAX_ELEMENTS = 40 * 30 * 30, ROUNDS = 40, SUBMITS = 60 };

static uint64_t state;

static uint64_t draw(uint64_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (state >> 11) % n;
}

typedef struct layout {
    const char *data_type, *codecs, *fill;
    int format;
    bool sharded;
} layout;

static const layout layouts[] = {
    {"int32", NULL, "7", 3, false},
    {"int32", NULL, "7", 3, true},
    {"float32", "[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}]", "0", 3,
     true},
    {"float32", "[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"big\"}}]", "\"NaN\"",
     3, true},
    {"int32",
     "[{\"name\":\"transpose\",\"configuration\":{\"order\":[2,0,1]}},"
     "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}},"
     "{\"name\":\"gzip\",\"configuration\":{\"level\":1}},{\"name\":\"crc32c\"}]",
     "-1", 3, true},
    {"int32",
     "[{\"name\":\"transpose\",\"configuration\":{\"order\":[2,0,1]}},"
     "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}]",
     "-1", 3, false},
    {">i4", NULL, "3", 2, false},
};

typedef struct subject {
    zlg_array *array;
    int64_t shape[RANK];
    uint32_t model[MAX_ELEMENTS];
} subject;

static void make_array(fixture *f, subject *s, const layout *how, int i_store)
{
    int64_t chunk[RANK], object[RANK];
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    for (int i = 0; i < RANK; i++) {
        s->shape[i] = (int64_t)draw(i == 0 ? 40 : 30) + 1;
        chunk[i] = (int64_t)draw(8) + 1;
        object[i] = chunk[i] * ((int64_t)draw(4) + 1);
    }
    spec.zarr_format = how->format;
    spec.rank = RANK;
    spec.shape = s->shape;
    spec.object_shape = object;
    spec.chunk_shape = how->sharded ? chunk : NULL;
    spec.data_type = how->data_type;
    spec.codecs = how->codecs;
    spec.fill_value = how->fill;
    spec.overwrite = 1;
    MUST(zlg_array_create(f->stores[i_store], "a", &spec, &s->array, err_));
    MUST(zlg_array_read(s->array, NULL, &(zlg_target){.data = s->model}, NULL, err_));
}

static void check_array(subject *s)
{
    static uint32_t read[MAX_ELEMENTS];
    size_t n = 1;
    for (int i = 0; i < RANK; i++)
        n *= (size_t)s->shape[i];
    MUST(zlg_array_read(s->array, NULL, &(zlg_target){.data = read}, NULL, err_));
    for (size_t i = 0; i < n; i++)
        if (read[i] != s->model[i])
            fail_msg("element %zu is %u, not %u", i, read[i], s->model[i]);
}

/* What is lent must stay as it is until it is given back. */
typedef struct lent {
    uint32_t *data;
    int n_left;
} lent;

static void give_back(void *user)
{
    lent *l = user;
    free(l->data);
    __atomic_sub_fetch(&l->n_left, 1, __ATOMIC_RELAXED);
    free(l);
}

static void submit_one(subject *s, zlg_writer *writer, int number)
{
    int64_t start[RANK], count[RANK], n = 1, at[RANK];
    for (int i = 0; i < RANK; i++) {
        start[i] = (int64_t)draw((uint64_t)s->shape[i]);
        count[i] = (int64_t)draw((uint64_t)(s->shape[i] - start[i])) + 1;
        if (draw(3) == 0)
            start[i] = 0, count[i] = s->shape[i];
        n *= count[i];
    }
    lent *l = malloc(sizeof *l);
    assert_non_null(l);
    *l = (lent){.data = malloc((size_t)n * sizeof *l->data), .n_left = 1};
    assert_non_null(l->data);
    bool swapped = draw(4) == 0;
    for (int64_t k = 0; k < n; k++) {
        uint32_t value = draw(5) ? (uint32_t)draw(1 << 20) : 7;
        int64_t rest = k;
        for (int i = RANK - 1; i >= 0; i--) {
            at[i] = start[i] + rest % count[i];
            rest /= count[i];
        }
        s->model[(at[0] * s->shape[1] + at[1]) * s->shape[2] + at[2]] = value;
        l->data[k] = swapped ? __builtin_bswap32(value) : value;
    }
    bool borrow = draw(2) == 0;
    zlg_submit part = {.array = number,
                       .start = start,
                       .count = count,
                       .source = {.data = l->data, .swapped = swapped},
                       .borrow = borrow,
                       .release = give_back,
                       .user = l};
    zlg_ticket ticket;
    MUST(zlg_writer_submit(writer, &part, 1, NULL, draw(2) ? &ticket : NULL, err_));
    if (!borrow)
        give_back(l);
}

static void run_round(fixture *f, int i_layout, int i_store, bool little)
{
    static subject s;
    zlg_writer *writer;
    int number, n_submitted = SUBMITS;
    char journal[80];
    zlg_writer_options options = ZLG_WRITER_OPTIONS_INIT;
    uint64_t least, usual;
    snprintf(journal, sizeof journal, "%s.journal", f->folder.path);
    make_array(f, &s, &layouts[i_layout], i_store);
    options.side_directory = f->folder.path;
    options.n_threads = 1 + (int)draw(3);
    options.existing = draw(4) == 0 ? ZLG_EXISTING_SKIP_EQUAL : ZLG_EXISTING_MERGE;
    if (draw(2) == 0) {
        options.journal = journal;
        options.partial = ZLG_PARTIAL_KEEP;
    }
    MUST(zlg_writer_open(f->ctx, &options, &writer, err_));
    MUST(zlg_writer_add(writer, s.array, NULL, &number, err_));
    MUST(zlg_writer_estimate(writer, &least, &usual, err_));
    if (little) {
        zlg_writer_free(writer);
        options.memory_budget = (int64_t)least;
        MUST(zlg_writer_open(f->ctx, &options, &writer, err_));
        MUST(zlg_writer_add(writer, s.array, NULL, &number, err_));
    }
    for (int i = 0; i < SUBMITS; i++) {
        submit_one(&s, writer, number);
        if (draw(12) == 0) {
            MUST(zlg_writer_flush(writer, NULL, err_));
            if (options.partial == ZLG_PARTIAL_PUBLISH)
                check_array(&s);
        }
    }
    if (options.partial == ZLG_PARTIAL_KEEP && draw(2) == 0) {
        MUST(zlg_writer_flush(writer, NULL, err_));
        zlg_writer_free(writer); /* as after a kill */
        MUST(zlg_writer_open(f->ctx, &options, &writer, err_));
        MUST(zlg_writer_add(writer, s.array, NULL, &number, err_));
        n_submitted = 0;
    }
    MUST(zlg_writer_close(writer, NULL, err_));
    zlg_writer_counts counts = ZLG_WRITER_COUNTS_INIT;
    MUST(zlg_writer_count(writer, &counts, err_));
    assert_int_equal(counts.n_submitted, n_submitted);
    assert_int_equal(counts.n_bytes_queued, 0);
    assert_int_equal(counts.n_failed, 0);
    zlg_writer_free(writer);
    check_array(&s);
    zlg_array_close(s.array);
}

static void check_random_boxes(void **unused)
{
    (void)unused;
    const char *seed = getenv("ZELLIGE_SEED");
    fixture f;
    open_fixture(&f);
    for (int i = 0; i < ROUNDS; i++) {
        state = UINT64_C(88172645463325252) + (uint64_t)i * 7919 +
                (seed ? strtoull(seed, NULL, 10) * 104729 : 0);
        draw(2);
        run_round(&f, i % (int)(sizeof layouts / sizeof *layouts), i % N_STORES,
                  i % 3 == 0);
    }
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(check_random_boxes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
