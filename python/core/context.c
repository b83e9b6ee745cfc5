/*
 * The context of the process: threads, memory, caches and limits. It is made on first use,
 * and anew when something else is asked for; stores that were opened before keep theirs.
 */
#include "core.h"

zlg_ctx *core_context(core_state *state)
{
    zlg_error err;
    if (state->ctx == NULL && zlg_ctx_new(NULL, &state->ctx, &err) != ZLG_OK) {
        core_raise(&err);
        return NULL;
    }
    return state->ctx;
}

/* The limits of a dictionary that names some of them. */
static bool take_limits(PyObject *names, zlg_limits *limits)
{
    struct {
        const char *name;
        int64_t *value;
    } fields[] = {
#define LIMIT_FIELD(name, value, unit, meaning) {#name, &limits->name},
        ZLG_LIMIT_TABLE(LIMIT_FIELD)
#undef LIMIT_FIELD
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        PyObject *value = PyDict_GetItemString(names, fields[i].name);
        if (value == NULL)
            continue;
        *fields[i].value = PyLong_AsLongLong(value);
        if (PyErr_Occurred())
            return false;
    }
    return true;
}

/* set_context(threads, memory_budget, index_cache, chunk_cache, limits): 0 for the default
 * of each */
PyObject *core_set_context(PyObject *module, PyObject *args)
{
    core_state *state = core_state_of(module);
    zlg_limits limits = ZLG_LIMITS_INIT;
    zlg_ctx_options options = ZLG_CTX_OPTIONS_INIT;
    long long budget, index_cache, chunk_cache;
    PyObject *names;
    if (!PyArg_ParseTuple(args, "iLLLO!", &options.n_threads, &budget, &index_cache,
                          &chunk_cache, &PyDict_Type, &names) ||
        !take_limits(names, &limits))
        return NULL;
    options.memory_budget = budget;
    options.index_cache = index_cache;
    options.chunk_cache = chunk_cache;
    options.limits = &limits;
    zlg_error err;
    zlg_ctx *fresh;
    if (zlg_ctx_new(&options, &fresh, &err) != ZLG_OK)
        return core_raise(&err);
    zlg_ctx *old = state->ctx;
    state->ctx = fresh;
    if (old != NULL)
        CORE_UNLOCKED(zlg_ctx_close(old));
    Py_RETURN_NONE;
}

/* set_threads(most threads of a call, the caller included; 0 for all of the context) */
PyObject *core_set_threads(PyObject *module, PyObject *args)
{
    return PyArg_ParseTuple(args, "i", &core_state_of(module)->n_threads)
               ? Py_NewRef(Py_None)
               : NULL;
}
