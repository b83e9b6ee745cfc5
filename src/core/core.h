/*
 * core: contexts, arrays, groups and hierarchies: where metadata, codecs, stores and the
 * engine meet. Implements include/zellige.h.
 *
 * Reference counts: a context is kept by its stores, a store by its arrays and groups.
 * An array or group owns one arena that holds its documents and everything parsed from
 * them; it is immutable once open.
 */
#ifndef ZLGI_CORE_H
#define ZLGI_CORE_H

#include "engine/engine.h"
#include "meta/meta.h"

struct zlg_ctx {
    zlgi_alloc alloc;
    zlg_limits limits;
    int n_refs;             /* atomic */
    uint64_t next_store_id; /* atomic */
    zlgi_engine engine;
};

void zlgi_ctx_ref(zlg_ctx *ctx);
void zlgi_store_ref(zlg_store *store);
/* Takes over a store that a kind has made: gives it its id and its reference to ctx. */
void zlgi_store_adopt(zlg_ctx *ctx, zlg_store *store);

struct zlg_array {
    int n_refs; /* atomic */
    zlg_store *store;
    zlgi_arena arena;
    const char *path;
    zlgi_array_meta meta;
    zlgi_source source; /* for the engine */
    int64_t object_shape[ZLG_MAX_RANK];
    int64_t chunk_shape[ZLG_MAX_RANK];
    bool sharded;
    zlg_promise promise; /* of writes that ask for none */
    bool keep_empty;     /* likewise */
};

/*
 * A consolidated view: the flat map of a group high up, and where in it a node lies.
 * Shared by the groups opened through it.
 */
typedef struct zlgi_hierarchy {
    int n_refs; /* atomic */
    const zlgi_alloc *alloc;
    zlgi_arena arena;
    const zlgi_json *map; /* path → document; v2: key → document */
    int zarr_format;
    const char *base; /* path in the store that the map's names are relative to */
} zlgi_hierarchy;

struct zlg_group {
    int n_refs; /* atomic */
    zlg_store *store;
    zlgi_arena arena;
    const char *path;
    zlgi_group_meta meta;
    zlgi_hierarchy *hierarchy; /* NULL: ask the store */
};

/* The documents of a node, wherever they come from; in the arena. */
typedef struct zlgi_node_documents {
    zlg_node kind;
    int zarr_format;
    const zlgi_json *document;   /* zarr.json, .zarray or .zgroup */
    const zlgi_json *attributes; /* v2: .zattrs, or NULL */
} zlgi_node_documents;

/* node.c: from the store. kind is ZLG_NODE_NONE when there is nothing. */
zlg_status zlgi_node_load(zlg_store *store, const char *path, int zarr_format,
                          zlgi_arena *arena, zlgi_node_documents *out, zlg_error *err);
/* hierarchy.c: from consolidated metadata; path relative to the store. */
zlg_status zlgi_hierarchy_find(const zlgi_hierarchy *hierarchy, const char *path,
                               zlgi_node_documents *out, zlg_error *err);
zlgi_hierarchy *zlgi_hierarchy_ref(zlgi_hierarchy *hierarchy);
void zlgi_hierarchy_unref(zlgi_hierarchy *hierarchy);

/* array.c: builds the array from its documents, which lie in array->arena. */
zlg_status zlgi_array_build(zlg_array *array, const zlgi_node_documents *documents,
                            bool writing, zlg_error *err);
/* An array or group with its arena and path; nothing else. */
zlg_status zlgi_array_new(zlg_store *store, const char *path, zlg_array **out,
                          zlg_error *err);
zlg_status zlgi_group_new(zlg_store *store, const char *path, zlg_group **out,
                          zlg_error *err);
zlg_status zlgi_group_build(zlg_group *group, const zlgi_node_documents *documents,
                            zlg_error *err);

/* ctx.c: a struct of options that starts with its size, or NULL, into `room` of n_room
 * bytes. That of an older caller is shorter: what it does not know is zero. USAGE when it
 * was not started from its macro. */
zlg_status zlgi_options_read(const void *given, const char *macro, void *room,
                             size_t n_room, zlg_error *err);
/* node.c: the same, and a version that there is. */
zlg_status zlgi_open_options_read(const zlg_open_options *given, zlg_open_options *room,
                                  zlg_error *err);
/* array_read.c */
zlg_status zlgi_call_read(const zlg_call *given, zlg_call *room, zlg_error *err);

/* A key below a path: "path/name", or "name" for the root. */
enum { ZLGI_NAME_MAX = 4096 };
zlg_status zlgi_join(const char *path, const char *name, char out[ZLGI_NAME_MAX],
                     zlg_error *err);
/* A document, with the attributes of version 2 (or NULL) as a member. */
zlg_status zlgi_document_text(zlg_ctx *ctx, const zlgi_json *document,
                              const zlgi_json *attributes, zlg_text *out, zlg_error *err);
zlg_status zlgi_json_text(zlg_ctx *ctx, const zlgi_json *json, int indent, zlg_text *out,
                          zlg_error *err);

#endif
