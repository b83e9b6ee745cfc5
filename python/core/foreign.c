/*
 * Codecs that are written in Python, for the engine: each call takes the GIL. They are
 * given copies of bytes, so that nothing of the engine's memory can be kept; names, NumPy
 * types and the form of results are the business of zellige.foreign.
 *
 * A factory makes an adapter of a configuration: factory(configuration, zarr_format, dtype,
 * swapped). Its encode(data, shape) and decode(data, shape) give objects with a contiguous
 * buffer; shape is None for bytes.
 */
#include "codec.h"

#include <stdio.h>

#include "zellige_ext.h"

/* ---------------------------------------------------------------------- failures */

/* The exception as a message: "ValueError: text". Ctrl-C is asked for once more, for when
 * the call is over. */
static zlg_status fail(zlg_status status, zlg_error *err)
{
    PyObject *type, *value, *traceback;
    if (PyErr_ExceptionMatches(PyExc_MemoryError))
        status = ZLG_NO_MEMORY;
    bool interrupted = PyErr_ExceptionMatches(PyExc_KeyboardInterrupt);
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    PyObject *text = value != NULL ? PyObject_Str(value) : NULL;
    PyObject *name = type != NULL ? PyObject_GetAttrString(type, "__name__") : NULL;
    PyObject *both =
        text != NULL && name != NULL ? PyUnicode_FromFormat("%U: %U", name, text) : NULL;
    PyObject *bytes =
        both != NULL ? PyUnicode_AsEncodedString(both, "utf-8", "replace") : NULL;
    const char *message = bytes != NULL ? PyBytes_AsString(bytes) : NULL;
    snprintf(err->message, sizeof err->message, "%s",
             message != NULL ? message : "an exception without a text");
    err->status = status;
    PyErr_Clear();
    Py_XDECREF(bytes), Py_XDECREF(both), Py_XDECREF(name), Py_XDECREF(text);
    Py_XDECREF(type), Py_XDECREF(value), Py_XDECREF(traceback);
    if (interrupted)
        PyErr_SetInterrupt();
    return status;
}

/* ---------------------------------------------------------------------- describing */

/* As zellige.dtype.numpy_dtype takes it; None for bytes, and for records, whose fields are
 * not told. */
static PyObject *describe(const zlg_dtype *dtype)
{
    if (dtype->type == 0 || dtype->type == ZLG_STRUCT)
        return Py_NewRef(Py_None);
    return Py_BuildValue("(ssnzL())", core_type_name(dtype->type),
                         core_type_name(dtype->part), (Py_ssize_t)dtype->n_bytes,
                         dtype->unit, (long long)dtype->scale);
}

static PyObject *shape_of(const zlg_decoded *from)
{
    return from->shape != NULL ? core_int_tuple(from->shape, from->rank)
                               : Py_NewRef(Py_None);
}

/* ---------------------------------------------------------------------- methods */

static zlg_status parse(void *self, const char *configuration, int zarr_format,
                        const zlg_decoded *from, void **out_state, zlg_error *err)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *dtype = describe(&from->dtype);
    PyObject *state =
        dtype == NULL ? NULL
                      : PyObject_CallFunction(self, "siOO", configuration, zarr_format,
                                              dtype, from->swapped ? Py_True : Py_False);
    Py_XDECREF(dtype);
    *out_state = state;
    zlg_status status = state != NULL ? ZLG_OK : fail(ZLG_METADATA, err);
    PyGILState_Release(gil);
    return status;
}

/* At the end of the interpreter there is nothing to give back to. */
static void forget(void *object)
{
    if (!Py_IsInitialized())
        return;
    PyGILState_STATE gil = PyGILState_Ensure();
    Py_DECREF((PyObject *)object);
    PyGILState_Release(gil);
}

static zlg_status put_result(PyObject *result, zlg_output *output, zlg_error *err)
{
    Py_buffer view;
    void *room;
    if (PyObject_GetBuffer(result, &view, PyBUF_SIMPLE) < 0)
        return fail(ZLG_USAGE, err);
    size_t n = (size_t)view.len;
    zlg_status status = zlg_output_room(output, n, &room, err);
    if (status == ZLG_OK && n > 0)
        memcpy(room, view.buf, n);
    if (status == ZLG_OK)
        status = zlg_output_done(output, n, err);
    PyBuffer_Release(&view);
    return status;
}

static zlg_status run(PyObject *state, const char *method, const zlg_decoded *from,
                      zlg_bytes in, zlg_output *output, zlg_status failed, zlg_error *err)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *bytes = PyBytes_FromStringAndSize(in.data, (Py_ssize_t)in.n_bytes);
    PyObject *result = NULL, *shape = shape_of(from);
    if (bytes != NULL && shape != NULL)
        result = PyObject_CallMethod(state, method, "OO", bytes, shape);
    zlg_status status =
        result != NULL ? put_result(result, output, err) : fail(failed, err);
    Py_XDECREF(bytes);
    Py_XDECREF(result);
    Py_XDECREF(shape);
    PyGILState_Release(gil);
    return status;
}

static zlg_status encode(void *state, const zlg_decoded *from, zlg_bytes in,
                         zlg_output *output, zlg_error *err)
{
    return run(state, "encode", from, in, output, ZLG_USAGE, err);
}

static zlg_status decode(void *state, const zlg_decoded *from, zlg_bytes in,
                         zlg_output *output, zlg_error *err)
{
    return run(state, "decode", from, in, output, ZLG_CORRUPT, err);
}

/* register_codec(name or None, id or None, kind, factory) */
PyObject *core_register_codec(PyObject *module, PyObject *args)
{
    zlg_codec_methods methods = {
        .n_bytes_struct = sizeof methods,
        .parse = parse,
        .free = forget,
        .encode = encode,
        .decode = decode,
        .close = forget,
    };
    PyObject *factory;
    int kind;
    if (!PyArg_ParseTuple(args, "zziO", &methods.name, &methods.id, &kind, &factory))
        return NULL;
    methods.kind = (zlg_codec_kind)kind;
    zlg_ctx *ctx = core_context(core_state_of(module));
    if (ctx == NULL)
        return NULL;
    zlg_error err;
    Py_INCREF(factory);
    if (zlg_ctx_register_codec(ctx, &methods, factory, &err) != ZLG_OK) {
        Py_DECREF(factory);
        return core_raise(&err);
    }
    Py_RETURN_NONE;
}
