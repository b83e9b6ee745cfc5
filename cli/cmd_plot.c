/*
 * cmd_plot.c: chooses what of an array is drawn, and how: a slice of two axes as a map,
 * one of one axis as a line. Axes that are longer than a picture is wide are thinned out
 * before they are read.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot.h"

enum { WIDTH = 960, LINE_HEIGHT = 420, MAP_CELLS = 2048, LINE_POINTS = 1 << 20 };

typedef struct picture {
    const cli_settings *settings;
    const cli_node *node;
    zlg_array *array;
    cli_selection selection; /* lists are borrowed */
    int axes[2], n_axes;     /* those that are drawn */
    char title[256];
    plot_data data;
    plot_axis across[2];
} picture;

/* ------------------------------------------------------------------ what is drawn */

/* Without a selection, the first position of the leading axes. */
static void take_first(picture *p)
{
    for (int i = 0; i + 2 < p->selection.rank; i++) {
        p->selection.axes[i].count = 1;
        p->selection.dropped[i] = true;
    }
}

static zlg_status choose_axes(picture *p, zlg_error *err)
{
    int n_long = 0;
    for (int i = 0; i < p->selection.rank; i++)
        n_long += !p->selection.dropped[i] && p->selection.axes[i].count != 1;
    for (int i = 0; i < p->selection.rank; i++) {
        bool is_long = p->selection.axes[i].count != 1;
        if (p->selection.dropped[i] || (n_long > 0 && !is_long))
            continue;
        if (p->n_axes == 2)
            return cli_fail(err, ZLG_USAGE,
                            "the selection leaves more than two axes to draw: give indices "
                            "for the others, such as \"0, ...\"");
        p->axes[p->n_axes++] = i;
    }
    if (p->n_axes == 0)
        return cli_fail(err, ZLG_USAGE, "the selection leaves no axis to draw");
    return ZLG_OK;
}

/* Takes every k-th position, so that no more than n_most remain. */
static void thin(zlg_axis *axis, int64_t n_most)
{
    int64_t k = (axis->count - 1) / n_most + 1;
    if (axis->list || k <= 1)
        return;
    axis->step *= k;
    axis->count = (axis->count - 1) / k + 1;
}

static zlg_status thin_axes(picture *p, zlg_error *err)
{
    p->selection.n_elements = 1;
    for (int i = 0; i < p->n_axes; i++) {
        zlg_axis *axis = &p->selection.axes[p->axes[i]];
        thin(axis, p->n_axes == 2 ? MAP_CELLS : LINE_POINTS);
        if (axis->count == 0)
            return cli_fail(err, ZLG_USAGE, "the selection is empty");
        p->selection.n_elements *= axis->count;
    }
    return ZLG_OK;
}

/* ------------------------------------------------------------------ title */

static void append(picture *p, const char *text)
{
    size_t n = strlen(p->title);
    snprintf(p->title + n, sizeof p->title - n, "%s", text);
}

static void append_axis(picture *p, int i)
{
    zlg_axis axis = p->selection.axes[i];
    char text[80];
    if (p->selection.dropped[i] || (axis.count == 1 && !axis.list))
        snprintf(text, sizeof text, "%lld", (long long)axis.start);
    else if (axis.list)
        snprintf(text, sizeof text, "[%lld indices]", (long long)axis.count);
    else if (axis.step == 1 && axis.count == zlg_array_shape(p->array)[i])
        snprintf(text, sizeof text, ":");
    else if (axis.step == 1)
        snprintf(text, sizeof text, "%lld:%lld", (long long)axis.start,
                 (long long)(axis.start + axis.count));
    else
        snprintf(text, sizeof text, "%lld, %lld, ... %lld", (long long)axis.start,
                 (long long)(axis.start + axis.step),
                 (long long)(axis.start + axis.step * (axis.count - 1)));
    append(p, text);
}

/* The array's name, and which part of it, when it is not all. */
static void make_title(picture *p)
{
    const char *name = *p->node->path ? p->node->path : p->node->folder;
    const char *slash = strrchr(name, '/');
    append(p, slash && slash[1] ? slash + 1 : name);
    bool all = true;
    for (int i = 0; i < p->selection.rank; i++)
        all &= p->selection.axes[i].count == zlg_array_shape(p->array)[i];
    for (int i = 0; !all && i < p->selection.rank; i++) {
        append(p, i ? ", " : "  [");
        append_axis(p, i);
    }
    append(p, all ? "" : "]");
}

