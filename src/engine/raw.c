/*
 * raw.c: uncompressed units by range. A selection is halved along its widest axis until
 * a half lies so close together that one read is cheaper than two; what lies in the
 * caller's memory as it lies in the object is read there directly, however large. Points
 * are sorted and joined, and so is what a mask selects here and there.
 */
#include "engine/raw.h"

typedef struct raw_reader {
    zlgi_worker *worker;
    const zlgi_source *source;
    const zlgi_chain *chain;
    const ptrdiff_t *strides;
    const zlgi_range *range;
    zlgi_buf *buf, *sorted;
    zlgi_look look; /* while there are many points */
    zlg_error *err;
} raw_reader;

/* So many elements of a mask in one run are worth reading all of it; fewer are sorted. */
enum { MASK_POINTS = 8192 };

/* What is read at once, where it cannot be read to its place since the caller may leave. */
enum { DOOR_BYTES = 4 * 1024 * 1024 };

static int64_t first_of(const zlgi_use_axis *axis)
{
    return axis->list ? axis->list[0] - axis->base : axis->start;
}

static int64_t last_of(const zlgi_use_axis *axis)
{
    return axis->list ? axis->list[axis->count - 1] - axis->base
                      : axis->start + (axis->count - 1) * axis->step;
}

/* The bytes from first to last element that a use wants, and how many of them it wants. */
static void measure(const raw_reader *reader, const zlgi_use *use, uint64_t *first,
                    uint64_t *span, uint64_t *wanted, int *widest)
{
    uint64_t width = 0;
    *first = 0;
    *span = *wanted = reader->source->item;
    *widest = -1;
    for (int i = 0; i < use->rank; i++) {
        const zlgi_use_axis *axis = &use->axis[i];
        uint64_t stride = (uint64_t)reader->strides[i];
        uint64_t extent = (uint64_t)(last_of(axis) - first_of(axis)) * stride;
        *first += (uint64_t)first_of(axis) * stride;
        *span += extent;
        *wanted *= (uint64_t)axis->count;
        if (axis->count > 1 && extent >= width) {
            width = extent;
            *widest = i;
        }
    }
}

/* True when the use's memory has the strides of the unit. */
static bool same_strides(const raw_reader *reader, const zlgi_use *use)
{
    for (int i = 0; i < use->rank; i++) {
        const zlgi_use_axis *axis = &use->axis[i];
        if (axis->count > 1 &&
            (axis->list || axis->step != 1 || axis->stride != reader->strides[i]))
            return false;
    }
    return true;
}

/* Reads the span and places the use, whose coordinates then count from its first
 * element. */
static zlg_status read_span(raw_reader *reader, zlgi_use *use, uint64_t first,
                            uint64_t span)
{
    const uint8_t *bytes;
    ZLGI_TRY(zlgi_fetch(reader->worker, reader->range, first, (size_t)span, reader->buf,
                        &bytes, reader->err));
    for (int i = 0; i < use->rank; i++) {
        use->axis[i].base += first_of(&use->axis[i]);
        use->axis[i].start = 0;
    }
    return zlgi_unit_place_use(reader->worker, reader->source, reader->chain,
                               reader->strides, bytes, use);
}

static zlg_status read_use(raw_reader *reader, zlgi_use *use)
{
    uint64_t first, span, wanted;
    int widest;
    ZLGI_TRY(zlgi_worker_check(reader->worker));
    measure(reader, use, &first, &span, &wanted, &widest);
    bool direct = span == wanted && same_strides(reader, use);
    /* Repeated positions may make `wanted` larger than the span. */
    bool close = span <= ZLGI_RUN_BYTES && span <= 2 * wanted + ZLGI_GAP_BYTES;
    if (direct && zlgi_job_has_door(reader->worker->job)) {
        direct = false;
        close = span <= DOOR_BYTES;
    }
    if (reader->worker->trace && (direct || widest < 0 || close))
        return zlgi_trace_add(reader->worker->trace, reader->range->offset + first, span, 1,
                              reader->err);
    if (direct) {
        ZLGI_TRY(zlgi_fetch_into(reader->worker, reader->range, first, (size_t)span,
                                 use->memory, reader->err));
        zlgi_unit_finish(reader->chain, reader->source, use->memory, (size_t)span);
        reader->worker->n_done += span;
        return ZLG_OK;
    }
    if (widest < 0 || close)
        return read_span(reader, use, first, span);
    zlgi_use low, high;
    zlgi_use_halve(use, widest, &low, &high);
    ZLGI_TRY(read_use(reader, &low));
    return read_use(reader, &high);
}

