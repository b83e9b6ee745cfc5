/*
 * Faults that users of other readers have met, kind by kind: documents. Each test writes
 * its documents by hand and states what they mean.
 */
#define _GNU_SOURCE
#include "../fault/fault.h"

typedef struct fixture {
    zlg_ctx *ctx;
    zlg_store *store;
} fixture;

static void open_fixture(fixture *f)
{
    MUST(zlg_ctx_new(NULL, &f->ctx, err_));
    MUST(zlg_store_open_memory(f->ctx, &f->store, err_));
}

static void close_fixture(fixture *f)
{
    zlg_store_close(f->store);
    zlg_ctx_close(f->ctx);
}

static void put_bytes(fixture *f, const char *key, const void *data, size_t n)
{
    MUST(zlg_store_put(f->store, key, data, n, err_));
}

/* "path/.zarray" of one axis; `rest`: fill value, filters and compressor. */
static zlg_array *put_v2(fixture *f, const char *path, int length, int chunk,
                         const char *type, const char *rest)
{
    char key[64], text[1024];
    zlg_array *array;
    zlg_error err = {0};
    snprintf(key, sizeof key, "%s/.zarray", path);
    snprintf(text, sizeof text,
             "{\"zarr_format\":2,\"shape\":[%d],\"chunks\":[%d],\"dtype\":%s,\"order\":"
             "\"C\",%s}",
             length, chunk, type, rest);
    put_text(f->store, key, text);
    if (zlg_array_open(f->store, path, NULL, &array, &err) != ZLG_OK)
        fail_msg("%s: %s", text, err.message);
    return array;
}

/* ------------------------------------------------------------------ version 2 */

/* Numbers as text, as some writers left them. */
static void test_fill_as_text(void **state)
{
    (void)state;
    static const struct {
        const char *type, *fill;
        uint8_t element[8];
    } cases[] = {
        {"\"|u1\"", "\"0\"", {0}},
        {"\"|u1\"", "\"255\"", {255}},
        {"\"<i2\"", "\"-2\"", {0xfe, 0xff}},
        {"\">u4\"", "\"258\"", {2, 1, 0, 0}},
        {"\"<i8\"", "\"-9223372036854775808\"", {0, 0, 0, 0, 0, 0, 0, 0x80}},
        {"\"<u8\"", "\"18446744073709551615\"", {255, 255, 255, 255, 255, 255, 255, 255}},
        {"\"<f4\"", "\"1.5\"", {0, 0, 0xc0, 0x3f}},
        {"\"<f8\"", "\"-Infinity\"", {0, 0, 0, 0, 0, 0, 0xf0, 0xff}},
    };
    for (size_t i = 0; i < ZLGI_COUNT(cases); i++) {
        fixture f;
        char rest[128];
        uint8_t out[4 * 8];
        open_fixture(&f);
        snprintf(rest, sizeof rest,
                 "\"fill_value\":%s,\"filters\":null,\"compressor\":null", cases[i].fill);
        zlg_array *array = put_v2(&f, "a", 4, 2, cases[i].type, rest);
        size_t n = zlg_array_dtype(array).n_bytes, n_fill;
        MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, NULL, err_));
        for (size_t k = 0; k < 4; k++)
            assert_memory_equal(out + k * n, cases[i].element, n);
        assert_memory_equal(zlg_array_fill_value(array, &n_fill), cases[i].element, n);
        assert_int_equal(n_fill, n);
        zlg_array_close(array);
        close_fixture(&f);
    }
}

/* Bytes as zlib and gzip may have them: stored, without compression. */
static size_t zlib_of(const uint8_t *data, size_t n, uint8_t *out)
{
    const uint8_t start[] = {0x78, 0x01, 1, (uint8_t)n, 0, (uint8_t)~n, 0xff};
    uint32_t sum = zlgi_adler32(data, n);
    memcpy(out, start, sizeof start);
    memcpy(out + sizeof start, data, n);
    for (int i = 0; i < 4; i++)
        out[sizeof start + n + (size_t)i] = (uint8_t)(sum >> (24 - 8 * i));
    return sizeof start + n + 4;
}

