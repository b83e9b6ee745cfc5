/*
 * create_spec.c: from the options of `create` to the spec of an array. Words become JSON;
 * what may stand together is for the library to say, where it is not about options.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "create.h"

/* What the chosen shapes aim at when a shard is asked for without a size. */
static const int64_t usual_shard_bytes = INT64_C(128) << 20;

/* ------------------------------------------------------------------ shapes */

/* "auto", or "auto:16M": bytes to aim at. */
static zlg_status read_target(const char *text, const char *what, int64_t *out,
                              zlg_error *err)
{
    static const char units[] = "KMG";
    char *end;
    *out = 0;
    if (strcmp(text, "auto") == 0)
        return ZLG_OK;
    long long n = strtoll(text + 5, &end, 10);
    const char *unit = *end ? strchr(units, *end) : NULL;
    int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    if (end == text + 5 || n <= 0 || end[unit != NULL] || n > INT64_MAX >> (shift + 1))
        return cli_fail(err, ZLG_USAGE, "%s is auto:BYTES, as in auto:16M, not \"%s\"",
                        what, text);
    *out = (int64_t)n << shift;
    return ZLG_OK;
}

static bool is_auto(const char *text)
{
    return strcmp(text, "auto") == 0 || strncmp(text, "auto:", 5) == 0;
}

/* Lengths, one for each axis, or a target. */
static zlg_status read_pieces(const creation *c, const char *text, const char *what,
                              int64_t lengths[ZLG_MAX_RANK], const int64_t **out,
                              int64_t *target, zlg_error *err)
{
    int rank;
    *out = NULL;
    if (is_auto(text))
        return read_target(text, what, target, err);
    CLI_TRY(cli_lengths(text, what, &rank, lengths, err));
    if (rank != c->spec.rank)
        return cli_fail(err, ZLG_USAGE, "%s has %d lengths, the shape %d", what, rank,
                        c->spec.rank);
    for (int i = 0; i < rank; i++)
        if (lengths[i] == 0)
            return cli_fail(err, ZLG_USAGE, "%s has a length of 0", what);
    *out = lengths;
    return ZLG_OK;
}

/* What only version 3 has. */
static zlg_status check_version(const creation *c, zlg_error *err)
{
    const cli_settings *s = c->settings;
    const char *what = s->shards ? "--shards" : s->index ? "--index" : "--dims";
    if (c->spec.zarr_format == 2 && (s->shards || s->index || s->dims))
        return cli_fail(err, ZLG_USAGE, "version 2 has no %s", what);
    return ZLG_OK;
}

static zlg_status set_shapes(creation *c, zlg_error *err)
{
    const cli_settings *s = c->settings;
    zlg_array_spec *spec = &c->spec;
    const int64_t *chunks = NULL, *shards = NULL;
    int64_t chunk_target = 0, shard_target = 0;
    if (s->shape) {
        CLI_TRY(cli_lengths(s->shape, "--shape", &spec->rank, c->shape, err));
        spec->shape = c->shape;
    } else if (c->like) {
        spec->rank = zlg_array_rank(c->like);
    } else {
        return cli_fail(err, ZLG_USAGE, "create needs --shape, --like or --group");
    }
    if (s->chunks)
        CLI_TRY(
            read_pieces(c, s->chunks, "--chunks", c->chunks, &chunks, &chunk_target, err));
    if (s->shards)
        CLI_TRY(
            read_pieces(c, s->shards, "--shards", c->shards, &shards, &shard_target, err));
    if (shards && !chunks && !c->like)
        return cli_fail(err, ZLG_USAGE,
                        "--shards with lengths needs --chunks with lengths");
    bool makes_shards = s->shards || (c->like && zlg_array_is_sharded(c->like));
    spec->chunk_shape = makes_shards ? chunks : NULL;
    spec->object_shape = makes_shards ? shards : chunks;
    spec->target_chunk_bytes = chunk_target;
    if (s->shards && !shards)
        spec->target_shard_bytes = shard_target ? shard_target : usual_shard_bytes;
    return ZLG_OK;
}

/* ------------------------------------------------------------------ other parts */

/* "time,lat,lon"; a name that is empty is none. */
static zlg_status set_names(creation *c, zlg_error *err)
{
    int n = 0;
    if (!c->settings->dims)
        return ZLG_OK;
    c->dims = strdup(c->settings->dims);
    if (!c->dims)
        return cli_no_memory(err, strlen(c->settings->dims) + 1);
    for (char *at = c->dims;; at++) {
        char *end = at + strcspn(at, ",");
        bool is_last = !*end;
        if (n == c->spec.rank)
            return cli_fail(err, ZLG_USAGE, "--dims has more than %d names", c->spec.rank);
        *end = 0;
        c->names[n++] = *at ? at : NULL;
        at = end;
        if (is_last)
            break;
    }
    if (n != c->spec.rank)
        return cli_fail(err, ZLG_USAGE, "--dims has %d names, the shape %d axes", n,
                        c->spec.rank);
    c->spec.dimension_names = c->names;
    return ZLG_OK;
}

