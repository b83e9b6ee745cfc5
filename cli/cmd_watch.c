/*
 * cmd_watch.c: how far arrays are that somebody else writes. On a terminal one line for
 * each, drawn anew at every look; else one line for each change.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "os.h"
#include "watch.h"

typedef struct watch {
    const cli_settings *settings;
    int64_t start_ns, interval_ms;
    watch_look look;
    size_t n_drawn; /* lines on the terminal */
} watch;

/* ------------------------------------------------------------------ one line */

/* What is gained in a second, by the points that are known; false when it is too early. */
static bool rates(const watch_array *array, double *rows, double *bytes)
{
    const watch_point *now = watch_now(array), *then = array->points;
    double seconds = (double)(now->ns - then->ns) * 1e-9;
    if (array->n_points < 2 || seconds <= 0)
        return false;
    *rows = (double)(now->rows - then->rows) / seconds;
    *bytes = ((double)now->n_bytes - (double)then->n_bytes) / seconds;
    return true;
}

static void print_objects(const watch_array *array)
{
    double rows, bytes;
    printf("  %" PRIu64, watch_now(array)->n_stored);
    if (array->n_objects < UINT64_MAX)
        printf(" of %" PRIu64, array->n_objects);
    printf(" %s, ", array->is_sharded ? "shards" : "chunks");
    cli_print_bytes(stdout, watch_now(array)->n_bytes);
    if (rates(array, &rows, &bytes) && bytes >= 0) {
        fputs(", ", stdout);
        cli_print_bytes(stdout, (uint64_t)bytes);
        fputs("/s", stdout);
    }
}

static void print_text(const watch *w, const watch_array *array)
{
    double rows, bytes;
    int64_t n_rows = watch_now(array)->rows;
    cli_print_name(stdout, array->name);
    if (array->error.status != ZLG_OK) {
        printf("  ! %s: ", zlg_status_name(array->error.status));
        cli_print_name(stdout, array->error.message);
        return;
    }
    fputs("  ", stdout);
    cli_print_shape(stdout, array->rank, array->shape);
    if (n_rows >= 0) {
        fputs("  ", stdout);
        cli_print_count(stdout, (uint64_t)n_rows, "row", "rows");
        if (rates(array, &rows, &bytes))
            printf(", %.*f/s", rows < 10 ? 1 : 0, rows);
    }
    if (w->settings->objects)
        print_objects(array);
}

static void print_json(const watch *w, const watch_array *array)
{
    const watch_point *now = watch_now(array);
    printf("{\"seconds\": %.3f, \"path\": ", (double)(now->ns - w->start_ns) * 1e-9);
    cli_json_string(stdout, array->name, strlen(array->name));
    if (array->error.status != ZLG_OK) {
        printf(", \"error\": \"%s\"}\n", zlg_status_name(array->error.status));
        return;
    }
    fputs(", \"shape\": ", stdout);
    cli_json_shape(stdout, array->rank, array->shape);
    if (now->rows >= 0)
        printf(", \"rows\": %" PRId64, now->rows);
    if (w->settings->objects)
        printf(", \"n_stored\": %" PRIu64 ", \"n_bytes\": %" PRIu64, now->n_stored,
               now->n_bytes);
    fputs("}\n", stdout);
}

/* ------------------------------------------------------------------ all lines */

/* Over the lines of the look before. No line is wrapped, or they could not be counted. */
static void draw(watch *w)
{
    size_t n_room = cli_terminal_lines(stdout) - 1, n = w->look.n;
    size_t n_shown = n <= n_room ? n : n_room - 1;
    if (w->n_drawn > 0)
        printf("\033[%zuA", w->n_drawn);
    fputs("\033[?7l", stdout);
    for (size_t i = 0; i < n_shown; i++) {
        fputs("\r\033[K", stdout);
        print_text(w, &w->look.list[i]);
        putchar('\n');
    }
    if (n_shown < n)
        printf("\r\033[K... and %zu more\n", n - n_shown);
    fputs("\033[J\033[?7h", stdout);
    w->n_drawn = n_shown + (n_shown < n);
}

