/* Bits to values and back, for every numeric type. The values are those of the format
 * documents of each type: first and last normal and subnormal numbers, what is missing. */
#include <math.h>

#include "dtype_test.h"

#include "dtype/internal.h"

static double double_of(zlg_type type, uint64_t bits)
{
    uint8_t element[8] = {0};
    zlgi_number_set_bits(type, bits, element);
    return zlgi_number_to_double(type, element);
}

static uint64_t bits_of(zlg_type type, double value)
{
    uint8_t element[8] = {0};
    zlgi_number_from_double(type, value, element);
    return zlgi_number_bits(type, element);
}

static const struct {
    zlg_type type;
    uint64_t bits;
    double value;
} exact[] = {
    {ZLG_FLOAT4_E2M1FN, 0x1, 0.5},
    {ZLG_FLOAT4_E2M1FN, 0x2, 1},
    {ZLG_FLOAT4_E2M1FN, 0x7, 6},
    {ZLG_FLOAT4_E2M1FN, 0xf, -6},
    {ZLG_FLOAT6_E2M3FN, 0x01, 0.125},
    {ZLG_FLOAT6_E2M3FN, 0x1f, 7.5},
    {ZLG_FLOAT6_E3M2FN, 0x01, 0.0625},
    {ZLG_FLOAT6_E3M2FN, 0x1f, 28},
    {ZLG_FLOAT8_E3M4, 0x01, 0x1p-6},
    {ZLG_FLOAT8_E3M4, 0x6f, 15.5},
    {ZLG_FLOAT8_E4M3, 0x01, 0x1p-9},
    {ZLG_FLOAT8_E4M3, 0x77, 240},
    {ZLG_FLOAT8_E4M3B11FNUZ, 0x7f, 30},
    {ZLG_FLOAT8_E4M3FNUZ, 0x7f, 240},
    {ZLG_FLOAT8_E4M3FNUZ, 0x01, 0x1p-10},
    {ZLG_FLOAT8_E5M2, 0x7b, 57344},
    {ZLG_FLOAT8_E5M2, 0x01, 0x1p-16},
    {ZLG_FLOAT8_E5M2FNUZ, 0x7f, 57344},
    {ZLG_FLOAT8_E8M0FNU, 0x00, 0x1p-127},
    {ZLG_FLOAT8_E8M0FNU, 0x7f, 1},
    {ZLG_FLOAT8_E8M0FNU, 0xfe, 0x1p127},
    {ZLG_BFLOAT16, 0x3f80, 1},
    {ZLG_BFLOAT16, 0x0001, 0x1p-133},
    {ZLG_FLOAT16, 0x7bff, 65504},
    {ZLG_FLOAT16, 0x0001, 0x1p-24},
    {ZLG_FLOAT16, 0x0400, 0x1p-14},
    {ZLG_FLOAT32, 0x00000001, 0x1p-149},
    {ZLG_FLOAT64, UINT64_C(0x7fefffffffffffff), 0x1.fffffffffffffp1023},
    {ZLG_BOOL, 1, 1},
    {ZLG_INT2, 0x2, -2},
    {ZLG_INT4, 0x8, -8},
    {ZLG_UINT4, 0xf, 15},
    {ZLG_INT16, 0x8000, -32768},
    {ZLG_UINT64, UINT64_C(1) << 63, 0x1p63},
};

static void test_values_of_bits(void **state)
{
    (void)state;
    for (size_t i = 0; i < ZLGI_COUNT(exact); i++)
        if (double_of(exact[i].type, exact[i].bits) != exact[i].value)
            fail_msg("%s 0x%llx is not %a", zlgi_type_name(exact[i].type),
                     (unsigned long long)exact[i].bits, exact[i].value);
}

/* Signed narrow integers come back extended to the whole byte. */
static void test_bits_of_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < ZLGI_COUNT(exact); i++) {
        uint8_t element[8] = {0};
        zlgi_number_from_double(exact[i].type, exact[i].value, element);
        uint64_t bits = zlgi_number_to_u64(exact[i].type, element);
        if (bits != exact[i].bits)
            fail_msg("%a as %s is 0x%llx", exact[i].value, zlgi_type_name(exact[i].type),
                     (unsigned long long)bits);
    }
    assert_int_equal(bits_of(ZLG_INT4, -8), 0xf8);
    assert_int_equal(bits_of(ZLG_UINT4, 15), 0x0f);
}

static void test_all_micro_floats_survive_a_double(void **state)
{
    (void)state;
    for (int type = ZLG_FLOAT4_E2M1FN; type <= ZLG_FLOAT16; type++) {
        const zlgi_float_layout *layout = zlgi_type_float_layout((zlg_type)type);
        for (uint64_t bits = 0; bits < UINT64_C(1) << layout->n_bits; bits++) {
            double value = double_of((zlg_type)type, bits);
            uint64_t back = bits_of((zlg_type)type, value);
            if (isnan(value) ? back != layout->nan_bits : back != bits)
                fail_msg("%s 0x%llx comes back as 0x%llx", zlgi_type_name((zlg_type)type),
                         (unsigned long long)bits, (unsigned long long)back);
        }
    }
}

