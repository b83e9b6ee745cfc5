/*
 * os.c: clocks, terminals, signals, memory and page cache; POSIX and Linux. Files that are
 * read as a whole are in os_bytes.c.
 */
#define _GNU_SOURCE
#include "os.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { HUGE_PAGE = 2 << 20 };

void cli_os_start(void)
{
    signal(SIGPIPE, SIG_DFL);
}

int64_t cli_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

bool cli_is_terminal(FILE *file)
{
    return isatty(fileno(file)) == 1;
}

size_t cli_terminal_lines(FILE *file)
{
    struct winsize size;
    enum { USUAL = 24, LEAST = 3 };
    if (ioctl(fileno(file), TIOCGWINSZ, &size) != 0 || size.ws_row == 0)
        return USUAL;
    return size.ws_row < LEAST ? LEAST : size.ws_row;
}

void cli_sleep_ms(int64_t ms)
{
    struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

/* ------------------------------------------------------------------ Ctrl-C */

static int interrupted; /* atomic; a signal handler has nowhere else to put it */

/* The time is over: whatever is in hand, such as a large chunk, is let go. */
static void on_alarm(int number)
{
    (void)number;
    raise(SIGINT);
}

static void on_interrupt(int number)
{
    const struct itimerval patience = {.it_value = {.tv_usec = 60 * 1000}};
    (void)number;
    __atomic_store_n(&interrupted, 1, __ATOMIC_RELAXED);
    setitimer(ITIMER_REAL, &patience, NULL);
}

const int *cli_interrupt_flag(void)
{
    return &interrupted;
}

const int *cli_catch_interrupt(void)
{
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};
    struct sigaction before;
    signal(SIGALRM, on_alarm);
    /* Whoever started us may want it ignored. */
    if (sigaction(SIGINT, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(SIGINT, &action, NULL);
    return &interrupted;
}

bool cli_interrupted(void)
{
    return __atomic_load_n(&interrupted, __ATOMIC_RELAXED) != 0;
}

void cli_die_of_interrupt(void)
{
    signal(SIGINT, SIG_DFL);
    raise(SIGINT);
}

/* ------------------------------------------------------------------ memory, files */

void *cli_block_get(size_t n_bytes)
{
    if (n_bytes < HUGE_PAGE)
        return malloc(n_bytes ? n_bytes : 1);
    size_t n_round = n_bytes + (HUGE_PAGE - 1);
    if (n_round < n_bytes)
        return NULL;
    n_round -= n_round % HUGE_PAGE;
    void *block = aligned_alloc(HUGE_PAGE, n_round);
    if (block)
        madvise(block, n_round, MADV_HUGEPAGE);
    return block;
}

void cli_block_free(void *block)
{
    free(block);
}

void cli_remove_folder(const char *path)
{
    (void)rmdir(path);
}

/* Up to the slash before the last name of what begins the path; 0 when there is none. */
static size_t shorten(const char *path, size_t n)
{
    while (n > 0 && path[n - 1] == '/')
        n--;
    while (n > 0 && path[n - 1] != '/')
        n--;
    return n;
}

size_t cli_existing(const char *path)
{
    size_t n = strlen(path);
    for (; n > 0; n = shorten(path, n)) {
        char *part = strndup(path, n);
        bool is_there = part == NULL || access(part, F_OK) == 0;
        free(part);
        if (is_there)
            break;
    }
    return n;
}

void cli_remove_folders(const char *path, size_t n)
{
    for (size_t i = strlen(path); i > n; i = shorten(path, i)) {
        char *part = strndup(path, i);
        bool is_gone = part != NULL && rmdir(part) == 0;
        free(part);
        if (!is_gone)
            break;
    }
}

char *cli_plain_folder(const char *path)
{
    static const char scheme[] = "file://", host[] = "localhost/";
    char *out = strdup(path), *to = out;
    if (strncmp(path, scheme, strlen(scheme)) != 0 || !out)
        return out;
    path += strlen(scheme);
    if (strncmp(path, host, strlen(host)) == 0)
        path += strlen(host) - 1;
    while (*path) {
        char code[3] = {0};
        bool is_coded = *path == '%' && isxdigit((unsigned char)path[1]) &&
                        isxdigit((unsigned char)path[2]);
        if (is_coded)
            memcpy(code, path + 1, 2);
        *to++ = is_coded ? (char)strtol(code, NULL, 16) : *path;
        path += is_coded ? 3 : 1;
    }
    *to = 0;
    return out;
}

int cli_forget_file(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    fdatasync(fd); /* pages not yet written cannot be forgotten */
    int code = posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
    return code;
}
