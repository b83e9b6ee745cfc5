/*
 * ticket.c: what became of a submit. A ticket lives as long as there is something of it to
 * wait for; of one that is gone everything is stored.
 */
#include "writer/writer.h"

zlg_status zlgi_ticket_new(zlg_writer *writer, zlgi_ticket **out, zlg_error *err)
{
    zlgi_ticket *ticket = zlgi_new(&writer->ctx->alloc, sizeof *ticket);
    if (!ticket)
        return zlgi_no_memory(err, sizeof *ticket);
    ticket->number = ++writer->last_ticket;
    ticket->is_open = true;
    zlgi_ticket **bucket = &writer->tickets[ticket->number % ZLGI_TICKET_BUCKETS];
    ticket->same_hash = *bucket;
    *bucket = ticket;
    *out = ticket;
    return ZLG_OK;
}

zlgi_ticket *zlgi_ticket_find(const zlg_writer *writer, zlg_ticket number)
{
    zlgi_ticket *ticket = writer->tickets[number % ZLGI_TICKET_BUCKETS];
    while (ticket && ticket->number != number)
        ticket = ticket->same_hash;
    return ticket;
}

void zlgi_ticket_settle(zlg_writer *writer, zlgi_ticket *ticket)
{
    if (ticket->is_open || ticket->n_loans > 0 || ticket->n_held > 0)
        return;
    zlgi_ticket **link = &writer->tickets[ticket->number % ZLGI_TICKET_BUCKETS];
    while (*link != ticket)
        link = &(*link)->same_hash;
    *link = ticket->same_hash;
    zlgi_free(&writer->ctx->alloc, ticket, sizeof *ticket);
}

void zlgi_tickets_free(zlg_writer *writer)
{
    for (int i = 0; i < ZLGI_TICKET_BUCKETS; i++)
        for (zlgi_ticket *ticket = writer->tickets[i], *next; ticket; ticket = next) {
            next = ticket->same_hash;
            zlgi_free(&writer->ctx->alloc, ticket, sizeof *ticket);
        }
}

zlg_status zlgi_held_note_ticket(zlg_writer *writer, zlgi_held *held, zlgi_ticket *ticket,
                                 zlg_error *err)
{
    enum { FEW = 4 };
    size_t n = held->n_tickets, room = held->n_tickets_room;
    if (n > 0 && held->tickets[n - 1] == ticket)
        return ZLG_OK;
    if (n == room) {
        size_t more = room > 0 ? 2 * room : FEW;
        void *block = zlgi_resize(&writer->ctx->alloc, held->tickets, room * sizeof ticket,
                                  more * sizeof ticket);
        if (!block)
            return zlgi_no_memory(err, more * sizeof ticket);
        held->tickets = block;
        held->n_tickets_room = more;
    }
    held->tickets[held->n_tickets++] = ticket;
    ticket->n_held++;
    if (held->state == ZLGI_HELD_FAILED) {
        ticket->n_failed++;
        ticket->failed = held->fed;
    }
    return ZLG_OK;
}

void zlgi_lender_end(zlg_writer *writer, zlgi_lender *lender)
{
    if (--lender->n_loans > 0)
        return;
    if (lender->release) {
        pthread_mutex_unlock(&writer->lock);
        lender->release(lender->user);
        pthread_mutex_lock(&writer->lock);
    }
    zlgi_free(&writer->ctx->alloc, lender, sizeof *lender);
}

void zlgi_loan_end(zlg_writer *writer, zlgi_loan *loan)
{
    zlgi_ticket *ticket = loan->ticket;
    zlgi_lender *lender = loan->lender;
    zlgi_free(&writer->ctx->alloc, loan, zlgi_loan_bytes(loan->rank));
    zlgi_lender_end(writer, lender);
    ticket->n_loans--;
    zlgi_ticket_settle(writer, ticket);
}

/* ------------------------------------------------------------------ zellige_writer.h */

static zlg_status check_number(const zlg_writer *writer, zlg_ticket ticket, zlg_error *err)
{
    if (ticket == 0 || ticket > writer->last_ticket)
        return zlgi_fail(err, ZLG_USAGE, "ticket %llu was never given",
                         (unsigned long long)ticket);
    return ZLG_OK;
}

static zlg_ticket_state state_of(const zlg_writer *writer, zlg_ticket number)
{
    const zlgi_ticket *ticket = zlgi_ticket_find(writer, number);
    if (!ticket)
        return ZLG_TICKET_STORED;
    if (ticket->n_loans > 0)
        return ZLG_TICKET_PENDING;
    bool failed = ticket->n_failed > 0 || writer->state == ZLGI_WRITER_ABORTED;
    return failed ? ZLG_TICKET_FAILED : ZLG_TICKET_TAKEN;
}

zlg_status zlg_writer_poll(zlg_writer *writer, zlg_ticket ticket, zlg_ticket_state *out,
                           zlg_error *err)
{
    ZLGI_TRY(zlgi_writer_enter(writer, err));
    zlg_status status = check_number(writer, ticket, err);
    if (status == ZLG_OK)
        *out = state_of(writer, ticket);
    zlgi_writer_leave(writer);
    return status;
}

static zlg_status wait_for(zlg_writer *writer, zlg_ticket number, zlg_ticket_state wanted,
                           zlgi_patience *patience, zlg_error *err)
{
    zlg_ticket_state state;
    ZLGI_TRY(check_number(writer, number, err));
    if (wanted != ZLG_TICKET_TAKEN && wanted != ZLG_TICKET_STORED)
        return zlgi_fail(err, ZLG_USAGE, "nobody waits for state %d", (int)wanted);
    while ((state = state_of(writer, number)) < wanted)
        ZLGI_TRY(zlgi_writer_wait(writer, patience, err));
    if (state != ZLG_TICKET_FAILED || wanted == ZLG_TICKET_TAKEN)
        return ZLG_OK;
    if (writer->state == ZLGI_WRITER_ABORTED)
        return zlgi_fail(err, ZLG_CANCELLED, "the writer was aborted");
    return zlgi_fed_error(zlgi_ticket_find(writer, number)->failed, err);
}

zlg_status zlg_writer_wait(zlg_writer *writer, zlg_ticket ticket, zlg_ticket_state state,
                           const zlg_call *given, zlg_error *err)
{
    zlg_call call;
    zlgi_patience patience;
    ZLGI_TRY(zlgi_writer_enter_for(writer, given, &call, &patience, err));
    zlg_status status = wait_for(writer, ticket, state, &patience, err);
    zlgi_writer_leave(writer);
    return status;
}
