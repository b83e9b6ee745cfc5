/*
 * Label: engine
 * Every call of the store fails in turn, or gives less than it should: one clear error that
 * names the object, no handle left open, and the next read is right. Of several faults the
 * lowest piece is reported, in the same words, however many threads there are.
 */
#define _GNU_SOURCE
#include "fault.h"

enum { SIDE = 12, SQUARE = SIDE * SIDE };
static uint16_t elements[SQUARE];

/* ------------------------------------------------------------------ each call in turn */

typedef struct kind_of_array {
    const char *name, *grid, *codecs;
} kind_of_array;

static const kind_of_array kinds[] = {
    {"compressed", REGULAR("[5,6]"), "[" LITTLE "," ZSTD "]"},
    {"raw", REGULAR("[5,6]"), "[" BIG "]"},
    {"shard", REGULAR("[6,6]"), "[" SHARD("[3,2]", "[" LITTLE "," CRC "]") "]"},
    {"nested", REGULAR("[12,12]"),
     "[" TRANSPOSE("[1,0]") "," SHARD_AT("start", "[6,6]",
                                         "[" SHARD("[3,2]", "[" BIG "," GZIP "]") "]") "]"},
    {"wrapped", REGULAR("[6,6]"), "[" SHARD("[3,2]", "[" LITTLE "," ZSTD "]") "," CRC "]"},
    {"whole shard", REGULAR("[12,12]"),
     "[{\"name\":\"reshape\",\"configuration\":{\"shape\":[[0,1]]}}," SHARD(
         "[36]", "[" LITTLE "," CRC "]") "]"},
    {"uneven",
     "{\"name\":\"rectilinear\",\"configuration\":{\"kind\":\"inline\","
     "\"chunk_shapes\":[[5,7],[1,[2,5],1]]}}",
     "[" LITTLE "," GZIP "]"},
};

typedef struct fixture {
    zlg_ctx *ctx;
    fault_store *store;
} fixture;

static void open_fixture(fixture *f, int n_threads)
{
    zlg_ctx_options options = ZLG_CTX_OPTIONS_INIT;
    options.n_threads = n_threads;
    MUST(zlg_ctx_new(&options, &f->ctx, err_));
    f->store = fault_store_open(f->ctx);
}

static void close_fixture(fixture *f)
{
    assert_int_equal(f->store->n_open, 0);
    zlg_store_close(&f->store->base);
    zlg_ctx_close(f->ctx);
}

static void put_numbers(fixture *f, const char *path, const kind_of_array *kind)
{
    zlg_array *array = put_array(&f->store->base, path, "[12,12]", "\"uint16\"", kind->grid,
                                 "7", kind->codecs);
    MUST(zlg_array_write(array, NULL, &(zlg_source){.data = elements}, NULL, err_));
    zlg_array_close(array);
}

static zlg_status open_and_read(fixture *f, uint16_t out[SQUARE], zlg_error *err)
{
    zlg_array *array;
    memset(out, 0xA5, SQUARE * sizeof *out);
    ZLGI_TRY(zlg_array_open(&f->store->base, "a", NULL, &array, err));
    zlg_status status = zlg_array_read(array, NULL, &(zlg_target){.data = out}, NULL, err);
    zlg_array_close(array);
    return status;
}

static bool allowed(fault_kind fault, zlg_status status)
{
    if (fault == FAULT_IO)
        return status == ZLG_IO;
    return status == ZLG_CORRUPT || status == ZLG_METADATA;
}

static bool names_object(const char *message)
{
    return strstr(message, "array a: chunk c/") != NULL ||
           strstr(message, "zarr.json") != NULL;
}

/* One turn; false when the read made fewer than n calls of that kind. A run of inner chunks
 * that cannot be read is read again piece by piece: then all may be well. */
static bool take_turn(fixture *f, const char *what, fault_kind fault, uint64_t n)
{
    uint16_t out[SQUARE];
    zlg_error err = {0};
    fault_set(f->store, fault, n);
    zlg_status status = open_and_read(f, out, &err);
    bool struck = f->store->n_calls >= n;
    fault_set(f->store, FAULT_NONE, 0);
    assert_int_equal(f->store->n_open, 0);
    if (status == ZLG_OK) /* what was cut off was not wanted */
        assert_memory_equal(out, elements, sizeof out);
    else if (!allowed(fault, status) || err.status != status || !names_object(err.message))
        fail_msg("%s: fault %d at call %llu: status %d: %s", what, (int)fault,
                 (unsigned long long)n, (int)status, err.message);
    if (open_and_read(f, out, &err) != ZLG_OK)
        fail_msg("%s: afterwards: %s", what, err.message);
    assert_memory_equal(out, elements, sizeof out);
    return struck;
}

