/*
 * flush.c: waiting for what was given to be stored, and making it so: flush, drain,
 * close.
 */
#include "writer/writer.h"

typedef void (*held_fn)(zlg_writer *writer, zlgi_held *held);

static void each_held(zlg_writer *writer, held_fn each)
{
    for (int i = 0; i < writer->n_fed; i++)
        for (size_t k = 0; k < writer->fed[i]->n_table; k++)
            for (zlgi_held *held = writer->fed[i]->table[k], *next; held; held = next) {
                next = held->same_hash;
                each(writer, held);
            }
}

static zlg_status first_error(const zlg_writer *writer, zlg_error *err)
{
    for (int i = 0; i < writer->n_fed; i++)
        if (writer->fed[i]->has_error)
            return zlgi_fed_error(writer->fed[i], err);
    return ZLG_OK;
}

static zlg_status check_alive(const zlg_writer *writer, zlg_error *err)
{
    if (writer->state == ZLGI_WRITER_ABORTED)
        return zlgi_fail(err, ZLG_CANCELLED, "the writer was aborted");
    return ZLG_OK;
}

/* ------------------------------------------------------------------ flush */

static void try_again(zlg_writer *writer, zlgi_held *held)
{
    if (held->state != ZLGI_HELD_FAILED)
        return;
    held->state = ZLGI_HELD_OPEN;
    held->fed->n_failed--;
    writer->counts.n_retried++;
    for (size_t i = 0; i < held->n_tickets; i++)
        held->tickets[i]->n_failed--;
    for (uint64_t i = 0; i < held->n_cells; i++)
        if (held->cells[i].state == ZLGI_CELL_FULL || held->cells[i].first_loan)
            zlgi_cell_queue(writer, &held->cells[i]);
    zlgi_held_settle(writer, held);
}

static void retry_failed(zlg_writer *writer)
{
    each_held(writer, try_again);
    for (int i = 0; i < writer->n_fed; i++) {
        zlgi_fed *fed = writer->fed[i];
        if (fed->growth.has_failed) {
            fed->growth.has_failed = false;
            fed->n_failed--;
        }
        fed->has_error = fed->n_failed > 0;
    }
}

/* Rows that were given when the flush began are stored by now. */
static void publish_rows(zlg_writer *writer, const int64_t *rows)
{
    for (int i = 0; i < writer->n_fed; i++) {
        zlgi_fed *fed = writer->fed[i];
        if (fed->growth.axis < 0 || fed->n_failed > 0)
            continue;
        fed->growth.flushed = ZLGI_MAX(fed->growth.flushed, rows[i]);
        zlgi_grow_publish(writer, fed);
    }
}

static bool is_publishing(const zlg_writer *writer)
{
    for (int i = 0; i < writer->n_fed; i++)
        if (writer->fed[i]->growth.is_publishing)
            return true;
    return false;
}

static zlg_status flush_rows(zlg_writer *writer, zlgi_patience *patience, int64_t *rows,
                             zlg_error *err)
{
    for (int i = 0; i < writer->n_fed; i++)
        rows[i] = writer->fed[i]->growth.taken;
    zlg_status status = zlgi_work_start(writer, err);
    retry_failed(writer);
    each_held(writer, zlgi_held_want);
    while (status == ZLG_OK && writer->n_wanted > 0)
        status = zlgi_writer_wait_idle(writer, patience, err);
    if (status == ZLG_OK)
        publish_rows(writer, rows);
    while (status == ZLG_OK && is_publishing(writer))
        status = zlgi_writer_wait(writer, patience, err);
    return status == ZLG_OK ? first_error(writer, err) : status;
}

static zlg_status flush(zlg_writer *writer, zlgi_patience *patience, zlg_error *err)
{
    size_t n_bytes = (size_t)writer->n_fed * sizeof(int64_t) + 1;
    int64_t *rows = zlgi_new(&writer->ctx->alloc, n_bytes);
    if (!rows)
        return zlgi_no_memory(err, n_bytes);
    zlg_status status = check_alive(writer, err);
    if (status == ZLG_OK)
        status = flush_rows(writer, patience, rows, err);
    zlgi_free(&writer->ctx->alloc, rows, n_bytes);
    return status;
}

