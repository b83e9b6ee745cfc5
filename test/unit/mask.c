/* Masks restricted to boxes, against a look at every byte. */
#include "test.h"

#include "grid/grid.h"

enum { RANK = 3, MOST = 9 * 40 * 70 };

typedef struct fixture {
    int64_t shape[RANK];
    uint8_t *bytes;       /* without a byte behind the last */
    int64_t number[MOST]; /* of each element in the result; -1: not selected */
    uint16_t result[MOST];
    zlgi_arena arena;
    zlgi_mask mask;
    zlgi_use use;
} fixture;

/* Of every `one_in` elements one is set: about, or all, or none (0). */
static void open_fixture(fixture *f, const int64_t shape[RANK], uint64_t one_in,
                         uint64_t seed)
{
    int64_t n = 1, n_set = 0, stride = 1;
    memset(f, 0, sizeof *f);
    memcpy(f->shape, shape, sizeof f->shape);
    zlgi_arena_init(&f->arena, &zlgi_default_alloc);
    for (int i = 0; i < RANK; i++)
        n *= shape[i];
    f->bytes = malloc((size_t)n);
    for (int64_t i = 0; i < n; i++) {
        bool set = one_in && (test_random(&seed) >> 9) % one_in == 0;
        f->bytes[i] = set ? (uint8_t)(1 + i % 255) : 0;
        f->number[i] = set ? n_set++ : -1;
        f->result[i] = (uint16_t)(i + 1);
    }
    assert_int_equal(zlgi_mask_make(&f->arena, f->bytes, n, &f->mask, NULL), ZLG_OK);
    f->mask.memory = (uint8_t *)f->result;
    f->mask.stride = sizeof *f->result;
    f->use = (zlgi_use){
        .rank = RANK, .kind = ZLGI_USE_MASK, .memory = f->bytes, .mask = &f->mask};
    for (int i = RANK - 1; i >= 0; stride *= shape[i--])
        f->use.axis[i] = (zlgi_use_axis){.step = 1, .count = shape[i], .stride = stride};
    assert_int_equal(zlgi_use_count(&f->use), n_set);
}

static void close_fixture(fixture *f)
{
    zlgi_arena_reset(&f->arena);
    free(f->bytes);
}

typedef struct box {
    int64_t start[RANK], shape[RANK]; /* may reach beyond the array */
    int order[RANK];
    ptrdiff_t strides[RANK]; /* in elements of a unit, by axis of the array */
    int64_t n;
} box;

static void pick_box(box *b, const fixture *f, uint64_t *seed)
{
    static const int orders[][RANK] = {{0, 1, 2}, {2, 0, 1}, {1, 2, 0}, {2, 1, 0}};
    ptrdiff_t stride = 1;
    memcpy(b->order, orders[test_random(seed) % 4], sizeof b->order);
    b->n = 1;
    for (int i = 0; i < RANK; i++) {
        int64_t kind = (int64_t)(test_random(seed) % 3);
        b->start[i] = kind ? (int64_t)(test_random(seed) % (uint64_t)f->shape[i]) : 0;
        b->shape[i] = kind == 1 ? 1 + (int64_t)(test_random(seed) % (uint64_t)f->shape[i])
                                : f->shape[i];
        b->n *= b->shape[i];
    }
    for (int i = RANK - 1; i >= 0; stride *= b->shape[b->order[i--]])
        b->strides[b->order[i]] = stride;
}

/* The element of the array that a place in the unit is; -1: beyond the array. */
static int64_t element_at(const fixture *f, const box *b, int64_t place)
{
    int64_t at[RANK];
    for (int i = RANK - 1; i >= 0; place /= b->shape[b->order[i--]])
        at[b->order[i]] = b->start[b->order[i]] + place % b->shape[b->order[i]];
    int64_t element = 0;
    for (int i = 0; i < RANK; i++) {
        if (at[i] >= f->shape[i])
            return -1;
        element = element * f->shape[i] + at[i];
    }
    return element;
}

