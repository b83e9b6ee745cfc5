/* Reducing boxes against a model that gathers each window into a list and looks at it; and
 * what the types make of edges, halves, NaN and NaT. */
#include "test.h"

#include <math.h>

#include "writer/reduce.h"

__extension__ typedef __int128 int128;

enum { MOST_ELEMENTS = 6000, ROOM = 1 << 19 };

static const zlg_type numbers[] = {
    ZLG_BOOL,          ZLG_INT2,       ZLG_INT4,        ZLG_INT8,       ZLG_INT16,
    ZLG_INT32,         ZLG_INT64,      ZLG_UINT2,       ZLG_UINT4,      ZLG_UINT8,
    ZLG_UINT16,        ZLG_UINT32,     ZLG_UINT64,      ZLG_BFLOAT16,   ZLG_FLOAT16,
    ZLG_FLOAT32,       ZLG_FLOAT64,    ZLG_FLOAT8_E4M3, ZLG_DATETIME64, ZLG_FLOAT8_E5M2,
    ZLG_FLOAT6_E2M3FN, ZLG_TIMEDELTA64};

static bool is_time(zlg_type type)
{
    return type == ZLG_DATETIME64 || type == ZLG_TIMEDELTA64;
}

static zlgi_dtype dtype_of(zlg_type type, bool is_complex)
{
    size_t n_bytes = is_time(type) ? 8 : zlgi_type_bytes(type);
    return (zlgi_dtype){.type = is_complex ? ZLG_COMPLEX : type,
                        .part = type,
                        .n_bytes = is_complex ? 2 * n_bytes : n_bytes};
}

/* ------------------------------------------------------------------ the model */

static void reverse(uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        uint8_t byte = bytes[i];
        bytes[i] = bytes[n - 1 - i];
        bytes[n - 1 - i] = byte;
    }
}

static int128 integer_at(zlg_type type, const uint8_t *native)
{
    bool is_signed = is_time(type) || zlgi_type_is_signed(type);
    size_t n = is_time(type) ? 8 : zlgi_type_bytes(type);
    int128 v = 0;
    for (size_t i = n; i-- > 0;)
        v = v * 256 + native[i]; /* tests run on little-endian machines */
    return is_signed && native[n - 1] & 0x80 ? v - ((int128)1 << 8 * n) : v;
}

static int128 model_integer(zlg_type type, zlg_reduce how, const uint8_t *list, size_t n,
                            size_t n_bytes)
{
    int128 sum = 0, best = integer_at(type, list);
    for (size_t i = 0; i < n; i++) {
        int128 v = integer_at(type, list + i * n_bytes);
        if (is_time(type) && v == INT64_MIN)
            return v;
        sum += v;
        if (how == ZLG_REDUCE_MIN ? v < best : v > best)
            best = v;
    }
    if (how != ZLG_REDUCE_MEAN)
        return best;
    /* Twice the mean, from below; odd is a half or more than one. */
    int128 low = sum / (int128)n - (sum % (int128)n < 0);
    int128 twice = 2 * (sum - low * (int128)n);
    return twice > (int128)n || (twice == (int128)n && low % 2 != 0) ? low + 1 : low;
}

static double model_float(zlg_type type, zlg_reduce how, const uint8_t *list, size_t n,
                          size_t n_bytes)
{
    double sum = 0, best = zlgi_number_to_double(type, list);
    for (size_t i = 0; i < n; i++) {
        double v = zlgi_number_to_double(type, list + i * n_bytes);
        sum += v;
        if (isnan(v) || (how == ZLG_REDUCE_MIN ? v < best : v > best))
            best = isnan(best) ? best : v;
    }
    return how == ZLG_REDUCE_MEAN ? sum / (double)n : best;
}

/* A list of parts, each of n_bytes, in native order. */
static void model_window(zlg_type type, zlg_reduce how, const uint8_t *list, size_t n,
                         size_t n_bytes, uint8_t *out)
{
    if (how == ZLG_REDUCE_DECIMATE) {
        memcpy(out, list, n_bytes);
    } else if (zlgi_type_is_float(type)) {
        zlgi_number_from_double(type, model_float(type, how, list, n, n_bytes), out);
    } else {
        int128 v = model_integer(type, how, list, n, n_bytes);
        memcpy(out, &v, n_bytes);
    }
}

