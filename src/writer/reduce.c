/*
 * Reduces boxes of elements: see reduce.h.
 *
 * The output is made in runs along its last axis. The outputs of a run have windows of one
 * size, and an accumulator each, to which the input rows that cross the run are added one
 * after the other. What is done for a row is a plain loop over memory, written once and
 * made for each type; factor 2 over elements that lie side by side is a case of its own,
 * with numbers that compilers make the most of.
 *
 * Refuses to know chunks, arrays and who wants all this.
 */
#include <math.h>

#include "writer/reduce.h"

enum { RUN = 256 };

__extension__ typedef __int128 int128;

typedef struct reducer reducer;
/* n outputs to `out`, each of `factor` inputs of every row that crosses the run. */
typedef void run_fn(const reducer *r, const uint8_t *at, int64_t factor, size_t n,
                    uint8_t *out);

struct reducer {
    int rank; /* at least 1 */
    int64_t factors[ZLG_MAX_RANK], count[ZLG_MAX_RANK];
    ptrdiff_t strides[ZLG_MAX_RANK], out_strides[ZLG_MAX_RANK];
    int64_t window[ZLG_MAX_RANK]; /* its shape at hand, but for the last axis */
    ptrdiff_t step, out_step;     /* bytes from input to input of a row; of outputs */
    zlg_type part;                /* what elements consist of */
    size_t n_bytes;               /* of an element */
    size_t n_parts;
    bool swapped;
    run_fn *run;
};

/* ------------------------------------------------------------------ rows of a window */

typedef struct rows {
    const uint8_t *at;
    int64_t index[ZLG_MAX_RANK];
} rows;

static void first_row(const reducer *r, const uint8_t *at, rows *row)
{
    row->at = at;
    for (int axis = 0; axis + 1 < r->rank; axis++)
        row->index[axis] = 0;
}

/* The next in C order; false behind the last. */
static bool next_row(const reducer *r, rows *row)
{
    for (int axis = r->rank - 1; axis-- > 0;) {
        if (++row->index[axis] < r->window[axis]) {
            row->at += r->strides[axis];
            return true;
        }
        row->index[axis] = 0;
        row->at -= (r->window[axis] - 1) * r->strides[axis];
    }
    return false;
}

static int64_t window_elements(const reducer *r, int64_t factor)
{
    for (int axis = 0; axis + 1 < r->rank; axis++)
        factor *= r->window[axis];
    return factor;
}

/* ------------------------------------------------------------------ elements in memory
 *
 * At any address and in either byte order.
 */
#define SWAP_8(bits) (bits)
#define SWAP_16 __builtin_bswap16
#define SWAP_32 __builtin_bswap32
#define SWAP_64 __builtin_bswap64

#define ELEMENT(name, type, n_bits)                                                        \
    static inline type load_##name(const uint8_t *at, bool swapped)                        \
    {                                                                                      \
        uint##n_bits##_t bits;                                                             \
        type v;                                                                            \
        memcpy(&bits, at, sizeof bits);                                                    \
        bits = swapped ? SWAP_##n_bits(bits) : bits;                                       \
        memcpy(&v, &bits, sizeof v);                                                       \
        return v;                                                                          \
    }                                                                                      \
    static inline void store_##name(type v, uint8_t *at, bool swapped)                     \
    {                                                                                      \
        uint##n_bits##_t bits;                                                             \
        memcpy(&bits, &v, sizeof bits);                                                    \
        bits = swapped ? SWAP_##n_bits(bits) : bits;                                       \
        memcpy(at, &bits, sizeof bits);                                                    \
    }

ELEMENT(i8, int8_t, 8)
ELEMENT(u8, uint8_t, 8)
ELEMENT(i16, int16_t, 16)
ELEMENT(u16, uint16_t, 16)
ELEMENT(i32, int32_t, 32)
ELEMENT(u32, uint32_t, 32)
ELEMENT(i64, int64_t, 64)
ELEMENT(u64, uint64_t, 64)
ELEMENT(f32, float, 32)
ELEMENT(f64, double, 64)

