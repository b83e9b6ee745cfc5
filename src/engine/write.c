/*
 * write.c: a write from end to end: the plan, and what one task does with an object: it
 * encodes what is covered, and then puts the object together in one transaction.
 */
#include "engine/write.h"

/* An object whose inner chunks several workers encode: who is done last stores it. */
struct zlgi_joint {
    int n_done; /* atomic, blocks */
    int failed; /* atomic */
    pthread_mutex_t lock;
    zlgi_slot *slots; /* made by the first to come */
    size_t n_slots;
    zlgi_buf buffers[ZLGI_MAX_BLOCKS];
};

typedef struct object_writer {
    zlgi_worker *worker;
    zlgi_planned planned;
    char key[ZLGI_PATH_MAX];
    const zlgi_request *request; /* any of those that fall into it */
    zlgi_written box;
    zlgi_shard_writer *shard; /* NULL: a unit */
    zlgi_buf *bufs, *old;     /* unit: three in a row; what is stored */
    zlgi_bytes part;          /* unit */
    bool covered;             /* unit: it is encoded, or given */
    bool keeps;               /* something of what is stored may stay */
    zlgi_empty empty;
    zlg_error *err;
} object_writer;

/* ------------------------------------------------------------------ transaction */

static int waiting(void *user)
{
    return zlgi_worker_check(user) != ZLG_OK;
}

static zlg_status read_old(object_writer *writer, zlgi_txn *txn, zlgi_bytes *out)
{
    zlgi_range range = {.store = writer->box.source->store,
                        .object = &txn->object,
                        .key = writer->key,
                        .n_bytes = txn->object.n_bytes};
    return zlgi_fetch_all(writer->worker, &range, ZLGI_RUN_BYTES, writer->old, out,
                          writer->err);
}

/* The new object as parts, from what is stored (NULL: nothing, or it does not matter). */
static zlg_status put_together(object_writer *writer, const zlgi_bytes *old,
                               const zlgi_bytes **parts, int *n_parts)
{
    *parts = &writer->part;
    *n_parts = 1;
    if (writer->shard)
        ZLGI_TRY(
            zlgi_shard_put_together(writer->shard, old, parts, n_parts, &writer->empty));
    else if (!writer->covered)
        ZLGI_TRY(zlgi_unit_encode(&writer->box, old, writer->bufs, &writer->part,
                                  &writer->empty));
    if (writer->empty) /* an object's fill value is the array's */
        *n_parts = ZLGI_REMOVE;
    return ZLG_OK;
}

static void count_stored(zlg_stats *stats, const zlgi_bytes *parts, int n_parts)
{
    stats->n_removed += n_parts == ZLGI_REMOVE;
    stats->n_stored += n_parts != ZLGI_REMOVE;
    for (int i = 0; i < n_parts; i++)
        stats->n_bytes_stored += parts[i].n;
}

/* Is what is stored the new object already? old: when it has been read. */
static zlg_status compare(object_writer *writer, zlgi_txn *txn, const zlgi_bytes *old,
                          const zlgi_bytes *parts, int n_parts, bool *out)
{
    zlgi_bytes stored;
    uint64_t n = 0, n_stored = txn->object.n_bytes;
    for (int i = 0; i < n_parts; i++)
        n += parts[i].n;
    *out = false;
    if (n_parts == ZLGI_REMOVE || (n_stored != ZLGI_SIZE_UNKNOWN && n_stored != n))
        return ZLG_OK;
    if (old)
        stored = *old;
    else
        ZLGI_TRY(read_old(writer, txn, &stored));
    *out = stored.n == n;
    for (int i = 0; i < n_parts && *out; stored.data += parts[i].n, i++)
        *out = parts[i].n == 0 || memcmp(stored.data, parts[i].data, parts[i].n) == 0;
    return ZLG_OK;
}

