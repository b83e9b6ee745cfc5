/*
 * The type Writer over zlg_writer: elements are given in arrays of NumPy of the type of the
 * array, already; names, selections and casts are the business of writer.py.
 *
 * Memory that is lent is kept alive by an export of its buffer. The library gives it back
 * on threads of its own, which must not wait for the GIL: they put it into a list, and the
 * next call that comes from Python lets it go.
 */
#include "core.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "zellige_writer.h"

typedef struct loan {
    struct loan *next;
    struct core_writer *writer;
    core_source source;
} loan;

typedef struct core_writer {
    PyObject ob_base;
    PyObject *module;
    zlg_writer *handle;
    struct core_added { /* by number */
        int rank;
        size_t n_bytes_element;
    } * added;
    int n_added;
    _Atomic(loan *) returned;
} core_writer;

/* Where one part lies, while a call gives it. */
typedef struct place {
    int64_t start[ZLG_MAX_RANK], count[ZLG_MAX_RANK];
    Py_ssize_t strides[CORE_MAX_RESULT_RANK];
    core_source source; /* of what is copied */
} place;

/* ---------------------------------------------------------------------- loans */

static void take_back(void *user)
{
    loan *l = user;
    loan *first = atomic_load(&l->writer->returned);
    do
        l->next = first;
    while (!atomic_compare_exchange_weak(&l->writer->returned, &first, l));
}

static void drop_returned(core_writer *self)
{
    loan *l = atomic_exchange(&self->returned, NULL);
    while (l != NULL) {
        loan *next = l->next;
        core_source_reset(&l->source);
        free(l);
        l = next;
    }
}

/* ---------------------------------------------------------------------- its life */

/* open_writer(store, memory_budget, n_threads, promise, existing, keep_empty, partial,
 * side_directory or None, journal or None), for arrays of stores with the context of this
 * one */
PyObject *core_open_writer(PyObject *module, PyObject *args)
{
    core_state *state = core_state_of(module);
    PyObject *store;
    long long budget;
    int existing, partial;
    zlg_writer_options options = ZLG_WRITER_OPTIONS_INIT;
    if (!PyArg_ParseTuple(args, "O!LiO&iO&iz|z", state->store_type, &store, &budget,
                          &options.n_threads, core_to_promise, &options.promise, &existing,
                          core_to_keep_empty, &options.keep_empty, &partial,
                          &options.side_directory, &options.journal))
        return NULL;
    options.memory_budget = budget;
    options.existing = (zlg_existing)existing;
    options.partial = (zlg_partial)partial;
    core_writer *self = core_new(state->writer_type, state->writer_type);
    if (self == NULL)
        return NULL;
    self->module = Py_NewRef(module);
    zlg_error err;
    if (zlg_writer_open(((core_store *)store)->ctx, &options, &self->handle, &err) ==
        ZLG_OK)
        return (PyObject *)self;
    core_raise(&err);
    Py_DECREF((PyObject *)self);
    return NULL;
}

static void writer_delete(PyObject *object)
{
    core_writer *self = (core_writer *)object;
    if (self->handle != NULL)
        CORE_UNLOCKED(zlg_writer_free(self->handle));
    drop_returned(self);
    PyMem_Free(self->added);
    Py_CLEAR(self->module);
    core_delete(object);
}

/* Integers, one for each axis; None, where it is allowed, is 1. */
static bool take_lengths(PyObject *tuple, int rank, int64_t *out)
{
    if (!PyTuple_Check(tuple) || PyTuple_Size(tuple) != rank) {
        PyErr_Format(PyExc_TypeError, "a tuple of %d integers is needed, not %R", rank,
                     tuple);
        return false;
    }
    for (int i = 0; i < rank; i++) {
        PyObject *item = PyTuple_GetItem(tuple, i);
        out[i] = item == Py_None ? 1 : PyLong_AsLongLong(item);
        if (out[i] == -1 && PyErr_Occurred())
            return false;
    }
    return true;
}

static bool note_added(core_writer *self, int number, const core_handle *handle)
{
    size_t n = (size_t)number + 1;
    struct core_added *added = PyMem_Realloc(self->added, n * sizeof *added);
    if (added == NULL)
        return PyErr_NoMemory() != NULL;
    added[number] =
        (struct core_added){zlg_array_rank(handle->array), handle->n_bytes_element};
    self->added = added;
    self->n_added = number + 1;
    return true;
}

