/*
 * members.c: what lies in a group, level by level: from the directories of the store, or
 * from consolidated metadata, in one order.
 */
#include "core/core.h"

#include <stdio.h>

typedef struct member {
    const char *path; /* relative to the group */
    zlg_node kind;
} member;

typedef struct member_list {
    zlg_group *group;
    zlgi_arena *arena;
    zlgi_buf members; /* of struct member */
    bool recursive;
    zlgi_patience *patience;
    int64_t n_seen;
    zlg_error *err;
    /* The directory at hand: one for all levels, since hierarchies may be deep and stacks
     * small. Paths relative to the group start at n_base. */
    char path[ZLGI_NAME_MAX];
    size_t n_base;
} member_list;

static zlg_status add_member(member_list *list, const char *path, zlg_node kind)
{
    member m = {.path = zlgi_arena_text(list->arena, path, strlen(path)), .kind = kind};
    if (!m.path)
        return zlgi_no_memory(list->err, strlen(path));
    if (++list->n_seen > list->group->store->limits->keys_listed)
        return zlgi_fail(list->err, ZLG_LIMIT, "more than %lld members (keys_listed)",
                         (long long)list->group->store->limits->keys_listed);
    return zlgi_buf_append(&list->members, &m, sizeof m, list->err);
}

/* ------------------------------------------------------------------ from the store */

typedef struct name_list {
    zlgi_arena *arena;
    zlgi_buf *names; /* of const char * */
    zlg_status status;
    zlg_error *err;
} name_list;

static int add_name(void *user, const char *name, int is_prefix, uint64_t n_bytes)
{
    name_list *list = user;
    (void)n_bytes;
    if (!is_prefix || zlgi_meta_path_check(name, NULL) != ZLG_OK)
        return 0;
    const char *copy = zlgi_arena_text(list->arena, name, strlen(name));
    list->status = copy ? zlgi_buf_append(list->names, &copy, sizeof copy, list->err)
                        : zlgi_no_memory(list->err, strlen(name));
    return list->status != ZLG_OK;
}

/* What a directory is. A broken document still makes a member; a directory without one
 * does not, nor does one that cannot be looked into. */
static zlg_status look_at(member_list *list, bool *is_member, zlg_node *kind)
{
    zlgi_node_documents documents;
    zlgi_arena arena;
    zlgi_arena_init(&arena, list->group->store->alloc);
    zlg_status status =
        zlgi_node_load(list->group->store, list->path, list->group->meta.zarr_format,
                       &arena, &documents, list->err);
    zlgi_arena_reset(&arena);
    *kind = documents.kind;
    *is_member = status != ZLG_NOT_FOUND && !(status == ZLG_OK && *kind == ZLG_NODE_NONE);
    return status == ZLG_IO || status == ZLG_NO_MEMORY ? status : ZLG_OK;
}

static zlg_status walk(member_list *list);

static zlg_status visit(member_list *list, const char *name)
{
    size_t n = strlen(list->path);
    bool is_member;
    zlg_node kind;
    if (n + 1 + strlen(name) >= sizeof list->path)
        return ZLG_OK; /* too deep to be opened: links that lead round */
    snprintf(list->path + n, sizeof list->path - n, "%s%s", n ? "/" : "", name);
    zlg_status status = zlgi_patience_check(list->patience, list->err);
    if (status == ZLG_OK)
        status = look_at(list, &is_member, &kind);
    if (status == ZLG_OK && is_member)
        status = add_member(list, list->path + list->n_base, kind);
    if (status == ZLG_OK && is_member && list->recursive && kind == ZLG_NODE_GROUP)
        status = walk(list);
    list->path[n] = '\0';
    return status;
}

static zlg_status walk(member_list *list)
{
    zlg_store *store = list->group->store;
    zlgi_buf names;
    zlgi_buf_init(&names, store->alloc);
    name_list found = {.arena = list->arena, .names = &names, .err = list->err};
    zlg_status status = zlgi_store_list(store, list->path, true, list->patience, add_name,
                                        &found, list->err);
    if (status == ZLG_OK)
        status = found.status;
    const char **name = (const char **)(void *)names.data;
    for (size_t i = 0; i < names.n / sizeof *name && status == ZLG_OK; i++)
        status = visit(list, name[i]);
    zlgi_buf_reset(&names);
    return status == ZLG_NOT_FOUND ? ZLG_OK : status;
}

static zlg_status walk_store(member_list *list)
{
    const char *path = list->group->path;
    ZLGI_TRY(zlgi_join(path, "", list->path, list->err)); /* "" or "path/" */
    list->n_base = strlen(list->path);
    list->path[strlen(path)] = '\0';
    return walk(list);
}

/* ------------------------------------------------------------------ from the map */

/* The node that a name of the map is about, relative to the group; false when it is not
 * below it. */
