/*
 * The type Array: a handle, its facts and its documents as text. Opening one is most of
 * what some programs do, so nothing is asked of the library before it is wanted.
 */
#include "_core.h"

#include <stdio.h>

PyObject *core_array_wrap(core_state *state, PyObject *type, core_store *store,
                          zlg_array *handle, bool read_only)
{
    core_array *self = core_new(type, state->array_type);
    if (self == NULL) {
        zlg_array_close(handle);
        return NULL;
    }
    zlg_dtype dtype = zlg_array_dtype(handle);
    self->module = Py_NewRef(store->module);
    self->store = Py_NewRef((PyObject *)store);
    self->handle = handle;
    self->read_only = read_only || store->read_only;
    self->is_varlen = dtype.type >= ZLG_STRING;
    self->n_bytes_element = dtype.n_bytes;
    return (PyObject *)self;
}

static void array_delete(PyObject *object)
{
    core_array *self = (core_array *)object;
    if (self->handle != NULL)
        zlg_array_close(self->handle);
    Py_CLEAR(self->dtype);
    Py_CLEAR(self->store);
    Py_CLEAR(self->module);
    core_delete(object);
}

/* open_array(type, store, path, zarr_format, read_only) */
PyObject *core_open_array(PyObject *module, PyObject *const *args, Py_ssize_t n_args)
{
    core_state *state = core_state_of(module);
    if (n_args != 5 || !PyObject_TypeCheck(args[1], (PyTypeObject *)state->store_type)) {
        PyErr_SetString(PyExc_TypeError,
                        "open_array(type, store, path, format, read_only)");
        return NULL;
    }
    core_store *store = (core_store *)args[1];
    Py_ssize_t n_path;
    const char *path = PyUnicode_AsUTF8AndSize(args[2], &n_path);
    zlg_open_options options = ZLG_OPEN_OPTIONS_INIT;
    options.zarr_format = (int)PyLong_AsLong(args[3]);
    int read_only = PyObject_IsTrue(args[4]);
    if (path == NULL || read_only < 0 || PyErr_Occurred())
        return NULL;
    if (strlen(path) != (size_t)n_path) {
        PyErr_SetString(PyExc_ValueError, "a path holds no NUL");
        return NULL;
    }
    zlg_error err;
    zlg_array *handle;
    zlg_status status;
    CORE_UNLOCKED(status = zlg_array_open(store->handle, path, &options, &handle, &err));
    if (status != ZLG_OK)
        return core_raise(&err);
    return core_array_wrap(state, args[0], store, handle, read_only != 0);
}

/* --------------------------------------------------------------------- type of elements */

static PyObject *describe(const core_array *self, const zlg_dtype *dtype, int *path,
                          int depth);

/* ((name, rank-tuple, description), ...) of a record that `path` leads to. */
static PyObject *describe_fields(const core_array *self, int n, int *path, int depth)
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
        if (zlg_array_field(self->handle, path, depth + 1, &field, &err) != ZLG_OK) {
            Py_DECREF(fields);
            return core_raise(&err);
        }
        PyObject *inner = describe(self, &field.dtype, path, depth + 1);
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
static PyObject *describe(const core_array *self, const zlg_dtype *dtype, int *path,
                          int depth)
{
    PyObject *fields = describe_fields(self, dtype->n_fields, path, depth);
    if (fields == NULL)
        return NULL;
    return Py_BuildValue("(ssnzLN)", core_type_name(dtype->type),
                         core_type_name(dtype->part), (Py_ssize_t)dtype->n_bytes,
                         dtype->unit, (long long)dtype->scale, fields);
}

static PyObject *array_description(PyObject *object, void *unused)
{
    (void)unused;
    core_array *self = (core_array *)object;
    zlg_dtype dtype = zlg_array_dtype(self->handle);
    int path[ZLG_MAX_RANK];
    return describe(self, &dtype, path, 0);
}

