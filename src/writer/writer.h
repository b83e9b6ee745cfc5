/*
 * writer: the asynchronous writer of zellige_writer.h. Knows arrays, the engine and stores;
 * nothing of the library knows it. docs/design/writer.md has the picture.
 *
 * One lock, that of the writer, is for all that follows. Functions here are called with it
 * held unless they say otherwise; where elements or the store are touched it is given up
 * for so long, and what is touched is marked busy.
 */
#ifndef ZLGI_WRITER_H
#define ZLGI_WRITER_H

#include "core/core.h"
#include "writer/journal.h"
#include "writer/pyramid.h"
#include "zellige_writer.h"

typedef struct zlgi_fed zlgi_fed;       /* an array that is written */
typedef struct zlgi_held zlgi_held;     /* an object of it that was touched */
typedef struct zlgi_cell zlgi_cell;     /* an innermost chunk of that */
typedef struct zlgi_ticket zlgi_ticket; /* a submit */

/* ------------------------------------------------------------------ given (given.c)
 * Which part of a cell was given. `shape` is that of the cell. Needs no lock. */
typedef enum zlgi_given_kind {
    ZLGI_GIVEN_NOTHING = 0,
    ZLGI_GIVEN_BOX, /* data: start, then count, of each axis */
    ZLGI_GIVEN_BITS /* data: one bit for each element, in C order */
} zlgi_given_kind;
typedef struct zlgi_given {
    zlgi_given_kind kind;
    uint64_t n; /* elements */
    void *data;
    size_t n_bytes;
} zlgi_given;
typedef struct zlgi_box {
    int rank;
    const int64_t *start, *count;
} zlgi_box;
uint64_t zlgi_box_elements(const zlgi_box *box);
zlg_status zlgi_given_add(zlgi_given *given, const zlgi_alloc *alloc, const int64_t *shape,
                          const zlgi_box *box, zlg_error *err);
void zlgi_given_reset(zlgi_given *given, const zlgi_alloc *alloc);
/* Puts a value where nothing was given. */
void zlgi_given_fill_rest(const zlgi_given *given, int rank, const int64_t *shape,
                          uint8_t *elements, const uint8_t *value, size_t item);
/* Calls each for boxes that hold what was given, once. */
typedef zlg_status (*zlgi_box_fn)(void *user, const zlgi_box *box, zlg_error *err);
zlg_status zlgi_given_boxes(const zlgi_given *given, int rank, const int64_t *shape,
                            zlgi_box_fn each, void *user, zlg_error *err);

/* ------------------------------------------------------------------ room (room.c)
 * The budget. Blocks are given back to a list from which they are taken again: fresh pages
 * cost as much as copying into them. */
typedef struct zlgi_room {
    uint64_t budget, base; /* base: what the threads need to work */
    uint64_t live;         /* base included */
    uint64_t working;      /* of the base: blocks that threads work with */
    uint64_t peak;         /* of what there really is */
    uint64_t aside;        /* for what is about to be read back */
    uint64_t kept;         /* of blocks that wait to be taken again: not live */
    void *blocks;
    int n_waiting; /* for room */
    uint64_t wanted;
    bool is_stuck; /* nothing that is held can be let go */
} zlgi_room;
/* Beside what is live or set aside. */
bool zlgi_room_has(const zlg_writer *writer, uint64_t n_bytes);
void zlgi_room_charge(zlg_writer *writer, uint64_t n_bytes);
/* What was set aside is used, or not needed any more. */
void zlgi_room_use(zlg_writer *writer, uint64_t *aside, uint64_t n_bytes);
void zlgi_room_release(zlg_writer *writer, uint64_t n_bytes);
/* Charged, also beyond the budget; NULL when memory is short. */
void *zlgi_room_take(zlg_writer *writer, size_t n_bytes);
void zlgi_room_give(zlg_writer *writer, void *block, size_t n_bytes);
/* A block and its end, charged for elsewhere. */
void *zlgi_room_block(zlg_writer *writer, size_t n_bytes);
void zlgi_room_unblock(zlg_writer *writer, void *block, size_t n_bytes);
/* The same of what a thread works with, which is what the base is for. Kept: it is charged
 * from now on. */
