/* How an object is changed: chunks given encoded are put from where they lie, objects are
 * created and never changed, and those that hold the new bytes already are left alone. */
#define _GNU_SOURCE
#include "change_test.h"

#include "../store/custom.h"

/* ------------------------------------------------------------------ arrays */

static const char *const layouts[] = {
    "[" LITTLE "]",
    "[" BIG "," ZSTD "]",
    "[" SHARD("[2,2]", "[" LITTLE "," CRC "]") "]",
    "[" TRANSPOSE("[1,0]") "," SHARD_AT("start", "[2,2]", "[" BIG "," GZIP "]") "]",
    "[" SHARD("[2,2]", "[" LITTLE "]") "," CRC "]",
    "[" SHARD("[2,4]", "[" SHARD("[2,2]", "[" LITTLE "," CRC "]") "]") "]",
};

static bool is_sharded(const char *codecs)
{
    return strstr(codecs, "sharding") != NULL;
}

typedef struct writes {
    zlg_array *array;
    uint16_t elements[64]; /* of an array of 8 x 8, in objects of 4 x 4 */
    zlg_stats stats;
    bool create, skip_equal, replace, keep_empty;
} writes;

static void open_writes(writes *w, zlg_store *store, const char *codecs)
{
    *w = (writes){.stats = ZLG_STATS_INIT};
    w->array = put_array(store, "", "[8,8]", "\"uint16\"", REGULAR("[4,4]"), "0", codecs);
    for (int i = 0; i < 64; i++)
        w->elements[i] = (uint16_t)(i * 77 + 1);
}

static zlg_status write_box(writes *w, int64_t row, int64_t column, int64_t n,
                            zlg_error *err)
{
    const zlg_axis axes[2] = {{.start = row, .step = 1, .count = n},
                              {.start = column, .step = 1, .count = n}};
    const zlg_selection box = {.kind = ZLG_BOX, .rank = 2, .axes = axes};
    static const ptrdiff_t strides[2] = {16, 2};
    const zlgi_request request = {.source = &w->array->source,
                                  .selection = &box,
                                  .memory = (uint8_t *)&w->elements[row * 8 + column],
                                  .strides = strides,
                                  .keep_empty = w->keep_empty,
                                  .replace = w->replace,
                                  .create = w->create,
                                  .skip_equal = w->skip_equal,
                                  .promise = ZLG_VISIBLE};
    zlg_call call = ZLG_CALL_INIT;
    w->stats = (zlg_stats)ZLG_STATS_INIT;
    call.stats = &w->stats;
    return zlgi_engine_write(&w->array->store->ctx->engine, &request, 1, &call, err);
}

static void check_element(const writes *w, int64_t row, int64_t column, uint16_t expected)
{
    const zlg_axis axes[2] = {{.start = row, .step = 1, .count = 1},
                              {.start = column, .step = 1, .count = 1}};
    const zlg_selection box = {.kind = ZLG_BOX, .rank = 2, .axes = axes};
    uint16_t out = 0;
    MUST(zlg_array_read(w->array, &box, &(zlg_target){.data = &out}, NULL, err_));
    assert_int_equal(out, expected);
}

/* Over stores and layouts. */
static void for_each(void (*test)(writes *w, fixture *f, zlg_store *store, const char *))
{
    for (size_t i = 0; i < (N_STORES + 1) * ZLGI_COUNT(layouts); i++) {
        fixture f;
        writes w;
        zlg_store *own;
        open_fixture(&f);
        MUST(zlg_store_open_ext(f.ctx, &custom_methods, custom_new(i % 2), "own", &own,
                                err_));
        size_t k = i % (N_STORES + 1);
        zlg_store *store = k < N_STORES ? f.stores[k] : own;
        const char *codecs = layouts[i / (N_STORES + 1)];
        open_writes(&w, store, codecs);
        test(&w, &f, store, codecs);
        zlg_array_close(w.array);
        zlg_store_close(own);
        close_fixture(&f);
    }
}

/* ------------------------------------------------------------------ create */

