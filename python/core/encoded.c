/*
 * Encoded chunks: out of an array and into one as they are stored, many in a call. Knows
 * where chunks lie in their grid and nothing of what is in them.
 */
#include "core.h"

/* ---------------------------------------------------------------------- coordinates */

/* A coordinate that is too large to be told is one outside of every grid. */
static bool take_coordinate(PyObject *item, int64_t *out)
{
    PyObject *number = PyNumber_Index(item);
    if (number == NULL)
        return false;
    *out = PyLong_AsLongLong(number);
    Py_DECREF(number);
    if (*out == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        *out = INT64_MAX;
    }
    return true;
}

/* A sequence of `rank` integers; one integer where there is one axis. */
static bool take_chunk(PyObject *chunk, int rank, int64_t *out)
{
    if (rank == 1 && PyIndex_Check(chunk) && !PySequence_Check(chunk))
        return take_coordinate(chunk, out);
    PyObject *items = PySequence_Tuple(chunk);
    if (items == NULL)
        return false;
    bool good = PyTuple_Size(items) == rank;
    if (!good)
        PyErr_Format(PyExc_ValueError, "%R names no chunk of an array of %d axes", chunk,
                     rank);
    for (int i = 0; good && i < rank; i++)
        good = take_coordinate(PyTuple_GetItem(items, i), &out[i]);
    Py_DECREF(items);
    return good;
}

/* Room for the coordinates of n chunks. NULL with an exception set. */
static int64_t *new_coordinates(Py_ssize_t n, int rank)
{
    size_t n_bytes;
    int64_t *coordinates = NULL;
    if (!__builtin_mul_overflow((size_t)n + 1, (size_t)rank * sizeof *coordinates,
                                &n_bytes))
        coordinates = PyMem_Malloc(n_bytes);
    if (coordinates == NULL)
        PyErr_NoMemory();
    return coordinates;
}

/* ---------------------------------------------------------------------- reading */

