/*
 * A small store in memory, written with the public header alone, as somebody else would
 * write it: a sorted list of keys under one lock; values are counted, and an open object
 * holds one.
 */
#ifndef ZELLIGE_TEST_CUSTOM_H
#define ZELLIGE_TEST_CUSTOM_H

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "zellige_ext.h"

typedef struct custom_value {
    int n_refs;
    uint64_t number;
    size_t n_bytes;
    unsigned char bytes[];
} custom_value;

typedef struct custom_entry {
    char *key;
    custom_value *value;
} custom_entry;

typedef struct custom_store {
    pthread_mutex_t lock;
    int lends; /* 1: views; 0: reads only */
    uint64_t last_number;
    size_t n;
    custom_entry *entries;
} custom_store;

/* "/" before every other byte: then one level lies together. */
static int custom_compare(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    int x = *a == '/' ? 1 : *a ? 2 + (unsigned char)*a : 0;
    int y = *b == '/' ? 1 : *b ? 2 + (unsigned char)*b : 0;
    return x - y;
}

static size_t custom_seek(const custom_store *s, const char *key)
{
    size_t i = 0;
    while (i < s->n && custom_compare(s->entries[i].key, key) < 0)
        i++;
    return i;
}

static custom_value *custom_find(const custom_store *s, const char *key)
{
    size_t i = custom_seek(s, key);
    return i < s->n && strcmp(s->entries[i].key, key) == 0 ? s->entries[i].value : NULL;
}

static void custom_unref(custom_value *v)
{
    if (v && --v->n_refs == 0)
        free(v);
}

static zlg_status custom_open(void *self, const char *key, zlg_object *out, zlg_error *err)
{
    custom_store *s = self;
    (void)err;
    pthread_mutex_lock(&s->lock);
    custom_value *v = custom_find(s, key);
    if (v) {
        v->n_refs++;
        out->view = s->lends ? v->bytes : NULL;
        out->n_bytes = v->n_bytes;
        out->version[0] = v->number;
        out->handle = v;
    }
    pthread_mutex_unlock(&s->lock);
    return v ? ZLG_OK : ZLG_NOT_FOUND;
}

static zlg_status custom_read(void *self, zlg_object *object, uint64_t offset, size_t n,
                              void *destination, size_t *out_n, zlg_error *err)
{
    const custom_value *v = object->handle;
    (void)self, (void)err;
    memcpy(destination, v->bytes + offset, n);
    *out_n = n;
    return ZLG_OK;
}

static void custom_release(void *self, zlg_object *object)
{
    custom_store *s = self;
    pthread_mutex_lock(&s->lock);
    custom_unref(object->handle);
    pthread_mutex_unlock(&s->lock);
}

static int custom_holds(const custom_store *s, const char *key, zlg_condition condition,
                        const zlg_object *seen)
{
    const custom_value *v = custom_find(s, key);
    return condition == ZLG_ALWAYS || v == (seen ? seen->handle : NULL);
}

/* v NULL removes. */
static zlg_status custom_set(custom_store *s, const char *key, custom_value *v)
{
    size_t i = custom_seek(s, key);
    int is_there = i < s->n && strcmp(s->entries[i].key, key) == 0;
    if (!is_there && !v)
        return ZLG_OK;
    if (!is_there) {
        custom_entry *entries = realloc(s->entries, (s->n + 1) * sizeof *entries);
        char *own = malloc(strlen(key) + 1);
        s->entries = entries ? entries : s->entries;
        if (!entries || !own) {
            free(own);
            return ZLG_NO_MEMORY;
        }
        memcpy(own, key, strlen(key) + 1);
        memmove(entries + i + 1, entries + i, (s->n++ - i) * sizeof *entries);
        entries[i] = (custom_entry){own, NULL};
    }
    custom_unref(s->entries[i].value);
    s->entries[i].value = v;
    if (v) {
        v->number = ++s->last_number;
    } else {
        free(s->entries[i].key);
        memmove(s->entries + i, s->entries + i + 1, (--s->n - i) * sizeof *s->entries);
    }
    return ZLG_OK;
}

