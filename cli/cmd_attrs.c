/*
 * cmd_attrs.c: the attributes of a node, also of an array that cannot be opened.
 */
#include "cli.h"

static zlg_status print_attributes(const cli_settings *settings, const cli_node *node,
                                   zlg_error *err)
{
    zlg_text document;
    (void)settings;
    CLI_TRY(
        zlg_node_metadata(node->store, node->path, &node->options, NULL, &document, err));
    const char *attributes = cli_json_member(document.data, "attributes");
    cli_json_pretty(stdout, attributes ? attributes : "{}", 0);
    putchar('\n');
    zlg_text_free(&document);
    return ZLG_OK;
}

static zlg_status run(const cli_settings *settings, zlg_error *err)
{
    return cli_with_node(settings, print_attributes, err);
}

const cli_command cli_attrs = {
    .name = "attrs",
    .arguments = "PATH [NODE]",
    .n_least = 1,
    .n_most = 2,
    .summary = "The attributes of an array or group, as JSON",
    .run = run,
};
