/*
 * core: contexts, arrays, groups and hierarchies: where metadata, codecs, stores and the
 * engine meet. Implements include/zellige.h.
 *
 * Reference counts: a context is kept by its stores, a store by its arrays and groups.
 * An array or group has one arena that holds its documents and everything parsed from
 * them; it is immutable once open. Arrays over several stores share it.
 */
#ifndef ZLGI_CORE_H
#define ZLGI_CORE_H

#include <pthread.h>

#include "engine/engine.h"
#include "meta/meta.h"

/* ------------------------------------------------------------------ patience (patience.c)
 * How long the caller of a call waits. */
typedef struct zlgi_patience {
    const zlg_call *call;
    uint64_t deadline_ns, poll_ns;
    uint64_t n_done, n_all; /* told by its poll */
} zlgi_patience;
void zlgi_patience_init(zlgi_patience *patience, const zlg_call *call);
/* The same of a call as it was given, which may be NULL. */
zlg_status zlgi_patience_read(const zlg_call *given, zlg_call *call,
                              zlgi_patience *patience, zlg_error *err);
/* CANCELLED when it is at its end. */
zlg_status zlgi_patience_check(zlgi_patience *patience, zlg_error *err);
int zlgi_patience_waiting(void *patience);           /* for transactions */
zlgi_txn zlgi_patience_txn(zlgi_patience *patience); /* for what a store lists or sweeps */
/* The call with the time that is left. */
zlg_call zlgi_patience_rest(const zlgi_patience *patience);

/* ------------------------------------------------------------------ turns (turn.c)
 * Those who change the shape of one array in this process come one after the other. */
typedef struct zlgi_turn {
    const zlg_store *store;
    const char *path;
    pthread_t owner;
    struct zlgi_turn *next;
} zlgi_turn;
typedef struct zlgi_turns {
    bool is_ready;
    zlgi_fork_mark mark;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    zlgi_turn *first; /* those that are taken */
} zlgi_turns;
bool zlgi_turns_init(zlgi_turns *turns);
void zlgi_turns_reset(zlgi_turns *turns);
/* USAGE from a callback of a call that has the turn: it would wait for itself. */
zlg_status zlgi_turn_take(zlgi_turns *turns, zlgi_turn *turn, zlgi_patience *patience,
                          zlg_error *err);
/* USAGE when this thread has the turn of an array at the path or below it. */
zlg_status zlgi_turn_check(zlgi_turns *turns, const zlg_store *store, const char *path,
                           zlg_error *err);
void zlgi_turn_give(zlgi_turns *turns, zlgi_turn *turn);

/* ------------------------------------------------------------------ claims (claims.c)
 * Objects that one writer alone writes, first to last of each axis; or the end of an array,
 * for a writer that appends, or for calls that change the shape or remove it. */
typedef enum zlgi_end { ZLGI_END_NONE, ZLGI_END_ALONE, ZLGI_END_TOGETHER } zlgi_end;
typedef struct zlgi_claim {
    const void *owner;
    uint64_t store_id;
    const char *path;
    bool has_folder;       /* then that tells which array it is, */
    zlgi_folder_id folder; /* through whatever store it is reached */
    zlgi_end end;          /* or none: objects */
    int rank;
    int64_t first[ZLG_MAX_RANK], last[ZLG_MAX_RANK];
    bool is_taken;
    struct zlgi_claim *next;
} zlgi_claim;
typedef struct zlgi_claims {
    bool is_ready;
    zlgi_fork_mark mark;
    pthread_mutex_t lock;
    zlgi_claim *first;
} zlgi_claims;
bool zlgi_claims_init(zlgi_claims *claims);
void zlgi_claims_reset(zlgi_claims *claims);
/* Where the objects of an array lie as files. False: they are none. */
bool zlgi_array_folder(const zlg_store *store, const char *path, char out[ZLGI_FOLDER_MAX]);
/* Of no objects yet. */
zlgi_claim zlgi_claim_of(const zlg_store *store, const char *path, int rank,
                         const void *owner);
/* EXISTS when it shares an object with one of another owner. */
zlg_status zlgi_claim_take(zlgi_claims *claims, zlgi_claim *claim, zlg_error *err);
void zlgi_claim_give(zlgi_claims *claims, zlgi_claim *claim);
/* The end of an array, whose path stays where it is, in this context and, where it lies in
 * files, among all processes. EXISTS when others have it, unless all have it together. */
typedef struct zlgi_hold {
    zlgi_claim claim;
    int folder;
} zlgi_hold;
zlg_status zlgi_end_take(zlg_store *store, const char *path, zlgi_end end, zlgi_hold *hold,
                         zlg_error *err);
void zlgi_end_give(zlgi_claims *claims, zlgi_hold *hold); /* also of a hold of zeros */

/* ------------------------------------------------------------------ handles */

