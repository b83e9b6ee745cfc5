/*
 * transform.c: a chunk on its way from the store to the caller's memory is shown to a
 * function of the caller's, decoded or as it is stored, which may change it or place it.
 * Whole chunks in C order of the array: what the engine makes of transposes and byte orders
 * is nobody else's business.
 */
#include "engine/raw.h"

typedef struct shown {
    zlgi_worker *worker;
    const zlgi_source *source;
    const zlgi_level *level;
    const zlgi_level_box *box;
    const int64_t *shape;
    ptrdiff_t strides[ZLG_MAX_RANK]; /* of the elements that are shown, axes of the unit */
    int64_t coordinates[ZLG_MAX_RANK];
    int64_t lengths[ZLG_MAX_RANK]; /* the shape in the axes of the array */
    size_t n_bytes;                /* of all elements */
    zlg_error *err;
} shown;

static zlg_status measure(shown *s)
{
    const zlgi_worker *worker = s->worker;
    const zlg_limits *limits = worker->job->engine->limits;
    int64_t *shape = s->lengths;
    ptrdiff_t strides[ZLG_MAX_RANK], stride = (ptrdiff_t)s->source->item;
    for (int i = 0; i < s->level->rank; i++)
        shape[worker->axes[i]] = s->shape[i];
    if (!zlgi_mul_size(s->box->layout.edge[0].n_elements, s->source->item, &s->n_bytes) ||
        s->n_bytes > (uint64_t)limits->chunk_bytes)
        return zlgi_fail(s->err, ZLG_LIMIT, "a chunk of more bytes than chunk_bytes");
    for (int i = s->level->rank - 1; i >= 0; i--) {
        strides[i] = stride;
        stride *= shape[i];
        int64_t origin = worker->origin[i];
        s->coordinates[i] = s->source->level->sharding
                                ? origin / shape[i]
                                : zlgi_grid_find(&s->source->grid.axis[i], origin);
    }
    for (int i = 0; i < s->level->rank; i++)
        s->strides[i] = strides[worker->axes[i]];
    return ZLG_OK;
}

/* Stored bytes and elements, and those as they come out of the codecs. */
static void reserve(const shown *s, const zlgi_range *range)
{
    if (!range->object)
        return;
    bool is_lent = range->memory || range->object->view;
    uint64_t n = is_lent || range->n_bytes == ZLGI_SIZE_UNKNOWN ? 0 : range->n_bytes;
    zlgi_worker_reserve(s->worker, n + 2 * (uint64_t)s->n_bytes);
}

static zlg_status show(shown *s, zlg_read_chunk *chunk)
{
    const zlg_call *call = s->worker->job->call;
    zlg_error *err = s->err; /* of the worker: never NULL */
    err->message[0] = 0;
    zlg_status status = call->transform(call->transform_user, chunk, err);
    if (status == ZLG_OK)
        return ZLG_OK;
    if (status == ZLG_CANCELLED)
        zlgi_job_stop(s->worker->job, "stopped by the transform");
    if (err->message[0] == 0)
        return zlgi_fail(err, status, "the transform failed");
    err->status = status;
    return zlgi_within(err, status, "transform");
}

typedef struct given {
    const shown *s;
    const uint8_t *elements;
} given;

static void place_given(const void *context, const zlgi_use *use)
{
    static const zlgi_swap none = {.width = 0};
    const given *g = context;
    zlgi_place(use, g->elements, g->s->strides, g->s->source->item, &none);
}

static zlg_status place(const shown *s, uint8_t *elements, const zlgi_uses *uses)
{
    given g = {.s = s, .elements = elements};
    size_t item = s->source->item;
    if (s->level->chain->normalize && item > 0)
        zlgi_dtype_normalize(s->source->dtype, elements, s->n_bytes / item);
    for (size_t i = 0; i < uses->n; i++)
        ZLGI_TRY(zlgi_placing_use(s->worker, zlgi_uses_at(uses, i), item, place_given, &g));
    return ZLG_OK;
}

static zlg_status transform(shown *s, const zlgi_range *range, const zlgi_uses *uses,
                            zlgi_buf buf[4])
{
    zlgi_bytes encoded;
    bool raw = s->worker->job->call->transform_raw != 0;
    reserve(s, range);
    ZLGI_TRY(zlgi_fetch_all(s->worker, range, ZLGI_RUN_BYTES, &buf[0], &encoded, s->err));
    ZLGI_TRY(zlgi_buf_reserve(&buf[3], s->n_bytes + 1, false, s->err));
    uint8_t *elements = buf[3].data;
    s->worker->stats.n_chunks++;
    if (!raw)
        ZLGI_TRY(zlgi_unit_decode(s->source, s->level, s->box, s->shape, s->worker->scratch,
                                  encoded, &buf[1], s->strides, elements, s->err));
    zlg_read_chunk chunk = {.array = s->source->array,
                            .coordinates = s->coordinates,
                            .shape = s->lengths,
                            .bytes = raw ? encoded.data : elements,
                            .n_bytes = raw ? encoded.n : s->n_bytes,
                            .elements = elements,
                            .n_bytes_elements = s->n_bytes};
    ZLGI_TRY(show(s, &chunk));
    if (!chunk.placed)
        return place(s, elements, uses);
    for (size_t i = 0; i < uses->n; i++)
        s->worker->n_done +=
            (uint64_t)zlgi_use_count(zlgi_uses_at(uses, i)) * s->source->item;
    return ZLG_OK;
}

zlg_status zlgi_unit_transform(zlgi_worker *worker, const zlgi_source *source,
                               const zlgi_level *level, const zlgi_level_box *box,
                               const int64_t *shape, const zlgi_range *range,
                               const zlgi_uses *uses, zlg_error *err)
{
    enum { BUFFERS = 4 }; /* stored bytes, a pair to decode, elements */
    shown s = {.worker = worker,
               .source = source,
               .level = level,
               .box = box,
               .shape = shape,
               .err = err};
    ZLGI_TRY(measure(&s));
    zlgi_buf *buf = zlgi_scratch_push(worker->scratch);
    for (int i = 1; i < BUFFERS; i++)
        zlgi_scratch_push(worker->scratch);
    zlg_status status = transform(&s, range, uses, buf);
    for (int i = 0; i < BUFFERS; i++)
        zlgi_scratch_pop(worker->scratch);
    return status;
}
