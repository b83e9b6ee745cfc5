/*
 * Errors: the status table as functions, and messages built from the outside in.
 *
 * Knows the caller's zlg_error and nothing of who fails. A message is always valid UTF-8
 * on one line, whatever bytes of a document or a key went into it, so that a terminal or
 * a Python string may take it as it is.
 */
#include <stdarg.h>
#include <stdio.h>

#include "base/base.h"

#define STRINGIFY(x) #x
#define VERSION_TEXT(a, b, c) STRINGIFY(a) "." STRINGIFY(b) "." STRINGIFY(c)

enum { MESSAGE_BYTES = sizeof(((zlg_error *)0)->message) };

const char *zlg_version(void)
{
    return VERSION_TEXT(ZLG_VERSION_MAJOR, ZLG_VERSION_MINOR, ZLG_VERSION_PATCH);
}

const char *zlg_status_name(zlg_status status)
{
    switch (status) {
    case ZLG_OK:
        return "ok";
#define CASE(name, number, text, exit_code, meaning)                                       \
    case ZLG_##name:                                                                       \
        return text;
        ZLG_STATUS_TABLE(CASE)
#undef CASE
    }
    return "unknown";
}

int zlg_status_exit_code(zlg_status status)
{
    switch (status) {
    case ZLG_OK:
        return 0;
#define CASE(name, number, text, exit_code, meaning)                                       \
    case ZLG_##name:                                                                       \
        return exit_code;
        ZLG_STATUS_TABLE(CASE)
#undef CASE
    }
    return 1;
}

/* Drops the start of a character that was cut in half at the end. */
static void trim_cut_character(char *text)
{
    size_t n = strlen(text);
    size_t i = n;
    while (i > 0 && n - i < 3 && ((uint8_t)text[i - 1] & 0xc0) == 0x80)
        i--;
    if (i == 0 || (uint8_t)text[i - 1] < 0xc0)
        return;
    uint8_t first = (uint8_t)text[i - 1];
    size_t n_wanted = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (n - (i - 1) < n_wanted)
        text[i - 1] = '\0';
}

/* Control characters become '?'; in text that is not UTF-8, so does all but ASCII. */
static void make_printable(char *text)
{
    bool ascii_only = !zlgi_utf8_valid((const uint8_t *)text, strlen(text));
    for (uint8_t *c = (uint8_t *)text; *c != '\0'; c++)
        if (*c < 0x20 || *c == 0x7f || (ascii_only && *c >= 0x80))
            *c = '?';
}

static void format_text(char out[MESSAGE_BYTES], const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

static void format_text(char out[MESSAGE_BYTES], const char *format, va_list args)
{
    int n = vsnprintf(out, MESSAGE_BYTES, format, args);
    if (n < 0)
        out[0] = '\0';
    else if (n >= MESSAGE_BYTES)
        trim_cut_character(out);
    make_printable(out);
}

zlg_status zlgi_fail(zlg_error *err, zlg_status status, const char *format, ...)
{
    if (err == NULL)
        return status;
    /* By way of a copy: an argument may be the old message. */
    char text[MESSAGE_BYTES];
    va_list args;
    va_start(args, format);
    format_text(text, format, args);
    va_end(args);
    err->status = status;
    memcpy(err->message, text, strlen(text) + 1);
    return status;
}

zlg_status zlgi_within(zlg_error *err, zlg_status status, const char *format, ...)
{
    if (err == NULL || status == ZLG_OK)
        return status;
    char context[MESSAGE_BYTES], cause[MESSAGE_BYTES];
    va_list args;
    va_start(args, format);
    format_text(context, format, args);
    va_end(args);
    memcpy(cause, err->message, MESSAGE_BYTES);
    cause[MESSAGE_BYTES - 1] = '\0';

    /* The cause matters most: a long context gives way to it down to half the room. */
    const size_t room = MESSAGE_BYTES - 3;
    size_t n_kept = ZLGI_MAX(room - ZLGI_MIN(strlen(cause), room), room / 2);
    if (strlen(context) > n_kept) {
        context[n_kept] = '\0';
        trim_cut_character(context);
    }
    err->status = status;
    return zlgi_fail(err, status, "%s%s%s", context, cause[0] ? ": " : "", cause);
}

bool zlgi_error_begins(const zlg_error *err, const char *format, ...)
{
    char context[MESSAGE_BYTES];
    va_list args;
    va_start(args, format);
    format_text(context, format, args);
    va_end(args);
    size_t n = strlen(context);
    return strncmp(err->message, context, n) == 0 && strchr(":", err->message[n]) != NULL;
}

zlg_status zlgi_no_memory(zlg_error *err, size_t n_bytes)
{
    return zlgi_fail(err, ZLG_NO_MEMORY, "%zu bytes of memory could not be had", n_bytes);
}

zlg_status zlgi_foreign(zlg_status status, zlg_status instead, zlg_error *own,
                        zlg_error *err)
{
    if (status == ZLG_OK)
        return ZLG_OK;
    if (status == ZLG_NOT_FOUND || status == ZLG_EXISTS || status == ZLG_CANCELLED ||
        strcmp(zlg_status_name(status), "unknown") == 0)
        status = instead;
    own->status = status;
    own->message[MESSAGE_BYTES - 1] = '\0';
    if (own->message[0] == '\0')
        zlgi_fail(own, status, "it failed and did not say why");
    if (err != NULL)
        *err = *own;
    return status;
}
