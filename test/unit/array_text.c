/* What an array tells about itself: keys, and how much of it is stored. */
#define _GNU_SOURCE
#include "fault/fault.h"

/* Objects beyond the grid are left over from a larger array: they are none of this. */
static void test_stored_objects_are_those_of_the_grid(void **state)
{
    (void)state;
    zlg_ctx *ctx;
    zlg_store *store;
    uint64_t n_objects, n_bytes;
    MUST(zlg_ctx_new(NULL, &ctx, err_));
    MUST(zlg_store_open_memory(ctx, &store, err_));
    zlg_array *array =
        put_array(store, "", "[3,5]", "\"uint8\"", REGULAR("[2,2]"), "0", "[" LITTLE "]");
    MUST(zlg_array_stored(array, &n_objects, &n_bytes, err_));
    assert_int_equal(n_objects, 0);
    put_text(store, "c/0/0", "four");
    put_text(store, "c/1/2", "seven");
    put_text(store, "c/2/0", "beyond");
    put_text(store, "c/0/3", "beyond");
    put_text(store, "c/0", "other");
    put_text(store, "c/00/0", "other");
    MUST(zlg_array_stored(array, &n_objects, &n_bytes, err_));
    assert_int_equal(n_objects, 2);
    assert_int_equal(n_bytes, 9);
    zlg_array_close(array);
    zlg_store_close(store);
    zlg_ctx_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stored_objects_are_those_of_the_grid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