typedef struct raw_point {
    uint64_t offset;
    int64_t id;
} raw_point;

static inline bool offset_is_less(const raw_point *a, const raw_point *b,
                                  const void *context)
{
    (void)context;
    return a->offset != b->offset ? a->offset < b->offset : a->id < b->id;
}

static inline bool goes_on(const void *context)
{
    zlgi_look *const *look = context;
    return zlgi_look_up(*look, 64); /* a part of what is sorted is many steps */
}
ZLGI_SORT_WHILE(sort_points, raw_point, offset_is_less, goes_on)

/* Behind the last point that is read together with point i. */
static size_t end_of_run(raw_reader *reader, const raw_point *points, size_t i, size_t n)
{
    uint64_t first = points[i].offset;
    for (size_t k = i + 1, stop; k < n && zlgi_look_span(&reader->look, k, n, &stop);)
        for (; k < stop; k++)
            if (points[k].offset - points[k - 1].offset > ZLGI_GAP_BYTES ||
                points[k].offset - first >= ZLGI_RUN_BYTES)
                return k;
    return n;
}

/* n elements, wherever they lie: element `id` goes to memory + id * stride. */
static zlg_status read_elements(raw_reader *reader, raw_point *points, size_t n,
                                uint8_t *memory, ptrdiff_t stride)
{
    size_t item = reader->source->item;
    zlgi_look *look = &reader->look;
    sort_points(points, n, &look);
    for (size_t i = 0, end; i < n; i = end) {
        end = end_of_run(reader, points, i, n);
        if (!zlgi_look_up(&reader->look, 0))
            return ZLG_CANCELLED;
        uint64_t first = points[i].offset, last = points[end - 1].offset;
        const uint8_t *bytes;
        if (reader->worker->trace) {
            ZLGI_TRY(zlgi_trace_add(reader->worker->trace, reader->range->offset + first,
                                    last - first + item, 1, reader->err));
            continue;
        }
        ZLGI_TRY(zlgi_worker_check(reader->worker));
        ZLGI_TRY(zlgi_fetch(reader->worker, reader->range, first,
                            (size_t)(last - first) + item, reader->buf, &bytes,
                            reader->err));
        for (size_t k = i, stop; k < end;) {
            if (!zlgi_look_span(&reader->look, k, end, &stop))
                return ZLG_CANCELLED;
            ZLGI_TRY(zlgi_placing_begin(reader->worker->job));
            for (; k < stop; k++) {
                uint8_t *to = memory + points[k].id * stride;
                memcpy(to, bytes + (points[k].offset - first), item);
                zlgi_unit_finish(reader->chain, reader->source, to, item);
            }
            zlgi_placing_end(reader->worker->job);
        }
    }
    reader->worker->n_done += n * item;
    return ZLG_OK;
}

static zlg_status read_points(raw_reader *reader, const zlgi_use *use)
{
    size_t n = (size_t)use->n_points;
    ZLGI_TRY(zlgi_buf_reserve(reader->sorted, n * sizeof(raw_point), false, reader->err));
    raw_point *points = (raw_point *)(void *)reader->sorted->data;
    for (size_t i = 0, end; i < n;) {
        if (!zlgi_look_span(&reader->look, i, n, &end))
            return ZLG_CANCELLED;
        for (; i < end; i++) {
            points[i] = (raw_point){.id = use->ids[i]};
            for (int k = 0; k < use->rank; k++)
                points[i].offset +=
                    (uint64_t)(use->axis[k].list[use->ids[i]] - use->axis[k].base) *
                    (uint64_t)reader->strides[k];
        }
    }
    return read_elements(reader, points, n, use->memory, use->point_stride);
}

