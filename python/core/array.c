/*
 * The type Array: a handle, its facts and its documents as text. Opening one is most of
 * what some programs do, so nothing is asked of the library before it is wanted.
 */
#include "core.h"

#include <stdio.h>

/* open_array(type, store, path, zarr_format, read_only, promise, keep_empty) */
PyObject *core_open_array(PyObject *module, PyObject *const *args, Py_ssize_t n_args)
{
    core_state *state = core_state_of(module);
    if (n_args != 7 || !PyObject_TypeCheck(args[1], (PyTypeObject *)state->store_type)) {
        PyErr_SetString(PyExc_TypeError, "open_array(type, store, path, format, read_only, "
                                         "promise, keep_empty)");
        return NULL;
    }
    core_store *store = (core_store *)args[1];
    Py_ssize_t n_path;
    const char *path = PyUnicode_AsUTF8AndSize(args[2], &n_path);
    zlg_open_options options = ZLG_OPEN_OPTIONS_INIT;
    options.zarr_format = (int)PyLong_AsLong(args[3]);
    int read_only = PyObject_IsTrue(args[4]), keep_empty = PyObject_IsTrue(args[6]);
    if (path == NULL || read_only < 0 || keep_empty < 0 || PyErr_Occurred() ||
        !core_to_promise(args[5], &options.promise))
        return NULL;
    if (strlen(path) != (size_t)n_path) {
        PyErr_SetString(PyExc_ValueError, "a path holds no NUL");
        return NULL;
    }
    options.keep_empty = keep_empty;
    core_ways ways = {.read_only = read_only != 0,
                      .promise = options.promise ? options.promise : ZLG_VISIBLE,
                      .keep_empty = keep_empty != 0};
    zlg_error err;
    zlg_array *handle;
    zlg_status status;
    CORE_UNLOCKED(status = zlg_array_open(store->handle, path, &options, &handle, &err));
    if (status != ZLG_OK)
        return core_raise(&err);
    return core_node_wrap(state, args[0], store, handle, NULL, ways);
}

/* --------------------------------------------------------------------- type of elements */

static PyObject *describe(const zlg_array *array, const zlg_dtype *dtype, int *path,
                          int depth);

/* ((name, rank-tuple, description), ...) of a record that `path` leads to. */
static PyObject *describe_fields(const zlg_array *array, int n, int *path, int depth)
{
    if (depth >= ZLG_MAX_RANK) {
        PyErr_SetString(PyExc_RecursionError, "records are nested too deep");
        return NULL;
    }
    PyObject *fields = PyTuple_New(n);
    for (int i = 0; fields != NULL && i < n; i++) {
        zlg_error err;
        zlg_field field;
        path[depth] = i;
        if (zlg_array_field(array, path, depth + 1, &field, &err) != ZLG_OK) {
            Py_DECREF(fields);
            return core_raise(&err);
        }
        PyObject *inner = describe(array, &field.dtype, path, depth + 1);
        PyObject *shape = core_int_tuple(field.shape, field.rank);
        PyObject *item = inner == NULL || shape == NULL
                             ? NULL
                             : Py_BuildValue("(sOO)", field.name, shape, inner);
        Py_XDECREF(inner);
        Py_XDECREF(shape);
        if (item == NULL || PyTuple_SetItem(fields, i, item) < 0)
            Py_CLEAR(fields);
    }
    return fields;
}

/* (name, name of a part, n_bytes, unit, scale, fields) */
static PyObject *describe(const zlg_array *array, const zlg_dtype *dtype, int *path,
                          int depth)
{
    PyObject *fields = describe_fields(array, dtype->n_fields, path, depth);
    if (fields == NULL)
        return NULL;
    return Py_BuildValue("(ssnzLN)", core_type_name(dtype->type),
                         core_type_name(dtype->part), (Py_ssize_t)dtype->n_bytes,
                         dtype->unit, (long long)dtype->scale, fields);
}

