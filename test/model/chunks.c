/*
 * Label: engine
 * Random arrays, chunk by chunk: transforms see every chunk that is read once, with its
 * coordinates and its elements, and what they make of it is what arrives; encoded chunks
 * make the same array elsewhere.
 */
#define _GNU_SOURCE
#include <pthread.h>

#include "../fault/fault.h"
#include "../store/folder.h"
#include "pick.h"
#include "random_array.h"

enum { CASES = 200, READS = 6 };

/* ------------------------------------------------------------------ chunks */

static int64_t chunk_of(const model *m, int64_t element)
{
    const int64_t *chunk = zlg_array_chunk_shape(m->array);
    int64_t number = 0, scale = 1;
    for (int i = m->rank - 1; i >= 0; i--) {
        number += element % m->shape[i] / chunk[i] * scale;
        scale *= (m->shape[i] - 1) / chunk[i] + 1;
        element /= m->shape[i];
    }
    return number;
}

static int64_t n_chunks(const model *m)
{
    return chunk_of(m, (int64_t)m->n_elements - 1) + 1;
}

static int64_t number_of(const model *m, const int64_t *coordinates)
{
    const int64_t *chunk = zlg_array_chunk_shape(m->array);
    int64_t number = 0;
    for (int i = 0; i < m->rank; i++) {
        int64_t n = (m->shape[i] - 1) / chunk[i] + 1;
        assert_in_range(coordinates[i], 0, n - 1);
        number = number * n + coordinates[i];
    }
    return number;
}

static void coordinates_of(const model *m, int64_t number, int64_t *out)
{
    const int64_t *chunk = zlg_array_chunk_shape(m->array);
    for (int i = m->rank - 1; i >= 0; i--) {
        int64_t n = (m->shape[i] - 1) / chunk[i] + 1;
        out[i] = number % n;
        number /= n;
    }
}

/* The elements of a chunk as the model has them, zeros beyond the shape; C order. */
static size_t chunk_elements(const model *m, const int64_t *coordinates, uint8_t *out)
{
    const int64_t *chunk = zlg_array_chunk_shape(m->array);
    int64_t k[MAX_RANK] = {0};
    for (size_t n = 0;; n++) {
        int64_t at[MAX_RANK];
        bool inside = true;
        for (int i = 0; i < m->rank; i++) {
            at[i] = coordinates[i] * chunk[i] + k[i];
            inside = inside && at[i] < m->shape[i];
        }
        if (inside)
            memcpy(out + n * m->item,
                   m->elements + (size_t)pick_flat(m->rank, m->shape, at) * m->item,
                   m->item);
        else
            memset(out + n * m->item, 0, m->item);
        int axis = m->rank - 1;
        while (axis >= 0 && ++k[axis] == chunk[axis])
            k[axis--] = 0;
        if (axis < 0)
            return (n + 1) * m->item;
    }
}

/* ------------------------------------------------------------------ transforms */

typedef enum way { INVERT, PLACE, FROM_RAW } way;

typedef struct watcher {
    const model *m;
    way way;
    pthread_mutex_t lock;
    int *n_shown; /* by chunk */
    zlg_varlen encoded;
    size_t n_calls, fail_at; /* 0: never */
} watcher;

static zlg_status watch(void *user, zlg_read_chunk *chunk, zlg_error *err)
{
    watcher *w = user;
    const model *m = w->m;
    int64_t number = number_of(m, chunk->coordinates);
    uint8_t *expected = malloc(chunk->n_bytes_elements + 1), *elements = chunk->elements;
    pthread_mutex_lock(&w->lock);
    w->n_shown[number]++;
    bool fails = ++w->n_calls == w->fail_at;
    pthread_mutex_unlock(&w->lock);
    assert_ptr_equal(chunk->array, m->array);
    assert_int_equal(chunk->placed, 0);
    assert_int_equal(chunk_elements(m, chunk->coordinates, expected),
                     chunk->n_bytes_elements);
    if (w->way == FROM_RAW) {
        const int64_t *offsets = &w->encoded.offsets[number];
        assert_int_equal(chunk->n_bytes, offsets[1] - offsets[0]);
        assert_memory_equal(chunk->bytes, w->encoded.bytes + offsets[0], chunk->n_bytes);
        memcpy(elements, expected, chunk->n_bytes_elements);
    } else {
        assert_ptr_equal(chunk->bytes, elements);
        assert_int_equal(chunk->n_bytes, chunk->n_bytes_elements);
        if (memcmp(elements, expected, chunk->n_bytes) != 0)
            fail_msg("chunk %d: %s", (int)number, m->what);
    }
    for (size_t i = 0; i < chunk->n_bytes_elements; i++)
        elements[i] ^= 0xff;
    free(expected);
    chunk->placed = w->way == PLACE;
    if (fails)
        return zlgi_fail(err, ZLG_IO, "no more");
    return ZLG_OK;
}

