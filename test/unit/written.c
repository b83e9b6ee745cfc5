/* How an object is changed: chunks given encoded are put from where they lie. */
#define _GNU_SOURCE
#include "change_test.h"

#include "../store/custom.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
