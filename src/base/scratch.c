/*
 * Scratch: the buffers and compressor contexts of one worker, kept from piece to piece. A
 * fresh zstd context per chunk halves the speed of small chunks, and so does fresh memory.
 * Knows no codec: a context is a type with make and destroy.
 */
#include <assert.h>

#include "base/base.h"

zlgi_scratch *zlgi_scratch_new(const zlgi_alloc *alloc, const zlg_limits *limits)
{
    zlgi_scratch *scratch = zlgi_new(alloc, sizeof *scratch);
    if (scratch == NULL)
        return NULL;
    scratch->alloc = alloc;
    scratch->limits = limits;
    for (size_t i = 0; i < ZLGI_COUNT(scratch->spare); i++)
        zlgi_buf_init(&scratch->spare[i], alloc);
    return scratch;
}

void zlgi_scratch_free(zlgi_scratch *scratch)
{
    if (scratch == NULL)
        return;
    for (size_t i = 0; i < ZLGI_COUNT(scratch->spare); i++)
        zlgi_buf_reset(&scratch->spare[i]);
    for (int i = 0; i < scratch->n_contexts; i++)
        scratch->contexts[i].type->destroy(scratch->contexts[i].context, scratch->alloc);
    zlgi_free(scratch->alloc, scratch, sizeof *scratch);
}

void *zlgi_scratch_context(zlgi_scratch *scratch, const zlgi_context_type *type)
{
    for (int i = 0; i < scratch->n_contexts; i++)
        if (scratch->contexts[i].type == type)
            return scratch->contexts[i].context;
    assert((size_t)scratch->n_contexts < ZLGI_COUNT(scratch->contexts));
    void *context = type->make(scratch->alloc);
    if (context == NULL)
        return NULL;
    scratch->contexts[scratch->n_contexts].type = type;
    scratch->contexts[scratch->n_contexts].context = context;
    scratch->n_contexts++;
    return context;
}

zlgi_buf *zlgi_scratch_push(zlgi_scratch *scratch)
{
    assert((size_t)scratch->n_spare_used < ZLGI_COUNT(scratch->spare));
    zlgi_buf *buf = &scratch->spare[scratch->n_spare_used++];
    buf->n = 0;
    return buf;
}

void zlgi_scratch_pop(zlgi_scratch *scratch)
{
    assert(scratch->n_spare_used > 0);
    scratch->n_spare_used--;
}
