/* Canonical values in place, also inside records. */
#include "dtype_test.h"

static void check(const zlgi_dtype *dtype, const char *before, const char *after)
{
    uint8_t *elements = bytes_of(before);
    size_t n_bytes = strlen(before) / 2;
    assert_true(zlgi_dtype_needs_normal(dtype));
    zlgi_dtype_normalize(dtype, elements, n_bytes / dtype->n_bytes);
    assert_string_equal(hex_of(elements, n_bytes), after);
}

static void test_bool_is_0_or_1(void **state)
{
    (void)state;
    check(zlgi_dtype_plain(ZLG_BOOL), "0001028000ff", "000101010001");
}

static void test_narrow_integers_are_extended(void **state)
{
    (void)state;
    check(zlgi_dtype_plain(ZLG_INT4), "07080f17f8ff", "07f8ff07f8ff");
    check(zlgi_dtype_plain(ZLG_INT2), "0001020304fd", "0001feff0001");
    check(zlgi_dtype_plain(ZLG_UINT4), "0f10ff", "0f000f");
    check(zlgi_dtype_plain(ZLG_UINT2), "03fc05", "030001");
}

static void test_narrow_floats_are_cleared(void **state)
{
    (void)state;
    check(zlgi_dtype_plain(ZLG_FLOAT4_E2M1FN), "0f1ff0", "0f0f00");
    check(zlgi_dtype_plain(ZLG_FLOAT6_E3M2FN), "3f7fc1", "3f3f01");
    check(v3_of("\"complex_float4_e2m1fn\""), "f1f2", "0102");
}

static void test_fields_of_records(void **state)
{
    (void)state;
    check(v2_of("[[\"a\", \"|u1\"], [\"b\", \"|b1\", [3]], [\"c\", [[\"d\", \"|b1\"]]]]"),
          "ff02000309"
          "0700050400",
          "ff01000101"
          "0700010100");
}

static void test_others_stay(void **state)
{
    (void)state;
    assert_false(zlgi_dtype_needs_normal(zlgi_dtype_plain(ZLG_UINT8)));
    assert_false(zlgi_dtype_needs_normal(zlgi_dtype_plain(ZLG_FLOAT8_E4M3)));
    assert_false(zlgi_dtype_needs_normal(zlgi_dtype_plain(ZLG_STRING)));
    const zlgi_dtype *record = v2_of("[[\"a\", \"<f4\"], [\"b\", \"|S2\"]]");
    assert_false(zlgi_dtype_needs_normal(record));
    uint8_t *element = bytes_of("0203040506ff");
    zlgi_dtype_normalize(record, element, 1);
    assert_string_equal(hex_of(element, 6), "0203040506ff");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        dtype_test(test_bool_is_0_or_1),
        dtype_test(test_narrow_integers_are_extended),
        dtype_test(test_narrow_floats_are_cleared),
        dtype_test(test_fields_of_records),
        dtype_test(test_others_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