static PyObject *describe_elements(const zlg_array *array)
{
    zlg_dtype dtype = zlg_array_dtype(array);
    int path[ZLG_MAX_RANK];
    return describe(array, &dtype, path, 0);
}

static PyObject *converter(core_state *state)
{
    if (state->numpy_dtype == NULL) {
        PyObject *module = PyImport_ImportModule("zellige.dtype");
        PyObject *convert =
            module != NULL ? PyObject_GetAttrString(module, "numpy_dtype") : NULL;
        Py_XDECREF(module);
        if (state->numpy_dtype == NULL)
            state->numpy_dtype = convert;
        else
            Py_XDECREF(convert);
    }
    return state->numpy_dtype;
}

PyObject *core_handle_dtype(core_state *state, core_handle *handle)
{
    if (handle->dtype != NULL)
        return handle->dtype;
    PyObject *convert = converter(state), *dtype = NULL;
    PyObject *description = convert ? describe_elements(handle->array) : NULL;
    if (description != NULL)
        dtype = PyObject_CallFunctionObjArgs(convert, description, NULL);
    Py_XDECREF(description);
    /* Another thread may have been here meanwhile. */
    if (handle->dtype == NULL)
        handle->dtype = dtype;
    else
        Py_XDECREF(dtype);
    return handle->dtype;
}

/* ---------------------------------------------------------------------- facts */

static const zlg_array *array_of(PyObject *object)
{
    return ((core_node *)object)->handle->array;
}

static PyObject *array_description(PyObject *object, void *unused)
{
    (void)unused;
    return describe_elements(array_of(object));
}

static PyObject *array_dtype(PyObject *object, void *unused)
{
    (void)unused;
    core_node *self = (core_node *)object;
    core_handle *handle = core_handle_hold(self->handle);
    PyObject *dtype = Py_XNewRef(core_handle_dtype(core_state_of(self->module), handle));
    core_handle_drop(handle);
    return dtype;
}

static PyObject *array_shape(PyObject *object, void *unused)
{
    (void)unused;
    const zlg_array *array = array_of(object);
    return core_int_tuple(zlg_array_shape(array), zlg_array_rank(array));
}

static PyObject *array_chunk_shape(PyObject *object, void *unused)
{
    (void)unused;
    const zlg_array *array = array_of(object);
    return core_int_tuple(zlg_array_chunk_shape(array), zlg_array_rank(array));
}

static PyObject *array_object_shape(PyObject *object, void *unused)
{
    (void)unused;
    const zlg_array *array = array_of(object);
    return core_int_tuple(zlg_array_object_shape(array), zlg_array_rank(array));
}

static PyObject *array_grid_shape(PyObject *object, void *unused)
{
    (void)unused;
    const zlg_array *array = array_of(object);
    int64_t shape[ZLG_MAX_RANK];
    int rank = zlg_array_rank(array);
    for (int i = 0; i < rank; i++)
        shape[i] = zlg_array_grid_shape(array, i);
    return core_int_tuple(shape, rank);
}

static PyObject *array_ndim(PyObject *object, void *unused)
{
    (void)unused;
    return PyLong_FromLong(zlg_array_rank(array_of(object)));
}

static PyObject *array_is_sharded(PyObject *object, void *unused)
{
    (void)unused;
    return PyBool_FromLong(zlg_array_is_sharded(array_of(object)));
}

static PyObject *array_is_rectilinear(PyObject *object, void *unused)
{
    (void)unused;
    return PyBool_FromLong(zlg_array_is_rectilinear(array_of(object)));
}

static PyObject *array_dimension_names(PyObject *object, void *unused)
{
    (void)unused;
    const zlg_array *array = array_of(object);
    int rank = zlg_array_rank(array);
    PyObject *names = PyTuple_New(rank);
    bool any = false;
    for (int i = 0; names != NULL && i < rank; i++) {
        const char *name = zlg_array_dimension_name(array, i);
        any = any || name != NULL;
        PyObject *item = name == NULL ? Py_NewRef(Py_None) : PyUnicode_FromString(name);
        if (item == NULL || PyTuple_SetItem(names, i, item) < 0)
            Py_CLEAR(names);
    }
    if (names == NULL || any)
        return names;
    Py_DECREF(names);
    Py_RETURN_NONE;
}

