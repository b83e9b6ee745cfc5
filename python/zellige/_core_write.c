/*
 * Writing: array[selection] = value for boxes of whole chunks; what a box may be is the
 * engine's rule. array._cast(value, shape) makes of the value an array of the right type
 * and shape (strides of 0 where it repeats), or a list of bytes for variable lengths.
 */
#include "_core.h"

#include <stdio.h>

static int refuse(zlg_status status, const char *message)
{
    zlg_error err = {.status = status};
    snprintf(err.message, sizeof err.message, "%s", message);
    core_raise(&err);
    return -1;
}

static int write_fixed(core_array *array, core_pick *pick, PyObject *source)
{
    Py_buffer view;
    if (PyObject_GetBuffer(source, &view, PyBUF_STRIDES) < 0)
        return -1;
    core_pick_place(pick, &view);
    zlg_error err;
    core_call call;
    bool good = core_call_make(&call, NULL);
    if (good) {
        core_call_enter(&call);
        zlg_status status = zlg_array_write(
            array->handle, &pick->selection,
            &(zlg_source){.data = view.buf, .strides = pick->strides}, &call.call, &err);
        good = core_call_leave(&call, status, &err);
    }
    PyBuffer_Release(&view);
    return good ? 0 : -1;
}

/* Sum of the lengths of a list of bytes; fills offsets. -1 with an exception set. */
static int64_t measure(PyObject *list, int64_t *offsets)
{
    Py_ssize_t n = PyList_Size(list);
    offsets[0] = 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        Py_ssize_t n_bytes = PyBytes_Size(PyList_GetItem(list, i));
        if (n_bytes < 0)
            return -1;
        offsets[i + 1] = offsets[i] + n_bytes;
    }
    return offsets[n];
}

static int write_varlen(core_array *array, core_pick *pick, PyObject *list)
{
    Py_ssize_t n = PyList_Size(list);
    if (n < 0)
        return -1;
    int64_t *offsets = PyMem_Malloc(((size_t)n + 1) * sizeof *offsets);
    int64_t n_bytes = offsets != NULL ? measure(list, offsets) : -1;
    char *bytes = n_bytes < 0 ? NULL : PyMem_Malloc(n_bytes > 0 ? (size_t)n_bytes : 1);
    zlg_error err;
    bool good = false;
    core_call call;
    if (bytes != NULL && core_call_make(&call, NULL)) {
        for (Py_ssize_t i = 0; i < n; i++)
            memcpy(bytes + offsets[i], PyBytes_AsString(PyList_GetItem(list, i)),
                   (size_t)(offsets[i + 1] - offsets[i]));
        core_call_enter(&call);
        zlg_status status = zlg_array_write(
            array->handle, &pick->selection,
            &(zlg_source){.data = bytes, .offsets = offsets}, &call.call, &err);
        good = core_call_leave(&call, status, &err);
    } else if (!PyErr_Occurred()) {
        PyErr_NoMemory();
    }
    PyMem_Free(bytes);
    PyMem_Free(offsets);
    return good ? 0 : -1;
}

int core_array_assign(PyObject *self, PyObject *key, PyObject *value)
{
    core_array *array = (core_array *)self;
    if (value == NULL)
        return refuse(ZLG_USAGE, "elements of an array cannot be deleted");
    if (array->read_only)
        return refuse(ZLG_USAGE, "the array was opened for reading only: use mode=\"r+\"");
    core_pick pick;
    int result = -1;
    if (!core_pick_make(&pick, array, key)) {
        result = -1;
    } else if (!pick.is_box) {
        result =
            refuse(ZLG_UNSUPPORTED, "writing at lists, masks or points is not known here");
    } else {
        PyObject *source = PyObject_CallMethod(self, "_cast", "OO", value, pick.shape);
        if (source != NULL)
            result = array->is_varlen ? write_varlen(array, &pick, source)
                                      : write_fixed(array, &pick, source);
        Py_XDECREF(source);
    }
    core_pick_reset(&pick);
    return result;
}
