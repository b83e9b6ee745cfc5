/*
 * cmd_write.c: elements out of a file into a region of an array, or onto its end. One call
 * writes all of it, so that each object is put once; the input lies in memory that the
 * system can take back (see os.h).
 */
#include <stdlib.h>
#include <string.h>

#include "source.h"

typedef struct writing {
    const cli_settings *settings;
    zlg_array *array;
    cli_source source;
    cli_progress progress;
    zlg_call call;
    zlg_stats stats;
} writing;

static void start_call(writing *w, int64_t n_elements)
{
    w->stats = (zlg_stats)ZLG_STATS_INIT;
    cli_progress_start(&w->progress, (uint64_t)n_elements);
    w->call = cli_progress_call(&w->progress, w->settings, (uint64_t)n_elements);
    w->call.stats = &w->stats;
}

/* ------------------------------------------------------------------ a region */

static zlg_status write_region(writing *w, const cli_selection *selection, zlg_error *err)
{
    int64_t shape[ZLG_MAX_RANK];
    ptrdiff_t fitted[ZLG_MAX_RANK], strides[ZLG_MAX_RANK];
    const cli_source *s = &w->source;
    int rank = cli_selection_shape(selection, shape);
    CLI_TRY(cli_source_fit(s, rank, shape, fitted, err));
    for (int i = 0, k = 0; i < selection->rank; i++)
        strides[i] = selection->dropped[i] ? 0 : fitted[k++];
    zlg_selection box = {.rank = selection->rank, .axes = selection->axes};
    start_call(w, selection->n_elements);
    if (s->offsets && s->n_elements == 1)
        return zlg_array_fill(w->array, &box, s->data, (size_t)s->offsets[1], &w->call,
                              err);
    zlg_source source = {.data = s->data,
                         .strides = s->offsets ? NULL : strides,
                         .offsets = s->offsets,
                         .swapped = s->swapped};
    return zlg_array_write(w->array, &box, &source, &w->call, err);
}

/* ------------------------------------------------------------------ onto the end */

/* The shape of what is appended: that of the array with another length on one axis. */
static zlg_status appended_shape(const writing *w, int axis, int64_t shape[ZLG_MAX_RANK],
                                 zlg_error *err)
{
    const cli_source *s = &w->source;
    int rank = zlg_array_rank(w->array);
    int64_t n_other = 1;
    memcpy(shape, zlg_array_shape(w->array), (size_t)rank * sizeof *shape);
    for (int i = 0; i < rank; i++)
        if (i != axis && __builtin_mul_overflow(n_other, shape[i], &n_other))
            return cli_fail(err, ZLG_LIMIT,
                            "a step along axis %d has more than 2^63 values", axis);
    if (s->rank >= 0) {
        shape[axis] = s->rank == rank ? s->shape[axis] : 1;
        return ZLG_OK;
    }
    if (n_other == 0 || s->n_elements % n_other != 0)
        return cli_fail(err, ZLG_USAGE,
                        "%s: it has %lld values, a step along axis %d has %lld", s->name,
                        (long long)s->n_elements, axis, (long long)n_other);
    shape[axis] = s->n_elements / n_other;
    return ZLG_OK;
}

static zlg_status append(writing *w, int64_t out_shape[ZLG_MAX_RANK], zlg_error *err)
{
    int axis = cli_find_axis(w->array, w->settings->append);
    int rank = zlg_array_rank(w->array);
    int64_t shape[ZLG_MAX_RANK];
    ptrdiff_t strides[ZLG_MAX_RANK];
    zlg_array *grown = NULL;
    const cli_source *s = &w->source;
    if (axis < 0)
        return cli_fail(err, ZLG_USAGE,
                        "--append takes an axis, by number or name, not \"%s\"",
                        w->settings->append);
    CLI_TRY(appended_shape(w, axis, shape, err));
    CLI_TRY(cli_source_fit(s, rank, shape, strides, err));
    for (int i = 0; i < rank; i++)
        if (strides[i] == 0 && shape[i] > 1)
            return cli_fail(err, ZLG_USAGE, "%s: its shape is not that of the array",
                            s->name);
    zlg_source source = {.data = s->data,
                         .strides = s->offsets ? NULL : strides,
                         .offsets = s->offsets,
                         .swapped = s->swapped};
    start_call(w, s->n_elements);
    CLI_TRY(zlg_array_append(w->array, axis, shape[axis], &source, &w->call, &grown, err));
    memcpy(out_shape, zlg_array_shape(grown), (size_t)rank * sizeof *out_shape);
    zlg_array_close(grown);
    return ZLG_OK;
}

/* ------------------------------------------------------------------ */

static zlg_status write_array(const cli_settings *settings, const cli_node *node,
                              zlg_array *array, const cli_selection *selection,
                              zlg_error *err)
{
    writing w = {.settings = settings, .array = array};
    int64_t shape[ZLG_MAX_RANK];
    int rank = zlg_array_rank(array);
    const char *file = settings->arguments[settings->n_arguments - 1];
    int depth = settings->append ? rank : cli_selection_shape(selection, shape);
    zlg_status status = cli_source_open(file, settings->raw, array, depth, &w.source, err);
    memcpy(shape, zlg_array_shape(array), (size_t)rank * sizeof *shape);
    if (status == ZLG_OK)
        status =
            settings->append ? append(&w, shape, err) : write_region(&w, selection, err);
    cli_progress_end(&w.progress);
    cli_source_close(&w.source);
    if (status != ZLG_OK)
        return status;
    if (settings->append)
        cli_note_consolidated(node, NULL);
    cli_print_change(settings, rank, shape, &w.stats);
    return ZLG_OK;
}

static zlg_status run(const cli_settings *settings, zlg_error *err)
{
    if (settings->append && settings->region)
        return cli_fail(err, ZLG_USAGE, "write takes one of --region and --append");
    return cli_with_region(settings, 1, write_array, err);
}

static const cli_option options[] = {
    {"region", 'r', CLI_TEXT, "SELECTION", "where to (default: everywhere)",
     CLI_FIELD(region), 0, 0},
    {"append", 'a', CLI_TEXT, "AXIS", "let the array grow along an axis, by number or name",
     CLI_FIELD(append), 0, 0},
    {"raw", 0, CLI_FLAG, NULL, "FILE holds bytes in C order, little-endian", CLI_FIELD(raw),
     0, 0},
    CLI_OPTION_PROMISE,
    CLI_OPTION_KEEP_EMPTY,
    CLI_OPTION_THREADS,
    CLI_OPTION_CHANGE,
};

const cli_command cli_write = {
    .name = "write",
    .arguments = "PATH [ARRAY] FILE",
    .n_least = 2,
    .n_most = 3,
    .summary = "Write elements out of a file into an array",
    .details =
        "FILE is a NumPy file, text, or with --raw bytes, as \"cat\" prints them; \"-\" "
        "is\n"
        "standard input. Text has values apart by blanks, lines or commas (strings by\n"
        "tabs and lines), or is one list of JSON lists; --raw takes elements of variable\n"
        "length as one JSON list. The shape must be that of the region, or one value.\n"
        "All of FILE is checked before anything is written.\n\n" CLI_SELECTION_HELP,
    .changes = true,
    .options = options,
    .n_options = CLI_COUNT(options),
    .run = run,
};
