/*
 * write.c: whole objects: gather the box from the caller's memory, encode it, put it
 * under its key at once. Elements beyond the array are the fill value; an object of
 * nothing but fill value is not stored. What an object holds does not depend on which
 * thread made it.
 */
#include "engine/job.h"

typedef struct box_writer {
    zlgi_worker *worker;
    const zlgi_planned *planned;
    const zlgi_source *source;
    zlgi_buf *unit, *encoded;
    zlg_error *err;
} box_writer;

/* True when the use takes every element of the object that lies inside the array. */
static bool covers(const zlgi_planned *planned, const zlgi_use *use)
{
    for (int i = 0; i < use->rank; i++) {
        int64_t inside = planned->source->grid.axis[i].length - planned->start[i];
        const zlgi_use_axis *axis = &use->axis[i];
        if (axis->list || axis->step != 1 ||
            axis->count != ZLGI_MIN(inside, planned->shape[i]))
            return false;
    }
    return true;
}

/* The box of the object in C order, fill value first where the array ends inside it. */
static zlg_status gather(box_writer *writer, const zlgi_use *use, size_t n_elements)
{
    const zlgi_source *source = writer->source;
    ptrdiff_t strides[ZLG_MAX_RANK], stride = (ptrdiff_t)source->item;
    bool whole = true;
    for (int i = use->rank - 1; i >= 0; i--) {
        strides[i] = stride;
        stride *= writer->planned->shape[i];
        whole = whole && use->axis[i].count == writer->planned->shape[i];
    }
    size_t n_bytes = n_elements * source->item;
    ZLGI_TRY(zlgi_buf_reserve(writer->unit, n_bytes + 1, false, writer->err));
    writer->unit->n = n_bytes;
    if (!whole) {
        zlgi_use all = {.rank = 1, .memory = writer->unit->data};
        all.axis[0] = (zlgi_use_axis){
            .step = 1, .count = (int64_t)n_elements, .stride = (ptrdiff_t)source->item};
        zlgi_place_fill(&all, source->fill.data, source->item);
    }
    zlgi_gather(use, writer->unit->data, strides, source->item, NULL);
    return ZLG_OK;
}

static bool is_fill(const zlgi_source *source, const uint8_t *elements, size_t n)
{
    if (!zlgi_dtype_is_varlen(source->dtype))
        return zlgi_all_equal(elements, n, source->fill.data, source->item);
    const zlgi_view *views = (const zlgi_view *)(const void *)elements;
    const zlgi_view *fill = (const zlgi_view *)(const void *)source->fill.data;
    for (size_t i = 0; i < n; i++)
        if (views[i].n != fill->n ||
            (fill->n && memcmp(views[i].data, fill->data, fill->n) != 0))
            return false;
    return true;
}

static zlg_status write_box(box_writer *writer, const char *key)
{
    const zlgi_source *source = writer->source;
    const zlgi_chain *chain = source->level->chain;
    zlg_store *store = source->store;
    zlgi_layout layout;
    zlgi_use use;
    ZLGI_TRY(zlgi_chain_layout(chain, writer->planned->shape, &layout, writer->err));
    if (layout.edge[0].n_bytes > (uint64_t)writer->worker->job->engine->limits->chunk_bytes)
        return zlgi_fail(writer->err, ZLG_LIMIT, "%zu bytes, more than chunk_bytes",
                         layout.edge[0].n_bytes);
    /* The gathered elements, and at most two forms of them on the way through the chain. */
    zlgi_worker_reserve(writer->worker, 3 * (uint64_t)layout.edge[0].n_bytes);
    if (!zlgi_use_cut(zlgi_plan_use(&writer->worker->job->plan, 0), writer->planned->start,
                      writer->planned->shape, &use))
        return ZLG_OK;
    ZLGI_TRY(gather(writer, &use, layout.edge[0].n_elements));
    writer->worker->n_done += (uint64_t)zlgi_use_count(&use) * source->item;
    if (is_fill(source, writer->unit->data, layout.edge[0].n_elements))
        return store->class->remove(store, key, writer->err);
    zlgi_bytes decoded = {.data = writer->unit->data, .n = writer->unit->n};
    ZLGI_TRY(zlgi_chain_encode_full(chain, &layout, writer->worker->scratch, decoded,
                                    writer->encoded, writer->err));
    zlgi_bytes part = {.data = writer->encoded->data, .n = writer->encoded->n};
    return store->class->put(store, key, &part, 1, writer->err);
}

static void run_write(zlgi_worker *worker, uint64_t object, int i_block)
{
    (void)i_block;
    char key[ZLGI_PATH_MAX];
    zlgi_planned planned;
    if (zlgi_worker_check(worker) != ZLG_OK || !zlgi_worker_wants(worker, 0))
        return;
    zlgi_plan_object(&worker->job->plan, object, &planned);
    box_writer writer = {.worker = worker,
                         .planned = &planned,
                         .source = planned.source,
                         .unit = zlgi_scratch_push(worker->scratch),
                         .encoded = zlgi_scratch_push(worker->scratch),
                         .err = &worker->error};
    zlg_status status =
        zlgi_plan_key(planned.source, planned.coordinates, key, &worker->error);
    if (status == ZLG_OK)
        status = write_box(&writer, key);
    zlgi_scratch_pop(worker->scratch);
    zlgi_scratch_pop(worker->scratch);
    worker->stats.n_chunks += status == ZLG_OK;
    if (status != ZLG_OK)
        zlgi_worker_fail(worker, status, 0);
}

/* Nothing is stored when a part of an object would have to be kept: checked before. */
static zlg_status check_coverage(const zlgi_plan *plan, zlg_error *err)
{
    for (uint64_t k = 0; k < plan->n_objects; k++) {
        zlgi_planned planned;
        zlgi_use use;
        char key[ZLGI_PATH_MAX];
        zlgi_plan_object(plan, k, &planned);
        if (zlgi_use_cut(zlgi_plan_use(plan, 0), planned.start, planned.shape, &use) &&
            covers(&planned, &use))
            continue;
        ZLGI_TRY(zlgi_plan_key(planned.source, planned.coordinates, key, err));
        return zlgi_fail(err, ZLG_UNSUPPORTED,
                         "chunk %s: the selection covers only a part of it", key);
    }
    return ZLG_OK;
}

static zlg_status run_planned(zlgi_job *job, zlg_error *err)
{
    if (zlgi_plan_use(&job->plan, 0)->kind != ZLGI_USE_BOX)
        return zlgi_fail(err, ZLG_UNSUPPORTED, "points cannot be written");
    ZLGI_TRY(check_coverage(&job->plan, err));
    job->n_all = (uint64_t)zlgi_use_count(zlgi_plan_use(&job->plan, 0)) *
                 job->plan.requests[0].source->item;
    job->run_task = run_write;
    uint64_t n_tasks = job->plan.n_objects;
    if (n_tasks == 0)
        return ZLG_OK;
    return zlgi_job_run(job, (int)ZLGI_MIN((uint64_t)zlgi_job_threads(job), n_tasks), err);
}

zlg_status zlgi_engine_write(zlgi_engine *engine, const zlgi_request *request,
                             const zlg_call *call, zlg_error *err)
{
    zlgi_job job;
    zlgi_job_init(&job, engine, call);
    zlg_status status = zlgi_plan_make(&job.plan, engine->alloc, request, 1, err);
    if (status == ZLG_OK)
        status = run_planned(&job, err);
    zlgi_job_reset(&job);
    return status;
}
