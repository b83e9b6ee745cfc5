/* Paths that may name a node, and those that may not. */
#include "meta_test.h"

static void test_good_paths(void **state)
{
    (void)state;
    static const char *const paths[] = {"",
                                        "a",
                                        "a/b/c",
                                        "c",
                                        "c/0",
                                        ".hidden",
                                        "a.b",
                                        "..a",
                                        "_a",
                                        "a__",
                                        "zarr.json2",
                                        "Zarr.json",
                                        ".zarray",
                                        "w s",
                                        "\xc3\xbc",
                                        "__values__",
                                        "a/__xarray_dataarray_variable__"};
    for (size_t i = 0; i < ZLGI_COUNT(paths); i++)
        assert_int_equal(zlgi_meta_path_check(paths[i], &error), ZLG_OK);
}

static void test_bad_paths(void **state)
{
    (void)state;
    static const member paths[] = {{"/", "empty"},
                                   {"/a", "empty"},
                                   {"a/", "empty"},
                                   {"a//b", "empty"},
                                   {".", "periods"},
                                   {"..", "periods"},
                                   {"...", "periods"},
                                   {"./a", "periods"},
                                   {"a/../../b", "periods"},
                                   {"a/..", "periods"},
                                   {"__secret", "\"__\""},
                                   {"a/__b", "\"__\""},
                                   {"__", "\"__\""},
                                   {"____", "\"__\""},
                                   {"__zarr__", "\"__\""},
                                   {"__values__b", "\"__\""},
                                   {"zarr.json", "zarr.json"},
                                   {"a/zarr.json", "zarr.json"},
                                   {"a\\b", "backslash"},
                                   {"..\\a", "backslash"},
                                   {"zarr.json/a", "zarr.json"}};
    for (size_t i = 0; i < ZLGI_COUNT(paths); i++) {
        check_refused(zlgi_meta_path_check(paths[i].name, &error), ZLG_NOT_FOUND,
                      paths[i].value);
        /* As the beginning of keys what is kept for extensions will do. */
        zlg_status wanted = strstr(paths[i].name, "__") ? ZLG_OK : ZLG_NOT_FOUND;
        assert_int_equal(zlgi_meta_prefix_check(paths[i].name, &error), wanted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        meta_test(test_good_paths),
        meta_test(test_bad_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