static void create(writes *w, fixture *f, zlg_store *store, const char *codecs)
{
    (void)f, (void)codecs;
    w->create = true;
    MUST(write_box(w, 0, 0, 4, err_));
    MUST(write_box(w, 5, 1, 1, err_)); /* a part: the rest is the fill value */
    assert_int_equal(w->stats.n_stored, 1);
    assert_int_equal(w->stats.n_opened, 0);
    check_element(w, 0, 0, w->elements[0]);
    check_element(w, 5, 1, w->elements[41]);
    check_element(w, 6, 1, 0);
    uint16_t before = w->elements[41];
    w->elements[41] = 9;
    for (int i = 0; i < 4; i++) {
        w->replace = i / 2;
        REFUSED(ZLG_EXISTS, "chunk c/1/0",
                write_box(w, i % 2 ? 4 : 5, i % 2 ? 0 : 1, i % 2 ? 4 : 1, err_));
        assert_int_equal(w->stats.n_stored, 0);
    }
    check_element(w, 5, 1, before);
    /* Nothing but the fill value is not stored, but must not be hidden by what is. */
    memset(w->elements, 0, sizeof w->elements);
    MUST(write_box(w, 0, 4, 4, err_));
    assert_int_equal(w->stats.n_removed, 1);
    assert_false(has_key(store, "c/0/1"));
    REFUSED(ZLG_EXISTS, "chunk c/1/0", write_box(w, 4, 0, 4, err_));
    check_element(w, 5, 1, before);
    /* Others are stored all the same, whichever is met first. */
    w->elements[63] = 3;
    REFUSED(ZLG_EXISTS, "chunk c/", write_box(w, 0, 0, 8, err_));
    w->create = false;
    MUST(write_box(w, 0, 0, 8, err_));
    assert_int_equal(n_keys(store, ""), 2);
}

static void test_create(void **state)
{
    (void)state;
    for_each(create);
}

/* ------------------------------------------------------------------ skip equal */

static void check_counts(const writes *w, uint64_t n_equal, uint64_t n_stored,
                         uint64_t n_removed)
{
    assert_int_equal(w->stats.n_equal, n_equal);
    assert_int_equal(w->stats.n_stored, n_stored);
    assert_int_equal(w->stats.n_removed, n_removed);
}

static void skip_equal(writes *w, fixture *f, zlg_store *store, const char *codecs)
{
    (void)f;
    w->skip_equal = true;
    MUST(write_box(w, 0, 0, 8, err_));
    check_counts(w, 0, 4, 0);
    for (int i = 0; i < 2; i++) {
        w->replace = i;
        MUST(write_box(w, 0, 0, 8, err_));
        check_counts(w, 4, 0, 0);
    }
    w->replace = false;
    MUST(write_box(w, 1, 1, 2, err_)); /* parts of chunks */
    check_counts(w, 1, 0, 0);
    MUST(write_box(w, 2, 2, 2, err_)); /* a chunk of a shard */
    check_counts(w, 1, 0, 0);
    w->elements[9]++;
    MUST(write_box(w, 1, 1, 2, err_));
    check_counts(w, 0, 1, 0);
    check_element(w, 1, 1, w->elements[9]);
    w->elements[0]++;
    MUST(write_box(w, 0, 0, 8, err_));
    check_counts(w, 3, 1, 0);
    check_element(w, 0, 0, w->elements[0]);
    /* Made anew of a part: not what it was. */
    w->replace = true;
    MUST(write_box(w, 4, 4, 2, err_));
    check_counts(w, 0, 1, 0);
    check_element(w, 7, 7, 0);
    MUST(write_box(w, 4, 4, 2, err_));
    check_counts(w, 1, 0, 0);
    /* What need not be stored is removed, and then not there. */
    memset(w->elements, 0, sizeof w->elements);
    MUST(write_box(w, 4, 4, 4, err_));
    check_counts(w, 0, 0, 1);
    assert_false(has_key(store, "c/1/1"));
    MUST(write_box(w, 4, 4, 4, err_));
    check_counts(w, 0, 0, 1);
    /* Bytes that mean nothing are only compared. */
    put_text(store, "c/1/1", "this is no chunk");
    w->elements[63] = 1;
    MUST(write_box(w, 4, 4, 4, err_));
    check_counts(w, 0, 1, 0);
    check_element(w, 7, 7, 1);
    if (is_sharded(codecs)) {
        put_text(store, "c/1/1", "this is no chunk");
        w->replace = false;
        REFUSED(ZLG_CORRUPT, "c/1/1", write_box(w, 5, 5, 1, err_));
    }
}

static void test_skip_equal(void **state)
{
    (void)state;
    for_each(skip_equal);
}

/* Bytes of the same number that are others; and what is stored is not read when it cannot
 * be the same. */
