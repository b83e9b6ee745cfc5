/*
 * The type Node: what arrays and groups have in common. It knows where a node lies, how it
 * may be used, and the changes that are made to any node by its path: attributes, removal,
 * moving, consolidated metadata. Knows nothing of elements and members.
 */
#include "transform.h"

#include <stdio.h>

static const char *const promise_names[] = {
    [ZLG_VISIBLE] = "visible",
    [ZLG_DURABLE] = "durable",
    [ZLG_VERIFIED] = "verified",
};

/* ---------------------------------------------------------------------- handles */

static core_handle *handle_new(zlg_array *array, zlg_group *group)
{
    core_handle *handle = PyMem_Malloc(sizeof *handle);
    if (handle == NULL) {
        zlg_array_close(array);
        zlg_group_close(group);
        PyErr_NoMemory();
        return NULL;
    }
    *handle = (core_handle){.n_holders = 1, .array = array, .group = group};
    if (array != NULL) {
        zlg_dtype dtype = zlg_array_dtype(array);
        handle->is_varlen = dtype.type >= ZLG_STRING;
        handle->n_bytes_element = dtype.n_bytes;
    }
    return handle;
}

core_handle *core_handle_hold(core_handle *handle)
{
    handle->n_holders++;
    return handle;
}

void core_handle_drop(core_handle *handle)
{
    if (--handle->n_holders > 0)
        return;
    zlg_array_close(handle->array);
    zlg_group_close(handle->group);
    Py_XDECREF(handle->dtype);
    PyMem_Free(handle);
}

/* Some 20 ms of inflating. */
enum { LARGE_CHUNK = 8 << 20 };

static bool has_large_chunks(const core_handle *handle)
{
    const int64_t *shape = zlg_array_chunk_shape(handle->array);
    int64_t n_bytes = handle->n_bytes_element > 0 ? (int64_t)handle->n_bytes_element : 1;
    for (int i = 0; i < zlg_array_rank(handle->array) && n_bytes > 0; i++)
        if (__builtin_mul_overflow(n_bytes, shape[i], &n_bytes))
            return true;
    return n_bytes >= LARGE_CHUNK;
}

bool core_goes_apart(const core_node *array, PyObject *timeout)
{
    return has_large_chunks(array->handle) && !core_transform_is_inside() &&
           (core_is_given(timeout) || core_on_main_thread());
}

PyObject *core_node_wrap(core_state *state, PyObject *type, core_store *store,
                         zlg_array *array, zlg_group *group, core_ways ways)
{
    core_handle *handle = handle_new(array, group);
    if (handle == NULL)
        return NULL;
    core_node *self = core_new(type, array != NULL ? state->array_type : state->group_type);
    if (self == NULL) {
        core_handle_drop(handle);
        return NULL;
    }
    self->module = Py_NewRef(store->module);
    self->store = Py_NewRef((PyObject *)store);
    self->handle = handle;
    self->ways = ways;
    self->ways.read_only = ways.read_only || store->read_only;
    return (PyObject *)self;
}

bool core_node_renew(core_node *node, zlg_array *array, zlg_group *group)
{
    core_handle *handle = handle_new(array, group);
    if (handle == NULL)
        return false;
    core_handle *old = node->handle;
    node->handle = handle;
    core_handle_drop(old);
    return true;
}

PyObject *core_node_with_ways(core_node *node, core_ways ways)
{
    core_state *state = core_state_of(node->module);
    core_node *other = core_new((PyObject *)Py_TYPE((PyObject *)node), state->node_type);
    if (other == NULL)
        return NULL;
    other->module = Py_NewRef(node->module);
    other->store = Py_NewRef(node->store);
    other->handle = core_handle_hold(node->handle);
    other->ways = ways;
    return (PyObject *)other;
}

void core_node_delete(PyObject *object)
{
    core_node *self = (core_node *)object;
    if (self->handle != NULL)
        core_handle_drop(self->handle);
    Py_CLEAR(self->store);
    Py_CLEAR(self->module);
    core_delete(object);
}

bool core_node_writable(const core_node *node)
{
    if (!node->ways.read_only)
        return true;
    zlg_error err = {.status = ZLG_USAGE};
    snprintf(err.message, sizeof err.message,
             "the %s was opened for reading only: use mode=\"r+\"",
             node->handle->array != NULL ? "array" : "group");
    core_raise(&err);
    return false;
}

/* ---------------------------------------------------------------------- converters */