void *zlgi_room_work(zlg_writer *writer, size_t n_bytes);
void zlgi_room_work_kept(zlg_writer *writer, size_t n_bytes);
void zlgi_room_work_done(zlg_writer *writer, void *block, size_t n_bytes);
/* What there really is. */
uint64_t zlgi_room_used(const zlg_writer *writer);
void zlgi_room_reset(zlg_writer *writer);

/* ------------------------------------------------------------------ cells (cell.c) */
typedef enum zlgi_cell_state {
    ZLGI_CELL_EMPTY = 0,
    ZLGI_CELL_FILLING, /* elements, some of them given */
    ZLGI_CELL_FULL,    /* all of those that lie inside the array */
    ZLGI_CELL_ENCODED,
    ZLGI_CELL_STORED /* by this writer; not here any more */
} zlgi_cell_state;

/* Elements that are borrowed, of which a piece goes to a cell. */
typedef struct zlgi_loan {
    zlgi_ticket *ticket;
    struct zlgi_lender *lender;
    struct zlgi_loan *next;
    const uint8_t *data;
    bool swapped;
    int rank;
    int64_t numbers[]; /* start and count in the cell, and strides in bytes: 3 x rank */
} zlgi_loan;

static inline size_t zlgi_loan_bytes(int rank)
{
    return offsetof(zlgi_loan, numbers) + 3 * (size_t)rank * sizeof(int64_t);
}

/* A part of a submit whose memory is borrowed. */
typedef struct zlgi_lender {
    size_t n_loans; /* not yet copied, and 1 while submit lasts */
    void (*release)(void *user);
    void *user;
} zlgi_lender;

struct zlgi_cell {
    zlgi_held *held;
    zlgi_cell *next; /* in the queue */
    zlgi_cell_state state;
    bool is_queued, is_busy;
    bool is_spilled; /* its bytes lie in the side file, or in a kept one */
    bool is_staged;  /* or in the file of its object */
    bool is_absent;  /* encoded: it need not be stored */
    bool is_clean;   /* filling: what was given is stored */
    uint8_t *data;   /* elements in C order, native byte order; or encoded */
    size_t n_bytes;
    size_t n_charged; /* of them: what comes row by row is charged as it comes */
    size_t
        n_reserved; /* charged without a block: borrowed elements are encoded from there */
    uint64_t side_at;
    zlgi_kept_file *kept; /* what it holds is there too, at side_at */
    zlgi_given given;
    zlgi_loan *first_loan, *last_loan;
};

/* Shape and place of a cell in its array, and how much of it lies inside. */
typedef struct zlgi_cell_box {
    int64_t start[ZLG_MAX_RANK], shape[ZLG_MAX_RANK], inside[ZLG_MAX_RANK];
    uint64_t n_inside; /* elements */
    size_t n_bytes;    /* of all of it */
} zlgi_cell_box;
void zlgi_cell_locate(const zlgi_cell *cell, zlgi_cell_box *out);
/* Lets the memory of a cell go, wherever it is; not what was given. */
void zlgi_cell_drop(zlg_writer *writer, zlgi_cell *cell);
/* Into the queue of cells that have loans or are full. */
void zlgi_cell_queue(zlg_writer *writer, zlgi_cell *cell);
/* In somebody's hands, or not any more; then its object may be ready. */
void zlgi_cell_busy(zlgi_cell *cell, bool is_busy);
/* Gives the block of a cell back. */
void zlgi_cell_free_block(zlg_writer *writer, zlgi_cell *cell);
/* The first n bytes of its block are in use. */
void zlgi_cell_charge(zlg_writer *writer, zlgi_cell *cell, size_t n_bytes);
/* So much of a block is in use with a piece: as far as its last element lies, or all when
 * the cell is full then, since the rest becomes the fill value. */
