/*
 * plot_map.c: a slice of two axes as a map of colours with a scale. Each pixel is the mean
 * of the cells below it that are not missing.
 */
#include <math.h>

#include "plot.h"

enum {
    TOP = 44,
    BOTTOM = 60,
    BAR_GAP = 18,
    BAR = 16,
    TICK = 11,
    LABEL = 42,
    LEAST_HEIGHT = 150
};

typedef struct drawing {
    plot_canvas *canvas;
    const plot_data *data;
    const plot_axis *rows, *columns;
    int left, width, height; /* of the map */
    double low, high;        /* of the colours */
} drawing;

/* Along an axis: the map's first pixel shows the last cell. Coordinates grow to the right
 * and upwards; rows without coordinates are counted from the top. */
static bool is_mirrored(const drawing *d, const plot_axis *axis)
{
    return axis == d->columns ? axis->falling && axis->has_coordinates
                              : !axis->falling && axis->has_coordinates;
}

/* ------------------------------------------------------------------ cells */

static void cells_below(const drawing *d, const plot_axis *axis, int pixel, int length,
                        int64_t *first, int64_t *end)
{
    if (is_mirrored(d, axis))
        pixel = length - 1 - pixel;
    *first = (int64_t)pixel * axis->n / length;
    *end = (int64_t)(pixel + 1) * axis->n / length;
    *end += *end == *first;
}

static plot_colour colour_below(const drawing *d, int x, int y)
{
    int64_t row, row_end, column, column_end;
    double sum = 0;
    int64_t n = 0;
    cells_below(d, d->rows, y, d->height, &row, &row_end);
    cells_below(d, d->columns, x, d->width, &column, &column_end);
    for (int64_t i = row; i < row_end; i++)
        for (int64_t k = column; k < column_end; k++) {
            double value = d->data->values[i * d->columns->n + k];
            if (isnan(value))
                continue;
            sum += value;
            n++;
        }
    if (n == 0)
        return PLOT_MISSING;
    return plot_colour_of(plot_part(sum / (double)n, d->low, d->high));
}

static void draw_cells(const drawing *d)
{
    for (int y = 0; y < d->height; y++)
        for (int x = 0; x < d->width; x++)
            plot_pixel(d->canvas, d->left + x, TOP + y, colour_below(d, x, y));
    plot_frame(d->canvas, d->left, TOP, d->width, d->height);
}

/* ------------------------------------------------------------------ axes */

static double place(const drawing *d, const plot_axis *axis, double value, int length)
{
    double at = (plot_axis_find(axis, value) + 0.5) / (double)axis->n * length;
    return is_mirrored(d, axis) ? length - at : at;
}

static void draw_axes(const drawing *d)
{
    plot_tick ticks[PLOT_MAX_TICKS];
    int bottom = TOP + d->height;
    int n = plot_axis_ticks(d->columns, d->width / 100, ticks);
    for (int i = 0; i < n; i++) {
        double x = d->left + place(d, d->columns, ticks[i].value, d->width);
        plot_fill(d->canvas, (int)x, bottom + 1, 1, 5, PLOT_INK);
        plot_text(d->canvas, x, bottom + 21, PLOT_TEXT, PLOT_CENTRE, false, ticks[i].text);
    }
    n = plot_axis_ticks(d->rows, d->height / 40, ticks);
    for (int i = 0; i < n; i++) {
        double y = TOP + place(d, d->rows, ticks[i].value, d->height);
        plot_fill(d->canvas, d->left - 6, (int)y, 5, 1, PLOT_INK);
        plot_text(d->canvas, d->left - 11, y + PLOT_TEXT / 2, PLOT_TEXT, PLOT_RIGHT, false,
                  ticks[i].text);
    }
    plot_text(d->canvas, d->left + d->width / 2.0, bottom + 46, PLOT_TEXT, PLOT_CENTRE,
              false, d->columns->label);
    plot_text(d->canvas, 20, TOP + d->height / 2.0, PLOT_TEXT, PLOT_CENTRE, true,
              d->rows->label);
}

