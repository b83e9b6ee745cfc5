/*
 * document.c: putting and changing the documents of nodes. A change is one transaction:
 * it is made to what is there then, and begun anew when somebody else was faster.
 */
#include "core/core.h"

/* For what a store does not name itself. */
static zlg_status within_key(const char *key, zlg_status status, zlg_error *err)
{
    return zlgi_within(err, status, "key \"%s\"", key);
}

zlg_status zlgi_document_check(zlg_store *store, const zlgi_buf *text, zlg_error *err)
{
    const zlgi_json *unused;
    zlgi_arena arena;
    zlgi_arena_init(&arena, store->alloc);
    zlg_status status = zlgi_meta_parse_text(&arena, (const char *)text->data, text->n,
                                             store->limits, &unused, err);
    zlgi_arena_reset(&arena);
    return status;
}

zlg_status zlgi_document_put(zlg_store *store, const char *path, const char *name,
                             zlgi_change change, zlg_promise promise, const zlgi_buf *text,
                             zlg_error *err)
{
    char key[ZLGI_NAME_MAX];
    ZLGI_TRY(zlgi_join(path, name, key, err));
    zlgi_bytes part = {.data = text ? text->data : NULL, .n = text ? text->n : 0};
    return zlgi_store_put(store, key, change, promise, &part, text ? 1 : ZLGI_REMOVE, err);
}

/* ------------------------------------------------------------------ changing */

typedef struct changing {
    zlg_store *store;
    const zlgi_document_edit *edit;
    char key[ZLGI_NAME_MAX];
    zlgi_txn txn;
    zlgi_arena *arena;
    zlgi_buf *text;
    zlg_error *err;
} changing;

/* The document as it is now; NULL when there is none. */
static zlg_status read_now(changing *c, const zlgi_json **out)
{
    *out = NULL;
    if (!c->txn.present)
        return ZLG_OK;
    ZLGI_TRY(zlgi_object_get(c->store, &c->txn.object,
                             (uint64_t)c->store->limits->metadata_bytes, c->text, c->err));
    return zlgi_meta_parse_text(c->arena, (const char *)c->text->data, c->text->n,
                                c->store->limits, out, c->err);
}

static zlg_status store_text(changing *c)
{
    zlgi_patience *patience = c->edit->patience;
    ZLGI_TRY(within_key(c->key, zlgi_document_check(c->store, c->text, c->err), c->err));
    if (patience) /* a large one took its time */
        ZLGI_TRY(zlgi_patience_check(patience, c->err));
    zlgi_bytes part = {.data = c->text->data, .n = c->text->n};
    return c->store->class->commit(c->store, c->key, &c->txn, &part, 1, c->err);
}

static zlg_status change_once(changing *c)
{
    const zlgi_document_edit *edit = c->edit;
    const zlgi_json *document;
    ZLGI_TRY(within_key(c->key, read_now(c, &document), c->err));
    c->text->n = 0;
    ZLGI_TRY(edit->change(edit->user, document, c->arena, c->text, c->err));
    if (c->text->n == 0)
        return ZLG_OK;
    zlg_status status = store_text(c);
    if (status != ZLG_OK && !c->txn.again && edit->undo)
        edit->undo(edit->user);
    return status;
}

static zlg_status change_all(changing *c)
{
    zlg_store *store = c->store;
    zlg_status status;
    do {
        c->txn.again = false;
        ZLGI_TRY(store->class->begin(store, c->key, &c->txn, c->err));
        status = change_once(c);
        store->class->end(store, &c->txn);
    } while (c->txn.again);
    return status;
}

zlg_status zlgi_document_change(zlg_store *store, const zlgi_document_edit *edit,
                                zlg_error *err)
{
    zlgi_arena arena;
    zlgi_buf text;
    zlgi_arena_init(&arena, store->alloc);
    zlgi_buf_init(&text, store->alloc);
    changing c = {.store = store,
                  .edit = edit,
                  .txn = {.change = ZLGI_UPDATE,
                          .promise = edit->promise ? edit->promise : ZLG_VISIBLE,
                          .waiting = edit->patience ? zlgi_patience_waiting : NULL,
                          .user = edit->patience},
                  .arena = &arena,
                  .text = &text,
                  .err = err};
    zlg_status status = zlgi_join(edit->path, edit->name, c.key, err);
    if (status == ZLG_OK && !edit->in_turn)
        status = zlgi_turn_check(&store->ctx->turns, store, edit->path, err);
    if (status == ZLG_OK)
        status = change_all(&c);
    zlgi_buf_reset(&text);
    zlgi_arena_reset(&arena);
    return status;
}