static zlg_status drain(zlg_writer *writer, zlgi_patience *patience, zlg_error *err)
{
    ZLGI_TRY(check_alive(writer, err));
    ZLGI_TRY(zlgi_work_start(writer, err));
    retry_failed(writer);
    while (!zlgi_work_is_idle(writer))
        ZLGI_TRY(zlgi_writer_wait_idle(writer, patience, err));
    return first_error(writer, err);
}

/* What is kept of objects that are stored, for more of them, too. */
static void discard(zlg_writer *writer, zlgi_held *held)
{
    zlgi_held_free(writer, held);
}

/* All that was given to this writer; when it is the last one, all that others kept too. */
static zlg_status finish(zlg_writer *writer, zlgi_patience *patience, zlg_error *err)
{
    for (;;) {
        bool has_rest = false;
        ZLGI_TRY(flush(writer, patience, err));
        if (writer->journal)
            ZLGI_TRY(zlgi_journal_finish(writer->journal, &has_rest, err));
        if (!has_rest)
            return ZLG_OK;
        ZLGI_TRY(zlgi_kept_take_rest(writer, err));
    }
}

static void give_claims(zlg_writer *writer)
{
    for (int i = 0; i < writer->n_fed; i++)
        zlgi_grow_end(writer, writer->fed[i]);
}

static zlg_status close_writer(zlg_writer *writer, zlgi_patience *patience, zlg_error *err)
{
    if (writer->state == ZLGI_WRITER_CLOSED)
        return ZLG_OK;
    ZLGI_TRY(zlgi_turn_of_submits(writer, patience, err));
    if (writer->state == ZLGI_WRITER_OPEN)
        writer->state = ZLGI_WRITER_CLOSING;
    zlg_status status = finish(writer, patience, err);
    if (status != ZLG_CANCELLED) /* nobody waits for a put that does not end */
        zlgi_work_stop(writer);
    if (status == ZLG_OK) {
        writer->state = ZLGI_WRITER_CLOSED;
        give_claims(writer);
        each_held(writer, discard);
    }
    zlgi_end_of_submit(writer);
    return status;
}

/* ------------------------------------------------------------------ zellige_writer.h */

typedef zlg_status (*waiting_fn)(zlg_writer *writer, zlgi_patience *patience,
                                 zlg_error *err);

static zlg_status call_waiting(zlg_writer *writer, waiting_fn wait, const zlg_call *given,
                               zlg_error *err)
{
    zlg_call call;
    zlgi_patience patience;
    ZLGI_TRY(zlgi_writer_enter_for(writer, given, &call, &patience, err));
    patience.n_all = writer->counts.n_bytes_queued;
    zlg_status status = wait(writer, &patience, err);
    zlgi_writer_leave(writer);
    return status;
}

zlg_status zlg_writer_flush(zlg_writer *writer, const zlg_call *call, zlg_error *err)
{
    return call_waiting(writer, flush, call, err);
}

zlg_status zlg_writer_drain(zlg_writer *writer, const zlg_call *call, zlg_error *err)
{
    return call_waiting(writer, drain, call, err);
}

zlg_status zlg_writer_close(zlg_writer *writer, const zlg_call *call, zlg_error *err)
{
    return call_waiting(writer, close_writer, call, err);
}

void zlg_writer_abort(zlg_writer *writer)
{
    zlg_call call = ZLG_CALL_INIT;
    zlgi_patience patience;
    zlgi_patience_init(&patience, &call);
    if (zlgi_writer_enter(writer, NULL) != ZLG_OK)
        return;
    if (writer->state != ZLGI_WRITER_CLOSED) {
        writer->state = ZLGI_WRITER_ABORTED;
        zlgi_writer_changed(writer);
        if (zlgi_turn_of_submits(writer, &patience, NULL) == ZLG_OK) {
            zlgi_work_stop(writer);
            give_claims(writer);
            each_held(writer, discard);
            if (writer->journal)
                zlgi_journal_end(writer->journal);
            zlgi_end_of_submit(writer);
        }
    }
    zlgi_writer_leave(writer);
}