size_t zlgi_cell_extent(const zlgi_cell *cell, const zlgi_cell_box *box,
                        const zlgi_box *piece);
/* Makes a cell ready to be given a piece, for which there is room. lent: it is encoded from
 * where it lies, so that no block is needed. The lock may be given up meanwhile: the cell
 * is busy then. */
zlg_status zlgi_cell_prepare(zlg_writer *writer, zlgi_cell *cell, const zlgi_cell_box *box,
                             const zlgi_box *piece, bool lent, zlg_error *err);
/* Copies a piece into a cell that is busy. Without the lock. */
void zlgi_cell_copy(const zlgi_cell *cell, const zlgi_cell_box *box, const zlgi_box *piece,
                    const uint8_t *data, const int64_t *strides, bool swapped);
/* Notes a piece that was copied: is all of it given? */
zlg_status zlgi_cell_note(zlg_writer *writer, zlgi_cell *cell, const zlgi_cell_box *box,
                          const zlgi_box *piece, zlg_error *err);
/* Memory of what part of it was given, in bits. */
size_t zlgi_cell_given_bytes(const zlgi_cell *cell);
/* Nothing was given to it. */
void zlgi_cell_forget(zlg_writer *writer, zlgi_cell *cell);
/* What a thread of the writer does with a cell from the queue. */
void zlgi_cell_work(zlg_writer *writer, zlgi_cell *cell, zlgi_scratch *scratch);
/* Elements of a cell as a block that is not charged. Without the lock. */
typedef struct zlgi_encoded {
    const uint8_t *data; /* NULL: it need not be stored */
    size_t n_bytes;
    bool is_same; /* it is the elements themselves, no block */
} zlgi_encoded;
typedef struct zlgi_elements {
    const uint8_t *data;
    const int64_t *strides; /* bytes; NULL: C order */
    bool swapped;
} zlgi_elements;
zlg_status zlgi_cell_encode(zlg_writer *writer, const zlgi_fed *fed,
                            const zlgi_cell_box *box, const zlgi_elements *elements,
                            zlgi_scratch *scratch, zlgi_encoded *out, zlg_error *err);

/* When chunks go to the file that becomes their object (stage.c). */
typedef enum zlgi_staging {
    ZLGI_STAGED_NOT = 0,
    ZLGI_STAGED_PLACED, /* each when it is full */
    ZLGI_STAGED_ORDERED /* one after the other, when the last is encoded */
} zlgi_staging;

/* ------------------------------------------------------------------ objects (held.c) */
typedef enum zlgi_held_state {
    ZLGI_HELD_OPEN = 0,
    ZLGI_HELD_READY, /* in the queue of those to be stored */
    ZLGI_HELD_STORING,
    ZLGI_HELD_FAILED,
    ZLGI_HELD_DONE /* stored by us: the record says so, and holds nothing else */
} zlgi_held_state;
/* What was there when an object was to be created. */
typedef enum zlgi_found {
    ZLGI_FOUND_NOTHING = 0,
    ZLGI_FOUND_OTHERS,  /* what somebody else may have put there */
    ZLGI_FOUND_LEFTOVER /* of an append that was killed, or broken */
} zlgi_found;