static zlg_status change_object(object_writer *writer, zlgi_txn *txn)
{
    zlg_store *store = writer->box.source->store;
    zlg_stats *stats = &writer->worker->stats;
    const zlgi_bytes *parts = NULL;
    int n_parts = 0;
    zlgi_bytes bytes, *old = NULL;
    bool equal = false;
    if (writer->keeps && txn->change == ZLGI_UPDATE && txn->present) {
        old = &bytes;
        ZLGI_TRY(read_old(writer, txn, old));
    }
    ZLGI_TRY(put_together(writer, old, &parts, &n_parts));
    if (n_parts == ZLGI_REMOVE && txn->change != ZLGI_REPLACE && !txn->present) {
        stats->n_removed++;
        return ZLG_OK;
    }
    if (writer->request->skip_equal && txn->present)
        ZLGI_TRY(compare(writer, txn, old, parts, n_parts, &equal));
    stats->n_equal += equal;
    if (equal)
        return ZLG_OK;
    /* What was stopped while an object was encoded does not store it any more. */
    ZLGI_TRY(zlgi_worker_check(writer->worker));
    ZLGI_TRY(store->class->commit(store, writer->key, txn, parts, n_parts, writer->err));
    count_stored(stats, parts, n_parts);
    return ZLG_OK;
}

static zlg_status transact(object_writer *writer)
{
    const zlgi_request *request = writer->request;
    zlgi_change change = request->create                        ? ZLGI_CREATE
                         : writer->keeps || request->skip_equal ? ZLGI_UPDATE
                                                                : ZLGI_REPLACE;
    zlgi_job *job = writer->worker->job;
    zlg_store *store = writer->box.source->store;
    zlgi_txn txn = {.change = change,
                    .promise = request->promise,
                    .syncs =
                        store == job->plan.requests[0].source->store ? job->syncs : NULL,
                    .waiting = waiting,
                    .user = writer->worker};
    zlg_status status;
    do {
        ZLGI_TRY(zlgi_worker_check(writer->worker));
        txn.again = false;
        ZLGI_TRY(store->class->begin(store, writer->key, &txn, writer->err));
        writer->worker->is_locked = true;
        writer->worker->stats.n_opened += change == ZLGI_UPDATE && txn.present;
        status = change_object(writer, &txn);
        store->class->end(store, &txn);
        writer->worker->is_locked = false;
        writer->worker->stats.n_again += txn.again;
    } while (status != ZLG_OK && txn.again);
    return status;
}

/* ------------------------------------------------------------------ one object */

static zlg_status write_encoded(object_writer *writer)
{
    const zlg_encoded *chunk = zlgi_written_encoded(&writer->box);
    writer->part = (zlgi_bytes){.data = chunk->data, .n = chunk->n_bytes};
    writer->empty = chunk->data ? ZLGI_FULL : ZLGI_EMPTY_ARRAY;
    writer->covered = true;
    return transact(writer);
}

static zlg_status write_unit(object_writer *writer)
{
    size_t i_use;
    if (writer->box.encoded)
        return write_encoded(writer);
    writer->covered = writer->box.replace || zlgi_written_covers(&writer->box, &i_use);
    if (writer->covered)
        ZLGI_TRY(zlgi_unit_encode(&writer->box, NULL, writer->bufs, &writer->part,
                                  &writer->empty));
    writer->keeps = !writer->covered;
    return transact(writer);
}

static zlg_status store_shard(object_writer *writer)
{
    writer->keeps = zlgi_shard_keeps(writer->shard);
    return transact(writer);
}

static zlg_status take_slots(zlgi_job *job, zlgi_joint *joint, uint64_t n, zlg_error *err)
{
    size_t n_bytes = SIZE_MAX;
    zlg_status status = ZLG_OK;
    pthread_mutex_lock(&joint->lock);
    if (!joint->slots) {
        if (zlgi_mul_size((size_t)n, sizeof *joint->slots, &n_bytes))
            joint->slots = zlgi_resize(job->engine->alloc, NULL, 0, n_bytes);
        joint->n_slots = (size_t)n;
        if (!joint->slots)
            status = zlgi_no_memory(err, n_bytes);
    }
    pthread_mutex_unlock(&joint->lock);
    return status;
}