static size_t gzip_of(const uint8_t *data, size_t n, uint8_t *out)
{
    const uint8_t start[] = {0x1f, 0x8b, 8, 0,          0, 0,           0,   0,
                             0,    255,  1, (uint8_t)n, 0, (uint8_t)~n, 0xff};
    memcpy(out, start, sizeof start);
    memcpy(out + sizeof start, data, n);
    zlgi_store_u32le(out + sizeof start + n, zlgi_crc32(data, n));
    zlgi_store_u32le(out + sizeof start + n + 4, (uint32_t)n);
    return sizeof start + n + 8;
}

/* Compressors that stand among the filters, before others and before a compressor. */
static void test_compressor_among_filters(void **state)
{
    (void)state;
#define SHUFFLE "{\"id\":\"shuffle\",\"elementsize\":4}"
#define ZLIB "{\"id\":\"zlib\",\"level\":1}"
#define OLD_GZIP "{\"id\":\"gzip\",\"level\":1}"
    static const char *const chains[] = {
        "\"filters\":[" SHUFFLE "," ZLIB "],\"compressor\":null",
        "\"filters\":[" ZLIB "],\"compressor\":null",
        "\"filters\":[" SHUFFLE "," ZLIB "," OLD_GZIP "],\"compressor\":null",
        "\"filters\":[],\"compressor\":" ZLIB,
        ("\"filters\":[" SHUFFLE "," ZLIB "],\"compressor\":" OLD_GZIP),
    };
    const int32_t data[5] = {1, -2, 70000, 4, 5};
    for (size_t i = 0; i < ZLGI_COUNT(chains); i++) {
        fixture f;
        char rest[512];
        uint8_t shuffled[20], a[64], b[128];
        int32_t out[5];
        open_fixture(&f);
        snprintf(rest, sizeof rest, "\"fill_value\":0,%s", chains[i]);
        for (size_t k = 0; k < 20; k++)
            shuffled[k % 4 * 5 + k / 4] = (uint8_t)((uint32_t)data[k / 4] >> (8 * (k % 4)));
        bool plain = strstr(chains[i], "shuffle") == NULL;
        size_t n = zlib_of(plain ? (const uint8_t *)data : shuffled, 20, a);
        bool twice = strstr(chains[i], "gzip") != NULL;
        size_t n_twice = gzip_of(a, n, b);
        put_bytes(&f, "a/0", twice ? b : a, twice ? n_twice : n);
        zlg_array *array = put_v2(&f, "a", 5, 5, "\"<i4\"", rest);
        MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, NULL, err_));
        assert_memory_equal(out, data, sizeof out);
        zlg_array_close(array);
        close_fixture(&f);
    }
}

/* Records with fields that are arrays, and with records in them. */
static void test_records_of_arrays(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    enum { ITEM = 4 + 24 + 2 * (2 + 1) };
    zlg_array *array = put_v2(&f, "a", 3, 2,
                              "[[\"n\",\">i4\"],[\"m\",\"<f4\",[2,3]],"
                              "[\"r\",[[\"x\",\">u2\"],[\"y\",\"|u1\"]],[2]]]",
                              "\"fill_value\":null,\"filters\":null,\"compressor\":null");
    zlg_field field, inner;
    assert_int_equal(zlg_array_dtype(array).type, ZLG_STRUCT);
    assert_int_equal(zlg_array_dtype(array).n_bytes, ITEM);
    assert_int_equal(zlg_array_dtype(array).n_fields, 3);
    MUST(zlg_array_field(array, (const int[]){1}, 1, &field, err_));
    assert_string_equal(field.name, "m");
    assert_true(field.offset == 4 && field.rank == 2 && field.shape[0] == 2 &&
                field.shape[1] == 3 && field.dtype.type == ZLG_FLOAT32);
    MUST(zlg_array_field(array, (const int[]){2}, 1, &field, err_));
    assert_true(field.offset == 28 && field.rank == 1 && field.shape[0] == 2 &&
                field.dtype.n_fields == 2);
    MUST(zlg_array_field(array, (const int[]){2, 0}, 2, &inner, err_));
    assert_string_equal(inner.name, "x");
    assert_true(inner.offset == 0 && inner.rank == 0 && inner.dtype.type == ZLG_UINT16);
    uint8_t stored[2 * ITEM], out[3 * ITEM], expected[3 * ITEM] = {0};
    for (uint8_t i = 0; i < 2; i++) {
        uint8_t *s = stored + i * ITEM, *e = expected + i * ITEM;
        for (uint8_t k = 0; k < ITEM; k++)
            s[k] = e[k] = (uint8_t)(i * 50 + k);
        for (int k = 0; k < 4; k++) /* big-endian: n, and x of both records */
            e[k] = s[3 - k];
        e[28] = s[29], e[29] = s[28], e[31] = s[32], e[32] = s[31];
    }
    put_bytes(&f, "a/0", stored, sizeof stored);
    MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, NULL, err_));
    assert_memory_equal(out, expected, sizeof out);
    zlg_array_close(array);
    close_fixture(&f);
}

