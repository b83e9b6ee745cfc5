/*
 * members.c: the members of a group as a list, and one line about each.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "os.h"

typedef struct collector {
    cli_members *members;
    size_t n_room;
    bool failed;
} collector;

static int add(void *user, const char *path, zlg_node kind)
{
    collector *c = user;
    cli_members *members = c->members;
    if (members->n == c->n_room) {
        size_t n_room = 2 * c->n_room + 16;
        cli_member *list = realloc(members->list, n_room * sizeof *list);
        if (!list)
            return c->failed = true;
        members->list = list;
        c->n_room = n_room;
    }
    size_t n = strlen(path) + 1;
    cli_member member = {.path = malloc(n), .kind = kind};
    if (!member.path)
        return c->failed = true;
    memcpy(member.path, path, n);
    for (const char *at = path; *at; at++)
        member.depth += *at == '/';
    members->list[members->n++] = member;
    return 0;
}

zlg_status cli_members_get(zlg_group *group, bool recursive, cli_members *out,
                           zlg_error *err)
{
    collector c = {.members = out};
    *out = (cli_members){.list = NULL};
    zlg_call call = ZLG_CALL_INIT;
    call.cancel = cli_interrupt_flag();
    CLI_TRY(zlg_group_members_call(group, recursive, add, &c, &call, err));
    return c.failed ? cli_no_memory(err, c.n_room * sizeof *out->list) : ZLG_OK;
}

void cli_members_free(cli_members *members)
{
    for (size_t i = 0; i < members->n; i++)
        free(members->list[i].path);
    free(members->list);
}

const char *cli_member_name(const cli_member *member)
{
    const char *slash = strrchr(member->path, '/');
    return slash ? slash + 1 : member->path;
}

/* ------------------------------------------------------------------ one line */

zlg_status cli_array_describe(FILE *out, zlg_array *array, zlg_error *err)
{
    zlg_text document;
    CLI_TRY(zlg_array_metadata(array, &document, err));
    const char *type = cli_json_member(
        document.data, zlg_array_zarr_format(array) == 3 ? "data_type" : "dtype");
    cli_print_named(out, type);
    fputs("  ", out);
    cli_print_shape(out, zlg_array_rank(array), zlg_array_shape(array));
    zlg_text_free(&document);
    return ZLG_OK;
}

void cli_member_describe(FILE *out, zlg_group *group, const cli_member *member)
{
    zlg_error err;
    zlg_array *array = NULL;
    zlg_status status = zlg_group_open_array(group, member->path, &array, &err);
    if (status == ZLG_OK)
        status = cli_array_describe(out, array, &err);
    if (status != ZLG_OK)
        fprintf(out, "! %s: %s", zlg_status_name(status), err.message);
    zlg_array_close(array);
}

zlg_status cli_node_describe(FILE *out, const cli_node *node, zlg_error *err)
{
    zlg_array *array;
    CLI_TRY(zlg_array_open(node->store, node->path, &node->options, &array, err));
    cli_node_print(out, node);
    fputs("  ", out);
    zlg_status status = cli_array_describe(out, array, err);
    putc('\n', out);
    zlg_array_close(array);
    return status;
}