/* Where like arrays give what is not said. */
static zlg_status take_like(creation *c, const char **type, zlg_error *err)
{
    zlg_text document;
    bool v3 = c->spec.zarr_format == 3;
    CLI_TRY(zlg_array_metadata(c->like, &document, err));
    const char *value = cli_json_member(document.data, v3 ? "data_type" : "dtype");
    const char *filters = cli_json_member(document.data, "filters");
    char text[200];
    if (*type == NULL && value) {
        c->type = cli_json_text(value, text, sizeof text)
                      ? strdup(text)
                      : strndup(value, (size_t)(cli_json_end(value) - value));
        *type = c->type;
        if (filters)
            c->filters = strndup(filters, (size_t)(cli_json_end(filters) - filters));
    }
    zlg_text_free(&document);
    return *type ? ZLG_OK : cli_no_memory(err, sizeof text);
}

static zlg_status set_codecs(creation *c, const char *filter, zlg_error *err)
{
    const cli_settings *s = c->settings;
    const char *type = c->spec.data_type, *text = s->codecs;
    bool v3 = c->spec.zarr_format == 3;
    bool fortran = v3 && s->order && strcmp(s->order, "F") == 0;
    if (!text && (fortran || filter))
        text = "zstd:0";
    if (!text)
        return ZLG_OK;
    if (fortran && (*text == '[' || c->like))
        return cli_fail(err, ZLG_USAGE,
                        "--order F makes a transpose, which belongs into these --codecs");
    if (!type)
        CLI_TRY(take_like(c, &type, err));
    CLI_TRY(create_codecs(c->ctx, text, c->spec.zarr_format, type,
                          filter ? filter : c->filters, fortran ? c->spec.rank : 0,
                          &c->codecs, err));
    c->spec.codecs = c->codecs;
    return ZLG_OK;
}

/* Version 2 has an order of its own; in version 3 it is a codec. */
static zlg_status set_layout(creation *c, zlg_error *err)
{
    const cli_settings *s = c->settings;
    bool v3 = c->spec.zarr_format == 3;
    if (s->order && strcmp(s->order, "C") != 0 && strcmp(s->order, "F") != 0)
        return cli_fail(err, ZLG_USAGE, "--order takes C or F, not \"%s\"", s->order);
    if (s->separator && strcmp(s->separator, ".") != 0 && strcmp(s->separator, "/") != 0)
        return cli_fail(err, ZLG_USAGE, "--separator takes . or /, not \"%s\"",
                        s->separator);
    c->spec.order = v3 ? NULL : s->order;
    c->spec.separator = v3 ? NULL : s->separator;
    c->spec.index_location = s->index;
    if (v3 && s->separator)
        c->spec.chunk_key_encoding =
            *s->separator == '.'
                ? "{\"name\":\"default\",\"configuration\":{\"separator\":\".\"}}"
                : "{\"name\":\"default\",\"configuration\":{\"separator\":\"/\"}}";
    return ZLG_OK;
}

static zlg_status open_like(creation *c, zlg_error *err)
{
    zlg_open_options options = ZLG_OPEN_OPTIONS_INIT;
    cli_settings reading = *c->settings;
    if (!c->settings->like)
        return ZLG_OK;
    reading.changes = 0;
    CLI_TRY(cli_open_store(&reading, c->ctx, reading.like, false, &c->like_store, err));
    return zlg_array_open(c->like_store, "", &options, &c->like, err);
}

zlg_status create_spec(creation *c, zlg_error *err)
{
    const cli_settings *s = c->settings;
    const char *filter = NULL;
    zlg_array_spec *spec = &c->spec;
    CLI_TRY(open_like(c, err));
    spec->like = c->like;
    spec->zarr_format = (int)(s->format ? s->format : s->zarr_format);
    if (!spec->zarr_format)
        spec->zarr_format = c->like ? zlg_array_zarr_format(c->like) : 3;
    CLI_TRY(check_version(c, err));
    CLI_TRY(set_shapes(c, err));
    if (s->dtype) {
        CLI_TRY(create_type(s->dtype, spec->zarr_format, &c->type, &filter, err));
        spec->data_type = c->type;
    } else if (!c->like) {
        return cli_fail(err, ZLG_USAGE, "create needs --dtype");
    }
    CLI_TRY(set_layout(c, err));
    CLI_TRY(set_codecs(c, filter, err));
    CLI_TRY(set_names(c, err));
    if (s->fill)
        CLI_TRY(create_fill(s->fill, &c->fill, err));
    spec->fill_value = c->fill;
    spec->attributes = s->attrs;
    spec->overwrite = s->overwrite;
    spec->exist_ok = s->exist_ok;
    spec->python_tokens = s->python_tokens;
    spec->promise = c->promise;
    return ZLG_OK;
}

void create_spec_free(creation *c)
{
    free(c->type);
    free(c->codecs);
    free(c->fill);
    free(c->filters);
    free(c->dims);
    zlg_array_close(c->like);
    zlg_store_close(c->like_store);
}
