/*
 * claims.c: who alone writes which objects, among the writers of one context. An object
 * belongs to one of them at most.
 */
#include "core/core.h"

bool zlgi_claims_init(zlgi_claims *claims)
{
    claims->is_ready = pthread_mutex_init(&claims->lock, NULL) == 0;
    return claims->is_ready;
}

void zlgi_claims_reset(zlgi_claims *claims)
{
    if (claims->is_ready)
        pthread_mutex_destroy(&claims->lock);
}

zlgi_claim zlgi_claim_of(const zlg_array *array, const void *owner)
{
    char path[ZLGI_FOLDER_MAX];
    zlgi_claim claim = {.owner = owner, .array = array};
    claim.has_folder = zlgi_array_folder(array, path) &&
                       zlgi_folder_identify(path, &claim.folder, NULL) == ZLG_OK;
    return claim;
}

static bool is_one_array(const zlgi_claim *a, const zlgi_claim *b)
{
    if (a->has_folder && b->has_folder)
        return a->folder.device == b->folder.device && a->folder.inode == b->folder.inode;
    return a->array->store->id == b->array->store->id &&
           strcmp(a->array->path, b->array->path) == 0;
}

static bool share_an_object(const zlgi_claim *a, const zlgi_claim *b)
{
    if (a->owner == b->owner || !is_one_array(a, b))
        return false;
    for (int i = 0; i < a->array->meta.rank; i++)
        if (a->first[i] > b->last[i] || b->first[i] > a->last[i])
            return false;
    return true;
}

zlg_status zlgi_claim_take(zlgi_claims *claims, zlgi_claim *claim, zlg_error *err)
{
    zlg_status status = ZLG_OK;
    pthread_mutex_lock(&claims->lock);
    for (const zlgi_claim *other = claims->first; other && status == ZLG_OK;
         other = other->next)
        if (share_an_object(claim, other))
            status = zlgi_fail(err, ZLG_EXISTS,
                               "another writer has claimed objects of this box");
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
    pthread_mutex_lock(&claims->lock);
    zlgi_claim **link = &claims->first;
    while (*link != claim)
        link = &(*link)->next;
    *link = claim->next;
    claim->is_taken = false;
    pthread_mutex_unlock(&claims->lock);
}
