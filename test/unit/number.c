/* Decimal text and binary floats, both ways: stated bits and stated text. */
#include <float.h>
#include <math.h>

#include "test.h"

typedef struct bits_case {
    const char *text;
    uint64_t bits;
} bits_case;

static uint64_t double_bits(const char *text)
{
    double value;
    uint64_t bits;
    assert_true(zlgi_parse_double(text, strlen(text), &value));
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint32_t float_bits(const char *text)
{
    float value;
    uint32_t bits;
    assert_true(zlgi_parse_float(text, strlen(text), &value));
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Bits of a format by the rule that base.h states. */
static uint64_t parts_bits(const char *text, zlgi_float_format format)
{
    zlgi_float_parts parts;
    assert_true(zlgi_parse_float_parts(text, strlen(text), format, &parts));
    assert_int_equal(parts.negative, text[0] == '-');
    if (parts.kind != ZLGI_FINITE)
        return parts.kind == ZLGI_INFINITE ? UINT64_MAX : UINT64_MAX - 1;
    assert_true(parts.exponent >= format.min_exponent);
    assert_true(parts.exponent <= format.max_exponent);
    return ((uint64_t)(parts.exponent - format.min_exponent) << (format.precision - 1)) +
           parts.significand;
}

static const bits_case doubles[] = {
    {"0", 0},
    {"-0", 0x8000000000000000},
    {"-0.0e5", 0x8000000000000000},
    {"1", 0x3ff0000000000000},
    {"-1.0", 0xbff0000000000000},
    {"0.1", 0x3fb999999999999a},
    {"1000e-3", 0x3ff0000000000000},
    /* The machine's own operations, at the ends of what they can do exactly. */
    {"1e22", 0x4480f0cf064dd592},
    {"1e-22", 0x3b5e392010175ee6},
    {"9007199254740992e22", 0x47d0f0cf064dd592},
    {"9007199254740993e-22", 0x3eae392010175ee7},
    {"1e23", 0x44b52d02c7e14af6},
    {"8.41e21", 0x447c7e83209e90b2},
    {"6.02214076E+23", 0x44dfe185ca57c517},
    {"9.969209968386869e+36", 0x479e000000000000},
    {"123456789012345678901234567890", 0x45f8ee90ff6c373e},
    /* Half way: to the even neighbour, and to where a last digit points. */
    {"9007199254740993", 0x4340000000000000},
    {"9007199254740995", 0x4340000000000002},
    {"9007199254740992.999999999999999999999", 0x4340000000000000},
    {"9007199254740993.000000000000000000001", 0x4340000000000001},
    {"90071992547409930000000000000000000000001e-25", 0x4340000000000001},
    /* Around the smallest normal, the smallest of all and half of it. */
    {"2.2250738585072011e-308", 0x000fffffffffffff},
    {"2.2250738585072012e-308", 0x0010000000000000},
    {"4.9406564584124654e-324", 1},
    {"2.4703282292062328e-324", 1},
    {"2.4703282292062327e-324", 0},
    {"-1e-400", 0x8000000000000000},
    /* Around the largest. */
    {"1.7976931348623157e308", 0x7fefffffffffffff},
    {"1.7976931348623158e308", 0x7fefffffffffffff},
    {"1.7976931348623159e308", 0x7ff0000000000000},
    {"17976931348623157e292", 0x7fefffffffffffff},
    {"-1e309", 0xfff0000000000000},
    /* Exponents that fit no integer; zeros make up for some of them. */
    {"1e99999999999999999999999999", 0x7ff0000000000000},
    {"1e-99999999999999999999999999", 0},
    {"0e99999999999999999999999999", 0},
    {"0.00000000000000000000000000000001e32", 0x3ff0000000000000},
    {"100000000000000000000000000000000e-32", 0x3ff0000000000000},
    {"NaN", 0x7ff8000000000000},
    {"Infinity", 0x7ff0000000000000},
    {"-Infinity", 0xfff0000000000000}};

static void test_doubles(void **state)
{
    (void)state;
    for (size_t i = 0; i < ZLGI_COUNT(doubles); i++)
        assert_int_equal(double_bits(doubles[i].text), doubles[i].bits);
}

/* A digit that decides stands behind any number of others. */
static void test_a_late_digit_decides(void **state)
{
    (void)state;
    static char text[5000];
    for (size_t n_zeros = 1; n_zeros < 4000; n_zeros += 37) {
        memcpy(text, "9007199254740993.", 17);
        memset(text + 17, '0', n_zeros);
        strncpy(text + 17 + n_zeros, "0", 2);
        assert_int_equal(double_bits(text), 0x4340000000000000);
        strncpy(text + 17 + n_zeros, "1", 2);
        assert_int_equal(double_bits(text), 0x4340000000000001);
    }
}

/* 2^-1075 is half of the smallest float64; 5^1075 are its 752 digits. */
static void test_the_longest_ties(void **state)
{
    (void)state;
    static uint8_t digits[1200];
    size_t n = 1;
    digits[0] = 1;
    for (int power = 0; power < 1075; power++) {
        unsigned carry = 0;
        for (size_t i = 0; i < n; i++) {
            carry += digits[i] * 5u;
            digits[i] = (uint8_t)(carry % 10);
            carry /= 10;
        }
        if (carry != 0)
            digits[n++] = (uint8_t)carry;
    }
    assert_int_equal(n, 752);
    static char text[1300];
    for (size_t i = 0; i < n; i++)
        text[i] = (char)('0' + digits[n - 1 - i]);
    strncpy(text + n, "e-1075", 7);
    assert_int_equal(double_bits(text), 0);
    strncpy(text + n, ".0000000000000000000000000000000001e-1075", 42);
    assert_int_equal(double_bits(text), 1);
    text[n - 1]--;
    assert_int_equal(double_bits(text), 0);
}

static const bits_case floats[] = {
    {"0.1", 0x3dcccccd},
    {"-0.0", 0x80000000},
    {"3.14159274", 0x40490fdb},
    {"16777217", 0x4b800000},
    {"16777219", 0x4b800002},
    /* The nearest float64 of these is half way between two float32: rounding twice
     * would go wrong. */
    {"16777217.0000000001", 0x4b800001},
    {"16777218.9999999999", 0x4b800001},
    {"1.00000017881393432617187499", 0x3f800001},
    {"1.00000017881393432617187500", 0x3f800002},
    {"1.00000005960464477539062501", 0x3f800001},
    {"7.006492321624085e-46", 0},
    {"7.006492321624086e-46", 1},
    {"1.17549421e-38", 0x007fffff},
    {"1.1754943508222875e-38", 0x00800000},
    {"340282356779733661637539395458142568447", 0x7f7fffff},
    {"340282356779733661637539395458142568448", 0x7f800000},
    {"-1e39", 0xff800000},
    {"1e-46", 0},
    {"NaN", 0x7fc00000},
    {"-Infinity", 0xff800000}};

static void test_floats_are_rounded_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < ZLGI_COUNT(floats); i++)
        assert_int_equal(float_bits(floats[i].text), floats[i].bits);
}