/* add(array, start of the claim or None, its count or None) -> number */
static PyObject *writer_add(PyObject *object, PyObject *args)
{
    core_writer *self = (core_writer *)object;
    core_node *array;
    PyObject *start, *count;
    int64_t from[ZLG_MAX_RANK], n[ZLG_MAX_RANK];
    zlg_claim claim = {from, n};
    if (!PyArg_ParseTuple(args, "O!OO", core_state_of(self->module)->array_type, &array,
                          &start, &count) ||
        !core_node_writable(array))
        return NULL;
    core_handle *handle = array->handle;
    int rank = zlg_array_rank(handle->array), number;
    bool is_claimed = start != Py_None;
    if (is_claimed && (!take_lengths(start, rank, from) || !take_lengths(count, rank, n)))
        return NULL;
    zlg_error err;
    core_handle_hold(handle);
    zlg_status status;
    CORE_UNLOCKED(status = zlg_writer_add(self->handle, handle->array,
                                          is_claimed ? &claim : NULL, &number, &err));
    PyObject *result = NULL;
    if (status != ZLG_OK)
        core_raise(&err);
    else if (note_added(self, number, handle))
        result = PyLong_FromLong(number);
    core_handle_drop(handle);
    return result;
}

/* add_coarser(number, number of the coarser array, factors, zlg_reduce) */
static PyObject *writer_add_coarser(PyObject *object, PyObject *args)
{
    core_writer *self = (core_writer *)object;
    PyObject *factors;
    int fine, coarse, how;
    int64_t n[ZLG_MAX_RANK] = {0};
    if (!PyArg_ParseTuple(args, "iiOi", &fine, &coarse, &factors, &how))
        return NULL;
    if (fine >= 0 && fine < self->n_added &&
        !take_lengths(factors, self->added[fine].rank, n))
        return NULL;
    zlg_error err;
    zlg_status status;
    CORE_UNLOCKED(status = zlg_writer_add_coarser(self->handle, fine, coarse, n,
                                                  (zlg_reduce)how, &err));
    if (status != ZLG_OK)
        return core_raise(&err);
    Py_RETURN_NONE;
}

/* ---------------------------------------------------------------------- giving */

/* The lengths of a box without the axes whose count is None: a new tuple. */
static PyObject *shape_of(PyObject *count)
{
    Py_ssize_t n = 0, rank = PyTuple_Size(count);
    for (Py_ssize_t i = 0; i < rank; i++)
        n += PyTuple_GetItem(count, i) != Py_None;
    PyObject *shape = PyTuple_New(n);
    for (Py_ssize_t i = 0, k = 0; shape != NULL && i < rank; i++) {
        PyObject *item = PyTuple_GetItem(count, i);
        if (item != Py_None)
            PyTuple_SetItem(shape, k++, Py_NewRef(item));
    }
    return shape;
}

/* Views a value that is broadcast to a box, with a stride for each of its axes. */
static bool view(const struct core_added *added, PyObject *count, PyObject *value,
                 int swapped, core_source *source, place *at)
{
    Py_ssize_t strides[CORE_MAX_RESULT_RANK];
    PyObject *shape = shape_of(count);
    bool good = shape != NULL && core_source_view(source, value, swapped,
                                                  added->n_bytes_element, shape, strides);
    Py_XDECREF(shape);
    for (int i = 0, k = 0; good && i < added->rank; i++)
        at->strides[i] = PyTuple_GetItem(count, i) != Py_None ? strides[k++] : 0;
    source->source.strides = source->is_packed ? NULL : at->strides;
    return good;
}

static const struct core_added *find_added(core_writer *self, int number)
{
    if (number >= 0 && number < self->n_added)
        return &self->added[number];
    PyErr_Format(PyExc_ValueError, "array %d was not added", number);
    return NULL;
}

