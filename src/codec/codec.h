/*
 * codec: chains of codecs over bytes in memory. Knows no stores, no files, no arrays
 * beyond the shape and type of one chunk.
 *
 * A chain is  array→array*  array→bytes  bytes→bytes*  in encoding order; step i turns
 * edge i into edge i + 1, so edge 0 is the decoded chunk and edge n the stored bytes.
 * A typed edge has a data type, a shape and a fill value; its buffer holds the elements in
 * C order, native byte order, packed (variable length: an array of zlgi_view). A byte
 * edge is a run of bytes.
 *
 * Version 2 chains are the same model: order F is a transpose in front; the first filter
 * that takes arrays (vlen-utf8, json2, zfpy, ...) is the array→bytes step, otherwise
 * `bytes` with each field in its own order; the filters after it work on bytes. Filters
 * such as delta are array→array in version 3 and work on bytes in version 2: they are
 * written once, over a buffer of elements whose byte order they are told.
 *
 * One file per codec holds its table, configuration, encode and decode; the rest of the
 * tree knows it by one line in registry.c.
 */
#ifndef ZLGI_CODEC_H
#define ZLGI_CODEC_H

#include "base/base.h"
#include "dtype/dtype.h"
#include "grid/grid.h"
#include "zellige_ext.h"

typedef struct zlgi_codec zlgi_codec;
typedef struct zlgi_chain zlgi_chain;

typedef enum zlgi_codec_kind {
    ZLGI_ARRAY_TO_ARRAY,
    ZLGI_ARRAY_TO_BYTES,
    ZLGI_BYTES_TO_BYTES
} zlgi_codec_kind;

/* How a box of elements passes through a step. */
typedef enum zlgi_pass {
    ZLGI_PASS_WHOLE,       /* the whole chunk must be decoded */
    ZLGI_PASS_TRANSPOSE,   /* permutes axes */
    ZLGI_PASS_ELEMENTWISE, /* element for element: pushed into inner chunks */
    ZLGI_PASS_BYTES,       /* the `bytes` codec: elements lie where arithmetic says */
    ZLGI_PASS_SHARDING     /* has an index of its own */
} zlgi_pass;

enum {
    ZLGI_CODEC_ON_BYTES = 1u << 0, /* array→array, but in v2 works on a byte edge (delta) */
    ZLGI_CODEC_VARLEN = 1u << 1,   /* takes variable-length types */
    ZLGI_CODEC_AXES = 1u << 2      /* cannot stand where rank is not known */
};

/* What is known of an edge whatever the shape of the chunk. */
typedef struct zlgi_edge_type {
    const zlgi_dtype *dtype; /* NULL: bytes */
    int rank;                /* typed; -1: other for other shapes (after squeeze) */
    zlgi_fill fill;          /* typed: the value at this stage */
    size_t item;             /* bytes: size of the elements in them, 1 when unknown; what */
                             /* v2 compressors that shuffle go by. `to` of a filter on a */
                             /* byte edge has that of `from` unless configure sets it */
    const zlgi_dtype *holds; /* v2 bytes: what those elements are, each leaf in its own */
                             /* order, likewise; NULL when unknown */
} zlgi_edge_type;

/* An edge for one chunk shape. */
#define ZLGI_UNKNOWN SIZE_MAX
typedef struct zlgi_edge {
    int rank;                    /* typed */
    int64_t shape[ZLG_MAX_RANK]; /* typed */
    size_t n_elements;           /* typed */
    size_t n_bytes;              /* of its buffer; bytes: exact, or ZLGI_UNKNOWN */
} zlgi_edge;

typedef struct zlgi_step {
    const zlgi_codec *codec;
    void *config;            /* the codec's own, in the arena */
    zlgi_edge_type from, to; /* in encoding direction */
} zlgi_step;

/* Given to configure. */
typedef struct zlgi_codec_env {
    zlgi_arena *arena;
    const zlg_limits *limits;
    const zlgi_registry *registry; /* codecs of the caller's; or NULL */
    bool v2;                       /* version 2 document: numcodecs configuration */
    int depth;                     /* sharding levels above this chain */
    bool writing;                  /* strict: made for a new array */
    bool no_endian;                /* `bytes` may leave endian out; it means little then */
} zlgi_codec_env;

