/* The sort that allocates nothing: order, and work that stays n log n whatever comes. */
#include "test.h"

#include "base/base.h"

typedef struct pair {
    uint32_t key, id;
} pair;

static bool pair_is_less(const pair *a, const pair *b, const void *context)
{
    size_t *n_calls = *(size_t *const *)context;
    ++*n_calls;
    return a->key != b->key ? a->key < b->key : a->id < b->id;
}
ZLGI_SORT(sort_pairs, pair, pair_is_less)

/* Sorts n keys and checks that every pair came back, in order. Returns how many pairs were
 * compared. */
static size_t check(const uint32_t *keys, uint32_t n)
{
    pair *pairs = malloc(((size_t)n + 1) * sizeof *pairs);
    bool *seen = calloc((size_t)n + 1, sizeof *seen);
    size_t n_calls = 0, ignored = 0;
    const size_t *counter = &n_calls;
    for (uint32_t i = 0; i < n; i++)
        pairs[i] = (pair){.key = keys[i], .id = i};
    pairs[n] = (pair){.key = 7, .id = 7}; /* behind the end: not touched */
    sort_pairs(pairs, n, &counter);
    counter = &ignored;
    for (uint32_t i = 0; i < n; i++) {
        assert_in_range(pairs[i].id, 0, n - 1);
        assert_int_equal(pairs[i].key, keys[pairs[i].id]);
        assert_false(seen[pairs[i].id]);
        seen[pairs[i].id] = true;
        if (i > 0)
            assert_true(pair_is_less(&pairs[i - 1], &pairs[i], &counter));
    }
    assert_true(pairs[n].key == 7 && pairs[n].id == 7);
    free(pairs);
    free(seen);
    return n_calls;
}

static bool has_time(const void *context)
{
    int *n_left = *(int *const *)context;
    return *n_left > 0 && --*n_left > 0;
}

static bool number_is_less(const uint32_t *a, const uint32_t *b, const void *context)
{
    (void)context;
    return *a < *b;
}
ZLGI_SORT_WHILE(sort_in_time, uint32_t, number_is_less, has_time)

/* Wherever it ends, every element is there; with time enough they are in order. */
static void test_that_ends_early(void **state)
{
    (void)state;
    enum { N = 20000 };
    static uint32_t numbers[N];
    bool is_sorted = false;
    for (int n_asks = 1; !is_sorted; n_asks *= 2) {
        int n_left = n_asks, *context = &n_left;
        uint64_t sum = 0;
        for (uint32_t i = 0; i < N; i++)
            numbers[i] = (uint32_t)((uint64_t)i * 7919 % N);
        sort_in_time(numbers, N, &context);
        is_sorted = true;
        for (uint32_t i = 0; i < N; i++) {
            sum += (uint64_t)numbers[i] * numbers[i];
            is_sorted = is_sorted && numbers[i] == i;
        }
        assert_int_equal(sum, (uint64_t)(N - 1) * N * (2 * N - 1) / 6);
        assert_true(is_sorted || n_left == 0);
    }
}

static void test_all_orders_of_few(void **state)
{
    (void)state;
    check(NULL, 0);
    for (uint32_t n = 1; n <= 5; n++) {
        uint32_t keys[5], n_orders = 1;
        for (uint32_t i = 0; i < n; i++)
            n_orders *= n;
        for (uint32_t order = 0; order < n_orders; order++) {
            for (uint32_t i = 0, rest = order; i < n; i++, rest /= n)
                keys[i] = rest % n;
            check(keys, n);
        }
    }
}

enum {
    MANY = 20000,
    MOST = 3 * 15 * MANY
}; /* 15: log2 of MANY; a random order takes 1.3 */

static void test_many(void **state)
{
    (void)state;
    uint32_t *keys = malloc(MANY * sizeof *keys);
    uint64_t seed = 9;
    for (uint32_t n = 1; n < 200; n++) {
        for (uint32_t i = 0; i < n; i++)
            keys[i] = (uint32_t)(test_random(&seed) % (n + 1));
        check(keys, n);
    }
    for (uint32_t i = 0; i < MANY; i++)
        keys[i] = (uint32_t)test_random(&seed);
    assert_in_range(check(keys, MANY), MANY, MOST);
    for (uint32_t i = 0; i < MANY; i++)
        keys[i] = i;
    assert_int_equal(check(keys, MANY), MANY - 1); /* sorted already */
    for (uint32_t i = 0; i < MANY; i++)
        keys[i] = MANY - i;
    assert_in_range(check(keys, MANY), MANY, MOST);
    for (uint32_t i = 0; i < MANY; i++)
        keys[i] = i < MANY / 2 ? i : MANY - i;
    assert_in_range(check(keys, MANY), MANY, MOST);
    memset(keys, 0, MANY * sizeof *keys);
    keys[0] = 1;
    assert_in_range(check(keys, MANY), MANY, MOST);
    free(keys);
}

/* A comparison that makes up its answers as it goes, so that each pivot turns out to be
 * nearly the smallest: quadratic for a quicksort that trusts its pivots. */
typedef struct adversary {
    uint32_t *values; /* UINT32_MAX: not decided yet, larger than all that are */
    uint32_t n_decided, candidate;
    size_t n_calls;
} adversary;

static bool is_less_to_spite(const uint32_t *a, const uint32_t *b, const void *context)
{
    adversary *spite = *(adversary *const *)context;
    uint32_t *values = spite->values;
    spite->n_calls++;
    if (values[*a] == UINT32_MAX && values[*b] == UINT32_MAX) {
        uint32_t decided = *a == spite->candidate ? *a : *b;
        values[decided] = spite->n_decided++;
    }
    spite->candidate = values[*a] == UINT32_MAX ? *a : *b;
    return values[*a] < values[*b];
}
ZLGI_SORT(sort_to_spite, uint32_t, is_less_to_spite)

static void test_an_adversary_gets_a_heap(void **state)
{
    (void)state;
    uint32_t *ids = malloc(MANY * sizeof *ids);
    adversary spite = {.values = malloc(MANY * sizeof *spite.values)};
    const adversary *context = &spite;
    for (uint32_t i = 0; i < MANY; i++) {
        ids[i] = i;
        spite.values[i] = UINT32_MAX;
    }
    spite.values[1] = spite.n_decided++; /* so that it does not begin as sorted */
    sort_to_spite(ids, MANY, &context);
    for (uint32_t i = 1; i < MANY; i++)
        assert_true(spite.values[ids[i - 1]] <= spite.values[ids[i]]);
    assert_in_range(spite.n_calls, MANY, 3 * MOST);
    free(ids);
    free(spite.values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_orders_of_few),
        cmocka_unit_test(test_that_ends_early),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_an_adversary_gets_a_heap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