static PyObject *items_of(const zlg_varlen *varlen, const uint8_t *missing)
{
    PyObject *list = PyList_New((Py_ssize_t)varlen->n);
    for (int64_t i = 0; list != NULL && i < varlen->n; i++) {
        int64_t start = varlen->offsets[i], end = varlen->offsets[i + 1];
        const char *data = (const char *)varlen->bytes + start;
        PyObject *item = missing[i]
                             ? Py_NewRef(Py_None)
                             : PyBytes_FromStringAndSize(data, (Py_ssize_t)(end - start));
        if (item == NULL || PyList_SetItem(list, (Py_ssize_t)i, item) < 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *read_encoded(zlg_array *array, const int64_t *coordinates, Py_ssize_t n,
                              core_call *call)
{
    uint8_t *missing = PyMem_Malloc((size_t)n + 1);
    if (missing == NULL)
        return PyErr_NoMemory();
    zlg_error err;
    zlg_varlen varlen;
    core_call_enter(call);
    zlg_status status = zlg_array_read_encoded(array, coordinates, (size_t)n, &varlen,
                                               missing, &call->call, &err);
    bool good = core_call_leave(call, status, &err);
    PyObject *list = good ? items_of(&varlen, missing) : NULL;
    if (status == ZLG_OK)
        zlg_varlen_free(&varlen);
    PyMem_Free(missing);
    return list;
}

/* read_encoded(chunks, *, timeout=None): [bytes or None, ...] */
PyObject *core_array_read_encoded(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"chunks", "timeout", NULL};
    core_node *node = (core_node *)self;
    PyObject *given, *timeout = NULL, *result = NULL;
    core_call call;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|$O", names, &given, &timeout) ||
        !core_call_make(&call, timeout) ||
        !core_call_watch(&call, core_state_of(node->module), NULL, NULL))
        return NULL;
    PyObject *chunks = PySequence_Tuple(given);
    if (chunks == NULL)
        return NULL;
    core_handle *handle = core_handle_hold(node->handle);
    int rank = zlg_array_rank(handle->array);
    Py_ssize_t n = PyTuple_Size(chunks);
    int64_t *coordinates = new_coordinates(n, rank);
    bool good = coordinates != NULL;
    for (Py_ssize_t i = 0; good && i < n; i++)
        good = take_chunk(PyTuple_GetItem(chunks, i), rank, coordinates + i * rank);
    if (good)
        result = read_encoded(handle->array, coordinates, n, &call);
    PyMem_Free(coordinates);
    core_handle_drop(handle);
    Py_DECREF(chunks);
    return result;
}

/* ---------------------------------------------------------------------- writing */

/* The chunks of a call: the bytes of the first n_views are held. */
typedef struct write_job {
    PyObject *pairs; /* a list of (coordinates, bytes or None) */
    Py_ssize_t n, n_views;
    int64_t *coordinates;
    zlg_encoded *chunks;
    Py_buffer *views; /* not of those that are None */
} write_job;

static bool take_bytes(write_job *job, PyObject *bytes, zlg_encoded *chunk)
{
    if (bytes == Py_None)
        return true;
    Py_buffer *view = &job->views[job->n_views];
    if (PyObject_GetBuffer(bytes, view, PyBUF_SIMPLE) < 0)
        return false;
    job->n_views++;
    chunk->data = view->buf != NULL ? view->buf : ""; /* no bytes are not no chunk */
    chunk->n_bytes = (size_t)view->len;
    return true;
}

static bool take_pair(write_job *job, Py_ssize_t i, int rank)
{
    PyObject *pair = PyList_GetItem(job->pairs, i);
    if (!PyTuple_Check(pair) || PyTuple_Size(pair) != 2) {
        PyErr_SetString(PyExc_TypeError,
                        "an encoded chunk is a tuple (coordinates, bytes or None)");
        return false;
    }
    int64_t *coordinates = job->coordinates + i * rank;
    job->chunks[i] = (zlg_encoded){.coordinates = coordinates};
    return take_chunk(PyTuple_GetItem(pair, 0), rank, coordinates) &&
           take_bytes(job, PyTuple_GetItem(pair, 1), &job->chunks[i]);
}

static bool job_make(write_job *job, PyObject *given, int rank)
{
    *job = (write_job){.pairs = PyObject_HasAttrString(given, "items")
                                    ? PyMapping_Items(given)
                                    : PySequence_List(given)};
    if (job->pairs == NULL)
        return false;
    job->n = PyList_Size(job->pairs);
    job->coordinates = new_coordinates(job->n, rank);
    job->chunks = PyMem_Malloc(((size_t)job->n + 1) * sizeof *job->chunks);
    job->views = PyMem_Malloc(((size_t)job->n + 1) * sizeof *job->views);
    bool good = job->coordinates && job->chunks && job->views;
    if (!good)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; good && i < job->n; i++)
        good = take_pair(job, i, rank);
    return good;
}

static void job_reset(write_job *job)
{
    while (job->n_views > 0)
        PyBuffer_Release(&job->views[--job->n_views]);
    PyMem_Free(job->views);
    PyMem_Free(job->chunks);
    PyMem_Free(job->coordinates);
    Py_XDECREF(job->pairs);
}

/* write_encoded(chunks, *, promise=None, timeout=None) */
PyObject *core_array_write_encoded(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"chunks", "promise", "timeout", NULL};
    core_node *node = (core_node *)self;
    PyObject *given, *timeout = NULL;
    zlg_promise promise = ZLG_PROMISE_DEFAULT;
    core_call call;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|$O&O", names, &given,
                                     core_to_promise, &promise, &timeout) ||
        !core_node_writable(node) || !core_call_make(&call, timeout) ||
        !core_call_watch(&call, core_state_of(node->module), NULL, NULL))
        return NULL;
    write_job job;
    core_handle *handle = core_handle_hold(node->handle);
    bool good = job_make(&job, given, zlg_array_rank(handle->array));
    if (good) {
        zlg_error err;
        core_call_writes(&call, node, promise, 0);
        core_call_enter(&call);
        zlg_status status = zlg_array_write_encoded(handle->array, job.chunks,
                                                    (size_t)job.n, &call.call, &err);
        good = core_call_leave(&call, status, &err);
    }
    job_reset(&job);
    core_handle_drop(handle);
    return good ? Py_NewRef(Py_None) : NULL;
}
