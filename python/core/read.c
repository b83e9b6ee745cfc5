/*
 * Reading: one selection or many, into fresh NumPy arrays or the caller's. Every fixed-size
 * read of a call goes to the engine at once; variable-length results come back as offsets
 * and bytes and become Python objects here. NumPy is met only as numpy.empty, as ndarray
 * over memory of ours, and through the buffer protocol.
 */
#include "transform.h"

#include <stdio.h>

typedef struct read_job {
    core_node *array; /* borrowed */
    core_pick pick;
    PyObject *out;    /* the caller's array, borrowed; or NULL */
    PyObject *result; /* where the engine writes: `out` or a fresh array */
    void *data;       /* of result */
    Py_buffer view;   /* of result, where `data` comes from that */
    bool has_view;
    bool is_placed; /* the strides of the selection are those of `view` */
} read_job;

static bool refuse_out(const char *message)
{
    zlg_error err = {.status = ZLG_USAGE};
    snprintf(err.message, sizeof err.message, "out: %s", message);
    core_raise(&err);
    return false;
}

static bool same_dtype(PyObject *out, PyObject *dtype)
{
    PyObject *found = PyObject_GetAttrString(out, "dtype");
    if (found == NULL) {
        PyErr_Clear();
        return refuse_out("a NumPy array is needed");
    }
    int equal = PyObject_RichCompareBool(found, dtype, Py_EQ);
    Py_DECREF(found);
    if (equal < 0)
        return false;
    return equal > 0 || refuse_out("its dtype is not that of the array");
}

static bool same_shape(PyObject *out, PyObject *shape)
{
    PyObject *found = PyObject_GetAttrString(out, "shape");
    if (found == NULL)
        return false;
    int equal = PyObject_RichCompareBool(found, shape, Py_EQ);
    Py_DECREF(found);
    if (equal < 0)
        return false;
    return equal > 0 || refuse_out("its shape is not that of the selection");
}

static bool job_view(read_job *job)
{
    if (PyObject_GetBuffer(job->result, &job->view, PyBUF_STRIDES | PyBUF_WRITABLE) < 0)
        return false;
    job->has_view = true;
    job->data = job->view.buf;
    return true;
}

static void job_drop(read_job *job)
{
    if (job->has_view)
        PyBuffer_Release(&job->view);
    job->has_view = false;
    Py_CLEAR(job->result);
}

/* Bytes of the elements of a shape; SIZE_MAX where they are too many to count. */
size_t core_n_bytes_of(PyObject *shape, size_t n_bytes_element)
{
    size_t n_bytes = n_bytes_element;
    for (Py_ssize_t i = 0; i < PyTuple_Size(shape); i++) {
        size_t n = PyLong_AsSize_t(PyTuple_GetItem(shape, i));
        if (n == SIZE_MAX || __builtin_mul_overflow(n_bytes, n, &n_bytes)) {
            PyErr_Clear(); /* of a length that is none: NumPy will say so */
            return SIZE_MAX;
        }
    }
    return n_bytes;
}

static bool refuse_size(bool too_big)
{
    PyErr_Clear();
    zlg_error err = {.status = too_big ? ZLG_LIMIT : ZLG_NO_MEMORY};
    snprintf(err.message, sizeof err.message, "there is no memory for so large a result");
    core_raise(&err);
    return false;
}

/* A new array for the result. */
static bool job_fresh(read_job *job, PyObject *dtype)
{
    PyObject *module = job->array->module, *shape = job->pick.shape;
    core_state *state = core_state_of(module);
    size_t n_bytes_element = job->pick.handle->n_bytes_element;
    PyObject *memory =
        core_memory_new(module, core_n_bytes_of(shape, n_bytes_element), &job->data);
    if (memory != NULL) {
        job->result =
            PyObject_CallFunctionObjArgs(state->ndarray, shape, dtype, memory, NULL);
        Py_DECREF(memory);
        return job->result != NULL;
    }
    /* NumPy widens texts of no characters to one: nothing would fill that. */
    PyObject *make = n_bytes_element > 0 ? state->empty : state->zeros;
    job->result = PyObject_CallFunctionObjArgs(make, shape, dtype, NULL);
    if (job->result != NULL)
        return job_view(job);
    bool too_big =
        PyErr_ExceptionMatches(PyExc_ValueError); /* more than can be addressed */
    if (too_big || PyErr_ExceptionMatches(PyExc_MemoryError))
        refuse_size(too_big);
    return false;
}

