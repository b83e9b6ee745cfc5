/*
 * plot_time.c: ticks of a time axis, and the units that climate data gives times in:
 * "hours since 1970-01-01 00:00:00" with a calendar.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "plot.h"

/* ------------------------------------------------------------------ units */

static bool find_unit(const char *name, double *days)
{
    static const struct {
        const char *name;
        double days;
    } units[] = {{"day", 1},           {"d", 1},
                 {"hour", 1.0 / 24},   {"hr", 1.0 / 24},
                 {"h", 1.0 / 24},      {"minute", 1.0 / 1440},
                 {"min", 1.0 / 1440},  {"second", 1.0 / 86400},
                 {"sec", 1.0 / 86400}, {"s", 1.0 / 86400}};
    for (size_t i = 0; i < CLI_COUNT(units); i++) {
        size_t n = strlen(units[i].name);
        if (strncmp(name, units[i].name, n) == 0 &&
            (name[n] == 0 || (name[n] == 's' && name[n + 1] == 0))) {
            *days = units[i].days;
            return true;
        }
    }
    return false;
}

static bool find_calendar(const char *json, cli_calendar *out)
{
    static const struct {
        const char *name;
        cli_calendar calendar;
    } calendars[] = {{"standard", CLI_GREGORIAN},
                     {"gregorian", CLI_GREGORIAN},
                     {"proleptic_gregorian", CLI_GREGORIAN},
                     {"noleap", CLI_NO_LEAP},
                     {"365_day", CLI_NO_LEAP},
                     {"360_day", CLI_360_DAY}};
    char name[40] = "standard";
    if (json)
        cli_json_text(json, name, sizeof name);
    for (size_t i = 0; i < CLI_COUNT(calendars); i++)
        if (strcmp(calendars[i].name, name) == 0) {
            *out = calendars[i].calendar;
            return true;
        }
    return false;
}

bool plot_time_units(const char *units, const char *calendar, double *scale, double *offset,
                     cli_calendar *out)
{
    char text[120], unit[20];
    int month, day, hour = 0, minute = 0;
    double second = 0;
    long long year;
    if (!cli_json_text(units, text, sizeof text) || !find_calendar(calendar, out))
        return false;
    if (sscanf(text, "%19s since %lld-%d-%d%*1[T ]%d:%d:%lf", unit, &year, &month, &day,
               &hour, &minute, &second) < 4)
        return false;
    if (!find_unit(unit, scale) || year < -999999 || year > 999999 || month < 1 ||
        month > 12 || day < 1 || day > 31)
        return false;
    cli_date date = {.year = year, .month = month, .day = day};
    *offset =
        (double)cli_days_of(*out, date) + hour / 24.0 + minute / 1440.0 + second / 86400;
    return true;
}

/* ------------------------------------------------------------------ ticks */

/* The first step of a list that gives no more than n_wanted ticks in a span. */
static double choose_step(const double *steps, size_t n, double span, int n_wanted)
{
    for (size_t i = 0; i < n; i++)
        if (span / steps[i] <= n_wanted)
            return steps[i];
    return 0;
}

/* Ticks at the start of months whose number, counted from the year 0, is a multiple. */
static int month_ticks(cli_calendar calendar, double low, double high, int64_t step,
                       plot_tick *out)
{
    int n = 0;
    cli_date first = cli_date_of(calendar, (int64_t)floor(low));
    int64_t month = first.year * 12 + first.month - 1;
    for (month -= month % step; n < PLOT_MAX_TICKS; month += step) {
        int of_year = (int)((month % 12 + 12) % 12);
        cli_date date = {.year = (month - of_year) / 12, .month = of_year + 1, .day = 1};
        double at = (double)cli_days_of(calendar, date);
        if (at > high)
            break;
        if (at < low)
            continue;
        out[n].value = at;
        if (step % 12 == 0)
            snprintf(out[n].text, sizeof out[n].text, "%" PRId64, date.year);
        else
            snprintf(out[n].text, sizeof out[n].text, "%" PRId64 "-%02d", date.year,
                     date.month);
        n++;
    }
    return n;
}

/* Ticks at multiples of a step in minutes. */
static int minute_ticks(cli_calendar calendar, double low, double high, double step,
                        plot_tick *out)
{
    int n = 0;
    for (double k = ceil(low * 1440 / step); n < PLOT_MAX_TICKS; k++) {
        double minutes = k * step;
        if (minutes / 1440 > high)
            break;
        int64_t days = (int64_t)floor(minutes / 1440);
        int of_day = (int)(minutes - (double)days * 1440);
        cli_date date = cli_date_of(calendar, days);
        out[n].value = minutes / 1440;
        if (step >= 1440)
            snprintf(out[n].text, sizeof out[n].text, "%" PRId64 "-%02d-%02d", date.year,
                     date.month, date.day);
        else
            snprintf(out[n].text, sizeof out[n].text, "%02d-%02d %02d:%02d", date.month,
                     date.day, of_day / 60, of_day % 60);
        n++;
    }
    return n;
}

int plot_time_ticks(cli_calendar calendar, double low, double high, int n_wanted,
                    plot_tick out[PLOT_MAX_TICKS])
{
    static const double minutes[] = {1,   2,   5,   10,   15,   30,   60,   120,
                                     180, 360, 720, 1440, 2880, 7200, 14400};
    static const double months[] = {1,   2,    3,    6,    12,    24,    60,    120,   240,
                                    600, 1200, 2400, 6000, 12000, 24000, 60000, 120000};
    const double most = 1e12; /* days: what lies beyond has no calendar */
    if (!(low > -most && high < most))
        return 0;
    double span = high - low;
    double step = choose_step(minutes, CLI_COUNT(minutes), span * 1440, n_wanted);
    if (step > 0)
        return minute_ticks(calendar, low, high, step, out);
    step = choose_step(months, CLI_COUNT(months), span / 30.5, n_wanted);
    return step > 0 ? month_ticks(calendar, low, high, (int64_t)step, out) : 0;
}
