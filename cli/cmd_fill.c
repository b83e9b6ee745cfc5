/*
 * cmd_fill.c: one value everywhere in a region.
 */
#include "element.h"

static zlg_status fill(const cli_settings *settings, zlg_array *array,
                       const cli_selection *selection, const cli_element *element,
                       zlg_error *err)
{
    cli_progress progress;
    zlg_stats stats = ZLG_STATS_INIT;
    uint64_t n = (uint64_t)selection->n_elements;
    zlg_selection box = {.rank = selection->rank, .axes = selection->axes};
    /* The empty string is a value, too. */
    const void *bytes = element->n_bytes ? (const void *)element->bytes : "";
    cli_progress_start(&progress, n);
    zlg_call call = cli_progress_call(&progress, settings, n);
    call.stats = &stats;
    zlg_status status = zlg_array_fill(array, &box, settings->value ? bytes : NULL,
                                       element->n_bytes, &call, err);
    cli_progress_end(&progress);
    if (status == ZLG_OK)
        cli_print_change(settings, zlg_array_rank(array), zlg_array_shape(array), &stats);
    return status;
}

/* Strings are taken as they stand. */
static zlg_status read_value(const char *value, cli_element *element, zlg_error *err)
{
    const char *end;
    zlg_status status = cli_element_read(element, value, false, &end, err);
    if (status == ZLG_OK && *end)
        status = cli_element_expected("the end", end, err);
    if (status == ZLG_OK)
        return ZLG_OK;
    zlg_error inner = *err;
    return cli_fail(err, status, "--value \"%.100s\": %s", value, inner.message);
}

static zlg_status fill_array(const cli_settings *settings, const cli_node *node,
                             zlg_array *array, const cli_selection *selection,
                             zlg_error *err)
{
    cli_element element;
    zlg_status status = ZLG_OK;
    (void)node;
    cli_element_start(&element, array);
    if (settings->value)
        status = read_value(settings->value, &element, err);
    if (status == ZLG_OK)
        status = fill(settings, array, selection, &element, err);
    cli_element_end(&element);
    return status;
}

static zlg_status run(const cli_settings *settings, zlg_error *err)
{
    return cli_with_region(settings, 0, fill_array, err);
}

static const cli_option options[] = {
    {"value", 'v', CLI_TEXT, "VALUE",
     "what with, as \"cat\" prints it (default: fill value)", CLI_FIELD(value), 0, 0},
    {"region", 'r', CLI_TEXT, "SELECTION", "where (default: everywhere)", CLI_FIELD(region),
     0, 0},
    CLI_OPTION_PROMISE,
    CLI_OPTION_KEEP_EMPTY,
    CLI_OPTION_THREADS,
    CLI_OPTION_CHANGE,
};

const cli_command cli_fill = {
    .name = "fill",
    .arguments = "PATH [ARRAY]",
    .n_least = 1,
    .n_most = 2,
    .summary = "Fill a region of an array with one value",
    .details = "With the fill value, objects that lie in the region whole are "
               "removed.\n\n" CLI_SELECTION_HELP,
    .changes = true,
    .options = options,
    .n_options = CLI_COUNT(options),
    .run = run,
};