typedef struct box {
    zlgi_dtype dtype;
    zlg_reduce how;
    int rank;
    int64_t factors[4], count[4];
    zlg_source source;
} box;

/* Next position in a shape; false behind the last. */
static bool step(int rank, const int64_t *shape, int64_t *at)
{
    for (int axis = rank; axis-- > 0; at[axis] = 0)
        if (++at[axis] < shape[axis])
            return true;
    return false;
}

static void model(const box *b, uint8_t *out)
{
    static uint8_t list[ROOM];
    int64_t shape[4], at[4] = {0};
    size_t n_parts = b->dtype.type == ZLG_COMPLEX ? 2 : 1;
    size_t n_bytes = b->dtype.n_bytes / n_parts;
    for (int i = 0; i < b->rank; i++)
        shape[i] = (b->count[i] + b->factors[i] - 1) / b->factors[i];
    do {
        int64_t window[4], k[4] = {0};
        for (int i = 0; i < b->rank; i++)
            window[i] = ZLGI_MIN(b->factors[i], b->count[i] - at[i] * b->factors[i]);
        for (size_t part = 0; part < n_parts; part++) {
            size_t n = 0;
            do {
                const uint8_t *from = b->source.data;
                for (int i = 0; i < b->rank; i++)
                    from += (at[i] * b->factors[i] + k[i]) * b->source.strides[i];
                memcpy(list + n * n_bytes, from + part * n_bytes, n_bytes);
                if (b->source.swapped)
                    reverse(list + n * n_bytes, n_bytes);
                n++;
            } while (step(b->rank, window, k));
            model_window(b->dtype.part, b->how, list, n, n_bytes, out);
            if (b->source.swapped)
                reverse(out, n_bytes);
            out += n_bytes;
        }
    } while (step(b->rank, shape, at));
}

/* ------------------------------------------------------------------ random boxes */

/* Any bits that are a value of the type; now and then one that is not like others. */
static void random_part(zlg_type type, uint64_t *seed, uint8_t *out)
{
    uint64_t bits = test_random(seed), odd = test_random(seed) % 97;
    int n_bits = 0;
    if (type == ZLG_BOOL)
        bits &= 1;
    else if (type == ZLG_INT2 || type == ZLG_INT4)
        bits = (uint64_t)((int64_t)(bits % 4) - 2);
    else if (type == ZLG_UINT2 || type == ZLG_UINT4)
        bits %= 4;
    else if (is_time(type) && odd == 0)
        bits = (uint64_t)INT64_MIN;
    else if (type == ZLG_FLOAT32 || type == ZLG_FLOAT64 || type == ZLG_BFLOAT16 ||
             type == ZLG_FLOAT16) {
        double v = odd == 0 ? NAN : odd == 1 ? INFINITY : (double)(int64_t)bits * 0x1p-53;
        zlgi_number_from_double(type, v, out);
        return;
    } else if (zlgi_type_is_float(type)) {
        n_bits = zlgi_type_float_layout(type)->n_bits;
        bits &= (UINT64_C(1) << n_bits) - 1;
    }
    memcpy(out, &bits, is_time(type) ? 8 : zlgi_type_bytes(type));
}

static uint8_t memory[ROOM + 64], got[ROOM], expected[ROOM];

/* Elements with gaps between them, on axes that may run backwards. */
static void fill_source(box *b, ptrdiff_t *strides, bool packed, uint64_t *seed)
{
    size_t n_parts = b->dtype.type == ZLG_COMPLEX ? 2 : 1;
    size_t n_bytes = b->dtype.n_bytes / n_parts;
    uint8_t *data = memory + (packed ? 0 : 3);
    ptrdiff_t stride = (ptrdiff_t)b->dtype.n_bytes;
    for (int i = b->rank; i-- > 0;) {
        stride += packed ? 0 : (ptrdiff_t)(test_random(seed) % 2);
        bool backwards = !packed && test_random(seed) % 3 == 0;
        strides[i] = backwards ? -stride : stride;
        data += backwards ? (b->count[i] - 1) * stride : 0;
        stride *= (ptrdiff_t)b->count[i];
    }
    assert_true(stride < ROOM);
    b->source = (zlg_source){.data = data, .strides = strides};
    b->source.swapped = !packed && test_random(seed) % 2;
    int64_t at[4] = {0};
    do {
        uint8_t *to = data;
        for (int i = 0; i < b->rank; i++)
            to += at[i] * strides[i];
        for (size_t part = 0; part < n_parts; part++) {
            random_part(b->dtype.part, seed, to + part * n_bytes);
            if (b->source.swapped)
                reverse(to + part * n_bytes, n_bytes);
        }
    } while (step(b->rank, b->count, at));
}

