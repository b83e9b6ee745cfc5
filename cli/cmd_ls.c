/*
 * cmd_ls.c: the members of a group, one a line, groups with a "/" behind.
 */
#include <string.h>

#include "cli.h"

static void print_member(const cli_settings *settings, zlg_group *group,
                         const cli_member *member, int width)
{
    const char *name = cli_member_name(member);
    const char *mark = member->kind == ZLG_NODE_GROUP ? "/" : "";
    int n = (int)(strlen(name) + strlen(mark));
    cli_print_name(stdout, name);
    fputs(mark, stdout);
    if (settings->details && member->kind != ZLG_NODE_GROUP) {
        printf("%*s  ", width > n ? width - n : 0, "");
        cli_member_describe(stdout, group, member);
    }
    putchar('\n');
}

static zlg_status list(const cli_settings *settings, const cli_node *node, zlg_error *err)
{
    zlg_group *group;
    zlg_node kind;
    cli_members members;
    CLI_TRY(zlg_node_kind(node->store, node->path, &node->options, &kind, err));
    if (kind == ZLG_NODE_ARRAY)
        return cli_node_describe(stdout, node, err);
    CLI_TRY(zlg_group_open(node->store, node->path, &node->options, &group, err));
    zlg_status status = cli_members_get(group, false, &members, err);
    int width = 0;
    for (size_t i = 0; i < members.n; i++) {
        size_t n = strlen(members.list[i].path);
        width = n < 40 && (int)n > width ? (int)n : width;
    }
    for (size_t i = 0; i < members.n && status == ZLG_OK; i++)
        print_member(settings, group, &members.list[i], width);
    cli_members_free(&members);
    zlg_group_close(group);
    return status;
}

static zlg_status run(const cli_settings *settings, zlg_error *err)
{
    return cli_with_node(settings, list, err);
}

static const cli_option options[] = {
    {"long", 'l', CLI_FLAG, NULL, "show type and shape of arrays", CLI_FIELD(details), 0,
     0},
};

const cli_command cli_ls = {
    .name = "ls",
    .arguments = "PATH [GROUP]",
    .n_least = 1,
    .n_most = 2,
    .summary = "The members of a group",
    .options = options,
    .n_options = CLI_COUNT(options),
    .run = run,
};
