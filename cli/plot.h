/*
 * Drawing a map or a line into a PNG. The canvas knows pixels, the axes know values, the
 * two drawings bring them together; cmd_plot.c chooses what is drawn.
 */
#ifndef ZELLIGE_CLI_PLOT_H
#define ZELLIGE_CLI_PLOT_H

#include "cli.h"
#include "times.h"

/* ------------------------------------------------------------------ plot_canvas.c */

typedef struct plot_colour {
    uint8_t r, g, b;
} plot_colour;

typedef struct plot_point {
    double x, y;
} plot_point;

/* Pixels from the top left; points lie between them, (0.5, 0.5) is the first centre. */
typedef struct plot_canvas {
    int width, height;
    uint8_t *rgb;
    uint8_t *ink; /* how far the stroke being drawn covers each pixel */
} plot_canvas;

#define PLOT_WHITE ((plot_colour){255, 255, 255})
#define PLOT_INK ((plot_colour){40, 40, 48})
#define PLOT_FAINT ((plot_colour){222, 222, 228})
#define PLOT_MISSING ((plot_colour){178, 178, 178})

zlg_status plot_canvas_new(plot_canvas *canvas, int width, int height, zlg_error *err);
void plot_canvas_free(plot_canvas *canvas);
void plot_pixel(plot_canvas *canvas, int x, int y, plot_colour colour);
void plot_fill(plot_canvas *canvas, int x, int y, int width, int height,
               plot_colour colour);
/* The outline of a rectangle, one pixel wide and outside it. */
void plot_frame(plot_canvas *canvas, int x, int y, int width, int height);
/* A line through points. Several strokes between begin and end overlap as one. */
void plot_ink_stroke(plot_canvas *canvas, const plot_point *points, size_t n, double width);
void plot_ink_dry(plot_canvas *canvas, plot_colour colour);
/* plot_png.c */
zlg_status plot_png_write(const plot_canvas *canvas, const char *path, zlg_error *err);

/* ------------------------------------------------------------------ plot_font.c */

typedef enum plot_anchor { PLOT_LEFT, PLOT_CENTRE, PLOT_RIGHT } plot_anchor;

/* Capitals are this high, in pixels. */
#define PLOT_TEXT 10.0
#define PLOT_TITLE 13.0

double plot_text_width(const char *text, double height);
/* (x, y) is on the base line, at the anchor. upwards: the text is read from below. */
void plot_text(plot_canvas *canvas, double x, double y, double height, plot_anchor anchor,
               bool upwards, const char *text);

/* ------------------------------------------------------------------ plot_colour.c */

/* From dark blue (0) over green to yellow (1), lighter all the way. */
plot_colour plot_colour_of(double part);

/* ------------------------------------------------------------------ plot_data.c */

/* Values of a slice as numbers, in C order; NaN where they are missing. */
typedef struct plot_data {
    double *values;
    int64_t n;
    double low, high; /* of those that are there; NaN: none is */
    bool some_missing;
    char label[256]; /* what they are, with their unit */
} plot_data;

/* Free in any case. attributes: JSON of the array. */
zlg_status plot_data_read(const cli_settings *settings, zlg_array *array,
                          const cli_selection *selection, plot_data *out, zlg_error *err);
void plot_data_free(plot_data *data);
/* "name (unit)" */
void plot_label(const char *name, const char *attributes, char out[256]);

/* ------------------------------------------------------------------ plot_axis.c */

enum { PLOT_MAX_TICKS = 16 };

typedef struct plot_tick {
    double value;
    char text[32];
} plot_tick;

/* Values along an axis: coordinates where there are some, else positions. */
typedef struct plot_axis {
    double *values; /* strictly rising or falling */
    int64_t n;
    bool has_coordinates, falling, is_degrees;
    bool is_time; /* values are days since 1970 in a calendar */
    cli_calendar calendar;
    char label[256];
} plot_axis;

/* Where a value is between two, 0 to 1; their distance may be more than a double holds. */
double plot_part(double value, double low, double high);
/* The axis of an array that a selection leaves. Free in any case. */
zlg_status plot_axis_make(const cli_settings *settings, const cli_node *node,
                          zlg_array *array, const cli_selection *selection, int axis,
                          plot_axis *out, zlg_error *err);
void plot_axis_free(plot_axis *axis);
/* Where a value is, in cells from the first one's centre. */
double plot_axis_find(const plot_axis *axis, double value);
/* Round values between two, about n_wanted of them. Returns how many. */
int plot_ticks(double low, double high, int n_wanted, plot_tick out[PLOT_MAX_TICKS]);
int plot_axis_ticks(const plot_axis *axis, int n_wanted, plot_tick out[PLOT_MAX_TICKS]);
/* Of the widest text, in pixels. */
int plot_ticks_width(const plot_tick *ticks, int n);
/* plot_time.c */
int plot_time_ticks(cli_calendar calendar, double low, double high, int n_wanted,
                    plot_tick out[PLOT_MAX_TICKS]);
/* "days since 2000-01-01" with a calendar, both as JSON: to days since 1970; false when it
 * is not understood. */
bool plot_time_units(const char *units, const char *calendar, double *scale, double *offset,
                     cli_calendar *out);

/* ------------------------------------------------------------------ drawings */

/* Height of the picture for a width. */
int plot_map_height(int width, const plot_data *data, const plot_axis *rows,
                    const plot_axis *columns);
void plot_map(plot_canvas *canvas, const char *title, const plot_data *data,
              const plot_axis *rows, const plot_axis *columns);
void plot_line(plot_canvas *canvas, const char *title, const plot_data *data,
               const plot_axis *axis);

#endif
