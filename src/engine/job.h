/*
 * job.h: one call of the engine while it runs. Private to the engine.
 */
#ifndef ZLGI_JOB_H
#define ZLGI_JOB_H

#include "engine/engine.h"

/* ------------------------------------------------------------------ plan (plan.c) */

typedef struct zlgi_job zlgi_job;

/* One request's part of one object. */
typedef struct zlgi_record {
    uint32_t source; /* first request with the same source */
    uint32_t request;
    uint64_t object;         /* ordinal in the grid */
    int64_t first_id, n_ids; /* points */
} zlgi_record;

/*
 * Which objects a call touches, in order. A single box needs no records: object k is
 * computed from the touched chunks of each axis; nor does a single mask, with a list of
 * those in which it selects something. Otherwise records are sorted by object, and group k
 * is the records of object k.
 */
typedef struct zlgi_plan {
    zlgi_arena arena;
    zlgi_look look; /* at the caller of the job */
    const zlgi_request *requests;
    size_t n_requests;
    uint8_t *uses; /* of each request over its whole array: see zlgi_plan_use */
    size_t n_bytes_use;
    uint64_t n_objects;
    zlgi_touched touched[ZLG_MAX_RANK];
    const uint64_t *chosen;     /* a single mask: of the touched chunks; NULL: all */
    const zlgi_record *records; /* NULL for a single box or mask */
    zlgi_buf record_buf;        /* where they stand */
    const size_t *groups;       /* n_objects + 1 */
} zlgi_plan;

/* Packed at the size that the highest rank needs: a batch may have very many. */
static inline zlgi_use *zlgi_plan_use(const zlgi_plan *plan, size_t i_request)
{
    return (zlgi_use *)(void *)(plan->uses + i_request * plan->n_bytes_use);
}

typedef struct zlgi_planned {
    const zlgi_source *source;
    int64_t coordinates[ZLG_MAX_RANK];
    int64_t start[ZLG_MAX_RANK], shape[ZLG_MAX_RANK]; /* declared box of the object */
    const zlgi_record *records;
    size_t n_records;
} zlgi_planned;

/* CANCELLED when the caller of the job, which may be NULL, waits no longer. */
zlg_status zlgi_plan_make(zlgi_plan *plan, zlgi_job *job, const zlgi_alloc *alloc,
                          const zlgi_request *requests, size_t n, zlg_error *err);
void zlgi_plan_reset(zlgi_plan *plan);
void zlgi_plan_object(const zlgi_plan *plan, uint64_t k, zlgi_planned *out);

/* ------------------------------------------------------------------ lists of uses
 * Uses of one object (or piece), packed at the size their rank needs. */
typedef struct zlgi_uses {
    zlgi_buf *buf;
    size_t n;
    int rank;
} zlgi_uses;
static inline zlgi_use *zlgi_uses_at(const zlgi_uses *uses, size_t i)
{
    return (zlgi_use *)(void *)(uses->buf->data + i * zlgi_use_bytes(uses->rank));
}
/* Room for one more; fill it, then count it with uses->n++. */
zlg_status zlgi_uses_room(zlgi_uses *uses, zlgi_use **out, zlg_error *err);

/* ------------------------------------------------------------------ job (job.c) */

/* An object that several workers share while its blocks are read; closed with the job. */
typedef struct zlgi_shared {
    pthread_mutex_t lock;
    bool opened;
    zlg_status status; /* of opening and of the index */
    zlgi_object object;
    zlgi_block *index;
} zlgi_shared;

/* Where part i of n parts of a length begins. */
static inline uint64_t zlgi_part(uint64_t length, int i, int n)
{
    return length / (uint64_t)n * (uint64_t)i +
           length % (uint64_t)n * (uint64_t)i / (uint64_t)n;
}

typedef struct zlgi_worker zlgi_worker;
typedef struct zlgi_joint zlgi_joint;

struct zlgi_job {
    zlgi_engine *engine;
    const zlg_call *call;
    zlgi_plan plan;
    int n_blocks;        /* per object that is cut */
    zlgi_shared *shared; /* reads: n_objects of them when n_blocks > 1 */
    zlgi_joint *joint;   /* writes: likewise */
    zlgi_syncs *syncs;   /* writes that last: names still to be made lasting */
    pthread_t caller;
    uint64_t next;          /* task counter, atomic */
    uint64_t n_batch;       /* tasks taken at once */
    uint64_t n_all, n_done; /* bytes of results; n_done atomic */
    uint64_t deadline_ns, poll_ns;
    int stopped; /* atomic: cancelled or past the deadline */
    int failed;  /* atomic: the fields below hold */
    pthread_mutex_t lock;
    uint64_t failed_object, failed_piece;
    zlg_error error;
    zlg_stats stats;
    zlgi_view *taken;   /* encoded chunks, by point; data NULL: not stored. NULL: decode */
    zlgi_arena *keep;   /* variable length: one per worker */
    int n_keep, n_kept; /* n_kept atomic */
    void (*run_task)(zlgi_worker *worker, uint64_t object, int block);
};