struct zlgi_held {
    zlgi_fed *fed;
    zlgi_held *same_hash, *next_ready;
    zlgi_held_state state;
    bool is_mine;               /* stored by us */
    bool is_counted;            /* among the stored objects of its slab */
    bool is_wanted;             /* by a flush: also when a part is missing */
    uint64_t n_cells, n_inside; /* those that lie inside the array */
    uint64_t n_done;            /* encoded or stored */
    uint64_t n_busy;            /* queued, or in somebody's hands */
    uint64_t n_dirty;           /* of which something is not stored */
    uint64_t n_kept;            /* of these, those that a file keeps */
    uint64_t n_bytes;           /* in memory */
    uint64_t n_bytes_given;     /* and not stored */
    int64_t cell_grid[ZLG_MAX_RANK];
    zlgi_found found;
    bool in_one_go;  /* its file cannot become it */
    bool has_file;   /* see stage.c */
    bool is_writing; /* to it */
    int file;
    uint64_t n_staged; /* cells in it */
    uint64_t *places;
    zlgi_kept_file *kept; /* files that keep cells of it: one, after a flush */
    zlgi_ticket **tickets;
    size_t n_tickets, n_tickets_room;
    zlgi_cell *cells; /* NULL: done */
    int64_t coordinates[];
};
/* NULL: not touched. */
zlgi_held *zlgi_held_find(zlgi_fed *fed, const int64_t *coordinates);
zlg_status zlgi_held_get(zlg_writer *writer, zlgi_fed *fed, const int64_t *coordinates,
                         zlgi_held **out, zlg_error *err);
/* Into the queue, when it is time. After every change of n_busy, n_done or is_wanted. */
void zlgi_held_settle(zlg_writer *writer, zlgi_held *held);
/* Stored soon, also when a part is missing. */
void zlgi_held_want(zlg_writer *writer, zlgi_held *held);
void zlgi_held_fail(zlg_writer *writer, zlgi_held *held, const zlg_error *error);
/* Stored: cells, tickets and counts. May free it. */
void zlgi_held_stored(zlg_writer *writer, zlgi_held *held);
/* All that was given is in files that keep it. */
void zlgi_held_kept(zlg_writer *writer, zlgi_held *held);
void zlgi_held_free(zlg_writer *writer, zlgi_held *held);
/* put.c: is there room for what it has in the side file, or will there be? */
bool zlgi_held_may_put(const zlg_writer *writer, const zlgi_held *held);
/* Stores what is held; the lock is given up meanwhile. *out_again: it was not, and is to be
 * put in another way, when there is room for that. */
zlg_status zlgi_held_put(zlg_writer *writer, zlgi_held *held, zlgi_scratch *scratch,
                         bool *out_again, zlg_error *err);

/* ------------------------------------------------------------------ tickets (ticket.c) */
struct zlgi_ticket {
    zlg_ticket number;
    zlgi_ticket *same_hash;
    size_t n_loans;         /* pieces not yet taken */
    size_t n_held;          /* objects not yet stored */
    size_t n_failed;        /* of these */
    const zlgi_fed *failed; /* the array of one */
    bool is_open;           /* submit has not returned */
};
zlg_status zlgi_ticket_new(zlg_writer *writer, zlgi_ticket **out, zlg_error *err);
zlgi_ticket *zlgi_ticket_find(const zlg_writer *writer, zlg_ticket number);
/* Frees it when nothing is left of it to wait for. */
void zlgi_ticket_settle(zlg_writer *writer, zlgi_ticket *ticket);
void zlgi_tickets_free(zlg_writer *writer);
zlg_status zlgi_held_note_ticket(zlg_writer *writer, zlgi_held *held, zlgi_ticket *ticket,
                                 zlg_error *err);
/* The end of a loan; its lender's release is called with the lock given up. */
void zlgi_loan_end(zlg_writer *writer, zlgi_loan *loan);
void zlgi_lender_end(zlg_writer *writer, zlgi_lender *lender);

/* ------------------------------------------------------------------ side file (side.c) */
typedef struct zlgi_side {
    int fd; /* -1: not open */
    uint64_t end;
    uint64_t n_cells; /* that lie in it */
    bool has_failed;  /* it took nothing the last time, and why */
    zlg_error error;
} zlgi_side;
/* Makes the file, once, in a directory. */
zlg_status zlgi_side_open(zlg_writer *writer, const char *directory, zlg_error *err);
/* Lets about so many bytes go to the side file, but none of `except` (or NULL). False when
 * nothing could be. */
bool zlgi_side_spill(zlg_writer *writer, uint64_t n_bytes, const zlgi_held *except);
/* Moves one cell out that nobody else has in hand. False: it could not be. */
bool zlgi_side_move(zlg_writer *writer, zlgi_cell *cell);
/* Back into memory, for which room is made, or was set aside: NULL, or so many bytes, which
 * are less then. The cell is busy. */