static bool job_make(read_job *job, core_node *array, PyObject *key, PyObject *out)
{
    *job = (read_job){.array = array};
    if (!core_pick_make(&job->pick, array, key))
        return false;
    PyObject *dtype = core_handle_dtype(core_state_of(array->module), job->pick.handle);
    if (dtype == NULL)
        return false;
    if (out != NULL && out != Py_None) {
        if (!same_dtype(out, dtype) || !same_shape(out, job->pick.shape))
            return false;
        job->out = out;
    }
    if (job->pick.handle->is_varlen)
        return true;
    if (job->out == NULL)
        return job_fresh(job, dtype);
    job->result = Py_NewRef(out);
    if (!job_view(job))
        return false;
    if (PyBuffer_IsContiguous(&job->view, 'C'))
        return true;
    if (job->pick.is_box) {
        core_pick_place(&job->pick, job->view.strides);
        job->is_placed = true;
        return true;
    }
    /* Points into scattered memory go by way of a fresh array. */
    job_drop(job);
    return job_fresh(job, dtype);
}

static void job_reset(read_job *job)
{
    job_drop(job);
    core_pick_reset(&job->pick);
}

static zlg_read job_request(const read_job *job)
{
    return (zlg_read){.array = job->pick.handle->array,
                      .selection = &job->pick.selection,
                      .target = {.data = job->data,
                                 .strides = job->is_placed ? job->pick.strides : NULL}};
}

/* ---------------------------------------------------------------------- the calls */

static bool read_fixed(read_job *jobs, size_t n, core_call *call)
{
    zlg_read one, *reads = n == 1 ? &one : PyMem_Malloc(n * sizeof *reads);
    if (reads == NULL) {
        PyErr_NoMemory();
        return false;
    }
    size_t n_reads = 0;
    for (size_t i = 0; i < n; i++) {
        if (!jobs[i].pick.handle->is_varlen)
            reads[n_reads++] = job_request(&jobs[i]);
    }
    bool good = true;
    if (n_reads > 0) {
        zlg_error err;
        core_call_enter(call);
        zlg_status status = n_reads == 1 ? zlg_array_read(reads->array, reads->selection,
                                                          &reads->target, &call->call, &err)
                                         : zlg_read_many(reads, n_reads, &call->call, &err);
        good = core_call_leave(call, status, &err);
    }
    if (reads != &one)
        PyMem_Free(reads);
    return good;
}

static PyObject *item_of(const zlg_varlen *varlen, int64_t i, bool is_text)
{
    const char *data = (const char *)varlen->bytes + varlen->offsets[i];
    Py_ssize_t n = (Py_ssize_t)(varlen->offsets[i + 1] - varlen->offsets[i]);
    if (!is_text)
        return PyBytes_FromStringAndSize(data, n);
    PyObject *text = PyUnicode_DecodeUTF8(data, n, "strict");
    if (text == NULL && PyErr_ExceptionMatches(PyExc_UnicodeDecodeError)) {
        PyErr_Clear();
        zlg_error err = {.status = ZLG_CORRUPT};
        snprintf(err.message, sizeof err.message, "element %lld is not valid UTF-8",
                 (long long)i);
        core_raise(&err);
    }
    return text;
}

PyObject *core_varlen_items(const zlg_varlen *varlen, const zlg_array *array)
{
    bool is_text = zlg_array_dtype(array).type == ZLG_STRING;
    PyObject *list = PyList_New((Py_ssize_t)varlen->n);
    for (int64_t i = 0; list != NULL && i < varlen->n; i++) {
        PyObject *item = core_breathe((size_t)i) ? item_of(varlen, i, is_text) : NULL;
        if (item == NULL || PyList_SetItem(list, (Py_ssize_t)i, item) < 0)
            Py_CLEAR(list);
    }
    return list;
}

static bool read_varlen(read_job *job, core_call *call)
{
    zlg_error err;
    zlg_varlen varlen;
    core_call_enter(call);
    zlg_status status = zlg_array_read_varlen(job->pick.handle->array, &job->pick.selection,
                                              &varlen, &call->call, &err);
    bool good = core_call_leave(call, status, &err);
    if (status != ZLG_OK)
        return false;
    PyObject *list = good ? core_varlen_items(&varlen, job->pick.handle->array) : NULL;
    zlg_varlen_free(&varlen);
    if (list == NULL)
        return false;
    job->result = PyObject_CallMethod((PyObject *)job->array, "_from_items", "OO", list,
                                      job->pick.shape);
    Py_DECREF(list);
    return job->result != NULL;
}

/* What a caller says of a call. */
typedef struct read_terms {
    PyObject *timeout, *progress, *cancel, *transform, *raw;
    int missing_is_error;
    bool is_many;
} read_terms;

/* What a transform does not place in memory of the caller's stays as it is, also where the
 * result goes by way of a fresh array. */
