/*
 * explain.c: the plan of a read as JSON. The same code that reads notes what it would ask
 * of the store instead of asking; only shard indexes are read, and only when wanted.
 */
#include "engine/job.h"

zlg_status zlgi_trace_add(zlgi_trace *trace, uint64_t offset, uint64_t n_bytes,
                          uint64_t n_chunks, zlg_error *err)
{
    zlgi_trace_range range = {.offset = offset, .n_bytes = n_bytes, .n_chunks = n_chunks};
    return zlgi_buf_append(&trace->ranges, &range, sizeof range, err);
}

typedef struct explainer {
    zlgi_worker worker;
    zlgi_trace trace;
    const zlgi_source *source;
    zlgi_buf *out;
    zlg_error *err;
} explainer;

/* How the bytes of an object are come by. */
static const char *fetch_name(const zlgi_level *level)
{
    if (level->wrapped)
        return "whole, then index";
    if (level->sharding)
        return "index, then ranges";
    return level->raw ? "ranges" : "whole";
}

static zlg_status write_ranges(explainer *e, const zlgi_level *level,
                               const zlgi_level_box *box, const zlgi_object *object)
{
    const zlgi_trace *trace = &e->trace;
    ZLGI_TRY(zlgi_buf_printf(
        e->out, e->err,
        ",\"n_bytes\":%llu,\"chunks\":%llu,\"direct\":%llu,"
        "\"empty\":%llu",
        (unsigned long long)object->n_bytes, (unsigned long long)trace->n_chunks,
        (unsigned long long)trace->n_direct, (unsigned long long)trace->n_empty));
    if (level->sharding && !level->wrapped) {
        uint64_t at =
            level->sharding->index_at_start ? 0 : object->n_bytes - box->n_bytes_index;
        ZLGI_TRY(zlgi_buf_printf(e->out, e->err,
                                 ",\"index\":{\"offset\":%llu,\"n_bytes\":%zu}",
                                 (unsigned long long)at, box->n_bytes_index));
    }
    ZLGI_TRY(zlgi_buf_printf(e->out, e->err, ",\"ranges\":["));
    const zlgi_trace_range *ranges = (const zlgi_trace_range *)(void *)trace->ranges.data;
    for (size_t i = 0; i < trace->ranges.n / sizeof *ranges; i++)
        ZLGI_TRY(zlgi_buf_printf(
            e->out, e->err, "%s{\"offset\":%llu,\"n_bytes\":%llu,\"chunks\":%llu}",
            i ? "," : "", (unsigned long long)ranges[i].offset,
            (unsigned long long)ranges[i].n_bytes, (unsigned long long)ranges[i].n_chunks));
    return zlgi_buf_printf(e->out, e->err, "]");
}

static zlg_status trace_object(explainer *e, const zlgi_planned *planned,
                               const zlgi_uses *uses, zlgi_object *object, const char *key)
{
    const zlgi_level *level = e->source->level;
    zlgi_level_box room;
    const zlgi_level_box *box;
    ZLGI_TRY(zlgi_level_box_get(level, e->worker.job->engine->limits, planned->shape, &room,
                                &box, e->err));
    zlgi_range range = {.store = e->source->store,
                        .object = object,
                        .n_bytes = object->n_bytes,
                        .key = key,
                        .hash = zlgi_cache_hash(key)};
    ZLGI_TRY(level->sharding ? zlgi_shard_read(&e->worker, e->source, level, planned->shape,
                                               &range, uses, NULL, 0, 1, e->err)
                             : zlgi_unit_read(&e->worker, e->source, level, planned->shape,
                                              &range, uses, e->err));
    return write_ranges(e, level, box, object);
}

