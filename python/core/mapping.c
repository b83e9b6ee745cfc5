/*
 * A store over a Python object that keeps bytes: mapping.py's Mapped, an Adapter of
 * adapting.py. Its methods are called from any thread, so each takes the GIL; calls of the
 * engine have released it.
 *
 *     label                            a text, for messages
 *     open(key)                        None, or (value, what has the buffer protocol)
 *     change(key, bytes or None, condition, value seen or None)      True when it was made
 *     names(prefix, delimited)         [(name, is a prefix, number of bytes)]
 */
#include "core.h"

#include <stdio.h>
#include <stdlib.h>

#include "zellige_ext.h"

typedef struct lent {
    PyObject *value;
    Py_buffer view;
} lent;

/* The exception that is set, as an error of the store; clears it. */
static zlg_status settle(zlg_error *err)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    bool is_interrupt = PyErr_GivenExceptionMatches(type, PyExc_KeyboardInterrupt) != 0;
    PyErr_NormalizeException(&type, &value, &trace);
    PyObject *name = type != NULL ? PyObject_GetAttrString(type, "__name__") : NULL;
    PyObject *text = name != NULL ? PyUnicode_FromFormat("%U: %S", name, value) : NULL;
    const char *said = text != NULL ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    if (err != NULL) {
        err->status = ZLG_IO;
        snprintf(err->message, sizeof err->message, "%.400s",
                 said != NULL ? said : "the store failed");
    }
    Py_XDECREF(text);
    Py_XDECREF(name);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    PyErr_Clear();
    if (is_interrupt)
        PyErr_SetInterrupt(); /* the call that waits for this raises it again */
    return ZLG_IO;
}

/* ---------------------------------------------------------------------- one object */

static bool lend(PyObject *pair, zlg_object *out)
{
    lent *handle = malloc(sizeof *handle);
    PyObject *value, *memory;
    if (handle == NULL)
        return PyErr_NoMemory() != NULL;
    if (!PyArg_ParseTuple(pair, "OO", &value, &memory) ||
        PyObject_GetBuffer(memory, &handle->view, PyBUF_SIMPLE) < 0) {
        free(handle);
        return false;
    }
    handle->value = Py_NewRef(value);
    out->view = handle->view.buf;
    out->n_bytes = (uint64_t)handle->view.len;
    out->handle = handle;
    return true;
}

static zlg_status mapping_open(void *self, const char *key, zlg_object *out, zlg_error *err)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    zlg_status status = ZLG_OK;
    PyObject *pair = PyObject_CallMethod(self, "open", "s", key);
    if (pair == Py_None)
        status = ZLG_NOT_FOUND;
    else if (pair == NULL || !lend(pair, out))
        status = settle(err);
    Py_XDECREF(pair);
    PyGILState_Release(gil);
    return status;
}

static void mapping_release(void *self, zlg_object *object)
{
    (void)self;
    lent *handle = object->handle;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyBuffer_Release(&handle->view);
    Py_DECREF(handle->value);
    PyGILState_Release(gil);
    free(handle);
}

/* ---------------------------------------------------------------------- changes */

/* Takes over `data`, which is NULL with an exception set, bytes, or None to remove. */
static zlg_status change(PyObject *self, const char *key, PyObject *data,
                         zlg_condition condition, const zlg_object *seen, zlg_error *err)
{
    PyObject *before = seen != NULL ? ((lent *)seen->handle)->value : Py_None;
    PyObject *done = data == NULL ? NULL
                                  : PyObject_CallMethod(self, "change", "sOiO", key, data,
                                                        (int)condition, before);
    Py_XDECREF(data);
    int made = done != NULL ? PyObject_IsTrue(done) : -1;
    Py_XDECREF(done);
    return made < 0 ? settle(err) : made > 0 ? ZLG_OK : ZLG_EXISTS;
}