static void check_random(zlg_type type, bool is_complex, zlg_reduce how, uint64_t *seed)
{
    ptrdiff_t strides[4];
    box b = {.dtype = dtype_of(type, is_complex), .how = how};
    bool packed = test_random(seed) % 2;
    int64_t n = 1, n_out = 1;
    b.rank = (int)(test_random(seed) % 5);
    for (int i = b.rank; i-- > 0;) {
        int64_t most = i + 1 == b.rank && b.rank < 3 ? 700 : 9;
        b.count[i] = 1 + (int64_t)(test_random(seed) % (uint64_t)most);
        b.count[i] = n * b.count[i] > MOST_ELEMENTS ? 1 : b.count[i];
        b.factors[i] = packed ? 2 : 1 + (int64_t)(test_random(seed) % 5);
        n *= b.count[i];
        n_out *= (b.count[i] + b.factors[i] - 1) / b.factors[i];
    }
    fill_source(&b, strides, packed, seed);
    model(&b, expected);
    size_t n_bytes = (size_t)n_out * b.dtype.n_bytes;
    memset(got, 0xa5, n_bytes + 8);
    zlg_source source = b.source;
    source.strides = packed ? NULL : strides;
    zlgi_reduce(how, &b.dtype, b.rank, b.factors, b.count, &source, got);
    assert_memory_equal(got, expected, n_bytes);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(got[n_bytes + i], 0xa5);
}

static void test_against_the_model(void **state)
{
    (void)state;
    uint64_t seed = 6;
    for (int round = 0; round < 60; round++)
        for (size_t i = 0; i < ZLGI_COUNT(numbers); i++)
            for (int how = 0; how <= ZLG_REDUCE_DECIMATE; how++)
                check_random(numbers[i], false, (zlg_reduce)how, &seed);
}

static void test_complex(void **state)
{
    (void)state;
    static const zlg_type parts[] = {ZLG_FLOAT32, ZLG_FLOAT64, ZLG_FLOAT16, ZLG_BFLOAT16};
    uint64_t seed = 7;
    for (int round = 0; round < 60; round++)
        for (size_t i = 0; i < ZLGI_COUNT(parts); i++) {
            check_random(parts[i], true, ZLG_REDUCE_MEAN, &seed);
            check_random(parts[i], true, ZLG_REDUCE_DECIMATE, &seed);
        }
}

/* ------------------------------------------------------------------ by hand */

static void reduce_line(zlg_reduce how, zlg_type type, int64_t factor, int64_t n,
                        const void *data, void *out)
{
    zlgi_dtype dtype = dtype_of(type, false);
    zlgi_reduce(how, &dtype, 1, &factor, &n, &(zlg_source){.data = data}, out);
}

static void test_halves_go_to_even(void **state)
{
    (void)state;
    static const int8_t in[] = {0, 1, 1, 2, -1, 0, -2, -1, -3, -2, 127, 127, 5};
    static const int8_t halves[] = {0, 2, 0, -2, -2, 127, 5};
    int8_t out[7];
    reduce_line(ZLG_REDUCE_MEAN, ZLG_INT8, 2, 13, in, out);
    assert_memory_equal(out, halves, sizeof out);
    static const int8_t thirds[] = {1, 0, -2, 84, 5}; /* 2/3, -1/3, -2, 251/3 - 1 */
    static const int8_t of_three[] = {0, 1, 1, -1, 1, -1, -2, -1, -3, 127, 127, -2, 5};
    reduce_line(ZLG_REDUCE_MEAN, ZLG_INT8, 3, 13, of_three, out);
    assert_memory_equal(out, thirds, sizeof thirds);
}

