/*
 * Chunks: what a codec pipeline of zarr-python is asked for, as selections of an array.
 * Each item of a batch is a chunk (one object of the store, named by its key), what is
 * selected in it, and where that lies in the memory of the caller. What cannot be told in
 * these terms is left to the caller, with the reason.
 */
#ifndef ZELLIGE_CORE_CHUNKS_H
#define ZELLIGE_CORE_CHUNKS_H

#include "core.h"

/* One item: a selection of one object, and its memory. */
typedef struct core_chunk {
    const char *key; /* borrowed from the batch */
    zlg_selection selection;
    char *data;
    const ptrdiff_t *strides; /* NULL: packed */
    bool replaces;            /* writes: nothing of what is stored stays */
} core_chunk;

typedef struct core_chunks {
    core_handle *handle; /* held */
    zlg_array *array;
    int rank;
    Py_ssize_t n;
    core_chunk *items;
    zlg_axis *axes; /* rank for each item, as the next two */
    const int64_t **coordinates;
    ptrdiff_t *strides;
    struct index_list *lists; /* of all items, given back together */
    const char *reason;       /* why it cannot be done here; a text that is never freed */
} core_chunks;

/* What all items of a batch share. */
typedef struct core_batch {
    PyObject *items;     /* a list of (byte getter, spec, selection, place, is complete) */
    PyObject *path_type; /* of the byte getters */
    PyObject *store;     /* theirs */
    PyObject *check;     /* check(spec) is true when the spec is one for this array */
    PyObject *dropped;   /* axes that the memory lacks although lists pick from them */
    PyObject *places;    /* None, or the address of each item's own memory, packed; for
                          * elements of variable length what takes or gives them */
    bool may_replace;    /* of complete items nothing that is stored stays */
    char *data;          /* the memory of all */
    int rank;            /* its axes; -1: one element for all */
    Py_ssize_t shape[CORE_MAX_RESULT_RANK], strides[CORE_MAX_RESULT_RANK];
} core_batch;

/* Reasons that the caller can do something about: places that are no slices, or have not as
 * many elements as are selected, chunks beyond the grid of the array, and those of another
 * shape than the grid says. */
extern const char core_scattered[], core_other_memory[], core_beyond[], core_other_shape[];

/* False with an exception set, or with chunks->reason; core_chunks_reset is due always. */
bool core_chunks_make(core_chunks *chunks, core_node *array, const core_batch *batch);
void core_chunks_reset(core_chunks *chunks);

/* ------------------------------------------------------------------ stage.c
 * A store of the objects of one call: their bytes as the caller has fetched them, and then
 * what the call has made of them. */
typedef struct core_stage core_stage;
/* objects: for each chunk None, something with its bytes, or (bytes in all, [(offset,
 * bytes), ...]) where only pieces were fetched. NULL with an exception set. */
core_stage *core_stage_new(const core_chunks *chunks, PyObject *objects);
/* label: what errors call it. */
zlg_status core_stage_open(core_stage *stage, zlg_ctx *ctx, const char *label,
                           zlg_store **out, zlg_error *err);
/* For each chunk: an object that exports the new bytes, False (removed) or None (left). */
PyObject *core_stage_results(core_stage *stage, PyObject *module);
void core_stage_free(core_stage *stage);

#endif
