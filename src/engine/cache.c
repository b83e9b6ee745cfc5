/*
 * cache.c: counted blocks under a byte budget, least recently used out first. One lock,
 * held for a few instructions: it is taken once per shard or chunk, never per element.
 *
 * An entry is found only by the same store, object key, range and version tag, so a
 * changed object is never answered from memory; its old entries leave by age. A forked
 * child forgets everything: the lock, and the lists, may be in the hands of a thread that
 * is not in it.
 */
#include "engine/engine.h"

struct zlgi_cache {
    const zlgi_alloc *alloc;
    zlgi_fork_mark mark;
    size_t n_bytes_max;
    size_t n_slots; /* power of two */
    zlgi_block **slots;
    pthread_mutex_t lock; /* guards what follows, and what is in the slots */
    zlgi_block *newest, *oldest;
    size_t n_bytes;
};

enum { N_SLOTS = 4096 };

/* What a block costs beyond its data. */
static size_t block_bytes(size_t n_bytes)
{
    return sizeof(zlgi_block) + n_bytes;
}

zlgi_cache *zlgi_cache_new(const zlgi_alloc *alloc, size_t n_bytes)
{
    zlgi_cache *cache = zlgi_new(alloc, sizeof *cache);
    if (!cache)
        return NULL;
    if (!zlgi_fork_mark_init(&cache->mark)) {
        zlgi_free(alloc, cache, sizeof *cache);
        return NULL;
    }
    cache->alloc = alloc;
    cache->n_bytes_max = n_bytes;
    cache->n_slots = n_bytes ? N_SLOTS : 0;
    pthread_mutex_init(&cache->lock, NULL);
    cache->slots = n_bytes ? zlgi_new(alloc, N_SLOTS * sizeof *cache->slots) : NULL;
    if (n_bytes && !cache->slots) {
        zlgi_cache_free(cache);
        return NULL;
    }
    return cache;
}

static void renew_after_fork(zlgi_cache *cache)
{
    if (!zlgi_fork_enter(&cache->mark))
        return;
    pthread_mutex_init(&cache->lock, NULL);
    if (cache->slots)
        memset(cache->slots, 0, N_SLOTS * sizeof *cache->slots);
    cache->newest = cache->oldest = NULL;
    cache->n_bytes = 0;
    zlgi_fork_leave(&cache->mark);
}

static void enter(zlgi_cache *cache)
{
    renew_after_fork(cache);
    pthread_mutex_lock(&cache->lock);
}

static void free_block(zlgi_cache *cache, zlgi_block *block)
{
    zlgi_free(cache->alloc, (void *)(uintptr_t)block->name, strlen(block->name) + 1);
    zlgi_free(cache->alloc, block, block_bytes(block->n_bytes));
}

void zlgi_block_unref(zlgi_cache *cache, zlgi_block *block)
{
    if (block && __atomic_sub_fetch(&block->n_refs, 1, __ATOMIC_ACQ_REL) == 0)
        free_block(cache, block);
}

void zlgi_cache_free(zlgi_cache *cache)
{
    if (!cache)
        return;
    renew_after_fork(cache);
    for (zlgi_block *block = cache->newest, *next; block; block = next) {
        next = block->older;
        zlgi_block_unref(cache, block);
    }
    if (cache->slots)
        zlgi_free(cache->alloc, cache->slots, N_SLOTS * sizeof *cache->slots);
    pthread_mutex_destroy(&cache->lock);
    zlgi_fork_mark_reset(&cache->mark);
    zlgi_free(cache->alloc, cache, sizeof *cache);
}

uint64_t zlgi_cache_hash(const char *name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (; *name; name++)
        hash = (hash ^ (uint8_t)*name) * UINT64_C(0x100000001b3);
    return hash;
}

static zlgi_block **slot_of(zlgi_cache *cache, const zlgi_cache_key *key)
{
    uint64_t hash =
        key->object ^ (key->offset * UINT64_C(0x9e3779b97f4a7c15)) ^ (key->store << 32);
    hash ^= hash >> 29;
    return &cache->slots[hash & (cache->n_slots - 1)];
}

static bool is_same(const zlgi_block *block, const zlgi_cache_key *key, const char *name,
                    size_t n_bytes)
{
    const zlgi_cache_key *own = &block->key;
    return block->n_bytes == n_bytes && own->store == key->store &&
           own->object == key->object && own->offset == key->offset &&
           own->n_bytes == key->n_bytes && zlgi_tag_equal(&own->tag, &key->tag) &&
           strcmp(block->name, name) == 0;
}

static void unlink_age(zlgi_cache *cache, zlgi_block *block)
{
    *(block->newer ? &block->newer->older : &cache->newest) = block->older;
    *(block->older ? &block->older->newer : &cache->oldest) = block->newer;
}

static void link_newest(zlgi_cache *cache, zlgi_block *block)
{
    block->newer = NULL;
    block->older = cache->newest;
    if (cache->newest)
        cache->newest->newer = block;
    cache->newest = block;
    if (!cache->oldest)
        cache->oldest = block;
}

zlgi_block *zlgi_cache_get(zlgi_cache *cache, const zlgi_cache_key *key, const char *name,
                           size_t n_bytes)
{
    if (!cache->n_slots || !key->tag.trusted)
        return NULL;
    enter(cache);
    zlgi_block *block = *slot_of(cache, key);
    while (block && !is_same(block, key, name, n_bytes))
        block = block->chain;
    if (block) {
        __atomic_add_fetch(&block->n_refs, 1, __ATOMIC_RELAXED);
        unlink_age(cache, block);
        link_newest(cache, block);
    }
    pthread_mutex_unlock(&cache->lock);
    return block;
}

zlgi_block *zlgi_block_new(zlgi_cache *cache, const zlgi_cache_key *key, const char *name,
                           size_t n_bytes)
{
    size_t n_name = strlen(name) + 1;
    char *copy = zlgi_resize(cache->alloc, NULL, 0, n_name);
    zlgi_block *block =
        copy ? zlgi_resize(cache->alloc, NULL, 0, block_bytes(n_bytes)) : NULL;
    if (!block) {
        if (copy)
            zlgi_free(cache->alloc, copy, n_name);
        return NULL;
    }
    memset(block, 0, sizeof *block);
    memcpy(copy, name, n_name);
    block->n_refs = 1;
    block->n_bytes = n_bytes;
    block->key = *key;
    block->name = copy;
    return block;
}

static void evict(zlgi_cache *cache, zlgi_block *block)
{
    zlgi_block **at = slot_of(cache, &block->key);
    while (*at != block)
        at = &(*at)->chain;
    *at = block->chain;
    unlink_age(cache, block);
    cache->n_bytes -= block_bytes(block->n_bytes);
    zlgi_block_unref(cache, block);
}

void zlgi_cache_put(zlgi_cache *cache, zlgi_block *block)
{
    size_t n_bytes = block_bytes(block->n_bytes);
    if (!block->key.tag.trusted || n_bytes > cache->n_bytes_max / 4)
        return;
    enter(cache);
    while (cache->oldest && cache->n_bytes + n_bytes > cache->n_bytes_max)
        evict(cache, cache->oldest);
    zlgi_block **slot = slot_of(cache, &block->key);
    __atomic_add_fetch(&block->n_refs, 1, __ATOMIC_RELAXED);
    block->chain = *slot;
    *slot = block;
    link_newest(cache, block);
    cache->n_bytes += n_bytes;
    pthread_mutex_unlock(&cache->lock);
}