static zlg_status custom_change(custom_store *s, const char *key, custom_value *v,
                                zlg_condition condition, const zlg_object *seen)
{
    pthread_mutex_lock(&s->lock);
    zlg_status status =
        custom_holds(s, key, condition, seen) ? custom_set(s, key, v) : ZLG_EXISTS;
    pthread_mutex_unlock(&s->lock);
    if (status != ZLG_OK)
        free(v);
    return status;
}

static zlg_status custom_put(void *self, const char *key, const zlg_bytes *parts,
                             int n_parts, zlg_condition condition, const zlg_object *seen,
                             zlg_promise promise, zlg_error *err)
{
    (void)promise, (void)err; /* nothing in memory lasts */
    size_t n = 0;
    for (int i = 0; i < n_parts; i++)
        n += parts[i].n_bytes;
    custom_value *v = malloc(sizeof *v + n);
    if (!v)
        return ZLG_NO_MEMORY;
    *v = (custom_value){.n_refs = 1};
    for (int i = 0; i < n_parts; i++) {
        if (parts[i].n_bytes)
            memcpy(v->bytes + v->n_bytes, parts[i].data, parts[i].n_bytes);
        v->n_bytes += parts[i].n_bytes;
    }
    return custom_change(self, key, v, condition, seen);
}

static zlg_status custom_remove(void *self, const char *key, zlg_condition condition,
                                const zlg_object *seen, zlg_promise promise, zlg_error *err)
{
    (void)promise, (void)err;
    return custom_change(self, key, NULL, condition, seen);
}

/* The lock is not held while `each` runs, which may call the store: the next key is looked
 * for by its name. */
static zlg_status custom_list(void *self, const char *prefix, int delimited,
                              zlg_list_fn each, void *user, zlg_error *err)
{
    custom_store *s = self;
    size_t n_prefix = strlen(prefix);
    char last[4096] = "", name[4096];
    (void)err;
    for (int stop = 0; !stop;) {
        uint64_t n_bytes = 0;
        char *slash = NULL;
        int found = 0;
        pthread_mutex_lock(&s->lock);
        for (size_t i = 0; i < s->n && !found; i++) {
            const char *key = s->entries[i].key;
            if (n_prefix && (strncmp(key, prefix, n_prefix) || key[n_prefix] != '/'))
                continue;
            strncpy(name, key + n_prefix + (n_prefix > 0), sizeof name - 1);
            name[sizeof name - 1] = '\0';
            slash = delimited ? strchr(name, '/') : NULL;
            if (slash)
                slash[1] = '\0'; /* "a" and "a/" are two */
            n_bytes = s->entries[i].value->n_bytes;
            found = custom_compare(last, name) < 0;
        }
        pthread_mutex_unlock(&s->lock);
        if (!found)
            return ZLG_OK;
        memcpy(last, name, sizeof last);
        if (slash)
            *slash = '\0';
        stop = each(user, name, slash != NULL, n_bytes);
    }
    return ZLG_OK;
}

static void custom_close(void *self)
{
    custom_store *s = self;
    while (s->n)
        custom_set(s, s->entries[0].key, NULL);
    free(s->entries);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

static const zlg_store_methods custom_methods = {
    .n_bytes_struct = sizeof(zlg_store_methods),
    .open = custom_open,
    .read = custom_read,
    .release = custom_release,
    .put = custom_put,
    .remove = custom_remove,
    .list = custom_list,
    .close = custom_close,
};

static inline custom_store *custom_new(int lends)
{
    custom_store *s = calloc(1, sizeof *s);
    if (s && pthread_mutex_init(&s->lock, NULL) != 0) {
        free(s);
        return NULL;
    }
    if (s)
        s->lends = lends;
    return s;
}

#endif