/* Block i of a shard that several write; the last of them has all buffers. */
static zlg_status write_block(object_writer *writer, zlgi_joint *joint, int i_block)
{
    zlgi_job *job = writer->worker->job;
    zlgi_shard_writer *shard = writer->shard;
    for (int i = 0; i < job->n_blocks; i++)
        shard->buffers[i] = &joint->buffers[i];
    zlg_status status = zlgi_shard_writer_start(shard);
    if (status == ZLG_OK)
        status = take_slots(job, joint, shard->facts->n_chunks, writer->err);
    if (status == ZLG_OK) {
        shard->slots = joint->slots;
        status = zlgi_shard_encode_covered(shard, i_block, job->n_blocks);
    }
    if (status != ZLG_OK)
        __atomic_store_n(&joint->failed, 1, __ATOMIC_RELEASE);
    int n_done = __atomic_add_fetch(&joint->n_done, 1, __ATOMIC_ACQ_REL);
    if (status != ZLG_OK || n_done < job->n_blocks ||
        __atomic_load_n(&joint->failed, __ATOMIC_ACQUIRE))
        return status;
    return store_shard(writer);
}

static zlg_status write_shard(object_writer *writer, int i_block)
{
    zlgi_job *job = writer->worker->job;
    zlgi_shard_writer shard;
    zlgi_shard_writer_begin(&shard, &writer->box);
    writer->shard = &shard;
    zlg_status status;
    if (job->joint) {
        status = write_block(writer, &job->joint[writer->worker->object], i_block);
    } else {
        status = zlgi_shard_writer_start(&shard);
        if (status == ZLG_OK)
            status = zlgi_shard_encode_covered(&shard, 0, 1);
        if (status == ZLG_OK)
            status = store_shard(writer);
    }
    zlgi_shard_writer_end(&shard);
    return status;
}

/* Asked for before any buffer is in use, so that none is kept while we wait: the object
 * decoded bounds, nearly, its old and its new form and a chunk of it. Of what is given
 * encoded there is only the old form, or, when shards lie in shards, the new one. */
static void reserve(zlgi_worker *worker, const zlgi_planned *planned,
                    const zlgi_request *request)
{
    const zlgi_level *inner = planned->source->level->inner;
    bool is_read = !request->replace || request->skip_equal;
    if (request->encoded && !is_read && !(inner && inner->sharding))
        return;
    uint64_t n = (request->encoded ? 1 : 3) * (uint64_t)planned->source->item;
    for (int i = 0; i < planned->source->grid.rank; i++)
        if (__builtin_mul_overflow(n, (uint64_t)planned->shape[i], &n))
            n = UINT64_MAX;
    zlgi_worker_reserve(worker, n / (uint64_t)worker->job->n_blocks);
}

/* One of the writes that fall into an object is enough. */
static bool is_replaced(const zlgi_plan *plan, const zlgi_planned *planned)
{
    bool replaced = !planned->records && plan->requests[0].replace;
    for (size_t i = 0; planned->records && i < planned->n_records && !replaced; i++)
        replaced = plan->requests[planned->records[i].request].replace;
    return replaced;
}

static zlg_status write_object(object_writer *writer, zlgi_uses *uses, int i_block)
{
    zlgi_job *job = writer->worker->job;
    const zlgi_source *source = writer->planned.source;
    writer->box = (zlgi_written){.worker = writer->worker,
                                 .source = source,
                                 .level = source->level,
                                 .shape = writer->planned.shape,
                                 .keep_empty = writer->request->keep_empty,
                                 .replace = is_replaced(&job->plan, &writer->planned),
                                 .encoded = writer->request->encoded,
                                 .uses = uses,
                                 .fill = &source->fill,
                                 .err = writer->err};
    ZLGI_TRY(zlgi_plan_key(source, writer->planned.coordinates, writer->key, writer->err));
    ZLGI_TRY(zlgi_object_uses(&job->plan, &writer->planned, uses, writer->err));
    bool is_shard = zlgi_written_is_shard(source->level);
    if (uses->n == 0 || (!is_shard && i_block > 0))
        return ZLG_OK;
    return is_shard ? write_shard(writer, i_block) : write_unit(writer);
}

