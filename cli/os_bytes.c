/*
 * os_bytes.c: input as one run of bytes, however large: a file is mapped, a pipe goes into
 * memory and then into a file without a name. Nothing is held twice.
 */
#define _GNU_SOURCE
#include "os.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "zellige.h"

enum { SPOOL_MOST = 32 << 20, SPOOL_LEAST = 64 << 10, PIPE_BYTES = 1 << 16 };

/* ------------------------------------------------------------------ mapped files */

static void on_bus_error(int number)
{
    static const char text[] = "zellige: io: the input became shorter, or could not be "
                               "read, while it was in use\n";
    (void)number;
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
        _exit(1);
    _exit(zlg_status_exit_code(ZLG_IO));
}

/* n bytes of a file from its start on. Below lie pages of zeros, so that what follows the
 * last byte is one, also where a page ends. */
static int map_file(int fd, size_t n, cli_bytes *out)
{
    struct sigaction action = {.sa_handler = on_bus_error};
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t n_block = n + 1;
    if (n > SIZE_MAX - page)
        return EFBIG;
    n_block += (page - n_block % page) % page;
    void *block = mmap(NULL, n_block, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED)
        return errno;
    *out = (cli_bytes){.data = block, .n = n, .block = block, .n_block = n_block};
    if (n == 0)
        return 0;
    sigaction(SIGBUS, &action, NULL);
    if (mmap(block, n, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED)
        return errno;
    return 0;
}

static int read_pipe(int fd, cli_bytes *out)
{
    cli_spool spool = {0};
    char *piece = malloc(PIPE_BYTES);
    int code = piece ? 0 : ENOMEM;
    while (code == 0) {
        ssize_t n = read(fd, piece, PIPE_BYTES);
        if (n == 0)
            break;
        if (n > 0)
            code = cli_spool_add(&spool, piece, (size_t)n);
        else if (errno != EINTR)
            code = errno;
    }
    if (code == 0)
        code = cli_spool_finish(&spool, out);
    cli_spool_drop(&spool);
    free(piece);
    return code;
}

/* Standard input may stand in the middle of a file. */
static int read_open_file(int fd, cli_bytes *out)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return errno;
    if (S_ISDIR(status.st_mode))
        return EISDIR;
    if (!S_ISREG(status.st_mode))
        return read_pipe(fd, out);
    off_t at = lseek(fd, 0, SEEK_CUR);
    if (at < 0 || (uint64_t)status.st_size > SIZE_MAX)
        return at < 0 ? errno : EFBIG;
    int code = map_file(fd, (size_t)status.st_size, out);
    size_t n_before = (size_t)at < out->n ? (size_t)at : out->n;
    out->data += n_before;
    out->n -= n_before;
    return code;
}

int cli_bytes_open(const char *path, cli_bytes *out)
{
    *out = (cli_bytes){.data = NULL};
    if (strcmp(path, "-") == 0)
        return read_open_file(STDIN_FILENO, out);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    int code = read_open_file(fd, out);
    close(fd);
    return code;
}

void cli_bytes_close(cli_bytes *bytes)
{
    if (bytes->block)
        munmap(bytes->block, bytes->n_block);
    *bytes = (cli_bytes){.data = NULL};
}

/* ------------------------------------------------------------------ spools */

static int open_nameless(void)
{
    const char *folder = getenv("TMPDIR");
    char path[4096];
    int n = snprintf(path, sizeof path, "%s/zellige-XXXXXX",
                     folder && *folder ? folder : "/var/tmp");
    if (n < 0 || (size_t)n >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

static int file_buffer(cli_spool *spool)
{
    if (!spool->has_file && (spool->fd = open_nameless()) < 0)
        return errno;
    spool->has_file = true;
    for (size_t done = 0; done < spool->n;) {
        ssize_t n = write(spool->fd, spool->buffer + done, spool->n - done);
        if (n < 0 && errno != EINTR)
            return errno;
        done += n > 0 ? (size_t)n : 0;
    }
    spool->n_filed += spool->n;
    spool->n = 0;
    return 0;
}

/* Memory that the system gives is zero: one byte behind what was added stays so. */
static int grow(cli_spool *spool)
{
    size_t n_room = spool->n_room ? 2 * spool->n_room : SPOOL_LEAST;
    void *buffer = spool->buffer
                       ? mremap(spool->buffer, spool->n_room, n_room, MREMAP_MAYMOVE)
                       : mmap(NULL, n_room, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (buffer == MAP_FAILED)
        return errno;
    spool->buffer = buffer;
    spool->n_room = n_room;
    return 0;
}

static int make_room(cli_spool *spool)
{
    if (spool->n < spool->n_room)
        return 0;
    return spool->n_room < SPOOL_MOST ? grow(spool) : file_buffer(spool);
}

int cli_spool_add(cli_spool *spool, const void *data, size_t n)
{
    const char *at = data;
    while (n > 0) {
        int code = make_room(spool);
        if (code)
            return code;
        size_t n_free = spool->n_room - spool->n;
        size_t n_piece = n < n_free ? n : n_free;
        memcpy(spool->buffer + spool->n, at, n_piece);
        spool->n += n_piece;
        at += n_piece;
        n -= n_piece;
    }
    return 0;
}

int cli_spool_finish(cli_spool *spool, cli_bytes *out)
{
    *out = (cli_bytes){.data = NULL};
    int code = make_room(spool);
    if (code == 0 && spool->has_file) {
        code = file_buffer(spool);
        if (code == 0)
            code = map_file(spool->fd, (size_t)spool->n_filed, out);
    } else if (code == 0) {
        *out = (cli_bytes){.data = spool->buffer,
                           .n = spool->n,
                           .block = spool->buffer,
                           .n_block = spool->n_room};
        spool->buffer = NULL;
    }
    cli_spool_drop(spool);
    return code;
}

void cli_spool_drop(cli_spool *spool)
{
    if (spool->has_file)
        close(spool->fd);
    if (spool->buffer)
        munmap(spool->buffer, spool->n_room);
    *spool = (cli_spool){.buffer = NULL};
}
