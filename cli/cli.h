/*
 * The command line: what its files share. It sees the library through zellige.h alone.
 *
 * A command is a table of options and a function. The function returns a status and fills
 * in an error, as the library does; main() alone prints errors and chooses the exit code.
 * Results go to standard output through stdio, which main() flushes and checks once.
 */
#ifndef ZELLIGE_CLI_H
#define ZELLIGE_CLI_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "options.h"
#include "zellige.h"

/* Returns from the function when an expression fails. */
#define CLI_TRY(expression)                                                                \
    do {                                                                                   \
        zlg_status cli_try_status = (expression);                                          \
        if (cli_try_status != ZLG_OK)                                                      \
            return cli_try_status;                                                         \
    } while (0)

#define CLI_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ------------------------------------------------------------------ errors: error.c */

/* Fills in err and returns status. */
__attribute__((format(printf, 3, 4))) zlg_status cli_fail(zlg_error *err, zlg_status status,
                                                          const char *format, ...);
zlg_status cli_no_memory(zlg_error *err, size_t n_bytes);

/* ------------------------------------------------------------------ commands */

typedef struct cli_command {
    const char *name;
    const char *arguments; /* as help shows them: "PATH [ARRAY]" */
    int n_least, n_most;   /* how many of them */
    const char *summary;   /* one line */
    const char *details;   /* paragraphs of the help, or NULL */
    bool changes;          /* the store is opened for writing */
    const cli_option *options;
    size_t n_options;
    zlg_status (*run)(const cli_settings *settings, zlg_error *err);
} cli_command;

extern const cli_command cli_info, cli_tree, cli_ls, cli_attrs, cli_cat, cli_explain,
    cli_plot, cli_bench, cli_create, cli_write, cli_fill, cli_resize, cli_mv, cli_rm,
    cli_consolidate, cli_sweep, cli_watch, cli_version;

/* The options of several commands that write. */
#define CLI_OPTION_PROMISE                                                                 \
    {                                                                                      \
        "promise", 'p', CLI_TEXT, "P", "visible (default), durable or verified",           \
            CLI_FIELD(promise), 0, 0                                                       \
    }
#define CLI_OPTION_KEEP_EMPTY                                                              \
    {                                                                                      \
        "keep-empty", 0, CLI_FLAG, NULL, "store chunks of the fill value like others",     \
            CLI_FIELD(keep_empty), 0, 0                                                    \
    }
#define CLI_OPTION_CHANGE                                                                  \
    {                                                                                      \
        "json", 'j', CLI_FLAG, NULL, "print what was done as JSON", CLI_FIELD(json), 0, 0  \
    }
#define CLI_OPTION_THREADS                                                                 \
    {                                                                                      \
        "threads", 't', CLI_NUMBER, "N", "use N threads (default: one a core)",            \
            CLI_FIELD(threads), 1, 1024                                                    \
    }

/* -------------------------------------------------------------- selections: selection.c */

/*
 * A selection in NumPy notation, resolved against a shape: "0:10:2, ..., -1", "[1,5,9]".
 * An integer takes its axis out of the result. Lists pick along their own axis.
 */
typedef struct cli_selection {
    int rank;
    zlg_axis axes[ZLG_MAX_RANK];
    bool dropped[ZLG_MAX_RANK];
    int64_t *lists[ZLG_MAX_RANK]; /* the memory behind axes[i].list, or NULL */
    int64_t n_elements;           /* INT64_MAX: that many, or more */
} cli_selection;

#define CLI_SELECTION_HELP                                                                 \
    "SELECTION is in NumPy's notation: \"0:10:2, ..., -1\". An index takes its axis\n"     \
    "out of the result, a list such as [1,5,9] picks along its own axis."

/* text NULL: everything. Free in any case. */
zlg_status cli_selection_parse(const char *text, int rank, const int64_t *shape,
                               cli_selection *out, zlg_error *err);
void cli_selection_free(cli_selection *selection);
/* Whether a text could be a selection: nothing but digits and the signs of one. */
bool cli_selection_like(const char *text);
/* Shape of the result, without the dropped axes; returns its rank. */
int cli_selection_shape(const cli_selection *selection, int64_t out[ZLG_MAX_RANK]);

/* ------------------------------------------------------------------ nodes: open.c */

