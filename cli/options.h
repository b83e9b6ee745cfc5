/*
 * Options as tables: each command lists those it takes, and help is made from the list.
 */
#ifndef ZELLIGE_CLI_OPTIONS_H
#define ZELLIGE_CLI_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "zellige.h"

enum { CLI_MAX_ARGUMENTS = 3 };

/* The values of an option that may stand several times. */
typedef struct cli_list {
    const char **items;
    int n;
} cli_list;

/* What was given, for whichever command: zero or NULL when it was not. */
typedef struct cli_settings {
    const char *arguments[CLI_MAX_ARGUMENTS];
    int n_arguments;
    int changes; /* the command changes the store */
    int help;
    int follow_links, no_locks;
    int json, raw, npy;
    int details;
    int plan_only;
    int cold;
    int force;
    int python_tokens;
    int keep_empty;
    int group, exist_ok, overwrite;
    int objects, once;
    int64_t depth, limit, rounds, threads, zarr_format, format, until;
    int64_t width;
    const char *output, *range;
    const char *region, *value, *append, *promise, *axis, *interval;
    const char *shape, *dtype, *chunks, *shards, *index, *fill, *codecs, *order, *separator,
        *dims, *attrs, *like;
    cli_list set, remove;
} cli_settings;

typedef enum cli_option_kind { CLI_FLAG, CLI_NUMBER, CLI_TEXT, CLI_LIST } cli_option_kind;

typedef struct cli_option {
    const char *name; /* without the dashes */
    char letter;      /* 0: none */
    cli_option_kind kind;
    const char *value; /* what help calls it, or NULL */
    const char *help;
    size_t field; /* where in cli_settings: an int, int64_t, const char * or cli_list */
    int64_t least, most; /* of a number */
} cli_option;

#define CLI_FIELD(name) offsetof(cli_settings, name)

struct cli_command;

/* Free in any case. */
zlg_status cli_options_parse(const struct cli_command *command, int argc, char **argv,
                             cli_settings *out, zlg_error *err);
void cli_settings_free(cli_settings *settings);
void cli_options_help(const struct cli_command *command);

#endif
