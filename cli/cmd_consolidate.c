/*
 * cmd_consolidate.c: writes the consolidated metadata of a group.
 */
#include "cli.h"

static zlg_status consolidate(const cli_settings *settings, const cli_node *node,
                              zlg_error *err)
{
    zlg_edit_options options = ZLG_EDIT_OPTIONS_INIT;
    const zlg_call call = cli_change_call();
    options.call = &call;
    options.promise = node->options.promise;
    options.python_tokens = settings->python_tokens;
    return zlg_group_consolidate(node->store, node->path, &options, err);
}

static zlg_status run(const cli_settings *settings, zlg_error *err)
{
    return cli_with_node(settings, consolidate, err);
}

static const cli_option options[] = {
    {"python-tokens", 0, CLI_FLAG, NULL, "copy NaN and Infinity, though they are no JSON",
     CLI_FIELD(python_tokens), 0, 0},
    CLI_OPTION_PROMISE,
};

const cli_command cli_consolidate = {
    .name = "consolidate",
    .arguments = "PATH [GROUP]",
    .n_least = 1,
    .n_most = 2,
    .summary = "Copy the metadata of all nodes below a group into its own",
    .changes = true,
    .options = options,
    .n_options = CLI_COUNT(options),
    .run = run,
};
