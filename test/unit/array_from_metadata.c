/* Arrays from documents that lie elsewhere, and over stores of others. */
#define _GNU_SOURCE
#include "change_test.h"

#define V3                                                                                 \
    "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[5,4],\"data_type\":\"int16\","  \
    "\"chunk_grid\":" REGULAR("[2,4]") ",\"chunk_key_encoding\":{\"name\":\"default\"},"   \
                                       "\"fill_value\":-3,\"codecs\":[" BIG "," CRC "],"   \
                                       "\"attributes\":{\"title\":\"far away\"}}"
#define V2                                                                                 \
    "{\"zarr_format\":2,\"shape\":[5,4],\"chunks\":[2,4],\"dtype\":\">i2\","               \
    "\"fill_value\":-3,\"order\":\"F\",\"filters\":null,\"compressor\":null"

static void read_all(zlg_array *array, int16_t out[20])
{
    memset(out, 0, 20 * sizeof *out);
    MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, NULL, err_));
}

static void write_count(zlg_array *array)
{
    int16_t elements[20];
    for (int16_t i = 0; i < 20; i++)
        elements[i] = i;
    MUST(zlg_array_write(array, NULL, &(zlg_source){.data = elements}, NULL, err_));
}

static void check_title(zlg_array *array)
{
    zlg_text text;
    MUST(zlg_array_attributes(array, &text, err_));
    assert_string_equal(text.data, "{\"title\":\"far away\"}");
    zlg_text_free(&text);
}

/* Nothing lies at the path, and nothing is put there but what is written. */
static void test_nothing_need_be_stored(void **state)
{
    (void)state;
    static const char *const documents[] = {V3,
                                            V2 ",\"attributes\":{\"title\":\"far away\"}}"};
    fixture f;
    int16_t out[20];
    open_fixture(&f);
    for (int i = 0; i < N_STORES; i++)
        for (int k = 0; k < 2; k++) {
            zlg_array *array;
            const char *path = k ? "a/old" : "a/new";
            MUST(zlg_array_from_metadata(f.stores[i], path, documents[k], NULL, &array,
                                         err_));
            assert_int_equal(n_keys(f.stores[i], path), 0);
            assert_int_equal(zlg_array_zarr_format(array), k ? 2 : 3);
            assert_string_equal(zlg_array_path(array), path);
            check_title(array);
            read_all(array, out);
            assert_int_equal(out[19], -3);
            write_count(array);
            read_all(array, out);
            assert_int_equal(out[7], 7);
            assert_int_equal(n_keys(f.stores[i], path), 3);
            assert_true(has_key(f.stores[i], k ? "a/old/2.0" : "a/new/c/2/0"));
            zlg_array_close(array);
        }
    close_fixture(&f);
}

/* The text of an array makes the same array, and the same text. */
static void test_its_own_text_makes_an_array(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    put_text(f.stores[1], "new/zarr.json", V3);
    put_text(f.stores[1], "old/.zarray", V2 "}");
    put_text(f.stores[1], "old/.zattrs", "{\"title\":\"far away\"}");
    for (int k = 0; k < 2; k++) {
        int16_t out[20];
        zlg_array *stored, *array;
        zlg_text text, again;
        MUST(zlg_array_open(f.stores[1], k ? "old" : "new", NULL, &stored, err_));
        MUST(zlg_array_metadata(stored, &text, err_));
        MUST(zlg_array_from_metadata(f.stores[0], "", text.data, NULL, &array, err_));
        MUST(zlg_array_metadata(array, &again, err_));
        assert_string_equal(text.data, again.data);
        assert_true(zlgi_same_elements(stored, array));
        check_title(array);
        write_count(array);
        read_all(array, out);
        assert_int_equal(out[19], 19);
        zlg_text_free(&text), zlg_text_free(&again);
        zlg_array_close(stored), zlg_array_close(array);
    }
    close_fixture(&f);
}

/* What lies at the path is not compared: an older shape shows less of what is stored, a
 * later one more. */
static void test_what_is_stored_is_not_asked(void **state)
{
    (void)state;
    static const char *const tall =
        "{\"zarr_format\":2,\"shape\":[9,4],\"chunks\":[2,4],\"dtype\":\">i2\","
        "\"fill_value\":-3,\"order\":\"F\",\"filters\":null,\"compressor\":null}";
    fixture f;
    zlg_array *array;
    int16_t out[36];
    open_fixture(&f);
    put_text(f.stores[1], ".zarray", "{");
    MUST(zlg_array_from_metadata(f.stores[1], "", V2 "}", NULL, &array, err_));
    write_count(array);
    zlg_array_close(array);
    MUST(zlg_array_from_metadata(f.stores[1], "", tall, NULL, &array, err_));
    MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, NULL, err_));
    assert_int_equal(out[19], 19);
    assert_int_equal(out[24], -3);
    zlg_array_close(array);
    check_text(f.stores[1], ".zarray", "{");
    close_fixture(&f);
}

