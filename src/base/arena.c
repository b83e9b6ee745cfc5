/*
 * An arena: blocks that double in size, cut from front to back, freed together. Parsing
 * and planning use one per call.
 */
#include "base/base.h"

enum { ALIGNMENT = 16, FIRST_BLOCK = 4096, LARGEST_BLOCK = 4 << 20 };

struct zlgi_arena_block {
    struct zlgi_arena_block *next;
    size_t n_bytes;
};

struct zlgi_arena_deferred {
    struct zlgi_arena_deferred *next;
    void (*run)(void *what);
    void *what;
};

void zlgi_arena_init(zlgi_arena *arena, const zlgi_alloc *alloc)
{
    *arena = (zlgi_arena){.alloc = alloc};
}

void zlgi_arena_reset(zlgi_arena *arena)
{
    struct zlgi_arena_block *block = arena->blocks;
    for (struct zlgi_arena_deferred *d = arena->deferred; d != NULL; d = d->next)
        d->run(d->what);
    while (block != NULL) {
        struct zlgi_arena_block *next = block->next;
        zlgi_free(arena->alloc, block, block->n_bytes);
        block = next;
    }
    zlgi_arena_init(arena, arena->alloc);
}

static uint8_t *align(uint8_t *p)
{
    return p + (ALIGNMENT - (uintptr_t)p % ALIGNMENT) % ALIGNMENT;
}

/* A new block with room for n_bytes; where it starts, or NULL. */
static uint8_t *add_block(zlgi_arena *arena, size_t n_bytes, uint8_t **out_end)
{
    size_t n_block;
    if (!zlgi_add_size(n_bytes, sizeof(struct zlgi_arena_block) + ALIGNMENT, &n_block))
        return NULL;
    struct zlgi_arena_block *block = zlgi_resize(arena->alloc, NULL, 0, n_block);
    if (block == NULL)
        return NULL;
    *block = (struct zlgi_arena_block){.next = arena->blocks, .n_bytes = n_block};
    arena->blocks = block;
    arena->n_bytes += n_block;
    *out_end = (uint8_t *)block + n_block;
    return align((uint8_t *)(block + 1));
}

void *zlgi_arena_get(zlgi_arena *arena, size_t n_bytes)
{
    if (n_bytes > SIZE_MAX - ALIGNMENT)
        return NULL;
    /* Whole units, so that the next piece is aligned too; a piece of nothing has one. */
    n_bytes = (ZLGI_MAX(n_bytes, 1) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (arena->next == NULL || n_bytes > (size_t)(arena->end - arena->next)) {
        size_t n_block = ZLGI_MIN(ZLGI_MAX(arena->n_bytes, FIRST_BLOCK), LARGEST_BLOCK);
        uint8_t *end;
        /* A large piece gets a block of its own and leaves the current one in use. */
        if (n_bytes > n_block / 4)
            return add_block(arena, n_bytes, &end);
        uint8_t *start = add_block(arena, n_block, &end);
        if (start == NULL)
            return NULL;
        arena->next = start;
        arena->end = end;
    }
    void *piece = arena->next;
    arena->next += n_bytes;
    return piece;
}

char *zlgi_arena_text(zlgi_arena *arena, const char *data, size_t n)
{
    char *text = n == SIZE_MAX ? NULL : zlgi_arena_get(arena, n + 1);
    if (text == NULL)
        return NULL;
    if (n > 0)
        memcpy(text, data, n);
    text[n] = '\0';
    return text;
}

bool zlgi_arena_defer(zlgi_arena *arena, void (*run)(void *what), void *what)
{
    struct zlgi_arena_deferred *deferred = zlgi_arena_get(arena, sizeof *deferred);
    if (deferred == NULL)
        return false;
    *deferred = (struct zlgi_arena_deferred){arena->deferred, run, what};
    arena->deferred = deferred;
    return true;
}