/*
 * What the arguments PATH [ARRAY] [SELECTION] point at. PATH is opened as a store, be it
 * the root of a hierarchy or a node inside one; ARRAY is a path below it. A second and
 * last argument that reads like a selection is one, unless PATH is a group.
 */
typedef struct cli_node {
    zlg_ctx *ctx;
    zlg_store *store;
    const char *folder;    /* the argument PATH */
    char *path;            /* inside the store, "" for its root */
    const char *selection; /* NULL: none given */
    zlg_open_options options;
} cli_node;

typedef zlg_status (*cli_node_fn)(const cli_settings *settings, const cli_node *node,
                                  zlg_error *err);
typedef zlg_status (*cli_array_fn)(const cli_settings *settings, const cli_node *node,
                                   zlg_array *array, const cli_selection *selection,
                                   zlg_error *err);

/* Calls the function with what the arguments PATH [NODE] point at. */
zlg_status cli_with_node(const cli_settings *settings, cli_node_fn run, zlg_error *err);
/* The same with an open array and its selection, for PATH [ARRAY] [SELECTION]. */
zlg_status cli_with_array(const cli_settings *settings, cli_array_fn run, zlg_error *err);
/* The same for PATH [ARRAY] and the option --region; the last n_behind arguments are none
 * of its business. */
zlg_status cli_with_region(const cli_settings *settings, int n_behind, cli_array_fn run,
                           zlg_error *err);
zlg_status cli_open_context(const cli_settings *settings, zlg_ctx **out, zlg_error *err);
/* For writing when the command changes stores; create: the folder is made when missing. */
zlg_status cli_open_store(const cli_settings *settings, zlg_ctx *ctx, const char *folder,
                          bool create, zlg_store **out, zlg_error *err);
/* "/a/b/" is meant as "a/b"; anything else odd is for the library to refuse. Free it. */
zlg_status cli_node_path(const char *argument, char **out, zlg_error *err);
bool cli_is_varlen(zlg_dtype dtype);
/* An axis by its number, from the end when it is negative, or its name; -1: none. */
int cli_find_axis(const zlg_array *array, const char *text);
/* "folder" or "folder/path" */
/* What a command finds wrong with the array of a node itself, or with what is wanted of it,
 * begins as the errors of the library: with the store and the array. */
zlg_status cli_within(const cli_node *node, zlg_status status, zlg_error *err);
void cli_node_print(FILE *out, const cli_node *node);

/* ------------------------------------------------------------------ members: members.c */

typedef struct cli_member {
    char *path; /* relative to the group */
    zlg_node kind;
    int depth; /* 0: right below the group */
    bool last; /* for cmd_tree.c */
} cli_member;

typedef struct cli_members {
    cli_member *list;
    size_t n;
} cli_members;

/* Free in any case. */
zlg_status cli_members_get(zlg_group *group, bool recursive, cli_members *out,
                           zlg_error *err);
void cli_members_free(cli_members *members);
const char *cli_member_name(const cli_member *member);
/* Type and shape of an array. */
zlg_status cli_array_describe(FILE *out, zlg_array *array, zlg_error *err);
/* The same of a member, or why it cannot be opened. */
void cli_member_describe(FILE *out, zlg_group *group, const cli_member *member);
/* The line of a node that turns out to be an array where a group could be. */
zlg_status cli_node_describe(FILE *out, const cli_node *node, zlg_error *err);

/* ------------------------------------------------------------------ pieces: pieces.c */

/*
 * A selection cut into boxes that follow each other in C order, so that a large array is
 * read in bounded memory. Boxes end where chunks do when that costs no more than
 * CLI_PIECE_MOST bytes.
 */
enum { CLI_PIECE_BYTES = 16 << 20, CLI_PIECE_MOST = 256 << 20 };

typedef struct cli_pieces {
    const cli_selection *whole;
    zlg_axis axes[ZLG_MAX_RANK];
    int split;    /* axes before it have one position a piece, those after it all */
    int64_t step; /* positions of the split axis in a piece */
    int64_t at[ZLG_MAX_RANK];
    int64_t n_elements; /* of this piece */
    int64_t n_most;     /* of the largest piece */
    bool done;
} cli_pieces;

/* Pieces of about n_bytes, of elements of item bytes each. */
void cli_pieces_start(cli_pieces *pieces, const cli_selection *whole,
                      const zlg_array *array, int64_t item, int64_t n_bytes);