static PyObject *converter(core_state *state)
{
    if (state->numpy_dtype == NULL) {
        PyObject *module = PyImport_ImportModule("zellige.dtype");
        if (module != NULL)
            state->numpy_dtype = PyObject_GetAttrString(module, "numpy_dtype");
        Py_XDECREF(module);
    }
    return state->numpy_dtype;
}

PyObject *core_array_dtype(core_array *array)
{
    if (array->dtype != NULL)
        return array->dtype;
    PyObject *convert = converter(core_state_of(array->module));
    PyObject *description = convert ? array_description((PyObject *)array, NULL) : NULL;
    if (description != NULL)
        array->dtype = PyObject_CallFunctionObjArgs(convert, description, NULL);
    Py_XDECREF(description);
    return array->dtype;
}

/* ---------------------------------------------------------------------- facts */

static PyObject *array_dtype(PyObject *object, void *unused)
{
    (void)unused;
    return Py_XNewRef(core_array_dtype((core_array *)object));
}

static PyObject *array_shape(PyObject *object, void *unused)
{
    (void)unused;
    core_array *self = (core_array *)object;
    return core_int_tuple(zlg_array_shape(self->handle), zlg_array_rank(self->handle));
}

static PyObject *array_chunk_shape(PyObject *object, void *unused)
{
    (void)unused;
    core_array *self = (core_array *)object;
    return core_int_tuple(zlg_array_chunk_shape(self->handle),
                          zlg_array_rank(self->handle));
}

static PyObject *array_object_shape(PyObject *object, void *unused)
{
    (void)unused;
    core_array *self = (core_array *)object;
    return core_int_tuple(zlg_array_object_shape(self->handle),
                          zlg_array_rank(self->handle));
}

static PyObject *array_grid_shape(PyObject *object, void *unused)
{
    (void)unused;
    core_array *self = (core_array *)object;
    int64_t shape[ZLG_MAX_RANK];
    int rank = zlg_array_rank(self->handle);
    for (int i = 0; i < rank; i++)
        shape[i] = zlg_array_grid_shape(self->handle, i);
    return core_int_tuple(shape, rank);
}

static PyObject *array_ndim(PyObject *object, void *unused)
{
    (void)unused;
    return PyLong_FromLong(zlg_array_rank(((core_array *)object)->handle));
}

static PyObject *array_format(PyObject *object, void *unused)
{
    (void)unused;
    return PyLong_FromLong(zlg_array_zarr_format(((core_array *)object)->handle));
}

static PyObject *array_path(PyObject *object, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(zlg_array_path(((core_array *)object)->handle));
}

static PyObject *array_is_sharded(PyObject *object, void *unused)
{
    (void)unused;
    return PyBool_FromLong(zlg_array_is_sharded(((core_array *)object)->handle));
}

static PyObject *array_is_rectilinear(PyObject *object, void *unused)
{
    (void)unused;
    return PyBool_FromLong(zlg_array_is_rectilinear(((core_array *)object)->handle));
}

static PyObject *array_store(PyObject *object, void *unused)
{
    (void)unused;
    return Py_NewRef(((core_array *)object)->store);
}

static PyObject *array_read_only(PyObject *object, void *unused)
{
    (void)unused;
    return PyBool_FromLong(((core_array *)object)->read_only);
}

