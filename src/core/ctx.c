/*
 * ctx.c: the context: allocator, limits, pool, budget, caches; its life, and the life of
 * stores.
 */
#include "core/core.h"

enum { BUDGET_BYTES = 1 << 30, INDEX_CACHE_BYTES = 16 << 20 };

zlg_status zlgi_options_read(const void *given, const char *macro, void *room,
                             size_t n_room, zlg_error *err)
{
    size_t n = n_room;
    memset(room, 0, n_room);
    if (!given)
        return ZLG_OK;
    memcpy(&n, given, sizeof n);
    if (n < sizeof n)
        return zlgi_fail(err, ZLG_USAGE, "n_bytes_struct is %zu: start from %s", n, macro);
    memcpy(room, given, ZLGI_MIN(n, n_room));
    return ZLG_OK;
}

zlg_status zlgi_promise_check(zlg_promise promise, zlg_error *err)
{
    if ((unsigned)promise > ZLG_VERIFIED)
        return zlgi_fail(err, ZLG_USAGE, "promise %d is none", (int)promise);
    return ZLG_OK;
}

static zlg_status set_limits(zlg_limits *limits, const zlg_limits *given, zlg_error *err)
{
    ZLGI_TRY(zlgi_options_read(given, "ZLG_LIMITS_INIT", limits, sizeof *limits, err));
#define SET_LIMIT(name, value, unit, meaning)                                              \
    if (limits->name <= 0)                                                                 \
        limits->name = value;
    ZLG_LIMIT_TABLE(SET_LIMIT)
#undef SET_LIMIT
    return ZLG_OK;
}

static zlg_status fill_ctx(zlg_ctx *ctx, const zlg_ctx_options *options, zlg_error *err)
{
    zlgi_engine *engine = &ctx->engine;
    int n_threads = options->n_threads > 0 ? options->n_threads : zlgi_usable_cores();
    int64_t index = options->index_cache;
    ZLGI_TRY(set_limits(&ctx->limits, options->limits, err));
    engine->alloc = &ctx->alloc;
    engine->limits = &ctx->limits;
    engine->pool = zlgi_pool_new(&ctx->alloc, &ctx->limits, n_threads);
    engine->budget = zlgi_budget_new(&ctx->alloc, options->memory_budget > 0
                                                      ? (uint64_t)options->memory_budget
                                                      : BUDGET_BYTES);
    engine->index_cache = zlgi_cache_new(&ctx->alloc, index < 0 ? 0
                                                      : index   ? (size_t)index
                                                                : INDEX_CACHE_BYTES);
    if (options->chunk_cache > 0)
        engine->chunk_cache = zlgi_cache_new(&ctx->alloc, (size_t)options->chunk_cache);
    if (!zlgi_turns_init(&ctx->turns) || !zlgi_claims_init(&ctx->claims) || !engine->pool ||
        !engine->budget || !engine->index_cache ||
        (options->chunk_cache > 0 && !engine->chunk_cache))
        return zlgi_no_memory(err, sizeof *ctx);
    return ZLG_OK;
}

static void free_ctx(zlg_ctx *ctx)
{
    zlgi_engine *engine = &ctx->engine;
    zlgi_alloc alloc = ctx->alloc;
    if (engine->pool)
        zlgi_pool_free(engine->pool);
    if (engine->budget)
        zlgi_budget_free(engine->budget);
    zlgi_cache_free(engine->index_cache);
    zlgi_cache_free(engine->chunk_cache);
    zlgi_turns_reset(&ctx->turns);
    zlgi_claims_reset(&ctx->claims);
    zlgi_registry_reset(&ctx->registry);
    zlgi_free(&alloc, ctx, sizeof *ctx);
}

zlg_status zlg_ctx_new(const zlg_ctx_options *given, zlg_ctx **out, zlg_error *err)
{
    zlg_ctx_options options;
    *out = NULL;
    ZLGI_TRY(
        zlgi_options_read(given, "ZLG_CTX_OPTIONS_INIT", &options, sizeof options, err));
    zlgi_alloc alloc = options.allocator.resize ? options.allocator : zlgi_default_alloc;
    zlg_ctx *ctx = zlgi_new(&alloc, sizeof *ctx);
    if (!ctx)
        return zlgi_no_memory(err, sizeof *ctx);
    ctx->alloc = alloc;
    ctx->registry.alloc = &ctx->alloc;
    ctx->n_refs = 1;
    zlg_status status = fill_ctx(ctx, &options, err);
    if (status != ZLG_OK)
        free_ctx(ctx);
    else
        *out = ctx;
    return status;
}

void zlgi_ctx_ref(zlg_ctx *ctx)
{
    __atomic_add_fetch(&ctx->n_refs, 1, __ATOMIC_RELAXED);
}

