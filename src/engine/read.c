/*
 * read.c: a read from end to end: the plan, how many hands, and what one task does with an
 * object: open it once, find out what it is, and hand it to shard.c or unit.c.
 */
#include "engine/job.h"

zlg_status zlgi_uses_room(zlgi_uses *uses, zlgi_use **out, zlg_error *err)
{
    size_t step = zlgi_use_bytes(uses->rank);
    size_t n_bytes = (uses->n + 1) * step;
    if (n_bytes > uses->buf->capacity) {
        uses->buf->n = uses->n * step;
        ZLGI_TRY(zlgi_buf_reserve(uses->buf, 2 * n_bytes, true, err));
    }
    *out = zlgi_uses_at(uses, uses->n);
    return ZLG_OK;
}

/* The uses of an object, in coordinates of its box. */
zlg_status zlgi_object_uses(const zlgi_plan *plan, const zlgi_planned *planned,
                            zlgi_uses *out, zlg_error *err)
{
    ZLGI_TRY(zlgi_buf_reserve(out->buf, planned->n_records * zlgi_use_bytes(out->rank),
                              false, err));
    for (size_t i = 0; i < planned->n_records; i++) {
        const zlgi_record *record = planned->records ? &planned->records[i] : NULL;
        const zlgi_use *use = zlgi_plan_use(plan, record ? record->request : 0);
        zlgi_use *cut;
        ZLGI_TRY(zlgi_uses_room(out, &cut, err));
        if (use->kind != ZLGI_USE_POINTS) {
            out->n += zlgi_use_cut(use, planned->start, planned->shape, cut);
            continue;
        }
        memcpy(cut, use, zlgi_use_bytes(use->rank));
        cut->ids += record->first_id;
        cut->n_points = record->n_ids;
        for (int k = 0; k < use->rank; k++)
            cut->axis[k].base += planned->start[k];
        out->n++;
    }
    return ZLG_OK;
}

/* ------------------------------------------------------------------ opening */

typedef struct task {
    zlgi_worker *worker;
    const zlgi_source *source;
    zlgi_planned planned;
    char key[ZLGI_PATH_MAX];
    zlgi_range range;
    int i_block, n_blocks;
} task;

/* Size and version are asked for only where they are needed: it is one more request. */
static unsigned open_flags(const task *t)
{
    const zlgi_level *level = t->source->level;
    bool caches = level->sharding || t->worker->job->engine->chunk_cache;
    bool large = !level->fixed || !level->box ||
                 (!level->sharding &&
                  level->box->layout.edge[level->chain->n_folded].n_bytes > ZLGI_RUN_BYTES);
    return caches || level->raw || large ? ZLGI_OPEN_STAT : 0;
}

static zlg_status open_object(task *t, zlgi_object *object, zlg_error *err)
{
    zlg_store *store = t->source->store;
    zlg_status status = store->class->open(store, t->key, open_flags(t), object, err);
    t->worker->stats.n_opened += status == ZLG_OK;
    t->worker->stats.n_missing += status == ZLG_NOT_FOUND;
    return status;
}

/* Opens an object that several tasks share, and its index; the first to come does it. */
static zlg_status open_shared(task *t, zlgi_shared *shared, const zlgi_level_box *box,
                              zlg_error *err)
{
    zlgi_lock_briefly(&shared->lock);
    if (!shared->opened) {
        shared->opened = true;
        shared->status = open_object(t, &shared->object, err);
        t->range.object = &shared->object;
        t->range.n_bytes = shared->object.n_bytes;
        if (shared->status == ZLG_OK && t->source->level->sharding) {
            shared->status = zlgi_shard_index(t->worker, t->source->level, box, &t->range,
                                              &shared->index, err);
            if (shared->status != ZLG_OK)
                t->source->store->class->release(t->source->store, &shared->object);
        } else if (shared->status == ZLG_OK) {
            t->worker->stats.n_chunks++; /* raw: all blocks are one */
        }
        if (shared->status != ZLG_OK && shared->status != ZLG_NOT_FOUND)
            zlgi_worker_fail(t->worker, shared->status, 0);
    }
    pthread_mutex_unlock(&shared->lock);
    t->range.object = &shared->object;
    t->range.n_bytes = shared->object.n_bytes;
    return shared->status;
}

/* ------------------------------------------------------------------ one object */

/* For each request that wants something of the object; others may note the same. */
static void note_missing(const task *t, uint8_t *missing)
{
    const zlgi_record *records = t->planned.records;
    for (size_t i = 0; i < t->planned.n_records; i++)
        __atomic_store_n(&missing[records ? records[i].request : 0], 1, __ATOMIC_RELAXED);
}

