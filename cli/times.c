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

/* Years after which a calendar comes back to the same days, and how many those are. */
static int64_t cycle_years(cli_calendar calendar)
{
    return calendar == CLI_GREGORIAN ? 400 : 1;
}

cli_date cli_date_of(cli_calendar calendar, int64_t days)
{
    int64_t n_years = cycle_years(calendar);
    int64_t n_days = days_before_year(calendar, n_years) - days_before_year(calendar, 0);
    days += days_before_year(calendar, 1970);
    int64_t n_cycles = floor_div(days, n_days);
    days -= n_cycles * n_days;
    /* A year has 366 days at most, so this is at most one too few. */
    cli_date date = {.year = days / 366};
    while (days_before_year(calendar, date.year + 1) <= days)
        date.year++;
    int left = (int)(days - days_before_year(calendar, date.year));
    date.month = 1;
    while (days_before_month(calendar, date.year, date.month + 1) <= left)
        date.month++;
    date.day = left - days_before_month(calendar, date.year, date.month) + 1;
    date.year += n_cycles * n_years;
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
    if (__builtin_mul_overflow(count, scale, &n))
        return false;
    bool is_far = n < -INT64_MAX / 8 || n > INT64_MAX / 8;
    if (is_far && (strcmp(unit, "Y") == 0 || strcmp(unit, "M") == 0))
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
        if (is_far && per_day < 86400)
            return false;
        int64_t days = per_day ? floor_div(n, per_day) : n * units[i].days;
        cli_date date = cli_date_of(CLI_GREGORIAN, days);
        fprintf(out, "%04" PRId64 "-%02d-%02d", date.year, date.month, date.day);
        if (per_day)
            print_clock(out, n - days * per_day, per_day, units[i].digits);
        return true;
    }
    return false;
}

/* ------------------------------------------------------------------ reading them */

/* So many digits, no more and no less. */
static bool read_digits(const char **at, int n, int64_t *out)
{
    *out = 0;
    for (int i = 0; i < n; i++, ++*at) {
        if (**at < '0' || **at > '9')
            return false;
        *out = 10 * *out + (**at - '0');
    }
    return **at < '0' || **at > '9';
}

static bool read_year(const char **at, int64_t *out)
{
    bool negative = **at == '-';
    *at += negative;
    int n = (int)strspn(*at, "0123456789");
    if (n < 4 || n > 19 || (n == 19 && **at > '8') || !read_digits(at, n, out))
        return false;
    *out = negative ? -*out : *out;
    return true;
}

/* "-12" behind a year, "-31" behind a month; 1 where there is none. */
static bool read_date(const char **at, cli_date *out)
{
    int64_t month = 1, day = 1;
    if (!read_year(at, &out->year))
        return false;
    if (**at == '-') {
        ++*at;
        if (!read_digits(at, 2, &month) || month < 1 || month > 12)
            return false;
    }
    out->month = (int)month;
    if (**at == '-') {
        ++*at;
        int64_t most = days_before_month(CLI_GREGORIAN, out->year, out->month + 1) -
                       days_before_month(CLI_GREGORIAN, out->year, out->month);
        if (!read_digits(at, 2, &day) || day < 1 || day > most)
            return false;
    }
    out->day = (int)day;
    return true;
}

/* "T18:00:00.5": seconds of the day, and nanoseconds. */
static bool read_clock(const char **at, int64_t *second, int64_t *nanosecond)
{
    int64_t hour, minute = 0;
    *second = *nanosecond = 0;
    if (**at != 'T')
        return true;
    ++*at;
    if (!read_digits(at, 2, &hour) || hour > 23)
        return false;
    if (**at == ':' && (++*at, !read_digits(at, 2, &minute) || minute > 59))
        return false;
    if (**at == ':' && (++*at, !read_digits(at, 2, second) || *second > 59))
        return false;
    if (**at == '.') {
        int n = (int)strspn(++*at, "0123456789");
        if (n < 1 || n > 9 || !read_digits(at, n, nanosecond))
            return false;
        for (; n < 9; n++)
            *nanosecond *= 10;
    }
    *second += 3600 * hour + 60 * minute;
    return true;
}

/* Days of no more years than these fit into 64 bits. */
static const int64_t most_years = INT64_C(25000000000000000);

/* Units between a moment and 1970; months and years only from their first moment. */
static bool count_units(cli_date date, int64_t second, int64_t nanosecond, const char *unit,
                        int64_t *out)
{
    if (strcmp(unit, "Y") == 0 || strcmp(unit, "M") == 0) {
        int64_t years = date.year - 1970, months = date.month - 1;
        *out = years;
        return date.day == 1 && !second && !nanosecond &&
               (*unit == 'Y' ? months == 0
                             : !__builtin_mul_overflow(years, 12, out) &&
                                   !__builtin_add_overflow(*out, months, out));
    }
    if (date.year > most_years || date.year < -most_years)
        return false;
    int64_t days = cli_days_of(CLI_GREGORIAN, date);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        int64_t per_day = units[i].per_day, per_second = per_day / 86400;
        if (strcmp(units[i].name, unit) != 0)
            continue;
        if (!per_day) {
            *out = days / units[i].days;
            return !second && !nanosecond && days % units[i].days == 0;
        }
        int64_t unit_ns = per_second ? 1000000000 / per_second : 1;
        int64_t unit_s = per_second ? 1 : 86400 / per_day;
        int64_t of_day = second / unit_s * (per_second ? per_second : 1);
        of_day += per_second ? nanosecond / unit_ns : 0;
        return second % unit_s == 0 && nanosecond % unit_ns == 0 &&
               (per_second || !nanosecond) && !__builtin_mul_overflow(days, per_day, out) &&
               !__builtin_add_overflow(*out, of_day, out);
    }
    return false;
}

bool cli_read_time(const char *text, int64_t scale, const char *unit, int64_t *out,
                   const char **out_end)
{
    cli_date date;
    int64_t second, nanosecond, n;
    if (strncmp(text, "NaT", 3) == 0) {
        *out = INT64_MIN;
        *out_end = text + 3;
        return true;
    }
    const char *at = text;
    if (!read_date(&at, &date) || !read_clock(&at, &second, &nanosecond) ||
        !count_units(date, second, nanosecond, unit, &n) || n % scale != 0)
        return false;
    *out = n / scale;
    *out_end = at;
    return true;
}
