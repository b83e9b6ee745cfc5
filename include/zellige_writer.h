/*
 * zellige_writer.h: an asynchronous writer. Fields are given to it as they come, in any
 * order; it returns as soon as it has them, encodes chunks on threads of its own, and
 * stores every object (chunk or shard) once, when all of it has been given.
 *
 *     zlg_writer *writer;
 *     int air;
 *     zlg_writer_open(ctx, NULL, &writer, &err);
 *     zlg_writer_add(writer, array, NULL, &air, &err);
 *     for (int64_t step = 0; step < n_steps; step++) {
 *         int64_t start[3] = {step, 0, 0}, count[3] = {1, n_lat, n_lon};
 *         zlg_submit part = {.array = air, .start = start, .count = count,
 *                            .source = {.data = compute(step)}};
 *         zlg_writer_submit(writer, &part, 1, NULL, NULL, &err);
 *     }
 *     zlg_writer_close(writer, NULL, &err);       is all of it stored?
 *     zlg_writer_free(writer);
 *
 * Caveats first
 * -------------
 * - What has been given is stored when `flush` or `close` has returned ZLG_OK; a ticket
 *   tells of a single submit. Neither ever says so of data that is not stored.
 * - An object of which a part has not been given waits until flush or close. Flush stores
 *   it as it is, or keeps it elsewhere until it is full (zlg_partial).
 * - Arrays are written as their handles saw them when they were added; what lies beyond
 *   that shape is refused, but for arrays that grow (zlg_writer_append).
 * - An element given twice holds what was submitted last.
 * - Elements of a fixed size only; ZLG_UNSUPPORTED for others.
 *
 * Resuming: a writer that is opened with a journal notes there which objects it has
 * stored, each when all of it was. After a kill or an abort the same program is run again,
 * with the same journal and in as many processes as it likes, and gives all its data again:
 * what is for objects that earlier writers have stored is dropped, and its tickets are
 * STORED at once; zlg_writer_is_stored tells beforehand. A close that succeeds removes the
 * journal, unless other writers with the same one are at work, or have died and were not
 * resumed: what it has stored stays known until the last of them closes. So let all
 * processes open their writers before one closes: who comes later finds no journal.
 * - The folder is made when it is missing, what it lies in must be there. Put it beside
 *   the root of a store, not into it: there it would be taken for a node.
 * - A journal is for arrays of one store, which it knows by their paths: all open the same
 *   root. What was stored, or kept, before an array was created anew, or with another
 *   promise, counts for nothing; nor does an object that was removed since. An array of
 *   files is known by its folder too: a copy is another one, other attributes are not. The
 *   root keeps its folder when it is written over, which is noted in an extended attribute
 *   of that; where the file system has none, remove the journal then. What was stored as
 *   ZLG_VISIBLE counts on this machine, until it is started anew.
 * - Objects of which a part is missing at flush are not noted: their data is taken again.
 *   With ZLG_EXISTING_REFUSE they are ZLG_EXISTS then, like one that was stored in the
 *   moment of the kill.
 * - Claims hold among all writers with the same journal, in all processes, while these
 *   are alive. A child of a fork that outlives its parent makes its writer seem alive.
 * - Arrays that grow are not in it: their shape tells how many rows there are.
 *
 * Keeping what is partial: with ZLG_PARTIAL_KEEP an object is stored once, when all of it
 * has been given, whatever is flushed before; readers see it then, or when the writer is
 * closed, which stores all there is. Until then a flush puts its chunks into a file in the
 * folder of the journal, and returns when that holds what the promise says: after a kill
 * (ZLG_VISIBLE), or a power loss (ZLG_DURABLE). Tickets of such data are STORED.
 * - Whoever opens a writer with the journal again need not give it: it counts as given. The
 *   process that is first to give more of an object has it; what no process touched is
 *   stored by the one that closes last. zlg_writer_is_stored tells of whole chunks that
 *   were kept. An array of which something was kept and that was not added makes the last
 *   close ZLG_USAGE.
 * - Processes that give parts of one object keep them apart; when they close all land, as
 *   without it.
 * - A file that is damaged is ZLG_CORRUPT, which names it, array and object: when a writer
 *   is opened, or more of the object comes, or at the last close. It is never data.
 * - An object that is full and cannot be stored is in memory, and what was kept of it
 *   before stays kept. After an abort all that was kept stays.
 * - An array that grows is stored at flush as ever: its readers follow the rows.
 * - With ZLG_EXISTING_REFUSE the first flush of an object looks whether it is there.
 * - A file is written anew when more than half of it does not count any more.
 *
 * Threads: a writer may be used from many at once, but freed by one; submits take effect
 * one after the other. Functions of the caller's run on any thread and must not use the
 * writer. After fork a child can only free it: all else is ZLG_USAGE there.
 */