/* ------------------------------------------------------------------ masks */

static void add_run(void *context, int64_t k, int64_t n, ptrdiff_t offset, ptrdiff_t step)
{
    raw_point **next = context;
    for (int64_t i = 0; i < n; i++)
        *(*next)++ = (raw_point){.offset = (uint64_t)(offset + i * step), .id = k + i};
}

/* Halved like a box, until what is left is wanted close together, or few elements are. */
static zlg_status read_mask(raw_reader *reader, zlgi_use *use)
{
    uint64_t first, span, all, item = reader->source->item, n = MASK_POINTS;
    int widest;
    ZLGI_TRY(zlgi_worker_check(reader->worker));
    if (!zlgi_mask_any(use))
        return ZLG_OK;
    measure(reader, use, &first, &span, &all, &widest);
    if (span <= ZLGI_RUN_BYTES || widest < 0)
        n = (uint64_t)zlgi_mask_count(use);
    bool close = span <= 2 * n * item + ZLGI_GAP_BYTES || n >= MASK_POINTS;
    if (widest < 0 || (close && span <= ZLGI_RUN_BYTES)) {
        if (reader->worker->trace)
            return zlgi_trace_add(reader->worker->trace, reader->range->offset + first,
                                  span, 1, reader->err);
        return read_span(reader, use, first, span);
    }
    if (n < MASK_POINTS) {
        ZLGI_TRY(
            zlgi_buf_reserve(reader->sorted, n * sizeof(raw_point), false, reader->err));
        raw_point *points = (raw_point *)(void *)reader->sorted->data, *next = points;
        zlgi_mask_runs(use, reader->strides, add_run, &next);
        return read_elements(reader, points, n, use->mask->memory, use->mask->stride);
    }
    zlgi_use low, high;
    zlgi_use_halve(use, widest, &low, &high);
    ZLGI_TRY(read_mask(reader, &low));
    return read_mask(reader, &high);
}

static zlg_status read_any(raw_reader *reader, zlgi_use *use)
{
    switch (use->kind) {
    case ZLGI_USE_POINTS:
        return read_points(reader, use);
    case ZLGI_USE_MASK:
        return read_mask(reader, use);
    default:
        return read_use(reader, use);
    }
}

zlg_status zlgi_raw_read(zlgi_worker *worker, const zlgi_source *source,
                         const zlgi_level *level, const zlgi_level_box *box,
                         const int64_t *shape, const zlgi_range *range,
                         const zlgi_uses *uses, zlg_error *err)
{
    size_t n_bytes = box->layout.edge[level->chain->n_folded].n_bytes;
    if (range->n_bytes != n_bytes)
        return zlgi_fail(err, ZLG_CORRUPT, "%llu bytes stored, a chunk has %zu",
                         (unsigned long long)range->n_bytes, n_bytes);
    raw_reader reader = {.worker = worker,
                         .source = source,
                         .chain = level->chain,
                         .strides = box->strides,
                         .range = range,
                         .look = zlgi_worker_look(worker),
                         .err = err};
    reader.buf = zlgi_scratch_push(worker->scratch);
    reader.sorted = zlgi_scratch_push(worker->scratch);
    zlg_status status = ZLG_OK;
    for (size_t i = 0; i < uses->n && status == ZLG_OK; i++)
        status = read_any(&reader, zlgi_uses_at(uses, i));
    worker->stats.n_chunks++;
    if (uses->n == 1 && !zlgi_job_has_door(worker->job) &&
        zlgi_use_matches(zlgi_uses_at(uses, 0), shape, box->strides))
        worker->stats.n_chunks_direct++;
    zlgi_scratch_pop(worker->scratch);
    zlgi_scratch_pop(worker->scratch);
    return status;
}
