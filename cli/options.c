/*
 * options.c: reads arguments by the tables of a command, and writes help from them. Knows
 * options and not what they mean. "--" ends options; a value follows "=" or stands alone.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* Taken by every command. */
static const cli_option common[] = {
    {"zarr-format", 0, CLI_NUMBER, "V", "look for this version only, 2 or 3",
     CLI_FIELD(zarr_format), 2, 3},
    {"follow-links", 0, CLI_FLAG, NULL, "follow symbolic links out of the store",
     CLI_FIELD(follow_links), 0, 0},
    {"help", 'h', CLI_FLAG, NULL, "show this help", CLI_FIELD(help), 0, 0},
};

/* Taken by every command that changes a store, too. */
static const cli_option changing[] = {
    {"no-locks", 0, CLI_FLAG, NULL, "for file systems without locks: nobody else writes",
     CLI_FIELD(no_locks), 0, 0},
};

typedef struct parser {
    const cli_command *command;
    int argc;
    char **argv;
    int i; /* argument that is being read */
    cli_settings *out;
    zlg_error *err;
} parser;

/* ------------------------------------------------------------------ reading */

/* By its name when there is one, else by its letter. */
static const cli_option *find_in(const cli_option *options, size_t n, const char *name,
                                 size_t n_name, char letter)
{
    for (size_t i = 0; i < n; i++) {
        const cli_option *option = &options[i];
        if (name ? strlen(option->name) == n_name && memcmp(option->name, name, n_name) == 0
                 : option->letter == letter)
            return option;
    }
    return NULL;
}

static const cli_option *find(const parser *p, const char *name, size_t n_name, char letter)
{
    const cli_option *option =
        find_in(p->command->options, p->command->n_options, name, n_name, letter);
    if (!option && p->command->changes)
        option = find_in(changing, CLI_COUNT(changing), name, n_name, letter);
    return option ? option : find_in(common, CLI_COUNT(common), name, n_name, letter);
}

static zlg_status set_number(const parser *p, const cli_option *option, const char *text,
                             int64_t *out)
{
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (end == text || *end || errno || number < option->least || number > option->most)
        return cli_fail(p->err, ZLG_USAGE,
                        "--%s takes a number from %lld to %lld, not \"%s\"", option->name,
                        (long long)option->least, (long long)option->most, text);
    *out = number;
    return ZLG_OK;
}

/* There are no more values than arguments. */
static zlg_status add_item(const parser *p, cli_list *list, const char *text)
{
    size_t n_bytes = (size_t)p->argc * sizeof *list->items;
    if (!list->items && !(list->items = malloc(n_bytes)))
        return cli_no_memory(p->err, n_bytes);
    list->items[list->n++] = text;
    return ZLG_OK;
}

static zlg_status set_value(const parser *p, const cli_option *option, const char *text)
{
    char *field = (char *)p->out + option->field;
    switch (option->kind) {
    case CLI_FLAG:
        *(int *)(void *)field = 1;
        break;
    case CLI_NUMBER:
        return set_number(p, option, text, (int64_t *)(void *)field);
    case CLI_TEXT:
        *(const char **)(void *)field = text;
        break;
    case CLI_LIST:
        return add_item(p, (cli_list *)(void *)field, text);
    }
    return ZLG_OK;
}

/* The value: what stands behind the option in the same argument, or the next argument. */
static zlg_status set_option(parser *p, const cli_option *option, const char *attached)
{
    if (option->kind == CLI_FLAG && attached)
        return cli_fail(p->err, ZLG_USAGE, "--%s takes no value", option->name);
    if (option->kind != CLI_FLAG && !attached) {
        if (p->i + 1 >= p->argc)
            return cli_fail(p->err, ZLG_USAGE, "--%s needs a value %s", option->name,
                            option->value);
        attached = p->argv[++p->i];
    }
    return set_value(p, option, attached);
}

static zlg_status parse_long(parser *p, const char *text)
{
    const char *value = strchr(text, '=');
    size_t n_name = value ? (size_t)(value - text) : strlen(text);
    const cli_option *option = find(p, text, n_name, 0);
    if (!option)
        return cli_fail(p->err, ZLG_USAGE, "%s has no option --%.*s", p->command->name,
                        (int)(n_name < 100 ? n_name : 100), text);
    return set_option(p, option, value ? value + 1 : NULL);
}

/* Letters may stand together; the last may take a value. */
static zlg_status parse_short(parser *p, const char *text)
{
    for (; *text; text++) {
        const cli_option *option = find(p, NULL, 0, *text);
        if (!option)
            return cli_fail(p->err, ZLG_USAGE, "%s has no option -%c", p->command->name,
                            *text);
        if (option->kind != CLI_FLAG)
            return set_option(p, option, text[1] ? text + 1 : NULL);
        CLI_TRY(set_option(p, option, NULL));
    }
    return ZLG_OK;
}

/* "-1" and "-5:" are selections. */
static bool is_option(const char *text)
{
    return text[0] == '-' && text[1] && !cli_selection_like(text);
}

zlg_status cli_options_parse(const cli_command *command, int argc, char **argv,
                             cli_settings *out, zlg_error *err)
{
    parser p = {.command = command, .argc = argc, .argv = argv, .out = out, .err = err};
    bool options_end = false;
    *out = (cli_settings){.changes = command->changes};
    for (; p.i < argc; p.i++) {
        const char *text = argv[p.i];
        if (!options_end && strcmp(text, "--") == 0)
            options_end = true;
        else if (!options_end && strncmp(text, "--", 2) == 0)
            CLI_TRY(parse_long(&p, text + 2));
        else if (!options_end && is_option(text))
            CLI_TRY(parse_short(&p, text + 1));
        else if (out->n_arguments < command->n_most)
            out->arguments[out->n_arguments++] = text;
        else
            return cli_fail(err, ZLG_USAGE,
                            "%s takes no argument \"%s\"; see zellige %s --help",
                            command->name, text, command->name);
    }
    if (!out->help && out->n_arguments < command->n_least)
        return cli_fail(err, ZLG_USAGE, "%s needs %s", command->name, command->arguments);
    return ZLG_OK;
}

void cli_settings_free(cli_settings *settings)
{
    free(settings->set.items);
    free(settings->remove.items);
}

/* ------------------------------------------------------------------ help */

static void help_option(const cli_option *option)
{
    char left[64];
    int n = snprintf(left, sizeof left, "%c%c%s --%s%s%s", option->letter ? '-' : ' ',
                     option->letter ? option->letter : ' ', option->letter ? "," : " ",
                     option->name, option->value ? " " : "",
                     option->value ? option->value : "");
    printf("  %s%*s%s\n", left, n < 24 ? 24 - n : 1, "", option->help);
}

void cli_options_help(const cli_command *command)
{
    printf("zellige %s%s%s%s\n\n%s.\n", command->name,
           command->n_options > 0 || command->n_most > 0 ? " [OPTIONS]" : "",
           *command->arguments ? " " : "", command->arguments, command->summary);
    if (command->details)
        printf("\n%s\n", command->details);
    printf("\nOptions:\n");
    for (size_t i = 0; i < command->n_options; i++)
        help_option(&command->options[i]);
    for (size_t i = 0; i < CLI_COUNT(changing) && command->changes; i++)
        help_option(&changing[i]);
    for (size_t i = 0; i < CLI_COUNT(common); i++)
        help_option(&common[i]);
}
