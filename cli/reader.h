/*
 * Reading the text of values, piece by piece: what the files behind element.h share.
 */
#ifndef ZELLIGE_CLI_READER_H
#define ZELLIGE_CLI_READER_H

#include "element.h"

typedef struct cli_reader {
    cli_element *element; /* its bytes grow */
    const char *at;
    zlg_error *err;
} cli_reader;

/* reader.c: USAGE, with what was found instead. */
zlg_status cli_reader_expected(const cli_reader *r, const char *what);
zlg_status cli_reader_add(cli_reader *r, const void *data, size_t n);
void cli_reader_skip_blanks(cli_reader *r);
/* A sign, and the blanks around it. */
zlg_status cli_reader_take(cli_reader *r, char sign);
/* A word, in quotes or bare. */
bool cli_reader_take_word(cli_reader *r, const char *word);
/* Whether a bare value ends here: at a blank, a comma, a bracket or the end of the text. */
bool cli_reader_ends_value(const char *at);

/* reader_number.c; bare: not inside JSON. */
zlg_status cli_reader_number(cli_reader *r, zlg_type type);
zlg_status cli_reader_time(cli_reader *r, zlg_dtype dtype, bool bare);

/* reader_string.c: the bytes of a string; bare ones reach to the next tab or the end of the
 * line. */
zlg_status cli_reader_string(cli_reader *r, bool bare);
zlg_status cli_reader_base64(cli_reader *r);
/* A string as n_bytes of code points. */
zlg_status cli_reader_points(cli_reader *r, size_t n_bytes, bool bare);
/* Zeros behind the bytes read since `first`, up to the length of the type. */
zlg_status cli_reader_pad(cli_reader *r, size_t first, size_t n_bytes, size_t unit,
                          const char *units);

#endif
