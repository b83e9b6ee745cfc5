/*
 * writer.c: a writer's life: options, arrays, counts, the end.
 */
#define _GNU_SOURCE /* CLOCK_MONOTONIC */
#include <time.h>

#include "writer/writer.h"

enum {
    USUAL_BUDGET = 160 << 20,
    WAIT_NS = 20 * 1000 * 1000,
    SECOND_NS = 1000 * 1000 * 1000
};

/* ------------------------------------------------------------------ lock */

zlg_status zlgi_writer_enter(zlg_writer *writer, zlg_error *err)
{
    if (zlgi_fork_enter(&writer->mark)) {
        writer->is_forked = true;
        zlgi_fork_leave(&writer->mark);
    }
    if (writer->is_forked)
        return zlgi_fail(err, ZLG_USAGE,
                         "the writer was opened before a fork, in the parent");
    pthread_mutex_lock(&writer->lock);
    return ZLG_OK;
}

zlg_status zlgi_writer_enter_for(zlg_writer *writer, const zlg_call *given, zlg_call *call,
                                 zlgi_patience *patience, zlg_error *err)
{
    ZLGI_TRY(zlgi_call_read(given, call, err));
    ZLGI_TRY(zlgi_writer_enter(writer, err));
    zlgi_patience_init(patience, call);
    return ZLG_OK;
}

void zlgi_writer_leave(zlg_writer *writer)
{
    pthread_mutex_unlock(&writer->lock);
}

void zlgi_writer_changed(zlg_writer *writer)
{
    if (writer->n_pausing > 0)
        pthread_cond_broadcast(&writer->changed);
}

/* A while at most: so often the caller is asked. */
static void wait_some(zlg_writer *writer, pthread_cond_t *condition)
{
    struct timespec until;
    uint64_t now = zlgi_now_ns() + WAIT_NS;
    until.tv_sec = (time_t)(now / SECOND_NS);
    until.tv_nsec = (long)(now % SECOND_NS);
    pthread_cond_timedwait(condition, &writer->lock, &until);
}

void zlgi_writer_pause(zlg_writer *writer)
{
    writer->n_pausing++;
    wait_some(writer, &writer->changed);
    writer->n_pausing--;
}

/* The caller's functions are called without the lock. */
static zlg_status ask(zlg_writer *writer, zlgi_patience *patience, zlg_error *err)
{
    uint64_t n_left = ZLGI_MIN(patience->n_all, writer->counts.n_bytes_queued);
    patience->n_done = patience->n_all - n_left;
    pthread_mutex_unlock(&writer->lock);
    zlg_status status = zlgi_patience_check(patience, err);
    pthread_mutex_lock(&writer->lock);
    return status;
}

zlg_status zlgi_writer_wait(zlg_writer *writer, zlgi_patience *patience, zlg_error *err)
{
    zlgi_writer_pause(writer);
    return ask(writer, patience, err);
}

zlg_status zlgi_writer_wait_idle(zlg_writer *writer, zlgi_patience *patience,
                                 zlg_error *err)
{
    wait_some(writer, &writer->idle);
    return ask(writer, patience, err);
}

/* ------------------------------------------------------------------ open */

static zlg_status check_options(const zlg_writer_options *options, zlg_error *err)
{
    ZLGI_TRY(zlgi_promise_check(options->promise, err));
    if ((unsigned)options->existing > ZLG_EXISTING_SKIP_EQUAL)
        return zlgi_fail(err, ZLG_USAGE, "existing %d is none", (int)options->existing);
    if ((unsigned)options->inner_order > ZLG_COLEXICOGRAPHIC)
        return zlgi_fail(err, ZLG_USAGE, "inner_order %d is none",
                         (int)options->inner_order);
    if ((unsigned)options->partial > ZLG_PARTIAL_KEEP)
        return zlgi_fail(err, ZLG_USAGE, "partial %d is none", (int)options->partial);
    if (options->journal && !*options->journal)
        return zlgi_fail(err, ZLG_USAGE, "a journal needs a path, not an empty one");
    if (options->partial == ZLG_PARTIAL_KEEP && !options->journal)
        return zlgi_fail(err, ZLG_USAGE,
                         "what is partial cannot be kept without a journal, by which it is "
                         "found again");
    if (options->memory_budget < 0 || options->n_threads < 0)
        return zlgi_fail(err, ZLG_USAGE, "a negative memory_budget or n_threads");
    return ZLG_OK;
}