int core_to_promise(PyObject *value, void *promise)
{
    zlg_promise *out = promise;
    *out = ZLG_PROMISE_DEFAULT;
    if (value == Py_None)
        return 1;
    const char *name = PyUnicode_Check(value) ? PyUnicode_AsUTF8AndSize(value, NULL) : "";
    if (name == NULL)
        return 0;
    for (int i = ZLG_VISIBLE; i <= ZLG_VERIFIED; i++) {
        if (strcmp(name, promise_names[i]) == 0)
            *out = (zlg_promise)i;
    }
    if (*out != ZLG_PROMISE_DEFAULT)
        return 1;
    zlg_error err = {.status = ZLG_USAGE};
    snprintf(err.message, sizeof err.message,
             "promise \"%.100s\" is none of visible, durable, verified", name);
    core_raise(&err);
    return 0;
}

int core_to_keep_empty(PyObject *value, void *keep_empty)
{
    int *out = keep_empty;
    int is_true = value == Py_None ? 0 : PyObject_IsTrue(value);
    *out = value == Py_None ? 0 : is_true ? 1 : -1;
    return is_true >= 0;
}

/* ---------------------------------------------------------------------- changes by path */

/* Names of a tuple of bytes, borrowed from it. NULL with an exception set. */
static const char **take_names(PyObject *tuple, int *out_n)
{
    Py_ssize_t n = PyTuple_Size(tuple);
    const char **names = n < 0 ? NULL : PyMem_Malloc((size_t)(n + 1) * sizeof *names);
    if (names == NULL)
        return n < 0 ? NULL : (PyErr_NoMemory(), NULL);
    for (Py_ssize_t i = 0; i < n; i++) {
        if (!PyArg_Parse(PyTuple_GetItem(tuple, i), "y", &names[i])) { /* no NUL in it */
            PyMem_Free(names);
            return NULL;
        }
    }
    *out_n = (int)n;
    return names;
}

/* set_attributes(node, JSON or None, names to remove as bytes, replace, python_tokens,
 * promise) */
PyObject *core_set_attributes(PyObject *module, PyObject *args)
{
    PyObject *object, *remove;
    const char *text;
    zlg_promise promise;
    core_call call;
    zlg_edit_options options = ZLG_EDIT_OPTIONS_INIT;
    if (!PyArg_ParseTuple(args, "O!zO!ppO&", core_state_of(module)->node_type, &object,
                          &text, &PyTuple_Type, &remove, &options.replace,
                          &options.python_tokens, core_to_promise, &promise))
        return NULL;
    core_node *node = (core_node *)object;
    if (!core_node_writable(node) || !core_call_make(&call, NULL))
        return NULL;
    options.promise = promise != ZLG_PROMISE_DEFAULT ? promise : node->ways.promise;
    const char **names = take_names(remove, &options.n_remove);
    if (names == NULL)
        return NULL;
    options.remove = names;
    options.call = &call.call;
    zlg_error err;
    core_handle *handle = core_handle_hold(node->handle);
    const char *path =
        handle->array ? zlg_array_path(handle->array) : zlg_group_path(handle->group);
    core_call_enter(&call);
    zlg_status status = zlg_node_set_attributes(((core_store *)node->store)->handle, path,
                                                text, &options, &err);
    bool good = core_call_leave(&call, status, &err);
    core_handle_drop(handle);
    PyMem_Free(names);
    return good ? Py_NewRef(Py_None) : NULL;
}

/* delete_node(store, path) */
PyObject *core_delete_node(PyObject *module, PyObject *args)
{
    PyObject *store;
    const char *path;
    core_call call;
    if (!PyArg_ParseTuple(args, "O!s", core_state_of(module)->store_type, &store, &path) ||
        !core_call_make(&call, NULL))
        return NULL;
    zlg_error err;
    core_call_enter(&call);
    zlg_status status =
        zlg_node_delete(((core_store *)store)->handle, path, &call.call, &err);
    return core_call_leave(&call, status, &err) ? Py_NewRef(Py_None) : NULL;
}

/* move_node(store, from, to) */
PyObject *core_move_node(PyObject *module, PyObject *args)
{
    PyObject *store;
    const char *from, *to;
    core_call call;
    if (!PyArg_ParseTuple(args, "O!ss", core_state_of(module)->store_type, &store, &from,
                          &to) ||
        !core_call_make(&call, NULL))
        return NULL;
    zlg_error err;
    core_call_enter(&call);
    zlg_status status =
        zlg_node_rename(((core_store *)store)->handle, from, to, &call.call, &err);
    return core_call_leave(&call, status, &err) ? Py_NewRef(Py_None) : NULL;
}