/* ------------------------------------------------------------------ chunk keys */

static void test_key_encodings(void **state)
{
    (void)state;
    static const struct {
        const char *encoding, *keys[2]; /* of chunk (1, 2), and without axes */
    } cases[] = {
        {"{\"name\":\"default\"}", {"c/1/2", "c"}},
        {"\"default\"", {"c/1/2", "c"}},
        {"{\"name\":\"default\",\"configuration\":{}}", {"c/1/2", "c"}},
        {"{\"name\":\"default\",\"configuration\":{\"separator\":\".\"}}", {"c.1.2", "c"}},
        {"{\"name\":\"v2\"}", {"1.2", "0"}},
        {"\"v2\"", {"1.2", "0"}},
        {"{\"name\":\"v2\",\"configuration\":{\"separator\":\"/\"}}", {"1/2", "0"}},
    };
    for (size_t i = 0; i < ZLGI_COUNT(cases) * 2; i++) {
        bool scalar = i % 2;
        fixture f;
        char document[1024];
        zlg_array *array;
        zlg_text text;
        uint8_t out[12] = {0};
        open_fixture(&f);
        snprintf(document, sizeof document,
                 "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":%s,\"data_type\":"
                 "\"uint8\",\"chunk_grid\":{\"name\":\"regular\",\"configuration\":"
                 "{\"chunk_shape\":%s}},\"fill_value\":1,\"codecs\":[{\"name\":\"bytes\"}],"
                 "\"chunk_key_encoding\":%s}",
                 scalar ? "[]" : "[2,6]", scalar ? "[]" : "[1,2]", cases[i / 2].encoding);
        put_text(f.store, "zarr.json", document);
        put_bytes(&f, cases[i / 2].keys[scalar], "\x37\x42", scalar ? 1 : 2);
        MUST(zlg_array_open(f.store, "", NULL, &array, err_));
        MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, NULL, err_));
        assert_int_equal(out[scalar ? 0 : 10], 0x37);
        assert_int_equal(out[11], scalar ? 0 : 0x42);
        assert_int_equal(out[1], scalar ? 0 : 1);
        MUST(zlg_array_key(array, (const int64_t[]){1, 2}, &text, err_));
        assert_string_equal(text.data, cases[i / 2].keys[scalar]);
        zlg_text_free(&text);
        zlg_array_close(array);
        close_fixture(&f);
    }
}

/* ------------------------------------------------------------------ groups */

static const char *const group = "{\"zarr_format\":3,\"node_type\":\"group\"}";

static void make_array_document(char out[1024], const char *type, const char *grid,
                                const char *codec, int fill)
{
    snprintf(out, 1024,
             "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[2],\"data_type\":%s,"
             "\"chunk_grid\":{\"name\":\"%s\",\"configuration\":{\"chunk_shape\":[2]}},"
             "\"fill_value\":%d,\"codecs\":[{\"name\":\"%s\"}],\"chunk_key_encoding\":"
             "{\"name\":\"default\"}}",
             type, grid, fill, codec);
}

typedef struct member_names {
    char text[512];
} member_names;

static int add_member(void *user, const char *path, zlg_node kind)
{
    member_names *names = user;
    size_t n = strlen(names->text);
    snprintf(names->text + n, sizeof names->text - n, "%s%c ", path,
             kind == ZLG_NODE_ARRAY   ? '='
             : kind == ZLG_NODE_GROUP ? '/'
                                      : '?');
    return 0;
}

