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
size_t cli_terminal_lines(FILE *file); /* at least 3 */
/* Less when Ctrl-C comes. */
void cli_sleep_ms(int64_t ms);

/* From now on Ctrl-C sets a flag, once; a second one, or 60 ms, end the program. */
const int *cli_catch_interrupt(void);
/* The flag, for what Ctrl-C may end at once. */
const int *cli_interrupt_flag(void);
bool cli_interrupted(void);
/* Ends as a program that Ctrl-C has killed, so that a shell stops, too. */
void cli_die_of_interrupt(void);

/* Memory for many elements, in huge pages where there are some; NULL when none is left. */
void *cli_block_get(size_t n_bytes);
void cli_block_free(void *block);

/*
 * Bytes to read: a file that is mapped into memory, or all that comes out of a pipe. A zero
 * byte stands behind them. A file that shrinks or fails meanwhile ends the program as an
 * error of its kind would.
 */
typedef struct cli_bytes {
    const char *data;
    size_t n;
    void *block;
    size_t n_block;
} cli_bytes;

/*
 * Bytes that are put together piece by piece: a buffer that goes over into a file without a
 * name, in TMPDIR or /var/tmp, when it grows large.
 */
typedef struct cli_spool {
    char *buffer;
    size_t n, n_room;
    bool has_file;
    int fd;
    uint64_t n_filed;
} cli_spool;

/* 0, or an errno. "-": standard input. Close in any case. */
int cli_bytes_open(const char *path, cli_bytes *out);
void cli_bytes_close(cli_bytes *bytes);

/* Start from {0}. 0, or an errno. */
int cli_spool_add(cli_spool *spool, const void *data, size_t n);
/* All that was added; the spool is as at the start. */
int cli_spool_finish(cli_spool *spool, cli_bytes *out);
void cli_spool_drop(cli_spool *spool);

/* Removes a folder in which nothing is; nothing happens to another. */
void cli_remove_folder(const char *path);
/* How much of a path is there, in bytes: the whole, or up to one of its slashes. */
size_t cli_existing(const char *path);
/* Removes a folder, and those above it that lie behind the first n bytes of its path, as
 * far as nothing is in them. */
void cli_remove_folders(const char *path, size_t n);

/* The folder that a PATH names, which may be a file URL: a string of malloc's, or NULL. */
char *cli_plain_folder(const char *path);
/* Asks the system to forget what it keeps of a file in memory. 0, or what went wrong. */
int cli_forget_file(const char *path);

#endif
