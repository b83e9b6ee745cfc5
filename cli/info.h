/*
 * What `info` knows of a node, gathered in cmd_info.c and shown by info_text.c for people
 * and info_json.c for programs.
 */
#ifndef ZELLIGE_CLI_INFO_H
#define ZELLIGE_CLI_INFO_H

#include "cli.h"

typedef struct info_array {
    const cli_node *node;
    const char *document;
    int zarr_format;
    zlg_array *array; /* NULL: it cannot be opened */
    zlg_error why;    /* then */
    uint64_t n_objects, n_bytes;
    bool counted; /* they fit into 64 bits */
    uint64_t n_stored, n_stored_bytes;
} info_array;

typedef struct info_group {
    const cli_node *node;
    const char *document;
    int zarr_format, consolidated;
    uint64_t n_arrays, n_groups;
} info_group;

void info_text_array(const info_array *info);
void info_text_group(const info_group *info);
void info_json_array(const info_array *info);
void info_json_group(const info_group *info);

/* Text, or JSON when it is asked for. */
zlg_status cli_show_node(const cli_settings *settings, const cli_node *node,
                         zlg_error *err);

/* A member that has a name of its own in each version. */
const char *info_member(const info_array *info, const char *v3, const char *v2);

#endif
