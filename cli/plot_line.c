/*
 * plot_line.c: a slice of one axis as a line. Where values are missing the line breaks
 * and the ground is grey.
 */
#include <math.h>
#include <stdlib.h>

#include "plot.h"

enum { TOP = 44, BOTTOM = 60, RIGHT = 28, TICK = 11, LABEL = 42 };

#define LINE_COLOUR ((plot_colour){33, 104, 163})

typedef struct drawing {
    plot_canvas *canvas;
    const plot_data *data;
    const plot_axis *axis;
    int left, width, height;
    double first, last; /* of the axis, from left to right */
    double low, high;
} drawing;

static double place_x(const drawing *d, double value)
{
    double part = d->first == d->last ? 0.5 : plot_part(value, d->first, d->last);
    return d->left + part * d->width;
}

static double place_y(const drawing *d, double value)
{
    return TOP + (1 - plot_part(value, d->low, d->high)) * d->height;
}

static double middle_x(const drawing *d, int64_t a, int64_t b)
{
    return place_x(d, d->axis->values[a] / 2 + d->axis->values[b] / 2);
}

/* From half way to the value before to half way to the one behind. */
static void draw_missing(const drawing *d)
{
    int64_t n = d->data->n;
    for (int64_t i = 0; i < n; i++) {
        if (!isnan(d->data->values[i]))
            continue;
        double a = middle_x(d, i > 0 ? i - 1 : i, i),
               b = middle_x(d, i, i + 1 < n ? i + 1 : i);
        int x = (int)fmin(a, b), end = (int)ceil(fmax(a, b));
        plot_fill(d->canvas, x, TOP, end > x ? end - x : 1, d->height, PLOT_MISSING);
    }
}

static void draw_axes(const drawing *d)
{
    plot_tick ticks[PLOT_MAX_TICKS];
    int bottom = TOP + d->height;
    int n = plot_ticks(d->low, d->high, d->height / 50, ticks);
    for (int i = 0; i < n; i++) {
        int y = (int)place_y(d, ticks[i].value);
        plot_fill(d->canvas, d->left, y, d->width, 1, PLOT_FAINT);
        plot_fill(d->canvas, d->left - 6, y, 5, 1, PLOT_INK);
        plot_text(d->canvas, d->left - 11, y + PLOT_TEXT / 2, PLOT_TEXT, PLOT_RIGHT, false,
                  ticks[i].text);
    }
    n = plot_axis_ticks(d->axis, d->width / 100, ticks);
    for (int i = 0; i < n; i++) {
        double x = place_x(d, ticks[i].value);
        plot_fill(d->canvas, (int)x, bottom + 1, 1, 5, PLOT_INK);
        plot_text(d->canvas, x, bottom + 21, PLOT_TEXT, PLOT_CENTRE, false, ticks[i].text);
    }
    plot_frame(d->canvas, d->left, TOP, d->width, d->height);
    plot_text(d->canvas, d->left + d->width / 2.0, bottom + 46, PLOT_TEXT, PLOT_CENTRE,
              false, d->axis->label);
    plot_text(d->canvas, 20, TOP + d->height / 2.0, PLOT_TEXT, PLOT_CENTRE, true,
              d->data->label);
}

/* A value alone between missing ones is a dot. */
static void draw_values(const drawing *d)
{
    plot_point before = {0, 0};
    bool joined = false;
    for (int64_t i = 0; i < d->data->n; i++) {
        double value = d->data->values[i];
        if (isnan(value)) {
            joined = false;
            continue;
        }
        plot_point point = {place_x(d, d->axis->values[i]), place_y(d, value)};
        plot_point pair[2] = {joined ? before : point, point};
        plot_ink_stroke(d->canvas, pair, 2, 1.6);
        before = point;
        joined = true;
    }
    plot_ink_dry(d->canvas, LINE_COLOUR);
}

void plot_line(plot_canvas *canvas, const char *title, const plot_data *data,
               const plot_axis *axis)
{
    double margin = 0.04 * (data->high - data->low);
    margin = isfinite(margin) ? margin : 0;
    bool mirrored = axis->falling && axis->has_coordinates;
    drawing d = {.canvas = canvas,
                 .data = data,
                 .axis = axis,
                 .height = canvas->height - TOP - BOTTOM,
                 .first = axis->values[mirrored ? axis->n - 1 : 0],
                 .last = axis->values[mirrored ? 0 : axis->n - 1],
                 .low = data->low - margin,
                 .high = data->high + margin};
    plot_tick ticks[PLOT_MAX_TICKS];
    int n = plot_ticks(d.low, d.high, d.height / 50, ticks);
    d.left = LABEL + plot_ticks_width(ticks, n) + TICK;
    d.width = canvas->width - d.left - RIGHT;
    draw_missing(&d);
    draw_axes(&d);
    draw_values(&d);
    plot_text(canvas, d.left, 28, PLOT_TITLE, PLOT_LEFT, false, title);
    if (data->some_missing)
        plot_text(canvas, canvas->width - RIGHT, 28, PLOT_TEXT, PLOT_RIGHT, false,
                  "grey: missing");
}
