/* Objects that do not decode, as a power loss may leave them: whoever writes over all that
 * the array has of one mends it, whoever writes over a part is told, and none stands in the
 * way of a shape that changes. */
#define _GNU_SOURCE
#include "change_test.h"

static const char *const layouts[] = {
    "[" LITTLE "]",
    "[" BIG "," ZSTD "]",
    "[" SHARD("[2,2]", "[" LITTLE "," CRC "]") "]",
    "[" TRANSPOSE("[1,0]") "," SHARD_AT("start", "[4,2]", "[" BIG "," GZIP "]") "]",
    "[" SHARD("[2,1]", "[" LITTLE "]") "," CRC "]",
    "[" SHARD("[2,4]", "[" SHARD("[1,2]", "[" LITTLE "," CRC "]") "]") "]",
};
enum { FIRST_SHARD = 2, SIDE = 7, FILL = 5 };

/* 7 x 7 in objects of 4 x 4, all of them with the same element. */
static zlg_array *make_array(zlg_store *store, const char *codecs)
{
    zlg_array *array =
        put_array(store, "", "[7,7]", "\"uint16\"", REGULAR("[4,4]"), "5", codecs);
    const uint16_t one = 1;
    MUST(zlg_array_fill(array, NULL, &one, sizeof one, NULL, err_));
    return array;
}

static zlg_selection box_of(zlg_axis axes[2], int64_t row, int64_t n_rows, int64_t column,
                            int64_t n_columns)
{
    axes[0] = (zlg_axis){.start = row, .step = 1, .count = n_rows};
    axes[1] = (zlg_axis){.start = column, .step = 1, .count = n_columns};
    return (zlg_selection){.kind = ZLG_BOX, .rank = 2, .axes = axes};
}

static zlg_status fill_box(zlg_array *array, int64_t row, int64_t n_rows, int64_t column,
                           int64_t n_columns, uint16_t element, zlg_error *err)
{
    zlg_axis axes[2];
    zlg_selection box = box_of(axes, row, n_rows, column, n_columns);
    return zlg_array_fill(array, &box, &element, sizeof element, NULL, err);
}

static void check_element(zlg_array *array, int64_t row, int64_t column, uint16_t expected)
{
    zlg_axis axes[2];
    zlg_selection box = box_of(axes, row, 1, column, 1);
    uint16_t out = 0;
    MUST(zlg_array_read(array, &box, &(zlg_target){.data = &out}, NULL, err_));
    assert_int_equal(out, expected);
}

static void check_all(zlg_array *array, uint16_t expected)
{
    uint16_t out[SIDE * SIDE];
    MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, NULL, err_));
    for (int i = 0; i < SIDE * SIDE; i++)
        assert_int_equal(out[i], expected);
}

/* Over stores and layouts. */
static void for_each(void (*test)(zlg_store *store, const char *codecs))
{
    for (size_t i = 0; i < N_STORES * ZLGI_COUNT(layouts); i++) {
        fixture f;
        open_fixture(&f);
        test(f.stores[i % N_STORES], layouts[i / N_STORES]);
        close_fixture(&f);
    }
}

/* ------------------------------------------------------------------ writes */

static uint16_t sevens[SIDE * SIDE];
static const zlg_source source = {.data = sevens};

static zlg_status write_all(zlg_array *array, zlg_error *err)
{
    return zlg_array_write(array, NULL, &source, NULL, err);
}

static zlg_status write_by_mask(zlg_array *array, zlg_error *err)
{
    uint8_t mask[SIDE * SIDE];
    memset(mask, 1, sizeof mask);
    const zlg_selection all = {.kind = ZLG_MASK, .rank = 2, .mask = mask};
    return zlg_array_write(array, &all, &source, NULL, err);
}

/* Each border object is covered by two or four of them. */
static zlg_status write_parts(zlg_array *array, zlg_error *err)
{
    zlg_axis axes[4][2];
    const zlg_selection boxes[4] = {
        box_of(axes[0], 0, 5, 0, 6), box_of(axes[1], 0, 5, 6, 1),
        box_of(axes[2], 5, 2, 0, 5), box_of(axes[3], 5, 2, 5, 2)};
    zlg_write writes[5];
    for (int i = 0; i < 5; i++) /* one of them twice */
        writes[i] =
            (zlg_write){.array = array, .selection = &boxes[i % 4], .source = source};
    return zlg_write_many(writes, 5, NULL, err);
}

