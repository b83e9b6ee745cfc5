/*
 * Label: engine
 * Random writes into random arrays, one after the other and several in one call; what is
 * read back is compared with the obvious loop. The same writes are made by three threads
 * into memory and by one into files, and every object must have the same bytes in both.
 */
#define _GNU_SOURCE
#include "../fault/fault.h"
#include "../store/folder.h"
#include "pick.h"
#include "random_array.h"

enum { CASES = 250, STEPS = 5, MAX_WRITES = 4 };

typedef struct twins {
    model models[2]; /* the same array twice; elements: as they should be, in the first */
    zlg_store *stores[2];
    zlg_ctx *ctxs[2];
} twins;

/* ------------------------------------------------------------------ sources */

typedef struct source {
    pick pick;
    bool replace;
    uint8_t *memory;
    int rank;
    int64_t shape[ZLG_MAX_RANK];
    ptrdiff_t strides[ZLG_MAX_RANK];
    zlg_source source;
} source;

/* Width of the words that have a byte order. */
static size_t word_of(const model *m)
{
    return m->item == 16 ? 8 : m->item == 3 ? 1 : m->item;
}

static void random_element(model *m, int64_t kind, uint8_t *out)
{
    for (size_t i = 0; i < m->item; i++)
        out[i] = kind == 0 ? 0 : (uint8_t)(next(m) >> 17);
}

static void store_element(const model *m, const uint8_t *element, bool swapped,
                          uint8_t *out)
{
    size_t word = word_of(m);
    for (size_t i = 0; i < m->item; i++)
        out[i] = element[swapped ? i / word * word + word - 1 - i % word : i];
}

/* Elements at random strides, some of them 0. */
static void make_source(model *m, source *s)
{
    memset(s, 0, sizeof *s);
    pick_any(&s->pick, &m->random, m->rank, m->shape, 30, true);
    MUST(zlg_selection_shape(m->array, &s->pick.selection, &s->rank, s->shape, err_));
    size_t size = m->item, first = 0;
    for (int i = s->rank - 1; i >= 0; i--) {
        bool still = below(m, 8) == 0;
        s->strides[i] = still ? 0 : (ptrdiff_t)size;
        if (!still)
            size *= (size_t)ZLGI_MAX(s->shape[i], 1);
        if (below(m, 3) == 0 && s->shape[i] > 0) {
            first += (size_t)(s->shape[i] - 1) * (size_t)s->strides[i];
            s->strides[i] = -s->strides[i];
        }
    }
    s->memory = malloc(size + m->item);
    bool swapped = below(m, 3) == 0;
    int64_t kind = below(m, 3);
    uint8_t element[16];
    for (size_t at = 0; at + m->item <= size; at += m->item) {
        random_element(m, kind, element);
        store_element(m, element, false, s->memory + at);
    }
    s->replace = below(m, 4) == 0;
    s->source =
        (zlg_source){.data = s->memory + first, .strides = s->strides, .swapped = swapped};
}

/* The number of the object in which an element lies. */
static int64_t object_of(const model *m, int64_t element)
{
    const int64_t *object = zlg_array_object_shape(m->array);
    int64_t number = 0, scale = 1;
    for (int i = m->rank - 1; i >= 0; i--) {
        number += element % m->shape[i] / object[i] * scale;
        scale *= zlg_array_grid_shape(m->array, i);
        element /= m->shape[i];
    }
    return number;
}

/* Objects that a write makes anew hold zeros before anything is written. */
static void apply_replace(const model *m, const source *s, uint8_t *elements)
{
    uint8_t *touched = calloc(m->n_elements, 1); /* by number of the object */
    for (size_t e = 0; e < s->pick.n && s->replace; e++)
        touched[object_of(m, s->pick.element[e])] = 1;
    for (size_t i = 0; i < m->n_elements && s->replace; i++)
        if (touched[object_of(m, (int64_t)i)])
            memset(elements + i * m->item, 0, m->item);
    free(touched);
}

static void apply_source(const model *m, const source *s, uint8_t *elements)
{
    int64_t k[ZLG_MAX_RANK] = {0};
    for (size_t e = 0; e < s->pick.n; e++) {
        const uint8_t *at = s->source.data;
        for (int i = 0; i < s->rank; i++)
            at += k[i] * s->strides[i];
        store_element(m, at, s->source.swapped,
                      elements + (size_t)s->pick.element[e] * m->item);
        for (int i = s->rank - 1; i >= 0 && ++k[i] == s->shape[i]; i--)
            k[i] = 0;
    }
}