static const bits_case halves[] = {{"0.1", 0x2e66},
                                   {"2049", 0x6800},
                                   {"2051", 0x6802},
                                   {"2049.00000000000000000000000001", 0x6801},
                                   {"65504", 0x7bff},
                                   {"65519.9999999999999999999999", 0x7bff},
                                   {"65520", UINT64_MAX},
                                   {"298023223876953125e-25", 0},
                                   {"2980232238769531250000000000001e-38", 1},
                                   {"6.103515625e-05", 0x0400},
                                   {"6.0975551605224609375e-05", 0x03ff},
                                   {"NaN", UINT64_MAX - 1},
                                   {"-Infinity", UINT64_MAX}};

static const bits_case bfloats[] = {
    {"0.1", 0x3dcd}, {"257", 0x4380},     {"257.0000000000000000000001", 0x4381},
    {"259", 0x4382}, {"3.39e38", 0x7f7f}, {"3.4e38", UINT64_MAX},
    {"1e-41", 0},    {"9.2e-41", 1}};

/* One bit of precision: powers of two, and the middle goes to the even significand. */
static const bits_case powers[] = {
    {"1", 128}, {"1.49", 128},   {"1.5", 129},          {"1.51", 129},
    {"3", 130}, {"1.7e38", 255}, {"2.6e38", UINT64_MAX}};

/* Three bits, 2^-16 to 57344. */
static const bits_case quarters[] = {
    {"1", 0x3c},     {"1.125", 0x3c},    {"1.1250001", 0x3d},   {"1.375", 0x3e},
    {"57344", 0x7b}, {"61439.99", 0x7b}, {"61440", UINT64_MAX}, {"7.62939453125e-6", 0},
    {"7.63e-6", 1},  {"2.2888e-5", 1},   {"2.2889e-5", 2}};

