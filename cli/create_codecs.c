/*
 * create_codecs.c: codecs and fill values as people write them: "zstd:3" for a list of JSON
 * objects. What turns elements into bytes is taken from an array that the library makes by
 * its defaults, in memory.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "create.h"

typedef struct writer {
    FILE *out;
    const char *text; /* all of it, for messages */
    int zarr_format;
    size_t n_bytes_item;
    int n; /* codecs written */
    zlg_error *err;
} writer;

/* One codec, "name:argument:argument", cut into parts. */
enum { MOST_PARTS = 3, PART_ROOM = 40 };

typedef struct codec {
    char parts[MOST_PARTS][PART_ROOM];
    int n_parts;
} codec;

static zlg_status refuse(const writer *w, const char *what)
{
    return cli_fail(w->err, ZLG_USAGE,
                    "--codecs \"%s\": %s; it is JSON, or a list such as "
                    "zstd:3 or blosc:lz4:5,crc32c",
                    w->text, what);
}

static zlg_status cut(const writer *w, const char *text, size_t n, codec *out)
{
    *out = (codec){.n_parts = 1};
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        char *part = out->parts[out->n_parts - 1];
        if (text[i] == ':' && out->n_parts < MOST_PARTS) {
            out->n_parts++;
            k = 0;
        } else if (k + 1 < PART_ROOM) {
            part[k++] = text[i];
        } else {
            return refuse(w, "a name that is too long");
        }
    }
    return ZLG_OK;
}

static zlg_status read_level(const writer *w, const codec *c, int part, long least,
                             long usual, long *out)
{
    char *end = NULL;
    *out = usual;
    if (c->n_parts <= part)
        return ZLG_OK;
    *out = strtol(c->parts[part], &end, 10);
    if (end == c->parts[part] || *end || *out < least || c->n_parts > part + 1)
        return refuse(w, "a level is a number");
    return ZLG_OK;
}

/* The codecs whose one argument is a number. */
static const struct {
    const char *name, *member;
    long least, usual;
    bool v3; /* version 3 has it by this name; else it is one of numcodecs' there */
} leveled[] = {
    {"zstd", "level", -131072, 0, true}, {"gzip", "level", 0, 5, true},
    {"zlib", "level", 0, 1, false},      {"bz2", "level", 1, 1, false},
    {"lzma", "preset", 0, 6, false},     {"lz4", "acceleration", 1, 1, false},
};

static void begin(writer *w, const char *name, const char *prefix)
{
    fprintf(w->out, w->zarr_format == 3 ? "%s{\"name\":\"%s%s\"" : "%s{\"id\":\"%s%s\"",
            w->n++ ? "," : "", prefix, name);
}

static zlg_status write_leveled(writer *w, const codec *c, size_t i)
{
    long level;
    CLI_TRY(read_level(w, c, 1, leveled[i].least, leveled[i].usual, &level));
    if (w->zarr_format == 2) {
        begin(w, leveled[i].name, "");
        fprintf(w->out, ",\"%s\":%ld}", leveled[i].member, level);
        return ZLG_OK;
    }
    begin(w, leveled[i].name, leveled[i].v3 ? "" : "numcodecs.");
    fprintf(w->out, ",\"configuration\":{\"%s\":%ld%s}}", leveled[i].member, level,
            strcmp(leveled[i].name, "zstd") == 0 ? ",\"checksum\":false" : "");
    return ZLG_OK;
}

/* "blosc", "blosc:zstd", "blosc:zstd:7" */
static zlg_status write_blosc(writer *w, const codec *c)
{
    static const char *const names[] = {"lz4",    "lz4hc", "blosclz",
                                        "snappy", "zlib",  "zstd"};
    const char *cname = c->n_parts > 1 ? c->parts[1] : "lz4";
    bool is_known = false;
    long level;
    for (size_t i = 0; i < CLI_COUNT(names); i++)
        is_known |= strcmp(cname, names[i]) == 0;
    if (!is_known)
        return refuse(w, "blosc has no such compressor");
    CLI_TRY(read_level(w, c, 2, 0, 5, &level));
    begin(w, "blosc", "");
    bool bits = w->n_bytes_item <= 1;
    if (w->zarr_format == 2)
        fprintf(w->out, ",\"cname\":\"%s\",\"clevel\":%ld,\"shuffle\":%d,\"blocksize\":0}",
                cname, level, bits ? 2 : 1);
    else
        fprintf(w->out,
                ",\"configuration\":{\"cname\":\"%s\",\"clevel\":%ld,\"shuffle\":\"%s\","
                "\"typesize\":%zu,\"blocksize\":0}}",
                cname, level, bits ? "bitshuffle" : "shuffle",
                w->n_bytes_item ? w->n_bytes_item : 1);
    return ZLG_OK;
}

