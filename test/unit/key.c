/* Chunk keys: the four spellings, the rank 0, the largest, and what is no key. */
#include "test.h"

#include "grid/grid.h"

static const zlgi_key_encoding default_slash = {ZLGI_KEY_DEFAULT, '/', NULL};
static const zlgi_key_encoding default_dot = {ZLGI_KEY_DEFAULT, '.', NULL};
static const zlgi_key_encoding v2_slash = {ZLGI_KEY_V2, '/', NULL};
static const zlgi_key_encoding v2_dot = {ZLGI_KEY_V2, '.', NULL};

static void check_key(const zlgi_key_encoding *encoding, int rank,
                      const int64_t *coordinates, const char *expected)
{
    char key[ZLGI_KEY_MAX];
    assert_int_equal(zlgi_key_write(encoding, rank, coordinates, key), strlen(expected));
    assert_string_equal(key, expected);
    int64_t back[ZLG_MAX_RANK];
    assert_int_equal(zlgi_key_make(encoding, rank, coordinates, key, NULL), ZLG_OK);
    assert_string_equal(key, expected);
    assert_true(zlgi_key_read(encoding, rank, key, back));
    if (rank > 0)
        assert_memory_equal(back, coordinates, (size_t)rank * sizeof *back);
}

static void test_spellings(void **state)
{
    (void)state;
    static const int64_t at[] = {1, 23, 450};
    check_key(&default_slash, 3, at, "c/1/23/450");
    check_key(&default_dot, 3, at, "c.1.23.450");
    check_key(&v2_slash, 3, at, "1/23/450");
    check_key(&v2_dot, 3, at, "1.23.450");
    check_key(&default_slash, 1, (const int64_t[]){0}, "c/0");
    check_key(&v2_dot, 1, (const int64_t[]){0}, "0");
}

static void test_rank_0(void **state)
{
    (void)state;
    check_key(&default_slash, 0, NULL, "c");
    check_key(&default_dot, 0, NULL, "c");
    check_key(&v2_slash, 0, NULL, "0");
    check_key(&v2_dot, 0, NULL, "0");
}

static void test_the_longest_key_fits(void **state)
{
    (void)state;
    int64_t at[ZLG_MAX_RANK], back[ZLG_MAX_RANK];
    for (int i = 0; i < ZLG_MAX_RANK; i++)
        at[i] = INT64_MAX;
    char key[ZLGI_KEY_MAX];
    assert_int_equal(zlgi_key_write(&default_slash, ZLG_MAX_RANK, at, key),
                     1 + ZLG_MAX_RANK * 20);
    assert_true(zlgi_key_read(&default_slash, ZLG_MAX_RANK, key, back));
    assert_memory_equal(back, at, sizeof at);
}

static void test_what_is_no_key(void **state)
{
    (void)state;
    static const char *const not_default[] = {"",
                                              "c",
                                              "c/1",
                                              "c/1/2/3",
                                              "c/1/2/",
                                              "c/1//2",
                                              "c/01/2",
                                              "c/1/-2",
                                              "c/1/+2",
                                              "c/1/ 2",
                                              "c/1/2 ",
                                              "c.1.2",
                                              "c/1.2",
                                              "1/2",
                                              "d/1/2",
                                              "c1/2",
                                              "c/1/2/c",
                                              "c/1/x",
                                              "c/1/",
                                              "c/1/1e3",
                                              "c/1/0x2",
                                              "zarr.json",
                                              "c/1/9223372036854775808",
                                              "c/1/18446744073709551617"};
    static const char *const not_v2[] = {"",     "0",    "0.0.0", "c.0.0",   "0/0", ".0.0",
                                         "0.0.", "0..0", "00.0",  ".zarray", "0.",  "-1.0"};
    int64_t at[ZLG_MAX_RANK];
    for (size_t i = 0; i < ZLGI_COUNT(not_default); i++)
        assert_false(zlgi_key_read(&default_slash, 2, not_default[i], at));
    for (size_t i = 0; i < ZLGI_COUNT(not_v2); i++)
        assert_false(zlgi_key_read(&v2_dot, 2, not_v2[i], at));
    assert_false(zlgi_key_read(&default_slash, 0, "c/0", at));
    assert_false(zlgi_key_read(&default_slash, 0, "", at));
    assert_false(zlgi_key_read(&v2_dot, 0, "1", at));
    assert_false(zlgi_key_read(&v2_dot, 0, "00", at));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spellings),
        cmocka_unit_test(test_rank_0),
        cmocka_unit_test(test_the_longest_key_fits),
        cmocka_unit_test(test_what_is_no_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
