/*
 * Writing: values into one selection or many, as one call of the engine. What a value may
 * be is the business of source.c; what a selection may be, of select.c.
 */
#include "core.h"

#include <stdio.h>

typedef struct write_job {
    core_node *array; /* borrowed */
    core_pick pick;
    core_source source;
} write_job;

static bool job_make(write_job *job, core_node *array, PyObject *key, PyObject *value,
                     bool may_be_one)
{
    *job = (write_job){.array = array};
    if (!core_node_writable(array) || !core_pick_make(&job->pick, array, key))
        return false;
    core_pick *pick = &job->pick;
    core_source *source = &job->source;
    Py_ssize_t strides[CORE_MAX_RESULT_RANK];
    if (!core_source_make(source, array, pick->handle, value, pick->shape, may_be_one,
                          strides))
        return false;
    if (source->is_packed)
        return true;
    source->source.strides = pick->strides;
    if (!pick->is_box)
        return core_source_flatten(source, array, pick->shape, strides, pick->strides);
    core_pick_place(pick, strides);
    return true;
}

static void job_reset(write_job *job)
{
    core_source_reset(&job->source);
    core_pick_reset(&job->pick);
}

/* ---------------------------------------------------------------------- the calls */

static zlg_status write_one(const write_job *job, const zlg_call *call, zlg_error *err)
{
    const zlg_source *source = &job->source.source;
    zlg_array *array = job->pick.handle->array;
    if (!job->source.is_one)
        return zlg_array_write(array, &job->pick.selection, source, call, err);
    return zlg_array_fill(array, &job->pick.selection,
                          (const char *)source->data + source->offsets[0],
                          (size_t)(source->offsets[1] - source->offsets[0]), call, err);
}

static bool run(write_job *jobs, size_t n, core_call *call)
{
    zlg_error err;
    zlg_write *writes = n == 1 ? NULL : PyMem_Malloc(n * sizeof *writes);
    if (writes == NULL && n != 1) {
        PyErr_NoMemory();
        return false;
    }
    for (size_t i = 0; n > 1 && i < n; i++)
        writes[i] = (zlg_write){.array = jobs[i].pick.handle->array,
                                .selection = &jobs[i].pick.selection,
                                .source = jobs[i].source.source};
    for (size_t i = 0; call->outer != NULL && i < n; i++)
        call->n_known +=
            core_n_bytes_of(jobs[i].pick.shape, jobs[i].pick.handle->n_bytes_element);
    core_call_enter(call);
    zlg_status status = n == 1 ? write_one(jobs, &call->call, &err)
                               : zlg_write_many(writes, n, &call->call, &err);
    bool good = core_call_leave(call, status, &err);
    PyMem_Free(writes);
    return good;
}

/* What a caller says of a call. */
typedef struct write_terms {
    PyObject *timeout, *progress, *cancel;
    zlg_promise promise;
    int keep_empty;
} write_terms;

static bool write_apart(core_node *array, PyObject *key, PyObject *value,
                        const write_terms *terms)
{
    static const char *const promises[] = {NULL, "visible", "durable", "verified"};
    PyObject *keeps = terms->keep_empty == 0  ? Py_None
                      : terms->keep_empty > 0 ? Py_True
                                              : Py_False;
    PyObject *done = PyObject_CallMethod(
        (PyObject *)array, "_write_apart", "OOzOOO", key, value, promises[terms->promise],
        keeps, terms->timeout != NULL ? terms->timeout : Py_None,
        terms->progress != NULL ? terms->progress : Py_None);
    Py_XDECREF(done);
    return done != NULL;
}

static bool write_to(core_node *array, PyObject *key, PyObject *value,
                     const write_terms *terms)
{
    if (terms->cancel == NULL && core_goes_apart(array, terms->timeout))
        return write_apart(array, key, value, terms);
    write_job job;
    core_call call;
    if (!core_call_make(&call, terms->timeout))
        return false;
    bool made = job_make(&job, array, key, value, true);
    if (made && terms->cancel == NULL && core_pick_goes_apart(&job.pick)) {
        job_reset(&job);
        return write_apart(array, key, value, terms);
    }
    bool good = made && core_call_watch(&call, core_state_of(array->module),
                                        terms->progress, terms->cancel);
    if (good) {
        core_call_writes(&call, array, terms->promise, terms->keep_empty);
        good = run(&job, 1, &call);
    }
    core_call_reset(&call);
    job_reset(&job);
    return good;
}

int core_array_assign(PyObject *self, PyObject *key, PyObject *value)
{
    if (value == NULL) {
        zlg_error err = {.status = ZLG_USAGE};
        snprintf(err.message, sizeof err.message,
                 "elements of an array cannot be deleted: see fill");
        core_raise(&err);
        return -1;
    }
    if (core_names_fields(key)) {
        PyObject *done = PyObject_CallMethod(self, "_set_fields", "OO", key, value);
        Py_XDECREF(done);
        return done != NULL ? 0 : -1;
    }
    write_terms terms = {0};
    return write_to((core_node *)self, key, value, &terms) ? 0 : -1;
}