static void run_write(zlgi_worker *worker, uint64_t object, int i_block)
{
    zlgi_scratch *scratch = worker->scratch;
    object_writer writer;
    if (zlgi_worker_check(worker) != ZLG_OK ||
        !zlgi_worker_wants(worker, (uint64_t)i_block))
        return;
    /* Not all of it: a key has much room, and objects may be small. */
    writer.worker = worker;
    writer.err = &worker->error;
    writer.shard = NULL;
    writer.part = (zlgi_bytes){.data = NULL};
    writer.covered = writer.keeps = false;
    writer.empty = ZLGI_FULL;
    zlgi_plan_object(&worker->job->plan, object, &writer.planned);
    const zlgi_record *record = writer.planned.records;
    writer.request = &worker->job->plan.requests[record ? record->request : 0];
    reserve(worker, &writer.planned, writer.request);
    zlgi_uses uses = {.buf = zlgi_scratch_push(scratch),
                      .rank = writer.planned.source->grid.rank};
    writer.old = zlgi_scratch_push(scratch);
    writer.bufs = zlgi_scratch_push(scratch); /* three in a row */
    zlgi_scratch_push(scratch);
    zlgi_scratch_push(scratch);
    worker->is_holding = true;
    zlg_status status = write_object(&writer, &uses, i_block);
    worker->is_holding = false;
    for (int i = 0; i < 5; i++)
        zlgi_scratch_pop(scratch);
    if (status != ZLG_OK && status != ZLG_CANCELLED)
        zlgi_worker_fail(worker, status, (uint64_t)i_block);
}

/* ------------------------------------------------------------------ byte order */

static const zlgi_chain *unit_chain(const zlgi_level *level)
{
    while (zlgi_written_is_shard(level))
        level = level->inner;
    return level->wrapped ? NULL : level->chain; /* NULL: takes native elements */
}

static bool has_word(const zlgi_swap *swap, uint32_t offset)
{
    if (swap->width > 1)
        return true;
    for (uint32_t i = 0; swap->width == 1 && i < swap->n_runs; i++) {
        const zlgi_swap_run *run = &swap->runs[i];
        if (offset >= run->offset && offset - run->offset < run->width * run->count)
            return true;
    }
    return false;
}

/* The words of `all` that are not in `some`: swapping twice is not swapping. */
static zlg_status without(zlgi_arena *arena, const zlgi_swap *all, const zlgi_swap *some,
                          size_t item, const zlgi_swap **out, zlg_error *err)
{
    zlgi_swap *swap = zlgi_arena_get(arena, sizeof *swap);
    size_t n_words = item / 2, n_runs = 0;
    zlgi_swap_run *runs = zlgi_arena_get(arena, (n_words + 1) * sizeof *runs);
    if (!swap || !runs)
        return zlgi_no_memory(err, n_words * sizeof *runs);
    zlgi_swap_run uniform = {.width = all->width, .count = (uint32_t)(item / all->width)};
    const zlgi_swap_run *all_runs = all->width > 1 ? &uniform : all->runs;
    for (uint32_t i = 0; i < (all->width > 1 ? 1 : all->n_runs); i++) {
        const zlgi_swap_run *run = &all_runs[i];
        for (uint32_t k = 0; k < run->count; k++) {
            uint32_t offset = run->offset + k * run->width;
            if (!has_word(some, offset))
                runs[n_runs++] =
                    (zlgi_swap_run){.offset = offset, .width = run->width, .count = 1};
        }
    }
    *swap = (zlgi_swap){.width = n_runs ? 1 : 0, .n_runs = (uint32_t)n_runs, .runs = runs};
    *out = n_runs ? swap : NULL;
    return ZLG_OK;
}

zlg_status zlgi_written_swap(const zlgi_source *source, bool swapped, zlgi_arena *arena,
                             const zlgi_swap **out, zlg_error *err)
{
    const zlgi_chain *chain = unit_chain(source->level);
    const zlgi_swap *stored = chain && chain->swap.width ? &chain->swap : NULL;
    *out = stored;
    if (!swapped || zlgi_dtype_is_varlen(source->dtype))
        return ZLG_OK;
    zlgi_swap *all = zlgi_arena_get(arena, sizeof *all);
    if (!all)
        return zlgi_no_memory(err, sizeof *all);
    bool is_little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    ZLGI_TRY(zlgi_swap_make(arena, source->dtype, false, is_little, all, err));
    *out = all->width ? all : NULL;
    if (!stored || !all->width)
        return ZLG_OK;
    return without(arena, all, stored, source->item, out, err);
}

