/*
 * fetch.c: bytes of an object for one worker, counted. Lent where the store can lend them.
 */
#include "engine/job.h"

static zlg_status too_short(zlg_error *err, uint64_t n_bytes, uint64_t end)
{
    return zlgi_fail(err, ZLG_CORRUPT, "%llu bytes stored, %llu needed",
                     (unsigned long long)n_bytes, (unsigned long long)end);
}

zlg_status zlgi_fetch_into(zlgi_worker *worker, const zlgi_range *range, uint64_t offset,
                           size_t n, uint8_t *into, zlg_error *err)
{
    const uint8_t *memory = range->memory;
    if (!memory && range->object->view)
        memory = range->object->view + range->offset;
    if (range->n_bytes != ZLGI_SIZE_UNKNOWN &&
        (offset > range->n_bytes || n > range->n_bytes - offset))
        return too_short(err, range->n_bytes, offset + n);
    if (memory) {
        memcpy(into, memory + offset, n);
        return ZLG_OK;
    }
    size_t got;
    worker->stats.n_requests++;
    ZLGI_TRY(range->store->class->read(range->store, range->object, range->offset + offset,
                                       n, into, &got, err));
    worker->stats.n_bytes_read += got;
    return got == n ? ZLG_OK : too_short(err, offset + got, offset + n);
}

zlg_status zlgi_fetch(zlgi_worker *worker, const zlgi_range *range, uint64_t offset,
                      size_t n, zlgi_buf *buf, const uint8_t **out, zlg_error *err)
{
    const uint8_t *memory = range->memory;
    if (!memory && range->object->view)
        memory = range->object->view + range->offset;
    if (!memory) {
        ZLGI_TRY(zlgi_buf_reserve(buf, ZLGI_MAX(n, 1), false, err)); /* never NULL */
        *out = buf->data;
        return zlgi_fetch_into(worker, range, offset, n, buf->data, err);
    }
    if (offset > range->n_bytes || n > range->n_bytes - offset)
        return too_short(err, range->n_bytes, offset + n);
    *out = memory + offset;
    return ZLG_OK;
}

zlg_status zlgi_fetch_all(zlgi_worker *worker, const zlgi_range *range, size_t likely,
                          zlgi_buf *buf, zlgi_bytes *out, zlg_error *err)
{
    uint64_t limit = (uint64_t)worker->job->engine->limits->encoded_bytes;
    if (range->n_bytes != ZLGI_SIZE_UNKNOWN) {
        if (range->n_bytes > limit)
            return zlgi_fail(err, ZLG_LIMIT, "%llu bytes stored, more than encoded_bytes",
                             (unsigned long long)range->n_bytes);
        out->n = (size_t)range->n_bytes;
        return zlgi_fetch(worker, range, 0, out->n, buf, &out->data, err);
    }
    /* The size is not known: a read that comes back short has met the end. */
    size_t n = 0, capacity = likely;
    for (;;) {
        size_t got;
        ZLGI_TRY(zlgi_buf_reserve(buf, capacity, n > 0, err));
        worker->stats.n_requests++;
        ZLGI_TRY(range->store->class->read(range->store, range->object, n, capacity - n,
                                           buf->data + n, &got, err));
        worker->stats.n_bytes_read += got;
        n += got;
        buf->n = n;
        if (n > limit)
            return zlgi_fail(err, ZLG_LIMIT, "more bytes stored than encoded_bytes");
        if (n < capacity)
            break;
        capacity *= 2;
    }
    *out = (zlgi_bytes){.data = buf->data, .n = n};
    return ZLG_OK;
}