static zlg_status fill_all(zlg_array *array, zlg_error *err)
{
    return zlg_array_fill(array, NULL, sevens, sizeof *sevens, NULL, err);
}

static zlg_status (*const whole_writes[])(zlg_array *array, zlg_error *err) = {
    write_all, write_by_mask, write_parts, fill_all};

static void mend(zlg_store *store, const char *codecs)
{
    static const char *const keys[] = {"c/0/0", "c/0/1", "c/1/0", "c/1/1"};
    static const char *const texts[] = {"", "this is no chunk", "no"};
    for (size_t i = 0; i < ZLGI_COUNT(texts); i++)
        for (size_t k = 0; k < ZLGI_COUNT(whole_writes); k++) {
            zlg_array *array = make_array(store, codecs);
            for (size_t n = 0; n < ZLGI_COUNT(keys); n++)
                put_text(store, keys[n], texts[i]);
            REFUSED(ZLG_CORRUPT, "c/1/1", fill_box(array, 4, 3, 4, 2, 7, err_));
            MUST(whole_writes[k](array, err_));
            check_all(array, 7);
            put_text(store, "c/1/1", texts[i]);
            MUST(zlg_array_fill(array, NULL, NULL, 0, NULL, err_));
            check_all(array, FILL);
            assert_int_equal(n_keys(store, ""), 1);
            zlg_array_close(array);
        }
}

static void test_whole_writes_mend(void **state)
{
    (void)state;
    for (int i = 0; i < SIDE * SIDE; i++)
        sevens[i] = 7;
    for_each(mend);
}

/* Changes a byte of the inner chunk that ends a shard, or begins it. */
static void break_chunk(zlg_store *store, const char *key, bool is_last, size_t n_index)
{
    zlg_text text;
    MUST(zlg_store_get(store, key, &text, err_));
    text.data[is_last ? text.n_bytes - n_index - 1 : 0] ^= 1;
    const zlgi_bytes bytes = {.data = (const uint8_t *)text.data, .n = text.n_bytes};
    MUST(zlgi_store_put(store, key, ZLGI_REPLACE, ZLG_VISIBLE, &bytes, 1, err_));
    zlg_text_free(&text);
}

enum { N_INDEX = 4 * 16 + 4 }; /* of layouts[FIRST_SHARD] */

static void test_one_inner_chunk(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    for (int i = 0; i < N_STORES; i++) {
        zlg_array *array = make_array(f.stores[i], layouts[FIRST_SHARD]);
        break_chunk(f.stores[i], "c/1/1", true, N_INDEX);
        REFUSED(ZLG_CORRUPT, "c/1/1",
                zlg_array_read(array, NULL, &(zlg_target){.data = sevens}, NULL, err_));
        /* The others move, and of the broken one only an element lies in the array. */
        MUST(fill_box(array, 4, 1, 4, 1, 1, err_));
        MUST(fill_box(array, 6, 1, 6, 1, 1, err_));
        check_all(array, 1);
        break_chunk(f.stores[i], "c/1/1", false, N_INDEX);
        REFUSED(ZLG_CORRUPT, "c/1/1", fill_box(array, 4, 1, 4, 1, 1, err_));
        MUST(fill_box(array, 4, 2, 4, 2, 1, err_));
        check_all(array, 1);
        zlg_array_close(array);
    }
    close_fixture(&f);
}

