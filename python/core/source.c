/*
 * Values to write. An array of NumPy in the type of the array is used as it lies; what is
 * anything else becomes one in Python: array._cast(value, dtype) gives (array, swapped),
 * array._pack(value, shape, may_be_one) gives (bytes, offsets) for variable lengths. A
 * value is repeated by strides of 0, as NumPy repeats what is assigned. Knows no selection.
 */
#include "core.h"

#include <stdio.h>

static bool refuse_shape(PyObject *value, PyObject *shape)
{
    PyObject *found = PyObject_GetAttrString(value, "shape");
    PyObject *text = found == NULL
                         ? NULL
                         : PyUnicode_FromFormat("a value of shape %S does not fit "
                                                "a selection of shape %S",
                                                found, shape);
    zlg_error err = {.status = ZLG_USAGE};
    const char *message = text == NULL ? NULL : PyUnicode_AsUTF8AndSize(text, NULL);
    if (message != NULL) {
        snprintf(err.message, sizeof err.message, "%s", message);
        core_raise(&err);
    }
    Py_XDECREF(text);
    Py_XDECREF(found);
    return false;
}

/* 1: an array of NumPy in this very type; 0: something else; -1: an exception is set. */
static int is_native(core_state *state, PyObject *value, PyObject *dtype)
{
    if (Py_TYPE(value) != (PyTypeObject *)state->ndarray)
        return 0;
    PyObject *found = PyObject_GetAttr(value, state->dtype_name);
    Py_XDECREF(found); /* the value keeps it */
    return found == NULL ? -1 : found == dtype;
}

/* ---------------------------------------------------------------------- fixed size */

/* Fills source->kept and ->source.swapped. */
static bool cast(core_source *source, core_node *array, PyObject *value, PyObject *dtype)
{
    int native = is_native(core_state_of(array->module), value, dtype);
    if (native != 0) {
        source->kept = native > 0 ? Py_NewRef(value) : NULL;
        return native > 0;
    }
    PyObject *pair = PyObject_CallMethod((PyObject *)array, "_cast", "OO", value, dtype);
    PyObject *kept;
    bool good =
        pair != NULL && PyArg_ParseTuple(pair, "Op", &kept, &source->source.swapped);
    if (good)
        source->kept = Py_NewRef(kept);
    Py_XDECREF(pair);
    return good;
}

static bool view_kept(core_source *source, size_t n_bytes_element)
{
    if (PyObject_GetBuffer(source->kept, &source->view, PyBUF_STRIDES) < 0)
        return false;
    source->has_view = true;
    source->source.data = source->view.buf;
    /* NumPy widens elements of no bytes. */
    if (n_bytes_element == 0 || (size_t)source->view.itemsize == n_bytes_element)
        return true;
    PyErr_SetString(PyExc_TypeError, "the value is not of the type of the array");
    return false;
}

/* Strides of the view for each axis of a shape. */
static bool spread(core_source *source, PyObject *shape, Py_ssize_t *strides)
{
    const Py_buffer *view = &source->view;
    Py_ssize_t rank = PyTuple_Size(shape), n_more = view->ndim - rank;
    bool is_repeated = false;
    for (Py_ssize_t i = 0; i < n_more; i++) {
        if (view->shape[i] != 1)
            return refuse_shape(source->kept, shape);
    }
    for (Py_ssize_t i = 0; i < rank; i++) {
        Py_ssize_t from = i + n_more, length = PyLong_AsSsize_t(PyTuple_GetItem(shape, i));
        Py_ssize_t n = from < 0 ? 1 : view->shape[from];
        if (n != length && n != 1)
            return refuse_shape(source->kept, shape);
        strides[i] = n == 1 ? 0 : view->strides[from];
        is_repeated = is_repeated || n != length;
    }
    source->is_packed = !is_repeated && PyBuffer_IsContiguous(view, 'C');
    return true;
}

bool core_source_view(core_source *source, PyObject *value, int swapped,
                      size_t n_bytes_element, PyObject *shape, Py_ssize_t *strides)
{
    *source = (core_source){.is_packed = true};
    source->source.swapped = swapped;
    source->kept = Py_NewRef(value);
    return view_kept(source, n_bytes_element) && spread(source, shape, strides);
}

/* ---------------------------------------------------------------------- variable length */

/* Elements of a shape; -1 where they cannot be counted. */
static Py_ssize_t count(PyObject *shape)
{
    Py_ssize_t n = 1;
    for (Py_ssize_t i = 0; i < PyTuple_Size(shape); i++) {
        if (__builtin_mul_overflow(n, PyLong_AsSsize_t(PyTuple_GetItem(shape, i)), &n))
            return -1;
    }
    return n;
}