/* ------------------------------------------------------------------ scale */

static void draw_scale(const drawing *d)
{
    plot_tick ticks[PLOT_MAX_TICKS];
    int x = d->left + d->width + BAR_GAP, height = d->height;
    if (d->data->some_missing) {
        height -= 34;
        plot_fill(d->canvas, x, TOP + d->height - BAR, BAR, BAR, PLOT_MISSING);
        plot_frame(d->canvas, x, TOP + d->height - BAR, BAR, BAR);
        plot_text(d->canvas, x + BAR + 8, TOP + d->height - BAR / 2 + PLOT_TEXT / 2,
                  PLOT_TEXT, PLOT_LEFT, false, "missing");
    }
    for (int y = 0; y < height; y++)
        plot_fill(d->canvas, x, TOP + y, BAR, 1,
                  plot_colour_of(1 - (y + 0.5) / (double)height));
    plot_frame(d->canvas, x, TOP, BAR, height);
    int n = plot_ticks(d->low, d->high, height / 50, ticks);
    for (int i = 0; i < n; i++) {
        double part = plot_part(ticks[i].value, d->low, d->high);
        double y = TOP + (1 - part) * height;
        plot_fill(d->canvas, x + BAR + 1, (int)y, 4, 1, PLOT_INK);
        plot_text(d->canvas, x + BAR + 9, y + PLOT_TEXT / 2, PLOT_TEXT, PLOT_LEFT, false,
                  ticks[i].text);
    }
    plot_text(d->canvas, d->canvas->width - 14, TOP + height / 2.0, PLOT_TEXT, PLOT_CENTRE,
              true, d->data->label);
}

/* ------------------------------------------------------------------ map */

/* Width over height of the map; degrees of both axes are drawn alike. */
static double aspect(const plot_axis *rows, const plot_axis *columns)
{
    double width = (double)columns->n, height = (double)rows->n;
    if (rows->is_degrees && columns->is_degrees && rows->n > 1 && columns->n > 1) {
        width = fabs(columns->values[columns->n - 1] - columns->values[0]);
        height = fabs(rows->values[rows->n - 1] - rows->values[0]);
    }
    double ratio = width / height;
    return !(ratio > 0.8) ? 0.8 : ratio > 4 ? 4 : ratio;
}

/* Room for what stands left and right of the map. */
static int left_margin(const plot_axis *rows)
{
    plot_tick ticks[PLOT_MAX_TICKS];
    int n = plot_axis_ticks(rows, 10, ticks);
    return LABEL + plot_ticks_width(ticks, n) + TICK;
}

static int right_margin(const plot_data *data)
{
    plot_tick ticks[PLOT_MAX_TICKS];
    int n = plot_ticks(data->low, data->high, 10, ticks);
    int width = plot_ticks_width(ticks, n);
    int missing = data->some_missing ? (int)plot_text_width("missing", PLOT_TEXT) : 0;
    return BAR_GAP + BAR + TICK + (width > missing ? width : missing) + LABEL;
}

int plot_map_height(int width, const plot_data *data, const plot_axis *rows,
                    const plot_axis *columns)
{
    int room = width - left_margin(rows) - right_margin(data);
    int height = (int)(room / aspect(rows, columns));
    return TOP + BOTTOM + (height < LEAST_HEIGHT ? LEAST_HEIGHT : height);
}

void plot_map(plot_canvas *canvas, const char *title, const plot_data *data,
              const plot_axis *rows, const plot_axis *columns)
{
    drawing d = {.canvas = canvas,
                 .data = data,
                 .rows = rows,
                 .columns = columns,
                 .left = left_margin(rows),
                 .height = canvas->height - TOP - BOTTOM,
                 .low = data->low,
                 .high = data->high};
    d.width = canvas->width - d.left - right_margin(data);
    draw_cells(&d);
    draw_axes(&d);
    draw_scale(&d);
    plot_text(canvas, d.left, 28, PLOT_TITLE, PLOT_LEFT, false, title);
}
