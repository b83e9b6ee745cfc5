/* Writes that make objects anew, and writes that choose the order of inner chunks: what is
 * asked of the store, and what lies in it afterwards. */
#define _GNU_SOURCE
#include "change_test.h"

static zlg_store *count_store(zlg_store *inner, zlg_ctx *ctx)
{
    zlg_store *counting;
    MUST(zlgi_counting_open(&ctx->alloc, inner, &counting, err_));
    counting->limits = &ctx->limits;
    zlgi_store_adopt(ctx, counting);
    return counting;
}

static void put_garbage(zlg_store *store, const char *key)
{
    put_text(store, key, "this is no chunk");
}

/* One element of an array of 8 x 8, in objects of 4 x 4. */
static zlg_status write_one(zlg_array *array, int64_t row, int64_t column, int replace,
                            const zlg_call *call, zlg_error *err)
{
    static const uint16_t element = 7;
    const zlg_axis axes[2] = {{.start = row, .step = 1, .count = 1},
                              {.start = column, .step = 1, .count = 1}};
    const zlg_selection box = {.kind = ZLG_BOX, .rank = 2, .axes = axes};
    const zlg_write write = {.array = array,
                             .selection = &box,
                             .source = {.data = &element},
                             .replace = replace};
    return zlg_write_many(&write, 1, call, err);
}

static void check_sum(zlg_array *array, int64_t n_sevens, uint16_t rest)
{
    uint16_t out[64];
    int64_t n = 0;
    MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, NULL, err_));
    for (int i = 0; i < 64; i++) {
        n += out[i] == 7;
        assert_true(out[i] == 7 || out[i] == rest);
    }
    assert_int_equal(n, n_sevens);
}

static const char *const codecs[] = {
    "[" LITTLE "]",
    "[" BIG "," CRC "]",
    "[" SHARD("[2,2]", "[" LITTLE "," CRC "]") "]",
    "[" TRANSPOSE("[1,0]") "," SHARD_AT("start", "[4,1]", "[" BIG "," GZIP "]") "]",
    "[" SHARD("[2,1]", "[" LITTLE "]") "," CRC "]",
    "[" SHARD("[2,4]", "[" SHARD("[1,2]", "[" LITTLE "," CRC "]") "]") "]",
};

/* Whatever lies there is not looked at: it need not even be a chunk. */
static void test_nothing_is_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < ZLGI_COUNT(codecs); i++) {
        fixture f;
        open_fixture(&f);
        zlg_store *store = count_store(f.stores[i % N_STORES], f.ctx);
        zlg_array *array =
            put_array(store, "", "[8,8]", "\"uint16\"", REGULAR("[4,4]"), "5", codecs[i]);
        put_garbage(store, "c/1/0");
        if (i > 0)
            REFUSED(ZLG_CORRUPT, "c/1/0", write_one(array, 5, 1, 0, NULL, err_));
        zlgi_store_counts before = zlgi_counting_get(store);
        MUST(write_one(array, 5, 1, 1, NULL, err_));
        zlgi_store_counts after = zlgi_counting_get(store);
        assert_int_equal(after.n_opens, before.n_opens);
        assert_int_equal(after.n_reads, before.n_reads);
        assert_int_equal(after.n_puts, before.n_puts + 1);
        check_sum(array, 1, 5);
        /* What was there is gone, what is named stays. */
        MUST(write_one(array, 6, 2, 0, NULL, err_));
        check_sum(array, 2, 5);
        MUST(write_one(array, 4, 3, 1, NULL, err_));
        check_sum(array, 1, 5);
        zlg_array_close(array);
        zlg_store_close(store);
        close_fixture(&f);
    }
}