/* Walks the rows of a run: f(accumulators, at, step, factor, n, swapped). */
#define FOR_EACH_ROW(r, first, f, size, acc, factor, n)                                    \
    do {                                                                                   \
        rows row_;                                                                         \
        first_row(r, first, &row_);                                                        \
        do {                                                                               \
            if ((r)->step == (ptrdiff_t)(size) && !(r)->swapped && (factor) == 2)          \
                f(acc, row_.at, (ptrdiff_t)(size), 2, n, false);                           \
            else                                                                           \
                f(acc, row_.at, (r)->step, factor, n, (r)->swapped);                       \
        } while (next_row(r, &row_));                                                      \
    } while (0)
#define INLINED static inline __attribute__((always_inline)) void

/* ------------------------------------------------------------------ means
 *
 * What comes out of a sum. Integers: the quotient rounded down, and one more when the rest
 * is more than half, or half and the quotient odd. For a power of two, that is an addition
 * and a shift.
 */
typedef struct divisor {
    int64_t n;
    int shift; /* n = 1 << shift, or -1 */
} divisor;

#define DIVIDE(name, wide)                                                                 \
    static inline wide name(wide sum, divisor by)                                          \
    {                                                                                      \
        wide n = (wide)by.n, half = n / 2;                                                 \
        if (by.shift == 0)                                                                 \
            return sum;                                                                    \
        if (by.shift > 0)                                                                  \
            return (sum + (half - 1) + (sum >> by.shift & 1)) >> by.shift;                 \
        wide quotient = sum / n, rest = sum % n;                                           \
        if (rest < 0)                                                                      \
            quotient--, rest += n;                                                         \
        return quotient + (rest > n - rest || (rest == n - rest && (quotient & 1)));       \
    }

DIVIDE(divide_i32, int32_t)
DIVIDE(divide_i64, int64_t)
DIVIDE(divide_i128, int128)

static inline double divide_double(double sum, divisor by)
{
    return sum / (double)by.n;
}

/* A NaT puts a sum where no others come. */
static const int128 nat_sum = -((int128)1 << 100);

static inline int128 widen_time(int64_t v)
{
    return v == INT64_MIN ? nat_sum : v;
}

static inline int128 divide_time(int128 sum, divisor by)
{
    return sum < nat_sum / 2 ? INT64_MIN : divide_i128(sum, by);
}

#define MEAN(name, element, type, wide, widen, divide)                                     \
    INLINED add_##name(wide *sums, const uint8_t *at, ptrdiff_t step, int64_t factor,      \
                       size_t n, bool swapped)                                             \
    {                                                                                      \
        for (size_t j = 0; j < n; j++)                                                     \
            for (int64_t k = 0; k < factor; k++)                                           \
                sums[j] +=                                                                 \
                    widen(load_##element(at + ((int64_t)j * factor + k) * step, swapped)); \
    }                                                                                      \
    static void mean_##name(const reducer *r, const uint8_t *at, int64_t factor, size_t n, \
                            uint8_t *out)                                                  \
    {                                                                                      \
        wide sums[RUN];                                                                    \
        for (size_t j = 0; j < n; j++)                                                     \
            sums[j] = 0;                                                                   \
        divisor by = {.n = window_elements(r, factor)};                                    \
        by.shift = by.n & (by.n - 1) ? -1 : __builtin_ctzll((unsigned long long)by.n);     \
        FOR_EACH_ROW(r, at, add_##name, sizeof(type), sums, factor, n);                    \
        for (size_t j = 0; j < n; j++)                                                     \
            store_##element((type)divide(sums[j], by), out + (ptrdiff_t)j * r->out_step,   \
                            r->swapped);                                                   \
    }