#ifndef ZELLIGE_WRITER_H
#define ZELLIGE_WRITER_H

#include "zellige.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct zlg_writer zlg_writer;

/* What is done with an object that was stored before this writer touched it. What it has
 * stored itself it always changes, and never loses. */
typedef enum zlg_existing {
    ZLG_EXISTING_MERGE = 0,  /* whole objects replace it; of others the chunks that were  */
                             /* given are put in, the rest stays                          */
    ZLG_EXISTING_REPLACE,    /* nothing of it stays: what is not given is the fill value  */
    ZLG_EXISTING_REFUSE,     /* nothing is changed: the object fails with ZLG_EXISTS      */
    ZLG_EXISTING_SKIP_EQUAL  /* as MERGE, but an object of the same bytes is left alone   */
} zlg_existing;

/* What a flush does with objects of which a part has not been given. */
typedef enum zlg_partial {
    ZLG_PARTIAL_PUBLISH = 0, /* stores them, and stores them anew as more of them comes   */
    ZLG_PARTIAL_KEEP         /* keeps their chunks in files beside the journal: see above */
} zlg_partial;

typedef struct zlg_writer_options {
    size_t n_bytes_struct;
    int64_t memory_budget; /* bytes for all that was given and is not stored, and for     */
                           /* encoding; 0: 160 MiB, or more if the arrays need more to    */
                           /* work at all; else adding one that does is ZLG_LIMIT         */
    int n_threads;         /* of its own; 0: as many as the context has                   */
    zlg_promise promise;   /* what "stored" means; default: that of each array            */
    zlg_existing existing;
    int keep_empty;              /* as in zlg_call                                        */
    zlg_inner_order inner_order; /* as in zlg_call: stored bytes do not depend on the     */
                                 /* order in which data came                              */
    const char *side_directory;  /* where chunks go that the budget cannot hold, in a file*/
                                 /* without a name. NULL: the directory of a store of     */
                                 /* files, or the journal with ZLG_PARTIAL_KEEP; else     */
                                 /* none: then a submit waits for a flush, or is          */
                                 /* ZLG_LIMIT; that it is, too, when such a file takes no */
                                 /* more                                                  */
    const char *journal;         /* a folder: see "Resuming"; NULL: none                  */
    zlg_partial partial;         /* KEEP needs a journal, else ZLG_USAGE                  */
} zlg_writer_options;

#define ZLG_WRITER_OPTIONS_INIT {.n_bytes_struct = sizeof(zlg_writer_options)}

/* No thread is started before the first submit. */
ZLG_API ZLG_MUST_USE zlg_status zlg_writer_open(zlg_ctx *ctx,
                                                const zlg_writer_options *options,
                                                zlg_writer **out, zlg_error *err);
/*
 * Adds an array of the same context, which the caller may close at once, and gives the
 * number by which it is known here. Stores nothing and reads nothing.
 *
 * claim: a box of the array that this writer alone will write: what lies outside it is
 * refused, and a claim that shares an object with one of another writer of the same context
 * is ZLG_EXISTS, until that one is closed. NULL: none. Writers without claims that write
 * parts of one object all land (see zellige.h, "Writing"), unless they replace.
 */
typedef struct zlg_claim {
    const int64_t *start, *count; /* in elements, one for each axis; NULL: all of it      */
} zlg_claim;
ZLG_API ZLG_MUST_USE zlg_status zlg_writer_add(zlg_writer *writer, zlg_array *array,
                                               const zlg_claim *claim, int *out,
                                               zlg_error *err);

/* What stands for a window of elements: see zlg_writer_add_coarser. */
typedef enum zlg_reduce {
    ZLG_REDUCE_MEAN = 0, /* integers, bools and times: the exact mean, rounded to the     */
                         /* nearest, halves to even; floats: summed in double, in C       */
                         /* order, rounded once; complex: by parts                        */
    ZLG_REDUCE_MIN,      /* of numbers and times                                          */
    ZLG_REDUCE_MAX,      /* NaN and NaT win, here and in means                            */
    ZLG_REDUCE_DECIMATE  /* the first of the window; elements of any type                 */
} zlg_reduce;

