/*
 * zellige.h: read and write Zarr arrays (versions 2 and 3), from C11 or C++.
 *
 * Zarr keeps an N-dimensional array as a grid of chunks, each one object of a store (a
 * file, say), beside small JSON documents that describe it. A chunk may be a shard: an
 * object that holds many inner chunks and an index of where each of them lies.
 *
 *     zlg_ctx *ctx;            zlg_ctx_new          memory, threads, caches, limits
 *     zlg_store *store;        zlg_store_open_fs    a directory of keys
 *     zlg_array *array;        zlg_array_open       one array: an immutable snapshot
 *     zlg_group *group;        zlg_group_open       a folder of arrays and groups
 *
 * A read names a selection of an array and memory of yours to fill:
 *
 *     zlg_error err;
 *     zlg_ctx *ctx = NULL;
 *     zlg_store *store = NULL;
 *     zlg_array *array = NULL;
 *     float out[10][20];
 *     zlg_axis axes[2] = {{.start = 5, .step = 1, .count = 10},
 *                         {.start = 0, .step = 1, .count = 20}};
 *     zlg_selection box = {.kind = ZLG_BOX, .rank = 2, .axes = axes};
 *     if (zlg_ctx_new(NULL, &ctx, &err) ||
 *         zlg_store_open_fs(ctx, "a.zarr", NULL, &store, &err) ||
 *         zlg_array_open(store, "", NULL, &array, &err) ||
 *         zlg_array_read(array, &box, &(zlg_target){.data = out}, NULL, &err))
 *         fprintf(stderr, "%s\n", err.message);
 *     zlg_array_close(array), zlg_store_close(store), zlg_ctx_close(ctx);
 *
 * Caveats first
 * -------------
 * - After a failed read the target's contents are unspecified; nothing outside it was
 *   written, and no other call is affected.
 * - Elements arrive in the stored type, native byte order, packed. Nothing is converted.
 * - An array is a snapshot of its metadata: open it again to see a resize.
 * - `overwrite` removes all that lies at a path and below it, whatever it is.
 * - Texts and variable-length results are freed before the last handle of their context
 *   is closed: they do not keep it alive.
 * - The library never prints, never exits and never reads the environment.
 *
 * Handles: what an open or create function gives is closed once, with the function of its
 * kind, which also takes NULL. The order does not matter: an array keeps its store alive,
 * a store its context. After a failure the handle given is NULL.
 * Arguments: pointers may be NULL only where that is said. What they point to is read
 * during the call and not kept. Strings end with a NUL; they are UTF-8, but paths of the
 * file system may hold any bytes.
 * Threads: a context, store, group and array may be used from many threads at once.
 * Callbacks run on the calling thread, and may call the library; but while an array gets
 * another shape, not change its document.
 * Fork: a child may go on using every handle; it starts workers of its own. A store in
 * memory only if no other thread was inside a call on it.
 * Memory: every block comes from the allocator of the context.
 */
#ifndef ZELLIGE_H
#define ZELLIGE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ZLG_VERSION_MAJOR 0
#define ZLG_VERSION_MINOR 1
#define ZLG_VERSION_PATCH 0

#define ZLG_API __attribute__((visibility("default")))
#define ZLG_MUST_USE __attribute__((warn_unused_result))

/* Most axes an array may have. */
#define ZLG_MAX_RANK 32

/* ------------------------------------------------------------------ status and error
 *
 * One table: the status, its pinned number, its name (the KIND that the command line
 * prints), the exit code of the command line, what it means. docs/guide/errors.md and
 * the Python exceptions are made from it.
 */
#define ZLG_STATUS_TABLE(X)                                                               \
    X(NO_MEMORY, 10, "no_memory", 10, "memory could not be had")                          \
    X(USAGE, 20, "usage", 2, "an argument breaks the documented rules")                   \
    X(RANGE, 21, "range", 8, "a position outside the array")                              \
    X(UNSUPPORTED, 22, "unsupported", 3, "well formed, but not known here, or refused")   \
    X(LIMIT, 23, "limit", 7, "obeying would pass a limit of the context")                 \
    X(NOT_FOUND, 30, "not_found", 4, "no such key, node or attribute")                    \
    X(EXISTS, 31, "exists", 12, "a node is already there")                                \
    X(IO, 32, "io", 9, "the store failed")                                                \
    X(METADATA, 40, "metadata", 5, "a document breaks a rule of the format")              \
    X(CORRUPT, 41, "corrupt", 6, "stored bytes do not decode to what the documents say")  \
    X(CANCELLED, 50, "cancelled", 11, "the caller asked to stop, or the deadline passed")

typedef enum zlg_status {
    ZLG_OK = 0,
#define ZLG_STATUS_ENUM(name, number, text, exit_code, meaning) ZLG_##name = number,
    ZLG_STATUS_TABLE(ZLG_STATUS_ENUM)
#undef ZLG_STATUS_ENUM
} zlg_status;

/*
 * What went wrong, in the caller's memory; nothing to free. Every function that takes a
 * zlg_error accepts NULL. It means something only after a call that failed. The message is
 * built from the outside in:
 * "array a/b: chunk c/3/7: codec zstd: frame ends after 812 of 4096 bytes".
 */
typedef struct zlg_error {
    zlg_status status;
    char message[508]; /* UTF-8, NUL terminated, cut where it does not fit */
} zlg_error;

/* "corrupt", ...; "ok" for ZLG_OK; "unknown" for a number that is none. Static. */
ZLG_API const char *zlg_status_name(zlg_status status);
/* Exit code of the command line for a status; 0 for ZLG_OK. */
ZLG_API int zlg_status_exit_code(zlg_status status);
/* "0.1.0" */
ZLG_API const char *zlg_version(void);
/* The compression libraries that are built in, one a line, libzstd with the version of its
 * header: "zstd 1.5.7\nlibdeflate\n...". */
ZLG_API const char *zlg_build_info(void);

/* ------------------------------------------------------------------ context
 *
 * Allocator: one function. `resize(self, block, old, new)` returns a block of `new`
 * bytes with the first min(old, new) bytes kept; block NULL (old 0) allocates; new 0
 * frees and returns NULL. It is called from any thread. Alignment: that of malloc.
 * `self` is handed through, and must outlive the context.
 */
typedef struct zlg_allocator {
    void *(*resize)(void *self, void *block, size_t old_bytes, size_t new_bytes);
    void *self;
} zlg_allocator;

/*
 * Limits: field, default, unit, what it bounds. A limit applies to what would be
 * allocated or walked, never to what a document merely says: an uncompressed chunk
 * larger than memory is fine when a small box of it is read.
 */
