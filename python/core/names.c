/*
 * Names on their way to Python. A folder may have millions: they are gathered without the
 * GIL, and made objects of with a look at signals in between. Knows no store.
 */
#include "core.h"

#include <stdlib.h>

typedef struct entry {
    uint64_t n_bytes;
    int kind;
} entry;

int core_names_add(core_names *names, const char *name, int kind, uint64_t n_bytes)
{
    const entry e = {.n_bytes = n_bytes, .kind = kind};
    size_t n = strlen(name) + 1, n_more = sizeof e + n;
    if (n_more > names->n_room - names->n_bytes) {
        size_t n_room = 2 * names->n_room + n_more + 4096;
        char *data = realloc(names->data, n_room);
        if (data == NULL)
            return names->failed = true;
        names->data = data;
        names->n_room = n_room;
    }
    char *at = names->data + names->n_bytes;
    memcpy(at, &e, sizeof e);
    memcpy(at + sizeof e, name, n);
    names->n_bytes += n_more;
    names->n++;
    return 0;
}

static PyObject *item_of(const char *name, const entry *e, bool has_sizes)
{
    PyObject *text =
        PyUnicode_DecodeUTF8(name, (Py_ssize_t)strlen(name), "surrogateescape");
    if (text == NULL)
        return NULL;
    return has_sizes ? Py_BuildValue("(NOK)", text, e->kind ? Py_True : Py_False,
                                     (unsigned long long)e->n_bytes)
                     : Py_BuildValue("(Ni)", text, e->kind);
}

PyObject *core_names_list(const core_names *names)
{
    if (names->failed)
        return PyErr_NoMemory();
    PyObject *list = PyList_New((Py_ssize_t)names->n);
    const char *at = names->data;
    for (size_t i = 0; list != NULL && i < names->n; i++) {
        entry e;
        memcpy(&e, at, sizeof e);
        const char *name = at + sizeof e;
        PyObject *item = core_breathe(i) ? item_of(name, &e, names->has_sizes) : NULL;
        if (item == NULL || PyList_SetItem(list, (Py_ssize_t)i, item) < 0)
            Py_CLEAR(list);
        at = name + strlen(name) + 1;
    }
    return list;
}

void core_names_reset(core_names *names)
{
    free(names->data);
}