static bool init_locks(zlg_writer *writer)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    bool ok = pthread_mutex_init(&writer->lock, NULL) == 0 &&
              pthread_cond_init(&writer->changed, &attributes) == 0 &&
              pthread_cond_init(&writer->idle, &attributes) == 0 &&
              pthread_cond_init(&writer->work, NULL) == 0;
    pthread_condattr_destroy(&attributes);
    return ok && zlgi_fork_mark_init(&writer->mark);
}

zlg_status zlg_writer_open(zlg_ctx *ctx, const zlg_writer_options *given, zlg_writer **out,
                           zlg_error *err)
{
    zlg_writer_options options;
    *out = NULL;
    ZLGI_TRY(
        zlgi_options_read(given, "ZLG_WRITER_OPTIONS_INIT", &options, sizeof options, err));
    ZLGI_TRY(check_options(&options, err));
    zlg_writer *writer = zlgi_new(&ctx->alloc, sizeof *writer);
    if (!writer || !init_locks(writer)) {
        if (writer)
            zlgi_free(&ctx->alloc, writer, sizeof *writer);
        return zlgi_no_memory(err, sizeof *writer);
    }
    writer->ctx = ctx;
    zlgi_ctx_ref(ctx);
    writer->options = options;
    writer->side.fd = -1;
    int n = options.n_threads > 0 ? options.n_threads : zlgi_pool_threads(ctx->engine.pool);
    writer->n_threads = ZLGI_MIN(n, ZLGI_MAX_WRITERS);
    writer->room.budget =
        options.memory_budget > 0 ? (uint64_t)options.memory_budget : USUAL_BUDGET;
    zlg_status status = ZLG_OK;
    writer->scratch = zlgi_scratch_new(&ctx->alloc, &ctx->limits);
    if (!writer->scratch)
        status = zlgi_no_memory(err, sizeof *writer->scratch);
    if (status == ZLG_OK && options.side_directory)
        status = zlgi_side_open(writer, options.side_directory, err);
    if (status == ZLG_OK && options.journal)
        status = zlgi_resume_open(writer, options.journal, err);
    if (status == ZLG_OK && options.partial == ZLG_PARTIAL_KEEP)
        status =
            zlgi_side_open(writer, writer->journal->folder, err); /* if there is none */
    writer->options.side_directory = NULL;                        /* the caller's text */
    writer->options.journal = NULL;
    if (status == ZLG_OK)
        *out = writer;
    else
        zlg_writer_free(writer);
    return status;
}

/* ------------------------------------------------------------------ arrays */

zlg_status zlgi_fed_error(const zlgi_fed *fed, zlg_error *err)
{
    if (err)
        *err = fed->error;
    return fed->error.status;
}

/* The first stays. */
void zlgi_fed_fail(zlgi_fed *fed, const zlg_error *error)
{
    if (!fed->has_error)
        fed->error = *error;
    fed->has_error = true;
}

static uint64_t n_bytes_of(const zlg_array *array, bool of_cell)
{
    uint64_t n = (uint64_t)array->source.item;
    for (int i = 0; i < array->meta.rank; i++) {
        const zlgi_grid_axis *axis = &array->source.grid.axis[i];
        int64_t edge = axis->chunk;
        for (int64_t k = 0; axis->chunk == 0 && k < axis->n_chunks; k++)
            edge = ZLGI_MAX(edge, zlgi_grid_edge(axis, k));
        if (of_cell && array->sharded)
            edge = array->chunk_shape[i];
        if (__builtin_mul_overflow(n, (uint64_t)edge, &n))
            return INT64_MAX / 4; /* more than any budget */
    }
    return ZLGI_MIN(n, INT64_MAX / 4);
}

