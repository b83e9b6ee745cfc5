/* Which chunks count as empty: by bits, and by the looser rule of zarr-python, for each
 * kind of type; and arrays of version 2 whose fill value is null. */
#define _GNU_SOURCE
#include "change_test.h"

#define RECORD "[[\"a\",\"<f4\"],[\"t\",\"<M8[s]\"],[\"n\",\"|S2\"],[\"c\",\"<c8\",[2]]]"
#define ONES "\"AACAPwEAAAAAAAAAYWIAAIA/AAAAAAAAgD8AAAAA\""

typedef struct empty_case {
    const char *dtype, *fill; /* of version 2 */
    const char *element;      /* all elements, as they are stored: hexadecimal */
    bool strict, loose;       /* empty */
} empty_case;

static const empty_case cases[] = {
    {"\"<f4\"", "0", "00000000", true, true},
    {"\"<f4\"", "0", "00000080", false, false}, /* -0.0 is another */
    {"\">f4\"", "-0.0", "80000000", true, true},
    {"\">f4\"", "-0.0", "00000000", false, false},
    {"\">f4\"", "1.5", "3fc00000", true, true},
    {"\">f4\"", "1.5", "0000c03f", false, false},
    {"\"<f4\"", "\"NaN\"", "0000c07f", true, true},
    {"\"<f4\"", "\"NaN\"", "0100c0ff", false, true},
    {"\">f4\"", "\"NaN\"", "ffc00001", false, true},
    {"\"<f4\"", "\"NaN\"", "0000807f", false, false}, /* infinity */
    {"\"<f2\"", "\"NaN\"", "017e", false, true},
    {"\">f2\"", "\"NaN\"", "fc01", false, true},
    {"\">f2\"", "0", "8000", false, false},
    {"\">f8\"", "\"NaN\"", "fff8000000000001", false, true},
    {"\"<c8\"", "[0,0]", "0000008000000000", false, true},
    {"\">c8\"", "[0,-0.0]", "8000000000000000", false, true},
    {"\">c8\"", "[0,1]", "800000003f800000", false, true},
    {"\">c8\"", "[0,1]", "80000000bf800000", false, false},
    {"\">c16\"", "[\"NaN\",1]", "3ff00000000000007ff8000000000000", false, true},
    {"\">i2\"", "258", "0102", true, true},
    {"\">i2\"", "258", "0201", false, false},
    {"\"|b1\"", "true", "01", true, true},
    {"\"|S2\"", "\"YQ==\"", "6100", true, true},
    {"\"|S2\"", "\"YQ==\"", "6162", false, false},
    {"\">U1\"", "\"a\"", "00000061", true, true},
    {"\"|V2\"", "\"AQI=\"", "0102", true, true},
    {"\"<M8[s]\"", "\"NaT\"", "0000000000000080", true, true},
    {"\">m8[ns]\"", "\"NaT\"", "8000000000000000", true, true},
    {"\">m8[ns]\"", "3", "0000000000000003", true, true},
    /* Fields compare by value, and neither a NaN nor a NaT equals itself. */
    {RECORD, ONES, "0000803f010000000000000061620000803f000000000000803f00000000", true,
     true},
    {RECORD, ONES, "0000803f010000000000000061620000803f000000800000803f00000080", false,
     true},
    {RECORD, ONES, "0000803f010000000000000061620000803f000000000000803f0000803f", false,
     false},
    {RECORD, ONES, "0000803f010000000000000061630000803f000000000000803f00000000", false,
     false},
    {RECORD, "0", "000000800000000000000000000000000000000000000000000000000080", false,
     true},
    {RECORD, "\"AADAfwAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"",
     "0000c07f0000000000000000000000000000000000000000000000000000", true, false},
    {RECORD, "\"AAAAAAAAAAAAAACAAAAAAAAAAAAAAAAAAAAAAAAA\"",
     "000000000000000000000080000000000000000000000000000000000000", true, false},
    {RECORD, "\"AAAAAAAAAAAAAAAAAAAAAAAAAADAfwAAAAAAAAAA\"",
     "0000000000000000000000000000000000000000c07f0000000000000000", true, false},
    {"[[\"a\",\">f4\"],[\"b\",[[\"x\",\">f8\"]]]]", "0", "800000008000000000000000", false,
     true},
};

static size_t bytes_of(const char *hex, uint8_t *out)
{
    size_t n = strlen(hex) / 2;
    for (size_t i = 0; i < n; i++) {
        char pair[3] = {hex[2 * i], hex[2 * i + 1], 0};
        out[i] = (uint8_t)strtoul(pair, NULL, 16);
    }
    return n;
}

static zlg_array *open_v2(zlg_store *store, const char *dtype, const char *fill,
                          const char *filters)
{
    char text[2000];
    zlg_array *array;
    snprintf(text, sizeof text,
             "{\"zarr_format\":2,\"shape\":[4],\"chunks\":[2],\"dtype\":%s,"
             "\"fill_value\":%s,\"order\":\"C\",\"filters\":%s,\"compressor\":null}",
             dtype, fill, filters);
    put_text(store, ".zarray", text);
    MUST(zlg_array_open(store, "", NULL, &array, err_));
    return array;
}

