/*
 * engine: plan, fetch, decode, place; and gather, encode, put. Knows grids, chains and
 * stores; knows nothing of metadata documents or of hierarchies.
 *
 * Levels. What a stored object holds is described once per array by a list of levels: a
 * sharding level has a grid of inner chunks and the level of one of them; a unit level is
 * a chain that is decoded whole. Uses (grid.h) are cut from level to level; leading
 * transposes permute their axes; element-wise codecs in front of a shard move into its
 * units.
 *
 * Tasks. A call is a job: objects in plan order, each cut into one or more blocks of
 * inner chunks when there are fewer objects than hands. Workers take task numbers from one
 * counter. What fails is reported by the lowest (object, piece), whatever the threads did.
 */
#ifndef ZLGI_ENGINE_H
#define ZLGI_ENGINE_H

#include <pthread.h>

#include "base/base.h"
#include "codec/codec.h"
#include "grid/grid.h"
#include "store/store.h"

/* ------------------------------------------------------------------ levels (level.c) */
typedef struct zlgi_level zlgi_level;
struct zlgi_level {
    int rank;
    const zlgi_chain *chain;       /* of the box of this level */
    const zlgi_sharding *sharding; /* NULL: a unit */
    bool wrapped; /* bytes→bytes codecs around the shard: fetched and decoded whole */
    bool behind;  /* codecs stand in front of the shard, or of one that it lies in */
    bool raw;     /* a unit whose stored bytes are its elements: read by range */
    int order[ZLG_MAX_RANK]; /* sharding: axis i of the inner grid is axis order[i] here */
    const zlgi_level *inner; /* sharding */
    zlgi_fill fill;          /* sharding: of inner chunks; data NULL: that of the array */
    bool fixed;              /* the box always has `shape`; the facts below hold then */
    int64_t shape[ZLG_MAX_RANK];
    struct zlgi_level_box *box;
};

/* Facts of a level for one box shape. */
typedef struct zlgi_level_box {
    /* sharding: in the axes of the inner grid */
    int64_t grid_shape[ZLG_MAX_RANK];
    uint64_t n_chunks;
    size_t n_bytes_index;
    /* unit, and what wraps a shard */
    zlgi_layout layout;
    ptrdiff_t strides[ZLG_MAX_RANK]; /* unit: bytes per axis of the box in edge n_folded */
} zlgi_level_box;

/* Builds the levels of a chain. `shape` NULL: the top box varies (rectilinear grid). */
zlg_status zlgi_level_make(zlgi_arena *arena, const zlg_limits *limits,
                           const zlgi_chain *chain, int rank, const int64_t *shape,
                           const zlgi_level **out, zlg_error *err);
/* Facts for a box shape: level->box when fixed, else computed into room. */
zlg_status zlgi_level_box_get(const zlgi_level *level, const zlg_limits *limits,
                              const int64_t *shape, zlgi_level_box *room,
                              const zlgi_level_box **out, zlg_error *err);

/* ------------------------------------------------------------------ sources */

/* What the engine needs to know of an array; owned by core, alive during calls. */
typedef struct zlgi_source {
    zlg_array *array; /* whose it is: for callbacks */
    zlg_store *store;
    const char *prefix; /* path of the array, "" for the root */
    zlgi_grid grid;
    zlgi_key_encoding keys;
    const zlgi_dtype *dtype;
    zlgi_fill fill; /* one element as it lies in memory; varlen: a zlgi_view */
    size_t item;    /* zlgi_dtype_slot */
    const zlgi_level *level;
} zlgi_source;

/* Key of an object in its store (plan.c). */
enum { ZLGI_PATH_MAX = 4096 };
zlg_status zlgi_plan_key(const zlgi_source *source, const int64_t *coordinates,
                         char out[ZLGI_PATH_MAX], zlg_error *err);
/* Of such a key, what errors call the chunk: without the path of its array. */
const char *zlgi_plan_name(const zlgi_source *source, const char *key);

/* ------------------------------------------------------------------ caches (cache.c)
 * Blocks under a byte budget, least recently used out first. A block is counted: it stays
 * until its last user has let go. */
typedef struct zlgi_cache zlgi_cache;
typedef struct zlgi_cache_key {
    uint64_t store, object;   /* store id, hash of the object's key */
    uint64_t offset, n_bytes; /* of what is stored, in the object */
    zlgi_tag tag;
} zlgi_cache_key;
typedef struct zlgi_block {
    int n_refs; /* atomic */
    size_t n_bytes;
    zlgi_cache_key key;
    const char *name; /* the object's key itself: hashes may collide */
    struct zlgi_block *newer, *older, *chain;
    _Alignas(16) uint8_t data[];
} zlgi_block;
zlgi_cache *zlgi_cache_new(const zlgi_alloc *alloc, size_t n_bytes); /* 0: holds nothing */
void zlgi_cache_free(zlgi_cache *cache);
/* n_bytes: of the block. Bytes that now mean something else, say because the document of
 * their array was replaced, are not found by what they were before. */
