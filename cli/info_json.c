/*
 * info_json.c: the facts about a node for programs, as one JSON object.
 */
#include <inttypes.h>
#include <string.h>

#include "info.h"

static void field(const char *name, const char *value)
{
    if (!value)
        return;
    printf(",\n  \"%s\": ", name);
    cli_json_line(stdout, value);
}

static void number_field(const char *name, uint64_t value)
{
    printf(",\n  \"%s\": %" PRIu64, name, value);
}

static void shape_field(const char *name, int rank, const int64_t *shape)
{
    printf(",\n  \"%s\": ", name);
    cli_json_shape(stdout, rank, shape);
}

static void dimension_names(const zlg_array *array)
{
    fputs(",\n  \"dimension_names\": [", stdout);
    for (int i = 0; i < zlg_array_rank(array); i++) {
        const char *name = zlg_array_dimension_name(array, i);
        fputs(i ? ", " : "", stdout);
        if (name)
            cli_json_string(stdout, name, strlen(name));
        else
            fputs("null", stdout);
    }
    putchar(']');
}

/* What only an open array knows. */
static void array_fields(const info_array *info)
{
    const zlg_array *array = info->array;
    int rank = zlg_array_rank(array);
    int64_t grid[ZLG_MAX_RANK];
    for (int i = 0; i < rank; i++)
        grid[i] = zlg_array_grid_shape(array, i);
    dimension_names(array);
    shape_field("chunks", rank, zlg_array_chunk_shape(array));
    if (zlg_array_is_sharded(array))
        shape_field("shards", rank, zlg_array_object_shape(array));
    shape_field("grid", rank, grid);
    if (info->counted) {
        number_field("n_objects", info->n_objects);
        if (!cli_is_varlen(zlg_array_dtype(array)))
            number_field("n_bytes", info->n_bytes);
    }
    number_field("n_objects_stored", info->n_stored);
    number_field("n_bytes_stored", info->n_stored_bytes);
}

void info_json_array(const info_array *info)
{
    static const char *const shared[] = {"fill_value", "order",  "filters",
                                         "compressor", "codecs", "attributes"};
    printf("{\n  \"node\": \"array\",\n  \"zarr_format\": %d", info->zarr_format);
    field("data_type", info_member(info, "data_type", "dtype"));
    field("shape", cli_json_member(info->document, "shape"));
    if (info->array)
        array_fields(info);
    for (size_t i = 0; i < CLI_COUNT(shared); i++)
        field(shared[i], cli_json_member(info->document, shared[i]));
    if (!info->array) {
        fputs(",\n  \"cannot_read\": ", stdout);
        cli_json_string(stdout, info->why.message, strlen(info->why.message));
    }
    fputs("\n}\n", stdout);
}

void info_json_group(const info_group *info)
{
    printf("{\n  \"node\": \"group\",\n  \"zarr_format\": %d,\n  \"consolidated\": %s",
           info->zarr_format, info->consolidated ? "true" : "false");
    number_field("n_arrays", info->n_arrays);
    number_field("n_groups", info->n_groups);
    field("attributes", cli_json_member(info->document, "attributes"));
    fputs("\n}\n", stdout);
}