/* consolidate(store, path, promise, python_tokens, cancel) */
PyObject *core_consolidate(PyObject *module, PyObject *args)
{
    PyObject *store, *cancel;
    const char *path;
    core_call call;
    zlg_edit_options options = ZLG_EDIT_OPTIONS_INIT;
    if (!PyArg_ParseTuple(args, "O!sO&pO", core_state_of(module)->store_type, &store, &path,
                          core_to_promise, &options.promise, &options.python_tokens,
                          &cancel) ||
        !core_call_make(&call, NULL))
        return NULL;
    options.call = &call.call;
    bool good = core_call_watch(&call, core_state_of(module), NULL, cancel);
    if (good) {
        zlg_error err;
        core_call_enter(&call);
        zlg_status status =
            zlg_group_consolidate(((core_store *)store)->handle, path, &options, &err);
        good = core_call_leave(&call, status, &err);
    }
    core_call_reset(&call);
    return good ? Py_NewRef(Py_None) : NULL;
}

/* ---------------------------------------------------------------------- facts */

static PyObject *node_path(PyObject *object, void *unused)
{
    (void)unused;
    const core_handle *handle = ((core_node *)object)->handle;
    return PyUnicode_FromString(handle->array ? zlg_array_path(handle->array)
                                              : zlg_group_path(handle->group));
}

static PyObject *node_format(PyObject *object, void *unused)
{
    (void)unused;
    const core_handle *handle = ((core_node *)object)->handle;
    return PyLong_FromLong(handle->array ? zlg_array_zarr_format(handle->array)
                                         : zlg_group_zarr_format(handle->group));
}

static PyObject *node_store(PyObject *object, void *unused)
{
    (void)unused;
    return Py_NewRef(((core_node *)object)->store);
}

static PyObject *node_read_only(PyObject *object, void *unused)
{
    (void)unused;
    return PyBool_FromLong(((core_node *)object)->ways.read_only);
}

static PyObject *node_promise(PyObject *object, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(promise_names[((core_node *)object)->ways.promise]);
}

static PyObject *node_keep_empty(PyObject *object, void *unused)
{
    (void)unused;
    return PyBool_FromLong(((core_node *)object)->ways.keep_empty);
}

static PyObject *document(zlg_status status, zlg_text *text, const zlg_error *err)
{
    return status == ZLG_OK ? core_text(text) : core_raise(err);
}

static PyObject *node_attributes(PyObject *object, PyObject *unused)
{
    (void)unused;
    zlg_error err;
    zlg_text text;
    const core_handle *handle = ((core_node *)object)->handle;
    return document(handle->array ? zlg_array_attributes(handle->array, &text, &err)
                                  : zlg_group_attributes(handle->group, &text, &err),
                    &text, &err);
}

static PyObject *node_metadata(PyObject *object, PyObject *unused)
{
    (void)unused;
    zlg_error err;
    zlg_text text;
    const core_handle *handle = ((core_node *)object)->handle;
    return document(handle->array ? zlg_array_metadata(handle->array, &text, &err)
                                  : zlg_group_metadata(handle->group, &text, &err),
                    &text, &err);
}

static PyObject *node_missing_is_error(PyObject *object, void *unused)
{
    (void)unused;
    return PyBool_FromLong(((core_node *)object)->ways.missing_is_error);
}

/* _with_ways(keep_empty, missing_is_error): the same node, used in other ways */
static PyObject *node_with_ways(PyObject *object, PyObject *args)
{
    core_ways ways = ((core_node *)object)->ways;
    int keep_empty, missing_is_error;
    if (!PyArg_ParseTuple(args, "pp", &keep_empty, &missing_is_error))
        return NULL;
    ways.keep_empty = keep_empty != 0;
    ways.missing_is_error = missing_is_error != 0;
    return core_node_with_ways((core_node *)object, ways);
}

static PyMethodDef methods[] = {
    {"_attributes", node_attributes, METH_NOARGS, NULL},
    {"_metadata", node_metadata, METH_NOARGS, NULL},
    {"_with_ways", node_with_ways, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef facts[] = {
    {"path", node_path, NULL, "Path inside the store.", NULL},
    {"store", node_store, NULL, "The store that holds the node.", NULL},
    {"read_only", node_read_only, NULL, "True where writes are refused.", NULL},
    {"zarr_format", node_format, NULL, "2 or 3.", NULL},
    {"promise", node_promise, NULL, "What writes promise that ask for nothing else.", NULL},
    {"keep_empty", node_keep_empty, NULL, "True where empty chunks are stored too.", NULL},
    {"missing_is_error", node_missing_is_error, NULL,
     "True where reads of what is not stored fail.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, CORE_SLOT("A handle of an array or a group.")},
    {Py_tp_dealloc, CORE_SLOT(core_node_delete)},
    {Py_tp_methods, methods},
    {Py_tp_getset, facts},
    {0, NULL},
};

PyType_Spec core_node_spec = {
    .name = "zellige._core.Node",
    .basicsize = sizeof(core_node),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};