/* (number, start, count, value, swapped, borrow) */
static bool make_part(core_writer *self, PyObject *tuple, place *at, zlg_submit *out)
{
    PyObject *start, *count, *value;
    int number, swapped, borrow;
    at->source = (core_source){0};
    if (!PyTuple_Check(tuple)) {
        PyErr_SetString(PyExc_TypeError, "a part is a tuple");
        return false;
    }
    if (!PyArg_ParseTuple(tuple, "iOOOpp", &number, &start, &count, &value, &swapped,
                          &borrow))
        return false;
    const struct core_added *added = find_added(self, number);
    if (added == NULL || !take_lengths(start, added->rank, at->start) ||
        !take_lengths(count, added->rank, at->count))
        return false;
    *out = (zlg_submit){.array = number, .start = at->start, .count = at->count};
    loan *lent = borrow ? calloc(1, sizeof *lent) : NULL;
    if (borrow && lent == NULL)
        return PyErr_NoMemory() != NULL;
    core_source *source = lent != NULL ? &lent->source : &at->source;
    bool good = view(added, count, value, swapped, source, at);
    out->source = source->source;
    if (lent != NULL) { /* also when it failed: who cleans up sees no difference */
        lent->writer = self;
        out->borrow = 1;
        out->release = take_back;
        out->user = lent;
    }
    return good;
}

/* 0 seconds: not to wait at all. */
static bool call_make(core_call *call, const core_writer *self, PyObject *timeout,
                      PyObject *progress, PyObject *cancel)
{
    if (!core_call_make(call, timeout))
        return false;
    return core_call_watch(call, core_state_of(self->module), progress, cancel);
}

static bool is_zero(PyObject *timeout)
{
    return timeout != Py_None && PyFloat_AsDouble(timeout) == 0.0;
}

/* submit(parts, timeout, cancel) -> ticket. None: waits; 0: does not wait for memory. */
static PyObject *writer_submit(PyObject *object, PyObject *args)
{
    core_writer *self = (core_writer *)object;
    PyObject *list, *timeout, *cancel;
    core_call call;
    if (!PyArg_ParseTuple(args, "O!OO", &PyList_Type, &list, &timeout, &cancel))
        return NULL;
    drop_returned(self);
    size_t n = (size_t)PyList_Size(list), n_made = 0;
    zlg_submit *parts = PyMem_Calloc(n + 1, sizeof *parts);
    place *places = PyMem_Malloc((n + 1) * sizeof *places);
    bool good = call_make(&call, self, timeout, NULL, cancel), is_given = false;
    if (parts == NULL || places == NULL) {
        PyErr_NoMemory();
        good = false;
    }
    if (good && is_zero(timeout))
        call.call.deadline_ms = -1;
    for (; good && n_made < n; n_made++)
        good = make_part(self, PyList_GetItem(list, (Py_ssize_t)n_made), &places[n_made],
                         &parts[n_made]);
    zlg_ticket ticket = 0;
    if (good) {
        zlg_error err;
        is_given = true;
        core_call_enter(&call);
        zlg_status status =
            zlg_writer_submit(self->handle, parts, n, &call.call, &ticket, &err);
        good = core_call_leave(&call, status, &err);
    }
    for (size_t i = 0; i < n_made; i++) {
        if (!is_given && parts[i].borrow)
            take_back(parts[i].user);
        core_source_reset(&places[i].source);
    }
    drop_returned(self);
    core_call_reset(&call);
    PyMem_Free(parts);
    PyMem_Free(places);
    return good ? PyLong_FromUnsignedLongLong(ticket) : NULL;
}

/* append(number, axis, shape, value, swapped, timeout, cancel) -> (first row, ticket). The
 * shape is that of the rows, all axes of the array. */
static PyObject *writer_append(PyObject *object, PyObject *args)
{
    core_writer *self = (core_writer *)object;
    PyObject *shape, *value, *timeout, *cancel;
    int number, axis, swapped;
    core_call call;
    if (!PyArg_ParseTuple(args, "iiOOpOO", &number, &axis, &shape, &value, &swapped,
                          &timeout, &cancel))
        return NULL;
    drop_returned(self);
    place at;
    at.source = (core_source){0};
    const struct core_added *added = find_added(self, number);
    if (added == NULL || !take_lengths(shape, added->rank, at.count))
        return NULL;
    if (axis < 0 || axis >= added->rank) {
        PyErr_Format(PyExc_ValueError, "no axis %d in an array of %d axes", axis,
                     added->rank);
        return NULL;
    }
    bool good = call_make(&call, self, timeout, NULL, cancel) &&
                view(added, shape, value, swapped, &at.source, &at);
    int64_t first = 0;
    zlg_ticket ticket = 0;
    if (good) {
        zlg_error err;
        if (is_zero(timeout))
            call.call.deadline_ms = -1;
        core_call_enter(&call);
        zlg_status status =
            zlg_writer_append(self->handle, number, axis, at.count[axis], &at.source.source,
                              &call.call, &first, &ticket, &err);
        good = core_call_leave(&call, status, &err);
    }
    core_source_reset(&at.source);
    core_call_reset(&call);
    return good ? Py_BuildValue("LK", (long long)first, (unsigned long long)ticket) : NULL;
}

