/* The rules by which shapes are chosen, as the header states them. */
#include "meta_test.h"

#include "meta/write.h"

typedef struct chunk_case {
    int rank;
    int64_t shape[4];
    size_t item;
    int64_t target;
    int64_t chunk[4];
} chunk_case;

#define GREATEST INT64_MAX

static void test_chunks(void **state)
{
    (void)state;
    static const chunk_case cases[] = {
        /* all of it fits */
        {2, {100, 200}, 4, 80000, {100, 200}},
        {1, {1}, 8, 1, {1}},
        /* the longest axis is halved, rounding up */
        {2, {100, 200}, 4, 79999, {100, 100}},
        {2, {100, 200}, 4, 39999, {50, 100}},
        {1, {7}, 1, 6, {4}},
        {1, {7}, 1, 3, {2}},
        /* the first of equals */
        {3, {64, 64, 64}, 1, 64 * 64 * 64 - 1, {32, 64, 64}},
        {3, {64, 64, 64}, 1, 32 * 64 * 64 - 1, {32, 32, 64}},
        {3, {5, 5, 5}, 2, 100, {3, 3, 5}},
        /* an axis of no length is as one of length 1 */
        {2, {0, 1000}, 8, 8000, {1, 1000}},
        {2, {0, 1000}, 8, 100, {1, 8}},
        {1, {0}, 8, 100, {1}},
        /* an element may be more than the target */
        {2, {3, 3}, 1000, 10, {1, 1}},
        {0, {0}, 1000, 10, {0}},
        /* elements without bytes */
        {1, {1000}, 0, 1, {1000}},
        /* no product overflows */
        {1, {GREATEST}, 8, 1 << 20, {131072}},
        {4, {GREATEST, GREATEST, GREATEST, GREATEST}, 8, 4096, {4, 4, 4, 8}},
    };
    for (size_t i = 0; i < ZLGI_COUNT(cases); i++) {
        const chunk_case *c = &cases[i];
        int64_t out[4] = {0};
        zlgi_meta_choose_chunk(c->rank, c->shape, c->item, c->target, out);
        for (int k = 0; k < c->rank; k++)
            if (out[k] != c->chunk[k])
                fail_msg("case %zu, axis %d: %lld, expected %lld", i, k, (long long)out[k],
                         (long long)c->chunk[k]);
    }
}

typedef struct shard_case {
    int rank;
    int64_t shape[3], chunk[3];
    size_t item;
    int64_t target;
    int64_t shard[3];
} shard_case;

static void test_shards(void **state)
{
    (void)state;
    static const shard_case cases[] = {
        /* one inner chunk is the whole array */
        {2, {10, 10}, {10, 10}, 1, 1 << 20, {10, 10}},
        /* until the array is covered, which a shard may then pass */
        {1, {10}, {3}, 1, 1000, {12}},
        {1, {12}, {3}, 1, 1000, {12}},
        {1, {13}, {3}, 1, 1000, {24}},
        /* until another doubling would pass the target */
        {1, {1000}, {10}, 4, 160, {40}},
        {1, {1000}, {10}, 4, 159, {20}},
        {1, {1000}, {10}, 4, 40, {10}},
        /* along the axis that needs most, the first of equals */
        {2, {100, 400}, {10, 10}, 1, 200, {10, 20}},
        {2, {100, 400}, {10, 10}, 1, 400, {10, 40}},
        {2, {100, 400}, {10, 10}, 1, 800, {20, 40}},
        {2, {80, 80}, {10, 10}, 1, 200, {20, 10}},
        {2, {80, 80}, {10, 10}, 1, 400, {20, 20}},
        {3, {8, 1, 64}, {8, 1, 1}, 1, 64, {8, 1, 8}},
        /* nothing to cover */
        {2, {0, 0}, {4, 4}, 1, 1 << 20, {4, 4}},
        {2, {0, 16}, {4, 4}, 1, 1 << 20, {4, 16}},
        {0, {0}, {0}, 8, 8, {0}},
        /* no length overflows */
        {1, {GREATEST}, {3}, 0, 1, {INT64_C(6917529027641081856)}},
    };
    for (size_t i = 0; i < ZLGI_COUNT(cases); i++) {
        const shard_case *c = &cases[i];
        int64_t out[3] = {0};
        zlgi_meta_choose_shard(c->rank, c->shape, c->chunk, c->item, c->target, out);
        for (int k = 0; k < c->rank; k++)
            if (out[k] != c->shard[k])
                fail_msg("case %zu, axis %d: %lld, expected %lld", i, k, (long long)out[k],
                         (long long)c->shard[k]);
    }
}

/* What is left open, and what an element of variable length counts as. */
static void test_defaults(void **state)
{
    (void)state;
    static const int64_t shape[1] = {1 << 26};
    static const struct {
        zlg_type type;
        int64_t target_chunk, target_shard, object, chunk;
    } cases[] = {
        {ZLG_FLOAT64, 0, 0, (16 << 20) / 8, 0},
        {ZLG_STRING, 0, 0, (16 << 20) / 64, 0},
        {ZLG_UINT8, 1 << 22, 0, 1 << 22, 0},
        {ZLG_UINT8, 0, 1 << 24, 1 << 24, 1 << 20},
        {ZLG_UINT8, 1 << 16, 1 << 24, 1 << 24, 1 << 16},
        {ZLG_STRING, 1 << 16, 1 << 20, (1 << 20) / 64, (1 << 16) / 64},
    };
    for (size_t i = 0; i < ZLGI_COUNT(cases); i++) {
        zlgi_meta_writer writer = {.spec = {.rank = 1, .shape = shape}};
        writer.spec.target_chunk_bytes = cases[i].target_chunk;
        writer.spec.target_shard_bytes = cases[i].target_shard;
        assert_int_equal(zlgi_meta_settle_shapes(&writer, zlgi_dtype_plain(cases[i].type),
                                                 false, &error),
                         ZLG_OK);
        assert_int_equal(writer.spec.object_shape[0], cases[i].object);
        assert_int_equal(writer.spec.chunk_shape != NULL, cases[i].chunk != 0);
        if (cases[i].chunk)
            assert_int_equal(writer.spec.chunk_shape[0], cases[i].chunk);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        meta_test(test_chunks),
        meta_test(test_shards),
        meta_test(test_defaults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