/* ------------------------------------------------------------------ drawing */

static zlg_status set_range(picture *p, zlg_error *err)
{
    plot_data *data = &p->data;
    const char *range = p->settings->range;
    char rest;
    if (range && (sscanf(range, "%lf:%lf%c", &data->low, &data->high, &rest) != 2 ||
                  !(data->low < data->high)))
        return cli_fail(err, ZLG_USAGE, "--range takes LOW:HIGH, not \"%s\"", range);
    if (isnan(data->low))
        data->low = 0, data->high = 1;
    if (data->low == data->high) {
        double margin = data->low == 0 ? 1 : fabs(data->low) / 100;
        data->low -= margin;
        data->high += margin;
    }
    return ZLG_OK;
}

static zlg_status draw(picture *p, zlg_error *err)
{
    plot_canvas canvas;
    int width = p->settings->width ? (int)p->settings->width : WIDTH;
    bool map = p->n_axes == 2;
    int height =
        map ? plot_map_height(width, &p->data, &p->across[0], &p->across[1]) : LINE_HEIGHT;
    zlg_status status = plot_canvas_new(&canvas, width, height, err);
    if (status == ZLG_OK) {
        if (map)
            plot_map(&canvas, p->title, &p->data, &p->across[0], &p->across[1]);
        else
            plot_line(&canvas, p->title, &p->data, &p->across[0]);
        status = plot_png_write(&canvas, p->settings->output, err);
    }
    plot_canvas_free(&canvas);
    return status;
}

static zlg_status make(picture *p, zlg_error *err)
{
    CLI_TRY(choose_axes(p, err));
    make_title(p);
    CLI_TRY(thin_axes(p, err));
    zlg_status status = plot_data_read(p->settings, p->array, &p->selection, &p->data, err);
    CLI_TRY(cli_within(p->node, status, err));
    CLI_TRY(set_range(p, err));
    for (int i = 0; i < p->n_axes; i++)
        CLI_TRY(plot_axis_make(p->settings, p->node, p->array, &p->selection, p->axes[i],
                               &p->across[i], err));
    return draw(p, err);
}

static zlg_status plot(const cli_settings *settings, const cli_node *node, zlg_array *array,
                       const cli_selection *selection, zlg_error *err)
{
    picture p = {
        .settings = settings, .node = node, .array = array, .selection = *selection};
    if (!settings->output)
        return cli_fail(err, ZLG_USAGE, "plot needs a file to write: --output FILE");
    if (!node->selection)
        take_first(&p);
    zlg_status status = make(&p, err);
    plot_data_free(&p.data);
    for (int i = 0; i < 2; i++)
        plot_axis_free(&p.across[i]);
    return status;
}

static zlg_status run(const cli_settings *settings, zlg_error *err)
{
    return cli_with_array(settings, plot, err);
}

static const cli_option options[] = {
    {"output", 'o', CLI_TEXT, "FILE", "the PNG file to write", CLI_FIELD(output), 0, 0},
    {"range", 'r', CLI_TEXT, "LOW:HIGH", "values at the ends of the scale",
     CLI_FIELD(range), 0, 0},
    {"width", 'w', CLI_NUMBER, "N", "pixels from left to right (default: 960)",
     CLI_FIELD(width), 640, 8192},
    {"threads", 't', CLI_NUMBER, "N", "use N threads (default: one a core)",
     CLI_FIELD(threads), 1, 1024},
};

const cli_command cli_plot = {
    .name = "plot",
    .arguments = "PATH [ARRAY] [SELECTION]",
    .n_least = 1,
    .n_most = 3,
    .summary = "A picture of an array: a map of two axes or a line along one",
    .details = CLI_SELECTION_HELP
    "\n"
    "Without one, leading axes are drawn at their first position.\n\n"
    "Coordinates are taken from arrays named as the axes, beside the array. Missing\n"
    "values are grey: NaN, and what _FillValue and missing_value name. scale_factor\n"
    "and add_offset are applied.",
    .options = options,
    .n_options = CLI_COUNT(options),
    .run = run,
};
