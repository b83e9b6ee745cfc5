/*
 * Label: engine
 * Faults that were found in writing, each held down by the smallest case that shows it.
 */
#define _GNU_SOURCE
#include "../fault/fault.h"
#include "../store/folder.h"
#include "core/core.h"

typedef struct fixture {
    test_folder folder;
    zlg_ctx *ctx;
    zlg_store *store;
} fixture;

static void open_fixture(fixture *f)
{
    test_folder_make(&f->folder);
    MUST(zlg_ctx_new(NULL, &f->ctx, err_));
    MUST(zlg_store_open_fs(f->ctx, f->folder.path, NULL, &f->store, err_));
}

static void close_fixture(fixture *f)
{
    zlg_store_close(f->store);
    zlg_ctx_close(f->ctx);
    test_folder_remove(&f->folder);
}

/* ------------------------------------------------------------------ beyond the shape */

/* A handle from before an append writes what it knows of the array: all, or a part. */
static void check_old_handle(fixture *f, const char *path, const char *grid,
                             const char *codecs)
{
    const int16_t more[6] = {11, 12, 13, 14, 15, 16}, old[5] = {1, 2, 3, 4, 5};
    int16_t out[11];
    zlg_array *now;
    zlg_array *array = put_array(f->store, path, "[5]", "\"int16\"", grid, "0", codecs);
    for (int part = 0; part < 2; part++) {
        MUST(zlg_array_append(array, 0, part ? 0 : 6, &(zlg_source){.data = more}, NULL,
                              &now, err_));
        zlg_axis axis = {.start = part * 4, .step = 1, .count = part ? 1 : 5};
        zlg_selection box = {.kind = ZLG_BOX, .rank = 1, .axes = &axis};
        MUST(zlg_array_write(array, &box, &(zlg_source){.data = old + part * 4}, NULL,
                             err_));
        MUST(zlg_array_read(now, NULL, &(zlg_target){.data = out}, NULL, err_));
        assert_memory_equal(out, old, sizeof old);
        assert_memory_equal(out + 5, more, sizeof more);
        zlg_array_close(now);
    }
    zlg_array_close(array);
}

static void test_an_old_handle_takes_nothing_away(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    check_old_handle(&f, "plain", REGULAR("[8]"), "[" LITTLE "]");
    check_old_handle(&f, "shards", REGULAR("[16]"), "[" SHARD("[2]", "[" LITTLE "]") "]");
    check_old_handle(&f, "wrapped", REGULAR("[16]"),
                     "[" SHARD("[2]", "[" LITTLE "]") "," CRC "]");
    close_fixture(&f);
}

/* ------------------------------------------------------------------ version 2 */

static zlg_array *create_v2(fixture *f, const char *path, const char *type,
                            const char *fill)
{
    static const int64_t shape[1] = {2};
    zlg_array *array;
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    spec.zarr_format = 2;
    spec.rank = 1;
    spec.shape = spec.object_shape = shape;
    spec.data_type = type;
    spec.fill_value = fill;
    MUST(zlg_array_create(f->store, path, &spec, &array, err_));
    return array;
}

/* Words of one width, of which only some are stored in the other order. */
static void test_records_of_two_orders(void **state)
{
    (void)state;
    static const char *const types[] = {
        "[[\"a\",\"<i4\"],[\"b\",\">i4\"]]", "[[\"a\",\">i4\"],[\"b\",\"<i4\"]]",
        "[[\"a\",\">i4\"],[\"b\",\">i4\"]]", "[[\"a\",\"<i4\"],[\"b\",\"<i4\"]]"};
    fixture f;
    open_fixture(&f);
    for (size_t i = 0; i < ZLGI_COUNT(types); i++)
        for (int swapped = 0; swapped < 2; swapped++) {
            const uint32_t plain[4] = {1, 2, 3, 4};
            uint32_t data[4], out[4];
            char path[16];
            snprintf(path, sizeof path, "r%zu%d", i, swapped);
            zlg_array *array = create_v2(&f, path, types[i], NULL);
            for (int k = 0; k < 4; k++)
                data[k] = swapped ? __builtin_bswap32(plain[k]) : plain[k];
            MUST(zlg_array_write(
                array, NULL, &(zlg_source){.data = data, .swapped = swapped}, NULL, err_));
            MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, NULL, err_));
            assert_memory_equal(out, plain, sizeof plain);
            zlg_array_close(array);
        }
    close_fixture(&f);
}

/* null says that an absent chunk means nothing: zeros are stored. */
static void test_an_undefined_fill_value(void **state)
{
    (void)state;
    const int32_t zeros[2] = {0, 0};
    fixture f;
    zlg_text text;
    open_fixture(&f);
    zlg_array *array = create_v2(&f, "a", "<i4", "null");
    MUST(zlg_array_write(array, NULL, &(zlg_source){.data = zeros}, NULL, err_));
    MUST(zlg_store_get(f.store, "a/0", &text, err_));
    zlg_text_free(&text);
    MUST(zlg_array_fill(array, NULL, NULL, 0, NULL, err_));
    MUST(zlg_store_get(f.store, "a/0", &text, err_));
    zlg_text_free(&text);
    zlg_array_close(array);
    close_fixture(&f);
}

/* ------------------------------------------------------------------ callbacks */

typedef struct caller {
    zlg_array *array;
    int n_writes;
    zlg_status attributes; /* what a change of attributes gave */
} caller;