static void list_changes(const watch *w)
{
    for (size_t i = 0; i < w->look.n; i++) {
        const watch_array *array = &w->look.list[i];
        if (!array->changed)
            continue;
        if (w->settings->json) {
            print_json(w, array);
            continue;
        }
        if (!w->settings->once)
            printf("%8.1f s  ", (double)(watch_now(array)->ns - w->start_ns) * 1e-9);
        print_text(w, array);
        putchar('\n');
    }
}

/* Every array that has the axis has so many rows. */
static bool is_reached(const watch_look *look, int64_t until)
{
    bool any = false;
    for (size_t i = 0; i < look->n; i++) {
        int64_t rows = watch_now(&look->list[i])->rows;
        if (look->list[i].error.status != ZLG_OK || (rows >= 0 && rows < until))
            return false;
        any |= rows >= 0;
    }
    return any;
}

static zlg_status watch_node(watch *w, const cli_node *node, zlg_error *err)
{
    const cli_settings *settings = w->settings;
    bool drawn = cli_is_terminal(stdout) && !settings->json && !settings->once;
    while (!cli_interrupted()) {
        zlg_status status = watch_look_again(settings, node, &w->look, err);
        if (cli_interrupted())
            break;
        CLI_TRY(status);
        if (drawn)
            draw(w);
        else
            list_changes(w);
        if (fflush(stdout) != 0 || settings->once ||
            (settings->until > 0 && is_reached(&w->look, settings->until)))
            break;
        cli_sleep_ms(w->interval_ms);
    }
    return ZLG_OK;
}

/* ------------------------------------------------------------------ */

static zlg_status read_interval(const char *text, int64_t *out_ms, zlg_error *err)
{
    char *end;
    double seconds = text ? strtod(text, &end) : 1;
    if (text && (end == text || *end || !(seconds >= 0.01 && seconds <= 86400)))
        return cli_fail(err, ZLG_USAGE,
                        "--interval takes seconds from 0.01 to 86400, not \"%s\"", text);
    *out_ms = (int64_t)(seconds * 1000);
    return ZLG_OK;
}

static zlg_status watch_run(const cli_settings *settings, const cli_node *node,
                            zlg_error *err)
{
    watch w = {.settings = settings, .start_ns = cli_now_ns()};
    CLI_TRY(read_interval(settings->interval, &w.interval_ms, err));
    cli_catch_interrupt();
    zlg_status status = watch_node(&w, node, err);
    watch_look_free(&w.look);
    return status;
}

static zlg_status run(const cli_settings *settings, zlg_error *err)
{
    return cli_with_node(settings, watch_run, err);
}

static const cli_option options[] = {
    {"interval", 'i', CLI_TEXT, "S", "look every S seconds (default: 1)",
     CLI_FIELD(interval), 0, 0},
    {"until", 'u', CLI_NUMBER, "ROWS", "end when there are so many rows", CLI_FIELD(until),
     1, INT64_MAX},
    {"axis", 'a', CLI_TEXT, "AXIS",
     "rows are along this axis, by number or name (default: 0)", CLI_FIELD(axis), 0, 0},
    {"objects", 'o', CLI_FLAG, NULL, "list the store: objects and bytes",
     CLI_FIELD(objects), 0, 0},
    {"once", '1', CLI_FLAG, NULL, "look once, and end", CLI_FIELD(once), 0, 0},
    {"json", 'j', CLI_FLAG, NULL, "a line of JSON for each change", CLI_FIELD(json), 0, 0},
};

const cli_command cli_watch = {
    .name = "watch",
    .arguments = "PATH [NODE]",
    .n_least = 1,
    .n_most = 2,
    .summary = "How far arrays are that somebody else writes",
    .details =
        "A terminal shows one line for each array; anything else gets one for each\n"
        "change. Only documents are read, unless --objects is given. Ctrl-C ends it,\n"
        "as a success. Of a group, --until waits for all arrays that have the axis.",
    .options = options,
    .n_options = CLI_COUNT(options),
    .run = run,
};