/* NULL: what is decoded is placed as it is. */
static inline zlg_transform_fn zlgi_job_transform(const zlgi_job *job)
{
    return job->call ? job->call->transform : NULL;
}

/* What a read would do, noted instead of done (explain.c). */
typedef struct zlgi_trace_range {
    uint64_t offset, n_bytes, n_chunks;
} zlgi_trace_range;
typedef struct zlgi_trace {
    zlgi_buf ranges; /* of zlgi_trace_range */
    uint64_t n_chunks, n_direct, n_empty;
} zlgi_trace;
zlg_status zlgi_trace_add(zlgi_trace *trace, uint64_t offset, uint64_t n_bytes,
                          uint64_t n_chunks, zlg_error *err);

struct zlgi_worker {
    zlgi_job *job;
    zlgi_trace *trace; /* NULL: do it */
    zlgi_scratch *scratch;
    zlgi_arena *keep;
    zlg_stats stats;
    zlg_error error;     /* of the piece at hand */
    uint64_t object;     /* ordinal of the object at hand, for errors */
    uint64_t n_done;     /* not yet added to the job's */
    unsigned ticks;      /* since the task began */
    uint64_t n_requests; /* those of stats when a clock was last looked at */
    uint64_t reserved;   /* of the budget, for large buffers of the scratch */
    bool is_locked;      /* a transaction is open: the caller is not asked, who may write */
    bool is_holding;     /* these are in use from check to check: only a poll gives back */
    bool is_caller;
    /* Transforms: where in the array the box at hand begins, and which axis of the array
     * each of its axes is. */
    int64_t origin[ZLG_MAX_RANK];
    int axes[ZLG_MAX_RANK];
};

/* Runs the tasks of a planned job on the pool; reports the lowest failure. */
zlg_status zlgi_job_run(zlgi_job *job, int n_workers, zlg_error *err);
void zlgi_job_init(zlgi_job *job, zlgi_engine *engine, const zlg_call *call);
void zlgi_job_reset(zlgi_job *job);
int zlgi_job_threads(const zlgi_job *job);
/* hands.c: how many threads a planned read is worth; sets job->n_blocks. */
int zlgi_job_hands(zlgi_job *job);
/* True when the blocks of an object of this array are tasks of their own, not one. */
bool zlgi_job_cuts(const zlgi_job *job, const zlgi_source *source);
/* The same as zlgi_job_hands for a write. */
int zlgi_job_write_hands(zlgi_job *job);
/* The same before there are workers, on the thread of the caller: does it go on? */
bool zlgi_job_goes_on(zlgi_job *job);
/* Looks at cancel flag, deadline and poll; CANCELLED when the job must end. Cheap. */
zlg_status zlgi_worker_check(zlgi_worker *worker);
/* The same where there are many small steps. */
zlgi_look zlgi_worker_look(zlgi_worker *worker);
/* Before the buffers of a piece are taken: asks the budget for many bytes, which the worker
 * keeps, as it keeps the buffers, until others wait for them. Few bytes are not counted. */
void zlgi_worker_reserve(zlgi_worker *worker, uint64_t n_bytes);
/* Once everything is done: CANCELLED when the job was stopped, or its deadline passed. */
zlg_status zlgi_job_end(zlgi_job *job, zlg_error *err);
/* Ends the job: CANCELLED. */
void zlgi_job_stop(zlgi_job *job, const char *why);
/* Records worker->error for a piece of the object at hand. */
void zlgi_worker_fail(zlgi_worker *worker, zlg_status status, uint64_t piece);
/* False when a failure below makes the piece pointless. */
bool zlgi_worker_wants(const zlgi_worker *worker, uint64_t piece);

/* read.c: the uses of a planned object, in coordinates of its box. */
zlg_status zlgi_object_uses(const zlgi_plan *plan, const zlgi_planned *planned,
                            zlgi_uses *out, zlg_error *err);

/* read.c: runs what is planned. */
zlg_status zlgi_read_planned(zlgi_job *job, zlg_error *err);
/* read.c: views in C order to offsets and bytes in one block. */
zlg_status zlgi_join_views(zlgi_job *job, const zlgi_view *views, size_t n, zlg_varlen *out,
                           zlg_error *err);

/* ------------------------------------------------------------------ fetching (fetch.c) */

