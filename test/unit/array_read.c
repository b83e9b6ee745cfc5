/* Reads at the edges: elements of no bytes, arrays of no axes, and objects that pass a
 * limit whether or not the store tells their size. */
#define _GNU_SOURCE
#include "fault/fault.h"
#include "store/folder.h"

typedef struct fixture {
    test_folder folder;
    zlg_ctx *ctx;
    zlg_store *stores[2]; /* files, memory */
} fixture;

static void open_fixture(fixture *f, const zlg_limits *limits)
{
    zlg_ctx_options options = ZLG_CTX_OPTIONS_INIT;
    options.n_threads = 3;
    options.limits = limits;
    test_folder_make(&f->folder);
    MUST(zlg_ctx_new(&options, &f->ctx, err_));
    MUST(zlg_store_open_fs(f->ctx, f->folder.path, NULL, &f->stores[0], err_));
    MUST(zlg_store_open_memory(f->ctx, &f->stores[1], err_));
}

static void close_fixture(fixture *f)
{
    zlg_store_close(f->stores[0]);
    zlg_store_close(f->stores[1]);
    zlg_ctx_close(f->ctx);
    test_folder_remove(&f->folder);
}

/* ------------------------------------------------------------------ no bytes */

static void read_nothing(zlg_array *array, void *memory)
{
    static const int64_t rows[] = {3, 0, 1}, columns[] = {5, 0, 0};
    static const int64_t *const coordinates[] = {rows, columns};
    static const uint8_t mask[24] = {[5] = 1, [20] = 1};
    const zlg_axis axes[2] = {{.list = rows, .count = 3},
                              {.start = 5, .step = -2, .count = 3}};
    const zlg_selection selections[] = {
        {.kind = ZLG_BOX, .rank = 2, .axes = axes},
        {.kind = ZLG_BOX, .rank = 2},
        {.kind = ZLG_POINTS, .rank = 2, .coordinates = coordinates, .n_points = 3},
        {.kind = ZLG_MASK, .rank = 2, .mask = mask}};
    zlg_read reads[ZLGI_COUNT(selections)];
    for (size_t i = 0; i < ZLGI_COUNT(selections); i++) {
        reads[i] = (zlg_read){
            .array = array, .selection = &selections[i], .target = {.data = memory}};
        MUST(zlg_read_many(&reads[i], 1, NULL, err_));
    }
    MUST(zlg_read_many(reads, ZLGI_COUNT(reads), NULL, err_));
}

static void test_elements_of_no_bytes(void **state)
{
    (void)state;
    fixture f;
    uint8_t memory = 7;
    open_fixture(&f, NULL);
    for (int i = 0; i < 2; i++) {
        zlg_array *array;
        put_text(f.stores[i], ".zarray",
                 "{\"zarr_format\":2,\"shape\":[4,6],\"chunks\":[2,3],\"dtype\":\"|S0\","
                 "\"fill_value\":null,\"order\":\"C\",\"filters\":null,"
                 "\"compressor\":null}");
        put_text(f.stores[i], "0.0", "");
        MUST(zlg_array_open(f.stores[i], "", NULL, &array, err_));
        read_nothing(array, &memory);
        read_nothing(array, NULL);
        MUST(zlg_array_write(array, NULL, &(zlg_source){.data = NULL}, NULL, err_));
        zlg_array_close(array);
    }
    assert_int_equal(memory, 7);
    close_fixture(&f);
}

static void test_texts_of_no_bytes(void **state)
{
    (void)state;
    fixture f;
    int64_t offsets[5] = {0};
    open_fixture(&f, NULL);
    for (int i = 0; i < 2; i++) {
        zlg_varlen texts;
        zlg_array *array = put_array(f.stores[i], "", "[4]", "\"string\"", REGULAR("[3]"),
                                     "\"fill\"", "[{\"name\":\"vlen-utf8\"}," ZSTD "]");
        MUST(zlg_array_write(array, NULL, &(zlg_source){.data = NULL, .offsets = offsets},
                             NULL, err_));
        MUST(zlg_array_read_varlen(array, NULL, &texts, NULL, err_));
        assert_int_equal(texts.n, 4);
        assert_memory_equal(texts.offsets, offsets, sizeof offsets);
        zlg_varlen_free(&texts);
        zlg_array_close(array);
    }
    close_fixture(&f);
}

/* ------------------------------------------------------------------ no axes */

static void test_no_axes(void **state)
{
    (void)state;
    static const char *const chains[] = {"[" LITTLE "]", "[" BIG "," ZSTD "]",
                                         "[" SHARD("[]", "[" LITTLE "]") "]"};
    static const uint8_t mask[1] = {1};
    const zlg_selection selections[] = {{.kind = ZLG_BOX},
                                        {.kind = ZLG_POINTS, .n_points = 1},
                                        {.kind = ZLG_MASK, .mask = mask},
                                        {.kind = ZLG_BLOCKS}};
    fixture f;
    open_fixture(&f, NULL);
    for (size_t i = 0; i < 2 * ZLGI_COUNT(chains); i++) {
        uint32_t value = 0x01020304, out = 0;
        zlg_array *array = put_array(f.stores[i % 2], "", "[]", "\"uint32\"", REGULAR("[]"),
                                     "9", chains[i / 2]);
        for (int written = 0; written < 2; written++) {
            for (size_t k = 0; k < ZLGI_COUNT(selections); k++) {
                zlg_target target = {.data = &out};
                MUST(zlg_array_read(array, &selections[k], &target, NULL, err_));
                assert_int_equal(out, written ? value : 9);
            }
            MUST(zlg_array_write(array, NULL, &(zlg_source){.data = &value}, NULL, err_));
        }
        MUST(zlg_store_delete(f.stores[i % 2], "c", err_));
        zlg_array_close(array);
    }
    close_fixture(&f);
}

