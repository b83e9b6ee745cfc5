/*
 * work.c: the threads of a writer, and what they do next: store what is ready, encode what
 * is full, and make room when somebody waits for it and nothing else will.
 */
#include "writer/writer.h"

bool zlgi_work_is_idle(const zlg_writer *writer)
{
    return writer->n_running == 0 && !writer->first_ready && !writer->first_cell;
}

/* The first that there is room for. */
static zlgi_held *take_ready(zlg_writer *writer)
{
    zlgi_held *before = NULL;
    for (zlgi_held *held = writer->first_ready; held;
         before = held, held = held->next_ready) {
        if (!zlgi_held_may_put(writer, held))
            continue;
        *(before ? &before->next_ready : &writer->first_ready) = held->next_ready;
        if (!held->next_ready)
            writer->last_ready = before;
        return held;
    }
    return NULL;
}

/* The first that nobody has in hand. */
static zlgi_cell *take_cell(zlg_writer *writer)
{
    zlgi_cell *before = NULL;
    for (zlgi_cell *cell = writer->first_cell; cell; before = cell, cell = cell->next) {
        if (cell->is_busy)
            continue;
        *(before ? &before->next : &writer->first_cell) = cell->next;
        if (!cell->next)
            writer->last_cell = before;
        writer->n_bytes_to_encode -= cell->held->fed->n_bytes_cell;
        zlgi_writer_changed(writer);
        return cell;
    }
    return NULL;
}

bool zlgi_work_cell(zlg_writer *writer, zlgi_scratch *scratch)
{
    zlgi_cell *cell = take_cell(writer);
    if (cell)
        zlgi_cell_work(writer, cell, scratch);
    return cell != NULL;
}

static void keep(zlg_writer *writer, zlgi_held *held)
{
    zlg_error err;
    if (zlgi_kept_put(writer, held, &err) == ZLG_OK)
        zlgi_held_kept(writer, held);
    else
        zlgi_held_fail(writer, held, &err);
}

static void store(zlg_writer *writer, zlgi_held *held, zlgi_scratch *scratch)
{
    zlgi_fed *fed = held->fed;
    zlg_error err;
    bool again = false;
    held->state = ZLGI_HELD_OPEN;
    if (held->n_busy > 0 || (held->n_done < held->n_inside && !held->is_wanted))
        return; /* more of it came */
    held->state = ZLGI_HELD_STORING;
    if (zlgi_kept_suits(writer, held)) {
        keep(writer, held);
    } else if (zlgi_held_put(writer, held, scratch, &again, &err) != ZLG_OK) {
        zlgi_held_fail(writer, held, &err);
    } else if (again) {
        held->state = ZLGI_HELD_OPEN;
        zlgi_held_settle(writer, held);
    } else if (zlgi_resume_note(writer, held, &err) == ZLG_OK &&
               zlgi_kept_end(writer, held, &err) == ZLG_OK) {
        zlgi_held_stored(writer, held);
    } else {
        zlgi_held_fail(writer, held, &err);
    }
    if (fed->growth.axis >= 0)
        zlgi_grow_publish(writer, fed);
}

/* False: there is nothing to do. */
static bool do_next(zlg_writer *writer, zlgi_scratch *scratch)
{
    zlgi_held *held = take_ready(writer);
    zlgi_room *room = &writer->room;
    bool is_done = true;
    writer->n_running++;
    if (held)
        store(writer, held, scratch);
    else if (!zlgi_work_cell(writer, scratch)) {
        is_done = writer->n_running == 1 && room->n_waiting > 0 && !room->is_stuck;
        if (is_done)
            room->is_stuck = !zlgi_side_spill(writer, room->wanted, NULL);
    }
    writer->n_running--;
    if (is_done)
        zlgi_writer_changed(writer);
    if (is_done && zlgi_work_is_idle(writer))
        pthread_cond_broadcast(&writer->idle);
    return is_done;
}

static void *run(void *user)
{
    zlg_writer *writer = user;
    pthread_mutex_lock(&writer->lock);
    zlgi_scratch *scratch = writer->handed[--writer->n_handed];
    while (!writer->is_stopping || !zlgi_work_is_idle(writer))
        if (!do_next(writer, scratch)) {
            if (writer->is_stopping)
                break;
            pthread_cond_wait(&writer->work, &writer->lock);
        }
    pthread_mutex_unlock(&writer->lock);
    zlgi_scratch_free(scratch);
    return NULL;
}

/* With all that it needs to work: one that lacks it would not be missed. */
static bool start_one(zlg_writer *writer)
{
    zlgi_scratch *scratch = zlgi_scratch_new(&writer->ctx->alloc, &writer->ctx->limits);
    if (!scratch)
        return false;
    writer->handed[writer->n_handed++] = scratch;
    if (zlgi_thread_start(&writer->threads[writer->n_started], run, writer)) {
        writer->n_started++;
        return true;
    }
    writer->n_handed--;
    zlgi_scratch_free(scratch);
    return false;
}

zlg_status zlgi_work_start(zlg_writer *writer, zlg_error *err)
{
    while (writer->state != ZLGI_WRITER_CLOSED && writer->n_started < writer->n_threads) {
        if (start_one(writer))
            continue;
        if (writer->n_started == 0)
            return zlgi_fail(err, ZLG_NO_MEMORY, "no thread could be started");
        break;
    }
    return ZLG_OK;
}

void zlgi_work_stop(zlg_writer *writer)
{
    int n = writer->n_started;
    writer->is_stopping = true;
    pthread_cond_broadcast(&writer->work);
    pthread_mutex_unlock(&writer->lock);
    for (int i = 0; i < n; i++)
        pthread_join(writer->threads[i], NULL);
    pthread_mutex_lock(&writer->lock);
    writer->n_started = 0;
    writer->is_stopping = false;
}