/* All chunks that are stored and touched, once each; what is not stored is left alone. */
static void check_shown(const watcher *w, const pick *p, const uint8_t *out)
{
    const model *m = w->m;
    bool *touched = calloc((size_t)n_chunks(m), 1);
    for (size_t e = 0; e < p->n; e++) {
        int64_t number = chunk_of(m, p->element[e]);
        bool shown = w->n_shown[number] > 0;
        touched[number] = true;
        for (size_t b = 0; b < m->item; b++) {
            uint8_t stored = m->elements[(size_t)p->element[e] * m->item + b];
            uint8_t expected = shown ? stored ^ 0xff : stored;
            if (w->way == PLACE && shown)
                expected = 0x5a;
            if (out[e * m->item + b] != expected)
                fail_msg("element %zu: %s", e, m->what);
        }
    }
    for (int64_t k = 0; k < n_chunks(m); k++) {
        bool stored = w->encoded.offsets[k + 1] > w->encoded.offsets[k];
        assert_int_equal(w->n_shown[k], touched[k] && stored);
    }
    free(touched);
}

static void check_transform(model *m, const zlg_varlen *encoded)
{
    pick p;
    watcher w = {.m = m, .way = (way)below(m, 3), .encoded = *encoded};
    zlg_call call = ZLG_CALL_INIT;
    zlg_error err = {0};
    pick_any(&p, &m->random, m->rank, m->shape, 30, true);
    uint8_t *out = malloc(p.n * m->item + 1);
    memset(out, 0x5a, p.n * m->item);
    pthread_mutex_init(&w.lock, NULL);
    w.n_shown = calloc((size_t)n_chunks(m), sizeof *w.n_shown);
    call.transform = watch;
    call.transform_user = &w;
    call.transform_raw = w.way == FROM_RAW;
    if (zlg_array_read(m->array, &p.selection, &(zlg_target){.data = out}, &call, &err) !=
        ZLG_OK)
        fail_msg("%s: %s", m->what, err.message);
    check_shown(&w, &p, out);
    if (w.n_calls > 0) {
        w.fail_at = w.n_calls + 1;
        assert_int_equal(
            zlg_array_read(m->array, &p.selection, &(zlg_target){.data = out}, &call, &err),
            ZLG_IO);
        assert_non_null(strstr(err.message, "chunk c"));
        assert_non_null(strstr(err.message, "transform: no more"));
    }
    free(w.n_shown);
    free(out);
    pick_free(&p);
    pthread_mutex_destroy(&w.lock);
}

/* ------------------------------------------------------------------ encoded chunks */

/* All chunks, in C order of their grid. */
static void read_all_encoded(model *m, zlg_varlen *out, uint8_t *missing)
{
    size_t n = (size_t)n_chunks(m), rank = (size_t)m->rank;
    int64_t *chunks = malloc(n * rank * sizeof *chunks);
    zlg_error err = {0};
    for (size_t i = 0; i < n; i++)
        coordinates_of(m, (int64_t)i, chunks + i * rank);
    if (zlg_array_read_encoded(m->array, chunks, n, out, missing, NULL, &err) != ZLG_OK)
        fail_msg("%s: %s", m->what, err.message);
    assert_int_equal(out->n, n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(missing[i], out->offsets[i] == out->offsets[i + 1]);
    free(chunks);
}

static void check_equal(const model *m, zlg_array *array)
{
    size_t n = m->n_elements * m->item;
    uint8_t *out = malloc(n + 1);
    MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, NULL, err_));
    if (memcmp(out, m->elements, n) != 0)
        fail_msg("a copy differs: %s", m->what);
    free(out);
}

typedef struct same_objects {
    zlg_store *stores[2];
} same_objects;

static int same_object(void *user, const char *name, int is_prefix, uint64_t n_bytes)
{
    const same_objects *same = user;
    zlg_text texts[2];
    char key[128];
    (void)is_prefix, (void)n_bytes;
    snprintf(key, sizeof key, "c/%s", name);
    for (int i = 0; i < 2; i++)
        MUST(zlg_store_get(same->stores[i], key, &texts[i], err_));
    assert_int_equal(texts[0].n_bytes, texts[1].n_bytes);
    assert_memory_equal(texts[0].data, texts[1].data, texts[0].n_bytes);
    for (int i = 0; i < 2; i++)
        zlg_text_free(&texts[i]);
    return 0;
}

