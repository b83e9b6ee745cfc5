/* What a build says of itself. */
#include <stdio.h>

#include "test.h"

const char *ZSTD_versionString(void);

/* A header of one version and a library of another would make it a lie. */
static void test_tells_which_libzstd_is_linked(void **state)
{
    (void)state;
    char line[64];
    snprintf(line, sizeof line, "zstd %s\n", ZSTD_versionString());
    assert_ptr_equal(strstr(zlg_build_info(), line), zlg_build_info());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tells_which_libzstd_is_linked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
