/*
 * cmd_rm.c: removes a node and all below it. It asks nothing; the root of a store, which
 * is what a PATH alone names, goes with --force only.
 */
#include "cli.h"
#include "os.h"

static zlg_status remove_node(const cli_settings *settings, const cli_node *node,
                              zlg_error *err)
{
    const zlg_call call = cli_change_call();
    if (!*node->path && !settings->force)
        return cli_fail(err, ZLG_USAGE,
                        "%s is a whole store: --force removes it, a NODE behind it names "
                        "what lies in it",
                        node->folder);
    CLI_TRY(zlg_node_delete(node->store, node->path, &call, err));
    cli_note_consolidated(node, NULL);
    if (!*node->path)
        cli_remove_folder(node->folder);
    return ZLG_OK;
}

static zlg_status run(const cli_settings *settings, zlg_error *err)
{
    return cli_with_node(settings, remove_node, err);
}

static const cli_option options[] = {
    {"force", 'f', CLI_FLAG, NULL, "remove a whole store, too", CLI_FIELD(force), 0, 0},
};

const cli_command cli_rm = {
    .name = "rm",
    .arguments = "PATH [NODE]",
    .n_least = 1,
    .n_most = 2,
    .summary = "Remove an array or group and all below it",
    .changes = true,
    .options = options,
    .n_options = CLI_COUNT(options),
    .run = run,
};
