/*
 * A stage: the objects of one call as a store of its own. What a store of Python has is put
 * on it before the call, and what the call makes is taken from it after, so that no worker
 * ever waits for Python. It lives for one call, in which an object is changed by one worker
 * at a time.
 */
#include "chunks.h"

#include <stdlib.h>

#include "zellige_ext.h"

/* A piece of an object that was fetched in pieces. */
typedef struct extent {
    uint64_t offset;
    Py_buffer view;
} extent;

typedef struct entry {
    const char *key; /* borrowed from the chunks */
    bool has_before;
    uint64_t n_before; /* bytes of the object before the call */
    Py_ssize_t n_extents;
    extent *extents; /* one, of all bytes, unless it was fetched in pieces */
    enum { LEFT, STORED, REMOVED } change;
    void *data; /* STORED: malloc's, as workers do not hold the GIL */
    size_t n_bytes;
} entry;

struct core_stage {
    Py_ssize_t n;
    entry *entries;
    size_t n_slots;  /* a power of two */
    uint32_t *slots; /* number of an entry and 1; 0: free */
};

/* ---------------------------------------------------------------------- keys */

static uint64_t hash_of(const char *key)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (; *key; key++)
        hash = (hash ^ (unsigned char)*key) * UINT64_C(1099511628211);
    return hash;
}

/* The slot of a key, or the free one where it would stand. */
static uint32_t *slot_of(const core_stage *stage, const char *key)
{
    for (size_t i = hash_of(key);; i++) {
        uint32_t *slot = &stage->slots[i & (stage->n_slots - 1)];
        if (*slot == 0 || strcmp(stage->entries[*slot - 1].key, key) == 0)
            return slot;
    }
}

static entry *find(core_stage *stage, const char *key)
{
    uint32_t number = *slot_of(stage, key);
    return number == 0 ? NULL : &stage->entries[number - 1];
}

/* ---------------------------------------------------------------------- the store */

static zlg_status fail(zlg_error *err, zlg_status status, const char *message)
{
    if (err != NULL) {
        err->status = status;
        strncpy(err->message, message, sizeof err->message - 1);
        err->message[sizeof err->message - 1] = '\0';
    }
    return status;
}

static zlg_status stage_open(void *self, const char *key, zlg_object *out, zlg_error *err)
{
    const entry *a = find(self, key);
    if (a == NULL || a->change == REMOVED || (a->change == LEFT && !a->has_before))
        return fail(err, ZLG_NOT_FOUND, "");
    if (a->change == STORED) {
        *out = (zlg_object){.view = a->data, .n_bytes = a->n_bytes};
        return ZLG_OK;
    }
    bool is_whole = a->n_extents == 1 && (uint64_t)a->extents->view.len == a->n_before;
    *out = (zlg_object){.view = is_whole ? a->extents->view.buf : NULL,
                        .n_bytes = a->n_before,
                        .handle = (void *)(uintptr_t)a};
    return ZLG_OK;
}

/* Of an object that was fetched in pieces: all of a range lies in one. */
static zlg_status stage_read(void *self, zlg_object *object, uint64_t offset, size_t n,
                             void *destination, size_t *out_n, zlg_error *err)
{
    (void)self;
    const entry *a = object->handle;
    for (Py_ssize_t i = 0; i < a->n_extents; i++) {
        const extent *e = &a->extents[i];
        uint64_t length = (uint64_t)e->view.len;
        if (offset < e->offset || offset - e->offset > length ||
            n > length - (offset - e->offset))
            continue;
        memcpy(destination, (const char *)e->view.buf + (offset - e->offset), n);
        *out_n = n;
        return ZLG_OK;
    }
    return fail(err, ZLG_IO, "a part of the object that was not fetched");
}

static zlg_status stage_put(void *self, const char *key, const zlg_bytes *parts,
                            int n_parts, zlg_condition condition, const zlg_object *seen,
                            zlg_promise promise, zlg_error *err)
{
    (void)condition, (void)seen, (void)promise;
    entry *a = find(self, key);
    size_t n_bytes = 0;
    if (a == NULL)
        return fail(err, ZLG_IO, "the object is none of this call");
    for (int i = 0; i < n_parts; i++)
        n_bytes += parts[i].n_bytes;
    char *data = malloc(n_bytes + 1);
    if (data == NULL)
        return fail(err, ZLG_NO_MEMORY, "there is no memory for the object");
    n_bytes = 0;
    for (int i = 0; i < n_parts; i++) {
        if (parts[i].n_bytes > 0)
            memcpy(data + n_bytes, parts[i].data, parts[i].n_bytes);
        n_bytes += parts[i].n_bytes;
    }
    free(a->data);
    a->data = data;
    a->n_bytes = n_bytes;
    a->change = STORED;
    return ZLG_OK;
}

static zlg_status stage_remove(void *self, const char *key, zlg_condition condition,
                               const zlg_object *seen, zlg_promise promise, zlg_error *err)
{
    (void)condition, (void)seen, (void)promise;
    entry *a = find(self, key);
    if (a == NULL)
        return fail(err, ZLG_IO, "the object is none of this call");
    free(a->data);
    a->data = NULL;
    a->change = REMOVED;
    return ZLG_OK;
}

zlg_status core_stage_open(core_stage *stage, zlg_ctx *ctx, const char *label,
                           zlg_store **out, zlg_error *err)
{
    zlg_store_methods methods = {.n_bytes_struct = sizeof methods,
                                 .open = stage_open,
                                 .read = stage_read,
                                 .put = stage_put,
                                 .remove = stage_remove};
    return zlg_store_open_ext(ctx, &methods, stage, label, out, err);
}