static void test_each_call(void **state)
{
    (void)state;
    for (size_t i = 0; i < ZLGI_COUNT(kinds); i++)
        for (int option = 0; option < 8; option++) {
            fixture f;
            open_fixture(&f, option & 4 ? 4 : 1);
            f.store->lends = option & 1;
            f.store->trusted = option & 2;
            put_numbers(&f, "a", &kinds[i]);
            for (fault_kind fault = FAULT_IO; fault <= FAULT_TRUNCATED; fault++)
                for (uint64_t n = 1; take_turn(&f, kinds[i].name, fault, n); n++)
                    ;
            close_fixture(&f);
        }
}

/* Writing and listing: a failure is reported, and says of what. */
static void test_each_call_of_writing(void **state)
{
    (void)state;
    fixture f;
    zlg_error err = {0};
    open_fixture(&f, 1);
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    spec.rank = 2;
    spec.shape = (const int64_t[]){SIDE, SIDE};
    spec.object_shape = (const int64_t[]){6, 6};
    spec.data_type = "uint16";
    spec.overwrite = 1;
    for (uint64_t n = 1;; n++) {
        zlg_array *array = NULL;
        fault_set(f.store, FAULT_IO, n);
        zlg_status status = zlg_array_create(&f.store->base, "g/a", &spec, &array, &err);
        if (status == ZLG_OK)
            status =
                zlg_array_write(array, NULL, &(zlg_source){.data = elements}, NULL, &err);
        zlg_array_close(array);
        assert_int_equal(f.store->n_open, 0);
        if (f.store->n_calls < n)
            break;
        /* What lies in the way of an overwritten node need not be readable. */
        if (status != ZLG_OK && (status != ZLG_IO || strstr(err.message, "g/a") == NULL))
            fail_msg("call %llu: %s", (unsigned long long)n, err.message);
    }
    fault_set(f.store, FAULT_NONE, 0);
    close_fixture(&f);
}

static int ignore_member(void *user, const char *path, zlg_node kind)
{
    (void)user, (void)path, (void)kind;
    return 0;
}

static void test_each_call_of_listing(void **state)
{
    (void)state;
    fixture f;
    zlg_error err = {0};
    open_fixture(&f, 1);
    put_text(&f.store->base, "zarr.json", "{\"zarr_format\":3,\"node_type\":\"group\"}");
    put_text(&f.store->base, "g/zarr.json", "{\"zarr_format\":3,\"node_type\":\"group\"}");
    put_numbers(&f, "g/a", &kinds[0]);
    for (uint64_t n = 1;; n++) {
        zlg_group *group = NULL;
        fault_set(f.store, FAULT_IO, n);
        zlg_status status = zlg_group_open(&f.store->base, "", NULL, &group, &err);
        if (status == ZLG_OK)
            status = zlg_group_members(group, 1, ignore_member, NULL, &err);
        zlg_group_close(group);
        assert_int_equal(f.store->n_open, 0);
        if (f.store->n_calls < n)
            break;
        if (status != ZLG_IO || strstr(err.message, "group /") == NULL)
            fail_msg("call %llu: status %d: %s", (unsigned long long)n, (int)status,
                     err.message);
    }
    fault_set(f.store, FAULT_NONE, 0);
    close_fixture(&f);
}

/* What a store cannot do is refused, not tried. */
static void test_store_without_lists(void **state)
{
    (void)state;
    fixture f;
    zlg_error err = {0};
    zlg_group *group;
    zlg_array *array;
    uint64_t n_objects, n_bytes;
    open_fixture(&f, 1);
    zlgi_store_class class = *f.store->base.class;
    class.capabilities = ZLGI_STORE_WRITE;
    class.list = NULL;
    f.store->base.class = &class;
    put_text(&f.store->base, "zarr.json", "{\"zarr_format\":3,\"node_type\":\"group\"}");
    put_numbers(&f, "a", &kinds[0]);
    MUST(zlg_group_open(&f.store->base, "", NULL, &group, err_));
    assert_int_equal(zlg_group_members(group, 0, ignore_member, NULL, &err),
                     ZLG_UNSUPPORTED);
    MUST(zlg_group_open_array(group, "a", &array, err_));
    assert_int_equal(zlg_array_stored(array, &n_objects, &n_bytes, &err), ZLG_UNSUPPORTED);
    assert_non_null(strstr(err.message, "cannot be listed"));
    zlg_array_close(array);
    zlg_group_close(group);
    close_fixture(&f);
}

