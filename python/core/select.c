/*
 * Selections: NumPy's basic indexing (integers, slices, Ellipsis, newaxis) is read here,
 * for it is most of what is asked and a small read has no time for Python. Lists, masks,
 * points and blocks arrive as plans made in selection.py: (kind, parts, shape), where a
 * part is (start, step, count), an integer, whose axis the result lacks, or a contiguous
 * int64 array. Positions in a plan need no
 * trust: the engine checks them all.
 */
#include "core.h"

#include <stdio.h>

static bool allocate(core_pick *pick, int rank)
{
    size_t n = rank > 0 ? (size_t)rank : 1;
    size_t n_bytes = n * (sizeof *pick->axes + sizeof *pick->coordinates +
                          sizeof *pick->strides + sizeof *pick->place);
    char *block = PyMem_Malloc(n_bytes);
    if (block == NULL) {
        PyErr_NoMemory();
        return false;
    }
    pick->block = block;
    pick->axes = (zlg_axis *)(void *)block;
    block += n * sizeof *pick->axes;
    pick->coordinates = (const int64_t **)(void *)block;
    block += n * sizeof *pick->coordinates;
    pick->strides = (ptrdiff_t *)(void *)block;
    block += n * sizeof *pick->strides;
    pick->place = (int *)(void *)block;
    pick->selection.rank = rank;
    pick->selection.axes = pick->axes;
    return true;
}

/* ---------------------------------------------------------------------- basic indexing */

typedef enum item_kind { OTHER, INTEGER, SLICE, ELLIPSIS, NEW_AXIS } item_kind;

static item_kind kind_of(PyObject *item)
{
    if (PySlice_Check(item))
        return SLICE;
    if (PyLong_Check(item))
        return PyBool_Check(item) ? OTHER : INTEGER;
    if (item == Py_Ellipsis)
        return ELLIPSIS;
    if (item == Py_None)
        return NEW_AXIS;
    /* NumPy's scalars are integers; its arrays are sequences, lists are no index. */
    return PyIndex_Check(item) && !PySequence_Check(item) ? INTEGER : OTHER;
}

static bool outside(PyObject *item, int i_axis, int64_t length)
{
    PyObject *text = PyObject_Str(item);
    const char *index = text != NULL ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    zlg_error err = {.status = ZLG_RANGE};
    PyErr_Clear(); /* of too many digits */
    snprintf(err.message, sizeof err.message,
             "index %.40s is out of bounds for axis %d with %lld elements",
             index != NULL ? index : "of very many digits", i_axis, (long long)length);
    Py_XDECREF(text);
    core_raise(&err);
    return false;
}

static bool pick_integer(zlg_axis *axis, PyObject *item, int i_axis, int64_t length)
{
    /* What does not fit comes as the largest or the smallest that does: outside, too. */
    Py_ssize_t index = PyNumber_AsSsize_t(item, NULL);
    if (index == -1 && PyErr_Occurred())
        return false;
    if (index < -length || index >= length)
        return outside(item, i_axis, length);
    *axis = (zlg_axis){.start = index < 0 ? index + length : index, .step = 1, .count = 1};
    return true;
}

static bool pick_slice(zlg_axis *axis, PyObject *item, int64_t length)
{
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(item, &start, &stop, &step) < 0)
        return false;
    Py_ssize_t count = PySlice_AdjustIndices((Py_ssize_t)length, &start, &stop, step);
    /* Where nothing or one element is taken, start and step may lie anywhere. */
    *axis = (zlg_axis){
        .start = count > 0 ? start : 0, .step = count > 1 ? step : 1, .count = count};
    return true;
}

/* Counts what a key names. False when an item is not basic. */
static bool count_items(PyObject *const *items, Py_ssize_t n, int *out_n_axes,
                        int *out_n_ellipsis)
{
    *out_n_axes = *out_n_ellipsis = 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        item_kind kind = kind_of(items[i]);
        if (kind == OTHER)
            return false;
        *out_n_axes += kind == INTEGER || kind == SLICE;
        *out_n_ellipsis += kind == ELLIPSIS;
    }
    return true;
}

/* Takes the text. */
static bool refuse_key(PyObject *text)
{
    PyObject *errors = PyImport_ImportModule("zellige.errors"), *class = NULL;
    if (errors != NULL)
        class = PyObject_GetAttrString(errors, "SelectionError");
    if (class != NULL && text != NULL)
        PyErr_SetObject(class, text);
    Py_XDECREF(class);
    Py_XDECREF(errors);
    Py_XDECREF(text);
    return false;
}

static bool too_many(Py_ssize_t n, int rank)
{
    return refuse_key(PyUnicode_FromFormat(
        "too many indices: the array has %d axes, %zd were indexed", rank, n));
}

