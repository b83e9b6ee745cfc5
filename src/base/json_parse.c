/*
 * JSON text to a tree (RFC 8259, and Python's NaN, Infinity and -Infinity).
 *
 * The document is copied once into the arena with zeros behind it; strings are decoded
 * and ended in place, so text costs no allocation and a scan may read eight bytes without
 * asking where the document ends. The loop keeps no stack: an open container holds the
 * one around it in `next`, which it does not need before it is closed.
 *
 * Knows bytes and positions; refuses to know what a number is worth or a member means.
 */
#include "base/json_parser.h"

enum {
    PADDING = 8,    /* zeros behind the copy */
    NODE_BATCH = 32 /* nodes taken from the arena at once */
};

char *zlgi_json_no_memory(zlgi_json_parser *ps, size_t n_bytes)
{
    ps->status = zlgi_no_memory(ps->err, n_bytes);
    return NULL;
}

char *zlgi_json_malformed(zlgi_json_parser *ps, const char *p, const char *rule)
{
    ps->status = zlgi_fail(ps->err, ZLG_METADATA, "JSON: byte %zu: %s",
                           zlgi_json_position(ps, p), rule);
    return NULL;
}

char *zlgi_json_unexpected(zlgi_json_parser *ps, const char *p, char c,
                           const char *expected)
{
    size_t position = zlgi_json_position(ps, p);
    if (p == ps->end)
        ps->status = zlgi_fail(ps->err, ZLG_METADATA,
                               "JSON: the document ends at byte %zu, expected %s", position,
                               expected);
    else if (c > ' ' && c <= '~')
        ps->status =
            zlgi_fail(ps->err, ZLG_METADATA, "JSON: byte %zu: found '%c', expected %s",
                      position, c, expected);
    else
        ps->status = zlgi_fail(ps->err, ZLG_METADATA,
                               "JSON: byte %zu: found byte 0x%02x, expected %s", position,
                               (unsigned)(uint8_t)c, expected);
    return NULL;
}

/* ------------------------------------------------------------------ values */

static char *skip_space(char *p)
{
    if ((uint8_t)*p > ' ')
        return p;
    for (;;) {
        while (zlgi_load_u64le(p) == UINT64_C(0x2020202020202020))
            p += 8;
        if (*p != ' ' && *p != '\n' && *p != '\r' && *p != '\t')
            return p;
        p++;
    }
}

static zlgi_json *new_node(zlgi_json_parser *ps)
{
    const size_t n_bytes = NODE_BATCH * sizeof(zlgi_json);
    if (ps->n_nodes == 0) {
        ps->nodes = zlgi_arena_get(ps->arena, n_bytes);
        if (ps->nodes == NULL) {
            zlgi_json_no_memory(ps, n_bytes);
            return NULL;
        }
        ps->n_nodes = NODE_BATCH;
    }
    ps->n_nodes--;
    *ps->nodes = (zlgi_json){0};
    return ps->nodes++;
}

/* "name" : with p at the quote; returns what follows the colon. */
static char *read_name(zlgi_json_parser *ps, char *p, zlgi_json *member)
{
    if (*p != '"')
        return zlgi_json_unexpected(ps, p, *p, "a member name");
    member->name = p + 1;
    p = zlgi_json_read_string(ps, p + 1, &member->n_name);
    if (p == NULL)
        return NULL;
    p = skip_space(p);
    if (*p != ':')
        return zlgi_json_unexpected(ps, p, *p, "':'");
    return skip_space(p + 1);
}

/* A number or one of the tokens, whose NUL the caller sets. */
static char *read_number(zlgi_json_parser *ps, char *p, zlgi_json *node)
{
    size_t n = zlgi_number_span(p, (size_t)(ps->end - p));
    if (n == 0) {
        bool minus = *p == '-';
        if (memcmp(p, "NaN", 3) == 0)
            n = 3;
        else if (memcmp(p + minus, "Infinity", 8) == 0)
            n = 8u + minus;
        else if (minus)
            return zlgi_json_malformed(ps, p, "'-' without a number");
        else
            return zlgi_json_unexpected(ps, p, *p, "a value");
    }
    node->type = ZLGI_JSON_NUMBER;
    node->text = p;
    node->n_text = (uint32_t)n;
    p += n;
    if ((*p >= '0' && *p <= '9') || *p == '.' || *p == 'e' || *p == 'E')
        return zlgi_json_malformed(ps, node->text, "malformed number");
    return p;
}

/* Everything but objects and arrays. */
static char *read_scalar(zlgi_json_parser *ps, char *p, zlgi_json *node)
{
    switch (*p) {
    case '"':
        node->type = ZLGI_JSON_STRING;
        node->text = p + 1;
        return zlgi_json_read_string(ps, p + 1, &node->n_text);
    case 't':
        node->type = ZLGI_JSON_TRUE;
        return memcmp(p, "true", 4) == 0 ? p + 4
                                         : zlgi_json_malformed(ps, p, "expected true");
    case 'f':
        node->type = ZLGI_JSON_FALSE;
        return memcmp(p, "false", 5) == 0 ? p + 5
                                          : zlgi_json_malformed(ps, p, "expected false");
    case 'n':
        node->type = ZLGI_JSON_NULL;
        return memcmp(p, "null", 4) == 0 ? p + 4
                                         : zlgi_json_malformed(ps, p, "expected null");
    default:
        return read_number(ps, p, node);
    }
}