/* Of several writes into an object one is enough; the others are not lost. */
static void test_one_of_several(void **state)
{
    (void)state;
    static const uint16_t sevens[64] = {7, 7, 7, 7, 7, 7, 7, 7};
    static const int64_t rows[] = {0, 3, 7}, columns[] = {0, 3, 7};
    static const int64_t *const coordinates[] = {rows, columns};
    const zlg_selection points = {
        .kind = ZLG_POINTS, .rank = 2, .coordinates = coordinates, .n_points = 3};
    const zlg_axis axes[2] = {{.start = 1, .step = 1, .count = 1},
                              {.start = 0, .step = 1, .count = 6}};
    const zlg_selection row = {.kind = ZLG_BOX, .rank = 2, .axes = axes};
    for (size_t i = 0; i < ZLGI_COUNT(codecs); i++) {
        fixture f;
        open_fixture(&f);
        zlg_array *array = put_array(f.stores[0], "", "[8,8]", "\"uint16\"",
                                     REGULAR("[4,4]"), "5", codecs[i]);
        for (int64_t k = 0; k < 8; k++)
            MUST(write_one(array, k, 2, 0, NULL, err_));
        check_sum(array, 8, 5);
        const zlg_write writes[] = {
            {.array = array, .selection = &points, .source = {.data = sevens}},
            {.array = array, .selection = &row, .source = {.data = sevens}, .replace = 1}};
        MUST(zlg_write_many(writes, 2, NULL, err_));
        /* The row takes two objects anew: of the column of eight only those below stay; the
         * third point lies in an object that is changed. */
        check_sum(array, 4 + 3 + 6, 5);
        zlg_array_close(array);
        close_fixture(&f);
    }
}

/* An object of which all that is named is the fill value is removed unseen. */
static void test_the_fill_value_removes(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    for (size_t i = 0; i < ZLGI_COUNT(codecs); i++) {
        zlg_store *store = f.stores[i % N_STORES];
        zlg_array *array =
            put_array(store, "", "[8,8]", "\"uint16\"", REGULAR("[4,4]"), "7", codecs[i]);
        put_garbage(store, "c/0/0");
        MUST(write_one(array, 1, 1, 1, NULL, err_));
        assert_false(has_key(store, "c/0/0"));
        zlg_call call = ZLG_CALL_INIT;
        call.keep_empty = 1;
        MUST(write_one(array, 1, 1, 1, &call, err_));
        assert_true(has_key(store, "c/0/0"));
        check_sum(array, 64, 7);
        zlg_array_close(array);
    }
    close_fixture(&f);
}

static void test_words(void **state)
{
    (void)state;
    static const char *const chains[] = {
        "[{\"name\":\"vlen-utf8\"}," CRC "]",
        "[" SHARD("[2]", "[{\"name\":\"vlen-utf8\"}]") "]"};
    static const int64_t offsets[] = {0, 3, 3}, one[] = {0, 2};
    const zlg_axis two = {.start = 1, .step = 2, .count = 2},
                   last = {.start = 5, .step = 1, .count = 1};
    const zlg_selection a = {.kind = ZLG_BOX, .rank = 1, .axes = &two},
                        b = {.kind = ZLG_BOX, .rank = 1, .axes = &last};
    fixture f;
    open_fixture(&f);
    for (size_t i = 0; i < ZLGI_COUNT(chains); i++) {
        zlg_varlen out;
        zlg_array *array = put_array(f.stores[0], "", "[6]", "\"string\"", REGULAR("[6]"),
                                     "\"none\"", chains[i]);
        put_garbage(f.stores[0], "c/0");
        const zlg_write writes[] = {
            {.array = array,
             .selection = &a,
             .source = {.data = "one", .offsets = offsets},
             .replace = 1},
            {.array = array, .selection = &b, .source = {.data = "ab", .offsets = one}}};
        MUST(zlg_write_many(writes, 2, NULL, err_));
        MUST(zlg_array_read_varlen(array, NULL, &out, NULL, err_));
        assert_int_equal(out.offsets[6], 17);
        assert_memory_equal(out.bytes, "noneonenonenoneab", 17);
        zlg_varlen_free(&out);
        zlg_array_close(array);
    }
    close_fixture(&f);
}

/* ------------------------------------------------------------------ order */

