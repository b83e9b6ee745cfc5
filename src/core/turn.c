/*
 * turn.c: the shape of an array is changed by one call at a time. Stores see to that for
 * the document of the array; here the threads of this process wait for each other also
 * while data is written or removed for a new shape, which a store that only compares
 * versions cannot hold back.
 *
 * A forked child starts with nobody at work: those who were are not in it.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <time.h>

#include "core/core.h"

enum { LOOK_NS = 20 * 1000 * 1000 }; /* between two looks at the patience of who waits */

static void start_empty(zlgi_turns *turns)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&turns->lock, NULL);
    pthread_cond_init(&turns->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    turns->first = NULL;
}

bool zlgi_turns_init(zlgi_turns *turns)
{
    if (!zlgi_fork_mark_init(&turns->mark))
        return false;
    start_empty(turns);
    turns->is_ready = true;
    return true;
}

void zlgi_turns_reset(zlgi_turns *turns)
{
    if (!turns->is_ready)
        return;
    pthread_cond_destroy(&turns->changed);
    pthread_mutex_destroy(&turns->lock);
    zlgi_fork_mark_reset(&turns->mark);
}

static void renew_after_fork(zlgi_turns *turns)
{
    if (zlgi_fork_enter(&turns->mark)) {
        start_empty(turns);
        zlgi_fork_leave(&turns->mark);
    }
}

/* The turn of another call for the same array. */
static const zlgi_turn *find_other(const zlgi_turns *turns, const zlgi_turn *turn)
{
    const zlgi_turn *other = turns->first;
    while (other && (other->store != turn->store || strcmp(other->path, turn->path) != 0))
        other = other->next;
    return other;
}

static bool lies_within(const char *path, const char *above)
{
    size_t n = strlen(above);
    return strncmp(path, above, n) == 0 && (n == 0 || path[n] == 0 || path[n] == '/');
}

zlg_status zlgi_turn_check(zlgi_turns *turns, const zlg_store *store, const char *path,
                           zlg_error *err)
{
    bool own = false;
    renew_after_fork(turns);
    pthread_mutex_lock(&turns->lock);
    for (const zlgi_turn *turn = turns->first; turn && !own; turn = turn->next)
        own = turn->store == store && pthread_equal(turn->owner, pthread_self()) &&
              lies_within(turn->path, path);
    pthread_mutex_unlock(&turns->lock);
    return own ? zlgi_fail(err, ZLG_USAGE, "a callback changes what its own call changes")
               : ZLG_OK;
}

/* Until somebody gives up a turn, or for a while. The lock is held. */
static void wait_briefly(zlgi_turns *turns)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += LOOK_NS;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_nsec -= 1000000000L;
        until.tv_sec++;
    }
    (void)pthread_cond_timedwait(&turns->changed, &turns->lock, &until);
}

/* Waits for a while when it must; sets *out_own when it would wait for itself. */
static bool try_take(zlgi_turns *turns, zlgi_turn *turn, bool *out_own)
{
    pthread_mutex_lock(&turns->lock);
    const zlgi_turn *other = find_other(turns, turn);
    *out_own = other && pthread_equal(other->owner, turn->owner) != 0;
    if (other && !*out_own) {
        wait_briefly(turns);
        other = find_other(turns, turn);
    }
    if (!other) {
        turn->next = turns->first;
        turns->first = turn;
    }
    pthread_mutex_unlock(&turns->lock);
    return !other;
}

zlg_status zlgi_turn_take(zlgi_turns *turns, zlgi_turn *turn, zlgi_patience *patience,
                          zlg_error *err)
{
    bool own = false;
    renew_after_fork(turns);
    turn->owner = pthread_self();
    do {
        if (own)
            return zlgi_fail(err, ZLG_USAGE,
                             "a callback changes the shape that its own call changes");
        ZLGI_TRY(zlgi_patience_check(patience, err));
    } while (!try_take(turns, turn, &own));
    return ZLG_OK;
}

void zlgi_turn_give(zlgi_turns *turns, zlgi_turn *turn)
{
    renew_after_fork(turns);
    pthread_mutex_lock(&turns->lock);
    for (zlgi_turn **at = &turns->first; *at; at = &(*at)->next)
        if (*at == turn) {
            *at = turn->next;
            break;
        }
    pthread_cond_broadcast(&turns->changed);
    pthread_mutex_unlock(&turns->lock);
}
