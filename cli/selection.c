/*
 * selection.c: selections in NumPy's basic notation, and lists of indices. Knows the
 * shape they are for; nothing of arrays. Slices are resolved as Python resolves them:
 * bounds outside the axis are cut, while an index outside it is an error.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

typedef struct parser {
    const char *text; /* all of it, for messages */
    const char *at;
    int rank;
    const int64_t *shape;
    cli_selection *out;
    zlg_error *err;
} parser;

bool cli_selection_like(const char *text)
{
    return *text && text[strspn(text, "0123456789-+:,.[] ")] == 0;
}

static void skip_blanks(parser *p)
{
    while (*p->at == ' ')
        p->at++;
}

static bool take(parser *p, char sign)
{
    skip_blanks(p);
    if (*p->at != sign)
        return false;
    p->at++;
    skip_blanks(p);
    return true;
}

static zlg_status unexpected(const parser *p, const char *what)
{
    return cli_fail(p->err, ZLG_USAGE, "selection \"%s\": expected %s at \"%s\"", p->text,
                    what, p->at);
}

/* A whole number; one that 64 bits do not hold is cut to them, which lies outside any
 * axis just as well. */
static zlg_status parse_number(parser *p, int64_t *out)
{
    char *end;
    skip_blanks(p);
    long long number = strtoll(p->at, &end, 10);
    if (end == p->at)
        return unexpected(p, "a number");
    p->at = end;
    *out = number == LLONG_MIN ? -INT64_MAX : number;
    return ZLG_OK;
}

static zlg_status parse_index(parser *p, int axis, int64_t *out)
{
    int64_t n = p->shape[axis], i = 0;
    skip_blanks(p);
    const char *text = p->at;
    CLI_TRY(parse_number(p, &i));
    if (i < -n || i >= n)
        return cli_fail(p->err, ZLG_RANGE,
                        "selection \"%s\": index %.*s is outside axis %d, which has %lld",
                        p->text, (int)(p->at - text), text, axis, (long long)n);
    *out = i < 0 ? i + n : i;
    return ZLG_OK;
}

/* ------------------------------------------------------------------ slices, lists */

/* A bound of a slice, counted from 0, cut to low .. high. */
static int64_t resolve_bound(int64_t bound, int64_t n, int64_t low, int64_t high)
{
    if (bound < 0)
        bound += n;
    return bound < low ? low : bound > high ? high : bound;
}

static zlg_axis resolve_slice(const int64_t *start, const int64_t *stop, int64_t step,
                              int64_t n)
{
    int64_t low = step > 0 ? 0 : -1, high = step > 0 ? n : n - 1;
    int64_t first = start ? resolve_bound(*start, n, low, high) : step > 0 ? low : high;
    int64_t last = stop ? resolve_bound(*stop, n, low, high) : step > 0 ? high : low;
    int64_t count = 0;
    if (step > 0 && first < last)
        count = (last - first - 1) / step + 1;
    else if (step < 0 && first > last)
        count = (first - last - 1) / -step + 1;
    /* The step to a second position that is not there may lie anywhere. */
    return (zlg_axis){
        .start = count ? first : 0, .step = count > 1 ? step : 1, .count = count};
}

/* A number of a slice, when there is one before the next sign. */
static zlg_status parse_bound(parser *p, int64_t *number, const int64_t **out)
{
    skip_blanks(p);
    *out = NULL;
    if (*p->at == ':' || *p->at == ',' || *p->at == 0)
        return ZLG_OK;
    *out = number;
    return parse_number(p, number);
}

/* From the first ":" on. */
static zlg_status parse_slice(parser *p, int axis, const int64_t *start)
{
    int64_t numbers[2] = {0, 1};
    const int64_t *stop, *step = NULL;
    p->at++;
    CLI_TRY(parse_bound(p, &numbers[0], &stop));
    if (take(p, ':'))
        CLI_TRY(parse_bound(p, &numbers[1], &step));
    if (step && *step == 0)
        return cli_fail(p->err, ZLG_USAGE, "selection \"%s\": the step is 0", p->text);
    p->out->axes[axis] = resolve_slice(start, stop, step ? *step : 1, p->shape[axis]);
    return ZLG_OK;
}