/* What threads need beside what is held, and a submit: a chunk decoded and encoded for
 * each. */
static uint64_t base_bytes(const zlg_writer *writer, uint64_t n_bytes_cell)
{
    return 2 * ((uint64_t)writer->n_threads + 1) * n_bytes_cell;
}

static void estimate(const zlg_writer *writer, const zlgi_fed *more, uint64_t *out_base,
                     uint64_t *out_least, uint64_t *out_usual)
{
    uint64_t cell = more ? more->n_bytes_cell : 0, object = more ? more->n_bytes_object : 0;
    uint64_t all = object;
    for (int i = 0; i < writer->n_fed; i++) {
        cell = ZLGI_MAX(cell, writer->fed[i]->n_bytes_cell);
        object = ZLGI_MAX(object, writer->fed[i]->n_bytes_object);
        all = ZLGI_MIN(all + writer->fed[i]->n_bytes_object, INT64_MAX / 4);
    }
    *out_base = base_bytes(writer, cell);
    *out_least = *out_base + cell + object;
    *out_usual = *out_base + cell + all;
}

static zlg_status make_budget(zlg_writer *writer, const zlgi_fed *fed, zlg_error *err)
{
    zlgi_room *room = &writer->room;
    uint64_t base, least, usual;
    estimate(writer, fed, &base, &least, &usual);
    if (least > room->budget && writer->options.memory_budget > 0)
        return zlgi_fail(err, ZLG_LIMIT,
                         "a memory_budget of %llu bytes, when an object and a chunk for "
                         "each thread take %llu",
                         (unsigned long long)room->budget, (unsigned long long)least);
    room->budget = ZLGI_MAX(room->budget, least);
    room->live += base - room->base;
    room->base = base;
    return ZLG_OK;
}

static zlg_status check_claim(zlgi_fed *fed, const zlg_claim *claim, zlg_error *err)
{
    for (int i = 0; claim && i < fed->array->meta.rank; i++) {
        int64_t length = fed->array->meta.shape[i], end;
        fed->claim_start[i] = claim->start ? claim->start[i] : 0;
        fed->claim_count[i] = claim->count ? claim->count[i] : length;
        if (fed->claim_start[i] < 0 || fed->claim_count[i] < 0 ||
            !zlgi_add_i64(fed->claim_start[i], fed->claim_count[i], &end) || end > length)
            return zlgi_fail(err, ZLG_RANGE, "axis %d: a claim beyond the array", i);
    }
    fed->has_claim = claim != NULL;
    return ZLG_OK;
}

/* The objects in which the box lies, for this writer alone. */
static zlg_status take_claim(zlg_writer *writer, zlgi_fed *fed, zlg_error *err)
{
    const zlg_array *array = fed->plain;
    fed->claim = zlgi_claim_of(array->store, array->path, array->meta.rank, writer);
    for (int i = 0; i < array->meta.rank; i++) {
        const zlgi_grid_axis *axis = &array->source.grid.axis[i];
        int64_t start = fed->claim_start[i], count = fed->claim_count[i];
        if (count == 0)
            return ZLG_OK;
        fed->claim.first[i] = zlgi_grid_find(axis, start);
        fed->claim.last[i] = zlgi_grid_find(axis, start + count - 1);
    }
    return zlgi_claim_take(&writer->ctx->claims, &fed->claim, err);
}

static zlg_status make_swap(zlgi_fed *fed, zlg_error *err)
{
    bool is_little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    zlgi_swap *swap = zlgi_arena_get(&fed->arena, sizeof *swap);
    if (!swap)
        return zlgi_no_memory(err, sizeof *swap);
    ZLGI_TRY(
        zlgi_swap_make(&fed->arena, fed->array->meta.dtype, false, is_little, swap, err));
    fed->swap = swap->width ? swap : NULL;
    return ZLG_OK;
}

