/*
 * Decoding a Blosc 1 container whose streams are LZ4, zstd or zlib, with the contexts of
 * the worker (format.md §17). The library makes a context per stream, and copies streams
 * that are stored as they are; here planes are joined from where they lie. The other two
 * formats, BloscLZ and Snappy, are the library's.
 */
#include "codec/blosc_container.h"
#include "codec/unshuffle.h"

enum { FORMAT_LZ4 = 1, FORMAT_ZLIB = 3, FORMAT_ZSTD = 4 };

typedef bool (*stream_fn)(zlgi_scratch *scratch, zlgi_bytes in, uint8_t *out, size_t n);

static stream_fn find_stream(int format)
{
    switch (format) {
#if ZELLIGE_HAVE_LZ4
    case FORMAT_LZ4:
        return zlgi_lz4_stream;
#endif
    case FORMAT_ZLIB:
        return zlgi_zlib_stream;
    case FORMAT_ZSTD:
        return zlgi_zstd_stream;
    default:
        return NULL;
    }
}

bool zlgi_blosc_decodes(const zlgi_blosc *container)
{
    return find_stream(container->format) != NULL;
}

/* ------------------------------------------------------------------ room for planes */

static void *make_room(const zlgi_alloc *alloc)
{
    zlgi_buf *room = zlgi_new(alloc, sizeof *room);
    if (room)
        zlgi_buf_init(room, alloc);
    return room;
}

static void free_room(void *context, const zlgi_alloc *alloc)
{
    zlgi_buf_reset(context);
    zlgi_free(alloc, context, sizeof(zlgi_buf));
}

static const zlgi_context_type room_type = {make_room, free_room};

/* ------------------------------------------------------------------ blocks */

/* The streams of a block, each decoded to `room`, or found stored in the container. */
static zlg_status decode_streams(zlgi_blosc_block *block, stream_fn stream,
                                 zlgi_scratch *scratch, uint8_t *room,
                                 const uint8_t *planes[ZLGI_PLANES], zlg_error *err)
{
    for (size_t k = 0; k < block->n_streams; k++, room += block->n_stream) {
        zlgi_bytes in;
        ZLGI_TRY(zlgi_blosc_block_next(block, &in, err));
        if (in.n == block->n_stream) {
            planes[k] = in.data;
            continue;
        }
        if (!stream(scratch, in, room, block->n_stream))
            return zlgi_fail(err, ZLG_CORRUPT, "block %zu: damaged stream of %zu bytes",
                             block->i, in.n);
        planes[k] = room;
    }
    return ZLG_OK;
}

static zlg_status decode_block(const zlgi_blosc *container, size_t i, zlgi_scratch *scratch,
                               uint8_t *room, uint8_t *out, zlg_error *err)
{
    const uint8_t *planes[ZLGI_PLANES];
    const size_t item = container->typesize;
    zlgi_blosc_block block;
    ZLGI_TRY(zlgi_blosc_block_open(container, i, &block, err));
    const size_t n = block.n_bytes / item, tail = block.n_bytes % item;
    const bool by_bytes = container->shuffled && item > 1;
    /* The library leaves a block alone whose elements do not fill whole bytes of bits. */
    const bool by_bits = !by_bytes && container->bits && n > 0 && n % 8 == 0;
    ZLGI_TRY(decode_streams(&block, find_stream(container->format), scratch,
                            by_bytes || by_bits ? room : out, planes, err));
    if (!by_bytes && !by_bits) {
        for (size_t k = 0; k < block.n_streams; k++, out += block.n_stream)
            if (planes[k] != out)
                memcpy(out, planes[k], block.n_stream);
        return ZLG_OK;
    }
    if (block.n_streams == 1)
        for (size_t k = 1; k < item; k++)
            planes[k] = planes[0] + k * n;
    if (by_bytes)
        zlgi_join_planes(planes, n, item, out);
    else
        zlgi_join_bit_planes(planes, n, item, room + container->blocksize, out);
    if (tail > 0)
        memcpy(out + n * item, planes[0] + n * item, tail);
    return ZLG_OK;
}

zlg_status zlgi_blosc_decode(const zlgi_blosc *container, size_t first, size_t n,
                             zlgi_scratch *scratch, uint8_t *out, zlg_error *err)
{
    zlgi_buf *room = zlgi_scratch_context(scratch, &room_type);
    if (!room)
        return zlgi_no_memory(err, sizeof *room);
    const size_t n_room = container->blocksize + container->typesize * ZLGI_BIT_GROUP;
    ZLGI_TRY(zlgi_buf_reserve(room, n_room, false, err));
    for (size_t i = 0; i < n; i++)
        ZLGI_TRY(decode_block(container, first + i, scratch, room->data,
                              out + i * container->blocksize, err));
    return ZLG_OK;
}