/* What is covered is not even read, be it by several writes of one call, or a mask. */
static void test_nothing_is_read(void **state)
{
    (void)state;
    static const uint8_t mask[64] = {0, 1, 1};
    uint8_t all[64];
    uint16_t data[64] = {0};
    memset(all, 1, sizeof all);
    for (size_t i = 0; i < ZLGI_COUNT(layouts); i++) {
        fixture f;
        zlg_store *store;
        zlg_axis axes[2][2];
        open_fixture(&f);
        MUST(zlgi_counting_open(&f.ctx->alloc, f.stores[i % N_STORES], &store, err_));
        store->limits = &f.ctx->limits;
        zlgi_store_adopt(f.ctx, store);
        zlg_array *array =
            put_array(store, "", "[8,8]", "\"uint16\"", REGULAR("[4,4]"), "5", layouts[i]);
        MUST(zlg_array_write(array, NULL, &(zlg_source){.data = data}, NULL, err_));
        const zlg_selection halves[2] = {box_of(axes[0], 0, 3, 0, 8),
                                         box_of(axes[1], 3, 5, 0, 8)};
        const zlg_selection masks[2] = {{.kind = ZLG_MASK, .rank = 2, .mask = all},
                                        {.kind = ZLG_MASK, .rank = 2, .mask = mask}};
        const zlg_write writes[2] = {
            {.array = array, .selection = &halves[0], .source = {.data = data}},
            {.array = array, .selection = &halves[1], .source = {.data = data + 24}}};
        zlgi_store_counts before = zlgi_counting_get(store), after;
        data[25] = 9;
        MUST(zlg_write_many(writes, 2, NULL, err_));
        MUST(zlg_array_write(array, &masks[0], &(zlg_source){.data = data}, NULL, err_));
        after = zlgi_counting_get(store);
        assert_int_equal(after.n_reads, before.n_reads);
        assert_int_equal(after.n_opens, before.n_opens);
        assert_int_equal(after.n_puts, before.n_puts + 8);
        check_element(array, 3, 1, 9);
        /* Where they overlap they may leave a gap. */
        MUST(zlg_array_write(array, &masks[1], &(zlg_source){.data = data + 24}, NULL,
                             err_));
        check_element(array, 0, 2, 9);
        check_element(array, 0, 3, 0);
        check_element(array, 3, 1, 9);
        zlg_array_close(array);
        zlg_store_close(store);
        close_fixture(&f);
    }
}

/* ------------------------------------------------------------------ shapes */

static zlg_array *resize(zlg_array *array, int64_t rows, int64_t columns)
{
    const int64_t shape[2] = {rows, columns};
    zlg_array *out;
    MUST(zlg_array_resize(array, shape, NULL, &out, err_));
    zlg_array_close(array);
    return out;
}

static void shrink(zlg_store *store, const char *codecs)
{
    zlg_text text;
    zlg_array *array = make_array(store, codecs);
    put_text(store, "c/0/1", "this is no chunk");
    array = resize(array, 5, 5);
    MUST(zlg_array_metadata(array, &text, err_));
    assert_null(strstr(text.data, "zellige_shrinking"));
    zlg_text_free(&text);
    array = resize(array, SIDE, SIDE);
    check_element(array, 4, 4, 1);
    check_element(array, 5, 4, FILL); /* its neighbours were trimmed */
    check_element(array, 5, 0, FILL);
    check_text(store, "c/0/1", "this is no chunk");
    MUST(fill_box(array, 0, 4, 4, 3, 1, err_));
    check_element(array, 0, 6, 1);
    zlg_array_close(array);
}

static void test_shrinking(void **state)
{
    (void)state;
    for_each(shrink);
}

/* Of a shard the inner chunks that are whole are trimmed all the same. */
static void test_shrinking_through_a_shard(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    for (int i = 0; i < N_STORES; i++) {
        uint16_t out;
        zlg_axis axes[2];
        zlg_selection box = box_of(axes, 4, 1, 4, 1);
        zlg_array *array = make_array(f.stores[i], layouts[FIRST_SHARD]);
        break_chunk(f.stores[i], "c/1/1", false, N_INDEX);
        array = resize(array, 5, 5);
        array = resize(array, SIDE, SIDE);
        REFUSED(ZLG_CORRUPT, "c/1/1",
                zlg_array_read(array, &box, &(zlg_target){.data = &out}, NULL, err_));
        check_element(array, 4, 6, FILL);
        check_element(array, 6, 4, FILL);
        check_element(array, 6, 6, FILL);
        zlg_array_close(array);
    }
    close_fixture(&f);
}

/* What an append takes back: a broken object does not keep the others. */
static void clear(zlg_store *store, const char *codecs)
{
    zlg_axis axes[2];
    const zlg_selection box = box_of(axes, 1, 6, 0, 7);
    zlg_call call = ZLG_CALL_INIT;
    call.promise = ZLG_VISIBLE;
    zlg_array *array = make_array(store, codecs);
    put_text(store, "c/0/0", "this is no chunk");
    MUST(zlgi_array_clear(array, &box, &call, err_));
    check_text(store, "c/0/0", "this is no chunk");
    assert_false(has_key(store, "c/1/0"));
    check_element(array, 0, 6, 1);
    check_element(array, 1, 6, FILL);
    zlg_array_close(array);
}

static void test_clearing(void **state)
{
    (void)state;
    for_each(clear);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_writes_mend),
        cmocka_unit_test(test_one_inner_chunk),
        cmocka_unit_test(test_nothing_is_read),
        cmocka_unit_test(test_shrinking),
        cmocka_unit_test(test_shrinking_through_a_shard),
        cmocka_unit_test(test_clearing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