/* ---------------------------------------------------------------------- before */

static bool take_extent(entry *a, uint64_t offset, PyObject *bytes)
{
    extent *e = &a->extents[a->n_extents];
    if (PyObject_GetBuffer(bytes, &e->view, PyBUF_SIMPLE) < 0)
        return false;
    e->offset = offset;
    a->n_extents++;
    return true;
}

/* object: None, something with its bytes, or (bytes in all, [(offset, bytes), ...]). */
static bool take_object(entry *a, PyObject *object)
{
    if (object == NULL || object == Py_None)
        return object != NULL;
    PyObject *pieces = NULL;
    unsigned long long n_bytes = 0, offset;
    if (PyTuple_Check(object) &&
        !PyArg_ParseTuple(object, "KO!", &n_bytes, &PyList_Type, &pieces))
        return false;
    Py_ssize_t n = pieces != NULL ? PyList_Size(pieces) : 1;
    a->extents = PyMem_Malloc(((size_t)n + 1) * sizeof *a->extents);
    if (a->extents == NULL) {
        PyErr_NoMemory();
        return false;
    }
    a->has_before = true;
    a->n_before = n_bytes;
    if (pieces == NULL) {
        if (!take_extent(a, 0, object))
            return false;
        a->n_before = (uint64_t)a->extents->view.len;
        return true;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *bytes;
        if (!PyArg_ParseTuple(PyList_GetItem(pieces, i), "KO", &offset, &bytes) ||
            !take_extent(a, offset, bytes))
            return false;
    }
    return true;
}

static bool fill(core_stage *stage, const core_chunks *chunks, PyObject *objects)
{
    for (Py_ssize_t i = 0; i < stage->n; i++) {
        entry *a = &stage->entries[i];
        a->key = chunks->items[i].key;
        uint32_t *slot = slot_of(stage, a->key);
        if (*slot != 0) /* named before: one object, and all of it is told there */
            continue;
        *slot = (uint32_t)i + 1;
        if (!take_object(a, PyList_GetItem(objects, i)))
            return false;
    }
    return true;
}

core_stage *core_stage_new(const core_chunks *chunks, PyObject *objects)
{
    core_stage *stage = PyMem_Calloc(1, sizeof *stage);
    if (stage == NULL)
        return (core_stage *)PyErr_NoMemory();
    stage->n = chunks->n;
    for (stage->n_slots = 2; stage->n_slots < 2 * (size_t)chunks->n;)
        stage->n_slots *= 2;
    stage->entries = PyMem_Calloc((size_t)chunks->n + 1, sizeof *stage->entries);
    stage->slots = PyMem_Calloc(stage->n_slots, sizeof *stage->slots);
    if (stage->entries == NULL || stage->slots == NULL)
        PyErr_NoMemory();
    else if (fill(stage, chunks, objects))
        return stage;
    core_stage_free(stage);
    return NULL;
}

void core_stage_free(core_stage *stage)
{
    for (Py_ssize_t i = 0; stage->entries != NULL && i < stage->n; i++) {
        entry *a = &stage->entries[i];
        while (a->n_extents > 0)
            PyBuffer_Release(&a->extents[--a->n_extents].view);
        PyMem_Free(a->extents);
        free(a->data);
    }
    PyMem_Free(stage->entries);
    PyMem_Free(stage->slots);
    PyMem_Free(stage);
}

/* ---------------------------------------------------------------------- after */

typedef struct core_block {
    PyObject ob_base;
    void *data;
    size_t n_bytes;
} core_block;

static int block_export(PyObject *self, Py_buffer *view, int flags)
{
    core_block *block = (core_block *)self;
    return PyBuffer_FillInfo(view, self, block->data, (Py_ssize_t)block->n_bytes, 0, flags);
}

static void block_delete(PyObject *self)
{
    free(((core_block *)self)->data);
    core_delete(self);
}

static PyType_Slot block_slots[] = {
    {Py_tp_doc, CORE_SLOT("Bytes that a call has made.")},
    {Py_tp_dealloc, CORE_SLOT(block_delete)},
    {Py_bf_getbuffer, CORE_SLOT(block_export)},
    {0, NULL},
};

PyType_Spec core_block_spec = {
    .name = "zellige._core.Block",
    .basicsize = sizeof(core_block),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = block_slots,
};

PyObject *core_block_new(PyObject *module, void *data, size_t n_bytes)
{
    PyObject *type = core_state_of(module)->block_type;
    core_block *block = core_new(type, type);
    if (block == NULL) {
        free(data);
        return NULL;
    }
    block->data = data;
    block->n_bytes = n_bytes;
    return (PyObject *)block;
}

static PyObject *result_of(entry *a, PyObject *module)
{
    if (a->change != STORED)
        return Py_NewRef(a->change == LEFT ? Py_None : Py_False);
    void *data = a->data;
    a->data = NULL;
    return core_block_new(module, data, a->n_bytes);
}

PyObject *core_stage_results(core_stage *stage, PyObject *module)
{
    PyObject *list = PyList_New(stage->n);
    for (Py_ssize_t i = 0; list != NULL && i < stage->n; i++) {
        PyObject *result = result_of(&stage->entries[i], module);
        if (result == NULL || PyList_SetItem(list, i, result) < 0)
            Py_CLEAR(list);
    }
    return list;
}
