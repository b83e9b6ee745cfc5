/*
 * Making arrays: Python's arguments become a zlg_array_spec. Every document in it is JSON
 * text made in create.py; the library judges them.
 */
#include "_core.h"

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
        memory->names[i] = name == Py_None ? NULL : PyUnicode_AsUTF8AndSize(name, NULL);
        if (name != Py_None && memory->names[i] == NULL)
            return false;
    }
    spec->dimension_names = memory->names;
    return true;
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
                            NULL};
    core_state *state = core_state_of(module);
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    spec_memory memory;
    PyObject *type, *store, *shape, *object_shape, *chunk_shape, *dimension_names;
    const char *path;
    if (!PyArg_ParseTupleAndKeywords(
            args, keywords, "OO!siOOOszzzOzzzzzp", names, &type, state->store_type, &store,
            &path, &spec.zarr_format, &shape, &object_shape, &chunk_shape, &spec.data_type,
            &spec.fill_value, &spec.codecs, &spec.attributes, &dimension_names,
            &spec.index_location, &spec.chunk_grid, &spec.chunk_key_encoding,
            &spec.separator, &spec.order, &spec.overwrite))
        return NULL;
    spec.rank = take_lengths(shape, memory.shape);
    spec.shape = memory.shape;
    if (spec.rank < 0 ||
        !take_same(object_shape, spec.rank, "chunks", memory.object_shape,
                   &spec.object_shape) ||
        !take_same(chunk_shape, spec.rank, "chunks", memory.chunk_shape,
                   &spec.chunk_shape) ||
        !take_names(dimension_names, spec.rank, &memory, &spec))
        return NULL;
    zlg_error err;
    zlg_array *handle;
    zlg_status status;
    CORE_UNLOCKED(status = zlg_array_create(((core_store *)store)->handle, path, &spec,
                                            &handle, &err));
    if (status != ZLG_OK)
        return core_raise(&err);
    return core_array_wrap(state, type, (core_store *)store, handle, false);
}