/* ------------------------------------------------------------------ the call */

static zlg_status make_joint(zlgi_job *job, zlg_error *err)
{
    size_t n = (size_t)job->plan.n_objects;
    job->joint = zlgi_arena_get(&job->plan.arena, n * sizeof *job->joint);
    if (!job->joint)
        return zlgi_no_memory(err, n * sizeof *job->joint);
    memset(job->joint, 0, n * sizeof *job->joint);
    for (size_t i = 0; i < n; i++) {
        pthread_mutex_init(&job->joint[i].lock, NULL);
        for (int k = 0; k < ZLGI_MAX_BLOCKS; k++)
            zlgi_buf_init(&job->joint[i].buffers[k], job->engine->alloc);
    }
    return ZLG_OK;
}

static void free_joint(zlgi_job *job)
{
    for (uint64_t i = 0; job->joint && i < job->plan.n_objects; i++) {
        zlgi_joint *joint = &job->joint[i];
        for (int k = 0; k < ZLGI_MAX_BLOCKS; k++)
            zlgi_buf_reset(&joint->buffers[k]);
        zlgi_free(job->engine->alloc, joint->slots, joint->n_slots * sizeof *joint->slots);
        pthread_mutex_destroy(&joint->lock);
    }
}

static zlg_status sync_all(zlgi_job *job, zlg_error *err)
{
    zlg_store *store = job->plan.requests[0].source->store;
    return job->syncs ? store->class->sync(store, job->syncs, err) : ZLG_OK;
}

static uint64_t n_bytes_of(const zlgi_plan *plan, size_t i_request)
{
    const zlgi_request *request = &plan->requests[i_request];
    uint64_t n = (uint64_t)zlgi_use_count(zlgi_plan_use(plan, i_request)), n_bytes = 0;
    if (!request->encoded)
        return n * request->source->item;
    for (uint64_t i = 0; i < n; i++)
        n_bytes += request->encoded[i].n_bytes;
    return n_bytes;
}

static zlg_status run_planned(zlgi_job *job, zlg_error *err)
{
    zlgi_plan *plan = &job->plan;
    for (size_t i = 0; i < plan->n_requests; i++) {
        job->n_all += n_bytes_of(plan, i);
        ZLGI_TRY(zlgi_written_swap(plan->requests[i].source, plan->requests[i].swapped,
                                   &plan->arena, &zlgi_plan_use(plan, i)->swap, err));
    }
    if (plan->n_objects == 0)
        return ZLG_OK;
    int n_threads = zlgi_job_write_hands(job);
    job->run_task = run_write;
    if (job->n_blocks > 1)
        ZLGI_TRY(make_joint(job, err));
    bool lasts = false;
    for (size_t i = 0; i < plan->n_requests; i++)
        lasts = lasts || plan->requests[i].promise >= ZLG_DURABLE;
    if (lasts) {
        job->syncs = zlgi_syncs_new(job->engine->alloc);
        if (!job->syncs)
            return zlgi_no_memory(err, sizeof job->syncs);
    }
    zlg_status status = zlgi_job_run(job, n_threads, err);
    /* After a failure too: who tries again finds the names there and does not note them. */
    zlg_status synced = sync_all(job, status == ZLG_OK ? err : NULL);
    return status == ZLG_OK ? synced : status;
}

zlg_status zlgi_engine_write(zlgi_engine *engine, const zlgi_request *requests, size_t n,
                             const zlg_call *call, zlg_error *err)
{
    zlgi_job job;
    zlgi_job_init(&job, engine, call);
    zlg_status status = zlgi_plan_make(&job.plan, &job, engine->alloc, requests, n, err);
    if (status == ZLG_OK)
        status = run_planned(&job, err);
    free_joint(&job);
    if (job.syncs)
        zlgi_syncs_free(job.syncs);
    zlgi_job_reset(&job);
    return status;
}