/* ------------------------------------------------------------------ documents */

static char closing_bracket(const zlgi_json *container)
{
    return container->type == ZLGI_JSON_OBJECT ? '}' : ']';
}

/* p at the bracket that closes; returns what follows. */
static char *close_container(zlgi_json_parser *ps, char *p)
{
    zlgi_json *node = ps->open;
    if (node->type == ZLGI_JSON_OBJECT && !zlgi_json_check_names(ps, node))
        return NULL;
    ps->depth--;
    ps->open = node->next;
    node->next = NULL;
    ps->tail = &node->next;
    return skip_space(p + 1);
}

/* p at the bracket that opens; returns what follows. Closes an empty container. */
static char *open_container(zlgi_json_parser *ps, char *p, zlgi_json *node)
{
    if (ps->depth++ == ps->max_depth) {
        ps->status =
            zlgi_fail(ps->err, ZLG_LIMIT,
                      "JSON: byte %zu: nested more than %d levels deep (json_depth)",
                      zlgi_json_position(ps, p), ps->max_depth);
        return NULL;
    }
    node->type = *p == '{' ? ZLGI_JSON_OBJECT : ZLGI_JSON_ARRAY;
    node->next = ps->open;
    ps->open = node;
    ps->tail = &node->items;
    p = skip_space(p + 1);
    return *p == closing_bracket(node) ? close_container(ps, p) : p;
}

/* One value, or the opening of a container; p at its first byte. */
static char *read_item(zlgi_json_parser *ps, char *p)
{
    zlgi_json *node = new_node(ps);
    if (node == NULL)
        return NULL;
    *ps->tail = node;
    ps->tail = &node->next;
    if (ps->open != NULL) {
        ps->open->n_items++;
        if (ps->open->type == ZLGI_JSON_OBJECT && (p = read_name(ps, p, node)) == NULL)
            return NULL;
    }
    node->position = (uint32_t)zlgi_json_position(ps, p);
    return *p == '{' || *p == '[' ? open_container(ps, p, node) : read_scalar(ps, p, node);
}

/*
 * The document, p at its first byte: a value, then as many closing brackets as stand
 * there, then a comma and the next value. The byte behind a number becomes the NUL of its
 * text once it has been looked at. Returns the end of the document.
 */
static char *read_document(zlgi_json_parser *ps, char *p)
{
    for (;;) {
        int depth = ps->depth;
        p = read_item(ps, p);
        if (p == NULL)
            return NULL;
        if (ps->depth > depth)
            continue;
        char *behind = p;
        p = skip_space(p);
        char c = *p;
        *behind = '\0';
        while (ps->open != NULL && c == closing_bracket(ps->open)) {
            p = close_container(ps, p);
            if (p == NULL)
                return NULL;
            c = *p;
        }
        if (ps->open == NULL)
            return p == ps->end ? p
                                : zlgi_json_unexpected(ps, p, c, "the end of the document");
        if (c != ',')
            return zlgi_json_unexpected(
                ps, p, c, closing_bracket(ps->open) == '}' ? "',' or '}'" : "',' or ']'");
        p = skip_space(p + 1);
    }
}

/* UTF-16, UTF-32 and byte order marks, told apart by the first bytes: JSON begins with
 * ASCII. NULL when there is nothing to object to. */
static const char *wrong_encoding(const char *text, size_t n)
{
    if (n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        return "a byte order mark before the document, expected plain UTF-8";
    bool wide =
        n >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0 ||
                   (text[0] == 0) != (text[1] == 0));
    wide |= n >= 4 && text[0] == 0 && text[1] == 0 && (text[2] != 0 || text[3] != 0);
    return wide ? "the document is UTF-16 or UTF-32, expected UTF-8" : NULL;
}

zlg_status zlgi_json_parse(zlgi_arena *arena, const char *text, size_t n, int max_depth,
                           const zlgi_json **out, zlg_error *err)
{
    if (n > UINT32_MAX - PADDING)
        return zlgi_fail(err, ZLG_LIMIT,
                         "JSON: the document has %zu bytes, at most %u are read", n,
                         UINT32_MAX - PADDING);
    char *copy = zlgi_arena_get(arena, n + PADDING);
    if (copy == NULL)
        return zlgi_no_memory(err, n + PADDING);
    if (n > 0)
        memcpy(copy, text, n);
    memset(copy + n, 0, PADDING);

    zlgi_json *root = NULL;
    zlgi_json_parser ps = {.arena = arena,
                           .start = copy,
                           .end = copy + n,
                           .max_depth = ZLGI_MIN(max_depth, (int)ZLGI_JSON_MAX_DEPTH),
                           .tail = &root,
                           .err = err};
    const char *objection = wrong_encoding(copy, n);
    char *p = skip_space(copy);
    if (objection != NULL)
        zlgi_json_malformed(&ps, copy, objection);
    else if (p == ps.end)
        zlgi_json_malformed(&ps, copy, "the document is empty");
    else if (read_document(&ps, p) != NULL)
        *out = root;
    return ps.status;
}
