/*
 * times.c: dates of three calendars, and times of NumPy. The Gregorian calendar is used
 * for all years, as NumPy does.
 */
#include "times.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static bool is_leap(cli_calendar calendar, int64_t year)
{
    return calendar == CLI_GREGORIAN && year % 4 == 0 &&
           (year % 100 != 0 || year % 400 == 0);
}

/* Days from the start of the year 0 to that of another. */
static int64_t days_before_year(cli_calendar calendar, int64_t year)
{
    if (calendar == CLI_360_DAY)
        return year * 360;
    if (calendar == CLI_NO_LEAP)
        return year * 365;
    int64_t last = year - 1;
    return year * 365 + floor_div(last, 4) - floor_div(last, 100) + floor_div(last, 400) +
           1;
}

/* month 13: days of the whole year. */
static int days_before_month(cli_calendar calendar, int64_t year, int month)
{
    static const int days[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};
    if (calendar == CLI_360_DAY)
        return (month - 1) * 30;
    return days[month - 1] + (month > 2 && is_leap(calendar, year));
}

int64_t cli_days_of(cli_calendar calendar, cli_date date)
{
    return days_before_year(calendar, date.year) - days_before_year(calendar, 1970) +
           days_before_month(calendar, date.year, date.month) + date.day - 1;
}

cli_date cli_date_of(cli_calendar calendar, int64_t days)
{
    days += days_before_year(calendar, 1970);
    /* A year has 366 days at most, so this is no more than a few years off, or a hundredth
     * of them. */
    cli_date date = {.year = floor_div(days, calendar == CLI_360_DAY ? 360 : 365)};
    while (days_before_year(calendar, date.year) > days) {
        int64_t over = days_before_year(calendar, date.year) - days;
        date.year -= over / 366 > 1 ? over / 366 : 1;
    }
    while (days_before_year(calendar, date.year + 1) <= days)
        date.year++;
    int left = (int)(days - days_before_year(calendar, date.year));
    date.month = 1;
    while (days_before_month(calendar, date.year, date.month + 1) <= left)
        date.month++;
    date.day = left - days_before_month(calendar, date.year, date.month) + 1;
    return date;
}

/* ------------------------------------------------------------------ NumPy's times */

static const struct {
    const char *name;
    int64_t per_day; /* 0: days_per each */
    int64_t days;
    int digits; /* of the fraction of a second; below 0: fewer parts of the clock */
} units[] = {
    {"W", 0, 7, -3},           {"D", 0, 1, -3},
    {"h", 24, 0, -2},          {"m", 1440, 0, -1},
    {"s", 86400, 0, 0},        {"ms", 86400000, 0, 3},
    {"us", 86400000000, 0, 6}, {"ns", 86400000000000, 0, 9},
};

static void print_clock(FILE *out, int64_t part, int64_t per_day, int digits)
{
    int64_t per_second = per_day / 86400;
    int64_t second = per_second ? part / per_second : part * (86400 / per_day);
    fprintf(out, "T%02d", (int)(second / 3600));
    if (digits > -2)
        fprintf(out, ":%02d", (int)(second / 60 % 60));
    if (digits > -1)
        fprintf(out, ":%02d", (int)(second % 60));
    if (digits > 0)
        fprintf(out, ".%0*" PRId64, digits, part % per_second);
}

bool cli_print_time(FILE *out, int64_t count, int64_t scale, const char *unit)
{
    if (count == INT64_MIN) {
        fputs("NaT", out);
        return true;
    }
    int64_t n;
    if (__builtin_mul_overflow(count, scale, &n) || n < -INT64_MAX / 8 || n > INT64_MAX / 8)
        return false;
    if (strcmp(unit, "Y") == 0 || strcmp(unit, "M") == 0) {
        int64_t months = *unit == 'Y' ? 0 : n;
        int64_t year = 1970 + (*unit == 'Y' ? n : floor_div(months, 12));
        fprintf(out, "%04" PRId64, year);
        if (*unit == 'M')
            fprintf(out, "-%02d", (int)(months - 12 * floor_div(months, 12)) + 1);
        return true;
    }
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(units[i].name, unit) != 0)
            continue;
        int64_t per_day = units[i].per_day;
        int64_t days = per_day ? floor_div(n, per_day) : n * units[i].days;
        cli_date date = cli_date_of(CLI_GREGORIAN, days);
        fprintf(out, "%04" PRId64 "-%02d-%02d", date.year, date.month, date.day);
        if (per_day)
            print_clock(out, n - days * per_day, per_day, units[i].digits);
        return true;
    }
    return false;
}