#define ZLG_LIMIT_TABLE(X)                                                                \
    X(metadata_bytes, INT64_C(67108864), "bytes", "one metadata document")                \
    X(json_depth, INT64_C(128), "levels", "nesting of a JSON document")                   \
    X(codec_depth, INT64_C(8), "levels", "sharding inside sharding")                      \
    X(chunk_bytes, INT64_C(4294967296), "bytes", "one decoded chunk or inner chunk")      \
    X(encoded_bytes, INT64_C(8589934592), "bytes", "one encoded piece read at once")      \
    X(index_bytes, INT64_C(268435456), "bytes", "one shard index")                        \
    X(grid_edges, INT64_C(16777216), "edges", "edges of one axis of a rectilinear grid")  \
    X(keys_listed, INT64_C(50000000), "keys", "keys that one listing returns")

typedef struct zlg_limits {
    size_t n_bytes_struct;
#define ZLG_LIMIT_FIELD(name, value, unit, meaning) int64_t name; /* 0: the default */
    ZLG_LIMIT_TABLE(ZLG_LIMIT_FIELD)
#undef ZLG_LIMIT_FIELD
} zlg_limits;

#define ZLG_LIMITS_INIT {.n_bytes_struct = sizeof(zlg_limits)}

typedef struct zlg_ctx zlg_ctx;

typedef struct zlg_ctx_options {
    size_t n_bytes_struct;    /* sizeof(zlg_ctx_options): set by the INIT macro         */
    zlg_allocator allocator;  /* resize NULL: malloc                                    */
    int n_threads;            /* threads of one call, the caller included; 0: one for   */
                              /* each core this process may use                         */
    int64_t memory_budget;    /* bytes that large pieces in flight take beyond results; */
                              /* 0: 1 GiB. A piece that needs more runs alone           */
    int64_t index_cache;      /* bytes for decoded shard indexes; 0: 16 MiB; -1: none   */
    int64_t chunk_cache;      /* bytes for decoded chunks and inner chunks; 0: none     */
    const zlg_limits *limits; /* NULL: the defaults                                     */
} zlg_ctx_options;

#define ZLG_CTX_OPTIONS_INIT {.n_bytes_struct = sizeof(zlg_ctx_options)}

/*
 * Options, here and below: NULL means the defaults. Otherwise start from the INIT macro,
 * which notes the size that the struct had when your program was built: what lies beyond
 * that size counts as 0. ZLG_USAGE when the size is missing.
 *
 * Structs without a size (zlg_axis, zlg_selection, zlg_target, zlg_source, zlg_read,
 * zlg_write, zlg_read_chunk, zlg_encoded, zlg_dtype, zlg_field, zlg_varlen, zlg_text,
 * zlg_error) never change.
 *
 * No thread is started before the first large call.
 */
ZLG_API ZLG_MUST_USE zlg_status zlg_ctx_new(const zlg_ctx_options *options, zlg_ctx **out,
                                            zlg_error *err);
ZLG_API void zlg_ctx_close(zlg_ctx *ctx);

/* ------------------------------------------------------------------ returned text
 *
 * JSON and keys come back as one block of the context's allocator, NUL terminated
 * (n_bytes does not count the NUL). Free it with zlg_text_free, which also takes a text
 * that is {0} or freed already.
 */
typedef struct zlg_text {
    char *data;
    size_t n_bytes;
    zlg_ctx *ctx; /* whose allocator made it */
} zlg_text;

ZLG_API void zlg_text_free(zlg_text *text);

/* ------------------------------------------------------------------ stores
 *
 * A store maps keys to bytes. A key is segments joined by "/", without a leading or
 * trailing one; no segment is empty, "." or "..". Reading a key that is not there is
 * ZLG_NOT_FOUND with an empty message: the common case costs no formatting.
 */
typedef struct zlg_store zlg_store;

typedef struct zlg_fs_options {
    size_t n_bytes_struct;
    int follow_links; /* 0: symbolic links below the root never lead out of it;         */
                      /* 1: they are followed anywhere. The root itself may be a link   */
    int read_only;    /* 1: writes are refused                                          */
    int create;       /* 1: make the root directory (and its parents) when missing      */
    int no_locks;     /* 1: the file system has no locks: the caller promises that       */
                      /* nobody else changes an object while this store does            */
} zlg_fs_options;

#define ZLG_FS_OPTIONS_INIT {.n_bytes_struct = sizeof(zlg_fs_options)}

/* path is a directory, "file://..." works too. ZLG_NOT_FOUND when it is not there. */
ZLG_API ZLG_MUST_USE zlg_status zlg_store_open_fs(zlg_ctx *ctx, const char *path,
                                                  const zlg_fs_options *options,
                                                  zlg_store **out, zlg_error *err);
/* An empty store in memory. */
ZLG_API ZLG_MUST_USE zlg_status zlg_store_open_memory(zlg_ctx *ctx, zlg_store **out,
                                                      zlg_error *err);
ZLG_API void zlg_store_close(zlg_store *store);

/* All bytes of a key (binary; NUL terminated for convenience), up to encoded_bytes. */
ZLG_API ZLG_MUST_USE zlg_status zlg_store_get(zlg_store *store, const char *key,
                                              zlg_text *out, zlg_error *err);
/* Stores bytes under a key, atomically: a reader sees the old object or the new one. */
ZLG_API ZLG_MUST_USE zlg_status zlg_store_put(zlg_store *store, const char *key,
                                              const void *data, size_t n_bytes,
                                              zlg_error *err);
/* Removes a key; ZLG_OK also when it was not there. */
ZLG_API ZLG_MUST_USE zlg_status zlg_store_delete(zlg_store *store, const char *key,
                                                 zlg_error *err);
/* The same, as long as the caller waits: cancel, deadline_ms and poll of a call, or NULL.
 * Somebody else may have an object locked. What may wait, or look at very many names, has
 * such a sibling, whose name ends in `_call`. */
struct zlg_call;
ZLG_API ZLG_MUST_USE zlg_status zlg_store_put_call(zlg_store *store, const char *key,
                                                   const void *data, size_t n_bytes,
                                                   const struct zlg_call *call,
                                                   zlg_error *err);
ZLG_API ZLG_MUST_USE zlg_status zlg_store_delete_call(zlg_store *store, const char *key,
                                                      const struct zlg_call *call,
                                                      zlg_error *err);
/*
 * Calls `each` for the keys below `prefix` ("" or "a/b"), in bytewise order of a level.
 * delimited 1: one level only; a key that has more below it is passed with is_prefix 1
 * and no size. `each` returns non-zero to stop early. Names are relative to the prefix and
 * valid until `each` returns. Nothing below the prefix is not an error.
 */
typedef int (*zlg_list_fn)(void *user, const char *name, int is_prefix, uint64_t n_bytes);
ZLG_API ZLG_MUST_USE zlg_status zlg_store_list(zlg_store *store, const char *prefix,
                                               int delimited, zlg_list_fn each, void *user,
                                               zlg_error *err);