/*
 * A level of a pyramid: from now on every submit and append to `fine` also gives its
 * reduction to `coarse`, which may have a coarser one itself. Both are arrays of this
 * writer, of the same data type; factors: for each axis how many elements become one, and
 * the shape of the coarse array is that of the fine one, divided and rounded up. An array
 * is given to by one finer array at most.
 *
 * What is submitted must consist of whole windows: its start is a multiple of the factor
 * on each axis, and so is its end, or it is that of the array, where windows are cut short.
 * Rows that are appended are a multiple of the factor of their axis. Else ZLG_USAGE, and
 * nothing is taken. At most 2^31 elements to a window.
 */
ZLG_API ZLG_MUST_USE zlg_status zlg_writer_add_coarser(zlg_writer *writer, int fine,
                                                       int coarse, const int64_t *factors,
                                                       zlg_reduce how, zlg_error *err);

/* A submit, by number; 0 is none. */
typedef uint64_t zlg_ticket;

typedef struct zlg_submit {
    int array;             /* as zlg_writer_add gave it                                   */
    const int64_t *start;  /* of the box that is written, in elements; rank of them       */
    const int64_t *count;
    zlg_source source;     /* of the box                                                  */
    int borrow;            /* 0: copied before submit returns. 1: read by the writer until*/
                           /* the ticket is taken; must not change so long                */
    void (*release)(void *user); /* borrow: called when that is over, whatever became of  */
                           /* it, also when submit fails; or NULL                         */
    void *user;
} zlg_submit;

/*
 * Gives n parts to the writer. All are looked at before any is taken: a refused call
 * changes nothing. ZLG_RANGE outside the array or the claim; the error of an array that
 * has failed (see flush), which names it: submits to others go on. An array that fails
 * while a submit is at work takes the rest of it all the same.
 *
 * While the budget is full this waits, with the deadline, poll and cancel of the call
 * (NULL: without an end). call->deadline_ms < 0: does not wait, ZLG_LIMIT instead.
 * Without a deadline, or when it is larger than the budget, data is taken piece by piece:
 * when that is stopped, or there is no memory or nothing can be moved out (ZLG_LIMIT), a
 * part of it is taken and no ticket given. out may be NULL.
 */
ZLG_API ZLG_MUST_USE zlg_status zlg_writer_submit(zlg_writer *writer,
                                                  const zlg_submit *parts, size_t n,
                                                  const zlg_call *call, zlg_ticket *out,
                                                  zlg_error *err);

/*
 * Adds n rows to the end of an array along an axis, which must be the same in all appends.
 * The source has the shape of the array with n on that axis, and is copied. The document
 * gets the new shape only when all rows below it are stored: a reader sees whole rows, and
 * never one that is missing. That is when objects become full, and at flush. With half of
 * the memory for data in use, an append that may wait for ever waits until about as much is
 * encoded as it brings, so that none has to wait long when all is in use. *out_first:
 * the number of the first of the rows; may be NULL. One writer appends at a time: others,
 * of other processes on the machine too, are ZLG_EXISTS at their first append, and so is,
 * until this one is closed, whatever else changes the shape or removes the array. (A first
 * append while such a call is at work is ZLG_EXISTS too, and may be tried again.) Rows
 * that another program appends meanwhile stay as they are, and ZLG_EXISTS says so at the
 * next time that something is stored.
 */
ZLG_API ZLG_MUST_USE zlg_status zlg_writer_append(zlg_writer *writer, int array, int axis,
                                                  int64_t n, const zlg_source *source,
                                                  const zlg_call *call, int64_t *out_first,
                                                  zlg_ticket *out, zlg_error *err);

typedef enum zlg_ticket_state {
    ZLG_TICKET_PENDING = 0, /* memory of the caller may still be in use                   */
    ZLG_TICKET_TAKEN = 1,   /* it is not any more                                         */
    ZLG_TICKET_STORED = 2,  /* and all of it is stored, or kept: see zlg_partial          */
    ZLG_TICKET_FAILED = 3   /* an object of it failed, and is still not stored            */
} zlg_ticket_state;

ZLG_API ZLG_MUST_USE zlg_status zlg_writer_poll(zlg_writer *writer, zlg_ticket ticket,
                                                zlg_ticket_state *out, zlg_error *err);
/* Until a ticket is TAKEN or STORED. STORED may need a flush by somebody else. A failed
 * object is its error. */
ZLG_API ZLG_MUST_USE zlg_status zlg_writer_wait(zlg_writer *writer, zlg_ticket ticket,
                                                zlg_ticket_state state,
                                                const zlg_call *call, zlg_error *err);
