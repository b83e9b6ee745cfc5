/*
 * zellige_ext.h: stores, codecs, data types and chunk key encodings of your own.
 *
 * What is registered belongs to one context. It may be registered at any time, from any
 * thread: arrays that are opened from then on know it, those that are open stay as they
 * are. Of several with one name the last counts; names of the library's own are
 * ZLG_EXISTS. What is pointed to is copied, but for self, which is handed through; `close`
 * is given it when the last handle of the context goes, and not when registering failed.
 *
 * Functions given here are called from any thread, several at once. They report failures
 * by a status and, in `err` (never NULL here), a sentence of what was found and what was
 * expected; the library puts array, chunk and codec in front of it. ZLG_NOT_FOUND,
 * ZLG_EXISTS and ZLG_CANCELLED mean something to the library: where no answer of that name
 * is asked for they count as plain failures.
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
    /* Up to n bytes from an offset that lies inside; *out_n < n only at the end. One open
     * object may be read from several threads at once. NULL: every object has a view. */
    zlg_status (*read)(void *self, zlg_object *object, uint64_t offset, size_t n,
                       void *destination, size_t *out_n, zlg_error *err);
    void (*release)(void *self, zlg_object *object); /* NULL: nothing to give back */
    /* The parts, one behind the other, become the object: atomically, with the promise.
     * NULL: the store is read only. */
    zlg_status (*put)(void *self, const char *key, const zlg_bytes *parts, int n_parts,
                      zlg_condition condition, const zlg_object *seen, zlg_promise promise,
                      zlg_error *err);
    /* ZLG_OK also when nothing was there. Never ZLG_IF_ABSENT. NULL with put only. */
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

/* ------------------------------------------------------------------ codecs
 *
 * A codec is one step of a chain that turns elements into stored bytes: array to array,
 * then array to bytes once, then bytes to bytes. One of yours stands among the built-in
 * ones wherever its kind may. A chunk or inner chunk always passes it whole.
 *
 * In documents of version 2 a codec array to array goes before all filters that work on
 * bytes; it is given elements in native order there too.
 */
typedef enum zlg_codec_kind {
    ZLG_BYTES_TO_BYTES = 1,
    ZLG_ARRAY_TO_BYTES,
    ZLG_ARRAY_TO_ARRAY
} zlg_codec_kind;

#define ZLG_SIZE_UNKNOWN SIZE_MAX

/* What is to be encoded, or is to come out of decoding. Elements lie in C order, in native
 * byte order and packed; they have a fixed size. */
typedef struct zlg_decoded {
    zlg_dtype dtype;      /* type 0: bytes of which nothing is known. Version 2 says what */
                          /* the bytes hold as long as no codec before has changed it */
    int swapped;          /* bytes: those numbers are in the other byte order */
    int rank;             /* elements; bytes: 0 */
    const int64_t *shape; /* NULL in parse and type, when it is not known yet */
    size_t n_elements;
    size_t n_bytes;       /* ZLG_SIZE_UNKNOWN: of decoded bytes it shows on the way */
} zlg_decoded;

/* Where a codec puts what it makes. Room for n_bytes in all: what was written so far is
 * kept, but may have moved. More than the bytes that are known to come, or than a limit, is
 * an error, to be passed on. done says how many bytes of it there are. */
typedef struct zlg_output zlg_output;
ZLG_API ZLG_MUST_USE zlg_status zlg_output_room(zlg_output *output, size_t n_bytes,
                                                void **out, zlg_error *err);
ZLG_API ZLG_MUST_USE zlg_status zlg_output_done(zlg_output *output, size_t n_bytes,
                                                zlg_error *err);
/* Or piece by piece, without the two above. */
ZLG_API ZLG_MUST_USE zlg_status zlg_output_append(zlg_output *output, const void *data,
                                                  size_t n_bytes, zlg_error *err);

typedef struct zlg_codec_methods {
    size_t n_bytes_struct; /* sizeof(zlg_codec_methods) */
    zlg_codec_kind kind;
    const char *name; /* in documents of version 3; NULL: only "numcodecs.<id>" */
    const char *id;   /* in documents of version 2; NULL: not in those */
    /* What stands in one document becomes a state, which the others are given. The
     * configuration is a JSON object, "{}" when there is none (version 2: all of the
     * codec's object); `from` is what will be encoded. NULL: members are refused, and the
     * state is self. */
    zlg_status (*parse)(void *self, const char *configuration, int zarr_format,
                        const zlg_decoded *from, void **out_state, zlg_error *err);
    void (*free)(void *state); /* of what parse made, when the last handle goes; or NULL */
    /* Array to array. The type of the encoded elements, a name or JSON in the words of
     * version 3, and their rank, both set to those of `from`: NULL keeps them. The text is
     * read at once. And their shape, likewise; rank lengths. */
    zlg_status (*type)(void *state, const zlg_decoded *from, const char **data_type,
                       int *rank, zlg_error *err);
    zlg_status (*shape)(void *state, const zlg_decoded *from, int64_t *shape,
                        zlg_error *err);
    /* To bytes, when the size follows from what is encoded (from->n_bytes is known): how
     * many. Stored bytes are then held against it. NULL: it does not follow. */
    size_t (*encoded_bytes)(void *state, const zlg_decoded *from);
    /* The encoded bytes of `from`. An array to array codec also encodes one element alone,
     * the fill value, when an array is opened. NULL: it can only be read. */
    zlg_status (*encode)(void *state, const zlg_decoded *from, zlg_bytes in,
                         zlg_output *output, zlg_error *err);
    /* Back to `from`, of which as many bytes must come as it says. `in` may be anything:
     * ZLG_CORRUPT is what to say of it. */
    zlg_status (*decode)(void *state, const zlg_decoded *from, zlg_bytes in,
                         zlg_output *output, zlg_error *err);
    void (*close)(void *self); /* or NULL */
} zlg_codec_methods;

