/*
 * The items of a batch read from Python: keys become coordinates, selections of NumPy
 * become axes, lists or points. An item costs about a microsecond, so nothing is called
 * that need not be. Knows no store and no engine.
 */
#include "chunks.h"

const char core_scattered[] = "places that are no slices";
const char core_other_memory[] = "memory of another shape";
const char core_beyond[] = "chunks beyond the grid";
const char core_other_shape[] = "chunks of another shape";

typedef struct index_list {
    struct index_list *next;
    int64_t items[];
} index_list;

static int64_t *new_list(core_chunks *chunks, Py_ssize_t n)
{
    index_list *list = PyMem_Malloc(sizeof *list + (size_t)n * sizeof *list->items);
    if (list == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    list->next = chunks->lists;
    chunks->lists = list;
    return list->items;
}

static bool refuse(core_chunks *chunks, const char *reason)
{
    chunks->reason = reason;
    return false;
}

/* ---------------------------------------------------------------------- one selection */

/* A chunk at hand: where it lies in the array. The next one is mostly near. */
typedef struct box {
    int64_t at[ZLG_MAX_RANK], start[ZLG_MAX_RANK], edge[ZLG_MAX_RANK];
} box;

/* An item of a selection that is an array of indices or a mask. */
static bool is_array(PyObject *item)
{
    return !PySlice_Check(item) && !PyLong_Check(item) && PyObject_CheckBuffer(item) &&
           PySequence_Check(item);
}

static bool take_mask(core_chunks *chunks, const Py_buffer *view, int64_t start,
                      zlg_axis *axis)
{
    const char *mask = view->buf;
    Py_ssize_t n = view->shape[0], count = 0;
    int64_t *list = new_list(chunks, n);
    if (list == NULL)
        return false;
    for (Py_ssize_t i = 0; i < n; i++) {
        list[count] = start + i;
        count += mask[i * view->strides[0]] != 0;
    }
    *axis = (zlg_axis){.list = list, .count = count};
    return true;
}

/* A list of 64-bit integers along one axis of the view. */
static bool take_list(core_chunks *chunks, const Py_buffer *view, int i_axis, int64_t start,
                      int64_t edge, zlg_axis *axis)
{
    Py_ssize_t n = view->shape[i_axis];
    int64_t *list = new_list(chunks, n);
    if (list == NULL)
        return false;
    for (Py_ssize_t i = 0; i < n; i++) {
        int64_t index;
        memcpy(&index, (const char *)view->buf + i * view->strides[i_axis], sizeof index);
        if (index < 0 || index >= edge)
            return refuse(chunks, "an index outside the chunk");
        list[i] = start + index;
    }
    *axis = (zlg_axis){.list = list, .count = n};
    return true;
}

/* The axis along which an array of indices runs, as numpy.ix_ makes them: all others have
 * one element; -1 when it has another shape. */
static int running_axis(const Py_buffer *view, int i_axis, int rank)
{
    if (view->ndim == 1)
        return 0;
    if (view->ndim != rank)
        return -1;
    for (int i = 0; i < rank; i++)
        if (i != i_axis && view->shape[i] != 1)
            return -1;
    return i_axis;
}

static bool take_array(core_chunks *chunks, PyObject *item, const box *at, int i_axis,
                       zlg_axis *axis)
{
    Py_buffer view;
    if (PyObject_GetBuffer(item, &view, PyBUF_STRIDES | PyBUF_FORMAT) < 0)
        return false;
    int along = running_axis(&view, i_axis, chunks->rank);
    bool good;
    if (along >= 0 && view.itemsize == 1 && strcmp(view.format, "?") == 0 &&
        view.ndim == 1 && view.shape[0] <= at->edge[i_axis])
        good = take_mask(chunks, &view, at->start[i_axis], axis);
    else if (along >= 0 && view.itemsize == 8 && strchr("lq", view.format[0]) != NULL &&
             view.format[1] == '\0')
        good = take_list(chunks, &view, along, at->start[i_axis], at->edge[i_axis], axis);
    else
        good = refuse(chunks, "an array of indices of another kind");
    PyBuffer_Release(&view);
    return good;
}

static bool take_slice(core_chunks *chunks, PyObject *item, const box *at, int i_axis,
                       zlg_axis *axis)
{
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(item, &start, &stop, &step) < 0)
        return false;
    if (step < 1)
        return refuse(chunks, "a slice with a negative step");
    Py_ssize_t count =
        PySlice_AdjustIndices((Py_ssize_t)at->edge[i_axis], &start, &stop, step);
    *axis = (zlg_axis){.start = at->start[i_axis] + (count > 0 ? start : 0),
                       .step = count > 1 ? step : 1,
                       .count = count};
    return true;
}