static PyObject *joined(const zlg_bytes *parts, int n_parts)
{
    size_t n_bytes = 0;
    for (int i = 0; i < n_parts; i++)
        n_bytes += parts[i].n_bytes;
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)n_bytes);
    char *to = bytes != NULL ? PyBytes_AsString(bytes) : NULL;
    for (int i = 0; to != NULL && i < n_parts; i++) {
        if (parts[i].n_bytes > 0)
            memcpy(to, parts[i].data, parts[i].n_bytes);
        to += parts[i].n_bytes;
    }
    return bytes;
}

/* No promise lasts longer than the memory of the process. */
static zlg_status mapping_put(void *self, const char *key, const zlg_bytes *parts,
                              int n_parts, zlg_condition condition, const zlg_object *seen,
                              zlg_promise promise, zlg_error *err)
{
    (void)promise;
    PyGILState_STATE gil = PyGILState_Ensure();
    zlg_status status = change(self, key, joined(parts, n_parts), condition, seen, err);
    PyGILState_Release(gil);
    return status;
}

static zlg_status mapping_remove(void *self, const char *key, zlg_condition condition,
                                 const zlg_object *seen, zlg_promise promise,
                                 zlg_error *err)
{
    (void)promise;
    PyGILState_STATE gil = PyGILState_Ensure();
    zlg_status status = change(self, key, Py_NewRef(Py_None), condition, seen, err);
    PyGILState_Release(gil);
    return status;
}

/* ---------------------------------------------------------------------- listing */

typedef struct listed {
    const char *name;
    int is_prefix;
    unsigned long long n_bytes;
} listed;

/* Without the GIL, since what is called may ask its caller, who takes it. */
static void pass(const listed *names, Py_ssize_t n, zlg_list_fn each, void *user)
{
    PyThreadState *thread = PyEval_SaveThread();
    for (Py_ssize_t i = 0; i < n; i++)
        if (each(user, names[i].name, names[i].is_prefix, names[i].n_bytes) != 0)
            break;
    PyEval_RestoreThread(thread);
}

/* The items keep the names. False with an exception set. */
static bool pass_all(PyObject *items, zlg_list_fn each, void *user)
{
    Py_ssize_t n = PyTuple_Size(items);
    listed *names = PyMem_Malloc(((size_t)n + 1) * sizeof *names);
    if (names == NULL)
        return PyErr_NoMemory() != NULL;
    bool good = true;
    for (Py_ssize_t i = 0; good && i < n; i++)
        good = core_breathe((size_t)i) &&
               PyArg_ParseTuple(PyTuple_GetItem(items, i), "spK", &names[i].name,
                                &names[i].is_prefix, &names[i].n_bytes);
    if (good)
        pass(names, n, each, user);
    PyMem_Free(names);
    return good;
}

static zlg_status mapping_list(void *self, const char *prefix, int delimited,
                               zlg_list_fn each, void *user, zlg_error *err)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *found = PyObject_CallMethod(self, "names", "si", prefix, delimited);
    PyObject *items = found != NULL ? PySequence_Tuple(found) : NULL;
    zlg_status status = items != NULL && pass_all(items, each, user) ? ZLG_OK : settle(err);
    Py_XDECREF(items);
    Py_XDECREF(found);
    PyGILState_Release(gil);
    return status;
}

static void mapping_close(void *self)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    Py_DECREF((PyObject *)self);
    PyGILState_Release(gil);
}

zlg_status core_open_mapping(zlg_ctx *ctx, PyObject *object, zlg_store **out,
                             zlg_error *err)
{
    static const zlg_store_methods methods = {
        .n_bytes_struct = sizeof methods,
        .open = mapping_open,
        .release = mapping_release,
        .put = mapping_put,
        .remove = mapping_remove,
        .list = mapping_list,
        .close = mapping_close,
    };
    PyObject *text = PyObject_GetAttrString(object, "label");
    const char *label = text != NULL ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    PyErr_Clear();
    zlg_status status = zlg_store_open_ext(
        ctx, &methods, object, label != NULL ? label : "a store of Python", out, err);
    Py_XDECREF(text);
    if (status == ZLG_OK)
        Py_INCREF(object);
    return status;
}