static zlg_status resolve_object(explainer *e, const zlgi_planned *planned, const char *key)
{
    zlg_store *store = e->source->store;
    zlgi_object object;
    e->trace.ranges.n = 0;
    e->trace.n_chunks = e->trace.n_direct = e->trace.n_empty = 0;
    zlg_status status = store->class->open(store, key, ZLGI_OPEN_STAT, &object, e->err);
    if (status == ZLG_NOT_FOUND)
        return zlgi_buf_printf(e->out, e->err, ",\"missing\":true");
    ZLGI_TRY(status);
    zlgi_uses uses = {.buf = zlgi_scratch_push(e->worker.scratch),
                      .rank = e->source->grid.rank};
    status = zlgi_object_uses(&e->worker.job->plan, planned, &uses, e->err);
    if (status == ZLG_OK)
        status = trace_object(e, planned, &uses, &object, key);
    zlgi_scratch_pop(e->worker.scratch);
    store->class->release(store, &object);
    return status == ZLG_CANCELLED
               ? status
               : zlgi_within(e->err, status, "chunk %s", zlgi_plan_name(e->source, key));
}

static zlg_status explain_object(explainer *e, uint64_t k, bool resolve)
{
    zlgi_planned planned;
    char key[ZLGI_PATH_MAX];
    zlgi_plan_object(&e->worker.job->plan, k, &planned);
    ZLGI_TRY(zlgi_plan_key(e->source, planned.coordinates, key, e->err));
    ZLGI_TRY(zlgi_buf_printf(e->out, e->err, "%s{\"key\":", k ? "," : ""));
    ZLGI_TRY(zlgi_json_write_string(e->out, key, strlen(key), e->err));
    ZLGI_TRY(
        zlgi_buf_printf(e->out, e->err, ",\"fetch\":\"%s\"", fetch_name(e->source->level)));
    if (resolve)
        ZLGI_TRY(resolve_object(e, &planned, key));
    return zlgi_buf_printf(e->out, e->err, "}");
}

static zlg_status explain_plan(explainer *e, bool resolve, int64_t max_objects)
{
    const zlgi_plan *plan = &e->worker.job->plan;
    uint64_t n_listed = plan->n_objects;
    if (max_objects >= 0 && n_listed > (uint64_t)max_objects)
        n_listed = (uint64_t)max_objects;
    ZLGI_TRY(zlgi_buf_printf(e->out, e->err,
                             "{\"n_objects\":%llu,\"n_elements\":%lld,\"n_bytes\":%llu,"
                             "\"objects\":[",
                             (unsigned long long)plan->n_objects,
                             (long long)zlgi_use_count(zlgi_plan_use(plan, 0)),
                             (unsigned long long)zlgi_use_count(zlgi_plan_use(plan, 0)) *
                                 e->source->item));
    for (uint64_t k = 0; k < n_listed; k++) {
        ZLGI_TRY(zlgi_worker_check(&e->worker));
        ZLGI_TRY(explain_object(e, k, resolve));
    }
    return zlgi_buf_printf(e->out, e->err, "]}");
}

zlg_status zlgi_engine_explain(zlgi_engine *engine, const zlgi_request *request,
                               bool resolve, int64_t max_objects, const zlg_call *call,
                               zlgi_buf *out, zlg_error *err)
{
    zlgi_request planned = *request;
    /* Places are worked out but never written to; any address will do. */
    planned.memory = (uint8_t *)((uintptr_t)1 << 40);
    zlgi_job job;
    zlgi_job_init(&job, engine, call);
    explainer e = {.source = request->source, .out = out, .err = err};
    e.worker.job = &job;
    e.worker.is_caller = true;
    e.worker.trace = &e.trace;
    zlgi_buf_init(&e.trace.ranges, engine->alloc);
    zlg_status status = zlgi_plan_make(&job.plan, &job, engine->alloc, &planned, 1, err);
    e.worker.scratch = zlgi_scratch_new(engine->alloc, engine->limits);
    if (status == ZLG_OK && !e.worker.scratch)
        status = zlgi_no_memory(err, sizeof *e.worker.scratch);
    if (status == ZLG_OK)
        status = explain_plan(&e, resolve, max_objects);
    if (status == ZLG_CANCELLED && err != NULL)
        *err = job.error;
    zlgi_scratch_free(e.worker.scratch);
    zlgi_buf_reset(&e.trace.ranges);
    zlgi_job_reset(&job);
    return status;
}
