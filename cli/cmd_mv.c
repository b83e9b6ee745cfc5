/*
 * cmd_mv.c: moves a node inside its store.
 */
#include <stdlib.h>

#include "cli.h"

static zlg_status move_node(const cli_settings *settings, const cli_node *node,
                            zlg_error *err)
{
    const zlg_call call = cli_change_call();
    char *from = NULL, *to = NULL;
    zlg_status status = cli_node_path(settings->arguments[1], &from, err);
    if (status == ZLG_OK)
        status = cli_node_path(settings->arguments[2], &to, err);
    if (status == ZLG_OK)
        status = zlg_node_rename(node->store, from, to, &call, err);
    cli_node moved = *node;
    moved.path = from;
    if (status == ZLG_OK)
        cli_note_consolidated(&moved, NULL);
    moved.path = to;
    if (status == ZLG_OK)
        cli_note_consolidated(&moved, from);
    free(from);
    free(to);
    return status;
}

static zlg_status run(const cli_settings *settings, zlg_error *err)
{
    return cli_with_node(settings, move_node, err);
}

const cli_command cli_mv = {
    .name = "mv",
    .arguments = "PATH FROM TO",
    .n_least = 3,
    .n_most = 3,
    .summary = "Move an array or group to another place in its store",
    .details =
        "Nothing may be at TO, and what it lies in is a group. The move is one step.",
    .changes = true,
    .run = run,
};
