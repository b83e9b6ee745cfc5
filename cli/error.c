/*
 * error.c: errors of the command line itself, in the form of the library's. A message is
 * one line, whatever argument went into it.
 */
#include <stdarg.h>

#include "cli.h"

zlg_status cli_fail(zlg_error *err, zlg_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(err->message, sizeof err->message, format, arguments);
    va_end(arguments);
    err->status = status;
    for (char *at = err->message; *at; at++)
        if ((unsigned char)*at < ' ')
            *at = '?';
    return status;
}

zlg_status cli_no_memory(zlg_error *err, size_t n_bytes)
{
    return cli_fail(err, ZLG_NO_MEMORY, "%zu bytes of memory could not be had", n_bytes);
}
