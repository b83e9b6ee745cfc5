/* The table of types: sizes, families, float layouts, static types. */
#include "dtype_test.h"

#include "dtype/internal.h"

static void test_sizes_of_parts(void **state)
{
    (void)state;
    assert_int_equal(zlgi_type_bytes(ZLG_BOOL), 1);
    assert_int_equal(zlgi_type_bytes(ZLG_INT4), 1);
    assert_int_equal(zlgi_type_bytes(ZLG_BFLOAT16), 2);
    assert_int_equal(zlgi_type_bytes(ZLG_UINT32), 4);
    assert_int_equal(zlgi_type_bytes(ZLG_DATETIME64), 8);
    assert_int_equal(zlgi_type_bytes(ZLG_RAW), 0);
    assert_int_equal(zlgi_type_bytes(ZLG_COMPLEX), 0);
}

static void test_families(void **state)
{
    (void)state;
    assert_true(zlgi_type_is_integer(ZLG_UINT2) && zlgi_type_is_integer(ZLG_INT64));
    assert_false(zlgi_type_is_integer(ZLG_BOOL));
    assert_false(zlgi_type_is_integer(ZLG_DATETIME64));
    assert_true(zlgi_type_is_signed(ZLG_INT2));
    assert_false(zlgi_type_is_signed(ZLG_UINT8));
    assert_true(zlgi_type_is_float(ZLG_FLOAT4_E2M1FN) && zlgi_type_is_float(ZLG_FLOAT64));
    assert_false(zlgi_type_is_float(ZLG_COMPLEX));
}

/* Every type has a name by which it is found again. */
static void test_names_lead_back(void **state)
{
    (void)state;
    for (int type = ZLG_BOOL; type <= ZLG_VLEN_ARRAY; type++) {
        const char *name = zlgi_type_name((zlg_type)type);
        assert_non_null(name);
        zlg_type found = ZLG_STRUCT;
        const zlgi_dtype *plain = zlgi_dtype_plain((zlg_type)type);
        assert_int_equal(zlgi_type_by_name(name, strlen(name), &found), plain != NULL);
        if (plain == NULL)
            continue;
        assert_int_equal(found, type);
        assert_int_equal(plain->type, type);
        assert_int_equal(plain->n_bytes, zlgi_type_bytes((zlg_type)type));
        assert_string_equal(plain->v3_name, name);
        assert_int_equal(plain->scale, 1);
    }
}

/* A layout uses all bits of its type, and its NaN is no finite value. */
static void test_float_layouts_are_whole(void **state)
{
    (void)state;
    for (int type = ZLG_FLOAT4_E2M1FN; type <= ZLG_FLOAT64; type++) {
        const zlgi_float_layout *layout = zlgi_type_float_layout((zlg_type)type);
        assert_int_equal(layout->n_bits,
                         layout->has_sign + layout->exponent_bits + layout->mantissa_bits);
        assert_int_equal(layout->n_bits, zlgi_type_bits((zlg_type)type));
        if (!layout->has_nan)
            continue;
        uint8_t element[8] = {0};
        zlgi_number_set_bits((zlg_type)type, layout->nan_bits, element);
        double value = zlgi_number_to_double((zlg_type)type, element);
        assert_true(value != value);
    }
    assert_null(zlgi_type_float_layout(ZLG_INT8));
}

static void test_units(void **state)
{
    (void)state;
    assert_string_equal(zlgi_unit_by_name("ns", 2), "ns");
    assert_string_equal(zlgi_unit_by_name("\xce\xbcs", 3), "us");
    assert_string_equal(zlgi_unit_by_name("generic", 7), "generic");
    assert_null(zlgi_unit_by_name("nss", 3));
    assert_null(zlgi_unit_by_name("", 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        dtype_test(test_sizes_of_parts),  dtype_test(test_families),
        dtype_test(test_names_lead_back), dtype_test(test_float_layouts_are_whole),
        dtype_test(test_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