static void test_defaults_are_those_of_the_options(void **state)
{
    (void)state;
    fixture f;
    zlg_array *array;
    zlg_open_options options = ZLG_OPEN_OPTIONS_INIT;
    options.keep_empty = 1;
    open_fixture(&f);
    MUST(zlg_array_from_metadata(f.stores[0], "", V3, &options, &array, err_));
    MUST(zlg_array_fill(array, NULL, NULL, 0, NULL, err_));
    assert_int_equal(n_keys(f.stores[0], ""), 3);
    zlg_array_close(array);
    close_fixture(&f);
}

static void test_wrong_documents_are_refused(void **state)
{
    (void)state;
    fixture f;
    zlg_array *array;
    zlg_open_options options = ZLG_OPEN_OPTIONS_INIT;
    open_fixture(&f);
    zlg_store *store = f.stores[0];
    REFUSED(ZLG_METADATA, "array a: ",
            zlg_array_from_metadata(store, "a", "{\"zarr_format\":3,", NULL, &array, err_));
    assert_null(array);
    REFUSED(ZLG_METADATA, "node_type",
            zlg_array_from_metadata(store, "",
                                    "{\"zarr_format\":3,\"node_type\":\"group\"}", NULL,
                                    &array, err_));
    REFUSED(
        ZLG_METADATA, "attributes",
        zlg_array_from_metadata(store, "", V2 ",\"attributes\":7}", NULL, &array, err_));
    REFUSED(ZLG_METADATA, "zarr_format is missing",
            zlg_array_from_metadata(store, "", "{}", NULL, &array, err_));
    REFUSED(ZLG_NOT_FOUND, "",
            zlg_array_from_metadata(store, "a//b", V3, NULL, &array, err_));
    options.zarr_format = 2;
    REFUSED(ZLG_METADATA, "zarr_format is 3, expected 2",
            zlg_array_from_metadata(store, "", V3, &options, &array, err_));
    options.zarr_format = 4;
    REFUSED(ZLG_USAGE, "zarr_format",
            zlg_array_from_metadata(store, "", V3, &options, &array, err_));
    close_fixture(&f);
}

/* ------------------------------------------------------------------ over */

/* Handles over several stores share what was parsed, and none needs another's store. */
static void test_one_array_over_two_stores(void **state)
{
    (void)state;
    fixture f;
    zlg_store *first;
    zlg_array *array, *over[N_STORES];
    int16_t out[20];
    open_fixture(&f);
    zlg_open_options options = ZLG_OPEN_OPTIONS_INIT;
    options.promise = ZLG_DURABLE;
    MUST(zlg_store_open_memory(f.ctx, &first, err_));
    MUST(zlg_array_from_metadata(first, "deep/down", V3, &options, &array, err_));
    for (int i = 0; i < N_STORES; i++)
        MUST(zlg_array_over(array, f.stores[i], &over[i], err_));
    write_count(over[1]);
    assert_int_equal(n_keys(first, ""), 0);
    read_all(array, out);
    assert_int_equal(out[19], -3);
    zlg_array_close(array);
    zlg_store_close(first);
    for (int i = 0; i < N_STORES; i++) {
        assert_ptr_equal(zlg_array_store(over[i]), f.stores[i]);
        assert_string_equal(zlg_array_path(over[i]), "deep/down");
        assert_int_equal(over[i]->promise, ZLG_DURABLE);
        check_title(over[i]);
        read_all(over[i], out);
        assert_int_equal(out[19], i ? 19 : -3);
    }
    /* Both in one call. */
    int16_t both[2][20];
    const zlg_read reads[] = {{over[0], NULL, {.data = both[0]}},
                              {over[1], NULL, {.data = both[1]}}};
    MUST(zlg_read_many(reads, 2, NULL, err_));
    assert_int_equal(both[0][19], -3);
    assert_int_equal(both[1][19], 19);
    zlg_array_close(over[0]);
    read_all(over[1], out);
    zlg_array_close(over[1]);
    close_fixture(&f);
}

static void test_a_store_of_another_context_is_refused(void **state)
{
    (void)state;
    fixture f, g;
    zlg_array *array, *over;
    open_fixture(&f);
    open_fixture(&g);
    MUST(zlg_array_from_metadata(f.stores[0], "a", V3, NULL, &array, err_));
    REFUSED(ZLG_USAGE, "array a: the store belongs to another context",
            zlg_array_over(array, g.stores[0], &over, err_));
    assert_null(over);
    zlg_array_close(array);
    close_fixture(&g);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_need_be_stored),
        cmocka_unit_test(test_its_own_text_makes_an_array),
        cmocka_unit_test(test_what_is_stored_is_not_asked),
        cmocka_unit_test(test_defaults_are_those_of_the_options),
        cmocka_unit_test(test_wrong_documents_are_refused),
        cmocka_unit_test(test_one_array_over_two_stores),
        cmocka_unit_test(test_a_store_of_another_context_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
