/*
 * stored.c: which objects of a box are stored, where the store can be asked for each. In a
 * listing of files one may be missing that is replaced meanwhile (on btrfs and tmpfs the
 * new file has another place in its folder); one that is asked for by its name is not, and
 * what it costs grows with the box and not with the array. Folders that are not there
 * answer for all that would lie in them.
 */
#include "core/core.h"

enum {
    MOST_ASKED = 1 << 20, /* about as many as can be asked for in a second */
    ASKED_PER_LOOK = 256  /* at whoever waits */
};

typedef struct asking {
    const zlg_array *array;
    char key[ZLGI_NAME_MAX];
    char gone[ZLGI_NAME_MAX];  /* nothing is stored below it; or empty */
    char there[ZLGI_NAME_MAX]; /* the folder that was last seen */
} asking;

bool zlgi_stored_can_ask(const zlg_array *array, const int64_t *first, const int64_t *last)
{
    int64_t n[ZLG_MAX_RANK], n_objects;
    for (int i = 0; i < array->meta.rank; i++)
        n[i] = last[i] - first[i] + 1;
    return array->store->class->lacks && zlgi_product(n, array->meta.rank, &n_objects) &&
           n_objects <= MOST_ASKED;
}

static bool cut_last(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash)
        *slash = '\0';
    return slash != NULL;
}

/* The key is not there. How much of its path is not there either? */
static void note_gone(asking *a)
{
    zlg_store *store = a->array->store;
    char path[ZLGI_NAME_MAX];
    memcpy(path, a->key, sizeof path);
    while (cut_last(path) && strcmp(path, a->there) != 0) {
        if (!store->class->lacks(store, path)) {
            memcpy(a->there, path, sizeof path);
            break;
        }
        memcpy(a->gone, path, sizeof path);
    }
}

static zlg_status ask(asking *a, const int64_t *at, bool *out, zlg_error *err)
{
    const zlgi_array_meta *meta = &a->array->meta;
    zlg_store *store = a->array->store;
    char name[ZLGI_KEY_MAX];
    size_t n = strlen(a->gone);
    ZLGI_TRY(zlgi_key_make(&meta->key_encoding, meta->rank, at, name, err));
    ZLGI_TRY(zlgi_join(a->array->path, name, a->key, err));
    *out = false;
    if (n > 0 && strncmp(a->key, a->gone, n) == 0 && a->key[n] == '/')
        return ZLG_OK;
    *out = !store->class->lacks(store, a->key);
    if (!*out)
        note_gone(a);
    return ZLG_OK;
}

/* The next of a box in C order; false after the last. */
static bool go_on(int rank, const int64_t *first, const int64_t *last, int64_t *at)
{
    for (int i = rank; i-- > 0; at[i] = first[i])
        if (at[i]++ < last[i])
            return true;
    return false;
}

zlg_status zlgi_stored_ask(const zlg_array *array, const int64_t *first,
                           const int64_t *last, size_t most, zlgi_patience *patience,
                           zlgi_buf *out, zlg_error *err)
{
    asking a = {.array = array};
    int64_t at[ZLG_MAX_RANK];
    const size_t n_bytes = (size_t)array->meta.rank * sizeof *at, n_before = out->n;
    unsigned n_asked = 0;
    memcpy(at, first, n_bytes);
    do {
        bool is_stored;
        if (n_asked++ % ASKED_PER_LOOK == 0)
            ZLGI_TRY(zlgi_patience_check(patience, err));
        ZLGI_TRY(ask(&a, at, &is_stored, err));
        if (is_stored)
            ZLGI_TRY(zlgi_buf_append(out, at, n_bytes, err));
    } while ((out->n - n_before) / n_bytes <= most &&
             go_on(array->meta.rank, first, last, at));
    return ZLG_OK;
}