zlgi_block *zlgi_cache_get(zlgi_cache *cache, const zlgi_cache_key *key, const char *name,
                           size_t n_bytes);
/* A block to fill; not yet in the cache. NULL when memory is short. */
zlgi_block *zlgi_block_new(zlgi_cache *cache, const zlgi_cache_key *key, const char *name,
                           size_t n_bytes);
/* Adds it, unless its tag is not trusted or it is larger than a quarter of the budget. */
void zlgi_cache_put(zlgi_cache *cache, zlgi_block *block);
void zlgi_block_unref(zlgi_cache *cache, zlgi_block *block);
uint64_t zlgi_cache_hash(const char *name);

/* ------------------------------------------------------------------ engine */
typedef struct zlgi_engine {
    const zlgi_alloc *alloc;
    const zlg_limits *limits;
    zlgi_pool *pool;
    zlgi_budget *budget;
    zlgi_cache *index_cache;
    zlgi_cache *chunk_cache;
} zlgi_engine;

typedef struct zlgi_request {
    const zlgi_source *source;
    const zlg_selection *selection; /* NULL: everything */
    uint8_t *memory;                /* written to by reads only */
    const ptrdiff_t *strides;       /* NULL: C order */
    /* Writes. */
    bool swapped;        /* numbers in memory are in the other byte order */
    bool keep_empty;     /* chunks of only the fill value are stored */
    bool replace;        /* objects are made anew: nothing of what is stored stays */
    bool clears;         /* every element is the fill value, bit for bit, and chunks */
                         /* of it are not stored */
    bool create;         /* objects must not exist: ZLG_EXISTS; nothing is read */
    bool skip_equal;     /* an object that holds these bytes already is left alone */
    bool skip_broken;    /* so is what does not decode, of which a part would stay */
    zlg_promise promise; /* not the default */
    const zlg_encoded *encoded; /* of the chunk in which each point lies: put as they are */
} zlgi_request;

/* Fixed-size types, or zlgi_view targets whose bytes go to `arenas`. */
zlg_status zlgi_engine_read(zlgi_engine *engine, const zlgi_request *requests, size_t n,
                            const zlg_call *call, zlg_error *err);
zlg_status zlgi_engine_read_varlen(zlgi_engine *engine, const zlgi_request *request,
                                   zlg_varlen *out, const zlg_call *call, zlg_error *err);
/* What is stored of the (innermost) chunk in which each of n points lies. */
zlg_status zlgi_engine_read_encoded(zlgi_engine *engine, const zlgi_request *request,
                                    size_t n, zlg_varlen *out, uint8_t *missing,
                                    const zlg_call *call, zlg_error *err);
/* Memory of a variable-length type is that of a zlgi_view for each element. Promise and
 * keep_empty are those of the requests, not of the call. */
zlg_status zlgi_engine_write(zlgi_engine *engine, const zlgi_request *requests, size_t n,
                             const zlg_call *call, zlg_error *err);
/* ------------------------------------------------------------------ chunks (chunk.c)
 * One innermost chunk alone (with codecs around a shard: the object), for those who hold
 * chunks before an object is put together. `shape` is that of the whole declared chunk, in
 * the axes of the array. Fixed-size types only. Errors do not name the chunk.
 */

/* Elements, with strides in bytes (NULL: C order) and in native byte order, or the other
 * when swapped, to what is stored of them. call: keep_empty, loose_fill; it is settled;
 * NULL: defaults. The result lies in bufs, or in `elements` when these are what is stored
 * already; *out_empty: it need not be stored, and there is none. */
zlg_status zlgi_chunk_encode(zlgi_engine *engine, zlgi_scratch *scratch,
                             const zlgi_source *source, const int64_t *shape,
                             const void *elements, const ptrdiff_t *strides, bool swapped,
                             const zlg_call *call, zlgi_buf bufs[3], zlgi_bytes *out,
                             bool *out_empty, zlg_error *err);
/* Back: all elements in C order, native. encoded.data NULL: it is not stored, which is its
 * fill value. */
zlg_status zlgi_chunk_decode(zlgi_engine *engine, zlgi_scratch *scratch,
                             const zlgi_source *source, const int64_t *shape,
                             zlgi_bytes encoded, void *elements, zlg_error *err);

/* ------------------------------------------------------------------ explain.c
 * The call has no transform. */
zlg_status zlgi_engine_explain(zlgi_engine *engine, const zlgi_request *request,
                               bool resolve, int64_t max_objects, const zlg_call *call,
                               zlgi_buf *out, zlg_error *err);

#endif
