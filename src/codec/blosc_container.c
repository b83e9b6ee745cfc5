/*
 * The Blosc 1 container (format.md §17): header, table of block offsets, streams. Decides
 * whether what they say fits together and lies in the bytes there are; decodes nothing.
 *
 *     0 version  1 format version  2 flags  3 typesize  4 nbytes  8 blocksize  12 cbytes
 *     16 one offset per block, 32 bits; then blocks: streams of 32 bits of size and data
 *
 * Bytes behind `cbytes` are let pass: a writer of old left some.
 */
#include "codec/blosc_container.h"

enum {
    VERSION = 2,
    NEWEST_VERSION = 5, /* of Blosc 2 */
    FLAG_SHUFFLE = 1,
    FLAG_STORED = 2,
    FLAG_BITS = 4,
    FLAG_WHOLE = 16,
    FORMAT_SHIFT = 5,
    MOST_STREAMS = 16,     /* a larger typesize is not split */
    SMALLEST_STREAM = 128, /* nor is a block of smaller streams */
    OFFSET_BYTES = 4,
    SIZE_BYTES = 4
};

static const char *const formats[] = {"blosclz", "lz4", "snappy", "zlib", "zstd"};

zlg_status zlgi_blosc_open(zlgi_bytes in, zlgi_blosc *out, zlg_error *err)
{
    if (in.n < ZLGI_BLOSC_HEADER)
        return zlgi_fail(err, ZLG_CORRUPT, "%zu bytes are too few for a header", in.n);
    const uint8_t *h = in.data;
    const int flags = h[2];
    const size_t n_container = zlgi_load_u32le(h + 12);
    *out = (zlgi_blosc){
        .in = {in.data, n_container},
        .stored = flags & FLAG_STORED,
        .shuffled = flags & FLAG_SHUFFLE,
        .bits = flags & FLAG_BITS,
        .format = flags >> FORMAT_SHIFT,
        .typesize = h[3],
        .n_bytes = zlgi_load_u32le(h + 4),
        .blocksize = zlgi_load_u32le(h + 8),
    };
    if (h[0] != VERSION)
        return zlgi_fail(err,
                         h[0] == 0 || h[0] > NEWEST_VERSION ? ZLG_CORRUPT : ZLG_UNSUPPORTED,
                         "container version %d, not %d", h[0], VERSION);
    if ((size_t)out->format >= ZLGI_COUNT(formats))
        return zlgi_fail(err, ZLG_CORRUPT, "stream format %d is none", out->format);
    out->format_name = formats[out->format];
    if (n_container > in.n)
        return zlgi_fail(err, ZLG_CORRUPT, "%zu bytes are stored, the header says %zu",
                         in.n, n_container);
    if (out->n_bytes > INT32_MAX || out->typesize == 0)
        return zlgi_fail(err, ZLG_CORRUPT, "the header says %zu bytes of type size %zu",
                         out->n_bytes, out->typesize);
    if (out->stored)
        return n_container >= ZLGI_BLOSC_HEADER + out->n_bytes
                   ? ZLG_OK
                   : zlgi_fail(err, ZLG_CORRUPT, "%zu bytes hold no %zu stored bytes",
                               n_container, out->n_bytes);
    if (out->n_bytes == 0) {
        out->blocksize = 0;
        return ZLG_OK;
    }
    if (out->blocksize == 0 || out->blocksize > out->n_bytes)
        return zlgi_fail(err, ZLG_CORRUPT, "blocks of %zu bytes in %zu", out->blocksize,
                         out->n_bytes);
    out->n_blocks = (out->n_bytes - 1) / out->blocksize + 1;
    if (n_container < ZLGI_BLOSC_HEADER ||
        out->n_blocks > (n_container - ZLGI_BLOSC_HEADER) / OFFSET_BYTES)
        return zlgi_fail(err, ZLG_CORRUPT, "%zu bytes hold no table of %zu blocks",
                         n_container, out->n_blocks);
    out->split = !(flags & FLAG_WHOLE) && out->typesize <= MOST_STREAMS &&
                 out->blocksize / out->typesize >= SMALLEST_STREAM;
    if (out->split && out->blocksize % out->typesize != 0)
        return zlgi_fail(err, ZLG_CORRUPT, "blocks of %zu bytes split into %zu streams",
                         out->blocksize, out->typesize);
    return ZLG_OK;
}

zlg_status zlgi_blosc_block_open(const zlgi_blosc *container, size_t i,
                                 zlgi_blosc_block *out, zlg_error *err)
{
    const size_t first = ZLGI_BLOSC_HEADER + container->n_blocks * OFFSET_BYTES;
    const size_t start =
        zlgi_load_u32le(container->in.data + ZLGI_BLOSC_HEADER + i * OFFSET_BYTES);
    if (start < first || start > container->in.n)
        return zlgi_fail(err, ZLG_CORRUPT, "block %zu starts at byte %zu of %zu", i, start,
                         container->in.n);
    const size_t n_bytes =
        ZLGI_MIN(container->blocksize, container->n_bytes - i * container->blocksize);
    const bool split = container->split && n_bytes == container->blocksize;
    *out = (zlgi_blosc_block){
        .i = i,
        .n_bytes = n_bytes,
        .n_streams = split ? container->typesize : 1,
        .n_stream = split ? n_bytes / container->typesize : n_bytes,
        .left = {container->in.data + start, container->in.n - start},
    };
    return ZLG_OK;
}

zlg_status zlgi_blosc_block_next(zlgi_blosc_block *block, zlgi_bytes *out, zlg_error *err)
{
    zlgi_bytes *left = &block->left;
    const size_t n = left->n < SIZE_BYTES ? 0 : zlgi_load_u32le(left->data);
    if (n == 0 || n > left->n - SIZE_BYTES)
        return zlgi_fail(err, ZLG_CORRUPT, "block %zu: a stream of %zu bytes, %zu are left",
                         block->i, n, left->n);
    *out = (zlgi_bytes){left->data + SIZE_BYTES, n};
    left->data += SIZE_BYTES + n;
    left->n -= SIZE_BYTES + n;
    return ZLG_OK;
}