static PyObject *array_fill(PyObject *object, void *unused)
{
    (void)unused;
    size_t n_bytes;
    const void *fill = zlg_array_fill_value(array_of(object), &n_bytes);
    return PyBytes_FromStringAndSize(fill, (Py_ssize_t)n_bytes);
}

/* _edges(axis): lengths of the objects along an axis, as declared */
static PyObject *array_edges(PyObject *object, PyObject *args)
{
    const zlg_array *array = array_of(object);
    int axis;
    if (!PyArg_ParseTuple(args, "i", &axis))
        return NULL;
    if (axis < 0 || axis >= zlg_array_rank(array)) {
        PyErr_SetString(PyExc_IndexError, "no such axis");
        return NULL;
    }
    int64_t n = zlg_array_grid_shape(array, axis);
    PyObject *edges = PyTuple_New((Py_ssize_t)n);
    for (int64_t i = 0; edges != NULL && i < n; i++) {
        PyObject *edge = PyLong_FromLongLong(zlg_array_edge(array, axis, i));
        if (edge == NULL || PyTuple_SetItem(edges, (Py_ssize_t)i, edge) < 0)
            Py_CLEAR(edges);
    }
    return edges;
}

/* ---------------------------------------------------------------------- documents */

static PyObject *array_codecs(PyObject *object, PyObject *unused)
{
    (void)unused;
    zlg_error err;
    zlg_text text;
    if (zlg_array_codecs(((core_node *)object)->handle->array, &text, &err) != ZLG_OK)
        return core_raise(&err);
    return core_text(&text);
}

/* _stored(): (number, bytes) of the objects that are stored */
static PyObject *array_stored(PyObject *object, PyObject *unused)
{
    (void)unused;
    core_call call;
    core_call_look(&call);
    zlg_error err;
    uint64_t n_objects, n_bytes;
    core_handle *handle = core_handle_hold(((core_node *)object)->handle);
    core_call_enter(&call);
    zlg_status status =
        zlg_array_stored_call(handle->array, &n_objects, &n_bytes, &call.call, &err);
    bool good = core_call_leave(&call, status, &err);
    core_handle_drop(handle);
    if (!good)
        return NULL;
    return Py_BuildValue("(KK)", (unsigned long long)n_objects,
                         (unsigned long long)n_bytes);
}

/* ---------------------------------------------------------------------- the type */

/* _goes_apart(timeout) */
static PyObject *array_goes_apart(PyObject *self, PyObject *timeout)
{
    return PyBool_FromLong(core_goes_apart((core_node *)self, timeout));
}

