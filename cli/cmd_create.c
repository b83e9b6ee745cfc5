/*
 * cmd_create.c: new arrays and groups. Folders that are missing are made, and go again when
 * nothing could be created in them.
 */
#include <stdlib.h>

#include "create.h"
#include "info.h"
#include "os.h"

static zlg_status create_in(const creation *c, zlg_store *store, zlg_error *err)
{
    const cli_settings *s = c->settings;
    zlg_array *array = NULL;
    zlg_group *group = NULL;
    const zlg_call call = cli_change_call();
    zlg_array_spec array_spec = c->spec;
    zlg_group_spec spec = ZLG_GROUP_SPEC_INIT;
    array_spec.call = spec.call = &call;
    spec.zarr_format = (int)(s->format ? s->format : s->zarr_format);
    spec.attributes = s->attrs;
    spec.overwrite = s->overwrite;
    spec.exist_ok = s->exist_ok;
    spec.python_tokens = s->python_tokens;
    spec.promise = c->promise;
    zlg_status status = s->group
                            ? zlg_group_create(store, c->path, &spec, &group, err)
                            : zlg_array_create(store, c->path, &array_spec, &array, err);
    zlg_group_close(group);
    zlg_array_close(array);
    return status;
}

static int stop_at_first(void *user, const char *name, int is_prefix, uint64_t n_bytes)
{
    (void)name, (void)is_prefix, (void)n_bytes;
    *(bool *)user = true;
    return 1;
}

/* Nobody means a folder of other things when they say --overwrite. */
static zlg_status check_overwrite(const creation *c, zlg_store *store, zlg_error *err)
{
    zlg_node kind = ZLG_NODE_NONE;
    bool is_used = false;
    if (!c->settings->overwrite)
        return ZLG_OK;
    zlg_status status = zlg_node_kind(store, c->path, NULL, &kind, err);
    if (status == ZLG_OK && kind == ZLG_NODE_NONE)
        status = zlg_store_list(store, c->path, 1, stop_at_first, &is_used, err);
    if (status == ZLG_OK && is_used)
        return cli_fail(
            err, ZLG_EXISTS,
            "%s%s%s holds files but no array or group: --overwrite would remove "
            "them",
            c->settings->arguments[0], *c->path ? "/" : "", c->path);
    return status;
}

static zlg_status open_target(const creation *c, zlg_store **out, zlg_error *err)
{
    const char *folder = c->settings->arguments[0];
    zlg_status status = cli_open_store(c->settings, c->ctx, folder, false, out, err);
    return status == ZLG_NOT_FOUND
               ? cli_open_store(c->settings, c->ctx, folder, true, out, err)
               : status;
}

static zlg_status create_node(const creation *c, zlg_error *err)
{
    zlg_store *store;
    const char *folder = c->settings->arguments[0];
    size_t n_there = cli_existing(folder);
    CLI_TRY(open_target(c, &store, err));
    zlg_status status = check_overwrite(c, store, err);
    if (status == ZLG_OK)
        status = create_in(c, store, err);
    cli_node node = {.ctx = c->ctx,
                     .store = store,
                     .folder = folder,
                     .path = c->path,
                     .options = ZLG_OPEN_OPTIONS_INIT};
    if (status == ZLG_OK)
        cli_note_consolidated(&node, NULL);
    if (status == ZLG_OK && c->settings->json)
        status = cli_show_node(c->settings, &node, err);
    zlg_store_close(store);
    if (status != ZLG_OK)
        cli_remove_folders(folder, n_there);
    return status;
}

/* ------------------------------------------------------------------ */

static zlg_status check_settings(const cli_settings *s, zlg_error *err)
{
    if (s->overwrite && s->exist_ok)
        return cli_fail(err, ZLG_USAGE, "create takes one of --overwrite and --exist-ok");
    if (s->group &&
        (s->shape || s->dtype || s->chunks || s->shards || s->index || s->fill ||
         s->codecs || s->order || s->separator || s->dims || s->like))
        return cli_fail(err, ZLG_USAGE,
                        "a group has attributes and a format, nothing else");
    if (s->attrs && !cli_json_valid(s->attrs, s->python_tokens))
        return cli_fail(err, ZLG_USAGE, "--attrs %.200s is no JSON%s", s->attrs,
                        cli_json_valid(s->attrs, true) ? "; --python-tokens allows it"
                                                       : "");
    return ZLG_OK;
}

