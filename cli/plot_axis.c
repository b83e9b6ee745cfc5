/*
 * plot_axis.c: what stands along an axis: the coordinates of an array of the axis's own
 * name beside the one that is drawn, as climate data keeps them, or plain positions.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot.h"

static const double most_days = 4e8; /* a million years */

/* ------------------------------------------------------------------ ticks */

static void tick_text(plot_tick *tick, double step)
{
    double size = fabs(tick->value) > step ? fabs(tick->value) : step;
    int decimals = step < 1 ? (int)ceil(-log10(step) - 1e-9) : 0;
    if (step / pow(10, floor(log10(step) + 1e-9)) > 2.4 && step < 10 &&
        fabs(step * pow(10, decimals) - round(step * pow(10, decimals))) > 1e-6)
        decimals++; /* steps of 2.5 */
    if (size >= 1e6 || decimals > 5)
        snprintf(tick->text, sizeof tick->text, "%.6g", tick->value);
    else
        snprintf(tick->text, sizeof tick->text, "%.*f", decimals, tick->value);
}

double plot_part(double value, double low, double high)
{
    return (value / 2 - low / 2) / (high / 2 - low / 2);
}

int plot_ticks(double low, double high, int n_wanted, plot_tick out[PLOT_MAX_TICKS])
{
    static const double steps[] = {1, 2, 2.5, 5, 10};
    double span = high - low;
    if (!(span > 0) || !isfinite(span) || n_wanted < 1)
        return 0;
    double unit = pow(10, floor(log10(span / n_wanted))), step = 10 * unit;
    for (size_t i = 0; i < CLI_COUNT(steps); i++)
        if (steps[i] * unit * n_wanted >= span * (1 - 1e-9)) {
            step = steps[i] * unit;
            break;
        }
    int n = 0;
    for (double k = ceil(low / step - 1e-9); n < PLOT_MAX_TICKS; k++) {
        double value = k * step;
        if (value > high + 1e-9 * span)
            break;
        out[n].value = value == 0 ? 0 : value; /* no -0 */
        tick_text(&out[n++], step);
    }
    return n;
}

int plot_axis_ticks(const plot_axis *axis, int n_wanted, plot_tick out[PLOT_MAX_TICKS])
{
    double low = axis->values[axis->falling ? axis->n - 1 : 0];
    double high = axis->values[axis->falling ? 0 : axis->n - 1];
    if (axis->is_time)
        return plot_time_ticks(axis->calendar, low, high, n_wanted, out);
    return plot_ticks(low, high, n_wanted, out);
}

int plot_ticks_width(const plot_tick *ticks, int n)
{
    double width = 0;
    for (int i = 0; i < n; i++)
        width = fmax(width, plot_text_width(ticks[i].text, PLOT_TEXT));
    return (int)ceil(width);
}

double plot_axis_find(const plot_axis *axis, double value)
{
    int64_t low = 0, high = axis->n - 1;
    if (axis->n == 1)
        return 0;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        bool before =
            axis->falling ? axis->values[middle] >= value : axis->values[middle] <= value;
        if (before)
            low = middle;
        else
            high = middle;
    }
    double a = axis->values[low], b = axis->values[high];
    return (double)low + (value - a) / (b - a);
}

/* ------------------------------------------------------------------ positions */

static zlg_status set_positions(const cli_selection *selection, int axis, plot_axis *out,
                                zlg_error *err)
{
    zlg_axis of = selection->axes[axis];
    out->n = of.count;
    out->values = malloc((size_t)of.count * sizeof *out->values + 1);
    if (!out->values)
        return cli_no_memory(err, (size_t)of.count * sizeof *out->values);
    for (int64_t i = 0; i < of.count; i++)
        out->values[i] = (double)(of.list ? of.list[i] : of.start + i * of.step);
    out->falling = of.count > 1 && out->values[1] < out->values[0];
    return ZLG_OK;
}

static bool is_monotonic(const double *values, int64_t n)
{
    bool falling = n > 1 && values[1] < values[0];
    for (int64_t i = 0; i + 1 < n; i++)
        if (!(falling ? values[i + 1] < values[i] : values[i + 1] > values[i]))
            return false;
    return n > 0 && isfinite(values[0]) && isfinite(values[n - 1]);
}

/* Lists may go anywhere: then the axis counts what it shows. */
static void count_positions(plot_axis *axis)
{
    for (int64_t i = 0; i < axis->n; i++)
        axis->values[i] = (double)i;
    axis->falling = false;
}

/* ------------------------------------------------------------------ coordinates */

/* The name of an axis, of the array itself or as version 2 of xarray's files has it. */
static bool find_name(zlg_array *array, int axis, char *out, size_t n_room)
{
    zlg_text attributes;
    const char *name = zlg_array_dimension_name(array, axis);
    if (name) {
        snprintf(out, n_room, "%s", name);
        return *out != 0;
    }
    *out = 0;
    if (zlg_array_attributes(array, &attributes, NULL) != ZLG_OK)
        return false;
    const char *list = cli_json_member(attributes.data, "_ARRAY_DIMENSIONS");
    const char *at = list && *list == '[' ? cli_json_first(list) : NULL;
    for (int i = 0; at && i < axis; i++)
        at = cli_json_next(at);
    cli_json_text(at, out, n_room);
    zlg_text_free(&attributes);
    return *out != 0;
}

