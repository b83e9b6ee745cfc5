/*
 * plot_canvas.c: pixels, rectangles and smooth strokes. A stroke is inked into a mask
 * first, so that where its parts overlap it is no darker.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot.h"

zlg_status plot_canvas_new(plot_canvas *canvas, int width, int height, zlg_error *err)
{
    size_t n = (size_t)width * (size_t)height;
    *canvas = (plot_canvas){.width = width, .height = height};
    canvas->rgb = malloc(3 * n);
    canvas->ink = calloc(n, 1);
    if (!canvas->rgb || !canvas->ink)
        return cli_no_memory(err, 4 * n);
    memset(canvas->rgb, 255, 3 * n);
    return ZLG_OK;
}

void plot_canvas_free(plot_canvas *canvas)
{
    free(canvas->rgb);
    free(canvas->ink);
}

void plot_pixel(plot_canvas *canvas, int x, int y, plot_colour colour)
{
    if (x < 0 || y < 0 || x >= canvas->width || y >= canvas->height)
        return;
    uint8_t *pixel = canvas->rgb + 3 * ((size_t)y * (size_t)canvas->width + (size_t)x);
    pixel[0] = colour.r;
    pixel[1] = colour.g;
    pixel[2] = colour.b;
}

void plot_fill(plot_canvas *canvas, int x, int y, int width, int height, plot_colour colour)
{
    for (int j = y; j < y + height; j++)
        for (int i = x; i < x + width; i++)
            plot_pixel(canvas, i, j, colour);
}

void plot_frame(plot_canvas *canvas, int x, int y, int width, int height)
{
    plot_fill(canvas, x - 1, y - 1, width + 2, 1, PLOT_INK);
    plot_fill(canvas, x - 1, y + height, width + 2, 1, PLOT_INK);
    plot_fill(canvas, x - 1, y, 1, height, PLOT_INK);
    plot_fill(canvas, x + width, y, 1, height, PLOT_INK);
}

/* ------------------------------------------------------------------ strokes */

static double distance(plot_point p, plot_point a, plot_point b)
{
    double dx = b.x - a.x, dy = b.y - a.y;
    double length = dx * dx + dy * dy;
    double at = length > 0 ? ((p.x - a.x) * dx + (p.y - a.y) * dy) / length : 0;
    at = at < 0 ? 0 : at > 1 ? 1 : at;
    return hypot(p.x - a.x - at * dx, p.y - a.y - at * dy);
}

static int clamp(double value, int high)
{
    return !(value > 0) ? 0 : value > high ? high : (int)value;
}

/* Covers pixels by how far their centre lies inside the line. */
static void ink_segment(plot_canvas *canvas, plot_point a, plot_point b, double width)
{
    double reach = width / 2 + 0.5;
    int x0 = clamp(fmin(a.x, b.x) - reach, canvas->width);
    int x1 = clamp(fmax(a.x, b.x) + reach + 1, canvas->width);
    int y0 = clamp(fmin(a.y, b.y) - reach, canvas->height);
    int y1 = clamp(fmax(a.y, b.y) + reach + 1, canvas->height);
    for (int y = y0; y < y1; y++)
        for (int x = x0; x < x1; x++) {
            double cover = reach - distance((plot_point){x + 0.5, y + 0.5}, a, b);
            uint8_t *ink = canvas->ink + (size_t)y * (size_t)canvas->width + (size_t)x;
            int amount = clamp(cover * 255, 255);
            *ink = (uint8_t)(amount > *ink ? amount : *ink);
        }
}

void plot_ink_stroke(plot_canvas *canvas, const plot_point *points, size_t n, double width)
{
    for (size_t i = 0; i + 1 < n; i++)
        ink_segment(canvas, points[i], points[i + 1], width);
}

static uint8_t mix(uint8_t below, uint8_t above, int ink)
{
    return (uint8_t)((below * (255 - ink) + above * ink + 127) / 255);
}

void plot_ink_dry(plot_canvas *canvas, plot_colour colour)
{
    size_t n = (size_t)canvas->width * (size_t)canvas->height;
    for (size_t i = 0; i < n; i++) {
        int ink = canvas->ink[i];
        if (ink == 0)
            continue;
        uint8_t *pixel = canvas->rgb + 3 * i;
        pixel[0] = mix(pixel[0], colour.r, ink);
        pixel[1] = mix(pixel[1], colour.g, ink);
        pixel[2] = mix(pixel[2], colour.b, ink);
        canvas->ink[i] = 0;
    }
}