static bool relative_name(const member_list *list, const char *name, size_t n,
                          char out[ZLGI_NAME_MAX])
{
    const zlgi_hierarchy *hierarchy = list->group->hierarchy;
    size_t skip = strlen(list->group->path) - strlen(hierarchy->base);
    const char *prefix = list->group->path + strlen(hierarchy->base);
    if (skip > 0 && *prefix == '/')
        prefix++, skip--;
    if (n >= ZLGI_NAME_MAX || strlen(name) < n)
        return false;
    if (skip > 0) {
        if (n <= skip || memcmp(name, prefix, skip) != 0 || name[skip] != '/')
            return false;
        name += skip + 1;
        n -= skip + 1;
    }
    memcpy(out, name, n);
    out[n] = 0;
    return n > 0 && zlgi_meta_path_check(out, NULL) == ZLG_OK;
}

static bool split_v2_key(const char *key, size_t *n_node, zlg_node *kind)
{
    static const struct {
        const char *name;
        zlg_node kind;
    } documents[] = {{".zarray", ZLG_NODE_ARRAY}, {".zgroup", ZLG_NODE_GROUP}};
    const char *slash = strrchr(key, '/');
    const char *name = slash ? slash + 1 : key;
    *n_node = slash ? (size_t)(slash - key) : 0;
    for (size_t i = 0; i < ZLGI_COUNT(documents); i++)
        if (strcmp(name, documents[i].name) == 0) {
            *kind = documents[i].kind;
            return true;
        }
    return false;
}

static zlg_status walk_map(member_list *list)
{
    const zlgi_hierarchy *hierarchy = list->group->hierarchy;
    for (const zlgi_json *item = hierarchy->map->items; item; item = item->next) {
        char path[ZLGI_NAME_MAX];
        zlg_node kind = ZLG_NODE_NONE;
        size_t n = item->n_name;
        if (hierarchy->zarr_format == 2 && !split_v2_key(item->name, &n, &kind))
            continue;
        if (!relative_name(list, item->name, n, path))
            continue;
        if (!list->recursive && strchr(path, '/'))
            continue;
        if (hierarchy->zarr_format == 3 && zlgi_meta_node_type(item, &kind, NULL) != ZLG_OK)
            kind = ZLG_NODE_NONE;
        ZLGI_TRY(add_member(list, path, kind));
    }
    return ZLG_OK;
}

/* Bytewise by segments, so that a node comes before what lies below it, and siblings are
 * not torn apart by names that sort before "/". */
static inline bool member_is_less(const member *a, const member *b, const void *context)
{
    const uint8_t *x = (const uint8_t *)a->path;
    const uint8_t *y = (const uint8_t *)b->path;
    (void)context;
    while (*x && *x == *y)
        x++, y++;
    int p = *x == '/' ? 1 : *x ? *x + 1 : 0, q = *y == '/' ? 1 : *y ? *y + 1 : 0;
    return p < q;
}
ZLGI_SORT(sort_members, member, member_is_less)

/* ------------------------------------------------------------------ members */

static zlg_status collect(member_list *list)
{
    if (!list->group->hierarchy)
        return walk_store(list);
    ZLGI_TRY(walk_map(list));
    if (list->members.n > 0)
        sort_members((member *)(void *)list->members.data, list->members.n / sizeof(member),
                     NULL);
    return ZLG_OK;
}

zlg_status zlgi_group_members(zlg_group *group, bool recursive, zlgi_patience *patience,
                              zlg_member_fn each, void *user, zlg_error *err)
{
    zlgi_arena arena;
    zlgi_arena_init(&arena, group->store->alloc);
    member_list list = {.group = group,
                        .arena = &arena,
                        .recursive = recursive,
                        .patience = patience,
                        .err = err};
    zlgi_buf_init(&list.members, group->store->alloc);
    zlg_status status = collect(&list);
    const member *members = (const member *)(const void *)list.members.data;
    for (size_t i = 0; i < list.members.n / sizeof *members && status == ZLG_OK; i++)
        if (each(user, members[i].path, members[i].kind))
            break;
    zlgi_buf_reset(&list.members);
    zlgi_arena_reset(&arena);
    return status;
}

zlg_status zlg_group_members_call(zlg_group *group, int recursive, zlg_member_fn each,
                                  void *user, const zlg_call *given, zlg_error *err)
{
    zlg_call call;
    zlgi_patience patience;
    ZLGI_TRY(zlgi_patience_read(given, &call, &patience, err));
    zlg_status status =
        zlgi_group_members(group, recursive != 0, &patience, each, user, err);
    return zlgi_node_within(group->store, "group", group->path, status, err);
}

zlg_status zlg_group_members(zlg_group *group, int recursive, zlg_member_fn each,
                             void *user, zlg_error *err)
{
    return zlg_group_members_call(group, recursive, each, user, NULL, err);
}