/* One element, however large, is one piece for one thread. */
static void test_one_large_element(void **state)
{
    (void)state;
    enum { BYTES = 2 << 20 };
    fixture f;
    zlg_stats stats = ZLG_STATS_INIT;
    zlg_call call = ZLG_CALL_INIT;
    uint8_t *element = malloc(BYTES), *out = malloc(BYTES);
    open_fixture(&f, NULL);
    for (size_t i = 0; i < BYTES; i++)
        element[i] = (uint8_t)(i * 7 >> 5);
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    zlg_array *array;
    spec.shape = spec.object_shape = (int64_t[]){0};
    spec.data_type = "r16777216";
    spec.codecs = "[{\"name\":\"bytes\"}]";
    MUST(zlg_array_create(f.stores[0], "", &spec, &array, err_));
    MUST(zlg_array_write(array, NULL, &(zlg_source){.data = element}, NULL, err_));
    call.stats = &stats;
    MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, &call, err_));
    assert_memory_equal(out, element, BYTES);
    assert_int_equal(stats.n_requests, 1);
    assert_int_equal(stats.n_chunks, 1);
    zlg_array_close(array);
    free(element);
    free(out);
    close_fixture(&f);
}

/* ------------------------------------------------------------------ limits */

static void test_objects_above_the_limit(void **state)
{
    (void)state;
    fixture f;
    uint8_t data[400];
    zlg_limits limits = ZLG_LIMITS_INIT;
    limits.encoded_bytes = 100;
    open_fixture(&f, &limits);
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * i >> 3);
    for (int i = 0; i < 2; i++) {
        zlg_error err = {0};
        zlg_array *array = put_array(f.stores[i], "", "[400]", "\"uint8\"",
                                     REGULAR("[400]"), "0", "[" LITTLE "," CRC "]");
        MUST(zlg_array_write(array, NULL, &(zlg_source){.data = data}, NULL, err_));
        zlg_target target = {.data = data};
        assert_int_equal(zlg_array_read(array, NULL, &target, NULL, &err), ZLG_LIMIT);
        assert_non_null(strstr(err.message, "encoded_bytes"));
        zlg_array_close(array);
    }
    close_fixture(&f);
}

/* A selection that lies outside says so, however much memory it would take. */
static void test_far_outside(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, NULL);
    zlg_array *array = put_array(f.stores[1], "", "[4]", "\"string\"", REGULAR("[3]"),
                                 "\"\"", "[{\"name\":\"vlen-utf8\"}]");
    const zlg_axis axis = {.step = 1, .count = INT64_C(1) << 50};
    const zlg_selection box = {.kind = ZLG_BOX, .rank = 1, .axes = &axis};
    zlg_varlen texts;
    assert_int_equal(zlg_array_read_varlen(array, &box, &texts, NULL, NULL), ZLG_RANGE);
    zlg_array_close(array);
    close_fixture(&f);
}

/* Of several reads the one that is wrong is named, and its array. */
static void test_wrong_selections_of_several(void **state)
{
    (void)state;
    uint8_t memory[4] = {0};
    fixture f;
    zlg_error err;
    open_fixture(&f, NULL);
    zlg_array *a = put_array(f.stores[1], "a", "[4]", "\"uint8\"", REGULAR("[3]"), "0",
                             "[{\"name\":\"bytes\"}]");
    zlg_array *b = put_array(f.stores[1], "b", "[4]", "\"uint8\"", REGULAR("[3]"), "0",
                             "[{\"name\":\"bytes\"}]");
    const zlg_axis axis = {.start = 9, .step = 1, .count = 1};
    const zlg_selection box = {.kind = ZLG_BOX, .rank = 1, .axes = &axis};
    const zlg_read reads[] = {{a, NULL, {.data = memory}}, {b, &box, {.data = memory}}};
    const zlg_write writes[] = {
        {.array = b, .source = {.data = memory}},
        {.array = a, .selection = &box, .source = {.data = memory}}};
    assert_int_equal(zlg_read_many(reads, 2, NULL, &err), ZLG_RANGE);
    assert_non_null(
        strstr(err.message, ": array b: selection 1: axis 0: index 9 is outside"));
    assert_int_equal(zlg_write_many(writes, 2, NULL, &err), ZLG_RANGE);
    assert_non_null(
        strstr(err.message, ": array a: selection 1: axis 0: index 9 is outside"));
    zlg_array_close(a);
    zlg_array_close(b);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elements_of_no_bytes),
        cmocka_unit_test(test_texts_of_no_bytes),
        cmocka_unit_test(test_no_axes),
        cmocka_unit_test(test_one_large_element),
        cmocka_unit_test(test_objects_above_the_limit),
        cmocka_unit_test(test_far_outside),
        cmocka_unit_test(test_wrong_selections_of_several),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
