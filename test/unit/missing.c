/* Label: engine
 * Which reads of a call touch an object that is not stored. */
#define _GNU_SOURCE
#include "change_test.h"

enum { N = 40 };

static zlg_axis axes[N];
static zlg_selection boxes[N];

/* Object i of ten elements is stored when i is even; read k touches objects k and, every
 * third, k + 1 too. */
static void test_each_read_is_told(void **state)
{
    (void)state;
    static const char *const codecs[] = {"[{\"name\":\"bytes\"}]",
                                         "[" SHARD("[5]", "[{\"name\":\"bytes\"}]") "]",
                                         "[{\"name\":\"bytes\"}," ZSTD "]"};
    fixture f;
    open_fixture(&f);
    for (size_t c = 0; c < ZLGI_COUNT(codecs) * N_STORES; c++) {
        zlg_store *store = f.stores[c % N_STORES];
        zlg_array *array = put_array(store, "", "[410]", "\"uint8\"", REGULAR("[10]"), "0",
                                     codecs[c / N_STORES]);
        uint8_t elements[410], out[N][20], missing[N + 1];
        zlg_read reads[N];
        zlg_call call = ZLG_CALL_INIT;
        for (int i = 0; i < 410; i++)
            elements[i] = i / 10 % 2 ? 0 : 1;
        MUST(zlg_array_write(array, NULL, &(zlg_source){.data = elements}, NULL, err_));
        for (int k = 0; k < N; k++) {
            axes[k] = (zlg_axis){.start = 10 * k + 3, .step = 1, .count = k % 3 ? 7 : 11};
            boxes[k] = (zlg_selection){.kind = ZLG_BOX, .rank = 1, .axes = &axes[k]};
            reads[k] = (zlg_read){array, &boxes[k], {.data = out[k]}};
        }
        memset(missing, 77, sizeof missing);
        call.missing = missing;
        MUST(zlg_read_many(reads, N, &call, err_));
        for (int k = 0; k < N; k++)
            assert_int_equal(missing[k], k % 2 || k % 3 == 0);
        assert_int_equal(missing[N], 77);
        /* One read alone. */
        MUST(zlg_array_read(array, &boxes[4], &(zlg_target){.data = out}, &call, err_));
        assert_int_equal(missing[0], 0);
        MUST(zlg_array_read(array, &boxes[5], &(zlg_target){.data = out}, &call, err_));
        assert_int_equal(missing[0], 1);
        missing[0] = 77;
        call.missing_is_error = 1;
        REFUSED(ZLG_NOT_FOUND, "c/5",
                zlg_array_read(array, &boxes[5], &(zlg_target){.data = out}, &call, err_));
        assert_int_equal(missing[0], 1);
        zlg_array_close(array);
    }
    close_fixture(&f);
}

/* Inner chunks that a shard does not hold are not missing objects, and what touches none
 * misses none. Blocks of one object, points and masks. */
static void test_objects_count(void **state)
{
    (void)state;
    static uint8_t out[1 << 20], mask[1 << 20];
    static const int64_t at[] = {3, 1048000}, *const coordinates[] = {at};
    const zlg_axis nothing = {.start = 9, .step = 1, .count = 0};
    const zlg_selection none = {.kind = ZLG_BOX, .rank = 1, .axes = &nothing},
                        points = {.kind = ZLG_POINTS,
                                  .rank = 1,
                                  .coordinates = coordinates,
                                  .n_points = 2},
                        masked = {.kind = ZLG_MASK, .rank = 1, .mask = mask};
    fixture f;
    zlg_call call = ZLG_CALL_INIT;
    uint8_t missing[4] = {9, 9, 9, 9};
    open_fixture(&f);
    call.missing = missing;
    zlg_array *array =
        put_array(f.stores[1], "", "[1048576]", "\"uint8\"", REGULAR("[1048576]"), "0",
                  "[" SHARD("[1024]", "[{\"name\":\"bytes\"}," ZSTD "]") "]");
    mask[7] = 1;
    const zlg_read reads[] = {{array, &none, {.data = out}},
                              {array, &points, {.data = out}},
                              {array, &masked, {.data = out + 2}},
                              {array, NULL, {.data = out}}};
    for (int stored = 0; stored < 2; stored++) {
        for (int i = 0; i < 3; i++) {
            MUST(zlg_read_many(reads, 3, &call, err_));
            for (int k = 0; k < 3; k++)
                assert_int_equal(missing[k], k > 0 && !stored);
            MUST(zlg_read_many(&reads[i], 1, &call, err_));
            assert_int_equal(missing[0], i > 0 && !stored);
        }
        MUST(zlg_read_many(&reads[3], 1, &call, err_)); /* in blocks */
        assert_int_equal(missing[0], !stored);
        if (!stored)
            MUST(zlg_array_fill(array, &points, "x", 1, NULL, err_));
    }
    assert_int_equal(missing[3], 9);
    zlg_array_close(array);
    close_fixture(&f);
}

static void test_words(void **state)
{
    (void)state;
    fixture f;
    zlg_varlen out;
    zlg_call call = ZLG_CALL_INIT;
    uint8_t missing = 9;
    open_fixture(&f);
    call.missing = &missing;
    zlg_array *array = put_array(f.stores[0], "", "[4]", "\"string\"", REGULAR("[4]"),
                                 "\"none\"", "[{\"name\":\"vlen-utf8\"}]");
    for (int stored = 0; stored < 2; stored++) {
        MUST(zlg_array_read_varlen(array, NULL, &out, &call, err_));
        assert_int_equal(missing, !stored);
        zlg_varlen_free(&out);
        if (!stored)
            MUST(zlg_array_fill(array, NULL, "x", 1, NULL, err_));
    }
    zlg_array_close(array);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_read_is_told),
        cmocka_unit_test(test_objects_count),
        cmocka_unit_test(test_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