static zlg_status missing(task *t, const zlgi_uses *uses, zlg_error *err)
{
    const zlg_call *call = t->worker->job->call;
    if (call && call->missing)
        note_missing(t, call->missing);
    if (call && call->missing_is_error)
        return zlgi_fail(err, ZLG_NOT_FOUND, "it is not stored");
    return zlgi_unit_fill(t->worker, t->source, &t->source->fill, uses);
}

/* Block i of n of what is wanted of a raw object: a slab along its first axis that is long
 * enough, else along the last. */
static void cut_slab(const task *t, const zlgi_use *use, int64_t *start, int64_t *shape)
{
    int n_blocks = t->n_blocks, axis = 0;
    while (axis < use->rank - 1 && use->axis[axis].count < n_blocks)
        axis++;
    const zlgi_use_axis *a = &use->axis[axis];
    int64_t first = a->list ? a->list[0] - a->base : a->start;
    int64_t last =
        a->list ? a->list[a->count - 1] - a->base : a->start + (a->count - 1) * a->step;
    memset(start, 0, (size_t)use->rank * sizeof *start);
    memcpy(shape, t->planned.shape, (size_t)use->rank * sizeof *shape);
    uint64_t length = (uint64_t)(last - first) + 1;
    start[axis] = first + (int64_t)zlgi_part(length, t->i_block, n_blocks);
    shape[axis] =
        first + (int64_t)zlgi_part(length, t->i_block + 1, n_blocks) - start[axis];
}

static zlg_status read_raw_block(task *t, const zlgi_uses *uses, zlg_error *err)
{
    int64_t start[ZLG_MAX_RANK], shape[ZLG_MAX_RANK];
    const zlgi_use *use = zlgi_uses_at(uses, 0);
    cut_slab(t, use, start, shape);
    zlgi_uses slab = {.buf = zlgi_scratch_push(t->worker->scratch), .rank = uses->rank};
    zlgi_use *cut;
    zlg_status status = zlgi_uses_room(&slab, &cut, err);
    if (status == ZLG_OK && zlgi_use_cut(use, start, shape, cut)) {
        for (int i = 0; i < uses->rank; i++) { /* back to coordinates of the unit */
            cut->axis[i].start += start[i];
            cut->axis[i].base -= start[i];
        }
        slab.n = 1;
        uint64_t n_chunks = t->worker->stats.n_chunks; /* counted when it was opened */
        status = zlgi_unit_read(t->worker, t->source, t->source->level, t->planned.shape,
                                &t->range, &slab, err);
        t->worker->stats.n_chunks = n_chunks;
    }
    zlgi_scratch_pop(t->worker->scratch);
    return status;
}

static zlg_status read_open(task *t, const zlgi_uses *uses, zlgi_block *index,
                            zlg_error *err)
{
    const zlgi_level *level = t->source->level;
    if (level->sharding)
        return zlgi_shard_read(t->worker, t->source, level, t->planned.shape, &t->range,
                               uses, index, t->i_block, t->n_blocks, err);
    if (t->n_blocks > 1)
        return read_raw_block(t, uses, err);
    return zlgi_unit_read(t->worker, t->source, level, t->planned.shape, &t->range, uses,
                          err);
}

static zlg_status read_alone(task *t, const zlgi_uses *uses, zlg_error *err)
{
    zlgi_object object = {.n_bytes = ZLGI_SIZE_UNKNOWN};
    zlg_status status = open_object(t, &object, err);
    if (status == ZLG_NOT_FOUND)
        return missing(t, uses, err);
    ZLGI_TRY(status);
    t->range.object = &object;
    t->range.n_bytes = object.n_bytes;
    status = read_open(t, uses, NULL, err);
    t->source->store->class->release(t->source->store, &object);
    return status;
}

static zlg_status read_shared(task *t, const zlgi_uses *uses, zlg_error *err)
{
    zlgi_shared *shared = &t->worker->job->shared[t->worker->object];
    zlgi_level_box room;
    const zlgi_level_box *box;
    ZLGI_TRY(zlgi_level_box_get(t->source->level, t->worker->job->engine->limits,
                                t->planned.shape, &room, &box, err));
    zlg_status status = open_shared(t, shared, box, err);
    if (status == ZLG_OK)
        status = read_open(t, uses, shared->index, err);
    else if (status == ZLG_NOT_FOUND)
        status = t->i_block == 0 ? missing(t, uses, err) : ZLG_OK;
    else
        status = ZLG_OK; /* recorded by the one that opened it */
    return status;
}

