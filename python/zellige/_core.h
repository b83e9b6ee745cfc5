/*
 * _core: the binding between Python and libzellige. It holds handles, parses basic
 * selections and calls the engine; names, NumPy types and every other convenience are
 * plain Python around it. Limited API of Python 3.11: no struct of the interpreter is
 * looked into, so that one build serves all later versions.
 */
#ifndef ZELLIGE_CORE_H
#define ZELLIGE_CORE_H

#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030b0000
#endif
#include <Python.h>

#include <stdbool.h>
#include <string.h>

#include "zellige.h"

/* A function or text as the value of a type slot. */
#define CORE_SLOT(f) (__extension__(void *)(f))
#define CORE_METHOD(f) ((PyCFunction)(void (*)(void))(f))

/* A call of the library without the GIL. */
#define CORE_UNLOCKED(call)                                                                \
    do {                                                                                   \
        PyThreadState *core_thread_ = PyEval_SaveThread();                                 \
        call;                                                                              \
        PyEval_RestoreThread(core_thread_);                                                \
    } while (0)

/* The memory of results: _core_memory.c. */
enum { CORE_MAX_EMPTY = 2 };
typedef struct core_region core_region;
typedef struct core_pool {
    core_region *regions; /* those that may have room */
    core_region *empty[CORE_MAX_EMPTY];
    size_t n_empty;
} core_pool;

/* What the module owns. One context serves the process; it is made on first use. */
typedef struct core_state {
    zlg_ctx *ctx;
    core_pool pool;
    PyObject *store_type, *array_type, *group_type, *memory_type;
    PyObject *empty, *zeros, *ndarray; /* of numpy */
    PyObject *numpy_dtype; /* zellige.dtype.numpy_dtype; NULL before first use */
    PyObject *no_index;    /* () */
} core_state;

/* Objects keep the module alive, and by it the state. */
typedef struct core_store {
    PyObject ob_base;
    PyObject *module;
    zlg_store *handle;
    PyObject *root; /* str, or NULL for a store in memory */
    bool read_only, follow_links;
} core_store;

typedef struct core_array {
    PyObject ob_base;
    PyObject *module;
    zlg_array *handle;
    PyObject *store; /* core_store */
    PyObject *dtype; /* of NumPy; NULL before first use */
    bool read_only;
    bool is_varlen;
    size_t n_bytes_element;
} core_array;

typedef struct core_group {
    PyObject ob_base;
    PyObject *module;
    zlg_group *handle;
    PyObject *store;
    bool read_only;
} core_group;

/* ------------------------------------------------------------------ _core.c */
core_state *core_state_of(PyObject *module);
/* The context of the process, or NULL with an exception set. */
zlg_ctx *core_context(core_state *state);
/* Sets the exception of a failed call, unless one is set already. Returns NULL. */
PyObject *core_raise(const zlg_error *err);
/* Moves text out of the library: a str. NULL on failure. */
PyObject *core_text(zlg_text *text);
/* A tuple of n integers. */
PyObject *core_int_tuple(const int64_t *values, Py_ssize_t n);
const char *core_type_name(zlg_type type);
/* New object of `type`, zeroed beyond its head. NULL with an exception set, also when
 * `type` is no subclass of `base`. */
void *core_new(PyObject *type, PyObject *base);
/* Ends the life of an object: frees it and drops its type. */
void core_delete(PyObject *self);

/* ------------------------------------------------------------------ types
 * They cannot be called: functions of the module make objects of their subclasses. */
extern PyType_Spec core_store_spec;  /* _core_store.c */
extern PyType_Spec core_array_spec;  /* _core_array.c */
extern PyType_Spec core_group_spec;  /* _core_group.c */
extern PyType_Spec core_memory_spec; /* _core_memory.c */

PyObject *core_open_store(PyObject *module, PyObject *args);
PyObject *core_open_array(PyObject *module, PyObject *const *args, Py_ssize_t n_args);
PyObject *core_open_group(PyObject *module, PyObject *args);
PyObject *core_open_member(PyObject *module, PyObject *args);
PyObject *core_create_array(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *core_create_group(PyObject *module, PyObject *args);

/* An array object around a handle, which it takes over also when it fails. */
PyObject *core_array_wrap(core_state *state, PyObject *type, core_store *store,
                          zlg_array *handle, bool read_only);
/* numpy.dtype of the elements, borrowed; NULL with an exception set. */
PyObject *core_array_dtype(core_array *array);

/* ------------------------------------------------------------------ _core_call.c
 * What one call of the engine needs: the GIL is released in it, and signals stop it. */
typedef struct core_call {
    zlg_call call;
    PyThreadState *thread;
} core_call;
/* timeout: NULL, None or seconds. False with an exception set. */
bool core_call_make(core_call *call, PyObject *timeout);
void core_call_enter(core_call *call);
/* False with an exception set when the call failed, or a signal's handler raised in it. */
bool core_call_leave(core_call *call, zlg_status status, const zlg_error *err);

/* ------------------------------------------------------------------ _core_memory.c
 * An object that exports n_bytes for writing, aligned to a page. NULL without an exception
 * where NumPy's own memory is as good, or none is left. */
PyObject *core_memory_new(PyObject *module, size_t n_bytes, void **out_data);
/* When no memory is out any more. */
void core_pool_reset(core_pool *pool);

/* ------------------------------------------------------------------ _core_select.c */
typedef struct core_pick {
    zlg_selection selection;
    zlg_axis *axes; /* in `block`, as the next three: rank of them */
    const int64_t **coordinates;
    ptrdiff_t *strides; /* of the target, once placed */
    int *place;         /* axis of the result; -1: dropped */
    void *block;
    PyObject *plan;  /* keeps index arrays alive; NULL for a basic selection */
    PyObject *shape; /* of the result: a tuple */
    bool is_box;     /* `place` holds, so the result may lie anywhere */
    bool is_scalar;  /* integers alone: the result is an element, not an array */
} core_pick;
/* Reads NumPy's basic indexing; anything else is asked of array._plan(key). False with an
 * exception set; core_pick_reset is due in both cases. */
bool core_pick_make(core_pick *pick, core_array *array, PyObject *key);
void core_pick_reset(core_pick *pick);
/* Sets the strides for a buffer in the shape of the result. */
void core_pick_place(core_pick *pick, const Py_buffer *view);

/* ------------------------------------------------------------------ reading, writing
 * _core_read.c, _core_write.c */
PyObject *core_array_subscript(PyObject *self, PyObject *key);
PyObject *core_array_read(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *core_read_many(PyObject *module, PyObject *args);
PyObject *core_array_explain(PyObject *self, PyObject *args);
int core_array_assign(PyObject *self, PyObject *key, PyObject *value);

#endif
