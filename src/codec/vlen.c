/*
 * Items of variable length: their common framing, and memory that outlives a decode call.
 * Knows that an item is bytes; refuses to know what they mean.
 */
#include "codec/vlen.h"

enum { WORD = 4 };

zlg_status zlgi_vlen_decode(const zlgi_edge *from, zlgi_bytes in, zlgi_out *out,
                            zlg_error *err)
{
    const size_t n = from->n_elements;
    if (in.n < WORD)
        return zlgi_fail(err, ZLG_CORRUPT, "%zu bytes are too few for a count of items",
                         in.n);
    uint32_t count = zlgi_load_u32le(in.data);
    if (count != n)
        return zlgi_fail(err, ZLG_CORRUPT, "%u items are announced, %zu expected", count,
                         n);
    /* Not before the input is long enough for that many lengths. */
    if (n > (in.n - WORD) / WORD)
        return zlgi_fail(err, ZLG_CORRUPT, "%zu bytes are too few for %zu items", in.n, n);
    uint8_t *memory;
    ZLGI_TRY(zlgi_out_memory(out, n * sizeof(zlgi_view), &memory, err));
    const uint8_t *next = in.data + WORD;
    size_t n_left = in.n - WORD;
    for (size_t i = 0; i < n; i++) {
        if (n_left < WORD)
            return zlgi_fail(err, ZLG_CORRUPT, "ends at item %zu of %zu", i, n);
        zlgi_view item = {.data = next + WORD, .n = zlgi_load_u32le(next)};
        n_left -= WORD;
        if (item.n > n_left)
            return zlgi_fail(err, ZLG_CORRUPT, "item %zu has %zu bytes, but %zu are left",
                             i, item.n, n_left);
        next = item.data + item.n;
        n_left -= item.n;
        memcpy(memory + i * sizeof item, &item, sizeof item);
    }
    if (n_left > 0)
        return zlgi_fail(err, ZLG_CORRUPT, "%zu bytes follow the last item", n_left);
    return zlgi_out_done(out, n * sizeof(zlgi_view), err);
}

zlg_status zlgi_vlen_encode(const zlgi_edge *from, zlgi_bytes in, zlgi_buf *out,
                            zlg_error *err)
{
    const size_t n = from->n_elements;
    if (n > UINT32_MAX)
        return zlgi_fail(err, ZLG_LIMIT, "%zu items, but the count has 32 bits", n);
    size_t n_bytes = WORD;
    for (size_t i = 0; i < n; i++) {
        zlgi_view item;
        memcpy(&item, in.data + i * sizeof item, sizeof item);
        if (item.n > UINT32_MAX)
            return zlgi_fail(err, ZLG_LIMIT,
                             "item %zu has %zu bytes, but lengths have 32 bits", i, item.n);
        if (!zlgi_add_size(n_bytes, WORD + item.n, &n_bytes))
            return zlgi_fail(err, ZLG_LIMIT, "the size of an encoded chunk overflows");
    }
    ZLGI_TRY(zlgi_buf_reserve(out, n_bytes, false, err));
    uint8_t *next = out->data;
    zlgi_store_u32le(next, (uint32_t)n);
    next += WORD;
    for (size_t i = 0; i < n; i++) {
        zlgi_view item;
        memcpy(&item, in.data + i * sizeof item, sizeof item);
        zlgi_store_u32le(next, (uint32_t)item.n);
        next += WORD;
        if (item.n > 0)
            memcpy(next, item.data, item.n);
        next += item.n;
    }
    out->n = n_bytes;
    return ZLG_OK;
}

/* ---------------------------------------------------------------------- kept bytes */
void *zlgi_kept_make(const zlgi_alloc *alloc)
{
    zlgi_arena *arena = zlgi_new(alloc, sizeof *arena);
    if (arena != NULL)
        zlgi_arena_init(arena, alloc);
    return arena;
}

void zlgi_kept_destroy(void *kept, const zlgi_alloc *alloc)
{
    zlgi_arena_reset(kept);
    zlgi_free(alloc, kept, sizeof(zlgi_arena));
}

zlgi_arena *zlgi_kept(zlgi_scratch *scratch, const zlgi_context_type *type)
{
    zlgi_arena *arena = zlgi_scratch_context(scratch, type);
    if (arena != NULL)
        zlgi_arena_reset(arena);
    return arena;
}
