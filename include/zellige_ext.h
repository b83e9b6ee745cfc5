/*
 * zellige_ext.h: stores, codecs, data types and chunk key encodings of your own.
 *
 * What is registered belongs to one context, which must have no arrays open yet. Functions
 * given here are called from any thread, several at once, unless something else is said.
 * They report failures by a status and, in `err`, a sentence of what was found and what was
 * expected; the library puts array, chunk and codec in front of it.
 */
#ifndef ZELLIGE_EXT_H
#define ZELLIGE_EXT_H

#include "zellige.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct zlg_bytes {
    const void *data;
    size_t n_bytes;
} zlg_bytes;

/* ------------------------------------------------------------------ stores
 *
 * An object that a store has opened for reading. All that is read of it until it is
 * released comes from one version of it.
 */
typedef struct zlg_object {
    const void *view;    /* all its bytes, lent until release; or NULL: see read */
    uint64_t n_bytes;    /* its length */
    uint64_t version[4]; /* equal versions of a key mean equal bytes; all 0: not known, */
                         /* so that nothing of the object is cached */
    void *handle;        /* the store's own */
} zlg_object;

/* On what a change depends. When it does not hold, nothing is changed: ZLG_EXISTS. */
typedef enum zlg_condition {
    ZLG_ALWAYS = 0,
    ZLG_IF_ABSENT,   /* nothing is stored under the key */
    ZLG_IF_UNCHANGED /* what is stored is still the object `seen`, which is open */
} zlg_condition;

typedef struct zlg_store_methods {
    size_t n_bytes_struct; /* sizeof(zlg_store_methods) */
    /* ZLG_NOT_FOUND, with no message, when there is no such key; anything that leaves open
     * whether there is must be another status: what is missing reads as fill value. */
    zlg_status (*open)(void *self, const char *key, zlg_object *out, zlg_error *err);
    /* Up to n bytes from an offset; *out_n < n only at the end. NULL: every object has a
     * view. */
    zlg_status (*read)(void *self, zlg_object *object, uint64_t offset, size_t n,
                       void *destination, size_t *out_n, zlg_error *err);
    void (*release)(void *self, zlg_object *object); /* NULL: nothing to give back */
    /* The parts, one behind the other, become the object: atomically, with the promise.
     * NULL: the store is read only. */
    zlg_status (*put)(void *self, const char *key, const zlg_bytes *parts, int n_parts,
                      zlg_condition condition, const zlg_object *seen, zlg_promise promise,
                      zlg_error *err);
    /* ZLG_OK also when nothing was there. NULL with put only. */
    zlg_status (*remove)(void *self, const char *key, zlg_condition condition,
                         const zlg_object *seen, zlg_promise promise, zlg_error *err);
    /* As zlg_store_list says. NULL: the store cannot be listed. */
    zlg_status (*list)(void *self, const char *prefix, int delimited, zlg_list_fn each,
                       void *user, zlg_error *err);
    void (*close)(void *self); /* with the last handle; NULL: nothing to do */
} zlg_store_methods;

/* The methods are copied; self is handed through. label names the store in messages. When
 * this fails, close is not called. */
ZLG_API ZLG_MUST_USE zlg_status zlg_store_open_ext(zlg_ctx *ctx,
                                                   const zlg_store_methods *methods,
                                                   void *self, const char *label,
                                                   zlg_store **out, zlg_error *err);

#ifdef __cplusplus
}
#endif
#endif
