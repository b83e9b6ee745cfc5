/*
 * What the command line asks of the operating system.
 */
#ifndef ZELLIGE_CLI_OS_H
#define ZELLIGE_CLI_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A reader that goes away ends us quietly. */
void cli_os_start(void);

int64_t cli_now_ns(void);
bool cli_is_terminal(FILE *file);

/* From now on Ctrl-C sets a flag, once; a second one ends the program. */
const int *cli_catch_interrupt(void);
bool cli_interrupted(void);
/* Ends as a program that Ctrl-C has killed, so that a shell stops, too. */
void cli_die_of_interrupt(void);

/* Memory for many elements, in huge pages where there are some; NULL when none is left. */
void *cli_block_get(size_t n_bytes);
void cli_block_free(void *block);

/* Asks the system to forget what it keeps of a file in memory. */
void cli_forget_file(const char *path);

#endif
