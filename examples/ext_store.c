/*
 * A store of one's own: a shelf of a few objects in memory. A change names the object that
 * it depends on, and is made under a lock or not at all; that is all it takes for many
 * writers to share an array.
 *
 * Prints: 5 shards, 580 bytes; the array sums to 4950
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zellige_ext.h"

enum { PLACES = 16, KEY_BYTES = 64 };

typedef struct object {
    int n_holders; /* the shelf is one of them, as long as it stands there */
    size_t n_bytes;
    unsigned char bytes[];
} object;

typedef struct shelf {
    pthread_mutex_t lock;
    struct place {
        char key[KEY_BYTES];
        object *object; /* NULL: free */
        uint64_t version;
    } places[PLACES];
    uint64_t n_changes;
} shelf;

static void drop(object *o)
{
    if (o && --o->n_holders == 0)
        free(o);
}

static struct place *find(shelf *s, const char *key)
{
    for (int i = 0; i < PLACES; i++)
        if (s->places[i].object && strcmp(s->places[i].key, key) == 0)
            return &s->places[i];
    return NULL;
}

/* Lends the bytes, so that nothing is copied; equal versions let the library keep what it
 * made of them. */
static zlg_status shelf_open(void *self, const char *key, zlg_object *out, zlg_error *err)
{
    shelf *s = self;
    (void)err;
    pthread_mutex_lock(&s->lock);
    struct place *place = find(s, key);
    if (place) {
        place->object->n_holders++;
        *out = (zlg_object){.view = place->object->bytes,
                            .n_bytes = place->object->n_bytes,
                            .version = {place->version},
                            .handle = place->object};
    }
    pthread_mutex_unlock(&s->lock);
    return place ? ZLG_OK : ZLG_NOT_FOUND;
}

static void shelf_release(void *self, zlg_object *open)
{
    shelf *s = self;
    pthread_mutex_lock(&s->lock);
    drop(open->handle);
    pthread_mutex_unlock(&s->lock);
}

/* With the lock held: puts an object, or none, where the condition holds. */
static zlg_status change(shelf *s, const char *key, object *o, zlg_condition condition,
                         const zlg_object *seen, zlg_error *err)
{
    struct place *place = find(s, key);
    object *now = place ? place->object : NULL;
    if (condition != ZLG_ALWAYS && now != (seen ? seen->handle : NULL))
        return ZLG_EXISTS;
    for (int i = 0; i < PLACES && !place && o; i++)
        if (!s->places[i].object)
            place = &s->places[i];
    if (!place && o) {
        snprintf(err->message, sizeof err->message, "the shelf has %d places", PLACES);
        return ZLG_IO;
    }
    if (place) {
        drop(now);
        snprintf(place->key, KEY_BYTES, "%s", key);
        place->object = o;
        place->version = ++s->n_changes;
    }
    return ZLG_OK;
}

static zlg_status shelf_put(void *self, const char *key, const zlg_bytes *parts,
                            int n_parts, zlg_condition condition, const zlg_object *seen,
                            zlg_promise promise, zlg_error *err)
{
    shelf *s = self;
    size_t n = 0;
    (void)promise; /* memory lasts as long as the process, whatever is promised */
    if (strlen(key) >= KEY_BYTES) {
        snprintf(err->message, sizeof err->message, "a key of %zu bytes", strlen(key));
        return ZLG_UNSUPPORTED;
    }
    for (int i = 0; i < n_parts; i++)
        n += parts[i].n_bytes;
    object *o = malloc(sizeof *o + n);
    if (!o)
        return ZLG_NO_MEMORY;
    *o = (object){.n_holders = 1};
    for (int i = 0; i < n_parts; o->n_bytes += parts[i++].n_bytes)
        if (parts[i].n_bytes)
            memcpy(o->bytes + o->n_bytes, parts[i].data, parts[i].n_bytes);
    pthread_mutex_lock(&s->lock);
    zlg_status status = change(s, key, o, condition, seen, err);
    pthread_mutex_unlock(&s->lock);
    if (status != ZLG_OK)
        free(o);
    return status;
}

static zlg_status shelf_remove(void *self, const char *key, zlg_condition condition,
                               const zlg_object *seen, zlg_promise promise, zlg_error *err)
{
    shelf *s = self;
    (void)promise;
    pthread_mutex_lock(&s->lock);
    zlg_status status = change(s, key, NULL, condition, seen, err);
    pthread_mutex_unlock(&s->lock);
    return status;
}

/* No read, as every object lends its bytes; no list: this shelf cannot be listed. */
static const zlg_store_methods methods = {
    .n_bytes_struct = sizeof(zlg_store_methods),
    .open = shelf_open,
    .release = shelf_release,
    .put = shelf_put,
    .remove = shelf_remove,
};

static zlg_status run(zlg_ctx *ctx, shelf *s, zlg_store **store, zlg_array **array,
                      zlg_error *err)
{
    int32_t data[100], back[100], sum = 0;
    const int64_t shape[1] = {100}, shard[1] = {20}, chunk[1] = {10};
    for (int i = 0; i < 100; i++)
        data[i] = i;
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    spec.rank = 1;
    spec.shape = shape;
    spec.object_shape = shard;
    spec.chunk_shape = chunk;
    spec.data_type = "int32";
    spec.codecs = "[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}]";
    if (zlg_store_open_ext(ctx, &methods, s, "shelf", store, err) ||
        zlg_array_create(*store, "", &spec, array, err) ||
        zlg_array_write(*array, NULL, &(zlg_source){.data = data}, NULL, err) ||
        zlg_array_read(*array, NULL, &(zlg_target){.data = back}, NULL, err))
        return err->status;
    for (int i = 0; i < 100; i++)
        sum += back[i];
    size_t n_objects = 0, n_bytes = 0;
    for (int i = 0; i < PLACES; i++)
        if (s->places[i].object && strcmp(s->places[i].key, "zarr.json") != 0)
            n_objects++, n_bytes += s->places[i].object->n_bytes;
    printf("%zu shards, %zu bytes; the array sums to %d\n", n_objects, n_bytes, (int)sum);
    return ZLG_OK;
}

int main(void)
{
    zlg_error err = {0};
    zlg_ctx *ctx = NULL;
    zlg_store *store = NULL;
    zlg_array *array = NULL;
    static shelf s = {.lock = PTHREAD_MUTEX_INITIALIZER};
    zlg_status status = zlg_ctx_new(NULL, &ctx, &err);
    if (status == ZLG_OK)
        status = run(ctx, &s, &store, &array, &err);
    if (status != ZLG_OK)
        fprintf(stderr, "%s: %s\n", zlg_status_name(status), err.message);
    zlg_array_close(array);
    zlg_store_close(store);
    zlg_ctx_close(ctx);
    for (int i = 0; i < PLACES; i++)
        drop(s.places[i].object);
    return zlg_status_exit_code(status);
}
