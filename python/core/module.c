/*
 * The module: its state, its tables, and how errors and text of the library become
 * Python objects. Knows no array; the types and calls stand in the files beside it.
 */
#include "chunks.h"
#include "codec.h"

static const char *const type_names[] = {
    [ZLG_BOOL] = "bool",
    [ZLG_INT2] = "int2",
    [ZLG_INT4] = "int4",
    [ZLG_INT8] = "int8",
    [ZLG_INT16] = "int16",
    [ZLG_INT32] = "int32",
    [ZLG_INT64] = "int64",
    [ZLG_UINT2] = "uint2",
    [ZLG_UINT4] = "uint4",
    [ZLG_UINT8] = "uint8",
    [ZLG_UINT16] = "uint16",
    [ZLG_UINT32] = "uint32",
    [ZLG_UINT64] = "uint64",
    [ZLG_FLOAT4_E2M1FN] = "float4_e2m1fn",
    [ZLG_FLOAT6_E2M3FN] = "float6_e2m3fn",
    [ZLG_FLOAT6_E3M2FN] = "float6_e3m2fn",
    [ZLG_FLOAT8_E3M4] = "float8_e3m4",
    [ZLG_FLOAT8_E4M3] = "float8_e4m3",
    [ZLG_FLOAT8_E4M3B11FNUZ] = "float8_e4m3b11fnuz",
    [ZLG_FLOAT8_E4M3FNUZ] = "float8_e4m3fnuz",
    [ZLG_FLOAT8_E5M2] = "float8_e5m2",
    [ZLG_FLOAT8_E5M2FNUZ] = "float8_e5m2fnuz",
    [ZLG_FLOAT8_E8M0FNU] = "float8_e8m0fnu",
    [ZLG_BFLOAT16] = "bfloat16",
    [ZLG_FLOAT16] = "float16",
    [ZLG_FLOAT32] = "float32",
    [ZLG_FLOAT64] = "float64",
    [ZLG_COMPLEX] = "complex",
    [ZLG_DATETIME64] = "datetime64",
    [ZLG_TIMEDELTA64] = "timedelta64",
    [ZLG_RAW] = "raw",
    [ZLG_FIXED_BYTES] = "fixed_bytes",
    [ZLG_FIXED_UTF32] = "fixed_utf32",
    [ZLG_STRUCT] = "struct",
    [ZLG_STRING] = "string",
    [ZLG_BYTES] = "bytes",
    [ZLG_VLEN_ARRAY] = "vlen_array",
};

const char *core_type_name(zlg_type type)
{
    size_t i = (size_t)type;
    const char *name = i < sizeof type_names / sizeof *type_names ? type_names[i] : NULL;
    return name != NULL ? name : "unknown";
}

core_state *core_state_of(PyObject *module)
{
    return PyModule_GetState(module);
}

PyObject *core_raise(const zlg_error *err)
{
    if (PyErr_Occurred())
        return NULL;
    PyObject *errors = PyImport_ImportModule("zellige.errors");
    if (errors == NULL)
        return NULL;
    /* A message that was cut may end inside a character. */
    PyObject *text =
        PyUnicode_DecodeUTF8(err->message, (Py_ssize_t)strlen(err->message), "replace");
    PyObject *error = NULL;
    if (text != NULL)
        error = PyObject_CallMethod(errors, "from_status", "iO", (int)err->status, text);
    if (error != NULL)
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_XDECREF(error);
    Py_XDECREF(text);
    Py_DECREF(errors);
    return NULL;
}

PyObject *core_text(zlg_text *text)
{
    /* Documents may hold lone surrogates, as Python's json writes them. */
    PyObject *result =
        PyUnicode_DecodeUTF8(text->data, (Py_ssize_t)text->n_bytes, "surrogatepass");
    zlg_text_free(text);
    return result;
}

PyObject *core_int_tuple(const int64_t *values, Py_ssize_t n)
{
    PyObject *tuple = PyTuple_New(n);
    for (Py_ssize_t i = 0; tuple != NULL && i < n; i++) {
        PyObject *item = PyLong_FromLongLong(values[i]);
        if (item == NULL || PyTuple_SetItem(tuple, i, item) < 0)
            Py_CLEAR(tuple);
    }
    return tuple;
}

