/*
 * What the files of the JSON parser share: where it stands, and how it fails.
 *
 * A function that reads takes the first byte of what it reads and returns the byte after
 * it, or NULL with the failure in ps->status.
 */
#ifndef ZLGI_JSON_PARSER_H
#define ZLGI_JSON_PARSER_H

#include "base/base.h"

typedef struct zlgi_name_hash {
    uint64_t hash;
    const zlgi_json *member;
} zlgi_name_hash;

typedef struct zlgi_json_parser {
    zlgi_arena *arena;
    char *start; /* the copy of the document */
    char *end;   /* 8 zeros follow, so a scan may load eight bytes anywhere before */
    int max_depth;
    int depth;        /* containers open */
    zlgi_json *open;  /* innermost of them; its `next` is the one around it */
    zlgi_json **tail; /* where the next node belongs */
    zlgi_json *nodes; /* not yet used */
    int n_nodes;
    zlgi_name_hash *names; /* room for 2 x n_names, kept from object to object */
    size_t n_names;
    zlg_status status;
    zlg_error *err;
} zlgi_json_parser;

/* All return NULL: no memory; a rule broken at p; c found at p, and something else
 * expected. */
char *zlgi_json_no_memory(zlgi_json_parser *ps, size_t n_bytes);
char *zlgi_json_malformed(zlgi_json_parser *ps, const char *p, const char *rule);
char *zlgi_json_unexpected(zlgi_json_parser *ps, const char *p, char c,
                           const char *expected);
static inline size_t zlgi_json_position(const zlgi_json_parser *ps, const char *p)
{
    return (size_t)(p - ps->start);
}

/* Decodes a string in place, p after its opening quote: the text then begins at p and has
 * a NUL behind it. (json_string.c) */
char *zlgi_json_read_string(zlgi_json_parser *ps, char *p, uint32_t *out_n);
/* False when two members of an object have one name, or memory is short. (json_names.c) */
bool zlgi_json_check_names(zlgi_json_parser *ps, const zlgi_json *object);

#endif
