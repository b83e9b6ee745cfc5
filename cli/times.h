/*
 * Times: counts of a unit since a day, as dates.
 */
#ifndef ZELLIGE_CLI_TIMES_H
#define ZELLIGE_CLI_TIMES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Calendars of climate data: with leap years, without, and of twelve months of 30 days. */
typedef enum cli_calendar { CLI_GREGORIAN, CLI_NO_LEAP, CLI_360_DAY } cli_calendar;

typedef struct cli_date {
    int64_t year;
    int month, day; /* from 1 */
} cli_date;

/* Days since 1970-01-01 of the calendar, and back. */
int64_t cli_days_of(cli_calendar calendar, cli_date date);
cli_date cli_date_of(cli_calendar calendar, int64_t days);

/* A datetime64 as NumPy shows it, "2001-12-31T18:00"; false when its unit is not known. */
bool cli_print_time(FILE *out, int64_t count, int64_t scale, const char *unit);
/* The way back: a date, or "NaT"; *out_end is behind it. False for what is no date, no
 * whole number of units, or beyond 64 bits. */
bool cli_read_time(const char *text, int64_t scale, const char *unit, int64_t *out,
                   const char **out_end);

#endif
