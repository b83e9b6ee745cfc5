/* Status table and messages: order of contexts, cutting, bytes that are no text. */
#include <stdio.h>

#include "test.h"

static void test_names_and_exit_codes_come_from_the_table(void **state)
{
    (void)state;
    assert_string_equal(zlg_status_name(ZLG_OK), "ok");
    assert_string_equal(zlg_status_name(ZLG_CORRUPT), "corrupt");
    assert_string_equal(zlg_status_name((zlg_status)12345), "unknown");
    assert_int_equal(zlg_status_exit_code(ZLG_OK), 0);
    assert_int_equal(zlg_status_exit_code(ZLG_USAGE), 2);
    assert_int_equal(zlg_status_exit_code(ZLG_CANCELLED), 11);
    assert_int_equal(zlg_status_exit_code((zlg_status)12345), 1);
}

static void test_version_is_that_of_the_header(void **state)
{
    (void)state;
    char expected[32];
    snprintf(expected, sizeof expected, "%d.%d.%d", ZLG_VERSION_MAJOR, ZLG_VERSION_MINOR,
             ZLG_VERSION_PATCH);
    assert_string_equal(zlg_version(), expected);
}

static void test_message_is_built_from_the_outside_in(void **state)
{
    (void)state;
    zlg_error err;
    zlg_status status =
        zlgi_fail(&err, ZLG_CORRUPT, "frame ends after %d of %d bytes", 812, 4096);
    status = zlgi_within(&err, status, "codec %s", "zstd");
    status = zlgi_within(&err, status, "chunk c/%d/%d", 3, 7);
    assert_int_equal(status, ZLG_CORRUPT);
    assert_int_equal(err.status, ZLG_CORRUPT);
    assert_string_equal(err.message,
                        "chunk c/3/7: codec zstd: frame ends after 812 of 4096 bytes");
}

static void test_what_a_message_begins_with(void **state)
{
    (void)state;
    zlg_error err;
    zlgi_fail(&err, ZLG_CORRUPT, "array a: codec zstd: no frame");
    assert_true(zlgi_error_begins(&err, "array %s", "a"));
    assert_true(zlgi_error_begins(&err, "array a: codec zstd: no frame"));
    assert_false(zlgi_error_begins(&err, "array"));
    assert_false(zlgi_error_begins(&err, "codec zstd"));
    assert_false(zlgi_error_begins(&err, "array a: codec zstd: no frame: nor more"));
}

static void test_context_of_an_empty_message_stands_alone(void **state)
{
    (void)state;
    zlg_error err = {.status = ZLG_NOT_FOUND};
    assert_int_equal(zlgi_within(&err, ZLG_NOT_FOUND, "chunk c/0"), ZLG_NOT_FOUND);
    assert_string_equal(err.message, "chunk c/0");
}

static void test_success_leaves_the_error_alone(void **state)
{
    (void)state;
    zlg_error err = {.status = ZLG_IO, .message = "old"};
    assert_int_equal(zlgi_within(&err, ZLG_OK, "array a"), ZLG_OK);
    assert_int_equal(err.status, ZLG_IO);
    assert_string_equal(err.message, "old");
}

static void test_error_may_be_null(void **state)
{
    (void)state;
    assert_int_equal(zlgi_fail(NULL, ZLG_IO, "x"), ZLG_IO);
    assert_int_equal(zlgi_within(NULL, ZLG_IO, "x"), ZLG_IO);
    assert_int_equal(zlgi_no_memory(NULL, 7), ZLG_NO_MEMORY);
}

static void test_old_message_may_be_an_argument(void **state)
{
    (void)state;
    zlg_error err;
    zlgi_fail(&err, ZLG_IO, "inner");
    zlgi_fail(&err, ZLG_METADATA, "outer (%s)", err.message);
    assert_string_equal(err.message, "outer (inner)");
}

static void test_long_message_is_cut_between_characters(void **state)
{
    (void)state;
    /* Two, three and four bytes a character, at every phase of the cut. */
    static const char *const characters[] = {"\xc3\xa9", "\xe2\x82\xac",
                                             "\xf0\x9f\x98\x80"};
    for (size_t c = 0; c < ZLGI_COUNT(characters); c++)
        for (size_t phase = 0; phase < 4; phase++) {
            char text[2048];
            size_t n = 0, n_character = strlen(characters[c]);
            memset(text, 'x', phase);
            for (n = phase; n + n_character < sizeof text; n += n_character)
                memcpy(text + n, characters[c], n_character);
            text[n] = '\0';
            zlg_error err;
            zlgi_fail(&err, ZLG_IO, "%s", text);
            size_t n_message = strlen(err.message);
            assert_true(n_message <= sizeof err.message - 1);
            assert_true(n_message > sizeof err.message - 1 - n_character);
            assert_true(zlgi_utf8_valid((const uint8_t *)err.message, n_message));
            assert_memory_equal(err.message, text, n_message);
        }
}

static void test_long_context_leaves_the_cause_whole(void **state)
{
    (void)state;
    char path[2048];
    memset(path, 'p', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    zlg_error err;
    zlgi_fail(&err, ZLG_CORRUPT, "checksum is 1, not 2");
    zlgi_within(&err, ZLG_CORRUPT, "array %s", path);
    const char *cause = strstr(err.message, ": checksum is 1, not 2");
    assert_non_null(cause);
    assert_string_equal(cause, ": checksum is 1, not 2");
    assert_memory_equal(err.message, "array ppp", 9);
}

static void test_bytes_that_are_no_text_become_question_marks(void **state)
{
    (void)state;
    zlg_error err;
    zlgi_fail(&err, ZLG_METADATA, "name '%s'", "a\x1b[31m\n\x7f");
    assert_string_equal(err.message, "name 'a?[31m?\?'");
    zlgi_fail(&err, ZLG_METADATA, "name '%s'", "\xff\xc3\xa9");
    assert_string_equal(err.message, "name '?\?\?'");
    zlgi_fail(&err, ZLG_METADATA, "name '%s'", "\xc3\xa9");
    assert_string_equal(err.message, "name '\xc3\xa9'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_and_exit_codes_come_from_the_table),
        cmocka_unit_test(test_version_is_that_of_the_header),
        cmocka_unit_test(test_message_is_built_from_the_outside_in),
        cmocka_unit_test(test_what_a_message_begins_with),
        cmocka_unit_test(test_context_of_an_empty_message_stands_alone),
        cmocka_unit_test(test_success_leaves_the_error_alone),
        cmocka_unit_test(test_error_may_be_null),
        cmocka_unit_test(test_old_message_may_be_an_argument),
        cmocka_unit_test(test_long_message_is_cut_between_characters),
        cmocka_unit_test(test_long_context_leaves_the_cause_whole),
        cmocka_unit_test(test_bytes_that_are_no_text_become_question_marks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