/* Bytes in a store: an open object, or memory, or a range of either. */
typedef struct zlgi_range {
    zlg_store *store;
    zlgi_object *object;   /* NULL: memory only */
    const uint8_t *memory; /* all of the range, when it is in memory */
    uint64_t offset;       /* in the object */
    uint64_t n_bytes;      /* ZLGI_SIZE_UNKNOWN: to the end */
    const char *key;       /* of the object */
    uint64_t hash;         /* of key */
} zlgi_range;

/* n bytes at `offset` of the range: in memory already, or read into buf. CORRUPT when the
 * object ends before. */
zlg_status zlgi_fetch(zlgi_worker *worker, const zlgi_range *range, uint64_t offset,
                      size_t n, zlgi_buf *buf, const uint8_t **out, zlg_error *err);
/* Straight into memory of the caller's. */
zlg_status zlgi_fetch_into(zlgi_worker *worker, const zlgi_range *range, uint64_t offset,
                           size_t n, uint8_t *into, zlg_error *err);
/* All of the range. `likely` is a guess at the size, to save a request. */
zlg_status zlgi_fetch_all(zlgi_worker *worker, const zlgi_range *range, size_t likely,
                          zlgi_buf *buf, zlgi_bytes *out, zlg_error *err);

/* The cost model of a store that answers a read in about two microseconds and then gives
 * ten bytes a nanosecond: a gap this large is cheaper to read than to skip, and a run
 * this large stays in the second-level cache. */
enum { ZLGI_GAP_BYTES = 16 * 1024, ZLGI_RUN_BYTES = 512 * 1024 };

/* ------------------------------------------------------------------ placing (placing.c) */

/* True when the caller may leave, so that nothing is put into their memory but in a few
 * elements at a time between these two: when the first says CANCELLED, nothing at all. */
bool zlgi_job_has_door(const zlgi_job *job);
zlg_status zlgi_placing_begin(zlgi_job *job);
void zlgi_placing_end(const zlgi_job *job);
/* Calls `place` for parts of the use that together are all of it, and looks around between
 * them. Counts what is done. */
typedef void (*zlgi_place_fn)(const void *context, const zlgi_use *use);
zlg_status zlgi_placing_use(zlgi_worker *worker, const zlgi_use *use, size_t item,
                            zlgi_place_fn place, const void *context);

/* ------------------------------------------------------------------ reading pieces */

/* unit.c: decodes the unit and places it for every use. */
zlg_status zlgi_unit_read(zlgi_worker *worker, const zlgi_source *source,
                          const zlgi_level *level, const int64_t *shape,
                          const zlgi_range *range, const zlgi_uses *uses, zlg_error *err);
/* transform.c: decodes the unit, shows it to the caller, and places what comes back. */
zlg_status zlgi_unit_transform(zlgi_worker *worker, const zlgi_source *source,
                               const zlgi_level *level, const zlgi_level_box *box,
                               const int64_t *shape, const zlgi_range *range,
                               const zlgi_uses *uses, zlg_error *err);
/* encoded.c: keeps what is stored for every point. */
zlg_status zlgi_encoded_take(zlgi_worker *worker, const zlgi_range *range,
                             const zlgi_uses *uses, zlg_error *err);
/* unit.c: a fill value for every use. */
zlg_status zlgi_unit_fill(zlgi_worker *worker, const zlgi_source *source,
                          const zlgi_fill *fill, const zlgi_uses *uses);
/* shard.c: the inner chunks that the uses touch: block i_block of n_blocks of them. index
 * may be given (shared by the blocks), else it is fetched. Failures are recorded by
 * piece. */
zlg_status zlgi_shard_read(zlgi_worker *worker, const zlgi_source *source,
                           const zlgi_level *level, const int64_t *shape,
                           const zlgi_range *range, const zlgi_uses *uses,
                           zlgi_block *index, int i_block, int n_blocks, zlg_error *err);
/* shard.c: fetches and decodes the index of a shard (range not wrapped), through the
 * cache. */
zlg_status zlgi_shard_index(zlgi_worker *worker, const zlgi_level *level,
                            const zlgi_level_box *box, const zlgi_range *range,
                            zlgi_block **out, zlg_error *err);

/* shard.c: puts an inner chunk in front of what went wrong with it. */
zlg_status zlgi_within_chunk(const zlgi_grid *grid, uint64_t chunk, zlg_status status,
                             zlg_error *err);
/* shard.c: the same of a shard in memory, into 2 * n_chunks numbers. */
zlg_status zlgi_shard_index_read(zlgi_worker *worker, const zlgi_level *level,
                                 const zlgi_level_box *box, const zlgi_range *range,
                                 uint64_t *out, zlg_error *err);

#endif
