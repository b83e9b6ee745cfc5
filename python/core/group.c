/*
 * The type Group: a handle of a folder of arrays and groups. Knows what kind a member is
 * and opens it; mapping, trees and reports are Python's.
 */
#include "core.h"

/* open_group(type, store, path, zarr_format, read_only, use_consolidated, promise,
 * keep_empty) */
PyObject *core_open_group(PyObject *module, PyObject *args)
{
    core_state *state = core_state_of(module);
    PyObject *type, *store;
    const char *path;
    int read_only, use_consolidated, keep_empty;
    zlg_promise promise;
    zlg_open_options options = ZLG_OPEN_OPTIONS_INIT;
    if (!PyArg_ParseTuple(args, "OO!sippO&p", &type, state->store_type, &store, &path,
                          &options.zarr_format, &read_only, &use_consolidated,
                          core_to_promise, &promise, &keep_empty))
        return NULL;
    zlg_error err;
    zlg_group *handle;
    zlg_status status;
    options.ignore_consolidated = !use_consolidated;
    CORE_UNLOCKED(status = zlg_group_open(((core_store *)store)->handle, path, &options,
                                          &handle, &err));
    if (status != ZLG_OK)
        return core_raise(&err);
    core_ways ways = {.read_only = read_only != 0,
                      .promise = promise ? promise : ZLG_VISIBLE,
                      .keep_empty = keep_empty != 0};
    return core_node_wrap(state, type, (core_store *)store, NULL, handle, ways);
}

/* create_group(type, store, path, zarr_format, attributes, overwrite, exist_ok,
 * python_tokens, promise, keep_empty) */
PyObject *core_create_group(PyObject *module, PyObject *args)
{
    core_state *state = core_state_of(module);
    PyObject *type, *store;
    const char *path;
    int keep_empty;
    core_call call;
    zlg_group_spec spec = ZLG_GROUP_SPEC_INIT;
    if (!PyArg_ParseTuple(args, "OO!sizpppO&p", &type, state->store_type, &store, &path,
                          &spec.zarr_format, &spec.attributes, &spec.overwrite,
                          &spec.exist_ok, &spec.python_tokens, core_to_promise,
                          &spec.promise, &keep_empty) ||
        !core_call_make(&call, NULL))
        return NULL;
    spec.call = &call.call;
    zlg_error err;
    zlg_group *handle;
    core_call_enter(&call);
    zlg_status status =
        zlg_group_create(((core_store *)store)->handle, path, &spec, &handle, &err);
    if (!core_call_leave(&call, status, &err)) {
        zlg_group_close(handle);
        return NULL;
    }
    core_ways ways = {.promise = spec.promise ? spec.promise : ZLG_VISIBLE,
                      .keep_empty = keep_empty != 0};
    return core_node_wrap(state, type, (core_store *)store, NULL, handle, ways);
}

/* _reopen(use_consolidated): takes the group as it is stored now */
static PyObject *group_reopen(PyObject *object, PyObject *args)
{
    int use_consolidated;
    if (!PyArg_ParseTuple(args, "p", &use_consolidated))
        return NULL;
    core_node *self = (core_node *)object;
    core_handle *handle = core_handle_hold(self->handle);
    zlg_open_options options = ZLG_OPEN_OPTIONS_INIT;
    options.zarr_format = zlg_group_zarr_format(handle->group);
    options.ignore_consolidated = !use_consolidated;
    zlg_error err;
    zlg_group *fresh;
    zlg_status status;
    CORE_UNLOCKED(status = zlg_group_open(((core_store *)self->store)->handle,
                                          zlg_group_path(handle->group), &options, &fresh,
                                          &err));
    core_handle_drop(handle);
    if (status != ZLG_OK)
        return core_raise(&err);
    if (!core_node_renew(self, NULL, fresh))
        return NULL;
    Py_RETURN_NONE;
}

/* ---------------------------------------------------------------------- members */

/* open_member(group, path, array type, group type): what lies at the path */
PyObject *core_open_member(PyObject *module, PyObject *args)
{
    core_state *state = core_state_of(module);
    PyObject *object, *array_type, *group_type;
    const char *path;
    if (!PyArg_ParseTuple(args, "O!sOO", state->group_type, &object, &path, &array_type,
                          &group_type))
        return NULL;
    core_node *self = (core_node *)object;
    core_handle *handle = core_handle_hold(self->handle);
    zlg_error err;
    zlg_node kind;
    zlg_array *array = NULL;
    zlg_group *group = NULL;
    core_ways ways = self->ways;
    PyThreadState *thread = PyEval_SaveThread();
    zlg_status status = zlg_group_member_kind(handle->group, path, &kind, &err);
    /* Opening what is not there as an array gives the right error. */
    if (status == ZLG_OK)
        status = kind == ZLG_NODE_GROUP
                     ? zlg_group_open_group(handle->group, path, &group, &err)
                     : zlg_group_open_array(handle->group, path, &array, &err);
    PyEval_RestoreThread(thread);
    core_handle_drop(handle);
    if (status != ZLG_OK)
        return core_raise(&err);
    return core_node_wrap(state, array != NULL ? array_type : group_type,
                          (core_store *)self->store, array, group, ways);
}

static int add_member(void *names, const char *path, zlg_node kind)
{
    return core_names_add(names, path, (int)kind, 0);
}

/* _members(recursive): [(path, kind)], kind 0 broken, 1 group, 2 array */
static PyObject *group_members(PyObject *object, PyObject *args)
{
    int recursive;
    if (!PyArg_ParseTuple(args, "p", &recursive))
        return NULL;
    core_call call;
    core_names names = {0};
    core_call_look(&call);
    zlg_error err;
    core_handle *handle = core_handle_hold(((core_node *)object)->handle);
    core_call_enter(&call);
    zlg_status status = zlg_group_members_call(handle->group, recursive, add_member, &names,
                                               &call.call, &err);
    bool good = core_call_leave(&call, status, &err);
    core_handle_drop(handle);
    PyObject *list = good ? core_names_list(&names) : NULL;
    core_names_reset(&names);
    return list;
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
    core_handle *handle = core_handle_hold(((core_node *)object)->handle);
    CORE_UNLOCKED(status = zlg_group_member_kind(handle->group, path, &kind, &err));
    core_handle_drop(handle);
    if (status != ZLG_OK)
        return core_raise(&err);
    return PyLong_FromLong((long)kind);
}

/* ---------------------------------------------------------------------- facts */

static PyObject *group_consolidated(PyObject *object, void *unused)
{
    (void)unused;
    return PyBool_FromLong(zlg_group_is_consolidated(((core_node *)object)->handle->group));
}

static PyMethodDef methods[] = {
    {"_members", group_members, METH_VARARGS, NULL},
    {"_kind", group_kind, METH_VARARGS, NULL},
    {"_reopen", group_reopen, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef facts[] = {
    {"is_consolidated", group_consolidated, NULL,
     "True when members are answered from consolidated metadata.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, CORE_SLOT("A handle of a group.")},
    {Py_tp_dealloc, CORE_SLOT(core_node_delete)},
    {Py_tp_methods, methods},
    {Py_tp_getset, facts},
    {0, NULL},
};

PyType_Spec core_group_spec = {
    .name = "zellige._core.Group",
    .basicsize = sizeof(core_node),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};
