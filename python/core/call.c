/*
 * One call of the engine as Python sees it: the GIL is released for its length, a signal
 * (Ctrl-C) or a passed deadline ends it, and who watches is told how far it is. Knows
 * nothing of what is called.
 */
#include "transform.h"

#include <time.h>
#include <unistd.h>

static const char watcher_key[] = "zellige.progress"; /* in the dictionary of a thread */

/* watch(report) -> the one before: what calls of this thread tell how far they are. */
PyObject *core_watch(PyObject *module, PyObject *report)
{
    (void)module;
    PyObject *dict = PyThreadState_GetDict();
    if (dict == NULL)
        return PyErr_NoMemory();
    PyObject *before = PyDict_GetItemString(dict, watcher_key);
    before = Py_NewRef(before != NULL ? before : Py_None);
    if (PyDict_SetItemString(dict, watcher_key, report) < 0)
        Py_CLEAR(before);
    return before;
}

/* Borrowed; NULL where nobody watches this thread. */
static PyObject *watcher(void)
{
    PyObject *dict = PyThreadState_GetDict();
    PyObject *report = dict != NULL ? PyDict_GetItemString(dict, watcher_key) : NULL;
    return report == Py_None ? NULL : report;
}

/* False with the exception of the watcher. */
static bool tell(uint64_t n_done, uint64_t n_all)
{
    PyObject *report = watcher();
    if (report == NULL)
        return true;
    Py_INCREF(report);
    PyObject *answer = PyObject_CallFunction(report, "KK", (unsigned long long)n_done,
                                             (unsigned long long)n_all);
    Py_DECREF(report);
    Py_XDECREF(answer);
    return answer != NULL;
}

/* Handlers run on the main thread only; others must not wait for the GIL in vain. */
bool core_on_main_thread(void)
{
#if defined(__linux__) && defined(PY_HAVE_THREAD_NATIVE_ID)
    return PyThread_get_thread_native_id() == (unsigned long)getpid();
#else
    return true;
#endif
}

static int poll_python(void *user, uint64_t n_done, uint64_t n_all)
{
    core_call *call = user;
    if (!call->is_watched && !core_on_main_thread())
        return 0;
    PyEval_RestoreThread(call->thread);
    bool good = PyErr_CheckSignals() == 0;
    if (good && call->is_watched && n_done < n_all) {
        good = (call->n_all > 0 || tell(0, n_all)) && tell(n_done, n_all);
        call->n_all = n_all;
    }
    call->thread = PyEval_SaveThread();
    return !good;
}

/* ---------------------------------------------------------------------- leaving a call
 *
 * Whoever does not wait for a call any more (zellige/apart.py) closes the door to their
 * memory. They wait for those who are inside, who copy a chunk at most.
 */
typedef struct door {
    int is_closed; /* is what cancels the call */
    int n_inside;
} door;

static bool enter(door *d)
{
    __atomic_add_fetch(&d->n_inside, 1, __ATOMIC_SEQ_CST);
    if (!__atomic_load_n(&d->is_closed, __ATOMIC_SEQ_CST))
        return true;
    __atomic_sub_fetch(&d->n_inside, 1, __ATOMIC_SEQ_CST);
    return false;
}

static void come_out(door *d)
{
    __atomic_sub_fetch(&d->n_inside, 1, __ATOMIC_SEQ_CST);
}

static int place_for_python(void *user, int begins)
{
    door *d = ((core_call *)user)->cancel.buf;
    if (begins)
        return !enter(d);
    come_out(d);
    return 0;
}

static bool door_of(PyObject *memory, Py_buffer *view)
{
    if (PyObject_GetBuffer(memory, view, PyBUF_WRITABLE) < 0)
        return false;
    if (view->len == sizeof(door))
        return true;
    PyErr_SetString(PyExc_ValueError, "a call is left by the memory of two ints");
    PyBuffer_Release(view);
    return false;
}

/* leave(cancel): when it returns, the call puts nothing into memory of the caller's. */
PyObject *core_leave(PyObject *module, PyObject *cancel)
{
    static const struct timespec pause = {.tv_nsec = 50 * 1000};
    Py_buffer view;
    (void)module;
    if (!door_of(cancel, &view))
        return NULL;
    door *d = view.buf;
    __atomic_store_n(&d->is_closed, 1, __ATOMIC_SEQ_CST);
    PyThreadState *thread = PyEval_SaveThread(); /* those inside may need the GIL */
    while (__atomic_load_n(&d->n_inside, __ATOMIC_SEQ_CST) != 0)
        nanosleep(&pause, NULL);
    PyEval_RestoreThread(thread);
    PyBuffer_Release(&view);
    Py_RETURN_NONE;
}

/* put(cancel, destination, key, source): destination[key] = source, unless the caller has
 * left; False then. */
PyObject *core_put(PyObject *module, PyObject *args)
{
    PyObject *cancel, *destination, *key, *source;
    Py_buffer view;
    (void)module;
    if (!PyArg_ParseTuple(args, "OOOO", &cancel, &destination, &key, &source) ||
        !door_of(cancel, &view))
        return NULL;
    int failed = 0;
    bool is_open = enter(view.buf);
    if (is_open) {
        failed = PyObject_SetItem(destination, key, source);
        come_out(view.buf);
    }
    PyBuffer_Release(&view);
    return failed ? NULL : PyBool_FromLong(is_open);
}

