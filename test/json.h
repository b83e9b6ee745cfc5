/*
 * What the tests of JSON share: one document in an arena of its own.
 */
#ifndef ZELLIGE_TEST_JSON_H
#define ZELLIGE_TEST_JSON_H

#include <stdio.h>

#include "test.h"

enum { DEPTH = 16 };

/* One document in an arena of its own. */
typedef struct parsed {
    zlgi_arena arena;
    const zlgi_json *value;
    zlg_status status;
    zlg_error err;
} parsed;

/* The text lies in a block of exactly its size, so that reading past it is seen. */
static inline void parse_bytes(parsed *p, const void *text, size_t n)
{
    char *exact = malloc(n > 0 ? n : 1);
    assert_non_null(exact);
    memcpy(exact, text, n);
    p->value = NULL;
    zlgi_arena_init(&p->arena, &zlgi_default_alloc);
    p->status = zlgi_json_parse(&p->arena, exact, n, DEPTH, &p->value, &p->err);
    free(exact);
    assert_true((p->status == ZLG_OK) == (p->value != NULL));
}

static inline const zlgi_json *parse(parsed *p, const char *text)
{
    parse_bytes(p, text, strlen(text));
    if (p->status != ZLG_OK)
        print_message("%s: %s\n", text, p->err.message);
    assert_int_equal(p->status, ZLG_OK);
    return p->value;
}

static inline void done(parsed *p)
{
    zlgi_arena_reset(&p->arena);
}

static inline void assert_refused(const void *text, size_t n, const char *message)
{
    parsed p;
    parse_bytes(&p, text, n);
    assert_int_equal(p.status, ZLG_METADATA);
    assert_int_equal(p.err.status, ZLG_METADATA);
    assert_memory_equal(p.err.message, "JSON: ", 6);
    assert_string_equal(p.err.message + 6, message);
    done(&p);
}

#endif