void zlg_ctx_close(zlg_ctx *ctx)
{
    if (ctx && __atomic_sub_fetch(&ctx->n_refs, 1, __ATOMIC_ACQ_REL) == 0)
        free_ctx(ctx);
}

/* ------------------------------------------------------------------ stores */

void zlgi_store_adopt(zlg_ctx *ctx, zlg_store *store)
{
    zlgi_ctx_ref(ctx);
    store->ctx = ctx;
    if (store->id == 0)
        store->id = __atomic_add_fetch(&ctx->next_store_id, 1, __ATOMIC_RELAXED);
}

void zlgi_store_ref(zlg_store *store)
{
    __atomic_add_fetch(&store->n_refs, 1, __ATOMIC_RELAXED);
}

void zlg_store_close(zlg_store *store)
{
    if (!store || __atomic_sub_fetch(&store->n_refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    zlg_ctx *ctx = store->ctx;
    zlgi_store_destroy(store);
    zlg_ctx_close(ctx);
}

zlg_status zlg_store_open_fs(zlg_ctx *ctx, const char *path, const zlg_fs_options *given,
                             zlg_store **out, zlg_error *err)
{
    zlg_fs_options options;
    *out = NULL;
    ZLGI_TRY(
        zlgi_options_read(given, "ZLG_FS_OPTIONS_INIT", &options, sizeof options, err));
    ZLGI_TRY(zlgi_fs_open(&ctx->alloc, &ctx->limits, path, &options, out, err));
    zlgi_store_adopt(ctx, *out);
    return ZLG_OK;
}

zlg_status zlg_store_open_memory(zlg_ctx *ctx, zlg_store **out, zlg_error *err)
{
    *out = NULL;
    ZLGI_TRY(zlgi_memory_open(&ctx->alloc, &ctx->limits, out, err));
    zlgi_store_adopt(ctx, *out);
    return ZLG_OK;
}

static zlg_status get_object(zlg_store *store, const char *key, zlgi_buf *buf,
                             zlg_text *out, zlg_error *err)
{
    uint64_t limit = (uint64_t)store->limits->encoded_bytes;
    ZLGI_TRY(zlgi_store_get(store, key, limit, buf, err));
    return zlgi_buf_take_text(buf, store->ctx, out, err);
}

zlg_status zlg_store_get(zlg_store *store, const char *key, zlg_text *out, zlg_error *err)
{
    zlgi_buf buf;
    zlgi_buf_init(&buf, store->alloc);
    zlg_status status = zlgi_key_check(key, err);
    if (status == ZLG_OK)
        status = get_object(store, key, &buf, out, err);
    zlgi_buf_reset(&buf);
    /* That there is none is told by the status alone. */
    return status == ZLG_NOT_FOUND ? status : zlgi_store_within(store, status, err);
}

zlg_status zlgi_store_within(const zlg_store *store, zlg_status status, zlg_error *err)
{
    if (!err || status == ZLG_OK || zlgi_error_begins(err, "%s", store->label))
        return status;
    return zlgi_within(err, status, "%s", store->label);
}

/* What begins with the store takes the node behind that. */
zlg_status zlgi_node_within(const zlg_store *store, const char *kind, const char *path,
                            zlg_status status, zlg_error *err)
{
    size_t n = strlen(store->label);
    path = *path ? path : "/";
    if (!err || status == ZLG_OK)
        return status;
    if (strncmp(err->message, store->label, n) == 0 &&
        strncmp(err->message + n, ": ", 2) == 0)
        memmove(err->message, err->message + n + 2, strlen(err->message + n + 2) + 1);
    if (zlgi_error_begins(err, "%s %s", kind, path))
        return zlgi_within(err, status, "%s", store->label);
    return zlgi_within(err, status, "%s: %s %s", store->label, kind, path);
}

zlg_status zlgi_store_needs(const zlg_store *store, unsigned capability, const char *what,
                            zlg_error *err)
{
    if (!(store->class->capabilities & capability))
        return zlgi_fail(err, ZLG_UNSUPPORTED, "a %s store cannot %s", store->class->kind,
                         what);
    return ZLG_OK;
}

zlg_status zlgi_path_check(const zlg_store *store, const char *path, zlg_error *err)
{
    return zlgi_store_within(store, zlgi_meta_path_check(path, err), err);
}

zlg_status zlgi_change_check(const zlg_store *store, const char *path, zlg_error *err)
{
    zlg_status status = zlgi_store_needs(store, ZLGI_STORE_WRITE, "be written", err);
    ZLGI_TRY(zlgi_store_within(store, status, err));
    return zlgi_path_check(store, path, err);
}

static zlg_status change_object(zlg_store *store, const char *key, const zlgi_bytes *part,
                                int n_parts, const zlg_call *given, zlg_error *err)
{
    zlg_call call;
    zlgi_patience patience;
    ZLGI_TRY(zlgi_patience_read(given, &call, &patience, err));
    ZLGI_TRY(zlgi_store_needs(store, ZLGI_STORE_WRITE, "be written", err));
    ZLGI_TRY(zlgi_key_check(key, err));
    zlgi_txn how = zlgi_patience_txn(&patience);
    how.change = ZLGI_REPLACE;
    how.promise = ZLG_VISIBLE;
    return zlgi_store_change(store, key, &how, part, n_parts, err);
}

/* n_parts: 1, or ZLGI_REMOVE. */
static zlg_status change(zlg_store *store, const char *key, const zlgi_bytes *part,
                         int n_parts, const zlg_call *call, zlg_error *err)
{
    zlg_status status = change_object(store, key, part, n_parts, call, err);
    return zlgi_store_within(store, status, err);
}

zlg_status zlg_store_put_call(zlg_store *store, const char *key, const void *data,
                              size_t n_bytes, const zlg_call *call, zlg_error *err)
{
    const zlgi_bytes part = {.data = data, .n = n_bytes};
    return change(store, key, &part, 1, call, err);
}

zlg_status zlg_store_put(zlg_store *store, const char *key, const void *data,
                         size_t n_bytes, zlg_error *err)
{
    return zlg_store_put_call(store, key, data, n_bytes, NULL, err);
}

zlg_status zlg_store_delete_call(zlg_store *store, const char *key, const zlg_call *call,
                                 zlg_error *err)
{
    return change(store, key, NULL, ZLGI_REMOVE, call, err);
}

zlg_status zlg_store_delete(zlg_store *store, const char *key, zlg_error *err)
{
    return zlg_store_delete_call(store, key, NULL, err);
}

zlg_status zlgi_store_list(zlg_store *store, const char *prefix, bool delimited,
                           zlgi_patience *patience, zlg_list_fn each, void *user,
                           zlg_error *err)
{
    const zlgi_txn txn = zlgi_patience_txn(patience);
    ZLGI_TRY(zlgi_store_needs(store, ZLGI_STORE_LIST, "be listed", err));
    if (*prefix)
        ZLGI_TRY(zlgi_key_check(prefix, err));
    return store->class->list(store, prefix, delimited, &txn, each, user, err);
}

zlg_status zlg_store_list_call(zlg_store *store, const char *prefix, int delimited,
                               zlg_list_fn each, void *user, const zlg_call *given,
                               zlg_error *err)
{
    zlg_call call;
    zlgi_patience patience;
    ZLGI_TRY(zlgi_patience_read(given, &call, &patience, err));
    zlg_status status =
        zlgi_store_list(store, prefix, delimited != 0, &patience, each, user, err);
    return zlgi_store_within(store, status, err);
}

zlg_status zlg_store_list(zlg_store *store, const char *prefix, int delimited,
                          zlg_list_fn each, void *user, zlg_error *err)
{
    return zlg_store_list_call(store, prefix, delimited, each, user, NULL, err);
}

static zlg_status sweep(zlg_store *store, const char *prefix, uint64_t *out_n,
                        zlgi_patience *patience, zlg_error *err)
{
    ZLGI_TRY(zlgi_store_needs(store, ZLGI_STORE_WRITE, "be written", err));
    if (*prefix)
        ZLGI_TRY(zlgi_key_check(prefix, err));
    const zlgi_txn txn = zlgi_patience_txn(patience);
    return store->class->sweep(store, prefix, &txn, out_n, err);
}

zlg_status zlg_store_sweep_call(zlg_store *store, const char *prefix, uint64_t *out_n,
                                const zlg_call *given, zlg_error *err)
{
    zlg_call call;
    zlgi_patience patience;
    *out_n = 0;
    ZLGI_TRY(zlgi_patience_read(given, &call, &patience, err));
    zlg_status status = sweep(store, prefix, out_n, &patience, err);
    return zlgi_store_within(store, status, err);
}

zlg_status zlg_store_sweep(zlg_store *store, const char *prefix, uint64_t *out_n,
                           zlg_error *err)
{
    return zlg_store_sweep_call(store, prefix, out_n, NULL, err);
}

void zlg_text_free(zlg_text *text)
{
    if (!text || !text->data)
        return;
    zlgi_free(&text->ctx->alloc, text->data, text->n_bytes + 1);
    text->data = NULL;
    text->n_bytes = 0;
}

void zlg_varlen_free(zlg_varlen *varlen)
{
    if (!varlen || !varlen->block)
        return;
    zlgi_free(&varlen->ctx->alloc, varlen->block, varlen->n_bytes_block);
    memset(varlen, 0, sizeof *varlen);
}