static zlg_status parse_list(parser *p, int axis)
{
    /* No more items than characters. */
    size_t n_bytes = (strlen(p->at) + 1) * sizeof(int64_t);
    int64_t *list = malloc(n_bytes);
    if (!list)
        return cli_no_memory(p->err, n_bytes);
    int64_t n = 0;
    p->out->lists[axis] = list;
    if (!take(p, ']')) {
        do
            CLI_TRY(parse_index(p, axis, &list[n++]));
        while (take(p, ','));
        if (!take(p, ']'))
            return unexpected(p, "\"]\"");
    }
    p->out->axes[axis] = (zlg_axis){.step = 1, .count = n, .list = list};
    return ZLG_OK;
}

/* ------------------------------------------------------------------ items */

static void select_all(parser *p, int axis)
{
    p->out->axes[axis] = (zlg_axis){.step = 1, .count = p->shape[axis]};
}

static zlg_status parse_item(parser *p, int axis)
{
    if (take(p, '['))
        return parse_list(p, axis);
    if (*p->at == ':')
        return parse_slice(p, axis, NULL);
    const char *begin = p->at;
    int64_t start;
    CLI_TRY(parse_number(p, &start));
    skip_blanks(p);
    if (*p->at == ':')
        return parse_slice(p, axis, &start);
    p->at = begin;
    p->out->dropped[axis] = true;
    p->out->axes[axis] = (zlg_axis){.step = 1, .count = 1};
    return parse_index(p, axis, &p->out->axes[axis].start);
}

/* How many items there are beside "...", commas inside brackets not counted. */
static int count_items(const char *text)
{
    int n = 0, depth = 0;
    bool empty = true;
    for (; *text; text++) {
        depth += *text == '[';
        depth -= *text == ']';
        if (*text == ',' && depth == 0)
            empty = true;
        else if (strncmp(text, "...", 3) == 0)
            text += 2;
        else if (*text != ' ' && empty)
            n++, empty = false;
    }
    return n;
}

static zlg_status parse_items(parser *p)
{
    int n = count_items(p->text), axis = 0;
    bool dots = false;
    if (n > p->rank)
        return cli_fail(p->err, ZLG_USAGE,
                        "selection \"%s\" is for %d axes, the array has %d", p->text, n,
                        p->rank);
    skip_blanks(p);
    while (*p->at) {
        if (strncmp(p->at, "...", 3) == 0) {
            if (dots)
                return unexpected(p, "no second \"...\"");
            dots = true;
            p->at += 3;
            for (int i = n; i < p->rank; i++)
                select_all(p, axis++);
        } else if (axis < p->rank) {
            CLI_TRY(parse_item(p, axis++));
        } else {
            return unexpected(p, "the end");
        }
        if (!take(p, ',') && *p->at)
            return unexpected(p, "\",\"");
    }
    while (axis < p->rank)
        select_all(p, axis++);
    return ZLG_OK;
}

/* ------------------------------------------------------------------ selections */

static void count_elements(cli_selection *selection)
{
    selection->n_elements = 1;
    for (int i = 0; i < selection->rank; i++)
        if (selection->axes[i].count == 0)
            selection->n_elements = 0;
    for (int i = 0; i < selection->rank && selection->n_elements > 0; i++)
        if (__builtin_mul_overflow(selection->n_elements, selection->axes[i].count,
                                   &selection->n_elements)) {
            selection->n_elements = INT64_MAX;
            return;
        }
}

zlg_status cli_selection_parse(const char *text, int rank, const int64_t *shape,
                               cli_selection *out, zlg_error *err)
{
    *out = (cli_selection){.rank = rank};
    parser p = {
        .text = text ? text : "", .rank = rank, .shape = shape, .out = out, .err = err};
    p.at = p.text;
    CLI_TRY(parse_items(&p));
    count_elements(out);
    return ZLG_OK;
}

void cli_selection_free(cli_selection *selection)
{
    for (int i = 0; i < selection->rank; i++)
        free(selection->lists[i]);
}

int cli_selection_shape(const cli_selection *selection, int64_t out[ZLG_MAX_RANK])
{
    int rank = 0;
    for (int i = 0; i < selection->rank; i++)
        if (!selection->dropped[i])
            out[rank++] = selection->axes[i].count;
    return rank;
}