struct zlg_ctx {
    zlgi_alloc alloc;
    zlg_limits limits;
    int n_refs;             /* atomic */
    uint64_t next_store_id; /* atomic */
    zlgi_engine engine;
    zlgi_turns turns;
    zlgi_claims claims;
    zlgi_registry registry; /* codecs and more that the caller has made known */
};

void zlgi_ctx_ref(zlg_ctx *ctx);
void zlgi_store_ref(zlg_store *store);
/* Takes over a store that a kind has made: gives it its id and its reference to ctx. */
void zlgi_store_adopt(zlg_ctx *ctx, zlg_store *store);

/* The arena of an array, which all its handles keep. It needs the context, no store. */
typedef struct zlgi_parsed {
    int n_refs; /* atomic */
    zlgi_arena arena;
} zlgi_parsed;

struct zlg_array {
    zlg_store *store;
    zlgi_parsed *parsed;
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
/* One document; NOT_FOUND without a message when there is none. */
zlg_status zlgi_document_get(zlg_store *store, const char *path, const char *name,
                             zlgi_arena *arena, const zlgi_json **out, zlg_error *err);
/* members.c: zlg_group_members, as long as the caller waits. */
zlg_status zlgi_group_members(zlg_group *group, bool recursive, zlgi_patience *patience,
                              zlg_member_fn each, void *user, zlg_error *err);
/* hierarchy.c: from consolidated metadata; path relative to the store. */
zlg_status zlgi_hierarchy_find(const zlgi_hierarchy *hierarchy, const char *path,
                               zlgi_node_documents *out, zlg_error *err);
zlgi_hierarchy *zlgi_hierarchy_ref(zlgi_hierarchy *hierarchy);
void zlgi_hierarchy_unref(zlgi_hierarchy *hierarchy);

/* array.c: builds the array from its documents, which lie in its arena. */
zlg_status zlgi_array_build(zlg_array *array, const zlgi_node_documents *documents,
                            bool writing, zlg_error *err);
/* Options have been read, the path checked; the error does not name it. */
zlg_status zlgi_array_open(zlg_store *store, const char *path,
                           const zlg_open_options *options, zlg_array **out,
                           zlg_error *err);
/* What writes go by that ask for nothing; a promise of 0 is the usual one. */
void zlgi_array_set_defaults(zlg_array *array, zlg_promise promise, bool keep_empty);
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
zlg_status zlgi_promise_check(zlg_promise promise, zlg_error *err);
/* node.c: the same, and a version that there is. */
zlg_status zlgi_open_options_read(const zlg_open_options *given, zlg_open_options *room,
                                  zlg_error *err);
/* node_edit.c: the same, and what else is true of all who edit nodes: how long they wait,
 * too. */
typedef struct zlgi_edit {
    zlg_edit_options options;
    zlg_call call;
    zlgi_patience patience;
} zlgi_edit;
zlg_status zlgi_edit_read(const zlg_store *store, const char *path,
                          const zlg_edit_options *given, zlgi_edit *room, zlg_error *err);
/* array_read.c */
zlg_status zlgi_call_read(const zlg_call *given, zlg_call *room, zlg_error *err);
/* array_write.c: the same of a write: what is left open is as the array was opened. */
/* Promise and emptiness of a write into an array. */
void zlgi_request_settle(zlgi_request *request, const zlg_array *array,
                         const zlg_call *call);
zlg_status zlgi_call_settle(const zlg_array *array, const zlg_call *given, zlg_call *room,
                            zlg_error *err);
/* ctx.c: zlg_store_list, as long as the caller waits, for those whose error names the
 * store. */
zlg_status zlgi_store_list(zlg_store *store, const char *prefix, bool delimited,
                           zlgi_patience *patience, zlg_list_fn each, void *user,
                           zlg_error *err);
/* The fill value instead of what is stored, if it can be read. call: settled. */
zlg_status zlgi_array_clear(zlg_array *array, const zlg_selection *selection,
                            const zlg_call *call, zlg_error *err);
/* boxes.c: requests of which each is a box of its own, at most so many as it was made for.
 * next: the axes of the one that is added next, for the caller to set. */
typedef struct zlgi_boxes {
    int rank;
    zlgi_request *requests;
    zlg_selection *selections;
    zlg_axis *axes;
    size_t n;
} zlgi_boxes;
zlg_status zlgi_boxes_make(zlgi_boxes *boxes, zlgi_arena *arena, size_t n_most, int rank,
                           zlg_error *err);
zlg_axis *zlgi_boxes_next(const zlgi_boxes *boxes);
void zlgi_boxes_add(zlgi_boxes *boxes, const zlgi_request *request);
/* stored.c: which objects of a box, from first to last on each axis and not empty, are
 * stored, by asking for each, if the store can be asked and the box is not too large. Their
 * coordinates are appended; no more than one over `most`. CANCELLED in between. */
bool zlgi_stored_can_ask(const zlg_array *array, const int64_t *first, const int64_t *last);
zlg_status zlgi_stored_ask(const zlg_array *array, const int64_t *first,
                           const int64_t *last, size_t most, zlgi_patience *patience,
                           zlgi_buf *out, zlg_error *err);
/* clear.c: a fill of a large box of which few objects are stored, as one of these; *out_n
 * SIZE_MAX: it is none. */
zlg_status zlgi_clear_stored(const zlg_array *array, zlgi_patience *patience,
                             const zlgi_request *fill, zlgi_arena *arena,
                             zlgi_request **out, size_t *out_n, zlg_error *err);
/* ctx.c: UNSUPPORTED when the store lacks a capability ("be written"). */
zlg_status zlgi_store_needs(const zlg_store *store, unsigned capability, const char *what,
                            zlg_error *err);
/* ctx.c: how every error of a store and of a node begins: "data.zarr: ..." and
 * "data.zarr: array a/b: ...", unless it does so already. */
zlg_status zlgi_store_within(const zlg_store *store, zlg_status status, zlg_error *err);
zlg_status zlgi_node_within(const zlg_store *store, const char *kind, const char *path,
                            zlg_status status, zlg_error *err);
zlg_status zlgi_array_within(const zlg_array *array, zlg_status status, zlg_error *err);
/* ctx.c: may the path name a node; and may one be changed there. The error names the
 * store. */
zlg_status zlgi_path_check(const zlg_store *store, const char *path, zlg_error *err);
zlg_status zlgi_change_check(const zlg_store *store, const char *path, zlg_error *err);

/* ------------------------------------------------------------------ ext_document.c
 *
 * Data types and chunk key encodings of the caller's. A document that names one becomes
 * one that names what stands for it; *out is the document itself when there is nothing.
 * The keys are set when they are the caller's. */
zlg_status zlgi_ext_resolve(zlg_array *array, const zlgi_json *document,
                            const zlgi_json **out, zlgi_key_encoding *keys, zlg_error *err);
/* The same of what is to be created; and back, when its document is made: text and tree. */
typedef struct zlgi_ext_names {
    const zlgi_json *data_type, *fill_value, *keys; /* as the caller gave them; or NULL */
} zlgi_ext_names;
zlg_status zlgi_ext_spec(zlg_array *array, zlg_array_spec *spec, zlgi_ext_names *out,
                         zlg_error *err);
zlg_status zlgi_ext_restore(zlg_array *array, const zlgi_ext_names *names, zlgi_buf *text,
                            const zlgi_json **document, zlg_error *err);
/* ext_type.c, ext_keys.c: what is registered under a name; NULL when nothing is. */
struct zlgi_ext_type;
const struct zlgi_ext_type *zlgi_ext_type_find(const zlgi_registry *registry,
                                               const char *name);
/* The built-in type, and a fill value (or NULL) in its words. */
zlg_status zlgi_ext_type_resolve(const struct zlgi_ext_type *type, zlgi_arena *arena,
                                 const zlg_limits *limits, const zlgi_json *configuration,
                                 const zlgi_json *fill, const zlgi_json **out_type,
                                 const zlgi_json **out_fill, zlg_error *err);
const char *zlgi_ext_type_default(const struct zlgi_ext_type *type);
zlg_status zlgi_ext_type_register(zlgi_registry *registry,
                                  const zlg_data_type_methods *methods, void *self,
                                  const zlg_limits *limits, zlg_error *err);
struct zlgi_ext_keys;
const struct zlgi_ext_keys *zlgi_ext_keys_find(const zlgi_registry *registry,
                                               const char *name);
zlg_status zlgi_ext_keys_make(const struct zlgi_ext_keys *keys, zlgi_arena *arena,
                              const zlgi_json *configuration, int rank,
                              zlgi_key_encoding *out, zlg_error *err);
zlg_status zlgi_ext_keys_register(zlgi_registry *registry, const zlg_key_methods *methods,
                                  void *self, zlg_error *err);

/* A key below a path: "path/name", or "name" for the root. */
enum { ZLGI_NAME_MAX = 4096 };
zlg_status zlgi_join(const char *path, const char *name, char out[ZLGI_NAME_MAX],
                     zlg_error *err);
/* ------------------------------------------------------------------ changes
 *
 * document.c: a text that could not be read back, having more bytes or levels than the
 * limits allow, is LIMIT. */
zlg_status zlgi_document_check(zlg_store *store, const zlgi_buf *text, zlg_error *err);
/* A document of a node is put, or with text NULL removed. */
zlg_status zlgi_document_put(zlg_store *store, const char *path, const char *name,
                             zlgi_change change, zlg_promise promise, const zlgi_buf *text,
                             zlg_error *err);
typedef struct zlgi_document_edit {
    const char *path, *name; /* of the node; of the document */
    zlg_promise promise;     /* 0: VISIBLE */
    zlgi_patience *patience; /* NULL: has no end */
    /* Is given the document as it is, or NULL when there is none, and writes the new one;
     * when it writes nothing, the document stays. What it puts into the arena lives until
     * the call is over. Nobody else changes the document meanwhile; or somebody does, then
     * nothing is stored and this is called again. */
    zlg_status (*change)(void *user, const zlgi_json *document, zlgi_arena *arena,
                         zlgi_buf *out, zlg_error *err);
    void (*undo)(void *user); /* what was changed could not be stored; or NULL */
    void *user;
    bool in_turn; /* the caller has the turn of this array */
} zlgi_document_edit;
zlg_status zlgi_document_change(zlg_store *store, const zlgi_document_edit *edit,
                                zlg_error *err);

/* remove.c: a node with all below it. */
zlg_status zlgi_node_remove(zlg_store *store, const char *path, zlgi_patience *patience,
                            zlg_error *err);
/* room.c: what lies at a path; is there room for a node; the groups above it, which are
 * made when missing, unless zarr_format is 0. */
zlg_status zlgi_kind_at(zlg_store *store, const char *path, int zarr_format, zlg_node *out,
                        zlg_error *err);
/* The version of the node that lies there: NOT_FOUND when none does. */
zlg_status zlgi_format_at(zlg_store *store, const char *path, int *out, zlg_error *err);
zlg_status zlgi_make_room(zlg_store *store, const char *path, bool overwrite,
                          const zlg_call *call, zlg_error *err);
zlg_status zlgi_make_parents(zlg_store *store, const char *path, int zarr_format,
                             zlg_promise promise, zlg_error *err);
/* Documents of a group; version 2: attributes NULL leaves .zattrs as it is. */
zlg_status zlgi_group_put(zlg_store *store, const char *path, int zarr_format,
                          const zlgi_json *attributes, zlgi_change change,
                          zlg_promise promise, zlg_error *err);
zlg_status zlgi_group_check(zlg_store *store, int zarr_format, const zlgi_json *attributes,
                            zlg_error *err);
/* .zattrs; none without attributes. */
zlg_status zlgi_attributes_check(zlg_store *store, const zlgi_json *attributes,
                                 zlg_error *err);
zlg_status zlgi_attributes_put(zlg_store *store, const char *path,
                               const zlgi_json *attributes, zlg_promise promise,
                               zlg_error *err);

/* like.c: puts what a spec leaves open into it: its version, and what `like` has. */
zlg_status zlgi_spec_complete(zlgi_arena *arena, zlg_array_spec *spec, zlg_error *err);

/* check.c: can the array be written, and all of it be read back? */
zlg_status zlgi_array_check(const zlg_array *array, zlg_error *err);
/* The same of a rectilinear grid alone: each of its edges. */
zlg_status zlgi_array_check_edges(const zlg_array *array, zlg_error *err);
/* Equal shapes and, in memory, equal elements. */
bool zlgi_same_elements(const zlg_array *a, const zlg_array *b);
bool zlgi_same_type(const zlgi_dtype *a, const zlgi_dtype *b);

/* reshape.c: the document with another shape (NULL: as it is) as text, and the array of
 * it, with the path and the defaults of the old one. */
zlg_status zlgi_array_reshape(const zlg_array *old, const zlgi_json *document,
                              const int64_t *shape, zlgi_arena *arena, zlgi_buf *text,
                              zlg_array **out, zlg_error *err);
/* The shape in a document of the array (or NULL) as it is by now. */
zlg_status zlgi_array_stored_shape(const zlg_array *array, const zlgi_json *document,
                                   int64_t out[ZLG_MAX_RANK], zlg_error *err);
const char *zlgi_array_document(const zlg_array *array); /* its name */
/* trim.c: removes what is stored outside the shape along the axes that became shorter, or
 * with NULL along all. The call is settled. */
zlg_status zlgi_array_trim(const zlg_array *array, const bool *shorter,
                           const zlg_call *call, zlgi_patience *patience, zlg_error *err);
/* array_write.c: one write; the call is settled, the error does not name the array. */
zlg_status zlgi_array_write(const zlg_write *write, const zlg_call *call, zlg_error *err);

/* ------------------------------------------------------------------ text
 *
 * A document, with the attributes of version 2 (or NULL) as a member. */
zlg_status zlgi_document_text(zlg_ctx *ctx, const zlgi_json *document,
                              const zlgi_json *attributes, zlg_text *out, zlg_error *err);
zlg_status zlgi_json_text(zlg_ctx *ctx, const zlgi_json *json, int indent, zlg_text *out,
                          zlg_error *err);

#endif
