/*
 * Arrays that change over time: each call gives a new handle of the array, which takes the
 * place of the old one in the object.
 */
#include "core.h"

#include <stdio.h>

/*
 * Takes `fresh`, which a call that began with `held` gave, as the handle of the array.
 * Where another thread has put one there meanwhile nobody knows which of the two is newer:
 * the array is read again. Drops `held`.
 */
static bool renew(core_node *array, core_handle *held, zlg_array *fresh)
{
    while (array->handle != held) {
        zlg_array_close(fresh);
        core_handle_drop(held);
        held = core_handle_hold(array->handle);
        zlg_error err;
        zlg_status status;
        CORE_UNLOCKED(status = zlg_array_refresh(held->array, &fresh, &err));
        if (status != ZLG_OK) {
            core_handle_drop(held);
            return core_raise(&err) != NULL;
        }
    }
    core_handle_drop(held);
    return core_node_renew(array, fresh, NULL);
}

/* _refresh(): the array as it is stored now */
PyObject *core_array_refresh(PyObject *self, PyObject *unused)
{
    (void)unused;
    core_node *array = (core_node *)self;
    core_handle *held = core_handle_hold(array->handle);
    zlg_error err;
    zlg_array *fresh;
    zlg_status status;
    CORE_UNLOCKED(status = zlg_array_refresh(held->array, &fresh, &err));
    if (status != ZLG_OK) {
        core_handle_drop(held);
        return core_raise(&err);
    }
    return renew(array, held, fresh) ? Py_NewRef(Py_None) : NULL;
}

/* A shape of as many lengths as there are axes; false with an exception set. */
static bool take_shape(PyObject *tuple, int rank, int64_t *out)
{
    if (PyTuple_Size(tuple) != rank) {
        PyErr_Format(PyExc_ValueError, "a shape of %zd lengths for %d axes",
                     PyTuple_Size(tuple), rank);
        return false;
    }
    for (int i = 0; i < rank; i++) {
        out[i] = PyLong_AsLongLong(PyTuple_GetItem(tuple, i));
        if (out[i] == -1 && PyErr_Occurred())
            return false;
    }
    return true;
}

/* _resize(shape, promise, timeout, cancel) */
PyObject *core_array_resize(PyObject *self, PyObject *args)
{
    core_node *array = (core_node *)self;
    PyObject *tuple, *timeout, *cancel;
    zlg_promise promise;
    int64_t shape[ZLG_MAX_RANK];
    core_call call;
    if (!PyArg_ParseTuple(args, "O!O&OO", &PyTuple_Type, &tuple, core_to_promise, &promise,
                          &timeout, &cancel) ||
        !core_node_writable(array) || !core_call_make(&call, timeout) ||
        !take_shape(tuple, zlg_array_rank(array->handle->array), shape))
        return NULL;
    if (!core_call_watch(&call, core_state_of(array->module), NULL, cancel)) {
        core_call_reset(&call);
        return NULL;
    }
    core_handle *held = core_handle_hold(array->handle);
    zlg_error err;
    zlg_array *fresh = NULL;
    core_call_writes(&call, array, promise, 0);
    core_call_enter(&call);
    zlg_status status = zlg_array_resize(held->array, shape, &call.call, &fresh, &err);
    bool good = core_call_leave(&call, status, &err);
    core_call_reset(&call);
    if (status != ZLG_OK) {
        core_handle_drop(held);
        return NULL;
    }
    return renew(array, held, fresh) && good ? Py_NewRef(Py_None) : NULL;
}

/* Data that is appended has the lengths of the array, but for one axis. */
static bool check_appended(const zlg_array *array, int axis, const int64_t *shape)
{
    int rank = zlg_array_rank(array);
    const int64_t *lengths = zlg_array_shape(array);
    zlg_error err = {.status = ZLG_USAGE};
    if (axis < 0 || axis >= rank) {
        snprintf(err.message, sizeof err.message, "no axis %d in an array of %d axes", axis,
                 rank);
        return core_raise(&err) != NULL;
    }
    for (int i = 0; i < rank; i++) {
        if (i == axis || shape[i] == lengths[i])
            continue;
        snprintf(err.message, sizeof err.message,
                 "what is appended has %lld elements along axis %d, the array has %lld",
                 (long long)shape[i], i, (long long)lengths[i]);
        return core_raise(&err) != NULL;
    }
    return true;
}

/* _append(data, shape of data, axis, promise, keep_empty, timeout, cancel) */
PyObject *core_array_append(PyObject *self, PyObject *args)
{
    core_node *array = (core_node *)self;
    PyObject *data, *tuple, *timeout, *cancel;
    int axis, keep_empty;
    zlg_promise promise;
    int64_t shape[ZLG_MAX_RANK];
    Py_ssize_t strides[CORE_MAX_RESULT_RANK];
    core_call call;
    if (!PyArg_ParseTuple(args, "OO!iO&O&OO", &data, &PyTuple_Type, &tuple, &axis,
                          core_to_promise, &promise, core_to_keep_empty, &keep_empty,
                          &timeout, &cancel) ||
        !core_node_writable(array) || !core_call_make(&call, timeout))
        return NULL;
    core_source source = {0};
    core_handle *held = core_handle_hold(array->handle);
    zlg_error err;
    zlg_array *fresh = NULL;
    zlg_status status = ZLG_USAGE;
    bool good = false;
    if (core_call_watch(&call, core_state_of(array->module), NULL, cancel) &&
        take_shape(tuple, zlg_array_rank(held->array), shape) &&
        check_appended(held->array, axis, shape) &&
        core_source_make(&source, array, held, data, tuple, false, strides)) {
        source.source.strides = source.is_packed ? NULL : strides;
        core_call_writes(&call, array, promise, keep_empty);
        core_call_enter(&call);
        status = zlg_array_append(held->array, axis, shape[axis], &source.source,
                                  &call.call, &fresh, &err);
        good = core_call_leave(&call, status, &err);
    }
    core_call_reset(&call);
    core_source_reset(&source);
    if (status != ZLG_OK) {
        core_handle_drop(held);
        return NULL;
    }
    return renew(array, held, fresh) && good ? Py_NewRef(Py_None) : NULL;
}
