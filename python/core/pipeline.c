/*
 * Reading and writing the chunks of a batch in one call of the engine: what the codec
 * pipeline of zarr-python does. Objects are those of the array's own store, or of a stage
 * where the caller has fetched them. Knows no selection: see chunks.c.
 */
#include "chunks.h"

/* More shards than the engine lets lie one in the other. */
enum { MAX_SHARDS = 16 };

/* How a batch is written. */
typedef struct write_ways {
    int may_replace, keep_empty;
    PyObject *orders; /* bytes: of shards in shards, outermost first */
} write_ways;

/* The arguments that both directions share. */
typedef struct job {
    core_node *array;
    core_batch batch;
    PyObject *objects; /* None: those of the store */
    PyObject *memory;
    PyObject *cancel; /* None, or what stops the call */
    int n_threads;
    core_chunks chunks;
    core_stage *stage;
    zlg_store *store; /* of the stage */
    zlg_array *over;  /* the array over it */
} job;

/* (address, shape, strides), or None where items have places of their own. A shape of None:
 * one element for all. */
static bool take_memory(core_batch *batch, PyObject *memory)
{
    PyObject *address, *shape, *strides;
    batch->rank = -1;
    if (memory == Py_None)
        return true;
    if (!PyArg_ParseTuple(memory, "OOO", &address, &shape, &strides))
        return false;
    batch->data = PyLong_AsVoidPtr(address);
    if (batch->data == NULL && PyErr_Occurred())
        return false;
    if (shape == Py_None)
        return true;
    batch->rank = (int)PyTuple_Size(shape);
    if (batch->rank > CORE_MAX_RESULT_RANK || PyTuple_Size(strides) != batch->rank) {
        PyErr_SetString(PyExc_ValueError, "memory of too many axes");
        return false;
    }
    for (int i = 0; i < batch->rank; i++) {
        batch->shape[i] = PyLong_AsSsize_t(PyTuple_GetItem(shape, i));
        batch->strides[i] = PyLong_AsSsize_t(PyTuple_GetItem(strides, i));
    }
    return !PyErr_Occurred();
}

/* The array over a stage, if objects are given. */
static bool set_stage(job *j)
{
    zlg_error err;
    if (j->objects == Py_None)
        return true;
    if (!PyList_Check(j->objects) || PyList_Size(j->objects) != j->chunks.n) {
        PyErr_SetString(PyExc_ValueError, "one object is needed for each chunk");
        return false;
    }
    j->stage = core_stage_new(&j->chunks, j->objects);
    if (j->stage == NULL)
        return false;
    PyObject *label = PyType_GetName(Py_TYPE(j->batch.store)); /* as errors call it */
    const char *text = label != NULL ? PyUnicode_AsUTF8AndSize(label, NULL) : NULL;
    if (text == NULL) {
        Py_XDECREF(label);
        return false;
    }
    zlg_ctx *ctx = core_context(core_state_of(j->array->module));
    bool good = core_stage_open(j->stage, ctx, text, &j->store, &err) == ZLG_OK &&
                zlg_array_over(j->chunks.array, j->store, &j->over, &err) == ZLG_OK;
    Py_DECREF(label);
    if (!good)
        core_raise(&err);
    return good;
}

/* False with an exception set, or with a reason in job->chunks. */
static bool job_make(job *j)
{
    return take_memory(&j->batch, j->memory) &&
           core_chunks_make(&j->chunks, j->array, &j->batch) && set_stage(j);
}

static void job_reset(job *j)
{
    zlg_array_close(j->over);
    zlg_store_close(j->store);
    if (j->stage != NULL)
        core_stage_free(j->stage);
    if (j->chunks.handle != NULL)
        core_chunks_reset(&j->chunks);
}

static zlg_array *job_array(const job *j)
{
    return j->over != NULL ? j->over : j->chunks.array;
}

/* how: of writes; NULL for reads. */
static bool parse(job *j, PyObject *module, PyObject *args, write_ways *how)
{
    PyTypeObject *type = (PyTypeObject *)core_state_of(module)->array_type;
    *j = (job){.objects = Py_None, .cancel = Py_None};
    core_batch *batch = &j->batch;
    write_ways none, *to = how != NULL ? how : &none;
    return PyArg_ParseTuple(args, how != NULL ? "O!O!OOOO!OOiOOppS" : "O!O!OOOO!OOiOO",
                            type, &j->array, &PyList_Type, &batch->items, &batch->path_type,
                            &batch->store, &batch->check, &PyTuple_Type, &batch->dropped,
                            &j->memory, &batch->places, &j->n_threads, &j->objects,
                            &j->cancel, &to->may_replace, &to->keep_empty, &to->orders);
}

/* What `run` gives, or the reason why there is nothing to run. Ends the job. */
static PyObject *job_finish(job *j, PyObject *(*run)(job *j, core_call *call),
                            core_call *call)
{
    PyObject *result = NULL;
    if (core_call_watch(call, core_state_of(j->array->module), NULL, j->cancel)) {
        call->call.n_threads = j->n_threads;
        if (job_make(j))
            result = run(j, call);
        else if (!PyErr_Occurred())
            result = PyUnicode_FromString(j->chunks.reason);
    }
    job_reset(j);
    core_call_reset(call);
    return result;
}