static zlg_status read_task(task *t, zlgi_uses *uses, zlg_error *err)
{
    zlgi_worker *worker = t->worker;
    ZLGI_TRY(zlgi_worker_check(worker));
    ZLGI_TRY(zlgi_plan_key(t->source, t->planned.coordinates, t->key, err));
    t->range = (zlgi_range){
        .store = t->source->store, .key = t->key, .hash = zlgi_cache_hash(t->key)};
    ZLGI_TRY(zlgi_object_uses(&worker->job->plan, &t->planned, uses, err));
    return t->n_blocks > 1 ? read_shared(t, uses, err) : read_alone(t, uses, err);
}

static void set_origin(zlgi_worker *worker, const zlgi_planned *planned)
{
    for (int i = 0; i < planned->source->grid.rank; i++) {
        worker->origin[i] = planned->start[i];
        worker->axes[i] = i;
    }
}

static void run_read(zlgi_worker *worker, uint64_t object, int i_block)
{
    task t;
    t.worker = worker;
    zlgi_plan_object(&worker->job->plan, object, &t.planned);
    t.source = t.planned.source;
    t.i_block = i_block;
    t.n_blocks = zlgi_job_cuts(worker->job, t.source) ? worker->job->n_blocks : 1;
    if (i_block >= t.n_blocks)
        return;
    /* The first piece of the task: inner chunks are numbered, and the blocks of a raw
     * object stand for them. */
    uint64_t piece = t.source->level->sharding ? 0 : (uint64_t)i_block;
    if (!zlgi_worker_wants(worker, piece))
        return;
    if (zlgi_job_transform(worker->job))
        set_origin(worker, &t.planned);
    zlgi_uses uses = {.buf = zlgi_scratch_push(worker->scratch),
                      .rank = t.source->grid.rank};
    zlg_status status = read_task(&t, &uses, &worker->error);
    zlgi_scratch_pop(worker->scratch);
    if (status != ZLG_OK && status != ZLG_CANCELLED)
        zlgi_worker_fail(worker, status, piece);
}

/* ------------------------------------------------------------------ shared objects */

static zlg_status make_shared(zlgi_job *job, zlg_error *err)
{
    size_t n = (size_t)job->plan.n_objects;
    job->shared = zlgi_arena_get(&job->plan.arena, n * sizeof *job->shared);
    if (!job->shared)
        return zlgi_no_memory(err, n * sizeof *job->shared);
    memset(job->shared, 0, n * sizeof *job->shared);
    for (size_t i = 0; i < n; i++)
        pthread_mutex_init(&job->shared[i].lock, NULL);
    return ZLG_OK;
}

static void close_shared(zlgi_job *job)
{
    for (uint64_t i = 0; job->shared && i < job->plan.n_objects; i++) {
        zlgi_shared *shared = &job->shared[i];
        if (shared->opened && shared->status == ZLG_OK) {
            zlgi_planned planned;
            zlgi_plan_object(&job->plan, i, &planned);
            zlg_store *store = planned.source->store;
            zlgi_block_unref(job->engine->index_cache, shared->index);
            store->class->release(store, &shared->object);
        }
        pthread_mutex_destroy(&shared->lock);
    }
}

zlg_status zlgi_read_planned(zlgi_job *job, zlg_error *err)
{
    for (size_t i = 0; i < job->plan.n_requests; i++)
        job->n_all += (uint64_t)zlgi_use_count(zlgi_plan_use(&job->plan, i)) *
                      job->plan.requests[i].source->item;
    int n_threads = zlgi_job_hands(job);
    uint64_t n_tasks = job->plan.n_objects * (uint64_t)job->n_blocks;
    job->run_task = run_read;
    if (job->n_blocks > 1)
        ZLGI_TRY(make_shared(job, err));
    if (n_tasks == 0)
        return ZLG_OK;
    if (job->n_keep) { /* variable length: every worker keeps what it decoded */
        job->keep =
            zlgi_arena_get(&job->plan.arena, (size_t)job->n_keep * sizeof *job->keep);
        if (!job->keep)
            return zlgi_no_memory(err, (size_t)job->n_keep * sizeof *job->keep);
        for (int i = 0; i < job->n_keep; i++)
            zlgi_arena_init(&job->keep[i], job->engine->alloc);
    }
    zlg_status status = zlgi_job_run(job, n_threads, err);
    close_shared(job);
    return status;
}

