/*
 * edit.c: documents that change. A changed document is a new tree that shares all that
 * stays with the old one: members that nobody here knows, their order and the text of
 * numbers are those that were read.
 */
#include <stdio.h>

#include "meta/member.h"

/* A copy of the first level of an object, with room for n_more members behind it. */
static zlgi_json *copy_level(zlgi_arena *arena, const zlgi_json *object, size_t n_more,
                             zlgi_json **out_members, zlg_error *err)
{
    size_t n_bytes = (object->n_items + n_more + 1) * sizeof(zlgi_json);
    zlgi_json *copy = zlgi_arena_get(arena, n_bytes);
    if (copy == NULL) {
        (void)zlgi_no_memory(err, n_bytes);
        return NULL;
    }
    *copy = *object;
    *out_members = copy + 1;
    zlgi_json *to = copy + 1;
    for (const zlgi_json *item = object->items; item; item = item->next)
        *to++ = *item;
    return copy;
}

/* The first n of the members become those of the object. */
static void close_level(zlgi_json *object, zlgi_json *members, uint32_t n)
{
    object->n_items = n;
    object->items = n ? members : NULL;
    for (uint32_t i = 0; i < n; i++)
        members[i].next = i + 1 < n ? &members[i + 1] : NULL;
}

/* Puts the value under a name: where it stood, or behind the others; returns how many
 * members there are now. */
static uint32_t set_member(zlgi_json *members, uint32_t n, const char *name,
                           uint32_t n_name, const zlgi_json *value)
{
    uint32_t i = 0;
    while (i < n &&
           (members[i].n_name != n_name || memcmp(members[i].name, name, n_name) != 0))
        i++;
    members[i] = *value;
    members[i].name = name;
    members[i].n_name = n_name;
    return ZLGI_MAX(n, i + 1);
}

zlg_status zlgi_meta_with(zlgi_arena *arena, const zlgi_json *object, const char *name,
                          const zlgi_json *value, const zlgi_json **out, zlg_error *err)
{
    zlgi_json *members, *copy = copy_level(arena, object, 1, &members, err);
    if (copy == NULL)
        return ZLG_NO_MEMORY;
    close_level(copy, members,
                set_member(members, object->n_items, name, (uint32_t)strlen(name), value));
    *out = copy;
    return ZLG_OK;
}

/* ------------------------------------------------------------------ attributes */

static bool is_removed(const zlgi_json *member, const zlgi_attribute_edit *edit)
{
    for (int i = 0; i < edit->n_remove; i++)
        if (member->n_name == strlen(edit->remove[i]) &&
            memcmp(member->name, edit->remove[i], member->n_name) == 0)
            return true;
    return false;
}

zlg_status zlgi_meta_edit_attributes(zlgi_arena *arena, const zlgi_json *old,
                                     const zlgi_attribute_edit *edit, const zlgi_json **out,
                                     zlg_error *err)
{
    static const zlgi_json empty = {.type = ZLGI_JSON_OBJECT};
    const zlgi_json *given = edit->given ? edit->given : &empty;
    ZLGI_TRY(zlgi_meta_attributes(old, &old, err));
    old = old && !edit->replace ? old : &empty;
    zlgi_json *members, *copy = copy_level(arena, old, given->n_items, &members, err);
    if (copy == NULL)
        return ZLG_NO_MEMORY;
    uint32_t n = 0;
    for (uint32_t i = 0; i < old->n_items; i++)
        if (!is_removed(&members[i], edit))
            members[n++] = members[i];
    for (const zlgi_json *item = given->items; item; item = item->next)
        n = set_member(members, n, item->name, item->n_name, item);
    close_level(copy, members, n);
    *out = copy;
    return ZLG_OK;
}

/* ------------------------------------------------------------------ shapes */

zlg_status zlgi_meta_shape(const zlgi_json *document, int *out_rank,
                           int64_t out[ZLG_MAX_RANK], zlg_error *err)
{
    return zlgi_meta_lengths(zlgi_json_get(document, "shape"), "shape", 0, out_rank, out,
                             err);
}

/* A list of edges that ends before the length goes on with one edge, as long as what is
 * missing; the last run counts one more when its edges are as long. */