/* ---------------------------------------------------------------------- waiting */

/* poll(ticket) -> 0 pending, 1 taken, 2 stored, 3 failed */
static PyObject *writer_poll(PyObject *object, PyObject *number)
{
    core_writer *self = (core_writer *)object;
    unsigned long long ticket = PyLong_AsUnsignedLongLong(number);
    if (PyErr_Occurred())
        return NULL;
    zlg_error err;
    zlg_ticket_state state;
    zlg_status status;
    CORE_UNLOCKED(status = zlg_writer_poll(self->handle, ticket, &state, &err));
    drop_returned(self);
    return status == ZLG_OK ? PyLong_FromLong((long)state) : core_raise(&err);
}

/* wait(ticket, state, timeout, cancel) */
static PyObject *writer_wait(PyObject *object, PyObject *args)
{
    core_writer *self = (core_writer *)object;
    unsigned long long ticket;
    int state;
    PyObject *timeout, *cancel;
    core_call call;
    if (!PyArg_ParseTuple(args, "KiOO", &ticket, &state, &timeout, &cancel))
        return NULL;
    bool good = call_make(&call, self, timeout, NULL, cancel);
    if (good) {
        zlg_error err;
        core_call_enter(&call);
        zlg_status status = zlg_writer_wait(self->handle, ticket, (zlg_ticket_state)state,
                                            &call.call, &err);
        good = core_call_leave(&call, status, &err);
    }
    core_call_reset(&call);
    drop_returned(self);
    return good ? Py_NewRef(Py_None) : NULL;
}

typedef zlg_status (*end_fn)(zlg_writer *writer, const zlg_call *call, zlg_error *err);

/* end(timeout, progress, cancel) */
static PyObject *end_with(PyObject *object, PyObject *args, end_fn end)
{
    core_writer *self = (core_writer *)object;
    PyObject *timeout, *progress, *cancel;
    core_call call;
    if (!PyArg_ParseTuple(args, "OOO", &timeout, &progress, &cancel))
        return NULL;
    bool good = call_make(&call, self, timeout, progress, cancel);
    if (good) {
        zlg_error err;
        core_call_enter(&call);
        zlg_status status = end(self->handle, &call.call, &err);
        good = core_call_leave(&call, status, &err);
    }
    core_call_reset(&call);
    drop_returned(self);
    return good ? Py_NewRef(Py_None) : NULL;
}

static PyObject *writer_drain(PyObject *object, PyObject *args)
{
    return end_with(object, args, zlg_writer_drain);
}

static PyObject *writer_flush(PyObject *object, PyObject *args)
{
    return end_with(object, args, zlg_writer_flush);
}

static PyObject *writer_close(PyObject *object, PyObject *args)
{
    return end_with(object, args, zlg_writer_close);
}

static PyObject *writer_abort(PyObject *object, PyObject *unused)
{
    (void)unused;
    core_writer *self = (core_writer *)object;
    CORE_UNLOCKED(zlg_writer_abort(self->handle));
    drop_returned(self);
    Py_RETURN_NONE;
}

/* leave(): it is never freed, as that waits for threads. For a process that ends. */
static PyObject *writer_leave(PyObject *object, PyObject *unused)
{
    (void)unused;
    Py_INCREF(object);
    Py_RETURN_NONE;
}

/* ---------------------------------------------------------------------- facts */

