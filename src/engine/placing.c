/*
 * placing.c: elements on their way into the caller's memory, some at a time. Between them
 * clock and cancel flag are looked at; and where the caller may leave while the call goes
 * on (zlg_call.placing), each part goes through the door that they then close. Knows
 * nothing of what is placed.
 */
#include "engine/job.h"

/* Bytes, or elements where these lie apart: some milliseconds at most. */
enum { PART = 1024 * 1024 };

/* What variable length is read into is the engine's. */
bool zlgi_job_has_door(const zlgi_job *job)
{
    return job->call && job->call->placing && !job->n_keep;
}

zlg_status zlgi_placing_begin(zlgi_job *job)
{
    if (!zlgi_job_has_door(job) || job->call->placing(job->call->user, 1) == 0)
        return ZLG_OK;
    zlgi_job_stop(job, "stopped by the caller");
    return ZLG_CANCELLED;
}

void zlgi_placing_end(const zlgi_job *job)
{
    if (zlgi_job_has_door(job))
        job->call->placing(job->call->user, 0);
}

/* The unit is walked through in its own order. */
static int slowest_axis(const zlgi_use *use)
{
    int i = 0;
    while (use->kind != ZLGI_USE_POINTS && use->axis[i].count == 1)
        i++;
    return i;
}

/* The buffers of the piece at hand are in use. The caller is not asked while they are
 * large, since what they then read themselves would wait for the budget. */
static zlg_status look_around(zlgi_worker *worker)
{
    bool was_holding = worker->is_holding, was_locked = worker->is_locked;
    worker->is_holding = true;
    worker->is_locked = was_locked || worker->reserved > 0;
    zlg_status status = zlgi_worker_check(worker);
    worker->is_holding = was_holding;
    worker->is_locked = was_locked;
    return status;
}

zlg_status zlgi_placing_use(zlgi_worker *worker, const zlgi_use *use, size_t item,
                            zlgi_place_fn place, const void *context)
{
    uint64_t n = (uint64_t)zlgi_use_count(use), n_bytes = n * item;
    if (n > 1 && ZLGI_MAX(n, n_bytes) > PART) {
        zlgi_use low, high;
        zlgi_use_halve(use, slowest_axis(use), &low, &high);
        ZLGI_TRY(zlgi_placing_use(worker, &low, item, place, context));
        ZLGI_TRY(look_around(worker));
        return zlgi_placing_use(worker, &high, item, place, context);
    }
    ZLGI_TRY(zlgi_placing_begin(worker->job));
    place(context, use);
    zlgi_placing_end(worker->job);
    worker->n_done += n_bytes;
    return ZLG_OK;
}