static void expect_members(zlg_group *g, int recursive, const char *expected)
{
    member_names names = {""};
    MUST(zlg_group_members(g, recursive, add_member, &names, err_));
    assert_string_equal(names.text, expected);
}

static void expect_fill(zlg_group *g, const char *path, int fill)
{
    zlg_array *array;
    uint8_t out[2];
    MUST(zlg_group_open_array(g, path, &array, err_));
    MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, NULL, err_));
    assert_true(out[0] == fill && out[1] == fill);
    zlg_array_close(array);
}

/* Members of unknown type, codec or grid: listed, described, refused by name, and no
 * trouble for their neighbours; from the store and from consolidated metadata. */
static void test_unknown_neighbours(void **state)
{
    (void)state;
    static const struct {
        const char *name, *type, *grid, *codec;
    } members[] = {
        {"codec", "\"uint8\"", "regular", "vendor.squeezed"},
        {"good", "\"uint8\"", "regular", "bytes"},
        {"grid", "\"uint8\"", "vendor.hexagonal", "bytes"},
        {"object", "{\"name\":\"vendor.money\",\"configuration\":{\"digits\":2}}",
         "regular", "bytes"},
        {"type", "\"vendor.octonion\"", "regular", "bytes"},
    };
    fixture f;
    char all[8192] = "", document[1024];
    open_fixture(&f);
    put_text(f.store, "plain/zarr.json", group);
    for (size_t i = 0; i < ZLGI_COUNT(members); i++) {
        char key[64];
        make_array_document(document, members[i].type, members[i].grid, members[i].codec,
                            5);
        snprintf(key, sizeof key, "plain/%s/zarr.json", members[i].name);
        put_text(f.store, key, document);
        size_t n = strlen(all);
        snprintf(all + n, sizeof all - n, "%s\"%s\":%s", i ? "," : "", members[i].name,
                 document);
    }
    char whole[9000];
    snprintf(
        whole, sizeof whole,
        "{\"zarr_format\":3,\"node_type\":\"group\",\"consolidated_metadata\":{\"kind\":"
        "\"inline\",\"must_understand\":false,\"metadata\":{%s}}}",
        all);
    put_text(f.store, "whole/zarr.json", whole);
    for (int consolidated = 0; consolidated < 2; consolidated++) {
        zlg_group *g;
        MUST(zlg_group_open(f.store, consolidated ? "whole" : "plain", NULL, &g, err_));
        assert_int_equal(zlg_group_is_consolidated(g), consolidated);
        expect_members(g, 0, "codec= good= grid= object= type= ");
        for (size_t i = 0; i < ZLGI_COUNT(members); i++) {
            zlg_array *array;
            zlg_error err = {0};
            if (strcmp(members[i].name, "good") == 0)
                continue;
            assert_int_equal(zlg_group_open_array(g, members[i].name, &array, &err),
                             ZLG_UNSUPPORTED);
            assert_non_null(strstr(err.message, members[i].name));
            assert_non_null(strstr(err.message, "vendor."));
        }
        expect_fill(g, "good", 5);
        zlg_group_close(g);
    }
    zlg_node kind;
    zlg_text text;
    MUST(zlg_node_metadata(f.store, "plain/object", NULL, &kind, &text, err_));
    assert_int_equal(kind, ZLG_NODE_ARRAY);
    assert_non_null(strstr(text.data, "\"digits\": 2"));
    zlg_text_free(&text);
    close_fixture(&f);
}

/* Names in any order, siblings that differ in case or begin with each other, and characters
 * that sort before the slash. */