/* Where a decoder puts its result. */
typedef struct zlgi_out {
    uint8_t *direct;   /* the caller's own memory for exactly `expected` bytes, or NULL */
    size_t expected;   /* exact size of the result, or ZLGI_UNKNOWN */
    size_t limit;      /* never more than this */
    zlgi_buf *buf;     /* used when direct is NULL */
    zlgi_bytes result; /* set by zlgi_out_done or zlgi_out_view */
} zlgi_out;
/* Memory for a result of exactly n bytes. CORRUPT when n is not what is expected, LIMIT
 * when it passes the limit. */
zlg_status zlgi_out_memory(zlgi_out *out, size_t n, uint8_t **memory, zlg_error *err);
/* Memory for a result whose size shows while decoding: first call with used 0. Gives
 * *memory and *capacity > used with the first `used` bytes kept; CORRUPT or LIMIT when
 * the result would pass `expected` or `limit`. With a known `expected` the first call gives
 * exactly that. */
zlg_status zlgi_out_grow(zlgi_out *out, size_t used, uint8_t **memory, size_t *capacity,
                         zlg_error *err);
/* The result is the first n bytes of that memory. CORRUPT when n is not `expected`. */
zlg_status zlgi_out_done(zlgi_out *out, size_t n, zlg_error *err);
/* The result is a part of the input: nothing is copied. */
zlg_status zlgi_out_view(zlgi_out *out, const uint8_t *data, size_t n, zlg_error *err);

/* The same as callers are given it, for codecs and other makers of bytes (output.c). */
struct zlg_output {
    zlgi_out *out;
    size_t n_room, n; /* bytes that there is room for; that are done */
    bool encodes;     /* what is wrong is not what is stored */
};
/* When the maker is done: the result, held against what is expected. */
zlg_status zlgi_output_finish(zlg_output *output, zlg_error *err);

struct zlgi_codec {
    const char *name;  /* v3 name; NULL when it exists in version 2 only */
    const char *id;    /* numcodecs id, also found as "numcodecs.<id>"; or NULL */
    const char *alias; /* one more name that occurs in files, or NULL */
    zlgi_codec_kind kind;
    zlgi_pass pass;
    unsigned flags;

    /*
     * Reads the configuration (a JSON object, or NULL; v2: the codec's whole object) and
     * sets step->config, step->to.dtype, .rank, .fill from step->from. The defaults of
     * `to` are: array→array: as from; otherwise bytes. Checks types: METADATA for a
     * broken rule, UNSUPPORTED for what is well formed but not known.
     */
    zlg_status (*configure)(zlgi_step *step, const zlgi_json *configuration,
                            const zlgi_codec_env *env, zlg_error *err);
    /*
     * Shape and size of edge `to` for a chunk with edge `from`. NULL: the same shape
     * (array→array), an unknown size (to bytes).
     */
    zlg_status (*resolve)(const zlgi_step *step, const zlgi_edge *from, zlgi_edge *to,
                          zlg_error *err);
    /* Bytes of edge `to` into out (out->n is set, earlier contents lost). */
    zlg_status (*encode)(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_buf *out,
                         zlg_error *err);
    /* Back: bytes of edge `to` into a buffer of edge `from`. */
    zlg_status (*decode)(const zlgi_step *step, zlgi_scratch *scratch,
                         const zlgi_edge *from, zlgi_bytes in, zlgi_out *out,
                         zlg_error *err);
    /*
     * Codecs that store blocks which decode alone; else both NULL. Bytes of a decoded
     * block, of which the last may be shorter; 0 when these bytes are not in blocks, or
     * damaged. And the blocks that fill [offset, offset + n), which begins and ends between
     * blocks.
     */
    size_t (*block_bytes)(const zlgi_step *step, const zlgi_edge *from, zlgi_bytes in);
    zlg_status (*decode_blocks)(const zlgi_step *step, zlgi_scratch *scratch, zlgi_bytes in,
                                size_t offset, size_t n, uint8_t *out, zlg_error *err);
};

/* By v3 name or alias (also "numcodecs.<id>"); by numcodecs id. NULL: unknown.
 * *out_missing names the library when the codec is known but not built in. */
const zlgi_codec *zlgi_codec_find_v3(const char *name, const char **out_missing);
const zlgi_codec *zlgi_codec_find_v2(const char *id, const char **out_missing);
/* The same among those that a caller has registered, and no library is missing. */
const zlgi_codec *zlgi_ext_codec_find(const zlgi_registry *registry, const char *name,
                                      bool v2);
zlg_status zlgi_ext_codec_register(zlgi_registry *registry,
                                   const zlg_codec_methods *methods, void *self,
                                   zlg_error *err);
/* For all that callers register. A configuration (or NULL) as NUL terminated text; and a
 * text, a name or JSON, as a definition. */
