/*
 * Bytes in flight: one budget per context, served in the order of asking.
 *
 * Knows numbers only. A need above the budget waits until nothing else is reserved and
 * runs alone; because the queue is in order, it is not overtaken for ever by small needs.
 * A forked child starts with nothing reserved: those who held bytes are not in it.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "base/os.h"

struct zlgi_budget {
    const zlgi_alloc *alloc;
    zlgi_fork_mark mark;
    uint64_t n_limit;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t moved; /* bytes came back, or the queue moved on */
    uint64_t n_reserved;
    uint64_t i_next;      /* number for the next that asks */
    uint64_t i_turn;      /* number of the one to be served */
    atomic_int n_waiting; /* changed under the lock */
};

static void start_empty(zlgi_budget *budget)
{
    pthread_mutex_init(&budget->lock, NULL);
    pthread_cond_init(&budget->moved, NULL);
    budget->n_reserved = 0;
    budget->i_next = 0;
    budget->i_turn = 0;
    atomic_store(&budget->n_waiting, 0);
}

zlgi_budget *zlgi_budget_new(const zlgi_alloc *alloc, uint64_t n_bytes)
{
    zlgi_budget *budget = zlgi_new(alloc, sizeof *budget);
    if (budget == NULL)
        return NULL;
    if (!zlgi_fork_mark_init(&budget->mark)) {
        zlgi_free(alloc, budget, sizeof *budget);
        return NULL;
    }
    budget->alloc = alloc;
    budget->n_limit = n_bytes;
    start_empty(budget);
    return budget;
}

void zlgi_budget_free(zlgi_budget *budget)
{
    if (budget == NULL)
        return;
    zlgi_fork_mark_reset(&budget->mark);
    zlgi_free(budget->alloc, budget, sizeof *budget);
}

uint64_t zlgi_budget_bytes(const zlgi_budget *budget)
{
    return budget->n_limit;
}

static void enter(zlgi_budget *budget)
{
    if (zlgi_fork_enter(&budget->mark)) {
        start_empty(budget);
        zlgi_fork_leave(&budget->mark);
    }
    pthread_mutex_lock(&budget->lock);
}

static bool fits(const zlgi_budget *budget, uint64_t n_bytes)
{
    if (budget->n_reserved == 0)
        return true;
    return budget->n_reserved <= budget->n_limit &&
           n_bytes <= budget->n_limit - budget->n_reserved;
}

void zlgi_budget_reserve(zlgi_budget *budget, uint64_t n_bytes)
{
    enter(budget);
    uint64_t i_mine = budget->i_next++;
    atomic_fetch_add(&budget->n_waiting, 1);
    while (budget->i_turn != i_mine || !fits(budget, n_bytes))
        pthread_cond_wait(&budget->moved, &budget->lock);
    atomic_fetch_sub(&budget->n_waiting, 1);
    budget->n_reserved += n_bytes;
    budget->i_turn++;
    if (budget->i_turn != budget->i_next)
        pthread_cond_broadcast(&budget->moved);
    pthread_mutex_unlock(&budget->lock);
}

bool zlgi_budget_try(zlgi_budget *budget, uint64_t n_bytes)
{
    enter(budget);
    bool served = budget->i_turn == budget->i_next && fits(budget, n_bytes);
    if (served)
        budget->n_reserved += n_bytes;
    pthread_mutex_unlock(&budget->lock);
    return served;
}

bool zlgi_budget_is_wanted(const zlgi_budget *budget)
{
    return atomic_load_explicit(&budget->n_waiting, memory_order_relaxed) > 0;
}

void zlgi_budget_release(zlgi_budget *budget, uint64_t n_bytes)
{
    enter(budget);
    /* A child may give back what its parent had reserved. */
    budget->n_reserved -= ZLGI_MIN(n_bytes, budget->n_reserved);
    if (budget->i_turn != budget->i_next)
        pthread_cond_broadcast(&budget->moved);
    pthread_mutex_unlock(&budget->lock);
}