ZLG_API ZLG_MUST_USE zlg_status zlg_store_list_call(zlg_store *store, const char *prefix,
                                                    int delimited, zlg_list_fn each,
                                                    void *user,
                                                    const struct zlg_call *call,
                                                    zlg_error *err);

/*
 * What a change means once its call has returned ZLG_OK; docs/guide/promises.md says what
 * is left after which failure. Whatever the promise: a reader sees the old object or the
 * new one, never a mix, and a change that somebody else makes at the same time to another
 * part of the object is not lost.
 */
typedef enum zlg_promise {
    ZLG_PROMISE_DEFAULT = 0, /* what the handle was opened with                         */
    ZLG_VISIBLE = 1,         /* readers see it; the death of the process takes nothing  */
    ZLG_DURABLE = 2,         /* and a power loss takes nothing: synced to the device    */
    ZLG_VERIFIED = 3         /* and it was read back from there and found the same      */
} zlg_promise;

/* Removes the temporary objects that writers left below `prefix` when they died, and counts
 * them. Writers sweep as they go; this is for stores that nobody writes to any more. */
ZLG_API ZLG_MUST_USE zlg_status zlg_store_sweep(zlg_store *store, const char *prefix,
                                                uint64_t *out_n, zlg_error *err);
/* Those that are gone are counted also when it is stopped. */
ZLG_API ZLG_MUST_USE zlg_status zlg_store_sweep_call(zlg_store *store, const char *prefix,
                                                     uint64_t *out_n,
                                                     const struct zlg_call *call,
                                                     zlg_error *err);

/* ------------------------------------------------------------------ data types
 *
 * The type of an element in memory. Complex types have a part; the rest is itself. The
 * numbers are pinned.
 */
typedef enum zlg_type {
    ZLG_BOOL = 1,
    ZLG_INT2 = 2, ZLG_INT4 = 3,
    ZLG_INT8 = 4, ZLG_INT16 = 5, ZLG_INT32 = 6, ZLG_INT64 = 7,
    ZLG_UINT2 = 8, ZLG_UINT4 = 9,
    ZLG_UINT8 = 10, ZLG_UINT16 = 11, ZLG_UINT32 = 12, ZLG_UINT64 = 13,
    ZLG_FLOAT4_E2M1FN = 14, ZLG_FLOAT6_E2M3FN = 15, ZLG_FLOAT6_E3M2FN = 16,
    ZLG_FLOAT8_E3M4 = 17, ZLG_FLOAT8_E4M3 = 18, ZLG_FLOAT8_E4M3B11FNUZ = 19,
    ZLG_FLOAT8_E4M3FNUZ = 20, ZLG_FLOAT8_E5M2 = 21, ZLG_FLOAT8_E5M2FNUZ = 22,
    ZLG_FLOAT8_E8M0FNU = 23,
    ZLG_BFLOAT16 = 24, ZLG_FLOAT16 = 25, ZLG_FLOAT32 = 26, ZLG_FLOAT64 = 27,
    ZLG_COMPLEX = 28,     /* two parts: real, imaginary                                 */
    ZLG_DATETIME64 = 29,  /* int64 counts of scale x unit since 1970; NaT is INT64_MIN  */
    ZLG_TIMEDELTA64 = 30, /* int64 counts of scale x unit                               */
    ZLG_RAW = 31,         /* n bytes, opaque: r<N>, raw_bytes, v2 V                     */
    ZLG_FIXED_BYTES = 32, /* n bytes, NUL padded: null_terminated_bytes, v2 S           */
    ZLG_FIXED_UTF32 = 33, /* n/4 code points, NUL padded: fixed_length_utf32, v2 U      */
    ZLG_STRUCT = 34,      /* packed record                                              */
    ZLG_STRING = 35,      /* variable length UTF-8                                      */
    ZLG_BYTES = 36,       /* variable length bytes                                      */
    ZLG_VLEN_ARRAY = 37   /* variable length list of a fixed type (part)                */
} zlg_type;

typedef struct zlg_dtype {
    zlg_type type;
    zlg_type part;      /* ZLG_COMPLEX, ZLG_VLEN_ARRAY: type of a part; else = type      */
    size_t n_bytes;     /* of an element in memory; 0 for the variable-length types     */
    const char *unit;   /* times: "ns", "D", ...; "generic"; else NULL                   */
    int64_t scale;      /* times: units per count; else 1                               */
    int n_fields;       /* ZLG_STRUCT: see zlg_array_field                              */
} zlg_dtype;

typedef struct zlg_field {
    const char *name;   /* UTF-8, borrowed from the array                               */
    size_t offset;      /* bytes from the start of the element                          */
    zlg_dtype dtype;    /* of one item                                                  */
    int rank;           /* a v2 field may itself be a small array: its rank and shape   */
    int64_t shape[ZLG_MAX_RANK];
} zlg_field;

/* ------------------------------------------------------------------ hierarchy
 *
 * Paths are keys of nodes: "" is the root. Version 3 documents are looked for first,
 * then version 2. ZLG_NOT_FOUND when there is no node of the kind asked for, or when the
 * path breaks the rules for names; ZLG_METADATA and ZLG_UNSUPPORTED tell of its document.
 */
typedef struct zlg_group zlg_group;
typedef struct zlg_array zlg_array;

typedef enum zlg_node {
    ZLG_NODE_NONE = 0,
    ZLG_NODE_GROUP = 1,
    ZLG_NODE_ARRAY = 2
} zlg_node;

typedef struct zlg_open_options {
    size_t n_bytes_struct;
    int zarr_format;         /* 0: 3 first, then 2; 2 or 3: only that                   */
    int ignore_consolidated; /* groups. 1: never answer from consolidated metadata      */
    zlg_promise promise;     /* arrays: of writes that ask for none; default: VISIBLE    */
    int keep_empty;          /* arrays: of writes that ask for none; 0 or 1             */
} zlg_open_options;

#define ZLG_OPEN_OPTIONS_INIT {.n_bytes_struct = sizeof(zlg_open_options)}

/* What lies at a path, by the name and node_type of its document: the rest of it may be
 * broken. ZLG_NODE_NONE is not an error. */
ZLG_API ZLG_MUST_USE zlg_status zlg_node_kind(zlg_store *store, const char *path,
                                              const zlg_open_options *options,
                                              zlg_node *out, zlg_error *err);
/* What lies at a path, and its document (v2: with "attributes" added) without opening it:
 * so also of an array whose type or codecs are not known here. NULL out_kind is fine. */
ZLG_API ZLG_MUST_USE zlg_status zlg_node_metadata(zlg_store *store, const char *path,
                                                  const zlg_open_options *options,
                                                  zlg_node *out_kind, zlg_text *out,
                                                  zlg_error *err);

