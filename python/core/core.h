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

/* Most axes of a NumPy array, and so of a result with new axes. */
enum { CORE_MAX_RESULT_RANK = 64 };

/* The memory of results: memory.c. */
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
    int n_threads; /* most threads of a call; 0: those of the context */
    core_pool pool;
    PyObject *store_type, *node_type, *array_type, *group_type, *memory_type, *block_type;
    PyObject *writer_type;
    PyObject *empty, *zeros, *ndarray; /* of numpy */
    PyObject *numpy_dtype; /* zellige.dtype.numpy_dtype; NULL before first use */
    PyObject *no_index;    /* () */
    PyObject *dtype_name;  /* "dtype" */
} core_state;

/* Objects keep the module alive, and by it the state. */
typedef struct core_store {
    PyObject ob_base;
    PyObject *module;
    zlg_store *handle;
    zlg_ctx *ctx;   /* kept by the handle */
    PyObject *root; /* str, or NULL for a store in memory */
    bool read_only, follow_links, no_locks;
} core_store;

/*
 * The library's handle of a node. A change of the node puts a new one in its place; calls
 * that other threads are in go on with the one that they hold. Counted under the GIL.
 */
typedef struct core_handle {
    size_t n_holders;
    zlg_array *array; /* one of these two */
    zlg_group *group;
    PyObject *dtype; /* arrays: of NumPy; NULL before first use */
    bool is_varlen;
    size_t n_bytes_element;
} core_handle;

/* How a node may be used: told when it is opened, and handed on to members of a group. */
typedef struct core_ways {
    bool read_only;
    zlg_promise promise;   /* of writes that ask for none; never the default one */
    bool keep_empty;       /* likewise */
    bool missing_is_error; /* of reads */
} core_ways;

/* An array or a group. */
typedef struct core_node {
    PyObject ob_base;
    PyObject *module;
    core_handle *handle;
    PyObject *store; /* core_store */
    core_ways ways;
} core_node;

/* ------------------------------------------------------------------ module.c */
core_state *core_state_of(PyObject *module);
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

/* ------------------------------------------------------------------ context.c */
/* The context that new stores get, or NULL with an exception set. */
zlg_ctx *core_context(core_state *state);
PyObject *core_set_context(PyObject *module, PyObject *args);
PyObject *core_set_threads(PyObject *module, PyObject *args);

/* ------------------------------------------------------------------ types
 * They cannot be called: functions of the module make objects of their subclasses. */
extern PyType_Spec core_store_spec;  /* store.c */
extern PyType_Spec core_node_spec;   /* node.c */
extern PyType_Spec core_array_spec;  /* array.c */
extern PyType_Spec core_group_spec;  /* group.c */
extern PyType_Spec core_memory_spec; /* memory.c */
extern PyType_Spec core_block_spec;  /* stage.c */
extern PyType_Spec core_writer_spec; /* writer.c */

/* A store over a mapping: mapping.c. */
zlg_status core_open_mapping(zlg_ctx *ctx, PyObject *object, zlg_store **out,
                             zlg_error *err);
