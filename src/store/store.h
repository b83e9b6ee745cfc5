/*
 * store: keys to bytes. Memory, file system, and stores of others: each implements the
 * table. Knows nothing of Zarr.
 *
 * A blocking store is read through an open object: one open per object touched, then any
 * number of ranges from the same handle, so that index and data come from one version of
 * the object. A store that holds its bytes in memory lends them (view) and no range is
 * copied.
 */
#ifndef ZLGI_STORE_H
#define ZLGI_STORE_H

#include "base/base.h"
#include "zellige_ext.h"

enum {
    ZLGI_STORE_WRITE = 1u << 0,
    ZLGI_STORE_LIST = 1u << 1,
};

#define ZLGI_SIZE_UNKNOWN UINT64_MAX

/* Which version of an object was seen: equal tags mean equal bytes. */
typedef struct zlgi_tag {
    uint64_t a, b, c, d; /* fs: inode, size, mtime, ctime; memory: a running number */
    bool trusted;        /* false: too young, or unknown; never equal to anything */
} zlgi_tag;
static inline bool zlgi_tag_equal(const zlgi_tag *x, const zlgi_tag *y)
{
    return x->trusted && y->trusted && x->a == y->a && x->b == y->b && x->c == y->c &&
           x->d == y->d;
}

/* An object open for reading. Filled by open, given back by release. Several threads may
 * read one handle at once. */
typedef struct zlgi_object {
    const uint8_t *view; /* all bytes, lent until release; or NULL */
    uint64_t n_bytes;    /* maybe ZLGI_SIZE_UNKNOWN, without view and ZLGI_OPEN_STAT */
    zlgi_tag tag;        /* valid with ZLGI_OPEN_STAT */
    int fd;              /* fs */
    void *owner;         /* memory: the value kept alive; ext: the handle */
} zlgi_object;

enum { ZLGI_OPEN_STAT = 1 };

/* ------------------------------------------------------------------ transactions
 *
 * Every change of an object is a transaction: it knows which version of the object it
 * changes, and holds a lock (files) or a condition (memory, object stores) by which no
 * change that somebody else makes meanwhile is lost.
 *
 *     do {
 *         begin                what is there now; for ZLGI_UPDATE open for reading
 *         commit               the new object or its removal; left out: it stays as it is
 *         end                  gives back what begin took; after every begin that was OK
 *     } while (txn.again);
 *
 * `again`, set by commit with the status ZLG_EXISTS, says that somebody else was faster:
 * nothing was stored, and an update begins anew from what is there now. A replacement
 * never meets it, a creation ends with ZLG_EXISTS and again false.
 *
 * A worker has one transaction open at a time, and reserves its memory before begin.
 */
typedef enum zlgi_change {
    ZLGI_REPLACE, /* whatever is there is replaced unseen */
    ZLGI_UPDATE,  /* what is there is read first */
    ZLGI_CREATE   /* nothing may be there: ZLG_EXISTS otherwise, from begin or commit */
} zlgi_change;

/* Directories (or the like) whose names a call has changed and must still make lasting. Any
 * thread may add to it. */
typedef struct zlgi_syncs zlgi_syncs;

typedef struct zlgi_txn {
    /* Set by the caller, once; the record may be used for one object after the other. */
    zlgi_change change;
    zlg_promise promise; /* not ZLG_PROMISE_DEFAULT */
    zlgi_syncs *syncs;   /* durable and above: where names are noted; NULL: commit syncs */
    /* A file that `stage` gave becomes the object. Parts without data are there already,
     * each where it will be. */
    bool is_staged;
    int file;
    int (*waiting)(void *user); /* asked while others hold the lock, every few ms, between
                                 * one key and the next, and every few hundred names that
                                 * are looked at; non-zero gives up: ZLG_CANCELLED. NULL:
                                 * waits on */
    void *user;
    /* Set by begin. */
    bool present;       /* ZLGI_UPDATE: there is an object now */
    zlgi_object object; /* ZLGI_UPDATE and present: open for reading until end */
    /* Set by commit. */
    bool again;
    /* The store's own. */
    int lock, dir;
    void *seen;
} zlgi_txn;

enum { ZLGI_REMOVE = -1 }; /* n_parts of a commit that removes the object */