ZLG_API ZLG_MUST_USE zlg_status zlg_group_open(zlg_store *store, const char *path,
                                               const zlg_open_options *options,
                                               zlg_group **out, zlg_error *err);
ZLG_API void zlg_group_close(zlg_group *group);
ZLG_API const char *zlg_group_path(const zlg_group *group);   /* borrowed */
ZLG_API int zlg_group_zarr_format(const zlg_group *group);    /* 2 or 3 */
ZLG_API int zlg_group_is_consolidated(const zlg_group *group);
/* The attributes as one JSON object, number text and key order as stored. */
ZLG_API ZLG_MUST_USE zlg_status zlg_group_attributes(zlg_group *group, zlg_text *out,
                                                     zlg_error *err);
/* The whole metadata document (v2: .zgroup with "attributes" added). */
ZLG_API ZLG_MUST_USE zlg_status zlg_group_metadata(zlg_group *group, zlg_text *out,
                                                   zlg_error *err);

/*
 * Calls `each` for the members of a group in bytewise order of their names; recursive 1
 * walks all levels, parents first, with paths relative to the group. A directory that
 * holds no document is not a member. A member whose document is broken is passed as
 * what its document's name says (`.zarray`) or, for zarr.json, as ZLG_NODE_NONE.
 * Answered from consolidated metadata when the group has it. `each` is called when all
 * are known, and returns non-zero to stop; a path is valid until it returns.
 */
typedef int (*zlg_member_fn)(void *user, const char *path, zlg_node kind);
ZLG_API ZLG_MUST_USE zlg_status zlg_group_members(zlg_group *group, int recursive,
                                                  zlg_member_fn each, void *user,
                                                  zlg_error *err);
ZLG_API ZLG_MUST_USE zlg_status zlg_group_members_call(zlg_group *group, int recursive,
                                                       zlg_member_fn each, void *user,
                                                       const struct zlg_call *call,
                                                       zlg_error *err);
/* A member by its path relative to the group, from consolidated metadata when there. */
ZLG_API ZLG_MUST_USE zlg_status zlg_group_member_kind(zlg_group *group, const char *path,
                                                      zlg_node *out, zlg_error *err);
ZLG_API ZLG_MUST_USE zlg_status zlg_group_open_group(zlg_group *group, const char *path,
                                                     zlg_group **out, zlg_error *err);
ZLG_API ZLG_MUST_USE zlg_status zlg_group_open_array(zlg_group *group, const char *path,
                                                     zlg_array **out, zlg_error *err);

ZLG_API ZLG_MUST_USE zlg_status zlg_array_open(zlg_store *store, const char *path,
                                               const zlg_open_options *options,
                                               zlg_array **out, zlg_error *err);
/*
 * An array from its document, as zlg_array_metadata gives it, without a look at the store:
 * nothing need be stored at the path, and if there is, it is not compared. So an array can
 * be read whose document lies elsewhere, and objects beyond a shape that is out of date.
 */
ZLG_API ZLG_MUST_USE zlg_status zlg_array_from_metadata(zlg_store *store, const char *path,
                                                        const char *metadata,
                                                        const zlg_open_options *options,
                                                        zlg_array **out, zlg_error *err);
/* The same array, path and all, over another store of the same context. Cheap: what was
 * parsed is shared. */
ZLG_API ZLG_MUST_USE zlg_status zlg_array_over(zlg_array *array, zlg_store *store,
                                               zlg_array **out, zlg_error *err);
ZLG_API void zlg_array_close(zlg_array *array);

/* Facts; what is pointed to is borrowed, and valid until the array is closed. An axis is
 * a number from 0 to rank - 1: nothing checks it. */
ZLG_API const char *zlg_array_path(const zlg_array *array);
ZLG_API int zlg_array_zarr_format(const zlg_array *array);
ZLG_API int zlg_array_rank(const zlg_array *array);
ZLG_API const int64_t *zlg_array_shape(const zlg_array *array);
/* Shape of one object (a shard where there are shards). Rectilinear: of the first one. */
ZLG_API const int64_t *zlg_array_object_shape(const zlg_array *array);
/* Shape of the innermost chunk, in the axes of the array; = object shape when unsharded,
 * and when a codec around the shard allows no smaller piece to be named. */
ZLG_API const int64_t *zlg_array_chunk_shape(const zlg_array *array);
ZLG_API int zlg_array_is_sharded(const zlg_array *array);
ZLG_API int zlg_array_is_rectilinear(const zlg_array *array);
/* Number of objects along an axis; and the length of object i of them along it (declared,
 * so the last one may reach past the shape). */
ZLG_API int64_t zlg_array_grid_shape(const zlg_array *array, int axis);
ZLG_API int64_t zlg_array_edge(const zlg_array *array, int axis, int64_t i);
ZLG_API zlg_dtype zlg_array_dtype(const zlg_array *array);
/* A field of a record: path[0] is a field of the array's type, path[1] one of that field
 * when it is a record itself, ... n_path at least 1. */
ZLG_API ZLG_MUST_USE zlg_status zlg_array_field(const zlg_array *array, const int *path,
                                                int n_path, zlg_field *out,
                                                zlg_error *err);
/* The fill value as an element in memory; variable length: its bytes. */
ZLG_API const void *zlg_array_fill_value(const zlg_array *array,
                                         size_t *out_n_bytes);
/* Name of an axis, or NULL when it has none. */
ZLG_API const char *zlg_array_dimension_name(const zlg_array *array, int axis);
ZLG_API zlg_store *zlg_array_store(const zlg_array *array); /* borrowed */

/* JSON: attributes; the whole document (v2: .zarray with "attributes" added); the codec
 * list (v2: {"filters": .., "compressor": ..}); the data type as written. */
ZLG_API ZLG_MUST_USE zlg_status zlg_array_attributes(zlg_array *array, zlg_text *out,
                                                     zlg_error *err);
ZLG_API ZLG_MUST_USE zlg_status zlg_array_metadata(zlg_array *array, zlg_text *out,
                                                   zlg_error *err);
ZLG_API ZLG_MUST_USE zlg_status zlg_array_codecs(zlg_array *array, zlg_text *out,
                                                 zlg_error *err);
/* Key of the object at grid coordinates (one for each axis), relative to the store:
 * "a/b/c/0/1". ZLG_RANGE outside the grid. */
ZLG_API ZLG_MUST_USE zlg_status zlg_array_key(zlg_array *array, const int64_t *coordinates,
                                              zlg_text *out, zlg_error *err);
/* The way back, from a key of the store to coordinates, which may lie beyond the grid.
 * ZLG_NOT_FOUND, with no message, for a key that is no object of this array. */
ZLG_API ZLG_MUST_USE zlg_status zlg_array_coordinates(const zlg_array *array,
                                                      const char *key,
                                                      int64_t *out_coordinates,
                                                      zlg_error *err);
