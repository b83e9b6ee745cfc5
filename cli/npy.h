/*
 * NumPy files: what writing and reading them share.
 */
#ifndef ZELLIGE_CLI_NPY_H
#define ZELLIGE_CLI_NPY_H

#include "cli.h"

/* The type of an array's elements, "'<f4'" or "[('x', '<i2')]". */
void cli_npy_descr(FILE *out, const zlg_array *array);
/* "(2, 3)" */
void cli_npy_shape(FILE *out, int rank, const int64_t *shape);

#endif