static void test_other_formats(void **state)
{
    (void)state;
    const zlgi_float_format power_of_two = {1, -127, 127}, float8_e5m2 = {3, -16, 13};
    for (size_t i = 0; i < ZLGI_COUNT(halves); i++)
        assert_int_equal(parts_bits(halves[i].text, ZLGI_FORMAT_FLOAT16), halves[i].bits);
    for (size_t i = 0; i < ZLGI_COUNT(bfloats); i++)
        assert_int_equal(parts_bits(bfloats[i].text, ZLGI_FORMAT_BFLOAT16),
                         bfloats[i].bits);
    for (size_t i = 0; i < ZLGI_COUNT(powers); i++)
        assert_int_equal(parts_bits(powers[i].text, power_of_two), powers[i].bits);
    for (size_t i = 0; i < ZLGI_COUNT(quarters); i++)
        assert_int_equal(parts_bits(quarters[i].text, float8_e5m2), quarters[i].bits);
}

static void test_only_numbers_of_json_are_taken(void **state)
{
    (void)state;
    static const char *const refused[] = {
        "",     "-",   "+1",   "01",        "-01",      "1.",     ".5",  "-.5",
        "1e",   "1e+", "1.e5", "0x10",      " 1",       "1 ",     "1,5", "1e5x",
        "1e5.", "--1", "nan",  "inf",       "-NaN",     "NaN ",   "Inf", "-Inf",
        "INF",  "1_0", "1d0",  "+Infinity", "infinity", "Infinit"};
    for (size_t i = 0; i < ZLGI_COUNT(refused); i++) {
        double d = 5;
        float f = 5;
        assert_false(zlgi_parse_double(refused[i], strlen(refused[i]), &d));
        assert_false(zlgi_parse_float(refused[i], strlen(refused[i]), &f));
        assert_true(d == 5 && f == 5);
    }
    double d;
    assert_false(zlgi_parse_double("1\0", 2, &d));
    assert_true(zlgi_parse_double("12", 1, &d) && d == 1);
}

static void test_span_is_the_longest_number(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t n;
    } spans[] = {{"12,", 2}, {"-0.5e-3]", 7}, {"012", 1},  {"-x", 0},
                 {"1.x", 1}, {"1e+", 1},      {"1ex", 1},  {"1E5E", 3},
                 {"NaN", 0}, {"", 0},         {"1.5.5", 3}};
    for (size_t i = 0; i < ZLGI_COUNT(spans); i++)
        assert_int_equal(zlgi_number_span(spans[i].text, strlen(spans[i].text)),
                         spans[i].n);
}

/* ------------------------------------------------------------------ to text */

static const char *text_of(zlg_status status, zlgi_buf *buf)
{
    assert_int_equal(status, ZLG_OK);
    assert_int_equal(zlgi_buf_append(buf, "", 1, NULL), ZLG_OK);
    buf->n = 0;
    return (const char *)buf->data;
}

static void test_shortest_text_of_doubles(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0.0, "0.0"},
                 {-0.0, "-0.0"},
                 {1.0, "1.0"},
                 {-100.0, "-100.0"},
                 {0.1, "0.1"},
                 {0.1 + 0.2, "0.30000000000000004"},
                 {1.0 / 3, "0.3333333333333333"},
                 {273.15, "273.15"},
                 {1e15, "1000000000000000.0"},
                 {9999999999999998.0, "9999999999999998.0"},
                 {1e16, "1e+16"},
                 {1.5e16, "1.5e+16"},
                 {123456789012345680.0, "1.2345678901234568e+17"},
                 {1e23, "1e+23"},
                 {1e300, "1e+300"},
                 {0.0001, "0.0001"},
                 {0.00012345, "0.00012345"},
                 {0.00001, "1e-05"},
                 {1.5e-7, "1.5e-07"},
                 {9007199254740992.0, "9007199254740992.0"},
                 {0x1p-44, "5.684341886080802e-14"},
                 {0x1p-1074, "5e-324"},
                 {0x1p-1073, "1e-323"},
                 {DBL_MIN, "2.2250738585072014e-308"},
                 {DBL_MAX, "1.7976931348623157e+308"},
                 {(double)NAN, "\"NaN\""},
                 {(double)INFINITY, "\"Infinity\""},
                 {-(double)INFINITY, "\"-Infinity\""}};
    zlgi_buf buf;
    zlgi_buf_init(&buf, &zlgi_default_alloc);
    for (size_t i = 0; i < ZLGI_COUNT(cases); i++)
        assert_string_equal(
            text_of(zlgi_json_write_double(&buf, cases[i].value, NULL), &buf),
            cases[i].text);
    zlgi_buf_reset(&buf);
}