static zlg_status more_edges(zlgi_arena *arena, const zlgi_json *runs, int64_t length,
                             const zlg_limits *limits, zlgi_json *out, zlg_error *err)
{
    zlgi_last_edge last;
    char text[64];
    ZLGI_TRY(zlgi_meta_last_edge(runs, limits, &last, err));
    if (last.end >= length)
        return ZLG_OK;
    int64_t missing = length - last.end;
    bool again = last.count > 0 && last.length == missing;
    int n = again ? snprintf(text, sizeof text, "[%lld,%lld]", (long long)missing,
                             (long long)last.count + 1)
                  : snprintf(text, sizeof text, "%lld", (long long)missing);
    const zlgi_json *run;
    ZLGI_TRY(zlgi_json_parse(arena, text, (size_t)n, 2, &run, err));
    zlgi_json *items, *copy = copy_level(arena, runs, 1, &items, err);
    if (copy == NULL)
        return ZLG_NO_MEMORY;
    uint32_t i = runs->n_items - again;
    items[i] = *run;
    close_level(copy, items, i + 1);
    *out = *copy;
    return ZLG_OK;
}

/* What is no rectilinear grid stays as it is: whoever reads the document says so. */
static zlg_status reach(zlgi_arena *arena, const zlgi_json **document, int rank,
                        const int64_t *shape, const zlg_limits *limits, zlg_error *err)
{
    const zlgi_json *grid = zlgi_json_get(*document, "chunk_grid");
    const zlgi_json *configuration = zlgi_json_get(grid, "configuration");
    const zlgi_json *axes = zlgi_json_get(configuration, "chunk_shapes");
    if (!zlgi_json_is(zlgi_json_get(grid, "name"), "rectilinear") || axes == NULL ||
        axes->type != ZLGI_JSON_ARRAY || axes->n_items != (uint32_t)rank)
        return ZLG_OK;
    zlgi_json *items, *copy = copy_level(arena, axes, 0, &items, err);
    if (copy == NULL)
        return ZLG_NO_MEMORY;
    for (int i = 0; i < rank; i++) {
        if (items[i].type != ZLGI_JSON_ARRAY)
            continue;
        zlg_status status = more_edges(arena, &items[i], shape[i], limits, &items[i], err);
        if (status != ZLG_OK)
            return zlgi_within(err, status, "chunk_grid: axis %d", i);
    }
    close_level(copy, items, copy->n_items);
    ZLGI_TRY(
        zlgi_meta_with(arena, configuration, "chunk_shapes", copy, &configuration, err));
    ZLGI_TRY(zlgi_meta_with(arena, grid, "configuration", configuration, &grid, err));
    return zlgi_meta_with(arena, *document, "chunk_grid", grid, document, err);
}

zlg_status zlgi_meta_reshape(zlgi_arena *arena, const zlgi_json *document, int rank,
                             const int64_t *shape, const zlg_limits *limits,
                             const zlgi_json **out, zlg_error *err)
{
    char text[24 * ZLG_MAX_RANK + 3] = "[";
    size_t n = 1;
    const zlgi_json *value;
    ZLGI_TRY(reach(arena, &document, rank, shape, limits, err));
    for (int i = 0; i < rank; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%lld", i ? "," : "",
                              (long long)shape[i]);
    text[n++] = ']';
    ZLGI_TRY(zlgi_json_parse(arena, text, n, 2, &value, err));
    return zlgi_meta_with(arena, document, "shape", value, out, err);
}

#define SHRINKING "zellige_shrinking"

bool zlgi_meta_is_shrinking(const zlgi_json *document)
{
    return zlgi_json_get(document, SHRINKING) != NULL;
}

zlg_status zlgi_meta_mark_shrinking(zlgi_arena *arena, const zlgi_json *document,
                                    bool shrinking, const zlgi_json **out, zlg_error *err)
{
    static const char text[] = "{\"must_understand\":false}";
    const char *const name = SHRINKING;
    const zlgi_attribute_edit unmark = {.remove = &name, .n_remove = 1};
    const zlgi_json *value;
    if (!shrinking)
        return zlgi_meta_edit_attributes(arena, document, &unmark, out, err);
    ZLGI_TRY(zlgi_json_parse(arena, text, sizeof text - 1, 2, &value, err));
    return zlgi_meta_with(arena, document, SHRINKING, value, out, err);
}
