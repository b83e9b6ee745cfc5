/*
 * Transforms: a function of Python sees each chunk that is read before its elements are
 * placed. It runs on the threads of the engine and takes the GIL for that.
 *
 * What it is given is a copy of its own, to change or to keep: a view of the engine's
 * memory could outlive that, and an array of NumPy cannot be told that its memory is gone.
 * The first exception stops the call and is raised by the thread that made it.
 */
#include "transform.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct shown_array {
    core_node *array; /* borrowed from the call, as the next */
    core_handle *handle;
} shown_array;

static _Thread_local bool is_inside;

bool core_transform_is_inside(void)
{
    return is_inside;
}

bool core_transform_allows_calls(void)
{
    static const zlg_error inside = {
        ZLG_USAGE,
        "a transform must not read or write arrays: it runs in the middle of a read"};
    if (is_inside)
        core_raise(&inside);
    return !is_inside;
}

/* ---------------------------------------------------------------------- what is given */

static const shown_array *array_of(const core_transform *transform,
                                   const zlg_read_chunk *chunk)
{
    const shown_array *found = transform->arrays;
    while (found->handle->array != chunk->array)
        found++;
    return found;
}

/* An array in `memory`. NumPy widens texts of no characters to one: they get their own. */
static PyObject *array_in(core_state *state, core_handle *handle, PyObject *shape,
                          PyObject *memory)
{
    PyObject *dtype = core_handle_dtype(state, handle);
    if (dtype == NULL || handle->n_bytes_element == 0)
        memory = NULL;
    PyObject *make = memory != NULL ? state->ndarray : state->zeros;
    return dtype != NULL ? PyObject_CallFunctionObjArgs(make, shape, dtype, memory, NULL)
                         : NULL;
}

/* The copy is taken over. */
static PyObject *data_of(const shown_array *of, const zlg_read_chunk *chunk,
                         PyObject *shape, void *copy)
{
    PyObject *module = of->array->module, *data = NULL;
    if (copy == NULL)
        return PyBytes_FromStringAndSize(chunk->bytes, (Py_ssize_t)chunk->n_bytes);
    PyObject *memory = core_block_new(module, copy, chunk->n_bytes_elements);
    if (memory != NULL)
        data = array_in(core_state_of(module), of->handle, shape, memory);
    Py_XDECREF(memory);
    return data;
}

/* ---------------------------------------------------------------------- what comes back */

static bool refuse(PyObject *message)
{
    zlg_error err = {.status = ZLG_USAGE};
    const char *text = message != NULL ? PyUnicode_AsUTF8AndSize(message, NULL) : NULL;
    if (text != NULL) {
        snprintf(err.message, sizeof err.message, "%s", text);
        core_raise(&err);
    }
    Py_XDECREF(message);
    return false;
}

static bool is_same(PyObject *result, const char *name, PyObject *wanted)
{
    PyObject *found = PyObject_GetAttrString(result, name);
    if (found == NULL) {
        PyErr_Clear();
        return refuse(PyUnicode_FromFormat("a transform returns an array or None, not %R",
                                           (PyObject *)Py_TYPE(result)));
    }
    int equal = PyObject_RichCompareBool(found, wanted, Py_EQ);
    bool good = equal == 1;
    if (equal == 0)
        refuse(PyUnicode_FromFormat("a transform returned the %s %S instead of %S", name,
                                    found, wanted));
    Py_DECREF(found);
    return good;
}

/* Without the GIL where that can be, since chunks are large. */
static bool copy_elements(zlg_read_chunk *chunk, PyObject *result)
{
    Py_buffer view;
    int failed = 0;
    if (PyObject_GetBuffer(result, &view, PyBUF_STRIDES) < 0)
        return false;
    if (PyBuffer_IsContiguous(&view, 'C') && (size_t)view.len == chunk->n_bytes_elements) {
        PyThreadState *thread = PyEval_SaveThread();
        memcpy(chunk->elements, view.buf, chunk->n_bytes_elements);
        PyEval_RestoreThread(thread);
    } else {
        failed = PyBuffer_ToContiguous(chunk->elements, &view,
                                       (Py_ssize_t)chunk->n_bytes_elements, 'C');
    }
    PyBuffer_Release(&view);
    return failed == 0;
}

