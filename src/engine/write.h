/*
 * write.h: what the files of a write share. Private to the engine.
 *
 * An object is written in two steps. First, with no lock held, every chunk that is
 * covered by what is written, or made anew, is encoded. Then, in one transaction, chunks of
 * which a part stays are decoded, changed and encoded, and the new object is put together:
 * new chunks from buffers, those that nobody touched as they were stored. When somebody
 * else was faster only the second step is done again.
 */
#ifndef ZLGI_WRITE_H
#define ZLGI_WRITE_H

#include "engine/job.h"

/* A box that is written: an object or an inner chunk. */
typedef struct zlgi_written {
    zlgi_worker *worker;
    const zlgi_source *source;
    const zlgi_level *level;
    const int64_t *shape;       /* declared: it may reach beyond the array */
    const int64_t *inside;      /* so much of that lies in the array */
    bool keep_empty;            /* it is stored whatever it holds */
    bool clears;                /* what is written is the fill value: see zlgi_request */
    bool skip_broken;           /* what is stored and does not decode stays as it is */
    bool replace;               /* nothing of what is stored stays, whatever is covered */
    const zlg_encoded *encoded; /* chunks that are put as they are: see zlgi_request */
    zlgi_uses *uses;            /* in coordinates of the box, in the order of the call */
    const zlgi_fill
        *fill; /* its value where nothing is stored. Codecs in front of a shard */
               /* may have rounded that of the array */
    zlg_error *err;
} zlgi_written;

/* True when one use takes every element of the box, or some boxes that do not overlap do;
 * uses before *out_use need not be looked at. Not found out: points, and what is scattered
 * over many uses. */
bool zlgi_written_covers(const zlgi_written *box, size_t *out_use);
/* The same of the elements in the array: what is stored and broken may be forgotten. */
bool zlgi_written_renews(const zlgi_written *box);
/* What a (innermost) chunk is to hold, when it is given encoded: the last of its points. */
const zlg_encoded *zlgi_written_encoded(const zlgi_written *box);
/* What turns an element of the caller's, which is swapped or not, into one as the chain of
 * the units takes it; NULL: nothing. */
zlg_status zlgi_written_swap(const zlgi_source *source, bool swapped, zlgi_arena *arena,
                             const zlgi_swap **out, zlg_error *err);
/* Codecs around a shard: the whole of it is one unit here. */
static inline bool zlgi_written_is_shard(const zlgi_level *level)
{
    return level->sharding && !level->wrapped;
}

/* What a box need not be stored for. */
typedef enum zlgi_empty {
    ZLGI_FULL,        /* it must */
    ZLGI_EMPTY_ARRAY, /* all of it is the fill value of the array */
    ZLGI_EMPTY_BOX    /* or that of the box, which is another */
} zlgi_empty;

/* ------------------------------------------------------------------ units (write_unit.c)
 * Encodes a unit. old: what is stored, NULL when that is nothing or the unit is covered.
 * The result lies in bufs[0..2], which the caller has pushed, or in the caller's own
 * memory. */
zlg_status zlgi_unit_encode(const zlgi_written *box, const zlgi_bytes *old,
                            zlgi_buf bufs[3], zlgi_bytes *out, zlgi_empty *empty);

/* ------------------------------------------------------------------ touched (touched.c)
 * Which uses fall into which inner chunk: a list of entries for each chunk, in the order
 * of the uses. A single box needs none: it is cut when it is wanted. */
typedef struct zlgi_touch {
    uint32_t first, last; /* entry and 1; 0: not touched */
} zlgi_touch;
typedef struct zlgi_touched_map {
    const zlgi_grid *grid; /* of inner chunks */
    const zlgi_uses *uses; /* in its axes */
    zlgi_touch *touch;     /* of each inner chunk, zeroed */
    zlgi_buf *entries, *work;
} zlgi_touched_map;
zlg_status zlgi_touched_mark(zlgi_touched_map *map, zlg_error *err);
/* Those of one inner chunk that begins at `start`, in its coordinates; ids: room for the
 * points among them. */
zlg_status zlgi_touched_uses(const zlgi_touched_map *map, uint64_t chunk,
                             const int64_t *start, zlgi_buf *ids, zlgi_uses *out,
                             zlg_error *err);

/* ------------------------------------------------------------------ shards (write_shard.c)
 */

/* Where a new inner chunk lies: in which buffer of step one, in that of step two when a
 * part of it stays, or in the caller's memory. */
enum { ZLGI_MAX_BLOCKS = 64, ZLGI_MERGED = ZLGI_MAX_BLOCKS, ZLGI_CALLERS };
typedef struct zlgi_slot {
    uint64_t buffer : 8;
    uint64_t n_bytes : 56; /* ZLGI_NONE: it need not be stored, and offset is why */
    union {
        uint64_t offset;     /* zlgi_empty where there are no bytes */
        const uint8_t *data; /* ZLGI_CALLERS */
    };
} zlgi_slot;
#define ZLGI_NONE ((UINT64_C(1) << 56) - 1)

typedef struct zlgi_shard_writer {
    const zlgi_written *box;
    zlgi_level_box room;
    const zlgi_level_box *facts;
    zlgi_grid grid; /* of inner chunks, axes of the inner level */
    zlgi_touched_map map;
    bool makes_all; /* inner chunks that are not touched too */
    zlgi_uses piece_uses;
    zlgi_buf *ids, *pieces, *parts, *tables, *old, *tail, *merged;
    bool renews;                            /* zlgi_written_renews */
    zlgi_slot *slots;                       /* of each inner chunk, for those made */
    zlgi_buf *buffers[ZLGI_MAX_BLOCKS + 1]; /* that slots name; ZLGI_MERGED */
    uint64_t *index;                        /* of the new shard */
} zlgi_shard_writer;

enum { ZLGI_SHARD_WRITER_BUFFERS = 13 };
/* Takes buffers of the scratch, given back by end. */
void zlgi_shard_writer_begin(zlgi_shard_writer *writer, const zlgi_written *box);
void zlgi_shard_writer_end(zlgi_shard_writer *writer);
/* Finds out what is touched. */
zlg_status zlgi_shard_writer_start(zlgi_shard_writer *writer);
/* Step one: block i of n of the inner chunks of which nothing stays into buffers[i]. */
zlg_status zlgi_shard_encode_covered(zlgi_shard_writer *writer, int i_block, int n_blocks);
/* True when something of what is stored may stay. */
bool zlgi_shard_keeps(const zlgi_shard_writer *writer);
/* Step two: old NULL when nothing is stored. The shard as parts, valid until the next
 * call. */
zlg_status zlgi_shard_put_together(zlgi_shard_writer *writer, const zlgi_bytes *old,
                                   const zlgi_bytes **out_parts, int *out_n_parts,
                                   zlgi_empty *out_empty);

#endif
