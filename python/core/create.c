/*
 * Making arrays: Python's arguments become a zlg_array_spec. Every document in it is JSON
 * text made in create.py; the library judges them.
 */
#include "core.h"

typedef struct spec_memory {
    int64_t shape[ZLG_MAX_RANK], object_shape[ZLG_MAX_RANK], chunk_shape[ZLG_MAX_RANK];
    const char *names[ZLG_MAX_RANK];
} spec_memory;

/* A tuple of integers. -1 with an exception set, else their number. */
static int take_lengths(PyObject *tuple, int64_t *out)
{
    Py_ssize_t n = PyTuple_Size(tuple);
    if (n < 0)
        return -1;
    if (n > ZLG_MAX_RANK) {
        PyErr_Format(PyExc_ValueError, "an array has at most %d axes", ZLG_MAX_RANK);
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        out[i] = PyLong_AsLongLong(PyTuple_GetItem(tuple, i));
        if (out[i] == -1 && PyErr_Occurred())
            return -1;
    }
    return (int)n;
}

/* A shape of chunks or shards, or None. */
static bool take_same(PyObject *tuple, int rank, const char *what, int64_t *memory,
                      const int64_t **out)
{
    if (tuple == Py_None)
        return true;
    int n = take_lengths(tuple, memory);
    if (n >= 0 && n != rank)
        PyErr_Format(PyExc_ValueError, "%s has %d lengths for %d axes", what, n, rank);
    *out = memory;
    return n == rank;
}

static bool take_names(PyObject *names, int rank, spec_memory *memory, zlg_array_spec *spec)
{
    if (names == Py_None)
        return true;
    if (PyTuple_Size(names) != rank) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "dimension_names needs one entry per axis");
        return false;
    }
    for (int i = 0; i < rank; i++) {
        PyObject *name = PyTuple_GetItem(names, i);
        if (!PyArg_Parse(name, "z", &memory->names[i])) /* no NUL in it */
            return false;
    }
    spec->dimension_names = memory->names;
    return true;
}

static bool take_shapes(PyObject *shape, PyObject *object_shape, PyObject *chunk_shape,
                        spec_memory *memory, zlg_array_spec *spec)
{
    if (shape == Py_None) { /* that of another array */
        spec->rank = zlg_array_rank(spec->like);
    } else {
        spec->rank = take_lengths(shape, memory->shape);
        spec->shape = memory->shape;
    }
    return spec->rank >= 0 &&
           take_same(object_shape, spec->rank, chunk_shape == Py_None ? "chunks" : "shards",
                     memory->object_shape, &spec->object_shape) &&
           take_same(chunk_shape, spec->rank, "chunks", memory->chunk_shape,
                     &spec->chunk_shape);
}

static bool take_like(core_state *state, PyObject *like, core_handle **out)
{
    if (like == Py_None)
        return true;
    if (!PyObject_TypeCheck(like, (PyTypeObject *)state->array_type)) {
        PyErr_Format(PyExc_TypeError, "like must be a zellige.Array, not %R",
                     Py_TYPE(like));
        return false;
    }
    *out = core_handle_hold(((core_node *)like)->handle);
    return true;
}

static PyObject *create(core_state *state, PyObject *type, core_store *store,
                        const char *path, zlg_array_spec *spec)
{
    core_call call;
    if (!core_call_make(&call, NULL))
        return NULL;
    spec->call = &call.call;
    zlg_error err;
    zlg_array *array;
    core_call_enter(&call);
    zlg_status status = zlg_array_create(store->handle, path, spec, &array, &err);
    if (!core_call_leave(&call, status, &err)) {
        zlg_array_close(array);
        return NULL;
    }
    core_ways ways = {.promise = spec->promise ? spec->promise : ZLG_VISIBLE,
                      .keep_empty = spec->keep_empty != 0};
    return core_node_wrap(state, type, store, array, NULL, ways);
}

/* create_array(type, store, path, shape=, ...): the fields of zlg_array_spec by name */
PyObject *core_create_array(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"type",
                            "store",
                            "path",
                            "zarr_format",
                            "shape",
                            "object_shape",
                            "chunk_shape",
                            "data_type",
                            "fill_value",
                            "codecs",
                            "attributes",
                            "dimension_names",
                            "index_location",
                            "chunk_grid",
                            "chunk_key_encoding",
                            "separator",
                            "order",
                            "overwrite",
                            "exist_ok",
                            "python_tokens",
                            "like",
                            "target_chunk_bytes",
                            "target_shard_bytes",
                            "promise",
                            "keep_empty",
                            NULL};
    core_state *state = core_state_of(module);
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    spec_memory memory;
    core_handle *like_handle = NULL;
    PyObject *type, *store, *shape, *object_shape, *chunk_shape, *dimension_names, *like;
    PyObject *result = NULL;
    const char *path;
    long long target_chunk_bytes, target_shard_bytes;
    if (!PyArg_ParseTupleAndKeywords(
            args, keywords, "OO!siOOOzzzzOzzzzzpppOLLO&p", names, &type, state->store_type,
            &store, &path, &spec.zarr_format, &shape, &object_shape, &chunk_shape,
            &spec.data_type, &spec.fill_value, &spec.codecs, &spec.attributes,
            &dimension_names, &spec.index_location, &spec.chunk_grid,
            &spec.chunk_key_encoding, &spec.separator, &spec.order, &spec.overwrite,
            &spec.exist_ok, &spec.python_tokens, &like, &target_chunk_bytes,
            &target_shard_bytes, core_to_promise, &spec.promise, &spec.keep_empty) ||
        !take_like(state, like, &like_handle))
        return NULL;
    spec.like = like_handle != NULL ? like_handle->array : NULL;
    spec.target_chunk_bytes = target_chunk_bytes;
    spec.target_shard_bytes = target_shard_bytes;
    if (take_shapes(shape, object_shape, chunk_shape, &memory, &spec) &&
        take_names(dimension_names, spec.rank, &memory, &spec))
        result = create(state, type, (core_store *)store, path, &spec);
    if (like_handle != NULL)
        core_handle_drop(like_handle);
    return result;
}