/* ------------------------------------------------------------------ stores */

typedef struct key_check {
    twins *t;
    int n_keys[2];
    int i_store;
} key_check;

static int check_key(void *user, const char *name, int is_prefix, uint64_t n_bytes)
{
    key_check *check = user;
    zlg_text texts[2];
    (void)is_prefix, (void)n_bytes;
    check->n_keys[check->i_store]++;
    if (check->i_store == 1)
        return 0;
    for (int i = 0; i < 2; i++) {
        zlg_error err = {0};
        if (zlg_store_get(check->t->stores[i], name, &texts[i], &err) != ZLG_OK)
            fail_msg("%s of store %d: %s", name, i, err.message);
    }
    if (texts[0].n_bytes != texts[1].n_bytes ||
        memcmp(texts[0].data, texts[1].data, texts[0].n_bytes) != 0)
        fail_msg("%s differs: %s", name, check->t->models[0].what);
    zlg_text_free(&texts[0]);
    zlg_text_free(&texts[1]);
    return 0;
}

static void check_twins(twins *t)
{
    key_check check = {.t = t};
    for (check.i_store = 0; check.i_store < 2; check.i_store++)
        MUST(zlg_store_list(t->stores[check.i_store], "", 0, check_key, &check, err_));
    if (check.n_keys[0] != check.n_keys[1])
        fail_msg("%d and %d keys: %s", check.n_keys[0], check.n_keys[1], t->models[0].what);
}

static void check_elements(twins *t, const uint8_t *elements)
{
    model *m = &t->models[0];
    size_t n = m->n_elements * m->item;
    uint8_t *out = malloc(n + 1);
    MUST(zlg_array_read(m->array, NULL, &(zlg_target){.data = out}, NULL, err_));
    for (size_t i = 0; i < n; i++)
        if (out[i] != elements[i])
            fail_msg("byte %zu of element %zu differs: %s", i % m->item, i / m->item,
                     m->what);
    free(out);
}

/* ------------------------------------------------------------------ cases */

static void write_step(twins *t, uint8_t *elements)
{
    model *m = &t->models[0];
    source sources[MAX_WRITES];
    zlg_write writes[MAX_WRITES];
    size_t n = 1 + (size_t)(below(m, 3) == 0 ? below(m, MAX_WRITES) : 0);
    zlg_call call = ZLG_CALL_INIT;
    call.keep_empty = below(m, 4) == 0;
    call.inner_order = (zlg_inner_order)below(m, 3);
    for (size_t i = 0; i < n; i++)
        make_source(m, &sources[i]);
    for (size_t i = 0; i < n; i++)
        apply_replace(m, &sources[i], elements);
    for (size_t i = 0; i < n; i++)
        apply_source(m, &sources[i], elements);
    for (int k = 0; k < 2; k++) {
        for (size_t i = 0; i < n; i++)
            writes[i] = (zlg_write){.array = t->models[k].array,
                                    .selection = &sources[i].pick.selection,
                                    .source = sources[i].source,
                                    .replace = sources[i].replace};
        zlg_error err = {0};
        if (zlg_write_many(writes, n, &call, &err) != ZLG_OK)
            fail_msg("%s: %s", m->what, err.message);
    }
    for (size_t i = 0; i < n; i++) {
        free(sources[i].memory);
        pick_free(&sources[i].pick);
    }
}

static void fill_step(twins *t, uint8_t *elements)
{
    model *m = &t->models[0];
    pick p;
    uint8_t element[16];
    pick_any(&p, &m->random, m->rank, m->shape, 30, true);
    bool with_fill = below(m, 2);
    random_element(m, with_fill ? 0 : 1, element);
    for (size_t e = 0; e < p.n; e++)
        memcpy(elements + (size_t)p.element[e] * m->item, element, m->item);
    for (int k = 0; k < 2; k++)
        MUST(zlg_array_fill(t->models[k].array, &p.selection, with_fill ? NULL : element,
                            with_fill ? 0 : m->item, NULL, err_));
    pick_free(&p);
}

static void check_steps(twins *t, uint8_t *elements, int n_steps)
{
    model *m = &t->models[0];
    for (int i = 0; i < n_steps; i++) {
        if (below(m, 5) == 0)
            fill_step(t, elements);
        else
            write_step(t, elements);
        check_elements(t, elements);
        check_twins(t);
    }
    free(elements);
    for (int k = 0; k < 2; k++) {
        zlg_array_close(t->models[k].array);
        free(t->models[k].elements);
    }
}

