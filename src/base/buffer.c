/*
 * A growable run of bytes. Its memory is kept between uses and grows with what really
 * arrives; nothing here trusts a length that somebody else wrote.
 */
#include <stdarg.h>
#include <stdio.h>

#include "base/base.h"

void zlgi_buf_init(zlgi_buf *buf, const zlgi_alloc *alloc)
{
    *buf = (zlgi_buf){.alloc = alloc};
}

void zlgi_buf_reset(zlgi_buf *buf)
{
    zlgi_free(buf->alloc, buf->data, buf->capacity);
    zlgi_buf_init(buf, buf->alloc);
}

zlg_status zlgi_buf_reserve(zlgi_buf *buf, size_t capacity, bool keep, zlg_error *err)
{
    if (!keep)
        buf->n = 0;
    if (capacity <= buf->capacity)
        return ZLG_OK;
    /* Contents that nobody wants are neither copied nor held beside the new block. */
    if (!keep)
        zlgi_buf_reset(buf);
    void *data = zlgi_resize(buf->alloc, buf->data, buf->capacity, capacity);
    if (data == NULL)
        return zlgi_no_memory(err, capacity);
    buf->data = data;
    buf->capacity = capacity;
    return ZLG_OK;
}

/* Room for n more bytes, by half as much again at least, so that appending stays linear. */
static zlg_status make_room(zlgi_buf *buf, size_t n, zlg_error *err)
{
    size_t wanted;
    if (!zlgi_add_size(buf->n, n, &wanted))
        return zlgi_no_memory(err, SIZE_MAX);
    if (wanted <= buf->capacity)
        return ZLG_OK;
    size_t grown = buf->capacity + buf->capacity / 2;
    return zlgi_buf_reserve(buf, ZLGI_MAX(wanted, ZLGI_MAX(grown, 64)), true, err);
}

zlg_status zlgi_buf_append(zlgi_buf *buf, const void *data, size_t n, zlg_error *err)
{
    if (n == 0)
        return ZLG_OK;
    ZLGI_TRY(make_room(buf, n, err));
    memcpy(buf->data + buf->n, data, n);
    buf->n += n;
    return ZLG_OK;
}

zlg_status zlgi_buf_printf(zlgi_buf *buf, zlg_error *err, const char *format, ...)
{
    ZLGI_TRY(make_room(buf, 64, err));
    for (;;) {
        size_t room = buf->capacity - buf->n;
        va_list args;
        va_start(args, format);
        int n = vsnprintf((char *)buf->data + buf->n, room, format, args);
        va_end(args);
        if (n < 0)
            return zlgi_fail(err, ZLG_USAGE, "text could not be formatted");
        if ((size_t)n < room) {
            buf->n += (size_t)n;
            return ZLG_OK;
        }
        ZLGI_TRY(make_room(buf, (size_t)n + 1, err));
    }
}

zlg_status zlgi_buf_take_text(zlgi_buf *buf, zlg_ctx *ctx, zlg_text *out, zlg_error *err)
{
    ZLGI_TRY(zlgi_buf_append(buf, "", 1, err));
    /* The text knows its length only, so the block must be exactly that long. */
    char *data = zlgi_resize(buf->alloc, buf->data, buf->capacity, buf->n);
    if (data == NULL)
        return zlgi_no_memory(err, buf->n);
    *out = (zlg_text){.data = data, .n_bytes = buf->n - 1, .ctx = ctx};
    zlgi_buf_init(buf, buf->alloc);
    return ZLG_OK;
}