/* Number and bytes of the objects of the grid that are stored. Lists the store. */
ZLG_API ZLG_MUST_USE zlg_status zlg_array_stored(zlg_array *array, uint64_t *out_n_objects,
                                                 uint64_t *out_n_bytes, zlg_error *err);
ZLG_API ZLG_MUST_USE zlg_status zlg_array_stored_call(zlg_array *array,
                                                      uint64_t *out_n_objects,
                                                      uint64_t *out_n_bytes,
                                                      const struct zlg_call *call,
                                                      zlg_error *err);
/* n elements as JSON text: one value for n == 1 and as_list 0, else a flat list. Numbers
 * are shortest round-trip; NaN and infinities are strings; byte strings are base64.
 * Variable-length types: `elements` is a zlg_varlen, of which the first n are taken. */
ZLG_API ZLG_MUST_USE zlg_status zlg_array_format(zlg_array *array, const void *elements,
                                                 size_t n, int as_list, zlg_text *out,
                                                 zlg_error *err);

/* ------------------------------------------------------------------ selections
 *
 * ZLG_BOX     one zlg_axis per axis of the array: a range start, start+step, ... (step
 *             not 0, may be negative), or a list of indices (any order, repeats allowed).
 *             The result has the shape of the counts; an axis of count 1 stays.
 * ZLG_POINTS  n_points positions, coordinate k of axis i in coordinates[i][k]. Result:
 *             one axis of n_points.
 * ZLG_MASK    one byte per element of the array in C order, non-zero selects. Result: one
 *             axis, as many as are set, in C order.
 * ZLG_BLOCKS  like ZLG_BOX but in objects (chunks of the grid, shards where there are
 *             shards): the box of the elements of those objects, clipped to the shape;
 *             step must be 1 and lists are not taken.
 *
 * Indices count from 0 and must lie inside the array: ZLG_RANGE otherwise. Negative
 * indices are the business of the binding. Everything pointed to is borrowed for the
 * length of the call, and must not change while it lasts.
 */
typedef enum zlg_selection_kind {
    ZLG_BOX = 0,
    ZLG_POINTS,
    ZLG_MASK,
    ZLG_BLOCKS
} zlg_selection_kind;

typedef struct zlg_axis {
    int64_t start, step, count;
    const int64_t *list; /* not NULL: count indices; start and step are ignored */
} zlg_axis;

typedef struct zlg_selection {
    zlg_selection_kind kind;
    int rank;                           /* that of the array                             */
    const zlg_axis *axes;               /* ZLG_BOX, ZLG_BLOCKS; NULL: everything         */
    const int64_t *const *coordinates;  /* ZLG_POINTS                                   */
    int64_t n_points;                   /* ZLG_POINTS                                    */
    const uint8_t *mask;                /* ZLG_MASK                                      */
} zlg_selection;

/* Rank and shape of the result; selection NULL: everything. ZLG_MASK counts the mask.
 * Indices of lists and points are not looked at. */
ZLG_API ZLG_MUST_USE zlg_status zlg_selection_shape(const zlg_array *array,
                                                    const zlg_selection *selection,
                                                    int *out_rank,
                                                    int64_t out_shape[ZLG_MAX_RANK],
                                                    zlg_error *err);

/* ------------------------------------------------------------------ reading
 *
 * A read copies a selection into memory of yours; chunks that are not stored give the
 * fill value. Several reads in one call share the work: each object is opened once and
 * each inner chunk decoded once, however many selections and points fall into it.
 *
 * Blocks until done, cancelled or failed; the calling thread decodes too. Of several
 * failures the one of the first object is reported: in C order of the grid, arrays in the
 * order in which they are first named.
 * Memory beyond the targets: at most threads x (largest encoded piece + its decoded
 * form) + 16 MiB, and what sorts a gather. Points: 8 bytes each, 8 more in a shard or 16 in
 * an uncompressed chunk, and 40 for each object and inner chunk that has some. Lists: 32
 * bytes an entry. Masks: 8 bytes for each object. Several reads in a call: up to 100 bytes
 * for each object or inner chunk that one of them touches, and for each read 60 and 56 an
 * axis, once and again in each thread.
 */
typedef struct zlg_target {
    void *data;               /* first element of the result; NULL only without bytes   */
    const ptrdiff_t *strides; /* bytes per step of each result axis; NULL: C order. May
                               * be negative or unaligned; elements must not overlap     */
} zlg_target;

/* Counted by a call, also by one that fails, for tests, benchmarks and the curious. */
typedef struct zlg_stats {
    size_t n_bytes_struct;
    uint64_t n_objects;        /* objects that the plan names                            */
    uint64_t n_opened;         /* objects opened in the store                            */
    uint64_t n_missing;        /* objects that were not there                            */
    uint64_t n_requests;       /* reads made of the store                                */
    uint64_t n_bytes_read;     /* bytes those reads returned                             */
    uint64_t n_chunks;         /* chunks and inner chunks decoded                        */
    uint64_t n_chunks_direct;  /* of these, decoded straight into the target             */
    uint64_t n_chunks_empty;   /* inner chunks that hold only the fill value             */
    uint64_t n_index_hits;     /* shard indexes found in the cache                       */
    uint64_t n_chunk_hits;     /* decoded chunks found in the cache                      */
    uint64_t n_allocations;    /* blocks asked of the allocator by the engine            */
    uint64_t n_stored;         /* objects stored                                         */
    uint64_t n_removed;        /* objects removed, or left out, since they hold only the */
                               /* fill value                                             */
    uint64_t n_encoded;        /* chunks and inner chunks encoded                        */
    uint64_t n_moved;          /* inner chunks kept as they were stored                  */
    uint64_t n_bytes_stored;   /* of the objects stored                                  */
    uint64_t n_again;          /* updates begun anew because another writer was faster   */
    uint64_t n_equal;          /* objects left alone: what is stored is what was written */
} zlg_stats;

#define ZLG_STATS_INIT {.n_bytes_struct = sizeof(zlg_stats)}

/* In which order inner chunks lie in a shard. Readers do not mind. */
typedef enum zlg_inner_order {
    ZLG_MORTON = 0,
    ZLG_LEXICOGRAPHIC = 1,  /* C order: the last axis runs fastest */
    ZLG_COLEXICOGRAPHIC = 2 /* the first axis runs fastest         */
} zlg_inner_order;

/*
 * What a read shows of each chunk (innermost, where there are shards) before its elements
 * are placed: once for each chunk, however many reads of the call want it. Chunks that are
 * not stored are not shown; they are the fill value.
 *
 * The function changes or fills `elements`, or places what it wants itself and sets
 * `placed`. It runs on any thread, several at once; what it is given is valid until it
 * returns; it must not use the context. When it fails the read does: the error names array
 * and chunk, then what `err` says.
 */