zlg_status zlgi_side_load(zlg_writer *writer, zlgi_cell *cell, uint64_t *aside,
                          zlg_error *err);
/* The bytes of a cell that lie in a file, and the bits of what was given, or NULL. Without
 * the lock. */
zlg_status zlgi_side_read(const zlg_writer *writer, const zlgi_cell *cell, uint8_t *data,
                          uint8_t *bits, zlg_error *err);
void zlgi_side_forget(zlg_writer *writer, zlgi_cell *cell);
void zlgi_side_close(zlg_writer *writer);

/* ------------------------------------------------------------------ keeping (kept.c) */
/* Does a flush keep an object beside the store as it is now? */
bool zlgi_kept_suits(const zlg_writer *writer, const zlgi_held *held);
/* Puts what is not kept yet into the file of an object that is STORING. The lock is given
 * up. */
zlg_status zlgi_kept_put(zlg_writer *writer, zlgi_held *held, zlg_error *err);
/* It is stored: its files go. The lock is given up. */
zlg_status zlgi_kept_end(zlg_writer *writer, zlgi_held *held, zlg_error *err);
/* What a cell holds is about to change; it is in memory. */
void zlgi_kept_forget(zlgi_cell *cell);
/* As zlgi_side_read, of a cell that is kept. */
zlg_status zlgi_kept_read_cell(const zlg_writer *writer, const zlgi_cell *cell,
                               uint8_t *data, uint8_t *bits, zlg_error *err);
/* Are all cells of an object that a box touches encoded, and kept? */
zlg_status zlgi_kept_has(const zlg_writer *writer, zlgi_fed *fed,
                         const int64_t *coordinates, const int64_t *start,
                         const int64_t *count, bool *out, zlg_error *err);
/* The object and the file are named in an error of them. */
zlg_status zlgi_kept_within(const zlg_writer *writer, const zlgi_fed *fed,
                            const int64_t *coordinates, const zlgi_kept_file *file,
                            zlg_status status, zlg_error *err);

/* --------------------------------------------------------- taking over (kept_take.c) */
/* What dead writers kept of an object becomes this one's. In the turn of a submit; the lock
 * may be given up. */
zlg_status zlgi_kept_take(zlg_writer *writer, zlgi_fed *fed, const int64_t *coordinates,
                          zlg_error *err);
/* The same of all objects. */
zlg_status zlgi_kept_take_rest(zlg_writer *writer, zlg_error *err);

/* ------------------------------------------------------------------ staging (stage.c) */
/* Do objects of this array get files that are filled chunk by chunk? */
zlgi_staging zlgi_stage_suits(const zlg_writer *writer, const zlgi_fed *fed);
/* Moves an encoded cell that is busy to its place, if it has one from the beginning. */
void zlgi_stage_cell(zlg_writer *writer, zlgi_cell *cell);
/* Moves all cells of an object that is full and being stored. False: not all, or they are
 * better put in one go. */
bool zlgi_stage_in_order(zlg_writer *writer, zlgi_held *held);
bool zlgi_stage_is_whole(const zlgi_held *held);
/* Stores an object that is whole. Without the lock. */
zlg_status zlgi_stage_put(const zlgi_held *held, zlgi_scratch *scratch, zlgi_change change,
                          uint64_t *out_n_bytes, zlg_error *err);
void zlgi_stage_end(zlg_writer *writer, zlgi_held *held);

/* ------------------------------------------------------------------ growth (grow.c)
 * A slab is the objects that lie side by side at one place of the growing axis. */
