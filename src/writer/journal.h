/*
 * journal: which objects are stored, told by those who stored them in files of a folder, so
 * that whoever comes after a death need not store them again. Knows nothing of writers.
 */
#ifndef ZLGI_JOURNAL_H
#define ZLGI_JOURNAL_H

#include "base/base.h"

/* ------------------------------------------------------------------ sets (known.c)
 * Objects of an array that are known to be stored. */
enum {
    ZLGI_KNOWN_OWN = 1 /* a source: told by this journal; others are earlier ones */
};
typedef struct zlgi_known_object {
    bool is_used;    /* the slot holds an object */
    bool is_present; /* there is something in the store: it is not empty */
    bool is_checked; /* and that was looked at */
    bool is_counted; /* data for it came, and were dropped */
    int source;      /* 0: it is not stored */
    int64_t coordinates[];
} zlgi_known_object;
typedef struct zlgi_known {
    struct zlgi_known *next;
    uint64_t fingerprint;
    int rank;
    int number; /* in the file of this journal; -1: it is not in it */
    bool is_lasting;
    size_t n, n_slots, n_bytes_slot;
    uint8_t *slots;
    char path[];
} zlgi_known;
zlg_status zlgi_known_new(const zlgi_alloc *alloc, const char *path, uint64_t fingerprint,
                          int rank, zlgi_known **out, zlg_error *err);
void zlgi_known_free(zlgi_known *known, const zlgi_alloc *alloc);
/* NULL: nothing was ever told of it. Valid until the next one is put. */
zlgi_known_object *zlgi_known_find(const zlgi_known *known, const int64_t *coordinates);
zlg_status zlgi_known_put(zlgi_known *known, const zlgi_alloc *alloc,
                          const int64_t *coordinates, zlgi_known_object **out,
                          zlg_error *err);

/* ------------------------------------------------------------------ files (journal.c)
 *
 * Each writer has a file of its own in the folder, locked as long as it lives, whose name
 * ends in .open; when all is stored it becomes .over. What is .open and not locked is
 * of a dead one; who comes makes that .over too, as the work is now his. When the last
 * .open one becomes .over, all go.
 *
 * A record: bytes that follow the next number; crc32c of that and of them; they begin with
 * a letter. Numbers are little-endian.
 *     H  version, then which run of the machine it is
 *     A  number of the array in the file, fingerprint, promise, rank, whether there is a
 *        claim, first and last object of it on each axis, path
 *     S  number, whether the object is present, coordinates: it is stored
 *     U  number, coordinates: it was, but more was given since
 * What follows a record that is not whole was being written when the writer died.
 */
typedef struct zlgi_journal zlgi_journal;
typedef struct zlgi_journal_array {
    const char *path;
    uint64_t fingerprint; /* of all that decides what an object holds, and of the promise */
    bool is_lasting;      /* what is stored is so after a power loss */
    int rank;
    bool has_claim;
    const int64_t *first, *last; /* objects of the claim, on each axis */
} zlgi_journal_array;
/* Makes the folder when there is none; what lies above it must exist. */
zlg_status zlgi_journal_open(const zlgi_alloc *alloc, const char *folder,
                             zlgi_journal **out, zlg_error *err);
/* Closes the file. is_over: all is stored; else it stays for those who come. In the child
 * of a fork that is false, and the file is that of the parent. */
void zlgi_journal_end(zlgi_journal *journal, bool is_over);
void zlgi_journal_free(zlgi_journal *journal); /* with all that is known */
/* EXISTS when a writer that is alive has claimed some of the objects. What is known of
 * arrays with another fingerprint counts for nothing. */
zlg_status zlgi_journal_add(zlgi_journal *journal, const zlgi_journal_array *array,
                            zlgi_known **out, zlg_error *err);
/* An object is stored, or is not any more. Any thread; the set stays as it is. */
zlg_status zlgi_journal_tell(zlgi_journal *journal, const zlgi_known *known, bool is_stored,
                             bool is_present, const int64_t *coordinates, zlg_error *err);

#endif