/* write(value, selection=..., *, promise=None, keep_empty=None, timeout=None,
 * progress=None, cancel=None) */
PyObject *core_array_write(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"value",   "selection", "promise", "keep_empty",
                            "timeout", "progress",  "cancel",  NULL};
    PyObject *value, *selection = Py_Ellipsis;
    write_terms terms = {0};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|O$O&O&OOO", names, &value,
                                     &selection, core_to_promise, &terms.promise,
                                     core_to_keep_empty, &terms.keep_empty, &terms.timeout,
                                     &terms.progress, &terms.cancel))
        return NULL;
    return write_to((core_node *)self, selection, value, &terms) ? Py_NewRef(Py_None)
                                                                 : NULL;
}

/* _clear(selection, promise, keep_empty, timeout, cancel): the fill value */
PyObject *core_array_clear(PyObject *self, PyObject *args)
{
    core_node *array = (core_node *)self;
    PyObject *selection, *timeout, *cancel;
    zlg_promise promise;
    int keep_empty;
    if (!PyArg_ParseTuple(args, "OO&O&OO", &selection, core_to_promise, &promise,
                          core_to_keep_empty, &keep_empty, &timeout, &cancel))
        return NULL;
    core_pick pick;
    core_call call;
    if (!core_node_writable(array) || !core_call_make(&call, timeout))
        return NULL;
    bool good = core_pick_make(&pick, array, selection) &&
                core_call_watch(&call, core_state_of(array->module), NULL, cancel);
    if (good) {
        zlg_error err;
        core_call_writes(&call, array, promise, keep_empty);
        core_call_enter(&call);
        zlg_status status =
            zlg_array_fill(pick.handle->array, &pick.selection, NULL, 0, &call.call, &err);
        good = core_call_leave(&call, status, &err);
    }
    core_call_reset(&call);
    core_pick_reset(&pick);
    return good ? Py_NewRef(Py_None) : NULL;
}

/* ---------------------------------------------------------------------- many */

static bool make_one_of_many(core_state *state, write_job *job, Py_ssize_t i,
                             PyObject *write)
{
    *job = (write_job){0};
    if (!PyTuple_Check(write) || PyTuple_Size(write) != 3) {
        PyErr_SetString(PyExc_TypeError, "a write is a tuple (array, selection, value)");
        return false;
    }
    PyObject *array = PyTuple_GetItem(write, 0);
    if (!PyObject_TypeCheck(array, (PyTypeObject *)state->array_type)) {
        PyErr_Format(PyExc_TypeError, "a zellige.Array is needed, not %R", Py_TYPE(array));
        return false;
    }
    bool good = job_make(job, (core_node *)array, PyTuple_GetItem(write, 1),
                         PyTuple_GetItem(write, 2), false);
    if (!good)
        core_name_part(i, zlg_array_path(((core_node *)array)->handle->array));
    return good;
}

/* write_many(writes: list, promise, keep_empty, timeout, progress, cancel) */
PyObject *core_write_many(PyObject *module, PyObject *args)
{
    PyObject *writes, *timeout, *progress, *cancel;
    zlg_promise promise;
    int keep_empty;
    if (!PyArg_ParseTuple(args, "O!O&O&OOO", &PyList_Type, &writes, core_to_promise,
                          &promise, core_to_keep_empty, &keep_empty, &timeout, &progress,
                          &cancel))
        return NULL;
    core_call call;
    Py_ssize_t n = PyList_Size(writes), n_made = 0;
    if (!core_call_make(&call, timeout))
        return NULL;
    if (n == 0)
        Py_RETURN_NONE;
    write_job *jobs = PyMem_Malloc((size_t)n * sizeof *jobs);
    if (jobs == NULL)
        return PyErr_NoMemory();
    bool good = true;
    while (good && n_made < n) {
        good = make_one_of_many(core_state_of(module), &jobs[n_made], n_made,
                                PyList_GetItem(writes, n_made)) &&
               core_breathe((size_t)n_made);
        n_made++;
    }
    good = good && core_call_watch(&call, core_state_of(module), progress, cancel);
    if (good) {
        core_call_writes(&call, jobs[0].array, promise, keep_empty);
        good = run(jobs, (size_t)n, &call);
    }
    core_call_reset(&call);
    for (Py_ssize_t i = 0; i < n_made; i++)
        job_reset(&jobs[i]);
    PyMem_Free(jobs);
    return good ? Py_NewRef(Py_None) : NULL;
}