static void test_what_is_compared(void **state)
{
    (void)state;
    fixture f;
    writes w;
    zlg_store *counting;
    open_fixture(&f);
    MUST(zlgi_counting_open(&f.ctx->alloc, f.stores[1], &counting, err_));
    counting->limits = &f.ctx->limits;
    zlgi_store_adopt(f.ctx, counting);
    open_writes(&w, counting, layouts[0]);
    w.skip_equal = true;
    put_text(counting, "c/0/0", "32 bytes that are no numbers yet");
    put_text(counting, "c/0/1", "fewer");
    zlgi_store_counts before = zlgi_counting_get(counting);
    MUST(write_box(&w, 0, 0, 4, err_));
    assert_int_equal(zlgi_counting_get(counting).n_reads, before.n_reads + 1);
    assert_int_equal(w.stats.n_equal, 0);
    MUST(write_box(&w, 0, 4, 4, err_));
    assert_int_equal(zlgi_counting_get(counting).n_reads, before.n_reads + 1);
    before = zlgi_counting_get(counting);
    MUST(write_box(&w, 0, 0, 4, err_));
    assert_int_equal(w.stats.n_equal, 1);
    assert_int_equal(zlgi_counting_get(counting).n_puts, before.n_puts);
    zlg_array_close(w.array);
    zlg_store_close(counting);
    close_fixture(&f);
}

/* ------------------------------------------------------------------ given chunks */

enum { N_CHUNKS = 256, MAX_BYTES = 2000 };

/* Which bytes of the last object were the caller's own. */
static struct {
    const uint8_t *first, *end;
    size_t n_own, n_other;
} seen;

static zlg_status see_put(void *self, const char *key, const zlg_bytes *parts, int n_parts,
                          zlg_condition condition, const zlg_object *old,
                          zlg_promise promise, zlg_error *err)
{
    seen.n_own = seen.n_other = 0;
    for (int i = 0; i < n_parts; i++) {
        const uint8_t *data = parts[i].data;
        bool is_own = data >= seen.first && data < seen.end;
        *(is_own ? &seen.n_own : &seen.n_other) += parts[i].n_bytes;
    }
    return custom_put(self, key, parts, n_parts, condition, old, promise, err);
}

typedef struct given {
    uint8_t *bytes;
    int64_t at[N_CHUNKS];
    zlg_encoded chunks[N_CHUNKS];
    size_t n, n_bytes;
} given;

/* Every third is not there, every fifth has no bytes. */
static void make_given(given *g, int first, int step)
{
    g->bytes = calloc(N_CHUNKS, MAX_BYTES);
    g->n = g->n_bytes = 0;
    for (int i = first; i < N_CHUNKS; i += step) {
        uint8_t *data = g->bytes + i * MAX_BYTES;
        size_t n = i % 5 == 0 ? 0 : (size_t)(i * 37 % MAX_BYTES);
        memset(data, i + step, n);
        g->at[g->n] = i;
        g->chunks[g->n] = (zlg_encoded){&g->at[g->n], i % 3 ? data : NULL, i % 3 ? n : 0};
        g->n_bytes += g->chunks[g->n++].n_bytes;
    }
    seen.first = g->bytes;
    seen.end = g->bytes + N_CHUNKS * MAX_BYTES;
}

static void check_given(zlg_array *array, const given *g)
{
    zlg_varlen out;
    uint8_t missing[N_CHUNKS];
    MUST(zlg_array_read_encoded(array, g->at, g->n, &out, missing, NULL, err_));
    for (size_t i = 0; i < g->n; i++) {
        assert_int_equal(missing[i], g->chunks[i].data == NULL);
        assert_int_equal(out.offsets[i + 1] - out.offsets[i], g->chunks[i].n_bytes);
        assert_memory_equal(out.bytes + out.offsets[i], g->chunks[i].data,
                            g->chunks[i].n_bytes);
    }
    zlg_varlen_free(&out);
}