static bool pack(core_source *source, core_node *array, PyObject *value, PyObject *shape,
                 bool may_be_one)
{
    source->kept = PyObject_CallMethod((PyObject *)array, "_pack", "OOO", value, shape,
                                       may_be_one ? Py_True : Py_False);
    PyObject *bytes, *offsets;
    if (source->kept == NULL || !PyArg_ParseTuple(source->kept, "OO", &bytes, &offsets))
        return false;
    if (PyObject_GetBuffer(bytes, &source->view, PyBUF_SIMPLE) < 0)
        return false;
    source->has_view = true;
    if (PyObject_GetBuffer(offsets, &source->offsets, PyBUF_SIMPLE) < 0)
        return false;
    source->has_offsets = true;
    source->source.data = source->view.buf;
    source->source.offsets = source->offsets.buf;
    Py_ssize_t n = source->offsets.len / (Py_ssize_t)sizeof(int64_t) - 1;
    source->is_one = may_be_one && n == 1;
    if (n >= 0 && (source->is_one || n == count(shape)) &&
        source->source.offsets[n] <= source->view.len)
        return true;
    PyErr_SetString(PyExc_ValueError, "the offsets do not fit the selection");
    return false;
}

/* ---------------------------------------------------------------------- both */

bool core_source_make(core_source *source, core_node *array, core_handle *handle,
                      PyObject *value, PyObject *shape, bool may_be_one,
                      Py_ssize_t strides[CORE_MAX_RESULT_RANK])
{
    *source = (core_source){.is_packed = true};
    if (handle->is_varlen)
        return pack(source, array, value, shape, may_be_one);
    PyObject *dtype = core_handle_dtype(core_state_of(array->module), handle);
    return dtype != NULL && cast(source, array, value, dtype) &&
           view_kept(source, handle->n_bytes_element) && spread(source, shape, strides);
}

/* The one stride that walks through all axes; false when there is none. */
static bool merge(PyObject *shape, const Py_ssize_t *strides, Py_ssize_t *out)
{
    Py_ssize_t next = 0;
    bool any = false;
    *out = 0;
    for (Py_ssize_t i = PyTuple_Size(shape) - 1; i >= 0; i--) {
        Py_ssize_t length = PyLong_AsSsize_t(PyTuple_GetItem(shape, i));
        if (length == 1)
            continue;
        if (any && strides[i] != next)
            return false;
        if (!any)
            *out = strides[i];
        any = true;
        next = strides[i] * length;
    }
    return true;
}

bool core_source_flatten(core_source *source, core_node *array, PyObject *shape,
                         const Py_ssize_t *strides, Py_ssize_t *out_stride)
{
    if (merge(shape, strides, out_stride))
        return true;
    PyObject *packed =
        PyObject_CallMethod((PyObject *)array, "_packed", "OO", source->kept, shape);
    if (packed == NULL)
        return false;
    size_t n_bytes_element = (size_t)source->view.itemsize;
    PyBuffer_Release(&source->view);
    source->has_view = false;
    Py_DECREF(source->kept);
    source->kept = packed;
    *out_stride = (Py_ssize_t)n_bytes_element;
    return view_kept(source, n_bytes_element);
}

void core_source_reset(core_source *source)
{
    if (source->has_view)
        PyBuffer_Release(&source->view);
    if (source->has_offsets)
        PyBuffer_Release(&source->offsets);
    source->has_view = source->has_offsets = false;
    Py_CLEAR(source->kept);
}

/* ---------------------------------------------------------------------- texts */

/* Bytes of the first n characters of UTF-8 that a NUL ends. */
static Py_ssize_t span_of(const char *text, Py_ssize_t n)
{
    const char *end = text;
    while (n-- > 0)
        for (end++; ((unsigned char)*end & 0xc0) == 0x80;)
            end++;
    return end - text;
}

static PyObject *lengths_of(PyObject *items, PyObject *text, PyObject *encoded)
{
    Py_ssize_t n = PyList_Size(items);
    const char *at = PyBytes_AsString(encoded);
    bool is_ascii = PyBytes_Size(encoded) == PyUnicode_GetLength(text);
    PyObject *lengths =
        PyByteArray_FromStringAndSize(NULL, n * (Py_ssize_t)sizeof(int64_t));
    int64_t *out = lengths != NULL ? (void *)PyByteArray_AsString(lengths) : NULL;
    for (Py_ssize_t i = 0; out != NULL && i < n; i++) {
        Py_ssize_t n_characters = PyUnicode_GetLength(PyList_GetItem(items, i));
        out[i] = is_ascii ? n_characters : span_of(at, n_characters);
        at += out[i];
    }
    return lengths;
}

/* join_texts(items): the UTF-8 of a list of texts, one behind the other, and how many bytes
 * each has, as 64-bit integers. They are encoded together, which is one call for all. */
PyObject *core_join_texts(PyObject *module, PyObject *items)
{
    (void)module;
    PyObject *empty = PyUnicode_FromString("");
    PyObject *text = empty != NULL ? PyUnicode_Join(empty, items) : NULL;
    PyObject *encoded = text != NULL ? PyUnicode_AsUTF8String(text) : NULL;
    PyObject *lengths = encoded != NULL ? lengths_of(items, text, encoded) : NULL;
    PyObject *pair = lengths != NULL ? PyTuple_Pack(2, encoded, lengths) : NULL;
    Py_XDECREF(empty);
    Py_XDECREF(text);
    Py_XDECREF(encoded);
    Py_XDECREF(lengths);
    return pair;
}