/* The array `name` beside the one that is drawn; when that is the root of its store, in
 * the folder around it. */
static zlg_array *open_beside(const cli_node *node, const char *name)
{
    char folder[4096], path[4096];
    zlg_array *array = NULL;
    zlg_store *store = NULL;
    zlg_node kind;
    const char *slash = strrchr(node->path, '/');
    int n_parent = slash ? (int)(slash + 1 - node->path) : 0;
    int n = snprintf(path, sizeof path, "%.*s%s", n_parent, node->path, name);
    if (n < 0 || (size_t)n >= sizeof path)
        return NULL;
    if (*node->path)
        return zlg_array_open(node->store, path, &node->options, &array, NULL) == ZLG_OK
                   ? array
                   : NULL;
    n = snprintf(folder, sizeof folder, "%s/..", node->folder);
    if (n < 0 || (size_t)n >= sizeof folder ||
        zlg_store_open_fs(node->ctx, folder, NULL, &store, NULL) != ZLG_OK)
        return NULL;
    if (zlg_node_kind(store, "", &node->options, &kind, NULL) == ZLG_OK &&
        kind == ZLG_NODE_GROUP &&
        zlg_array_open(store, path, &node->options, &array, NULL) != ZLG_OK)
        array = NULL;
    zlg_store_close(store);
    return array;
}

static bool numpy_time(zlg_dtype dtype, double *scale)
{
    static const struct {
        const char *unit;
        double days;
    } units[] = {{"W", 7},
                 {"D", 1},
                 {"h", 1 / 24.0},
                 {"m", 1 / 1440.0},
                 {"s", 1 / 86400.0},
                 {"ms", 1 / 86400e3},
                 {"us", 1 / 86400e6},
                 {"ns", 1 / 86400e9}};
    for (size_t i = 0; dtype.type == ZLG_DATETIME64 && i < CLI_COUNT(units); i++)
        if (strcmp(dtype.unit, units[i].unit) == 0) {
            *scale = units[i].days * (double)dtype.scale;
            return true;
        }
    return false;
}

/* Times become days; what the units say is then said by the ticks. */
static void set_times(plot_axis *axis, zlg_dtype dtype, const char *name,
                      const char *attributes)
{
    double scale = 1, offset = 0;
    axis->is_time = numpy_time(dtype, &scale) ||
                    plot_time_units(cli_json_member(attributes, "units"),
                                    cli_json_member(attributes, "calendar"), &scale,
                                    &offset, &axis->calendar);
    double first = axis->values[0] * scale + offset;
    double last = axis->values[axis->n - 1] * scale + offset;
    axis->is_time &= fabs(first) < most_days && fabs(last) < most_days;
    for (int64_t i = 0; axis->is_time && i < axis->n; i++)
        axis->values[i] = axis->values[i] * scale + offset;
    if (axis->is_time)
        snprintf(axis->label, sizeof axis->label, "%s", name);
}

static void adopt(plot_axis *axis, zlg_array *array, const char *name, plot_data *data)
{
    zlg_text attributes;
    if (zlg_array_attributes(array, &attributes, NULL) != ZLG_OK)
        return;
    free(axis->values);
    axis->values = data->values;
    data->values = NULL;
    axis->has_coordinates = true;
    axis->falling = axis->n > 1 && axis->values[1] < axis->values[0];
    plot_label(name, attributes.data, axis->label);
    axis->is_degrees = strstr(axis->label, "(°") != NULL;
    set_times(axis, zlg_array_dtype(array), name, attributes.data);
    zlg_text_free(&attributes);
}

/* Coordinates that do not fit are left alone: the picture is right without them. */
static void find_coordinates(const cli_settings *settings, const cli_node *node,
                             const cli_selection *selection, int axis, int64_t length,
                             plot_axis *out)
{
    plot_data data = {.n = 0};
    cli_selection along = {
        .rank = 1, .axes = {selection->axes[axis]}, .n_elements = out->n};
    zlg_array *array = open_beside(node, out->label);
    char name[256];
    zlg_error ignored;
    snprintf(name, sizeof name, "%s", out->label);
    if (array && zlg_array_rank(array) == 1 && zlg_array_shape(array)[0] == length &&
        plot_data_read(settings, array, &along, &data, &ignored) == ZLG_OK &&
        !data.some_missing && is_monotonic(data.values, data.n))
        adopt(out, array, name, &data);
    plot_data_free(&data);
    zlg_array_close(array);
}

zlg_status plot_axis_make(const cli_settings *settings, const cli_node *node,
                          zlg_array *array, const cli_selection *selection, int axis,
                          plot_axis *out, zlg_error *err)
{
    *out = (plot_axis){.n = 0};
    CLI_TRY(set_positions(selection, axis, out, err));
    if (find_name(array, axis, out->label, sizeof out->label))
        find_coordinates(settings, node, selection, axis, zlg_array_shape(array)[axis],
                         out);
    else
        snprintf(out->label, sizeof out->label, "axis %d", axis);
    if (!is_monotonic(out->values, out->n))
        count_positions(out);
    return ZLG_OK;
}

void plot_axis_free(plot_axis *axis)
{
    free(axis->values);
}