/* ---------------------------------------------------------------------- reading */

static bool read_fixed(job *j, core_call *call)
{
    core_chunks *chunks = &j->chunks;
    zlg_read *reads = PyMem_Malloc(((size_t)chunks->n + 1) * sizeof *reads);
    if (reads == NULL) {
        PyErr_NoMemory();
        return false;
    }
    for (Py_ssize_t i = 0; i < chunks->n; i++)
        reads[i] = (zlg_read){
            .array = job_array(j),
            .selection = &chunks->items[i].selection,
            .target = {.data = chunks->items[i].data, .strides = chunks->items[i].strides}};
    zlg_error err;
    core_call_enter(call);
    zlg_status status = zlg_read_many(reads, (size_t)chunks->n, &call->call, &err);
    bool good = core_call_leave(call, status, &err);
    PyMem_Free(reads);
    return good;
}

/* Hands the elements of one chunk to the function that puts them in their place, so that
 * those of few chunks are held at once. */
static bool read_texts(job *j, Py_ssize_t i, core_call *call)
{
    const core_chunk *chunk = &j->chunks.items[i];
    zlg_error err;
    zlg_varlen varlen;
    core_call_enter(call);
    zlg_status status =
        zlg_array_read_varlen(job_array(j), &chunk->selection, &varlen, &call->call, &err);
    bool good = core_call_leave(call, status, &err);
    if (status != ZLG_OK)
        return false;
    PyObject *list = good ? core_varlen_items(&varlen, job_array(j)) : NULL, *result = NULL;
    zlg_varlen_free(&varlen);
    if (list != NULL)
        result = PyObject_CallFunction(j->batch.places, "nO", i, list);
    Py_XDECREF(list);
    Py_XDECREF(result);
    return result != NULL;
}

static bool read_all_texts(job *j, core_call *call)
{
    uint8_t *missing = call->call.missing;
    bool good = true;
    for (Py_ssize_t i = 0; good && i < j->chunks.n; i++) {
        call->call.missing = missing + i;
        good = read_texts(j, i, call);
    }
    return good;
}

static PyObject *run_read(job *j, core_call *call)
{
    PyObject *missing = PyByteArray_FromStringAndSize(NULL, j->chunks.n);
    if (missing == NULL)
        return NULL;
    call->call.missing = (uint8_t *)PyByteArray_AsString(missing);
    if (j->chunks.handle->is_varlen ? !read_all_texts(j, call) : !read_fixed(j, call))
        Py_CLEAR(missing);
    return missing;
}

/* read_chunks(array, batch, path_type, store, check, dropped, memory, places, n_threads,
 * objects, cancel): a byte for each chunk, 1 where it is not stored; or the reason why it
 * was not done. For variable lengths `places` is called with the number of each chunk and
 * the list of its elements. */
PyObject *core_read_chunks(PyObject *module, PyObject *args)
{
    job j;
    core_call call;
    if (!core_call_make(&call, NULL) || !parse(&j, module, args, NULL))
        return NULL;
    return job_finish(&j, run_read, &call);
}

static PyObject *explain_all(job *j, core_call *unused)
{
    (void)unused;
    PyObject *plans = PyList_New(j->chunks.n);
    for (Py_ssize_t i = 0; plans != NULL && i < j->chunks.n; i++) {
        zlg_error err;
        zlg_text text;
        zlg_status status;
        CORE_UNLOCKED(status = zlg_array_explain(
                          job_array(j), &j->chunks.items[i].selection, 1, 1, &text, &err));
        PyObject *plan = status == ZLG_OK ? core_text(&text) : core_raise(&err);
        if (plan == NULL || PyList_SetItem(plans, i, plan) < 0)
            Py_CLEAR(plans);
    }
    return plans;
}

/* explain_chunks(as read_chunks): the plan of each chunk, JSON */
PyObject *core_explain_chunks(PyObject *module, PyObject *args)
{
    job j;
    core_call call;
    if (!core_call_make(&call, NULL) || !parse(&j, module, args, NULL))
        return NULL;
    return job_finish(&j, explain_all, &call);
}

/* ---------------------------------------------------------------------- writing */

/* Variable length: the places are pairs of bytes and offsets. */
typedef struct texts {
    Py_buffer bytes, offsets;
} texts;

static int64_t count_of(const zlg_selection *selection)
{
    if (selection->kind == ZLG_POINTS)
        return selection->n_points;
    int64_t n = 1;
    for (int i = 0; i < selection->rank; i++)
        n *= selection->axes[i].count;
    return n;
}