/* Fills the axes of `pick`; items are basic. */
static bool pick_items(core_pick *pick, const int64_t *lengths, PyObject *const *items,
                       Py_ssize_t n_items, int n_axes)
{
    int rank = pick->selection.rank, axis = 0, n_out = 0;
    int64_t shape[CORE_MAX_RESULT_RANK + 1];
    bool seen_ellipsis = false;
    for (Py_ssize_t i = 0; i <= n_items; i++) {
        /* After the last item stands an Ellipsis, unless there was one. */
        item_kind kind = i < n_items ? kind_of(items[i]) : ELLIPSIS;
        int n_whole = kind == ELLIPSIS ? (i < n_items ? rank - n_axes : rank - axis) : 0;
        if (n_out + n_whole >= CORE_MAX_RESULT_RANK)
            return too_many(n_items, CORE_MAX_RESULT_RANK);
        switch (kind) {
        case INTEGER:
            if (!pick_integer(&pick->axes[axis], items[i], axis, lengths[axis]))
                return false;
            pick->place[axis++] = -1;
            break;
        case SLICE:
            if (!pick_slice(&pick->axes[axis], items[i], lengths[axis]))
                return false;
            shape[n_out] = pick->axes[axis].count;
            pick->place[axis++] = n_out++;
            break;
        case NEW_AXIS:
            shape[n_out++] = 1;
            break;
        case ELLIPSIS:
        case OTHER:
            seen_ellipsis = seen_ellipsis || i < n_items;
            for (; n_whole > 0; n_whole--) {
                pick->axes[axis] = (zlg_axis){.step = 1, .count = lengths[axis]};
                shape[n_out] = lengths[axis];
                pick->place[axis++] = n_out++;
            }
            break;
        }
    }
    pick->is_box = true;
    pick->is_scalar = n_out == 0 && !seen_ellipsis;
    pick->shape = core_int_tuple(shape, n_out);
    return pick->shape != NULL;
}

/* 1: done; 0: not basic; -1: an exception is set. */
static int pick_basic(core_pick *pick, PyObject *key)
{
    PyObject *items[CORE_MAX_RESULT_RANK];
    Py_ssize_t n_items = 1;
    items[0] = key;
    if (PyTuple_Check(key)) {
        n_items = PyTuple_Size(key);
        if (n_items > CORE_MAX_RESULT_RANK)
            return too_many(n_items, CORE_MAX_RESULT_RANK), -1;
        for (Py_ssize_t i = 0; i < n_items; i++)
            items[i] = PyTuple_GetItem(key, i);
    }
    int n_axes, n_ellipsis, rank = zlg_array_rank(pick->handle->array);
    if (!count_items(items, n_items, &n_axes, &n_ellipsis))
        return 0;
    if (n_ellipsis > 1) {
        refuse_key(
            PyUnicode_FromString("an index can only have a single ellipsis ('...')"));
        return -1;
    }
    if (n_axes > rank)
        return too_many(n_axes, rank), -1;
    if (!allocate(pick, rank))
        return -1;
    return pick_items(pick, zlg_array_shape(pick->handle->array), items, n_items, n_axes)
               ? 1
               : -1;
}

/* ---------------------------------------------------------------------- plans */

/* Address of a contiguous buffer; the plan keeps its owner alive. */
static const void *address_of(PyObject *array, Py_ssize_t *out_n_bytes)
{
    Py_buffer view;
    *out_n_bytes = 0;
    if (PyObject_GetBuffer(array, &view, PyBUF_SIMPLE) < 0)
        return NULL;
    const void *data = view.buf;
    *out_n_bytes = view.len;
    PyBuffer_Release(&view);
    return data;
}

static bool pick_part(core_pick *pick, int i, PyObject *part)
{
    zlg_axis *axis = &pick->axes[i];
    *axis = (zlg_axis){.step = 1};
    if (PyLong_Check(part)) {
        axis->start = PyLong_AsLongLong(part);
        axis->count = 1;
        return !PyErr_Occurred();
    }
    if (PyTuple_Check(part)) {
        long long start, step, count;
        if (!PyArg_ParseTuple(part, "LLL", &start, &step, &count))
            return false;
        *axis = (zlg_axis){.start = start, .step = step, .count = count};
        return true;
    }
    Py_ssize_t n_bytes;
    const int64_t *list = address_of(part, &n_bytes);
    /* An empty list may have no address, and no list would mean a range. */
    static const int64_t none;
    if (PyErr_Occurred())
        return false;
    axis->count = n_bytes / (Py_ssize_t)sizeof *list;
    axis->list = pick->coordinates[i] = axis->count > 0 ? list : &none;
    return true;
}

static bool check_points(core_pick *pick)
{
    pick->selection.n_points = pick->selection.rank > 0 ? pick->axes[0].count : 0;
    for (int i = 0; i < pick->selection.rank; i++) {
        if (pick->axes[i].list == NULL || pick->axes[i].count != pick->selection.n_points) {
            PyErr_SetString(PyExc_ValueError, "points need one index per axis");
            return false;
        }
    }
    pick->selection.axes = NULL;
    pick->selection.coordinates = pick->coordinates;
    return true;
}

