/*
 * Elements from text: the way back of what `cat` shows.
 */
#ifndef ZELLIGE_CLI_ELEMENT_H
#define ZELLIGE_CLI_ELEMENT_H

#include "cli.h"

/* The numbers that a float type of 16 bits or fewer has, and their bits. */
typedef struct cli_small_floats {
    zlg_type type; /* 0: not made yet */
    struct cli_small_float {
        double value;
        uint32_t bits;
    } * list; /* in ascending order, without NaN */
    size_t n;
    bool ties_up; /* without a mantissa every number is odd */
    bool has_nan;
    uint32_t nan_bits;
} cli_small_floats;

typedef struct cli_element {
    const zlg_array *array;
    zlg_dtype dtype;
    cli_small_floats floats; /* of the one type that an element has parts of, mostly */
    uint8_t *bytes;          /* the element that was read last */
    size_t n_bytes, n_room;
} cli_element;

void cli_element_start(cli_element *element, const zlg_array *array);
void cli_element_end(cli_element *element);

/*
 * Reads one value at the beginning of a text; *out_end is behind it. json 1: as JSON, where
 * strings have quotes; else as the text of `cat`: strings end with a tab or the line, and
 * times are dates or counts.
 */
zlg_status cli_element_read(cli_element *element, const char *text, bool json,
                            const char **out_end, zlg_error *err);

/* small_floats.c: the bits of a number, rounded to nearest, ties to even. */
zlg_status cli_small_float(cli_small_floats *floats, zlg_type type, double value,
                           uint32_t *out_bits, zlg_error *err);
void cli_small_floats_free(cli_small_floats *floats);
/* Fails like that for a number that does not fit or is none. */
zlg_status cli_element_expected(const char *what, const char *text, zlg_error *err);

#endif
