/*
 * The type Store: a store handle and the bytes behind its keys. Knows no Zarr document
 * beyond telling what kind of node lies at a path.
 */
#include "core.h"

#include <stdio.h>

static bool open_handle(core_store *self, PyObject *path, const zlg_fs_options *options)
{
    zlg_ctx *ctx = core_context(core_state_of(self->module));
    if (ctx == NULL)
        return false;
    self->ctx = ctx;
    zlg_error err;
    zlg_status status;
    if (path == Py_None) {
        status = zlg_store_open_memory(ctx, &self->handle, &err);
    } else if (!PyUnicode_Check(path)) {
        status = core_open_mapping(ctx, path, &self->handle, &err);
    } else {
        PyObject *bytes;
        if (!PyUnicode_FSConverter(path, &bytes))
            return false;
        self->root = Py_NewRef(path);
        status =
            zlg_store_open_fs(ctx, PyBytes_AsString(bytes), options, &self->handle, &err);
        Py_DECREF(bytes);
    }
    if (status != ZLG_OK)
        core_raise(&err);
    return status == ZLG_OK;
}

/* open_store(type, path, or None or a mapping for one in memory, read_only, create,
 * follow_links, no_locks) */
PyObject *core_open_store(PyObject *module, PyObject *args)
{
    PyObject *type, *path;
    int read_only;
    zlg_fs_options options = ZLG_FS_OPTIONS_INIT;
    if (!PyArg_ParseTuple(args, "OOpppp", &type, &path, &read_only, &options.create,
                          &options.follow_links, &options.no_locks))
        return NULL;
    core_store *self = core_new(type, core_state_of(module)->store_type);
    if (self == NULL)
        return NULL;
    self->module = Py_NewRef(module);
    self->read_only = read_only != 0;
    self->follow_links = options.follow_links != 0;
    self->no_locks = options.no_locks != 0;
    options.read_only = read_only;
    if (!open_handle(self, path, &options))
        Py_CLEAR(self);
    return (PyObject *)self;
}

static void store_delete(PyObject *object)
{
    core_store *self = (core_store *)object;
    if (self->handle != NULL)
        zlg_store_close(self->handle);
    Py_CLEAR(self->root);
    Py_CLEAR(self->module);
    core_delete(object);
}

static PyObject *store_get(PyObject *object, PyObject *args)
{
    core_store *self = (core_store *)object;
    const char *key;
    if (!PyArg_ParseTuple(args, "s", &key))
        return NULL;
    zlg_error err = {0};
    zlg_text text;
    zlg_status status;
    CORE_UNLOCKED(status = zlg_store_get(self->handle, key, &text, &err));
    if (status == ZLG_NOT_FOUND && err.message[0] == '\0')
        snprintf(err.message, sizeof err.message, "the store has no key %s", key);
    if (status != ZLG_OK)
        return core_raise(&err);
    PyObject *result = PyBytes_FromStringAndSize(text.data, (Py_ssize_t)text.n_bytes);
    zlg_text_free(&text);
    return result;
}

static PyObject *store_put(PyObject *object, PyObject *args)
{
    core_store *self = (core_store *)object;
    const char *key;
    Py_buffer data;
    if (!PyArg_ParseTuple(args, "sy*", &key, &data))
        return NULL;
    core_call call;
    zlg_error err;
    core_call_look(&call);
    core_call_enter(&call);
    zlg_status status =
        zlg_store_put_call(self->handle, key, data.buf, (size_t)data.len, &call.call, &err);
    bool good = core_call_leave(&call, status, &err);
    PyBuffer_Release(&data);
    return good ? Py_NewRef(Py_None) : NULL;
}

static PyObject *store_remove(PyObject *object, PyObject *args)
{
    core_store *self = (core_store *)object;
    const char *key;
    if (!PyArg_ParseTuple(args, "s", &key))
        return NULL;
    core_call call;
    zlg_error err;
    core_call_look(&call);
    core_call_enter(&call);
    zlg_status status = zlg_store_delete_call(self->handle, key, &call.call, &err);
    return core_call_leave(&call, status, &err) ? Py_NewRef(Py_None) : NULL;
}