/* False after the last. A selection of nothing has no piece. */
bool cli_pieces_next(cli_pieces *pieces);
zlg_selection cli_pieces_box(const cli_pieces *pieces);

/* ------------------------------------------------------------------ calls: progress.c */

/* Deadline, cancelling and the bar of a long read. */
typedef struct cli_progress {
    int64_t start_ns, drawn_ns;
    uint64_t n_done, n_all; /* elements of finished pieces, and in all */
    uint64_t n_piece;       /* elements of the piece that is being read */
    bool drawn;
} cli_progress;

void cli_progress_start(cli_progress *progress, uint64_t n_elements);
/* A call for the next piece: Ctrl-C stops it, and the bar is drawn while it runs. */
zlg_call cli_progress_call(cli_progress *progress, const cli_settings *settings,
                           uint64_t n_elements);
/* The piece is read, or has failed: its elements may be printed. */
void cli_progress_step(cli_progress *progress);
/* Erases the bar. */
void cli_progress_end(cli_progress *progress);

/* ------------------------------------------------------------------ changes: change.c */

/* The option --promise. */
zlg_status cli_promise(const cli_settings *settings, zlg_promise *out, zlg_error *err);
/* "10,20"; nothing is no axis. `what` stands in messages. */
zlg_status cli_lengths(const char *text, const char *what, int *out_rank,
                       int64_t out[ZLG_MAX_RANK], zlg_error *err);
/* A call that Ctrl-C stops, for what has no bar. */
zlg_call cli_change_call(void);
/* A note on each group above the node with consolidated metadata, which a change below does
 * not touch; but not on those above another path, which may be NULL. */
void cli_note_consolidated(const cli_node *node, const char *other);
/* With --json, what a change did to the objects of an array of now this shape. */
void cli_print_change(const cli_settings *settings, int rank, const int64_t *shape,
                      const zlg_stats *stats);

/* ------------------------------------------------------------------ text: text.c */

/* A character of at most U+10FFFF as UTF-8: how many bytes. */
size_t cli_utf8(uint32_t point, char out[4]);
/* A name out of a store, without what would steer a terminal. */
void cli_print_name(FILE *out, const char *name);
/* "1 chunk", "2 chunks" */
void cli_print_count(FILE *out, uint64_t n, const char *one, const char *many);
/* "1.7 MB", or "812 bytes" */
void cli_print_bytes(FILE *out, uint64_t n_bytes);
/* "240 x 37 x 49", or "scalar" */
void cli_print_shape(FILE *out, int rank, const int64_t *shape);
/* A codec or data type as a document gives it: "zstd(level 3, checksum false)". Version 2
 * has its configuration beside an "id"; NULL: "?" */
void cli_print_named(FILE *out, const char *json);

/* ------------------------------------------------------------------ JSON: json.c
 *
 * Reads JSON that the library has written, so it is well formed; a value is the position
 * where it begins.
 */
const char *cli_json_end(const char *value);                       /* behind the value */
const char *cli_json_member(const char *object, const char *name); /* NULL: none */
/* Items of a list; those of an object are its names, each followed by its value. */
const char *cli_json_first(const char *container); /* NULL: empty */
const char *cli_json_next(const char *item);       /* NULL: that was the last */
const char *cli_json_value(const char *name);      /* the value behind a name */
/* A number, or "NaN", "Infinity", "-Infinity". */
bool cli_json_number(const char *value, double *out);
/* A string decoded into out, cut to n_room bytes; false when it is none. */
bool cli_json_text(const char *value, char *out, size_t n_room);
/* Whether a text is one JSON value and nothing else; python: NaN, Infinity and -Infinity
 * are values, too. This one may be asked about any text. */
bool cli_json_valid(const char *text, bool python);
/* Writes the value in one line, ", " and ": " between its parts. */
void cli_json_line(FILE *out, const char *value);
/* Writes the value over several lines, each but the first behind `indent` blanks. */
void cli_json_pretty(FILE *out, const char *value, int indent);
void cli_json_string(FILE *out, const char *text, size_t n_bytes);
void cli_json_base64(FILE *out, const uint8_t *data, size_t n_bytes);
void cli_json_shape(FILE *out, int rank, const int64_t *shape);

#endif