typedef struct zlg_read_chunk {
    zlg_array *array;
    const int64_t *coordinates; /* in the grid of (innermost) chunks                     */
    const int64_t *shape;       /* of the chunk, in the axes of the array                */
    const void *bytes;          /* elements; with transform_raw what is stored           */
    size_t n_bytes;
    void *elements;             /* all of the chunk, also beyond the shape of the array: */
                                /* C order, native byte order. Decoded, or with          */
                                /* transform_raw not set yet                             */
    size_t n_bytes_elements;
    int placed;                 /* 0; when the function sets 1, elements are not placed  */
} zlg_read_chunk;
typedef zlg_status (*zlg_transform_fn)(void *user, zlg_read_chunk *chunk, zlg_error *err);

typedef struct zlg_call {
    size_t n_bytes_struct;
    /* From now; 0 or less: none. A call whose work takes longer is ZLG_CANCELLED, also when
     * all of it has been done by then. Clock, `cancel` and `poll` are looked at between
     * chunks and objects, and while many points, reads or elements of variable length are
     * put in order. Not interrupted are a codec with the one chunk that it has in hand, the
     * copy of one that lies in the target as it is stored, and syncs at the end of a write
     * that is to last. */
    int64_t deadline_ms;
    int n_threads;        /* 0: those of the context; else at most so many              */
    /* Called on the calling thread every 50 ms, later while it decodes a large piece, with
     * bytes of results done and in all, which is 0 while the call is planned; non-zero
     * cancels. May be NULL. */
    int (*poll)(void *user, uint64_t n_done, uint64_t n_all);
    void *user;
    const int *cancel;    /* another thread stores non-zero (atomically) to cancel; or   */
                          /* NULL                                                        */
    int missing_is_error; /* 1: an object that is not stored is ZLG_NOT_FOUND            */
    zlg_stats *stats;     /* added to, not reset; may be NULL                            */
    /* Writes. */
    zlg_promise promise;  /* default: that of the array                                  */
    int keep_empty;       /* chunks and inner chunks of only the fill value: 1: stored   */
                          /* like others, so that presence means written; -1: left out;  */
                          /* 0: as the array was opened, which leaves them out by default */
    int loose_fill;       /* 1: for that, -0.0 equals 0.0 in complex types, and a NaN    */
                          /* any other, and an undefined fill value is zero, as          */
                          /* zarr-python has it, and with keep_empty all inner chunks of */
                          /* a shard behind other codecs are stored; 0: bits are compared */
    zlg_inner_order inner_order; /* of the inner chunks in shards that are written; see   */
                                 /* inner_orders                                         */
    /* Reads: one byte for each read of the call: set to 1 when an object that it touches
     * is not stored, else to 0. May be NULL. */
    uint8_t *missing;
    zlg_transform_fn transform; /* reads of fixed-size types: see zlg_read_chunk; or NULL */
    void *transform_user;
    int transform_raw;          /* 1: it gets chunks as they are stored, and decodes them */
    /* Reads: called on any thread with 1 before elements are put into a target, a MiB of
     * them at most, and with 0 when that is done. Non-zero from the former: the memory is
     * not the caller's any more, nothing is put there and the call ends as cancelled. So a
     * caller may leave a call behind that has a large chunk in hand; nothing is decoded
     * straight into a target then. Writes that have it encode copies of the values. May be
     * NULL. */
    int (*placing)(void *user, int begins);
    /* Writes of shards in shards: the order in those of each level, outermost first; those
     * further inside take inner_order. May be NULL. */
    const zlg_inner_order *inner_orders;
    int n_inner_orders;
} zlg_call;

#define ZLG_CALL_INIT {.n_bytes_struct = sizeof(zlg_call)}

typedef struct zlg_read {
    zlg_array *array;
    const zlg_selection *selection; /* NULL: everything */
    zlg_target target;
} zlg_read;

ZLG_API ZLG_MUST_USE zlg_status zlg_array_read(zlg_array *array,
                                               const zlg_selection *selection,
                                               const zlg_target *target,
                                               const zlg_call *call, zlg_error *err);
/* All arrays must belong to one context, and targets must not overlap. Fixed-size types
 * only. */
ZLG_API ZLG_MUST_USE zlg_status zlg_read_many(const zlg_read *reads, size_t n_reads,
                                              const zlg_call *call, zlg_error *err);

/*
 * Variable-length types: element i is bytes[offsets[i]] .. bytes[offsets[i + 1]], in C
 * order of the result (Arrow's large layout). One block; free it with zlg_varlen_free.
 * While it is read the bytes are held twice, and 16 more for each element.
 */
typedef struct zlg_varlen {
    int64_t n;              /* elements */
    const int64_t *offsets; /* n + 1 */
    const uint8_t *bytes;
    void *block;
    size_t n_bytes_block;
    zlg_ctx *ctx;
} zlg_varlen;

ZLG_API ZLG_MUST_USE zlg_status zlg_array_read_varlen(zlg_array *array,
                                                      const zlg_selection *selection,
                                                      zlg_varlen *out, const zlg_call *call,
                                                      zlg_error *err);
ZLG_API void zlg_varlen_free(zlg_varlen *varlen);

/*
 * Encoded chunks, as they are stored: innermost chunks, where there are shards, so that
 * they move from array to array without being decoded. A chunk is named by its coordinates
 * in the grid of chunks of zlg_array_chunk_shape (rectilinear without shards: of objects);
 * outside it is ZLG_RANGE.
 *
 * chunks: for each of n its coordinates. Element i of the result is what is stored of chunk
 * i, no bytes when it is not stored; missing[i] tells these apart: 1 when neither the chunk
 * nor, maybe, its object is stored. missing may be NULL. zlg_call.missing is left alone.
 */
ZLG_API ZLG_MUST_USE zlg_status zlg_array_read_encoded(zlg_array *array,
                                                       const int64_t *chunks, size_t n,
                                                       zlg_varlen *out, uint8_t *missing,
                                                       const zlg_call *call,
                                                       zlg_error *err);

/*
 * The plan of a read as JSON, without reading data: objects, with key, chunks wanted, how
 * they are fetched (whole, ranges, index first) and placed (direct, scattered, fill).
 * With resolve 1 the shard indexes are read and byte ranges given. At most max_objects
 * are listed (all when it is negative); the totals count all:
 *
 *     {"n_objects":1,"n_elements":200,"n_bytes":800,"objects":[{"key":"a/c/0/0",
 *      "fetch":"index, then ranges",               or "whole", "ranges", ...
 *      "missing":true,                             with resolve, when it is not stored;
 *      "n_bytes":9112,"chunks":4,"direct":0,       else the size of the object, inner
 *      "empty":1,                                  chunks by how they are come by,
 *      "index":{"offset":8084,"n_bytes":1028},
 *      "ranges":[{"offset":0,"n_bytes":812,"chunks":4}]}]}
 */
