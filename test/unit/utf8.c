/* UTF-8: the border cases of every length, at every place in a text. */
#include "test.h"

static size_t span(const char *text)
{
    return zlgi_utf8_span((const uint8_t *)text, strlen(text));
}

static void test_first_and_last_of_each_length(void **state)
{
    (void)state;
    assert_int_equal(zlgi_utf8_span((const uint8_t *)"", 1), 1); /* NUL is a character */
    assert_int_equal(span("\x7f"), 1);
    assert_int_equal(span("\xc2\x80"), 2);
    assert_int_equal(span("\xdf\xbf"), 2);
    assert_int_equal(span("\xe0\xa0\x80"), 3);
    assert_int_equal(span("\xed\x9f\xbf"), 3);
    assert_int_equal(span("\xee\x80\x80"), 3);
    assert_int_equal(span("\xef\xbf\xbf"), 3);
    assert_int_equal(span("\xf0\x90\x80\x80"), 4);
    assert_int_equal(span("\xf4\x8f\xbf\xbf"), 4);
}

static void test_nothing_is_no_character(void **state)
{
    (void)state;
    assert_int_equal(zlgi_utf8_span((const uint8_t *)"a", 0), 0);
    assert_true(zlgi_utf8_valid((const uint8_t *)"a", 0));
}

/* The last byte of each is what breaks it, or would have to follow. */
static const char *const malformed[] = {"\x80",
                                        "\xbf",
                                        "\xc0\x80",
                                        "\xc1\xbf",
                                        "\xc2",
                                        "\xc2\x7f",
                                        "\xc2\xc0",
                                        "\xdf\x00",
                                        "\xe0\x9f\xbf",
                                        "\xe0\xa0",
                                        "\xe1\x80",
                                        "\xe1\x7f\x80",
                                        "\xe1\x80\x7f",
                                        "\xe1\x80\xc0",
                                        "\xed\xa0\x80",
                                        "\xed\xbf\xbf",
                                        "\xf0\x8f\xbf\xbf",
                                        "\xf0\x90\x80",
                                        "\xf1\x80\x80",
                                        "\xf1\x80\x80\x7f",
                                        "\xf1\x80\x7f\x80",
                                        "\xf1\x7f\x80\x80",
                                        "\xf4\x90\x80\x80",
                                        "\xf5\x80\x80\x80",
                                        "\xf8\x88\x80\x80",
                                        "\xfe",
                                        "\xff"};

static void test_malformed_at_every_offset(void **state)
{
    (void)state;
    for (size_t i = 0; i < ZLGI_COUNT(malformed); i++) {
        assert_int_equal(span(malformed[i]), 0);
        for (size_t offset = 0; offset < 20; offset++) {
            uint8_t text[40];
            memset(text, 'x', sizeof text);
            size_t n = strlen(malformed[i]);
            memcpy(text + offset, malformed[i], n);
            assert_false(zlgi_utf8_valid(text, offset + n));
        }
    }
}

static void test_well_formed_text_of_every_length(void **state)
{
    (void)state;
    static const char text[] =
        "grad \xc2\xb0, \xe6\xb8\xa9\xe5\xba\xa6, \xf0\x9f\x98\x80 end";
    size_t n_valid = 0;
    for (size_t n = 0; n < sizeof text; n++)
        n_valid += zlgi_utf8_valid((const uint8_t *)text, n);
    /* All lengths but those that cut one of the four characters beyond ASCII. */
    assert_int_equal(n_valid, sizeof text - (1 + 2 + 2 + 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_and_last_of_each_length),
        cmocka_unit_test(test_nothing_is_no_character),
        cmocka_unit_test(test_malformed_at_every_offset),
        cmocka_unit_test(test_well_formed_text_of_every_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