/* ------------------------------------------------------------------ the lowest fault */

enum { WIDE = 96, N_WIDE = WIDE * WIDE, ROUNDS = 25 };
static uint32_t wide[N_WIDE];

/* Where inner chunk `chunk` lies in a shard of n bytes whose index, of n_chunks entries,
 * stands at its end. */
static uint64_t place_of(const uint8_t *shard, size_t n, uint64_t n_chunks, uint64_t chunk)
{
    const uint8_t *index = shard + n - n_chunks * 16 - 4;
    uint64_t at = zlgi_load_u64le(index + 16 * chunk);
    assert_in_range(at, 0, n - 1);
    return at;
}

/* Flips a bit of it. */
static void spoil(uint8_t *shard, size_t n, uint64_t n_chunks, uint64_t chunk)
{
    shard[place_of(shard, n, n_chunks, chunk) + 3] ^= 0x10;
}

static zlg_status read_wide(fixture *f, int n_threads, const char *path, zlg_error *err)
{
    static uint32_t out[N_WIDE];
    zlg_array *array;
    zlg_call call = ZLG_CALL_INIT;
    call.n_threads = n_threads;
    MUST(zlg_array_open(&f->store->base, path, NULL, &array, err_));
    zlg_status status = zlg_array_read(array, NULL, &(zlg_target){.data = out}, &call, err);
    zlg_array_close(array);
    assert_int_equal(f->store->n_open, 0);
    return status;
}

/* The same status and message however many threads, time and again. */
static void expect_fault(fixture *f, const char *path, zlg_status status, const char *part)
{
    zlg_error first = {0};
    assert_int_equal(read_wide(f, 1, path, &first), status);
    if (strstr(first.message, part) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", first.message, part);
    for (int i = 0; i < ROUNDS; i++) {
        zlg_error err = {0};
        assert_int_equal(read_wide(f, 1 + i % 4, path, &err), status);
        assert_string_equal(err.message, first.message);
    }
}

static void put_wide(fixture *f, const char *grid, const char *codecs)
{
    zlg_array *array =
        put_array(&f->store->base, "w", "[96,96]", "\"uint32\"", grid, "0", codecs);
    MUST(zlg_array_write(array, NULL, &(zlg_source){.data = wide}, NULL, err_));
    zlg_array_close(array);
}

/* The bytes of an object, to be changed and put back with put_back. */
static zlg_text take_object(fixture *f, const char *key)
{
    zlg_text text;
    MUST(zlg_store_get(&f->store->base, key, &text, err_));
    return text;
}

static void put_back(fixture *f, const char *key, zlg_text *text)
{
    MUST(zlg_store_put(&f->store->base, key, text->data, text->n_bytes, err_));
    zlg_text_free(text);
}

static void cut_object(fixture *f, const char *key)
{
    zlg_text text = take_object(f, key);
    MUST(zlg_store_put(&f->store->base, key, text.data, text.n_bytes - 1, err_));
    zlg_text_free(&text);
}

static void test_lowest_chunk(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, 4);
    put_wide(&f, REGULAR("[12,12]"), "[" LITTLE "," CRC "]");
    cut_object(&f, "w/c/7/1");
    cut_object(&f, "w/c/3/4");
    cut_object(&f, "w/c/3/5");
    expect_fault(&f, "w", ZLG_CORRUPT, "chunk c/3/4:");
    close_fixture(&f);
}

/* One shard: its inner chunks are shared out among the threads. */
static void test_lowest_inner_chunk(void **state)
{
    (void)state;
    for (int lends = 0; lends < 2; lends++) {
        fixture f;
        open_fixture(&f, 4);
        f.store->lends = lends;
        put_wide(&f, REGULAR("[96,96]"), "[" SHARD("[8,8]", "[" LITTLE "," CRC "]") "]");
        zlg_text shard = take_object(&f, "w/c/0/0");
        const uint64_t bad[] = {143, 77, 41, 42, 90};
        for (size_t i = 0; i < ZLGI_COUNT(bad); i++)
            spoil((uint8_t *)shard.data, shard.n_bytes, 144, bad[i]);
        put_back(&f, "w/c/0/0", &shard);
        expect_fault(&f, "w", ZLG_CORRUPT, "chunk c/0/0: inner chunk 3/5: codec crc32c");
        close_fixture(&f);
    }
}