/* Until nothing is left to do but wait for more: all full objects are stored, and what
 * failed was tried again. The error of one that failed. */
ZLG_API ZLG_MUST_USE zlg_status zlg_writer_drain(zlg_writer *writer, const zlg_call *call,
                                                 zlg_error *err);
/*
 * Stores (or keeps) all that was given before, also objects of which a part is missing, and
 * tries again what failed. An object that cannot be stored keeps its data, and stops
 * submits to its array; the error names array and chunk, and stays, here and in close,
 * until a flush has stored it. What can be stored is, whatever else fails. After a deadline
 * (CANCELLED) the rest is still on its way. Its poll is told how many bytes that were given
 * are stored, of those that were not when it began.
 */
ZLG_API ZLG_MUST_USE zlg_status zlg_writer_flush(zlg_writer *writer, const zlg_call *call,
                                                 zlg_error *err);
/* Flush, and no more submits; no thread of the writer is left then, but after a deadline
 * (CANCELLED), when the rest is still on its way. Again after a failure: tries again. Again
 * after success: ZLG_OK. */
ZLG_API ZLG_MUST_USE zlg_status zlg_writer_close(zlg_writer *writer, const zlg_call *call,
                                                 zlg_error *err);
/* Gives up what is not stored; what is being stored is finished, and what was kept stays
 * for those who come with the journal. Every later submit, flush and close is
 * ZLG_CANCELLED. */
ZLG_API void zlg_writer_abort(zlg_writer *writer);
/* Takes NULL. Aborts what was not closed. */
ZLG_API void zlg_writer_free(zlg_writer *writer);

/* Is every object that a box of an array touches, and every one of coarser arrays that it
 * is reduced to, noted in the journal as stored, or is each of its chunks in the box kept
 * whole? 0 without a journal, and of arrays that grow. May look into the store. */
ZLG_API ZLG_MUST_USE zlg_status zlg_writer_is_stored(zlg_writer *writer, int array,
                                                     const int64_t *start,
                                                     const int64_t *count, int *out,
                                                     zlg_error *err);

typedef struct zlg_writer_counts {
    size_t n_bytes_struct;
    uint64_t n_submitted;       /* submits                                                */
    uint64_t n_bytes_submitted; /* elements given                                         */
    uint64_t n_bytes_queued;    /* of these, not stored yet                               */
    uint64_t n_bytes_live;      /* memory held now; what the budget bounds                */
    uint64_t n_bytes_peak;      /* the most there was                                     */
    uint64_t n_bytes_budget;
    uint64_t n_open;            /* objects held that are not stored                       */
    uint64_t n_failed;          /* of these, failed                                       */
    uint64_t n_stored;          /* objects stored, also the empty ones that are left out  */
    uint64_t n_partial;         /* of these, with a part missing                          */
    uint64_t n_skipped;         /* left alone: they were equal                            */
    uint64_t n_retried;
    uint64_t n_bytes_stored;
    uint64_t n_opened;          /* objects of the store opened to read                    */
    uint64_t n_spilled;         /* chunks moved to the side file                          */
    uint64_t n_bytes_spilled;
    uint64_t n_unspilled;       /* and read back, also those that were kept               */
    uint64_t n_shapes;          /* documents written as arrays grew                       */
    uint64_t ns_waited;         /* that submits waited for memory                         */
    uint64_t n_resumed;         /* objects for which data came that an earlier writer had */
                                /* stored                                                 */
    uint64_t n_bytes_resumed;   /* of that data, dropped                                  */
    uint64_t n_kept;            /* chunks that were put into files beside the journal     */
    uint64_t n_bytes_kept;
} zlg_writer_counts;

#define ZLG_WRITER_COUNTS_INIT {.n_bytes_struct = sizeof(zlg_writer_counts)}

ZLG_API ZLG_MUST_USE zlg_status zlg_writer_count(zlg_writer *writer, zlg_writer_counts *out,
                                                 zlg_error *err);
/* Memory in bytes for what was added: the least with which it works (the largest object in
 * its stored form, and a chunk for each thread), and what lets one object of each array
 * fill without the side file. Upper bounds; encoded data is often smaller. */
ZLG_API ZLG_MUST_USE zlg_status zlg_writer_estimate(zlg_writer *writer, uint64_t *out_least,
                                                    uint64_t *out_usual, zlg_error *err);

#ifdef __cplusplus
}
#endif
#endif