void *core_new(PyObject *type, PyObject *base)
{
    if (!PyType_Check(type) ||
        !PyType_IsSubtype((PyTypeObject *)type, (PyTypeObject *)base)) {
        PyErr_Format(PyExc_TypeError, "%R is no subclass of %R", type, base);
        return NULL;
    }
    allocfunc alloc =
        (__extension__(allocfunc) PyType_GetSlot((PyTypeObject *)type, Py_tp_alloc));
    return alloc((PyTypeObject *)type, 0);
}

void core_delete(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (__extension__(freefunc) PyType_GetSlot(type, Py_tp_free));
    release(self);
    Py_DECREF(type);
}

/* ---------------------------------------------------------------------- functions */

static PyObject *version(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return PyUnicode_FromString(zlg_version());
}

static PyObject *build_info(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return PyUnicode_FromString(zlg_build_info());
}

static PyMethodDef functions[] = {
    {"version", version, METH_NOARGS, NULL},
    {"build_info", build_info, METH_NOARGS, NULL},
    {"open_store", core_open_store, METH_VARARGS, NULL},
    {"open_array", CORE_METHOD(core_open_array), METH_FASTCALL, NULL},
    {"open_group", core_open_group, METH_VARARGS, NULL},
    {"open_member", core_open_member, METH_VARARGS, NULL},
    {"create_array", CORE_METHOD(core_create_array), METH_VARARGS | METH_KEYWORDS, NULL},
    {"create_group", core_create_group, METH_VARARGS, NULL},
    {"read_many", core_read_many, METH_VARARGS, NULL},
    {"write_many", core_write_many, METH_VARARGS, NULL},
    {"join_texts", core_join_texts, METH_O, NULL},
    {"array_from_metadata", core_array_from_metadata, METH_VARARGS, NULL},
    {"chunk_coordinates", core_chunk_coordinates, METH_VARARGS, NULL},
    {"read_chunks", core_read_chunks, METH_VARARGS, NULL},
    {"explain_chunks", core_explain_chunks, METH_VARARGS, NULL},
    {"write_chunks", core_write_chunks, METH_VARARGS, NULL},
    {"set_context", core_set_context, METH_VARARGS, NULL},
    {"set_threads", core_set_threads, METH_VARARGS, NULL},
    {"set_attributes", core_set_attributes, METH_VARARGS, NULL},
    {"delete_node", core_delete_node, METH_VARARGS, NULL},
    {"move_node", core_move_node, METH_VARARGS, NULL},
    {"consolidate", core_consolidate, METH_VARARGS, NULL},
    {"open_codec", core_open_codec, METH_VARARGS, NULL},
    {"codec_encode", core_codec_encode, METH_VARARGS, NULL},
    {"codec_decode", core_codec_decode, METH_VARARGS, NULL},
    {"register_codec", core_register_codec, METH_VARARGS, NULL},
    {"open_writer", core_open_writer, METH_VARARGS, NULL},
    {"watch", core_watch, METH_O, NULL},
    {"leave", core_leave, METH_O, NULL},
    {"put", core_put, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

/* ---------------------------------------------------------------------- the module */

/* STATUS: (number, kind, exit code, meaning). LIMITS: (name, default, unit, meaning). */
static int add_tables(PyObject *module)
{
#define STATUS_FORMAT(name, number, text, exit_code, meaning) "(isis)"
#define STATUS_ROW(name, number, text, exit_code, meaning)                                 \
    , number, text, exit_code, meaning
#define LIMIT_FORMAT(name, value, unit, meaning) "(sLss)"
#define LIMIT_ROW(name, value, unit, meaning) , #name, (long long)value, unit, meaning
    PyObject *status = Py_BuildValue("(" ZLG_STATUS_TABLE(STATUS_FORMAT) ")" //
                                     ZLG_STATUS_TABLE(STATUS_ROW));
    PyObject *limits = Py_BuildValue("(" ZLG_LIMIT_TABLE(LIMIT_FORMAT) ")" //
                                     ZLG_LIMIT_TABLE(LIMIT_ROW));
    int result = PyModule_AddObjectRef(module, "STATUS", status);
    if (result == 0)
        result = PyModule_AddObjectRef(module, "LIMITS", limits);
    Py_XDECREF(status);
    Py_XDECREF(limits);
    return result;
}

static PyObject *add_type(PyObject *module, PyType_Spec *spec, PyObject *base)
{
    PyObject *type = PyType_FromModuleAndSpec(module, spec, base);
    if (type != NULL && PyModule_AddType(module, (PyTypeObject *)type) < 0)
        Py_CLEAR(type);
    return type;
}

static int execute(PyObject *module)
{
    core_state *state = core_state_of(module);
    PyObject *numpy = PyImport_ImportModule("numpy");
    if (numpy == NULL)
        return -1;
    state->empty = PyObject_GetAttrString(numpy, "empty");
    state->zeros = PyObject_GetAttrString(numpy, "zeros");
    state->ndarray = PyObject_GetAttrString(numpy, "ndarray");
    Py_DECREF(numpy);
    state->no_index = PyTuple_New(0);
    state->dtype_name = PyUnicode_InternFromString("dtype");
    if (state->empty == NULL || state->zeros == NULL || state->ndarray == NULL ||
        state->no_index == NULL || state->dtype_name == NULL)
        return -1;
    state->store_type = add_type(module, &core_store_spec, NULL);
    state->memory_type = add_type(module, &core_memory_spec, NULL);
    state->block_type = add_type(module, &core_block_spec, NULL);
    state->writer_type = add_type(module, &core_writer_spec, NULL);
    state->node_type = add_type(module, &core_node_spec, NULL);
    if (state->node_type == NULL)
        return -1;
    state->array_type = add_type(module, &core_array_spec, state->node_type);
    state->group_type = add_type(module, &core_group_spec, state->node_type);
    if (state->store_type == NULL || state->memory_type == NULL ||
        state->block_type == NULL || state->writer_type == NULL ||
        state->array_type == NULL || state->group_type == NULL)
        return -1;
    if (PyModule_AddStringConstant(module, "SCATTERED", core_scattered) < 0 ||
        PyModule_AddStringConstant(module, "OTHER_MEMORY", core_other_memory) < 0 ||
        PyModule_AddStringConstant(module, "BEYOND", core_beyond) < 0 ||
        PyModule_AddStringConstant(module, "OTHER_SHAPE", core_other_shape) < 0)
        return -1;
    return add_tables(module);
}

static int traverse(PyObject *module, visitproc visit, void *arg)
{
    core_state *state = core_state_of(module);
    Py_VISIT(state->store_type);
    Py_VISIT(state->node_type);
    Py_VISIT(state->array_type);
    Py_VISIT(state->group_type);
    Py_VISIT(state->memory_type);
    Py_VISIT(state->block_type);
    Py_VISIT(state->writer_type);
    Py_VISIT(state->empty);
    Py_VISIT(state->zeros);
    Py_VISIT(state->ndarray);
    Py_VISIT(state->numpy_dtype);
    Py_VISIT(state->no_index);
    Py_VISIT(state->dtype_name);
    return 0;
}

static int clear(PyObject *module)
{
    core_state *state = core_state_of(module);
    Py_CLEAR(state->store_type);
    Py_CLEAR(state->node_type);
    Py_CLEAR(state->array_type);
    Py_CLEAR(state->group_type);
    Py_CLEAR(state->memory_type);
    Py_CLEAR(state->block_type);
    Py_CLEAR(state->writer_type);
    Py_CLEAR(state->empty);
    Py_CLEAR(state->zeros);
    Py_CLEAR(state->ndarray);
    Py_CLEAR(state->numpy_dtype);
    Py_CLEAR(state->no_index);
    Py_CLEAR(state->dtype_name);
    return 0;
}

static void release(void *module)
{
    core_state *state = core_state_of(module);
    clear(module);
    core_pool_reset(&state->pool);
    if (state->ctx != NULL)
        zlg_ctx_close(state->ctx);
    state->ctx = NULL;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, CORE_SLOT(execute)},
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "zellige._core",
    .m_doc = "Handles and calls of libzellige; use the package zellige instead.",
    .m_size = sizeof(core_state),
    .m_methods = functions,
    .m_slots = slots,
    .m_traverse = traverse,
    .m_clear = clear,
    .m_free = release,
};

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void)
{
    return PyModuleDef_Init(&definition);
}