ZLG_API ZLG_MUST_USE zlg_status zlg_ctx_register_codec(zlg_ctx *ctx,
                                                       const zlg_codec_methods *methods,
                                                       void *self, zlg_error *err);

/* ------------------------------------------------------------------ codecs alone
 *
 * Codecs without an array, built-in ones and yours: bytes to bytes, or the elements of one
 * chunk to bytes. Elements lie in C order, in native byte order, and have a fixed size. A
 * handle may be used by many threads at once.
 */
typedef struct zlg_codec zlg_codec;

typedef struct zlg_codec_options {
    size_t n_bytes_struct;
    int zarr_format;        /* words of the list; 0: 2 where its first codec has an "id" */
    const char *data_type;  /* 3: makes it a chain for elements; NULL: for bytes. 2: what */
                            /* the bytes hold ("<f4"), where a codec goes by it; or NULL */
    const char *fill_value; /* elements: JSON; NULL: zero */
    int rank;               /* elements */
    const int64_t *shape;
} zlg_codec_options;

#define ZLG_CODEC_OPTIONS_INIT {.n_bytes_struct = sizeof(zlg_codec_options)}

/* codecs: JSON, a list or a single one, as documents have them. options may be NULL. */
ZLG_API ZLG_MUST_USE zlg_status zlg_codec_open(zlg_ctx *ctx, const char *codecs,
                                               const zlg_codec_options *options,
                                               zlg_codec **out, zlg_error *err);
ZLG_API void zlg_codec_close(zlg_codec *codec);
ZLG_API ZLG_MUST_USE zlg_status zlg_codec_encode(zlg_codec *codec, const void *data,
                                                 size_t n_bytes, zlg_text *out,
                                                 zlg_error *err);
ZLG_API ZLG_MUST_USE zlg_status zlg_codec_decode(zlg_codec *codec, const void *data,
                                                 size_t n_bytes, zlg_text *out,
                                                 zlg_error *err);
/* The result is lent to `take` instead, which is called once, on the calling thread, and
 * whose failure is that of the call. For those who have memory of their own kind. */
typedef zlg_status (*zlg_take_fn)(void *user, zlg_bytes result, zlg_error *err);
ZLG_API ZLG_MUST_USE zlg_status zlg_codec_encode_to(zlg_codec *codec, const void *data,
                                                    size_t n_bytes, zlg_take_fn take,
                                                    void *user, zlg_error *err);
ZLG_API ZLG_MUST_USE zlg_status zlg_codec_decode_to(zlg_codec *codec, const void *data,
                                                    size_t n_bytes, zlg_take_fn take,
                                                    void *user, zlg_error *err);
/* Into n_room bytes of yours, which are written in place when they are just filled. More
 * than they hold is ZLG_LIMIT. After a failure what is in them is unspecified. */
ZLG_API ZLG_MUST_USE zlg_status zlg_codec_decode_into(zlg_codec *codec, const void *data,
                                                      size_t n_bytes, void *into,
                                                      size_t n_room, size_t *out_n_bytes,
                                                      zlg_error *err);

/* ------------------------------------------------------------------ data types
 *
 * A data type of yours is a name, in documents of version 3, for elements that are in
 * memory and in the store those of a built-in type; the codecs see that one.
 */
typedef struct zlg_data_type_methods {
    size_t n_bytes_struct; /* sizeof(zlg_data_type_methods) */
    const char *name;
    /* The built-in type, a name or JSON in the words of version 3; or NULL, then `type`
     * writes it, made from the configuration, a JSON object ("{}" when there is none). With
     * data_type there is none. */
    const char *data_type;
    zlg_status (*type)(void *self, const char *configuration, zlg_output *output,
                       zlg_error *err);
    /* Fill values: JSON as documents have it to JSON that the built-in type reads. NULL:
     * it is the same. */
    zlg_status (*fill_value)(void *self, const char *configuration, const char *fill_value,
                             zlg_output *output, zlg_error *err);
    /* JSON, for new arrays that state none; NULL: zero in the words of the built-in. */
    const char *default_fill_value;
    void (*close)(void *self); /* or NULL */
} zlg_data_type_methods;

ZLG_API ZLG_MUST_USE zlg_status zlg_ctx_register_data_type(
    zlg_ctx *ctx, const zlg_data_type_methods *methods, void *self, zlg_error *err);

/* ------------------------------------------------------------------ chunk keys
 *
 * How keys of chunks are made from their places in the grid, in documents of version 3.
 */
typedef struct zlg_key_methods {
    size_t n_bytes_struct; /* sizeof(zlg_key_methods) */
    const char *name;
    /* As that of codecs, for an array of so many axes. NULL: members are refused, and the
     * state is self. */
    zlg_status (*parse)(void *self, const char *configuration, int rank, void **out_state,
                        zlg_error *err);
    void (*free)(void *state);
    /* The key below the array, NUL terminated, into n_room bytes (at least 600): segments
     * joined by "/", never "zarr.json", different for different places. */
    zlg_status (*write)(void *state, int rank, const int64_t *coordinates, char *key,
                        size_t n_room, zlg_error *err);
    /* And back: 1, or 0 for what `write` never gives. What is stored is found by it when an
     * array becomes smaller. */
    int (*read)(void *state, int rank, const char *key, int64_t *coordinates);
    void (*close)(void *self); /* or NULL */
} zlg_key_methods;

ZLG_API ZLG_MUST_USE zlg_status zlg_ctx_register_chunk_key_encoding(
    zlg_ctx *ctx, const zlg_key_methods *methods, void *self, zlg_error *err);

#ifdef __cplusplus
}
#endif
#endif