static bool keep_out(const read_job *job)
{
    return job->out == NULL || job->result == NULL || job->result == job->out ||
           PyObject_SetItem(job->result, Py_Ellipsis, job->out) == 0;
}

static bool take_transform(core_transform *transform, core_call *call, read_job *jobs,
                           size_t n, const read_terms *terms)
{
    if (!core_transform_make(transform, call, terms->transform, terms->raw, n))
        return false;
    transform->tells_array = terms->is_many;
    for (size_t i = 0; transform->function != NULL && i < n; i++) {
        core_transform_add(transform, jobs[i].array, jobs[i].pick.handle);
        if (!keep_out(&jobs[i]))
            return false;
    }
    return true;
}

/* A result that is not the caller's, while they may leave, needs no door. */
static void choose_door(core_call *call, const read_job *jobs, size_t n)
{
    bool has_out = false;
    for (size_t i = 0; i < n; i++)
        has_out = has_out || jobs[i].out != NULL;
    if (!has_out)
        call->call.placing = NULL;
}

static bool run(read_job *jobs, size_t n, const read_terms *terms)
{
    core_call call;
    core_transform transform = {.call = &call};
    if (!core_call_make(&call, terms->timeout))
        return false;
    const core_state *state = n > 0 ? core_state_of(jobs->array->module) : NULL;
    bool good = n == 0 || core_call_watch(&call, state, terms->progress, terms->cancel);
    good = good && take_transform(&transform, &call, jobs, n, terms);
    choose_door(&call, jobs, n);
    call.call.missing_is_error = terms->missing_is_error;
    for (size_t i = 0; call.outer != NULL && i < n; i++)
        call.n_known +=
            core_n_bytes_of(jobs[i].pick.shape, jobs[i].pick.handle->n_bytes_element);
    good = good && read_fixed(jobs, n, &call);
    for (size_t i = 0; good && i < n; i++)
        good = !jobs[i].pick.handle->is_varlen || read_varlen(&jobs[i], &call);
    for (size_t i = 0; good && i < n; i++)
        good = jobs[i].out == NULL || jobs[i].out == jobs[i].result ||
               core_call_put(&call, jobs[i].out, jobs[i].result, terms->cancel);
    core_transform_reset(&transform);
    core_call_reset(&call);
    return good;
}

/* What the caller gets: their own array, an element, or the fresh array. */
static PyObject *job_result(const read_job *job)
{
    if (job->out != NULL)
        return Py_NewRef(job->out);
    if (job->pick.is_scalar)
        return PyObject_GetItem(job->result, core_state_of(job->array->module)->no_index);
    return Py_NewRef(job->result);
}

static PyObject *or_none(PyObject *object)
{
    return object != NULL ? object : Py_None;
}

/* What a transform does takes as long as it likes. */
static bool goes_apart(const core_node *array, const read_terms *terms)
{
    if (terms->cancel != NULL)
        return false;
    return (core_is_given(terms->transform) && core_on_main_thread()) ||
           core_goes_apart(array, terms->timeout);
}

static PyObject *read_apart(core_node *array, PyObject *key, PyObject *out,
                            const read_terms *terms)
{
    return PyObject_CallMethod(
        (PyObject *)array, "_read_apart", "OOOOOOO", key, or_none(out),
        or_none(terms->timeout), terms->missing_is_error ? Py_True : Py_False,
        or_none(terms->progress), or_none(terms->transform), or_none(terms->raw));
}

static PyObject *read_one(core_node *array, PyObject *key, PyObject *out,
                          const read_terms *terms)
{
    if (!core_transform_allows_calls())
        return NULL;
    if (goes_apart(array, terms))
        return read_apart(array, key, out, terms);
    read_job job;
    PyObject *result = NULL;
    bool made = job_make(&job, array, key, out);
    bool is_long = made && terms->cancel == NULL && core_pick_goes_apart(&job.pick);
    if (made && !is_long && run(&job, 1, terms))
        result = job_result(&job);
    job_reset(&job);
    return is_long ? read_apart(array, key, out, terms) : result;
}

PyObject *core_array_subscript(PyObject *self, PyObject *key)
{
    core_node *array = (core_node *)self;
    if (core_names_fields(key))
        return PyObject_CallMethod(self, "_get_fields", "(O)", key);
    read_terms terms = {.missing_is_error = array->ways.missing_is_error};
    return read_one(array, key, NULL, &terms);
}

/* read(selection=..., out=None, timeout=None, missing_is_error=None, progress=None,
 * cancel=None, transform=None, raw=False) */
