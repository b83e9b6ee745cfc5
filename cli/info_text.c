/*
 * info_text.c: the facts about a node for people, one a line.
 */
#include <inttypes.h>
#include <string.h>

#include "info.h"

static void label(const char *name)
{
    printf("%-12s", name);
}

static bool is_given(const char *value)
{
    return value && *value != 'n';
}

static void line_of_members(const char *name, const char *object)
{
    uint64_t n = 0;
    if (object && *object == '{')
        for (const char *at = cli_json_first(object); at; at = cli_json_next(at))
            n++;
    label(name);
    printf("%" PRIu64 "\n", n);
}

static void line_of_node(const char *name, const cli_node *node)
{
    label(name);
    cli_node_print(stdout, node);
    putchar('\n');
}

/* ------------------------------------------------------------------ shape and grid */

static void print_dimensions(const zlg_array *array)
{
    bool named = false;
    int rank = zlg_array_rank(array);
    for (int i = 0; i < rank; i++)
        named |= zlg_array_dimension_name(array, i) != NULL;
    for (int i = 0; named && i < rank; i++) {
        const char *name = zlg_array_dimension_name(array, i);
        fputs(i ? ", " : "  (", stdout);
        cli_print_name(stdout, name ? name : "-");
        fputs(i + 1 == rank ? ")" : "", stdout);
    }
}

static void line_of_shape(const info_array *info)
{
    const char *shape = cli_json_member(info->document, "shape");
    label("shape");
    if (info->array) {
        cli_print_shape(stdout, zlg_array_rank(info->array), zlg_array_shape(info->array));
        print_dimensions(info->array);
    } else {
        cli_json_line(stdout, shape ? shape : "?");
    }
    putchar('\n');
}

static void lines_of_grid(const zlg_array *array)
{
    int rank = zlg_array_rank(array);
    int64_t grid[ZLG_MAX_RANK];
    for (int i = 0; i < rank; i++)
        grid[i] = zlg_array_grid_shape(array, i);
    label(zlg_array_is_sharded(array) ? "shards" : "chunks");
    if (zlg_array_is_rectilinear(array))
        fputs("of several shapes", stdout);
    else
        cli_print_shape(stdout, rank, zlg_array_object_shape(array));
    fputs(", a grid of ", stdout);
    cli_print_shape(stdout, rank, grid);
    putchar('\n');
    if (!zlg_array_is_sharded(array))
        return;
    label("chunks");
    cli_print_shape(stdout, rank, zlg_array_chunk_shape(array));
    fputs(" in the shards\n", stdout);
}

/* ------------------------------------------------------------------ codecs */

static void print_codecs(const char *list);

/* A shard's own codecs stand on lines of their own. */
static void print_codec(const char *codec)
{
    const char *configuration = cli_json_member(codec, "configuration");
    const char *inner = cli_json_member(configuration, "codecs");
    const char *index = cli_json_member(configuration, "index_codecs");
    char name[100] = "", location[20];
    cli_json_text(cli_json_member(codec, "name"), name, sizeof name);
    if (!inner || !index || strcmp(name, "sharding_indexed") != 0) {
        cli_print_named(stdout, codec);
        return;
    }
    const char *where = cli_json_member(configuration, "index_location");
    if (!cli_json_text(where, location, sizeof location))
        snprintf(location, sizeof location, "end");
    printf("sharding_indexed, index at the %s\n%-14sindex   ", location, "");
    print_codecs(index);
    printf("\n%-14schunks  ", "");
    print_codecs(inner);
}

static void print_codecs(const char *list)
{
    if (!list || *list != '[')
        return;
    const char *first = cli_json_first(list);
    for (const char *at = first; at; at = cli_json_next(at)) {
        fputs(at == first ? "" : ", ", stdout);
        print_codec(at);
    }
}

static void lines_of_codecs(const info_array *info)
{
    const char *filters = cli_json_member(info->document, "filters");
    const char *compressor = cli_json_member(info->document, "compressor");
    const char *order = cli_json_member(info->document, "order");
    if (info->zarr_format == 3) {
        label("codecs");
        print_codecs(cli_json_member(info->document, "codecs"));
        putchar('\n');
        return;
    }
    if (order && strncmp(order, "\"F\"", 3) == 0) {
        label("order");
        fputs("F\n", stdout);
    }
    if (is_given(filters)) {
        label("filters");
        print_codecs(filters);
        putchar('\n');
    }
    label("compressor");
    if (is_given(compressor))
        cli_print_named(stdout, compressor);
    else
        fputs("none", stdout);
    putchar('\n');
}

/* ------------------------------------------------------------------ sizes */

static void lines_of_sizes(const info_array *info)
{
    bool sized = info->counted && !cli_is_varlen(zlg_array_dtype(info->array));
    if (sized) {
        label("size");
        cli_print_bytes(stdout, info->n_bytes);
        putchar('\n');
    }
    label("stored");
    cli_print_bytes(stdout, info->n_stored_bytes);
    if (sized && info->n_stored_bytes > 0 && info->n_stored == info->n_objects)
        printf(" (ratio %.2f)", (double)info->n_bytes / (double)info->n_stored_bytes);
    printf(" in %" PRIu64, info->n_stored);
    if (info->counted)
        printf(" of %" PRIu64, info->n_objects);
    printf(" %s\n", zlg_array_is_sharded(info->array) ? "shards" : "chunks");
}

/* ------------------------------------------------------------------ nodes */

void info_text_array(const info_array *info)
{
    const char *fill = cli_json_member(info->document, "fill_value");
    line_of_node("array", info->node);
    label("format");
    printf("Zarr %d\n", info->zarr_format);
    label("type");
    cli_print_named(stdout, info_member(info, "data_type", "dtype"));
    putchar('\n');
    line_of_shape(info);
    if (info->array && zlg_array_rank(info->array) > 0)
        lines_of_grid(info->array);
    lines_of_codecs(info);
    label("fill value");
    cli_json_line(stdout, fill ? fill : "null");
    putchar('\n');
    if (info->array)
        lines_of_sizes(info);
    line_of_members("attributes", cli_json_member(info->document, "attributes"));
    if (!info->array) {
        label("note");
        printf("it cannot be read: %s\n", info->why.message);
    }
}

void info_text_group(const info_group *info)
{
    line_of_node("group", info->node);
    label("format");
    printf("Zarr %d%s\n", info->zarr_format, info->consolidated ? ", consolidated" : "");
    label("members");
    cli_print_count(stdout, info->n_arrays, "array, ", "arrays, ");
    cli_print_count(stdout, info->n_groups, "group\n", "groups\n");
    line_of_members("attributes", cli_json_member(info->document, "attributes"));
}
