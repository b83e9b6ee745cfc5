/*
 * cmd_tree.c: a hierarchy as a tree, with type and shape of its arrays. An array that
 * cannot be opened says why and does not end the walk.
 */
#include <stdlib.h>

#include "cli.h"

/*
 * Which members are the last below their parent. Read backwards, the first met at a depth
 * is the last one, until a node higher up begins a new family.
 */
static void find_last(cli_members *members, bool *seen)
{
    int deepest = 0;
    for (size_t i = members->n; i-- > 0;) {
        cli_member *member = &members->list[i];
        member->last = !seen[member->depth];
        seen[member->depth] = true;
        for (int d = member->depth + 1; d <= deepest; d++)
            seen[d] = false;
        deepest = member->depth;
    }
}

static void print_member(zlg_group *group, const cli_member *member, bool *closed)
{
    for (int d = 0; d < member->depth; d++)
        fputs(closed[d] ? "    " : "│   ", stdout);
    fputs(member->last ? "└── " : "├── ", stdout);
    closed[member->depth] = member->last;
    cli_print_name(stdout, cli_member_name(member));
    if (member->kind == ZLG_NODE_GROUP) {
        putchar('/');
    } else {
        fputs("  ", stdout);
        cli_member_describe(stdout, group, member);
    }
    putchar('\n');
}

static zlg_status print_tree(const cli_settings *settings, zlg_group *group,
                             cli_members *members, zlg_error *err)
{
    int most = 0;
    size_t n = 0;
    for (size_t i = 0; i < members->n; i++) {
        cli_member member = members->list[i];
        if (settings->depth > 0 && member.depth >= settings->depth) {
            free(member.path);
            continue;
        }
        most = member.depth > most ? member.depth : most;
        members->list[n++] = member;
    }
    members->n = n;
    bool *flags = calloc((size_t)most + 2, sizeof *flags);
    if (!flags)
        return cli_no_memory(err, (size_t)most + 2);
    find_last(members, flags);
    for (size_t i = 0; i < n; i++)
        print_member(group, &members->list[i], flags);
    free(flags);
    return ZLG_OK;
}

static zlg_status show(const cli_settings *settings, const cli_node *node, zlg_error *err)
{
    zlg_group *group;
    zlg_node kind;
    cli_members members;
    CLI_TRY(zlg_node_kind(node->store, node->path, &node->options, &kind, err));
    if (kind == ZLG_NODE_ARRAY)
        return cli_node_describe(stdout, node, err);
    CLI_TRY(zlg_group_open(node->store, node->path, &node->options, &group, err));
    zlg_status status = cli_members_get(group, settings->depth != 1, &members, err);
    if (status == ZLG_OK) {
        cli_node_print(stdout, node);
        putchar('\n');
        status = print_tree(settings, group, &members, err);
    }
    cli_members_free(&members);
    zlg_group_close(group);
    return status;
}

static zlg_status run(const cli_settings *settings, zlg_error *err)
{
    return cli_with_node(settings, show, err);
}

static const cli_option options[] = {
    {"depth", 'd', CLI_NUMBER, "N", "show N levels", CLI_FIELD(depth), 1, 10000},
};

const cli_command cli_tree = {
    .name = "tree",
    .arguments = "PATH [GROUP]",
    .n_least = 1,
    .n_most = 2,
    .summary = "A hierarchy as a tree",
    .options = options,
    .n_options = CLI_COUNT(options),
    .run = run,
};