static bool take_integer(core_chunks *chunks, PyObject *item, const box *at, int i_axis,
                         zlg_axis *axis)
{
    Py_ssize_t index = PyNumber_AsSsize_t(item, PyExc_IndexError);
    if (index == -1 && PyErr_Occurred())
        return false;
    if (index < 0 || index >= at->edge[i_axis])
        return refuse(chunks, "an index outside the chunk");
    *axis = (zlg_axis){.start = at->start[i_axis] + index, .step = 1, .count = 1};
    return true;
}

/* What a selection of a chunk is made of. */
typedef struct parts {
    PyObject *items[ZLG_MAX_RANK]; /* borrowed */
    int n_arrays, n_integers;
    bool are_flat; /* all arrays have one axis */
} parts;

static bool split(core_chunks *chunks, PyObject *selection, parts *out)
{
    *out = (parts){.are_flat = true};
    bool is_tuple = PyTuple_Check(selection);
    if ((is_tuple ? PyTuple_Size(selection) : 1) != chunks->rank)
        return refuse(chunks, "a selection of other axes");
    for (int i = 0; i < chunks->rank; i++) {
        PyObject *item = is_tuple ? PyTuple_GetItem(selection, i) : selection;
        out->items[i] = item;
        if (PySlice_Check(item))
            continue;
        if (!is_array(item)) {
            if (PyBool_Check(item) || !PyIndex_Check(item))
                return refuse(chunks, "a selection of another kind");
            out->n_integers++;
            continue;
        }
        out->n_arrays++;
        Py_buffer view;
        if (PyObject_GetBuffer(item, &view, PyBUF_STRIDES) < 0)
            return false;
        out->are_flat = out->are_flat && view.ndim == 1;
        PyBuffer_Release(&view);
    }
    return true;
}

/* Arrays of one axis for all axes pick points. */
static bool take_points(core_chunks *chunks, const parts *from, const box *at,
                        core_chunk *chunk, zlg_axis *axes, const int64_t **coordinates)
{
    for (int i = 0; i < chunks->rank; i++) {
        if (!take_array(chunks, from->items[i], at, i, &axes[i]))
            return false;
        if (axes[i].count != axes[0].count)
            return refuse(chunks, "arrays of different lengths");
        coordinates[i] = axes[i].list;
    }
    chunk->selection = (zlg_selection){.kind = ZLG_POINTS,
                                       .rank = chunks->rank,
                                       .coordinates = coordinates,
                                       .n_points = axes[0].count};
    return true;
}

/* is_dropped: axes that an integer picks from. */
static bool take_selection(core_chunks *chunks, PyObject *selection, const box *at,
                           Py_ssize_t i_item, bool *is_dropped)
{
    parts from;
    core_chunk *chunk = &chunks->items[i_item];
    zlg_axis *axes = chunks->axes + i_item * chunks->rank;
    if (!split(chunks, selection, &from))
        return false;
    if (from.n_arrays > 1 && from.are_flat && from.n_arrays == chunks->rank)
        return take_points(chunks, &from, at, chunk, axes,
                           chunks->coordinates + i_item * chunks->rank);
    /* NumPy moves axes where arrays of one axis stand beside integers or each other. */
    if (from.are_flat && from.n_arrays > 0 && from.n_arrays + from.n_integers > 1)
        return refuse(chunks, "arrays beside integers");
    for (int i = 0; i < chunks->rank; i++) {
        PyObject *item = from.items[i];
        bool good = PySlice_Check(item) ? take_slice(chunks, item, at, i, &axes[i])
                    : is_array(item)    ? take_array(chunks, item, at, i, &axes[i])
                                        : take_integer(chunks, item, at, i, &axes[i]);
        is_dropped[i] = !PySlice_Check(item) && !is_array(item);
        if (!good)
            return false;
    }
    chunk->selection = (zlg_selection){.kind = ZLG_BOX, .rank = chunks->rank, .axes = axes};
    return true;
}

/* ---------------------------------------------------------------------- its memory */

