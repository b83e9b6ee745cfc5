/*
 * watch_look.c: opens the arrays of a node anew, and notes what became of them since.
 */
#include <stdlib.h>
#include <string.h>

#include "os.h"
#include "watch.h"

static void free_list(watch_array *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(list[i].name);
    free(list);
}

void watch_look_free(watch_look *look)
{
    free_list(look->list, look->n);
    *look = (watch_look){.list = NULL};
}

/* ------------------------------------------------------------------ one array */

static zlg_status see(const cli_settings *settings, zlg_array *array, watch_array *out,
                      watch_point *now, zlg_error *err)
{
    int axis = cli_find_axis(array, settings->axis ? settings->axis : "0");
    const int64_t *shape = zlg_array_shape(array);
    out->rank = zlg_array_rank(array);
    memcpy(out->shape, shape, (size_t)out->rank * sizeof *shape);
    out->is_sharded = zlg_array_is_sharded(array) != 0;
    out->n_objects = 1;
    for (int i = 0; i < out->rank; i++) {
        uint64_t n = (uint64_t)zlg_array_grid_shape(array, i);
        if (__builtin_mul_overflow(out->n_objects, n, &out->n_objects))
            out->n_objects = UINT64_MAX;
    }
    now->rows = axis < 0 ? -1 : shape[axis];
    if (!settings->objects)
        return ZLG_OK;
    zlg_call call = ZLG_CALL_INIT;
    call.cancel = cli_interrupt_flag();
    return zlg_array_stored_call(array, &now->n_stored, &now->n_bytes, &call, err);
}

static bool is_changed(const watch_array *old, const watch_array *new,
                       const watch_point *now)
{
    const watch_point *then = watch_now(old);
    return old->error.status != new->error.status || old->rank != new->rank ||
           memcmp(old->shape, new->shape, (size_t) new->rank * sizeof *new->shape) != 0 ||
           then->n_stored != now->n_stored || then->n_bytes != now->n_bytes;
}

static void add_point(watch_array *array, const watch_point *now)
{
    if (array->n_points == WATCH_POINTS)
        memmove(array->points, array->points + 1,
                (size_t)--array->n_points * sizeof *array->points);
    array->points[array->n_points++] = *now;
}

/* `array` has a name, and what `old` (or NULL) was. One that cannot be opened says why. */
static void look_at(const cli_settings *settings, zlg_array *opened, zlg_status status,
                    const watch_array *old, watch_array *array)
{
    watch_point now = {.ns = cli_now_ns(), .rows = -1};
    if (status == ZLG_OK)
        status = see(settings, opened, array, &now, &array->error);
    array->error.status = status;
    if (old && old->error.status == ZLG_OK) {
        memcpy(array->points, old->points, sizeof old->points);
        array->n_points = old->n_points;
    }
    array->changed = !old || is_changed(old, array, &now);
    add_point(array, &now);
}

static const watch_array *find(const watch_look *look, const char *name)
{
    for (size_t i = 0; i < look->n; i++)
        if (strcmp(look->list[i].name, name) == 0)
            return &look->list[i];
    return NULL;
}

static char *copy(const char *text)
{
    size_t n = strlen(text) + 1;
    char *name = malloc(n);
    return name ? memcpy(name, text, n) : NULL;
}

/* ------------------------------------------------------------------ all of them */

static zlg_status look_at_group(const cli_settings *settings, zlg_group *group,
                                const cli_members *members, const watch_look *old,
                                watch_look *new, zlg_error *err)
{
    new->list = calloc(members->n + 1, sizeof *new->list);
    if (!new->list)
        return cli_no_memory(err, (members->n + 1) * sizeof *new->list);
    for (size_t i = 0; i < members->n; i++) {
        const char *path = members->list[i].path;
        watch_array *array = &new->list[new->n];
        zlg_array *opened;
        if (members->list[i].kind == ZLG_NODE_GROUP)
            continue;
        if (cli_interrupted())
            return cli_fail(err, ZLG_CANCELLED, "interrupted");
        if (!(array->name = copy(path)))
            return cli_no_memory(err, strlen(path) + 1);
        new->n++;
        zlg_status status = zlg_group_open_array(group, path, &opened, &array->error);
        look_at(settings, opened, status, find(old, path), array);
        zlg_array_close(opened);
    }
    return ZLG_OK;
}

static zlg_status look_at_members(const cli_settings *settings, const cli_node *node,
                                  const watch_look *old, watch_look *new, zlg_error *err)
{
    zlg_group *group;
    cli_members members;
    zlg_open_options options = node->options;
    options.ignore_consolidated = 1;
    CLI_TRY(zlg_group_open(node->store, node->path, &options, &group, err));
    zlg_status status = cli_members_get(group, true, &members, err);
    if (status == ZLG_OK)
        status = look_at_group(settings, group, &members, old, new, err);
    cli_members_free(&members);
    zlg_group_close(group);
    return status;
}

/* The error of an array that is not there at all ends the watch at its first look. */
static zlg_status look_at_array(const cli_settings *settings, const cli_node *node,
                                const watch_look *old, watch_look *new, zlg_error *err)
{
    zlg_array *opened;
    zlg_status status =
        zlg_array_open(node->store, node->path, &node->options, &opened, err);
    if (status != ZLG_OK && old->n == 0)
        return status;
    new->list = calloc(1, sizeof *new->list);
    new->n = new->list != NULL;
    if (new->list && (new->list->name = copy(*node->path ? node->path : node->folder))) {
        new->list->error = *err;
        look_at(settings, opened, status, old->n ? old->list : NULL, new->list);
    }
    zlg_array_close(opened);
    return new->list &&new->list->name ? ZLG_OK : cli_no_memory(err, sizeof *new->list);
}

zlg_status watch_look_again(const cli_settings *settings, const cli_node *node,
                            watch_look *look, zlg_error *err)
{
    zlg_node kind;
    watch_look new = {.list = NULL};
    CLI_TRY(zlg_node_kind(node->store, node->path, &node->options, &kind, err));
    zlg_status status = kind == ZLG_NODE_GROUP
                            ? look_at_members(settings, node, look, &new, err)
                            : look_at_array(settings, node, look, &new, err);
    if (status != ZLG_OK) {
        watch_look_free(&new);
        return status;
    }
    watch_look_free(look);
    *look = new;
    return ZLG_OK;
}