/* Shards in a shard: the outer place counts before the inner one, and both are named. */
static void test_lowest_nested_chunk(void **state)
{
    (void)state;
    for (int lends = 0; lends < 2; lends++) {
        fixture f;
        open_fixture(&f, 4);
        f.store->lends = lends;
        put_wide(&f, REGULAR("[96,96]"),
                 "[" SHARD("[24,24]", "[" SHARD("[8,8]", "[" LITTLE "," CRC "]") "]") "]");
        zlg_text shard = take_object(&f, "w/c/0/0");
        uint8_t *bytes = (uint8_t *)shard.data;
        const uint8_t *index = bytes + shard.n_bytes - 16 * 16 - 4;
        const uint64_t bad[][2] = {{11, 0}, {5, 8}, {6, 1}, {5, 7}, {15, 0}};
        for (size_t i = 0; i < ZLGI_COUNT(bad); i++) {
            uint64_t at = zlgi_load_u64le(index + 16 * bad[i][0]);
            uint64_t n = zlgi_load_u64le(index + 16 * bad[i][0] + 8);
            spoil(bytes + at, n, 9, bad[i][1]);
        }
        put_back(&f, "w/c/0/0", &shard);
        expect_fault(&f, "w", ZLG_CORRUPT,
                     "chunk c/0/0: inner chunk 1/1: inner chunk 2/1: codec crc32c");
        close_fixture(&f);
    }
}

/* Bytes that cannot be read, above an inner chunk that does not decode: whatever else is
 * read together with them. */
static void test_lowest_of_unreadable(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, 4);
    put_wide(&f, REGULAR("[96,96]"), "[" SHARD("[8,8]", "[" LITTLE "," CRC "]") "]");
    zlg_text shard = take_object(&f, "w/c/0/0");
    uint8_t *bytes = (uint8_t *)shard.data;
    uint64_t above = place_of(bytes, shard.n_bytes, 144, 100);
    uint64_t below = place_of(bytes, shard.n_bytes, 144, 5);
    spoil(bytes, shard.n_bytes, 144, 17);
    put_back(&f, "w/c/0/0", &shard);
    f.store->bad_key = "w/c/0/0";
    f.store->bad_from = above + 10;
    f.store->bad_to = f.store->bad_from + 1;
    expect_fault(&f, "w", ZLG_CORRUPT, "chunk c/0/0: inner chunk 1/5: codec crc32c");
    f.store->bad_from = below + 10;
    f.store->bad_to = f.store->bad_from + 1;
    expect_fault(&f, "w", ZLG_IO, "chunk c/0/0: inner chunk 0/5: the disk is on fire");
    close_fixture(&f);
}

/* An index that cannot be read stands for the first piece of its shard. */
static void test_lowest_of_indexes(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, 4);
    put_wide(&f, REGULAR("[48,48]"), "[" SHARD("[8,8]", "[" LITTLE "," CRC "]") "]");
    zlg_text shard = take_object(&f, "w/c/0/1");
    spoil((uint8_t *)shard.data, shard.n_bytes, 36, 35);
    put_back(&f, "w/c/0/1", &shard);
    cut_object(&f, "w/c/1/0");
    expect_fault(&f, "w", ZLG_CORRUPT, "chunk c/0/1: inner chunk 5/5: codec crc32c");
    cut_object(&f, "w/c/0/1");
    expect_fault(&f, "w", ZLG_CORRUPT, "chunk c/0/1: shard index");
    close_fixture(&f);
}