static void test_shortest_text_of_floats(void **state)
{
    (void)state;
    static const struct {
        float value;
        const char *text;
    } cases[] = {{0.1f, "0.1"},
                 {-0.0f, "-0.0"},
                 {273.15f, "273.15"},
                 {1.0f / 3, "0.33333334"},
                 {16777215.0f, "16777215.0"},
                 {16777216.0f, "16777216.0"},
                 {1e10f, "10000000000.0"},
                 {0.0001f, "0.0001"},
                 {0x1p-149f, "1e-45"},
                 {FLT_MIN, "1.1754944e-38"},
                 {FLT_MAX, "3.4028235e+38"},
                 {NAN, "\"NaN\""},
                 {-INFINITY, "\"-Infinity\""}};
    zlgi_buf buf;
    zlgi_buf_init(&buf, &zlgi_default_alloc);
    for (size_t i = 0; i < ZLGI_COUNT(cases); i++)
        assert_string_equal(
            text_of(zlgi_json_write_float(&buf, cases[i].value, NULL), &buf),
            cases[i].text);
    zlgi_buf_reset(&buf);
}

static void test_shortest_text_of_other_formats(void **state)
{
    (void)state;
    static const struct {
        zlgi_float_format format;
        uint64_t significand;
        int exponent;
        const char *text;
    } cases[] = {{{11, -24, 5}, 0x666, -14, "0.1"},
                 {{11, -24, 5}, 0x7ff, 5, "65500.0"},
                 {{11, -24, 5}, 1, -24, "6e-08"},
                 {{8, -133, 120}, 0xcd, -11, "0.1"},
                 {{8, -133, 120}, 0xff, 120, "3.39e+38"},
                 {{1, -127, 127}, 1, 3, "8.0"},
                 {{1, -127, 127}, 1, -1, "0.5"},
                 {{1, -127, 127}, 1, 4, "20.0"},
                 {{2, -1, 1}, 3, 1, "6.0"},
                 {{2, -1, 1}, 1, -1, "0.5"}};
    zlgi_buf buf;
    zlgi_buf_init(&buf, &zlgi_default_alloc);
    for (size_t i = 0; i < ZLGI_COUNT(cases); i++) {
        zlgi_float_parts parts = {.kind = ZLGI_FINITE,
                                  .significand = cases[i].significand,
                                  .exponent = cases[i].exponent};
        zlg_status status =
            zlgi_json_write_float_parts(&buf, &parts, cases[i].format, NULL);
        assert_string_equal(text_of(status, &buf), cases[i].text);
    }
    zlgi_buf_reset(&buf);
}

/* Every float16 comes back from its text, and no text is longer than five digits. */
static void test_every_half_comes_back(void **state)
{
    (void)state;
    const zlgi_float_format format = ZLGI_FORMAT_FLOAT16;
    zlgi_buf buf;
    zlgi_buf_init(&buf, &zlgi_default_alloc);
    for (uint64_t bits = 0; bits < 0x7c00; bits++) {
        uint64_t scale = bits >> 10;
        zlgi_float_parts parts = {.kind = ZLGI_FINITE,
                                  .significand = (bits & 0x3ff) | (scale > 0 ? 0x400 : 0),
                                  .exponent = -24 + (int)scale - (scale > 0)};
        const char *text =
            text_of(zlgi_json_write_float_parts(&buf, &parts, format, NULL), &buf);
        assert_int_equal(parts_bits(text, format), bits);
        size_t n_digits = 0;
        for (const char *c = text; *c != '\0' && *c != 'e'; c++)
            n_digits += *c != '.' && (*c != '0' || n_digits > 0);
        assert_true(n_digits <= (strchr(text, 'e') != NULL ? 5 : 6));
    }
    zlgi_buf_reset(&buf);
}

static void test_no_memory(void **state)
{
    (void)state;
    test_heap heap;
    test_heap_init(&heap);
    heap.fail_at = 1;
    zlgi_buf buf;
    zlgi_buf_init(&buf, &heap.alloc);
    assert_int_equal(zlgi_json_write_double(&buf, 0.1, NULL), ZLG_NO_MEMORY);
    assert_int_equal(zlgi_json_write_float(&buf, NAN, NULL), ZLG_NO_MEMORY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_doubles),
        cmocka_unit_test(test_a_late_digit_decides),
        cmocka_unit_test(test_the_longest_ties),
        cmocka_unit_test(test_floats_are_rounded_once),
        cmocka_unit_test(test_other_formats),
        cmocka_unit_test(test_only_numbers_of_json_are_taken),
        cmocka_unit_test(test_span_is_the_longest_number),
        cmocka_unit_test(test_shortest_text_of_doubles),
        cmocka_unit_test(test_shortest_text_of_floats),
        cmocka_unit_test(test_shortest_text_of_other_formats),
        cmocka_unit_test(test_every_half_comes_back),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
