/* The orders of inner chunks: each cell of a box once, and in which turn. */
#include "test.h"

#include "grid/grid.h"

static void check_order(zlg_inner_order kind, int rank, const int64_t *shape,
                        const uint64_t *expected, size_t n)
{
    zlgi_order order;
    uint64_t cell;
    zlgi_order_start(&order, kind, rank, shape);
    for (size_t i = 0; i < n; i++) {
        assert_true(zlgi_order_next(&order, &cell));
        assert_int_equal(cell, expected[i]);
    }
    assert_false(zlgi_order_next(&order, &cell));
}

static void test_turns(void **state)
{
    (void)state;
    static const int64_t shape[2] = {2, 3}, line[1] = {3}, deep[3] = {2, 1, 2};
    check_order(ZLG_MORTON, 2, shape, (const uint64_t[]){0, 3, 1, 4, 2, 5}, 6);
    check_order(ZLG_LEXICOGRAPHIC, 2, shape, (const uint64_t[]){0, 1, 2, 3, 4, 5}, 6);
    check_order(ZLG_COLEXICOGRAPHIC, 2, shape, (const uint64_t[]){0, 3, 1, 4, 2, 5}, 6);
    for (int kind = 0; kind <= ZLG_COLEXICOGRAPHIC; kind++) {
        check_order((zlg_inner_order)kind, 1, line, (const uint64_t[]){0, 1, 2}, 3);
        check_order((zlg_inner_order)kind, 0, NULL, (const uint64_t[]){0}, 1);
    }
    check_order(ZLG_MORTON, 3, deep, (const uint64_t[]){0, 2, 1, 3}, 4);
    check_order(ZLG_LEXICOGRAPHIC, 3, deep, (const uint64_t[]){0, 1, 2, 3}, 4);
    check_order(ZLG_COLEXICOGRAPHIC, 3, deep, (const uint64_t[]){0, 2, 1, 3}, 4);
}

/* Morton order of 4 x 4: by twos, and then the twos by twos. */
static void test_morton_is_by_twos(void **state)
{
    (void)state;
    static const int64_t shape[2] = {4, 4};
    check_order(ZLG_MORTON, 2, shape,
                (const uint64_t[]){0, 4, 1, 5, 8, 12, 9, 13, 2, 6, 3, 7, 10, 14, 11, 15},
                16);
    check_order(ZLG_COLEXICOGRAPHIC, 2, shape,
                (const uint64_t[]){0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15},
                16);
}

static void test_nothing(void **state)
{
    (void)state;
    static const int64_t shape[3] = {2, 0, 3};
    for (int kind = 0; kind <= ZLG_COLEXICOGRAPHIC; kind++)
        check_order((zlg_inner_order)kind, 3, shape, NULL, 0);
}

/* Random boxes: every cell once. */
static void test_each_cell_once(void **state)
{
    (void)state;
    uint64_t seed = 99;
    for (int i = 0; i < 300; i++) {
        int64_t shape[4];
        uint64_t n = 1, cell, n_seen = 0;
        int rank = (int)(test_random(&seed) % 5);
        for (int k = 0; k < rank; k++) {
            shape[k] = 1 + (int64_t)(test_random(&seed) % 7);
            n *= (uint64_t)shape[k];
        }
        uint8_t *seen = calloc((size_t)n, 1);
        zlgi_order order;
        zlgi_order_start(&order, (zlg_inner_order)(i % 3), rank, shape);
        while (zlgi_order_next(&order, &cell)) {
            assert_true(cell < n && !seen[cell]);
            seen[cell] = 1;
            n_seen++;
        }
        assert_int_equal(n_seen, n);
        free(seen);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_morton_is_by_twos),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_each_cell_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