static void clear_missing(const zlg_call *call, size_t n)
{
    if (call && call->missing)
        memset(call->missing, 0, n);
}

zlg_status zlgi_engine_read(zlgi_engine *engine, const zlgi_request *requests, size_t n,
                            const zlg_call *call, zlg_error *err)
{
    zlgi_job job;
    zlgi_job_init(&job, engine, call);
    clear_missing(call, n);
    zlg_status status = zlgi_plan_make(&job.plan, &job, engine->alloc, requests, n, err);
    if (status == ZLG_OK)
        status = zlgi_read_planned(&job, err);
    zlgi_job_reset(&job);
    return status;
}

/* ------------------------------------------------------------------ variable length */

static bool job_goes_on(void *job)
{
    return zlgi_job_goes_on(job);
}

/* Offsets from 0, and the bytes of the views one behind the other. */
static void join(zlgi_job *job, const zlgi_view *views, size_t n, int64_t *offsets,
                 uint8_t *bytes)
{
    zlgi_look look = {.goes_on = job_goes_on, .user = job};
    size_t i = 0, at = 0, end;
    while (i < n && zlgi_look_span(&look, i, n, &end))
        for (; i < end; i++) {
            offsets[i] = (int64_t)at;
            if (views[i].n)
                memcpy(bytes + at, views[i].data, views[i].n);
            at += views[i].n;
        }
    offsets[i] = (int64_t)at;
}

zlg_status zlgi_join_views(zlgi_job *job, const zlgi_view *views, size_t n, zlg_varlen *out,
                           zlg_error *err)
{
    const zlgi_alloc *alloc = job->engine->alloc;
    size_t n_offsets, n_bytes = 0;
    bool fits = zlgi_mul_size(n + 1, sizeof(int64_t), &n_offsets);
    for (size_t i = 0; i < n && fits; i++)
        fits = zlgi_add_size(n_bytes, views[i].n, &n_bytes);
    if (!fits || !zlgi_add_size(n_bytes, n_offsets, &n_bytes))
        return zlgi_fail(err, ZLG_LIMIT, "the result has more than 2^64 bytes");
    uint8_t *block = zlgi_resize(alloc, NULL, 0, n_bytes);
    if (!block)
        return zlgi_no_memory(err, n_bytes);
    int64_t *offsets = (int64_t *)(void *)block;
    join(job, views, n, offsets, block + n_offsets);
    zlg_status status = zlgi_job_end(job, err);
    if (status != ZLG_OK) {
        zlgi_free(alloc, block, n_bytes);
        return status;
    }
    out->n = (int64_t)n;
    out->offsets = offsets;
    out->bytes = block + n_offsets;
    out->block = block;
    out->n_bytes_block = n_bytes;
    return ZLG_OK;
}

static zlg_status read_views(zlgi_job *job, const zlgi_request *request, zlg_varlen *out,
                             zlgi_buf *views, zlg_error *err)
{
    int rank;
    int64_t shape[ZLG_MAX_RANK], n;
    size_t n_bytes;
    ZLGI_TRY(zlgi_selection_shape(&request->source->grid, request->selection, &rank, shape,
                                  err));
    if (!zlgi_product(shape, rank, &n) ||
        !zlgi_mul_size((size_t)n, sizeof(zlgi_view), &n_bytes))
        return zlgi_fail(err, ZLG_LIMIT, "the selection has more than 2^63 elements");
    ZLGI_TRY(zlgi_buf_reserve(views, n_bytes + 1, false, err));
    zlgi_request to_views = *request;
    to_views.memory = views->data;
    to_views.strides = NULL;
    ZLGI_TRY(zlgi_plan_make(&job->plan, job, job->engine->alloc, &to_views, 1, err));
    job->n_keep = zlgi_job_threads(job);
    ZLGI_TRY(zlgi_read_planned(job, err));
    return zlgi_join_views(job, (const zlgi_view *)(const void *)views->data, (size_t)n,
                           out, err);
}

zlg_status zlgi_engine_read_varlen(zlgi_engine *engine, const zlgi_request *request,
                                   zlg_varlen *out, const zlg_call *call, zlg_error *err)
{
    zlgi_job job;
    zlgi_job_init(&job, engine, call);
    zlgi_arena_init(&job.plan.arena, engine->alloc); /* the plan may never be made */
    zlgi_buf views;
    zlgi_buf_init(&views, engine->alloc);
    clear_missing(call, 1);
    zlg_status status = read_views(&job, request, out, &views, err);
    zlgi_job_reset(&job);
    zlgi_buf_reset(&views);
    return status;
}