static PyMethodDef methods[] = {
    {"read", CORE_METHOD(core_array_read), METH_VARARGS | METH_KEYWORDS,
     "read($self, selection=..., out=None, timeout=None, missing_is_error=None,\n"
     "     progress=None, cancel=None, transform=None, raw=False)\n--\n\n"
     "Reads a selection, into `out` if given; gives up after `timeout` seconds. With\n"
     "`missing_is_error` a chunk that is not stored raises NotFoundError. `progress` is\n"
     "told how far it is: a function of (done, all) in bytes, or a bar of tqdm. `cancel`\n"
     "is an array of one C int that another thread sets to stop the call.\n\n"
     "`transform(index, data)` is called for each chunk (innermost, where there are\n"
     "shards) that the selection touches and that is stored: once, on any thread,\n"
     "several at once, in no order. `index` is a tuple of its place in the grid of\n"
     "chunks, `data` the elements of the whole chunk, also beyond the shape of the\n"
     "array: an array that may be changed and kept. With `raw` it is bytes, as they\n"
     "are stored. It returns what to place instead, an array of the chunk's shape\n"
     "and of the type of this one; or None, and of that chunk nothing is placed:\n"
     "without `out` anything stands there then. What it raises stops the call and\n"
     "comes out of it. It must not read or write arrays of zellige. Elements of\n"
     "variable length: UnsupportedError."},
    {"read_encoded", CORE_METHOD(core_array_read_encoded), METH_VARARGS | METH_KEYWORDS,
     "read_encoded($self, chunks, *, timeout=None)\n--\n\n"
     "The bytes of chunks as they are stored, None for each that is not: a list.\n"
     "They are innermost chunks, where there are shards, and nothing is decoded.\n"
     "`chunks` are tuples of places in the grid of chunks, as a transform is told\n"
     "them, in any order; one outside the grid raises RangeError. All in one call:\n"
     "each object is opened once."},
    {"write_encoded", CORE_METHOD(core_array_write_encoded), METH_VARARGS | METH_KEYWORDS,
     "write_encoded($self, chunks, *, promise=None, timeout=None)\n--\n\n"
     "Stores chunks as they are given: a mapping, or pairs, of a place in the grid\n"
     "of chunks and bytes, or None to remove what is stored there. Nobody looks at\n"
     "the bytes: what does not decode is for readers to find out. All in one call:\n"
     "each object is stored once, atomically and with the promise of other writes,\n"
     "and the other chunks of a shard move as they are. A chunk that is given twice\n"
     "holds what came last. After a failure some objects are stored and others not.\n"
     "Codecs around a shard: UnsupportedError."},
    {"write", CORE_METHOD(core_array_write), METH_VARARGS | METH_KEYWORDS,
     "write($self, value, selection=..., *, promise=None, keep_empty=None, timeout=None,\n"
     "      progress=None, cancel=None)\n--\n\n"
     "Writes a value into a selection, as the brackets do. What is left out is as the\n"
     "array was opened; `progress` and `cancel` are those of read."},
    {"_clear", core_array_clear, METH_VARARGS, NULL},
    {"_refresh", core_array_refresh, METH_NOARGS, NULL},
    {"_resize", core_array_resize, METH_VARARGS, NULL},
    {"_append", core_array_append, METH_VARARGS, NULL},
    {"_explain", core_array_explain, METH_VARARGS, NULL},
    {"_edges", array_edges, METH_VARARGS, NULL},
    {"_codecs", array_codecs, METH_NOARGS, NULL},
    {"_stored", array_stored, METH_NOARGS, NULL},
    {"_goes_apart", array_goes_apart, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef facts[] = {
    {"shape", array_shape, NULL, "Length of each axis.", NULL},
    {"ndim", array_ndim, NULL, "Number of axes.", NULL},
    {"dtype", array_dtype, NULL, "NumPy type of what is read.", NULL},
    {"dimension_names", array_dimension_names, NULL, "Names of the axes, or None.", NULL},
    {"_chunk_shape", array_chunk_shape, NULL, NULL, NULL},
    {"_object_shape", array_object_shape, NULL, NULL, NULL},
    {"_grid_shape", array_grid_shape, NULL, NULL, NULL},
    {"_is_sharded", array_is_sharded, NULL, NULL, NULL},
    {"_is_rectilinear", array_is_rectilinear, NULL, NULL, NULL},
    {"_description", array_description, NULL, NULL, NULL},
    {"_fill", array_fill, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, CORE_SLOT("A handle of an array.")},
    {Py_tp_dealloc, CORE_SLOT(core_node_delete)},
    {Py_tp_methods, methods},
    {Py_tp_getset, facts},
    {Py_mp_subscript, CORE_SLOT(core_array_subscript)},
    {Py_mp_ass_subscript, CORE_SLOT(core_array_assign)},
    {0, NULL},
};

PyType_Spec core_array_spec = {
    .name = "zellige._core.Array",
    .basicsize = sizeof(core_node),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};