ZLG_API ZLG_MUST_USE zlg_status zlg_array_explain(zlg_array *array,
                                                  const zlg_selection *selection,
                                                  int resolve, int64_t max_objects,
                                                  zlg_text *out, zlg_error *err);
ZLG_API ZLG_MUST_USE zlg_status zlg_array_explain_call(zlg_array *array,
                                                       const zlg_selection *selection,
                                                       int resolve, int64_t max_objects,
                                                       zlg_text *out, const zlg_call *call,
                                                       zlg_error *err);

/* ------------------------------------------------------------------ creating
 *
 * Strict: what is written obeys the specification, with every default recorded, and could
 * be opened again: a document that could not is refused, and nothing stored. So is a chunk
 * (inner chunk of a shard) of more bytes than chunk_bytes, ZLG_LIMIT; an uncompressed one,
 * which is read by range, is not.
 */
typedef struct zlg_array_spec {
    size_t n_bytes_struct;
    int zarr_format;           /* 0 means 3 */
    int rank;
    const int64_t *shape;      /* rank lengths; this and data_type must be given          */
    const int64_t *object_shape; /* chunk of the grid: the shard where chunk_shape is     */
                               /* set. NULL: chosen, see below                            */
    const int64_t *chunk_shape;  /* inner chunk: makes shards (version 3); else NULL      */
    const char *data_type;     /* v3: a name ("float32") or JSON; v2: "<f4" or JSON       */
    const char *fill_value;    /* JSON; NULL: zero of the type                           */
    const char *codecs;        /* v3: JSON list for the (inner) chunk, NULL: bytes and    */
                               /* zstd. One that makes shards itself goes with no         */
                               /* chunk_shape (ZLG_USAGE).                                */
                               /* v2: {"filters": .., "compressor": ..}, NULL: zstd       */
    const char *index_location; /* "end" (NULL) or "start"                               */
    const char *chunk_grid;    /* v3: JSON that replaces the regular grid; or NULL        */
    const char *chunk_key_encoding; /* v3: JSON; NULL: default with "/"                  */
    const char *separator;     /* v2: dimension_separator, NULL: "."                     */
    const char *order;         /* v2: "C" (NULL) or "F"                                  */
    const char *const *dimension_names; /* v3: rank names, NULL entries unnamed; or NULL  */
    const char *attributes;    /* JSON object; NULL: {}                                  */
    int overwrite;             /* 1: first removes the path and all that lies below it   */
    int exist_ok;              /* 1: an array of the same shape and data type that is     */
                               /* there already is opened as it is; another is EXISTS     */
    int python_tokens;         /* 1: attributes may hold NaN, Infinity and -Infinity,     */
                               /* which are no JSON but which Python reads; 0: refused    */
    /* The array of which what is NULL (or rank 0) here is taken: shape, grid, type, fill
     * value, codecs, keys, names, not attributes and not data. zarr_format: 0 or its
     * own. */
    const zlg_array *like;
    int64_t target_chunk_bytes; /* shapes that are chosen; 0: 1 MiB, or 16 MiB unsharded  */
    int64_t target_shard_bytes; /* 0: no shards are chosen (usual: 128 MiB)               */
    zlg_promise promise;       /* of the document, and the default of the handle          */
    int keep_empty;            /* the default of the handle                               */
    const zlg_call *call;      /* overwrite: how long the caller waits for the removal:   */
                               /* cancel, deadline, poll, as of zlg_node_delete; or NULL  */
} zlg_array_spec;

#define ZLG_ARRAY_SPEC_INIT {.n_bytes_struct = sizeof(zlg_array_spec)}

/*
 * Chosen shapes. A chunk begins as the whole array; its longest axis (the first of equals)
 * is halved, rounding up, until it has no more than target_chunk_bytes decoded. A shard
 * begins as one inner chunk; the axis along which most shards are still needed (the first
 * of equals) is doubled until another doubling would pass target_shard_bytes, or the array
 * is covered. An element of variable length counts as 64 bytes.
 *
 * Makes missing parent groups. ZLG_EXISTS when a node is there and overwrite is 0, or when
 * a parent is an array. zarr_format 0 means 3; attributes: a JSON object, or NULL.
 */
ZLG_API ZLG_MUST_USE zlg_status zlg_array_create(zlg_store *store, const char *path,
                                                 const zlg_array_spec *spec,
                                                 zlg_array **out, zlg_error *err);

typedef struct zlg_group_spec {
    size_t n_bytes_struct;
    int zarr_format;        /* 0 means 3 */
    const char *attributes; /* JSON object; NULL: {}                                     */
    int overwrite;          /* 1: first removes the path and all that lies below it      */
    int exist_ok;           /* 1: a group that is there already is opened as it is       */
    int python_tokens;      /* as for arrays                                             */
    zlg_promise promise;    /* default: VISIBLE                                          */
    const zlg_call *call;   /* as for arrays                                             */
} zlg_group_spec;

#define ZLG_GROUP_SPEC_INIT {.n_bytes_struct = sizeof(zlg_group_spec)}

/* spec NULL: an empty group of version 3. */
ZLG_API ZLG_MUST_USE zlg_status zlg_group_create(zlg_store *store, const char *path,
                                                 const zlg_group_spec *spec,
                                                 zlg_group **out, zlg_error *err);

/* ------------------------------------------------------------------ writing
 *
 * A write copies memory of yours into a selection of an array. What is read back is what
 * was written, element for element, bit for bit. An element that a selection (or the
 * selections of one call, in their order) names twice holds what came last.
 *
 * An object that is covered (each of its elements is written, by a box without steps, a
 * mask, or up to eight such boxes of one call) is encoded and put without a look at what
 * was there. Of any other only the inner chunks that are touched are decoded and encoded
 * anew; the rest moves as it is stored, also what lies beyond the shape of the array, which
 * by now may have grown. (Through a handle of a shape that has become smaller since, data
 * is written that shows when the array grows again.) What was there and does not decode is
 * ZLG_CORRUPT, unless all of it that lies inside the array is covered so: then it is
 * replaced. Objects, and inner chunks of a shard, that hold only the fill value are not
 * stored (see keep_empty). What is stored does not depend on the number of threads.
 *
 * Others may write other parts of the same objects at the same time, in this process or
 * another: nothing of theirs is lost, nor of yours. Files are locked while they change (a
 * file system without locks is ZLG_UNSUPPORTED: see no_locks).
 *
 * Each object is stored atomically, with the promise of the call. After a failure some
 * objects are stored and others not, and the error names the first that is not. Which of
 * several failures is reported, deadlines and cancelling: as for reads.
 * Memory beyond yours: for each thread one object in its stored form, old and new, and the
 * largest chunk decoded; the keys that sort a gather are as for reads.
 */
