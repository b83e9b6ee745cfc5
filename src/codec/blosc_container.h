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

/* Reads and checks the header: sizes fit together and into `in`. */
zlg_status zlgi_blosc_open(zlgi_bytes in, zlgi_blosc *out, zlg_error *err);
/* Checks blocks and streams: each lies in the container. */
zlg_status zlgi_blosc_check(const zlgi_blosc *container, zlg_error *err);

#endif
