/* Codecs by the names that documents use. */
#include "codec_test.h"

static void test_names_of_version_3(void **state)
{
    (void)state;
    const char *missing;
    const zlgi_codec *bytes = zlgi_codec_find_v3("bytes", &missing);
    assert_string_equal(bytes->name, "bytes");
    assert_null(missing);
    assert_ptr_equal(zlgi_codec_find_v3("endian", &missing), bytes);
    assert_string_equal(zlgi_codec_find_v3("numcodecs.zlib", &missing)->id, "zlib");
    assert_string_equal(zlgi_codec_find_v3("zlib", &missing)->id, "zlib");
    assert_ptr_equal(zlgi_codec_find_v3("numcodecs.zstd", &missing),
                     zlgi_codec_find_v3("zstd", &missing));
    assert_null(zlgi_codec_find_v3("numcodecs.bytes", &missing));
    assert_null(zlgi_codec_find_v3("numcodecs.", &missing));
    assert_null(zlgi_codec_find_v3("", &missing));
    assert_null(missing);
}

static void test_ids_of_version_2(void **state)
{
    (void)state;
    const char *missing;
    assert_string_equal(zlgi_codec_find_v2("crc32c", &missing)->id, "crc32c");
    assert_null(zlgi_codec_find_v2("bytes", &missing));
    assert_null(zlgi_codec_find_v2("sharding_indexed", &missing));
    assert_null(zlgi_codec_find_v2("numcodecs.zlib", &missing));
}

static void test_what_is_not_built_in_is_known(void **state)
{
    (void)state;
    const char *missing;
    assert_null(zlgi_codec_find_v2("pcodec", &missing));
    assert_string_equal(missing, "pcodec");
    assert_null(zlgi_codec_find_v3("numcodecs.pcodec", &missing));
    assert_string_equal(missing, "pcodec");
    zlgi_chain *chain;
    assert_int_equal(parse_v2("<f4", 1, "null", "{\"id\": \"pcodec\"}", false, &chain),
                     ZLG_UNSUPPORTED);
    assert_string_equal(error.message, "codec pcodec: not built in (needs pcodec)");
}

static void test_pickle_is_refused_by_name(void **state)
{
    (void)state;
    zlgi_chain *chain;
    assert_int_equal(parse_v2("<f4", 1, "[{\"id\": \"pickle\"}]", "null", false, &chain),
                     ZLG_UNSUPPORTED);
    assert_string_equal(error.message, "codec pickle: pickled objects are never loaded");
    assert_int_equal(parse_v2("<f4", 1, "null", "{\"id\": \"pickle\"}", false, &chain),
                     ZLG_UNSUPPORTED);
}

static void test_every_codec_is_complete_and_found_by_its_names(void **state)
{
    (void)state;
    const char *missing;
    int n = 0;
    for (const zlgi_codec *codec; (codec = zlgi_codec_at(n)) != NULL; n++) {
        assert_true(codec->name || codec->id);
        assert_true(codec->configure && codec->decode && codec->encode);
        if (codec->name)
            assert_ptr_equal(zlgi_codec_find_v3(codec->name, &missing), codec);
        if (codec->alias && codec->name)
            assert_ptr_equal(zlgi_codec_find_v3(codec->alias, &missing), codec);
        if (codec->id)
            assert_ptr_equal(zlgi_codec_find_v2(codec->id, &missing), codec);
    }
    assert_true(n >= 13);
    assert_null(zlgi_codec_at(-1));
    assert_null(zlgi_codec_at(n + 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        codec_test(test_names_of_version_3),
        codec_test(test_ids_of_version_2),
        codec_test(test_what_is_not_built_in_is_known),
        codec_test(test_pickle_is_refused_by_name),
        codec_test(test_every_codec_is_complete_and_found_by_its_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