/* Of no more than SHORT_WINDOW elements; others go by way of 64 bits. */
enum { SHORT_WINDOW = 1 << 15 };
MEAN(i8_short, i8, int8_t, int32_t, (int32_t), divide_i32)
MEAN(u8_short, u8, uint8_t, int32_t, (int32_t), divide_i32)
MEAN(i16_short, i16, int16_t, int32_t, (int32_t), divide_i32)
MEAN(u16_short, u16, uint16_t, int32_t, (int32_t), divide_i32)
MEAN(i8, i8, int8_t, int64_t, (int64_t), divide_i64)
MEAN(u8, u8, uint8_t, int64_t, (int64_t), divide_i64)
MEAN(i16, i16, int16_t, int64_t, (int64_t), divide_i64)
MEAN(u16, u16, uint16_t, int64_t, (int64_t), divide_i64)
MEAN(i32, i32, int32_t, int64_t, (int64_t), divide_i64)
MEAN(u32, u32, uint32_t, int64_t, (int64_t), divide_i64)
MEAN(i64, i64, int64_t, int128, (int128), divide_i128)
MEAN(u64, u64, uint64_t, int128, (int128), divide_i128)
MEAN(time, i64, int64_t, int128, widen_time, divide_time)
MEAN(f32, f32, float, double, (double), divide_double)
MEAN(f64, f64, double, double, , divide_double)

/* ------------------------------------------------------------------ least and greatest */

#define NEVER(v) false
#define IS_NAN(v) ((v) != (v))
#define IS_NAT(v) ((v) == INT64_MIN)