static int write_meanwhile(void *user, uint64_t n_done, uint64_t n_all)
{
    (void)n_done, (void)n_all;
    caller *c = user;
    const uint8_t value = 7;
    zlg_axis axis = {.start = 1, .step = 2, .count = 3000};
    zlg_selection box = {.kind = ZLG_BOX, .rank = 1, .axes = &axis};
    MUST(zlg_array_write(c->array, &box,
                         &(zlg_source){.data = &value, .strides = (ptrdiff_t[]){0}}, NULL,
                         err_));
    c->attributes =
        zlg_node_set_attributes(zlg_array_store(c->array), "a", "{\"x\":1}", NULL, NULL);
    return ++c->n_writes > 2;
}

/* The caller's function writes to the same objects: it is not asked while one is locked. */
static void test_a_poll_may_write(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    caller c = {.array = put_array(f.store, "a", "[100000]", "\"uint8\"", REGULAR("[4]"),
                                   "0", "[" LITTLE "]")};
    zlg_call call = ZLG_CALL_INIT;
    zlg_axis axis = {.start = 0, .step = 2, .count = 50000};
    zlg_selection box = {.kind = ZLG_BOX, .rank = 1, .axes = &axis};
    call.n_threads = 1;
    call.poll = write_meanwhile;
    call.user = &c;
    alarm(1000);
    uint8_t value = 9;
    zlg_source source = {.data = &value, .strides = (ptrdiff_t[]){0}};
    assert_int_equal(zlg_array_write(c.array, &box, &source, &call, NULL), ZLG_CANCELLED);
    assert_int_equal(c.attributes, ZLG_OK);
    c.n_writes = 0;
    assert_int_equal(zlg_array_append(c.array, 0, 100000, &source, &call, NULL, NULL),
                     ZLG_CANCELLED);
    assert_int_equal(c.attributes, ZLG_USAGE); /* the append holds the document */
    alarm(0);
    zlg_array_close(c.array);
    close_fixture(&f);
}

/* ------------------------------------------------------------------ promises */

static void test_each_array_has_its_promise(void **state)
{
    (void)state;
    const int32_t zero_one[2] = {0, 1}, zeros[2] = {0, 0};
    fixture f;
    open_fixture(&f);
    zlg_store *counting;
    zlg_array *arrays[2];
    MUST(zlgi_counting_open(&f.ctx->alloc, f.store, &counting, err_));
    zlgi_store_adopt(f.ctx, counting);
    for (int i = 0; i < 2; i++) {
        const char *path = i ? "b" : "a";
        zlg_open_options options = ZLG_OPEN_OPTIONS_INIT;
        options.promise = i ? ZLG_DURABLE : ZLG_VISIBLE;
        options.keep_empty = i;
        zlg_array_close(create_v2(&f, path, "<i4", "0"));
        MUST(zlg_array_open(counting, path, &options, &arrays[i], err_));
    }
    zlg_write writes[2] = {{.array = arrays[0], .source = {.data = zero_one}},
                           {.array = arrays[1], .source = {.data = zeros}}};
    zlgi_store_counts before = zlgi_counting_get(counting);
    MUST(zlg_write_many(writes, 2, NULL, err_));
    assert_int_equal(zlgi_counting_get(counting).n_syncs - before.n_syncs, 1);
    assert_int_equal(zlgi_counting_get(counting).n_puts - before.n_puts, 2);
    for (int i = 0; i < 2; i++)
        zlg_array_close(arrays[i]);
    zlg_store_close(counting);
    close_fixture(&f);
}

/* ------------------------------------------------------------------ emptiness */

static bool is_stored(fixture *f, const char *type, const char *fill, const void *element,
                      int loose)
{
    static int number;
    char path[16], key[24];
    zlg_text text;
    snprintf(path, sizeof path, "e%d", number++);
    snprintf(key, sizeof key, "%s/c/0", path);
    zlg_array *array =
        put_array(f->store, path, "[3]", type, REGULAR("[3]"), fill, "[" BIG "]");
    zlg_call call = ZLG_CALL_INIT;
    call.loose_fill = loose;
    zlg_source source = {.data = element, .strides = (ptrdiff_t[]){0}};
    MUST(zlg_array_write(array, NULL, &source, &call, err_));
    zlg_status status = zlg_store_get(f->store, key, &text, NULL);
    if (status == ZLG_OK)
        zlg_text_free(&text);
    zlg_array_close(array);
    return status == ZLG_OK;
}

/* Bits decide; or, as zarr-python has it, any NaN is another and complex numbers compare by
 * value, while a negative zero among real ones is another still. */
static void test_strict_and_loose_emptiness(void **state)
{
    (void)state;
    const uint32_t odd_nan = 0x7fc00001, negative_zero = 0x80000000,
                   two_and_nan[2] = {0x40000000, 0x7fc00001};
    const uint32_t complex_zero[2] = {0x80000000, 0}, one = 0x3f800000;
    fixture f;
    open_fixture(&f);
    for (int loose = 0; loose < 2; loose++) {
        assert_int_equal(is_stored(&f, "\"float32\"", "\"NaN\"", &odd_nan, loose), !loose);
        assert_true(is_stored(&f, "\"float32\"", "0", &negative_zero, loose));
        assert_true(is_stored(&f, "\"float32\"", "0", &one, loose));
        assert_false(is_stored(&f, "\"float32\"", "1", &one, loose));
        assert_int_equal(is_stored(&f, "\"complex64\"", "[0,0]", complex_zero, loose),
                         !loose);
        assert_int_equal(is_stored(&f, "\"complex64\"", "[\"NaN\",1]", two_and_nan, loose),
                         !loose);
    }
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_old_handle_takes_nothing_away),
        cmocka_unit_test(test_records_of_two_orders),
        cmocka_unit_test(test_an_undefined_fill_value),
        cmocka_unit_test(test_a_poll_may_write),
        cmocka_unit_test(test_each_array_has_its_promise),
        cmocka_unit_test(test_strict_and_loose_emptiness),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