/* Gathers the result into a unit, places the unit into an empty result, and fills it. */
static void check_box(const fixture *f, const box *b)
{
    zlgi_use cut;
    int64_t n_set = 0;
    ptrdiff_t strides[RANK];
    uint16_t *unit = calloc((size_t)b->n, sizeof *unit), fill = 0x5151, *result;
    result = calloc(MOST, sizeof *result);
    bool any = zlgi_use_cut(&f->use, b->start, b->shape, &cut);
    for (int64_t i = 0; i < b->n; i++) {
        int64_t element = element_at(f, b, i);
        n_set += element >= 0 && f->number[element] >= 0;
    }
    assert_int_equal(any, n_set > 0);
    if (any) {
        zlgi_use_permute(&cut, b->order);
        for (int i = 0; i < RANK; i++)
            strides[i] = b->strides[b->order[i]] * (ptrdiff_t)sizeof *unit;
        assert_int_equal(zlgi_use_count(&cut), n_set);
        zlgi_gather(&cut, (uint8_t *)unit, strides, sizeof *unit, NULL);
        for (int64_t i = 0; i < b->n; i++) {
            int64_t element = element_at(f, b, i);
            bool set = element >= 0 && f->number[element] >= 0;
            assert_int_equal(unit[i], set ? f->result[f->number[element]] : 0);
        }
        zlgi_mask to = f->mask;
        to.memory = (uint8_t *)result;
        cut.mask = &to;
        for (int round = 0; round < 2; round++) {
            if (round == 0)
                zlgi_place(&cut, (const uint8_t *)unit, strides, sizeof *unit, NULL);
            else
                zlgi_place_fill(&cut, (const uint8_t *)&fill, sizeof fill);
            int64_t n_placed = 0;
            for (int64_t i = 0; i < MOST; i++)
                n_placed += result[i] != 0;
            assert_int_equal(n_placed, n_set);
            for (int64_t i = 0; i < b->n; i++) {
                int64_t element = element_at(f, b, i);
                if (element >= 0 && f->number[element] >= 0)
                    assert_int_equal(result[f->number[element]], round ? fill : unit[i]);
            }
        }
    }
    free(unit);
    free(result);
}

static void test_boxes(void **state)
{
    (void)state;
    static const int64_t shapes[][RANK] = {{9, 40, 70}, {1, 1, 600}, {600, 1, 1},
                                           {7, 200, 3}, {3, 5, 4},   {1, 30, 1}};
    static const uint64_t one_in[] = {1, 2, 3, 20, 400, 9000, 0};
    fixture *f = malloc(sizeof *f);
    uint64_t seed = 1;
    for (size_t s = 0; s < ZLGI_COUNT(shapes); s++)
        for (size_t d = 0; d < ZLGI_COUNT(one_in); d++) {
            open_fixture(f, shapes[s], one_in[d], seed);
            for (int i = 0; i < 12; i++) {
                box b;
                pick_box(&b, f, &seed);
                check_box(f, &b);
            }
            close_fixture(f);
        }
    free(f);
}

/* Elements of several bytes whose result goes backwards, as the caller may ask. */
static void test_a_result_that_falls(void **state)
{
    (void)state;
    static const int64_t shape[RANK] = {2, 3, 20};
    fixture *f = malloc(sizeof *f);
    open_fixture(f, shape, 2, 8);
    int64_t n = zlgi_use_count(&f->use);
    uint16_t unit[120], result[120] = {0};
    const ptrdiff_t strides[RANK] = {120, 40, 2};
    for (uint16_t i = 0; i < 120; i++)
        unit[i] = (uint16_t)(i + 1);
    f->mask.memory = (uint8_t *)&result[n - 1];
    f->mask.stride = -(ptrdiff_t)sizeof *result;
    zlgi_place(&f->use, (const uint8_t *)unit, strides, sizeof *unit, NULL);
    for (int64_t i = 0; i < 120; i++)
        if (f->number[i] >= 0)
            assert_int_equal(result[n - 1 - f->number[i]], i + 1);
    close_fixture(f);
    free(f);
}

/* What is counted does not depend on how the bytes lie. */
static void test_counts(void **state)
{
    (void)state;
    uint8_t bytes[2000];
    memset(bytes, 0, sizeof bytes);
    for (int64_t i = 0; i < 2000; i += 3)
        bytes[i] = 255;
    for (int64_t first = 0; first < 30; first++)
        for (int64_t n = 0; first + n <= 2000; n += 1 + n / 7) {
            int64_t expected = (first + n + 2) / 3 - (first + 2) / 3;
            assert_int_equal(zlgi_count_set(bytes + first, n), expected);
        }
    memset(bytes, 1, sizeof bytes);
    assert_int_equal(zlgi_count_set(bytes, 2000), 2000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_boxes),
        cmocka_unit_test(test_a_result_that_falls),
        cmocka_unit_test(test_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