typedef struct zlgi_growth {
    int axis;          /* -1: it does not grow */
    int64_t first;     /* length when it was added */
    int64_t published; /* in the document */
    int64_t stating;   /* and what was last written there, or just is */
    int64_t next;      /* row */
    int64_t taken;     /* rows of appends that have returned */
    int64_t flushed;   /* rows that a flush has stored */
    int64_t slab;      /* the first that is not stored whole */
    int64_t asked;     /* slabs below it were asked to be stored */
    uint64_t n_others; /* objects in a slab */
    zlgi_buf stored;   /* uint64_t: how many of them are stored, from `slab` */
    bool is_publishing, has_failed;
    zlgi_hold hold; /* of the end of the array */
} zlgi_growth;
zlg_status zlgi_grow_start(zlg_writer *writer, zlgi_fed *fed, int axis, zlg_error *err);
/* Others may append, and write what was claimed. */
void zlgi_grow_end(zlg_writer *writer, zlgi_fed *fed);
/* ZLG_EXISTS: somebody else has changed the shape. The lock is given up. */
zlg_status zlgi_grow_check(zlg_writer *writer, const zlgi_fed *fed, zlg_error *err);
/* Do all rows of an object lie below those that were appended? Not all of its cells need be
 * full: those of rows that were there before, and those that a flush has stored. */
bool zlgi_grow_is_given(const zlgi_held *held);
/* An object was stored with nothing missing, for the first time. */
void zlgi_grow_note(zlgi_held *held);
/* Makes the rows known that are stored: the lock is given up. */
void zlgi_grow_publish(zlg_writer *writer, zlgi_fed *fed);

/* ------------------------------------------------------------------ the writer */
struct zlgi_fed {
    zlg_array *array; /* its own handle. When it grows, of a length that never ends */
    zlg_array *plain; /* as it was added */
    int number;
    size_t item;
    uint64_t n_bytes_cell, n_bytes_object; /* decoded, of the largest */
    zlgi_arena arena;
    const zlgi_swap *swap; /* to the other byte order; NULL: there is none */
    zlg_call call;         /* of what the engine is asked for; settled */
    zlgi_staging staging;
    bool has_claim;
    int64_t claim_start[ZLG_MAX_RANK], claim_count[ZLG_MAX_RANK];
    zlgi_claim claim; /* of objects */
    zlgi_growth growth;
    zlgi_coarser *coarser; /* arrays that get its reduction */
    zlgi_known *known;     /* objects that are stored; NULL: there is no journal */
    zlgi_held **table;     /* by coordinates */
    size_t n_table, n_held;
    size_t n_failed;
    bool has_error; /* until nothing is failed */
    zlg_error error;
};

typedef enum zlgi_writer_state {
    ZLGI_WRITER_OPEN = 0,
    ZLGI_WRITER_CLOSING, /* takes no more */
    ZLGI_WRITER_CLOSED,  /* all is stored */
    ZLGI_WRITER_ABORTED
} zlgi_writer_state;

enum { ZLGI_TICKET_BUCKETS = 1024, ZLGI_MAX_WRITERS = 256 };

struct zlg_writer {
    zlg_ctx *ctx;
    zlg_writer_options options;
    zlgi_fork_mark mark;
    bool is_forked;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* for callers, after each task of a thread */
    int n_pausing;          /* who wait for it */
    pthread_cond_t idle;    /* for callers, when nothing is left to do */
    pthread_cond_t work;    /* for threads */
    zlgi_writer_state state;
    zlgi_fed **fed;
    int n_fed;
    zlgi_room room;
    zlgi_side side;
    int n_files;           /* of objects */
    zlgi_scratch *scratch; /* of the submit at hand */
    bool is_submitting, is_copying;
    zlg_ticket last_ticket;
    zlgi_ticket *tickets[ZLGI_TICKET_BUCKETS];
    /* Work. */
    pthread_t threads[ZLGI_MAX_WRITERS];
    zlgi_scratch *handed[ZLGI_MAX_WRITERS]; /* to threads that have not begun */
    int n_handed;
    int n_threads, n_started;
    bool is_stopping;
    int n_running;
    uint64_t n_wanted; /* objects that a flush waits for */
    bool is_loading;   /* one object, for which room is set aside */
    zlgi_held *first_ready, *last_ready;
    zlgi_cell *first_cell, *last_cell;
    uint64_t n_bytes_to_encode; /* of elements, in these */
    zlgi_journal *journal;      /* or NULL */
    zlg_writer_counts counts;
};

