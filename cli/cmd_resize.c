/*
 * cmd_resize.c: another shape for an array.
 */
#include "cli.h"

static zlg_status resize(const cli_settings *settings, const cli_node *node,
                         zlg_array *array, const cli_selection *selection, zlg_error *err)
{
    int rank;
    int64_t shape[ZLG_MAX_RANK];
    cli_progress progress;
    zlg_stats stats = ZLG_STATS_INIT;
    (void)selection;
    const char *text = settings->arguments[settings->n_arguments - 1];
    CLI_TRY(cli_lengths(text, "SHAPE", &rank, shape, err));
    if (rank != zlg_array_rank(array))
        return cli_fail(err, ZLG_USAGE, "SHAPE is for %d axes, the array has %d", rank,
                        zlg_array_rank(array));
    cli_progress_start(&progress, 1);
    zlg_call call = cli_progress_call(&progress, settings, 1);
    call.stats = &stats;
    zlg_status status = zlg_array_resize(array, shape, &call, NULL, err);
    cli_progress_end(&progress);
    if (status != ZLG_OK)
        return status;
    cli_note_consolidated(node, NULL);
    cli_print_change(settings, rank, shape, &stats);
    return ZLG_OK;
}

static zlg_status run(const cli_settings *settings, zlg_error *err)
{
    return cli_with_region(settings, 1, resize, err);
}

static const cli_option options[] = {
    CLI_OPTION_PROMISE,
    CLI_OPTION_THREADS,
    CLI_OPTION_CHANGE,
};

const cli_command cli_resize = {
    .name = "resize",
    .arguments = "PATH [ARRAY] SHAPE",
    .n_least = 2,
    .n_most = 3,
    .summary = "Give an array another shape",
    .details =
        "SHAPE is as in \"240,37,49\". What is added holds the fill value, what falls\n"
        "away is lost.",
    .changes = true,
    .options = options,
    .n_options = CLI_COUNT(options),
    .run = run,
};