static void test_consolidated_order(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        int fill; /* 0: a group */
    } nodes[] = {{"b", 0},   {"b/X/one", 1}, {"B/x", 0},   {"b/x/one", 2}, {"b-c/one", 3},
                 {"b/x", 0}, {"B", 0},       {"b/x.y", 4}, {"b/X", 0},     {"B/x/one", 5},
                 {"b-c", 0}, {"a", 6},       {"b/xx", 7},  {"b/X/two", 8}};
    fixture f;
    char all[16384];
    open_fixture(&f);
    int n = snprintf(all, sizeof all,
                     "{\"zarr_format\":3,\"node_type\":\"group\",\"consolidated_metadata\":"
                     "{\"kind\":\"inline\",\"must_understand\":false,\"metadata\":{");
    for (size_t i = 0; i < ZLGI_COUNT(nodes); i++) {
        char document[1024];
        make_array_document(document, "\"uint8\"", "regular", "bytes", nodes[i].fill);
        n += snprintf(all + n, sizeof all - (size_t)n, "%s\"%s\":%s", i ? "," : "",
                      nodes[i].path, nodes[i].fill ? document : group);
    }
    snprintf(all + n, sizeof all - (size_t)n, "}}}");
    put_text(f.store, "zarr.json", all);
    zlg_group *root, *member;
    MUST(zlg_group_open(f.store, "", NULL, &root, err_));
    expect_members(root, 0, "B/ a= b/ b-c/ ");
    expect_members(
        root, 1,
        "B/ B/x/ B/x/one= a= b/ b/X/ b/X/one= b/X/two= b/x/ b/x/one= b/x.y= b/xx= "
        "b-c/ b-c/one= ");
    for (size_t i = 0; i < ZLGI_COUNT(nodes); i++)
        if (nodes[i].fill)
            expect_fill(root, nodes[i].path, nodes[i].fill);
    MUST(zlg_group_open_group(root, "b", &member, err_));
    expect_members(member, 0, "X/ x/ x.y= xx= ");
    expect_fill(member, "x/one", 2);
    expect_fill(member, "X/one", 1);
    zlg_array *array;
    assert_int_equal(zlg_group_open_array(member, "x/two", &array, NULL), ZLG_NOT_FOUND);
    zlg_group_close(member);
    zlg_group_close(root);
    close_fixture(&f);
}

/* ------------------------------------------------------------------ attributes */

/* Numbers that JSON has not, wherever Python puts them; the data is read all the same. */
static void test_attributes_that_are_no_numbers(void **state)
{
    (void)state;
    static const char *const attributes =
        "{\"missing\":NaN,\"range\":[-Infinity,Infinity,{\"deep\":NaN}],\"large\":"
        "12345678901234567890,\"small\":1.0e-400,\"text\":\"NaN\"}";
    fixture f;
    char document[1024];
    zlg_text text;
    zlg_array *array;
    zlg_group *g;
    uint8_t out[2];
    open_fixture(&f);
    snprintf(
        document, sizeof document,
        "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[2],\"data_type\":\"uint8\","
        "\"chunk_grid\":" REGULAR("[2]") ",\"fill_value\":4,\"codecs\":[{\"name\":"
                                         "\"bytes\"}],\"chunk_key_encoding\":{\"name\":"
                                         "\"default\"},\"attributes\":%s}",
        attributes);
    put_text(f.store, "new/a/zarr.json", document);
    snprintf(document, sizeof document,
             "{\"zarr_format\":3,\"node_type\":\"group\",\"attributes\":%s}", attributes);
    put_text(f.store, "new/zarr.json", document);
    put_text(f.store, "old/.zgroup", "{\"zarr_format\":2}");
    put_text(f.store, "old/.zattrs", attributes);
    put_text(f.store, "old/a/.zattrs", attributes);
    zlg_array_close(put_v2(&f, "old/a", 2, 2, "\"|u1\"",
                           "\"fill_value\":4,\"filters\":null,\"compressor\":null"));
    for (int old = 0; old < 2; old++) {
        MUST(zlg_group_open(f.store, old ? "old" : "new", NULL, &g, err_));
        MUST(zlg_group_attributes(g, &text, err_));
        assert_string_equal(text.data, attributes);
        zlg_text_free(&text);
        MUST(zlg_group_open_array(g, "a", &array, err_));
        MUST(zlg_array_attributes(array, &text, err_));
        assert_string_equal(text.data, attributes);
        zlg_text_free(&text);
        MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, NULL, err_));
        assert_true(out[0] == 4 && out[1] == 4);
        zlg_array_close(array);
        zlg_group_close(g);
    }
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fill_as_text),
        cmocka_unit_test(test_compressor_among_filters),
        cmocka_unit_test(test_records_of_arrays),
        cmocka_unit_test(test_key_encodings),
        cmocka_unit_test(test_unknown_neighbours),
        cmocka_unit_test(test_consolidated_order),
        cmocka_unit_test(test_attributes_that_are_no_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
