/*
 * cmd_attrs.c: the attributes of a node, also of an array that cannot be opened; and
 * changes of them, all at once.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static zlg_status print_attributes(const cli_node *node, zlg_error *err)
{
    zlg_text document;
    CLI_TRY(
        zlg_node_metadata(node->store, node->path, &node->options, NULL, &document, err));
    const char *attributes = cli_json_member(document.data, "attributes");
    cli_json_pretty(stdout, attributes ? attributes : "{}", 0);
    putchar('\n');
    zlg_text_free(&document);
    return ZLG_OK;
}

/* ------------------------------------------------------------------ changes */

/* Length of the name in NAME=JSON, or in a name alone. */
static size_t name_length(const char *item)
{
    return strcspn(item, "=");
}

/* A name that is given twice could mean either. */
static zlg_status check_names(const cli_settings *settings, zlg_error *err)
{
    const cli_list *set = &settings->set, *remove = &settings->remove;
    for (int i = 0; i < set->n; i++) {
        size_t n = name_length(set->items[i]);
        bool again = false;
        for (int k = 0; k < i; k++)
            again |= name_length(set->items[k]) == n &&
                     memcmp(set->items[k], set->items[i], n) == 0;
        for (int k = 0; k < remove->n; k++)
            again |= strlen(remove->items[k]) == n &&
                     memcmp(remove->items[k], set->items[i], n) == 0;
        if (again)
            return cli_fail(err, ZLG_USAGE, "attribute \"%.*s\" is given twice",
                            (int)(n < 100 ? n : 100), set->items[i]);
    }
    return ZLG_OK;
}

static zlg_status check_values(const cli_settings *settings, zlg_error *err)
{
    for (int i = 0; i < settings->set.n; i++) {
        const char *item = settings->set.items[i];
        size_t n = name_length(item);
        if (!item[n])
            return cli_fail(err, ZLG_USAGE, "--set takes NAME=JSON, not \"%.200s\"", item);
        const char *value = item + n + 1;
        if (cli_json_valid(value, settings->python_tokens))
            continue;
        const char *advice = cli_json_valid(value, true)
                                 ? "only Python reads; --python-tokens allows it"
                                 : "is no JSON; a string stands in double quotes";
        return cli_fail(err, ZLG_USAGE, "attribute \"%.*s\": %.200s %s",
                        (int)(n < 100 ? n : 100), item, value, advice);
    }
    return ZLG_OK;
}

/* The object of what is set. */
static zlg_status write_object(const cli_settings *settings, char **out, zlg_error *err)
{
    size_t n_bytes = 0;
    FILE *file = open_memstream(out, &n_bytes);
    if (!file)
        return cli_no_memory(err, 4096);
    putc('{', file);
    for (int i = 0; i < settings->set.n; i++) {
        const char *item = settings->set.items[i];
        size_t n = name_length(item);
        fputs(i ? "," : "", file);
        cli_json_string(file, item, n);
        fprintf(file, ":%s", item + n + 1);
    }
    putc('}', file);
    return fclose(file) == 0 ? ZLG_OK : cli_no_memory(err, n_bytes);
}

static zlg_status change_attributes(const cli_settings *settings, const cli_node *node,
                                    zlg_error *err)
{
    zlg_edit_options options = ZLG_EDIT_OPTIONS_INIT;
    char *object = NULL;
    const zlg_call call = cli_change_call();
    options.call = &call;
    options.promise = node->options.promise;
    options.remove = settings->remove.items;
    options.n_remove = settings->remove.n;
    options.python_tokens = settings->python_tokens;
    CLI_TRY(check_names(settings, err));
    CLI_TRY(check_values(settings, err));
    zlg_status status = write_object(settings, &object, err);
    if (status == ZLG_OK)
        status = zlg_node_set_attributes(node->store, node->path, object, &options, err);
    free(object);
    if (status == ZLG_OK)
        cli_note_consolidated(node, NULL);
    return status;
}

/* ------------------------------------------------------------------ */

static zlg_status attributes(const cli_settings *settings, const cli_node *node,
                             zlg_error *err)
{
    return settings->changes ? change_attributes(settings, node, err)
                             : print_attributes(node, err);
}

static zlg_status run(const cli_settings *settings, zlg_error *err)
{
    cli_settings these = *settings;
    these.changes = settings->set.n > 0 || settings->remove.n > 0;
    return cli_with_node(&these, attributes, err);
}

static const cli_option options[] = {
    {"set", 's', CLI_LIST, "NAME=JSON", "give an attribute a value", CLI_FIELD(set), 0, 0},
    {"delete", 'd', CLI_LIST, "NAME", "remove an attribute", CLI_FIELD(remove), 0, 0},
    {"python-tokens", 0, CLI_FLAG, NULL, "NaN and Infinity are values, though no JSON",
     CLI_FIELD(python_tokens), 0, 0},
    CLI_OPTION_PROMISE,
};

const cli_command cli_attrs = {
    .name = "attrs",
    .arguments = "PATH [NODE]",
    .n_least = 1,
    .n_most = 2,
    .summary = "The attributes of an array or group, as JSON, and changes of them",
    .details =
        "--set and --delete may stand several times: all of it is one change. Nothing\n"
        "else in the document is touched.",
    .changes = true,
    .options = options,
    .n_options = CLI_COUNT(options),
    .run = run,
};