/* One axis of the place of an item: a slice of as many elements as are selected. */
static bool place_axis(core_chunks *chunks, const core_batch *batch, PyObject *item,
                       int i_axis, int64_t count, core_chunk *chunk, ptrdiff_t *out_stride)
{
    Py_ssize_t start, stop, step;
    if (!PySlice_Check(item))
        return refuse(chunks, core_scattered);
    if (PySlice_Unpack(item, &start, &stop, &step) < 0)
        return false;
    if (step < 1 || PySlice_AdjustIndices(batch->shape[i_axis], &start, &stop, step) !=
                        (Py_ssize_t)count)
        return refuse(chunks, core_other_memory);
    chunk->data += start * batch->strides[i_axis];
    *out_stride = step * batch->strides[i_axis];
    return true;
}

static bool place_item(core_chunks *chunks, const core_batch *batch, PyObject *place,
                       Py_ssize_t i_item, const bool *is_dropped)
{
    core_chunk *chunk = &chunks->items[i_item];
    ptrdiff_t *strides = chunks->strides + i_item * chunks->rank;
    bool is_points = chunk->selection.kind == ZLG_POINTS;
    chunk->strides = strides;
    if (chunks->handle->is_varlen) { /* texts have places of their own kind */
        chunk->strides = NULL;
        return true;
    }
    if (batch->places != Py_None) {
        PyObject *address = PyList_GetItem(batch->places, i_item);
        chunk->data = address != NULL ? PyLong_AsVoidPtr(address) : NULL;
        chunk->strides = NULL;
        return chunk->data != NULL || !PyErr_Occurred();
    }
    chunk->data = batch->data;
    memset(strides, 0, (size_t)chunks->rank * sizeof *strides);
    if (batch->rank < 0)
        return true;
    bool is_tuple = PyTuple_Check(place);
    int n_items = is_tuple ? (int)PyTuple_Size(place) : 1, i_place = 0;
    if (n_items != batch->rank)
        return refuse(chunks, "memory of other axes");
    int n_axes = is_points ? 1 : chunks->rank;
    for (int i = 0; i < n_axes; i++) {
        if (!is_points && is_dropped[i]) {
            if (chunk->selection.axes[i].count != 1)
                return refuse(chunks, "several elements along an axis that is dropped");
            continue;
        }
        if (i_place == n_items)
            return refuse(chunks, "memory of other axes");
        PyObject *item = is_tuple ? PyTuple_GetItem(place, i_place) : place;
        int64_t count =
            is_points ? chunk->selection.n_points : chunk->selection.axes[i].count;
        if (!place_axis(chunks, batch, item, i_place++, count, chunk, &strides[i]))
            return false;
    }
    return i_place == n_items || refuse(chunks, "memory of other axes");
}

/* ---------------------------------------------------------------------- the batch */

static bool allocate(core_chunks *chunks)
{
    size_t n = (size_t)chunks->n, n_axes = n * (size_t)chunks->rank;
    chunks->items = PyMem_Calloc(n + 1, sizeof *chunks->items);
    chunks->axes = PyMem_Malloc((n_axes + 1) * sizeof *chunks->axes);
    chunks->coordinates = PyMem_Malloc((n_axes + 1) * sizeof *chunks->coordinates);
    chunks->strides = PyMem_Malloc((n_axes + 1) * sizeof *chunks->strides);
    if (chunks->items && chunks->axes && chunks->coordinates && chunks->strides)
        return true;
    PyErr_NoMemory();
    return false;
}

/* Goes along an axis of a rectilinear grid from the chunk before. */
static void walk(const zlg_array *array, int i_axis, int64_t at, box *out)
{
    int64_t i = out->at[i_axis], start = out->start[i_axis];
    while (i < at)
        start += zlg_array_edge(array, i_axis, i++);
    while (i > at)
        start -= zlg_array_edge(array, i_axis, --i);
    out->at[i_axis] = at;
    out->start[i_axis] = start;
}

/* out: of the chunk before; at first all 0. */
static bool find_box(core_chunks *chunks, const char *key, box *out)
{
    int64_t at[ZLG_MAX_RANK];
    const int64_t *shape = zlg_array_object_shape(chunks->array);
    if (zlg_array_coordinates(chunks->array, key, at, NULL) != ZLG_OK)
        return refuse(chunks, "a key of another array");
    bool is_regular = !zlg_array_is_rectilinear(chunks->array);
    for (int i = 0; i < chunks->rank; i++) {
        if (at[i] >= zlg_array_grid_shape(chunks->array, i))
            return refuse(chunks, core_beyond);
        if (is_regular) {
            out->edge[i] = shape[i];
            out->start[i] = at[i] * shape[i];
            continue;
        }
        out->edge[i] = zlg_array_edge(chunks->array, i, at[i]);
        walk(chunks->array, i, at[i], out);
    }
    return true;
}