zlg_status zlgi_ext_text(const zlgi_json *configuration, zlgi_buf *out, zlg_error *err);
zlg_status zlgi_ext_definition(zlgi_arena *arena, const char *text,
                               const zlg_limits *limits, const zlgi_json **out,
                               zlg_error *err);
/* All that are built in, for documentation and tests. */
const zlgi_codec *zlgi_codec_at(int i); /* NULL past the last */

/* ------------------------------------------------------------------ chains (chain.c) */
enum { ZLGI_CHAIN_STEPS = 16 };

struct zlgi_chain {
    int n_steps;
    int i_bytes; /* the array→bytes step */
    zlgi_step step[ZLGI_CHAIN_STEPS];
    /*
     * What the place kernel does instead of a decode step. Leading transposes become
     * axis order: axis i of edge n_transposes is axis order[i] of the chunk. If `bytes`
     * follows directly it becomes `swap`, applied while placing, after which elements may
     * still need zlgi_dtype_normalize. Decoding stops at edge n_folded.
     */
    int n_transposes;
    int order[ZLG_MAX_RANK];
    int n_folded; /* n_transposes, or one more when `bytes` is folded too */
    zlgi_swap swap;
    bool normalize;
};

/* Edges of a chain for one chunk shape. */
typedef struct zlgi_layout {
    zlgi_edge edge[ZLGI_CHAIN_STEPS + 1];
} zlgi_layout;

/* v3: `codecs` is the JSON list. The chain lives in env->arena. */
zlg_status zlgi_chain_parse(const zlgi_codec_env *env, const zlgi_json *codecs,
                            const zlgi_edge_type *from, zlgi_chain **out, zlg_error *err);
/* v2: filters and compressor as in the document (JSON or NULL). */
zlg_status zlgi_chain_parse_v2(const zlgi_codec_env *env, const zlgi_json *filters,
                               const zlgi_json *compressor, bool order_f,
                               const zlgi_edge_type *from, zlgi_chain **out,
                               zlg_error *err);
/* Codecs that make bytes of bytes, without elements anywhere: a list in the words of either
 * version. `from` is a byte edge. */
zlg_status zlgi_chain_parse_bytes(const zlgi_codec_env *env, const zlgi_json *codecs,
                                  const zlgi_edge_type *from, zlgi_chain **out,
                                  zlg_error *err);
/* True when one of a version 2 list takes elements as they are, not their bytes. */
bool zlgi_chain_takes_elements(const zlgi_codec_env *env, const zlgi_json *codecs);
/* LIMIT when a typed edge passes limits->chunk_bytes is NOT checked here: layouts are made
 * for chunks that are never decoded whole, too. LIMIT only when a size overflows. */
zlg_status zlgi_chain_layout(const zlgi_chain *chain, const int64_t *shape,
                             zlgi_layout *out, zlg_error *err);
/* Of a chain that begins with bytes; how many may be ZLGI_UNKNOWN. */
zlg_status zlgi_chain_layout_bytes(const zlgi_chain *chain, size_t n_bytes,
                                   zlgi_layout *out, zlg_error *err);
/*
 * Stored bytes back to edge n_folded. direct (may be NULL) is memory for that whole edge;
 * the result is there, in pair[0] or pair[1], or is a part of `encoded`. Sizes above
 * limits->chunk_bytes are LIMIT. Names the codec in errors.
 */
zlg_status zlgi_chain_decode(const zlgi_chain *chain, const zlgi_layout *layout,
                             zlgi_scratch *scratch, zlgi_bytes encoded, uint8_t *direct,
                             zlgi_buf pair[2], zlgi_bytes *out, zlg_error *err);
/* The bytes→bytes steps only: the bytes of a shard that lies inside other codecs. */
zlg_status zlgi_chain_unwrap(const zlgi_chain *chain, const zlgi_layout *layout,
                             zlgi_scratch *scratch, zlgi_bytes encoded, zlgi_buf pair[2],
                             zlgi_bytes *out, zlg_error *err);
/* The same for a part of the edge, where the chain has but one step, which stores blocks:
 * bytes of a block, or 0; and blocks [offset, offset + n) into memory. */
size_t zlgi_chain_block_bytes(const zlgi_chain *chain, const zlgi_layout *layout,
                              zlgi_bytes encoded);
zlg_status zlgi_chain_decode_blocks(const zlgi_chain *chain, zlgi_scratch *scratch,
                                    zlgi_bytes encoded, size_t offset, size_t n,
                                    uint8_t *out, zlg_error *err);