static zlg_status settle_call(const zlg_writer *writer, zlgi_fed *fed, zlg_error *err)
{
    zlg_call call = ZLG_CALL_INIT;
    zlgi_request request = {.promise = ZLG_PROMISE_DEFAULT};
    call.promise = writer->options.promise;
    call.keep_empty = writer->options.keep_empty;
    call.inner_order = writer->options.inner_order;
    ZLGI_TRY(zlgi_call_settle(fed->array, &call, &fed->call, err));
    zlgi_request_settle(&request, fed->array, &fed->call);
    fed->call.keep_empty = request.keep_empty ? 1 : -1;
    return ZLG_OK;
}

/* Beside the objects, when they are files; without one nothing is moved out. */
static void open_side(zlg_writer *writer, const zlg_store *store)
{
    if (!store->class->directory)
        return;
    zlg_status status = zlgi_side_open(writer, store->class->directory(store), NULL);
    (void)status;
}

static zlg_status fill_fed(zlg_writer *writer, zlgi_fed *fed, zlg_array *array,
                           const zlg_claim *claim, zlg_error *err)
{
    if (array->store->ctx != writer->ctx)
        return zlgi_fail(err, ZLG_USAGE, "it belongs to another context");
    if (zlgi_dtype_is_varlen(array->meta.dtype))
        return zlgi_fail(err, ZLG_UNSUPPORTED, "elements of variable length");
    ZLGI_TRY(zlgi_store_needs(array->store, ZLGI_STORE_WRITE, "be written", err));
    ZLGI_TRY(zlg_array_over(array, array->store, &fed->array, err));
    ZLGI_TRY(zlg_array_over(array, array->store, &fed->plain, err));
    fed->number = writer->n_fed;
    fed->item = array->source.item;
    fed->growth.axis = -1;
    fed->n_bytes_cell = n_bytes_of(array, true);
    fed->n_bytes_object = n_bytes_of(array, false);
    ZLGI_TRY(check_claim(fed, claim, err));
    ZLGI_TRY(make_swap(fed, err));
    ZLGI_TRY(settle_call(writer, fed, err));
    open_side(writer, array->store);
    fed->staging = zlgi_stage_suits(writer, fed);
    ZLGI_TRY(make_budget(writer, fed, err));
    if (fed->has_claim)
        ZLGI_TRY(take_claim(writer, fed, err));
    return zlgi_resume_add(writer, fed, err);
}

static void free_fed(zlg_writer *writer, zlgi_fed *fed)
{
    const zlgi_alloc *alloc = &writer->ctx->alloc;
    zlgi_grow_end(writer, fed);
    if (fed->table)
        zlgi_free(alloc, fed->table, fed->n_table * sizeof *fed->table);
    zlgi_coarser_free(alloc, fed->coarser);
    zlgi_buf_reset(&fed->growth.stored);
    zlgi_arena_reset(&fed->arena);
    zlg_array_close(fed->array);
    zlg_array_close(fed->plain);
    zlgi_free(alloc, fed, sizeof *fed);
}

static zlg_status add(zlg_writer *writer, zlg_array *array, const zlg_claim *claim,
                      int *out, zlg_error *err)
{
    const zlgi_alloc *alloc = &writer->ctx->alloc;
    size_t n = (size_t)writer->n_fed, one = sizeof(zlgi_fed *);
    if (writer->state != ZLGI_WRITER_OPEN)
        return zlgi_fail(err, ZLG_USAGE, "the writer is closed");
    zlgi_fed *fed = zlgi_new(alloc, sizeof *fed), **list = NULL;
    if (!fed)
        return zlgi_no_memory(err, sizeof *fed);
    zlgi_arena_init(&fed->arena, alloc);
    zlgi_buf_init(&fed->growth.stored, alloc);
    zlg_status status = fill_fed(writer, fed, array, claim, err);
    if (status == ZLG_OK &&
        !(list = zlgi_resize(alloc, writer->fed, n * one, (n + 1) * one)))
        status = zlgi_no_memory(err, (n + 1) * one);
    if (status != ZLG_OK) {
        free_fed(writer, fed);
        return zlgi_array_within(array, status, err);
    }
    writer->fed = list;
    writer->fed[writer->n_fed++] = fed;
    *out = fed->number;
    return ZLG_OK;
}

