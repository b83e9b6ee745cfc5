/*
 * consolidate.c: writing consolidated metadata: the documents of all nodes below a group,
 * copied into its own document (version 3) or into .zmetadata beside it (version 2). Laid
 * out as zarr-python does, which gives each group below an empty map of its own in
 * version 3, and each node its attributes in version 2, be they empty. A document that is
 * valid JSON stays so: Python's bare tokens come into it only when the caller says so.
 */
#include "core/core.h"

typedef struct consolidation {
    zlg_group *group;
    zlgi_patience *patience;
    bool python_tokens;
} consolidation;

typedef struct collection {
    zlg_group *group;
    zlgi_patience *patience;
    bool allows_tokens;
    zlgi_buf *text;        /* the map so far */
    const char *separator; /* in front of the next member */
    zlg_status status;
    zlg_error *err;
} collection;

#define EMPTY_MAP "{\"kind\":\"inline\",\"must_understand\":false,\"metadata\":{}}"

/* One member of the map; value NULL: {}. */
static zlg_status add(collection *c, const char *name, const zlgi_json *value)
{
    static const zlgi_json empty = {.type = ZLGI_JSON_OBJECT};
    if (value && !c->allows_tokens)
        ZLGI_TRY(zlgi_meta_check_tokens(value, "; python_tokens copies it", c->err));
    ZLGI_TRY(zlgi_buf_printf(c->text, c->err, "%s", c->separator));
    ZLGI_TRY(zlgi_json_write_string(c->text, name, strlen(name), c->err));
    ZLGI_TRY(zlgi_buf_printf(c->text, c->err, ":"));
    c->separator = ",";
    return zlgi_json_write(value ? value : &empty, 0, c->text, c->err);
}

static zlg_status add_v3(collection *c, const char *path,
                         const zlgi_node_documents *documents, zlgi_arena *arena)
{
    const zlgi_json *document = documents->document, *map;
    if (documents->kind == ZLG_NODE_GROUP) {
        ZLGI_TRY(zlgi_json_parse(arena, EMPTY_MAP, sizeof EMPTY_MAP - 1, 4, &map, c->err));
        ZLGI_TRY(zlgi_meta_with(arena, document, "consolidated_metadata", map, &document,
                                c->err));
    }
    return add(c, path, document);
}

static zlg_status add_v2(collection *c, const char *path,
                         const zlgi_node_documents *documents)
{
    char name[ZLGI_NAME_MAX];
    ZLGI_TRY(zlgi_join(path, documents->kind == ZLG_NODE_ARRAY ? ".zarray" : ".zgroup",
                       name, c->err));
    ZLGI_TRY(add(c, name, documents->document));
    ZLGI_TRY(zlgi_join(path, ".zattrs", name, c->err));
    return add(c, name, documents->attributes);
}

static zlg_status add_node(collection *c, const char *path, zlgi_arena *arena)
{
    zlg_group *group = c->group;
    zlgi_node_documents documents;
    char full[ZLGI_NAME_MAX];
    if (*path)
        ZLGI_TRY(zlgi_join(group->path, path, full, c->err));
    else
        memcpy(full, group->path, strlen(group->path) + 1);
    ZLGI_TRY(zlgi_node_load(group->store, full, group->meta.zarr_format, arena, &documents,
                            c->err));
    if (documents.kind == ZLG_NODE_NONE)
        return ZLG_OK; /* gone by now */
    return documents.zarr_format == 3 ? add_v3(c, path, &documents, arena)
                                      : add_v2(c, path, &documents);
}

static int add_member(void *user, const char *path, zlg_node kind)
{
    collection *c = user;
    zlgi_arena arena;
    (void)kind;
    zlgi_arena_init(&arena, c->group->store->alloc);
    zlg_status status = zlgi_patience_check(c->patience, c->err);
    if (status == ZLG_OK)
        status = add_node(c, path, &arena);
    c->status = zlgi_within(c->err, status, "member %s", path);
    zlgi_arena_reset(&arena);
    return c->status != ZLG_OK;
}

/* {"a":{..},"a/b":{..}}: parents first. `old` is the document that is written anew, or
 * NULL. */