/* Into an array that holds something else, in random order, in up to three calls. */
static void check_copy(model *m, zlg_store *store, const zlg_varlen *encoded,
                       const uint8_t *missing)
{
    size_t n = (size_t)n_chunks(m), n_done = 0;
    zlg_array *copy;
    zlg_text text;
    zlg_encoded *chunks = malloc(n * sizeof *chunks);
    int64_t *coordinates = malloc(n * (size_t)m->rank * sizeof *coordinates);
    uint8_t *noise = malloc(m->n_elements * m->item);
    for (size_t i = 0; i < m->n_elements * m->item; i++)
        noise[i] = (uint8_t)(next(m) >> 13);
    MUST(zlg_array_metadata(m->array, &text, err_));
    MUST(zlg_store_put(store, "zarr.json", text.data, text.n_bytes, err_));
    MUST(zlg_array_open(store, "", NULL, &copy, err_));
    MUST(zlg_array_write(copy, NULL, &(zlg_source){.data = noise}, NULL, err_));
    for (size_t i = 0; i < n; i++) {
        int64_t *at = coordinates + i * (size_t)m->rank;
        coordinates_of(m, (int64_t)i, at);
        chunks[i] = (zlg_encoded){
            .coordinates = at,
            .data = missing[i] ? NULL : encoded->bytes + encoded->offsets[i],
            .n_bytes = (size_t)(encoded->offsets[i + 1] - encoded->offsets[i])};
    }
    for (size_t i = n; i > 1; i--) {
        size_t k = (size_t)below(m, (int64_t)i);
        zlg_encoded one = chunks[k];
        chunks[k] = chunks[i - 1];
        chunks[i - 1] = one;
    }
    zlg_error err = {0};
    while (n_done < n) {
        size_t n_now = 1 + (size_t)below(m, (int64_t)(n - n_done));
        zlg_status status =
            zlg_array_write_encoded(copy, chunks + n_done, n_now, NULL, &err);
        if (status == ZLG_UNSUPPORTED && strstr(err.message, "around a shard"))
            break;
        if (status != ZLG_OK)
            fail_msg("%s: %s", m->what, err.message);
        n_done += n_now;
    }
    if (n_done == n) {
        same_objects same = {.stores = {store, zlg_array_store(m->array)}};
        check_equal(m, copy);
        MUST(zlg_store_list(store, "c", 0, same_object, &same, err_));
    }
    zlg_array_close(copy);
    zlg_text_free(&text);
    free(noise);
    free(coordinates);
    free(chunks);
}

/* ------------------------------------------------------------------ cases */

static void run_case(zlg_store *store, zlg_store *other, uint64_t seed)
{
    model m = {.random = seed};
    make_array(&m, store);
    MUST(zlg_array_write(m.array, NULL, &(zlg_source){.data = m.elements}, NULL, err_));
    zlg_varlen encoded;
    uint8_t *missing = malloc((size_t)n_chunks(&m));
    read_all_encoded(&m, &encoded, missing);
    for (int i = 0; i < READS; i++)
        check_transform(&m, &encoded);
    check_copy(&m, other, &encoded, missing);
    zlg_varlen_free(&encoded);
    zlg_array_close(m.array);
    free(missing);
    free(m.elements);
}

static void test_chunks(void **state)
{
    (void)state;
    zlg_ctx *ctx;
    test_folder folder;
    zlg_ctx_options options = ZLG_CTX_OPTIONS_INIT;
    options.n_threads = 3;
    test_folder_make(&folder);
    MUST(zlg_ctx_new(&options, &ctx, err_));
    for (uint64_t i = 0; i < CASES; i++) {
        zlg_store *stores[2];
        zlg_fs_options fs = ZLG_FS_OPTIONS_INIT;
        char name[32];
        fs.create = 1;
        snprintf(name, sizeof name, "%d", (int)i);
        MUST(zlg_store_open_memory(ctx, &stores[0], err_));
        MUST(
            zlg_store_open_fs(ctx, test_folder_path(&folder, name), &fs, &stores[1], err_));
        run_case(stores[i % 2], stores[1 - i % 2], (i + 3) * UINT64_C(0x9e3779b97f4a7c15));
        zlg_store_close(stores[0]);
        zlg_store_close(stores[1]);
    }
    zlg_ctx_close(ctx);
    test_folder_remove(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_chunks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
