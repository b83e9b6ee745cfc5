/*
 * cmd_explain.c: the plan of a read: which objects, which of their bytes, and where those
 * go. The library gives the plan as JSON; here it becomes a table.
 */
#include <inttypes.h>
#include <string.h>

#include "cli.h"

enum { DEFAULT_LIMIT = 20 };

static uint64_t number(const char *object, const char *name)
{
    double value = 0;
    cli_json_number(cli_json_member(object, name), &value);
    return (uint64_t)value;
}

/* Number of ranges, and their bytes together with the index. */
static uint64_t sum_ranges(const char *object, uint64_t *n_bytes)
{
    const char *ranges = cli_json_member(object, "ranges");
    uint64_t n = 0;
    *n_bytes = number(cli_json_member(object, "index"), "n_bytes");
    for (const char *at = ranges ? cli_json_first(ranges) : NULL; at;
         at = cli_json_next(at)) {
        *n_bytes += number(at, "n_bytes");
        n++;
    }
    return n;
}

static void print_object(const cli_settings *settings, const char *object, int width)
{
    char key[4096], fetch[40];
    cli_json_text(cli_json_member(object, "key"), key, sizeof key);
    cli_json_text(cli_json_member(object, "fetch"), fetch, sizeof fetch);
    int n = (int)strlen(key);
    cli_print_name(stdout, key);
    printf("%*s  %-18s", n < width ? width - n : 0, "", fetch);
    if (cli_json_member(object, "missing")) {
        fputs("  not stored: fill value\n", stdout);
        return;
    }
    if (!settings->plan_only) {
        uint64_t n_bytes, n_ranges = sum_ranges(object, &n_bytes);
        printf("  %8" PRIu64 "  %8" PRIu64 "  %8" PRIu64 "  %8" PRIu64 "  ",
               number(object, "chunks"), number(object, "direct"), number(object, "empty"),
               n_ranges);
        cli_print_bytes(stdout, n_bytes);
    }
    putchar('\n');
}

static int widest_key(const char *objects)
{
    int width = 3;
    for (const char *at = cli_json_first(objects); at; at = cli_json_next(at)) {
        char key[4096];
        cli_json_text(cli_json_member(at, "key"), key, sizeof key);
        int n = (int)strlen(key);
        width = n > width && n <= 60 ? n : width;
    }
    return width;
}

static void print_plan(const cli_settings *settings, const char *plan)
{
    const char *objects = cli_json_member(plan, "objects");
    uint64_t n_objects = number(plan, "n_objects"), n_shown = 0;
    cli_print_count(stdout, number(plan, "n_elements"), "element, ", "elements, ");
    cli_print_bytes(stdout, number(plan, "n_bytes"));
    fputs(", from ", stdout);
    cli_print_count(stdout, n_objects, "object\n", "objects\n");
    if (!objects || !cli_json_first(objects))
        return;
    int width = widest_key(objects);
    printf("\n%-*s  %-18s", width, "key", "fetch");
    if (!settings->plan_only)
        printf("  %8s  %8s  %8s  %8s  %s", "chunks", "direct", "empty", "ranges", "bytes");
    putchar('\n');
    for (const char *at = cli_json_first(objects); at; at = cli_json_next(at), n_shown++)
        print_object(settings, at, width);
    if (n_shown < n_objects)
        printf("and %" PRIu64 " more; see --limit\n", n_objects - n_shown);
}

static zlg_status explain(const cli_settings *settings, const cli_node *node,
                          zlg_array *array, const cli_selection *selection, zlg_error *err)
{
    zlg_text plan;
    (void)node;
    zlg_selection box = {.kind = ZLG_BOX, .rank = selection->rank, .axes = selection->axes};
    int64_t limit = settings->limit ? settings->limit : DEFAULT_LIMIT;
    CLI_TRY(zlg_array_explain(array, &box, !settings->plan_only, limit, &plan, err));
    if (settings->json) {
        cli_json_pretty(stdout, plan.data, 0);
        putchar('\n');
    } else {
        print_plan(settings, plan.data);
    }
    zlg_text_free(&plan);
    return ZLG_OK;
}

static zlg_status run(const cli_settings *settings, zlg_error *err)
{
    return cli_with_array(settings, explain, err);
}

static const cli_option options[] = {
    {"json", 'j', CLI_FLAG, NULL, "the plan as JSON, with each range", CLI_FIELD(json), 0,
     0},
    {"limit", 'l', CLI_NUMBER, "N", "show N objects (default: 20)", CLI_FIELD(limit), 1,
     INT64_MAX},
    {"plan-only", 'p', CLI_FLAG, NULL, "do not look at the objects and indexes themselves",
     CLI_FIELD(plan_only), 0, 0},
};

const cli_command cli_explain = {
    .name = "explain",
    .arguments = "PATH [ARRAY] [SELECTION]",
    .n_least = 1,
    .n_most = 3,
    .summary = "The plan of a read: objects, ranges, bytes, direct or scattered",
    .details = CLI_SELECTION_HELP
    "\n\n"
    "chunks: decoded; direct: of these, straight into the result, without a copy;\n"
    "empty: hold the fill value only; ranges: requests for parts of the object;\n"
    "bytes: read in all, the index of a shard included.",
    .options = options,
    .n_options = CLI_COUNT(options),
    .run = run,
};