static zlg_status collect(const consolidation *how, const zlgi_json *old, zlgi_buf *text,
                          zlg_error *err)
{
    zlg_group *group = how->group;
    bool had_tokens = old && zlgi_meta_check_tokens(old, "", NULL) != ZLG_OK;
    collection c = {.group = group,
                    .patience = how->patience,
                    .allows_tokens = how->python_tokens || had_tokens,
                    .text = text,
                    .separator = "",
                    .err = err};
    ZLGI_TRY(zlgi_buf_printf(text, err, "{"));
    if (group->meta.zarr_format == 2 && add_member(&c, "", ZLG_NODE_GROUP))
        return c.status;
    ZLGI_TRY(zlgi_group_members(group, true, how->patience, add_member, &c, err));
    ZLGI_TRY(c.status);
    return zlgi_buf_printf(text, err, "}");
}

/* ------------------------------------------------------------------ version 3 */

static zlg_status parse_map(const consolidation *how, const zlgi_json *old,
                            zlgi_arena *arena, zlgi_buf *text, const zlgi_json **out,
                            zlg_error *err)
{
    ZLGI_TRY(zlgi_buf_printf(
        text, err, "{\"kind\":\"inline\",\"must_understand\":false,\"metadata\":"));
    ZLGI_TRY(collect(how, old, text, err));
    ZLGI_TRY(zlgi_buf_printf(text, err, "}"));
    return zlgi_meta_parse_text(arena, (const char *)text->data, text->n,
                                how->group->store->limits, out, err);
}

static zlg_status change_v3(void *user, const zlgi_json *document, zlgi_arena *arena,
                            zlgi_buf *out, zlg_error *err)
{
    const consolidation *how = user;
    const zlgi_json *map;
    zlg_node kind = ZLG_NODE_NONE;
    if (document)
        ZLGI_TRY(zlgi_meta_node_type(document, &kind, err));
    if (kind != ZLG_NODE_GROUP)
        return zlgi_fail(err, ZLG_NOT_FOUND, "no group is there");
    ZLGI_TRY(parse_map(how, document, arena, out, &map, err));
    out->n = 0;
    ZLGI_TRY(zlgi_meta_with(arena, document, "consolidated_metadata", map, &document, err));
    return zlgi_json_write(document, 2, out, err);
}

/* ------------------------------------------------------------------ version 2 */

static zlg_status change_v2(void *user, const zlgi_json *document, zlgi_arena *arena,
                            zlgi_buf *out, zlg_error *err)
{
    const consolidation *how = user;
    const zlgi_json *made;
    ZLGI_TRY(zlgi_buf_printf(out, err, "{\"zarr_consolidated_format\":1,\"metadata\":"));
    ZLGI_TRY(collect(how, document, out, err));
    ZLGI_TRY(zlgi_buf_printf(out, err, "}"));
    ZLGI_TRY(zlgi_meta_parse_text(arena, (const char *)out->data, out->n,
                                  how->group->store->limits, &made, err));
    out->n = 0;
    return zlgi_json_write(made, 2, out, err);
}

zlg_status zlg_group_consolidate(zlg_store *store, const char *path,
                                 const zlg_edit_options *given, zlg_error *err)
{
    zlgi_edit how;
    zlg_open_options open = ZLG_OPEN_OPTIONS_INIT;
    zlg_group *group;
    ZLGI_TRY(zlgi_edit_read(store, path, given, &how, err));
    open.ignore_consolidated = 1;
    ZLGI_TRY(zlg_group_open(store, path, &open, &group, err));
    bool v3 = group->meta.zarr_format == 3;
    consolidation what = {.group = group,
                          .patience = &how.patience,
                          .python_tokens = how.options.python_tokens != 0};
    const zlgi_document_edit edit = {.path = path,
                                     .name = v3 ? "zarr.json" : ".zmetadata",
                                     .promise = how.options.promise,
                                     .patience = &how.patience,
                                     .change = v3 ? change_v3 : change_v2,
                                     .user = &what};
    zlg_status status = zlgi_document_change(store, &edit, err);
    zlg_group_close(group);
    return zlgi_node_within(store, "group", path, status, err);
}
