/*
 * claims.c: who alone writes which objects, among the writers of one context: an object
 * belongs to one of them at most. And the end of an array: a writer that appends has it
 * alone, for it stores objects there that nobody sees yet; calls that change the shape, or
 * remove the array, have it together.
 *
 * A forked child starts with no claims: those who made them are not in it.
 */
#include <stdio.h>

#include "core/core.h"

bool zlgi_claims_init(zlgi_claims *claims)
{
    if (!zlgi_fork_mark_init(&claims->mark))
        return false;
    claims->is_ready = pthread_mutex_init(&claims->lock, NULL) == 0;
    if (!claims->is_ready)
        zlgi_fork_mark_reset(&claims->mark);
    return claims->is_ready;
}

void zlgi_claims_reset(zlgi_claims *claims)
{
    if (!claims->is_ready)
        return;
    pthread_mutex_destroy(&claims->lock);
    zlgi_fork_mark_reset(&claims->mark);
}

static void renew_after_fork(zlgi_claims *claims)
{
    if (zlgi_fork_enter(&claims->mark)) {
        pthread_mutex_init(&claims->lock, NULL);
        claims->first = NULL;
        zlgi_fork_leave(&claims->mark);
    }
}

/* ------------------------------------------------------------------ which array */

bool zlgi_array_folder(const zlg_store *store, const char *path, char out[ZLGI_FOLDER_MAX])
{
    const char *directory = store->class->directory ? store->class->directory(store) : NULL;
    return directory &&
           snprintf(out, ZLGI_FOLDER_MAX, "%s/%s", directory, path) < ZLGI_FOLDER_MAX;
}

zlgi_claim zlgi_claim_of(const zlg_store *store, const char *path, int rank,
                         const void *owner)
{
    char folder[ZLGI_FOLDER_MAX];
    zlgi_claim claim = {.owner = owner, .store_id = store->id, .path = path, .rank = rank};
    claim.has_folder = zlgi_array_folder(store, path, folder) &&
                       zlgi_folder_identify(folder, &claim.folder, NULL) == ZLG_OK;
    return claim;
}

static bool is_one_array(const zlgi_claim *a, const zlgi_claim *b)
{
    if (a->has_folder && b->has_folder)
        return a->folder.device == b->folder.device && a->folder.inode == b->folder.inode;
    return a->store_id == b->store_id && strcmp(a->path, b->path) == 0;
}

/* ------------------------------------------------------------------ objects */

static bool exclude_each_other(const zlgi_claim *a, const zlgi_claim *b)
{
    if (a->owner == b->owner || !is_one_array(a, b))
        return false;
    if (a->end || b->end)
        return a->end && b->end && (a->end == ZLGI_END_ALONE || b->end == ZLGI_END_ALONE);
    for (int i = 0; i < a->rank; i++)
        if (a->first[i] > b->last[i] || b->first[i] > a->last[i])
            return false;
    return true;
}

static zlg_status fail_taken(const zlgi_claim *claim, const zlgi_claim *other,
                             zlg_error *err)
{
    if (!claim->end)
        return zlgi_fail(err, ZLG_EXISTS, "another writer has claimed objects of this box");
    if (claim->end == ZLGI_END_TOGETHER)
        return zlgi_fail(err, ZLG_EXISTS, "a writer appends to it");
    return zlgi_fail(err, ZLG_EXISTS,
                     other->end == ZLGI_END_ALONE
                         ? "another writer appends to it"
                         : "somebody else appends to it or changes its shape");
}

zlg_status zlgi_claim_take(zlgi_claims *claims, zlgi_claim *claim, zlg_error *err)
{
    zlg_status status = ZLG_OK;
    renew_after_fork(claims);
    pthread_mutex_lock(&claims->lock);
    for (const zlgi_claim *other = claims->first; other && status == ZLG_OK;
         other = other->next)
        if (exclude_each_other(claim, other))
            status = fail_taken(claim, other, err);
    if (status == ZLG_OK) {
        claim->next = claims->first;
        claims->first = claim;
        claim->is_taken = true;
    }
    pthread_mutex_unlock(&claims->lock);
    return status;
}

void zlgi_claim_give(zlgi_claims *claims, zlgi_claim *claim)
{
    if (!claim->is_taken)
        return;
    renew_after_fork(claims);
    pthread_mutex_lock(&claims->lock);
    zlgi_claim **link = &claims->first;
    while (*link && *link != claim)
        link = &(*link)->next;
    if (*link)
        *link = claim->next;
    claim->is_taken = false;
    pthread_mutex_unlock(&claims->lock);
}

/* ------------------------------------------------------------------ the end of an array */

/* For other processes the folder of the array is held, when it is files. */
static zlg_status hold_folder(const zlg_store *store, const char *path, zlgi_end end,
                              int *out, zlg_error *err)
{
    char folder[ZLGI_FOLDER_MAX];
    bool is_alone = end == ZLGI_END_ALONE;
    *out = -1;
    if (!zlgi_array_folder(store, path, folder) || zlgi_folder_hold(folder, is_alone, out))
        return ZLG_OK;
    return zlgi_fail(err, ZLG_EXISTS,
                     is_alone ? "somebody else appends to it or changes its shape"
                              : "a writer appends to it");
}

zlg_status zlgi_end_take(zlg_store *store, const char *path, zlgi_end end, zlgi_hold *hold,
                         zlg_error *err)
{
    zlgi_claims *claims = &store->ctx->claims;
    hold->folder = -1;
    hold->claim = zlgi_claim_of(store, path, 0, hold);
    hold->claim.end = end;
    ZLGI_TRY(zlgi_claim_take(claims, &hold->claim, err));
    zlg_status status = hold_folder(store, path, end, &hold->folder, err);
    if (status != ZLG_OK)
        zlgi_claim_give(claims, &hold->claim);
    return status;
}

void zlgi_end_give(zlgi_claims *claims, zlgi_hold *hold)
{
    if (!hold->claim.is_taken)
        return;
    zlgi_folder_let(hold->folder);
    zlgi_claim_give(claims, &hold->claim);
}