/* The spec that was looked at last, and its shape. Most batches have one for all items. */
typedef struct known_spec {
    PyObject *spec;
    int64_t shape[ZLG_MAX_RANK];
} known_spec;

static bool look_at_spec(core_chunks *chunks, const core_batch *batch, PyObject *spec,
                         known_spec *known)
{
    PyObject *result = PyObject_CallFunctionObjArgs(batch->check, spec, NULL);
    int is_good = result != NULL ? PyObject_IsTrue(result) : -1;
    Py_XDECREF(result);
    if (is_good < 0)
        return false;
    if (!is_good)
        return refuse(chunks, "another buffer prototype");
    PyObject *shape = PyObject_GetAttrString(spec, "shape");
    if (shape == NULL)
        return false;
    bool good = PyTuple_Check(shape) && PyTuple_Size(shape) == chunks->rank;
    for (int i = 0; good && i < chunks->rank; i++)
        known->shape[i] = PyLong_AsLongLong(PyTuple_GetItem(shape, i));
    Py_DECREF(shape);
    known->spec = spec;
    if (PyErr_Occurred())
        return false;
    return good || refuse(chunks, "chunks of other axes");
}

static bool take_item(core_chunks *chunks, const core_batch *batch, Py_ssize_t i,
                      known_spec *known, box *at)
{
    PyObject *item = PyList_GetItem(batch->items, i), *path_of, *spec, *selection, *place;
    int is_complete;
    if (!PyArg_ParseTuple(item, "OOOOp", &path_of, &spec, &selection, &place, &is_complete))
        return false;
    if ((PyObject *)Py_TYPE(path_of) != batch->path_type)
        return refuse(chunks, "a byte getter that is no path of a store");
    PyObject *store = PyObject_GetAttrString(path_of, "store");
    PyObject *path = PyObject_GetAttrString(path_of, "path");
    chunks->items[i].key = path != NULL ? PyUnicode_AsUTF8AndSize(path, NULL) : NULL;
    bool is_ours = store == batch->store;
    Py_XDECREF(store); /* the byte getter keeps both */
    Py_XDECREF(path);
    if (store == NULL || chunks->items[i].key == NULL)
        return false;
    if (!is_ours)
        return refuse(chunks, "another store");
    if (spec != known->spec && !look_at_spec(chunks, batch, spec, known))
        return false;
    if (!find_box(chunks, chunks->items[i].key, at))
        return false;
    for (int k = 0; k < chunks->rank; k++)
        if (at->edge[k] != known->shape[k])
            return refuse(chunks, core_other_shape);
    bool is_dropped[ZLG_MAX_RANK] = {false};
    chunks->items[i].replaces = is_complete && batch->may_replace;
    if (!take_selection(chunks, selection, at, i, is_dropped))
        return false;
    for (Py_ssize_t k = 0; k < PyTuple_Size(batch->dropped); k++) {
        Py_ssize_t axis = PyLong_AsSsize_t(PyTuple_GetItem(batch->dropped, k));
        if (axis < 0 || axis >= chunks->rank)
            return refuse(chunks, "axes dropped that are none");
        is_dropped[axis] = true;
    }
    return place_item(chunks, batch, place, i, is_dropped);
}

bool core_chunks_make(core_chunks *chunks, core_node *array, const core_batch *batch)
{
    known_spec known = {.spec = NULL};
    box at = {.at = {0}};
    *chunks = (core_chunks){.handle = core_handle_hold(array->handle)};
    chunks->array = chunks->handle->array;
    chunks->rank = zlg_array_rank(chunks->array);
    chunks->n = PyList_Size(batch->items);
    if (!allocate(chunks))
        return false;
    for (Py_ssize_t i = 0; i < chunks->n; i++)
        if (!take_item(chunks, batch, i, &known, &at))
            return false;
    return true;
}

void core_chunks_reset(core_chunks *chunks)
{
    while (chunks->lists != NULL) {
        index_list *list = chunks->lists;
        chunks->lists = list->next;
        PyMem_Free(list);
    }
    PyMem_Free(chunks->items);
    PyMem_Free(chunks->axes);
    PyMem_Free((void *)chunks->coordinates);
    PyMem_Free(chunks->strides);
    core_handle_drop(chunks->handle);
}