typedef struct zlgi_store_class {
    const char *kind; /* "fs", "memory", "custom" */
    unsigned capabilities;
    /* ZLG_NOT_FOUND, with no message, when there is no such key. A directory in an object's
     * place is ZLG_CORRUPT, from open or from the first read. */
    zlg_status (*open)(zlg_store *store, const char *key, unsigned flags, zlgi_object *out,
                       zlg_error *err);
    /* Up to n bytes from offset into destination; *out_n < n only at the end. */
    zlg_status (*read)(zlg_store *store, zlgi_object *object, uint64_t offset, size_t n,
                       void *destination, size_t *out_n, zlg_error *err);
    void (*release)(zlg_store *store, zlgi_object *object);
    /* USAGE or NOT_FOUND when no object can be put there, because of its name. NULL: one
     * can. */
    zlg_status (*check_key)(const zlg_store *store, const char *key, zlg_error *err);
    /* Changes of one object: see zlgi_txn below. */
    zlg_status (*begin)(zlg_store *store, const char *key, zlgi_txn *txn, zlg_error *err);
    zlg_status (*commit)(zlg_store *store, const char *key, zlgi_txn *txn,
                         const zlgi_bytes *parts, int n_parts, zlg_error *err);
    void (*end)(zlg_store *store, zlgi_txn *txn);
    /* Makes the names lasting that durable commits noted: once, after the last of them. */
    zlg_status (*sync)(zlg_store *store, zlgi_syncs *syncs, zlg_error *err);
    /* All keys below a prefix ("" = everything), and the prefix itself if it is a key. One
     * after the other: when `waiting` of txn, which may be NULL, is asked in between and
     * gives up, some are gone. */
    zlg_status (*remove_prefix)(zlg_store *store, const char *prefix, const zlgi_txn *txn,
                                zlg_error *err);
    /* As zlg_store_list says; `waiting` of txn, which may be NULL, is asked now and then:
     * ZLG_CANCELLED when it gives up. */
    zlg_status (*list)(zlg_store *store, const char *prefix, bool delimited,
                       const zlgi_txn *txn, zlg_list_fn each, void *user, zlg_error *err);
    /* Moves all keys below a prefix, which must not be a key, to one where nothing is:
     * ZLG_EXISTS otherwise; ZLG_NOT_FOUND, with no message, when there are none. NULL: the
     * store cannot. */
    zlg_status (*rename_prefix)(zlg_store *store, const char *from, const char *to,
                                zlg_error *err);
    /* Removes what writers that died left behind below a prefix; counts it, also when
     * `waiting` of txn, which may be NULL, gives up. */
    zlg_status (*sweep)(zlg_store *store, const char *prefix, const zlgi_txn *txn,
                        uint64_t *out_n, zlg_error *err);
    /* A file that may become an object when it is whole, by a change that is no update and
     * promises no more than visible. Its bytes are written and read as those of a file
     * without a name. NULL: there are none. */
    zlg_status (*stage)(zlg_store *store, int *out, zlg_error *err);
    /* The directory in which the objects lie as files. NULL: they are no files. */
    const char *(*directory)(const zlg_store *store);
    /* There is surely no such key, nor one below it. What is replaced meanwhile is there,
     * while a listing may miss it. NULL: a listing tells, and what it misses was not there
     * all the time. */
    bool (*lacks)(zlg_store *store, const char *key);
    void (*destroy)(zlg_store *store);
} zlgi_store_class;

/* First member of every store. */
struct zlg_store {
    const zlgi_store_class *class;
    zlg_ctx *ctx; /* a counted reference, given back by core */
    const zlgi_alloc *alloc;
    const zlg_limits *limits;
    uint64_t id;       /* what caches are keyed with; 0 from a kind: a number of its own */
    int n_refs;        /* atomic */
    const char *label; /* path or "memory", for messages */
};

/* Made by the kinds; core wraps them as zlg_store_open_*. n_refs is 1. */
zlg_status zlgi_fs_open(const zlgi_alloc *alloc, const zlg_limits *limits, const char *path,
                        const zlg_fs_options *options, zlg_store **out, zlg_error *err);
zlg_status zlgi_memory_open(const zlgi_alloc *alloc, const zlg_limits *limits,
                            zlg_store **out, zlg_error *err);
/* Somebody else's; the methods are whole, as zlgi_options_read leaves them. */
zlg_status zlgi_ext_open(const zlgi_alloc *alloc, const zlg_limits *limits,
                         const zlg_store_methods *methods, void *self, const char *label,
                         zlg_store **out, zlg_error *err);
/* A store that passes everything on and records each request: for tests. It does not own
 * the inner store. */
typedef struct zlgi_store_counts {
    uint64_t n_opens, n_reads, n_bytes_read, n_lists;
    uint64_t n_begins, n_puts, n_removes, n_syncs; /* removes: of prefixes too */
} zlgi_store_counts;
zlg_status zlgi_counting_open(const zlgi_alloc *alloc, zlg_store *inner, zlg_store **out,
                              zlg_error *err);
zlgi_store_counts zlgi_counting_get(zlg_store *counting);

void zlgi_store_destroy(zlg_store *store);

zlgi_syncs *zlgi_syncs_new(const zlgi_alloc *alloc); /* NULL when memory is short */
void zlgi_syncs_free(zlgi_syncs *syncs);

static inline zlg_status zlgi_store_check_key(const zlg_store *store, const char *key,
                                              zlg_error *err)
{
    return store->class->check_key ? store->class->check_key(store, key, err) : ZLG_OK;
}
/* Has whoever waits for this lost patience? txn may be NULL. */
static inline bool zlgi_txn_gives_up(const zlgi_txn *txn)
{
    return txn != NULL && txn->waiting != NULL && txn->waiting(txn->user) != 0;
}
/* The same while keys are removed or listed: CANCELLED. */
zlg_status zlgi_store_go_on(const zlgi_txn *txn, zlg_error *err);
/* Fills an error without a message and returns ZLG_NOT_FOUND. */
zlg_status zlgi_store_absent(zlg_error *err);
/* Helpers over the table. A whole object into a buffer, at most `limit` bytes; the same of
 * one that is open. */
zlg_status zlgi_store_get(zlg_store *store, const char *key, uint64_t limit, zlgi_buf *out,
                          zlg_error *err);
zlg_status zlgi_object_get(zlg_store *store, zlgi_object *object, uint64_t limit,
                           zlgi_buf *out, zlg_error *err);
/* One object in one transaction, made as `how` says; again until it is done. parts as in
 * commit. */
zlg_status zlgi_store_change(zlg_store *store, const char *key, const zlgi_txn *how,
                             const zlgi_bytes *parts, int n_parts, zlg_error *err);
zlg_status zlgi_store_put(zlg_store *store, const char *key, zlgi_change change,
                          zlg_promise promise, const zlgi_bytes *parts, int n_parts,
                          zlg_error *err);
/* May a prefix be moved there? Not below itself. */
zlg_status zlgi_store_check_move(const char *from, const char *to, zlg_error *err);
/* Key rules: no empty segment, ".", "..", backslash or NUL; ZLG_NOT_FOUND naming it. */
zlg_status zlgi_key_check(const char *key, zlg_error *err);

#endif
