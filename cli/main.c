/*
 * main.c: finds the command, runs it, and is the one place that prints errors and chooses
 * the exit code: both come from the status table of zellige.h.
 */
#include <errno.h>
#include <string.h>

#include "cli.h"
#include "os.h"

static const cli_command *const commands[] = {
    &cli_info,    &cli_tree,  &cli_ls,          &cli_attrs, &cli_cat,   &cli_plot,
    &cli_explain, &cli_bench, &cli_create,      &cli_write, &cli_fill,  &cli_resize,
    &cli_mv,      &cli_rm,    &cli_consolidate, &cli_sweep, &cli_watch, &cli_version,
};

static void print_help(void)
{
    printf("zellige: reads and writes Zarr arrays, versions 2 and 3\n\n"
           "zellige COMMAND [OPTIONS] PATH [ARRAY] ...\n\nCommands:\n");
    for (size_t i = 0; i < CLI_COUNT(commands); i++)
        printf("  %-12s %s\n", commands[i]->name, commands[i]->summary);
    printf("\nPATH is a directory: the root of a hierarchy, or a node inside one.\n"
           "zellige COMMAND --help tells more.\n");
}

static const cli_command *find_command(const char *name)
{
    for (size_t i = 0; i < CLI_COUNT(commands); i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

static zlg_status run_command(const cli_command *command, int argc, char **argv,
                              zlg_error *err)
{
    cli_settings settings;
    zlg_status status = cli_options_parse(command, argc, argv, &settings, err);
    if (status == ZLG_OK && settings.help)
        cli_options_help(command);
    else if (status == ZLG_OK)
        status = command->run(&settings, err);
    cli_settings_free(&settings);
    return status;
}

static zlg_status run(int argc, char **argv, zlg_error *err)
{
    if (argc < 2)
        return cli_fail(err, ZLG_USAGE, "which command? see zellige --help");
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 ||
        strcmp(name, "help") == 0) {
        const cli_command *command = argc > 2 ? find_command(argv[2]) : NULL;
        if (command)
            cli_options_help(command);
        else
            print_help();
        return ZLG_OK;
    }
    if (strcmp(name, "--version") == 0)
        name = "version";
    const cli_command *command = find_command(name);
    if (!command)
        return cli_fail(err, ZLG_USAGE, "there is no command \"%s\"; see zellige --help",
                        name);
    return run_command(command, argc - 2, argv + 2, err);
}

/* What was printed counts only when it has arrived. */
static zlg_status finish_output(zlg_status status, zlg_error *err)
{
    bool failed = fflush(stdout) != 0 || ferror(stdout);
    if (status != ZLG_OK || !failed)
        return status;
    return cli_fail(err, ZLG_IO, "standard output: %s", strerror(errno));
}

int main(int argc, char **argv)
{
    zlg_error err = {.status = ZLG_OK};
    cli_os_start();
    zlg_status status = finish_output(run(argc, argv, &err), &err);
    if (status == ZLG_OK)
        return 0;
    fprintf(stderr, "zellige: %s: %s\n", zlg_status_name(status), err.message);
    if (status == ZLG_CANCELLED && cli_interrupted())
        cli_die_of_interrupt();
    return zlg_status_exit_code(status);
}
