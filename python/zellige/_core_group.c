/*
 * The type Group: a handle of a folder of arrays and groups. Knows what kind a member is
 * and opens it; mapping, trees and reports are Python's.
 */
#include "_core.h"

static PyObject *wrap(core_state *state, PyObject *type, core_store *store,
                      zlg_group *handle, bool read_only)
{
    core_group *self = core_new(type, state->group_type);
    if (self == NULL) {
        zlg_group_close(handle);
        return NULL;
    }
    self->module = Py_NewRef(store->module);
    self->store = Py_NewRef((PyObject *)store);
    self->handle = handle;
    self->read_only = read_only || store->read_only;
    return (PyObject *)self;
}

static void group_delete(PyObject *object)
{
    core_group *self = (core_group *)object;
    if (self->handle != NULL)
        zlg_group_close(self->handle);
    Py_CLEAR(self->store);
    Py_CLEAR(self->module);
    core_delete(object);
}

/* open_group(type, store, path, zarr_format, read_only) */
PyObject *core_open_group(PyObject *module, PyObject *args)
{
    core_state *state = core_state_of(module);
    PyObject *type, *store;
    const char *path;
    int read_only;
    zlg_open_options options = ZLG_OPEN_OPTIONS_INIT;
    if (!PyArg_ParseTuple(args, "OO!sip", &type, state->store_type, &store, &path,
                          &options.zarr_format, &read_only))
        return NULL;
    zlg_error err;
    zlg_group *handle;
    zlg_status status;
    CORE_UNLOCKED(status = zlg_group_open(((core_store *)store)->handle, path, &options,
                                          &handle, &err));
    if (status != ZLG_OK)
        return core_raise(&err);
    return wrap(state, type, (core_store *)store, handle, read_only != 0);
}

/* create_group(type, store, path, zarr_format, attributes, overwrite) */
PyObject *core_create_group(PyObject *module, PyObject *args)
{
    core_state *state = core_state_of(module);
    PyObject *type, *store;
    const char *path, *attributes;
    int zarr_format, overwrite;
    if (!PyArg_ParseTuple(args, "OO!sizp", &type, state->store_type, &store, &path,
                          &zarr_format, &attributes, &overwrite))
        return NULL;
    zlg_error err;
    zlg_group *handle;
    zlg_status status;
    zlg_group_spec spec = ZLG_GROUP_SPEC_INIT;
    spec.zarr_format = zarr_format;
    spec.attributes = attributes;
    spec.overwrite = overwrite;
    CORE_UNLOCKED(status = zlg_group_create(((core_store *)store)->handle, path, &spec,
                                            &handle, &err));
    if (status != ZLG_OK)
        return core_raise(&err);
    return wrap(state, type, (core_store *)store, handle, false);
}

/* ---------------------------------------------------------------------- members */

static PyObject *open_group_member(core_state *state, core_group *group, PyObject *type,
                                   const char *path)
{
    zlg_error err;
    zlg_group *handle;
    zlg_status status;
    CORE_UNLOCKED(status = zlg_group_open_group(group->handle, path, &handle, &err));
    if (status != ZLG_OK)
        return core_raise(&err);
    return wrap(state, type, (core_store *)group->store, handle, group->read_only);
}

static PyObject *open_array_member(core_state *state, core_group *group, PyObject *type,
                                   const char *path)
{
    zlg_error err;
    zlg_array *handle;
    zlg_status status;
    CORE_UNLOCKED(status = zlg_group_open_array(group->handle, path, &handle, &err));
    if (status != ZLG_OK)
        return core_raise(&err);
    return core_array_wrap(state, type, (core_store *)group->store, handle,
                           group->read_only);
}

/* open_member(group, path, array type, group type): what lies at the path */
PyObject *core_open_member(PyObject *module, PyObject *args)
{
    core_state *state = core_state_of(module);
    PyObject *object, *array_type, *group_type;
    const char *path;
    if (!PyArg_ParseTuple(args, "O!sOO", state->group_type, &object, &path, &array_type,
                          &group_type))
        return NULL;
    core_group *group = (core_group *)object;
    zlg_error err;
    zlg_node kind;
    zlg_status status;
    CORE_UNLOCKED(status = zlg_group_member_kind(group->handle, path, &kind, &err));
    if (status != ZLG_OK)
        return core_raise(&err);
    /* Opening what is not there as an array gives the right error. */
    return kind == ZLG_NODE_GROUP ? open_group_member(state, group, group_type, path)
                                  : open_array_member(state, group, array_type, path);
}