/* Large enough for several threads to share a shard. */
static void test_nothing_is_copied(void **state)
{
    (void)state;
    static const char *const codecs[] = {
        "[" SHARD("[1]", "[{\"name\":\"bytes\"}," ZSTD "]") "]",
        "[" SHARD_AT("start", "[64]", "[" SHARD("[1]", "[{\"name\":\"bytes\"}]") "]") "]"};
    zlg_store_methods methods = custom_methods;
    methods.put = see_put;
    for (size_t i = 0; i < ZLGI_COUNT(codecs) * 2; i++) {
        fixture f;
        zlg_store *store;
        given all, some;
        size_t n_index = 16 * N_CHUNKS + 4;
        open_fixture(&f);
        MUST(zlg_store_open_ext(f.ctx, &methods, custom_new(1), "own", &store, err_));
        zlg_array *array = put_array(store, "", "[256]", "\"uint8\"", REGULAR("[256]"), "0",
                                     codecs[i / 2]);
        zlg_call call = ZLG_CALL_INIT;
        call.n_threads = i % 2 ? 1 : 3;
        make_given(&all, 0, 1);
        MUST(zlg_array_write_encoded(array, all.chunks, all.n, &call, err_));
        if (i / 2 == 0) {
            assert_int_equal(seen.n_own, all.n_bytes);
            assert_int_equal(seen.n_other, n_index);
        }
        check_given(array, &all);
        make_given(&some, 1, 7); /* the others stay, and move */
        MUST(zlg_array_write_encoded(array, some.chunks, some.n, &call, err_));
        if (i / 2 == 0)
            assert_int_equal(seen.n_own, some.n_bytes);
        check_given(array, &some);
        size_t n_same = 0;
        for (size_t k = 0; k < all.n; k++)
            if (k % 7 != 1)
                all.chunks[n_same] = all.chunks[k], all.at[n_same++] = all.at[k];
        all.n = n_same;
        check_given(array, &all);
        zlg_array_close(array);
        zlg_store_close(store);
        close_fixture(&f);
        free(all.bytes);
        free(some.bytes);
    }
}

/* Elements that lie as they are stored: inner chunks of 512 bytes go from the caller's
 * memory, of 256 from a buffer, and so do those at the border and those that are turned. */
static void check_own(const char *codecs, int64_t step, size_t n_own, int n_threads)
{
    enum { N = 3000, ROOM = 3 * N };
    fixture f;
    zlg_store *store;
    zlg_store_methods methods = custom_methods;
    uint16_t *data = malloc(ROOM * sizeof *data), out[N];
    const ptrdiff_t strides[1] = {step * 2};
    zlg_call call = ZLG_CALL_INIT;
    call.n_threads = n_threads;
    for (int i = 0; i < ROOM; i++)
        data[i] = (uint16_t)(i * 3 + 1);
    seen.first = (const uint8_t *)data;
    seen.end = seen.first + ROOM * sizeof *data;
    methods.put = see_put;
    open_fixture(&f);
    MUST(zlg_store_open_ext(f.ctx, &methods, custom_new(1), "own", &store, err_));
    zlg_array *array =
        put_array(store, "", "[3000]", "\"uint16\"", REGULAR("[4096]"), "0", codecs);
    for (int i = 0; i < 2; i++) { /* over what is there, too */
        zlg_source source = {.data = data, .strides = strides};
        MUST(zlg_array_write(array, NULL, &source, &call, err_));
        assert_int_equal(seen.n_own, n_own);
        MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, NULL, err_));
        for (int k = 0; k < N; k++)
            assert_int_equal(out[k], data[k * step]);
    }
    zlg_array_close(array);
    zlg_store_close(store);
    close_fixture(&f);
    free(data);
}

static void test_elements_that_lie_ready(void **state)
{
    (void)state;
    for (int n_threads = 1; n_threads <= 3; n_threads += 2) {
        check_own("[" SHARD("[256]", "[" LITTLE "]") "]", 1, 11 * 512, n_threads);
        check_own("[" SHARD_AT("start", "[256]", "[" LITTLE "]") "]", 1, 11 * 512,
                  n_threads);
        check_own("[" SHARD("[256]", "[" LITTLE "]") "]", 3, 0, n_threads);
        check_own("[" SHARD("[256]", "[" BIG "]") "]", 1, 0, n_threads);
        check_own("[" SHARD("[256]", "[" LITTLE "," CRC "]") "]", 1, 0, n_threads);
        check_own("[" SHARD("[128]", "[" LITTLE "]") "]", 1, 0, n_threads);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_create),
        cmocka_unit_test(test_skip_equal),
        cmocka_unit_test(test_what_is_compared),
        cmocka_unit_test(test_nothing_is_copied),
        cmocka_unit_test(test_elements_that_lie_ready),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
