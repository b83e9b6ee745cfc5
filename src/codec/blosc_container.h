/*
 * The Blosc 1 container, taken apart.
 */
#ifndef ZLGI_BLOSC_CONTAINER_H
#define ZLGI_BLOSC_CONTAINER_H

#include "codec/parts.h"

enum { ZLGI_BLOSC_HEADER = 16 };

typedef struct zlgi_blosc {
    zlgi_bytes in;       /* the container, without what may follow it */
    bool stored;         /* n_bytes follow the header as they are */
    bool shuffled, bits; /* bytes or bits of the elements are transposed */
    bool split;          /* full blocks have one stream per byte of an element */
    int format;          /* of the streams */
    const char *format_name;
    size_t typesize, n_bytes, blocksize, n_blocks;
} zlgi_blosc;

/* The streams of one block that are still to come. */
typedef struct zlgi_blosc_block {
    size_t i, n_bytes;          /* of the block, decoded */
    size_t n_streams, n_stream; /* how many, and bytes of each decoded */
    zlgi_bytes left;
} zlgi_blosc_block;

/* Reads and checks the header: sizes fit together and into `in`. */
zlg_status zlgi_blosc_open(zlgi_bytes in, zlgi_blosc *out, zlg_error *err);
/* Block i < n_blocks and its next stream, checked to lie in the container. */
zlg_status zlgi_blosc_block_open(const zlgi_blosc *container, size_t i,
                                 zlgi_blosc_block *out, zlg_error *err);
zlg_status zlgi_blosc_block_next(zlgi_blosc_block *block, zlgi_bytes *out, zlg_error *err);

/* Decodes a container that is not stored and whose streams are not left to the library
 * (blosc_decode.c): false then. */
bool zlgi_blosc_decodes(const zlgi_blosc *container);
/* Blocks first .. first + n - 1. */
zlg_status zlgi_blosc_decode(const zlgi_blosc *container, size_t first, size_t n,
                             zlgi_scratch *scratch, uint8_t *out, zlg_error *err);

#endif