/* Locks, in the process that opened it: USAGE, with no lock held, in another. */
zlg_status zlgi_writer_enter(zlg_writer *writer, zlg_error *err);
/* The same for a call that may wait: as long as it says. */
zlg_status zlgi_writer_enter_for(zlg_writer *writer, const zlg_call *given, zlg_call *call,
                                 zlgi_patience *patience, zlg_error *err);
void zlgi_writer_leave(zlg_writer *writer);
/* Waits for a change, or a while; with CANCELLED when patience is at its end. */
zlg_status zlgi_writer_wait(zlg_writer *writer, zlgi_patience *patience, zlg_error *err);
/* The same until nothing is left to do: for those who need not look at each task. */
zlg_status zlgi_writer_wait_idle(zlg_writer *writer, zlgi_patience *patience,
                                 zlg_error *err);
void zlgi_writer_pause(zlg_writer *writer); /* the same, whatever the caller wants */
void zlgi_writer_changed(zlg_writer *writer);
/* "array a: the message" as the error of an array. */
zlg_status zlgi_fed_error(const zlgi_fed *fed, zlg_error *err);
void zlgi_fed_fail(zlgi_fed *fed, const zlg_error *error);

/* submit.c: what of a box falls into one object: cells low .. high of it. */
typedef struct zlgi_object_cut {
    int64_t origin[ZLG_MAX_RANK]; /* of the object, in the array */
    int64_t cell[ZLG_MAX_RANK], grid[ZLG_MAX_RANK];
    int64_t low[ZLG_MAX_RANK], high[ZLG_MAX_RANK];
} zlgi_object_cut;
void zlgi_cut_object(const zlg_array *array, const int64_t *start, const int64_t *count,
                     const int64_t *coordinates, zlgi_object_cut *out);

/* submit.c: submits come one after the other; parts that are borrowed are released also
 * when it fails. */
zlg_status zlgi_turn_of_submits(zlg_writer *writer, zlgi_patience *patience,
                                zlg_error *err);
void zlgi_end_of_submit(zlg_writer *writer);
zlg_status zlgi_submit(zlg_writer *writer, const zlg_submit *parts, size_t n,
                       zlgi_patience *patience, zlg_ticket *out, zlg_error *err);

/* resume.c: nothing without a journal. */
zlg_status zlgi_resume_open(zlg_writer *writer, const char *folder, zlg_error *err);
zlg_status zlgi_resume_add(zlg_writer *writer, zlgi_fed *fed, zlg_error *err);
/* Is the object stored by an earlier writer? Then n_bytes that were given are dropped. The
 * lock may be given up. */
zlg_status zlgi_resume_skips(zlg_writer *writer, const zlgi_fed *fed,
                             const int64_t *coordinates, uint64_t n_bytes, bool *out,
                             zlg_error *err);
/* More is about to be given to an object that this writer may have stored. */
zlg_status zlgi_resume_reopen(zlg_writer *writer, const zlgi_held *held, zlg_error *err);
/* Is an object in the store? Without the lock. */
zlg_status zlgi_object_look(const zlgi_fed *fed, const int64_t *coordinates, bool *out,
                            zlg_error *err);
/* It is stored, but does not count as such yet. The lock is given up. */
zlg_status zlgi_resume_note(zlg_writer *writer, zlgi_held *held, zlg_error *err);

/* work.c */
zlg_status zlgi_work_start(zlg_writer *writer, zlg_error *err); /* threads, once */
void zlgi_work_stop(zlg_writer *writer);                        /* and joins them */
bool zlgi_work_is_idle(const zlg_writer *writer);
/* One cell of the queue. False: there is none that nobody has in hand. */
bool zlgi_work_cell(zlg_writer *writer, zlgi_scratch *scratch);

#endif
