/*
 * Codecs without an array: a handle in a capsule, and bytes in and out. What a codec is
 * called and which arrays its bytes are is the business of zellige.codecs.
 */
#include "codec.h"

#include "zellige_ext.h"

static const char CAPSULE[] = "zellige.codec";

static void close_capsule(PyObject *capsule)
{
    zlg_codec_close(PyCapsule_GetPointer(capsule, CAPSULE));
}

static bool read_shape(PyObject *tuple, int64_t shape[ZLG_MAX_RANK], int *rank)
{
    Py_ssize_t n = PyTuple_Size(tuple);
    if (n > ZLG_MAX_RANK)
        PyErr_Format(PyExc_ValueError, "%zd axes, at most %d are known", n, ZLG_MAX_RANK);
    if (n < 0 || n > ZLG_MAX_RANK)
        return false;
    for (Py_ssize_t i = 0; i < n; i++) {
        shape[i] = PyLong_AsLongLong(PyTuple_GetItem(tuple, i));
        if (shape[i] == -1 && PyErr_Occurred())
            return false;
    }
    *rank = (int)n;
    return true;
}

/* open_codec(codecs, zarr_format, data_type or None, fill_value or None, shape): a capsule.
 * Texts are JSON. */
PyObject *core_open_codec(PyObject *module, PyObject *args)
{
    const char *codecs;
    PyObject *tuple;
    int64_t shape[ZLG_MAX_RANK];
    zlg_codec_options options = ZLG_CODEC_OPTIONS_INIT;
    if (!PyArg_ParseTuple(args, "sizzO!", &codecs, &options.zarr_format, &options.data_type,
                          &options.fill_value, &PyTuple_Type, &tuple) ||
        !read_shape(tuple, shape, &options.rank))
        return NULL;
    options.shape = shape;
    zlg_ctx *ctx = core_context(core_state_of(module));
    if (ctx == NULL)
        return NULL;
    zlg_codec *codec;
    zlg_error err;
    zlg_status status;
    CORE_UNLOCKED(status = zlg_codec_open(ctx, codecs, &options, &codec, &err));
    if (status != ZLG_OK)
        return core_raise(&err);
    PyObject *capsule = PyCapsule_New(codec, CAPSULE, close_capsule);
    if (capsule == NULL)
        zlg_codec_close(codec);
    return capsule;
}

/* The result as bytes of Python, straight from where the library has it. */
static zlg_status take_bytes(void *user, zlg_bytes result, zlg_error *err)
{
    (void)err; /* Python has one of its own */
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *bytes = PyBytes_FromStringAndSize(result.data, (Py_ssize_t)result.n_bytes);
    *(PyObject **)user = bytes;
    PyGILState_Release(gil);
    return bytes != NULL ? ZLG_OK : ZLG_NO_MEMORY;
}

typedef zlg_status (*run_fn)(zlg_codec *codec, const void *data, size_t n_bytes,
                             zlg_take_fn take, void *user, zlg_error *err);

static PyObject *run_to_bytes(run_fn run, zlg_codec *codec, const Py_buffer *data)
{
    PyObject *bytes = NULL;
    zlg_error err;
    zlg_status status;
    CORE_UNLOCKED(status =
                      run(codec, data->buf, (size_t)data->len, take_bytes, &bytes, &err));
    return status == ZLG_OK ? bytes : core_raise(&err);
}

/* codec_encode(capsule, data): bytes */
PyObject *core_codec_encode(PyObject *module, PyObject *args)
{
    PyObject *capsule;
    Py_buffer data;
    (void)module;
    if (!PyArg_ParseTuple(args, "Oy*", &capsule, &data))
        return NULL;
    zlg_codec *codec = PyCapsule_GetPointer(capsule, CAPSULE);
    PyObject *result =
        codec != NULL ? run_to_bytes(zlg_codec_encode_to, codec, &data) : NULL;
    PyBuffer_Release(&data);
    return result;
}

static PyObject *decode_into(zlg_codec *codec, const Py_buffer *data, PyObject *out)
{
    Py_buffer room;
    if (PyObject_GetBuffer(out, &room, PyBUF_WRITABLE) < 0)
        return NULL;
    zlg_error err;
    size_t n;
    zlg_status status;
    CORE_UNLOCKED(status = zlg_codec_decode_into(codec, data->buf, (size_t)data->len,
                                                 room.buf, (size_t)room.len, &n, &err));
    PyBuffer_Release(&room);
    return status == ZLG_OK ? PyLong_FromSize_t(n) : core_raise(&err);
}

/* codec_decode(capsule, data, None): bytes; or into a contiguous buffer: how many */
PyObject *core_codec_decode(PyObject *module, PyObject *args)
{
    PyObject *capsule, *out, *result = NULL;
    Py_buffer data;
    (void)module;
    if (!PyArg_ParseTuple(args, "Oy*O", &capsule, &data, &out))
        return NULL;
    zlg_codec *codec = PyCapsule_GetPointer(capsule, CAPSULE);
    if (codec != NULL)
        result = out != Py_None ? decode_into(codec, &data, out)
                                : run_to_bytes(zlg_codec_decode_to, codec, &data);
    PyBuffer_Release(&data);
    return result;
}