/* A shard of 2 x 3 inner chunks of a byte each, its bytes in front of the index. */
static void check_bytes(zlg_store *store, const uint8_t *expected, size_t n)
{
    zlg_text text;
    MUST(zlg_store_get(store, "c/0/0", &text, err_));
    assert_int_equal(text.n_bytes, n + 6 * 16 + 4);
    assert_memory_equal(text.data, expected, n);
    zlg_text_free(&text);
}

static void test_inner_order(void **state)
{
    (void)state;
    static const uint8_t elements[6] = {1, 2, 3, 4, 5, 6};
    static const uint8_t by_order[3][6] = {
        {1, 4, 2, 5, 3, 6}, {1, 2, 3, 4, 5, 6}, {1, 4, 2, 5, 3, 6}};
    static const uint8_t changed[3][6] = {
        {1, 9, 2, 5, 3, 6}, {1, 2, 3, 9, 5, 6}, {1, 9, 2, 5, 3, 6}};
    static const uint8_t nine = 9, zero = 0;
    const zlg_axis axes[2] = {{.start = 1, .step = 1, .count = 1},
                              {.start = 0, .step = 1, .count = 1}};
    const zlg_selection box = {.kind = ZLG_BOX, .rank = 2, .axes = axes};
    fixture f;
    open_fixture(&f);
    zlg_store *store = f.stores[0];
    zlg_array *array = put_array(store, "", "[2,3]", "\"uint8\"", REGULAR("[2,3]"), "0",
                                 "[" SHARD("[1,1]", "[{\"name\":\"bytes\"}]") "]");
    zlg_call call = ZLG_CALL_INIT;
    for (int k = 0; k < 3; k++) {
        call.inner_order = (zlg_inner_order)k;
        MUST(zlg_array_write(array, NULL, &(zlg_source){.data = elements}, &call, err_));
        check_bytes(store, by_order[k], 6);
    }
    /* A change brings all into the order of its call. */
    for (int k = 0; k < 3; k++) {
        call.inner_order = (zlg_inner_order)k;
        MUST(zlg_array_write(array, &box, &(zlg_source){.data = &nine}, &call, err_));
        check_bytes(store, changed[k], 6);
    }
    call.inner_order = ZLG_LEXICOGRAPHIC;
    MUST(zlg_array_fill(array, &box, &zero, 1, &call, err_));
    check_bytes(store, (const uint8_t[]){1, 2, 3, 5, 6}, 5);
    call.inner_order = (zlg_inner_order)3;
    REFUSED(ZLG_USAGE, "inner_order 3",
            zlg_array_write(array, &box, &(zlg_source){.data = &nine}, &call, err_));
    call.inner_order = (zlg_inner_order)-1;
    REFUSED(ZLG_USAGE, "inner_order -1",
            zlg_array_fill(array, &box, &zero, 1, &call, err_));
    zlg_array_close(array);
    close_fixture(&f);
}