static PyObject *array_dimension_names(PyObject *object, void *unused)
{
    (void)unused;
    core_array *self = (core_array *)object;
    int rank = zlg_array_rank(self->handle);
    PyObject *names = PyTuple_New(rank);
    bool any = false;
    for (int i = 0; names != NULL && i < rank; i++) {
        const char *name = zlg_array_dimension_name(self->handle, i);
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
    const void *fill = zlg_array_fill_value(((core_array *)object)->handle, &n_bytes);
    return PyBytes_FromStringAndSize(fill, (Py_ssize_t)n_bytes);
}

/* _edges(axis): lengths of the objects along an axis, as declared */
static PyObject *array_edges(PyObject *object, PyObject *args)
{
    core_array *self = (core_array *)object;
    int axis;
    if (!PyArg_ParseTuple(args, "i", &axis))
        return NULL;
    if (axis < 0 || axis >= zlg_array_rank(self->handle)) {
        PyErr_SetString(PyExc_IndexError, "no such axis");
        return NULL;
    }
    int64_t n = zlg_array_grid_shape(self->handle, axis);
    PyObject *edges = PyTuple_New((Py_ssize_t)n);
    for (int64_t i = 0; edges != NULL && i < n; i++) {
        PyObject *edge = PyLong_FromLongLong(zlg_array_edge(self->handle, axis, i));
        if (edge == NULL || PyTuple_SetItem(edges, (Py_ssize_t)i, edge) < 0)
            Py_CLEAR(edges);
    }
    return edges;
}

/* ---------------------------------------------------------------------- documents */

typedef zlg_status (*document_fn)(zlg_array *array, zlg_text *out, zlg_error *err);

static PyObject *document(PyObject *object, document_fn get)
{
    zlg_error err;
    zlg_text text;
    if (get(((core_array *)object)->handle, &text, &err) != ZLG_OK)
        return core_raise(&err);
    return core_text(&text);
}

static PyObject *array_attributes(PyObject *object, PyObject *unused)
{
    (void)unused;
    return document(object, zlg_array_attributes);
}

static PyObject *array_metadata(PyObject *object, PyObject *unused)
{
    (void)unused;
    return document(object, zlg_array_metadata);
}

static PyObject *array_codecs(PyObject *object, PyObject *unused)
{
    (void)unused;
    return document(object, zlg_array_codecs);
}

/* _stored(): (number, bytes) of the objects that are stored */
static PyObject *array_stored(PyObject *object, PyObject *unused)
{
    (void)unused;
    zlg_error err;
    uint64_t n_objects, n_bytes;
    zlg_status status;
    CORE_UNLOCKED(status = zlg_array_stored(((core_array *)object)->handle, &n_objects,
                                            &n_bytes, &err));
    if (status != ZLG_OK)
        return core_raise(&err);
    return Py_BuildValue("(KK)", (unsigned long long)n_objects,
                         (unsigned long long)n_bytes);
}

/* ---------------------------------------------------------------------- the type */

static PyMethodDef methods[] = {
    {"read", CORE_METHOD(core_array_read), METH_VARARGS | METH_KEYWORDS,
     "read($self, selection=..., out=None, timeout=None)\n--\n\n"
     "Reads a selection, into `out` if given; gives up after `timeout` seconds."},
    {"_explain", core_array_explain, METH_VARARGS, NULL},
    {"_edges", array_edges, METH_VARARGS, NULL},
    {"_attributes", array_attributes, METH_NOARGS, NULL},
    {"_metadata", array_metadata, METH_NOARGS, NULL},
    {"_codecs", array_codecs, METH_NOARGS, NULL},
    {"_stored", array_stored, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef facts[] = {
    {"shape", array_shape, NULL, "Length of each axis.", NULL},
    {"ndim", array_ndim, NULL, "Number of axes.", NULL},
    {"dtype", array_dtype, NULL, "NumPy type of what is read.", NULL},
    {"path", array_path, NULL, "Path inside the store.", NULL},
    {"store", array_store, NULL, "The store that holds the array.", NULL},
    {"read_only", array_read_only, NULL, "True where writes are refused.", NULL},
    {"zarr_format", array_format, NULL, "2 or 3.", NULL},
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
    {Py_tp_dealloc, CORE_SLOT(array_delete)},
    {Py_tp_methods, methods},
    {Py_tp_getset, facts},
    {Py_mp_subscript, CORE_SLOT(core_array_subscript)},
    {Py_mp_ass_subscript, CORE_SLOT(core_array_assign)},
    {0, NULL},
};

PyType_Spec core_array_spec = {
    .name = "zellige._core.Array",
    .basicsize = sizeof(core_array),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};
