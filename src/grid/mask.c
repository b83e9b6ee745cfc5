/*
 * mask.c: which elements of a box a mask selects, and where each lies in the result, which
 * has them in C order of the array. The mask is read where it lies, row by row along the
 * axis on which its bytes are neighbours; running counts of what is set, one for a few
 * hundred bytes, tell the place of any element.
 */
#include "grid/grid.h"

/* From one running count to the next: at least, in bits, and how many there are at most. */
enum { MIN_SHIFT = 9, MAX_COUNTS = 1 << 19 };

int64_t zlgi_count_set(const uint8_t *bytes, int64_t n)
{
    enum { MANY = 255 }; /* as many as a byte can count: the inner loop is one of bytes */
    int64_t count = 0;
    for (; n > 0; n -= MANY, bytes += MANY) {
        uint8_t some = 0;
        for (int64_t i = 0; i < ZLGI_MIN(n, MANY); i++)
            some = (uint8_t)(some + (bytes[i] != 0));
        count += some;
    }
    return count;
}

zlg_status zlgi_mask_make(zlgi_arena *arena, const uint8_t *bytes, int64_t n,
                          zlgi_mask *out, zlg_error *err)
{
    *out = (zlgi_mask){.bytes = bytes, .shift = MIN_SHIFT};
    while (n >> out->shift >= MAX_COUNTS)
        out->shift++;
    size_t n_counts = (size_t)(n >> out->shift) + 1;
    int64_t *counts = zlgi_arena_get(arena, n_counts * sizeof *counts);
    if (!counts)
        return zlgi_no_memory(err, n_counts * sizeof *counts);
    counts[0] = 0;
    for (size_t i = 1; i < n_counts; i++, bytes += INT64_C(1) << out->shift)
        counts[i] = counts[i - 1] + zlgi_count_set(bytes, INT64_C(1) << out->shift);
    out->counts = counts;
    return ZLG_OK;
}

/* How many are set in front of a byte of the mask, or of its end. */
static int64_t set_before(const zlgi_mask *mask, const uint8_t *at)
{
    int64_t n = at - mask->bytes, n_beyond = n & ((INT64_C(1) << mask->shift) - 1);
    return mask->counts[n >> mask->shift] + zlgi_count_set(at - n_beyond, n_beyond);
}

/* ------------------------------------------------------------------ rows */

typedef struct rows {
    const zlgi_use *use;
    int axis;  /* along the rows; -1: rank 0 */
    int64_t n; /* bytes of a row */
    const uint8_t *row;
    int64_t at[ZLG_MAX_RANK]; /* where the row is on the other axes */
} rows;

static void first_row(const zlgi_use *use, rows *out)
{
    *out = (rows){.use = use, .axis = -1, .n = 1, .row = use->memory};
    for (int i = 0; i < use->rank; i++)
        if (use->axis[i].stride == 1 && (out->axis < 0 || use->axis[i].count > out->n)) {
            out->axis = i;
            out->n = use->axis[i].count;
        }
}

static bool next_row(rows *r)
{
    for (int i = r->use->rank - 1; i >= 0; i--) {
        const zlgi_use_axis *axis = &r->use->axis[i];
        if (i == r->axis)
            continue;
        r->row += axis->stride;
        if (++r->at[i] < axis->count)
            return true;
        r->row -= axis->count * axis->stride;
        r->at[i] = 0;
    }
    return false;
}

/* Bytes of the mask from the first element of the box to its last, and elements. */
static void measure(const zlgi_use *use, int64_t *span, int64_t *n)
{
    *span = *n = 1;
    for (int i = 0; i < use->rank; i++) {
        *span += (use->axis[i].count - 1) * use->axis[i].stride;
        *n *= use->axis[i].count;
    }
}

int64_t zlgi_mask_count(const zlgi_use *use)
{
    int64_t span, n, count = 0;
    rows r;
    measure(use, &span, &n);
    if (n == 0)
        return 0;
    if (span == n)
        return set_before(use->mask, use->memory + n) - set_before(use->mask, use->memory);
    first_row(use, &r);
    do
        count += zlgi_count_set(r.row, r.n);
    while (next_row(&r));
    return count;
}

static uint64_t load_8(const uint8_t *bytes)
{
    uint64_t v;
    memcpy(&v, bytes, sizeof v);
    return v;
}

/* Zero bytes that a row begins with. */
static int64_t count_zeros(const uint8_t *bytes, int64_t n)
{
    int64_t i = 0;
    while (i + 8 <= n && load_8(bytes + i) == 0)
        i += 8;
    while (i < n && bytes[i] == 0)
        i++;
    return i;
}

/* The others that it begins with. */
static int64_t count_ones(const uint8_t *bytes, int64_t n)
{
    const uint64_t low = UINT64_C(0x0101010101010101), high = low << 7;
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        uint64_t v = load_8(bytes + i);
        if ((v - low) & ~v & high) /* one of them is zero */
            break;
    }
    while (i < n && bytes[i] != 0)
        i++;
    return i;
}

bool zlgi_mask_any(const zlgi_use *use)
{
    int64_t span, n;
    rows r;
    measure(use, &span, &n);
    if (n == 0 ||
        set_before(use->mask, use->memory + span) == set_before(use->mask, use->memory))
        return false;
    if (span == n)
        return true;
    first_row(use, &r);
    do
        if (count_zeros(r.row, r.n) < r.n)
            return true;
    while (next_row(&r));
    return false;
}

/* ------------------------------------------------------------------ runs */

/* Bytes before which it is known how many are set. */
typedef struct known {
    const uint8_t *at;
    int64_t n_set;
} known;

/* Rows of a box follow each other: often it is not far from where the last one ended. */
static void move_to(const zlgi_mask *mask, const uint8_t *at, known *k)
{
    if (at >= k->at && at - k->at <= INT64_C(1) << MIN_SHIFT)
        k->n_set += zlgi_count_set(k->at, at - k->at);
    else
        k->n_set = set_before(mask, at);
    k->at = at;
}

void zlgi_mask_runs(const zlgi_use *use, const ptrdiff_t *strides, zlgi_run_fn each,
                    void *context)
{
    const zlgi_mask *mask = use->mask;
    known k = {.at = mask->bytes};
    rows r;
    first_row(use, &r);
    ptrdiff_t step = r.axis >= 0 ? strides[r.axis] : 0;
    do {
        int64_t i = count_zeros(r.row, r.n);
        if (i == r.n)
            continue;
        ptrdiff_t offset = 0;
        for (int a = 0; a < use->rank; a++)
            offset += (use->axis[a].start + r.at[a]) * strides[a];
        move_to(mask, r.row + i, &k);
        while (i < r.n) {
            int64_t n = count_ones(r.row + i, r.n - i);
            each(context, k.n_set, n, offset + i * step, step);
            i += n;
            k = (known){.at = r.row + i, .n_set = k.n_set + n};
            i += count_zeros(r.row + i, r.n - i);
        }
    } while (next_row(&r));
}