static zlg_status run(const cli_settings *settings, zlg_error *err)
{
    creation c = {.settings = settings, .spec = ZLG_ARRAY_SPEC_INIT};
    CLI_TRY(check_settings(settings, err));
    CLI_TRY(cli_promise(settings, &c.promise, err));
    zlg_status status = cli_open_context(settings, &c.ctx, err);
    if (status == ZLG_OK)
        status = cli_node_path(settings->n_arguments > 1 ? settings->arguments[1] : "",
                               &c.path, err);
    if (status == ZLG_OK && !settings->group)
        status = create_spec(&c, err);
    if (status == ZLG_OK)
        status = create_node(&c, err);
    create_spec_free(&c);
    free(c.path);
    zlg_ctx_close(c.ctx);
    return status;
}

static const cli_option options[] = {
    {"shape", 's', CLI_TEXT, "LENGTHS", "such as 240,37,49; \"\" for a scalar",
     CLI_FIELD(shape), 0, 0},
    {"dtype", 'd', CLI_TEXT, "TYPE", "float32, \"<f4\", datetime64[s], string, or JSON",
     CLI_FIELD(dtype), 0, 0},
    {"chunks", 'c', CLI_TEXT, "LENGTHS", "of a chunk; or auto, or auto:16M to aim at",
     CLI_FIELD(chunks), 0, 0},
    {"shards", 0, CLI_TEXT, "LENGTHS", "of a shard; or auto, or auto:128M",
     CLI_FIELD(shards), 0, 0},
    {"index", 0, CLI_TEXT, "WHERE", "where a shard has its index: end (default) or start",
     CLI_FIELD(index), 0, 0},
    {"fill", 0, CLI_TEXT, "VALUE", "the fill value, as JSON or text (default: zero)",
     CLI_FIELD(fill), 0, 0},
    {"codecs", 0, CLI_TEXT, "CODECS", "zstd:3, gzip:5, blosc:lz4:5, none, or JSON",
     CLI_FIELD(codecs), 0, 0},
    {"format", 0, CLI_NUMBER, "V", "version of the format: 3 (default) or 2",
     CLI_FIELD(format), 2, 3},
    {"order", 0, CLI_TEXT, "ORDER", "of elements in a chunk: C (default) or F",
     CLI_FIELD(order), 0, 0},
    {"separator", 0, CLI_TEXT, "SIGN", "in the keys of chunks: / or .",
     CLI_FIELD(separator), 0, 0},
    {"dims", 0, CLI_TEXT, "NAMES", "names of the axes, such as time,lat,lon",
     CLI_FIELD(dims), 0, 0},
    {"attrs", 0, CLI_TEXT, "JSON", "the attributes, an object", CLI_FIELD(attrs), 0, 0},
    {"python-tokens", 0, CLI_FLAG, NULL, "NaN and Infinity are values, though no JSON",
     CLI_FIELD(python_tokens), 0, 0},
    {"like", 0, CLI_TEXT, "OTHER", "folder of an array that gives what is not said",
     CLI_FIELD(like), 0, 0},
    {"group", 'g', CLI_FLAG, NULL, "make a group", CLI_FIELD(group), 0, 0},
    {"exist-ok", 0, CLI_FLAG, NULL, "the same may be there already", CLI_FIELD(exist_ok), 0,
     0},
    {"overwrite", 0, CLI_FLAG, NULL, "remove first what is there, and all below it",
     CLI_FIELD(overwrite), 0, 0},
    CLI_OPTION_PROMISE,
    {"json", 'j', CLI_FLAG, NULL, "print what was made, as info does", CLI_FIELD(json), 0,
     0},
};

const cli_command cli_create = {
    .name = "create",
    .arguments = "PATH [NODE]",
    .n_least = 1,
    .n_most = 2,
    .summary = "Make an array or a group",
    .details = "PATH is made when it is missing, and so are groups above NODE.",
    .changes = true,
    .options = options,
    .n_options = CLI_COUNT(options),
    .run = run,
};