/* The elements of what the function returned. */
static bool take(const shown_array *of, zlg_read_chunk *chunk, PyObject *shape,
                 PyObject *result)
{
    chunk->placed = result == Py_None;
    if (chunk->placed)
        return true;
    PyObject *dtype = core_handle_dtype(core_state_of(of->array->module), of->handle);
    if (dtype == NULL || !is_same(result, "shape", shape))
        return false;
    if (of->handle->n_bytes_element == 0)
        return true;
    return is_same(result, "dtype", dtype) && copy_elements(chunk, result);
}

/* ---------------------------------------------------------------------- the call */

static PyObject *call_function(const core_transform *transform, const shown_array *of,
                               const zlg_read_chunk *chunk, PyObject *data)
{
    PyObject *index = core_int_tuple(chunk->coordinates, zlg_array_rank(chunk->array));
    PyObject *result = NULL;
    bool is_wanted = index != NULL && !core_call_is_cancelled(transform->call);
    is_inside = true;
    if (is_wanted && transform->tells_array)
        result = PyObject_CallFunctionObjArgs(transform->function, (PyObject *)of->array,
                                              index, data, NULL);
    else if (is_wanted)
        result = PyObject_CallFunctionObjArgs(transform->function, index, data, NULL);
    is_inside = false;
    Py_XDECREF(index);
    return result;
}

/* False, perhaps with an exception set. The copy is taken over. */
static bool show_python(const core_transform *transform, zlg_read_chunk *chunk, void *copy)
{
    const shown_array *of = array_of(transform, chunk);
    PyObject *shape = core_int_tuple(chunk->shape, zlg_array_rank(chunk->array));
    if (shape == NULL) {
        free(copy);
        return false;
    }
    PyObject *data = data_of(of, chunk, shape, copy);
    PyObject *result = data ? call_function(transform, of, chunk, data) : NULL;
    Py_XDECREF(data);
    bool good = result != NULL && !core_call_is_cancelled(transform->call) &&
                take(of, chunk, shape, result);
    Py_XDECREF(result);
    Py_DECREF(shape);
    return good;
}

static zlg_status show(void *user, zlg_read_chunk *chunk, zlg_error *err)
{
    core_transform *transform = user;
    core_call *call = transform->call;
    (void)err; /* the exception says it */
    void *copy = NULL;
    if (!call->call.transform_raw) {
        copy = malloc(chunk->n_bytes_elements + 1);
        if (copy == NULL)
            return ZLG_NO_MEMORY;
        memcpy(copy, chunk->bytes, chunk->n_bytes_elements);
    }
    PyGILState_STATE gil = PyGILState_Ensure();
    bool good = show_python(transform, chunk, copy);
    if (!good)
        core_call_throw(call);
    PyGILState_Release(gil);
    return good ? ZLG_OK : ZLG_CANCELLED;
}

/* ---------------------------------------------------------------------- for a caller */

bool core_is_given(PyObject *function)
{
    return function != NULL && function != Py_None;
}

bool core_transform_make(core_transform *transform, core_call *call, PyObject *function,
                         PyObject *raw, size_t n_reads)
{
    *transform = (core_transform){.call = call};
    int is_raw = raw != NULL ? PyObject_IsTrue(raw) : 0;
    if (is_raw < 0)
        return false;
    if (!core_is_given(function)) {
        if (is_raw)
            PyErr_SetString(PyExc_TypeError, "raw says what a transform is given");
        return !is_raw;
    }
    if (!PyCallable_Check(function)) {
        PyErr_Format(PyExc_TypeError, "a transform is a function, not %R",
                     (PyObject *)Py_TYPE(function));
        return false;
    }
    transform->arrays = PyMem_Malloc((n_reads + 1) * sizeof *transform->arrays);
    if (transform->arrays == NULL) {
        PyErr_NoMemory();
        return false;
    }
    transform->function = function;
    call->call.transform = show;
    call->call.transform_user = transform;
    call->call.transform_raw = is_raw;
    return true;
}

void core_transform_add(core_transform *transform, core_node *array, core_handle *handle)
{
    size_t n = transform->n_arrays;
    if (transform->function == NULL || (n > 0 && transform->arrays[n - 1].handle == handle))
        return;
    transform->arrays[transform->n_arrays++] =
        (shown_array){.array = array, .handle = handle};
}

void core_transform_reset(core_transform *transform)
{
    PyMem_Free(transform->arrays);
}
