/*
 * What callers write their results through: a cover of zlgi_out that lets nothing pass that
 * is longer than what is expected, and keeps what was written when more room is wanted.
 */
#include "codec/parts.h"

static zlg_status too_much(const zlg_output *output, size_t n_bytes, zlg_error *err)
{
    return zlgi_fail(err, output->encodes ? ZLG_USAGE : ZLG_CORRUPT,
                     "%zu bytes come out, %zu expected", n_bytes, output->out->expected);
}

zlg_status zlg_output_room(zlg_output *output, size_t n_bytes, void **memory,
                           zlg_error *err)
{
    zlgi_out *out = output->out;
    if (out->expected != ZLGI_UNKNOWN && n_bytes > out->expected)
        return too_much(output, n_bytes, err);
    if (n_bytes > out->limit)
        return zlgi_fail(err, ZLG_LIMIT, "%zu bytes pass the limit of %zu", n_bytes,
                         out->limit);
    if (out->direct != NULL) {
        *memory = out->direct;
    } else {
        out->buf->n = output->n_room;
        ZLGI_TRY(zlgi_buf_reserve(out->buf, ZLGI_MAX(n_bytes, 1), true, err));
        *memory = out->buf->data;
    }
    output->n_room = ZLGI_MAX(n_bytes, output->n_room);
    return ZLG_OK;
}

zlg_status zlg_output_done(zlg_output *output, size_t n_bytes, zlg_error *err)
{
    if (n_bytes > output->n_room)
        return zlgi_fail(err, ZLG_USAGE, "%zu bytes are done, there is room for %zu",
                         n_bytes, output->n_room);
    output->n = n_bytes;
    return ZLG_OK;
}

zlg_status zlg_output_append(zlg_output *output, const void *data, size_t n_bytes,
                             zlg_error *err)
{
    size_t n;
    void *memory;
    if (!zlgi_add_size(output->n, n_bytes, &n))
        return zlgi_no_memory(err, n_bytes);
    size_t n_more = ZLGI_MIN(output->n_room, SIZE_MAX / 2) * 2;
    size_t n_most = ZLGI_MIN(output->out->expected, output->out->limit);
    size_t n_wanted =
        n > output->n_room ? ZLGI_MAX(n, ZLGI_MIN(n_more, n_most)) : output->n_room;
    ZLGI_TRY(zlg_output_room(output, n_wanted, &memory, err));
    if (n_bytes > 0)
        memcpy((uint8_t *)memory + output->n, data, n_bytes);
    output->n = n;
    return ZLG_OK;
}

zlg_status zlgi_output_finish(zlg_output *output, zlg_error *err)
{
    void *memory;
    if (output->n_room == 0)
        ZLGI_TRY(zlg_output_room(output, 0, &memory, err)); /* a result is never NULL */
    if (output->out->expected != ZLGI_UNKNOWN && output->n != output->out->expected)
        return too_much(output, output->n, err);
    return zlgi_out_done(output->out, output->n, err);
}
