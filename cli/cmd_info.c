/*
 * cmd_info.c: what a node is. Facts that the document tells are shown as it tells them;
 * only those that need the array (chunks of a shard, the grid, what is stored) are left
 * out for one that cannot be opened, with a note that says why.
 */
#include "info.h"

const char *info_member(const info_array *info, const char *v3, const char *v2)
{
    return cli_json_member(info->document, info->zarr_format == 3 ? v3 : v2);
}

static void count(info_array *info)
{
    const zlg_array *array = info->array;
    const int64_t *shape = zlg_array_shape(array);
    info->n_objects = 1;
    info->n_bytes = zlg_array_dtype(array).n_bytes;
    info->counted = true;
    for (int i = 0; i < zlg_array_rank(array); i++) {
        uint64_t n = (uint64_t)zlg_array_grid_shape(array, i);
        uint64_t length = (uint64_t)shape[i];
        info->counted &= !__builtin_mul_overflow(info->n_objects, n, &info->n_objects) &&
                         !__builtin_mul_overflow(info->n_bytes, length, &info->n_bytes);
    }
}

static zlg_status gather_array(info_array *info, zlg_error *err)
{
    const cli_node *node = info->node;
    zlg_status status =
        zlg_array_open(node->store, node->path, &node->options, &info->array, err);
    if (status == ZLG_UNSUPPORTED) {
        info->why = *err;
        return ZLG_OK;
    }
    CLI_TRY(status);
    count(info);
    return zlg_array_stored(info->array, &info->n_stored, &info->n_stored_bytes, err);
}

static zlg_status show_array(const cli_settings *settings, info_array *info, zlg_error *err)
{
    double format = 3; /* any number, in a document that is broken */
    cli_json_number(cli_json_member(info->document, "zarr_format"), &format);
    info->zarr_format = format >= 1 && format < 100 ? (int)format : 0;
    zlg_status status = gather_array(info, err);
    if (status == ZLG_OK)
        (settings->json ? info_json_array : info_text_array)(info);
    zlg_array_close(info->array);
    return status;
}

static zlg_status show_group(const cli_settings *settings, info_group *info, zlg_error *err)
{
    zlg_group *group;
    cli_members members;
    const cli_node *node = info->node;
    CLI_TRY(zlg_group_open(node->store, node->path, &node->options, &group, err));
    info->zarr_format = zlg_group_zarr_format(group);
    info->consolidated = zlg_group_is_consolidated(group);
    zlg_status status = cli_members_get(group, false, &members, err);
    for (size_t i = 0; i < members.n; i++) {
        info->n_arrays += members.list[i].kind == ZLG_NODE_ARRAY;
        info->n_groups += members.list[i].kind == ZLG_NODE_GROUP;
    }
    if (status == ZLG_OK)
        (settings->json ? info_json_group : info_text_group)(info);
    cli_members_free(&members);
    zlg_group_close(group);
    return status;
}

zlg_status cli_show_node(const cli_settings *settings, const cli_node *node, zlg_error *err)
{
    zlg_text document;
    zlg_node kind;
    CLI_TRY(
        zlg_node_metadata(node->store, node->path, &node->options, &kind, &document, err));
    info_array array = {.node = node, .document = document.data};
    info_group group = {.node = node, .document = document.data};
    zlg_status status = kind == ZLG_NODE_GROUP ? show_group(settings, &group, err)
                                               : show_array(settings, &array, err);
    zlg_text_free(&document);
    return status;
}

static zlg_status run(const cli_settings *settings, zlg_error *err)
{
    return cli_with_node(settings, cli_show_node, err);
}

static const cli_option options[] = {
    {"json", 'j', CLI_FLAG, NULL, "the facts as JSON", CLI_FIELD(json), 0, 0},
};

const cli_command cli_info = {
    .name = "info",
    .arguments = "PATH [NODE]",
    .n_least = 1,
    .n_most = 2,
    .summary = "What an array or group is, how it is chunked, coded and stored",
    .options = options,
    .n_options = CLI_COUNT(options),
    .run = run,
};