/* Each begins as the first element of its window. What is_missing stays, once found. */
#define EXTREME(name, element, type, beats, is_missing)                                    \
    INLINED take_##name(type *best, const uint8_t *at, ptrdiff_t step, int64_t factor,     \
                        size_t n, bool swapped)                                            \
    {                                                                                      \
        for (size_t j = 0; j < n; j++)                                                     \
            for (int64_t k = 0; k < factor; k++) {                                         \
                type v = load_##element(at + ((int64_t)j * factor + k) * step, swapped);   \
                bool taken = !is_missing(best[j]) && (v beats best[j] || is_missing(v));   \
                best[j] = taken ? v : best[j];                                             \
            }                                                                              \
    }                                                                                      \
    static void name(const reducer *r, const uint8_t *at, int64_t factor, size_t n,        \
                     uint8_t *out)                                                         \
    {                                                                                      \
        type best[RUN];                                                                    \
        for (size_t j = 0; j < n; j++)                                                     \
            best[j] = load_##element(at + (int64_t)j * factor * r->step, r->swapped);      \
        FOR_EACH_ROW(r, at, take_##name, sizeof(type), best, factor, n);                   \
        for (size_t j = 0; j < n; j++)                                                     \
            store_##element(best[j], out + (ptrdiff_t)j * r->out_step, r->swapped);        \
    }
#define EXTREMES(name, element, type, is_missing)                                          \
    EXTREME(min_##name, element, type, <, is_missing)                                      \
    EXTREME(max_##name, element, type, >, is_missing)

EXTREMES(i8, i8, int8_t, NEVER)
EXTREMES(u8, u8, uint8_t, NEVER)
EXTREMES(i16, i16, int16_t, NEVER)
EXTREMES(u16, u16, uint16_t, NEVER)
EXTREMES(i32, i32, int32_t, NEVER)
EXTREMES(u32, u32, uint32_t, NEVER)
EXTREMES(i64, i64, int64_t, NEVER)
EXTREMES(u64, u64, uint64_t, NEVER)
EXTREMES(time, i64, int64_t, IS_NAT)
EXTREMES(f32, f32, float, IS_NAN)
EXTREMES(f64, f64, double, IS_NAN)

/* ------------------------------------------------------------------ small floats
 *
 * Those that C has no type for, by way of double, which holds all their values.
 */
static double load_small(const reducer *r, const uint8_t *at)
{
    uint16_t bits = r->n_bytes / r->n_parts == 2 ? load_u16(at, r->swapped) : *at;
    uint8_t byte = (uint8_t)bits;
    return r->n_bytes / r->n_parts == 2 ? zlgi_number_to_double(r->part, &bits)
                                        : zlgi_number_to_double(r->part, &byte);
}

static void store_small(const reducer *r, double value, uint8_t *at)
{
    uint16_t element = 0;
    zlgi_number_from_double(r->part, value, &element);
    if (r->n_bytes / r->n_parts == 2)
        store_u16(element, at, r->swapped);
    else
        memcpy(at, &element, 1);
}

static void mean_small(const reducer *r, const uint8_t *at, int64_t factor, size_t n,
                       uint8_t *out)
{
    double n_window = (double)window_elements(r, factor);
    for (size_t j = 0; j < n; j++) {
        double sum = 0;
        rows row;
        first_row(r, at + (int64_t)j * factor * r->step, &row);
        do {
            for (int64_t k = 0; k < factor; k++)
                sum += load_small(r, row.at + k * r->step);
        } while (next_row(r, &row));
        store_small(r, sum / n_window, out + (ptrdiff_t)j * r->out_step);
    }
}

/* sign -1: the least. */
static void extreme_small(const reducer *r, const uint8_t *at, int64_t factor, size_t n,
                          double sign, uint8_t *out)
{
    for (size_t j = 0; j < n; j++) {
        double best = load_small(r, at + (int64_t)j * factor * r->step);
        rows row;
        first_row(r, at + (int64_t)j * factor * r->step, &row);
        do {
            for (int64_t k = 0; k < factor && !isnan(best); k++) {
                double v = load_small(r, row.at + k * r->step);
                best = sign * v > sign * best || isnan(v) ? v : best;
            }
        } while (next_row(r, &row));
        store_small(r, best, out + (ptrdiff_t)j * r->out_step);
    }
}

static void min_small(const reducer *r, const uint8_t *at, int64_t factor, size_t n,
                      uint8_t *out)
{
    extreme_small(r, at, factor, n, -1, out);
}

static void max_small(const reducer *r, const uint8_t *at, int64_t factor, size_t n,
                      uint8_t *out)
{
    extreme_small(r, at, factor, n, 1, out);
}

/* ------------------------------------------------------------------ which loop */

static void decimate(const reducer *r, const uint8_t *at, int64_t factor, size_t n,
                     uint8_t *out)
{
    for (size_t j = 0; j < n; j++)
        memcpy(out + j * r->n_bytes, at + (int64_t)j * factor * r->step, r->n_bytes);
}

/* Mean of windows that are short, and of others; least; greatest. */
typedef struct loops {
    run_fn *mean_short, *mean, *min, *max;
} loops;

static const loops *loops_of(zlg_type part)
{
#define LOOPS(mean, name)                                                                  \
    {                                                                                      \
        mean, mean_##name, min_##name, max_##name                                          \
    }
    static const loops i8 = LOOPS(mean_i8_short, i8), u8 = LOOPS(mean_u8_short, u8),
                       i16 = LOOPS(mean_i16_short, i16), u16 = LOOPS(mean_u16_short, u16),
                       i32 = LOOPS(mean_i32, i32), u32 = LOOPS(mean_u32, u32),
                       i64 = LOOPS(mean_i64, i64), u64 = LOOPS(mean_u64, u64),
                       f32 = LOOPS(mean_f32, f32), f64 = LOOPS(mean_f64, f64),
                       time = LOOPS(mean_time, time), small = LOOPS(mean_small, small);
#undef LOOPS
    switch ((int)part) {
    case ZLG_INT2:
    case ZLG_INT4:
    case ZLG_INT8:
        return &i8;
    case ZLG_BOOL:
    case ZLG_UINT2:
    case ZLG_UINT4:
    case ZLG_UINT8:
        return &u8;
    case ZLG_INT16:
        return &i16;
    case ZLG_UINT16:
        return &u16;
    case ZLG_INT32:
        return &i32;
    case ZLG_UINT32:
        return &u32;
    case ZLG_INT64:
        return &i64;
    case ZLG_UINT64:
        return &u64;
    case ZLG_FLOAT32:
        return &f32;
    case ZLG_FLOAT64:
        return &f64;
    case ZLG_DATETIME64:
    case ZLG_TIMEDELTA64:
        return &time;
    default:
        return zlgi_type_is_float(part) ? &small : NULL;
    }
}

static run_fn *loop_of(zlg_reduce how, zlg_type part, int64_t n_window)
{
    const loops *all = how == ZLG_REDUCE_DECIMATE ? NULL : loops_of(part);
    if (!all)
        return decimate;
    if (how == ZLG_REDUCE_MEAN)
        return n_window <= SHORT_WINDOW ? all->mean_short : all->mean;
    return how == ZLG_REDUCE_MIN ? all->min : all->max;
}

zlg_status zlgi_reduce_check(zlg_reduce how, const zlgi_dtype *dtype, zlg_error *err)
{
    static const char *const names[] = {"mean", "min", "max", "decimate"};
    if ((unsigned)how > ZLG_REDUCE_DECIMATE)
        return zlgi_fail(err, ZLG_USAGE, "there is no reduction %d", (int)how);
    bool is_ordered = dtype->type != ZLG_COMPLEX || how == ZLG_REDUCE_MEAN;
    if (how == ZLG_REDUCE_DECIMATE ? !zlgi_dtype_is_varlen(dtype)
                                   : loops_of(dtype->part) && is_ordered)
        return ZLG_OK;
    return zlgi_fail(err, ZLG_UNSUPPORTED, "elements of type %s have no %s",
                     zlgi_type_name(dtype->type), names[how]);
}

/* ------------------------------------------------------------------ boxes */

/* The last axis: runs of whole windows, then the one that is cut short. */
static void reduce_row(const reducer *r, const uint8_t *at, uint8_t *out)
{
    int axis = r->rank - 1;
    int64_t factor = r->factors[axis], n = r->count[axis] / factor;
    int64_t rest = r->count[axis] % factor;
    size_t part = r->n_bytes / r->n_parts;
    for (int64_t j = 0; j < n; j += RUN) {
        const uint8_t *first = at + j * factor * r->step;
        for (size_t i = 0; i < r->n_parts; i++)
            r->run(r, first + i * part, factor, (size_t)ZLGI_MIN(RUN, n - j),
                   out + j * (ptrdiff_t)r->n_bytes + i * part);
    }
    for (size_t i = 0; i < r->n_parts && rest > 0; i++)
        r->run(r, at + n * factor * r->step + i * part, rest, 1,
               out + n * (ptrdiff_t)r->n_bytes + i * part);
}

static void reduce_axis(reducer *r, int axis, const uint8_t *at, uint8_t *out)
{
    if (axis + 1 == r->rank) {
        reduce_row(r, at, out);
        return;
    }
    int64_t factor = r->factors[axis], n = r->count[axis];
    for (int64_t i = 0; i < n; i += factor) {
        r->window[axis] = ZLGI_MIN(factor, n - i);
        reduce_axis(r, axis + 1, at + i * r->strides[axis], out);
        out += r->out_strides[axis];
    }
}

void zlgi_reduce(zlg_reduce how, const zlgi_dtype *dtype, int rank, const int64_t *factors,
                 const int64_t *count, const zlg_source *source, void *out)
{
    reducer r = {.rank = ZLGI_MAX(rank, 1),
                 .factors = {1},
                 .count = {1},
                 .part = dtype->part,
                 .n_bytes = dtype->n_bytes,
                 .n_parts = 1,
                 .swapped = source->swapped != 0};
    ptrdiff_t n_bytes = (ptrdiff_t)dtype->n_bytes, n_bytes_out = n_bytes;
    int64_t n_window = 1;
    r.strides[0] = n_bytes;
    for (int axis = rank; axis-- > 0;) {
        r.factors[axis] = factors[axis];
        r.count[axis] = count[axis];
        if (count[axis] == 0)
            return;
        r.strides[axis] = source->strides ? source->strides[axis] : n_bytes;
        r.out_strides[axis] = n_bytes_out;
        n_bytes *= count[axis];
        n_bytes_out *= (count[axis] - 1) / factors[axis] + 1;
        n_window *= factors[axis];
    }
    if (dtype->type == ZLG_COMPLEX && how != ZLG_REDUCE_DECIMATE)
        r.n_parts = 2;
    r.step = r.strides[r.rank - 1];
    r.out_step = (ptrdiff_t)dtype->n_bytes;
    r.run = loop_of(how, r.part, n_window);
    reduce_axis(&r, 0, source->data, out);
}
