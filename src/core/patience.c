/*
 * patience.c: how long a caller waits: its cancel flag, deadline and poll function, for
 * what the engine does not do.
 */
#include "core/core.h"

enum { POLL_NS = 50 * 1000 * 1000, MS_NS = 1000 * 1000 };

void zlgi_patience_init(zlgi_patience *patience, const zlg_call *call)
{
    uint64_t now = zlgi_now_ns(), ns;
    *patience = (zlgi_patience){.call = call, .poll_ns = now + POLL_NS};
    patience->deadline_ns = UINT64_MAX;
    if (call->deadline_ms > 0 &&
        !__builtin_mul_overflow((uint64_t)call->deadline_ms, (uint64_t)MS_NS, &ns) &&
        ns < UINT64_MAX - now)
        patience->deadline_ns = now + ns;
}

zlg_status zlgi_patience_read(const zlg_call *given, zlg_call *call,
                              zlgi_patience *patience, zlg_error *err)
{
    ZLGI_TRY(zlgi_call_read(given, call, err));
    zlgi_patience_init(patience, call);
    return ZLG_OK;
}

zlg_status zlgi_patience_check(zlgi_patience *patience, zlg_error *err)
{
    const zlg_call *call = patience->call;
    uint64_t now = zlgi_now_ns();
    if (call->cancel && __atomic_load_n(call->cancel, __ATOMIC_RELAXED))
        return zlgi_fail(err, ZLG_CANCELLED, "stopped by the caller");
    if (now > patience->deadline_ns)
        return zlgi_fail(err, ZLG_CANCELLED, "the deadline passed");
    if (!call->poll || now < patience->poll_ns)
        return ZLG_OK;
    patience->poll_ns = now + POLL_NS;
    if (call->poll(call->user, patience->n_done, patience->n_all))
        return zlgi_fail(err, ZLG_CANCELLED, "stopped by the caller");
    return ZLG_OK;
}

int zlgi_patience_waiting(void *patience)
{
    return zlgi_patience_check(patience, NULL) != ZLG_OK;
}

zlgi_txn zlgi_patience_txn(zlgi_patience *patience)
{
    return (zlgi_txn){.waiting = zlgi_patience_waiting, .user = patience};
}

zlg_call zlgi_patience_rest(const zlgi_patience *patience)
{
    zlg_call rest = *patience->call;
    uint64_t now = zlgi_now_ns();
    if (patience->deadline_ns != UINT64_MAX)
        rest.deadline_ms = now < patience->deadline_ns
                               ? (int64_t)((patience->deadline_ns - now) / MS_NS) + 1
                               : 1;
    return rest;
}
