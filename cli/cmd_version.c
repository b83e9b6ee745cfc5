/*
 * cmd_version.c: which Zellige this is, and what it is built with.
 */
#include "cli.h"

static zlg_status run(const cli_settings *settings, zlg_error *err)
{
    (void)settings, (void)err;
    printf("zellige %s\n%s", zlg_version(), zlg_build_info());
    return ZLG_OK;
}

const cli_command cli_version = {
    .name = "version",
    .arguments = "",
    .summary = "The version, and the libraries it is built with",
    .run = run,
};