PyObject *core_array_read(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"selection",        "out",      "timeout",
                            "missing_is_error", "progress", "cancel",
                            "transform",        "raw",      NULL};
    core_node *array = (core_node *)self;
    PyObject *selection = Py_Ellipsis, *out = NULL, *missing_is_error = Py_None;
    read_terms terms = {0};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|OOOOOOOO", names, &selection, &out,
                                     &terms.timeout, &missing_is_error, &terms.progress,
                                     &terms.cancel, &terms.transform, &terms.raw))
        return NULL;
    terms.missing_is_error = missing_is_error == Py_None
                                 ? array->ways.missing_is_error
                                 : PyObject_IsTrue(missing_is_error);
    return terms.missing_is_error < 0 ? NULL : read_one(array, selection, out, &terms);
}

/* ---------------------------------------------------------------------- many */

static bool make_one_of_many(core_state *state, read_job *job, Py_ssize_t i, PyObject *read,
                             PyObject *out)
{
    PyObject *array, *key;
    *job = (read_job){0};
    if (!PyTuple_Check(read) || PyTuple_Size(read) != 2) {
        PyErr_SetString(PyExc_TypeError, "a read is a tuple (array, selection)");
        return false;
    }
    array = PyTuple_GetItem(read, 0);
    key = PyTuple_GetItem(read, 1);
    if (!PyObject_TypeCheck(array, (PyTypeObject *)state->array_type)) {
        PyErr_Format(PyExc_TypeError, "a zellige.Array is needed, not %R", Py_TYPE(array));
        return false;
    }
    bool good = job_make(job, (core_node *)array, key, out);
    if (!good)
        core_name_part(i, zlg_array_path(job->pick.handle->array));
    return good;
}

static PyObject *results_of(const read_job *jobs, Py_ssize_t n)
{
    PyObject *list = PyList_New(n);
    for (Py_ssize_t i = 0; list != NULL && i < n; i++) {
        PyObject *result = core_breathe((size_t)i) ? job_result(&jobs[i]) : NULL;
        if (result == NULL || PyList_SetItem(list, i, result) < 0)
            Py_CLEAR(list);
    }
    return list;
}

/* read_many(reads: list, outs: list or None, timeout, missing_is_error, progress, cancel,
 * transform, raw) */
PyObject *core_read_many(PyObject *module, PyObject *args)
{
    PyObject *reads, *outs;
    read_terms terms = {.is_many = true};
    if (!PyArg_ParseTuple(args, "OOOpOOOO", &reads, &outs, &terms.timeout,
                          &terms.missing_is_error, &terms.progress, &terms.cancel,
                          &terms.transform, &terms.raw))
        return NULL;
    Py_ssize_t n = PyList_Size(reads);
    if (n < 0 || (outs != Py_None && PyList_Size(outs) != n)) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "out needs one array for each read");
        return NULL;
    }
    read_job *jobs = PyMem_Malloc((n > 0 ? (size_t)n : 1) * sizeof *jobs);
    if (jobs == NULL)
        return PyErr_NoMemory();
    PyObject *result = NULL;
    Py_ssize_t n_made = 0;
    bool good = true;
    while (good && n_made < n) {
        PyObject *out = outs == Py_None ? NULL : PyList_GetItem(outs, n_made);
        good = make_one_of_many(core_state_of(module), &jobs[n_made], n_made,
                                PyList_GetItem(reads, n_made), out) &&
               core_breathe((size_t)n_made);
        n_made++;
    }
    if (good && run(jobs, (size_t)n, &terms))
        result = results_of(jobs, n);
    for (Py_ssize_t i = 0; i < n_made; i++)
        job_reset(&jobs[i]);
    PyMem_Free(jobs);
    return result;
}

/* ---------------------------------------------------------------------- the plan */

/* explain(selection, resolve, max_objects): JSON */
PyObject *core_array_explain(PyObject *self, PyObject *args)
{
    core_node *array = (core_node *)self;
    PyObject *key;
    int resolve;
    long long max_objects;
    if (!PyArg_ParseTuple(args, "OpL", &key, &resolve, &max_objects))
        return NULL;
    core_pick pick;
    zlg_error err;
    zlg_text text;
    core_call call;
    PyObject *result = NULL;
    core_call_look(&call);
    if (core_pick_make(&pick, array, key)) {
        core_call_enter(&call);
        zlg_status status =
            zlg_array_explain_call(pick.handle->array, &pick.selection, resolve,
                                   max_objects, &text, &call.call, &err);
        bool good = core_call_leave(&call, status, &err);
        result = status == ZLG_OK ? core_text(&text) : NULL;
        if (!good)
            Py_CLEAR(result);
    }
    core_pick_reset(&pick);
    return result;
}