/* The other way, from a buffer of edge n_folded (transposed and swapped by the gather). */
zlg_status zlgi_chain_encode(const zlgi_chain *chain, const zlgi_layout *layout,
                             zlgi_scratch *scratch, zlgi_bytes decoded, zlgi_buf pair[2],
                             zlgi_bytes *out, zlg_error *err);
/* Complete, without folding: edge 0 in native C order (for codecs that hold chains, and
 * for whole decodes). */
zlg_status zlgi_chain_decode_full(const zlgi_chain *chain, const zlgi_layout *layout,
                                  zlgi_scratch *scratch, zlgi_bytes encoded, uint8_t *into,
                                  zlg_error *err);
/* The same, with the caller's buffers: elements of variable length point into them. */
zlg_status zlgi_chain_decode_full_in(const zlgi_chain *chain, const zlgi_layout *layout,
                                     zlgi_scratch *scratch, zlgi_bytes encoded,
                                     uint8_t *into, zlgi_buf pair[2], zlg_error *err);
zlg_status zlgi_chain_encode_full(const zlgi_chain *chain, const zlgi_layout *layout,
                                  zlgi_scratch *scratch, zlgi_bytes decoded, zlgi_buf *out,
                                  zlg_error *err);

/* ------------------------------------------------------------------ sharding_indexed.c */
typedef struct zlgi_sharding {
    int rank;
    int64_t chunk_shape[ZLG_MAX_RANK]; /* inner chunk, in the axes of its edge `from` */
    zlgi_chain *chain;                 /* of an inner chunk */
    zlgi_chain *index_chain;           /* of the index: uint64, rank + 1 */
    bool index_at_start;
    int depth; /* shards around it */
} zlgi_sharding;

#define ZLGI_EMPTY UINT64_MAX /* offset and size of an inner chunk that is not there */

/* Inner grid of a shard of this shape, number of inner chunks, encoded bytes of the
 * index. METADATA when the inner chunk does not divide the shard, LIMIT for the rest. */
zlg_status zlgi_sharding_layout(const zlgi_sharding *sharding, const zlg_limits *limits,
                                const int64_t *shard_shape, int64_t *out_grid_shape,
                                uint64_t *out_n_chunks, size_t *out_index_bytes,
                                zlg_error *err);
/* Encoded index → 2 * n_chunks native values (offset, bytes), each checked against the
 * shard's size: both empty, or a range inside it. */
zlg_status zlgi_sharding_index_decode(const zlgi_sharding *sharding, zlgi_scratch *scratch,
                                      const int64_t *grid_shape, uint64_t n_chunks,
                                      zlgi_bytes encoded, uint64_t n_bytes_shard,
                                      uint64_t *out, zlg_error *err);
zlg_status zlgi_sharding_index_encode(const zlgi_sharding *sharding, zlgi_scratch *scratch,
                                      const int64_t *grid_shape, uint64_t n_chunks,
                                      const uint64_t *index, zlgi_buf *out, zlg_error *err);

/* ------------------------------------------------------------------ checksums
 * Each in the file of its codec, but crc32c_sum.c; those of libdeflate in deflate.c. */
uint32_t zlgi_crc32c(uint32_t crc, const void *data, size_t n);          /* start with 0 */
uint32_t zlgi_crc32c_portable(uint32_t crc, const void *data, size_t n); /* for tests */
uint32_t zlgi_crc32(const void *data, size_t n);
uint32_t zlgi_adler32(const void *data, size_t n);
uint32_t zlgi_fletcher32(const void *data, size_t n); /* HDF5's */
uint32_t zlgi_lookup3(const void *data, size_t n, uint32_t initial);

/* ------------------------------------------------------------ configurations (config.c)
 * Members of a codec configuration; each error names the member. `object` may be NULL. */
zlg_status zlgi_config_int(const zlgi_json *object, const char *name, int64_t low,
                           int64_t high, int64_t missing, int64_t *out, zlg_error *err);
zlg_status zlgi_config_bool(const zlgi_json *object, const char *name, bool missing,
                            bool *out, zlg_error *err);
zlg_status zlgi_config_double(const zlgi_json *object, const char *name, double missing,
                              double *out, zlg_error *err);
/* Index of the string member in `choices` (NULL-terminated); `missing` when absent. */
zlg_status zlgi_config_choice(const zlgi_json *object, const char *name,
                              const char *const *choices, int missing, int *out,
                              zlg_error *err);

#endif