bool core_call_put(const core_call *call, PyObject *destination, PyObject *source,
                   PyObject *cancel)
{
    if (call->call.placing == NULL)
        return PyObject_SetItem(destination, Py_Ellipsis, source) == 0;
    PyObject *module = PyImport_ImportModule("zellige.apart"), *put = NULL;
    if (module != NULL)
        put = PyObject_CallMethod(module, "put", "OOO", destination, source, cancel);
    bool is_put = put == Py_True;
    if (put != NULL && !is_put)
        core_raise(&(zlg_error){ZLG_CANCELLED, "stopped by the caller"});
    Py_XDECREF(put);
    Py_XDECREF(module);
    return is_put;
}

void core_call_look(core_call *call)
{
    *call = (core_call){.call = ZLG_CALL_INIT};
    call->call.poll = poll_python;
    call->call.user = call;
    call->is_watched = watcher() != NULL;
}

bool core_call_make(core_call *call, PyObject *timeout)
{
    core_call_look(call);
    if (!core_transform_allows_calls())
        return false;
    if (timeout == NULL || timeout == Py_None)
        return true;
    double seconds = PyFloat_AsDouble(timeout);
    if (seconds == -1.0 && PyErr_Occurred())
        return false;
    if (!(seconds >= 0.0 && seconds < 1e12)) {
        PyErr_Format(PyExc_ValueError, "timeout must be a number of seconds, not %R",
                     timeout);
        return false;
    }
    /* 0 would mean no deadline at all. */
    int64_t ms = (int64_t)(seconds * 1000.0);
    call->call.deadline_ms = ms > 0 ? ms : 1;
    return true;
}

static bool take_progress(core_call *call, PyObject *progress)
{
    PyObject *module = PyImport_ImportModule("zellige.watching");
    PyObject *report =
        module != NULL ? PyObject_CallMethod(module, "reporter", "O", progress) : NULL;
    if (report != NULL)
        call->outer = core_watch(module, report);
    Py_XDECREF(report);
    Py_XDECREF(module);
    call->is_watched = true;
    return call->outer != NULL;
}

bool core_call_watch(core_call *call, const core_state *state, PyObject *progress,
                     PyObject *cancel)
{
    call->call.n_threads = state->n_threads;
    if (progress != NULL && progress != Py_None && !take_progress(call, progress))
        return false;
    if (cancel == NULL || cancel == Py_None)
        return true;
    if (PyObject_GetBuffer(cancel, &call->cancel, PyBUF_WRITABLE) < 0)
        return false;
    call->has_cancel = true;
    if (call->cancel.len != sizeof(int) && call->cancel.len != sizeof(door)) {
        PyErr_SetString(PyExc_ValueError, "what cancels a call is the memory of one int");
        return false;
    }
    call->call.cancel = call->cancel.buf;
    if (call->cancel.len == sizeof(door))
        call->call.placing = place_for_python;
    return true;
}

bool core_call_is_cancelled(const core_call *call)
{
    return call->has_cancel && __atomic_load_n(call->call.cancel, __ATOMIC_SEQ_CST) != 0;
}

void core_call_reset(core_call *call)
{
    if (call->has_cancel)
        PyBuffer_Release(&call->cancel);
    call->has_cancel = false;
    if (call->outer == NULL)
        return;
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    Py_XDECREF(core_watch(NULL, call->outer));
    Py_CLEAR(call->outer);
    PyErr_Restore(type, value, trace);
}

void core_call_writes(core_call *call, const core_node *node, zlg_promise promise,
                      int keep_empty)
{
    call->call.promise = promise != ZLG_PROMISE_DEFAULT ? promise : node->ways.promise;
    call->call.keep_empty = keep_empty != 0 ? keep_empty : node->ways.keep_empty ? 1 : -1;
}

bool core_breathe(size_t i)
{
    enum { STEPS_PER_BREATH = 4096 };
    if (i % STEPS_PER_BREATH != STEPS_PER_BREATH - 1)
        return true;
    PyEval_RestoreThread(PyEval_SaveThread()); /* whoever waits for the GIL gets it */
    return PyErr_CheckSignals() == 0;
}

void core_call_enter(core_call *call)
{
    call->n_all = 0;
    call->thread = PyEval_SaveThread();
}

void core_call_throw(core_call *call)
{
    if (call->thrown[0] == NULL)
        PyErr_Fetch(&call->thrown[0], &call->thrown[1], &call->thrown[2]);
    else
        PyErr_Clear();
}

/* What a signal's handler raised goes first. */
static void raise_thrown(core_call *call)
{
    PyObject *type = call->thrown[0], *value = call->thrown[1], *trace = call->thrown[2];
    memset(call->thrown, 0, sizeof call->thrown);
    if (type != NULL && !PyErr_Occurred()) {
        PyErr_Restore(type, value, trace);
        return;
    }
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
}

bool core_call_leave(core_call *call, zlg_status status, const zlg_error *err)
{
    PyEval_RestoreThread(call->thread);
    raise_thrown(call);
    if (status != ZLG_OK && !PyErr_Occurred())
        PyErr_CheckSignals(); /* a store of Python failed by it */
    uint64_t n = call->n_all > 0 ? call->n_all : call->n_known;
    if (status != ZLG_OK)
        core_raise(err);
    else if (n > 0 && !PyErr_Occurred() && (call->n_all > 0 || tell(0, n)))
        tell(n, n);
    /* A call may come to its end although its poll asked it to stop. */
    return status == ZLG_OK && !PyErr_Occurred();
}