static zlg_status write_codec(writer *w, const char *text, size_t n)
{
    codec c;
    CLI_TRY(cut(w, text, n, &c));
    const char *name = c.parts[0];
    for (size_t i = 0; i < CLI_COUNT(leveled); i++)
        if (strcmp(name, leveled[i].name) == 0)
            return write_leveled(w, &c, i);
    if (strcmp(name, "blosc") == 0)
        return write_blosc(w, &c);
    if (c.n_parts > 1)
        return refuse(w, "a codec that is not known here, or takes no number");
    if (strcmp(name, "crc32c") == 0 && w->zarr_format == 3) {
        begin(w, name, "");
        fputs("}", w->out);
        return ZLG_OK;
    }
    return refuse(w, "a codec that is not known here");
}

static zlg_status write_list(writer *w)
{
    if (strcmp(w->text, "none") == 0)
        return ZLG_OK;
    for (const char *at = w->text;; at++) {
        size_t n = strcspn(at, ",");
        CLI_TRY(write_codec(w, at, n));
        at += n;
        if (!*at)
            return ZLG_OK;
    }
}

/* ------------------------------------------------------------------ */

/* An array of the type by all defaults, in memory. */
static zlg_status make_plain(zlg_ctx *ctx, int zarr_format, const char *type,
                             const char *filters, zlg_array **out, zlg_error *err)
{
    zlg_store *store;
    char *codecs = NULL;
    size_t n = 0;
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    FILE *file = open_memstream(&codecs, &n);
    *out = NULL;
    if (!file)
        return cli_no_memory(err, 4096);
    fprintf(file, "{\"filters\":%s}", filters ? filters : "null");
    if (fclose(file) != 0) {
        free(codecs);
        return cli_no_memory(err, n);
    }
    spec.zarr_format = zarr_format;
    spec.data_type = type;
    spec.codecs = zarr_format == 2 ? codecs : NULL;
    zlg_status status = zlg_store_open_memory(ctx, &store, err);
    if (status == ZLG_OK)
        status = zlg_array_create(store, "", &spec, out, err);
    zlg_store_close(store);
    free(codecs);
    return status;
}

static zlg_status write_v2(writer *w, const char *filters)
{
    fprintf(w->out, "{\"filters\":%s,\"compressor\":", filters ? filters : "null");
    CLI_TRY(write_list(w));
    if (w->n > 1)
        return refuse(w, "version 2 has one compressor");
    fputs(w->n ? "}" : "null}", w->out);
    return ZLG_OK;
}

static zlg_status write_v3(writer *w, zlg_array *plain, int fortran_rank)
{
    zlg_text codecs;
    CLI_TRY(zlg_array_codecs(plain, &codecs, w->err));
    fputs("[", w->out);
    if (fortran_rank > 0) {
        fputs("{\"name\":\"transpose\",\"configuration\":{\"order\":[", w->out);
        for (int i = fortran_rank; i-- > 0;)
            fprintf(w->out, "%d%s", i, i ? "," : "]}},");
    }
    w->n = 1;
    cli_json_line(w->out, cli_json_first(codecs.data));
    zlg_text_free(&codecs);
    CLI_TRY(write_list(w));
    fputs("]", w->out);
    return ZLG_OK;
}

zlg_status create_codecs(zlg_ctx *ctx, const char *text, int zarr_format, const char *type,
                         const char *filters, int fortran_rank, char **out, zlg_error *err)
{
    size_t n = 0;
    zlg_array *plain;
    writer w = {.text = text, .zarr_format = zarr_format, .err = err};
    *out = NULL;
    if (*text == '[' || *text == '{') {
        *out = strdup(text);
        return *out ? ZLG_OK : cli_no_memory(err, strlen(text) + 1);
    }
    CLI_TRY(make_plain(ctx, zarr_format, type, filters, &plain, err));
    w.n_bytes_item = zlg_array_dtype(plain).n_bytes;
    w.out = open_memstream(out, &n);
    zlg_status status = w.out ? ZLG_OK : cli_no_memory(err, 4096);
    if (w.out)
        status =
            zarr_format == 2 ? write_v2(&w, filters) : write_v3(&w, plain, fortran_rank);
    if (w.out && fclose(w.out) != 0 && status == ZLG_OK)
        status = cli_no_memory(err, n);
    zlg_array_close(plain);
    return status;
}

zlg_status create_fill(const char *text, char **out, zlg_error *err)
{
    size_t n = 0;
    FILE *file = open_memstream(out, &n);
    if (!file)
        return cli_no_memory(err, 4096);
    if (cli_json_valid(text, false))
        fputs(text, file);
    else
        cli_json_string(file, text, strlen(text));
    return fclose(file) == 0 ? ZLG_OK : cli_no_memory(err, n);
}