static void test_halves_go_to_even(void **state)
{
    (void)state;
    assert_int_equal(bits_of(ZLG_FLOAT16, 1 + 0x1p-11), 0x3c00);
    assert_int_equal(bits_of(ZLG_FLOAT16, 1 + 0x3p-11), 0x3c02);
    assert_int_equal(bits_of(ZLG_FLOAT16, nextafter(1 + 0x1p-11, 2)), 0x3c01);
    assert_int_equal(bits_of(ZLG_FLOAT16, 0x1p-25), 0);
    assert_int_equal(bits_of(ZLG_FLOAT16, nextafter(0x1p-25, 1)), 1);
    assert_int_equal(bits_of(ZLG_FLOAT16, 65519.999), 0x7bff);
    assert_int_equal(bits_of(ZLG_FLOAT16, 65520), 0x7c00);
    assert_int_equal(bits_of(ZLG_INT8, 2.5), 2);
    assert_int_equal(bits_of(ZLG_INT8, -1.5), 0xfe);
}

static void test_what_a_type_lacks(void **state)
{
    (void)state;
    assert_int_equal(bits_of(ZLG_FLOAT8_E4M3FNUZ, INFINITY), 0x80);
    assert_int_equal(bits_of(ZLG_FLOAT8_E4M3FNUZ, -0.0), 0x00);
    assert_int_equal(bits_of(ZLG_FLOAT8_E8M0FNU, 0), 0xff);
    assert_int_equal(bits_of(ZLG_FLOAT8_E8M0FNU, -1), 0xff);
    assert_int_equal(bits_of(ZLG_FLOAT4_E2M1FN, INFINITY), 0x7);
    assert_int_equal(bits_of(ZLG_FLOAT4_E2M1FN, -100), 0xf);
    assert_int_equal(bits_of(ZLG_FLOAT4_E2M1FN, NAN), 0x8);
    assert_int_equal(bits_of(ZLG_UINT8, 300), 255);
    assert_int_equal(bits_of(ZLG_INT64, 1e300), INT64_MAX);
    assert_true(bits_of(ZLG_INT64, -1e300) == UINT64_C(1) << 63);
    assert_true(bits_of(ZLG_UINT64, 1e300) == UINT64_MAX);
    assert_int_equal(bits_of(ZLG_UINT16, -1), 0);
    assert_int_equal(bits_of(ZLG_INT32, NAN), 0);
    assert_int_equal(bits_of(ZLG_INT4, 9), 7);
}

/* Bits above those of a narrow type are not looked at. */
static void test_upper_bits_do_not_count(void **state)
{
    (void)state;
    assert_true(double_of(ZLG_FLOAT4_E2M1FN, 0xf2) == 1);
    assert_true(double_of(ZLG_INT2, 0xfd) == 1);
    assert_true(double_of(ZLG_UINT4, 0xf3) == 3);
}

/* The text lies a hair above half way, which a double does not show. */
static void test_text_is_rounded_once(void **state)
{
    (void)state;
    static const struct {
        zlg_type type;
        const char *text;
        uint64_t bits;
    } cases[] = {
        {ZLG_FLOAT16, "1.00048828125", 0x3c00},
        {ZLG_FLOAT16, "1.00048828125000000000001", 0x3c01},
        {ZLG_BFLOAT16, "1.00390625", 0x3f80},
        {ZLG_BFLOAT16, "1.0039062500000000000000000001", 0x3f81},
        {ZLG_FLOAT32, "1.00000017881393432617187499", 0x3f800001},
        {ZLG_FLOAT8_E4M3, "1.0625", 0x38},
        {ZLG_FLOAT8_E4M3, "1.06250000000000000000000000001", 0x39},
        {ZLG_FLOAT4_E2M1FN, "0.25", 0x0},
        {ZLG_FLOAT4_E2M1FN, "-0.2500000000000000000000001", 0x9},
        {ZLG_FLOAT64, "-0.0", UINT64_C(1) << 63},
        {ZLG_FLOAT8_E5M2FNUZ, "-0.0", 0},
        {ZLG_FLOAT16, "-Infinity", 0xfc00},
        {ZLG_FLOAT8_E8M0FNU, "NaN", 0xff},
    };
    for (size_t i = 0; i < ZLGI_COUNT(cases); i++) {
        uint8_t element[8] = {0};
        assert_true(zlgi_number_parse(cases[i].type, cases[i].text, strlen(cases[i].text),
                                      element));
        if (zlgi_number_bits(cases[i].type, element) != cases[i].bits)
            fail_msg("%s as %s", cases[i].text, zlgi_type_name(cases[i].type));
    }
}

static void test_text_that_a_type_has_no_value_for(void **state)
{
    (void)state;
    uint8_t element[8];
    assert_false(zlgi_number_parse(ZLG_FLOAT8_E8M0FNU, "0", 1, element));
    assert_false(zlgi_number_parse(ZLG_FLOAT8_E8M0FNU, "-1", 2, element));
    assert_false(zlgi_number_parse(ZLG_FLOAT8_E4M3FNUZ, "Infinity", 8, element));
    assert_false(zlgi_number_parse(ZLG_FLOAT8_E4M3FNUZ, "1e9", 3, element));
    assert_false(zlgi_number_parse(ZLG_FLOAT6_E2M3FN, "NaN", 3, element));
    assert_false(zlgi_number_parse(ZLG_FLOAT32, "1.", 2, element));
    assert_false(zlgi_number_parse(ZLG_FLOAT32, "", 0, element));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        dtype_test(test_values_of_bits),
        dtype_test(test_bits_of_values),
        dtype_test(test_all_micro_floats_survive_a_double),
        dtype_test(test_halves_go_to_even),
        dtype_test(test_what_a_type_lacks),
        dtype_test(test_upper_bits_do_not_count),
        dtype_test(test_text_is_rounded_once),
        dtype_test(test_text_that_a_type_has_no_value_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