/* Each level of a nested shard has the order: 2 x 2 shards of 2 x 1 bytes. */
static void test_inner_order_of_nested_shards(void **state)
{
    (void)state;
    static const uint8_t elements[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const uint8_t first[3][2] = {{1, 3}, {1, 2}, {1, 3}};
    fixture f;
    open_fixture(&f);
    zlg_store *store = f.stores[0];
    zlg_array *array =
        put_array(store, "", "[4,2]", "\"uint8\"", REGULAR("[4,2]"), "0",
                  "[" SHARD("[2,2]", "[" SHARD("[1,1]", "[{\"name\":\"bytes\"}]") "]") "]");
    zlg_call call = ZLG_CALL_INIT;
    for (int k = 0; k < 3; k++) {
        zlg_text text;
        call.inner_order = (zlg_inner_order)k;
        MUST(zlg_array_write(array, NULL, &(zlg_source){.data = elements}, &call, err_));
        MUST(zlg_store_get(store, "c/0/0", &text, err_));
        assert_memory_equal(text.data, first[k], 2);
        zlg_text_free(&text);
    }
    zlg_array_close(array);
    close_fixture(&f);
}

/* And may have one of its own: 2 x 2 shards of 2 x 2 bytes, each with an index behind. */
static void test_inner_orders(void **state)
{
    (void)state;
    enum { N_INNER = 4 + 4 * 16 + 4 };
    static const uint8_t step[3][4] = {{0, 4, 1, 5}, {0, 1, 4, 5}, {0, 4, 1, 5}};
    uint8_t elements[16];
    for (int i = 0; i < 16; i++)
        elements[i] = (uint8_t)(i + 1);
    fixture f;
    open_fixture(&f);
    zlg_store *store = f.stores[0];
    zlg_array *array =
        put_array(store, "", "[4,4]", "\"uint8\"", REGULAR("[4,4]"), "0",
                  "[" SHARD("[2,2]", "[" SHARD("[1,1]", "[{\"name\":\"bytes\"}]") "]") "]");
    for (int k = 0; k < 9; k++) {
        zlg_text text;
        const zlg_inner_order orders[2] = {(zlg_inner_order)(k / 3),
                                           (zlg_inner_order)(k % 3)};
        zlg_call call = ZLG_CALL_INIT;
        call.inner_order = orders[1]; /* of what the list leaves out */
        call.inner_orders = orders;
        call.n_inner_orders = 1 + k % 2;
        MUST(zlg_array_write(array, NULL, &(zlg_source){.data = elements}, &call, err_));
        MUST(zlg_store_get(store, "c/0/0", &text, err_));
        const uint8_t *second = (const uint8_t *)text.data + N_INNER;
        for (int i = 0; i < 4; i++) {
            int first = orders[0] == ZLG_LEXICOGRAPHIC ? 2 : 8; /* of the second shard */
            assert_int_equal(second[i], elements[first + step[orders[1]][i]]);
        }
        zlg_text_free(&text);
    }
    const zlg_inner_order none[2] = {ZLG_MORTON, (zlg_inner_order)3};
    zlg_call call = ZLG_CALL_INIT;
    call.inner_orders = none;
    call.n_inner_orders = 2;
    REFUSED(ZLG_USAGE, "inner_order 3",
            zlg_array_write(array, NULL, &(zlg_source){.data = elements}, &call, err_));
    zlg_array_close(array);
    close_fixture(&f);
}

/* A shard inside of other codecs is made in the same way: order, and what is left out. */
static void test_order_inside_of_other_codecs(void **state)
{
    (void)state;
    static const uint8_t elements[6] = {1, 0, 3, 4, 5, 6};
    static const uint8_t by_order[3][5] = {
        {1, 4, 5, 3, 6}, {1, 3, 4, 5, 6}, {1, 4, 5, 3, 6}};
    static const uint8_t all[3][6] = {
        {1, 4, 0, 5, 3, 6}, {1, 0, 3, 4, 5, 6}, {1, 4, 0, 5, 3, 6}};
    fixture f;
    open_fixture(&f);
    zlg_store *store = f.stores[0];
    zlg_array *array = put_array(store, "", "[2,3]", "\"uint8\"", REGULAR("[2,3]"), "0",
                                 "[" SHARD("[1,1]", "[{\"name\":\"bytes\"}]") "," CRC "]");
    for (int k = 0; k < 6; k++) {
        zlg_text text;
        zlg_call call = ZLG_CALL_INIT;
        call.inner_order = (zlg_inner_order)(k % 3);
        call.keep_empty = k < 3 ? -1 : 1;
        MUST(zlg_array_write(array, NULL, &(zlg_source){.data = elements}, &call, err_));
        MUST(zlg_store_get(store, "c/0/0", &text, err_));
        size_t n = k < 3 ? 5 : 6;
        assert_int_equal(text.n_bytes, n + 6 * 16 + 4 + 4);
        assert_memory_equal(text.data, k < 3 ? by_order[k] : all[k - 3], n);
        zlg_text_free(&text);
    }
    zlg_array_close(array);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_read),
        cmocka_unit_test(test_one_of_several),
        cmocka_unit_test(test_the_fill_value_removes),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_inner_order),
        cmocka_unit_test(test_inner_order_of_nested_shards),
        cmocka_unit_test(test_inner_orders),
        cmocka_unit_test(test_order_inside_of_other_codecs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