typedef struct zlg_source {
    const void *data;         /* first element; variable length: the bytes of all        */
    const ptrdiff_t *strides; /* bytes per step of each axis of the selection's result;   */
                              /* 0 repeats an element; NULL: C order                     */
    const int64_t *offsets;   /* variable length: element i of the result in C order is   */
                              /* data[offsets[i]] .. data[offsets[i + 1]]; else NULL     */
    int swapped;              /* 1: numbers are in the other byte order than this machine */
} zlg_source;

typedef struct zlg_write {
    zlg_array *array;
    const zlg_selection *selection; /* NULL: everything */
    zlg_source source;
    int replace;                    /* 1: objects that it touches are made anew: what the */
                                    /* call does not name holds the fill value            */
} zlg_write;

ZLG_API ZLG_MUST_USE zlg_status zlg_array_write(zlg_array *array,
                                                const zlg_selection *selection,
                                                const zlg_source *source,
                                                const zlg_call *call, zlg_error *err);
/* All arrays must belong to one context; several of variable length are fine. Each object
 * is put once, however many of the writes fall into it. */
ZLG_API ZLG_MUST_USE zlg_status zlg_write_many(const zlg_write *writes, size_t n_writes,
                                               const zlg_call *call, zlg_error *err);
/* One element everywhere in the selection; variable length: its n_bytes. element NULL: the
 * fill value, so that objects which lie in the selection whole are removed, and those that
 * are not stored are left so, be there never so many (unless keep_empty). */
ZLG_API ZLG_MUST_USE zlg_status zlg_array_fill(zlg_array *array,
                                               const zlg_selection *selection,
                                               const void *element, size_t n_bytes,
                                               const zlg_call *call, zlg_error *err);

/*
 * Encoded chunks are put as they are, unseen: what does not decode is for readers to find
 * out. See zlg_array_read_encoded for their names. Of a shard the other inner chunks move
 * as they are stored; it is put once, with the promises of other writes. A chunk that is
 * given twice holds what came last. keep_empty has no say. ZLG_UNSUPPORTED where codecs lie
 * around a shard.
 */
typedef struct zlg_encoded {
    const int64_t *coordinates; /* of the chunk                                          */
    const void *data;           /* NULL: the chunk is not to be stored                   */
    size_t n_bytes;
} zlg_encoded;

ZLG_API ZLG_MUST_USE zlg_status zlg_array_write_encoded(zlg_array *array,
                                                        const zlg_encoded *chunks, size_t n,
                                                        const zlg_call *call,
                                                        zlg_error *err);

/* ------------------------------------------------------------------ change over time
 *
 * A change of a document is atomic, keeps the members that it does not know, and is made
 * to the document as it is then, not as a handle saw it: two changes at once both land.
 * Handles are snapshots: those that are given back show the change, older ones do not.
 * Consolidated metadata above a node is not touched; it is a copy, made by
 * zlg_group_consolidate.
 */
/* The array as it is stored now. */
ZLG_API ZLG_MUST_USE zlg_status zlg_array_refresh(zlg_array *array, zlg_array **out,
                                                  zlg_error *err);
/*
 * Another shape, of the same rank. What is added holds the fill value; an axis whose edges
 * are listed one by one gets one more, up to its new end. What falls away is
 * lost: objects outside are removed and those on the new border trimmed, so that it does
 * not come back when the array grows. Growing costs one document; shrinking lists the keys
 * of the array. The document comes first, and has a member "zellige_shrinking" until all
 * that lies outside is gone: when removing fails or is stopped, the shape has changed, and
 * the next call that changes it finishes the work first. ZLG_EXISTS, as from append and
 * from what removes the array, while a writer appends to it: see zlg_writer_append. out
 * may be NULL.
 */
ZLG_API ZLG_MUST_USE zlg_status zlg_array_resize(zlg_array *array, const int64_t *shape,
                                                 const zlg_call *call, zlg_array **out,
                                                 zlg_error *err);
/* Adds n along an axis: the source has the shape of the array with n on that axis. Data
 * first, then the shape; appends at the same time, also by other processes, come one after
 * the other. out may be NULL. */
ZLG_API ZLG_MUST_USE zlg_status zlg_array_append(zlg_array *array, int axis, int64_t n,
                                                 const zlg_source *source,
                                                 const zlg_call *call, zlg_array **out,
                                                 zlg_error *err);

typedef struct zlg_edit_options {
    size_t n_bytes_struct;
    zlg_promise promise; /* default: VISIBLE                                             */
    int replace;         /* attributes: 1: the given ones instead of all; 0: merged, name */
                         /* by name, at the top level                                    */
    const char *const *remove; /* attributes: names that go first, those there are; or    */
                         /* NULL                                                         */
    int n_remove;
    int python_tokens;   /* as for arrays that are created; consolidated: copied          */
    const zlg_call *call; /* how long the caller waits: cancel, deadline, poll; or NULL   */
} zlg_edit_options;

#define ZLG_EDIT_OPTIONS_INIT {.n_bytes_struct = sizeof(zlg_edit_options)}

/* Attributes of the array or group at a path: a JSON object, or NULL for none. */
ZLG_API ZLG_MUST_USE zlg_status zlg_node_set_attributes(zlg_store *store, const char *path,
                                                        const char *attributes,
                                                        const zlg_edit_options *options,
                                                        zlg_error *err);
/* Removes a node and all below it. ZLG_NOT_FOUND when there is none. Of the call cancel,
 * deadline_ms and poll count. A removal that is stopped, or fails, leaves groups with the
 * members that are not gone yet, each whole, and in the place of the array that it was at
 * an empty group: the same call again finishes it. */
ZLG_API ZLG_MUST_USE zlg_status zlg_node_delete(zlg_store *store, const char *path,
                                                const zlg_call *call, zlg_error *err);
/* Moves a node and all below it to a path where nothing is (ZLG_EXISTS) and whose parent is
 * a group. One step where the store can, as files can; else ZLG_UNSUPPORTED. The call, as
 * above, can stop it before that step. */
ZLG_API ZLG_MUST_USE zlg_status zlg_node_rename(zlg_store *store, const char *from,
                                                const char *to, const zlg_call *call,
                                                zlg_error *err);
/* Writes (or writes anew) the consolidated metadata of a group: the documents of all nodes
 * below it, in its own document (v2: .zmetadata). NaN, Infinity and -Infinity in them are
 * refused by name (ZLG_USAGE), unless python_tokens is 1 or that document has some. */
ZLG_API ZLG_MUST_USE zlg_status zlg_group_consolidate(zlg_store *store, const char *path,
                                                      const zlg_edit_options *options,
                                                      zlg_error *err);

#ifdef __cplusplus
}
#endif
#endif