/* The element as it is stored comes back out of a chunk that is put there by hand, in
 * native order, and is written to the other. */
static void check_case(zlg_store *store, const empty_case *c)
{
    uint8_t element[64], chunk[128], out[256];
    size_t n = bytes_of(c->element, element);
    zlg_array *array = open_v2(store, c->dtype, c->fill, "null");
    const zlg_axis first = {.start = 0, .step = 1, .count = 2},
                   second = {.start = 2, .step = 1, .count = 2};
    const zlg_selection a = {.kind = ZLG_BOX, .rank = 1, .axes = &first},
                        b = {.kind = ZLG_BOX, .rank = 1, .axes = &second};
    memcpy(chunk, element, n);
    memcpy(chunk + n, element, n);
    MUST(zlg_store_put(store, "0", chunk, 2 * n, err_));
    MUST(zlg_array_read(array, &a, &(zlg_target){.data = out}, NULL, err_));
    for (int loose = 0; loose < 2; loose++) {
        zlg_call call = ZLG_CALL_INIT;
        call.loose_fill = loose;
        MUST(zlg_array_write(array, &b, &(zlg_source){.data = out}, &call, err_));
        if (has_key(store, "1") == (loose ? c->loose : c->strict))
            fail_msg("%s %s %s, loose %d", c->dtype, c->fill, c->element, loose);
    }
    zlg_array_close(array);
}

static void test_rules(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    for (size_t i = 0; i < ZLGI_COUNT(cases); i++)
        check_case(f.stores[0], &cases[i]);
    close_fixture(&f);
}

/* One element that differs is enough, wherever it is. */
static void test_all_elements_count(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    zlg_array *array = open_v2(f.stores[0], "\"<c8\"", "0", "null");
    for (int i = 0; i < 4; i++) {
        float elements[4][2] = {{-0.0f, 0}, {0, -0.0f}, {-0.0f, 0}, {0, 0}};
        zlg_call call = ZLG_CALL_INIT;
        call.loose_fill = 1;
        elements[i][1] = 1;
        MUST(zlg_array_write(array, NULL, &(zlg_source){.data = elements}, &call, err_));
        assert_int_equal(has_key(f.stores[0], "0"), i < 2);
        assert_int_equal(has_key(f.stores[0], "1"), i >= 2);
    }
    zlg_array_close(array);
    close_fixture(&f);
}

/* ------------------------------------------------------------------ null */

/* An undefined fill value is none; by the loose rule it is zero, of times NaT. */
static void test_undefined_fill_value(void **state)
{
    (void)state;
    static const struct {
        const char *dtype, *empty, *full;
    } types[] = {
        {"\"<i4\"", "00000000", "01000000"},
        {"\"<f4\"", "00000000", "00000080"},
        {"\"<c8\"", "0000000000000080", "0000803f00000000"},
        {"\"|b1\"", "00", "01"},
        {"\"|S2\"", "0000", "6100"},
        {"\"<M8[s]\"", "0000000000000080", "0000000000000000"},
        {"\"<m8[ns]\"", "0000000000000080", "0000000000000000"},
        {"[[\"a\",\"<f4\"],[\"b\",\"|u1\"]]", "0000008000", "0000000001"},
    };
    fixture f;
    open_fixture(&f);
    for (size_t i = 0; i < ZLGI_COUNT(types); i++) {
        zlg_array *array = open_v2(f.stores[0], types[i].dtype, "null", "null");
        for (int kind = 0; kind < 6; kind++) {
            zlg_call call = ZLG_CALL_INIT;
            uint8_t elements[64];
            bool loose = kind & 1;
            call.loose_fill = loose;
            call.keep_empty = kind / 2 - 1;
            size_t n = bytes_of(types[i].empty, elements);
            for (size_t k = 1; k < 4; k++)
                memcpy(elements + k * n, elements, n);
            bytes_of(types[i].full, elements + 2 * n);
            MUST(
                zlg_array_write(array, NULL, &(zlg_source){.data = elements}, &call, err_));
            assert_int_equal(has_key(f.stores[0], "0"), !loose || call.keep_empty == 1);
            assert_true(has_key(f.stores[0], "1"));
        }
        zlg_array_close(array);
    }
    close_fixture(&f);
}

static void test_undefined_words(void **state)
{
    (void)state;
    static const int64_t offsets[] = {0, 0, 0, 0, 1};
    fixture f;
    open_fixture(&f);
    zlg_array *array = open_v2(f.stores[0], "\"|O\"", "null", "[{\"id\":\"vlen-utf8\"}]");
    for (int loose = 0; loose < 2; loose++) {
        zlg_call call = ZLG_CALL_INIT;
        call.loose_fill = loose;
        MUST(zlg_array_write(array, NULL, &(zlg_source){.data = "x", .offsets = offsets},
                             &call, err_));
        assert_int_equal(has_key(f.stores[0], "0"), !loose);
        assert_true(has_key(f.stores[0], "1"));
    }
    zlg_array_close(array);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_all_elements_count),
        cmocka_unit_test(test_undefined_fill_value),
        cmocka_unit_test(test_undefined_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
