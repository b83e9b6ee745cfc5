/*
 * cmd_cat.c: the elements of an array. Reads in pieces of bounded size; a failure ends the
 * output in the middle, and the exit code says so.
 */
#include <errno.h>
#include <string.h>

#include "cat.h"
#include "os.h"

/* Elements of variable length are taken to have about as many bytes, for the pieces. */
enum { VARLEN_BYTES = 256 };

static const cat_format *choose_format(const cli_settings *settings,
                                       const cat_writer *writer)
{
    if (settings->json)
        return &cat_json;
    if (settings->npy)
        return &cat_npy;
    if (!settings->raw)
        return &cat_text;
    return cli_is_varlen(writer->dtype) ? &cat_raw_varlen : &cat_raw;
}

static zlg_status write_piece(const cat_format *format, cat_writer *writer, void *elements,
                              int64_t n, zlg_error *err)
{
    CLI_TRY(format->write(writer, elements, n, err));
    if (ferror(stdout))
        return cli_fail(err, ZLG_IO, "standard output: %s", strerror(errno));
    return ZLG_OK;
}

static zlg_status cat_varlen(const cli_settings *settings, const cat_format *format,
                             cat_writer *writer, cli_pieces *pieces, zlg_error *err)
{
    cli_progress progress;
    zlg_status status = ZLG_OK;
    cli_progress_start(&progress, (uint64_t)writer->n_elements);
    while (status == ZLG_OK && cli_pieces_next(pieces)) {
        zlg_varlen varlen;
        zlg_selection box = cli_pieces_box(pieces);
        zlg_call call =
            cli_progress_call(&progress, settings, (uint64_t)pieces->n_elements);
        status = zlg_array_read_varlen(writer->array, &box, &varlen, &call, err);
        cli_progress_step(&progress);
        if (status == ZLG_OK)
            status = write_piece(format, writer, &varlen, pieces->n_elements, err);
        zlg_varlen_free(&varlen);
    }
    cli_progress_end(&progress);
    return status;
}

static zlg_status cat_fixed(const cli_settings *settings, const cat_format *format,
                            cat_writer *writer, cli_pieces *pieces, zlg_error *err)
{
    cli_progress progress;
    size_t n_bytes = (size_t)pieces->n_most * writer->dtype.n_bytes;
    void *block = cli_block_get(n_bytes);
    zlg_status status = block ? ZLG_OK : cli_no_memory(err, n_bytes);
    cli_progress_start(&progress, (uint64_t)writer->n_elements);
    while (status == ZLG_OK && cli_pieces_next(pieces)) {
        zlg_selection box = cli_pieces_box(pieces);
        zlg_target target = {.data = block};
        zlg_call call =
            cli_progress_call(&progress, settings, (uint64_t)pieces->n_elements);
        status = zlg_array_read(writer->array, &box, &target, &call, err);
        cli_progress_step(&progress);
        if (status == ZLG_OK)
            status = write_piece(format, writer, block, pieces->n_elements, err);
    }
    cli_progress_end(&progress);
    cli_block_free(block);
    return status;
}

static zlg_status cat(const cli_settings *settings, const cli_node *node, zlg_array *array,
                      const cli_selection *selection, zlg_error *err)
{
    cat_writer writer = {.array = array,
                         .dtype = zlg_array_dtype(array),
                         .n_elements = selection->n_elements};
    cli_pieces pieces;
    writer.rank = cli_selection_shape(selection, writer.shape);
    bool varlen = cli_is_varlen(writer.dtype);
    int64_t item = varlen ? VARLEN_BYTES : (int64_t)writer.dtype.n_bytes;
    cli_pieces_start(&pieces, selection, array, item, CLI_PIECE_BYTES);
    const cat_format *format = choose_format(settings, &writer);
    if (format->begin)
        CLI_TRY(cli_within(node, format->begin(&writer, err), err));
    CLI_TRY((varlen ? cat_varlen : cat_fixed)(settings, format, &writer, &pieces, err));
    if (format->end)
        format->end(&writer);
    return ZLG_OK;
}

static zlg_status run(const cli_settings *settings, zlg_error *err)
{
    if (settings->json + settings->raw + settings->npy > 1)
        return cli_fail(err, ZLG_USAGE, "cat takes one of --json, --raw and --npy");
    return cli_with_array(settings, cat, err);
}

static const cli_option options[] = {
    {"json", 'j', CLI_FLAG, NULL, "nested JSON lists", CLI_FIELD(json), 0, 0},
    {"raw", 'r', CLI_FLAG, NULL, "bytes in C order, little-endian", CLI_FIELD(raw), 0, 0},
    {"npy", 'n', CLI_FLAG, NULL, "a NumPy file", CLI_FIELD(npy), 0, 0},
    {"threads", 't', CLI_NUMBER, "N", "use N threads (default: one a core)",
     CLI_FIELD(threads), 1, 1024},
};

const cli_command cli_cat = {
    .name = "cat",
    .arguments = "PATH [ARRAY] [SELECTION]",
    .n_least = 1,
    .n_most = 3,
    .summary = "The elements of an array",
    .details = CLI_SELECTION_HELP
    "\n\n"
    "Text has one row a line, values apart by tabs, and an empty line between\n"
    "planes. --raw writes elements of variable length as one JSON list.",
    .options = options,
    .n_options = CLI_COUNT(options),
    .run = run,
};
