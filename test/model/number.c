/*
 * Numbers against the C library, whose conversions are exact in the "C" locale: random
 * decimals to float64 and float32, random floats to the shortest text and back.
 */
#include <math.h>
#include <stdio.h>

#include "test.h"

enum { N_CASES = 200000, TEXT_ROOM = 1200 };

static uint64_t seed = 20;

static int below(int n)
{
    return (int)(test_random(&seed) % (unsigned)n);
}

static double random_double(void)
{
    double value;
    do {
        uint64_t bits = test_random(&seed);
        memcpy(&value, &bits, sizeof value);
    } while (!isfinite(value));
    return value;
}

/* All digits of a float of so many bits, and perhaps one more far behind them. With 25
 * bits it is the middle between two float32. */
static int write_all_digits(char *text, int precision, int smallest, int largest)
{
    uint64_t significand = (test_random(&seed) >> (64 - precision)) | 1;
    int exponent = smallest + below(largest - smallest);
    double value = ldexp((double)significand, exponent);
    int n = snprintf(text, TEXT_ROOM, "%.*f", exponent < 0 ? -exponent : 1, value);
    if (below(2) == 0)
        n += snprintf(text + n, (size_t)(TEXT_ROOM - n), "%0*d", 1 + below(40), below(2));
    return n;
}

static int write_decimal(char *text)
{
    switch (below(6)) {
    case 0:
        return snprintf(text, TEXT_ROOM, "%.*e", below(25), random_double());
    case 1:
        return snprintf(text, TEXT_ROOM, "%llde%d",
                        (long long)test_random(&seed) >> below(60), below(660) - 350);
    case 2:
        return snprintf(text, TEXT_ROOM, "%d.%0*llu", below(100000), 1 + below(18),
                        (unsigned long long)test_random(&seed) >> below(60));
    case 3:
        return snprintf(text, TEXT_ROOM, "%d%0*llue%d", 1 + below(1000), 1 + below(40),
                        (unsigned long long)test_random(&seed), below(120) - 80);
    case 4:
        return write_all_digits(text, 25, -150, 90);
    default:
        return write_all_digits(text, 53, -1000, 900);
    }
}

static void test_decimals_are_read_as_strtod_reads_them(void **state)
{
    (void)state;
    static char text[TEXT_ROOM + 1];
    for (int i = 0; i < N_CASES; i++) {
        int n = write_decimal(text);
        assert_true(n > 0 && n < TEXT_ROOM);
        double d, d_expected = strtod(text, NULL);
        float f, f_expected = strtof(text, NULL);
        assert_true(zlgi_parse_double(text, (size_t)n, &d));
        assert_true(zlgi_parse_float(text, (size_t)n, &f));
        if (memcmp(&d, &d_expected, sizeof d) != 0 ||
            memcmp(&f, &f_expected, sizeof f) != 0)
            fail_msg("%s: %a and %a, expected %a and %a", text, d, (double)f, d_expected,
                     (double)f_expected);
    }
}

/* The digits of "-1.25e-07" without zeros at either end; how many they are. */
static int take_digits(const char *text, char digits[32])
{
    int n = 0, n_kept = 0;
    for (; *text != '\0' && *text != 'e'; text++) {
        if (*text < '0' || *text > '9' || (*text == '0' && n == 0))
            continue;
        digits[n++] = *text;
        if (*text != '0')
            n_kept = n;
    }
    digits[n_kept] = '\0';
    return n_kept;
}

static void test_text_is_the_shortest_and_nearest_that_comes_back(void **state)
{
    (void)state;
    zlgi_buf buf;
    zlgi_buf_init(&buf, &zlgi_default_alloc);
    for (int i = 0; i < N_CASES; i++) {
        double value = random_double();
        if (i % 3 == 1)
            value = below(1000000) * 0.001;
        else if (i % 3 == 2)
            value = ldexp(value, -ilogb(value) + below(40) - 20);
        buf.n = 0;
        assert_int_equal(zlgi_json_write_double(&buf, value, NULL), ZLG_OK);
        assert_int_equal(zlgi_buf_append(&buf, "", 1, NULL), ZLG_OK);
        double back = strtod((char *)buf.data, NULL);
        assert_memory_equal(&back, &value, sizeof value);
        char digits[32], nearest[64], nearest_digits[32];
        int n = take_digits((char *)buf.data, digits);
        if (n < 2)
            continue;
        snprintf(nearest, sizeof nearest, "%.*e", n - 2, value);
        assert_true(strtod(nearest, NULL) != value);
        snprintf(nearest, sizeof nearest, "%.*e", n - 1, value);
        take_digits(nearest, nearest_digits);
        if (strtod(nearest, NULL) == value)
            assert_string_equal(digits, nearest_digits);
    }
    zlgi_buf_reset(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decimals_are_read_as_strtod_reads_them),
        cmocka_unit_test(test_text_is_the_shortest_and_nearest_that_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
