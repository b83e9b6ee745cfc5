/*
 * Results of decoders: memory handed out only after the size has been held against what
 * the chunk must have and against the limit. No decoder compares sizes on its own.
 */
#include "codec/parts.h"

enum { FIRST_GUESS = 1 << 16 };

static zlg_status check_limit(const zlgi_out *out, size_t n, zlg_error *err)
{
    if (n > out->limit)
        return zlgi_fail(err, ZLG_LIMIT, "%zu bytes pass the limit of %zu (chunk_bytes)", n,
                         out->limit);
    return ZLG_OK;
}

static zlg_status check_size(const zlgi_out *out, size_t n, zlg_error *err)
{
    if (ZLGI_UNLIKELY(out->expected != ZLGI_UNKNOWN && n != out->expected))
        return zlgi_fail(err, ZLG_CORRUPT, "%zu bytes decoded, %zu expected", n,
                         out->expected);
    return ZLGI_UNLIKELY(n > out->limit) ? check_limit(out, n, err) : ZLG_OK;
}

/* Room for n bytes with the first `used` kept. */
static zlg_status take(zlgi_out *out, size_t n, size_t used, uint8_t **memory,
                       zlg_error *err)
{
    if (out->direct) {
        *memory = out->direct;
        return ZLG_OK;
    }
    out->buf->n = used;
    /* Never NULL, also for nothing: libraries take that for an error. */
    ZLGI_TRY(zlgi_buf_reserve(out->buf, ZLGI_MAX(n, 1), used > 0, err));
    *memory = out->buf->data;
    return ZLG_OK;
}

zlg_status zlgi_out_memory(zlgi_out *out, size_t n, uint8_t **memory, zlg_error *err)
{
    ZLGI_TRY(check_size(out, n, err));
    return take(out, n, 0, memory, err);
}

zlg_status zlgi_out_grow(zlgi_out *out, size_t used, uint8_t **memory, size_t *capacity,
                         zlg_error *err)
{
    if (out->expected != ZLGI_UNKNOWN) {
        if (used > 0)
            return zlgi_fail(err, ZLG_CORRUPT, "more than the expected %zu bytes",
                             out->expected);
        ZLGI_TRY(check_limit(out, out->expected, err));
        *capacity = out->expected;
        if (out->expected > 0)
            return take(out, out->expected, 0, memory, err);
        /* One byte that nobody wants, so that a decoder of nothing can go too far. */
        *capacity = 1;
        ZLGI_TRY(zlgi_buf_reserve(out->buf, 1, false, err));
        *memory = out->buf->data;
        return ZLG_OK;
    }
    if (used >= out->limit)
        return zlgi_fail(err, ZLG_LIMIT, "more bytes than the limit of %zu (chunk_bytes)",
                         out->limit);
    size_t n = used < FIRST_GUESS / 2  ? FIRST_GUESS
               : used > out->limit / 2 ? out->limit
                                       : used * 2;
    /* What the buffer has from earlier use is as good as new. */
    *capacity = ZLGI_MIN(ZLGI_MAX(n, out->buf->capacity), out->limit);
    return take(out, *capacity, used, memory, err);
}

zlg_status zlgi_out_done(zlgi_out *out, size_t n, zlg_error *err)
{
    ZLGI_TRY(check_size(out, n, err));
    if (out->direct) {
        out->result = (zlgi_bytes){out->direct, n};
    } else {
        out->buf->n = n;
        out->result = (zlgi_bytes){out->buf->data, n};
    }
    return ZLG_OK;
}

zlg_status zlgi_out_view(zlgi_out *out, const uint8_t *data, size_t n, zlg_error *err)
{
    ZLGI_TRY(check_size(out, n, err));
    out->result = (zlgi_bytes){data, n};
    return ZLG_OK;
}

zlg_status zlgi_out_copy(zlgi_out *out, const uint8_t *data, size_t n, zlg_error *err)
{
    uint8_t *memory;
    ZLGI_TRY(zlgi_out_memory(out, n, &memory, err));
    if (n > 0)
        memcpy(memory, data, n);
    return zlgi_out_done(out, n, err);
}