static bool take_texts(job *j, Py_ssize_t i, texts *out, Py_ssize_t *n_taken,
                       zlg_source *source)
{
    PyObject *bytes, *offsets, *pair = PyList_GetItem(j->batch.places, i);
    if (pair == NULL || !PyArg_ParseTuple(pair, "OO", &bytes, &offsets) ||
        PyObject_GetBuffer(bytes, &out->bytes, PyBUF_SIMPLE) < 0)
        return false;
    if (PyObject_GetBuffer(offsets, &out->offsets, PyBUF_SIMPLE) < 0) {
        PyBuffer_Release(&out->bytes);
        return false;
    }
    ++*n_taken;
    source->data = out->bytes.buf;
    source->offsets = out->offsets.buf;
    int64_t n = count_of(&j->chunks.items[i].selection) + 1;
    if (out->offsets.len == n * (Py_ssize_t)sizeof *source->offsets)
        return true;
    PyErr_SetString(PyExc_ValueError, "as many texts are written as are selected");
    return false;
}

static bool run_writes(job *j, core_call *call, zlg_write *writes, texts *views)
{
    const core_chunks *chunks = &j->chunks;
    Py_ssize_t n_views = 0;
    bool good = true;
    for (Py_ssize_t i = 0; good && i < chunks->n; i++) {
        const core_chunk *chunk = &chunks->items[i];
        writes[i] = (zlg_write){.array = job_array(j),
                                .selection = &chunk->selection,
                                .source = {.data = chunk->data, .strides = chunk->strides},
                                .replace = chunk->replaces};
        if (views != NULL)
            good = take_texts(j, i, &views[i], &n_views, &writes[i].source);
    }
    if (good) {
        zlg_error err;
        core_call_enter(call);
        zlg_status status = zlg_write_many(writes, (size_t)chunks->n, &call->call, &err);
        good = core_call_leave(call, status, &err);
    }
    while (n_views-- > 0) {
        PyBuffer_Release(&views[n_views].bytes);
        PyBuffer_Release(&views[n_views].offsets);
    }
    return good;
}

static PyObject *run_write(job *j, core_call *call)
{
    size_t n = (size_t)j->chunks.n + 1;
    zlg_write *writes = PyMem_Malloc(n * sizeof *writes);
    texts *views = j->chunks.handle->is_varlen ? PyMem_Malloc(n * sizeof *views) : NULL;
    bool good = writes != NULL && (views != NULL || !j->chunks.handle->is_varlen);
    if (good)
        good = run_writes(j, call, writes, views);
    else
        PyErr_NoMemory();
    PyMem_Free(writes);
    PyMem_Free(views);
    if (!good)
        return NULL;
    return j->stage != NULL ? core_stage_results(j->stage, j->array->module)
                            : Py_NewRef(Py_None);
}

/* write_chunks(array, batch, path_type, store, check, dropped, memory, places, n_threads,
 * objects, cancel, may_replace, keep_empty, inner_orders): for each chunk its new bytes,
 * False when it is removed, None when it is left (None for all where objects are those of
 * the store), or the reason why it was not done. */
PyObject *core_write_chunks(PyObject *module, PyObject *args)
{
    job j;
    core_call call;
    write_ways how;
    zlg_inner_order orders[MAX_SHARDS];
    if (!core_call_make(&call, NULL) || !parse(&j, module, args, &how))
        return NULL;
    for (Py_ssize_t i = 0; i < PyBytes_Size(how.orders) && i < MAX_SHARDS; i++)
        orders[call.call.n_inner_orders++] =
            (zlg_inner_order)PyBytes_AsString(how.orders)[i];
    call.call.inner_orders = orders;
    j.batch.may_replace = how.may_replace != 0;
    call.call.keep_empty = how.keep_empty ? 1 : -1;
    call.call.loose_fill = 1;
    return job_finish(&j, run_write, &call);
}

/* ---------------------------------------------------------------------- the array */

/* chunk_coordinates(array, key): a tuple, also beyond the grid; None for another's key */
PyObject *core_chunk_coordinates(PyObject *module, PyObject *args)
{
    core_node *array;
    const char *key;
    int64_t coordinates[ZLG_MAX_RANK];
    if (!PyArg_ParseTuple(args, "O!s", core_state_of(module)->array_type, &array, &key))
        return NULL;
    const zlg_array *handle = array->handle->array;
    if (zlg_array_coordinates(handle, key, coordinates, NULL) != ZLG_OK)
        Py_RETURN_NONE;
    return core_int_tuple(coordinates, zlg_array_rank(handle));
}

/* array_from_metadata(type, store, path, document): the array that a document tells of */
PyObject *core_array_from_metadata(PyObject *module, PyObject *args)
{
    core_state *state = core_state_of(module);
    PyObject *type;
    core_store *store;
    const char *path, *document;
    if (!PyArg_ParseTuple(args, "OO!ss", &type, state->store_type, &store, &path,
                          &document))
        return NULL;
    zlg_error err;
    zlg_array *handle;
    zlg_status status;
    core_ways ways = {.promise = ZLG_VISIBLE};
    CORE_UNLOCKED(status = zlg_array_from_metadata(store->handle, path, document, NULL,
                                                   &handle, &err));
    if (status != ZLG_OK)
        return core_raise(&err);
    return core_node_wrap(state, type, store, handle, NULL, ways);
}
