/*
 * plot_colour.c: the colour map. Lightness rises steadily from 0 to 1, so that the map
 * also reads in grey and by eyes that do not tell red from green.
 */
#include <math.h>

#include "plot.h"

/* Chosen in OKLab: lightness 0.24 to 0.93 in even steps, hue from violet to yellow. */
static const uint8_t anchors[][3] = {
    {45, 6, 74},    {55, 34, 111},  {53, 63, 134},  {41, 92, 142},  {27, 119, 142},
    {26, 146, 137}, {53, 172, 122}, {106, 196, 94}, {172, 214, 60}, {244, 229, 60},
};

plot_colour plot_colour_of(double part)
{
    int last = (int)CLI_COUNT(anchors) - 1;
    double at = (!(part > 0) ? 0 : part > 1 ? 1 : part) * last;
    int i = at >= last ? last - 1 : (int)at;
    double above = at - i;
    uint8_t mixed[3];
    for (int k = 0; k < 3; k++)
        mixed[k] = (uint8_t)lround(anchors[i][k] * (1 - above) + anchors[i + 1][k] * above);
    return (plot_colour){mixed[0], mixed[1], mixed[2]};
}
