/*
 * cmd_sweep.c: removes what writers that died have left behind.
 */
#include <inttypes.h>

#include "cli.h"

static zlg_status sweep(const cli_settings *settings, const cli_node *node, zlg_error *err)
{
    uint64_t n;
    CLI_TRY(zlg_store_sweep(node->store, node->path, &n, err));
    if (settings->json) {
        printf("{\n  \"n_removed\": %" PRIu64 "\n}\n", n);
    } else {
        cli_print_count(stdout, n, "temporary object removed\n",
                        "temporary objects removed\n");
    }
    return ZLG_OK;
}

static zlg_status run(const cli_settings *settings, zlg_error *err)
{
    return cli_with_node(settings, sweep, err);
}

static const cli_option options[] = {
    {"json", 'j', CLI_FLAG, NULL, "their number as JSON", CLI_FIELD(json), 0, 0},
};

const cli_command cli_sweep = {
    .name = "sweep",
    .arguments = "PATH [NODE]",
    .n_least = 1,
    .n_most = 2,
    .summary = "Remove the temporary objects of writers that died",
    .details =
        "Writers do so as they go: this is for stores that nobody writes to any more.\n"
        "Those of writers that are alive stay.",
    .changes = true,
    .options = options,
    .n_options = CLI_COUNT(options),
    .run = run,
};
