/*
 * encoded.c: chunks as they are stored. They are named by one point in each, so that a read
 * of points finds them; what it would decode is kept instead.
 */
#include "engine/job.h"

static void keep_for_use(zlgi_worker *worker, const zlgi_use *use, zlgi_view view)
{
    for (int64_t i = 0; i < use->n_points; i++)
        worker->job->taken[use->ids[i]] = view;
}

zlg_status zlgi_encoded_take(zlgi_worker *worker, const zlgi_range *range,
                             const zlgi_uses *uses, zlg_error *err)
{
    zlgi_bytes encoded = {.data = NULL};
    zlgi_buf *buf = zlgi_scratch_push(worker->scratch);
    zlg_status status = zlgi_fetch_all(worker, range, ZLGI_RUN_BYTES, buf, &encoded, err);
    uint8_t *bytes = NULL;
    if (status == ZLG_OK) {
        bytes = zlgi_arena_get(worker->keep, encoded.n); /* never NULL for no bytes */
        status = bytes ? ZLG_OK : zlgi_no_memory(err, encoded.n);
    }
    if (bytes && encoded.n > 0)
        memcpy(bytes, encoded.data, encoded.n);
    zlgi_scratch_pop(worker->scratch);
    ZLGI_TRY(status);
    for (size_t i = 0; i < uses->n; i++)
        keep_for_use(worker, zlgi_uses_at(uses, i),
                     (zlgi_view){.data = bytes, .n = encoded.n});
    return ZLG_OK;
}

static zlg_status take_all(zlgi_job *job, const zlgi_request *request, size_t n,
                           zlgi_buf *views, zlg_error *err)
{
    size_t n_bytes;
    if (!zlgi_mul_size(n, sizeof(zlgi_view), &n_bytes))
        return zlgi_no_memory(err, SIZE_MAX);
    ZLGI_TRY(zlgi_buf_reserve(views, n_bytes + 1, false, err));
    memset(views->data, 0, n_bytes);
    zlgi_request points = *request;
    points.memory = views->data; /* nothing is placed */
    ZLGI_TRY(zlgi_plan_make(&job->plan, job, job->engine->alloc, &points, 1, err));
    job->taken = (zlgi_view *)(void *)views->data;
    job->n_keep = zlgi_job_threads(job);
    return zlgi_read_planned(job, err);
}

zlg_status zlgi_engine_read_encoded(zlgi_engine *engine, const zlgi_request *request,
                                    size_t n, zlg_varlen *out, uint8_t *missing,
                                    const zlg_call *call, zlg_error *err)
{
    zlgi_job job;
    zlgi_buf views;
    zlgi_job_init(&job, engine, call);
    zlgi_arena_init(&job.plan.arena, engine->alloc); /* the plan may never be made */
    zlgi_buf_init(&views, engine->alloc);
    zlg_status status = take_all(&job, request, n, &views, err);
    const zlgi_view *taken = (const zlgi_view *)(const void *)views.data;
    if (status == ZLG_OK)
        status = zlgi_join_views(&job, taken, n, out, err);
    for (size_t i = 0; i < n && missing && status == ZLG_OK; i++)
        missing[i] = !taken[i].data;
    zlgi_job_reset(&job);
    zlgi_buf_reset(&views);
    return status;
}