static void test_sums_do_not_overflow(void **state)
{
    (void)state;
    enum { N = 1 << 17 };
    static uint16_t shorts[N];
    memset(shorts, 0xff, sizeof shorts);
    uint16_t mean = 0;
    reduce_line(ZLG_REDUCE_MEAN, ZLG_UINT16, N, N, shorts, &mean);
    assert_int_equal(mean, 0xffff);
    reduce_line(ZLG_REDUCE_MEAN, ZLG_UINT16, 1 << 15, 1 << 15, shorts, &mean);
    assert_int_equal(mean, 0xffff);
    static const int64_t least[3] = {INT64_MIN, INT64_MIN, INT64_MIN};
    static const uint64_t most[3] = {UINT64_MAX, UINT64_MAX, UINT64_MAX - 1};
    int64_t low = 0;
    uint64_t high = 0;
    reduce_line(ZLG_REDUCE_MEAN, ZLG_INT64, 3, 3, least, &low);
    assert_true(low == INT64_MIN);
    reduce_line(ZLG_REDUCE_MEAN, ZLG_UINT64, 3, 3, most, &high);
    assert_true(high == UINT64_MAX);
}

static void test_what_is_missing_wins(void **state)
{
    (void)state;
    static const float floats[] = {1, NAN, NAN, 2, 3, 4};
    static const int64_t times[] = {1, INT64_MIN, INT64_MIN, 2, 3, 4};
    for (int how = ZLG_REDUCE_MEAN; how <= ZLG_REDUCE_MAX; how++) {
        float f[3];
        int64_t t[3];
        reduce_line((zlg_reduce)how, ZLG_FLOAT32, 2, 6, floats, f);
        assert_true(isnan(f[0]) && isnan(f[1]) && !isnan(f[2]));
        reduce_line((zlg_reduce)how, ZLG_DATETIME64, 2, 6, times, t);
        assert_true(t[0] == INT64_MIN && t[1] == INT64_MIN && t[2] >= 3);
        reduce_line((zlg_reduce)how, ZLG_INT64, 2, 6, times, t);
        assert_true((t[0] == INT64_MIN) == (how == ZLG_REDUCE_MIN));
    }
}

static void test_other_elements_are_only_decimated(void **state)
{
    (void)state;
    const zlgi_dtype raw = {.type = ZLG_RAW, .part = ZLG_RAW, .n_bytes = 3};
    const zlgi_dtype text = {.type = ZLG_STRING, .part = ZLG_STRING};
    const zlgi_dtype number = dtype_of(ZLG_FLOAT32, true);
    zlg_error err;
    static const int64_t factors[2] = {2, 3}, count[2] = {3, 4};
    char out[13] = {0};
    zlgi_reduce(ZLG_REDUCE_DECIMATE, &raw, 2, factors, count,
                &(zlg_source){.data = "a00a01a02a03b10b11b12b13c20c21c22c23"}, out);
    assert_string_equal(out, "a00a03c20c23");
    assert_int_equal(zlgi_reduce_check(ZLG_REDUCE_DECIMATE, &raw, &err), ZLG_OK);
    assert_int_equal(zlgi_reduce_check(ZLG_REDUCE_MEAN, &raw, &err), ZLG_UNSUPPORTED);
    assert_non_null(strstr(err.message, "have no mean"));
    assert_int_equal(zlgi_reduce_check(ZLG_REDUCE_MEAN, &number, &err), ZLG_OK);
    assert_int_equal(zlgi_reduce_check(ZLG_REDUCE_MAX, &number, &err), ZLG_UNSUPPORTED);
    assert_int_equal(zlgi_reduce_check(ZLG_REDUCE_DECIMATE, &text, &err), ZLG_UNSUPPORTED);
    assert_int_equal(zlgi_reduce_check((zlg_reduce)9, &raw, &err), ZLG_USAGE);
}

static void test_nothing(void **state)
{
    (void)state;
    uint8_t untouched = 7;
    reduce_line(ZLG_REDUCE_MEAN, ZLG_UINT8, 2, 0, NULL, &untouched);
    assert_int_equal(untouched, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_the_model),
        cmocka_unit_test(test_complex),
        cmocka_unit_test(test_halves_go_to_even),
        cmocka_unit_test(test_sums_do_not_overflow),
        cmocka_unit_test(test_what_is_missing_wins),
        cmocka_unit_test(test_other_elements_are_only_decimated),
        cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests_name("reduce", tests, NULL, NULL);
}