PyObject *core_open_store(PyObject *module, PyObject *args);
PyObject *core_open_array(PyObject *module, PyObject *const *args, Py_ssize_t n_args);
PyObject *core_open_group(PyObject *module, PyObject *args);
PyObject *core_open_member(PyObject *module, PyObject *args);
PyObject *core_create_array(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *core_create_group(PyObject *module, PyObject *args);

/* ------------------------------------------------------------------ node.c */
core_handle *core_handle_hold(core_handle *handle);
void core_handle_drop(core_handle *handle);
/* An object of `type` around what was opened, array or group, which it takes over also
 * when it fails. */
PyObject *core_node_wrap(core_state *state, PyObject *type, core_store *store,
                         zlg_array *array, zlg_group *group, core_ways ways);
/* Puts what was opened anew in place of the handle; takes it over. */
bool core_node_renew(core_node *node, zlg_array *array, zlg_group *group);
/* The same node in another object, used in other ways. */
PyObject *core_node_with_ways(core_node *node, core_ways ways);
void core_node_delete(PyObject *object);
/* False, with an exception set, where the node was opened for reading. */
bool core_node_writable(const core_node *node);
/* True where a call is made apart: a chunk of the array takes long to decode, and signals
 * are handled on this thread or there is a timeout (or NULL or None). See
 * zellige/apart.py. */
bool core_goes_apart(const core_node *array, PyObject *timeout);
/* numpy.dtype of the elements of an array, borrowed; NULL with an exception set. */
PyObject *core_handle_dtype(core_state *state, core_handle *handle);
/* Converters for "O&": None, or the name of a promise; None, True (1) or False (-1). */
int core_to_promise(PyObject *value, void *promise);
int core_to_keep_empty(PyObject *value, void *keep_empty);

PyObject *core_set_attributes(PyObject *module, PyObject *args);
PyObject *core_delete_node(PyObject *module, PyObject *args);
PyObject *core_move_node(PyObject *module, PyObject *args);
PyObject *core_consolidate(PyObject *module, PyObject *args);

/* ------------------------------------------------------------------ call.c
 * What one call of the engine needs: the GIL is released in it, signals stop it, and who
 * watches this thread is told how far it is. */
typedef struct core_call {
    zlg_call call;
    PyThreadState *thread;
    bool is_watched;
    uint64_t n_all;   /* bytes in all, as last told; 0: nothing has been told */
    uint64_t n_known; /* the same, known beforehand, where the end is told in any case */
    PyObject *outer;  /* who watched the thread before; NULL: as this call found it */
    Py_buffer cancel; /* an int that another thread sets to stop the call; perhaps a second,
                       * which counts those who put something into the caller's memory */
    bool has_cancel;
    PyObject *thrown[3]; /* raised in it on any thread, for core_call_leave to raise */
} core_call;
PyObject *core_watch(PyObject *module, PyObject *report);
/* A call that neither reads nor writes arrays, which a transform may make, too. */
void core_call_look(core_call *call);
/* timeout: NULL, None or seconds. False with an exception set. */
bool core_call_make(core_call *call, PyObject *timeout);
/* What else a call may have: somebody who is told how far it is, as zellige.progress takes
 * them, until core_call_reset; memory of an int that cancels it, or of two by which it can
 * be left behind, see core_leave; NULL or None for neither. And as many threads as are set.
 * False with an exception set; core_call_reset is due in both cases. */
bool core_call_watch(core_call *call, const core_state *state, PyObject *progress,
                     PyObject *cancel);
void core_call_reset(core_call *call);
/* Has it been cancelled, or left behind? */
bool core_call_is_cancelled(const core_call *call);
/* destination[...] = source, unless the call has been left behind, by the `cancel` that it
 * was given. False with an exception set. */
bool core_call_put(const core_call *call, PyObject *destination, PyObject *source,
                   PyObject *cancel);
PyObject *core_leave(PyObject *module, PyObject *cancel);
PyObject *core_put(PyObject *module, PyObject *args);
/* What a write asks for, or else the node: 0 asks for nothing. */
void core_call_writes(core_call *call, const core_node *node, zlg_promise promise,
                      int keep_empty);
bool core_on_main_thread(void);
/* With the GIL held, in step i of many in which no Python runs: lets others have it, and
 * handles signals, now and then. False with an exception set. */
bool core_breathe(size_t i);
void core_call_enter(core_call *call);
/* Within the call, on any thread that holds the GIL: keeps the exception that is set, if it
 * is the first one. */
void core_call_throw(core_call *call);
/* False with an exception set when the call failed, or a signal's handler raised in it. */
bool core_call_leave(core_call *call, zlg_status status, const zlg_error *err);

/* ------------------------------------------------------------------ memory.c
 * An object that exports n_bytes for writing, aligned to a page. NULL without an exception
 * where NumPy's own memory is as good, or none is left. */
PyObject *core_memory_new(PyObject *module, size_t n_bytes, void **out_data);
/* When no memory is out any more. */
void core_pool_reset(core_pool *pool);

/* ------------------------------------------------------------------ names.c
 * Names that a store lists or a group has, on their way from a call without the GIL to a
 * list of Python. Starts as {0}. */
typedef struct core_names {
    char *data; /* of each what it is, its size, and the name with its NUL */
    size_t n_bytes, n_room, n;
    bool has_sizes; /* the list is one of (name, is_prefix, n_bytes), else (name, kind) */
    bool failed;    /* no memory was left */
} core_names;
/* Non-zero when there is no memory. */
int core_names_add(core_names *names, const char *name, int kind, uint64_t n_bytes);
/* NULL with an exception set. */
PyObject *core_names_list(const core_names *names);
void core_names_reset(core_names *names);

/* ------------------------------------------------------------------ select.c */
typedef struct core_pick {
    core_handle *handle; /* of the array, held */
    zlg_selection selection;
    zlg_axis *axes; /* in `block`, as the next three: rank of them */
    const int64_t **coordinates;
    ptrdiff_t *strides; /* of the memory, once placed */
    int *place;         /* axis of the result; -1: dropped */
    void *block;
    PyObject *plan;  /* keeps index arrays alive; NULL for a basic selection */
    PyObject *shape; /* of the result: a tuple */
    bool is_box;     /* `place` holds, so the result may lie anywhere */
    bool is_scalar;  /* integers alone: the result is an element, not an array */
} core_pick;
/* Reads NumPy's basic indexing; anything else is asked of array._plan(key). False with an
 * exception set; core_pick_reset is due in both cases. */
bool core_pick_make(core_pick *pick, core_node *array, PyObject *key);
/* True for a key that names fields of records: a str, or a tuple or list with one in it. */
bool core_names_fields(PyObject *key);
void core_pick_reset(core_pick *pick);
/* True where a call is made apart for its very many points, which are sorted in one go; as
 * core_goes_apart. */
bool core_pick_goes_apart(const core_pick *pick);
/* Puts the array, and which selection of a call it was for, in front of what an exception
 * says that is set. */
void core_name_part(Py_ssize_t i, const char *path);
/* Sets the strides of a box for memory in the shape of the result. */
void core_pick_place(core_pick *pick, const Py_ssize_t *strides);

/* ------------------------------------------------------------------ reading, writing
 * read.c, write.c */
PyObject *core_array_subscript(PyObject *self, PyObject *key);
/* Bytes of the elements of a shape; SIZE_MAX where they are too many to count. */
size_t core_n_bytes_of(PyObject *shape, size_t n_bytes_element);
PyObject *core_array_read(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *core_read_many(PyObject *module, PyObject *args);
PyObject *core_array_explain(PyObject *self, PyObject *args);
int core_array_assign(PyObject *self, PyObject *key, PyObject *value);
PyObject *core_array_write(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *core_array_clear(PyObject *self, PyObject *args);
PyObject *core_write_many(PyObject *module, PyObject *args);
PyObject *core_join_texts(PyObject *module, PyObject *items);
/* A list of the elements: str where the type is text, else bytes. */
PyObject *core_varlen_items(const zlg_varlen *varlen, const zlg_array *array);

/* ------------------------------------------------------------------ pipeline.c */
PyObject *core_array_from_metadata(PyObject *module, PyObject *args);
PyObject *core_chunk_coordinates(PyObject *module, PyObject *args);
PyObject *core_read_chunks(PyObject *module, PyObject *args);
PyObject *core_explain_chunks(PyObject *module, PyObject *args);
PyObject *core_write_chunks(PyObject *module, PyObject *args);

/* ------------------------------------------------------------------ encoded.c */
PyObject *core_array_read_encoded(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *core_array_write_encoded(PyObject *self, PyObject *args, PyObject *keywords);

/* ------------------------------------------------------------------ writer.c */
PyObject *core_open_writer(PyObject *module, PyObject *args);

/* ------------------------------------------------------------------ stage.c
 * An object that exports memory of malloc, which it takes over also when it fails. */
PyObject *core_block_new(PyObject *module, void *data, size_t n_bytes);

/* ------------------------------------------------------------------ change.c */
PyObject *core_array_refresh(PyObject *self, PyObject *unused);
PyObject *core_array_resize(PyObject *self, PyObject *args);
PyObject *core_array_append(PyObject *self, PyObject *args);

/* ------------------------------------------------------------------ source.c
 * Values to write as the engine takes them, without a copy where it can be had. */
typedef struct core_source {
    zlg_source source;
    PyObject *kept; /* what the views are of */
    Py_buffer view, offsets;
    bool has_view, has_offsets;
    bool is_packed; /* in C order as it lies: no strides are needed */
    bool is_one;    /* variable length: one element, meant for all */
} core_source;
/* Memory of `value` in the type of the array, with a stride for each axis of `shape` (a
 * tuple). may_be_one: a text for all elements may be left as it is. False with an exception
 * set; core_source_reset is due in both cases. */
bool core_source_make(core_source *source, core_node *array, core_handle *handle,
                      PyObject *value, PyObject *shape, bool may_be_one,
                      Py_ssize_t strides[CORE_MAX_RESULT_RANK]);
/* The same of what exports memory in the type of the array. */
bool core_source_view(core_source *source, PyObject *value, int swapped,
                      size_t n_bytes_element, PyObject *shape, Py_ssize_t *strides);
/* The stride in the one axis of points and masks: copies where none would do. */
bool core_source_flatten(core_source *source, core_node *array, PyObject *shape,
                         const Py_ssize_t *strides, Py_ssize_t *out_stride);
void core_source_reset(core_source *source);

#endif