static PyObject *store_sweep(PyObject *object, PyObject *args)
{
    core_store *self = (core_store *)object;
    const char *prefix = "";
    if (!PyArg_ParseTuple(args, "|s", &prefix))
        return NULL;
    core_call call;
    core_call_look(&call);
    zlg_error err;
    uint64_t n;
    core_call_enter(&call);
    zlg_status status = zlg_store_sweep_call(self->handle, prefix, &n, &call.call, &err);
    return core_call_leave(&call, status, &err) ? PyLong_FromUnsignedLongLong(n) : NULL;
}

static int add_key(void *names, const char *name, int is_prefix, uint64_t n_bytes)
{
    return core_names_add(names, name, is_prefix, n_bytes);
}

/* list(prefix, delimited): [(name, is_prefix, n_bytes)] */
static PyObject *store_list(PyObject *object, PyObject *args)
{
    core_store *self = (core_store *)object;
    const char *prefix;
    int delimited;
    if (!PyArg_ParseTuple(args, "sp", &prefix, &delimited))
        return NULL;
    core_call call;
    core_names names = {.has_sizes = true};
    core_call_look(&call);
    zlg_error err;
    core_call_enter(&call);
    zlg_status status = zlg_store_list_call(self->handle, prefix, delimited, add_key,
                                            &names, &call.call, &err);
    bool good = core_call_leave(&call, status, &err);
    PyObject *list = good ? core_names_list(&names) : NULL;
    core_names_reset(&names);
    return list;
}

/* kind(path, zarr_format): 0 nothing, 1 group, 2 array */
static PyObject *store_kind(PyObject *object, PyObject *args)
{
    core_store *self = (core_store *)object;
    const char *path;
    zlg_open_options options = ZLG_OPEN_OPTIONS_INIT;
    if (!PyArg_ParseTuple(args, "si", &path, &options.zarr_format))
        return NULL;
    zlg_error err;
    zlg_node kind;
    zlg_status status;
    CORE_UNLOCKED(status = zlg_node_kind(self->handle, path, &options, &kind, &err));
    if (status != ZLG_OK)
        return core_raise(&err);
    return PyLong_FromLong((long)kind);
}

static PyObject *store_root(PyObject *object, void *unused)
{
    (void)unused;
    core_store *self = (core_store *)object;
    return Py_NewRef(self->root != NULL ? self->root : Py_None);
}

static PyObject *store_read_only(PyObject *object, void *unused)
{
    (void)unused;
    return PyBool_FromLong(((core_store *)object)->read_only);
}

static PyObject *store_follow_links(PyObject *object, void *unused)
{
    (void)unused;
    return PyBool_FromLong(((core_store *)object)->follow_links);
}

static PyObject *store_no_locks(PyObject *object, void *unused)
{
    (void)unused;
    return PyBool_FromLong(((core_store *)object)->no_locks);
}

static PyMethodDef methods[] = {
    {"get", store_get, METH_VARARGS, "All bytes of a key."},
    {"put", store_put, METH_VARARGS, "Stores bytes under a key, atomically."},
    {"delete", store_remove, METH_VARARGS, "Removes a key, if it is there."},
    {"sweep", store_sweep, METH_VARARGS,
     "sweep($self, prefix='', /)\n--\n\n"
     "Removes what writers left below a prefix when they died; returns how much it was."},
    {"_list", store_list, METH_VARARGS, NULL},
    {"_kind", store_kind, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef facts[] = {
    {"root", store_root, NULL, "Path of the directory; None in memory.", NULL},
    {"read_only", store_read_only, NULL, "True where writes are refused.", NULL},
    {"follow_links", store_follow_links, NULL, "True where links may lead anywhere.", NULL},
    {"no_locks", store_no_locks, NULL, "True where nothing is locked.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, CORE_SLOT("A map from keys to bytes.")},
    {Py_tp_dealloc, CORE_SLOT(store_delete)},
    {Py_tp_methods, methods},
    {Py_tp_getset, facts},
    {0, NULL},
};

PyType_Spec core_store_spec = {
    .name = "zellige._core.Store",
    .basicsize = sizeof(core_store),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};
