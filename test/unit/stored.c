/* Which objects are stored, in files whose listing misses those that are replaced while it
 * is made: here it misses all. Label: engine. */
#define _GNU_SOURCE
#include <stdatomic.h>

#include "change_test.h"

enum { N = 100, MANY = 64 };

static atomic_int n_lists, n_asked;
static bool (*lacks)(zlg_store *store, const char *key);

static zlg_status list_nothing(zlg_store *store, const char *prefix, bool delimited,
                               const zlgi_txn *txn, zlg_list_fn each, void *user,
                               zlg_error *err)
{
    (void)store, (void)prefix, (void)delimited, (void)txn, (void)each, (void)user;
    (void)err;
    atomic_fetch_add(&n_lists, 1);
    return ZLG_OK;
}

static bool count_asked(zlg_store *store, const char *key)
{
    atomic_fetch_add(&n_asked, 1);
    return lacks(store, key);
}

typedef struct forgetful {
    fixture f;
    zlg_store *store;
    zlgi_store_class class;
} forgetful;

static void open_forgetful(forgetful *o)
{
    open_fixture(&o->f);
    o->store = o->f.stores[1];
    o->class = *o->store->class;
    lacks = o->class.lacks;
    o->class.list = list_nothing;
    o->class.lacks = count_asked;
    o->store->class = &o->class;
    n_lists = n_asked = 0;
}

static void fill_box(zlg_array *array, int64_t start, int64_t count)
{
    const zlg_axis axis = {.start = start, .step = 1, .count = count};
    const zlg_selection box = {.kind = ZLG_BOX, .rank = 1, .axes = &axis};
    MUST(zlg_array_fill(array, &box, NULL, 0, NULL, err_));
}

static void test_a_fill_misses_none(void **state)
{
    (void)state;
    forgetful o;
    uint8_t data[N * 3];
    open_forgetful(&o);
    zlg_array *array = put_array(o.store, "a", "[300]", "\"uint8\"", REGULAR("[3]"), "7",
                                 "[{\"name\":\"bytes\"}]");
    memset(data, 1, sizeof data);
    MUST(zlg_array_write(array, NULL, &(zlg_source){.data = data}, NULL, err_));
    fill_box(array, 1, 3 * N - 2);
    MUST(zlg_array_read(array, NULL, &(zlg_target){.data = data}, NULL, err_));
    for (int i = 0; i < 3 * N; i++)
        assert_int_equal(data[i], i == 0 || i == 3 * N - 1 ? 1 : 7);
    assert_int_equal(n_asked, N);
    assert_int_equal(n_lists, 0);
    zlg_array_close(array);
    close_fixture(&o.f);
}

/* What lies in an object on the border, which somebody replaces meanwhile. */
static void test_a_border_misses_none(void **state)
{
    (void)state;
    static const int64_t less[2] = {5, 7}, more[2] = {9, 9};
    forgetful o;
    uint8_t data[81];
    open_forgetful(&o);
    zlg_array *array = put_array(o.store, "a", "[9,9]", "\"uint8\"", REGULAR("[3,3]"), "7",
                                 "[{\"name\":\"bytes\"}]");
    zlg_array *resized;
    memset(data, 1, sizeof data);
    MUST(zlg_array_write(array, NULL, &(zlg_source){.data = data}, NULL, err_));
    MUST(zlg_array_resize(array, less, NULL, NULL, err_));
    assert_int_equal(n_lists, 1);
    assert_int_equal(n_asked, 3 + 1); /* c/1/0, c/1/1, c/1/2; c/0/2 */
    MUST(zlg_array_resize(array, more, NULL, &resized, err_));
    MUST(zlg_array_read(resized, NULL, &(zlg_target){.data = data}, NULL, err_));
    for (int i = 0; i < 6; i++) /* those after them lay outside */
        for (int k = 0; k < 9; k++)
            assert_int_equal(data[i * 9 + k], i < 5 && k < 7 ? 1 : 7);
    zlg_array_close(resized);
    zlg_array_close(array);
    close_fixture(&o.f);
}

/* Folders that are not there answer for what would lie in them; a box that is too large to
 * ask for is listed. */
static void test_what_it_costs(void **state)
{
    (void)state;
    static const uint8_t one = 1;
    const zlg_axis axis = {.start = MANY - 1, .step = 1, .count = 1};
    const zlg_axis last[3] = {axis, axis, axis};
    const zlg_selection box = {.kind = ZLG_BOX, .rank = 3, .axes = last};
    forgetful o;
    open_forgetful(&o);
    zlg_array *array = put_array(o.store, "a", "[64,64,64]", "\"uint8\"",
                                 REGULAR("[1,1,1]"), "7", "[{\"name\":\"bytes\"}]");
    MUST(zlg_array_fill(array, NULL, NULL, 0, NULL, err_));
    assert_int_equal(n_asked, 1 + 4); /* c/0/0/0, c/0/0, c/0, c, a */
    MUST(zlg_array_write(array, &box, &(zlg_source){.data = &one}, NULL, err_));
    n_asked = 0;
    MUST(zlg_array_fill(array, NULL, NULL, 0, NULL, err_));
    assert_in_range(n_asked, 3 * MANY, 6 * MANY);
    assert_int_equal(n_lists, 0);
    assert_false(has_key(o.store, "a/c/63/63/63"));
    zlg_array_close(array);
    array = put_array(o.store, "large", "[128,128,128]", "\"uint8\"", REGULAR("[1,1,1]"),
                      "7", "[{\"name\":\"bytes\"}]");
    n_asked = 0;
    MUST(zlg_array_fill(array, NULL, NULL, 0, NULL, err_));
    assert_int_equal(n_asked, 0);
    assert_int_equal(n_lists, 1);
    zlg_array_close(array);
    close_fixture(&o.f);
}

static void test_a_caller_loses_patience(void **state)
{
    (void)state;
    forgetful o;
    const int cancel = 1;
    zlg_call call = ZLG_CALL_INIT;
    call.cancel = &cancel;
    open_forgetful(&o);
    zlg_array *array = put_array(o.store, "a", "[100]", "\"uint8\"", REGULAR("[1]"), "7",
                                 "[{\"name\":\"bytes\"}]");
    REFUSED(ZLG_CANCELLED, "", zlg_array_fill(array, NULL, NULL, 0, &call, err_));
    zlg_array_close(array);
    close_fixture(&o.f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_fill_misses_none),
        cmocka_unit_test(test_a_border_misses_none),
        cmocka_unit_test(test_what_it_costs),
        cmocka_unit_test(test_a_caller_loses_patience),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
