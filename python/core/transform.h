/* Chunks on their way from the store to memory, shown to a function of Python. */
#ifndef ZELLIGE_CORE_TRANSFORM_H
#define ZELLIGE_CORE_TRANSFORM_H

#include "core.h"

/* One call's; it lives as long as the call. */
typedef struct core_transform {
    core_call *call;
    PyObject *function; /* borrowed; NULL: chunks are not shown */
    bool tells_array;   /* the function is one of (array, index, data), not (index, data) */
    size_t n_arrays;
    struct shown_array *arrays; /* those that the call reads, each once */
} core_transform;

/* What a caller asks for: function may be NULL or None, raw NULL, False or True. Memory for
 * n reads, which are then added. False with an exception set; core_transform_reset is due
 * in both cases. */
bool core_transform_make(core_transform *transform, core_call *call, PyObject *function,
                         PyObject *raw, size_t n_reads);
/* True for what is neither NULL nor None. */
bool core_is_given(PyObject *function);
void core_transform_add(core_transform *transform, core_node *array, core_handle *handle);
void core_transform_reset(core_transform *transform);

/* Inside of such a function: it runs in the middle of a call, which holds what another call
 * might wait for. */
bool core_transform_is_inside(void);
/* False then, with an exception set. */
bool core_transform_allows_calls(void);

#endif
