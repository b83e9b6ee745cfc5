/*
 * cmd_bench.c: how fast an array, or a part of it, is read. Each round reads the same
 * selection into the same memory; the best and the median round are shown. The first,
 * uncounted round warms memory and caches; with --cold the system forgets the array's
 * files before each round instead.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "os.h"

/* Results larger than this are read in pieces. */
static const int64_t most_bytes = INT64_C(1) << 30;

enum { DEFAULT_ROUNDS = 5, MAX_ROUNDS = 1000 };

typedef struct bench {
    const cli_settings *settings;
    const cli_node *node;
    zlg_array *array;
    const cli_selection *selection;
    zlg_dtype dtype;
    void *block;      /* of the largest piece */
    uint64_t n_bytes; /* of the result */
    zlg_stats stats;  /* of the last round */
    double seconds[MAX_ROUNDS];
} bench;

static int64_t item_bytes(const bench *b)
{
    return cli_is_varlen(b->dtype) ? 256 : (int64_t)b->dtype.n_bytes;
}

static zlg_status read_piece(bench *b, const cli_pieces *pieces, const zlg_call *call,
                             zlg_error *err)
{
    zlg_selection box = cli_pieces_box(pieces);
    if (!cli_is_varlen(b->dtype)) {
        b->n_bytes += (uint64_t)pieces->n_elements * b->dtype.n_bytes;
        return zlg_array_read(b->array, &box, &(zlg_target){.data = b->block}, call, err);
    }
    zlg_varlen varlen;
    CLI_TRY(zlg_array_read_varlen(b->array, &box, &varlen, call, err));
    b->n_bytes += (uint64_t)(varlen.offsets[varlen.n] - varlen.offsets[0]);
    zlg_varlen_free(&varlen);
    return ZLG_OK;
}

static zlg_status read_all(bench *b, double *seconds, zlg_error *err)
{
    cli_pieces pieces;
    cli_progress progress;
    b->stats = (zlg_stats)ZLG_STATS_INIT;
    b->n_bytes = 0;
    cli_pieces_start(&pieces, b->selection, b->array, item_bytes(b), most_bytes);
    cli_progress_start(&progress, (uint64_t)b->selection->n_elements);
    zlg_status status = ZLG_OK;
    int64_t start = cli_now_ns();
    while (status == ZLG_OK && cli_pieces_next(&pieces)) {
        zlg_call call =
            cli_progress_call(&progress, b->settings, (uint64_t)pieces.n_elements);
        call.stats = &b->stats;
        status = read_piece(b, &pieces, &call, err);
        cli_progress_step(&progress);
    }
    *seconds = (double)(cli_now_ns() - start) / 1e9;
    cli_progress_end(&progress);
    return status;
}

/* ------------------------------------------------------------------ cold reads */

typedef struct forgetting {
    const char *folder, *path; /* of the store, and of the node in it */
    char file[8192];
    int code; /* what went wrong with `file` */
} forgetting;

static int forget(void *user, const char *name, int is_prefix, uint64_t n_bytes)
{
    forgetting *f = user;
    (void)n_bytes;
    if (is_prefix)
        return 0;
    int n = snprintf(f->file, sizeof f->file, "%s/%s%s%s", f->folder, f->path,
                     *f->path ? "/" : "", name);
    f->code = n > 0 && (size_t)n < sizeof f->file ? cli_forget_file(f->file) : ENAMETOOLONG;
    return f->code;
}

/* A file that stays in memory would be measured as if it were cold. */
static zlg_status forget_all(const bench *b, zlg_error *err)
{
    zlg_call call = ZLG_CALL_INIT;
    call.cancel = cli_interrupt_flag();
    char *folder = cli_plain_folder(b->node->folder);
    if (!folder)
        return cli_no_memory(err, strlen(b->node->folder));
    forgetting f = {.folder = folder, .path = b->node->path};
    zlg_status status =
        zlg_store_list_call(b->node->store, b->node->path, 0, forget, &f, &call, err);
    free(folder);
    if (f.code == 0)
        return status;
    return cli_fail(err, ZLG_IO, "%.400s: it cannot be made cold: %s", f.file,
                    strerror(f.code));
}

/* ------------------------------------------------------------------ report */

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_rate(const bench *b, const char *name, double seconds)
{
    uint64_t n_chunks = b->stats.n_chunks ? b->stats.n_chunks : b->stats.n_objects;
    printf("%-8s %10.6f s  %8.3f GB/s  %10.0f chunks/s\n", name, seconds,
           (double)b->n_bytes / seconds / 1e9, (double)n_chunks / seconds);
}