static void run_case(twins *t, uint64_t seed)
{
    for (int k = 0; k < 2; k++) {
        t->models[k] = (model){.random = seed};
        make_array(&t->models[k], t->stores[k]);
    }
    model *m = &t->models[0];
    uint8_t *elements = calloc(m->n_elements, m->item);
    if (below(m, 3) == 0)
        memcpy(elements, m->elements, m->n_elements * m->item);
    for (int k = 0; k < 2; k++)
        MUST(zlg_array_write(t->models[k].array, NULL, &(zlg_source){.data = elements},
                             NULL, err_));
    check_steps(t, elements, STEPS);
}

/* One shard, large enough that all threads work on it: whole, and then in parts. */
static void run_large(twins *t, uint64_t seed, const char *codecs)
{
    enum { SIDE = 1000 };
    static const int64_t shape[2] = {SIDE, SIDE}, shard[2] = {1024, 1024},
                         chunk[2] = {32, 16};
    size_t n = (size_t)SIDE * SIDE;
    for (int k = 0; k < 2; k++) {
        t->models[k] = (model){.random = seed,
                               .rank = 2,
                               .shape = {SIDE, SIDE},
                               .item = 2,
                               .n_elements = n,
                               .what = "one large shard"};
        zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
        spec.rank = 2;
        spec.shape = shape;
        spec.object_shape = shard;
        spec.chunk_shape = chunk;
        spec.data_type = "uint16";
        spec.codecs = codecs;
        MUST(zlg_array_create(t->stores[k], "", &spec, &t->models[k].array, err_));
    }
    uint16_t *elements = calloc(n, sizeof *elements);
    for (size_t i = 0; i < n; i++)
        elements[i] = (uint16_t)(next(&t->models[0]) % 100 + i / 1000);
    for (int k = 0; k < 2; k++)
        MUST(zlg_array_write(t->models[k].array, NULL, &(zlg_source){.data = elements},
                             NULL, err_));
    check_twins(t);
    check_steps(t, (uint8_t *)elements, 2 * STEPS);
}

/* ------------------------------------------------------------------ tests */

static void with_stores(twins *t, const test_folder *folder, int number)
{
    zlg_fs_options fs = ZLG_FS_OPTIONS_INIT;
    char name[32];
    fs.create = 1;
    snprintf(name, sizeof name, "%d", number);
    MUST(zlg_store_open_memory(t->ctxs[0], &t->stores[0], err_));
    MUST(zlg_store_open_fs(t->ctxs[1], test_folder_path(folder, name), &fs, &t->stores[1],
                           err_));
}

static void close_stores(twins *t)
{
    zlg_store_close(t->stores[0]);
    zlg_store_close(t->stores[1]);
}

static void test_writes(void **state)
{
    twins *t = *state;
    test_folder folder;
    test_folder_make(&folder);
    for (int i = 0; i < CASES; i++) {
        with_stores(t, &folder, i);
        run_case(t, ((uint64_t)i + 1) * UINT64_C(0x9e3779b97f4a7c15));
        close_stores(t);
    }
    test_folder_remove(&folder);
}

static void test_one_large_shard(void **state)
{
    static const char *const codecs[] = {
        NULL, "[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"big\"}}]",
        "[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}},"
        "{\"name\":\"crc32c\"}]"};
    twins *t = *state;
    test_folder folder;
    test_folder_make(&folder);
    for (int i = 0; i < (int)ZLGI_COUNT(codecs); i++) {
        with_stores(t, &folder, i);
        run_large(t, 77 + (uint64_t)i, codecs[i]);
        close_stores(t);
    }
    test_folder_remove(&folder);
}

static int open_twins(void **state)
{
    static twins t;
    for (int k = 0; k < 2; k++) {
        zlg_ctx_options options = ZLG_CTX_OPTIONS_INIT;
        options.n_threads = k ? 1 : 3;
        MUST(zlg_ctx_new(&options, &t.ctxs[k], err_));
    }
    *state = &t;
    return 0;
}

static int close_twins(void **state)
{
    twins *t = *state;
    zlg_ctx_close(t->ctxs[0]);
    zlg_ctx_close(t->ctxs[1]);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_writes),
                                       cmocka_unit_test(test_one_large_shard)};
    return cmocka_run_group_tests(tests, open_twins, close_twins);
}