zlg_status zlg_writer_add(zlg_writer *writer, zlg_array *array, const zlg_claim *claim,
                          int *out, zlg_error *err)
{
    ZLGI_TRY(zlgi_writer_enter(writer, err));
    zlg_status status = add(writer, array, claim, out, err);
    zlgi_writer_leave(writer);
    return status;
}

/* ------------------------------------------------------------------ counts */

static void count_held(const zlg_writer *writer, zlg_writer_counts *out)
{
    for (int i = 0; i < writer->n_fed; i++) {
        const zlgi_fed *fed = writer->fed[i];
        out->n_failed += fed->n_failed;
        for (size_t k = 0; k < fed->n_table; k++)
            for (const zlgi_held *held = fed->table[k]; held; held = held->same_hash)
                out->n_open += held->n_dirty > 0;
    }
}

zlg_status zlg_writer_count(zlg_writer *writer, zlg_writer_counts *out, zlg_error *err)
{
    if (out->n_bytes_struct < sizeof out->n_bytes_struct)
        return zlgi_fail(err, ZLG_USAGE, "n_bytes_struct is %zu: start from %s",
                         out->n_bytes_struct, "ZLG_WRITER_COUNTS_INIT");
    ZLGI_TRY(zlgi_writer_enter(writer, err));
    zlg_writer_counts counts = writer->counts;
    counts.n_bytes_struct = out->n_bytes_struct;
    counts.n_bytes_live = zlgi_room_used(writer);
    counts.n_bytes_peak = writer->room.peak;
    counts.n_bytes_budget = writer->room.budget;
    count_held(writer, &counts);
    memcpy(out, &counts, ZLGI_MIN(counts.n_bytes_struct, sizeof counts));
    zlgi_writer_leave(writer);
    return ZLG_OK;
}

zlg_status zlg_writer_estimate(zlg_writer *writer, uint64_t *out_least, uint64_t *out_usual,
                               zlg_error *err)
{
    uint64_t base;
    ZLGI_TRY(zlgi_writer_enter(writer, err));
    estimate(writer, NULL, &base, out_least, out_usual);
    zlgi_writer_leave(writer);
    return ZLG_OK;
}

/* ------------------------------------------------------------------ the end */

void zlg_writer_free(zlg_writer *writer)
{
    if (!writer)
        return;
    zlg_writer_abort(writer); /* in a child: nothing; what it holds goes with the process */
    if (writer->journal)
        zlgi_journal_end(writer->journal);
    if (writer->is_forked)
        return;
    zlg_ctx *ctx = writer->ctx;
    const zlgi_alloc alloc = ctx->alloc;
    for (int i = 0; i < writer->n_fed; i++)
        free_fed(writer, writer->fed[i]);
    if (writer->fed)
        zlgi_free(&alloc, writer->fed, (size_t)writer->n_fed * sizeof *writer->fed);
    zlgi_tickets_free(writer);
    zlgi_room_reset(writer);
    zlgi_side_close(writer);
    if (writer->journal)
        zlgi_journal_free(writer->journal);
    if (writer->scratch)
        zlgi_scratch_free(writer->scratch);
    pthread_cond_destroy(&writer->work);
    pthread_cond_destroy(&writer->changed);
    pthread_cond_destroy(&writer->idle);
    pthread_mutex_destroy(&writer->lock);
    zlgi_fork_mark_reset(&writer->mark);
    zlgi_free(&alloc, writer, sizeof *writer);
    zlg_ctx_close(ctx);
}