static void report(bench *b, size_t n_rounds)
{
    const zlg_stats *s = &b->stats;
    double median = b->seconds[0];
    cli_print_bytes(stdout, b->n_bytes);
    fputs(" from ", stdout);
    cli_print_count(stdout, s->n_objects, "object, ", "objects, ");
    cli_print_count(stdout, s->n_chunks, "chunk decoded, ", "chunks decoded, ");
    cli_print_count(stdout, s->n_requests, "request for ", "requests for ");
    cli_print_bytes(stdout, s->n_bytes_read);
    printf("\n%s, ", b->settings->cold ? "cold" : "warm");
    cli_print_count(stdout, n_rounds, "round\n", "rounds\n");
    qsort(b->seconds, n_rounds, sizeof *b->seconds, compare_doubles);
    median = b->seconds[n_rounds / 2];
    print_rate(b, "best", b->seconds[0]);
    print_rate(b, "median", median);
}

static void report_json(bench *b, size_t n_rounds)
{
    const zlg_stats *s = &b->stats;
    qsort(b->seconds, n_rounds, sizeof *b->seconds, compare_doubles);
    printf("{\n  \"cold\": %s,\n  \"rounds\": %zu,\n  \"n_bytes\": %" PRIu64
           ",\n  \"n_objects\": %" PRIu64 ",\n  \"n_chunks\": %" PRIu64
           ",\n  \"n_requests\": %" PRIu64 ",\n  \"n_bytes_read\": %" PRIu64
           ",\n  \"best_s\": %.9g,\n  \"median_s\": %.9g\n}\n",
           b->settings->cold ? "true" : "false", n_rounds, b->n_bytes, s->n_objects,
           s->n_chunks, s->n_requests, s->n_bytes_read, b->seconds[0],
           b->seconds[n_rounds / 2]);
}

/* ------------------------------------------------------------------ running */

static zlg_status run_rounds(bench *b, zlg_error *err)
{
    size_t n_rounds = b->settings->rounds ? (size_t)b->settings->rounds : DEFAULT_ROUNDS;
    CLI_TRY(read_all(b, &b->seconds[0], err));
    for (size_t i = 0; i < n_rounds; i++) {
        if (b->settings->cold)
            CLI_TRY(forget_all(b, err));
        CLI_TRY(read_all(b, &b->seconds[i], err));
    }
    (b->settings->json ? report_json : report)(b, n_rounds);
    return ZLG_OK;
}

static zlg_status bench_array(const cli_settings *settings, const cli_node *node,
                              zlg_array *array, const cli_selection *selection,
                              zlg_error *err)
{
    cli_pieces pieces;
    bench b = {.settings = settings,
               .node = node,
               .array = array,
               .selection = selection,
               .dtype = zlg_array_dtype(array)};
    cli_pieces_start(&pieces, selection, array, item_bytes(&b), most_bytes);
    size_t n_bytes = (size_t)pieces.n_most * b.dtype.n_bytes;
    b.block = cli_block_get(n_bytes);
    zlg_status status = b.block ? run_rounds(&b, err) : cli_no_memory(err, n_bytes);
    cli_block_free(b.block);
    return status;
}

static zlg_status run(const cli_settings *settings, zlg_error *err)
{
    return cli_with_array(settings, bench_array, err);
}

static const cli_option options[] = {
    {"cold", 'c', CLI_FLAG, NULL, "make the system forget the files before each round",
     CLI_FIELD(cold), 0, 0},
    {"rounds", 'r', CLI_NUMBER, "N", "read N times (default: 5)", CLI_FIELD(rounds), 1,
     MAX_ROUNDS},
    {"threads", 't', CLI_NUMBER, "N", "use N threads (default: one a core)",
     CLI_FIELD(threads), 1, 1024},
    {"json", 'j', CLI_FLAG, NULL, "the figures as JSON", CLI_FIELD(json), 0, 0},
};

const cli_command cli_bench = {
    .name = "bench",
    .arguments = "PATH [ARRAY] [SELECTION]",
    .n_least = 1,
    .n_most = 3,
    .summary = "How fast an array is read, from warm or cold files",
    .details = CLI_SELECTION_HELP,
    .options = options,
    .n_options = CLI_COUNT(options),
    .run = run,
};