static PyObject *writer_counts(PyObject *object, PyObject *unused)
{
    (void)unused;
    core_writer *self = (core_writer *)object;
    zlg_writer_counts c = ZLG_WRITER_COUNTS_INIT;
    const struct {
        const char *name;
        const uint64_t *value;
    } fields[] = {
        {"submitted", &c.n_submitted},
        {"bytes_submitted", &c.n_bytes_submitted},
        {"bytes_queued", &c.n_bytes_queued},
        {"bytes_live", &c.n_bytes_live},
        {"bytes_peak", &c.n_bytes_peak},
        {"bytes_budget", &c.n_bytes_budget},
        {"open", &c.n_open},
        {"failed", &c.n_failed},
        {"stored", &c.n_stored},
        {"partial", &c.n_partial},
        {"skipped", &c.n_skipped},
        {"retried", &c.n_retried},
        {"bytes_stored", &c.n_bytes_stored},
        {"opened", &c.n_opened},
        {"spilled", &c.n_spilled},
        {"bytes_spilled", &c.n_bytes_spilled},
        {"unspilled", &c.n_unspilled},
        {"shapes", &c.n_shapes},
        {"nanoseconds_waited", &c.ns_waited},
        {"resumed", &c.n_resumed},
        {"bytes_resumed", &c.n_bytes_resumed},
        {"kept", &c.n_kept},
        {"bytes_kept", &c.n_bytes_kept},
    };
    zlg_error err;
    zlg_status status;
    CORE_UNLOCKED(status = zlg_writer_count(self->handle, &c, &err));
    if (status != ZLG_OK)
        return core_raise(&err);
    PyObject *dict = PyDict_New();
    for (size_t i = 0; dict != NULL && i < sizeof fields / sizeof *fields; i++) {
        PyObject *value = PyLong_FromUnsignedLongLong(*fields[i].value);
        if (value == NULL || PyDict_SetItemString(dict, fields[i].name, value) < 0)
            Py_CLEAR(dict);
        Py_XDECREF(value);
    }
    return dict;
}

/* is_stored(number, start, count) -> bool */
static PyObject *writer_is_stored(PyObject *object, PyObject *args)
{
    core_writer *self = (core_writer *)object;
    PyObject *start, *count;
    int number, is_stored;
    int64_t from[ZLG_MAX_RANK], n[ZLG_MAX_RANK];
    if (!PyArg_ParseTuple(args, "iOO", &number, &start, &count))
        return NULL;
    const struct core_added *added = find_added(self, number);
    if (added == NULL || !take_lengths(start, added->rank, from) ||
        !take_lengths(count, added->rank, n))
        return NULL;
    zlg_error err;
    zlg_status status;
    CORE_UNLOCKED(
        status = zlg_writer_is_stored(self->handle, number, from, n, &is_stored, &err));
    return status == ZLG_OK ? PyBool_FromLong(is_stored) : core_raise(&err);
}

static PyObject *writer_estimate(PyObject *object, PyObject *unused)
{
    (void)unused;
    core_writer *self = (core_writer *)object;
    zlg_error err;
    uint64_t least, usual;
    zlg_status status;
    CORE_UNLOCKED(status = zlg_writer_estimate(self->handle, &least, &usual, &err));
    if (status != ZLG_OK)
        return core_raise(&err);
    return Py_BuildValue("KK", (unsigned long long)least, (unsigned long long)usual);
}

/* ---------------------------------------------------------------------- the type */

static PyMethodDef methods[] = {
    {"add", writer_add, METH_VARARGS, NULL},
    {"add_coarser", writer_add_coarser, METH_VARARGS, NULL},
    {"submit", writer_submit, METH_VARARGS, NULL},
    {"append", writer_append, METH_VARARGS, NULL},
    {"poll", writer_poll, METH_O, NULL},
    {"wait", writer_wait, METH_VARARGS, NULL},
    {"drain", writer_drain, METH_VARARGS, NULL},
    {"flush", writer_flush, METH_VARARGS, NULL},
    {"close", writer_close, METH_VARARGS, NULL},
    {"abort", writer_abort, METH_NOARGS, NULL},
    {"leave", writer_leave, METH_NOARGS, NULL},
    {"counts", writer_counts, METH_NOARGS, NULL},
    {"estimate", writer_estimate, METH_NOARGS, NULL},
    {"is_stored", writer_is_stored, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, CORE_SLOT("Takes parts of arrays and stores them later.")},
    {Py_tp_dealloc, CORE_SLOT(writer_delete)},
    {Py_tp_methods, methods},
    {0, NULL},
};

PyType_Spec core_writer_spec = {
    .name = "zellige._core.Writer",
    .basicsize = sizeof(core_writer),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};
