/*
 * open.c: from the arguments PATH [ARRAY] [SELECTION] to a store and a path inside it.
 *
 * PATH itself is the store: a node inside a hierarchy is opened as the root of its own.
 * Nothing above it is looked at, so that what a command sees depends on its arguments only.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static zlg_status open_options(const cli_settings *settings, zlg_open_options *out,
                               zlg_error *err)
{
    *out = (zlg_open_options)ZLG_OPEN_OPTIONS_INIT;
    out->zarr_format = (int)settings->zarr_format;
    out->keep_empty = settings->keep_empty;
    return cli_promise(settings, &out->promise, err);
}

zlg_status cli_open_store(const cli_settings *settings, zlg_ctx *ctx, const char *folder,
                          bool create, zlg_store **out, zlg_error *err)
{
    zlg_fs_options fs = ZLG_FS_OPTIONS_INIT;
    fs.follow_links = settings->follow_links;
    fs.no_locks = settings->no_locks;
    fs.read_only = !settings->changes;
    fs.create = create;
    return zlg_store_open_fs(ctx, folder, &fs, out, err);
}

zlg_status cli_open_context(const cli_settings *settings, zlg_ctx **out, zlg_error *err)
{
    zlg_ctx_options options = ZLG_CTX_OPTIONS_INIT;
    options.n_threads = (int)settings->threads;
    return zlg_ctx_new(&options, out, err);
}

zlg_status cli_node_path(const char *argument, char **out, zlg_error *err)
{
    if (*argument == '/')
        argument++;
    size_t n = strlen(argument);
    if (n > 0 && argument[n - 1] == '/')
        n--;
    *out = malloc(n + 1);
    if (!*out)
        return cli_no_memory(err, n + 1);
    memcpy(*out, argument, n);
    (*out)[n] = 0;
    return ZLG_OK;
}

/* Whether a lone second argument is a selection: array names may be numbers, too, but only
 * a group has members. A root that cannot be read is reported when it is opened. */
static bool is_selection(const cli_node *node, const char *argument)
{
    zlg_node kind;
    return cli_selection_like(argument) &&
           !(zlg_node_kind(node->store, "", &node->options, &kind, NULL) == ZLG_OK &&
             kind == ZLG_NODE_GROUP);
}

static zlg_status open_node(const cli_settings *settings, int n_arguments,
                            bool takes_selection, cli_node *out, zlg_error *err)
{
    *out = (cli_node){.folder = settings->arguments[0], .selection = settings->region};
    CLI_TRY(open_options(settings, &out->options, err));
    CLI_TRY(cli_open_context(settings, &out->ctx, err));
    CLI_TRY(cli_open_store(settings, out->ctx, out->folder, false, &out->store, err));
    const char *second = n_arguments > 1 ? settings->arguments[1] : "";
    if (takes_selection && n_arguments == 2 && is_selection(out, second)) {
        out->selection = second;
        second = "";
    } else if (takes_selection && n_arguments > 2) {
        out->selection = settings->arguments[2];
    }
    return cli_node_path(second, &out->path, err);
}

static void close_node(cli_node *node)
{
    free(node->path);
    zlg_store_close(node->store);
    zlg_ctx_close(node->ctx);
}

/* Whether the library has named the store. What cannot be printed it has replaced, and of
 * a long path it keeps the first half of a message. */
static bool names_store(const char *message, const char *folder)
{
    const size_t n_sure = sizeof((zlg_error *)0)->message / 2 - 8;
    size_t i = 0;
    while (i < n_sure && folder[i] && (message[i] == folder[i] || message[i] == '?'))
        i++;
    return i == n_sure || (folder[i] == 0 && message[i] == ':');
}

zlg_status cli_within(const cli_node *node, zlg_status status, zlg_error *err)
{
    zlg_error cause = *err;
    if (status == ZLG_OK || names_store(cause.message, node->folder))
        return status;
    return cli_fail(err, status, "%.250s: array %s: %s", node->folder,
                    *node->path ? node->path : "/", cause.message);
}

zlg_status cli_with_node(const cli_settings *settings, cli_node_fn run, zlg_error *err)
{
    cli_node node;
    zlg_status status = open_node(settings, settings->n_arguments, false, &node, err);
    if (status == ZLG_OK)
        status = run(settings, &node, err);
    close_node(&node);
    return status;
}

/* More elements than can be counted can be filled, but not read. */
static zlg_status run_selection(const cli_settings *settings, const cli_node *node,
                                zlg_array *array, cli_array_fn run, zlg_error *err)
{
    cli_selection selection;
    zlg_status status = cli_selection_parse(node->selection, zlg_array_rank(array),
                                            zlg_array_shape(array), &selection, err);
    if (status == ZLG_OK && selection.n_elements == INT64_MAX && !settings->changes)
        status = cli_fail(err, ZLG_LIMIT, "the selection has more than 2^63 elements");
    cli_within(node, status, err);
    if (status == ZLG_OK)
        status = run(settings, node, array, &selection, err);
    cli_selection_free(&selection);
    return status;
}

static zlg_status with_array(const cli_settings *settings, int n_arguments,
                             bool takes_selection, cli_array_fn run, zlg_error *err)
{
    cli_node node;
    zlg_array *array = NULL;
    zlg_status status = open_node(settings, n_arguments, takes_selection, &node, err);
    if (status == ZLG_OK)
        status = zlg_array_open(node.store, node.path, &node.options, &array, err);
    if (status == ZLG_OK)
        status = run_selection(settings, &node, array, run, err);
    zlg_array_close(array);
    close_node(&node);
    return status;
}

zlg_status cli_with_array(const cli_settings *settings, cli_array_fn run, zlg_error *err)
{
    return with_array(settings, settings->n_arguments, true, run, err);
}

zlg_status cli_with_region(const cli_settings *settings, int n_behind, cli_array_fn run,
                           zlg_error *err)
{
    return with_array(settings, settings->n_arguments - n_behind, false, run, err);
}

bool cli_is_varlen(zlg_dtype dtype)
{
    return dtype.type == ZLG_STRING || dtype.type == ZLG_BYTES ||
           dtype.type == ZLG_VLEN_ARRAY;
}

int cli_find_axis(const zlg_array *array, const char *text)
{
    char *end;
    int rank = zlg_array_rank(array);
    for (int axis = 0; axis < rank; axis++) {
        const char *name = zlg_array_dimension_name(array, axis);
        if (name && strcmp(name, text) == 0)
            return axis;
    }
    long number = strtol(text, &end, 10);
    if (end == text || *end || number < -rank || number >= rank)
        return -1;
    return (int)(number < 0 ? number + rank : number);
}

void cli_node_print(FILE *out, const cli_node *node)
{
    size_t n = strlen(node->folder);
    while (n > 1 && node->folder[n - 1] == '/')
        n--;
    fprintf(out, "%.*s%s%s", (int)n, node->folder, *node->path ? "/" : "", node->path);
}