/* Random faults: every number of threads says the same, and says of what. */
static void test_random_faults(void **state)
{
    (void)state;
    uint64_t seed = 20240229;
    for (int round = 0; round < 40; round++) {
        fixture f;
        zlg_error first = {0}, err = {0};
        open_fixture(&f, 4);
        f.store->lends = round % 2;
        f.store->trusted = round % 4 > 1;
        put_wide(&f, REGULAR("[96,48]"),
                 "[" TRANSPOSE("[1,0]") "," SHARD(
                     "[24,48]", "[" SHARD("[8,8]", "[" BIG "," CRC "]") "]") "]");
        for (int i = 0; i < 1 + round % 7; i++) {
            const char *key = test_random(&seed) % 3 ? "w/c/0/0" : "w/c/0/1";
            zlg_text shard = take_object(&f, key);
            shard.data[test_random(&seed) % shard.n_bytes] ^= 1;
            put_back(&f, key, &shard);
        }
        assert_int_equal(read_wide(&f, 1, "w", &first), ZLG_CORRUPT);
        assert_non_null(strstr(first.message, "chunk c/0/"));
        for (int i = 0; i < 8; i++) {
            assert_int_equal(read_wide(&f, 1 + i % 4, "w", &err), ZLG_CORRUPT);
            assert_string_equal(err.message, first.message);
        }
        close_fixture(&f);
    }
}

/* Of a batch: the first array, then the lowest object of it. */
static void test_lowest_of_batch(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, 4);
    put_numbers(&f, "a", &kinds[0]);
    put_numbers(&f, "b", &kinds[2]);
    cut_object(&f, "a/c/2/1");
    cut_object(&f, "b/c/0/0");
    zlg_array *a, *b;
    MUST(zlg_array_open(&f.store->base, "a", NULL, &a, err_));
    MUST(zlg_array_open(&f.store->base, "b", NULL, &b, err_));
    for (int i = 0; i < ROUNDS; i++) {
        uint16_t out[3][SQUARE];
        zlg_error err = {0};
        zlg_call call = ZLG_CALL_INIT;
        call.n_threads = 1 + i % 4;
        zlg_read reads[] = {{b, NULL, {.data = out[0]}},
                            {a, NULL, {.data = out[1]}},
                            {b, NULL, {.data = out[2]}}};
        assert_int_equal(zlg_read_many(reads, 3, &call, &err), ZLG_CORRUPT);
        assert_non_null(strstr(err.message, "faulty: array b: chunk c/0/0: shard"));
        assert_int_equal(zlg_read_many(reads + 1, 1, &call, &err), ZLG_CORRUPT);
        assert_non_null(strstr(err.message, "faulty: array a: chunk c/2/1:"));
    }
    zlg_array_close(a);
    zlg_array_close(b);
    close_fixture(&f);
}

static void test_missing_is_error(void **state)
{
    (void)state;
    for (size_t i = 0; i < ZLGI_COUNT(kinds); i++)
        for (int n_threads = 1; n_threads <= 4; n_threads += 3) {
            fixture f;
            zlg_error err = {0};
            zlg_array *array;
            uint16_t out[SQUARE];
            zlg_call call = ZLG_CALL_INIT;
            call.missing_is_error = 1;
            open_fixture(&f, n_threads);
            put_numbers(&f, "a", &kinds[i]);
            MUST(zlg_array_open(&f.store->base, "a", NULL, &array, err_));
            MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, &call, err_));
            MUST(zlg_store_delete(&f.store->base, "a/c/0/0", err_));
            assert_int_equal(
                zlg_array_read(array, NULL, &(zlg_target){.data = out}, &call, &err),
                ZLG_NOT_FOUND);
            assert_non_null(strstr(err.message, "faulty: array a: chunk c/0/0: "));
            call.missing_is_error = 0;
            MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, &call, err_));
            assert_int_equal(out[0], 7);
            zlg_array_close(array);
            close_fixture(&f);
        }
}

/* ------------------------------------------------------------------ */

static int make_numbers(void **state)
{
    (void)state;
    for (int i = 0; i < SQUARE; i++)
        elements[i] = (uint16_t)(i * 331 + 1);
    for (uint32_t i = 0; i < N_WIDE; i++)
        wide[i] = i * 2654435761u + 1;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_call),
        cmocka_unit_test(test_each_call_of_writing),
        cmocka_unit_test(test_each_call_of_listing),
        cmocka_unit_test(test_store_without_lists),
        cmocka_unit_test(test_lowest_chunk),
        cmocka_unit_test(test_lowest_inner_chunk),
        cmocka_unit_test(test_lowest_nested_chunk),
        cmocka_unit_test(test_lowest_of_unreadable),
        cmocka_unit_test(test_lowest_of_indexes),
        cmocka_unit_test(test_random_faults),
        cmocka_unit_test(test_lowest_of_batch),
        cmocka_unit_test(test_missing_is_error),
    };
    return cmocka_run_group_tests(tests, make_numbers, NULL);
}