static bool pick_mask(core_pick *pick, PyObject *mask)
{
    Py_ssize_t n_bytes;
    pick->selection.mask = address_of(mask, &n_bytes);
    if (PyErr_Occurred())
        return false;
    int64_t n = 1;
    bool fits = true;
    for (int i = 0; i < pick->selection.rank; i++)
        fits =
            fits && !__builtin_mul_overflow(n, zlg_array_shape(pick->handle->array)[i], &n);
    if (!fits || n_bytes != n) {
        return refuse_key(PyUnicode_FromString("the mask has not the shape of the array"));
    }
    pick->selection.axes = NULL;
    return true;
}

static bool pick_parts(core_pick *pick, int kind, PyObject *parts)
{
    pick->selection.kind = (zlg_selection_kind)kind;
    if (pick->selection.kind == ZLG_MASK)
        return pick_mask(pick, parts);
    if (!PyTuple_Check(parts) || PyTuple_Size(parts) != pick->selection.rank) {
        PyErr_SetString(PyExc_ValueError, "a plan needs one part per axis");
        return false;
    }
    int n_out = 0;
    for (int i = 0; i < pick->selection.rank; i++) {
        PyObject *part = PyTuple_GetItem(parts, i);
        pick->place[i] = PyLong_Check(part) ? -1 : n_out++;
        if (!pick_part(pick, i, part))
            return false;
    }
    pick->is_box = pick->selection.kind != ZLG_POINTS;
    return pick->is_box || check_points(pick);
}

/* Blocks are a box, whose shape the grid knows. */
static bool pick_blocks(core_pick *pick)
{
    zlg_error err;
    int rank;
    int64_t shape[ZLG_MAX_RANK];
    if (zlg_selection_shape(pick->handle->array, &pick->selection, &rank, shape, &err) !=
        ZLG_OK) {
        core_raise(&err);
        return false;
    }
    pick->shape = core_int_tuple(shape, rank);
    return pick->shape != NULL;
}

static bool pick_plan(core_pick *pick, core_node *array, PyObject *key)
{
    if (!allocate(pick, zlg_array_rank(pick->handle->array)))
        return false;
    pick->plan = PyObject_CallMethod((PyObject *)array, "_plan", "(O)", key);
    int kind;
    PyObject *parts, *shape;
    if (pick->plan == NULL || !PyArg_ParseTuple(pick->plan, "iOO", &kind, &parts, &shape))
        return false;
    if (!pick_parts(pick, kind, parts))
        return false;
    if (pick->selection.kind == ZLG_BLOCKS)
        return pick_blocks(pick);
    pick->shape = Py_NewRef(shape);
    pick->is_scalar = PyTuple_Size(shape) == 0;
    return !PyErr_Occurred();
}

/* ---------------------------------------------------------------------- both */

bool core_names_fields(PyObject *key)
{
    if (PyUnicode_Check(key))
        return true;
    if (PyTuple_Check(key)) {
        for (Py_ssize_t i = 0; i < PyTuple_Size(key); i++) {
            PyObject *item = PyTuple_GetItem(key, i);
            if (PyUnicode_Check(item) || (PyList_Check(item) && core_names_fields(item)))
                return true;
        }
        return false;
    }
    return PyList_Check(key) && PyList_Size(key) > 0 &&
           PyUnicode_Check(PyList_GetItem(key, 0));
}

bool core_pick_make(core_pick *pick, core_node *array, PyObject *key)
{
    *pick = (core_pick){.selection.kind = ZLG_BOX};
    pick->handle = core_handle_hold(array->handle);
    int basic = pick_basic(pick, key);
    return basic != 0 ? basic > 0 : pick_plan(pick, array, key);
}

void core_name_part(Py_ssize_t i, const char *path)
{
    PyObject *type, *value, *trace, *args = NULL;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (PyErr_GivenExceptionMatches(type, PyExc_ValueError) ||
        PyErr_GivenExceptionMatches(type, PyExc_IndexError) ||
        PyErr_GivenExceptionMatches(type, PyExc_TypeError)) {
        PyObject *text = PyUnicode_FromFormat("array %s: selection %zd: %S",
                                              *path != 0 ? path : "/", i, value);
        args = text != NULL ? PyTuple_Pack(1, text) : NULL;
        if (args == NULL || PyObject_SetAttrString(value, "args", args) < 0)
            PyErr_Clear(); /* it says less */
        Py_XDECREF(text);
        Py_XDECREF(args);
    }
    PyErr_Restore(type, value, trace);
}

bool core_pick_goes_apart(const core_pick *pick)
{
    enum { MANY_POINTS = 500000 };
    return pick->selection.kind == ZLG_POINTS && pick->selection.n_points > MANY_POINTS &&
           core_on_main_thread();
}

void core_pick_reset(core_pick *pick)
{
    Py_CLEAR(pick->shape);
    Py_CLEAR(pick->plan);
    PyMem_Free(pick->block);
    pick->block = NULL;
    if (pick->handle != NULL)
        core_handle_drop(pick->handle);
    pick->handle = NULL;
}

void core_pick_place(core_pick *pick, const Py_ssize_t *strides)
{
    for (int i = 0; i < pick->selection.rank; i++)
        pick->strides[i] = pick->place[i] < 0 ? 0 : strides[pick->place[i]];
}
