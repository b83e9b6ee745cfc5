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
    bool is_used;                /* the slot holds an object */
    bool is_present;             /* there is something in the store: it is not empty */
    bool is_checked;             /* and that was looked at */
    bool is_counted;             /* data for it came, and were dropped */
    int source;                  /* 0: it is not stored */
    struct zlgi_kept_file *kept; /* files with chunks of it that dead writers left */
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
/* One that is not stored, and of which there are kept files; NULL: there is none. */
zlgi_known_object *zlgi_known_kept(const zlgi_known *known);

/* ------------------------------------------------------------------ kept (kept_file.c)
 *
 * A file of chunks of one object that is not full: in the folder of a journal, named after
 * its owner, the file of a writer's journal, and numbered by it: <owner><number>.kept.
 * Numbers are little-endian, elements as the machine has them.
 *
 *     8   how many bytes of the file count; what follows was never acknowledged
 *     4   crc32c of these
 *     4   bytes of the description, 4 crc32c of them; then they: version, run of the
 *         machine, fingerprint, promise, rank, coordinates, path of the array
 *     records: a head of 48 bytes with the sums of itself, of the data and of what was
 *         given; then these two
 *
 * A later record of a chunk takes the place of an earlier one. A file gets its name when
 * the first records are acknowledged; so one with a name that cannot be read is damaged.
 */
typedef struct zlgi_kept_file {
    struct zlgi_kept_file *next;
    char name[ZLGI_FILE_NAME_MAX];
    uint64_t first, end; /* of the records that count */
    bool has_failed;     /* to take more: what is behind its end may be anything */
} zlgi_kept_file;

typedef enum zlgi_kept_kind {
    ZLGI_KEPT_EMPTY = 0, /* encoded, and need not be stored */
    ZLGI_KEPT_WHOLE,     /* encoded */
    ZLGI_KEPT_BOX,       /* elements, of which a box was given: start and count of it */
    ZLGI_KEPT_BITS       /* or those with a bit */
} zlgi_kept_kind;
typedef struct zlgi_kept_record {
    uint64_t i_cell, n_data, n_given; /* bytes */
    uint64_t n_elements;              /* that were given */
    zlgi_kept_kind kind;
    uint32_t sum_data, sum_given;
    uint64_t at; /* of its head, in the file */
} zlgi_kept_record;
enum { ZLGI_KEPT_HEAD = 48, ZLGI_KEPT_DESCRIPTION_MAX = 8192 };
void zlgi_kept_free(zlgi_kept_file *files, const zlgi_alloc *alloc); /* the list */
/* A name of a kept file, or of one that was to become one. */
bool zlgi_kept_is_name(const char *name);
/* How much of the file a record takes. */
uint64_t zlgi_kept_extent(const zlgi_kept_record *record);
/* What a file says of itself. */
typedef struct zlgi_kept_about {
    bool is_lasting;
    uint64_t fingerprint;
    int rank;
    int64_t coordinates[ZLG_MAX_RANK];
    char run[ZLGI_BOOT_ID];
    uint64_t first, end;
    char path[ZLGI_KEPT_DESCRIPTION_MAX];
} zlgi_kept_about;
zlg_status zlgi_kept_describe(int file, const zlgi_kept_about *about, uint64_t *out_first,
                              zlg_error *err);
/* Sets the sums and the place of a record. */
zlg_status zlgi_kept_write(int file, uint64_t at, zlgi_kept_record *record,
                           const void *data, const void *given, zlg_error *err);
/* All before end counts from now on. */
zlg_status zlgi_kept_acknowledge(int file, uint64_t end, bool is_lasting, zlg_error *err);
/* What cannot be read is CORRUPT. */
zlg_status zlgi_kept_read_about(int file, zlgi_kept_about *out, zlg_error *err);
/* One of those before end. */
zlg_status zlgi_kept_read_head(int file, uint64_t at, uint64_t end, zlgi_kept_record *out,
                               zlg_error *err);
/* Adds all records, zlgi_kept_record, to a list. */
zlg_status zlgi_kept_read_records(int file, uint64_t first, uint64_t end, zlgi_buf *out,
                                  zlg_error *err);
/* data or given may be NULL: they are not needed. */
zlg_status zlgi_kept_read(int file, const zlgi_kept_record *record, void *data, void *given,
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
 *
 * Kept files lie beside them. Those whose owner is dead or over are for whoever renames one
 * first; those of objects that are stored by now say nothing.
 */
enum { ZLGI_JOURNAL_STEM = 16 }; /* of the names of its files: what stands before the dot */
typedef struct zlgi_journal {
    const zlgi_alloc *alloc;
    char folder[ZLGI_FOLDER_MAX], name[ZLGI_FILE_NAME_MAX];
    char run[ZLGI_BOOT_ID];
    pthread_mutex_t lock; /* for the end of the file, and n_kept */
    int file;             /* -1: it is closed */
    uint64_t end;
    uint32_t n_kept; /* kept files that were given a name */
    zlgi_buf alive;  /* stems of the files of others who were when the folder was read */
    int n_arrays;    /* in it */
    int n_sources;
    zlgi_known *known;
} zlgi_journal;
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
/* All of this writer is stored: its file is over. The last one removes the folder; but
 * *out_rest: there are kept files that nobody has taken, which are among the known objects
 * now, and nothing is over before they are stored. USAGE: they are of an array that was not
 * added. */
zlg_status zlgi_journal_finish(zlgi_journal *journal, bool *out_rest, zlg_error *err);
/* Closes the file; what it says stays for those who come. In the child of a fork it is that
 * of the parent. */
void zlgi_journal_end(zlgi_journal *journal);
void zlgi_journal_free(zlgi_journal *journal); /* with all that is known */
/* EXISTS when a writer that is alive has claimed some of the objects. What is known of
 * arrays with another fingerprint counts for nothing. */
zlg_status zlgi_journal_add(zlgi_journal *journal, const zlgi_journal_array *array,
                            zlgi_known **out, zlg_error *err);
/* Makes a set when there is none. */
zlg_status zlgi_journal_known(zlgi_journal *journal, const zlgi_journal_array *array,
                              zlgi_known **out, zlg_error *err);
/* Adds a kept file of one who is not alive to the known objects; other names are none. */
zlg_status zlgi_journal_learn_kept(zlgi_journal *journal, const char *name, void *unused,
                                   zlg_error *err);
/* Makes a kept file, which has no name to stay yet. Any thread, as for those below. */
zlg_status zlgi_journal_make_kept(zlgi_journal *journal, const zlgi_known *known,
                                  const int64_t *coordinates, int *out,
                                  zlgi_kept_file *out_file, zlg_error *err);
/* Gives a kept file the next name of this journal. NOT_FOUND: somebody else has done so. */
zlg_status zlgi_journal_own_kept(zlgi_journal *journal, zlgi_kept_file *file,
                                 zlg_error *err);
/* An object is stored, or is not any more. Any thread; the set stays as it is. */
zlg_status zlgi_journal_tell(zlgi_journal *journal, const zlgi_known *known, bool is_stored,
                             bool is_present, const int64_t *coordinates, zlg_error *err);

#endif