/* Called with the GIL held: a walk makes Python objects all the time. */
static int add_member(void *list, const char *path, zlg_node kind)
{
    PyObject *text =
        PyUnicode_DecodeUTF8(path, (Py_ssize_t)strlen(path), "surrogateescape");
    PyObject *item = text == NULL ? NULL : Py_BuildValue("(Oi)", text, (int)kind);
    int failed = item == NULL || PyList_Append(list, item) < 0;
    Py_XDECREF(item);
    Py_XDECREF(text);
    return failed;
}

/* _members(recursive): [(path, kind)], kind 0 broken, 1 group, 2 array */
static PyObject *group_members(PyObject *object, PyObject *args)
{
    int recursive;
    if (!PyArg_ParseTuple(args, "p", &recursive))
        return NULL;
    PyObject *list = PyList_New(0);
    if (list == NULL)
        return NULL;
    zlg_error err;
    zlg_status status = zlg_group_members(((core_group *)object)->handle, recursive,
                                          add_member, list, &err);
    if (status == ZLG_OK && !PyErr_Occurred())
        return list;
    Py_DECREF(list);
    return core_raise(&err);
}

/* _kind(path): 0 nothing, 1 group, 2 array */
static PyObject *group_kind(PyObject *object, PyObject *args)
{
    const char *path;
    if (!PyArg_ParseTuple(args, "s", &path))
        return NULL;
    zlg_error err;
    zlg_node kind;
    zlg_status status;
    CORE_UNLOCKED(
        status = zlg_group_member_kind(((core_group *)object)->handle, path, &kind, &err));
    if (status != ZLG_OK)
        return core_raise(&err);
    return PyLong_FromLong((long)kind);
}

/* ---------------------------------------------------------------------- facts */

static PyObject *group_attributes(PyObject *object, PyObject *unused)
{
    (void)unused;
    zlg_error err;
    zlg_text text;
    if (zlg_group_attributes(((core_group *)object)->handle, &text, &err) != ZLG_OK)
        return core_raise(&err);
    return core_text(&text);
}

static PyObject *group_metadata(PyObject *object, PyObject *unused)
{
    (void)unused;
    zlg_error err;
    zlg_text text;
    if (zlg_group_metadata(((core_group *)object)->handle, &text, &err) != ZLG_OK)
        return core_raise(&err);
    return core_text(&text);
}

static PyObject *group_path(PyObject *object, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(zlg_group_path(((core_group *)object)->handle));
}

static PyObject *group_format(PyObject *object, void *unused)
{
    (void)unused;
    return PyLong_FromLong(zlg_group_zarr_format(((core_group *)object)->handle));
}

static PyObject *group_consolidated(PyObject *object, void *unused)
{
    (void)unused;
    return PyBool_FromLong(zlg_group_is_consolidated(((core_group *)object)->handle));
}

static PyObject *group_store(PyObject *object, void *unused)
{
    (void)unused;
    return Py_NewRef(((core_group *)object)->store);
}

static PyObject *group_read_only(PyObject *object, void *unused)
{
    (void)unused;
    return PyBool_FromLong(((core_group *)object)->read_only);
}

static PyMethodDef methods[] = {
    {"_members", group_members, METH_VARARGS, NULL},
    {"_kind", group_kind, METH_VARARGS, NULL},
    {"_attributes", group_attributes, METH_NOARGS, NULL},
    {"_metadata", group_metadata, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef facts[] = {
    {"path", group_path, NULL, "Path inside the store.", NULL},
    {"store", group_store, NULL, "The store that holds the group.", NULL},
    {"read_only", group_read_only, NULL, "True where writes are refused.", NULL},
    {"zarr_format", group_format, NULL, "2 or 3.", NULL},
    {"is_consolidated", group_consolidated, NULL,
     "True when members are answered from consolidated metadata.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, CORE_SLOT("A handle of a group.")},
    {Py_tp_dealloc, CORE_SLOT(group_delete)},
    {Py_tp_methods, methods},
    {Py_tp_getset, facts},
    {0, NULL},
};

PyType_Spec core_group_spec = {
    .name = "zellige._core.Group",
    .basicsize = sizeof(core_group),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};
